"""Bibliographic records of invented publications, as databases, reference managers and screening tools write them.

Each writer follows the published description of its form; the values are random.
"""

import csv
import io
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import openpyxl

NOUNS = [
    "attic",
    "boiler",
    "cellar",
    "chimney",
    "door",
    "facade",
    "floor",
    "glazing",
    "heat",
    "pump",
    "radiator",
    "roof",
    "stove",
    "ventilation",
    "wall",
]
AIMS = ["Effects", "Comparison", "Durability", "Cost", "Uptake", "Trial", "Noise", "Economy"]
FAMILIES = (
    "Berg",
    "Müller",
    "Åkesson",
    "O'Neill",
    "van der Meer",
    "García López",
    "Šimůnek",
    "Lund",
    "Ødegård",
    "Strauß",
)
GIVEN = ("Tor", "Jérôme", "Kim A", "Élise", "Zoë", "Karl-Heinz", "Ana")
JOURNALS = (
    ("Journal of Cold Houses", "J Cold Houses"), ("Annals of Heat & Light", "Ann Heat Light"),
    ("Acta Thermica", "Acta Therm"), ("Énergie et habitat", "Energ Habitat"),
)  # fmt: skip
LANGUAGES = (("English", "eng", "en"), ("German", "ger", "de"), ("French", "fre", "fr"), ("Spanish", "spa", "es"))


class Text(NamedTuple):
    """A text in three notations."""

    plain: str
    html: str
    latex: str


class Invented(NamedTuple):
    """A publication that does not exist."""

    number: int
    title: Text
    abstract: Text
    authors: tuple[tuple[str, str], ...]
    """Family and given name of each."""
    year: int
    journal: str
    abbreviation: str
    volume: int
    issue: int
    first: int
    last: int
    doi: str
    pmid: str
    keywords: tuple[str, ...]
    language: tuple[str, str, str]
    """Name, code of three letters and of two."""

    def sentences(self) -> list[str]:
        return self.abstract.plain.split("; ")


def _text(*parts: tuple[str, str]) -> Text:
    """A text of pairs of a kind ("", "i", "sub", "sup") and its words."""
    plain = "".join(words for _, words in parts)
    html = "".join(
        f"<{kind}>{escape(words, quote=False)}</{kind}>" if kind else escape(words, quote=False)
        for kind, words in parts
    )
    return Text(plain, html, "".join(_latex(kind, words) for kind, words in parts))


ACCENTS = {
    "ü": '{\\"u}', "Å": "{\\AA}", "í": "{\\'i}", "ó": "{\\'o}", "Š": "{\\v{S}}", "ů": "{\\r{u}}", "Ø": "{\\O}",
    "å": "{\\aa}",
    "ß": "{\\ss}", "é": "{\\'e}", "ô": "{\\^o}", "É": "{\\'E}", "ë": '{\\"e}', "á": "{\\'a}", "&": "\\&", "%": "\\%",
    "<": "{\\textless}",
}  # fmt: skip


def latex(text: str) -> str:
    return "".join(ACCENTS.get(character, character) for character in text)


def _latex(kind: str, words: str) -> str:
    if kind == "i":
        return f"\\textit{{{latex(words)}}}"
    return f"${'_' if kind == 'sub' else '^'}{{{words}}}$" if kind else latex(words)


def invent(rng: random.Random, number: int) -> Invented:
    """A publication of random values; its number makes its identifiers different from those of others."""
    one, other = rng.sample(NOUNS, 2)
    title = _text(
        ("", f"{rng.choice(AIMS)} of the {one} & the {other}: "), ("i", "in situ"),
        ("", " re-uptake of CO"), ("sub", "2"),
        ("", f" in {number} houses"),
    )  # fmt: skip
    abstract = _text(
        ("", f"BACKGROUND: The {one} loses heat in winter; METHODS: We measured {rng.randint(20, 900)} m"), ("sup",
        "2"),
        ("", f" of {other}s at 5% loss; RESULTS: Losses fell (p < 0.0{rng.randint(1, 5)}), e.g. of the {one}; "),
        ("", "CONCLUSIONS: Insulate well-used rooms."),
    )  # fmt: skip
    first = rng.randint(1, 400)
    journal, abbreviation = rng.choice(JOURNALS)
    return Invented(
        number, title, abstract,
        tuple((rng.choice(FAMILIES), rng.choice(GIVEN)) for _ in range(rng.randint(1, 4))),
        rng.randint(1950, 2026), journal, abbreviation, rng.randint(1, 99), rng.randint(1, 12), first,
        first + rng.randint(1, 20), f"10.5555/cold.{number}.{rng.randint(1, 99)}", str(30_000_000 + number),
        tuple(rng.sample(NOUNS, 3)), rng.choice(LANGUAGES),
    )  # fmt: skip


# Names of authors -------------------------------------------------------------------------------------


def initials(given: str, dot: str = "", between: str = "") -> str:
    return between.join(f"{part[0]}{dot}" for part in given.replace("-", " ").split())


def full(record: Invented) -> list[str]:
    return [f"{family}, {given}" for family, given in record.authors]


def short(record: Invented) -> list[str]:
    """As "Berg, T."."""
    return [f"{family}, {initials(given, '.')}" for family, given in record.authors]


def medline(record: Invented) -> list[str]:
    """As "Berg T"."""
    return [f"{family} {initials(given)}" for family, given in record.authors]


def dotted(record: Invented) -> list[str]:
    """As "Berg T."."""
    return [f"{family} {initials(given, '.')}" for family, given in record.authors]


def bare(record: Invented) -> list[str]:
    """As "Berg, T"."""
    return [f"{family}, {initials(given)}" for family, given in record.authors]


def scholar(record: Invented) -> list[str]:
    """As "T Berg"."""
    return [f"{initials(given)} {family}" for family, given in record.authors]


def short_pages(record: Invented) -> str:
    """As PubMed writes pages: "121-4"."""
    last = record.last % 10 if record.last // 10 == record.first // 10 else record.last
    return f"{record.first}-{last}"


# Forms ------------------------------------------------------------------------------------------------

Tags = Iterable[tuple[str, object]]


def ris(tags: Tags, *, gap: str = "  - ", end: str = "ER  - ") -> str:
    """A record of RIS; of a list, each text has a line."""
    lines = [f"{tag}{gap}{text}" for tag, texts in tags for text in (texts if isinstance(texts, list) else [texts])]
    return "\n".join([*lines, end, "", ""])


