"""Bibliographic records out: RIS, BibTeX, CSV and XLSX with every field of their source and further columns.

A record of RIS or BibTeX is written into its own form as it is. Records of other forms get the usual tags, and what
these do not have goes into a note (RIS), a field of its own name (BibTeX) or a column (CSV, XLSX).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, NamedTuple

from collection.core.characters import one_line, without_markup, writable
from collection.core.phrases import count
from collection.core.records import Document
from collection.core.tokens import plain
from collection.formats import bibtex, columns, endnote, source, spreadsheet
from collection.formats.references import MAJOR, to_reference
from collection.formats.source import FilePath
from collection.formats.tagged import is_ris_field
from collection.formats.work_lists import LONGEST_CELL
from collection.formats.write import NOT_XML, replacing, replacing_bytes

if TYPE_CHECKING:
    import pandas as pd

WANTED = "references"
ENDINGS = (".ris", ".bib", ".csv", ".xlsx")

KEYWORDS = ("decision", "reason", "stage")
"""Columns that are also keywords in RIS and BibTeX, by which Zotero, EndNote and Rayyan filter."""

COMMON = ("title", "authors", "year", "journal", "pages", "doi", "pmid", "keywords", "language", "url")
"""Fields of a document made of a record, besides its abstract."""

ALWAYS = ("title", "authors", "year", "abstract", "doi")
"""Columns that tables have even if they are empty, by which readers recognise records."""

FROM_COPIES = "fields from other copies"
"""Column or note with the fields that were taken from copies in other sources, and these sources."""

_PUBMED = "medlinecitation/article/journal"
_DETAILS: dict[str, dict[str, str]] = {
    "type": {
        "ris": "TY", "ciw": "PT", "refer": "%0", "refworks": "RT", "nbib": "PT", "endnote": "ref-type@name",
        "csl": "type",
        "pubmed": "medlinecitation/article/publicationtypelist/publicationtype", "bibtex": bibtex.TYPE,
        "table": "item type, publication type, document type, type, pt, dt",
    },
    "volume": {
        "ris": "VL", "ciw": "VL", "refer": "%V", "refworks": "VO, vo", "nbib": "VI", "cochrane": "VL",
        "endnote": "volume", "csl": "volume",
        "pubmed": f"{_PUBMED}/journalissue/volume", "bibtex": "volume",
        "table": "volume, journal volume, volume number, vl, band",
    },
    "issue": {
        "ris": "IS, NO", "ciw": "IS", "refer": "%N", "refworks": "IS", "nbib": "IP", "cochrane": "NO",
        "endnote": "number", "csl": "issue",
        "pubmed": f"{_PUBMED}/journalissue/issue", "bibtex": "number, issue",
        "table": "issue, journal issue, issue number, number, is, heft",
    },
    "journal abbreviation": {
        "ris": "J2, JA", "ciw": "JI, J9", "nbib": "TA", "endnote": "periodical/abbr-1",
        "pubmed": f"{_PUBMED}/isoabbreviation", "csl": "container-title-short, journalAbbreviation",
        "bibtex": "shortjournal, abbrev_source_title, journal-iso",
        "table": "journal abbreviation, abbreviated source title, journal iso abbreviation",
    },
    "issn": {
        "ris": "SN", "ciw": "SN, EI, BN", "refer": "%@", "refworks": "SN", "nbib": "IS, ISSN", "cochrane": "SN",
        "endnote": "isbn",
        "pubmed": f"{_PUBMED}/issn", "csl": "ISSN, ISBN", "bibtex": "issn, isbn", "table": "issn, isbn, sn, eissn",
    },
    "publisher": {
        "ris": "PB", "ciw": "PU", "refer": "%I", "refworks": "PB", "cochrane": "PB", "endnote": "publisher",
        "csl": "publisher",
        "bibtex": "publisher, school, institution", "table": "publisher, pu, verlag",
    },
    "place": {
        "ris": "CY", "ciw": "PI", "refer": "%C", "refworks": "PP", "nbib": "PL", "endnote": "pub-location",
        "csl": "publisher-place",
        "bibtex": "address, location", "table": "place, location, country",
    },
    "affiliations": {
        "ris": "AD", "ciw": "C1", "refer": "%+", "refworks": "AD", "nbib": "AD", "endnote": "auth-address",
        "pubmed": "medlinecitation/article/authorlist/author/affiliationinfo/affiliation", "bibtex": "affiliations",
        "table": "affiliations, author affiliations",
    },
    "database": {
        "ris": "DB", "refer": "%~", "refworks": "DB, DS", "endnote": "remote-database-name", "csl": "source",
        "bibtex": "source, database", "table": "database, database name, longdbname, library catalog, source",
    },
    "accession number": {
        "ris": "AN", "ciw": "UT", "refer": "%M", "refworks": "AN", "nbib": "OID", "cochrane": "ID",
        "endnote": "accession-num, trialid", "bibtex": "unique-id",
        "table": "accession number, ut (unique wos id), eid, nct number, trialid",
    },
    "source notes": {
        "ris": "N1", "refer": "%Z", "refworks": "NO", "endnote": "notes", "csl": "note", "bibtex": "note, annote",
        "table": "notes, note, extra",
    },
}  # fmt: skip
"""Further fields -> form -> their tags or columns, usual ones first; further ones are other fields of the source."""

_SHORT_NAMES = {"nbib": ("FAU", "AU"), "ciw": ("AF", "AU")}
"""Form -> the tags of the full names of the authors, and of the same names with initials."""

_SINGLE = ("title", "abstract", "authors", "year", "journal", "doi")
"""Fields of which the first tag with a text is used; further ones are other fields of the source."""

_SHORTENED = ("title", "authors", "year", "journal", "doi", "pmid", "keywords")
"""Fields of which documents may have a part only, such as the year of a date; the text is then another field, too."""
_NOTATION = frozenset(("and", "family", "given", "https", "http", "dx", "doi", "org", "pubmed", "pmid"))
"""Words between names of authors, and around identifiers, that say nothing."""

_OF_COPY = ("accession number", "source notes")
"""Details that each copy has of its own."""

_RIS_TAGS = {
    "title": "TI", "authors": "AU", "year": "PY", "journal": "T2", "doi": "DO", "keywords": "KW", "language": "LA",
    "url": "UR", "volume": "VL", "issue": "IS", "journal abbreviation": "J2", "issn": "SN", "publisher": "PB",
    "place": "CY", "affiliations": "AD", "database": "DB", "accession number": "AN", "source notes": "N1", "type": "M3",
}  # fmt: skip
_RIS_RENAMED = {
    "SO": ("T2", {"T2", "JF", "JO"}), "YR": ("PY", {"PY", "Y1"}), "DOI": ("DO", {"DO"}), "US": ("UR", {"UR", "L2"}),
    "NO": ("IS", {"IS"}),
}  # fmt: skip
"""Tag of RIS that only Cochrane writes -> the tag that reference managers read, unless the record has one of these."""
_RIS_TYPES = (
    (r"thesis|dissertation", "THES", "phdthesis"), (r"conf|proceeding|^cpaper|^s$", "CONF", "inproceedings"),
    (r"chap|section|incollection|inbook", "CHAP", "incollection"), (r"book(?! review)|^[bm]$", "BOOK", "book"),
    (r"^rprt|report\b|technical", "RPRT", "techreport"), (r"preprint|unpublished|^unpb", "UNPB", "unpublished"),
    (r"patent|^pat", "PAT", "misc"), (r"web ?page|online|blog|^elec|misc|^gen$", "ELEC", "misc"),
    (r"", "JOUR", "article"),
)  # fmt: skip
"""Pattern of the type of a work -> its names in RIS and BibTeX."""

_LATEX = {
    "\\": "\\textbackslash{}", "{": "\\textbraceleft{}", "}": "\\textbraceright{}", "$": "\\$", "&": "\\&", "%": "\\%",
    "#": "\\#", "_": "\\_", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}",
}  # fmt: skip
_LATEX_SIGN = re.compile(r"[\\{}$&%#_~^<>]|-(?=-)|`(?=`)|'(?=')")
_VERBATIM = frozenset(("doi", "url", "pmid"))
_KEY = re.compile(r"[^\s{}(),=\\\"#%~'@]+")
"""A key that every program reads."""


class Copy(NamedTuple):
    """Another record of a document: its source, form and fields."""

    source: str
    form: str
    fields: Mapping[str, Sequence[str]]


class ExportedReference(NamedTuple):
    """A document to write, with the record that it was made of, further columns, and copies of other sources.

    `form` and `fields` are those of :class:`collection.formats.references.Reference`; empty for a document that is
    made of no record. `columns` are texts by name, such as ``{"decision": "include"}``. Of the `copies`, fields are
    written that the record lacks.
    """

    document: Document
    form: str = ""
    fields: Mapping[str, Sequence[str]] = {}
    columns: Mapping[str, str] = {}
    copies: Sequence[Copy] = ()


class _Parts(NamedTuple):
    """Parts of a reference that are written."""

    common: dict[str, list[str]]
    """Texts by the names of :data:`COMMON`, ``abstract``, and of :data:`_DETAILS`, without empty ones."""
    read: dict[str, list[str]]
    """The same of :data:`COMMON` and ``abstract`` as its record alone has them."""
    other: dict[str, list[str]]
    """Fields of the record that are none of these."""
    taken: dict[str, str]
    """Name of each common field that the record lacks -> source of the copy that has it."""
    copies: list[Copy]
    """Other fields of the copies."""


def write_references(references: Iterable[ExportedReference], path: FilePath) -> int:
    """Write references as ``.ris``, ``.bib``, ``.csv`` or ``.xlsx``, and return their number.

    RIS has the tags of a record of RIS in their order, BibTeX the fields of an entry with its LaTeX; both get what the
    document took from other records (abstract, DOI, PMID, keywords, ...). The columns become a note and, for those of
    :data:`KEYWORDS`, keywords such as "decision: include". CSV and XLSX have a column for each field; texts that a
    spreadsheet would compute are marked as text (:mod:`collection.formats.spreadsheet`), and XLSX has at most 32,767
    characters in a cell.

    Raises
    ------
    InputError
        Another ending, or a file that cannot be written.
    """
    ending = source.suffix(path)
    if ending not in ENDINGS:
        raise source.ending_error(path, WANTED, ENDINGS)
    if ending in (".ris", ".bib"):
        keys, number = set[str](), 0
        write: Callable[[ExportedReference], str] = _to_ris if ending == ".ris" else partial(_to_bibtex, keys=keys)
        with replacing(path) as file:
            for reference in references:
                file.write(writable(write(reference)))
                number += 1
        return number
    names, rows = _to_table(references)
    _write_rows(names, rows, path)
    return len(rows)


def write_text_table(table: pd.DataFrame, path: FilePath) -> int:
    """Write a frame of texts as ``.csv`` or ``.xlsx``, without formulas, and return the number of its rows.

    Raises
    ------
    InputError
        Another ending, or a file that cannot be written.
    """
    if source.suffix(path) not in (".csv", ".xlsx"):
        raise source.ending_error(path, "the table", (".csv", ".xlsx"))
    names, rows = (
        [*map(str, table.columns)],
        [{str(n): str(v) for n, v in row.items()} for row in table.to_dict("records")],
    )
    _write_rows(names, rows, path)
    return len(rows)


def _divide(reference: ExportedReference) -> _Parts:
    """The common fields of a document and its record, the others of the record, and what copies have besides."""
    document, fields, form = reference.document, {n: [*texts] for n, texts in reference.fields.items()}, reference.form
    record = to_reference(fields, form) if fields else Document("")
    read = _common(record)
    common = {**read, **_common(document)}
    named = _named(fields, form)
    used, dois = _used(fields, form, named), common.get("doi", ())
    for detail, names in _DETAILS.items():
        known = names.get(form, "")
        names_of_detail = _own_names(fields, form, known)
        name = next((each for each in names_of_detail if any(fields[each]) and each not in used), "")
        if name:
            common[detail] = [text for text in fields[name] if text]
            used[name] = len(fields[name])
    shortened = {name for field in _SHORTENED for name in named.get(field, ())} - {_SHORT_NAMES.get(form, ("", ""))[1]}
    written = _NOTATION.union(plain(" ".join(text for texts in common.values() for text in texts)).split())
    other = {
        name: [
            text
            for place, text in enumerate(texts)
            if (place >= used.get(name, 0) and text.removesuffix(" [doi]") not in dois)
            or (name in shortened and not written.issuperset(_words_of(text, form)))
            or (name in named.get("keywords", ()) and MAJOR.search(text))
        ]
        for name, texts in fields.items()
    }
    taken, copies = _complete(common, read, reference)
    return _Parts(
        common, read, {n: some for n, texts in other.items() if (some := [*filter(None, texts)])}, taken, copies
    )


def _complete(
    common: dict[str, list[str]], read: Mapping[str, object], reference: ExportedReference
) -> tuple[dict[str, str], list[Copy]]:
    """Add the common fields that only copies have; return the sources of those, and the other fields of the copies."""
    taken: dict[str, str] = {}
    copies: list[Copy] = []
    known = {(reference.form, name) for name in reference.fields}
    for copy in reference.copies:
        own = _divide(ExportedReference(Document(""), copy.form, copy.fields))
        for name, texts in own.common.items():
            if name in common and name in (*COMMON, "abstract") and name not in read:
                taken.setdefault(name, copy.source)
            elif name not in common and name not in ("database", *_OF_COPY):
                common[name], taken[name] = texts, copy.source
        details_of_copy = _OF_COPY if taken.get("type") == copy.source else ("type", *_OF_COPY)
        details = {name: own.common[name] for name in details_of_copy if name in own.common}
        other = {name: texts for name, texts in {**details, **own.other}.items() if (copy.form, name) not in known}
        known.update((copy.form, name) for name in other)
        if other:
            copies.append(Copy(copy.source, copy.form, other))
    return taken, copies


def _words_of(text: str, form: str) -> list[str]:
    return plain(without_markup(bibtex.decode(text) if form == "bibtex" else text)).split()


def _common(document: Document) -> dict[str, list[str]]:
    values: dict[str, object] = {**document.metadata, "title": document.title, "abstract": document.text}
    texts = {name: values.get(name) for name in (*COMMON, "abstract")}
    listed = {
        name: [*map(str, value)] if isinstance(value, list) else [str(value)] for name, value in texts.items() if value
    }
    return {name: some for name, some in listed.items() if any(some)}


def _own_names(fields: Mapping[str, object], form: str, known: str) -> list[str]:
    """The names of fields of a record among known ones, which commas separate."""
    wanted = known.split(", ") if known else []
    if form != "table":
        return [name for name in wanted if name in fields]
    own = {columns.plain_name(name): name for name in fields}
    return [own[name] for name in wanted if name in own]


def _named(fields: Mapping[str, object], form: str) -> dict[str, list[str]]:
    """Field of a document -> names of the fields of its record."""
    if form in ("endnote", "pubmed"):
        named: dict[str, list[str]] = {}
        for path in fields:
            if (field := endnote.field_of(path)) is not None:
                named.setdefault(field, []).append(path)
        return named
    return (
        columns.tagged_fields(form, fields) if form in columns.RECORD_TAGS else columns.reference_fields(tuple(fields))
    )


def _used(fields: Mapping[str, Sequence[str]], form: str, named: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Name of each field that the document was made of -> how many of its texts it has."""
    used: dict[str, int] = {}
    for field, names in named.items():
        if field in ("other doi", "accession", "notes", "article number", "registration"):
            continue
        telling = [name for name in names if any(fields[name])]
        for name in telling[:1] if field in (*_SINGLE, "url") else telling:
            used[name] = 1 if field in ("title", "url") else len(fields[name])
    full, short = _SHORT_NAMES.get(form, ("", ""))
    if full in used and len(fields.get(short, ())) == len(fields[full]):
        used[short] = len(fields[short])
    return used


