"""Removal of topics, documents, runs and pooled pairs that nobody has judged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import pandas as pd

from collection import formats
from collection.campaign.corpus import stored_runs
from collection.campaign.imports.import_session import KEPT_AS
from collection.campaign.people.assignments import Assignments
from collection.campaign.progress import calibration_record
from collection.core import clock, layout
from collection.core.errors import InputError, require_known
from collection.core.phrases import count, join, join_first, plural
from collection.formats.source import FilePath, is_dataset, opened
from collection.store import Store


class RemovalSelection(TypedDict, total=False):
    """Request to remove topics, documents, runs or pooled pairs.

    Pooled pairs of a removed topic or document go with it, and so do lines of runs on removed topics; a run that names
    no other topic goes as well.
    """

    topics: Iterable[str]
    documents: Iterable[str]
    files: Iterable[FilePath]
    """Imported files whose documents are removed; a document that is also in another file loses only its records."""
    runs: Iterable[str]
    rounds: Iterable[int]
    """Numbers of rounds of pooling (``pool_round`` of :meth:`.Pools.rounds`) whose unjudged pairs go.

    Of a random sample, all pairs of a topic go, or none if one of them was judged: its probabilities would be wrong.
    """


class _FileContents(NamedTuple):
    """Documents only in the selected files, and documents that are also in other files, by source."""

    documents: list[str]
    shared: dict[int, list[str]]


class RemovalObstacle(NamedTuple):
    """A topic, a document or a pooled pair that was to be removed and stays, with the reason."""

    kind: str
    """``topic``, ``document`` or ``pooled pair``."""
    name: str
    reason: str


@dataclass(frozen=True)
class Removal:
    """Preview of a removal: what it takes out of a campaign, and what stays."""

    topics: list[str]
    documents: list[str]
    runs: list[str]
    pairs: pd.DataFrame
    """Pooled pairs: ``query_id``, ``doc_id``, ``pool_round``."""
    shortened: dict[str, int]
    """Run that stays -> its number of lines on removed topics, which go."""
    obstacles: list[RemovalObstacle]
    warning: str = ""
    """What the removal of runs does to the recall across topics; empty for nothing."""
    shared: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Source whose records are removed -> documents of these records that stay, because other files have them."""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing goes."""
        return not self.contents

    @property
    def contents(self) -> str:
        """Describe what goes: "2 topics, 1 run and 120 pooled pairs"; empty for nothing."""
        sizes = {
            "topic": len(self.topics),
            "document": len(self.documents),
            "run": len(self.runs),
            "pooled pair": len(self.pairs),
            "duplicate record": sum(map(len, self.shared.values())),
        }
        return join(count(size, what) for what, size in sizes.items() if size)

    @property
    def notes(self) -> list[str]:
        """Sentences on runs that get shorter, on what stays, and on the recall across topics."""
        notes = [
            f"Run {name!r} loses {count(lines, 'line')} on removed topics." for name, lines in self.shortened.items()
        ]
        groups: dict[tuple[str, str], list[str]] = {}
        for each in self.obstacles:
            groups.setdefault((each.kind, each.reason), []).append(each.name)
        for (kind, reason), names in groups.items():
            stays = plural(len(names), "stays", "stay")
            notes.append(f"{count(len(names), kind)} {stays} ({reason}): {join_first(names)}.")
        if both := sorted({doc_id for documents in self.shared.values() for doc_id in documents}):
            stays, has = plural(len(both), "stays", "stay"), plural(len(both), "it", "them")
            notes.append(f"{count(len(both), 'document')} {stays}, because other files have {has} as well.")
        return notes + [self.warning] * bool(self.warning)


@dataclass(eq=False)
class Removals:
    """Removal of topics, documents, runs and pooled pairs that nobody has judged.

    The log of judgements and the machine labels are never touched: whatever they name stays.
    """

    store: Store
    directory: Path
    assignments: Assignments

    def preview(self, **selection: Unpack[RemovalSelection]) -> Removal:
        """Tell what :meth:`remove` would take out; nothing is changed.

        Raises
        ------
        InputError
            The campaign has no such topic, document, run or round.
        FormatError
            A file is malformed.
        CampaignError
            The file of a run is missing or damaged.
        """
        return self._preview(self._read_files(selection.get("files", ())), **selection)

    def _preview(self, contents: _FileContents, **selection: Unpack[RemovalSelection]) -> Removal:
        chosen, wanted = (
            _unique(selection.get("topics", ())),
            _unique([*selection.get("documents", ()), *contents.documents]),
        )
        named = _unique(selection.get("runs", ()))
        rounds = list(selection.get("rounds", ()))
        with self.store.snapshot():
            self._require_known(chosen, wanted, named, rounds)
            topic_reasons = self._topics_that_stay()
            document_reasons = self.store.removal.documents_in_use(clock.seconds()) if wanted else {}
            staying = _find_obstacles("topic", chosen, topic_reasons) + _find_obstacles(
                "document", wanted, document_reasons
            )
            going_topics = [query_id for query_id in chosen if query_id not in topic_reasons]
            going_documents = [doc_id for doc_id in wanted if doc_id not in document_reasons]
            pairs = self.store.removal.pooled_pairs(going_topics, going_documents, rounds, clock.seconds())
            goes = pairs["query_id"].isin(going_topics) | pairs["doc_id"].isin(going_documents)
            goes |= pairs["stays"] == ""
            staying += [
                RemovalObstacle("pooled pair", f"{row.query_id} {row.doc_id}", str(row.stays))
                for row in pairs[~goes].itertuples()
            ]
            lines = self._lines_of(going_topics, named)
        gone = [name for name, (removed, others) in lines.items() if not others]
        return Removal(
            going_topics,
            going_documents,
            named + gone,
            pairs.loc[goes, ["query_id", "doc_id", "pool_round"]].reset_index(drop=True),
            {name: removed for name, (removed, others) in lines.items() if others},
            staying,
            self._warn(named + gone),
            contents.shared,
        )

    def _read_files(self, files: Iterable[FilePath]) -> _FileContents:
        """Find the documents of files, which may include documents that the campaign lacks."""
        contents = _FileContents([], {})
        for path in files:
            source = None if is_dataset(path) or Path(path).is_dir() else self.store.records.find_source(_digest(path))
            if source is not None:
                table = self.store.records.table()
                is_own = table["source"] == source
                own, others = _unique(table.loc[is_own, "doc_id"]), set(table.loc[~is_own, "doc_id"])
                contents.documents.extend(doc_id for doc_id in own if doc_id not in others)
                if shared := [doc_id for doc_id in own if doc_id in others]:
                    contents.shared[source] = shared
            elif Path(path).is_dir() or formats.is_document(path):
                contents.documents.extend(formats.find_document_files(path).files)
            else:
                read = formats.read_documents(path, with_pdf_files=False)
                left_out = self.store.settings.get(KEPT_AS, {})
                contents.documents.extend(each.doc_id for _, each in read if each.doc_id not in left_out)
        return contents

    def _warn(self, runs: Sequence[str]) -> str:
        """Tell which judgements the rule across topics no longer reads without these runs; empty for none."""
        loop, modes = self.assignments.settings.loop(), self.assignments.settings.modes_when_open()
        before, after = (calibration_record.promised_orders(self.store, loop, modes, gone) for gone in ((), runs))
        return calibration_record.warn_of_new_order(self.store, before, after)

    def remove(self, **selection: Unpack[RemovalSelection]) -> Removal:
        """Remove what nobody has judged, all or nothing; result and errors as of :meth:`preview`."""
        contents = self._read_files(selection.get("files", ()))
        with layout.storage_errors(self.directory), self.store.transaction():
            plan = self._preview(contents, **selection)
            tables = self.store.removal
            self._shorten_runs(plan)
            tables.remove_pairs(plan.pairs)
            tables.remove_topics(plan.topics)
            tables.remove_documents(plan.documents)
            tables.remove_empty_rounds()
            for name in plan.runs:
                tables.remove_run(name)
            if plan.documents:
                self._forget_documents(set(plan.documents))
            for source, documents in plan.shared.items():
                self.store.records.forget_records(source, documents)
            self.assignments.spread_overlap()
        return plan

    def _require_known(
        self, topics: Sequence[str], documents: Sequence[str], runs: Sequence[str], rounds: Sequence[int]
    ) -> None:
        corpus = self.store.corpus
        require_known("topic", corpus.topics()["query_id"].tolist(), *topics)
        known = corpus.titles(documents)
        if unknown := [doc_id for doc_id in documents if doc_id not in known]:
            raise InputError(f"the campaign has no {plural(len(unknown), 'document')} {join_first(unknown)}")
        require_known("run", corpus.runs()["run"].tolist(), *runs)
        require_known("round of pooling", self.store.pool.rounds()["pool_round"].tolist(), *rounds)

    def _topics_that_stay(self) -> dict[str, str]:
        """Return the reason for which a topic stays, by its id."""
        record = calibration_record.read(self.store)
        promised = () if record is None else record.modes
        reasons = dict.fromkeys(promised, "part of the recall across topics")
        assigned = dict.fromkeys(
            self.assignments.settings.assignment().topics, "named in the overlap of the assignment"
        )
        return assigned | reasons | self.store.removal.topics_in_use(clock.seconds())

    def _lines_of(self, topics: Sequence[str], without: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the lines on these topics and on others, for each run that has such lines and is not in `without`."""
        counts = {}
        for recorded in self.store.corpus.runs().to_dict("records") if topics else ():
            if recorded["run"] not in without:
                ids = stored_runs.read(self.directory, recorded, columns=["query_id"])["query_id"]
                if removed := int(ids.isin(topics).sum()):
                    counts[recorded["run"]] = (removed, len(ids) - removed)
        return counts

    def _shorten_runs(self, plan: Removal) -> None:
        """Write runs again without their lines on removed topics.

        The next import removes the files that no run has: the former ones, which another process may be reading, and
        those written for a removal that failed.
        """
        folder = self.directory / layout.RUNS
        for recorded in self.store.corpus.runs().to_dict("records"):
            if recorded["run"] in plan.shortened:
                name, digest = recorded["run"], recorded["sha256"]
                frame = stored_runs.read(self.directory, recorded)
                frame = frame[~frame["query_id"].isin(plan.topics)].reset_index(drop=True)
                frame["query_id"] = frame["query_id"].astype("category").cat.remove_unused_categories()
                file = stored_runs.write(frame, stored_runs.free_place(folder, name, digest, len(frame)))
                layout.sync_folder(folder)
                topics = stored_runs.digest_topics(frame)
                self.store.corpus.add_run(name, file.name, digest, topics, len(frame), int(frame["rank"].max()))

    def _forget_documents(self, doc_ids: set[str]) -> None:
        """Let a later import read duplicates of removed records again, and let features be built again."""
        kept_as: Mapping[str, str] = self.store.settings.get(KEPT_AS, {})
        remaining = {left_out: original for left_out, original in kept_as.items() if original not in doc_ids}
        if len(remaining) < len(kept_as):
            self.store.settings.put(KEPT_AS, remaining)
        self.store.records.forget_documents(sorted(doc_ids))
        self.store.settings.put("documents_version", self.store.settings.get("documents_version", 0) + 1)


def _digest(path: FilePath) -> str:
    """Return the digest that identifies a file of records in the campaign."""
    with opened(path) as source, source.open("documents") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _find_obstacles(kind: str, names: Iterable[str], reasons: Mapping[str, str]) -> list[RemovalObstacle]:
    return [RemovalObstacle(kind, name, reasons[name]) for name in names if name in reasons]