CITED = [
    "Other, O. (2001). Another title. Acta Therm., 7(1), 2-9 https://pubmed.ncbi.nlm.nih.gov/10000001 "
    "https://dx.doi.org/10.5555/other.1 2001-00001-001.",
    "Other O. One more title. Acta Therm 2002;8:3-4. doi: 10.5555/other.2. PubMed PMID: 10000002.",
]
"""Cited references, whose identifiers are not those of the record."""


def ovid(record: Invented, database: str, code: str, accession: str) -> str:
    words = [f"*{record.keywords[0]}", *record.keywords[1:]]
    return f"\n{record.number}. \n" + ris([
        ("TY", "JOUR"), ("DB", database), ("AN", accession), ("ID", accession), ("T1", record.title.html),
        ("A1", dotted(record)), ("Y1", f"{record.year}//"), ("N2", ";\n".join(record.abstract.html.split("; "))),
        ("KW", words), ("JF", record.journal), ("JA", record.abbreviation), ("LA", record.language[0]),
        ("VL", record.volume), ("IS", record.issue), ("SP", record.first), ("EP", record.last), ("CY", "Norway"),
        ("PB", "North Press"), ("SN", "2325-0000 (electronic)"), ("AD", "(Berg) University of the North"),
        ("M1", ["(Berg) tor@north.example", *CITED]),
        ("UR", f"http://ovidsp.ovid.com/ovidweb.cgi?T=JS&PAGE=reference&D={code}&NEWS=N&AN={accession}"),
        ("DO", f"https://dx.doi.org/{record.doi}"), ("PT", "Article"),
    ], end="ER  -  ") + "Link to the Ovid Full Text or citation:\nhttp://resolver.example/ovid\n"  # fmt: skip


def ovid_embase(records: list[Invented]) -> str:
    """Ovid's RIS with the search history, as reviewers keep it for the appendix."""
    history = "\nC1  - Database: Embase <1974 to 2024 Week 25>\n\nSearch Strategy:\n\n1     attic*.ti,ab. (123)\n"
    texts = [
        ovid(each, "Embase <1974 to 2024 June 25>", "emed25", str(2_000_000_000 + each.number)) for each in records
    ]
    return texts[0] + history + "".join(texts[1:])


def ovid_medline(records: list[Invented]) -> str:
    name = "Ovid MEDLINE(R) ALL <1946 to June 25, 2024>"
    return "".join(ovid(each, name, "medall", each.pmid) for each in records)


def ovid_without_database(records: list[Invented]) -> str:
    """Ovid's older RIS of MEDLINE, whose database is a code in the address."""
    return "".join(f"{each.number}. \n" + ris([
        ("TY", "JOUR"), ("ID", each.pmid), ("T1", each.title.html), ("A1", full(each)), ("Y1", f"{each.year}//"),
        ("N2", each.abstract.html), ("KW", [*each.keywords]), ("JF", each.journal), ("JA", each.abbreviation),
        ("LA", each.language[0]), ("SP", each.first), ("EP", each.last), ("M1", "vwt, 1307333"),
        ("DO", f"https://dx.doi.org/{each.doi}"),
        ("L2", f"http://ovidsp.ovid.com/ovidweb.cgi?T=JS&PAGE=reference&D=medp&NEWS=N&AN={each.pmid}"),
    ], end="ER  -  ") for each in records)  # fmt: skip


def embase(records: list[Invented]) -> str:
    """Embase.com's RIS, which has PubMed's number in C5, and no database but Medline in some records."""
    return "".join(ris([
        ("TY", "JOUR"), ("M3", "Article"), ("Y1", each.year), ("VL", each.volume), ("IS", each.issue), ("SP",
        each.first),
        ("EP", each.last), ("T1", each.title.plain), ("JF", each.journal), ("JO", each.abbreviation), ("A1",
        bare(each)),
        ("AD", "T. Berg, University of the North"), ("KW", [*each.keywords]), ("N2", each.abstract.plain),
        ("SN", "2325-0000"), ("C5", each.pmid), ("DB", ["Embase", "Medline"] if each.number % 3 else "Medline"),
        ("M1", "(Berg T., tor@north.example) University of the North"), ("LA", each.language[0]),
        ("LK", f"https://resolver.example/link?sid=EMBASE&id=doi:{each.doi}&atitle=Erratum+DOI%3A+10.5555%2Fother%29"),
        ("U2", f"L{2_000_000_000 + each.number}"), ("DO", each.doi),
        ("UR", f"https://www.embase.com/search/results?subaction=viewrecord&id=L{each.number}&from=export"),
    ]) for each in records)  # fmt: skip


def cochrane_head(place: int, records: list[Invented]) -> str:
    return (
        f"Record #{place} of {len(records)}\nProvider: John Wiley & Sons, Ltd.\n"
        'Content: text/plain; charset="UTF-8"\n\n'
    )


def cochrane_endnote(records: list[Invented]) -> str:
    """The Cochrane Library's RIS (EndNote), in which every hyphen is U+2010."""
    return "".join(cochrane_head(place, records) + ris([
        ("TY", "JOUR"), ("AN", f"CN-{each.number:08}"), ("AU", bare(each)),
        ("TI", each.title.html.replace("-", "\u2010")), ("JA", each.journal), ("PY", each.year), ("VL", each.volume),
        ("IS", each.issue), ("CC", "HS-HEAT"), ("SP", f"{each.first}\u2010{each.last}"),
        ("C3", f"PUBMED {each.pmid},EMBASE {600_000_000 + each.number}"), ("M3", "Journal article"),
        ("KW", [f"*{each.keywords[0]}", *each.keywords[1:]]), ("DO", each.doi),
        ("AB", each.abstract.html.replace("-", "\u2010")),
        ("UR", f"https://www.cochranelibrary.com/central/doi/10.1002/central/CN-{each.number:08}/full"),
    ], gap="  -  ", end="ER  -  ") + "\n" for place, each in enumerate(records, 1))  # fmt: skip


