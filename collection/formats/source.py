"""Opening files: compression, encoding, and the number of every line.

:func:`chunks` gives large blocks of whole lines as bytes, for the fast reader. :func:`lines` gives one decoded line at
a time with its number and raises the error that says where a file is broken.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial, wraps
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, cast

import numpy as np

from collection.core.arrays import Bytes
from collection.core.errors import DATASET, FormatError, FormatWarning, InputError, as_path
from collection.core.phrases import join
from collection.formats import compression
from collection.formats.compression import BROKEN as BROKEN  # noqa: PLC0414, for the readers

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Reader = TypeVar("Reader", bound=Callable[..., Any])

FilePath: TypeAlias = str | os.PathLike[str]

STANDARD_INPUT = "-"
"""Stands for standard input in place of a path."""

_ENDS_A_COLUMN = re.compile(r"[ \t\r\n\0]")

BOM = b"\xef\xbb\xbf"
CHUNK = 4 << 20
"""Bytes read at a time: large enough to be fast, small enough that several are in work at once."""

LONGEST_LINE = 128 << 20
"""Bytes in one line: a small gzip file that expands to one endless line must not fill the memory."""

LONGEST_ROW = 1 << 20
"""Bytes in one line of a run or qrels."""


MOST_EMPTY_LINES = 10_000_000
"""Empty lines and short comments in a row: a small compressed file of nothing else must not take minutes."""


def quote(text: str) -> str:
    """`text` as a Python literal, cut to about 60 characters."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


class Source(os.PathLike[str]):
    """An input file that is opened once, however often it is read; a pipe, or standard input as ``-``, works like one.

    Each reading has its own place in the file, so a reader may look at the beginning before it reads the whole. A
    function of this package that takes a path takes a Source instead, and leaves it open.
    """

    def __init__(self, path: FilePath) -> None:
        as_path(path)  # for its error
        self._path, self._is_copy = os.fspath(path), False
        self._file: IO[bytes] | None = None

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return "standard input" if self._path == STANDARD_INPUT else self._path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; another reading opens it again, which a pipe does not allow."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def release(self) -> None:
        """Close the file if it can be opened again; a copy of a pipe stays."""
        if not self._is_copy:
            self.close()

    @property
    def is_pipe(self) -> bool:
        """Return whether it is a pipe or standard input, which can be read only once."""
        if self._path == STANDARD_INPUT:
            return True
        with suppress(OSError, ValueError):  # reading it says why
            return stat.S_ISFIFO(Path(self._path).stat().st_mode)
        return False

    def read_pipe(self) -> None:
        """Read a pipe or standard input to its end, which may be slow; a file stays closed."""
        if self.is_pipe:
            self.descriptor("a file")

    def open(self, wanted: str, *, closing: bool = False) -> BufferedReader:
        """Read the file's bytes from the beginning; `closing` the reading closes the file."""
        return BufferedReader(_Reading(self.descriptor(wanted), self.close if closing else None))

    def descriptor(self, wanted: str) -> int:
        """The number of the open file, for another process."""
        if self._file is None:
            self._file = _open(self._path, wanted)
            self._is_copy = self._path == STANDARD_INPUT or not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
            if self._is_copy:
                self._file = _copy(self._file)
        return self._file.fileno()

    def size(self, wanted: str) -> int:
        """Bytes of the file."""
        return os.fstat(self.descriptor(wanted)).st_size


class _Reading(RawIOBase):
    """One reading of an open file, with its own place."""

    def __init__(self, descriptor: int, at_close: Callable[[], None] | None) -> None:
        self._descriptor, self._at_close, self._place = descriptor, at_close, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = (0, self._place, os.fstat(self._descriptor).st_size)[whence]
        self._place = begin + offset
        return self._place

    def readinto(self, buffer: WriteableBuffer) -> int:
        count = os.preadv(self._descriptor, [buffer], self._place)
        self._place += count
        return count

    def close(self) -> None:
        if not self.closed and self._at_close is not None:
            self._at_close()
        super().close()


