"""Records of PDF files, found by their names and first pages."""

import pytest

from collection.core.records import Document
from collection.documents.pdf_names import PdfIndex, PdfMatch

RECORDS = [
    Document("a", "Tai chi and falls in older people: a randomised trial", metadata={
        "doi": "10.1000/fall.1", "pmid": "12345678", "authors": ["Smith, Jane", "Doe, A"], "year": 2019}),
    Document("b", "Strength training prevents falls after stroke", metadata={
        "doi": "10.1000/fall.12", "authors": ["van der Berg J. A.", "Doe A"], "year": "2020"}),
    Document("c", "Reply to: Strength training prevents falls after stroke", metadata={
        "authors": ["Li Wu"], "year": 2021}),
    Document("d", "Falls", metadata={"authors": "Smith JM; Roe B", "year": "2015 Mar"}),
    Document("e", "Editorial", metadata={"authors": ["Smith J"], "year": 2015}),
    Document("f", "Rizatriptan", metadata={"authors": ["Garcia-Lopez, K"], "year": 2001}),
    Document("g", "Zolmitriptan", metadata={"authors": ["Ødegård, M"], "year": 2003}),
]  # fmt: skip
INDEX = PdfIndex(RECORDS)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("10.1000_fall.1.pdf", ("a", "DOI")),
        ("10.1000-fall.12 (1).PDF", ("b", "DOI")),
        ("12345678.pdf", ("a", "PMID")),
        ("PMID12345678_main.pdf", ("a", "PMID")),
        ("Smith 2019.pdf", ("a", "author and year")),
        ("van der Berg et al. - 2020.pdf", ("b", "author and year")),
        ("wu_2021.pdf", ("c", "author and year")),
        ("Wu2021b.pdf", ("c", "author and year")),
        ("Wu 2021.pdf", ("c", "author and year")),
        ("García-López 2001.pdf", ("f", "author and year")),
        ("Garci\u0301a-Lo\u0301pez 2001.pdf", ("f", "author and year")),
        ("GarciaLopez2001.pdf", ("f", "author and year")),
        ("Odegard 2003.pdf", ("g", "author and year")),
        ("Smith 2015.pdf", ("", "")),
        ("tai-chi-and-falls-in-older-people.pdf", ("a", "title")),
        ("Smith - 2019 - Tai chi and falls in older people a random.pdf", ("a", "title")),
        ("Doe 2020.pdf", ("", "")),
        ("1-s2.0-S014067360000001X-main.pdf", ("", "")),
        ("falls.pdf", ("", "")),
    ],
)
def test_names(name: str, found: tuple[str, str]) -> None:
    assert INDEX.find(name) == PdfMatch(*found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Journal of Falls 2020. doi:10.1000/fall.12 Some title", ("b", "DOI")),
        ("STRENGTH TRAINING\nPREVENTS FALLS AFTER STROKE\nJ. A. van der Berg", ("b", "title")),
        ("Letter. Reply to: Strength training prevents falls after stroke", ("c", "title")),
        ("x" * 7000 + " Strength training prevents falls after stroke", ("", "")),
        ("Falls. Editorial", ("", "")),
        ("", ("", "")),
    ],
)
def test_first_pages(text: str, found: tuple[str, str]) -> None:
    assert INDEX.find("scan0001.pdf", text) == PdfMatch(*found)


def test_the_name_comes_before_the_page_only_with_an_identifier() -> None:
    page = "Strength training prevents falls after stroke"
    assert INDEX.find("10.1000_fall.1.pdf", page).doc_id == "a"
    assert INDEX.find("Smith 2019.pdf", page).doc_id == "b"


def test_two_records_with_one_doi_are_no_match() -> None:
    twice = PdfIndex([*RECORDS, Document("h", "Other", metadata={"doi": "10.1000/fall.1"})])
    assert twice.find("10.1000_fall.1.pdf") == PdfMatch()
    assert PdfIndex([]).find("10.1000_fall.1.pdf", "text") == PdfMatch()
