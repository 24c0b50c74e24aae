"""Chooses which pairs are judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from collection import pooling
from collection.annotator_agreement import judging_time
from collection.campaign.assignments import Assignments
from collection.campaign.corpus import Corpus
from collection.campaign.document_texts import Texts
from collection.campaign.results import PoolReport
from collection.campaign.settings import Settings
from collection.documents import near_duplicates as duplicates
from collection.errors import CampaignError, InputError, UnknownNameError
from collection.records import Run
from collection.store import Store

NearDuplicates = Literal["keep", "skip"]
"""What becomes of documents that are nearly the same as one that the topic's pool has."""


PACE = 1000
"""Judgements, the newest, among which those with seconds say how fast the annotators are."""


@dataclass(eq=False)
class Pools:
    """Chooses which pairs are judged."""

    store: Store
    settings: Settings
    corpus: Corpus
    assignments: Assignments

    def add(
        self,
        strategy: str = "depth",
        *,
        dry_run: bool = False,
        runs: Sequence[str] | None = None,
        near_duplicates: NearDuplicates = "keep",
        **parameters: Any,
    ) -> PoolReport:
        """Add to the pool what a strategy chooses and the pool has not yet.

        A pair stays what it was when it came into the pool: what a later strategy says of its rank or probability
        changes nothing. What a sample did not draw is kept beside the pool, for qrels that say what the drawn pairs
        stand for.

        Parameters
        ----------
        strategy
            A name of the table :data:`collection.pooling.STRATEGIES`.
        dry_run
            Only say what it would cost.
        runs
            Names of the runs that contribute; all if left out.
        near_duplicates
            "skip": of near-duplicates (:mod:`collection.documents.near_duplicates`) a topic gets the one that its pool
            has already or that the strategy puts first, and no other. "keep": all.
        **parameters
            The strategy's; its defaults otherwise.

        Raises
        ------
        UnknownNameError
            There is no such strategy, run, parameter or choice.
        InputError
            A parameter is not in its range; near-duplicates are to be left out of a sample.
        CampaignError
            There is no run.
        """
        entry = self._strategy(strategy, parameters)
        if near_duplicates not in get_args(NearDuplicates):
            raise UnknownNameError("way with near-duplicates", near_duplicates, get_args(NearDuplicates))
        used = {**entry.parameters, **parameters}
        contributing = self._contributing(runs)
        chosen = entry.pool(contributing, **parameters)
        sampled = entry.samples
        if sampled and near_duplicates == "skip":
            raise InputError(
                f"near-duplicates cannot be left out of a sample, since the probabilities of {strategy} would hold no "
                "more; keep them, or choose a strategy that draws nothing by lot"
            )
        kept = {**used, "near_duplicates": near_duplicates}
        before = len(chosen)
        if near_duplicates == "skip":
            chosen = chosen[~self._nearly_there(chosen)]
        if dry_run:
            new = self._not_pooled(chosen, strategy, kept)
        else:
            with self.store.transaction():
                new = self._not_pooled(chosen, strategy, kept)
                self.store.pool.add(new, strategy, kept, [run.name for run in contributing])
                self.assignments.spread_overlap()
        wanted = chosen[chosen["drawn"]] if sampled else chosen
        topics = self.store.corpus.topics()["query_id"]
        per_topic = pd.DataFrame(
            {
                "query_id": topics,
                "pairs": _per_topic(wanted, topics),
                "new": _per_topic(new[new["drawn"]] if sampled else new, topics),
            }
        )
        return PoolReport(
            strategy,
            used,
            len(contributing),
            per_topic,
            without_text=len(self.store.corpus.without_text(wanted["doc_id"])),
            near_duplicates=before - len(chosen),
            sampled_from=len(chosen) if sampled else None,
        )

    def growth(self, deepest: int = 100, runs: Sequence[str] | None = None) -> pd.DataFrame:
        """What each further rank would add to a depth pool; see :func:`collection.pooling.pool_growth`."""
        return pooling.pool_growth(self._contributing(runs), deepest)

    def costs(self, budget: int, runs: Sequence[str] | None = None) -> pd.DataFrame:
        """What every strategy would cost, before anything is judged.

        Parameters
        ----------
        budget
            Pairs of each topic, for the strategies that can be told; the others take their usual parameters.
        runs
            Names of the runs that contribute; all if left out.

        Returns
        -------
        DataFrame
            ``strategy``, ``parameters`` (as :func:`collection.pooling.in_words` writes them), ``pairs``,
            ``new`` (not in the pool yet), ``median`` (pairs of a topic); in the order of the table.
        """
        contributing = self._contributing(runs)
        topics = self.store.corpus.topics()["query_id"]
        rows = []
        for entry in pooling.strategies(adaptive=False).values():
            given = {"budget": budget} if "budget" in entry.parameters else {}
            chosen = entry.pool(contributing, **given)
            wanted = chosen[chosen["drawn"]] if entry.samples else chosen
            new = self._not_pooled(wanted, entry.name, {})
            used = pooling.in_words({**entry.parameters, **given})
            rows.append((entry.name, used, len(wanted), len(new), float(np.median(_per_topic(wanted, topics)))))
        return pd.DataFrame(rows, columns=["strategy", "parameters", "pairs", "new", "median"])

    def time(self, judgements: int) -> judging_time.Estimate | None:
        """Seconds that so many judgements will take at the pace of the newest ones; None where that is not known."""
        seconds = self.store.judgements.table(last=PACE)["seconds"].to_numpy(dtype=np.float64)
        return judging_time.estimate_duration(seconds, judgements)

    def _strategy(self, name: str, parameters: dict[str, Any]) -> pooling.StrategyEntry:
        entry = pooling.STRATEGIES[name]
        for parameter in parameters:
            if parameter not in entry.parameters:
                raise UnknownNameError(f"{name} parameter", parameter, entry.parameters)
        return entry

    def _contributing(self, names: Sequence[str] | None) -> list[Run]:
        known = self.store.corpus.runs()["run"].tolist()
        if not known:
            raise CampaignError("there is no run to pool from; import some with --run")
        if names is not None and not names:
            raise InputError("a pool needs a run that contributes to it; name one, or leave the choice out for all")
        for name in names or ():
            if name not in known:
                raise UnknownNameError("run", name, known)
        return list(self.corpus.runs(names))

    def _not_pooled(self, chosen: pd.DataFrame, strategy: str, parameters: dict[str, Any]) -> pd.DataFrame:
        """What the pool has not yet, and of what a sample did not draw what the same one did not leave out before.

        The same sample of more runs draws what it drew before and a part of what is new: what it left out goes on
        being represented by what it then drew.
        """
        keys = ["query_id", "doc_id"]
        merged = chosen.merge(self.store.pool.pairs()[keys], on=keys, how="left", indicator="there")
        new = merged[merged["there"] == "left_only"].drop(columns="there")
        if "drawn" not in new:
            return new
        rounds = self.store.pool.rounds()
        same = (rounds["strategy"] == strategy) & (rounds["parameters"].map(json.loads) == parameters)
        known = self.store.pool.sampled_out()
        known = known.loc[known["pool_round"].isin(rounds.loc[same, "pool_round"]), [*keys, "stratum"]]
        merged = new.merge(known.drop_duplicates(), on=[*keys, "stratum"], how="left", indicator="there")
        return merged[merged["drawn"] | (merged["there"] == "left_only")].drop(columns="there")

    def _nearly_there(self, chosen: pd.DataFrame) -> Any:
        """(rows,) whether a document is nearly the same as one of its topic's pool, or as one that stays before it."""
        pool = self.store.pool.pairs()[["query_id", "doc_id"]]
        ids = list(dict.fromkeys([*pool["doc_id"], *chosen["doc_id"]]))
        texts = Texts(self.store, ids, self.settings.judging_page().form)
        group_of = {doc_id: n for n, group in enumerate(duplicates.groups(texts)) for doc_id in group.doc_ids}

        @cache
        def shingles(doc_id: str) -> duplicates.Shingles:
            return duplicates.shingles(texts[doc_id])

        @cache
        def alike(a: str, b: str) -> bool:
            return duplicates.jaccard(shingles(a), shingles(b)) >= duplicates.THRESHOLD

        return _repeated(pool, chosen, group_of, alike)

    def rounds(self) -> pd.DataFrame:
        """How the pool came about: ``strategy``, ``parameters``, ``pairs``, ``made_at`` of each round."""
        return self.store.pool.rounds()


