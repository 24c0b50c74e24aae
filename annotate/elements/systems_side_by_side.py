"""The tables of the Compare page: the leaderboard, the tests, and two rankings of one topic side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts.comparison import OUTCOMES, STANDINGS
from annotate.elements import drawing
from collection.comparison import Comparison
from collection.records import Document

BEST, LIKE_BEST, WORSE = STANDINGS
DIFFERENT, EQUAL = OUTCOMES
_MARK_BEST = "font-weight: bold"
_MARK_LIKE_BEST = "background-color: rgba(47, 127, 209, 0.22)"
_THERE = "Its rank in the other ranking; empty where it is not in it."
_SHOWN_TEXT = 120
"""Characters of a document that stand beside its grade."""
VERY_FEW = 10
"""With fewer topics the page warns where nobody can miss it: one topic more may turn any conclusion round."""


def notes(comparison: Comparison, measure: str) -> list[str]:
    """What is to be known before a measure's conclusions are believed, as sentences."""
    measures = set(comparison.leaderboard["measure"])
    said = []
    for note in comparison.notes:
        about, colon, sentence = note.partition(": ")
        named = set(about.split(", "))
        if colon and named <= measures:
            if measure in named:
                said.append(sentence)
        else:
            said.append(note)
    return [f"{sentence[0].upper()}{sentence[1:].rstrip('.')}." for sentence in said]


def very_few(topics: int) -> str:
    """The warning that so few topics show little.

    >>> very_few(1)
    'There is only 1 topic. So few show little: one more may turn any of this round.'
    """
    there = "There is only 1 topic" if topics == 1 else f"There are only {topics:,} topics"
    return f"{there}. So few show little: one more may turn any of this round."


def standings(comparison: Comparison, measure: str) -> pd.DataFrame:
    """A measure's rows of the leaderboard, best first, with ``standing``: a key of ``charts_compare.STANDINGS``.

    Where more of the measure is not better, nobody is best, and the standing is empty.
    """
    rows = comparison.leaderboard[comparison.leaderboard["measure"] == measure]
    rows = rows.sort_values(["place", "system"], na_position="last", kind="stable", ignore_index=True)
    standing = rows["like_best"].map({True: LIKE_BEST, False: WORSE}).mask(rows["best"], BEST)
    return rows.assign(standing=standing.where(rows["place"].notna(), ""))


def leaderboard(comparison: Comparison, measure: str, *, full: bool) -> None:
    """Draw systems x measures, best by `measure` first; `full`: with an interval and the unjudged beside each value."""
    rows = standings(comparison, measure)
    order = rows["system"].tolist()
    table = _with_intervals(comparison) if full else comparison.table()
    table = table.loc[order]
    measures = list(comparison.table().columns)
    extra = {} if full else _beside(rows, confidence(comparison))
    shown = drawing.readable(table.assign(**extra).rename_axis("system"))
    best, like = (comparison.table(column).loc[order].astype(bool) for column in ("best", "like_best"))
    marks = like.replace({True: _MARK_LIKE_BEST, False: ""}).mask(best, f"{_MARK_BEST}; {_MARK_LIKE_BEST}")
    marks = marks.reindex(columns=shown.columns, fill_value="").set_axis(shown.index)
    styled = shown.style.apply(lambda _: marks, axis=None)
    if not full:
        shares = [name for name in extra if name.startswith("unjudged")]
        others = [name for name in extra if name.endswith((" from", "to", "spread of seeds"))]
        styled = styled.format("{:.4f}", subset=pd.Index([*measures, *others]), na_rep="")
        styled = styled.format("{:.0%}", subset=pd.Index(shares), na_rep="")
    drawing.dataframe(styled, height=min(35 * len(shown) + 38, 528), alt="The leaderboard: systems and measures")


def confidence(comparison: Comparison) -> str:
    """That of its intervals, in words: "95 %"."""
    return f"{100 * (1 - comparison.alpha):g} %"


def _beside(rows: pd.DataFrame, sure: str) -> dict[str, Any]:
    """What stands beside the values for the chosen measure: only what there is to say."""
    rows = rows.set_index("system")
    found: dict[str, Any] = {}
    if rows["low"].notna().any():
        found |= {f"{sure} from": rows["low"], "to": rows["high"]}
    if (rows["standing"] != "").any():
        found["beside the best"] = rows["standing"]
    cutoff = rows["cutoff"].iloc[0]
    found["unjudged" if pd.isna(cutoff) else f"unjudged@{cutoff}"] = rows["unjudged"]
    if rows["missing_topics"].any():
        found["missing topics"] = rows["missing_topics"]
    if (rows["seeds"] > 1).any():
        found |= {"seeds": rows["seeds"], "spread of seeds": rows["spread"]}
    return found


