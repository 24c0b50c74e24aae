"""Bibliographic records as documents: RIS, nbib, Web of Science, Refer, RefWorks, BibTeX, EndNote XML, and tables."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

from collection.core.characters import one_line, without_markup
from collection.core.errors import unit
from collection.core.phrases import count, join_first, plural
from collection.core.records import Document, find_dois
from collection.core.tokens import plain
from collection.formats import bibtex, columns, endnote, fields, images, source, tagged
from collection.formats.languages import name_languages
from collection.formats.source import FilePath

_LINES = 200
"""Lines in which a format shows: search histories may stand before the first record."""
_LONGEST_LIST = 100_000
"""Characters of a list in one cell."""
_BEGINS = {**tagged.BEGINS, "bibtex": bibtex.ENTRY}
_ENDINGS = {".ris": "ris", ".nbib": "nbib", ".ciw": "ciw", ".enw": "refer", ".bib": "bibtex"}
_TABLES = frozenset((".csv", ".tsv", ".jsonl", ".json"))
_PUBMED = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed|europepmc\.org/(?:article|abstract)/med)/(\d+)", re.I
)
_PMID = re.compile(r"\W*([1-9]\d{0,7})(?:\.0+)?\W*")
"""A PMID, also as spreadsheets and pandas write it."""
_INTERRUPTED = re.compile(r"(?<=[/._(-])\s+(?=[a-z0-9])(?!10\.)|(?<=\d)\s+(?=/)")
"""A blank inside a DOI, as copied from two lines."""
_CUT_DOI = re.compile(r"\s+(?!10\.|doi\b|https?:|and\b|or\b|pii\b)\w")
"""What follows a DOI that is cut at a blank."""
_NEXT_TAG = re.compile(r"\s{2,}[A-Z][A-Z0-9] {2}- .*")
"""Tags of RIS that follow a DOI in the same line, as Rayyan writes those that it does not know."""
_LABELLED = re.compile(r"\b(?:PMID|PubMed|Medline)(?: ID)?[:\s]*([1-9]\d{0,7})\b|\b([1-9]\d{0,7}) ?\[PMID\]", re.I)
_COMMAS = re.compile(r"[^\W\d][^,;|]{2,}(?:,[^\W\d][^,;|]{2,})+")
"""Several keywords as Rayyan writes them, but not the commas of "Heart Failure, Congestive" or "1,2-ethanediol"."""
_NOTED = re.compile(r"(?:^|[;.\s])(?:(PMID): *(?:NLM)?(\d+)|(Language): *([^;.]+))")
"""A field in the notes, where EBSCO and Zotero put what RIS has no tag for."""
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)|(?<!\d)((?:19|20)\d\d)[01]\d[0-3]\d(?!\d)")
_SOURCE = re.compile(r"(.+?)\s*\(((?:19|20)\d\d)\)\s*([\d:;(].*)")
_SOURCE_PAGES = re.compile(r"\((\w*\d\w*(?:-\w*\d\w*)?)\)")
"""A journal with year, volume and pages, as Embase writes it."""
_DASH = re.compile(r"(?<=\w)\s*[-\u2010-\u2015]\s*(?=\w)")
_SHORT_LAST = re.compile(r"(?<![\w-])(\d{2,9})-(\d{1,8})(?![\w-])")
"""Pages as PubMed abbreviates them."""
_PAGE = re.compile(r"[1-9]|\b[ivxlc]+\b", re.I)
"""What every page has; Publish or Perish writes 0 for an unknown one."""
_INITIALS = 7
"""Letters, full stops and hyphens of the initials of one author."""
_BRACKETED = re.compile(r"\s*\(\d+\)$")
"""The number of an author in Scopus."""
_NOTHING = re.compile(r"\s*(?:[-\u2013\u2014]{1,3}|n/a|nan|null|(?-i:NA))?\s*", re.I)
_HYPHENS = str.maketrans("\u2010\u2011", "--")
"""Hyphens of the Cochrane Library, which nobody types into a search."""
MAJOR = re.compile(r"(?<![^\s/\[,(])\*+(?=\w)")
"""The mark of a major topic before a heading or qualifier of MeSH, but not the star of "HLA-A*02"."""
_NOTICE = re.compile(
    r"\s*(?:\[ABSTRACT FROM AUTHOR\]"
    r"|Copyright of .{1,300}? is the property of .*?\(Copyright applies to all Abstracts\.\)"
    r"|\(Psyc\w+ Database Record \(c\) \d{4} APA, all rights reserved\.?\))",
    re.I,
)
"""What EBSCO and the APA append to every abstract."""
_NO_TITLE = re.compile(r"\W*(?:(?:title )?not available|no title(?: available)?|untitled)\W*", re.I)
_NO_AUTHOR = re.compile(r"\W*no authors?(?: names?)? (?:available|listed)\W*", re.I)
_NO_ABSTRACT = re.compile(
    r"\W*(?:no abstracts?(?: (?:is )?(?:available|provided|found))?|(?:abstract )?(?:is )?not available|none)\W*", re.I
)


_FIELDS = frozenset().union(columns.REFERENCE_COLUMNS, *columns.RECORD_TAGS.values())
"""Fields of a record in any format."""


_ATTACHED = ("attachment", "note", "annotation")
"""Item types of Zotero that are not publications."""

_QUOTED = re.compile(r'\s*"((?:[^"]|"")+)"\s*')
"""A cell in quotation marks."""


class Reference(Document):
    """A document made from a bibliographic record, including its id.

    Attributes
    ----------
    fields
        Tags or columns of the record -> their texts, in the order of the source; lines of a text are separated by
        line feeds. BibTeX has its LaTeX, and the ``entry type`` and ``citation key``; XML has the path of each element,
        such as ``titles/title``.
    form
        "ris", "nbib", "ciw", "refer", "refworks", "cochrane", "bibtex", "endnote", "pubmed" (XML), "csl" or "table".
    """

    fields: Mapping[str, list[str]] = MappingProxyType({})
    form: str = ""

    def with_record(self, record: Mapping[str, list[str]], form: str) -> Reference:
        """The same document with the fields and the form of its record."""
        copy = Reference(*self)
        copy.fields, copy.form = record, form
        return copy

    def _replace(self, **changes: Any) -> Reference:
        return super()._replace(**changes).with_record(self.fields, self.form)


def is_record(names: Iterable[str]) -> bool:
    """Tell whether a table with these columns has bibliographic records without ids."""
    columns_present = tuple(names)
    if columns.is_ciw(columns_present):
        return True
    present = columns.reference_fields(columns_present).keys()
    telling = present & {"abstract", "authors", "doi", "pmid", "registration"}
    return not set(columns_present).intersection(fields.DOC_ID) and "title" in present and bool(telling)


def detect(path: FilePath, line: str) -> str:
    """The format of the file, one of those that :func:`read_references` takes, or '' for another one.

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
        "refworks": tagged.read_refworks, "cochrane": tagged.read_cochrane, "bibtex": bibtex.records,
        "endnote": endnote.records,
    }[form]  # fmt: skip
    return to_references(reader(path, what), form, path)


