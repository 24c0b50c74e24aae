"""Every source of references: each field read right, text between records skipped and counted, the database named."""

import io
import random
import re
import warnings
import zipfile
from pathlib import Path

import pytest

from collection import formats
from collection.core.errors import CleverdonError
from collection.formats import Reference
from tests.collection.formats.reference_sources import SOURCES, Invented, ReferenceSource, invent
from tests.collection.formats.test_fuzz import damaged, texts
from tests.helpers import cases

RECORDS = 40
FIELDS = ("title", "abstract", "authors", "year", "journal", "pages", "doi", "pmid", "keywords", "language")


def publications(name: str, number: int = RECORDS) -> list[Invented]:
    rng = random.Random(name)
    return [invent(rng, each) for each in range(1, number + 1)]


def read(folder: Path, source: ReferenceSource, records: list[Invented]) -> tuple[Path, list[Reference], list[str]]:
    """The file, its references, and what is said of it."""
    path = folder / source.file
    path.write_bytes(source.data(records))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [document for _, document in formats.read_documents(path) if isinstance(document, Reference)]
    return path, found, [str(warning.message).partition(": ")[2] for warning in caught]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.long
def test_each_field_of_each_source_is_read_right(tmp_path: Path, name: str) -> None:
    source, records = SOURCES[name], publications(name)
    path, found, notes = read(tmp_path, source, records)
    assert len(found) == len(records)
    for reference, record in zip(found, records, strict=True):
        fields = {**reference.metadata, "title": reference.title, "abstract": reference.text}
        assert {name: fields[name] for name in FIELDS if name in fields} == source.expected(record)
        assert reference.form == source.form
        again = formats.to_reference(reference.fields, reference.form)
        assert (again.title, again.text, again.metadata) == (reference.title, reference.text, reference.metadata)
        assert f"10.5555/cold.{record.number}." in str(reference.fields)
    lines = source.skipped(len(records))
    found_between = (re.search(r"(\d+) lines? of text between the", note) for note in notes)
    skipped = [int(match[1]) for match in found_between if match]
    assert skipped == ([lines] if lines else [])
    guessed = formats.guess_database(source.form, (each.fields for each in found), formats.database_lines(path))
    assert guessed == source.database


def damaged_workbook(rng: random.Random, data: bytes) -> bytes:
    """A workbook with damage inside of one of its files, or to the whole."""
    if rng.random() < 0.3:
        return damaged(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    name = rng.choice([*parts, *["xl/worksheets/sheet1.xml"] * 9])
    parts[name] = damaged(rng, parts[name])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        for part, content in parts.items():
            book.writestr(part, content)
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_damaged_files_of_each_source_are_read_or_refused(tmp_path: Path, name: str) -> None:
    """3,000 mutations of each in full: no exception but our own, which names the file, and no text without UTF-8."""
    source, rng, found = SOURCES[name], random.Random(name), {"read": 0, "refused": 0}
    sound = source.data(publications(name, 3))
    for number in range(cases(12, 3000)):
        path = tmp_path / source.file
        path.write_bytes(damaged_workbook(rng, sound) if path.suffix == ".xlsx" else damaged(rng, sound))
        case, said = f"case {number} of {name}", ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for _, document in formats.read_documents(path):
                    fields = dict(document.fields) if isinstance(document, Reference) else {}
                    for text in texts([document.title, document.text, document.metadata, fields]):
                        text.encode()
                    formats.guess_database(getattr(document, "form", ""), [fields])
        except CleverdonError as error:
            said = str(error)
        assert said == "" or (said.startswith(str(path)) and "\n" not in said), f"{case}: {said}"
        found["refused" if said else "read"] += 1
    assert found["read"] or path.suffix == ".xml", found


@pytest.mark.parametrize(
    ("form", "fields", "name"),
    [
        ("ris", {"DB": ["Ovid MEDLINE(R) ALL <1946 to June 25, 2024>"]}, "MEDLINE"),
        ("ris", {"UR": ["http://ovidsp.ovid.com/ovidweb.cgi?T=JS&PAGE=reference&D=psyc19&AN=1"]}, "APA PsycInfo"),
        ("ris", {"AN": ["WOS:000123"], "DP": ["Zotero"]}, "Web of Science"),
        ("ris", {"DB": ["Bibliography of Cold Houses"]}, "Bibliography of Cold Houses"),
        ("ris", {"AB": ["We searched Embase and PubMed."], "UR": ["https://cold.example/Embase"]}, ""),
        ("table", {"Title": ["Heat"], "IEEE Terms": ["heat"]}, "IEEE Xplore"),
        ("csl", {"source": ["PubMed"]}, "PubMed"),
        ("nbib", {}, "PubMed"),
    ],
)
def test_the_database_of_records(form: str, fields: dict[str, list[str]], name: str) -> None:
    assert formats.guess_database(form, [fields, fields, {"TI": ["Heat"]}]) == name


def test_the_database_in_the_search_history(tmp_path: Path) -> None:
    """Ovid's older exports name the database between the records alone; a mixed library has none."""
    text = "1. \nTY  - JOUR\nT1  - Heat\nER  -\n\nC1  - Database: Embase <1980 to 2024 Week 25>\n\nSearch Strategy:\n"
    (tmp_path / "a.ris").write_text(text)
    fields = {"TY": ["JOUR"], "T1": ["Heat"]}
    assert formats.guess_database("ris", [fields], formats.database_lines(tmp_path / "a.ris")) == "Embase"
    assert formats.guess_database("ris", [{"DB": ["Embase"]}, {"DB": ["Scopus"]}], ["Embase"]) == ""
