"""The routes of the judging card: hand out pairs, take judgements, and signing in.

A judgement is acknowledged after its transaction is on disk, never before. All database work of these
routes runs in one thread with one connection: writers then never wait for each other's locks, and the
event loop, which also serves the pages, is never blocked by a disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from annotate.judging.tokens import COOKIE_SECONDS, TOKEN_HEADER, Tokens, cookie_name
from annotate.judging.trainer import Trainer
from collection.campaign import Campaign, Refused
from collection.errors import CleverdonError, InputError
from collection.records import KINDS, Document, Judgement

PREFIX = "/api/judging"
TEXT_CAP = 20_000
"""Characters of a document that travel with it; the rest comes when it is asked for."""
RECENT = 20
"""Judgements that a fresh card is given to look back at and to undo."""
MOST_WANTED = 50
IN_LOOP = 16
"""Documents that a card holds in the loop: enough for fast keys and a short time offline, few to be replaced."""
FOUND = 30
"""Documents that a search shows."""
A_DAY = 24 * 3600

T = TypeVar("T")
Payload = dict[str, Any]


class BadRequest(Exception):
    """The card, or somebody in its name, sent what it cannot have meant."""


class _Desk:
    """One thread with one connection to the campaign."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._campaign: Campaign | None = None

    async def run(self, work: Callable[[Campaign], T]) -> T:
        def call() -> T:
            if self._campaign is None:
                self._campaign = Campaign(self._directory)
            return work(self._campaign)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def close(self) -> None:
        def call() -> None:
            if self._campaign is not None:
                self._campaign.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, call)
        self._thread.shutdown()


class JudgingService:
    """The routes' half of a campaign: one thread with one connection, and one more for searches.

    Parameters
    ----------
    directory
        The campaign's directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._desks = {aside: _Desk(directory, "aside" if aside else "judging") for aside in (False, True)}
        self.trainer = Trainer(directory)
        with Campaign(directory) as campaign:
            self.campaign_id = campaign.id
            self.tokens = Tokens(campaign.secret(), campaign.id)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Close the connection in its own thread when the server stops."""
        try:
            yield
        finally:
            self.trainer.stop()
            for desk in self._desks.values():
                await desk.close()

    async def run(self, work: Callable[[Campaign], T], *, aside: bool = False) -> T:
        """Run `work` with the campaign in the service's thread; `aside`: in another, for slow reads."""
        return await self._desks[aside].run(work)

    def routes(self) -> list[Route]:
        """All routes of this service."""
        return [
            Route("/signin", self.signin, methods=["GET"]),
            Route(f"{PREFIX}/token", self.token, methods=["POST"]),
            Route(f"{PREFIX}/topics", self._guarded(_topics), methods=["POST"]),
            Route(f"{PREFIX}/sync", self._guarded(partial(_sync, self.trainer)), methods=["POST"]),
            Route(f"{PREFIX}/document", self._guarded(_document), methods=["POST"]),
            Route(f"{PREFIX}/why", self._guarded(partial(_why, self.trainer), aside=True), methods=["POST"]),
            Route(f"{PREFIX}/search", self._guarded(_search, aside=True), methods=["POST"]),
            Route(f"{PREFIX}/take", self._guarded(_take), methods=["POST"]),
        ]

    # --- signing in -------------------------------------------------------------------------------

    async def signin(self, request: Request) -> Response:
        """The one-time link: sets the cookie and goes to the app."""
        link = request.query_params.get("token", "")
        annotator = await self.run(lambda campaign: campaign.use_signin_link(link))
        if annotator is None:
            if self._signed_in(request):  # their own link, opened again
                return RedirectResponse("/", status_code=303)
            return HTMLResponse(_LINK_IS_SPENT, status_code=403)
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            cookie_name(self.campaign_id),
            self.tokens.cookie(annotator),
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="lax",  # "strict" would not be sent on the redirect that follows a link in a mail
            secure=request.url.scheme == "https",
        )
        return response

    async def token(self, request: Request) -> Response:
        """A fresh token for a card whose own has expired, by the cookie of the browser."""
        annotator = self._signed_in(request)
        # Another origin can make a browser post here with the cookie, but not with this header.
        if annotator is None or TOKEN_HEADER.lower() not in request.headers:
            return JSONResponse({"error": "not signed in"}, status_code=401)
        # Somebody else may have signed in on this browser while the card was open: what waits in it is not theirs.
        if (await _payload(request)).get("annotator") != annotator:
            return JSONResponse({"error": "somebody else is signed in on this browser"}, status_code=401)
        return JSONResponse({"token": self.tokens.token(annotator)})

    def _signed_in(self, request: Request) -> str | None:
        return self.tokens.read_cookie(request.cookies.get(cookie_name(self.campaign_id)))

    # --- judging ----------------------------------------------------------------------------------

    def _guarded(
        self, handler: Callable[[Campaign, str, Payload], Payload], *, aside: bool = False
    ) -> Callable[[Request], Any]:
        """A route that needs a valid token and a JSON object, and answers with one."""

        async def endpoint(request: Request) -> Response:
            annotator = self.tokens.read_token(request.headers.get(TOKEN_HEADER))
            if annotator is None:
                return JSONResponse({"error": "the judging token is missing or has expired"}, status_code=401)
            try:
                payload = await _payload(request)
                work = partial(_answer, handler, annotator, payload)
                return JSONResponse(await self.run(work, aside=aside))
            except (BadRequest, InputError) as error:
                return JSONResponse({"error": str(error)}, status_code=400)
            except CleverdonError as error:  # the card keeps what it has and tries again
                return JSONResponse({"error": str(error)}, status_code=503)

        return endpoint


