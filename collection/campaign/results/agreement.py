"""Inter-annotator agreement, and statistics of each annotator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas as pd

from collection import adjudication, annotator_agreement as agreeing, comparison
from collection.adjudication import QuestionAnswers
from collection.annotator_agreement import Agreement, Labels, annotator_statistics
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.results.rank_comparison import compare_ranks
from collection.campaign.settings.settings import Settings
from collection.core.answer_tasks import topic_of
from collection.core.errors import InputError, require_known
from collection.core.phrases import count, join, plural
from collection.core.records import QRELS_ANNOTATOR, Run
from collection.machine_labels.judgements import labels_seen
from collection.measures import Measure, as_measure
from collection.store import Store

LABELS = ("annotator", "query_id", "doc_id", "relevance", "judged_at", "seconds", "note", "source")
_CODED = ("annotator", "topic", "doc", "relevance", "at", "source", "kind", "counts_as")


class Conclusion(NamedTuple):
    """The orders of the runs by the grades of two annotators.

    Attributes
    ----------
    a, b
        The annotators.
    topics, pairs
        Graded by both: the runs are evaluated on these alone.
    tau
        Kendall's tau-b between the two orders; nan where there is none, and `note` says why.
    swaps
        Pairs of runs that change places.
    table
        ``run``, ``a``, ``b`` (means), ``place_a``, ``place_b``, as in :class:`.RankComparison`.
    """

    a: str
    b: str
    topics: int
    pairs: int
    runs: int
    tau: float
    swaps: int
    note: str
    table: pd.DataFrame


@dataclass(eq=False)
class AgreementStudy:
    """Inter-annotator agreement, and statistics of each annotator.

    `question` is the further question that annotators answer, None the grade; see :meth:`for_question`.
    """

    store: Store
    settings: Settings
    corpus: Corpus
    question: QuestionAnswers | None = None
    judgements: pd.DataFrame | None = field(default=None, repr=False, compare=False)
    """Judgements that were read for several answers, with the column ``answers``; None: each call reads them."""

    def for_question(self, name: str | None, answer: str | None = None) -> AgreementStudy:
        """The same for a further question, in pairs that two annotators answered; None is the grade.

        Grades are compared by their order, the answers to a choice as names, and of tags one at a time
        (:meth:`by_answer` has all). `answer` compares whether this answer or tag was given (1) or not (0).

        Raises
        ------
        InputError, UnknownNameError
            There is no such question or answer, or an answer without a question.
        """
        return replace(self, question=self.settings.question_answers(name, answer))

    @property
    def scale(self) -> Mapping[int, str]:
        """The grades of the question, with their sentences or, of answers, their labels."""
        return self.settings.grades.sentences if self.question is None else self.question.scale

    def labels(self, *, topics: Sequence[str] = (), without: Sequence[str] = ()) -> pd.DataFrame:
        """Every annotator's current grades, without adjudications.

        Parameters
        ----------
        topics
            All by default. In a task of generated answers, answers or sentences, or topics of the campaign around it.
        without
            Annotators to leave out.

        Returns
        -------
        DataFrame
            ``annotator`` (for imported qrels ``qrels:NAME``), ``query_id``, ``doc_id``, ``relevance`` (int64, a key of
            :attr:`scale`),
            ``judged_at`` (ISO 8601; null where the grade was imported), ``seconds``, ``note``, ``source``; oldest
            first. In a task of generated answers also ``topic``, that of the campaign around it.

        Raises
        ------
        UnknownNameError
            There is no such topic, or nobody of that name has graded anything.
        """
        named = self._named_judgements() if self.judgements is None else self.judgements
        return self._labels(self._answered(named), topics, without)

    def matrix(self, *, topics: Sequence[str] = (), without: Sequence[str] = ()) -> Labels:
        """Return :meth:`labels` as a matrix of pairs and annotators on the scale; parameters as there.

        All connections share the last two.
        """
        if self.judgements is not None:
            return self._matrix(self._judgements(), topics, without)
        with self.store.snapshot():
            key = (self.store.judgements.last_entry(), self.scale, self.question)
            return self.store.cached(
                "matrix of labels",
                key,
                lambda: self._matrix(self._judgements(), topics, without),
                member=(tuple(topics), tuple(without)),
                most=2,
                shared=True,
            )

    def _matrix(self, judgements: pd.DataFrame, topics: Sequence[str], without: Sequence[str]) -> Labels:
        labels = Labels.from_keys(self._labels(self._answered(judgements), topics, without), self.scale)
        return replace(labels, pairs=self.store.judgements.with_ids(labels.pairs)) if self._is_coded else labels

    @property
    def _is_coded(self) -> bool:
        """Return whether :meth:`_judgements` has keys, which are enough for the grades."""
        return self.judgements is None and self.question is None and self.settings.task() is None

    def _judgements(self) -> pd.DataFrame:
        """Current judgements and adjudications, with the answers of a further question."""
        if self.judgements is not None:
            return self.judgements
        if self._is_coded:
            log = self.store.judgements.coded(_CODED)
            return log.rename(columns={"topic": "query_id", "doc": "doc_id", "at": "judged_at"})
        return self._named_judgements()

    def _named_judgements(self) -> pd.DataFrame:
        answers = () if self.question is None else ("answers",)
        return self.store.judgements.table(columns=(*LABELS, "kind", "counts_as", *answers))

    def _answered(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Those of the judgements that answer the question, by their answers, and those of "cannot judge"."""
        return judgements if self.question is None else self.question.select(judgements)

    def _labels(self, answered: pd.DataFrame, topics: Sequence[str], without: Sequence[str]) -> pd.DataFrame:
        """Return :meth:`labels` from what :meth:`_answered` returns."""
        if self.question is not None and self.question.question.kind == "tags":
            self.question.require_grades()
        graded = answered[(answered["kind"] == "graded") & (answered["counts_as"] == "judgement")]
        frame = graded[[name for name in LABELS if name in graded]].astype({"relevance": "int64"})
        frame["judged_at"] = frame["judged_at"].mask(frame["source"] == "imported")
        if self.settings.task() is not None:
            frame["topic"] = frame["query_id"].map(topic_of).astype("str")
        frame = agreeing.select_labels(frame, without=without)
        return self._in_topics(frame, topics).reset_index(drop=True)

    def _in_topics(self, frame: pd.DataFrame, topics: Sequence[str]) -> pd.DataFrame:
        """Return the rows of the named topics, which may be keys in the frame; all if none is named."""
        if not topics:
            return frame
        selected: Collection[object] = self._select(topics)
        if pd.api.types.is_integer_dtype(frame["query_id"]):
            keys = frame[["query_id", "doc_id"]].drop_duplicates("query_id")
            named = self.store.judgements.with_ids(keys)["query_id"]
            selected = keys.loc[named.isin(selected), "query_id"].tolist()
        return frame[frame["query_id"].isin(selected)]

    def _select(self, topics: Sequence[str]) -> set[str]:
        """Return the named topics; in a task of generated answers, those that belong to the named ones."""
        known = {query_id: {query_id} for query_id in self.settings.modes()}
        for query_id in list(known) if self.settings.task() is not None else ():
            known.setdefault(topic_of(query_id), set()).add(query_id)
        require_known("topic", known, *topics)
        return {query_id for name in topics for query_id in known[name]}

    def report(
        self, *, topics: Sequence[str] = (), without: Sequence[str] = (), level: float | None = None, **options: Any
    ) -> Agreement:
        """Inter-annotator agreement by the labels.

        The default `level` is that of the loop's settings, for a further question its second lowest grade.
        `options` are ``resamples``, ``seed``, ``by``, ``sides`` of :func:`collection.annotator_agreement.agreement`.
        """
        with self.store.snapshot():
            judgements, matrix = self._judgements(), self.matrix(topics=topics, without=without)
        answered = self._answered(judgements)
        labels = self._labels(answered, topics, without)
        if level is None:
            level = self.settings.loop().level if self.question is None else self.question.level
        nominal = self.question is not None and self.question.is_nominal
        agreement = agreeing.agreement(matrix, level=level, nominal=nominal, **options)
        judgements, answered = (self._in_topics(each, topics) for each in (judgements, answered))
        notes = [*self._left_out(judgements, answered, labels, without), *self._independence(topics, without)]
        return replace(agreement, notes=(*agreement.notes, *notes))

    def by_answer(
        self, *, topics: Sequence[str] = (), without: Sequence[str] = (), **options: Any
    ) -> dict[str, Agreement]:
        """Agreement on whether each answer or tag was given, by answer; parameters as for :meth:`report`.

        Raises
        ------
        InputError
            The question has grades.
        """
        if self.question is None or self.question.question.kind == "grades":
            raise InputError("agreement by answer needs a question with a choice or tags, found one with grades")
        studies = self._each_answer(self.question).items()
        return {answer: each.report(topics=topics, without=without, **options) for answer, each in studies}

    def _each_answer(self, question: QuestionAnswers) -> dict[str, AgreementStudy]:
        """The same for each answer or tag of a question, with the judgements read once."""
        whole, answers = replace(self, judgements=self._judgements()), map(str, question.answers)
        return {answer: replace(whole, question=replace(question, answer=answer)) for answer in answers}

    def count_answers(self) -> pd.DataFrame:
        """Count each annotator's answers: ``annotator``, then a column for each grade with its label, answer or tag."""
        question = self.question
        if question is not None and question.question.kind == "tags" and question.answer is None:
            counts = {
                tag: each.labels().groupby("annotator")["relevance"].sum()
                for tag, each in self._each_answer(question).items()
            }
        else:
            labels = self.labels()
            label = self.settings.grades.label if question is None else question.labels.__getitem__
            is_nominal = question is not None and question.is_nominal
            counts = {
                str(question.answers[grade]) if is_nominal and question else f"{grade} · {label(grade)}": labels.loc[
                    labels["relevance"] == grade, "annotator"
                ].value_counts()
                for grade in self.scale
            }
        return pd.DataFrame(counts).fillna(0).astype("int64").rename_axis("annotator").sort_index().reset_index()

    def _left_out(
        self, judgements: pd.DataFrame, answered: pd.DataFrame, labels: pd.DataFrame, without: Sequence[str]
    ) -> Iterable[str]:
        """Say what the `labels` leave out of the judgements of the topics, and of those that answer the question."""
        own = judgements[(judgements["counts_as"] == "judgement") & ~judgements["annotator"].isin(list(without))]
        qrels = [name for name in labels["annotator"].unique() if name.startswith(QRELS_ANNOTATOR)]
        if qrels:
            yield f"Imported qrels count as an annotator: {join(qrels)}."
        if cannot := int((own["kind"] == "cannot judge").sum()):
            yield f'{cannot:,} "cannot judge" {plural(cannot, "judgement")} left out.'
        if adjudicated := int((answered["counts_as"] == "adjudication").sum()):
            yield f"{count(adjudicated, 'adjudication')} left out: adjudications are not independent opinions."
        if self.question is not None and (others := int((own["kind"] == "graded").sum()) - len(labels)):
            yield (
                f"{count(others, 'judgement')} left out: the question {self.question.question.name!r} was not "
                f"asked at {plural(others, 'its grade', 'their grades')}, or has no answer."
            )

    def _independence(self, topics: Sequence[str], without: Sequence[str]) -> Iterable[str]:
        """Say how many of the labels were given after the annotator saw a machine label of the pair."""
        views = self.store.machine_labels.views()
        if len(views) and (seen := int((labels_seen(self.labels(topics=topics, without=without), views) != "").sum())):
            yield (
                f"{count(seen, 'judgement')} {plural(seen, 'was', 'were')} given after the annotator saw a machine "
                f"label of the pair, and {plural(seen, 'is', 'are')} not independent of it."
            )

    def cache_key(self) -> str:
        """Cache key of :meth:`report` and :meth:`conclusions`."""
        runs = self.store.corpus.runs()
        question = () if self.question is None else (self.question,)
        state = self.store.judgements.versions(), self.settings.loop().level, list(runs["run"] + runs["sha256"])
        return repr((*state, *question))

    def conclusions(
        self,
        measure: Measure | str,
        *,
        topics: Sequence[str] = (),
        without: Sequence[str] = (),
        most: int | None = None,
    ) -> list[Conclusion]:
        """Compare the orders of the imported runs by the grades of every two annotators, on the pairs both graded.

        `most` limits the pairs of annotators to those with the most graded pairs in common, since each takes as long
        as evaluating all runs twice. The list is ordered by name.

        Raises
        ------
        InputError
            The measure needs more than grades.
        """
        measure = as_measure(measure)
        if self.question is not None:
            self.question.require_grades()
        if measure.entry.needs:
            raise InputError(f"{measure} needs qrels with {measure.entry.needs}, which annotators' grades do not have")
        labels = self.labels(topics=topics, without=without)
        runs = [_select_topics(run, labels["query_id"]) for run in self.corpus.runs()]
        if not runs:
            return []
        parts = {str(name): part for name, part in labels.groupby("annotator")}
        met = Labels.of(labels, self.scale).met()
        couples = met if most is None else sorted(sorted(met, key=met.__getitem__, reverse=True)[:most])
        return [_compare_orders(runs, measure, parts[a], parts[b], a, b) for a, b in couples]

    def disagreements(self) -> adjudication.Disagreements:
        """Number of pairs that several annotators graded, and on which they differ."""
        return adjudication.count_disagreements(self.store.judgements.opinions(several=True))

    def annotator_statistics(self) -> annotator_statistics.AnnotatorStatistics:
        """Pace, grades and agreement of each annotator."""
        columns = ("at" if name == "judged_at" else name for name in annotator_statistics.NEEDED)
        with self.store.snapshot():
            log = self.store.judgements.coded((*columns, "current"), current=False).rename(columns={"at": "judged_at"})
            several = self.store.judgements.opinions(several=True)
        return annotator_statistics.compute_statistics(log, log[log["current"]], several)


