"""Bibliographic records: RIS, PubMed's tagged format, EndNote XML, and tables without ids."""

import csv
import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import rispy

from annotate.card.server.document_payload import document_payloads
from collection import formats, read_documents
from collection.campaign import Campaign
from collection.core.errors import FormatError
from collection.core.records import Document, find_dois
from collection.formats import endnote, kinds

RECORDS: list[dict[str, Any]] = [
    {
        "type_of_reference": "JOUR", "title": "Heat pumps in old houses: a field study",
        "authors": ["Keller, Anna", "Brandt, Jonas"], "year": "2019/05/12/", "doi": "10.5555/HP.2019.1",
        "secondary_title": "Journal of Home Energy", "abstract": "Ten houses.\n\nAir-source heat pumps.",
        "urls": ["https://example.org/hp?a=1;b=2"], "keywords": ["heat pump", "retrofit"],
    },
    {
        "type_of_reference": "JOUR", "primary_title": "Insulating cellar ceilings", "first_authors": ["Moser, Lea"],
        "publication_year": "2018", "notes_abstract": "Costs = savings; 50 %.", "urls": ["javascript:alert(1)"],
    },
    {"type_of_reference": "CONF", "title": "No link", "database_provider": "PubMed", "accession_number": "31234567"},
]  # fmt: skip

NBIB = """\

PMID- 31234567
OWN - NLM
STAT- MEDLINE
LR  - 20200101
DP  - 2019 May 12
TI  - Heat pumps in old houses: a field
      study.
LID - 10.5555/HP.2019.1 [doi]
AB  - BACKGROUND: Ten houses. RESULTS: Air-source heat pumps reach three
      - even with radiators.
FAU - Keller, Anna
AU  - Keller A
FAU - Brandt, Jonas
AU  - Brandt J
LA  - eng
PT  - Journal Article
TA  - J Home Energy
JT  - Journal of home energy
MH  - *Heating
MH  - Housing/standards
AID - S0000-0000(19)00001-1 [pii]
AID - 10.5555/HP.2019.1 [doi]
SO  - J Home Energy. 2019 May 12;3(2):1-9.

PMID- 31234568
TI  - [Cellar ceilings].
DP  - 2018
AU  - Moser L
"""

STYLE = '<style face="normal" font="default" size="100%">{}</style>'
ENDNOTE = (
    '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="hp.enl" path="/hp.enl">hp.enl'
    '</database><source-app name="EndNote" version="21.2">EndNote</source-app><rec-number>7</rec-number>'
    '<foreign-keys><key app="EN" db-id="x">7</key></foreign-keys><ref-type name="Journal Article">17</ref-type>'
    f"<contributors><authors><author>{STYLE.format('Keller, Anna')}</author>"
    f"<author>{STYLE.format('Brandt, Jonas')}</author></authors></contributors><titles><title>"
    f"{STYLE.format('Heat pumps in ')}{STYLE.format('old')}{STYLE.format(' houses &amp; flats')}</title>"
    f"<secondary-title>{STYLE.format('Journal of Home Energy')}</secondary-title></titles>"
    f"<periodical><full-title>{STYLE.format('Journal of Home Energy')}</full-title></periodical>"
    f"<keywords><keyword>{STYLE.format('heat pump')}</keyword></keywords>"
    f"<dates><year>{STYLE.format('2019')}</year><pub-dates><date>{STYLE.format('May 12')}</date></pub-dates></dates>"
    f"<accession-num>{STYLE.format('31234567')}</accession-num><abstract>{STYLE.format('Ten houses.')}</abstract>"
    f"<urls><related-urls><url>{STYLE.format('https://example.org/hp')}</url></related-urls></urls>"
    f"<electronic-resource-num>{STYLE.format('10.5555/hp.2019.1')}</electronic-resource-num>"
    f"<remote-database-provider>{STYLE.format('NLM')}</remote-database-provider></record>"
    f"<record><rec-number>8</rec-number><titles><title>{STYLE.format('Cellar ceilings')}</title></titles></record>"
    "</records></xml>"
)


def read(path: Path) -> list[Document]:
    return [document for _, document in formats.read_documents(path)]


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("name", ["a.ris", "a.txt", "a.ris.gz"])
def test_ris_as_rispy_writes_it(tmp_path: Path, name: str) -> None:
    path, text = tmp_path / name, rispy.dumps(RECORDS).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else b"\xef\xbb\xbf" + text)
    first, second, third = read(path)
    assert first == Document(
        "10.5555/hp.2019.1",
        "Heat pumps in old houses: a field study",
        "Ten houses. Air-source heat pumps.",
        {
            "authors": ["Keller, Anna", "Brandt, Jonas"], "year": 2019, "journal": "Journal of Home Energy",
            "doi": "10.5555/hp.2019.1", "keywords": ["heat pump", "retrofit"],
            "url": "https://example.org/hp?a=1;b=2",
        },
    )  # fmt: skip
    assert (second.title, second.text) == ("Insulating cellar ceilings", "Costs = savings; 50 %.")
    assert second.metadata == {"authors": ["Moser, Lea"], "year": 2018}  # without the address that runs a script
    assert third.doc_id == "31234567"
    assert third.metadata["url"] == "https://pubmed.ncbi.nlm.nih.gov/31234567/"
    assert all(isinstance(document, formats.Reference) for document in (first, second, third))


def test_the_published_form_of_pubmed(tmp_path: Path) -> None:
    first, second = read(written(tmp_path, "pubmed.txt", NBIB))
    assert first == Document(
        "31234567",
        "Heat pumps in old houses: a field study.",
        "BACKGROUND: Ten houses. RESULTS: Air-source heat pumps reach three - even with radiators.",
        {
            "authors": ["Keller, Anna", "Brandt, Jonas"], "year": 2019, "journal": "Journal of home energy",
            "doi": "10.5555/hp.2019.1", "pmid": "31234567", "keywords": ["Heating", "Housing/standards"],
            "language": "English",
            "url": "https://doi.org/10.5555/hp.2019.1",
        },
    )  # fmt: skip
    assert second == Document(
        "31234568",
        "[Cellar ceilings].",
        "",
        {
            "authors": ["Moser L"],
            "year": 2018,
            "pmid": "31234568",
            "url": "https://pubmed.ncbi.nlm.nih.gov/31234568/",
        },
    )


@pytest.mark.parametrize("piece", [7, 1 << 16])
def test_the_form_that_endnote_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    path = written(tmp_path, "library.xml", ENDNOTE)
    assert endnote.is_endnote(path)
    monkeypatch.setattr(endnote, "PIECE", piece)
    monkeypatch.setattr(endnote, "is_endnote", lambda path, in_one_line=False: True)
    first, second = read(path)
    assert first == Document(
        "10.5555/hp.2019.1",
        "Heat pumps in old houses & flats",
        "Ten houses.",
        {
            "authors": ["Keller, Anna", "Brandt, Jonas"], "year": 2019, "journal": "Journal of Home Energy",
            "doi": "10.5555/hp.2019.1", "pmid": "31234567", "keywords": ["heat pump"],
            "url": "https://example.org/hp",
        },
    )  # fmt: skip
    assert (second.doc_id[0], second.title, second.metadata) == ("r", "Cellar ceilings", {})


TABLE = [
    ["Authors", "Author(s) ID", "Title", "Year", "Source title", "DOI", "Link", "Abstract", "PubMed ID", "Included"],
    ["Keller A.; Brandt J.", "1; 2", "Heat pumps, old houses", 2019, "Home Energy", "10.5555/hp.2019.1",
     "https://example.org/hp", "Ten houses.", 31234567, 1],
    ["Moser L.", "3", "Heat pumps, old houses", 2020, "", "", "http:// no", "Others.", None, 0],
]  # fmt: skip


