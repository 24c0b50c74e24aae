"""Recall against the number of judgements."""

import altair as alt
import numpy as np
import pandas as pd

from collection.charts.marks import LEGEND, POINTS, tooltips


def mean_recall(curves: pd.DataFrame) -> pd.DataFrame:
    """Average gain curves over topics and seeds.

    Parameters
    ----------
    curves
        ``query_id``, ``strategy``, ``learner``, ``seed``, ``judged`` (from 0, ascending), ``found``: the frame
        ``curves`` of a simulation. After its end, a curve keeps its last number of found documents.

    Returns
    -------
    DataFrame
        ``strategy`` (with the learner, if it was replayed with several), ``judged`` and ``recall``: the share of
        those documents that a curve has found at its end.
    """
    single = curves.groupby("strategy")["learner"].transform("nunique") == 1
    name = curves["strategy"].where(single, curves["strategy"] + ", " + curves["learner"])
    most = int(curves["judged"].max())
    grid = np.unique(np.linspace(0, most, min(most, POINTS // max(1, name.nunique())) + 1).astype(np.int64))
    parts = []
    for strategy, rows in curves.groupby(name, sort=False):
        recalls = []
        for _, one in rows.groupby(["query_id", "learner", "seed"], sort=False):
            relevant = one["found"].to_numpy()
            last = np.searchsorted(one["judged"].to_numpy(), grid, side="right") - 1
            recalls.append(relevant[last] / max(1, relevant.max()))
        parts.append(pd.DataFrame({"strategy": strategy, "judged": grid, "recall": np.mean(recalls, axis=0)}))
    return pd.concat(parts, ignore_index=True)


def recall_chart(curves: pd.DataFrame) -> alt.Chart:
    """Mean recall by judgements per topic, a line for each strategy; for `curves` see :func:`mean_recall`."""
    rows = mean_recall(curves)
    chart: alt.Chart = (
        alt.Chart(rows, height=300)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("judged:Q", title="Judgements per topic", scale=alt.Scale(nice=False)),
            y=alt.Y("recall:Q", title="Mean recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color("strategy:N", sort=rows["strategy"].unique().tolist(), legend=LEGEND),
            tooltip=tooltips(rows, strategy="Strategy", judged="Judgements", recall=("Mean recall", ".1%")),
        )
    )
    return chart