def _select_topics(run: Run, topics: pd.Series[str]) -> Run:
    """The rows of a run for these topics; evaluation would read the others each time only to ignore them."""
    return Run(run.name, run.frame[run.frame["query_id"].isin(topics.unique())])


def _compare_orders(
    runs: list[Run], measure: Measure, of_a: pd.DataFrame, of_b: pd.DataFrame, a: str, b: str
) -> Conclusion:
    keys = ["query_id", "doc_id"]
    both = of_a.merge(of_b[[*keys, "relevance"]], on=keys, suffixes=("_a", "_b"))
    runs = [_select_topics(run, both["query_id"]) for run in runs]
    means = []
    for side in ("a", "b"):
        qrels = both[[*keys, f"relevance_{side}"]].rename(columns={f"relevance_{side}": "relevance"})
        means.append(comparison.evaluate(runs, qrels, [measure], strangers=True).means()[str(measure)])
    compared = compare_ranks(*means, less_is_better=measure.entry.monotone < 0)
    note = ""
    if len(compared.table) < 2:
        note = "there are fewer than two runs"
    elif compared.equal:
        note = f"all runs have the same value by the grades of {a if compared.equal == 'first' else b}"
    names = {"first": "a", "second": "b", "first_place": "place_a", "second_place": "place_b"}
    return Conclusion(
        a, b, both["query_id"].nunique(), len(both), len(compared.table), compared.tau, compared.swaps, note,
        compared.table.rename(columns=names),
    )  # fmt: skip
