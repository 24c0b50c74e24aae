"""Every payload of :mod:`tests.hostile` through every door of the library: files in, names, settings, and files out.

`tests/browser/test_hostile.py` looks at the same campaign on every page.
"""

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotate.card.server.document_payload import document_payloads
from annotate.views.widgets import widgets
from collection import Campaign, Document, Judgement, formats
from collection.campaign.exports.collection_card import CollectionChoices
from collection.comparison.tables import escaped_latex
from collection.core.characters import (
    escaped_markdown,
    for_terminal,
    markdown_code,
    sanitised_markdown,
    without_markup,
)
from collection.core.errors import CleverdonError, FormatError
from collection.core.records import GradeScale
from collection.documents.rendering import shown
from collection.export import card
from collection.formats import spreadsheet
from tests import hostile
from tests.collection.core.test_characters import BIDI, RENDERER, Elements
from tests.helpers import run
from tests.hostile import MARKUP, PAYLOADS, STORED, UNWRITABLE

DRAWN = set(
    "a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()  # noqa: SIM905
)
"""Elements that a document in Markdown may have on a page."""
FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20](?![0-9.]*\\Z)")
"""The beginning of a cell that spreadsheets compute, unless it is a number."""
HARMLESS = r"[-+=@][\w./+=-]*"
"""An id that may stay as it is: a formula that can only calculate."""


def require_harmless(markup: str) -> None:
    """Fail for an element that runs, loads or covers anything."""
    page = Elements(markup)  # which refuses handlers of events
    assert set(page.found) <= DRAWN, set(page.found) - DRAWN
    assert all(re.match("https?://|mailto:", link) for link in page.links), page.links
    assert "hostile" not in re.findall(r"<[a-z][^>]*\bclass=\"?([\w-]*)", markup)


# Text shown to people ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORED)
def test_a_payload_is_text_in_every_form_of_a_document(name: str) -> None:
    payload = STORED[name]
    for form in ("plain", "preformatted", "markdown", "html", "auto"):
        found = shown(Document("d1", payload, payload), form)
        if found.html is None:
            assert (found.form in ("text", "preformatted")) or form == "markdown"
        else:
            require_harmless(found.html)
        if form in ("plain", "preformatted"):
            assert found.text == payload
    page = shown(Document("d1", "", f"<!doctype html><title>{payload}</title><p>{payload}"))
    assert page.html is None
    assert page.form == "text"


@pytest.mark.parametrize("name", STORED)
def test_a_payload_is_text_in_markdown_latex_and_terminals(name: str) -> None:
    payload = STORED[name][:20_000]
    for markdown in (escaped_markdown(payload), markdown_code(payload)):
        page = Elements(RENDERER.render(f"a {markdown} b"))
        assert set(page.found) <= {"p", "code"}
    sanitised = Elements(RENDERER.render(sanitised_markdown(payload)))
    assert not {"script", "img", "iframe", "svg", "style", "form"} & set(sanitised.found)
    for text in (escaped_markdown(payload), escaped_latex(payload), for_terminal(payload)):
        assert not re.search(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{BIDI}]", text)


@pytest.mark.parametrize("name", STORED)
def test_a_payload_is_no_formula_in_a_spreadsheet(name: str) -> None:
    cell = spreadsheet.escape(STORED[name])
    assert not FORMULA.match(cell)
    assert spreadsheet.restore(cell) == STORED[name]


# Files in ---------------------------------------------------------------------------------------------


def in_jsonl(path: Path, payload: str) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text(json.dumps({"doc_id": "d1", "title": payload, "text": payload, "note": [payload]}) + "\n")
    return path


def in_csv(path: Path, payload: str) -> Path:
    path = path.with_suffix(".csv")
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        csv.writer(file).writerows([["doc_id", "title", "text"], ["d1", payload, payload]])
    return path


def in_tsv(path: Path, payload: str) -> Path:
    path = path.with_suffix(".tsv")
    line = "\t".join(["d1", payload, payload]) + "\n"
    path.write_bytes(b"doc_id\ttitle\ttext\n" + line.encode("utf-8", "surrogatepass"))
    return path


