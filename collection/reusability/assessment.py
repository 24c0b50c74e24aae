"""Assessment of the reusability of a collection, as the page and the command show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from collection.core.display import Displayed, Summary
from collection.core.errors import InputError, require_known
from collection.core.frames import QRELS
from collection.core.records import Run
from collection.measures import Measure, QrelsIndex, as_measures, bounds, parse
from collection.reusability import verdict
from collection.reusability.leave_one_out import assign_groups, groups_by_prefix, leave_out
from collection.reusability.pool_depth import (
    PoolDepth,
    compute_judged_curves,
    detect_pool_depth,
    measure_order_stability,
)
from collection.reusability.run_matrix import OrderedRuns, RunMatrix, build_run_matrix, describe_topics
from collection.reusability.unjudged_relevant import MissingEstimate, estimate_missing
from collection.reusability.verdict import DepthResult

if TYPE_CHECKING:
    import altair as alt

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10")

Groups = Mapping[str, str] | Callable[[Sequence[str]], Mapping[str, str]] | None
"""Run -> group, or a function that guesses it from the names; None: each run is a group."""

Unjudged = Literal["unknown", "not-relevant"]
"""What unjudged documents are: missing judgements, or documents that were examined and found not relevant."""


@dataclass(frozen=True, repr=False)
class Reusability(Displayed):
    """Assessment of a collection for systems that were not pooled; a console or notebook shows the verdict."""

    verdict: tuple[str, ...]
    """Sentences, the answer first."""
    pool: PoolDepth
    """The depth of the pool, and the runs that were pooled."""
    groups: dict[str, str]
    """Pooled run -> its group."""
    ladder: list[DepthResult]
    """The result at each depth; empty if runs, groups or topics are too few, or every run has the value 0."""
    left_out: pd.DataFrame
    """:func:`leave_out` by groups, for the given measures."""
    left_out_runs: pd.DataFrame
    """:func:`leave_out` with each run by itself."""
    curves: pd.DataFrame
    """:func:`compute_judged_curves` of all runs; ``left_out`` is nan for runs that were not pooled."""
    settling: pd.DataFrame
    """:func:`measure_order_stability`."""
    topics: pd.DataFrame
    """:func:`describe_topics` by the first measure."""
    missing: list[MissingEstimate]
    """Estimates of relevant documents that are not judged."""
    bounds: pd.DataFrame | None
    """:func:`bound_means`; None unless requested."""

    def chart(self) -> alt.LayerChart:
        """Draw the share of judged documents by depth: each run, and the mean."""
        from collection.charts.marks import WIDTH
        from collection.charts.reusability import judged_chart

        return judged_chart(self.curves, self.pool.depth).properties(width=WIDTH)

    def _summary(self) -> Summary:
        shown = ["depth", "measure", "change", "worst", "worst_run", "judged", "verdict"]
        table = pd.DataFrame(self.ladder, columns=DepthResult._fields)[shown]
        details = ", ".join([*(field.name for field in fields(self)[1:]), "chart()"])
        return Summary(list(self.verdict), table, details=details, row_names=False)


def assess(
    runs: Iterable[Run] | OrderedRuns,
    qrels: pd.DataFrame | QrelsIndex,
    measures: Measure | str | Iterable[Measure | str] = (),
    *,
    groups: Groups = groups_by_prefix,
    depth: int | None = None,
    rel: float = 1,
    with_bounds: bool = False,
    grades: Iterable[float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    unjudged: Unjudged = "unknown",
) -> Reusability:
    """Assess whether the collection ranks unpooled systems reliably.

    The order of runs and judgements does not matter: both are sorted first.

    Parameters
    ----------
    runs
        Any number. Those that were not pooled are detected by their judgements; they are reported as new systems and
        not used otherwise.
    qrels
        :data:`collection.core.frames.QRELS`, or an index, of which unjudged documents are unknown.
    measures
        Over plain qrels; :data:`DEFAULT_MEASURES` if none is given. The first is used for the verdict at each depth
        (or nDCG, if it has no cut-off or can be above 1), the topics and the sentence on the order of the systems.
    groups
        The group of each run. A guess from names that leaves too few groups is ignored.
    depth
        The depth of the pool, if known.
    rel
        The minimum relevant grade for counts of documents. Measures have a parameter of their own.
    with_bounds
        Also compute bounds of each measure, which takes seconds per run with long rankings.
    grades
        The scale, for the bounds; the grades of the qrels if left out.
    resamples, seed
        Of the bootstrap for missing documents.
    unjudged
        "unknown": a document without a judgement may be relevant. "not-relevant": all documents were examined, and the
        qrels list only the relevant ones; the documents at the deepest assessed rank or above count as judged, and none
        is missing.

    Raises
    ------
    UnknownNameError
        An unknown `unjudged`.
    InputError
        As for :func:`build_run_matrix` and :func:`assign_groups`; or a measure reads strata or subtopics.
    """
    measures = list(dict.fromkeys(as_measures(measures, rel))) or as_measures(DEFAULT_MEASURES, rel)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(
                f"{measure} needs {measure.entry.needs}, which cannot be left out one by one; use a measure of plain "
                "qrels"
            )
    added = None
    if isinstance(runs, Iterable) and isinstance(qrels, pd.DataFrame):
        runs = list(runs)
        qrels, added = _complete(runs, qrels, max(verdict.DEPTHS), unjudged)
    everything = build_run_matrix(runs, qrels, rel=rel)
    pool = detect_pool_depth(everything, depth)
    matrix = everything.only(pool.runs)
    named, guessed = _group_runs(matrix, everything.runs, groups)
    count = len(set(named))
    before = matrix.values(measures)
    by_depth = _measures_by_depth(measures[0], matrix)
    whole = leave_out(matrix, [*measures, *(m for m in by_depth if m not in measures)], named, pool.depth)
    left_out = whole[whole["measure"].isin([str(m) for m in measures])].reset_index(drop=True)
    alone = count == len(matrix.runs)
    each = left_out if alone else leave_out(matrix, measures, matrix.runs, pool.depth, before=before)
    deepest = max(verdict.DEPTHS)
    curves = compute_judged_curves(matrix, deepest, groups=named, depth=pool.depth)
    if not pool.runs.all():
        of_new = compute_judged_curves(everything.only(~pool.runs), deepest)
        curves = pd.concat([curves, of_new], ignore_index=True)
    enough = count >= verdict.MIN_GROUPS
    any_value = whole.loc[whole["measure"].isin([str(m) for m in by_depth]), "before"].any()
    ladder = []
    if enough and any_value and len(matrix.topics) >= verdict.MIN_TOPICS:
        ladder = verdict.assess_depths(whole, curves, by_depth)
    stability = measure_order_stability(matrix, measures, before=before)
    topics = describe_topics(matrix, measures[0], before=before[:1])
    missing = []
    if (
        pool.full or depth is not None
    ) and added is None:  # both estimates assume that the runs are judged to this depth
        missing = estimate_missing(matrix, named, pool.depth, resamples=resamples, seed=seed)
    sentences = [verdict.headline(ladder, len(matrix.topics), few_zeros=verdict.has_few_zeros(everything.grade))]
    sentences += filter(None, [verdict.unjudged_sentence(everything, added)])
    if not enough:
        sentences.append(
            f"At least {verdict.MIN_GROUPS} groups of runs are needed, so that a pool remains when one is left out; "
            f"found {count:,}."
        )
    elif not by_depth:
        sentences.append(f"The runs end before rank {verdict.DEPTHS[0]:,}, the smallest depth that is assessed.")
    elif not any_value:
        sentences.append(f"Every run has {by_depth[-1]} = 0, so leaving one out changes nothing.")
    sentences += verdict.reason_sentences(ladder, "run" if alone else "group")
    sentences += verdict.pool_sentences(pool, everything, curves, given=depth is not None)
    if guessed:
        sentences.append(f"The {len(matrix.runs):,} runs form {count:,} groups by name prefix, left out one at a time.")
    if len(matrix.topics) >= verdict.MIN_TOPICS:
        sentences.append(verdict.stability_sentence(stability[stability["measure"] == str(measures[0])], matrix))
        sentences.append(verdict.topics_sentence(topics, str(measures[0])))
    sentences += [estimate.sentence for estimate in missing]
    return Reusability(
        verdict=tuple(sentences),
        pool=pool,
        groups=dict(zip(matrix.runs, named, strict=True)),
        ladder=ladder,
        left_out=left_out,
        left_out_runs=each,
        curves=curves,
        settling=stability,
        topics=topics,
        missing=missing,
        bounds=bound_means(everything, measures, grades) if with_bounds else None,
    )


def _complete(
    runs: Sequence[Run], qrels: pd.DataFrame, depth: int, unjudged: Unjudged
) -> tuple[pd.DataFrame, int | None]:
    """Give unjudged documents of the runs down to a depth grade 0 if they are not relevant, and count them."""
    require_known("meaning of unjudged documents", get_args(Unjudged), unjudged)
    if unjudged == "unknown":
        return qrels, None
    keys = ["query_id", "doc_id"]
    qrels = QRELS.check(qrels)[list(QRELS.names)]
    judged = qrels[qrels["relevance"] >= 0][keys].astype("str")
    parts = [run.frame.loc[(run.frame[["rank", "listed"]] <= depth).any(axis=1), keys].astype("str") for run in runs]
    listed = pd.concat([judged.iloc[:0], *parts]).drop_duplicates()
    listed = listed[listed["query_id"].isin(judged["query_id"])]
    new = listed[~pd.MultiIndex.from_frame(listed).isin(pd.MultiIndex.from_frame(judged))]
    return pd.concat([qrels, new.assign(relevance=0)], ignore_index=True), len(new)


def bound_means(
    matrix: RunMatrix, measures: Measure | str | Iterable[Measure | str], grades: Iterable[float] | None = None
) -> pd.DataFrame:
    """Bound the mean of each run and measure over the grades that unjudged documents could have.

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
            value_bounds = bounds(measure, aligned, grades=scale)
            rows.append(
                (
                    run,
                    str(measure),
                    *map(measure.summarise, (measure(aligned), value_bounds.lowest, value_bounds.highest)),
                )
            )
    return pd.DataFrame(rows, columns=["run", "measure", "value", "lowest", "highest"])


def _group_runs(matrix: RunMatrix, names: Sequence[str], groups: Groups) -> tuple[tuple[str, ...], bool]:
    """The group of each pooled run, and whether it was guessed."""
    if callable(groups):
        guess = assign_groups(matrix.runs, groups(matrix.runs))
        few = len(set(guess)) < verdict.MIN_GROUPS or len(set(guess)) == len(guess)
        return (matrix.runs, False) if few else (guess, True)
    of_all = dict(zip(names, assign_groups(names, groups), strict=True))
    return tuple(of_all[run] for run in matrix.runs), False


def _measures_by_depth(measure: Measure, matrix: RunMatrix) -> list[Measure]:
    """The measure at each depth that the runs reach; the rules hold for measures between 0 and 1."""
    fits = measure.entry.at == "cutoff" and (measure.entry.lowest, measure.entry.highest) == (0, 1)
    stem = measure if fits else parse("nDCG")
    deepest = matrix.cells.shape[2]
    return [Measure(stem.name, stem.parameters, depth) for depth in verdict.DEPTHS if depth <= deepest]
