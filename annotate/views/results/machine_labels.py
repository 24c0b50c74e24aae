"""Machine labels: labels by a model, a rule or clicks compared with people's grades, and what they change."""

import streamlit as st

from annotate.auth import session
from annotate.views.results import label_tables
from annotate.views.widgets import widgets
from annotate.views.widgets.service_cache import cached
from collection.campaign.machine_labels.label_sets import KINDS
from collection.core.characters import without_bidi
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count
from collection.machine_labels import PeopleComparison

campaign = session.current().campaign
study = campaign.machine_labels.study
MEASURES = ("nDCG@10", "P@10", "DCG@10", "nDCG@20")

st.title("Machine labels")
sets = {each.name: each for each in campaign.store.machine_labels.sets()}
if not sets:
    widgets.stop_with_next_step(
        "This campaign has no machine labels yet. Create them by a language model with `cleverdon labels llm`, or by "
        "a rule with `cleverdon labels rule`."
    )

left, right = st.columns(2)
name = left.selectbox("Label set", sets, format_func=without_bidi, key="label_set")
measures = list(dict.fromkeys([str(study.main_measure()), *MEASURES]))
measure = right.selectbox("Measure", measures, key="label_measure", accept_new_options=True)
label_set = sets[name]
about = KINDS[label_set.kind]
if model := label_set.settings.get("model"):
    about += f" ({widgets.plain(str(model))})"
st.caption(
    f"{about}, {label_set.made_at[:10]}. They never count as judgements: agreement, progress and default qrels exclude "
    "them."
)
if label_set.kind == "llm":
    described = campaign.machine_labels.llm.label_sets.summary(label_set)
    st.caption(
        f"{described.graded:,} graded, {described.no_grade:,} replies without a grade, {described.failed:,} "
        f"failed; {described.prompt_tokens + described.reply_tokens:,} tokens, cost {described.cost:,.2f}. "
        + (widgets.plain(described.probe.summary) if described.probe else "Not tested against injected instructions.")
    )
key = study.cache_key()

with widgets.shown_errors():
    for caution in cached(campaign.machine_labels.study.warnings, key, "Reading labels")(name, measure):
        st.warning(widgets.sentence(caution))

    st.subheader("Agreement with people")
    compared: PeopleComparison | None = None
    try:
        compared = cached(study.compare, key, "Comparing labels")(name)
    except InputError as error:
        st.info(widgets.sentence(str(error)))
    if compared is not None:
        label_tables.draw_agreement(compared)

    st.subheader("Human judgements")
    progress = cached(study.progress, key)(name)
    if progress.asked:
        sampled = count(progress.asked, "sampled pair")
        st.write(f"{progress.judged:,} of {sampled} judged; the pool has {count(progress.pairs, 'pair')}.")
    plan = cached(study.plan, key, "Planning")(name, measure)
    label_tables.draw_plan(plan, measure)
    if session.current().role == "manager":
        with st.form("ask", border=False):
            least = min(20, progress.pairs)
            suggested = min(max(progress.asked, int(plan["judgements"].iloc[0])), progress.pairs)
            judgements = st.number_input(
                "Pairs for people to judge", least, max(progress.pairs, least), max(suggested, least), key="ask_number",
                help="Random sample of the pool. People judge only these pairs. A larger number extends the sample.",
            )  # fmt: skip
            if st.form_submit_button("Request judgements"):
                study.ask_people(name, int(judgements), measure)
                st.rerun()
        if progress.asked and st.button("Request the whole pool again"):
            study.ask_for_pool()
            st.rerun()

    st.subheader("Corrected values")
    try:
        corrected = cached(study.correct, key, "Correcting values")(name, measure)
    except (InputError, CampaignError) as error:
        st.info(widgets.sentence(str(error)))
        st.stop()
    effects = cached(study.effects, key, "Comparing systems")(name, corrected)
    label_tables.draw_corrected(corrected, effects)
    widgets.documentation_link("tutorials/language-model-judgements", "How to use language models as judges")
