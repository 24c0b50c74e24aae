"""Wire format of the cards and their routes: with its neighbours, the one definition of every request and answer.

All routes are POST with a JSON object, below :data:`~annotate.card.server.document_payload.PREFIX`; the header
``X-Cleverdon-Token`` names the annotator. Any other status than 200 comes with an :class:`ErrorAnswer`: after 401 the
card asks ``token`` for a new token, after 503 it keeps its decisions and tries again. :data:`.route_types.ROUTES` has
the types of each route, by which requests are checked (:mod:`.fields`) before a handler gets them.

Here are the types of judging with grades, and those that several routes share. :mod:`.history_wire`,
:mod:`.nugget_wire` and :mod:`.unit_wire` have the types of the routes in ``history_routes.py`` and so on.

Places and lengths are code points, durations seconds, points in time ISO 8601. ``query_id`` and ``doc_id`` are the
campaign's own ids, a uuid is made by the card. The comment after a field becomes its JSDoc in
``annotate/card/wire.d.ts``, which ``make wire`` writes.

A card sends a decision until its uuid is in ``saved`` (its transaction is on disk) or in ``refused``; sending one again
writes nothing and gets the same answer. One refused decision does not keep the others from being saved. The server
refuses requests with longer lists than :class:`Most` allows; a card sends the rest in its next request.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from annotate.card.server.lenient import read_flag, read_note, read_passages, read_seconds, read_source
from collection.core.records import Kind

Payload = Mapping[str, object]  # a request as it came, unchecked
UnitTaskName = Literal["list", "preference", "adjudication"]
Task = Literal["grades", UnitTaskName]
Source = Literal["key", "click"]


class Most(NamedTuple):
    """The maximum number of items in a list of a request, and what an error calls them; else the name of the field."""

    items: int
    noun: str | None = None


class Longest(NamedTuple):
    """The number of characters after which a text of a request is cut."""

    characters: int


class Whole(NamedTuple):
    """The bounds of a whole number in a request; the upper one is what the database and JavaScript can store."""

    least: int
    most: int = 2**53 - 1


class Form(NamedTuple):
    """Expected form of a text, in the words of an error."""

    words: str


class Lenient(NamedTuple):
    """A value of any type, which `read` makes a sound one: no decision is lost for a malformed one."""

    read: Callable[[object], object]


SENT, HELD, TRIED, NAMES = Most(50), Most(1000), Most(1000), Most(1000)
"""Decisions or skips; documents, pairs or topics that a card holds; topics; annotators or questions."""
SHOWN, CHOSEN = Most(200, "documents in shown"), Most(200, "documents in chosen")
TIME = Form("a time in ISO 8601")
SECONDS, NOTE, SOURCE = Lenient(read_seconds), Lenient(read_note), Lenient(read_source)
FLAG, PASSAGES = Lenient(read_flag), Lenient(read_passages)
ANSWERS = Form("an object with a grade, an answer or a list of tags for each question")
Answers = Annotated[dict[str, int | str | list[str]], ANSWERS]
"""Answers to further questions, by their names: a grade, the name of an answer, or names of tags."""

UNREAD = Lenient(lambda value: value)
"""A decision: each is read on its own, so that one that is refused does not keep the others from being saved."""

# --- documents and topics


class Image(TypedDict):
    """An image of a document."""

    src: str
    alt: str
    link: bool  # Only a link is drawn, since the manager has not allowed the host.


class Pdf(TypedDict):
    """The PDF file of a document."""

    file: str  # Address to open in a tab; a file that was not checked for scripts is only downloaded.
    shown: str | None  # Address for the browser's viewer; null if it must not be shown.
    pages: int
    width: float  # Of the first page, in points, as its height.
    height: float


class MachineLabel(TypedDict):
    """A label of a pair that no person gave."""

    label_set: str
    relevance: float


class SaidGrade(TypedDict):
    """The annotator's grade of a document."""

    kind: Kind
    relevance: int | None
    reason: str | None


class SaidJudgement(SaidGrade):
    """The annotator's judgement of a document."""

    note: str | None
    flagged: bool
    passages: list[tuple[int, int]]
    answers: NotRequired[Answers]  # To further questions, if there are any.


class AnswerAround(TypedDict):
    """The answer around a sentence whose support is judged."""

    sentences: list[str]
    at: int  # Number of the judged sentence, from 0.


class ListedNugget(TypedDict):
    """A nugget of an answer, as a document of the task of nugget assignment."""

    doc_id: str
    title: str


