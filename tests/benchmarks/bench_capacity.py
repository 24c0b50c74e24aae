"""How many saves a second one campaign carries: `cleverdon serve` until the 95th percentile of saves passes 50 ms.

Ever more annotators judge as in bench_judging.py, about twice a second each, in the pool and in the loop. They start
one after another in the first half of a step; the saves of the second half count. Each step prints

- saves offered and made a second, and how long the clients waited (median, 95th and 99th percentile);
- the share of the time in which the server's one thread that writes judgements was at work on saves (Server-Timing);
- processor time: of the server for each save, which other processes do not change much; and in cores, of the server
  without and with the process that learns, and of the clients, which are threads of this process and compete with it.

A step above the limit is repeated once, since another process may have held it up.

Then the same with open sessions (WebSockets on which the page Judge was drawn) beside ten annotators, and for
comparison saves through the library in one thread, and plain inserts into SQLite, each a transaction that is synced to
the same disk. Nothing is asserted. It needs Linux (/proc).

    python tests/benchmarks/bench_capacity.py [--seconds N]
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from collection import Campaign
from tests.benchmarks.bench_judging import PACE, TOPICS, annotate, build, serving
from tests.torture.annotators import cookie_of
from tests.torture.pages import open_page

LIMIT = 50.0
"""Milliseconds at the 95th percentile of saves at which the steps end."""
ANNOTATORS = (5, 10, 25, 50, 100, 200)
SESSIONS = (0, 50, 100, 200, 400)
BESIDE_SESSIONS = 10
HEADS = f"{'saves offered/s':>15}  {'made/s':>6}  {'median ms':>9}  {'95th':>6}  {'99th':>6}  {'thread busy':>11}"
HEADS += f"  {'CPU ms/save':>11}  {'cores: server':>13}  {'with model':>10}  {'clients':>7}"


def processes(server: int) -> list[int]:
    """The server and what it has started."""
    children = Path(f"/proc/{server}/task").glob("*/children")
    return [server, *(int(pid) for file in children for pid in file.read_text().split())]


def resident(pid: int) -> float:
    """Megabytes of memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def step(server: int, port: int, tokens: list[str], mode: str, seconds: float) -> tuple[str, float]:
    """Have an annotator judge with each token; one line of the table, and the 95th percentile (ms)."""
    times: list[float] = []
    inside: list[tuple[float, ...]] = []
    until = time.monotonic() + 2 * seconds
    threads = []
    for number, token in enumerate(tokens):
        topics = [str((number + further) % TOPICS) for further in range(TOPICS)]
        arguments = (port, token, topics, until, times, number, mode, inside)
        threads.append(threading.Thread(target=annotate, args=arguments))
        threads[-1].start()
        time.sleep(seconds / len(tokens))
    measured = time.monotonic()
    first, first_inside, own = len(times), len(inside), time.process_time()
    cpu = {pid: cpu_seconds(pid) for pid in processes(server)}
    time.sleep(max(0.0, until - time.monotonic()))
    made, timings = 1000 * np.array(times[first:]), inside[first_inside:]
    took = time.monotonic() - measured
    used = {pid: cpu_seconds(pid) - before for pid, before in cpu.items()}
    clients = time.process_time() - own
    for thread in threads:
        thread.join()
    median, high, highest = np.percentile(made, (50, 95, 99))
    busy = sum(clock for clock, _ in timings) / 1000 / took
    line = f"{len(tokens) / PACE:>15.0f}  {len(made) / took:>6.1f}  {median:>9.1f}  {high:>6.1f}  {highest:>6.1f}"
    line += f"  {busy:>11.0%}  {1000 * used[server] / len(made):>11.1f}"
    line += f"  {used[server] / took:>13.2f}  {sum(used.values()) / took:>10.2f}  {clients / took:>7.2f}"
    return line, high


def passes(label: str, *arguments: Any) -> bool:
    """Print the line of a step; whether it passes the limit twice, since another process may have held up the first."""
    for _ in range(2):
        line, high = step(*arguments)
        print(f"{label}  {line}", flush=True)
        if high <= LIMIT:
            return False
    return True


def saves(mode: str, seconds: float) -> None:
    """Print a line for each number of annotators, until a line passes the limit."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "campaign"
        tokens = build(directory, mode, max(ANNOTATORS))
        with serving(directory) as (server, port):
            for annotators in ANNOTATORS:
                if passes(f"{mode:<5} {annotators:>10}", server, port, tokens[:annotators], mode, seconds):
                    return


def sessions(seconds: float) -> None:
    """Print a line for each number of open sessions, with ten annotators at work in the pool."""
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as opened:
        directory = Path(scratch) / "campaign"
        tokens = build(directory, "pool", max(SESSIONS))
        with Campaign(directory) as campaign:
            cookies = [cookie_of(campaign, f"a{number}") for number in range(max(SESSIONS))]
        server, port = opened.enter_context(serving(directory))
        count, begun = 0, time.monotonic()
        for wanted in SESSIONS:
            while count < wanted:
                opened.enter_context(open_page(port, cookies[count]))
                count += 1
            took = time.monotonic() - begun
            label = f"{count:>8} {resident(server):>9.0f} {took:>8.1f}"
            if passes(label, server, port, tokens[:BESIDE_SESSIONS], "pool", seconds):
                return
            begun = time.monotonic()


def floors(seconds: float) -> None:
    """Print saves a second through the library in one thread, and plain synced inserts."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "campaign"
        build(directory, "pool", 1)
        with Campaign(directory) as campaign:
            pairs = campaign.store.pool.pairs()[["query_id", "doc_id"]].itertuples(index=False)
            done, until = 0, time.monotonic() + seconds
            for query_id, doc_id in pairs:
                campaign.judging.judge("a0", query_id, doc_id, 1)
                done += 1
                if time.monotonic() >= until:
                    break
            print(f"library, one thread: {done / (time.monotonic() - until + seconds):.0f} saves/s")
        with closing(sqlite3.connect(Path(scratch) / "plain.db", isolation_level=None)) as plain:
            plain.execute("PRAGMA journal_mode = WAL")
            plain.execute("PRAGMA synchronous = FULL")
            plain.execute("CREATE TABLE judgements (id INTEGER PRIMARY KEY, said TEXT)")
            done, until = 0, time.monotonic() + seconds
            while time.monotonic() < until:
                plain.execute("INSERT INTO judgements (said) VALUES (?)", ("x" * 200,))
                done += 1
            print(f"SQLite alone: {done / seconds:.0f} synced inserts/s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How many saves a second a campaign carries.")
    parser.add_argument("--seconds", type=float, default=4.0, help="duration of each half of a step")
    seconds = parser.parse_args().seconds
    print(f"{'mode':<5} {'annotators':>10}  {HEADS}")
    for mode in ("pool", "loop"):
        saves(mode, seconds)
    print(f"\n{'sessions':>8} {'server MB':>9} {'opened s':>8}  {HEADS}")
    sessions(seconds)
    print()
    floors(seconds)


if __name__ == "__main__":
    main()
