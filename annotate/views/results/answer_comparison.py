"""Generated answers on the page Compare: systems by nuggets and support, with tests of their differences."""

from collections.abc import Mapping
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotate.auth import session
from annotate.views.results import comparison_tables, label_tables
from annotate.views.widgets import downloads, pickers, widgets
from annotate.views.widgets.service_cache import cached
from collection import comparison
from collection.core.characters import natural_key, without_bidi
from collection.core.errors import CampaignError, InputError
from collection.formats import to_tsv
from collection.generated_answers import (
    ANSWER_MEASURES,
    DEFAULT_ANSWER_MEASURES,
    MissingAnswers,
    parse_answer_measure,
)

MORE = ["nugget_weighted", "nugget_all(strict=True)", "support_precision(citations='all')", "rubric"]
MISSING: dict[MissingAnswers, str] = {"zero": "Counted as 0", "leave-out": "Left out of the mean"}
BOARD, TESTED, TOPICS, CORRECTED = "Leaderboard", "Tests", "Topics", "Corrected values"
RANKINGS, GENERATED = "Rankings", "Generated answers"


def pick_answers(*, has_rankings: bool) -> bool:
    """Draw the choice between rankings and generated answers if the campaign has both; return whether it is answers."""
    if not session.current().campaign.store.answers.exist():
        return False
    if not has_rankings:
        return True
    return st.segmented_control("Systems", [RANKINGS, GENERATED], default=RANKINGS, required=True) == GENERATED


def find_labels() -> dict[str, str]:
    """Return the names of people's judgements ("") and of the label sets of answers; stop the page without any."""
    answers = session.current().campaign.answers
    key, people = answers.cache_key(), {"": "Judgements by people"}
    try:
        cached(answers.labelled, key, entries=4)(label_set=None)
    except CampaignError:  # perhaps models have labelled them
        people = {}
    labels = people | {name: without_bidi(name) for name in cached(answers.label_sets, key, entries=4)()}
    if not labels:
        widgets.stop_with_next_step("Nobody has judged the generated answers yet.")
    return labels


def pick_labels(labels: Mapping[str, str]) -> str:
    """Pick one of the :func:`find_labels` if there are several."""
    first = next(iter(labels))
    return (pickers.pick("Labels", labels, first, "answer-labels") if len(labels) > 1 else first) or first


def draw() -> None:
    """Draw the settings, the conclusion and the tables."""
    campaign = session.current().campaign
    answers, key = campaign.answers, campaign.answers.cache_key()
    labels = find_labels()
    answer = st.container()  # drawn first, computed from the settings below it
    with st.expander("Settings: measures, labels, baseline and test"):
        label_set = pick_labels(labels)
        labelled = cached(answers.labelled, key, entries=4)(label_set=label_set or None)
        usual = [str(parse_answer_measure(each)) for each in DEFAULT_ANSWER_MEASURES]
        usual = [each for each in usual if labelled.topics[parse_answer_measure(each).entry.reads]]
        hint = f"Select measures, or type others. Names: {', '.join(each.name for each in ANSWER_MEASURES)}."
        options = list(dict.fromkeys([*usual, *(str(parse_answer_measure(each)) for each in MORE)]))
        written = st.multiselect(
            "Measures", options, default=usual, accept_new_options=True, key=f"answer-measures-{label_set}", help=hint
        )
        widgets.documentation_link("reference/measures", "All measures")
        measures = pickers.read_measures(written, lambda text: [parse_answer_measure(text)])
        left, right = st.columns(2)
        measure = left.selectbox("Main measure", measures, key="answer-measure")
        runs = {"": "Best system by each measure"}
        runs |= {name: without_bidi(name) for name in labelled.answers["run"].unique()}
        baseline = right.selectbox("Baseline", runs, key="answer-baseline", format_func=runs.__getitem__)
        left, middle, right = st.columns(3)
        with left:
            rule = None
            if not label_set:
                rule = pickers.pick_rule([], key="answer-rule")
            missing = pickers.pick("Topics without an answer", MISSING, "zero", "answer-missing")
        with middle:
            test = pickers.pick_test("answer-test")
        with right:
            correction = pickers.pick_correction("answer-corr")
        alpha = right.selectbox("Significance level (α)", pickers.ALPHAS, key="answer-alpha")
    with widgets.shown_errors():
        evaluate = cached(answers.evaluate, key, "Evaluating")
        evaluation = evaluate(measures, rule=rule, label_set=label_set or None, missing_answers=missing)
        cache_key = (key, measures, rule, label_set, missing)
        compare = cached(comparison.compare, cache_key, "Comparing", 32)
        compared = compare(evaluation, baseline=baseline or None, test=test, correction=correction, alpha=alpha)
        _draw_results(compared, evaluation, measure, correction, (cache_key, measure), answer, label_set)


def _draw_corrected(label_set: str, measure: str) -> None:
    """Draw the scores by machine labels, corrected with people's judgements of a random sample."""
    campaign = session.current().campaign
    correct = cached(campaign.answer_samples.correct, campaign.answers.cache_key(), "Correcting scores")
    try:
        corrected = correct(label_set, measure)
    except (CampaignError, InputError) as error:
        st.info(widgets.sentence(str(error)))
        return
    label_tables.draw_corrected(corrected, campaign.answer_samples.effects(label_set, corrected))


def _draw_results(
    compared: comparison.Comparison,
    evaluation: comparison.Evaluation,
    measure: str,
    correction: str,
    cache_key: tuple[object, ...],
    answer: DeltaGenerator,
    label_set: str,
) -> None:
    campaign = session.current().campaign
    rows = compared.standings(measure)
    order = rows["system"].tolist()
    topics = sorted(set(evaluation.per_topic()["query_id"]), key=natural_key)
    with answer:
        if label_set:
            st.info(
                widgets.plain(
                    f"These values are computed from the machine labels {label_set}, not from people's judgements."
                )
            )
        every = len(campaign.store.corpus.topics())
        comparison_tables.draw_answer(compared, measure, rows, f"{len(topics):,} of {every:,}", unjudged="labels")
    views = [BOARD, TESTED, TOPICS, *([CORRECTED] if label_set else [])]
    view = st.segmented_control("Details", views, default=BOARD, required=True, key="answer-look")
    if view == CORRECTED:
        _draw_corrected(label_set, measure)
        return
    if view == BOARD:
        comparison_tables.draw_leaderboard(compared, measure, rows, "Share of the labels that are missing.")
    elif view == TESTED:
        hint = "Controls the probability of any false difference among all pairs (Carterette 2012)."
        pairs = len(order) > 2 and st.toggle("All pairs of systems (randomised Tukey HSD)", key="pairs", help=hint)
        tests = compared.tests
        if pairs:
            compare = cached(comparison.compare, cache_key, "Comparing all pairs")
            found = compare(evaluation.select_measure(measure), alpha=compared.alpha, all_pairs=True).pairs
            tests = tests if found is None else found
        comparison_tables.draw_tests_or_reason(compared, tests, measure, correction, len(order), len(topics))
    else:
        comparison_tables.draw_values(compared.evaluation, measure, topics, order)
    downloads.offer_results(
        {
            "values.tsv": ("Values per topic (TSV)", partial(to_tsv, evaluation.values)),
            "tests.tsv": ("Tests (TSV)", partial(to_tsv, compared.tests)),
            "leaderboard.tex": ("Leaderboard (LaTeX)", compared.to_latex),
            "leaderboard.md": ("Leaderboard (Markdown)", compared.to_markdown),
        }
    )
