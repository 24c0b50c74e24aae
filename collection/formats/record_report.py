"""Counts over the records of a file of references."""

from __future__ import annotations

from collections import Counter

from collection.core.records import Document, find_dois


class RecordReport:
    """Counts over the records of a file.

    Examples
    --------
    >>> report = RecordReport()
    >>> report.add(Document("1", "Heat pumps", "", {"year": 2019, "doi": "10.5555/h", "language": "English"}))
    >>> report.counts()["years"], report.counts()["without_abstract"]
    ({'2019': 1}, 1)
    """

    def __init__(self) -> None:
        self.read = self._without_abstract = self._without_doi = 0
        self._years: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()

    def add(self, document: Document) -> None:
        """Count the document of a record."""
        metadata = document.metadata
        self.read += 1
        self._without_abstract += not document.text
        self._without_doi += not find_dois(str(metadata.get("doi") or ""))
        self._years[str(metadata.get("year") or "")] += 1
        self._languages.update(str(metadata.get("language") or "").split("; "))

    def counts(self) -> dict[str, object]:
        """The counts as JSON; years and languages with the name '' are those of records that lack them."""
        return {
            "without_abstract": self._without_abstract,
            "without_doi": self._without_doi,
            "years": dict(sorted(self._years.items())),
            "languages": dict(self._languages.most_common()),
        }
