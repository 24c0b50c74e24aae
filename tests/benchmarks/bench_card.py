"""The judging card in Chromium on a real `cleverdon serve`: how quick it is, and whether anything is lost or doubled.

One annotator judges by key in a browser, beside 0, 9 and 19 light HTTP clients that judge as in bench_judging.py, in
the pool and in the loop. Printed as Markdown tables, nothing is asserted:

- from the key press to the next document's text in the DOM, and painted, beside a bare page: one paragraph of as many
  words that a key replaces, with no card, no shadow and no Streamlit around it. What it takes is the browser's own,
  on a machine that serves so many others.
  The press is the time stamp of the event. A
  MutationObserver notes the change of the text: it is told when the code that made the change has run. Painted is a
  message that is sent in the animation frame after it: it arrives when that frame has been drawn. Half of the time to
  that is the wait for the screen's next frame, 60 a second;
- how long the saves take of the browser (resource timing) and of the clients;
- 20 judgements at 30, 100 and 250 ms a key, against what was on screen at each key;
- the server killed (SIGKILL) in mid-judging: what it had acknowledged, and what arrives once it is there again. Keys
  that no card took, since Streamlit was drawing the page anew, are counted apart;
- the time from the command to a usable card, and memory.

With `--beside CHECKOUT`, only this: the same campaign is served by that checkout, by this one, and by this one with
three further questions, and each is judged in turn, a document here and a document there, so that whatever else the
machine does concerns all alike. With `--tasks`, only the two tasks of generated answers beside the documents of the
same campaign, in turn as well: from the key press to the next nugget, and to the next sentence of an answer.

    python tests/benchmarks/bench_card.py [--seconds N] [--apart] [--beside CHECKOUT | --tasks]
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from playwright.sync_api import Browser, Page, expect, sync_playwright

from collection import Campaign
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.questions import read_questions
from tests.benchmarks.bench_judging import TOPICS, annotate, build, high
from tests.benchmarks.ratios import Row, keep
from tests.browser.chromium import HELP, find
from tests.browser.conftest import ARGUMENTS
from tests.browser.serving import free_port, use_link

ROOT = Path(__file__).parents[2]
BESIDE = (0, 9, 19)
LOOK = 0.3
"""Seconds that a document is looked at, where the card's speed is measured."""
HELD = 70
"""Milliseconds that a key is down there. After each press and each release, Chromium puts tasks off until it has
drawn a frame: released at once, as no finger does it, what tells of the painted frame would wait for the next."""
BURST, GAPS = 20, (0.03, 0.1, 0.25)
KILLS = 3
BARE = """
<!doctype html><p data-part="doc-id">0</p><p data-part="text" style="font: 17px/26px sans-serif; width: 800px">%s</p>
<script>
  const id = document.querySelector("[data-part=doc-id]"), text = document.querySelector("[data-part=text]");
  const words = text.textContent.split(" ");
  addEventListener("keydown", () => {
    words.push(words.shift());
    id.textContent = String(Number(id.textContent) + 1);
    text.textContent = words.join(" ");
  });
</script>
"""
WORDS = 300
"""On the bare page: about as many as a document of bench_judging.py has."""

WATCH = """
(() => {
  const seen = (window.seen = {keys: [], times: [], acknowledged: []});
  performance.setResourceTimingBufferSize(20000);
  const deep = (root, part) => {
    const found = root.querySelector(`[data-part=${part}]`);
    if (found) return found;
    for (const node of root.querySelectorAll("*")) {
      const inner = node.shadowRoot && deep(node.shadowRoot, part);
      if (inner) return inner;
    }
    return null;
  };
  const nodes = {};
  const isStill = (part) => nodes[part]?.isConnected && nodes[part].dataset.part === part;
  const node = (part) => (isStill(part) ? nodes[part] : (nodes[part] = deep(document, part)));
  const shown = () => {
    const id = node("doc-id");
    return id && id.checkVisibility() ? id.textContent : null;
  };
  window.shown = shown;
  const observed = new WeakSet();
  let waiting = null;
  const changed = () => {
    const now = performance.now();
    const id = waiting && shown();
    if (!id || id === waiting.shown || !node("text")?.textContent) return;
    const {at} = waiting;
    waiting = null;
    requestAnimationFrame(() => {
      const {port1, port2} = new MessageChannel();
      port1.onmessage = () => seen.times.push([now - at, performance.now() - at]);
      port2.postMessage(0);
    });
  };
  window.addEventListener("keydown", (event) => {
    waiting = null;
    if (!/^[0-9]$/.test(event.key)) return;
    const id = node("doc-id");
    const root = id?.getRootNode();
    if (root && !observed.has(root)) {
      observed.add(root);
      new MutationObserver(changed).observe(root, {subtree: true, childList: true, characterData: true});
    }
    seen.keys.push([shown(), Number(event.key)]);
    waiting = {at: event.timeStamp, shown: shown()};
  }, true);
  const fetch = window.fetch;
  window.fetch = async (...request) => {
    const answer = await fetch(...request);
    if (String(request[0]?.url ?? request[0]).includes("/sync"))
      answer.clone().json().then((body) => seen.acknowledged.push(...(body.saved ?? [])), () => {});
    return answer;
  };
})();
"""


