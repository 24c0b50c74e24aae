"""Images of documents: imported with them, refused by name, kept by content, served to those who are signed in."""

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.auth.roles import roles_of
from annotate.auth.tokens import TOKEN_HEADER, Tokens, cookie_name
from annotate.card.server.document_payload import FILES, other_fields
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.campaign.corpus.images import images_of
from collection.core.errors import ConflictError, FormatError
from collection.core.records import ROLES, Role
from collection.formats import images, read_documents
from tests.conftest import judging_token, signed_in
from tests.helpers import fails, ok, post

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
AVIF = b"\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf" + b"\x00" * 20
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + b"\x00" * 20


def name_of(content: bytes, kind: str) -> str:
    return f"{hashlib.sha256(content).hexdigest()}.{kind}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a collection with pictures in it, one of them in a folder of its own."""
    folder = tmp_path / "collection"
    (folder / "img").mkdir(parents=True)
    (folder / "a.png").write_bytes(PNG)
    (folder / "img" / "b.jpeg").write_bytes(GIF)  # what it is says its content
    (folder / "a.svg").write_text("<?xml version='1.0'?><svg onload='alert(1)'/>")
    (folder / "a.txt").write_text("no image")
    (folder / "text.webp").write_text("no image")
    (folder / "empty.png").write_bytes(b"")
    (folder / "page.png").write_text("<!DOCTYPE html><h1>Not found</h1>")
    (folder / "scan.png").write_bytes(b"%PDF-1.7\n")
    (folder / "letter.jpg").write_bytes(b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml")
    for name, content in {"png": PNG[:-12], "gif": GIF[:-1], "jpg": JPEG, "webp": WEBP[:-1]}.items():
        (folder / f"cut.{name}").write_bytes(content)
    (tmp_path / "secret.png").write_bytes(PNG)
    return folder


def written(folder: Path, *records: Any, name: str = "documents.jsonl") -> Path:
    path = folder / name
    text = "".join(json.dumps(r if isinstance(r, dict) else {"doc_id": "d1", "images": r}) + "\n" for r in records)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        *((PNG, "png"), (GIF, "gif"), (WEBP, "webp"), (JPEG, "jpg"), (AVIF, "avif"), (b"GIF87a...", "gif")),
        *(
            (b"", None),
            (b"PNG", None),
            (b"<svg/>", None),
            (b"RIFF....WAVE", None),
            (b"GIF88a", None),
            (b"BM....", None),
        ),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42avif", None),
        (b"\x00\x00\x00\x14ftypisomavifisom", None),
        (b"%PDF-1.7", None),
    ],
)
def test_the_content_says_what_a_file_is(content: bytes, kind: str | None) -> None:
    assert images.detect_type(content) == kind


@pytest.mark.parametrize(
    ("record", "metadata"),
    [
        (
            {"images": ["a.png", "img/b.jpeg"]},
            {"images": [{"path": "a.png", "alt": ""}, {"path": "img/b.jpeg", "alt": ""}]},
        ),
        ({"images": "a.png"}, {"images": [{"path": "a.png", "alt": ""}]}),
        ({"image": {"src": "./a.png", "alt": "A wing"}}, {"images": [{"path": "./a.png", "alt": "A wing"}]}),
        (
            {"image": ["https://x.org/a b.png".replace(" ", "%20")]},
            {"images": [{"link": "https://x.org/a%20b.png", "alt": ""}]},
        ),
        ({"images": [{"src": "HTTP://x.org/a", "alt": None}]}, {"images": [{"link": "HTTP://x.org/a", "alt": ""}]}),
        ({"images": []}, {}),
        ({"images": None, "image": ""}, {}),
        ({"picture": 7}, {"picture": 7}),
        (
            {"images": ["a.png"], "image": [{"src": "a.png", "alt": "again"}, "img/b.jpeg"]},
            {"images": [{"path": "a.png", "alt": ""}, {"path": "img/b.jpeg", "alt": ""}]},
        ),
        ({"images": "a.png", "image": "no picture"}, {"images": [{"path": "a.png", "alt": ""}], "image": "no picture"}),
        # What cannot be a picture is metadata like any other.
        *(
            ({name: value}, {name: value})
            for name in ("image", "images")
            for value in (
                *({"url": "x"}, 5, True, "no picture", "N/A", " ", ["a", None], [7], [["a.png"]], [{"alt": "x"}]),
                *({"src": 7}, "a.txt", "img", "/etc/passwd", "file:///etc/passwd", "javascript:alert(1)"),
                [{"path": "a.png", "alt": ""}],  # as it is kept, which nobody writes
            )
        ),
    ],
)
def test_the_images_that_a_record_names(folder: Path, record: dict[str, Any], metadata: dict[str, Any]) -> None:
    ((_, document),) = read_documents(written(folder, {"doc_id": "d1"} | record))
    assert document.metadata == metadata
    assert document.text == ""


