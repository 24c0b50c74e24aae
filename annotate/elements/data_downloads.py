"""Files of the Export page besides qrels: choices from lists, preferences, and training data."""

import streamlit as st

from annotate.auth import session
from annotate.elements import display, downloads, widgets
from annotate.elements.columns import number
from collection.export import NEGATIVES
from collection.preferences import CHOICE_RULES, PREFERENCE_MEASURES


def draw_choices(choices: int) -> None:
    """Draw the sparse qrels by a rule, and the log of choices."""
    st.subheader("Lists")
    rules = {entry.name: f"{entry.label}: {entry.description}" for entry in CHOICE_RULES}
    label = "Where several annotators chose for a topic"
    rule = st.selectbox(label, rules, format_func=rules.__getitem__, key="choice-rule")
    sparse = session.current().campaign.qrels.from_choices(rule)
    st.write(
        f"{choices:,} choices. By this rule {len(sparse):,} documents of {sparse['query_id'].nunique():,} "
        "topics are relevant; what was shown and not chosen is unjudged, and not in the qrels."
    )
    with st.container(horizontal=True):
        name, key = "sparse.txt", "sparse"
        downloads.draw(
            lambda c, path: c.export.decisions(sparse_qrels=path, choice_rule=rule), name, key, None, "primary"
        )
        downloads.draw(lambda c, path: c.export.decisions(choices=path), "choices.jsonl", "choices")
    st.caption("choices.jsonl is the whole log: each list as it was shown, and what was chosen of it.")


def draw_preferences(preferences: int) -> None:
    """Draw the files of preferences, and the agreement of the runs with them."""
    st.subheader("Preferences")
    st.write(
        f"{preferences:,} preferences between two documents. As grades they say which documents of a topic "
        "are better, and not whether any of them is good."
    )
    with st.container(horizontal=True):
        for ending in ("jsonl", "csv"):
            name, key = f"preferences.{ending}", f"preferences-{ending}"
            downloads.draw(lambda c, path: c.export.decisions(preferences=path), name, key)
        name, key = "preference-qrels.txt", "preference-qrels"
        downloads.draw(lambda c, path: c.export.decisions(preference_qrels=path), name, key)
    campaign = session.current().campaign
    if campaign.corpus.run_table().empty:
        return
    with widgets.shown_errors(about="The measure: "):
        values = campaign.evaluation.by_preferences()
        hint = "Topics in which the ranking has a document of a pair. ppref and wpref are means over these, "
        hint += "rpref over all."
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
            st.caption(f"Topics in which no document is better than another, left out: {len(values.undecided):,}.")


@st.cache_data(show_spinner="Counting", max_entries=16, ttl=60)
def _example_counts(rests_on: tuple[object, ...], rule: str, negatives: str, count: int) -> dict[str, int]:
    return session.current().campaign.training_data.examples(negatives, count=count, rule=rule).counts


def draw_training(rule: str) -> None:
    """Draw the fields of the negatives, the number of triples, and the download; `rule` makes the grades."""
    campaign = session.current().campaign
    st.subheader("Training data")
    st.write(
        "Triples to train a ranker with: a topic, a document that is relevant to it and one that is not, as ids. Those "
        "of the pairs that have a grade are used, or the sparse qrels where annotators choose from lists."
    )
    runs = campaign.corpus.run_table()
    # Rules that look at ranks need runs.
    rules = [entry.name for entry in NEGATIVES if "first" not in entry.parameters or len(runs)]
    left, right = st.columns([3, 1])
    negatives = left.selectbox("Negatives", rules, format_func=lambda n: NEGATIVES[n].label, key="negatives")
    count = int(right.number_input("For each relevant document", 1, 1000, 1, key="negatives-each"))
    st.caption(widgets.plain(NEGATIVES[negatives].description))
    counts = campaign.progress.counts() | campaign.topic_tasks.counts()
    state = (campaign.id, *counts.values(), campaign.settings.loop().level, ",".join(runs["run"] + runs["sha256"]))
    with widgets.shown_errors(about="triples.tsv: "):
        found = _example_counts(state, rule, negatives, count)
        positives = f"{found['positives']:,}"
        st.write(f"Triples: {found['examples']:,}, for {found['positives_used']:,} of {positives} relevant documents.")
        if found["topics_short"]:
            lack = f"with{'out a negative' if count == 1 else f' fewer than {count:,} negatives'} by this rule"
            topics = f"{found['topics_short']:,} of {found['topics']:,} topics"
            st.warning(f"Relevant documents {lack}: {found['positives_short']:,} of {positives}, in {topics}.")
    downloads.draw_deferred(
        lambda c, path: c.training_data.export(triples=path, negatives=negatives, count=count, rule=rule),
        "triples.tsv",
        "triples",
    )
    st.caption("With texts, as tuples or with other choices: `cleverdon export DIR --triples FILE` or `--tuples FILE`.")
