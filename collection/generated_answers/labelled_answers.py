"""Answers combined with their labels, as arrays for answer measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from collection.core.answers import Answers, NuggetLabels, SupportLabels
from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.frames import ANSWERS, NUGGET_ASSIGNMENTS, NUGGETS, SENTENCES, SUPPORT, Schema
from collection.core.phrases import count, literal, plural

FULL, PARTIAL = 2, 1
"""Grades of nugget assignments and of support; 0 is no support."""

KEYS = ["run", "query_id"]
SENTENCE = [*KEYS, "sentence"]
NUGGET = ["query_id", "nugget"]

Reads = Literal["nugget assignments", "weighted nuggets", "support", "words"]
"""What an answer measure reads."""


@dataclass(frozen=True, eq=False)
class NuggetGrades:
    """The N pairs of an answer and a nugget of its topic."""

    answer: Ints
    """(N,) number of the answer."""
    nugget: Ints
    """(N,) row of the nugget in :attr:`LabelledAnswers.listed`."""
    grade: Floats
    """(N,) 2, 1 or 0; nan without one."""
    labelled: Bools
    """(N,) whether the pair has a label, even one without a grade."""
    vital: Bools
    okay: Bools
    weight: Floats
    """(N,) weight in a rubric; nan without one."""

    def credit(self, strict: bool) -> Floats:
        """(N,) 1 for support, .5 for partial support (0 if `strict`), 0 without a grade; half of a mean grade."""
        return _credit(np.nan_to_num(self.grade), strict)

    def keep(self, chosen: Bools) -> NuggetGrades:
        """Return only the pairs that `chosen`, (N,), marks."""
        return NuggetGrades(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class SupportGrades:
    """The S sentences of answers, and their C citations."""

    answer: Ints
    """(S,) number of the answer."""
    sentence: Ints
    """(C,) number of the sentence."""
    first: Bools
    """(C,) whether it is the first citation of its sentence."""
    grade: Floats
    """(C,) 2, 1 or 0; nan if not judged."""
    labelled: Bools
    """(C,) whether the citation has a label, even one that says "not judged"."""
    listed: pd.DataFrame
    """(C,) ``run``, ``query_id``, ``sentence``, ``doc_id`` of the citation."""

    def credit(self, strict: bool) -> Floats:
        """(C,) 1 for full, .5 for partial (0 if `strict`), 0 for no support, half of a mean; nan if not judged."""
        return _credit(self.grade, strict)


@dataclass(frozen=True, eq=False)
class LabelledAnswers:
    """The A answers of several runs, with their labels."""

    answers: pd.DataFrame
    """(A,) ``run``, ``query_id``, ``words`` (nan if unknown)."""
    nuggets: NuggetGrades
    support: SupportGrades
    listed: pd.DataFrame
    """``query_id``, ``nugget`` of the nuggets that :attr:`NuggetGrades.nugget` numbers."""
    topics: dict[Reads, frozenset[str]]
    """Topics that have the labels in question, by what measures read."""
    notes: tuple[str, ...] = ()

    def total(self, answer: Ints, parts: Floats) -> Floats:
        """(A,) sum of the parts of each answer."""
        return np.bincount(answer, parts, len(self.answers)).astype(np.float64)

    def unlabelled(self, reads: Reads, chosen: Bools | None = None) -> Bools:
        """(A,) whether an answer has none of the labels that a measure reads; empty answers need no labels.

        `chosen`, (N,), marks the labels that the measure reads; by default all.
        """
        if reads == "words":
            return self.answers["words"].isna().to_numpy()
        answer, number = self.labels(reads)[0], len(self.answers)
        labelled = self.support.labelled if reads == "support" else self.nuggets.labelled
        every = np.ones(len(answer), dtype=bool)
        chosen = every if chosen is None else chosen

        def has(which: Bools) -> Bools:
            return np.bincount(answer[which], minlength=number) > 0

        lacking = (has(chosen) & ~has(chosen & labelled)) | (has(every) & ~has(labelled))
        if reads == "support":
            lacking |= np.bincount(self.support.answer, minlength=number) == 0
        return lacking & ~self.empty

    @property
    def empty(self) -> Bools:
        """(A,) whether an answer is known to have no words."""
        return (self.answers["words"] == 0).to_numpy()

    def labels(self, reads: Reads) -> tuple[Ints, Floats]:
        """Return the answer, (N,), and the grade, (N,), of each label that a measure reads."""
        if reads == "support":
            return self.support.answer[self.support.sentence], self.support.grade
        return self.nuggets.answer, self.nuggets.grade

    def keep_nuggets(self, chosen: Bools) -> LabelledAnswers:
        """Return a copy with only the `chosen` nuggets of `listed`; answers to topics without one have the value 0."""
        return replace(self, nuggets=self.nuggets.keep(chosen[self.nuggets.nugget]))

    def with_grades(self, reads: Reads, grades: Floats) -> LabelledAnswers:
        """Return a copy with these grades, in the order of :meth:`labels`; every label then has a grade."""
        known = np.ones(len(grades), dtype=bool)
        if reads == "support":
            return replace(self, support=replace(self.support, grade=grades, labelled=known))
        return replace(self, nuggets=replace(self.nuggets, grade=grades, labelled=known))


def _credit(grade: Floats, strict: bool) -> Floats:
    return np.where(np.isnan(grade), np.nan, grade == FULL) if strict else grade / FULL


def label_answers(
    *,
    answers: Answers | pd.DataFrame | None = None,
    nuggets: pd.DataFrame | None = None,
    nugget_assignments: NuggetLabels | pd.DataFrame | None = None,
    support: SupportLabels | pd.DataFrame | None = None,
) -> LabelledAnswers:
    """Combine answers with their labels.

    Parameters
    ----------
    answers
        Answers as read from files, or :data:`.ANSWERS`. Answers that occur only in labels are added.
    nuggets
        :data:`.NUGGETS`; by default those in the file of nugget assignments.
    nugget_assignments
        Nugget assignments as read from a file, or :data:`.NUGGET_ASSIGNMENTS`.
    support
        Support labels as read from a file, or :data:`.SUPPORT`. Sentences that they lack are taken from `answers`.

    Raises
    ------
    InputError
        A frame lacks columns or has a row twice, a grade is not from 0 to 2, nothing is given, or nugget assignments
        are given without nuggets.
    """
    assigned = nugget_assignments.assignments if isinstance(nugget_assignments, NuggetLabels) else nugget_assignments
    if nuggets is None and isinstance(nugget_assignments, NuggetLabels):
        nuggets = nugget_assignments.nuggets
    if assigned is not None and nuggets is None:
        raise InputError("nugget_assignments: expected nuggets as well; pass them as `nuggets`")
    supported = support.support if isinstance(support, SupportLabels) else support
    sentences = [part.sentences for part in (support, answers) if isinstance(part, SupportLabels | Answers)]
    nuggets = _checked(NUGGETS, nuggets, NUGGET)
    assigned = _checked(NUGGET_ASSIGNMENTS, assigned, [*KEYS, "nugget"])
    supported = _checked(SUPPORT, supported, [*SENTENCE, "position"])
    known = _sentences(sentences, supported)
    given = answers.answers if isinstance(answers, Answers) else answers
    listed = [] if given is None else [_checked(ANSWERS, given, KEYS)]
    for part, labels in ((nugget_assignments, assigned), (support, supported)):
        if isinstance(part, NuggetLabels | SupportLabels):
            listed.append(_without_unknown_words(_checked(ANSWERS, part.answers, KEYS), labels))
    every = [*listed, assigned[KEYS], supported[KEYS], known[KEYS]]
    table = _join_answers(every)
    if table.empty:
        raise InputError("expected answers or their labels, found none")
    notes: list[str] = []
    of_nuggets = _nugget_grades(table, nuggets, assigned, notes)
    of_support = _support_grades(table, known, supported)
    weighted = nuggets[nuggets["weight"].notna()]
    judged = support.answers if isinstance(support, SupportLabels) else supported  # also answers without citations
    topics: dict[Reads, frozenset[str]] = {
        "nugget assignments": frozenset(nuggets["query_id"].astype("str")),
        "weighted nuggets": frozenset(weighted["query_id"].astype("str")),
        "support": frozenset(judged["query_id"].astype("str")),
        "words": frozenset(table.loc[table["words"].notna(), "query_id"]),
    }
    return LabelledAnswers(table, of_nuggets, of_support, nuggets[NUGGET].astype("str"), topics, tuple(notes))


def _checked(schema: Schema, frame: pd.DataFrame | None, keys: list[str]) -> pd.DataFrame:
    """Return a checked frame with unique keys and grades from 0 to 2; an empty one for None."""
    if frame is None:
        return pd.DataFrame({name: pd.Series(dtype="str") for name in schema.names}).assign(weight=np.nan, grade=np.nan)
    checked = schema.check(frame)
    twice = checked.duplicated(keys)
    if twice.any():
        row = checked.loc[twice].iloc[0]
        names = ", ".join(f"{name} {literal(row[name])}" for name in keys)
        raise InputError(f"{schema.name}: expected one row for each {', '.join(keys)}, found two for {names}")
    if "grade" in schema.names:
        odd = checked.loc[(checked["grade"] < 0) | (checked["grade"] > FULL), "grade"]
        if len(odd):
            raise InputError(
                f"{schema.name}: expected grades from 0 to {FULL}, found {odd.iloc[0]:g}; leave labels without a grade "
                "empty"
            )
    return checked


def _without_unknown_words(answers: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return answers whose number of words is unknown, not 0, if a file of labels lacks their texts."""
    unknown = (answers["words"] == 0) & (answers["stated_words"] != 0) & _is_in(answers, labels, KEYS)
    return answers.assign(words=answers["words"].mask(unknown))


