"""Export: qrels, the judgement log, the pool, the ids whose text is wanted, and a whole collection."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import collection_download, drawing, rule_picker, widgets
from collection.adjudication import Adjudicated, origin
from collection.campaign import Campaign
from collection.campaign.evaluation import RuleComparison
from collection.comparison import DEFAULT_MEASURES
from collection.errors import CleverdonError
from collection.export.training_examples import NEGATIVES
from collection.formats import QrelsForm
from collection.preferences import MEASURES
from collection.preferences.choices import CHOICE_RULES

Content = TypeVar("Content")

FORMS: dict[Any, str] = {"judged": "one grade a pair", "strata": "with strata", "probabilities": "with probabilities"}

# What comes of decisions on whole topics.
DECISIONS = ("choices", "preferences", "preference_qrels")

campaign = session.current().campaign
counts = campaign.progress.counts() | campaign.topic_tasks.counts()
click_logs = campaign.clicks.sources()

st.title("Export")
if not counts["pool"] and not counts["judgements"] and click_logs.empty:
    st.write("There is nothing to export yet.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()


def file(kind: str, name: str) -> bytes:
    """The bytes that `cleverdon export` would write."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / name
        wanted: dict[str, Any] = {kind: path}
        (campaign.export.decisions if kind in DECISIONS else campaign.export.files)(**wanted)
        return path.read_bytes()


def written(name: str, write: Callable[[], Content]) -> Content | None:
    """What `write` makes; None where it cannot be written, which is said in its place and takes nothing else along."""
    try:
        return write()
    except CleverdonError as error:
        st.error(drawing.plain(f"{name}: {error}"))
        return None


def download(kind: str, name: str, **more: Any) -> None:
    """A button for what `cleverdon export` would write, or why that cannot be written."""
    content = written(name, lambda: file(kind, name))
    if content is not None:
        st.download_button(f"Download {name}", content, name, **more)


def later(kind: str, name: str, **more: Any) -> None:
    """A button for a file that is only written when somebody wants it: in a thread with its own connection."""
    directory = campaign.directory

    def write() -> bytes:
        with tempfile.TemporaryDirectory() as scratch, Campaign(directory) as opened:
            wanted: dict[str, Any] = {kind: Path(scratch) / name}
            opened.export.files(**wanted)
            return bytes(wanted[kind].read_bytes())

    st.download_button(f"Download {name}", write, name, on_click="ignore", **more)


def made(write: Callable[[Campaign, Path], object], name: str, **more: Any) -> None:
    """A button for what `write` puts into a file, once somebody wants it: in a thread with its own connection."""
    directory = campaign.directory

    def content() -> bytes:
        with tempfile.TemporaryDirectory() as scratch, Campaign(directory) as opened:
            path = Path(scratch) / name
            write(opened, path)
            return path.read_bytes()

    st.download_button(f"Download {name}", content, name, on_click="ignore", **more)


def clicks(sources: list[str], rows: int) -> None:
    """What logs of clicks say."""
    st.subheader("Clicks")
    logs = ("Log: " if len(sources) == 1 else "Logs: ") + ", ".join(map(drawing.plain, sources))
    st.write(
        f"{logs}; {rows:,} rows. The table has, for each topic and document, how often it was shown and clicked, and "
        "its attractiveness: how often it would be clicked by those who look at it, whatever its rank. These are no "
        "judgements and not in the qrels."
    )
    made(lambda opened, path: opened.clicks.export(table=path), "clicks.tsv", key="clicks")


