"""Files of the Export page besides qrels: choices, preferences, work lists, training data, clicks, machine labels."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number
from annotate.views.widgets.service_cache import cached
from collection.campaign import Campaign
from collection.campaign.exports.work_lists import PAIRS
from collection.campaign.machine_labels.label_files import LABELS_FILE
from collection.core.characters import without_bidi
from collection.core.phrases import count, join
from collection.export import NEGATIVES
from collection.preferences import CHOICE_RULES, PREFERENCE_MEASURES

LABEL_FORMATS = {
    ".txt": "TREC form, as qrels.",
    ".csv": "A row for each pair: label_set, query_id, doc_id, relevance.",
    ".jsonl": "The whole log, for language models with prompts and replies.",
}
"""Ending of a file of machine labels -> what it has."""


def draw_choices(choices: int) -> None:
    """Draw the sparse qrels by a rule, and the log of choices."""
    rules = {entry.name: f"{entry.label}: {entry.description}" for entry in CHOICE_RULES}
    label = "Rule, for topics with several annotators"
    rule = st.selectbox(label, rules, format_func=rules.__getitem__, key="choice-rule")
    sparse = session.current().campaign.results.qrels.from_choices(rule)
    relevant, topics = count(len(sparse), "relevant document"), count(sparse["query_id"].nunique(), "topic")
    st.write(
        f"{relevant} in {topics}, from {count(choices, 'choice')}. Documents that were shown but not chosen are "
        "unjudged, and not in the qrels."
    )
    with st.container(horizontal=True):
        name, key = "sparse.txt", "sparse"
        downloads.draw(
            lambda c, path: c.exports.files.write_decisions(sparse_qrels=path, choice_rule=rule),
            name,
            key,
            None,
            "primary",
        )
        downloads.draw(lambda c, path: c.exports.files.write_decisions(choices=path), "choices.jsonl", "choices")
    st.caption("choices.jsonl is the whole log: each list as shown, and the chosen documents.")


def draw_preferences(preferences: int) -> None:
    """Draw the files of preferences, and the measures of the runs by them."""
    st.write(
        f"{count(preferences, 'preference')} between two documents. Grades made from them order the documents of a "
        "topic, but do not tell whether any is relevant."
    )
    with st.container(horizontal=True):
        for ending in ("jsonl", "csv"):
            name, key = f"preferences.{ending}", f"preferences-{ending}"
            downloads.draw(lambda c, path: c.exports.files.write_decisions(preferences=path), name, key)
        name, key = "preference-qrels.txt", "preference-qrels"
        downloads.draw(lambda c, path: c.exports.files.write_decisions(preference_qrels=path), name, key)
    campaign = session.current().campaign
    if campaign.store.corpus.runs().empty:
        return
    with widgets.shown_errors(about="Preference measures: "):
        values = campaign.results.evaluation.by_preferences()
        hint = "Topics in which the run has a compared document. ppref and wpref are means over these, rpref over all."
        display.table(
            values.means(),
            {
                "run": "System",
                "topics": "Topics",
                "counted": number("Topics counted", help=hint),
                "pairs": "Pairs",
                **{
                    name: number(name, "%.4f", help=f"{label.capitalize()}.")
                    for name, label in PREFERENCE_MEASURES.items()
                },
            },
            alt="Systems by preferences",
        )
        if values.undecided:
            st.caption(f"{count(len(values.undecided), 'topic')} without a preferred document excluded.")


def draw_work_lists() -> None:
    """Draw the choice of an annotator and a number of pairs, and the work list with these pairs."""
    work_lists = session.current().campaign.exports.work_lists
    st.write(
        "A work list contains pairs for an annotator to judge in a spreadsheet. They are reserved for seven days; "
        "import the completed file on the page *Import*, under *Labels and work lists*."
    )
    widgets.documentation_link("how-to/import-files", "How to judge in a spreadsheet")
    who, how_many, form = st.columns(3)
    annotator = who.selectbox("Annotator", work_lists.annotators(), key="work-list-annotator")
    pairs = int(how_many.number_input("Maximum number of pairs", 1, 10_000, PAIRS, key="work-list-pairs"))
    ending = form.segmented_control("Format", [".xlsx", ".csv"], default=".xlsx", required=True, key="work-list-format")
    name = f"work-list-{downloads.file_name(annotator)}{ending}"
    if not st.button("Reserve pairs", type="primary", key="work-list-reserve"):
        return
    written: list[int] = []
    files = downloads.write_files(
        lambda c, path: written.append(c.exports.work_lists.write(annotator, path, pairs)), name
    )
    if written == [0]:
        st.write("No pairs are left for this annotator.")
    elif files:
        st.write(f"{count(written[0], 'pair')} reserved for {widgets.plain(annotator)}.")
        st.download_button(f"Download {name}", files[name], name, on_click="ignore", key="work-list")


def _count_examples(rule: str, negatives: str, each: int) -> dict[str, int]:
    return session.current().campaign.exports.training_data.examples(negatives, count=each, rule=rule).counts


def draw_training(rule: str, counted: bool) -> None:
    """Draw the choice of negatives, the number of triples, and the download; `rule` makes the grades.

    The triples are only made and counted if `counted`, since those of half a million judgements take seconds.
    """
    campaign, words = session.current().campaign, widgets.words()
    st.write(words.apply("Triples of ids to train a ranker: topic, relevant document, negative document."))
    widgets.documentation_link("how-to/export-training-data", "How to choose negatives")
    has_runs = campaign.store.judgements.counts()["runs"] > 0
    rules = [entry.name for entry in NEGATIVES if has_runs or "first" not in entry.parameters]  # others need ranks
    left, right = st.columns([3, 1])
    negatives = left.selectbox("Negatives", rules, format_func=lambda n: NEGATIVES[n].label, key="negatives")
    each = int(right.number_input(words.apply("Negatives per relevant document"), 1, 1000, 1, key="negatives-each"))
    st.caption(widgets.plain(words.apply(NEGATIVES[negatives].description)))
    if counted:
        key = (
            campaign.results.evaluation.cache_key(),
            *campaign.store.topic_tasks.counts().values(),
            campaign.settings.loop().level,
        )
        with widgets.shown_errors(about="triples.tsv: "):
            _draw_counts(cached(_count_examples, key, "Counting examples")(rule, negatives, each), each)
    downloads.draw_deferred(
        lambda c, path: c.exports.training_data.export(triples=path, negatives=negatives, count=each, rule=rule),
        "triples.tsv",
        "triples",
    )
    st.caption("`cleverdon export DIR --triples FILE` or `--tuples FILE` also exports texts, and has more options.")


def _draw_counts(counts: dict[str, int], each: int) -> None:
    positives, words = f"{counts['positives']:,}", widgets.words()
    used = words.apply(f"{counts['positives_used']:,} of {positives} relevant documents")
    st.write(f"**{count(counts['examples'], 'triple')} for {used}.**")
    if counts["topics_short"]:
        lack = "no negative" if each == 1 else f"fewer than {each:,} negatives"
        topics = f"{counts['topics_short']:,} of {counts['topics']:,} topics"
        short = f"{counts['positives_short']:,} of {positives} relevant documents have {lack} (in {topics})."
        st.warning(words.apply(short))


def draw_clicks(sources: pd.DataFrame) -> None:
    """Draw the download of the table of clicks; `sources` are the imported logs."""
    logs = join(map(widgets.plain, sources["source"]))
    st.write(
        f"{count(int(sources['rows'].sum()), 'row')} from {logs}. The table has, for each topic and document, the "
        "times shown, the times clicked and the attractiveness: the probability of a click once it is looked at."
    )
    st.caption("Clicks are not judgements: they are not in the qrels.")
    widgets.documentation_link("how-to/judge-with-clicks", "How clicks are used")
    downloads.draw_deferred(lambda opened, path: opened.corpus.clicks.export(table=path), "clicks.tsv", "clicks")


def draw_machine_labels(label_sets: Sequence[str], checked: bool) -> None:
    """Draw the choice of a label set and a format, the warnings, and the downloads of the labels and their report.

    The warnings are only looked for if `checked`, since they compare the labels with people's grades.
    """
    campaign = session.current().campaign
    st.write("Labels by language models, rules or clicks. They are not judgements, and not in the qrels.")
    left, right = st.columns(2)
    label_set = left.selectbox("Label set", label_sets, format_func=without_bidi, key="machine-labels-set")
    format_key = "machine-labels-format"
    ending = right.segmented_control("Format", LABEL_FORMATS, default=".txt", required=True, key=format_key)
    st.caption(LABEL_FORMATS[ending])
    if checked:
        warnings = cached(
            campaign.machine_labels.study.warnings, campaign.machine_labels.study.cache_key(), "Checking labels"
        )
        for sentence in warnings(label_set):
            st.warning(widgets.plain(sentence))
    name = f"labels-{downloads.file_name(label_set)}{ending}"

    def write(campaign: Campaign, path: Path) -> None:
        campaign.machine_labels.files.export(label_set, path.with_name(name))

    with st.container(horizontal=True):
        downloads.draw_deferred(write, name, "machine-labels", kind="primary")
        downloads.draw_deferred(write, f"{name}{LABELS_FILE}", "machine-labels-report")
    st.caption(
        "The second file records what made the labels, with the warnings. "
        "`cleverdon export DIR --qrels FILE --fill-with NAME` adds labels to qrels."
    )
    widgets.documentation_link("how-to/label-by-rules", "How to export labels")
