"""References out: RIS, BibTeX, CSV and XLSX, each read again by us and by other programs' libraries."""

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bibtexparser
import openpyxl
import pytest
import rispy
from hypothesis import given, strategies as st

from collection import formats
from collection.core.characters import without_markup
from collection.core.errors import FormatError, InputError
from collection.core.records import Document
from collection.core.tokens import plain
from collection.formats import Copy, ExportedReference, Reference, bibtex
from tests.collection.formats.reference_sources import SOURCES, zotero_ris
from tests.collection.formats.test_reference_sources import FIELDS, publications

DECIDED = {
    "decision": "exclude",
    "reason": "wrong population",
    "notes": "=1+1",
    "screeners": "ann; ben",
    "stage": "full text",
}
COMMON = [name for name in FIELDS if name != "abstract"]


def read(path: Path) -> list[Reference]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [each for _, each in formats.read_documents(path) if isinstance(each, Reference)]


def exported(references: Sequence[Reference], columns: dict[str, str] | None = None) -> list[ExportedReference]:
    return [ExportedReference(each, each.form, each.fields, columns or {}) for each in references]


def common(reference: Document) -> dict[str, Any]:
    fields: dict[str, Any] = {name: value for name, value in reference.metadata.items() if name in COMMON}
    return {**fields, "title": reference.title, "abstract": reference.text}


def from_source(folder: Path, name: str, number: int = 20) -> list[Reference]:
    path = folder / SOURCES[name].file
    path.write_bytes(SOURCES[name].data(publications(name, number)))
    return read(path)


@pytest.mark.parametrize("ending", [".ris", ".bib", ".csv", ".xlsx"])
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.long
def test_common_fields_of_every_source_come_back(tmp_path: Path, name: str, ending: str) -> None:
    references = from_source(tmp_path, name)
    assert formats.write_references(exported(references), tmp_path / f"out{ending}") == len(references)
    again = read(tmp_path / f"out{ending}")
    assert len(again) == len(references)
    for before, after in zip(references, again, strict=True):
        wanted, found = common(before), common(after)
        if ending == ".bib":  # BibTeX has the surname before a comma
            wanted["authors"] = [each.replace(",", "") for each in wanted["authors"]]
            found["authors"] = [each.replace(",", "") for each in found["authors"]]
        assert found == wanted


@pytest.mark.parametrize("name", ["Zotero, RIS", "Ovid Embase, RIS", "EndNote, RIS", "Mendeley, RIS", "Scopus, RIS"])
def test_every_tag_of_ris_comes_back_in_its_order(tmp_path: Path, name: str) -> None:
    references = from_source(tmp_path, name)
    formats.write_references(exported(references), tmp_path / "out.ris")
    again = read(tmp_path / "out.ris")
    assert [each.fields for each in again] == [each.fields for each in references]
    assert [list(each.fields) for each in again] == [list(each.fields) for each in references]


def test_every_field_of_bibtex_comes_back_with_its_latex(tmp_path: Path) -> None:
    references = from_source(tmp_path, "Zotero, BibTeX")
    formats.write_references(exported(references), tmp_path / "out.bib")
    assert [each.fields for each in read(tmp_path / "out.bib")] == [each.fields for each in references]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\x85\u2028\u2029"), min_size=1, max_size=60)
TAGS = (
    "TI",
    "AU",
    "T2",
    "AB",
    "DA",
    "PY",
    "DO",
    "DP",
    "VL",
    "IS",
    "SP",
    "EP",
    "J2",
    "LA",
    "SN",
    "ST",
    "UR",
    "Y2",
    "KW",
    "N1",
    "M1",
    "C1",
    "L1",
)


def lines(text: str) -> list[str]:
    """The lines of a value, as a reader of RIS sees them."""
    return [line.strip() for line in text.removeprefix("\ufeff").split("\n") if line.strip()]


