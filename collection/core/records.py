"""Records that packages exchange; :mod:`collection.core.frames` has the schemas of frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar
from urllib.parse import unquote

from collection.core.characters import natural_key, require_writable, unescaped
from collection.core.errors import ColumnsError, InputError
from collection.core.phrases import count

if TYPE_CHECKING:
    import pandas as pd

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, as ranges for a regular expression: Thai, Lao, Burmese, Khmer, kana, Han."""

T = TypeVar("T", bound=int | str)

ALL_TOPICS = "all"
"""The ``query_id`` of a mean over topics, as trec_eval writes it."""

Kind = Literal["graded", "cannot judge", "undone"]
KINDS: tuple[Kind, ...] = ("graded", "cannot judge", "undone")
"""Kinds of rows of the judgement log; an undone pair is unjudged again."""

QRELS_ANNOTATOR = "qrels:"
"""Prefix of the annotators of imported qrels (``qrels:NAME``), which no person's name may have."""

LONGEST_LEASE = 7 * 24 * 3600.0
"""Maximum seconds for which a document or topic is held for an annotator."""

CountsAs = Literal["judgement", "adjudication", "surplus"]
COUNTS_AS: tuple[CountsAs, ...] = ("judgement", "adjudication", "surplus")
"""What a row of the log counts as; surplus judgements came after the pair had enough judgements."""

JudgementFormat = Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"]
"""Format of judgements for trec_eval, the value of its option ``-R``."""

ChoiceKind = Literal["chosen", "cannot judge", "undone"]
CHOICE_KINDS: tuple[ChoiceKind, ...] = ("chosen", "cannot judge", "undone")
"""Kinds of rows of the log of choices; "chosen" without documents is "none of these"."""

PreferenceKind = Literal["left", "right", "equal", "cannot judge", "undone"]
PREFERENCE_KINDS: tuple[PreferenceKind, ...] = ("left", "right", "equal", "cannot judge", "undone")
"""Kinds of rows of the log of preferences."""

Answer = int | str | tuple[str, ...]
"""Answer to a further question: a grade, the name of an answer, or the names of tags in their order."""

HIGHEST_GRADE = 20
"""Highest grade that a scale may have."""

Role = Literal["manager", "annotator", "reader"]
ROLES: dict[Role, str] = {
    "manager": "build the campaign, judge, adjudicate and manage accounts",
    "annotator": "judge assigned topics and change earlier judgements",
    "reader": "see and export all results, without changing anything",
}
"""Role -> its permissions."""


class Document(NamedTuple):
    """A document. `text` is None if only the id is known.

    Examples
    --------
    >>> Document("d1", title="Lift", text="The lift of a thin wing.").metadata
    {}
    """

    doc_id: str
    title: str = ""
    text: str | None = None
    metadata: Mapping[str, object] = {}


# A DOI made of a SICI has "<356::AID-CNCR1>" in it, without which it would be that of the whole issue; several DOIs of
# a field may be separated by a semicolon alone.
_DOI = re.compile(
    r"(?<![\d.])10\.\d{1,9}(?:\.\d+)*/(?:<[^\s<>]{0,60}::[^\s<>]{0,60}>|(?![;,|]10\.\d{4})[^\s\"<>\u200b\ufeff]){1,500}"
)
_PREPRINT = re.compile(r"\A(10\.1101/[\d.]*\d)v\d+(?:\..*)?\Z")
"""The DOI in an address of a version of a preprint of bioRxiv or medRxiv."""
_DOI_REST = re.compile(r"(?:\?\w+=.*|/(?:abstract|e?pdf|full|fulltext|meta|summary)|[.,;:/'\u2019\]}]+)\Z", re.I)


def is_made_id(doc_id: str) -> bool:
    """Return whether an id was made of the words of a record that had neither DOI nor PMID.

    >>> is_made_id("rc548851dcfc9"), is_made_id("10.1000/182")
    (True, False)
    """
    return re.fullmatch("r[0-9a-f]{12}", doc_id) is not None


