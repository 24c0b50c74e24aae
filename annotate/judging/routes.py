"""The routes of the judging card: hand out pairs and take judgements.

A judgement is acknowledged after its transaction is on disk, never before. Database work runs in the threads of
:data:`THREADS`, each with one connection, so that the disk never blocks the event loop, which also serves the pages.
All judgements are written in one of them and do not wait for each other's locks; slow reads and adjudication have
threads of their own.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotate.auth.roles import EVERYBODY, JUDGES, open_to
from annotate.auth.tokens import TOKEN_HEADER, Bearer, Tokens, cookie_name
from annotate.judging import adjudication_routes, document_payload, history_routes, task_routes
from annotate.judging import request_fields as fields
from annotate.judging.document_payload import FILE_HEADERS, FILES, PREFIX
from annotate.judging.model_process import NoModelError, Trainer
from annotate.judging.request_fields import Handler, Payload, Row
from annotate.server.campaign_thread import CampaignThread
from annotate.server.request_bodies import BadRequest, read_json
from collection.campaign import Campaign
from collection.campaign.results import NextPairs
from collection.documents.rendering.markup import to_html
from collection.errors import BusyError, CleverdonError, InputError
from collection.formats import IMAGE_TYPES
from collection.records import Document, Role

RECENT = 20
"""Judgements that a fresh card is given to look back at and to undo."""
MOST_WANTED = 50
IN_LOOP = 16
"""Documents that a card holds in the loop: enough for fast keys and a short time offline, few to be replaced."""
LONGEST_TOKEN_REQUEST = 10_000
"""Bytes; the card sends a name."""
FOUND = 30
"""Documents that a search shows."""
THREADS = ("judging", "aside", "adjudicating")
"""Threads with a connection each: for judging, for slow reads, and for adjudicating."""

T = TypeVar("T")

SIGNED_OUT = "reload this page to sign in again; where that is refused, your account is locked"
"""Why a request is refused, after the card's own words that one is signed out."""


class SignedOut(Exception):
    """The session that a token names is over."""


class NotAllowed(Exception):
    """The role of whoever asks does not do this."""

    def __init__(self, role: str, roles: tuple[Role, ...] = JUDGES) -> None:
        does = "judge" if "annotator" in roles else "adjudicate"
        who = "an annotator" if role == "annotator" else f"a {role}"
        super().__init__(f"{who} does not {does}; a manager of the campaign can change your role")


