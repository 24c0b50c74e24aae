"""Bibliographic records of one publication, by DOI, PMID, or title with what else identifies a publication.

A record that is left out by mistake is lost to a review, and one that is kept by mistake is screened twice. So a match
is certain only if nothing of importance contradicts it; everything else is a possible duplicate, for people to decide.
Bramer et al. (2016, "De-duplication of database search results for systematic reviews in EndNote") and ASySD (Hair et
al. 2023) compare the same fields.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from collection.core.characters import without_markup
from collection.core.records import Document, find_dois
from collection.core.tokens import normalise, plain, without_accents, words

SKETCH = 64
"""Hashes of words by which two texts are compared: enough to tell 0.25 from 0.6 of the words in common."""
SAME_ABSTRACT, SAME_TITLE = 0.6, 0.5
"""Minimum Jaccard similarity of the words of one abstract in two databases, and of two titles of one publication."""
CONTAINED = 0.9
"""Minimum share of the words of the shorter abstract that a longer one has, if the shorter one was cut."""
BLOCK = 20
"""Maximum number of records in a block: a record with another title is compared with those in its blocks."""
ENDS = 4
"""Words at the beginning or end of a title that define a block; of an abstract, the square of this number."""
SHORT = 20
"""Distinct words of an abstract below which only an equal one is the same."""
MOST = 500
"""Records of one title and year that are compared; further ones are found by DOI, PMID or abstract only."""

_GENERIC_WORDS = """
a abstract abstracts an and annual answer appendix article author authors book by comment commentary comments
conference congress contents corrections correction corrigendum discussion editor editorial editorials erratum
first for foreword from highlights im in index international introduction invited issue letter letters meeting
news note notes obituary of on oral poster posters preface presentation presentations proceedings program
programme reply response retraction review reviews s second session special summary supplement symposium table
the this to und untitled volume workshop
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Words that titles of different publications consist of, such as "Letter to the editor"."""
_KINDS = frozenset((
    "abstract", "addendum", "answer", "comment", "commentary", "correction", "corrigendum", "editorial", "errata",
    "erratum", "letter", "protocol", "reply", "response", "retracted", "retraction", "withdrawn",
))  # fmt: skip
"""Title words of publications about another one, such as replies and errata."""
_NUMBERS = re.compile(r"\d+|[ivx]+")
_REGISTERED = re.compile(r"\b(?:NCT\d{8}|ISRCTN\d{8}|ACTRN\d{14}|EUCTR\d{4}-\d{6}-\d{2}|DRKS\d{8}|UMIN\d{9})\b")
"""Trial registration numbers."""
_REGISTRIES = ("NCT0", "ISRCTN", "ACTRN", "EUCTR", "DRKS", "UMIN")
_NO_AUTHOR_WORDS = "anonymous anon unknown none na author authors listed no not available et al"
_NO_AUTHOR = frozenset(_NO_AUTHOR_WORDS.split())
_GROUP = re.compile(
    r"(?<=[.?!])\s+[^.?!]{1,100}\b(?:Groups?|Investigators|Committee|Collaborators|Consortium|Collaboration)[].\s]*\Z",
    re.I,
)
"""Name of a study group, which Medline appended to titles before it had a field for it."""
_SMALL_WORDS = "the of and for in on a an de la le les des du et der die das und fur"
_JOURNAL_WORDS = frozenset(_SMALL_WORDS.split())


class Match(NamedTuple):
    """An earlier record, what the two have in common, and whether it is a certain duplicate."""

    doc_id: str
    reason: str
    certain: bool = True


class _Author(NamedTuple):
    """Words of the first author's surname, and of the whole name."""

    surname: frozenset[str]
    name: frozenset[str]


