"""Copies of lines are left out and counted, comments are counted, and an iterator without rows is an error."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection import evaluate
from collection.campaign import Campaign
from collection.core.errors import FormatError, FormatWarning, InputError
from collection.formats import read_documents, read_qrels, read_run, read_topics
from collection.formats.in_memory import as_qrels

QRELS = "1 0 d1 1\n1 0 d2 0\n1 0 d1 1\n"


def said(read: Callable[[], object]) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read()
    assert all(each.category is FormatWarning for each in caught)
    return found, [str(each.message) for each in caught]


@pytest.mark.parametrize(
    "content",
    [
        QRELS,
        "query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n1\td1\t1\n",
        '{"qid": "1", "docno": "d1", "label": 1}\n{"qid": "1", "docno": "d2", "label": 0}\n'
        '{"qid": "1", "docno": "d1", "label": 1}\n',
    ],
)
def test_copies_in_qrels(tmp_path: Path, content: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(content)
    found, notes = said(lambda: read_qrels(path))
    assert found.values.tolist() == [["1", "d1", 1], ["1", "d2", 0]]
    assert notes == [f"{path}: dropped 1 identical repetition of lines"]
    path.write_text(content.replace("d1\t1\n1\td2", "d1\t2\n1\td2").replace("d1 1\n1 0 d2", "d1 2\n1 0 d2")
                    .replace('1}\n{"qid": "1", "docno": "d2"', '2}\n{"qid": "1", "docno": "d2"'))  # fmt: skip
    with pytest.raises(FormatError, match=r"again .*\(first in line [12]\); remove one of (them|the lines)$"):
        read_qrels(path)


def test_copies_in_subtopic_qrels(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("1 1 d1 1\n1 2 d1 1\n1 1 d1 1\n")
    found, notes = said(lambda: read_qrels(path, form="subtopics"))
    assert found["subtopic"].tolist() == ["1", "2"]
    assert notes == [f"{path}: dropped 1 identical repetition of lines"]
    with pytest.raises(FormatError, match=r"line 2: .* column 2 differs; in diversity qrels it is the subtopic: use a"):
        read_qrels(path)


def test_copies_of_documents_and_topics(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "d1", "text": "a", "year": 1}\n' * 3 + '{"_id": "d2", "text": "a"}\n')
    found, notes = said(lambda: [document.doc_id for _, document in read_documents(path)])
    assert found == ["d1", "d2"]
    assert notes == [f"{path}: dropped 2 identical repetitions of documents"]
    with Campaign.create(tmp_path / "campaign") as campaign:
        report = campaign.imports.import_files(documents=[path])
        assert campaign.store.judgements.counts()["documents"] == 2
    assert report.notices == [f"{path}: dropped 2 identical repetitions of documents"]
    path.write_text('{"_id": "d1", "text": "a", "year": 1}\n{"_id": "d1", "text": "a", "year": 2}\n')
    with pytest.raises(
        FormatError, match=r"line 2: expected each document once, .* again \(first in line 1\); remove one"
    ):
        list(read_documents(path))
    (tmp_path / "t.tsv").write_text("1\ta\n1\ta\n")
    assert said(lambda: read_topics(tmp_path / "t.tsv"))[1] == [
        f"{tmp_path / 't.tsv'}: dropped 1 identical repetition of topics"
    ]


def test_copies_in_memory() -> None:
    rows = [("1", "d1", 1), ("1", "d2", 0), ("1", "d1", 1)]
    for given in (rows, iter(rows), pd.DataFrame(rows, columns=["qid", "docno", "label"])):
        found, notes = said(lambda given=given: as_qrels(given))
        assert found.values.tolist() == [["1", "d1", 1], ["1", "d2", 0]]
        assert notes == ["qrels: dropped 1 identical repetition of rows"]
    with pytest.raises(InputError, match="found document 'd1' of topic '1' twice"):
        as_qrels([*rows, ("1", "d1", 2)])


RUN = "t3 Q0 d2 1 3 r\n#energy Q0 d2 1 3 r\n#energy Q0 d1 2 2 r\n"


@pytest.mark.parametrize("between", ["", "t4 Q0  d2 1 3 r\n"], ids=["fast", "tidied"])
def test_lines_that_begin_with_a_hash_are_counted(tmp_path: Path, between: str) -> None:
    path, qrels = tmp_path / "a.run", tmp_path / "qrels"
    note = f"{path}: skipped 2 lines that begin with #, such as '#energy Q0 d2 1 3 r'"
    path.write_text(RUN + between)
    qrels.write_text("t3 0 d2 1\n")
    assert said(lambda: read_run(path))[1] == [note]
    assert said(lambda: evaluate(qrels, [path], ["P@1"]))[1] == [note]
    path.write_bytes(gzip.compress((RUN + between).encode()))
    assert said(lambda: evaluate(qrels, path, ["P@1"]))[1] == [note]
    qrels.write_text("# by hand\nt3 0 d2 1\nt3 0 d2 1\n")
    found, notes = said(lambda: read_qrels(qrels))
    assert len(found) == 1
    assert notes == [
        f"{qrels}: skipped 1 line that begins with #, such as '# by hand'",
        f"{qrels}: dropped 1 identical repetition of lines",
    ]


def test_an_import_reports_lines_of_a_run_that_begin_with_a_hash(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("t3\ta\n")
    (tmp_path / "x.run").write_text(RUN)
    with Campaign.create(tmp_path / "campaign") as campaign:
        report = campaign.imports.import_files(topics=tmp_path / "t.tsv", runs=[tmp_path / "x.run"])
    assert f"{tmp_path / 'x.run'}: skipped 2 lines that begin with #, such as '#energy Q0 d2 1 3 r'" in report.notices


def test_an_iterator_that_was_read_before_is_an_error(tmp_path: Path) -> None:
    rows = iter([("1", "d1", 1)])
    list(rows)
    with pytest.raises(InputError, match="qrels: expected rows, found an iterator without any; it may have been read"):
        evaluate(rows, {"a": {"1": {"d1": 1.0}}}, ["P@1"])
    for runs in (iter([]), {"a": iter([])}):
        with pytest.raises(InputError, match="may have been read before"):
            evaluate([("1", "d1", 1)], runs, ["P@1"])
    (tmp_path / "a.run").write_text("t3 Q0 d2 1 3 r\n")
    (tmp_path / "t.tsv").write_text("t3\ta\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(topics=tmp_path / "t.tsv", runs=iter([tmp_path / "a.run"]))
        assert [run.name for run in campaign.corpus.runs()] == ["r"]
