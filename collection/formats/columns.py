"""Names that columns have in files and in other tools."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import pandas as pd

from collection.core.errors import InputError
from collection.core.frames import Schema, index_to_columns
from collection.core.records import Run
from collection.formats.fields import DOC_ID, LABEL_ALIASES, TEXT

BEFORE = 5
"""Lines of text that may stand before a header, as in exports of Dimensions."""

RUN_NAMES = ("run", "system", "tag")
"""Columns with the name of the run, where a frame has several."""

_GRADES = ("label", "rel", "relevance", "grade")
_NAMES = {
    **LABEL_ALIASES,
    "relevance": _GRADES,
    "grade": _GRADES,
    "run": RUN_NAMES,
    "title": ("query",),
}
"""Names of each column in other tools. pyterrier's ``query`` is usually a text, so the last choice for an id."""


REFERENCE_COLUMNS = {
    "title": """
        title, article title, document title, item title, primary title, title primary, ti, t1,
        chapter title, display name, study title, public title, scientific title,
        titel, titre, título, titulo, titolo, tittel, otsikko, tytuł, başlık,
        заглавие, название, 标题, 题名, 篇名, タイトル, 제목, original title, translated title, other title
    """,
    "abstract": """
        abstract, abstract note, abstracts, notes abstract, abstract text, article abstract, ab, n2,
        abstract (english), zusammenfassung, kurzfassung, résumé, resume, resumen, resumo,
        riassunto, sommario, samenvatting, sammanfattning, sammendrag, resumé, tiivistelmä,
        streszczenie, özet, аннотация, 摘要, 要旨, 抄録, 초록, summary, brief summary, description
    """,
    "authors": """
        author full names, authors, author, author(s), author/s, author names, authors list, first
        authors, af, au, a1, creator, creators, contributors,
        authorships.author.display name, autoren, autor, autor(en), autor/in, autor*in,
        verfasser, auteurs, auteur, auteur(s), autores, autor(es), autori, autore, författare,
        forfatter, forfattere, autorzy, yazar, авторы, 作者, 著者, 저자, first author, author last names,
        editor, editors
    """,
    "year": """
        year, publication year, published year, year of publication, year published, pub year,
        pubyear, py, y1, yr, jahr, erscheinungsjahr, publikationsjahr, année, année de publication,
        annee, año, año de publicación, ano, anno, jaar, år, rok, yıl, год, 年, 发表年份, 연도, publication
        date, date published, published, pubdate, publicationdate, publication date (online), date,
        issue date, cover date, online date,
        copyright year, date of publication, date registration, first posted, publish time, datum, fecha, data
    """,
    "journal": """
        journal, journal/book, journal / book, journal name, journal title, full journal, source
        title, publication title, publication name, secondary title, container title, pubtitle, host
        publication, periodical full, periodical, publication, venue, conference name, conference,
        primary location.source.display name,
        book title, series title, t2, so, jo, jf, zeitschrift, revue, revista, rivista, tijdschrift,
        tidskrift, tidsskrift, czasopismo, dergi, журнал, 期刊, 雑誌, 학술지, source, journal abbreviation,
        abbreviated source title
    """,
    "pages": """
        pages, page, page info, page range, page ranges, pagination, seiten, páginas, pagine, strony,
        страницы, 页码, ページ
    """,
    "first page": """
        start page, page start, first page, startpage, pagestart, firstpage, beginning page, begin page, spage,
        biblio.first page, sp, bp
    """,
    "last page": "end page, page end, last page, endpage, pageend, lastpage, ending page, epage, biblio.last page, ep",
    "article number": "art. no., art no, article number, article no., articleno, eid number",
    "doi": """
        doi, dois, digital object identifier, digitalobjectidentifier, digital object identifier (doi), doi link,
        article doi, item doi, doi number, doi/url, do, di
    """,
    "pmid": """
        pmid, pubmed id, pubmedid, pubmed, medline pmid, pubmed pmid, pmid number, pubmed id number, ids.pmid, pm
    """,
    "keywords": """
        keywords, keyword, author keywords, author supplied keywords, manual tags, tags, labels, kw,
        de, schlagwörter, schlüsselwörter, stichwörter, mots-clés, mots clés, palabras clave,
        palavras-chave, parole chiave, trefwoorden, nyckelord, nøkkelord, słowa kluczowe, 关键词,
        キーワード, 키워드, mesh terms, mesh, mesh headings, index keywords, keywords plus, ieee terms,
        subject terms, subjectterms, subjects, subject, identifierkeywords, automatic tags, emtree drug index
        terms (major focus), emtree medical index terms (major focus), emtree medical index terms, emtree drug index
        terms, emtree device index terms, emtree index terms, fields of study,
        inspec controlled terms, inspec non-controlled terms, mesh headings (terms), mesh term, keyphrases,
        thesaurus terms, key words, keywords.display name
    """,
    "language": """
        language, languages, article language, language of original document, original language, language of
        publication, la, lang,
        sprache, sprachen, langue, langues, idioma, lingua, taal, språk, sprog, kieli, język, dil, язык, 语言, 言語,
        언어
    """,
    "notes": "extra",
    "registration": "nct number, trialid",
    "url": """
        url, urls, study url, link, links, web address, weblink, enlace, lien, articleurl, article url, source
        urls, external url, source linkout, documenturl, document url, plink, pdf link, full text
        link, fulltexturl, doi url
    """,
}
"""Field of a bibliographic record -> names of its column, usual ones first, in the tables of Zotero, EndNote, JabRef,
Mendeley, RefWorks, Rayyan, Covidence, DistillerSR, EPPI-Reviewer, ASReview, PubMed, Scopus, Web of Science, Embase,
Ovid, Cochrane, EBSCO, ProQuest, IEEE, ACM, Springer, Dimensions, Lens, OpenAlex, Semantic Scholar, Publish or Perish,
ClinicalTrials.gov and ICTRP, and in other languages."""

