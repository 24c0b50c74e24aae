"""Everything at once: what a report, a page and the command show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.measures import Measure, as_measures, bounds, parse
from collection.records import Run
from collection.reusability import verdict as judging
from collection.reusability.leave_one_out import assign_groups, groups_by_prefix, leave_out
from collection.reusability.pool_depth import (
    PoolDepth,
    compute_judged_curves,
    detect_pool_depth,
    measure_order_stability,
)
from collection.reusability.run_matrix import RunMatrix, build_run_matrix
from collection.reusability.topics import describe_topics
from collection.reusability.unjudged_relevant import MissingEstimate, estimate_missing

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10")

Groups = Mapping[str, str] | Callable[[Sequence[str]], Mapping[str, str]] | None
"""Run -> group; or how it is guessed from the names; None: each run is a group."""


class Reusability(NamedTuple):
    """Whether a collection can be used for systems that were not there when it was built.

    Attributes
    ----------
    verdict
        Sentences, the answer first.
    pool
        To which depth the runs were pooled, and which were.
    groups
        Pooled run -> its group.
    ladder
        Depth by depth whether a new system can be compared, by which numbers; empty where runs, groups or topics are
        too few to say, or no run is worth anything.
    left_out
        :func:`leave_out` by groups, for the measures that were asked for.
    left_out_runs
        The same with each run by itself.
    curves
        :func:`compute_judged_curves` of all runs; ``left_out`` is nan for runs that were not pooled.
    settling
        How soon the order of the systems is that by all judgements.
    topics
        :func:`describe_topics` by the first measure.
    missing
        Estimates of relevant documents that are not judged.
    bounds
        ``run``, ``measure``, ``value``, ``lowest``, ``highest``: means over what the unjudged could be; None where they
        were not asked for.
    """

    verdict: tuple[str, ...]
    pool: PoolDepth
    groups: dict[str, str]
    ladder: list[judging.DepthResult]
    left_out: pd.DataFrame
    left_out_runs: pd.DataFrame
    curves: pd.DataFrame
    settling: pd.DataFrame
    topics: pd.DataFrame
    missing: list[MissingEstimate]
    bounds: pd.DataFrame | None


def assess(
    runs: Iterable[Run],
    qrels: pd.DataFrame,
    measures: Measure | str | Iterable[Measure | str] = (),
    *,
    groups: Groups = groups_by_prefix,
    depth: int | None = None,
    rel: float = 1,
    with_bounds: bool = False,
    grades: Iterable[float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Reusability:
    """Ask whether the collection is fair to a system that was not pooled.

    In which order runs and judgements come makes no difference to any number: both are sorted first.

    Parameters
    ----------
    runs
        Any number. Those that were not pooled are told from the others by what is judged: they are looked at as new
        systems, and count in nothing else.
    qrels
        :data:`collection.frames.QRELS`.
    measures
        Over plain qrels; :data:`DEFAULT_MEASURES` if none is given. By the first the ladder, the topics and the
        settling are told; the ladder takes it at each depth, or nDCG where it has no cut-off or can be above 1.
    groups
        Who made which run. A guess by names that leaves too few groups is not followed.
    depth
        Of the pool, if it is known.
    rel
        The lowest grade that counts as relevant, for what counts documents. Measures have a parameter of their own.
    with_bounds
        Also the bounds of each measure: seconds a run where rankings are long.
    grades
        The scale, for the bounds; the grades of the qrels if left out.
    resamples, seed
        Of the interval of the missing.

    Raises
    ------
    InputError
        As :func:`build_run_matrix` and :func:`assign_groups` say; or a measure reads strata or subtopics.
    """
    measures = list(dict.fromkeys(as_measures(measures, rel))) or as_measures(DEFAULT_MEASURES, rel)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(
                f"{measure} reads {measure.entry.needs}; leaving judgements out needs a measure of grades only"
            )
    everything = build_run_matrix(runs, qrels, rel=rel)
    pool = detect_pool_depth(everything, depth)
    matrix = everything.only(pool.runs)
    named, guessed = _groups(matrix, everything.runs, groups)
    before = matrix.values(measures)
    steps = _ladder(measures[0], matrix)
    enough = len(set(named)) >= judging.MIN_GROUPS
    whole = leave_out(matrix, [*measures, *(s for s in steps if s not in measures)], named, pool.depth)
    asked = whole["measure"].isin([str(m) for m in measures])
    left_out = whole[asked].reset_index(drop=True)
    alone = len(set(named)) == len(matrix.runs)
    each = left_out if alone else leave_out(matrix, measures, matrix.runs, pool.depth, before=before)
    deepest = max(judging.DEPTHS)
    curves = compute_judged_curves(matrix, deepest, groups=named, depth=pool.depth)
    of_new = compute_judged_curves(everything.only(~pool.runs), deepest) if (~pool.runs).any() else curves.iloc[:0]
    curves = pd.concat([curves, of_new], ignore_index=True)
    worth = whole.loc[whole["measure"].isin([str(s) for s in steps]), "before"].any()
    say = enough and worth and len(matrix.topics) >= judging.MIN_TOPICS
    ladder = judging.assess_depths(whole, curves, steps) if say else []
    settled = measure_order_stability(matrix, measures, before=before)
    topics = describe_topics(matrix, measures[0], before=before[:1])
    # Both take it that all that the runs brought to this depth is judged.
    sound = pool.full or depth is not None
    missing = estimate_missing(matrix, named, pool.depth, resamples=resamples, seed=seed) if sound else []
    told = [judging.headline(ladder, len(matrix.topics))]
    if not enough:
        told.append(
            f"That takes {judging.MIN_GROUPS} groups of runs or more, so that a pool is left without one of them; "
            f"there {'is 1' if len(set(named)) == 1 else f'are {len(set(named)):,}'}."
        )
    elif not steps:
        told.append(f"The runs end before rank {judging.DEPTHS[0]:,}, the first depth at which it is asked.")
    elif not worth:
        told.append(f"By {steps[-1]} every run is worth 0: there is nothing that a system could lose.")
    told += judging.reason_sentences(ladder, "run" if alone else "group")
    told += judging.pool_sentences(pool, everything, curves, asked=depth is not None)
    if guessed:
        told.append(f"The {len(matrix.runs):,} runs make {len(set(named)):,} groups by the beginnings of their names.")
    told.append(judging.stability_sentence(settled[settled["measure"] == str(measures[0])], matrix))
    told.append(judging.topics_sentence(topics, str(measures[0])))
    told += [estimate.sentence for estimate in missing]
    return Reusability(
        tuple(told),
        pool,
        dict(zip(matrix.runs, named, strict=True)),
        ladder,
        left_out,
        each,
        curves,
        settled,
        topics,
        missing,
        bound_means(everything, measures, grades) if with_bounds else None,
    )


def bound_means(
    matrix: RunMatrix, measures: Measure | str | Iterable[Measure | str], grades: Iterable[float] | None = None
) -> pd.DataFrame:
    """How far each mean could move if the unjudged documents of the runs were judged, with grades of the scale.

    Returns
    -------
    DataFrame
        ``run``, ``measure``, ``value``, ``lowest``, ``highest``; see :func:`collection.measures.bounds`.
    """
    rows = []
    measures, scale = as_measures(measures), None if grades is None else tuple(grades)
    for number, run in enumerate(matrix.runs):
        aligned = matrix.only(np.arange(len(matrix.runs)) == number).aligned()
        for measure in measures:
            found = bounds(measure, aligned, grades=scale)
            rows.append((run, str(measure), *map(measure.summarise, (measure(aligned), found.lowest, found.highest))))
    return pd.DataFrame(rows, columns=["run", "measure", "value", "lowest", "highest"])


def _groups(matrix: RunMatrix, names: Sequence[str], groups: Groups) -> tuple[tuple[str, ...], bool]:
    """The group of each pooled run, and whether it is a guess."""
    if callable(groups):
        guess = assign_groups(matrix.runs, groups(matrix.runs))
        few = len(set(guess)) < judging.MIN_GROUPS or len(set(guess)) == len(guess)
        return (matrix.runs, False) if few else (guess, True)
    of_all = dict(zip(names, assign_groups(names, groups), strict=True))
    return tuple(of_all[run] for run in matrix.runs), False


def _ladder(measure: Measure, matrix: RunMatrix) -> list[Measure]:
    """The measure at each depth that the runs have; the rules are of measures between 0 and 1."""
    fits = measure.entry.level == "cutoff" and (measure.entry.lowest, measure.entry.highest) == (0, 1)
    stem = measure if fits else parse("nDCG")
    deepest = matrix.cells.shape[2]
    return [Measure(stem.name, stem.parameters, depth) for depth in judging.DEPTHS if depth <= deepest]