QUESTIONED = WATCH.replace(
    "return id && id.checkVisibility() ? id.textContent : null;",
    """if (!id || !id.checkVisibility()) return null;
    const question = node("asked")?.querySelector(".cd-current b")?.nextElementSibling?.textContent;
    return question ? `${id.textContent} ${question}` : id.textContent;""",
).replace("{subtree: true,", "{subtree: true, attributeFilter: ['class'],")
"""The same with each question as a screen of its own."""

SHOWN = """const [nugget, id] = [node("nugget-text"), node("doc-id")];
    const current = nugget?.checkVisibility() ? nugget : node("topic-title");
    if (!current?.checkVisibility() || isNew()) return null;
    return `${current.textContent} ${id?.textContent}`;"""
IN_TASK = WATCH.replace(
    'const id = node("doc-id");\n    return id && id.checkVisibility() ? id.textContent : null;', SHOWN
).replace(
    "const shown = ",
    'const isNew = (window.isNew = () => Boolean(node("new-topic")?.checkVisibility()));\n  const shown = ',
)
"""The same with each nugget, or each sentence, as a document."""

SYSTEMS, SENTENCES, NUGGETS = 4, 16, 20
"""Of the answers of `--tasks`: to each topic, in each answer, and of each topic."""
SENTENCE, NUGGET = 25, 7
"""Words of a sentence and of a nugget. An answer has 400 words, the most that TREC 2024 RAG allowed; of those that NIST
assigned nuggets to, half have at most 190, and half of the nuggets at most 7."""

QUESTIONS: list[dict[str, object]] = [
    {"name": "credibility", "question": "How credible is this page?", "grades": "0-3"},
    {"name": "quality", "question": "How well is it written?", "grades": "0-3"},
    {"name": "type", "question": "What is it?", "one_of": ["article", "report", "letter", "advertisement"]},
]


class Server:
    """`cleverdon serve`, of this checkout or of another one, and a page of it with the card of the annotator `a0`."""

    def __init__(self, directory: Path, checkout: Path = ROOT) -> None:
        self.directory, self.port, self.checkout = directory, free_port(), checkout
        code = "import sys; from collection import Campaign\n"
        code += "with Campaign(sys.argv[1]) as campaign: print(campaign.people.accounts.make_signin_link('a0'))"
        command = [sys.executable, "-c", code, str(directory)]
        self.link = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "collection.cli", "serve", str(self.directory), "--no-browser"]
        command += ["--as", "boss", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.checkout)
        assert self.process.stdout is not None
        while "/signin?token=" not in (line := self.process.stdout.readline()):
            assert line, "the server has ended"

    def open(self, page: Page, watch: str = WATCH, query: str = "topic=0") -> None:
        """Sign in, unless another page of the browser has, and have the card with a document on screen."""
        page.add_init_script(watch)
        if not page.context.cookies():
            use_link(page, f"http://127.0.0.1:{self.port}/signin?token={self.link}")
        page.goto(f"http://127.0.0.1:{self.port}/judge?{query}")
        page.wait_for_function("window.shown?.()", timeout=60_000)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it."""
        self.process.send_signal(how)
        self.process.wait(20)

    def memory(self) -> str:
        """MB resident of the server, and of what it has started."""
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
        rows = [[int(cell) for cell in line.split()] for line in table.splitlines()]
        own = [rss for pid, _, rss in rows if pid == self.process.pid]
        children = [rss for _, parent, rss in rows if parent == self.process.pid]
        return " + ".join(f"{rss / 1024:.0f}" for rss in own + children)

    def log(self) -> list[tuple[str, str, int]]:
        """uuid, document and grade of each judgement of the browser's annotator, in order."""
        with Campaign(self.directory) as campaign:
            frame = campaign.store.judgements.table(current=False, annotator="a0")
        return list(zip(frame["uuid"], frame["doc_id"], frame["relevance"].tolist(), strict=True))


