"""Duplicates among bibliographic records, found when they are imported."""

import csv
import gzip
from pathlib import Path

import pytest
import rispy

from collection import formats
from collection.campaign import Campaign
from collection.core.errors import ConflictError
from collection.core.records import Document
from collection.core.review import Review
from collection.documents.duplicate_records import RecordIndex
from tests.helpers import ok, run

NBIB = "PMID- 31234567\nTI  - Heat pumps in old houses.\nDP  - 2019 May\nAID - 10.5555/hp.1 [doi]\n"


def record(title: str, year: str = "2019", **more: object) -> dict[str, object]:
    return {"type_of_reference": "JOUR", "title": title, "year": year, **more}


def ris(path: Path, *records: dict[str, object]) -> Path:
    path.write_text(rispy.dumps(list(records)))
    return path


@pytest.fixture
def review(tmp_path: Path) -> Path:
    ok("new", tmp_path / "review", "--grades", "0-1")
    return tmp_path / "review"


PUBLISHED: list[tuple[dict[str, object], str | None]] = [
    ({"doi": "https://doi.org/10.5555/HP.1"}, "DOI"),
    ({"pmid": 31234567}, "PMID"),
    ({"title": "Heat Pumps -- in old houses.", "year": "2019/05"}, "title and year"),
    ({"title": "Heat pumps in old houses. Cold House 030 Study Group.", "year": 2019}, "title and year"),
    ({"title": "Heat pumps in old houses", "year": 2019, "pmid": "31234567"}, "PMID"),
    ({"title": "Heat pumps in old houses", "year": 2018}, None),
    ({"title": "Heat pumps in old houses", "year": 2019, "doi": "10.5555/other"}, None),
    ({"title": "Heat pumps in old houses", "year": 2019, "pmid": "1"}, None),
    ({"title": "Heat pumps in old houses"}, "title, other year"),
    ({"title": "", "year": 2019}, None),
    ({"title": "...", "year": 2019}, None),
]


@pytest.mark.parametrize(("found", "reason"), PUBLISHED)
def test_what_makes_a_duplicate(found: dict[str, object], reason: str | None) -> None:
    published = {"year": 2019, "doi": "10.5555/hp.1", "pmid": "31234567"}
    index = indexed(
        Document("a", "Heat pumps in old houses", "", published),
        Document("b", "", "", {"year": 2019}),
        Document("c", "???", "", {"year": 2019}),
    )
    match = index.find(Document("d", str(found.get("title", "")), "", found))
    assert (match and (match.doc_id, match.reason)) == (reason and ("a", reason))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Ten houses.", "TEN HOUSES", "title and abstract"),
        ("Ten houses.", "", "title"),
        ("", "Ten houses.", "title"),
        ("", "", "title"),
        ("Ten houses.", "Two cellars.", None),
    ],
)
def test_without_a_year_the_abstracts_must_agree(first: str, second: str, reason: str | None) -> None:
    """As ASReview, which removes records with the same title and abstract (asreview 2, `asreview.data.ops`)."""
    index = indexed(Document("a", "Editorial", first, {}))
    match = index.find(Document("b", "Editorial", second, {}))
    assert (match and (match.doc_id, match.reason)) == (reason and ("a", reason))