@contextmanager
def opened(path: FilePath) -> Iterator[Source]:
    """A file as a :class:`Source`, closed at the end unless it was given as one."""
    if isinstance(path, Source):
        yield path
    else:
        with Source(path) as source:
            yield source


def opens_once(read: Reader) -> Reader:
    """Let a reader open its file once, however often it calls other readers; if it gives an iterator, until its end."""

    @wraps(read)
    def read_source(path: FilePath, *args: Any, **options: Any) -> Any:
        with ExitStack() as stack:
            result = read(stack.enter_context(opened(path)), *args, **options)
            return _read_on(result, stack.pop_all()) if isinstance(result, Iterator) else result

    return cast(Reader, read_source)


def _read_on(rows: Iterator[Any], stack: ExitStack) -> Iterator[Any]:
    with stack:
        yield from rows


def open_bytes(path: FilePath, wanted: str, *, is_text: bool = True) -> BufferedReader:
    """Open a file for reading bytes, unpacked if its first bytes say gzip, bzip2, xz, Zstandard or LZ4.

    If it `is_text`, UTF-16, UTF-32 and declared encodings become UTF-8. Files of another kind are refused.
    """
    is_own = not isinstance(path, Source)
    source = Source(path) if is_own else cast(Source, path)
    content = compression.unpack(source.open(wanted, closing=is_own))
    try:
        if not is_text and content.peek(4).startswith((b"PK", b"PAR1")):
            return content
        if other := compression.name_other(content, path):
            content.close()
            raise FormatError(path, None, wanted, *other)
        return compression.as_utf8(content) if is_text else content
    except BROKEN:  # reading it again raises the error where the line is known
        content.close()
        return compression.unpack(source.open(wanted, closing=is_own))


def _open(path: str, wanted: str) -> IO[bytes]:
    """Open a file, a pipe or standard input."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer
    place = Path(path)
    if place.is_dir():
        raise FormatError(path, None, wanted, "a directory", "name one file in it")
    if place.exists() and not (place.is_file() or place.is_fifo()):
        raise FormatError(path, None, wanted, "a device", "write it to a file first")
    try:
        return place.open("rb")
    except FileNotFoundError:
        raise FormatError(path, None, wanted, "no such file", dataset_hint(path)) from None
    except OSError as error:
        raise FormatError(path, None, wanted, f"a file that cannot be opened ({error.strerror})") from None


def _copy(pipe: IO[bytes]) -> IO[bytes]:
    """Copy a pipe to a file without a name, since it can be read only once."""
    from tempfile import TemporaryFile  # here, since with the module random it takes as long as a small run

    copy = cast(IO[bytes], TemporaryFile())  # noqa: SIM115, closed with its Source
    shutil.copyfileobj(pipe, copy)
    copy.flush()
    if pipe is not sys.stdin.buffer:
        pipe.close()
    return copy


def is_dataset(path: FilePath) -> bool:
    """Tell whether a path is the name of a dataset."""
    return str(path).startswith(DATASET)


def dataset_hint(path: FilePath) -> str:
    """Suggest what to write instead of a path that looks like the name of a dataset; empty for any other path.

    >>> dataset_hint("irds:vaswani"), dataset_hint("beir/scifact/test"), dataset_hint("runs/bm25.run")
    ('for a dataset, write ir_datasets:vaswani', 'for a dataset, write ir_datasets:beir/scifact/test', '')
    """
    name = as_path(path).as_posix()
    if name.startswith(("irds:", "beir/")):
        return f"for a dataset, write {DATASET}{name.removeprefix('irds:')}"
    return ""


def dataset_id(path: FilePath) -> str:
    """The name under which ir_datasets has the dataset.

    >>> dataset_id("ir_datasets:beir/scifact/test")
    'beir/scifact/test'
    """
    return as_path(path).as_posix().removeprefix(DATASET)


def without_compression(name: str) -> str:
    """A file's name without the ending of a compressed file.

    >>> without_compression("topics.tsv.gz"), without_compression("topics.tsv")
    ('topics.tsv', 'topics.tsv')
    """
    ending = next((each for each in compression.ENDINGS if name.lower().endswith(each)), "")
    return name[: len(name) - len(ending)]


def stem(path: FilePath) -> str:
    """The file's name without .gz (.zst, ...) and one common ending of run files; it must be UTF-8.

    Of a dataset its id; "stdin" of standard input.
    """
    if is_dataset(path):
        return dataset_id(path)
    if os.fspath(path) == STANDARD_INPUT:
        return "stdin"
    name = without_compression(as_path(path).name)
    if not name.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in name):
        shown = ascii(str(path))[1:-1]
        raise FormatError(shown, None, "a file whose name is UTF-8", quote(ascii(name)[1:-1]), "rename the file")
    for ending in (".run", ".txt", ".trec"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def named_stem(path: FilePath, what: str) -> str:
    """The file's name, as :func:`stem`, where it names something; InputError for a pipe without a name."""
    if is_unnamed(path):
        raise InputError(
            f"{path}: expected a file, whose name becomes that of {what}, found a pipe; write it to a file first"
        )
    return stem(path)


