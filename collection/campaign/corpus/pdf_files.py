"""PDF files of documents: files of the campaign, named after their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from collection import formats
from collection.campaign.corpus.content_files import NAME, ORIGINAL, PDF, ContentFiles
from collection.core.errors import FormatError

A4 = (595.0, 842.0)


class DocumentPdf(NamedTuple):
    """The PDF file of a document.

    `file` is the file as it was imported. `shown` is the one for browsers: the same, or a copy without scripts and
    other active content; None if the file could not be checked. `size` is the width and height of the first page, in
    points.
    """

    file: str
    pages: int
    shown: str | None
    size: tuple[float, float] = A4


def pdf_of(metadata: Mapping[str, object]) -> DocumentPdf | None:
    """The PDF file in a document's metadata, if any.

    >>> pdf_of({"pdf": "https://example.org/a.pdf"}) is None
    True
    """
    named = metadata.get("pdf")
    if not isinstance(named, dict):
        return None
    file, pages, shown = named.get("file"), named.get("pages"), named.get("shown")
    if not (_is_file(file, (PDF, ORIGINAL)) and isinstance(pages, int)):
        return None
    size = named.get("size")
    is_size = isinstance(size, list) and len(size) == 2 and all(isinstance(each, int | float) for each in size)
    of_page = (size[0], size[1]) if isinstance(size, list) and is_size else A4
    return DocumentPdf(str(file), pages, str(shown) if _is_file(shown, (PDF,)) else None, of_page)


def exported_name(file: str) -> str:
    """Name of a PDF file in an exported collection."""
    return f"{Path(file).stem}.{PDF}"


def _is_file(name: object, kinds: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name.endswith(kinds) and NAME.match(name) is not None


class PdfImport:
    """Copies PDF files into a campaign, in one import."""

    def __init__(self, directory: Path, written: list[Path]) -> None:
        self.content = ContentFiles(directory, written)
        self.files: set[str] = set()

    def add(self, path: str | PathLike[str], number: int, metadata: Mapping[str, object]) -> Mapping[str, object]:
        """Copy the PDF file that the metadata of a document have; returns the metadata to store.

        Raises
        ------
        FormatError
            The file cannot be read, or is another one by now; with path and line.
        """
        pdf = metadata.get("pdf")
        if not isinstance(pdf, formats.PdfFile):
            # A field of the user's that looks like ours must not choose one of the campaign's files.
            if pdf_of(metadata) is None:
                return metadata
            return {("other_pdf" if name == "pdf" else name): value for name, value in metadata.items()}
        content = _read(path, number, pdf.path)
        if hashlib.sha256(content).hexdigest() != pdf.sha256:
            found = f"{pdf.path.name}, which changed during the import"
            raise FormatError(path, number, "a PDF file that stays the same", found, "import it again")
        is_safe = pdf.shown == pdf.path
        file = self.content.write(content, PDF if is_safe else ORIGINAL)
        self.files.add(file)
        entry: dict[str, object] = {"file": file, "pages": pdf.pages, "size": list(pdf.size)}
        if is_safe:
            entry["shown"] = file
        elif pdf.shown is not None:
            entry["shown"] = self.content.write(_read(path, number, pdf.shown), PDF)
        return {**metadata, "pdf": entry}


def _read(path: str | PathLike[str], number: int, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        found = f"a file that cannot be read ({error.strerror or error})"
        raise FormatError(path, number, f"the PDF file {file.name}", found) from None
