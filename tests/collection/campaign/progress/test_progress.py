"""How far a campaign is: pages, commands and routes show the same numbers, which are counted here once more."""

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement
from collection.campaign.progress import progress
from collection.campaign.settings.loop_settings import EVERYWHERE
from collection.store import SampleInUse
from tests.conftest import judging_token, signed_in
from tests.helpers import Opened, fill, ok, post

pytestmark = pytest.mark.slow

TOPICS = ["1", "2", "3"]
DOCS = [f"d{n}" for n in range(8)]


def say(campaign: Campaign, annotator: str, query_id: str, *doc_ids: str, grade: int = 1, **more: Any) -> None:
    made = [Judgement(str(uuid4()), annotator, query_id, d, "graded", grade, **more) for d in doc_ids]
    assert not campaign.judging.judge_many(made).refused


def pooled(campaign: Campaign, folder: Path) -> None:
    """Topic 1 is judged to the end, topic 2 in part, topic 3 not at all."""
    fill(campaign, TOPICS, DOCS)
    say(campaign, "ann", "1", *DOCS)
    say(campaign, "ben", "2", *DOCS[:3])


def searched(campaign: Campaign, folder: Path) -> None:
    """Somebody found and judged a document outside the pool."""
    pooled(campaign, folder)
    say(campaign, "ann", "2", "outside")


def in_the_loop(campaign: Campaign, folder: Path) -> None:
    searched(campaign, folder)
    campaign.settings.set_loop(mode="loop")


def partly_in_the_loop(campaign: Campaign, folder: Path) -> None:
    searched(campaign, folder)
    campaign.settings.set_loop(topics=["2"], mode="pool-then-loop")
    campaign.settings.set_loop(topics=["3"], mode="loop-in-pool")


def closed(campaign: Campaign, folder: Path) -> None:
    partly_in_the_loop(campaign, folder)
    campaign.settings.set_loop(topics=["1", "2"], mode="closed")


def calibrated(campaign: Campaign, folder: Path) -> None:
    """Ann has judged one of the two pairs that everybody judges; ben has the other one's topic, and not she."""
    fill(campaign, TOPICS, DOCS)
    campaign.people.accounts.add("ben", "annotator")
    campaign.people.assignments.assign(["2"], ["ben"])
    campaign.people.qualification_set.set_pairs([("1", "d1"), ("2", "d5")])
    say(campaign, "ann", "1", "d1", "d2")
    say(campaign, "cai", "2", "d5")


def without_texts(campaign: Campaign, folder: Path) -> None:
    """Three pooled documents have no text; one of them has an imported grade."""
    doc_ids = [*DOCS[:6], "m1", "m2", "m3"]
    pooled(campaign, folder)
    (folder / "m.run").write_text("".join(f"2 Q0 {d} {n} {20 - n} m\n" for n, d in enumerate(doc_ids, 1)))
    (folder / "nist.txt").write_text("2 0 m3 1\n")
    campaign.imports.import_files(runs=[folder / "m.run"], qrels=folder / "nist.txt")
    campaign.people.pools.add("depth", depth=10)


def without_texts_in_the_loop(campaign: Campaign, folder: Path) -> None:
    without_texts(campaign, folder)
    campaign.settings.set_loop(mode="loop")


def overlapping(campaign: Campaign, folder: Path) -> None:
    """Two judge each pair; one is adjudicated, one has a label too many."""
    pooled(campaign, folder)
    campaign.people.assignments.update(annotators=2)
    say(campaign, "cai", "2", "d0", grade=0)
    say(campaign, "boss", "2", "d1", counts_as="adjudication")
    (folder / "l.csv").write_text("annotator,query_id,doc_id,relevance\ndan,2,d0,1\n")
    campaign.imports.import_files(labels=folder / "l.csv")


def budget_used_up(campaign: Campaign, folder: Path) -> None:
    in_the_loop(campaign, folder)
    campaign.settings.set_loop(by="mtf", budget=5)


STATES = [
    pooled, searched, in_the_loop, partly_in_the_loop, closed, calibrated, without_texts, without_texts_in_the_loop,
    overlapping, budget_used_up,
]  # fmt: skip


def build(folder: Path, state: Callable[[Campaign, Path], None]) -> Campaign:
    campaign = Campaign.create(folder / "c")
    state(campaign, folder)
    return campaign