def find_dois(text: str) -> list[str]:
    """The different DOIs in a text, in lower case, without what follows them in addresses and sentences.

    >>> find_dois("https://doi.org/10.1000%2FWing.7/; 10.1000/lift (10.1000/drag)")
    ['10.1000/wing.7', '10.1000/lift', '10.1000/drag']
    """
    decoded = unescaped(unquote(text) if "%" in text else text)
    return list(dict.fromkeys(filter(None, (_trim_doi(match[0]) for match in _DOI.finditer(decoded)))))


def _trim_doi(doi: str) -> str:
    before = ""
    while doi != before:
        before, doi = doi, _DOI_REST.sub("", doi)
        doi = doi.removesuffix(")" if doi.count(")") > doi.count("(") else "")
    doi = _PREPRINT.sub(r"\1", doi)
    return doi.lower() if not doi.endswith("/") and "/" in doi else ""


class DuplicateRecord(NamedTuple):
    """A bibliographic record of an imported file that is, or may be, the publication of another document.

    `duplicate_of` is the document that was kept, `kept_from` the file and line that it came from in the same import
    ('' for a document of an earlier one), and `reason` what the two have in common. A record that was not left out was
    imported under its `doc_id`. `merged` names the fields that the kept document took from the record that was left
    out, separated by commas.
    """

    file: str
    line: int
    doc_id: str
    title: str
    duplicate_of: str
    kept_from: str
    reason: str
    certain: bool
    left_out: bool
    merged: str = ""


class Topic(NamedTuple):
    """An information need. `fields` are its other fields, with values as in JSON.

    Examples
    --------
    >>> Topic("301", "wing flow", description="Which papers measure the flow around a wing?").fields
    {}
    """

    query_id: str
    title: str = ""
    description: str = ""
    narrative: str = ""
    fields: Mapping[str, object] = {}


class Run(NamedTuple):
    """One system's ranking: its name and its frame (:data:`collection.core.frames.RUN`).

    Examples
    --------
    >>> import pandas as pd
    >>> Run("bm25", pd.DataFrame({"query_id": ["301"], "doc_id": ["d1"], "score": [17.5]})).name
    'bm25'
    """

    name: str
    frame: pd.DataFrame

    def __repr__(self) -> str:
        return (
            f"Run({self.name!r}, {count(len(self.frame), 'row')}, {count(self.frame['query_id'].nunique(), 'topic')})"
        )


class Judgement(NamedTuple):
    """One annotator's decision on a pair, as it is written to the log.

    `kind` is "graded" (with a `relevance`), "cannot judge" (with a `reason`) or "undone"; `counts_as` is "judgement",
    "adjudication" or "surplus". The client makes the `uuid`, so writing is idempotent. `shown_at` and `judged_at` are
    ISO 8601 in UTC; `seconds` is the time on screen with the page in front, `away` the other seconds since `shown_at`.
    `strategy`, `pool_rank`, `model_round` and `probability` record how the pair was chosen. `revises` is the uuid of
    the judgement that this one replaces. `flagged` is whether the annotator asked for a review. `passages` are marked
    passages, [start, end) in code points of the text as shown. `answers` are those to the further questions of
    the campaign (:class:`collection.core.questions.Question`), by the names of the questions.

    Examples
    --------
    >>> Judgement("6f1c", "ann", query_id="301", doc_id="d1", kind="graded", relevance=2).counts_as
    'judgement'
    """

    uuid: str
    annotator: str
    query_id: str
    doc_id: str
    kind: Kind
    relevance: int | None = None
    reason: str | None = None
    judged_at: str = ""
    shown_at: str | None = None
    seconds: float | None = None
    source: str = "script"
    strategy: str | None = None
    pool_rank: int | None = None
    model_round: int | None = None
    probability: float | None = None
    revises: str | None = None
    note: str | None = None
    counts_as: CountsAs = "judgement"
    away: float | None = None
    flagged: bool = False
    passages: tuple[tuple[int, int], ...] = ()
    answers: Mapping[str, Answer] = {}


