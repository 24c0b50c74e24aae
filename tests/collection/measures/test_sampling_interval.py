"""Intervals of sampled estimates: they hold the full value as often as they say, and vanish where all is judged."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import ColumnsError, InputError
from collection.core.records import Run
from collection.measures import align, index_qrels, parse
from collection.measures.imputation import complete, number_rows
from collection.measures.sampling import sampling_interval
from collection.pooling import stratified
from tests.helpers import cases, graded_runs

pytestmark = pytest.mark.slow


def pool_of(seed: int, topics: int = 15, size: int = 40, runs: int = 6) -> tuple[list[Run], pd.DataFrame]:
    """Runs over a pool, and its grades."""
    return graded_runs(seed, topics, size, [1 + 0.3 * n for n in range(runs)], [0.5, 0.25, 0.15, 0.1])


def sampled(runs: list[Run], full: pd.DataFrame, strata: str, seed: int) -> pd.DataFrame:
    """Qrels of a stratified sample, -1 for what was not drawn."""
    pool = stratified(runs, strata=strata, seed=seed).merge(full)
    return pool.assign(relevance=pool["relevance"].where(pool["drawn"], -1), stratum=pool["stratum"].astype(int))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["xinfAP", "infNDCG"])
@pytest.mark.long
def test_the_full_value_is_inside_as_often_as_promised(name: str) -> None:
    measure, inside = parse(name), []
    for seed in range(cases(10, 24)):
        runs, full = pool_of(seed, topics=10, runs=3)
        pool = sampled(runs, full, "3:1,40:1", 0)
        truth = [measure(align(run.frame, index_qrels(pool))).mean() for run in runs]
        table = sampling_interval(measure, runs, sampled(runs, full, "3:.5,40:.25", seed), replicates=30, seed=seed)
        inside.append((table["lowest"] <= truth) & (truth <= table["highest"]))
    # Intervals of three runs for each sample: the error may be too wide, never much too narrow.
    assert np.mean(inside) >= 0.9


def test_nothing_is_uncertain_where_all_is_judged() -> None:
    runs, full = pool_of(0)
    table = sampling_interval(parse("xinfAP"), runs, full.assign(stratum=0), replicates=5)
    assert (table["error"] == 0).all()
    assert (table["lowest"] == table["value"]).all()
    assert (table["highest"] == table["value"]).all()


def test_more_judgements_narrow_the_interval_and_more_confidence_widens_it() -> None:
    runs, full = pool_of(1)
    measure = parse("xinfAP")
    width = {}
    for rate in (".2", ".4", ".8"):
        table = sampling_interval(measure, runs, sampled(runs, full, f"40:{rate}", 1), replicates=40)
        width[rate] = (table["highest"] - table["lowest"]).mean()
    assert width[".2"] > width[".4"] > width[".8"] > 0
    usual, wide = (
        sampling_interval(measure, runs[:1], sampled(runs, full, "40:.4", 1), confidence=c).iloc[0] for c in (0.9, 0.99)
    )
    assert wide["lowest"] < usual["lowest"] < usual["highest"] < wide["highest"]
    assert usual["value"] == wide["value"]


def test_a_biased_estimate_is_seen_to_be_biased() -> None:
    """infNDCG's ideal has whole ranks only, so that it is too low where each document stands for one and a quarter."""
    runs, full = pool_of(1)
    measure = parse("infNDCG")
    truth = measure(align(runs[0].frame, index_qrels(sampled(runs, full, "40:1", 0)))).mean()
    tables = [
        sampling_interval(measure, runs[:1], sampled(runs, full, "40:.8", seed), replicates=30).iloc[0]
        for seed in range(4)
    ]
    missed = np.mean([table["value"] for table in tables]) - truth
    assert missed > 0.05
    assert np.mean([table["bias"] for table in tables]) == pytest.approx(missed, abs=0.03)


def test_the_value_is_the_measures_own() -> None:
    runs, full = pool_of(2)
    qrels, measure = sampled(runs, full, "5:.6,40:.2", 3), parse("infNDCG")
    table = sampling_interval(measure, runs, qrels, replicates=2)
    values = [measure(align(run.frame, index_qrels(qrels))).mean() for run in runs]
    assert table["value"].tolist() == values


def test_the_same_seed_gives_the_same_interval() -> None:
    runs, full = pool_of(3)
    qrels = sampled(runs, full, "40:.3", 3)
    one, two, other = (
        sampling_interval(parse("xinfAP"), runs, qrels, replicates=20, seed=seed) for seed in (4, 4, 5)
    )  # fmt: skip
    pd.testing.assert_frame_equal(one, two)
    assert (one["error"] != other["error"]).all()


def test_a_stratum_without_a_judgement_is_no_error() -> None:
    runs, full = pool_of(4)
    qrels = sampled(runs, full, "40:.3", 4)
    none = qrels["query_id"] == "t0"
    qrels = qrels.assign(relevance=qrels["relevance"].mask(none, -1))
    table = sampling_interval(parse("xinfAP"), runs, qrels, replicates=10)
    assert np.isfinite(table[["value", "lowest", "highest", "error", "bias"]]).all(axis=None)


def test_a_completed_run_is_the_run_over_each_of_the_qrels() -> None:
    runs, full = pool_of(5, topics=4, runs=2)
    random = np.random.default_rng(0)
    grades = random.choice([-1, 0, 1, 2], (len(full), 3))
    grades[::40] = 1  # no topic without a judgement
    for run in runs:
        stacked = complete(align(run.frame, number_rows(full)), grades)
        for name in ("nDCG@10", "AP", "bpref", "ERR@5", "Judged@10"):
            values = parse(name)(stacked).reshape(3, 4)
            for n in range(3):
                alone = align(run.frame, full.assign(relevance=grades[:, n]))
                np.testing.assert_allclose(values[n], parse(name)(alone), err_msg=name)


def test_what_is_wrong_is_said() -> None:
    runs, full = pool_of(0)
    qrels = full.assign(stratum=0)
    with pytest.raises(InputError, match="found nDCG"):
        sampling_interval(parse("nDCG@10"), runs, qrels)
    with pytest.raises(InputError, match="found 95 and 100"):
        sampling_interval(parse("xinfAP"), runs, qrels, confidence=95)
    with pytest.raises(ColumnsError, match="stratum"):
        sampling_interval(parse("xinfAP"), runs, full)
    with pytest.raises(InputError, match="found none"):
        sampling_interval(parse("xinfAP"), runs, qrels.assign(relevance=-1))
    with pytest.raises(InputError, match="row 1 has no stratum"):
        sampling_interval(parse("xinfAP"), runs, qrels.assign(stratum=None))
