"""Twenty annotators judge each pair twice: is anything judged three times or left out, and how long does a save take?

The annotators are HTTP clients of `cleverdon serve` that judge as fast as it answers, each through the topics in an
order of its own. Some close their browser without a word and never come back, some come back after their reservations
have ended and send what they had judged meanwhile, some answers get lost and are asked for again. Prints how often
pairs were judged, what was reserved and never judged at the end, and medians and 95th percentiles of the saves.

    python tests/benchmarks/bench_overlap.py [JUDGEMENTS]
"""

import http.client
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server.document_payload import PREFIX
from collection import Campaign
from tests.benchmarks.bench_judging import add_annotators, high, serving

ANNOTATORS, OVERLAP, PAIRS_A_TOPIC = 20, 2, 50
LEASE = 0.1
"""Minutes: short, so that what vanishing annotators had in hand is free again soon."""

VANISH, LATE = 4, 3
"""Annotators who close the browser in the middle, and who come back too late."""


@dataclass
class Outcome:
    """What a round of judging came to."""

    times: list[float] = field(default_factory=list)
    surplus: int = 0
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    leaked: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def build(directory: Path, topics: int, mode: str) -> list[str]:
    """A campaign with accounts, and a token for each annotator."""
    files = directory.with_name("files")
    files.mkdir()
    pairs = [(str(t), f"t{t}d{d}", d) for t in range(topics) for d in range(PAIRS_A_TOPIC)]
    (files / "d.jsonl").write_text(
        "".join(json.dumps({"doc_id": d, "text": f"words of {d}"}) + "\n" for _, d, _ in pairs)
    )
    (files / "t.tsv").write_text("".join(f"{t}\ttopic {t}\n" for t in range(topics)))
    (files / "a.run").write_text("".join(f"{t} Q0 {d} {r + 1} {100 - r} a\n" for t, d, r in pairs))
    with Campaign.create(directory) as campaign:
        campaign.imports.import_files(documents=[files / "d.jsonl"], topics=files / "t.tsv", runs=[files / "a.run"])
        campaign.people.pools.add("depth", depth=PAIRS_A_TOPIC)
        campaign.people.assignments.update(annotators=OVERLAP, lease=LEASE)
        campaign.settings.set_loop(mode=mode)
        return add_annotators(campaign, ANNOTATORS)


