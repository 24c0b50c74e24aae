"""Routes of the judging card: hand out pairs and take judgements.

A judgement is acknowledged only after its transaction is on disk. Database work runs in the threads of :data:`THREADS`,
so that it never blocks the event loop. All judgements are written in one thread and do not wait for each other's locks.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotate.auth.roles import EVERYBODY, JUDGES, open_to
from annotate.auth.tokens import TOKEN_HEADER, Bearer, CurrentTokens, Tokens
from annotate.card.server import fields, history_routes, nugget_routes, unit_routes, wire
from annotate.card.server.card_modules import card_modules
from annotate.card.server.document_payload import (
    FIELD_CAP,
    FILE_HEADERS,
    FILES,
    PDF_HEADERS,
    PREFIX,
    TEXT_CAP,
    content_version,
    document_payloads,
    held_documents,
    task_prefix,
)
from annotate.card.server.handlers import PostRoute, said_judgement, save_and_hand_out, topic_form, topic_of
from annotate.card.server.route_types import ROUTES
from annotate.card.server.trainer import NoModelError, Trainer
from annotate.card.server.wire import Payload
from annotate.server.campaign_thread import CampaignThread
from annotate.server.request_bodies import RequestError, read_json
from collection.campaign import DATABASE, Campaign
from collection.campaign.corpus.content_files import ORIGINAL, PDF
from collection.campaign.judging.judging import Client
from collection.campaign.log.results import Feedback, NextPairs
from collection.campaign.loop.loop_round import LoopRound
from collection.campaign.progress.progress import Standing
from collection.core.errors import CleverdonError, InputError
from collection.core.records import Document, Judgement, Role
from collection.core.review import FULL_TEXT, TITLE_ABSTRACT
from collection.documents.rendering import cut
from collection.documents.rendering.markup import to_html
from collection.formats import IMAGE_TYPES

RECENT = 20  # judgements sent to a new card, to look back at and to undo
MOST_WANTED = 24  # documents handed out at once: their texts are prepared in the thread that takes judgements
IN_LOOP = 16  # documents that a card holds in the loop: enough for a short time offline, few to be replaced
LONGEST_TOKEN_REQUEST = 10_000  # bytes; the card sends a name
FOUND = 30  # results of a search
THREADS = ("judging", "aside", "adjudicating")  # with a connection each; slow reads are done aside

SIGNED_OUT = "reload this page to sign in again; if that fails, your account is locked"
"""The reason for a refusal, which the card shows after its own message."""


class JudgingService:
    """The judging routes of the campaign in `directory` and of its tasks; `trainer` has been started already.

    The service of a task, whose campaign may be created while the server runs, uses the `tokens` of the campaign around
    it.
    """

    def __init__(self, directory: Path, trainer: Trainer | None = None, *, tokens: CurrentTokens | None = None) -> None:
        self.directory = directory
        self._threads = {name: CampaignThread(directory, name) for name in THREADS}
        self.trainer = trainer or Trainer(directory)
        self._posts = {route.path: route for route in self.posts()}
        self._tasks: dict[str, JudgingService] = {}
        if tokens is not None:
            self._tokens = tokens
            return
        with Campaign(directory) as campaign:
            self._tokens = CurrentTokens(directory, campaign.id)
            folders = campaign.answers.tasks.folders
        for name, folder in folders.items():
            self._tasks[name] = JudgingService(folder, tokens=self._tokens)

    @property
    def tokens(self) -> Tokens:
        """The cookies and tokens by the current key."""
        return self._tokens.get()

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Start training if a topic is in its loop; end it and close the connections when the server stops."""
        services = (self, *self._tasks.values())
        for service in services:
            if service.exists:
                with Campaign(service.directory) as campaign:
                    service.trainer.start(campaign)
        try:
            yield
        finally:
            for service in services:
                service.trainer.stop()
                for thread in service._threads.values():
                    await thread.close()

    @property
    def exists(self) -> bool:
        """Return whether the directory has a campaign; a task may not be prepared yet."""
        return (self.directory / DATABASE).is_file()

    def routes(self) -> list[Route]:
        """All routes of this service."""
        endpoints = {"token": self.token} | {path: self._endpoint(path) for path in self._posts}
        return [
            *(
                Route(f"{prefix}/{path}", endpoint, methods=["POST"])
                for prefix in (PREFIX, task_prefix("{task}"))
                for path, endpoint in endpoints.items()
            ),
            Route(f"{FILES}/{{name}}", self.file, methods=["GET"]),
            card_modules().route(),
        ]

    def posts(self) -> list[PostRoute]:
        """All routes that need a token."""
        return [
            PostRoute("topics", _topics),
            PostRoute("sync", partial(_sync, self.trainer)),
            PostRoute("document", _document, own_topic=True),
            PostRoute("why", partial(_why, self.trainer), "aside", own_topic=True),
            PostRoute("search", _search, "aside", own_topic=True),
            PostRoute("take", _take),
            PostRoute("guidelines", _guidelines),
            *history_routes.routes(),
            *nugget_routes.routes(),
            *unit_routes.routes(),
        ]

    @open_to(JUDGES)
    async def token(self, request: Request) -> Response:
        """Give a card whose token has expired a new one, by the browser's sign-in cookie."""
        try:
            person = await self._tokens.signed_in(request, self._threads["judging"])
            # Another origin can make a browser post here with the cookie, but not with this header.
            if person is None or TOKEN_HEADER.lower() not in request.headers:
                raise RequestError(SIGNED_OUT, 401)
            payload = await read_json(request, LONGEST_TOKEN_REQUEST)
            # Somebody else may have signed in on this browser meanwhile: the card's unsent judgements are not theirs.
            if payload.get("annotator") != person.name:
                raise RequestError("somebody else is signed in on this browser", 401)
            _require_role(person.role, JUDGES)
            answer: wire.TokenAnswer = {"token": self.tokens.token(person.name, person.session)}
            return JSONResponse(answer)
        except RequestError as error:
            return _refusal(error)

    @open_to(EVERYBODY)
    async def file(self, request: Request) -> Response:
        """Send an image or PDF file of the campaign to everybody who is signed in.

        Its name is the digest of its content, which those know who were shown the document.
        """
        name = request.path_params["name"]
        if await self._tokens.signed_in(request, self._threads["aside"]) is None:
            return PlainTextResponse("You are not signed in.", 401)
        path = await self._threads["aside"].run(lambda campaign: campaign.corpus.view.content_file(name))
        if path is None:
            return PlainTextResponse("There is no such file.", 404)
        if path.suffix == f".{ORIGINAL}":  # it may have scripts: no page of this server
            return FileResponse(path, media_type="application/octet-stream", filename=f"{path.stem}.pdf")
        if path.suffix == f".{PDF}":
            etag = f'"{path.stem}"'
            if etag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers={**PDF_HEADERS, "ETag": etag})
            return FileResponse(path, media_type="application/pdf", headers={**PDF_HEADERS, "ETag": etag})
        return FileResponse(path, media_type=IMAGE_TYPES[path.suffix[1:]], headers=FILE_HEADERS)

    def _endpoint(self, path: str) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint that needs a valid token of an open session and a JSON object, and answers with one."""

        @open_to(self._posts[path].roles)
        async def endpoint(request: Request) -> Response:
            try:
                bearer = self.tokens.read_token(request.headers.get(TOKEN_HEADER))
                if bearer is None:
                    raise RequestError("the judging token is missing or has expired", 401)
                service = self._find(request.path_params.get("task"))
                route = service._posts[path]
                work = partial(_answer, route, bearer, await read_json(request))
                answer, timing = await service._threads[route.thread].run(work)
                return JSONResponse(answer, headers={"Server-Timing": timing})
            except (RequestError, CleverdonError) as error:
                return _refusal(error)

        return endpoint

    def _find(self, task: str | None) -> JudgingService:
        """Return the service of a task, or this one for None; raise :class:`RequestError` if it has no campaign."""
        service = self if task is None else self._tasks.get(task)
        if service is None or not service.exists:
            raise RequestError("this task is not prepared", 404)
        return service


def _refusal(error: RequestError | CleverdonError) -> Response:
    """An error as JSON; after a 503 the card keeps its judgements and tries again."""
    status = error.status if isinstance(error, RequestError) else 400 if isinstance(error, InputError) else 503
    answer: wire.ErrorAnswer = {"error": str(error)}
    return JSONResponse(answer, status)


def _require_role(role: Role, roles: tuple[Role, ...]) -> None:
    if role not in roles:
        action = "judge" if "annotator" in roles else "adjudicate"
        raise RequestError(f"{role}s cannot {action}; a manager of the campaign can change your role", 403)


def _answer(route: PostRoute, bearer: Bearer, payload: Payload, campaign: Campaign) -> tuple[Mapping[str, object], str]:
    """Answer if the session is still open and has one of the roles; with wall and CPU time (ms) for Server-Timing."""
    clock, processor = time.perf_counter(), time.thread_time()
    person = campaign.people.accounts.find_session(bearer.session)
    if person is None or person.name != bearer.annotator:
        raise RequestError(SIGNED_OUT, 401)
    _require_role(person.role, route.roles)
    request = _checked(route, payload, campaign, person.name)
    if route.own_topic and person.role != "manager":
        query_id = request.get("query_id")
        if query_id is not None and not campaign.store.assignments.may_see(query_id, person.name):
            raise RequestError(f"topic {query_id!r} is not yours")
    answer = route.handler(campaign, person.name, request)
    wall, cpu = (time.perf_counter() - clock) * 1000, (time.thread_time() - processor) * 1000
    return answer, f"campaign;dur={wall:.2f}, cpu;dur={cpu:.2f}"


def _checked(route: PostRoute, payload: Payload, campaign: Campaign, annotator: str) -> dict[str, Any]:
    """Check a request by its type; its decisions are saved even if there is an error in another field."""
    kind = ROUTES[route.path].request
    try:
        return cast(dict[str, Any], fields.check(kind, payload))
    except RequestError:
        if "decisions" in kind.__annotations__ and payload.get("decisions"):
            route.handler(campaign, annotator, fields.check(kind, {"decisions": payload["decisions"]}))
        raise


def _topics(campaign: Campaign, annotator: str, request: wire.TopicsRequest) -> wire.TopicsAnswer:
    """The annotator's topics with texts and progress, the last one judged, and one with work left."""
    own, last = set(campaign.progress.topics_for(annotator)), campaign.judging.history.last_topic(annotator)
    standings = campaign.progress.topic_standings(annotator, last)
    without_text, first = campaign.store.pool.count_without_text(), campaign.recall.across_topics.pending()
    topics: list[wire.TopicPayload] = []
    questions: dict[str, int] = {}
    form = topic_form(campaign)
    for topic in campaign.store.corpus.topic_records():
        query_id = topic.query_id
        if query_id in own:
            standing = standings[query_id]
            counts = {"pool": standing.goal, "judged": standing.done, "without_text": without_text.get(query_id, 0)}
            topics.append(cast(wire.TopicPayload, {**topic_of(topic, form), **counts}))
            if query_id in first:
                topics[-1]["first"] = True
            if form.are_answers:
                topics[-1]["asks"] = questions.setdefault(topics[-1]["description"], len(questions))
                topics[-1]["description"] = ""
    asked = request.get("questions", ())
    work = campaign.judging.topic_with_work(annotator, wait=False, questions=asked) if topics else None
    answer: wire.TopicsAnswer = {"topics": topics, "last": last, "work": work}
    if questions:
        answer["questions"] = list(questions)
    return answer