def _join_answers(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return each answer once, with its number of words if one of the parts has it."""
    table = pd.concat([part.reindex(columns=[*KEYS, "words"]) for part in parts], ignore_index=True)
    table = table.astype({"run": "str", "query_id": "str", "words": "float64"})
    return table.groupby(KEYS, sort=False)["words"].first().reset_index()


def _number(frame: pd.DataFrame, of: pd.DataFrame, keys: list[str]) -> Ints:
    """Return, for each row of a frame, the number of the row of `of` with the same unique keys, or -1."""
    return _keys_of(of, keys).get_indexer(_keys_of(frame, keys)).astype(np.int64)


def _is_in(frame: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> Bools:
    """Tell, for each row of a frame, whether another frame has a row with the same keys."""
    return np.asarray(_keys_of(frame, keys).isin(_keys_of(other, keys)))


def _keys_of(frame: pd.DataFrame, keys: list[str]) -> pd.MultiIndex:
    types = {key: "int64" if key == "sentence" else "str" for key in keys}
    return pd.MultiIndex.from_frame(frame[keys].astype(types))


def _nugget_grades(
    table: pd.DataFrame, nuggets: pd.DataFrame, assigned: pd.DataFrame, notes: list[str]
) -> NuggetGrades:
    names = nuggets[[*NUGGET, "importance", "weight"]].assign(number=np.arange(len(nuggets)))
    names["query_id"] = names["query_id"].astype("str")
    pairs = table[KEYS].assign(answer=np.arange(len(table))).merge(names, on="query_id")
    place = _number(assigned, pairs, [*KEYS, "nugget"])
    grade, labelled = np.full(len(pairs), np.nan), np.zeros(len(pairs), dtype=bool)
    grade[place[place >= 0]] = assigned["grade"].to_numpy(dtype=np.float64, na_value=np.nan)[place >= 0]
    labelled[place[place >= 0]] = True
    if unknown := int((place < 0).sum()):
        notes.append(
            f"{count(unknown, 'nugget assignment')} of nuggets that are not listed "
            f"{plural(unknown, 'is', 'are')} ignored"
        )
    if odd := int((labelled & np.isnan(grade)).sum()):
        notes.append(
            f"{count(odd, 'nugget assignment')} without a grade {plural(odd, 'counts', 'count')} as no support"
        )
    of_answer = np.bincount(pairs["answer"], labelled, len(table)) > 0
    if lacking := int((of_answer[pairs["answer"]] & ~labelled).sum()):
        notes.append(
            f"{count(lacking, 'nugget assignment')} {plural(lacking, 'is', 'are')} missing (not judged, or annotators "
            f"could not tell) in answers that have others, and {plural(lacking, 'is', 'are')} left out"
        )
    return NuggetGrades(
        pairs["answer"].to_numpy(dtype=np.int64),
        pairs["number"].to_numpy(dtype=np.int64),
        grade,
        labelled,
        (pairs["importance"] == "vital").to_numpy(dtype=bool),
        (pairs["importance"] == "okay").to_numpy(dtype=bool),
        pairs["weight"].to_numpy(dtype=np.float64, na_value=np.nan),
    )


def _sentences(parts: list[pd.DataFrame], supported: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences of each answer from the first part that has it, and those that occur only in labels."""
    known = pd.DataFrame({**{name: pd.Series(dtype="str") for name in KEYS}, "sentence": pd.Series(dtype="int64")})
    known["citations"] = pd.Series(dtype="object")
    bare = supported[SENTENCE].drop_duplicates()
    bare["citations"] = pd.Series([()] * len(bare), index=bare.index, dtype="object")
    for part in (*(_checked(SENTENCES, each, SENTENCE) for each in parts), bare):
        new = part[~_is_in(part, known, KEYS)]
        known = pd.concat([known, new[[*SENTENCE, "citations"]]], ignore_index=True)
    return known.astype({"sentence": "int64"})


def _support_grades(table: pd.DataFrame, sentences: pd.DataFrame, supported: pd.DataFrame) -> SupportGrades:
    labels = supported[[*SENTENCE, "position", "doc_id", "grade"]].assign(labelled=True)
    cited = sentences.explode("citations").rename(columns={"citations": "doc_id"})
    cited["position"] = cited.groupby(SENTENCE, sort=False).cumcount()
    cited = cited[cited["doc_id"].notna()]
    cited = cited[~_is_in(cited, labels, [*SENTENCE, "doc_id"])]
    every = pd.concat([labels, cited.assign(grade=np.nan, labelled=False)], ignore_index=True)
    sentence = _number(every, sentences, SENTENCE)
    if (sentence < 0).any():
        row = every.loc[sentence < 0].iloc[0]
        raise InputError(
            f"support: expected sentences that the answers have, found sentence {row['sentence']} of topic "
            f"{row['query_id']} and run {row['run']}"
        )
    position = every["position"].to_numpy(dtype=np.float64)
    order = np.lexsort((position, sentence))  # so that the order does not depend on which citations have labels
    every, sentence, position = every.iloc[order], sentence[order], position[order]
    earliest = np.full(len(sentences), np.inf)
    np.minimum.at(earliest, sentence, position)
    return SupportGrades(
        _number(sentences, table, KEYS),
        sentence,
        position == earliest[sentence],
        every["grade"].to_numpy(dtype=np.float64, na_value=np.nan),
        every["labelled"].to_numpy(dtype=bool),
        every[[*SENTENCE, "doc_id"]].reset_index(drop=True),
    )
