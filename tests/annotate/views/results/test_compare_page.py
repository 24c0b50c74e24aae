"""The Compare page: that it shows the library's numbers, says them in words, and leads to the rankings behind them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from annotate.views.results import comparison_charts as charts, comparison_tables
from collection import Campaign, Judgement, comparison
from collection.charts import intervals
from collection.comparison import DEFAULT_MEASURES
from collection.core.errors import UnknownNameError
from collection.core.records import Role
from collection.measures import parse
from tests.helpers import Opened, words

HOSTILE = "**bold** <img src=x onerror=alert(1)> $x$ :red[r]"
TOPICS = [f"t{n}" for n in range(1, 9)]
MEASURES = [parse(m) for m in DEFAULT_MEASURES]
QRELS = {"a": 3, "b": 1, "c": 0, "d": 2, "e": 0}
"""The grades of each topic; document f is not judged."""


def ranking(first: int, *, odd: str, even: str) -> dict[str, str]:
    """Topic -> documents, best first: another order in topics of odd and of even numbers."""
    return {q: odd if n % 2 else even for n, q in enumerate(TOPICS, first)}


SYSTEMS = {
    "good": ranking(1, odd="adbcef", even="dabcef"),
    "fair": ranking(1, odd="dafbce", even="cabdef"),
    "poor": ranking(1, odd="cefbda", even="ecfbda"),
    "mixed#1": ranking(1, odd="adbcef", even="ecfbda"),
    "mixed#2": ranking(1, odd="abdcef", even="cefbda"),
}
COSTS = "run,latency_ms,hardware\ngood,100,GPU\nfair,2,CPU\npoor,5,CPU\n"


def write(folder: Path, systems: dict[str, dict[str, str]], titles: dict[str, str]) -> dict[str, Any]:
    """Files of such a campaign, as :meth:`.Importer.import_files` takes them."""
    folder.mkdir()
    (folder / "topics.tsv").write_text("".join(f"{q}\t{title}\n" for q, title in titles.items()))
    (folder / "documents.tsv").write_text("".join(f"{d}\tTitle {d}\tText of {d}.\n" for d in "abcdef"))
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q in titles for d, g in QRELS.items()))
    for name, rankings in systems.items():
        lines = [f"{q} Q0 {d} 0 {9 - n} {name}\n" for q, order in rankings.items() for n, d in enumerate(order)]
        (folder / f"{name}.run").write_text("".join(lines))
    return {
        "topics": folder / "topics.tsv",
        "documents": [folder / "documents.tsv"],
        "qrels": folder / "qrels.txt",
        "runs": sorted(folder.glob("*.run")),
    }


def build_four(folder: Path) -> Campaign:
    files = write(folder / "files", SYSTEMS, {q: f"topic {q}" for q in TOPICS})
    campaign = Campaign.create(folder / "campaign", title="Four")
    campaign.imports.import_files(**files)
    return campaign


@pytest.fixture
def compared(copy_of: Callable[..., Campaign]) -> Campaign:
    """Four systems, one of them with two seeds, on eight topics of five judged documents."""
    return copy_of(build_four)


@pytest.fixture
def opened(opened: Opened) -> Opened:
    """Opens the page as somebody who is signed in."""

    def run(campaign: Campaign, role: Role = "manager") -> AppTest:
        return opened(campaign, "compare", f"a-{role}", role)

    return run


def numbers(app: AppTest) -> dict[str, str]:
    """The numbers at the top of the page."""
    return {m.label: m.value for m in app.metric}


def look(app: AppTest, at: str) -> AppTest:
    app.session_state["look"] = at
    app.run()
    return app


def by_label(app: AppTest, label: str) -> Any:
    """The select box whose label begins so."""
    return next(box for box in app.selectbox if box.label.startswith(label))


def table_with(app: AppTest, column: str) -> pd.DataFrame:
    """The table on the page that has such a column."""
    return next(t.value for t in app.dataframe if column in t.value.columns)


# --- the campaign's part --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_campaign_compares_as_the_library_does(compared: Campaign) -> None:
    mine = compared.results.evaluation.compare(MEASURES, baseline="poor", runs=["good", "poor"], topics=TOPICS[:4])
    other = comparison.compare(
        compared.results.evaluation.evaluate(MEASURES, runs=["good", "poor"], topics=TOPICS[:4]), baseline="poor"
    )
    pd.testing.assert_frame_equal(mine.leaderboard, other.leaderboard)
    pd.testing.assert_frame_equal(mine.tests, other.tests)
    assert mine.topics == 4


@pytest.mark.slow
def test_rankings_side_by_side_have_the_settled_grades(compared: Campaign) -> None:
    table = compared.results.evaluation.side_by_side("fair", "good", "t1", depth=3)
    assert table["doc_a"].tolist() == ["d", "a", "f"]
    assert table["doc_b"].tolist() == ["a", "d", "b"]
    np.testing.assert_array_equal(table["grade_a"], [2, 3, np.nan])
    assert table["rank_in_b"].tolist() == [2, 1, 6]


@pytest.mark.slow
def test_rankings_of_what_is_not_there_are_refused_by_name(compared: Campaign) -> None:
    with pytest.raises(UnknownNameError, match="run 'godo'; did you mean 'good'"):
        compared.results.evaluation.side_by_side("godo", "poor", "t1")
    with pytest.raises(UnknownNameError, match="topic 't99'"):
        compared.results.evaluation.side_by_side("good", "poor", "t99")


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["manager", "reader"])
def test_the_leaderboard_is_the_library_s_best_first(opened: Opened, compared: Campaign, role: Role) -> None:
    app = opened(compared, role)
    shown = app.dataframe[0].value
    known = compared.results.evaluation.compare(MEASURES)
    order = known.table()["nDCG@10"].sort_values(ascending=False).index
    assert list(shown.index) == list(order)
    pd.testing.assert_frame_equal(
        shown[list(DEFAULT_MEASURES)], known.table().loc[order], check_names=False, check_index_type=False
    )
    rows = known.leaderboard[known.leaderboard["measure"] == "nDCG@10"].set_index("system").loc[order]
    assert "vs. best" not in shown  # intervals, standings and unjudged shares are behind the toggle
    # Six documents are retrieved in each topic, and one of them is not judged.
    assert (rows["unjudged"] > 0).all()
    assert known.sentence("nDCG@10") in words(app)


def test_seeds_are_a_mean_and_a_spread_and_never_the_best_of_them(opened: Opened, compared: Campaign) -> None:
    shown = opened(compared).dataframe[0].value
    means = compared.results.evaluation.evaluate([parse("nDCG@10")]).means()["nDCG@10"]
    assert "mixed#1" not in shown.index
    assert shown.loc["mixed", "nDCG@10"] == pytest.approx(means[["mixed#1", "mixed#2"]].mean())
    assert shown.loc["mixed", "Seeds"] == 2
    assert shown.loc["mixed", "Seeds, std. dev."] == pytest.approx(means[["mixed#1", "mixed#2"]].std())


def test_the_page_leads_with_at_most_five_numbers(opened: Opened, compared: Campaign) -> None:
    app = opened(compared)
    board = compared.results.evaluation.compare(MEASURES).leaderboard
    rows = board[board["measure"] == "nDCG@10"]
    assert numbers(app) == {
        "Systems": "4",
        "Topics": "8 of 8",
        "Highest nDCG@10": f"{rows['value'].max():.3f}",
        "Significantly worse than best": f"{(~rows['like_best']).sum()} of 3",
        "Unjudged in top 10, mean": f"{rows['unjudged'].mean():.0%}",
    }
    app.selectbox(key="measure").set_value("Judged@10").run()  # no system is best
    assert list(numbers(app)) == ["Systems", "Topics", "Unjudged in top 10, mean"]


@pytest.mark.long
def test_words_name_the_baseline_that_is_chosen(opened: Opened, compared: Campaign) -> None:
    app = opened(compared)
    app.selectbox(key="baseline").set_value("poor").run()
    said = compared.results.evaluation.compare(MEASURES, baseline="poor").sentence("nDCG@10", "good")
    assert said in words(app)
    assert "detectable with 80% power" in words(look(app, "Tests"))


def test_every_value_with_its_interval_and_its_unjudged(opened: Opened, compared: Campaign) -> None:
    app = opened(compared)
    app.toggle(key="full").set_value(True).run()
    shown = app.dataframe[0].value
    board = compared.results.evaluation.compare(MEASURES).leaderboard.set_index(["system", "measure"])
    row = board.loc[("fair", "AP")]
    assert shown.loc["fair", "AP"] == f"{row['value']:.4f} ({row['low']:.2f} to {row['high']:.2f})"
    assert shown.loc["fair", "AP: unjudged"] == f"{row['unjudged']:.0%}"
    assert shown.loc["good", "vs. best"] == "best"


@pytest.mark.long
def test_tests_are_the_library_s_with_the_choices_made(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Tests")
    app.selectbox(key="baseline").set_value("fair")
    app.selectbox(key="test").set_value("wilcoxon")
    app.selectbox(key="correction").set_value("bonferroni")
    app.selectbox(key="alpha").set_value(0.01).run()
    assert len(table_with(app, "p_adjusted").columns) == 7
    app.toggle(key="all-columns").set_value(True).run()
    shown = table_with(app, "p_adjusted").set_index("system")
    known = compared.results.evaluation.compare(
        MEASURES, baseline="fair", test="wilcoxon", correction="bonferroni", alpha=0.01
    ).tests
    known = known[known["measure"] == "nDCG@10"].set_index("system")
    assert set(shown.index) == {"good", "poor", "mixed"}
    assert shown["difference"].is_monotonic_decreasing
    for column in ("difference", "low", "high", "effect", "p", "p_adjusted", "wins", "ties", "losses"):
        np.testing.assert_allclose(shown[column], known.loc[shown.index, column], err_msg=column)
    assert (shown["outcome"] == "significant").tolist() == known.loc[shown.index, "significant"].tolist()
    assert "by Bonferroni" in words(app)


def test_all_pairs_are_tested_together(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Tests")
    app.toggle(key="pairs").set_value(True).run()
    shown = table_with(app, "system_b")
    known = compared.results.evaluation.compare([parse("nDCG@10")], all_pairs=True).pairs
    assert known is not None
    assert len(shown) == len(known) == 6
    assert len(shown.columns) == 7
    assert shown["p"].sum() == pytest.approx(known["p"].sum())
    assert f"{int(known['significant'].sum())} of 6 pairs of systems differ significantly by nDCG@10" in words(app)


@pytest.mark.long
def test_topics_where_two_differ_most_lead_to_their_rankings(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Two systems")
    app.selectbox(key="a").set_value("good").run()
    app.selectbox(key="b").set_value("poor").run()
    apart = comparison.differences(compared.results.evaluation.compare(MEASURES).evaluation, "good", "poor", "nDCG@10")
    first = apart["query_id"].iloc[0]
    topic = by_label(app, "Topic (largest difference first)")
    assert topic.value == first
    assert topic.options[0].startswith(f"{first}: topic {first} (+")
    topic.set_value("t2").run()
    left, right = (t.value for t in app.dataframe if "rival" in t.value.columns)
    assert left["grade"].tolist() == ["2", "3", "1", "0", "0", "–"]
    assert right["grade"].tolist() == ["0", "0", "–", "1", "2", "3"]
    assert left["rival"].tolist() == [5, 6, 4, 2, 1, 3]
    assert right["document"].iloc[2] == "f: Title f"


def test_the_rank_in_a_ranking_without_the_document_is_empty(opened: Opened, tmp_path: Path) -> None:
    systems = {name: dict.fromkeys(TOPICS, documents) for name, documents in (("one", "ab"), ("two", "bc"))}
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(**write(tmp_path / "files", systems, {q: f"topic {q}" for q in TOPICS}))
        app = look(opened(campaign), "Two systems")
    left = next(table for table in app.dataframe if "rival" in table.value.columns)
    shown = pa.ipc.open_stream(left.proto.arrow_data.styler.display_values).read_pandas()
    assert shown["rival"].tolist() == ["", "1"]


@pytest.mark.long
def test_rankings_of_a_system_of_seeds_are_those_of_one_of_its_runs(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Two systems")
    app.selectbox(key="a").set_value("mixed").run()
    app.selectbox(key="run-a").set_value("mixed#2").run()
    by_label(app, "Topic (largest difference first)").set_value("t1").run()
    left = next(t.value for t in app.dataframe if "rival" in t.value.columns)
    assert [text[0] for text in left["document"]] == list("abdcef")


def test_values_of_each_topic_and_the_calculation_of_one(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Topics")
    shown = table_with(app, "good")
    values = compared.results.evaluation.compare(MEASURES).evaluation.per_topic()
    known = values[(values["measure"] == "nDCG@10") & (values["run"] == "fair")].set_index("query_id")["value"]
    assert shown.loc["t2: topic t2", "fair"] == pytest.approx(known["t2"])
    assert f"{compared.results.evaluation.explain(parse('nDCG@10'), 'good', 't1')}" == app.code[0].value


@pytest.mark.long
def test_costs_are_there_where_they_are_known(opened: Opened, compared: Campaign, tmp_path: Path) -> None:
    app = opened(compared)
    assert "Costs" not in app.get("button_group")[0].options
    (tmp_path / "costs.csv").write_text(COSTS)
    compared.imports.import_files(costs=tmp_path / "costs.csv")
    app = look(opened(compared), "Costs")
    shown = table_with(app, "by").set_index("system")
    assert shown["by"].to_dict() == {"good": "", "fair": "", "poor": "fair"}  # nobody knows what mixed costs
    assert "3 of 4 systems have this cost; the line joins the 2 that are not dominated" in words(app)
    assert table_with(app, "hardware").loc["good", "hardware"] == "GPU"


@pytest.mark.long
def test_only_topics_that_are_judged_to_the_end(opened: Opened, compared: Campaign) -> None:
    compared.people.pools.add("depth", depth=6)  # with f, which nobody has judged yet
    said = [Judgement(str(uuid4()), "ann", q, "f", "graded", 1) for q in TOPICS[:4]]
    compared.judging.judge_many(said)
    app = opened(compared)
    assert "Only finished topics (4 of 8 with grades)" in app.toggle[0].label
    assert numbers(app)["Topics"] == "4 of 8"
    assert " over 4 topics)" in words(app)
    known = compared.results.evaluation.compare(MEASURES, topics=TOPICS[:4]).table()
    assert app.dataframe[0].value.loc["fair", "AP"] == pytest.approx(known.loc["fair", "AP"])
    app.toggle[0].set_value(False).run()
    assert numbers(app)["Topics"] == "8 of 8"
    assert " over 8 topics)" in words(app)


def test_few_finished_topics_do_not_stand_for_all(opened: Opened, compared: Campaign) -> None:
    compared.people.pools.add("depth", depth=6)
    compared.judging.judge_many([Judgement(str(uuid4()), "ann", q, "f", "graded", 1) for q in TOPICS[:3]])
    app = opened(compared)
    assert "Only finished topics (3 of 8 with grades)" in app.toggle[0].label
    assert app.toggle[0].value is False
    assert numbers(app)["Topics"] == "8 of 8"


@pytest.mark.parametrize(("topics", "warned"), [(9, True), (10, False)])
def test_the_page_warns_in_sight_of_very_few_topics(opened: Opened, tmp_path: Path, topics: int, warned: bool) -> None:
    names = [f"t{n}" for n in range(topics)]
    systems = {"good": dict.fromkeys(names, "adbcef"), "poor": dict.fromkeys(names, "cefbda")}
    with Campaign.create(tmp_path / "few") as campaign:
        campaign.imports.import_files(**write(tmp_path / "files", systems, dict.fromkeys(names, "title")))
        app = opened(campaign)
        assert [w.value.startswith(f"There are only {topics} topics.") for w in app.warning] == [True] * warned


@pytest.mark.long
def test_one_topic_has_values_and_nothing_to_test(opened: Opened, tmp_path: Path) -> None:
    files = write(tmp_path / "files", {n: {"t1": r["t1"]} for n, r in SYSTEMS.items()}, {"t1": "the only one"})
    with Campaign.create(tmp_path / "one") as campaign:
        campaign.imports.import_files(**files)
        app = opened(campaign)
        assert app.dataframe[0].value.loc["good", "RR"] == 1
        for at in ("Tests", "Two systems", "Topics", "Leaderboard"):
            look(app, at)
            assert not app.error
            assert ("A test needs two topics" in words(app)) == (at == "Tests")
        app.toggle(key="full").set_value(True).run()
        assert "significantly worse" not in set(app.dataframe[0].value["vs. best"])


def test_one_system_has_values_and_nobody_to_be_compared_with(opened: Opened, tmp_path: Path) -> None:
    files = write(tmp_path / "files", {"good": SYSTEMS["good"]}, {q: q for q in TOPICS})
    with Campaign.create(tmp_path / "alone") as campaign:
        campaign.imports.import_files(**files)
        app = opened(campaign)
        assert "A test needs two systems" in words(look(app, "Tests"))
        assert "There is only one system" in words(look(app, "Two systems"))


@pytest.mark.long
def test_names_of_systems_and_titles_are_no_markup(opened: Opened, tmp_path: Path) -> None:
    systems = {"_one_": SYSTEMS["good"], "<b>:smile:</b>": SYSTEMS["poor"], "values": SYSTEMS["fair"]}
    folder = tmp_path / "files"
    files = write(folder, dict(zip("xyz", systems.values(), strict=True)), dict.fromkeys(TOPICS, HOSTILE))
    for short, name in zip("xyz", systems, strict=True):
        run = folder / f"{short}.run"
        run.write_text(re.sub(rf" {short}\n", f" {name}\n", run.read_text()))
    with Campaign.create(tmp_path / "hostile") as campaign:
        campaign.imports.import_files(**files)
        (folder / "costs.csv").write_text("run,latency_ms\n_one_,5\n<b>:smile:</b>,7\nvalues,9\n")
        campaign.imports.import_files(costs=folder / "costs.csv")
        app = opened(campaign)
        for at in ("Leaderboard", "Tests", "Two systems", "Topics", "Costs"):
            look(app, at)
            kinds = (app.markdown, app.caption, app.title, app.subheader, app.info)
            said = [m.value for kind in kinds for m in kind]
            live = [re.sub(r"\\.", "", m) for m in said]
            assert not [m for m in live if "_one_" in m or "<b>" in m or "<img" in m or "**bold**" in m or ":red" in m]
            assert not [m for m in said if ":smile:" in m.replace("\\", "")]  # Streamlit reads escaped ones, too


# --- tables and charts ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_notes_are_those_of_the_measure(compared: Campaign) -> None:
    known = replace(
        compared.results.evaluation.compare(MEASURES),
        notes=("AP, RR: these are lopsided", "few topics", "odd: not a measure"),
    )
    assert comparison_tables.notes(known, "AP") == ["These are lopsided.", "Few topics.", "Odd: not a measure."]
    assert comparison_tables.notes(known, "P@10") == ["Few topics.", "Odd: not a measure."]


@pytest.mark.slow
def test_where_more_is_not_better_nobody_is_the_best(compared: Campaign) -> None:
    known = compared.results.evaluation.compare([parse("Judged@10")])
    assert set(known.standings("Judged@10")["standing"]) == {""}
    chart = intervals.means_chart(known.standings("Judged@10"), "Judged@10").to_dict()
    assert chart["layer"][1]["mark"]["type"] == "point"


@pytest.mark.long
def test_words_follow_which_way_is_better(opened: Opened, compared: Campaign) -> None:
    app = look(opened(compared), "Two systems")
    assert " is better on " in words(app)
    app.selectbox(key="measure").set_value("Judged@10").run()
    assert " is higher on " in words(app)
    assert " is better on " not in words(app)
    assert "no preferred direction, so no system is best" in words(look(app, "Tests"))


@pytest.mark.parametrize(("cost", "step"), [("price_usd", "step-after"), ("throughput_qps", "step-before")])
def test_the_line_of_the_frontier_is_what_can_be_had(cost: str, step: str) -> None:
    rows = pd.DataFrame({"system": ["x", "y"], "value": [0.1, 0.2], "cost": [1, 2], "place": "not dominated", "by": ""})
    assert charts.frontier_chart(rows, "AP", cost).to_dict()["layer"][0]["mark"]["interpolate"] == step


@pytest.mark.slow
def test_charts_keep_the_order_and_say_shapes_beside_colours(compared: Campaign) -> None:
    rows = compared.results.evaluation.compare(MEASURES).standings("nDCG@10")
    chart = intervals.means_chart(rows, "nDCG@10").to_dict()
    points = chart["layer"][1]["encoding"]
    assert points["y"]["sort"] == rows["system"].tolist()
    assert points["y"]["axis"]["labelFlush"] is False  # Streamlit's theme would draw the first name below its point
    assert points["x"]["title"] == "Mean nDCG@10"
    assert points["shape"]["scale"]["domain"] == points["color"]["scale"]["domain"] == list(intervals.STANDINGS)
    assert len(set(points["shape"]["scale"]["range"])) == len(intervals.STANDINGS)


@pytest.mark.parametrize(
    ("measure", "drawn"),
    [
        ("AP", [(0, 1), (0.4, 0.6)]),
        ("WSS@0.95", [(-0.2, 1), (0.4, 0.6)]),
        ("DCG@10", [(0, 1.2), (0.4, 0.6)]),
        ("YAAP", [(-0.2, 1.2), (0.4, 0.6)]),
    ],
)
def test_intervals_are_drawn_within_the_range_of_the_measure(measure: str, drawn: list[tuple[float, float]]) -> None:
    rows = pd.DataFrame({"system": ["x", "y"], "value": 0.5, "low": [-0.2, 0.4], "high": [1.2, 0.6]})
    chart = intervals.means_chart(rows.assign(standing="best"), measure)
    assert list(chart.data[["low", "high"]].itertuples(index=False, name=None)) == drawn
    assert rows["high"].tolist() == [1.2, 0.6]  # the table beneath is drawn from the same rows


def test_intervals_of_differences_end_where_none_can_be_larger() -> None:
    rows = pd.DataFrame(
        {"system": ["x"], "difference": 0.5, "low": [-1.3], "high": [1.2], "outcome": "not significant"}
    )
    chart = intervals.differences_chart(rows, "AP", "y").layer[1]  # before it: the rule at 0
    assert chart.data[["low", "high"]].values.tolist() == [[-1, 1]]


def test_bars_of_topics_are_sorted_by_difference() -> None:
    rows = pd.DataFrame({"query_id": ["1", "2", "3"], "title": "", "value_a": [0, 0.5, 1], "value_b": [0.5, 0.5, 0]})
    rows["difference"] = rows["value_a"] - rows["value_b"]
    chart = charts.topics_chart(rows, "AP", "one", "other").to_dict()
    assert chart["encoding"]["x"]["sort"] == ["3", "2", "1"]
    assert charts.selected_topic({"selection": {charts.TOPIC: [{"query_id": "2"}]}}) == "2"
    for nothing in (None, {}, {"selection": {}}, {"selection": {charts.TOPIC: []}}):
        assert charts.selected_topic(nothing) is None


@pytest.mark.parametrize(("costs", "kind"), [([1, 500], "log"), ([1, 2], None), ([0, 500], None)])
def test_costs_far_apart_are_drawn_on_a_logarithmic_axis(costs: list[float], kind: str | None) -> None:
    rows = pd.DataFrame({"system": ["x", "y"], "value": [0.1, 0.2], "cost": costs, "place": "not dominated", "by": ""})
    x = charts.frontier_chart(rows, "AP", "price_usd").to_dict()["layer"][1]["encoding"]["x"]
    assert x["scale"].get("type") == kind
    assert x["title"] == "Price (US dollars)" + (", log scale" if kind else "")
