"""A comparison in words: conclusions, and what a reader should know before believing them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from collection.comparison.evaluation import Evaluation, direction
from collection.comparison.system_names import MARK, mistaken_seeds
from collection.errors import UnknownNameError
from collection.measures import parse
from collection.statistics import CORRECTIONS

UNJUDGED_TO_SAY = 0.05
"""From this share of unjudged documents on, a note says how many there are."""


def pointing(tests: pd.DataFrame) -> pd.Series:
    """Which way each row of a comparison's tests points, -1, 0 or 1, system less baseline.

    By what the test is of: tests by ranks and by signs are of a median, which may lie on the other side of no
    difference than the mean does.

    Examples
    --------
    >>> of = {"difference": [-0.164, -0.2], "low": [0.1, -0.3], "high": [0.1, -0.1], "interval_of": ["median", "mean"]}
    >>> pointing(pd.DataFrame(of)).tolist()
    [1.0, -1.0]
    """
    middle = (tests["low"] + tests["high"]).astype("float64")
    mean = tests["difference"].astype("float64")
    of = mean.where((tests["interval_of"] == "mean") | (middle == 0) | middle.isna(), middle)
    return (of > 0).astype("float64") - (of < 0)


class Notes:
    """Sentences with the measures that they are about; one that is about all of them names none."""

    def __init__(self, measures: Iterable[str]) -> None:
        self.measures = list(measures)
        self.said: dict[str, list[str]] = {}

    def of(self, measure: str, sentence: str) -> None:
        """Say something about one measure."""
        self.said.setdefault(sentence, []).append(measure)

    def all(self, sentence: str) -> None:
        """Say something about everything."""
        self.said[sentence] = self.measures

    def sentences(self) -> tuple[str, ...]:
        """Each once, in the order in which they were first said."""
        return tuple(
            sentence if len(of) == len(self.measures) else f"{', '.join(of)}: {sentence}"
            for sentence, of in self.said.items()
        )


def note(
    said: Notes,
    evaluation: Evaluation,
    runs: list[str],
    of_seeds: pd.DataFrame,
    baseline: str | None,
    tests: list[pd.DataFrame],
) -> None:
    """What is to be said besides what the tests themselves raise."""
    if baseline is None and any(map(len, tests)):
        said.all(
            "the systems are tested against the best by these same topics, which chance has helped; name a baseline "
            "where there is one"
        )
    if len(said.measures) > 1 and any(map(len, tests)):
        said.all("p is adjusted within each measure, not for there being several")
    for c in evaluation.coverage:
        if c.missing_topics:
            said.all(f"{c.run} lacks {len(c.missing_topics):,} of {c.topics:,} topics, which count as empty rankings")
    if evaluation.unjudged is not None:
        for name, rows in evaluation.unjudged.groupby("measure", sort=False):
            most = rows.iloc[int(rows["unjudged"].argmax())]
            # Whole rankings always have unjudged documents, and mostly far down: their share stands in the table.
            if most["unjudged"] >= UNJUDGED_TO_SAY and not pd.isna(most["cutoff"]):
                said.of(
                    str(name),
                    f"of the first {most['cutoff']:,} of {most['run']} {most['unjudged']:.0%} are unjudged, which is "
                    f"the most (the least: {rows['unjudged'].min():.0%}); the measure decides what they count as",
                )
    several = of_seeds[of_seeds["seeds"] > 1].drop_duplicates("system")
    for system, count in zip(several["system"], several["seeds"], strict=True):
        said.all(f"{system} is the mean of {count} seeds ({system}{MARK}...), and its topics have the mean over them")
    for name in mistaken_seeds(runs):
        said.all(f"runs that begin with {name}{MARK} are not taken for seeds, since a run is called {name}")


def of_best(rows: pd.DataFrame, topics: int) -> str:
    """Which system is the best by one measure (rows of its leaderboard), and who cannot be told from it."""
    measure = str(rows["measure"].iloc[0])
    over = f"{topics:,} {'topic' if topics == 1 else 'topics'}"
    best = rows[rows["best"]]
    if best.empty:
        return f"More {measure} is neither better nor worse ({over})."
    word = "highest" if direction(parse(measure)) > 0 else "lowest"
    names = " and ".join(best["system"])
    have, them = ("has", "it") if len(best) == 1 else ("have", "them")
    start = f"{names} {have} the {word} {measure}, {best['value'].iloc[0]:.4f} over {over}"
    others = rows[~rows["best"]]
    if others.empty:
        return f"{start}."
    alike = others.loc[others["like_best"], "system"].tolist()
    if not alike:
        return f"{start}; every other system is significantly worse."
    rest = f", and {len(alike) - 5:,} more" if len(alike) > 5 else ""
    return f"{start}; not distinguishable from {them}: {', '.join(alike[:5])}{rest}."


def of_test(tests: pd.DataFrame, measure: str, system: str, *, correction: str, alpha: float) -> str:
    """How far a system is from its baseline by one measure, and what could be seen between these two."""
    rows = tests[tests["measure"] == measure]
    if system not in set(rows["system"]):
        raise UnknownNameError("tested system", system, rows["system"])
    row = rows[rows["system"] == system].iloc[0]
    corrected = "" if correction == "none" else f" after {CORRECTIONS[correction].label}"
    each = "" if parse(measure).entry.summary == "mean" else " a topic, on average,"
    by = f"{abs(row['difference']):.4f} {measure}{each}"
    less = ", where less is better" if direction(parse(measure)) < 0 else ""
    of = "" if row["interval_of"] == "mean" else f" of the {row['interval_of']}"
    verdict = "significant" if row["significant"] else "not significant"
    start = (
        f"{system} and {row['baseline']} have the same {measure}"
        if row["difference"] == 0
        else f"{system} is {by} {'above' if row['difference'] > 0 else 'below'} {row['baseline']}{less}"
    )
    other_way = row["significant"] and float(pointing(rows[rows["system"] == system]).iloc[0]) * row["difference"] < 0
    side = "below" if row["difference"] > 0 else "above"
    contrary = f", but the other way round: by the {row['interval_of']} it is {side}" if other_way else ""
    # Where every topic has the same difference, its spread says nothing of what could be seen.
    power = (
        f" Between these two a difference of {row['detectable']:.4f} could be seen with 80 % power ({row['topics']:,} "
        "topics, paired t test, uncorrected)."
        if row["detectable"] > 0
        else ""
    )
    return (
        f"{start} ({confidence(alpha)} interval{of} {row['low']:+.4f} to {row['high']:+.4f}, "
        f"p {probability(row['p_adjusted'], equals='= ')}{corrected}): {verdict}{contrary}.{power}"
    )


def probability(p: float, equals: str = "") -> str:
    """A p-value in so many decimals that it seldom seems to lie on the other side of a level than it does.

    >>> probability(0.0504), probability(0.00001), probability(0.0504, equals="= ")
    ('0.0504', '< 0.0001', '= 0.0504')
    """
    return "< 0.0001" if p < 0.0001 else f"{equals}{p:.4f}"


def confidence(alpha: float) -> str:
    """That of an interval at a level.

    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    return f"{100 * (1 - alpha):g}%"
