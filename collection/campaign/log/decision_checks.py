"""Checks of the decisions of annotators: judgements, choices and preferences."""

from __future__ import annotations

from collections.abc import Container, Sequence

from collection.core.characters import require_writable
from collection.core.errors import InputError, JudgementError
from collection.core.phrases import count, join
from collection.core.questions import (
    MOST_QUESTIONS,
    Question,
    check_question_name,
    describe_bounds,
    find_missing,
    kind_of,
    read_answer,
)
from collection.core.records import (
    CHOICE_KINDS,
    PREFERENCE_KINDS,
    Answer,
    Choice,
    GradeScale,
    Judgement,
    Preference,
)


def check_annotator(decision: Judgement | Choice | Preference, what: str) -> None:
    """Refuse a decision without a proper name of its annotator, or with text that UTF-8 cannot write."""
    name = decision.annotator
    if not name or name != name.strip() or not name.isprintable():
        wanted = f"expected the annotator of a {what} as one line without surrounding blanks"
        raise JudgementError(f"{wanted}, found {name!r}")
    if not decision.uuid:
        raise JudgementError(f"expected a {what} with a uuid, found {decision.uuid!r}")
    require_writable(decision, what, JudgementError)


def check_judgement(j: Judgement, grades: GradeScale, current: int | None) -> None:
    """Refuse a judgement whose fields contradict its kind; `current` is the entry that an undo refers to."""
    is_grade = not isinstance(j.relevance, bool) and j.relevance in grades
    if j.kind == "graded" and not is_grade:
        raise JudgementError(f"expected a grade of this campaign ({grades}), found {j.relevance!r}")
    _check_reason(j)
    if j.kind != "graded" and j.relevance is not None:
        raise JudgementError(f"expected no grade with {j.kind!r}, found {j.relevance}")
    if j.kind == "undone" and current is None:
        what = "adjudication" if j.counts_as == "adjudication" else "judgement"
        raise JudgementError(f"{j.annotator} has no {what} of {j.doc_id!r} to undo")
    if j.flagged not in (True, False):
        raise JudgementError(f"expected flagged as True or False, found {j.flagged!r}")
    for passage in j.passages:
        match passage:
            case (int(start), int(end)) if 0 <= start < end:
                pass
            case _:
                raise JudgementError(f"expected a passage as (start, end) with 0 <= start < end, found {passage!r}")


def checked_answers(j: Judgement, questions: Sequence[Question], *, complete: bool) -> dict[str, Answer]:
    """Return the answers of a judgement in their form, by question in the order of the names.

    Parameters
    ----------
    questions
        The further questions of the campaign.
    complete
        Whether an unknown question, a question that is not asked at this grade, and (except for adjudications) a
        missing required answer are refused. A card that was opened before the questions were changed may lack answers,
        or have others: those are kept if they are well formed.

    Raises
    ------
    JudgementError
        An answer is not valid.
    """
    by_name, answers = {question.name: question for question in questions}, {}
    if j.answers and j.kind != "graded":
        raise JudgementError(f"expected no answers with {j.kind!r}, found one to {next(iter(j.answers))!r}")
    if len(j.answers) > MOST_QUESTIONS:
        raise JudgementError(f"expected answers to at most {MOST_QUESTIONS} questions, found {len(j.answers)}")
    for name, answer in sorted(j.answers.items()):
        question = by_name.get(name)
        if complete and question is None:
            known = join(by_name) if by_name else "none"
            raise JudgementError(f"expected answers to the questions of this campaign ({known}), found {name!r}")
        if complete and question is not None and not question.is_asked(j.relevance):
            raise JudgementError(f"the question {name!r} is asked at {describe_bounds(question)}, found {j.relevance}")
        if question is None:
            try:
                check_question_name(name)
            except InputError as error:
                raise JudgementError(str(error)) from None
        try:
            answers[name] = read_answer(answer) if question is None else question.check(answer)
        except JudgementError:
            if complete or question is None or kind_of(answer) != question.kind:
                raise
            answers[name] = read_answer(answer)
    if (
        complete
        and j.counts_as != "adjudication"
        and (missing := find_missing(questions, j.relevance, answers, j.query_id))
    ):
        raise JudgementError(f"expected an answer to the question {missing[0].name!r}, found none")
    return answers


def check_choice(c: Choice, documents: Container[str], most: int) -> None:
    """Refuse a choice of unknown or repeated documents, or of more than `most`."""
    if c.kind not in CHOICE_KINDS:
        raise JudgementError(f"expected a kind of choice ({', '.join(CHOICE_KINDS)}), found {c.kind!r}")
    _check_documents(c.shown, documents)
    for name, ids in (("shown", c.shown), ("chosen", c.chosen)):
        if len(set(ids)) < len(ids):
            twice = next(doc_id for doc_id in ids if ids.count(doc_id) > 1)
            raise JudgementError(f"expected each {name} document once, found {twice!r} twice")
    strange = [doc_id for doc_id in c.chosen if doc_id not in c.shown]
    if strange:
        raise JudgementError(f"expected chosen documents among those shown, found {strange[0]!r}")
    if c.kind == "chosen" and not c.shown:
        raise JudgementError("expected the documents that were shown, found none")
    if len(c.chosen) > most:
        raise JudgementError(f"expected at most {count(most, 'chosen document')}, found {len(c.chosen)}")
    if c.kind != "chosen" and c.chosen:
        raise JudgementError(f"expected no chosen document with {c.kind!r}, found {c.chosen[0]!r}")
    _check_reason(c)


def check_preference(p: Preference, documents: Container[str]) -> None:
    """Refuse a preference between unknown documents, or of a document with itself."""
    if p.kind not in PREFERENCE_KINDS:
        raise JudgementError(f"expected a kind of preference ({', '.join(PREFERENCE_KINDS)}), found {p.kind!r}")
    _check_documents((p.left, p.right), documents)
    if p.left == p.right:
        raise JudgementError(f"expected two different documents, found {p.left!r} twice")
    _check_reason(p)


def _check_documents(doc_ids: tuple[str, ...], documents: Container[str]) -> None:
    for doc_id in doc_ids:
        if doc_id not in documents:
            raise JudgementError(f"document {doc_id!r} is not in the campaign")


def _check_reason(decision: Judgement | Choice | Preference) -> None:
    if decision.kind == "cannot judge" and not (decision.reason or "").strip():
        raise JudgementError('expected a reason for "cannot judge", found none')
