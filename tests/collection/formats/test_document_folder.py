"""Folders in which each file is a document: ids, titles, encodings, what is left out; and the text of PDF files."""

import base64
import unicodedata
import warnings
import zlib
from pathlib import Path
from random import Random

import pytest

from collection.core.errors import FormatError, FormatWarning, InputError
from collection.core.records import Document
from collection.formats import has_pdf_files, is_document_folder, pdf, pdf_reader, read_documents, source
from collection.formats.document_folder import find_document_files
from tests.helpers import cases
from tests.pdf_files import SCRIPT, write_pdf

# The file of write_pdf(["Secret"]), encrypted with a password for reading, and with one for changing it only.
LOCKED, RESTRICTED = (
    zlib.decompress(base64.b64decode(text))
    for text in (
        "eNqNU8tu00AUFRsqzQewnk2WdN4vYWXRtBEIqlYJdAECaTweB6NgV/YENfAHfAA7QIKfQGLJihULfgCB+A/GdppaShf4IY3PPffcM3euR6eH"
        "09tkn4HR7z8/fgICMazSFyBJAHq4PvcQTWywy2oB0Kld+AbSSJiB8Rj4MmuJdCeh4wF0v8ga+ASylg+fAjSpVmWAZJDKrk1tC9U+UvtK6Nhn"
        "hT2oLqIWjjen8cW4VyxDJDaQ98yZb6pV7aLJVnEao/2CQHFpun829fmg/gNfLsJzyFQbb0Lt7Uvw68v7M/j5RnPT7n9Vbu/xd/Th253VrWdv"
        "33zaa6q/x5OP78p1K7bhb2TFzrZaKwDNV2noPluQAHRgG9+ZRHf98pUPhbMDc3KoUoSlh8nQuxqEz2JX0QzS7S44jk2MnTLcSEVNDEyLZfA1"
        "RPNgy8zWGUAnMDHEO861UblW1AqnsZJEcIm5TKlPBVGUkdxZqpjDONM5NtjnxGujtUo1HQP0CCZRI/OWc5kbo1mee2Wos7l3aUxjhnGNDY8n"
        "JqiyGFunueGZMyITODqkeriri9rnAEMN8PaCUggmYA63GIkN7iLlFSb5DkYo28GoIDsYY3oH4/gajJkrLNS2WPq6a/+8eO2jZTSrqjjf/Sje"
        "K/MKys36MI5uIq3jIssstpxaokTsFXeKeUl5qjnm4/+hxKE/Kl29Pg9QXY50E2wdusZJEf/i0dHJFPwD0+wBkw==",
        "eNqNU7tu1EAUlSinoOIDpllRwbxnbGm1EptkxVMJuzwUEMV4fL0YLXZkz6KENkiIloYCiS/gF/gAGihSRwj4BXoY25uNpU2BH9L43HPPnDm6"
        "HuxtT66x6wINfv3+foIYprhMXqDhEJEHRweAyZb1dlHOEdmzc6gxD4QpGo0QFGlD5BsNLQ+RO3la46dYNHz8DJGtcll4zHqt4sLWZqMKArXb"
        "idyDNLfj8jBo0XBLHl5KO8XCB2KNZcecQl0uKxdMNoqTUO0WDKsz092z2l/29r8Lxdw/x8I09dpXYF+iP9Ofg8cnN/Z/fLiaXDmlX57sX/70"
        "8e3nr+O/795fOj6dvrl/fPtbI7bir2TVxrEaK4jMlolvPxuQITK2NbQmyU1YvAKfO9szp/squV8AHva9m175UUiVTDFfn0LSEGJIKpaxNjwO"
        "hUm+8FBhMvO2SG2VIrKLhy7mknMdmcw6AB1pEEZkjCbKmZRKIyKqBFM8M8ABBAXGnI7BScmV0TYZIfIQDzljLDWhuxXhLNU2tSyTMeNggmKS"
        "OYisioVTWsfBkgiWmLFGuYxmLOuf6rCCDFEcIbq+sFZKKJzhNcZCwG2lOMe03MAYFxsYV2wDEyLawCS9ABPxOeYrmy+gauOf5a8hWCbTsgzz"
        "3Y3irSIrsV6tt8PoDpnULo2tSFKuM5m4kFHIOoqYkSEEQ0f/QwlDv1O46ujAY3M20rW3lW+D0yr8xYOd3Qn6B2pHBiE=",
    )
)


