"""Values of runs per topic, their means, and notes on runs and qrels that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from collection import measures as measuring
from collection.core.arrays import Floats, Ints
from collection.core.display import Displayed, Summary
from collection.core.errors import InputError, require_known
from collection.core.frames import VALUES
from collection.core.phrases import count, join, join_first, plural
from collection.core.ranking import Doubts, describe_doubts
from collection.core.records import ALL_TOPICS, Run
from collection.id_matches import HARDLY_ANY, ask_for_ids, describe_alike, find_alike, loose_key
from collection.measures import (
    Explanation,
    LookedUp,
    Measure,
    QrelsIndex,
    Version,
    align,
    as_measure,
    bounds,
    describe_search,
    index_qrels,
    list_measures,
    look_up,
    rank_as,
    read,
)
from collection.measures.aligned import UNJUDGED

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

SMALLEST = float(np.nextafter(0, 1))
"""The level of measures that read grades: anything above 0."""

FEW_TOPICS = 0.2
"""Share of topics that match below which the ids may be those of other topics."""


def describe_matches(name: str, run: LookedUp) -> Iterator[str]:
    """Write notes on ids of a run that match hardly any of the qrels, or differ from theirs only in writing."""
    index = run.index
    if run.ignored_topics and run.missing_topics:
        if alike := find_alike(run.ignored_topics, {loose_key(t): t for t in run.missing_topics}):
            yield describe_alike(name, "topic", alike, "qrels")
        both = len(index.topics) - len(run.missing_topics)
        possible = min(len(index.topics), both + len(run.ignored_topics))
        if both < FEW_TOPICS * possible:
            found = f"{both:,} of {count(possible, 'topic')} {plural(both, 'is', 'are')} in the qrels"
            yield ask_for_ids(name, found, run.ignored_topics, "qrels", run.missing_topics)
    if alike := index.find_alike(run.unnamed):
        yield describe_alike(name, "document", alike, "qrels")
        return
    present = run.retrieved > 0
    possible = int(np.minimum(run.retrieved, index.sizes)[present].sum())
    named = len(run.pair)
    if named < HARDLY_ANY * possible:
        found = f"{named:,} of up to {count(possible, 'document')} of the qrels {plural(named, 'is', 'are')} in the run"
        found = "no document of the run is in the qrels of its topic" if not named else found
        yield ask_for_ids(name, found, run.unnamed, "qrels", index.documents[:3].to_pylist())


def describe_grades(
    measures: Sequence[Measure], index: QrelsIndex, scale: Sequence[float] | None = None
) -> Iterator[str]:
    """Write notes on topics without a relevant document, and on grades that the default level probably misreads.

    These are fractions, which it treats as not relevant, and the lowest grade of a `scale` that does not begin with 0.
    """
    levels = {m: m.parameters.get("rel", m.entry.parameters.get("rel")) for m in measures if not m.entry.descriptive}
    best = index.judged.max(axis=1, initial=UNJUDGED)
    judged = best > UNJUDGED
    for level in sorted({SMALLEST if level is None else level for level in levels.values()}):
        (without,) = np.nonzero(judged & (best < level))
        if 0 < len(without) < np.count_nonzero(judged):  # all of them: see out_of_reach()
            at_level = f" of grade {level:g} or more" if level > 1 else ""
            yield (
                f"{len(without):,} of {count(len(best), 'topic')} {plural(len(without), 'has', 'have')} no relevant "
                f"document{at_level} ({join_first([index.topics[row] for row in without.tolist()])}) and "
                f"{plural(len(without), 'counts', 'count')} in the means, as 0 for most measures"
            )
            break
    usual = [measure for measure, level in levels.items() if level == 1 and "rel" not in measure.parameters]
    if usual and scale and len(scale) > 1 and min(scale) >= 1:
        lowest, second, *_ = sorted(scale)
        yield (
            f"grade {lowest:g}, the lowest of the scale, counts as relevant ({', '.join(map(str, usual))}). Try "
            f"--relevance-level {second:g}, or {usual[0](rel=second)}"
        )
    below = index.judged[(index.judged > 0) & (index.judged < 1)]
    if usual and len(below) and index.highest >= 1:
        lowest = float(below.min())
        yield (
            f"{count(len(below), 'grade')} between 0 and 1 (such as {below.max():g}) {plural(len(below), 'is', 'are')} "
            f"below relevance level 1 and {plural(len(below), 'counts', 'count')} as not relevant "
            f"({', '.join(map(str, usual))}). Try --relevance-level {lowest:g}, or {usual[0](rel=lowest)}"
        )


DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")


MISSING = "missing topics count as empty rankings"
"""Notes on how topics that a run lacks count in its mean."""


class Coverage(NamedTuple):
    """Missing topics and unjudged documents of a run.

    `retrieved` counts the run's documents in topics of the qrels, `unjudged` the unjudged ones among them;
    `unjudged_at_10` is the mean number of unjudged documents in the first 10 of a topic.
    """

    run: str
    topics: int
    missing_topics: tuple[str, ...]
    ignored_topics: tuple[str, ...]
    retrieved: int
    unjudged: int
    unjudged_at_10: float


@dataclass(frozen=True, repr=False)
class Evaluation(Displayed):
    """Values of several runs; a console or notebook shows the means and the notes.

    Frames are made when they are asked for, since `cleverdon evaluate` needs none.

    Attributes
    ----------
    columns
        The columns of :attr:`values`.
    coverage
        Missing topics and unjudged documents of each run.
    shares
        The columns of :attr:`unjudged`.
    measures
        The measures by their names in the columns.
    costs
        Runs x costs (latency, price, ...), as far as known; None if not requested.
    notes
        Notes on all values: measures that stand for names of other tools, relevance levels that no grade reaches, and
        the grades that the bounds assume.
    missing
        How topics that the run lacks count in its mean.
    """

    columns: Mapping[str, Sequence[Any]]
    coverage: list[Coverage]
    shares: Mapping[str, Sequence[Any]]
    measures: Mapping[str, Measure]
    costs: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    missing: str = MISSING

    @classmethod
    def merge(cls, parts: Sequence[Evaluation]) -> Evaluation:
        """Merge the values of several runs, computed with the same qrels and measures."""

        def join(tables: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
            return {name: [cell for table in tables for cell in table[name]] for name in tables[0]}

        coverage = [each for part in parts for each in part.coverage]
        notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
        columns, shares = join([part.columns for part in parts]), join([part.shares for part in parts])
        return cls(columns, coverage, shares, parts[0].measures, notes=notes, missing=parts[0].missing)

    def rename_measures(self, names: Mapping[Measure, str]) -> Evaluation:
        """The same with other names of the measures."""
        new = {name: names[measure] for name, measure in self.measures.items()}

        def rename(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
            return {**columns, "measure": [new[name] for name in columns["measure"]]}

        measures = {new[name]: measure for name, measure in self.measures.items()}
        return replace(self, columns=rename(self.columns), shares=rename(self.shares), measures=measures)

    def select_measure(self, name: str) -> Evaluation:
        """The values by one of the measures."""

        def select(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
            return {
                key: [cell for cell, of in zip(column, columns["measure"], strict=True) if of == name]
                for key, column in columns.items()
            }

        return replace(
            self, columns=select(self.columns), shares=select(self.shares), measures={name: self.measures[name]}
        )

    @cached_property
    def values(self) -> pd.DataFrame:
        """``run``, ``query_id``, ``measure``, ``value``: one row per run, measure and topic of the qrels.

        After the topics of a run and measure comes a row with the query_id ``all``: the mean over these topics (a sum
        for counts, a geometric mean for GMAP). A topic that a run lacks is an empty ranking, 0 for nearly every
        measure. With bounds also ``lowest`` and ``highest``.
        """
        import pandas as pd

        return pd.DataFrame(self.columns)

    @cached_property
    def unjudged(self) -> pd.DataFrame:
        """``run``, ``measure``, ``cutoff``, ``unjudged``: the share of unjudged documents up to the measure's cut-off.

        It is the mean over the topics of the run: 1 minus the mean of ``Judged@k`` over them. It is 0 for a run without
        any topic of the qrels.

        ``cutoff`` is Int64, and missing if the measure reads the whole ranking.
        """
        import pandas as pd

        return pd.DataFrame({**self.shares, "cutoff": pd.array(self.shares["cutoff"], dtype="Int64")})

    def means(self) -> pd.DataFrame:
        """Runs x measures: the means, in the given order."""
        return self._pivot("value")

    def bounds(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Lowest and highest mean over the possible grades of unjudged documents; each runs x measures."""
        return self._pivot("lowest"), self._pivot("highest")

    def _pivot(self, column: str) -> pd.DataFrame:
        rows = self.values[self.values["query_id"] == ALL_TOPICS]
        table = rows.pivot(index="run", columns="measure", values=column)
        return table.loc[rows["run"].drop_duplicates(), rows["measure"].drop_duplicates()]

    def per_topic(self) -> pd.DataFrame:
        """The rows of single topics (:data:`collection.core.frames.VALUES`)."""
        return self.values[self.values["query_id"] != ALL_TOPICS].reset_index(drop=True)

    def chart(self, measure: str | None = None) -> alt.LayerChart:
        """Draw the spread of each run's values over topics as a box, for `measure` or the first measure."""
        import pandas as pd

        from collection.charts.intervals import spread_chart
        from collection.charts.marks import WIDTH

        rows = self.per_topic()
        names = rows["measure"].unique()
        name = names[0] if measure is None else find_measure(names, measure)
        of_run = rows[rows["measure"] == name].groupby("run", sort=False)["value"]
        ends = {"lowest": 0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "highest": 1}
        spread = pd.DataFrame({"mean": of_run.mean(), **{end: of_run.quantile(share) for end, share in ends.items()}})
        return spread_chart(spread.reset_index(), name).properties(width=WIDTH)

    def _summary(self) -> Summary:
        import pandas as pd

        topics = self.coverage[0].topics if self.coverage else 0
        table, details = self.means(), "means(), per_topic(), chart()"
        if len(self.columns) > len(VALUES.names):  # with bounds
            lowest, highest = self.bounds()
            table = pd.concat({"mean": table, "lowest": lowest, "highest": highest}, axis=1).swaplevel(axis=1)
            table, details = table.reindex(columns=lowest.columns, level=0), f"{details}, bounds()"
        headline = f"Means of {count(len(self.coverage), 'run')} over {count(topics, 'topic')}"
        return Summary([headline], table, self.notes, details)


