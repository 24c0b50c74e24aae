"""Recognition of a file by its first bytes: compression, the encoding of its text, or that it is no text at all."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from io import BufferedIOBase

    from _typeshed import WriteableBuffer

EXPANDED = 512 << 20
"""Bytes to which any compressed file may expand: about what a manager could upload uncompressed."""

LARGEST_RATIO = 200
"""How many times its size a file that expands to more may expand to; text expands 3 to 20 times, one letter 1,000."""

BROKEN = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""Errors of a damaged compressed file, or a disk, in the middle of reading."""

ENDINGS = (".gz", ".bz2", ".xz", ".lzma", ".zst", ".lz4")
"""Endings of compressed files, which are known by their content."""

PIECE = 1 << 17
"""Bytes that are unpacked or recoded at a time."""

SAMPLE = 1024
"""Bytes by which text is known."""

_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_XZ = re.compile(rb"\xfd7zXZ\x00|\x5d\x00\x00[\x00-\xff]{2}(?:\xff{8}|[\x00-\xff]{5}\x00{3})")
_BY_ARROW = (
    ("zstd", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")),
    ("lz4", re.compile(rb"\x04\x22\x4d\x18")),
)
"""Compression that arrow unpacks, with the first bytes; pzstd begins with a frame to skip."""

_ARCHIVES = (
    (rb"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x"),
    (rb"Rar!\x1a\x07", "a RAR archive", "unrar x"),
    (rb"\x1f\x9d", "a file of compress (.Z)", "uncompress"),
    (rb"[\x00-\xff]{257}ustar", "a tar archive", "tar -xf"),
    (rb"PK(?:\x03\x04|\x05\x06)", "a ZIP archive", "unzip"),
)
"""First bytes of packed files that are not read, what they are, and the command that unpacks them."""

_OTHERS = (
    (
        rb"\x1f\x8b|BZh[1-9]1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18",
        "a compressed file inside a compressed file",
        "unpack it, and name the file inside",
    ),
    (
        rb"(?:\xef\xbb\xbf)?version https://git-lfs\.github\.com/spec/",
        "a Git LFS pointer instead of the file's content",
        "fetch the content with `git lfs pull` in its repository, or download the file itself",
    ),
    (
        rb"PK\x03\x04[\x00-\xff]*?(?:\[Content_Types\]|_rels/|docProps/|customXml/|word/|xl/|ppt/)",
        "a file of Microsoft Office",
        "the name of a workbook must end in .xlsx; save text as plain text (UTF-8)",
    ),
    (rb"PK\x03\x04[\x00-\xff]{26}mimetype", "an OpenDocument file or e-book", "save it as .xlsx, CSV or plain text"),
    *((begin, what, f"unpack it with `{command} FILE`") for begin, what, command in _ARCHIVES),
    (rb"PAR1\x15", "a Parquet file", "its name must end in .parquet"),
    (rb"ARROW1\x00", "an Arrow (Feather) file", "write it as Parquet"),
    (rb"\xd0\xcf\x11\xe0", "a file of old Microsoft Office (.xls, .doc)", "save it as .xlsx or CSV"),
    (rb"%PDF-", "a PDF", "extract its text"),
    (rb"\{\\rtf", "a file in Rich Text Format", "save it as plain text (UTF-8)"),
    (rb"SQLite format 3\x00", "an SQLite database", "export its tables as CSV"),
    (rb"\x93NUMPY|\x89HDF", "a file of arrays (NumPy, HDF5)", "write a table as CSV or Parquet"),
    (rb"\x80[\x02-\x05][\x00-\xff]*\.\Z|\x80[\x04\x05]\x95", "a pickle of Python", "write it as JSONL, CSV or Parquet"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF[\x00-\xff]{4}WEBP", "an image", ""),
)
"""First bytes of files that hold no readable text, what they are, and what to do with FILE."""

_DECLARATION = re.compile(
    rb"""\s*<\?xml\s[^<>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})["'] | \s*%\s*encoding:\s*([\w.:-]{1,40})""", re.I | re.X
)
"""The name of the encoding at the beginning of XML, and of BibTeX as JabRef writes it."""

_HTML = re.compile(rb"\s*<(?:!doctype\s+html|html|head|!--)", re.I)
_META = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
"""The beginning of an HTML page, and the encoding that it declares."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their encodings; that of UTF-32 begins like that of UTF-16."""


class _Compressed(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class TooLargeError(OSError):
    """A compressed file expands to more than is read."""


def unpack(raw: BufferedIOBase) -> io.BufferedReader:
    """The content of a gzip, bzip2, xz, Zstandard or LZ4 file, else the file as it is; closing it closes the file.

    Reading raises one of :data:`BROKEN`, and :class:`TooLargeError` for a file that expands to more than
    :data:`EXPANDED` bytes and more than :data:`LARGEST_RATIO` times its size.
    """
    magic = raw.read(13)
    raw.seek(0)
    content: _Compressed
    if magic.startswith(b"\x1f\x8b"):
        content = gzip.GzipFile(fileobj=raw, mode="rb")
    elif _BZIP2.match(magic):
        content = bz2.BZ2File(raw)
    elif _XZ.match(magic):
        content = lzma.LZMAFile(cast(IO[bytes], raw))  # noqa: SIM115, closed with the file
    elif name := next((name for name, first in _BY_ARROW if first.match(magic)), None):
        import pyarrow as pa  # only where it is needed, since it takes long to import

        content = pa.CompressedInputStream(pa.PythonFile(raw, "r"), name)
    else:
        return cast(io.BufferedReader, raw)
    return io.BufferedReader(_Stream(_unpacked(raw, content), raw), PIECE)


def as_utf8(content: io.BufferedReader) -> io.BufferedReader:
    """Text in UTF-16, UTF-32 or an encoding that its beginning declares as UTF-8; other text as it is."""
    head = content.peek(SAMPLE)[:SAMPLE]
    encoding = _encoding(head) or _declared(head)
    return content if encoding is None else io.BufferedReader(_Stream(_recoded(content, encoding), content), PIECE)


def with_line_feeds(content: io.BufferedReader) -> io.BufferedReader:
    """Text whose lines end with carriage returns, as on old Macs, with line feeds instead; other text as it is."""
    head = content.peek(SAMPLE)
    if b"\r" not in head[:-1] or b"\n" in head:
        return content
    return io.BufferedReader(_Stream(_with_line_feeds(content), content), PIECE)


def name_other(content: io.BufferedReader, path: object) -> tuple[str, str] | None:
    """Name a file without readable text, and what to do with it; None if it may be text."""
    return name_bytes(content.peek(SAMPLE)[:SAMPLE], path)


def name_bytes(head: bytes, path: object) -> tuple[str, str] | None:
    """Name a file of another kind by its first :data:`SAMPLE` bytes, and what to do with it; None if unknown."""
    kind = next(((what, hint) for begin, what, hint in _OTHERS if re.match(begin, head)), None)
    return kind and (kind[0], kind[1].replace("FILE", str(path)))


def _encoding(head: bytes) -> str | None:
    """The encoding if it is UTF-16 or UTF-32.

    Without a byte order mark, UTF-16 is known by its NUL bytes: every second byte of most Latin text, and no other.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    first, second = head[0::2].count(0), head[1::2].count(0)
    for encoding, low, high in (("utf-16-le", first, second), ("utf-16-be", second, first)):
        if not low and high > 0.4 * len(head) and len(head) >= 4:
            return encoding
    return None


def _declared(head: bytes) -> str | None:
    """The encoding that XML, HTML or JabRef's BibTeX declares; None for UTF-8 or if it cannot be the declaration's."""
    match = _DECLARATION.match(head) or (_META.search(head) if _HTML.match(head) else None)
    if match is None:
        return None
    try:
        codec = codecs.lookup(next(filter(None, match.groups())).decode("ascii"))
        is_ascii = codec.decode(match[0])[0] == match[0].decode("ascii")
    except (LookupError, ValueError, TypeError):  # also codecs that are none of text
        return None
    if not is_ascii or codec.name in ("utf-8", "utf-8-sig", "ascii"):
        return None
    # Browsers read pages that declare ISO 8859-1 as Windows-1252.
    return "cp1252" if match.re is _META and codec.name == "iso8859-1" else codec.name


class _Stream(io.RawIOBase):
    """A stream of pieces of bytes; closing it closes the file that they are made from."""

    def __init__(self, pieces: Iterator[bytes], file: BufferedIOBase) -> None:
        self._pieces, self._file = pieces, file
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        self._waiting = self._waiting or next(filter(None, self._pieces), b"")
        data, self._waiting = self._waiting[: len(view)], self._waiting[len(view) :]
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _unpacked(raw: BufferedIOBase, content: _Compressed) -> Iterator[bytes]:
    """Unpacked bytes, up to the limits."""
    size = 0
    while data := content.read1(PIECE):
        size += len(data)
        if size > EXPANDED and size > LARGEST_RATIO * raw.tell():
            raise TooLargeError
        yield data


def _recoded(content: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    """Text in another encoding as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    ended = False
    while not ended:
        data = content.read1(PIECE)
        ended = not data
        try:
            yield decoder.decode(data, final=ended).encode()
        except UnicodeDecodeError as error:
            raise OSError(f"not {encoding.upper()}: {error.reason}") from None


def _with_line_feeds(content: io.BufferedReader) -> Iterator[bytes]:
    """Text whose lines end with carriage returns, with line feeds in their place."""
    while data := content.read1(PIECE):
        if b"\n" in data:
            raise OSError("lines end with a carriage return in the beginning, and with a line feed later")
        yield data.replace(b"\r", b"\n")