def main(seconds: float, apart: bool) -> None:
    """Build, serve, judge, print."""
    path = find(light=False)
    if path is None:
        sys.exit(HELP)
    cores = sorted(os.sched_getaffinity(0)) if apart else []
    if apart:
        os.sched_setaffinity(0, cores[-1:])  # what is started takes it over
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        if apart:
            os.sched_setaffinity(0, cores[:-1])
        speed: list[list[str]] = []
        kept: list[list[str]] = []
        killed: list[list[str]] = []
        room: list[list[str]] = []
        for mode in ("pool", "loop"):
            with tempfile.TemporaryDirectory() as scratch:
                one_mode(browser, Path(scratch) / "campaign", mode, seconds, speed, kept, killed, room)
        browser.close()
    for what, column in (("text", 3), ("painted", 4)):
        for mode in ("pool", "loop"):
            times = {row[0]: row[column] for row in speed if row[1] == "0"}
            card, page = (float(times[name].split(" / ")[0]) for name in (mode, f"bare page, {mode}"))
            more = f"{card - page:+.1f} ms"
            keep(Row(f"card: key to {what}", f"{mode}, alone", f"{card:.1f} ms", more, "bare page"))
    heads = ["mode", "clients", "judged", "text ms", "painted ms", "browser's saves ms", "clients' saves ms"]
    table("Key press to the next document, and saves: median / 95th percentile", heads, speed)
    table("Bursts of keys", ["mode", "every ms", "kept", "lost", "doubled", "wrong", "not taken"], kept)
    heads = ["mode", "killed", "pressed", "acknowledged", "of those lost", "arrived after the restart", "doubled"]
    table("SIGKILL in mid-judging", [*heads, "not taken", "processes left"], killed)
    heads = ["mode", "s from the command to a usable card", "MB at the start", "judged", "MB then"]
    table("Start and memory (server + the process that learns)", heads, room)


def beside_checkout(checkout: Path, seconds: float) -> None:
    """The card of another checkout, of this one, and of this one with further questions, judged in turn."""
    path = find(light=False)
    if path is None:
        sys.exit(HELP)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        first = Path(scratch) / "campaign"
        code = "import sys; from pathlib import Path; from tests.benchmarks.bench_judging import build\n"
        code += "build(Path(sys.argv[1]), 'pool', 1)"
        subprocess.run([sys.executable, "-c", code, str(first)], cwd=checkout, check=True)
        names = ("before", "one question", "four questions")
        directories = [first, *(shutil.copytree(first, first.with_name(name)) for name in ("one", "four"))]
        with Campaign(directories[2]) as campaign:
            campaign.settings.set_questions(read_questions(QUESTIONS))
        servers = [Server(each, where) for each, where in zip(directories, (checkout, ROOT, ROOT), strict=True)]
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        pages = [
            browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page() for _ in names
        ]
        try:
            for server, page, watch in zip(servers, pages, (WATCH, WATCH, QUESTIONED), strict=True):
                server.start()
                server.open(page, watch)
            keys = [1, 1, 1 + len(QUESTIONS)]
            judged = in_turn(pages, keys, seconds)
            columns = [of_keys(page) for page in pages]
        finally:
            browser.close()
            for server in servers:
                server.kill(signal.SIGTERM)
    rows = [
        [name, str(judged), str(count), *map(spread, columns[n]), *per_document(columns[n], count)]
        for n, (name, count) in enumerate(zip(names, keys, strict=True))
    ]
    heads = ["card", "documents", "keys each", "text ms", "painted ms", "text ms a document", "painted ms a document"]
    table("In turn: median / 95th percentile", heads, rows)
    for what, before, now in zip(("text", "painted"), *columns[:2], strict=True):
        paired = statistics.median(b / a for a, b in zip(before, now, strict=True))
        medians = statistics.median(now) / statistics.median(before)
        print(f"\n{what}: {medians:.3f} of before; median of the pairs: {paired:.3f}")


