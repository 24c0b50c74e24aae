"""Pooled documents whose text is missing: nobody judges them, and no number or promise leaves them out."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement
from collection.core.errors import InputError
from collection.core.records import Choice, Preference
from collection.stopping import Ledger, advise, betting, estimate
from collection.store import Selection
from tests.conftest import card_client
from tests.helpers import judged, ok, post

POOL = [f"d{n}" for n in range(91)]
"""As topic 1037798 of TREC DL 2020: 91 pooled pairs, of which 38 are judged."""
WITH_TEXT = 40


def build(folder: Path) -> Campaign:
    """One topic with 91 pooled documents, of which the first 40 have a text."""
    (folder / "topics.tsv").write_text("1\twing flow\n")
    write_documents(folder / "docs.tsv", POOL[:WITH_TEXT])
    (folder / "a.run").write_text("".join(f"1 Q0 {d} {n} {200 - n} a\n" for n, d in enumerate(POOL, 1)))
    campaign = Campaign.create(folder / "c")
    campaign.imports.import_files(
        topics=folder / "topics.tsv", documents=[folder / "docs.tsv"], runs=[folder / "a.run"]
    )
    campaign.people.pools.add("depth", depth=100)
    return campaign


@pytest.fixture
def partial(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def write_documents(path: Path, doc_ids: list[str]) -> None:
    path.write_text("".join(f"{d}\tThe text of {d}.\n" for d in doc_ids))


def say(campaign: Campaign, doc_ids: list[str], relevant: int) -> None:
    """Judge documents; the first ones are relevant."""
    for number, doc_id in enumerate(doc_ids):
        campaign.judging.judge("ann", "1", doc_id, int(number < relevant))


# --- what is claimed --------------------------------------------------------------------------------


@pytest.mark.slow
def test_unjudged_documents_without_a_text_are_no_certainty(partial: Campaign) -> None:
    """24 of 38 are relevant, and 2 with a text are left: 24 / 26 would be 90%, 24 / 77 is not."""
    say(partial, POOL[:38], 24)
    known = partial.recall.for_topic("1")
    assert (known.judged, known.size, known.without_text) == (38, 91, 51)
    assert not known.decision.stop
    assert "certain" not in known.promise
    assert (known.estimate.low, known.estimate.high) == (24, 77)
    assert known.estimate.recall_low == pytest.approx(24 / 77)
    assert known.notes == ["51 pooled documents have no text and cannot be judged; they count as unjudged."]
    assert partial.progress.loop_scope.ledgers(["1"])["1"].unjudged == 53
    row = partial.recall.table().iloc[0]
    assert row[["judged", "found", "without_text", "low", "high", "stop"]].tolist() == [38, 24, 51, 24, 77, False]


@pytest.mark.slow
def test_judging_all_that_has_a_text_ends_nothing(partial: Campaign) -> None:
    say(partial, POOL[:WITH_TEXT], 24)
    known = partial.recall.for_topic("1")
    assert not known.decision.stop
    assert known.promise == (
        "All documents in the pool with a text are judged; no recall is guaranteed while 51 documents have no text. "
        "Documents outside the pool are not covered."
    )
    assert partial.recall.table()["advice"].tolist() == ["import the missing texts"]
    assert known.cost == "All documents with a text are judged."
    assert "91 of 91 documents" not in " ".join(known.rules["reason"])
    assert not (known.rules["says"] == "stop").loc[known.rules["promises"] != "none (heuristic)"].any()
    assert partial.results.qrels.topics_with_grades().finished == ()
    step = partial.results.overview.next_step()
    assert step.page == "export"
    assert step.sentence.startswith("All pairs with a text are judged. 51 pooled documents have no text")


def test_a_promise_that_holds_whatever_the_missing_texts_say(partial: Campaign) -> None:
    """38 of 40 relevant would not do against 51 unknown ones; 90 of 90 do against 1."""
    write = partial.directory.parent / "more.tsv"
    write_documents(write, POOL[WITH_TEXT:90])
    partial.imports.import_files(documents=[write])
    say(partial, POOL[:90], 90)
    known = partial.recall.for_topic("1")
    assert known.decision.stop
    assert known.decision.reason.endswith("even if the only unjudged document is relevant")
    assert known.promise == (
        "At least 90% of the relevant documents in the pool are found, even if the only unjudged document is relevant. "
        "Documents outside the pool are not covered."
    )


def test_in_the_loop_missing_texts_of_the_pool_count_too(partial: Campaign) -> None:
    partial.settings.set_loop(mode="loop")
    say(partial, POOL[:38], 24)
    known = partial.recall.for_topic("1")
    assert (known.size, known.without_text, known.estimate.high) == (91, 51, 77)
    assert not known.decision.stop
    partial.settings.set_loop(mode="loop-in-pool")
    assert partial.recall.for_topic("1")[:6] == ("1", "loop-in-pool", 38, 24, 91, 51)


@pytest.mark.slow
def test_an_imported_grade_of_a_missing_text_is_a_judgement(partial: Campaign, tmp_path: Path) -> None:
    say(partial, POOL[:38], 24)
    (tmp_path / "nist.txt").write_text("1 0 d60 1\n1 0 d61 0\n1 0 elsewhere 1\n")
    partial.imports.import_files(qrels=tmp_path / "nist.txt")
    for mode, counted in (("pool", 40), ("loop", 41)):
        partial.settings.set_loop(mode=mode)
        known = partial.recall.for_topic("1")
        assert (known.judged, known.without_text) == (counted, 49)
        assert partial.results.overview.status()["judged"] == counted
        assert partial.progress.loop_scope.ledgers(["1"])["1"].judged == counted


def test_draws_promise_nothing_of_what_they_cannot_reach(partial: Campaign) -> None:
    """30 irrelevant draws from 30 documents with a text would be certainty, were there not 51 more."""
    partial.settings.set_loop(mode="loop-in-pool")
    say(partial, POOL[:10], 10)
    for n, doc_id in enumerate(POOL[10:39]):
        partial.store.queue.lease(
            "1", [Selection(doc_id, "random", None, 10 + n, 1 / (30 - n))], "ann", time.time(), 2e9
        )
        partial.judging.judge("ann", "1", doc_id, 0)
    ledger = partial.progress.loop_scope.ledgers(["1"])["1"]
    assert ledger.out_of_reach[ledger.draws].tolist() == [51] * 29
    known = partial.recall.for_topic("1")
    assert not known.decision.stop
    assert known.decision.needed is None
    assert known.promise.startswith("No recall can be guaranteed: 51 of 52 unjudged documents cannot be judged and")
    assert known.estimate.high == 61  # 10 and the 51; that the last one is relevant, too, has odds of 1 to 30


def test_the_number_of_draws_that_is_missing_allows_for_those_out_of_reach() -> None:
    """With F = 100 found, target .8, 126 would be too many: of 26 missing ones 5 may be out of reach."""

    def drawn(misses: int) -> Ledger:
        relevant = [1] * 100 + [0] * misses
        draws = [0] * 100 + [1] * misses
        urn = [float("nan")] * 100 + [200.0 - n for n in range(misses)]
        return Ledger.of(relevant, 305, drawn=draws, urn=urn, unreachable=5)

    needed = betting(drawn(0), target=0.8).needed
    assert needed is not None
    assert not betting(drawn(needed - 1), target=0.8).stop
    assert betting(drawn(needed), target=0.8).stop
    reachable = Ledger.of([1] * 100, 300)
    assert needed > (betting(reachable, target=0.8).needed or 0)
    none = Ledger.of([1] * 10, 100, unreachable=50)
    assert betting(none).needed is None
    assert "no number of further draws is enough" in advise(none).reason
    assert estimate(none).high == 100


@pytest.mark.parametrize("unreachable", [-1, 3])
def test_no_more_are_out_of_reach_than_are_unjudged(unreachable: int) -> None:
    with pytest.raises(InputError, match="unreachable: expected 0 to 2, the number of unjudged documents"):
        Ledger.of([1], 3, unreachable=unreachable)


def test_every_surface_says_how_many_and_why(
    partial: Campaign, opened: Callable[[Campaign, str], AppTest], tmp_path: Path
) -> None:
    say(partial, POOL[:38], 24)
    sentence = "51 pooled documents have no text and cannot be judged; they count as unjudged."
    directory = partial.directory
    assert sentence in ok("status", directory)
    assert sentence in ok("recall", directory)
    assert json.loads(ok("recall", directory, "--format", "json"))[0]["without_text"] == 51
    assert json.loads(ok("status", directory, "--format", "json"))["without_text"] == 51
    for view in ("overview", "recall", "pool"):
        app = opened(partial, view)
        assert any(sentence in warning.value for warning in app.warning), view
    facts = partial.exports.collection.write(tmp_path / "out").facts
    card = (tmp_path / "out" / "collection.md").read_text()
    assert sentence in card
    assert "51 pairs have no text and cannot be judged; they count as unjudged." in card
    assert "These numbers cover the pool only" in card
    assert "| 1 | 38 | 24 | 51 | 24 to 77 | 0.312 | 1.000 |" in card
    assert (facts["pool"]["without_text"], facts["recall"]["without_text"]) == (51, 51)
    ok("export", directory, "--missing-documents", tmp_path / "missing.txt")
    assert (tmp_path / "missing.txt").read_text().split() == POOL[WITH_TEXT:]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.long
def test_of_a_real_track_without_some_texts_no_topic_is_certain(shared: Path, tmp_path: Path) -> None:
    """TREC DL 2019 with every other text away: whatever the qrels say, unknown documents stay unknown."""
    folder = shared / "data" / "trecdl19-runs"
    with Campaign.create(tmp_path / "dl") as campaign:
        campaign.imports.import_files(
            topics=folder / "topics.jsonl",
            documents=[folder / "documents.jsonl.gz"],
            runs=sorted((folder / "runs").iterdir())[:6],
        )
        campaign.people.pools.add("depth", depth=10)
        campaign.store.connection.db.conn.execute("UPDATE documents SET text = NULL WHERE doc % 2")
        for row in campaign.store.pool.pairs().itertuples(index=False):
            document = campaign.corpus.document(row.doc_id)
            if document is not None and document.text is not None:
                campaign.judging.judge("ann", row.query_id, row.doc_id, 1)
        table = campaign.recall.table().set_index("query_id")
        progress = campaign.progress.topics().set_index("query_id")
        missing = progress["pool"] - progress["judged"]
        assert (missing > 0).all()
        assert (table["without_text"] == missing[table.index]).all()
        assert (table["high"] == table["found"] + missing[table.index]).all()
        # All that is judged is relevant: 90% are found where missing ones are a tenth of it, and nowhere else.
        assert (table["stop"] == (table["found"] / table["high"] >= 0.9)).all()


# --- what is handed out -----------------------------------------------------------------------------


@pytest.fixture
def client(partial: Campaign) -> Iterator[TestClient]:
    with card_client(JudgingService(partial.directory), partial) as client:
        yield client


def handed_out(campaign: Campaign, annotator: str = "ann") -> list[str]:
    return [document.doc_id for document in campaign.judging.next_pairs(annotator, "1", 200).documents]


@pytest.mark.parametrize("mode", ["pool", "random", "loop", "loop-in-pool", "pool-then-loop"])
@pytest.mark.parametrize("by", ["model", "mtf"])
def test_what_has_no_text_is_held_back_until_it_comes(partial: Campaign, tmp_path: Path, mode: str, by: str) -> None:
    partial.settings.set_loop(mode=mode, by=by)
    assert set(handed_out(partial)) == set(POOL[:WITH_TEXT])
    write_documents(tmp_path / "later.tsv", POOL[WITH_TEXT:50])
    partial.imports.import_files(documents=[tmp_path / "later.tsv"])
    assert set(handed_out(partial, "ben")) == set(POOL[WITH_TEXT:50])  # ann has the others in hand


@pytest.mark.slow
def test_second_opinions_and_qualification_are_of_documents_with_a_text(partial: Campaign, tmp_path: Path) -> None:
    (tmp_path / "nist.txt").write_text("".join(f"1 0 {d} 1\n" for d in POOL[60:]))
    partial.imports.import_files(qrels=tmp_path / "nist.txt")
    partial.people.assignments.update(annotators=2)
    for mode in ("pool", "loop"):
        partial.settings.set_loop(mode=mode)
        assert set(handed_out(partial)) == set(POOL[:WITH_TEXT])
    assert {doc_id for _, doc_id in partial.people.qualification_set.draw(90)} <= set(POOL[:WITH_TEXT])
    with pytest.raises(InputError, match="expected documents with a text, found 'd60' without one"):
        partial.people.qualification_set.set_pairs([("1", "d60")])


def test_a_document_without_a_text_is_not_taken_from_a_search(partial: Campaign) -> None:
    assert [found.doc_id for found in partial.judging.search.find("1", "ann", "d60").documents] == ["d60"]
    with pytest.raises(InputError, match="document 'd60' has no text yet and cannot be judged"):
        partial.judging.search.take("ann", "1", "d60")


def test_lists_and_preferences_are_of_documents_with_a_text(partial: Campaign) -> None:
    partial.settings.set_judging_page(task="list")
    assert partial.judging.topic_tasks.next_topics("ann", 1).fresh == ["1"]
    assert set(partial.judging.topic_tasks.state().documents("1")) <= set(POOL[:WITH_TEXT])
    choice = Choice(str(uuid4()), "ann", "1", "chosen", shown=("d0", "d60"), chosen=("d60",))
    result = partial.judging.topic_tasks.choose([choice], handed_out_only=True)
    assert result.refused[0].reason == "document 'd60' has no text yet and cannot be judged"
    partial.settings.set_judging_page(task="preference")
    assert partial.judging.topic_tasks.next_topics("ann", 1).fresh == ["1"]
    preference = Preference(str(uuid4()), "ann", "1", "d0", "d60", "left")
    assert (
        partial.judging.topic_tasks.prefer([preference], handed_out_only=True).refused[0].reason
        == result.refused[0].reason
    )


@pytest.mark.slow
def test_topics_that_wait_for_texts_are_not_called_decided(partial: Campaign, tmp_path: Path) -> None:
    """Topic 2 has no pooled document with a text: its list cannot be shown."""
    (tmp_path / "more.tsv").write_text("2\theat\n")
    (tmp_path / "b.run").write_text("2 Q0 d60 1 2 b\n2 Q0 d61 2 1 b\n")
    partial.imports.import_files(topics=tmp_path / "more.tsv", runs=[tmp_path / "b.run"])
    partial.people.pools.add("depth", depth=2)
    partial.settings.set_judging_page(task="list")
    shown = tuple(partial.judging.topic_tasks.state().documents("1"))
    partial.judging.topic_tasks.choose([Choice(str(uuid4()), "ann", "1", "chosen", shown=shown, chosen=shown[:1])])
    state = partial.results.overview.decisions()
    assert state is not None
    assert (state["topics"], state["decided"], state["waiting"]) == (1, 1, 1)
    assert partial.results.overview.next_step().sentence.startswith(
        "All topics with enough texts are judged. 1 topic cannot be judged yet"
    )
    assert "1 topic cannot be judged yet: too few of the pooled documents have a text." in ok(
        "status", partial.directory
    )


def test_an_import_says_what_it_releases(partial: Campaign, tmp_path: Path) -> None:
    write_documents(tmp_path / "later.tsv", [*POOL[WITH_TEXT:50], "elsewhere"])
    done = partial.imports.import_files(documents=[tmp_path / "later.tsv"]).done
    assert done[-1].endswith("10 pooled pairs have a text now and can be judged")


def test_a_reservation_of_before_lets_nobody_judge_what_has_no_text(partial: Campaign, client: TestClient) -> None:
    """An earlier version handed such documents out: cards that are open hold them still."""
    partial.store.queue.lease("1", [Selection("d60"), Selection("d0")], "ann", time.time(), time.time() + 600)
    answer = post(client, "sync", decisions=[judged("d60"), judged("d0")], query_id="1", holding=["d61"], want=3)
    assert [refused["reason"] for refused in answer["refused"]] == [
        "document 'd60' has no text yet and cannot be judged"
    ]
    assert len(answer["saved"]) == 1
    assert answer["closed"] == ["d61"]
    assert [document["doc_id"] for document in answer["documents"]] == ["d1", "d2", "d3"]
    assert answer["progress"] == {"topic": {"judged": 1, "pool": 40}, "all": {"judged": 1, "pool": 40}}
    (topic,) = post(client, "topics")["topics"]
    assert (topic["pool"], topic["judged"], topic["without_text"]) == (40, 1, 51)


def test_who_judged_it_before_can_take_it_back_but_not_give_it_anew(partial: Campaign) -> None:
    say(partial, ["d60"], 1)
    partial.store.queue.lease("1", [Selection("d60")], "ann", time.time(), time.time() + 600)
    undone = Judgement(str(uuid4()), "ann", "1", "d60", "undone")
    anew = Judgement(str(uuid4()), "ann", "1", "d60", "graded", 0)
    result = partial.judging.judge_many([undone, anew], leased_only=True)
    assert result.saved == [undone.uuid]
    assert "has no text yet" in result.refused[0].reason


@pytest.mark.slow
def test_where_no_document_has_a_text_all_are_handed_out_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\twing flow\n")
    (tmp_path / "a.run").write_text("".join(f"1 Q0 {d} {n} {9 - n} a\n" for n, d in enumerate(POOL[:5], 1)))
    with Campaign.create(tmp_path / "ids") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=[tmp_path / "a.run"])
        campaign.people.pools.add("depth", depth=10)
        assert handed_out(campaign) == POOL[:5]
        assert not campaign.judging.judge_many(
            [Judgement(str(uuid4()), "ann", "1", "d0", "graded", 1)], leased_only=True
        ).refused
        known = campaign.recall.for_topic("1")
        assert (known.judged, known.size, known.without_text) == (1, 5, 0)
        assert campaign.results.overview.status()["without_text"] == 0
        assert campaign.progress.totals("ann") == (1, 5)
        write_documents(tmp_path / "docs.tsv", POOL[:2])
        campaign.imports.import_files(documents=[tmp_path / "docs.tsv"])
        assert handed_out(campaign) == ["d1"]
        assert campaign.progress.totals("ann") == (1, 2)
        assert campaign.recall.for_topic("1").without_text == 3
