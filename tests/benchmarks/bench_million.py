"""What a large campaign costs on one machine: import, features, opening, judging, search and pages.

The documents are generated (seeded): about 90 words each, with frequencies that follow Zipf's law (1 / rank) over
200,000 words, so that a few words are in nearly every document. There are 100 topics, three runs, a pool of about 0.6
pairs per document, and a judgement for every second document (500,000 of a million) by 20 annotators, written to the
log in one transaction. The campaign is in the mode "Pool, then loop".

Each step runs in a process of its own, one after another. Memory is the highest sum of what the process and its
children held, looked up every 100 ms, with pages of mapped files, once if several have them. Beside the import stands
an insert of the same documents with plain sqlite3 into a table with a unique id and a full-text index, fed from memory,
with journal and index as ours; beside the features scikit-learn's TfidfVectorizer on the same texts. Times of opening,
status and server are the median of three starts; a page is run as Streamlit's AppTest runs it, in a process that has
drawn another one. Saves are those of bench_judging.py: 20 clients that judge twice a second, here in the loop. Search
shows the 95th percentile of 40 different queries, each run once.

The plain insert and the import are rated by the clock, on an idle machine, since the import reads in a second thread;
their processor time stands beside it. Of pages, the figures are the processor time of two visits, after what the server
reads ahead when it starts, and the memory of the process then. The last table has, for each size, the ratios to the
plain insert and to TfidfVectorizer, and the time per document beside that of the smallest size.

    python tests/benchmarks/bench_million.py [--documents 10000,100000] [--directory DIR] [--steps import,search]

The step `again`, which is not among the usual ones, judges 30% of the judged pairs a second time and gives every pooled
pair a machine label, for the step `pages` after it.

With `--directory`, files and campaigns stay there, and steps can be repeated.
"""

import argparse
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from collection import Campaign

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.ratios import Row, keep  # noqa: E402

WORDS, VOCABULARY, TOPICS, RUNS, ANNOTATORS = 90, 200_000, 100, 3, 20
PLAIN = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE documents (doc INTEGER PRIMARY KEY, doc_id TEXT NOT NULL UNIQUE, title TEXT, text TEXT);
    CREATE VIRTUAL TABLE documents_fts USING fts5 (
        title, text, content = 'documents', content_rowid = 'doc', tokenize = 'unicode61 remove_diacritics 2'
    );
"""
Line = tuple[str, str]
"""What was measured, and the figure."""


def word(rank: int) -> str:
    """A word for a rank, from 0 on; frequent words are short.

    >>> [word(rank) for rank in (0, 99, 100)]
    ['bab', 'zuz', 'babbab']
    """
    consonants, vowels = "bdfghjklmnpqrstvwxyz", "aeiou"
    part = consonants[rank % 20] + vowels[rank // 20 % 5] + consonants[rank % 19]
    return part if rank < 100 else word(rank // 100 - 1) + part


def generate(directory: Path, documents: int) -> None:
    """Write d.jsonl, t.tsv and three runs."""
    rng = np.random.default_rng(7)
    vocabulary = np.array([word(rank) for rank in range(VOCABULARY)], dtype=object)
    share = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    share /= share[-1]
    with (directory / "d.jsonl").open("w") as file:
        for first in range(0, documents, 20_000):
            many = min(20_000, documents - first)
            lengths = rng.integers(WORDS // 2, 3 * WORDS // 2 + 1, many)
            drawn = iter(vocabulary[np.searchsorted(share, rng.random(int(lengths.sum())))].tolist())
            for number, length in enumerate(lengths.tolist(), first):
                text = " ".join([next(drawn) for _ in range(length)])
                file.write(f'{{"doc_id": "d{number}", "title": "{text[:30]}", "text": "{text}"}}\n')
    (directory / "t.tsv").write_text("".join(f"{t}\t{word(50 + 7 * t)} {word(300 + t)}\n" for t in range(TOPICS)))
    around, depth = documents // 160, documents // 250
    for run in range(RUNS):
        with (directory / f"{run}.run").open("w") as file:
            for topic in range(TOPICS):
                found = (topic * (documents // TOPICS) + rng.permutation(around)[:depth]) % documents
                file.writelines(f"{topic} Q0 d{d} {r} {depth - r} run{run}\n" for r, d in enumerate(found.tolist()))


def read(directory: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of the generated documents."""
    with (directory / "d.jsonl").open() as file:
        for line in file:
            document = json.loads(line)
            yield document["doc_id"], document["title"], document["text"]


