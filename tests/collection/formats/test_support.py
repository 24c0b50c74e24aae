"""Support labels: NIST's spellings, plain tables, notes on odd content, and refused files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.core.answers import SupportLabels
from collection.core.errors import FormatError, InputError
from collection.core.frames import ANSWERS, SENTENCES, SUPPORT
from tests.helpers import tries

pytestmark = pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")


def record(**more: object) -> dict[str, Any]:
    cited = [{"citationID": 0, "reference": "d1", "support": "2"}, {"citationID": 1, "reference": "d2", "support": "0"}]
    sentences = [
        {"sentenceID": 0, "text": "Wings lift.", "citations": cited},
        {"sentenceID": 1, "text": "So does speed.", "citations": []},
    ]
    return {"topic_id": "7", "run_id": "uni.r1", "sentences": sentences, **more}


def write(folder: Path, *records: Mapping[str, object], name: str = "support.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def rows(frame: pd.DataFrame) -> list[list[object]]:
    return frame.astype(object).where(frame.notna(), None).values.tolist()


SENTENCE_ROWS = [["uni.r1", "7", 0, "Wings lift.", ("d1", "d2")], ["uni.r1", "7", 1, "So does speed.", ()]]
SUPPORT_ROWS = [["uni.r1", "7", 0, 0, "d1", 2], ["uni.r1", "7", 0, 1, "d2", 0]]


def test_support_in_the_form_of_nist(tmp_path: Path) -> None:
    found = formats.read_support(write(tmp_path, record()))
    assert rows(found.answers) == [["uni.r1", "7", "", 5, None]]
    assert rows(found.sentences) == SENTENCE_ROWS
    assert rows(found.support) == SUPPORT_ROWS
    assert str(found.support["grade"].dtype) == "Int8"
    assert found.notes == ()


def test_the_spelling_with_combined_support(tmp_path: Path) -> None:
    text = json.dumps(record()).replace("sentenceID", "sentenceId").replace("citationID", "citationId")
    given_ = json.loads(text)
    given_["sentences"][0] |= {"verification_worthy": "1", "citationsCombibed": "1"}
    given_["sentences"][1] |= {"verification_worthy": "0", "citationsCombibed": "-1"}
    found = formats.read_support(write(tmp_path, given_))
    assert rows(found.sentences) == [[*SENTENCE_ROWS[0], 1, 1], [*SENTENCE_ROWS[1], 0, None]]
    assert list(found.sentences.columns) == list(SENTENCES.columns)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.tsv", "run\ttopic\tsentence\tdoc_id\tsupport\ttext\nuni.r1\t7\t0\td1\t2\tWings lift.\n"
                  "uni.r1\t7\t1\t\t\tSo does speed.\nuni.r1\t7\t0\td2\t0\tWings lift.\n"),
        ("s.csv", "run_id,query_id,sentence_id,reference,grade,text\nuni.r1,7,0,d1,full,Wings lift.\n"
                  "uni.r1,7,0,d2,none,\nuni.r1,7,1,,,So does speed.\n"),
    ],
)  # fmt: skip
def test_tables_of_support(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    found = formats.read_support(tmp_path / name)
    assert rows(found.sentences) == SENTENCE_ROWS
    assert rows(found.support) == SUPPORT_ROWS
    assert rows(found.answers) == [["uni.r1", "7", "", 5, None]]


def sentence(**more: object) -> dict[str, object]:
    return {"sentences": [{"sentenceID": 0, "text": "a", "citations": [{"reference": "d1", "support": "1"}], **more}]}


def label(**more: object) -> dict[str, object]:
    return sentence(citations=[{"reference": "d1", "support": "1", **more}])


def test_names_of_members_in_another_case(tmp_path: Path) -> None:
    given_ = {"Topic ID": 7, "runId": "uni.r1", "Sentences": [
        {"Sentence_ID": 0, "Text": "Wings lift.",
         "Citations": [{"Reference": "d1", "Support": "2"}, {"Reference": "d2", "Support": "0"}]},
        {"Sentence_ID": 1, "Text": "So does speed.", "Citations": []},
    ]}  # fmt: skip
    found = formats.read_support(write(tmp_path, given_))
    assert (rows(found.sentences), rows(found.support)) == (SENTENCE_ROWS, SUPPORT_ROWS)


def test_sentences_that_count_from_1_in_every_answer_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("run,topic,sentence,doc_id,support\nr1,7,1,d1,2\nr1,7,2,d1,1\nr2,7,1,d1,0\n")
    with pytest.raises(FormatError, match="expected the numbers of sentences, from 0, found 1 as the lowest number of"):
        formats.read_support(path)
    path.write_text(path.read_text() + "r2,7,0,,\n")
    assert len(formats.read_support(path).support) == 3


QUIRKS: list[tuple[dict[str, object], str, list[object]]] = [
    (sentence(text=float("nan")), "1 sentence has no text (null or NaN)", [1]),
    (sentence(text=None), "1 sentence has no text (null or NaN)", [1]),
    (sentence(text=" "), "1 sentence has a text of blanks only", [1]),
    (sentence(sentenceID=5), "1 sentence has another number than its place", [1]),
    (label(support="-1"), "1 citation was not judged (-1)", [None]),
    (label(support="maybe"), "1 label is unknown and not counted as judged, such as 'maybe'", [None]),
    (label(support=2), "", [2]),
    (label(support="FS"), "", [2]),
    (sentence(verification_worthy="1\x1c", sentenceID=" " * 20 + "0"), "", [1]),
    (sentence(sentenceID="9" * 5000), "1 sentence has another number than its place", [1]),
    (label(support="Partial Support"), "", [1]),
    (label(support="not-supported"), "", [0]),
    (label(support="2.0"), "", [2]),
    (label(support=-1.0), "1 citation was not judged (-1)", [None]),
    (sentence(citations=[{"reference": "d1", "support": "1"}] * 2), "1 sentence cites a document twice", [1]),
    ({"sentences": []}, "1 answer is empty", []),
    ({"sentences": None}, "1 answer is empty", []),
]


@pytest.mark.parametrize(("change", "note", "grades"), QUIRKS)
def test_odd_content_is_read_and_counted_in_notes(
    tmp_path: Path, change: dict[str, object], note: str, grades: list[object]
) -> None:
    found = formats.read_support(write(tmp_path, record(run_id="r2"), record(**change)))
    assert [row[-1] for row in rows(found.support)][2:] == grades
    assert [each.partition(" (first")[0] for each in found.notes] == ([note] if note else [])
    assert len(found.answers) == 2


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"run_id": None}, "expected the name of a run"),
    ({"topic_id": None}, "expected an id (narrative_id"),
    ({"sentences": 3}, "expected sentences as a list of sentences with text and citations, found '3'"),
    (sentence(citations="d1"), "expected citations as a list of objects with reference and support"),
    (sentence(citations=[{"support": "1"}]), "expected an id (reference, doc_id"),
    (label(reference="d 1"), "expected an id without blanks"),
    (label(support=0.5), "expected a label of support (2, 1, 0, or its name), found '0.5'; write 2 for support"),
    (sentence(text=[]), "expected text in the field 'text'"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_refusals_name_the_place(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = write(tmp_path, record(run_id="r2"), record(**change))
    with pytest.raises(FormatError) as refused:
        formats.read_support(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("given", "grade", "differ"), [(("2", "0", "0"), 2, 2), (("-1", "1", "-1"), 1, 0), (("1", "1", "1"), 1, 0)]
)
def test_a_repeated_citation_counts_once_with_its_first_grade(
    tmp_path: Path, given: tuple[str, ...], grade: int, differ: int
) -> None:
    cited = [{"reference": "d1", "support": each} for each in given] + [{"reference": "d2", "support": "0"}]
    found = formats.read_support(write(tmp_path, record(**sentence(citations=cited))))
    assert [row[3:] for row in rows(found.support)] == [[0, "d1", grade], [1, "d2", 0]]
    assert found.sentences["citations"].tolist() == [("d1", "d2")]
    assert sum("two grades for a document" in each for each in found.notes) == (differ > 0)


def test_repeated_answers(tmp_path: Path) -> None:
    found = formats.read_support(write(tmp_path, record(), record()))
    assert found.notes == ("1 identical repetition of an answer left out (first in line 2)",)
    with pytest.raises(FormatError, match="line 2: expected each answer once, found answer '7 of run uni.r1' again"):
        formats.read_support(write(tmp_path, record(), record(sentences=[])))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("run,topic,sentence,doc_id,support\nr1,7,0,d1,2\nr1,7,0,d1,1\n", "line 3: expected one grade for a sentence"),
        ("run,topic,sentence,doc_id,support\nr1,7,x,d1,2\n", "line 2: expected the number of the sentence, from 0"),
        ("run,topic,sentence,support\nr1,7,0,2\n", "line 1: expected"),
        ("[]", "no answers"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / ("s.json" if content == "[]" else "s.csv")
    path.write_text(content)
    with pytest.raises(FormatError) as refused:
        formats.read_support(path)
    assert said in str(refused.value)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
DOCUMENTS = st.text("abc", min_size=1, max_size=2)


@tries(200)
@given(data=st.data(), combined=st.booleans())
def test_written_support_is_read_without_loss(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, combined: bool
) -> None:
    answers, sentences, support, extra = [], [], [], []
    for run, query_id in (("r1", "7"), ("uni.r1", "7"), ("r1", "8")):
        texts = data.draw(st.lists(st.tuples(TEXTS, st.lists(DOCUMENTS, max_size=3, unique=True)), max_size=3))
        answers.append((run, query_id, "", sum(len(text.split()) for text, _ in texts), None))
        for number, (text, cited) in enumerate(texts):
            sentences.append((run, query_id, number, text, tuple(cited)))
            extra.append((data.draw(st.sampled_from([0, 1])), data.draw(st.sampled_from([2, 1, 0]))))
            grades = data.draw(st.lists(st.sampled_from([2, 1, 0, None]), min_size=3, max_size=3))
            support += [(run, query_id, number, place, doc_id, grades[place]) for place, doc_id in enumerate(cited)]
    frame = SENTENCES.check(pd.DataFrame(sentences, columns=list(SENTENCES.names)))
    if combined and sentences:
        worthy, grade = zip(*extra, strict=True)
        frame = frame.assign(verification_worthy=worthy, combined_grade=grade)
        frame = frame.astype({"verification_worthy": "Int8", "combined_grade": "Int8"})
    given_ = SupportLabels(
        ANSWERS.check(pd.DataFrame(answers, columns=list(ANSWERS.names))).astype({"stated_words": "Int64"}),
        frame,
        SUPPORT.check(pd.DataFrame(support, columns=list(SUPPORT.names))).astype({"grade": "Int8"}),
    )
    path = tmp_path_factory.mktemp("support") / "support.jsonl"
    formats.write_support(given_, path)
    found = formats.read_support(path)
    for name in ("answers", "sentences", "support"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(given_, name))


def test_support_is_written_as_jsonl_only(tmp_path: Path) -> None:
    found = formats.read_support(write(tmp_path, record()))
    with pytest.raises(InputError, match=r"ends in \.jsonl for support"):
        formats.write_support(found, tmp_path / "s.csv")


REAL = {
    "webassess": (
        (422, 3616, 3533),
        {0: 1414, 1: 758, 2: 1346},
        ["16 sentences have a text of", "15 citations were not"],
    ),
    "with_prediction": ((414, 3631, 3017), {0: 1040, 1: 709, 2: 1268}, ["11 sentences have no text"]),
    "without_prediction": ((255, 2362, 1930), {0: 677, 1: 460, 2: 793}, ["9 sentences have no text"]),
}


@pytest.mark.shared
@pytest.mark.parametrize("condition", REAL)
def test_counts_of_real_support(shared: Path, tmp_path: Path, condition: str) -> None:
    counts, grades, notes = REAL[condition]
    found = formats.read_support(shared / "data" / "rag" / "rag24-nist-support" / f"support.{condition}.jsonl.gz")
    assert (len(found.answers), len(found.sentences), len(found.support)) == counts
    assert found.support["grade"].value_counts().to_dict() == grades
    assert [each[: len(note)] for each, note in zip(found.notes, notes, strict=True)] == notes
    formats.write_support(found, tmp_path / "s.jsonl")
    again = formats.read_support(tmp_path / "s.jsonl")
    for name in ("answers", "sentences", "support"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(found, name))
