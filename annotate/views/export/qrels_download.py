"""The grades that a rule makes of the judgements, and the qrels in the chosen format."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, pickers, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.service_cache import cached
from collection.adjudication import Adjudicated, describe_origin
from collection.campaign import Campaign
from collection.campaign.exports.export import qrels_name
from collection.campaign.results.evaluation import RuleComparison
from collection.campaign.results.qrels import QrelsBuilder
from collection.comparison import DEFAULT_MEASURES
from collection.core.phrases import count, join, plural
from collection.export import selection_caution
from collection.formats import QrelsForm

FORMS: dict[QrelsForm, str] = {
    "judged": "Grades",
    "strata": "Grades and strata",
    "probabilities": "Grades and probabilities",
}


SelectedQuestion = tuple[str | None, str | None]
"""A question and its answer, as :meth:`.QrelsBuilder.for_question` takes them."""


def describe(grades: pd.DataFrame, only_finished: bool, qrels: QrelsBuilder) -> str:
    """Describe in a sentence how many pairs, maybe only of finished topics, have a grade, and how many are relevant."""
    campaign, words = session.current().campaign, widgets.words()
    level = qrels.level
    relevant = int((grades["relevance"] >= level).sum())
    graded, topics = grades["query_id"].nunique(), count(len(campaign.store.corpus.topics()), words.topic, words.topics)
    judged = words.apply(count(graded, "finished topic")) if only_finished else f"{graded:,} of {topics}"
    have, are = plural(len(grades), "has", "have"), plural(relevant, "is", "are")
    pairs = f"{count(len(grades), 'pair')} in {judged} {have}"
    if qrels.question is not None:
        question, answer = qrels.question.question, qrels.question.answer
        wanted = f"grade {level:g} or more" if answer is None else f"\u201c{qrels.question.label(answer)}\u201d"
        return f"{question.name}: {pairs} an answer; {relevant:,} {plural(relevant, 'has', 'have')} {wanted}."
    pairs = f"{pairs} a grade"
    return f"{pairs}; {relevant:,} {are} {words.relevant} (grade {level:g} or more)."


def draw(
    result: Adjudicated, rule: str, topics: Sequence[str] | None, annotators: Sequence[str], selected: SelectedQuestion
) -> None:
    """Draw the result of `rule` for these topics (of :meth:`.QrelsBuilder.coded`), downloads, and another rule."""
    campaign, grades = session.current().campaign, result.grades
    several = campaign.results.agreement.disagreements()
    if several.pairs and selected == (None, None):
        pairs = count(several.pairs, "pair")
        everywhere = "" if topics is None else f" (all {widgets.words().topics})"
        st.write(
            f"Annotators differ on {several.differ:,} of {pairs} with several judgements{everywhere}. The rule decides "
            "these."
        )
        if several.differ and session.current().role == "manager":
            widgets.page_link("adjudicate", "Adjudicate disagreements")
    if sentence := result.caution:
        st.warning(widgets.plain(f"{sentence}."))
    logged = campaign.store.judgements.counts()["logged"]
    decisive = cached(campaign.results.qrels.count_decisive_pairs, logged)(topics=topics)
    if sentence := selection_caution(decisive):
        st.info(widgets.plain_with_commands(f"{sentence}."))
    _draw_downloads(rule, topics, selected)
    by_grade = grades["relevance"].value_counts().sort_index()
    st.caption(
        f"Pairs by grade: {', '.join(f'{n:,} with {g:g}' for g, n in by_grade.items())}. The second file records the "
        "adjudication rule, for which TREC qrels have no field."
    )
    if several.pairs:
        with st.expander("How each grade was decided"):
            origins = grades["by"].astype("str").value_counts().rename_axis("how").reset_index(name="pairs")
            columns = {"how": text("Origin", 110), "pairs": number("Pairs", width="small")}
            meaning = origins["how"].map(describe_origin)
            display.table(origins.assign(means=meaning), {**columns, "means": text("Meaning", "large")})
    with st.expander("First 20 qrels"):
        shown = {"query_id": "Topic", "doc_id": "Document", "relevance": "Grade", "by": "Origin"}
        display.table(campaign.results.qrels.with_ids(grades.head(20)), shown)
    if several.pairs and st.toggle("Compare with another rule", key="compare"):
        _compare_rules(rule, annotators, selected)


def _draw_downloads(rule: str, topics: Sequence[str] | None, selected: SelectedQuestion) -> None:
    campaign, name = session.current().campaign, qrels_name(*selected)
    builder = campaign.results.qrels.for_question(*selected)
    forms = builder.forms()
    form = forms[0]
    if len(forms) > 1:
        form = st.radio("Qrels format", forms, format_func=FORMS.__getitem__, horizontal=True, key="form")
        st.caption("The pool is a random sample: xinfAP and infNDCG need its strata or probabilities.")
    unjudged = form == "strata" or (
        campaign.store.judgements.counts()["pool"] > 0
        and st.toggle("Include unjudged pairs of the pool (grade -1)", key="unjudged")
    )
    with widgets.shown_errors(about="qrels.txt: "):
        left_out = builder.unjudged_topics(form, rule=rule) if unjudged and topics is None else []
        label = f"Include {widgets.words().topics} without a grade ({len(left_out):,})"
        hint = f"Every system scores 0 in these {widgets.words().topics}, which lowers all means."
        unjudged_topics = bool(left_out) and st.toggle(label, help=hint, key="unjudged-topics")
        if form != "judged":  # a pool can have samples of which no such qrels can be made
            counts = campaign.store.judgements.counts()
            cache_key = (counts["logged"], counts["pool"], repr(builder.question))
            cached(builder.in_form, cache_key, entries=1)(form, rule=rule, topics=topics, unjudged=unjudged)

        def write(campaign: Campaign, path: Path) -> None:
            campaign.exports.files.write(
                qrels=path.with_name(name),
                rule=rule,
                qrels_form=form,
                unjudged=unjudged,
                include_unjudged_topics=unjudged_topics,
                topics=topics,
                question=selected[0],
                answer=selected[1],
            )

        with st.container(horizontal=True):
            downloads.draw_deferred(write, name, "qrels", kind="primary")
            downloads.draw_deferred(write, f"{name}.rule.json", "rule-file")


def _compare_rules(rule: str, annotators: Sequence[str], selected: SelectedQuestion) -> None:
    campaign = session.current().campaign
    evaluation = campaign.results.evaluation.for_question(*selected)
    left, right = st.columns([3, 2])
    with left:
        other = pickers.pick_rule(annotators, "Second adjudication rule", key="other", usual="highest")
    measure = None
    if campaign.store.judgements.counts()["runs"]:
        measure = right.selectbox("Measure for ranking systems", DEFAULT_MEASURES, accept_new_options=True)
    compare = cached(evaluation.compare_rules, evaluation.cache_key(), "Comparing rules")
    with widgets.shown_errors():
        _draw_comparison(compare(rule, other, measure))


def _draw_comparison(result: RuleComparison) -> None:
    for sentence in result.cautions:
        st.warning(widgets.plain(f"{sentence}."))
    grades = result.grades
    st.write(f"The two rules differ on **{grades.differ:,}** of {count(grades.pairs, 'pair')} that both grade.")
    for name, pairs in ((result.first, grades.only_first), (result.second, grades.only_second)):
        if pairs:
            st.write(f"Only {widgets.plain(name)} grades {count(pairs, 'pair')}.")
    if grades.differ:
        table = grades.confusion.rename(index=lambda g: f"{g:g}", columns=lambda g: f"{g:g}")
        display.dataframe(table.rename_axis("First rule"), width="content")
        st.caption("Pairs by grade: rows for the first rule, columns for the second.")
    if result.places is None:
        return
    moved = result.places.moved
    tau = "" if pd.isna(result.places.tau) else f" Kendall's tau between the two rankings is {result.places.tau:.3f}."
    verb = plural(len(moved), "changes", "change")
    changes = f"**{len(moved)}** of {count(len(result.places.table), 'system')} {verb} rank: "
    st.write((f"{changes}{join(map(widgets.plain, moved))}." if moved else "No system changes rank.") + tau)
    values = {which: number(f"{result.measure}, {which} rule", "%.4f") for which in ("first", "second")}
    places = {"first_place": "Rank, first rule", "second_place": "Rank, second rule"}
    display.table(result.places.table, {"run": "System", **values, **places})
