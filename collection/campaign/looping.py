"""The loop of a campaign: its settings, the model of a topic, and why a document came up."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import loop, pooling, vectors
from collection.campaign.ledgers import ledger_of, settled
from collection.campaign.reading import IN_POOL
from collection.campaign.reports import Progress
from collection.campaign.rounds import Learned, Round
from collection.campaign.settling import Settling
from collection.errors import CampaignError, FormatError, InputError, UnknownNameError
from collection.stopping import Ledger
from collection.store import Way

if TYPE_CHECKING:
    from collection.vectors import Report, Vectors

MODES: dict[str, str] = {
    "pool": "Pool only: the pairs of the pool, in its order",
    "random": "Random: the pairs of the pool, in an order of chance that is another one for each annotator",
    "pool-then-loop": "Pool, then loop: first the pool, then what the model finds in the whole collection",
    "loop": "Loop: the model chooses from the whole collection",
    "loop-in-pool": "Loop within the pool: the model chooses the order in which the pool is judged",
    "closed": "Closed: nothing more is handed out",
}
"""How the pairs of a topic are chosen: name -> what it means."""

Shown = Literal["terms", "terms and runs", "nothing"]


@dataclass(frozen=True)
class LoopSettings:
    """How the loop of a campaign works.

    Attributes
    ----------
    mode
        A name of :data:`MODES` but "closed"; a topic may have another.
    level
        The grade from which on a document is relevant.
    learner, grades, presumed, evidence
        See :class:`collection.loop.Recipe`.
    run
        Irrelevant documents in a row after which documents are drawn at random, so that recall can be estimated
        and promised; None: 50, or 200 from 20,000 documents on. 0: never.
    control
        Least share of random draws from the beginning.
    target, confidence
        What the stop advice is to promise: so much recall, with so much confidence.
    explain
        What annotators are shown who ask why a document came up. The runs tell how it was ranked: no longer blind.
    """

    mode: str = "pool"
    level: int = 1
    learner: str = "svm"
    grades: loop.GradeUse = "weights"
    presumed: int = 100
    evidence: loop.EvidenceUse = "prior"
    run: int | None = None
    control: float = 0.0
    target: float = 0.9
    confidence: float = 0.95
    explain: Shown = "terms"

    def __post_init__(self) -> None:
        if self.mode == "closed":
            raise InputError("a campaign has a mode for its open topics; close topics one by one, or all of them")
        _known_mode(self.mode)
        if self.explain not in get_args(Shown):
            raise UnknownNameError("explanation", self.explain, get_args(Shown))
        for name, least, most in (("control", 0, 1), ("target", 0.01, 1), ("confidence", 0.5, 0.999)):
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name} is a share from {least:g} to {most:g}, found {getattr(self, name):g}")
        if self.run is not None and self.run < 0:
            raise InputError(f"the row of irrelevant documents has a length of 0 or more, found {self.run}")
        self.recipe()

    def recipe(self) -> loop.Recipe:
        """How to learn."""
        return loop.Recipe(
            self.learner, level=self.level, grades=self.grades, presumed=self.presumed, evidence=self.evidence
        )


class Looping(Settling):
    """The part of a campaign that learns."""

    id: str

    _vectors: tuple[str, Vectors] | None = None
    _evidence: tuple[str, dict[str, pd.DataFrame]] | None = None
    _spaces: dict[str, tuple[tuple[Any, ...], loop.Space]]

    # --- settings ---------------------------------------------------------------------------------

    def loop_settings(self) -> LoopSettings:
        """How the loop works here."""
        known = {f.name for f in fields(LoopSettings)}
        stored = self.store.setting("loop", {})
        return LoopSettings(**{name: value for name, value in stored.items() if name in known})

    def set_loop(self, *, topics: list[str] | None = None, **changes: Any) -> LoopSettings:
        """Change how the loop works.

        Parameters
        ----------
        topics
            With these, only `mode` may be given, and holds for them alone; None as `mode` gives them the
            campaign's again. Without them, "closed" as `mode` closes every topic.
        **changes
            Fields of :class:`LoopSettings`.
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
                _known_mode(changes["mode"])
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
        """:meth:`retrain`, with the model that it made, which can say why."""
        self._must_know(query_id)
        settings, mode = self.loop_settings(), self.mode(query_id)
        space = self.space(query_id)  # which may make the vectors first
        key = self._key(query_id, self._vectors[0] if self._vectors else None)
        if count is None:
            count = self._usual_count(query_id)
        model_round = self.store.logged_in(query_id)
        decisions = self.store.decisions(query_id)
        decisions = decisions[decisions["row"] < space.vectors.size]
        once = settled(decisions)
        is_graded = once["relevance"].notna()
        graded, passed = once[is_graded], _ints(once.loc[~is_graded, "row"])
        judged, grades = _ints(graded["row"]), _ints(graded["relevance"])
        seed = _seed(self.id, query_id, model_round)
        ranking = loop.one_round(space, judged, grades, settings.recipe(), seed, count, passed)
        left = space.allowed.copy()
        left[judged] = left[passed] = False
        known = ledger_of(decisions, space.allowed, settings.level)
        chosen = loop.queue(
            ranking,
            known.ledger,
            left,
            _seed(self.id, query_id, model_round, "draws"),
            run=settings.run,
            share=settings.control,
            turns=known.turns,
        )
        names = self.store.doc_ids([c.row for c in chosen])
        usual = "loop" if ranking.model is not None else "start"
        ways = [
            Way(doc_id, "random" if c.rank is None else usual, c.rank, model_round, c.probability)
            for doc_id, c in zip(names, chosen, strict=True)
        ]
        made = Round(query_id, mode, model_round, ways, int(left.sum()), ranking.came_by, key)
        return Learned(made, space, ranking)

    def space(self, query_id: str) -> loop.Space:
        """The documents, words and runs that a topic's loop works on; kept while they are the same."""
        if not hasattr(self, "_spaces"):
            self._spaces = {}
        opened = self.vectors()
        mode = self.mode(query_id)
        pool = len(self.store.pool_rows(query_id)) if mode == "loop-in-pool" else None
        signature = self.store.runs_signature()
        topics = self.topics()
        words = topics.loc[topics["query_id"] == query_id, ["title", "description", "narrative"]]
        text = loop.topic_text(*words.to_numpy().ravel().tolist())
        key = (self._vectors and self._vectors[0], mode, pool, signature, text)
        if query_id in self._spaces and self._spaces[query_id][0] == key:
            return self._spaces[query_id][1]
        allowed = self._allowed(query_id, opened.size)
        space = loop.Space(opened, allowed, text, self._evidence_of(query_id, signature, opened.size))
        while len(self._spaces) >= SPACES:
            del self._spaces[next(iter(self._spaces))]
        self._spaces[query_id] = (key, space)
        return space

    def _evidence_of(self, query_id: str, signature: str, size: int) -> loop.Evidence | None:
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
        return loop.Evidence(*(_spread(part[c].to_numpy()[there], at[there], size) for c in ("fusion", "best", "runs")))

    def ledger(self, query_id: str) -> Ledger:
        """A topic's judgements in the order in which they were made, for :mod:`collection.stopping`."""
        allowed = self._allowed(query_id)
        return ledger_of(self.store.decisions(query_id), allowed, self.loop_settings().level).ledger

    def _allowed(self, query_id: str, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: the scope of a topic, of which there are recall and draws.

        The pool, or every document; of those that have a text. The first `size` documents, all if left out.
        """
        rows = self.store.document_rows() if size is None else size
        in_pool = self.scopes()[query_id] in IN_POOL
        scope = np.full(rows, not in_pool, dtype=np.bool_)
        if in_pool:
            scope[[row for row in self.store.pool_rows(query_id) if row < rows]] = True
        scope[[row for row in self.store.without_text_rows() if row < rows]] = False
        return scope

    def _usual_count(self, query_id: str) -> int:
        return 100 + self.store.held(query_id, time.time())

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


LOOPING = {"loop", "loop-in-pool", "pool-then-loop"}

MANY = 100_000
"""Documents from which on characters are left out at first: they take some five times the room of words."""

SPACES = 16
"""Topics whose space is kept; each has a few numbers for every document."""


def _state_of_vectors(settings: dict[str, Any]) -> str:
    """Differs where documents came, or vectors were made anew, by whatever process."""
    return json.dumps([settings.get("documents_version", 0), settings.get("vectors", {}).get("fingerprint")])


def _known_mode(mode: str) -> None:
    if mode not in MODES:
        raise UnknownNameError("mode", mode, MODES)


def _ints(values: pd.Series[Any]) -> NDArray[np.int64]:
    return values.to_numpy(dtype=np.int64)


def _spread(values: NDArray[Any], at: NDArray[Any], size: int) -> NDArray[np.float32]:
    wide = np.zeros(size, dtype=np.float32)
    wide[at] = values
    return wide


def _seed(*parts: object) -> int:
    """A seed that the log alone determines."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=4).digest())