def cochrane(records: list[Invented]) -> str:
    return "".join(
        cochrane_head(place, records)
        + ris([
            ("TY", "JOUR"), ("AN", f"CN-{each.number:08}"), ("TI", each.title.html), ("AU", bare(each)),
            ("SO", each.journal), ("YR", each.year), ("VL", each.volume), ("NO", each.issue),
            ("PG", f"{each.first}-{each.last}"), ("PM", f"PUBMED {each.pmid}"), ("PT", "Journal article"),
            ("KW", [f"*{each.keywords[0]}", *each.keywords[1:]]), ("DOI", each.doi), ("AB", each.abstract.html),
            ("US", f"https://www.cochranelibrary.com/central/doi/10.1002/central/CN-{each.number:08}/full"),
        ], gap="  -  ").replace("DOI  -", "DOI -") for place, each in enumerate(records, 1)
    )  # fmt: skip


def pubmed_ris(records: list[Invented]) -> str:
    """The RIS of NCBI's citation exporter."""
    return "".join(ris([
        ("TY", "JOUR"), ("DB", "PubMed"), ("AU", full(each)), ("T1", each.title.plain), ("LA", each.language[1]),
        ("SN", "2325-0000"), ("Y1", f"{each.year}/05/"), ("ET", f"{each.year}/05/12"), ("AB", each.abstract.plain),
        ("SP", each.first), ("EP", each.last), ("VL", each.volume), ("IS", each.issue), ("AN", each.pmid),
        ("UR", f"https://pubmed.ncbi.nlm.nih.gov/{each.pmid}"), ("DO", each.doi), ("U1", f"{each.pmid}[pmid]"),
        ("J2", each.abbreviation), ("JF", each.journal), ("KW", [*each.keywords]),
    ]) for each in records)  # fmt: skip


def scopus_ris(records: list[Invented]) -> str:
    return "Scopus\nEXPORT DATE: 25 June 2024\n\n" + "".join(ris([
        ("TY", "JOUR"), ("TI", each.title.html), ("T2", each.journal), ("J2", each.abbreviation), ("VL", each.volume),
        ("IS", each.issue), ("SP", each.first), ("EP", each.last), ("PY", each.year), ("DO", each.doi),
        ("UR", f"https://www.scopus.com/inward/record.uri?eid=2-s2.0-{each.number}&doi={each.doi}&partnerID=40"),
        ("AB", each.abstract.html), ("KW", [*each.keywords]), ("PB", "North Press"), ("SN", "23250000 (ISSN)"),
        ("LA", each.language[0]), ("M3", "Article"), ("DB", "Scopus"), ("C2", each.pmid),
        ("N1", "Export Date: 25 June 2024; Cited By: 3; CODEN: COLDH"), ("AU", short(each)), ("AD",
        "University of the North"),
    ]) for each in records)  # fmt: skip


def wos_ris(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("AU", full(each)), ("TI", each.title.plain), ("T2", each.journal.upper()), ("LA",
        each.language[0]),
        ("KW", [*each.keywords]), ("AB", each.abstract.plain), ("AD", "Univ North, Oslo, Norway"), ("SN", "2325-0000"),
        ("J9", each.abbreviation.upper()), ("JI", each.abbreviation), ("DA", "MAY"), ("PY", each.year), ("VL",
        each.volume),
        ("IS", each.issue), ("SP", each.first), ("EP", each.last), ("DO", each.doi), ("WE",
        "Science Citation Index Expanded"),
        ("AN", f"WOS:{each.number:015}"), ("N1", "Times Cited in Web of Science Core Collection:  3"),
    ], end="ER  -") for each in records)  # fmt: skip


def proquest(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("AU", full(each)), ("T1", each.title.html), ("JF", each.journal), ("JO", each.abbreviation),
        ("Y1", f"{each.year}/05/12/"), ("VL", each.volume), ("IS", each.issue), ("SP", each.first), ("EP", each.last),
        ("CY", "Oslo"), ("PB", "North Press"), ("SN", "2325-0000"), ("DO", each.doi),
        ("UR", f"https://www.proquest.com/scholarly-journals/x/docview/{each.number}/se-2?accountid=1"),
        ("L2", "http://resolver.example/?genre=article"), ("LA", each.language[0]), ("DB", "APA PsycInfo®"),
        ("KW", [*each.keywords]), ("N2", each.abstract.html), ("AN", f"{each.number}; 2020-12345"),
        ("N1", "Copyright - © 2020; Date created - 2020-05-12; Last updated - 2024-06-25"),
    ]) for each in records)  # fmt: skip


EBSCO_NOTICE = (
    "Copyright of Journal of Cold Houses is the property of North Press and may not be copied. "
    "(Copyright applies to all Abstracts.)"
)


def ebsco(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("ID", each.number), ("T1", each.title.html + "."), ("AU", full(each)), ("JO", each.journal),
        ("JF", each.journal), ("JA", each.abbreviation), ("Y1", f"{each.year}/05/12/"), ("VL", each.volume),
        ("IS", each.issue), ("SP", each.first), ("EP", each.last), ("CY", "Oslo"), ("PB", "North Press"), ("SN",
        "2325-0000"),
        ("AD", "University of the North"), ("AB", [f"{each.abstract.html} [ABSTRACT FROM AUTHOR]", EBSCO_NOTICE]),
        ("KW", [*each.keywords]),
        ("N1", f"Accession Number: {each.number}. Language: {each.language[0]}. Entry Date: 20200512. Type: Article. "
               f"PMID: NLM{each.pmid}."), ("L3", each.doi),
        ("UR", f"https://search.ebscohost.com/login.aspx?direct=true&db=cin20&AN={each.number}&site=ehost-live"),
        ("DP", "EBSCOhost"), ("DB", "cin20"),
    ]) for each in records)  # fmt: skip


def endnote_ris(records: list[Invented]) -> str:
    """EndNote's RIS: the abstract's lines and keywords go on without tags, and SP has both pages."""
    return "".join(ris([
        ("TY", "JOUR"), ("AD", "University of the North"), ("AN", each.pmid), ("AU", full(each)), ("DA", "May 12"),
        ("DO", each.doi), ("DP", "NLM"), ("ET", "2020/05/12"), ("IS", each.issue), ("J2", each.abbreviation),
        ("KW", "\n".join(each.keywords)), ("LA", each.language[1]), ("N1", "Berg, Tor\nNorway\nHeat. 2020 May 12."),
        ("PY", each.year), ("SN", "2325-0000"),
        ("SP", f"{each.first}-{each.last}"), ("ST", each.title.plain.split(":")[0]), ("T2", each.journal),
        ("TI", each.title.plain), ("VL", each.volume), ("AB", ";\n".join(each.sentences())), ("ID", each.number),
    ]) for each in records)  # fmt: skip


