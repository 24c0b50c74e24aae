"""Strategies x learners x seeds over all topics, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from collection import pooling
from collection.active_learning.learners import LEARNERS
from collection.active_learning.training_round import Recipe
from collection.errors import InputError, UnknownNameError
from collection.pooling import Indices
from collection.simulation.cases import Case
from collection.simulation.cost import curve, measure, measure_stop
from collection.simulation.replay import End, Played, Way, play_loop, play_pooling
from collection.stopping import RULES, smallest_sample
from collection.stopping.table import NEEDS, Needs

LOOPS = {
    "loop": "The loop with runs and text; text alone for topics that no run has.",
    "loop-text": "The loop from the topic's text alone.",
}
"""Strategies that learn; all others are pooling strategies."""

NO_LEARNER = "-"
VALUES = ["query_id", "strategy", "learner", "seed", "measure", "value"]
CURVE = ["query_id", "strategy", "learner", "seed", "judged", "found"]

_WAYS: dict[Needs, Way] = {"": "ranking", "random draws": "draws", "control sample": "control"}
"""What a rule needs -> how documents are then chosen. What else rules need, a replay does not know."""


@dataclass(frozen=True)
class Results:
    """What a simulation found.

    Attributes
    ----------
    values
        ``query_id``, ``strategy``, ``learner`` ("-" for a pooling strategy), ``seed``, ``measure``, ``value``.
    curves
        ``query_id``, ``strategy``, ``learner``, ``seed``, ``judged``, ``found``.
    """

    values: pd.DataFrame
    curves: pd.DataFrame

    def means(self) -> pd.DataFrame:
        """Means over topics and seeds: a row for each strategy and learner, a column for each measure."""
        means = self.values.groupby(["strategy", "learner", "measure"], sort=False)["value"].mean()
        return means.unstack().reindex(columns=self.values["measure"].drop_duplicates())


Priors = Callable[[Case, int], Indices] | None
"""(case, seed) -> documents whose grades are known beforehand."""


def simulate(
    cases: Iterable[Case],
    *,
    strategies: Sequence[str] = ("loop",),
    learners: Sequence[str] = ("svm",),
    recipe: Recipe | None = None,
    stops: Sequence[str] = (),
    schedule: str = "twentieth",
    seeds: int = 1,
    priors: Priors = None,
    progress: Callable[[str, int], None] | None = None,
) -> Results:
    """Replay the judging of every case by every strategy.

    Parameters
    ----------
    cases
        From :func:`collection.simulation.cases`.
    strategies
        Of :data:`LOOPS` or of the pooling tables.
    learners
        Names of the table of learners, for the strategies that learn.
    recipe
        How the loop learns; its learner is replaced by each of `learners`.
    stops
        Stopping rules to ask along the way, with their own defaults.
    schedule
        A name of :data:`collection.simulation.SCHEDULES`.
    seeds
        How often everything is replayed, with the seeds 0, 1, ...
    priors
        What is known beforehand; nothing if left out.
    progress
        Told the topic and how many are done.
    """
    known = [*LOOPS, *(s.name for s in pooling.STRATEGIES)]
    for strategy in strategies:
        if strategy not in known:
            raise UnknownNameError("strategy", strategy, known)
    for learner in learners:
        LEARNERS[learner]
    for rule in stops:
        if (needs := RULES[rule].needs) not in _WAYS:
            raise InputError(f"the rule {rule!r} needs {NEEDS[needs]}, which a replay does not keep; choose another")
    usual = recipe or Recipe()
    values: list[tuple[str, str, str, int, str, float]] = []
    curves: list[pd.DataFrame] = []
    for number, case in enumerate(cases):
        if progress is not None:
            progress(case.query_id, number)
        for seed in range(seeds):
            given = None if priors is None else priors(case, seed)
            for strategy in strategies:
                for learner in learners if strategy in LOOPS else [NO_LEARNER]:
                    player = _Player(
                        strategy, replace(usual, learner=learner) if strategy in LOOPS else usual, schedule, seed, given
                    )
                    played = player.until_found(case, stops)
                    found = measure(case, played, usual.level)
                    for rule in stops:
                        found |= player.stop(case, rule)
                    row = (case.query_id, strategy, learner, seed)
                    values += [(*row, name, value) for name, value in found.items()]
                    drawn = curve(case, played, usual.level)
                    facts: dict[str, Any] = dict(zip(CURVE, row, strict=False))
                    curves.append(drawn.assign(**facts)[CURVE])
    table = pd.DataFrame(values, columns=VALUES)
    _must_say_something(table)
    return Results(table, pd.concat(curves, ignore_index=True))


def _must_say_something(table: pd.DataFrame) -> None:
    found = table.loc[table["measure"] == "WSS@95", "value"]
    if found.empty:
        raise InputError(
            "there is nothing to simulate: no topic has enough relevant documents in the collection; look at the ids "
            "of topics and documents in the qrels, at the relevance level, the least number asked for, and the scope"
        )
    if found.isna().all():
        raise InputError("there is nothing to find: the priors hold every relevant document; give fewer of them")


class _Player:
    """One strategy on one case with one seed; orders that go on to the end are only made for rules that want them."""

    def __init__(self, strategy: str, recipe: Recipe, schedule: str, seed: int, priors: Indices | None) -> None:
        self.strategy, self.recipe, self.schedule, self.seed, self.priors = strategy, recipe, schedule, seed, priors
        self._ends: dict[tuple[Way, int], Played] = {}

    def play(self, case: Case, way: Way = "ranking", end: End = "found", positives: int = 10) -> Played:
        if self.strategy not in LOOPS:
            return play_pooling(case, self.strategy, self.seed, level=self.recipe.level, priors=self.priors)
        if self.strategy == "loop-text":
            case = replace(case, space=replace(case.space, evidence=None))
        return play_loop(
            case, self.recipe, self.seed, priors=self.priors, schedule=self.schedule,
            way=way, end=end, positives=positives,
        )  # fmt: skip

    def until_found(self, case: Case, stops: Sequence[str]) -> Played:
        """The order until every relevant document is found, cut from the one that a rule will read if there is one."""
        if self.strategy in LOOPS and all(self._way(rule) != "ranking" for rule in stops):
            return self.play(case)
        whole = self._whole(case, "ranking", 0)
        return whole if self.strategy not in LOOPS else whole.until_found(case, self.recipe.level)

    def _way(self, rule: str) -> Way:
        return _WAYS[RULES[rule].needs] if self.strategy in LOOPS else "ranking"

    def _whole(self, case: Case, way: Way, positives: int) -> Played:
        key = (way, positives)
        if key not in self._ends:
            self._ends[key] = self.play(case, way, "filled", positives)
        return self._ends[key]

    def stop(self, case: Case, rule: str) -> Mapping[str, float]:
        way = self._way(rule)
        entry = RULES[rule]
        target = float(entry.parameters.get("target", 0.9))
        positives = int(entry.parameters.get("positives") or smallest_sample(target) or 10) if way == "control" else 0
        return measure_stop(case, self._whole(case, way, positives), rule, {}, self.recipe.level, target)


def drawn_priors(relevant: int, irrelevant: int, level: float = 1) -> Callable[[Case, int], Indices]:
    """Priors drawn by lot: so many relevant and so many irrelevant documents of each case."""

    def draw(case: Case, seed: int) -> Indices:
        random = np.random.default_rng(seed)
        is_relevant = case.grades >= level
        chosen: list[int] = []
        for which, count in ((is_relevant, relevant), (~is_relevant, irrelevant)):
            there = np.flatnonzero(which & case.space.allowed)
            chosen += random.choice(there, min(count, len(there)), replace=False).tolist()
        return np.array(chosen, dtype=np.int64)

    return draw


def listed_priors(listed: Mapping[tuple[str, int | None], Sequence[str]]) -> Callable[[Case, int], Indices]:
    """Priors by name: (query_id, seed) -> document ids; the seed None holds for every seed."""

    def look_up(case: Case, seed: int) -> Indices:
        both = [*listed.get((case.query_id, seed), ()), *listed.get((case.query_id, None), ())]
        wanted = list(dict.fromkeys(both))
        places = case.doc_ids.get_indexer(pd.Index(wanted, dtype="str"))
        if (places < 0).any():
            stranger = wanted[int((places < 0).argmax())]
            raise InputError(f"the prior {stranger!r} of topic {case.query_id!r} is no document of its collection")
        return places.astype(np.int64)

    return look_up
