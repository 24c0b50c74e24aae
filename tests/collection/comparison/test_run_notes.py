"""Notes on runs whose order or ids are in doubt, at every door that takes runs."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from collection import compare, evaluate, formats, pool
from collection.comparison.evaluation import FEW_TOPICS
from collection.core.ranking import doubt_run, rank_run
from collection.id_matches import loose_key
from collection.measures import align
from tests.helpers import ok, run

QRELS = "q1 0 a 3\nq1 0 b 2\nq1 0 c 0\nq2 0 d 1\nq2 0 e 0\n"
TOPICS = "query_id\ttitle\nq1\twing\nq2\tflow\n"
DOCUMENTS = "doc_id\ttitle\ttext\n" + "".join(f"{d}\t{d}\tabout {d}\n" for d in "abcde")
GOOD = "q1 Q0 a 1 0.9 good\nq1 Q0 b 2 0.5 good\nq2 Q0 d 1 0.9 good\n"
CAFE = "café"

DISTANCES = "q1 Q0 a 1 0.11 dist\nq1 Q0 b 2 0.29 dist\nq1 Q0 c 3 0.78 dist\nq2 Q0 d 1 0.5 dist\n"
REVERSED = (
    "the ranks contradict the scores in reverse in 1 of 1 topic (topic q1: document 'a' has rank 1 and score 0.11, "
)
TIED = "q1 Q0 a 1 1 flat\nq1 Q0 c 2 1 flat\nq2 Q0 d 1 3 flat\nq2 Q0 e 2 2 flat\n"
ALL_TIED = "all documents have the same score in 1 of 2 topics with two documents or more (such as q1)"
ALIENS = "q1 Q0 x1 1 3 far\nq1 Q0 x2 2 2 far\nq1 Q0 x3 3 1 far\nq1 Q0 x4 4 0 far\n"
CASED = "q1 Q0 A 1 3 caps\nq1 Q0 b 2 2 caps\nq2 Q0 D 1 1 caps\n"
CASE_OF_CASED = "2 document ids differ from the {} only in upper and lower case ('A', {} 'a')"

WRONG = {
    "distances": (DISTANCES, REVERSED),
    "one pair": (
        "q1 Q0 a 1 9 r\nq1 Q0 b 3 8 r\nq1 Q0 c 2 7 r\n",
        "r: the ranks contradict the scores in 1 of 1 topic (topic q1: ",
    ),
    "the first is right": (
        "q1 Q0 a 1 9 r\nq1 Q0 b 5 9 r\nq1 Q0 c 3 8 r\nq1 Q0 d 4 8 r\n",
        "(topic q1: document 'c' has rank 3 and score 8, 'b' rank 5 and score 9)",
    ),
    "ranks from the bottom": ("q1 Q0 a 3 9 r\nq1 Q0 b 2 8 r\nq1 Q0 c 1 7 r\n", "contradict the scores in reverse"),
    "ties": (TIED, ALL_TIED),
    "case": (CASED, CASE_OF_CASED),
    "other ids": (ALIENS, "Do the ids match? far: 'x1', 'x2', 'x3'; {}: 'a', 'b', 'c'"),
}  # fmt: skip
"""A run, and a part of its note; {} stands for the other side."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"q": QRELS, "t.tsv": TOPICS, "d.tsv": DOCUMENTS, "good.run": GOOD}.items():
        Path(name).write_text(text)
    ok("new", "camp")
    ok("import", "camp", "--topics", "t.tsv", "--documents", "d.tsv")
    return tmp_path


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.usefixtures("folder")
@pytest.mark.long
def test_a_run_in_doubt_has_a_note_at_every_door(kind: str) -> None:
    text, said = WRONG[kind]
    Path("wrong.run").write_text(text)
    of_qrels, of_campaign = (said.replace("{}", side) for side in ("qrels", "campaign"))
    assert of_qrels in run("evaluate", "q", "good.run", "wrong.run").stderr
    assert of_qrels in run("compare", "q", "good.run", "wrong.run", "-m", "AP").stderr
    assert of_qrels in "\n".join(evaluate("q", ["wrong.run"], "AP").notes)
    assert of_qrels in "\n".join(compare("q", ["good.run", "wrong.run"], "AP").notes)
    assert of_qrels in "\n".join(evaluate("q", formats.read_run("wrong.run"), "AP").notes)
    assert of_campaign in run("import", "camp", "--run", "good.run", "--run", "wrong.run").stderr
    assert of_campaign in run("pool", "camp", "--depth", "2").stderr


