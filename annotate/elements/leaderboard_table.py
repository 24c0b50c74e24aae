"""The leaderboard of systems and measures, with the best of each marked, and its caveats."""

import pandas as pd
import streamlit as st

from annotate.charts.comparison import STANDINGS
from annotate.elements import display, widgets
from collection.comparison import Comparison

BEST, LIKE_BEST, WORSE = STANDINGS
_MARK_BEST = "font-weight: bold"
_MARK_LIKE_BEST = "background-color: rgba(47, 127, 209, 0.22)"
FEW_TOPICS = 10  # topics below which the page warns: one more may reverse any conclusion


def notes(comparison: Comparison, measure: str) -> list[str]:
    """Caveats of a measure's conclusions, as sentences."""
    measures = set(comparison.leaderboard["measure"])
    found = []
    for note in comparison.notes:
        about, colon, sentence = note.partition(": ")
        named = set(about.split(", "))
        is_about_measures = bool(colon) and named <= measures
        if not is_about_measures or measure in named:
            found.append(sentence if is_about_measures else note)
    return [f"{sentence[0].upper()}{sentence[1:].rstrip('.')}." for sentence in found]


def draw_conclusions(comparison: Comparison, measure: str, ranked: pd.DataFrame) -> None:
    """Draw a measure's conclusions (`ranked`: :func:`rows`) in words, with warnings and notes."""
    compared = set(comparison.tests.loc[comparison.tests["measure"] == measure, "system"])
    with st.container(border=True):
        st.write(widgets.plain(comparison.sentence(measure)))
        if rival := next((system for system in ranked["system"] if system in compared), None):
            st.write(widgets.plain(comparison.sentence(measure, rival)))
        if comparison.topics < FEW_TOPICS:
            there = "is only 1 topic" if comparison.topics == 1 else f"are only {comparison.topics:,} topics"
            st.warning(f"There {there}. So few show little: one more may turn any of this round.")
    if found := notes(comparison, measure):
        with st.expander(f"What to bear in mind ({len(found)})"):
            for note in found:
                st.markdown(f"- {widgets.plain(note)}")


def rows(comparison: Comparison, measure: str) -> pd.DataFrame:
    """A measure's rows, best first, with ``standing``: a key of :data:`STANDINGS`, empty without a direction."""
    found = comparison.leaderboard[comparison.leaderboard["measure"] == measure]
    found = found.sort_values(["place", "system"], na_position="last", kind="stable", ignore_index=True)
    standing = found["like_best"].map({True: LIKE_BEST, False: WORSE}).mask(found["best"], BEST)
    return found.assign(standing=standing.where(found["place"].notna(), ""))


def draw(comparison: Comparison, measure: str, ranked: pd.DataFrame) -> None:
    """Draw systems x measures, best by `measure` first (`ranked`: :func:`rows`)."""
    st.subheader("Leaderboard")
    full = st.toggle("With an interval and the unjudged beside every value", key="full")
    order = ranked["system"].tolist()
    table = (_with_intervals(comparison) if full else comparison.table()).loc[order]
    measures = list(comparison.table().columns)
    extra = {} if full else _extra_columns(ranked, confidence(comparison))
    shown = display.readable(table.assign(**extra).rename_axis("system"))
    best, like = (comparison.table(column).loc[order].astype(bool) for column in ("best", "like_best"))
    marks = like.replace({True: _MARK_LIKE_BEST, False: ""}).mask(best, f"{_MARK_BEST}; {_MARK_LIKE_BEST}")
    marks = marks.reindex(columns=shown.columns, fill_value="").set_axis(shown.index)
    styled = shown.style.apply(lambda _: marks, axis=None)
    if not full:
        shares = [name for name in extra if name.startswith("unjudged")]
        others = [name for name in extra if name.endswith((" from", "to", "spread of seeds"))]
        styled = styled.format("{:.4f}", subset=pd.Index([*measures, *others]), na_rep="")
        styled = styled.format("{:.0%}", subset=pd.Index(shares), na_rep="")
    display.dataframe(styled, height=display.height(shown, 528), alt="The leaderboard: systems and measures")


def confidence(comparison: Comparison) -> str:
    """The confidence of its intervals: ``95 %``."""
    return f"{100 * (1 - comparison.alpha):g} %"


def _extra_columns(ranked: pd.DataFrame, sure: str) -> dict[str, pd.Series]:
    """Columns about the chosen measure beside the values; those without information are left out."""
    ranked = ranked.set_index("system")
    found: dict[str, pd.Series] = {}
    if ranked["low"].notna().any():
        found |= {f"{sure} from": ranked["low"], "to": ranked["high"]}
    if (ranked["standing"] != "").any():
        found["beside the best"] = ranked["standing"]
    cutoff = ranked["cutoff"].iloc[0]
    found["unjudged" if pd.isna(cutoff) else f"unjudged@{cutoff}"] = ranked["unjudged"]
    if ranked["missing_topics"].any():
        found["missing topics"] = ranked["missing_topics"]
    if (ranked["seeds"] > 1).any():
        found |= {"seeds": ranked["seeds"], "spread of seeds": ranked["spread"]}
    return found


def _with_intervals(comparison: Comparison) -> pd.DataFrame:
    """Systems x measures as text, ``0.7123 (0.65 to 0.77)``, each followed by its share of unjudged documents."""
    columns: dict[str, pd.Series] = {}
    for measure, part in comparison.leaderboard.groupby("measure", sort=False):
        ranked = part.set_index("system")
        values = ranked["value"].map("{:.4f}".format)
        between = " (" + ranked["low"].map("{:.2f}".format) + " to " + ranked["high"].map("{:.2f}".format) + ")"
        columns[str(measure)] = values + between.where(ranked["low"].notna(), "")
        columns[f"{measure}: unjudged"] = ranked["unjudged"].map(lambda u: "" if pd.isna(u) else f"{u:.0%}")
    return pd.DataFrame(columns)