IGNORED_COLUMNS = """
    key, item type, type, volume, journal volume, vl, band, issue, journal issue, issue number, number, is, heft, issn,
    sn, eissn, ei, isbn, publisher, verlag, pu, dt, pt, date added, date modified, access date, accession number, notes,
    note,
    citation, cited by, cites, page count, document type, publication
    type, eid, ut, affiliations, author affiliations, pmcid, nihms id, create date, library catalog, archive,
    rights, place, country, published month, month, day, covidence #, study, ref, short title, rank, record id,
    open access, authors with affiliations, correspondence address, references, funding details,
    database, author(s) id, author ids, location, pmc id, isi id, publication stage, publication id, anthology title,
    times cited, recent citations, altmetric, dimensions url, source id, citesurl, gsrank, querydate, citationurl, ecc,
    citesperyear, citesperauthor, authorcount, age, relatedurl, coden, conference location, conference date,
    conference code, editors, sponsors, publisher item identifier, file attachments, link attachments, num pages,
    number of volumes, series, series text, series number, call number, archive location, item id
"""
"""Names of columns that are known and left out."""


def _names(listed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (" ".join(name.split()) for name in listed.split(",")))))


RECORD_TAGS = {
    "ris": {
        "title": "TI T1 CT BT TT ST",
        "abstract": "AB N2",
        "authors": "AU A1 A2 A3 A4 ED",
        "year": "PY Y1 YR DA Y2",
        "journal": "T2 JF JO SO JA J2 J1 BT T3",
        "pages": "PG",
        "first page": "SP",
        "last page": "EP",
        "article number": "C7",
        "doi": "DO DOI DI",
        "other doi": "L3 M3",
        "pmid": "PMID PM",
        "accession": "AN C1 C2 C3 C4 C5 C6 C8 U1",
        "notes": "N1",
        "keywords": "KW",
        "language": "LA",
        "url": "UR L2 US L1",
    },
    "ciw": {
        "title": "TI",
        "abstract": "AB",
        "authors": "AF AU BF BA CA GP BE",
        "year": "PY EY EA PD",
        "journal": "SO JI J9 SE",
        "first page": "BP",
        "last page": "EP",
        "article number": "AR",
        "doi": "DI D2",
        "pmid": "PM",
        "keywords": "DE ID",
        "language": "LA",
        "url": "DL",
    },
    "refer": {
        "title": "%T",
        "abstract": "%X",
        "authors": "%A %E",
        "year": "%D %8",
        "journal": "%J %B %S",
        "pages": "%P",
        "doi": "%R",
        "pmid": "PMID",
        "keywords": "%K",
        "language": "%G",
        "url": "%U",
    },
    "refworks": {
        "title": "T1 T2",
        "abstract": "AB",
        "authors": "A1 A2",
        "year": "YR FD",
        "journal": "JF JO T2 T3",
        "first page": "SP",
        "last page": "OP",
        "doi": "DO",
        "pmid": "PMID",
        "accession": "AN U1 U2 U3 U4 U5",
        "notes": "NO",
        "keywords": "K1",
        "language": "LA",
        "url": "UL LK",
    },
    "nbib": {
        "title": "TI BTI TT",
        "abstract": "AB OAB",
        "authors": "FAU AU CN FED ED",
        "year": "DP DEP",
        "journal": "JT TA",
        "pages": "PG",
        "other doi": "LID AID",
        "pmid": "PMID",
        "keywords": "OT MH",
        "language": "LA",
    },
    "cochrane": {
        "title": "TI",
        "abstract": "AB",
        "authors": "AU",
        "year": "YR",
        "journal": "SO",
        "pages": "PG",
        "doi": "DOI",
        "pmid": "PM",
        "keywords": "KY MH",
        "url": "US UR",
    },
    "endnote": {
        "registration": "registration",
        "title": "title vernaculartitle",
        "abstract": "abstract",
        "authors": "authors",
        "year": "year",
        "journal": "journal",
        "pages": "pages",
        "first page": "startpage",
        "last page": "endpage",
        "doi": "doi",
        "other doi": "articleid",
        "pmid": "pmid",
        "keywords": "keywords",
        "language": "language",
        "url": "url",
    },
    "csl": {
        "title": "title original-title",
        "abstract": "abstract",
        "authors": "author",
        "year": "issued",
        "journal": "container-title collection-title event-title event",
        "pages": "page",
        "first page": "page-first",
        "article number": "number",
        "doi": "DOI",
        "pmid": "PMID",
        "accession": "note",
        "keywords": "keyword",
        "language": "language",
        "url": "URL",
    },
    "bibtex": {
        "title": "title booktitle",
        "abstract": "abstract",
        "authors": "author editor",
        "year": "year date",
        "journal": "journal journaltitle booktitle series",
        "pages": "pages",
        "article number": "articleno eid article-number",
        "doi": "doi",
        "pmid": "pmid",
        "accession": "note",
        "keywords": "keywords author_keywords keywords-plus keyword mendeley-tags mesh",
        "language": "language langid",
        "url": "url link",
    },
}  # fmt: skip
"""Format -> field of a bibliographic record -> its tags, usual ones first.

``other doi`` and ``accession`` have what may be a DOI or a PMID, or something else. The readers of RIS, Refer
and RefWorks give the accession number of a record of PubMed the tag ``PMID``.
"""
RECORD_TAGS["pubmed"] = RECORD_TAGS["endnote"]  # one reader of XML names the fields of both

