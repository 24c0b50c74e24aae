"""The records of imported files, and decisions on suspected pairs."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collection.campaign import Campaign
from collection.core.errors import CleverdonError, ConflictError, InputError
from collection.store.records import RecordTables
from tests.helpers import ok, run

RIS = """Ovid search: heat pumps
TY  - JOUR
T1  - Heat pumps in old houses
A1  - Berg, Tor
Y1  - 2019/05
JF  - Journal of Cold Houses
N2  - Ten houses were measured.
DO  - 10.5555/hp.1
LA  - English
LA  - Norwegian
KW  - Heat
KW  - Houses
AV  - On the shelf
DB  - Embase
ER  -

TY  - JOUR
T1  - Cellars and damp
A1  - Lund, Kari
Y1  - 2018
JF  - Cold
LA  - English
DB  - Embase
ER  -
"""
NBIB = """PMID- 31234567
TI  - Heat pumps in old houses.
FAU - Berg, Tor
DP  - 2019 May
AID - 10.5555/hp.1 [doi]
LA  - eng
MH  - Temperature

PMID- 7
TI  - Damp cellars, and what to do
FAU - Alm, Ann
DP  - 2018
LA  - ger
AB  - Ask an expert about damp cellars.
"""


@pytest.fixture
def review(tmp_path: Path) -> Path:
    ok("new", tmp_path / "review", "--grades", "0-2")
    (tmp_path / "search.ris").write_text(RIS)
    (tmp_path / "pubmed.nbib").write_text(NBIB)
    (tmp_path / "topic.tsv").write_text("1\theat\n")
    ok("import", tmp_path / "review", "--documents", tmp_path / "search.ris", "--documents", tmp_path / "pubmed.nbib",
       "--topics", tmp_path / "topic.tsv")  # fmt: skip
    return tmp_path / "review"


@pytest.fixture
def campaign(review: Path) -> Iterator[Campaign]:
    with Campaign(review) as campaign:
        yield campaign


def suspect(campaign: Campaign, doc_a: str, doc_b: str) -> int:
    """Add a suspected pair; return its key."""
    campaign.store.records.add_pairs([(doc_a, doc_b, "title")])
    return int(campaign.records.pairs()["pair"].iloc[-1])


def judge(campaign: Campaign, doc_id: str) -> None:
    campaign.judging.judge("ann", "1", doc_id, 1)


def state(campaign: Campaign) -> tuple[object, ...]:
    """All that a decision on a pair may change."""
    documents = list(campaign.store.corpus.documents_with_text(pooled=False))
    return documents, campaign.records.table().values.tolist(), campaign.store.settings.get("kept_as", {})


def test_every_record_is_stored_with_its_document(campaign: Campaign) -> None:
    table = campaign.records.table()
    assert table[["source", "line", "doc_id", "reason"]].fillna("").values.tolist() == [
        [1, 2, "10.5555/hp.1", ""], [1, 17, table["doc_id"][1], ""],
        [2, 1, "10.5555/hp.1", "DOI"], [2, 9, "7", ""],
    ]  # fmt: skip
    assert campaign.records.fields("7") == [
        ("pubmed.nbib", "nbib", {
            "PMID": ["7"], "TI": ["Damp cellars, and what to do"], "FAU": ["Alm, Ann"], "DP": ["2018"], "LA": ["ger"],
            "AB": ["Ask an expert about damp cellars."],
        }),
    ]  # fmt: skip
    (first, form, embase), (second, _, pubmed) = campaign.records.fields("10.5555/hp.1")
    assert (first, form, second) == ("search.ris", "ris", "pubmed.nbib")
    assert (embase["AV"], embase["LA"], embase["KW"]) == (
        ["On the shelf"],
        ["English", "Norwegian"],
        ["Heat", "Houses"],
    )
    assert pubmed["MH"] == ["Temperature"]


def test_sources_are_described(campaign: Campaign) -> None:
    rows = campaign.records.sources().drop(columns=["imported_at"]).to_dict("records")
    assert rows == [
        {
            "source": 1, "name": "search.ris", "database": "Embase", "form": "ris", "read": 2, "documents": 2,
            "duplicates": 0, "without_abstract": 1, "without_doi": 1, "years": {"2018": 1, "2019": 1},
            "languages": {"English": 2, "Norwegian": 1}, "skipped": 1,
        },
        {
            "source": 2, "name": "pubmed.nbib", "database": "PubMed", "form": "nbib", "read": 2, "documents": 1,
            "duplicates": 1, "without_abstract": 1, "without_doi": 1, "years": {"2018": 1, "2019": 1},
            "languages": {"English": 1, "German": 1}, "skipped": 0,
        },
    ]  # fmt: skip
    campaign.records.rename_database(2, " MEDLINE ")
    assert campaign.records.sources()["database"].tolist() == ["Embase", "MEDLINE"]
    assert campaign.records.counts().identified == {"Embase": 2, "MEDLINE": 2}
    for source, name in ((3, "Scopus"), (1, " ")):
        with pytest.raises(InputError):
            campaign.records.rename_database(source, name)


def test_a_file_counts_once_however_often_it_is_imported(review: Path, tmp_path: Path) -> None:
    with Campaign(review) as campaign:
        before, table = campaign.records.counts(), campaign.records.table()
        (tmp_path / "copy.ris").write_text(RIS)
        campaign.imports.import_files(documents=[tmp_path / "search.ris", tmp_path / "copy.ris"])
        assert campaign.records.counts() == before
        assert campaign.records.table().equals(table)


def test_a_later_search_recognises_what_is_known(review: Path, tmp_path: Path) -> None:
    """A new file is a new source: known records are its duplicates, and decisions stay."""
    (tmp_path / "later.ris").write_text(RIS + "\nTY  - JOUR\nT1  - Attics\nA1  - Ek, P\nY1  - 2020\nER  - \n")
    with Campaign(review) as campaign:
        judge(campaign, "10.5555/hp.1")
        campaign.imports.import_files(documents=[tmp_path / "later.ris"])
        last = campaign.records.sources().iloc[-1]
        assert (last["name"], last["read"], last["documents"], last["duplicates"]) == ("later.ris", 3, 1, 2)
        assert list(campaign.store.corpus.judgements_on("1", "ann")) == ["10.5555/hp.1"]


def test_removed_documents_lose_their_records(review: Path, tmp_path: Path) -> None:
    with Campaign(review) as campaign:
        doc_ids = campaign.records.table().query("source == 2 and reason.isna()")["doc_id"].tolist()
        campaign.imports.removals.remove(documents=doc_ids)
        assert campaign.records.counts().identified == {"Embase": 2, "PubMed": 1}
        campaign.imports.import_files(documents=[tmp_path / "pubmed.nbib"])
        assert campaign.records.counts().identified == {"Embase": 2, "PubMed": 2}
        assert campaign.records.fields("7")[0][2]["LA"] == ["ger"]
        everything = campaign.records.table()["doc_id"].unique().tolist()
        campaign.imports.removals.remove(documents=everything)
        assert len(campaign.records.sources()) == 0


def test_a_merged_document_comes_back(campaign: Campaign) -> None:
    cellars = campaign.records.table()["doc_id"][1]
    before = state(campaign)
    pair = suspect(campaign, cellars, "7")
    campaign.records.decide(pair, "duplicate", "ann")
    assert set(campaign.records.table()["doc_id"]) == {"10.5555/hp.1", cellars}
    kept = campaign.store.corpus.documents([cellars])[cellars]
    assert (kept.title, kept.text) == ("Cellars and damp", "Ask an expert about damp cellars.")
    assert kept.metadata["pmid"] == "7"
    assert [source for source, _, _ in campaign.records.fields(cellars)] == ["search.ris", "pubmed.nbib"]
    counts = campaign.records.counts()
    assert (counts.records, counts.documents, counts.recognised, counts.decided) == (4, 2, 1, 1)
    assert campaign.records.pairs().empty
    decided = campaign.records.pairs(open=False).iloc[0]
    assert (decided["doc_a"], decided["doc_b"], decided["decision"], decided["decided_by"]) == (
        cellars, "7", "duplicate", "ann",
    )  # fmt: skip
    campaign.records.undo(pair, "ann")
    assert state(campaign) == before
    assert len(campaign.records.pairs()) == 1


def test_a_merged_document_stays_merged_in_later_imports(campaign: Campaign, tmp_path: Path) -> None:
    cellars = campaign.records.table()["doc_id"][1]
    campaign.records.decide(suspect(campaign, cellars, "7"), "duplicate", "ann")
    (tmp_path / "later.nbib").write_text(NBIB.replace("Ask an", "Ask another") + "\nPMID- 8\nTI  - Attics\n")
    for name in ("pubmed.nbib", "later.nbib"):
        campaign.imports.import_files(documents=[tmp_path / name])
        assert not campaign.store.corpus.find_without_text([cellars])
        assert campaign.store.corpus.find_without_text(["7"]) == {"7"}
    last = campaign.records.sources().iloc[-1]
    assert (last["read"], last["documents"], last["duplicates"]) == (3, 1, 2)


def test_the_document_that_was_screened_stays(campaign: Campaign) -> None:
    cellars = campaign.records.table()["doc_id"][1]
    pair = suspect(campaign, cellars, "7")
    judge(campaign, "7")
    campaign.records.decide(pair, "duplicate", "ann")
    assert campaign.store.corpus.find_without_text([cellars, "7"]) == {cellars}
    campaign.records.undo(pair, "ann")
    judge(campaign, cellars)
    with pytest.raises(ConflictError, match="have been screened, so neither can be removed"):
        campaign.records.decide(pair, "duplicate", "ann")
    assert len(campaign.records.pairs()) == 1
    campaign.records.decide(pair, "distinct", "ann")
    assert campaign.records.pairs().empty


def test_decisions_on_three_documents_can_be_undone_in_any_order(campaign: Campaign) -> None:
    first, second, third = campaign.records.table()["doc_id"].unique()
    before = state(campaign)
    one = suspect(campaign, second, third)
    two = suspect(campaign, first, third)
    assert len(campaign.records.pairs()) == 2
    campaign.records.decide(one, "duplicate", "ann")
    (row,) = campaign.records.pairs().to_dict("records")
    assert (row["pair"], row["doc_a"], row["doc_b"]) == (two, first, second)
    campaign.records.decide(two, "duplicate", "bob")
    assert campaign.records.table()["doc_id"].unique().tolist() == [first]
    for order in ((one, two), (two, one)):
        for pair in order:
            campaign.records.undo(pair, "ann")
        assert state(campaign) == before
        for pair in (one, two):
            campaign.records.decide(pair, "duplicate", "ann")


def test_a_certain_duplicate_can_be_split(campaign: Campaign, tmp_path: Path) -> None:
    table = campaign.records.table()
    record = int(table.loc[table["reason"] == "DOI", "record"].iloc[0])
    doc_id = campaign.records.split(record, "ann")
    assert doc_id == "31234567"
    kept = campaign.store.corpus.documents(["10.5555/hp.1", doc_id])
    assert "pmid" not in kept["10.5555/hp.1"].metadata
    assert kept["10.5555/hp.1"].metadata["keywords"] == ["Heat", "Houses"]
    assert kept[doc_id].metadata["keywords"] == ["Temperature"]
    assert campaign.records.counts().recognised == 0
    (pair,) = campaign.records.pairs(open=False)["pair"]
    campaign.imports.import_files(documents=[tmp_path / "pubmed.nbib"])
    assert campaign.records.counts().recognised == 0
    campaign.records.decide(pair, "duplicate", "ann")
    assert campaign.store.corpus.documents(["10.5555/hp.1"])["10.5555/hp.1"].metadata["pmid"] == "31234567"
    with pytest.raises(InputError, match="undo that decision"):
        campaign.records.split(record, "ann")
    with pytest.raises(InputError, match="is not a duplicate"):
        campaign.records.split(int(table["record"][0]), "ann")


def test_pooled_pairs_come_back(campaign: Campaign) -> None:
    cellars = campaign.records.table()["doc_id"][1]
    (Path(campaign.directory).parent / "a.run").write_text("1 Q0 7 1 2 x\n1 Q0 10.5555/hp.1 2 1 x\n")
    campaign.imports.import_files(runs=[Path(campaign.directory).parent / "a.run"])
    campaign.people.pools.add("depth", depth=2)

    def pool() -> list[object]:
        rounds = campaign.store.pool.rounds()
        return [campaign.store.removal.pool_rows(doc_id) for doc_id in (cellars, "7")], rounds["pairs"].tolist()

    before = pool()
    pair = suspect(campaign, cellars, "7")
    campaign.records.decide(pair, "duplicate", "ann")
    assert pool()[0] == [before[0][1], []]
    campaign.records.undo(pair, "ann")
    assert pool() == before


def test_an_old_record_without_fields_is_merged_and_comes_back(campaign: Campaign, tmp_path: Path) -> None:
    """Documents of files that are not references, or that an earlier version imported, have no records."""
    (tmp_path / "own.jsonl").write_text(json.dumps({"doc_id": "own", "title": "Damp", "text": "Dry.", "year": 1999}))
    campaign.imports.import_files(documents=[tmp_path / "own.jsonl"])
    before = state(campaign)
    pair = suspect(campaign, "7", "own")
    campaign.records.decide(pair, "duplicate", "ann")
    assert campaign.store.corpus.find_without_text(["own"]) == {"own"}
    campaign.records.undo(pair, "ann")
    assert state(campaign) == before


def test_sources_and_pairs_on_the_command_line(review: Path, tmp_path: Path) -> None:
    fails_in_others = run("review", review, "--sources")
    assert fails_in_others.exit_code != 0
    ok("new", tmp_path / "own", "--review", "--title", "Heat")
    ok("import", tmp_path / "own", "--documents", tmp_path / "search.ris", "--documents", tmp_path / "pubmed.nbib")
    with Campaign(tmp_path / "own") as campaign:
        suspect(campaign, "10.5555/hp.1", "7")
    printed = ok("review", tmp_path / "own", "--sources", "--pairs")
    for part in ("search.ris", "Embase", "2018-2019"):
        assert part in printed
    assert "Damp cellars, and what to do" in printed
    listed = json.loads(ok("review", tmp_path / "own", "--sources", "--pairs", "--format", "json"))
    assert [each["languages"] for each in listed["sources"]] == [
        {"English": 2, "Norwegian": 1}, {"English": 1, "German": 1},
    ]  # fmt: skip
    assert listed["pairs"][0]["doc_b"] == "7"


KILLED = """
import os, signal, sys
from collection.campaign import Campaign
from collection.store.records import RecordTables
RecordTables.{place} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
with Campaign(sys.argv[1]) as campaign:
    campaign.imports.import_files(documents=[sys.argv[2]])
"""


@pytest.mark.long
@pytest.mark.parametrize("place", ["add_records", "add_pairs", "describe_source"])
def test_an_import_that_is_killed_leaves_nothing(tmp_path: Path, place: str) -> None:
    ok("new", tmp_path / "review", "--grades", "0-2")
    (tmp_path / "search.ris").write_text(RIS)
    command = [sys.executable, "-c", KILLED.format(place=place), str(tmp_path / "review"), str(tmp_path / "search.ris")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    with Campaign(tmp_path / "review") as campaign:
        assert campaign.records.sources().empty
        assert campaign.records.table().empty
        assert not campaign.store.corpus.document_rows()
        campaign.imports.import_files(documents=[tmp_path / "search.ris"])
        assert campaign.records.counts().records == 2


def test_a_decision_that_fails_changes_nothing(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    cellars = campaign.records.table()["doc_id"][1]
    pair, before = suspect(campaign, cellars, "7"), state(campaign)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RecordTables, "decide", fail)
        with pytest.raises((OSError, CleverdonError)):
            campaign.records.decide(pair, "duplicate", "ann")
    assert state(campaign) == before
    assert len(campaign.records.pairs()) == 1
