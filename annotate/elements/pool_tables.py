"""The tables of the Pool page: what every strategy would cost, and how the pool was made."""

import json
from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn

from annotate.auth import session
from annotate.elements import display
from collection.pooling import STRATEGIES, format_parameters


@st.cache_data(show_spinner="Asking every strategy", max_entries=8)
def _costs(campaign_id: str, key: str, budget: int, names: list[str] | None) -> pd.DataFrame:
    """What every strategy would cost; kept while runs, pool and documents are the same."""
    return session.current().campaign.pools.costs(budget, names)


def draw_costs(key: str, budget: int, names: list[str] | None) -> None:
    """Draw the table for `budget` pairs of each topic, if it is asked for, kept by the `key` of what it rests on.

    `names` are the runs that contribute; None for all.
    """
    if not st.toggle("What would every strategy cost?", key="every"):
        return
    table = _costs(session.current().campaign.id, key, budget, names)
    display.table(
        table.assign(strategy=[STRATEGIES[s].label for s in table["strategy"]]),
        {
            "strategy": "Strategy",
            "pairs": NumberColumn("Pairs", format="localized", width="small"),
            "new": NumberColumn("New", format="localized", width="small"),
            "median": NumberColumn("Per topic", help="The median.", width="small"),
            "parameters": TextColumn("Parameters", width="medium"),
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
    """Draw it, if there is a pool; `runs` are all that there are now."""
    rounds = session.current().campaign.pools.rounds()
    if rounds.empty:
        return
    st.subheader("How the pool was made")
    display.table(
        rounds.assign(
            parameters=[format_parameters(json.loads(text)) for text in rounds["parameters"]],
            runs=[
                f"all {len(runs)}" if sorted(brought) == sorted(runs) else ", ".join(brought)
                for brought in map(json.loads, rounds["runs"])
            ],
        ),
        {
            "made_at": DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm"),
            "strategy": "Strategy",
            "parameters": TextColumn("Parameters", width="medium"),
            "pairs": NumberColumn("New pairs", format="localized"),
            "runs": TextColumn("Runs", width="medium"),
        },
        alt="How the pool was made",
    )