def _sync(trainer: Trainer, campaign: Campaign, annotator: str, request: wire.SyncRequest) -> wire.SyncAnswer:
    if request.get("query_id") == FULL_TEXT and request.get("want") and campaign.settings.review() is not None:
        campaign.review.full_texts.advance()  # records included meanwhile, here or elsewhere
    version = content_version(campaign)  # documents that are read later may be newer, never older
    answer, handed_out = save_and_hand_out(campaign, partial(_exchange, trainer, campaign, annotator, request))
    if handed_out is None:
        answer["progress"] = _progress(campaign, annotator, None)
        return answer
    query_id = handed_out.query_id
    is_idle = query_id == TITLE_ABSTRACT and answer.get("next", "") is None and campaign.settings.review() is not None
    if is_idle and campaign.review.full_texts.advance():  # records included last, also by others
        answer["next"] = campaign.judging.topic_with_work(annotator, exclude=[query_id], wait=False)
    if handed_out.needs_round:  # the judgements it learns from are on disk now
        trainer.request(query_id)
    answer["version"] = version
    if request.get("version", version) != version:
        closed = set(answer["closed"])
        held = [doc_id for doc_id in request.get("holding", ()) if doc_id not in closed]
        answer["changed"] = held_documents(campaign, {query_id: held})
    # After the transaction: long texts take time, and other people's judgements must not wait.
    answer["documents"] = _payloads(campaign, annotator, handed_out)
    if campaign.settings.task() is not None:
        answer["ahead"] = [
            {"query_id": each.query_id, "documents": _payloads(campaign, annotator, each), "all": each.is_all}
            for each in handed_out.ahead
        ]
    if request.get("recent"):
        answer["recent"] = _recent(campaign, annotator, query_id)
    for saved in handed_out.saved - {query_id}:  # decided before the card went on to this topic
        campaign.progress.standings(annotator, saved)
    answer["progress"] = _progress(campaign, annotator, query_id)
    return answer