class LookedUpRuns(Protocol):
    """Runs that are looked up in qrels while their files are read, such as :class:`collection.formats.RunFiles`."""

    def look_up(self, index: QrelsIndex, version: Version) -> Iterator[tuple[str, LookedUp]]:
        """Look up one run after the other, each with its name."""


def evaluate(
    runs: Iterable[Run] | LookedUpRuns,
    qrels: pd.DataFrame | QrelsIndex,
    measures: Measure | str | Iterable[Measure | str],
    progress: Callable[[str], None] | None = None,
    *,
    strangers: bool = False,
    version: Version = 10,
    with_bounds: bool = False,
    grades: Iterable[float] | None = None,
) -> Evaluation:
    """Evaluate runs against qrels; other parameters, and errors, are those of :func:`collection.evaluate`.

    Parameters
    ----------
    runs
        Any number; each is read once and released, so a generator keeps memory flat. Large files are fastest and
        need least memory as :class:`collection.formats.RunFiles`.
    qrels
        :data:`collection.core.frames.QRELS`, or the result of :func:`collection.formats.read_index`.
    progress
        Called with the run's name when it is done.
    strangers
        Accept runs that share no topic with the qrels, with the value 0 everywhere. Otherwise they are an error, since
        the usual reason is a wrong file.
    version
        9 has trec_eval 9's order of scores and recall levels; 10 is the default.
    """
    given = [read(each) for each in list_measures(measures)]
    measured = [measure for each in given for measure in each.measures]
    scale = None if grades is None else tuple(grades)
    if not isinstance(qrels, QrelsIndex) and not len(qrels):
        raise InputError("the qrels have no judgements; judge some pairs first")
    index = qrels if isinstance(qrels, QrelsIndex) else index_qrels(qrels)
    if ALL_TOPICS in index.topics:
        raise InputError(f"the qrels have a topic named {ALL_TOPICS!r}, a name reserved for the mean over topics")
    for measure in measured:
        if measured.count(measure) > 1:
            raise InputError(f"measure {measure} is given twice; name it once")
    numbers: dict[str, list[Floats]] = {"value": [], "lowest": [], "highest": []}
    coverage: list[Coverage] = []
    cutoffs = [measure.cutoff for measure in measured]
    unjudged: list[float] = []
    doubts: dict[str, Doubts] = {}
    matches: list[str] = []
    for name, run in _look_up_all(runs, index, version):
        if name in {c.run for c in coverage}:
            raise InputError(f"two runs have the name {name!r}; rename one of them")
        if len(run.missing_topics) == len(index.topics) and not strangers:
            if not run.ignored_topics:
                raise InputError(f"run {name!r}: expected lines, found none; leave it out")
            alike = find_alike(run.ignored_topics, {loose_key(topic): topic for topic in index.topics})
            hint = f"; {describe_alike('they', 'topic', alike, 'qrels').removeprefix('they: ')}" if alike else ""
            raise InputError(
                f"run {name!r} has no topic of the qrels: the first topics of the run are "
                f"{run.ignored_topics[:3]}, those of the qrels {index.topics[:3]}{hint}"
            )
        doubts[name] = run.doubts
        matches += describe_matches(name, run)
        by_measure, lacking = _compute(run, measured, {*cutoffs, 10, None}, with_bounds, scale)
        for measure, several in zip(measured, by_measure, strict=True):
            for parts, column in zip(numbers.values(), several, strict=False):
                parts.append(np.append(column, measure.summarise(column)))
        has = run.retrieved > 0
        within = {k: run.retrieved if k is None else np.minimum(run.retrieved, k) for k in set(cutoffs)}
        topic_shares = {k: lacking[k][has] / depth[has] for k, depth in within.items()}
        unjudged += [float(topic_shares[k].mean()) if has.any() else 0.0 for k in cutoffs]
        coverage.append(
            Coverage(
                name,
                len(index.topics),
                tuple(run.missing_topics),
                tuple(run.ignored_topics),
                int(run.retrieved.sum()),
                int(lacking[None].sum()),
                float(lacking[10].mean()),
            )
        )
        if progress:
            progress(name)
    rows = [*index.topics, ALL_TOPICS]
    names, labels = [c.run for c in coverage], [str(m) for m in measured]
    kinds = ["value", "lowest", "highest"] if with_bounds else ["value"]
    columns: dict[str, Sequence[Any]] = {
        "run": [name for name in names for _ in range(len(measured) * len(rows))],
        "query_id": rows * (len(coverage) * len(measured)),
        "measure": [label for label in labels for _ in rows] * len(coverage),
        **{kind: np.concatenate([[], *numbers[kind]]).tolist() for kind in kinds},
    }
    shares: dict[str, Sequence[Any]] = {
        "run": [name for name in names for _ in measured],
        "measure": labels * len(coverage),
        "cutoff": cutoffs * len(coverage),
        "unjudged": list(map(float, unjudged)),
    }
    notes = [each.note for each in given if each.note]
    notes += [
        *describe_doubts(doubts),
        *matches,
        *out_of_reach(measured, index),
        *describe_grades(measured, index, scale),
    ]
    if with_bounds:
        notes += [assumed_grades(scale, index.levels), *describe_search(measured)]
    return Evaluation(columns, coverage, shares, dict(zip(labels, measured, strict=True)), notes=tuple(notes))


