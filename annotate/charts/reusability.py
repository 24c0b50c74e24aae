"""The charts of the Reusability page."""

from typing import cast

import altair as alt
import pandas as pd

from annotate.charts.colours import BLUE, NEUTRAL, ORANGE

KINDS = {"judged": "pooled", "left_out": "with its group left out", "new": "not pooled"}
"""What a line of the judged shares is, in words."""

_COLOURS = dict(zip(KINDS.values(), (BLUE, ORANGE, NEUTRAL), strict=True))
_LEGEND = alt.Legend(title=None, orient="bottom", direction="vertical", labelLimit=260, symbolOpacity=1)


def judged_chart(curves: pd.DataFrame, depth: int) -> alt.LayerChart:
    """Judged@k against k: a thin line a run, a thick one for their mean.

    Parameters
    ----------
    curves
        ``run``, ``depth``, ``judged``, ``left_out`` (nan for a run that was not pooled).
    depth
        Of the pool: a dashed line.
    """
    new = curves["left_out"].isna()
    parts = [
        curves[~new].rename(columns={"judged": "share"}).assign(kind=KINDS["judged"]),
        curves[~new].drop(columns="judged").rename(columns={"left_out": "share"}).assign(kind=KINDS["left_out"]),
        curves[new].rename(columns={"judged": "share"}).assign(kind=KINDS["new"]),
    ]
    lines = pd.concat([part[["run", "depth", "share", "kind"]] for part in parts], ignore_index=True)
    mean = lines.groupby(["kind", "depth"], as_index=False)["share"].mean()
    x = alt.X("depth:Q", title="depth k (rank)", scale=alt.Scale(nice=False), axis=alt.Axis(tickMinStep=1))
    y = alt.Y("share:Q", title="share judged of the first k", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    shown = [kind for kind in KINDS.values() if kind in set(lines["kind"])]
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=shown, range=[_COLOURS[kind] for kind in shown]), legend=_LEGEND
    )
    thin = (
        alt.Chart(lines)
        .mark_line(strokeWidth=1, opacity=0.3)
        .encode(x=x, y=y, color=colour, detail=["run:N"], tooltip=_tips("run", "kind", "depth"))
    )
    thick = alt.Chart(mean).mark_line(strokeWidth=3).encode(x=x, y=y, color=colour, tooltip=_tips("kind", "depth"))
    rule = alt.Chart(pd.DataFrame({"depth": [depth]})).mark_rule(strokeDash=[5, 4], color=NEUTRAL).encode(x="depth:Q")
    return cast(alt.LayerChart, (thin + thick + rule).properties(height=400))


def _tips(*fields: str) -> list[alt.Tooltip]:
    return [*(alt.Tooltip(field) for field in fields), alt.Tooltip("share:Q", title="share judged", format=".1%")]


