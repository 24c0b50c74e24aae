"""Input fields that several pages share: rules, measures, grades, shares, topics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import widgets
from annotate.views.widgets.service_cache import cached
from collection.adjudication import ADJUDICATION_RULES, DEFAULT_RULE, QuestionAnswers, parse_rule
from collection.core.characters import without_bidi
from collection.core.questions import describe_bounds
from collection.core.registry import Entry
from collection.measures import as_measures
from collection.statistics import CORRECTIONS, DEFAULT_CORRECTION, DEFAULT_TEST, TESTS

ANNOTATOR = "annotator"  # the parameter of a rule that takes the grades of one person

K = TypeVar("K")

ALPHAS = [0.05, 0.01, 0.1]
"""Significance levels to choose from."""
AUTOMATIC = "Permutation test for fewer than 30 topics or skewed differences, otherwise paired t-test."
"""Description of the automatic choice of a test."""


def pick(
    label: str,
    labels: Mapping[K, str],
    now: K,
    key: str,
    captions: Sequence[str] | None = None,
    help: str | None = None,
) -> K:
    """Draw a select box of labelled values, `now` preselected; with `captions` (may be empty), radio buttons."""
    names = list(labels)
    index = names.index(now) if now in labels else 0
    if captions is None:
        return st.selectbox(label, names, index=index, format_func=labels.__getitem__, key=key, help=help)
    return st.radio(label, names, index=index, format_func=labels.__getitem__, captions=captions or None, key=key)


def pick_described(label: str, choices: Mapping[K, tuple[str, str]], now: K, key: str) -> K:
    """Draw radio buttons with a label and a description each, `now` preselected."""
    labels, captions = {choice: texts[0] for choice, texts in choices.items()}, [text for _, text in choices.values()]
    return pick(label, labels, now, key, captions)


def pick_topics(
    label: str, titles: Mapping[str, str], key: str, chosen: Sequence[str] = (), none: str | None = None
) -> list[str]:
    """Draw a field for several topics, `chosen` preselected; `none` is its placeholder."""
    named = {query_id: without_bidi(f"{query_id}: {title}") for query_id, title in titles.items()}
    return st.multiselect(label, list(named), chosen, format_func=named.__getitem__, key=key, placeholder=none)


def pick_share(label: str, least: float, most: float, now: float, key: str, step: float = 1.0) -> float:
    """Draw a field for a share in percent; an unchanged field returns `now` exactly, not as rounded."""
    shown = round(100 * now, 4)
    entered = st.number_input(label, least, most, shown, step, format="%g", key=key)
    return now if entered == shown else round(entered / 100, 6)


def pick_level(key: str, help: str | None = None, question: QuestionAnswers | None = None) -> int:
    """Draw the field for the minimum relevant grade, of a further question if one is given."""
    if question is not None:
        higher = sorted(question.scale)[1:]
        return st.selectbox("Minimum relevant grade", higher, key=f"{key}-{question.name}", help=help)
    campaign = session.current().campaign
    usual = campaign.settings.loop().level
    grades = campaign.settings.grades.levels(usual)
    index = grades.index(usual) if usual in grades else 0
    label = widgets.words().apply("Minimum relevant grade")
    name = campaign.settings.grades.label if campaign.settings.review() is not None else str
    return st.selectbox(label, grades, index=index, key=key, help=help, format_func=name)


def pick_question(key: str = "question", *, whole: bool = False) -> tuple[str | None, str | None]:
    """Draw the field of a question, and of an answer of one without grades, if the campaign has further questions.

    Returns what :meth:`.QrelsBuilder.for_question` takes; (None, None) is the grade. With `whole`, all answers
    together can be chosen too, as None.
    """
    questions = {question.name: question for question in session.current().campaign.settings.questions()}
    if not questions:
        return None, None
    left, right = st.columns(2)
    labels = {"": widgets.words().apply("Grade")} | {
        name: without_bidi(f"{name}: {question.sentence}") for name, question in questions.items()
    }
    with left:
        name = pick("Question", labels, "", key)
    if not name or questions[name].kind == "grades":
        return name or None, None
    question = questions[name]
    answers = {str(answer): without_bidi(question.label(answer)) for answer in question.answers}
    with right:
        all_answers = {"": "All answers" if question.kind == "choice" else "Each tag"}
        hint = "1: the annotator gave this answer; 0: the annotator did not."
        answer = pick("Answer", (all_answers if whole else {}) | answers, "", f"{key}-{name}", help=hint)
    return name, answer or None


def settings_label(fields: str) -> str:
    """Return the label of a page's settings: `fields`, after the question if the campaign has further questions."""
    return f"Settings: {'question, ' if session.current().campaign.settings.questions() else ''}{fields}"


