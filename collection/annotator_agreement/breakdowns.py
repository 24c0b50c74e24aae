"""Agreement over all, between annotators, by topic, over time, and by pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, get_args

import numpy as np
import pandas as pd

from collection.annotator_agreement.bootstrap import By, build_frame, compute_rows, values
from collection.annotator_agreement.coefficients import MIN_COMMON_PAIRS, Patterns
from collection.annotator_agreement.labels import MISSING, Codes, Labels
from collection.core.display import Displayed, Summary
from collection.core.phrases import count, plural
from collection.core.records import sort_naturally

if TYPE_CHECKING:
    import altair as alt

WINDOWS = 10
"""Number of windows over time; fewer if they would have less than :data:`MIN_WINDOW_PAIRS` pairs."""
MIN_WINDOW_PAIRS = 10

BreakdownName = Literal["between", "topics", "rest", "windows"]
BREAKDOWNS: tuple[BreakdownName, ...] = get_args(BreakdownName)

KEYS: dict[BreakdownName, list[str]] = {
    "between": ["a", "b", "pairs"],
    "topics": ["query_id", "pairs"],
    "rest": ["annotator", "pairs", "difference"],
    "windows": ["window", "first_at", "last_at", "pairs"],
}
"""The columns of each before those of values."""

LabelPart = tuple[tuple[object, ...], Labels]
"""The keys of a part of the labels, and that part."""


class AgreementOptions(TypedDict, total=False):
    """Parameters of :func:`values`."""

    level: float
    resamples: int
    seed: int
    by: By
    nominal: bool


@dataclass(frozen=True, repr=False)
class Agreement(Displayed):
    """Inter-annotator agreement; a console or notebook shows the coefficients over all pairs.

    Attributes
    ----------
    annotators
        Everybody who graded something, by name.
    pairs, several
        Graded pairs, and those of them that two annotators or more graded.
    judgements
        Number of grades.
    complete
        Whether every annotator graded every pair.
    grades
        The scale.
    values
        Over all: ``scale`` ("graded", "binary"), ``coefficient``, ``value``, ``low``, ``high``, ``note``.
    between
        For every two annotators with a common pair: ``a``, ``b``, ``pairs``, then as in `values`.
    topics
        For every topic with a pair of several annotators: ``query_id``, ``pairs`` (of several annotators), then as in
        `values`. Intervals are always by pairs.
    rest
        For every annotator against the majority of the others (the lower grade in a tie): ``annotator``, ``pairs``,
        ``difference`` (mean grade minus that of the others), then as in `values`.
    windows
        For windows of equally many pairs in order of their last judgement, if its time is known: ``window`` (from 1),
        ``first_at``, ``last_at`` (UTC), ``pairs``, then as in `values`.
    notes
        Sentences on grades that are left out.
    """

    annotators: tuple[str, ...]
    pairs: int
    several: int
    judgements: int
    complete: bool
    grades: tuple[float, ...]
    level: float
    resamples: int
    seed: int
    by: By
    values: pd.DataFrame
    between: pd.DataFrame
    topics: pd.DataFrame
    rest: pd.DataFrame
    windows: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def is_nominal(self) -> bool:
        """Return whether the grades were compared as names without an order."""
        return not (self.values["coefficient"] == "alpha-ordinal").any()

    def chart(self) -> alt.LayerChart:
        """Draw the coefficients over all pairs with their intervals."""
        from collection.charts.intervals import coefficients_chart
        from collection.charts.marks import WIDTH

        return coefficients_chart(self.values).properties(width=WIDTH)

    def _summary(self) -> Summary:
        of = f"{count(len(self.annotators), 'annotator')} over {count(self.several, 'pair')} with 2+ judgements"
        intervals = "; low and high are 95% confidence intervals" if self.values["low"].notna().any() else ""
        table = self.values if self.values["note"].any() else self.values.drop(columns="note")
        details = "values, between (annotators), topics, rest (each against the others), windows (over time), chart()"
        return Summary([f"Agreement of {of}{intervals}"], table, self.notes, details, row_names=False)


def agreement(
    frame: pd.DataFrame | Labels,
    *,
    level: float = 1,
    resamples: int = 1000,
    seed: int = 0,
    by: By = "pairs",
    grades: Iterable[float] | None = None,
    sides: Collection[BreakdownName] = BREAKDOWNS,
    nominal: bool = False,
) -> Agreement:
    """Compute inter-annotator agreement.

    Parameters
    ----------
    frame
        As for :meth:`Labels.of`. Annotators may have graded different pairs.
    level, resamples, seed, by, nominal
        As for :func:`values`.
    grades
        The scale, if it has grades that were never given.
    sides
        Which breakdowns to compute; the others are empty.

    Raises
    ------
    ColumnsError, InputError
        As for :meth:`Labels.of` and :func:`values`.

    Examples
    --------
    >>> labels = pd.DataFrame(
    ...     [("ann", "1", "d1", 2), ("ann", "1", "d2", 0), ("ann", "1", "d3", 1),
    ...      ("bob", "1", "d1", 2), ("bob", "1", "d2", 0), ("bob", "1", "d3", 2)],
    ...     columns=["annotator", "query_id", "doc_id", "relevance"],
    ... )
    >>> found = agreement(labels, resamples=0)
    >>> found.several
    3
    >>> print(found.values.set_index(["scale", "coefficient"])["value"].round(3)["graded", "alpha-interval"])
    0.828
    """
    labels = frame if isinstance(frame, Labels) else Labels.of(frame, grades)
    over_all = values(labels, level=level, resamples=resamples, seed=seed, by=by, nominal=nominal)
    frames = {
        side: break_down(
            labels,
            side,
            level=level,
            resamples=resamples,
            seed=seed,
            by="pairs" if side == "topics" else by,
            nominal=nominal,
        )
        if side in sides
        else build_frame([], KEYS[side])
        for side in BREAKDOWNS
    }
    return Agreement(
        labels.annotators,
        len(labels.pairs),
        int(labels.several.sum()),
        labels.count,
        bool(labels.count) and bool((labels.codes != MISSING).all()),
        tuple(map(float, labels.grades)),
        level,
        resamples,
        seed,
        by,
        over_all,
        frames["between"],
        frames["topics"],
        frames["rest"],
        frames["windows"],
        tuple(_notes(labels)),
    )


def break_down(labels: Labels, side: BreakdownName, **options: Unpack[AgreementOptions]) -> pd.DataFrame:
    """Compute one breakdown, a frame as in :class:`Agreement`; `options` as for :func:`values`."""
    parts = _SPLITS[side](labels)
    return build_frame([(*keys, *row) for keys, part in parts for row in compute_rows(part, **options)], KEYS[side])


def _split_by_annotators(labels: Labels) -> Iterator[LabelPart]:
    for a, b in combinations(labels.annotators, 2):
        two = labels.between(a, b)
        if len(two.pairs):
            yield (a, b, len(two.pairs)), two


def _split_by_topic(labels: Labels) -> Iterator[LabelPart]:
    several = labels.several
    topics, names = pd.factorize(labels.topics)
    for number, query_id in enumerate(names):
        places = np.flatnonzero(topics == number)
        if several[places].any():
            yield (str(query_id), int(several[places].sum())), labels.rows(places)


def _set_against_majority(labels: Labels) -> Iterator[LabelPart]:
    labels = labels.rows(labels.several)
    for annotator in labels.annotators:
        two = labels.against_rest(annotator)
        if len(two.pairs):
            yield (annotator, len(two.pairs), labels.difference(annotator)), two


def _split_by_time(labels: Labels) -> Iterator[LabelPart]:
    known = np.flatnonzero(labels.several & labels.finished_at.notna().to_numpy())
    order = known[np.argsort(labels.finished_at.to_numpy()[known], kind="stable")]
    count = min(WINDOWS, len(order) // MIN_WINDOW_PAIRS)
    for number, places in enumerate(np.array_split(order, count) if count else [], start=1):
        first, last = labels.finished_at.iloc[places[0]], labels.finished_at.iloc[places[-1]]
        yield (number, first, last, len(places)), labels.rows(places)


_SPLITS: dict[BreakdownName, Callable[[Labels], Iterator[LabelPart]]] = {
    "between": _split_by_annotators,
    "topics": _split_by_topic,
    "rest": _set_against_majority,
    "windows": _split_by_time,
}


def confusion(labels: Labels, a: str | None = None, b: str | None = None) -> pd.DataFrame:
    """Confusion matrix of two annotators, or of all.

    Returns
    -------
    DataFrame
        Grades x grades, counts: rows `a`'s grades, columns `b`'s. Without `a` and `b` the matrix counts every two
        judgements of a pair and is symmetric: a disagreement is in both of its cells.
    """
    size = len(labels.grades)
    if a is not None and b is not None:
        counts = _crossed(labels.between(a, b).codes.T, size)
    else:
        votes = labels.votes[labels.several].astype(np.int64)
        counts = votes.T @ votes
        np.fill_diagonal(counts, (np.diag(counts) - votes.sum(axis=0)) // 2)  # two who agree are in a cell once
    return pd.DataFrame(counts, index=labels.grades, columns=labels.grades)


def _crossed(two: Codes, size: int) -> np.ndarray:
    both = (two != MISSING).all(axis=0)
    first, second = two[:, both].astype(np.intp)
    return np.bincount(first * size + second, minlength=size * size).reshape(size, size)


def disagreements(
    labels: Labels,
    *,
    annotators: tuple[str, str] | None = None,
    grades: tuple[float, float] | None = None,
    query_id: str | None = None,
) -> pd.DataFrame:
    """List pairs that annotators grade differently, largest distance first, then by topic and document.

    Parameters
    ----------
    annotators
        Only pairs that both of these graded, with their grades.
    grades
        Only pairs of one cell of :func:`confusion`.
    query_id
        Only pairs of this topic.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``grades`` (annotator -> grade), ``distance`` (highest minus lowest).
    """
    selected = labels.rows(labels.several) if annotators is None else labels.between(*annotators)
    if not len(selected.pairs):
        return pd.DataFrame(columns=["query_id", "doc_id", "grades", "distance"])
    graded, numbers = selected.codes != MISSING, selected.grades[selected.codes]
    distance = np.where(graded, numbers, -np.inf).max(axis=1) - np.where(graded, numbers, np.inf).min(axis=1)
    chosen = np.ones(len(distance), dtype=bool) if grades is not None else distance > 0
    if query_id is not None:
        chosen &= (selected.topics == query_id).to_numpy()
    if grades is not None and annotators is not None:
        chosen &= (numbers == grades).all(axis=1)
    elif grades is not None:
        one, other = (((numbers == grade) & graded).sum(axis=1) for grade in grades)
        chosen &= (one > 1) if grades[0] == grades[1] else (one > 0) & (other > 0)
    rows = np.flatnonzero(chosen)
    grades_by_pair = [
        {a: float(numbers[row, place]) for place, a in enumerate(selected.annotators) if graded[row, place]}
        for row in rows
    ]
    listed = (
        selected.pairs[["query_id", "doc_id"]]
        .iloc[rows]
        .assign(grades=pd.Series(grades_by_pair, index=rows, dtype=object), distance=distance[rows])
    )
    listed = sort_naturally(listed.sort_values("doc_id", kind="stable"))
    return listed.sort_values("distance", ascending=False, kind="stable").reset_index(drop=True)


def _notes(labels: Labels) -> Iterator[str]:
    several, pairs = int(labels.several.sum()), len(labels.pairs)
    if labels.repeated:
        yield (
            f"{count(labels.repeated, 'row')} left out: the same annotator graded the pair again further down, and the "
            "last grade counts."
        )
    if several and several < pairs:
        yield (
            f"{pairs - several:,} of {pairs:,} pairs {plural(pairs - several, 'has', 'have')} only one grade, which "
            "affects only the grade frequencies in Fleiss' kappa and Gwet's coefficients."
        )
    if several and len(set((labels.codes[labels.several] != MISSING).sum(axis=1).tolist())) > 1:
        yield "Pairs have different numbers of grades, so Fleiss' kappa is computed in Gwet's form."
    if several and len(labels.annotators) > 2:
        means = "Cohen's kappas and the overlap are unweighted means over all pairs of annotators with common pairs"
        if left_out := Patterns(labels).left_out:
            few = f"{count(left_out, 'pair of annotators', 'pairs of annotators')} with fewer than {MIN_COMMON_PAIRS}"
            means += f"; {few} common pairs {plural(left_out, 'is', 'are')} left out"
        yield f"{means}."
