"""What a long day costs: 50 annotators for ten minutes in the loop, and hundreds of sessions that come and go.

On 100,000 documents the annotators judge as in bench_judging.py, about once a second each. Printed every minute: the
saves and how long the clients waited for them (median, 95th and 99th percentile, worst), the memory (resident, MB) of
the server and of the process that learns, and the load of the machine. Then errors, and the growth of the server's
memory from the end of the first minute on.

The sessions are WebSockets on which a page is drawn and that are closed at once, in rounds of 200. Streamlit keeps up
to 128 closed sessions for two minutes, so that a browser can come back: a leak is what each further round costs.
Nothing is asserted. It needs Linux (/proc).

    python tests/benchmarks/bench_load.py [--minutes N] [--annotators N] [--documents N]
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from collection import Campaign
from tests.benchmarks.bench_capacity import processes, resident
from tests.benchmarks.bench_judging import TOPICS, annotate, build, serving
from tests.torture.annotators import cookie_of
from tests.torture.pages import open_page

PACE = 1.0
ROUNDS, SESSIONS = 4, 200


def annotators(server: int, port: int, tokens: list[str], minutes: int) -> None:
    """Have an annotator judge with each token, and print a line each minute."""
    times: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + 60 * minutes

    def judge(number: int, token: str) -> None:
        topics = [str((number + further) % TOPICS) for further in range(TOPICS)]
        try:
            annotate(port, token, topics, until, times, number, "loop", pace=PACE)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=judge, args=each) for each in enumerate(tokens)]
    for thread in threads:
        thread.start()
    print("minute   saves  median ms    95th    99th   worst  server MB  model MB  load")
    sizes: list[float] = []
    for minute in range(1, minutes + 1):
        first = len(times)
        time.sleep(max(0.0, until - 60 * (minutes - minute) - time.monotonic()))
        now = 1000 * np.array(times[first:])
        server_size, *others = (resident(pid) for pid in processes(server))
        sizes.append(server_size)
        median, high, highest = np.percentile(now, (50, 95, 99))
        line = f"{minute:>6}  {len(now):>6}  {median:>9.1f}  {high:>6.1f}  {highest:>6.1f}  {now.max():>6.1f}"
        print(f"{line}  {server_size:>9.0f}  {max(others, default=0):>8.0f}  {os.getloadavg()[0]:>4.1f}", flush=True)
    for thread in threads:
        thread.join()
    every = 1000 * np.array(times)
    print(f"all      {len(every):>5}  {np.median(every):>9.1f}  {np.percentile(every, 95):>6.1f}", end="  ")
    print(f"{np.percentile(every, 99):>6.1f}  {every.max():>6.1f}")
    print(
        f"errors: {len(errors)} {errors[:3]}; growth after the first minute: {sizes[-1] - sizes[0]:+.0f} MB", flush=True
    )


def sessions(server: int, port: int, cookie: str, page: str) -> None:
    """Open and close sessions on a page; print the memory after each round."""
    for number in range(1, ROUNDS + 1):
        for _ in range(SESSIONS):
            with open_page(port, cookie, page):
                pass
        print(f"{page or 'overview':<10} {number * SESSIONS:>5} sessions  {resident(server):>6.0f} MB", flush=True)


def main(options: Any) -> None:
    """Build, serve, judge, print."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "campaign"
        tokens = build(directory, "loop", options.annotators, options.documents)
        with Campaign(directory) as campaign:
            cookie = cookie_of(campaign, "boss", "manager")
        with serving(directory) as (server, port):
            if options.minutes:
                annotators(server, port, tokens, options.minutes)
        with serving(directory) as (server, port):
            for page in ("judge", "compare"):
                sessions(server, port, cookie, page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What a long day costs.")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--documents", type=int, default=100_000)
    main(parser.parse_args())