class Choice(NamedTuple):
    """One annotator's choice for a topic from a list of documents.

    `shown` are the documents in the order on screen, `chosen` those that answer the topic. Documents that were shown
    but not chosen are unjudged. Other fields are as in :class:`Judgement`; a choice replaces the annotator's previous
    one for the topic.
    """

    uuid: str
    annotator: str
    query_id: str
    kind: ChoiceKind
    shown: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    reason: str | None = None
    judged_at: str = ""
    shown_at: str | None = None
    seconds: float | None = None
    away: float | None = None
    source: str = "script"
    note: str | None = None
    revises: str | None = None


class Preference(NamedTuple):
    """One annotator's preference between two documents, `left` and `right` on screen, for a topic.

    Other fields are as in :class:`Judgement`; a preference replaces the annotator's previous one for the same two
    documents.
    """

    uuid: str
    annotator: str
    query_id: str
    left: str
    right: str
    kind: PreferenceKind
    reason: str | None = None
    judged_at: str = ""
    shown_at: str | None = None
    seconds: float | None = None
    away: float | None = None
    source: str = "script"
    note: str | None = None
    revises: str | None = None


class Candidate(NamedTuple):
    """A pair that one annotator may judge next; a tuple, since every save in the loop reads many.

    Attributes
    ----------
    rank
        Position in the order of judging; in the pool, the best rank of any run.
    held_back
        Whether the text of its document is missing (:func:`collection.store.connection.held_back`).
    own, others, leased
        Whether this annotator has judged it, number of others who have, and number of further annotators who hold a
        lease.
    skipped
        Time when this annotator last skipped it, in seconds since 1970; None: never.
    wanted
        Number of annotators that it needs.
    adjudicated, qualification
        Whether it was adjudicated; whether it is in the qualification set.
    """

    doc_id: str
    rank: int
    held_back: bool = False
    own: bool = False
    others: int = 0
    leased: int = 0
    skipped: float | None = None
    wanted: int = 1
    adjudicated: bool = False
    qualification: bool = False


def label_of(answer: int | str, sentence: str) -> str:
    """The label of a grade or answer: its sentence up to the first colon; never empty."""
    return sentence.split(":", 1)[0].strip() or sentence.strip(": ") or str(answer)


def names_of(sentences: Mapping[T, str]) -> dict[str, T]:
    """Labels and sentences in lower case -> their grade or answer, except those that several share.

    >>> names_of({"pop": "Wrong: population", "des": "Wrong: design"})
    {'wrong: population': 'pop', 'wrong: design': 'des'}
    """
    texts = {answer: {text.strip().casefold() for text in (label_of(answer, s), s)} for answer, s in sentences.items()}
    number = Counter(text for several in texts.values() for text in several)
    return {text: answer for answer, several in texts.items() for text in sorted(several) if number[text] == 1}


class GradeScale:
    """The grades of a question, lowest first.

    `sentences`: grade -> sentence, which may begin with a short label and a colon; `name` names the scale in errors.
    Raises :class:`InputError` for fewer than two grades, a grade that is no whole number from 0 to 20, or a sentence
    that cannot be written as UTF-8.

    Examples
    --------
    >>> GradeScale({0: "No: does not answer it", 1: "Yes: answers it"}).label(1)
    'Yes'
    """

    def __init__(self, sentences: Mapping[int, str], name: str = "grades") -> None:
        wrong = [g for g in sentences if not isinstance(g, int) or isinstance(g, bool) or not 0 <= g <= HIGHEST_GRADE]
        if wrong or len(sentences) < 2:
            raise InputError(
                f"{name}: expected two or more whole numbers from 0 to {HIGHEST_GRADE}, "
                f"found {sorted(map(str, sentences)) or 'none'}"
            )
        self.sentences: dict[int, str] = {g: str(sentences[g]) for g in sorted(sentences)}
        for grade, sentence in self.sentences.items():
            require_writable(sentence, f"sentence of grade {grade}")

    def __contains__(self, grade: object) -> bool:
        return grade in self.sentences

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradeScale) and self.sentences == other.sentences

    def __hash__(self) -> int:
        return hash(tuple(self.sentences.items()))

    def __repr__(self) -> str:
        return f"GradeScale({self.sentences!r})"

    def __str__(self) -> str:
        return ", ".join(map(str, self.sentences))

    def label(self, grade: int) -> str:
        """The sentence up to the first colon; never empty."""
        return label_of(grade, self.sentences[grade])

    def levels(self, current: int | None = None) -> list[int]:
        """The grades that can be the minimum relevant one: all but the lowest, and the `current` one, lowest first.

        >>> GRADE_SCALES["0-3"].levels()
        [1, 2, 3]
        """
        lowest = min(self.sentences)
        return [grade for grade in self.sentences if grade > lowest or 0 < grade == current]

    @property
    def names(self) -> dict[str, int]:
        """Labels and sentences in lower case -> grade, except those that several grades share.

        >>> GradeScale({0: "No: does not answer it", 1: "Yes: answers it"}).names["yes"]
        1
        """
        return names_of(self.sentences)


