"""Choice of the pairs to judge."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import pooling
from collection.annotator_agreement import judging_time
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.corpus.document_texts import DocumentTexts
from collection.campaign.log.results import PoolReport
from collection.campaign.people.assignments import Assignments
from collection.campaign.settings.settings import Settings
from collection.core.errors import CampaignError, InputError, require_known
from collection.core.records import Run
from collection.documents import near_duplicates as duplicates
from collection.documents.rendering import shown
from collection.store import Store

NearDuplicateUse = Literal["keep", "skip"]
"""What happens to near-duplicates of a document in the pool of the same topic."""

PACE = 1000
"""Number of newest judgements from which the annotators' pace is estimated."""

PAIR = ["query_id", "doc_id"]


@dataclass(eq=False)
class Pools:
    """Choice of the pairs to judge."""

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
        near_duplicates: NearDuplicateUse = "keep",
        **parameters: float | str,
    ) -> PoolReport:
        """Add the pairs that a strategy chooses and the pool does not have yet.

        Pairs of the pool keep their rank and probability. What a sample leaves out is kept beside the pool, for qrels
        by which the drawn pairs are weighted.

        Parameters
        ----------
        strategy, **parameters
            A name in :data:`collection.pooling.STRATEGIES`, and its parameters.
        dry_run
            Only report what it would cost.
        runs
            Names of the contributing runs; all by default.
        near_duplicates
            "skip": of near-duplicates (:mod:`collection.documents.near_duplicates`) a topic gets only the one that is
            pooled already or that the strategy puts first.

        Raises
        ------
        UnknownNameError
            There is no such strategy, run, parameter or choice.
        InputError
            A parameter is not in its range, or near-duplicates are to be left out of a sample.
        CampaignError
            There is no run.
        """
        entry = pooling.STRATEGIES[strategy]
        entry.require_parameters(parameters)
        require_known("treatment of near-duplicates", get_args(NearDuplicateUse), near_duplicates)
        used = {**entry.parameters, **parameters}
        contributing = self._contributing(runs)
        pairs = chosen = entry.pool(contributing, **parameters)
        if near_duplicates == "skip":
            if entry.samples:
                raise InputError(
                    f"{strategy} draws a random sample, whose probabilities would be wrong without near-duplicates; "
                    "keep them, or choose a strategy without random sampling"
                )
            chosen = chosen[~self._is_duplicate(chosen)]
        stored_parameters = {**used, "near_duplicates": near_duplicates}
        if dry_run:
            new = self._not_pooled(chosen, strategy, stored_parameters)
        else:
            with self.store.transaction():
                new = self._not_pooled(chosen, strategy, stored_parameters)
                self.store.pool.add(new, strategy, stored_parameters, [run.name for run in contributing])
                self.assignments.spread_overlap()
        topics = self.store.corpus.topics()["query_id"]
        per_topic = {"query_id": topics, "pairs": _per_topic(_drawn(chosen), topics)}
        return PoolReport(
            strategy,
            used,
            len(contributing),
            pd.DataFrame({**per_topic, "new": _per_topic(_drawn(new), topics)}),
            without_text=len(self.store.corpus.find_without_text(_drawn(chosen)["doc_id"])),
            near_duplicates=len(pairs) - len(chosen),
            sampled_from=len(chosen) if entry.samples else None,
            notes=[note for run in contributing for note in self.corpus.describe_run(run)],
        )

    def growth(self, deepest: int = 100, runs: Sequence[str] | None = None) -> pd.DataFrame:
        """Pairs that each further rank adds to a depth pool; see :func:`collection.pooling.pool_growth`."""
        return pooling.pool_growth(self._contributing(runs), deepest)

    def costs(self, budget: int, runs: Sequence[str] | None = None) -> pd.DataFrame:
        """Number of pairs that every strategy would choose.

        `budget` is the number of pairs of each topic for the strategies that have this parameter; `runs` names the
        contributing runs, all by default.

        Returns
        -------
        DataFrame
            ``strategy``, ``parameters`` (as :func:`collection.pooling.format_parameters` writes them), ``pairs``,
            ``new`` (not in the pool yet), ``median`` (pairs per topic); in the order of the table.
        """
        contributing = self._contributing(runs)
        topics = self.store.corpus.topics()["query_id"]
        rows = []
        for entry in pooling.strategies(adaptive=False).values():
            given = {"budget": budget} if "budget" in entry.parameters else {}
            chosen = _drawn(entry.pool(contributing, **given))
            new = self._not_pooled(chosen, entry.name, {})
            used = pooling.format_parameters({**entry.parameters, **given})
            rows.append((entry.name, used, len(chosen), len(new), float(np.median(_per_topic(chosen, topics)))))
        return pd.DataFrame(rows, columns=["strategy", "parameters", "pairs", "new", "median"])

    def time(self, judgements: int) -> judging_time.DurationEstimate | None:
        """Seconds that this number of judgements takes at the recent pace; None where it is not known."""
        seconds = self.store.judgements.table(last=PACE, columns=("seconds",))["seconds"].to_numpy(dtype=np.float64)
        return judging_time.estimate_duration(seconds, judgements)

    def _contributing(self, names: Sequence[str] | None) -> list[Run]:
        known = self.store.corpus.runs()["run"].tolist()
        if not known:
            raise CampaignError("the campaign has no runs to pool; import some with `cleverdon import DIR --run FILE`")
        if names is not None and not names:
            raise InputError("runs: expected at least one run, found none; leave the choice out to pool all runs")
        require_known("run", known, *(names or ()))
        return list(self.corpus.runs(names))

    def _not_pooled(self, chosen: pd.DataFrame, strategy: str, parameters: Mapping[str, object]) -> pd.DataFrame:
        """The pairs that the pool does not have, and those that the same sample has not left out before.

        The same sample of more runs draws what it drew before and a part of the new pairs, so what it left out stays
        represented by what it drew then.
        """
        new = chosen.astype(dict.fromkeys(PAIR, "str"))[~self.store.pool.are_pooled(chosen)]
        if "drawn" not in new:
            return new
        rounds = self.store.pool.rounds()
        same = (rounds["strategy"] == strategy) & (rounds["parameters"].map(json.loads) == parameters)
        known = self.store.pool.undrawn_pairs()
        known = known.loc[known["pool_round"].isin(rounds.loc[same, "pool_round"]), [*PAIR, "stratum"]]
        merged = new.merge(known.drop_duplicates(), on=[*PAIR, "stratum"], how="left", indicator="there")
        return merged[merged["drawn"] | (merged["there"] == "left_only")].drop(columns="there")

    def _is_duplicate(self, chosen: pd.DataFrame) -> NDArray[np.bool_]:
        """(rows,) whether a document is a near-duplicate of one in its topic's pool, or of one kept before it.

        A group may link two documents through others that are not near-duplicates themselves, so each document is
        compared with those of its group that are kept.
        """
        pool = self.store.pool.pairs()[PAIR]
        ids = list(dict.fromkeys([*pool["doc_id"], *chosen["doc_id"]]))
        form, corpus = self.settings.judging_page().form, self.store.corpus
        texts = DocumentTexts(lambda: corpus.iterate_documents(ids), form)
        group_of = duplicates.group_numbers(duplicates.groups(texts))

        @cache
        def shingles(doc_id: str) -> duplicates.Shingles:
            return duplicates.shingles(shown(corpus.documents([doc_id])[doc_id], form).compared)

        @cache
        def are_near(a: str, b: str) -> bool:
            return duplicates.jaccard(shingles(a), shingles(b)) >= duplicates.THRESHOLD

        representatives: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for query_id, doc_id in pool.itertuples(index=False):
            if doc_id in group_of:
                representatives[query_id, group_of[doc_id]].append(doc_id)
        repeated = np.zeros(len(chosen), dtype=np.bool_)
        for row, (query_id, doc_id) in enumerate(chosen[PAIR].itertuples(index=False)):
            others = representatives[query_id, group_of[doc_id]] if doc_id in group_of else [doc_id]
            if doc_id not in others:
                repeated[row] = any(are_near(doc_id, other) for other in others)
                if not repeated[row]:
                    others.append(doc_id)
        return repeated


def _drawn(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs to judge: of a sample, those that were drawn."""
    return pairs[pairs["drawn"]] if "drawn" in pairs else pairs


def _per_topic(pairs: pd.DataFrame, topics: pd.Series[str]) -> NDArray[np.integer]:
    """(topics,) number of pairs."""
    return pairs["query_id"].value_counts().reindex(topics, fill_value=0).to_numpy(np.int64)
