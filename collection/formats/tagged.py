"""Records of lines with tags: RIS, PubMed and ERIC (nbib), Web of Science (ciw), Refer (enw) and RefWorks.

Databases write RIS in many ways: with search histories between the records (Ovid), numbers and providers before them
(Cochrane), the type in the middle (Web of Science), tags of three letters, one blank before the hyphen, and with text
that goes on in the next line without a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from collection.core.errors import FormatError
from collection.core.phrases import count, plural
from collection.formats import fields, source
from collection.formats.source import FilePath, quote

Values = dict[str, list[str]]
"""Tag -> its values."""

NUMBER = re.compile(r"\s*(?:<?\d+[.>]?)?\s*")
"""A line between records that is blank or has their number only."""

_REFWORKS_TYPES = (
    "Abstract|Book|Conference|Dissertation|Generic|Journal|Magazine|Monograph|Newspaper|Patent|Report|Thesis|"
    "Unpublished|Web Page"
)
BEGINS = {
    "ris": re.compile(r"TY {1,2}-"), "nbib": re.compile(r"PMID *- *\d|OWN *- *ERIC"), "ciw": re.compile("PT [A-Z]$"),
    "refer": re.compile("%0 "), "cochrane": re.compile(r"ID: C(?:N-|D)\d"),
    "refworks": re.compile(f"RT (?:{_REFWORKS_TYPES})"),
}  # fmt: skip
"""Form -> a line with which one of its records begins."""

_NBIB_FIELD = re.compile(r"([A-Z][A-Z0-9]{0,3}) *- ?(.*)")


class _Form(NamedTuple):
    """Syntax of a format's records; `tag` matches the tag of a line and its value."""

    name: str
    tag: re.Pattern[str]
    start: str
    """Tag that every record has; elsewhere than first in some."""
    end: str
    """Tag that ends a record; '' if the next start or the end of the file does."""
    titles: tuple[str, ...]
    wanted: str
    lists: frozenset[str] = frozenset()
    """Tags of which each continued line is another value."""
    around: frozenset[str] = frozenset()
    """Tags outside of records."""
    closing: str = "ER  - "
    heading: re.Pattern[str] | None = None
    """A line before each record."""


_RIS = _Form(
    "RIS",
    re.compile(r"(?:([A-Z][A-Z0-9]{1,4}) {2}-|(DOI|PMID) -|([A-Z][A-Z0-9]) -(?=\s|\Z))\s*(.*)"),
    "TY", "ER", ("TI", "T1", "CT", "BT"), "a RIS record, which begins with 'TY  - '",
    frozenset(("KW",)),
)  # fmt: skip
_CIW = _Form(
    "Web of Science",
    re.compile(r"([A-Z][A-Z0-9])(?: (.*)|\Z)"),
    "PT", "ER", ("TI",), "a Web of Science record, which begins with 'PT '", frozenset(("AU", "AF", "CA")),
    frozenset(("FN", "VR", "EF")), "ER",
)  # fmt: skip
_REFER = _Form(
    "Refer", re.compile(r"(%[0-9A-Z@!#$&(^>+~<\[=|])(?: (.*)|\Z)"), "%0", "", ("%T",), "'%0' and a type",
    frozenset(("%K",)),
)  # fmt: skip
_REFWORKS_TAGS = """
    RT SR ID A1 A2 A3 A4 A5 A6 T1 T2 T3 JF JO YR FD VO vo IS SP OP K1 AB NO PB PP ED SN AD AN LA CL SF OL OT DO DB DS CN
    RD ST U1 U2 U3 U4 U5 U6 U7 U8 U9 U10 U11 U12 U13 U14 U15 UL LK WT WV WP AV ER
"""
_REFWORKS = _Form(  # only its own tags, since a line of an abstract may begin with two capitals
    "RefWorks", re.compile(rf"({'|'.join(_REFWORKS_TAGS.split())})(?: (.*)|\Z)"),
    "RT", "", ("T1",), "a record of RefWorks, which begins with 'RT '", frozenset(("K1",)),
)  # fmt: skip
_COCHRANE = _Form(
    "Cochrane", re.compile(r"([A-Z]{2,3}):(?: (.*)|\Z)"), "ID", "", ("TI",),
    "a record of Cochrane, which begins with 'ID: '",
    heading=re.compile(r"Record #\d+ of \d+\s*"),
)  # fmt: skip


_PMIDS = {"embase": "C5", "scopus": "C2"}
"""Database -> the tag of RIS in which it exports PubMed's number."""
_OVID_MEDLINE = re.compile(r"\bovid\S*[?&]D=(?:med|prem|pmnm)", re.I)
"""Address of a record in Ovid's MEDLINE, which older exports do not name otherwise."""


