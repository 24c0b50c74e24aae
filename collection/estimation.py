"""Estimation of values for partly judged pools: pool -> joint draws of the unjudged grades -> estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from collection import comparison
from collection.comparison import EstimatedPool, Estimates, SystemOrder, Unlisted
from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import count, percent
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.expected_judgements import Pairs, count_unlisted, describe, draw_values, reads_unlisted
from collection.measures import Measure, as_measure, as_measures, list_measures

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Texts = Callable[[pd.DataFrame], "csr_matrix | None"]
"""Takes N pairs, gives the (N, columns) features of their documents; None if there are none."""

WHOLE = 100
"""Ranks of each run in the pool for measures that read whole rankings."""

GIGABYTES = 2.0
"""Memory that the model of the unjudged grades may take."""

MOST_GRADES = 20
"""Largest number of grades of a scale; labels from clicks have many more."""

KEYS = ["query_id", "doc_id"]


def estimate(
    runs: Iterable[Run],
    qrels: pd.DataFrame,
    measures: Measure | str | Iterable[Measure | str],
    *,
    pool: pd.DataFrame | None = None,
    depth: int | None = None,
    texts: Texts | None = None,
    scale: Iterable[float] | None = None,
    separate_seeds: bool = False,
    draws: int = 200,
    alpha: float = 0.05,
    seed: int = 0,
    strangers: bool = False,
) -> Estimates:
    """Estimate the values that runs would have if all pairs of the pool were judged.

    The grades of unjudged pairs are drawn jointly from a model of the judged ones
    (:mod:`collection.expected_judgements`); each draw gives a value, and all draws an estimate with a range.
    Documents outside the pool count as not relevant.

    Parameters
    ----------
    runs
        One or more.
    qrels
        :data:`.QRELS`. Their topics are the topics; pairs with a negative grade are unjudged pairs of
        the pool.
    measures
        Measures that read nothing but grades.
    pool
        ``query_id``, ``doc_id``: the pool. By default the first `depth` documents of each run. The pairs of the qrels
        belong to it in any case.
    depth
        Without `pool`: by default the deepest cut-off of the measures, or 100 with a measure that has none.
    texts
        Gives features of documents, so that similar texts have similar grades.
    scale
        All grades of the scale; by default 0 and the grades of the qrels.
    separate_seeds, alpha
        As for :func:`collection.comparison.summarise_draws`.
    draws, seed
        Number and random seed of the draws.
    strangers
        As for :func:`collection.comparison.evaluate`.

    Raises
    ------
    InputError
        A measure cannot be estimated, nothing is judged, the scale has too many grades, the pool is too large for the
        memory, a number is out of range, or as for :func:`collection.comparison.evaluate`.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "relevance": [0, 1]})
    >>> run = Run("a", pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]}))
    >>> estimate([run], qrels, "RR").table().loc["a", "RR"].item()
    0.5
    """
    runs, listed = list(runs), list_measures(measures)
    requested = as_measures(listed)
    for measure in requested:
        if reason := explain_refusal(measure):
            raise InputError(f"{measure} cannot be estimated: {reason}; evaluate it without estimated grades")
    if draws < 1 or not 0 < alpha < 1 or seed < 0 or (depth is not None and depth < 1):
        raise InputError(
            "expected 1 or more draws, alpha between 0 and 1, a seed of 0 or more and a pool depth of 1 or more; found "
            f"{count(draws, 'draw')}, alpha {alpha:g}, seed {seed} and pool depth {depth}"
        )
    # Checks runs and qrels, and tells which topics the runs lack.
    plain = comparison.evaluate(runs, qrels, listed, strangers=strangers)
    named = qrels.assign(**{key: qrels[key].astype("str") for key in KEYS})
    graded = named.groupby(KEYS, sort=False)["relevance"].max()
    if not (graded >= 0).any():
        raise InputError("the qrels have no grade of 0 or more to estimate the others from; judge some pairs first")
    topics = graded.index.get_level_values("query_id").unique()
    cutoffs = [measure.cutoff for measure in requested]
    if pool is None:
        depth = max(WHOLE if cutoff is None else cutoff for cutoff in cutoffs) if depth is None else depth
        pool = _first_pairs(runs, depth)
        origin = f"the first {count(depth, 'document')} of each run and the pairs of the qrels"
    else:
        origin = "the pairs of the campaign's pool and those with a grade"
    frame = pd.concat([graded.index.to_frame(index=False), pool[KEYS].astype("str")]).drop_duplicates(ignore_index=True)
    frame = frame[frame["query_id"].isin(topics)].reset_index(drop=True)
    grades = graded.reindex(pd.MultiIndex.from_frame(frame)).to_numpy(dtype=np.float64, copy=True)
    grades[grades < 0] = np.nan
    judged = ~np.isnan(grades)
    levels = sorted({0.0, *grades[judged].tolist(), *(scale or ())})
    levels = levels if len(levels) > 1 else [0.0, 1.0]  # nothing relevant is known yet
    if len(levels) > MOST_GRADES and not judged.all():
        raise InputError(
            f"expected a scale of at most {MOST_GRADES} grades, found {len(levels):,}; round the grades, since the "
            "probability of each one is estimated"
        )
    features = None if texts is None or judged.all() else texts(frame)
    if not judged.all():
        require_memory(frame, len(runs), len(levels), draws, with_texts=features is not None)
    pairs = describe(frame, runs, texts=features)
    drawn = draw_values(pairs, grades, requested, levels=levels, draws=draws, seed=seed)
    facts = EstimatedPool(
        len(topics),
        int(judged.sum()),
        int((~judged).sum()),
        _basis(pairs),
        origin,
    )
    reached = [c._replace(unjudged_at_10=0.0) for c in plain.coverage]
    notes = [f"the pool has {origin}", *plain.notes, *comparison.describe_coverage(reached, requested)]
    notes += _outside(pairs, cutoffs)
    return comparison.summarise_draws(
        pairs.runs, pairs.numbered[0].topics, drawn, facts, alpha=alpha, separate_seeds=separate_seeds, notes=notes
    )


def judge_order(
    pairs: Pairs,
    grades: Floats,
    measure: Measure | str,
    *,
    levels: Sequence[float] | None = None,
    target: float = 0.9,
    confidence: float = 0.95,
    draws: int = 400,
    seed: int = 0,
    unavailable: int = 0,
    pooled: int = 0,
    addable: Ints | None = None,
) -> SystemOrder:
    """Estimate how certain the current order of the systems is, and whether judging can stop.

    Documents that are not among the pairs count as not relevant. Those that can still change the measure are named:
    documents at ranks that it reads and, for a measure with an ideal ranking or a number of relevant documents, others.

    Parameters
    ----------
    pairs
        The N pairs of the pool, from :func:`collection.expected_judgements.describe`.
    grades
        (N,) float64, in the order of ``pairs.frame``: the grade of each judged pair, nan for the others.
    measure
        Measure that ranks the systems, of grades alone.
    levels
        All grades of the scale; by default 0, 1 and the grades in `grades`.
    draws, seed
        Number and random seed of the draws of the unjudged grades.
    target, confidence, unavailable
        As for :func:`collection.comparison.assess_order`.
    pooled
        Number of unjudged pairs of the pool that are not among the pairs.
    addable
        (T,) number of documents of each topic that are not among the pairs, in the order in which the topics first
        appear in ``pairs.frame``; None: unknown, any number.

    Raises
    ------
    InputError
        As for :func:`collection.comparison.assess_order` and :func:`collection.expected_judgements.draw_values`.

    Examples
    --------
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0]))]
    >>> order = judge_order(describe(frame, runs), np.array([1.0, 0.0]), "P@1")
    >>> order.values["run"].tolist(), order.stop, order.reason
    (['a', 'b'], True, 'All pairs that can change P@1 are judged: the order of the systems is final.')
    """
    measure = as_measure(measure)
    scale = sorted({0.0, 1.0, *grades[~np.isnan(grades)].tolist()}) if levels is None else levels
    drawn = draw_values(pairs, grades, [measure], levels=scale, draws=draws, seed=seed)[measure]
    topics, left = pairs.numbered[0].topics, int(np.isnan(grades).sum())
    pool = EstimatedPool(len(topics), len(grades) - left, left, _basis(pairs), "the given pairs")
    reads = reads_unlisted(pairs, grades, measure, levels=scale, addable=addable)
    unlisted = Unlisted(*count_unlisted(pairs, measure), pooled if reads else 0, reads)
    return comparison.assess_order(
        pairs.runs,
        topics,
        measure,
        drawn,
        pool,
        target=target,
        confidence=confidence,
        unavailable=unavailable,
        unlisted=unlisted,
    )


def explain_refusal(measure: Measure | str) -> str:
    """State why a measure cannot be estimated; empty if it can.

    >>> explain_refusal("nDCG@10"), explain_refusal("AP(judged_only=True)")
    ('', 'it leaves unjudged documents out')
    """
    measure = as_measure(measure)
    if measure.entry.needs:
        return f"it reads {measure.entry.needs} besides grades, which unjudged documents do not have"
    if measure.entry.descriptive:
        return "it describes the judgements or the run, not the quality of a system"
    return "it leaves unjudged documents out" if measure.parameters.get("judged_only") else ""


def _basis(pairs: Pairs) -> str:
    return "the judged pairs and the ranks" if pairs.texts is None else "the judged pairs, the ranks and the texts"


def _first_pairs(runs: Sequence[Run], depth: int) -> pd.DataFrame:
    """The pairs at the first ranks, in the order in which measures read the runs."""
    parts = []
    for run in runs:
        ranked = rank_run(run.frame)
        parts.append(ranked.loc[ranked["rank"] <= depth, KEYS].astype("str"))
    return pd.concat(parts).drop_duplicates(ignore_index=True)


def require_memory(
    frame: pd.DataFrame, runs: int, levels: int, draws: int, *, with_texts: bool = False, with_choice: bool = False
) -> None:
    """Refuse a pool whose model needs more than :data:`GIGABYTES`.

    With texts, or to choose decisive pairs (`with_choice`), memory grows with the square of a topic's pairs.

    Parameters
    ----------
    frame
        The pairs, with ``query_id``.
    runs, levels, draws
        Numbers of runs, of grades of the scale, and of draws.
    with_texts
        Whether the model reads texts.
    with_choice
        Whether decisive pairs are chosen, too.

    Raises
    ------
    InputError
        The model needs more memory.
    """
    sizes = frame["query_id"].value_counts(sort=False).to_numpy(dtype=np.float64)
    # Similarities, coordinates, and a loading for each step between grades; covariances of gains.
    squares = float((sizes**2).sum()) * ((levels + 1 if with_texts else 0) + (2 if with_choice else 0))
    # Normals, probabilities and grades of the draws; features of each step.
    needed = 8 * (squares + len(frame) * (4 * draws + (levels - 1) * (2 * runs + 10))) / 1e9
    if needed > GIGABYTES:
        raise InputError(
            f"estimated grades of {count(len(frame), 'pair')} (up to {int(sizes.max()):,} per topic) need about "
            f"{needed:.1f} GB, and {GIGABYTES:g} GB are allowed; use fewer topics, or a smaller pool: a lower depth, "
            "or measures with a lower cut-off"
        )


def _outside(pairs: Pairs, cutoffs: Iterable[int | None]) -> list[str]:
    """Notes on documents that the measures read although they are outside the pool."""
    notes = []
    for cutoff in sorted({cutoff for cutoff in cutoffs if cutoff is not None}):
        shares = []
        for aligned in pairs.numbered:
            within = int(aligned.within(cutoff).sum())
            inside = int((aligned.top(cutoff) >= 0).sum())
            shares.append((within - inside) / max(1, within))
        most = int(np.argmax(shares))
        if shares[most] > 0:
            of_all = ", the most of all runs" if len(shares) > 1 else ""
            notes.append(
                f"{percent(shares[most])} of the first {cutoff:,} documents of {pairs.runs[most]} are outside the "
                f"pool{of_all}, and count as not relevant"
            )
    return notes
