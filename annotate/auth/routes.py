"""The routes of signing in: forms, passwords, one-time links and invitations."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotate.auth import forms
from annotate.auth.oidc import Provider
from annotate.auth.rate_limit import Attempts, Busy, Queue, same_name, wait_message
from annotate.auth.roles import ANYBODY, open_to
from annotate.auth.tokens import BROWSER_SECONDS, COOKIE_SECONDS, Browser, Tokens, browser_cookie_name, cookie_name
from annotate.server.campaign_thread import CampaignThread
from annotate.server.origins import Origins
from annotate.server.request_bodies import BadRequest, read_form
from collection.accounts import LONGEST_PASSWORD
from collection.campaign import Campaign
from collection.campaign.accounts import Person
from collection.errors import BusyError, CleverdonError, InputError

LONGEST_FORM = 20 * LONGEST_PASSWORD
"""Bytes; a password of astral characters, percent-encoded three times, fits."""

WRONG = "Name and password do not fit, or the account is locked."

T = TypeVar("T")


class SignInService:
    """The sign-in pages of one campaign.

    Parameters
    ----------
    directory
        The campaign's directory.
    provider
        Where one may sign in besides; None for nowhere.
    origins
        The names and origins of the server.
    """

    def __init__(self, directory: Path, provider: Provider | None, origins: Origins) -> None:
        self._thread = CampaignThread(directory, "signing")
        # Passwords take a tenth of a second each, on purpose. Nobody's page waits behind them, and no invited person
        # or known browser waits behind the guesses of strangers.
        self._slow, self._strangers = CampaignThread(directory, "passwords"), CampaignThread(directory, "strangers")
        self.provider, self._origins = provider, origins
        self.attempts = Attempts()
        self._waiting, self._waiting_strangers = Queue(), Queue()
        with Campaign(directory) as campaign:
            self.title = campaign.title
            self.cookie, self.browser_cookie = cookie_name(campaign.id), browser_cookie_name(campaign.id)
            self.tokens = Tokens(campaign.server_state.secret(), campaign.id)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Close the connections when the server stops."""
        try:
            yield
        finally:
            for thread in (self._thread, self._slow, self._strangers):
                await thread.close()

    def routes(self) -> list[Route]:
        """All routes of this service."""
        return [
            Route("/signin", self.signin, methods=["GET"]),
            Route("/signin", self.check, methods=["POST"]),
            Route("/invitation", self.invitation, methods=["GET"]),
            Route("/invitation", self.accept, methods=["POST"]),
        ]

    async def signed_in(self, request: HTTPConnection) -> Person | None:
        """Whose open session the browser has."""
        secret = self.tokens.read_cookie(request.cookies.get(self.cookie))
        return None if secret is None else await self._thread.run(lambda campaign: campaign.accounts.session(secret))

    @open_to(ANYBODY)
    async def signin(self, request: Request) -> Response:
        """The form for name and password; with a token, the page of a one-time link.

        Looking at a link uses nothing up: chat and mail programs fetch the links that they show, and some run the
        scripts of the page too. Only the button of that page spends it.
        """
        token = request.query_params.get("token")
        inside = await self.signed_in(request)
        if token is None:
            return self._form() if inside is None else _to_the_app()
        name = await self._thread.run(lambda campaign: campaign.accounts.signin_link_account(token))
        if name is None:
            return forms.expired_link() if inside is None else _to_the_app()
        return forms.link(self.title, name, token, _other(inside, name))

    @open_to(ANYBODY)
    async def check(self, request: Request) -> Response:
        """Name and password as the form sends them, or the token of a one-time link."""
        try:
            sent = await read_form(request, LONGEST_FORM)
        except BadRequest as error:
            return forms.refused(str(error), error.status)
        if "token" in sent:
            return await self._use_link(request, sent["token"])
        name, password = sent.get("name", ""), sent.get("password", "")
        browser = self._browser(request)
        is_known = browser is not None and same_name(browser.name, name)
        source = browser.key if browser is not None and is_known else _address(request)
        if (wait := self.attempts.wait(name, source, is_known=is_known)) > 0:
            return self._form(wait_message(wait), name, 429, retry_after=int(wait) + 1)
        try:
            queue, thread = (self._waiting, self._slow) if is_known else (self._waiting_strangers, self._strangers)
            with queue.place(source):
                # Counted before it is known: many at once are many.
                self.attempts.failed(name, source, is_known=is_known)
                account = await thread.run(lambda campaign: campaign.accounts.check_password(name, password))
        except Busy:
            return self._form("Too many people are signing in; try again in a few seconds.", name, 503, retry_after=2)
        if account is None:
            return self._form(WRONG, name, 403)
        self.attempts.succeeded(name, source, is_known=is_known)
        secret = await _tried(self._thread, lambda campaign: campaign.accounts.open_session(account))
        return await self._let_in(request, secret, account)

    async def _use_link(self, request: Request, token: str) -> Response:
        name = await self._thread.run(lambda campaign: campaign.accounts.signin_link_account(token))
        if name is None:
            return forms.expired_link()
        try:
            secret = await self._thread.run(lambda campaign: campaign.accounts.use_signin_link(token))
        except CleverdonError:  # busy; the link can still be used
            return await self._let_in(request, None, name)
        return forms.expired_link() if secret is None else await self._let_in(request, secret, name)

    @open_to(ANYBODY)
    async def invitation(self, request: Request) -> Response:
        """The form of an invitation; to look at it uses nothing up: programs that show mail do that."""
        token = request.query_params.get("token", "")
        name = await self._thread.run(lambda campaign: campaign.accounts.invited(token))
        if name is None:
            return forms.expired_link()
        return forms.invitation(self.title, name, token, instead_of=_other(await self.signed_in(request), name))

    @open_to(ANYBODY)
    async def accept(self, request: Request) -> Response:
        """The password that an invited person chose."""
        try:
            sent = await read_form(request, LONGEST_FORM)
        except BadRequest as error:
            return forms.refused(str(error), error.status)
        token, password = sent.get("token", ""), sent.get("password", "")
        name = await self._thread.run(lambda campaign: campaign.accounts.invited(token))
        if name is None:
            return forms.expired_link()
        if password != sent.get("again"):
            return forms.invitation(self.title, name, token, "The two passwords are not the same.", 400)
        try:
            secret = await self._slow.run(lambda campaign: campaign.accounts.accept_invitation(token, password))
        except (InputError, BusyError) as error:
            said = str(error)
            return forms.invitation(self.title, name, token, f"{said[0].upper()}{said[1:]}.", 400)
        return forms.expired_link() if secret is None else await self._let_in(request, secret, name)

    async def _let_in(self, request: Request, secret: str | None, name: str) -> Response:
        """Give the browser its session; one that it had before is over."""
        if secret is None:
            return self._form("The campaign is busy; try again.", status=503)
        before = self.tokens.read_cookie(request.cookies.get(self.cookie))
        if before is not None:
            await _tried(self._thread, lambda campaign: _end(campaign, before))
        response = _to_the_app()
        for cookie, value, seconds in (
            (self.cookie, self.tokens.cookie(secret), COOKIE_SECONDS),
            (self.browser_cookie, self.tokens.browser_cookie(name), BROWSER_SECONDS),
        ):
            response.set_cookie(
                cookie,
                value,
                max_age=seconds,
                httponly=True,
                samesite="lax",  # "strict" would not be sent on the redirect that follows a link in a mail
                secure=self._origins.is_https(request),
            )
        return response

    def _browser(self, request: Request) -> Browser | None:
        return self.tokens.read_browser_cookie(request.cookies.get(self.browser_cookie))

    def _form(self, wrong: str = "", name: str = "", status: int = 200, retry_after: int | None = None) -> Response:
        title = self.provider.title if self.provider is not None else None
        response = forms.signin(self.title, title, wrong, name, status)
        if retry_after is not None:
            response.headers["Retry-After"] = str(retry_after)
        return response


async def _tried(thread: CampaignThread, work: Callable[[Campaign], T]) -> T | None:
    """What comes of it; None where the campaign refuses (locked meanwhile) or is busy."""
    try:
        return await thread.run(work)
    except CleverdonError:
        return None


def _end(campaign: Campaign, secret: str) -> None:
    person = campaign.accounts.session(secret)
    if person is not None:
        campaign.accounts.end_session(person.session)


def _other(inside: Person | None, name: str) -> str:
    """Who is signed in on the browser, if that is somebody else than `name`."""
    return "" if inside is None or inside.name == name else inside.name


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _to_the_app() -> RedirectResponse:
    return RedirectResponse("/", 303, {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"})