def in_parquet(path: Path, payload: str) -> Path:
    path = path.with_suffix(".parquet")
    content = pa.array([payload.encode("utf-8", "surrogatepass")]).view(pa.string())
    pq.write_table(pa.table({"doc_id": ["d1"], "title": content, "text": content}), path)
    return path


def in_xlsx(path: Path, payload: str) -> Path:
    path, book = path.with_suffix(".xlsx"), openpyxl.Workbook()
    for row in (["doc_id", "title", "text"], ["d1", payload, payload]):
        book.active.append(row)
    for cell in book.active[2]:
        cell.data_type = "s"  # not a formula
    book.save(path)
    return path


def in_trec(path: Path, payload: str) -> Path:
    path = path.with_suffix(".trec")
    text = f"<DOC>\n<DOCNO>d1</DOCNO>\n<TITLE>{payload}</TITLE>\n<TEXT>\n{payload}\n</TEXT>\n</DOC>\n"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def in_ris(path: Path, payload: str) -> Path:
    path = path.with_suffix(".ris")
    text = f"TY  - JOUR\nTI  - {payload}\nAB  - {payload}\nUR  - {payload}\nER  - \n"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def in_nbib(path: Path, payload: str) -> Path:
    path = path.with_suffix(".nbib")
    path.write_bytes(f"PMID- 1\nTI  - {payload}\nAB  - {payload}\n".encode("utf-8", "surrogatepass"))
    return path


def in_endnote(path: Path, payload: str) -> Path:
    path = path.with_suffix(".xml")
    words = escape(payload)
    text = f"<xml><record><titles><title>{words}</title></titles><abstract>{words}</abstract></record></xml>"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


FORMS = (in_jsonl, in_csv, in_tsv, in_parquet, in_xlsx, in_trec, in_ris, in_nbib, in_endnote)
WHOLE = {in_jsonl, in_parquet}
"""Forms in which any text comes back as it was."""


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("write", FORMS, ids=lambda write: write.__name__)
def test_a_payload_in_a_document_is_read_or_refused(tmp_path: Path, write: Callable[[Path, str], Path]) -> None:
    """What is read is the payload, apart from white space and markup of the form; nothing else may happen."""
    read, refusals = 0, []
    for name, payload in PAYLOADS.items():
        if write is in_parquet and name not in ("script", "word of 1 MB", "override", *UNWRITABLE):
            continue  # each file is read by a process of its own
        try:
            path = write(tmp_path / "a", payload)
        except (openpyxl.utils.exceptions.IllegalCharacterError, UnicodeEncodeError, ValueError):
            continue  # no such file can be
        try:
            found = [document for _, document in formats.read_documents(path)]
        except FormatError as error:
            refusals.append(str(error))
            continue
        for document in found:
            json.dumps([document.title, document.text, document.metadata]).encode()
            assert "\0" not in f"{document.title}{document.text}"
        assert name not in UNWRITABLE or write is in_trec, name
        read += 1
        if write in WHOLE:
            assert (found[0].title, found[0].text) == (payload, payload)
        elif write in (in_csv, in_xlsx, in_ris, in_nbib, in_endnote) and len(payload.splitlines()) == 1:
            clean = without_markup(payload) if write in (in_ris, in_nbib, in_endnote) else payload
            assert one_line(found[0].title) == one_line(clean)[: 32_767 if write is in_xlsx else None]
    assert read > (2 if write is in_parquet else len(PAYLOADS) / 3)
    assert not [said for said in refusals if "\n" in said or not said.startswith(str(tmp_path))]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "tsv", "csv", "sgml", "xml"])
