"""Import of generated answers, nuggets, nugget assignments and support."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from collection import formats
from collection.campaign.answers.answer_archive import LABELS, LOGS, restore_archive, restore_judgements
from collection.campaign.answers.nuggets import Nuggets
from collection.campaign.answers.tasks import AnswerTasks, assigned_pairs, citation_pairs
from collection.campaign.imports.import_session import ImportSession
from collection.campaign.log.results import ImportReport
from collection.core.answers import Answers, NuggetLabels, SupportLabels, match_runs, same_words
from collection.core.arrays import Bools
from collection.core.errors import ConflictError, InputError
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.phrases import count
from collection.core.records import Document, Topic
from collection.formats import kinds
from collection.formats.source import FilePath
from collection.store import Store

if TYPE_CHECKING:
    from collection.campaign import Campaign

ANSWER = ["run", "query_id"]


@dataclass(frozen=True)
class LabelOwner:
    """Owner of imported nugget assignments and support.

    By default, as for qrels, they become judgements of the annotator ``qrels:NAME``, or a label set if the file name
    says that a language model made them.
    """

    annotator: str | None = None
    """Annotator whose judgements they become."""
    label_set: str | None = None
    """Machine label set that they become."""
    by_people: bool = False
    """Whether people made them, even if the file name says otherwise."""


@dataclass(eq=False)
class AnswerFiles:
    """Files of answers, nuggets and labels that were read, but not written into the campaign yet."""

    store: Store
    nuggets: Nuggets
    tasks: AnswerTasks
    session: ImportSession
    answers: list[tuple[FilePath, Answers]] = field(default_factory=list)
    nugget_lists: list[tuple[FilePath, pd.DataFrame]] = field(default_factory=list)
    assignments: list[tuple[FilePath, NuggetLabels]] = field(default_factory=list)
    support: list[tuple[FilePath, SupportLabels]] = field(default_factory=list)

    def read(
        self,
        answers: Iterable[FilePath],
        nuggets: Iterable[FilePath],
        nugget_assignments: Iterable[FilePath],
        support: Iterable[FilePath],
    ) -> None:
        """Read the files; raises FormatError if one is malformed or of another kind."""
        with self.session.noting_warnings():
            for path in answers:
                self.session.refuse_other(path, kinds.ANSWERS)
                self.answers.append((path, formats.read_answers(path)))
            for path in nuggets:
                self.session.refuse_other(path, kinds.NUGGETS)
                self.nugget_lists.append((path, formats.read_nuggets(path)))
            known = pd.concat([self.nuggets.table(), *(frame for _, frame in self.nugget_lists)])
            known = known.drop(columns="version").drop_duplicates(["query_id", "nugget"], keep="last")
            for path in nugget_assignments:
                self.session.refuse_other(path, kinds.NUGGET_ASSIGNMENTS)
                labels = formats.read_nugget_assignments(path, known if len(known) else None)
                self.assignments.append((path, labels))
                known = labels.nuggets
            for path in support:
                self.session.refuse_other(path, kinds.SUPPORT)
                self.support.append((path, formats.read_support(path)))

    def write(
        self,
        owner: LabelOwner = LabelOwner(),
        others: Callable[[], ImportReport] | None = None,
        collection: Path | None = None,
    ) -> ImportReport:
        """Write answers and nuggets into the campaign and their labels into the tasks, all or nothing.

        `others` imports other files first, such as topics; `collection` is the directory of an exported collection.

        Raises
        ------
        ConflictError
            The campaign has an answer, nugget or label with other content, and `replace` is off.
        InputError
            A file has no topic of the campaign, or its labels are for none of the campaign's answers.
        """
        labelled = {NUGGET_ASSIGNMENT: self.assignments, SUPPORT: self.support}
        wanted = {name for name, files in labelled.items() if files}
        if collection is not None:
            wanted |= {name for name, file in LOGS.items() if (collection / file).is_file()}
            wanted |= {name for name, file in LABELS.items() if (collection / file).is_file()}
        with self.tasks.writing(wanted) as inner:
            first = others() if others is not None else ImportReport([], [])
            if collection is not None:
                grades = self.nuggets.settings.grades
                self.session.report.done.extend(restore_judgements(self.store, grades, collection))
                self.session.report.done.extend(restore_archive(self.store, self.tasks, inner, collection))
            for path, read in self.answers:
                self._add_texts(read)
                self._add_answers(path, read.answers, read.sentences)
            for path, frame in self.nugget_lists:
                self._add_nuggets(path, frame)
            for _, labels in self.assignments:
                self._add_topics(labels.topics)
            for path, supported in self.support:  # before assignments, whose answers may lack the sentences
                self._add_missing(path, supported.answers, supported.sentences)
            for path, labels in self.assignments:
                given = labels.nuggets.merge(self.nuggets.table()[["query_id", "nugget"]], how="left", indicator=True)
                if (given["_merge"] == "left_only").any():
                    self._add_nuggets(path, given[given["_merge"] == "left_only"].drop(columns="_merge"))
                self._add_missing(path, labels.answers, _as_sentences(labels.answers))
            for path, labels in self.assignments:
                # Language models sometimes give labels other than the three, which TREC counts as 0.
                assigned = labels.assignments.fillna({"grade": 0})
                pairs = self._assigned_pairs(assigned)
                self._import_labels(path, inner[NUGGET_ASSIGNMENT], assigned, pairs, owner)
            for path, supported in self.support:
                pairs = self._supported_pairs(supported)
                self._import_labels(path, inner[SUPPORT], supported.support, pairs, owner)
        report = self.session.report
        return first._replace(done=first.done + report.done, notices=first.notices + report.notices)

    def _add_texts(self, read: Answers) -> None:
        """Add the topics and documents whose texts the file has and the campaign lacks."""
        self._add_topics(read.topics)
        missing = self.store.corpus.find_without_text(read.documents["doc_id"])
        new = read.documents[read.documents["doc_id"].isin(missing)]
        documents = (Document(row["doc_id"], row.get("title") or "", row["text"]) for row in new.to_dict("records"))
        if self.store.corpus.add_documents(documents).new:
            self.store.settings.put("documents_version", self.store.settings.get("documents_version", 0) + 1)
            self.session.report.done.append(f"{count(len(new), 'cited document')} with their texts")

    def _add_topics(self, topics: pd.DataFrame) -> None:
        known = set(self.store.corpus.topics()["query_id"])
        new = [
            Topic(row["query_id"], row["title"], "", row["narrative"])
            for row in topics.to_dict("records")
            if row["query_id"] not in known
        ]
        if new:
            self.store.corpus.add_topics(new)
            self.session.report.done.append(f"{count(len(new), 'topic')} of the answers")

    def _add_answers(self, path: FilePath, answers: pd.DataFrame, sentences: pd.DataFrame) -> None:
        known, ignored = self.session.known_topics(path, answers)
        try:
            added = self.store.answers.add(known.astype({"query_id": "str"}), sentences, replace=self.session.replace)
        except ConflictError as error:
            raise ConflictError(f"{path}: {error}") from error
        runs = count(known["run"].nunique(), "run")
        self.session.added(path, "answer", added, f" of {runs}")
        self.session.ignored(path, ignored)

    def _add_nuggets(self, path: FilePath, nuggets: pd.DataFrame) -> None:
        known, ignored = self.session.known_topics(path, nuggets)
        ended = int(self.nuggets.ended(known).sum())
        try:
            added = self.nuggets.import_table(known.astype({"query_id": "str"}), replace=self.session.replace)
        except ConflictError as error:
            raise ConflictError(f"{path}: {error}") from error
        self.session.added(path, "nugget", added)
        if ended:
            self.session.notice(path, f"{count(ended, 'nugget')} deleted, merged or split in the campaign stay deleted")
        self.session.ignored(path, ignored)

    def _add_missing(self, path: FilePath, answers: pd.DataFrame, sentences: pd.DataFrame) -> None:
        """Add the answers that the campaign lacks, or has without sentences, and of which a file of labels has them."""
        named, written = self._named(answers), self._named(sentences)
        known = self.store.answers.answers()[ANSWER]
        known = known[~is_in(known, self._find_undivided(written))]
        lacking = named[~is_in(named, known)]
        written = written.merge(lacking[ANSWER])
        if len(written):  # otherwise the file has only labels
            self._add_answers(path, lacking, written)

    def _find_undivided(self, sentences: pd.DataFrame) -> pd.DataFrame:
        """Return ``run``, ``query_id`` of the answers of the campaign that these sentences or citations divide."""
        is_divided = sentences.duplicated(ANSWER, keep=False) | sentences["citations"].astype("bool")
        texts = sentences[is_divided].sort_values([*ANSWER, "sentence"]).groupby(ANSWER)["text"].agg(" ".join)
        both = self.store.answers.undivided().merge(texts.rename("divided").reset_index())
        same = [same_words(text, divided) for text, divided in zip(both["text"], both["divided"], strict=True)]
        return both.loc[same, ANSWER]

    def _named(self, labels: pd.DataFrame) -> pd.DataFrame:
        """Return labels with the run names of the campaign, which may lack the team prefix."""
        meant = match_runs(labels["run"], self.store.answers.answers()["run"])
        return labels.assign(run=pd.Series([meant.get(run, run) for run in labels["run"]], labels.index, dtype="str"))

    def _assigned_pairs(self, assignments: pd.DataFrame) -> pd.DataFrame:
        """Return nugget assignments as grades of the pairs of their task: ``query_id``, ``doc_id``, ``relevance``."""
        numbers, versions = self.store.answers.answers(), self.nuggets.table()
        rows = self._named(assignments).merge(numbers[[*ANSWER, "number"]])
        rows = rows.merge(versions[["query_id", "nugget", "version"]])
        return _grades(assigned_pairs(rows), rows)

    def _supported_pairs(self, labels: SupportLabels) -> pd.DataFrame:
        """Return support as grades of the pairs of its task: ``query_id``, ``doc_id``, ``relevance``."""
        cited = self.store.answers.citations().drop(columns="position")
        rows = self._named(labels.support).merge(cited)
        return _grades(citation_pairs(rows), rows)

    def _import_labels(
        self, path: FilePath, inner: Campaign, labels: pd.DataFrame, pairs: pd.DataFrame, owner: LabelOwner
    ) -> None:
        """Import grades of pairs into the campaign of a task, as judgements or as machine labels."""
        graded = int(labels["grade"].notna().sum())
        if graded > len(pairs):
            what = f"{count(graded - len(pairs), 'label')} whose answer, nugget or citation is not in the campaign"
            self.session.notice(path, f"skipped {what}")
        if len(labels) > graded:
            self.session.notice(path, f"{count(len(labels) - graded, 'pair')} without a grade stay unjudged")
        if graded and pairs.empty:
            raise InputError(
                f"{path}: expected labels of answers in the campaign, found none; import the answers first"
            )
        self.tasks.fill(inner)
        judged = pairs[pairs["query_id"].isin(inner.store.corpus.topics()["query_id"])]
        if left := len(pairs) - len(judged):
            self.session.notice(path, f"skipped {count(left, 'label')} of empty answers, which count as 0")
        if judged.empty:
            return
        name = formats.named_stem(path, "the labels")
        stem = owner.label_set or name.removesuffix(".jsonl").removesuffix(".json")
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, f"{stem}.txt")
            options: dict[str, Any] = {"replace": self.session.replace}
            if owner.annotator is not None:
                file = file.with_suffix(".csv")
                judged.assign(annotator=owner.annotator).to_csv(file, index=False)
                options |= {"labels": file, "by_people": owner.by_people}
            else:
                formats.write_qrels(judged, file)
                kind = {"machine_labels": file} if owner.label_set is not None else {"qrels": file}
                options |= kind | {"by_people": owner.by_people}
            try:
                report = inner.imports.import_files(**options)
            except ConflictError as error:  # lines of the scratch file are not those of the user's file
                said = re.sub(rf"{re.escape(str(file))}(, line [0-9,]+)?", lambda _: str(path), str(error))
                raise ConflictError(said) from error
        for lines, added in ((self.session.report.done, report.done), (self.session.report.notices, report.notices)):
            lines.extend(each.replace(str(file), str(path)) for each in added)


def is_in(answers: pd.DataFrame, others: pd.DataFrame) -> Bools:
    """Tell of each row whether the others have its run and topic."""
    return pd.MultiIndex.from_frame(answers[ANSWER]).isin(pd.MultiIndex.from_frame(others[ANSWER]))


def _grades(pairs: Iterable[tuple[str, str]], labels: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs whose labels have a ``grade``: ``query_id``, ``doc_id``, ``relevance``."""
    rows = zip(pairs, labels["grade"], strict=True)
    graded = [(*pair, int(grade)) for pair, grade in rows if not pd.isna(grade)]
    return pd.DataFrame(graded, columns=["query_id", "doc_id", "relevance"])


def _as_sentences(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers of which only the whole text is known, each as one sentence."""
    written = answers[answers["text"].str.strip() != ""]
    cited = pd.Series([()] * len(written), index=written.index, dtype=object)
    return written[[*ANSWER, "text"]].assign(sentence=0, citations=cited)