BERG = {"authors": ["Berg, Tor", "Lund, K."], "year": 2019, "journal": "Journal of Cold Houses", "pages": "12-19"}
LONG = (
    "Attics were insulated in forty houses of two cold regions, and heat losses were measured for three winters with "
    "meters that tenants could read. Losses fell by half."
)
ALIKE: dict[str, tuple[tuple[str, str, dict[str, object]], tuple[str, str, dict[str, object]], bool | None]] = {
    # distinct publications
    "replies": (("Reply", "We thank.", BERG), ("Reply.", "We agree.", BERG | {"authors": ["Alm A"]}), None),
    "replies by one author": (("Reply", "We thank.", BERG), ("Reply", "We agree.", BERG), False),
    "posters of a supplement": (
        ("Poster abstracts", "Pumps.", BERG | {"pages": "S1"}),
        ("Poster abstracts", "Fans.", BERG | {"authors": ["Ek"], "pages": "S4"}),
        None,
    ),
    "editorials of two issues": (("Editorial", "", BERG), ("Editorial", "", BERG | {"pages": "101"}), False),
    "editorials of two journals": (
        ("Editorial", "", {"year": 2019, "journal": "Cold"}), ("Editorial", "", {"year": 2019, "journal": "Heat"}), None
    ),
    "an editorial of which nothing is known": (("Editorial", "", BERG), ("Editorial", "", {"year": 2019}), False),
    "a title of two groups": (
        ("Attic losses in cold regions", "", BERG),
        ("Attic losses in cold regions", "", {"year": 2019, "authors": ["Alm A"], "journal": "Heat"}),
        None,
    ),
    "another first author": (
        ("Attic losses in cold regions", "", BERG), ("Attic losses in cold regions", "", BERG | {"authors": ["Alm A"]}),
        False,
    ),
    "another abstract": (
        ("Attic losses in cold regions", LONG, {"year": 2019}),
        ("Attic losses in cold regions", "Roofs.", {"year": 2019}),
        False,
    ),
    "an earlier version": (("Attic losses in cold regions", "", BERG), ("Attic losses in cold regions", "",
                           BERG | {"year": 2018}), False),
    "a preprint": (
        ("Attic losses in cold regions", "", BERG | {"doi": "10.5555/a"}),
        ("Attic losses in cold regions", "", BERG | {"doi": "10.5555/preprint.a"}),
        False,
    ),
    "abstracts under the DOI of their supplement": (
        ("Attic losses in cold regions", LONG, BERG | {"doi": "10.5555/suppl"}),
        ("Noise of ventilation fans in flats", "Fans are loud.", BERG | {"doi": "10.5555/suppl", "authors": ["Ek P"]}),
        False,
    ),
    "one of two DOIs": (("x", "", {"doi": "10.5555/a"}), ("y", "", {"doi": "10.5555/a; 10.5555/b"}), False),
    "the abstract under another title": (("Dachverluste", LONG, BERG), ("Attic losses", LONG, BERG), False),
    "a paper and its conference abstract": (
        ("Attic losses in cold regions", LONG, BERG),
        ("Attic losses in cold regions", LONG, BERG | {"journal": "Proceedings of Heat 19", "pages": "S7"}),
        False,
    ),
    "an erratum under the DOI of its paper": (
        ("Attic losses in cold regions", LONG, BERG | {"doi": "10.5555/a"}),
        ("Erratum: Attic losses in cold regions", "", BERG | {"doi": "10.5555/a"}),
        False,
    ),
    "a reply": (("Attic losses in cold regions", "", BERG), ("Reply: Attic losses in cold regions", "", BERG), None),
    "two parts": (
        ("Attic losses in cold regions. Part I", "", BERG), ("Attic losses in cold regions. Part II", "", BERG), None
    ),
    "two trials with one title": (
        ("Attic losses in cold regions", f"{LONG} NCT00000001", BERG),
        ("Attic losses in cold regions", f"{LONG} NCT00000002", BERG),
        False,
    ),
    "two registered trials with one title": (
        ("Attic losses in cold regions", "", {"year": 2019, "registration": "CTRI/2019/12/1"}),
        ("Attic losses in cold regions", "", {"year": 2019, "registration": "CTRI/2019/12/2"}),
        False,
    ),
    "a registered trial in two registers": (
        ("Attic losses in cold regions", "", {"year": 2019, "registration": "EUCTR2019-000123-12-DE"}),
        ("Attic losses in cold regions", "", {"year": 2019, "url": "https://who.example/?id=EUCTR2019-000123-12"}),
        True,
    ),
    "a title and a year alone": (
        ("Attic losses in cold regions", "", BERG), ("Attic losses in cold regions", "", {"year": 2019}), False
    ),
    "a translated abstract": (
        ("Attic losses in cold regions", LONG, BERG),
        ("Attic losses in cold regions", "Dachverluste wurden in vierzig Häusern gemessen.", BERG),
        False,
    ),
    "a typing error in the title": (
        ("Attic losses in very cold regions of Norway", "", BERG),
        ("Atic losses in very cold regions of Norway", "", BERG),
        False,
    ),
    # one publication
    "an abstract that was cut": (
        ("Attic losses in cold regions", f"{LONG} {LONG[::-1]}", BERG | {"pages": ""}),
        ("Attic losses in cold regions", LONG, BERG | {"pages": ""}),
        True,
    ),
    "a journal abbreviated, a name in another form": (
        ("Attic losses in cold regions", "", BERG),
        ("ATTIC LOSSES in cold regions.", "", {"authors": ["T. Berg"], "year": "2019", "journal": "J Cold Houses"}),
        True,
    ),
    "accents, markup, signs and hyphens": (
        ("Étude of CO2: attic & roof-losses", "", {"year": 2019}),
        ("<i>Etude</i> of CO<sub>2</sub>: attic and roof losses", "", {"year": 2019}),
        True,
    ),
    "an abstract with a copyright": (
        ("Attic losses", LONG, {"year": 2019}),
        ("Attic losses", f"BACKGROUND: {LONG} (C) 2019 North Press", {"year": 2019}),
        False,
    ),
    "the same author and a corrected abstract": (
        ("Attic losses in cold regions", LONG, BERG), ("Attic losses in cold regions", "Dachverluste.", BERG), False
    ),
    "the abstract in the year of the issue": (
        ("Attic losses", LONG, BERG), ("Attic losses", LONG, BERG | {"year": 2020}), True
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ALIKE)
def test_certain_and_possible_duplicates(case: str) -> None:
    """A record that is left out by mistake is lost; one that is kept by mistake is listed."""
    one, other, certain = ALIKE[case]
    for first, second in ((one, other), (other, one)):
        match = indexed(Document("a", *first)).find(Document("b", *second))
        assert (match and match.certain) is certain, match


def test_a_duplicate_tells_what_its_first_record_lacks() -> None:
    """Three editorials of a year: a record without a DOI is one of two publications, not both."""
    index = indexed(*(Document("a", "Editorial", "", {"year": 2019, "doi": doi}) for doi in ("", "10.5555/1")))
    assert index.find(Document("c", "Editorial", "", {"year": 2019, "doi": "10.5555/2"})) is None
    index = indexed(Document("a", "Editorial", "", {}), Document("a", "Editorial", "On heat.", {}))
    assert index.find(Document("c", "Editorial", "On cellars.", {})) is None


def indexed(*records: Document) -> RecordIndex:
    index = RecordIndex()
    for each in records:
        index.add(each)
    return index


def test_records_of_several_files_are_imported_once(review: Path, tmp_path: Path) -> None:
    first = ris(
        tmp_path / "embase.ris",
        record("Heat pumps in old houses", doi="10.5555/hp.1", abstract="Ten houses.", authors=["Berg T"]),
        record("Cellars", doi="10.5555/c"),
        record("Heat pumps, in old houses!", authors=["Berg, Tor"]),
    )
    (tmp_path / "pubmed.nbib").write_text(NBIB)
    result = ok("import", review, "--documents", first, "--documents", tmp_path / "pubmed.nbib")
    assert f"{first}: 2 documents (2 new); 3 records read, 2 kept, 1 left out as a duplicate" in result
    assert "pubmed.nbib: 0 documents (0 new); 1 record read, 0 kept, 1 left out as a duplicate" in result
    listed = tmp_path / "duplicates.csv.gz"
    again = ["import", review, "--documents", first, "--documents", tmp_path / "pubmed.nbib", "--duplicates", listed]
    printed = ok(*again)
    assert f"{first}: 2 documents (0 new, 2 unchanged)" in printed
    assert f"{listed}: 4 duplicates\n" in f"{printed}\n"
    with gzip.open(listed, "rt") as file:
        rows = [(row["line"], row["duplicate_of"], row["reason"], row["left_out"]) for row in csv.DictReader(file)]
    assert rows == [
        ("2", "10.5555/hp.1", "id and content", "True"),
        ("11", "10.5555/c", "id and content", "True"),
        ("18", "10.5555/hp.1", "title and year", "True"),
        ("1", "10.5555/hp.1", "DOI", "True"),
    ]


def test_the_same_record_of_two_databases_is_a_duplicate(review: Path, tmp_path: Path) -> None:
    """It has the same id and content; a PRISMA diagram counts it as identified and as removed."""
    records = record("Wings", doi="10.5555/w"), record("Lift", doi="10.5555/l")
    first, second = ris(tmp_path / "a.ris", *records), ris(tmp_path / "b.ris", records[0])
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(documents=[first, second])
        assert [(d.file, d.doc_id, d.duplicate_of, d.reason, d.left_out) for d in report.duplicates] == [
            (str(second), "10.5555/w", "10.5555/w", "id and content", True)
        ]
        assert report.done == [
            f"{first}: 2 documents (2 new); 2 records read, 2 kept, 0 left out as duplicates",
            f"{second}: 1 document (0 new, 1 unchanged); 1 record read, 0 kept, 1 left out as a duplicate",
        ]
        assert len(campaign.imports.import_files(documents=[second]).duplicates) == 1
        assert len(campaign.imports.import_files(documents=[second], replace=True).duplicates) == 1


def test_contradicting_labels_of_a_record_and_its_duplicate(review: Path, tmp_path: Path, left_out: str) -> None:
    (tmp_path / "labels.csv").write_text(
        f"annotator,query_id,doc_id,relevance\nann,1,{left_out},1\nann,1,10.5555/hp.1,0\n"
        f"bob,1,{left_out},0\nbob,1,10.5555/hp.1,0\nann,1,10.5555/c,0\n"
    )
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(
            documents=[tmp_path / "a.ris"], topics=tmp_path / "a.tsv", labels=tmp_path / "labels.csv"
        )
        said = "1 record and its left-out duplicates have different grades; the highest grade counts"
        assert f"{tmp_path / 'labels.csv'}: {said}" in report.notices
        assert campaign.results.agreement.labels()["relevance"].tolist() == [1, 0, 0]


def test_the_notice_counts_duplicates_and_names_the_first(review: Path, tmp_path: Path) -> None:
    path = ris(tmp_path / "a.ris", record("Wings"), *(record("Wings") for _ in range(5)))
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(documents=[path])
    (notice,) = report.notices[:1]
    assert notice.startswith(
        f"{path}: 5 duplicate records were left out (5 by title and year): line 8 (Wings) duplicates r"
    )
    assert notice.endswith("; 2 more")
    assert len(report.duplicates) == 5


def test_a_chain_of_records_is_one_publication(review: Path, tmp_path: Path) -> None:
    """The first and the third record match only the second one, which is left out."""
    link = "https://pubmed.ncbi.nlm.nih.gov/7/"
    path = ris(
        tmp_path / "a.ris",
        record("Wings of gliders", doi="10.5555/w"),
        record("The wings of gliders", doi="10.5555/w", urls=[link]),
        record("Wings of some gliders", "2020", urls=[link]),
    )
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(documents=[path])
        assert [(d.title, d.duplicate_of, d.reason) for d in report.duplicates] == [
            ("The wings of gliders", "10.5555/w", "DOI"), ("Wings of some gliders", "10.5555/w", "PMID")
        ]  # fmt: skip


def test_a_record_that_changed_is_a_duplicate_unless_it_replaces(review: Path, tmp_path: Path) -> None:
    ris(
        tmp_path / "a.ris",
        record("Wings", doi="10.5555/w", abstract="Old."),
        record("No year", year="", abstract="Old."),
    )
    ok("import", review, "--documents", tmp_path / "a.ris")
    ris(
        tmp_path / "a.ris",
        record("Wings", doi="10.5555/w", abstract="New."),
        record("No year", year="", abstract="New."),
    )
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(documents=[tmp_path / "a.ris"])
        assert [(d.title, d.reason) for d in report.duplicates] == [("Wings", "DOI")]
        report = campaign.imports.import_files(documents=[tmp_path / "a.ris"], replace=True)
        assert [(d.title, d.reason) for d in report.duplicates] == [("No year", "id and content")]
        assert campaign.store.corpus.documents(["10.5555/w"])["10.5555/w"].text == "New."
        texts = [d.text for d in campaign.store.corpus.documents_with_text(pooled=False) if d.title == "No year"]
        assert texts == ["Old.", "New."]


def test_documents_with_their_own_ids_are_imported(review: Path, tmp_path: Path) -> None:
    """Runs and qrels may name each of them."""
    path = tmp_path / "a.csv"
    path.write_text("doc_id,title,year,doi\nd1,Wings,2019,10.5555/w\nd2,Wings,2019,10.5555/W\nd3,Lift,2019,10.5555/l\n")
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(documents=[path])
        assert campaign.store.judgements.counts()["documents"] == 3
        assert [(d.doc_id, d.duplicate_of, d.left_out) for d in report.duplicates] == [("d2", "d1", False)]
        assert "1 duplicate record was imported, because documents with their own ids are never" in report.notices[0]
        path.write_text("doc_id,title,year,doi\nd1,Wings,2019,10.5555/other\n")
        with pytest.raises(ConflictError, match="use --replace"):
            campaign.imports.import_files(documents=[path])


RECORDS = (record("Heat pumps", doi="10.5555/hp.1"), record("Heat pumps"), record("Cellars", doi="10.5555/c"))


@pytest.fixture
def left_out(tmp_path: Path) -> str:
    """The id of the second of RECORDS, in files that name all of them."""
    path = ris(tmp_path / "a.ris", *RECORDS)
    found = [document.doc_id for _, document in formats.read_documents(path)][1]
    (tmp_path / "a.tsv").write_text("1\theat\n")
    (tmp_path / "a.run").write_text(f"1 Q0 10.5555/c 1 1 x\n1 Q0 10.5555/hp.1 2 1 x\n1 Q0 {found} 3 2 x\n")
    (tmp_path / "a.csv").write_text(
        f"query_id,doc_id,rank,shown,clicked\n1,{found},1,9,4\n1,10.5555/hp.1,1,5,1\n1,10.5555/c,2,9,0\n"
    )
    return found


KEPT = [["10.5555/hp.1", 2.0, 1, 1], ["10.5555/c", 1.0, 2, 2]]


def ranking(campaign: Campaign) -> list[list[object]]:
    (found,) = campaign.corpus.runs()
    return found.frame[["doc_id", "score", "rank", "listed"]].values.tolist()


def test_runs_and_clicks_name_the_kept_record(review: Path, tmp_path: Path, left_out: str) -> None:
    """A record that a run lists twice has the better rank; clicks of both are added."""
    files = {"documents": [tmp_path / "a.ris"], "topics": tmp_path / "a.tsv", "runs": [tmp_path / "a.run"]}
    with Campaign(review) as campaign:
        report = campaign.imports.import_files(**files, clicks=tmp_path / "a.csv")
        assert ranking(campaign) == KEPT
        said = "1 line names a record left out as a duplicate; the kept records take their place"
        assert [f"{tmp_path / name}: {said}" in report.notices for name in ("a.run", "a.csv")] == [True, True]
        clicks = campaign.store.corpus.clicks()[["doc_id", "rank", "shown", "clicked"]]
        assert clicks.values.tolist() == [["10.5555/hp.1", 1, 14, 5], ["10.5555/c", 2, 9, 0]]
        again = campaign.imports.import_files(**files)
        assert f"{tmp_path / 'a.run'}: run 'x' is already in the campaign" in again.done


def test_a_run_that_came_before_its_records(review: Path, tmp_path: Path, left_out: str) -> None:
    with Campaign(review) as campaign:
        campaign.imports.import_files(topics=tmp_path / "a.tsv", runs=[tmp_path / "a.run"])
        report = campaign.imports.import_files(documents=[tmp_path / "a.ris"])
        said = "run 'x': 1 line names a record left out as a duplicate; import its file again"
        assert any(notice.startswith(said) for notice in report.notices)
        campaign.imports.import_files(runs=[tmp_path / "a.run"])
        assert ranking(campaign) == KEPT


def test_a_pooled_record_gets_its_text(review: Path, tmp_path: Path, left_out: str) -> None:
    """It has a place in the pool, and would never be judged without a text."""
    with Campaign(review) as campaign:
        campaign.imports.import_files(topics=tmp_path / "a.tsv", runs=[tmp_path / "a.run"])
        campaign.people.pools.add("depth", depth=3)
        report = campaign.imports.import_files(documents=[tmp_path / "a.ris"])
        assert [(d.doc_id, d.duplicate_of, d.left_out) for d in report.duplicates] == [
            (left_out, "10.5555/hp.1", False)
        ]
        assert campaign.store.corpus.documents([left_out])[left_out].text is not None
        assert campaign.store.corpus.missing_documents() == []


def test_an_ending_that_is_no_list(review: Path, tmp_path: Path) -> None:
    path = ris(tmp_path / "a.ris", record("Wings"))
    refused = run("import", review, "--documents", path, "--duplicates", tmp_path / "d.txt")
    assert (refused.exit_code, "expected a name that ends in .jsonl or .csv" in refused.stderr) == (2, True)
    with Campaign(review) as campaign:
        assert campaign.store.judgements.counts()["documents"] == 0


def test_the_kept_record_takes_what_it_lacks(review: Path, tmp_path: Path) -> None:
    """The abstract, DOI and keywords of the record that is left out are in the one that is kept."""
    first = ris(tmp_path / "a.ris", record("Heat pumps in old houses", authors=["Berg, Tor"], keywords=["attic"]))
    second = ris(
        tmp_path / "b.ris",
        record("Cellars", doi="10.5555/c"),
        record(
            "Heat pumps in old houses",
            authors=["Berg T"],
            keywords=["Attic", "roof"],
            doi="10.5555/hp",
            abstract="Ten.",
        ),
        record("Heat pumps in old houses", authors=["Berg T"], abstract="Ten.", secondary_title="Cold"),
    )
    with Campaign(review) as campaign:
        kept = next(document.doc_id for _, document in formats.read_documents(first))
        report = campaign.imports.import_files(documents=[first, second])
        assert [(d.doc_id, d.duplicate_of, d.kept_from, d.merged) for d in report.duplicates] == [
            ("10.5555/hp", kept, f"{first}, line 2", "doi, keywords, url, abstract"),
            (kept, kept, f"{first}, line 2", "journal"),
        ]
        assert f"{second}: 1 document took fields that it lacked from duplicates" in report.done
        assert any(
            f"(Heat pumps in old houses) duplicates {kept} of {first}, line 2, which took its DOI, keywords, link and "
            "abstract" in notice
            for notice in report.notices
        )
        document = campaign.store.corpus.documents([kept])[kept]
        assert (document.title, document.text) == ("Heat pumps in old houses", "Ten.")
        assert document.metadata == {
            "authors": ["Berg, Tor"], "year": 2019, "keywords": ["attic", "roof"], "doi": "10.5555/hp",
            "url": "https://doi.org/10.5555/hp", "journal": "Cold",
        }  # fmt: skip
        again = campaign.imports.import_files(documents=[first])
        assert again.done == [
            f"{first}: 1 document (0 new, 1 unchanged); this file was imported before: its record is already in the "
            "campaign"
        ]


def test_the_same_file_again(review: Path, tmp_path: Path) -> None:
    """Every record is in the campaign already, also those that were left out; as another file, too."""
    path = ris(tmp_path / "a.ris", record("Heat pumps"), record("Cellars"), record("Heat pumps!"))
    other = tmp_path / "b.ris"
    other.write_text(path.read_text() + "\n")
    with Campaign(review) as campaign:
        campaign.imports.import_files(documents=[path])
        report = campaign.imports.import_files(documents=[path, other])
        begin = "2 documents (0 new, 2 unchanged)"
        assert report.done == [
            f"{path}: {begin}; this file was imported before: all 3 records are already in the campaign",
            f"{other}: {begin}; 3 records read, 0 kept, 3 left out as duplicates; all 3 records are already in the "
            "campaign",
        ]
        assert [notice.partition(": ")[0] for notice in report.notices] == [str(other)] * 2
        assert campaign.store.judgements.counts()["documents"] == 2


def test_distinct_records_of_two_files_get_ids_of_their_own(review: Path, tmp_path: Path) -> None:
    """Records of one title and year have one digest, from which their ids are made."""
    reply = {"secondary_title": "Cold", "abstract": "We thank Dr Berg."}
    first = ris(tmp_path / "a.ris", record("Reply", authors=["Alm, A."], **reply))
    second = ris(tmp_path / "b.ris", record("Reply", authors=["Zorn, Z."], **(reply | {"abstract": "Pumps are loud."})))
    with Campaign(review) as campaign:
        for _ in range(2):
            report = campaign.imports.import_files(documents=[first, second])
            assert campaign.store.judgements.counts()["documents"] == 2
        assert [d.reason for d in report.duplicates] == ["id and content"] * 2


def test_missing_abstracts_are_counted(review: Path, tmp_path: Path) -> None:
    path = ris(tmp_path / "a.ris", record("Heat pumps", abstract="Ten."), record("Cellars"), record("Lofts"))
    with Campaign(review) as campaign:
        assert campaign.imports.import_files(documents=[path]).notices == [f"{path}: 2 of 3 records have no abstract"]


def test_a_pair_that_was_merged_is_not_asked_again_for_a_further_copy(tmp_path: Path) -> None:
    attics, reply = (
        record(title, doi="10.5555/a", authors=["Ek, P."], journal_name="Houses")
        for title in ("Attics lose heat in winter", "Reply")
    )
    with Campaign.create(tmp_path / "r", review=Review("Attics")) as campaign:
        for name, each in (("a", attics), ("b", reply)):
            campaign.imports.import_files(documents=[ris(tmp_path / f"{name}.ris", each)])
        campaign.records.decide(int(campaign.records.pairs()["pair"].iloc[0]), "duplicate", "ann")
        campaign.imports.import_files(documents=[ris(tmp_path / "c.ris", {**reply, "language": "eng"})])
        assert campaign.records.pairs().empty
        assert campaign.records.table()["doc_id"].tolist() == ["10.5555/a"] * 3
