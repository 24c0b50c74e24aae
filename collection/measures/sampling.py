"""Confidence intervals of values from a sampled pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.core.records import Run
from collection.measures.aligned import UNJUDGED, Aligned, Grades, Sample, compact_grades
from collection.measures.alignment import align
from collection.measures.imputation import complete, number_rows, to_its_depth
from collection.measures.measure import Measure, as_measure
from collection.measures.qrels_index import index_qrels

INTERVAL_COLUMNS = ("run", "value", "lowest", "highest", "error", "bias")


def sampling_interval(
    measure: Measure | str,
    runs: Iterable[Run],
    qrels: pd.DataFrame,
    *,
    confidence: float = 0.95,
    replicates: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate means over topics from a sampled pool, with intervals for the value if the whole pool were judged.

    Each replicate completes the pool: a document outside the sample gets a grade from the judged ones of its stratum
    and topic (Dirichlet-multinomial, with one more judgement spread as in this stratum of all topics). From the
    completed pool as many documents of each stratum are sampled again, and the value from them is compared with that
    of the completed pool. The mean of these differences is the estimate's bias, the root of their mean square its
    error, and the interval is value - bias +- z * error. It covers sampling of documents only, not of topics.

    Source: the bootstrap of a completed finite population after Booth, Butler & Hall, "Bootstrap methods for finite
    populations", JASA 89, 1994; the completion after Meeden & Vardeman, "A noninformative Bayesian approach to
    interval estimation in finite population sampling", JASA 86, 1991.

    Parameters
    ----------
    measure
        One that reads strata: ``xinfAP``, ``infNDCG``.
    runs
        Any number.
    qrels
        :data:`collection.core.frames.QRELS` with ``stratum``: the whole pool, -1 for documents outside the sample.
    confidence, replicates, seed
        Between 0 and 1; 2 or more; of the replicates.

    Returns
    -------
    DataFrame
        ``run``, ``value``, ``lowest``, ``highest``, ``error`` (root mean square error of sampling), ``bias``.

    Raises
    ------
    InputError
        The measure reads no strata, nothing was judged, or a number is out of its range.
    ColumnsError
        The qrels have no strata: probabilities do not say which documents were left out.

    Examples
    --------
    >>> from collection.measures import parse
    >>> run = Run("a", pd.DataFrame({"query_id": "1", "doc_id": list("abcdefgh"), "score": range(8, 0, -1)}))
    >>> half = run.frame.assign(relevance=[1, -1, 0, -1, 1, -1, 0, -1], stratum=0)
    >>> found = sampling_interval(parse("infNDCG"), [run], half).iloc[0]
    >>> bool(found["lowest"] < found["value"] < found["highest"])
    True
    """
    from scipy.special import ndtri

    measure = as_measure(measure)
    if measure.entry.needs != "strata":
        raise InputError(f"a sampling interval needs a measure that reads strata (xinfAP, infNDCG), found {measure}")
    if not 0 < confidence < 1 or replicates < 2:
        raise InputError(
            "sampling interval: expected a confidence between 0 and 1 and at least 2 replicates, "
            f"found {confidence} and {replicates}"
        )
    qrels = QRELS.check(qrels, "a sampling interval", also=["stratum"])
    if not (qrels["relevance"] >= 0).any():
        raise InputError("a sampling interval needs judged documents, found none in the qrels")
    resampled = _Replicates(qrels.drop_duplicates(["query_id", "doc_id"]), replicates, np.random.default_rng(seed))
    known, numbers = index_qrels(qrels), number_rows(resampled.pairs)
    z, rows = float(ndtri((1 + confidence) / 2)), []
    for run in runs:
        value = float(measure(align(run.frame, known)).mean())
        differences = resampled.differences(measure, to_its_depth(align(run.frame, numbers), measure))
        bias = float(differences.mean())
        # The completed pools show a bias of this size, not that it is exactly this: it counts as uncertain, too.
        error = float(np.hypot(differences.std(ddof=1), bias))
        rows.append((run.name, value, value - bias - z * error, value - bias + z * error, error, bias))
    return pd.DataFrame(rows, columns=list(INTERVAL_COLUMNS))


