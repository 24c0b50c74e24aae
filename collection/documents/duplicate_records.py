"""Bibliographic records of one publication: the same DOI or PMID, or the same title and year (or abstract)."""

from __future__ import annotations

import hashlib
import re
from typing import Literal, NamedTuple

from collection.records import Document, find_doi
from collection.tokens import plain

Reason = Literal["DOI", "PMID", "title and year", "title and abstract", "title"]


class Match(NamedTuple):
    """An earlier record of the same publication, and what the two have in common."""

    doc_id: str
    reason: Reason


class _Identity(NamedTuple):
    """What identifies a publication; each empty if unknown. Title and abstract are digests."""

    doi: str = ""
    pmid: str = ""
    title: str = ""
    year: str = ""
    abstract: str = ""

    def differs(self, other: _Identity) -> bool:
        """Whether a DOI or PMID, or without a year the abstract, shows another publication of the same title."""
        told = [(self.doi, other.doi), (self.pmid, other.pmid)]
        told += [] if self.year else [(self.abstract, other.abstract)]
        return any(one and two and one != two for one, two in told)


class RecordIndex:
    """Records by DOI, PMID, and title with year.

    Titles are compared without case and punctuation. Records with the same title and year are different publications
    if both have a DOI, or both a PMID, and these differ: "Editorial" is a frequent title. Records without a year are
    also different if both have an abstract and these differ.

    Examples
    --------
    >>> index = RecordIndex()
    >>> index.add(Document("a", "Heat pumps: a review", "", {"year": 2019, "doi": "10.1000/hp"}))
    >>> index.find(Document("b", "Heat Pumps - A Review.", "", {"year": "2019"}))
    Match(doc_id='a', reason='title and year')
    >>> index.find(Document("c", "Heat pumps: a review", "", {"year": 2019, "doi": "10.1000/other"}))
    """

    def __init__(self) -> None:
        self._by_doi: dict[str, str] = {}
        self._by_pmid: dict[str, str] = {}
        self._by_title: dict[tuple[str, str], dict[str, _Identity]] = {}

    def add(self, record: Document) -> None:
        """Add a record under the id of its document; :meth:`find` returns the first record of a publication."""
        found = _identify(record)
        if found.doi:
            self._by_doi.setdefault(found.doi, record.doc_id)
        if found.pmid:
            self._by_pmid.setdefault(found.pmid, record.doc_id)
        if found.title:
            same = self._by_title.setdefault((found.title, found.year), {})
            # A duplicate may add an identifier that tells the publication from others with the same title.
            known = same.get(record.doc_id, _Identity())
            same[record.doc_id] = _Identity(*(old or new for old, new in zip(known, found, strict=True)))

    def find(self, record: Document) -> Match | None:
        """Find the first record of the same publication; None if there is none, or if the record cannot be compared."""
        asked = _identify(record)
        if asked.doi in self._by_doi:
            return Match(self._by_doi[asked.doi], "DOI")
        if asked.pmid in self._by_pmid:
            return Match(self._by_pmid[asked.pmid], "PMID")
        for doc_id, known in self._by_title.get((asked.title, asked.year), {}).items() if asked.title else ():
            if not asked.differs(known):
                with_abstract: Reason = "title and abstract" if asked.abstract and known.abstract else "title"
                return Match(doc_id, "title and year" if asked.year else with_abstract)
        return None


def _identify(record: Document) -> _Identity:
    year = re.search(r"\b\d{4}\b", str(record.metadata.get("year") or ""))
    return _Identity(
        find_doi(str(record.metadata.get("doi") or "")),
        str(record.metadata.get("pmid") or ""),
        _digest(record.title),
        year[0] if year else "",
        "" if year else _digest(record.text or ""),
    )


def _digest(text: str) -> str:
    """Return a digest of the words of a text; empty if it has none."""
    same = plain(text)
    return hashlib.blake2b(same.encode(), digest_size=8).hexdigest() if same else ""
