"""Rules for weak labels: what each finds, and what it refuses."""

from importlib import metadata
from typing import Any

import pandas as pd
import pyarrow.compute
import pytest

from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Document, GradeScale, Topic
from collection.core.registry import Entry, Registry
from collection.machine_labels import rules
from collection.machine_labels.rules import LABEL_RULES, label_pairs

GRADES = GradeScale({0: "No", 1: "Yes", 2: "Very"})
TOPIC = Topic("1", "The flow of wings", "Heat in a slab?")


def grade(name: str, document: Document, topic: Topic = TOPIC, **parameters: Any) -> float | None:
    (found,) = label_pairs(LABEL_RULES[name], [(topic, document)], GRADES, parameters)["relevance"]
    return None if pd.isna(found) else found


def text(words: str | None, title: str = "", **metadata: object) -> Document:
    return Document("d1", title, words, metadata)


@pytest.mark.parametrize(
    ("words", "title", "parameters", "wanted"),
    [
        ("FLOW past two wings.", "", {}, 1),  # without "the" and "of"
        ("Flow past a wing.", "", {}, 0),  # whole words
        ("Past two wings.", "Flow", {}, 1),
        ("Flow past a wing.", "", {"terms": "any"}, 1),
        ("The slab of heat.", "", {"terms": "any"}, 0),
        ("The slab of heat.", "", {"terms": "any", "of": "title-description"}, 1),
        ("Flow, wings.", "", {"of": "title-description"}, 0),
        ("Flow, wings.", "", {"then": 2}, 2),
        ("", "", {"otherwise": 1}, 1),
        (None, "Flow of wings", {}, None),
    ],
)
def test_terms_of_the_topic(words: str | None, title: str, parameters: dict[str, Any], wanted: float | None) -> None:
    assert grade("contains-query", text(words, title), **parameters) == wanted


def test_terms_in_scripts_without_blanks_and_of_stop_words_alone() -> None:
    assert grade("contains-query", text("今日の東京都の天気"), Topic("1", "東京都")) == 1
    assert grade("contains-query", text("to be or not to be"), Topic("1", "To be, or not")) == 1
    assert grade("contains-query", text("anything"), Topic("1", "?!")) is None


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"string": "two wings"}, 1),
        ({"string": "wings two"}, 0),
        ({"string": "wing"}, 0),
        ({"string": "Q42", "field": "entities"}, 1),
        ({"string": "Q4", "field": "entities"}, 0),
        ({"string": "Flow", "field": "subject"}, 1),
        ({"string": "Flow", "field": "subject", "match": "value"}, 0),
        ({"string": "flow of AIR", "field": "subject", "match": "value"}, 1),
        ({"string": "2024", "field": "year"}, 1),
        ({"string": "x", "field": "author"}, None),
        ({"string": "..."}, None),
        ({}, 0),  # the title of the topic
    ],
)
def test_strings_and_entities_in_fields(parameters: dict[str, Any], wanted: float | None) -> None:
    document = text("Past two wings.", entities=["Q42", "Q7"], subject="Flow of air", year=2024)
    assert grade("contains-string", document, **parameters) == wanted


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"pattern": r"\bwings?\b"}, 1),
        ({"pattern": "WING", "case": True}, 0),
        ({"pattern": "^Q4", "field": "entities"}, 1),
        ({"pattern": "x", "field": "author"}, None),
    ],
)
def test_regular_expressions(parameters: dict[str, Any], wanted: float | None) -> None:
    assert grade("matches-pattern", text("Past two wings.", entities=["a", "Q42"]), **parameters) == wanted


def test_no_pattern_backtracks() -> None:
    """Python's `re` needs 2**100,000 steps for this one."""
    assert grade("matches-pattern", text("a" * 100_000 + "b"), pattern="(a+)+$") == 0


@pytest.mark.parametrize("pattern", ["", "(", r"(a)\1", "(?=a)"])
def test_patterns_that_cannot_be_searched_are_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"matches-pattern: expected a regular expression"):
        grade("matches-pattern", text("a"), pattern=pattern)
    with pytest.raises(InputError):
        grade("matches-pattern", text("a"), pattern=pattern, field="missing")


def test_rules_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python function comes in by the entry-point group; what goes wrong in it is told with the pair."""
    registry: Registry[rules.LabelRule, [], Entry[rules.LabelRule]] = Registry(
        "label rule", Entry, "cleverdon.label_rules"
    )

    class Point:
        name, value, dist = "mine", "my_package", None

        def load(self) -> None:
            @registry.add("mine", label="Mine", description="Mine.")
            def mine(topic: Topic, document: Document, *, least: int = 3) -> Any:
                """Long texts."""
                return {"d1": 1, "d2": None, "d3": 7, "d4": True}[document.doc_id] if least == 3 else 0

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "cleverdon.label_rules" else [])
    found = label_pairs(registry["mine"], [(TOPIC, Document("d1")), (TOPIC, Document("d2"))], GRADES)
    assert found.fillna(-1).to_numpy().tolist() == [["1", "d1", 1.0], ["1", "d2", -1.0]]
    where = "label rule mine, topic 1, document"
    for doc_id, said in [
        ("d3", "expected a grade .*found 7"),
        ("d4", "expected a grade .*found True"),
        ("d9", "KeyError"),
    ]:
        with pytest.raises(InputError, match=f"{where} {doc_id}: {said}"):
            label_pairs(registry["mine"], [(TOPIC, Document(doc_id))], GRADES)
    with pytest.raises(UnknownNameError, match="unknown mine parameter 'most'"):
        label_pairs(registry["mine"], [], GRADES, {"most": 1})


def test_a_pattern_is_compiled_once_for_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three blocks of pairs are three calls; lists and missing fields keep their places."""
    compiled, match = [], pyarrow.compute.match_substring_regex

    def count(*arguments: Any, **options: Any) -> Any:
        compiled.append(len(arguments[0]))
        return match(*arguments, **options)

    monkeypatch.setattr(pyarrow.compute, "match_substring_regex", count)
    documents = [Document(f"d{n}", "", None, {} if n % 3 == 0 else {"tags": [f"a{n}", f"b{n}"]}) for n in range(2500)]
    given = {"pattern": r"b\d*7$", "field": "tags"}
    pairs = [(TOPIC, each) for each in documents]
    found = label_pairs(LABEL_RULES["matches-pattern"], pairs, GRADES, given)["relevance"].tolist()
    wanted = [float("nan") if n % 3 == 0 else float(n % 10 == 7) for n in range(2500)]
    assert found == pytest.approx(wanted, nan_ok=True)
    assert len(compiled) == 3