class _HandedOut(NamedTuple):
    """Documents and state that an annotator gets in a topic."""

    query_id: str
    pairs: NextPairs
    labels: dict[str, wire.MachineLabel]
    """Machine labels to show with the documents."""
    needs_round: bool = False
    """True if the topic's model needs a new round."""
    is_all: bool = False
    """True if the topic has no other documents for the annotator."""
    ahead: Sequence[_HandedOut] = ()
    """Documents of the topics that come next."""
    saved: frozenset[str] = frozenset()
    """Topics of the decisions that were saved."""


class _Round(NamedTuple):
    """The round of a topic's loop from which documents are handed out."""

    current: bool
    """True if it has read all judgements, and has documents that nobody else holds."""
    problem: str | None
    """The reason why there is no newer round."""

    @property
    def behind(self) -> bool:
        """Return whether a newer round is being made."""
        return not self.current and self.problem is None


def _exchange(
    trainer: Trainer, campaign: Campaign, annotator: str, request: wire.SyncRequest
) -> tuple[wire.SyncAnswer, _HandedOut | None]:
    """Save judgements, then hand out the next pairs of a topic unless the request names none."""
    answer, topics = _save(campaign, annotator, request)
    if request.get("leave"):
        campaign.judging.leave(annotator)
        return answer, None
    query_id = request.get("query_id")
    if query_id is None:
        return answer, None
    handed_out = _hand_out(trainer, campaign, annotator, query_id, request, answer)
    return answer, handed_out._replace(saved=frozenset(topics))