def _understand(record: Mapping[str, Any], form: str) -> Mapping[str, object]:
    """The tags of :data:`collection.formats.columns.RECORD_TAGS` in a record as its source has it."""
    understand: dict[str, Callable[[Mapping[str, Any]], Mapping[str, object]]] = {
        "ris": tagged.complete_ris, "refer": tagged.complete_refer, "refworks": tagged.complete_refer,
        "bibtex": bibtex.decode_fields, "endnote": endnote.name_fields, "pubmed": endnote.name_fields, "csl": _from_csl,
    }  # fmt: skip
    return understand[form](record) if form in understand else record


def _fields_of(record: Mapping[str, object]) -> Mapping[str, list[str]]:
    """Tags or columns and their texts; objects as JSON, and without those that are empty."""
    fields = {
        name: [
            text if isinstance(text, str) else _as_text(text)
            for text in (value if isinstance(value, list) else [value])
        ]
        for name, value in record.items()
        if value is not None
    }
    return {name: texts for name, texts in fields.items() if any(texts)}


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list | bool) else str(value)


def to_references(
    records: Iterable[tuple[int, Mapping[str, object]]], form: str = "", path: FilePath | None = None
) -> Iterator[tuple[int, Reference]]:
    """Documents of records, each a mapping from columns or tags to one text or a list.

    The names are those of the format in :data:`collection.formats.columns.RECORD_TAGS`, or of
    :data:`collection.formats.columns.REFERENCE_COLUMNS`. The id is the PMID of a record of PubMed, else the DOI, else
    the PMID, else a digest of title and year, which includes the abstract if title or year is missing. If several
    records have the same id, the second gets the suffix ``-2``, and so on. With a `path`, warns of what records have
    and documents do not.
    """
    ids: Counter[str] = Counter()
    left_out = _LeftOut()
    for number, record in records:
        left_out.line = number
        own_form = "pubmed" if form == "endnote" and endnote.is_from_pubmed(record) else form
        reference = _reference(record, own_form, left_out).with_record(_fields_of(record), own_form or "table")
        ids[reference.doc_id] += 1
        if ids[reference.doc_id] > 1:
            reference = reference._replace(doc_id=f"{reference.doc_id}-{ids[reference.doc_id]}")
        yield number, reference
    if path is not None:
        left_out.report(path)