@pytest.mark.parametrize("name", ["image", "images"])
@pytest.mark.parametrize("comma", [",", "\t"])
def test_a_column_of_a_table_is_metadata_whatever_it_is_called(
    campaign: Campaign, folder: Path, name: str, comma: str
) -> None:
    path = folder / ("d.csv" if comma == "," else "d.tsv")
    path.write_text(f"id,text,{name}\ne1,a,none.png\ne2,b,\ne3,c,no picture\n".replace(",", comma))
    campaign.imports.import_files(documents=[path])
    kept = [campaign.store.corpus.documents([doc_id])[doc_id].metadata[name] for doc_id in ("e1", "e2", "e3")]
    assert kept == ["none.png", "", "no picture"]


def test_what_is_no_picture_is_imported_and_told_of_as_metadata(campaign: Campaign, folder: Path) -> None:
    campaign.imports.import_files(documents=[written(folder, {"doc_id": "e1", "images": [7], "image": {"url": "x"}})])
    document = campaign.store.corpus.documents(["e1"])["e1"]
    assert document.metadata == {"images": [7], "image": {"url": "x"}} == other_fields(document)
    assert images_of(document.metadata) == []
    assert not (campaign.directory / "files").exists()


ODD_LINKS = [
    "https://evil.example\\@ok.org/a.png",
    "https://evil.example\\.ok.org/a.png",
    "https:\\\\evil.example/a.png",
    "https://ok.org\\a.png",
    "https://ok.org@evil.example/a.png",
    "https://evil.example@ok.org/a.png",
    "https://ann:secret@ok.org/a.png",
    "https://@ok.org/a.png",
    "https://ok.org/a b.png",
    "https://ok.org/a\tb.png",
    "https://evil.example\t@ok.org/a.png",
    "https://ok.org\n.evil.example/a.png",
    "https://evil.example/\u3000a.png",
    "https://ok.org\u00ad/a.png",
    "https://ok.org\u202e/a.png",
    "https://\x01ok.org/a.png",
    "https:///ok.org/a.png",
    "https://[ok.org/a.png",
]


@pytest.mark.parametrize("link", ODD_LINKS)
def test_no_address_passes_for_another_hosts(folder: Path, link: str) -> None:
    """What browsers read in another way than we do is refused at import, and is no image where it is there already."""
    assert images_of({"images": [{"link": link, "alt": ""}]}, ["ok.org", "evil.example", ""]) == []
    with pytest.raises(
        FormatError, match=r"documents\.jsonl, line 1: expected .*(leave out blanks|only http and https)"
    ):
        list(read_documents(written(folder, [link])))