@pytest.mark.parametrize("form", [".csv", ".tsv", ".xlsx"])
def test_tables_without_ids(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"scopus{form}"
    if form == ".xlsx":
        book = openpyxl.Workbook()
        for row in TABLE:
            book.active.append(row)
        book.save(path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="\t" if form == ".tsv" else ",").writerows(TABLE)
    first, second = read(path)
    assert first == Document(
        "10.5555/hp.2019.1",
        "Heat pumps, old houses",
        "Ten houses.",
        {
            "authors": ["Keller A.", "Brandt J."], "year": 2019, "journal": "Home Energy",
            "doi": "10.5555/hp.2019.1", "pmid": "31234567", "url": "https://example.org/hp",
        },
    )  # fmt: skip
    # Neither earlier decisions nor a broken address get onto the card.
    assert second.metadata == {"authors": ["Moser L."], "year": 2020}


def test_a_table_with_ids_keeps_its_fields(tmp_path: Path) -> None:
    (document,) = read(written(tmp_path, "a.csv", "doc_id,title,abstract,doi,team\nd1,Wings,Flow,10.5555/X,red\n"))
    assert document == Document("d1", "Wings", "Flow", {"doi": "10.5555/X", "team": "red"})
    assert not isinstance(document, formats.Reference)


def test_ids_are_the_same_in_every_form_and_each_once(tmp_path: Path) -> None:
    record = {"type_of_reference": "JOUR", "title": "Heat pumps, old houses", "year": "2020"}
    ris = written(tmp_path, "a.ris", rispy.dumps([record, {**record, "title": "Heat Pumps: Old Houses"}]))
    one, other = read_documents(ris)["doc_id"]
    assert other == f"{one}-2"
    assert [
        d.doc_id for d in read(written(tmp_path, "a.csv", "title,year,abstract\nHeat pumps old houses,2020,\n"))
    ] == [one]


RIS = "TY  - JOUR\nTI  - Wings\nER  - \n"
BAD: dict[str, tuple[str, str, int | None, str]] = {
    "no end before the next, the type later": (
        "a.ris", f"DB  - WoS\n{RIS[:-7]}DB  - WoS\n{RIS}", 5, "'ER  - ' at the end of the record in line 1"
    ),
    "an HTML page": ("a.csv", "<!DOCTYPE html>\n<p>Not found", 1, "expected documents, found an HTML page; it may be"),
    "no BibTeX entry": ("a.bib", "@comment{x}\n", None, "a BibTeX entry such as '@article{key"),
    "a broken BibTeX entry": ("a.bib", "\n@article{a, title={Wings\n", 2, "a BibTeX entry such as '@article{key"),
    "a run named ris": ("a.ris", "1 Q0 d1 1 2 t\n", 1, "documents, found a file that looks like a run"),
    "no PMID": ("a.nbib", "TI  - Wings\n", 1, "a PubMed record, which begins with 'PMID- '"),
    "a PMID that is none": ("a.nbib", "PMID- abc\nTI  - Wings\n", 1, "a PMID, which is a number"),
    "no field": ("a.nbib", "PMID- 1\nwings\n", 2, "a field such as 'TI  - title', found 'wings'"),
    "XML cut off": ("a.xml", ENDNOTE[:-9], 1, "well-formed XML in UTF-8, found unclosed token"),
    "XML of something else": ("a.xml", "<records>\n</records>", None, "EndNote XML without a record"),
    "an entity": ("a.xml", "<!DOCTYPE xml [\n<!ENTITY a 'b'>]><xml><record/></xml>", 2, "XML without entity"),
    "unknown markup": ("a.xml", "<PubmedArticleSet>\n</PubmedArticleSet>", 1, "documents as JSONL, TSV, CSV"),
    "Latin-1": ("a.xml", "<xml><record><title>\udce9</title></record></xml>", 1, "expected UTF-8, found byte 0xE9"),
    "an empty id": ("a.csv", "id,Title,Abstract\n,Wings,x\n", 2, "found no id in 'id'; fill it in; bibliographic rec"),
    "a column twice": ("a.csv", "Title,Abstract,DOI,DOI\nA,x,,\n", 1, "found 'doi' twice; rename one of the two"),
    "a table with neither id nor abstract": ("a.csv", "title,text\nWings,Flow\n", 1, "a header with an id"),
    "an unknown header, semicolons": (
        "a.csv", "Kopf;Rumpf;Fuß\na;b;c\n", 1,
        "found the columns 'Kopf, Rumpf, Fuß'; rename the columns in the first line; references need no id, but",
    ),
    "an unknown header, bars": ("a.csv", "Kopf|Rumpf|Fuß\na|b|c\n", 1, "found the columns 'Kopf, Rumpf, Fuß'"),
    "an unknown header, tabs": (
        "a.tsv", "Kopf\tRumpf\nd7\tWings lift more in dry air\n", 1, "found the columns 'Kopf, Rumpf'"
    ),
    "a known header without an id, tabs": ("a.tsv", "Titel\tJahr\nWings\t2020\n", 1, "found the columns 'Titel, Jahr'"),
    "an unknown header of Excel": ("a.csv", "sep=;\nKopf;Rumpf\na;b\n", 2, "found the columns 'Kopf, Rumpf'"),
}  # fmt: skip


EXPORTS = Path(__file__).parent / "exports"
OVID, CIW, ENW, BIB = ((EXPORTS / name).read_text() for name in ("ovid.ris", "wos.ciw", "refer.enw", "bibtex.bib"))
COCHRANE = (EXPORTS / "cochrane.txt").read_text()
IN_OVID = [("Attic losses", "Background: Attics are RCT - based and ER-type buildings."), ("Cellars", "")]
IN_BIB = [
    ("Attic losses in München & CO2", "Attics lose heat @ 50% in all houses."), ("No key", ""), ("Cellars", ""),
    ("Last", ""),
]  # fmt: skip
IN_CIW = [("Attic losses", "Attics lose heat."), ("Cellars", "")]
TYPE_LATER = "DB  - WoS\nTI  - Attic losses\nAB  - Attics\nlose heat.\nTY  - JOUR\nAU  - Berg\nER  -\n"
ONE_BLANK = "TY - JOUR\nTI - Attic losses\nAB - Heat.\nER -\n"
FORMS: dict[str, tuple[str, str, list[tuple[str, str]], str]] = {
    "Ovid": ("a.ris", OVID, IN_OVID, "5 lines of text between the RIS records"),
    "Ovid, named txt": ("a.txt", OVID, IN_OVID, "5 lines of text between the RIS records"),
    "Cochrane": ("a.txt", COCHRANE, [("Attic losses", "Attics lose heat.")], "2 lines of text between"),
    "the type later": ("a.ris", TYPE_LATER, [("Attic losses", "Attics lose heat.")], ""),
    "no type": (
        "a.ris", "TI  - Attic losses\nAB  - Heat.\nER  -\n\nTI  - Cellars\nER  -\n",
        [("Attic losses", "Heat."), ("Cellars", "")], "",
    ),
    "one blank before the hyphen": ("a.ris", ONE_BLANK, [("Attic losses", "Heat.")], ""),
    "no blank after the hyphen": ("a.ris", "TY  -JOUR\nTI  -Attic losses\nER  -", [("Attic losses", "")], ""),
    "a text between": (
        "a.ris", "TY  - JOUR\nTI  - A\nER  - \nWings\nTY  - JOUR\nTI  - B\nER  - \n", [("A", ""), ("B", "")],
        "1 line of text between the RIS records, such as headings, belongs to no record",
    ),
    "no end": (
        "a.ris", f"{RIS}{RIS[:-8]}", [("Wings", ""), ("Wings", "")],
        "1 record has no 'ER  - ' at the end, the first in line 4, and the file may have been cut",
    ),
    "no end before the next": (
        "a.ris", f"{RIS[:-7]}\n{RIS[:-7]}{RIS}", [("Wings", "")] * 3,
        "2 records have no 'ER  - ' at the end, the first in line 1",
    ),
    "no end in Web of Science": (
        "a.ciw", "FN Clarivate\nVR 1.0\nPT J\nTI Wings\nPT J\nTI Tails\nER\nEF\n", [("Wings", ""), ("Tails", "")],
        "1 record has no 'ER' at the end, the first in line 3",
    ),
    "unknown tags": ("a.ris", "TY  - JOUR\nUK  - a\nZZ  - b\nTI  - A\nER  - \n", [("A", "")], ""),
    "Web of Science": ("a.ciw", CIW, IN_CIW, ""),
    "Web of Science, named txt": ("savedrecs.txt", CIW, IN_CIW, ""),
    "Refer": ("a.enw", ENW, IN_CIW, ""),
    "Refer without types": ("a.enw", "%T A\n%A Berg\n\n%T B\n", [("A", ""), ("B", "")], ""),
    "BibTeX": (
        "a.bib", BIB, IN_BIB,
        "skipped 1 BibTeX entry that is broken, the first in line 13; left out 'title' of 1 record with another title",
    ),
    "BibTeX, named txt": ("a.txt", "@article{a, title={Wings}}", [("Wings", "")], ""),
}  # fmt: skip


@pytest.mark.parametrize("case", FORMS)
def test_forms_of_databases(tmp_path: Path, case: str) -> None:
    """Every record is read; text outside of records is skipped and counted."""
    name, text, records, said = FORMS[case]
    path = tmp_path / name
    path.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(path)
    assert [(document.title, document.text) for document in found] == records
    notes = [str(warning.message).partition(": ")[2] for warning in caught]
    wanted = said.split("; ") if said else []
    assert [note[: len(start)] for note, start in zip(notes, wanted, strict=True)] == wanted
    assert all(isinstance(document, formats.Reference) for document in found)


def test_the_fields_of_web_of_science_refer_and_bibtex(tmp_path: Path) -> None:
    common = {"authors": ["Berg, Tor", "Lund, Kim"], "year": 2020, "pages": "12-19", "doi": "10.5555/att.1"}
    url = {"url": "https://doi.org/10.5555/att.1"}
    first = read(written(tmp_path, "a.ciw", CIW))[0]
    assert first.metadata == common | url | {"journal": "COLD", "pmid": "31234567"}
    assert read(written(tmp_path, "a.enw", ENW))[0].metadata == common | url | {"journal": "Cold"}
    with pytest.warns(UserWarning, match="broken"):
        first, second, *_ = read(written(tmp_path, "a.bib", BIB))
    assert first.metadata == {
        "authors": ["Berg, Tor", "Müller, Jérôme", "Heat and Cold Society"], "year": 2020, "pages": "12-19",
        "journal": "Journal of Cold Houses", "doi": "10.5555/att_1", "keywords": ["attic", "roof"],
        "url": "https://doi.org/10.5555/att_1",
    }  # fmt: skip
    assert second.metadata == {"journal": "Proc. of Heat", "year": 2019}


def test_fields_as_ovid_endnote_rayyan_and_embase_write_them(tmp_path: Path) -> None:
    ris = (
        "TY  - JOUR\nTI  - A\nKW  - Heat\nHouses/*economics\n*Attic\nSP  - No\nEP  - Specified\nER  -\nNL  - Cold\n\n"
        "Link\n"
    )
    with pytest.warns(UserWarning, match="2 lines of text between the RIS records"):
        assert read(written(tmp_path, "a.ris", ris))[0].metadata == {"keywords": ["Heat", "Houses/economics", "Attic"]}
    table = (
        'Title,Author Names,Source,Abstract\nA,"Liu R., Adler D.G.",Cold Houses (2014) 3:3 (152-160). Date: 2014,Heat\n'
    )
    assert read(written(tmp_path, "a.csv", table))[0].metadata == {
        "authors": ["Liu R.", "Adler D.G."], "year": 2014, "journal": "Cold Houses",
        "pages": "152-160",
    }  # fmt: skip
    table = "title,abstract,authors,keywords\nA,B,\"['Marx, Karl', 'Berg, T.']\",\"['x', 'y']\"\n"
    assert read(written(tmp_path, "b.csv", table))[0].metadata == {
        "authors": ["Marx, Karl", "Berg, T."], "keywords": ["x", "y"]
    }  # fmt: skip
    scopus = "Scopus\nEXPORT DATE: 1 May\n\n@ARTICLE{B, title = {A}, url = {http://x.org/a{\\_}b}}\n"
    with pytest.warns(
        UserWarning, match="2 lines of text between the BibTeX entries, such as comments, belong to no record"
    ):
        assert read(written(tmp_path, "a.bib", scopus))[0].metadata == {"url": "http://x.org/a_b"}
    refer = "%T A\n%0 Journal Article\n%X One.\n\nTwo.\n%U http://x.org\n\n\n%T B\n%0 Journal Article\n"
    assert [(d.title, d.text) for d in read(written(tmp_path, "a.enl", refer))] == [("A", "One. Two."), ("B", "")]


def test_embase_has_medlines_number_in_a_field_of_its_own(tmp_path: Path) -> None:
    text = "TY  - JOUR\nT1  - Attic losses\nDB  - Embase\nDB  - Medline\nAN  - L2001\nC5  - 31234567\nER  - \n"
    assert read(written(tmp_path, "a.ris", text))[0].metadata["pmid"] == "31234567"


TABLES = sorted((EXPORTS / "tables").iterdir())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", TABLES, ids=[path.stem for path in TABLES])
def test_tables_of_databases_and_reference_managers(path: Path) -> None:
    """The columns as Zotero, Covidence, Scopus and others name them, with other separators, and in other languages."""
    (document,) = read(path)
    assert (document.doc_id, document.title, document.text) == ("10.5555/att.1", "Attic losses", "Attics lose heat.")
    found = {**document.metadata}
    assert found.pop("url") in ("http://x.example/1", "https://doi.org/10.5555/att.1")
    assert found.pop("keywords", ["attic", "roof"])[:2] == ["attic", "roof"]
    assert found.pop("language", "English") == "English"
    assert found == {
        "authors": ["Berg, Tor", "Lund, Kim"], "year": 2020, "journal": "Cold", "pages": "12-19", "doi": "10.5555/att.1"
    }  # fmt: skip


def test_there_are_tables() -> None:
    assert len(TABLES) >= 15


def test_columns_that_are_not_understood_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "Title,Abstract,Volume,Screener,Reason\nWings,Flow,3,ann,x\n")
    with pytest.warns(UserWarning, match="kept 2 unknown columns without using them: Screener and Reason"):
        read(path)