class _Identity(NamedTuple):
    """Identifiers of a publication; each empty if unknown."""

    dois: tuple[str, ...] = ()
    pmid: str = ""
    title: str = ""
    title_words: bytes = b""
    content: int = 0
    """Words of the title that are not of :data:`_GENERIC`."""
    year: int = 0
    author: _Author | None = None
    journal: str = ""
    page: str = ""
    abstract: bytes = b""
    abstract_words: bytes = b""
    abstract_size: int = 0
    """Distinct words of the abstract."""
    kind: frozenset[str] = frozenset()
    """Title words and numbers that distinguish publications with similar titles."""
    trials: frozenset[str] = frozenset()
    """Trial registration numbers."""
    blocks: tuple[bytes, ...] = ()
    """Digests of both ends of the title, of the beginning of the abstract, and of author and page."""

    def compared(self, other: _Identity) -> dict[str, bool]:
        """First author, journal, abstract and page where both have them -> whether they are the same."""
        comparisons = {
            "first author": self.same_author(other),
            "journal": _same_journal(self.journal, other.journal),
            "abstract": self.same_abstract(other),
            "page": self.page == other.page if self.page and other.page else None,
        }
        return {name: same for name, same in comparisons.items() if same is not None}

    @property
    def specific(self) -> bool:
        """Return whether the title says what the publication is about."""
        return self.content >= 3

    @property
    def is_bare(self) -> bool:
        """Return whether a title and year are all that is known."""
        return not (self.author or self.journal or self.abstract or self.page)

    def only_abstract(self, other: _Identity) -> bool:
        """Tell whether both records have the same abstract, title and year, and nothing else."""
        nothing = not any((*self[6:9], *other[6:9]))
        return nothing and bool(self.abstract) and self.abstract == other.abstract

    def same_author(self, other: _Identity) -> bool | None:
        """Tell whether the first authors have one surname; None if one is unknown."""
        if self.author is None or other.author is None:
            return None
        return bool(self.author.surname & other.author.name or other.author.surname & self.author.name)

    def same_abstract(self, other: _Identity) -> bool | None:
        """Tell whether the abstracts are equal or share most words; None if one is missing."""
        if not (self.abstract and other.abstract):
            return None
        if self.abstract == other.abstract:
            return True
        long = min(len(self.abstract_words), len(other.abstract_words)) >= SHORT * 4
        if not long:
            return False
        similarity = _similarity(self.abstract_words, other.abstract_words)
        shorter, longer = sorted((self.abstract_size, other.abstract_size))
        # The words in common are those of the union times the similarity.
        shared = similarity / (1 + similarity) * (shorter + longer)
        return similarity >= SAME_ABSTRACT or (shared >= CONTAINED * shorter and longer > shorter * 1.1)

    def other_kind(self, other: _Identity) -> bool:
        """Tell whether the titles are those of two publications: a reply, an erratum, another part or trial."""
        other_trials = bool(self.trials and other.trials) and not self.trials & other.trials
        both = self.title and other.title and self.title != other.title
        return other_trials or bool(both and self.kind != other.kind)

    def other_identifier(self, other: _Identity) -> str:
        """The identifier that both have and that differs: "DOI", "PMID" or ''."""
        if self.dois and other.dois and not set(self.dois) & set(other.dois):
            return "DOI"
        return "PMID" if self.pmid and other.pmid and self.pmid != other.pmid else ""


