"""Sign-in routes: forms, passwords, one-time links and invitations."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotate.auth import forms
from annotate.auth.browser_names import describe_browser
from annotate.auth.oidc import Provider
from annotate.auth.rate_limit import MAX_CHECKS, MAX_CHECKS_PER_SOURCE, FailedAttempts, Places, same_name, wait_message
from annotate.auth.roles import ANYBODY, open_to
from annotate.auth.tokens import (
    BROWSER_SECONDS,
    COOKIE_SECONDS,
    CurrentTokens,
    Tokens,
    browser_cookie_name,
    cookie_name,
)
from annotate.server.campaign_thread import CampaignThread
from annotate.server.origins import Origins
from annotate.server.request_bodies import RequestError, read_form
from collection.accounts import LONGEST_PASSWORD
from collection.campaign import Campaign
from collection.campaign.people.accounts import Device, Person
from collection.core.errors import CleverdonError, InputError
from collection.core.phrases import sentence

LONGEST_FORM = 20 * LONGEST_PASSWORD  # bytes; a password of astral characters, percent-encoded three times, fits

WRONG = "Wrong name or password, or the account is locked."


class SignInService:
    """The sign-in pages of the campaign in `directory`."""

    def __init__(self, directory: Path, provider: Provider | None, origins: Origins) -> None:
        self._thread = CampaignThread(directory, "signing")  # every page asks it who is signed in, so it never waits
        self._sessions = CampaignThread(directory, "sessions")  # may wait while another process writes
        # Checking a password takes 0.1 s on purpose: pages do not wait behind it, and invited people and known browsers
        # do not wait behind the guesses of strangers.
        self._slow, self._strangers = CampaignThread(directory, "passwords"), CampaignThread(directory, "strangers")
        self.provider, self._origins = provider, origins
        self.attempts = FailedAttempts()
        self._checks, self._stranger_checks = (Places(MAX_CHECKS, MAX_CHECKS_PER_SOURCE) for _ in range(2))
        with Campaign(directory) as campaign:
            self.title = campaign.title
            self.cookie, self.browser_cookie = cookie_name(campaign.id), browser_cookie_name(campaign.id)
            self._tokens = CurrentTokens(directory, campaign.id)

    @property
    def tokens(self) -> Tokens:
        """The cookies by the current key."""
        return self._tokens.get()

    async def close(self) -> None:
        """Close the connections."""
        for thread in (self._thread, self._sessions, self._slow, self._strangers):
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
        """Return the person whose open session the browser has."""
        return await self._tokens.signed_in(request, self._thread)

    async def image_hosts(self, request: HTTPConnection) -> tuple[str, ...]:
        """Return the hosts that pages of a person who is signed in may show images from; none for others."""
        if await self.signed_in(request) is None:
            return ()
        return await self._thread.run(lambda campaign: campaign.settings.judging_page().image_hosts)

    @open_to(ANYBODY)
    async def signin(self, request: Request) -> Response:
        """Show the form for name and password; with a token, the page of a one-time link.

        Only that page's button uses the link up: chat and mail programs fetch the links that they show.
        """
        token = request.query_params.get("token")
        person = await self.signed_in(request)
        if token is None:
            return self._form() if person is None else _redirect_to_app()
        name = await self._thread.run(lambda campaign: campaign.people.accounts.signin_link_account(token))
        if name is None:
            return forms.expired_link() if person is None else _redirect_to_app()
        return forms.link(self.title, name, token, person and person.name)

    @open_to(ANYBODY)
    async def check(self, request: Request) -> Response:
        """Check a name and a password, or the token of a one-time link, as the forms send them."""
        try:
            sent = await read_form(request, LONGEST_FORM)
        except RequestError as error:
            return forms.refused(str(error), error.status)
        if "token" in sent:
            return await self._use_link(request, sent["token"])
        name, password = sent.get("name", ""), sent.get("password", "")
        browser = self.tokens.read_browser_cookie(request.cookies.get(self.browser_cookie))
        is_known = browser is not None and same_name(browser.name, name)
        address = request.client.host if request.client else ""
        source = browser.key if browser is not None and is_known else address
        if (wait := self.attempts.wait(name, source, is_known=is_known)) > 0:
            return self._form(wait_message(wait), name, 429, retry_after=int(wait) + 1)
        checks, thread = (self._checks, self._slow) if is_known else (self._stranger_checks, self._strangers)
        with checks.place(source) as is_free:
            if not is_free:
                busy = "Too many people are signing in. Try again in a few seconds."
                return self._form(busy, name, 503, retry_after=2)
            # Counted as failed before it is checked, so that simultaneous guesses count as well.
            self.attempts.failed(name, source, is_known=is_known)
            account = await thread.run(lambda campaign: campaign.people.accounts.check_password(name, password))
        if account is None:
            return self._form(WRONG, name, 403)
        self.attempts.succeeded(name, source, is_known=is_known)
        device = _device(request)
        return await self._open(
            request, account, lambda campaign: campaign.people.accounts.open_session(account, device)
        )

    async def _use_link(self, request: Request, token: str) -> Response:
        name = await self._thread.run(lambda campaign: campaign.people.accounts.signin_link_account(token))
        if name is None:
            return forms.expired_link()
        device = _device(request)
        return await self._open(request, name, lambda campaign: campaign.people.accounts.use_signin_link(token, device))

    async def _open(self, request: Request, name: str, open_session: Callable[[Campaign], str | None]) -> Response:
        """Sign a person in with the secret of a new session, None after the end of a link."""
        try:
            secret = await self._sessions.run(open_session)
        except CleverdonError as error:  # locked meanwhile, or it cannot be written; a link can still be used
            return self._form(sentence(str(error)), name, 503)
        return forms.expired_link() if secret is None else await self._sign_in(request, secret, name)

    @open_to(ANYBODY)
    async def invitation(self, request: Request) -> Response:
        """Show the form of an invitation, which does not use it up."""
        token = request.query_params.get("token", "")
        name = await self._thread.run(lambda campaign: campaign.people.accounts.invited(token))
        if name is None:
            return forms.expired_link()
        person = await self.signed_in(request)
        return forms.invitation(self.title, name, token, person=person and person.name)

    @open_to(ANYBODY)
    async def accept(self, request: Request) -> Response:
        """Take the password that an invited person has chosen."""
        try:
            sent = await read_form(request, LONGEST_FORM)
        except RequestError as error:
            return forms.refused(str(error), error.status)
        token, password = sent.get("token", ""), sent.get("password", "")
        name = await self._thread.run(lambda campaign: campaign.people.accounts.invited(token))
        if name is None:
            return forms.expired_link()
        if password != sent.get("again"):
            return forms.invitation(self.title, name, token, "The two passwords differ.", 400)
        device = _device(request)
        try:
            secret = await self._slow.run(
                lambda campaign: campaign.people.accounts.accept_invitation(token, password, device)
            )
        except CleverdonError as error:
            status = 400 if isinstance(error, InputError) else 503
            return forms.invitation(self.title, name, token, sentence(str(error)), status)
        return forms.expired_link() if secret is None else await self._sign_in(request, secret, name)

    async def _sign_in(self, request: Request, secret: str, name: str) -> Response:
        """Give the browser its session, and end the one that it had before."""
        before = self.tokens.read_cookie(request.cookies.get(self.cookie))
        if before is not None:
            with suppress(CleverdonError):  # it ends by itself after some days
                await self._sessions.run(lambda campaign: _end_session(campaign, before))
        response = _redirect_to_app()
        # "strict" would not be sent on the redirect that follows a link in a mail.
        set_cookie = partial(response.set_cookie, httponly=True, samesite="lax", secure=self._origins.is_https(request))
        set_cookie(self.cookie, self.tokens.cookie(secret), COOKIE_SECONDS)
        set_cookie(self.browser_cookie, self.tokens.browser_cookie(name), BROWSER_SECONDS)
        return response

    def _form(self, wrong: str = "", name: str = "", status: int = 200, retry_after: int | None = None) -> Response:
        response = forms.signin(self.title, self.provider and self.provider.title, wrong, name, status)
        if retry_after is not None:
            response.headers["Retry-After"] = str(retry_after)
        return response


def _device(request: Request) -> Device:
    address = request.client.host if request.client else ""
    return Device(describe_browser(request.headers.get("user-agent", "")), address)


def _end_session(campaign: Campaign, secret: str) -> None:
    person = campaign.people.accounts.session(secret)
    if person is not None:
        campaign.people.accounts.end_session(person.session)


def _redirect_to_app() -> RedirectResponse:
    return RedirectResponse("/", 303, {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"})