def zotero_ris(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("TI", each.title.html), ("AU", full(each)), ("T2", each.journal), ("AB", each.abstract.html),
        ("DA", f"{each.year}/05/12/"), ("PY", each.year), ("DO", each.doi), ("DP", "DOI.org (Crossref)"),
        ("VL", each.volume), ("IS", each.issue), ("SP", each.first), ("EP", each.last), ("J2", each.abbreviation),
        ("LA", each.language[2]), ("SN", "2325-0000"), ("ST", each.title.plain.split(":")[0]),
        ("UR", f"https://cold.example/{each.number}"), ("Y2", "2024/06/25/12:00:00"), ("KW", [*each.keywords]),
        ("N1", [f"PMID: {each.pmid}\nPMCID: PMC77{each.number}", "<p>Read <b>twice</b>.</p>\n<p>Ask Tor.</p>"]),
    ]) for each in records)  # fmt: skip


def dimensions_ris(records: list[Invented]) -> str:
    return "\n" + "".join(ris([
        ("TY", "JOUR"), ("AN", f"pub.10{each.number}"), ("TI", each.title.plain), ("AU", full(each)),
        ("PY", each.year), ("JO", each.journal), ("VL", each.volume), ("IS", each.issue), ("SP", each.first),
        ("EP", each.last), ("DO", each.doi),
        ("UR", f"https://app.dimensions.ai/details/publication/pub.10{each.number}"),
        ("U1", [f"{each.pmid} [PMID]", f"PMC77{each.number} [PMCID]"]), ("Y2", "2024/08/09"),
        ("AB", "\n".join(each.abstract.plain.split(" RESULTS"))),
    ]).replace("\n:", "\nRESULTS:") for each in records)  # fmt: skip


def rayyan_ris(records: list[Invented]) -> str:
    """Rayyan's RIS, in which tags that it does not know follow in the line of the one before."""
    return "".join(ris([
        ("TY", "JOUR"), ("AN", f"rayyan-{each.number}"), ("TI", each.title.plain), ("Y1", each.year),
        ("T2", each.journal), ("SN", '["2325-0000", "2325-0001"]'), ("VL", each.volume), ("IS", each.issue),
        ("SP", f"{each.first}-{each.last}"), ("AU", short(each)),
        ("UR", f"https://www.embase.com/search/results?id=L{each.number}&from=export     U2  - L{each.number}"),
        ("LA", each.language[0]), ("KW", [*each.keywords]), ("AB", each.abstract.plain),
        ("N1", 'RAYYAN-INCLUSION: {"Tor"=>"Included"}'),
        ("DO", f"{each.doi}     LK  - https://resolver.example/link?id=doi:{each.doi.replace('/', '%2F')}"
               "&atitle=Erratum%3A+Heat+DOI%3A+10.5555%2Fother%29&stitle=Acta+Therm"),
    ], end="ER  -") for each in records)  # fmt: skip


def mendeley(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("T1", each.title.plain), ("A1", full(each)), ("Y1", f"{each.year}/05/12/"), ("N2",
        each.abstract.plain),
        ("JF", each.journal), ("VL", each.volume), ("IS", each.issue), ("SP", each.first), ("EP", each.last),
        ("UR", f"https://cold.example/{each.number}"), ("L1", "internal-pdf://cold.pdf"), ("DO", each.doi),
        ("KW", [*each.keywords]), ("LA", each.language[0]),
    ]) + "\n" for each in records)  # fmt: skip


def jabref_ris(records: list[Invented]) -> str:
    return "".join(ris([
        ("TY", "JOUR"), ("AU", full(each)), ("TI", each.title.plain), ("JO", each.journal), ("VL", each.volume),
        ("IS", each.issue), ("SP", each.first), ("EP", each.last), ("PY", each.year), ("DA", f"{each.year}/05"),
        ("KW", [*each.keywords]), ("DO", each.doi), ("UR", f"https://cold.example/{each.number}"), ("AB",
        each.abstract.plain),
        ("LA", each.language[0].lower()),
    ], end="ER  -") for each in records).replace("\n", "\r\n")  # fmt: skip


def wrapped(tag: str, text: str) -> str:
    """A value of Web of Science, of which each further line begins with three blanks."""
    words = text.split(" ")
    return f"{tag} " + "\n   ".join(" ".join(words[at : at + 9]) for at in range(0, len(words), 9)) + "\n"


def ciw(records: list[Invented]) -> str:
    return "\ufeffFN Clarivate Analytics Web of Science\nVR 1.0\n" + "".join("".join([
        "PT J\n", "AU " + "\n   ".join(bare(each)) + "\n", "AF " + "\n   ".join(full(each)) + "\n",
        wrapped("TI", each.title.plain), f"SO {each.journal.upper()}\n", f"LA {each.language[0]}\nDT Article\n",
        "DE " + "; ".join(each.keywords) + "\n", wrapped("AB", each.abstract.plain),
        "C1 [Berg, Tor] Univ North, Oslo, Norway.\n",
        f"SN 2325-0000\nJ9 {each.abbreviation.upper()}\nJI {each.abbreviation}\nPD MAY 12\nPY {each.year}\n",
        f"VL {each.volume}\nIS {each.issue}\nBP {each.first}\nEP {each.last}\nDI {each.doi}\n",
        f"UT WOS:{each.number:015}\nPM {each.pmid}\nER\n\n",
    ]) for each in records) + "EF"  # fmt: skip


def styled(text: object) -> str:
    return f'<style face="normal" font="default" size="100%">{escape(str(text))}</style>'


