"""The routes of the judging card: hand out pairs and take judgements.

A judgement is acknowledged after its transaction is on disk, never before. Database work runs in the threads of
:data:`DESKS`, each with one connection, so that the disk never blocks the event loop, which also serves the pages.
All judgements are written in one of them and do not wait for each other's locks; slow reads and adjudication have
threads of their own.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotate.auth.roles import EVERYBODY, JUDGES, open_to
from annotate.auth.tokens import TOKEN_HEADER, Bearer, Tokens, cookie_name
from annotate.judging import adjudication_routes, history_routes, judgement_routes, task_routes
from annotate.judging.document_payload import FILES, PREFIX
from annotate.judging.model_process import Trainer
from annotate.judging.request_fields import Payload
from annotate.server.campaign_thread import Desk
from annotate.server.request_bodies import BadRequest, read_json
from collection.campaign import Campaign
from collection.errors import CleverdonError, InputError
from collection.formats import IMAGE_TYPES
from collection.records import Role

LONGEST_TOKEN_REQUEST = 10_000
"""Bytes; the card sends a name."""
DESKS = ("judging", "aside", "adjudicating")
"""Threads with a connection each: for judging, for slow reads, and for adjudicating."""

A_YEAR = 365 * 24 * 3600
FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A name stands for one content for ever; whoever has it in their own browser has seen it.
    "Cache-Control": f"private, max-age={A_YEAR}, immutable",
}
"""Headers of a file: it is an image whatever is in it, and can do nothing where somebody opens it by itself."""

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
            for desk in self._desks.values():
                await desk.close()

    async def run(self, work: Callable[[Campaign], T], *, desk: str = "judging") -> T:
        """Run `work` with the campaign in one of the service's threads, a name of :data:`DESKS`."""
        return await self._desks[desk].run(work)

    def routes(self) -> list[Route]:
        """All routes of this service."""
        return [
            Route(f"{PREFIX}/token", self.token, methods=["POST"]),
            *judgement_routes.routes(self._guarded, self.trainer),
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
        """A file of the campaign, an image of a document, for everybody who is signed in on the browser that asks."""
        secret = self.tokens.read_cookie(request.cookies.get(cookie_name(self.campaign_id)))
        signed_in, place = await self.run(partial(_find, secret, request.path_params["name"]), desk="aside")
        if not signed_in:
            return PlainTextResponse("You are not signed in.", 401)
        if place is None:
            return PlainTextResponse("There is no such file.", 404)
        return FileResponse(place, media_type=IMAGE_TYPES[place.suffix[1:]], headers=FILE_HEADERS)

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
    person = campaign.accounts.session_of(bearer.session)
    if person is None or person.name != bearer.annotator:
        raise SignedOut
    if person.role not in roles:
        raise NotAllowed(person.role, roles)
    return handler(campaign, bearer.annotator, payload)


def _find(secret: str | None, name: str, campaign: Campaign) -> tuple[bool, Path | None]:
    """Whether somebody is signed in, and where the file is."""
    if secret is None or campaign.accounts.session(secret) is None:
        return False, None
    return True, campaign.document_view.image_file(name)
