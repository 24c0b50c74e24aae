"""Generated answers: formats of the tracks, plain tables, notes on odd content, and refused files."""

import gzip
import json
import os
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.core.answers import Answers
from collection.core.errors import FormatError, FormatWarning, InputError
from collection.core.frames import ANSWERS, DOCUMENTS, SENTENCES
from tests.helpers import join, tries

pytestmark = pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")

SENTENCE_LIST = [("Wings lift.", ["d1", "d2"]), ("Flaps help, too.", ["d2"]), ("So does speed.", [])]
REFERENCES = ["d1", "d2"]
TEXT = "what lifts a wing"


def by_index() -> list[dict[str, Any]]:
    return [
        {"text": text, "citations": [REFERENCES.index(doc_id) for doc_id in cited]} for text, cited in SENTENCE_LIST
    ]


def by_id() -> list[dict[str, Any]]:
    return [{"text": text, "citations": cited} for text, cited in SENTENCE_LIST]


def by_score() -> list[dict[str, Any]]:
    return [
        {"text": text, "citations": {doc_id: 1 / (rank + 1) for rank, doc_id in enumerate(cited)}}
        for text, cited in SENTENCE_LIST
    ]


def metadata(**more: object) -> dict[str, object]:
    return {"team_id": "uni", "run_id": "r1", **more}


NAMED = {"narrative_id": 7, "narrative": TEXT}
RECORDS: dict[str, dict[str, Any]] = {
    "rag2024": {"run_id": "r1", "topic_id": "7", "topic": TEXT, "references": REFERENCES, "response_length": 8,
                "answer": by_index()},
    "rag2025 by index": {"metadata": metadata(type="automatic", **NAMED), "references": REFERENCES,
                         "answer": by_index()},
    "rag2025 by id": {"metadata": metadata(type="automatic", **NAMED), "references": REFERENCES, "answer": by_id()},
    "rag2026": {"metadata": metadata(run_desc="BM25", **NAMED), "references": REFERENCES, "answer": by_index()},
    "ragtime scores": {"metadata": metadata(topic_id="7"), "responses": by_score(), "references": REFERENCES},
    "ragtime list": {"metadata": metadata(topic_id="7"), "responses": by_id()},
    "auto-judge": {"metadata": metadata(topic_id="7"), "responses": by_id(),
                   "documents": {name: {"id": name, "text": f"About {name}", "title": "", "url": "u"}
                                 for name in REFERENCES}},
}  # fmt: skip
TABLES = {
    "plain.tsv": "run\ttopic\tsentence\tcitations\n"
    "r1\t7\tWings lift.\td1 d2\nr1\t7\tFlaps help, too.\td2\nr1\t7\tSo does speed.\t\n",
    "numbered.csv": "run_id,query_id,sentence,text,citations\n"
    'r1,7,2,So does speed.,\nr1,7,0,Wings lift.,d1 d2\nr1,7,1,"Flaps help, too.",d2\n',
    "plain.jsonl": "".join(
        json.dumps({"run": "r1", "topic": 7, "sentence": text, "citations": cited}) + "\n"
        for text, cited in SENTENCE_LIST
    ),
}