@pytest.mark.parametrize(
    ("link", "host"),
    [
        *(
            ("https://ok.org/a.png", "ok.org"),
            ("HTTP://OK.org:8080/@a?b=@c#@d", "ok.org"),
            ("https://ok.org", "ok.org"),
        ),
        *(("https://ok.org?@evil.example/a.png", "ok.org"), ("https://ok.org#@evil.example/", "ok.org")),
        *(("https://bücher.example/ä.png", "bücher.example"), ("https://[::1]/a.png", "::1")),
    ],
)
def test_the_host_of_a_plain_address(link: str, host: str) -> None:
    (image,) = images_of({"images": [{"link": link, "alt": ""}]}, [host])
    assert image.allowed
    assert not images_of({"images": [{"link": link, "alt": ""}]}, ["evil.example"])[0].allowed


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["b.png"], "expected the image 'b.png', found no such file; put images into this file's folder"),
        ("none.JPG", "expected the image 'none.JPG', found no such file"),
        (["../secret.png"], "found '../secret.png'; use a path with / that is relative"),
        (["img/../../secret.png"], "relative to this file's folder"),
        (["/etc/passwd.png"], "found '/etc/passwd.png'; use a path with / that is relative"),
        (["img\\b.jpeg"], "use a path with /"),
        (["outside.png"], "found 'outside.png', which is outside"),
        (["file:///etc/passwd.gif"], "found 'file:///etc/passwd.gif'; only http and https addresses are supported"),
        (["data:image/png;base64,AAAA"], "only http and https addresses"),
        (["//x.org/a.png"], "only http and https addresses"),
        (["https://"], "expected the address of an image, found 'https://'"),
        (["http://[::1/a.png"], "expected the address of an image"),
        (["https://x.org/a b.png"], "expected the address of an image"),
        (
            ["a.svg"],
            "expected an image (png, jpg, gif, webp, avif), found 'a.svg', which is SVG; SVG can contain scripts",
        ),
        (["text.webp"], "found 'text.webp', which is none of these"),
        (["a.tiff"], "expected the image 'a.tiff', found no such file"),
        (["empty.png"], "found 'empty.png', which is empty"),
        (["page.png"], "found 'page.png', which is an HTML page"),
        (["scan.png"], "found 'scan.png', which is a PDF; save the picture itself as one of them"),
        (["letter.jpg"], "found 'letter.jpg', which is a file of Microsoft Office"),
        (["cut.png"], "expected a whole image, found 'cut.png', a damaged PNG; it may be truncated"),
        (["cut.gif"], "a damaged GIF"),
        (["cut.jpg"], "a damaged JPG"),
        (["cut.webp"], "a damaged WEBP"),
        (
            ["a.png", 7],
            "expected a path, a web address or an object {src, alt} in the field 'images', found '7'",
        ),
        (["a.png", {"alt": "x"}], "an object {src, alt} in the field 'images', found \"{'alt': 'x'}\""),
        ([{"src": "a.png", "alt": ["x"]}], "an object {src, alt}"),
        (["a.png", " "], "an object {src, alt}"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_its_line_and_nothing_is_imported(
    campaign: Campaign, folder: Path, named: Any, message: str
) -> None:
    (folder / "outside.png").symlink_to(folder.parent / "secret.png")
    path = written(folder, {"doc_id": "e1", "images": ["a.png"]}, {"doc_id": "e2", "images": named})
    before = campaign.store.judgements.counts()
    with pytest.raises(FormatError) as caught:
        campaign.imports.import_files(documents=[path])
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert message in str(caught.value)
    assert campaign.store.judgements.counts() == before
    assert not list((campaign.directory / "files").glob("*")), "files of an import that failed are left"


def test_a_field_that_would_be_overwritten_is_refused(folder: Path) -> None:
    message = "expected images in the field 'images' too, found '3'; rename the field if it does not name images"
    with pytest.raises(FormatError, match=message):
        list(read_documents(written(folder, {"doc_id": "e1", "images": 3, "image": "a.png"})))


def test_an_image_that_is_too_large_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "LARGEST", len(PNG) - 1)
    with pytest.raises(
        FormatError, match=f"expected an image of at most {len(PNG) - 1} bytes, found 'a.png' with {len(PNG)}"
    ):
        images.read_image(folder / "documents.jsonl", 1, "a.png")


