"""Reusability: whether a system that was not pooled can be compared fairly."""

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import reusability as charts
from annotate.charts.download import downloadable_chart
from annotate.elements import display, pickers, reusability_tables, widgets
from annotate.elements.service_cache import cached
from collection.formats import to_tsv
from collection.measures import MEASURES, parse
from collection.reusability import DEFAULT_MEASURES, Groups, groups_by_prefix

GROUPS = {"names": "whose names begin alike", "none": "none: each is alone", "own": "as I say"}

campaign = session.current().campaign
counts = campaign.progress.counts()

st.title("Reusability")
st.write(
    "Can a system be compared that was not there when this collection was built? Each system that is there is treated "
    "as if it had not been: what it alone brought is taken out of the qrels again."
)
if not counts["runs"] or not counts["judgements"]:
    widgets.stop_with_next_step("That can be asked once runs are imported and some pairs are judged.")

runs = campaign.corpus.run_table()
names = runs["run"].tolist()
verdict = st.container()
which_topics = st.container()
with st.expander("How it is asked"):
    left, right = st.columns(2)
    with left:
        rel = pickers.pick_level("relevant-from")
    standard = [str(parse(m, rel)) for m in DEFAULT_MEASURES]
    hint = "There are: " + ", ".join(m.name for m in MEASURES if not m.needs)
    written = left.multiselect(
        "Measures, the first decides", standard, standard, accept_new_options=True, key=f"measures-{rel}", help=hint
    )
    with right:
        annotators = campaign.judgement_log.annotators()["annotator"].tolist()
        rule = pickers.pick_rule("Where several annotators judged a pair", annotators, key="rule")
    known_depth = left.number_input("Depth of the pool", 1, None, None, placeholder="seen from what is judged")
    how = right.selectbox("Runs that belong together", list(GROUPS), format_func=lambda name: GROUPS[name])
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
    with_bounds = st.toggle("Bounds over the unjudged: seconds for each run with long rankings", False)

measures = pickers.read_measures(written)
graded = cached(campaign.evaluation.graded_topics, counts["logged"], entries=8)(rule)
available = campaign.evaluation.topics_with_grades(graded=graded)
only: tuple[str, ...] | None = None
if 0 < len(available.finished) < len(available.graded):
    label = f"Only the {len(available.finished):,} topics judged to the end, of {len(available.graded):,} with a grade"
    if which_topics.toggle(label, available.usual is not None, key="only-finished"):
        only = available.finished
rests_on = (counts["logged"], ",".join(runs["run"] + runs["sha256"]))
assess = cached(campaign.evaluation.reusability, rests_on, "Leaving out one after the other", 8)
report = assess(measures, rule=rule, topics=only, groups=groups, depth=known_depth, rel=rel, with_bounds=with_bounds)

with verdict:
    with st.container(border=True):
        st.markdown(f"#### {widgets.plain(report.verdict[0])}")
    st.markdown("\n".join(f"- {widgets.plain(sentence)}" for sentence in report.verdict[1:]))

if report.ladder:
    reusability_tables.draw_depths(report.ladder)

st.subheader("How far the runs are judged")
downloadable_chart(
    charts.judged_chart(report.curves, report.pool.depth),
    "judged-by-depth",
    "Share of the first k documents of a run that are judged, mean over topics: thin lines are runs, thick ones their "
    f"means. The dashed line is the depth of the pool, {report.pool.depth:,}. How far the two means lie apart is what "
    "a new system lacks.",
)

reusability_tables.draw_left_out(report, measures)

st.subheader("How much judging the order needed")
downloadable_chart(
    charts.order_stability_chart(report.settling),
    "settling",
    "Kendall's tau between the order of the systems by the pool of a smaller depth and that by all judgements; dashed: "
    "0.9 and 0.95. It is the order of these systems: a new one may need more.",
)

reusability_tables.draw_topics(report.topics, measures[0])
if report.missing:
    with st.expander("What the estimates of missing relevant documents rest on"):
        for estimate in report.missing:
            st.markdown(f"- {widgets.plain(estimate.sentence)} {widgets.plain(estimate.assumption)}")
st.download_button("Download left-out.tsv", to_tsv(report.left_out), "left-out.tsv", key="left-out-tsv")
