"""The routes of the judging card: hand out pairs and take judgements.

A judgement is acknowledged after its transaction is on disk, never before. Database work runs in the threads of
:data:`DESKS`, each with one connection, so that the disk never blocks the event loop, which also serves the pages.
All judgements are written in one of them and do not wait for each other's locks; slow reads and adjudication have
threads of their own.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotate.auth.roles import JUDGES, open_to
from annotate.auth.tokens import TOKEN_HEADER, Bearer, Tokens, cookie_name
from annotate.elements.markdown import to_html
from annotate.judging import document_payload
from annotate.judging.model_process import NotLearned, Trainer
from annotate.server.campaign_thread import Desk
from annotate.server.request_bodies import BadRequest, read_json
from collection.campaign import Campaign, NextPairs, Refused
from collection.characters import require_writable, writable
from collection.errors import BusyError, CleverdonError, InputError
from collection.records import KINDS, Document, Judgement, Role

PREFIX = document_payload.PREFIX
TEXT_CAP = document_payload.TEXT_CAP
RECENT = 20
"""Judgements that a fresh card is given to look back at and to undo."""
MOST_WANTED = 50
IN_LOOP = 16
"""Documents that a card holds in the loop: enough for fast keys and a short time offline, few to be replaced."""
LONGEST_NOTE = 2000
"""Characters of a note with a judgement; the card's field takes no more."""
MOST_PASSAGES = 100
"""Passages that one judgement marks."""
LONGEST_TEXT = 1 << 40
"""Characters; no document has more."""
LONGEST_TOKEN_REQUEST = 10_000
"""Bytes; the card sends a name."""
FOUND = 30
"""Documents that a search shows."""
A_DAY = 24 * 3600
DESKS = ("judging", "aside", "adjudicating")
"""Threads with a connection each: for judging, for slow reads, and for adjudicating."""

T = TypeVar("T")
Payload = dict[str, Any]


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
    """The routes' half of a campaign: the threads of :data:`DESKS`, with one connection each.

    Parameters
    ----------
    directory
        The campaign's directory.
    trainer
        What learns, if it is there already.
    """

    def __init__(self, directory: Path, trainer: Trainer | None = None) -> None:
        self.directory = directory
        self._desks = {name: Desk(directory, name) for name in DESKS}
        self.trainer = trainer or Trainer(directory)
        with Campaign(directory) as campaign:
            self.campaign_id = campaign.id
            self.tokens = Tokens(campaign.secret(), campaign.id)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Start what learns, where a topic is in its loop; close it and the connections when the server stops."""
        with Campaign(self.directory) as campaign:
            self.trainer.start(campaign)
        try:
            yield
        finally:
            self.trainer.stop()
            for desk in self._desks.values():
                await desk.close()

    async def run(self, work: Callable[[Campaign], T], *, desk: str = "judging") -> T:
        """Run `work` with the campaign in one of the service's threads, a name of :data:`DESKS`."""
        return await self._desks[desk].run(work)

    def routes(self) -> list[Route]:
        """All routes of this service."""
        from annotate.judging import (
            adjudication_routes,
            history_routes,
            task_routes,  # which stand on this module
        )

        return [
            Route(f"{PREFIX}/token", self.token, methods=["POST"]),
            Route(f"{PREFIX}/topics", self._guarded(_topics), methods=["POST"]),
            Route(f"{PREFIX}/sync", self._guarded(partial(_sync, self.trainer)), methods=["POST"]),
            Route(f"{PREFIX}/document", self._guarded(_document), methods=["POST"]),
            Route(f"{PREFIX}/why", self._guarded(partial(_why, self.trainer), desk="aside"), methods=["POST"]),
            Route(f"{PREFIX}/search", self._guarded(_search, desk="aside"), methods=["POST"]),
            Route(f"{PREFIX}/take", self._guarded(_take), methods=["POST"]),
            Route(f"{PREFIX}/guidelines", self._guarded(_guidelines), methods=["POST"]),
            *task_routes.routes(self._guarded),
            *history_routes.routes(self._guarded),
            *adjudication_routes.routes(self._guarded),
            document_payload.file_route(self),
        ]

    @open_to(JUDGES)
    async def token(self, request: Request) -> Response:
        """A fresh token for a card whose own has expired, by the cookie of the browser."""
        secret = self.tokens.read_cookie(request.cookies.get(cookie_name(self.campaign_id)))
        person = None if secret is None else await self.run(lambda campaign: campaign.session(secret))
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

    # --- judging ----------------------------------------------------------------------------------

    def _guarded(
        self,
        handler: Callable[[Campaign, str, Payload], Payload],
        *,
        desk: str = "judging",
        roles: tuple[Role, ...] = JUDGES,
    ) -> Callable[[Request], Any]:
        """A route that needs a valid token of an open session and a JSON object, and answers with one."""

        @open_to(roles)
        async def endpoint(request: Request) -> Response:
            bearer = self.tokens.read_token(request.headers.get(TOKEN_HEADER))
            if bearer is None:
                return JSONResponse({"error": "the judging token is missing or has expired"}, status_code=401)
            try:
                payload = await read_json(request)
                work = partial(_answer, handler, roles, bearer, payload)
                answer, timing = await self.run(partial(_timed, work), desk=desk)
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


