"""Pseudonyms of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from collection.core.records import QRELS_ANNOTATOR


def pseudonyms(logs: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Annotator -> a1, a2, ... by their first decision in these logs (``annotator``, ``judged_at``); not for qrels.

    >>> log = pd.DataFrame({"annotator": ["zoe", "ann", "zoe"], "judged_at": ["1", "2", "3"]})
    >>> pseudonyms([log])
    {'zoe': 'a1', 'ann': 'a2'}
    """
    entries = pd.concat([log[["annotator", "judged_at"]] for log in logs], ignore_index=True)
    order = entries.sort_values("judged_at", kind="stable")["annotator"].astype("str").unique()
    people = [name for name in order if not name.startswith(QRELS_ANNOTATOR)]
    return {name: f"a{number}" for number, name in enumerate(people, start=1)}


def renamed(log: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The log with the annotators renamed as far as `names` has them."""
    return log.assign(annotator=[names.get(str(name), str(name)) for name in log["annotator"]])
