"""Tables of the Pool page: the cost of every strategy, and the rounds of pooling."""

import json
from collections.abc import Sequence

import streamlit as st

from annotate.auth import session
from annotate.views.campaign import removal_form
from annotate.views.widgets import display
from annotate.views.widgets.columns import number, text, timestamp
from annotate.views.widgets.service_cache import cached
from collection.core.phrases import count
from collection.pooling import STRATEGIES, format_parameters


def draw_costs(key: str, budget: int, names: list[str] | None) -> None:
    """Draw a toggle and the costs for `budget` pairs of each topic by the runs `names` (None: all)."""
    if not st.toggle("Compare the cost of all strategies", key="every"):
        return
    table = cached(session.current().campaign.people.pools.costs, key, "Counting pairs", 8)(budget, names)
    display.table(
        table.assign(strategy=[STRATEGIES[s].label for s in table["strategy"]]),
        {
            "strategy": "Strategy",
            "pairs": number("Pairs", "localized", "small"),
            "new": number("New pairs", "localized", "small"),
            "median": number("Pairs per topic, median", width="small"),
            "parameters": text("Parameters", "medium"),
        },
        height="content",
        alt="Pairs that each strategy would select",
    )
    st.caption(
        f"{count(budget, 'pair')} per topic for strategies with a budget, default parameters for the others; "
        "near-duplicates included. `cleverdon pool --compare QRELS` compares the strategies' quality on known qrels."
    )


def draw_rounds(runs: Sequence[str]) -> None:
    """Draw the rounds in which pairs were added; `runs` are all runs of the campaign."""
    campaign = session.current().campaign
    rounds = campaign.store.pool.rounds()
    if rounds.empty:
        return
    st.subheader("Pooling history")
    parameters = [format_parameters(json.loads(values)) for values in rounds["parameters"]]
    labels = [STRATEGIES[name].label if name in STRATEGIES else name for name in rounds["strategy"]]
    brought = [json.loads(names) for names in rounds["runs"]]
    by = ["all runs" if sorted(names) == sorted(runs) else ", ".join(names) for names in brought]
    display.table(
        rounds.assign(parameters=parameters, runs=by, strategy=labels),
        {
            "made_at": timestamp("Added (UTC)"),
            "strategy": "Strategy",
            "parameters": text("Parameters", "medium"),
            "pairs": number("Pairs added", "localized"),
            "removed": number("Pairs removed", "localized") if rounds["removed"].any() else None,
            "runs": text("Contributing runs", "medium"),
        },
        alt="Rounds in which pairs were added",
    )
    removal_form.draw_rounds(campaign, rounds)