def _save(campaign: Campaign, annotator: str, request: wire.SyncRequest) -> tuple[wire.SyncAnswer, set[str]]:
    """Save the judgements and skips of a request; return the answer, and the topics of the judgements."""
    decisions = request.get("decisions", ())
    readable, refused = fields.read_decisions(decisions, wire.JudgementDecision, Judgement, annotator)
    result = campaign.judging.judge_many(_within_answers(campaign, readable), leased_only=True)
    skips = [(pair["query_id"], pair["doc_id"]) for pair in request.get("skips", ())]
    campaign.judging.skip_handed_out(annotator, skips)
    answer: wire.SyncAnswer = {
        "saved": result.saved,
        "refused": fields.refusals(refused + result.refused),
        "documents": [],
        "closed": [],
        "surplus": list(result.surplus),
        "feedback": [_feedback(campaign, each) for each in result.feedback],
        "progress": {"all": {"judged": 0, "pool": 0}},  # counted after the transaction
    }
    return answer, {judgement.query_id for judgement in readable}


def _within_answers(campaign: Campaign, judgements: list[Judgement]) -> list[Judgement]:
    """Leave out passages outside the text of the answer, so that a malformed passage loses no judgement."""
    marked = {each.query_id for each in judgements if each.passages}
    if not marked or campaign.settings.task() is None:
        return judgements
    ends = campaign.corpus.view.answer_lengths(marked)
    return [
        each._replace(passages=tuple(place for place in each.passages if place[1] <= ends.get(each.query_id, 2**53)))
        for each in judgements
    ]


