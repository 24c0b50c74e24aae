"""Make the stored data of the demo, ``runs/`` and ``simulated.jsonl``, again.

The systems rank the documents, and simulated annotators judge what Cleverdon shows them, in the pool and in the loop.
The grades are those of ``judgements.jsonl``, with a few errors of one grade; the times are random.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from systems import run_all

from collection.campaign import Campaign
from collection.core.records import Judgement
from collection.demo.build import ANNOTATORS, BY_BOTH, IN_LOOP, unjudged
from collection.demo.documents import collect

DATA = Path(__file__).parent

JUDGEMENT_FIELDS = (
    "uuid", "annotator", "query_id", "doc_id", "kind", "relevance", "judged_at", "shown_at", "seconds", "source",
    "strategy", "pool_rank", "model_round", "probability",
)  # fmt: skip
"""Fields of a line of ``simulated.jsonl``."""

RUN_DEPTH = 50
"""Ranks of the stored runs."""


class Annotator(NamedTuple):
    """A simulated annotator."""

    name: str
    source: str
    """Annotator of ``judgements.jsonl`` whose grades these are."""
    errors: float
    """Share of grades that are one too high or one too low."""
    seconds: float
    """Median time per document, without the time for reading; times are log-normal."""
    first_day: datetime


FAST = Annotator(ANNOTATORS[0], "model-a", 0.02, 5.0, datetime(2026, 11, 9, 8, 30, tzinfo=UTC))
SLOW = Annotator(ANNOTATORS[1], "model-b", 0.04, 13.0, datetime(2026, 11, 9, 9, 15, tzinfo=UTC))
LOOP = Annotator(ANNOTATORS[2], "model-a", 0.03, 8.0, datetime(2026, 11, 12, 13, 5, tzinfo=UTC))

Grades = dict[tuple[str, str, str], int]
"""(annotator, query_id, doc_id) -> grade."""

PER_SESSION = 70
"""Judgements between two breaks of an hour; every second break lasts until the next day."""

SECONDS_PER_CHARACTER = 1 / 180
MOST_CHARACTERS = 2_000
"""Nobody reads a docstring to the end."""


class _Clock:
    """The time of an annotator: seconds per document, breaks, nights."""

    def __init__(self, annotator: Annotator, chance: random.Random) -> None:
        self.annotator, self.chance = annotator, chance
        self.now, self.made = annotator.first_day, 0

    def judge(self, characters: int) -> tuple[float, datetime, datetime]:
        """Return the seconds, the start and the end of the next judgement."""
        if self.made and self.made % PER_SESSION == 0:
            day = self.annotator.first_day + timedelta(days=self.made // PER_SESSION // 2)
            self.now = day if self.made // PER_SESSION % 2 == 0 else self.now + timedelta(hours=1)
        self.made += 1
        reading = min(characters, MOST_CHARACTERS) * SECONDS_PER_CHARACTER * self.annotator.seconds / 10
        seconds = round(self.annotator.seconds * self.chance.lognormvariate(0, 0.5) + reading, 1)
        shown = self.now
        self.now = shown + timedelta(seconds=seconds)
        return seconds, shown, self.now


class Simulation:
    """Lets the simulated annotators judge a campaign."""

    def __init__(self, campaign: Campaign, grades: Grades) -> None:
        self.campaign, self.grades = campaign, grades

    def run(self) -> None:
        """Judge the topics of :data:`BY_BOTH` and :data:`IN_LOOP`."""
        for annotator in (FAST, SLOW, LOOP):
            chance = random.Random(annotator.name)
            clock = _Clock(annotator, chance)
            for query_id, count in _work(annotator):
                for _ in range(10_000 if count is None else count):
                    if not self._judge_next(annotator, query_id, clock, chance):
                        break
                    if query_id in IN_LOOP and count is None and self.campaign.recall.for_topic(query_id).decision.stop:
                        break

    def _judge_next(self, annotator: Annotator, query_id: str, clock: _Clock, chance: random.Random) -> bool:
        """Judge the next document of a topic as its grade says; return whether there was one."""
        documents = self.campaign.judging.next_pairs(annotator.name, query_id, 1).documents
        if not documents or (annotator.source, query_id, documents[0].doc_id) not in self.grades:
            return False
        document = documents[0]
        grade = self.grades[annotator.source, query_id, document.doc_id]
        if chance.random() < annotator.errors:
            grade = {0: 1, 3: 2}.get(grade, grade + chance.choice((-1, 1)))
        seconds, shown, judged = clock.judge(len(document.text or ""))
        uuid = f"{chance.getrandbits(128):032x}"
        uuid = "-".join((uuid[:8], uuid[8:12], f"4{uuid[13:16]}", f"8{uuid[17:20]}", uuid[20:]))
        written = self.campaign.judging.judge_many(
            [
                Judgement(
                    uuid,
                    annotator.name,
                    query_id,
                    document.doc_id,
                    "graded",
                    relevance=grade,
                    judged_at=judged.isoformat(timespec="milliseconds"),
                    shown_at=shown.isoformat(timespec="milliseconds"),
                    seconds=seconds,
                    source="simulated",
                )
            ]
        )
        return bool(written.saved)


def _work(annotator: Annotator) -> Iterator[tuple[str, int | None]]:
    """The topics of an annotator, and the number of judgements of each."""
    if annotator is LOOP:
        yield from IN_LOOP.items()
    else:
        yield from ((query_id, None) for query_id in BY_BOTH)


def write_data(directory: Path) -> None:
    """Write the stored data of the demo to a directory that has its topics and judgements."""
    documents = pd.DataFrame([d[:3] for d in collect()], columns=["doc_id", "title", "text"])
    topics = pd.read_json(directory / "topics.jsonl", lines=True, dtype=False)
    (directory / "runs").mkdir(exist_ok=True)
    for run in run_all(documents, topics):
        rows = run.frame[run.frame["rank"] <= RUN_DEPTH].assign(q0="Q0", tag=run.name)
        text = rows[["query_id", "q0", "doc_id", "rank", "score", "tag"]].to_csv(sep=" ", header=False, index=False)
        (directory / "runs" / f"{run.name}.run.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    given = [json.loads(line) for line in (directory / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    grades = {(row["annotator"], row["query_id"], row["doc_id"]): row["relevance"] for row in given}
    with tempfile.TemporaryDirectory() as scratch, unjudged(Path(scratch) / "campaign", Path(scratch)) as campaign:
        Simulation(campaign, grades).run()
        log = campaign.store.judgements.table()
    log = log.sort_values("judged_at", kind="stable")[list(JUDGEMENT_FIELDS)]
    log.to_json(directory / "simulated.jsonl", orient="records", lines=True)


if __name__ == "__main__":
    write_data(DATA)