def _with_intervals(comparison: Comparison) -> pd.DataFrame:
    """Systems x measures as text: ``0.7123 (0.65 to 0.77)``; beside each how much of it is unjudged."""
    columns: dict[str, Any] = {}
    for measure, part in comparison.leaderboard.groupby("measure", sort=False):
        rows = part.set_index("system")
        values = rows["value"].map("{:.4f}".format)
        between = " (" + rows["low"].map("{:.2f}".format) + " to " + rows["high"].map("{:.2f}".format) + ")"
        columns[str(measure)] = values + between.where(rows["low"].notna(), "")
        columns[f"{measure}: unjudged"] = rows["unjudged"].map(lambda u: "" if pd.isna(u) else f"{u:.0%}")
    return pd.DataFrame(columns)


def outcomes(tests: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A measure's tests, largest difference first, with ``outcome``: a key of ``charts_compare.OUTCOMES``."""
    rows = tests[tests["measure"] == measure].sort_values("difference", ascending=False, ignore_index=True)
    return rows.assign(outcome=rows["significant"].map({True: DIFFERENT, False: EQUAL}))


def tests_table(rows: pd.DataFrame, sure: str) -> None:
    """Draw what :func:`outcomes` gives; `sure` is the confidence of the intervals, "95 %"."""
    columns: dict[str, Any] = {
        "system": st.column_config.TextColumn("System"),
        "baseline": st.column_config.TextColumn("Minus"),
        "system_a": st.column_config.TextColumn("System"),
        "system_b": st.column_config.TextColumn("Minus"),
        "difference": st.column_config.NumberColumn("Difference", format="%+.4f"),
        "low": st.column_config.NumberColumn(f"{sure} from", format="%+.4f"),
        "high": st.column_config.NumberColumn("to", format="%+.4f"),
        "effect": st.column_config.NumberColumn(
            "Effect", format="%.2f", help="Cohen's d of paired values: mean of the differences by their spread."
        ),
        "p": st.column_config.NumberColumn("p", format="%.4f"),
        "p_adjusted": st.column_config.NumberColumn("p, adjusted", format="%.4f"),
        "outcome": st.column_config.TextColumn("They are"),
        "wins": st.column_config.NumberColumn("Topics won", format="%d"),
        "ties": st.column_config.NumberColumn("equal", format="%d"),
        "losses": st.column_config.NumberColumn("lost", format="%d"),
    }
    drawing.dataframe(
        rows,
        hide_index=True,
        height=min(35 * len(rows) + 38, 388),
        column_order=[name for name in columns if name in rows],
        column_config=columns,
        alt="Differences with their tests",
    )


def rankings(table: pd.DataFrame, a: str, b: str) -> None:
    """Draw two rankings of a topic beside each other, as :meth:`collection.Campaign.side_by_side` gives them."""
    campaign = session.current().campaign
    documents = campaign.corpus.documents([d for side in "ab" for d in table[f"doc_{side}"] if d])
    for column, side, other, name in zip(st.columns(2), "ab", "ba", (a, b), strict=True):
        there = table[table[f"doc_{side}"] != ""]
        grades = there[f"grade_{side}"]
        shown = pd.DataFrame(
            {
                "rank": there["rank"],
                "grade": grades.map(lambda g: "–" if pd.isna(g) else f"{g:g}"),
                "rival": there[f"rank_in_{other}"],
                "document": there[f"doc_{side}"].map(lambda d: _name(documents.get(d), d)),
            }
        )
        column.markdown(f"**{drawing.plain(name)}**")
        with column:
            drawing.dataframe(
                drawing.readable(shown).style.apply(lambda _, g=grades: [_colour(x) for x in g], subset=["grade"]),
                hide_index=True,
                height=35 * len(table) + 38,
                placeholder="",
                alt=f"What {name} retrieved, with grades",
                column_config={
                    "rank": st.column_config.NumberColumn("Rank", width=55),
                    "grade": st.column_config.TextColumn("Grade", width=60),
                    "rival": st.column_config.NumberColumn("There at", width=75, help=_THERE),
                    "document": st.column_config.TextColumn("Document"),
                },
            )
    legend = ", ".join(f"**{g}** {drawing.plain(campaign.grades.label(g))}" for g in campaign.grades.sentences)
    st.caption(f"Grades, the bluer the higher: {legend}; **–** nobody judged it. *There at*: its rank in the other.")


def _name(document: Document | None, doc_id: str) -> str:
    """The id of a document and the beginning of what it says."""
    if document is None:
        return doc_id
    says = document.title or (document.text or "")
    return f"{doc_id}: {' '.join(says[:_SHOWN_TEXT].split())}"


def _colour(grade: float) -> str:
    """A cell's background: none for what nobody judged, grey for grade 0, and more blue for more."""
    if pd.isna(grade):
        return ""
    most = max(session.current().campaign.grades.sentences)
    strength = 0.2 + 0.55 * grade / max(most, 1)
    return f"background-color: rgba(47, 127, 209, {strength:.2f})" if grade > 0 else "background-color: #80889340"