def training(rule: str) -> None:
    """Triples for whoever trains a ranker."""
    st.subheader("Training data")
    st.write(
        "Triples to train a ranker with: a topic, a document that is relevant to it and one that is not, as ids. Those "
        "of the pairs that have a grade are used, or the sparse qrels where annotators choose from lists."
    )
    # Rules that look at ranks need runs.
    rules = [entry for entry in NEGATIVES if "first" not in entry.parameters or counts["runs"]]
    left, right = st.columns([3, 1])
    negatives = left.selectbox(
        "Negatives", [entry.name for entry in rules], format_func=lambda n: NEGATIVES[n].label, key="negatives"
    )
    count = int(right.number_input("For each relevant document", 1, 1000, 1, key="negatives-each"))
    st.caption(drawing.plain(NEGATIVES[negatives].description))
    say_examples(rule, negatives, count)
    made(
        lambda opened, path: opened.training_data.export(triples=path, negatives=negatives, count=count, rule=rule),
        "triples.tsv",
        key="triples",
    )
    st.caption("With texts, as tuples or with other choices: `cleverdon export DIR --triples FILE` or `--tuples FILE`.")


def sparse_by(rule: str) -> bytes:
    """The bytes of the sparse qrels."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "sparse.txt"
        campaign.export.decisions(sparse_qrels=path, choice_rule=rule)
        return path.read_bytes()


def qrels_by(rule: str, form: QrelsForm, unjudged: bool, unjudged_topics: bool) -> tuple[bytes, bytes]:
    """The bytes of the qrels, and of the file that says which rule made them."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "qrels.txt"
        campaign.export.files(
            qrels=path, rule=rule, qrels_form=form, unjudged=unjudged, include_unjudged_topics=unjudged_topics
        )
        return path.read_bytes(), path.with_name("qrels.txt.rule.json").read_bytes()


@st.cache_data(show_spinner="Counting", max_entries=16, ttl=60)
def examples_counted(made_of: tuple[Any, ...], rule: str, negatives: str, count: int) -> dict[str, int]:
    """How many triples there are; kept while all that they are made of is the same."""
    return session.current().campaign.training_data.examples(negatives, count=count, rule=rule).counts


def say_examples(rule: str, negatives: str, count: int) -> None:
    """How many triples the file will have, and how many relevant documents have fewer negatives than asked for."""
    runs = campaign.corpus.run_table()
    made_of = (campaign.id, *counts.values(), campaign.settings.loop().level, ",".join(runs["run"] + runs["sha256"]))
    found = written("triples.tsv", lambda: examples_counted(made_of, rule, negatives, count))
    if found is None:
        return
    st.write(
        f"Triples: {found['examples']:,}, for {found['positives_used']:,} of {found['positives']:,} relevant documents."
    )
    if found["topics_short"]:
        lack = "without a negative by this rule" if count == 1 else f"with fewer than {count:,} negatives by this rule"
        st.warning(
            f"Relevant documents {lack}: {found['positives_short']:,} of {found['positives']:,}, in "
            f"{found['topics_short']:,} of {found['topics']:,} topics."
        )


@st.cache_data(show_spinner="Comparing", max_entries=16)
def compared(campaign_id: str, logged: int, runs: str, first: str, second: str, measure: str | None) -> RuleComparison:
    """Two rules side by side; kept while judgements and runs are the same."""
    return session.current().campaign.evaluation.compare_rules(first, second, measure)


def compare(rule: str) -> None:
    """Another rule beside the chosen one: which grades differ, and whether a system changes place."""
    left, right = st.columns([3, 2])
    with left:
        other = rule_picker.choose("Compare with", annotators, key="other", usual="highest")
    runs = campaign.corpus.run_table()
    measure = None
    if len(runs):
        measure = right.selectbox("Systems by", DEFAULT_MEASURES, accept_new_options=True)
    try:
        found = compared(campaign.id, counts["logged"], ",".join(runs["run"] + runs["sha256"]), rule, other, measure)
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        return
    for sentence in found.cautions:
        st.warning(drawing.plain(f"{sentence}."))
    grades = found.grades
    st.write(f"Of {grades.pairs:,} pairs that have a grade by both, it differs on **{grades.differ:,}**.")
    for name, pairs in ((found.first, grades.only_first), (found.second, grades.only_second)):
        if pairs:
            st.write(f"{pairs:,} pairs have a grade only by {drawing.plain(name)}.")
    if grades.differ:
        table = grades.confusion.rename(index=lambda g: f"{g:g}", columns=lambda g: f"{g:g}")
        drawing.dataframe(table.rename_axis("by the first"), width="content")
        st.caption("Pairs by grade: rows by the first rule, columns by the second.")
    if found.places is None:
        return
    moved = found.places.moved
    tau = "" if pd.isna(found.places.tau) else f" Kendall's tau between the two orders is {found.places.tau:.3f}."
    names = ", ".join(map(drawing.plain, moved))
    st.write((f"**{len(moved)}** of {len(found.places.table)} systems change place: {names}." if moved
              else "No system changes place.") + tau)  # fmt: skip
    drawing.dataframe(
        found.places.table,
        hide_index=True,
        column_config={
            "run": "System",
            "first": st.column_config.NumberColumn(f"{found.places.measure}, first", format="%.4f"),
            "second": st.column_config.NumberColumn("second", format="%.4f"),
            "first_place": "Place, first",
            "second_place": "second",
        },
    )