# RIS --------------------------------------------------------------------------------------------------


def _to_ris(reference: ExportedReference) -> str:
    parts = _divide(reference)
    tags = _own_tags(reference.fields) if reference.form == "ris" else _new_tags(reference, parts)
    if reference.form == "ris":
        tags += _common_tags(_gained(parts))
        tags += [("KW", word) for word in _without(parts.common.get("keywords", []), parts.read.get("keywords", []))
                 if "keywords" in parts.read]  # fmt: skip
    for copy in parts.copies:
        tags.append(("N1", _list_others(f"Other fields of the copy in {copy.source}", copy.fields)))
    if parts.taken:
        tags.append(("N1", f"{FROM_COPIES}: {_describe(parts.taken)}"))
    marks = _marks(reference.columns)
    tags += [("KW", mark) for mark in marks]
    if note := _note(reference.columns):
        tags.append(("N1", note))
    kinds = [text for tag, text in tags if tag == "TY" and text]
    lines = [f"TY  - {next(iter(kinds), 'JOUR')}", *(_ris_line(tag, text) for tag, text in tags if tag != "TY")]
    return "\n".join([*filter(None, lines), "ER  - ", "", ""])


def _own_tags(fields: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The tags of a record of RIS, those that reference managers do not read under their usual name."""
    present = {tag for tag, texts in fields.items() if any(texts)}
    renamed = {tag: new for tag, (new, others) in _RIS_RENAMED.items() if not present & others}
    if not present & {"TI", "T1", "CT", "BT"} and present & {"JO", "JF", "JA", "SO"}:
        renamed["T2"] = "TI"  # read as the title
    tags = [(renamed.get(tag, tag), text) for tag, texts in fields.items() for text in texts]
    if "SP" not in present and (pages := next(iter(fields.get("PG", [])), "")):
        tags = [each for each in tags if each[0] != "PG"] + _page_tags(pages)
    return tags


def _new_tags(reference: ExportedReference, parts: _Parts) -> list[tuple[str, str]]:
    """The tags of a record of another form, with the fields that have none in a note."""
    tags = [("TY", _kind(parts)[0]), *_common_tags(parts.common)]
    if parts.other:
        tags.append(("N1", _list_others("Other fields of the source", parts.other)))
    return tags


def _list_others(what: str, fields: Mapping[str, Sequence[str]]) -> str:
    return " | ".join([what, *(f"{name}: {one_line(text)}" for name, texts in fields.items() for text in texts)])


def _describe(taken: Mapping[str, str]) -> str:
    """Names of fields with the source of each."""
    return "; ".join(f"{name}: {one_line(source)}" for name, source in taken.items())


def _gained(parts: _Parts) -> dict[str, list[str]]:
    """The common fields that the record itself lacks."""
    names = (name for name in parts.common if name in parts.taken or name not in (*parts.read, *_DETAILS))
    return {name: parts.common[name] for name in names}


def _common_tags(common: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    tags: list[tuple[str, str]] = []
    for name, texts in common.items():
        if name == "abstract":
            tags.append(("AB", " ".join(texts)))
        elif name == "pages":
            tags += _page_tags(texts[0])
        elif name == "pmid":
            tags += [("N1", f"PMID: {text}") for text in texts]
        elif name == "url" and _is_derived(texts[0], common):
            continue
        elif name in _RIS_TAGS:
            tags += [(_RIS_TAGS[name], text) for text in texts]
    return tags


def _is_derived(url: str, common: Mapping[str, list[str]]) -> bool:
    """Tell whether a link was made of the DOI or PMID."""
    doi, pmid = (common.get(name, [""])[0] for name in ("doi", "pmid"))
    return url in (f"https://doi.org/{doi.split(';')[0]}", f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/")


def _page_tags(pages: str) -> list[tuple[str, str]]:
    first, dash, last = pages.partition("-")
    return [("SP", first), ("EP", last)] if dash and "-" not in last else [("SP", pages)]


def _ris_line(tag: str, text: str) -> str:
    """A tag and its text, whose further lines have no tag; '' for an empty text."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    written = lines[:1]
    for line in lines[1:]:
        if tag == "KW" or is_ris_field(line):
            written[-1] += f" {line}"
        else:
            written.append(line)
    return f"{tag}  - " + "\n".join(written) if written else ""


def _without(words: Iterable[str], known: Iterable[str]) -> list[str]:
    folded = {word.casefold() for word in known}
    return [word for word in words if word.casefold() not in folded]


def _marks(columns_of: Mapping[str, str]) -> list[str]:
    """The columns of :data:`KEYWORDS` as keywords; several values, which semicolons separate, are several keywords."""
    return [
        f"{name}: {one_line(value)}"
        for name in KEYWORDS
        for value in columns_of.get(name, "").split(";")
        if value.strip()
    ]


def _note(columns_of: Mapping[str, str]) -> str:
    return " | ".join(f"{name}: {one_line(text)}" for name, text in columns_of.items() if text.strip())


def _own_type(fields: Mapping[str, Sequence[str]]) -> str:
    return re.sub(r"\W", "", next(iter(fields.get(bibtex.TYPE, [])), ""))


def _kind(parts: _Parts) -> tuple[str, str]:
    """The type of a work in RIS and BibTeX; without one, an article if there is a journal."""
    default = "article" if "journal" in parts.common else "misc"
    return _type_of(next(iter(parts.common.get("type", [])), default))


def _type_of(kind: str) -> tuple[str, str]:
    """The type of a work in RIS and BibTeX.

    >>> _type_of("Journal Article"), _type_of("inproceedings"), _type_of("JOUR")
    (('JOUR', 'article'), ('CONF', 'inproceedings'), ('JOUR', 'article'))
    """
    return next((ris, entry) for pattern, ris, entry in _RIS_TYPES if re.search(pattern, kind, re.I))


# BibTeX -----------------------------------------------------------------------------------------------

_BIBTEX_NAMES = {
    "issue": "number", "journal abbreviation": "shortjournal", "place": "address", "source notes": "note",
    "accession number": "accession-number",
}  # fmt: skip


def _to_bibtex(reference: ExportedReference, keys: set[str]) -> str:
    parts = _divide(reference)
    fields: dict[str, str] = {}
    entry, key = _kind(parts)[1], ""
    if reference.form == "bibtex":
        entry, key = _own_type(reference.fields) or entry, next(iter(reference.fields.get(bibtex.KEY, [])), "")
        fields = {
            name: _own_latex(texts) for name, texts in reference.fields.items() if name not in (bibtex.TYPE, bibtex.KEY)
        }
        common = _gained(parts)
    else:
        common = {n: texts for n, texts in parts.common.items() if n != "type" or reference.form != "ris"}
    for name, texts in common.items():
        fields.setdefault(_bibtex_name(name, entry), _bibtex_value(name, texts))
    if reference.form != "bibtex":
        fields |= {f"{reference.form}-{_slug(name)}": _encode("; ".join(texts)) for name, texts in parts.other.items()}
    for copy in parts.copies:
        for name, several in copy.fields.items():
            fields.setdefault(f"{copy.form}-{_slug(name)}", _encode("; ".join(several)))
    if parts.taken:
        fields[_slug(FROM_COPIES)] = _encode(_describe(parts.taken))
    for name, text in reference.columns.items():
        if text.strip():
            fields[_free_name(_slug(name), fields)] = _encode(text)
    more = (
        _without(parts.common.get("keywords", []), parts.read.get("keywords", [])) if "keywords" in parts.read else []
    )
    if words := [*(more if reference.form == "bibtex" else []), *_marks(reference.columns)]:
        fields["keywords"] = _join_keywords(fields.get("keywords", ""), words)
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@{entry}{{{_free_key(key, parts.common, keys)},\n{''.join(lines)}}}\n\n"


def _bibtex_name(name: str, entry: str) -> str:
    if name == "journal" and entry in ("inproceedings", "incollection"):
        return "booktitle"
    return {"authors": "author", **_BIBTEX_NAMES}.get(name, name)


def _bibtex_value(name: str, texts: Sequence[str]) -> str:
    if name == "authors":
        return " and ".join(map(_encode_name, texts))
    if name == "keywords":
        return _join_keywords("", texts)
    if name == "pages":
        return _encode(texts[0]).replace("-", "--").replace("--{}--", "--")
    if name in _VERBATIM:
        return re.sub(r"[{}\\\s]", lambda match: f"%{ord(match[0]):02X}" if name == "url" else "", texts[0])
    return _encode("; ".join(texts) if name in _DETAILS else " ".join(texts))


def _join_keywords(known: str, words: Sequence[str]) -> str:
    """Keywords behind known ones, separated by commas, or by semicolons if one has a comma."""
    encoded = [_encode(word) for word in words]
    if ";" in known or any("," in word or ";" in word for word in encoded):
        return "; ".join([*filter(None, [known if ";" in known else known.replace(",", ";")]), *encoded])
    return ", ".join([*filter(None, [known]), *encoded])


def _encode_name(name: str) -> str:
    """A name; of "Berg T" the surname first, and names with "and" in braces."""
    surname, _, last = name.rpartition(" ")
    if surname and "," not in name and re.fullmatch(r"[^\W\d_a-z.-]{1,3}|(?:[^\W\d_a-z]\.-?)+", last):
        name = f"{surname}, {last}"
    encoded = _encode(name)
    return (
        f"{{{encoded}}}" if re.search(r"\sand\s", name, re.I) or name.strip().lower() in ("and", "others") else encoded
    )


def _encode(text: str) -> str:
    r"""A text in LaTeX, on one line.

    >>> print(_encode("50% of {CO} & H_2 -- x"))
    50\% of \textbraceleft{}CO\textbraceright{} \& H\_2 -{}- x
    """
    return _LATEX_SIGN.sub(lambda match: _LATEX.get(match[0], f"{match[0]}{{}}"), one_line(text))


def _own_latex(texts: Sequence[str]) -> str:
    """The LaTeX of an entry; encoded as text if its braces are not in pairs."""
    text = " ".join(filter(None, map(one_line, texts)))
    depth = lowest = 0
    for sign in re.sub(r"\\[\\{}]", "", text):
        depth += (sign == "{") - (sign == "}")
        lowest = min(lowest, depth)
    is_sound = not depth and not lowest and not re.search(r"\\[{}]|(?:^|[^\\])(?:\\\\)*\\\Z", text)
    return text if is_sound else _encode(bibtex.decode(text))


def _free_key(key: str, common: Mapping[str, list[str]], keys: set[str]) -> str:
    """A key of the entry that no other has, such as ``berg2020attic``."""
    if not _KEY.fullmatch(key):
        surname = re.split("[, ]", common.get("authors", [""])[0])[0]
        word = next((word for word in plain(common.get("title", [""])[0]).split() if len(word) > 3), "")
        key = _ascii(f"{surname}{common.get('year', [''])[0][:4]}{word}") or "record"
    free, number = key, 1
    while free.casefold() in keys:
        number += 1
        free = f"{key}-{number}"
    keys.add(free.casefold())
    return free


def _ascii(text: str) -> str:
    import unicodedata

    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text).lower())


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "field"


