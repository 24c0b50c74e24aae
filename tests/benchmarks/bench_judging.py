"""How long a save takes with 1 to 50 annotators at work, against `cleverdon serve`, in the pool and in the loop.

Each annotator is a light HTTP client that judges about twice a second, topic after topic, as the card does: one sync a
judgement, more documents when few are left; in the loop a new order with each, while the model learns behind. Prints
medians and 95th percentiles of how long the client waited, and what of that the server's one thread at the database
took, by the clock (where it waits for the disk and for a core) and of the processor: the rest is the way there and
back, on a machine that the clients and the model share. For the loop also how many judgements a pair's model had not
read (median, 95th). Nothing is asserted.

    python tests/benchmarks/bench_judging.py [SECONDS]
"""

import http.client
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from annotate.auth.tokens import TOKEN_HEADER, Tokens
from annotate.card.server.document_payload import PREFIX
from collection import Campaign

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.ratios import Row, keep

TOPICS, DEPTH, RUNS, QUERY = 60, 100, 4, 6
"""Topics, documents of each run, runs, and words of a topic."""
PACE = 0.5
"""Seconds between the judgements of one annotator, on average: faster than anybody reads."""


def build(directory: Path, mode: str, annotators: int, documents: int = 5000) -> list[str]:
    """A campaign of generated documents: 60 topics, about 200 pairs each; a token for each annotator."""
    files = directory.with_name("files")
    files.mkdir()
    rng = random.Random(7)
    with (files / "d.jsonl").open("w") as file:
        for i in range(documents):
            file.write(json.dumps({"doc_id": f"d{i}", "title": f"Document {i}", "text": words(rng)}) + "\n")
    titles = [" ".join(words(rng).split()[:QUERY]) for _ in range(TOPICS)]  # highlighted in the documents
    (files / "t.tsv").write_text("".join(f"{t}\t{title}\n" for t, title in enumerate(titles)))
    for run in range(RUNS):
        with (files / f"{run}.run").open("w") as file:
            for topic in range(TOPICS):
                found = rng.sample(range(topic * 50, topic * 50 + 400), DEPTH)
                file.writelines(f"{topic} Q0 d{d} {r} {DEPTH - r} run{run}\n" for r, d in enumerate(found))
    with Campaign.create(directory) as campaign:
        campaign.imports.import_files(
            documents=[files / "d.jsonl"], topics=files / "t.tsv", runs=sorted(files.glob("*.run"))
        )
        campaign.people.pools.add("depth", depth=DEPTH)
        campaign.settings.set_loop(mode=mode)
        if mode != "pool":
            campaign.corpus.features.update()
        return add_annotators(campaign, annotators)


def add_annotators(campaign: Campaign, number: int) -> list[str]:
    """Add a manager and annotators where they are missing; return the tokens of the annotators' cards."""
    existing = set(campaign.store.accounts.table()["name"])
    if "boss" not in existing:
        campaign.people.accounts.add("boss", "manager")
    tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
    given = []
    for name in (f"a{n}" for n in range(number)):
        if name not in existing:
            campaign.people.accounts.add(name, "annotator")
        person = campaign.people.accounts.session(campaign.people.accounts.open_session(name))
        assert person is not None
        given.append(tokens.token(name, person.session))
    return given


def words(rng: random.Random) -> str:
    """A text of 300 words, some of them frequent."""
    return " ".join(f"word{int(rng.paretovariate(0.4)) % 20_000}" for _ in range(300))