GRADE_SCALES: dict[str, GradeScale] = {
    "0-1": GradeScale(
        {
            0: "Not relevant: does not help with the topic",
            1: "Relevant: helps with the topic, fully or in part",
        }
    ),
    "0-3": GradeScale(
        {
            0: "Not relevant: has nothing to do with the topic",
            1: "Related: is about the topic but does not answer it",
            2: "Relevant: answers the topic in part, or among other things",
            3: "Perfect: is dedicated to the topic and answers it",
        }
    ),
}
"""Scales of relevance with sentences, by name; :func:`read_scale` makes any other one."""


def read_scale(ends: str) -> GradeScale | None:
    """A scale of whole numbers such as "1-5", with sentences that name only its ends; None for any other text.

    >>> read_scale("0-2").sentences
    {0: 'Lowest: grade 0 of 0 to 2', 1: 'Grade 1: of 0 to 2', 2: 'Highest: grade 2 of 0 to 2'}
    """
    match = re.fullmatch(r"\s*(\d{1,2})\s*[-\u2013]\s*(\d{1,2})\s*", ends, re.ASCII)
    if match is None:
        return None
    low, high = int(match[1]), int(match[2])
    if not low < high <= HIGHEST_GRADE:
        raise InputError(
            f"grades: expected two different grades from 0 to {HIGHEST_GRADE}, the lower one first, such as 0-4, found "
            f"{ends.strip()!r}"
        )
    sentences = {grade: f"Grade {grade}: of {low} to {high}" for grade in range(low, high + 1)}
    sentences[low], sentences[high] = (
        f"{name}: grade {g} of {low} to {high}" for name, g in (("Lowest", low), ("Highest", high))
    )
    return GradeScale(sentences)


def sort_naturally(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by ``query_id`` with numbers by size, stable; sort by other columns afterwards, with ``kind="stable"``.

    >>> import pandas as pd
    >>> sort_naturally(pd.DataFrame({"query_id": ["10", "1", "2"]}))["query_id"].tolist()
    ['1', '2', '10']
    """
    ids = frame["query_id"].astype("str")
    place = {text: number for number, text in enumerate(sorted(set(ids), key=natural_key))}
    return frame.iloc[ids.map(place).argsort(kind="stable").to_numpy()]


def require_columns(frame: pd.DataFrame, columns: Iterable[str], what: str) -> None:
    """Raise :class:`ColumnsError` if `frame` lacks one of `columns`; `what` names the reader."""
    if missing := [c for c in columns if c not in frame.columns]:
        raise ColumnsError(what, missing, map(str, frame.columns))


class Finding(NamedTuple):
    """Something that a check found."""

    serious: bool
    """Whether somebody has to act; otherwise Cleverdon deals with it."""
    sentence: str
    """What is wrong and what to do, without a capital and a full stop."""
    part: str = ""
    """What it is about, without the names that the sentence may have: "database", "runs"."""
