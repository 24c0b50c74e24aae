"""How long other annotators wait while one sends the largest requests that the limits allow.

A campaign of long documents is served in this process. One person of each role posts the worst request of each of their
routes again and again, while another annotator saves one judgement after another and a manager looks at a pair. Prints,
for each request, its own time, that of the processor in the thread that answered it, which a busy machine does not
change, and the longest time that the others waited for theirs. Nothing is asserted.

    python -m tests.benchmarks.bench_worst_requests [SECONDS_EACH]
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2 as httpx
from starlette.applications import Starlette

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server import wire
from annotate.card.server.document_payload import PREFIX
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.core.records import Document, Topic
from tests.annotate.card import wire_files
from tests.conftest import judging_token
from tests.helpers import awaited

DOCUMENTS, TOPICS, DEPTH = 20_000, 100, 200
LONG = 20_000
"""Characters of a document: as many as are sent with it."""

WORDS = [f"word{number}" for number in range(2_000)]
HEADERS = {"Content-Type": "application/json"}


def build(directory: Path) -> list[str]:
    """Make a campaign with large pools and long documents; return the ids of the documents."""
    rng = random.Random(7)
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    texts = [" ".join(rng.choices(WORDS, k=LONG // 8)) for _ in range(50)]
    with Campaign.create(directory) as campaign:
        with campaign.transaction():
            campaign.store.corpus.add_topics(
                [Topic(f"t{number}", " ".join(WORDS[:40]), " ".join(WORDS[40:400])) for number in range(TOPICS)]
            )
            campaign.store.corpus.add_documents([Document(d, d, texts[i % 50]) for i, d in enumerate(ids)])
        run = directory.parent / "r.run"
        lines = (f"t{t} Q0 {d} {r} {DEPTH - r} r\n" for t in range(TOPICS) for r, d in enumerate(ids[:DEPTH], 1))
        run.write_text("".join(lines))
        campaign.imports.import_files(runs=[run])
        campaign.people.pools.add("depth", depth=DEPTH)
        campaign.people.assignments.update(annotators=3)
    return ids


def judgement(query_id: str, doc_id: str, number: int = 0) -> dict[str, Any]:
    """A judgement with everything that one can have."""
    return {
        "uuid": str(uuid4()),
        "query_id": query_id,
        "doc_id": doc_id,
        "kind": "graded",
        "relevance": number % 4,
        "reason": None,
        "note": "n" * 2_000,
        "flagged": True,
        "passages": [[10 * start, 10 * start + 5] for start in range(100)],
        "shown_at": "2026-01-01T00:00:00.000Z",
        "seconds": 1.0,
        "away": 0.0,
        "source": "key",
    }


def most(route: str, name: str) -> int:
    """The most items that a list of a route's request may have."""
    return wire_files.list_bounds(wire.ROUTES[route].request)[name]


