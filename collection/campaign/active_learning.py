"""The loop of a campaign: its settings, the model of a topic, and why a document came up."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import clock, pooling
from collection.active_learning import features as vectors
from collection.active_learning import training_round
from collection.campaign.judging_budget import Asking, seed_of
from collection.campaign.loop_settings import LoopSettings, known_mode
from collection.campaign.results import Progress
from collection.campaign.topic_ledger import Known, ledger_of, settled
from collection.campaign.training_round import Learned, Round
from collection.errors import CampaignError, FormatError, InputError, UnknownNameError
from collection.stopping import Ledger
from collection.store import Way

if TYPE_CHECKING:
    from collection.active_learning.features import Report, Vectors


class Looping(Asking):
    """The part of a campaign that learns."""

    _vectors: tuple[str, Vectors] | None = None
    _evidence: tuple[str, dict[str, pd.DataFrame]] | None = None
    _spaces: dict[str, tuple[tuple[Any, ...], training_round.Space]]

    # --- settings ---------------------------------------------------------------------------------

    def set_loop(self, *, topics: list[str] | None = None, **changes: Any) -> LoopSettings:
        """Change how the loop works.

        Parameters
        ----------
        topics
            With these, only `mode` may be given, and holds for them alone; None as `mode` gives them the
            campaign's again. Without them, "closed" as `mode` closes every topic.
        **changes
            Fields of :class:`~collection.campaign.loop_settings.LoopSettings`.
        """
        with self.store.transaction():
            settings = self.loop_settings()
            for name in changes:
                if name not in asdict(settings):
                    raise UnknownNameError("setting of the loop", name, asdict(settings))
            known = self.store.topics()["query_id"].tolist()
            if topics is None and changes.get("mode") == "closed":
                topics, rest = known, {name: value for name, value in changes.items() if name != "mode"}
                settings = self._changed(settings, rest)
            elif topics is None:
                return self._changed(settings, changes)
            elif set(changes) != {"mode"}:
                found = ", ".join(sorted(changes))
                raise InputError(f"a topic can have a mode of its own and nothing else, found {found}")
            if changes["mode"] is not None:
                known_mode(changes["mode"])
            for query_id in topics:
                if query_id not in known:
                    raise UnknownNameError("topic", query_id, known)
                if changes["mode"] == "closed":
                    self.store.close_topic(query_id)
                else:
                    self.store.set_mode(query_id, changes["mode"])
        return settings

    def _changed(self, settings: LoopSettings, changes: dict[str, Any]) -> LoopSettings:
        settings = replace(settings, **changes)
        if settings.level not in self.grades or settings.level < 1:
            raise InputError(f"the level is a grade of this campaign above 0 ({self.grades}), found {settings.level}")
        self.store.put("loop", asdict(settings))
        return settings

    def reopen(self, query_id: str) -> None:
        """Hand out documents of a closed topic again, in the mode that it had."""
        with self.store.transaction():
            self.store.close_topic(query_id, closed=False)

    # --- vectors ----------------------------------------------------------------------------------

    def update_vectors(
        self,
        *,
        blocks: tuple[str, ...] | None = None,
        bigrams: bool | None = None,
        dense: Path | str | None = None,
        progress: Progress | None = None,
        processes: int | None = None,
    ) -> Report:
        """Make the vectors of all documents, or bring them up to date; only new and changed ones are read.

        Parameters
        ----------
        blocks
            Of "words", "chars" and "dense"; as before if left out, at first words and characters, or words alone
            from 100,000 documents on.
        bigrams
            Pairs of words as well.
        dense
            A .npy file, one row for each document in the order of their import: your own embeddings.
        progress
            Told how far the work is.
        processes
            As many as there are cores if left out.
        """
        settings = self.store.settings()
        version = settings.get("documents_version", 0)
        before = settings.get("vectors", {})
        rows = self.store.document_rows()
        if not rows:
            raise CampaignError("there are no documents to make vectors of; import some with --documents")
        usual = ["words", "chars"] if rows < MANY else ["words"]
        used = list(blocks) if blocks is not None else before.get("blocks", usual)
        if dense is not None and "dense" not in used:
            used.append("dense")
        with_bigrams = before.get("bigrams", False) if bigrams is None else bigrams
        report = vectors.update(
            self.directory / "vectors",
            self.store.texts(),
            blocks=tuple(used),
            bigrams=with_bigrams,
            dense=None if dense is None else Path(dense),
            progress=progress,
            processes=processes,
        )
        with self.store.transaction():
            made = {"version": version, "blocks": used, "bigrams": with_bigrams, "fingerprint": report.fingerprint}
            if blocks is None and dense is None and "note" in before:
                made["note"] = before["note"]
            self.store.put("vectors", made)
        return report

    def vectors(self, progress: Progress | None = None) -> Vectors:
        """The vectors of all documents; they are brought up to date where documents came or changed."""
        settings = self.store.settings()
        if self._vectors is not None and self._vectors[0] == _state_of_vectors(settings):
            return self._vectors[1]
        current = settings.get("vectors", {}).get("version") == settings.get("documents_version", 0)
        try:
            opened = vectors.open_vectors(self.directory / "vectors") if current else None
        except FormatError:  # damaged, or not copied with the rest
            opened = None
        if opened is None or opened.fingerprint != settings["vectors"].get("fingerprint"):
            self._update_or_do_without(progress)
            opened = vectors.open_vectors(self.directory / "vectors")
        # Of the documents that they were made of: some may have come while that was done.
        version = self.store.settings()["vectors"]["version"]
        self._vectors = (json.dumps([version, opened.fingerprint]), opened)
        return opened

    def _update_or_do_without(self, progress: Progress | None) -> None:
        """Bring the vectors up to date; embeddings without the newest documents are left out until there are others."""
        used = self.store.settings().get("vectors", {}).get("blocks", [])
        try:
            self.update_vectors(progress=progress)
        except InputError:
            if "dense" not in used or self._rows_of_embeddings() == self.store.document_rows():
                raise
            rest = tuple(block for block in used if block != "dense") or ("words",)
            self.update_vectors(blocks=rest, progress=progress)
            with self.store.transaction():
                made = self.store.settings()["vectors"]
                note = "your own embeddings have not as many rows as there are documents now, and are left out"
                self.store.put(
                    "vectors", made | {"note": f"{note}; `cleverdon vectors DIR --vectors FILE.npy` takes new"}
                )

    # --- rounds -----------------------------------------------------------------------------------

    def retrain(self, query_id: str, count: int | None = None) -> Round:
        """Learn from a topic's judgements, and say what to judge next. It changes nothing, and can be done again.

        Parameters
        ----------
        query_id
            The topic.
        count
            How many of the best are wanted; a hundred, and as many as annotators hold already, if left out.
        """
        return self.learn(query_id, count).round

    def learn(self, query_id: str, count: int | None = None) -> Learned:
        """:meth:`retrain`, with what the order rests on, which can say why."""
        self._must_know(query_id)
        settings, mode = self.loop_settings(), self.mode(query_id)
        by_model = settings.by_model
        space = self.space(query_id) if by_model else self.listed(query_id)  # the one may make the vectors first
        key = self._key(query_id, self._vectors[0] if by_model and self._vectors else None)
        if count is None:
            count = self._usual_count(query_id)
        model_round = self.store.logged_in(query_id)
        decisions = self.store.decisions(query_id)
        decisions = decisions[decisions["row"] < len(space.allowed)]
        once = settled(decisions)
        is_graded = once["relevance"].notna()
        graded, passed = once[is_graded], _ints(once.loc[~is_graded, "row"])
        judged, grades = _ints(graded["row"]), _ints(graded["relevance"])
        if isinstance(space, training_round.Space):
            seed = seed_of(self.id, query_id, model_round)
            ranking = training_round.one_round(space, judged, grades, settings.recipe(), seed, count, passed)
            usual = "start" if ranking.model is None else "loop"
        else:
            # Nobody could say whether they are relevant, and the strategy has to go on.
            answers = dict.fromkeys(passed.tolist(), False)
            answers |= dict(zip(judged.tolist(), (grades >= settings.level).tolist(), strict=True))
            rows = pooling.ahead(self.asking(query_id, settings.by, space), answers, count)
            ranking = training_round.Ranking(rows, np.zeros(len(rows), dtype=np.float32), None, settings.by)
            usual = settings.by
        left = space.allowed.copy()
        left[judged] = left[passed] = False
        known = ledger_of(decisions, space.allowed, settings.level)
        chosen = training_round.queue(
            ranking,
            known.ledger,
            left,
            seed_of(self.id, query_id, model_round, "draws"),
            run=settings.draws_after,
            share=settings.control,
            turns=known.turns,
        )
        names = self.store.doc_ids([c.row for c in chosen])
        ways = [
            Way(doc_id, "random" if c.rank is None else usual, c.rank, model_round, c.probability)
            for doc_id, c in zip(names, chosen, strict=True)
        ]
        ended = not by_model and len(ranking.rows) < count
        made = Round(query_id, mode, model_round, ways, int(left.sum()), ranking.came_by, key, ended)
        return Learned(made, space, ranking)

    def space(self, query_id: str) -> training_round.Space:
        """The documents, words and runs that a topic's loop works on; kept while they are the same."""
        if not hasattr(self, "_spaces"):
            self._spaces = {}
        opened = self.vectors()
        mode = self.mode(query_id)
        pool = len(self.store.pool_rows(query_id)) if mode == "loop-in-pool" else None
        signature = self.store.runs_signature()
        topics = self.topics()
        words = topics.loc[topics["query_id"] == query_id, ["title", "description", "narrative"]]
        text = training_round.topic_text(*words.to_numpy().ravel().tolist())
        key = (self._vectors and self._vectors[0], mode, pool, signature, text)
        if query_id in self._spaces and self._spaces[query_id][0] == key:
            return self._spaces[query_id][1]
        allowed = self._allowed(query_id, opened.size)
        space = training_round.Space(opened, allowed, text, self._evidence_of(query_id, signature, opened.size))
        while len(self._spaces) >= SPACES:
            del self._spaces[next(iter(self._spaces))]
        self._spaces[query_id] = (key, space)
        return space

    def _evidence_of(self, query_id: str, signature: str, size: int) -> training_round.Evidence | None:
        if self._evidence is None or self._evidence[0] != signature:
            frame = pooling.evidence(list(self.runs()))
            self._evidence = (signature, {str(q): part for q, part in frame.groupby("query_id", observed=True)})
        part = self._evidence[1].get(query_id)
        if part is None or part.empty:
            return None
        ids = part["doc_id"].tolist()
        rows = self.store.rows_of(ids)
        at = np.array([rows.get(doc_id, size) for doc_id in ids], dtype=np.int64)
        there = at < size
        if not there.any():
            return None
        return training_round.Evidence(
            *(_spread(part[c].to_numpy()[there], at[there], size) for c in ("fusion", "best", "runs"))
        )

    def ledger(self, query_id: str) -> Ledger:
        """A topic's judgements in the order in which they were made, for :mod:`collection.stopping`."""
        return self._ledger(query_id, self.store.decisions(query_id), self.judgeable()).ledger

    def _ledger(self, query_id: str, decisions: pd.DataFrame, judgeable: NDArray[np.bool_]) -> Known:
        """The decisions of a topic within its :meth:`universe`."""
        universe = self.universe(query_id, decisions, judgeable)
        return ledger_of(decisions, universe, self.loop_settings().level, judgeable)

    def _usual_count(self, query_id: str) -> int:
        return 100 + self.store.held(query_id, clock.seconds())

    def _rows_of_embeddings(self) -> int | None:
        """How many rows the embeddings have that the vectors hold; None where there are none."""
        try:
            opened = vectors.open_vectors(self.directory / "vectors")
        except FormatError:
            return None
        return next((block.shape[0] for block in opened.blocks if block.name == "dense"), None)

    def is_short(self, made: Round) -> bool:
        """Whether annotators hold so much of a round that a longer one is wanted."""
        return not made.complete and len(made.ways) < self._usual_count(made.query_id)

    def is_current(self, made: Round) -> bool:
        """Whether a round has read all of its topic's log, by today's settings and documents."""
        return made.model_round == self.store.logged_in(made.query_id) and made.key == self._key(made.query_id)

    def _key(self, query_id: str, vectors_state: str | None = None) -> tuple[object, ...]:
        """Differs where a round would: settings, mode, vectors (those that are now, if left out), pool, runs."""
        settings = self.store.settings()
        mode = self.mode(query_id)
        pool = len(self.store.pool_rows(query_id)) if mode == "loop-in-pool" else None
        state = vectors_state or _state_of_vectors(settings)
        return (json.dumps(settings.get("loop")), mode, state, pool, self.store.runs_signature())

    def _must_know(self, query_id: str) -> None:
        known = self.modes()
        if query_id not in known:
            raise UnknownNameError("topic", query_id, known)


MANY = 100_000
"""Documents from which on characters are left out at first: they take some five times the room of words."""

SPACES = 16
"""Topics whose space is kept; each has a few numbers for every document."""


def _state_of_vectors(settings: dict[str, Any]) -> str:
    """Differs where documents came, or vectors were made anew, by whatever process."""
    return json.dumps([settings.get("documents_version", 0), settings.get("vectors", {}).get("fingerprint")])


def _ints(values: pd.Series[Any]) -> NDArray[np.int64]:
    return values.to_numpy(dtype=np.int64)


def _spread(values: NDArray[Any], at: NDArray[Any], size: int) -> NDArray[np.float32]:
    wide = np.zeros(size, dtype=np.float32)
    wide[at] = values
    return wide