def write(folder: Path, *records: Mapping[str, object], name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def sentences(answers: Answers) -> list[tuple[object, ...]]:
    return list(answers.sentences.itertuples(index=False, name=None))


EXPECTED = [("r1", "7", number, text, tuple(cited)) for number, (text, cited) in enumerate(SENTENCE_LIST)]


@pytest.mark.parametrize("form", RECORDS)
def test_all_forms_of_the_tracks_have_the_same_sentences(tmp_path: Path, form: str) -> None:
    found = formats.read_answers(write(tmp_path, RECORDS[form]))
    assert sentences(found) == EXPECTED
    team = "" if form == "rag2024" else "uni"
    [answer] = found.answers.astype(object).where(found.answers.notna(), None).values.tolist()
    assert answer == ["r1", "7", team, 8, 8 if form == "rag2024" else None]
    texts = [["7", TEXT, ""]] if form == "rag2024" else [["7", "", TEXT]] if "rag2" in form else []
    assert found.topics.values.tolist() == texts
    documents = [["d1", "", "About d1"], ["d2", "", "About d2"]] if form == "auto-judge" else []
    assert found.documents.values.tolist() == documents
    assert found.notes == ()
    for schema, frame in ((ANSWERS, found.answers), (SENTENCES, found.sentences), (DOCUMENTS, found.documents)):
        assert list(frame.columns) == list(schema.names)
    assert [str(found.answers[name].dtype) for name in ("words", "stated_words")] == ["int64", "Int64"]


@pytest.mark.parametrize("name", [*TABLES, "plain.parquet"])
@pytest.mark.long
def test_tables_of_sentences(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "plain.parquet":
        texts, cited = zip(*SENTENCE_LIST, strict=True)
        pd.DataFrame({"run": "r1", "topic_id": "7", "text": texts, "citations": cited}).to_parquet(path)
    else:
        path.write_text(TABLES[name])
    assert sentences(formats.read_answers(path)) == EXPECTED


def test_a_row_without_a_text_is_an_empty_answer(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    for content in ("sentence,citations\nr1,7,,\nr2,7,W", "sentence,text,citations\nr1,7,0,,\nr2,7,0,W"):
        path.write_text(f"run,topic,{content}ings lift.,d1\n")
        found = formats.read_answers(path)
        assert found.answers[["run", "words"]].values.tolist() == [["r1", 0], ["r2", 2]]
        assert sentences(found) == [("r2", "7", 0, "Wings lift.", ("d1",))]


def test_arrays_of_several_files_in_one(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    first, second = (json.dumps([{**RECORDS["rag2024"], "topic_id": topic}]) for topic in ("7", "8"))
    for between in ("", "\n", "\n[]\n"):
        path.write_text(first + between + second)
        assert formats.read_answers(path).answers["query_id"].tolist() == ["7", "8"]
    for behind in (" garbage", second[1:], "]", "[" + second):
        path.write_text(f"{first}\n{behind}")
        with pytest.raises(FormatError, match="line 2: expected"):
            formats.read_answers(path)


@pytest.mark.parametrize("name", ["answers.jsonl.gz", "list.json", "one.json"])
def test_compressed_files_and_lists(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    record = RECORDS["rag2024"]
    text = json.dumps([record] if name == "list.json" else record, indent=1 if name == "one.json" else None)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert sentences(formats.read_answers(path)) == EXPECTED


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = json.dumps(RECORDS["rag2026"])
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    assert sentences(formats.read_answers(pipe)) == EXPECTED
    join(writer, "the end of the pipe")


def with_citations(*cited: object) -> list[dict[str, object]]:
    return [{"text": text, "citations": each} for (text, _), each in zip(SENTENCE_LIST, cited, strict=True)]


FIRST = RECORDS["rag2024"]
UNLABELLED = {name: value for name, value in FIRST.items() if name not in ("run_id", "answer")}
VARIANTS: dict[str, tuple[object, str]] = {
    "names in another case": ({"Run ID": "r1", "topicId": 7, "References": REFERENCES, "Answer": [
        {"Text": each["text"], "Citations": each["citations"]} for each in by_index()]}, ""),
    "references by number from 0": ({**FIRST, "references": {"0": "d1", "1": "d2"}}, ""),
    "references by number from 1": (
        {**FIRST, "references": {"1": "d1", "2": "d2"}, "answer": with_citations([1, 2], [2], [])}, ""),
    "references as numbered objects": ({**FIRST, "references": {"0": {"docid": "d1"}, "1": {"docid": "d2"}}}, ""),
    "references with scores": ({**FIRST, "references": {"d1": 0.1, "d2": 0.9}}, ""),
    "objects with an index": (
        {**FIRST, "answer": with_citations([{"index": 0}, {"reference": 1}], [{"id": 1}], [])}, ""),
    "indices in brackets": (
        {**FIRST, "answer": with_citations(["[0]", "[1]"], ["[1]"], [])}, "3 citations are indices"),
    "scores as texts": ({**FIRST, "answer": with_citations({"d2": "0.2", "d1": "0.9"}, {"d2": "1"}, {})}, ""),
    "scores that lack": ({**FIRST, "answer": with_citations({"d1": None, "d2": 0.9}, ["d2"], [])},
                         "1 sentence has citations without scores, in their order"),
    "the member citation": ({**FIRST, "answer": [
        {"text": each["text"], "citation": each["citations"]} for each in by_index()]}, ""),
    "the member docids": ({**FIRST, "answer": [
        {"text": each["text"], "docids": each["citations"]} for each in by_id()]}, ""),
    "the member report": ({**UNLABELLED, "run_id": "r1", "report": by_id()}, ""),
    "both lists": ({**FIRST, "responses": by_index()}, ""),
    "an empty list beside the other": ({**FIRST, "answer": [], "responses": by_index()}, ""),
    "iKAT": ({"turn_id": "7", "metadata": metadata(run_type="automatic"), "references": {"d1": 0.5, "d2": 0.7},
              "responses": [{**each, "ptkb_provenance": [1]} for each in by_score()]}, ""),
    "metadata in capitals": ({"METADATA": {"RUN_ID": "r1", "Topic Id": 7}, "responses": by_id()}, ""),
    "NaN": ({"run_id": "r1", "rank": float("nan"), "results": [{**UNLABELLED, "answer": by_index()}]}, ""),
    "a list of results": ({"run_id": "r1", "results": [{**UNLABELLED, "answer": by_index()}]}, ""),
    "records by topic": ({"7": FIRST}, ""),
    "lists by run": ({"r1": [FIRST]}, ""),
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_members_have_the_same_sentences(tmp_path: Path, name: str, indent: int | None) -> None:
    record, note = VARIANTS[name]
    (tmp_path / "answers.json").write_text(json.dumps(record, indent=indent))
    found = formats.read_answers(tmp_path / "answers.json")
    assert sentences(found) == EXPECTED
    assert [each[: len(note)] for each in found.notes] == ([note] if note else [])


def test_citations_that_count_from_1_are_refused_for_each_run(tmp_path: Path) -> None:
    second = {**FIRST, "run_id": "r2", "answer": with_citations([1, 2], [2], [1])}
    path = write(tmp_path, FIRST, second)
    with pytest.raises(FormatError) as refused:
        formats.read_answers(path)
    assert str(refused.value) == (
        f"{path}, line 2: expected citations as indices of the references, from 0, found no 0, and 2 citations just "
        "beyond the last, as if they began with 1; subtract 1 from each citation, or write ids"
    )


LONG = [{"text": "word " * 401, "citations": []}]
QUIRKS: list[tuple[dict[str, Any], str, list[tuple[str, tuple[str, ...]]]]] = [
    ({"answer": []}, "1 answer is empty", []),
    ({"answer": None}, "1 answer is empty", []),
    ({"answer": [{"text": None, "citations": [0]}]}, "1 sentence has no text (null or NaN)", [("", ("d1",))]),
    ({"answer": [{"citations": [0]}]}, "1 sentence has no text (null or NaN)", [("", ("d1",))]),
    ({"answer": [{"text": float("nan"), "citations": []}]}, "1 sentence has no text (null or NaN)", [("", ())]),
    ({"answer": [{"text": " ", "citations": []}]}, "1 sentence has a text of blanks only", [(" ", ())]),
    ({"answer": [{"text": "a", "citations": [0, 2, -1, None]}]}, "3 citations were left out", [("a", ("d1",))]),
    ({"answer": [{"text": "a", "citations": ["1", 0]}]}, "1 citation is an index", [("a", ("d2", "d1"))]),
    ({"answer": [{"text": "a", "citations": [1.0]}]}, "", [("a", ("d2",))]),
    ({"answer": [{"text": "a", "citations": [1, 1, 0, 1]}]}, "2 citations repeat another", [("a", ("d2", "d1"))]),
    ({"answer": [{"text": "a", "citations": ["d9"]}]}, "1 citation is not among the references", [("a", ("d9",))]),
    ({"answer": [{"text": "a", "citations": None}]}, "", [("a", ())]),
    ({"answer": [{"text": "a", "supported_citations": [0], "contradicted_citations": []}]},
     "1 sentence has citations in a field that is not read, such as 'supported_citations'", [("a", ())]),
    ({"answer": [{"text": "a"}]}, "", [("a", ())]),
    ({"answer": ["a"]}, "", [("a", ())]),
    ({"answer": [{"text": "a", "citations": [{"docid": "d1"}]}]}, "", [("a", ("d1",))]),
    ({"answer": [{"text": "a", "citations": [0]}], "references": None}, "1 citation was left out", [("a", ())]),
    ({"answer": [{"text": "a", "citations": {"d7": 0.5}}], "references": None}, "", [("a", ("d7",))]),
    ({"answer": [{"text": "a b", "citations": []}], "response_length": 9}, "1 answer has another number of words",
     [("a b", ())]),
    ({"answer": [{"text": "a", "citations": []}], "response_length": "one"}, "1 stated length is no whole number",
     [("a", ())]),
    ({"answer": LONG, "response_length": 401}, "1 answer has more than 400 words", [(LONG[0]["text"], ())]),
    ({"answer": LONG, "response_length": 401, "run_desc": "2026"}, "", [(LONG[0]["text"], ())]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "note", "expected"), QUIRKS)
def test_odd_content_is_read_and_counted_in_notes(
    tmp_path: Path, change: dict[str, Any], note: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    record = {**RECORDS["rag2024"], "response_length": None, **change}
    path = write(tmp_path, record)
    with pytest.warns(FormatWarning) if note else nullcontext():
        found = formats.read_answers(path)
    assert [(text, cited) for *_, text, cited in sentences(found)] == expected
    assert len(found.answers) == 1
    assert [each[: len(note)] for each in found.notes] == ([note] if note else [])
    assert all(each.endswith("(first in line 1)") for each in found.notes)


def test_citations_with_scores_are_best_first(tmp_path: Path) -> None:
    record = {"metadata": metadata(topic_id="7"), "responses": [{"text": "a", "citations": {"d1": 0.2, "d2": 0.9}}]}
    assert sentences(formats.read_answers(write(tmp_path, record))) == [("r1", "7", 0, "a", ("d2", "d1"))]


def test_numbers_are_ids_where_answers_have_no_references(tmp_path: Path) -> None:
    record = {"metadata": metadata(topic_id="7"), "responses": [{"text": "a", "citations": [12, 0]}]}
    assert sentences(formats.read_answers(write(tmp_path, record))) == [("r1", "7", 0, "a", ("12", "0"))]


def test_numbers_are_ids_where_they_are_references_and_no_indices(tmp_path: Path) -> None:
    cited = {"references": [34123, 34120], "answer": [{"text": "a", "citations": [34120, 34123]}]}
    found = formats.read_answers(write(tmp_path, {**RECORDS["rag2024"], **cited}))
    assert sentences(found) == [("r1", "7", 0, "a", ("34120", "34123"))]


def test_whole_responses_are_not_read_as_sentences(tmp_path: Path) -> None:
    responses = [{"rank": rank, "text": "a", "passage_provenance": [{"id": "d1", "score": 1}]} for rank in (1, 2)]
    path = write(tmp_path, {"run_name": "r1", "turns": [{"turn_id": "9-1_1", "responses": responses}]})
    with pytest.raises(FormatError, match="found whole responses with 'passage_provenance'; split the first"):
        formats.read_answers(path)


def test_a_repeated_answer_is_counted_and_another_refused(tmp_path: Path) -> None:
    record = RECORDS["rag2024"]
    found = formats.read_answers(write(tmp_path, record, record, {**record, "run_id": "r2"}))
    assert found.answers["run"].tolist() == ["r1", "r2"]
    assert found.notes == ("1 identical repetition of an answer left out (first in line 2)",)
    with pytest.raises(FormatError) as refused:
        formats.read_answers(write(tmp_path, record, {**record, "answer": []}))
    assert str(refused.value) == (
        f"{tmp_path}/answers.jsonl, line 2: expected each answer once, found answer '7 of run r1' again "
        "(first in line 1); remove one of them, or give each run its own name"
    )


def test_other_texts_of_a_topic_and_a_document_are_counted(tmp_path: Path) -> None:
    first = {**RECORDS["auto-judge"], "narrative": TEXT}
    metadata_ = metadata(topic_id="7", narrative="another", run_id="r2")
    second = {**first, "metadata": metadata_, "documents": [{"docid": "d1", "text": "Other"}], "narrative": "another"}
    found = formats.read_answers(write(tmp_path, first, second))
    assert found.topics["narrative"].tolist() == [TEXT]
    assert found.documents["text"].tolist() == ["About d1", "About d2"]
    assert found.notes == (
        "1 answer has another text of its topic than the first (first in line 2)",
        "1 document has another text than in an earlier answer (first in line 2)",
    )


REFUSED: list[tuple[object, str]] = [
    ({"run_id": None}, "expected the name of a run (run_id, run), found the fields run_id, topic_id"),
    ({"run_id": " "}, "expected the name of a run (run_id, run), found ' '"),
    ({"run_id": "a\nb"}, "expected the name of a run"),
    ({"topic_id": "two words"}, "expected an id without blanks, found 'two words'"),
    ({"topic_id": None, "topic": None}, "expected an id (narrative_id, topic_id"),
    ({"answer": {"text": "a"}}, "expected answer as a list of sentences with text and citations"),
    ({"answer": [1]}, "expected answer as a list of sentences with text and citations, found '1' in it"),
    ({"answer": [{"text": ["a"], "citations": []}]}, "expected text in the field 'text'"),
    ({"answer": [{"text": "a", "citations": 0}]}, "expected citations as a list, found '0'; write a list"),
    ({"answer": [{"text": "a", "citations": [[0]]}]}, "expected an id (text or a whole number), found '[0]'"),
    ({"answer": [{"text": "a", "citations": ["d 1"]}]}, "expected an id without blanks, found 'd 1'; blanks separate"),
    ({"answer": "Wings lift."}, "expected answer as a list of sentences with text and citations, found"),
    (
        {"answer": [{"answer_sentence": "a", "citations": [0]}]},
        "expected a sentence with a text (text, sentence), found",
    ),
    ({"responses": [{"text": "another"}]}, "found the lists answer and responses with different content; remove all"),
    ({"references": "d1"}, "expected references as a list of ids"),
    ({"documents": "d1"}, "expected documents as an object by id"),
    ({"documents": [{"text": "a"}]}, "expected an id (key)"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_refusals_name_the_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = write(tmp_path, {**RECORDS["rag2024"], "run_id": "first"}, {**RECORDS["rag2024"], **change})
    with pytest.raises(FormatError) as refused:
        formats.read_answers(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("run,topic,sentence,text\nr1,7,a,b\n", "line 2: expected a number of the sentence beside its text, found 'a'"),
        ("run,topic,sentence,text\nr1,7,0,b\nr1,7,0,c\n", "line 3: expected each sentence of an answer once"),
        (
            "run,topic,sentence\nr1,7,a\nr2,7,a\nr1,7,b\n",
            "line 4: expected each answer once, found answer '7 of run r1'",
        ),
        ("run,topic,sentence\n,7,a\n", "line 2: expected the name of a run"),
        ("run,sentence\nr1,a\n", "line 1: expected generated answers with the columns run"),
        ("run,topic,sentence\n", "only a header"),
        ("", "an empty file"),
        ("[]", "no answers"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, rows: str, said: str) -> None:
    path = tmp_path / ("plain.json" if rows == "[]" else "plain.csv")
    path.write_text(rows)
    with pytest.raises(FormatError) as refused:
        formats.read_answers(path)
    assert said in str(refused.value)


# Writing ----------------------------------------------------------------------------------------------

IDS = st.text("abc1-", min_size=1, max_size=3)
WRITTEN_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@st.composite
def generated_answers(draw: st.DrawFn) -> Answers:
    """Answers with everything that their frames hold; documents are cited ones."""
    pairs = draw(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=4, unique=True))
    rows, texts, teams = [], [], {}
    for run, query_id in pairs:
        own = draw(st.lists(st.tuples(WRITTEN_TEXTS, st.lists(IDS, max_size=3, unique=True).map(tuple)), max_size=3))
        teams[run] = teams.get(run) or draw(st.sampled_from(["", "uni"]))
        stated = draw(st.none() | st.integers(0, 500))
        rows.append((run, query_id, teams[run], sum(len(text.split()) for text, _ in own), stated))
        texts += [(run, query_id, number, *each) for number, each in enumerate(own)]
    answers = pd.DataFrame(rows, columns=list(ANSWERS.names)).astype({"stated_words": "Int64"})
    cited = sorted({doc_id for *_, citations in texts for doc_id in citations})
    documents = pd.DataFrame([(doc_id, draw(WRITTEN_TEXTS), draw(WRITTEN_TEXTS)) for doc_id in cited],
                             columns=list(DOCUMENTS.names))  # fmt: skip
    topics = sorted({query_id for _, query_id in pairs})
    narratives = [(query_id, "", f"about {query_id}!") for query_id in topics]
    return Answers(
        ANSWERS.check(answers).astype({"stated_words": "Int64"}),
        SENTENCES.check(pd.DataFrame(texts, columns=list(SENTENCES.names))),
        pd.DataFrame(narratives, columns=["query_id", "title", "narrative"]).astype("str"),
        DOCUMENTS.check(documents),
    )


@tries(200)
@given(answers=generated_answers(), form=st.sampled_from(["rag2024", "rag2025", "rag2026", "ragtime"]))
def test_written_answers_are_read_without_loss(
    tmp_path_factory: pytest.TempPathFactory, answers: Answers, form: formats.AnswersForm
) -> None:
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl.gz"
    formats.write_answers(answers, path, form=form)
    found = formats.read_answers(path)
    expected = answers.answers
    if form == "rag2024":
        expected = expected.assign(team="", stated_words=expected["stated_words"].fillna(expected["words"]))
    pd.testing.assert_frame_equal(found.answers, expected)
    pd.testing.assert_frame_equal(found.sentences, answers.sentences)
    topics = answers.topics
    if form == "rag2024":
        topics = topics.assign(title=topics["narrative"], narrative="")
    order = [query_id for query_id in dict.fromkeys(answers.answers["query_id"]) if form != "ragtime"]
    assert found.topics.set_index("query_id").reindex(order).equals(topics.set_index("query_id").reindex(order))
    if form == "ragtime":
        by_id = found.documents.set_index("doc_id").sort_index()
        assert by_id.equals(answers.documents.set_index("doc_id"))


def test_answers_that_cannot_be_written(tmp_path: Path) -> None:
    found = formats.read_answers(write(tmp_path, RECORDS["rag2024"]))
    with pytest.raises(InputError, match=r"expected a name that ends in \.jsonl for answers"):
        formats.write_answers(found, tmp_path / "a.txt")
    with pytest.raises(InputError, match="unknown form of answers 'rag2023'"):
        formats.write_answers(found, tmp_path / "a.jsonl", form="rag2023")  # type: ignore[arg-type]
    lost = Answers(found.answers[:0], found.sentences, found.topics, found.documents)
    with pytest.raises(InputError, match="expected an answer of run 'r1' for topic '7', found none"):
        formats.write_answers(lost, tmp_path / "a.jsonl")


# Real files -------------------------------------------------------------------------------------------

FORMS = (
    "rag2024", "rag2025-format1-index", "rag2025-format2-docid", "rag2026", "ragtime-score-dict",
)  # fmt: skip


@pytest.mark.shared
def test_the_five_forms_of_real_answers_are_equal(shared: Path) -> None:
    folder = shared / "data" / "rag" / "format-samples"
    read = {form: formats.read_answers(folder / f"derived.{form}.jsonl") for form in FORMS}
    first = read["rag2024"]
    assert (len(first.answers), len(first.sentences)) == (25, 348)
    for form, found in read.items():
        assert found.sentences.drop(columns="run").equals(first.sentences.drop(columns="run"))
        assert found.answers[["query_id", "words"]].equals(first.answers[["query_id", "words"]])
        assert set(found.answers["team"]) == {"" if form == "rag2024" else "derived"}
        texts = found.topics["title"] + found.topics["narrative"]
        assert texts.tolist() == ([] if "ragtime" in form else first.topics["title"].tolist())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "counts", "notes"),
    [
        ("rag24-baselines-llm/answers.command-r-plus.jsonl.gz", (213, 2652, 213),
         ["30 answers have another number", "6 answers have more than 400"]),
        ("rag24-baselines-llm/answers.gpt-4o.jsonl.gz", (213, 2856, 213),
         ["33 answers have another number", "21 answers have more than 400", "4 citations repeat"]),
        ("rag24-baselines-llm/answers.l31_70b_instruct.jsonl.gz", (213, 1635, 213),
         ["21 answers have another number", "2 citations repeat", "2 answers have more than 400"]),
        ("rag24-nist-support/answers.2024form.derived.jsonl.gz", (1091, 9609, 26),
         ["36 sentences have a text of blanks"]),
        ("format-samples/autojudge-kiddie.run1.jsonl", (5, 25, 5), []),
        ("format-samples/doc-example.rag2025-format1.jsonl", (1, 1, 1), []),
        ("format-samples/doc-example.rag2026.jsonl", (1, 2, 1), []),
    ],
)  # fmt: skip
def test_counts_of_real_answers(shared: Path, name: str, counts: tuple[int, int, int], notes: list[str]) -> None:
    found = formats.read_answers(shared / "data" / "rag" / name)
    answers = found.answers
    assert (len(answers), len(found.sentences), answers["query_id"].nunique()) == counts
    assert [each[: len(note)] for each, note in zip(found.notes, notes, strict=True)] == notes


@pytest.mark.shared
def test_real_answers_are_written_and_read(shared: Path, tmp_path: Path) -> None:
    found = formats.read_answers(shared / "data" / "rag" / "rag24-baselines-llm" / "answers.gpt-4o.jsonl.gz")
    for form in ("rag2024", "rag2025", "rag2026", "ragtime"):
        formats.write_answers(found, tmp_path / "a.jsonl", form=form)
        assert formats.read_answers(tmp_path / "a.jsonl").sentences.equals(found.sentences)
