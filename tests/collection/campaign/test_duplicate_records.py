"""Duplicates among bibliographic records, found when they are imported."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import rispy

from collection.campaign import Campaign
from collection.documents.duplicate_records import RecordIndex
from collection.errors import ConflictError
from tests.helpers import ok, run

NBIB = "PMID- 31234567\nTI  - Heat pumps in old houses.\nDP  - 2019 May\nAID - 10.5555/hp.1 [doi]\n"


def record(title: str, year: str = "2019", **more: object) -> dict[str, object]:
    return {"type_of_reference": "JOUR", "title": title, "year": year, **more}


def ris(path: Path, *records: dict[str, object]) -> Path:
    path.write_text(rispy.dumps(list(records)))
    return path


@pytest.fixture
def review(tmp_path: Path) -> Path:
    ok("new", tmp_path / "review", "--grades", "0-1")
    return tmp_path / "review"


PUBLISHED: list[tuple[dict[str, object], str | None]] = [
    ({"doi": "https://doi.org/10.5555/HP.1"}, "DOI"),
    ({"pmid": 31234567}, "PMID"),
    ({"title": "Heat Pumps -- in old houses.", "year": "2019/05"}, "title and year"),
    ({"title": "Heat pumps in old houses", "year": 2019, "pmid": "31234567"}, "PMID"),
    ({"title": "Heat pumps in old houses", "year": 2018}, None),
    ({"title": "Heat pumps in old houses", "year": 2019, "doi": "10.5555/other"}, None),
    ({"title": "Heat pumps in old houses", "year": 2019, "pmid": "1"}, None),
    ({"title": "Heat pumps in old houses"}, None),
    ({"title": "", "year": 2019}, None),
    ({"title": "...", "year": 2019}, None),
]


@pytest.mark.parametrize(("found", "reason"), PUBLISHED)
def test_what_makes_a_duplicate(found: dict[str, object], reason: str | None) -> None:
    index = RecordIndex()
    index.add("a", "Heat pumps in old houses", {"year": 2019, "doi": "10.5555/hp.1", "pmid": "31234567"})
    index.add("b", "", {"year": 2019})
    index.add("c", "???", {"year": 2019})
    match = index.find(str(found.get("title", "")), found)
    assert (match and (match.doc_id, match.reason)) == (reason and ("a", reason))


def test_records_of_several_files_are_imported_once(review: Path, tmp_path: Path) -> None:
    first = ris(
        tmp_path / "embase.ris",
        record("Heat pumps in old houses", doi="10.5555/hp.1", abstract="Ten houses."),
        record("Cellars", doi="10.5555/c"),
        record("Heat pumps, in old houses!"),
    )
    (tmp_path / "pubmed.nbib").write_text(NBIB)
    result = ok("import", review, "--documents", first, "--documents", tmp_path / "pubmed.nbib")
    assert f"{first}: 2 documents (2 new)" in result
    assert "pubmed.nbib: 0 documents (0 new)" in result
    listed = tmp_path / "duplicates.csv"
    again = ["import", review, "--documents", first, "--documents", tmp_path / "pubmed.nbib", "--duplicates", listed]
    assert f"{first}: 2 documents (0 new, 2 unchanged)" in ok(*again)
    with listed.open() as file:
        rows = [(row["line"], row["duplicate_of"], row["reason"], row["left_out"]) for row in csv.DictReader(file)]
    assert rows == [
        ("17", "10.5555/hp.1", "title and year", "True"),
        ("1", "10.5555/hp.1", "DOI", "True"),
    ]


def test_the_notice_counts_duplicates_and_names_the_first(review: Path, tmp_path: Path) -> None:
    path = ris(tmp_path / "a.ris", record("Wings"), *(record("Wings") for _ in range(5)))
    with Campaign(review) as campaign:
        report = campaign.importer.import_files(documents=[path])
    (notice,) = report.notices[:1]
    assert notice.startswith(
        f"{path}: 5 duplicate records were left out (5 by title and year): line 8 (Wings) duplicates r"
    )
    assert notice.endswith("; 2 more. `cleverdon import` lists them with --duplicates FILE")
    assert len(report.duplicates) == 5


def test_a_chain_of_records_is_one_publication(review: Path, tmp_path: Path) -> None:
    """The first and the third record match only the second one, which is left out."""
    link = "https://pubmed.ncbi.nlm.nih.gov/7/"
    path = ris(
        tmp_path / "a.ris",
        record("Wings", doi="10.5555/w"),
        record("Lift", doi="10.5555/w", urls=[link]),
        record("Drag", urls=[link]),
    )
    with Campaign(review) as campaign:
        report = campaign.importer.import_files(documents=[path])
        assert [(d.title, d.duplicate_of, d.reason) for d in report.duplicates] == [
            ("Lift", "10.5555/w", "DOI"), ("Drag", "10.5555/w", "PMID")
        ]  # fmt: skip


def test_a_record_that_changed_is_a_duplicate_unless_it_replaces(review: Path, tmp_path: Path) -> None:
    ris(
        tmp_path / "a.ris",
        record("Wings", doi="10.5555/w", abstract="Old."),
        record("No year", year="", abstract="Old."),
    )
    ok("import", review, "--documents", tmp_path / "a.ris")
    ris(
        tmp_path / "a.ris",
        record("Wings", doi="10.5555/w", abstract="New."),
        record("No year", year="", abstract="New."),
    )
    with Campaign(review) as campaign:
        report = campaign.importer.import_files(documents=[tmp_path / "a.ris"])
        assert [(d.title, d.reason) for d in report.duplicates] == [("Wings", "DOI"), ("No year", "title")]
        report = campaign.importer.import_files(documents=[tmp_path / "a.ris"], replace=True)
        assert not report.duplicates
        assert campaign.corpus.documents(["10.5555/w"])["10.5555/w"].text == "New."


def test_documents_with_their_own_ids_are_imported(review: Path, tmp_path: Path) -> None:
    """Runs and qrels may name each of them."""
    path = tmp_path / "a.csv"
    path.write_text("doc_id,title,year,doi\nd1,Wings,2019,10.5555/w\nd2,Wings,2019,10.5555/W\nd3,Lift,2019,10.5555/l\n")
    with Campaign(review) as campaign:
        report = campaign.importer.import_files(documents=[path])
        assert campaign.progress.counts()["documents"] == 3
        assert [(d.doc_id, d.duplicate_of, d.left_out) for d in report.duplicates] == [("d2", "d1", False)]
        assert re.search(
            "1 duplicate record was imported, because documents with their own ids are never", report.notices[0]
        )
        path.write_text("doc_id,title,year,doi\nd1,Wings,2019,10.5555/other\n")
        with pytest.raises(ConflictError, match="use --replace"):
            campaign.importer.import_files(documents=[path])


def test_a_list_with_an_unknown_ending_is_refused(review: Path, tmp_path: Path) -> None:
    path = ris(tmp_path / "a.ris", record("Wings"))
    refused = run("import", review, "--documents", path, "--duplicates", tmp_path / "d.txt")
    assert (refused.exit_code, "expected FILE.csv or FILE.jsonl, found" in refused.stderr) == (2, True)
    with Campaign(review) as campaign:
        assert campaign.progress.counts()["documents"] == 0
