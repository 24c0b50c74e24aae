"""Wire format of the annotator's own judgements, near-duplicates, time and settings; see :mod:`.wire`."""

from collections.abc import Mapping
from typing import Annotated, NotRequired, TypedDict

from annotate.card.server.wire import TIME, Answers, Longest, Most, SaidGrade, SaidJudgement, Whole
from collection.core.records import Kind


class HistoryRequest(TypedDict):
    """Ask for the annotator's judgements that meet all conditions."""

    query_id: NotRequired[str | None]
    grade: NotRequired[int | str | None]  # Or "cannot judge" or "flagged".
    words: NotRequired[Annotated[str | None, Longest(500)]]
    before: NotRequired[Annotated[int | None, Whole(1)]]  # The id of the last entry that the card has.
    limit: NotRequired[Annotated[int, Whole(1)]]


class EarlierJudgement(TypedDict):
    """A judgement that was replaced or undone."""

    kind: Kind
    relevance: int | None
    judged_at: str
    answers: NotRequired[Answers]  # To further questions, if there are any.


class PastJudgement(SaidJudgement):
    """A current judgement of the annotator."""

    id: int
    query_id: str
    topic: str  # Its title.
    doc_id: str
    title: str
    judged_at: str
    former: list[EarlierJudgement]  # Of the same pair, newest first.


class HistoryAnswer(TypedDict):
    """Judgements, newest first; `more`: there are older ones."""

    entries: list[PastJudgement]
    more: bool


class NearRequest(TypedDict):
    """Ask for near-duplicates of documents among themselves and among the annotator's judged ones of the topic."""

    query_id: str
    doc_ids: Annotated[list[str], Most(50)]


class NearDuplicate(TypedDict):
    """A near-duplicate of a document."""

    doc_id: str
    title: str
    similarity: float  # From 0 to 1.
    said: SaidGrade | None


class NearAnswer(TypedDict):
    """Near-duplicates by document, the most similar first."""

    near: dict[str, list[NearDuplicate]]
    more: bool  # Some are not compared yet: ask again some seconds later.


class TimeRequest(TypedDict):
    """Ask for the annotator's working time."""

    day: NotRequired[Annotated[str | None, TIME]]  # The start of their day, with its offset from UTC.


class Work(TypedDict):
    """A number of judgements, and the time at work and away, in words."""

    judgements: int
    active: str
    away: str


class TopicTime(TypedDict):
    """A topic with the annotator's judgements, in words."""

    query_id: str
    title: str
    words: str


class TimeAnswer(TypedDict):
    """The annotator's working time."""

    today: Work
    session: Work  # Without a long pause, until now.
    since: str | None  # When the session began, if there is one.
    pace: str
    since_break: float  # Seconds at work since the last break of five minutes.
    topics: list[TopicTime]  # Started ones first, finished ones last.
    others: int  # Further topics.
    left: str  # How much is left, and for how long.


class SettingsRequest(TypedDict):
    """Keep how the annotator has arranged the card."""

    settings: Mapping[str, object]


class SettingsAnswer(TypedDict):
    """Nothing."""
