"""A process of its own that reads the PDF files that its standard input names, with PDFium.

Each line of the input is a JSON object: ``path``, and ``copy``, where a copy without active content may be written, or
"" for none. The answers are lines of JSON: one with ``pages``, ``title``, and ``width`` and ``height`` of the first
page, one with ``active`` (a copy was written), one with the ``text`` of each page, and one with ``done``; or one with
an ``error``.

PDFium may abort this process, or take long, for a damaged file: only this process ends then. It imports nothing of the
project: it is started as a script.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pypdfium2
from pypdfium2 import raw

ACTIVE = (
    "JavaScript", "JS", "Launch", "SubmitForm", "ResetForm", "ImportData", "GoToR", "GoToE", "Rendition", "RichMedia",
    "Movie", "Sound", "XFA", "EmbeddedFile", "EmbeddedFiles", "FileAttachment", "AA",
)  # fmt: skip
"""Names in a PDF file's dictionaries; without them a viewer runs, plays, opens and sends nothing by itself."""

_ACTIVE = re.compile(rb"/(" + "|".join(ACTIVE).encode() + rb")(?=[\s/<>\[\]()%])")
_STREAM = re.compile(rb">>\s*stream\r?\n.*?\bendstream\b", re.S)
# When the file is opened: most go to a page, but one may go to an address.
_OPENS = re.compile(rb"/OpenAction\s*(?:([0-9]+) 0 R|(?=<<))")

# PDFium makes up an identifier for a file without one.
_ID = re.compile(rb"(/ID\s*\[)((?:\s*<[0-9A-Fa-f]*>)*)")

ERRORS = {
    raw.FPDF_ERR_PASSWORD: "password",
    raw.FPDF_ERR_SECURITY: "security",
    raw.FPDF_ERR_FORMAT: "damaged",
    raw.FPDF_ERR_FILE: "damaged",
}
"""What PDFium says of a file that it cannot open."""


def deactivate(content: bytes) -> bytes:
    r"""Change names outside of streams that make a file active to ones that viewers do not know, of the same length.

    `content` is as PDFium writes it: names without escapes, no object within a stream, line ends in strings escaped.

    >>> deactivate(b"<</OpenAction<</S/JavaScript/JS(x)>>>>")
    b'<</OpenAction<</S/xavaScript/xS(x)>>>>'
    """
    if any(_goes_elsewhere(content, opens) for opens in _OPENS.finditer(content)):
        content = content.replace(b"/OpenAction", b"/xpenAction")
    parts, at = [], 0
    for stream in _STREAM.finditer(content):
        parts += [_ACTIVE.sub(_change, content[at : stream.start()]), stream[0]]
        at = stream.end()
    return b"".join((*parts, _ACTIVE.sub(_change, content[at:])))


def _goes_elsewhere(content: bytes, opens: re.Match[bytes]) -> bool:
    at = opens.end() if opens[1] is None else content.find(b"\n%d 0 obj" % int(opens[1]))
    action = content[at : content.find(b"endobj", at)]
    return b"/URI" in action or b"/Next" in action


def _change(match: re.Match[bytes]) -> bytes:
    return b"/x" + match[1][1:]


def read(path: Path, copy: str, answers: BinaryIO, most_pages: int, most_characters: int) -> None:
    """Answer with what a file has, and write the copy if the file has active content; "" for no copy."""

    def answer(**values: object) -> None:
        answers.write(json.dumps(values).encode() + b"\n")
        answers.flush()

    try:
        document = pypdfium2.PdfDocument(path)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        answer(error=ERRORS.get(error.err_code or 0, "damaged"))
        return
    width, height = (round(length, 1) for length in _size(document))
    answer(pages=pages, title=document.get_metadata_value("Title"), width=width, height=height)
    answer(active=bool(copy) and _copy(document, Path(copy)))
    characters = 0
    for number in range(min(pages, most_pages)):
        text = ""
        with suppress(pypdfium2.PdfiumError):  # a damaged page has no text
            page = document[number]
            words = page.get_textpage()
            text = words.get_text_bounded()
            words.close()
            page.close()
        characters += len(text)
        if characters > most_characters:
            break
        answer(text=text)
    answer(done=True)
    document.close()


def _size(document: pypdfium2.PdfDocument) -> tuple[float, float]:
    """Width and height of the first page; of A4 for one that is damaged or has no area."""
    with suppress(pypdfium2.PdfiumError):
        width, height = document.get_page_size(0)
        if 1 < width < 1e5 and 1 < height < 1e5:
            return width, height
    return 595, 842


def _copy(document: pypdfium2.PdfDocument, copy: Path) -> bool:
    """Write a copy of an active document, the same one each time; False for a document that is not active."""
    whole = BytesIO()
    document.save(whole, flags=raw.FPDF_NO_INCREMENTAL | raw.FPDF_REMOVE_SECURITY)
    content = whole.getvalue()
    safe = deactivate(content)
    if safe == content:
        return False
    trailer = safe.rfind(b"trailer")
    copy.write_bytes(safe[:trailer] + _ID.sub(_without_digits, safe[trailer:]))
    return True


def _without_digits(match: re.Match[bytes]) -> bytes:
    return match[1] + re.sub(rb"[0-9A-Fa-f]", b"0", match[2])


if __name__ == "__main__":
    memory, largest, *most = map(int, sys.argv[1:])
    for limit, value in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, largest)):
        with suppress(ValueError, OSError):  # a lower limit stays
            resource.setrlimit(limit, (value, value))
    # Whatever a library prints must not be taken for an answer.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            read(Path(asked["path"]), asked["copy"], output, *most)
