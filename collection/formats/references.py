"""Bibliographic records as documents: RIS, PubMed's tagged format (nbib), EndNote XML, and tables without ids."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from collection.errors import FormatError
from collection.formats import endnote, fields, images, source
from collection.formats.source import FilePath, quote
from collection.records import Document, find_doi
from collection.tokens import plain

COLUMNS: dict[str, tuple[str, ...]] = {
    "title": ("title", "article title", "primary_title"),
    "abstract": ("abstract", "notes_abstract"),
    "authors": ("authors", "author", "author names", "first_authors"),
    "year": ("year", "publication year", "publication_year", "py"),
    "journal": ("journal", "source title", "journal_name", "secondary_title"),
    "doi": ("doi",),
    "pmid": ("pmid", "pubmed id", "pubmed_id"),
    "keywords": ("keywords", "author keywords"),
    "url": ("url", "link", "urls"),
}
"""Field -> names of its column in tables of records."""

METADATA = ("authors", "year", "journal", "doi", "pmid", "keywords", "url")
"""Fields that become metadata of the document."""

_RIS_START, _RIS_END = re.compile(r"TY  ?-"), re.compile(r"ER  ?-")
_RIS_NUMBER = re.compile(r"\s*(?:\d+\.?)?\s*")
_NBIB_FIELD = re.compile(r"([A-Z][A-Z0-9]{0,3}) *- ?(.*)")
_PUBMED = re.compile(r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d+)")


class Reference(Document):
    """A document made from a bibliographic record, including its id."""

    __slots__ = ()


def is_record(names: Iterable[str]) -> bool:
    """Whether a table with these columns has bibliographic records without ids."""
    there = set(names)
    has = {field for field, aliases in COLUMNS.items() if there.intersection(aliases)}
    telling = has & {"abstract", "authors", "doi", "pmid"}
    return not there.intersection(fields.DOC_ID) and "title" in has and bool(telling)


def detect(path: FilePath, line: str) -> str:
    """The format that the first line shows: "ris", "nbib", "endnote", or '' for another one."""
    if _RIS_NUMBER.fullmatch(line):  # as rispy and some databases write it before each record
        line = next((text for _, text in fields.data_lines(path, "records") if not _RIS_NUMBER.fullmatch(text)), "")
    if _RIS_START.match(line) or source.suffix(path) == ".ris":
        return "ris"
    if line.startswith("PMID-") or source.suffix(path) == ".nbib":
        return "nbib"
    return "endnote" if line.lstrip().startswith("<") and endnote.is_endnote(path) else ""


def read_references(path: FilePath, what: str, form: str) -> Iterator[tuple[int, Reference]]:
    """Line and document of every record in a format that :func:`detect` names."""
    reader = {"ris": read_ris, "nbib": _nbib_records, "endnote": endnote.records}[form]
    return to_references(reader(path, what))


def to_references(records: Iterable[tuple[int, Mapping[str, object]]]) -> Iterator[tuple[int, Reference]]:
    """Documents of records with the fields of :data:`COLUMNS`, or of a table with these columns.

    The id is the PMID of a record of PubMed, else the DOI, else the PMID, else a digest of title and year, which
    includes the abstract if title or year is missing. If several records have the same id, the second gets the suffix
    ``-2``, and so on.
    """
    ids: Counter[str] = Counter()
    for number, record in records:
        found = {field: _first(record, aliases) for field, aliases in COLUMNS.items()}
        made = _reference(found, from_pubmed=bool(record.get("from_pubmed")))
        ids[made.doc_id] += 1
        if ids[made.doc_id] > 1:
            made = made._replace(doc_id=f"{made.doc_id}-{ids[made.doc_id]}")
        yield number, made


def _first(record: Mapping[str, object], aliases: Iterable[str]) -> list[str]:
    """The texts of the first field that is not empty."""
    for name in aliases:
        value = record.get(name)
        texts = [str(each).strip() for each in (value if isinstance(value, list) else [value]) if each is not None]
        if any(texts):
            return [text for text in texts if text]
    return []


def _reference(found: dict[str, list[str]], *, from_pubmed: bool) -> Reference:
    title, abstract = (" ".join(" ".join(found[name]).split()) for name in ("title", "abstract"))
    links = [url for text in found["url"] for url in text.split() if images.parse_host(url)]
    year = next((match[0] for text in found["year"] if (match := re.search(r"\b\d{4}\b", text))), "")
    doi = next(filter(None, map(find_doi, [*found["doi"], *(link for link in links if "doi.org/" in link)])), "")
    pmid = next((match[0] for text in found["pmid"] if (match := re.search(r"\d+", text))), "")
    pmid = pmid or next((match[1] for link in links if (match := _PUBMED.search(link))), "")
    url = next(iter(links), f"https://doi.org/{doi}" if doi else "")
    metadata: dict[str, object] = {
        "authors": _listed(found["authors"]),
        "year": int(year) if year else "",
        "journal": " ".join(found["journal"][:1]),
        "doi": doi,
        "pmid": pmid,
        "keywords": _listed(found["keywords"]),
        "url": url or (f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else ""),
    }
    identity = (pmid if from_pubmed else doi) or doi or pmid
    if not identity:
        same_title = plain(title)
        content = "\n".join([same_title, year, "" if same_title and year else plain(abstract)])
        identity = f"r{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}"
    return Reference(identity, title, abstract, {name: value for name, value in metadata.items() if value})


def _listed(texts: list[str]) -> list[str]:
    """Names or keywords; several in one cell are separated by semicolons."""
    return [name.strip() for text in texts for name in text.split(";") if name.strip()]


def read_ris(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Line and fields of every record of RIS, each read by rispy; ``notes`` are the lines N1."""
    parser = _ris_parser_class()()
    block: list[str] = []
    begin = size = 0
    for number, line in source.lines(path, what):
        if not begin:
            if not _RIS_START.match(line):
                if not _RIS_NUMBER.fullmatch(line):
                    raise FormatError(path, number, "a RIS record, which begins with 'TY  - '", quote(line))
                continue
            begin, size = number, 0
        elif _RIS_START.match(line):
            raise FormatError(path, number, f"'ER  - ' at the end of the record in line {begin}", quote(line))
        block.append(line)
        size += len(line)
        if size > source.LONGEST_LINE:
            wanted = f"at most {source.LONGEST_LINE >> 20:,} MiB in a record"
            raise FormatError(path, begin, wanted, "more", "it may lack 'ER  - '")
        if _RIS_END.match(line):
            yield begin, _ris_record(path, begin, parser, block)
            block, begin = [], 0
    if begin:
        raise FormatError(path, begin, "'ER  - ' at the end of the record", "the end of the file")