def worst(ids: list[str]) -> dict[tuple[str, str], Callable[[], dict[str, Any]]]:
    """Return what makes the worst request of each role and route, by a short name."""
    held = most("sync", "holding")
    pairs = [{"query_id": "t1", "doc_id": ids[place % DEPTH]} for place in range(most("sync", "skips"))]
    names = [
        json.dumps([f"t{place % TOPICS}", ids[place % DEPTH]]) for place in range(most("adjudication/sync", "holding"))
    ]
    adjudicated = most("adjudication/sync", "decisions")
    return {
        ("sync", "judgements"): lambda: {
            "decisions": [judgement("t1", ids[place], place) for place in range(most("sync", "decisions"))],
            "query_id": "t1",
            "want": 50,
            "holding": ids[:held],
            "recent": True,
        },
        ("sync", "repeated ids"): lambda: {"query_id": "t1", "want": 50, "holding": [ids[0]] * held},
        ("sync", "ids outside the pool"): lambda: {"query_id": "t1", "want": 50, "holding": ids[-held:]},
        ("sync", "skips"): lambda: {"query_id": "t1", "want": 50, "skips": pairs, "holding": []},
        ("sync", "nothing left"): lambda: {
            "query_id": "t0",
            "want": 50,
            "holding": [],
            "tried": [f"t{place % TOPICS}" for place in range(most("sync", "tried"))],
        },
        ("topics", ""): dict,
        ("near", ""): lambda: {"query_id": "t1", "doc_ids": ids[: most("near", "doc_ids")]},
        ("history", ""): lambda: {"limit": 2**50, "words": "word1 " * 80},
        ("search", ""): lambda: {"query_id": "t1", "words": "word* " * 80},
        ("time", ""): lambda: {"day": "2026-01-01T00:00:00+00:00"},
        ("document", ""): lambda: {"doc_id": ids[0], "query_id": "t1", "said": True},
        ("adjudication/sync", "adjudications"): lambda: {
            "decisions": [judgement(f"t{place % TOPICS}", ids[place]) for place in range(adjudicated)],
            "holding": names,
            "want": 36,
            "due": True,
            "filter": {"names": ["ann"] * wire.NAMES.items},
        },
        ("adjudication/recent", ""): lambda: {"limit": 10**9},
    }


async def measure(app: Starlette, tokens: dict[str, str], ids: list[str], seconds: float) -> None:
    """Print a line for each of the worst requests."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=600) as client:

        async def post(name: str, route: str, payload: dict[str, Any]) -> tuple[float, httpx.Response]:
            begun = time.perf_counter()
            headers = HEADERS | {TOKEN_HEADER: tokens[name]}
            answer = await client.post(f"{PREFIX}/{route}", content=json.dumps(payload), headers=headers)
            return (time.perf_counter() - begun) * 1000, answer

        async def others(done: asyncio.Event, waits: list[float]) -> None:
            place = 0
            _, first = await post("ben", "sync", {"query_id": "t5", "want": 24, "holding": []})
            hold = [document["doc_id"] for document in first.json()["documents"]]
            while not done.is_set():
                item = judgement("t5", hold[place % max(len(hold), 1)] if hold else ids[0], place)
                item |= {"note": None, "passages": []}
                wait, _ = await post("ben", "sync", {"decisions": [item], "query_id": "t5", "want": 0, "holding": hold})
                waits.append(wait)
                place += 1
                await asyncio.sleep(0.01)

        print(f"{'request':44}{'KB':>8}{'itself, ms':>12}{'CPU, ms':>9}{'others wait, ms (median, most)':>36}")
        for (route, label), make in worst(ids).items():
            waits: list[float] = []
            own: list[float] = []
            processor: list[float] = []
            done = asyncio.Event()
            watching = asyncio.create_task(others(done, waits))
            await asyncio.sleep(0.3)
            waits.clear()
            end, status, size = time.perf_counter() + seconds, 0, 0
            while time.perf_counter() < end or not own:
                payload = make()
                size = len(json.dumps(payload))
                spent, answer = await post("ann", route, payload)
                own.append(spent)
                if found := re.search(r"cpu;dur=([0-9.]+)", answer.headers.get("Server-Timing", "")):
                    processor.append(float(found[1]))
                status = answer.status_code
            done.set()
            await watching
            waits.sort()
            line = f"{waits[len(waits) // 2]:.0f}, {waits[-1]:.0f}"
            times = f"{max(own):12.0f}{max(processor, default=0):9.0f}"
            print(
                f"{route + ' ' + label:44}{size / 1000:8.0f}{times}{line:>36}  {status}",
                flush=True,
            )


def main() -> None:
    """Build, serve and measure."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "campaign"
        ids = build(directory)
        with Campaign(directory) as campaign:
            tokens = {name: judging_token(campaign, name, "manager") for name in ("ann", "ben")}
        service = JudgingService(directory)
        app = Starlette(routes=service.routes())

        async def served() -> None:
            async with service.lifespan(app):
                await measure(app, tokens, ids, seconds)

        awaited(served())


if __name__ == "__main__":
    main()
