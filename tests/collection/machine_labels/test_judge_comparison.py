"""Agreement of judges with each other, against independent implementations and published numbers."""

import json
from itertools import combinations
from pathlib import Path
from unittest import mock

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from collection import evaluate
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Run
from collection.formats import read_judge_labels, read_qrels
from collection.machine_labels import STATISTICS, compare_judges, judge_comparison
from collection.statistics.rank_correlation import tau_ap
from tests.helpers import SHARED

PAIR = ["query_id", "doc_id"]


def random_judges(seed: int, pairs: int = 120) -> dict[str, pd.DataFrame]:
    """A truth with four topics, and three judges that err in their own ways and labelled parts of the pairs."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"query_id": [str(n % 4) for n in range(pairs)], "doc_id": [f"d{n}" for n in range(pairs)]})
    truth = rng.integers(0, 4, pairs)
    judges = {"people": frame.assign(relevance=truth)}
    for name, error, offset in (("good", 0.2, 0), ("lenient", 0.5, 1), ("poor", 0.8, 0)):
        grades = np.where(rng.random(pairs) < error, rng.integers(0, 4, pairs), np.minimum(truth + offset, 3))
        judges[name] = frame.assign(relevance=grades)[rng.random(pairs) < 0.9]
    return judges


def random_runs(seed: int, judges: dict[str, pd.DataFrame]) -> list[Run]:
    rng = np.random.default_rng(seed)
    people = judges["people"]
    return [
        Run(f"run{n}", people[PAIR].assign(score=people["relevance"] * n / 8 + rng.normal(size=len(people))))
        for n in range(8)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_statistics_equal_those_of_other_libraries(seed: int) -> None:
    judges = random_judges(seed)
    runs = random_runs(seed, judges)
    found = compare_judges(judges, runs, "nDCG@10")
    assert found.systems == 8
    for a, b in combinations(judges, 2):
        both = judges[a].merge(judges[b], on=PAIR)
        one, other = both["relevance_x"].to_numpy(), both["relevance_y"].to_numpy()
        values = {name: found.matrix(name).loc[a, b] for name in STATISTICS}
        assert values["pairs"] == len(both)
        assert values["same"] == pytest.approx((one == other).mean())
        assert values["kappa"] == pytest.approx(cohen_kappa_score(one, other))
        scale = [0, 1, 2, 3]
        assert values["kappa_quadratic"] == pytest.approx(
            cohen_kappa_score(one, other, labels=scale, weights="quadratic")
        )
        alpha = krippendorff.alpha(np.array([one, other], dtype=float), level_of_measurement="ordinal")
        assert values["alpha"] == pytest.approx(alpha)
        assert values["bias"] == pytest.approx((one - other).mean())
        assert found.matrix("bias").loc[b, a] == pytest.approx((other - one).mean())
        orders = [
            evaluate(both[PAIR].assign(relevance=grades), runs, "nDCG@10")
            .means()["nDCG@10"]
            .loc[[run.name for run in runs]]
            for grades in (one, other)
        ]
        assert values["tau"] == pytest.approx(kendalltau(*orders).statistic)
        assert values["tau_ap"] == pytest.approx(tau_ap(*orders, ties="b"))


def test_one_judge_against_the_others() -> None:
    judges = random_judges(3)
    found = compare_judges(judges, [])
    against = found.against("lenient").set_index("judge")
    assert list(against.index) == ["people", "good", "poor"]
    for name in STATISTICS:
        sign = 1 if name != "bias" else -1
        expected = (sign * found.matrix(name)["lenient"] * sign).drop("lenient")
        assert np.allclose(against[name].astype(float), expected.astype(float), equal_nan=True), name
    assert against.loc["people", "bias"] < 0  # people grade lower than the lenient judge
    assert against["tau"].isna().all()  # without runs
    with pytest.raises(UnknownNameError):
        found.against("nobody")
    with pytest.raises(UnknownNameError):
        found.matrix("nothing")


def test_every_run_is_aligned_once() -> None:
    judges = random_judges(5)
    with mock.patch.object(judge_comparison, "align", side_effect=judge_comparison.align) as aligned:
        compare_judges(judges, random_runs(5, judges))
    assert aligned.call_count == 8


@pytest.mark.parametrize("measure", ["ERR@5", "AP", "R@5", "bpref", "NumRel", "GMAP"])
def test_orders_are_those_by_the_common_pairs(measure: str) -> None:
    """Topics without a common pair have no part in the means."""
    judges = random_judges(6)
    judges["good"] = judges["good"][judges["good"]["query_id"] != "2"]
    runs = random_runs(6, judges)
    both = judges["good"].merge(judges["poor"], on=PAIR)
    orders = [
        evaluate(both[PAIR].assign(relevance=both[grades]), runs, measure)
        .means()
        .iloc[:, 0]
        .loc[[r.name for r in runs]]
        for grades in ("relevance_x", "relevance_y")
    ]
    expected = kendalltau(*orders).statistic
    found = compare_judges(judges, runs, measure).matrix("tau").loc["good", "poor"]
    assert found == pytest.approx(expected, nan_ok=True)


def test_judges_without_a_common_pair() -> None:
    judges = random_judges(4)
    good = judges["good"]
    apart = {"a": good[:50], "b": good[50:], "c": good}
    found = compare_judges(apart, [])
    assert np.isnan(found.matrix("kappa").loc["a", "b"])
    assert found.matrix("kappa").loc["a", "c"] == 1
    with pytest.raises(InputError, match="found none among those of a and b"):
        compare_judges({"a": good[:50], "b": good[50:]}, [])
    with pytest.raises(InputError, match="two judges or more to compare, found a"):
        compare_judges({"a": good}, [])
    assert len(compare_judges({"none": good[:0], "a": good, "b": good}, []).between) == 1


def needed(*parts: str) -> Path:
    path = SHARED.joinpath("data", *parts)
    if not path.exists():
        pytest.skip(f"needs {path.name}, which is not in this repository")
    return path


@pytest.mark.long
def test_llmjudge_has_the_published_agreement() -> None:
    folder = needed("llmjudge-labels")
    labels = read_judge_labels(folder / "labels.csv.gz")
    judges = {str(name): rows for name, rows in labels.groupby("judge")}
    assert len(judges) == 34
    found = compare_judges(judges, [])
    expected = json.loads((folder / "expected_agreement.json").read_text())[0]["pairwise"]
    assert expected
    for pair in expected:
        for name, key in (("pairs", "n"), ("same", "agree"), ("kappa", "kappa_none")):
            assert found.matrix(name).loc[pair["a"], pair["b"]] == pytest.approx(pair[key], abs=1e-6), pair


@pytest.mark.long
def test_umbrela_judges_of_rag_have_the_computed_agreement() -> None:
    folder = needed("rag", "rag25dev-umbrela-judges")
    labels = read_judge_labels(folder / "labels.tsv.gz")
    expected = pd.read_csv(folder / "expected_agreement.csv", dtype={"scope": "str"})
    rows = expected[~expected["scope"].isin(["all", "holdout", "dev"])]
    assert len(rows)
    for scope, of_scope in rows.groupby("scope"):
        own = labels[labels["query_id"] == scope]
        found = compare_judges({str(name): part for name, part in own.groupby("judge")}, [])
        for row in of_scope.to_dict("records"):
            for name, key in (("pairs", "n"), ("same", "agreement"), ("kappa", "kappa")):
                value = found.matrix(name).loc[row["rater_1"], row["rater_2"]]
                assert value == pytest.approx(row[key], abs=1e-6), row
            bias = found.matrix("bias").loc[row["rater_1"], row["rater_2"]]
            assert bias == pytest.approx(row["mean_1"] - row["mean_2"], abs=2e-6), row


@pytest.mark.long
def test_umbrela_and_assessors_of_rag() -> None:
    folder = needed("rag", "rag25-human-vs-umbrela2")
    people = read_qrels(folder / "qrels.rag25.test.txt.gz")
    labels = read_judge_labels(folder / "qrels.rag25.test-umbrela2.txt.gz")
    found = compare_judges({"people": people, "umbrela2": labels}, []).against("people").iloc[0]
    expected = pd.read_csv(folder / "expected_agreement.csv").set_index("scope").loc["all"]
    for name, key in (
        ("pairs", "n"),
        ("same", "agreement"),
        ("kappa", "kappa"),
        ("kappa_quadratic", "kappa_quadratic"),
    ):
        assert found[name] == pytest.approx(expected[key], abs=1e-6)
