"""Near-duplicates: shingles, sketches against exact values, and groups."""

import json
import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.campaign import Campaign
from collection.core.errors import InputError, UnknownNameError
from collection.documents import near_duplicates
from collection.documents.near_duplicates import Sketch, groups, jaccard, likely, shingles, sketch
from tests.helpers import cases, fails, ok, tries

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=4)


def words_of(n: int, first: int = 0) -> list[str]:
    return [f"w{i}" for i in range(first, first + n)]


def similarity(one: Sketch, other: Sketch) -> float:
    return float((one == other).mean())


# --- shingles -------------------------------------------------------------------------------------------


@given(st.lists(WORDS, min_size=8, max_size=60), st.lists(WORDS, min_size=8, max_size=60))
@pytest.mark.slow
def test_shingles_are_rows_of_four_words_and_their_similarity_is_that_of_sets(a: list[str], b: list[str]) -> None:
    """The reference takes Python's sets of tuples, and hashes nothing."""
    of = [{tuple(words[i : i + 4]) for i in range(len(words) - 3)} for words in (a, b)]
    made = [shingles(" ".join(words)) for words in (a, b)]
    assert [len(m) for m in made] == [len(s) for s in of]
    assert jaccard(*made) == pytest.approx(len(of[0] & of[1]) / len(of[0] | of[1]))


def test_by_hand() -> None:
    """Twenty words make 17 shingles; another word in the middle takes four of them away, and puts four others there."""
    words = words_of(20)
    other = [*words[:10], "x", *words[11:]]
    assert jaccard(shingles(" ".join(words)), shingles(" ".join(other))) == pytest.approx(13 / 21)


def test_short_texts_are_alike_only_if_they_are_equal() -> None:
    seven = "heat transfer in a slab of ice"
    for other in ("heat transfer in a slab of iron", "heat transfer in a slab of", seven + " now", "ice"):
        assert jaccard(shingles(seven), shingles(other)) == 0, other
        assert similarity(sketch(seven), sketch(other)) < 0.1, other
    for same in ("Heat transfer, in a slab of ICE!", " heat\n transfer in a slab of ice"):
        assert jaccard(shingles(seven), shingles(same)) == 1, same


def test_scripts_without_blanks_are_compared_by_their_characters() -> None:
    sentence = "东京都是日本的首都，人口约一千四百万，是世界上最大的城市之一。每年都有很多游客到访这里参观和购物。"
    near = sentence.replace("购物", "游玩")
    far = "大阪府位于近畿地方中部，气候温和，工业和商业都很发达，以美食和友好的居民闻名于世界各地的旅行者之间。"
    assert jaccard(shingles(sentence), shingles(near)) > 0.8
    assert jaccard(shingles(sentence), shingles(far)) < 0.05
    assert jaccard(shingles("东京都"), shingles("东京都。")) == 1


@pytest.mark.parametrize("text", ["", " \n", "???", "😀", "\ud800 half of a pair", "\0", "a" * 100_000])
def test_any_text_has_a_sketch(text: str) -> None:
    made = sketch(text)
    assert made.shape == (near_duplicates.HASHES,)
    assert made.dtype == np.uint32
    assert similarity(made, sketch(text)) == 1


def test_what_has_no_word_is_compared_by_its_signs() -> None:
    assert jaccard(shingles("???"), shingles("!!!")) == 0
    assert jaccard(shingles("? ?"), shingles("?  ?\n")) == 1


def test_a_sketch_is_the_same_in_every_process() -> None:
    """Numbers of this module may be kept by others: a change of them is a change of the format."""
    made = sketch("one two three four five six seven eight nine")
    assert made.tolist()[:3] == [360548735, 1158554769, 2021131914]


# --- sketches -------------------------------------------------------------------------------------------


@given(st.lists(WORDS, max_size=40), st.sampled_from([" ", "\n", ", ", " - "]))
def test_equal_words_are_wholly_similar(words: list[str], between: str) -> None:
    assert similarity(sketch(" ".join(words).upper()), sketch(between.join(words))) == 1 or not words


@tries(200)
@given(st.text(max_size=200))
def test_a_text_is_wholly_similar_to_itself(text: str) -> None:
    assert similarity(sketch(text), sketch(text)) == 1
    assert jaccard(shingles(text), shingles(text)) == 1


@pytest.mark.slow
@pytest.mark.fuzz
def test_a_sketch_tells_the_similarity_within_a_tenth_in_nineteen_of_twenty_pairs() -> None:
    """The mean of the errors is 0, and their deviation that of 128 throws: the root of J (1 - J) / 128."""
    chance = random.Random(11)
    errors, scaled = [], []
    for n in range(cases(700, 2000)):
        words = [f"v{chance.randrange(3000)}" for _ in range(30 + n % 300)]
        other = list(words)
        for _ in range(chance.randrange(1, 30)):
            other[chance.randrange(len(other))] = f"n{chance.randrange(3000)}"
        a, b = " ".join(words), " ".join(other)
        exact = jaccard(shingles(a), shingles(b))
        error = similarity(sketch(a), sketch(b)) - exact
        errors.append(error)
        if 0.05 < exact < 0.95:
            scaled.append(error / np.sqrt(exact * (1 - exact) / near_duplicates.HASHES))
    assert np.mean(np.abs(errors) <= 0.1) >= 0.95
    assert abs(np.mean(scaled)) < 0.1
    assert np.std(scaled) == pytest.approx(1, abs=0.07)


