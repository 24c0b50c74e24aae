"""Machine labels: what labels by a model, a rule or clicks are worth beside people's grades, and what they change."""

from functools import partial

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts.download import downloadable_chart
from annotate.elements import display, downloads, widgets
from annotate.elements.columns import number, text
from annotate.elements.service_cache import cached
from collection.charts.machine_labels import corrected_chart, gains_chart
from collection.errors import InputError
from collection.formats import to_tsv
from collection.machine_labels import PeopleComparison
from collection.phrases import count, percent

campaign = session.current().campaign
study = campaign.label_study
MEASURES = ("nDCG@10", "P@10", "DCG@10", "nDCG@20")
KINDS = {"llm": "language model", "rule": "rule", "clicks": "clicks"}

st.title("Machine labels")
sets = {each.name: each for each in campaign.machine_labels.sets()}
if not sets:
    widgets.stop_with_next_step(
        "This campaign has no labels by machines: `cleverdon llm` asks a model, `cleverdon label` applies a rule."
    )

left, right = st.columns(2)
name = left.selectbox("Label set", sets, format_func=widgets.plain, key="label_set")
measure = right.selectbox("Measure", MEASURES, key="label_measure")
made = sets[name]
about = f"By {KINDS[made.kind]}"
if model := made.settings.get("model"):
    about += f" {widgets.plain(str(model))}"
st.caption(f"{about}, {made.made_at[:10]}. These labels are never part of judgements, agreement, progress or qrels.")
if made.kind == "llm":
    described = next(each for each in campaign.llm.sets() if each.name == name)
    st.caption(
        f"{described.labelled:,} labelled, {described.no_grade:,} replies without a grade, {described.failed:,} "
        f"failed; {described.prompt_tokens + described.reply_tokens:,} tokens, cost {described.cost:,.2f}. "
        + (widgets.plain(described.probe.summary) if described.probe else "Not probed for injected requests.")
    )
key = study.cache_key()

with widgets.shown_errors():
    for caution in cached(campaign.machine_labels.warnings, key, "Reading labels")(name):
        st.warning(widgets.sentence(caution))

    st.subheader("Agreement with people")
    compared: PeopleComparison | None = None
    try:
        compared = cached(study.compare, key, "Comparing labels")(name)
    except InputError as error:
        st.info(widgets.sentence(str(error)))
    if compared is not None:
        graded = compared.coefficients[compared.coefficients["scale"] == "graded"]
        values = dict(zip(graded["coefficient"], graded["value"].tolist(), strict=True))
        widgets.metrics(
            {
                "Pairs with both": f"{compared.pairs:,}",
                "Same grade": percent(compared.same / compared.pairs),
                "Cohen's kappa": f"{values['cohen']:.2f}",
                "Krippendorff's alpha (ordinal)": f"{values['alpha-ordinal']:.2f}",
            }
        )
        grades = [f"{grade:g}" for grade in compared.grades_of_scale]
        matrix = compared.confusion.set_axis([f"people: {grade}" for grade in grades])
        matrix = matrix.set_axis([f"label: {grade}" for grade in grades], axis="columns")
        display.dataframe(matrix, alt="People's grades (rows) and labels (columns)")
        share, bias = number("Same grade", "percent"), number("Bias", "%+.2f", help="Mean of label minus grade.")
        by_topic, by_run = st.tabs(["By topic", "By run"])
        with by_topic:
            topics = compared.topics.sort_values("disagreement", ascending=False, kind="stable")
            columns = {"query_id": text("Topic"), "pairs": number("Pairs"), "same": share, "bias": bias,
                       "disagreement": number("Of the disagreement", "percent")}  # fmt: skip
            display.table(topics, columns, most_height=388, alt="Agreement by topic")
        with by_run:
            runs = compared.runs.sort_values("bias", ascending=False, kind="stable")
            display.table(
                runs, {"run": text("Run"), "pairs": number("Pairs"), "same": share, "bias": bias},
                most_height=388, alt="Agreement by run, over the first ten documents",
            )  # fmt: skip

    st.subheader("Human judgements")
    progress = cached(study.progress, key)(name)
    if progress.asked:
        st.write(
            f"{progress.judged:,} of {count(progress.asked, 'pair')} of the random sample judged without a gap; "
            f"the pool has {progress.pairs:,}."
        )
    plan = cached(study.plan, key, "Planning")(name, measure)
    shown = plan.assign(value=plan["width"] / 2, difference=plan["difference_width"] / 2)
    columns = {
        "judgements": number("Human judgements", "%d"),
        "share": number("Of the pool", "percent"),
        "value": number(f"{measure} of a run", "± %.3f"),
        "difference": number("Difference of two runs", "± %.3f"),
    }
    display.table(shown, columns, alt="Expected error by number of human judgements")
    st.caption(
        "95% intervals as expected before anybody judges, from labels as good as those of the judges of LLMJudge 2024."
    )
    if session.current().role == "manager":
        with st.form("ask", border=False):
            least = min(20, progress.pairs)
            suggested = min(max(progress.asked, int(plan["judgements"].iloc[0])), progress.pairs)
            judgements = st.number_input(
                "Pairs that people judge", least, max(progress.pairs, least), max(suggested, least), key="ask_number",
                help="A random sample of the pool. People are asked for these pairs and no others; more continue it.",
            )  # fmt: skip
            if st.form_submit_button("Ask people for this sample"):
                study.ask_people(name, int(judgements), measure)
                st.rerun()

    st.subheader("Corrected values")
    try:
        found = cached(study.correct, key, "Correcting values")(name, measure)
    except InputError as error:
        st.info(widgets.sentence(str(error)))
        st.stop()
    effects = cached(study.effects, key, "Comparing systems")(name, found)
    widgets.metrics(
        {
            "Human judgements": f"{found.sampled + found.before:,} of {found.pairs:,}",
            "Tau of the order by labels": f"{effects.tau:.2f}",
            "Tau_AP": f"{effects.tau_ap:.2f}",
        }
    )
    downloadable_chart(
        corrected_chart(found.values, measure),
        "corrected-values",
        f"{measure} corrected by people's grades of a random sample, with 95% intervals; they do not cover the choice "
        "of topics. Crosses: labels alone.",
        alt=f"Corrected {measure} of each run",
    )
    st.markdown("##### What labels give to each run")
    display.altair_chart(gains_chart(effects.gains), alt="Gain of each run by labels")
    st.caption("Value by labels minus corrected value, beside the mean of all runs, with 95% intervals.")
    if len(effects.families):
        columns = {"family": text("Family of models"), "runs": number("Runs")}
        columns |= {each: number(each.capitalize(), "%+.3f") for each in ("gain", "low", "high")}
        display.table(effects.families, columns, alt="Gain of the runs of each family beside the others")
    st.markdown("##### Significance of differences")
    decisions = effects.decisions.pivot_table(index="labels", columns="corrected", values="pairs", fill_value=0)
    display.dataframe(decisions.astype(int), alt="Pairs of runs by decision: labels (rows), corrected (columns)")
    st.caption("Pairs of runs by a paired t-test over topics with Holm's correction; A is the better run by labels.")
    widgets.documentation_link("tutorials/language-model-judgements", "How to use language models as judges")
    downloads.offer_results(
        {
            "corrected-values.tsv": ("Corrected values (TSV)", partial(to_tsv, found.values)),
            "corrected-differences.tsv": ("Differences (TSV)", partial(to_tsv, found.differences)),
            "label-gains.tsv": ("Gains (TSV)", partial(to_tsv, pd.DataFrame(effects.gains))),
        }
    )
