"""The tasks in which annotators judge generated answers, each a separate campaign inside the campaign."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import pandas as pd

from collection.campaign.answers.nuggets import Nuggets
from collection.core import clock, layout
from collection.core.answer_tasks import ANSWER_TASKS, join_sentences, topic_of
from collection.core.characters import one_line
from collection.core.errors import CampaignError, require_known
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.phrases import count
from collection.core.records import Document, Topic
from collection.store import JUDGED, RESERVED, Nugget, Store

if TYPE_CHECKING:
    from collection.campaign import Campaign

Citations = Literal["all", "first"]
"""Citations of a sentence whose support is judged; TREC RAG 2024 judged the first ones in two of three conditions."""

PAIR = ["query_id", "doc_id"]

CITATIONS = "citations"
"""Key of the setting that holds the choice of citations of a task."""


LISTED = "nuggets"
"""Key of the setting that holds the nuggets of each topic, in their order, as of the last update of a task."""


def listed_nuggets(task: Campaign, query_id: str) -> list[str]:
    """Return the nuggets of an answer as ids of documents of the task, in their order as of its last update."""
    listed: dict[str, list[str]] = task.store.settings.get(LISTED, {})
    return listed.get(topic_of(query_id), [])


def citations_judged(task: Campaign) -> Citations:
    """Return the choice of citations in the last update of a task, initially all."""
    chosen: Citations = task.store.settings.get(CITATIONS, "all")
    return chosen


def answer_id(query_id: str, number: int) -> str:
    """Return the id of an answer, which does not reveal its system: a topic of the task of nugget assignment.

    >>> answer_id("12", 385)
    '12.a385'
    """
    return f"{query_id}.a{number}"


def sentence_id(query_id: str, number: int, sentence: int) -> str:
    """Return the id of a sentence (from 0, but from 1 in the id) of an answer: a topic of the task of support.

    >>> sentence_id("12", 385, 0)
    '12.a385.s1'
    """
    return f"{answer_id(query_id, number)}.s{sentence + 1}"


def nugget_id(query_id: str, nugget: str, version: int) -> str:
    """Return the id of a version of a nugget: a document of the task of nugget assignment.

    >>> nugget_id("12", "3", 2)
    '12.n3.v2'
    """
    return f"{query_id}.n{nugget}.v{version}"


class Prepared(NamedTuple):
    """The pairs of a task after it was prepared."""

    task: str
    topics: int
    pairs: int
    new: int
    """Pairs that the pool did not have."""
    removed: int
    """Pairs that left the pool because they changed before anybody judged them."""
    remaining: int
    """Pairs that changed, but stay in the pool because somebody has judged or reserved them."""

    def __str__(self) -> str:
        """Describe in a sentence what was added to the task and removed from it."""
        removed = f", {self.removed:,} removed" if self.removed else ""
        return f"{count(self.new, ANSWER_TASKS[self.task].unit)} added to the task{removed}."


class Waiting(NamedTuple):
    """Pairs of the task of nugget assignment that its pool lacks."""

    new: int
    again: int
    """Pairs among `new` that the pool has with an earlier version of the nugget."""


@dataclass(eq=False)
class AnswerTasks:
    """The tasks in which annotators judge generated answers.

    The campaign of a task is in the folder ``tasks/NAME``. It shares the accounts of the campaign around it, and has
    its own assignments, settings and log.
    """

    store: Store
    directory: Path
    nuggets: Nuggets
    campaigns: type[Campaign]

    @property
    def folders(self) -> dict[str, Path]:
        """The directory of the campaign of each task, which may not exist yet."""
        return {name: self.directory / layout.TASKS / name for name in layout.TASK_NAMES}

    def existing(self) -> list[str]:
        """Return the names of the tasks that have a campaign."""
        return list(layout.task_campaigns(self.directory))

    def open(self, name: str) -> Campaign:
        """Open the campaign of a task, which is created if needed; the caller closes it.

        Raises
        ------
        UnknownNameError
            There is no such task.
        CampaignError
            This campaign is a task itself.
        """
        require_known("task", ANSWER_TASKS, name)
        if layout.outer_campaign(self.directory) is not None:
            raise CampaignError(f"{self.directory}: a task has no tasks; use the campaign around it")
        directory = self.folders[name]
        if not (directory / layout.DATABASE).is_file():
            layout.make_folder(directory.parent)
            # Created elsewhere and then renamed, so that a killed process leaves no incomplete campaign.
            with tempfile.TemporaryDirectory(prefix=layout.SCRATCH, dir=self.directory) as scratch:
                task = ANSWER_TASKS[name]
                with self.campaigns.create(Path(scratch, name), title=task.label, task=task) as inner:
                    if name == SUPPORT:
                        inner.settings.set_judging_page(long="passages")
                Path(scratch, name).rename(directory)
            layout.sync_folder(directory.parent)
        return self.campaigns(directory)

    @contextmanager
    def writing(self, names: Collection[str]) -> Iterator[dict[str, Campaign]]:
        """Open the campaigns of tasks for changes to them and to this campaign, all or nothing.

        They are always opened in the same order, so that no two writers wait for each other. After an error, everything
        is as before, and a campaign of a task that did not exist is removed again.
        """
        wanted, before = [name for name in layout.TASK_NAMES if name in names], self.existing()
        try:
            with ExitStack() as stack:
                inner = {name: stack.enter_context(self.open(name)) for name in wanted}
                for campaign in inner.values():
                    stack.enter_context(campaign.transaction())
                # Entered last and so committed first: labels without their answers would be useless.
                stack.enter_context(self.store.transaction())
                yield inner
        except BaseException:
            for name in wanted:
                if name not in before:
                    shutil.rmtree(self.folders[name], ignore_errors=True)
            raise

    def progress(self) -> list[dict[str, Any]]:
        """Return ``task``, ``pairs``, ``judged`` and ``left`` (judgements) of each task that has a campaign."""
        rows = []
        for name in self.existing():
            with self.open(name) as inner:
                sums = inner.progress.topics()[["pool", "judged_in_pool", "left"]].sum()
            pairs, judged, left = map(int, sums)
            rows.append({"task": name, "pairs": pairs, "judged": judged, "left": left})
        return rows

    def waiting(self) -> Waiting:
        """Count the nugget assignments that :meth:`prepare` would add because nuggets are new or changed."""
        pairs = self._answer_pairs()
        if NUGGET_ASSIGNMENT not in self.existing():
            return Waiting(len(pairs), 0)
        with self.open(NUGGET_ASSIGNMENT) as inner:
            pool = inner.store.pool.pairs()[PAIR]
        new = pairs[~pd.MultiIndex.from_frame(pairs).isin(pd.MultiIndex.from_frame(pool))]
        earlier = {(answer, _without_version(doc_id)) for answer, doc_id in pool.itertuples(index=False)}
        again = [(answer, _without_version(doc_id)) in earlier for answer, doc_id in new.itertuples(index=False)]
        return Waiting(len(new), sum(again))

    def prepare(self, name: str, *, citations: Citations | None = None) -> Prepared:
        """Add the current answers, with their nuggets or citations, to the campaign of a task.

        This can be repeated: judged pairs are kept, a changed nugget is a new document, and unjudged pairs with its old
        version leave the pool.

        Parameters
        ----------
        citations
            For support: all citations of a sentence, or only the first; by default the last choice, initially all.
        """
        with self.open(name) as inner:
            return self.fill(inner, citations=citations)

    def fill(self, inner: Campaign, *, citations: Citations | None = None) -> Prepared:
        """Do the same as :meth:`prepare` in the open campaign of a task."""
        task = inner.settings.task()
        if task is None:
            raise CampaignError(f"{inner.directory}: expected the campaign of a task, found another one")
        name = task.name
        with inner.transaction():
            citations = citations or citations_judged(inner)
            require_known("choice of citations", get_args(Citations), citations)
            inner.store.settings.put(CITATIONS, citations)
            topics = self.topics(name)
            if name == NUGGET_ASSIGNMENT:
                pairs = self._answer_pairs()
                current = self.nuggets.current()
                documents = [nugget_document(each) for each in current]
                listed: dict[str, list[str]] = {}
                for each, document in zip(current, documents, strict=True):
                    listed.setdefault(each.query_id, []).append(document.doc_id)
                inner.store.settings.put(LISTED, listed)
            else:
                pairs = self._citation_pairs(citations)
                documents = list(self.store.corpus.documents(pairs["doc_id"].unique().tolist()).values())
            known = set(pairs["query_id"])
            inner.store.corpus.add_topics((topic for topic in topics if topic.query_id in known), replace=True)
            added = inner.store.corpus.add_documents(
                (each._replace(metadata={}) for each in documents if each.text is not None), replace=True
            )
            if added.new or added.changed:
                version = inner.store.settings.get("documents_version", 0)
                inner.store.settings.put("documents_version", version + 1)
            prepared = _fill_pool(inner, name, pairs)
            gone = set(inner.store.corpus.topics()["query_id"]) - known
            inner.imports.removals.remove(topics=sorted(gone))  # judged ones are kept
        return prepared

    def topics(self, name: str) -> Iterator[Topic]:
        """Return the topics of a task: the answers of the campaign, or their sentences."""
        return self._answers() if name == NUGGET_ASSIGNMENT else self._sentences()

    def _answers(self) -> Iterator[Topic]:
        """Yield the answers as topics; those of one topic follow each other, in random order."""
        for topic, row, texts in self._with_texts():
            yield Topic(answer_id(topic.query_id, row["number"]), topic.title, join_sentences(texts), _question(topic))

    def _sentences(self) -> Iterator[Topic]:
        for topic, row, texts in self._with_texts():
            question = "\n".join(filter(None, (topic.title, _question(topic))))
            for place, text in enumerate(texts):
                query_id = sentence_id(topic.query_id, row["number"], place)
                yield Topic(query_id, one_line(text), join_sentences(texts), question)

    def _with_texts(self) -> Iterator[tuple[Topic, dict[str, int], list[str]]]:
        """Yield each answer with its topic and the texts of its sentences."""
        topics = {topic.query_id: topic for topic in self.store.corpus.topic_records()}
        texts: dict[tuple[str, str], list[str]] = {}
        for run, query_id, text in self.store.answers.sentences()[["run", "query_id", "text"]].itertuples(index=False):
            texts.setdefault((run, query_id), []).append(text)
        for row in self.store.answers.answers().to_dict("records"):
            yield topics[row["query_id"]], {"number": row["number"]}, texts.get((row["run"], row["query_id"]), [])

    def _answer_pairs(self) -> pd.DataFrame:
        """Return each answer that is not empty with each nugget of its topic."""
        answers = self.store.answers.answers()
        texts = self.store.answers.sentences()
        filled = texts.loc[texts["text"].str.strip() != "", ["run", "query_id"]].drop_duplicates()
        answers = answers.merge(filled, on=["run", "query_id"])
        nuggets = pd.DataFrame(
            [(each.query_id, nugget_id(each.query_id, each.nugget, each.version)) for each in self.nuggets.current()],
            columns=["query_id", "doc_id"],
        )
        pairs = answers.merge(nuggets.astype("str"), on="query_id")
        ids = [answer_id(*row) for row in pairs[["query_id", "number"]].itertuples(index=False)]
        return pd.DataFrame({"query_id": ids, "doc_id": pairs["doc_id"]}).astype("str")

    def _citation_pairs(self, citations: Citations) -> pd.DataFrame:
        """Return each sentence with the documents that it cites."""
        cited = self.store.answers.citations()
        cited = cited if citations == "all" else cited[cited["position"] == 0]
        return pd.DataFrame(citation_pairs(cited), columns=PAIR).astype("str")


def _fill_pool(inner: Campaign, task: str, pairs: pd.DataFrame) -> Prepared:
    """Add missing pairs to the pool, and remove outdated ones that nobody has judged or reserved."""
    pool = inner.store.pool.pairs()
    rounds = pool["pool_round"].unique().tolist()
    pool = inner.store.removal.pooled_pairs([], [], rounds, clock.seconds())
    wanted, pooled = (pd.MultiIndex.from_frame(frame[PAIR]) for frame in (pairs, pool))
    new, changed = pairs[~wanted.isin(pooled)], pool[~pooled.isin(wanted)]
    stays = changed["stays"].isin((JUDGED, RESERVED))
    inner.store.removal.remove_pairs(changed[~stays])
    inner.store.removal.remove_empty_rounds()
    inner.store.pool.add(new.assign(rank=1), task, {}, [])
    inner.people.assignments.spread_overlap()
    return Prepared(
        task, pairs["query_id"].nunique(), len(pairs), len(new),
        len(changed) - int(stays.sum()), int(stays.sum()),
    )  # fmt: skip


def _without_version(doc_id: str) -> str:
    return doc_id.rpartition(".v")[0]


def assigned_pairs(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pair in the task of nugget assignment of each row: ``query_id``, ``number``, ``nugget``, ``version``.

    ``number`` is that of the answer.
    """
    columns = rows[["query_id", "number", "nugget", "version"]].itertuples(index=False, name=None)
    return [
        (answer_id(query_id, number), nugget_id(query_id, nugget, version))
        for query_id, number, nugget, version in columns
    ]


def citation_pairs(cited: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pair of each row of :meth:`.AnswerTables.citations` in the task of support."""
    rows = cited[["query_id", "number", "sentence", "doc_id"]].itertuples(index=False, name=None)
    return [(sentence_id(query_id, number, sentence), doc_id) for query_id, number, sentence, doc_id in rows]


def nugget_document(nugget: Nugget) -> Document:
    """Return a version of a nugget as a document; its title is the whole text, after the question of a nugget bank."""
    question = str(nugget.fields.get("question", ""))
    title = nugget.text if question in ("", nugget.text) else f"{question} {nugget.text}"
    return Document(nugget_id(nugget.query_id, nugget.nugget, nugget.version), one_line(title), nugget.text)


def _question(topic: Topic) -> str:
    return "\n".join(filter(None, (topic.description, topic.narrative)))
