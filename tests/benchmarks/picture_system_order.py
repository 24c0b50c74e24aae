"""Draw ``docs/images/system-order.svg`` and its dark variant: ranks of systems from a tenth of the judgements.

The replay is that of ``bench_budgets.py`` on TREC DL 2019: the depth-10 pool of its 37 systems, nDCG@10, no texts.
Each system has its rank by all qrels and its rank after a tenth of the pool, from decisive pairs with estimates, and
from the first documents of every run. Prints tau. Needs ``../shared/data`` and vl-convert-python.
"""

import sys
from pathlib import Path

import altair as alt
import pandas as pd
from scipy.stats import rankdata

sys.path.insert(0, str(Path(__file__).parent))

import bench_budgets as bench

from collection.charts.marks import BLUE, GREY
from collection.simulation import budgets
from collection.statistics.rank_correlation import kendall

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SHARE = 0.1
THEMES = {
    "system-order": {"text": "#1f2328", "grid": "#d0d7de", "background": "#ffffff"},
    "system-order-dark": {"text": "#e6edf3", "grid": "#3d444d", "background": "#0d1117"},
}
"""Picture -> its colours."""


def ranked() -> tuple[pd.DataFrame, int, int]:
    """Ranks by both ways with the titles of the panels, and the numbers of judged and of all pairs."""
    replay = bench.Replay("DL 2019", None)
    budget = int(SHARE * len(replay.grades) + 1e-9)
    decisive = [row for batch in replay.batches(SHARE) for row in batch][:budget]
    (first,) = budgets._choose(replay.material, "depth", [SHARE], bench.NDCG, replay.seed)
    values = {
        "Decisive pairs, with estimates": replay.expected(replay.judged(decisive)).mean(axis=1),
        "First documents of every run": replay.judged_only(replay.judged(first)),
    }
    true = rankdata(-replay.truth)
    rows = []
    for way, found in values.items():
        title = f"{way}: tau = {kendall(replay.truth, found):.2f}"
        print(title, f"{budget:,} of {len(replay.grades):,} pairs judged", sep="; ")
        rows += [{"panel": title, "true": a, "found": b} for a, b in zip(true, rankdata(-found), strict=True)]
    return pd.DataFrame(rows), budget, len(replay.grades)


def draw(rows: pd.DataFrame, judged: int, pairs: int, text: str, grid: str, background: str) -> alt.HConcatChart:
    """Draw one panel for each way; a point on the dashed line has the same rank as by all judgements."""
    last = int(rows["true"].max())
    scale, axis = alt.Scale(domain=[0, last + 1], nice=False), alt.Axis(values=[1, 10, 20, 30, last])
    x = alt.X("true:Q", title=f"Rank of the system by all {pairs:,} judgements", scale=scale, axis=axis)
    y = alt.Y("found:Q", title=f"Rank by {judged:,} judgements", scale=scale, axis=axis)
    same = alt.Chart(pd.DataFrame({"true": [1, last], "found": [1, last]}))
    line = same.mark_line(strokeDash=[5, 4], color=GREY).encode(x=x, y=y)
    panels = []
    for title, here in rows.groupby("panel", sort=False):
        points = alt.Chart(here).mark_circle(size=60, color=BLUE, opacity=1).encode(x=x, y=y)
        panels.append(alt.layer(line, points, title=title).properties(width=320, height=320))
    chart = alt.hconcat(*panels, spacing=40, background=background, padding=8)
    chart = chart.configure_axis(labelColor=text, titleColor=text, gridColor=grid, domainColor=grid, tickColor=grid)
    return chart.configure_view(stroke=grid).configure_title(color=text, fontSize=14)


def main() -> None:
    rows, judged, pairs = ranked()
    for name, theme in THEMES.items():
        draw(rows, judged, pairs, **theme).save(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