class RecordIndex:
    """Records by DOI, PMID, title, and abstract.

    Records with the same DOI or PMID are certain duplicates unless their titles differ. So are records with the same
    title and year if the first author or the journal is the same, the journals do not differ, and the abstracts are the
    same, similar or missing. Titles are compared without case, punctuation, accents, spaces and markup. Similar records
    are possible duplicates.

    Examples
    --------
    >>> index = RecordIndex()
    >>> index.add(Document("a", "Heat pumps in old homes", "", {"year": 2019, "authors": ["Berg, T."]}))
    >>> index.find(Document("b", "Heat Pumps in Old Homes.", "", {"year": "2019", "authors": ["T. Berg"]}))
    Match(doc_id='a', reason='title and year', certain=True)
    >>> index.find(Document("c", "Heat pumps in old homes", "", {"year": 2019, "authors": ["Lund, K."]}))
    Match(doc_id='a', reason='title and year, other first author', certain=False)
    """

    def __init__(self) -> None:
        self._by_doi: dict[str, str] = {}
        self._by_pmid: dict[str, str] = {}
        self._by_title: dict[tuple[str, int], dict[str, _Identity]] = {}
        self._by_abstract: dict[bytes, str] = {}
        self._by_block: dict[bytes, list[str]] = {}
        self._known: dict[str, _Identity] = {}
        self._retitled: dict[str, list[_Identity]] = {}
        """Id of a document -> its records with another title, such as those that a person merged with it."""

    def add(self, record: Document) -> None:
        """Add a record under the id of its document; :meth:`find` returns the first record of a publication."""
        self._add(_identify(record), record)

    def _add(self, identity: _Identity, record: Document) -> None:
        for doi in identity.dois[:1]:
            self._by_doi.setdefault(doi, record.doc_id)
        if identity.pmid:
            self._by_pmid.setdefault(identity.pmid, record.doc_id)
        if len(identity.abstract_words) >= SHORT * 4:
            self._by_abstract.setdefault(identity.abstract, record.doc_id)
        for block in identity.blocks:
            alike = self._by_block.setdefault(block, [])
            if len(alike) < BLOCK and record.doc_id not in alike:
                alike.append(record.doc_id)
        # A duplicate may add an identifier that tells the publication from others with the same title.
        known = self._known.get(record.doc_id, _Identity())
        if known.title and identity.title and identity.title != known.title:
            self._retitled.setdefault(record.doc_id, []).append(identity)
        merged = _Identity._make(old or new for old, new in zip(known, identity, strict=True))
        self._known[record.doc_id] = merged
        for one in (identity, merged):
            same = self._by_title.setdefault((one.title, one.year), {}) if one.title else {}
            if len(same) < MOST or record.doc_id in same:
                same[record.doc_id] = merged

    def find(self, record: Document) -> Match | None:
        """The first record of the same publication, or else the first that may be of the same; None if there is none.

        A record of which neither identifier, title nor abstract is known is compared with none.
        """
        return next(iter(self._find(_identify(record))), None)

    def enter(self, record: Document) -> list[Match]:
        """Find the record and add it, for a certain duplicate under the id of the earlier document.

        Returns
        -------
        list of Match
            The certain match alone, or all possible ones, the most likely first.
        """
        identity = _identify(record)
        matches = self._find(identity)
        is_certain = bool(matches) and matches[0].certain
        self._add(identity, record._replace(doc_id=matches[0].doc_id) if is_certain else record)
        return matches

    def _find(self, identity: _Identity) -> list[Match]:
        possible: dict[str, Match] = {}
        for match in self._matches(identity):
            if match.certain:
                return [match]
            possible.setdefault(match.doc_id, match)
        return list(possible.values())

    def _matches(self, identity: _Identity) -> Iterator[Match]:
        for name, doc_id in self._same_identifier(identity):
            known = self._known[doc_id]
            records = (known, *self._retitled.get(doc_id, ()))
            if all(identity.other_kind(one) or _other_publication(identity, one) for one in records):
                yield Match(doc_id, f"{name}, other title", False)
            elif name == "DOI" and max(len(identity.dois), len(known.dois)) > 1:
                yield Match(doc_id, "one of several DOIs", False)
            else:
                yield Match(doc_id, name)
        for year in (
            (identity.year, 0, identity.year - 1, identity.year + 1)
            if identity.year
            else (0, *self._years(identity.title))
        ):
            for doc_id, known in self._by_title.get((identity.title, year), {}).items() if identity.title else ():
                if (match := _by_title(identity, known, doc_id)) is not None:
                    yield match
        if (same := self._by_abstract.get(identity.abstract)) is not None:
            known = self._known[same]
            if identity.same_author(known) is not False and not _years_apart(identity, known):
                yield Match(same, "abstract, other title", False)
        alike = dict.fromkeys(doc_id for block in identity.blocks for doc_id in self._by_block.get(block, ()))
        for doc_id in alike:
            if _is_similar(identity, self._known[doc_id]):
                yield Match(doc_id, "similar title", False)

    def _same_identifier(self, identity: _Identity) -> Iterator[tuple[str, str]]:
        for doi in identity.dois:
            if doi in self._by_doi:
                yield "DOI", self._by_doi[doi]
        if identity.pmid in self._by_pmid:
            yield "PMID", self._by_pmid[identity.pmid]

    def _years(self, title: str) -> Iterator[int]:
        return (year for year in range(1900, 2100) if (title, year) in self._by_title)


