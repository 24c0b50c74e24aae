"""The grades that a rule makes of the judgements, and the qrels in the chosen form."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import display, downloads, pickers, widgets
from annotate.elements.columns import number, text
from annotate.elements.service_cache import cached
from collection.adjudication import Adjudicated, describe_origin
from collection.campaign.evaluation import RuleComparison
from collection.comparison import DEFAULT_MEASURES
from collection.formats import QrelsForm

FORMS: dict[QrelsForm, str] = {
    "judged": "one grade a pair",
    "strata": "with strata",
    "probabilities": "with probabilities",
}


def draw(found: Adjudicated, rule: str, annotators: Sequence[str]) -> None:
    """Draw the result of `rule` (`found`), the downloads, and the comparison with another rule."""
    campaign, grades = session.current().campaign, found.grades
    several = campaign.agreement.disagreements()
    if several.pairs:
        differ = f"they differ on {several.differ:,} of them, where the rule decides."
        st.write(f"{several.pairs:,} pairs were graded by several annotators; {differ}")
        if several.differ and session.current().role == "manager":
            widgets.page_link("adjudicate.py", "Look at the disagreements")
    by_grade = grades["relevance"].value_counts().sort_index()
    counts = ", ".join(f"{n:,} of grade {g:g}" for g, n in by_grade.items())
    topics = f"{grades['query_id'].nunique():,} of {len(campaign.corpus.topics()):,} topics"
    st.write(f"{len(grades):,} pairs in {topics}: {counts}.")
    if several.pairs:
        origins = grades["by"].value_counts().rename_axis("how").reset_index(name="pairs")
        columns = {"how": text("How it came about", 110), "pairs": number("Pairs", width="small")}
        meaning = origins["how"].map(describe_origin)
        display.table(origins.assign(means=meaning), {**columns, "means": text("That is", "large")})
    if sentence := found.caution:
        st.warning(widgets.plain(f"{sentence}."))
    _draw_downloads(rule)
    st.caption("The second file says which rule made the first, of whose judgements. TREC qrels have no place for it.")
    with st.expander("The first lines"):
        display.dataframe(grades.head(20), hide_index=True)
    if several.pairs and st.toggle("Compare with another rule", key="compare"):
        _compare_rules(rule, annotators)


def _draw_downloads(rule: str) -> None:
    campaign = session.current().campaign
    forms = campaign.qrels.forms()
    form = forms[0]
    if len(forms) > 1:
        form = st.radio("Form", forms, format_func=FORMS.__getitem__, horizontal=True, key="form")
        st.caption("The pool was sampled: by strata or probabilities xinfAP and infNDCG estimate what was left out.")
    unjudged = form == "strata" or (
        campaign.progress.counts()["pool"] > 0
        and st.toggle("Also the pairs of the pool without a grade, as -1", key="unjudged")
    )
    with widgets.shown_errors(about="qrels.txt: "):
        left_out = campaign.qrels.unjudged_topics(form, rule=rule) if unjudged else []
        label = f"Also the topics without a grade ({len(left_out):,}; left out otherwise)"
        hint = "Every system has 0 in them, which lowers all means."
        unjudged_topics = bool(left_out) and st.toggle(label, help=hint, key="unjudged-topics")
        files = downloads.write_files(
            lambda campaign, path: campaign.export.files(
                qrels=path, rule=rule, qrels_form=form, unjudged=unjudged, include_unjudged_topics=unjudged_topics
            ),
            "qrels.txt",
        )
        if files:
            with st.container(horizontal=True):
                st.download_button("Download qrels.txt", files["qrels.txt"], "qrels.txt", type="primary", key="qrels")
                name = "qrels.txt.rule.json"
                st.download_button(f"Download {name}", files[name], name, key="rule-file")


def _compare_rules(rule: str, annotators: Sequence[str]) -> None:
    campaign = session.current().campaign
    left, right = st.columns([3, 2])
    with left:
        other = pickers.pick_rule("Compare with", annotators, key="other", usual="highest")
    runs = campaign.corpus.run_table()
    measure = right.selectbox("Systems by", DEFAULT_MEASURES, accept_new_options=True) if len(runs) else None
    rests_on = (campaign.progress.counts()["logged"], ",".join(runs["run"] + runs["sha256"]))
    with widgets.shown_errors():
        _draw_comparison(cached(campaign.evaluation.compare_rules, rests_on, "Comparing")(rule, other, measure))


def _draw_comparison(found: RuleComparison) -> None:
    for sentence in found.cautions:
        st.warning(widgets.plain(f"{sentence}."))
    grades = found.grades
    st.write(f"Of {grades.pairs:,} pairs that have a grade by both, it differs on **{grades.differ:,}**.")
    for name, pairs in ((found.first, grades.only_first), (found.second, grades.only_second)):
        if pairs:
            st.write(f"{pairs:,} pairs have a grade only by {widgets.plain(name)}.")
    if grades.differ:
        table = grades.confusion.rename(index=lambda g: f"{g:g}", columns=lambda g: f"{g:g}")
        display.dataframe(table.rename_axis("by the first"), width="content")
        st.caption("Pairs by grade: rows by the first rule, columns by the second.")
    if found.places is None:
        return
    moved = found.places.moved
    tau = "" if pd.isna(found.places.tau) else f" Kendall's tau between the two orders is {found.places.tau:.3f}."
    names = ", ".join(map(widgets.plain, moved))
    changes = f"**{len(moved)}** of {len(found.places.table)} systems change place: {names}."
    st.write((changes if moved else "No system changes place.") + tau)
    values = {"first": number(f"{found.places.measure}, first", "%.4f"), "second": number("second", "%.4f")}
    places = {"first_place": "Place, first", "second_place": "second"}
    display.table(found.places.table, {"run": "System", **values, **places})
