"""Removal of what nobody has judged: what goes, what stays, and that counts and files follow."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from collection.campaign import Campaign
from collection.campaign.operations import integrity
from collection.core import layout
from collection.core.errors import DoubtError, InputError

TOPICS, DOCUMENTS = ("1", "2", "3"), tuple(f"d{number}" for number in range(8))


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Campaign]:
    """Three topics, eight documents; run `a` on all topics, `b` on topic 3; pooled to depth 3, then to 5."""
    (tmp_path / "topics.tsv").write_text("1\twing flow\n2\theat\n3\tslab\n")
    (tmp_path / "docs.tsv").write_text("".join(f"{doc}\tText {doc} of a wing.\n" for doc in DOCUMENTS))
    for name, topics in (("a", TOPICS), ("b", "3")):
        lines = [f"{q} Q0 {doc} {at} {9 - at} {name}\n" for q in topics for at, doc in enumerate(DOCUMENTS[:6], 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    with Campaign.create(tmp_path / "campaign") as campaign:
        import_all(campaign, tmp_path)
        campaign.people.pools.add("depth", depth=3)
        campaign.people.pools.add("depth", depth=5)
        yield campaign


def import_all(campaign: Campaign, folder: Path) -> None:
    campaign.imports.import_files(
        documents=[folder / "docs.tsv"], topics=folder / "topics.tsv", runs=[folder / "a.run", folder / "b.run"]
    )


def say(campaign: Campaign, query_id: str, doc_id: str, relevance: int | None) -> None:
    """Judge a pair, or take the judgement back where there is no grade."""
    campaign.judging.judge("ann", query_id, doc_id, relevance, undo=relevance is None)


def counted(campaign: Campaign) -> dict[str, int]:
    """The counts that the database keeps, beside those of its rows."""
    counts = campaign.store.judgements.counts()
    assert counts["pool"] == len(campaign.store.pool.pairs())
    assert counts["judgements"] == len(campaign.store.judgements.table())
    return counts


def test_a_removed_topic_takes_its_pairs_and_lines_of_runs_along(full: Campaign, tmp_path: Path) -> None:
    plan = full.imports.removals.preview(topics=["3"])
    assert (plan.contents, plan.shortened) == ("1 topic, 1 run and 5 pooled pairs", {"a": 6})
    assert full.store.corpus.topics()["query_id"].tolist() == list(TOPICS)  # a preview changes nothing
    assert full.imports.removals.remove(topics=["3"]).topics == ["3"]
    assert full.store.corpus.topics()["query_id"].tolist() == ["1", "2"]
    assert full.store.corpus.runs()[["run", "topics", "rows"]].values.tolist() == [["a", 2, 12]]
    assert [run.frame["query_id"].nunique() for run in full.corpus.runs()] == [2]
    assert counted(full) == {"topics": 2, "documents": 8, "runs": 1, "pool": 10, "judgements": 0, "logged": 0}
    assert full.progress.topics()["query_id"].tolist() == ["1", "2"]
    import_all(full, tmp_path)  # and everything can come back
    assert full.store.corpus.runs()[["run", "rows"]].values.tolist() == [["a", 18], ["b", 6]]
    full.people.pools.add("depth", depth=5)
    assert counted(full)["pool"] == 15
    assert not [finding for finding in integrity.check(full.directory) if finding.serious]


def test_removed_documents_leave_the_pool_and_can_be_imported_again(full: Campaign, tmp_path: Path) -> None:
    full.corpus.features.update()
    assert full.imports.removals.remove(documents=["d1", "d7"]).contents == "2 documents and 3 pooled pairs"
    assert counted(full)["documents"] == 6
    assert full.store.corpus.find_without_text(["d1", "d2", "d7"]) == {"d1", "d7"}
    assert full.judging.search.find("1", "ann", "wing").documents
    assert "d1" not in [found.doc_id for found in full.judging.search.find("1", "ann", "wing").documents]
    assert not full.corpus.features.state().current
    full.corpus.features.update()
    import_all(full, tmp_path)
    assert counted(full)["documents"] == 8
    assert full.store.corpus.documents(["d1"])["d1"].text == "Text d1 of a wing."


@pytest.mark.parametrize("undone", [False, True])
def test_what_somebody_has_judged_stays_with_the_log(full: Campaign, undone: bool) -> None:
    say(full, "1", "d0", 2)
    if undone:
        say(full, "1", "d0", None)
    plan = full.imports.removals.remove(topics=["1", "2"], documents=["d0", "d1"], rounds=[1, 2])
    assert plan.topics == ["2"]
    assert plan.documents == ["d1"]
    assert {(kept.kind, kept.name, kept.reason) for kept in plan.obstacles} >= {
        ("topic", "1", "judged"),
        ("document", "d0", "judged"),
        ("pooled pair", "1 d0", "judged"),
    }
    assert "1 topic stays (judged): 1." in plan.notes
    counts = counted(full)
    assert (counts["pool"], counts["logged"]) == (1, 1 + undone)
    assert full.store.corpus.documents(["d0"])["d0"].text


def test_labelled_topics_and_calibration_topics_stay(full: Campaign) -> None:
    full.machine_labels.sets.label_by_rule("contains-query", {}, name="rule")
    assert {kept.reason for kept in full.imports.removals.preview(topics=TOPICS).obstacles} == {"has machine labels"}
    assert full.imports.removals.preview(topics=TOPICS).is_empty


def test_a_round_of_pooling_loses_its_unjudged_pairs(full: Campaign) -> None:
    say(full, "1", "d3", 1)
    assert full.imports.removals.remove(rounds=[2]).contents == "5 pooled pairs"
    assert full.store.pool.rounds()[["pool_round", "pairs", "removed"]].values.tolist() == [[1, 9, 0], [2, 6, 5]]
    full.imports.removals.remove(rounds=[1])
    assert full.store.pool.rounds()["pool_round"].tolist() == [2]
    assert counted(full)["pool"] == 1


def test_a_judged_sample_stays_whole(full: Campaign) -> None:
    full.imports.removals.remove(rounds=[1, 2])
    full.people.pools.add("stratified", strata="2:1,6:.5")
    round_ = int(full.store.pool.rounds()["pool_round"].iloc[-1])
    drawn = full.store.pool.pairs()
    first = drawn[drawn["query_id"] == "1"].iloc[0]
    say(full, "1", first["doc_id"], 1)
    plan = full.imports.removals.remove(rounds=[round_])
    left = full.store.pool.pairs()
    assert set(left["query_id"]) == {"1"}
    assert len(left) == (drawn["query_id"] == "1").sum()
    assert {kept.reason for kept in plan.obstacles} == {"judged", "part of a sample that is judged"}
    assert set(full.store.pool.undrawn_pairs()["query_id"]) <= {"1"}


def test_a_failed_removal_changes_nothing(full: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("stop")

    before = counted(full), full.store.corpus.runs()
    monkeypatch.setattr(full.store.removal, "remove_documents", fail)
    with pytest.raises(RuntimeError):
        full.imports.removals.remove(topics=["2"], documents=["d1"])
    monkeypatch.undo()
    assert counted(full) == before[0]
    pd.testing.assert_frame_equal(full.store.corpus.runs(), before[1])
    assert [len(run.frame) for run in full.corpus.runs()] == [18, 6]


@pytest.mark.parametrize("chosen", [{"topics": ["9"]}, {"documents": ["x"]}, {"runs": ["x"]}, {"rounds": [9]}])
@pytest.mark.long
def test_unknown_names_are_refused(full: Campaign, chosen: dict[str, list[str]]) -> None:
    with pytest.raises(InputError, match="unknown|has no document x"):
        full.imports.removals.preview(**chosen)  # type: ignore[arg-type]  # the lists are of one type each


def test_no_table_names_what_was_removed(full: Campaign) -> None:
    """A table that will be added and names topics or documents must be known to the removal."""
    full.imports.removals.remove(topics=["1", "2", "3"], documents=DOCUMENTS)
    with sqlite3.connect(full.directory / layout.DATABASE) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        naming = {
            (table, column[1])
            for table in tables
            for column in database.execute(f"PRAGMA table_info({table})")
            if column[1] in ("topic", "doc") and table != "documents"
        }
        assert len(naming) > 20
        assert not [
            pair for pair in sorted(naming) if database.execute(f"SELECT count(*) FROM {pair[0]}").fetchone()[0]
        ]


CASES = {
    "topics.tsv": "1\twing flow\n2\theat\n3\tslab\n",
    "topics.jsonl": '{"id": "t1", "title": "wing", "narrative": "Relevant documents describe wings."}\n',
    "qrels.jsonl": '{"query_id": "1", "doc_id": "d1", "relevance": 2}\n',
    "run.csv": "qid,docid,score\n1,d1,2.5\n",
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.long
def test_documents_that_look_like_something_else_are_questioned(full: Campaign, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(CASES[name])
    before = counted(full)
    with pytest.raises(DoubtError, match="expected documents, found a file that looks like"):
        full.imports.import_files(documents=[tmp_path / name])
    assert counted(full) == before
    full.imports.import_files(documents=[tmp_path / name], replace=True, accept_doubts=True)


def test_numbers_as_ids_of_topics_and_documents_are_no_doubt(full: Campaign, tmp_path: Path) -> None:
    (tmp_path / "more.tsv").write_text("".join(f"{number}\tA document.\n" for number in range(1, 9)))
    report = full.imports.import_files(documents=[tmp_path / "more.tsv"])
    assert report.done


def test_short_texts_are_named_with_the_way_back(full: Campaign, tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("".join(f"q{number}\twhat is heat\n" for number in range(12)))
    report = full.imports.import_files(documents=[tmp_path / "queries.tsv"])
    assert ["no text is longer than 12 characters" in notice for notice in report.notices] == [True]
    assert f"cleverdon remove {full.directory} --documents-in FILE" in report.notices[0]


def test_what_an_annotator_holds_stays_until_it_is_released(full: Campaign) -> None:
    held = [document.doc_id for document in full.judging.next_pairs("ann", "1", 2).documents]
    plan = full.imports.removals.preview(topics=["1"], documents=held, rounds=[1, 2])
    assert {kept.name for kept in plan.obstacles} >= {"1", *held, *(f"1 {doc_id}" for doc_id in held)}
    assert {kept.reason for kept in plan.obstacles} == {"reserved by an annotator"}
    full.people.assignments.release("ann")
    assert not full.imports.removals.preview(topics=["1"], documents=held).obstacles


def test_topics_of_the_overlap_stay(full: Campaign) -> None:
    full.people.assignments.update(annotators=2, which="topics", topics=["2"])
    assert full.imports.removals.preview(topics=["1", "2"]).topics == ["1"]
    full.imports.removals.remove(topics=["1", "2"])
    assert full.people.assignments.update(lease=5).topics == ("2",)
