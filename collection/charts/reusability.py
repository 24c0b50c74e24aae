"""Charts of reusability: depths, runs left out, and topics."""

import altair as alt
import pandas as pd

from collection.charts.intervals import intervals_chart
from collection.charts.marks import BLUE, GREY, LEGEND, ORANGE, colours, names_axis, shapes, tooltips

POOLED, LEFT_OUT, NEW = "pooled", "left out", "not pooled"
_BEFORE_AFTER = {POOLED: ("circle", BLUE), LEFT_OUT: ("diamond", ORANGE)}
_KINDS = {**_BEFORE_AFTER, NEW: ("square", GREY)}


def judged_chart(curves: pd.DataFrame, depth: int) -> alt.LayerChart:
    """Judged@k against k: a thin line for each run, a thick one for their mean, and a dashed one at the pool's `depth`.

    `curves` has ``run``, ``depth``, ``judged`` and ``left_out`` (nan for a run that was not pooled).
    """
    new = curves["left_out"].isna()
    # Renamed, not assigned: a frame without rows would take over the rows of an assigned column.
    parts = [
        curves[~new].rename(columns={"judged": "share"}).assign(kind=POOLED),
        curves[~new].rename(columns={"left_out": "share"}).assign(kind=LEFT_OUT),
        curves[new].rename(columns={"judged": "share"}).assign(kind=NEW),
    ]
    lines = pd.concat([part[["run", "depth", "share", "kind"]] for part in parts], ignore_index=True)
    mean = lines.groupby(["kind", "depth"], as_index=False).agg({"share": "mean"})
    x = alt.X("depth:Q", title="Depth k (ranks)", scale=alt.Scale(nice=False), axis=alt.Axis(tickMinStep=1))
    y = alt.Y("share:Q", title="Judged among the first k", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    shown = set(lines["kind"])
    colour = colours("kind", {kind: mark for kind, mark in _KINDS.items() if kind in shown}, LEGEND)
    tips = tooltips(mean, kind="Runs", depth="Depth", share=("Judged", ".1%"))
    thin = alt.Chart(lines).mark_line(strokeWidth=1, opacity=0.3)
    thin = thin.encode(x=x, y=y, color=colour, detail=["run:N"], tooltip=[alt.Tooltip("run", title="Run"), *tips])
    thick = alt.Chart(mean).mark_line(strokeWidth=3).encode(x=x, y=y, color=colour, tooltip=tips)
    rule = alt.Chart(pd.DataFrame({"depth": [depth]})).mark_rule(strokeDash=[5, 4], color=GREY).encode(x="depth:Q")
    return alt.LayerChart(layer=[thin, thick, rule], height=400)


def left_out_chart(
    left_out: pd.DataFrame, measure: str, pooled: str = POOLED, unique: str = "pairs", relevant: str = "relevant pairs"
) -> alt.LayerChart:
    """Each run's mean with and without its group's judgements (one measure of ``Reusability.left_out``).

    `pooled` names the values with all judgements, `unique` and `relevant` what only the group contributed.
    """
    kinds = {pooled: _BEFORE_AFTER[POOLED], LEFT_OUT: _BEFORE_AFTER[LEFT_OUT]}
    base = alt.Chart(left_out).encode(
        y=names_axis(left_out, "run", 150),
        tooltip=tooltips(
            left_out,
            run="Run",
            group="Group",
            unique=f"Unique {unique}",
            relevant=f"Unique {relevant}",
            before=(pooled.capitalize(), ".4f"),
            after=("Left out", ".4f"),
            place_before=f"Rank, {pooled}",
            place_after="Rank, left out",
        ),
    )
    # With padding instead of a round domain, no label stands at the edge, where it would be cut.
    title, scale, axis = f"Mean {measure}", alt.Scale(zero=False, nice=False, padding=14), alt.Axis(tickCount=10)
    start = alt.X("before:Q", title=title, scale=scale, axis=axis)
    span = base.mark_rule(strokeWidth=2, color=GREY).encode(x=start, x2="after:Q")
    points = (
        base.transform_fold(["before", "after"], as_=["when", "value"])
        .transform_calculate(kind=f"datum.when == 'before' ? '{pooled}' : '{LEFT_OUT}'")
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("value:Q", title=title, scale=scale, axis=axis),
            color=colours("kind", kinds, LEGEND),
            shape=shapes("kind", kinds, LEGEND),
        )
    )
    return alt.LayerChart(layer=[span, points], height=alt.Step(20))


def order_stability_chart(settling: pd.DataFrame) -> alt.LayerChart:
    """Kendall's ``tau`` of the order by pools of a ``depth`` (of ``pairs``), a line for each ``measure``."""
    rows = settling.dropna(subset="tau")
    lowest = min(0.7, float(rows["tau"].min())) if len(rows) else 0.0
    y = alt.Y("tau:Q", title="Kendall's tau", scale=alt.Scale(domain=[lowest, 1], nice=False))
    lines = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=30, filled=True), strokeWidth=2)
        .encode(
            x=alt.X("depth:Q", title="Pool depth (ranks, log scale)", scale=alt.Scale(type="log", nice=False)),
            y=y,
            color=alt.Color("measure:N", sort=rows["measure"].drop_duplicates().tolist(), legend=LEGEND),
            tooltip=tooltips(
                rows, measure="Measure", depth="Pool depth", pairs=("Judgements", ","), tau=("Tau", ".3f")
            ),
        )
    )
    rules = alt.Chart(pd.DataFrame({"tau": [0.9, 0.95]})).mark_rule(strokeDash=[5, 4], color=GREY).encode(y=y)
    return alt.LayerChart(layer=[rules, lines], height=380)


def topics_chart(topics: pd.DataFrame, measure: str) -> alt.Chart:
    """Each topic of :func:`collection.reusability.describe_topics` by the systems' mean and its influence on them."""
    scale = alt.Scale(nice=True, zero=False)
    dots = alt.Chart(topics, height=340).mark_point(filled=True, opacity=0.75, color=BLUE)
    chart: alt.Chart = dots.encode(
        x=alt.X("mean:Q", title=f"Mean {measure} of the systems", scale=scale),
        y=alt.Y("without:Q", title="Tau without topic", scale=alt.Scale(nice=True, zero=False, padding=12)),
        size=alt.Size("relevant:Q", scale=alt.Scale(range=[30, 500]), legend=None),
        tooltip=tooltips(
            topics,
            query_id="Topic",
            judged="Judged",
            relevant="Relevant",
            mean=(f"Mean {measure}", ".3f"),
            spread=("Std. dev.", ".3f"),
            agrees=("Tau, topic alone", ".3f"),
            without=("Tau without topic", ".3f"),
        ),
    )
    return chart


def bounds_chart(bounds: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Ranges of means over all grades of the unjudged: ``run``, ``value``, ``lowest`` and ``highest``."""
    rows = bounds.sort_values("value", ascending=False)
    numbers = {name: (name.capitalize(), ".4f") for name in ("lowest", "value", "highest")}
    tips, names = tooltips(rows, run="Run", **numbers), names_axis(rows, "run", 150)
    return intervals_chart(rows, names, "value", f"Mean {measure}", tips, ends=("lowest", "highest"))
