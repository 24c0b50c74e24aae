"""Files made to exhaust the memory or the time, to run something, or to read other files.

Each reader refuses them in one sentence, or reads them in a time that grows with their size. `test_fuzz.py` damages
files at random.
"""

import bz2
import gzip
import json
import lzma
import os
import pickle
import resource
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collection import Campaign, formats
from collection.active_learning.features.storage import Embeddings
from collection.core.characters import unescaped
from collection.core.errors import CleverdonError, FormatError
from collection.formats import compression, parquet, source, workbook
from tests.helpers import grows_linearly

Read = Callable[[Path], Any]


def read_documents(path: Path) -> list[Any]:
    return [document for _, document in formats.read_documents(path)]


READERS: dict[str, Read] = {
    "run": formats.read_run,
    "qrels": formats.read_qrels,
    "documents": read_documents,
    "topics": formats.read_topics,
    "labels": formats.read_labels,
    "clicks": formats.read_clicks,
    "costs": formats.read_costs,
    "preferences": formats.read_preferences,
}


def refusal(read: Read, path: Path) -> str:
    """The one sentence in which a reader refuses a file."""
    with pytest.raises(FormatError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    return said


# gzip -------------------------------------------------------------------------------------------------


BOMBS = {
    "lines": (b"\n", 1 << 19), "comments": (b"#\n", 1 << 19),
    "NUL": (b"\0", 16 << 20), "blanks": (b" ", 16 << 20), "letters": (b"a", 16 << 20), "brackets": (b"[", 16 << 20),
}  # fmt: skip


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files that expand to a thousand times their size."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, (unit, size) in BOMBS.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(unit * (size // len(unit)), 9, mtime=0))
    return {name: folder / f"{name}.gz" for name in BOMBS}


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_gzip_bomb_is_refused_before_it_is_unpacked(
    bombs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, bomb: str
) -> None:
    monkeypatch.setattr(compression, "EXPANDED", 1 << 16)
    monkeypatch.setattr(source, "CHUNK", 1 << 16)
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 18)
    for read in READERS.values():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = refusal(read, bombs[bomb])
        assert bomb != "lines" or "at most 0 MiB when unpacked, found more; the file may be made to fill" in said
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 6 << 10, "kilobytes"


def test_millions_of_empty_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_EMPTY_LINES", 1000)
    for line in ("\n", "\r\n", "#\n", " \n"):
        (tmp_path / "a").write_text(line * 1001 + "1 Q0 d1 1 2 a\n")
        assert "line 1001: expected " in (said := refusal(formats.read_run, tmp_path / "a"))
        assert "found 1,000 empty lines" in said
        (tmp_path / "a").write_text(line * 999 + "1 Q0 d1 1 2 a\n")
        assert len(formats.read_run(tmp_path / "a").frame) == 1


def test_a_large_file_that_expands_less_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "EXPANDED", 1 << 10)
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress("".join(f"1 Q0 d{n} {n} {-n} a\n" for n in range(5000)).encode()))
    assert len(formats.read_run(path).frame) == 5000


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.long
def test_a_file_that_repeats_itself_is_read(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """No ratio says that a file is hostile: one text in all documents compresses several hundred times."""
    text = "The same words in each of the documents. " * 600
    lines = "".join(json.dumps({"_id": f"d{n}", "text": text}) + "\n" for n in range(200)).encode()
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(compress(lines))
    assert len(lines) > 250 * path.stat().st_size
    assert [found.doc_id for found in read_documents(path)] == [f"d{n}" for n in range(200)]


# XML and other markup ---------------------------------------------------------------------------------

LAUGHS = '<!ENTITY a "ha">' + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefghij"))
ENTITIES = {
    "a billion laughs": f"<!DOCTYPE xml [{LAUGHS}]>",
    "a file": "<!DOCTYPE xml [<!ENTITY j SYSTEM 'file:///etc/passwd'>]>",
    "an address": "<!DOCTYPE xml [<!ENTITY j SYSTEM 'https://evil.invalid/'>]>",
    "a parameter": "<!DOCTYPE xml [<!ENTITY % j SYSTEM 'https://evil.invalid/'> %j;]>",
}


@pytest.mark.parametrize("kind", ENTITIES)
def test_entities_of_xml_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"{ENTITIES[kind]}<xml><records><record><abstract>&j;</abstract></record></records></xml>")
    assert "expected XML without entity definitions" in refusal(read_documents, path)
    path.write_text(f"{ENTITIES[kind]}<topics><topic number='1'><title>&j;</title></topic></topics>")
    assert "expected XML without entity definitions" in refusal(formats.read_topics, path)