def insert_plainly(directory: Path) -> list[Line]:
    """The plain insert beside the import."""
    rows = list(read(directory))
    with tempfile.TemporaryDirectory(dir=directory) as scratch, closing(sqlite3.connect(f"{scratch}/plain.db")) as db:
        db.executescript(PLAIN)
        start, processor = time.perf_counter(), time.process_time()
        db.executemany("INSERT INTO documents (doc_id, title, text) VALUES (?, ?, ?)", rows)
        db.execute("INSERT INTO documents_fts (rowid, title, text) SELECT doc, title, text FROM documents")
        db.commit()
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    return [("plain sqlite3 insert with FTS5", f"{rate(len(rows), seconds)}, {took(processor)} of processor")]


def import_documents(directory: Path) -> list[Line]:
    """Import documents, topics and runs into a new campaign."""
    from collection import Campaign

    shutil.rmtree(directory / "campaign", ignore_errors=True)
    with Campaign.create(directory / "campaign") as campaign:
        campaign.imports.import_files(topics=directory / "t.tsv")
        start, processor = time.perf_counter(), time.process_time()
        campaign.imports.import_files(documents=[directory / "d.jsonl"])
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
        count = campaign.store.judgements.counts()["documents"]
    return [("import of documents", f"{rate(count, seconds)}, {took(processor)} of processor")]


def write_judgements(campaign: "Campaign", pairs: "pd.DataFrame", seed: int, annotators: str = "a") -> None:
    """Write a judgement of each pair by one of the annotators whose names begin so."""
    from collection.core.records import Judgement
    from collection.store import PairState

    rng, nothing = random.Random(seed), (None, None, None, None, None, None, True, False, False)
    with campaign.transaction():
        for pair in pairs.itertuples(index=False):
            judgement = Judgement(
                str(UUID(int=rng.getrandbits(128))), f"{annotators}{rng.randrange(ANNOTATORS)}", pair.query_id,
                pair.doc_id, "graded", rng.choice((0, 0, 0, 1, 2, 3)), seconds=rng.uniform(1, 60), strategy="depth",
            )  # fmt: skip
            campaign.store.judgements.append(judgement, PairState(int(pair.topic), int(pair.doc), *nothing))


def judge_again(directory: Path) -> list[Line]:
    """Judge three of ten judged pairs a second time, and give every pooled pair a machine label."""
    from collection import Campaign

    with Campaign(directory / "campaign") as campaign:
        pool = campaign.store.pool.annotators_wanted()
        judged = pool.merge(campaign.store.judgements.table(columns=("query_id", "doc_id")))
        campaign.people.assignments.update(annotators=2, which="share", share=0.3)
        again = judged.sample(frac=0.3, random_state=8)
        write_judgements(campaign, again, 8, "b")
        grades = np.random.default_rng(9).integers(4, size=len(pool))
        labels = pool[["query_id", "doc_id"]].assign(relevance=grades.astype(np.float64))
        start = time.perf_counter()
        campaign.machine_labels.sets.label_by_file(labels, "labels", "llm", {"model": "generated"})
        imported = time.perf_counter() - start
    return [("second judgements", f"{len(again):,}"), ("machine labels", rate(len(pool), imported, "labels"))]