def is_unnamed(path: FilePath) -> bool:
    """Tell whether a path is standard input or a descriptor, such as of ``<(zcat qrels.gz)``.

    >>> is_unnamed("/dev/fd/63"), is_unnamed("-"), is_unnamed("qrels.txt")
    (True, True, False)
    """
    place = os.fspath(path)
    return place == STANDARD_INPUT or re.fullmatch(r"/dev/(stdin|fd/\d+)|/proc/\w+/fd/\d+", place) is not None


def fits_a_column(text: str) -> bool:
    """Tell whether an id fits a blank-separated line: not empty, no blank, tab, line end or NUL byte.

    A no-break space or any other character may be in an id.
    """
    return bool(text) and _ENDS_A_COLUMN.search(text) is None


def suffix(path: FilePath) -> str:
    """The file's ending in lower case, before .gz (``topics.tsv.gz`` -> ``.tsv``)."""
    return Path(without_compression(as_path(path).name.lower())).suffix


def last_line_end(block: Bytes) -> int:
    """The index after the last line feed, 0 if there is none."""
    near = len(block) - 4096
    for begin in (max(near, 0), 0):
        if cut := block[begin:].tobytes().rfind(b"\n") + 1:
            return begin + cut
    return 0


def chunks(
    path: FilePath, wanted: str, find_end: Callable[[Bytes], int] = last_line_end, longest: int = LONGEST_ROW
) -> Iterator[Bytes]:
    """Blocks of whole lines as arrays, without a byte order mark.

    `find_end` gives the index at which the block ends; what follows, of at most `longest` bytes, begins the next block.
    Raises one of :data:`BROKEN`, without a line number, for a damaged file or a longer rest.
    """
    with open_bytes(path, wanted) as file:
        rest: Bytes = np.frombuffer(file.read(len(BOM)).removeprefix(BOM), np.uint8)
        ended = False
        while not ended:
            block = np.empty(len(rest) + CHUNK, np.uint8)
            block[: len(rest)] = rest
            filled = len(rest)
            while filled < len(block) and (count := file.readinto(block[filled:].data)):
                filled += count
            ended = filled < len(block)
            block = block[:filled]
            cut = filled if ended else find_end(block)
            if cut:
                yield block[:cut]
            rest = block[cut:].copy()
            if len(rest) > longest:
                raise OSError("a line is too long")


