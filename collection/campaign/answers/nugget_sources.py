"""Sources of nuggets: passages that people mark, and who has made which nugget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from collection.campaign.answers.nuggets import PROPOSAL, Nuggets, Place
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.results import RefusedDecision
from collection.campaign.settings.settings import Settings
from collection.core.errors import InputError
from collection.generated_answers import nuggets_read
from collection.store import Nugget, Store


class MadeNugget(NamedTuple):
    """A nugget with its makers: people, or the model or file that proposed it."""

    nugget: Nugget
    makers: tuple[str, ...]


class OwnEdit(NamedTuple):
    """An annotator's edit of one of their own nuggets; None leaves a field as it is.

    `nugget` is the id of the nugget, or the `uuid` of the edit that adds it, which may not be saved yet.
    """

    uuid: str
    kind: Literal["add", "change", "delete"]
    nugget: str = ""
    text: str | None = None
    importance: str | None = None
    sources: tuple[Place, ...] | None = None


class SavedEdits(NamedTuple):
    """The uuids of saved edits, and refused edits with reasons."""

    saved: list[str]
    refused: list[RefusedDecision]


@dataclass(eq=False)
class NuggetSources:
    """Sources of nuggets: passages that people mark, and who has made which nugget."""

    store: Store
    settings: Settings
    corpus: Corpus
    nuggets: Nuggets

    def listed(self, query_id: str, annotator: str | None = None) -> list[MadeNugget]:
        """Return the current nuggets of a topic in order, or only those that this annotator alone made."""
        makers = self.nuggets.makers(query_id)
        made = [MadeNugget(each, makers.get(each.nugget, ())) for each in self.nuggets.current(query_id)]
        return made if annotator is None else [each for each in made if each.makers == (annotator,)]

    def save_own(self, query_id: str, annotator: str, edits: Iterable[OwnEdit]) -> SavedEdits:
        """Save edits of nuggets that only this annotator made; saving one again has no effect.

        Each edit is saved or refused by itself, in the given order.
        """
        saved: list[str] = []
        refused: list[RefusedDecision] = []
        for edit in edits:
            try:
                with self.store.transaction():
                    self._save_own(query_id, annotator, edit)
                saved.append(edit.uuid)
            except InputError as error:
                refused.append(RefusedDecision(edit.uuid, str(error)))
        return SavedEdits(saved, refused)

    def _save_own(self, query_id: str, annotator: str, edit: OwnEdit) -> None:
        log = self.nuggets.log(query_id)
        if any(each.edit == edit.uuid and each.annotator == annotator for each in log):
            return
        given = {
            name: value
            for name in ("text", "importance", "sources")
            if (value := getattr(edit, name)) is not None
        }  # fmt: skip
        for _, start, end in edit.sources or ():
            if (start is None) != (end is None) or (start or 0) > (end or 0):
                raise InputError(f"source of a nugget: expected start and end of a passage, found {start} and {end}")
        cited = {doc_id for doc_id, *_ in edit.sources or ()}
        if unknown := sorted(cited - set(self.store.corpus.titles(cited))):
            raise InputError(f"document {unknown[0]!r} is not in the campaign")
        if edit.kind == "add":
            self.nuggets.add(query_id, **{"text": "", **given}, annotator=annotator, edit=edit.uuid)
            return
        names = {each.edit: each.nugget.nugget for each in log if each.kind == "added" and each.annotator == annotator}
        nugget = names.get(edit.nugget, edit.nugget)
        if nugget not in {each.nugget.nugget for each in self.listed(query_id, annotator)}:
            raise InputError("the nugget is no longer in your list: it was deleted, or merged with nuggets of others")
        if edit.kind == "delete":
            self.nuggets.delete(query_id, nugget, annotator=annotator, edit=edit.uuid)
        else:
            self.nuggets.change(query_id, nugget, annotator=annotator, edit=edit.uuid, **given)

    def relevant(self, query_id: str, annotator: str | None = None) -> pd.DataFrame:
        """Return the judgements of a topic with a relevant grade, of all annotators or of one."""
        judged = self.store.judgements.table(query_id=query_id, annotator=annotator)
        is_relevant = (judged["counts_as"] == "judgement") & (judged["relevance"] >= self.settings.loop().level)
        return judged[is_relevant.fillna(False).astype("bool")]

    def passages(self, query_id: str, annotator: str | None = None) -> pd.DataFrame:
        """Return the marked passages of relevant documents that are not the source of a nugget yet.

        ``annotator``, ``doc_id``, ``start``, ``end`` (characters of the text as it is shown), ``text``. Passages that a
        changed text no longer contains are left out. A passage that several people marked belongs to the first of them.
        """
        judged = self.corpus.view.quoted(self.relevant(query_id, annotator))
        used = {source for each in self.store.answers.nuggets(query_id) for source in each.sources}
        rows = [
            (name, doc_id, passage["start"], passage["end"], passage["text"])
            for name, doc_id, passages in zip(judged["annotator"], judged["doc_id"], judged["passages"], strict=True)
            for passage in passages
            if passage["text"] and (doc_id, passage["start"], passage["end"]) not in used
        ]
        frame = pd.DataFrame(rows, columns=["annotator", "doc_id", "start", "end", "text"])
        return frame.drop_duplicates(["doc_id", "start", "end"]).reset_index(drop=True)

    def people(self, query_id: str) -> pd.DataFrame:
        """Compare the people, models and files that made nuggets of a topic.

        ``annotator``, ``made`` (without proposals that nobody accepted), ``listed`` (current nuggets that they made,
        also after merging), ``shared`` (of these, nuggets merged with nuggets of others), ``documents`` (that they
        judged relevant), ``found`` (current nuggets with a source in these documents), ``recall`` (``found`` divided by
        the number of nuggets with a source).
        """
        makers, current, log = self.nuggets.makers(query_id), self.listed(query_id), self.nuggets.log(query_id)
        accepted = {each.nugget.nugget for each in log if PROPOSAL not in each.nugget.fields}
        added = dict.fromkeys(each.nugget.nugget for each in log if each.kind == "added")
        made = [makers[nugget][0] for nugget in added if nugget in accepted]
        relevant = self.relevant(query_id)
        read = {str(name): set(docs) for name, docs in relevant.groupby("annotator", sort=False)["doc_id"]}
        sources = [docs for each, _ in current if (docs := {doc_id for doc_id, *_ in each.sources})]
        rows = []
        for name in dict.fromkeys([*made, *read]):
            own = [who for _, who in current if name in who]
            found = sum(not docs.isdisjoint(read[name]) for docs in sources) if name in read else None
            rows.append({
                "annotator": name, "made": made.count(name), "listed": len(own),
                "shared": sum(len(who) > 1 for who in own), "documents": len(read.get(name, ())), "found": found,
                "recall": found / len(sources) if sources and found is not None else None,
            })  # fmt: skip
        columns = ["annotator", "made", "listed", "shared", "documents", "found", "recall"]
        return pd.DataFrame(rows, columns=columns).astype({"annotator": "str", "found": "Int64", "recall": "float64"})

    def read(self, query_id: str) -> pd.DataFrame:
        """Count the nuggets of a topic found against its documents read, in the order of their first judgement.

        The columns are those of :func:`.nuggets_read`; a topic without sources has no rows.
        """
        columns = ("query_id", "doc_id", "judged_at", "counts_as")
        log, current = (
            self.store.judgements.table(query_id=query_id, current=current, columns=columns)
            for current in (False, True)
        )
        judged = current.loc[current["counts_as"] == "judgement", "doc_id"]
        read = log[(log["counts_as"] == "judgement") & log["doc_id"].isin(judged)]  # revising one is not reading it
        order = read.sort_values("judged_at", kind="stable")
        return nuggets_read(self.documents(query_id), order[["query_id", "doc_id"]])

    def documents(self, query_id: str | None = None) -> pd.DataFrame:
        """Return the documents that are sources of each current nugget, of a topic or of all.

        ``query_id``, ``nugget``, ``doc_id`` (:data:`~collection.core.frames.NUGGET_SOURCES`).
        """
        rows = [
            (each.query_id, each.nugget, doc_id)
            for each in self.nuggets.current(query_id)
            for doc_id in dict.fromkeys(doc_id for doc_id, *_ in each.sources)
        ]
        return pd.DataFrame(rows, columns=["query_id", "nugget", "doc_id"]).astype("str")
