"""Every page for every role: opened, or refused with none of its content; and the pages about people."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from annotate import views
from annotate.auth import page_access, rate_limit
from annotate.auth.page_access import PAGES, SECTIONS, PageEntry
from annotate.server import uploads
from annotate.views.campaign.tour import STOPS
from annotate.views.widgets.widgets import NEXT
from collection import Campaign
from collection.campaign.people.accounts import Device
from collection.core.records import ROLES, Role
from tests.conftest import signed_in
from tests.helpers import Opened, first_of, words
from tests.project.test_conventions import all_imports, modules

PASSWORD = "wing flow heat slab"

by_title = {"ids": lambda page: getattr(page, "title", None)}


@pytest.fixture
def opened(opened: Opened) -> Opened:
    """Opens a page with a session of this role or with none."""

    def run(campaign: Campaign, page: PageEntry | str, role: Role | None, name: str | None = None) -> AppTest:
        return opened(campaign, page if isinstance(page, str) else page.url_path, name or f"some {role}", role)

    return run


@pytest.fixture
def begun(campaign: Campaign) -> Campaign:
    """Two annotators have judged; they differ."""
    for annotator, relevance in (("some annotator", 3), ("zoe", 0)):
        for query_id, doc_id in (("1", "d1"), ("1", "d2"), ("2", "d4")):
            campaign.judging.judge(annotator, query_id, doc_id, relevance)
    return campaign


def test_every_script_is_in_the_table_and_says_whose_it_is() -> None:
    folder = Path(views.__file__).parent
    imports = set[str]().union(*map(all_imports, modules().values()))
    imported = imports | {name.rpartition(".")[0] for name in imports}  # `from module import name`
    alone = {
        file.relative_to(folder).as_posix()
        for name, file in modules().items()
        if file.is_relative_to(folder) and file.name != "__init__.py" and name not in imported
    }
    assert alone == {page.file for page in PAGES}
    assert len({page.url_path for page in PAGES}) == len(PAGES)
    assert [page.url_path for page in PAGES if page.default] == ["overview"]
    for page in PAGES:
        assert page.roles, page.file
        assert set(page.roles) <= set(ROLES), page.file
        assert "manager" in page.roles, page.file
        assert page.section in SECTIONS, page.file


def test_the_menu_has_its_pages_section_by_section() -> None:
    sections = [page.section for page in PAGES]
    assert sections == sorted(sections, key=SECTIONS.index)


def test_every_stop_of_the_tour_and_every_next_step_is_a_page() -> None:
    assert {url_path for _, url_path, _, _ in STOPS} | set(NEXT) <= {page.url_path for page in PAGES}


def test_what_annotators_and_readers_may_open_is_known_by_name() -> None:
    """A new page that is open to them has to be put here, knowingly."""
    of = {role: {page.url_path for page in PAGES if role in page.roles} for role in ROLES}
    everybody = {"overview", "guidelines", "account"}
    assert of["annotator"] == everybody | {"judge", "my-judgements", "nuggets"}
    assert of["reader"] == everybody | {
        "recall",
        "agreement",
        "export",
        "compare",
        "system-order",
        "reusability",
        "machine-labels",
        "stopping",
        "report",
    }


@pytest.mark.parametrize("role", first_of([None, *reversed(ROLES)], 2))
@pytest.mark.parametrize("page", PAGES, **by_title)
def test_every_page_opens_for_its_roles_and_refuses_the_others(
    opened: Opened, begun: Campaign, page: PageEntry, role: Role | None
) -> None:
    app = opened(begun, page, role)
    if role in page.roles:
        assert not [e for e in app.error if "is for" in e.value]
        return
    title = "Sign in" if role is None else page.title
    assert [t.value for t in app.title] == [title]
    shown = [
        element
        for kind in ("dataframe", "metric", "subheader", "button", "selectbox")
        for element in app.main.get(kind)
    ]
    assert not shown
    if role is None:
        assert not app.sidebar.children
    else:
        assert [e.value for e in app.error] == [f"This page is for {page_access.role_names(page.roles)}."]


@pytest.mark.parametrize("role", first_of(["manager", "annotator", "reader"], 2))
@pytest.mark.parametrize("page", PAGES, **by_title)
@pytest.mark.long
def test_pages_of_an_empty_campaign_send_nobody_where_they_may_not_go(
    opened: Opened, tmp_path: pytest.TempPathFactory, page: PageEntry, role: Role
) -> None:
    with Campaign.create(tmp_path / "empty") as campaign:
        app = opened(campaign, page, role)
        assert app.title
        assert bool(app.error) == (role not in page.roles)


@pytest.mark.parametrize("page", [p for p in PAGES if "reader" in p.roles and p.url_path != "account"], **by_title)
@pytest.mark.long
def test_a_reader_changes_nothing_whatever_is_pressed(opened: Opened, begun: Campaign, page: PageEntry) -> None:
    signed_in(begun, "some reader", "reader")

    def dump() -> list[str]:
        lines = begun.store.connection.db.conn.iterdump()
        return [line for line in lines if not line.startswith('INSERT INTO "sessions"')]

    before = dump()
    app = opened(begun, page, "reader")
    if page.url_path == "recall":
        app.query_params["topic"] = "1"
        app.run()
        assert app.subheader
    for key in [button.key for button in app.button if button.key != "sign-out"]:
        app.button(key=key).click().run()
    assert dump() == before


def test_a_manager_closes_a_topic_and_a_reader_is_not_offered_it(opened: Opened, begun: Campaign) -> None:
    for role, offered in (("manager", True), ("reader", False)):
        app = opened(begun, "recall", role)
        app.query_params["topic"] = "1"
        app.run()
        assert ("close" in [button.key for button in app.button]) is offered


def test_an_annotator_s_overview_has_their_own_figures_only(opened: Opened, begun: Campaign) -> None:
    begun.judging.judge("zoe", "2", "d5", 2)
    app = opened(begun, "overview", "annotator")
    assert {m.label: m.value for m in app.metric} == {"Your topics": "2", "Your judgements": "3"}
    assert app.dataframe[0].value["judged"].tolist() == [2, 1]
    everything = " ".join(str(element.value) for kind in (app.markdown, app.caption) for element in kind)
    assert not re.search("zoe|alpha|beta", everything)
    assert len(app.dataframe) == 1


def test_an_annotator_without_work_is_told_so_and_gets_no_button(
    opened: Opened, begun: Campaign, make_campaign: Callable[..., Campaign]
) -> None:
    app = opened(make_campaign("unpooled", pooled=False), "overview", "annotator")
    shown = " ".join(m.value for m in app.markdown)
    assert "There is nothing to judge yet" in shown
    assert "Next step for managers" in shown
    assert "next-step" not in [button.key for button in app.button]

    app = opened(begun, "overview", "annotator")
    assert any(re.search("[1-6] of 6 pairs left in your topics", m.value) for m in app.markdown)
    app.button(key="next-step").click().run()  # the page that it leads to exists


def test_the_role_is_looked_up_in_every_run(opened: Opened, begun: Campaign) -> None:
    begun.people.accounts.add("ann", "manager")
    app = opened(begun, "compare", "reader", "rae")
    assert app.dataframe
    begun.people.accounts.set_role("rae", "annotator")
    app.run()
    assert not app.main.get("dataframe")
    assert "is for" in app.error[0].value
    begun.people.accounts.lock("rae")
    app.run()
    assert [t.value for t in app.title] == ["Sign in"]


def test_the_second_look_refuses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a page of other roles ever put into the menu as itself, it would still not run."""

    class Chosen:
        url_path = "people"

        def run(self) -> None:
            raise AssertionError("it ran")

    refused: list[PageEntry] = []
    monkeypatch.setattr(views, "refusal", lambda page: lambda: refused.append(page))
    views.run(Chosen(), "reader")  # type: ignore[arg-type]
    assert [page.url_path for page in refused] == ["people"]


