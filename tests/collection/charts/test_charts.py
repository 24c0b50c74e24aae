"""The chart of each result, and its table in a notebook."""

import re
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from collection import agreement, compare, estimate, evaluate, explain, simulate
from collection.charts.gain_curves import mean_recall
from collection.core.errors import InputError, UnknownNameError
from collection.core.frames import STANDINGS
from collection.core.ranking import rank_run
from collection.formats.in_memory import as_qrels, as_runs
from collection.reusability import assess
from tests.collection.test_api import LABELS, QRELS_OF, RUNS_OF

HOSTILE = "<b>&x"
RUNS = {"bm25": RUNS_OF["bm25"], HOSTILE: RUNS_OF["dense"]}


def rows_of(chart: alt.LayerChart) -> pd.DataFrame:
    """The data of a chart, which must be valid Vega-Lite."""
    assert chart.to_dict()["width"] == 520
    return next(data for data in (chart.data, *(layer.data for layer in chart.layer)) if data is not alt.Undefined)


@pytest.mark.slow
def test_an_evaluation_draws_the_spread_over_topics() -> None:
    found = evaluate(QRELS_OF, RUNS, ["nDCG@10", "AP"])
    rows = rows_of(found.chart("AP")).set_index("run")
    values = found.per_topic().query("measure == 'AP' and run == 'bm25'")["value"]
    assert rows.index.tolist() == ["bm25", HOSTILE]
    assert rows.loc["bm25", ["lowest", "median", "mean", "highest"]].tolist() == pytest.approx(
        [values.min(), values.median(), values.mean(), values.max()]
    )
    assert found.chart().to_dict()["layer"][0]["encoding"]["x"]["title"] == "nDCG@10 of each topic"
    with pytest.raises(UnknownNameError, match="unknown measure 'RR'"):
        found.chart("RR")


@pytest.mark.slow
def test_a_comparison_draws_means_with_intervals() -> None:
    found = compare(QRELS_OF, RUNS, ["nDCG@10", "Judged@10"])
    rows = rows_of(found.chart())
    assert rows["system"].tolist() == found.standings("nDCG@10")["system"].tolist()
    assert set(rows["standing"]) <= set(STANDINGS)
    values = found.evaluation.means()["nDCG@10"].sort_values(ascending=False)
    assert rows["system"].tolist() == values.index.tolist()
    assert rows["standing"].iloc[0] == "best"
    assert set(rows_of(found.chart("Judged@10"))["standing"]) == {""}
    for method in (found.chart, found.standings):
        with pytest.raises(UnknownNameError, match="unknown measure 'AP'"):
            method("AP")


@pytest.mark.slow
def test_charts_take_the_names_of_other_tools() -> None:
    measures = ["map", "ndcg_cut_10"]
    for found in (evaluate(QRELS_OF, RUNS, measures), compare(QRELS_OF, RUNS, measures)):
        assert found.chart("ndcg_cut_10").to_dict() == found.chart("nDCG@10").to_dict()
        assert found.chart("map").to_dict() == found.chart("AP").to_dict()
        with pytest.raises(UnknownNameError, match="unknown measure 'mpa'; choose from AP, nDCG@10"):
            found.chart("mpa")
    estimated = estimate(QRELS_OF, RUNS, ["P_5"], depth=10)
    assert estimated.chart("P_5").to_dict() == estimated.chart("P@5").to_dict()


@pytest.mark.slow
def test_estimates_draw_ranges() -> None:
    found = estimate(QRELS_OF, RUNS, ["nDCG@10", "P@5"], depth=10)
    rows = rows_of(found.chart())
    assert rows["system"].tolist() == found.order("nDCG@10")
    assert rows["standing"].iloc[0] == "best estimate"
    assert found.chart("P@5").to_dict()["layer"][0]["encoding"]["x"]["title"] == "Mean P@5 (estimate)"


