"""The bibliographic database that records were exported from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from collection.core.characters import one_line
from collection.formats import columns, source
from collection.formats.source import FilePath

RECORDS = 2_000
"""Maximum number of records that are examined."""

_NAMES = (
    (r"embase|\bemed\w*\b|\bemcz?d\b", "Embase"),
    (r"pubmed|\bnlm\b", "PubMed"),
    (r"medline|\bmed(?:[cflp]|all|_?\d+\w*)\b|\bcmedm\b|\bmnh\b|\bmdc\b", "MEDLINE"),
    (r"psyc(?:info|_?inf)|\bpsyc\d+\b|\bpsyh\b", "APA PsycInfo"),
    (r"psyc(?:articles)|\bpdh\b", "APA PsycArticles"),
    (r"cinahl|\bcin20\b|\bccm\b|\brzh\b|\bcul\b", "CINAHL"),
    (r"cochrane|\bcctr\b|\bcoch\b|\bcentral\b", "Cochrane Library"),
    (r"web of science|\bwos\b|webofknowledge|webofscience|\bisi\b", "Web of Science"),
    (r"scopus", "Scopus"),
    (r"dimensions", "Dimensions"),
    (r"google scholar|scholar\.google", "Google Scholar"),
    (r"\beric\b", "ERIC"),
    (r"amed\b|\bamed\w*\b", "AMED"),
    (r"sportdiscus|\bs3h\b|\bsph\b", "SPORTDiscus"),
    (r"global health|\bcagh\b|\blhh\b", "Global Health"),
    (r"global index medicus", "Global Index Medicus"),
    (r"lilacs", "LILACS"),
    (r"cab abstracts|\bcaba\b|\blah\b", "CAB Abstracts"),
    (r"sociological abstracts", "Sociological Abstracts"),
    (r"business source|\bb[ut]h\b|\bbsu\b", "Business Source"),
    (r"academic search|\ba[9p]h\b|\basx\b", "Academic Search"),
    (r"econlit|\becn\b", "EconLit"),
    (r"ieee", "IEEE Xplore"),
    (r"dl\.acm\.org|acm digital library|association for computing machinery", "ACM Digital Library"),
    (r"inspec\b", "Inspec"),
    (r"clinicaltrials\.gov", "ClinicalTrials.gov"),
    (r"semantic ?scholar", "Semantic Scholar"),
    (r"openalex", "OpenAlex"),
    (r"lens\.org|\bthe lens\b", "The Lens"),
    (r"europe ?pmc", "Europe PMC"),
    (r"medrxiv", "medRxiv"),
    (r"biorxiv", "bioRxiv"),
    (r"arxiv", "arXiv"),
    (r"pedro\b", "PEDro"),
    (r"dissertations", "ProQuest Dissertations & Theses"),
)  # fmt: skip
"""Pattern in a name, address or code (of Ovid or EBSCO) of a database -> its usual name."""
_KNOWN = tuple((re.compile(pattern, re.I), name) for pattern, name in _NAMES)
_PLATFORM = re.compile(r"crossref|doi\.org|ovid technologies|ebscohost|proquest$|zotero|endnote|library catalog", re.I)
"""Names of platforms and programs, which are not databases."""

_FORMS = {"nbib": "PubMed", "pubmed": "PubMed", "ciw": "Web of Science", "cochrane": "Cochrane Library"}
"""Formats that only one database writes."""
_FIELDS = {
    "ris": ("DB", "DP"),
    "refer": ("%~", "%W"),
    "refworks": ("DB", "DS"),
    "endnote": ("remote-database-name", "remote-database-provider"),
    "bibtex": ("database", "source"),
    "csl": ("source",),
    "table": (
        "database", "database name", "name of database", "source database", "remote database name", "longdbname",
        "library catalog", "database provider", "source",
    ),
}  # fmt: skip
"""Form -> fields that name a database, the most reliable first."""
_ADDRESSES = (
    (re.compile(r"[?&]D=(\w+)|[?&]db=(\w+)", re.I), ("ovid", "ebsco")),
    (re.compile(r"//[^/\s]*\b(scopus|embase|webofscience|webofknowledge|cochranelibrary)\.com"), ()),
    (re.compile(r"//[^/\s]*\b(pubmed\.ncbi|europepmc|ieeexplore|dl\.acm|scholar\.google|app\.dimensions|lens)\."), ()),
)
"""Pattern of a record's address, and the hosts for which it contains a code of the database (none: its name)."""
_ACCESSION = re.compile(r"(WOS):|(2-s2\.0-)\d|(CN-)\d{6}|(L)\d{8,}\Z")
_ACCESSIONS = ("Web of Science", "Scopus", "Cochrane Library", "Embase")
_HEADERS = {
    "dimensions url": "Dimensions", "ut (unique wos id)": "Web of Science", "embase link": "Embase",
    "embase accession id": "Embase", "lens id": "The Lens", "ieee terms": "IEEE Xplore", "journal/book": "PubMed",
    "gsrank": "Google Scholar", "ids.openalex": "OpenAlex", "eid": "Scopus",
    "nct number": "ClinicalTrials.gov", "trialid": "ICTRP", "item doi": "Springer",
}  # fmt: skip
"""Column that only one database writes -> the database."""
_SHORT = 300
"""Maximum number of characters of an address or accession number."""
_LINE = re.compile(r"(?:C1 {1,2}- )?(?:Database(?:s|\(s\))?|Source|Provider):\s*(\S.*)", re.I)
_LINES = 20