def _free_name(name: str, fields: Mapping[str, str]) -> str:
    return name if name not in fields else f"review-{name}"


# Tables -----------------------------------------------------------------------------------------------


def _to_table(references: Iterable[ExportedReference]) -> tuple[list[str], list[dict[str, str]]]:
    """The names of all columns and the rows: common fields, given columns, then other fields of the sources."""
    given: dict[str, None] = {}
    others: dict[str, None] = {}
    rows: list[dict[str, str]] = []
    for reference in references:
        parts = _divide(reference)
        row = {name: _cell(name, texts) for name, texts in parts.common.items()}
        own = {_other_name(reference.form, name): "; ".join(texts) for name, texts in parts.other.items()}
        for copy in parts.copies:
            own = {_other_name(copy.form, name): "; ".join(texts) for name, texts in copy.fields.items()} | own
        if parts.taken:
            own[FROM_COPIES] = _describe(parts.taken)
        given |= dict.fromkeys(reference.columns)
        others |= dict.fromkeys(own)
        rows.append(
            {**own, **{_source_name(name, reference.columns): text for name, text in row.items()}, **reference.columns}
        )
    usual = ("title", "authors", "year", "journal", "volume", "issue", *COMMON, "abstract", *_DETAILS)
    known = [_source_name(name, given) for name in dict.fromkeys(usual)]
    present = {name for row in rows for name, text in row.items() if text} | set(ALWAYS)
    names = [name for name in (*known, *given, *others) if name in present or name in given]
    return list(dict.fromkeys(names)), rows