@pytest.mark.usefixtures("folder")
def test_a_run_that_is_in_order_has_none() -> None:
    for command in (["evaluate", "q"], ["compare", "q", "-m", "AP"]):
        assert not any(word in run(*command, "good.run").stderr for word in ("rank", "same score", "match", "differ"))
    assert run("import", "camp", "--run", "good.run").stderr == ""
    assert run("pool", "camp", "--depth", "2").stderr == ""


@pytest.mark.parametrize(
    ("own", "others", "difference"),
    [
        (unicodedata.normalize("NFD", CAFE), CAFE, "Unicode normalisation"),
        ("\uff21\uff22", "ab", "Unicode normalisation and upper and lower case"),
        ("caf\u00e9\u00a0", CAFE, "white space"),
        ("\u200bx", "x", "invisible characters"),
        ("STRASSE", "straße", "upper and lower case"),
    ],
)
def test_what_tells_ids_apart(own: str, others: str, difference: str) -> None:
    notes = evaluate({"1": {others: 1, "n": 0}}, {"1": {own: 2.0, "n": 1.0}}, "AP").notes
    assert len([note for note in notes if f"only in {difference} (" in note]) == 1, notes
    assert loose_key(own) == loose_key(others)


def test_topics_that_differ_only_in_writing() -> None:
    qrels = {f"T{n}": {"a": 1} for n in range(4)}
    notes = evaluate(qrels, {**{f"t{n}": {"a": 1.0} for n in range(3)}, "T3": {"a": 1.0}}, "AP").notes
    assert any("3 topic ids differ from the qrels only in upper and lower case ('t0', qrels 'T0')" in n for n in notes)


@pytest.mark.parametrize(("matching", "asks"), [(0, True), (1, True), (10, False)])
def test_hardly_any_document_matches(matching: int, asks: bool) -> None:
    qrels = {"1": {f"d{n}": 1 for n in range(30)}}
    ranking = {f"{'d' if n < matching else 'x'}{n}": 1.0 / (n + 1) for n in range(30)}
    assert any("Do the ids match?" in note for note in evaluate(qrels, {"1": ranking}, "AP").notes) == asks


def test_the_headline_does_not_compare_a_run_whose_ids_match_nothing() -> None:
    topics = [str(n) for n in range(12)]
    qrels = {topic: {"a": 1, "b": 1, "c": 0} for topic in topics}
    best = {topic: {"a": 3.0, "b": 2.0, "c": 1.0} for topic in topics}
    middle = {topic: {"a": 1.0, "c": 2.0, "b": 0.5} for topic in topics}
    other = {topic: {"xa": 3.0, "xb": 2.0} for topic in topics}
    apart = "other has no judged document: do the ids match?"
    three = compare(qrels, {"best": best, "middle": middle, "other": other}, ["nDCG@10"]).sentence("nDCG@10")
    assert "significantly higher than middle" in three
    assert three.endswith(f". {apart}")
    two = compare(qrels, {"best": best, "other": other}, ["nDCG@10"]).sentence("nDCG@10")
    assert "significant" not in two
    assert two.endswith(f". {apart}")
    seeds = {"other#1": other, "other#2": other, "best": best}
    assert compare(qrels, seeds, ["nDCG@10"]).sentence("nDCG@10").endswith(f". {apart}")
    alone = compare(qrels, {"one": other, "two": other}, ["nDCG@10"]).sentence("nDCG@10")
    assert "do the ids match?" not in alone  # the notes ask for each


def test_hardly_any_topic_matches() -> None:
    qrels = {str(n): {"a": 1} for n in range(20)}
    ranking = {f"q{n}" if n else "0": {"a": 1.0} for n in range(20)}
    notes = "\n".join(evaluate(qrels, {"r": ranking}, "AP").notes)
    assert "r: 1 of 20 topics is in the qrels. Do the ids match? r: 'q1', 'q2', 'q3'; qrels: '1', '2', '3'" in notes
    assert FEW_TOPICS > 1 / 20
    subset = evaluate({"0": {"a": 1}}, {"r": ranking}, "AP").notes  # qrels of some topics are common
    assert not any("match" in note for note in subset)


