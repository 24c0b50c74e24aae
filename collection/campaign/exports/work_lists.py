"""Work lists: pairs that an annotator judges outside the app."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from collection import formats
from collection.assignment import LEASES
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.judging.judging import WORK_LIST, Judging
from collection.campaign.progress.missing_answers import handed_out_again
from collection.campaign.settings.settings import Settings
from collection.core import clock, layout
from collection.core.characters import natural_key
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import QRELS_ANNOTATOR
from collection.core.topic_fields import full_narrative
from collection.formats import WorkListRow
from collection.store import LastGrade, Store

PAIRS = 50
"""Number of pairs in a work list by default."""


@dataclass(eq=False)
class WorkLists:
    """Work lists: pairs that an annotator judges outside the app."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    judging: Judging

    def write(self, annotator: str, path: Path | str, pairs: int = PAIRS) -> int:
        """Hand out pairs to an annotator and write them to a file, ``.csv`` or ``.xlsx``; return their number.

        The list has the pairs that the annotator already holds, then those that the app would show next, up to `pairs`.
        They are reserved for the longest duration of a lease. :meth:`.Importer.import_files` takes the file as labels.

        Raises
        ------
        InputError
            Unknown annotator, a task that is not judging by grades, or a file that cannot be written.
        """
        layout.require_output(path, self.directory)
        formats.require_work_list_ending(path)
        if (known := self.annotators()) and annotator not in known:
            command = f"cleverdon people {self.directory} --invite {quote(annotator)}"
            error = UnknownNameError("annotator", annotator, known, hint=f"or invite the person first: `{command}`")
            error.page = "how-to/import-files"
            raise error
        settings = self.settings.judging_page()
        if settings.task != "grades":
            raise InputError(f"work lists: expected a campaign that judges by grades, found the task {settings.task!r}")
        listed = self._hand_out(annotator, pairs)
        topics = {topic.query_id: topic for topic in self.store.corpus.topic_records(list(dict(listed)))}
        documents = self.store.corpus.documents([doc_id for _, doc_id in listed])
        questions, rows = self.settings.questions(), []
        former = self.store.judgements.last_grades(annotator) if handed_out_again(questions) else {}
        for query_id, doc_id in listed:
            shown = self.corpus.view.shown(documents[doc_id], settings)
            topic = topics[query_id]
            narrative = full_narrative(topic.narrative, topic.fields, with_speakers=True)
            words = "\n".join(filter(None, (topic.title, topic.description, narrative)))
            about, said = documents[doc_id].metadata, former.get((query_id, doc_id), LastGrade())
            rows.append(
                WorkListRow(
                    self.settings.campaign_id,
                    annotator,
                    query_id,
                    doc_id,
                    words,
                    shown.title,
                    shown.text,
                    metadata=about,
                    relevance=said.grade if isinstance(said.grade, int) else None,
                    answers=said.answers,
                )
            )
        formats.write_work_list(rows, self.settings.grades.sentences, path, questions)
        return len(rows)

    def annotators(self) -> list[str]:
        """The people who can have a work list, by name: those with an account, and those who judged."""
        names = [*self.store.accounts.names(), *self.store.accounts.names_in_the_log()]
        return sorted({name for name in names if not name.startswith(QRELS_ANNOTATOR)}, key=natural_key)

    def _hand_out(self, annotator: str, pairs: int) -> list[tuple[str, str]]:
        """Reserve pairs for as long as possible, topic by topic as the judging page does."""
        held = self.store.queue.held_pairs(annotator, clock.seconds())
        listed, done = list[tuple[str, str]](), list[str]()
        while len(listed) < pairs and (query_id := self.judging.topic_with_work(annotator, exclude=done)) is not None:
            done.append(query_id)
            room = pairs - len(listed)
            ids = [doc_id for topic, doc_id in held if topic == query_id]
            if ids:
                closed = self.judging.next_pairs(annotator, query_id, 0, ids, client=WORK_LIST).closed
                ids = [doc_id for doc_id in ids if doc_id not in set(closed)][:room]
            if len(ids) < room:
                fresh = self.judging.next_pairs(annotator, query_id, room - len(ids), ids, client=WORK_LIST)
                ids += [document.doc_id for document in fresh.documents][: room - len(ids)]
            at = clock.seconds()
            self.store.queue.keep_for_list(query_id, ids, annotator, at, at + LEASES[1] * 60)
            listed += [(query_id, doc_id) for doc_id in ids]
        return listed