def test_a_document_type_from_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.dtd").write_text("<!ENTITY j 'read'>")
    path = tmp_path / "a.xml"
    path.write_text(f"<!DOCTYPE xml SYSTEM '{tmp_path}/a.dtd'><xml><record><abstract>&j;</abstract></record></xml>")
    assert all("read" not in (document.text or "") for document in read_documents(path))


ENDNOTE = "<xml><records><record><titles><title>a</title></titles><abstract>{}</abstract></record></records></xml>"
SLOW: dict[str, tuple[Read, str, Callable[[int], str]]] = {
    "EndNote, styles": (read_documents, "a.xml", lambda n: ENDNOTE.format("<style>words of it</style>" * n)),
    "EndNote, depth": (read_documents, "a.xml", lambda n: ENDNOTE.format("<a>x" * n + "</a>" * n)),
    "XML topics": (
        formats.read_topics, "a.xml", lambda n: f"<topic number='1'>{'<title>ab words</title>' * n}</topic>",
    ),
    "XML topics without elements": (
        formats.read_topics, "a.xml", lambda n: f"<topic number='1'>{'words of it<b></b>' * n}</topic>",
    ),
    "SGML topics": (formats.read_topics, "a.txt", lambda n: f"<top><num>1{'<title>ab words' * n}</top>"),
    "TREC, a tag": (read_documents, "a.trec", lambda n: f"<DOC><DOCNO>1</DOCNO><TEXT><{'a-' * n}</TEXT></DOC>"),
    "TREC, one line": (
        read_documents, "a.trec", lambda n: "".join(f"<DOC><DOCNO>{i}</DOCNO>{'words ' * 9}</DOC>" for i in range(n)),
    ),
    "RIS": (read_documents, "a.ris", lambda n: "TY  - JOUR\nTI  - a\nAB  - b\n" + "and words\n" * n + "ER  - \n"),
    "nbib": (read_documents, "a.nbib", lambda n: "PMID- 1\nTI  - a\nAB  - b\n" + "      and words\n" * n),
    "ciw": (read_documents, "a.ciw", lambda n: "PT J\nTI a\nAU b\n" + "   and words\n" * n + "ER\n"),
    "RIS, no records": (read_documents, "a.ris", lambda n: "TI  - a\n\nwords\n" * n + "TY  - JOUR\nTI  - a\nER  - \n"),
    "RIS, markup": (
        read_documents, "a.ris",
        lambda n: f"TY  - JOUR\nTI  - {'<i x=1 <b>&lt;' * n}\nDO  - {'10.1000/<::' * n}\nER  - \n",
    ),
    "BibTeX": (read_documents, "a.bib", lambda n: f"@article{{a, title={{{'{a} b # ' * n}}}}}"),
    "BibTeX, LaTeX": (read_documents, "a.bib", lambda n: "@article{a, title={" + r"\'{e} $a_b$ -- $ \x " * n + "}}"),
    "BibTeX, entries": (read_documents, "a.bib", lambda n: "@a{b, title={c" * n + "\n@article{a, title={b}}"),
}  # fmt: skip
SIZES = {"EndNote, depth": 2000, "TREC, a tag": 1000, "TREC, one line": 4000}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SLOW)
def test_no_text_takes_time_that_grows_with_its_square(tmp_path: Path, kind: str) -> None:
    read, name, make = SLOW[kind]

    def prepare(size: int) -> Callable[[], object]:
        path = tmp_path / f"{size}{name}"
        path.write_text(make(size), encoding="utf-8")
        return lambda: read(path)

    assert grows_linearly(prepare, SIZES.get(kind, 20_000))


