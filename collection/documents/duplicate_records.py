"""Bibliographic records of one publication: the same DOI or PMID, or the same title and year."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from collection.records import find_doi
from collection.tokens import normalise, words

Reason = Literal["DOI", "PMID", "title and year"]


class Match(NamedTuple):
    """An earlier record of the same publication, and what the two have in common."""

    doc_id: str
    reason: Reason


class _Known(NamedTuple):
    doc_id: str
    doi: str
    pmid: str


class RecordIndex:
    """Records by DOI, PMID, and title with year.

    Titles are compared without case and punctuation. Records with the same title and year are different publications
    if both have a DOI, or both a PMID, and these differ: "Editorial" is a frequent title.

    Examples
    --------
    >>> index = RecordIndex()
    >>> index.add("a", "Heat pumps: a review", {"year": 2019, "doi": "10.1000/hp"})
    >>> index.find("Heat Pumps - A Review.", {"year": "2019"})
    Match(doc_id='a', reason='title and year')
    >>> index.find("Heat pumps: a review", {"year": 2019, "doi": "10.1000/other"})
    """

    def __init__(self) -> None:
        self._by_doi: dict[str, str] = {}
        self._by_pmid: dict[str, str] = {}
        self._by_title: dict[bytes, list[_Known]] = {}

    def add(self, doc_id: str, title: str, metadata: Mapping[str, object]) -> None:
        """Add a record under the id of its document; :meth:`find` returns the first record of a publication."""
        doi, pmid, key = _identities(title, metadata)
        if doi:
            self._by_doi.setdefault(doi, doc_id)
        if pmid:
            self._by_pmid.setdefault(pmid, doc_id)
        if key:
            self._by_title.setdefault(key, []).append(_Known(doc_id, doi, pmid))

    def find(self, title: str, metadata: Mapping[str, object]) -> Match | None:
        """Find the first record of the same publication; None if there is none, or if the record cannot be compared."""
        doi, pmid, key = _identities(title, metadata)
        if doi in self._by_doi:
            return Match(self._by_doi[doi], "DOI")
        if pmid in self._by_pmid:
            return Match(self._by_pmid[pmid], "PMID")
        for known in self._by_title.get(key, ()) if key else ():
            if not (doi and known.doi) and not (pmid and known.pmid):
                return Match(known.doc_id, "title and year")
        return None


def _identities(title: str, metadata: Mapping[str, object]) -> tuple[str, str, bytes]:
    """DOI, PMID, and a digest of title and year; each empty if unknown."""
    doi = find_doi(str(metadata.get("doi") or ""))
    pmid = str(metadata.get("pmid") or "")
    found = re.search(r"\b\d{4}\b", str(metadata.get("year") or ""))
    plain = " ".join(words(normalise(title)))
    if not found or not plain:
        return doi, pmid, b""
    return doi, pmid, hashlib.blake2b(f"{found[0]} {plain}".encode(), digest_size=8).digest()