EASY = {pooled, searched, in_the_loop, without_texts, budget_used_up}  # the others have more than these


@pytest.fixture(
    params=[pytest.param(state, marks=pytest.mark.slow) if state in EASY else state for state in STATES],
    ids=lambda state: state.__name__,
)
def state(request: pytest.FixtureRequest, copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build, request.param)


class Counts(NamedTuple):
    """Of one topic: pairs of the pool, judged ones in it and outside it, those that nobody can judge, and its scope."""

    pool: int
    judged_in_pool: int
    outside: int
    without_text: int
    everywhere: bool

    @property
    def judged(self) -> int:
        return self.judged_in_pool + self.outside * self.everywhere


def counted(campaign: Campaign) -> dict[str, Counts]:
    """What there is, from the log and the pool alone."""
    words, pool = campaign.store.judgements.table(), campaign.store.pool.pairs()
    found = {}
    for query_id, scope in campaign.settings.modes_when_open().items():
        mine = set(pool.loc[pool["query_id"] == query_id, "doc_id"])
        judged = set(words.loc[words["query_id"] == query_id, "doc_id"])
        missing = [
            d for d, document in campaign.store.corpus.documents(sorted(mine - judged)).items() if document.text is None
        ]
        counts = len(mine), len(mine & judged), len(judged - mine), len(missing)
        found[query_id] = Counts(*counts, everywhere=scope in EVERYWHERE)
    return found


