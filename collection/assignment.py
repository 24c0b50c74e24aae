"""Pool + judgements + leases + annotator -> the next pairs: who sees what, and when.

One topic at a time: :func:`next_pairs` is called at every few key presses, so it looks at a few hundred
rows and nothing else.
"""

from __future__ import annotations

import pandas as pd

from collection.records import require_columns

CANDIDATE_COLUMNS = ("doc_id", "rank", "has_text", "mine", "others", "leased", "skipped")


def next_pairs(candidates: pd.DataFrame, count: int, overlap: int = 1) -> pd.DataFrame:
    """The next pairs of one topic for one annotator.

    A pair is open to the annotator while they have not judged it themselves and fewer than `overlap`
    others have judged it or hold it on lease. Documents without a text come after the others, and pairs
    that the annotator skipped last, the longest skipped first; otherwise the pool's order stands.

    Parameters
    ----------
    candidates
        One row per pair of the topic's pool, in pool order: ``doc_id``, ``rank``; ``has_text`` (bool: the
        document's text is in the campaign); ``mine`` (bool: this
        annotator has judged it), ``others`` (int: how many others have), ``leased`` (int: how many
        others hold it now), ``skipped`` (when this annotator last skipped it, or null).
    count
        How many pairs are wanted at most.
    overlap
        How many annotators judge each pair.

    Returns
    -------
    DataFrame
        At most `count` rows of `candidates`, in the order in which to judge them.
    """
    require_columns(candidates, CANDIDATE_COLUMNS, "the assignment")
    taken = candidates["others"] + candidates["leased"]
    waiting = candidates[~candidates["mine"].astype(bool) & (taken < overlap)]
    # Stable sorts, the weightier key last: null (never skipped) first, then by the time of the last skip.
    waiting = waiting.sort_values("has_text", ascending=False, kind="stable")
    return waiting.sort_values("skipped", kind="stable", na_position="first").head(count)
