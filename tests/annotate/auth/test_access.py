"""Access: accounts, passwords, sessions, links, and roles of every route."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from annotate.__main__ import main as serve
from annotate.application import create_app
from annotate.auth import rate_limit as attempts
from annotate.auth.rate_limit import FailedAttempts
from annotate.auth.roles import ANYBODY, require_roles, roles_of
from annotate.auth.tokens import TOKEN_HEADER, Tokens, browser_cookie_name, cookie_name
from annotate.card.server.document_payload import FILES, PREFIX
from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement, accounts
from collection.campaign.people import accounts as access
from collection.campaign.people.accounts import Accounts
from collection.cli import main
from collection.core import clock
from collection.core.errors import CampaignError, ConflictError, InputError, UnknownNameError
from collection.core.layout import IMAGES, SUPPORT
from collection.core.records import ROLES, Role
from tests.collection.campaign.corpus.test_images import PNG
from tests.conftest import judging_token, signed_in
from tests.helpers import AS_JSON, PATIENCE, at_once, awaited, sql_steps

PASSWORD = "wing flow heat slab"
AS_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


# --- names and passwords --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 65, "a\tb", "a\nb", "a\u202eb", "a\x00", "\ud800", "qrels:nist", "QRELS:x", "a\u200bb"]
)
def test_a_name_that_cannot_be_one(campaign: Campaign, name: str) -> None:
    with pytest.raises(InputError, match=r"name"):
        campaign.people.accounts.add(name, "annotator")
    assert campaign.store.accounts.table().empty


def test_names_are_trimmed_composed_and_one_without_regard_to_case(campaign: Campaign) -> None:
    assert campaign.people.accounts.add(" E\u0301mile ", "annotator") == "Émile"
    for same in ("émile", "ÉMILE", "É\u004dile"):
        with pytest.raises(ConflictError, match="taken by the account 'Émile'"):
            campaign.people.accounts.add(same, "annotator")
    campaign.people.accounts.set_password("Émile", PASSWORD)
    assert campaign.people.accounts.check_password(" E\u0301mile", PASSWORD) == "Émile"


def test_a_name_that_the_log_writes_otherwise_or_imported_is_refused(campaign: Campaign, files: Path) -> None:
    campaign.judging.judge("Bob", "1", "d1", 1)
    campaign.judging.judge_many([Judgement(str(uuid4()), "carl", "1", "d2", "graded", 1, source="imported")])
    with pytest.raises(ConflictError, match="only in case from the annotator 'Bob'"):
        campaign.people.accounts.invite("bob", "annotator")
    with pytest.raises(ConflictError, match=r"annotator 'carl'; .* `cleverdon people .* --invite carl --imported`"):
        campaign.people.accounts.invite("carl", "annotator")
    assert campaign.store.accounts.table().empty  # nothing is left behind
    campaign.people.accounts.invite("Bob", "annotator")


def test_a_person_takes_over_the_judgements_that_were_imported_under_their_name(campaign: Campaign) -> None:
    campaign.judging.judge_many([Judgement(str(uuid4()), "carl", "1", "d2", "graded", 1, source="imported")])
    assert "--imported needs --invite" in run(campaign, "--imported").stderr
    assert "/invitation?token=" in run(campaign, "--invite", "carl", "--imported").stdout
    assert campaign.store.accounts.names() == ["carl"]
    with pytest.raises(ConflictError, match="taken by the account 'carl'"):  # nobody else can
        campaign.people.accounts.invite("Carl", "annotator", imported=True)
    with pytest.raises(InputError, match="reserved for imported qrels"):
        campaign.people.accounts.invite("qrels:nist", "annotator", imported=True)


@pytest.mark.parametrize("password", ["", "short", "123456789", "Ann the annotator", "aaaaaaaaaaaa", "x" * 1001])
def test_a_password_that_is_no_good(campaign: Campaign, password: str) -> None:
    name = campaign.people.accounts.add("ann the annotator", "manager")
    with pytest.raises(InputError, match="password"):
        campaign.people.accounts.set_password(name, password)
    assert not campaign.people.accounts.has_password(name)


@pytest.mark.slow
def test_a_password_is_kept_as_an_argon2_hash_and_checked(campaign: Campaign, real_passwords: None) -> None:
    campaign.people.accounts.add("ann", "manager")
    assert campaign.people.accounts.check_password("ann", "") is None
    campaign.people.accounts.set_password("ann", PASSWORD)
    account = campaign.store.accounts.get("ann")
    assert account is not None
    assert account.password is not None
    assert account.password.startswith("$argon2id$")
    assert PASSWORD not in account.password
    assert campaign.people.accounts.check_password("ANN", PASSWORD) == "ann"
    for name, password in (("ann", PASSWORD + " "), ("ann", "\ud800" * 12), ("eve", PASSWORD), ("", PASSWORD)):
        assert campaign.people.accounts.check_password(name, password) is None
    assert campaign.people.accounts.check_password("ann", "x" * 100_000) is None  # no book is hashed


@pytest.mark.slow
def test_an_outdated_hash_is_made_anew(campaign: Campaign, real_passwords: None) -> None:
    from argon2 import PasswordHasher

    campaign.people.accounts.add("ann", "manager")
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with campaign.store.transaction():
        campaign.store.accounts.update("ann", "password", old)
    assert campaign.people.accounts.check_password("ann", PASSWORD) == "ann"
    account = campaign.store.accounts.get("ann")
    assert account is not None
    assert account.password != old
    assert campaign.people.accounts.check_password("ann", PASSWORD) == "ann"


def test_an_unknown_name_costs_as_much_as_a_known_one(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: each answer has verified one hash."""
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.add("bob", "annotator")
    campaign.people.accounts.set_password("ann", PASSWORD)
    campaign.people.accounts.set_password("bob", PASSWORD)
    campaign.people.accounts.lock("bob")
    verified: list[str] = []

    class Counting:
        def verify(self, hashed: str, password: bytes) -> bool:
            verified.append(hashed)
            return False

        def check_needs_rehash(self, hashed: str) -> bool:
            return False

    hasher = Counting()
    accounts._placeholder_hash()
    monkeypatch.setattr(accounts, "_hasher", lambda: hasher)
    for name in ("ann", "bob", "eve"):
        campaign.people.accounts.check_password(name, "not the password")
    assert len(verified) == 3