def to_reference(record: Mapping[str, list[str]], form: str) -> Reference:
    """The document of one record, given the fields and form of :class:`Reference`.

    >>> to_reference({"TY": ["JOUR"], "TI": ["Heat pumps"], "LA": ["eng"]}, "ris").metadata
    {'language': 'English'}
    """
    source_record = _with_objects(record) if form == "csl" else record
    _, reference = next(to_references([(0, source_record)], "" if form == "table" else form))
    return reference.with_record(record, form)


def as_reference(document: Document) -> Reference:
    """A document with its own id as a bibliographic record, whose fields are its title, text and metadata.

    Images and PDF files stay in the metadata. A :class:`Reference` is returned unchanged.

    >>> as_reference(Document("7", "Heat pumps", "", {"author(s)": "Berg, T.; Lund, K.", "code": "x"})).metadata
    {'code': 'x', 'authors': ['Berg, T.', 'Lund, K.']}
    """
    if isinstance(document, Reference):
        return document
    named = {name: value for name, value in document.metadata.items() if name not in ("images", "pdf")}
    record = _fields_of({"title": document.title, "abstract": document.text, **named})
    reference = to_reference(record, "table")
    known = {name for names in columns.reference_fields(tuple(record)).values() for name in names}
    metadata = {name: value for name, value in document.metadata.items() if name not in known}
    title, text = document.title or reference.title, document.text or reference.text
    return Reference(document.doc_id, title, text, {**metadata, **reference.metadata}).with_record(record, "table")


def _with_objects(record: Mapping[str, list[str]]) -> dict[str, object]:
    """A record of CSL JSON with the objects that its texts are."""
    objects: dict[str, object] = {}
    for name, texts in record.items():
        values = [json.loads(text) if text[:1] in ("{", "[") else text for text in texts]
        objects[name] = values[0] if isinstance(values[0], dict) and name == "issued" else values
    return objects


def to_table_references(
    path: FilePath, records: Iterator[tuple[int, Mapping[str, object]]]
) -> Iterator[tuple[int, Reference]]:
    """Documents of the records of a table of databases or reference managers; warns of columns that are left out."""
    first = next(records)
    warn_unknown(path, first[1])
    clean = _without_headers(path, chain([first], records))
    if columns.is_ciw(first[1]):
        tags = ((number, {name.upper(): cell for name, cell in record.items()}) for number, record in clean)
        return to_references(tags, "ciw", path)
    return to_references(clean, "", path)


