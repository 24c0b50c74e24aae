"""Campaigns in pool, loop, list and preference tasks, a server on one, and its annotators."""

import atexit
import functools
import json
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from annotate.card.server.document_payload import PREFIX, task_prefix
from collection import Campaign, Question
from collection.core import clock
from collection.core.answer_tasks import ANSWER_TASKS
from tests.helpers import THOROUGH, small_file_system, until
from tests.torture.annotators import Annotator, Chooser, Grader, cookie_of
from tests.torture.server import Server

T = TypeVar("T")

TASKS = ("pool", "loop", "list", "preference", "questions")
ANNOTATORS = 20
DOCUMENTS = 600
SIZES = {
    **dict.fromkeys(("pool", "questions", "loop"), (24, 40, 5)),
    **dict.fromkeys(("list", "preference"), (400, 10, ANNOTATORS)),
    **dict.fromkeys(ANSWER_TASKS, (8, 1, 5)),
}
"""Task -> number of topics, pool depth, and annotators of each pair or topic."""
SYSTEMS, SENTENCES, NUGGETS = 8, 15, 15
"""Of the tasks of generated answers: to each topic, in each answer, and of each topic."""
QUESTIONS = (
    Question("trust", "How credible is it?", "grades", dict.fromkeys(range(12), "Credible"), asked_from=1, again=True),
    Question("why", "Why not?", "choice", {"old": "Too old", "short": "Too short"}, asked_to=0),
    Question("tags", "Which apply?", "tags", {"a": "A", "b": "B", "c": "C"}, required=False),
)
"""The questions of the task "questions", which is otherwise the pool."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here starts a server, which is slow, and reads /proc."""
    for item in items:
        if "torture" in item.path.parts:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.torture)
            if sys.platform != "linux":
                item.add_marker(pytest.mark.skip(reason="finds and limits processes as only Linux does"))


def many(short: T, long: T) -> T:
    """How much is done: in `make test-long`, and in `make torture`."""
    return long if THOROUGH else short


class Campaigning(NamedTuple):
    """A server on a campaign, its annotators, and a manager's cookie."""

    server: Server
    annotators: list[Annotator]
    manager: str


def saved(campaigning: Campaigning) -> int:
    """Decisions that are acknowledged."""
    return sum(len(annotator.acknowledged) for annotator in campaigning.annotators)


def judged_on(campaigning: Campaigning, more: int = 20) -> None:
    """Wait until so many more decisions are acknowledged."""
    before = saved(campaigning)
    until(lambda: saved(campaigning) >= before + more, "acknowledged decisions")


def build(directory: Path, task: str) -> Campaign:
    """A campaign with enough work for the long form."""
    topics, depth, overlap = SIZES[task]
    chance = random.Random(7)
    files = directory.with_name(f"{directory.name}-files")
    files.mkdir()
    words = [f"word{number}" for number in range(500)]
    documents = [
        {"doc_id": f"d{n}", "title": f"Document {n}", "text": " ".join(chance.choices(words, k=40))}
        for n in range(DOCUMENTS)
    ]
    (files / "d.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (files / "t.tsv").write_text("".join(f"t{topic}\tword{topic} word{topic + 40}\n" for topic in range(topics)))
    for run in ("a", "b"):
        lines = [
            f"t{topic} Q0 d{document} {rank} {100 - rank} {run}\n"
            for topic in range(topics)
            for rank, document in enumerate(chance.sample(range(DOCUMENTS), depth), 1)
        ]
        (files / f"{run}.run").write_text("".join(lines))
    campaign = Campaign.create(directory)
    campaign.imports.import_files(
        documents=[files / "d.jsonl"], topics=files / "t.tsv", runs=[files / "a.run", files / "b.run"]
    )
    if task in ANSWER_TASKS:
        add_task(campaign, task, files, topics, overlap)
    else:
        campaign.people.pools.add("depth", depth=depth)
        campaign.people.assignments.update(annotators=overlap)
    if task == "loop":
        campaign.settings.set_loop(mode="loop")
        campaign.corpus.features.update()
    elif task == "questions":
        campaign.settings.set_questions(QUESTIONS)
    elif task not in ("pool", *ANSWER_TASKS):
        campaign.settings.set_judging_page(task=task)
    campaign.people.accounts.add("boss", "manager")
    return campaign


def add_task(campaign: Campaign, task: str, files: Path, topics: int, overlap: int) -> None:
    """Add answers and nuggets, and a task of them."""
    rows = [
        f"system{system}\tt{topic}\tSystem says {sentence}.\td{system * SENTENCES + sentence}\n"
        for topic in range(topics)
        for system in range(SYSTEMS)
        for sentence in range(SENTENCES)
    ]
    (files / "answers.tsv").write_text("run\ttopic\tsentence\tcitations\n" + "".join(rows))
    campaign.answers.import_files(answers=files / "answers.tsv")
    for topic in range(topics):
        for nugget in range(NUGGETS):
            campaign.answers.nuggets.add(f"t{topic}", f"Nugget {nugget}.", annotator="boss")
    campaign.answers.tasks.prepare(task)
    with campaign.answers.tasks.open(task) as inner:
        inner.people.assignments.update(annotators=overlap)


def annotators_of(campaign: Campaign, port: int, task: str, number: int = ANNOTATORS) -> list[Annotator]:
    """So many annotators who are signed in."""
    found: list[Annotator] = []
    for n in range(number):
        arguments = (port, f"a{n}", cookie_of(campaign, f"a{n}"), n)
        if task == "list" or task == "preference":
            found.append(Chooser(task, *arguments))
        else:
            prefix = task_prefix(task) if task in ANSWER_TASKS else PREFIX
            found.append(Grader(*arguments, questions=QUESTIONS if task == "questions" else (), prefix=prefix))
    return found


@functools.cache
def _original(task: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="cleverdon-torture-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    build(folder / "campaign", task).close()
    return folder


def built(task: str, directory: Path) -> None:
    """Put a campaign with this task into a new directory, and its files beside it."""
    original = _original(task)
    shutil.copytree(original / "campaign", directory)
    shutil.copytree(original / "campaign-files", directory.with_name(f"{directory.name}-files"))


@pytest.fixture
def campaigning(tmp_path: Path) -> Iterator[Callable[..., Campaigning]]:
    """Builds a campaign with a task, serves it, and has its annotators sign in."""
    servers: list[Server] = []

    def begin(
        task: str = "pool",
        directory: Path | None = None,
        annotators: int = ANNOTATORS,
        lasting: float = clock.LASTING,
        ahead: float = 0,
    ) -> Campaigning:
        directory = directory or tmp_path / "campaign"
        built(task, directory)
        with Campaign(directory) as campaign:
            server = Server(directory, tmp_path, lasting, ahead)
            servers.append(server)
            people = annotators_of(campaign, server.port, task, annotators)
            return Campaigning(server, people, cookie_of(campaign, "boss", "manager"))

    yield begin
    for server in servers:
        server.stop(signal.SIGKILL)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, for root."""
    with small_file_system(tmp_path / "disk", "24m") as place:
        yield place
