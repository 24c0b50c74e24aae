"""Sessions: listed and ended by their owner and by managers; the key that signs cookies is replaced."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.auth import session
from annotate.auth.browser_names import describe_browser
from annotate.auth.oidc import read_provider
from annotate.auth.routes import SignInService
from annotate.auth.tokens import CurrentTokens, Tokens, cookie_name
from annotate.card.server.routes import JudgingService
from annotate.server.origins import Origins
from collection import Campaign
from collection.campaign.people.accounts import SEEN_SECONDS, Accounts, Device
from tests.helpers import PATIENCE, Clock, fails, ok, run, until

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def client(campaign: Campaign) -> Iterator[TestClient]:
    service = SignInService(campaign.directory, read_provider(campaign.directory), Origins())
    with TestClient(Starlette(routes=service.routes()), follow_redirects=False) as client:
        yield client


def test_a_session_is_listed_with_its_browser_and_address(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    token = campaign.people.accounts.make_signin_link("ann")
    assert client.post("/signin", data={"token": token}, headers={"User-Agent": FIREFOX}).status_code == 303
    (found,) = campaign.people.accounts.sessions("ANN").to_dict("records")
    assert (found["account"], found["device"], found["address"]) == ("ann", "Firefox on Linux", "testclient")


def test_an_invitation_and_a_password_name_the_browser_too(client: TestClient, campaign: Campaign) -> None:
    token = campaign.people.accounts.invite("bob", "annotator")
    fields = {"token": token, "password": "a long passphrase", "again": "a long passphrase"}
    assert client.post("/invitation", data=fields, headers={"User-Agent": FIREFOX}).status_code == 303
    client.cookies.clear()
    fields = {"name": "bob", "password": "a long passphrase"}
    assert client.post("/signin", data=fields, headers={"User-Agent": "curl/8"}).status_code == 303
    assert sorted(campaign.people.accounts.sessions("bob")["device"]) == ["Firefox on Linux", "unknown browser"]


def test_the_latest_seen_comes_first_and_ended_ones_are_gone(campaign: Campaign, clock: Clock) -> None:
    campaign.people.accounts.add("ann", "manager")
    first = campaign.people.accounts.open_session("ann", Device("Firefox on Linux", "10.0.0.7"))
    clock.at += 60
    second = campaign.people.accounts.open_session("ann", Device("Safari on iPhone", "10.0.0.8"))
    assert campaign.people.accounts.sessions("ann")["address"].tolist() == ["10.0.0.8", "10.0.0.7"]
    seen = campaign.people.accounts.sessions("ann")["seen_at"].tolist()
    assert campaign.people.accounts.session(first)  # too soon after it was opened to be noted
    assert campaign.people.accounts.sessions("ann")["seen_at"].tolist() == seen
    clock.at += SEEN_SECONDS
    person = campaign.people.accounts.session(first)
    assert person is not None
    assert campaign.people.accounts.sessions("ann")["address"].tolist() == ["10.0.0.7", "10.0.0.8"]
    campaign.people.accounts.end_session(person.session)
    assert campaign.people.accounts.sessions()["address"].tolist() == ["10.0.0.8"]
    clock.at += 31 * 24 * 3600
    assert campaign.people.accounts.session(second) is None
    assert campaign.people.accounts.sessions().empty


def test_a_person_is_let_in_while_another_process_writes(campaign: Campaign, clock: Clock) -> None:
    campaign.people.accounts.add("ann", "manager")
    secret = campaign.people.accounts.open_session("ann")
    seen = campaign.people.accounts.sessions("ann")["seen_at"].tolist()
    clock.at += SEEN_SECONDS + 1
    with closing(sqlite3.connect(campaign.directory / "campaign.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert campaign.people.accounts.session(secret)  # at once: a wait would be 15 seconds
        assert campaign.people.accounts.sessions("ann")["seen_at"].tolist() == seen
        other.execute("ROLLBACK")
    assert campaign.people.accounts.session(secret)
    assert campaign.people.accounts.sessions("ann")["seen_at"].tolist() != seen


@pytest.mark.parametrize("ends_another", [False, True])
def test_nobody_waits_for_a_person_who_signs_in_while_another_process_writes(
    client: TestClient, campaign: Campaign, monkeypatch: pytest.MonkeyPatch, ends_another: bool
) -> None:
    """Neither for the new session, nor for the end of the one that the browser had before."""
    campaign.people.accounts.add("ann", "manager")
    tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
    cookies = [
        f"{cookie_name(campaign.id)}={tokens.cookie(campaign.people.accounts.open_session('ann'))}" for _ in range(2)
    ]
    link = campaign.people.accounts.make_signin_link("ann")
    name, begun, locked = "end_session" if ends_another else "use_signin_link", threading.Event(), threading.Event()
    write = getattr(Accounts, name)

    def write_once_locked(*arguments: object) -> object:
        begun.set()
        locked.wait(PATIENCE)
        return write(*arguments)

    monkeypatch.setattr(Accounts, name, write_once_locked)
    headers = {"Cookie": cookies[0]} if ends_another else {}
    with ThreadPoolExecutor(1) as pool, closing(sqlite3.connect(campaign.directory / "campaign.db")) as other:
        signing_in = pool.submit(client.post, "/signin", data={"token": link}, headers=headers)
        until(begun.is_set, "the write of the session")
        other.execute("BEGIN IMMEDIATE")
        locked.set()
        assert client.get("/signin", headers={"Cookie": cookies[1]}).headers["Location"] == "/"
        assert not signing_in.done()
        other.execute("ROLLBACK")
        assert signing_in.result(PATIENCE).status_code == 303


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604", "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18 Safari/605", "Safari on macOS"),
        ("<script>alert(1)</script>", "unknown browser"),
    ],
)
def test_browsers_are_named(agent: str, name: str) -> None:
    assert describe_browser(agent) == name


def test_the_command_lists_and_ends_sessions(campaign: Campaign) -> None:
    for name in ("ann", "bob"):
        campaign.people.accounts.add(name, "manager")
        campaign.people.accounts.open_session(name, Device(f"Firefox of {name}", "10.0.0.7"))
    listed = ok("people", campaign.directory, "--sessions")
    for row in json.loads(ok("people", campaign.directory, "--sessions", "--format", "json")):
        for time in (row["opened_at"], row["seen_at"]):
            assert re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{3}\+00:00", time), time
    assert "Firefox of ann" in listed
    digests = campaign.people.accounts.sessions()["session"]
    assert not any(digest in listed for digest in digests)
    assert "Signed out bob." in ok("people", campaign.directory, "--end-sessions", "bob")
    assert campaign.people.accounts.sessions()["account"].tolist() == ["ann"]
    assert "unknown account 'eve'" in fails("people", campaign.directory, "--end-sessions", "eve")
    campaign.people.accounts.end_sessions("ann")
    assert ok("people", campaign.directory, "--sessions") == "Nobody is signed in.\n"


def test_a_new_key_signs_everybody_out_and_voids_the_links(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    before = campaign.operations.server_state.secret()
    secret = campaign.people.accounts.open_session("ann")
    cookie = Tokens(before, campaign.id).cookie(secret)
    links = [campaign.people.accounts.make_signin_link("ann"), campaign.people.accounts.invite("bob", "annotator")]
    files = sorted(path.name for path in campaign.directory.iterdir())
    said = ok("people", campaign.directory, "--rotate-secret")
    assert "A running server uses the new key at once." in said
    assert "Restart" not in said
    after = campaign.operations.server_state.secret()
    assert after != before
    assert len(after) == len(before)
    assert Tokens(after, campaign.id).read_cookie(cookie) is None
    assert campaign.people.accounts.session(secret) is None
    assert campaign.people.accounts.signin_link_account(links[0]) is None
    assert campaign.people.accounts.invited(links[1]) is None
    assert sorted(path.name for path in campaign.directory.iterdir()) == files
    assert (campaign.directory / ".secret").stat().st_mode & 0o777 == 0o600
    assert campaign.people.accounts.session(
        campaign.people.accounts.open_session("ann")
    )  # and everybody can sign in again


def test_a_running_server_uses_a_new_key_at_once(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    judging = JudgingService(campaign.directory)
    for _ in range(2):
        token = campaign.people.accounts.make_signin_link("ann")
        assert client.post("/signin", data={"token": token}).status_code == 303
        assert client.get("/signin").status_code == 303  # signed in, so on to the app
        cookie = client.cookies[cookie_name(campaign.id)]
        current = Tokens(campaign.operations.server_state.secret(), campaign.id)
        assert current.read_cookie(cookie) is not None
        assert current.read_cookie(cookie) == judging.tokens.read_cookie(cookie)
        ok("people", campaign.directory, "--rotate-secret")
        assert judging.tokens.read_cookie(cookie) is None
        assert client.get("/signin").status_code == 200  # the form


def test_without_a_readable_key_a_running_server_keeps_the_last_one(campaign: Campaign) -> None:
    tokens = CurrentTokens(campaign.directory, campaign.id)
    before = tokens.get()
    (campaign.directory / ".secret").write_text("short")
    assert tokens.get() is before


def test_single_sign_on_needs_a_restart_after_a_new_key(campaign: Campaign) -> None:
    (campaign.directory / "sso.toml").write_text("client_secret = 'hush'\n")
    assert "Restart it for single sign-on" in ok("people", campaign.directory, "--rotate-secret")


def test_changes_exclude_each_other(campaign: Campaign) -> None:
    refused = run("people", campaign.directory, "--rotate-secret", "--lock", "ann")
    assert refused.exit_code == 2
    assert "only one of" in refused.stderr


def test_script_runs_share_the_adjudicated_grades_until_the_next_judgement(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(session.DIRECTORY_VARIABLE, str(campaign.directory))
    campaign.judging.judge("ann", "1", "d1", 1, uuid="u1")
    runs = []
    for _ in range(2):
        with session.open_campaign() as opened:
            runs.append(opened.results.qrels.with_sources())
    assert runs[0].rule is runs[1].rule  # adjudicated once
    with pytest.raises(ZeroDivisionError), session.open_campaign() as opened, opened.transaction():
        opened.judging.judge("ann", "1", "d2", 0, uuid="u2")
        assert len(opened.results.qrels.build()) == 2
        raise ZeroDivisionError
    campaign.judging.judge("ann", "1", "d2", 1, uuid="u3")  # has the number of the one that was undone
    with session.open_campaign() as opened:
        assert opened.results.qrels.build()["relevance"].tolist() == [1, 1]
