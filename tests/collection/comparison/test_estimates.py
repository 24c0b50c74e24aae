"""Estimates from draws: numbers by hand, and the mark in every form."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from collection.comparison import EstimatedPool, Estimates, summarise_draws
from collection.core.errors import UnknownNameError
from collection.measures import parse

POOL = EstimatedPool(2, 6, 2, "the judged pairs and the ranks", "some pairs")
A = [[0.0, 0.4], [0.2, 0.6], [0.4, 0.8], [0.6, 1.0]]
"""Four draws of two topics: the means are 0.2, 0.4, 0.6 and 0.8."""
B = [[0.5, 0.5], [0.4, 0.4], [0.3, 0.3], [0.2, 0.2]]
"""0.5, 0.4, 0.3 and 0.2: better once, equal once, worse twice."""


def summarised(measure: str = "RR", pool: EstimatedPool = POOL, **runs: list[list[float]]) -> Estimates:
    names = [name.replace("_", "#") for name in runs]
    return summarise_draws(names, ["1", "2"], {parse(measure): np.array(list(runs.values()))}, pool, alpha=0.5)


def test_estimates_are_means_and_quantiles_of_the_draws() -> None:
    found = summarised(a=A, b=B)
    rows = found.values.set_index(["run", "query_id"])
    # Quartiles of 0.2, 0.4, 0.6, 0.8 are 0.35 and 0.65.
    assert rows.loc[("a", "all"), ["estimate", "estimate_low", "estimate_high"]].tolist() == pytest.approx(
        [0.5, 0.35, 0.65]
    )
    assert rows.loc[("a", "1"), ["estimate", "estimate_low", "estimate_high"]].tolist() == pytest.approx(
        [0.3, 0.15, 0.45]
    )
    assert list(found.values.columns) == ["run", "query_id", "measure", "estimate", "estimate_low", "estimate_high"]
    assert found.per_topic()["query_id"].tolist() == ["1", "2", "1", "2"]


def test_probabilities_are_shares_of_draws() -> None:
    found = summarised(a=A, b=B)
    (pair,) = found.pairs.to_dict("records")
    assert (pair["system_a"], pair["system_b"]) == ("a", "b")
    assert (pair["probability_better"], pair["probability_equal"]) == (0.5, 0.25)
    # The differences are -0.3, 0, 0.3 and 0.6.
    numbers = [pair[f"difference_{end}"] for end in ("estimate", "low", "high")]
    assert numbers == pytest.approx([0.15, -0.075, 0.375])
    (turned,) = found.against("RR", "a").to_dict("records")
    assert (turned["system"], turned["baseline"]) == ("b", "a")
    assert turned["probability_better"] == 0.25
    assert [turned[f"difference_{e}"] for e in ("estimate", "low", "high")] == pytest.approx([-0.15, -0.375, 0.075])
    assert found.against("RR", "b").loc[0, "probability_better"] == 0.5
    with pytest.raises(UnknownNameError, match="system 'c'"):
        found.against("RR", "c")
    with pytest.raises(UnknownNameError, match="measure 'AP'"):
        found.order("AP")


def test_the_rival_is_the_system_that_is_least_probably_worse() -> None:
    found = summarised(a=A, far=[[0.0, 0.0]] * 4, b=B)
    assert found.order() == ["a", "b", "far"]
    assert found.sentence("RR") == (
        "a has the highest expected RR: estimate 0.500 (0.350 to 0.650), over 2 topics. "
        "The probability that it is better than b is 50%."
    )


def test_standings() -> None:
    """At alpha 0.5: a is better than b in draws 3 and 4, and better than c in draw 4 only."""
    found = summarised(a=A, b=B, c=[[0.5, 0.5], [0.6, 0.6], [0.7, 0.7], [0.1, 0.1]])
    rows = found.standings("RR")[["system", "estimate", "low", "high", "standing"]].round(4).values.tolist()
    assert rows == [
        ["a", 0.5, 0.35, 0.65, "best estimate"],
        ["c", 0.475, 0.4, 0.625, "undecided"],
        ["b", 0.35, 0.275, 0.425, "worse than the best"],
    ]


def test_less_can_be_better() -> None:
    found = summarised("Effort@0.95", a=A, b=B)
    assert found.order() == ["b", "a"]
    assert found.pairs.loc[0, ["system_a", "probability_better"]].tolist() == ["b", 0.5]
    assert found.sentence("Effort@0.95").startswith("b has the lowest expected Effort@0.95: estimate 0.350")


def test_each_draw_is_summarised_as_the_measure_says() -> None:
    found = summarised("GMAP", a=[[0.25, 1.0], [0.04, 1.0]])
    of_all = found.values[found.values["query_id"] == "all"].iloc[0]
    assert of_all["estimate"] == pytest.approx((0.5 + 0.2) / 2)  # not the geometric mean of the mean values, 0.38
    assert math.sqrt(0.145) == pytest.approx(0.3808, abs=1e-4)


def test_seeds_are_one_system_in_every_draw() -> None:
    found = summarised(s_1=A, s_2=B, b=B)
    assert found.table().index.tolist() == ["s", "b"]
    assert found.table().loc["s", "RR"] == pytest.approx((0.5 + 0.35) / 2)
    assert any("s is the mean of 2 seeds" in note for note in found.notes)
    drawn = {parse("RR"): np.array([A, B])}
    separate = summarise_draws(["s#1", "s#2"], ["1", "2"], drawn, POOL, separate_seeds=True)
    assert separate.table().index.tolist() == ["s#1", "s#2"]


def test_a_complete_pool_is_certain() -> None:
    one = summarised(pool=POOL._replace(judged=8, unjudged=0), a=[[0.1, 0.2]], b=[[0.3, 0.1]])
    rows = one.values.set_index(["run", "query_id"])
    assert rows.loc[("a", "all"), "estimate"] == math.fsum([0.1, 0.2]) / 2
    assert (one.values["estimate_low"] == one.values["estimate"]).all()
    assert (one.values["estimate_high"] == one.values["estimate"]).all()
    assert "8 of 8 pairs of the pool are judged, so the estimates equal the values" in one.about
    assert one.chance(1.0) == "100%"
    # Draws alone make nothing certain.
    assert (summarised(a=A).chance(1.0), summarised(a=A).chance(0.0)) == ("88%", "12%")


def test_equal_draws_have_exactly_their_value() -> None:
    found = summarised(a=[[0.1, 0.7]] * 7)
    assert found.values["estimate"].tolist() == [0.1, 0.7, (0.1 + 0.7) / 2]
    assert (found.values["estimate_low"] == found.values["estimate_high"]).all()


@pytest.mark.slow
def test_every_form_says_estimate() -> None:
    found = summarise_draws(["a_1", "b|2"], ["1", "2"], {parse("RR"): np.array([A, B])}, POOL)
    about = (
        "Estimates for 2 topics: 6 of 8 pairs of the pool are judged; the grades of the other 2 are drawn from a model"
    )
    assert found.about.startswith(about)
    assert found.about.endswith(
        "model of the judged pairs and the ranks. Ranges hold 95% of the draws: they concern the unjudged grades, not "
        "the choice of topics, and were too narrow in replays."
    )
    latex, markdown = found.to_latex(), found.to_markdown()
    assert r"System & RR (estimate, 95\% of draws) \\" in latex
    assert r"a\_1 & \textbf{0.5000} (0.2150 to 0.7850) \\" in latex
    assert "Estimates for 2 topics: 6 of 8 pairs" in latex.splitlines()[2]
    assert "RR (estimate, 95% of draws)" in re.sub(r"\\(.)", r"\1", markdown.splitlines()[0])
    assert "Estimates for 2 topics: 6 of 8 pairs" in re.sub(r"\\(.)", r"\1", markdown.splitlines()[-1])
    assert "**0.5000** (0.2150 to 0.7850)" in markdown
    assert "RR (estimate)" in repr(found)
    assert about in repr(found)
    assert "RR (estimate)" in found._repr_html_()
    for frame in (found.values, found.pairs):
        assert not {"value", "difference", "p", "significant"} & set(frame.columns)
    assert any("no significance tests" in note for note in found.notes)


def test_a_single_system_has_no_pairs() -> None:
    found = summarised(a=A)
    assert found.pairs.empty
    assert found.against("RR").empty
    assert found.sentence("RR") == "a has the highest expected RR: estimate 0.500 (0.350 to 0.650), over 2 topics."
    assert isinstance(found.table(), pd.DataFrame)
