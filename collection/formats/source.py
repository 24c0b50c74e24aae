"""Opening files: compression, encoding, and the number of every line.

Two ways in. :func:`chunks` hands out large blocks of whole lines as bytes, for the quick readers.
:func:`lines` hands out one decoded line at a time with its number and raises the error that says where
a file is broken; whatever looks odd to a quick reader is left to it.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from collection.errors import FormatError

Bytes = npt.NDArray[np.uint8]

BOM = b"\xef\xbb\xbf"
CHUNK = 4 << 20
"""Bytes read at a time: large enough that a block costs nothing, small enough that several are in work at once."""

LONGEST_LINE = 128 << 20
"""Bytes in one line, 20 times the works of Shakespeare: a document may be long, but a small gzip file that expands to
one endless line must not fill the memory."""

LONGEST_ROW = 1 << 20
"""Bytes in one line of a run or qrels: ids and numbers, no texts."""

BROKEN = (EOFError, zlib.error, OSError)
"""What a damaged gzip file, or a disk, can raise in the middle of reading."""


def quote(text: str, limit: int = 60) -> str:
    """`text` as Python would write it, cut to about `limit` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def open_bytes(path: str | os.PathLike[str], wanted: str) -> BufferedIOBase:
    """Open a file for reading bytes, decompressed if its first two bytes say gzip.

    Raises
    ------
    FormatError
        If there is no such file, or it is no regular file: the readers look at a file more than once,
        which a pipe does not allow.
    """
    place = Path(path)
    if place.is_dir():
        raise FormatError(path, None, wanted, "a directory", "name one file in it")
    if place.exists() and not place.is_file():
        raise FormatError(path, None, wanted, "a pipe or a device", "write it to a file first")
    try:
        raw = place.open("rb")
    except FileNotFoundError:
        raise FormatError(path, None, wanted, "no such file") from None
    except OSError as error:
        raise FormatError(path, None, wanted, f"a file that cannot be opened ({error.strerror})") from None
    magic = raw.read(2)
    raw.seek(0)
    return cast(BufferedIOBase, _Unzipped(raw)) if magic == b"\x1f\x8b" else raw


class _Unzipped(gzip.GzipFile):
    """A gzip file that closes the file under it too; GzipFile leaves one it was given open."""

    def __init__(self, raw: BufferedIOBase) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._raw = raw

    def close(self) -> None:
        super().close()
        self._raw.close()


def stem(path: str | os.PathLike[str]) -> str:
    """The file's name without .gz and without one ending that run files commonly have; it becomes a name in a campaign.

    Raises
    ------
    FormatError
        The name is not UTF-8 and could not be written into any other file.
    """
    name = Path(path).name.removesuffix(".gz")
    if not name.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in name):
        shown = ascii(str(path))[1:-1]
        raise FormatError(shown, None, "a file whose name is UTF-8", quote(ascii(name)[1:-1]), "rename the file")
    for ending in (".run", ".txt", ".trec"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def fits_a_column(text: str) -> bool:
    """Whether an id can stand in a line that blanks part: not empty, one column, one line, no NUL byte.

    Only blanks, tabs and line ends part; a no-break space or any other character may be in an id.
    """
    return bool(text) and not any(c in text for c in " \t\r\n\0")


def suffix(path: str | os.PathLike[str]) -> str:
    """The file's ending in lower case, looking through .gz (``topics.tsv.gz`` -> ``.tsv``)."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def chunks(path: str | os.PathLike[str], wanted: str) -> Iterator[Bytes]:
    """Blocks of whole lines, as they are in the file, without a byte order mark.

    Arrays, not bytes: whoever looks at them can do so in threads, since numpy leaves Python's lock alone.
    Raises what is in :data:`BROKEN` where the file breaks off or a line is longer than :data:`LONGEST_ROW`: it has no
    line numbers to offer.
    """
    with open_bytes(path, wanted) as file:
        rest: Bytes = np.frombuffer(file.read(len(BOM)).removeprefix(BOM), np.uint8)
        while True:
            block = np.empty(len(rest) + CHUNK, np.uint8)
            block[: len(rest)] = rest
            count = file.readinto(block[len(rest) :].data)
            block = block[: len(rest) + count]
            cut = _last_line_end(block) if count else len(block)
            if cut:
                yield block[:cut]
            if not count:
                return
            rest = block[cut:].copy()
            if len(rest) > LONGEST_ROW:
                raise OSError("a line is too long")


def _last_line_end(block: Bytes) -> int:
    """The place after the last line feed, 0 if there is none."""
    near = len(block) - 4096
    for begin in (max(near, 0), 0):
        if cut := block[begin:].tobytes().rfind(b"\n") + 1:
            return begin + cut
    return 0


def lines(
    path: str | os.PathLike[str], wanted: str, longest: int | None = None, *, keep_ends: bool = False
) -> Iterator[tuple[int, str]]:
    """Every line with its 1-based number, decoded, without a byte order mark; LF or CRLF only if `keep_ends`.

    Raises
    ------
    FormatError
        Where a line is not UTF-8, holds a NUL byte or has more than `longest` bytes (:data:`LONGEST_LINE` if left out),
        or where the file breaks off.
    """
    number, longest = 0, longest or LONGEST_LINE
    with open_bytes(path, wanted) as file:
        try:
            for raw in iter(partial(file.readline, longest + 1), b""):
                number += 1
                if len(raw) > longest:
                    raise too_long(path, number, longest, raw)
                line = raw.removeprefix(BOM) if number == 1 else raw
                yield number, _decoded(path, number, line if keep_ends else line.rstrip(b"\r\n"))
        except BROKEN as error:
            raise FormatError(
                path,
                number + 1,
                f"{wanted} to the end",
                f"damaged data ({str(error).rstrip('.') or type(error).__name__})",
                "the file is cut short or spoilt; copy it again",
            ) from None


def _decoded(path: str | os.PathLike[str], number: int, line: bytes) -> str:
    if b"\0" in line:
        raise FormatError(path, number, "text", f"a NUL byte in {quote(line.decode('utf-8', 'replace'))}")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
        around = line[max(0, start - 20) : start + 20].decode("latin-1")
        raise FormatError(
            path,
            number,
            "UTF-8",
            f"byte 0x{line[start]:02X} near {quote(around)}",
            "save the file as UTF-8 (it may be Latin-1 or UTF-16)",
        ) from None


def too_long(path: str | os.PathLike[str], number: int, longest: int, begin: bytes) -> FormatError:
    """The error for a line, or a text, that has more than `longest` bytes and begins so."""
    return FormatError(
        path,
        number,
        f"at most {longest >> 20:,} MiB in a line",
        f"more, beginning with {quote(begin[:100].decode('utf-8', 'replace'))}",
        "the file may lack line ends, or be damaged",
    )


def nothing_in(path: str | os.PathLike[str], wanted: str) -> FormatError:
    """The error for a file with no data in it; says whether there was anything at all."""
    empty = next(lines(path, wanted), None) is None
    return FormatError(path, None, wanted, "an empty file" if empty else "nothing but blank lines and comments")