def _other_publication(one: _Identity, other: _Identity) -> bool:
    """Tell whether records with the same DOI or PMID may differ: abstracts of a supplement often share its DOI."""
    if not (one.title and other.title) or _similarity(one.title_words, other.title_words) >= SAME_TITLE:
        return False
    same = one.compared(other)
    if same.get("abstract") is not None:
        return not same["abstract"]
    return not (same.get("first author") and same.get("page") and not _years_apart(one, other))


def _is_similar(one: _Identity, other: _Identity) -> bool:
    """Tell whether records with different titles or identifiers may be the same publication."""
    if one.title == other.title or one.other_identifier(other) or one.other_kind(other) or _years_apart(one, other):
        return False
    same = one.compared(other)
    against = sum(not each for each in same.values())
    alike = _similarity(one.title_words, other.title_words)
    if same.get("abstract"):
        return against < 2
    return alike >= SAME_TITLE and same.get("abstract") is None and any(same.values()) and against < 2


def _years_apart(one: _Identity, other: _Identity) -> bool:
    return bool(one.year and other.year) and abs(one.year - other.year) > 1


def _by_title(identity: _Identity, known: _Identity, doc_id: str) -> Match | None:
    """The match of records with one title, whose years are equal, unknown or a year apart."""
    same = identity.compared(known)
    against = [name for name, is_same in same.items() if not is_same]
    by_author, by_journal = same.get("first author"), same.get("journal")
    by_abstract, by_page = same.get("abstract"), same.get("page")
    reason = _reason(identity, known, by_abstract)
    if name := identity.other_identifier(known):
        likely = identity.specific and (by_abstract or by_author)
        return Match(doc_id, f"title, other {name}", False) if likely else None
    likely = bool(identity.specific or any(same.values()))
    same_year = identity.year == known.year
    is_bare = identity.is_bare == known.is_bare and (identity.is_bare or identity.only_abstract(known))
    if identity.other_kind(known) or by_abstract is False or by_journal is False:
        certain = False  # another trial or part, or a conference version and a journal version
    elif same_year and identity.year:
        named = (by_author or by_journal) and (by_author is not False or (by_journal and by_abstract))
        content = by_abstract or (identity.specific and by_page is not False) or (by_author and by_journal and by_page)
        certain = bool((named and content) or is_bare)
    elif same_year or not (identity.year and known.year):
        certain = bool((by_author and by_journal and by_abstract) or (same_year and is_bare))
    else:
        certain = bool(by_author and by_journal and by_abstract and by_page is not False)
    if certain:
        return Match(doc_id, reason)
    if not same_year:
        likely = bool(by_author or by_abstract or (identity.specific and not (identity.year and known.year)))
        reason = f"{reason}, other year"
    elif against:
        reason = f"{reason}, other {against[0]}"
    else:
        likely = True
    enough = len(against) < 2 or by_author or by_abstract
    return Match(doc_id, reason, False) if likely and enough else None


def _reason(identity: _Identity, known: _Identity, same_abstract: bool | None) -> str:
    if identity.year and identity.year == known.year:
        return "title and year"
    return "title and abstract" if same_abstract else "title"


def _identify(record: Document) -> _Identity:
    metadata = record.metadata
    year = re.search(r"\b\d{4}\b", str(metadata.get("year") or ""))
    title, abstract = _GROUP.sub("", without_markup(record.title)), words(normalise(without_markup(record.text or "")))
    title_words = plain(without_accents(title.replace("&", " and "))).split()
    author = _first_author(metadata.get("authors"))
    page = re.search(r"[^\W\d_]*\d+", str(metadata.get("pages") or ""))
    return _Identity(
        tuple(find_dois(str(metadata.get("doi") or ""))),
        str(metadata.get("pmid") or ""),
        _digest("".join(title_words)).hex(),
        _sketch(title_words),
        sum(word not in _GENERIC for word in title_words),
        int(year[0]) if year else 0,
        author,
        plain(without_accents(re.sub(r"[(\[:=].*", "", _first(metadata.get("journal"))))),
        page[0].lower() if page else "",
        _digest(" ".join(abstract)) if abstract else b"",
        _sketch(abstract),
        len(set(abstract)),
        frozenset(word for word in title_words if word in _KINDS or _NUMBERS.fullmatch(word)),
        _trials(f"{record.title} {record.text} {metadata.get('url') or ''}", metadata.get("registration")),
        tuple(_blocks(title_words, abstract, author, page[0].lower() if page else "")),
    )