def lines(
    path: FilePath, wanted: str, longest: int | None = None, *, keep_ends: bool = False, from_mac: bool = True
) -> Iterator[tuple[int, str]]:
    """Every line with its 1-based number, decoded, without a byte order mark; LF or CRLF only if `keep_ends`.

    A carriage return ends a line if the file begins so, and `from_mac`.
    Refuses lines that are not UTF-8, hold a NUL byte or have more than `longest` bytes (:data:`LONGEST_LINE` by
    default).
    """
    number, longest, empty = 0, longest or LONGEST_LINE, 0
    with open_bytes(path, wanted) as file:
        try:
            content = compression.with_line_feeds(file) if from_mac else file
            for raw in iter(partial(content.readline, longest + 1), b""):
                number += 1
                empty = empty + 1 if len(raw) <= 8 and raw[0] in b"\r\n\t #" else 0
                if empty > MOST_EMPTY_LINES:
                    raise FormatError(path, number, wanted, f"{MOST_EMPTY_LINES:,} empty lines")
                if len(raw) > longest:
                    found = f"a longer one that begins with {quote(raw[:100].decode('utf-8', 'replace'))}"
                    is_array = raw.removeprefix(BOM).startswith(b"[")  # Label Studio writes it in one line
                    hint = "export a part, or CSV" if is_array else "the file may lack line ends, or be damaged"
                    raise FormatError(path, number, f"at most {longest >> 20:,} MiB in a line", found, hint)
                line = raw.removeprefix(BOM) if number == 1 else raw
                yield number, _decoded(path, number, line if keep_ends else line.rstrip(b"\r\n"))
        except compression.TooLargeError:
            wanted = f"at most {compression.EXPANDED >> 20:,} MiB when unpacked"
            hint = "the file may be made to fill the memory; if you trust it, unpack it first"
            raise FormatError(path, number + 1, wanted, "more", hint) from None
        except BROKEN as error:
            raise damaged_error(path, number + 1, wanted, error) from None


def whole_text(
    path: FilePath, wanted: str, of: str, hint: str, most: int | None = None, *, keep_ends: bool = False
) -> str:
    """The text of a file; `of` and `hint` are for the error of a file of more than `most` characters."""
    pieces, size = [], 0
    for number, line in lines(path, wanted, most, keep_ends=keep_ends):
        size += len(line) + 1
        require_size(path, number, size, of, hint, most)
        pieces.append(line)
    return ("" if keep_ends else "\n").join(pieces)


def require_size(path: FilePath, line: int, size: int, of: str, hint: str = "", most: int | None = None) -> None:
    """Refuse a record or text `of` so many characters, which would fill the memory."""
    if size > (most := most or LONGEST_LINE):
        raise FormatError(path, line, f"at most {most >> 20:,} MiB {of}", "more", hint)


def damaged_error(path: FilePath, line: int, wanted: str, error: BaseException) -> FormatError:
    """The error for a compressed file or a disk that fails in the middle."""
    found = f"damaged data ({str(error).rstrip('.') or type(error).__name__})"
    return FormatError(path, line, f"{wanted} to the end", found, "the file is truncated or corrupt; copy it again")


def _decoded(path: FilePath, number: int, line: bytes) -> str:
    if b"\0" in line:
        raise FormatError(path, number, "text", f"a NUL byte in {quote(line.decode('utf-8', 'replace'))}")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
        around = line[max(0, start - 20) : start + 20].decode("latin-1")
        found = f"byte 0x{line[start]:02X} near {quote(around)}"
        hint = "save it as UTF-8, or convert it, such as with `iconv -f WINDOWS-1252 -t UTF-8` (or GBK, SHIFT_JIS ...)"
        if suffix(path) in (".csv", ".tsv", ".txt"):
            hint += "; in Excel, save as 'CSV UTF-8'"
        raise FormatError(path, number, "UTF-8", found, hint) from None


def warn(path: FilePath, sentence: str, skipped: int = 0) -> None:
    """Tell what of a file was skipped, dropped or put elsewhere; see :class:`collection.core.errors.FormatWarning`."""
    warnings.warn(FormatWarning(path, sentence, skipped), stacklevel=3)


def ending_error(path: FilePath, what: str, endings: Iterable[str]) -> InputError:
    """The error for an output whose name does not tell its form."""
    return InputError(
        f"{path}: expected a name that ends in {join(endings, 'or')} for {what}; add .gz to compress text"
    )


def empty_file_error(path: FilePath, wanted: str) -> FormatError:
    """The error for a file without data."""
    empty = next(lines(path, wanted), None) is None
    return FormatError(path, None, wanted, "an empty file" if empty else "only blank lines and comments")