def test_a_table_with_ids_and_a_header_in_german(tmp_path: Path) -> None:
    (document,) = read(written(tmp_path, "a.csv", "ID;Titel;Zusammenfassung;Jahr\nd1;Wings;Flow;2020\n"))
    assert document == Document("d1", "Wings", "Flow", {"jahr": "2020"})


def test_identical_repetitions_are_dropped_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "doc_id,text\nd1,Wings\nd2,Lift\nd1,Wings\nd1,Wings\n")
    with pytest.warns(UserWarning, match="dropped 2 identical repetitions of documents"):
        assert [document.doc_id for document in read(path)] == ["d1", "d2"]
    with pytest.raises(FormatError, match="each document once, found document 'd1' again"):
        read(written(tmp_path, "b.csv", "doc_id,text\nd1,Wings\nd1,Lift\n"))


CLEAN: list[tuple[str, str, str, str]] = [
    ("<i>In vitro</i> losses of CO<sub>2</sub>", "<jats:p>Heat &amp; cold, p&lt;0.05.</jats:p>",
     "In vitro losses of CO2", "Heat & cold, p<0.05."),
    ("&lt;b&gt;Roofs&lt;/b&gt; &amp;amp; attics", "if a<b and c>d; see <https://example.org>",
     "Roofs & attics", "if a<b and c>d; see <https://example.org>"),
    ("[Not Available].", "No abstract available", "", ""),
    ("Title not available", "[No Abstract Available]", "", ""),
    ("R&D &copy 2020", "n/a", "R&D &copy 2020", ""),
]  # fmt: skip


