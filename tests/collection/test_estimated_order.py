"""The order of systems: cases in which it is evident what judging can change."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.core.records import Run
from collection.estimation import judge_order
from collection.expected_judgements import Pairs, describe
from collection.measures import align, index_qrels, parse
from tests.collection.expected_judgements.test_expected_judgements import generated, partly
from tests.helpers import cases


def ranked(topics: int, **runs: str) -> Pairs:
    """Runs that return the given documents, one letter each, in every topic."""
    rows = [
        {"query_id": f"t{topic}", "doc_id": f"{letter}{topic}", "run": run, "score": -float(rank)}
        for topic in range(topics)
        for run, letters in runs.items()
        for rank, letter in enumerate(letters)
    ]
    frame = pd.DataFrame(rows)
    made = [Run(name, frame[frame["run"] == name].drop(columns="run")) for name in runs]
    return describe(frame[["query_id", "doc_id"]].drop_duplicates(), made)


def grades_of(pairs: Pairs, **grades: float) -> np.ndarray:
    return pairs.frame["doc_id"].str[0].map(lambda letter: grades.get(letter, np.nan)).to_numpy(dtype=np.float64)


def test_an_order_that_no_grade_can_change_is_certain() -> None:
    """Both runs end with the same unjudged document, and only the first begins with a relevant one."""
    pairs = ranked(4, good="ax", poor="bx")
    order = judge_order(pairs, grades_of(pairs, a=1, b=0), "P@2", levels=[0, 1])
    assert order.values["run"].tolist() == ["good", "poor"]
    (pair,) = order.pairs.to_dict("records")
    assert (pair["system_a"], pair["system_b"], pair["decided"]) == ("good", "poor", True)
    # Certain by the model, but not yet judged: half a draw of 400 away from it.
    assert pair["probability_better"] == 1 - 0.5 / 400
    assert (order.tau, order.lowest_tau, order.open_pairs, order.stop) == (1, 1, 0, True)
    assert order.estimates.pool.unjudged == 4
    assert order.reason == (
        "Judging can stop: with 95% probability under the model, Kendall's tau between the current order and the order "
        "with all 12 pairs judged is at least 1.00 (target 0.90)."
    )


def test_systems_that_differ_in_unjudged_documents_are_open() -> None:
    pairs = ranked(4, one="ax", other="by")
    order = judge_order(pairs, grades_of(pairs, a=1, b=1), "P@2", levels=[0, 1])
    # Neither is better in the same share of draws, but for chance and equal values.
    assert 0.2 < order.pairs.loc[0, "probability_better"] < 0.6
    assert (order.lowest_tau, order.open_pairs, order.stop) == (-1, 1, False)
    assert order.reason.endswith("at least -1.00 (target 0.90); 1 of 1 pair of systems is undecided.")


def test_a_run_and_its_copy_are_equal_and_not_open() -> None:
    pairs = ranked(3, one="ab", copy="ab", other="cb")
    order = judge_order(pairs, grades_of(pairs, a=1, c=0), "P@2", levels=[0, 1])
    pair = order.pairs[order.pairs["system_b"].isin(["one", "copy"]) & order.pairs["system_a"].isin(["one", "copy"])]
    assert pair[["probability_equal", "decided"]].to_numpy().tolist() == [[1, True]]
    assert (order.tau, order.open_pairs, order.stop) == (1, 0, True)


def test_of_judged_pairs_the_order_is_known() -> None:
    pairs, grades = generated()
    order = judge_order(pairs, grades, "nDCG@10", draws=5)
    assert (order.estimates.pool.unjudged, order.stop, order.tau) == (0, True, 1)
    assert order.values["estimate"].is_monotonic_decreasing
    assert (order.values["estimate_low"] == order.values["estimate_high"]).all()
    nothing = judge_order(pairs, np.zeros(len(grades)), "nDCG@10", draws=5)
    assert (nothing.stop, nothing.open_pairs, nothing.tau) == (True, 0, 0)


@pytest.mark.slow
def test_equal_arguments_give_equal_orders() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.5)
    first, second = (judge_order(pairs, known, "nDCG@5", draws=50) for _ in range(2))
    pd.testing.assert_frame_equal(first.values, second.values)
    assert first.lowest_tau == second.lowest_tau
    assert judge_order(pairs, known, "nDCG@5", draws=50, target=first.lowest_tau).stop
    assert not judge_order(pairs, known, "nDCG@5", draws=50, target=first.lowest_tau + 0.01).stop


def test_wrong_arguments_of_an_order_are_refused() -> None:
    pairs, grades = generated()
    with pytest.raises(InputError, match="found target 0 and confidence"):
        judge_order(pairs, grades, "nDCG@10", target=0)
    with pytest.raises(InputError, match="at least one judged pair"):
        judge_order(pairs, np.full(len(grades), np.nan), "nDCG@10")
    with pytest.raises(InputError, match="at least 2 runs, found 1"):
        judge_order(ranked(2, one="ab"), np.ones(4), "nDCG@10")


def test_documents_below_the_cutoff_keep_an_order_from_being_final() -> None:
    """With 6 of 9 pooled pairs judged, one more judgement turns the order by nDCG@2 round, and cannot by P@2."""
    rows = {"a": {"1": "uvwz", "2": "xyw"}, "b": {"1": "vuwz", "2": "yxw"}}
    listed = [(q, d) for q, documents in (("1", "uv"), ("2", "xy")) for d in documents]
    runs = [
        Run(name, pd.DataFrame([(q, d, -n) for q, ds in of.items() for n, d in enumerate(ds)]).set_axis(
            ["query_id", "doc_id", "score"], axis=1).astype({"score": float}))
        for name, of in rows.items()
    ]  # fmt: skip
    pairs = describe(pd.DataFrame(listed, columns=["query_id", "doc_id"]), runs)
    grades = np.array([3.0, 0, 0, 3])
    by_ndcg = judge_order(pairs, grades, "nDCG@2", levels=[0, 1, 2, 3], pooled=3)
    assert (by_ndcg.stop, by_ndcg.final) == (True, False)
    assert by_ndcg.reason == (
        "The 4 pairs of the comparison are judged, but the order is not final: nDCG@2 also depends on relevant "
        "documents outside the ranks that it reads, and 3 such pairs of the pool are unjudged."
    )
    by_precision = judge_order(pairs, grades, "P@2", levels=[0, 1, 2, 3], pooled=3)
    assert by_precision.reason == "All pairs that can change P@2 are judged: the order of the systems is final."
    by_nothing_else = judge_order(pairs, grades, "nDCG@2", levels=[0, 1, 2, 3], addable=np.zeros(2, dtype=np.int64))
    assert by_nothing_else.final
    # Before all pairs are judged, the reason gives the bound, and a caution names what the bound leaves out.
    some = judge_order(pairs, np.array([3.0, 0, np.nan, 3]), "nDCG@2", levels=[0, 1, 2, 3], pooled=3)
    assert some.caution.startswith("Documents outside the 4 pairs count as not relevant, but can change the order: ")
    assert judge_order(pairs, np.array([3.0, 0, np.nan, 3]), "P@2", levels=[0, 1, 2, 3]).caution == ""


def test_ranks_and_topics_outside_the_pool_keep_an_order_from_being_final() -> None:
    frame = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["x", "y", "z"], "score": [2.0, 1.0, 1.0]})
    runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0, 1.0]))]
    order = judge_order(describe(frame[:1], runs), np.array([1.0]), "P@2")
    assert order.reason.endswith(
        "not final: 2 ranks that P@2 reads have documents outside the pool and 1 topic of the runs has no pair in the "
        "pool."
    )


BEYOND = ("P@2", "RR@2", "Success@2", "nDCG@2", "AP@2", "R@2", "F@2", "ERR@2", "nERR@2", "RBP@2", "DCG@2", "Q@2",
          "nDCG", "AP", "Rprec", "bpref", "P(rel=2)@2", "AP(rel=2)@2")  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
def test_final_is_said_where_no_grade_of_any_document_can_change_a_value() -> None:
    """Every completion of the grades of all five documents of both topics is tried."""
    random, said = np.random.default_rng(5), {True: 0, False: 0}
    every = [(topic, doc_id) for topic in "12" for doc_id in "uvwxy"]
    for _ in range(cases(6, 60)):
        runs = []
        for name in "ab":
            rows = [(t, d, -float(n)) for t in "12" for n, d in enumerate(random.permutation(list("uvwxy"))[:3])]
            runs.append(Run(name, pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])))
        # A few documents have no grade; some of them are at no rank that a measure with a cut-off reads.
        unjudged = [every[n] for n in random.choice(len(every), int(random.integers(0, 4)), replace=False)]
        judged = {pair: int(random.choice([0, 0, 1, 2, 2])) for pair in every if pair not in unjudged}
        frame = pd.DataFrame(list(judged), columns=["query_id", "doc_id"])
        pairs = describe(frame, runs)
        addable = np.array([sum(topic == each for topic, _ in unjudged) for each in pairs.numbered[0].topics])
        completed = []
        for given in product((None, 0, 1, 2), repeat=len(unjudged)):
            added = {pair: grade for pair, grade in zip(unjudged, given, strict=True) if grade is not None}
            qrels = pd.DataFrame(
                [(*pair, grade) for pair, grade in {**judged, **added}.items()],
                columns=["query_id", "doc_id", "relevance"],
            )
            completed.append([align(run.frame, index_qrels(qrels)) for run in runs])
        for name in BEYOND:
            order = judge_order(pairs, np.array(list(judged.values()), dtype=np.float64), name, levels=[0, 1, 2],
                                addable=addable)  # fmt: skip
            values = np.array([[parse(name)(aligned).mean() for aligned in both] for both in completed])
            changes = bool((np.ptp(values, axis=0) > 1e-12).any())
            assert not (order.final and changes), (name, unjudged, judged)
            # Ranks outside the pairs are taken to count, even where a better document above makes them irrelevant.
            if not any(order.unlisted[:2]):
                assert order.final != changes, (name, unjudged, judged)
            said[order.final] += 1
    assert all(said.values())
