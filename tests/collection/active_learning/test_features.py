"""Documents as features: weights as scikit-learn makes them, any script, updates that equal a new start, damage."""

import errno
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, strategies as st
from hypothesis.extra import numpy as st_numpy
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from collection.active_learning.features import (
    FeatureMatrix,
    Report,
    assembly,
    build,
    matvec,
    open_features,
    storage,
    top,
    update,
    workers,
)
from collection.active_learning.features.term_counts import MOST, count
from collection.core.errors import BusyError, FormatError, InputError, StorageError, UnknownNameError
from collection.core.tokens import normalise, words
from tests.helpers import PATIENCE, ROOT, tries, until

TEXTS = [
    "The cat sat on the mat; the mat was flat.",
    "A dog, a cat & 2 mats: don't sit!",
    "Nothing of the kind (see 3.14159) happens here",
    "cat",
    "the the the the the dog's mat",
    "",
    "Flat earth... flat sea? The sea!",
    "Repeated repeated REPEATED words, words and WORDS",
]
TOPIC = "a flat mat for the cat"


@pytest.fixture(autouse=True)
def _no_power_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """To wait for the disk takes longer than all else here."""
    monkeypatch.setattr("collection.core.layout.sync_file", lambda _: None)


def cosines(matrix: sparse.csr_matrix) -> np.ndarray:
    return (matrix @ matrix.T).toarray()


def space(features: FeatureMatrix, topics: tuple[str, ...] = (TOPIC, "東京 words", "")) -> np.ndarray:
    """What does not depend on the order of columns: all inner products, those with topics, and BM25."""
    rows = sparse.vstack([features.rows(np.arange(features.size)), *map(features.vectorize, topics)]).tocsr()
    return np.vstack([cosines(rows)[:, : features.size], *map(features.bm25, topics)])


def pairs(texts: list[str | None]) -> list[tuple[str, str | None]]:
    return [(f"d{n}", text) for n, text in enumerate(texts)]


# Weights


@pytest.mark.parametrize("bigrams", [False, True])
def test_words_weigh_as_in_scikit_learn(bigrams: bool) -> None:
    oracle = TfidfVectorizer(
        token_pattern=r"\w+", ngram_range=(1, 1 + bigrams), max_df=0.95, sublinear_tf=True, dtype=np.float64
    )
    expected = oracle.fit_transform(TEXTS)
    features = build(TEXTS, blocks=["words"], bigrams=bigrams)
    assert np.allclose(cosines(features.rows(range(8))), cosines(expected), atol=1e-6)
    assert np.allclose((features.rows(range(8)) @ features.vectorize(TOPIC).T).toarray(),
                       (expected @ oracle.transform([TOPIC]).T).toarray(), atol=1e-6)  # fmt: skip


def test_grams_weigh_as_in_scikit_learn() -> None:
    oracle = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), min_df=2, max_df=0.7, sublinear_tf=True)
    expected = oracle.fit_transform(TEXTS)
    features = build(TEXTS, blocks=["chars"])
    assert np.allclose(cosines(features.rows(range(8))), cosines(expected), atol=1e-6)
    assert np.allclose((features.rows(range(8)) @ features.vectorize(TOPIC).T).toarray(),
                       (expected @ oracle.transform([TOPIC]).T).toarray(), atol=1e-6)  # fmt: skip


def test_pruned_terms_keep_their_place_and_weigh_nothing() -> None:
    features = build(["same one", "same two", "same three"], blocks=["words", "chars"])
    block = features.blocks[0]
    assert block.matrix.nnz == 6
    assert features.rows([0, 1, 2])[:, : block.shape[1]].nnz == 3
    assert {block.matrix.dtype, block.matrix.indices.dtype} == {np.dtype("f4"), np.dtype("i4")}


def test_bm25_by_hand() -> None:
    features = build(["red apple", "red red pear tree", None, "plum"])
    # Three documents with a text, of 2, 4 and 1 words; "red" is in two of them, "pear" in one.
    mean, red, pear = 7 / 3, math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)

    def saturated(tf: int, length: int) -> float:
        return tf / (tf + 0.9 * (0.6 + 0.4 * length / mean))

    expected = [red * saturated(1, 2), red * saturated(2, 4) + pear * saturated(1, 4), 0, 0]
    assert features.bm25("Red pear, unknown").tolist() == pytest.approx(expected, rel=1e-6)
    assert features.bm25("pear pear")[1] == pytest.approx(2 * pear * saturated(1, 4), rel=1e-6)
    assert features.bm25("red", k1=0).tolist() == pytest.approx([red, red, 0, 0], rel=1e-6)
    assert features.bm25("").dtype == np.float32
    paired = build(["red apple", "red red pear tree", None, "plum"], bigrams=True)
    assert np.array_equal(paired.bm25("red pear"), features.bm25("red pear"))


