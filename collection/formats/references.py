"""Bibliographic records as documents: RIS, nbib, Web of Science, Refer, BibTeX, EndNote XML, and tables without ids."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from collection.characters import one_line, without_markup
from collection.formats import bibtex, columns, endnote, fields, images, source, tagged
from collection.formats.source import FilePath
from collection.phrases import count, join_first
from collection.records import Document, find_dois
from collection.tokens import plain

_LINES = 200
"""Lines in which a format shows: search histories may stand before the first record."""
_LONGEST_LIST = 100_000
"""Characters of a list in one cell."""
_BEGINS = {
    "ris": re.compile(r"TY {1,2}-"), "nbib": re.compile(r"PMID *- *\d"), "ciw": re.compile("PT [A-Z]$"),
    "refer": re.compile("%0 "), "bibtex": bibtex.ENTRY,
}  # fmt: skip
_ENDINGS = {".ris": "ris", ".nbib": "nbib", ".ciw": "ciw", ".enw": "refer", ".bib": "bibtex"}
_TABLES = frozenset((".csv", ".tsv", ".jsonl", ".json"))
_PUBMED = re.compile(r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d+)")
_PMID = re.compile(r"(?:PMID|MEDLINE|PubMed)?\W*(\d{1,8})\W*", re.I)
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)|(?<!\d)((?:19|20)\d\d)[01]\d[0-3]\d(?!\d)")
_SOURCE = re.compile(r"(.+?)\s*\(((?:19|20)\d\d)\)\s*[\d:;(].*")
"""A journal with year, volume and pages, as Embase writes it."""
_PAGE = re.compile(r"\d|\b[ivxlc]+\b", re.I)
_SHORT_NAMES = re.compile(r"[^\d,]+ [A-Z][A-Z.-]{0,6}(?:, [^\d,]+ [A-Z][A-Z.-]{0,6})+")
"""Several names with initials in one cell, separated by commas."""
_NOTHING = re.compile(r"\s*(?:[-\u2013\u2014]{1,3}|n/a|nan|null)?\s*", re.I)
_NO_TITLE = re.compile(r"\W*(?:(?:title )?not available|no title(?: available)?|untitled)\W*", re.I)
_NO_ABSTRACT = re.compile(
    r"\W*(?:no abstracts?(?: (?:is )?(?:available|provided|found))?|(?:abstract )?(?:is )?not available|none)\W*", re.I
)


class Reference(Document):
    """A document made from a bibliographic record, including its id."""

    __slots__ = ()


def is_record(names: Iterable[str]) -> bool:
    """Whether a table with these columns has bibliographic records without ids."""
    there = tuple(names)
    found = columns.reference_fields(there).keys()
    telling = found & {"abstract", "authors", "doi", "pmid"}
    return not set(there).intersection(fields.DOC_ID) and "title" in found and bool(telling)


def detect(path: FilePath, line: str) -> str:
    """The format of the file: "ris", "nbib", "ciw", "refer", "bibtex", "endnote", or '' for another one.

    `line` is the first line that is not blank; a format may also show in a later one.
    """
    if (form := _ENDINGS.get(source.suffix(path), "")) or source.suffix(path) in _TABLES:
        return form
    if line.lstrip().startswith("<") and endnote.is_endnote(path):
        return "endnote"
    for _, each in islice(source.lines(path, "documents"), _LINES):
        if form := next((name for name, begin in _BEGINS.items() if begin.match(each)), ""):
            return form
    return ""


def read_references(path: FilePath, what: str, form: str) -> Iterator[tuple[int, Reference]]:
    """Line and document of every record in a format that :func:`detect` names."""
    reader = {
        "ris": tagged.read_ris, "nbib": tagged.read_nbib, "ciw": tagged.read_ciw, "refer": tagged.read_refer,
        "bibtex": bibtex.records, "endnote": endnote.records,
    }[form]  # fmt: skip
    return to_references(reader(path, what))


def to_references(records: Iterable[tuple[int, Mapping[str, object]]]) -> Iterator[tuple[int, Reference]]:
    """Documents of records with columns of :data:`collection.formats.columns.REFERENCE_COLUMNS`.

    The id is the PMID of a record of PubMed, else the DOI, else the PMID, else a digest of title and year, which
    includes the abstract if title or year is missing. If several records have the same id, the second gets the suffix
    ``-2``, and so on.
    """
    ids: Counter[str] = Counter()
    for number, record in records:
        made = _reference(record)
        ids[made.doc_id] += 1
        if ids[made.doc_id] > 1:
            made = made._replace(doc_id=f"{made.doc_id}-{ids[made.doc_id]}")
        yield number, made


def warn_unknown(path: FilePath, names: Iterable[str]) -> None:
    """Warn of columns of a table of records that are not understood."""
    if unknown := columns.unknown_names(names):
        source.warn(path, f"left out {count(len(unknown), 'unknown column')}: {join_first(unknown)}")


def _texts(value: object) -> list[str]:
    """The texts of a field that say something."""
    texts = (str(each).strip() for each in (value if isinstance(value, list) else [value]) if each is not None)
    return [text for text in texts if not _NOTHING.fullmatch(text)]


def _values(record: Mapping[str, object]) -> dict[str, list[str]]:
    """Field -> the texts of its first column that says something."""
    found: dict[str, list[str]] = {field: [] for field in columns.REFERENCE_COLUMNS}
    for field, names in columns.reference_fields(tuple(record)).items():
        for name in names:
            texts = _texts(record[name])
            if field == "title":
                texts = [text for text in texts if not _NO_TITLE.fullmatch(text)]
            if texts:
                found[field] = texts
                break
    return found


def _reference(record: Mapping[str, object]) -> Reference:
    found = _values(record)
    title, abstract = (one_line(" ".join(found[name])) for name in ("title", "abstract"))
    links = [url for text in found["url"] for url in text.split() if images.parse_host(url)]
    journal = one_line(without_markup(" ".join(found["journal"][:1])))
    source_year = ""
    if (cited := _SOURCE.fullmatch(journal)) is not None:
        journal, source_year = cited[1], cited[2]
    year = next((match[1] or match[2] for text in found["year"] if (match := _YEAR.search(text))), source_year)
    pages = one_line(" ".join(found["pages"][:1]))
    dois = find_dois(" ".join(found["doi"])) or find_dois(" ".join(link for link in links if "doi.org/" in link))[:1]
    doi = next(iter(dois), "")
    pmid = next((match[1] for text in found["pmid"] if (match := _PMID.fullmatch(text))), "")
    pmid = pmid or next((match[1] for link in links if (match := _PUBMED.search(link))), "")
    url = next(iter(links), f"https://doi.org/{doi}" if doi else "")
    metadata: dict[str, object] = {
        "authors": [re.sub(r"\s*\(\d+\)$", "", name) for name in _listed(found["authors"], "authors")],
        "year": int(year) if year else "",
        "journal": journal,
        "pages": pages if _PAGE.search(pages) else "",
        "doi": "; ".join(dois),
        "pmid": pmid,
        "keywords": _listed(found["keywords"], "keywords"),
        "url": url or (f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""),
    }
    identity = (pmid if record.get("from_pubmed") else doi) or doi or pmid
    if not identity:
        same_title = plain(title)
        content = "\n".join([same_title, year, "" if same_title and year else plain(abstract)])
        identity = f"r{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}"
    text = "" if _NO_ABSTRACT.fullmatch(abstract) else one_line(without_markup(abstract))
    return Reference(
        identity, one_line(without_markup(title)), text, {name: value for name, value in metadata.items() if value}
    )


def _listed(texts: list[str], what: str) -> list[str]:
    """Names or keywords; several in one cell are separated by semicolons, authors also by "and"."""
    if len(texts) == 1 and texts[0].startswith("["):
        texts = _written_list(texts[0])
    separator = ";"
    if what == "authors" and len(texts) == 1 and ";" not in texts[0]:
        separator = "," if _SHORT_NAMES.fullmatch(texts[0].strip()) else r"\s+and\s+"
    parts = (part for text in map(without_markup, texts) for part in re.split(separator, text))
    return [name for part in parts if (name := one_line(part).lstrip("*"))]  # MeSH marks a major topic so


def _written_list(text: str) -> list[str]:
    """The members of a list as Python or JSON writes it, which ASReview exports; or the text itself."""
    try:
        found = ast.literal_eval(text) if len(text) < _LONGEST_LIST else text
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return [text]
    return [str(each) for each in found] if isinstance(found, list) else [text]