def add_tasks(directory: Path) -> None:
    """Add answers, nuggets and the two tasks of generated answers to a campaign."""
    chance = random.Random(7)

    def some(number: int) -> str:
        return " ".join(f"word{int(chance.paretovariate(0.4)) % 20_000}" for _ in range(number))

    rows = [
        f"system{system}\t{topic}\t{some(SENTENCE)}\td{chance.randrange(4000)}\n"
        for topic in range(10)
        for system in range(SYSTEMS)
        for _ in range(SENTENCES)
    ]
    path = directory.with_name("answers.tsv")
    path.write_text("run\ttopic\tsentence\tcitations\n" + "".join(rows))
    with Campaign(directory) as campaign:
        campaign.answers.import_files(answers=path)
        for topic in range(10):
            for _ in range(NUGGETS):
                campaign.answers.nuggets.add(str(topic), some(NUGGET), annotator="boss")
        for task in ANSWER_TASKS:
            campaign.answers.tasks.prepare(task)


def tasks_beside_documents(seconds: float) -> None:
    """The documents, the nuggets and the sentences of a campaign, judged in turn."""
    path = find(light=False)
    if path is None:
        sys.exit(HELP)
    names = ("documents", *ANSWER_TASKS)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        directory = Path(scratch) / "campaign"
        build(directory, "pool", 1)
        add_tasks(directory)
        server = Server(directory)
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
        pages = [context.new_page() for _ in names]
        try:
            server.start()
            for name, page in zip(names, pages, strict=True):
                is_task = name in ANSWER_TASKS
                server.open(page, IN_TASK if is_task else WATCH, f"task={name}" if is_task else "topic=0")
            judged = in_turn(pages, [1] * len(pages), seconds)
            columns = [of_keys(page) for page in pages]
        finally:
            browser.close()
            server.kill(signal.SIGTERM)
    rows = [[name, str(judged), *map(spread, times)] for name, times in zip(names, columns, strict=True)]
    table("In turn: median / 95th percentile", ["card", "keys", "text ms", "painted ms"], rows)
    for place, what in enumerate(("text", "painted")):
        for name, times in list(zip(names, columns, strict=True))[1:]:
            pairs = list(zip(columns[0][place], times[place], strict=False))
            ratio, more = statistics.median(b / a for a, b in pairs), statistics.median(b - a for a, b in pairs)
            print(f"{what}, {name}: median of the pairs {ratio:.3f} of documents, {more:+.2f} ms")


def in_turn(pages: list[Page], keys: list[int], seconds: float) -> int:
    """Look at a document of each card and judge it, until the time is over; how many on each, without the first ten."""
    chance, judged, pressed = random.Random(0), 0, [0 for _ in pages]
    until = time.monotonic() + seconds
    while judged < 20 or time.monotonic() < until:
        for n in chance.sample(range(len(pages)), len(pages)):
            pages[n].bring_to_front()
            pages[n].wait_for_timeout(1000 * LOOK * chance.uniform(0.5, 1.5))
            for _ in range(keys[n]):
                if pages[n].evaluate("window.isNew?.()"):  # the last key of an answer, which is not counted
                    pages[n].keyboard.press("Enter")
                    pages[n].wait_for_function("window.shown()")
                pages[n].keyboard.press(str(chance.randrange(1, 3)), delay=HELD)
                pages[n].wait_for_function("n => seen.times.length > n || window.isNew?.()", arg=pressed[n])
                pressed[n] = pages[n].evaluate("seen.times.length")
        judged += 1
        if judged == 10:  # code is compiled by then
            for page in pages:
                page.evaluate("() => { seen.times = []; }")
            pressed = [0 for _ in pages]
    return judged - 10


def per_document(columns: tuple[list[float], list[float]], keys: int) -> list[str]:
    """What all keys of a document take together."""
    return [spread([sum(times[at : at + keys]) for at in range(0, len(times), keys)]) for times in columns]


