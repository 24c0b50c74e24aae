"""Functions of ``import collection`` that need no campaign; for inputs see :mod:`collection.formats.in_memory`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TypeVar

import pandas as pd

from collection import (
    adjudication,
    annotator_agreement as agreements,
    comparison,
    estimation,
    formats,
    generated_answers,
    pooling,
    reusability,
    simulation,
)
from collection.adjudication import Adjudicated
from collection.annotator_agreement import Agreement
from collection.comparison import Comparison, Estimates, Evaluation
from collection.core.answers import Answers, NuggetLabels, SupportLabels
from collection.core.display import print_progress
from collection.core.errors import InputError, require_known
from collection.core.frames import (
    ANSWERS,
    DOCUMENTS,
    NUGGET_ASSIGNMENTS,
    NUGGETS,
    PAIRS,
    POOL,
    SUPPORT,
    TOPICS,
    Schema,
)
from collection.core.phrases import join, plural
from collection.core.ranking import rank_run
from collection.core.records import Document, Run
from collection.formats.columns import rename_columns
from collection.formats.in_memory import (
    LabelsLike,
    QrelsLike,
    RunsLike,
    as_evaluated,
    as_labels,
    as_qrels,
    as_runs,
    as_scale,
)
from collection.formats.source import FilePath
from collection.generated_answers import AnswerMeasure, MissingAnswers
from collection.machine_labels.model_families import warn_of_model
from collection.measures import Explanation, Measure
from collection.reusability import Groups, Reusability, Unjudged
from collection.statistics import DEFAULT_CORRECTION, DEFAULT_TEST

Labels = TypeVar("Labels")


def read_documents(path: str | PathLike[str]) -> pd.DataFrame:
    r"""Read all documents of a file into memory.

    To read them one by one, use :func:`collection.formats.read_documents`.

    Parameters
    ----------
    path
        JSONL, TSV or CSV file, optionally gzipped.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.DOCUMENTS` and a column ``metadata``: a dictionary of other fields.

    Raises
    ------
    FormatError
        A missing or duplicate id, a broken record, or text that is not UTF-8; with path and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("docs.tsv").write_text("d1\tLift of a wing\nd7\tHeat of a plate\n")
    >>> read_documents("docs.tsv")["doc_id"].tolist()
    ['d1', 'd7']
    """
    rows = [document for _, document in formats.read_documents(path)]
    return DOCUMENTS.check(pd.DataFrame(rows, columns=list(Document._fields)))


def _read_qrels(qrels: QrelsLike) -> pd.DataFrame:
    qrels_frame = as_qrels(qrels)
    warn_of_model(qrels)
    return qrels_frame


def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Measure | str | Iterable[Measure | str] = comparison.DEFAULT_MEASURES,
    *,
    with_bounds: bool = False,
    grades: str | Iterable[float] | None = None,
    exclude_query_document: bool = False,
) -> Evaluation:
    """Evaluate runs against qrels: values per run, measure and topic, and means over the topics of the qrels.

    Parameters
    ----------
    qrels
        A file; a frame with ``query_id`` (or ``qid``), ``doc_id`` (``docno``) and ``relevance`` (``label``, ``rel``);
        ``{query_id: {doc_id: relevance}}``; or tuples of query_id, doc_id and relevance.
    runs
        One run or several: files; Runs; a frame with ``query_id``, ``doc_id``, ``score``, and ``run`` if it has
        several; ``{query_id: {doc_id: score}}``; tuples of query_id, doc_id, score; a dictionary of these by name.
    measures
        Names in the notation of ir_measures or trec_eval: ``["nDCG@10", "map"]``.
    with_bounds
        Add bounds of each value over all grades of the unjudged documents.
    grades
        Grade scale for bounds, such as "0-3"; by default the grades in the qrels.
    exclude_query_document
        Leave out documents with the id of their topic, as in collections whose queries are documents (ArguAna).

    Returns
    -------
    Evaluation
        ``means()`` has runs x measures, ``per_topic()`` is :data:`.VALUES`. A topic that a run lacks
        counts as an empty ranking. ``notes`` are the notes that ``cleverdon evaluate`` prints.

    Raises
    ------
    InputError, UnknownNameError
        Qrels or runs in an unsupported form, two runs with the same name, a run without any topic of the qrels, or an
        unknown measure.

    Examples
    --------
    >>> qrels = {"301": {"d1": 2, "d2": 0}, "302": {"d3": 1}}
    >>> run = {"301": {"d2": 1.5, "d1": 1.2}, "302": {"d3": 0.7}}
    >>> evaluate(qrels, {"bm25": run}, ["RR", "P@1"]).means().loc["bm25"].to_dict()
    {'RR': 0.75, 'P@1': 0.5}
    """
    given = as_evaluated(qrels, runs, exclude_query_document=exclude_query_document)
    warn_of_model(qrels)
    evaluation = comparison.evaluate(*given, measures, with_bounds=with_bounds, grades=as_scale(grades))
    described = comparison.describe_coverage(evaluation.coverage, evaluation.measures.values())
    return replace(evaluation, notes=(*evaluation.notes, *described))


def evaluate_answers(
    answers: Answers | pd.DataFrame | None = None,
    *,
    nuggets: pd.DataFrame | None = None,
    nugget_assignments: NuggetLabels | pd.DataFrame | None = None,
    support: SupportLabels | pd.DataFrame | None = None,
    measures: AnswerMeasure | str | Iterable[AnswerMeasure | str] = (),
    missing_answers: MissingAnswers = "zero",
) -> Evaluation:
    """Evaluate generated answers by nuggets and citations: values per run, measure and topic, and means over topics.

    Parameters
    ----------
    answers
        Answers of all runs as read from files, or :data:`.ANSWERS`. Answers that occur only in labels are added. The
        columns of all frames may have the names of other tools, as for :func:`evaluate`: ``qid``, ``docno``,
        ``system``, ``label``.
    nuggets
        :data:`.NUGGETS`; by default those in the file of nugget assignments.
    nugget_assignments
        Nugget assignments as read from a file, or :data:`.NUGGET_ASSIGNMENTS`. A missing grade counts as no support; a
        nugget without a nugget assignment is left out of the answer.
    support
        Support labels as read from a file, or :data:`.SUPPORT`. Sentences that they lack are taken from `answers`.
    measures
        Names of answer measures, such as ``["nugget_vital(strict)", "support_recall"]``; by default the common
        ones whose labels are given.
    missing_answers
        "zero": a topic without an answer of the run counts as 0, if another run's answer to it has a value.
        "leave-out": the mean of a run is over the topics that it answered.

    Returns
    -------
    Evaluation
        Like that of :func:`evaluate`; ``collection.comparison.compare`` accepts it.

    Raises
    ------
    InputError, UnknownNameError
        A frame lacks columns or has a row twice, a grade is not from 0 to 2, or a measure is unknown or its labels are
        missing.

    Examples
    --------
    >>> nuggets = pd.DataFrame({"query_id": "1", "nugget": ["a", "b"], "text": "", "importance": "vital", "weight": 1})
    >>> grades = [("x", "1", "a", 2), ("x", "1", "b", 1), ("y", "1", "a", 0), ("y", "1", "b", 2)]
    >>> labels = pd.DataFrame(grades, columns=["run", "query_id", "nugget", "grade"])
    >>> found = evaluate_answers(nuggets=nuggets, nugget_assignments=labels, measures="nugget_vital")
    >>> found.means()["nugget_vital"].to_dict()
    {'x': 0.75, 'y': 0.5}
    """
    labelled = generated_answers.label_answers(
        answers=_renamed(answers, ANSWERS),
        nuggets=_renamed(nuggets, NUGGETS),
        nugget_assignments=_renamed(nugget_assignments, NUGGET_ASSIGNMENTS),
        support=_renamed(support, SUPPORT),
    )
    evaluation = generated_answers.evaluate_labelled(labelled, measures, missing_answers=missing_answers)
    return replace(evaluation, notes=(*evaluation.notes, *comparison.describe_missing(evaluation)))


def explain(qrels: QrelsLike, run: RunsLike, measure: Measure | str, topic: str) -> Explanation:
    """Explain the value of a measure for one topic, rank by rank.

    Parameters
    ----------
    qrels, run
        As for :func:`evaluate`, with one run.
    measure
        As for :func:`evaluate`.
    topic
        A topic of the qrels.

    Returns
    -------
    Explanation
        A notebook shows it as a table; ``ranks`` is the frame, ``facts`` has the totals of the topic, such as R.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`evaluate`; or several runs, or an unknown topic.

    Examples
    --------
    >>> found = explain({"301": {"d1": 2, "d2": 0}}, {"301": {"d2": 1.5, "d1": 1.2}}, "RR", "301")
    >>> found.facts, found.value
    ({'rank of the first relevant': 2.0}, 0.5)
    """
    runs = list(as_runs(run))
    if len(runs) != 1:
        raise InputError(f"run: expected one run, found {len(runs):,}")
    return comparison.explain(runs[0], _read_qrels(qrels), measure, str(topic))


def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Measure | str | Iterable[Measure | str],
    *,
    baseline: str | None = None,
    test: str = DEFAULT_TEST,
    correction: str = DEFAULT_CORRECTION,
    alpha: float = 0.05,
    seed: int = 0,
    all_pairs: bool = False,
    exclude_query_document: bool = False,
) -> Comparison:
    """Compare systems: a leaderboard with confidence intervals, and tests against a baseline or of all pairs.

    Parameters
    ----------
    qrels, runs, measures
        As for :func:`evaluate`. Runs named ``name#1``, ``name#2`` are seeds of one system.
    baseline
        System to test all others against; by default the best by each measure.
    test, correction
        Names in :data:`collection.statistics.TESTS` and :data:`collection.statistics.CORRECTIONS`. "auto" is the
        permutation test for fewer than 30 topics or skewed differences, else the paired t-test. The comparisons within
        one measure are corrected together. Holm is the default because it is never less powerful than Bonferroni and
        assumes as little.
    alpha
        Significance level; intervals have confidence 1 - alpha.
    seed
        Random seed for reproducible p-values.
    all_pairs
        Also test all pairs of systems with the randomised Tukey HSD test, which then decides `like_best`.
    exclude_query_document
        As for :func:`evaluate`.

    Returns
    -------
    Comparison
        With the frames ``leaderboard``, ``tests`` and ``pairs``, and ``notes``.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`evaluate`; or `alpha` or `seed` out of range, or an unknown baseline, test or correction.

    Examples
    --------
    >>> qrels = {str(n): {"d1": 1, "d2": 0} for n in range(8)}
    >>> good = {str(n): {"d1": 2.0, "d2": 1.0 + 2 * (n == 3)} for n in range(8)}
    >>> poor = {str(n): {"d1": 1.0, "d2": 2.0 - 2 * (n > 5)} for n in range(8)}
    >>> found = compare(qrels, {"good": good, "poor": poor}, "RR", baseline="poor")
    >>> print(found.tests[["system", "difference", "p", "significant"]].round(3))
      system  difference      p  significant
    0   good       0.312  0.062        False
    """
    # Without notes on coverage, since a comparison adds its own.
    given = as_evaluated(qrels, runs, exclude_query_document=exclude_query_document)
    warn_of_model(qrels)
    evaluation = comparison.evaluate(*given, measures)
    return comparison.compare(
        evaluation, baseline=baseline, test=test, correction=correction, alpha=alpha, seed=seed, all_pairs=all_pairs
    )


def estimate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Measure | str | Iterable[Measure | str],
    *,
    pool: pd.DataFrame | None = None,
    depth: int | None = None,
    grades: str | Iterable[float] | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Estimates:
    """Estimate the values that runs would have if all pairs of a pool were judged.

    The grades of unjudged pairs are drawn many times from a model of the judged pairs and the ranks. The numbers are
    estimates and have their own names, so that they cannot be taken for values.

    Parameters
    ----------
    qrels, runs, measures
        As for :func:`evaluate`; measures that read nothing but grades. Pairs with a negative grade are unjudged pairs
        of the pool.
    pool
        ``query_id``, ``doc_id``, as :func:`pool` returns it; by default the first `depth` documents of each run. The
        pairs of the qrels belong to it in any case.
    depth
        By default the deepest cut-off of the measures, or 100 with a measure that has none.
    grades
        Grade scale, such as "0-3"; by default 0 and the grades in the qrels.
    alpha
        Ranges hold the share 1 - alpha of the draws. They are about the unjudged grades, not about the choice of
        topics, and leave out errors of the model.
    seed
        Random seed of the draws.

    Returns
    -------
    Estimates
        ``table()`` has runs x measures, ``values`` the estimates with ranges per topic and for all, ``pairs`` the
        probability that one run is better than another once all pairs are judged.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`evaluate`; or a measure cannot be estimated, or the pool is too large for the memory.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1, "d2": 0}}
    >>> runs = {"a": {q: {"d1": 2.0, "d3": 1.0} for q in qrels}, "b": {q: {"d2": 2.0, "d1": 1.0} for q in qrels}}
    >>> found = estimate(qrels, runs, "P@2")
    >>> found.pool.judged, found.pool.unjudged
    (4, 2)
    >>> bool(found.table().loc["a", "P@2"] > 0.5)
    True
    """
    return estimation.estimate(
        as_runs(runs),
        _read_qrels(qrels),
        measures,
        pool=None if pool is None else rename_columns(pool, PAIRS, "pool"),
        depth=depth,
        scale=as_scale(grades),
        alpha=alpha,
        seed=seed,
    )


def assess_reusability(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Measure | str | Iterable[Measure | str] = reusability.DEFAULT_MEASURES,
    *,
    groups: Groups = reusability.groups_by_prefix,
    depth: int | None = None,
    level: float | str = 1,
    unjudged: Unjudged = "unknown",
    with_bounds: bool = False,
    grades: str | Iterable[float] | None = None,
) -> Reusability:
    """Assess whether a collection ranks systems reliably that were not pooled.

    Each run, or group of runs, is left out of the pool in turn, as if it had not been pooled.

    Parameters
    ----------
    qrels, runs
        As for :func:`evaluate`: the runs that were pooled for the qrels.
    measures
        Of plain qrels; the first one decides the verdict.
    groups
        Run -> group of runs to leave out together; None: each run by itself. By default, runs whose names begin alike.
    depth
        Depth of the pool; by default derived from the judged documents.
    level
        Minimum relevant grade.
    unjudged
        "unknown": a document without a judgement may be relevant. "not-relevant": all documents were examined, and the
        qrels list hardly any but relevant ones.
    with_bounds
        Add bounds of each mean over all grades of the unjudged documents; takes seconds per run with long rankings.
    grades
        Grade scale for the bounds, such as "0-3"; by default the grades in the qrels.

    Returns
    -------
    Reusability
        ``verdict`` has the answer and its reasons; ``ladder``, ``left_out``, ``curves``, ``topics``, ``missing`` the
        tables.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`evaluate`; or a measure reads more than grades, a group is missing, or a number is out of range.

    Examples
    --------
    >>> qrels = {str(n): {"d1": 1, "d2": 0, "d3": 1} for n in range(12)}
    >>> orders = {"x": ("d1", "d2"), "y": ("d1", "d3"), "z": ("d2", "d1")}
    >>> runs = {name: {q: {a: 2.0, b: 1.0} for q in qrels} for name, (a, b) in orders.items()}
    >>> assess_reusability(qrels, runs, "P@2", groups=None).left_out[["run", "before", "after"]].values.tolist()
    [['y', 1.0, 0.5], ['x', 0.5, 0.5], ['z', 0.5, 0.5]]
    """
    rel = _as_number(level)
    return reusability.assess(
        _ranked(runs),
        _read_qrels(qrels),
        measures,
        groups=groups,
        depth=depth,
        rel=rel,
        with_bounds=with_bounds,
        grades=as_scale(grades),
        unjudged=unjudged,
    )


def agreement(
    labels: LabelsLike,
    *,
    level: float | str = 1,
    resamples: int = 1000,
    seed: int = 0,
    by: agreements.By = "pairs",
    grades: str | Iterable[float] | None = None,
) -> Agreement:
    """Measure inter-annotator agreement: overall, by pair of annotators, by topic, and over time.

    Parameters
    ----------
    labels
        A file, or a frame with ``annotator``, ``query_id`` (or ``qid``), ``doc_id`` (``docno``), ``relevance``
        (``label``, ``grade``). Annotators may have graded different pairs. If an annotator graded a pair repeatedly,
        the last row counts, with a note; rows without a grade are left out.
    level
        Minimum relevant grade, for the binary coefficients.
    resamples
        Bootstrap samples for 95% intervals; 0 for none.
    seed
        Random seed of the bootstrap.
    by
        Bootstrap unit: "pairs" or "topics".
    grades
        Grade scale, such as "0-3", if it has grades that nobody gave.

    Returns
    -------
    Agreement
        With the frames ``values``, ``between``, ``topics``, ``rest`` and ``windows``; missing values are nan, with a
        note.

    Raises
    ------
    InputError
        `labels` in an unsupported form, or a parameter out of range.

    Examples
    --------
    >>> rows = [("ann", "301", "d1", 2), ("ann", "301", "d2", 0), ("bob", "301", "d1", 2), ("bob", "301", "d2", 1)]
    >>> labels = pd.DataFrame(rows, columns=["annotator", "qid", "docno", "label"])
    >>> values = agreement(labels, resamples=0).values.set_index(["scale", "coefficient"])["value"]
    >>> float(values["graded", "observed"])
    0.5
    """
    return agreements.agreement(
        as_labels(labels), level=_as_number(level), resamples=resamples, seed=seed, by=by, grades=as_scale(grades)
    )


def adjudicate(judgements: LabelsLike, rule: str = adjudication.DEFAULT_RULE, **parameters: str) -> Adjudicated:
    """Combine the grades of several annotators into one grade per pair.

    Parameters
    ----------
    judgements
        A file of labels; a frame as :func:`agreement` takes it; or :data:`.JUDGEMENTS`, oldest first.
        If an annotator graded a pair repeatedly, the last row counts; rows without a grade are left out.
    rule, **parameters
        A rule of :data:`collection.adjudication.ADJUDICATION_RULES`: ``"majority"``, ``"majority(ties=higher)"``,
        ``"dawid-skene"``.

    Returns
    -------
    Adjudicated
        ``qrels`` is a frame of :data:`.QRELS`; ``grades`` also has the origin of each grade; ``notes``
        has the number of repeated rows that were left out.

    Raises
    ------
    InputError, UnknownNameError
        `judgements` in an unsupported form, or an unknown rule or parameter.

    Examples
    --------
    >>> rows = [("ann", "301", "d1", 2), ("bob", "301", "d1", 1), ("cid", "301", "d1", 2)]
    >>> labels = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id", "relevance"])
    >>> print(adjudicate(labels, "majority").qrels)
      query_id doc_id  relevance
    0      301     d1          2
    """
    given = as_labels(judgements)
    return adjudication.adjudicate(given if "kind" in given else given.assign(kind="graded"), rule, **parameters)


def pool(runs: RunsLike, strategy: str = "depth", **parameters: int | float | str) -> pd.DataFrame:
    """Choose the pairs to judge.

    Parameters
    ----------
    runs
        As for :func:`evaluate`.
    strategy, **parameters
        A strategy of :data:`collection.pooling.STRATEGIES` and its parameters: ``pool(runs, "depth", depth=20)``.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.POOL`, best first in each topic, with further columns of the strategy.

    Raises
    ------
    InputError, UnknownNameError
        Runs in an unsupported form, a parameter out of range, or an unknown strategy or parameter.

    Examples
    --------
    >>> runs = {"bm25": {"301": {"d1": 2.0, "d2": 1.0}}, "dense": {"301": {"d3": 0.9, "d1": 0.8}}}
    >>> pool(runs, "depth", depth=1)["doc_id"].tolist()
    ['d1', 'd3']
    """
    entry = pooling.STRATEGIES[strategy]
    values = {name: entry.read(name, value) if isinstance(value, str) else value for name, value in parameters.items()}
    return POOL.check(entry.pool(_ranked(runs), **values))


def simulate(
    documents: FilePath | pd.DataFrame | Iterable[Document],
    topics: FilePath | pd.DataFrame,
    qrels: QrelsLike,
    runs: RunsLike | None = None,
    *,
    labels: QrelsLike | None = None,
    strategies: str | Sequence[str] = ("loop",),
    learners: str | Sequence[str] = ("svm",),
    stops: str | Sequence[str] = (),
    seeds: int = 1,
    level: float | str = 1,
) -> simulation.Results:
    """Replay judging on known qrels: the judgements that each strategy needs for each recall.

    Parameters
    ----------
    documents
        A file, :data:`collection.core.frames.DOCUMENTS` (or ``docno``; a missing title is empty), or Documents.
    topics
        A file, or :data:`collection.core.frames.TOPICS` (or ``qid``, ``query``); a missing text column counts as empty.
    qrels, runs
        As for :func:`evaluate`; pooling strategies need runs.
    labels
        Labels by machines in the form of qrels, for any part of the pairs: what they would have saved. They order
        documents and never count as grades.
    strategies
        "loop", "loop-text", with labels also "loop-labels" and "loop-text-labels", or names of pooling strategies,
        fixed or adaptive.
    learners
        For strategies with a loop: names of :data:`collection.active_learning.learners.LEARNERS`.
    stops
        Names of :data:`collection.stopping.STOPPING_RULES`.
    seeds
        Number of replays, with the random seeds 0, 1, ...
    level
        Minimum relevant grade.

    Returns
    -------
    Results
        ``means()`` has a row per strategy and learner and a column per measure.

    Raises
    ------
    InputError, UnknownNameError
        No topic with a relevant document, pooling strategies without runs, loops led by labels without labels, an
        argument in an unsupported form, or an unknown name.

    Examples
    --------
    >>> documents = [Document(f"d{n}", "", f"wing lift {n}" if n < 3 else f"heat plate {n}") for n in range(12)]
    >>> topics = pd.DataFrame({"query_id": ["301"], "title": "wing", "description": "", "narrative": ""})
    >>> qrels = {"301": {"d0": 1, "d1": 1, "d2": 1, "d9": 0}}
    >>> simulate(documents, topics, qrels, strategies=["loop-text"]).means()["judgements@100"].tolist()
    [3.0]
    """
    if isinstance(topics, str | PathLike):
        topics = formats.read_topics(topics)
    if isinstance(documents, str | PathLike):
        documents = [document for _, document in formats.read_documents(documents)]
    elif isinstance(documents, pd.DataFrame):
        documents = documents if "title" in documents else documents.assign(title="")
        rows = rename_columns(documents, DOCUMENTS)[list(DOCUMENTS.names)].itertuples(index=False, name=None)
        documents = [Document(str(doc_id), title, text) for doc_id, title, text in rows]
    if isinstance(topics, pd.DataFrame):
        topics = topics.assign(**{name: "" for name in TOPICS.names[2:] if name not in topics})
    topics, level = rename_columns(topics, TOPICS), _as_number(level)
    strategies, learners, stops = (
        [names] if isinstance(names, str) else names for names in (strategies, learners, stops)
    )
    require_known("strategy", [*simulation.LOOPS, *(entry.name for entry in pooling.STRATEGIES)], *strategies)
    pools = [name for name in strategies if name not in simulation.LOOPS]
    ranked = [] if runs is None else _ranked(runs)
    if pools and not ranked:
        raise InputError(f"{join(pools)} {plural(len(pools), 'needs', 'need')} runs; pass them as `runs`")
    given = None if labels is None else as_qrels(labels)
    ready = simulation.cases(documents, topics, _read_qrels(qrels), ranked, pools=pools, level=level, labels=given)
    recipe, tell = simulation.Recipe(level=level), print_progress("replaying")
    return simulation.simulate(
        ready,
        strategies=strategies,
        learners=learners,
        recipe=recipe,
        stops=stops,
        seeds=seeds,
        progress=lambda query_id, number: tell(f"topic {query_id}", number, len(topics)),
    )


def _renamed(given: Labels | pd.DataFrame | None, schema: Schema) -> Labels | pd.DataFrame | None:
    """A frame with the columns of a schema under our names; anything else as it is."""
    return rename_columns(given, schema) if isinstance(given, pd.DataFrame) else given


def _as_number(level: float | str) -> float:
    try:
        return float(level) if isinstance(level, str) else level
    except ValueError:
        raise InputError(f"level: expected a grade (a number), found {level!r}") from None


def _ranked(runs: RunsLike) -> list[Run]:
    return [run if "listed" in run.frame else run._replace(frame=rank_run(run.frame)) for run in as_runs(runs)]
