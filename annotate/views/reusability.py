"""Reusability: whether a system that was not pooled can be compared fairly, in words first."""

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import reusability as charts
from annotate.charts.download import downloadable_chart
from annotate.elements import display, pickers, reusability_tables, widgets
from collection.formats import to_tsv
from collection.measures import MEASURES, parse
from collection.reusability import DEFAULT_MEASURES, Groups, Reusability, groups_by_prefix

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


@st.cache_data(show_spinner="Leaving out one after the other", max_entries=8)
def assessed(
    asked: tuple[str, int, str],
    rule: str,
    topics: tuple[str, ...] | None,
    measures: tuple[str, ...],
    grouping: tuple[tuple[str, str], ...] | None,
    depth: int | None,
    rel: int,
    with_bounds: bool,
) -> Reusability:
    """Everything, kept while nothing changes that it rests on; no grouping: by names."""
    groups: Groups = groups_by_prefix if grouping is None else dict(grouping)
    return session.current().campaign.evaluation.reusability(
        [parse(m) for m in measures],
        rule=rule,
        topics=topics,
        groups=groups,
        depth=depth,
        rel=rel,
        with_bounds=with_bounds,
    )


@st.cache_data(show_spinner=False, max_entries=8)
def graded_topics(campaign_id: str, log: int, rule: str) -> tuple[str, ...]:
    """The topics with a grade, kept while nothing more is judged."""
    return session.current().campaign.evaluation.graded_topics(rule)


runs = campaign.corpus.run_table()
names = runs["run"].tolist()
words = st.container()
which_topics = st.container()
with st.expander("How it is asked"):
    left, right = st.columns(2)
    with left:
        rel = pickers.pick_level("relevant-from")
    standard = [str(parse(m, rel)) for m in DEFAULT_MEASURES]
    written = left.multiselect(
        "Measures, the first decides",
        standard,
        default=standard,
        accept_new_options=True,
        key=f"measures-{rel}",
        help="There are: " + ", ".join(m.name for m in MEASURES if not m.needs),
    )
    with right:
        rule = pickers.pick_rule(
            "Where several annotators judged a pair",
            campaign.judgement_log.annotators()["annotator"].tolist(),
            key="rule",
        )
    known_depth = left.number_input(
        "Depth of the pool", min_value=1, value=None, step=1, placeholder="seen from what is judged"
    )
    how = right.selectbox("Runs that belong together", list(GROUPS), format_func=lambda name: GROUPS[name])
    grouping: tuple[tuple[str, str], ...] | None = None
    if how == "none":
        grouping = tuple((name, name) for name in names)
    elif how == "own":
        guess = groups_by_prefix(names)
        edited = display.data_editor(
            pd.DataFrame({"run": names, "group": [guess[name] for name in names]}),
            hide_index=True,
            disabled=["run"],
            column_config={"run": "Run", "group": "Group"},
            key="own-groups",
        )
        own = edited["group"].fillna("").astype(str).str.strip()
        grouping = tuple(zip(names, own.where(own != "", edited["run"]), strict=True))
    with_bounds = st.toggle("Bounds over the unjudged: seconds for each run with long rankings", False)

measures = pickers.read_measures(written)
there = campaign.evaluation.topics_with_grades(graded=graded_topics(campaign.id, counts["logged"], rule))
taken: tuple[str, ...] | None = None
if 0 < len(there.finished) < len(there.graded):
    # The same default as the command has.
    only_finished = which_topics.toggle(
        f"Only the {len(there.finished):,} topics judged to the end, of {len(there.graded):,} with a grade",
        there.usual is not None,
        key="only-finished",
    )
    taken = there.finished if only_finished else None
asked = (campaign.id, counts["logged"], ",".join(runs["run"] + runs["sha256"]))
report = assessed(asked, rule, taken, measures, grouping, known_depth, rel, with_bounds)

with words:
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