class _Block:
    """The lines of a record."""

    def __init__(self) -> None:
        self.begin = self.lines = self.size = 0
        self.started = self.gap = False
        self.last = ""
        self.values: dict[str, list[list[str]]] = {}

    def add(self, path: FilePath, number: int, tag: str, text: str) -> None:
        """Add a value of a tag; `tag` may be the last one."""
        self.begin = self.begin or number
        self.lines += 1
        self.size += len(text) + 1
        self.last = tag
        self.values.setdefault(tag, []).append([text.strip()])
        source.require_size(path, self.begin, self.size, "in a record", "its end may be missing")

    def go_on(self, path: FilePath, text: str) -> None:
        """Add a line to the last value."""
        self.lines += 1
        self.size += len(text) + 1
        self.values[self.last][-1].append(text.strip())
        source.require_size(path, self.begin, self.size, "in a record", "its end may be missing")

    def texts(self) -> Values:
        return {tag: ["\n".join(filter(None, value)) for value in values] for tag, values in self.values.items()}


class _Reader:
    """Cuts the lines of a file into records, and counts those outside of them."""

    def __init__(self, path: FilePath, what: str, form: _Form) -> None:
        self.path, self.what, self.form = path, what, form
        self.outside = self.records = 0
        self.unclosed: list[int] = []
        """The lines where records begin that the next one ends, or the end of the file."""
        self.is_cut = False
        """Whether the last record has no end."""
        self._strict = False
        self._opening = ""
        """The first tag of the records; in Refer it begins each one."""
        self._first: tuple[int, str] | None = None
        self._block = _Block()

    def read(self) -> Iterator[tuple[int, Values]]:
        """The line where each record begins, and its values."""
        for number, text in source.lines(self.path, self.what):
            line = text.removeprefix("\ufeff")  # of the second of two files that were joined
            if self._first is None and not NUMBER.fullmatch(line):
                self._first = number, line
            yield from self._line(number, line)
        yield from self._finish()
        if not self.records:
            number, line = self._first or (1, "")
            raise FormatError(self.path, number, self.form.wanted, quote(line))

    def _line(self, number: int, line: str) -> Iterator[tuple[int, Values]]:
        form, block = self.form, self._block
        tag, text = self._tag(line)
        if not tag:
            self._text(number, line)
        elif tag == form.end:
            if block.started or self._is_complete():
                yield self._take()
            else:
                self._skip(1)
        elif tag in form.around and not block.started:
            self._skip(0)
        else:
            self._opening = self._opening or tag
            if (block.started and tag == form.start) or self._is_next(tag):
                if form.end and self._opening != form.start:  # then tags before this one may be of the next record
                    wanted = f"{form.closing!r} at the end of the record in line {block.begin}"
                    raise FormatError(self.path, number, wanted, quote(line))
                yield self._take(is_closed=not form.end)
            self._block.started |= tag == form.start
            self._block.add(self.path, number, tag, text)

    def _is_next(self, tag: str) -> bool:
        """Tell whether the tag begins a record of a form without an end, behind an empty line."""
        return not self.form.end and self._block.gap and tag == self._opening and self._is_complete()

    def _is_complete(self) -> bool:
        return any(title in self._block.values for title in self.form.titles)

    def _tag(self, line: str) -> tuple[str, str]:
        """The tag of a line and its value; '' for a line without one."""
        match = self.form.tag.match(line)
        if match is None:
            return "", ""
        *tags, text = match.groups()
        if len(tags) > 1:  # "RCT - based" is text where tags have two blanks
            if tags[2] and self._strict:
                return "", ""
            self._strict |= bool(tags[0])
        return next(filter(None, tags)), text or ""

    def _text(self, number: int, line: str) -> None:
        """A line without a tag goes on with the last value, or is outside of records."""
        block = self._block
        if not line.strip() or (self.form.heading is not None and self.form.heading.fullmatch(line)):
            block.gap = True
        elif block.started or (block.last and not block.gap):
            if block.last in self.form.lists:
                block.add(self.path, number, block.last, line)
            elif block.last:
                block.go_on(self.path, line)
        elif not NUMBER.fullmatch(line):
            self._skip(1)

    def _skip(self, lines: int) -> None:
        self.outside += self._block.lines + lines
        self._block = _Block()

    def _take(self, *, is_closed: bool = True) -> tuple[int, Values]:
        block, self._block = self._block, _Block()
        self.records += 1
        if not is_closed:
            self.unclosed.append(block.begin)
        return block.begin, block.texts()

    def _finish(self) -> Iterator[tuple[int, Values]]:
        if self._block.started or (not self.form.end and self._is_complete()):
            self.is_cut = bool(self.form.end)
            yield self._take(is_closed=not self.is_cut)
        else:
            self._skip(0)