_CIW_OTHERS = """
    PT BA BE GP BF CA SE BS LA DT CT CY CL SP HO C1 C3 RP EM RI OI FU FP FX CR NR TC Z9 U1 U2 PU PI PA SN EI BN PD VL
    IS PN SU SI MA EA PG WC WE SC GA OA HC HP DA UT ER EF FN VR SE
"""
"""Tags of Web of Science that are known and left out."""

_KNOWN = {
    name: (field, place) for field, listed in REFERENCE_COLUMNS.items() for place, name in enumerate(_names(listed))
}
_IGNORED = frozenset(_names(IGNORED_COLUMNS))
_HEADS = frozenset((
    *(plain.replace("_", " ") for known in (DOC_ID, TEXT, *LABEL_ALIASES.values()) for plain in known),
    *_names(
        "nr, nr., nummer, numéro, número, numero, identifier, uid, inhalt, content, contenu, contenido, contenuto, "
        "document, dokument, documento, passage"
    ),
))  # fmt: skip
"""Other names that show that a line is a header."""


def plain_name(name: str) -> str:
    """A column's name as names are compared: without case, underscores, quotation marks and colons.

    >>> plain_name(" Published_Year: "), plain_name('"Mots-Clés"')
    ('published year', 'mots-clés')
    """
    return " ".join(unicodedata.normalize("NFC", name).strip(" \t\"'\ufeff:").replace("_", " ").lower().split())


