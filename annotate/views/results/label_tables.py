"""Tables and charts of machine labels: agreement with people, plan, corrected values, and effects on conclusions."""

from functools import partial

import pandas as pd
import streamlit as st

from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from collection.charts.intervals import corrected_chart, gains_chart
from collection.core.phrases import percent
from collection.formats import to_tsv
from collection.machine_labels import PLAN_ASSUMES, CorrectedValues, PeopleComparison, SystemEffects, find_unpriced


def draw_agreement(comparison: PeopleComparison) -> None:
    """Draw how far labels agree with people: in all, by grade, by topic and by run."""
    graded = comparison.coefficients[comparison.coefficients["scale"] == "graded"]
    values = dict(zip(graded["coefficient"], graded["value"].tolist(), strict=True))
    widgets.metrics(
        {
            "Pairs with grade and label": f"{comparison.pairs:,}",
            "Observed agreement": percent(comparison.same / comparison.pairs),
            "Cohen's kappa": f"{values['cohen']:.2f}",
            "Krippendorff's alpha (ordinal)": f"{values['alpha-ordinal']:.2f}",
        }
    )
    grades = [f"{grade:g}" for grade in comparison.grades_of_scale]
    matrix = comparison.confusion.set_axis([f"grade {grade}" for grade in grades])
    matrix = matrix.set_axis([f"label {grade}" for grade in grades], axis="columns")
    display.dataframe(matrix, alt="People's grades (rows) and labels (columns)")
    shared = {
        "pairs": number("Pairs"),
        "same": number("Observed agreement", "percent"),
        "bias": number("Bias", "%+.2f", help="Mean of the label minus the grade."),
    }
    tabs = [widgets.words().apply("By topic"), *(["By run"] if len(comparison.runs) else [])]
    by_topic, *by_run = st.tabs(tabs)
    with by_topic:
        topics = comparison.topics.sort_values("disagreement", ascending=False, kind="stable")
        columns = {"query_id": text("Topic"), **shared, "disagreement": number("Share of disagreement", "percent")}
        display.table(topics, columns, most_height=388, alt=widgets.words().apply("Agreement by topic"))
    for tab in by_run:
        with tab:
            runs = comparison.runs.sort_values("bias", ascending=False, kind="stable")
            columns = {"run": text("Run"), **shared}
            display.table(runs, columns, most_height=388, alt="Agreement by run, over the first ten documents")


def draw_plan(plan: pd.DataFrame, measure: str) -> None:
    """Draw how exact values get by the number of human judgements."""
    columns = {
        "judgements": number("Human judgements", "%d"), "share": number("Share of the pool", "percent"),
        **_errors(measure),
    }  # fmt: skip
    display.table(_halves(plan), columns, alt="Expected error by number of human judgements")
    st.caption(widgets.sentence(PLAN_ASSUMES))


def draw_budget(plan: pd.DataFrame, measure: str) -> None:
    """Draw what people alone, each label set and all of them buy for a budget."""
    columns = {
        "option": text("Option"), "judgements": number("Human judgements", "%d"), "hours": number("Hours", "%.1f"),
        "labels": number("Cost of labels", "%.2f"), "money": number("Total cost", "%.2f"), **_errors(measure),
    }  # fmt: skip
    shown = _halves(plan)
    shown["judgements"] = shown["judgements"].where(shown["judgements"] >= 0)
    display.table(shown, columns, alt="Expected error of each option")
    if plan["best"].any():
        best = plan.loc[plan["best"], "option"].iloc[0]
        st.caption(widgets.plain(f"Best for differences between runs: {best}."))
    for note in find_unpriced(plan):
        st.warning(widgets.sentence(note))


def _halves(plan: pd.DataFrame) -> pd.DataFrame:
    return plan.assign(**{name: plan[name] / 2 for name in _errors("")})


def _errors(measure: str) -> "display.Columns":
    """Columns of a plan: half the widths of the intervals."""
    titles = {
        "width": f"{measure}, corrected", "difference_width": "Difference, corrected",
        "combined_width": f"{measure}, combined", "combined_difference_width": "Difference, combined",
    }  # fmt: skip
    return {name: number(title, "± %.3f") for name, title in titles.items()}


def draw_corrected(corrected: CorrectedValues, effects: SystemEffects) -> None:
    """Draw corrected values, and what labels do to conclusions."""
    widgets.metrics(
        {
            "Human judgements": f"{corrected.sampled + corrected.before:,} of {corrected.pairs:,}",
            "Tau, labels and corrected": f"{effects.tau:.2f}",
            "Tau_AP, labels and corrected": f"{effects.tau_ap:.2f}",
        }
    )
    downloadable_chart(
        corrected_chart(corrected.values, corrected.measure),
        "corrected-values",
        f"{corrected.measure} corrected by people's grades of a random sample, with 95% confidence intervals, which do "
        f"not cover the choice of {widgets.words().topics}. Crosses: labels alone.",
        alt=f"Corrected {corrected.measure} of each run",
    )
    shown = corrected.values.sort_values("combined", ascending=False, kind="stable")
    columns = {"run": text("Run")}
    columns |= {
        key: number(label, "%.3f")
        for key, label in {
            "combined": "Combined", "combined_low": "95% CI low, combined", "combined_high": "95% CI high, combined",
            "corrected": "Corrected", "low": "95% CI low, corrected", "high": "95% CI high, corrected",
            "labels": "Labels alone",
        }.items()
    }  # fmt: skip
    display.table(shown, columns, most_height=388, alt=f"Combined and corrected {corrected.measure} of each run")
    st.caption(
        "Corrected values are unbiased. Combined values, which order the runs, shrink the corrections to what labels "
        "and ranks predict: they are more precise, but their intervals hold on average over the runs, not for each run."
    )
    st.markdown("##### Gain by labels")
    display.altair_chart(gains_chart(effects.gains), alt="Gain of each run by labels")
    st.caption(
        "Value by labels minus corrected value, relative to the mean of all runs, with 95% confidence intervals."
    )
    if len(effects.families):
        columns = {"family": text("Family of models"), "runs": number("Runs")}
        columns |= {"gain": number("Gain", "%+.3f")}
        columns |= {each: number(f"95% CI {each}", "%+.3f") for each in ("low", "high")}
        display.table(effects.families, columns, alt="Gain of the runs of each family, relative to the others")
    if len(effects.decisions):
        _draw_decisions(effects)
    downloads.offer_results(
        {
            "corrected-values.tsv": ("Corrected values (TSV)", partial(to_tsv, corrected.values)),
            "corrected-differences.tsv": ("Differences (TSV)", partial(to_tsv, corrected.differences)),
            "label-gains.tsv": ("Gains (TSV)", partial(to_tsv, effects.gains)),
        }
    )


def _draw_decisions(effects: SystemEffects) -> None:
    """Draw for how many pairs of runs the test decides the same by labels and by corrected values."""
    st.markdown("##### Significance of differences")
    decisions = effects.decisions.pivot_table(index="labels", columns="corrected", values="pairs", fill_value=0)
    display.dataframe(decisions.astype(int), alt="Pairs of runs by decision: labels (rows), corrected (columns)")
    st.caption(
        f"Number of pairs of runs, a and b, by the decision of a {effects.test}. Rows: decision by labels; columns: by "
        "corrected values; a is the better run by labels. With few judgements, corrected values of single topics "
        "scatter, and fewer differences are decided."
    )