def test_a_lowest_grade_that_counts_as_relevant() -> None:
    """Of a scale that begins with 0, or with a level of one's own, there is nothing to say."""
    qrels, ranking = {"1": {"a": 1, "b": 5}}, {"r": {"1": {"a": 1.0, "b": 0.5}}}
    note = "grade 1, the lowest of the scale, counts as relevant (AP). Try --relevance-level 2, or AP(rel=2)"
    assert note in evaluate(qrels, ranking, ["AP", "nDCG"], grades="1-5").notes
    for measures, grades in ((["AP"], "0-5"), (["AP"], None), (["AP(rel=2)", "nDCG"], "1-5")):
        assert not any(
            "lowest of the scale" in each for each in evaluate(qrels, ranking, measures, grades=grades).notes
        )


def test_topics_without_relevant_documents_and_fractions_of_grades() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 0}, "3": {"c": 0.5}}
    ranking = {topic: dict.fromkeys("abc", 1.0) for topic in qrels}
    notes = "\n".join(evaluate(qrels, ranking, ["AP", "nDCG"]).notes)
    assert "1 of 3 topics has no relevant document (2) and counts in the means" in notes
    assert "1 grade between 0 and 1 (such as 0.5) is below relevance level 1 and counts as not relevant (AP)" in notes
    assert "Try --relevance-level 0.5, or AP(rel=0.5)" in notes
    notes = "\n".join(evaluate(qrels, ranking, "AP").notes)
    assert "2 of 3 topics have no relevant document (2 and 3) and count in the means" in notes


RANKS: dict[str, tuple[list[int], list[float], bool]] = {
    "PyTerrier's ranks from 0": ([0, 1, 2], [3, 2, 1], False),
    "equal scores in any order of ranks": ([2, 1, 3], [5, 5, 1], False),
    "equal ranks": ([1, 1, 1], [1, 2, 3], False),
    "rows in any order": ([3, 1, 2], [1, 3, 2], False),
    "gaps": ([5, 50, 500], [3, 2, 1], False),
    "one pair": ([1, 3, 2], [3, 2, 1], True),
    "equal scores and another pair": ([3, 2, 1], [5, 5, 1], True),
}  # fmt: skip


@pytest.mark.parametrize("kind", RANKS)
def test_ranks_contradict_scores(kind: str) -> None:
    """By all pairs: the lower score has the better rank."""
    ranks, scores, contradicted = RANKS[kind]
    pairs = list(zip(ranks, scores, strict=True))
    assert any(a < b and x < y for a, x in pairs for b, y in pairs) == contradicted
    frame = pd.DataFrame({"query_id": "1", "doc_id": list("abc"), "score": scores, "rank": ranks})
    ranked = rank_run(frame)
    assert bool(doubt_run(ranked).contradicted) == contradicted
    assert bool(doubt_run(rank_run(ranked)).contradicted) == contradicted
    assert bool(align(frame, pd.DataFrame({"query_id": ["1"], "doc_id": "a", "relevance": 1})).doubts.contradicted) == (
        contradicted
    )


@pytest.mark.parametrize("write", [lambda score: score, lambda score: -score])
def test_large_files_are_looked_at_as_well(tmp_path: Path, write: Callable[[int], int]) -> None:
    lines = (f"q{t} Q0 d{n} {n} {write(1000 - n)} big\n" for t in range(40) for n in range(1, 200))
    (tmp_path / "big.run").write_text("".join(lines))
    (tmp_path / "q").write_text("".join(f"q{t} 0 d{n} 1\n" for t in range(40) for n in range(1, 10)))
    notes = [note for note in evaluate(tmp_path / "q", tmp_path / "big.run", "AP").notes if "contradict" in note]
    assert [note.split(" (")[0] for note in notes] == (
        ["big: the ranks contradict the scores in reverse in 40 of 40 topics"] if write(1) < 0 else []
    )


def test_pooling_in_python_needs_no_notes() -> None:
    assert len(pool({"r": {"q1": {"a": 1.0, "b": 1.0}}}, depth=1)) == 1