def _look_up_all(
    runs: Iterable[Run] | LookedUpRuns, index: QrelsIndex, version: Version
) -> Iterator[tuple[str, LookedUp]]:
    if isinstance(runs, Iterable):
        yield from ((run.name, look_up(run.frame, index, version)) for run in runs)
    else:
        yield from runs.look_up(index, version)


def _compute(
    run: LookedUp,
    measures: Sequence[Measure],
    depths: Iterable[int | None],
    with_bounds: bool,
    scale: Sequence[float] | None,
) -> tuple[list[list[Floats]], dict[int | None, Ints]]:
    """Each measure's values per topic, perhaps with both bounds; and the number of unjudged documents to each depth."""
    pieces: list[list[tuple[Floats, ...]]] = []
    unjudged: dict[int | None, list[Ints]] = {depth: [] for depth in depths}
    for piece in run.pieces():
        pieces.append([(m(piece), *(bounds(m, piece, grades=scale) if with_bounds else ())) for m in measures])
        for depth, parts in unjudged.items():
            parts.append(piece.unjudged(depth))
    by_measure = [[np.concatenate(parts) for parts in zip(*each, strict=True)] for each in zip(*pieces, strict=True)]
    return by_measure, {depth: np.concatenate(parts) for depth, parts in unjudged.items()}