def endnote_xml(records: list[Invented]) -> str:
    def element(each: Invented) -> str:
        title = each.title.html.replace("<i>", '</style><style face="italic">').replace(
            "</i>", '</style><style face="normal">'
        )
        title = title.replace("<sub>", '</style><style face="subscript">').replace(
            "</sub>", '</style><style face="normal">'
        )
        return (
            '<record><database name="Cold.enl" path="C:\\Cold.enl">Cold.enl</database>'
            '<source-app name="EndNote" version="21">'
            f'EndNote</source-app><rec-number>{each.number}</rec-number><ref-type name="Journal Article">17</ref-type>'
            f"<contributors><authors>{''.join(f'<author>{styled(name)}</author>' for name in full(each))}</authors>"
            f"</contributors>"
            f'<titles><title><style face="normal">{title}</style></title><secondary-title>{styled(each.journal)}'
            f"</secondary-title></titles><periodical><full-title>{styled(each.journal)}</full-title><abbr-1>"
            f"{styled(each.abbreviation)}</abbr-1></periodical><pages>{styled(f'{each.first}-{each.last}')}</pages>"
            f"<volume>{styled(each.volume)}</volume><number>{styled(each.issue)}</number><keywords>"
            f"{''.join(f'<keyword>{styled(word)}</keyword>' for word in each.keywords)}</keywords><dates><year>"
            f"{styled(each.year)}</year><pub-dates><date>{styled('May 12')}</date></pub-dates></dates><isbn>"
            f"{styled('2325-0000')}</isbn><accession-num>{styled(each.pmid)}</accession-num><abstract>"
            f"{styled(each.abstract.plain)}</abstract><notes>{styled('To read')}</notes><urls><related-urls><url>"
            f"{styled(f'https://cold.example/{each.number}')}</url></related-urls></urls><electronic-resource-num>"
            f"{styled(each.doi)}</electronic-resource-num>"
            f"<remote-database-name>{styled('Medline')}</remote-database-name>"
            f"<remote-database-provider>{styled('NLM')}</remote-database-provider><language>{styled(each.language[1])}"
            "</language></record>"
        )

    return f'<?xml version="1.0" encoding="UTF-8" ?><xml><records>{"".join(map(element, records))}</records></xml>'


def refer(records: list[Invented]) -> str:
    return "".join("\n".join([
        "%0 Journal Article", *(f"%A {name}" for name in full(each)), f"%D {each.year}", f"%T {each.title.html}",
        f"%J {each.journal}", f"%V {each.volume}", f"%N {each.issue}", f"%P {each.first}-{each.last}",
        f"%! {each.title.plain.split(':')[0]}", "%@ 2325-0000", f"%R {each.doi}", "%K " + "\n".join(each.keywords),
        f"%X {each.abstract.html}", "%Z To read", f"%U https://cold.example/{each.number}", "%W NLM",
        f"%G {each.language[1]}", f"%M {each.pmid}", "%~ PubMed", "", "",
    ]) for each in records)  # fmt: skip


def bibtex(records: list[Invented], *, pmid: bool = True) -> str:
    """BibTeX as Zotero writes it."""
    return "".join(
        f"@article{{berg_{each.number},\n\ttitle = {{{each.title.latex}}},\n\tvolume = {{{each.volume}}},\n"
        f"\tissn = {{2325-0000}},\n\turl = {{https://cold.example/{each.number}}},\n"
        f"\tdoi = {{{each.doi}}},\n"
        f"\tabstract = {{{each.abstract.latex}}},\n\tlanguage = {{{each.language[2]}}},\n\tnumber = {{{each.issue}}},\n"
        f"\tjournal = {{{latex(each.journal)}}},\n\tauthor = {{{latex(' and '.join(full(each)))}}},\n\tmonth = may,\n"
        f"\tyear = {{{each.year}}},\n" + f"\tnote = {{PMID: {each.pmid}}},\n" * pmid
        + f"\tkeywords = {{{', '.join(each.keywords)}}},\n\tpages = {{{each.first}--{each.last}}},\n}}\n\n"
        for each in records
    )  # fmt: skip


def scopus_bibtex(records: list[Invented]) -> str:
    return "Scopus\nEXPORT DATE: 25 June 2024\n\n" + "".join(
        f"@ARTICLE{{Berg{each.year}{each.number},\n"
        f"\tauthor = {{{' and '.join(short(each))}}},\n\ttitle = {{{each.title.latex}}},\n"
        f"\tyear = {{{each.year}}},\n\tjournal = {{{latex(each.journal)}}},\n\tvolume = {{{each.volume}}},\n"
        f"\tnumber = {{{each.issue}}},\n\tpages = {{{each.first} – {each.last}}},\n\tdoi = {{{each.doi}}},\n"
        f"\turl = {{https://www.scopus.com/inward/record.uri?eid=2-s2.0-{each.number}&doi=x}},\n"
        f"\tabstract = {{{each.abstract.latex}}},\n\tauthor_keywords = {{{'; '.join(each.keywords)}}},\n"
        f"\tpmid = {{{each.pmid}}},\n\tlanguage = {{{each.language[0]}}},\n"
        "\ttype = {Article},\n\tsource = {Scopus},\n"
        "\tnote = {Cited by: 3}\n}\n\n"
        for each in records
    )


def nbib(records: list[Invented]) -> str:
    def lines(tag: str, text: str) -> str:
        words = text.split(" ")
        return f"{tag:4}- " + "\n      ".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12)) + "\n"

    return "".join("\n" + "".join(lines(tag, str(text)) for tag, text in [
        ("PMID", each.pmid), ("OWN", "NLM"), ("STAT", "MEDLINE"), ("IS", "2325-0000 (Electronic)"), ("VI", each.volume),
        ("IP", each.issue), ("DP", f"{each.year} May 12"), ("TI", f"{each.title.plain}."), ("PG", short_pages(each)),
        ("LID", f"{each.doi} [doi]"), ("AB", each.abstract.plain),
        *(pair for long, name in zip(full(each), medline(each), strict=True) for pair in (("FAU", long), ("AU", name),
        ("AD", "University of the North, Oslo."))),
        ("LA", each.language[1]), ("PT", "Journal Article"), ("TA", each.abbreviation), ("JT", each.journal),
        *(("MH", f"*{word}" if place == 0 else word) for place, word in enumerate(each.keywords)), ("EDAT",
        "2020/05/12 06:00"),
        ("AID", "S0000-0000(19)00001-1 [pii]"), ("AID", f"{each.doi} [doi]"), ("PST", "ppublish"),
        ("SO", f"{each.abbreviation}. {each.year} May 12;{each.volume}({each.issue}):{each.first}-{each.last}."),
    ]) for each in records)  # fmt: skip


