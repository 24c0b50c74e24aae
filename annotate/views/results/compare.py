"""Compare: systems evaluated by the campaign's own qrels, with tests of their differences."""

from functools import partial

import streamlit as st

from annotate.auth import session
from annotate.views.results import answer_comparison, comparison_tables, estimate_tables, systems_side_by_side
from annotate.views.widgets import downloads, pickers, widgets
from annotate.views.widgets.service_cache import cached
from collection import comparison
from collection.comparison import DEFAULT_MEASURES
from collection.core.characters import natural_key, without_bidi
from collection.core.phrases import join
from collection.export import selection_caution
from collection.formats import to_tsv
from collection.measures import MEASURES, as_measure
from collection.statistics import DEFAULT_CORRECTION, DEFAULT_TEST

BOARD, TESTED, TWO, TOPICS, COSTS = "Leaderboard", "Tests", "Two systems", "Topics", "Costs"
UNJUDGED = {"not-relevant": "Not relevant", "left-out": "Left out", "expected": "Estimated grades"}

campaign = session.current().campaign
counts = campaign.store.judgements.counts()

st.title("Compare")
missing = [name for name in ("runs", "judgements") if not counts[name]]
if answer_comparison.pick_answers(has_rankings=not missing):
    answer_comparison.draw()
    st.stop()
if missing:
    widgets.stop_with_next_step(f"This campaign has no {join(missing, 'or')} yet; comparing systems needs both.")

answer = st.container()  # drawn first, computed from the settings below it
with st.expander(pickers.settings_label("measures, baseline, test and topics")):
    written = st.multiselect(
        "Measures",
        [*DEFAULT_MEASURES, "nDCG", "P@5", "Rprec", "bpref", "Success@10", "RR@10", "R@1000"],
        default=list(DEFAULT_MEASURES),
        accept_new_options=True,
        help="Select measures, or type others, such as AP(rel=2)@100. Names: "
        + join(m.name for m in MEASURES if not m.needs)
        + ".",
    )
    widgets.documentation_link("reference/measures", "All measures")
    hint = "How most measures treat unjudged documents. With estimated grades, all values are estimates, without tests."
    unjudged = pickers.pick("Unjudged documents", UNJUDGED, "not-relevant", "unjudged", help=hint)
    estimated = unjudged == "expected"
    measures = pickers.read_measures(written)
    if estimated:
        measures = estimate_tables.estimable(measures)
    elif unjudged == "left-out":
        measures = tuple(dict.fromkeys(str(as_measure(measure)(judged_only=True)) for measure in measures))
    graders = campaign.results.overview.annotators()["annotator"].tolist()
    members = comparison.group_seeds(campaign.store.corpus.runs()["run"])
    left, right = st.columns(2)
    hint = "Used for the conclusion, the charts and the tests, and to order the systems."
    measure = left.selectbox("Main measure", measures, key="measure", help=hint)
    names = {"": "Best system by each measure"} | {name: without_bidi(name) for name in members}
    baseline = right.selectbox("Baseline", names, key="baseline", format_func=names.__getitem__)
    runs = campaign.results.evaluation.for_question(*pickers.pick_question())
    left, middle, right = st.columns(3)
    with left:
        rule = pickers.pick_rule(graders, key="rule")
    test, correction = DEFAULT_TEST, DEFAULT_CORRECTION
    if not estimated:
        with middle:
            test = pickers.pick_test("test")
        with right:
            correction = pickers.pick_correction("correction")
    alpha = right.selectbox(
        "Share of draws outside the ranges (α)" if estimated else "Significance level (α)", pickers.ALPHAS, key="alpha"
    )
    only = pickers.pick_finished_topics(rule)
state = runs.cache_key()
if estimated:
    with answer:
        pickers.draw_question(runs.qrels.question)
    known = (state, campaign.corpus.features.version())
    estimate = cached(runs.estimate, known, "Estimating unjudged grades")
    with widgets.shown_errors():
        estimates = estimate(measures, rule=rule, topics=only, alpha=alpha)
        estimate_tables.draw(estimates, measure, baseline or None, counts["topics"], answer)
    st.stop()
evaluation = cached(runs.evaluate, state, "Evaluating")(measures, rule=rule, topics=only)
cache_key = (state, measures, rule, only)
compare = cached(comparison.compare, cache_key, "Comparing", 32)
compared = compare(evaluation, baseline=baseline or None, test=test, correction=correction, alpha=alpha)

topics = sorted(set(evaluation.values["query_id"]) & set(campaign.store.corpus.topics()["query_id"]), key=natural_key)
rows = compared.standings(measure)
order = rows["system"].tolist()
decisive = cached(campaign.results.qrels.count_decisive_pairs, counts["logged"])(topics=only)
with answer:
    pickers.draw_question(runs.qrels.question)
    if caution := selection_caution(decisive, "choose estimated grades of unjudged documents in the settings"):
        st.info(widgets.plain(f"{caution}."))
    comparison_tables.draw_answer(compared, measure, rows, f"{len(topics):,} of {counts['topics']:,}")

views = [BOARD, TESTED, TWO, TOPICS, *([] if compared.evaluation.costs is None else [COSTS])]
view = st.segmented_control("Details", views, default=BOARD, required=True, key="look")

if view == BOARD:
    comparison_tables.draw_leaderboard(compared, measure, rows)
elif view == TESTED:
    hint = "Controls the probability of any false difference among all pairs (Carterette 2012)."
    pairs = len(order) > 2 and st.toggle("All pairs of systems (randomised Tukey HSD)", key="pairs", help=hint)
    tests = compared.tests
    if pairs:  # the randomised test takes a second or two
        compare = cached(comparison.compare, (cache_key, measure), "Comparing all pairs")
        every = compare(evaluation.select_measure(measure), alpha=alpha, all_pairs=True).pairs
        tests = tests if every is None else every
    comparison_tables.draw_tests_or_reason(compared, tests, measure, correction, len(order), len(topics))
elif view == TWO:
    if len(order) < 2:
        st.write("There is only one system. Import the run of another one.")
        st.stop()
    rank = partial(cached(runs.side_by_side, state, entries=64), rule=rule)
    question, scale = runs.qrels.question, campaign.settings.grades
    labels = {g: scale.label(g) for g in scale.sentences} if question is None else question.labels
    systems_side_by_side.draw(compared.evaluation, measure, order, members, baseline, rank, labels)
elif view == TOPICS:
    explain = partial(cached(runs.explain, state, entries=64), measure, rule=rule, topics=only)
    comparison_tables.draw_values(compared.evaluation, measure, topics, order, members, explain)
else:
    comparison_tables.draw_costs(compared.evaluation, measure, order)

downloads.offer_results(
    {
        "values.tsv": ("Values per topic (TSV)", partial(to_tsv, evaluation.values)),
        "tests.tsv": ("Tests (TSV)", partial(to_tsv, compared.tests)),
        "leaderboard.tex": ("Leaderboard (LaTeX)", compared.to_latex),
        "leaderboard.md": ("Leaderboard (Markdown)", compared.to_markdown),
    }
)
