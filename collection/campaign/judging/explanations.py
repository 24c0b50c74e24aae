"""Reasons for which a document was chosen and, unless judging is blind, its other judgements and its ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from collection import pooling
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.loop.active_learning import ActiveLearning
from collection.campaign.loop.loop_round import LoopRound, Reasons
from collection.campaign.settings.loop_settings import DECISIVE, LOOPING
from collection.campaign.settings.settings import Settings
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count, percent_down
from collection.documents.rendering.topic_terms import STOP_WORDS
from collection.store import Store


class Why(NamedTuple):
    """Reason for which a document was chosen: a sentence, and the weights of its terms from -1 (against) to 1 (for).

    Stop words and numbers are left out.
    """

    sentence: str
    terms: list[tuple[str, float]]


def _is_telling(term: str) -> bool:
    return not term.isdecimal() and term not in STOP_WORDS


@dataclass(eq=False)
class Explanations:
    """Reasons for which a document was chosen and, unless judging is blind, its other judgements and its ranks."""

    store: Store
    settings: Settings
    corpus: Corpus
    active_learning: ActiveLearning

    def chooser(
        self, query_id: str, loop_round: LoopRound | None, training: bool, problem: str | None = None
    ) -> tuple[str, str]:
        """Describe what chooses the documents of a topic in its loop; and its training, and whether judging can stop.

        Nothing about single documents, which would bias judgements; both are empty if the settings hide explanations.

        Parameters
        ----------
        loop_round
            The round that the present order is from, if there is one.
        training
            A new round is being made.
        problem
            Why no newer round could be made.
        """
        settings = self.settings.loop()
        if settings.explain == "nothing" or self.settings.mode(query_id) not in LOOPING:
            return "", ""
        draws = "; some are drawn at random" if settings.share_of_draws else ""
        if not settings.share_of_draws and settings.draws_after != 0:
            draws = "; some may be drawn at random"
        if settings.by_system_order:
            return f"The next documents are those that best tell the systems apart{draws}.", ""
        if not settings.by_model:
            return f"{pooling.STRATEGIES[settings.by].label} chooses the next document{draws}.", ""
        if training:
            state = "The model is being trained \N{HORIZONTAL ELLIPSIS}"
        elif loop_round is None:
            state = ""
        elif problem is not None:
            state = f"The model is not available, and documents come from its last ranking: {problem}."
        elif loop_round.strategy != "model":
            state = "The model starts when a relevant document is known."
        else:
            state = f"The model has learned from {count(loop_round.learned_from, 'judged document')}."
        progress = "" if training or problem is not None else self._describe_progress(loop_round)
        return f"A model chooses the next document{draws}.", f"{state} {progress}".strip()

    def _describe_progress(self, loop_round: LoopRound | None) -> str:
        """Say that judging may stop; empty if not."""
        if loop_round is None or loop_round.progress is None or not loop_round.progress.may_stop:
            return ""
        target = f"The target recall of {percent_down(self.settings.loop().target)} is reached"
        return f"{target}: stop here, or judge on for a higher recall."

    def why(
        self,
        query_id: str,
        doc_id: str,
        annotator: str,
        reasons: Callable[[int], Reasons | None] | None = None,
    ) -> Why:
        """Explain why a document was chosen, as far as the settings show this to annotators.

        Parameters
        ----------
        reasons
            :meth:`.ExplainableRound.reasons` of a round of the topic; computed again by default.
        """
        settings = self.settings.loop()
        if settings.explain == "nothing":
            return Why("The manager of this campaign has hidden why documents are chosen.", [])
        if not self.explains(query_id, doc_id):
            pooled = "in the pool of documents that the systems retrieved"
            return Why(f"It is {pooled if self.corpus.in_pool(query_id, doc_id) else 'not in the pool'}.", [])
        row = self.store.corpus.rows_of([doc_id]).get(doc_id)
        known = None if row is None else (reasons or self.active_learning.next_explainable_round(query_id).reasons)(row)
        if known is None:
            raise InputError(f"document {doc_id!r} is not in the loop of topic {query_id!r}")
        pair = self.store.judgements.pair(query_id, doc_id, annotator)
        drawn = pair is not None and pair.strategy == "random"
        if drawn:
            usual = "the model" if settings.by_model else "the strategy"
            if settings.by_system_order:
                usual = "the comparison of systems"
            sentence = (
                f"Drawn at random, not chosen by {usual}. "
                "Random draws estimate how many relevant documents are still missing."
            )
        elif known.strategy == DECISIVE:
            sentence = "Its grade is among the most informative about the order of the systems."
        elif (entry := pooling.strategies(adaptive=True).get(known.strategy)) is not None:
            how = entry.description[0].lower() + entry.description[1:]
            listed = known.best is not None and known.best[0] > 0
            sentence = f"Chosen by {entry.label}: {how}" if listed else "No system retrieved it."
        elif known.strategy != "model":
            basis = {"fusion": "by the rankings of the systems", "topic text": "by the words of the topic"}
            ordered = basis.get(known.strategy, "at random")
            sentence = f"No relevant document is known yet, so documents are ordered {ordered}."
        else:
            sentence = "Ranked by a model trained on the judgements so far; these terms contributed most."
        telling = [] if drawn else [(term, share) for term, share in known.terms if _is_telling(term)]
        largest = max((abs(share) for _, share in telling), default=0.0) or 1.0
        terms = [(term, round(share / largest, 3)) for term, share in telling]
        unblinded = settings.explain == "terms and runs" and not self.settings.assignment().blind
        if unblinded and known.best is not None:
            number, rank = known.best
            of = len(self.store.corpus.runs())
            best = f", best at rank {rank:,}" if number else ""
            sentence += f" Retrieved by {number:,} of {count(of, 'system')}{best}."
        return Why(sentence, terms)

    def explains(self, query_id: str, doc_id: str) -> bool:
        """Return whether explaining the document needs a model: not in a pool, nor if settings hide explanations."""
        if self.settings.loop().explain == "nothing" or self.settings.mode(query_id) not in LOOPING:
            return False
        return self.settings.mode(query_id) != "pool-then-loop" or not self.corpus.in_pool(query_id, doc_id)

    def others_said(self, query_id: str, doc_id: str, annotator: str) -> pd.DataFrame:
        """The other annotators' judgements of a pair, oldest first.

        ``annotator``, ``counts_as``, ``kind``, ``relevance``, ``note``, ``judged_at``.
        Raises CampaignError if judging is blind.
        """
        self._require_unblinded()
        judgements = self.store.judgements.table(query_id=query_id)
        own = (judgements["annotator"] == annotator) & (judgements["counts_as"] == "judgement")
        others = judgements[(judgements["doc_id"] == doc_id) & ~own]
        return others[["annotator", "counts_as", "kind", "relevance", "note", "judged_at"]].reset_index(drop=True)

    def ranks_of(self, query_id: str, doc_id: str) -> pd.DataFrame:
        """``run``, ``rank``, ``score`` of the runs that have a pair, best rank first.

        Raises CampaignError if judging is blind.
        """
        self._require_unblinded()
        rows = []
        pair = [("query_id", "==", query_id), ("doc_id", "==", doc_id)]
        for name, frame in self.corpus.runs(filters=pair):
            rows += [(name, int(rank), float(score)) for rank, score in zip(frame["rank"], frame["score"], strict=True)]
        ranks = pd.DataFrame(rows, columns=["run", "rank", "score"])
        return ranks.sort_values(["rank", "run"], kind="stable", ignore_index=True)

    def _require_unblinded(self) -> None:
        if self.settings.assignment().blind:
            raise CampaignError("judging is blind in this campaign; a manager can change that on the Assign page")