def test_a_payload_in_a_topic_is_read_or_refused(tmp_path: Path, form: str) -> None:
    path, read, refusals = tmp_path / f"a.{form}", 0, []
    for name, payload in PAYLOADS.items():
        text = {
            "jsonl": json.dumps({"query_id": "1", "title": payload, "description": payload, "narrative": payload}),
            "tsv": f"1\t{payload}",
            "csv": f'query_id,title\n1,"{payload.replace(chr(34), chr(34) * 2)}"',
            "sgml": f"<top>\n<num> 1\n<title> {payload}\n<desc> {payload}\n</top>",
            "xml": f"<topics><topic number='1'><title>{escape(payload)}</title></topic></topics>",
        }[form]
        path.write_bytes(f"{text}\n".encode("utf-8", "surrogatepass"))
        try:
            frame = formats.read_topics(path)
        except FormatError as error:
            refusals.append(str(error))
            continue
        assert name not in UNWRITABLE
        read += 1
        if form == "jsonl":
            assert frame[["title", "description", "narrative"]].values.tolist() == [[payload] * 3]
        elif form == "xml":
            assert frame["title"].tolist() == [one_line(payload)]
    assert read > len(PAYLOADS) / 2
    assert not [said for said in refusals if "\n" in said or not said.startswith(str(path))]


# Names, settings and decisions --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_a_payload_as_a_name_or_a_setting_is_kept_or_refused(campaign: Campaign, tmp_path: Path) -> None:
    """In one sentence."""

    def add_account(payload: str) -> str:
        return campaign.people.accounts.add(payload, "annotator")

    def set_groups(payload: str) -> str:
        campaign.people.accounts.set_groups("ann", [payload])
        return str(campaign.store.accounts.table().set_index("name").loc["ann", "groups"][0])

    def set_guidelines(payload: str) -> str:
        campaign.settings.set_guidelines(payload)
        return campaign.settings.guidelines()

    def set_note(payload: str) -> str:
        campaign.settings.set_topic_note("1", payload)
        return campaign.store.corpus.topic_notes()["1"]

    def set_description(payload: str) -> str:
        return campaign.settings.set_collection(description=payload, licence=payload, citation=payload).citation

    def set_url(payload: str) -> str:
        return campaign.settings.set_collection(url=payload).url

    def set_email(payload: str) -> str:
        campaign.people.accounts.set_email("ann", payload)
        return payload

    def make_scale(payload: str) -> str:
        return GradeScale({0: payload, 1: payload}).sentences[1]

    def note(payload: str) -> str:
        judgement = Judgement(f"u{len(payload)}-{hash(payload)}", "ann", "1", "d1", "graded", 1, note=payload)
        if refused := campaign.judging.judge_many([judgement]).refused:
            raise CleverdonError(refused[0].reason)
        return str(campaign.store.judgements.table()["note"].iloc[-1])

    def reason(payload: str) -> str:
        campaign.judging.judge("ann", "1", "d2", cannot_judge=payload)
        return str(campaign.store.judgements.table().query("doc_id == 'd2'")["reason"].iloc[-1])

    campaign.people.accounts.add("ann", "annotator")
    doors: dict[Callable[[str], str], int] = {
        add_account: 50, set_groups: 50, set_guidelines: 110, set_note: 110, set_description: 110, set_url: 0,
        set_email: 0, make_scale: 110, note: 110, reason: 110,
    }  # fmt: skip
    for door, least in doors.items():
        kept, refusals = 0, []
        for name, payload in PAYLOADS.items():
            try:
                found = door(payload)
            except CleverdonError as error:
                refusals.append(str(error))
                continue
            assert name not in UNWRITABLE, f"{door.__name__}, {name}"
            assert found.strip() == payload.strip(), f"{door.__name__}, {name}"
            kept += 1
        assert kept >= least, f"{door.__name__}: {kept}"
        assert not [said for said in refusals if "\n" in said], door.__name__


@pytest.mark.slow
def test_a_payload_as_a_search_finds_documents_or_is_refused(campaign: Campaign) -> None:
    refusals = []
    for payload in PAYLOADS.values():
        try:
            campaign.judging.search.find("1", "ann", payload[:500])
        except CleverdonError as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < len(PAYLOADS)
    assert not [said for said in refusals if "\n" in said]


# Files out ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """The campaign that has every payload everywhere."""
    with Campaign(hostile.build(tmp_path_factory.mktemp("attacked"))) as campaign:
        yield campaign