def pubmed_xml(records: list[Invented]) -> str:
    def article(each: Invented) -> str:
        authors = "".join(
            f'<Author ValidYN="Y"><LastName>{escape(family)}</LastName><ForeName>{given}</ForeName>'
            f"<Initials>{initials(given)}</Initials>"
            "<AffiliationInfo><Affiliation>University of the North</Affiliation></AffiliationInfo></Author>"
            for family, given in each.authors
        )
        parts = [part.partition(": ") for part in re.split(r"(?<!&lt); ", each.abstract.html)]
        abstract = "".join(
            f'<AbstractText Label="{label}" NlmCategory="{label}">{text}{";" * (label != "CONCLUSIONS")}</AbstractText>'
            for label, _, text in parts
        )
        words = "".join(
            f'<MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">{word}</DescriptorName></MeshHeading>'
            for word in each.keywords
        )
        return (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{each.pmid}</PMID>'
            f"<Article "
            f'PubModel="Print"><Journal><ISSN>2325-0000</ISSN><JournalIssue><Volume>{each.volume}</Volume>'
            f"<Issue>{each.issue}"
            f"</Issue><PubDate><Year>{each.year}</Year><Month>May</Month></PubDate></JournalIssue>"
            f"<Title>{escape(each.journal)}"
            f"</Title><ISOAbbreviation>{each.abbreviation}</ISOAbbreviation></Journal>"
            f"<ArticleTitle>{each.title.html}.</ArticleTitle>"
            f"<Pagination><StartPage>{each.first}</StartPage><EndPage>{each.last}</EndPage>"
            f"<MedlinePgn>{each.first}-{each.last}"
            f'</MedlinePgn></Pagination><ELocationID EIdType="doi" ValidYN="Y">{each.doi}</ELocationID>'
            f"<Abstract>{abstract}"
            f'</Abstract><AuthorList CompleteYN="Y">{authors}</AuthorList><Language>{each.language[1]}</Language>'
            f"</Article>"
            f"<MeshHeadingList>{words}</MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList><ArticleId "
            f'IdType="pubmed">{each.pmid}</ArticleId><ArticleId IdType="doi">{each.doi}</ArticleId></ArticleIdList>'
            "<ReferenceList><Reference><Citation>Other, O. Another title.</Citation><ArticleIdList><ArticleId "
            'IdType="doi">10.5555/other</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>'
            "</PubmedArticle>"
        )

    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">\n<PubmedArticleSet>'
        + "".join(map(article, records)) + "</PubmedArticleSet>"
    )  # fmt: skip


# Tables -----------------------------------------------------------------------------------------------


def zotero_row(each: Invented) -> dict[str, object]:
    return {
        "Key": f"K{each.number}", "Item Type": "journalArticle", "Publication Year": each.year,
        "Author": "; ".join(full(each)),
        "Title": each.title.html, "Publication Title": each.journal, "ISBN": "", "ISSN": "2325-0000", "DOI": each.doi,
        "Url": f"https://cold.example/{each.number}", "Abstract Note": each.abstract.html, "Date": f"{each.year}-05-12",
        "Date Added": "2024-06-25 12:00:00", "Pages": f"{each.first}-{each.last}", "Issue": each.issue,
        "Volume": each.volume,
        "Journal Abbreviation": each.abbreviation, "Language": each.language[2], "Library Catalog": "PubMed",
        "Extra": f"Publisher: North Press\nPMID: {each.pmid}", "Notes": "<p>Read.</p>",
        "Manual Tags": "; ".join(each.keywords),
        "Automatic Tags": "", "Editor": "",
    }  # fmt: skip


def rayyan_row(each: Invented) -> dict[str, object]:
    return {
        "key": f"rayyan-{each.number}", "title": each.title.html, "year": each.year, "month": 5, "day": 12,
        "journal": each.journal, "issn": "2325-0000", "volume": each.volume, "issue": each.issue,
        "pages": f"{each.first}-{each.last}", "authors": " and ".join(full(each)),
        "url": f"https://cold.example/{each.number}",
        "language": each.language[1], "publisher": "North Press", "location": "Oslo", "abstract": each.abstract.html,
        "notes": 'RAYYAN-INCLUSION: {"Tor"=>"Included"}', "doi": each.doi, "keywords": ",".join(each.keywords),
        "pubmed_id": each.pmid, "pmc_id": "",
    }  # fmt: skip


def covidence_row(each: Invented) -> dict[str, object]:
    return {
        "Title": each.title.plain, "Authors": "; ".join(short(each)), "Abstract": each.abstract.plain,
        "Published Year": each.year, "Published Month": "May", "Journal": each.journal, "Volume": each.volume,
        "Issue": each.issue, "Pages": f"{each.first}-{each.last}", "Accession Number": f"rayyan-{each.number}",
        "DOI": each.doi, "Ref": each.number, "Covidence #": f"#{each.number}", "Study": f"Berg {each.year}",
        "Notes": "",
        "Tags": "; ".join(each.keywords),
    }  # fmt: skip


def scopus_row(each: Invented) -> dict[str, object]:
    names = zip(full(each), range(9), strict=False)
    return {
        "Authors": "; ".join(dotted(each)), "Author full names": "; ".join(f"{name} (5719{n})" for name, n in names),
        "Author(s) ID": "57190; 57191", "Title": each.title.html, "Year": each.year, "Source title": each.journal,
        "Volume": each.volume, "Issue": each.issue, "Art. No.": "", "Page start": each.first, "Page end": each.last,
        "Cited by": 3, "DOI": each.doi, "Link": f"https://www.scopus.com/inward/record.uri?eid=2-s2.0-{each.number}",
        "Abstract": each.abstract.html, "Author Keywords": "; ".join(each.keywords), "Index Keywords": "",
        "PubMed ID": each.pmid,
        "Language of Original Document": each.language[0], "Abbreviated Source Title": each.abbreviation,
        "Document Type": "Article", "Publication Stage": "Final", "Source": "Scopus", "EID": f"2-s2.0-{each.number}",
    }  # fmt: skip


def cochrane_row(each: Invented) -> dict[str, object]:
    return {
        "CENTRAL ID": f"CN-{each.number:08}", "Author(s)": "; ".join(bare(each)),
        "Title": each.title.html.replace("-", "\u2010"), "Source": each.journal, "Year": each.year,
        "Abstract": each.abstract.html.replace("-", "\u2010"), "Volume": each.volume, "Issue": each.issue,
        "Pages": f"{each.first}\u2010{each.last}",
        "Database Name": "Cochrane Central Register of Controlled Trials (CENTRAL)", "PubMed ID": f"PUBMED {each.pmid}",
        "Embase ID": f"EMBASE {600_000_000 + each.number}", "CTgov ID": "", "CINAHL ID": "", "ICTRP ID": "",
        "Publication Type": "Journal article", "Keywords": "; ".join([f"*{each.keywords[0]}", *each.keywords[1:]]),
        "DOI": each.doi, "URL": f"https://www.cochranelibrary.com/central/doi/10.1002/central/CN-{each.number:08}/full",
        "Cochrane Review Group Code": "HS-HEAT",
    }  # fmt: skip