st.subheader("Qrels")
annotators = campaign.judgement_log.annotators()["annotator"].tolist()
rule = rule_picker.choose("Where several annotators judged a pair", annotators, key="rule")
found: Adjudicated | None = None
try:
    found = campaign.qrels.with_sources(rule)
except CleverdonError as error:  # somebody who gave no grade
    st.error(drawing.plain(str(error)))
settled = campaign.qrels.build().iloc[:0] if found is None else found.grades
if settled.empty:
    st.write("No pair has a grade yet." if not counts["judgements"] else "By this rule no pair has a grade yet.")
else:
    several = campaign.agreement.disagreements()
    if several.pairs:
        st.write(
            f"{several.pairs:,} pairs were graded by several annotators; they differ on {several.differ:,} of them, "
            f"where the rule decides."
        )
        if several.differ and session.current().role == "manager":
            widgets.page_link("adjudicate.py", "Look at the disagreements")
    by_grade = settled["relevance"].value_counts().sort_index()
    st.write(
        f"{len(settled):,} pairs in {settled['query_id'].nunique():,} of {len(campaign.corpus.topics()):,} topics: "
        + ", ".join(f"{n:,} of grade {g:g}" for g, n in by_grade.items())
        + "."
    )
    if several.pairs:
        ways = settled["by"].value_counts()
        drawing.dataframe(
            pd.DataFrame({"how": ways.index, "pairs": ways.to_numpy(), "means": list(map(origin, ways.index))}),
            hide_index=True,
            column_config={
                "how": st.column_config.TextColumn("How it came about", width=110),
                "pairs": st.column_config.NumberColumn("Pairs", width="small"),
                "means": st.column_config.TextColumn("That is", width="large"),
            },
        )
    if found is not None and (sentence := found.caution):
        st.warning(drawing.plain(f"{sentence}."))
    forms = campaign.qrels.forms()
    form = forms[0]
    if len(forms) > 1:
        form = st.radio("Form", forms, format_func=FORMS.__getitem__, horizontal=True, key="form")
        st.caption("The pool was sampled: by strata or probabilities xinfAP and infNDCG estimate what was left out.")
    unjudged = form == "strata" or (
        counts["pool"] > 0 and st.toggle("Also the pairs of the pool without a grade, as -1", key="unjudged")
    )
    left_out = written("qrels.txt", lambda: campaign.qrels.unjudged_topics(form, rule=rule)) if unjudged else []
    unjudged_topics = bool(left_out) and st.toggle(
        f"Also the topics without a grade ({len(left_out or []):,}; left out otherwise)",
        help="Every system has 0 in them, which lowers all means.",
        key="unjudged-topics",
    )
    if left_out is not None and (both := written("qrels.txt", lambda: qrels_by(rule, form, unjudged, unjudged_topics))):
        with st.container(horizontal=True):
            st.download_button("Download qrels.txt", both[0], "qrels.txt", type="primary", key="qrels")
            st.download_button("Download qrels.txt.rule.json", both[1], "qrels.txt.rule.json", key="rule-file")
    st.caption("The second file says which rule made the first, of whose judgements. TREC qrels have no place for it.")
    with st.expander("The first lines"):
        drawing.dataframe(settled.head(20), hide_index=True)
    if several.pairs and st.toggle("Compare with another rule", key="compare"):
        compare(rule)

