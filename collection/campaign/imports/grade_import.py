"""Import of grades that were given elsewhere: qrels, and labels of annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd

from collection import formats
from collection.campaign.imports.import_session import ImportSession
from collection.campaign.imports.label_set_import import LabelSetImport
from collection.campaign.judging.judging import Judging
from collection.campaign.judging.judging_demand import JudgingDemand
from collection.campaign.machine_labels.label_files import read_report
from collection.campaign.settings.loop_settings import EVERYWHERE
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.errors import ConflictError, DoubtError, FormatError, InputError, JudgementError, place
from collection.core.phrases import count, join, join_first, plural
from collection.core.questions import Question, describe_bounds, unordered, write_answer
from collection.core.records import QRELS_ANNOTATOR, Answer, CountsAs, Judgement
from collection.core.review import REASON, TITLE_ABSTRACT
from collection.formats import kinds
from collection.formats.labels import NoTopicsError
from collection.formats.source import FilePath
from collection.id_matches import describe_alike, find_alike, loose_key, without_invisible
from collection.machine_labels.judgements import PEOPLE
from collection.machine_labels.model_families import find_model, find_source
from collection.store import Added, LastGrade

_BY_PEOPLE = 'If people gave them, import the file with --by-people (page Import: "Grades are by people")'
_PAIR = ["query_id", "doc_id"]
_LABEL = ["annotator", *_PAIR, "relevance"]


def _spelling(name: str) -> str:
    """A name as names of people are compared."""
    return without_invisible(name).casefold()


@dataclass(eq=False)
class GradeImport:
    """Import of grades that were given elsewhere: qrels, and labels of annotators."""

    session: ImportSession
    settings: Settings
    judging: Judging
    demand: JudgingDemand
    label_sets: LabelSetImport
    annotator: str | None = None
    """Who gave the labels for which their file names no annotator."""
    by_people: bool = False
    """Whether people gave all grades, whatever names say."""

    def import_qrels(self, path: FilePath) -> None:
        """Import qrels as judgements of the annotator ``qrels:NAME``; those of a language model as a label set."""
        self.session.refuse_other(path, kinds.QRELS)
        report = {} if self.by_people else read_report(path)
        said = "" if self.by_people else find_source(formats.names_of_qrels(path))
        if said or (report and "by" not in report):
            self._import_model_labels(path, said)
            return
        frame = self._map_to_kept_records(path, formats.read_qrels(path))
        if report:
            frame = self._select_people(path, frame, report)
        self._require_grades(path, frame[frame["relevance"] >= 0], "; negative for unjudged")
        known, ignored = self.session.known_topics(path, frame)
        graded = known[known["relevance"] >= 0]
        annotator = f"{QRELS_ANNOTATOR}{formats.named_stem(path, 'their annotator')}"
        added, _ = self._write(path, graded.assign(annotator=annotator, counts_as="judgement"))
        if added.new:
            self.session.notice(
                path,
                "in the pool, each graded pair counts as judged by one annotator. If a model or rule gave the grades, "
                "import them with `cleverdon labels import` (page Import, Machine labels) instead",
            )
        self.session.added(path, "judgement", added, f" by annotator {annotator!r}")
        self._report_unknown_documents(path, graded)
        self.session.ignored(path, ignored)
        if unjudged := len(known) - len(graded):
            self.session.notice(path, f"skipped {count(unjudged, 'pair')} with a negative grade (unjudged)")

    def _import_model_labels(self, path: FilePath, said: str) -> None:
        """Import qrels of a language model as a label set; `said` is what tells that no people gave the grades."""
        self.label_sets.import_file(path, said)
        if said:
            self.session.notice(
                path,
                f"the name {said!r} says that a language model gave these grades: they are machine labels, never "
                f"judgements. {_BY_PEOPLE}",
            )

    def _select_people(self, path: FilePath, frame: pd.DataFrame, report: Mapping[str, Any]) -> pd.DataFrame:
        """The grades that people gave, of qrels that were filled with machine labels."""
        by = report["by"] if isinstance(report["by"], dict) else {}
        pairs = zip(frame["query_id"].astype(str), frame["doc_id"].astype(str), strict=True)
        people = [by.get(query_id, {}).get(doc_id, PEOPLE) == PEOPLE for query_id, doc_id in pairs]
        if left_out := people.count(False):
            labels = f"{count(left_out, 'machine label')} of {report['label_set']!r}"
            self.session.notice(path, f"skipped {labels} among the grades; --by-people imports them as judgements")
        return frame[people].reset_index(drop=True)

    def import_labels(self, path: FilePath) -> None:
        """Import labels as judgements of their annotators; those of language models as label sets."""
        if formats.is_work_list(path):
            self._import_work_list(path)
            return
        self.session.refuse_other(path, kinds.LABELS)
        known_topics = self.session.store.corpus.topics()
        topics = known_topics["query_id"].tolist()
        names = known_topics["title"].str.split().str.join(" ").str.casefold()
        unique = ~names.duplicated(keep=False) & ~names.isin([*topics, ""])
        titles = dict(zip(names[unique], known_topics["query_id"][unique], strict=True))
        only = topics[0] if len(topics) == 1 else None
        if self.settings.review() is not None:
            only = TITLE_ABSTRACT
        try:
            log = formats.read_label_log(
                path, query_id=only, names=self.settings.grades.names, annotator=self.annotator, titles=titles
            )
        except NoTopicsError as error:
            number = count(len(topics), "topic")
            raise InputError(
                f"{path}: labels without topics, such as those of ASReview, need a campaign with exactly one topic, "
                f"found {number}"
            ) from error
        log = replace(log, labels=self._map_to_kept_records(path, log.labels))
        report = {} if self.by_people else read_report(path)
        if report and "by" not in report:  # an export of machine labels, which names no annotator
            name, kind, settings = str(report["label_set"]), report["kind"], report["settings"]
            self.label_sets.add(path, log.labels[[*_PAIR, "relevance"]], name, kind, settings)
            return
        log = replace(log, labels=self._without_unjudged(path, self._without_models(path, log.labels)))
        if log.labels.empty:
            if log.left_out:
                raise InputError(f"{path}: expected labels, found no grades")
            self.session.added(path, "judgement", Added(0, 0, 0))
            return
        self._require_grades(path, log.labels)
        self._question_future(path, log.labels)
        known, ignored = self.session.known_topics(path, log.labels)
        self._require_one_spelling(path, map(str, known["annotator"].unique()))
        added, surplus = self._write(path, known.assign(counts_as=self._count_as(known)))
        people, counted = known["annotator"].nunique(), len(known) - surplus
        if added.new and counted and surplus:
            judgements = plural(counted, "counts as a judgement", "count as judgements")
            self.session.notice(path, f"{count(counted, 'label')} {judgements}")
        self.session.added(path, "judgement", added, f" by {count(people, 'annotator')}")
        self._report_unknown_documents(path, known)
        self.session.ignored(path, ignored)
        self._report_surplus(path, surplus)
        if log.left_out:
            counts = ", ".join(f"{rows:,} {what!r}" for what, rows in log.left_out.items())
            self.session.notice(path, f"skipped rows that are not an annotator's grade ({counts})")

    def reason_answers(self, reasons: pd.Series[str]) -> list[dict[str, Answer]]:
        """Return reasons for exclusion ("" for none) as answers; add those that the review lacks and can have."""
        known = {reason.casefold(): reason for reason in self.settings.reasons()}
        added, refused = [], []
        for reason in reasons[reasons != ""].unique():
            if reason.casefold() in known:
                continue
            try:
                self.settings.set_reasons([*known.values(), reason])
            except InputError:  # too many reasons, or too long
                refused.append(reason)
            else:
                known[reason.casefold()] = reason
                added.append(reason)
        notices = self.session.report.notices
        if added:
            notices.append(f"added {count(len(added), 'reason')} for exclusion to the review: {join_first(added)}")
        if refused:
            left_out = count(len(refused), "reason")
            notices.append(f"left out {left_out} for exclusion (too long, or too many): {join_first(refused)}")
        return [{REASON: known[name]} if (name := reason.casefold()) in known else {} for reason in reasons]

    def import_decisions(self, path: FilePath, labels: pd.DataFrame) -> None:
        """Import the decisions in the records of a file; other decisions of the same annotator in the campaign stay.

        `labels`: :data:`collection.core.frames.LABELS`, and ``answers``.
        """
        names = list(map(str, labels["annotator"].unique()))
        self._require_one_spelling(path, names)
        before = {name: self.session.store.judgements.last_grades(name) for name in names}
        rows = labels[_LABEL].itertuples(index=False, name=None)
        known = [before[name].get((topic, document), LastGrade()).grade for name, topic, document, _ in rows]
        is_new = pd.Series([grade is None for grade in known], index=labels.index)
        other = sum(old not in (None, new) for old, new in zip(known, labels["relevance"], strict=True))
        new = labels[is_new].reset_index(drop=True)
        added, surplus = self._write(path, new.assign(counts_as=self._count_as(new)), has_lines=False)
        same = Added(added.new, 0, len(labels) - len(new))
        self.session.added(path, "judgement", same, f" by {count(len(names), 'annotator')}")
        if other:
            stay = plural(
                other, "differs from that in the campaign, which stays", "differ from those in the campaign, which stay"
            )
            self.session.notice(path, f"{count(other, 'judgement')} {stay}")
        self._report_surplus(path, surplus)

    def _report_surplus(self, path: FilePath, surplus: int) -> None:
        """Report labels of pairs that have enough judgements already, and how to make them count."""
        if surplus:
            are = plural(surplus, "is surplus: its pair has", "are surplus: their pairs have")
            raise_it = f"raise the number of annotators with `cleverdon assign {self.session.directory} --annotators K`"
            if self.settings.review() is not None:
                raise_it = "choose two people per record on *Set up*, *3. Screening*,"
            self.session.notice(
                path,
                f"{count(surplus, 'label')} {are} enough judgements. Surplus labels stay in the log but do not count; "
                f"to count them, {raise_it} and import the file again",
            )

    def _question_future(self, path: FilePath, labels: pd.DataFrame) -> None:
        """Raise DoubtError for times of the future, by more than time zones differ; report accepted ones."""
        limit = (datetime.fromisoformat(clock.now()) + timedelta(days=1)).isoformat(timespec="milliseconds")
        times = labels["judged_at"].dropna().astype("str") if "judged_at" in labels else pd.Series(dtype="str")
        late = times[times > limit]
        if late.empty:
            return
        future = (
            f"{count(len(late), 'label')} with {plural(len(late), 'a time', 'times')} in the future ({late.iloc[0]})"
        )
        if not self.session.accept_doubts:
            raise DoubtError(
                f"{path}: expected times of the past as judged_at, found {future}; correct them; nothing was imported"
            )
        self.session.notice(path, future)

    def _without_unjudged(self, path: FilePath, labels: pd.DataFrame) -> pd.DataFrame:
        """Return the labels that are no negative grades, and report the others."""
        if unjudged := int((labels["relevance"] < 0).sum()):
            self.session.notice(path, f"skipped {count(unjudged, 'label')} with a negative grade (unjudged)")
        return labels[labels["relevance"] >= 0].reset_index(drop=True)

    def _without_models(self, path: FilePath, labels: pd.DataFrame) -> pd.DataFrame:
        """Import the labels of annotators that are language models by their names as label sets; return the others."""
        names = [] if self.by_people else [str(name) for name in labels["annotator"].unique()]
        models = [name for name in names if find_model(name, of_person=True)]
        for name in models:
            frame = labels.loc[labels["annotator"] == name, ["query_id", "doc_id", "relevance"]]
            settings = {"file": Path(path).name, "model": find_model(name, of_person=True)}
            self.label_sets.add(path, frame, name, "llm", settings)
        if models:
            one, several = "is the name of a language model: its", "are the names of language models: their"
            are = f"{plural(len(models), one, several)} grades are"
            self.session.notice(
                path,
                f"{join(map(repr, models))} {are} machine labels, never judgements. {_BY_PEOPLE}",
            )
        return labels[~labels["annotator"].isin(models)].reset_index(drop=True)

    def _import_work_list(self, path: FilePath) -> None:
        """Import the grades of a work list, whose pairs must all be assigned to its annotator."""
        store, rows = self.session.store, list(formats.read_work_list(path, self.settings.grades.names))
        graded = [(row, row.relevance) for row in rows if row.relevance is not None]
        grades_before = {name: store.judgements.last_grades(name) for name in {row.annotator for row, _ in graded}}
        new = changed = same = surplus = 0
        for row, grade in graded:
            if row.campaign != self.settings.campaign_id:
                expected, actual = "a work list of this campaign", "one of another campaign"
                raise FormatError(path, row.line, expected, f"{actual} ({row.campaign})")
            pair = store.judgements.pair(row.query_id, row.doc_id, row.annotator, "judgement")
            if pair is None or not (pair.leased or pair.known):
                actual = f"topic {row.query_id!r}, document {row.doc_id!r}"
                hint = "a spreadsheet may have changed the id; restore the id or remove the row"
                raise FormatError(path, row.line, f"a pair that is assigned to {row.annotator!r}", actual, hint)
            if grade not in self.settings.grades:
                raise FormatError(path, row.line, f"a grade of this campaign ({self.settings.grades})", f"{grade}")
            last = grades_before[row.annotator].get((row.query_id, row.doc_id), LastGrade())
            for name in row.answers:
                if name in self._questions and not self._questions[name].is_asked(int(grade)):
                    wanted = f"no answer to {name!r}, which is asked at {describe_bounds(self._questions[name])}"
                    raise FormatError(path, row.line, wanted, f"one with grade {grade}")
            answers, before = self._answers(path, row.line, int(grade), row.answers, last), last.grade
            if before == grade and answers == last.answers:
                same += 1
                continue
            if before not in (None, grade) and not self.session.replace:
                actual = f"{grade}; use --replace to overwrite it"
                raise FormatError(path, row.line, f"{before}, the grade of {row.annotator!r} in the campaign", actual)
            new, changed = new + (before is None), changed + (before is not None)
            judgement = Judgement(
                str(uuid4()), row.annotator, row.query_id, row.doc_id, "graded", int(grade), source="work list"
            )
            judgement = judgement._replace(answers=answers)
            surplus += self.judging.write(judgement, leased_only=True) == "surplus"
        people = count(len({row.annotator for row in rows}), "annotator")
        self.session.added(path, "judgement", Added(new, changed, same), f" from a work list by {people}")
        if surplus:
            are = plural(surplus, "is surplus: others judged its pair", "are surplus: others judged their pairs")
            self.session.notice(path, f"{count(surplus, 'judgement')} {are} in the meantime")
        if left := len(rows) - len(graded):
            self.session.notice(path, f"{count(left, 'row')} {plural(left, 'has', 'have')} no grade yet")

    def _report_unknown_documents(self, path: FilePath, graded: pd.DataFrame) -> None:
        """Report documents without a text, unless no document has one yet."""
        corpus = self.session.store.corpus
        without = graded.loc[graded["doc_id"].isin(corpus.find_without_text(graded["doc_id"])), "doc_id"]
        if without.empty or next(corpus.documents_with_text(pooled=False), None) is None:
            return
        known = {loose_key(doc_id): doc_id for doc_id in corpus.ids_with_text()}
        if alike := find_alike(map(str, without.unique()), known):
            self.session.report.notices.append(describe_alike(str(path), "document", alike, "campaign"))
        names, documents = plural(len(without), "names", "name"), without.nunique()
        are = plural(documents, "that is", "that are")
        self.session.notice(
            path,
            f"{count(len(without), 'judgement')} {names} {count(documents, 'document')} {are} not in the collection, "
            f"such as {str(without.iloc[0])!r}; the grades count. Import the missing documents, or correct the ids",
        )

    def _map_to_kept_records(self, path: FilePath, grades: pd.DataFrame) -> pd.DataFrame:
        """Move the grades of duplicates that an import left out to the record that was kept.

        If an annotator graded several duplicates, the highest grade counts.
        """
        named = self.session.map_to_kept_records(path, grades)
        if named is grades:
            return grades
        keys = [name for name in ("annotator", "query_id", "doc_id", "subtopic") if name in named]
        contradicting = int((named.groupby(keys, observed=True)["relevance"].nunique() > 1).sum())
        if contradicting:
            records = f"{count(contradicting, 'record')} and {plural(contradicting, 'its', 'their')}"
            self.session.notice(path, f"{records} left-out duplicates have different grades; the highest grade counts")
        best = named.sort_values("relevance", ascending=False, kind="stable").drop_duplicates(keys)
        return best.sort_index().reset_index(drop=True)

    def _find_line(self, path: FilePath, annotator: str, query_id: str, doc_id: str) -> int | None:
        ids = [doc_id, *(left_out for left_out, original in self.session.kept_as.items() if original == doc_id)]
        lines = (formats.find_label_line(path, annotator, query_id, each) for each in ids)
        return next((line for line in lines if line is not None), None)

    def _require_grades(self, path: FilePath, frame: pd.DataFrame, or_else: str = "") -> None:
        outside = frame[~frame["relevance"].isin(set(self.settings.grades.sentences))]
        if len(outside):
            row = outside.iloc[0].to_dict()
            if "annotator" in row:
                line = self._find_line(path, row["annotator"], row["query_id"], row["doc_id"])
            else:
                line = formats.find_pair_line(path, row["query_id"], row["doc_id"])
            raise FormatError(
                path, line, f"a grade of this campaign ({self.settings.grades}{or_else})", f"{row['relevance']}"
            )

    def unify_names(self, names: pd.Series[str]) -> pd.Series[str]:
        """Return names in the spelling of accounts and of the log, or else in their first spelling in the file."""
        known = self._known_spellings()
        spelled = {str(name): known.setdefault(_spelling(str(name)), str(name)) for name in names.unique()}
        return names.map(spelled).astype("str")

    def _known_spellings(self) -> dict[str, str]:
        """Return the names of accounts and of the log by their key for comparison."""
        accounts = self.session.store.accounts
        return {_spelling(name): name for name in (*accounts.names_in_the_log(), *accounts.names())}

    def _require_one_spelling(self, path: FilePath, names: Iterable[str]) -> None:
        """Refuse names of label sets, and those that would split one person into two annotators."""
        spellings, sets = self._known_spellings(), self.session.store.machine_labels.folded_names()
        for name in names:
            if name.casefold() in sets:
                raise ConflictError(f"{path}: the annotator {name!r} has the name of a label set; rename one of them")
            other = spellings.setdefault(_spelling(name), name)
            if other != name:
                by = "invisible characters" if name.casefold() != other.casefold() else "upper and lower case"
                raise ConflictError(
                    f"{path}: annotators {name!r} and {other!r} differ only in {by}; use one spelling if they are the "
                    "same person, otherwise rename one"
                )

    def _count_as(self, labels: pd.DataFrame) -> list[CountsAs]:
        """Decide what each new label counts as: the earliest labels of a pair count until it has enough.

        Labels without a time come last, in the order of the file. Outside the pool and any loop every label counts, and
        so does every one of imported qrels. `labels` has ``annotator``, ``query_id``, ``doc_id`` and perhaps
        ``first_judged_at``.
        """
        store = self.session.store
        store.corpus.add_document_ids(labels["doc_id"])
        pool, open_modes = store.pool.pairs(), self.settings.modes_when_open()
        pooled = set(zip(pool["query_id"], pool["doc_id"], strict=True))
        grades_before = {name: store.judgements.last_grades(name) for name in labels["annotator"].unique()}
        order = labels.reset_index(drop=True)
        if "first_judged_at" in order:
            times = pd.to_datetime(order["first_judged_at"], utc=True, format="ISO8601", errors="coerce")
            order = order.loc[times.sort_values(kind="stable", na_position="last").index]
        counts_as: list[CountsAs] = ["judgement"] * len(labels)
        taken: Counter[tuple[str, str]] = Counter()
        for row, annotator, query_id, doc_id in order[_LABEL[:3]].itertuples(name=None):
            pair = (query_id, doc_id)
            is_requested = pair in pooled or open_modes[query_id] in EVERYWHERE
            counts_already = grades_before[annotator].get(pair, LastGrade()).counts_as == "judgement"
            if not is_requested or counts_already or annotator.startswith(QRELS_ANNOTATOR):
                continue
            if self.demand.has_room_for_label(annotator, query_id, doc_id, taken[pair]):
                taken[pair] += 1
            else:
                counts_as[row] = "surplus"
        return counts_as

    def _write(self, path: FilePath, graded: pd.DataFrame, *, has_lines: bool = True) -> tuple[Added, int]:
        """Write grades in the order of the rows; return what was added, and how many of the grades are surplus.

        `has_lines`: whether errors can name the line of a grade, because `path` is a file of labels.

        `graded` has ``annotator``, ``query_id``, ``doc_id``, ``relevance``, ``counts_as`` (applies where the annotator
        has no judgement of the pair yet), and further fields of a log.
        """
        store = self.session.store
        store.corpus.add_document_ids(graded["doc_id"])
        grades_before = {name: store.judgements.last_grades(name) for name in graded["annotator"].unique()}
        new = changed = same = surplus = 0
        columns = [name for name in graded.columns if name != "first_judged_at"]
        for row in graded[columns].itertuples(index=False, name=None):
            details = dict(zip(columns, row, strict=True))
            annotator, query_id, doc_id, relevance = (details.pop(name) for name in _LABEL)
            counted: CountsAs = details.pop("counts_as")
            last = grades_before[annotator].get((query_id, doc_id), LastGrade())
            before, as_before, _ = last
            if before is not None and before != relevance and not self.session.replace:
                if annotator.startswith(QRELS_ANNOTATOR):
                    thing, line = "file", formats.find_pair_line(path, query_id, doc_id)
                else:
                    thing, line = "annotator", self._find_line(path, annotator, query_id, doc_id)
                raise ConflictError(
                    f"{place(path, line)}: expected {before}, the grade of {annotator!r} in the campaign for topic "
                    f"{query_id!r}, document {doc_id!r}, found {relevance}; rename the {thing}, or use --replace"
                )
            if as_before == "judgement":
                counted = "judgement"
            surplus += counted == "surplus"
            given = details.pop("answers", None) or {}
            answers = last.answers
            if given or (answers and before != relevance):
                line = self._find_line(path, annotator, query_id, doc_id) if given and has_lines else None
                answers = self._answers(path, line, int(relevance), given, last)
            if before == relevance and counted == as_before and answers == last.answers:
                same += 1
                continue
            new, changed = new + (before is None), changed + (before is not None)
            uuid = details.pop("uuid", None)
            if uuid is None or store.judgements.find_entry(uuid) is not None:
                uuid = str(uuid4())
            judgement = Judgement(
                uuid, annotator, query_id, doc_id, "graded", int(relevance), source="imported", counts_as=counted
            )
            others = {name: value for name, value in details.items() if value is not None}
            self.judging.write(judgement._replace(answers=answers, **others))
        return Added(new, changed, same), surplus

    @cached_property
    def _questions(self) -> dict[str, Question]:
        return {question.name: question for question in self.settings.questions()}

    def _answers(
        self, path: FilePath, line: int | None, grade: int, given: Mapping[str, Answer], last: LastGrade
    ) -> dict[str, Answer]:
        """Return the answers that a judgement has after an import: those of the file and the former ones still asked.

        Raises
        ------
        FormatError
            An answer that its question does not have.
        ConflictError
            Another answer than that in the campaign, with the same grade and without ``replace``.
        """
        questions = self._questions
        answers: dict[str, Answer] = {}
        for name, answer in given.items():
            try:
                answers[name] = questions[name].read(answer) if name in questions else answer
            except JudgementError as error:
                wanted, _, found = str(error).removeprefix("expected ").rpartition(", found ")
                raise FormatError(path, line, wanted, found) from None
            before = last.answers.get(name, answers[name])
            if unordered(before) == unordered(answers[name]):
                answers[name] = before
            elif last.grade == grade and not self.session.replace:
                raise ConflictError(
                    f"{place(path, line)}: expected {write_answer(before)!r}, the answer to {name!r} in the campaign, "
                    f"found {write_answer(answers[name])!r}; use --replace to overwrite it"
                )
        former = {
            name: answer
            for name, answer in last.answers.items()
            if last.grade == grade or (name in questions and questions[name].is_asked(grade))
        }
        return dict(sorted((former | answers).items()))
