"""The routes of signing in, and the door: who opens a page without a session is led to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from annotate.desk import Desk
from annotate.guarding import ANYBODY, open_to
from annotate.judging.tokens import COOKIE_SECONDS, Tokens, cookie_name
from annotate.signing import forms
from annotate.signing.attempts import Attempts
from annotate.signing.provider import Provider
from collection.accounts import LONGEST_PASSWORD
from collection.campaign import Campaign
from collection.campaign.access import Person
from collection.errors import BusyError, CleverdonError, InputError

LONGEST_FORM = 20 * LONGEST_PASSWORD
"""Bytes; a password of astral characters, percent-encoded three times, fits."""

PROVIDER_COOKIE = "_streamlit_user"
"""In which Streamlit keeps what the provider said."""

WRONG = "Name and password do not fit, or the account is locked."

T = TypeVar("T")


class SigningService:
    """The sign-in pages of one campaign.

    Parameters
    ----------
    directory
        The campaign's directory.
    provider
        Where one may sign in besides; None for nowhere.
    """

    def __init__(self, directory: Path, provider: Provider | None = None) -> None:
        # Passwords take a tenth of a second each, on purpose: nobody's page waits behind them.
        self._desk, self._slow = Desk(directory, "signing"), Desk(directory, "passwords")
        self.provider = provider
        self.attempts = Attempts()
        with Campaign(directory) as campaign:
            self.title = campaign.title
            self.cookie = cookie_name(campaign.id)
            self.tokens = Tokens(campaign.secret(), campaign.id)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Close the connections when the server stops."""
        try:
            yield
        finally:
            for desk in (self._desk, self._slow):
                await desk.close()

    def routes(self) -> list[Route]:
        """All routes of this service."""
        return [
            Route("/signin", self.signin, methods=["GET"]),
            Route("/signin", self.check, methods=["POST"]),
            Route("/invitation", self.invitation, methods=["GET"]),
            Route("/invitation", self.accept, methods=["POST"]),
        ]

    async def signed_in(self, request: Request) -> Person | None:
        """Whose open session the browser has."""
        secret = self.tokens.read_cookie(request.cookies.get(self.cookie))
        return None if secret is None else await self._desk.run(lambda campaign: campaign.session(secret))

    @open_to(ANYBODY)
    async def signin(self, request: Request) -> Response:
        """The form; with a token: the one-time link, which opens a session and goes to the app."""
        link = request.query_params.get("token")
        if link is None:
            if await self.signed_in(request) is not None:
                return _to_the_app()
            return self._form()
        secret = await _tried(self._desk, lambda campaign: campaign.use_signin_link(link))
        if secret is None:
            return _to_the_app() if await self.signed_in(request) is not None else forms.spent()
        return await self._let_in(request, secret)

    @open_to(ANYBODY)
    async def check(self, request: Request) -> Response:
        """Name and password, as the form sends them."""
        sent = await _form(request)
        if sent is None:
            return forms.refused("This form was sent by another site, or is no form; nothing was done.")
        name, password = sent.get("name", ""), sent.get("password", "")
        address = request.client.host if request.client else ""
        if (wait := self.attempts.wait(name, address)) > 0:
            minutes = int(wait // 60) + 1
            say = f"Too many attempts: try again in {minutes} minute{'' if minutes == 1 else 's'}."
            return self._form(say, name, 429)
        # Counted before it is known: many at once are many.
        self.attempts.failed(name, address)
        known = await self._slow.run(lambda campaign: campaign.check_password(name, password))
        if known is None:
            return self._form(WRONG, name, 403)
        self.attempts.succeeded(name, address)
        return await self._let_in(request, await _tried(self._desk, lambda campaign: campaign.open_session(known)))

    @open_to(ANYBODY)
    async def invitation(self, request: Request) -> Response:
        """The form of an invitation; to look at it uses nothing up: programs that show mail do that."""
        token = request.query_params.get("token", "")
        name = await self._desk.run(lambda campaign: campaign.invited(token))
        if name is None:
            return forms.spent()
        inside = await self.signed_in(request)
        other = inside.name if inside is not None and inside.name != name else ""
        return forms.invitation(self.title, name, token, instead_of=other)

    @open_to(ANYBODY)
    async def accept(self, request: Request) -> Response:
        """The password that an invited person chose."""
        sent = await _form(request)
        if sent is None:
            return forms.refused("This form was sent by another site, or is no form; nothing was done.")
        token, password = sent.get("token", ""), sent.get("password", "")
        name = await self._desk.run(lambda campaign: campaign.invited(token))
        if name is None:
            return forms.spent()
        if password != sent.get("again"):
            return forms.invitation(self.title, name, token, "The two passwords are not the same.", 400)
        try:
            secret = await self._slow.run(lambda campaign: campaign.accept_invitation(token, password))
        except (InputError, BusyError) as error:
            said = str(error)
            return forms.invitation(self.title, name, token, f"{said[0].upper()}{said[1:]}.", 400)
        return forms.spent() if secret is None else await self._let_in(request, secret)

    async def _let_in(self, request: Request, secret: str | None) -> Response:
        """Give the browser its session; one that it had before is over."""
        if secret is None:
            return self._form("The campaign is busy; try again.", status=503)
        before = self.tokens.read_cookie(request.cookies.get(self.cookie))
        if before is not None:
            await _tried(self._desk, lambda campaign: _end(campaign, before))
        response = _to_the_app()
        response.set_cookie(
            self.cookie,
            self.tokens.cookie(secret),
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="lax",  # "strict" would not be sent on the redirect that follows a link in a mail
            secure=request.url.scheme == "https",
        )
        return response

    def _form(self, wrong: str = "", name: str = "", status: int = 200) -> Response:
        title = self.provider.title if self.provider is not None else None
        return forms.signin(self.title, title, wrong, name, status)


class Door:
    """Leads who opens a page without a session to the sign-in; keeps what was uploaded and drawn to those inside.

    The pages look for themselves who comes; this spares the browser the app, and a person a click.

    Parameters
    ----------
    app
        What lies behind.
    service
        Knows who is signed in.
    pages
        The addresses of pages.
    """

    INSIDE = ("/media/", "/_stcore/upload_file/", "/_stcore/metrics", "/_stcore/agent/")
    """What Streamlit serves to whoever knows the address: files that pages show and take, figures of the process, and
    an interface for programs, which is off. Only for those who are signed in."""

    def __init__(self, app: ASGIApp, service: SigningService, pages: frozenset[str]) -> None:
        self.app, self.service, self.pages = app, service, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        answer = await self._answer(Request(scope)) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        path = request.scope["path"]
        is_inside = path.startswith(self.INSIDE)
        if not is_inside and (path.strip("/") not in self.pages or request.method not in ("GET", "HEAD")):
            return None
        if await self.service.signed_in(request) is not None:
            return None
        if is_inside:
            return PlainTextResponse("You are not signed in.", 401)
        if path == "/" and self.service.provider is not None and PROVIDER_COOKIE in request.cookies:
            return None  # on the way back from the provider: the script sees who that is
        return RedirectResponse("/signin", 303, {"Cache-Control": "no-store"})


async def _form(request: Request) -> dict[str, str] | None:
    """What a form of this server sent; None where it is none, or where another site made the browser send it."""
    if not _same_origin(request):
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            return None
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=10, errors="replace")
    except ValueError:
        return None
    return {name: values[-1] for name, values in fields.items()}


def _same_origin(request: Request) -> bool:
    """Whether a request comes from a page of this server, or from no browser.

    The cookie alone does not tell: a browser sends it along when another site's form is posted at the top, and for
    signing in none is needed at all.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")  # browsers do not send the other one over plain http
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _tried(desk: Desk, work: Callable[[Campaign], T]) -> T | None:
    """What comes of it; None where the campaign refuses (locked meanwhile) or is busy."""
    try:
        return await desk.run(work)
    except CleverdonError:
        return None


def _end(campaign: Campaign, secret: str) -> None:
    person = campaign.session(secret)
    if person is not None:
        campaign.end_session(person.session)


def _to_the_app() -> RedirectResponse:
    return RedirectResponse("/", 303, {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"})
