"""Export: qrels, the whole collection, judgements, labels, pool, topics, work lists, training data, missing texts."""

import streamlit as st

from annotate.auth import session
from annotate.views.export import collection_download, data_downloads, qrels_download
from annotate.views.widgets import downloads, pickers, widgets
from collection.adjudication import Adjudicated
from collection.campaign.settings.loop_settings import EVERYWHERE
from collection.core.errors import CleverdonError
from collection.core.phrases import count, join

TOPIC_FILES = {
    "jsonl": "All fields, for an import into Cleverdon.",
    "xml": "TREC's XML: texts, numbers, lists of these, and lists of objects such as subtopics.",
    "txt": "TREC's SGML: number, title, description and narrative.",
}
"""Ending of a file of topics -> its content."""

campaign, words = session.current().campaign, widgets.words()


def contents_of_answers() -> str:
    """Describe in a sentence what the collection of a campaign with answers alone contains."""
    answers, nuggets = campaign.store.answers.count(), len(campaign.answers.nuggets.current())
    judged = sum(task["judged"] for task in campaign.answers.tasks.progress())
    parts = [count(answers, "generated answer"), count(nuggets, "nugget")]
    return f"The collection has {join([*parts, *([count(judged, 'judged pair')] if judged else [])])}."


counts = campaign.store.judgements.counts() | campaign.store.topic_tasks.counts()
clicks, missing = campaign.store.corpus.click_sources(), campaign.store.corpus.missing_documents()
label_sets = [label_set.name for label_set in campaign.store.machine_labels.sets()]
# A work list reserves pairs, which readers may not do.
can_reserve = session.current().role == "manager" and campaign.settings.judging_page().task == "grades"
is_everywhere = campaign.settings.loop().mode in EVERYWHERE  # such a loop needs no pool
st.title("Export")
has_answers = campaign.store.answers.exist()
if not (has_answers or counts["pool"] or counts["judgements"] or len(clicks) or (can_reserve and is_everywhere)):
    widgets.stop_with_next_step("There is nothing to export yet: no pool, no judgements, no clicks.")

answer = st.empty()
answers_alone = has_answers and not (counts["judgements"] or counts["pool"])
sections = ({"Collection": True} if answers_alone else {}) | {
    "Lists": counts["choices"],
    "Preferences": counts["preferences"],
    "Qrels": True,
    "Collection": counts["judgements"] or counts["choices"] or counts["preferences"] or has_answers,
    "Judgements": True,
    "Pool": counts["pool"],
    "Topics": counts["topics"],
    "Work lists": can_reserve,
    "Training data": True,
    "Clicks": len(clicks),
    "Machine labels": len(label_sets),
    "Missing texts": len(missing),
}
names = [name for name, is_shown in sections.items() if is_shown]
labels = [words.apply(name) if name == "Topics" else name for name in names]
tabs = dict(zip(names, st.tabs(labels, on_change="rerun", key="section"), strict=True))
adjudicated: Adjudicated | None = None
with tabs["Qrels"]:
    annotators = campaign.results.overview.annotators()["annotator"].tolist()
    selected = pickers.pick_question()
    qrels = campaign.results.qrels.for_question(*selected)
    rule = pickers.pick_rule(annotators, key="rule")
    topics: tuple[str, ...] | None = None
    try:
        topics = pickers.pick_finished_topics(rule)
        adjudicated = qrels.coded(rule, topics=topics)
    except CleverdonError as error:  # the chosen annotator gave no grade
        st.error(widgets.plain(str(error)))
    if adjudicated is None or adjudicated.grades.empty:
        none = words.apply(f"No pair has a grade {'by this rule' if counts['judgements'] else 'yet'}.")
        answer.markdown(f"#### {contents_of_answers() if answers_alone else none}")
        if answers_alone:
            st.write(none)
        widgets.page_link("judge", words.apply("Judge documents"))
    else:
        answer.markdown(f"#### {widgets.plain(qrels_download.describe(adjudicated.grades, topics is not None, qrels))}")
        qrels_download.draw(adjudicated, rule, topics, annotators, selected)
if "Lists" in tabs:
    with tabs["Lists"]:
        data_downloads.draw_choices(counts["choices"])
if "Preferences" in tabs:
    with tabs["Preferences"]:
        data_downloads.draw_preferences(counts["preferences"])
if "Collection" in tabs:
    with tabs["Collection"]:
        collection_download.draw(rule, topics)
with tabs["Judgements"]:
    answers = " and answers" if campaign.settings.questions() else ""
    st.write(
        f"{count(counts['logged'], 'log entry', 'log entries')}, each with annotator, pair, grade{answers}, time, "
        "duration, how the pair was chosen, and the entry that it revises."
    )
    if counts["logged"]:
        with st.container(horizontal=True):
            for ending in ("jsonl", "csv", "parquet"):
                downloads.draw_deferred(
                    lambda c, path: c.exports.files.write(judgements=path), f"judgements.{ending}", ending
                )
        with st.container(horizontal=True):
            hint = "Current grade of each annotator and pair: annotator, query_id, doc_id, relevance."
            downloads.draw_deferred(lambda c, path: c.exports.files.write(labels=path), "labels.csv", "labels", hint)
            hint = "Passages that annotators marked, one per line, with their text."
            downloads.draw_deferred(
                lambda c, path: c.exports.files.write(passages=path), "passages.jsonl", "passages", hint
            )
if "Pool" in tabs:
    with tabs["Pool"]:
        st.write(f"{count(counts['pool'], 'pair')}, each with its pooling strategy and rank.")
        downloads.draw_deferred(lambda c, path: c.exports.files.write(pool=path), "pool.tsv", "pool")
if "Topics" in tabs:
    with tabs["Topics"]:
        st.write(f"{count(counts['topics'], words.topic, words.topics)}.")
        with st.container(horizontal=True):
            for ending, hint in TOPIC_FILES.items():
                name, key = f"topics.{ending}", f"topics-{ending}"
                downloads.draw_deferred(lambda c, path: c.exports.files.write(topic_file=path), name, key, hint)
if can_reserve:
    with tabs["Work lists"]:
        data_downloads.draw_work_lists()
with tabs["Training data"]:
    if campaign.settings.judging_page().task == "list":
        has_positives = not campaign.results.qrels.from_choices().empty
    else:
        level = campaign.settings.loop().level
        has_positives = adjudicated is not None and bool(
            (campaign.results.qrels.coded(rule).grades["relevance"] >= level).any()
        )
    if has_positives:
        data_downloads.draw_training(rule, counted=bool(tabs["Training data"].open))
    else:
        st.write(words.apply("Training data needs judged relevant documents, and there are none yet."))
if "Clicks" in tabs:
    with tabs["Clicks"]:
        data_downloads.draw_clicks(clicks)
if "Machine labels" in tabs:
    with tabs["Machine labels"]:
        data_downloads.draw_machine_labels(label_sets, checked=bool(tabs["Machine labels"].open))
if "Missing texts" in tabs:
    with tabs["Missing texts"]:
        st.write(
            words.apply(
                f"{count(len(missing), 'pooled document')} without a text: fetch them from the corpus and import them."
            )
        )
        downloads.draw_deferred(lambda c, path: c.exports.files.write(missing_documents=path), "missing.txt", "missing")
        widgets.page_link("import")