@pytest.mark.parametrize(("title", "abstract", "shown", "text"), CLEAN)
def test_markup_and_words_for_nothing(tmp_path: Path, title: str, abstract: str, shown: str, text: str) -> None:
    document = read(
        written(tmp_path, "a.ris", f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\nDO  - 10.5555/a\nER  - \n")
    )[0]
    assert (document.title, document.text) == (shown, text)


def test_the_title_in_its_own_language_where_pubmed_has_no_other(tmp_path: Path) -> None:
    text = "PMID- 7\nTI  - [Not Available].\nTT  - Dachverluste.\n"
    assert read(written(tmp_path, "a.nbib", text))[0].title == "Dachverluste."


SICI = "10.1002/(SICI)1097-0142(19960801)78:3<356::AID-CNCR1>3.0.CO;2-X"
DOIS = {
    "https://doi.org/10.5555%2FAtt.1": ["10.5555/att.1"],
    "http://dx.doi.org/10.5555/att.1/": ["10.5555/att.1"],
    "10.5555/att.1 [doi]": ["10.5555/att.1"],
    "10.5555/att.1; 10.5555/att.2": ["10.5555/att.1", "10.5555/att.2"],
    "10.5555/att.1;10.5555/att.2": ["10.5555/att.1", "10.5555/att.2"],
    "https://press.example/doi/full/10.5555/att.1/abstract?login=true": ["10.5555/att.1"],
    SICI: [SICI.lower()],
    SICI.replace("<", "&lt;").replace(">", "&gt;"): [SICI.lower()],
    '<a href="https://doi.org/10.5555/att.1">10.5555/att.1</a>': ["10.5555/att.1"],
    "(10.5555/att(1)2).": ["10.5555/att(1)2"],
    "https://www.medrxiv.org/content/10.1101/2020.01.01.20001234v2.full.pdf": ["10.1101/2020.01.01.20001234"],
    "10.1101/123456v1; 10.1101/gr.7v2": ["10.1101/123456", "10.1101/gr.7v2"],
    "n/a": [], "-": [], "10.5555/": [],
}  # fmt: skip


@pytest.mark.parametrize("text", DOIS)
def test_dois_as_they_are_written(text: str) -> None:
    assert find_dois(text) == DOIS[text]


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_path_and_line(tmp_path: Path, case: str) -> None:
    name, text, line, said = BAD[case]
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError) as caught:
        read(path)
    assert caught.value.line == line
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:40] + b"\x99" + data[41:]])
def test_a_damaged_file_of_endnote(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "library.xml.gz"
    path.write_bytes(damage(gzip.compress(ENDNOTE.encode() * 1, mtime=0)))
    with pytest.raises(FormatError, match=r"library\.xml\.gz"):
        read(path)


@pytest.mark.parametrize(
    ("name", "begin", "more"),
    [("a.ris", "TY  - JOUR\n", "N1  - wings\n"), ("a.xml", "<xml><record><abstract>", "wings\n")],
)
def test_a_record_without_end_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, begin: str, more: str
) -> None:
    monkeypatch.setattr("collection.formats.source.LONGEST_LINE", 1 << 16)
    with pytest.raises(FormatError, match=r"line 1: expected at most 0 MiB in a record, found more"):
        read(written(tmp_path, name, begin + more * (1 << 14)))


def test_the_card_shows_authors_year_doi_and_link(tmp_path: Path) -> None:
    path = written(tmp_path, "a.ris", rispy.dumps(RECORDS))
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.imports.import_files(documents=[path])
        documents = campaign.store.corpus.documents(["10.5555/hp.2019.1"]).values()
        (payload,) = document_payloads(campaign, documents, None)
    assert payload["metadata"] == {
        "authors": ["Keller, Anna", "Brandt, Jonas"], "doi": "10.5555/hp.2019.1", "journal": "Journal of Home Energy",
        "keywords": ["heat pump", "retrofit"], "url": "https://example.org/hp?a=1;b=2", "year": 2019,
    }  # fmt: skip


