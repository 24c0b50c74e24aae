"""How much has been found and what may be promised: by hand-made ledgers, in campaigns, and on the pages."""

import time
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest

from annotate.views.widgets import recall_charts as charts
from collection import Campaign, Judgement
from collection.campaign.recall.recall import TABLE, _batches, _curve, _estimate, _rules
from collection.campaign.recall.recall_advice import (
    Advice,
    describe_cost,
    describe_ready,
    describe_target_change,
    promise_and_advice,
)
from collection.campaign.settings.loop_settings import IN_POOL, LoopSettings
from collection.campaign.settings.settings import Settings
from collection.core.errors import InputError, UnknownNameError
from collection.stopping import Ledger, StopKind, betting, estimate
from collection.store import Selection
from tests.helpers import Opened, words

LOOP = LoopSettings(mode="loop")


def promised(ledger: Ledger, mode: str = "loop", settings: LoopSettings = LOOP) -> str:
    """The promise in words."""
    decision = betting(ledger, target=settings.target, confidence=settings.confidence)
    return promise_and_advice(ledger, decision, settings, mode, mode in IN_POOL)[0]


def drawing(relevant: list[int], drawn: list[int], size: int) -> Ledger:
    return Ledger.of(relevant, size, drawn=drawn)


# --- hand-made ledgers ----------------------------------------------------------------------------


STOPS = drawing([1] * 10 + [0] * 75, [0] * 10 + [1] * 75, 100)
"""Against 12 relevant ones: .7 * (90 * 89) / (15 * 14) = 26.7, more than 20."""
GOES_ON = drawing([1] * 10 + [0] * 10, [0] * 20, 100)


@pytest.mark.parametrize(
    ("ledger", "mode", "sentence"),
    [
        (Ledger.of([], 0), "loop", "No document has a text yet, so there is nothing to judge."),
        (Ledger.of([], 0), "pool", "This topic has no pool yet, so there is nothing to judge."),
        (Ledger.of([], 9), "loop", "Nothing is judged yet, so its recall is unknown."),
        (Ledger.of([], 9), "closed", "This topic was closed before anything was judged, so its recall is unknown."),
        # .7 * 99 / (99 - n) and the small stakes pass 20 at n = 95: 17.3 + 2.1 + 1.3 + .5.
        (Ledger.of([0], 100), "loop", "No relevant document is found yet; if the next 95 random documents are not "
         "relevant either, there is none, with 95% confidence."),
        (drawing([0] * 97, [1] * 97, 100), "loop", "There is no relevant document, with 95% confidence however often "
         "you check."),
        (STOPS, "loop", "At least 90% of the relevant documents are found, with 95% confidence however often you "
         "check."),
        (STOPS, "closed", "At least 90% of the relevant documents are found, with 95% confidence however often you "
         "check."),
        (STOPS, "loop-in-pool", "At least 90% of the relevant documents in the pool are found, with 95% confidence "
         "however often you check. Documents outside the pool are not covered."),
        (GOES_ON, "closed", "This topic is closed, and its judgements do not guarantee 90% recall."),
        (GOES_ON, "pool", "20 of 100 documents in the pool are judged, so 90% recall is not guaranteed yet. Documents "
         "outside the pool are not covered."),
        (Ledger.of([1, 0, 1, 0], 4), "pool", "4 of 4 documents in the pool are judged, and 2 are relevant. Documents "
         "outside the pool are not covered."),
        (Ledger.of([1, 0], 2), "loop", "2 of 2 documents are judged, and 1 is relevant."),
        (Ledger.of([0], 1), "loop", "1 of 1 document is judged, and 0 are relevant."),
        # A topic with 90% relevant, early and late: 90 / .9 + 1 = 101 relevant ones cannot be.
        (Ledger.of([1] * 18 + [0] * 2, 100), "loop", "90% recall is not guaranteed yet: 18 of the last 20 documents "
         "were relevant."),
        (Ledger.of([1] * 90, 100), "loop", "At least 90% of the relevant documents are found, even if all 10 unjudged "
         "documents are relevant."),
    ],
)  # fmt: skip
def test_each_state_has_its_sentence(ledger: Ledger, mode: str, sentence: str) -> None:
    assert promised(ledger, mode) == sentence