def one_mode(
    browser: Browser,
    directory: Path,
    mode: str,
    seconds: float,
    speed: list[list[str]],
    kept: list[list[str]],
    killed: list[list[str]],
    room: list[list[str]],
) -> None:
    """Everything in the pool, or in the loop."""
    tokens = build(directory, mode, 1 + max(BESIDE))
    server = Server(directory)
    page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page()
    try:
        begun = time.perf_counter()
        server.start()
        server.open(page)
        usable, at_start = time.perf_counter() - begun, server.memory()
        for clients in BESIDE:
            speed.append([mode, str(clients), *beside(server, page, tokens[1 : 1 + clients], mode, seconds)])
            if clients == 0:
                kept += [[mode, f"{1000 * gap:.0f}", *burst(server, page, gap)] for gap in GAPS]
                room.append([mode, f"{usable:.1f}", at_start, str(len(server.log())), server.memory()])
        for others in (0, max(BESIDE)):
            figures = bare(browser, server, tokens[1 : 1 + others], mode, seconds)
            speed.append([f"bare page, {mode}", str(others), *figures])
        killed += [[mode, str(number), *kill(server, page)] for number in range(1, KILLS + 1)]
    finally:
        page.context.close()
        server.kill(signal.SIGTERM)


@contextmanager
def clients(server: Server, tokens: list[str], mode: str, until: float) -> Iterator[list[float]]:
    """So many clients judge until then; their saves, in seconds, are complete at the end."""
    times: list[float] = []
    threads = []
    for number, token in enumerate(tokens):
        topics = [str(topic) for topic in range(1 + number, TOPICS, len(tokens))]
        arguments = (server.port, token, topics, until, times, number, mode)
        threads.append(threading.Thread(target=annotate, args=arguments))
    for thread in threads:
        thread.start()
    yield times
    for thread in threads:
        thread.join()


def beside(server: Server, page: Page, tokens: list[str], mode: str, seconds: float) -> list[str]:
    """Judge for so long beside the clients."""
    until = time.monotonic() + seconds
    with clients(server, tokens, mode, until) as times:
        page.evaluate("() => { seen.times = []; performance.clearResourceTimings(); }")
        judged = look_and_press(page, until, len(tokens))
        saved(page)
    entries = page.evaluate(
        "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/sync')).map(e => e.duration)"
    )
    columns = [*of_keys(page), entries, [1000 * t for t in times]]
    return [str(judged), *(spread(c) if c else "-" for c in columns)]


