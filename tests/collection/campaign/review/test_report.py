"""What a review reports: PRISMA numbers against a count by hand, references out and in again, texts."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from collection import Campaign, formats
from collection.campaign.review import report as reports
from collection.core.errors import CampaignError, InputError
from collection.core.records import Document
from collection.core.review import REASON, Review
from collection.export.prisma import PrismaCounts
from tests.helpers import fails, ok, run, tries

RECORD = """TY  - JOUR
TI  - {title}
AU  - Ek, P.
PY  - {year}
AB  - {abstract}
DO  - 10.5555/r.{number}
KW  - falls
KW  - old age
DB  - {database}
AN  - acc{number}
ER  -

"""
REASONS = ["Wrong population", "Other"]


def write_ris(path: Path, database: str, numbers: list[int]) -> Path:
    words = ["balance", "strength", "walking", "dance", "cycling", "swimming", "yoga", "tai", "vision", "vitamin"]
    path.write_text(
        "".join(
            RECORD.format(
                title=f"Effects of {words[n % 10]} programme {n} on falls",
                year=1990 + n % 30,
                abstract=f"We studied {words[n % 10]} in {n} people.",
                number=n,
                database=database,
            )
            for n in numbers
        )
    )
    return path


def make(folder: Path, seed: int) -> tuple[Campaign, PrismaCounts]:
    """A random review, and its numbers as counted by hand."""
    chance = random.Random(seed)
    full_text, screeners = chance.random() < 0.7, chance.choice([1, 2])
    campaign = Campaign.create(folder / "r", review=Review("Falls", full_text=full_text, screeners=screeners))
    identified: dict[str, int] = {}
    seen: set[int] = set()
    duplicates = 0
    for database in ("Embase", "MEDLINE", "Scopus"):
        numbers = chance.sample(range(1, 25), chance.randint(1, 12))
        campaign.imports.import_files(documents=[write_ris(folder / f"{database}.ris", database, numbers)])
        campaign.records.rename_database(int(campaign.records.sources()["source"].iloc[-1]), database)
        identified[database] = len(numbers)
        duplicates += len(seen & set(numbers))
        seen |= set(numbers)
    doc_ids = campaign.review.decisions.table()["doc_id"].tolist()
    tally: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    reports_excluded: Counter[str] = Counter()
    names = ["ann", "bob"][:screeners]
    for doc_id in doc_ids:
        fate = chance.choice(["left", "exclude", "maybe", "include", "include", "conflict"])
        if fate == "left" or (fate == "conflict" and screeners == 1):
            tally["unscreened"] += 1
            continue
        grades = [{"exclude": 0, "maybe": 1, "include": 2}.get(fate, 2)] * screeners
        if fate == "conflict":
            grades[0] = 0
            tally["conflicts"] += 1
        reason = chance.choice(REASONS)
        for name, grade in zip(names, grades, strict=True):
            campaign.judging.judge(name, "review", doc_id, grade, answers={} if grade else {REASON: reason})
        tally["screened"] += 1
        if fate == "conflict":
            continue
        if fate == "exclude":
            excluded[reason] += 1
        elif not full_text:
            tally["included" if fate == "include" else "undecided"] += 1
        else:
            tally["sought"] += 1
            second = chance.choice(["left", "exclude", "include", "maybe"])
            if second == "left":
                tally["reports_unscreened"] += 1
                continue
            tally["assessed"] += 1
            grade = {"exclude": 0, "maybe": 1, "include": 2}[second]
            for name in names:
                campaign.judging.judge(name, "full-text", doc_id, grade, answers={} if grade else {REASON: reason})
            if second == "exclude":
                reports_excluded[reason] += 1
            else:
                tally["included" if second == "include" else "undecided"] += 1
    return campaign, PrismaCounts(
        identified, duplicates=duplicates, full_text=full_text, excluded=excluded,
        reports_excluded=reports_excluded, **tally,
    )  # fmt: skip


@pytest.mark.long
@tries(60, deadline=None)
@given(st.integers(0, 10**9))
def test_random_reviews_equal_a_count_by_hand(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    campaign, by_hand = make(tmp_path_factory.mktemp("prisma"), seed)
    with campaign:
        assert campaign.review.report.prisma() == by_hand


@pytest.fixture
def review(tmp_path: Path):
    campaign, _ = make(tmp_path, 5)
    with campaign:
        yield campaign


@pytest.mark.parametrize("seed", [1, 5])
def test_numbers_equal_a_count_by_hand(tmp_path: Path, seed: int) -> None:
    campaign, by_hand = make(tmp_path, seed)
    with campaign:
        assert campaign.review.report.prisma() == by_hand
        unscreened = by_hand.unscreened
        campaign.settings.set_loop(topics=["review"], mode="closed")
        ended = campaign.review.report.prisma()
        assert (ended.unscreened, ended.not_screened) == (0, unscreened)


def test_an_update_counts_its_own_search(review: Campaign, tmp_path: Path) -> None:
    before = review.review.report.prisma()
    with review.store.transaction():
        review.store.connection.execute("UPDATE record_sources SET imported_at = '2020-01-01T00:00:00Z'")
    old = {int(d.rsplit(".", 1)[1]) for d in review.review.decisions.table()["doc_id"]}
    review.imports.import_files(documents=[write_ris(tmp_path / "new.ris", "Embase", [*sorted(old)[:3], 101, 102])])
    counts = review.review.report.prisma(since="2021-01-01")
    assert (counts.identified, counts.known_from_previous, counts.duplicates) == (5, 3, 0)
    assert (counts.unscreened, counts.screened, counts.included) == (2, 0, 0)
    assert counts.previous == before.included
    at = review.records.sources()["imported_at"].iloc[-1]
    assert review.review.report.prisma(since=at) == counts
    with pytest.raises(InputError, match="2019-12-31, after which all records were imported"):
        review.review.report.prisma(since="2019-12-31")
    for wrong in ("next year", "2999-01-01"):
        with pytest.raises(InputError, match="since"):
            review.review.report.prisma(since=wrong)


def test_a_publication_that_the_update_found_twice_is_known_once(tmp_path: Path) -> None:
    """PRISMA counts records: two new records of a known publication are one known record and one duplicate."""
    with Campaign.create(tmp_path / "r", review=Review("Falls", full_text=False)) as campaign:
        campaign.imports.import_files(documents=[write_ris(tmp_path / "old.ris", "Embase", [1, 2, 3])])
        with campaign.store.transaction():
            campaign.store.connection.execute("UPDATE record_sources SET imported_at = '2020-01-01T00:00:00Z'")
        for doc_id in campaign.review.decisions.table()["doc_id"]:
            campaign.judging.judge("ann", "review", doc_id, 2)
        for database in ("PubMed", "Scopus"):
            numbers = [1, 2, 11, 12 if database == "PubMed" else 13]
            campaign.imports.import_files(documents=[write_ris(tmp_path / f"{database}.ris", database, numbers)])
        counts = campaign.review.report.prisma(since="2021-01-01")
        assert (counts.identified, counts.known_from_previous, counts.duplicates) == (8, 2, 3)
        assert (counts.unscreened, counts.previous) == (3, 3)
        judge = campaign.judging.judge
        for number, grade in ((11, 2), (12, 0), (13, 0)):
            judge("ann", "review", f"10.5555/r.{number}", grade, answers={} if grade else {REASON: "Other"})
        report = campaign.review.report
        text = report.methods_text(since="2021-01-01")
        assert "This is an update of a review that included 3 reports." in text
        assert (
            "The new searches identified 8 records from PubMed (4) and Scopus (4). We removed 3 duplicates, and 2"
            in text
        )
        assert "3 of 3 new records (100%) were screened" in text
        assert "We included 1 new report, 4 with the previous version." in text
        today = campaign.records.sources()["imported_at"].iloc[-1][:10]
        assert f"[Add the dates of the searches; their files were imported on {today}.]" in text
        assert report.write_references(tmp_path / "new.ris", since="2021-01-01") == 1
        assert report.write_references(tmp_path / "all.ris") == 4
        assert report.write_log(tmp_path / "new.csv", since="2021-01-01") == 3
        assert report.update_since() is None
        report.set_update("2021-01-01")
        assert report.update_since() == "2021-01-01"
        said = ok(
            "review", campaign.directory, "--since", "2021-01-01", "--references", tmp_path / "b.ris", "--methods"
        )
        assert "b.ris: 1 record." in said
        assert text in said


def test_the_log_for_the_appendix_is_in_words(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "k", review=Review("Falls", screeners=2)) as campaign:
        campaign.imports.import_files(documents=[write_ris(tmp_path / "a.ris", "Embase", [1, 2, 3])])
        one, two, three = campaign.review.decisions.table()["doc_id"].tolist()
        judge = campaign.judging.judge
        judge("ann", "review", one, 2, note="See\nMethods")
        judge("ann", "review", one, 0, answers={REASON: "Other"})
        judge("bob", "review", one, 2)
        judge("cat", "review", one, 2, adjudicate=True)
        judge("ann", "review", two, cannot_judge="No abstract")
        campaign.review.add_known([three], "ann")
        campaign.review.full_texts.advance()
        campaign.review.full_texts.mark_not_retrieved([three], "No access", "ann")
        assert campaign.review.report.write_log(tmp_path / "log.csv") == 7
        ok("review", campaign.directory, "--log", tmp_path / "log.xlsx")
        assert fails("review", campaign.directory, "--log", tmp_path / "log.json")
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ("doi", "stage", "screener", "role", "decision", "reason", "note", "current")
    title = "title and abstract"
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("10.5555/r.1", title, "ann", "screener", "include", "", "See Methods", "no"),
        ("10.5555/r.1", title, "ann", "screener", "exclude", "Other", "", "yes"),
        ("10.5555/r.1", title, "bob", "screener", "include", "", "", "yes"),
        ("10.5555/r.1", title, "cat", "resolved a conflict", "include", "", "", "yes"),
        ("10.5555/r.2", title, "ann", "screener", "cannot decide", "No abstract", "", "yes"),
        ("10.5555/r.3", title, "ann", "included a known record", "include", "", "", "yes"),
        ("10.5555/r.3", "full text", "ann", "screener", "not retrieved", "No access", "", "yes"),
    ]
    assert rows[0]["title"] == "Effects of strength programme 1 on falls"
    assert rows[0]["authors"] == "Ek, P."
    assert rows[0]["time"][:4].isdecimal()


def test_references_take_what_only_another_database_has(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "k", review=Review("Falls")) as campaign:
        nbib = tmp_path / "b.nbib"
        nbib.write_text(
            "PMID- 7\nTI  - Effects of strength programme 1 on falls\nLID - 10.5555/r.1 [doi]\nIS  - 1234-5678\n"
            "EIN - Falls. 2002;1:7\n"
        )
        campaign.imports.import_files(documents=[write_ris(tmp_path / "a.ris", "Embase", [1]), nbib])
        campaign.review.add_known(["10.5555/r.1"], "ann")
        assert campaign.review.report.write_references(tmp_path / "out.ris") == 1
    text = (tmp_path / "out.ris").read_text()
    assert "SN  - 1234-5678\n" in text
    assert "N1  - Other fields of the copy in PubMed | EIN: Falls. 2002;1:7\n" in text
    assert "issn: PubMed" in text


def test_records_imported_before_their_file_are_identified_and_screened(tmp_path: Path) -> None:
    ris = write_ris(tmp_path / "a.ris", "Embase", [1, 2, 3])
    records = [record for _, record in formats.read_documents(write_ris(tmp_path / "b.ris", "Embase", [1, 2]))]
    with Campaign.create(tmp_path / "r", review=Review("Falls")) as campaign:
        campaign.store.corpus.add_documents([record._replace(doc_id=f"own-{record.doc_id}") for record in records])
        campaign.imports.import_files(documents=[ris])
        counts = campaign.review.report.prisma()
        assert counts.databases == {"Embase": 3}
        assert counts.other_methods == {reports.UNRECORDED: 2}
        assert (counts.duplicates, counts.unscreened) == (2, 3)


def test_methods_say_what_became_of_differing_decisions(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "k", review=Review("Falls", screeners=2)) as campaign:
        campaign.imports.import_files(documents=[write_ris(tmp_path / "a.ris", "Embase", [1, 2, 3, 4])])
        doc_ids, judge = campaign.review.decisions.table()["doc_id"].tolist(), campaign.judging.judge
        for name, grades, reason in (("ann", "0022", "Other"), ("bob", "0200", "Wrong population")):
            for doc_id, grade in zip(doc_ids, grades, strict=True):
                judge(name, "review", doc_id, int(grade), answers={} if int(grade) else {REASON: reason})
        assert "resolved" not in campaign.review.report.methods_text()
        campaign.review.add_known([doc_ids[3]], "ann")
        judge("ann", "review", doc_ids[1], 0, adjudicate=True, answers={REASON: "Other"})
        text = campaign.review.report.methods_text()
        assert "1 conflict was resolved [add how, such as by discussion]; one of the two screeners entered" in text
        assert ("[2]" in text.split("[1] The")[0]) is ("[2] Waudby" in text)
        judge("cat", "review", doc_ids[2], 2, adjudicate=True)
        text = campaign.review.report.methods_text()
        assert "one of the two screeners, in 1 of them a third person, entered the decision." in text
        assert "selected at random" not in text
        assert campaign.review.report.prisma().excluded == {reports.SEVERAL_REASONS: 1, "Other": 1}


@pytest.mark.long
def test_methods_say_why_screening_has_not_ended_or_has(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "k", review=Review("Falls", screeners=2)) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(100)])
        report, judge = campaign.review.report, campaign.judging.judge
        judge("ann", "review", "r0", 2)
        text = report.methods_text()
        assert "0 of 100 records (0%) were screened." in text
        assert "[Not finished: 95% recall with 95% confidence is not reached yet.]" in text
        assert "sought" not in text
        campaign.settings.set_loop(topics=["review"], mode="closed")
        judge("bob", "review", "r0", 2)
        said = "Screening was ended [add why] before 95% recall with 95% confidence was shown."
        assert said in report.methods_text()
        assert "Of 1 report sought for retrieval, 0 were assessed" in report.methods_text()
        campaign.settings.reopen_topic("review")
        for name, number in (("ann", 99), ("bob", 98)):  # one unscreened record is less than 5% of those found
            for n in range(1, number):
                judge(name, "review", f"r{n}", 2)
        assert "[Not finished: 1 record lacks the second decision.]" in report.methods_text()
        judge("bob", "review", "r98", 0)
        assert "[Not finished: 1 conflict is unresolved.]" in report.methods_text()
        assert "reached yet" not in report.methods_text()
        judge("cat", "review", "r98", 2, adjudicate=True)
        assert "Screening may stop: the decisions on randomly selected records show" in report.methods_text()
        judge("ann", "review", "r99", 0)
        judge("bob", "review", "r99", 0)
        text = report.methods_text()
        assert "100 of 100 records (100%) were screened" in text
        assert "Screening" not in text


def test_an_update_whose_files_are_gone_is_none(review: Campaign, tmp_path: Path) -> None:
    report, file = review.review.report, write_ris(tmp_path / "update.ris", "Embase", [90])
    review.imports.import_files(documents=[file])
    report.set_update(review.records.sources()["imported_at"].iloc[-1])
    assert report.update_since() is not None
    removal = review.imports.removals.remove(files=[file])
    assert len(removal.documents) == 1
    assert report.update_since() is None


def test_sources_that_are_no_databases_stand_apart(review: Campaign) -> None:
    review.records.rename_database(1, "Citation searching")
    counts = review.review.report.prisma()
    assert list(counts.databases) == ["MEDLINE", "Scopus"]
    assert list(counts.other_methods) == ["Citation searching"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ClinicalTrials.gov", "registers"),
        ("WHO ICTRP", "registers"),
        ("EU Clinical Trials Register", "registers"),
        ("ISRCTN registry", "registers"),
        ("Cochrane Central Register of Controlled Trials", "databases"),
        ("Embase", "databases"),
        ("", "databases"),
        ("Website of the WHO", "other_methods"),
    ],
)
@pytest.mark.long
def test_sources_are_identified_as_in_prisma(name: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "found.ris"
    file.write_text("TY  - JOUR\nTI  - Effects of yoga on falls\nER  - \n")
    with Campaign.create(tmp_path / "r", review=Review("Falls")) as campaign:
        campaign.imports.import_files(documents=[file])
        if name:
            campaign.records.rename_database(1, name)
        numbers = campaign.review.report.prisma().to_json()
    assert {key: numbers[key] for key in ("databases", "registers", "other_methods") if numbers[key]} == {
        kind: {name or "found.ris": 1}
    }


def test_references_come_in_again_as_the_same_records(review: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "out.ris"
    number = review.review.report.write_references(file, reports.ALL_DECISIONS)
    table = review.review.decisions.table().set_index("doc_id")
    assert number == len(table)
    again = {record.doc_id: record for _, record in formats.read_documents(file)}
    stored = review.store.corpus.documents(table.index.tolist())
    assert again.keys() == stored.keys()
    for doc_id, document in stored.items():
        assert (again[doc_id].title, again[doc_id].text) == (document.title, document.text)
        _, _, fields = review.records.fields(doc_id)[0]
        assert {"falls", "old age"} <= set(again[doc_id].fields["KW"])
        assert again[doc_id].fields["AN"] == fields["AN"]
        assert any(table["decision"][doc_id] in text for text in again[doc_id].fields["KW"])
    included = review.review.report.write_references(tmp_path / "included.csv")
    assert included == int((table["decision"] == "include").sum()) > 0
    with pytest.raises(InputError, match="expected a decision"):
        review.review.report.write_references(file, ["relevant"])


def test_stopping_and_methods_say_the_numbers(review: Campaign) -> None:
    counts, text = review.review.report.prisma(), review.review.report.methods_text()
    assert f"We identified {counts.identified} records from Embase ({counts.databases['Embase']})" in text
    assert f"removed {counts.duplicates} duplicates" in text
    assert f"We included {counts.included} report" in text
    assert "[Not finished" in text
    assert "at least 95%" in review.review.report.protocol_text()
    stopping = review.review.report.stopping()
    assert not stopping.may_stop
    assert "unscreened record" in stopping.missing
    assert "until 50 records" in stopping.next
    assert "document" not in f"{stopping.advice}{stopping.found}{stopping.missing}{text}"


def test_the_citation_is_that_of_the_citation_file() -> None:
    known = yaml.safe_load((Path(__file__).parents[4] / "CITATION.cff").read_text())
    for part in (
        known["authors"][0]["name"],
        known["title"],
        f"version {known['version']}",
        str(known["date-released"])[:4],
    ):
        assert part in reports.CITATION


def test_kappa_of_two_screeners(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "k", review=Review("Falls", screeners=2, full_text=False)) as campaign:
        campaign.imports.import_files(documents=[write_ris(tmp_path / "a.ris", "Embase", list(range(1, 11)))])
        assert campaign.review.report.kappa() == {}
        doc_ids = campaign.review.decisions.table()["doc_id"].tolist()
        # 4 both include, 4 both exclude, 2 differ: observed .8, expected .5 by chance, kappa .6
        for name, grades in (("ann", "2222200000"), ("bob", "2222000001")):
            for doc_id, grade in zip(doc_ids, grades, strict=True):
                campaign.judging.judge(name, "review", doc_id, int(grade))
        (several, value) = campaign.review.report.kappa()["title and abstract"]
        assert several == 10
        assert value == pytest.approx(0.6)
        assert "kappa = 0.60" in campaign.review.report.methods_text()
        said = run("agreement", campaign.directory, "--resamples", 0).output
        assert "binary: exclude against maybe and include, as for the kappa on the page Report" in said
        assert "TREC-4" not in said
        assert "relevance judgements" not in said


@pytest.mark.long
def test_the_command_writes_all_of_it(review: Campaign, tmp_path: Path) -> None:
    counts = review.review.report.prisma()
    for ending in ("svg", "png", "json", "csv"):
        ok("review", review.directory, "--prisma", tmp_path / f"p.{ending}")
    assert json.loads((tmp_path / "p.json").read_text())["included"] == counts.included
    assert (tmp_path / "p.svg").read_text().startswith("<svg")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    said = ok("review", review.directory, "--references", tmp_path / "r.xlsx", "--decision", "exclude", "--methods")
    assert "We identified" in said
    assert fails("review", review.directory, "--prisma", tmp_path / "p.pdf")
    assert fails("review", review.directory, "--decision", "include")
    assert fails("review", review.directory, "--since", "2020-01-01")


def test_other_campaigns_report_nothing(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "other") as campaign:
        for call in ("prisma", "methods_text", "protocol_text", "stopping", "kappa"):
            with pytest.raises(CampaignError, match="not a literature review"):
                getattr(campaign.review.report, call)()
