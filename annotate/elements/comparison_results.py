"""Results of the Compare page, each kept while nothing changes that it rests on."""

from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import streamlit as st

from annotate.auth import session
from collection import comparison
from collection.comparison import Comparison, Evaluation
from collection.measures import parse


class RestsOn(NamedTuple):
    """What values rest on: runs and costs are texts that change with them, topics None for all."""

    campaign_id: str
    logged: int
    runs: str
    rule: str
    topics: tuple[str, ...] | None
    costs: str


@st.cache_data(show_spinner=False, max_entries=16)
def annotators(campaign_id: str, logged: int) -> list[str]:
    """Who graded anything."""
    return session.current().campaign.judgement_log.annotators()["annotator"].tolist()


@st.cache_data(show_spinner="Evaluating", max_entries=16)
def evaluated(of: RestsOn, measures: tuple[str, ...]) -> Evaluation:
    """The values of every run."""
    return session.current().campaign.evaluation.evaluate([parse(m) for m in measures], rule=of.rule, topics=of.topics)


@st.cache_data(show_spinner="Comparing", max_entries=32)
def compared(
    of: RestsOn, measures: tuple[str, ...], baseline: str | None, test: str, correction: str, alpha: float
) -> Comparison:
    """The leaderboard of the systems, and their tests."""
    return comparison.compare(evaluated(of, measures), baseline=baseline, test=test, correction=correction, alpha=alpha)


@st.cache_data(show_spinner="Comparing every pair", max_entries=16)
def every_pair(of: RestsOn, measures: tuple[str, ...], measure: str, alpha: float) -> pd.DataFrame:
    """All pairs of systems by one measure: with the draws of the test it takes a second or two."""
    known = evaluated(of, measures)
    only = replace(known, values=known.values[known.values["measure"] == measure])
    found = comparison.compare(only, alpha=alpha, all_pairs=True).pairs
    return found if found is not None else pd.DataFrame()


@st.cache_data(show_spinner=False, max_entries=64)
def ranked(of: RestsOn, runs: tuple[str, str], query_id: str, depth: int) -> pd.DataFrame:
    """Two rankings of a topic with the grades."""
    return session.current().campaign.evaluation.side_by_side(*runs, query_id, depth=depth, rule=of.rule)


@st.cache_data(show_spinner=False, max_entries=64)
def explained(of: RestsOn, measure: str, run: str, query_id: str) -> str:
    """A calculation."""
    found = session.current().campaign.evaluation.explain(parse(measure), run, query_id, rule=of.rule, topics=of.topics)
    return str(found)