def test_likely_ones_hold_what_is_at_the_threshold() -> None:
    words = words_of(104)
    texts = [" ".join([*words[:k], *words_of(104 - k, 1000)]) for k in (104, 100, 96, 60, 0)]
    others = np.stack([sketch(text) for text in texts])
    exact = [jaccard(shingles(texts[0]), shingles(text)) for text in texts]
    found = set(likely(others[0], others).tolist())
    assert {n for n, j in enumerate(exact) if j >= near_duplicates.THRESHOLD} <= found
    assert found <= {0, 1, 2}
    assert likely(others[0], others[:0]).tolist() == []


# --- groups ---------------------------------------------------------------------------------------------


def test_groups_by_hand() -> None:
    base = words_of(60)
    texts = [
        ("a", " ".join(base)),
        ("x", "something else that has nothing to do with any of the others here"),
        ("b", " ".join([*base[:57], "p", "q", "r"])),  # 54 of 60 shingles: .9
        ("blank", " \n"),
        ("c", " ".join(["s", "t", "u", *base[3:57], "p", "q", "r"])),  # .9 to b, .81 to a
        ("also blank", ""),
        ("short", "Flow past a wing."),
        ("short again", "flow past a wing"),
    ]
    found = groups(texts)
    assert [group.doc_ids for group in found] == [("a", "b", "c"), ("short", "short again")]
    assert found[0].similarity == pytest.approx((1, 54 / 60, 51 / 63))
    assert [group.doc_ids for group in groups(texts, 0.85)] == [("a", "b", "c"), ("short", "short again")]
    assert [group.doc_ids for group in groups(texts, 1)] == [("short", "short again")]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.slow
def test_groups_are_those_of_all_pairs(threshold: float) -> None:
    """Generated texts, half of them changed copies; all pairs compared, linked where they are at the threshold."""
    chance = random.Random(3)
    texts: list[list[str]] = []
    for n in range(400):
        text = [f"v{chance.randrange(500)}" for _ in range(chance.randrange(5, 80))]
        if n % 2:
            text = list(chance.choice(texts))
            for _ in range(chance.choice([0, 1, 2, 5, 10])):
                text[chance.randrange(len(text))] = "new"
        texts.append(text)
    made = [shingles(" ".join(text)) for text in texts]
    linked = {n: {n} for n in range(len(texts))}
    for a, b in combinations(range(len(texts)), 2):
        if linked[a] is not linked[b] and jaccard(made[a], made[b]) >= threshold:
            linked[a] |= linked[b]
            for n in linked[b]:
                linked[n] = linked[a]
    expected = {tuple(sorted(group)) for group in linked.values() if len(group) > 1}
    found = groups([(str(n), " ".join(text)) for n, text in enumerate(texts)], threshold)
    assert {tuple(map(int, group.doc_ids)) for group in found} == expected
    assert [group.doc_ids[0] for group in found] == sorted((g.doc_ids[0] for g in found), key=int)


@pytest.mark.slow
def test_a_thousand_copies_are_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """More copies than a text is compared with, and pairs by the million that nobody needs to look at."""
    monkeypatch.setattr(near_duplicates, "WINDOW", 20)
    looked = 0

    def counted(a: near_duplicates.Shingles, b: near_duplicates.Shingles) -> float:
        nonlocal looked
        looked += 1
        return jaccard(a, b)

    monkeypatch.setattr(near_duplicates, "jaccard", counted)
    text = " ".join(words_of(30))
    found = groups([(str(n), text) for n in range(1000)])
    assert [len(group.doc_ids) for group in found] == [1000]
    assert looked < 3000