@contextmanager
def serving(directory: Path) -> Iterator[tuple[int, int]]:
    """`cleverdon serve` on a campaign: its process id and its port."""
    command = [sys.executable, "-m", "collection.cli", "serve", str(directory), "--no-browser", "--as", "boss"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield (
            server.pid,
            next(int(m[1]) for line in server.stdout if (m := re.search(r"127\.0\.0\.1:(\d+)/signin", line))),
        )
    finally:
        server.terminate()
        server.wait(20)


def annotate(
    port: int,
    token: str,
    topics: list[str],
    until: float,
    times: list[float],
    seed: int,
    mode: str,
    inside: list[tuple[float, ...]] | None = None,
    pace: float = PACE,
) -> None:
    """One annotator: judges what the server hands out until the time is over, after `pace` seconds on average.

    `times` gets the seconds of each save, `inside` the milliseconds that its Server-Timing header names.
    """
    rng = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def sync(**payload: object) -> dict[str, list[dict[str, str]]]:
        headers = {TOKEN_HEADER: token, "Content-Type": "application/json"}
        connection.request("POST", f"{PREFIX}/sync", json.dumps(payload), headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        assert answer.status == 200, body
        if inside is not None and payload.get("decisions"):
            inside.append(tuple(map(float, re.findall(r"dur=([\d.]+)", answer.headers["Server-Timing"]))))
        return body

    for topic in topics:
        queue = sync(query_id=topic, want=24)["documents"]
        while not queue and time.monotonic() < until:  # the model's first order is on its way
            time.sleep(0.15)
            queue = sync(query_id=topic, want=24)["documents"]
        while queue and time.monotonic() < until:
            time.sleep(rng.uniform(0, 2 * pace))
            document = queue.pop(0)
            judgement = {
                "uuid": str(uuid4()),
                "query_id": topic,
                "doc_id": document["doc_id"],
                "kind": "graded",
                "relevance": rng.randrange(4),
            }
            want = 24 - len(queue) if len(queue) < 12 or mode != "pool" else 0
            start = time.perf_counter()
            body = sync(decisions=[judgement], query_id=topic, holding=[d["doc_id"] for d in queue], want=want)
            times.append(time.perf_counter() - start)
            assert body["saved"] == [judgement["uuid"]], body
            held = {d["doc_id"]: d for d in queue + body["documents"]}
            queue = [held[d] for d in body["order"]] if body.get("order") else queue + body["documents"]
        if time.monotonic() >= until:
            return


def high(values: Iterable[float]) -> float:
    """The 95th percentile."""
    ordered = sorted(values)
    return ordered[int(0.95 * len(ordered))]


def main(seconds: float = 15.0) -> None:
    """Build, serve, measure, print."""
    heads = f"{'mode':<5} {'annotators':>10}  {'saves':>6}  {'median ms':>9}  {'95th ms':>8}  {'worst ms':>8}"
    print(f"{heads}  {'in the server':>16}  {'of the processor':>16}  unread")
    for mode, annotators in ((mode, n) for mode in ("pool", "loop") for n in (1, 10, 20, 50)):
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch) / "campaign"
            tokens = build(directory, mode, annotators)
            times: list[float] = []
            inside: list[tuple[float, ...]] = []
            with serving(directory) as (_, port):
                until = time.monotonic() + seconds
                clients = [
                    threading.Thread(
                        target=annotate,
                        args=(
                            port,
                            tokens[n],
                            [str(t) for t in range(n, TOPICS, annotators)],
                            until,
                            times,
                            n,
                            mode,
                            inside,
                        ),
                    )
                    for n in range(annotators)
                ]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
            with Campaign(directory) as campaign:
                assert campaign.store.judgements.counts()["logged"] == len(times)
                log = campaign.store.judgements.table()
            ms = sorted(1000 * t for t in times)
            lag = log.groupby("query_id").cumcount() - log["model_round"].astype(float)
            unread = f"{lag.median():.0f}, {lag.quantile(0.95):.0f}" if mode != "pool" else "-"
            clock, processor = (f"{statistics.median(of):.1f} / {high(of):.1f}" for of in zip(*inside, strict=True))
            line = f"{len(ms):>6}  {statistics.median(ms):>9.1f}  {high(ms):>8.1f}  {ms[-1]:>8.1f}"
            line += f"  {clock:>16}  {processor:>16}  {unread}"
            print(f"{mode:<5} {annotators:>10}  {line}", flush=True)
            figure = f"{statistics.median(ms):.1f} ms, 95th percentile {high(ms):.1f} ms"
            keep(Row(f"saves, {mode}", f"{annotators} annotators", figure, "", ""))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
