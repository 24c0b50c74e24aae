"""Runs aligned while they are read: the same as reading the whole run first, values and errors alike."""

import random
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from collection import comparison, evaluate
from collection.core.errors import CleverdonError, InputError
from collection.core.ranking import Doubts
from collection.formats import RunFiles, read_index, read_qrels, read_run, read_runs, run_alignment, source
from collection.formats.in_memory import as_qrels, as_runs
from collection.formats.run_alignment import last_topic_end
from collection.measures import MEASURES, RR, Aligned, align, alignment, index_qrels, look_up, parse
from tests.collection.formats.test_formats import files
from tests.collection.formats.test_fuzz import malformed, sound
from tests.helpers import ROOT, cases, first_of

GRADES = {"a": 3, "b": 0, "c": -1, "d": 1, "Ω": 2, "0": -2}
QRELS = "".join(f"{topic} 0 {doc} {grade}\n" for topic in "1Ωqz" for doc, grade in GRADES.items())
MEASURED = [parse(m) for m in ("nDCG@10", "AP", "RR(rel=2)", "Judged@10")]


def same(made: Aligned, other: Aligned) -> bool:
    arrays = [f.name for f in fields(Aligned) if f.name not in ("doubts", "unnamed")]
    equal = all(np.array_equal(getattr(made, name), getattr(other, name)) for name in arrays)
    return equal and set(made.unnamed) <= set(other.unnamed) and same_doubts(made.doubts, other.doubts)


def same_doubts(made: Doubts, other: Doubts) -> bool:
    """Of blocks after the first, only those that are not in the order of their scores have their ranks compared."""
    if made.contradicted == other.contradicted or source.CHUNK > 1 << 16:
        return made == other
    return made[:2] == other[:2] and set(made.contradicted) < set(other.contradicted)