class Annotator(threading.Thread):
    """One HTTP client."""

    def __init__(self, port: int, token: str, topics: list[str], seed: int, outcome: Outcome) -> None:
        super().__init__()
        share = len(topics) * PAIRS_A_TOPIC * OVERLAP // ANNOTATORS
        self.stint = (share // 4, share // 2)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token, self.topics, self.outcome = token, topics, outcome
        self.rng = random.Random(seed)
        self.vanishes, self.late = seed < VANISH, VANISH <= seed < VANISH + LATE
        self.rng.shuffle(self.topics)

    def sync(self, **payload: object) -> dict[str, Any]:
        headers = {TOKEN_HEADER: self.token, "Content-Type": "application/json"}
        try:
            self.connection.request("POST", f"{PREFIX}/sync", json.dumps(payload), headers)
            answer = self.connection.getresponse()
        except ConnectionError:  # closed while we were away; saving is idempotent
            self.connection.close()
            self.connection.request("POST", f"{PREFIX}/sync", json.dumps(payload), headers)
            answer = self.connection.getresponse()
        body: dict[str, Any] = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(str(body))
        return body

    def run(self) -> None:
        try:
            self.work()
        except Exception as error:  # a thread's error is nobody's otherwise
            self.outcome.problems.append(repr(error))

    def work(self) -> None:
        enough = self.rng.randint(*self.stint)
        done = 0
        left = set(self.topics)
        while left:
            for topic in [t for t in self.topics if t in left]:
                queue = self.sync(query_id=topic, want=12)["documents"]
                while queue:
                    document = queue.pop(0)
                    if (self.late or self.vanishes) and done == enough:
                        if self.vanishes:
                            return  # with twelve documents in hand
                        time.sleep(LEASE * 60 * 1.5)
                    self.judge(topic, document, queue)
                    done += 1
                answer = self.sync(query_id=topic, want=0)
                progress = answer["progress"]["topic"]
                if progress["judged"] >= progress["pool"]:
                    left.discard(topic)
            if left:
                time.sleep(0.5)  # others have the rest in hand

    def judge(self, topic: str, document: dict[str, str], queue: list[dict[str, str]]) -> None:
        judgement = {
            "uuid": str(uuid4()),
            "query_id": topic,
            "doc_id": document["doc_id"],
            "kind": "graded",
            "relevance": self.rng.randrange(4),
        }
        wanted = {
            "query_id": topic,
            "holding": [d["doc_id"] for d in queue],
            "want": 12 - len(queue) if len(queue) < 6 else 0,
        }
        start = time.perf_counter()
        body = self.sync(decisions=[judgement], **wanted)
        self.outcome.times.append(time.perf_counter() - start)
        if self.rng.random() < 0.03:  # the answer is lost: the card sends the same again
            again = self.sync(decisions=[judgement], **wanted)
            body |= {"documents": body["documents"] + again["documents"], "closed": again["closed"]}
        if body["saved"] != [judgement["uuid"]]:
            self.outcome.problems.append(str(body["refused"]))
        self.outcome.surplus += len(body["surplus"])
        closed = set(body["closed"])
        held = {d["doc_id"]: d for d in [*queue, *body["documents"]] if d["doc_id"] not in closed}
        queue[:] = list(held.values())


def judge_all(judgements: int, mode: str = "pool") -> Outcome:
    """Judge until nothing is left, and look at what the campaign then holds."""
    topics = max(1, judgements // (OVERLAP * PAIRS_A_TOPIC))
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "campaign"
        tokens = build(directory, topics, mode)
        with serving(directory) as (_, port):
            ids = [str(t) for t in range(topics)]
            people = [Annotator(port, token, list(ids), seed, outcome) for seed, token in enumerate(tokens)]
            start = time.perf_counter()
            for person in people:
                person.start()
            for person in people:
                person.join()
            outcome.seconds = time.perf_counter() - start
        with Campaign(directory) as campaign:
            log = campaign.store.judgements.table()
            outcome.judged = Counter(zip(log["query_id"], log["doc_id"], strict=True))
            pool = campaign.store.pool.pairs()
            outcome.judged.update(dict.fromkeys(zip(pool["query_id"], pool["doc_id"], strict=True), 0))
            # When nobody has asked for anything for so long as a reservation lasts, none may be left.
            time.sleep(LEASE * 60)
            reserved = "SELECT count(*) FROM leases WHERE until > ?"
            outcome.leaked = campaign.store.connection.db.conn.execute(reserved, (time.time(),)).fetchone()[0]
    return outcome


def main(judgements: int = 5000) -> None:
    """Judge in each mode, and print what came of it."""
    print(f"{ANNOTATORS} annotators, {OVERLAP} to judge each pair")
    header = f"{'judgements':>10} {'surplus':>8} {'leaked':>7} {'a second':>9} {'median ms':>10} {'95th ms':>8}"
    print(f"{'mode':<8} {header}  pairs by how many judged them")
    for mode in ("pool", "random"):
        outcome = judge_all(judgements, mode)
        assert not outcome.problems, outcome.problems[:3]
        ms = sorted(1000 * t for t in outcome.times)
        counted = sum(outcome.judged.values())
        spread = ", ".join(f"{n}: {pairs:,}" for n, pairs in sorted(Counter(outcome.judged.values()).items()))
        print(
            f"{mode:<8} {counted:>10,} {outcome.surplus:>8} {outcome.leaked:>7} {len(ms) / outcome.seconds:>9.0f} "
            f"{statistics.median(ms):>10.1f} {high(ms):>8.1f}  {spread}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