def left_out_chart(left_out: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Each run's mean by all judgements, and by those that are left without its group.

    Parameters
    ----------
    left_out
        The rows of one measure, as :func:`collection.reusability.leave_out` gives them.
    measure
        Which.
    """
    tips = [
        alt.Tooltip("run:N"),
        alt.Tooltip("group:N"),
        alt.Tooltip("unique:Q", title="unique pairs"),
        alt.Tooltip("relevant:Q", title="relevant of them"),
        alt.Tooltip("before:Q", format=".4f"),
        alt.Tooltip("after:Q", format=".4f"),
        alt.Tooltip("place_before:Q", title="place before"),
        alt.Tooltip("place_after:Q", title="place after"),
    ]
    y = alt.Y("run:N", sort=left_out["run"].tolist(), title=None, axis=alt.Axis(labelLimit=150, labelFlush=False))
    scale = alt.Scale(zero=False, nice=True)
    base = alt.Chart(left_out).encode(y=y, tooltip=tips)
    span = base.mark_rule(strokeWidth=2, color=NEUTRAL).encode(
        x=alt.X("before:Q", title=f"mean {measure}", scale=scale), x2="after:Q"
    )
    names = list(KINDS.values())[:2]
    points = (
        base.transform_fold(["before", "after"], as_=["when", "value"])
        .transform_calculate(kind=f"datum.when == 'before' ? '{names[0]}' : '{names[1]}'")
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("value:Q", title=f"mean {measure}", scale=scale),
            color=alt.Color("kind:N", scale=alt.Scale(domain=names, range=[BLUE, ORANGE]), legend=_LEGEND),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=names, range=["circle", "diamond"]), legend=_LEGEND),
        )
    )
    return cast(alt.LayerChart, (span + points).properties(height=alt.Step(20)))


def order_stability_chart(settling: pd.DataFrame) -> alt.LayerChart:
    """Tau of the order by a shallower pool, depth by depth, a line for each measure.

    Parameters
    ----------
    settling
        ``depth``, ``pairs``, ``measure``, ``tau``.
    """
    rows = settling.dropna(subset="tau")
    lowest = min(0.7, float(rows["tau"].min())) if len(rows) else 0.0
    y = alt.Y("tau:Q", title="Kendall's tau with all", scale=alt.Scale(domain=[lowest, 1], nice=False))
    lines = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=30, filled=True), strokeWidth=2)
        .encode(
            x=alt.X("depth:Q", title="depth of the pool (rank, log scale)", scale=alt.Scale(type="log", nice=False)),
            y=y,
            color=alt.Color("measure:N", sort=rows["measure"].drop_duplicates().tolist(), legend=_LEGEND),
            tooltip=[
                alt.Tooltip("measure:N"),
                alt.Tooltip("depth:Q", title="depth"),
                alt.Tooltip("pairs:Q", title="judgements", format=","),
                alt.Tooltip("tau:Q", format=".3f"),
            ],
        )
    )
    rules = alt.Chart(pd.DataFrame({"tau": [0.9, 0.95]})).mark_rule(strokeDash=[5, 4], color=NEUTRAL).encode(y=y)
    return cast(alt.LayerChart, (rules + lines).properties(height=380))


def topics_chart(topics: pd.DataFrame, measure: str) -> alt.Chart:
    """Each topic by how well the systems do on it and by how much it decides.

    Parameters
    ----------
    topics
        As :func:`collection.reusability.describe_topics` gives them.
    measure
        By which.
    """
    chart = (
        alt.Chart(topics)
        .mark_point(filled=True, opacity=0.75, color=BLUE)
        .encode(
            x=alt.X("mean:Q", title=f"mean {measure} of the systems", scale=alt.Scale(nice=True, zero=False)),
            y=alt.Y("without:Q", title="tau without the topic", scale=alt.Scale(nice=True, zero=False)),
            size=alt.Size("relevant:Q", scale=alt.Scale(range=[30, 500]), legend=None),
            tooltip=[
                alt.Tooltip("query_id:N", title="topic"),
                alt.Tooltip("judged:Q"),
                alt.Tooltip("relevant:Q"),
                alt.Tooltip("mean:Q", format=".3f"),
                alt.Tooltip("spread:Q", format=".3f"),
                alt.Tooltip("agrees:Q", title="tau of its own order", format=".3f"),
                alt.Tooltip("without:Q", title="tau without it", format=".3f"),
            ],
        )
    )
    return cast(alt.Chart, chart.properties(height=340))


def bounds_chart(bounds: pd.DataFrame, measure: str) -> alt.LayerChart:
    """How far each mean could move if the unjudged were judged.

    Parameters
    ----------
    bounds
        The rows of one measure: ``run``, ``value``, ``lowest``, ``highest``.
    measure
        Which.
    """
    rows = bounds.sort_values("value", ascending=False)
    numbers = [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("lowest", "value", "highest")]
    base = alt.Chart(rows).encode(
        y=alt.Y("run:N", sort=rows["run"].tolist(), title=None, axis=alt.Axis(labelLimit=150, labelFlush=False)),
        tooltip=[alt.Tooltip("run:N"), *numbers],
    )
    x = alt.X("lowest:Q", title=f"mean {measure}", scale=alt.Scale(zero=False))
    span = base.mark_rule(strokeWidth=3, color=NEUTRAL).encode(x=x, x2="highest:Q")
    point = base.mark_point(filled=True, size=60, opacity=1, color=BLUE).encode(x=alt.X("value:Q"))
    return cast(alt.LayerChart, (span + point).properties(height=alt.Step(20)))