def describe_coverage(
    coverage: Iterable[Coverage], measures: Iterable[Measure], judged_only: bool = False, missing: str = MISSING
) -> list[str]:
    """Report topics that only a run or only the qrels have, and how many documents are unjudged and how they count.

    `missing` says how topics that a run lacks count in its mean (:attr:`Evaluation.missing`).
    """
    given = list(coverage)
    notes: list[str] = []
    for c in given:
        notes += _describe_missing(c, missing)
        if c.ignored_topics:
            are = plural(len(c.ignored_topics), "is", "are")
            notes.append(f"{c.run}: {count(len(c.ignored_topics), 'topic')} {are} not in the qrels and {are} ignored")
    unjudged = sorted((c.unjudged_at_10, c.run) for c in given)
    if unjudged and f"{unjudged[-1][0]:.1f}" != "0.0":
        (least, _), (most, name) = unjudged[0], unjudged[-1]
        span = f"{most:.1f}" if f"{least:.1f}" == f"{most:.1f}" else f"{least:.1f} to {most:.1f} ({name})"
        notes.append(
            f"on average {span} of a topic's first 10 documents are unjudged{_describe_unjudged(measures, judged_only)}"
        )
    return notes


def describe_missing(evaluation: Evaluation) -> list[str]:
    """Report topics that single runs lack."""
    return [note for c in evaluation.coverage for note in _describe_missing(c, evaluation.missing)]