def test_what_is_missing_is_a_number_that_would_do() -> None:
    early = drawing([1] * 10 + [0] * 50, [0] * 60, 100)
    needed = betting(early).needed
    sentence = "90% recall is not guaranteed yet; it is, with 95% confidence, if the next"
    assert promised(early) == f"{sentence} {needed} random documents are not relevant."
    for more, stop in ((needed - 1, False), (needed, True)):
        then = drawing([1] * 10 + [0] * (50 + more), [0] * 60 + [1] * more, 100)
        assert betting(then).stop == stop
        assert promised(then).startswith("At least 90%") == stop


@pytest.mark.parametrize(("drawn", "more"), [([0] * 20, ""), ([0] * 19 + [1], "more ")])
def test_without_random_draws_nothing_is_promised(drawn: list[int], more: str) -> None:
    off = replace(LOOP, run=0)
    ledger = drawing([1] * 10 + [0] * 10, drawn, 100)
    assert promised(ledger, settings=off) == (
        f"No recall can be guaranteed without {more}random draws: enable them on the Loop page."
    )
    assert "Loop page" not in promised(ledger, settings=replace(off, control=0.1))
    assert promised(STOPS, settings=off).startswith("At least 90%")  # what was drawn before still counts


def test_all_of_it_can_be_promised_too() -> None:
    ledger = drawing([1] + [0] * 97, [0] + [1] * 97, 100)
    assert promised(ledger, settings=replace(LOOP, target=1.0)).startswith("All relevant documents are found, with 95%")


def test_the_curve_begins_at_nothing() -> None:
    curve = _curve(drawing([1, 0, 1], [0, 1, 0], 9))
    assert curve.to_dict("list") == {
        "judged": [0, 1, 2, 3], "found": [0, 1, 1, 2], "drawn": [False, False, True, False],
    }  # fmt: skip
    assert len(_curve(Ledger.of([], 9))) == 1


def test_the_batches_leave_draws_out() -> None:
    # Ten ranked with six relevant, three draws, then six ranked with one: windows 1-10 and 14-19.
    ledger = drawing([1] * 6 + [0] * 4 + [1] * 3 + [0] * 5 + [1], [0] * 10 + [1] * 3 + [0] * 6, 50)
    assert _batches(ledger).round(3).to_dict("list") == {
        "first": [1, 14], "last": [10, 19], "judged": [10, 6], "relevant": [6, 1], "precision": [0.6, 0.167],
    }  # fmt: skip
    assert _batches(Ledger.of([1] * 12, 50))["judged"].tolist() == [12]  # two alone make no window
    assert _batches(Ledger.of([0] * 1000, 5000))["judged"].tolist() == [50] * 20
    assert _batches(Ledger.of([], 50)).empty


def cost(ledger: Ledger) -> str:
    return describe_cost(ledger, _estimate(ledger, 0.95))


def test_the_cost_of_more_recall_by_hand() -> None:
    # 500 found and no draws: 1% is 5; the last 50 ranked had 10: 5 / .2 = 25 judgements.
    many = Ledger.of([1] * 490 + ([1] + [0] * 4) * 10, 5000)
    assert cost(many) == (
        "The next 1% of recall costs about 25 judgements: 1% of the 500 found so far is 5, and 10 of the last 50 "
        "ranked documents were relevant."
    )
    # 20 found: 1% is less than a document; 4 draws of misses do not change the precision.
    few = drawing([1] * 18 + [0] * 48 + [1] * 2 + [0] * 4, [0] * 68 + [1] * 4, 400)
    assert cost(few).startswith("One more relevant document costs about 25 judgements: ")
    assert cost(Ledger.of([1] * 49 + [0], 90)).startswith("One more relevant document costs about 1 judgement: ")
    # 28 judgements found 24.
    assert cost(Ledger.of([1] * 24 + [0] * 4, 50)).startswith("One more relevant document costs about 1.2 judgements: ")