@pytest.fixture
def slow_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were left to the reader of whole runs."""
    left: list[Path] = []
    monkeypatch.setattr(run_alignment, "read_run", lambda path: left.append(path) or read_run(path))
    return left


def outcome(path: Path, index, version=10) -> Aligned | str:
    try:
        ((_, found),) = RunFiles([path]).look_up(index, version)
    except CleverdonError as error:
        return str(error)
    return found.whole()


def expected(path: Path, index, version=10) -> Aligned | str:
    try:
        return align(read_run(path).frame, index, version=version)
    except CleverdonError as error:
        return str(error)


def agree(path: Path, index, version=10) -> bool:
    made, wanted = outcome(path, index, version), expected(path, index, version)
    if isinstance(made, Aligned) and isinstance(wanted, Aligned):
        return same(made, wanted)
    assert not isinstance(made, Aligned), f"expected the error {wanted}"
    return made == wanted


@pytest.fixture
def index(tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    return read_index(tmp_path / "qrels")


@pytest.mark.fuzz
@pytest.mark.long
def test_files_of_any_form_are_aligned_as_when_read_whole(tmp_path, index, monkeypatch, slow_reads) -> None:
    path, quick = tmp_path / "file.run", 0

    @given(text=files(False), block=st.sampled_from([1, 30, 1 << 20]), version=st.sampled_from([9, 10]))
    @settings(max_examples=cases(80, 1000))
    def compare(text: str, block: int, version) -> None:
        nonlocal quick
        monkeypatch.setattr("collection.formats.source.CHUNK", block)
        path.write_bytes(text.encode())
        slow_reads.clear()
        assert agree(path, index, version)
        quick += not slow_reads

    compare()
    assert quick > 3  # the comparison was made


@pytest.mark.fuzz
@pytest.mark.slow
@pytest.mark.parametrize("block", first_of([1 << 20, 20]))
def test_malformed_files_have_the_same_errors(tmp_path, monkeypatch, block) -> None:
    monkeypatch.setattr("collection.formats.source.CHUNK", block)
    rng, path, errors = random.Random(block), tmp_path / "some.run", 0
    (tmp_path / "qrels").write_text("".join(" ".join(row) + "\n" for row in sound(random.Random(99), "judged")))
    index = read_index(tmp_path / "qrels")
    for _ in range(cases(60, 2_500)):
        path.write_bytes(malformed(rng, "run"))
        assert agree(path, index), path.read_bytes()
        errors += isinstance(outcome(path, index), str)
    assert errors > 30


def many_topics(rng: random.Random, pieces: bool = False, scores=lambda rng: rng.random()) -> list[str]:
    lines = []
    for topic in rng.sample([*"1Ωqz", "10", "x" * 70], 6):
        docs = rng.sample([*"abcdΩ0", *(f"d{i}" for i in range(60))], rng.randint(1, 60))
        ranks = rng.sample(range(1, 100), len(docs))
        lines += [f"{topic} Q0 {doc} {rank} {scores(rng)} tag\n" for doc, rank in zip(docs, ranks, strict=True)]
    if pieces:
        rng.shuffle(lines)
    return lines


TIES = {
    "none": lambda rng: rng.random(),
    "many": lambda rng: rng.randint(0, 3),
    "as 32-bit floats": lambda rng: 1 + rng.randint(0, 9) * 1e-9,
    "of zeros": lambda rng: rng.choice(["0", "-0.0", "1e999", "-inf", "1e39"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("scores", TIES)
@pytest.mark.parametrize("version", [9, 10])
@pytest.mark.long
def test_any_order_and_any_ties(tmp_path, index, monkeypatch, slow_reads, scores, version) -> None:
    path, rng = tmp_path / "file.run", random.Random(3)
    for _ in range(cases(6, 150)):
        monkeypatch.setattr("collection.formats.source.CHUNK", rng.choice([50, 400, 1 << 20]))
        path.write_text("".join(many_topics(rng, scores=TIES[scores])))
        assert agree(path, index, version)
    assert not slow_reads
    path.write_text("".join(many_topics(rng, pieces=True, scores=TIES[scores])))
    monkeypatch.setattr("collection.formats.source.CHUNK", 400)
    assert agree(path, index, version)
    assert slow_reads  # topics in several blocks


@pytest.mark.parametrize("lookup", ["some pairs of the qrels", "any pair"])
def test_equal_hashes_are_told_apart(tmp_path, index, monkeypatch, lookup) -> None:
    path = tmp_path / "file.run"
    path.write_text("".join(many_topics(random.Random(4))))
    wanted = expected(path, index)
    if lookup == "any pair":
        monkeypatch.setattr(
            "collection.formats.tables.duplicate_pairs.hash_texts", lambda texts: np.zeros(len(texts), np.uint64)
        )
    else:  # every pair of the run may be the first of the qrels
        (tmp_path / "one").write_text("1 0 a 1\n")
        index = read_index(tmp_path / "one")
        wanted = expected(path, index)
        of_lookup = run_alignment.hash_pairs
        monkeypatch.setattr(run_alignment, "hash_pairs", lambda *pairs: of_lookup(*pairs) * 0)
        monkeypatch.setattr("collection.formats.tables.fast.hash_pairs", lambda *pairs: of_lookup(*pairs) * 0)
        monkeypatch.setattr("collection.formats.tables.fast.has_duplicate_keys", lambda keys: False)
    assert same(outcome(path, index), wanted)


def test_a_document_twice_is_refused_wherever_it_is(tmp_path, index, monkeypatch) -> None:
    lines = many_topics(random.Random(5))
    path = tmp_path / "file.run"
    for block in (200, 1 << 20):
        monkeypatch.setattr("collection.formats.source.CHUNK", block)
        for again in (0, len(lines) // 2, len(lines) - 1):
            path.write_text("".join([*lines, lines[again]]))
            found = outcome(path, index)
            assert isinstance(found, str)
            assert f"line {len(lines) + 1}" in found
            assert f"first in line {again + 1}" in found


def test_several_runs_keep_their_names_and_order(tmp_path, index) -> None:
    paths = []
    for number in range(7):
        paths.append(tmp_path / f"r{number}.run")
        paths[-1].write_text("".join(many_topics(random.Random(number))).replace(" tag", f" system{number}"))
    made = list(RunFiles(paths).look_up(index))
    wanted = [(run.name, align(run.frame, index)) for run in read_runs(paths)]
    assert [name for name, _ in made] == [name for name, _ in wanted] == [f"system{n}" for n in range(7)]
    assert all(same(a.whole(), b) for (_, a), (_, b) in zip(made, wanted, strict=True))
    assert [name for name, _ in RunFiles(paths[:2], ["a", "b"]).look_up(index)] == ["a", "b"]


def test_the_error_of_a_run_comes_after_the_runs_before_it(tmp_path, index) -> None:
    for name, text in (("sound", "1 Q0 a 1 2 sound\n"), ("broken", "1 Q0 a 1 x broken\n"), ("late", "1 Q0 a 1 2 z\n")):
        (tmp_path / name).write_text(text)
    found = RunFiles([tmp_path / "sound", tmp_path / "broken", tmp_path / "late"]).look_up(index)
    assert next(found)[0] == "sound"
    with pytest.raises(InputError, match="broken, line 1: expected a number as score"):
        next(found)


def test_the_library_evaluates_files_as_frames(tmp_path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    qrels = tmp_path / "qrels"
    paths = [tmp_path / "a.run", tmp_path / "b.run"]
    for number, path in enumerate(paths):
        path.write_text("".join(many_topics(random.Random(number))).replace(" tag", f" {path.stem}"))
    frames = evaluate(read_qrels(qrels), list(read_runs(paths)))
    for given_runs in (paths, list(map(str, paths)), dict(zip("ab", paths, strict=True))):
        made = evaluate(qrels, given_runs)
        assert made.values.equals(frames.values)
        assert made.unjudged.equals(frames.unjudged)
        assert (made.coverage, made.notes) == (frames.coverage, frames.notes)
    assert evaluate(qrels, paths[0]).means().index.tolist() == ["a"]
    found = comparison.evaluate(RunFiles(paths), read_index(qrels), MEASURED, with_bounds=True)
    wanted = comparison.evaluate(read_runs(paths), read_qrels(qrels), MEASURED, with_bounds=True)
    assert found.values.equals(wanted.values)


def test_every_measure_of_plain_qrels_has_the_value_of_frames(tmp_path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    path = tmp_path / "a.run"
    path.write_text("".join(many_topics(random.Random(8), scores=TIES["many"])))
    measures = [entry.example for entry in MEASURES if not entry.needs]
    made = comparison.evaluate(RunFiles([path]), read_index(tmp_path / "qrels"), measures)
    wanted = comparison.evaluate([read_run(path)], read_qrels(tmp_path / "qrels"), measures)
    assert made.values.equals(wanted.values)
    assert len(measures) > 30


@pytest.mark.parametrize("cells", [1, 40, 70])
def test_a_long_run_is_evaluated_in_pieces_of_bounded_size(tmp_path, monkeypatch, cells) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    path = tmp_path / "a.run"
    path.write_text("".join(many_topics(random.Random(8))))
    measures = [entry.example for entry in MEASURES if not entry.needs]
    index = read_index(tmp_path / "qrels")
    whole = comparison.evaluate(RunFiles([path]), index, measures, with_bounds=True)
    sizes = []
    monkeypatch.setattr(alignment, "MOST_CELLS", cells)
    monkeypatch.setattr(source, "CHUNK", 200)
    place = alignment.place_pairs
    monkeypatch.setattr(
        alignment, "place_pairs", lambda *a, **k: sizes.append((made := place(*a, **k)).grades.shape) or made
    )
    pieces = comparison.evaluate(RunFiles([path]), index, measures, with_bounds=True)
    pd.testing.assert_frame_equal(pieces.values, whole.values, rtol=1e-13)  # INSQ adds in another order
    assert (pieces.coverage, pieces.shares) == (whole.coverage, whole.shares)
    assert sum(topics for topics, _ in sizes) == len(index.topics)
    assert len(sizes) > 1
    assert all(topics == 1 or topics * depth <= cells for topics, depth in sizes)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_found_by_search_as_by_tables(monkeypatch, seed) -> None:
    rng = random.Random(seed)

    def draw(topics: str) -> dict[str, dict[str, int]]:
        some = {topic: rng.sample("abcdefghij", rng.randrange(7)) for topic in topics}
        return {topic: {doc: rng.randrange(4) for doc in docs} for topic, docs in some.items()}

    index, frame = index_qrels(as_qrels(draw("12345") | {"6": {"a": 1}})), next(as_runs(draw("987654321"))).frame
    found = []
    for documents in (0, 1000):
        monkeypatch.setattr(alignment, "DOCUMENTS_FOR_TABLE", documents)
        run = look_up(frame, index, 10)
        found.append((run.pair.tolist(), run.rank.tolist(), run.topic.tolist(), run.unnamed))
    assert found[0] == found[1]
    assert found[0][0]


def test_one_deep_topic_does_not_widen_the_others() -> None:
    index = index_qrels(as_qrels({str(topic): {"a": 1} for topic in range(1000)}))
    deep = {"7": {str(n): -float(n) for n in range(100_000)} | {"a": 1.0}}
    run = look_up(
        next(as_runs(deep | {str(topic): {"a": 1.0} for topic in range(1000) if topic != 7})).frame, index, 10
    )
    shapes = [piece.grades.shape for piece in run.pieces()]
    assert sum(topics for topics, _ in shapes) == 1000
    assert max(topics * depth for topics, depth in shapes) <= alignment.MOST_CELLS
    assert np.concatenate([RR(piece) for piece in run.pieces()]).tolist() == [1.0] * 1000


@pytest.mark.parametrize(
    "text", [QRELS, "1 0 a 0.5\n1 0 b -0.5\n", '{"query_id": "1", "doc_id": "a", "relevance": 2}\n']
)
def test_an_index_of_a_file_is_that_of_its_frame(tmp_path, text) -> None:
    (tmp_path / "qrels").write_text(text)
    made, wanted = read_index(tmp_path / "qrels"), index_qrels(read_qrels(tmp_path / "qrels"))
    for field in fields(made):
        a, b = getattr(made, field.name), getattr(wanted, field.name)
        assert a.to_pylist() == b.to_pylist() if field.name == "documents" else np.array_equal(a, b)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("1 a\n1 b\n2 c\n2 d", 8),
        ("1 a\n1 b\n2 c\n2 d\n", 8),
        ("1 a\n10 b\n1 c\n1 d\n", 9),
        ("1\ta\n2\tb\n2\tc\n", 4),
        ("1 a\n1 b\n", 0),
        ("1 a", 0),
        ("", 0),
        ("1 a\n2 b\n\n", 8),
        ("1 " + "x" * 9000 + "\n2 " + "y" * 9000 + "\n", 9003),
    ],
)
def test_blocks_end_where_a_topic_ends(text, end) -> None:
    assert last_topic_end(np.frombuffer(text.encode(), np.uint8)) == end


@pytest.mark.slow
def test_small_files_are_evaluated_with_few_modules(tmp_path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "a.run").write_text("".join(many_topics(random.Random(1), scores=TIES["many"])))
    program = """
import sys
from collection.cli import main
main(["evaluate", *sys.argv[1:], "--per-topic"], standalone_mode=False)
heavy = {"pandas", "scipy", "sklearn", "numba", "numpy.ma", "tempfile", "zipfile"}
print(*(heavy & set(sys.modules)), *(m for m in sys.modules if m.startswith("collection.cli.re")), file=sys.stderr)
"""
    command = [sys.executable, "-c", program, tmp_path / "qrels", tmp_path / "a.run"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "nDCG@10" in done.stdout
    assert done.stderr.splitlines()[-1] == "collection.cli.results"