st.subheader("Judgements")
st.write(
    f"The whole log, {counts['logged']:,} entries: who, which pair, grade, when, how long, how the pair came up, "
    "and what each entry revises."
)
if counts["logged"]:
    with st.container(horizontal=True):
        for ending in ("jsonl", "csv", "parquet"):
            later("judgements", f"judgements.{ending}", key=ending)
        download(
            "labels",
            "labels.csv",
            key="labels",
            help="Annotator, query_id, doc_id, relevance: what everybody's grade is now, for agreement elsewhere.",
        )
        later(
            "passages",
            "passages.jsonl",
            key="passages",
            help="What annotators marked in documents: a line for each passage, with its words.",
        )

if counts["choices"]:
    st.subheader("Lists")
    rules = {entry.name: f"{entry.label}: {entry.description}" for entry in CHOICE_RULES}
    choice_rule = st.selectbox(
        "Where several annotators chose for a topic", rules, format_func=rules.__getitem__, key="choice-rule"
    )
    sparse = campaign.qrels.from_choices(choice_rule)
    st.write(
        f"{counts['choices']:,} choices. By this rule {len(sparse):,} documents of {sparse['query_id'].nunique():,} "
        "topics are relevant; what was shown and not chosen is unjudged, and not in the qrels."
    )
    with st.container(horizontal=True):
        if content := written("sparse.txt", lambda: sparse_by(choice_rule)):
            st.download_button("Download sparse.txt", content, "sparse.txt", type="primary", key="sparse")
        download("choices", "choices.jsonl", key="choices")
    st.caption("choices.jsonl is the whole log: each list as it was shown, and what was chosen of it.")

if counts["preferences"]:
    st.subheader("Preferences")
    st.write(
        f"{counts['preferences']:,} preferences between two documents. As grades they say which documents of a topic "
        "are better, and not whether any of them is good."
    )
    with st.container(horizontal=True):
        download("preferences", "preferences.jsonl", key="preferences-jsonl")
        download("preferences", "preferences.csv", key="preferences-csv")
        download("preference_qrels", "preference-qrels.txt", key="preference-qrels")
    runs = campaign.corpus.run_table()
    if len(runs) and (values := written("The measure", campaign.evaluation.by_preferences)):
        drawing.dataframe(
            values.means()[["run", "topics", "counted", "pairs", "ppref", "wpref", "rpref"]],
            hide_index=True,
            alt="Systems by preferences",
            column_config={
                "run": "System",
                "topics": "Topics",
                "counted": st.column_config.NumberColumn(
                    "Topics counted",
                    help="Topics in which the ranking has a document of a pair. ppref and wpref are means over these, "
                    "rpref over all.",
                ),
                "pairs": "Pairs",
                **{
                    name: st.column_config.NumberColumn(name, format="%.4f", help=f"{meaning.capitalize()}.")
                    for name, meaning in MEASURES.items()
                },
            },
        )
        if values.undecided:
            st.caption(f"Topics in which no document is better than another, left out: {len(values.undecided):,}.")

st.subheader("Pool")
st.write(f"{counts['pool']:,} pairs with the strategy and rank that brought them.")
download("pool", "pool.tsv", key="pool")

if len(click_logs):
    clicks(click_logs["source"].tolist(), int(click_logs["rows"].sum()))

if campaign.settings.judging_page().task == "list":
    positive = not campaign.qrels.from_choices().empty
else:
    positive = bool((settled["relevance"] >= campaign.settings.loop().level).any())
if positive:
    training(rule)

if missing := campaign.corpus.missing_documents():
    st.subheader("Documents without a text")
    st.write(f"{len(missing):,} documents of the pool have no text here. Fetch them from the corpus and import them.")
    download("missing_documents", "missing.txt", key="missing")

if counts["judgements"] or counts["choices"] or counts["preferences"]:
    collection_download.draw(rule)
