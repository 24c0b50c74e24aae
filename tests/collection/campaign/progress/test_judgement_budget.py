"""The budget of all topics: how it is shared among them, and where people are told that it is used up."""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from annotate.card.server import routes, trainer
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.campaign.log import results
from collection.campaign.log.results import BudgetState
from collection.campaign.progress import judging_budget
from collection.campaign.progress.judging_budget import shares
from collection.campaign.progress.progress import Progress, Standing
from collection.campaign.settings.loop_settings import LoopSettings
from collection.core.phrases import percent
from collection.core.records import Run
from tests.annotate.card.server import test_loop_routes
from tests.collection.campaign.loop.test_adaptive_loop import judge, judge_all, made, relevant
from tests.helpers import Opened, at_once, first_of, ok, run

pytestmark = pytest.mark.slow

TEXTS = "abcdefghijklmnopxyz"


def shared_one_by_one(budget: int, taken: Sequence[int], most: Sequence[int]) -> list[int]:
    """Each document of the budget in turn, to the topic that has fewest of those that can use one."""
    have = list(taken)
    for _ in range(budget - sum(taken)):
        free = [place for place, count in enumerate(have) if count < most[place]]
        if not free:
            break
        have[min(free, key=have.__getitem__)] += 1
    return have


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=1, max_size=6))
def test_a_share_is_what_one_by_one_gives(budget: int, topics: list[tuple[int, int]]) -> None:
    taken, most = zip(*topics, strict=True)
    given_ = shares(budget, taken, most).tolist()
    assert given_ == shared_one_by_one(budget, taken, most)
    assert sum(given_) <= max(budget, sum(taken))


def judged(campaign: Campaign) -> dict[str, int]:
    return {topic: len(campaign.store.judgements.table(query_id=topic)["doc_id"].unique()) for topic in ("1", "2", "3")}


def test_a_budget_is_shared_equally_and_can_be_raised(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=12) as campaign:  # topic 2 has 4 documents, topic 3 none
        for topic in ("1", "2", "3"):
            judge_all(campaign, topic=topic)
        assert judged(campaign) == {"1": 8, "2": 4, "3": 0}
        campaign.settings.set_loop(budget=14)
        for topic in ("3", "2", "1"):
            judge_all(campaign, topic=topic)
        assert judged(campaign) == {"1": 10, "2": 4, "3": 0}


def test_the_share_of_a_closed_topic_goes_to_the_others(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="model", budget=9) as campaign:
        assert len(judge_all(campaign, topic="1")) == 3
        campaign.settings.set_loop(topics=["2"], mode="closed")
        assert len(judge_all(campaign, topic="1")) == 2
        assert len(judge_all(campaign, topic="3")) == 4


@pytest.mark.parametrize("texts", [TEXTS, ""])
@pytest.mark.parametrize(("settings", "reads"), [({"budget": 9}, 1), ({"topic_budget": 9}, 0), ({}, 0)])
def test_runs_are_read_for_a_budget_alone_and_before_anybody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: str, settings: dict[str, int], reads: int
) -> None:
    with made(tmp_path, texts=texts, by="mtf", **settings) as campaign:
        in_transaction = []
        read = campaign.corpus.runs

        def noted(*names: Sequence[str]) -> Iterator[Run]:
            in_transaction.append(campaign.store.connection.db.conn.in_transaction)
            return read(*names)

        monkeypatch.setattr(campaign.corpus, "runs", noted)
        assert judge_all(campaign, 2, topic="1")
        assert in_transaction == [False] * reads


@pytest.mark.long
def test_annotators_at_once_stay_within_the_budget(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=11) as campaign:
        directory = campaign.directory
        judge_all(campaign, 1, topic="2")

    def work(name: str, order: Sequence[str]) -> None:
        with Campaign(directory) as own:
            for topic in order:
                while documents := own.judging.next_pairs(name, topic, 3).documents:
                    judge(own, documents[0].doc_id, name, topic)

    at_once(*(functools.partial(work, f"ann{n}", order) for n, order in enumerate(("12", "21", "12"))))
    with Campaign(directory) as campaign:
        assert sum(judged(campaign).values()) <= 11
        for topic in ("2", "1"):  # what was held when somebody came to the end is free again
            judge_all(campaign, topic=topic, annotator="late")
        assert judged(campaign) == {"1": 7, "2": 4, "3": 0}