def test_images_are_kept_once_by_their_content(campaign: Campaign, folder: Path) -> None:
    (folder / "again.png").write_bytes(PNG)
    records = [
        {"doc_id": "e1", "text": "Text", "images": ["a.png", {"src": "img/b.jpeg", "alt": "B"}], "year": 1960},
        {"doc_id": "e2", "image": "again.png"},
    ]
    path = written(folder, *records, name="documents.jsonl.gz")
    report = campaign.imports.import_files(documents=[path])
    assert report.done == [f"{path}: 2 documents (2 new)", f"{path}: 2 images (2 new)"]
    kept = {file.name: file.read_bytes() for file in (campaign.directory / "files").iterdir()}
    assert kept == {name_of(PNG, "png"): PNG, name_of(GIF, "gif"): GIF}
    first, second = (campaign.corpus.document(i) for i in ("e1", "e2"))
    assert first is not None
    assert second is not None
    wanted = [{"file": name_of(PNG, "png"), "alt": ""}, {"file": name_of(GIF, "gif"), "alt": "B"}]
    assert first.metadata == {"images": wanted, "year": 1960}
    assert (second.text, second.metadata) == ("", {"images": wanted[:1]})
    again = campaign.imports.import_files(documents=[path])
    assert again.done == [f"{path}: 2 documents (0 new, 2 unchanged)", f"{path}: 2 images (0 new)"]
    (folder / "a.png").write_bytes(WEBP)
    with pytest.raises(ConflictError, match="'e1' is already in the campaign"):
        campaign.imports.import_files(documents=[path])
    assert {file.name for file in (campaign.directory / "files").iterdir()} == set(kept)
    campaign.imports.import_files(documents=[path], replace=True)
    assert name_of(WEBP, "webp") in {file.name for file in (campaign.directory / "files").iterdir()}


def test_what_a_killed_import_left_does_no_harm(campaign: Campaign, folder: Path) -> None:
    (campaign.directory / "files").mkdir()
    (campaign.directory / "files" / f"{name_of(PNG, 'png')}.part").write_bytes(b"half")
    path = written(folder, ["a.png"])
    campaign.imports.import_files(documents=[path], replace=True)
    assert [file.read_bytes() for file in (campaign.directory / "files").iterdir()] == [PNG]


def test_the_command_says_which_hosts_are_wanted(campaign: Campaign, folder: Path) -> None:
    path = written(folder, {"doc_id": "e1", "images": ["https://a.org/1.png", "http://B.org/2.png", "https://a.org/3"]})
    report = campaign.imports.import_files(documents=[path])
    assert report.notices == [
        f"{path}: 3 images from a.org and b.org are shown as links. To show images from a host, allow it: "
        f"`cleverdon judging-page {campaign.directory} --image-host HOST`"
    ]
    ok("judging-page", campaign.directory, "--image-host", "a.org", "--image-host", "B.org")
    assert campaign.imports.import_files(documents=[path]).notices == []
    assert "no such file" in fails("import", campaign.directory, "--documents", written(folder, ["no.png"]))


def test_whatever_stands_in_the_metadata_is_no_image_unless_it_is_one() -> None:
    good = {"file": "a" * 64 + ".png", "alt": "A"}
    odd: list[Any] = [
        *({"file": "../../campaign.db"}, {"file": "a" * 64 + ".svg"}, {"file": "A" * 64 + ".png"}, {"file": 7}),
        *(
            {"link": "javascript:alert(1)"},
            {"link": "//x.org/a"},
            {"link": "https:///a"},
            {"link": "http://[x"},
            {},
            "a.png",
        ),
        *({"path": "a.png"}, None, {"file": "a" * 64 + ".png\n"}),
    ]
    assert [image.file for image in images_of({"images": [*odd, good]})] == [good["file"]]
    assert images_of({"images": "a.png"}) == images_of({"images": 3}) == images_of({}) == []
    (link,) = images_of({"images": [{"link": "https://x.org/a", "alt": 7}]}, ["y.org"])
    assert (link.alt, link.allowed) == ("", False)


# ------------------------------------------------------------------------------------------- route


@pytest.fixture
def shown(campaign: Campaign, folder: Path) -> Campaign:
    """Document d2, the first for topic 1, has two images, and a link to one."""
    images = ["a.png", {"src": "img/b.jpeg", "alt": "B"}, {"src": "https://x.org/c.png", "alt": "C"}]
    campaign.imports.import_files(
        documents=[written(folder, {"doc_id": "d2", "images": images, "year": 7})], replace=True
    )
    return campaign


@pytest.fixture
def service(shown: Campaign) -> JudgingService:
    return JudgingService(shown.directory)


@pytest.fixture
def client(service: JudgingService) -> Iterator[TestClient]:
    with TestClient(Starlette(routes=service.routes(), lifespan=service.lifespan)) as client:
        yield client


Sign = Callable[[str, Role], None]