# --- accounts -------------------------------------------------------------------------------------


def test_accounts_say_what_the_people_page_shows(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.invite("bob", "annotator", ["judges", "early", "judges"], " bob@x.org ")
    campaign.people.accounts.open_session("bob")
    campaign.judging.judge("bob", "1", "d1", 1)
    table = campaign.store.accounts.table().set_index("name")
    assert table["role"].to_dict() == {"ann": "manager", "bob": "annotator"}
    assert table["groups"].to_dict() == {"ann": [], "bob": ["early", "judges"]}
    assert table["email"].to_dict() == {"ann": None, "bob": "bob@x.org"}
    assert table["sessions"].to_dict() == {"ann": 0, "bob": 1}
    assert table.loc["ann", "last_at"] is None
    assert table.loc["bob", "last_at"] == campaign.store.judgements.table()["judged_at"].iloc[0]
    assert campaign.store.accounts.groups() == {"early": ["bob"], "judges": ["bob"]}
    campaign.people.accounts.set_groups("BOB", ["late"])
    assert campaign.store.accounts.groups() == {"late": ["bob"]}
    campaign.people.accounts.set_email("bob", "")
    assert campaign.store.accounts.table().set_index("name").loc["bob", "email"] is None


def test_an_address_belongs_to_one_account(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager", "ann@x.org")
    with pytest.raises(ConflictError, match="belongs to the account 'ann'"):
        campaign.people.accounts.add("bob", "annotator", "ANN@x.org")
    with pytest.raises(InputError, match="e-mail"):
        campaign.people.accounts.add("bob", "annotator", "nowhere")
    campaign.people.accounts.set_email("ann", "Ann@x.org")  # their own, written otherwise


@pytest.mark.parametrize(
    "verb",
    ["set_role", "set_groups", "set_email", "lock", "unlock", "open_session", "make_signin_link", "invite_again"],
)
def test_nobody_of_that_name(campaign: Campaign, verb: str) -> None:
    campaign.people.accounts.add("ann", "manager")
    more = {"set_role": ["reader"], "set_groups": [[]], "set_email": [None]}.get(verb, [])
    with pytest.raises(UnknownNameError, match="unknown account 'anne'; did you mean 'ann'"):
        getattr(campaign.people.accounts, verb)("anne", *more)


def test_a_role_that_there_is_not(campaign: Campaign) -> None:
    with pytest.raises(InputError, match="choose from annotator, manager, reader"):
        campaign.people.accounts.add("ann", "boss")


def test_the_last_manager_who_can_come_in_stays(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.add("bob", "manager")
    campaign.people.accounts.lock("bob")
    for change in (
        lambda: campaign.people.accounts.lock("ann"),
        lambda: campaign.people.accounts.set_role("ann", "reader"),
    ):
        with pytest.raises(CampaignError, match="'ann' is the only manager who can sign in"):
            change()
    campaign.people.accounts.set_role("ann", "manager")
    campaign.people.accounts.unlock("bob")
    campaign.people.accounts.lock("ann")
    with pytest.raises(CampaignError, match="'bob' is the only"):
        campaign.people.accounts.set_role("bob", "annotator")


def test_two_managers_who_lock_each_other_at_once_leave_one(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.add("bob", "manager")
    together = threading.Barrier(2)

    def lock(name: str) -> None:
        with Campaign(campaign.directory) as other:
            together.wait(PATIENCE)
            with suppress(CampaignError):
                other.people.accounts.lock(name)

    at_once(lambda: lock("ann"), lambda: lock("bob"))
    assert campaign.store.accounts.table()["locked"].sum() == 1


# --- sessions and links ---------------------------------------------------------------------------


def test_a_session_knows_the_person_and_ends(campaign: Campaign) -> None:
    secret = signed_in(campaign, "ann", "manager")
    person = campaign.people.accounts.session(secret)
    assert person is not None
    assert person[:2] == ("ann", "manager")
    assert campaign.people.accounts.session(person.session) is None  # its digest does not open it
    assert campaign.people.accounts.session("") is None
    campaign.people.accounts.end_session(person.session)
    assert campaign.people.accounts.session(secret) is None


def test_lock_ends_every_session_and_link_and_a_role_counts_at_once(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    invitation = campaign.people.accounts.invite("bob", "annotator")
    first, second = campaign.people.accounts.open_session("bob"), campaign.people.accounts.open_session("bob")
    link = campaign.people.accounts.make_signin_link("bob")
    campaign.people.accounts.set_role("bob", "reader")
    assert [person and person.role for person in map(campaign.people.accounts.session, (first, second))] == [
        "reader",
        "reader",
    ]
    campaign.people.accounts.lock("bob")
    assert campaign.people.accounts.session(first) is None
    assert campaign.people.accounts.use_signin_link(link) is None
    assert campaign.people.accounts.invited(invitation) is None
    for verb in (
        campaign.people.accounts.open_session,
        campaign.people.accounts.make_signin_link,
        campaign.people.accounts.invite_again,
    ):
        with pytest.raises(CampaignError, match="locked"):
            verb("bob")
    campaign.people.accounts.unlock("bob")
    assert campaign.people.accounts.session(first) is None  # they sign in again
    assert campaign.people.accounts.use_signin_link(link) is None


def test_a_session_that_a_lock_left_behind_opens_nothing(campaign: Campaign) -> None:
    """A lock drops sessions; should one be there all the same, as after a copy of an older file, it is of no use."""
    secret = signed_in(campaign)
    with campaign.store.transaction():
        campaign.store.accounts.update("ann", "locked", True)
    assert campaign.people.accounts.session(secret) is None


def test_a_session_is_over_after_thirty_days(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = signed_in(campaign)
    now = time.time()
    monkeypatch.setattr(clock, "seconds", lambda: now + 29.9 * 24 * 3600)
    assert campaign.people.accounts.session(secret) is not None
    monkeypatch.setattr(clock, "seconds", lambda: now + 30.1 * 24 * 3600)
    assert campaign.people.accounts.session(secret) is None
    campaign.people.accounts.open_session("ann")
    assert campaign.store.accounts.table()["sessions"].tolist() == [1]


def test_a_new_password_ends_the_other_sessions(campaign: Campaign) -> None:
    secret, other, bobs = signed_in(campaign), signed_in(campaign), signed_in(campaign, "bob")
    person = campaign.people.accounts.session(secret)
    assert person is not None
    link = campaign.people.accounts.invite_again("ann")
    campaign.people.accounts.change_password("ann", "", PASSWORD, keep=person.session)
    assert campaign.people.accounts.session(secret) is not None
    assert campaign.people.accounts.session(other) is None
    assert campaign.people.accounts.session(bobs) is not None
    assert campaign.people.accounts.invited(link) is None
    with pytest.raises(InputError, match="current password"):
        campaign.people.accounts.change_password("ann", "not " + PASSWORD, PASSWORD + "!")
    campaign.people.accounts.change_password("ann", PASSWORD, PASSWORD + "!")
    assert campaign.people.accounts.session(secret) is None
    assert campaign.people.accounts.check_password("ann", PASSWORD + "!") == "ann"


def test_an_invitation_sets_the_password_once(campaign: Campaign) -> None:
    token = campaign.people.accounts.invite("bob", "annotator")
    assert campaign.people.accounts.use_signin_link(token) is None  # it does not sign in by itself
    assert campaign.people.accounts.invited(token) == campaign.people.accounts.invited(token) == "bob"
    with pytest.raises(InputError, match="10 characters"):
        campaign.people.accounts.accept_invitation(token, "short")
    secret = campaign.people.accounts.accept_invitation(token, PASSWORD)
    assert secret is not None
    assert campaign.people.accounts.session(secret) is not None
    assert campaign.people.accounts.accept_invitation(token, PASSWORD + "!") is None
    assert campaign.people.accounts.check_password("bob", PASSWORD) == "bob"


def test_links_are_void_when_a_new_one_of_their_kind_is_made_or_after_a_week(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign.people.accounts.add("ann", "manager")
    old, invitation, new = (
        campaign.people.accounts.make_signin_link("ann"),
        campaign.people.accounts.invite_again("ann"),
        campaign.people.accounts.make_signin_link("ann"),
    )
    assert campaign.people.accounts.use_signin_link(old) is None
    assert campaign.people.accounts.invited(invitation) == "ann"
    now = time.time()
    monkeypatch.setattr(clock, "seconds", lambda: now + 7.1 * 24 * 3600)
    assert campaign.people.accounts.use_signin_link(new) is None
    assert campaign.people.accounts.invited(invitation) is None


def test_a_link_that_two_browsers_open_at_once_signs_one_in(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    link = campaign.people.accounts.make_signin_link("ann")
    together, opened = threading.Barrier(4), []

    def use() -> None:
        with Campaign(campaign.directory) as other:
            together.wait(PATIENCE)
            opened.append(other.people.accounts.use_signin_link(link))

    at_once(*[use] * 4)
    assert len([secret for secret in opened if secret is not None]) == 1


def test_no_secret_is_in_the_database(campaign: Campaign) -> None:
    secret = signed_in(campaign)
    tokens = [
        secret,
        campaign.people.accounts.make_signin_link("ann"),
        campaign.people.accounts.invite("bob", "reader"),
    ]
    campaign.people.accounts.set_password("bob", PASSWORD)
    dump = "\n".join(campaign.store.connection.db.conn.iterdump())
    assert access.digest(secret) in dump
    assert not [token for token in (*tokens, PASSWORD) if token in dump]


@pytest.mark.slow
def test_the_session_is_found_by_its_key(campaign: Campaign) -> None:
    """Asked with every save: a search of the index, which takes as many steps whatever the number of sessions is."""

    def steps() -> int:
        digest = access.digest(signed_in(campaign, "a0", "annotator"))
        campaign.people.accounts.find_session(digest)  # notes that it was seen
        with sql_steps(campaign) as counted:
            assert campaign.people.accounts.find_session(digest) is not None
        return len(counted)

    alone = steps()
    for name in range(40):
        for _ in range(5):
            signed_in(campaign, f"a{name}", "annotator")
    assert 0 < steps() == alone


# --- the first start ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_first_start_makes_the_first_manager(campaign: Campaign) -> None:
    name, token = campaign.people.accounts.start_signin(None, "ann")
    assert name == "ann"
    person = campaign.people.accounts.session(campaign.people.accounts.use_signin_link(token) or "")
    assert person is not None
    assert person[:2] == ("ann", "manager")
    assert campaign.people.accounts.start_signin(None, "somebody")[0] == "ann"  # whoever starts it, the manager's link
    campaign.people.accounts.add("bob", "annotator")
    assert campaign.people.accounts.start_signin("BOB", "ann")[0] == "bob"
    assert campaign.people.accounts.start_signin(None, "bob")[0] == "bob"
    with pytest.raises(CampaignError, match="unknown account 'eve'; .* --invite eve .*choose from ann, bob"):
        campaign.people.accounts.start_signin("eve", "ann")
    campaign.people.accounts.lock("bob")
    with pytest.raises(CampaignError, match="'bob' is locked"):
        campaign.people.accounts.start_signin("bob", "ann")
    assert campaign.people.accounts.start_signin(None, "bob")[0] == "ann"
    assert len(campaign.store.accounts.table()) == 2


def test_a_campaign_whose_first_account_is_no_manager_s_gets_one(campaign: Campaign) -> None:
    campaign.people.accounts.invite("bob", "annotator")
    assert campaign.people.accounts.start_signin(None, "ann")[0] == "ann"
    assert campaign.store.accounts.table()["role"].tolist() == ["manager", "annotator"]


def test_a_login_name_that_is_no_name_is_no_obstacle(campaign: Campaign) -> None:
    assert campaign.people.accounts.start_signin(None, "a\tb")[0] == "manager"


def test_judgements_from_before_there_were_accounts_are_kept(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d1", 1)
    name, _ = campaign.people.accounts.start_signin(None, "ann")
    assert campaign.store.judgements.table(annotator=name)["doc_id"].tolist() == ["d1"]


# --- how often ------------------------------------------------------------------------------------


def test_attempts_are_counted_by_name_and_address_and_forgotten() -> None:
    clock = [0.0]
    counted = FailedAttempts(clock=lambda: clock[0])
    for n in range(attempts.MAX_FAILURES):
        assert counted.wait("ann", "a") == 0
        clock[0] = float(n)
        counted.failed(" ANN", "a")
    assert counted.wait("ann", "a") == attempts.PERIOD - 9
    assert counted.wait("ann", "b") == counted.wait("bob", "a") == 0
    clock[0] = attempts.PERIOD + 0.5
    assert counted.wait("ann", "a") == 0  # the first of the ten is too long ago
    counted.failed("ann", "a")
    assert counted.wait("ann", "a") > 0
    counted.succeeded("ann", "a")
    assert counted.wait("ann", "a") == 0


def test_attempts_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MAX_COUNTS", 5)
    counted = FailedAttempts(clock=lambda: 0.0)
    for n in range(50):
        counted.failed(f"name {n}", "a")
    assert len(counted._failures) == 5


def test_guesses_from_many_addresses_close_a_name_for_unknown_browsers_only() -> None:
    counted = FailedAttempts(clock=lambda: 0.0)
    for n in range(attempts.MAX_FAILURES_PER_NAME):
        assert counted.wait("ann", f"10.0.0.{n}") == 0
        counted.failed("Ann", f"10.0.0.{n}")
    assert counted.wait("ann", "10.0.1.1") == attempts.PERIOD
    assert counted.wait("bob", "10.0.0.1") == 0
    assert counted.wait("ann", "a browser of hers", is_known=True) == 0
    for _ in range(attempts.MAX_FAILURES):
        counted.failed("ann", "a browser of hers", is_known=True)
    assert counted.wait("ann", "a browser of hers", is_known=True) == attempts.PERIOD


def test_a_sign_in_that_succeeds_does_not_count_against_the_account() -> None:
    counted = FailedAttempts(clock=lambda: 0.0)
    for n in range(3 * attempts.MAX_FAILURES_PER_NAME):
        counted.failed("ann", f"10.0.0.{n}")
        counted.succeeded("ann", f"10.0.0.{n}")
    assert counted.wait("ann", "10.0.0.1") == 0


def test_places_in_the_queue_of_passwords_are_limited_and_come_back() -> None:
    queue = attempts.Places(attempts.MAX_CHECKS, attempts.MAX_CHECKS_PER_SOURCE)
    with ExitStack() as taken:
        for _ in range(attempts.MAX_CHECKS_PER_SOURCE):
            assert taken.enter_context(queue.place("a"))
        assert not taken.enter_context(queue.place("a"))
        for n in range(attempts.MAX_CHECKS - attempts.MAX_CHECKS_PER_SOURCE):
            assert taken.enter_context(queue.place(f"b{n}"))
        assert not taken.enter_context(queue.place("c"))
    with queue.place("a") as one, queue.place("c") as other:
        assert one
        assert other


# --- every route ----------------------------------------------------------------------------------


@pytest.fixture
def client(campaign: Campaign) -> Iterator[TestClient]:
    """The app's own routes, behind its own door; in the place of Streamlit a page that says that it is inside."""
    app = create_app(campaign.directory, public_addresses=["http://judging.test"])

    async def inside(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"inside {request.url.path}")

    routes = [*app._user_routes, Route("/{path:path}", inside)]
    everything = Starlette(routes=routes, middleware=app._user_middleware, lifespan=app._user_lifespan)
    with TestClient(everything, follow_redirects=False, base_url="http://judging.test") as client:
        yield client


def own_routes(client: TestClient) -> list[Route]:
    return list(client.app.routes[:-1])  # type: ignore[attr-defined]


def enter(client: TestClient, campaign: Campaign, role: Role | None) -> dict[str, Any]:
    """Sign in as somebody with this role, by cookie and by token; what a card's request then carries."""
    client.cookies.clear()
    if role is None:
        return {"headers": {TOKEN_HEADER: "none"}}
    tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
    client.cookies.set(cookie_name(campaign.id), tokens.cookie(signed_in(campaign, f"some {role}", role)))
    body = {"query_id": "1", "doc_id": "d1", "words": "text", "annotator": f"some {role}"}
    headers = AS_JSON | {TOKEN_HEADER: judging_token(campaign, f"some {role}", role)}
    return {"headers": headers, "content": json.dumps(body)}


@pytest.mark.parametrize("role", [*ROLES, None])
@pytest.mark.slow
def test_every_route_answers_its_roles_and_refuses_the_others(
    client: TestClient, campaign: Campaign, role: Role | None
) -> None:
    checked = 0
    campaign.answers.tasks.open(SUPPORT).close()
    for route in own_routes(client):
        request = enter(client, campaign, role)
        roles = roles_of(route)
        for method in (route.methods or set()) - {"HEAD"}:
            status = client.request(method, route.path.replace("{task}", SUPPORT), **request).status_code
            if roles == ANYBODY:
                # No token, JSON in the place of a form, or no page (or the first) of the documentation.
                assert status in (200, 303, 307, 403, 415) or (status, "{" in route.path) == (404, True), route.path
            elif role in roles:
                assert status in (200, 400) or (status, "{" in route.path) == (404, True), (route.path, status)
            else:
                assert status == (401 if role is None else 403), (route.path, status)
                checked += 1
    adjudication = 2 * 3  # routes that are the managers', in the campaign and in its tasks
    assert checked == {"manager": 0, "annotator": adjudication}.get(role, checked)
    assert role in ("manager", "annotator") or checked >= 8


def test_what_answers_without_a_session_is_known_by_name(client: TestClient) -> None:
    """A new route that lets anybody in has to be put here, knowingly."""
    open_ones = {route.path for route in own_routes(client) if roles_of(route) == ANYBODY}
    assert open_ones == {
        "/healthz",  # for monitors
        "/signin",
        "/invitation",
        "/documentation",
        "/documentation/{name:path}",
        f"{PREFIX}/card/{{version}}/{{name:path}}",  # scripts of the judging card
    }


def test_a_route_that_does_not_say_whose_it_is_is_not_served() -> None:
    async def loose(request: Request) -> PlainTextResponse:
        return PlainTextResponse("anything")

    with pytest.raises(TypeError, match="declares no roles"):
        require_roles([Route("/loose", loose)])


def judge_one(client: TestClient, token: str) -> Any:
    return client.post(f"{PREFIX}/topics", headers=AS_JSON | {TOKEN_HEADER: token}, content="{}")


def test_a_lock_counts_with_the_next_request(client: TestClient, campaign: Campaign) -> None:
    token = judging_token(campaign, "bob", "annotator")
    campaign.people.accounts.add("ann", "manager")
    assert judge_one(client, token).status_code == 200
    campaign.people.accounts.set_role("bob", "reader")
    refused = judge_one(client, token)
    assert refused.status_code == 403
    assert refused.json()["error"].startswith("readers cannot judge")
    campaign.people.accounts.set_role("bob", "annotator")
    assert judge_one(client, token).status_code == 200
    campaign.people.accounts.lock("bob")
    refused = judge_one(client, token)
    assert refused.status_code == 401
    assert "sign in again" in refused.json()["error"]


def test_nothing_is_saved_for_somebody_who_is_locked(client: TestClient, campaign: Campaign) -> None:
    token = judging_token(campaign, "bob", "annotator")
    item = {"uuid": "u", "query_id": "1", "doc_id": "d2", "kind": "graded", "relevance": 1}
    body = json.dumps({"query_id": "1", "want": 1, "decisions": [item]})
    client.post(
        f"{PREFIX}/sync", headers=AS_JSON | {TOKEN_HEADER: token}, content=json.dumps({"query_id": "1", "want": 3})
    )
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.lock("bob")
    assert client.post(f"{PREFIX}/sync", headers=AS_JSON | {TOKEN_HEADER: token}, content=body).status_code == 401
    assert campaign.store.judgements.table().empty


def test_strangers_do_not_reach_the_threads_of_the_campaign(campaign: Campaign) -> None:
    service = JudgingService(campaign.directory)
    service._threads = dict.fromkeys(service._threads)  # whoever reaches one fails
    client = TestClient(Starlette(routes=service.routes()))
    assert client.post(f"{PREFIX}/token", headers=AS_JSON, content="{}").status_code == 401
    assert client.get(f"{FILES}/{'0' * 64}.png").status_code == 401


def test_signing_out_counts_with_the_next_request(client: TestClient, campaign: Campaign) -> None:
    request = enter(client, campaign, "annotator")
    token = request["headers"][TOKEN_HEADER]
    assert judge_one(client, token).status_code == 200
    campaign.people.accounts.end_sessions("some annotator")
    assert judge_one(client, token).status_code == 401
    assert client.post(f"{PREFIX}/token", **request).status_code == 401
    assert client.get("/judge").headers["location"] == "/signin"


# --- the door -------------------------------------------------------------------------------------


def test_visitors_are_led_to_the_sign_in(client: TestClient, campaign: Campaign) -> None:
    for path in ("/", "/people", "/people/", "/judge?topic=1"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/signin")
    for path in ("/media/file.csv", "/_stcore/upload_file/a/b", "/_stcore/metrics", "/_stcore/agent/mcp"):
        assert client.get(path).status_code == 401
        assert client.put(path, content=b"x").status_code == 401
    client.cookies.set("_streamlit_user", "forged")  # no provider is set up
    assert client.get("/").status_code == 303
    enter(client, campaign, "reader")
    assert client.get("/people").text == "inside /people"
    assert client.get("/media/file.csv").text == "inside /media/file.csv"


def test_a_cookie_of_before_or_of_another_campaign_opens_nothing(
    client: TestClient, campaign: Campaign, make_campaign: Callable[..., Campaign]
) -> None:
    other = make_campaign("other")
    secret, foreign = signed_in(campaign), signed_in(other)
    tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
    for value in (
        Tokens(other.operations.server_state.secret(), other.id).cookie(foreign),
        Tokens(campaign.operations.server_state.secret(), other.id).cookie(secret),
        Tokens(b"guess", campaign.id).cookie(secret),
        tokens.cookie("ann"),
        tokens.token("ann", secret),
        secret,
    ):
        client.cookies.clear()
        client.cookies.set(cookie_name(campaign.id), value)
        assert client.get("/").status_code == 303


# --- signing in -----------------------------------------------------------------------------------


def post(client: TestClient, path: str, /, headers: dict[str, str] | None = None, **fields: str) -> Any:
    return client.post(path, data=fields, headers=headers)


def press(client: TestClient, link: str) -> Any:
    """Press the button on the page of a sign-in link."""
    return post(client, "/signin", token=link.partition("token=")[2].partition("&")[0])


def is_safe(answer: Any) -> bool:
    """Not kept by caches, not sent on to other sites, not framed."""
    policy = answer.headers["content-security-policy"]
    return (
        answer.headers["cache-control"] == "no-store"
        and answer.headers["referrer-policy"] == "same-origin"
        and "frame-ancestors 'none'" in policy
        and "default-src 'none'" in policy
    )


def test_an_image_that_is_opened_by_itself_runs_nothing(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("bob", "annotator")
    press(client, f"/signin?token={campaign.people.accounts.make_signin_link('bob')}")
    name = f"{hashlib.sha256(PNG).hexdigest()}.png"
    (campaign.directory / IMAGES).mkdir()
    (campaign.directory / IMAGES / name).write_bytes(PNG)
    answer = client.get(f"{FILES}/{name}")
    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; sandbox;")
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"].startswith("private, max-age=")


def test_the_sign_in_link_works_once(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("bob", "annotator")
    link = f"/signin?token={campaign.people.accounts.make_signin_link('bob')}"
    answer = press(client, link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookies = [cookie.lower() for cookie in answer.headers.get_list("set-cookie")]
    assert len(cookies) == 2  # of the session, and of the browser
    for cookie in cookies:
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert "secure" not in cookie
    assert client.get("/").text == "inside /"
    assert client.get(link).status_code == 303  # their own link again, in the browser that it signed in
    client.cookies.clear()
    for refused in (client.get(link), press(client, link)):
        assert refused.status_code == 403
        assert "cleverdon serve" in refused.text
        assert is_safe(refused)


def test_looking_at_a_sign_in_link_does_not_use_it_up(client: TestClient, campaign: Campaign) -> None:
    """Programs that show messages fetch the links in them."""
    name = "bob <i>"
    campaign.people.accounts.add(name, "annotator")
    link = f"/signin?token={campaign.people.accounts.make_signin_link(name)}"
    for method in ("HEAD", "GET", "HEAD", "OPTIONS"):
        seen = client.request(method, link)
        assert "set-cookie" not in seen.headers
        assert seen.status_code == (405 if method == "OPTIONS" else 200)
    page = client.get(link)
    assert is_safe(page)
    assert "Sign in as bob &lt;i&gt;" in page.text
    assert "<script" not in page.text  # programs that look at links run scripts, too
    enter(client, campaign, "manager")
    assert "signed in as some manager. Continuing signs some manager out" in client.get(link).text
    assert press(client, link).status_code == 303
    assert client.get("/").text == "inside /"


def test_over_https_the_cookie_stays_there(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("bob", "annotator")
    token = campaign.people.accounts.make_signin_link("bob")
    answer = client.post("https://judging.test/signin", data={"token": token})
    assert "secure" in answer.headers["set-cookie"].lower()


def test_behind_a_proxy_that_speaks_https_the_cookie_stays_there_too(campaign: Campaign) -> None:
    """The proxy speaks http to the server; the public address says what the browser speaks."""
    campaign.people.accounts.add("bob", "annotator")
    app = create_app(campaign.directory, public_addresses=["https://judging.test"])
    routes = Starlette(routes=app._user_routes, middleware=app._user_middleware, lifespan=app._user_lifespan)
    with TestClient(routes, follow_redirects=False, base_url="http://judging.test") as client:
        answer = client.post("/signin", data={"token": campaign.people.accounts.make_signin_link("bob")})
    assert "secure" in answer.headers["set-cookie"].lower()


def test_name_and_password_sign_in(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    form = client.get("/signin")
    assert form.status_code == 200
    assert is_safe(form)
    for part in ('autocomplete="username"', 'autocomplete="current-password"', '<label for="password">'):
        assert part in form.text
    before = signed_in(campaign, "bob")
    client.cookies.set(
        cookie_name(campaign.id), Tokens(campaign.operations.server_state.secret(), campaign.id).cookie(before)
    )
    answer = post(client, "/signin", name="Ann", password=PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get("/").text == "inside /"
    assert campaign.people.accounts.session(before) is None  # whose browser this was is signed out
    assert client.get("/signin").headers["location"] == "/"


@pytest.mark.slow
def test_what_does_not_fit_is_said_alike(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.add("bob", "annotator")
    campaign.people.accounts.set_password("bob", PASSWORD)
    campaign.people.accounts.lock("bob")
    answers = [post(client, "/signin", name=name, password=PASSWORD) for name in ("ann", "bob", "eve")]
    assert {answer.status_code for answer in answers} == {403}
    assert len({re.sub(r'value="\w*"', "", answer.text) for answer in answers}) == 1
    assert not [answer for answer in answers if "set-cookie" in answer.headers]


def test_ten_wrong_passwords_and_one_waits(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    for _ in range(attempts.MAX_FAILURES):
        assert post(client, "/signin", name="ann", password="wrong wrong wrong").status_code == 403
    answer = post(client, "/signin", name="ann", password=PASSWORD)
    assert answer.status_code == 429
    assert "Try again in" in answer.text
    assert "set-cookie" not in answer.headers


def close_the_name(client: TestClient, name: str) -> None:
    """Wrong passwords from many addresses."""
    counted = client.app.user_middleware[1].kwargs["service"].attempts  # type: ignore[attr-defined]
    for n in range(attempts.MAX_FAILURES_PER_NAME):
        counted.failed(name, f"10.0.0.{n}")


def test_a_known_browser_gets_in_while_others_guess(client: TestClient, campaign: Campaign) -> None:
    for name in ("ann", "bob"):
        campaign.people.accounts.add(name, "manager")
        campaign.people.accounts.set_password(name, PASSWORD)
    assert post(client, "/signin", name="ann", password=PASSWORD).status_code == 303
    campaign.people.accounts.end_sessions("ann")
    for name in ("ann", "bob"):
        close_the_name(client, name)
    assert post(client, "/signin", name="bob", password=PASSWORD).status_code == 429  # hers is no browser of bob's
    answer = post(client, "/signin", name=" ANN", password=PASSWORD)
    assert answer.status_code == 303
    client.cookies.clear()
    answer = post(client, "/signin", name="ann", password=PASSWORD)
    assert answer.status_code == 429
    assert 290 < int(answer.headers["retry-after"]) <= 300
    assert (
        press(client, f"/signin?token={campaign.people.accounts.make_signin_link('ann')}").status_code == 303
    )  # a link always works


def test_the_cookie_of_a_known_browser_opens_nothing(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    known = Tokens(campaign.operations.server_state.secret(), campaign.id).browser_cookie("ann")
    for name in (browser_cookie_name(campaign.id), cookie_name(campaign.id)):
        client.cookies.set(name, known)
    assert client.get("/").status_code == 303
    assert post(client, "/signin", name="ann", password="wrong wrong wrong").status_code == 403
    forged = Tokens(b"guess", campaign.id).browser_cookie("ann")
    client.cookies.set(browser_cookie_name(campaign.id), forged)
    close_the_name(client, "ann")
    assert post(client, "/signin", name="ann", password=PASSWORD).status_code == 429


async def ask(app: Any, address: str, cookies: dict[str, str], path: str = "/signin", **fields: str) -> int:
    """Post a form from an address; the status of the answer."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": urlencode(fields).encode(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"host": "localhost", "cookie": "; ".join(map("=".join, cookies.items()))} | AS_FORM
    scope = {"type": "http", "method": "POST", "path": path, "scheme": "http", "query_string": b""}
    scope |= {"client": (address, 1), "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()]}
    await app(scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.slow
@pytest.mark.long
def test_strangers_who_guess_do_not_delay_who_is_known_or_has_a_link(campaign: Campaign, files: Path) -> None:
    """Passwords of strangers take for ever here; everybody else gets in meanwhile, and more strangers are refused."""
    for name in ("ann", "bob"):
        campaign.people.accounts.add(name, "manager")
        campaign.people.accounts.set_password(name, PASSWORD)
    invitation = campaign.people.accounts.invite("cai", "annotator")
    app = create_app(campaign.directory)
    tokens, link = (
        Tokens(campaign.operations.server_state.secret(), campaign.id),
        campaign.people.accounts.make_signin_link("bob"),
    )
    goes_on, check = threading.Event(), Accounts.check_password

    def slow(self: Accounts, name: str, password: str) -> str | None:
        if name.startswith("guess"):
            goes_on.wait(PATIENCE)
        return check(self, name, password)

    async def attack() -> tuple[list[int], list[int]]:
        everything = Starlette(routes=app._user_routes, middleware=app._user_middleware)
        guesses = [
            asyncio.create_task(ask(everything, f"10.0.0.{n}", {}, name=f"guess{n}", password="x")) for n in range(100)
        ]
        while len([guess for guess in guesses if guess.done()]) < 100 - attempts.MAX_CHECKS:
            await asyncio.sleep(0.02)
        known = {browser_cookie_name(campaign.id): tokens.browser_cookie("ann")}
        let_in = [
            await ask(everything, "10.0.0.1", known, name="ann", password=PASSWORD),
            await ask(everything, "10.0.0.1", {}, token=link),
            await ask(
                everything, "10.0.0.1", {}, path="/invitation", token=invitation, password=PASSWORD, again=PASSWORD
            ),
        ]
        goes_on.set()
        return [await guess for guess in guesses], let_in

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Accounts, "check_password", slow)
        guessed, let_in = awaited(attack())
    assert let_in == [303, 303, 303]
    assert sorted(guessed) == [403] * attempts.MAX_CHECKS + [503] * (100 - attempts.MAX_CHECKS)


FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.test"},
    {"origin": "null"},
    {"origin": "http://judging.test:81"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_form_of_another_site_does_nothing(client: TestClient, campaign: Campaign, headers: dict[str, str]) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    token = campaign.people.accounts.invite("bob", "annotator")
    first = post(client, "/signin", headers, name="ann", password=PASSWORD)
    second = post(client, "/invitation", headers, token=token, password=PASSWORD, again=PASSWORD)
    assert (first.status_code, second.status_code) == (403, 403)
    assert not client.cookies
    assert campaign.people.accounts.invited(token) == "bob"
    own = [{"sec-fetch-site": "same-origin", "origin": "null"}, {"origin": "http://judging.test"}, None]
    for headers_of_our_own in own:
        assert post(client, "/signin", headers_of_our_own, name="ann", password=PASSWORD).status_code == 303


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"\xff\xfe", 400), (b"a=1&" * 50, 400), (b"name=" + b"x" * 30_000, 413), (b"{}", 403), (b"", 403)],
)
@pytest.mark.slow
def test_what_is_no_form_is_refused(client: TestClient, campaign: Campaign, body: bytes, status: int) -> None:
    for path in ("/signin", "/invitation"):
        assert client.post(path, content=body, headers=AS_FORM).status_code == status
        assert client.post(path, content=body, headers=AS_JSON).status_code == 415


@pytest.mark.long
def test_odd_names_and_passwords_are_answered(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    for name in ("<b>", "%00", "%ED%A0%80", "x" * 5000, "qrels:a"):
        answer = client.post("/signin", content=f"name={name}&password=%ED%A0%80".encode(), headers=AS_FORM)
        assert answer.status_code == 403
        assert "<b>" not in answer.text


def test_an_invitation_is_looked_at_without_harm_and_used_once(client: TestClient, campaign: Campaign) -> None:
    token = campaign.people.accounts.invite("bob <i>", "annotator")
    for _ in range(3):  # a program that shows mail looks at links too
        form = client.get(f"/invitation?token={token}")
        assert form.status_code == 200
        assert is_safe(form)
    assert "bob &lt;i&gt;" in form.text
    assert "signed in as" not in form.text
    assert form.text.count('autocomplete="new-password"') == 2
    for password, again, words in ((PASSWORD, "other words", "passwords differ"), ("short", "short", "10 characters")):
        answer = post(client, "/invitation", token=token, password=password, again=again)
        assert answer.status_code == 400
        assert words in answer.text
    assert campaign.people.accounts.invited(token) == "bob <i>"
    enter(client, campaign, "manager")
    assert (
        "signed in as some manager. Continuing signs some manager out" in client.get(f"/invitation?token={token}").text
    )
    answer = post(client, "/invitation", token=token, password=PASSWORD, again=PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get("/").text == "inside /"
    assert campaign.store.accounts.table().set_index("name")["sessions"].to_dict() == {"bob <i>": 1, "some manager": 1}
    client.cookies.clear()
    assert post(client, "/invitation", token=token, password=PASSWORD, again=PASSWORD).status_code == 403
    assert client.get(f"/invitation?token={token}").status_code == 403
    assert client.get("/invitation").status_code == 403


def test_no_redirect_leads_elsewhere(client: TestClient, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    query = "next=https://evil.test&redirect=//evil.test"
    assert client.get(f"/people?{query}").headers["location"] == "/signin"
    answer = client.post(f"/signin?{query}", data={"name": "ann", "password": PASSWORD, "next": "//evil.test"})
    assert answer.headers["location"] == "/"
    link = f"/signin?token={campaign.people.accounts.make_signin_link('ann')}&{query}"
    assert client.post(link, data={"token": link[14:].partition("&")[0]}).headers["location"] == "/"


# --- the command ----------------------------------------------------------------------------------


def run(campaign: Campaign, *arguments: str) -> Any:
    return CliRunner().invoke(main, ["people", str(campaign.directory), *arguments])


def test_people_from_the_command_line(campaign: Campaign) -> None:
    assert "No accounts yet" in run(campaign).output
    campaign.people.accounts.add("ann", "manager")
    said = run(campaign, "--invite", "bob", "--group", "judges", "--group", "early", "--email", "bob@x.org").output
    token = re.search(r"^    /invitation\?token=(\S+)$", said, re.M)  # the app was never served: no address
    assert token is not None
    assert campaign.people.accounts.invited(token[1]) == "bob"
    campaign.operations.server_state.keep_address("http://127.0.0.1:8501")
    said = run(campaign, "--link", "bob").output
    assert "    http://127.0.0.1:8501/invitation?token=" in said
    assert "People on other machines cannot open http://127.0.0.1:8501: serve the app at an address that they" in said
    campaign.operations.server_state.keep_address("https://judging.example.org")
    assert "other machines" not in run(campaign, "--link", "bob").output
    assert run(campaign, "--set-role", "bob", "reader").exit_code == 0
    assert run(campaign, "--set-groups", "bob", "--group", "late").exit_code == 0
    assert run(campaign, "--set-email", "bob", "").exit_code == 0
    assert re.search(r"bob +reader +late +locked +no ", run(campaign, "--lock", "bob").output)
    listed = {row["name"]: row for row in json.loads(run(campaign, "--unlock", "bob", "--format", "json").output)}
    assert (listed["bob"]["role"], listed["bob"]["groups"], listed["bob"]["email"]) == ("reader", ["late"], None)
    assert listed["bob"]["locked"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lock", "ann"], "cleverdon: 'ann' is the only manager"),
        (["--lock", "eve"], "cleverdon: unknown account 'eve'"),
        (["--set-role", "ann", "boss"], "cleverdon: unknown role 'boss'"),
        (["--invite", "ANN"], "is taken by the account 'ann'; choose another name"),
        (["--invite", "ANN"], "--link ann prints a new link, --set-groups ann --group G replaces its groups"),
        (["--invite", "bob", "--invite", "ann"], "is taken by the account 'ann'; choose another name"),
        (["--invite", "bob", "--invite", "carl", "--email", "b@x.org"], "--email needs exactly one --invite"),
        (["--lock", "ann", "--unlock", "ann"], "expected only one of --invite"),
        (["--role", "reader"], "--role and --email need --invite"),
        (["--group", "a"], "--group needs --invite"),
    ],
)
def test_what_the_command_refuses(campaign: Campaign, arguments: list[str], words: str) -> None:
    campaign.people.accounts.add("ann", "manager")
    result = run(campaign, *arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    assert campaign.store.accounts.table()["name"].tolist() == ["ann"]


def test_several_people_are_invited_at_once(campaign: Campaign) -> None:
    said = run(campaign, "--invite", "bob", "--invite", "carl", "--group", "judges").output
    tokens = re.findall(r"^    /invitation\?token=(\S+)$", said, re.M)
    assert [campaign.people.accounts.invited(token) for token in tokens] == ["bob", "carl"]
    assert campaign.store.accounts.table()["groups"].tolist() == [["judges"], ["judges"]]
    said = run(campaign, "--link", "carl", "--link", "bob").output
    tokens = re.findall(r"^    /invitation\?token=(\S+)$", said, re.M)
    assert [campaign.people.accounts.invited(token) for token in tokens] == ["carl", "bob"]


def test_serve_for_somebody_unknown_says_how_to_invite_them(campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "manager")
    result = CliRunner().invoke(serve, [str(campaign.directory), "--as", "eve adams", "--no-browser"])
    assert result.exit_code == 2
    assert "--invite 'eve adams' --role annotator" in result.output
    assert "\n" not in result.output.strip()


def test_a_name_is_the_same_in_any_case_and_form(campaign: Campaign) -> None:
    campaign.people.accounts.add("Jos\u00e9", "annotator")
    campaign.people.accounts.set_password("Jos\u00e9", "three quiet wings")
    for typed in ("JOS\u00c9", "jose\u0301", "Jos\u00e9"):
        assert campaign.people.accounts.check_password(typed, "three quiet wings") == "Jos\u00e9"
    attempts = FailedAttempts()
    for _ in range(10):
        attempts.failed("Jos\u00e9", "here")
    assert attempts.wait("jose\u0301", "here") > 0