def test_it_is_said_that_the_budget_is_used_up(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=6) as campaign:
        assert campaign.results.overview.next_step().page == "judge"
        assert campaign.progress.budget.state().words == ""
        for topic in ("1", "2"):
            judge_all(campaign, topic=topic)
        step = campaign.results.overview.next_step()
        assert step.page == "loop"
        directory = campaign.directory
    words = (
        "The campaign's judgement budget (6) is used up. Raise it on the Loop page or with `cleverdon loop DIR "
        "--budget N`, or export the qrels."
    )
    assert step.sentence == words
    assert f"Next: {words}" in ok("status", directory)
    assert words in ok("loop", directory)
    assert words in ok("recall", directory)
    assert words not in ok("loop", directory, "--budget", "9")
    said = run("loop", directory, "--mode", "pool").stderr
    assert "no topic is in the loop: budgets need --mode loop" in said
    assert run("loop", directory, "--mode", "closed").stderr == ""
    said = run("loop", directory, "--budget", "9").stderr
    assert said == "note: all topics are closed: reopen one with --topic Q --mode campaign\n"
    ok("loop", directory, "--topic", "1", "--mode", "campaign")
    with Campaign(directory) as campaign:
        assert campaign.settings.mode("1") == "pool"


def test_it_is_said_that_the_budget_of_every_topic_is_used_up(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", topic_budget=1) as campaign:
        for topic in ("1", "2"):
            judge_all(campaign, topic=topic)
        assert not campaign.progress.budget.state().used_up  # topic 3 has judged nothing
        campaign.settings.set_loop(topics=["3"], mode="closed")
        assert campaign.results.overview.next_step().sentence.startswith(
            "The judgement budget per topic (1) is used up in every loop. Raise"
        )


def spent(judged: int, *, budget: int, pairs: int = 2000) -> BudgetState:
    return BudgetState(budget, 0, {"1": judged, "2": 0}, ["1", "2"], pairs=pairs)


def test_a_budget_for_decisive_pairs_is_compared_with_replays() -> None:
    assert spent(0, budget=300).outlook == (
        "The budget is 15% of the 2,000 pairs that can be judged. In replays, Kendall's tau with the order by all "
        "pairs of the pool was 0.876 at 10%, 0.927 at 25% and 0.975 at 50% on average; judging could stop after 41% "
        "to 85%, depending on the collection."
    )
    assert spent(0, budget=2000).outlook == "The budget covers all 2,000 pairs that can be judged."
    assert spent(0, budget=300, pairs=0).outlook == ""
    assert spent(0, budget=300)._replace(looping=[]).outlook == ""
    assert spent(300, budget=300).outlook == ""


def test_a_budget_for_decisive_pairs_that_is_used_up_says_what_replays_needed() -> None:
    assert spent(299, budget=300).words == ""
    assert spent(300, budget=300).words == (
        "The campaign's judgement budget (300) is used up. In replays, judging could stop after 41% to 85% of the "
        "pool, which would be 820 to 1,700 of 2,000 pairs here. Raise it on the Loop page or with `cleverdon loop DIR "
        "--budget N`, or export the qrels."
    )
    assert "replays" not in spent(1700, budget=1700).words
    assert "replays" not in spent(300, budget=300, pairs=0).words


def test_the_replays_are_those_of_the_documentation() -> None:
    page = Path("docs/explanation/fewer-judgements.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| decisive pairs, expected values |"))
    assert [float(cell) for cell in row.split("|")[2:5]] == list(results.REPLAYED_TAUS.values())
    assert f"| strategy | {' | '.join(map(percent, results.REPLAYED_TAUS))} |" in page
    lowest, highest = map(percent, results.REPLAYED_STOPS)
    text = " ".join(page.split())
    assert f"({lowest} judged for 0.90 on TREC DL 2019)" in text
    assert f"({highest} on the later systems)" in text


def test_a_card_is_told_that_the_budget_is_used_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "start_process", test_loop_routes.Beside)
    monkeypatch.setattr(test_loop_routes, "relevant", lambda doc_id: bool(relevant(doc_id)))
    with (
        made(tmp_path, texts=TEXTS, by="mtf", budget=6) as campaign,
        test_loop_routes.serving(JudgingService(campaign.directory)) as client,
    ):
        card = test_loop_routes.Card(client, "ann")
        card.settle()
        order = [card.judge() for _ in range(3)]
        assert len(set(order)) == 3
        assert (card.holding, card.last["next"]) == ([], "2")
        assert card.last["budget"] == "The topic's share (3) of the judgement budget (6) is used up"
        judge_all(campaign, topic="2")
        answer = card.post("sync", want=1)
        assert answer["budget"] == "The campaign's judgement budget (6) is used up"
        assert answer["next"] is None