def test_bands_find_what_is_at_the_threshold_and_are_as_long_as_they_can_be() -> None:
    for threshold in (0.3, 0.5, 0.8, 0.9, 0.99, 1.0):
        length = near_duplicates._band(threshold)
        chance = 1 - (1 - threshold**length) ** (near_duplicates.HASHES // length)
        assert chance >= near_duplicates.BAND_RECALL or length == 1
        longer = length + 1
        if longer <= near_duplicates.HASHES:
            assert 1 - (1 - threshold**longer) ** (near_duplicates.HASHES // longer) < near_duplicates.BAND_RECALL
    assert near_duplicates._band(0.8) == 6
    assert near_duplicates._band(1.0) == near_duplicates.HASHES


def test_bad_input_by_name() -> None:
    with pytest.raises(InputError, match=r"expected 0\.3 to 1, found 0\.1"):
        groups([("a", "b")], 0.1)
    with pytest.raises(InputError, match="found nan"):
        groups([("a", "b")], float("nan"))
    with pytest.raises(InputError, match="twice"):
        groups(iter([("a", "b")]))
    assert groups([]) == []
    assert groups([("a", "one"), ("b", "")]) == []


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.long
def test_on_a_real_collection_every_group_holds_and_most_copies_are_found(shared: Path) -> None:
    """Passages of the web: those that are the same but for signs and upper case, found without any sketch."""
    path = shared / "data" / "trecdl19-runs" / "documents.jsonl.gz"
    texts = {d.doc_id: d.text for _, d in formats.read_documents(path) if d.text}
    found = groups(list(texts.items()))
    group_of = {doc_id: n for n, group in enumerate(found) for doc_id in group.doc_ids}
    same: dict[bytes, list[str]] = {}
    for doc_id, text in texts.items():
        same.setdefault(shingles(text).tobytes(), []).append(doc_id)
    copies = [ids for ids in same.values() if len(ids) > 1]
    assert len(copies) > 50
    assert all(len({group_of.get(doc_id, doc_id) for doc_id in ids}) == 1 for ids in copies)
    for group in found[:100]:
        made = [shingles(texts[doc_id]) for doc_id in group.doc_ids]
        for n, one in enumerate(made):
            others = [jaccard(one, other) for m, other in enumerate(made) if m != n]
            assert max(others) >= near_duplicates.THRESHOLD


# --- the command ----------------------------------------------------------------------------------------


@pytest.fixture
def copies(make_campaign: Callable[..., Campaign], tmp_path: Path) -> Campaign:
    """The small campaign; d2 and d6 of topic 1 have one text, and so has d8, which is in no pool."""
    campaign = make_campaign()
    path = tmp_path / "copies.jsonl"
    rows = [
        {"doc_id": "d2", "title": "One", "text": "The text of document two."},
        {"doc_id": "d6", "title": "ONE", "text": "the text of Document two"},
        {"doc_id": "d8", "title": "one.", "text": "The text of document: two"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    campaign.imports.import_files(documents=[path], replace=True)
    return campaign


@pytest.mark.slow
def test_titles_are_compared_with_the_texts(make_campaign: Callable[..., Campaign], tmp_path: Path) -> None:
    """Everywhere: in the list of groups, beside the document on screen, and when a pool leaves copies out."""
    campaign = make_campaign(pooled=False)
    text, other = " ".join(words_of(12)), " ".join(words_of(10, 50))
    rows = [
        {"doc_id": "d1", "title": "Wing flow at low speed", "text": text},
        {"doc_id": "d2", "title": "Heat transfer in a thin slab", "text": text},
        {"doc_id": "d3", "title": "wing flow, at low speed", "text": text},
        {"doc_id": "d6", "title": "", "text": other},
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    campaign.imports.import_files(documents=[tmp_path / "t.jsonl"], replace=True)
    assert [group.doc_ids for group in campaign.corpus.near_duplicates.groups("all").groups] == [("d1", "d3")]
    campaign.people.pools.add("depth", depth=3, near_duplicates="skip")
    assert set(campaign.store.pool.pairs().query("query_id == '1'")["doc_id"]) == {"d1", "d2", "d6"}
    near = campaign.corpus.near_duplicates.for_documents("1", "ann", ["d1", "d2", "d3"]).near
    assert {doc: [n.doc_id for n in found] for doc, found in near.items()} == {"d1": ["d3"], "d2": [], "d3": ["d1"]}


def test_the_pool_or_all_documents(copies: Campaign) -> None:
    pooled, everything = copies.corpus.near_duplicates.groups(), copies.corpus.near_duplicates.groups("all")
    assert [group.doc_ids for group in pooled.groups] == [("d2", "d6")]
    assert (pooled.documents, pooled.pairs, pooled.pool) == (6, 1, 6)
    assert [group.doc_ids for group in everything.groups] == [("d2", "d6", "d8")]
    assert (everything.documents, everything.pairs, everything.pool) == (8, 1, 6)
    with pytest.raises(UnknownNameError, match="did you mean 'pool'"):
        copies.corpus.near_duplicates.groups("pools")


def test_the_command_lists_groups(copies: Campaign) -> None:
    said = ok("duplicates", copies.directory)
    assert "d2 and d6" in said
    assert "1 of 6 pooled pairs" in said
    told = json.loads(ok("duplicates", copies.directory, "--of", "all", "--threshold", "0.9", "--format", "json"))
    assert told["groups"] == [{"doc_ids": ["d2", "d6", "d8"], "similarity": [1.0, 1.0, 1.0]}]
    assert (told["documents"], told["pairs"], told["pool"], told["threshold"]) == (8, 1, 6, 0.9)
    assert "expected 0.3 to 1" in fails("duplicates", copies.directory, "--threshold", "0.1")


def test_the_command_on_a_campaign_without_copies(campaign: Campaign) -> None:
    assert "no near-duplicates" in ok("duplicates", campaign.directory)