@given(
    st.lists(
        st.dictionaries(st.sampled_from(TAGS), st.lists(TEXTS, min_size=1, max_size=3), min_size=1),
        min_size=1,
        max_size=3,
    )
)
def test_ris_as_zotero_writes_it_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, list[str]]]
) -> None:
    """RIS to records to RIS to records: the same fields and the same documents."""
    folder = tmp_path_factory.mktemp("ris")
    text = "".join(
        "TY  - JOUR\n" + "".join(f"{tag}  - {each}\n" for tag, some in tags.items() for each in some) + "ER  - \n\n"
        for tags in records
    )
    (folder / "in.ris").write_text(text, newline="")
    try:
        references = read(folder / "in.ris")
    except FormatError:  # a text has a line that is a tag
        return
    formats.write_references(exported(references), folder / "out.ris")
    again = read(folder / "out.ris")
    for before, after in zip(references, again, strict=True):
        assert {tag: [" ".join(each.split()) for each in some if each] for tag, some in before.fields.items()} == {
            tag: [" ".join(each.split()) for each in some] for tag, some in after.fields.items() if tag in before.fields
        }
        assert (before.title, before.text, before.metadata) == (after.title, after.text, after.metadata)


@given(
    st.dictionaries(st.sampled_from(["title", "abstract", "journal", "annote"]), TEXTS, min_size=1),
    st.lists(TEXTS, max_size=3),
)
def test_any_text_comes_back_from_bibtex(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, str], words: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("bib")
    document = Document("1", " ".join(fields.get("title", "Heat").split()), "", {"keywords": words})
    written = ExportedReference(document, "table", {"Title": [document.title]}, {"annote": fields.get("annote", "")})
    formats.write_references([written, written], folder / "out.bib")
    library = bibtexparser.parse_file(str(folder / "out.bib"), encoding="utf-8")
    assert (len(library.failed_blocks), len({entry.key for entry in library.entries})) == (0, 2)


def test_decisions_are_a_note_and_keywords(tmp_path: Path) -> None:
    """As Zotero, EndNote and Rayyan read them: rispy reads the notes and keywords of RIS."""
    references = from_source(tmp_path, "PubMed, nbib", 2)
    formats.write_references(exported(references, DECIDED), tmp_path / "out.ris")
    first, _ = rispy.loads((tmp_path / "out.ris").read_text())
    assert first["type_of_reference"] == "JOUR"
    assert first["keywords"][-3:] == ["decision: exclude", "reason: wrong population", "stage: full text"]
    said = "decision: exclude | reason: wrong population | notes: =1+1 | screeners: ann; ben | stage: full text"
    assert first["notes"][-1] == said
    assert first["notes"][-2].startswith("Other fields of the source | OWN: NLM | STAT: MEDLINE | ")
    formats.write_references(exported(references, DECIDED), tmp_path / "out.bib")
    entry = bibtexparser.parse_file(str(tmp_path / "out.bib")).entries[0]
    assert (entry["decision"], entry["notes"], entry["stage"]) == ("exclude", "=1+1", "full text")
    assert "reason: wrong population" in entry["keywords"]
    assert entry["nbib-own"] == "NLM"


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_tables_have_a_column_for_each_field_and_no_formula(tmp_path: Path, ending: str) -> None:
    first, second = from_source(tmp_path, "Zotero, CSV", 2)
    fields = {**first.fields, "Title": ["=HYPERLINK(1)"], "Rights": ["-2+3"]}
    dangerous = formats.to_reference(fields, "table").with_record(fields, "table")
    ris = from_source(tmp_path, "Scopus, RIS", 1)
    path = tmp_path / f"out{ending}"
    formats.write_references([*exported([dangerous, second, *ris], DECIDED)], path)
    if ending == ".csv":
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
    else:
        sheet = openpyxl.load_workbook(path).active
        assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
        rows = [[str(cell or "") for cell in row] for row in sheet.iter_rows(values_only=True)]
    header, row, other, last = rows
    mark = "'" if ending == ".csv" else ""
    named = dict(zip(header, row, strict=True))
    dangerous_cells = [named[name] for name in ("title", "Rights", "notes")]
    assert dangerous_cells == [f"{mark}=HYPERLINK(1)", f"{mark}-2+3", f"{mark}=1+1"]
    assert (named["decision"], named["type"], named["source notes"]) == ("exclude", "journalArticle", "<p>Read.</p>")
    assert dict(zip(header, other, strict=True))["title"] == second.title
    assert dict(zip(header, last, strict=True))["ris M3"] == "Article"
    assert len(set(header)) == len(header)
    assert header.index("title") == 0