def read_noting(path: Path) -> tuple[list[Document], list[str]]:
    """The documents of a file, and what its reader notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(path)
    return found, [str(warning.message).partition(": ")[2] for warning in caught]


WOS_HEADER = ("PT", "AU", "AF", "TI", "SO", "DE", "ID", "AB", "PY", "BP", "EP", "AR", "DI", "PM", "UT")
WOS_ROWS = (
    ("J", "Berg, T; Lund, K", "Berg, Tor; Lund, Kari", "Attic losses", "HEAT", "attic; roof", "COP",
     "Attics lose heat.", "2019", "1", "9", "", "10.5555/att.1", "12345678", "WOS:1"),
    ("J", "Berg, T", "", "Cellars", "HEAT", "", "ENERGY EFFICIENCY; COP", "", "2020", "", "", "106142", "", "",
     "WOS:2"),
    ("B", "Berg, T", "", "Walls", "COLD", "", "", "", "2021", "", "", "", "", "", "WOS:3"),
)  # fmt: skip


@pytest.mark.parametrize("form", ["utf-8", "utf-8-sig", "utf-16", "tabs at the end", "carriage returns", "csv", "xlsx"])
def test_web_of_science_as_a_table(tmp_path: Path, form: str) -> None:
    """``ID`` has keywords, no ids: rows with one word, several or none there are all records."""
    rows = [WOS_HEADER, *WOS_ROWS]
    text = "".join("\t".join(row) + "\n" for row in rows)
    path = tmp_path / {"csv": "wos.csv", "xlsx": "wos.xlsx"}.get(form, "savedrecs.txt")
    if form == "xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    elif form == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    elif form in ("tabs at the end", "carriage returns"):
        rest = text.replace("\n", "\t\n").replace("\t\n", "\n", 1)  # not in the header
        text = rest if form == "tabs at the end" else text.replace("\n", "\r")
        path.write_bytes(text.encode())
    else:
        path.write_bytes(text.encode(form))
    (first, second, third), notes = read_noting(path)
    assert first == Document(
        "10.5555/att.1", "Attic losses", "Attics lose heat.",
        {
            "authors": ["Berg, Tor", "Lund, Kari"], "year": 2019, "journal": "HEAT", "pages": "1-9",
            "doi": "10.5555/att.1", "pmid": "12345678", "keywords": ["attic", "roof", "COP"],
            "url": "https://doi.org/10.5555/att.1",
        },
    )  # fmt: skip
    assert second.metadata["keywords"] == ["ENERGY EFFICIENCY", "COP"]
    assert (second.metadata["pages"], third.title, third.metadata["journal"]) == ("106142", "Walls", "COLD")
    assert notes == []


@pytest.mark.parametrize(
    ("header", "cells", "keywords", "pages"),
    [
        ("Author Keywords,Index Keywords,Page start,Page end", "a; b,B; c,1,9", ["a", "b", "c"], "1-9"),  # Scopus
        ("Author Keywords,IEEE Terms,Mesh_Terms,Start Page,End Page", "a;b,c,d,1,9", ["a", "b", "d", "c"], "1-9"),
        ("Author Keywords,Keywords Plus,Start Page,End Page", "a,c,S1,S9", ["a", "c"], "S1-S9"),  # Web of Science
        ("Subjects,Keywords,First Page,Page Count", "c,a,12,8", ["a", "c"], "12"),  # EBSCO
        ("Fields of Study,Keywords,MeSH Terms,Start Page,End Page", "c; d,a,b,7,7", ["a", "b", "c", "d"], "7"),  # Lens
        ("StartPage,EndPage,Tags", "1.0,9.0,a", ["a"], "1-9"),  # Publish or Perish, through pandas
        ("identifierKeywords,subjectTerms,subjects,pages", "a,b,c,1-9", ["b", "c", "a"], "1-9"),  # ProQuest
        ("Manual Tags,Automatic Tags,Pages,Num Pages", "a; b,c,1-9,9", ["a", "b", "c"], "1-9"),  # Zotero
        ("Art. No.,Page start,Page end,Keywords", "106142,,,a", ["a"], "106142"),  # Scopus
    ],
)
def test_keywords_and_pages_of_several_columns(
    tmp_path: Path, header: str, cells: str, keywords: list[str], pages: str
) -> None:
    (document,) = read(written(tmp_path, "a.csv", f"Title,Abstract,{header}\nAttics,Heat.,{cells}\n"))
    assert (document.metadata["keywords"], document.metadata["pages"]) == (keywords, pages)


@pytest.mark.parametrize(
    ("written_as", "pmid"),
    [
        ("12345678.0", "12345678"), ("12345678", "12345678"), ("PMID: 12345678", "12345678"),
        ("MEDLINE 123", "123"), ("PUBMED 123,EMBASE 456", "123"), ("https://pubmed.ncbi.nlm.nih.gov/123/", "123"),
        ("1.23E+07", ""), ("PMC123", ""), ("0", ""), ("12345678.5", ""),
    ],
)  # fmt: skip
def test_pmids_as_they_are_written(tmp_path: Path, written_as: str, pmid: str) -> None:
    path = written(tmp_path, "a.csv", f'Title,Abstract,PMID\nAttics,Heat.,"{written_as}"\n')
    (document,), notes = read_noting(path)
    said = [] if pmid else [f"1 record has a PMID that is not understood, in line 2: {written_as!r}"]
    assert (document.metadata.get("pmid", ""), notes) == (pmid, said)


@pytest.mark.parametrize(
    ("written_as", "doi", "noted"),
    [
        ("10.1/abc", "10.1/abc", False), ("DOI 10.1000/ABC.", "10.1000/abc", False),
        ("http://dx.doi.org/10.1000%2Fabc/", "10.1000/abc", False), ("doi: 10.1000 / abc", "10.1000/abc", False),
        ("10.1000/j. abc.1", "10.1000/j.abc.1", False), ("10.1000/a. 10.1000/b", "10.1000/a; 10.1000/b", False),
        ("see the publisher", "see the publisher", True), ("10.1000", "10.1000", True), ("n/a", "", False),
    ],
)  # fmt: skip
def test_dois_that_are_not_understood_are_kept_and_noted(
    tmp_path: Path, written_as: str, doi: str, noted: bool
) -> None:
    path = written(tmp_path, "a.csv", f"Title,Abstract,DOI\nAttics,Heat.,{written_as}\nCellars,Cold.,\n")
    (document, _), notes = read_noting(path)
    said = [f"1 record has a DOI that is not understood, in line 2: {written_as!r}"] if noted else []
    assert (document.metadata.get("doi", ""), notes) == (doi, said)
    assert noted == document.doc_id.startswith("r") or not doi


@pytest.mark.parametrize("text", ["10.1000/A B", "10.1000/a [doi]", "10.1000/a. 10.1000/b", "10.1000/a (print)"])
def test_a_doi_that_is_cut_at_a_blank_is_noted(tmp_path: Path, text: str) -> None:
    (document,), notes = read_noting(written(tmp_path, "a.csv", f"Title,Abstract,DOI\nAttics,Heat.,{text}\n"))
    assert document.doc_id == "10.1000/a"
    cut = "1 record has a DOI with a blank, where it is cut, in line 2: '10.1000/A B'"
    assert notes == ([cut] if text.endswith("B") else [])


@pytest.mark.parametrize("year", ["2019.0", "2019 Mar", "c2019", "12.05.2019", "2019/05//", "20190512", "in press"])
def test_years_as_they_are_written(tmp_path: Path, year: str) -> None:
    (document,), notes = read_noting(written(tmp_path, "a.csv", f"Title,Abstract,Year\nAttics,Heat.,{year}\n"))
    if year == "in press":
        assert document.metadata["year"] == "in press"
        assert notes == ["1 record has a year that is not understood, in line 2: 'in press'"]
    else:
        assert (document.metadata["year"], notes) == (2019, [])


def test_what_a_record_has_twice_is_named(tmp_path: Path) -> None:
    ris = (
        "TY  - JOUR\nTI  - Attics\nTI  - Roofs\nAB  - Heat.\nN2  - Cold.\nN1  - A note\nER  - \n\n"
        "TY  - JOUR\nT1  - Attics: a study\nTI  - Attics\nN2  - Heat.\nAB  - Heat.\nER  - \n\n"
        "TY  - JOUR\nAB  - Heat.\nER  - \n"
    )
    documents, notes = read_noting(written(tmp_path, "a.ris", ris))
    assert [(each.title, each.text) for each in documents] == [("Attics", "Heat."), ("Attics", "Heat."), ("", "Heat.")]
    assert notes == [
        "left out 'TI' of 1 record with another title, in line 1: 'Roofs'",
        "left out 'N2' of 1 record with another abstract, in line 1: 'Cold.'",
        "left out 'T1' of 1 record with another title, in line 9: 'Attics: a study'",
        "1 record has no title, in line 16",
    ]


@pytest.mark.parametrize(
    ("tags", "title", "journal"),
    [
        ("T1  - A\nJF  - J", "A", "J"), ("BT  - A", "A", None), ("T2  - A\nJO  - J", "A", "J"),
        ("TI  - A\nT2  - J", "A", "J"), ("TI  - A\nBT  - J", "A", "J"), ("T2  - J", "", "J"),
    ],
)  # fmt: skip
def test_tags_of_titles_in_ris(tmp_path: Path, tags: str, title: str, journal: str | None) -> None:
    (document,), _ = read_noting(written(tmp_path, "a.ris", f"TY  - JOUR\n{tags}\nER  - \n"))
    assert (document.title, document.metadata.get("journal")) == (title, journal)


@pytest.mark.parametrize(
    "tags",
    ["DB  - Scopus\nC2  - 123", "DB  - Embase\nC5  - 123", "DB  - PubMed\nAN  - 123", "C3  - PUBMED 123,EMBASE 4",
     "AN  - PMID: 123", "PMID - 123", "PM  - 123"],
)  # fmt: skip
def test_pmids_in_ris(tmp_path: Path, tags: str) -> None:
    """Scopus, Embase, PubMed, Cochrane and Zotero have another tag each."""
    (document,) = read(written(tmp_path, "a.ris", f"TY  - JOUR\nTI  - A\n{tags}\nER  - \n"))
    assert document.metadata["pmid"] == "123"


def test_headings_of_pubmed_join_the_keywords(tmp_path: Path) -> None:
    text = "PMID- 1\nTI  - A\nOT  - attic\nMH  - *Roofs/*methods\nMH  - Attic\n"
    (document,) = read(written(tmp_path, "a.nbib", text))
    assert document.metadata["keywords"] == ["attic", "Roofs/methods"]


def test_the_text_that_cochrane_exports(tmp_path: Path) -> None:
    text = (
        "Record #1 of 2\nID: CN-01234567\nAU: Berg T\nAU: Lund K\nTI: Attic losses: a trial\nSO: Heat\n"
        "YR: 2019\nPG: 1-9\n"
        "PM: PUBMED 123\nKY: attic; *roof\nDOI: 10.5555/att.1\nAB: BACKGROUND: Attics\nlose heat.\n"
        "US: https://x.example/1\n\n\nRecord #2 of 2\nID: CN-2\nTI: Cellars\n"
    )
    (first, second), notes = read_noting(written(tmp_path, "citation-export.txt", text))
    assert first == Document(
        "10.5555/att.1", "Attic losses: a trial", "BACKGROUND: Attics lose heat.",
        {
            "authors": ["Berg T", "Lund K"], "year": 2019, "journal": "Heat", "pages": "1-9", "doi": "10.5555/att.1",
            "pmid": "123", "keywords": ["attic", "roof"], "url": "https://x.example/1",
        },
    )  # fmt: skip
    assert (second.title, notes) == ("Cellars", [])
    # Its heading and short lines look like lines of qrels.
    short = "Record #1 of 2\nID: CN-01234567\nAU: Berg T\nTI: Falls\nSO: Gut\nYR: 2004\n\nRecord #2 of 2\nID: CN-2\n"
    assert kinds.recognise(written(tmp_path, "short.txt", short + "TI: B\nYR: 2005\n"), kinds.DOCUMENTS) is None


def test_titles_in_merged_cells_above_the_header_of_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cells in (["Export of 2024"], ["About", "", "", "Text"], ["Title", "Authors", "Year", "Abstract", "DOI"]):
        book.active.append(cells)
    book.active.append(["Attics", "Berg T; Lund K", 2004, "Cold.", "10.5555/att.1"])
    book.active.merge_cells("A1:E1")
    book.active.merge_cells("A2:C2")
    book.save(tmp_path / "export.xlsx")
    (document,), notes = read_noting(tmp_path / "export.xlsx")
    assert (document.doc_id, document.text, document.metadata["year"]) == ("10.5555/att.1", "Cold.", 2004)
    assert notes == ["skipped 2 lines before the header"]


def test_a_note_that_there_is_no_author_is_not_read_as_a_name(tmp_path: Path) -> None:
    text = "Authors,Title,Year,EID\n[No author name available],Attics,2004,2-s2.0-1\n"
    (document,) = read(written(tmp_path, "scopus.csv", text))
    assert document.metadata == {"year": 2004}


def test_rows_of_attachments_in_tables_of_zotero_are_skipped(tmp_path: Path) -> None:
    text = "Key,Item Type,Author,Title\nA,journalArticle,Berg,Attics\nB,attachment,,PDF\nC,note,,\n"
    (document,), notes = read_noting(written(tmp_path, "zotero.csv", text))
    assert document.title == "Attics"
    assert "skipped 2 rows of attachments and notes, the first in line 3" in notes


def test_text_with_numbered_records_gets_a_hint_about_ovid(tmp_path: Path) -> None:
    path = written(tmp_path, "ovid.txt", "<1>\nUnique Identifier\n  18456789\nTitle\n  Attics.\n")
    with pytest.raises(FormatError, match="it may be text of Ovid or Embase; export the records as RIS"):
        read(path)


@pytest.mark.parametrize(
    ("entry", "fields", "note"),
    [
        ("title = {Missing comma}\n year = {2019}", ("Missing comma", 2019), "1 BibTeX entry lacks a comma between"),
        ('title = "Missing" year = 2019 month = jan', ("Missing", 2019), "1 BibTeX entry lacks a comma between"),
        ('year = 2019\n title = {A {B} "C" = D}', ('A B "C" = D', 2019), "1 BibTeX entry lacks a comma between"),
        ("title = {Much} more, year = 2019", ("Much", 2019), "1 BibTeX entry has text after a value"),
        ("title = {One brace}}, year = 2019", ("One brace", None), "1 BibTeX entry has a closing brace too many"),
        ("title = {A~B \\~{n}}, year = c # {2019}", ("A B ñ", 2019), ""),
        (r"title = {Proc.\ of \aa\ b\\c dis\-count}, year = 2019", ("Proc. of å b c discount", 2019), ""),
        ("title = {Heat}, subtitle = {A {T}rial}, year = 2019", ("Heat: A Trial", 2019), ""),
        ("title = {A}, title = {B}, year = 2019", ("A", 2019), "left out 'title' of 1 record with another title"),
    ],
)
def test_bibtex_with_slips(tmp_path: Path, entry: str, fields: tuple[str, int | None], note: str) -> None:
    path = written(tmp_path, "a.bib", f"@article{{a, {entry}\n}}\n\n@article{{b, title = {{Cellars}}}}\n")
    (first, second), notes = read_noting(path)
    assert (first.title, first.metadata.get("year"), second.title) == (*fields, "Cellars")
    assert [each[: len(note)] for each in notes] == [note] * bool(note)


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("a.xml", ENDNOTE.replace("UTF-8", "ISO-8859-1").replace("Ten", "Zehn Häuser"), "latin-1"),
        ("a.xml", ENDNOTE.replace("UTF-8", "UTF-16").replace("Ten", "Zehn Häuser"), "utf-8"),  # .NET writes it so
        ("a.xml", ENDNOTE.replace("UTF-8", "rot13").replace("Ten", "Zehn Häuser"), "utf-8"),
        ("a.bib", "% Encoding: windows-1252\n@article{a, title={A}, abstract={Zehn Häuser}}", "cp1252"),
        ("a.ris", "TY  - JOUR\rTI  - A\rAB  - Zehn Häuser\rER  - \r", "utf-8"),
        ("a.csv", "Title,Abstract\rA,Zehn Häuser\r", "utf-8"),
        ("a.csv", 'Title;Abstract\r\nA;"Zehn\r\nHäuser"\r\n', "utf-16"),
    ],
)
def test_encodings_that_a_file_declares_and_line_ends(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    assert read(tmp_path / name)[0].text.startswith("Zehn Häuser")


PUBMED_XML = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.example/p.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">31234567</PMID><Article><Journal>
<JournalIssue><PubDate><Year>2019</Year><Month>Mar</Month></PubDate></JournalIssue><Title>Journal of Heat</Title>
<ISOAbbreviation>J Heat</ISOAbbreviation></Journal>
<ArticleTitle>CO<sub>2</sub> in <i>old</i> attics &amp; cellars.</ArticleTitle><Pagination><StartPage>1</StartPage>
<EndPage>9</EndPage><MedlinePgn>1-9</MedlinePgn></Pagination><ELocationID EIdType="pii">S1</ELocationID>
<Abstract><AbstractText Label="BACKGROUND">Ten attics.</AbstractText><AbstractText Label="RESULTS">Warm.</AbstractText>
</Abstract><AuthorList><Author><LastName>Berg</LastName>
<ForeName>Tor</ForeName><Initials>T</Initials><AffiliationInfo><Affiliation>A</Affiliation></AffiliationInfo></Author>
<Author><CollectiveName>Attic Group</CollectiveName></Author></AuthorList></Article><MeshHeadingList><MeshHeading>
<DescriptorName UI="D1">Heating</DescriptorName></MeshHeading></MeshHeadingList><CommentsCorrectionsList>
<CommentsCorrections><PMID>9</PMID></CommentsCorrections></CommentsCorrectionsList>
<KeywordList><Keyword>attic</Keyword></KeywordList></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">31234567</ArticleId><ArticleId IdType="doi">10.5555/att.1</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.5555/cited</ArticleId></ArticleIdList></Reference>
</ReferenceList></PubmedData></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>7</PMID><Book><BookTitle>Roofs</BookTitle></Book><ArticleTitle>A chapter
</ArticleTitle></BookDocument></PubmedBookArticle></PubmedArticleSet>"""