def _read(path: FilePath, what: str, form: _Form) -> Iterator[tuple[int, Values]]:
    reader = _Reader(path, what, form)
    yield from reader.read()
    if reader.outside:
        between = f"{count(reader.outside, 'line')} of text between the {form.name} records, such as headings"
        belong = plural(reader.outside, "belongs", "belong")
        source.warn(path, f"{between}, {belong} to no record", reader.outside)
    if reader.unclosed:
        number = len(reader.unclosed)
        have = f"{count(number, 'record')} {plural(number, 'has', 'have')} no {form.closing!r} at the end"
        is_cut = reader.is_cut and number < reader.records
        cut = ", and the file may have been cut: compare the last record with its source" if is_cut else ""
        source.warn(path, f"{have}, the first in line {reader.unclosed[0]}{cut}")


def read_ris(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Line and tags of every record of RIS."""
    return _read(path, what, _RIS)


def is_ris_field(line: str) -> bool:
    """Tell whether a line of RIS begins with a tag."""
    return _RIS.tag.match(line) is not None


def complete_ris(values: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The tags of a record of RIS with its PMID, which some databases write elsewhere, and its title."""
    known = dict(values)
    database = " ".join([*known.get("DB", []), *known.get("DP", [])])
    links = " ".join([*known.get("UR", []), *known.get("L2", [])])
    # Embase.com has records whose only database is Medline.
    other = next((tag for name, tag in _PMIDS.items() if name in f"{database} {links}".lower()), "")
    own = known.get("AN") or known.get("ID", []) if is_pubmed(database) or _OVID_MEDLINE.search(links) else []
    known.setdefault("PMID", known.get(other, []) if other else own)
    if not {"TI", "T1", "CT", "BT"} & known.keys() and {"JO", "JF", "JA", "SO"} & known.keys():
        known["TI"] = known.pop("T2", [])  # not the journal
    return known


def read_ciw(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Line and tags of every record of Web of Science's own format."""
    return _read(path, what, _CIW)


def read_cochrane(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Line and tags of every record of the Cochrane Library's text."""
    return _read(path, what, _COCHRANE)


def read_refworks(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Line and tags of every record of RefWorks' tagged format, which ProQuest and CNKI write, too."""
    return _read(path, what, _REFWORKS)


def read_refer(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Line and tags of every record of Refer's format."""
    return _read(path, what, _REFER)


def complete_refer(values: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The tags of a record of Refer or RefWorks with its PMID if it comes from PubMed."""
    is_from_pubmed = is_pubmed(" ".join(text for tag in ("%W", "%~", "DB", "DS") for text in values.get(tag, [])))
    number = values.get("%M") or values.get("AN", [])
    return {**values, "PMID": number} if is_from_pubmed else dict(values)


def is_pubmed(database: str) -> bool:
    """Tell whether the name of a database says that its accession numbers are PMIDs."""
    name = database.lower()
    return ("pubmed" in name or "medline" in name or "nlm" in name.split()) and "embase" not in name


def read_nbib(path: FilePath, what: str) -> Iterator[tuple[int, Values]]:
    """Records of PubMed and ERIC: lines ``TAG - value``, which blanks continue.

    Each record begins with its PMID, or with ERIC as its owner.
    """
    block = _Block()
    for number, text in fields.data_lines(path, what):
        line = text.removeprefix("\ufeff")
        field = _NBIB_FIELD.fullmatch(line)
        if line.startswith("      ") and block.last:
            block.go_on(path, line)
        elif field is None or not (block.begin or _begins_nbib(field)):
            wanted = "a field such as 'TI  - title'" if block.begin else "a PubMed record, which begins with 'PMID- '"
            raise FormatError(path, number, wanted, quote(line))
        else:
            if _begins_nbib(field) and block.begin:
                yield block.begin, _nbib_record(path, block.begin, block.texts())
                block = _Block()
            block.add(path, number, field[1], field[2])
    if block.begin:
        yield block.begin, _nbib_record(path, block.begin, block.texts())


def _begins_nbib(field: re.Match[str]) -> bool:
    return field[1] == "PMID" or (field[1] == "OWN" and field[2].strip() == "ERIC")


def _nbib_record(path: FilePath, number: int, record: Values) -> Values:
    if "PMID" in record and not record["PMID"][0].isdecimal():
        raise FormatError(path, number, "a PMID, which is a number", quote(record["PMID"][0]))
    return record
