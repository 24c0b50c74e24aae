"""PDF files as documents: their text, by PDFium, and a copy without active content of a file that has some."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from threading import Timer
from typing import Any, Literal, NamedTuple, TypeVar

from collection.core.threads import map_ahead

T = TypeVar("T")

LARGEST = 200_000_000
"""Bytes of a PDF file; browsers show larger ones slowly or not at all."""
MOST_PAGES = 5_000
"""Pages of which the text is read."""
MOST_CHARACTERS = 8_000_000
"""Characters of a text; it ends with the page before."""
MEMORY = 2 << 30
"""Memory limit of a reading process, in bytes."""
SECONDS = 120.0
"""Time after which the reading of a file ends; its text is what was read by then."""
PROCESSES = 4
"""Maximum number of files that are read at the same time."""

_LEADER = re.compile(r"(?:\. ?){3}\d*\Z")  # of a table of contents
_ITEM = re.compile(r"(?:[•◦▪‣·*–—-]|\(?\d{1,3}(?:\.\d+)*[.)]?|\(?[a-zA-Z][.)]|\[\d+\]) ")

SHORTEST_FULL = 40
"""Minimum length of the lines whose median is taken, in characters."""
FULL = 0.85
"""Minimum length of a full line, as a share of this median."""

_READER = Path(__file__).with_name("pdf_reader.py")
_LINE_END = re.compile(r"[ \t]*\r\n?|[ \t]+\n")
_HYPHEN = re.compile("\ufffe|\xad(?=\\s)")  # PDFium writes U+FFFE for a hyphen at which it joins two lines
_WITHOUT_BLANKS = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)  # scripts that set no blanks
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\uffff\ud800-\udfff]")
_NO_TITLE = re.compile(
    r"\W*|untitled\W*\d*|microsoft (?:word|powerpoint|excel)\b.*"
    r"|.*\.(?:docx?|odt|rtf|tex|dvi|e?ps|pdf|indd|pptx?|xlsx?|qxd|pmd|wpd|html?|txt)",
    re.I | re.S,
)
"""Titles that programs write by themselves: names of files, mostly."""


PdfProblem = Literal["password", "security", "damaged", "large"]
"""Why a PDF file is no document; with "security", its encryption is not supported."""


class PdfText(NamedTuple):
    """Contents of a PDF file.

    `problem` says why it is no document, None if it is one. `text` is that of the first `read` of all `pages`, `size`
    the width and height of the first page in points. `copy` is a file without the active content of this one, None if
    it has none. Only a file that is `checked` for it may be shown in a browser.
    """

    problem: PdfProblem | None = None
    title: str = ""
    text: str = ""
    sha256: str = ""
    pages: int = 0
    read: int = 0
    size: tuple[float, float] = (0.0, 0.0)
    copy: Path | None = None
    checked: bool = False


class PdfFile(NamedTuple):
    """The PDF file of a document, in its metadata; `shown` is the file for the browser, None if it must not show it."""

    path: Path
    sha256: str
    pages: int
    size: tuple[float, float]
    shown: Path | None


def read_texts(
    files: Iterable[tuple[T, Path | None]], copies: Path | None = None
) -> Iterator[tuple[T, PdfText | None]]:
    """Read PDF files, several at the same time.

    Parameters
    ----------
    files
        Any value and the path of a file, or None.
    copies
        An empty folder for copies without active content. Without it, no file is checked.

    Yields
    ------
    tuple
        The value, and what its file has, in the same order; None for None.
    """
    with ExitStack() as stack:
        idle: SimpleQueue[_Reader] = SimpleQueue()
        processes = min(os.cpu_count() or 1, PROCESSES)
        for _ in range(processes):
            idle.put(stack.enter_context(closing(_Reader())))

        def read(item: tuple[T, Path | None, Path | None]) -> tuple[T, PdfText | None]:
            value, path, copy = item
            if path is None:
                return value, None
            reader = idle.get()
            try:
                return value, reader.read(path, copy)
            finally:
                idle.put(reader)

        numbered = ((value, path, copies and copies / f"{number}.pdf") for number, (value, path) in enumerate(files))
        yield from map_ahead(read, numbered, processes)


class _Reader:
    """A process that reads files; it is started for the first one, and again after it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def read(self, path: Path, copy: Path | None) -> PdfText:
        """Read a file, which is "damaged" also if the process ends before it knows the pages."""
        try:
            with path.open("rb") as file:
                if b"%PDF-" not in file.read(1024):
                    return PdfText("damaged")
                if os.fstat(file.fileno()).st_size > LARGEST:
                    return PdfText("large")
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return PdfText("damaged")
        result: dict[str, Any] = {}
        pages: list[str] = []
        timer = None
        try:
            if self._process is None:
                self._process = self._start()
            process = self._process
            assert process.stdin is not None
            assert process.stdout is not None
            timer = Timer(SECONDS, process.kill)
            timer.start()
            request = {"path": str(path.absolute()), "copy": str(copy or "")}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while not result.keys() & {"done", "error"}:
                answer = json.loads(process.stdout.readline())
                pages += [answer["text"]] if "text" in answer else []
                result |= answer
        except (OSError, ValueError):  # the process has ended: a line is missing or cut
            self.close()
        finally:
            if timer is not None:
                timer.cancel()
        if "pages" not in result:
            return PdfText(result.get("error", "damaged"))
        title = " ".join(result["title"].split())
        return PdfText(
            title="" if _NO_TITLE.fullmatch(title) else _UNSEEN.sub("", title),
            text="\n\n".join(filter(None, map(_cleaned, pages))),
            sha256=digest,
            pages=result["pages"],
            read=len(pages),
            size=(result["width"], result["height"]),
            copy=copy if result.get("active") else None,
            checked="active" in result and copy is not None,
        )

    @staticmethod
    def _start() -> subprocess.Popen[bytes]:
        # -P: not the current directory, which may have a pypdfium2.py.
        limits = (MEMORY, 2 * LARGEST, MOST_PAGES, MOST_CHARACTERS)
        command = [sys.executable, "-P", str(_READER), *map(str, limits)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def _cleaned(page: str) -> str:
    """The text of a page without what is not seen, and with the lines of a paragraph joined."""
    text = _UNSEEN.sub("", _HYPHEN.sub("", _LINE_END.sub("\n", page))).strip()
    return _with_paragraphs(text) if text.isascii() or not _WITHOUT_BLANKS.search(text) else text


def _with_paragraphs(text: str) -> str:
    r"""Join lines that are full, as all but the last one of a paragraph are: nearly as long as most long ones.

    >>> _with_paragraphs("Heading\n" + "word " * 9 + "end\n" + "word " * 9 + "and\nthe end.\nNext") == (
    ...     "Heading\n" + "word " * 9 + "end " + "word " * 9 + "and the end.\nNext"
    ... )
    True
    """
    lines = text.split("\n")
    lengths = sorted(len(line) for line in lines if len(line) >= SHORTEST_FULL)
    if not lengths:
        return text
    full = FULL * lengths[len(lengths) // 2]
    joined = lines[0]
    for line, following in pairwise(lines):
        goes_on = len(line) >= full and not (_LEADER.search(line) or _ITEM.match(following))
        joined += f"{' ' if goes_on else chr(10)}{following}"
    return joined