def _hand_out(
    trainer: Trainer,
    campaign: Campaign,
    annotator: str,
    query_id: str,
    request: wire.SyncRequest,
    answer: wire.SyncAnswer,
) -> _HandedOut:
    """Choose the next pairs of the topic, and add to the answer where they come from."""
    want, holding = request.get("want", 0), request.get("holding", [])
    answer["query_id"] = query_id
    loop_round, count = trainer.latest(query_id), min(max(want, 0), MOST_WANTED)
    # It asks again while the model is behind. If not alone, another card of this annotator keeps its documents.
    asked = request.get("questions", ())
    card = Client(IN_LOOP, waits=False, alone=request.get("alone", True), questions=asked)
    pairs = campaign.judging.next_pairs(annotator, query_id, count, holding, loop_round=loop_round, client=card)
    answer |= {"closed": pairs.closed, "first": pairs.first}
    behind = needs_round = False
    if pairs.order is not None:
        latest = _check_round(trainer, campaign, query_id, loop_round, short_of_documents=not pairs.order)
        behind = latest.behind
        # After a failure, only a new judgement or an empty card is worth another attempt.
        needs_round = not latest.current and bool(answer["saved"] or latest.problem is None or not pairs.order)
        answer |= {"order": pairs.order, "model_round": pairs.model_round, "behind": behind}
        answer |= {
            "problem": latest.problem,
            "chooser": campaign.judging.explanations.chooser(query_id, loop_round, behind, latest.problem),
            "across_topics": campaign.settings.loop().by_system_order,
        }
    in_hand = set(holding) - set(pairs.closed)
    if want > 0 and not (pairs.documents or in_hand or pairs.first or behind):
        tried, topics = request.get("tried", []), loop_round.topics if loop_round else ()
        answer["next"] = campaign.judging.topic_with_work(
            annotator, query_id, tried, topics, wait=False, questions=asked
        )
        answer["budget"] = campaign.progress.budget.used_up(query_id)
        if campaign.settings.task() is not None:
            answer["goes_on"] = True
    ahead: list[_HandedOut] = []
    held = request.get("ahead", [])
    room = min(count, MOST_WANTED - len(held)) - len(pairs.documents)
    if campaign.settings.task() is not None and room > 0 and pairs.first is None and pairs.order is None:
        following = campaign.judging.following_pairs(annotator, [query_id, *held], room, MOST_WANTED, client=card)
        for topic, later in following.items():
            labels = _show_labels(campaign, annotator, topic, [document.doc_id for document in later.documents])
            ahead.append(_HandedOut(topic, later, labels, is_all=len(later.documents) < MOST_WANTED))
    labels = _show_labels(campaign, annotator, query_id, [document.doc_id for document in pairs.documents])
    return _HandedOut(query_id, pairs, labels, needs_round, ahead=ahead)


def _payloads(campaign: Campaign, annotator: str, handed_out: _HandedOut) -> list[wire.DocumentPayload]:
    query_id, pairs = handed_out.query_id, handed_out.pairs
    payloads = document_payloads(campaign, pairs.documents, query_id)
    for document in payloads:
        if document["doc_id"] in pairs.qualification:
            document["qualification"] = True
        _add_label(document, handed_out.labels)
    _add_said(campaign, annotator, query_id, payloads, pairs.again)
    return payloads


def _check_round(
    trainer: Trainer, campaign: Campaign, query_id: str, loop_round: LoopRound | None, *, short_of_documents: bool
) -> _Round:
    """Check whether a newer round is needed, and whether there can be one."""
    learning = campaign.loop
    current = campaign.settings.mode(query_id) == "closed" or (
        loop_round is not None and learning.is_current(loop_round)
    )
    problem = None if current else trainer.problem(query_id)
    if current and short_of_documents and loop_round is not None and learning.is_short(loop_round):
        current = False  # others hold all documents of the round
    return _Round(current, problem)


def _show_labels(campaign: Campaign, annotator: str, query_id: str, doc_ids: list[str]) -> dict[str, wire.MachineLabel]:
    """Labels by document, which count as seen from now on; none unless the manager shows a label set."""
    name, labels = campaign.settings.judging_page().show_labels, {}
    for doc_id, relevance in campaign.machine_labels.sets.show(annotator, query_id, doc_ids).items():
        labels[doc_id] = wire.MachineLabel(label_set=name, relevance=relevance)
    return labels


def _add_label(document: wire.DocumentPayload, labels: Mapping[str, wire.MachineLabel]) -> None:
    if document["doc_id"] in labels:
        document["label"] = labels[document["doc_id"]]


def _add_said(
    campaign: Campaign, annotator: str, query_id: str, documents: list[wire.DocumentPayload], again: Sequence[str]
) -> None:
    """Add the annotator's judgement to documents that are handed out again."""
    wanted = {document["doc_id"]: document for document in documents if document["doc_id"] in again}
    log = campaign.store.judgements.table(annotator=annotator, query_id=query_id) if wanted else None
    if log is not None:
        log = log[log["doc_id"].isin(list(wanted)) & (log["counts_as"] == "judgement")]
        for row in log.to_dict("records"):
            wanted[row["doc_id"]]["said"] = said_judgement(row)