@pytest.mark.parametrize("piece", [7, 1 << 16])
def test_the_xml_of_pubmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    path = written(tmp_path, "a.xml", PUBMED_XML)
    assert endnote.is_endnote(path)
    monkeypatch.setattr(endnote, "is_endnote", lambda path, in_one_line=False: True)
    monkeypatch.setattr(endnote, "PIECE", piece)
    first, second = read(path)
    assert first == Document(
        "31234567", "CO2 in old attics & cellars.", "BACKGROUND: Ten attics. RESULTS: Warm.",
        {
            "authors": ["Berg, Tor", "Attic Group"], "year": 2019, "journal": "Journal of Heat", "pages": "1-9",
            "doi": "10.5555/att.1", "pmid": "31234567", "keywords": ["Heating", "attic"],
            "url": "https://doi.org/10.5555/att.1",
        },
    )  # fmt: skip
    assert (second.doc_id, second.title, second.metadata["journal"]) == ("7", "A chapter", "Roofs")


CSL = [
    {
        "id": "http://zotero.org/users/1/items/A", "type": "article-journal", "title": "Attic <i>losses</i>",
        "abstract": "Heat.", "container-title": "J Heat", "DOI": "10.5555/ATT.1", "page": "1-9", "note": "PMID: 123",
        "author": [{"family": "Berg", "given": "Tor"}, {"literal": "Attic Group"}], "keyword": "attic, roof",
        "issued": {"date-parts": [["2019", 3]]},
    },
    {"id": "b", "type": "book", "title": "Roofs", "author": [{"family": "Li"}], "issued": {"raw": "c2018"}},
]  # fmt: skip


@pytest.mark.parametrize("form", ["an array in one line", "an array", "lines"])
def test_csl_json(tmp_path: Path, form: str) -> None:
    """As Zotero, Mendeley and Crossref write it."""
    texts = {"an array in one line": json.dumps(CSL), "an array": json.dumps(CSL, indent=1)}
    first, second = read(written(tmp_path, "a.json", texts.get(form) or "\n".join(map(json.dumps, CSL))))
    assert first == Document(
        "10.5555/att.1", "Attic losses", "Heat.",
        {
            "authors": ["Berg, Tor", "Attic Group"], "year": 2019, "journal": "J Heat", "pages": "1-9",
            "doi": "10.5555/att.1", "pmid": "123", "keywords": ["attic", "roof"],
            "url": "https://doi.org/10.5555/att.1",
        },
    )  # fmt: skip
    assert (second.title, second.metadata) == ("Roofs", {"authors": ["Li"], "year": 2018})
    assert isinstance(first, formats.Reference)
    assert formats.to_reference(first.fields, "csl") == first