def embase_row(each: Invented) -> dict[str, object]:
    return {
        "Title": each.title.plain, "Original Title": "", "Author Names": ", ".join(dotted(each)),
        "Source": f"{each.journal} ({each.year}) 15:1 ({each.first}-{each.last}). Date of Publication: 1 Dec 2024",
        "Source title": each.journal, "Publication Year": each.year, "Volume": each.volume, "Issue": each.issue,
        "First Page": each.first, "Last Page": each.last, "Date of Publication": "1 Dec 2024",
        "Abstract": each.abstract.plain, "Author Keywords": "",
        "Emtree Medical Index Terms (Major Focus)": ", ".join(each.keywords[:1]),
        "Emtree Medical Index Terms": ", ".join(each.keywords[1:]), "Article Language": each.language[0],
        "Embase Accession ID": "", "Medline PMID": each.pmid, "PUI": f"L{each.number}", "DOI": each.doi,
        "Full Text Link": f"http://dx.doi.org/{each.doi}",
        "Embase Link": f"https://www.embase.com/search/results?id=L{each.number}&from=export",
        "Open URL Link": f"https://resolver.example/link?id=doi:{each.doi}&atitle=Erratum+DOI%3A+10.5555%2Fother%29",
    }  # fmt: skip


def dimensions_row(each: Invented) -> dict[str, object]:
    return {
        "Rank": each.number, "Publication ID": f"pub.10{each.number}", "DOI": each.doi, "PMID": each.pmid, "PMCID": "",
        "Title": each.title.html, "Abstract": f"<p>{each.abstract.html}</p>", "Source title": each.journal,
        "Anthology title": "", "MeSH terms": "; ".join(each.keywords), "Publication date": f"{each.year}-05-12",
        "PubYear": each.year, "Volume": each.volume, "Issue": each.issue, "Pagination": f"{each.first}-{each.last}",
        "Open Access": "Closed", "Publication Type": "Article", "Authors": "; ".join(full(each)),
        "Times cited": 3, "Dimensions URL": f"https://app.dimensions.ai/details/publication/pub.10{each.number}",
    }  # fmt: skip


def publish_or_perish_row(each: Invented) -> dict[str, object]:
    return {
        "Cites": 3, "Authors": ", ".join(scholar(each)), "Title": each.title.plain, "Year": each.year,
        "Source": each.journal,
        "Publisher": "north.example", "ArticleURL": f"https://cold.example/{each.number}",
        "CitesURL": f"https://scholar.google.com/scholar?cites={each.number}", "GSRank": each.number,
        "QueryDate": "2024-06-25 12:00:00", "Type": "HTML", "DOI": each.doi, "ISSN": "", "CitationURL": "",
        "Volume": each.volume,
        "Issue": each.issue, "StartPage": each.first, "EndPage": each.last, "ECC": 3, "CitesPerYear": "0.50",
        "CitesPerAuthor": 1, "AuthorCount": len(each.authors), "Age": 4, "Abstract": each.abstract.plain,
        "FullTextURL": "",
        "RelatedURL": f"https://scholar.google.com/scholar?q=related:{each.number}",
    }  # fmt: skip


def asreview_row(each: Invented) -> dict[str, object]:
    return {
        "title": each.title.html, "abstract": each.abstract.html, "authors": str(full(each)),
        "keywords": str([*each.keywords]),
        "year": each.year, "doi": each.doi, "url": f"https://cold.example/{each.number}",
        "asreview_label": each.number % 2,
        "asreview_time": "2024-06-25 12:00:00", "asreview_note": "", "asreview_prior": 0,
    }  # fmt: skip


Row = Callable[[Invented], Mapping[str, object]]


def table(row: Row, before: str = "", quoting: int = csv.QUOTE_MINIMAL) -> Callable[[list[Invented]], str]:
    def write(records: list[Invented]) -> str:
        rows, file = [row(each) for each in records], io.StringIO()
        writer = csv.DictWriter(file, list(rows[0]), quoting=quoting)  # type: ignore[arg-type]
        writer.writeheader()
        writer.writerows(rows)
        return before + file.getvalue()

    return write


def workbook(row: Row) -> Callable[[list[Invented]], bytes]:
    def write(records: list[Invented]) -> bytes:
        rows, book, file = [row(each) for each in records], openpyxl.Workbook(), io.BytesIO()
        for cells in (list(rows[0]), *(list(each.values()) for each in rows)):
            book.active.append(cells)
        book.save(file)
        return file.getvalue()

    return write


# All of them ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceSource:
    """A program that writes records, and what its form lacks."""

    file: str
    write: Callable[[list[Invented]], str | bytes]
    form: str
    database: str
    authors: Callable[[Invented], list[str]] = full
    journal: Callable[[Invented], str] = lambda each: each.journal
    lacks: frozenset[str] = frozenset()
    title_end: str = ""
    skipped: Callable[[int], int] = lambda records: 0
    """Lines of text outside a number of records."""

    def data(self, records: list[Invented]) -> bytes:
        text = self.write(records)
        return text if isinstance(text, bytes) else text.encode()

    def expected(self, each: Invented) -> dict[str, object]:
        """What a reader makes of a publication."""
        fields: dict[str, object] = {
            "title": each.title.plain + self.title_end, "abstract": each.abstract.plain, "authors": self.authors(each),
            "year": each.year, "journal": self.journal(each), "pages": f"{each.first}-{each.last}", "doi": each.doi,
            "pmid": each.pmid, "keywords": [*each.keywords], "language": each.language[0],
        }  # fmt: skip
        return {name: value for name, value in fields.items() if name not in self.lacks}


def lacks(*fields: str) -> frozenset[str]:
    return frozenset(fields)


