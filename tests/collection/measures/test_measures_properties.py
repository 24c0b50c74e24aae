"""What holds for every measure of the table, on rankings that nobody thought of."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from collection.measures import (
    MEASURES,
    UNJUDGED,
    UNPOOLED,
    Aligned,
    Measure,
    align,
    bounds,
    explain,
    from_grades,
    parse,
)
from tests.helpers import cases, first_of, tries

pytestmark = pytest.mark.slow

SHAPES = ["", "@1", "@3", "@100", "@0.5", "@0.95"]
VARIANTS = ["", "(rel=2)", "(judged_only=True)"]


def every_measure(needs: str = "") -> list[Measure]:
    """Every measure with every kind of cut-off that it takes, and its common parameters."""
    found = []
    for entry, shape, variant in itertools.product(MEASURES, SHAPES, VARIANTS):
        fits = entry.at == ("recall" if "." in shape else "cutoff") if shape else not entry.needs_at
        takes = "rel" not in variant or "rel" in entry.parameters
        if entry.needs == needs and fits and takes:
            found.append(parse(entry.name + variant + shape))
    return found


PLAIN = every_measure()
SUBTOPIC = every_measure("subtopics")
STRATA = every_measure("strata")


@st.composite
def frames(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Up to three topics, up to twelve documents, ties, unjudged ones and negative grades among them."""
    rows, judged = [], []
    for topic in range(draw(st.integers(1, 3))):
        for doc in draw(st.lists(st.integers(0, 14), unique=True, max_size=12)):
            rows.append((str(topic), f"d{doc}", float(draw(st.integers(0, 5)))))
        for doc in draw(st.lists(st.integers(0, 14), unique=True, min_size=1, max_size=12)):
            judged.append((str(topic), f"d{doc}", draw(st.integers(-2, 3)), str(draw(st.integers(0, 2)))))
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"query_id": str, "doc_id": str})
    qrels = pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance", "part"])
    return run.astype({"score": float}), qrels


grades = st.one_of(st.none(), st.integers(0, 3))
rankings = st.lists(grades, max_size=12)
missed = st.lists(st.integers(0, 3), max_size=5)


def judged_of(ranking: list[int | None], missed: list[int]) -> list[int]:
    return [g for g in ranking if g is not None] + missed


def one(ranking: list[int | None], missed: list[int]) -> Aligned:
    """A topic, and a second one that has all grades, so that both sides of a comparison know the same levels."""
    return from_grades([ranking, []], [judged_of(ranking, missed), [1, 2, 3]])