# --- people ---------------------------------------------------------------------------------------


def test_invite_somebody(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "people", "manager", "ann")
    app.text_input[0].set_value("bob")
    app.selectbox[0].set_value("reader")
    app.multiselect[0].set_value(["judges"])
    submit(app, "Invite")
    assert not app.error
    token = re.search(r"/invitation\?token=(\S+)", app.code[0].value)
    assert token is not None
    assert campaign.people.accounts.invited(token[1]) == "bob"
    assert app.dataframe[0].value[["name", "role", "groups", "state"]].values.tolist() == [
        ["ann", "manager", "", "open"],
        ["bob", "reader", "judges", "invited"],
    ]
    app.run()
    assert app.code  # also when the page runs again before it is copied
    submit(app, "Close")
    assert not app.code


@pytest.mark.parametrize(
    ("browser", "kept", "expected"),
    [
        ("http://127.0.0.1:8501/people", "http://127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("http://localhost:9000/people", "https://judging.example.org", "https://judging.example.org"),
        ("https://other.example.org/people", "https://judging.example.org", "https://other.example.org"),
    ],
)
def test_a_link_that_opens_on_this_machine_only_says_so(
    opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch, browser: str, kept: str, expected: str
) -> None:
    monkeypatch.setattr(ContextProxy, "url", browser)
    campaign.operations.server_state.keep_address(kept)
    campaign.people.accounts.add("bob", "annotator")
    app = opened(campaign, "people", "manager", "ann")
    account(app).set_value("bob").run()
    app.button(key="again-bob").click().run()
    assert app.code[0].value.startswith(f"{expected}/invitation?token=")
    assert ("People on other machines cannot open this address" in words(app)) == ("127.0.0.1" in expected)


def test_a_person_continues_with_imported_judgements(opened: Opened, campaign: Campaign, tmp_path: Path) -> None:
    assert not opened(campaign, "people", "manager", "ann").checkbox
    labels, qrels = tmp_path / "labels.csv", tmp_path / "qrels.txt"
    labels.write_text("annotator,query_id,doc_id,relevance\nbob,1,d1,1\n")
    qrels.write_text("1 0 d1 1\n")
    campaign.imports.import_files(labels=labels, qrels=qrels)
    assert campaign.people.accounts.imported_names() == ["bob"]
    app = opened(campaign, "people", "manager", "ann")
    app.text_input[0].set_value("bob")
    submit(app, "Invite")
    assert "Imported judgements have the annotator" in app.error[0].value
    app.checkbox(key="imported").check()
    submit(app, "Invite")
    assert not app.error
    assert campaign.store.accounts.table()["name"].tolist() == ["ann", "bob"]
    assert not app.checkbox


def test_an_invitation_that_cannot_be_made_says_why(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "people", "manager", "ann")
    app.text_input[0].set_value("ANN")
    submit(app, "Invite")
    assert "is taken by the account" in app.error[0].value
    assert app.text_input[0].value == "ANN"
    assert len(campaign.store.accounts.table()) == 1


def test_change_lock_and_unlock_an_account(opened: Opened, campaign: Campaign) -> None:
    campaign.people.accounts.add("bob", "annotator")
    secret = campaign.people.accounts.open_session("bob")
    app = opened(campaign, "people", "manager", "ann")
    account(app).set_value("bob").run()
    app.selectbox(key="role-bob").set_value("reader")
    app.multiselect(key="groups-bob").set_value(["a", "b"])
    app.text_input(key="email-bob").set_value("bob@x.org")
    submit(app, "Save")
    assert not app.error
    row = campaign.store.accounts.table().set_index("name").loc["bob"]
    assert (row["role"], row["groups"], row["email"]) == ("reader", ["a", "b"], "bob@x.org")
    app.button(key="lock-bob").click().run()
    assert campaign.people.accounts.session(secret) is None
    assert app.button(key="again-bob").disabled
    app.button(key="lock-bob").click().run()
    assert not campaign.store.accounts.table().set_index("name").loc["bob", "locked"]
    app.button(key="again-bob").click().run()
    assert "/invitation?token=" in app.code[0].value


def test_owners_and_managers_end_sessions(opened: Opened, campaign: Campaign) -> None:
    campaign.people.accounts.add("bob", "annotator")
    known, lost, other = (
        campaign.people.accounts.open_session("bob", Device(f"Firefox on {where}", "10.0.0.7"))
        for where in ("Linux", "Android", "Windows")
    )
    digests = dict(campaign.people.accounts.sessions("bob")[["device", "session"]].itertuples(index=False))
    app = opened(campaign, "account", "annotator", "bob")
    assert "Firefox on Android" in words(app)
    app.button(key=f"end-bob-{digests['Firefox on Android']}").click().run()
    assert campaign.people.accounts.session(lost) is None
    assert campaign.people.accounts.session(known)
    app.button(key="end-bob").click().run()
    assert campaign.people.accounts.session(other) is None
    assert len(campaign.people.accounts.sessions("bob")) == 1  # the page's own
    manager = opened(campaign, "people", "manager", "ann")
    account(manager).set_value("bob").run()
    (mine,) = campaign.people.accounts.sessions("bob")["session"]
    manager.button(key=f"end-bob-{mine}").click().run()
    assert campaign.people.accounts.sessions("bob").empty
    assert "Not signed in on any browser." in words(manager)


def test_the_last_manager_is_told(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "people", "manager", "ann")
    app.button(key="lock-ann").click().run()
    assert "only manager" in app.error[0].value
    app.selectbox(key="role-ann").set_value("reader")
    submit(app, "Save")
    assert "only manager" in app.error[0].value
    assert campaign.store.accounts.table()["role"].tolist() == ["manager"]


def test_hostile_names_are_no_markup(opened: Opened, campaign: Campaign) -> None:
    hostile = "**b** <img src=x onerror=alert(1)> :red[r] [l](javascript:x)"
    app = opened(campaign, "people", "manager", hostile)
    app.button(key=f"again-{hostile}").click().run()
    account_page = opened(campaign, "account", "manager", hostile)
    for page in (app, account_page):
        live = [re.sub(r"\\.", "", m.value) for kind in (page.markdown, page.caption) for m in kind]
        assert not [m for m in live if "<img" in m or "](javascript" in m or "**b**" in m]


# --- account --------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_choose_and_change_the_password(opened: Opened, campaign: Campaign, role: Role) -> None:
    app = opened(campaign, "account", role, "ann")
    assert "are different" in save(app, PASSWORD, PASSWORD + "!")
    assert "10 characters" in save(app, "short", "short")
    assert save(app, PASSWORD, PASSWORD) == ""
    assert campaign.people.accounts.check_password("ann", PASSWORD) == "ann"
    app.run()  # this session is still open
    assert "current password" in save(app, "wrong wrong wrong", PASSWORD + "!", PASSWORD + "!")
    assert campaign.people.accounts.check_password("ann", PASSWORD) == "ann"


def test_new_passwords_that_are_refused_are_no_guesses_of_the_old_one(
    opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "MAX_FAILURES", 2)
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    app = opened(campaign, "account", "manager", "ann")
    for new in ("short", "short", "short", PASSWORD + "!"):
        assert "10 characters" in save(app, PASSWORD, new, new) or not app.error
    assert campaign.people.accounts.check_password("ann", PASSWORD + "!") == "ann"


@pytest.mark.parametrize(
    ("seconds", "minutes"), [(0.1, "1 minute."), (60.0, "1 minute."), (60.1, "2 minutes."), (300.0, "5 minutes.")]
)
def test_the_minutes_to_wait_are_rounded_up(seconds: float, minutes: str) -> None:
    assert rate_limit.wait_message(seconds) == f"Too many attempts. Try again in {minutes}"


def test_the_old_password_cannot_be_guessed_from_an_open_browser(
    opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "MAX_FAILURES", 2)
    campaign.people.accounts.add("ann", "manager")
    campaign.people.accounts.set_password("ann", PASSWORD)
    app = opened(campaign, "account", "manager", "ann")
    for guess in ("wrong wrong wrong", "wrong again again"):
        assert "current password" in save(app, guess, PASSWORD + "!", PASSWORD + "!")
    assert save(app, PASSWORD, PASSWORD + "!", PASSWORD + "!") == "Too many attempts. Try again in 5 minutes."
    assert campaign.people.accounts.check_password("ann", PASSWORD) == "ann"


def test_an_account_shows_its_groups_and_its_address(opened: Opened, campaign: Campaign) -> None:
    campaign.people.accounts.add("ann", "annotator", "ann_1@x.org")
    campaign.people.accounts.set_groups("ann", ["judges", "early"])
    said = [re.sub(r"[\\\u200b]", "", m.value) for m in opened(campaign, "account", "annotator", "ann").markdown]
    assert "E-mail: ann_1@x.org." in said
    assert any(set(re.findall(r"\w+", text)) == {"Groups", "early", "judges"} for text in said)


@pytest.mark.parametrize(("key", "left"), [("sign-out", 1), ("leave-here", 1), ("leave-everywhere", 0)])
def test_sign_out_ends_the_session_on_the_server(opened: Opened, campaign: Campaign, key: str, left: int) -> None:
    signed_in(campaign, "ann")
    app = opened(campaign, "account", "manager", "ann")
    assert campaign.store.accounts.table()["sessions"].tolist() == [2]
    app.button(key=key).click().run()
    assert campaign.store.accounts.table()["sessions"].tolist() == [left]
    app.run()
    assert [t.value for t in app.title] == ["Sign in"]


def test_a_session_takes_files_only_while_its_page_has_an_uploader(
    opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(views.__file__).parent
    with_uploader = {entry.file for entry in page_access.PAGES if "file_uploader(" in (folder / entry.file).read_text()}
    assert with_uploader == {entry.file for entry in page_access.PAGES if entry.has_uploader}
    monkeypatch.setattr(uploads, "_open", {})
    opened(campaign, "account", "manager")
    assert not uploads._open
    opened(campaign, "import", "manager")
    assert len(uploads._open) == 1
    for page, role in (("account", "manager"), ("import", "annotator"), ("import", None)):
        uploads._open |= {"test session id": None}
        opened(campaign, page, role)
        assert not uploads._open, (page, role)


def submit(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def save(app: AppTest, *texts: str) -> str:
    """Save a form with these texts; the error, if there is one."""
    for field, text in zip(app.text_input, texts, strict=True):
        field.set_value(text)
    submit(app, "Save")
    return app.error[0].value if app.error else ""


def account(app: AppTest):
    return next(box for box in app.selectbox if box.label == "Account")
