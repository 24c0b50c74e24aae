"""Answers to further questions: in words, and as fields of a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.views.widgets import widgets
from collection.core.questions import Question, describe_answer, describe_bounds
from collection.core.records import Answer


def with_words(frame: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Judgements with their ``answers`` in words; without this column if there is no answer."""
    if "answers" not in frame or not any(frame["answers"]):
        return frame.drop(columns="answers", errors="ignore")
    by_name = {question.name: question for question in questions}

    def words(answers: Mapping[str, Answer]) -> str:
        return "; ".join(f"{name}: {describe_answer(each, by_name.get(name))}" for name, each in answers.items())

    return frame.assign(answers=[words(answers) for answers in frame["answers"]])


def draw_fields(questions: Iterable[Question], answers: Mapping[str, Answer], key: str) -> dict[str, Answer]:
    """Draw a field for each question with its answer so far; return what is answered.

    Without any tag, a question is answered only if the annotator says that none applies. A field that was not changed
    keeps its answer as it is, also one that the question no longer has.
    """
    given: dict[str, Answer] = {}
    for question in questions:
        before, name = answers.get(question.name), f"{key}-{question.name}"
        labels = {each: widgets.plain(question.choice_label(each)) for each in question.answers}
        hint = f"Asked at {describe_bounds(question)}.{'' if question.required else ' Optional.'}"
        sentence = widgets.plain(question.sentence)
        if question.kind == "tags":
            chosen = [tag for tag in before if tag in labels] if isinstance(before, tuple) else []
            tags = st.multiselect(sentence, labels, chosen, format_func=labels.__getitem__, key=name, help=hint)
            none = st.checkbox("No tag applies", before == (), key=f"{name}-none")
            if tags and tags != chosen:
                given[question.name] = tuple(tag for tag in question.answers if tag in tags)
            elif none:
                given[question.name] = ()
            elif before and tags == chosen:
                given[question.name] = before
        else:
            index = list(labels).index(before) if before in labels else None
            answer = st.selectbox(
                sentence, labels, index, format_func=labels.__getitem__, key=name, help=hint, placeholder="No answer"
            )
            if answer is None:
                answer = before
            if answer is not None:
                given[question.name] = answer
    return given
