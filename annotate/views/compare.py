"""Compare: what the systems are worth by the campaign's own qrels, which differences hold, and where they differ."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import comparison as charts
from annotate.charts import downloadable
from annotate.elements import drawing, rule_picker, widgets
from annotate.elements import systems_side_by_side as tables
from collection import comparison as comparing
from collection.characters import natural_key
from collection.comparison import DEFAULT_MEASURES, Comparison, Evaluation
from collection.errors import CleverdonError
from collection.formats.spreadsheet import tsv
from collection.measures import MEASURES, as_measures, parse
from collection.statistics import CORRECTIONS, DEFAULT_CORRECTION, DEFAULT_TEST, TESTS

ALPHAS = [0.05, 0.01, 0.1]
DEPTHS = [10, 20, 50, 100]
MEANS, TESTED, TWO, TOPICS, COSTS = "Means", "Tests", "Two systems", "Topics", "Costs"

campaign = session.current().campaign
counts = campaign.progress.counts()

st.title("Compare")
if not counts["runs"] or not counts["judgements"]:
    st.write("The systems can be compared once runs are imported and some pairs are judged.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()

# What values rest on: campaign, length of the log, runs, rule, topics, costs. Results are kept while it is the same.
Key = tuple[str, int, str, str, tuple[str, ...] | None, str]


@st.cache_data(show_spinner=False, max_entries=16)
def annotators(campaign_id: str, logged: int) -> list[str]:
    """Who graded anything."""
    return session.current().campaign.judgement_log.annotators()["annotator"].tolist()


@st.cache_data(show_spinner="Evaluating", max_entries=16)
def evaluated(key: Key, measures: tuple[str, ...]) -> Evaluation:
    """The values of every run."""
    return session.current().campaign.evaluation.evaluate([parse(m) for m in measures], rule=key[3], topics=key[4])


@st.cache_data(show_spinner="Comparing", max_entries=32)
def compared(
    key: Key, measures: tuple[str, ...], baseline: str | None, test: str, correction: str, alpha: float
) -> Comparison:
    """The leaderboard of the systems, and their tests."""
    return comparing.compare(evaluated(key, measures), baseline=baseline, test=test, correction=correction, alpha=alpha)


@st.cache_data(show_spinner="Comparing every pair", max_entries=16)
def every_pair(key: Key, measures: tuple[str, ...], measure: str, alpha: float) -> pd.DataFrame:
    """All pairs of systems by one measure: with the draws of the test it takes a second or two."""
    known = evaluated(key, measures)
    only = replace(known, values=known.values[known.values["measure"] == measure])
    found = comparing.compare(only, alpha=alpha, all_pairs=True).pairs
    return found if found is not None else pd.DataFrame()


@st.cache_data(show_spinner=False, max_entries=64)
def ranked(key: Key, runs: tuple[str, str], query_id: str, depth: int) -> pd.DataFrame:
    """Two rankings of a topic with the grades."""
    return session.current().campaign.evaluation.side_by_side(*runs, query_id, depth=depth, rule=key[3])


@st.cache_data(show_spinner=False, max_entries=64)
def explained(key: Key, measure: str, run: str, query_id: str) -> str:
    """A calculation."""
    found = session.current().campaign.evaluation.explain(parse(measure), run, query_id, rule=key[3], topics=key[4])
    return str(found)


written = st.multiselect(
    "Measures",
    [*DEFAULT_MEASURES, "nDCG", "P@5", "Rprec", "bpref", "Success@10", "RR@10", "R@1000"],
    default=list(DEFAULT_MEASURES),
    accept_new_options=True,
    help="Write any measure as AP(rel=2)@100; `cleverdon measures` describes them. There are: "
    + ", ".join(m.name for m in MEASURES if not m.needs),
)
parsed: list[str] = []
for text in written:
    try:
        parsed += map(str, as_measures(text))
    except CleverdonError as error:  # the others are shown all the same
        st.error(drawing.plain(str(error)))
measures = tuple(dict.fromkeys(parsed))
if not measures:
    st.write("Choose a measure.")
    st.stop()
runs = campaign.corpus.run_table()
members = comparing.seeds(runs["run"])
left, right = st.columns(2)
measure = left.selectbox("Conclusions by", measures, key="measure")
baseline = right.selectbox(
    "Compared with",
    ["", *members],
    key="baseline",
    format_func=lambda name: widgets.upright(name) or "the best by each measure",
)
with st.expander("Grades, test and correction"):
    left, middle, right = st.columns(3)
    with left:
        rule = rule_picker.choose(
            "Where several annotators judged a pair", annotators(campaign.id, counts["logged"]), key="rule"
        )
    test = middle.selectbox(
        "Test",
        [entry.name for entry in TESTS],
        index=[entry.name for entry in TESTS].index(DEFAULT_TEST),
        format_func=lambda n: TESTS[n].label,
        key="test",
    )
    middle.caption(TESTS[test].description)
    correction = right.selectbox(
        "Correction for several comparisons",
        [entry.name for entry in CORRECTIONS],
        index=[entry.name for entry in CORRECTIONS].index(DEFAULT_CORRECTION),
        format_func=lambda n: CORRECTIONS[n].label,
        key="correction",
    )
    right.caption(CORRECTIONS[correction].description)
    alpha = right.selectbox("Different where p is at most", ALPHAS, key="alpha")
progress = campaign.progress.topics()
done = ((progress["goal"] > 0) & (progress["made"] >= progress["goal"])).fillna(False)
finished = progress.loc[done, "query_id"]
begun = progress[(progress["judged"] > 0) & ~done]
only_finished = len(finished) > 0 and len(begun) > 0
if only_finished:
    only_finished = st.toggle(
        f"Only the {len(finished):,} topics whose pool is judged to the end ({len(begun):,} more are begun)",
        len(finished) >= len(begun),  # a few topics that happen to be finished speak for none of the others
    )
try:
    key: Key = (
        campaign.id,
        counts["logged"],
        ",".join(runs["run"] + runs["sha256"]),
        rule,
        tuple(finished) if only_finished else None,
        campaign.corpus.costs().to_csv(),
    )
    result = evaluated(key, measures)
    found = compared(key, measures, baseline or None, test, correction, alpha)
except CleverdonError as error:
    st.error(drawing.plain(str(error)))
    st.stop()

titles = campaign.corpus.topics().set_index("query_id")["title"]
topics = sorted(set(result.values["query_id"]) & set(titles.index), key=natural_key)
sure = tables.confidence(found)
rows = tables.standings(found, measure)
order = rows["system"].tolist()
says_best = rows["best"].any()
against = found.tests.loc[found.tests["measure"] == measure, "system"]
with st.container(border=True):
    st.write(drawing.plain(found.sentence(measure)))
    if rival := next((system for system in order if system in set(against)), None):
        st.write(drawing.plain(found.sentence(measure, rival)))
    if found.topics < tables.VERY_FEW:
        st.warning(tables.very_few(found.topics))
if notes := tables.notes(found, measure):
    with st.expander(f"What to bear in mind ({len(notes)})"):
        for note in notes:
            st.markdown(f"- {drawing.plain(note)}")

st.subheader("Leaderboard")
full = st.toggle("With an interval and the unjudged beside every value", key="full")
tables.leaderboard(found, measure, full=full)
st.caption(
    f"Over {len(topics):,} of {counts['topics']:,} topics, sorted by {measure}. Bold: the best of its column. Shaded: "
    f"not distinguishable from it ({TESTS[test].label}, {CORRECTIONS[correction].label}, p at most {alpha:g}). "
    "Unjudged: the share of the documents that the measure looks at that nobody judged; most measures count them "
    "as not relevant. A topic that a run lacks counts as an empty ranking. The qrels that Export writes hold every "
    "topic that has a grade, so `cleverdon compare` takes all of those."
)
known_costs = found.evaluation.costs
looks = [MEANS, TESTED, TWO, TOPICS, *([] if known_costs is None else [COSTS])]
look = st.segmented_control("Look at", looks, default=MEANS, required=True, key="look")
values = found.evaluation.per_topic()
values = values[values["measure"] == measure]

if look == MEANS:
    said = {
        True: "Orange diamond: the best. Blue circle: may be as good. Grey triangle: worse.",
        False: "Of this measure more is not better, so no system is the best.",
    }
    downloadable(
        charts.means_chart(rows, measure),
        "means",
        f"The mean {measure} of each system over {found.topics:,} topics; lines are {sure} confidence intervals. "
        + said[bool(says_best)],
        alt=f"Mean {measure} of each system",
    )
elif look == TESTED:
    pairs = len(order) > 2 and st.toggle(
        "Every pair of systems, by randomised Tukey HSD", key="pairs",
        help="Holds the chance of one wrong difference among all pairs at the level chosen (Carterette 2012).",
    )  # fmt: skip
    tested = tables.outcomes(every_pair(key, measures, measure, alpha) if pairs else found.tests, measure)
    if tested.empty:
        if len(order) < 2:
            st.write("There is no other system to compare with.")
        elif len(topics) < 2:
            st.write("One topic is too few for a test.")
        else:
            st.write("Of this measure more is not better, so there is no best: choose a system to compare with.")
    elif pairs:
        different = int(tested["significant"].sum())
        st.write(f"{different:,} of {len(tested):,} pairs of systems are different by {measure}.")
        tables.tests_table(tested, sure)
        st.caption("p counts all pairs; the intervals hold for all of them together.")
    else:
        than = str(tested["baseline"].iloc[0])
        downloadable(
            charts.differences_chart(tested, measure, than),
            "tests",
            f"How far the mean {measure} of each system is above or below that of {than}, with {sure} intervals, each "
            "of its own. Orange diamond: different, after the correction. Blue circle: may be equal.",
            alt=f"Differences in {measure} from {than}",
        )
        tables.tests_table(tested, sure)
        st.caption(
            f"{TESTS[test].label} over {found.topics:,} topics; p adjusted for the {len(tested):,} comparisons by "
            f"{CORRECTIONS[correction].label}. With so many topics, differences of "
            f"{tested['detectable'].min():.3f} to {tested['detectable'].max():.3f} are seen with 80 % power by one "
            "uncorrected paired t test, depending on how much the two vary from topic to topic."
        )
elif look == TWO:
    if len(order) < 2:
        st.write("Import the run of another system to compare two.")
        st.stop()
    left, right = st.columns(2)
    a = left.selectbox("System", order, key="a", format_func=widgets.upright)
    rest = [s for s in order if s != a]
    place = rest.index(baseline) if baseline in rest else 0
    b = right.selectbox("and", rest, index=place, key="b", format_func=widgets.upright)
    apart = comparing.differences(found.evaluation, a, b, measure)
    apart["title"] = apart["query_id"].map(titles)
    topic_key = f"topic {measure} {a} {b}"  # of two others, the topic on which those differ most
    above, below = int((apart["difference"] > 0).sum()), int((apart["difference"] < 0).sum())
    word = {1: "better", -1: "worse", 0: "higher"}[comparing.direction(parse(measure))]

    def selected() -> None:
        """A bar was selected: its topic is the one whose rankings are shown."""
        if topic := charts.topic_of(st.session_state["topics-chart"]):
            st.session_state[topic_key] = next(q for q in apart["query_id"] if widgets.upright(q) == topic)

    downloadable(
        charts.topics_chart(apart, measure, a, b),
        "topics",
        f"{measure} of {a} minus that of {b}, topic by topic. {a} is {word} on {above:,} topics (orange, above), {b} "
        f"on {below:,} (blue, below); they are equal on {len(apart) - above - below:,}. Select a bar to see its "
        "rankings.",
        alt=f"{measure} of {a} minus that of {b}, topic by topic",
        key="topics-chart",
        on_select=selected,
        selection_mode=charts.TOPIC,
    )
    by = apart.set_index("query_id")["difference"]
    left, right = st.columns([3, 1])
    topic = left.selectbox(
        "Topic, those first on which they differ most",
        apart["query_id"].tolist(),
        key=topic_key,
        format_func=lambda q: widgets.upright(f"{q}: {titles[q]} ({by[q]:+.3f})"),
    )
    depth = right.selectbox("Ranks", DEPTHS, key="depth")
    of_a, of_b = (
        members[s][0]
        if len(members[s]) == 1
        else side.selectbox(
            f"Run of {drawing.plain(s)}", members[s], key=f"run-{side_name}", format_func=widgets.upright
        )
        for s, side, side_name in zip((a, b), st.columns(2), "ab", strict=True)
    )
    tables.rankings(ranked(key, (of_a, of_b), topic, depth), of_a, of_b)
elif look == TOPICS:
    st.caption(f"{measure} of each system, topic by topic.")
    table = values.pivot(index="query_id", columns="run", values="value").loc[topics, order]
    # The titles go into the index: as a column they might meet a run of that name.
    table.index = pd.Index([f"{query_id}: {titles[query_id]}" for query_id in table.index], name="topic")
    config = {system: st.column_config.NumberColumn(system, format="%.3f") for system in order}
    drawing.dataframe(table, column_config=config, alt=f"{measure} of each system in each topic")
    with st.expander("Show the calculation of one value"):
        left, right = st.columns(2)
        run = left.selectbox("Run", [name for system in order for name in members[system]], format_func=widgets.upright)
        query_id = right.selectbox("Topic", topics, format_func=lambda q: widgets.upright(f"{q}: {titles[q]}"))
        st.code(widgets.upright(explained(key, measure, run, query_id)), language=None)
elif known_costs is not None:
    if costs := comparing.number_costs(known_costs):
        cost = st.selectbox("Cost", costs, format_func=lambda c: widgets.upright(charts.cost_title(c)), key="cost")
        frontier = comparing.frontier(found.evaluation.means(), known_costs, measure, cost)
        frontier["place"] = frontier["dominated"].map({False: "worth its cost", True: "dominated"})
        undominated = frontier.loc[~frontier["dominated"], "system"].tolist()
        downloadable(
            charts.frontier_chart(frontier, measure, cost),
            "frontier",
            f"Mean {measure} against {charts.cost_title(cost)}. Orange diamonds: no other system is as good and as "
            "cheap, and better in one of both; the line joins them. Grey: dominated by such a system. "
            f"{len(frontier):,} of {len(order):,} systems have this cost, {len(undominated):,} are not dominated.",
            alt=f"{measure} against {charts.cost_title(cost)}",
        )
        drawing.dataframe(
            frontier,
            hide_index=True,
            alt="Systems, what they cost, and who dominates them",
            height=min(35 * len(frontier) + 38, 388),
            column_order=["system", "value", "cost", "by"],
            column_config={
                "system": "System",
                "value": st.column_config.NumberColumn(measure, format="%.4f"),
                "cost": st.column_config.NumberColumn(charts.cost_title(cost), format="%.6g"),
                "by": st.column_config.TextColumn("Dominated by", width="large"),
            },
        )
    st.caption("All that is known of what the systems cost:")
    drawing.dataframe(known_costs.loc[order], alt="Costs of the systems")

files: dict[str, tuple[str, Callable[[], str]]] = {
    "values.tsv": ("Values, topic by topic", partial(tsv, result.values)),
    "tests.tsv": ("Tests", partial(tsv, found.tests)),
    "leaderboard.tex": ("Table for LaTeX", partial(comparing.latex, found)),
    "leaderboard.md": ("Table in Markdown", partial(comparing.markdown, found)),
}
with st.container(horizontal=True):
    for file, (label, content) in files.items():
        st.download_button(label, content, file, key=file, on_click="ignore", icon=":material/download:")