def test_embase_with_a_row_for_each_field(tmp_path: Path) -> None:
    text = (
        'TITLE,"Attic losses"\n"AUTHOR NAMES","Berg T.","Lund K."\nSOURCE,"J Heat (2019) 3:2 (1-9). Date: 1 May 2019"\n'
        'ABSTRACT,"Attics, and ""roofs"""\n"EMTREE MEDICAL INDEX TERMS","attic","roof"\n"MEDLINE PMID",123\n'
        '"EMBASE LINK","x"\n\nTITLE,Cellars\n"AUTHOR NAMES","Li B."\n'
    )
    (first, second), notes = read_noting(written(tmp_path, "records.csv", text))
    assert first == Document(
        "123", "Attic losses", 'Attics, and "roofs"',
        {
            "authors": ["Berg T.", "Lund K."], "year": 2019, "journal": "J Heat", "pages": "1-9", "pmid": "123",
            "keywords": ["attic", "roof"], "url": "https://pubmed.ncbi.nlm.nih.gov/123/",
        },
    )  # fmt: skip
    assert (second.title, second.metadata) == ("Cellars", {"authors": ["Li B."]})
    assert notes == ["kept 1 unknown column without using it: EMBASE LINK"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "Title,Abstract\nAttics,Heat.\nTitle,Abstract\nCellars,Cold.\n", "skipped 1 repeated header, the"),
        ("a.ris", "TY  - JOUR\nTI  - Attics\nER  - \n\ufeffTY  - JOUR\nTI  - Cellars\nER  - \n", ""),
        ("a.nbib", "PMID- 1\nTI  - Attics\n\n\ufeffPMID- 2\nTI  - Cellars\n", ""),
    ],
)  # fmt: skip
def test_files_that_were_joined(tmp_path: Path, name: str, text: str, said: str) -> None:
    documents, notes = read_noting(written(tmp_path, name, text))
    assert [each.title for each in documents] == ["Attics", "Cellars"]
    assert [note[: len(said)] for note in notes] == [said] * bool(said)


def test_tabs_with_the_quotation_marks_of_excel(tmp_path: Path) -> None:
    text = 'Title\tAbstract\tAuthors\n"Attics, ""old"""\t"Heat" is lost\t"Berg, T; Li, B"\n'
    (document,) = read(written(tmp_path, "a.tsv", text))
    assert (document.title, document.text) == ('Attics, "old"', '"Heat" is lost')
    assert document.metadata["authors"] == ["Berg, T", "Li, B"]


def test_records_without_ids_in_json(tmp_path: Path) -> None:
    """Also lists of objects, as Semantic Scholar writes authors; in CSV they are texts of Python."""
    authors = [{"authorId": "1", "name": "Tor Berg"}, {"name": "Bo Li"}]
    record = {"title": "Attics", "abstract": "Heat.", "authors": authors, "year": 2019, "doi": "10.5555/att.1"}
    (from_json,) = read(written(tmp_path, "a.jsonl", json.dumps(record)))
    table = f'Title,Abstract,Authors,Year,DOI\nAttics,Heat.,"{authors}",2019,10.5555/att.1\n'
    (from_csv,) = read(written(tmp_path, "a.csv", table))
    assert from_json == from_csv
    assert from_json.metadata["authors"] == ["Tor Berg", "Bo Li"]


def test_columns_of_openalex(tmp_path: Path) -> None:
    text = (
        "doi,title,abstract,publication_year,authorships.author.display_name,primary_location.source.display_name,"
        "keywords.display_name,biblio.first_page,biblio.last_page,ids.pmid\nhttps://doi.org/10.5555/ATT.1,Attics,Heat.,"
        "2019,Tor Berg|Bo Li,J Heat,a|b,1,9,https://pubmed.ncbi.nlm.nih.gov/123\n"
    )
    (document,), notes = read_noting(written(tmp_path, "a.csv", text))
    assert document.metadata == {
        "authors": ["Tor Berg", "Bo Li"], "year": 2019, "journal": "J Heat", "pages": "1-9", "doi": "10.5555/att.1",
        "pmid": "123", "keywords": ["a", "b"], "url": "https://doi.org/10.5555/att.1",
    }  # fmt: skip
    assert notes == []