class DocumentPayload(TypedDict):
    """A document as the annotator sees it, without a word on how it came into the pool."""

    doc_id: str
    title: str
    form: Literal["text", "preformatted", "markup"]
    text: str | None  # Plain in every form, cut if `truncated`; null where the campaign has none.
    html: str | None  # For "markup" that is not cut: safe to draw, with `text` as its textContent.
    length: int  # Of the whole text.
    truncated: bool
    metadata: Mapping[str, object]  # The document's other fields.
    images: list[Image]
    pdf: NotRequired[Pdf]
    no_text: NotRequired[str]  # Message shown instead of an empty text.
    no_pdf: NotRequired[str]  # Full text without a PDF file: address of the publication, or "".
    excerpts: list[tuple[int, int, str]] | None  # Of a folded long text, in order: start and end in the whole, words.
    terms: list[tuple[int, int]]  # Places of the topic's words in what is sent, in order and apart; at most 5,000.
    title_terms: list[tuple[int, int]]  # The same for the title.
    sentences: NotRequired[list[tuple[int, int]]]  # For a nugget: start and end of each sentence in `text`, the answer.
    nuggets: NotRequired[list[ListedNugget]]  # For a nugget: all nuggets of the answer, in their order.
    answer: NotRequired[AnswerAround]  # For a cited document.
    best: NotRequired[list[tuple[int, int]]]  # For a cited document: passages that match the sentence, best first.
    qualification: NotRequired[bool]  # Everybody judges this document for the topic.
    label: NotRequired[MachineLabel]  # Only if the manager shows labels; the server records that it was seen.
    said: NotRequired[SaidJudgement | None]  # The annotator's judgement: it is to be completed, or was asked for.


class TopicTurn(TypedDict):
    """A turn of the conversation before the question."""

    speaker: str  # "" if the file does not say who.
    text: str


class TopicField(TypedDict):
    """A field of a topic, as text, that is shown on request."""

    name: str
    text: str


class HeldDocument(DocumentPayload):
    """Current content of a document that the card holds."""

    query_id: str


class Topic(TypedDict):
    """A topic."""

    query_id: str
    title: str
    stage: NotRequired[str]  # Name of the stage in lists of topics; only in a review.
    description: str
    narrative: str
    turns: NotRequired[list[TopicTurn]]  # Oldest first.
    fields: NotRequired[list[TopicField]]


class TopicPayload(Topic):
    """A topic of the annotator with its progress."""

    pool: int | None  # Documents to judge; null in a loop over the whole collection or with a budget.
    judged: int
    without_text: int  # Pooled documents that are held back until their text is imported.
    first: NotRequired[bool]  # Judged before the others, because it calibrates the stopping rule.
    asks: NotRequired[int]  # For answers and sentences: place of the shared description in `questions`.


class TopicWords(Topic):
    """The topic of a unit."""

    note: str  # The manager's, for annotators; "" if there is none.


class Pair(TypedDict):
    """A topic and a document."""

    query_id: str
    doc_id: str


# --- decisions


class Decision(TypedDict):
    """The fields of every decision."""

    uuid: str
    query_id: str
    reason: Annotated[str | None, Longest(1000)]  # Why it cannot be judged.
    note: Annotated[str | None, NOTE]
    shown_at: Annotated[str | None, Longest(40)]
    seconds: Annotated[float, SECONDS]  # At work on it.
    away: Annotated[float, SECONDS]  # The other seconds since it was shown.
    source: Annotated[Source, SOURCE]


class JudgementDecision(Decision):
    """A grade; "undone" takes the pair's judgement back."""

    doc_id: str
    kind: Kind
    relevance: int | None  # Null unless `kind` is "graded".
    answers: NotRequired[Answers]  # To further questions; [] confirms that no tag applies.
    flagged: Annotated[bool, FLAG]
    passages: Annotated[list[tuple[int, int]], Most(100), PASSAGES]  # The server leaves out further ones.


class Refused(TypedDict):
    """A decision that was not saved, and why."""

    uuid: str
    reason: str


# --- grades: topics, sync


class TopicsRequest(TypedDict):
    """Ask for the annotator's topics."""

    questions: NotRequired[Annotated[list[str], NAMES]]  # As for `sync`.


class TopicsAnswer(TypedDict):
    """The annotator's topics in the campaign's order."""

    topics: list[TopicPayload]
    questions: NotRequired[list[str]]  # Descriptions that several topics share.
    last: str | None  # The topic of the annotator's newest judgement.
    work: str | None  # The first topic that has documents for them.


class SyncRequest(TypedDict):
    """Save judgements, then ask for documents of a topic; without `query_id`, only save."""

    decisions: NotRequired[Annotated[list[Annotated[JudgementDecision, UNREAD]], SENT]]
    skips: NotRequired[Annotated[list[Pair], SENT]]  # Those that were never handed out to the annotator have no effect.
    query_id: NotRequired[str | None]
    holding: NotRequired[
        Annotated[list[str], HELD]
    ]  # Ids of the documents that the card holds; the first is on screen.
    want: NotRequired[int]  # New documents wanted; in the loop at least 1, since each judgement may change the order.
    recent: NotRequired[bool]  # Also answer the latest judgements of the topic.
    alone: NotRequired[bool]  # False: another card of the annotator is open, and keeps its documents.
    tried: NotRequired[Annotated[list[str], TRIED]]  # Topics that `next` must not name.
    questions: NotRequired[Annotated[list[str], NAMES]]  # Names of the further questions that the card asks.
    leave: NotRequired[bool]  # The annotator leaves the page: only save, and end what is reserved for them.
    version: NotRequired[str]  # Version in the last response; "none" before the first.
    ahead: NotRequired[Annotated[list[str], HELD]]  # Later topics whose documents the card holds, in order.


