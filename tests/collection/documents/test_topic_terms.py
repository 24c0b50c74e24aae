"""The terms of a topic, and where they are in a text."""

import unicodedata
from functools import partial
from unittest import mock

import pytest
from hypothesis import given, strategies as st

from collection.documents.rendering import MOST_PLACES, excerpts, find_terms, terms, topic_terms
from collection.documents.rendering.topic_terms import MOST_TERMS
from tests.helpers import grows_linearly


def found(topic: str, text: str) -> list[str]:
    return [text[start:end] for start, end in find_terms(text, terms(topic))]


def test_the_terms_of_a_topic() -> None:
    assert terms("What are the boundaries of heated wings?") == ["boundar", "heat", "wing"]
    assert terms("Find documents about the species of bus 747") == ["spec", "bus", "747"]
    assert terms("Der Flügel im Strömungskanal") == ["flugel", "stromungskanal"]
    assert terms("C++, the wing's map") == ["c++", "wing", "map"]
    assert terms("東京駅の近く") == ["東京", "京駅", "駅の", "の近", "近く"]
    assert terms("の水") == ["の水"]
    assert terms("東京タワー") == ["東京", "タワー"]
    assert terms("한국어 문서") == ["한국", "국어", "문서"]
    assert terms("") == terms("of the and ?!") == terms("これは") == []
    assert len(terms(" ".join(f"word{i}" for i in range(200)))) == MOST_TERMS == 100


@pytest.mark.parametrize(
    ("topic", "text", "words"),
    [
        (
            "rolling mean How can a rolling mean be computed over a time series with gaps?",
            "The WINDOWS of a rolling mean; it rolls, rolled, computes. Méans gapless (gap) meanwhile: series' time.",
            ["rolling", "mean", "rolls", "rolled", "computes", "Méans", "gap", "series", "time"],
        ),
        ("境界層の計算", "飛行機の境界の計算とNumPy", ["境界", "計算"]),
        ("배열 정렬", "배열을 정렬하는 방법", ["배열을", "정렬하는"]),
        ("طائرة", "الطائرة تطير", ["الطائرة"]),
        ("Flügel Übung", "Der Flugel und die Fluegel, ÜBUNG", ["Flugel", "ÜBUNG"]),
        (
            "C++ étude studies",
            "In c++ an Etude studied: co\u00adm e\u0301tudes C",
            ["c++", "Etude", "studied", "e\u0301tudes"],
        ),
        (
            "transfer",
            "transferring transfers transferable transferability trans",
            ["transferring", "transfers", "transferable"],
        ),
        ("", "How can a rolling", []),
        ("avion", "l'avion et l’avion's", ["avion", "avion's"]),
        (
            "maps of exceeding speed",
            "mapped, mapping; it exceeds and speeds",
            ["mapped", "mapping", "exceeds", "speeds"],
        ),
        ("running", "a run, runs, runner, prune", ["run", "runs"]),
        ("analysis", "analyses of an analyst, analytic", ["analyses"]),
        ("wing", "winglet wing_s _wing wing-tip Wing’s swing", ["wing", "wing", "Wing’s"]),
        ("hydrogen 10000", "10000 100001 hydrogenation", ["10000", "hydrogenation"]),
        ("ภาษาไทย", "เรียนภาษาไทยที่บ้าน ที่ไหน", ["ภาษาไทย"]),
        ("पानी", "पानी में पान", ["पानी"]),
    ],
)
def test_words_of_many_languages(topic: str, text: str, words: list[str]) -> None:
    assert found(topic, text) == words


def test_no_word_in_a_text_of_another_topic() -> None:
    assert find_terms("Nothing of it.", terms("rolling mean")) == []
    assert find_terms("", terms("wing")) == find_terms("wing", []) == []


def test_places_are_limited_and_of_code_points() -> None:
    assert len(find_terms("wing " * 6000, terms("wing"))) == MOST_PLACES
    assert find_terms("😀 wing", terms("wing")) == [(2, 6)]


def test_passages_have_the_words_that_are_highlighted() -> None:
    """Also other forms, accents and longer words."""
    text = "It rains. " * 200 + "Transférable étudés. " + "It rains. " * 200
    _, passage = excerpts(text, terms("study of transfers, études"), length=20)
    assert found("study of transfers, études", text[slice(*passage)]) == ["Transférable", "étudés"]


LETTERS = st.sampled_from("wingheat WING é\u0301'’s_-+# \n東京のタ한국어ไทย😀\u00ad\u200d")


@given(topic=st.text(LETTERS, max_size=40), text=st.text(LETTERS, max_size=300))
def test_places_are_in_order_and_apart(topic: str, text: str) -> None:
    at = 0
    for start, end in find_terms(text, terms(topic)):
        assert at <= start < end <= len(text)
        assert not text[start].isspace()
        at = end


@given(st.text(LETTERS, max_size=60))
def test_a_topic_finds_its_own_terms(topic: str) -> None:
    words = unicodedata.normalize("NFC", topic).replace("_", " ")
    assert bool(find_terms(words, terms(words))) == bool(terms(words))


@given(topic=st.text(LETTERS, max_size=40), text=st.text(LETTERS, max_size=100))
def test_looking_for_beginnings_finds_what_looking_at_each_word_finds(topic: str, text: str) -> None:
    sought = terms(topic)
    likely = find_terms(text, sought)
    with mock.patch.object(topic_terms, "_plain", return_value=None):
        assert find_terms(text, sought) == likely


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["wing_", "wing-", "wing ", "wing's", "wings", "w\u0301", "東京", "+", "\u0301"])
def test_the_time_grows_with_the_length(piece: str) -> None:
    sought = terms("wing 東京")
    assert grows_linearly(lambda size: partial(find_terms, piece * (size // len(piece)), sought), 40_000)