def test_a_document_takes_what_its_record_lacks(tmp_path: Path) -> None:
    """An abstract, a PMID and keywords that came from a duplicate are written behind the tags of the record."""
    fields = {"TY": ["JOUR"], "TI": ["Heat"], "KW": ["attic"], "C1": ["x"]}
    document = formats.to_reference(fields, "ris")._replace(
        text="Attics lose heat.", metadata={"pmid": "31234567", "doi": "10.5555/a", "keywords": ["attic", "roof"]}
    )
    formats.write_references([ExportedReference(document, "ris", fields)], tmp_path / "out.ris")
    assert (tmp_path / "out.ris").read_text() == (
        "TY  - JOUR\nTI  - Heat\nKW  - attic\nC1  - x\nDO  - 10.5555/a\nN1  - PMID: 31234567\nAB  - Attics lose heat.\n"
        "KW  - roof\nER  - \n\n"
    )


def test_cochranes_own_tags_become_the_usual_ones(tmp_path: Path) -> None:
    references = from_source(tmp_path, "Cochrane, RIS", 1)
    formats.write_references(exported(references), tmp_path / "out.ris")
    tags = [line[:2] for line in (tmp_path / "out.ris").read_text().splitlines() if "  - " in line]
    assert {"T2", "PY", "IS", "DO", "UR", "SP", "EP"} <= set(tags)
    assert not {"SO", "YR", "NO", "US", "PG"} & set(tags)


def test_documents_without_a_record_and_other_endings(tmp_path: Path) -> None:
    document = Document("d1", "Heat", "Ten houses.", {"year": 2019, "authors": ["Centre for Heat and Cold"]})
    formats.write_references([ExportedReference(document)], tmp_path / "out.bib")
    assert (tmp_path / "out.bib").read_text() == (
        "@misc{centre2019heat,\n  title = {Heat},\n  author = {{Centre for Heat and Cold}},\n  year = {2019},\n"
        "  abstract = {Ten houses.},\n}\n\n"
    )
    with pytest.raises(InputError, match=r"ends in \.ris, \.bib, \.csv or \.xlsx for references"):
        formats.write_references([], tmp_path / "out.enl")
    assert formats.write_references([], tmp_path / "out.csv") == 0


def test_zotero_notes_keep_their_lines(tmp_path: Path) -> None:
    (tmp_path / "in.ris").write_text(zotero_ris(publications("x", 1)))
    formats.write_references(exported(read(tmp_path / "in.ris")), tmp_path / "out.ris")
    assert "N1  - <p>Read <b>twice</b>.</p>\n<p>Ask Tor.</p>\n" in (tmp_path / "out.ris").read_text()


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_tables_of_titles_alone_are_read_again(tmp_path: Path, ending: str) -> None:
    source = tmp_path / "a.ris"
    source.write_text("TY  - JOUR\nTI  - Attics\nER  - \n")
    out = tmp_path / f"out.{ending}"
    formats.write_references(exported(read(source), {"decision": "include"}), out)
    assert [document.title for document in read(out)] == ["Attics"]


def test_tables_do_not_repeat_authors_doi_and_database(tmp_path: Path) -> None:
    nbib, table, out = tmp_path / "a.nbib", tmp_path / "a.csv", tmp_path / "out.csv"
    nbib.write_text(
        "PMID- 1\nTI  - Attics\nLID - 10.1000/x [doi]\nFAU - Berg, Tor\nAU  - Berg T\nFAU - Ek, Pia\nAU  - Ek P\n"
    )
    table.write_text('Title,Authors,Source title,Year,Source,DOI\nCellars,"Lund, K.",Houses,2001,Scopus,10.1000/y\n')
    references = [record for file in (nbib, table) for _, record in formats.read_documents(file)]
    formats.write_references(exported(references, {"decision": "include"}), out)
    with out.open() as file:
        first, second = csv.DictReader(file)
    assert list(first) == [
        "title", "authors", "year", "journal", "doi", "pmid", "url", "abstract", "database", "decision",
    ]  # fmt: skip
    assert (first["authors"], first["doi"]) == ("Berg, Tor; Ek, Pia", "10.1000/x")
    assert second["database"] == "Scopus"


NAMES = {"eng": "english", "ger": "german", "fre": "french", "spa": "spanish"} | {
    "en": "english", "de": "german", "fr": "french", "es": "spanish",
}  # fmt: skip
"""Code of a language -> its name."""
REWRITTEN = {
    "ris": ("TY", "UR"), "nbib": ("AU", "PG", "LID", "AID"), "ciw": ("AU", "PT"),
    "bibtex": ("author", "citation key", "entry type"),
}  # fmt: skip
"""Form -> fields that are written in another notation: types, abbreviated pages, short names of authors, and DOIs."""

