"""What several test files share: a small campaign, the real collections, and frames from text."""

import functools
import gc
import json
import logging
import secrets
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from sqlite_utils import Database
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

import collection.core.clock
from annotate.application import SCRIPT
from annotate.auth.page_access import find_page
from annotate.auth.session import DIRECTORY_VARIABLE
from annotate.auth.tokens import TOKEN_HEADER, Tokens
from annotate.card.server.routes import JudgingService
from collection import accounts
from collection.campaign import Campaign
from collection.cli import output
from collection.core import display
from collection.core.layout import DATABASE
from collection.core.records import Document, Role, Topic
from collection.schema import SCRIPTS
from collection.store import schema_version
from tests.collection.campaign.machine_labels.llm.llm_server import FakeEndpoint
from tests.helpers import (
    PATIENCE,
    SHARED,
    THOROUGH,
    Clock,
    Opened,
    PageTest,
    add_answers,
    cases,
    fill,
    join,
    plant_migrations,
    put,
)

LONGEST = 15 * 60.0 * (16 if THOROUGH else 1)
"""Seconds after which a test is said to hang: ten times what the longest takes on a busy machine."""

# On a busy machine any example may take long once.
settings.register_profile(
    "cleverdon", deadline=None, max_examples=cases(25, 100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cleverdon")


# Thousands of tests and syntax trees stay in memory, through which every full search for garbage goes.
gc.set_threshold(100_000, 20, 100)


@contextmanager
def bounded(item: pytest.Item) -> Iterator[None]:
    """Fail a test that hangs, at the line where it waits: whatever has no limit of its own ends here."""
    if not hasattr(signal, "SIGALRM"):  # Windows
        yield
        return

    def ring(*_: object) -> None:
        raise AssertionError(f"waited {LONGEST:g} s for the end of {item.nodeid}: the traceback says where it is")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def keeping_main_module() -> Iterator[None]:
    """Put the main module back: an AppTest replaces it by its script, which every process that starts then runs."""
    before = sys.modules["__main__"]
    try:
        yield
    finally:
        sys.modules["__main__"] = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[object]:
    with keeping_main_module():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with bounded(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with bounded(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with bounded(item):
        return (yield)


def pytest_collection_finish() -> None:
    """Leave what has been made so far out of garbage collection, which Streamlit runs in full after each script run."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need, skip those whose collections are missing, and run slow files first.

    Files that wait for browsers and commands take longest; at the end one of them would run alone.
    """
    seen = set[str]()
    for item in items:
        if "opened" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if "slow" in item.keywords and "views" not in item.path.parts:  # there, a case is a page
            test = item.nodeid.partition("[")[0]
            if test in seen:
                item.add_marker(pytest.mark.long)
            seen.add(test)
    items.sort(key=lambda item: item.path.relative_to(Path(__file__).parent).parts[0] in ("annotate", "collection"))
    if not (SHARED / "data").is_dir():
        skip = pytest.mark.skip(reason=f"needs the real collections in {SHARED}")
        for item in items:
            if "shared" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def root_logger() -> Iterator[None]:
    """Restores the root logger, which a server that is started sets up."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the real collections and the acceptance values."""
    return SHARED


@pytest.fixture
def later_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program has a migration more than campaigns that were made before, as a later release has."""
    plant_migrations(monkeypatch)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What judging takes for the time."""
    clock = Clock()
    monkeypatch.setattr(collection.core.clock, "seconds", lambda: clock.at)
    return clock


def frame(text: str, *columns: str) -> pd.DataFrame:
    """A frame from lines of blank-separated cells; numbers become numbers."""
    rows = [line.split() for line in text.strip().splitlines()]
    table = pd.DataFrame(rows, columns=list(columns))
    for column in ("score", "relevance", "rank"):
        if column in table:
            table[column] = pd.to_numeric(table[column])
    return table


def signed_in(campaign: Campaign, name: str = "ann", role: Role = "manager") -> str:
    """The secret of an open session of this person; makes the account where there is none."""
    if name not in campaign.store.accounts.table()["name"].tolist():
        campaign.people.accounts.add(name, role)
    return campaign.people.accounts.open_session(name)


def judging_token(campaign: Campaign, name: str = "ann", role: Role = "manager") -> str:
    """A token with which this person's card posts, in a session of its own."""
    person = campaign.people.accounts.session(signed_in(campaign, name, role))
    assert person is not None
    return Tokens(campaign.operations.server_state.secret(), campaign.id).token(person.name, person.session)


@contextmanager
def card_client(
    service: JudgingService, campaign: Campaign, name: str = "ann", role: Role = "manager"
) -> Iterator[TestClient]:
    """A client that posts to the judging routes as this person's card."""
    app = Starlette(routes=service.routes(), lifespan=service.lifespan)
    with TestClient(app, headers={TOKEN_HEADER: judging_token(campaign, name, role)}, follow_redirects=False) as client:
        yield client


TOPICS = [
    {
        "query_id": "1",
        "title": "running average",
        "description": "Smooth a series.",
        "narrative": "A window.",
    },
    {"query_id": "2", "title": "read a table", "description": "From a file.", "narrative": "Any format."},
]
DOCUMENTS = [
    {"doc_id": f"d{i}", "title": f"Title {i}", "text": f"The text of document {i}.", "library": "demo"}
    for i in range(1, 9)
]
RUN_A = """\
1 Q0 d1 1 9.5 alpha
1 Q0 d2 2 8.5 alpha
1 Q0 d3 3 7.5 alpha
2 Q0 d4 1 3.5 alpha
2 Q0 d5 2 2.5 alpha
"""
RUN_B = """\
1 Q0 d2 1 0.9 beta
1 Q0 d6 2 0.8 beta
2 Q0 d4 1 0.7 beta
2 Q0 d7 2 0.6 beta
"""


REAL_HASHER = accounts._hasher


@pytest.fixture(scope="session", autouse=True)
def _quick_passwords() -> Iterator[None]:
    """A hash of a password takes a tenth of a second on purpose; a test that is not about that need not wait."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with mock.patch.object(accounts, "_hasher", return_value=quick):
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_are_made_once() -> Iterator[None]:
    """The migrations of a new campaign take longer than many a test does: it gets a copy of what they make."""
    made: dict[tuple[str, ...], Database] = {}
    migrate = schema_version.migrate

    def copy(db: Database, path: Path | str) -> None:
        if db.table_names():
            migrate(db, path)
            return
        names = tuple(SCRIPTS)
        if names not in made:
            made[names] = Database(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
            migrate(made[names], ":memory:")
        made[names].conn.backup(db.conn)

    with mock.patch.object(schema_version, "migrate", copy):
        yield


@pytest.fixture(scope="session", autouse=True)
def _progress_is_not_printed() -> Iterator[None]:
    """A busy machine takes long enough for a line of progress, which tests of what is printed would find."""
    with mock.patch.object(output, "SELDOM", float("inf")), mock.patch.object(display, "SELDOM", float("inf")):
        yield


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once() -> Iterator[None]:
    """Every AppTest reads what each installed package says of itself, for components: a fifth of a second each time."""
    once = functools.cache(manifest_scanner.scan_component_manifests)
    with mock.patch.object(manifest_scanner, "scan_component_manifests", once):
        yield


@pytest.fixture(scope="session", autouse=True)
def _pages_are_compiled_once() -> Iterator[None]:
    """Every run of an AppTest compiles its scripts; the app keeps them, and so do the tests."""
    cache = ScriptCache()
    with mock.patch.object(app_test, "ScriptCache", return_value=cache):
        yield


@pytest.fixture(scope="session", autouse=True)
def _scripts_are_waited_for() -> Iterator[None]:
    """An AppTest looks through all events of its script every millisecond, and takes that time from the script.

    A page gets the patience of every other wait, whatever the test says.
    """

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        assert runner._script_thread is not None
        join(runner._script_thread, "the end of a page's script")
        assert runner.script_stopped()

    with mock.patch.object(local_script_runner, "require_widgets_deltas", wait):
        yield


@pytest.fixture
def real_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as they are outside the tests."""
    monkeypatch.setattr(accounts, "_hasher", REAL_HASHER)


def write_files(folder: Path) -> Path:
    """topics.jsonl, documents.jsonl, a.run and b.run in a new folder."""
    folder.mkdir()
    (folder / "topics.jsonl").write_text("".join(json.dumps(t) + "\n" for t in TOPICS))
    (folder / "documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in DOCUMENTS))
    (folder / "a.run").write_text(RUN_A)
    (folder / "b.run").write_text(RUN_B)
    return folder


def small_campaign(directory: Path, files: Path, *, pooled: bool = True, grades: str = "0-3") -> Campaign:
    """A new campaign with the small files imported, pooled to depth 2."""
    campaign = Campaign.create(directory, grades=grades)
    campaign.imports.import_files(
        documents=[files / "documents.jsonl"],
        topics=files / "topics.jsonl",
        runs=[files / "a.run", files / "b.run"],
    )
    if pooled:
        campaign.people.pools.add("depth", depth=2)
    return campaign


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with topics.jsonl, documents.jsonl, a.run and b.run."""
    return write_files(tmp_path / "files")


@pytest.fixture(scope="session")
def originals() -> dict[tuple[object, ...], tuple[Path, str]]:
    """Folders with a campaign by what made them, and the names of the campaigns in them."""
    return {}


@pytest.fixture
def copy_of(
    originals: dict[tuple[object, ...], tuple[Path, str]], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Campaign]]:
    """Opens a copy of a campaign, with the files beside it; a function makes the original in a folder, once."""
    opened: list[Campaign] = []

    def copy(build: Callable[..., Campaign], *arguments: object, name: str = "") -> Campaign:
        if (build, *arguments) not in originals:
            folder = tmp_path_factory.mktemp("built")
            with build(folder, *arguments) as original:
                originals[build, *arguments] = folder, original.directory.name
        folder, original_name = originals[build, *arguments]
        directory = tmp_path / (name or original_name)
        shutil.copytree(folder, tmp_path, ignore=shutil.ignore_patterns(original_name), dirs_exist_ok=True)
        shutil.copytree(folder / original_name, directory)
        with closing(sqlite3.connect(directory / DATABASE)) as unnamed, unnamed:
            # What a process keeps of a campaign has its id.
            unnamed.execute("UPDATE settings SET value = ? WHERE key = 'id'", (json.dumps(secrets.token_hex(6)),))
        opened.append(Campaign(directory))
        return opened[-1]

    yield copy
    for campaign in opened:
        campaign.close()


def build_small(folder: Path, pooled: bool, grades: str) -> Campaign:
    with TemporaryDirectory() as elsewhere:
        return small_campaign(folder / "campaign", write_files(Path(elsewhere) / "files"), pooled=pooled, grades=grades)


@pytest.fixture
def make_campaign(copy_of: Callable[..., Campaign]) -> Callable[..., Campaign]:
    """Makes campaigns with the small files imported."""

    def make(name: str = "campaign", *, pooled: bool = True, grades: str = "0-3") -> Campaign:
        return copy_of(build_small, pooled, grades, name=name)

    return make


@pytest.fixture
def campaign(make_campaign: Callable[..., Campaign], files: Path) -> Campaign:
    """The small campaign, pooled to depth 2: d1 d2 d6 for topic 1, d4 d5 d7 for topic 2."""
    return make_campaign()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Opens a page of a campaign by its address, as the browser of somebody who is signed in (or of nobody) does."""

    def run(
        campaign: Campaign,
        url_path: str,
        name: str = "ann",
        role: Role | None = "manager",
        *,
        query: Mapping[str, str] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> AppTest:
        secret = None if role is None else signed_in(campaign, name, role)
        monkeypatch.setattr(Tokens, "read_cookie", lambda self, value: secret)
        monkeypatch.setenv(DIRECTORY_VARIABLE, str(campaign.directory))
        app = PageTest(str(SCRIPT), default_timeout=PATIENCE)
        # switch_page() would need a run of another page before; an unknown hash opens the default page.
        app._page_hash = calc_hash(find_page(url_path).url_path)
        app.query_params.update(query or {})
        for key, value in (state or {}).items():
            app.session_state[key] = value
        return app.run()

    return run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    """A language model's endpoint on this machine, for which no key is set."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FakeEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def no_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where a request to a language model is about to be repeated, which takes half a minute in all."""
    monkeypatch.setattr("openai._base_client.SyncAPIClient._sleep_for_retry", mock.Mock(side_effect=AssertionError))


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Campaign]:
    """A campaign with 2 topics of 20 pairs each."""
    with Campaign.create(tmp_path / "many") as campaign:
        fill(campaign, ["t1", "t2"], [f"d{n:02}" for n in range(20)])
        yield campaign


@pytest.fixture
def answered(tmp_path: Path) -> Iterator[Campaign]:
    """Two topics with answers, two nuggets for each, and two documents, of which one has a text."""
    with Campaign.create(tmp_path / "campaign") as campaign:
        put(campaign, [Topic("1", "wing lift"), Topic("2", "heat flow")], [Document("d1", "Lift", "Air lifts wings.")])
        add_answers(campaign)
        for query_id in ("1", "2"):
            for text, importance in (("Air is fast.", "vital"), ("Pressure falls.", "okay")):
                campaign.answers.nuggets.add(query_id, text, annotator="eva", importance=importance)
        yield campaign
