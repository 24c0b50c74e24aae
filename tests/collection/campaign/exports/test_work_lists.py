"""Work lists: pairs that an annotator judges in a spreadsheet."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from collection.campaign import Campaign
from collection.core.errors import FormatError, InputError, UnknownNameError
from collection.core.records import Document, Topic
from tests.helpers import Clock, fill, ok, put, run

Rows = list[dict[str, Any]]


def build(folder: Path) -> Campaign:
    campaign = Campaign.create(folder / "campaign", grades="0-1")
    fill(campaign, ["1", "2"], ["d1", "d2", "d3", "d4"])
    for name in ("ann", "ben"):
        campaign.people.accounts.add(name, "annotator")
    return campaign


@pytest.fixture
def campaign(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def rows_of(path: Path) -> Rows:
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def save(path: Path, rows: Rows, separator: str = ",") -> Path:
    """Write the rows as a spreadsheet saves them."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
            writer.writeheader()
            writer.writerows(rows)
    else:
        book = openpyxl.load_workbook(path)
        for number, row in enumerate(rows, start=2):
            for place, value in enumerate(row.values(), start=1):
                book.active.cell(number, place).value = value
        book.save(path)
    return path


@pytest.mark.parametrize("form", [".csv", ".xlsx"])
def test_a_work_list_is_exported_and_imported(campaign: Campaign, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"ann{form}"
    assert ok("export", campaign.directory, "--worklist", "ann", path, "--pairs", 5) == f"{path}: 5 lines\n"
    rows = rows_of(path)
    assert [(row["query_id"], row["doc_id"]) for row in rows] == [
        ("1", "d1"), ("1", "d2"), ("1", "d3"), ("1", "d4"), ("2", "d1")
    ]  # fmt: skip
    assert rows[0] == {
        "work_list": campaign.id, "annotator": "ann", "query_id": "1", "topic": "topic 1", "doc_id": "d1",
        "title": "" if form == ".csv" else None, "text": "text of d1", "relevance": "" if form == ".csv" else None,
        "grades": "0: Not relevant: does not help with the topic\n1: Relevant: helps with the topic, fully or in part",
    }  # fmt: skip
    for row, grade in zip(rows, [1, "0", "relevant", None, 1.0], strict=True):
        row["relevance"] = grade
    said = ok("import", campaign.directory, "--labels", save(path, rows))
    assert f"{path}: 4 judgements from a work list by 1 annotator (4 new)" in said
    log = campaign.store.judgements.table()
    assert log[["annotator", "query_id", "doc_id", "relevance", "source"]].values.tolist() == [
        ["ann", "1", "d1", 1, "work list"], ["ann", "1", "d2", 0, "work list"],
        ["ann", "1", "d3", 1, "work list"], ["ann", "2", "d1", 1, "work list"],
    ]  # fmt: skip
    again = campaign.imports.import_files(labels=path)
    assert again.done == [f"{path}: 4 judgements from a work list by 1 annotator (0 new, 4 unchanged)"]
    assert again.notices == [f"{path}: 1 row has no grade yet"]


def test_pairs_are_handed_out_to_one_annotator_only(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    lists = campaign.exports.work_lists
    assert lists.write("ann", tmp_path / "ann.csv", 3) == 3
    clock.passes(6 * 24 * 3600)
    assert lists.write("ben", tmp_path / "ben.csv") == 5
    held = {name: {(r["query_id"], r["doc_id"]) for r in rows_of(tmp_path / f"{name}.csv")} for name in ("ann", "ben")}
    assert not held["ann"] & held["ben"]
    # The same list again, until its pairs are free for others; it still counts if nobody judged them meanwhile.
    assert lists.write("ann", tmp_path / "again.csv", 3) == 3
    assert rows_of(tmp_path / "again.csv") == rows_of(tmp_path / "ann.csv")
    clock.passes(30 * 24 * 3600)
    campaign.judging.judge("ben", "1", "d1", relevance=0)
    rows = [{**row, "relevance": 1} for row in rows_of(tmp_path / "ann.csv")]
    report = campaign.imports.import_files(labels=save(tmp_path / "ann.csv", rows))
    assert report.notices == [f"{tmp_path}/ann.csv: 1 judgement is surplus: others judged its pair in the meantime"]
    assert lists.write("ann", tmp_path / "next.csv") == 5
    assert lists.write("ben", tmp_path / "none.csv") == 0


def second_line(path: Path) -> int:
    """The line in which the second row of a CSV file begins."""
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        next(rows)
        return rows.line_num + 1


NOT_ASSIGNED = "a pair that is assigned to {!r}, found topic '1', document {!r}"
NUMBER_OR_NAME = "a number as grade or its name (0 = 'not relevant', 1 = 'relevant')"
CHANGES: dict[str, tuple[Callable[[Rows], object], str]] = {
    "another pair": (lambda rows: rows[1].update(doc_id="d4"), NOT_ASSIGNED.format("ann", "d4")),
    "an unknown document": (lambda rows: rows[1].update(doc_id="d9"), NOT_ASSIGNED.format("ann", "d9")),
    "somebody else": (lambda rows: rows[1].update(annotator="ben"), NOT_ASSIGNED.format("ben", "d2")),
    "another campaign": (lambda rows: rows[1].update(work_list="0"), "a work list of this campaign"),
    "a grade outside the scale": (lambda rows: rows[1].update(relevance=2), "a grade of this campaign (0, 1), found 2"),
    "a word": (lambda rows: rows[1].update(relevance="yes"), f"{NUMBER_OR_NAME}, found 'yes'"),
    "a pair twice": (lambda rows: rows[1].update(doc_id="d1"), "each pair once, found topic '1', document 'd1' again"),
    "no id": (lambda rows: rows[1].update(doc_id=""), "an id without blanks, found ''"),
}  # fmt: skip


@pytest.mark.parametrize("form", [".csv", ".xlsx"])
@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.long
def test_rows_that_are_not_assigned_are_refused(campaign: Campaign, tmp_path: Path, case: str, form: str) -> None:
    path, (change, said) = tmp_path / f"ann{form}", CHANGES[case]
    campaign.exports.work_lists.write("ann", path, 2)
    rows = [{**row, "relevance": 1} for row in rows_of(path)]
    change(rows)
    with pytest.raises(FormatError) as caught:
        campaign.imports.import_files(labels=save(path, rows))
    # In a CSV file a row takes several lines, since the meaning of the grades does.
    place = "row 3" if form == ".xlsx" else f"line {second_line(path)}"
    assert str(caught.value).startswith(f"{path}, {place}: expected {said}")
    assert campaign.store.judgements.table().empty


def test_a_grade_that_changed(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "ann.xlsx"
    campaign.exports.work_lists.write("ann", path, 1)
    rows = rows_of(path)
    for grade in (1, 0):
        rows[0]["relevance"] = grade
        save(path, rows)
        if grade:
            campaign.imports.import_files(labels=path)
    with pytest.raises(
        FormatError, match=r"row 2: expected 1, the grade of 'ann' in the campaign, found 0; use --replace"
    ):
        campaign.imports.import_files(labels=path)
    assert "1 changed" in campaign.imports.import_files(labels=path, replace=True).done[0]


def test_csv_with_semicolons(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    campaign.exports.work_lists.write("ann", path, 2)
    rows = [{**row, "relevance": 1, "text": "a; b, c"} for row in rows_of(path)]
    assert "2 new" in campaign.imports.import_files(labels=save(path, rows, ";")).done[0]


@pytest.mark.parametrize("form", [".csv", ".xlsx"])
def test_texts_that_a_spreadsheet_would_compute(campaign: Campaign, tmp_path: Path, form: str) -> None:
    text = '=HYPERLINK("https://evil.example","x")\x07'
    put(campaign, documents=[Document("d1", "+1", text + "y" * 40_000)])
    path = tmp_path / f"ann{form}"
    campaign.exports.work_lists.write("ann", path, 1)
    if form == ".csv":
        (row,) = rows_of(path)
        assert row["title"] == "'+1"
        assert row["text"].startswith("'=HYPERLINK")
    else:
        cell = openpyxl.load_workbook(path).active["G2"]
        assert (cell.data_type, cell.quotePrefix, len(cell.value)) == ("s", True, 32_767)
        assert cell.value.startswith('=HYPERLINK("https://evil.example","x")\ufffd')


@pytest.mark.parametrize("form", [".csv", ".xlsx"])
def test_bibliographic_metadata_has_columns(campaign: Campaign, tmp_path: Path, form: str) -> None:
    """Columns that are empty in all rows are left out."""
    about = {"authors": ["Keller, Anna", "Brandt, Jonas"], "year": 2019, "doi": "10.5555/hp.1", "url": "", "pmid": "3"}
    put(campaign, documents=[Document("d1", "Heat pumps", "Ten.", about)])
    path = tmp_path / f"ann{form}"
    campaign.exports.work_lists.write("ann", path, 2)
    first, second = rows_of(path)
    assert list(first)[5:10] == ["title", "authors", "year", "doi", "text"]
    assert [first[name] for name in ("authors", "year", "doi")] == [
        "Keller, Anna; Brandt, Jonas",
        "2019",
        "10.5555/hp.1",
    ]
    assert not second["authors"]
    first["relevance"] = second["relevance"] = 1
    assert "2 new" in campaign.imports.import_files(labels=save(path, [first, second])).done[0]


def test_the_sheet_refuses_what_is_no_grade(campaign: Campaign, tmp_path: Path) -> None:
    campaign.exports.work_lists.write("ann", tmp_path / "ann.xlsx", 2)
    (choice,) = openpyxl.load_workbook(tmp_path / "ann.xlsx").active.data_validations.dataValidation
    assert (choice.showErrorMessage, choice.error) == (True, "Choose one of the grades 0, 1.")
    assert (choice.formula1, str(choice.sqref)) == ('"0,1"', "H2:H3")


def test_in_the_loop(campaign: Campaign, tmp_path: Path) -> None:
    campaign.settings.set_loop(mode="loop")
    assert campaign.exports.work_lists.write("ann", tmp_path / "ann.csv", 4) == 4
    rows = [{**row, "relevance": 1} for row in rows_of(tmp_path / "ann.csv")]
    assert "4 new" in campaign.imports.import_files(labels=save(tmp_path / "ann.csv", rows)).done[0]


def test_refusals(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown annotator 'anne'; did you mean 'ann'"):
        campaign.exports.work_lists.write("anne", tmp_path / "anne.csv")
    refused = run("export", campaign.directory, "--worklist", "Zoe B", tmp_path / "zoe.csv")
    assert f"or invite the person first: `cleverdon people {campaign.directory} --invite 'Zoe B'`\n" in refused.stderr
    assert refused.stderr.endswith("See `cleverdon docs how-to/import-files`.\n")
    with pytest.raises(InputError, match=r"ann\.txt: expected a name that ends in \.csv or \.xlsx for work lists"):
        campaign.exports.work_lists.write("ann", tmp_path / "ann.txt")
    assert campaign.store.queue.held_pairs("ann", 0) == []
    with pytest.raises(InputError, match="belongs to the campaign"):
        campaign.exports.work_lists.write("ann", campaign.directory / "campaign.db")
    campaign.settings.set_judging_page(task="list")
    with pytest.raises(InputError, match="expected a campaign that judges by grades, found the task 'list'"):
        campaign.exports.work_lists.write("ann", tmp_path / "ann.csv")
    refused = run("export", campaign.directory, "--worklist", "ann")
    assert (refused.exit_code, "--worklist" in refused.stderr) == (2, True)
    refused = run("export", campaign.directory, "--qrels", tmp_path / "qrels.txt", "--pairs", 5)
    assert (refused.exit_code, "expected --worklist ANNOTATOR FILE too" in refused.stderr) == (2, True)


def test_a_work_list_has_the_turns_before_the_question(campaign: Campaign, tmp_path: Path) -> None:
    turns = [{"speaker": "user", "text": "What is lift?"}, {"speaker": "system", "text": "A force."}]
    put(campaign, topics=[Topic("1", "And drag?", fields={"history": turns, "stance": "pro"})])
    ok("export", campaign.directory, "--worklist", "ann", tmp_path / "ann.csv", "--pairs", 1)
    (row,) = rows_of(tmp_path / "ann.csv")
    assert row["topic"] == "And drag?\nhistory:\nuser: What is lift?\nsystem: A force.\nstance: pro"