NOTATION = {"and", "https", "dx", "doi", "org", "pubmed"}


def words(text: str, is_latex: bool) -> set[str]:
    return {NAMES.get(word, word) for word in plain(without_markup(bibtex.decode(text) if is_latex else text)).split()}


@pytest.mark.parametrize("ending", [".ris", ".bib", ".csv"])
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.long
def test_no_word_of_any_source_is_lost(tmp_path: Path, name: str, ending: str) -> None:
    """Besides notices of copyright in abstracts, which readers leave out."""
    missing = {}
    for reference in from_source(tmp_path, name):
        formats.write_references(exported([reference]), tmp_path / f"out{ending}")
        written = words((tmp_path / f"out{ending}").read_text(), ending == ".bib")
        for field, texts in reference.fields.items():
            if field not in REWRITTEN.get(reference.form, ()):
                wanted = words(
                    " ".join(texts).split("[ABSTRACT FROM")[0].split("Copyright of")[0], reference.form == "bibtex"
                )
                if lost := wanted - written - NOTATION:
                    missing[field] = texts, lost
    assert not missing


def test_types_of_a_work_and_the_month_stay_in_ris(tmp_path: Path) -> None:
    (tmp_path / "in.nbib").write_text(
        "PMID- 1\nTI  - Attics\nDP  - 2001 Mar\nPT  - Clinical Trial\nPT  - Journal Article\n"
    )
    formats.write_references(exported(read(tmp_path / "in.nbib")), tmp_path / "out.ris")
    text = (tmp_path / "out.ris").read_text()
    assert "M3  - Clinical Trial\nM3  - Journal Article\n" in text
    assert "| DP: 2001 Mar\n" in text


@pytest.mark.parametrize("ending", [".ris", ".bib", ".csv"])
def test_stars_of_major_topics_stay(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in.nbib").write_text(
        "PMID- 1\nTI  - Attics\nMH  - *Heating\nMH  - Housing/*standards\nMH  - Humans\nOT  - HLA-A*02\n"
    )
    formats.write_references(exported(read(tmp_path / "in.nbib")), tmp_path / f"out{ending}")
    text = (tmp_path / f"out{ending}").read_text()
    assert "*Heating" in text
    assert "Housing/*standards" in text
    assert text.count("Humans") == text.count("HLA-A*02") == 1


def test_fields_of_copies_complete_a_record_and_name_their_source(tmp_path: Path) -> None:
    fields = {"TY": ["JOUR"], "TI": ["Heat"], "DB": ["CENTRAL"]}
    copies = [
        Copy("PubMed", "nbib", {"TI": ["Heat"], "AB": ["Attics lose heat."], "IS": ["1234-5678"], "AD": ["Bergen"],
                                "EIN": ["Heat. 2002;1:7"], "PT": ["Clinical Trial"]}),
        Copy("Scopus", "table", {"Title": ["Heat"], "ISSN": ["8765-4321"], "Publisher": ["North"], "EID": ["2-s2"]}),
    ]  # fmt: skip
    document = formats.to_reference(fields, "ris")._replace(text="Attics lose heat.")
    reference = ExportedReference(document, "ris", fields, {}, copies)
    formats.write_references([reference], tmp_path / "out.ris")
    assert (tmp_path / "out.ris").read_text().splitlines() == [
        "TY  - JOUR", "TI  - Heat", "DB  - CENTRAL", "AB  - Attics lose heat.", "SN  - 1234-5678", "AD  - Bergen",
        "PB  - North",
        "N1  - Other fields of the copy in PubMed | type: Clinical Trial | EIN: Heat. 2002;1:7",
        "N1  - Other fields of the copy in Scopus | accession number: 2-s2",
        "N1  - fields from other copies: abstract: PubMed; issn: PubMed; affiliations: PubMed; publisher: Scopus",
        "ER  - ", "",
    ]  # fmt: skip
    formats.write_references([reference], tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["issn"], row["nbib EIN"], row["publisher"]) == ("1234-5678", "Heat. 2002;1:7", "North")
    assert row["fields from other copies"].startswith("abstract: PubMed; issn: PubMed")
    formats.write_references([reference], tmp_path / "out.bib")
    entry = bibtexparser.parse_file(str(tmp_path / "out.bib")).entries[0]
    assert (entry["issn"], entry["nbib-ein"]) == ("1234-5678", "Heat. 2002;1:7")
