"""Images that documents name, files beside the documents' file and links; the content of a file gives its type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from collection.core.errors import FormatError
from collection.formats import compression
from collection.formats.source import FilePath, quote

FIELDS = ("images", "image")
"""Fields in which a document names images."""
IMAGE_TYPES: dict[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
}
"""Media type of each type of image that is kept, by ending."""
LARGEST = 50_000_000
"""Bytes of an image; browsers render larger ones slowly or not at all."""

_WANTED = f"an image ({', '.join(IMAGE_TYPES)})"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.I)
_WEB = ("http://", "https://")
# Endings of images, also of types that are not kept, so that these are reported.
_PICTURE = re.compile(r"data:image/|.*\.(?:png|jpe?g|gif|webp|avif|svg|bmp|tiff?|heic)\s*\Z", re.I | re.S)


class ImageList(list[dict[str, str]]):
    """Images of a record, each ``{"path", "alt"}`` or ``{"link", "alt"}``; the type marks them as such in metadata."""


def parse_host(link: str) -> str | None:
    r"""The host from which a browser loads a web address; None for other or ambiguous addresses.

    Browsers read a backslash as a slash, pass over control characters, and take what stands before an @ for a user's
    name: through such an address another host could pass for an allowed one.

    >>> parse_host("https://Images.example.org/a.png"), parse_host("https://evil.example\\@ok.org/a.png")
    ('images.example.org', None)
    """
    if "\\" in link or not link.isprintable() or any(c.isspace() for c in link):
        return None
    try:
        parts = urlsplit(link)
        return parts.hostname if parts.scheme in ("http", "https") and "@" not in parts.netloc else None
    except ValueError:
        return None


def find_images(path: FilePath, number: int, record: Mapping[str, object]) -> tuple[ImageList, set[str]]:
    """The images that a document's record names, each once, and the fields that name them.

    An image is a path relative to the file, an address (http or https), or an object ``{"src": either, "alt":
    description}``. A field with something else, such as a number of images, is not among these.
    """
    images: dict[tuple[str, ...], dict[str, str]] = {}
    used: set[str] = set()
    if record.keys().isdisjoint(FIELDS):
        return ImageList(), used
    for field in FIELDS:
        values = _values(record.get(field))
        if field in record and (not values or any(map(_is_image, values))):
            used.add(field)
            for each in values:
                image = _image(path, number, field, each)
                images.setdefault((image.get("path", ""), image.get("link", "")), image)
    if images and "images" in record and "images" not in used:  # where they would be kept
        hint = "rename the field if it does not name images"
        raise FormatError(path, number, "images in the field 'images' too", quote(repr(record["images"])), hint)
    return ImageList(images.values()), used


def _values(value: object) -> list[object]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _is_image(value: object) -> bool:
    """Return whether this is meant to be an image, valid or not."""
    src = value.get("src") if isinstance(value, dict) else value
    return isinstance(src, str) and (src.strip().lower().startswith(_WEB) or _PICTURE.match(src.strip()) is not None)


def _image(path: FilePath, number: int, field: str, value: object) -> dict[str, str]:
    wanted = f"a path, a web address or an object {{src, alt}} in the field {field!r}"
    src, alt = (value.get("src"), value.get("alt") or "") if isinstance(value, dict) else (value, "")
    if not _is_image(value) or not isinstance(alt, str):
        raise FormatError(path, number, wanted, quote(repr(value)))
    src = str(src).strip()
    if src.lower().startswith(_WEB):
        if not parse_host(src):
            hint = "leave out blanks, backslashes and user names"
            raise FormatError(path, number, "the address of an image", quote(src), hint)
        return {"link": src, "alt": alt}
    if _SCHEME.match(src) or src.startswith("//"):
        raise FormatError(path, number, wanted, quote(src), "only http and https addresses are supported")
    place = PurePosixPath(src)
    if place.is_absolute() or ".." in place.parts or "\\" in src:
        hint = "use a path with / that is relative to this file's folder and stays in it"
        raise FormatError(path, number, "the path of an image in this file's folder", quote(src), hint)
    return {"path": src, "alt": alt}


def read_image(path: FilePath, number: int, name: str) -> tuple[bytes, str]:
    """The content of an image, and its type, a key of :data:`IMAGE_TYPES`.

    `path` and `number` are the file of documents and its line with the image's `name`, a path relative to the file's
    folder. Refuses images outside the folder, large files and other content.
    """
    folder = Path(path).resolve().parent
    try:
        place = (folder / name).resolve()
        if not place.is_relative_to(folder):
            found = f"{quote(name)}, which is outside"
            raise FormatError(path, number, "an image in this file's folder", found)
        if not place.is_file():
            hint = "put images into this file's folder or a folder in it"
            raise FormatError(path, number, f"the image {quote(name)}", "no such file", hint)
        if place.stat().st_size > LARGEST:
            found = f"{quote(name)} with {place.stat().st_size:,} bytes"
            raise FormatError(path, number, f"an image of at most {LARGEST:,} bytes", found)
        content = place.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself, before Python 3.13
        found = f"a file that cannot be read ({getattr(error, 'strerror', None) or error})"
        raise FormatError(path, number, f"the image {quote(name)}", found) from None
    kind = detect_type(content)
    if kind is None:
        raise FormatError(path, number, _WANTED, *_describe_other(name, content))
    if not _is_whole(kind, content):
        hint = "it may be truncated; copy or save it again"
        raise FormatError(path, number, "a whole image", f"{quote(name)}, a damaged {kind.upper()}", hint)
    return content, kind


def _is_whole(kind: str, content: bytes) -> bool:
    """Return whether the parts that begin and end an image are there; of an AVIF only the first one."""
    if kind == "png":
        return content[12:16] == b"IHDR" and b"IEND" in content
    if kind == "webp":
        return int.from_bytes(content[4:8], "little") + 8 <= len(content)
    if kind == "avif":
        return int.from_bytes(content[:4], "big") <= len(content)
    return {"jpg": b"\xff\xd9", "gif": b";"}[kind] in content


def detect_type(content: bytes) -> str | None:
    r"""The type of an image by its content; None if it is not one of :data:`IMAGE_TYPES`.

    >>> detect_type(b"\x89PNG\r\n\x1a\n..."), detect_type(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    ('png', None)
    """
    signatures = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg", b"GIF87a": "gif", b"GIF89a": "gif"}
    for signature, kind in signatures.items():
        if content.startswith(signature):
            return kind
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "webp"
    if content[4:8] == b"ftyp":  # ISO base media: a box with the brands that the file is of
        brands = content[8 : min(int.from_bytes(content[:4], "big"), 256)]
        if {brands[i : i + 4] for i in range(0, len(brands), 4) if i != 4} & {b"avif", b"avis"}:
            return "avif"
    return None


def _describe_other(name: str, content: bytes) -> tuple[str, str]:
    """A description of other content, and a hint."""
    begin = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not content:
        return f"{quote(name)}, which is empty", ""
    if begin.startswith(b"<svg") or (begin.startswith((b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in begin):
        return f"{quote(name)}, which is SVG", "SVG can contain scripts and is not supported; save it as PNG"
    if begin.startswith((b"<!doctype html", b"<html")):
        return f"{quote(name)}, which is an HTML page", "it may be a saved error page"
    if (other := compression.name_bytes(content[: compression.SAMPLE], name)) is not None:
        return f"{quote(name)}, which is {other[0]}", "save the picture itself as one of them"
    return f"{quote(name)}, which is none of these", "convert it to one of them"