SOURCES = {
    "a.ris": (
        "TY  - JOUR\nTI  - Heat\nN1  - one\nC1  - x\nN1  - two\n  lines\nJO  - J\nAN  - 5\nDB  - PubMed\nER  - \n",
        "ris",
        {"TY": ["JOUR"], "TI": ["Heat"], "N1": ["one", "two\nlines"], "C1": ["x"], "JO": ["J"], "AN": ["5"],
         "DB": ["PubMed"]},
    ),
    "a.bib": (
        '@article{berg19,\n title = {{\\"U}ber {CO}$_2$},\n annote = {To read},\n year = 2019\n}\n',
        "bibtex",
        {"entry type": ["article"], "citation key": ["berg19"], "title": ['{\\"U}ber {CO}$_2$'],
         "annote": ["To read"], "year": ["2019"]},
    ),
    "a.xml": (
        '<xml><records><record><ref-type name="Journal Article">17</ref-type><titles><title><style face="normal">Heat'
        "</style></title></titles><volume><style>3</style></volume><custom7>e1</custom7></record></records></xml>",
        "endnote",
        {"ref-type@name": ["Journal Article"], "ref-type": ["17"], "titles/title": ["Heat"], "volume": ["3"],
         "custom7": ["e1"]},
    ),
    "b.xml": (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID><Article><ArticleTitle>Heat</ArticleTitle>"
        "<AuthorList><Author><LastName>Berg</LastName><ForeName>T</ForeName></Author></AuthorList>"
        "<Language>eng</Language></Article></MedlineCitation><PubmedData><ReferenceList><Reference><Citation>x"
        "</Citation></Reference></ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>",
        "pubmed",
        {"medlinecitation/pmid": ["5"], "medlinecitation/article/articletitle": ["Heat"],
         "medlinecitation/article/authorlist/author": ["Berg, T"], "medlinecitation/article/language": ["eng"]},
    ),
    "a.csv": (
        "Title,Abstract Note,Extra,Notes\nHeat,Ten houses.,Code: 7,\n",
        "table",
        {"Title": ["Heat"], "Abstract Note": ["Ten houses."], "Extra": ["Code: 7"]},
    ),
    "a.json": (
        '[{"type": "book", "title": "Heat", "author": [{"family": "Berg"}], "issued": {"raw": "2019"}, "volume": 3}]',
        "csl",
        {"type": ["book"], "title": ["Heat"], "author": ['{"family": "Berg"}'], "issued": ['{"raw": "2019"}'],
         "volume": ["3"]},
    ),
    "a.nbib": (
        "PMID- 5\nTI  - Heat\nMH  - *Heating\nLA  - eng\n",
        "nbib",
        {"PMID": ["5"], "TI": ["Heat"], "MH": ["*Heating"], "LA": ["eng"]},
    ),
    "b.nbib": (
        "OWN - ERIC\nTI  - Heat\nAU  - Berg, Tor\nOID - EJ5\n", "nbib",
        {"OWN": ["ERIC"], "TI": ["Heat"], "AU": ["Berg, Tor"], "OID": ["EJ5"]},
    ),
    "a.txt": (
        "RT Journal Article\nA1 Berg, Tor\nT1 Heat\nK1 roofs\nattics\n", "refworks",
        {"RT": ["Journal Article"], "A1": ["Berg, Tor"], "T1": ["Heat"], "K1": ["roofs", "attics"]},
    ),
    "c.xml": (
        "<Trials_downloaded_from_ICTRP>\n <Trial><TrialID>CTRI/5\n </TrialID><Public_title>Heat</Public_title>"
        "<Phase>2</Phase></Trial>\n</Trials_downloaded_from_ICTRP>", "endnote",
        {"trialid": ["CTRI/5"], "public_title": ["Heat"], "phase": ["2"]},
    ),
    "a.enw": ("%0 Journal Article\n%T Heat\n%W PubMed\n%M 5\n", "refer",
              {"%0": ["Journal Article"], "%T": ["Heat"], "%W": ["PubMed"], "%M": ["5"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_reference_has_the_fields_of_its_record(tmp_path: Path, name: str) -> None:
    text, form, fields = SOURCES[name]
    ((_, reference),) = formats.read_documents(written(tmp_path, name, text))
    assert isinstance(reference, formats.Reference)
    for each in (reference, reference._replace(doc_id="other")):
        assert (each.form, each.fields) == (form, fields)
        assert list(each.fields) == list(fields)


def test_a_library_of_endnote_in_one_line_may_be_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is limited to the length of a line in other files, the library is not."""
    monkeypatch.setattr("collection.formats.source.LONGEST_LINE", 2_000)
    record = "<record><titles><title>Heat {}</title></titles></record>"
    text = "<xml><records>" + "".join(map(record.format, range(1500))) + "</records></xml>"
    assert [each.title for each in read(written(tmp_path, "a.xml", text))] == [f"Heat {n}" for n in range(1500)]


@pytest.mark.parametrize(
    ("form", "fields", "name", "expected"),
    [
        ("ris", {"KW": ["Heat [economics, *supply]", "Houses / *heating", "HLA-A*02"]}, "keywords",
         ["Heat [economics, supply]", "Houses / heating", "HLA-A*02"]),
        ("nbib", {"MH": ["Houses/*heating"]}, "keywords", ["Houses/heating"]),
        ("ris", {"M1": ["Berg T. Cold. PubMed PMID: 7. https://doi.org/10.5555/other"]}, "pmid", None),
        ("ris", {"N1": ["M1: Berg T. Cold. PMID: 7. M1: Lund K. Heat. PMID: 8."]}, "pmid", None),
        ("ris", {"L2": ["http://europepmc.org/article/MED/33523284"]}, "pmid", "33523284"),
        ("ris", {"C5": ["7"], "DB": ["Medline"], "UR": ["https://www.embase.com/search/results?id=L1"]}, "pmid", "7"),
        ("ris", {"ID": ["2021-94054-001"], "UR": ["http://ovidsp.ovid.com/ovidweb.cgi?D=psyc19"]}, "pmid", None),
    ],
)  # fmt: skip
def test_identifiers_and_keywords_of_real_exports(
    form: str, fields: dict[str, list[str]], name: str, expected: object
) -> None:
    assert formats.to_reference({"TI": ["Heat"], **fields}, form).metadata.get(name) == expected


REFWORKS = """
RT Journal Article
SR Electronic(1)
A1 Berg, Tor
A1 Lund, Karl;Ek, Per
T1 Attic losses
JF Energy
YR 2019
vo 12
IS 2
SP 121
OP 9
K1 attic;roof
AB Attics lose
heat. NB: cold.
AN 31234567
DB PubMed
DO 10.5555/att.1
LK https://cold.example/1

RT Book
T1 Cellars
ER
"""
ERIC = """
OWN - ERIC
TI  - Attic Losses
AU  - Berg, Tor
OT  - Attics
JT  - Journal of Heat
DP  - Mar 2019
PG  - 12-19
LID - http://dx.doi.org/10.5555/att.1
AB  - Attics lose heat.
OID - EJ1234567

OWN - ERIC
TI  - Cellars
OID - ED7
"""
TRIALS = (
    "<?xml version='1.0' encoding='UTF-8' ?>\n<Trials_downloaded_from_ICTRP>\n  <Trial><TrialID>CTRI/2019/12/1\n    "
    "</TrialID>\n<Public_title>Attic losses\n  </Public_title><Scientific_title>A phase 1 study</Scientific_title>"
    "<Date_registration>03/02/2019</Date_registration><web_address>https://cold.example/1\n</web_address></Trial>"
    "<Trial><TrialID>CTRI/2</TrialID><Public_title>Cellars</Public_title></Trial></Trials_downloaded_from_ICTRP>"
)
EXPORTS: dict[str, tuple[str, str, str, dict[str, object], str]] = {
    "RefWorks": ("a.txt", REFWORKS, "Attics lose heat. NB: cold.", {
        "authors": ["Berg, Tor", "Lund, Karl", "Ek, Per"], "year": 2019, "journal": "Energy", "pages": "121-129",
        "doi": "10.5555/att.1", "pmid": "31234567", "keywords": ["attic", "roof"], "url": "https://cold.example/1",
    }, ""),
    "ERIC": ("a.nbib", ERIC, "Attics lose heat.", {
        "authors": ["Berg, Tor"], "year": 2019, "journal": "Journal of Heat", "pages": "12-19", "doi": "10.5555/att.1",
        "keywords": ["Attics"], "url": "https://doi.org/10.5555/att.1",
    }, "ERIC"),
    "ICTRP": ("a.xml", TRIALS, "", {
        "year": 2019, "registration": "CTRI/2019/12/1", "url": "https://cold.example/1",
    }, "ICTRP"),
    "ClinicalTrials.gov": (
        "a.csv", "NCT Number,Study Title,Study URL,Brief Summary,Phases,First Posted\n"
        "NCT00000001,Attic losses,https://cold.example/1,Attics lose heat.,NA,2019-02-03\n"
        "NCT00000002,Cellars,https://cold.example/2,,NA,2020-01-01\n",
        "Attics lose heat.", {"year": 2019, "registration": "NCT00000001", "url": "https://cold.example/1"},
        "ClinicalTrials.gov",
    ),
    "ClinicalTrials.gov, before 2023": (
        "a.csv", "Rank,NCT Number,Title,Status,First Posted,URL\n"
        '1,NCT00000001,Attic losses,Completed,"February 3, 2019",https://cold.example/1\n2,NCT00000002,Cellars,,,\n',
        "", {"year": 2019, "registration": "NCT00000001", "url": "https://cold.example/1"}, "ClinicalTrials.gov",
    ),
    "Springer": (
        "a.csv", "Item Title,Publication Title,Journal Volume,Item DOI,Publication Year,URL\n"
        "Attic losses,Energy,12,10.5555/att.1,2019,https://cold.example/1\nCellars,Energy,13,10.5555/att.2,2019,\n",
        "", {"year": 2019, "journal": "Energy", "doi": "10.5555/att.1", "url": "https://cold.example/1"}, "Springer",
    ),
    "Publish or Perish": (
        "a.csv",
        "Title,Authors,Year,StartPage,EndPage,GSRank\nAttic losses,T Berg,2019,0,0,1\nCellars,T Berg,2019,0,0,2\n",
        "", {"authors": ["T Berg"], "year": 2019}, "Google Scholar",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPORTS)
def test_exports_of_further_databases_and_registers(tmp_path: Path, case: str) -> None:
    name, text, abstract, metadata, database = EXPORTS[case]
    path = written(tmp_path, name, text)
    first, second = read(path)
    assert (first.title.casefold(), first.text, first.metadata) == ("attic losses", abstract, metadata)
    assert second.title == "Cellars"
    assert isinstance(first, formats.Reference)
    assert isinstance(second, formats.Reference)
    found = formats.guess_database(first.form, [first.fields, second.fields], formats.database_lines(path))
    assert found == database
    with pytest.raises(FormatError, match="looks like documents|a header with an id"):
        formats.read_topics(path)


def test_abstracts_without_what_databases_append() -> None:
    for end in ("", " (PsycInfo Database Record (c) 2021 APA, all rights reserved)", " [ABSTRACT FROM AUTHOR]"):
        assert formats.to_reference({"TI": ["Heat"], "AB": [f"Roofs leak.{end}"]}, "ris").text == "Roofs leak."
    assert formats.to_reference({"TI": ["Heat"], "AB": ["NA"]}, "ris").text == ""
