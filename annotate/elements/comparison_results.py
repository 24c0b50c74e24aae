"""Results of the Compare page, each kept while its inputs are the same."""

from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements.service_cache import cached
from collection import comparison
from collection.comparison import Comparison, Evaluation


class RestsOn(NamedTuple):
    """What values rest on: runs and costs as texts that change with them; topics are None for all."""

    campaign_id: str
    logged: int
    runs: str
    rule: str
    topics: tuple[str, ...] | None
    costs: str


def evaluated(inputs: RestsOn, measures: tuple[str, ...]) -> Evaluation:
    """The values of every run."""
    evaluate = cached(session.current().campaign.evaluation.evaluate, inputs, "Evaluating")
    return evaluate(measures, rule=inputs.rule, topics=inputs.topics)


@st.cache_data(show_spinner="Comparing", max_entries=32)
def compared(
    inputs: RestsOn, measures: tuple[str, ...], baseline: str | None, test: str, correction: str, alpha: float
) -> Comparison:
    """The leaderboard of the systems, and their tests."""
    evaluation = evaluated(inputs, measures)
    return comparison.compare(evaluation, baseline=baseline, test=test, correction=correction, alpha=alpha)


@st.cache_data(show_spinner="Comparing every pair", max_entries=16)
def every_pair(inputs: RestsOn, measures: tuple[str, ...], measure: str, alpha: float) -> pd.DataFrame:
    """All pairs of systems by one measure; the randomised test takes a second or two."""
    evaluation = evaluated(inputs, measures)
    values = evaluation.values[evaluation.values["measure"] == measure]
    found = comparison.compare(replace(evaluation, values=values), alpha=alpha, all_pairs=True).pairs
    return found if found is not None else pd.DataFrame()


def ranked(inputs: RestsOn, runs: tuple[str, str], query_id: str, depth: int) -> pd.DataFrame:
    """Two rankings of a topic with the grades."""
    side_by_side = cached(session.current().campaign.evaluation.side_by_side, inputs, entries=64)
    return side_by_side(*runs, query_id, depth=depth, rule=inputs.rule)


def explained(inputs: RestsOn, measure: str, run: str, query_id: str) -> str:
    """The calculation of one value."""
    explain = cached(session.current().campaign.evaluation.explain, inputs, entries=64)
    return str(explain(measure, run, query_id, rule=inputs.rule, topics=inputs.topics))