class JudgingService:
    """The routes' half of a campaign: the threads of :data:`THREADS`, with one connection each.

    Parameters
    ----------
    directory
        The campaign's directory.
    trainer
        What learns, if it is there already.
    """

    def __init__(self, directory: Path, trainer: Trainer | None = None) -> None:
        self.directory = directory
        self._threads = {name: CampaignThread(directory, name) for name in THREADS}
        self.trainer = trainer or Trainer(directory)
        with Campaign(directory) as campaign:
            self.campaign_id = campaign.id
            self.tokens = Tokens(campaign.server_state.secret(), campaign.id)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Start what learns, where a topic is in its loop; close it and the connections when the server stops."""
        with Campaign(self.directory) as campaign:
            self.trainer.start(campaign)
        try:
            yield
        finally:
            self.trainer.stop()
            for thread in self._threads.values():
                await thread.close()

    async def run(self, work: Callable[[Campaign], T], *, thread: str = "judging") -> T:
        """Run `work` with the campaign in one of the service's threads, a name of :data:`THREADS`."""
        return await self._threads[thread].run(work)

    def routes(self) -> list[Route]:
        """All routes of this service."""
        return [
            Route(f"{PREFIX}/token", self.token, methods=["POST"]),
            Route(f"{PREFIX}/topics", self._guarded(_topics), methods=["POST"]),
            Route(f"{PREFIX}/sync", self._guarded(partial(_sync, self.trainer)), methods=["POST"]),
            Route(f"{PREFIX}/document", self._guarded(_document), methods=["POST"]),
            Route(f"{PREFIX}/why", self._guarded(partial(_why, self.trainer), thread="aside"), methods=["POST"]),
            Route(f"{PREFIX}/search", self._guarded(_search, thread="aside"), methods=["POST"]),
            Route(f"{PREFIX}/take", self._guarded(_take), methods=["POST"]),
            Route(f"{PREFIX}/guidelines", self._guarded(_guidelines), methods=["POST"]),
            *task_routes.routes(self._guarded),
            *history_routes.routes(self._guarded),
            *adjudication_routes.routes(self._guarded),
            Route(f"{FILES}/{{name}}", self.file, methods=["GET"]),
        ]

    @open_to(JUDGES)
    async def token(self, request: Request) -> Response:
        """A fresh token for a card whose own has expired, by the cookie of the browser."""
        secret = self.tokens.read_cookie(request.cookies.get(cookie_name(self.campaign_id)))
        person = None if secret is None else await self.run(lambda campaign: campaign.accounts.session(secret))
        # Another origin can make a browser post here with the cookie, but not with this header.
        if person is None or TOKEN_HEADER.lower() not in request.headers:
            return JSONResponse({"error": SIGNED_OUT}, status_code=401)
        try:
            payload = await read_json(request, LONGEST_TOKEN_REQUEST)
        except BadRequest as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)
        # Somebody else may have signed in on this browser while the card was open: what waits in it is not theirs.
        if payload.get("annotator") != person.name:
            return JSONResponse({"error": "somebody else is signed in on this browser"}, status_code=401)
        if person.role not in JUDGES:
            return JSONResponse({"error": str(NotAllowed(person.role))}, status_code=403)
        return JSONResponse({"token": self.tokens.token(person.name, person.session)})

    @open_to(EVERYBODY)
    async def file(self, request: Request) -> Response:
        """An image of the campaign, for everybody who is signed in on the browser that asks."""
        secret = self.tokens.read_cookie(request.cookies.get(cookie_name(self.campaign_id)))
        is_open, place = await self.run(partial(_find_file, secret, request.path_params["name"]), thread="aside")
        if not is_open:
            return PlainTextResponse("You are not signed in.", 401)
        if place is None:
            return PlainTextResponse("There is no such file.", 404)
        return FileResponse(place, media_type=IMAGE_TYPES[place.suffix[1:]], headers=FILE_HEADERS)

    # --- judging ----------------------------------------------------------------------------------

    def _guarded(
        self, handler: Handler, *, thread: str = "judging", roles: tuple[Role, ...] = JUDGES
    ) -> Callable[[Request], Awaitable[Response]]:
        """A route that needs a valid token of an open session and a JSON object, and answers with one."""

        @open_to(roles)
        async def endpoint(request: Request) -> Response:
            bearer = self.tokens.read_token(request.headers.get(TOKEN_HEADER))
            if bearer is None:
                return JSONResponse({"error": "the judging token is missing or has expired"}, status_code=401)
            try:
                payload = await read_json(request)
                work = partial(_answer, handler, roles, bearer, payload)
                answer, timing = await self.run(partial(_timed, work), thread=thread)
                return JSONResponse(answer, headers={"Server-Timing": timing})
            except SignedOut:
                return JSONResponse({"error": SIGNED_OUT}, status_code=401)
            except NotAllowed as error:
                return JSONResponse({"error": str(error)}, status_code=403)
            except (BadRequest, InputError) as error:
                status = error.status if isinstance(error, BadRequest) else 400
                return JSONResponse({"error": str(error)}, status_code=status)
            except CleverdonError as error:  # the card keeps what it has and tries again
                return JSONResponse({"error": str(error)}, status_code=503)

        return endpoint


def _find_file(secret: str | None, name: str, campaign: Campaign) -> tuple[bool, Path | None]:
    """Whether somebody is signed in, and where the file is."""
    if secret is None or campaign.accounts.session(secret) is None:
        return False, None
    return True, campaign.document_view.image_file(name)


def _timed(work: Callable[[Campaign], T], campaign: Campaign) -> tuple[T, str]:
    """What the work gives, and how long it took, for the browser's list of requests and for the benchmarks.

    In milliseconds: by the clock, where waiting for the disk counts, and of the processor.
    """
    clock, processor = time.perf_counter(), time.thread_time()
    answer = work(campaign)
    took = (time.perf_counter() - clock) * 1000, (time.thread_time() - processor) * 1000
    return answer, "campaign;dur={:.2f}, cpu;dur={:.2f}".format(*took)