def write(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(path: Path, copies: Path | None = None) -> tuple[dict[str, Document], list[str]]:
    """Documents by id, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        documents = {document.doc_id: document for _, document in read_documents(path, copies)}
    return documents, [w.message.sentence for w in caught if isinstance(w.message, FormatWarning)]


def test_each_file_is_a_document_with_its_path_as_id_and_a_title(tmp_path: Path) -> None:
    page = '<!doctype html><html><head><meta charset="ISO-8859-1"><title>\n Zo\xe9 &amp; co</title></head>\x93a\x94'
    folder = write(
        tmp_path / "docs",
        {
            "b.txt": "A text\nof two lines",
            "sub/deep/a.md": "Intro\n\n# The *wing* of [a](http://x.org) `bird` #\n\nText",
            "sub/setext.md": "A title\n=======\n",
            "sub/none.md": "no heading",
            "c.HTML": page.encode("latin-1"),
            "d.htm": "<p>No title",
            "utf16.txt": "Zürich".encode("utf-16"),
            "my paper.pdf": write_pdf(["First page", "Second page"], title="Wings"),
            "named.pdf": write_pdf(["x"], title="Microsoft Word - draft.doc"),
        },
    )
    assert is_document_folder(folder)
    documents, notes = read(folder)
    titles = {doc_id: document.title for doc_id, document in documents.items()}
    assert titles == {
        "b.txt": "b", "sub/deep/a.md": "The wing of a bird", "sub/setext.md": "A title", "sub/none.md": "none",
        "c.HTML": "Zoé & co", "d.htm": "d", "utf16.txt": "utf16", "my_paper.pdf": "Wings", "named.pdf": "named",
    }  # fmt: skip
    assert [*documents] == sorted(documents)
    assert documents["b.txt"].text == "A text\nof two lines"
    assert documents["utf16.txt"].text == "Zürich"
    assert documents["c.HTML"].text is not None
    assert documents["c.HTML"].text.endswith("“a”")
    assert documents["my_paper.pdf"].text == "First page\n\nSecond page"
    assert {each.metadata["format"] for each in documents.values()} == {"text/plain", "text/markdown", "text/html"}
    assert notes == ["1 document id has '_' in place of the blanks of the file name (my_paper.pdf)"]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    outside = write(tmp_path, {"secret.txt": "secret", "docs/a.md": "a", "docs/b.docx": "b", "docs/c.docx": "c"})
    folder = write(
        outside / "docs", {".git/config.txt": "x", ".hidden.md": "x", "sub/Makefile": "x", "inside.txt": "y"}
    )
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    (folder / "in.txt").symlink_to(folder / "inside.txt")
    (folder / "nowhere.txt").symlink_to(folder / "missing.txt")
    documents, notes = read(folder)
    assert [*documents] == ["a.md", "in.txt", "inside.txt"]
    assert notes == [
        "left out 4 files of other kinds (2 .docx, 1 .txt and 1 without an ending)",
        "left out 2 hidden files and folders",
        "left out 2 symbolic links to folders or out of this folder (up and out.txt)",
    ]


def test_names_that_would_be_one_id_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {"a b.md": "x", "a_b.md": "y"})
    with pytest.raises(FormatError, match=r"expected one file with the id 'a_b.md', found 'a b.md' and 'a_b.md'"):
        find_document_files(folder)
    accents = write(tmp_path / "accents", {unicodedata.normalize("NFD", "café.md"): "x"})
    assert [*find_document_files(accents).files] == [unicodedata.normalize("NFC", "café.md")]
    (tmp_path / "names").mkdir()
    try:
        Path(f"{tmp_path}/names/\udcff.md").write_text("x")
    except OSError:
        pytest.skip("this file system takes no names that are not UTF-8")
    with pytest.raises(FormatError, match=r"files whose names are UTF-8"):
        find_document_files(tmp_path / "names")


def test_a_text_in_an_unknown_encoding_is_an_error_with_its_line(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.txt": b"first\ncaf\xe9\n"})
    with pytest.raises(FormatError, match=r"a\.txt, line 2: expected UTF-8, found byte 0xE9"):
        read(folder)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.jsonl": '{"id": "d1", "text": "x"}'}, False),
        ({"a.txt": "d1\tThe text\nd2\tThe other"}, False),
        ({"a.txt": "<DOC>\n<DOCNO>d1</DOCNO>\n<TEXT>x</TEXT>\n</DOC>"}, False),
        ({"FT911_1": "<DOC>"}, False),
        ({"qrels.txt": "t1 0 d1 1\nt1 0 d2 0\nt2 0 d1 2\n"}, False),
        ({"bm25.txt": "t1 Q0 d1 1 9.5 bm25\nt1 Q0 d2 2 8.5 bm25\n"}, False),
        ({}, False),
        ({"a.txt": "Some words."}, True),
        ({"sub/a.txt": "Some words."}, True),
        ({"a.pdf": b"", "list.docx": b""}, True),
        ({"a.md": "x", "sub/docs.jsonl": "{}"}, True),
    ],
)
def test_a_folder_of_tables_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str | bytes], expected: bool
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    write(tmp_path / "docs", files)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "docs", tmp_path / "link", Path("docs")):
        assert is_document_folder(path) is expected
        assert all(file.is_relative_to(path) for file in find_document_files(path).files.values())
    assert not is_document_folder(tmp_path / "missing")
    assert not is_document_folder("ir_datasets:cranfield")


def test_tables_and_documents_in_one_folder_are_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, {"docs.jsonl.gz": b"", "README.md": "x"})
    with pytest.raises(InputError, match=r"found both \(README.md, docs.jsonl.gz\); name the files"):
        is_document_folder(folder)


@pytest.mark.slow
def test_pdf_files_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(
        tmp_path / "docs",
        {
            "good.pdf": write_pdf(["Good"]),
            "locked.pdf": LOCKED,
            "restricted.pdf": RESTRICTED,
            "scan.pdf": write_pdf([""]),
            "html.pdf": "<!doctype html><p>Not found",
            "cut.pdf": write_pdf(["x"])[:40],
            "empty.pdf": b"",
            "large.pdf": b"%PDF-1.7\n" + bytes(3000),
            "active.pdf": write_pdf(["Run"], catalog=SCRIPT),
        },
    )
    monkeypatch.setattr(pdf, "LARGEST", 3000)
    (tmp_path / "copies").mkdir()
    documents, notes = read(folder, tmp_path / "copies")
    assert {doc_id: document.text for doc_id, document in documents.items()} == {
        "good.pdf": "Good", "restricted.pdf": "Secret", "scan.pdf": "", "active.pdf": "Run",
    }  # fmt: skip
    assert {note.split(" ", 2)[2].split(";")[0] + note[note.rindex(" (") :] for note in notes} == {
        "file needs a password and is left out (locked.pdf)",
        "files cannot be read and are left out (cut.pdf, empty.pdf and html.pdf)",
        "file has more than 0 MB and is left out (large.pdf)",
        "file has no text, like a scan: annotators can judge the pages, but the model and the search know only the "
        "title (scan.pdf)",
        "file has scripts, attachments or other active content (active.pdf)",
    }
    shown = {doc_id: document.metadata["pdf"].shown.parent for doc_id, document in documents.items()}  # type: ignore[attr-defined]
    assert shown == {name: tmp_path / "copies" if name == "active.pdf" else folder for name in documents}


@pytest.mark.slow
def test_a_pdf_file_that_takes_long_or_is_long_has_the_text_read_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(
        tmp_path / "docs", {"long.pdf": write_pdf([f"page {i}" for i in range(9)]), "z.pdf": write_pdf(["z"])}
    )
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    documents, notes = read(folder)
    assert documents["long.pdf"].text == "page 0\n\npage 1"
    assert notes == [
        "the text of 1 PDF file ends early, because the file is very long or slow to read; annotators can see all "
        "pages (long.pdf)"
    ]
    # A reader that hangs after the first page, and is started again for the next file.
    hanging = tmp_path / "reader.py"
    answers = '{"pages": 9, "title": "", "width": 9, "height": 9}\n{"active": false}\n{"text": "page 0"}\n'
    hanging.write_text(
        f"import sys, time\nline = sys.stdin.readline()\nprint({answers!r}, end='', flush=True)\ntime.sleep(600)\n"
    )
    monkeypatch.setattr(pdf, "_READER", hanging)
    monkeypatch.setattr(pdf, "SECONDS", 1)
    documents, _ = read(folder)
    assert [document.text for document in documents.values()] == ["page 0", "page 0"]
    hanging.write_text("import os\nos.abort()\n")
    documents, notes = read(folder)
    assert not documents
    assert notes == ["2 PDF files cannot be read and are left out; copy or save again (long.pdf and z.pdf)"]


def test_lines_of_a_paragraph_are_joined() -> None:
    full = "These words of a paragraph fill the line up to its"
    page = (
        f"1 A heading\r\n{full}\r\n{full}\r\nend.\r\n• {full}\r\n• {full}\r\n1.2 In the contents {'. ' * 18}7\r\n2 Next"
    )
    assert pdf._cleaned(page) == (
        f"1 A heading\n{full} {full} end.\n• {full}\n• {full}\n1.2 In the contents {'. ' * 18}7\n2 Next"
    )
    japanese = "\n".join(["日本語の文章がここにあります" * 4] * 3)
    assert pdf._cleaned(japanese) == japanese


@pytest.mark.parametrize(
    "active",
    [
        (SCRIPT, []),
        ("/OpenAction<</S/Java#53cript/J#53(x)>>", []),
        ("/Names<</JavaScript<</Names[(x) 4 0 R]>>>>", ["<</S/JavaScript/JS(app.alert\\(1\\))>>"]),
        ("/OpenAction 4 0 R", ["<</S/URI/URI(http://x.org/)>>"]),
        ("/OpenAction<</S/Launch/F(x.exe)>>", []),
        ("/AcroForm<</Fields[]/XFA 4 0 R>>", ["<</Length 3>>stream\nxfa\nendstream"]),
        ("/AA<</WC 4 0 R>>", ["<</S/SubmitForm/F(http://x.org)>>"]),
        ("/Names<</EmbeddedFiles<</Names[(x) 4 0 R]>>>>", ["<</Type/Filespec/F(x)>>"]),
    ],
    ids=["script", "escaped", "named script", "address", "program", "form", "event", "attachment"],
)
@pytest.mark.slow
def test_what_runs_by_itself_is_not_in_the_copy(tmp_path: Path, active: tuple[str, list[str]]) -> None:
    catalog, more = active
    (tmp_path / "docs").mkdir()
    (tmp_path / "copies").mkdir()
    file = tmp_path / "docs" / "a.pdf"
    file.write_bytes(write_pdf(["The words stay"], catalog=catalog, more=more))
    ((_, first),) = pdf.read_texts([(None, file)], tmp_path / "copies")
    assert first is not None
    assert first.copy is not None
    content = first.copy.read_bytes()
    assert not [name for name in pdf_reader.ACTIVE if f"/{name}".encode() in content.replace(b"/JSX", b"")]
    assert b"/OpenAction" not in content or b"/URI" not in content
    ((_, again),) = pdf.read_texts([(None, file)], tmp_path / "docs")
    assert again is not None
    assert again.copy is not None
    assert again.copy.read_bytes() == content  # so that an import changes nothing
    ((_, copied),) = pdf.read_texts([(None, first.copy)], tmp_path / "docs")
    assert copied is not None
    assert copied.text == "The words stay"
    assert copied.copy is None


def test_a_file_that_only_goes_to_a_page_needs_no_copy(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(write_pdf(["a"], catalog="/OpenAction 4 0 R", more=["<</S/GoTo/D[5 0 R /Fit]>>"]))
    ((_, content),) = pdf.read_texts([(None, file)], tmp_path)
    assert content is not None
    assert content.checked
    assert content.copy is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r'{"id": "d1", "pdf" : "a b\u00e4\"/c.PDF"}', True),
        ('{"id": "d1", "pdf": "https://x.org/a.pdf"}', False),
        (r'{"id": "d1", "pdf": "https:\/\/x.org\/a.pdf"}', False),
        ('{"id": "d1", "pdf": {"pages": 3}, "text": "a.pdf"}', False),
    ],
)
def test_only_names_of_files_make_an_import_read_pdf_files_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, expected: bool
) -> None:
    write(tmp_path, {"docs.jsonl": f'{{"id": "d0", "text": "{"x" * 100}"}}\n{line}\n'})
    for block in (1 << 20, 37):
        monkeypatch.setattr(source, "CHUNK", block)
        assert has_pdf_files(tmp_path / "docs.jsonl") is expected


@pytest.mark.slow
def test_jsonl_can_name_pdf_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collection.formats.documents.has_pdf_files", None)  # which reads the whole file
    write(tmp_path, {"papers/a.pdf": write_pdf(["Words of a"], title="A"), "secret.pdf": write_pdf(["Secret"])})
    lines = [
        '{"id": "d1", "pdf": "papers/a.pdf"}',
        '{"id": "d2", "title": "Own", "text": "Own words", "pdf": "papers/a.pdf"}',
        '{"id": "d3", "text": "x", "pdf": "../secret.pdf"}',
        '{"id": "d4", "text": "x", "pdf": "https://x.org/a.pdf"}',
    ]
    write(tmp_path / "in", {"docs.jsonl": "\n".join(lines), "papers/a.pdf": write_pdf(["Words of a"], title="A")})
    documents, notes = read(tmp_path / "in" / "docs.jsonl")
    assert [(each.title, each.text) for each in documents.values()] == [
        ("A", "Words of a"), ("Own", "Own words"), ("", "x"), ("", "x"),
    ]  # fmt: skip
    assert [isinstance(each.metadata["pdf"], pdf.PdfFile) for each in documents.values()] == [True, True, False, False]
    assert not notes


@pytest.mark.long
def test_damaged_pdf_files_are_read_in_part_or_left_out(tmp_path: Path) -> None:
    random = Random(7)
    whole = write_pdf([f"Page {i}" for i in range(3)], title="T", catalog=SCRIPT)
    (tmp_path / "copies").mkdir()
    for number in range(cases(200, 2_000)):
        content = bytearray(whole)
        for _ in range(random.randint(1, 12)):
            at = random.randrange(len(content))
            content[at : at + random.choice((0, 1, 4))] = random.randbytes(random.randint(0, 6))
        (tmp_path / f"{number}.pdf").write_bytes(
            content[: random.randint(1, len(content))] if number % 4 == 0 else content
        )
    files = sorted(tmp_path.glob("*.pdf"))
    for file, content in pdf.read_texts([(file, file) for file in files], tmp_path / "copies"):
        assert content is not None
        assert content.problem in (None, "damaged", "password", "security"), file
        assert content.read <= content.pages or content.problem
        if content.copy is not None:
            copied = content.copy.read_bytes()
            assert pdf_reader.deactivate(copied) == copied