def _without_headers(
    path: FilePath, records: Iterable[tuple[int, Mapping[str, object]]]
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Records without those that repeat the header, as in tables that were joined, and without Excel's quotation marks.

    Excel puts cells with a comma into quotation marks also where tabs separate cells. Zotero has rows for attachments
    and notes, which are left out, too.
    """
    headers: list[int] = []
    attached: list[int] = []
    for number, record in records:
        cells = {name: _unquoted(cell) for name, cell in record.items()}
        if all(str(cell).strip().lower() == name.lower() for name, cell in cells.items()):
            headers.append(number)
        elif any(name.lower() == "item type" and cell in _ATTACHED for name, cell in cells.items()):
            attached.append(number)
        else:
            yield number, cells
    if headers:
        said = f"skipped {count(len(headers), 'repeated header')}, the first in {unit(path)} {headers[0]:,}"
        source.warn(path, said, len(headers))
    if attached:
        rows = count(len(attached), "row of an attachment or note", "rows of attachments and notes")
        source.warn(path, f"skipped {rows}, the first in {unit(path)} {attached[0]:,}", len(attached))


def _unquoted(cell: object) -> object:
    quoted = _QUOTED.fullmatch(cell) if isinstance(cell, str) else None
    return quoted[1].replace('""', '"') if quoted else cell


def is_csl(record: Mapping[str, object]) -> bool:
    """Tell whether an object is a bibliographic record in CSL JSON, as Zotero, Mendeley and Crossref write it."""
    names = any(isinstance(name, dict) for name in _members(record.get("author")))
    telling = ("issued" in record) + ("container-title" in record) + names
    return {"type", "title"} <= record.keys() and telling > 1


def _from_csl(record: Mapping[str, object]) -> Mapping[str, object]:
    """A record of CSL JSON with texts for its names, keywords and date; its objects may be JSON."""
    issued = _from_json(next(iter(_members(record.get("issued"))), record.get("issued")))
    dates = issued if isinstance(issued, dict) else {"raw": issued}
    year = next((part[0] for part in _members(dates.get("date-parts")) if isinstance(part, list) and part), None)
    authors = [_csl_name(name) for name in _members(record.get("author")) or _members(record.get("editor"))]
    keywords = [word for text in _texts(record.get("keyword")) for word in re.split("[;,]", text)]
    said = year or dates.get("literal") or dates.get("raw") or ""
    return {**record, "author": authors, "keyword": keywords, "issued": str(said)}


def _from_json(value: object) -> object:
    """An object that :func:`_fields_of` wrote as JSON; other values unchanged."""
    try:
        return json.loads(value) if isinstance(value, str) and value.startswith("{") else value
    except (ValueError, RecursionError):
        return value


def _members(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _csl_name(name: object) -> str:
    name = _from_json(name)
    if not isinstance(name, dict):
        return str(name)
    family = " ".join(str(name[part]) for part in ("non-dropping-particle", "family") if name.get(part))
    return str(name.get("literal") or ", ".join(filter(None, [family, str(name.get("given") or "")])))


def read_field_rows(
    path: FilePath, rows: Iterable[tuple[int, Mapping[str, object]]]
) -> Iterator[tuple[int, Reference]]:
    """Documents of the records that :func:`collection.formats.delimited.field_rows` finds."""
    names: dict[str, None] = {}

    def noted() -> Iterator[tuple[int, Mapping[str, object]]]:
        for number, record in rows:
            names.update(dict.fromkeys(record))
            yield number, record

    yield from to_references(noted(), "", path)
    warn_unknown(path, names)


class _LeftOut:
    """Fields that were not understood or left out: how often, and where first."""

    def __init__(self) -> None:
        self.line = 0
        self._found: dict[str, tuple[int, int, str]] = {}

    def add(self, what: str, text: str = "") -> None:
        """Count `what`, a phrase with ``{}`` for the number of records."""
        number, line, first = self._found.get(what, (0, self.line, text))
        self._found[what] = number + 1, line, first

    def report(self, path: FilePath) -> None:
        """Warn of each kind."""
        for what, (number, line, text) in self._found.items():
            first = f"the first in {unit(path)} {line:,}" if number > 1 else f"in {unit(path)} {line:,}"
            said = what.format(count(number, "record"), has=plural(number, "has", "have"))
            source.warn(path, f"{said}, {first}" + (f": {source.quote(one_line(text))}" if text else ""))


def warn_unknown(path: FilePath, names: Iterable[str]) -> None:
    """Warn of columns of a table of records that are not understood; records have them, but not documents."""
    if unknown := columns.unknown_names(names):
        them = plural(len(unknown), "it", "them")
        source.warn(path, f"kept {count(len(unknown), 'unknown column')} without using {them}: {join_first(unknown)}")


def _texts(value: object) -> list[str]:
    """The texts of a field that say something."""
    listed = value if isinstance(value, list) else [value]
    some = (each.get("name") if isinstance(each, dict) else each for each in listed)
    texts = (str(each).replace("\n", " ").translate(_HYPHENS).strip() for each in some if each is not None)
    return [text for text in texts if not _NOTHING.fullmatch(text)]


_FieldTexts = dict[str, list[tuple[str, list[str]]]]
"""Field -> name and texts of each column or tag that says something, usual ones first."""


def _values(record: Mapping[str, object], form: str) -> _FieldTexts:
    is_tagged = form in columns.RECORD_TAGS
    names = columns.tagged_fields(form, record) if is_tagged else columns.reference_fields(tuple(record))
    values: _FieldTexts = {field: [] for field in _FIELDS}
    for field, columns_of_field in names.items():
        for name in columns_of_field:
            texts = _texts(record[name])
            if field == "title":
                texts = [text for text in texts if not _NO_TITLE.fullmatch(text)]
            elif field == "authors":
                texts = [text for text in texts if not _NO_AUTHOR.fullmatch(text)]
            elif field == "doi":
                texts = [_NEXT_TAG.sub("", text) for text in texts]
            if texts:
                values[field].append((name, texts))
    if values["title"]:  # the title of a book is that of a record, or what a chapter is in
        (taken, *others), containers = values["title"], {name for name, _ in values["journal"]}
        values["title"] = [taken, *(each for each in others if each[0] not in containers)]
        values["journal"] = [each for each in values["journal"] if each[0] != taken[0]]
    return values


def _reference(record: Mapping[str, object], form: str, left_out: _LeftOut) -> Reference:
    values = _values(_understand(record, form), form)
    title, abstract = _title(values, left_out), _abstract(values, left_out)
    links = [url for text in _all(values, "url") for url in text.split() if images.parse_host(url)]
    journal = one_line(without_markup(_first(values, "journal")))
    found = [match for text in _all(values, "notes") for match in _NOTED.finditer(text)]
    noted = {match[1] or match[3]: match[2] or match[4] for match in found}
    if len({match[2] for match in found if match[2]}) > 1:  # of other publications
        del noted["PMID"]
    source_year = source_pages = ""
    if (cited := _SOURCE.fullmatch(journal)) is not None:
        journal, source_year = cited[1], cited[2]
        source_pages = (_SOURCE_PAGES.findall(cited[3]) or [""])[-1]
    year = _year(values, left_out) or source_year
    dois, pmid = _dois(values, links, left_out), _pmid(values, links, left_out) or noted.get("PMID", "")
    doi = dois[0] if dois else ""
    url = next(iter(links), f"https://doi.org/{doi}" if find_dois(doi) else "")
    metadata: dict[str, object] = {
        "authors": [
            _BRACKETED.sub("", name) for name in _listed(next(iter(values["authors"]), ("", []))[1], "authors")
        ],
        "year": int(year) if year.isdecimal() else year,
        "journal": journal,
        "pages": _pages(values) or source_pages,
        "doi": "; ".join(dois),
        "pmid": pmid,
        "registration": one_line(_first(values, "registration")),
        "keywords": _keywords(values),
        "language": name_languages(_all(values, "language")[:3] or [noted.get("Language", "")]),
        "url": url or (f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""),
    }
    doi = doi if find_dois(doi) else ""
    identity = (pmid if form in ("nbib", "pubmed") else doi) or doi or pmid
    if not identity:
        same_title = plain(title)
        content = "\n".join([same_title, year, "" if same_title and year else plain(abstract)])
        identity = f"r{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}"
    return Reference(identity, title, abstract, {name: value for name, value in metadata.items() if value})


def _all(values: _FieldTexts, field: str) -> list[str]:
    return [text for _, texts in values[field] for text in texts]


def _first(values: _FieldTexts, field: str) -> str:
    """The first text of a field."""
    return next(iter(_all(values, field)), "")


def _title(values: _FieldTexts, left_out: _LeftOut) -> str:
    texts = [(name, one_line(without_markup(text))) for name, some in values["title"] for text in some]
    if not texts:
        left_out.add("{} {has} no title")
        return ""
    _note_others(texts, "title", left_out)
    return texts[0][1]


def _abstract(values: _FieldTexts, left_out: _LeftOut) -> str:
    texts = [(name, _NOTICE.sub("", one_line(without_markup(" ".join(some))))) for name, some in values["abstract"]]
    texts = [(name, text) for name, text in texts if not _NO_ABSTRACT.fullmatch(text)]
    _note_others(texts, "abstract", left_out)
    return texts[0][1] if texts else ""


def _note_others(texts: list[tuple[str, str]], field: str, left_out: _LeftOut) -> None:
    """Count texts that are not part of the first one, which is taken."""
    taken = plain(texts[0][1]) if texts[1:] else ""
    for name, text in texts[1:]:
        if plain(text) not in taken:
            left_out.add(f"left out {name!r} of {{}} with another {field}", text)


def _year(values: _FieldTexts, left_out: _LeftOut) -> str:
    """The year; the text as it is if it names none."""
    texts = _all(values, "year")
    year = next((match[1] or match[2] for text in texts if (match := _YEAR.search(text))), "")
    if texts and not year:
        left_out.add("{} {has} a year that is not understood", texts[0])
    return year or one_line(next(iter(texts), ""))


def _dois(values: _FieldTexts, links: list[str], left_out: _LeftOut) -> list[str]:
    """The DOIs of the first column that has any; the text as it is if the columns have none."""
    named = (
        find_dois(_INTERRUPTED.sub("", " ".join(texts))) for field in ("doi", "other doi") for _, texts in values[field]
    )
    text = one_line(_INTERRUPTED.sub("", _first(values, "doi")))
    if dois := next(filter(None, named), None) or find_dois(" ".join(x for x in links if "doi.org/" in x))[:1]:
        begin = text.lower().find(dois[0])
        if begin >= 0 and _CUT_DOI.match(text.lower(), begin + len(dois[0])):
            left_out.add("{} {has} a DOI with a blank, where it is cut", text)
        return dois
    if text := one_line(_first(values, "doi")):
        left_out.add("{} {has} a DOI that is not understood", text)
    return [text] if text else []


def _pmid(values: _FieldTexts, links: list[str], left_out: _LeftOut) -> str:
    texts = _all(values, "pmid")
    named = [_PMID.fullmatch(text) or _LABELLED.search(text) for text in texts]
    named += [_LABELLED.search(text) for text in _all(values, "accession")]
    if match := next(filter(None, [*named, *map(_PUBMED.search, [*texts, *links])]), None):
        return next(filter(None, match.groups()))
    if texts:  # not kept: records with one PMID are duplicates
        left_out.add("{} {has} a PMID that is not understood", texts[0])
    return ""


def _pages(values: _FieldTexts) -> str:
    pages = one_line(_first(values, "pages") or _first(values, "first page"))
    last = one_line(_first(values, "last page"))
    if pages and last and pages != last and not re.search("[-\u2010-\u2015,]", pages):
        pages = f"{pages}-{last}"
    pages = re.sub(r"(?<=\d)\.0\b", "", pages) if _PAGE.search(pages) else one_line(_first(values, "article number"))
    return _SHORT_LAST.sub(_whole_last, _DASH.sub("-", pages)) if _PAGE.search(pages) else ""


def _whole_last(pages: re.Match[str]) -> str:
    """The first and last page of "121-4": "121-124"."""
    first, last = pages.groups()
    whole = first[: len(first) - len(last)] + last
    return f"{first}-{whole}" if len(last) < len(first) and last > first[-len(last) :] else pages[0]


def _keywords(values: _FieldTexts) -> list[str]:
    """The keywords of all columns, each once."""
    different: dict[str, str] = {}
    for name, texts in values["keywords"]:
        is_emtree = columns.plain_name(name).startswith("emtree")  # in Embase's tables, with commas
        for word in _listed([text.replace(", ", ";") for text in texts] if is_emtree else texts, "keywords"):
            different.setdefault(word.casefold(), word)
    return list(different.values())


def _listed(texts: list[str], what: str) -> list[str]:
    """Names or keywords; several in one cell are separated by semicolons, authors also by "and"."""
    if len(texts) == 1 and texts[0].startswith("["):
        texts = _written_list(texts[0])
    separator = "[;|]"
    if what == "authors" and len(texts) == 1 and not re.search(separator, texts[0]):
        separator = "," if _are_short_names(texts[0]) else r"\s+and\s+"
    elif len(texts) == 1 and _COMMAS.fullmatch(texts[0]):
        separator = ","
    parts = (part for text in map(without_markup, texts) for part in re.split(separator, text))
    return [name for part in parts if (name := one_line(MAJOR.sub("", part)))]


def _are_short_names(text: str) -> bool:
    """Tell whether a text has several names with initials, separated by commas.

    >>> _are_short_names("T Berg, É García López"), _are_short_names("Liu R., Adler D.G."), _are_short_names("Berg, T.")
    (True, True, False)
    """
    names = [name.split() for name in text.split(",")]
    return len(names) > 1 and any(
        all(len(name) > 1 and _are_initials(name[place]) and not _are_initials(name[other]) for name in names)
        for place, other in ((-1, 0), (0, -1))
    )


def _are_initials(word: str) -> bool:
    letters = word.replace(".", "").replace("-", "")
    return len(word) <= _INITIALS and letters.isalpha() and letters.isupper()


def _written_list(text: str) -> list[str]:
    """The members of a list as Python or JSON writes it, which ASReview exports; or the text itself."""
    try:
        value = ast.literal_eval(text) if len(text) < _LONGEST_LIST else text
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return [text]
    return _texts(value) if isinstance(value, list) else [text]