@pytest.mark.parametrize(
    ("ledger", "reason"),
    [
        (Ledger.of([1, 0], 2), "All documents are judged."),
        (Ledger.of([], 0), "There is nothing to judge."),
        (Ledger.of([0, 0], 9), "The cost of more recall is unknown until a relevant document is found."),
        (Ledger.of([1] + [0] * 50, 90), "None of the last 50 ranked documents was relevant, so the cost of more "
         "recall is unknown."),
        (drawing([1] * 25 + [0] * 13, [1] + [0] * 28 + [1] * 9, 50), "The cost of more recall is unknown: by the "
         "estimate, all relevant documents are found."),
        (drawing([1], [1], 9), "No ranked document is judged, so the cost of more recall is unknown."),
    ],
)  # fmt: skip
def test_where_the_cost_of_more_recall_cannot_be_said(ledger: Ledger, reason: str) -> None:
    assert cost(ledger) == reason


def test_other_rules_say_what_they_promise() -> None:
    rules = _rules(STOPS, LOOP).set_index("rule")
    assert "Betting" not in rules.index
    assert rules.loc["Irrelevant in a row", ["says", "promises"]].tolist() == ["stop", "none (heuristic)"]
    assert rules.loc["Fixed budget", ["says", "promises"]].tolist() == [
        "continue",
        "the cost, not the recall",
    ]
    assert rules.loc[["QBCB", "Target", "QuantCI", "AutoStop"], "says"].tolist() == ["not available"] * 4
    assert rules["reason"].str.endswith(".").all()
    assert set(_rules(Ledger.of([1], 1), LOOP)["says"]) <= {"stop", "not available"}


# --- campaigns ------------------------------------------------------------------------------------


def build(folder: Path) -> Campaign:
    """A hundred documents d0 to d99, three topics, in a loop; no runs."""
    (folder / "d.tsv").write_text("".join(f"d{i}\tThe text number {i}.\n" for i in range(100)))
    (folder / "t.tsv").write_text("a\tfirst\nb\tsecond\nc\tthird\n")
    campaign = Campaign.create(folder / "hundred")
    campaign.imports.import_files(documents=[folder / "d.tsv"], topics=folder / "t.tsv")
    campaign.settings.set_loop(mode="loop")
    return campaign