def test_overview_and_the_loop_page_say_that_the_budget_is_used_up(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=2) as campaign:
        for topic in ("1", "2"):
            judge_all(campaign, topic=topic)
        app = opened(campaign, "overview")
        words = "The campaign's judgement budget (2) is used up. Raise it"
        assert any(words in element.value.replace("\\", "") for element in app.markdown)
        captions = [element.value for element in app.caption]
        assert any(each.endswith("The judgement budget is used up.") for each in captions)
        assert not any("advises when to stop" in each for each in captions)
        app.switch_page("views/loop/loop.py").run()
        assert words in app.warning[0].value.replace("\\", "")
        assert "2 of 2 pairs judged." in [element.value for element in app.caption]


@pytest.mark.parametrize("by", first_of(["model", "mtf", "decisive"]))
@pytest.mark.parametrize("mode", ["loop", "loop-in-pool"])
def test_what_is_left_follows_the_budget(tmp_path: Path, by: str, mode: str) -> None:
    with made(tmp_path, texts=TEXTS, by=by, mode=mode, budget=5, measure="nDCG@5") as campaign:
        campaign.people.pools.add("depth", depth=5)  # 12 pairs of topic 1, 4 of topic 2
        assert campaign.progress.totals("ann") == (0, 5)
        assert campaign.progress.standing("1", "ann") == (0, None)
        assert campaign.results.overview.status()["budget_left"] == 5
        assert (
            "5 pairs can still be judged within the judgement budget." in campaign.results.overview.next_step().sentence
        )
        for doc_id in "ab":
            judge(campaign, doc_id, leased=False)
        assert campaign.progress.totals("ann", "1") == (2, 5)
        assert campaign.judging.history.time("ann").left == 3
        words = "budget               3 pairs can still be judged\n"
        assert words in ok("status", campaign.directory)
        for doc_id in "axy":
            judge(campaign, doc_id, topic="2", leased=False)
        with Campaign(campaign.directory) as anew:
            assert anew.progress.totals("ann") == (5, 5)
            status = anew.results.overview.status()
            assert (status["budget_left"], status["remaining"]) == (0, 0)
            assert "left" not in status["next"]["sentence"]