@cache
def _ris_parser_class() -> Any:
    import rispy

    class Parser(rispy.RisParser):  # type: ignore[misc]
        """A parser that joins the lines of a field at the end of a record: rispy's own time grows with their square."""

        CONTINUED = ""

        def __init__(self) -> None:
            # An address may contain the semicolon that separates others.
            super().__init__(delimiter_tags_mapping={}, ignore=[self.CONTINUED])
            self.tag = ""
            self.more: dict[str, list[str]] = {}

        def parse_line(self, line: str) -> tuple[str | None, str]:
            tag, content = super().parse_line(line)
            if tag is None and self.tag in self.mapping and self.tag not in self.list_tags:
                self.more.setdefault(self.mapping[self.tag], []).append(content)
                return self.CONTINUED, ""
            self.tag = tag or self.tag
            return tag, content

        def parse(self, text: str) -> list[dict[str, Any]]:
            self.more = {}
            found = super().parse(text)
            for record in found:
                record |= {name: " ".join([record[name], *more]) for name, more in self.more.items() if name in record}
            return found

    return Parser


def _ris_record(path: FilePath, number: int, parser: Any, block: list[str]) -> Mapping[str, object]:
    try:
        read = parser.parse("\n".join(block))
    except (KeyError, AttributeError, TypeError, IndexError):  # such as an unknown tag after the tag UK
        read = []
    if len(read) != 1:
        raise FormatError(path, number, "a RIS record with lines such as 'TI  - title'", quote(" ".join(block)))
    record = read[0]
    names = {
        "title": ("title", "primary_title", "short_title"),
        "abstract": ("abstract", "notes_abstract"),
        "authors": ("authors", "first_authors"),
        "year": ("year", "publication_year", "date"),
        "journal": ("secondary_title", "journal_name", "alternate_title3", "alternate_title2"),
    }
    found: dict[str, object] = {field: _first(record, aliases) for field, aliases in names.items()}
    database = f"{record.get('name_of_database', '')} {record.get('database_provider', '')}".lower()
    if "pubmed" in database or "medline" in database:
        found["pmid"] = record.get("accession_number")
    same = {"doi": "doi", "keywords": "keywords", "url": "urls", "notes": "notes"}
    return found | {field: record.get(name) for field, name in same.items()}


def _nbib_records(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Records of PubMed: lines ``TAG - value``, which blanks continue; each record begins with its PMID."""
    record: dict[str, list[list[str]]] = {}
    begin, last = 0, ""
    for number, line in fields.data_lines(path, what):
        field = _NBIB_FIELD.fullmatch(line)
        if line.startswith("      ") and last:
            record[last][-1].append(line.strip())
        elif field is None or not (begin or field[1] == "PMID"):
            wanted = "a field such as 'TI  - title'" if begin else "a PubMed record, which begins with 'PMID- '"
            raise FormatError(path, number, wanted, quote(line))
        else:
            if field[1] == "PMID":
                if begin:
                    yield begin, _nbib_record(path, begin, record)
                begin, record = number, {}
            last = field[1]
            record.setdefault(last, []).append([field[2].strip()])
    if begin:
        yield begin, _nbib_record(path, begin, record)


def _nbib_record(path: FilePath, number: int, lines: Mapping[str, list[list[str]]]) -> Mapping[str, object]:
    record = {tag: [" ".join(value) for value in values] for tag, values in lines.items()}
    if not record["PMID"][0].isdecimal():
        raise FormatError(path, number, "a PMID, which is a number", quote(record["PMID"][0]))
    located = [text for name in ("LID", "AID") for text in record.get(name, []) if text.endswith("[doi]")]
    headings = [text.replace("*", "") for text in record.get("MH", [])]
    return {
        "title": record.get("TI") or record.get("BTI") or record.get("TT"),
        "abstract": record.get("AB"),
        "authors": record.get("FAU") or record.get("AU") or record.get("CN"),
        "year": record.get("DP"),
        "journal": record.get("JT") or record.get("TA"),
        "doi": located,
        "pmid": record["PMID"],
        "keywords": record.get("OT") or headings,
        "from_pubmed": True,
    }