def _describe_missing(coverage: Coverage, missing: str) -> Iterator[str]:
    if lacking := len(coverage.missing_topics):
        yield f"{coverage.run}: {lacking:,} of {count(coverage.topics, 'topic')} missing; {missing}"


def _describe_unjudged(measures: Iterable[Measure], judged_only: bool) -> str:
    """State how unjudged documents count, as the end of a sentence; empty if each measure estimates or ignores them."""
    if judged_only:
        return " and are left out"
    given = list(measures)
    others = [m for m in given if m.entry.estimates_unjudged or m.parameters.get("judged_only")]
    if len(others) == len(given):
        return ""
    return " and count as not relevant" + (f", except in {join(map(str, others))}" if others else "")


def assumed_grades(scale: Iterable[float] | None, levels: Iterable[float]) -> str:
    """Write which grades bounds assume: those of the scale or, if it is unknown, those of the qrels."""
    of = "the qrels, since the scale is unknown" if scale is None else "the scale"
    shown = ", ".join(f"{grade:g}" for grade in sorted({0, *(levels if scale is None else scale)}))
    return f"bounds assume that an unjudged document may have any grade of {of} ({shown})"


def out_of_reach(measures: Sequence[Measure], qrels: pd.DataFrame | QrelsIndex) -> list[str]:
    """Report each relevance level that no grade of the qrels reaches, where a measure is 0 for every run.

    >>> import pandas as pd
    >>> from collection.measures import parse
    >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": [0.62, 0.1]})
    >>> out_of_reach([parse("AP"), parse("AP(rel=0.5)")], qrels)
    ['no grade reaches relevance level 1 (AP); the highest is 0.62. Try --relevance-level 0.5, or AP(rel=0.5)']
    """
    highest = qrels.highest if isinstance(qrels, QrelsIndex) else float(qrels["relevance"].max())
    if highest < 0:
        return [f"no grade is 0 or more, so nothing counts as judged; the highest is {highest:g}"]
    out: dict[float, list[Measure]] = {}
    for measure in measures:
        level = measure.parameters.get("rel", measure.entry.parameters.get("rel"))
        if level is not None and level > highest:
            out.setdefault(level, []).append(measure)
    notes = []
    for level, those in out.items():
        names = ", ".join(map(str, those))
        note = f"no grade reaches relevance level {level:g} ({names}); the highest is {highest:g}"
        if highest > 0:
            lower = 0.5 if 0.5 <= highest < 1 else highest
            note += f". Try --relevance-level {lower:g}, or {those[0](rel=lower)}"
        notes.append(note)
    return notes


def find_measure(names: Iterable[str], wanted: str) -> str:
    """The name of a measure among those of a result, also from another tool's name.

    Raises
    ------
    UnknownNameError
        The result has no such measure.

    >>> find_measure(["AP", "P@5"], "map"), find_measure(["AP", "P@5"], "P_5")
    ('AP', 'P@5')
    """
    known = list(names)
    with suppress(InputError):
        wanted = wanted if wanted in known else str(as_measure(wanted))
    require_known("measure", known, wanted)
    return wanted


def explain(
    run: Run, qrels: pd.DataFrame | QrelsIndex, measure: Measure | str, topic: str, version: Version = 10
) -> Explanation:
    """Explain one topic's value rank by rank, with the documents' ids.

    Raises
    ------
    UnknownNameError
        The qrels have no such topic.
    """
    ranked = rank_as(run.frame[run.frame["query_id"].astype("str") == topic], version)
    # All of the qrels: some measures look at the highest grade that they have anywhere.
    aligned = align(ranked, qrels, version=version)
    return measuring.explain(measure, aligned, topic=topic, doc_ids=ranked["doc_id"].tolist())