def test_a_count_stops_where_its_type_does() -> None:
    block = count(["a " * 70_000 + "b"], ["words"])["words"]
    assert sorted(block.counts.tolist()) == [1, MOST]
    assert block.lengths.tolist() == [70_001]


# Scripts, and texts that hardly are any


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＦＵＬＬ Straße ﬁn ΣΊΣΥΦΟΣ", ["full", "strasse", "fin", "σίσυφοσ"]),
        ("x 7 naïve cafe\u0301", ["x", "7", "naïve", "café"]),
        ("東京都へ行く", ["東京", "京都", "都へ", "へ行", "行く"]),
        ("猫 and 2匹", ["猫", "and", "2", "匹"]),
        ("ｶﾞｲﾄﾞ", ["ガイ", "イド"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("กขค", ["กข", "ขค"]),
        ("co\u00adoperate", ["cooperate"]),
        ("\U00020000\U00020001\U00020002", ["\U00020000\U00020001", "\U00020001\U00020002"]),
        ("... — ¿?", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert words(normalise(text)) == expected


@tries(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(codec=None), max_size=30), max_size=4))
def test_counts_of_any_text_are_those_of_its_words(texts: list[str]) -> None:
    found = count(texts, ["words"])["words"]
    for row, text in enumerate(texts):
        part = slice(found.indptr[row], found.indptr[row + 1])
        counted = {found.terms[c]: n for c, n in zip(found.indices[part], found.counts[part].tolist(), strict=True)}
        assert counted == Counter(words(normalise(text)))
        assert found.lengths[row] == sum(counted.values())


def test_a_search_without_blanks_finds_its_sentence() -> None:
    features = build(["東京都の天気は晴れです。", "大阪の天気は雨です。", "weather in Tokyo"])
    assert top(features.bm25("東京"), 1).tolist() == [0]
    assert top(features.scores(features.vectorize("大阪").toarray()[0]), 1).tolist() == [1]


@pytest.mark.parametrize(
    "texts",
    [
        [""],
        [None],
        [" \n\t\u3000"],
        ["!!! ... ¿?"],
        ["one"],
        ["one document of some words"],
        [None, None, "a", None],
        ["\ud800 half a pair \x00\x1c\x85\u2028"],
        ["word " * 1000, None, ""],
    ],
)
@pytest.mark.parametrize("bigrams", [False, True])
def test_hardly_any_text(texts: list[str | None], bigrams: bool, tmp_path: Path) -> None:
    update(tmp_path, pairs(texts), bigrams=bigrams)
    for features in (build(texts, bigrams=bigrams), open_features(tmp_path)):
        assert features.size == len(texts)
        assert features.scores(np.ones(features.width)).shape == (len(texts),)
        assert np.isfinite(space(features)).all()
        empty = [row for row, text in enumerate(texts) if not (text or "").strip()]
        assert features.rows(empty).nnz == 0


def test_no_documents(tmp_path: Path) -> None:
    assert update(tmp_path, []).documents == 0
    for features in (build([]), open_features(tmp_path)):
        assert (features.size, features.width) == (0, 0)
        assert len(top(features.scores([]), 5)) == len(features.bm25("x")) == 0


def test_one_document_does_not_lose_all_its_words() -> None:
    assert build(["just one"]).rows([0]).nnz == 2


# Asking


@pytest.fixture(scope="module")
def made() -> FeatureMatrix:
    return build(TEXTS)


def test_scores_are_the_dense_product_in_float32(made: FeatureMatrix) -> None:
    weights = np.random.default_rng(1).standard_normal(made.width)
    dense = made.rows(np.arange(8)).toarray() @ weights
    scores = made.scores(weights)
    assert scores.dtype == made.rows([0]).dtype == made.vectorize("x").dtype == np.float32
    assert np.allclose(scores, dense, atol=1e-5)
    for index in ([3], [5, 0, 5], [7, 6, 5, 4, 3, 2, 1, 0], []):
        assert np.allclose(made.scores(weights, index), dense[index], atol=1e-5)
        assert made.scores(weights, index).dtype == np.float32


def test_explanations_sum_up_to_the_score_and_begin_with_words(made: FeatureMatrix) -> None:
    weights = np.random.default_rng(2).standard_normal(made.width)
    everything = made.explain(1, weights, made.width)
    assert sum(value for _, value in everything) == pytest.approx(float(made.scores(weights)[1]), abs=1e-5)
    ours = [value for term, value in everything if not term.startswith("chars:")]
    assert [abs(v) for v in ours] == sorted((abs(v) for v in ours), reverse=True)
    assert made.explain(1, weights, 3) == everything[:3]
    assert {"dog", "cat", "2"} <= {term for term, _ in everything[: len(ours)]}
    assert made.explain(5, weights) == []


def test_terms_have_names(made: FeatureMatrix) -> None:
    names = [made.term(column) for column in range(made.width)]
    assert len(set(names)) == made.width
    assert {"cat", "chars:·cat", "chars:flat", "chars:·a·"} <= set(names)
    with pytest.raises(InputError, match=f"expected a column from 0 to {made.width - 1}, found -1"):
        made.term(-1)


def test_ready_matrices_are_not_copied_and_know_no_words() -> None:
    matrix = sparse.random(50, 30, density=0.2, format="csr", dtype=np.float32, random_state=1)
    dense = np.random.default_rng(3).standard_normal((50, 4)).astype(np.float32)
    features = FeatureMatrix.of(matrix, dense)
    assert np.shares_memory(features.blocks[0].matrix.data, matrix.data)
    assert np.shares_memory(features.blocks[1].matrix, dense)
    weights = np.random.default_rng(4).standard_normal(34)
    expected = np.hstack([matrix.toarray(), dense]) @ weights
    assert np.allclose(features.scores(weights), expected, atol=1e-5)
    assert np.allclose(features.rows([7, 3]) @ weights, expected[[7, 3]], atol=1e-5)
    assert features.vectorize("word").nnz == 0
    assert not features.bm25("word").any()
    assert features.term(31) == "block 2:1"


def test_bad_questions_are_refused(made: FeatureMatrix) -> None:
    for index, message in (([8], "found 8"), ([-1], "found -1"), ([True] * 8, "found bool"), ([0.5], "found float64")):
        with pytest.raises(InputError, match=message):
            made.rows(index)
    with pytest.raises(InputError, match=rf"one for each of the {made.width} features, found shape \(3,"):
        made.scores([1, 2, 3])
    with pytest.raises(InputError, match="found 2 blocks to learn from, with 2 and 3 rows"):
        FeatureMatrix.of(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(InputError, match="found 0 blocks to learn from, with no rows"):
        FeatureMatrix.of()
    with pytest.raises(UnknownNameError, match="unknown block of features 'word'; did you mean 'words'"):
        build(TEXTS, blocks=["word"])


@pytest.mark.parametrize("numba", [False, True])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_a_large_matrix_is_scored_in_slabs(numba: bool, threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if numba:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(matvec, "compiled", lambda: None)
    monkeypatch.setattr(matvec, "SMALL", 100)
    monkeypatch.setattr(matvec, "SLAB", 500)
    matrix = sparse.random(2000, 40, density=0.1, format="csr", dtype=np.float32, random_state=1)
    matrix.data.flags.writeable = False  # as a memory map is
    weights = np.random.default_rng(5).standard_normal(40).astype(np.float32)
    features = FeatureMatrix.of(matrix)
    assert np.allclose(features.scores(weights, threads=threads), matrix @ weights, atol=1e-5)
    slabs = features.blocks[0]._slabs
    assert len(slabs) > 10
    assert all(np.shares_memory(s.data, matrix.data) and np.shares_memory(s.indices, matrix.indices) for s in slabs)


# The best


@tries(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st_numpy.arrays(np.float32, st.integers(0, 60), elements=st.sampled_from([-np.inf, -1, 0, 0.5, 1, 3, np.inf])),
    st.integers(0, 70),
    st.integers(0, 2**32),
)
def test_top_is_a_full_stable_sort(scores: np.ndarray, number: int, seed: int) -> None:
    allowed = np.random.default_rng(seed).random(len(scores)) < 0.6
    order = np.argsort(-scores, kind="stable")
    assert top(scores, number).tolist() == order[:number].tolist()
    assert top(scores, number, allowed).tolist() == order[allowed[order]][:number].tolist()


@pytest.mark.parametrize("levels", [1, 3, 1000, 10**9])
def test_top_of_many(levels: int) -> None:
    rng = np.random.default_rng(levels)
    scores = rng.integers(0, levels, 300_000).astype(np.float32)
    allowed = rng.random(300_000) < 0.5
    order = np.argsort(-scores, kind="stable")
    for number in (1, 50, 5000):
        assert np.array_equal(top(scores, number), order[:number])
        assert np.array_equal(top(scores, number, allowed), order[allowed[order]][:number])


def test_top_puts_nan_last_and_wants_one_flag_a_row() -> None:
    assert top(np.array([np.nan, 1, np.nan, 2], np.float32), 3).tolist() == [3, 1, 0]
    with pytest.raises(InputError, match="top: expected one score"):
        top(np.ones(3, np.float32), 1, np.ones(2, bool))


# On disk


def test_update_makes_what_build_makes(tmp_path: Path, made: FeatureMatrix) -> None:
    steps: list[tuple[str, int, int | None]] = []
    report = update(tmp_path / "new" / "features", pairs(TEXTS), progress=lambda *step: steps.append(step))
    assert report[:3] == (8, 8, 8)
    assert ("tokenising", 8, 8) in steps
    opened = open_features(tmp_path / "new" / "features")
    assert np.allclose(space(opened), space(made), atol=1e-6)
    assert opened.fingerprint == report.fingerprint != ""
    assert opened.term(0) == made.term(0)


BEFORE = ["one red apple", "two red pears", None, "three plums", "one red apple", "  ", "apples and pears in a basket"]
CHANGES: dict[str, tuple[list[str | None], int, int]] = {
    "nothing": (BEFORE, 0, 0),
    "added": ([*BEFORE, "four cherries", None], 1, 2),
    "changed": ([*BEFORE[:3], "three green plums", *BEFORE[4:]], 1, 1),
    "first one changed": (["an orange", *BEFORE[1:]], 1, 1),
    "text taken away": ([*BEFORE[:3], None, *BEFORE[4:]], 0, 1),
    "text arrived": ([*BEFORE[:2], "a late plum", *BEFORE[3:]], 1, 1),
    "text of another row arrived": ([*BEFORE[:2], BEFORE[3], *BEFORE[3:]], 0, 1),
    "last ones removed": (BEFORE[:4], 0, 3),
    "reversed": (BEFORE[::-1], 0, 6),
    "all different": (["x y", "y z"], 2, 7),
    "all gone": ([], 0, 7),
    "all at once": (["new", BEFORE[6], *BEFORE[1:3], "newer", None, *BEFORE[3:]], 2, 10),
}


@pytest.mark.parametrize("bigrams", [False, True])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
def test_an_update_equals_a_new_start(change: str, bigrams: bool, tmp_path: Path) -> None:
    after, tokenised, changed = CHANGES[change]
    first = update(tmp_path / "a", pairs(BEFORE), bigrams=bigrams)
    old = open_features(tmp_path / "a")
    was = space(old)
    report = update(tmp_path / "a", pairs(after), bigrams=bigrams)
    assert report[:3] == (len(after), tokenised, changed)
    anew = update(tmp_path / "b", pairs(after), bigrams=bigrams)
    a, b = open_features(tmp_path / "a"), open_features(tmp_path / "b")
    assert report.fingerprint == anew.fingerprint == a.fingerprint
    assert (report.fingerprint == first.fingerprint) == (change == "nothing")
    assert a.width == b.width
    assert sorted(map(a.term, range(a.width))) == sorted(map(b.term, range(b.width)))
    assert np.allclose(space(a), space(b), atol=1e-6)
    assert np.array_equal(space(old), was), "who has the old features open keeps them"
    assert len(list((tmp_path / "a").iterdir())) == 2


@pytest.mark.slow
@tries(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.one_of(st.none(), st.text("ab 東京\n.", max_size=8)), max_size=6), min_size=2, max_size=3))
def test_any_row_of_updates_equals_a_new_start(tmp_path_factory: pytest.TempPathFactory, states: list) -> None:
    directory = tmp_path_factory.mktemp("any")
    for state in states:
        update(directory, pairs(state))
    assert np.allclose(space(open_features(directory)), space(build(states[-1])), atol=1e-6)


def test_small_chunks_and_steps_change_nothing(
    tmp_path: Path, made: FeatureMatrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collection.active_learning.features import assembly, blocks, tfidf

    monkeypatch.setattr(assembly, "CHUNK_DOCUMENTS", 3)
    for module in (assembly, blocks, tfidf):
        monkeypatch.setattr(module, "STEP", 5)
    update(tmp_path, pairs(TEXTS[:5]))
    report = update(tmp_path, pairs(TEXTS))
    assert report[:3] == (8, 3, 3)
    assert np.allclose(space(open_features(tmp_path)), space(made), atol=1e-6)


@pytest.mark.slow
def test_settings_change_the_fingerprint_and_the_features(tmp_path: Path) -> None:
    seen = [update(tmp_path, pairs(TEXTS)).fingerprint]
    for options in ({"bigrams": True}, {"blocks": ["words"]}, {"blocks": ["chars"]}, {"blocks": ["chars", "words"]}):
        seen.append(update(tmp_path, pairs(TEXTS), **options).fingerprint)
        expected = build(TEXTS, **options)
        assert np.allclose(space(open_features(tmp_path)), space(expected), atol=1e-6)
        assert [b.name for b in open_features(tmp_path).learning] == [b.name for b in expected.learning]
    seen.append(update(tmp_path, [("other", text) for text in TEXTS]).fingerprint)
    assert len(set(seen)) == len(seen)
    assert update(tmp_path, pairs(TEXTS), blocks=["chars"]).tokenised == 0
    with pytest.raises(InputError, match="blocks: expected at least one of words, chars and dense"):
        update(tmp_path, pairs(TEXTS), blocks=[])


@pytest.mark.slow
def test_a_kill_before_the_rename_leaves_the_old_features(tmp_path: Path) -> None:
    update(tmp_path, pairs(BEFORE))
    was = space(open_features(tmp_path))
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom collection.active_learning.features import update\n"
        "Path.replace = lambda *_: os._exit(9)\n"
        "update(sys.argv[1], [('d', 'something else')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=False)
    assert done.returncode == 9
    assert len(list(tmp_path.iterdir())) == 3
    assert np.array_equal(space(open_features(tmp_path)), was)
    assert update(tmp_path, pairs(["something else"])).tokenised == 1
    assert len(list(tmp_path.iterdir())) == 2, "what the killed one left is gone"


def test_an_error_in_the_middle_leaves_the_old_features(tmp_path: Path) -> None:
    update(tmp_path, pairs(BEFORE))

    def broken():
        yield from pairs(["new", "texts"])
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="the database is gone"):
        update(tmp_path, broken())
    assert open_features(tmp_path).size == len(BEFORE)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", [False, True])
def test_an_interrupted_update_goes_on(damage: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "LARGE", 2)
    monkeypatch.setattr(assembly, "CHUNK_DOCUMENTS", 2)

    def interrupted() -> Iterator[tuple[str, str | None]]:
        yield from pairs([*TEXTS[:6]])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path / "v", interrupted(), processes=1)
    kept = sorted((tmp_path / "v").glob("made-*/*.npz"))
    assert len(kept) == 2, "the last chunk that was read was not counted"
    if damage:
        kept[0].write_bytes(kept[0].read_bytes()[:-9])
    counted: list[str | None] = []
    monkeypatch.setattr(workers, "count", lambda texts, *given: counted.extend(texts) or count(texts, *given))
    update(tmp_path / "v", pairs([*TEXTS]), processes=1)
    assert len(counted) == len(TEXTS) - (2 if damage else 4)
    assert space(open_features(tmp_path / "v")).tolist() == space(build(TEXTS, processes=1)).tolist()
    assert not list((tmp_path / "v").glob("made-*/*.npz"))