def _answer(
    handler: Callable[[Campaign, str, Payload], Payload], annotator: str, payload: Payload, campaign: Campaign
) -> Payload:
    return handler(campaign, annotator, payload)


async def _payload(request: Request) -> Payload:
    try:
        payload = await request.json()
    except ValueError:
        raise BadRequest("wanted JSON") from None
    if not isinstance(payload, dict):
        raise BadRequest("wanted a JSON object")
    return payload


def _topics(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Every topic with its words and how far it is."""
    progress = campaign.progress().set_index("query_id")
    topics = campaign.topics().to_dict("records")
    for topic in topics:
        row = progress.loc[topic["query_id"]]
        topic |= {"pool": _whole(row["goal"]), "judged": int(row["judged"])}
    return {"topics": topics}


def _sync(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take judgements and skips, then hand out what is wanted. In this order: what was just judged is not open."""
    readable, refused = _judgements(annotator, _list(payload, "judgements"))
    result = campaign.judge(readable, leased_only=True)
    for item in _list(payload, "skips"):
        campaign.skip(annotator, _text(item, "query_id"), _text(item, "doc_id"))
    answer: Payload = {
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "documents": [],
        "closed": [],
    }
    query_id = payload.get("query_id")
    if query_id is None:
        return answer | {"progress": _progress(campaign, None)}
    want = payload.get("want", 0)
    if not isinstance(query_id, str) or not isinstance(want, int):
        raise BadRequest("wanted query_id as a string and want as a whole number")
    holding = [str(doc_id) for doc_id in _list(payload, "holding")]
    answer["query_id"] = query_id
    # A save that wants nothing prolongs no lease either: that would be a second wait for the disk.
    if want > 0 or not result.saved:
        made = trainer.latest(query_id)
        # Nobody waits for the model: what there is is handed out, and the card asks again while it is behind.
        count = min(max(want, 0), MOST_WANTED)
        pairs = campaign.next_pairs(annotator, query_id, count, holding, made=made, in_loop=IN_LOOP, wait=False)
        answer |= {"documents": [_shown(d) for d in pairs.documents], "closed": pairs.closed}
        if pairs.order is not None:
            current = campaign.mode(query_id) == "closed" or (made is not None and campaign.is_current(made))
            problem = None if current else trainer.problem(query_id)
            # After a failure a new judgement is worth a new attempt; so is a card with nothing to go on with.
            if current and not pairs.order and made is not None and campaign.is_short(made):
                current = False  # others hold all that the round has: a longer one is wanted
            if not current and (result.saved or problem is None or not pairs.order):
                trainer.request(query_id)
            answer |= {"order": pairs.order, "model_round": pairs.model_round}
            answer |= {"behind": not current and problem is None, "problem": problem}
    if payload.get("recent"):
        answer["recent"] = _recent(campaign, annotator, query_id)
    return answer | {"progress": _progress(campaign, query_id)}


def _document(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document with the whole of its text."""
    document = campaign.document(_text(payload, "doc_id"))
    if document is None:
        raise BadRequest("there is no such document")
    return _shown(document, cap=None)


def _progress(campaign: Campaign, query_id: str | None) -> Payload:
    judged, pool = campaign.totals()
    progress = {"all": {"judged": judged, "pool": pool}}
    if query_id is not None:
        judged, pool = campaign.standing(query_id)
        progress["topic"] = {"judged": judged, "pool": pool}
    return progress


def _whole(value: Any) -> int | None:
    """How many pairs are to be judged; None where the loop has no end."""
    return None if pd.isna(value) else int(value)


def _why(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Why a document came up, as far as the manager lets annotators know."""
    query_id, doc_id = _text(payload, "query_id"), _text(payload, "doc_id")
    made = trainer.latest(query_id)
    if made is None and campaign.explains(
        query_id, doc_id
    ):  # a round made here would let everybody's judgements wait for it
        problem = trainer.problem(query_id)
        trainer.request(query_id)
        sentence = "The model is being made." if problem is None else f"There is no model: {problem}"
        return {"sentence": sentence, "terms": [], "behind": problem is None}
    return campaign.why(query_id, doc_id, annotator, made)._asdict()


def _search(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Documents with these words, and what this annotator said of them."""
    found = campaign.search(_text(payload, "query_id"), annotator, _text(payload, "words")[:500], FOUND + 1)
    return {"documents": [document._asdict() for document in found[:FOUND]], "more": len(found) > FOUND}


def _take(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document that the annotator found by searching, to be judged next."""
    return _shown(campaign.take(annotator, _text(payload, "query_id"), _text(payload, "doc_id")))


def _recent(campaign: Campaign, annotator: str, query_id: str) -> list[Payload]:
    """The annotator's last judgements of the topic, newest first."""
    rows = campaign.judgements(annotator=annotator, query_id=query_id, last=RECENT)[::-1]
    documents = campaign.documents(rows["doc_id"].tolist())
    return [
        {
            "query_id": query_id,
            **_shown(documents[row["doc_id"]]),
            "kind": row["kind"],
            "relevance": int(row["relevance"]) if row["kind"] == "graded" else None,
            "reason": row["reason"] if row["kind"] == "cannot judge" else None,
        }
        for row in rows.to_dict("records")
    ]


def _shown(document: Document, cap: int | None = TEXT_CAP) -> Payload:
    """A document as the card wants it. Nothing of how it came into the pool: annotators judge blind."""
    text = document.text
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "text": text if text is None or cap is None else text[:cap],
        "length": len(text or ""),
        "truncated": cap is not None and len(text or "") > cap,
        "metadata": dict(document.metadata),
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
    )


def _text(item: Any, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, str) or not value:
        raise BadRequest(f"wanted {name} as a string")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise BadRequest(f"wanted {name} as text, found half of a surrogate pair")
    return value


def _seconds(value: Any) -> float | None:
    """Seconds on screen; None where the browser's clock gave no sensible number: no judgement is lost for that."""
    sensible = isinstance(value, int | float) and 0 <= value <= A_DAY
    return round(float(value), 3) if sensible else None


def _list(payload: Payload, name: str) -> list[Any]:
    value = payload.get(name, [])
    if not isinstance(value, list):
        raise BadRequest(f"wanted {name} as a list")
    return value


_LINK_IS_SPENT = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Cleverdon: sign in</title>
<style>body{font:17px/1.6 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1.2em;color-scheme:light dark}
code{font-size:.95em}</style>
<h1>This sign-in link cannot be used</h1>
<p>Each link works once, and this one was used already or was never made here.
Start the app again for a new link: <code>cleverdon serve DIR</code> prints it.</p>
<p>A browser that has signed in stays signed in: just open <a href="/">the app</a>.</p></html>"""
