"""Compare: systems evaluated by the campaign's own qrels, with tests of their differences."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from annotate.auth import session
from annotate.charts.comparison import means_chart
from annotate.charts.download import downloadable_chart
from annotate.elements import comparison_tables, pickers, systems_side_by_side, widgets
from annotate.elements.service_cache import cached
from collection import comparison
from collection.characters import natural_key, without_bidi
from collection.comparison import DEFAULT_MEASURES
from collection.formats import to_tsv
from collection.measures import MEASURES
from collection.statistics import CORRECTIONS, DEFAULT_CORRECTION, DEFAULT_TEST, TESTS

ALPHAS = [0.05, 0.01, 0.1]
MEANS, TESTED, TWO, TOPICS, COSTS = "Means", "Tests", "Two systems", "Topics", "Costs"

campaign = session.current().campaign
counts = campaign.progress.counts()

st.title("Compare")
if not counts["runs"] or not counts["judgements"]:
    widgets.stop_with_next_step("The systems can be compared once runs are imported and some pairs are judged.")

written = st.multiselect(
    "Measures",
    [*DEFAULT_MEASURES, "nDCG", "P@5", "Rprec", "bpref", "Success@10", "RR@10", "R@1000"],
    default=list(DEFAULT_MEASURES),
    accept_new_options=True,
    help="Write any measure as AP(rel=2)@100; `cleverdon measures` describes them. There are: "
    + ", ".join(m.name for m in MEASURES if not m.needs),
)
measures = pickers.read_measures(written)
runs = campaign.corpus.run_table()
graders = cached(campaign.judgement_log.annotators, counts["logged"])()["annotator"].tolist()
members = comparison.group_seeds(runs["run"])
left, right = st.columns(2)
measure = left.selectbox("Conclusions by", measures, key="measure")
names = {"": "the best by each measure"} | {name: without_bidi(name) for name in members}
baseline = right.selectbox("Compared with", names, key="baseline", format_func=names.__getitem__)
with st.expander("Grades, test and correction"):
    left, middle, right = st.columns(3)
    with left:
        rule = pickers.pick_rule("Where several annotators judged a pair", graders, key="rule")
    with middle:
        test = pickers.pick("Test", {entry.name: entry.label for entry in TESTS}, DEFAULT_TEST, "test")
        st.caption(TESTS[test].description)
    with right:
        corrections = {entry.name: entry.label for entry in CORRECTIONS}
        correction = pickers.pick("Correction for several comparisons", corrections, DEFAULT_CORRECTION, "correction")
        st.caption(CORRECTIONS[correction].description)
    alpha = right.selectbox("Different where p is at most", ALPHAS, key="alpha")
progress = campaign.progress.topics()
done = ((progress["goal"] > 0) & (progress["made"] >= progress["goal"])).fillna(False)
finished = progress.loc[done, "query_id"]
started = progress[(progress["judged"] > 0) & ~done]
label = f"Only the {len(finished):,} topics whose pool is judged to the end ({len(started):,} more are begun)"
# By default only if most are finished: a few say little about the others.
only_finished = len(finished) > 0 and len(started) > 0 and st.toggle(label, len(finished) >= len(started))
only = tuple(finished) if only_finished else None
state = (counts["logged"], ",".join(runs["run"] + runs["sha256"]), campaign.corpus.costs().to_csv())
evaluation = cached(campaign.evaluation.evaluate, state, "Evaluating")(measures, rule=rule, topics=only)
rests_on = (*state, measures, rule, only)
compare = cached(comparison.compare, rests_on, "Comparing", 32)
found = compare(evaluation, baseline=baseline or None, test=test, correction=correction, alpha=alpha)

topics = sorted(set(evaluation.values["query_id"]) & set(campaign.corpus.topics()["query_id"]), key=natural_key)
rows = comparison_tables.leaderboard_rows(found, measure)
order = rows["system"].tolist()
comparison_tables.draw_conclusions(found, measure, rows)

comparison_tables.draw_leaderboard(found, measure, rows)
st.caption(
    f"Over {len(topics):,} of {counts['topics']:,} topics, sorted by {measure}. Bold: the best of its column. Shaded: "
    f"not distinguishable from it ({TESTS[test].label}, {CORRECTIONS[correction].label}, p at most {alpha:g}). "
    "Unjudged: the share of the documents that the measure looks at that nobody judged; most measures count them "
    "as not relevant. A topic that a run lacks counts as an empty ranking. The qrels that Export writes hold every "
    "topic that has a grade, so `cleverdon compare` takes all of those."
)
views = [MEANS, TESTED, TWO, TOPICS, *([] if found.evaluation.costs is None else [COSTS])]
view = st.segmented_control("Look at", views, default=MEANS, required=True, key="look")

if view == MEANS:
    marks = "Of this measure more is not better, so no system is the best."
    if rows["best"].any():
        marks = "Orange diamond: the best. Blue circle: may be as good. Grey triangle: worse."
    lines = f"lines are {comparison_tables.confidence(found)} confidence intervals. {marks}"
    caption = f"The mean {measure} of each system over {found.topics:,} topics; {lines}"
    downloadable_chart(means_chart(rows, measure), "means", caption, alt=f"Mean {measure} of each system")
elif view == TESTED:
    hint = "Holds the chance of one wrong difference among all pairs at the level chosen (Carterette 2012)."
    pairs = len(order) > 2 and st.toggle("Every pair of systems, by randomised Tukey HSD", key="pairs", help=hint)
    tests = found.tests
    if pairs:  # the randomised test takes a second or two
        of_measure = replace(evaluation, values=evaluation.values[evaluation.values["measure"] == measure])
        compare = cached(comparison.compare, (rests_on, measure), "Comparing every pair")
        every = compare(of_measure, alpha=alpha, all_pairs=True).pairs
        tests = tests if every is None else every
    if measure in set(tests["measure"]):
        comparison_tables.draw_tests(found, tests, measure, test, correction)
    elif len(order) < 2:
        st.write("There is no other system to compare with.")
    elif len(topics) < 2:
        st.write("One topic is too few for a test.")
    else:
        st.write("Of this measure more is not better, so there is no best: choose a system to compare with.")
elif view == TWO:
    if len(order) < 2:
        st.write("Import the run of another system to compare two.")
        st.stop()
    rank = partial(cached(campaign.evaluation.side_by_side, state, entries=64), rule=rule)
    systems_side_by_side.draw(found.evaluation, measure, order, members, baseline, rank)
elif view == TOPICS:
    explain = partial(cached(campaign.evaluation.explain, state, entries=64), measure, rule=rule, topics=only)
    comparison_tables.draw_values(found.evaluation, measure, topics, order, members, explain)
else:
    comparison_tables.draw_costs(found.evaluation, measure, order)

files: dict[str, tuple[str, Callable[[], str]]] = {
    "values.tsv": ("Values, topic by topic", partial(to_tsv, evaluation.values)),
    "tests.tsv": ("Tests", partial(to_tsv, found.tests)),
    "leaderboard.tex": ("Table for LaTeX", partial(comparison.latex, found)),
    "leaderboard.md": ("Table in Markdown", partial(comparison.markdown, found)),
}
with st.container(horizontal=True):
    for file, (label, content) in files.items():
        st.download_button(label, content, file, key=file, on_click="ignore", icon=":material/download:")
