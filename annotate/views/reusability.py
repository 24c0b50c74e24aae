"""Reusability: whether a system that was not pooled can be compared fairly, in words first."""

import pandas as pd
import streamlit as st

from annotate import charts
from annotate.auth import session
from annotate.charts import reusability as drawn
from annotate.elements import drawing, rule_picker, widgets
from collection.errors import CleverdonError
from collection.formats.spreadsheet import tsv
from collection.measures import MEASURES, as_measures, parse
from collection.records import in_natural_order
from collection.reusability import (
    CARE,
    DEFAULT_MEASURES,
    JUDGED,
    KNOWN,
    LEAST_TOPICS,
    MEAN_CHANGE,
    MOVED,
    WORST_CHANGE,
    Groups,
    Reusability,
    groups_by_prefix,
)

GROUPS = {
    "names": "whose names begin alike",
    "none": "none: each is alone",
    "own": "as I say",
}

campaign = session.current().campaign
counts = campaign.progress.counts()

st.title("Reusability")
st.write(
    "Can a system be compared that was not there when this collection was built? Each system that is there is treated "
    "as if it had not been: what it alone brought is taken out of the qrels again."
)
if not counts["runs"] or not counts["judgements"]:
    st.write("That can be asked once runs are imported and some pairs are judged.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()


@st.cache_data(show_spinner="Leaving out one after the other", max_entries=8)
def looked(
    campaign_id: str,
    log: int,
    runs: str,
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
    grades = [g for g in campaign.grades.sentences if g > 0]
    usual = campaign.settings.loop().level
    rel = left.selectbox("Relevant from grade", grades, index=grades.index(usual) if usual in grades else 0)
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
        rule = rule_picker.choose(
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
        edited = drawing.data_editor(
            pd.DataFrame({"run": names, "group": [guess[name] for name in names]}),
            hide_index=True,
            disabled=["run"],
            column_config={"run": "Run", "group": "Group"},
            key="own-groups",
        )
        own = edited["group"].fillna("").astype(str).str.strip()
        grouping = tuple(zip(names, own.where(own != "", edited["run"]), strict=True))
    with_bounds = st.toggle("Bounds over the unjudged: seconds for each run with long rankings", False)

parsed: list[str] = []
for text in written:
    try:
        parsed += map(str, as_measures(text))
    except CleverdonError as error:  # the others are looked at all the same
        st.error(drawing.plain(str(error)))
measures = tuple(dict.fromkeys(parsed))
if not measures:
    st.write("Choose a measure.")
    st.stop()
try:
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
    report = looked(
        campaign.id,
        counts["logged"],
        ",".join(runs["run"] + runs["sha256"]),
        rule,
        taken,
        measures,
        grouping,
        known_depth,
        rel,
        with_bounds,
    )
except CleverdonError as error:
    st.error(drawing.plain(str(error)))
    st.stop()

with words:
    with st.container(border=True):
        st.markdown(f"#### {drawing.plain(report.verdict[0])}")
    st.markdown("\n".join(f"- {drawing.plain(sentence)}" for sentence in report.verdict[1:]))

first = measures[0]
if report.ladder:
    st.subheader("Depth by depth")
    drawing.dataframe(
        pd.DataFrame(
            [
                rung._asdict() | {"over": f"{len(rung.breaking):,} of {rung.others + 1:,}", "breaking": None}
                for rung in report.ladder
            ]
        ),
        hide_index=True,
        alt="The rules at each depth",
        column_order=[
            "measure", "verdict", "change", "worst", "worst_run", "moved", "moved_run", "over", "judged", "known",
        ],
        column_config={
            "measure": st.column_config.TextColumn("Measure", width="small"),
            "verdict": st.column_config.TextColumn("Fair?", width="small"),
            "change": st.column_config.NumberColumn("Mean change", format="%.3f", width="small"),
            "worst": st.column_config.NumberColumn("Worst", format="%.3f", width="small"),
            "worst_run": "of",
            "moved": st.column_config.NumberColumn("Most places", width="small"),
            "moved_run": "by",
            "over": st.column_config.TextColumn(
                "Runs over", width="small", help="Runs that change or move by more than a single run may."
            ),
            "judged": st.column_config.NumberColumn("Judged: left out", format="percent"),
            "known": st.column_config.NumberColumn("pooled", format="percent", width="small"),
        },
    )  # fmt: skip
    with st.expander("The rules, and why"):
        st.markdown(
            f"A depth is **fair** if all of these hold:\n"
            f"- A run that is left out changes by {MEAN_CHANGE:g} at most on average, and none by more than "
            f"{WORST_CHANGE:g}. With 50 topics a difference of 0.05 or so is needed before another 50 would show it "
            "too (Voorhees and Buckley 2002): no system may lose as much by not being pooled.\n"
            f"- None changes its order with more than {MOVED:.0%} of the others.\n"
            f"- Of the first k documents of a run that is left out {JUDGED:.0%} are judged on average.\n"
            f"- Of those of the pooled runs themselves {KNOWN:.0%} are judged: otherwise nobody knows what they are "
            "worth, and a small change says nothing.\n\n"
            f"It is to be used **with care** if at most {CARE:.0%} of the runs change or move by more than one run "
            "may, and the other rules hold: then a system has to be unlike the rest to be wronged. If more of them do, "
            "any new one may be, and it is **not** fair; among fewer than ten runs one is more. With fewer than "
            f"{LEAST_TOPICS} topics nothing is said, since each is then more than a tenth of every mean."
        )

st.subheader("How far the runs are judged")
charts.downloadable(
    drawn.judged_chart(report.curves, report.pool.depth),
    "judged-by-depth",
    "Share of the first k documents of a run that are judged, mean over topics: thin lines are runs, thick ones their "
    f"means. The dashed line is the depth of the pool, {report.pool.depth:,}. How far the two means lie apart is what "
    "a new system lacks.",
    width="stretch",
)

st.subheader("Each run left out")
measure = st.selectbox("Measure", measures) if len(measures) > 1 else first
alone = (
    st.toggle("Each run by itself, not with its group", False)
    if len(set(report.groups.values())) < len(report.groups)
    else False
)
left_out = report.left_out_runs if alone else report.left_out
rows = left_out[left_out["measure"] == measure]
charts.downloadable(
    drawn.left_out_chart(rows, measure),
    "left-out",
    f"Mean {measure} of each run by all judgements, and by those that are left when what "
    f"{'it' if alone else 'its group'} alone brought to the first {report.pool.depth:,} ranks is taken away.",
    width="stretch",
)
drawing.dataframe(
    rows,
    hide_index=True,
    alt="Each run left out",
    column_order=["run", "group", "unique", "relevant", "before", "after", "change", "place_before", "place_after"],
    column_config={
        "run": "Run",
        "group": "Group",
        "unique": st.column_config.NumberColumn("Unique pairs", help="Judged pairs that nobody else brought."),
        "relevant": st.column_config.NumberColumn("Relevant", help="Those of them that are relevant."),
        "before": st.column_config.NumberColumn(measure, format="%.4f"),
        "after": st.column_config.NumberColumn("Left out", format="%.4f"),
        "change": st.column_config.NumberColumn("Change", format="%+.4f"),
        "place_before": st.column_config.NumberColumn("Place"),
        "place_after": st.column_config.NumberColumn("Left out "),
    },
)
if report.bounds is not None:
    bounds = report.bounds[report.bounds["measure"] == measure]
    charts.downloadable(
        drawn.bounds_chart(bounds, measure),
        "bounds",
        f"Lowest and highest mean {measure} if the unjudged documents of a run had any grade of the scale; the dot is "
        "the value with all of them unjudged.",
        width="stretch",
    )

st.subheader("How much judging the order needed")
charts.downloadable(
    drawn.settling_chart(report.settling),
    "settling",
    "Kendall's tau between the order of the systems by the pool of a smaller depth and that by all judgements; dashed: "
    "0.9 and 0.95. It is the order of these systems: a new one may need more.",
    width="stretch",
)

st.subheader("Topics")
if report.topics["without"].notna().any():
    charts.downloadable(
        drawn.topics_chart(report.topics, first),
        "topics",
        f"Each dot is a topic: hard ones to the left, by mean {first}; those at the bottom decide, since without them "
        "the order of the systems is another. The larger, the more relevant documents.",
        width="stretch",
    )
titles = campaign.corpus.topics()[["query_id", "title"]]
drawing.dataframe(
    in_natural_order(report.topics.merge(titles, on="query_id", how="left")).sort_values("without", kind="stable"),
    hide_index=True,
    alt="The topics, those that decide most first",
    column_order=[
        "query_id", "title", "judged", "relevant", "prevalence", "mean", "median", "spread", "agrees", "without",
    ],
    column_config={
        "query_id": st.column_config.TextColumn("Topic", width="small"),
        "title": st.column_config.TextColumn("Title", width="medium"),
        "judged": st.column_config.NumberColumn("Judged", width="small"),
        "relevant": st.column_config.NumberColumn("Relevant", width="small"),
        "prevalence": st.column_config.NumberColumn("Share", format="percent", width="small"),
        "mean": st.column_config.NumberColumn("Mean", format="%.3f", width="small", help=f"{first} of the systems."),
        "median": st.column_config.NumberColumn("Median", format="%.3f", width="small"),
        "spread": st.column_config.NumberColumn("Spread", format="%.3f", width="small", help="Standard deviation."),
        "agrees": st.column_config.NumberColumn(
            "Tau, alone", format="%.3f", width="small", help="Of the order by this topic with that by all."
        ),
        "without": st.column_config.NumberColumn(
            "Tau, without", format="%.3f", width="small", help="Of the order by the others with that by all."
        ),
    },
)  # fmt: skip
if report.missing:
    with st.expander("What the estimates of missing relevant documents rest on"):
        for estimate in report.missing:
            st.markdown(f"- {drawing.plain(estimate.sentence)} {drawing.plain(estimate.assumption)}")
st.download_button("Download left-out.tsv", tsv(report.left_out), "left-out.tsv", key="left-out-tsv")
