"""Search for the bibliographic record of a PDF file, by its name and by the text of its first page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from collection.core.records import Document, find_dois
from collection.core.tokens import plain, without_accents

FIRST_PAGE = 6_000
"""Number of characters of a text that are searched for title and DOI."""

LEAST_TITLE, LEAST_WORDS = 20, 3
"""Minimum numbers of characters and words of a title that is searched for in texts and file names."""

SHARE = 0.6
"""Minimum share of the title words that must be in a file name, which may be cut."""

_SIGNS = re.compile(r"[^a-z0-9]+")
_INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,3}")
_BOUNDARY = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|_")
_NUMBER = re.compile(r"(?<!\d)\d{4,8}(?!\d)")
_SHORT = frozenset(("and", "the", "for", "with", "from", "among", "into", "its", "are", "was", "were", "that", "this"))


class PdfMatch(NamedTuple):
    """The record of a PDF file, and the reason: "DOI", "PMID", "title" or "author and year"; or ""."""

    doc_id: str = ""
    reason: str = ""


class _Entry(NamedTuple):
    doc_id: str
    doi: str
    pmid: str
    title: str
    words: frozenset[str]
    author: str
    year: str


class PdfIndex:
    """Index of records, to find the record of a PDF file.

    A match is made only if exactly one record fits. DOI and PMID take precedence over the title, and the title over
    author and year.

    Examples
    --------
    >>> index = PdfIndex([Document("r1", "Tai chi and falls in older people", metadata={"doi": "10.1/X.7"})])
    >>> index.find("10.1_x.7.pdf"), index.find("Smith - Tai chi and falls in old.pdf").reason, index.find("scan.pdf")
    (PdfMatch(doc_id='r1', reason='DOI'), 'title', PdfMatch(doc_id='', reason=''))
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._entries = [_entry(document) for document in documents]
        self._by_doi = _by([(each.doi, each.doc_id) for each in self._entries])
        self._by_pmid = _by([(each.pmid, each.doc_id) for each in self._entries])

    def find(self, name: str, text: str = "") -> PdfMatch:
        """Return the record of a file with this name, whose text begins with `text`."""
        stem, first = name.rpartition("/")[2].removesuffix(".pdf").removesuffix(".PDF"), text[:FIRST_PAGE]
        ways = (
            ("DOI", self._named_doi(stem)),
            ("PMID", self._named_pmid(stem)),
            ("DOI", {doc_id for doi in find_dois(first)[:1] for doc_id in self._by_doi.get(doi, ())}),
            ("title", self._title_in(first)),
            ("title", self._titled(stem)),
            ("author and year", self._authored(stem)),
        )
        for reason, ids in ways:
            if len(ids) == 1:
                return PdfMatch(next(iter(ids)), reason)
        return PdfMatch()

    def _named_doi(self, stem: str) -> set[str]:
        """Records whose DOI is in the name, where other characters may replace those that file systems forbid."""
        signs = _signs(stem)
        lengths = {
            each.doc_id: len(_signs(each.doi)) for each in self._entries if each.doi and _signs(each.doi) in signs
        }
        longest = max(lengths.values(), default=0)
        return {doc_id for doc_id, length in lengths.items() if length == longest}

    def _named_pmid(self, stem: str) -> set[str]:
        return {doc_id for number in _NUMBER.findall(stem) for doc_id in self._by_pmid.get(number, ())}

    def _title_in(self, text: str) -> set[str]:
        words = f" {_words(text)} "
        found = {each.doc_id: each.title for each in self._entries if _is_long(each) and f" {each.title} " in words}
        # The title of "Reply to: ..." contains that of another record.
        return {doc_id for doc_id, title in found.items() if not any(title != a and title in a for a in found.values())}

    def _titled(self, stem: str) -> set[str]:
        words = frozenset(_words(stem).split())
        shares = {each.doc_id: len(each.words & words) / len(each.words) for each in self._entries if _is_long(each)}
        best = max(shares.values(), default=0.0)
        return {doc_id for doc_id, share in shares.items() if share == best} if best >= SHARE else set()

    def _authored(self, stem: str) -> set[str]:
        words = set(_words(_BOUNDARY.sub(" ", stem)).split())
        return {
            each.doc_id
            for each in self._entries
            if each.author
            and each.year in words
            and (words.issuperset(each.author.split()) or each.author.replace(" ", "") in words)
        }


def _is_long(entry: _Entry) -> bool:
    return len(entry.title) >= LEAST_TITLE and len(entry.words) >= LEAST_WORDS


def _by(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    ids: dict[str, set[str]] = {}
    for key, doc_id in pairs:
        if key:
            ids.setdefault(key, set()).add(doc_id)
    return ids


def _entry(document: Document) -> _Entry:
    metadata = document.metadata
    title = _words(document.title)
    dois = find_dois(str(metadata.get("doi", "")))
    words = frozenset(word for word in title.split() if len(word) > 2 and word not in _SHORT)
    year = re.search(r"\d{4}", str(metadata.get("year", "")))
    return _Entry(
        document.doc_id,
        dois[0] if dois else "",
        str(metadata.get("pmid", "")),
        title,
        words,
        _surname(metadata.get("authors")),
        year[0] if year else "",
    )


def _surname(authors: object) -> str:
    """The surname of the first author of "Smith, Jane; Doe, A", "Smith J; Doe A" or a list of names."""
    first = authors[0] if isinstance(authors, list) and authors else authors
    name = str(first or "").split(";")[0].strip()
    if "," in name:
        return _words(name.split(",")[0])
    parts = name.split()
    surname = list(parts)
    while len(surname) > 1 and _INITIALS.fullmatch(surname[-1]):
        surname.pop()
    return _words(" ".join(surname) if len(surname) < len(parts) else (parts[-1] if parts else ""))


def _words(text: str) -> str:
    """Return the words of a text without accents, because file names and databases may omit accents."""
    return plain(without_accents(text))


def _signs(text: str) -> str:
    return _SIGNS.sub("", without_accents(text).lower())