SOURCES: dict[str, ReferenceSource] = {
    "Ovid Embase, RIS": ReferenceSource(
        "embase.ris", ovid_embase, "ris", "Embase", dotted, lacks=lacks("pmid"), skipped=lambda n: 2 * n + 3
    ),
    "Ovid MEDLINE, RIS": ReferenceSource(
        "medline.ris", ovid_medline, "ris", "MEDLINE", dotted, skipped=lambda n: 2 * n
    ),
    "Ovid MEDLINE without database, RIS": ReferenceSource("medline.ris", ovid_without_database, "ris", "MEDLINE"),
    "Embase.com, RIS": ReferenceSource("records.ris", embase, "ris", "Embase", bare),
    "Cochrane, RIS": ReferenceSource(
        "citation-export.ris",
        cochrane,
        "ris",
        "Cochrane Library",
        bare,
        lacks=lacks("language"),
        skipped=lambda n: 3 * n,
    ),
    "Cochrane, RIS (EndNote)": ReferenceSource(
        "citation-export.ris",
        cochrane_endnote,
        "ris",
        "Cochrane Library",
        bare,
        lacks=lacks("language"),
        skipped=lambda n: 3 * n,
    ),
    "PubMed, RIS": ReferenceSource("citations.ris", pubmed_ris, "ris", "PubMed"),
    "Scopus, RIS": ReferenceSource("scopus.ris", scopus_ris, "ris", "Scopus", short, skipped=lambda n: 2),
    "Web of Science, RIS": ReferenceSource(
        "savedrecs.ris",
        wos_ris,
        "ris",
        "Web of Science",
        journal=lambda each: each.journal.upper(),
        lacks=lacks("pmid"),
    ),
    "ProQuest, RIS": ReferenceSource("ProQuest.ris", proquest, "ris", "APA PsycInfo", lacks=lacks("pmid")),
    "EBSCO, RIS": ReferenceSource("delivery.ris", ebsco, "ris", "CINAHL", title_end="."),
    "EndNote, RIS": ReferenceSource("endnote.ris", endnote_ris, "ris", "PubMed"),
    "Zotero, RIS": ReferenceSource("zotero.ris", zotero_ris, "ris", ""),
    "Dimensions, RIS": ReferenceSource(
        "dimensions.ris", dimensions_ris, "ris", "Dimensions", lacks=lacks("language", "keywords")
    ),
    "Rayyan, RIS": ReferenceSource("articles.ris", rayyan_ris, "ris", "Embase", short, lacks=lacks("pmid")),
    "Mendeley, RIS": ReferenceSource("mendeley.ris", mendeley, "ris", "", lacks=lacks("pmid")),
    "JabRef, RIS": ReferenceSource("jabref.ris", jabref_ris, "ris", "", lacks=lacks("pmid")),
    "Web of Science, ciw": ReferenceSource(
        "savedrecs.ciw", ciw, "ciw", "Web of Science", journal=lambda each: each.journal.upper()
    ),
    "EndNote, XML": ReferenceSource("endnote.xml", endnote_xml, "endnote", "MEDLINE"),
    "EndNote, refer": ReferenceSource("endnote.enw", refer, "refer", "PubMed"),
    "Zotero, BibTeX": ReferenceSource("zotero.bib", bibtex, "bibtex", ""),
    "Scopus, BibTeX": ReferenceSource("scopus.bib", scopus_bibtex, "bibtex", "Scopus", short, skipped=lambda n: 2),
    "PubMed, nbib": ReferenceSource("pubmed-set.nbib", nbib, "nbib", "PubMed", title_end="."),
    "PubMed, XML": ReferenceSource("pubmed.xml", pubmed_xml, "pubmed", "PubMed", title_end="."),
    "Zotero, CSV": ReferenceSource("zotero.csv", table(zotero_row, "\ufeff", csv.QUOTE_ALL), "table", "PubMed"),
    "Rayyan, CSV": ReferenceSource("articles.csv", table(rayyan_row), "table", ""),
    "Covidence, CSV": ReferenceSource(
        "review.csv", table(covidence_row), "table", "", short, lacks=lacks("pmid", "language")
    ),
    "Cochrane, CSV": ReferenceSource(
        "citation-export.csv", table(cochrane_row), "table", "Cochrane Library", bare, lacks=lacks("language")
    ),
    "Embase.com, CSV": ReferenceSource(
        "records.csv", table(embase_row, '"SEARCH QUERY","attic:ti"\n-------------\n\n'), "table", "Embase", dotted
    ),
    "Scopus, CSV": ReferenceSource("scopus.csv", table(scopus_row, "\ufeff"), "table", "Scopus"),
    "Dimensions, CSV": ReferenceSource(
        "dimensions.csv",
        table(dimensions_row, '"About the data: Exported on Jun 25, 2024. Criteria: heat, cold."\r\n'),
        "table",
        "Dimensions",
        lacks=lacks("language"),
    ),
    "Publish or Perish, CSV": ReferenceSource(
        "PoPCites.csv",
        table(publish_or_perish_row, "\ufeff"),
        "table",
        "Google Scholar",
        scholar,
        lacks=lacks("pmid", "language", "keywords"),
    ),
    "ASReview, CSV": ReferenceSource(
        "asreview.csv", table(asreview_row), "table", "", lacks=lacks("pmid", "language", "journal", "pages")
    ),
    "Zotero, XLSX": ReferenceSource("zotero.xlsx", workbook(zotero_row), "table", "PubMed"),
    "Rayyan, XLSX": ReferenceSource("articles.xlsx", workbook(rayyan_row), "table", ""),
    "Covidence, XLSX": ReferenceSource(
        "review.xlsx", workbook(covidence_row), "table", "", short, lacks=lacks("pmid", "language")
    ),
    "Scopus, XLSX": ReferenceSource("scopus.xlsx", workbook(scopus_row), "table", "Scopus"),
    "Dimensions, XLSX": ReferenceSource(
        "dimensions.xlsx", workbook(dimensions_row), "table", "Dimensions", lacks=lacks("language")
    ),
    "Publish or Perish, XLSX": ReferenceSource(
        "PoPCites.xlsx",
        workbook(publish_or_perish_row),
        "table",
        "Google Scholar",
        scholar,
        lacks=lacks("pmid", "language", "keywords"),
    ),
    "ASReview, XLSX": ReferenceSource(
        "asreview.xlsx", workbook(asreview_row), "table", "", lacks=lacks("pmid", "language", "journal", "pages")
    ),
}
