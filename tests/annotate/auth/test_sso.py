"""The settings in ``sso.toml``, and accounts of the provider's people; redirects are tested in tests/browser."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from annotate.application import SCRIPT, create_app
from annotate.auth import oidc
from annotate.auth.oidc import Newcomer, Provider
from annotate.auth.session import DIRECTORY_VARIABLE
from annotate.views.account.signin_pages import AT_PROVIDER
from collection import Campaign, accounts
from collection.core import clock
from collection.core.errors import CampaignError, CleverdonError, FormatError, InputError
from tests.conftest import signed_in
from tests.helpers import PATIENCE, Opened

SETUP = {
    "title": '"Example"',
    "address": '"https://judging.example.org/"',
    "metadata_url": '"https://login.example.org/.well-known/openid-configuration"',
    "client_id": '"cleverdon"',
    "client_secret": '"a secret"',
}
ROLES = '[roles]\nmanager = ["mia@x.org"]\nannotator = ["*@x.org", "group:Judges"]\nreader = ["rae@y.org"]\n'

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes an ``sso.toml`` with other values than the usual ones, or without some."""

    def make(roles: str = ROLES, **changes: str | None) -> Path:
        lines = [f"{key} = {value}\n" for key, value in {**SETUP, **changes}.items() if value is not None]
        path = tmp_path / oidc.FILE
        path.write_text("".join(lines) + roles)
        path.chmod(0o600)
        return tmp_path

    return make


def test_no_file_no_provider(tmp_path: Path) -> None:
    assert oidc.read_provider(tmp_path) is None


def test_an_international_address_is_encoded_for_the_provider(write: Write) -> None:
    known = oidc.read_provider(write(address='"https://bücher.example"'))
    assert known is not None
    assert known.secrets(b"key")["auth"]["redirect_uri"] == "https://xn--bcher-kva.example/oauth2callback"


def test_a_setup(write: Write) -> None:
    known = oidc.read_provider(write(groups_claim='"realm_access.roles"'))
    assert known is not None
    assert (known.title, known.address, known.groups_claim) == (
        "Example",
        "https://judging.example.org",
        "realm_access.roles",
    )
    assert known.roles["annotator"] == ["*@x.org", "group:Judges"]
    auth = known.secrets(b"key")["auth"]
    assert auth["redirect_uri"] == "https://judging.example.org/oauth2callback"
    assert auth["provider"]["server_metadata_url"].startswith("https://login.example.org/")
    assert len(auth["cookie_secret"]) == 64
    assert auth["cookie_secret"] != known.secrets(b"other key")["auth"]["cookie_secret"]  # each campaign its own


def test_without_a_title_it_is_called_by_its_host(write: Write) -> None:
    known = oidc.read_provider(write(title=None))
    assert known is not None
    assert known.title == "login.example.org"


@pytest.mark.parametrize(("mode", "readable"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_file_that_others_can_read_is_noticed(write: Write, mode: int, readable: bool) -> None:
    folder = write()
    (folder / oidc.FILE).chmod(mode)
    known = oidc.read_provider(folder)
    assert known is not None
    assert known.readable is readable


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"client_id": None}, 'expected client_id = "...", found none'),
        ({"client_secret": '""'}, "client_secret"),
        ({"address": '"judging.example.org"'}, "address as https"),
        ({"address": '"http://judging.example.org"'}, "http only on this machine"),
        ({"address": '"https://example.org/judging"'}, "without a path"),
        ({"metadata_url": '"http://login.example.org/x"'}, "http only on this machine"),
        ({"metadata_url": '"file:///etc/passwd"'}, "metadata_url as https"),
        ({"colour": '"red"'}, "found colour"),
        ({"scope": "7"}, "scope"),
        ({"roles": ""}, "sso.toml"),
        ({"roles": "[roles]\n"}, r"a table \[roles\]"),
        ({"roles": '[roles]\nboss = ["a@x.org"]\n'}, "unknown role 'boss'"),
        ({"roles": '[roles]\nreader = "a@x.org"\n'}, "reader = "),
        ({"roles": "[roles]\nreader = [7]\n"}, "reader = "),
        ({"title": "="}, "expected TOML"),
    ],
)
def test_a_setup_that_is_none(write: Write, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(FormatError, match=words):
        oidc.read_provider(write(**changes))


def test_without_authlib_it_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CampaignError, match="pip install 'Authlib<2'"):
        oidc.read_provider(write())


@pytest.mark.slow
def test_the_app_does_not_start_on_a_setup_that_is_none(campaign: Campaign) -> None:
    (campaign.directory / oidc.FILE).write_text("nothing")
    with pytest.raises(CleverdonError, match="sso.toml"):
        create_app(campaign.directory)


# --- who is who -----------------------------------------------------------------------------------


@pytest.fixture
def known(write: Write) -> Provider:
    found = oidc.read_provider(write())
    assert found is not None
    return found


AT = 1_800_000_000.0