def _timed(work: Callable[[Campaign], T], campaign: Campaign) -> tuple[T, str]:
    """What the work gives, and how long it took, for the browser's list of requests and for the benchmarks.

    In milliseconds: by the clock, where waiting for the disk counts, and of the processor.
    """
    clock, processor = time.perf_counter(), time.thread_time()
    answer = work(campaign)
    took = (time.perf_counter() - clock) * 1000, (time.thread_time() - processor) * 1000
    return answer, "desk;dur={:.2f}, cpu;dur={:.2f}".format(*took)


def _answer(
    handler: Callable[[Campaign, str, Payload], Payload],
    roles: tuple[Role, ...],
    bearer: Bearer,
    payload: Payload,
    campaign: Campaign,
) -> Payload:
    """What the handler says, if the session is open still and has one of the roles."""
    person = campaign.session_of(bearer.session)
    if person is None or person.name != bearer.annotator:
        raise SignedOut
    if person.role not in roles:
        raise NotAllowed(person.role, roles)
    return handler(campaign, bearer.annotator, payload)


def _topics(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's topics with their words and how far each is for them, and the one of their newest judgement."""
    mine = set(campaign.topics_for(annotator))
    topics = [topic for topic in campaign.topics().to_dict("records") if topic["query_id"] in mine]
    without_text = campaign.without_text()
    for topic in topics:
        done, goal = campaign.standing(topic["query_id"], annotator)
        topic |= {"pool": goal, "judged": done, "without_text": without_text.get(topic["query_id"], 0)}
    work = campaign.topic_with_work(annotator) if topics else None
    return {"topics": topics, "last": campaign.last_topic(annotator), "work": work}


def _sync(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take judgements and skips, then hand out what is wanted, and say how far it is."""
    behind: list[str] = []
    try:
        with campaign.together():  # one wait for the disk, not two
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
        answer["documents"] = document_payload.shown(campaign, pairs.documents, answer["query_id"])
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
    readable, refused = _judgements(annotator, _list(payload, "judgements"))
    result = campaign.judge(readable, leased_only=True)
    for item in _list(payload, "skips"):
        campaign.skip(annotator, _text(item, "query_id"), _text(item, "doc_id"))
    answer: Payload = {
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "documents": [],
        "closed": [],
        "surplus": list(result.surplus),
        "feedback": [
            {"title": (campaign.document(f.doc_id) or Document(f.doc_id)).title, **f._asdict()} for f in result.feedback
        ],
    }
    query_id = payload.get("query_id")
    if query_id is None:
        return answer, None
    want = payload.get("want", 0)
    if not isinstance(want, int):
        raise BadRequest("wanted want as a whole number")
    query_id = _text(payload, "query_id")
    holding = [_text({"holding": doc_id}, "holding") for doc_id in _list(payload, "holding")]
    answer["query_id"] = query_id
    pairs = None
    # A save that wants nothing prolongs no lease either: that would be work for nothing.
    if want > 0 or not result.saved:
        made = trainer.latest(query_id)
        # Nobody waits for the model: what there is is handed out, and the card asks again while it is behind.
        count = min(max(want, 0), MOST_WANTED)
        # A card that knows of another one of its annotator leaves that one what it has.
        alone = payload.get("alone") is not False
        pairs = campaign.next_pairs(
            annotator, query_id, count, holding, made=made, in_loop=IN_LOOP, wait=False, alone=alone
        )
        answer |= {"closed": pairs.closed, "first": pairs.first}
        if pairs.order is not None:
            current = campaign.mode(query_id) == "closed" or (made is not None and campaign.is_current(made))
            problem = None if current else trainer.problem(query_id)
            # After a failure a new judgement is worth a new attempt; so is a card with nothing to go on with.
            if current and not pairs.order and made is not None and campaign.is_short(made):
                current = False  # others hold all that the round has: a longer one is wanted
            if not current and (result.saved or problem is None or not pairs.order):
                behind.append(query_id)
            answer |= {"order": pairs.order, "model_round": pairs.model_round}
            answer |= {"behind": not current and problem is None, "problem": problem}
        in_hand = set(holding) - set(pairs.closed)
        if want > 0 and not (pairs.documents or in_hand or pairs.first or answer.get("behind")):
            tried = [_text({"tried": topic}, "tried") for topic in _list(payload, "tried")]
            answer["next"] = campaign.topic_with_work(annotator, query_id, tried)
            answer["budget"] = campaign.out_of_budget(query_id)
    return answer, pairs


def _document(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document with the whole of its text; with ``said``, also what this annotator says of it."""
    document = campaign.document(_text(payload, "doc_id"))
    if document is None:
        raise BadRequest("there is no such document")
    query_id = _text(payload, "query_id") if payload.get("query_id") else None
    (whole,) = document_payload.shown(campaign, [document], query_id, cap=None)
    if payload.get("said"):
        words = campaign.judgements(annotator=annotator, query_id=_text(payload, "query_id"))
        words = words[(words["doc_id"] == document.doc_id) & (words["counts_as"] == "judgement")]
        whole["said"] = next(map(_said, words.to_dict("records")), None)
    return whole


def _guidelines(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """What the manager has written for those who judge: guidelines as safe HTML, and notes by topic."""
    mine = set(campaign.topics_for(annotator))
    notes = {query_id: note for query_id, note in campaign.topic_notes().items() if query_id in mine}
    return {"html": to_html(campaign.guidelines()), "notes": notes}


def _progress(campaign: Campaign, annotator: str, query_id: str | None) -> Payload:
    if query_id is None:
        counts = {"all": campaign.totals(annotator)}
    else:
        counts = dict(zip(("topic", "all"), campaign.progress_of(query_id, annotator), strict=True))
    return {of: {"judged": judged, "pool": pool} for of, (judged, pool) in counts.items()}


def _why(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Why a document came up, as far as the manager lets annotators know."""
    query_id, doc_id = _text(payload, "query_id"), _text(payload, "doc_id")
    try:
        return campaign.why(query_id, doc_id, annotator, partial(trainer.reasons, query_id))._asdict()
    except NotLearned:
        problem = trainer.problem(query_id)
        trainer.request(query_id)
        sentence = "The model is being made." if problem is None else f"There is no model: {problem}"
        return {"sentence": sentence, "terms": [], "behind": problem is None}


def _search(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Documents with these words, and what this annotator said of them."""
    found = campaign.search(_text(payload, "query_id"), annotator, _text(payload, "words")[:500], FOUND + 1)
    return {"documents": [document._asdict() for document in found[:FOUND]], "more": len(found) > FOUND}


def _take(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document that the annotator found by searching, to be judged next."""
    query_id = _text(payload, "query_id")
    return document_payload.shown(campaign, [campaign.take(annotator, query_id, _text(payload, "doc_id"))], query_id)[0]


def _recent(campaign: Campaign, annotator: str, query_id: str) -> list[Payload]:
    """The annotator's last judgements of the topic, newest first."""
    rows = campaign.judgements(annotator=annotator, query_id=query_id, last=RECENT)[::-1]
    rows = rows[rows["counts_as"] == "judgement"]
    known = campaign.documents(rows["doc_id"].tolist())
    documents = document_payload.shown(campaign, [known[doc_id] for doc_id in rows["doc_id"]], query_id)
    said = [_said(row) for row in rows.to_dict("records")]
    return [{"query_id": query_id, **document, **words} for document, words in zip(documents, said, strict=True)]


def _said(row: dict[Hashable, Any]) -> Payload:
    """A judgement of the log as the card wants it."""
    return {
        "kind": row["kind"],
        "relevance": int(row["relevance"]) if row["kind"] == "graded" else None,
        "reason": row["reason"] if row["kind"] == "cannot judge" else None,
        "note": row["note"] if isinstance(row["note"], str) else None,
        "flagged": bool(row["flagged"]),
        "passages": [list(passage) for passage in row["passages"]],
    }


def _judgements(annotator: str, items: list[Any]) -> tuple[list[Judgement], list[Refused]]:
    """What can be read, and what not: one odd judgement must not keep those behind it from being saved."""
    readable: list[Judgement] = []
    refused: list[Refused] = []
    for item in items:
        uuid = _text(item, "uuid")
        try:
            readable.append(_judgement(annotator, item))
        except BadRequest as error:
            refused.append(Refused(uuid, str(error)))
    return readable, refused


def _judgement(annotator: str, item: Any) -> Judgement:
    """A judgement as the card sends it; whose it is says the token, not the card."""
    if item.get("kind") not in KINDS:
        raise BadRequest(f"wanted judgements whose kind is one of {', '.join(KINDS)}")
    relevance = item.get("relevance")
    if relevance is not None and (not isinstance(relevance, int) or isinstance(relevance, bool)):
        raise BadRequest("wanted a whole number as relevance")
    return Judgement(
        uuid=_text(item, "uuid"),
        annotator=annotator,
        query_id=_text(item, "query_id"),
        doc_id=_text(item, "doc_id"),
        kind=item["kind"],
        relevance=relevance,
        reason=_text(item, "reason")[:1000] if item.get("reason") else None,
        shown_at=_text(item, "shown_at")[:40] if item.get("shown_at") else None,
        seconds=_seconds(item.get("seconds")),
        source="click" if item.get("source") == "click" else "key",
        note=_note(item.get("note")),
        away=_seconds(item.get("away")),
        flagged=item.get("flagged") is True,
        passages=_passages(item.get("passages")),
    )


def _text(item: Any, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, str) or not value:
        raise BadRequest(f"wanted {name} as a string")
    require_writable(value, name, BadRequest)
    return value


def _seconds(value: Any) -> float | None:
    """Seconds on screen; None where the browser's clock gave no sensible number: no judgement is lost for that."""
    sensible = isinstance(value, int | float) and 0 <= value <= A_DAY
    return round(float(value), 3) if sensible else None


def _note(value: Any) -> str | None:
    """A note as it can be kept: no judgement is lost for an odd one, nor for one that is too long."""
    if not isinstance(value, str) or not value.strip():
        return None
    return writable(value).strip()[:LONGEST_NOTE] or None


def _passages(value: Any) -> tuple[tuple[int, int], ...]:
    """Marked passages as they can be kept, in their order and apart; no judgement is lost for odd ones."""
    if not isinstance(value, list):
        return ()
    pairs = [tuple(pair) for pair in value if isinstance(pair, list) and len(pair) == 2]
    sensible = [p for p in pairs if all(type(n) is int for n in p) and 0 <= p[0] < p[1] <= LONGEST_TEXT]
    apart: list[tuple[int, int]] = []
    for start, end in sorted(sensible)[:MOST_PASSAGES]:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return tuple(apart)


def _list(payload: Payload, name: str) -> list[Any]:
    value = payload.get(name, [])
    if not isinstance(value, list):
        raise BadRequest(f"wanted {name} as a list")
    return value
