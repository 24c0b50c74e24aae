"""Tables of the Pool page: the cost of every strategy, and the rounds of pooling."""

import json
from collections.abc import Sequence

import streamlit as st

from annotate.auth import session
from annotate.elements import display
from annotate.elements.columns import number, text, timestamp
from annotate.elements.service_cache import cached
from collection.pooling import STRATEGIES, format_parameters


def draw_costs(key: str, budget: int, names: list[str] | None) -> None:
    """Draw a toggle, and the costs for `budget` pairs of each topic by the runs `names` (None: all)."""
    if not st.toggle("What would every strategy cost?", key="every"):
        return
    table = cached(session.current().campaign.pools.costs, key, "Asking every strategy", 8)(budget, names)
    display.table(
        table.assign(strategy=[STRATEGIES[s].label for s in table["strategy"]]),
        {
            "strategy": "Strategy",
            "pairs": number("Pairs", "localized", "small"),
            "new": number("New", "localized", "small"),
            "median": number("Per topic", width="small", help="The median."),
            "parameters": text("Parameters", "medium"),
        },
        height="content",
        alt="What every strategy would cost",
    )
    st.caption(
        f"With {budget:,} pairs per topic where a strategy can be told, and its usual parameters otherwise; near-"
        "duplicates are kept. What the pairs are worth is another question: `cleverdon pool --compare QRELS` answers "
        "it on grades that are known."
    )


def draw_rounds(runs: Sequence[str]) -> None:
    """Draw the rounds in which pairs were added; `runs` are all runs of the campaign."""
    rounds = session.current().campaign.pools.rounds()
    if rounds.empty:
        return
    st.subheader("How the pool was made")
    parameters = [format_parameters(json.loads(values)) for values in rounds["parameters"]]
    brought = [json.loads(names) for names in rounds["runs"]]
    by = [f"all {len(runs)}" if sorted(names) == sorted(runs) else ", ".join(names) for names in brought]
    display.table(
        rounds.assign(parameters=parameters, runs=by),
        {
            "made_at": timestamp("When (UTC)"),
            "strategy": "Strategy",
            "parameters": text("Parameters", "medium"),
            "pairs": number("New pairs", "localized"),
            "runs": text("Runs", "medium"),
        },
        alt="How the pool was made",
    )