@pytest.mark.parametrize(
    ("claims", "newcomer"),
    [
        ({"email": "mia@x.org", "name": "Mia"}, ("mia@x.org", "Mia", "manager")),
        ({"email": "MIA@X.org"}, ("MIA@X.org", None, "manager")),
        ({"email": "bob@x.org", "name": 7}, ("bob@x.org", None, "annotator")),
        ({"email": "bob@z.org", "groups": ["judges"]}, ("bob@z.org", None, "annotator")),
        ({"email": "bob@z.org", "groups": "judges"}, ("bob@z.org", None, "annotator")),
        ({"email": "rae@y.org", "email_verified": True}, ("rae@y.org", None, "reader")),
        ({"email": "rae@y.org", "groups": ["judges"]}, ("rae@y.org", None, "annotator")),  # the first of the roles
    ],
)
def test_the_role_comes_from_the_address_or_a_group(
    known: Provider, claims: dict[str, Any], newcomer: tuple[str, str | None, Any]
) -> None:
    assert known.identify({"iat": AT, **claims}, at=AT) == Newcomer(*newcomer)


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"email": "eve@y.org"}, "eve@y.org has no role in this campaign"),
        ({"email": "eve@x.org.evil.org"}, "no role in this campaign"),
        ({"email": "mia@x.org", "email_verified": False}, "not verified"),
        ({"email": "mia@x.org", "email_verified": "false"}, "not verified"),
        ({"groups": ["judges"]}, "no e-mail address"),
        ({"email": ""}, "no e-mail address"),
        ({"email": "eve@y.org", "groups": None}, "no role in this campaign"),
        ({"email": "eve@y.org", "groups": [["judges"]]}, "no role in this campaign"),
        ({"email": "group:judges"}, "no role in this campaign"),
    ],
)
def test_an_unknown_person_is_refused(known: Provider, claims: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        known.identify({"iat": AT, **claims}, at=AT)


@pytest.mark.parametrize("iat", [AT - oidc.CLAIMS_VALID - 1, AT + oidc.CLOCK_SKEW + 1, None, "now", float("nan")])
def test_what_was_said_long_ago_counts_no_more(known: Provider, iat: Any) -> None:
    assert known.identify({"email": "mia@x.org", "iat": iat}, at=AT) is None


def test_groups_may_lie_deeper() -> None:
    claims = {"realm_access": {"roles": ["a", "b"]}, "https://x.org/groups": ["c"], "one": "d"}
    assert accounts.read_groups(claims, "realm_access.roles") == ["a", "b"]
    assert accounts.read_groups(claims, "https://x.org/groups") == ["c"]
    assert accounts.read_groups(claims, "one") == ["d"]
    for nothing in ("none", "realm_access", "realm_access.none", "one.deeper"):
        assert accounts.read_groups(claims, nothing) == []


# --- being let in ---------------------------------------------------------------------------------


def let_in(campaign: Campaign, *given: Any) -> tuple[str, str]:
    token = campaign.people.accounts.admit(*given)
    assert token is not None
    secret = campaign.people.accounts.use_signin_link(token)
    assert secret is not None
    person = campaign.people.accounts.session(secret)
    assert person is not None
    return person.name, person.role


def test_an_account_of_this_address_is_theirs_and_gets_the_role(campaign: Campaign) -> None:
    signed_in(campaign, "ann", "manager")
    campaign.people.accounts.invite("bob", "reader", email="bob@x.org")
    assert let_in(campaign, "BOB@x.org", "annotator", "Robert") == ("bob", "annotator")
    assert len(campaign.store.accounts.table()) == 2


def test_a_newcomer_is_called_as_the_provider_does_or_by_the_address(campaign: Campaign) -> None:
    signed_in(campaign, "ann", "manager")
    assert let_in(campaign, "mia@x.org", "reader", "Mia") == ("Mia", "reader")
    assert let_in(campaign, "mia@y.org", "reader", "mia") == ("mia@y.org", "reader")  # the name is somebody else's
    assert let_in(campaign, "ann@z.org", "reader", "Ann") == ("ann@z.org", "reader")
    assert let_in(campaign, "bad@z.org", "reader", "qrels:x\n") == ("bad@z.org", "reader")
    assert let_in(campaign, "ann@z.org", "manager", "Ann") == ("ann@z.org", "manager")


def test_nobody_takes_a_name_from_the_log(campaign: Campaign) -> None:
    """Names at a provider are often chosen by the person; the judgements of somebody else are not."""
    from collection import Judgement

    campaign.judging.judge_many([Judgement("u", "Zoe", "1", "d1", "graded", 1)])
    signed_in(campaign, "ann", "manager")
    assert let_in(campaign, "eve@x.org", "annotator", "zoe") == ("eve@x.org", "annotator")


def test_a_locked_account_stays_locked(campaign: Campaign) -> None:
    signed_in(campaign, "ann", "manager")
    campaign.people.accounts.invite("bob", "reader", email="bob@x.org")
    campaign.people.accounts.lock("bob")
    assert campaign.people.accounts.admit("bob@x.org", "manager", "bob") is None
    assert campaign.store.accounts.table().set_index("name").loc["bob", ["role", "locked"]].tolist() == ["reader", True]


def test_the_last_manager_stays_one_whatever_the_provider_says(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager", "ann@x.org")
    assert let_in(campaign, "ann@x.org", "reader") == ("ann", "manager")


def test_the_link_of_who_is_let_in_lives_a_minute(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_in(campaign, "ann", "manager")
    token = campaign.people.accounts.admit("mia@x.org", "reader")
    assert token is not None
    now = time.time()
    monkeypatch.setattr(clock, "seconds", lambda: now + 61)
    assert campaign.people.accounts.use_signin_link(token) is None


# --- the pages of people who are not signed in -----------------------------------------------------


class Browser:
    """The provider's claims about the person at a browser, and the app's requests to Streamlit."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.asked: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        return self.claims

    def come_back(self, **claims: Any) -> None:
        self.claims = {"is_logged_in": True, "provider": oidc.NAME, "iat": clock.seconds(), **claims}


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    made = Browser()
    monkeypatch.setattr(st, "user", made)
    monkeypatch.setattr(st, "login", lambda provider: made.asked.append(f"login {provider}"))
    monkeypatch.setattr(st, "logout", lambda: made.asked.append("logout"))
    return made


def look(campaign: Campaign, monkeypatch: pytest.MonkeyPatch, path: str = "") -> AppTest:
    """The page that somebody without a session gets at an address."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(campaign.directory))
    app = AppTest.from_file(str(SCRIPT), default_timeout=PATIENCE)
    if path:
        app._page_hash = calc_hash(path)
    app.run()
    return app


def html(app: AppTest) -> str:
    return " ".join(str(part.value) for part in app.main.get("html"))


@pytest.fixture
def provided(campaign: Campaign, write: Write) -> Campaign:
    """The campaign with the setup above."""
    shutil.copy(write() / oidc.FILE, campaign.directory)
    return campaign


@pytest.mark.slow
def test_a_person_back_from_the_provider_gets_their_own_link(
    provided: Campaign, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.come_back(email="mia@x.org", name="Mia")
    page = html(look(provided, monkeypatch))
    token = re.search(r'href="/signin\?token=([^"]+)"', page)
    assert token is not None
    secret = provided.people.accounts.use_signin_link(token[1])
    assert secret is not None
    person = provided.people.accounts.session(secret)
    assert person is not None
    assert person.role == "manager"


@pytest.mark.parametrize(
    ("email", "words"),
    [("eve@y.org", r"has no role in this campaign"), ("mia@x.org", r"is locked; ask a manager of this campaign")],
)
@pytest.mark.slow
def test_a_refused_person_is_told_why_and_can_leave_the_provider(
    provided: Campaign, browser: Browser, monkeypatch: pytest.MonkeyPatch, email: str, words: str
) -> None:
    name, _ = let_in(provided, "mia@x.org", "manager", "Mia")
    provided.people.accounts.add("bob", "manager")
    provided.people.accounts.lock(name)
    browser.come_back(email=email)
    app = look(provided, monkeypatch)
    assert words in app.error[0].value
    assert "/signin?token" not in html(app)
    assert 'href="/signin"' in html(app)  # by password
    app.button(key="leave").click().run()
    assert browser.asked == ["logout"]


@pytest.mark.parametrize("claims", [{}, {"iat": 0}, {"provider": "another"}, {"is_logged_in": False}])
@pytest.mark.slow
def test_missing_stale_or_foreign_claims_sign_nobody_in(
    provided: Campaign, browser: Browser, monkeypatch: pytest.MonkeyPatch, claims: dict[str, Any]
) -> None:
    if claims:
        browser.come_back(email="mia@x.org", **claims)
    app = look(provided, monkeypatch)
    assert "You are not signed in, or your session has ended." in [m.value for m in app.markdown]
    assert "token=" not in html(app)


@pytest.mark.slow
def test_the_page_of_the_provider_leads_there_if_there_is_one(
    campaign: Campaign, write: Write, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = look(campaign, monkeypatch, AT_PROVIDER)
    assert "This campaign has no sign-in provider." in [m.value for m in app.markdown]
    assert not browser.asked
    shutil.copy(write() / oidc.FILE, campaign.directory)
    look(campaign, monkeypatch, AT_PROVIDER)
    assert browser.asked == [f"login {oidc.NAME}"]


def test_signing_out_leaves_the_provider_too(opened: Opened, provided: Campaign, browser: Browser) -> None:
    app = opened(provided, "account", "ann", "annotator")
    browser.come_back(email="mia@x.org")
    app.button(key="sign-out").click().run()
    assert browser.asked == ["logout"]
    assert provided.store.accounts.table()["sessions"].tolist() == [0]