@pytest.mark.slow
@pytest.mark.long
def test_no_exported_table_has_a_formula(attacked: Campaign, tmp_path: Path) -> None:
    attacked.exports.files.write(
        judgements=tmp_path / "log.csv", labels=tmp_path / "labels.csv", pool=tmp_path / "pool.tsv",
        qrels=tmp_path / "qrels.txt", passages=tmp_path / "passages.jsonl",
    )  # fmt: skip
    attacked.exports.files.write(judgements=tmp_path / "log.jsonl")
    attacked.exports.work_lists.write("ann", tmp_path / "list.csv", 9999)
    attacked.exports.work_lists.write("ann", tmp_path / "list.xlsx", 9999)
    for name in ("log.csv", "labels.csv", "list.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1, name
        ids = {place for place, column in enumerate(rows[0]) if column in spreadsheet.IDS}
        cells = [(cell, HARMLESS if place in ids else "") for row in rows for place, cell in enumerate(row)]
        assert any(cell.startswith("'=HYPERLINK(") for cell, harmless in cells if harmless), name
        assert not [cell for cell, harmless in cells if FORMULA.match(cell) and not re.fullmatch(harmless, cell)], name
    book = openpyxl.load_workbook(tmp_path / "list.xlsx")
    assert not [cell for row in book.active.iter_rows() for cell in row if cell.data_type == "f"]
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines()  # of text, U+2028 ends a line too
    assert {json.loads(line)["note"] for line in lines} >= set(STORED.values())


@pytest.mark.slow
def test_nothing_in_an_exported_collection_is_markup_or_leaves_its_folder(attacked: Campaign, tmp_path: Path) -> None:
    folder = tmp_path / "exported" / "collection"
    folder.parent.mkdir()
    attacked.exports.collection.write(folder, CollectionChoices(name="attacked", with_runs=True, name_annotators=True))
    written = [path for path in folder.parent.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(folder) for path in written)
    assert {path.name for path in tmp_path.iterdir()} == {"exported"}
    for path in written:
        assert not re.search(r'[<>:"|?*\x00-\x1f\\]', path.name), path.name
    page = Elements(RENDERER.render((folder / "collection.md").read_text(encoding="utf-8")))
    assert not {"script", "img", "iframe", "svg", "style", "form", "base", "meta", "link"} & set(page.found)
    assert all(re.match("https?://|mailto:", link) for link in page.links)
    require_harmless(widgets_card(attacked))
    formats.write_zip(folder, tmp_path / "c.zip")
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        assert all(name.startswith("collection/") and ".." not in name.split("/") for name in archive.namelist())


def widgets_card(campaign: Campaign) -> str:
    """The card as the Export page draws it."""
    from collection.documents.rendering.markup import to_html

    return to_html(card(campaign.exports.collection.facts(CollectionChoices(name="attacked", name_annotators=True))))


@pytest.mark.slow
def test_every_document_is_harmless_as_pages_and_cards_get_it(
    attacked: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [str(document["doc_id"]) for document in hostile.documents()]
    documents = attacked.store.corpus.documents(ids)
    assert len(documents) == 2 * len(STORED)
    for payload in document_payloads(attacked, documents.values(), "all-in-one"):
        require_harmless(payload["html"] or "")
        assert len(json.dumps(payload)) < 300_000
        for image in payload["images"]:
            assert image["link"] == image["src"].startswith("https://")
    drawn: list[str] = []
    monkeypatch.setattr(widgets, "safe_html", lambda html, kind: drawn.append(html))
    for payload in STORED.values():
        drawn.append(widgets._image({"src": "a.png", "alt": payload, "link": False}))
        drawn.append(widgets._image({"src": f"https://x.org/{payload[:99]}", "alt": payload, "link": True}))
    for html in drawn:
        assert set(Elements(html).found) <= {"p", "a", "img"}


@pytest.mark.slow
def test_nothing_that_is_printed_of_the_campaign_commands_a_terminal(attacked: Campaign) -> None:
    for command in ("status", "agreement", "recall", "assign", "loop", "people"):
        result = run(command, attacked.directory)
        assert not re.search(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{BIDI}]", result.stdout + result.stderr), command


def test_the_table_has_enough_of_every_kind() -> None:
    assert len(PAYLOADS) >= 60
    assert len(set(PAYLOADS.values())) == len(PAYLOADS)
    assert len(MARKUP) >= 60