def test_what_is_left_follows_the_budget_of_each_topic(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", mode="loop-in-pool", topic_budget=4) as campaign:
        campaign.people.pools.add("depth", depth=2)  # 5 pairs of topic 1, 3 of topic 2
        assert campaign.progress.totals("ann") == (0, 7)
        assert campaign.progress.budget.left() == ({"1": 4, "2": 3, "3": 0}, 7)
        campaign.settings.set_loop(topics=["2"], mode="pool")
        assert campaign.progress.totals("ann") == (0, 7)  # the pool of topic 2, which no budget limits
        assert campaign.progress.topics().set_index("query_id")["left"].dropna().to_dict() == {"2": 3, "3": 0}


def test_a_pool_before_the_loop_is_judged_whatever_the_budget(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", mode="pool-then-loop", budget=10) as campaign:
        campaign.people.pools.add("depth", depth=2)  # 5 pairs of topic 1, 3 of topic 2
        assert campaign.progress.totals("ann") == (0, 10)
        campaign.settings.set_loop(budget=4)
        assert campaign.progress.totals("ann") == (0, 8)


def test_second_opinions_come_on_top_of_the_budget(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", mode="loop-in-pool", budget=4) as campaign:
        campaign.people.pools.add("depth", depth=2)
        campaign.people.assignments.update(annotators=2)
        for doc_id in "ab":
            judge(campaign, doc_id, "bob", leased=False)
        assert campaign.progress.totals("ann") == (0, 4)
        assert campaign.progress.totals("bob") == (2, 4)
        for topic, doc_id in (("1", "c"), ("2", "x")):
            judge(campaign, doc_id, "bob", topic, leased=False)
        with Campaign(campaign.directory) as anew:
            assert anew.progress.totals("ann") == (0, 4)
            assert anew.progress.totals("bob") == (4, 4)


def test_a_card_counts_the_budget(tmp_path: Path) -> None:
    with (
        made(tmp_path, texts=TEXTS, by="mtf", budget=6) as campaign,
        test_loop_routes.serving(JudgingService(campaign.directory)) as client,
    ):
        card = test_loop_routes.Card(client, "ann")
        judge(campaign, "a", leased=False)
        progress = card.post("sync", want=0)["progress"]
        assert (progress["topic"], progress["all"]) == ({"judged": 1, "pool": None}, {"judged": 1, "pool": 6})


def test_pages_count_the_budget(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", mode="loop-in-pool", budget=6) as campaign:
        campaign.people.pools.add("depth", depth=5)
        judge(campaign, "a", leased=False)
        app = opened(campaign, "overview")
        assert any(
            "1 pair judged; 5 pairs can still be judged within the judgement budget." in each.value
            for each in app.caption
        )
        app = opened(campaign, "overview", name="bob", role="annotator")
        assert any("5 of 6 pairs left within the judgement budget." in each.value for each in app.markdown)


def test_nothing_is_said_of_a_budget_that_the_documents_do_not_reach(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=1000) as campaign:
        for topic in ("1", "2", "3"):
            judge_all(campaign, topic=topic)
        assert campaign.results.overview.status()["budget_left"] == 0
        assert "budget" not in campaign.results.overview.next_step().sentence
        assert "budget" not in ok("status", campaign.directory)


def test_labels_outside_the_pool_need_no_second_opinion(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="model") as campaign:
        campaign.people.pools.add("depth", depth=3)
        pool = campaign.store.pool.pairs()
        outside = sorted(set(TEXTS) - set(pool.loc[pool["query_id"] == "1", "doc_id"]))
        (tmp_path / "qrels").write_text("".join(f"1 0 {doc_id} 0\n" for doc_id in outside))
        campaign.imports.import_files(qrels=tmp_path / "qrels")
        campaign.settings.set_loop(topics=["2", "3"], mode="closed")
        campaign.settings.set_loop(mode="loop-in-pool", budget=len(outside) + 2)
        campaign.people.assignments.update(annotators=2)
        assert campaign.progress.totals("ann") == (0, 2)


def test_the_record_of_a_calibration_is_read_for_a_budget_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    monkeypatch.setattr(judging_budget, "pending_topics", lambda store: reads.append(store) or ())
    with made(tmp_path) as campaign:
        assert campaign.progress.budget.limited_topics() is None
        assert not reads
        campaign.settings.set_loop(budget=9)
        assert campaign.progress.budget.limited_topics() == ["1", "2", "3"]
        assert len(reads) == 1


@pytest.mark.parametrize("by", first_of(["mtf", "decisive"]))
def test_a_budget_costs_a_save_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """Each statement of the order of the campaign once, and nothing for settings that are known."""
    with made(tmp_path, texts=TEXTS, by=by, mode="loop-in-pool", budget=9, measure="nDCG@5") as campaign:
        campaign.people.pools.add("depth", depth=5)
        campaign.progress.annotator_standing("1", "ann")
        judge(campaign, "a", leased=False)
        seen: list[str] = []
        checked: list[LoopSettings] = []

        def noted(settings: LoopSettings) -> None:
            checked.append(settings)

        def refuse(*_: object) -> None:
            raise AssertionError("the judged documents of all topics are counted")

        monkeypatch.setattr(LoopSettings, "__post_init__", noted)
        monkeypatch.setattr(campaign.store.queue, "count_taken", refuse)
        campaign.store.connection.db.conn.set_trace_callback(seen.append)
        assert campaign.progress.annotator_standing("1", "ann").all == (1, 9)
        campaign.store.connection.db.conn.set_trace_callback(None)
        assert not checked
        assert sum("m.mode, coalesce(m.closed" in statement for statement in seen) == 1  # modes of all topics


def test_counts_read_in_a_transaction_that_fails_are_forgotten(tmp_path: Path) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", mode="loop-in-pool", budget=9) as campaign:
        campaign.people.pools.add("depth", depth=5)
        before = campaign.progress.budget.left()
        with pytest.raises(KeyError), campaign.transaction():
            judge(campaign, "a", leased=False)
            assert campaign.progress.budget.left() != before
            raise KeyError
        judge(campaign, "x", topic="2", leased=False)  # gets the id of the entry that was rolled back
        with Campaign(campaign.directory) as anew:
            assert campaign.progress.budget.left() == anew.progress.budget.left()


def test_the_list_of_topics_counts_them_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    with made(tmp_path, texts=TEXTS, by="mtf", budget=9) as campaign:
        judge(campaign, "a", leased=False)
        asked: list[str] = []
        standing = Progress.standing

        def noted(progress: Progress, query_id: str, annotator: str) -> Standing:
            asked.append(query_id)
            return standing(progress, query_id, annotator)

        monkeypatch.setattr(Progress, "standing", noted)
        topics = routes._topics(campaign, "ann", {})["topics"]
        assert [(topic["judged"], topic["pool"]) for topic in topics] == [(1, None), (0, None), (0, None)]
        app = opened(campaign, "overview", "eve", "annotator")
        assert any(len(frame.value) == 3 for frame in app.dataframe)
        assert not asked