def _cell(name: str, texts: Sequence[str]) -> str:
    return (" " if name == "abstract" else "; ").join(texts)


def _source_name(name: str, given: Iterable[str]) -> str:
    return f"source {name}" if name in given else name


def _other_name(form: str, name: str) -> str:
    """The column of a field that is no common one; of a table its own name."""
    taken = {*COMMON, *_DETAILS, "abstract", *KEYWORDS, "notes"}
    return (
        f"source {name}"
        if form == "table" and name.strip().lower() in taken
        else name
        if form == "table"
        else f"{form} {name}"
    )


def _write_rows(names: Sequence[str], rows: Sequence[Mapping[str, str]], path: FilePath) -> None:
    if source.suffix(path) == ".csv":
        with replacing(path) as file:
            _write_csv(names, rows, file)
    else:
        with replacing_bytes(path) as raw:
            _write_workbook(path, names, rows, raw)


def _write_csv(names: Sequence[str], rows: Iterable[Mapping[str, str]], file: IO[str]) -> None:
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(map(spreadsheet.escape, names))
    for row in rows:
        writer.writerow(spreadsheet.escape(writable(row.get(name, "")), name) for name in names)


def _write_workbook(path: FilePath, names: Sequence[str], rows: Iterable[Mapping[str, str]], file: IO[bytes]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Records")
    sheet.freeze_panes = "A2"
    cut = 0

    def cells(texts: Iterable[str]) -> Iterable[object]:
        nonlocal cut
        for text in texts:
            cut += len(text) > LONGEST_CELL
            cell = WriteOnlyCell(sheet, NOT_XML.sub("\ufffd", text)[:LONGEST_CELL] or None)
            if text:
                cell.data_type = "s"  # else text that begins with = would be a formula
            yield cell

    sheet.append(cells(names))
    for row in rows:
        sheet.append(cells(row.get(name, "") for name in names))
    book.save(file)
    if cut:
        source.warn(
            path, f"cut {count(cut, 'cell')} to the {LONGEST_CELL:,} characters that Excel can hold; CSV has all"
        )
