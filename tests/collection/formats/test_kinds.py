"""Files that are passed as another kind than they are."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from collection.core.errors import FormatError, FormatWarning
from collection.formats import (
    kinds,
    read_answers,
    read_documents,
    read_index,
    read_labels,
    read_nugget_assignments,
    read_nuggets,
    read_qrels,
    read_run,
    read_support,
    read_topics,
)
from collection.formats.kinds import (
    ANSWERS,
    DOCUMENTS,
    LABELS,
    NUGGET_ASSIGNMENTS,
    NUGGETS,
    QRELS,
    RUN,
    SUPPORT,
    TOPICS,
    KnownIds,
)
from tests.helpers import run

Q = "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n"
R = "1 Q0 d1 1 3.5 x\n1 Q0 d2 2 2.5 x\n2 Q0 d3 1 1.5 x\n"
FILES = {
    QRELS: {
        "q.txt": Q,
        "q.tsv": Q.replace(" ", "\t"),
        "one.tsv": "1\t0\td1\t1\n",
        "beir.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n",
        "q.csv": "qid,docno,rel\n1,d1,1\n",
        "q.jsonl": '{"query_id": "1", "doc_id": "d1", "relevance": 1}\n',
        "q.json": '{"1": {"d1": 1, "d2": 0}}',
        "pretty.json": '{\n "1": {\n  "d1": 1,\n  "d2": 0\n }\n}',
    },
    RUN: {
        "r.txt": R,
        "r.tsv": R.replace(" ", "\t"),
        "untagged.txt": R.replace(" x", ""),
        "number.txt": R.replace("Q0", "0").replace(" x", " 2024"),
        "r.csv": "qid,docno,rank,score\n1,d1,1,3.5\n",
        "r.jsonl": '{"qid": "1", "docno": "d1", "score": 3.5}\n',
        "pyterrier.csv": "qid,docid,docno,rank,score,query\n1,7,d1,0,3.5,heat pump\n",
    },
    LABELS: {
        "l.csv": "annotator,query_id,doc_id,relevance\nann,1,d1,1\nbob,1,d1,0\n",
        "l.tsv": "assessor\ttopic\tdocno\tgrade\nann\t1\td1\t1\nbob\t1\td1\t0\n",
        "l.jsonl": '{"user": "a", "qid": "1", "docid": "d1", "label": 1}\n'
        '{"user": "b", "qid": "1", "docid": "d1", "label": 1}\n',
    },
    TOPICS: {
        "t.tsv": "1\theat pump\n2\twing flow\n",
        "long.tsv": "1\theat pump for the new houses\n2\twing flow of 3 planes\n",
        "t.csv": "query_id,title\n1,heat pump\n",
        "t.jsonl": '{"_id": "1", "text": "heat pump"}\n',
        "t.sgml": "<top>\n<num> Number: 1\n<title> heat pump\n</top>\n",
        "t.xml": '<?xml version="1.0"?>\n<topics><topic number="1"><query>heat</query></topic></topics>',
    },
    DOCUMENTS: {
        "d.trec": "<DOC>\n<DOCNO>d1</DOCNO>\nHeat pumps.\n</DOC>\n",
        "d.tsv": f"d1\t{'Heat pumps are good. ' * 40}\n",
        "d.jsonl": '{"docno": "x1", "text": "short text"}\n',
        "d.csv": "doc_id,title,text\nx1,Heat,about\n",
        "d.ris": "TY  - JOUR\nTI  - Heat\nER  - \n",
    },
    ANSWERS: {
        "rag.jsonl": '{"run_id": "a", "topic_id": "1", "topic": "heat", "references": ["d1"], '
        '"answer": [{"text": "Warm.", "citations": [0]}]}\n',
        "ragtime.jsonl": '{"metadata": {"run_id": "a", "topic_id": "1"}, '
        '"responses": [{"text": "Warm.", "citations": {"d1": 0.5}}]}\n',
        "a.csv": "run,topic,sentence,citations\na,1,Heat pumps are good.,d1 d2\n",
    },
    NUGGETS: {
        "n.jsonl": '{"query": "heat", "qid": "1", "nuggets": [{"text": "Warm.", "importance": "vital"}]}\n',
        "rubrics.jsonl": '{"qid": "1", "rubrics": [{"criterion": "Warm.", "weight": 2.5}]}\n',
        "bank.json": '{"query_id": "1", "title_query": "heat", "nugget_bank": {"Why?": {"question": "Why?"}}}',
        "n.tsv": "topic\tnugget\ttext\timportance\n1\tn1\tHeat pumps warm houses.\tvital\n",
    },
    NUGGET_ASSIGNMENTS: {
        "na.jsonl": '{"query": "heat", "qid": "1", "run_id": "a", "answer_text": "Warm.", '
        '"nuggets": [{"text": "Warm.", "importance": "vital", "assignment": "support"}]}\n',
    },
    SUPPORT: {
        "s.jsonl": '{"topic_id": "1", "run_id": "a", "sentences": [{"sentenceID": 0, "text": NaN, '
        '"citations": [{"citationID": 0, "reference": "d1", "support": "2"}]}]}\n',
        "s.csv": "run,topic,sentence,doc_id,support\na,1,0,d1,2\na,1,1,d1,0\n",
    },
}
READERS: dict[str, Any] = {
    QRELS: read_qrels, RUN: read_run, LABELS: read_labels, TOPICS: read_topics, NUGGETS: read_nuggets,
    ANSWERS: lambda path: read_answers(path).answers, SUPPORT: lambda path: read_support(path).answers,
    NUGGET_ASSIGNMENTS: lambda path: read_nugget_assignments(path).answers,
}  # fmt: skip
FITTING = {  # pairs that a reader may take
    *((LABELS, QRELS, name) for name in FILES[QRELS] if not name.endswith(("txt", ".json")) and name != "q.tsv"),
    (LABELS, DOCUMENTS, "d.ris"),  # records of ASReview
    (TOPICS, DOCUMENTS, "d.tsv"),  # what tells them apart are the ids of a campaign
}


@pytest.mark.parametrize("wanted", READERS)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, files in FILES.items() for name in files])
def test_no_reader_takes_another_kind(tmp_path: Path, wanted: str, kind: str, name: str) -> None:
    (tmp_path / name).write_text(FILES[kind][name])
    if kind == wanted:
        assert kinds.recognise(tmp_path / name, wanted) is None
        assert len(READERS[wanted](tmp_path / name))
        return
    if (wanted, kind, name) in FITTING:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        refusals: list[str] = []
        try:
            READERS[wanted](tmp_path / name)
        except FormatError as error:
            refusals.append(f"{error}" if error.hint else "no remedy")
    if kind in READERS and {wanted, kind} & {ANSWERS, NUGGETS, NUGGET_ASSIGNMENTS, SUPPORT}:
        assert any(f"looks like {kind}" in said for said in refusals), refusals
    assert any("looks like" in said or ";" in said for said in [*refusals, *(str(each.message) for each in caught)])


@pytest.mark.parametrize(
    ("wanted", "content", "said"),
    [
        (QRELS, "1 d1 1 1 0.5\n1 d2 0 1 0.25\n", "prels of the Million Query track"),
        (QRELS, "1 d1 1 1 0.5\n", "prels"),
        (QRELS, "1 17 1 1 0.5\n1 18 1 2 0.25\n", "prels"),
        (QRELS, "1 d1 0 1\n1 d2 0 2\n", "columns 2 and 3 are swapped"),
        (QRELS, "1 17 0 1\n2 18 0 2\n", "columns 2 and 3 are swapped"),
        (QRELS, "1 d1 1 0\n1 d2 1 0\n", "columns 2 and 3 are swapped"),
        (QRELS, "1\td1\t1\t9.5\n1\td2\t2\t8.5\n", "a run without Q0 and tag"),
        (QRELS, "1 d1 1\n1 d2 2\n", "a run of MS MARCO"),
        (QRELS, "<!DOCTYPE html>\n<html></html>\n", "an HTML page"),
        (RUN, "1\td1\t1\t9.5\n1\td2\t2\t8.5\n", "a run without Q0 and tag"),
        (RUN, "1 d1 Q0 1 9.5 x\n", "columns 2 and 3 are swapped"),
        (RUN, "Q0 1 d1 1 9.5 x\n", "columns 1 and 2 are swapped"),
        (RUN, "1 Q0 1 d1 9.5 x\n1 Q0 2 d2 8.5 x\n", "document and rank are swapped"),
        (RUN, "1 Q0 d1 9.5 1 x\n1 Q0 d2 8.5 2 x\n", "rank and score are swapped"),
    ],
)
def test_columns_in_another_order_are_refused(tmp_path: Path, wanted: str, content: str, said: str) -> None:
    (tmp_path / "some.file").write_text(content)
    for read in (READERS[wanted], *([read_index] if wanted == QRELS else [])):
        with pytest.raises(FormatError, match=f"looks like .*{said}.*; (write|it may be) "):
            read(tmp_path / "some.file")


@pytest.mark.parametrize(
    ("wanted", "content"),
    [
        (QRELS, "1 0 d1 1\n"),
        (QRELS, "1 Q0 d1 1\n2 Q0 d1 1\n"),
        (QRELS, "1 0 1 1\n1 0 2 1\n2 0 1 0\n"),
        (QRELS, "1 1 17 1\n1 2 17 0\n"),
        (QRELS, "1 0 d1 1 0.5\n1 0 d2 0 0.25\n"),
        (RUN, "1 Q0 1 1 1 x\n1 Q0 2 2 2 x\n"),
        (RUN, "1 0 d1 0 2.5 x\n1 0 d2 1 1.5 x\n"),
        (RUN, "1 Q0 d1 1 9.5\n"),
        (RUN, "1 0 d1 1 9.5 2024\n"),
        (RUN, "d1 Q0 1 1 9.5 x\nd1 Q0 2 2 8.5 x\n"),
        (TOPICS, "1\t3 2 1\tgo\n"),
        (TOPICS, "301\t1984\n302\t2001\n"),
        (TOPICS, "q0\twhat is 3 to 4\nq1\t1984\nq2\twing\n"),
        (QRELS, "1 0 q0 1\n2 0 q0 0\n"),
        (TOPICS, "query_id\tquery\tyear\n1\theat\t2019\n"),
        (DOCUMENTS, "d1\t1\n"),
        (RUN, "q0 Q0 d1 1 2.5 x\nq0 Q0 d2 2 1.5 x\n"),
    ],
)
def test_unusual_files_of_the_right_kind_are_no_doubt(tmp_path: Path, wanted: str, content: str) -> None:
    (tmp_path / "some.tsv").write_text(content)
    assert kinds.recognise(tmp_path / "some.tsv", wanted) is None


def test_known_ids_tell_topics_from_documents(tmp_path: Path) -> None:
    known = KnownIds({"1", "2"}, lambda ids: {"d1", "d2", "3"} & set(ids))
    (tmp_path / "d.tsv").write_text("d1\tHello this is text\nd2\tAnother text\n")
    found = kinds.recognise(tmp_path / "d.tsv", TOPICS, known)
    assert found is not None
    assert (found.kind, found.certain) == (DOCUMENTS, False)
    (tmp_path / "t.tsv").write_text("3\tHello this is text\n")  # a number may be the id of both
    assert kinds.recognise(tmp_path / "t.tsv", TOPICS, known) is None
    (tmp_path / "q.txt").write_text("d1 0 1 2\nd2 0 1 2\n")
    found = kinds.recognise(tmp_path / "q.txt", QRELS, known)
    assert found is not None
    assert "column 1 has ids of documents" in found.evidence


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("corpus.jsonl", json.dumps({"_id": "x", "title": "Heat", "text": "Pumps are good. " * 40})),
        ("docs.csv", "Title,Abstract,Year,id\nHeat,Pumps,2019,x1\n"),
    ],
)
def test_likely_documents_are_read_as_topics_with_a_warning(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.warns(FormatWarning, match="expected topics, found a file that looks like documents"):
        read_topics(tmp_path / name)


QRELS_FORMS = {
    "a.json": '{"1": {"d1": 1, "d2": 0}}',
    "a.jsonl": '{"qid": "1", "docno": "d1", "label": true}\n{"qid": "1", "docno": "d2", "label": false}\n',
    "array.json": '[{"qid": "1", "docno": "d1", "label": 1}, {"qid": "1", "docno": "d2", "label": 0}]',
    "a.csv": "qid,docid,rel\n1,d1,1\n1,d2,0\n",
    "semicolon.csv": "Topic ID;Document ID;Relevance\n1;d1;1\n1;d2;0\n",
    "a.tsv": "query_id\tdoc_id\tgrade\n1\td1\t1\n1\td2\t0\n",
    "four.tsv": "query_id\titer\tdoc_id\trelevance\n1\t0\td1\t1\n1\t0\td2\t0\n",
    "truth.csv": "query_id,corpus-id,score\n1,d1,True\n1,d2,False\n",
    "columns.json": '{"qid": {"0": "1", "1": "1"}, "docno": {"0": "d1", "1": "d2"}, "label": {"0": 1, "1": 0}}',
}


@pytest.mark.parametrize("name", QRELS_FORMS)
def test_qrels_in_the_forms_of_runs(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(QRELS_FORMS[name])
    assert read_qrels(tmp_path / name).values.tolist() == [["1", "d1", 1], ["1", "d2", 0]]
    assert read_index(tmp_path / name).topics == ["1"]


def test_a_tag_of_two_words_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 d1 1 3.0 my tag\n")
    with pytest.warns(FormatWarning, match="ignored columns after the sixth, such as 'tag' in line 1; .* named 'my'"):
        assert read_run(tmp_path / "a.run").name == "my"


@pytest.mark.parametrize(
    ("read", "content", "hint"),
    [
        (read_run, "qid Q0 docno rank score tag\n1 Q0 d1 1 3.5 x\n", "remove the line with the names of the columns"),
        (read_run, "qid;docno;score\n1;d2;3,5\n", "write decimals with a point"),
        (read_qrels, "1 0 d1 1\n1 Q0 d1 0\n", "remove one of the lines"),
        (read_topics, "id;title\n1;heat; pump\n", "in quotation marks"),
        (read_topics, "7\ta b\n7\tc d\n", "remove one of them"),
        (lambda path: list(read_documents(path)), "doc_id,text\nd1,a,b\n", "in quotation marks"),
    ],
)
def test_refusals_say_what_to_do(tmp_path: Path, read: Any, content: str, hint: str) -> None:
    path = tmp_path / ("some.csv" if "title" in content else "some.file")
    path.write_text(content)
    with pytest.raises(FormatError, match=f"; .*{hint}"):
        read(path)


def test_topics_of_the_genomics_track(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("<160>What is the role of PrnP?\n<161> What is heat?\n")
    topics = read_topics(tmp_path / "t.txt")
    assert topics["query_id"].tolist() == ["160", "161"]
    assert topics["title"].tolist() == ["What is the role of PrnP?", "What is heat?"]


def test_one_measure_under_two_names_is_explained(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(Q)
    (tmp_path / "r.txt").write_text(R)
    said = run("evaluate", tmp_path / "q.txt", tmp_path / "r.txt", "-m", "hit@5", "-m", "success_5").stderr
    assert "the measures hit@5 and success_5 are the same (Success@5); give one of them" in said
