"""Simulation of strategies x learners x seeds over all topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection import pooling
from collection.active_learning.learners import LEARNERS
from collection.active_learning.training_round import Recipe
from collection.cluster import map_items
from collection.core.display import Displayed, Summary
from collection.core.errors import InputError, require_known
from collection.core.phrases import count, join, plural
from collection.pooling import Indices
from collection.simulation.cases import Case
from collection.simulation.cost import curve, measure, measure_stop
from collection.simulation.replay import End, JudgingOrder, OrderSource, replay_loop, replay_pooling
from collection.stopping import STOPPING_RULES, Ledger, smallest_sample
from collection.stopping.table import NEEDS, StoppingNeeds

if TYPE_CHECKING:
    import altair as alt

LOOPS = {
    "loop": "Active learning from runs and text; from text alone for topics without runs.",
    "loop-text": "Active learning from the topic's text alone.",
    "loop-labels": "As loop, led by machine labels.",
    "loop-text-labels": "As loop-text, led by machine labels.",
}
"""Strategies that use active learning; all others are pooling strategies."""

LED_BY_LABELS = ("loop-labels", "loop-text-labels")
"""Strategies that need labels."""

WITHOUT_RUNS = ("loop-text", "loop-text-labels")
"""Strategies with active learning that leave out the runs."""

NO_LEARNER = "-"
VALUES = ["query_id", "strategy", "learner", "seed", "measure", "value"]
CURVE = ["query_id", "strategy", "learner", "seed", "judged", "found"]

ValueRow = tuple[str, str, str, int, str, float]
"""A row of values."""

_SOURCES: dict[StoppingNeeds, OrderSource] = {"": "ranking", "random draws": "draws", "control sample": "control"}
"""Needs of a stopping rule -> source of the documents. A replay does not support other needs."""


@dataclass(frozen=True, repr=False)
class Results(Displayed):
    """Result of a simulation; a console or notebook shows the means."""

    values: pd.DataFrame
    """``query_id``, ``strategy``, ``learner`` ("-" for a pooling strategy), ``seed``, ``measure``, ``value``; for the
    measures see :func:`collection.simulation.measure`."""
    curves: pd.DataFrame
    """``query_id``, ``strategy``, ``learner``, ``seed``, ``judged``, ``found``: relevant documents found after each
    number of judgements."""
    ledgers: Mapping[tuple[str, str, int], Sequence[Ledger]] = field(default_factory=dict)
    """(strategy, learner, seed) -> the ledgers of all topics, judged completely; empty unless they are kept."""

    def means(self) -> pd.DataFrame:
        """Return means over topics and seeds: one row per strategy and learner, one column per measure."""
        means = self.values.groupby(["strategy", "learner", "measure"], sort=False)["value"].mean()
        return means.unstack().reindex(columns=self.values["measure"].drop_duplicates())

    def chart(self) -> alt.Chart:
        """Draw mean recall by judgements per topic, a line for each strategy."""
        from collection.charts.gain_curves import recall_chart
        from collection.charts.marks import WIDTH

        return recall_chart(self.curves).properties(width=WIDTH)

    def _summary(self) -> Summary:
        of = f"{count(self.values['query_id'].nunique(), 'topic')} and {count(self.values['seed'].nunique(), 'seed')}"
        details = "means(), values (of each topic and seed), curves (documents found after each judgement), chart()"
        return Summary([f"Means over {of}"], self.means().T, details=details, decimals=2)


Priors = Callable[[Case, int], Indices] | None
"""Function (case, seed) -> documents whose grades are known from the start; None for none."""


def simulate(
    cases: Iterable[Case],
    *,
    strategies: Sequence[str] = ("loop",),
    learners: Sequence[str] = ("svm",),
    recipe: Recipe | None = None,
    stops: Sequence[str] = (),
    target: float = 0.9,
    keep_ledgers: bool = False,
    schedule: str = "twentieth",
    seeds: int = 1,
    priors: Priors = None,
    progress: Callable[[str, int], None] | None = None,
    cluster: str | None = None,
) -> Results:
    """Replay the judging of each case by each strategy.

    Parameters
    ----------
    cases
        One per topic, from :func:`collection.simulation.cases`.
    strategies
        Names in :data:`LOOPS` or of pooling strategies.
    learners
        Learners for the strategies in :data:`LOOPS`; each replaces the learner of `recipe`.
    recipe
        Other settings of the loop, and the minimum relevant grade.
    stops
        Stopping rules to measure, with their default parameters.
    target
        Target recall of the stopping rules.
    keep_ledgers
        Judge every document of every topic and keep the ledgers, for
        :func:`~collection.simulation.replay_risk_control`.
    schedule
        A name in :data:`collection.simulation.SCHEDULES`.
    seeds
        Number of replays, with the random seeds 0, 1, ...
    priors
        Documents whose grades are known from the start (:func:`draw_priors`, :func:`list_priors`).
    progress
        Called with each topic and the number of topics before it.
    cluster
        Address of a Dask scheduler whose workers compute; None for this process. The results are the same, except for
        the measure "seconds".

    Raises
    ------
    InputError, UnknownNameError
        No topic with enough relevant documents, priors with all of them, an unknown name, a stopping rule that needs
        more than a replay has, or no label for a strategy that labels lead.
    ClusterError
        The cluster cannot be reached, or has failed.
    """
    require_known("strategy", [*LOOPS, *(s.name for s in pooling.STRATEGIES)], *strategies)
    for learner in learners:
        LEARNERS[learner]
    for rule in stops:
        if (needs := STOPPING_RULES[rule].needs) not in _SOURCES:
            raise InputError(f"rule {rule!r} needs {NEEDS[needs]}, which a replay does not have; choose another rule")
    usual = recipe or Recipe()
    values: list[ValueRow] = []
    curves: list[pd.DataFrame] = []
    ledgers: dict[tuple[str, str, int], list[Ledger]] = {}

    led, labelled = [name for name in strategies if name in LED_BY_LABELS], 0

    def tasks() -> Iterator[tuple[Case, _Task]]:
        nonlocal labelled
        for number, case in enumerate(cases):
            labelled += case.space.labels is not None
            if progress is not None:
                progress(case.query_id, number)
            for seed in range(seeds):
                given = None if priors is None else priors(case, seed)
                for strategy in strategies:
                    for learner in learners if strategy in LOOPS else [NO_LEARNER]:
                        used = replace(usual, learner=learner) if strategy in LOOPS else usual
                        yield case, _Task(strategy, learner, used, schedule, seed, given, stops, target, keep_ledgers)

    for key, rows, points, ledger in map_items(_replay, tasks(), cluster):
        values += rows
        curves.append(points)
        if ledger is not None:
            ledgers.setdefault(key, []).append(ledger)
    table = pd.DataFrame(values, columns=VALUES)
    _refuse_empty(table)
    if led and not labelled:
        raise InputError(f"{join(led)} {plural(len(led), 'needs', 'need')} labels of the topics, found none")
    return Results(table, pd.concat(curves, ignore_index=True), ledgers)


class _Task(NamedTuple):
    """One replay of a case; see :func:`simulate`."""

    strategy: str
    learner: str
    recipe: Recipe
    schedule: str
    seed: int
    priors: Indices | None
    stops: Sequence[str]
    target: float
    keep_ledger: bool


def _replay(case: Case, task: _Task) -> tuple[tuple[str, str, int], list[ValueRow], pd.DataFrame, Ledger | None]:
    """Replay a case: strategy, learner and seed; rows of values and of the curve; the ledger, if it is kept."""
    level = task.recipe.level
    replays = _Replays(case, task.strategy, task.recipe, task.schedule, task.seed, task.priors, task.target)
    ledger = replays.whole("ranking", 0).ledger(case, level) if task.keep_ledger else None
    judged = replays.until_found(task.stops)
    values = measure(case, judged, level)
    for rule in task.stops:
        values |= replays.measure_stop(rule)
    key = (task.strategy, task.learner, task.seed)
    points = curve(case, judged, level).assign(
        query_id=case.query_id, strategy=task.strategy, learner=task.learner, seed=task.seed
    )
    return key, [(case.query_id, *key, *item) for item in values.items()], points[CURVE], ledger


def _refuse_empty(table: pd.DataFrame) -> None:
    savings = table.loc[table["measure"] == "WSS@95", "value"]
    if savings.empty:
        raise InputError(
            "a simulation needs topics with relevant documents in the collection, found none; check the ids in the "
            "qrels, the minimum relevant grade, the minimum number of relevant documents, and the scope"
        )
    if savings.isna().all():
        raise InputError("priors: expected relevant documents left to find, found all among the priors; use fewer")


@dataclass(frozen=True)
class _Replays:
    """Replays of one strategy on one case with one seed; whole orders are computed only for rules that need them."""

    case: Case
    strategy: str
    recipe: Recipe
    schedule: str
    seed: int
    priors: Indices | None
    target: float
    _whole: dict[tuple[OrderSource, int], JudgingOrder] = field(default_factory=dict)

    def replay(self, source: OrderSource = "ranking", end: End = "found", positives: int = 10) -> JudgingOrder:
        case = self.case
        if self.strategy not in LOOPS:
            return replay_pooling(case, self.strategy, self.seed, level=self.recipe.level, priors=self.priors)
        space = case.space if self.strategy in LED_BY_LABELS else replace(case.space, labels=None)
        space = replace(space, evidence=None) if self.strategy in WITHOUT_RUNS else space
        case = replace(case, space=space)
        return replay_loop(
            case, self.recipe, self.seed, priors=self.priors, schedule=self.schedule,
            source=source, end=end, positives=positives,
        )  # fmt: skip

    def until_found(self, stops: Sequence[str]) -> JudgingOrder:
        """The order until every relevant document is found, cut from the whole order if a rule needs that anyway."""
        if self.strategy not in LOOPS:
            return self.whole("ranking", 0)
        if ("ranking", 0) not in self._whole and all(self.source(rule) != "ranking" for rule in stops):
            return self.replay()
        return self.whole("ranking", 0).until_found(self.case, self.recipe.level)

    def source(self, rule: str) -> OrderSource:
        return _SOURCES[STOPPING_RULES[rule].needs] if self.strategy in LOOPS else "ranking"

    def whole(self, source: OrderSource, positives: int) -> JudgingOrder:
        key = (source, positives)
        if key not in self._whole:
            self._whole[key] = self.replay(source, "filled", positives)
        return self._whole[key]

    def measure_stop(self, rule: str) -> Mapping[str, float]:
        source, known = self.source(rule), STOPPING_RULES[rule].parameters
        positives = int(known.get("positives") or smallest_sample(self.target) or 10) if source == "control" else 0
        parameters = {} if known.get("target") is None else {"target": self.target}
        return measure_stop(self.case, self.whole(source, positives), rule, parameters, self.recipe.level, self.target)


def draw_priors(relevant: int, irrelevant: int, level: float = 1) -> Callable[[Case, int], Indices]:
    """Return a function that draws priors at random: numbers of relevant and of irrelevant documents of each case."""

    def draw(case: Case, seed: int) -> Indices:
        random = np.random.default_rng(seed)
        is_relevant = case.grades >= level
        chosen: list[int] = []
        for which, number in ((is_relevant, relevant), (~is_relevant, irrelevant)):
            drawable = np.flatnonzero(which & case.space.allowed)
            chosen += random.choice(drawable, min(number, len(drawable)), replace=False).tolist()
        return np.array(chosen, dtype=np.int64)

    return draw


def list_priors(listed: Mapping[tuple[str, int | None], Sequence[str]]) -> Callable[[Case, int], Indices]:
    """Return a function that looks up priors by (query_id, seed); those with the seed None apply to every seed.

    That function raises InputError for a document that is not in the collection.
    """

    def look_up(case: Case, seed: int) -> Indices:
        both = [*listed.get((case.query_id, seed), ()), *listed.get((case.query_id, None), ())]
        wanted = list(dict.fromkeys(both))
        places = case.doc_ids.get_indexer(pd.Index(wanted, dtype="str"))
        if (places < 0).any():
            unknown = wanted[int((places < 0).argmax())]
            raise InputError(f"prior {unknown!r} of topic {case.query_id!r} is not in the collection or its scope")
        return places.astype(np.int64)

    return look_up