def _answer(handler: Handler, roles: tuple[Role, ...], bearer: Bearer, payload: Payload, campaign: Campaign) -> Payload:
    """What the handler says, if the session is open still and has one of the roles."""
    person = campaign.accounts.session_of(bearer.session)
    if person is None or person.name != bearer.annotator:
        raise SignedOut
    if person.role not in roles:
        raise NotAllowed(person.role, roles)
    return handler(campaign, bearer.annotator, payload)


def _topics(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's topics with their words and how far each is for them, and the one of their newest judgement."""
    mine = set(campaign.progress.topics_for(annotator))
    topics = [topic for topic in campaign.corpus.topics().to_dict("records") if topic["query_id"] in mine]
    without_text = campaign.corpus.without_text()
    for topic in topics:
        done, goal = campaign.progress.standing(topic["query_id"], annotator)
        topic |= {"pool": goal, "judged": done, "without_text": without_text.get(topic["query_id"], 0)}
    work = campaign.judging.topic_with_work(annotator) if topics else None
    return {"topics": topics, "last": campaign.history.last_topic(annotator), "work": work}


def _sync(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take judgements and skips, then hand out what is wanted, and say how far it is."""
    behind: list[str] = []
    try:
        with campaign.transaction():  # one wait for the disk, not two
            answer, pairs = _exchange(trainer, campaign, annotator, payload, behind)
    except BusyError:
        raise
    except Exception:
        # No judgement is lost because nothing could be handed out after it: now each is on disk by itself.
        behind.clear()
        answer, pairs = _exchange(trainer, campaign, annotator, payload, behind)
    for query_id in behind:  # what it learns from is on disk now
        trainer.request(query_id)
    # Long texts take their time: nobody else's save waits for it.
    if pairs is not None:
        answer["documents"] = document_payload.document_payloads(campaign, pairs.documents, answer["query_id"])
        everybody = set(pairs.calibration)
        for document in answer["documents"]:
            if document["doc_id"] in everybody:
                document["calibration"] = True
    if "query_id" in answer and payload.get("recent"):
        answer["recent"] = _recent(campaign, annotator, answer["query_id"])
    return answer | {"progress": _progress(campaign, annotator, answer.get("query_id"))}


def _exchange(
    trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload, behind: list[str]
) -> tuple[Payload, NextPairs | None]:
    """Take first, then give: what was just judged is not open. `behind` gets the topic if its model wants to learn."""
    readable, refused = fields.decisions(fields.items(payload, "judgements"), partial(fields.judgement, annotator))
    result = campaign.judging.judge_many(readable, leased_only=True)
    for item in fields.items(payload, "skips"):
        skipped = item if isinstance(item, dict) else {}
        campaign.judging.skip(annotator, fields.text(skipped, "query_id"), fields.text(skipped, "doc_id"))
    answer: Payload = {
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "documents": [],
        "closed": [],
        "surplus": list(result.surplus),
        "feedback": [
            {"title": (campaign.corpus.document(f.doc_id) or Document(f.doc_id)).title, **f._asdict()}
            for f in result.feedback
        ],
    }
    query_id = payload.get("query_id")
    if query_id is None:
        return answer, None
    want, holding = fields.whole(payload, "want", 0), fields.texts(payload, "holding")
    answer["query_id"] = query_id = fields.text(payload, "query_id")
    pairs = None
    # A save that wants nothing prolongs no lease either: that would be work for nothing.
    if want > 0 or not result.saved:
        made = trainer.latest(query_id)
        # Nobody waits for the model: what there is is handed out, and the card asks again while it is behind.
        count = min(max(want, 0), MOST_WANTED)
        # A card that knows of another one of its annotator leaves that one what it has.
        alone = payload.get("alone") is not False
        pairs = campaign.judging.next_pairs(
            annotator, query_id, count, holding, made=made, in_loop=IN_LOOP, wait=False, alone=alone
        )
        answer |= {"closed": pairs.closed, "first": pairs.first}
        if pairs.order is not None:
            current = campaign.settings.mode(query_id) == "closed" or (
                made is not None and campaign.active_learning.is_current(made)
            )
            problem = None if current else trainer.problem(query_id)
            # After a failure a new judgement is worth a new attempt; so is a card with nothing to go on with.
            if current and not pairs.order and made is not None and campaign.active_learning.is_short(made):
                current = False  # others hold all that the round has: a longer one is wanted
            if not current and (result.saved or problem is None or not pairs.order):
                behind.append(query_id)
            answer |= {"order": pairs.order, "model_round": pairs.model_round}
            answer |= {"behind": not current and problem is None, "problem": problem}
        in_hand = set(holding) - set(pairs.closed)
        if want > 0 and not (pairs.documents or in_hand or pairs.first or answer.get("behind")):
            answer["next"] = campaign.judging.topic_with_work(annotator, query_id, fields.texts(payload, "tried"))
            answer["budget"] = campaign.budget.used_up(query_id)
    return answer, pairs


def _document(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document with the whole of its text; with ``said``, also what this annotator says of it."""
    document = campaign.corpus.document(fields.text(payload, "doc_id"))
    if document is None:
        raise BadRequest("there is no such document")
    query_id = fields.text(payload, "query_id") if payload.get("query_id") else None
    (whole,) = document_payload.document_payloads(campaign, [document], query_id, cap=None)
    if payload.get("said"):
        words = campaign.judgement_log.judgements(annotator=annotator, query_id=fields.text(payload, "query_id"))
        words = words[(words["doc_id"] == document.doc_id) & (words["counts_as"] == "judgement")]
        whole["said"] = next(map(_said, words.to_dict("records")), None)
    return whole


def _guidelines(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """What the manager has written for those who judge: guidelines as safe HTML, and notes by topic."""
    mine = set(campaign.progress.topics_for(annotator))
    notes = {query_id: note for query_id, note in campaign.settings.topic_notes().items() if query_id in mine}
    return {"html": to_html(campaign.settings.guidelines()), "notes": notes}


def _progress(campaign: Campaign, annotator: str, query_id: str | None) -> Payload:
    if query_id is None:
        counts = {"all": campaign.progress.totals(annotator)}
    else:
        counts = dict(zip(("topic", "all"), campaign.progress.of_annotator(query_id, annotator), strict=True))
    return {of: {"judged": judged, "pool": pool} for of, (judged, pool) in counts.items()}


def _why(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Why a document came up, as far as the manager lets annotators know."""
    query_id, doc_id = fields.text(payload, "query_id"), fields.text(payload, "doc_id")
    try:
        return campaign.explanations.why(query_id, doc_id, annotator, partial(trainer.reasons, query_id))._asdict()
    except NoModelError:
        problem = trainer.problem(query_id)
        trainer.request(query_id)
        sentence = "The model is being made." if problem is None else f"There is no model: {problem}"
        return {"sentence": sentence, "terms": [], "behind": problem is None}


def _search(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Documents with these words, and what this annotator said of them."""
    found = campaign.search.find(
        fields.text(payload, "query_id"), annotator, fields.text(payload, "words")[:500], FOUND + 1
    )
    return {"documents": [document._asdict() for document in found[:FOUND]], "more": len(found) > FOUND}


def _take(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document that the annotator found by searching, to be judged next."""
    query_id = fields.text(payload, "query_id")
    document = campaign.search.take(annotator, query_id, fields.text(payload, "doc_id"))
    return document_payload.document_payloads(campaign, [document], query_id)[0]


def _recent(campaign: Campaign, annotator: str, query_id: str) -> list[Payload]:
    """The annotator's last judgements of the topic, newest first."""
    rows = campaign.judgement_log.judgements(annotator=annotator, query_id=query_id, last=RECENT)[::-1]
    rows = rows[rows["counts_as"] == "judgement"]
    known = campaign.corpus.documents(rows["doc_id"].tolist())
    documents = document_payload.document_payloads(campaign, [known[doc_id] for doc_id in rows["doc_id"]], query_id)
    said = [_said(row) for row in rows.to_dict("records")]
    return [{"query_id": query_id, **document, **words} for document, words in zip(documents, said, strict=True)]


def _said(row: Row) -> Payload:
    """A judgement of the log as the card wants it."""
    return {
        "kind": row["kind"],
        "relevance": int(row["relevance"]) if row["kind"] == "graded" else None,
        "reason": row["reason"] if row["kind"] == "cannot judge" else None,
        "note": row["note"] if isinstance(row["note"], str) else None,
        "flagged": bool(row["flagged"]),
        "passages": [list(passage) for passage in row["passages"]],
    }
