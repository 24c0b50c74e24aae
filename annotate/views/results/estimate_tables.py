"""The Compare page with estimated grades: every number is named an estimate, in sight and in files."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotate.auth import session
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number
from annotate.views.widgets.downloads import downloadable_chart
from collection.charts.intervals import estimates_chart
from collection.comparison import Estimates
from collection.core.characters import natural_key
from collection.core.phrases import confidence, count, sentence
from collection.estimation import explain_refusal
from collection.formats import to_tsv

VIEWS = ["Leaderboard", "Probabilities", "Topics"]


def estimable(measures: Sequence[str]) -> tuple[str, ...]:
    """The measures that have expected values; say which do not, and end the page if none does."""
    refused = {measure: reason for measure in measures if (reason := explain_refusal(measure))}
    for measure, reason in refused.items():
        st.caption(f"{widgets.plain(measure)} is left out: {reason}.")
    if len(refused) == len(measures):
        st.write("None of these measures can be estimated. Choose another measure.")
        st.stop()
    return tuple(measure for measure in measures if measure not in refused)


def draw(estimates: Estimates, measure: str, baseline: str | None, topics: int, answer: DeltaGenerator) -> None:
    """Draw all of the page but its settings; `topics` is the number in the campaign, `answer` the place above them."""
    rows = estimates.standings(measure)
    order = rows["system"].tolist()
    with answer:
        draw_answer(estimates, measure, rows, f"{estimates.pool.topics:,} of {topics:,}")
    view = st.segmented_control("Details", VIEWS, default=VIEWS[0], required=True, key="estimates-look")
    if view == VIEWS[0]:
        draw_leaderboard(estimates, order)
    elif view == VIEWS[1]:
        draw_probabilities(estimates, measure, baseline)
    else:
        draw_topics(estimates, measure, order)
    downloads.offer_results(
        {
            "estimates.tsv": ("Estimates per topic (TSV)", partial(to_tsv, estimates.values)),
            "estimated-differences.tsv": ("Probabilities (TSV)", partial(to_tsv, estimates.pairs)),
            "estimates.tex": ("Estimates (LaTeX)", estimates.to_latex),
            "estimates.md": ("Estimates (Markdown)", estimates.to_markdown),
        }
    )


def draw_answer(estimates: Estimates, measure: str, rows: pd.DataFrame, topics: str) -> None:
    """Draw the conclusion by a measure in words, numbers and a chart, with notes; `rows` are its standings."""
    st.markdown(f"#### {widgets.plain(estimates.sentence(measure))}")
    st.info(widgets.plain(estimates.about))
    pool = estimates.pool
    widgets.metrics(
        {
            "Systems": len(rows),
            "Topics": topics,
            "Judged pairs": pool.judged,
            "Pairs with estimated grades": pool.unjudged,
        }
    )
    downloadable_chart(
        estimates_chart(rows, measure),
        "estimates",
        f"Estimates of mean {measure} over {count(pool.topics, 'topic')}. Lines: {confidence(estimates.alpha)} of the "
        "draws of the unjudged grades; they do not cover the choice of topics. Worse than the best: probability of "
        f"{confidence(estimates.alpha)} or more. Undecided: lower probability.",
        alt=f"Estimated {measure} of each system",
    )
    if estimates.notes:
        with st.expander(f"Notes ({len(estimates.notes)})"):
            for note in estimates.notes:
                st.markdown(f"- {widgets.plain(sentence(note))}")
            widgets.documentation_link("explanation/unjudged", "How unjudged documents are treated")


def draw_leaderboard(estimates: Estimates, order: Sequence[str]) -> None:
    """Draw systems x measures as text, ``0.7123 (0.6512 to 0.7734)``."""
    tables = [estimates.table(column).loc[list(order)] for column in ("estimate", "estimate_low", "estimate_high")]
    middle, low, high = (table.map("{:.4f}".format) for table in tables)
    shown = (middle + " (" + low + " to " + high + ")").rename_axis("System")
    shown.columns = pd.Index([f"{measure} (estimate)" for measure in shown.columns])
    display.dataframe(shown, height=display.height(shown, 528), alt="Estimates: systems and measures")
    st.caption(f"In brackets: {confidence(estimates.alpha)} of the draws of the unjudged grades.")


def draw_probabilities(estimates: Estimates, measure: str, baseline: str | None) -> None:
    """Draw how probably systems are better than a baseline, or than each other, once all pairs are judged."""
    rows = estimates.against(measure, baseline)
    if rows.empty:
        st.write("There is only one system. Import the run of another one.")
        return
    if len(rows) > 1 and st.toggle("All pairs of systems", key="estimated-pairs"):
        rows = estimates.pairs[estimates.pairs["measure"] == measure]
    else:
        st.write(f"Compared with {widgets.plain(str(rows['baseline'].iloc[0]))}, by {widgets.plain(measure)}:")
    sure = confidence(estimates.alpha)
    chances = {name: rows[name].map(estimates.chance) for name in ("probability_better", "probability_equal")}
    display.table(
        rows.assign(**chances),
        {
            "system": "System",
            "system_a": "System A",
            "system_b": "System B",
            "probability_better": "Probability of being better" if "system" in rows else "Probability: A better than B",
            "probability_equal": "Probability of being equal" if rows["probability_equal"].any() else None,
            "difference_estimate": number("Difference (estimate)", "%+.4f"),
            "difference_low": number(f"{sure} of draws, low", "%+.4f"),
            "difference_high": number(f"{sure} of draws, high", "%+.4f"),
        },
        most_height=388,
        alt="Probabilities that systems are better",
    )
    st.caption("On these topics, once all pairs of the pool are judged. Not a significance test.")


def draw_topics(estimates: Estimates, measure: str, order: Sequence[str]) -> None:
    """Draw topics x systems as text, with ranges."""
    titles = session.current().campaign.store.corpus.topics().set_index("query_id")["title"]
    values = estimates.per_topic()
    values = values[values["measure"] == measure]
    low, high = values["estimate_low"].map("{:.3f}".format), values["estimate_high"].map("{:.3f}".format)
    cells = values.assign(cell=values["estimate"].map("{:.3f}".format) + " (" + low + " to " + high + ")")
    topics = sorted(set(cells["query_id"]), key=natural_key)
    table = cells.pivot(index="query_id", columns="run", values="cell").loc[topics, list(order)]
    named = [f"{query_id}: {titles[query_id]}" for query_id in table.index]
    table.index = pd.Index(named, name=f"{measure} by topic (estimate)")
    display.dataframe(table, alt=f"Estimated {measure} of each system in each topic")