def test_numbers_of_characters_may_have_thousands_of_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.trec"
    path.write_text(f"<DOC><DOCNO>1</DOCNO><TEXT>a&#{'9' * 5000};b&#x{'0' * 5000}41;</TEXT></DOC>")
    assert read_documents(path)[0].text == "a\ufffdbA"
    path.write_text(f"<top><num>1<title>a&#{'9' * 5000};b&#{'0' * 5000}65;</top>")
    assert formats.read_topics(path)["title"].tolist() == ["a\ufffdbA"]
    assert unescaped("1 &lt; 2 & 3 &#65") == "1 < 2 & 3 A"


# Parquet ----------------------------------------------------------------------------------------------


def write_table(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path


def repeated(value: str, rows: int) -> pa.Array:
    """One text many times, which Parquet writes once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))


@pytest.mark.slow
@pytest.mark.long
def test_a_parquet_file_that_expands_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = pa.array([f"d{n}" for n in range(600)])
    path = write_table(tmp_path / "a.parquet", pa.table({"doc_id": ids, "text": repeated("x" * 100_000, 600)}))
    assert path.stat().st_size < 40_000  # and 60 MB of texts
    monkeypatch.setattr(parquet, "ANY_RATIO", 8 << 20)
    assert "a file that expands to more than 8 MiB" in refusal(read_documents, path)
    monkeypatch.setattr(source, "LONGEST_LINE", 10_000)
    assert "a row that expands to more than 0 MiB" in refusal(read_documents, path)
    monkeypatch.setattr(parquet, "MEMORY", 256 << 20)
    path = write_table(tmp_path / "b.parquet", pa.table({"doc_id": ids, "text": repeated("x" * (4 << 20), 600)}))
    assert "it takes more than 256 MiB of memory" in refusal(read_documents, path)


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, [], True, {"a": 1}], ids=["nulls", "lists", "truths", "objects"])
@pytest.mark.long
def test_many_small_values_in_a_row_of_parquet_are_refused(tmp_path: Path, value: object) -> None:
    column = pa.array([[value] * 3_000_000])
    if pa.types.is_null(column.type.value_type):
        column = column.cast(pa.list_(pa.int8()))
    path = write_table(tmp_path / "a.parquet", pa.table({"doc_id": ["d1"], "x": column}))
    assert "a row that expands to more than 128 MiB" in refusal(read_documents, path)


@pytest.mark.slow
def test_large_rows_of_parquet_are_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 4000)
    rows = [{"doc_id": f"d{n}", "text": "x" * (n * 7 % 3000)} for n in range(300)]
    path = write_table(tmp_path / "a.parquet", pa.Table.from_pylist(rows))
    assert [{"doc_id": found.doc_id, "text": found.text} for found in read_documents(path)] == rows


# .npy -------------------------------------------------------------------------------------------------


class Payload:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch hostile",)


def npy(header: str) -> bytes:
    line = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + b"\0" * 60


HEADERS = [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 5)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 4000 + ", 5)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3.5, 5)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 5)}",
    "{'descr': 'O', 'fortran_order': False, 'shape': (3, 5)}",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3, 2)}",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 5)}",
    "__import__('os').system('touch hostile')",
    "(" * 9000,
    "{'descr': '<f4'*10**9, 'fortran_order': False, 'shape': (3, 5)}",
]


def test_nothing_in_a_file_of_embeddings_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "objects.npy", np.array([Payload()], object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Payload()))
    np.savez(tmp_path / "archive.npz", a=np.zeros((3, 5)))
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    (tmp_path / "empty.npy").write_bytes(b"")
    for number, header in enumerate(HEADERS):
        (tmp_path / f"{number}.npy").write_bytes(npy(header))
    files = sorted(tmp_path.glob("*.npy"))
    assert len(files) == len(HEADERS) + 4
    for path in files:
        refusal(lambda path: Embeddings(path, None).write(tmp_path / "written", 3), path)
    assert not (tmp_path / "hostile").exists()


# ZIP and XLSX -----------------------------------------------------------------------------------------

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = {"workbook": "sheet.main", "worksheets/sheet1": "worksheet", "sharedStrings": "sharedStrings"}
WORKBOOK = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    + "".join(
        f'<Override PartName="/xl/{part}.xml" '
        f'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml"/>'
        for part, kind in TYPES.items()
    )
    + "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="a" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="a" Type="{OFFICE}/worksheet" Target="{{target}}"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
    '<sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>',
    "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"/>',
}


def cell(place: str, words: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{words}</t></is></c>'


def book(path: Path, rows: str, begin: str = "", target: str = "worksheets/sheet1.xml", **parts: str) -> Path:
    """A workbook with a header, and rows as they are in its file."""
    header = f'<row r="1">{cell("A1", "doc_id")}{cell("B1", "text")}</row>'
    sheet = f'{begin}<worksheet xmlns="{MAIN}"><sheetData>{header}{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in (WORKBOOK | parts | {"xl/worksheets/sheet1.xml": sheet}).items():
            archive.writestr(name, content.replace("{target}", target))
    return path


def test_a_workbook_as_it_should_be_is_read(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", f'<row r="2">{cell("A2", "d1")}{cell("B2", "words")}</row>')
    assert [(found.doc_id, found.text) for found in read_documents(path)] == [("d1", "words")]


@pytest.mark.slow
@pytest.mark.long
def test_workbooks_that_expand_or_reach_outside_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = f'<row r="2">{cell("A2", "d1")}{cell("B2", "&j;")}</row>'
    wide = "".join(f'<row r="{n}">{cell(f"A{n}", f"d{n}")}<c r="XFD{n}"/></row>' for n in range(2, 99))
    strings = {"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{"<si><t/></si>" * 400_000}</sst>'}
    documents = {kind: text.replace(" xml ", " worksheet ") for kind, text in ENTITIES.items()}
    monkeypatch.setattr(workbook, "CELLS", 300_000)
    monkeypatch.setattr(workbook, "ANY_RATIO", 4 << 20)
    for path, said in (
        (book(tmp_path / "laughs.xlsx", row, documents["a billion laughs"]), "damaged"),
        (book(tmp_path / "file.xlsx", row, documents["a file"]), "damaged"),
        (book(tmp_path / "wide.xlsx", wide), ", row 20: expected an XLSX workbook of at most 1,048,576 rows"),
        (book(tmp_path / "far.xlsx", f'<row r="2000000000">{cell("A9", "d1")}</row>'), "and 300,000 cells, found more"),
        (book(tmp_path / "strings.xlsx", row, **strings), "more than 200 times"),
        (book(tmp_path / "outside.xlsx", row, target="../../../../../../../etc/passwd"), "damaged file"),
    ):  # fmt: skip
        assert said in refusal(read_documents, path)
    monkeypatch.setattr(workbook, "EXPANDED", 1000)
    assert "when unpacked" in refusal(read_documents, book(tmp_path / "large.xlsx", ""))


def test_an_archive_is_not_unpacked(tmp_path: Path) -> None:
    """No reader takes a ZIP file, so that no name in it leads out of a folder."""
    for name in ("a.zip", "a.jsonl", "a.csv", "a.run", "a.xlsx"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("../../hostile.jsonl", '{"doc_id": "d1"}')
            archive.writestr("/tmp/hostile.jsonl", '{"doc_id": "d1"}')
        for read in READERS.values():
            refusal(read, tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 5
    assert not (tmp_path.parent / "hostile.jsonl").exists()


# The campaign -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_a_malicious_file_leaves_a_campaign_as_it_was(tmp_path: Path, bombs: dict[str, Path]) -> None:
    (tmp_path / "topics.tsv").write_text("1\twings\n")
    (tmp_path / "laughs.xml").write_text(f"{ENTITIES['a billion laughs']}<xml><record/></xml>")
    with Campaign.create(tmp_path / "c") as campaign:
        for name in ("letters", "NUL"):
            with pytest.raises(CleverdonError):
                campaign.imports.import_files(topics=tmp_path / "topics.tsv", documents=[bombs[name]])
        with pytest.raises(CleverdonError):
            campaign.imports.import_files(topics=tmp_path / "topics.tsv", documents=[tmp_path / "laughs.xml"])
        assert campaign.store.judgements.counts()["topics"] == 0
        assert campaign.corpus.document("d1") is None