def draw_question(selected: QuestionAnswers | None) -> None:
    """Draw the further question by which systems are evaluated, and the grades at which it is asked."""
    if selected is None:
        return
    question, answer = selected.question, selected.answer
    given = "" if answer is None else f" Answer: {selected.label(answer)}."
    bounds = describe_bounds(question)
    is_bounded = (question.asked_from, question.asked_to) != (None, None)
    scope = f" Asked at {bounds}: documents with other grades count as unjudged." if is_bounded else ""
    st.caption(widgets.plain(f"By {question.name}: {question.sentence}{given}{scope}"))


def read_measures(written: Iterable[str], parse: Callable[[str], Iterable[object]] = as_measures) -> tuple[str, ...]:
    """Parse measures, each once; draw an error for unknown ones, and end the page if none is left."""
    measures: dict[str, None] = {}
    for text in written:
        with widgets.shown_errors():
            measures |= dict.fromkeys(map(str, parse(text)))
    if not measures:
        st.write("Choose at least one measure.")
        st.stop()
    return tuple(measures)


def pick_finished_topics(rule: str, *, closed_early: bool = True) -> tuple[str, ...] | None:
    """Draw the toggle for finished topics, if some are not; None is all topics with a grade.

    `closed_early` is that of :meth:`collection.campaign.results.qrels.QrelsBuilder.topics_with_grades`.
    """
    qrels, logged = (
        session.current().campaign.results.qrels,
        session.current().campaign.store.judgements.counts()["logged"],
    )
    graded = cached(qrels.graded_topics, logged, entries=8)(rule)
    topics = qrels.topics_with_grades(graded=graded, closed_early=closed_early)
    if not 0 < len(topics.finished) < len(topics.graded):
        return None
    kind = "finished" if closed_early else "completely judged"
    label = f"Only {kind} {widgets.words().topics} ({len(topics.finished):,} of {len(topics.graded):,} with grades)"
    hint = "Completely judged or closed." if closed_early else None
    return topics.finished if st.toggle(label, topics.usual is not None, key="only-finished", help=hint) else None


def pick_parameter(entry: Entry[Any], name: str, key: str) -> Any:
    """Draw the field of a parameter, by its type and with the label of its annotation; return the value."""
    default, kind, shown = entry.parameters[name], entry.kind(name), entry.shown(name)
    if name in entry.choices:
        labels = {choice: shown.labels.get(choice, str(choice)) for choice in entry.choices[name]}
        index = list(labels).index(default)
        return st.selectbox(shown.label, labels, index, format_func=labels.__getitem__, help=shown.help, key=key)
    if kind is bool:
        return st.toggle(shown.label, default, help=shown.help, key=key)
    if kind in (int, float):
        least = None if shown.least is None else kind(shown.least)
        step, form = (1, None) if kind is int else (0.05, "%.2f")
        return st.number_input(
            shown.label, min_value=least, value=default, step=step, format=form, help=shown.help, key=key
        )
    return st.text_input(shown.label, default, help=shown.help, key=key)


def pick_test(key: str) -> str:
    """Draw the choice of a significance test, by default chosen automatically, with its description."""
    labels = {DEFAULT_TEST: "Automatic"} | {entry.name: entry.label for entry in TESTS}
    test = pick("Significance test", labels, DEFAULT_TEST, key)
    st.caption(TESTS[test].description if test in TESTS else AUTOMATIC)
    return test


def pick_correction(key: str) -> str:
    """Draw the choice of a correction for multiple testing, with its description."""
    labels = {entry.name: entry.label for entry in CORRECTIONS}
    correction = pick("Multiple-testing correction", labels, DEFAULT_CORRECTION, key)
    st.caption(CORRECTIONS[correction].description)
    return correction


def pick_rule(
    annotators: Sequence[str], label: str = "Adjudication rule", *, key: str, usual: str = DEFAULT_RULE
) -> str:
    """Draw the fields of an adjudication rule, `usual` preselected; `annotators` are the choices of rules for one."""
    labels = {rule.name: rule.label for rule in ADJUDICATION_RULES if annotators or not rule.needs_annotator}
    hint = "Decides the grade of pairs with several judgements."
    name = pick(label, labels, usual, f"{key}-rule", help=hint)
    entry = ADJUDICATION_RULES[name]
    st.caption(entry.description)
    arguments = {
        parameter: st.selectbox(entry.shown(parameter).label, annotators, key=f"{key}-annotator")
        if entry.needs_annotator and parameter == ANNOTATOR
        else pick_parameter(entry, parameter, f"{key}-{name}-{parameter}")
        for parameter in entry.parameters
    }
    return str(parse_rule(name, **arguments))
