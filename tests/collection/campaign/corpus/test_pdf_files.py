"""PDF files of documents: kept in the campaign by content, in backups, checks and collections."""

import hashlib
import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER, Tokens, cookie_name
from annotate.card.server.document_payload import FILES
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.campaign.corpus.pdf_files import DocumentPdf, pdf_of
from collection.core.errors import FormatError
from collection.formats import PdfFile
from tests.conftest import judging_token, signed_in
from tests.helpers import ok, post, run
from tests.pdf_files import SCRIPT, write_pdf

pytestmark = pytest.mark.slow

PLAIN, ACTIVE = write_pdf(["The wing"]), write_pdf(["The tail"], catalog=SCRIPT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two PDF files, of which one has a script, and a text."""
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "plain.pdf").write_bytes(PLAIN)
    (folder / "sub" / "active.pdf").write_bytes(ACTIVE)
    (folder / "note.txt").write_text("A note")
    return folder


def files_of(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((directory / "files").iterdir())}


def name_of(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()}.pdf"


def original_of(content: bytes) -> str:
    return name_of(content).replace(".pdf", ".original")


def test_files_are_kept_by_content_and_stay_the_same_when_imported_again(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    said = ok("import", tmp_path / "c", "--documents", folder)
    assert "3 documents (3 new)" in said
    assert "2 PDF files, which annotators see" in said
    kept = files_of(tmp_path / "c")
    assert len(kept) == 3
    assert kept[name_of(PLAIN)] == PLAIN
    assert kept[original_of(ACTIVE)] == ACTIVE
    with Campaign(tmp_path / "c") as campaign:
        plain, active = (campaign.corpus.document(each) for each in ("plain.pdf", "sub/active.pdf"))
        assert plain is not None
        assert active is not None
        assert (plain.text, active.text) == ("The wing", "The tail")
        assert pdf_of(plain.metadata) == DocumentPdf(name_of(PLAIN), 1, name_of(PLAIN), (420, 400))
        pdf = pdf_of(active.metadata)
        assert pdf is not None
        assert pdf.file == original_of(ACTIVE)
        assert pdf.shown is not None
        assert b"JavaScript" not in kept[pdf.shown]
    assert "3 documents (0 new, 3 unchanged)" in ok("import", tmp_path / "c", "--documents", folder)
    assert files_of(tmp_path / "c") == kept


def test_backups_and_checks_know_pdf_files(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    ok("import", tmp_path / "c", "--documents", folder)
    ok("backup", tmp_path / "c", tmp_path / "b.zip")
    ok("restore", tmp_path / "b.zip", tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "c")
    ok("check", tmp_path / "again")
    (tmp_path / "again" / "files" / name_of(PLAIN)).unlink()
    with Campaign(tmp_path / "again") as campaign:
        assert campaign.corpus.view.content_file(name_of(PLAIN)) is None
        assert campaign.corpus.view.content_file(original_of(ACTIVE)) is not None


def test_a_collection_has_the_files_and_gives_them_back(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    (tmp_path / "t.tsv").write_text("t1\twings\n")
    (tmp_path / "q.txt").write_text("t1 0 plain.pdf 1\nt1 0 sub/active.pdf 0\n")
    own = {"file": "report.docx", "note": "of the user"}
    (tmp_path / "own.jsonl").write_text(json.dumps({"id": "own", "text": "x", "pdf": own}))
    documents = ("--documents", folder, "--documents", tmp_path / "own.jsonl")
    ok("import", tmp_path / "c", *documents, "--topics", tmp_path / "t.tsv", "--qrels", tmp_path / "q.txt")
    with Campaign(tmp_path / "c") as campaign:
        before = campaign.corpus.document("sub/active.pdf")
    ok("export", tmp_path / "c", "--collection", tmp_path / "out", "--corpus", "all")
    assert files_of(tmp_path / "out") == {name_of(each): each for each in (PLAIN, ACTIVE)}
    lines = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_text().splitlines()]
    assert {line["_id"]: line.get("pdf") for line in lines} == {
        "note.txt": None, "plain.pdf": f"files/{name_of(PLAIN)}", "sub/active.pdf": f"files/{name_of(ACTIVE)}",
        "own": own,
    }  # fmt: skip
    ok("new", tmp_path / "d")
    ok("import", tmp_path / "d", "--collection", tmp_path / "out")
    assert files_of(tmp_path / "d") == files_of(tmp_path / "c")
    with Campaign(tmp_path / "d") as campaign:
        assert campaign.corpus.document("sub/active.pdf") == before


def test_no_field_of_a_file_chooses_one_of_the_files_of_the_campaign(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    ok("import", tmp_path / "c", "--documents", folder)
    forged = {"file": name_of(ACTIVE), "pages": 1, "shown": name_of(ACTIVE)}
    (tmp_path / "forged.jsonl").write_text(json.dumps({"id": "d9", "text": "x", "pdf": forged}) + "\n")
    ok("import", tmp_path / "c", "--documents", tmp_path / "forged.jsonl")
    with Campaign(tmp_path / "c") as campaign:
        document = campaign.corpus.document("d9")
    assert document is not None
    assert document.metadata == {"other_pdf": forged}
    assert pdf_of({"pdf": {"file": "../x.pdf", "pages": 1}}) is None
    assert pdf_of({"pdf": {**forged, "shown": "x"}}) == DocumentPdf(name_of(ACTIVE), 1, None)


def test_a_file_that_changes_meanwhile_is_refused_and_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("new", tmp_path / "c")
    made = PdfFile.__new__

    def change(*values: object) -> PdfFile:
        (folder / "sub" / "active.pdf").write_bytes(ACTIVE + b" ")
        return made(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(PdfFile, "__new__", change)
    with Campaign(tmp_path / "c") as campaign, pytest.raises(FormatError, match=r"active\.pdf, which changed"):
        campaign.imports.import_files(documents=folder)
    assert not (tmp_path / "c" / "files").exists()


def test_ids_in_a_folder_remove_its_documents(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    ok("import", tmp_path / "c", "--documents", folder)
    assert "Removed 3 documents" in ok("remove", tmp_path / "c", "--documents-in", folder, "--yes")


def test_ids_are_removed_without_reading_pdf_files(folder: Path, tmp_path: Path) -> None:
    ok("new", tmp_path / "c")
    (folder / "named.jsonl").write_text('{"id": "d1", "text": "x", "pdf": "plain.pdf"}\n')
    for each in ("plain.pdf", "named.jsonl"):
        ok("import", tmp_path / "c", "--documents", folder / each)
    (folder / "plain.pdf").write_bytes(b"%PDF- damaged")
    for each in ("plain.pdf", "named.jsonl"):
        said = run("remove", tmp_path / "c", "--documents-in", folder / each, "--yes")
        assert (said.stdout, said.stderr) == ("Removed 1 document.\n", "")


def test_pages_are_served_to_those_who_are_signed_in_and_nothing_that_runs(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("1\twings\n")
    (tmp_path / "r.run").write_text("1 Q0 plain.pdf 1 9 r\n1 Q0 sub/active.pdf 2 8 r\n1 Q0 note.txt 3 7 r\n")
    ok("new", tmp_path / "c")
    ok("import", tmp_path / "c", "--documents", folder, "--topics", tmp_path / "t.tsv", "--run", tmp_path / "r.run")
    ok("pool", tmp_path / "c", "--depth", "3")
    service = JudgingService(tmp_path / "c")
    app = Starlette(routes=service.routes(), lifespan=service.lifespan)
    with Campaign(tmp_path / "c") as campaign, TestClient(app) as client:
        client.headers[TOKEN_HEADER] = judging_token(campaign)
        documents = {each["doc_id"]: each for each in post(client, "sync", query_id="1", want=3)["documents"]}
        assert "pdf" not in documents["note.txt"]
        assert documents["plain.pdf"]["metadata"] == {}
        plain, active = (documents[name]["pdf"] for name in ("plain.pdf", "sub/active.pdf"))
        address = f"{FILES}/{name_of(PLAIN)}"
        assert plain == {"file": address, "shown": address, "pages": 1, "width": 420, "height": 400}
        assert active["file"] == active["shown"]
        assert client.get(address).status_code == 401
        secret = signed_in(campaign, "rita", "reader")
        cookie = Tokens(campaign.operations.server_state.secret(), campaign.id).cookie(secret)
        client.cookies.set(cookie_name(campaign.id), cookie)
        answer = client.get(address)
        assert (answer.status_code, answer.content) == (200, PLAIN)
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.headers["cache-control"] == "private, no-cache"
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "sandbox", "frame-ancestors 'self'"} <= set(policy)
        tag = answer.headers["etag"]
        again = client.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get(address, headers={"Range": "bytes=0-7"}).content == PLAIN[:8]
        assert b"JavaScript" not in client.get(active["shown"]).content
        # The imported file, which has a script, is no page of this server, but only downloaded.
        assert client.get(f"{FILES}/{name_of(ACTIVE)}").status_code == 404
        original = client.get(f"{FILES}/{original_of(ACTIVE)}")
        assert original.content == ACTIVE
        assert original.headers["content-type"] == "application/octet-stream"
        assert original.headers["content-disposition"].startswith("attachment;")
        client.cookies.clear()
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 401