@pytest.mark.slow
def test_agreement_draws_coefficients() -> None:
    found = agreement(LABELS, resamples=0)
    rows = rows_of(found.chart())
    assert len(rows) == found.values["value"].notna().sum() > 3
    assert rows["name"].is_unique


def test_curves_of_a_simulation_are_averaged_as_steps() -> None:
    """Two topics: one finds its only document first, the other its two after the second and the fourth judgement."""
    rows = [("1", 0, 0), ("1", 1, 1), ("2", 0, 0), ("2", 2, 1), ("2", 4, 2)]
    curves = pd.DataFrame(rows, columns=["query_id", "judged", "found"]).assign(strategy="loop", learner="svm", seed=0)
    found = mean_recall(curves)
    assert found["judged"].tolist() == [0, 1, 2, 3, 4]
    assert found["recall"].tolist() == [0, 0.5, 0.75, 0.75, 1]
    assert set(mean_recall(pd.concat([curves, curves.assign(learner="nb")]))["strategy"]) == {"loop, svm", "loop, nb"}


@pytest.mark.slow
def test_a_simulation_draws_a_line_for_each_strategy() -> None:
    documents = pd.DataFrame({"doc_id": ["d1", "d2", "d3"], "title": "", "text": ["wing flow", "heat", "lift"]})
    topics = pd.DataFrame({"qid": ["1"], "title": "wing"})
    runs = {"bm25": {"1": {"d2": 2.0, "d1": 1.0}}}
    found = simulate(documents, topics, {"1": {"d1": 1}}, runs, strategies=["loop-text", "depth"])
    assert set(found.chart().data["strategy"]) == {"loop-text", "depth"}
    assert found.chart().to_dict()["width"] == 520


@pytest.mark.slow
def test_reusability_draws_judged_documents_by_depth() -> None:
    rng = np.random.default_rng(0)
    runs = {name: {t: {d: rng.random() for d in QRELS_OF[t]} for t in QRELS_OF} for name in "abcde"}
    found = assess([run._replace(frame=rank_run(run.frame)) for run in as_runs(runs)], as_qrels(QRELS_OF), groups=None)
    assert set(rows_of(found.chart())["run"]) == set("abcde")
    assert all(f"<p>{line}" in found._repr_html_() for line in found.verdict)


# --- tables in a notebook -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "result",
    [
        lambda: evaluate(QRELS_OF, RUNS, "AP"),
        lambda: compare(QRELS_OF, RUNS, "AP"),
        pytest.param(lambda: estimate(QRELS_OF, RUNS, "P@5", depth=10), marks=pytest.mark.slow),
        lambda: agreement(LABELS.replace("ann", HOSTILE), resamples=0),
        lambda: explain({HOSTILE: {HOSTILE: 1}}, {HOSTILE: {HOSTILE: 1.0}}, "AP", HOSTILE),
    ],
)
def test_names_are_escaped(result: Any) -> None:
    html = result()._repr_html_()
    assert "<table" in html
    assert "<b>" not in html


def test_an_explanation_is_a_table_of_the_calculation() -> None:
    found = explain({"1": {"a": 1, "b": 0, "<c>": 2}}, {"1": {"<c>": 2.0, "b": 1.5, "a": 1.0}}, "AP(rel=2)", "1")
    html = found._repr_html_()
    assert re.findall("<th>(.*?)</th>", html) == ["rank", "doc_id", "grade", "P at i"]
    assert "<td>&lt;c&gt;</td>" in html
    assert "<p>R = 1</p><p>AP(rel=2) = 1.000000</p>" in html
    assert repr(found) == str(found)
    assert found.ranks["P at i"].tolist()[0] == 1


def test_explain_takes_one_run() -> None:
    with pytest.raises(InputError, match="run: expected one run, found 2"):
        explain(QRELS_OF, RUNS, "AP", "301")
    with pytest.raises(UnknownNameError, match="unknown topic '9'"):
        explain(QRELS_OF, RUNS_OF["bm25"], "AP", "9")
