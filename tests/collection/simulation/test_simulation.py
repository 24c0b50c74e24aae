"""Replays: orders by hand, measures by hand, stopping rules, and the command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from collection.active_learning.training_round import Recipe
from collection.cli import main
from collection.core.errors import InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Document, Run
from collection.simulation import (
    SCHEDULES,
    Case,
    JudgingOrder,
    cases,
    compare_promises,
    measure,
    replay,
    replay_loop,
    replay_pooling,
    simulate,
)
from collection.simulation.cost import curve, measure_stop
from collection.simulation.experiment import draw_priors, list_priors
from collection.stopping import STOPPING_RULES, Ledger
from collection.stopping.published import _find_knee
from collection.stopping.risk_control import RULE_FAMILIES
from tests.conftest import frame
from tests.helpers import fails, first_of

WORDS = [
    "wing flow",
    "flow past a wing",
    "tunnel wing",
    "heat in a slab",
    "hot slab",
    "steel slab",
    "rocket motor",
    "fuel",
]
DOCUMENTS = [Document(f"d{i}", "", text) for i, text in enumerate(WORDS)]
TOPICS = pd.DataFrame(
    {"query_id": ["1", "2"], "title": ["wing", "slab"], "description": ["", ""], "narrative": ["", ""]}
)
QRELS = frame("1 d0 1\n1 d1 2\n1 d2 1\n1 d3 0\n2 d4 1\n2 stranger 1", "query_id", "doc_id", "relevance")
RUNS = [
    Run("a", rank_run(frame("1 d3 9\n1 d0 8\n1 d1 7\n2 d4 1", "query_id", "doc_id", "score"))),
    Run("b", rank_run(frame("1 d1 9\n1 d3 8\n1 d5 7", "query_id", "doc_id", "score"))),
]


def case_of(query_id: str = "1", runs: list[Run] = RUNS, **more: object) -> Case:
    made = cases(DOCUMENTS, TOPICS, QRELS, runs, pools=["depth", "rrf", "mtf", "maxmean"], **more)  # type: ignore[arg-type]
    return next(c for c in made if c.query_id == query_id)


def played(case: Case, order: list[int], priors: list[int] | None = None, **more: object) -> JudgingOrder:
    n = len(order)
    facts = {
        "rounds": np.arange(n), "drawn": np.zeros(n, dtype=bool), "reached": np.full(n, np.nan), "seconds": 0.5,
        **more,
    }  # fmt: skip
    return JudgingOrder(np.array(order), np.array(priors or [], dtype=np.int64), **facts)  # type: ignore[arg-type]


# Cases


def test_a_case_knows_its_grades_and_what_the_runs_say() -> None:
    case = case_of()
    assert case.grades.tolist() == [1, 2, 1, 0, 0, 0, 0, 0]
    assert case.space.evidence is not None
    assert case.space.evidence.runs.tolist() == [1, 2, 0, 2, 0, 1, 0, 0]
    assert case.pools["rrf"].tolist() == [3, 1, 0, 5]
    assert [r.tolist() for r in case.rankings] == [[3, 0, 1], [1, 3, 5]]


def test_relevant_documents_outside_the_collection_do_not_count() -> None:
    assert case_of("2").grades.sum() == 1


def test_topics_with_too_few_relevant_documents_are_left_out() -> None:
    assert [c.query_id for c in cases(DOCUMENTS, TOPICS, QRELS, RUNS, least=2)] == ["1"]
    assert [c.query_id for c in cases(DOCUMENTS, TOPICS, QRELS, RUNS, level=2)] == ["1"]


def test_the_prefix_scope_keeps_each_review_to_its_own_documents() -> None:
    documents = [Document("A-1", "", "wing"), Document("A-2", "", "slab"), Document("AB-1", "", "wing")]
    topics = TOPICS.assign(query_id=["A", "AB"])
    qrels = frame("A A-1 1\nAB AB-1 1\nAB A-1 1", "query_id", "doc_id", "relevance")
    made = {c.query_id: c for c in cases(documents, topics, qrels, scope="prefix")}
    assert made["A"].doc_ids.tolist() == ["A-1", "A-2"]
    assert made["AB"].doc_ids.tolist() == ["AB-1"]
    assert made["A"].space.features.size == 2


LABELS = frame("1 d0 3\n1 d3 0\n1 d6 1.5\n1 stranger 3\n3 d1 3", "query_id", "doc_id", "relevance")


def test_labels_are_shares_of_the_highest_and_missing_for_other_documents() -> None:
    case = case_of(labels=LABELS)
    assert case.space.labels is not None
    np.testing.assert_array_equal(case.space.labels, [1, *[np.nan] * 2, 0, *[np.nan] * 2, 0.5, np.nan])
    assert case_of("2", labels=LABELS).space.labels is None
    assert case.grades.tolist() == case_of().grades.tolist()  # labels are no grades
    with pytest.raises(InputError, match="each pair once, found document 'd0' of topic '1' twice"):
        case_of(labels=pd.concat([LABELS, LABELS.head(1)]))


@pytest.mark.slow
@pytest.mark.long
def test_random_labels_of_many_topics_cost_nothing_and_good_ones_save() -> None:
    random, topics, words = np.random.default_rng(2), 12, [f"w{n}" for n in range(60)]
    texts, pairs = [], []
    for n in range(400):
        # A document has the word of 2 topics, of which one is by chance: the words do not tell which one it answers.
        answered, mentioned = random.choice(topics, 2, replace=False)
        texts.append(" ".join([f"t{answered}", f"t{mentioned}", *random.choice(words, 15)]))
        pairs += [(str(answered), f"d{n}", 1.0), (str(mentioned), f"d{n}", 0.0)]
        pairs += [
            (str(q), f"d{n}", 0.0) for q in random.choice(topics, 4, replace=False) if q not in (answered, mentioned)
        ]
    qrels = pd.DataFrame(pairs, columns=["query_id", "doc_id", "relevance"])
    good = qrels.assign(relevance=np.where(random.random(len(qrels)) < 0.9, qrels["relevance"], 1 - qrels["relevance"]))
    shuffled = good.assign(relevance=good.groupby("query_id")["relevance"].transform(random.permutation))
    frame = pd.DataFrame({"query_id": map(str, range(topics)), "title": [f"t{n}" for n in range(topics)]})
    frame = frame.assign(description="", narrative="")
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(texts)]

    def cost(labels: pd.DataFrame | None) -> tuple[float, list[list[int]]]:
        made = list(cases(documents, frame, qrels, labels=labels))
        orders = [replay_loop(case, Recipe(), 0, recall=0.9).order.tolist() for case in made]
        return made[0].space.agreement, orders

    (_, usual), (trusted, led), (distrusted, misled) = map(cost, (None, good, shuffled))
    assert distrusted == 0
    assert misled == usual
    assert trusted > 0.5
    assert sum(map(len, led)) < 0.9 * sum(map(len, usual))


def test_labels_of_0_alone_say_nothing() -> None:
    space = case_of(labels=LABELS.assign(relevance=0)).space
    assert not space.label_prior.any()


def test_strategies_without_labels_do_not_read_them() -> None:
    names = ["loop", "loop-text", "loop-labels", "loop-text-labels"]
    with_labels, without = (
        simulate(cases(DOCUMENTS, TOPICS, QRELS, RUNS, labels=labels), strategies=names[: 4 if led else 2]).values
        for led, labels in ((True, LABELS), (False, None))
    )
    timed = with_labels["measure"] == "seconds"
    same = with_labels[with_labels["strategy"].isin(names[:2]) & ~timed].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, without[without["measure"] != "seconds"].reset_index(drop=True))
    # The second topic has no labels, so its loop is the same as without.
    by = with_labels[~timed & (with_labels["query_id"] == "2")].pivot(
        index="measure", columns="strategy", values="value"
    )
    assert by["loop-labels"].tolist() == by["loop"].tolist()


def test_loops_led_by_labels_need_some() -> None:
    with pytest.raises(InputError, match="loop-labels needs labels of the topics, found none"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS, RUNS), strategies=["loop-labels"])


# Orders


def test_a_pooling_order_is_its_own_and_then_by_lot() -> None:
    case = case_of()
    order = replay_pooling(case, "rrf", 1).order
    assert order[:4].tolist() == [3, 1, 0, 5]
    assert sorted(order.tolist()) == list(range(8))
    assert replay_pooling(case, "rrf", 1).order.tolist() == order.tolist()
    # Move to front by hand: d3 of run a is irrelevant, so b is read: d1, then d3 is known, then d5; then a again.
    assert replay_pooling(case, "mtf", 1).order[:4].tolist() == [3, 1, 5, 0]


def test_the_loop_finds_everything_and_stops() -> None:
    case = case_of()
    made = replay_loop(case, Recipe(), 1, schedule="1")
    assert case.grades[made.order[-1]] > 0
    assert (case.grades[made.order] > 0).sum() == 3
    assert made.order[0] == 0  # third of the fusion and first of BM25: 1/4 + 1/4, as much as the fusion's first
    whole = replay_loop(case, Recipe(), 1, end="ranked")
    assert sorted(whole.order.tolist()) == list(range(8))


def test_priors_are_learned_from_and_cost_nothing() -> None:
    case = case_of()
    made = replay_loop(case, Recipe(presumed=0, topic=0), 1, priors=np.array([0, 3]), schedule="1")
    assert {0, 3}.isdisjoint(made.order.tolist())
    values = measure(case, made)
    assert values["judgements@100"] == len(made.order)
    assert values["WSS@95"] == pytest.approx((6 - len(made.order)) / 6 - 0.05)


@pytest.mark.parametrize("schedule", list(SCHEDULES))
def test_every_schedule_judges_everything_once(schedule: str) -> None:
    made = replay_loop(case_of(), Recipe(), 1, schedule=schedule, end="ranked")
    assert sorted(made.order.tolist()) == list(range(8))
    assert (np.diff(made.rounds) >= 0).all()


def test_schedules_by_hand() -> None:
    def first(name: str, count: int, judged: int = 0) -> list[int]:
        sizes = SCHEDULES[name](judged)
        return [next(sizes) for _ in range(count)]

    assert first("bmi", 12) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]
    assert first("twentieth", 3, 38) == [1, 1, 2]
    assert first("twentieth", 2, 1400) == [50, 50]
    assert first("10", 2) == [10, 10]


def test_an_unknown_schedule_names_the_others() -> None:
    with pytest.raises(InputError, match="twentieth, 1, 10, bmi"):
        replay_loop(case_of(), Recipe(), 1, schedule="20")


@pytest.mark.slow
def test_random_draws_are_marked_and_come_when_the_ranking_runs_dry() -> None:
    documents = [Document(f"d{i}", "", "wing flow" if i < 3 else f"word{i}") for i in range(200)]
    qrels = frame("1 d0 1\n1 d1 1\n1 d2 1\n1 d150 1", "query_id", "doc_id", "relevance")
    case = next(cases(documents, TOPICS, qrels))
    made = replay_loop(case, Recipe(), 1, source="draws", end="ranked")
    assert sorted(made.order.tolist()) == list(range(200))
    first = int(made.drawn.argmax())
    assert made.drawn.any()
    assert not made.drawn[:first].any()
    assert (case.grades[made.order[:first]] == 0).sum() >= 45  # it is decided a batch ahead
    ledger = made.ledger(case, 1)
    assert (ledger.size, ledger.judged, ledger.found) == (200, 200, 4)


@pytest.mark.slow
def test_a_control_sample_is_found_again_at_no_cost() -> None:
    documents = [Document(f"d{i}", "", "wing flow" if i < 60 else f"word{i}") for i in range(200)]
    qrels = pd.DataFrame({"query_id": "1", "doc_id": [f"d{i}" for i in range(60)], "relevance": 1})
    case = next(cases(documents, TOPICS, qrels))
    made = replay_loop(case, Recipe(), 1, source="control", positives=5, end="ranked")
    assert sorted(made.order.tolist()) == list(range(200))
    sample = made.order[made.drawn]
    assert (case.grades[sample] > 0).sum() == 5
    assert not np.isnan(made.reached[made.drawn]).any()
    assert (made.reached[made.drawn] >= made.drawn.sum()).all()


# Measures


def test_measures_by_hand() -> None:
    case = case_of()
    values = measure(case, played(case, [3, 0, 1, 4, 2]))  # relevant at 2, 3 and 5 of 8
    assert [values[f"judgements@{r}"] for r in (80, 90, 95, 100)] == [5, 5, 5, 5]
    assert values["WSS@95"] == pytest.approx(3 / 8 - 0.05)
    assert values["ATD"] == pytest.approx(10 / 3)
    assert values["R@R"] == pytest.approx(2 / 3)
    assert values["R@2R+100"] == 1
    assert values["seconds"] == 0.5


def test_priors_are_out_of_the_count() -> None:
    case = case_of()
    values = measure(case, played(case, [3, 1, 4, 2], priors=[0, 5]))  # relevant at 2 and 4 of 6
    assert values["judgements@80"] == 4
    assert values["ATD"] == 3
    assert values["WSS@95"] == pytest.approx(2 / 6 - 0.05)


def test_nothing_to_find_is_no_number() -> None:
    case = case_of()
    values = measure(case, played(case, [3, 4], priors=[0, 1, 2]))
    assert np.isnan(values["WSS@95"])
    assert np.isnan(values["judgements@90"])


def test_a_curve_has_a_point_for_each_relevant_document() -> None:
    case = case_of()
    made = curve(case, played(case, [3, 0, 1, 4, 2, 5]))
    assert made["judged"].tolist() == [0, 2, 3, 5, 6]
    assert made["found"].tolist() == [0, 1, 2, 3, 3]


def test_a_stopping_rule_is_asked_after_each_round() -> None:
    case = case_of()
    made = played(case, [0, 1, 3, 4, 5, 2, 6, 7])
    values = measure_stop(case, made, "consecutive", {"length": 3}, target=0.9)
    # Three in a row after five judgements; two of three found; the third would have come at 6.
    assert values == {
        "judgements:consecutive": 5, "recall:consecutive": pytest.approx(2 / 3),
        "reached:consecutive": 0, "cost:consecutive": 6,
    }  # fmt: skip
    late = measure_stop(case, made, "fixed", {"judgements": 7}, target=0.9)
    assert (late["judgements:fixed"], late["reached:fixed"], late["cost:fixed"]) == (7, 1, 7)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [entry.name for entry in STOPPING_RULES if entry.at_each])
@pytest.mark.parametrize("share", first_of([0.1, 0.0, 0.02, 0.5]))
def test_a_rule_asked_at_once_says_what_it_says_one_by_one(rule: str, share: float) -> None:
    random = np.random.default_rng(int(1000 * share))
    for rounds in (1, 7, 30):
        n = 400
        relevant = random.random(n) < share * np.linspace(2, 0, n) ** 2
        ledger = Ledger.of(relevant, 2 * n, batch=np.arange(n) // rounds)
        looks = np.flatnonzero(np.diff(ledger.batch, append=np.inf)) + 1
        for parameters in ({}, {"rho": 2.0}, {"rho": 1.2, "relevant": 1} if rule == "knee" else {"positives": 1}):
            plain = [STOPPING_RULES[rule].function(ledger.prefix(look), **parameters).stop for look in looks.tolist()]
            assert STOPPING_RULES[rule].at_each(ledger, looks, **parameters).tolist() == plain


def knee_by_definition(ledger: Ledger) -> tuple[int, float]:
    """The end of a round that lies farthest above the line from the origin to the end of the curve."""
    best, rank, n = 0, 0, ledger.judged
    for end in range(1, n):
        if ledger.batch[end] != ledger.batch[end - 1]:
            above = int(ledger.relevant[:end].sum()) * n - end * ledger.found
            best, rank = max((best, -rank), (above, -end))[0], end if above > best else rank
    if not rank:
        return 0, 0.0
    before = int(ledger.relevant[:rank].sum())
    return rank, (before / rank) / ((1 + ledger.found - before) / (n - rank))


def test_the_knee_is_the_one_of_its_definition() -> None:
    random = np.random.default_rng(3)
    for n in range(1, 120):
        relevant = random.random(n) < np.linspace(0.8, 0, n)
        ledger = Ledger.of(relevant, 200, batch=np.arange(n) // int(random.integers(1, 6)))
        assert _find_knee(ledger) == pytest.approx(knee_by_definition(ledger))


@pytest.mark.slow
@pytest.mark.parametrize("source", first_of(["ranking", "draws", "control"]))
def test_rules_cannot_tell_a_filled_order_from_a_ranked_one(source: str) -> None:
    documents = [Document(f"d{i}", "", f"wing flow{i % 3}" if i < 40 else f"word{i % 90} slab") for i in range(400)]
    qrels = pd.DataFrame({"query_id": "1", "doc_id": [f"d{i}" for i in [*range(30), 100]], "relevance": 1})
    case = next(cases(documents, TOPICS, qrels))
    ranked, filled = (
        replay_loop(case, Recipe(), 1, source=source, end=end, positives=10) for end in ("ranked", "filled")
    )
    assert sorted(filled.order.tolist()) == sorted(ranked.order.tolist())
    rules = {
        "ranking": ["knee", "budget", "buscar", "half", "consecutive"],
        "draws": ["betting"],
        "control": ["target"],
    }
    for rule in rules[source]:
        assert measure_stop(case, filled, rule, {}) == measure_stop(case, ranked, rule, {})
    found = replay_loop(case, Recipe(), 1, source=source)
    if source == "ranking":
        assert filled.until_found(case, 1).order.tolist() == found.order.tolist()


def test_a_rule_trains_no_model_after_the_last_relevant_document(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    plain = replay.train_and_rank
    monkeypatch.setattr(replay, "train_and_rank", lambda *a: rounds.append(1) or plain(*a))
    documents = [Document(f"d{i}", "", "wing flow" if i < 10 else f"word{i % 90} slab") for i in range(1000)]
    qrels = pd.DataFrame({"query_id": "1", "doc_id": [f"d{i}" for i in range(10)], "relevance": 1})
    simulate(cases(documents, TOPICS, qrels))
    without = len(rounds)
    simulate(cases(documents, TOPICS, qrels), stops=["knee", "budget"])
    assert len(rounds) == 2 * without


# All together


@pytest.mark.slow
def test_a_simulation_is_one_table() -> None:
    made = simulate(
        cases(DOCUMENTS, TOPICS, QRELS, RUNS, pools=["depth", "rrf", "mtf", "maxmean"]),
        strategies=["loop", "loop-text", "depth", "rrf", "mtf", "maxmean"],
        learners=["svm", "naive-bayes"],
        stops=["half", "betting", "qbcb"],
        seeds=2,
    )
    assert made.values.columns.tolist() == ["query_id", "strategy", "learner", "seed", "measure", "value"]
    counted = made.values.groupby(["strategy", "learner"], sort=False).size()
    assert counted.index.tolist()[:4] == [
        ("loop", "svm"), ("loop", "naive-bayes"), ("loop-text", "svm"), ("loop-text", "naive-bayes"),
    ]  # fmt: skip
    assert counted.nunique() == 1
    assert len(made.means()) == 8
    assert set(made.values["seed"]) == {0, 1}
    last = made.curves.groupby(["query_id", "strategy", "learner", "seed"])["found"].max()
    assert last.loc["1"].eq(3).all()


def test_the_promise_across_topics_is_compared_with_others() -> None:
    made = simulate(
        cases(DOCUMENTS, TOPICS, QRELS, RUNS, pools=["rrf"]),
        strategies=["loop-text", "rrf"], stops=["betting"], target=0.5, keep_ledgers=True,
    )  # fmt: skip
    assert [ledger.unjudged for ledgers in made.ledgers.values() for ledger in ledgers] == [0] * 4
    # With one topic of two for calibration, only a loss of nothing satisfies (0 + 1) / (1 + 1) <= .5.
    table = compare_promises(made, 0.5)
    assert table["strategy"].drop_duplicates().tolist() == ["loop-text", "rrf"]
    assert table["promised"].all()
    assert (table["recall"] >= 0.5).all()
    table = table[table["strategy"] == "rrf"].set_index("rule")
    assert table.index.tolist() == [*(family.name for family in RULE_FAMILIES), "everything", "betting"]
    assert table.loc["everything", ["recall", "below", "judgements", "total"]].tolist() == [1, 0, 8, 16]
    means = made.means().loc[("rrf", "-")]
    assert table.loc["betting", "total"] == 2 * means["judgements:betting"]
    assert np.isnan(table.loc["betting", "below"])
    assert not compare_promises(made, 0.4)["promised"].all()


def test_the_target_of_stopping_rules_can_be_set() -> None:
    def stop(target: float) -> float:
        made = simulate(cases(DOCUMENTS, TOPICS, QRELS, RUNS), stops=["betting"], target=target)
        return float(made.means()["judgements:betting"].iloc[0])

    assert stop(0.3) < stop(1.0) == 8


def test_a_simulation_gives_the_same_numbers_again() -> None:
    def values() -> list[float]:
        made = simulate(cases(DOCUMENTS, TOPICS, QRELS, RUNS, pools=["rrf"]), strategies=["loop", "rrf"]).values
        return made.loc[made["measure"] != "seconds", "value"].tolist()

    assert values() == values()


def test_simulations_explain_what_they_do_not_know() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'loop'"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS), strategies=["lop"])
    with pytest.raises(UnknownNameError, match="did you mean 'svm'"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS), learners=["svn"])
    with pytest.raises(UnknownNameError, match="did you mean 'knee'"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS), stops=["kne"])
    with pytest.raises(InputError, match="check the ids"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS, level=9))


def test_priors_are_drawn_or_listed() -> None:
    case = case_of()
    drawn = draw_priors(1, 2)(case, 3)
    assert (case.grades[drawn] > 0).tolist() == [True, False, False]
    assert drawn.tolist() == draw_priors(1, 2)(case, 3).tolist()
    listed = list_priors({("1", None): ["d0"], ("1", 2): ["d3"]})
    assert listed(case, 2).tolist() == [3, 0]
    assert listed(case, 1).tolist() == [0]
    with pytest.raises(InputError, match="is not in the collection or its scope"):
        list_priors({("1", None): ["dx"]})(case, 0)


def test_what_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(InputError, match="which a replay does not have"):
        simulate(cases(DOCUMENTS, TOPICS, QRELS), stops=["quantci"])
    with pytest.raises(InputError, match="pass runs= and pools="):
        simulate(cases(DOCUMENTS, TOPICS, QRELS), strategies=["depth"])
    with pytest.raises(InputError, match="found 'd0' twice"):
        list(cases([*DOCUMENTS, DOCUMENTS[0]], TOPICS, QRELS))


def test_runs_of_other_documents_say_nothing() -> None:
    strangers = [Run("a", rank_run(frame("1 zz 9", "query_id", "doc_id", "score")))]
    case = next(cases(DOCUMENTS, TOPICS, QRELS, strangers))
    assert case.space.evidence is None
    assert case.space.initial_order == "topic text"


def test_a_prior_that_is_named_twice_counts_once() -> None:
    case = case_of()
    assert list_priors({("1", None): ["d0", "d0"], ("1", 0): ["d0"]})(case, 0).tolist() == [0]


# The command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs.jsonl").write_text(
        "".join(json.dumps({"doc_id": d.doc_id, "text": d.text}) + "\n" for d in DOCUMENTS)
    )
    (tmp_path / "topics.tsv").write_text("1\twing\n2\tslab\n")
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in QRELS.itertuples(index=False)))
    runs = tmp_path / "runs"
    runs.mkdir()
    for run in RUNS:
        rows = run.frame.itertuples(index=False)
        (runs / f"{run.name}.run").write_text(
            "".join(f"{r.query_id} Q0 {r.doc_id} {r.rank} {r.score} {run.name}\n" for r in rows)
        )
    return tmp_path


def command(folder: Path, *more: str) -> list[str]:
    names = ("--documents", "docs.jsonl", "--topics", "topics.tsv", "--qrels", "qrels.txt")
    return ["simulate", *(str(folder / n) if "." in n else n for n in names), *more]


def test_the_command_names_a_cluster_that_cannot_be_reached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    monkeypatch.setattr("collection.cluster.CONNECT_SECONDS", 0.2)
    told = fails(*command(folder, "--cluster", "tcp://127.0.0.1:9"))
    assert told.startswith("cleverdon: the cluster at tcp://127.0.0.1:9 cannot be reached (")


def test_the_command_prints_tsv_and_writes_curves(folder: Path) -> None:
    curves = folder / "curves.tsv"
    arguments = command(
        folder, "--run", str(folder / "runs"), "--strategy", "loop", "--strategy", "mtf",
        "--format", "tsv", "--curves", str(curves), "--stop", "knee", "--priors", "1,1",
    )  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert lines[0] == ["query_id", "strategy", "learner", "seed", "measure", "value"]
    found = {(line[1], line[4]) for line in lines[1:]}
    measures = ("judgements@80", "judgements@90", "judgements@95", "judgements@100", "WSS@95", "ATD", "R@2R+100")
    assert {(s, m) for s in ("loop", "mtf") for m in (*measures, "recall:knee")} <= found
    table = pd.read_csv(curves, sep="\t")
    assert table.columns.tolist() == ["query_id", "strategy", "learner", "seed", "judged", "found"]


def test_the_command_replays_the_promise_across_topics(folder: Path) -> None:
    arguments = command(folder, "--risk", "0.5", "--splits", "20")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "expected recall of at least 50% across topics; 1 calibration topic of 2, 20 random splits" in result.stdout
    assert "splits below 50%" in result.stdout
    assert "50% recall reached" in result.stdout
    assert "Draw 1 calibration topic at random" in result.stderr
    lines = CliRunner().invoke(main, [*arguments, "--format", "tsv"]).stdout.splitlines()
    assert lines[0].split("\t")[:4] == ["strategy", "learner", "rule", "promised"]
    result = CliRunner().invoke(main, command(folder, "--risk", "0.1"))
    assert "1 calibration topic cannot support 90%: every document is judged" in result.stderr
    assert "needs at least 9 calibration topics" in result.stderr


def test_the_command_prints_means(folder: Path) -> None:
    result = CliRunner().invoke(main, command(folder, "--min-relevant", "2"))
    assert result.exit_code == 0, result.output
    assert "means over 1 topic" in result.stdout
    assert "loop" in result.stdout


def test_the_command_replays_what_labels_would_have_saved(folder: Path) -> None:
    rows = LABELS[LABELS["relevance"] % 1 == 0].astype({"relevance": "int64"}).itertuples(index=False)
    (folder / "labels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in rows))
    result = CliRunner().invoke(main, command(folder, "--labels", str(folder / "labels.txt")))
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()[2:]] == ["loop", "loop-labels"]
    assert "labels order documents; recall counts the grades of the qrels alone" in result.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--strategy", "depth"], "depth needs runs"),
        (["--strategy", "loop-labels"], "loop-labels needs labels: add --labels"),
        (["--priors", "one"], "expected none, two numbers such as 1,1, or an existing file"),
        (["--batch", "7"], "batch: expected one of"),
        (["--strategy", "lop"], "did you mean 'loop'"),
        (["--priors", "²,1"], "none, two numbers"),
        (["--relevance-level", "3"], "a simulation needs topics with relevant documents"),
        (["--priors", "50,5"], "use fewer"),
        (["--priors", "-1,1"], "expected two numbers, 0 or more"),
        (["--risk", "0.2", "--calibration-topics", "2"], "expected 0 to 1 of 2 topics"),
        (["--risk", "1"], "--risk"),
    ],
)
def test_the_command_says_what_is_wrong(folder: Path, more: list[str], message: str) -> None:
    result = CliRunner().invoke(main, command(folder, *more))
    assert result.exit_code == 2
    assert message in result.output


def test_priors_from_a_file(folder: Path) -> None:
    priors = folder / "priors.tsv"
    priors.write_text("query_id\tdoc_id\n1\td0\n1\td3\n2\td5\n")
    result = CliRunner().invoke(main, command(folder, "--priors", str(priors), "--format", "tsv"))
    assert result.exit_code == 0, result.output
    priors.write_text("1 d0 first\n")
    result = CliRunner().invoke(main, command(folder, "--priors", str(priors)))
    assert "priors.tsv" in result.output
    assert "line 1" in result.output or ":1" in result.output
