"""People in real browsers: invited, refused, locked; and signing in at a provider that runs on loopback."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.auth.page_access import PAGES, role_names
from collection import Campaign
from tests.browser.oidc import CLIENT_ID, CLIENT_SECRET, Provider
from tests.browser.serving import Serving, choose_page, free_port, saved, sign_in, use_link
from tests.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS

pytestmark = [pytest.mark.browser, pytest.mark.long]

PASSWORD = "wing flow heat slab"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A small campaign, pooled."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "topics.tsv").write_text("".join(f"{t['query_id']}\t{t['title']}\n" for t in TOPICS))
    (folder / "documents.tsv").write_text("".join(f"{d['doc_id']}\t{d['title']}\t{d['text']}\n" for d in DOCUMENTS))
    (folder / "a.run").write_text(RUN_A)
    (folder / "b.run").write_text(RUN_B)
    with Campaign.create(folder / "campaign", title="Small") as campaign:
        campaign.imports.import_files(
            documents=[folder / "documents.tsv"],
            topics=folder / "topics.tsv",
            runs=[folder / "a.run", folder / "b.run"],
        )
        campaign.people.pools.add("depth", depth=2)
    return (folder / "campaign",)


def test_invite_judge_lock(serving: Serving, make_window: Callable[..., BrowserContext]) -> None:
    """A manager invites bob, who chooses a password and judges; then he is locked, and his card says so."""
    manager, bob = (make_window().pages[0] for _ in range(2))
    use_link(manager, serving.link)
    expect(manager.get_by_text("signed in as")).to_be_visible()
    choose_page(manager, "People")
    manager.get_by_label("Name", exact=True).first.fill("bob")
    manager.get_by_role("button", name="Invite", exact=True).click()
    link = manager.locator("code").filter(has_text="/invitation?token=").inner_text()
    assert link.startswith(f"{serving.url}/invitation?token=")

    bob.goto(link)
    bob.get_by_label("Password", exact=True).fill(PASSWORD)
    bob.get_by_label("Repeat password").fill(PASSWORD)
    bob.get_by_role("button", name="Save and sign in").click()
    expect(bob.get_by_text("Your topics", exact=True)).to_be_visible()
    choose_page(bob, "Judge")
    first = bob.locator("[data-part=doc-id]")
    expect(first).not_to_be_empty()
    bob.keyboard.press("2")
    saved(bob)

    with Campaign(serving.directory) as campaign:
        campaign.people.accounts.lock("bob")
    bob.keyboard.press("3")
    expect(bob.get_by_text(re.compile("You are signed out: reload this page to sign in again"))).to_be_visible()
    with Campaign(serving.directory) as campaign:
        assert campaign.store.judgements.table()[["annotator", "relevance"]].values.tolist() == [["bob", 2]]
    bob.goto(f"{serving.url}/judge")
    expect(bob.get_by_role("button", name="Sign in")).to_be_visible()
    with Campaign(serving.directory) as campaign:
        campaign.people.accounts.unlock("bob")
    bob.get_by_label("Name").fill("bob")
    bob.get_by_label("Password").fill(PASSWORD)
    bob.get_by_role("button", name="Sign in").click()
    expect(bob.get_by_text("Your topics", exact=True)).to_be_visible()
    choose_page(bob, "Judge")  # what waited in the browser is sent
    saved(bob)
    with Campaign(serving.directory) as campaign:
        assert sorted(campaign.store.judgements.table()["relevance"]) == [2, 3]


def test_pages_of_others_are_refused_by_their_address(serving: Serving, context: BrowserContext) -> None:
    page = sign_in(context, serving, "rae", "reader")
    entry = next(entry for entry in PAGES if "reader" not in entry.roles)
    page.goto(f"{serving.url}/{entry.url_path}")
    main, menu = page.get_by_test_id("stMain"), page.get_by_test_id("stSidebarNav")
    expect(main.get_by_text("Ask a manager of the campaign for access.")).to_be_visible()
    assert [word for word in main.inner_text().split("\n") if word.strip()] == [
        entry.title,
        f"This page is for {role_names(entry.roles)}.",
        "Ask a manager of the campaign for access.",
    ]
    for each in PAGES:
        expect(menu.get_by_role("link", name=each.title, exact=True)).to_have_count(
            int("reader" in each.roles and each.is_listed(is_review=False))
        )


# --- at a provider --------------------------------------------------------------------------------


@pytest.fixture
def context(make_window: Callable[..., BrowserContext]) -> BrowserContext:
    """A window that follows the app's policy: signing in runs a script in a page."""
    return make_window(bypass_csp=False)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.close()


@pytest.fixture(scope="module")
def with_provider(
    built: tuple[Path], provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    """A server on a copy of the campaign with an ``sso.toml``."""
    directory = tmp_path_factory.mktemp("provided") / "campaign"
    shutil.copytree(built[0], directory)
    port = free_port()
    path = directory / "sso.toml"
    path.write_text(
        f'title = "Example"\naddress = "http://127.0.0.1:{port}"\n'
        f'metadata_url = "{provider.issuer}/.well-known/openid-configuration"\n'
        f'client_id = "{CLIENT_ID}"\nclient_secret = "{CLIENT_SECRET}"\n'
        '[roles]\nmanager = ["mia@example.org"]\nannotator = ["group:judges"]\nreader = ["*@example.org"]\n'
    )
    path.chmod(0o600)
    running = Serving(directory, port)
    yield running
    running.stop()


def go_through(page: Page, serving: Serving) -> None:
    """To the provider and back."""
    page.goto(f"{serving.url}/judge")
    page.get_by_role("link", name="Sign in with Example").click()
    page.locator("#agree").click()


def test_a_provider_s_people_come_in_with_their_role_and_go_out(
    with_provider: Serving, provider: Provider, context: BrowserContext
) -> None:
    provider.person = {"email": "abe@other.org", "name": "Abe", "groups": ["judges", "x"]}
    page = context.pages[0]
    go_through(page, with_provider)
    expect(page.get_by_text(re.compile("signed in as"))).to_contain_text("annotator")
    expect(page.get_by_test_id("stSidebarNav").get_by_role("link", name="Judge", exact=True)).to_be_visible()
    with Campaign(with_provider.directory) as campaign:
        row = campaign.store.accounts.table().set_index("name").loc["Abe"]
    assert (row["role"], row["email"]) == ("annotator", "abe@other.org")
    # Out is out, at the provider too: the next page asks to sign in.
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{with_provider.url}/signin")
    page.goto(f"{with_provider.url}/")
    expect(page).to_have_url(f"{with_provider.url}/signin")
    assert provider.requests.count("/logout") == 1


def test_who_has_no_role_is_refused_at_sign_in(
    with_provider: Serving, provider: Provider, context: BrowserContext
) -> None:
    page = context.pages[0]
    with Campaign(with_provider.directory) as campaign:
        before = campaign.store.accounts.table()
    provider.person = {"email": "eve@evil.org", "groups": ["visitors"]}
    go_through(page, with_provider)
    expect(page.get_by_test_id("stAlert")).to_contain_text(re.compile("eve.?@.?evil.org has no role", re.I))
    assert page.request.get(f"{with_provider.url}/judge").url == f"{with_provider.url}/signin"
    page.get_by_role("button", name=re.compile("^Sign out of Example")).click()
    expect(page).to_have_url(f"{with_provider.url}/signin")
    with Campaign(with_provider.directory) as campaign:
        assert campaign.store.accounts.table().equals(before)