@tries(40)
@given(frames())
def test_every_value_is_finite_and_in_its_range(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    run, qrels = case
    for column, wanted in (("", PLAIN), ("subtopic", SUBTOPIC), ("stratum", STRATA)):
        aligned = align(run, qrels.rename(columns={"part": column}))
        for measure in wanted:
            values = measure(aligned)
            assert values.shape == (len(aligned.topics),), measure
            assert values.dtype == np.float64, measure
            assert np.isfinite(values).all(), measure
            assert (values >= measure.entry.lowest - 1e-12).all(), measure
            assert (values <= measure.entry.highest + 1e-12).all(), measure


@tries(15)
@given(frames(), st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(case: tuple[pd.DataFrame, pd.DataFrame], seed: int) -> None:
    run, qrels = case
    for column, wanted in (("", PLAIN), ("subtopic", SUBTOPIC), ("stratum", STRATA)):
        named = qrels.rename(columns={"part": column})
        first, shuffled = align(run, named), align(run.sample(frac=1, random_state=seed), named)
        for measure in wanted:
            assert measure(first).tolist() == measure(shuffled).tolist(), measure


@tries(40)
@given(frames(), st.randoms(use_true_random=False))
def test_a_swap_of_equal_grades_changes_nothing(case: tuple[pd.DataFrame, pd.DataFrame], random) -> None:
    run, qrels = case
    run = run.drop_duplicates(["query_id", "score"])  # in ties the ids would decide
    grade = qrels.set_index(["query_id", "doc_id"])["relevance"]
    swapped = run.copy()
    for topic, rows in run.groupby("query_id"):
        kinds: dict[int, list[int]] = {}
        for index, doc in rows["doc_id"].items():
            named = (topic, doc) in grade.index
            kinds.setdefault(max(int(grade[topic, doc]), UNJUDGED) if named else UNPOOLED, []).append(index)
        for indices in kinds.values():
            shuffled = indices.copy()
            random.shuffle(shuffled)
            swapped.loc[indices, "doc_id"] = run.loc[shuffled, "doc_id"].to_numpy()
    first, second = align(run, qrels), align(swapped, qrels)
    for measure in PLAIN:
        assert measure(first).tolist() == measure(second).tolist(), measure


@tries(80)
@given(rankings, missed, st.data())
def test_moving_a_better_document_up_never_lowers_a_value(
    ranking: list[int | None], missed: list[int], data: st.DataObject
) -> None:
    """For the measures whose row says so; never raises it where that is what the row says."""
    worse = [(i, j) for i, a in enumerate(ranking) for j, b in enumerate(ranking) if i < j and (b or 0) > (a or 0)]
    if not worse:
        return
    i, j = data.draw(st.sampled_from(worse))
    swapped = [*ranking[:i], ranking[j], *ranking[i + 1 : j], ranking[i], *ranking[j + 1 :]]
    before, after = one(ranking, missed), one(swapped, missed)
    for measure in PLAIN:
        if (ranking[j] or 0) < measure.parameters.get("rel", 1):
            continue  # not relevant to this measure
        if "judged_only" in measure.parameters and ranking[i] is None:
            continue  # where it goes nothing stands, and it passes others on its way
        rise = measure(after)[0] - measure(before)[0]
        assert rise * measure.entry.monotone >= -1e-9, (measure, ranking, swapped)


DIVIDED_BY_K = {"P", "F", "Unjudged", "SDCG", "BPM", "NERR8", "NERR9"}
"""The last two: their weights for the k ranks sum to 1."""


@tries(25)
@given(rankings, missed)
def test_depth_beyond_the_run_changes_nothing(ranking: list[int | None], missed: list[int]) -> None:
    """Neither a cut-off below the last document, nor another topic that goes deeper."""
    aligned = one(ranking, missed)
    judged = [judged_of(ranking, missed), [1, 2, 3]]
    beside = from_grades([ranking, [None] * 40], judged)
    for measure in PLAIN:
        assert measure(beside)[0] == pytest.approx(measure(aligned)[0], abs=1e-12), measure
        if measure.entry.at == "cutoff" and measure.level == 100 and measure.name not in DIVIDED_BY_K:
            assert (measure @ 10_000)(aligned).tolist() == measure(aligned).tolist(), measure
            if not measure.entry.needs_at:
                whole = Measure(measure.name, measure.parameters)
                assert whole(aligned)[0] == pytest.approx(measure(aligned)[0], abs=1e-12), measure


@tries(12)
@given(frames())
def test_a_topic_is_alone_what_it_is_among_others(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    run, qrels = case
    for column, wanted in (("", PLAIN), ("subtopic", SUBTOPIC), ("stratum", STRATA)):
        aligned = align(run, qrels.rename(columns={"part": column}))
        for measure in wanted:
            values = measure(aligned)
            for at, topic in enumerate(aligned.topics):
                assert measure(aligned.only(topic))[0] == pytest.approx(values[at], abs=1e-12), measure


@settings(max_examples=cases(1, 10))
@given(frames())
@pytest.mark.long
def test_an_explanation_ends_in_the_value(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    run, qrels = case
    for column, wanted in (("", PLAIN), ("subtopic", SUBTOPIC), ("stratum", STRATA)):
        aligned = align(run, qrels.rename(columns={"part": column}))
        topic = aligned.topics[0]
        for measure in wanted:
            explanation = explain(measure, aligned, topic=topic)
            assert explanation.value == pytest.approx(measure(aligned)[0], abs=1e-12), measure
            assert str(measure) in str(explanation)


def test_explanations_show_the_calculation() -> None:
    """Not only a value: every measure names at least one number on the way, but those that have none."""
    run = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
    qrels = pd.DataFrame({"query_id": "1", "doc_id": list("abdx"), "relevance": [2, 0, 1, 1]})
    aligned = align(run, qrels.assign(subtopic="s", stratum="s"))
    silent = {"NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "NumQ"}
    for measure in [*PLAIN, *SUBTOPIC, *STRATA]:
        explanation = explain(measure, aligned)
        shown = set(explanation.ranks.columns) - {"rank", "doc_id", "grade"} | set(explanation.facts)
        assert bool(shown) or measure.name in silent, measure


PROVEN = {"nDCG", "DCG", "CG", "SDCG", "ERR", "RBP", "INSQ"}
"""Graded measures for which the search is exact."""


@pytest.mark.parametrize("try_all", [0, 4096])
@tries(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ranking=st.lists(st.one_of(st.none(), grades), max_size=4), missed=missed)
def test_bounds_hold_every_value_that_could_be(
    monkeypatch: pytest.MonkeyPatch, try_all: int, ranking: list[int | None], missed: list[int]
) -> None:
    """Against all completions, one by one; and the bounds are reached."""
    monkeypatch.setattr("collection.measures.value_bounds.TRY_ALL", try_all)
    aligned = one(ranking, missed)
    places = [i for i, g in enumerate(ranking) if g is None]
    completed = []
    for given_grades in itertools.product(range(4), repeat=len(places)):
        full = list(ranking)
        for place, grade in zip(places, given_grades, strict=True):
            full[place] = grade
        completed.append(full)
    everything = from_grades([*completed, []], [*(judged_of(full, missed) for full in completed), [1, 2, 3]])
    for measure in PLAIN:
        if measure.entry.graded and not try_all and measure.name not in PROVEN:
            continue
        value, (low, high) = measure(aligned)[0], bounds(measure, aligned)
        values = [*measure(everything)[:-1], value]
        assert low[0] == pytest.approx(min(values), abs=1e-9), (measure, ranking, missed)
        assert high[0] == pytest.approx(max(values), abs=1e-9), (measure, ranking, missed)


@tries(60)
@given(frames())
def test_equal_to_trec_eval_on_anything(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Two ways must agree: pytrec_eval wraps trec_eval 9 (small whole scores are alike in both versions)."""
    import pytrec_eval

    run, qrels = case
    # A topic without any judgement of 0 or more ends the process there.
    usable = qrels[qrels.groupby("query_id")["relevance"].transform("max") >= 0]
    run = run[run["query_id"].isin(usable["query_id"])]
    if usable.empty or run.empty:
        return
    nested = {q: dict(zip(g["doc_id"], map(int, g["relevance"]), strict=True)) for q, g in usable.groupby("query_id")}
    ranked = {q: dict(zip(g["doc_id"], g["score"], strict=True)) for q, g in run.groupby("query_id")}
    names = {
        "map": "AP", "recip_rank": "RR", "ndcg": "nDCG", "Rprec": "Rprec", "bpref": "bpref", "P_5": "P@5",
        "recall_5": "R@5", "ndcg_cut_5": "nDCG@5", "success_5": "Success@5", "map_cut_5": "AP@5", "infAP": "infAP",
        "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_map": "SetAP", "11pt_avg": "IPrec",
    }  # fmt: skip
    oracle = pytrec_eval.RelevanceEvaluator(nested, set(names)).evaluate(ranked)
    aligned = align(run, usable, version=9)
    for theirs, ours in names.items():
        for topic, found in zip(aligned.topics, parse(ours)(aligned), strict=True):
            assert found == pytest.approx(oracle.get(topic, {}).get(theirs, 0.0), abs=1e-9), (ours, topic)


def with_every_grading(measure: Measure, ranking: list[int | None], judged: list[int], scale: list[int]) -> list[float]:
    """The value as it is, and with every grading of the unjudged documents, evaluated anew."""
    places = [place for place, grade in enumerate(ranking) if grade is None]
    values = [measure(from_grades([ranking], [judged]))[0]]
    for grades in itertools.product(scale, repeat=len(places)):
        completed = list(ranking)
        for place, grade in zip(places, grades, strict=True):
            completed[place] = grade
        values.append(measure(from_grades([completed], [[*judged, *grades]]))[0])
    return values


BOUNDED = [
    Measure(entry.name, parameters, level)
    for entry in MEASURES
    if not entry.needs
    for parameters in ([{}, {"rel": 2}] if entry.graded else [{}])
    for level in ({"cutoff": [2, 4], "recall": [0.5]}.get(entry.at or "", []) + ([] if entry.needs_at else [None]))
]


@pytest.mark.parametrize("measure", first_of(BOUNDED, 30), ids=str)
def test_bounds_are_the_extremes_over_all_gradings(measure: Measure) -> None:
    """Also with grades of the scale that the qrels do not have yet, which max_rel becomes."""
    random = np.random.default_rng(38)
    for case in range(cases(12, 200)):
        scale = [[0, 1], [0, 1, 2], [0, 1, 2, 3]][case % 3]
        top = int(random.integers(0, max(scale) + 1))
        ranking = [None if random.random() < 0.5 else int(random.integers(0, top + 1)) for _ in range(1 + case % 6)]
        while ranking.count(None) > 4:
            ranking[ranking.index(None)] = 0
        judged = [g for g in ranking if g is not None] + [int(g) for g in random.integers(0, top + 1, 2)]
        values = with_every_grading(measure, ranking, judged, scale)
        low, high = bounds(measure, from_grades([ranking], [judged]), grades=scale)
        assert (low[0], high[0]) == pytest.approx((min(values), max(values))), (ranking, judged, scale)


def test_bounds_reach_what_a_higher_grade_of_the_scale_gives() -> None:
    """ERR of 3 unjudged documents beside a grade of 1: three grades of 3 give .9342, not the .6667 of grades of 1."""
    found = bounds("ERR", from_grades([[None, None, None]], [[1]]), grades=[0, 1, 2, 3])
    assert found.highest[0] == pytest.approx(7 / 8 + 1 / 8 * 7 / 8 / 2 + 1 / 64 * 7 / 8 / 3)


def test_another_topic_may_get_the_highest_grade() -> None:
    """A judged topic alone is .16 with max_rel = 1, and .08 once the other topic's document is a 2."""
    aligned = from_grades([[0, 1], [None]])
    low, high = bounds("RBP", aligned, grades=[0, 1, 2])
    assert (low[0], high[0]) == pytest.approx((0.08, 0.16))
