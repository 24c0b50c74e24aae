"""Evaluate: systems x measures by the campaign's own qrels, and the values of each topic."""

import pandas as pd
import streamlit as st

from annotate import rule_choice, session, widgets
from collection.comparison import DEFAULT_MEASURES, Evaluation
from collection.errors import CleverdonError
from collection.measures import MEASURES, parse

campaign = session.current().campaign
counts = campaign.counts()

st.title("Evaluate")
if not counts["runs"] or not counts["judgements"]:
    st.write("The systems can be evaluated once runs are imported and some pairs are judged.")
    widgets.next_step(campaign.next_step())
    st.stop()


@st.cache_data(show_spinner="Evaluating", max_entries=16)
def evaluated(
    campaign_id: str,
    log: int,
    runs: str,
    rule: str,
    topics: tuple[str, ...] | None,
    costs: str,
    measures: tuple[str, ...],
) -> Evaluation:
    """Values, kept while judgements, runs, rule, topics, costs and measures are the same."""
    return session.current().campaign.evaluate([parse(m) for m in measures], rule=rule, topics=topics)


@st.cache_data(show_spinner=False, max_entries=64)
def explained(
    campaign_id: str,
    log: int,
    runs: str,
    rule: str,
    topics: tuple[str, ...] | None,
    measure: str,
    run: str,
    query_id: str,
) -> str:
    """A calculation, kept as values are."""
    return str(session.current().campaign.explain(parse(measure), run, query_id, rule=rule, topics=topics))


left, right = st.columns([3, 2])
written = left.multiselect(
    "Measures",
    [*DEFAULT_MEASURES, "nDCG", "P@5", "Rprec", "bpref", "Success@10", "RR@10", "R@1000"],
    default=list(DEFAULT_MEASURES),
    accept_new_options=True,
    help="Write any measure as AP(rel=2)@100; `cleverdon measures` describes them. There are: "
    + ", ".join(m.name for m in MEASURES if not m.needs),
)
with right:
    rule = rule_choice.choose(
        "Where several annotators judged a pair", campaign.annotators()["annotator"].tolist(), key="rule"
    )
progress = campaign.progress()
done = ((progress["goal"] > 0) & (progress["made"] >= progress["goal"])).fillna(False)
finished = progress.loc[done, "query_id"]
begun = progress[(progress["judged"] > 0) & ~done]
only_finished = len(finished) > 0 and len(begun) > 0
if only_finished:
    only_finished = st.toggle(
        f"Only the {len(finished):,} topics whose pool is judged to the end ({len(begun):,} more are begun)",
        True,
    )
parsed = []
for text in written:
    try:
        parsed.append(str(parse(text)))
    except CleverdonError as error:  # the others are shown all the same
        st.error(widgets.plain(str(error)))
measures = tuple(dict.fromkeys(parsed))
if not measures:
    st.write("Choose a measure.")
    st.stop()
try:
    runs = campaign.run_table()
    key = (
        campaign.id,
        counts["logged"],
        ",".join(runs["run"] + runs["sha256"]),
        rule,
        tuple(finished) if only_finished else None,
    )
    result = evaluated(*key, campaign.costs().to_csv(), measures)
except CleverdonError as error:
    st.error(widgets.plain(str(error)))
    st.stop()

means = result.means()
topics = result.coverage[0].topics
st.caption(
    f"Means (of counts, sums) over {topics:,} of {counts['topics']:,} topics. "
    "A topic that a run lacks counts as an empty ranking. Unjudged documents count as not relevant. "
    "The qrels that Export writes hold every topic that has a grade, so `cleverdon evaluate` takes all of those."
)
shown = means
if result.costs is not None:  # a cost may be called as a measure is
    shown = means.join(result.costs.rename(columns=lambda name: f"{name} (cost)" if name in means else name))
# Only where more is better by definition: the most effort, or the most unjudged documents, is no success.
more_is_better = pd.Index([m for m in measures if parse(m).entry.monotone > 0])
costs = shown.columns[means.shape[1] :]
st.dataframe(
    shown.style.format("{:.4f}", subset=means.columns)
    .format(lambda cost: cost if isinstance(cost, str) else f"{cost:,.10g}", subset=costs, na_rep="")
    .highlight_max(axis=0, subset=more_is_better, props="font-weight: bold; text-decoration: underline"),
)
missing = [f"{widgets.plain(c.run)} ({len(c.missing_topics)})" for c in result.coverage if c.missing_topics]
if missing:
    st.info(f"Topics missing from runs, counted 0: {', '.join(missing)}.")
unjudged = max(c.unjudged_at_10 for c in result.coverage)
if unjudged >= 0.5:
    st.warning(
        f"Up to {unjudged:.1f} of a run's first 10 documents are unjudged: values will still move as judging goes on."
    )

measure = st.selectbox("Plot", measures)
st.altair_chart(widgets.means_chart(means, measure), alt=f"Mean {measure} of each run")

st.subheader("Topic by topic")
st.caption(f"{measure} of each run, topic by topic.")
values = result.per_topic()
table = values[values["measure"] == measure].pivot(index="query_id", columns="run", values="value")
titles = campaign.topics().set_index("query_id")["title"]
result_topics = [q for q in titles.index if q in table.index]
table = table.loc[result_topics, means.index]
# The titles go into the index: as a column they might meet a run of that name.
table.index = [f"{query_id}: {titles[query_id]}" for query_id in table.index]
st.dataframe(table, column_config={run: st.column_config.NumberColumn(run, format="%.3f") for run in means.index})
with st.expander("Show the calculation of one value"):
    left, right = st.columns(2)
    run = left.selectbox("Run", means.index)
    query_id = right.selectbox("Topic", result_topics, format_func=lambda q: f"{q}: {titles[q]}")
    st.code(explained(*key, measure, run, query_id), language=None)
st.download_button("Download values.tsv", result.values.to_csv(sep="\t", index=False), "values.tsv", key="values")