@pytest.fixture
def sign(client: TestClient, shown: Campaign) -> Sign:
    def sign(name: str, role: Role) -> None:
        secret = signed_in(shown, name, role)
        client.cookies.set(
            cookie_name(shown.id), Tokens(shown.operations.server_state.secret(), shown.id).cookie(secret)
        )

    return sign


def test_a_card_gets_images_with_their_addresses(client: TestClient, shown: Campaign, sign: Sign) -> None:
    client.headers[TOKEN_HEADER] = judging_token(shown)
    (document,) = post(client, "sync", query_id="1", want=1)["documents"]
    assert document["images"] == [
        {"src": f"{FILES}/{name_of(PNG, 'png')}", "alt": "", "link": False},
        {"src": f"{FILES}/{name_of(GIF, 'gif')}", "alt": "B", "link": False},
        {"src": "https://x.org/c.png", "alt": "C", "link": True},
    ]
    assert (document["text"], document["metadata"]) == ("", {"year": 7})
    shown.settings.set_judging_page(image_hosts=["x.org"])
    (document,) = post(client, "sync", query_id="1", want=1)["documents"]
    assert document["images"][2]["link"] is False
    sign("ann", "manager")
    answer = client.get(document["images"][0]["src"])
    assert (answer.status_code, answer.content) == (200, PNG)


@pytest.mark.parametrize("role", list(ROLES))
def test_whoever_is_signed_in_gets_a_file(client: TestClient, sign: Sign, role: Role) -> None:
    sign("somebody", role)
    answer = client.get(f"{FILES}/{name_of(GIF, 'gif')}")
    assert (answer.status_code, answer.content) == (200, GIF)
    assert answer.headers["content-type"] == "image/gif"
    assert answer.headers["cache-control"].startswith("private, max-age=")


def test_nobody_else_gets_one(client: TestClient, shown: Campaign, service: JudgingService, sign: Sign) -> None:
    path = f"{FILES}/{name_of(PNG, 'png')}"
    route = next(route for route in service.routes() if route.path.startswith(FILES))
    assert set(roles_of(route)) == set(ROLES)
    assert client.get(path).status_code == 401
    client.headers[TOKEN_HEADER] = judging_token(shown)  # an <img> sends no header, so none opens this door
    assert client.get(path).status_code == 401
    secret = signed_in(shown, "rita", "reader")
    tokens = Tokens(shown.operations.server_state.secret(), shown.id)
    for value in ("", "nonsense", secret, tokens.cookie("guess"), Tokens(b"other", shown.id).cookie(secret)):
        client.cookies.set(cookie_name(shown.id), value)
        assert client.get(path).status_code == 401
    client.cookies.clear()
    sign("rita", "reader")
    assert client.get(path).status_code == 200
    shown.people.accounts.lock("rita")
    assert client.get(path).status_code == 401


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../campaign.db",
            "..%2fcampaign.db",
            "%2e%2e/campaign.db",
            "..%5c..%5c.secret",
            "campaign.db",
            ".secret",
            "",
        ),
        *("a" * 64 + ".png", name_of(PNG, "svg"), name_of(PNG, "png") + ".part", name_of(PNG, "png").upper(), "%00"),
        *("/etc/passwd", "%2fetc%2fpasswd", name_of(PNG, "png") + "%0a", "x/" + name_of(PNG, "png")),
    ],
)
def test_no_other_file_is_served(client: TestClient, shown: Campaign, sign: Sign, name: str) -> None:
    (shown.directory / "files" / f"{name_of(PNG, 'png')}.part").write_bytes(b"half")
    (shown.directory / "files" / name_of(PNG, "svg")).write_text("<svg/>")
    sign("ann", "manager")
    answer = client.get(f"{FILES}/{name}")
    assert answer.status_code in (404, 405)
    assert b"SQLite" not in answer.content


def test_a_campaign_that_is_copied_has_its_files(shown: Campaign, tmp_path: Path) -> None:
    import shutil

    shown.close()
    shutil.copytree(shown.directory, tmp_path / "copy")
    with Campaign(tmp_path / "copy") as copy:
        place = copy.corpus.view.content_file(name_of(PNG, "png"))
        assert place is not None
        assert place.read_bytes() == PNG
        assert os.path.commonpath([place, tmp_path / "copy"]) == str(tmp_path / "copy")