def _repeated(
    pool: pd.DataFrame, chosen: pd.DataFrame, group_of: dict[str, int], alike: Callable[[str, str], bool]
) -> Any:
    """(rows of `chosen`,) whether a row's document is alike one of its topic that is pooled, or stays before it.

    A group links documents over others between them, and these are perhaps not alike themselves; so within a group
    each is compared with what stays. A pair of the pool is no copy of itself, and stays.
    """
    stay: dict[tuple[str, int], list[str]] = {}
    for query_id, doc_id in zip(pool["query_id"], pool["doc_id"], strict=True):
        if doc_id in group_of:
            stay.setdefault((query_id, group_of[doc_id]), []).append(doc_id)
    repeated = np.zeros(len(chosen), dtype=np.bool_)
    for row, (query_id, doc_id) in enumerate(zip(chosen["query_id"], chosen["doc_id"], strict=True)):
        if doc_id in group_of:
            others = stay.setdefault((query_id, group_of[doc_id]), [])
            if doc_id in others:
                continue
            if any(alike(doc_id, other) for other in others):
                repeated[row] = True
            else:
                others.append(doc_id)
    return repeated


def _per_topic(pairs: pd.DataFrame, topics: pd.Series[Any]) -> Any:
    """(topics,) how many of the pairs each has."""
    return pairs["query_id"].value_counts().reindex(topics, fill_value=0).to_numpy()