def import_runs(directory: Path) -> list[Line]:
    """Import the runs, add the pool, and write judgements."""
    from collection import Campaign

    with Campaign(directory / "campaign") as campaign:
        count = campaign.store.judgements.counts()["documents"]
        start = time.perf_counter()
        campaign.imports.import_files(runs=sorted(directory.glob("*.run")))
        imported = time.perf_counter() - start
        start = time.perf_counter()
        campaign.people.pools.add("depth", depth=count)
        pooled = time.perf_counter() - start
        pairs = campaign.store.pool.annotators_wanted().sample(frac=1, random_state=7).head(count // 2)
        start = time.perf_counter()
        write_judgements(campaign, pairs, 7)
        written = time.perf_counter() - start
        campaign.settings.set_loop(mode="pool-then-loop")
        campaign.people.accounts.add("boss", "manager")
    lines = int(TOPICS * RUNS * (count // 250))
    return [
        ("import of runs", rate(lines, imported, "lines")),
        ("pool", rate(len(pairs), pooled, "pairs")),
        ("log", rate(len(pairs), written, "judgements")),
    ]


def weigh_plainly(directory: Path) -> list[Line]:
    """TfidfVectorizer beside the features."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{title} {text}" for _, title, text in read(directory)]
    start = time.perf_counter()
    TfidfVectorizer(sublinear_tf=True, max_df=0.95, dtype=np.float32).fit_transform(texts)
    return [("TfidfVectorizer", rate(len(texts), time.perf_counter() - start))]


def make_features(directory: Path) -> list[Line]:
    """Make the features from nothing."""
    # As scikit-learn beside it, what is used is imported before the clock starts.
    import pyarrow.compute  # noqa: F401
    import scipy.sparse  # noqa: F401

    import collection.active_learning.features  # noqa: F401
    from collection import Campaign

    shutil.rmtree(directory / "campaign" / "features", ignore_errors=True)
    with Campaign(directory / "campaign") as campaign:
        start = time.perf_counter()
        report = campaign.corpus.features.update(blocks=("words",))
        return [("features", rate(report.documents, time.perf_counter() - start))]


def open_campaign(directory: Path) -> list[Line]:
    """Open the campaign; ask for its status twice, the first time with nothing in the page cache of SQLite."""
    from collection import Campaign

    opened, first, second = [], [], []
    for _ in range(3):
        start = time.perf_counter()
        with Campaign(directory / "campaign") as campaign:
            opened.append(time.perf_counter() - start)
            for times in (first, second):
                start = time.perf_counter()
                campaign.results.overview.status()
                times.append(time.perf_counter() - start)
    return [("opening", took(*opened)), ("status", took(*first)), ("status again", took(*second))]


def run_command(directory: Path) -> list[Line]:
    """The command `status` with the start of Python."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        command = [sys.executable, "-m", "collection.cli", "status", str(directory / "campaign")]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        times.append(time.perf_counter() - start)
    return [("command status", took(*times))]


def search(directory: Path) -> list[Line]:
    """Search for rare, common and several words."""
    from collection import Campaign
    from collection.core.errors import InputError

    rng = random.Random(7)

    def of(low: int, high: int) -> str:
        return word(rng.randrange(low, high))

    kinds: dict[str, Callable[[], str]] = {
        "a rare word": lambda: of(20_000, 100_000),
        "a word of every tenth document": lambda: of(50, 150),
        "a word of nearly every document": lambda: of(0, 8),
        "three common words": lambda: " ".join(of(0, 20) for _ in range(3)),
        "two common words and a rare one": lambda: f"{of(0, 20)} {of(0, 20)} {of(2_000, 20_000)}",
        "either of two common words": lambda: f"{of(0, 20)} OR {of(0, 20)}",
        "a phrase of two common words": lambda: f'"{of(0, 8)} {of(0, 8)}"',
        "a common prefix, refused if too common": lambda: f"{of(0, 8)[:2]}*",
        "a prefix of four letters": lambda: f"{of(100, 1000)[:4]}*",
        "common without a common one": lambda: f"{of(0, 8)} -{of(8, 20)}",
    }
    lines = []
    with Campaign(directory / "campaign") as campaign:
        for name, query in kinds.items():
            times = []
            for _ in range(40):
                words = query()
                start = time.perf_counter()
                with suppress(InputError):
                    campaign.judging.search.find("1", "a1", words)
                times.append(time.perf_counter() - start)
            lines.append((f"search: {name}", took(sorted(times)[37])))
    return lines


def judge_next(directory: Path) -> list[Line]:
    """Ask for the next pair in the pool and judge it, and in the loop once the model has ranked all documents."""
    from uuid import uuid4

    from collection import Campaign

    lines = []
    with Campaign(directory / "campaign") as campaign:
        for mode in ("pool", "loop"):
            campaign.settings.set_loop(mode=mode)
            made = campaign.loop.next_round("1") if mode == "loop" else None
            first, start = 0.0, time.perf_counter()
            asked, saved = [], []
            for number in range(60):
                start = time.perf_counter()
                batch = campaign.judging.next_pairs("a1", "1", count=1, loop_round=made)
                asked.append(time.perf_counter() - start)
                first = first or asked[0]
                if not batch.documents:  # of a small pool
                    break
                start = time.perf_counter()
                campaign.judging.judge("a1", "1", batch.documents[0].doc_id, number % 2, uuid=str(uuid4()))
                saved.append(time.perf_counter() - start)
            lines += [
                (f"first pair, {mode}", took(first)),
                (f"next pair, {mode}", took(*asked[1:])),
                (f"save, {mode}, alone", took(*saved)),
            ]
        campaign.settings.set_loop(mode="pool-then-loop")
    return lines


def serve(directory: Path) -> list[Line]:
    """Start the server three times; then 20 annotators save in the loop."""
    from collection import Campaign
    from tests.benchmarks.bench_judging import add_annotators, annotate, high

    with Campaign(directory / "campaign") as campaign:
        campaign.settings.set_loop(mode="loop")
        issued = add_annotators(campaign, ANNOTATORS)
    command = [sys.executable, "-m", "collection.cli", "serve", str(directory / "campaign"), "--no-browser"]
    ready: list[float] = []
    for turn in range(3):
        start = time.perf_counter()
        server = subprocess.Popen([*command, "--as", "boss"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert server.stdout is not None
        port = next(int(m[1]) for line in server.stdout if (m := re.search(r"127\.0\.0\.1:(\d+)/signin", line)))
        ready.append(time.perf_counter() - start)
        times: list[float] = []
        inside: list[tuple[float, ...]] = []
        if turn == 2:
            topics_of = [list(map(str, range(n, TOPICS, ANNOTATORS))) for n in range(ANNOTATORS)]
            until = time.monotonic() + 30
            clients = [
                threading.Thread(
                    target=annotate,
                    args=(port, issued[n], topics_of[n], until, times, n, "loop", inside),
                )
                for n in range(ANNOTATORS)
            ]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        server.terminate()
        server.wait(20)
    with Campaign(directory / "campaign") as campaign:
        campaign.settings.set_loop(mode="pool-then-loop")
    saves = f"{1000 * statistics.median(times):.1f} ms, 95th percentile {1000 * high(times):.1f} ms of {len(times)}"
    processor = f"{statistics.median(cpu for _, cpu in inside):.1f} ms"
    return [
        ("server ready", took(*ready)),
        ("saves of 20 annotators in the loop", saves),
        ("processor time of these in the server", processor),
    ]


def draw_pages(directory: Path) -> list[Line]:
    """Draw each page of a manager twice."""
    from streamlit import config
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    from annotate.application import SCRIPT, read_ahead
    from annotate.auth.page_access import PAGES
    from annotate.auth.session import DIRECTORY_VARIABLE
    from annotate.auth.tokens import Tokens
    from collection import Campaign

    with Campaign(directory / "campaign") as campaign:
        secret = campaign.people.accounts.open_session("boss")
    os.environ[DIRECTORY_VARIABLE] = str(directory / "campaign")
    config.set_option("runner.magicEnabled", False)  # as the server sets it
    # An AppTest looks for components in all installed packages before each run, the server only when it starts.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    Tokens.read_cookie = lambda self, value: secret  # type: ignore[method-assign]
    start = time.process_time()
    read_ahead(directory / "campaign")
    lines = [("reading ahead at the start", f"{took(time.process_time() - start)} of processor")]
    for page in [PAGES[-1], *PAGES]:
        times = []
        for _ in range(2):
            app = AppTest.from_file(str(SCRIPT), default_timeout=600)
            app._page_hash = calc_hash(page.url_path)
            start = time.process_time()
            app.run()
            times.append(time.process_time() - start)
            assert not app.exception, app.exception
        memory = f"{held(os.getpid()) / 1e6:,.0f} MB"
        lines.append((f"page {page.title}", f"{took(times[0])} of processor, again {took(times[1])}, {memory}"))
    return lines


STEPS: dict[str, Callable[[Path], list[Line]]] = {
    "plain": insert_plainly,
    "import": import_documents,
    "runs": import_runs,
    "again": judge_again,
    "tfidf": weigh_plainly,
    "features": make_features,
    "open": open_campaign,
    "command": run_command,
    "search": search,
    "next": judge_next,
    "pages": draw_pages,
    "serve": serve,
}


BESIDE = {"import": "plain", "features": "tfidf"}
"""Steps of ours, and the step of another tool beside each."""

TOOLS = {"plain": "plain sqlite3 insert with FTS5", "tfidf": "TfidfVectorizer"}


def rate(number: int, seconds: float, what: str = "documents") -> str:
    """A number per second, and the seconds."""
    return f"{number / seconds:,.0f} {what}/s ({seconds:.1f} s)"


def took(*seconds: float) -> str:
    """The median of some times."""
    median = statistics.median(seconds)
    return f"{median:.2f} s" if median >= 0.1 else f"{1000 * median:.1f} ms"


def held(process: int) -> int:
    """Bytes in memory of a process and its descendants, shared pages once, where Linux tells."""
    try:
        found = re.search(r"^Pss: +(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
        total = 1024 * int(found[1]) if found else 0
        children = Path(f"/proc/{process}/task").glob("*/children")
        return total + sum(held(int(child)) for file in children for child in file.read_text().split())
    except OSError:
        return 0


def run_step(name: str, directory: Path) -> float:
    """Run a step in a process of its own and print its lines with its peak of memory; return its first figure."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_million", "--step", name, "--directory", str(directory)]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        while process.poll() is None:
            peak = max(peak, held(process.pid))
            time.sleep(0.1)
        assert process.stdout is not None
        assert process.returncode == 0, name
        lines = json.loads(process.stdout.read().splitlines()[-1])
    for number, (what, figure) in enumerate(lines):
        print(f"{what:<36}  {figure:<52}  {f'{peak / 1e6:,.0f} MB' if not number else ''}".rstrip(), flush=True)
    return float(lines[0][1].split()[0].replace(",", ""))


def compare(rates: dict[int, dict[str, float]]) -> None:
    """Print the ratios of documents per second to those of other tools, and growth, for each number of documents."""
    print(f"\n{'documents':>12}  {'rate beside the other tool':<42}  time per document beside the smallest size")
    smallest = rates[min(rates)]
    for documents, found in rates.items():
        pairs = [(ours, theirs) for ours, theirs in BESIDE.items() if ours in found]
        ratios = [f"{name} {found[name] / found[other]:.2f} ({other})" for name, other in pairs if other in found]
        growth = [f"{name} {smallest[name] / found[name]:.2f}" for name, _ in pairs]
        print(f"{documents:>12,}  {', '.join(ratios):<42}  {', '.join(growth)}")
        for name, other in pairs:
            if other in found:
                ratio, grown = found[name] / found[other], smallest[name] / found[name]
                figure = f"{found[name]:,.0f} documents/s"
                keep(Row(name, f"{documents:,} documents", figure, f"{ratio:.2f}", TOOLS[other], f"{grown:.2f}"))


def main() -> None:
    """Generate, run the steps, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="10000,100000,1000000", help="numbers, with commas between")
    parser.add_argument("--directory", type=Path, help="where files and campaigns stay")
    usual = ",".join(name for name in STEPS if name != "again")
    parser.add_argument("--steps", default=usual, help="names of steps, with commas between")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        print(json.dumps(STEPS[arguments.step](arguments.directory)))
        return
    rates: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for documents in map(int, arguments.documents.split(",")):
            directory = (arguments.directory or Path(scratch)).resolve() / str(documents)
            directory.mkdir(parents=True, exist_ok=True)
            if not (directory / "t.tsv").exists():
                generate(directory, documents)
            print(f"\n{documents:,} documents{'':<20}  {'figure':<52}  peak memory")
            steps = [name for name in STEPS if name in arguments.steps.split(",")]
            rates[documents] = {name: run_step(name, directory) for name in steps}
    compare(rates)


if __name__ == "__main__":
    main()