class _Replicates:
    """Completed pools and samples of them, the same for every run."""

    def __init__(self, pairs: pd.DataFrame, replicates: int, random: np.random.Generator) -> None:
        topic = pd.factorize(pairs["query_id"].astype("str"))[0]
        stratum, strata = pd.factorize(pairs["stratum"], sort=True)
        grades = pairs["relevance"].to_numpy(dtype=np.float64)
        self.pairs, self.stratum = pairs, stratum.astype(np.int64)
        self.topics, self.strata = int(topic.max(initial=-1)) + 1, len(strata)
        cell = topic * self.strata + self.stratum
        cells = self.topics * self.strata
        self.size = np.bincount(cell, minlength=cells).astype(np.float64)
        self.judged = np.bincount(cell[grades >= 0], minlength=cells).astype(np.float64)
        self.full = _completed(grades, cell, self.strata, cells, replicates, random)
        drawn = _resample(cell, self.judged, replicates, random)
        self.sampled = np.where(drawn, self.full, UNJUDGED)

    def differences(self, measure: Measure, numbered: Aligned) -> Floats:
        """(replicates,) mean value from the sample minus mean value from the whole pool."""
        of_sample = self._values(measure, numbered, self.sampled, self.judged)
        return of_sample - self._values(measure, numbered, self.full, self.size)

    def _values(self, measure: Measure, numbered: Aligned, grades: Grades, judged: Floats) -> Floats:
        copies = grades.shape[1]
        shape = (self.topics, self.strata)
        # Strata change with no replicate: they go where the grades go, and are sorted with them.
        ranked = np.where(numbered.grades < 0, -1, self.stratum[np.maximum(numbered.grades, 0).astype(np.int64)])
        of_topic = np.maximum(numbered.judged, 0).astype(np.int64)
        known = np.where(numbered.judged[:, None, :] < 0, UNJUDGED, grades.T[:, of_topic].transpose(1, 0, 2))
        order = np.argsort(-known, axis=2, kind="stable").transpose(1, 0, 2)
        graded = np.take_along_axis(np.broadcast_to(self.stratum[of_topic], order.shape), order, axis=2)
        completed = complete(numbered, grades)
        graded = np.where(completed.judged > UNJUDGED, graded.reshape(completed.judged.shape), -1)
        sample = Sample(
            np.tile(ranked, (copies, 1)),
            np.tile(self.size.reshape(shape), (copies, 1)),
            np.tile(judged.reshape(shape), (copies, 1)),
            graded,
            listed=True,
        )
        means: Floats = measure(replace(completed, sample=sample)).reshape(copies, self.topics).mean(axis=1)
        return means


def _completed(
    grades: Floats, cell: Ints, strata: int, cells: int, replicates: int, random: np.random.Generator
) -> Grades:
    """(pairs, replicates) grades: judged ones unchanged, the others drawn from the judged grades of their stratum."""
    levels, code = np.unique(grades[grades >= 0], return_inverse=True)
    judged = cell[grades >= 0]
    counts = np.zeros((cells, len(levels)))
    np.add.at(counts, (judged, code), 1)
    of_stratum = counts.reshape(-1, strata, len(levels)).sum(axis=0)
    anywhere = of_stratum.sum(axis=0) / of_stratum.sum()
    total = of_stratum.sum(axis=1, keepdims=True)
    usual = np.where(total > 0, of_stratum / np.maximum(total, 1), anywhere)
    mixed = random.standard_gamma(
        np.broadcast_to((counts + usual[np.arange(cells) % strata])[..., None], (*counts.shape, replicates))
    )
    up_to = np.cumsum(mixed, axis=1) / mixed.sum(axis=1, keepdims=True)
    completed = np.repeat(grades[:, None], replicates, axis=1)
    open_ = np.flatnonzero(grades < 0)
    uniform = random.random((len(open_), 1, replicates))
    completed[open_] = levels[(uniform > up_to[cell[open_]][:, :-1]).sum(axis=1)]
    return compact_grades(completed)


def _resample(cell: Ints, number: Floats, replicates: int, random: np.random.Generator) -> Bools:
    """(pairs, replicates) whether each pair is in the sample; a given number of each cell, all equally likely."""
    first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=len(number)))])[:-1]
    drawn = np.zeros((len(cell), replicates), dtype=np.bool_)
    sorted_cells = np.sort(cell)
    chosen = np.arange(len(cell)) - first[sorted_cells] < number[sorted_cells]
    for r in range(replicates):
        order = np.argsort(cell + random.random(len(cell)))
        drawn[order[chosen], r] = True
    return drawn