class Progress(TypedDict):
    """Judged pairs, and those to judge; `pool` is null in loops over the whole collection, and topics with a budget."""

    judged: int
    pool: int | None


class SyncProgress(TypedDict):
    """Progress in the topic asked for and in all topics of the annotator."""

    all: Progress
    topic: NotRequired[Progress]


class RecentJudgement(DocumentPayload, SaidJudgement):
    """A judged document with the annotator's judgement."""

    query_id: str


class QualificationFeedback(TypedDict):
    """The annotator's grade of a pair of the qualification set (null: cannot judge), and the adjudicated one."""

    uuid: str
    query_id: str
    doc_id: str
    title: str
    relevance: int | None
    settled: int
    note: str | None  # The adjudicator's.


class TopicAhead(TypedDict):
    """Documents of a later topic, so that it opens at once where topics follow each other."""

    query_id: str
    documents: list[DocumentPayload]
    all: bool  # The topic has no other documents for the annotator.


class SyncAnswer(TypedDict):
    """Saved decisions, and the next documents of the topic."""

    saved: list[str]
    refused: list[Refused]
    surplus: list[str]  # Those of `saved` whose pair had enough judgements: logged, and not counted.
    feedback: list[QualificationFeedback]
    query_id: NotRequired[str]
    documents: list[DocumentPayload]
    closed: list[str]  # Those of `holding` that need no judgement any more, or that others have taken over.
    version: NotRequired[str]  # Changes with the content of documents and with how they are shown.
    changed: NotRequired[list[HeldDocument]]  # Documents of `holding`, if they may have changed since the version.
    first: NotRequired[str | None]  # A topic whose qualification set has to be judged before anything is handed out.
    order: NotRequired[list[str]]  # In the loop: all that is to be held from now on.
    model_round: NotRequired[int | None]  # In the loop: the round that the order is from.
    behind: NotRequired[bool]  # In the loop: a newer order is on its way, ask again.
    problem: NotRequired[str | None]  # In the loop: why the last round failed.
    chooser: NotRequired[tuple[str, str]]  # In the loop: what chooses the next document; what it has learned from.
    across_topics: NotRequired[bool]  # In the loop: it chooses across topics, and the card changes topics often.
    next: NotRequired[str | None]  # Where the topic has nothing left: one that has, and is not in `tried`.
    goes_on: NotRequired[bool]  # In tasks of generated answers: `next` opens without a request.
    ahead: NotRequired[list[TopicAhead]]  # In these tasks: documents of topics after those of the request.
    budget: NotRequired[str]  # With `next`: the budget that is used up; "" if none is.
    recent: NotRequired[list[RecentJudgement]]  # Newest first.
    progress: SyncProgress


# --- grades: single documents


class DocumentRequest(TypedDict):
    """Ask for a whole document; the topic chooses its excerpts."""

    doc_id: str
    query_id: NotRequired[str | None]
    said: NotRequired[bool]  # Also answer the annotator's judgement for the topic, which is required then.


class DocumentAnswer(DocumentPayload):
    """A document with its whole text."""


class WhyRequest(Pair):
    """Ask why a document was proposed."""


class WhyAnswer(TypedDict):
    """Reasons for which a document was proposed, as far as the manager shows it to annotators."""

    sentence: str
    terms: list[tuple[str, float]]  # Weights from -1 (against) to 1 (for).
    behind: NotRequired[bool]  # The model is being trained: ask again.


class SearchRequest(TypedDict):
    """Search the collection for documents to judge."""

    query_id: str
    words: Annotated[str, Longest(500)]  # A document's id, or words that must all occur.


class FoundDocument(TypedDict):
    """A result of a search."""

    doc_id: str
    title: str
    snippet: str  # U+0002 and U+0003 enclose the words.
    judged: bool
    relevance: int | None


class SearchAnswer(TypedDict):
    """Results, best first."""

    documents: list[FoundDocument]
    more: bool
    ranked: int | None  # If only some of the documents that match were ranked, how many: 0 if none.


class TakeRequest(Pair):
    """Take a document that was found, to be judged next."""


class GuidelinesRequest(TypedDict):
    """Ask for the guidelines."""


class GuidelinesAnswer(TypedDict):
    """The guidelines as safe HTML, and the manager's notes by topic."""

    html: str
    notes: dict[str, str]


# --- tokens and errors


class TokenRequest(TypedDict):
    """Ask for a new token by the browser's sign-in cookie."""

    annotator: str


class TokenAnswer(TypedDict):
    """A new token."""

    token: str


class ErrorAnswer(TypedDict):
    """Reason for which a request was refused, with the status."""

    error: str