@pytest.fixture
def hundred(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def say(
    campaign: Campaign, query_id: str, number: int, grade: int | None, *, among: int = 0, annotator: str = "ann"
) -> None:
    """Judge a document, drawn from so many where `among` says so."""
    doc_id = f"d{number}"
    if among:
        way = Selection(doc_id, "random", None, number, 1 / among)
        campaign.store.queue.lease(query_id, [way], annotator, time.time(), time.time() + 60)
    kind, reason = ("graded", None) if grade is not None else ("cannot judge", "topic is unclear")
    done = campaign.judging.judge_many(
        [Judgement(str(uuid4()), annotator, query_id, doc_id, kind, grade, reason=reason)]
    )
    assert not done.refused


def stopped(campaign: Campaign, query_id: str) -> None:
    """The ledger STOPS, in a campaign."""
    for i in range(85):
        say(campaign, query_id, i, int(i < 10), among=0 if i < 10 else 100 - i)


@pytest.mark.slow
def test_a_topic_that_may_stop(hundred: Campaign) -> None:
    stopped(hundred, "a")
    known = hundred.recall.for_topic("a")
    assert (known.judged, known.found, known.size, known.mode) == (85, 10, 100, "loop")
    assert known.decision.stop
    assert known.promise == promised(STOPS)
    assert known.estimate[1:3] == estimate(STOPS)[1:3]
    assert isnan(known.estimate.relevant)  # no draw was relevant: the most likely number would be what is found
    assert known.curve["drawn"].sum() == 75
    assert known.notes == []
    hundred.settings.set_loop(target=0.95, confidence=0.99)
    assert not hundred.recall.for_topic("a").decision.stop
    assert hundred.recall.for_topic("a").estimate.high > known.estimate.high


def test_the_level_decides_what_is_relevant(hundred: Campaign) -> None:
    for i, grade in enumerate((1, 2, 3)):
        say(hundred, "a", i, grade)
    assert hundred.recall.for_topic("a").found == 3
    hundred.settings.set_loop(level=2)
    assert hundred.recall.for_topic("a").found == 2


def test_contradiction_and_silence_are_told(hundred: Campaign) -> None:
    say(hundred, "a", 1, 2)
    say(hundred, "a", 1, 0, annotator="bob")
    say(hundred, "a", 2, 1)
    say(hundred, "a", 2, 3, annotator="bob")  # both relevant: no contradiction
    say(hundred, "a", 3, None)
    known = hundred.recall.for_topic("a")
    assert (known.judged, known.found) == (3, 1)
    assert known.notes == [
        "Annotators disagree on the relevance of 1 document: the most frequent grade counts, and the lower one in a "
        "tie.",
        "1 document could not be judged and counts as not relevant; the guarantee does not cover it.",
    ]


def test_an_adjudicated_disagreement_is_no_note(hundred: Campaign) -> None:
    hundred.people.assignments.update(annotators=2)
    for name, grade in (("ann", 0), ("bob", 1)):
        hundred.judging.judge(name, "a", "d0", grade)
    assert any("disagree" in note for note in hundred.recall.for_topic("a").notes)
    hundred.judging.judge("eve", "a", "d0", 1, adjudicate=True)
    assert not any("disagree" in note for note in hundred.recall.for_topic("a").notes)


def test_draws_from_fewer_documents_promise_nothing(hundred: Campaign, tmp_path: Path) -> None:
    stopped(hundred, "a")
    (tmp_path / "more.tsv").write_text("".join(f"e{i}\tAnother text {i}.\n" for i in range(300)))
    hundred.imports.import_files(documents=[tmp_path / "more.tsv"])
    known = hundred.recall.for_topic("a")
    assert (known.size, known.found, known.decision.stop) == (400, 10, False)
    assert known.notes[0].startswith("75 randomly drawn documents could not be drawn from all unjudged documents, ")
    assert known.estimate.high >= 310  # all that came later may be relevant


def test_a_few_documents_more_end_a_promise_as_well(hundred: Campaign, tmp_path: Path) -> None:
    stopped(hundred, "a")
    assert hundred.recall.for_topic("a").decision.stop
    (tmp_path / "more.tsv").write_text("".join(f"e{i}\tAnother text {i}.\n" for i in range(4)))
    hundred.imports.import_files(documents=[tmp_path / "more.tsv"])
    assert not hundred.recall.for_topic("a").decision.stop  # 10 of 14 would be 71%


def test_what_others_hold_may_all_be_relevant(hundred: Campaign) -> None:
    # The ledger that stops, but five documents were on somebody else's screen when each draw was made.
    for i in range(85):
        say(hundred, "a", i, int(i < 10), among=0 if i < 10 else 100 - i - 5)
    known = hundred.recall.for_topic("a")
    assert not known.decision.stop
    assert known.estimate.high >= 15


def test_nothing_is_promised_while_a_draw_is_skipped(hundred: Campaign) -> None:
    stopped(hundred, "a")
    hundred.judging.skip("ann", "a", "d98")
    known = hundred.recall.for_topic("a")
    assert known.decision.stop  # it was not drawn
    assert known.notes[0].startswith("1 skipped document is unjudged. No recall is guaranteed until")
    hundred.store.queue.lease("a", [Selection("d99", "random", None, 85, 1 / 15)], "ann", time.time(), time.time() + 60)
    hundred.judging.skip("ann", "a", "d99")
    known = hundred.recall.for_topic("a")
    assert not known.decision.stop
    assert known.promise == (
        "1 randomly drawn document was skipped or undone; no recall is guaranteed until it is judged."
    )
    assert hundred.recall.table().set_index("query_id").loc["a", ["stop", "advice"]].tolist() == [
        False, "judge skipped and undone documents",
    ]  # fmt: skip
    # Handed out again as the best of the ranking, it is still the draw that it was.
    hundred.store.queue.lease("a", [Selection("d99", "loop", 1, 86)], "ann", time.time(), time.time() + 60)
    hundred.judging.judge("ann", "a", "d99", 0)
    assert hundred.store.judgements.table(query_id="a")["strategy"].iloc[-1] == "random"
    assert hundred.recall.for_topic("a").decision.stop


def test_the_table_has_the_worst_first(hundred: Campaign) -> None:
    stopped(hundred, "a")
    for i in range(5):
        say(hundred, "c", i, int(i > 2))
    table = hundred.recall.table()
    assert list(table) == list(TABLE)
    assert table["query_id"].tolist() == ["b", "c", "a"]
    assert table["stop"].tolist() == [False, False, True]
    assert table["advice"].tolist()[::2] == ["not started", "ready to stop"]
    assert table.loc[0, ["low", "recall_low", "relevant"]].isna().all()
    # 2 of 5 are relevant, 95 are not judged: 2 / 97 at the least.
    assert table.loc[1, "recall_low"] == pytest.approx(2 / 97)
    known = hundred.recall.for_topic("a")
    assert table.loc[2, ["low", "high", "recall_low", "found"]].tolist() == [
        known.estimate.low, known.estimate.high, known.estimate.recall_low, 10,
    ]  # fmt: skip


def test_no_topics_no_rows(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "empty") as campaign:
        assert campaign.recall.table().empty
        assert list(campaign.recall.table()) == list(TABLE)
        assert campaign.corpus.features.state()[:5] == (0, [], None, False, "")
        with pytest.raises(UnknownNameError):
            campaign.recall.for_topic("x")


def test_a_pool_is_its_own_scope(campaign: Campaign) -> None:
    for doc_id in ("d1", "d2"):
        campaign.judging.judge("ann", "1", doc_id, 1)
    known = campaign.recall.for_topic("1")
    assert (known.judged, known.size) == (2, 3)
    # 2 / .9 + 1 = 3 relevant ones could be: the third document may be one.
    assert known.promise.startswith("2 of 3 documents in the pool are judged")
    assert campaign.recall.for_topic("2").promise == "Nothing is judged yet, so its recall is unknown."
    table = campaign.recall.table()
    assert table["advice"].tolist() == ["not started", "judge the pool"]


def test_the_key_changes_with_all_that_counts(hundred: Campaign) -> None:
    seen = [hundred.recall.across_topics.cache_key()]
    assert hundred.recall.across_topics.cache_key() == seen[0]
    for change in (
        lambda: say(hundred, "a", 1, 1),
        lambda: hundred.settings.set_loop(target=0.8),
        lambda: hundred.settings.set_loop(topics=["a"], mode="closed"),
    ):
        change()
        seen.append(hundred.recall.across_topics.cache_key())
    assert len(set(seen)) == 4


def test_the_features_tell_whether_they_are_current(hundred: Campaign, tmp_path: Path) -> None:
    assert hundred.corpus.features.state()[:5] == (0, [], None, False, "")
    hundred.corpus.features.update()
    state = hundred.corpus.features.state()
    assert (state.documents, state.blocks, state.current) == (100, ["words", "chars"], True)
    assert state.made_at is not None
    (tmp_path / "more.tsv").write_text("new\tAnother text.\n")
    hundred.imports.import_files(documents=[tmp_path / "more.tsv"])
    assert not hundred.corpus.features.state().current
    hundred.corpus.features.update()
    assert hundred.corpus.features.state()[0] == 101


@pytest.mark.slow
def test_a_chart_of_hundreds_does_not_press_the_curve_flat() -> None:
    known = estimate(Ledger.of([1] * 4 + [0] * 6, 1000))
    assert known.high == 994
    assert charts.band_top(4, known) == 9
    assert charts.band_top(0, estimate(Ledger.of([], 3))) == 5
    long = _curve(Ledger.of([0] * 9000, 10_000))
    spec = charts.gain_chart(long, estimate(Ledger.of([0] * 9000, 10_000))).to_dict()
    assert max(len(rows) for rows in spec["datasets"].values()) <= charts.POINTS * 2


# --- pages ----------------------------------------------------------------------------------------


def test_recall_shows_a_topic(opened: Opened, hundred: Campaign) -> None:
    stopped(hundred, "a")
    say(hundred, "c", 1, 1)
    app = opened(hundred, "recall")
    assert app.dataframe[0].value["query_id"].tolist() == ["c", "a"]
    # As many columns as a phone shows.
    assert list(app.dataframe[0].proto.column_order)[:2] == ["query_id", "advice"]
    assert "of" not in app.dataframe[0].proto.column_order
    assert "confidence interval of each topic's recall in the collection; the symbol marks the lower bound." in words(
        app
    )
    app.toggle[0].set_value(False).run()
    assert app.dataframe[0].value["query_id"].tolist() == ["b", "c", "a"]
    app = opened(hundred, "recall", query={"topic": "a"})
    assert "At least 90% of the relevant documents are found, with 95% confidence" in words(app)
    metrics = {m.label: m.value for m in app.metric}
    assert metrics["Judged"] == "85 of 100"
    assert metrics["Relevant found"] == "10"
    assert len(app.dataframe) == 2  # the other rules
    app = opened(hundred, "recall", query={"topic": "b"})
    assert "Nothing is judged yet" in words(app)
    app = opened(hundred, "recall", query={"topic": "nowhere"})
    assert app.error[0].value == "Topic nowhere does not exist."


@pytest.mark.parametrize(
    ("stop", "scopes", "target", "said"),
    [
        ([], "pp", 0.9, "No topic is ready to stop yet. The target is to find 90% of the relevant documents of each"),
        ([], "pp", 1, "No topic is ready to stop yet. The target is to find all relevant documents of each topic"),
        (
            [0],
            "pc",
            0.9,
            "1 of 2 topics is ready to stop: at least 90% of the relevant documents in the pool are found, with 95% "
            "confidence.",
        ),
        (
            [0, 1],
            "pc",
            0.9,
            "2 of 2 topics are ready to stop: in each, at least 90% of the relevant documents in its scope (pool or "
            "collection) are found, with 95% confidence for each topic separately.",
        ),
        ([1], "pc", 1, "1 of 2 topics is ready to stop: all relevant documents in the collection are found, with 95%"),
    ],
)
def test_the_page_leads_with_how_many_topics_may_stop(stop: list[int], scopes: str, target: float, said: str) -> None:
    table = pd.DataFrame(
        {
            "stop": [n in stop for n in (0, 1)],
            "of": [{"p": "pool", "c": "collection"}[s] for s in scopes],
            "kind": Advice.READY,
        }
    )
    assert describe_ready(table, LoopSettings("loop", target=target)).startswith(said)


def test_intervals_keep_the_order_of_the_table_and_leave_out_what_is_unknown() -> None:
    rows = pd.DataFrame({"query_id": ["b", "c", "a"], "title": "", "stop": [False, False, True], "kind": Advice.READY})
    chart = charts.intervals_chart(
        rows.assign(recall_low=[None, 0.2, 0.9], recall_high=[None, 0.8, 1.0]), 0.9
    ).to_dict()
    goal, span, low = chart["layer"]
    assert span["encoding"]["x"]["sort"] == low["encoding"]["x"]["sort"] == ["c", "a"]
    assert low["encoding"]["shape"]["scale"]["domain"] == [charts.READY, charts.NOT_YET]
    ours = rows.assign(
        recall_low=0.2, recall_high=1.0, kind=[Advice.CLOSED_BY_RULE, Advice.JUDGE_TO_THE_END, Advice.FINISHED]
    )
    drawn = charts.intervals_chart(ours, 0.9)
    assert drawn.layer[1].data["status"].tolist() == [charts.BY_RULE, charts.CALIBRATION, charts.CALIBRATION]
    assert goal["encoding"]["y"]["field"] == "target"


@pytest.mark.long
def test_a_topic_is_closed_and_opened_again(opened: Opened, hundred: Campaign) -> None:
    say(hundred, "a", 1, 1)
    app = opened(hundred, "recall", query={"topic": "a"})
    app.button(key="close").click().run()
    assert hundred.settings.mode("a") == "closed"
    assert "closed" in words(app)
    app.button(key="open").click().run()
    assert hundred.settings.mode("a") == "loop"
    hundred.settings.set_loop(mode="closed")
    app = opened(hundred, "recall", query={"topic": "a"})
    assert set(hundred.settings.modes().values()) == {"closed"}
    app.button(key="open").click().run()
    assert hundred.settings.modes() == {"a": "loop", "b": "closed", "c": "closed"}


def test_a_closed_topic_keeps_its_scope(campaign: Campaign) -> None:
    for doc_id in ("d1", "d2", "d6"):
        campaign.judging.judge("ann", "1", doc_id, 1)
    before = campaign.recall.for_topic("1").promise
    assert "in the pool" in before
    campaign.settings.set_loop(topics=["1"], mode="closed")
    assert (campaign.recall.for_topic("1").promise, campaign.recall.for_topic("1").mode) == (before, "closed")


def test_without_draws_the_page_leads_to_the_loop(opened: Opened, hundred: Campaign) -> None:
    say(hundred, "a", 1, 1)
    hundred.settings.set_loop(run=0)
    app = opened(hundred, "recall", query={"topic": "a"})
    assert "enable them on the Loop page" in words(app)
    assert "no stopping guarantee holds" in words(opened(hundred, "loop"))


def test_loop_saves_what_is_chosen(opened: Opened, hundred: Campaign) -> None:
    app = opened(hundred, "loop")
    assert app.button(key="save").disabled
    app.selectbox(key="mode").set_value("pool-then-loop")
    app.selectbox(key="level").set_value(2)
    app.number_input(key="target").set_value(80.0)
    app.number_input(key="confidence").set_value(99.0)
    app.number_input(key="control").set_value(5.0)
    app.radio(key="learner").set_value("logistic")
    app.radio(key="evidence").set_value("none")
    app.selectbox(key="explain").set_value("terms and runs")
    app.selectbox(key="draws").set_value("number").run()
    assert "hidden from annotators while judging is blind" in words(app)
    app.number_input(key="run").set_value(30).run()
    assert hundred.settings.loop().mode == "loop"  # not before it is saved
    app.button(key="save").click().run()
    assert not app.error
    assert app.button(key="save").disabled
    assert hundred.settings.loop() == LoopSettings(
        "pool-then-loop", 2, "logistic", evidence="none", run=30, control=0.05, target=0.8, confidence=0.99,
        explain="terms and runs",
    )  # fmt: skip
    app.selectbox(key="draws").set_value("automatic").run()
    app.button(key="save").click().run()
    assert hundred.settings.loop().run is None


def test_what_the_library_refuses_is_told(opened: Opened, hundred: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(hundred, "loop")

    def refuse(self: Campaign, **changes: object) -> None:
        raise InputError("no *such* thing")

    monkeypatch.setattr(Settings, "set_loop", refuse)
    app.number_input(key="target").set_value(80.0).run()
    app.button(key="save").click().run()
    assert app.error[0].value == "No \\*such\\* thing\\."


def test_loop_prepares_the_documents(opened: Opened, hundred: Campaign) -> None:
    app = opened(hundred, "loop")
    assert "Not built yet" in words(app)
    app.button(key="update").click().run()
    assert "The features of 100 documents (words and character 4-grams), built on " in words(app)
    assert "UTC, are up to date." in words(app)
    assert app.button(key="update").disabled


def test_a_binary_campaign_has_one_level(opened: Opened, make_campaign: Callable[..., Campaign]) -> None:
    app = opened(make_campaign("binary", grades="0-1"), "loop")
    assert len(app.selectbox(key="level").options) == 1


def test_undone_draws_count_as_drawn(hundred: Campaign) -> None:
    stopped(hundred, "a")
    assert hundred.recall.for_topic("a").decision.kind is StopKind.GUARANTEED
    log = hundred.store.judgements.table(query_id="a")
    drawn = log.loc[log["strategy"] == "random", "doc_id"].iloc[0]
    hundred.judging.judge("ann", "a", drawn, undo=True)
    known = hundred.recall.for_topic("a")
    assert (known.decision.kind, known.decision.needed) == (StopKind.WITHHELD, 1)
    assert known.advice == "judge skipped and undone documents"
    assert known.notes[0].startswith("1 undone document is unjudged; 1 of them was drawn at random.")
    assert known.estimate.high > known.estimate.low == known.found
    # Another annotator, for whom the ranking selects it, changes nothing of the draw.
    hundred.store.queue.lease("a", [Selection(drawn, "loop", 1, 90)], "bob", time.time(), time.time() + 60)
    hundred.judging.judge("bob", "a", drawn, 0)
    assert hundred.recall.for_topic("a").decision.kind is StopKind.GUARANTEED
    assert hundred.progress.loop_scope.ledgers(["a"])["a"].drawn.sum() == (log["strategy"] == "random").sum()


def test_draws_of_an_imported_log_guarantee_nothing(hundred: Campaign, tmp_path: Path) -> None:
    rows = [f"ann,a,d{i},{int(i < 10)},{'loop' if i < 10 else 'random'},{i},{1 / (100 - i)}" for i in range(85)]
    header = "annotator,query_id,doc_id,relevance,strategy,model_round,probability"
    (tmp_path / "log.csv").write_text("\n".join([header, *rows]) + "\n")
    hundred.imports.import_files(labels=tmp_path / "log.csv")
    assert hundred.progress.loop_scope.ledgers(["a"])["a"].judged == 85
    assert not hundred.recall.for_topic("a").decision.stop


def test_the_next_step_and_the_rounds_say_when_the_target_is_reached(hundred: Campaign) -> None:
    hundred.settings.set_loop(mode="loop")
    assert hundred.results.overview.next_step().sentence.startswith("Judge ")
    stopped(hundred, "a")
    judged = hundred.recall.for_topic("a").judged
    assert hundred.recall.ready_topics() == {"a": (judged, 100)}
    step = hundred.results.overview.next_step()
    assert step.page == "recall"
    assert step.sentence.startswith(
        f"Topic a reached the target recall of 90% (95% confidence) with {judged} of 100 documents judged: close it "
        "(page Recall), or judge on for a higher recall. Judge 2 other topics in the loop"
    )
    hundred.settings.set_loop(mode="closed", topics=["a"])
    assert hundred.recall.ready_topics() == {}


def test_a_changed_target_is_warned_of(hundred: Campaign) -> None:
    before = hundred.settings.loop()
    now = replace(before, target=0.5)
    assert describe_target_change(before, before, 10, 0) == describe_target_change(before, now, 0, 0) == ""
    assert describe_target_change(before, now, 1_200, 1) == (
        "The target changes from 90% recall with 95% confidence to 50% recall with 95% confidence, after 1,200 judged "
        "pairs. Its confidence holds for a target chosen before judging, not because of the recall seen so far. 1 "
        "topic was closed under the earlier target."
    )