def bare(browser: Browser, server: Server, tokens: list[str], mode: str, seconds: float) -> list[str]:
    """The same keys beside the same clients, on a page that does nothing but replace a text."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page()
    page.add_init_script(WATCH)
    chance = random.Random(0)
    words = " ".join("".join(chance.choices("abcdefghij", k=6)) for _ in range(WORDS))
    page.route("http://bare.test/", lambda route: route.fulfill(body=BARE % words, content_type="text/html"))
    page.goto("http://bare.test/")
    until = time.monotonic() + seconds
    with clients(server, tokens, mode, until) as times:
        judged = look_and_press(page, until, 0)
    figures = [str(judged), *map(spread, of_keys(page)), "-", spread([1000 * t for t in times]) if times else "-"]
    page.context.close()
    return figures


def look_and_press(page: Page, until: float, seed: int) -> int:
    """Look at a document, press a grade, until the time is over; how many."""
    judged, chance = 0, random.Random(seed)
    while time.monotonic() < until:
        page.wait_for_timeout(1000 * LOOK * chance.uniform(0.5, 1.5))
        page.keyboard.press(str(chance.randrange(4)), delay=HELD)
        judged += 1
        page.wait_for_function("n => seen.times.length >= n", arg=judged)
    return judged


def of_keys(page: Page) -> tuple[list[float], list[float]]:
    """Milliseconds of each key to the text, and to what was painted."""
    times = page.evaluate("seen.times")
    return [text for text, _ in times], [painted for _, painted in times]


def spread(times: list[float]) -> str:
    """Median / 95th percentile."""
    return f"{statistics.median(times):.1f} / {high(times):.1f}"


def burst(server: Server, page: Page, gap: float) -> list[str]:
    """Twenty keys at this pace."""
    before = len(server.log())
    page.evaluate("seen.keys = []")
    press(page, BURST, gap)
    saved(page)
    pressed, missed = keys_of(page)
    logged = Counter((doc_id, grade) for _, doc_id, grade in server.log()[before:])
    good = sum(logged[key] == 1 for key in pressed)
    documents = Counter(doc_id for doc_id, _ in logged.elements())
    lost = sum(documents[doc_id] == 0 for doc_id, _ in pressed)
    doubled = sum(count - 1 for count in documents.values())
    wrong = sum(documents[doc_id] > 0 and not logged[doc_id, grade] for doc_id, grade in pressed)
    return [f"{good} of {len(pressed)}", *map(str, (lost, doubled, wrong, missed))]


def kill(server: Server, page: Page) -> list[str]:
    """Kill the server between two keys, judge on, start it again."""
    before = len(server.log())
    page.wait_for_function("window.shown()")
    page.evaluate("() => { seen.keys = []; seen.acknowledged = []; }")
    press(page, 12, 0.08)
    ours = children(server.process.pid)
    server.kill()
    press(page, 4, 0.08)
    acknowledged = set(page.evaluate("seen.acknowledged"))
    there = {uuid for uuid, _, _ in server.log()}
    left = len([process for process in ours if process in everything()])
    server.start()
    saved(page)
    pressed, missed = keys_of(page)
    logged = Counter((doc_id, grade) for _, doc_id, grade in server.log()[before:])
    arrived = sum(logged[key] >= 1 for key in pressed)
    doubled = sum(count - 1 for count in logged.values())
    figures = [
        len(pressed),
        len(acknowledged),
        len(acknowledged - there),
        f"{arrived} of {len(pressed)}",
        doubled,
        missed,
        left,
    ]
    return list(map(str, figures))


def keys_of(page: Page) -> tuple[list[tuple[str, int]], int]:
    """The keys that the card took, each with the document that was on screen, and how many it did not take.

    While Streamlit draws the page anew there is for a moment no card that could: the document stays on screen. Keys
    before which there was no document are none of the two.
    """
    keys, now = page.evaluate("[seen.keys, window.shown()]")
    after = [*(shown for shown, _ in keys[1:]), now]
    taken = [(shown, grade) for (shown, grade), then in zip(keys, after, strict=True) if shown and shown != then]
    return taken, sum(bool(shown) for shown, _ in keys) - len(taken)


def press(page: Page, keys: int, gap: float) -> None:
    """Grades at random, one every `gap` seconds."""
    chance = random.Random(keys)
    begun = time.perf_counter()
    for number in range(keys):
        page.keyboard.press(str(chance.randrange(4)))
        time.sleep(max(0.0, begun + gap * (number + 1) - time.perf_counter()))


def saved(page: Page) -> None:
    """Wait until nothing waits to be sent."""
    expect(page.locator("[data-part=status]")).to_have_text("Saved", timeout=60_000)


def everything() -> dict[int, int]:
    """Every process that has not ended, with its parent."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in table.splitlines()]
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


def children(process: int) -> list[int]:
    """What a process has started."""
    return [child for child, parent in everything().items() if parent == process]


def table(title: str, heads: list[str], rows: list[list[Any]]) -> None:
    """Print a table."""
    print(f"\n{title}\n")
    widths = [max(len(row[n]) for row in [heads, *rows]) for n in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15.0, help="of judging in each row (default 15, at most 18)")
    parser.add_argument(
        "--apart",
        action="store_true",
        help="the browser on a core of its own (Linux), as annotators have machines of their own: for its speed only, "
        "since server, model and clients share what is left",
    )
    parser.add_argument("--beside", type=Path, help="only compare with the card of this checkout, in turn")
    parser.add_argument("--tasks", action="store_true", help="only compare the tasks of generated answers")
    options = parser.parse_args()
    if options.beside:
        beside_checkout(options.beside, options.seconds)
        sys.exit()
    if options.tasks:
        tasks_beside_documents(options.seconds)
        sys.exit()
    if options.seconds > 18:
        parser.error("one topic is judged from the first row to the last: its documents last for 18 seconds a row")
    main(options.seconds, options.apart)
