"""Generated answers of a campaign: import, tasks and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from collection import formats
from collection.campaign.answers.answer_import import ANSWER, AnswerFiles, LabelOwner, is_in
from collection.campaign.answers.nugget_proposals import NuggetProposals
from collection.campaign.answers.nugget_sources import NuggetSources
from collection.campaign.answers.nuggets import Nuggets
from collection.campaign.answers.tasks import AnswerTasks, assigned_pairs, citation_pairs
from collection.campaign.imports.import_session import ImportSession
from collection.campaign.log.results import ImportReport
from collection.campaign.results.qrels import RuleChoice
from collection.core.answers import Answers, NuggetLabels, SupportLabels
from collection.core.errors import CampaignError, UnknownNameError, as_paths
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.formats.source import FilePath
from collection.reusability import Groups, groups_by_prefix
from collection.store import Store

if TYPE_CHECKING:
    from collection.comparison import Evaluation
    from collection.formats import AnswersForm, NuggetsForm
    from collection.generated_answers import AnswerMeasure, LabelledAnswers, MissingAnswers


@dataclass(eq=False)
class GeneratedAnswers:
    """Generated answers of a campaign.

    Attributes
    ----------
    nuggets
        Pieces of information that answers should, or should not, contain.
    sources
        Marked passages, and the makers of nuggets.
    proposals
        Nuggets that a language model proposes.
    tasks
        Campaigns inside the campaign, in which annotators judge answers.
    """

    store: Store
    directory: Path
    nuggets: Nuggets
    sources: NuggetSources
    proposals: NuggetProposals
    tasks: AnswerTasks

    def import_files(
        self,
        *,
        answers: FilePath | Iterable[FilePath] = (),
        nuggets: FilePath | Iterable[FilePath] = (),
        nugget_assignments: FilePath | Iterable[FilePath] = (),
        support: FilePath | Iterable[FilePath] = (),
        annotator: str | None = None,
        label_set: str | None = None,
        by_people: bool = False,
        collection: Path | None = None,
        replace: bool = False,
        accept_doubts: bool = False,
        others: Callable[[], ImportReport] | None = None,
    ) -> ImportReport:
        """Import generated answers, nuggets, nugget assignments and support: all files, or none if one has an error.

        Importing a file again changes nothing. Topics and cited documents are added if a file has their texts. Labels
        are stored in the campaign of their task, as judgements of `annotator` or as the label set `label_set`; by
        default, as for qrels, as judgements of ``qrels:NAME`` or as a label set of the model in the file name.

        Parameters
        ----------
        answers
            One path or several, as for the other files: JSONL of TREC RAG or RAGTIME.
        nuggets
            Nuggets by topic: JSONL of the nuggetizer, rubrics with weights, nugget banks of questions and answers.
        nugget_assignments, support
            Nugget assignments, and support labels of sentences and the documents that they cite.
        collection
            Directory of an exported collection with answers, whose logs are read back. Its topics are in the campaign,
            or imported by `others`.
        by_people
            Import labels as judgements even if the file name says that a language model made them.
        replace
            Overwrite answers, nuggets and labels that have other content.
        accept_doubts
            Import files even if they seem to be of another kind.
        others
            Function that imports other files, such as topics, in the same transaction; called after these files are
            read and before they are written.

        Raises
        ------
        FormatError
            A file is malformed, or of another kind.
        DoubtError
            A file seems to be of another kind, and `accept_doubts` is off.
        ConflictError
            The campaign has an answer, nugget or label with other content, and `replace` is off.
        """
        given = {
            "answers": answers, "nuggets": nuggets, "nugget_assignments": nugget_assignments, "support": support
        }  # fmt: skip
        session = ImportSession(self.store, self.directory, replace, accept_doubts)
        files = AnswerFiles(self.store, self.nuggets, self.tasks, session)
        files.read(**{what: as_paths(paths, what) for what, paths in given.items()})
        return files.write(LabelOwner(annotator, label_set, by_people), others, collection)

    def all(self) -> Answers:
        """Return all answers with their sentences, by run and topic, without texts of topics and documents."""
        topics = pd.DataFrame({"query_id": [], "title": [], "narrative": []}, dtype="str")
        documents = pd.DataFrame({"doc_id": [], "title": [], "text": []}, dtype="str")
        answers = self.store.answers.answers().drop(columns="number").sort_values("run", kind="stable")
        return Answers(answers, self.store.answers.sentences(), topics, documents)

    def labelled(self, *, rule: RuleChoice = None, label_set: str | None = None) -> LabelledAnswers:
        """Return the answers with the judgements, or the machine labels, of the tasks.

        Labels of earlier versions of a nugget are left out: a changed nugget is unlabelled until it is judged again.

        Parameters
        ----------
        rule
            Adjudication rule that makes one label of several judgements.
        label_set
            Name of the label set to use instead of judgements.

        Raises
        ------
        CampaignError
            The campaign has no answers, or no task has judgements.
        UnknownNameError
            No task has such a label set.
        """
        from collection.generated_answers import label_answers

        everything = self.all()
        if everything.answers.empty:
            raise CampaignError(
                "the campaign has no generated answers; import some with `cleverdon import DIR --answers FILE`"
            )
        assigned, supported = self._assignments(rule, label_set), self._support(rule, label_set)
        if assigned is None and supported is None:
            if label_set is not None:
                raise UnknownNameError("label set", label_set, self.label_sets())
            raise CampaignError(
                "nobody has judged the answers; prepare the tasks with `cleverdon answers prepare`, and judge them in "
                "the app"
            )
        nuggets = None if assigned is None else self.nuggets.table().drop(columns="version")
        return label_answers(answers=everything, nuggets=nuggets, nugget_assignments=assigned, support=supported)

    def evaluate(
        self,
        measures: AnswerMeasure | str | Iterable[AnswerMeasure | str] = (),
        *,
        rule: RuleChoice = None,
        label_set: str | None = None,
        missing_answers: MissingAnswers = "zero",
    ) -> Evaluation:
        """Evaluate the runs of the answers by the labels of :meth:`labelled`.

        Parameters
        ----------
        measures
            Names of answer measures; by default the common ones whose labels exist.
        missing_answers
            As :func:`~collection.generated_answers.evaluate_labelled` takes it.

        Raises
        ------
        CampaignError
            As for :meth:`labelled`.
        InputError, UnknownNameError
            A measure is unknown, or its labels are missing.
        """
        from collection.generated_answers import evaluate_labelled

        labelled = self.labelled(rule=rule, label_set=label_set)
        return evaluate_labelled(labelled, measures, missing_answers=missing_answers)

    def cache_key(self) -> str:
        """Return the cache key of all results, which changes with answers, nuggets and labels."""
        versions: list[object] = [self.store.answers.version()]
        for task in self.tasks.existing():
            with self.tasks.open(task) as inner:
                versions.append((task, inner.store.judgements.versions(), inner.store.machine_labels.version()))
        return repr(versions)

    def leave_out(
        self,
        measures: AnswerMeasure | str | Iterable[AnswerMeasure | str] = "nugget_vital",
        *,
        rule: RuleChoice = None,
        label_set: str | None = None,
        groups: Groups = groups_by_prefix,
    ) -> pd.DataFrame:
        """Evaluate each system without the nuggets that only its group contributed, as if it had joined later.

        `groups` and the result are those of :func:`~collection.generated_answers.leave_out_systems`, other parameters
        and errors those of :meth:`labelled`.
        """
        from collection.generated_answers import leave_out_systems

        labelled, sources = self.labelled(rule=rule, label_set=label_set), self.sources.documents()
        return leave_out_systems(
            labelled, measures, groups=groups, sources=sources, sentences=self.store.answers.sentences()
        )

    def label_sets(self) -> list[str]:
        """Return the names of the label sets of all tasks."""
        names: dict[str, None] = {}
        for task in self.tasks.existing():
            with self.tasks.open(task) as inner:
                names |= dict.fromkeys(each.name for each in inner.store.machine_labels.sets())
        return list(names)

    def _grades(self, task: str, rule: RuleChoice, label_set: str | None) -> pd.DataFrame | None:
        """Return the grades of the pairs of a task: ``query_id``, ``doc_id``, ``grade``; None without any."""
        if task not in self.tasks.existing():
            return None
        with self.tasks.open(task) as inner:
            if label_set is None:
                grades = inner.results.qrels.build(rule)
            elif inner.machine_labels.sets.find(label_set) is None:
                return None
            else:
                grades = inner.machine_labels.sets.labels(label_set)
        return None if grades.empty else grades.rename(columns={"relevance": "grade"})[["query_id", "doc_id", "grade"]]

    def export_files(
        self,
        *,
        answers: FilePath | None = None,
        answers_form: AnswersForm = "rag2026",
        nuggets: FilePath | None = None,
        nuggets_form: NuggetsForm = "nuggetizer",
        nugget_assignments: FilePath | None = None,
        support: FilePath | None = None,
        rule: RuleChoice = None,
        label_set: str | None = None,
    ) -> dict[str, int]:
        """Write the named files in the formats of the tracks; return path -> number of lines.

        Raises
        ------
        CampaignError
            The campaign has no answers, nuggets or labels for a named file, or the rule leaves fractions of grades.
        InputError
            A file cannot be written.
        """
        everything = self.all()
        topics = self.store.corpus.topics()[["query_id", "title", "narrative"]]
        lines: dict[str, int] = {}
        if answers is not None:
            _require("answers", len(everything.answers))
            cited = self.store.answers.citations()["doc_id"].unique().tolist()
            texts = list(self.store.corpus.documents(cited).values())
            rows = [(each.doc_id, each.title, each.text) for each in texts if each.text is not None]
            documents = pd.DataFrame(rows, columns=["doc_id", "title", "text"], dtype="str")
            formats.write_answers(replace(everything, topics=topics, documents=documents), answers, form=answers_form)
            lines[str(answers)] = len(everything.answers)
        if nuggets is not None:
            table = self.nuggets.table()
            _require("nuggets", len(table))
            titles = dict(zip(topics["query_id"], topics["title"], strict=True))
            formats.write_nuggets(table, nuggets, titles, form=nuggets_form)
            lines[str(nuggets)] = table["query_id"].nunique()
        if nugget_assignments is not None:
            assigned = self.nugget_labels(rule, label_set)
            _require("nugget assignments", assigned is not None)
            formats.write_nugget_assignments(cast(NuggetLabels, assigned), nugget_assignments)
            lines[str(nugget_assignments)] = len(everything.answers)
        if support is not None:
            supported = self.support_labels(rule, label_set)
            _require("support labels", supported is not None)
            formats.write_support(cast(SupportLabels, supported), support)
            lines[str(support)] = len(cast(SupportLabels, supported).answers)
        return lines

    def nugget_labels(self, rule: RuleChoice = None, label_set: str | None = None) -> NuggetLabels | None:
        """Return the nugget assignments with the nuggets and the texts of the answers; None without any."""
        assigned = self._assignments(rule, label_set)
        if assigned is None:
            return None
        everything = self.all()
        texts = everything.sentences.groupby(ANSWER, sort=False)["text"].agg(" ".join)
        answers = everything.answers.join(texts, on=ANSWER).fillna({"text": ""})
        nuggets = self.nuggets.table().drop(columns="version")
        topics = self.store.corpus.topics()[["query_id", "title", "narrative"]]
        return NuggetLabels(nuggets, _whole_grades(assigned), answers, topics)

    def support_labels(self, rule: RuleChoice = None, label_set: str | None = None) -> SupportLabels | None:
        """Return the support with the answers that have some, or no citations, to its topics; None without any."""
        supported = self._support(rule, label_set)
        if supported is None:
            return None
        everything = self.all()
        cited = everything.sentences[everything.sentences["citations"].astype("bool")]
        answers, sentences = (
            frame[frame["query_id"].isin(supported["query_id"]) & (is_in(frame, supported) | ~is_in(frame, cited))]
            for frame in (everything.answers, everything.sentences)
        )
        return SupportLabels(answers.reset_index(drop=True), sentences.reset_index(drop=True), _whole_grades(supported))

    def _assignments(self, rule: RuleChoice, label_set: str | None) -> pd.DataFrame | None:
        """Return nugget assignments (:data:`~collection.core.frames.NUGGET_ASSIGNMENTS`) of the current nuggets."""
        grades = self._grades(NUGGET_ASSIGNMENT, rule, label_set)
        if grades is None:
            return None
        pairs = self.store.answers.answers()[["run", "query_id", "number"]].merge(self.nuggets.table())
        return _join(pairs[["run", "query_id", "nugget"]], assigned_pairs(pairs), grades)

    def _support(self, rule: RuleChoice, label_set: str | None) -> pd.DataFrame | None:
        """Return the support (:data:`~collection.core.frames.SUPPORT`) of the citations that have a grade."""
        grades = self._grades(SUPPORT, rule, label_set)
        if grades is None:
            return None
        cited = self.store.answers.citations()
        return _join(cited[["run", "query_id", "sentence", "position", "doc_id"]], citation_pairs(cited), grades)


def _require(what: str, present: object) -> None:
    if not present:
        raise CampaignError(f"expected {what} to export, found none")


def _whole_grades(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the labels, whose grades must be whole numbers, as files have them."""
    if (labels["grade"] % 1 != 0).any():
        raise CampaignError("the grades by this rule have fractions, which files of labels cannot have; choose another")
    return labels.astype({"grade": "Int8"})


def _join(labels: pd.DataFrame, ids: list[tuple[str, str]], grades: pd.DataFrame) -> pd.DataFrame:
    """Return the labels with a grade, that of their pair in a task; `ids` are (query_id, doc_id) row by row."""
    known = dict(zip(grades[["query_id", "doc_id"]].itertuples(index=False, name=None), grades["grade"], strict=True))
    graded = labels.assign(grade=pd.array([known.get(pair) for pair in ids], dtype="Float64"))
    return graded[graded["grade"].notna()].reset_index(drop=True)
