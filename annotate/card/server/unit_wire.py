"""Wire format of lists, preferences and adjudication, whose cards get units; the rules are those of :mod:`.wire`."""

from typing import Annotated, NotRequired, TypedDict

from annotate.card.server.wire import (
    CHOSEN,
    HELD,
    NAMES,
    SENT,
    SHOWN,
    UNREAD,
    Answers,
    Decision,
    DocumentPayload,
    HeldDocument,
    Refused,
    SaidJudgement,
    Task,
    TopicWords,
    Whole,
)
from collection.core.records import ChoiceKind, Kind, PreferenceKind


class ListDecision(Decision):
    """The documents chosen from a list."""

    kind: ChoiceKind
    shown: Annotated[list[str], SHOWN]  # Ids in display order; empty for "undone".
    chosen: Annotated[list[str], CHOSEN]  # Empty for "chosen" means none of these.


class PreferenceDecision(Decision):
    """The better one of two documents, which may be named the other way round than in the plan."""

    kind: PreferenceKind
    left: str
    right: str


class AdjudicationDecision(Decision):
    """An adjudicated grade.

    Refused if another manager has adjudicated the pair meanwhile, if annotators do not differ on it, or if its document
    has no text yet.
    """

    doc_id: str
    kind: Kind
    relevance: int | None  # Null unless `kind` is "graded".
    answers: NotRequired[Answers]  # To further questions; [] confirms that no tag applies.


class PairFilter(TypedDict, total=False):
    """Filter of the pairs to adjudicate; see :func:`collection.adjudication.filter_queue`."""

    why: str | None
    query_id: str | None
    distance: Annotated[int | None, Whole(0, 999)]
    names: Annotated[list[str], NAMES]
    question: str | None


class UnitSyncRequest(TypedDict):
    """Save decisions, then ask for units. Without wants and while reservations are young, only decisions are saved."""

    decisions: NotRequired[
        Annotated[list[Annotated[ListDecision | PreferenceDecision | AdjudicationDecision, UNREAD]], SENT]
    ]
    holding: NotRequired[Annotated[list[str], HELD]]  # Units that the card holds; the first is on screen.
    want: NotRequired[int]
    due: NotRequired[bool]  # Adjudication: answer `closed` and `progress` even if decisions are sent and nothing else.
    filter: NotRequired[PairFilter | None]  # Adjudication.
    leave: NotRequired[bool]  # As for grades.
    version: NotRequired[str]  # As for grades.


class PastDecision(TypedDict):
    """The fields of the annotator's earlier decisions."""

    uuid: str | None
    query_id: str
    reason: str | None
    note: str | None
    judged_at: str | None
    title: NotRequired[str]  # Of a recent decision: that of its topic or, for adjudication, its document.


class PastListDecision(PastDecision):
    """The annotator's decision on a list."""

    kind: ChoiceKind
    shown: list[str]
    chosen: list[str]


class PastPreferenceDecision(PastDecision):
    """The annotator's decision on two documents."""

    kind: PreferenceKind
    left: str
    right: str


class PastAdjudication(PastDecision):
    """The manager's current adjudication of a pair."""

    doc_id: str
    kind: Kind
    relevance: int | None
    answers: NotRequired[Answers]  # To further questions, if there are any.


class PlannedComparison(TypedDict):
    """A comparison, and what follows each answer, so that no key waits for the network."""

    pair: tuple[str, str] | None  # Left and right; null: the topic is decided.
    then: NotRequired["dict[PreferenceKind, PlannedComparison]"]  # For left, right, equal, cannot judge; missing: ask.


class Plan(TypedDict):
    """The comparisons of a topic.

    The plan of the first topic in hand looks some answers ahead, that of the others one. For decisions that it has not
    sent yet, a card follows ``then[kind]`` from `next`; where that ends, it sends them and waits for the next plan.
    """

    next: PlannedComparison
    done: int  # Pairs.
    expected: int  # Pairs, an upper bound, which falls.


class Opinion(SaidJudgement):
    """One annotator's judgement of the pair."""

    annotator: str
    quotes: list[str]  # The texts of `passages`.
    seconds: float | None
    judged_at: str | None


class ListUnit(TypedDict):
    """A topic whose documents are chosen from; after a decision, the documents are those shown then."""

    topic: TopicWords
    documents: list[DocumentPayload]  # In display order, cut after 4,000 characters.
    former: PastListDecision | None


class PreferenceUnit(TypedDict):
    """A topic whose documents are compared."""

    topic: TopicWords
    documents: list[DocumentPayload]  # Cut after 4,000 characters.
    plan: Plan
    former: list[PastPreferenceDecision]


class AdjudicationUnit(TypedDict):
    """A pair with its opinions, lowest grade first."""

    topic: TopicWords
    documents: list[DocumentPayload]  # One.
    opinions: list[Opinion]
    former: PastAdjudication | None


Unit = ListUnit | PreferenceUnit | AdjudicationUnit


class UnitProgress(TypedDict):
    """Topics of the annotator, or pairs of the filter, without those whose document has no text."""

    done: int
    goal: int


class UnitSyncAnswer(TypedDict):
    """Saved decisions, and the next units; pairs that another manager holds come last."""

    task: Task  # The campaign's now; if not the card's, the page has to be reloaded.
    saved: list[str]
    refused: list[Refused]
    units: list[ListUnit | PreferenceUnit | AdjudicationUnit]
    plans: NotRequired[dict[str, Plan]]  # Of topics with a saved decision and the first held; without decisions, all.
    closed: list[str]  # Held units that need no decision or were taken over: drop those without work in progress.
    version: NotRequired[str]  # As for grades.
    changed: NotRequired[list[HeldDocument]]  # As for grades: documents of the held units.
    exhausted: bool  # Nothing more is open to the annotator now.
    progress: NotRequired[UnitProgress]  # Missing for adjudication where nothing but decisions was sent: see `due`.


class UnitRecentRequest(TypedDict):
    """Ask for the annotator's latest decisions."""

    limit: NotRequired[int]


class UnitRecentAnswer(TypedDict):
    """Decisions with a title, newest first, without undone ones."""

    decisions: list[PastListDecision] | list[PastPreferenceDecision] | list[PastAdjudication]


class UnitRequest(TypedDict):
    """Ask for a unit, to decide it again: a pair, or a topic that is or was the annotator's; 400 for any other."""

    unit: str