def guess_database(form: str, records: Iterable[Mapping[str, list[str]]], lines: Iterable[str] = ()) -> str:
    """The usual name of the database that most records name by a field, address or accession number; '' if none.

    Parameters
    ----------
    form
        As :attr:`collection.formats.references.Reference.form`.
    records
        The :attr:`~collection.formats.references.Reference.fields` of records of one file; the first 2,000 count.
    lines
        Lines of the file outside of its records that name a database, as :func:`database_lines` finds them; used if
        the records name none.

    Examples
    --------
    >>> guess_database("ris", [{"TY": ["JOUR"], "DB": ["Embase <1974 to 2024 June 25>"]}])
    'Embase'
    >>> guess_database("table", [{"Title": ["Wings"], "EID": ["2-s2.0-85"]}])
    'Scopus'
    """
    first = list(islice(records, RECORDS))
    if form in _FORMS:
        return "ERIC" if any("ERIC" in record.get("OWN", ()) for record in first[:1]) else _FORMS[form]
    names = Counter(_database(form, record) for record in first)
    name, number = next(iter(names.most_common(1)), ("", 0))
    if name and number * 2 > names.total():
        return name
    return next(filter(None, map(_known, lines)), "") if not name else ""


def database_lines(path: FilePath) -> Iterator[str]:
    """Names after "Database:", "Source:" or "Provider:" in lines of a text file, such as Ovid's search history."""
    if source.suffix(path) in (".xlsx", ".parquet", ".csv", ".json", ".jsonl"):
        return
    matches = (_LINE.fullmatch(line.strip()) for _, line in source.lines(path, "documents"))
    yield from islice((match[1] for match in matches if match), _LINES)


def _known(text: str) -> str:
    """The usual name of a database that a text names; '' if none is known."""
    return next((name for pattern, name in _KNOWN if pattern.search(text)), "")


def _named(text: str) -> str:
    """The usual name of the database in a field, or the text of the field; '' for a platform or program."""
    own = one_line(re.sub(r"<.*|\(R\)|[®™]", "", text)).strip(" .;,")
    return _known(text) or ("" if _PLATFORM.search(own) or own.isdecimal() else own)


def _database(form: str, record: Mapping[str, list[str]]) -> str:
    plain = {columns.plain_name(name): texts for name, texts in record.items()} if form == "table" else record
    for field in _FIELDS.get(form, ()):
        for text in plain.get(field, []):
            if name := _known(text) if field == "source" else _named(text):
                return name
    has_names = form in ("table", "endnote")
    if has_names and (found := next((name for column, name in _HEADERS.items() if column in plain), "")):
        return found
    texts = [text for some in record.values() for text in some if len(text) < _SHORT]
    for text in texts:
        if name := _by_address(text):
            return name
    numbers = (_ACCESSION.match(text) for text in texts)
    return next((_ACCESSIONS[(match.lastindex or 1) - 1] for match in numbers if match), "")


def _by_address(text: str) -> str:
    if "//" not in text:
        return ""
    for pattern, hosts in _ADDRESSES:
        match = pattern.search(text)
        if (
            match
            and (not hosts or any(host in text for host in hosts))
            and (name := _known(next(filter(None, match.groups()))))
        ):
            return name
    return ""