def tiles(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_every_place_shows_the_same_numbers(state: Campaign, opened: Opened) -> None:
    truth = counted(state)
    total = {name: sum(getattr(c, name) for c in truth.values()) for name in (*Counts._fields[:4], "judged")}
    status = json.loads(ok("status", state.directory, "--format", "json"))
    recall = pd.DataFrame(json.loads(ok("recall", state.directory, "--format", "json"))).set_index("query_id")
    offered = len(DOCS) + state.settings.loop().by_model  # a strategy does not offer the document outside the runs

    # Topic by topic: the command's status, and recall, whose scope is the same.
    for row in status["per_topic"]:
        c = truth[row["query_id"]]
        assert (row["pool"], row["judged"], row["judged_in_pool"], row["without_text"]) == (
            c.pool, c.judged, c.judged_in_pool, c.without_text,
        )  # fmt: skip
        assert recall.loc[row["query_id"], ["judged", "without_text"]].tolist() == [c.judged, c.without_text]
        assert (
            state.recall.for_topic(row["query_id"]).judged
            == state.progress.loop_scope.ledgers([row["query_id"]])[row["query_id"]].judged
            == c.judged
        )
        assert state.recall.for_topic(row["query_id"]).without_text == c.without_text
        endless = c.everywhere and row["mode"] != "closed" and c.judged < offered
        assert (row["left"] is None) == (row["goal"] is None) == (row["made"] is None) == endless
        assert endless or row["left"] == row["goal"] - row["made"]
        assert row["waiting"] == (0 if endless or row["mode"] == "closed" else row["without_text"])

    # The sums.
    for name in ("judged", "judged_in_pool", "without_text", "pool"):
        assert status[name] == total[name], name
    assert status["outside_pool"] == total["outside"]
    assert status["remaining"] == status["goal"] - status["made"] == sum(r["left"] or 0 for r in status["per_topic"])
    words = state.store.judgements.table()
    assert status["judged_in_pool"] + status["outside_pool"] == len(words[["query_id", "doc_id"]].drop_duplicates())

    # The command in words.
    said = ok("status", state.directory)
    line = re.search(r"pool +(\d+) pairs, (\d+) judged", said)
    assert line is not None
    assert [int(number) for number in line.groups()] == [total["pool"], total["judged_in_pool"]]
    left = re.search(r"(\d+) left\n", said)
    assert (left is None) == (status["in_loop"] == len(truth))
    assert left is None or int(left[1]) == status["remaining"]
    outside = re.search(r"(\d+) judged pairs? outside the pool", said)
    assert int(outside[1] if outside else 0) == total["outside"]

    # Overview.
    app = opened(state, "overview")
    shown = tiles(app)
    assert shown["Pairs in the pool"] == str(total["pool"])
    assert shown["Pooled pairs judged"] == str(total["judged_in_pool"])
    assert shown.get("Other pairs judged", "0") == str(total["outside"])
    table = app.dataframe[0].value.set_index("query_id")
    for row in status["per_topic"]:
        here = table.loc[row["query_id"]]
        assert [here[name] for name in ("judged", "pool", "without_text")] == [
            row[name] for name in ("judged", "pool", "without_text")
        ]
        assert pd.isna(here["left"]) if row["left"] is None else here["left"] == row["left"]

    # The Recall page, and which topics may stop.
    app = opened(state, "recall")
    shown = tiles(app)
    ready = int(recall["stop"].sum())
    assert (shown["Pairs judged"], shown["Topics ready to stop"]) == (str(total["judged"]), str(ready))
    assert int(recall["advice"].str.startswith("ready to stop").sum()) == ready
    assert ok("recall", state.directory).startswith(
        f"{ready} of 3 topics " if ready else "No topic is ready to stop yet"
    )
    assert shown["Topics started"] == str(sum(c.judged > 0 for c in truth.values()))
    table = app.dataframe[0].value
    assert int(table["judged"].sum()) == total["judged"]

    # The Assign page, and its command.
    work = json.loads(ok("assign", state.directory, "--format", "json"))
    assert (work["workload"]["judgements"], work["workload"]["made"]) == (status["goal"], status["made"])
    for row, other in zip(work["topics"], status["per_topic"], strict=True):
        assert (row["wanted"], row["made"], row["left"]) == (other["goal"], other["made"], other["left"])
    app = opened(state, "assign")
    if status["in_loop"] == len(truth):
        assert any("without a fixed number of judgements" in text.value for text in app.markdown)
    else:
        shown = tiles(app)
        assert (shown["Judgements needed"], shown["Judgements made"]) == (str(status["goal"]), str(status["made"]))
        assert any(text.value.startswith(f"**{status['remaining']:,} judgement") for text in app.markdown)

    # The published card.
    facts = state.exports.collection.facts()
    assert facts["pool"]["without_text"] == total["without_text"]
    assert {row["query_id"]: row["judged"] for row in facts["recall"]["per_topic"]} == {
        query_id: c.judged for query_id, c in truth.items() if c.judged
    }


def test_an_annotator_is_told_the_same_everywhere(state: Campaign, opened: Opened) -> None:
    """The card's routes, the own Overview, the Assign page, and what is in fact handed out."""
    signed_in(state, "ann")
    service = JudgingService(state.directory)
    app = Starlette(routes=service.routes(), lifespan=service.lifespan)
    with TestClient(app, headers={TOKEN_HEADER: judging_token(state)}) as client:
        topics = {topic["query_id"]: topic for topic in post(client, "topics")["topics"]}
        synced = {query_id: post(client, "sync", query_id=query_id, want=0)["progress"] for query_id in topics}
        time = post(client, "time")
    done, goal = state.progress.totals("ann")
    for query_id, topic in topics.items():
        assert synced[query_id]["topic"] == {name: topic[name] for name in ("judged", "pool")}
        assert synced[query_id]["all"] == {"judged": done, "pool": goal}
        assert topic["without_text"] == counted(state)[query_id].without_text
    if goal is None or goal == done:
        assert not re.match(r"\d", time["left"])
    else:
        assert re.match(rf"{goal - done:,} documents? left", time["left"])
    if not len(state.store.assignments.qualification_set()):
        assert done == sum(topic["judged"] for topic in topics.values())
        if left := state.progress.budget.left():  # which no topic has for itself
            assert goal == done + left.total
            assert {topic["pool"] for topic in topics.values()} == {None}
        else:
            assert goal is None or goal == sum(topic["pool"] for topic in topics.values())
    page = opened(state, "assign")
    tables = [frame.value for frame in page.dataframe if "done" in frame.value]
    row = tables[0].set_index("name").loc["ann"]
    assert row["done"] == done
    assert pd.isna(row["left"]) if goal is None else row["left"] == goal - done
    page = opened(state, "overview", "eve", "annotator")
    done, goal = state.progress.totals("eve")
    if goal is not None:
        (bar,) = page.get("progress")
        where = "within the judgement budget" if state.progress.budget.limited_topics() else "in your topics"
        assert bar.proto.text == f"{done:,} of {goal:,} pairs {where} judged, by you or others"
    done, goal = state.progress.totals("ann")
    if goal is not None:
        given = 0
        for query_id in (*state.store.assignments.qualification_left("ann"), *TOPICS):
            pairs = state.judging.next_pairs("ann", query_id, 100)
            given += len(pairs.documents)
            say(state, "ann", query_id, *[document.doc_id for document in pairs.documents])
        assert given == goal - done
        with Campaign(state.directory) as anew:
            assert anew.progress.totals("ann") == (goal, goal)


def test_the_total_stays_while_the_qualification_set_is_judged(tmp_path: Path) -> None:
    """Of other people's topics, of one's own, and beside other annotators: it neither shrinks nor grows."""
    with Campaign.create(tmp_path / "c") as campaign:
        fill(campaign, TOPICS, DOCS)
        for name in ("ben", "cai"):
            campaign.people.accounts.add(name, "annotator")
        campaign.people.assignments.assign(["2"], ["ben"])
        campaign.people.assignments.assign(["3"], ["cai"])
        campaign.people.qualification_set.set_pairs([("1", "d1"), ("2", "d5"), ("2", "outside"), ("3", "d0")])
        expected = {"ann": 8 + 3, "ben": 16 + 2, "cai": 16 + 2}
        done = dict.fromkeys(expected, 0)
        for at in count():
            with Campaign(campaign.directory) as anew:  # which has counted nothing before
                for name, total in expected.items():
                    assert anew.progress.totals(name) == (done[name], total), (at, name)
            turns = {name: next(iter(campaign.store.assignments.qualification_left(name)), None) for name in expected}
            if not any(turns.values()):
                break
            for name, query_id in turns.items():
                if query_id is not None:
                    (document,) = campaign.judging.next_pairs(name, query_id, 1).documents
                    say(campaign, name, query_id, document.doc_id)
                    done[name] += 1
        assert at == 4


def test_a_topic_that_is_closed_in_its_pool_counts_its_pool(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c") as campaign:
        closed(campaign, tmp_path)
        assert campaign.progress.topics("1").iloc[0][["judged", "left"]].tolist() == [8, 0]
        assert campaign.progress.topics("2").iloc[0][["judged", "judged_in_pool", "left"]].isna().sum() == 0
        assert campaign.progress.standing("1", "zoe") == (8, 8)
        assert campaign.progress.standing("2", "zoe") == (4, 4)
        assert campaign.recall.for_topic("2").judged == campaign.progress.topics("2").iloc[0]["judged"] == 4


def test_judgements_of_others_are_included_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Campaign.create(tmp_path / "c") as campaign:
        pooled(campaign, tmp_path)
        assert campaign.progress.totals("ann") == (8 + 3, 24)
        say(campaign, "ben", "3", *DOCS[:2])
        assert campaign.progress.totals("ann") == (8 + 3, 24)
        monkeypatch.setattr(progress, "OTHERS_AFTER", 0.0)
        assert campaign.progress.totals("ann") == (8 + 3 + 2, 24)


def test_the_judge_command_counts_the_pool_and_the_rest_apart(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c") as campaign:
        in_the_loop(campaign, tmp_path)
        said = ok("judge", campaign.directory, "--topic", "2", "--doc", "d4", "--annotator", "ann", "--grade", "0")
        assert (
            said
            == "Topic 2, document d4: grade 0 by ann. 4 of 8 pairs in the topic's pool judged, 1 outside the pool.\n"
        )


def test_own_judgements_count_in_a_sample_that_several_annotators_judge(tmp_path: Path) -> None:
    """Pairs outside the sample need no judgements, so that all pairs need fewer together than the pool has."""
    with Campaign.create(tmp_path / "campaign") as campaign:
        fill(campaign, ["1"], DOCS)
        campaign.people.assignments.update(annotators=2)
        labels = campaign.machine_labels.sets.create("gpt-judge", "llm", {"model": "gpt"})
        pairs = campaign.store.pool.pairs()[["query_id", "doc_id"]]
        sample = pairs.assign(size=1.0, priority=[float(n) for n in range(len(pairs))])
        campaign.store.machine_labels.set_sample(labels.key, sample)
        campaign.store.machine_labels.use_sample(SampleInUse(labels.key, 3))
        campaign.people.assignments.spread_overlap()
        say(campaign, "ann", "1", *sample["doc_id"][-2:])
        assert campaign.progress.standing("1", "ann") == (2, 3)
        assert campaign.progress.topic_standings("ann") == {"1": (2, 3)}
        assert campaign.progress.totals("ann") == (2, 3)
        assert campaign.progress.standing("1", "ben") == (0, 3)
