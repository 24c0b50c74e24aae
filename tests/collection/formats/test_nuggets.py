"""Nuggets and nugget assignments: formats, notes on odd content, and refused files."""

import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.core.answers import NuggetLabels
from collection.core.errors import FormatError, InputError
from collection.core.frames import ANSWERS, NUGGET_ASSIGNMENTS, NUGGETS
from collection.formats.answer_files import NuggetsForm
from tests.helpers import tries

pytestmark = pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")

NUGGET = {"text": "Wings lift.", "importance": "vital"}
OTHER = {"text": "Flaps help.", "importance": "okay"}


def write(folder: Path, *records: object, name: str = "nuggets.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def rows(nuggets: pd.DataFrame) -> list[list[object]]:
    return nuggets.astype(object).where(nuggets.notna(), None).values.tolist()


BANK = {
    "question": "What lifts?", "question_id": "q7", "aggregator_type": "OR", "importance": "VITAL",
    "answers": {"a": {"answer": "wings", "references": ["d1", {"doc_id": "d2"}]}, "b": {"answer": "wings"}},
    "sub_nuggets": [{"claim": "Flaps help.", "claim_id": "c1"}],
}  # fmt: skip
FORMS: dict[str, tuple[dict[str, Any], list[str], list[list[object]]]] = {
    "nuggetizer": (
        {"query": "wings", "qid": "7", "nuggets": [NUGGET, OTHER]}, [],
        [["7", "1", "Wings lift.", "vital", None], ["7", "2", "Flaps help.", "okay", None]],
    ),
    "rag2025": (
        {"qid": 7, "nuggets": [{**NUGGET, "mapped_sub_narrative": '"New: lift"', "source": "post-edit"}]},
        ["sub_narrative", "source"],
        [["7", "1", "Wings lift.", "vital", None, '"New: lift"', "post-edit"]],
    ),
    "rubrics": (
        {"qid": "6f", "domain": "air", "rubrics": [{"criterion": "Says why.", "weight": 5.0, "axis": "Explicit"},
                                                   {"criterion": "Is rude.", "weight": -2.5, "axis": "Implicit"}]},
        [],
        [["6f", "1", "Says why.", "", 5.0], ["6f", "2", "Is rude.", "", -2.5]],
    ),
    "ragtime2025": (
        {"query_id": "7", "title_query": "wings", "nugget_bank": {"What lifts?": BANK}},
        ["question", "answers", "source"],
        [["7", "q7", "What lifts?", "vital", None, "What lifts?", ("wings",), "d1 d2"],
         ["7", "c1", "Flaps help.", "", None, "", (), ""]],
    ),
    "ragtime2026": (
        {"metadata": {"team_id": "uni", "topic_id": "7", "run_id": "r1"},
         "nugget_bank": [{"question": "What lifts?", "aggregator_type": "AND",
                          "answers": [{"answer": "wings", "references": ["d1"]}, {"answer": "speed"}]}]},
        ["question", "answers", "source"],
        [["7", "1", "What lifts?", "", None, "What lifts?", ("wings", "speed"), "d1"]],
    ),
    "argue": (
        {"query_id": "7", "items": [{"query_id": "7", "question_text": "What lifts?", "question_id": "q1",
                                     "info": {"importance": "okay"},
                                     "gold_answers": [{"answer": "wings", "citations": ["d1"]}]}]},
        ["question", "answers", "source"],
        [["7", "q1", "What lifts?", "okay", None, "What lifts?", ("wings",), "d1"]],
    ),
    "documents by answer": (
        {"qid": "7", "nuggets": [{"question": "What lifts?", "answers": {"wings": ["d1", "d2"], "speed": ["d1"]}}]},
        ["question", "answers", "source"],
        [["7", "1", "What lifts?", "", None, "What lifts?", ("wings", "speed"), "d1 d2"]],
    ),
    "dragun": (
        {"topic_id": "7", "rubrics": [{"question": "What lifts?", "weight": 4, "short_answers": ["wings"]}]},
        ["question", "answers"],
        [["7", "1", "What lifts?", "", 4.0, "What lifts?", ("wings",)]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_nuggets(tmp_path: Path, form: str) -> None:
    record, optional, expected = FORMS[form]
    found = formats.read_nuggets(write(tmp_path, record))
    assert list(found.columns) == [*NUGGETS.names, *optional]
    assert rows(found) == expected
    pretty = tmp_path / "one.json"
    pretty.write_text(json.dumps(record, indent=1))
    assert formats.read_nuggets(pretty).equals(found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.tsv", "topic\tnugget\ttext\timportance\tweight\n7\tn1\tWings lift.\tvital\t\n7\tn2\tIs rude.\t\t-2\n"),
        ("n.csv", "query_id,nugget_id,text,importance,weight\n7,n1,Wings lift.,Vital,\n7,n2,Is rude.,,-2\n"),
        ("n.jsonl", '{"qid": 7, "nugget": "n1", "text": "Wings lift.", "importance": "vital"}\n'
                    '{"qid": 7, "nugget": "n2", "text": "Is rude.", "weight": -2}\n'),
    ],
)  # fmt: skip
def test_tables_of_nuggets(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    found = formats.read_nuggets(tmp_path / name)
    assert rows(found) == [["7", "n1", "Wings lift.", "vital", None], ["7", "n2", "Is rude.", "", -2.0]]


NUGGETIZER = FORMS["nuggetizer"][0]
VARIANTS: dict[str, object] = {
    "names in another case": {"Query": "wings", "QID": 7, "Nuggets": [
        {"Text": nugget["text"], "Importance": nugget["importance"].upper()} for nugget in (NUGGET, OTHER)]},
    "banks by topic": {"format_version": "v3", "banks": {"7": NUGGETIZER}},
    "turns": {"turn_id": "7", "nuggets": [NUGGET, OTHER]},
    "a list of topics": {"topics": [NUGGETIZER]},
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_nuggetizers_records(tmp_path: Path, name: str) -> None:
    (tmp_path / "n.json").write_text(json.dumps(VARIANTS[name], indent=1))
    assert rows(formats.read_nuggets(tmp_path / "n.json")) == FORMS["nuggetizer"][2]


def test_a_column_nugget_beside_its_id_has_the_text(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("query_id,nugget_id,nugget,importance\n7,a,Wings lift.,vital\n")
    assert rows(formats.read_nuggets(tmp_path / "n.csv")) == [["7", "a", "Wings lift.", "vital", None]]


def test_an_object_without_records_is_refused_by_its_fields(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(json.dumps({"7": ["Wings lift."], "8": ["Flaps help."]}, indent=1))
    with pytest.raises(FormatError, match="line 1: expected nuggets, found one object with the fields 7, 8; write one"):
        formats.read_nuggets(tmp_path / "n.json")


def test_a_table_may_have_answers_and_no_ids(tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_text("query_id,question,answers\n7,What lifts?,wings | speed\n8,Why?,\n")
    found = formats.read_nuggets(path)
    assert found["nugget"].tolist() == ["1", "1"]
    assert found["answers"].tolist() == [("wings", "speed"), ()]


QUIRKS: list[tuple[list[object], str]] = [
    (
        [{**NUGGET, "text": " Wings lift.\n"}],
        "1 nugget text had surrounding blanks, which were removed (first in line 1)",
    ),
    ([NUGGET, NUGGET], "1 nugget has the same text as another of the topic (first in line 1)"),
    (
        [{**NUGGET, "importance": "failed"}],
        "1 importance is neither vital nor okay, such as 'failed' (first in line 1)",
    ),
    ([{**NUGGET, "axis": "x"}], "1 field of a nugget was left out, such as 'axis' (first in line 1)"),
    (["Wings lift."], ""),
    ([{"text": "Wings lift.", "importance": None}], ""),
]


@pytest.mark.parametrize(("nuggets", "note"), QUIRKS)
def test_odd_nuggets_are_read_and_counted_in_notes(tmp_path: Path, nuggets: list[object], note: str) -> None:
    path = write(tmp_path, {"qid": "7", "nuggets": nuggets})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = formats.read_nuggets(path)
    assert set(found["text"]) == {"Wings lift."}
    assert [str(each.message) for each in said] == ([f"{path}: {note}"] if note else [])


def test_a_repeated_topic_is_counted_or_refused(tmp_path: Path) -> None:
    record = {"qid": "7", "nuggets": [NUGGET]}
    assert len(formats.read_nuggets(write(tmp_path, record, record))) == 1
    with pytest.raises(
        FormatError, match="line 2: expected each topic once, found topic '7' again .first in line 1.; put"
    ):
        formats.read_nuggets(write(tmp_path, record, {"qid": "7", "nuggets": [OTHER]}))


REFUSED: list[tuple[object, str]] = [
    (
        {"nuggets": [{"text": "  "}]},
        "expected a nugget with a text (text, nugget_text, criterion), found the fields text",
    ),
    ({"nuggets": [{"importance": "vital"}]}, "expected a nugget with a text"),
    ({"nuggets": [3]}, "expected nuggets as a list of nuggets, found '3' in it"),
    ({"nuggets": "Wings"}, "expected nuggets as a list of nuggets"),
    ({"nuggets": [{**NUGGET, "weight": "much"}]}, "expected a number as weight"),
    ({"nuggets": [{**NUGGET, "weight": True}]}, "expected a number as weight"),
    (
        {"nuggets": [{**NUGGET, "id": "a"}, {**OTHER, "id": "a"}]},
        "expected each nugget of a topic once, found nugget 'a'",
    ),
    ({"nuggets": [{**NUGGET, "id": "a b"}]}, "expected an id without blanks"),
    ({"nuggets": [{**NUGGET, "answers": "a"}]}, "expected answers as a list of answers"),
    ({"qid": "a b"}, "expected an id without blanks"),
    ({"qid": None}, "expected an id (narrative_id"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_nuggets_that_are_refused(tmp_path: Path, change: Mapping[str, object], said: str) -> None:
    sound = {"qid": "7", "nuggets": [NUGGET]}
    path = write(tmp_path, {**sound, "qid": "6"}, {**sound, **change})
    with pytest.raises(FormatError) as refused:
        formats.read_nuggets(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert said in str(refused.value)


def test_files_without_nuggets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected nuggets, found no nuggets"):
        formats.read_nuggets(write(tmp_path, {"qid": "7", "nuggets": []}))


# Nugget assignments -----------------------------------------------------------------------------------


def labelled(run: str, *labels: str, **more: object) -> dict[str, Any]:
    nuggets = [{**nugget, "assignment": label} for nugget, label in zip((NUGGET, OTHER), labels, strict=False)]
    return {"query": "wings", "qid": "7", "run_id": run, "answer_text": "Wings.", "response_length": 1,
            "nuggets": nuggets, **more}  # fmt: skip


def test_nugget_assignments_of_nuggetizer(tmp_path: Path) -> None:
    path = write(
        tmp_path, labelled("r1", "support", "partial_support"), labelled("uni.r2", "not_support", "historical")
    )
    found = formats.read_nugget_assignments(path)
    assert rows(found.assignments) == [
        ["r1", "7", "1", 2], ["r1", "7", "2", 1], ["uni.r2", "7", "1", 0], ["uni.r2", "7", "2", None],
    ]  # fmt: skip
    assert str(found.assignments["grade"].dtype) == "Int8"
    assert rows(found.nuggets) == FORMS["nuggetizer"][2]
    assert rows(found.answers) == [["r1", "7", "", 1, 1, "Wings."], ["uni.r2", "7", "", 1, 1, "Wings."]]
    assert found.topics.values.tolist() == [["7", "wings", ""]]
    assert found.notes == (
        "1 label is other than support, partial_support and not_support, and without a grade, such as 'historical' "
        "(first in line 2)",
    )


def test_a_nugget_that_a_list_lacks_has_no_nugget_assignment_and_keeps_its_number(tmp_path: Path) -> None:
    first, second = labelled("r1", "support"), labelled("r2", "support", "support")
    second["nuggets"].reverse()
    path = write(tmp_path, first, second)
    found = formats.read_nugget_assignments(path).assignments
    assert found[["run", "nugget"]].values.tolist() == [["r1", "1"], ["r2", "2"], ["r2", "1"]]
    nuggets = formats.read_nuggets(write(tmp_path, {"qid": "7", "nuggets": [OTHER, NUGGET]}, name="n.jsonl"))
    found = formats.read_nugget_assignments(path, nuggets).assignments
    assert found[["run", "nugget"]].values.tolist() == [["r1", "2"], ["r2", "1"], ["r2", "2"]]


def test_two_nuggets_with_the_same_text_stay_two(tmp_path: Path) -> None:
    nuggets = [{**NUGGET, "assignment": "support"}, {**NUGGET, "assignment": "not_support"}]
    record = {"qid": "7", "run_id": "r1", "nuggets": nuggets}
    found = formats.read_nugget_assignments(write(tmp_path, record))
    assert found.assignments[["nugget", "grade"]].values.tolist() == [["1", 2], ["2", 0]]


def test_nuggets_with_the_same_text_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    nuggets = formats.read_nuggets(write(tmp_path, {"qid": "7", "nuggets": [NUGGET, NUGGET, {**NUGGET, "id": "x"}]}))
    graded = [{**NUGGET, "assignment": "support"}] * 3
    path = write(tmp_path, {"qid": "7", "run_id": "r1", "nuggets": graded}, name="labels.jsonl")
    labels = formats.read_nugget_assignments(path, nuggets)
    for name in ("1", "2", "x"):
        some = replace(labels, assignments=labels.assignments[labels.assignments["nugget"] == name])
        formats.write_nugget_assignments(some, tmp_path / "some.jsonl")
        found = formats.read_nugget_assignments(tmp_path / "some.jsonl", nuggets)
        assert found.assignments["nugget"].tolist() == [name]


def test_different_importances_are_refused_unless_nuggets_are_given(tmp_path: Path) -> None:
    second = {"qid": "7", "run_id": "r2", "nuggets": [{**NUGGET, "importance": "okay", "assignment": "support"}]}
    path = write(tmp_path, labelled("r1", "support"), second)
    with pytest.raises(
        FormatError, match="line 2: expected one importance for each nugget of a topic, found okay and vital"
    ):
        formats.read_nugget_assignments(path)
    nuggets = formats.read_nuggets(write(tmp_path, {"qid": "7", "nuggets": [NUGGET]}, name="n.jsonl"))
    found = formats.read_nugget_assignments(path, nuggets)
    assert found.nuggets["importance"].tolist() == ["vital"]
    assert found.notes == ("1 importance differs from that of the nugget, which counts (first in line 2)",)


def test_tables_of_nugget_assignments(tmp_path: Path) -> None:
    nuggets = formats.read_nuggets(write(tmp_path, FORMS["nuggetizer"][0]))
    path = tmp_path / "a.csv"
    path.write_text("run,topic,nugget,grade\nr1,7,1,2\nr1,7,2,partial_support\nr1,7,1,2\nr2,7,1,?\n")
    found = formats.read_nugget_assignments(path, nuggets)
    assert rows(found.assignments) == [["r1", "7", "1", 2], ["r1", "7", "2", 1], ["r2", "7", "1", None]]
    assert len(found.notes) == 2
    with pytest.raises(
        FormatError, match="expected nuggets for a table of nugget assignments, found none; give the nuggets"
    ):
        formats.read_nugget_assignments(path)
    path.write_text("run,topic,nugget,grade\nr1,7,1,2\nr1,7,1,1\n")
    with pytest.raises(FormatError, match="line 3: expected one label for an answer and a nugget, found another"):
        formats.read_nugget_assignments(path, nuggets)
    path.write_text("run,topic,nugget,grade\nr1,7,9,2\n")
    with pytest.raises(FormatError, match="line 2: expected the id of one of the nuggets, found '9' of topic '7'"):
        formats.read_nugget_assignments(path, nuggets)


@pytest.mark.parametrize(
    ("labels", "grades"),
    [
        (("Support", "Partial Support"), [2, 1]),
        (("not-support", "partially supported"), [0, 1]),
        (("FULL_SUPPORT", "No support"), [2, 0]),
        ((2.0, 1.0), [2, 1]),
        (("0.0", "2"), [0, 2]),
        ((True, "-1"), [None, None]),
    ],
)
def test_names_and_numbers_of_labels(tmp_path: Path, labels: tuple[Any, Any], grades: list[int | None]) -> None:
    found = formats.read_nugget_assignments(write(tmp_path, labelled("r1", *labels)))
    assert [row[-1] for row in rows(found.assignments)] == grades
    table = tmp_path / "a.csv"
    table.write_text("".join(f"r1,7,{text},{label}\n" for text, label in
                             [("nugget_text", "label"), *zip(("Wings lift.", "Flaps help."), labels, strict=True)])
                     .replace("r1,7,nugget", "run,topic,nugget"))  # fmt: skip
    nuggets = formats.read_nuggets(write(tmp_path, NUGGETIZER))
    assert rows(formats.read_nugget_assignments(table, nuggets).assignments) == rows(found.assignments)


def test_fractions_are_no_labels_since_1_may_then_be_full_support(tmp_path: Path) -> None:
    path = write(tmp_path, labelled("r1", 1.0, 0.5))
    with pytest.raises(FormatError) as refused:
        formats.read_nugget_assignments(path)
    assert str(refused.value) == (
        f"{path}, line 1: expected a label of support (2, 1, 0, or its name), found '0.5'; write 2 for support, 1 for "
        "partial support, and 0 for none"
    )


def test_other_names_of_a_label_and_lists_of_sentences(tmp_path: Path) -> None:
    record = labelled("r1", "support")
    del record["answer_text"], record["nuggets"][0]["assignment"]
    record["nuggets"][0]["label"] = "support"
    path = write(
        tmp_path, {**record, "answer": [{"text": "Wings", "citations": [0]}, {"text": "lift.", "citations": []}]}
    )
    found = formats.read_nugget_assignments(path)
    assert rows(found.assignments) == [["r1", "7", "1", 2]]
    assert found.answers["text"].tolist() == ["Wings lift."]
    with pytest.raises(FormatError, match="expected nuggets, found a file that looks like generated answers"):
        formats.read_nuggets(path)


def test_repeated_and_unknown_nugget_assignments(tmp_path: Path) -> None:
    record = labelled("r1", "support", "support", answer_text="", response_length=0)
    found = formats.read_nugget_assignments(write(tmp_path, record, record))
    assert found.notes == (
        "1 answer is empty (first in line 1)",
        "1 identical repetition of an answer left out (first in line 2)",
    )
    with pytest.raises(FormatError, match="line 2: expected each answer once"):
        formats.read_nugget_assignments(write(tmp_path, record, labelled("r1", "support")))
    path = write(tmp_path, record)
    nuggets = formats.read_nuggets(write(tmp_path, {"qid": "7", "nuggets": [NUGGET]}, name="n.jsonl"))
    with pytest.raises(
        FormatError, match="expected one of the nuggets, found another of topic '7': 'Flaps help.'; give"
    ):
        formats.read_nugget_assignments(path, nuggets)


# Writing ----------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
LETTERS = st.text("abc", min_size=1, max_size=3)


@st.composite
def nugget_frames(draw: st.DrawFn) -> pd.DataFrame:
    drawn: list[tuple[object, ...]] = []
    for query_id in draw(st.lists(LETTERS, min_size=1, max_size=3, unique=True)):
        ids = draw(st.lists(LETTERS | st.integers(1, 3).map(str), min_size=1, max_size=4, unique=True))
        for nugget in ids:
            text = draw(TEXTS.map(lambda text: f"x{text}".strip()))
            answers = draw(st.lists(LETTERS, max_size=2, unique=True).map(tuple))
            source = draw(st.sampled_from(["", "post-edit"]))
            weight = draw(st.none() | st.floats(-5, 5).map(lambda value: value or 0.0))
            drawn.append((query_id, nugget, text, draw(st.sampled_from(["vital", "okay", ""])), weight,
                          draw(st.sampled_from(["", "What?"])), answers, draw(TEXTS), source))  # fmt: skip
    frame = pd.DataFrame(drawn, columns=list(NUGGETS.columns)).astype({"weight": "float64"})
    empty = [name for name in frame if name not in NUGGETS.names and not any(frame[name])]
    return NUGGETS.check(frame.drop(columns=empty))


@pytest.mark.parametrize("form", get_args(NuggetsForm))
@tries(200)
@given(nuggets=nugget_frames())
def test_written_nuggets_are_read_without_loss(
    tmp_path_factory: pytest.TempPathFactory, form: formats.NuggetsForm, nuggets: pd.DataFrame
) -> None:
    path = tmp_path_factory.mktemp("nuggets") / "nuggets.jsonl"
    formats.write_nuggets(nuggets, path, form=form)
    if form == "ragtime":  # the questions of a topic come before its claims
        is_claim = nuggets.get("question", pd.Series("", nuggets.index)) == ""
        place = pd.factorize(nuggets["query_id"])[0]
        nuggets = nuggets.iloc[np.lexsort((is_claim, place))].reset_index(drop=True)
    pd.testing.assert_frame_equal(formats.read_nuggets(path), nuggets)


def test_a_nugget_bank_has_questions_with_answers_and_references_and_claims(tmp_path: Path) -> None:
    """The members are those of NuggetQuestion and NuggetClaim in the nugget data of TREC Auto-Judge."""
    read = formats.read_nuggets(write(tmp_path, FORMS["ragtime2025"][0]))
    formats.write_nuggets(read, tmp_path / "bank.jsonl", {"7": "wings"}, form="ragtime")
    assert json.loads((tmp_path / "bank.jsonl").read_text()) == {
        "query_id": "7",
        "title_query": "wings",
        "nugget_bank": {
            "What lifts?": {
                "question_id": "q7", "query_id": "7", "importance": "vital", "question": "What lifts?",
                "answers": {"wings": {"answer": "wings"}}, "references": [{"doc_id": "d1"}, {"doc_id": "d2"}],
            }
        },
        "claim_bank": {"Flaps help.": {"claim": "Flaps help.", "claim_id": "c1", "query_id": "7"}},
    }  # fmt: skip
    assert formats.read_nuggets(tmp_path / "bank.jsonl").equals(read)


def test_documents_of_a_claim_and_of_a_question_without_answers_are_read(tmp_path: Path) -> None:
    bank = {"claim_bank": {"c": {"claim": "Wings lift.", "references": [{"doc_id": "d1"}, "d2"]}}}
    bank |= {"nugget_bank": {"q": {"question": "Why?", "references": ["d3"]}, "r": {"question": "Who?"}}}
    bank["nugget_bank"]["r"]["references"] = "d4"  # type: ignore[assignment]
    read = formats.read_nuggets(write(tmp_path, {"query_id": "7", **bank}))
    assert read["source"].tolist() == ["d3", "d4", "d1 d2"]
    bank["claim_bank"]["c"]["references"] = {"d1": 1.0}
    with pytest.raises(FormatError, match="expected references as a list of documents, found"):
        formats.read_nuggets(write(tmp_path, {"query_id": "7", **bank}))


@tries(200)
@given(data=st.data(), nuggets=nugget_frames())
def test_written_nugget_assignments_are_read_without_loss(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, nuggets: pd.DataFrame
) -> None:
    answers: list[tuple[object, ...]] = []
    labels: list[tuple[object, ...]] = []
    topics = list(dict.fromkeys(nuggets["query_id"]))
    for run in ("r1", "uni.r2"):
        for query_id in data.draw(st.lists(st.sampled_from(topics), min_size=1, unique=True)):
            text = data.draw(TEXTS)
            answers.append((run, query_id, "", len(text.split()), data.draw(st.integers(0, 9)), text))
            for nugget in nuggets["nugget"][nuggets["query_id"] == query_id]:
                grade = data.draw(st.sampled_from([2, 1, 0, None]))
                labels.append((run, query_id, nugget, grade))
    named = list(dict.fromkeys(each[1] for each in answers))
    given_ = NuggetLabels(
        nuggets,
        NUGGET_ASSIGNMENTS.check(pd.DataFrame(labels, columns=list(NUGGET_ASSIGNMENTS.names))).astype(
            {"grade": "Int8"}
        ),
        ANSWERS.check(pd.DataFrame(answers, columns=[*ANSWERS.names, "text"])).astype({"stated_words": "Int64"}),
        pd.DataFrame(
            [(query_id, "wings!", "") for query_id in named], columns=["query_id", "title", "narrative"]
        ).astype("str"),
    )
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    formats.write_nugget_assignments(given_, path)
    found = formats.read_nugget_assignments(path, nuggets)
    for name in ("nuggets", "assignments", "topics"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(given_, name))
    pd.testing.assert_frame_equal(found.answers, given_.answers.astype({"text": "str"}))


def test_nuggets_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    nuggets = formats.read_nuggets(write(tmp_path, FORMS["nuggetizer"][0]))
    with pytest.raises(InputError, match=r"ends in \.jsonl for nuggets"):
        formats.write_nuggets(nuggets, tmp_path / "n.csv")
    with pytest.raises(InputError, match="nugget '1' of topic '7' twice"):
        formats.write_nuggets(pd.concat([nuggets, nuggets]), tmp_path / "n.jsonl")
    labels = formats.read_nugget_assignments(write(tmp_path, labelled("r1", "support", "support"), name="a.jsonl"))
    lost = NuggetLabels(nuggets[:1], labels.assignments, labels.answers, labels.topics)
    with pytest.raises(InputError, match="topic '7' has no nugget '2'"):
        formats.write_nugget_assignments(lost, tmp_path / "a.jsonl")


# Real files -------------------------------------------------------------------------------------------

JUNK = {"command-r-plus": (4375, 22), "gpt-4o": (4376, 20), "l31_70b_instruct": (4376, 10)}


@pytest.mark.shared
def test_counts_of_real_nuggets_and_nugget_assignments(shared: Path) -> None:
    folder = shared / "data" / "rag"
    nuggets = formats.read_nuggets(folder / "rag24-nist-nuggets" / "nuggets.jsonl")
    assert nuggets["importance"].value_counts().to_dict() == {"vital": 160, "okay": 44}
    path = folder / "rag24-nist-nuggets" / "assignments.jsonl.gz"
    found = formats.read_nugget_assignments(path)
    assert found.nuggets.equals(nuggets)
    assert found.assignments["grade"].value_counts().sort_index().tolist() == [5721, 175, 3110]
    assert (len(found.answers), found.answers["run"].nunique(), len(found.topics)) == (618, 45, 14)
    assert found.notes == (
        "177 nugget texts had surrounding blanks, which were removed (first in line 134)",
        "3 answers are empty (first in line 260)",
    )
    assert formats.read_nugget_assignments(path, nuggets).assignments.equals(found.assignments)


@pytest.mark.shared
@pytest.mark.parametrize("system", JUNK)
@pytest.mark.long
def test_counts_of_malformed_nugget_assignments(shared: Path, tmp_path: Path, system: str) -> None:
    folder = shared / "data" / "rag" / "rag24-baselines-llm"
    nuggets = formats.read_nuggets(folder / "nuggets.jsonl.gz")
    assert nuggets["importance"].value_counts().to_dict() == {"vital": 2531, "okay": 1817, "": 30}
    found = formats.read_nugget_assignments(folder / f"assignments.{system}.jsonl.gz", nuggets)
    assert (len(found.assignments), int(found.assignments["grade"].isna().sum())) == JUNK[system]
    assert not any("differ" in note for note in found.notes)
    formats.write_nugget_assignments(found, tmp_path / "a.jsonl")
    again = formats.read_nugget_assignments(tmp_path / "a.jsonl", nuggets)
    assert again.assignments.equals(found.assignments)
    assert again.answers.equals(found.answers)
    formats.write_nuggets(nuggets, tmp_path / "n.jsonl")
    assert formats.read_nuggets(tmp_path / "n.jsonl").equals(nuggets)
    assert math.isnan(nuggets["weight"].max())