@lru_cache(maxsize=64)
def reference_fields(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Field of a bibliographic record -> the columns that have it, usual ones first."""
    columns_of: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        if (known := _KNOWN.get(plain_name(name))) is not None:
            columns_of.setdefault(known[0], []).append((known[1], name))
    if len(journals := columns_of.get("journal", [])) > 1:  # beside a journal, the source is a database
        columns_of["journal"] = [each for each in journals if plain_name(each[1]) != "source"]
    return {field: [name for _, name in sorted(numbered)] for field, numbered in columns_of.items()}


def tagged_fields(form: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Field of a record in a format of :data:`RECORD_TAGS` -> the tags that have it, usual ones first.

    >>> tagged_fields("ris", ["T1", "N2", "AB"])
    {'title': ['T1'], 'abstract': ['AB', 'N2']}
    """
    present = frozenset(names)
    tags_of = {field: [tag for tag in tags.split() if tag in present] for field, tags in RECORD_TAGS[form].items()}
    return {field: tags for field, tags in tags_of.items() if tags}


def is_ciw(names: Iterable[str]) -> bool:
    """Tell whether the columns of a table are tags of Web of Science, of which ``ID`` has keywords.

    >>> is_ciw(["PT", "AU", "TI", "SO", "ID"]), is_ciw(["id", "ti", "ab"])
    (True, False)
    """
    present = {name.strip(" \ufeff").upper() for name in names}
    return {"PT", "TI"} <= present and bool(present & {"AU", "AF", "SO", "UT"})


def is_field(cell: str) -> bool:
    """Tell whether a cell is the name of a field of bibliographic records."""
    return plain_name(cell) in _KNOWN


def is_name(cell: str) -> bool:
    """Tell whether a cell is the name of a column that some reader knows."""
    plain = plain_name(cell)
    return plain in _KNOWN or plain in _HEADS


def count_known(cells: Iterable[str]) -> int:
    """Count the different names of columns among the cells."""
    return sum(is_name(cell) for cell in {cell.strip().lower() for cell in cells})


def unknown_names(names: Iterable[str]) -> list[str]:
    """The columns that a reader of bibliographic records does not know."""
    names = tuple(names)
    if is_ciw(names):
        known = {*_CIW_OTHERS.split(), *" ".join(RECORD_TAGS["ciw"].values()).split()}
        return [name for name in names if name.strip() and name.strip().upper() not in known]
    return [name for name in names if (plain := plain_name(name)) and plain not in _KNOWN and plain not in _IGNORED]


def rename_columns(frame: pd.DataFrame, schema: Schema, what: str = "") -> pd.DataFrame:
    """The frame with the columns of `schema` under our names."""
    if isinstance(frame, pd.DataFrame):
        frame = index_to_columns(frame)
        wanted = [column for column in schema.names if column not in frame]
        renamed: dict[str, str] = {}
        for column in wanted:
            candidates = (name for name in _NAMES.get(column, ()) if name in frame and name not in renamed)
            renamed[next(candidates, column)] = column
        frame = frame.rename(columns=renamed)
    return schema.check(frame, what)


def to_pyterrier(frame: pd.DataFrame | Run) -> pd.DataFrame:
    """Topics, documents, qrels or a run with the column names of PyTerrier.

    Parameters
    ----------
    frame
        A frame of :data:`collection.core.frames.TOPICS`, ``DOCUMENTS``, ``QRELS`` or ``RUN``, or a Run.

    Returns
    -------
    DataFrame
        ``qid`` for ``query_id``, ``docno`` for ``doc_id``, ``label`` for ``relevance``, and ``query`` for the title of
        a topic; ranks begin at 0. ``listed`` is left out, since it does not hold once PyTerrier has changed scores.
        Other columns keep their names.

    Raises
    ------
    InputError
        `frame` is neither.

    Examples
    --------
    >>> to_pyterrier(pd.DataFrame({"query_id": ["1"], "doc_id": ["d7"], "relevance": [2]})).columns.tolist()
    ['qid', 'docno', 'label']
    """
    given = frame.frame if isinstance(frame, Run) else frame
    if not isinstance(given, pd.DataFrame):
        raise InputError(f"to_pyterrier: expected a frame or a Run, found {type(given).__name__}")
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    if "doc_id" not in given:
        names["title"] = "query"
    renamed = given.rename(columns=names)
    if not {"rank", "score"} <= set(renamed):
        return renamed
    return renamed.assign(rank=renamed["rank"] - 1).drop(columns="listed", errors="ignore")