def _feedback(campaign: Campaign, feedback: Feedback) -> wire.QualificationFeedback:
    document = campaign.corpus.document(feedback.doc_id) or Document(feedback.doc_id)
    return cast(wire.QualificationFeedback, {**feedback._asdict(), "title": cut(document.title, FIELD_CAP)})


def _document(campaign: Campaign, annotator: str, request: wire.DocumentRequest) -> wire.DocumentAnswer:
    """A document with its whole text; with ``said``, also this annotator's judgement of it."""
    document, query_id = campaign.corpus.document(request["doc_id"]), request.get("query_id")
    if document is None:
        raise RequestError("there is no such document")
    (whole,) = document_payloads(campaign, [document], query_id, cap=None)
    if request.get("said"):
        if query_id is None:
            raise RequestError("expected query_id as a string")
        log = campaign.store.judgements.table(annotator=annotator, query_id=query_id)
        log = log[(log["doc_id"] == document.doc_id) & (log["counts_as"] == "judgement")]
        whole["said"] = next(map(said_judgement, log.to_dict("records")), None)
    return whole


def _guidelines(campaign: Campaign, annotator: str, request: wire.GuidelinesRequest) -> wire.GuidelinesAnswer:
    own = set(campaign.progress.topics_for(annotator))
    notes = {q: cut(note, TEXT_CAP) for q, note in campaign.store.corpus.topic_notes().items() if q in own}
    return {"html": to_html(campaign.settings.guidelines()), "notes": notes}


def _progress(campaign: Campaign, annotator: str, query_id: str | None) -> wire.SyncProgress:
    if query_id is None:
        return {"all": _counts(campaign.progress.totals(annotator))}
    counted = campaign.progress.annotator_standing(query_id, annotator)
    return {"topic": _counts(counted.topic), "all": _counts(counted.all)}


def _counts(standing: Standing) -> wire.Progress:
    return {"judged": standing.done, "pool": standing.goal}


def _why(trainer: Trainer, campaign: Campaign, annotator: str, request: wire.WhyRequest) -> wire.WhyAnswer:
    """The reason why a document was proposed, as far as the manager shows it to annotators."""
    query_id, doc_id = request["query_id"], request["doc_id"]
    try:
        why = campaign.judging.explanations.why(query_id, doc_id, annotator, partial(trainer.reasons, query_id))
        return {"sentence": why.sentence, "terms": why.terms}
    except NoModelError:
        problem = trainer.problem(query_id)
        trainer.request(query_id)
        sentence = "The model is being trained." if problem is None else f"The model is not available: {problem}"
        return {"sentence": sentence, "terms": [], "behind": problem is None}


def _search(campaign: Campaign, annotator: str, request: wire.SearchRequest) -> wire.SearchAnswer:
    results = campaign.judging.search.find(request["query_id"], annotator, request["words"], FOUND + 1)
    documents = [each._replace(title=cut(each.title, FIELD_CAP))._asdict() for each in results.documents[:FOUND]]
    return {
        "documents": cast(list[wire.FoundDocument], documents),
        "more": len(results.documents) > FOUND,
        "ranked": results.ranked,
    }


def _take(campaign: Campaign, annotator: str, request: wire.TakeRequest) -> wire.DocumentPayload:
    """Take a document that the annotator found by searching, to be judged next."""
    query_id = request["query_id"]
    with campaign.transaction():
        document = campaign.judging.search.take(annotator, query_id, request["doc_id"])
        labels = _show_labels(campaign, annotator, query_id, [document.doc_id])
    (taken,) = document_payloads(campaign, [document], query_id)
    _add_label(taken, labels)
    return taken


def _recent(campaign: Campaign, annotator: str, query_id: str) -> list[wire.RecentJudgement]:
    """The annotator's latest judgements of the topic, newest first."""
    rows = campaign.store.judgements.table(annotator=annotator, query_id=query_id, last=RECENT)[::-1]
    rows = rows[rows["counts_as"] == "judgement"]
    known = campaign.store.corpus.documents(rows["doc_id"].tolist())
    documents = document_payloads(campaign, [known[doc_id] for doc_id in rows["doc_id"]], query_id)
    judgements = map(said_judgement, rows.to_dict("records"))
    return [{"query_id": query_id, **shown, **judged} for shown, judged in zip(documents, judgements, strict=True)]