def test_a_full_disk_is_named_and_keeps_the_old_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is reserved before a file is mapped: a write through the map to a full disk would end the process."""
    update(tmp_path, pairs(TEXTS[:4]), dense=None)
    before = {place.name for place in tmp_path.iterdir()}
    (tmp_path / "made-killed00").mkdir()
    (tmp_path / "made-killed00" / "hashes.npy").write_bytes(b"the rest of an update that was killed")

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(StorageError, match=r"cannot be written \(No space left on device\); free some space"):
        update(tmp_path, pairs(TEXTS))
    assert {place.name for place in tmp_path.iterdir()} == before
    assert open_features(tmp_path).size == 4
    monkeypatch.undo()
    update(tmp_path, pairs(TEXTS))
    assert open_features(tmp_path).size == len(TEXTS)


def test_one_update_at_a_time(tmp_path: Path) -> None:
    def texts():
        yield "a", "text"
        with pytest.raises(BusyError, match="another process is updating .*; try again"):
            update(tmp_path, [])

    assert update(tmp_path, texts()).documents == 1


@pytest.mark.long
def test_readers_during_updates(tmp_path: Path) -> None:
    """Another process updates, as the one that trains does beside the server."""
    update(tmp_path, pairs(["a text"]))
    code = (
        "import sys; from collection.active_learning.features import update\n"
        "for size in range(2, 22): update(sys.argv[1], [(str(n), 'a text') for n in range(size)])"
    )
    opened = []
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=ROOT) as updater:
        while updater.poll() is None:
            opened.append(open_features(tmp_path).size)
    assert updater.returncode == 0
    assert opened == sorted(opened)
    assert len(set(opened)) > 1, "the reader has seen some of the updates"
    assert open_features(tmp_path).size == 21


def damage(name: str, folder: Path) -> Path:
    meta = folder / "meta.json"
    made = folder / json.loads(meta.read_text())["folder"]
    match name:
        case "no meta":
            meta.unlink()
        case "half a meta":
            meta.write_bytes(meta.read_bytes()[:100])
        case "another format":
            meta.write_text(json.dumps(json.loads(meta.read_text()) | {"format": 99}))
        case "a list":
            meta.write_text("[1, 2]")
        case "an entry missing":
            meta.write_text(json.dumps({k: v for k, v in json.loads(meta.read_text()).items() if k != "files"}))
        case "truncated":
            meta = made / "words.indices.npy"
            os.truncate(meta, 150)
        case "not an array":
            meta = made / "chars.values.npy"
            meta.write_bytes(b"x" * meta.stat().st_size)
        case "file missing":
            meta = made / "hashes.npy"
            meta.unlink()
        case "folder missing":
            shutil.rmtree(made)
            meta = made
    return meta


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no meta", "expected features of documents, found no such file; rebuild the features with `update`"),
        ("half a meta", "expected JSON, found another format"),
        ("another format", "expected features of format 1, found format 99"),
        ("a list", "expected features of format 1, found none"),
        ("an entry missing", "expected the entries .* found files missing or of another type"),
        ("truncated", r"expected \d+ bytes, found 150"),
        ("not an array", "expected a .npy file, found another format"),
        ("file missing", "expected a file of features, found none"),
        ("folder missing", "expected a file of features, found none"),
    ],
)
def test_damage_is_named_and_an_update_mends_it(name: str, message: str, tmp_path: Path, made: FeatureMatrix) -> None:
    update(tmp_path, pairs(TEXTS))
    path = damage(name, tmp_path)
    with pytest.raises(FormatError, match=message) as raised:
        open_features(tmp_path)
    assert str(path) in str(raised.value)
    assert update(tmp_path, pairs(TEXTS)).tokenised == 8
    assert np.allclose(space(open_features(tmp_path)), space(made), atol=1e-6)


@pytest.mark.parametrize(("content", "message"), [(b"\xff", "terms in UTF-8"), (b"x", r"\d+ terms, found 0")])
def test_a_damaged_vocabulary_is_named_when_it_is_read(content: bytes, message: str, tmp_path: Path) -> None:
    update(tmp_path, pairs(TEXTS))
    path = next(tmp_path.glob("made-*/words.terms.txt"))
    path.write_bytes(content * path.stat().st_size)
    with pytest.raises(FormatError, match=f"words.terms.txt: expected {message}"):
        open_features(tmp_path).vectorize("cat")
    assert update(tmp_path, pairs(TEXTS)).tokenised == 8
    assert open_features(tmp_path).vectorize("cat").nnz


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected features of documents, found no such file"):
        open_features(tmp_path / "none")


# Embeddings


def saved(folder: Path, array: np.ndarray) -> Path:
    path = folder / "embeddings.npy"
    np.save(path, array)
    return path


def test_embeddings_beside_and_instead(tmp_path: Path) -> None:
    array = np.random.default_rng(6).standard_normal((8, 5))
    array[3] = 0
    file, folder = saved(tmp_path, array), tmp_path / "features"
    unit = array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-9)
    update(folder, pairs(TEXTS), dense=file)
    beside = open_features(folder)
    assert [b.name for b in beside.learning] == ["words", "chars", "dense"]
    assert np.allclose(beside.rows(range(8)).toarray()[:, -5:], unit, atol=1e-6)
    assert beside.term(beside.width - 1) == "dense:4"
    assert beside.blocks[2].matrix.dtype == np.float32

    report = update(folder, pairs(TEXTS), blocks=["dense"], dense=file)
    instead = open_features(folder)
    assert (instead.width, report.tokenised) == (5, 0)
    assert np.allclose(instead.scores(np.arange(5)), unit @ np.arange(5), atol=1e-6)
    assert np.array_equal(instead.bm25("cat"), build(TEXTS).bm25("cat")), "the words stay, for BM25"
    assert instead.vectorize("cat").nnz == 0

    assert update(folder, pairs(TEXTS), blocks=["dense"]).fingerprint == report.fingerprint, "kept without the file"
    other = update(folder, pairs(TEXTS), blocks=["dense"], dense=saved(tmp_path, array + 1))
    assert other.fingerprint != report.fingerprint
    with pytest.raises(FormatError, match="the stored block 'dense': expected 9 rows, one for each document, found 8"):
        update(folder, pairs([*TEXTS, "new"]), blocks=["dense"])
    assert open_features(folder).fingerprint == other.fingerprint


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((7, 3)), r"embeddings.npy: expected 8 rows, one for each document, found 7; write one row"),
        (np.ones(8), r"expected a matrix of numbers, found \(8,\) float64"),
        (np.full((8, 2), "x"), r"found \(8, 2\) <U1"),
        (
            np.array([[1, 2]] * 6 + [[np.nan, 1]] + [[1, 1]]),
            "expected finite numbers, found nan or an infinity in row 6",
        ),
        (np.array([{}]), "expected a .npy file of embeddings, found another format"),
    ],
)
def test_embeddings_that_are_none(array: np.ndarray, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        update(tmp_path / "v", pairs(TEXTS), dense=saved(tmp_path, array))
    assert list((tmp_path / "v").iterdir()) == []


def test_embeddings_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected a .npy file of embeddings, found no such file"):
        update(tmp_path, pairs(TEXTS), dense=tmp_path / "none.npy")
    with pytest.raises(InputError, match="block 'dense': expected a .npy file"):
        update(tmp_path, pairs(TEXTS), blocks=["dense"])


# Several processes


def generated(documents: int) -> list[str]:
    rng = np.random.default_rng(9)
    numbers = np.minimum(rng.zipf(1.3, (documents, 12)), 3000)
    return [" ".join(f"w{n}" for n in row) for row in numbers.tolist()]


@pytest.mark.slow
@pytest.mark.long
def test_processes_make_what_one_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "FEW", 100)
    from collection.active_learning.features import assembly

    monkeypatch.setattr(assembly, "CHUNK_DOCUMENTS", 150)
    texts = generated(1000)
    several, alone = build(texts, processes=2), build(texts, processes=1)
    for a, b in zip(several.blocks, alone.blocks, strict=True):
        assert (a.matrix != b.matrix).nnz == 0
    assert several.width == alone.width


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing_but_time() -> None:
    with closing(workers.Worker(["words"], False)) as worker:
        before = worker.count(["one two"])
        assert worker._process is not None
        worker._process.kill()
        worker._process.wait(PATIENCE)
        after = worker.count(["one two"])
    assert before["words"].terms == after["words"].terms == ["one", "two"]


@pytest.mark.slow
def test_no_worker_is_left_when_the_caller_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "FEW", 0)
    started: list[workers.Worker] = []
    start = workers.Worker.__init__
    monkeypatch.setattr(workers.Worker, "__init__", lambda self, *args: started.append(self) or start(self, *args))
    results = workers.count_chunks(((n, ["a text"]) for n in range(100)), ["words"], False, 2)
    assert next(results)[0] == 0
    processes = [worker._process.pid for worker in started if worker._process]
    assert len(processes) == 2
    results.close()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes), "the end of the workers")


def test_a_report_reads_as_it_says() -> None:
    assert Report._fields == ("documents", "tokenised", "changed", "seconds", "fingerprint")
