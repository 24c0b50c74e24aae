"""Reusability: whether the collection ranks systems reliably that were not pooled."""

from functools import partial

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.results import answer_comparison, answer_reusability, reusability_tables
from annotate.views.widgets import display, downloads, pickers, widgets
from annotate.views.widgets.downloads import downloadable_chart
from annotate.views.widgets.service_cache import cached
from collection.charts import reusability as charts
from collection.core.phrases import join
from collection.formats import to_tsv
from collection.measures import parse
from collection.reusability import DEFAULT_MEASURES, Groups, Unjudged, groups_by_prefix

GROUPS = {"names": "By common prefix of the names", "none": "Each run on its own", "own": "Custom"}
UNJUDGED: dict[Unjudged, str] = {"unknown": "Unknown", "not-relevant": "Not relevant"}
DEPTHS, LEFT_OUT, JUDGED, STABILITY = "Depths", "Leave-one-out", "Judged documents", "Pool depth"
TOPICS, MISSING = "Topics", "Missing documents"

campaign = session.current().campaign
counts = campaign.store.judgements.counts()

st.title("Reusability")
missing = [name for name in ("runs", "judgements") if not counts[name]]
if answer_comparison.pick_answers(has_rankings=not missing):
    answer_reusability.draw()
    st.stop()
if missing:
    widgets.stop_with_next_step(f"This campaign has no {join(missing, 'or')} yet; reusability is assessed from both.")

names = campaign.store.corpus.runs()["run"].tolist()
answer = st.container()  # drawn first, computed from the settings below it
with st.expander(pickers.settings_label("measures, grades, groups of runs and topics")):
    evaluation = campaign.results.evaluation.for_question(*pickers.pick_question())
    left, right = st.columns(2)
    with left:
        rel = pickers.pick_level("relevant-from", question=evaluation.qrels.question)
    standard = [str(parse(m, rel)) for m in DEFAULT_MEASURES]
    hint = "Select measures, or type any other; the first one decides the verdict."
    written = left.multiselect(
        "Measures", standard, standard, accept_new_options=True, key=f"measures-{rel}", help=hint
    )
    with right:
        annotators = campaign.results.overview.annotators()
        rule = pickers.pick_rule(annotators["annotator"].tolist(), key="rule")
    known_depth = left.number_input("Pool depth (ranks)", 1, None, None, placeholder="Detected from the judgements")
    hint = "Runs of a group are left out together."
    how = right.selectbox("Groups of runs", list(GROUPS), format_func=GROUPS.__getitem__, help=hint)
    groups: Groups = groups_by_prefix
    if how == "none":
        groups = {name: name for name in names}
    elif how == "own":
        guess = groups_by_prefix(names)
        table = pd.DataFrame({"run": names, "group": [guess[name] for name in names]})
        labels = {"run": "Run", "group": "Group"}
        edited = display.data_editor(table, hide_index=True, disabled=["run"], column_config=labels, key="own-groups")
        own = edited["group"].fillna("").astype(str).str.strip()
        groups = dict(zip(names, own.where(own != "", edited["run"]), strict=True))
    hint = "Not relevant: all documents were examined, and only relevant ones have grades, as in some old collections."
    unjudged = pickers.pick("Unjudged documents", UNJUDGED, "unknown", "unjudged", help=hint)
    hint = "By the grades that unjudged documents could have. Shown under Leave-one-out; takes seconds per run."
    with_bounds = st.toggle("Compute lowest and highest possible values", False, "bounds", hint)
    only = pickers.pick_finished_topics(rule, closed_early=False)
    measures = pickers.read_measures(written)
assess = cached(evaluation.reusability, evaluation.cache_key(), "Leaving out each run in turn", 8)
report = assess(
    measures,
    rule=rule,
    topics=only,
    groups=groups,
    depth=known_depth,
    rel=rel,
    with_bounds=with_bounds,
    unjudged=unjudged,
)
with answer:
    pickers.draw_question(evaluation.qrels.question)
    reusability_tables.draw_answer(report, measures[0])

views = [*([DEPTHS] if report.ladder else []), LEFT_OUT, JUDGED, STABILITY, TOPICS]
views += [MISSING] if report.missing else []
view = st.segmented_control("Details", views, default=views[0], required=True, key="look")
if view == DEPTHS:
    reusability_tables.draw_depths(report.ladder)
elif view == LEFT_OUT:
    reusability_tables.draw_left_out(report, measures)
elif view == JUDGED:
    downloadable_chart(
        charts.judged_chart(report.curves, report.pool.depth),
        "judged-by-depth",
        f"Thin lines: runs; thick lines: means; dashed: pool depth ({report.pool.depth:,}). Expect a new system to "
        "have as few judged documents as the left-out runs.",
        alt="Share of judged documents by depth, mean over topics",
    )
elif view == STABILITY:
    downloadable_chart(
        charts.order_stability_chart(report.settling),
        "settling",
        "Kendall's tau between the rankings of these systems by a shallower pool and by all judgements; dashed: 0.9 "
        "and 0.95. A new system may need a deeper pool.",
        alt="Kendall's tau between the rankings of the systems by shallower pools and by all judgements",
    )
elif view == TOPICS:
    reusability_tables.draw_topics(report.topics, measures[0])
else:
    for estimate in report.missing:
        st.markdown(f"- {widgets.plain(estimate.sentence)} {widgets.plain(estimate.assumption)}")
downloads.offer_results({"left-out.tsv": ("Leave-one-out results (TSV)", partial(to_tsv, report.left_out))})