def _trials(text: str, registration: object) -> frozenset[str]:
    """The numbers of registered trials in a text, and the number of a record of any registry."""
    own = str(registration or "").upper()
    text = f"{text} {own}"
    is_named = any(registry in text for registry in _REGISTRIES)  # ten times as fast as the search for numbers
    return frozenset((*(_REGISTERED.findall(text) if is_named else ()), *own.split()))


def _blocks(title: list[str], abstract: list[str], author: _Author | None, page: str) -> Iterator[bytes]:
    """Digests that records of the same publication are likely to share although their titles differ."""
    if len(title) > ENDS:
        yield _digest(f"< {' '.join(title[:ENDS])}")
        yield _digest(f"> {' '.join(title[-ENDS:])}")
    if len(abstract) >= SHORT:
        yield _digest(f"a {' '.join(abstract[: ENDS * ENDS])}")
    if author is not None and page:
        yield _digest(f"p {page} {' '.join(sorted(author.surname))}")


def _first(value: object) -> str:
    """The first text of a list, or a text."""
    return str(value[0] if isinstance(value, list) and value else value or "")


def _first_author(names: object) -> _Author | None:
    """The first of several names, "Berg, Tor", "Berg T", "T. Berg" or "Tor Berg".

    >>> _first_author("Berg, Tor; Lund, K.").surname, _first_author(["Tor A. Berg"]).surname
    (frozenset({'berg'}), frozenset({'berg'}))
    """
    first = re.split(r";|\band\b|&", without_accents(_first(names)))[0]
    surname, comma, _ = first.partition(",")
    parts = re.findall(r"\w+", surname)
    if not comma and parts and not _is_initials(parts[-1]):
        parts = parts[-1:]  # "Tor Berg"; with a comma, or before initials, the surname comes first
    while len(parts) > 1 and _is_initials(parts[-1]):
        parts.pop()
    long = [part for part in parts if len(part) > 1]
    known = frozenset(part.lower() for part in long or parts) - _NO_AUTHOR
    return _Author(known, frozenset(re.findall(r"\w\w+", first.lower())) | known) if known else None


def _is_initials(part: str) -> bool:
    return len(part) == 1 or (len(part) <= 3 and part.isupper())


def _same_journal(one: str, other: str) -> bool | None:
    """Tell whether journals are equal, or one abbreviates the other; None if one is unknown.

    >>> _same_journal("j home energy", "journal of home energy"), _same_journal("energy", "cold")
    (True, False)
    """
    first, second = ([word for word in name.split() if word not in _JOURNAL_WORDS] for name in (one, other))
    if not (first and second):
        return None
    shorter, longer = sorted((first, second), key=len)
    if "".join(shorter) == "".join(word[0] for word in longer):  # such as JAMA
        return True
    rest = iter(longer)
    return all(any(word.startswith(part) or part.startswith(word) for word in rest) for part in shorter)


def _digest(text: str) -> bytes:
    """A digest of a text; empty for an empty one."""
    return blake2b(text.encode(), digest_size=8).digest() if text else b""


def _sketch(parts: Iterable[str]) -> bytes:
    """The smallest hashes of the distinct words (Broder 1997), four bytes each."""
    return array("I", sorted({zlib.crc32(part.encode()) for part in parts})[:SKETCH]).tobytes()


def _similarity(one: bytes, other: bytes) -> float:
    """The estimated Jaccard similarity of two sets of words by their sketches."""
    first, second = set(array("I", one)), set(array("I", other))
    smallest = sorted(first | second)[:SKETCH]
    return len(first & second & set(smallest)) / len(smallest) if smallest else 0.0
