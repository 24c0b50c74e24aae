"""How long the Compare page takes in a browser, on 40 runs of 50 topics x 1,000 documents.

The campaign is made (seeded, in a temporary folder) and served, and Chromium opens the page: the first time, when
nothing is evaluated yet, and again; then it is used as people use it. A step counts as done when what was asked for is
on screen and the script behind the page has ended. The median and the longest of several rounds are printed, in
seconds.

    python tests/benchmarks/bench_compare_page.py [--repeats 5] [--runs 40]

Exit status 1 if the median of a step is above two seconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, expect, sync_playwright  # noqa: E402

from collection import Campaign  # noqa: E402
from tests.benchmarks.evaluation_files import dense  # noqa: E402
from tests.browser.chromium import find  # noqa: E402
from tests.browser.conftest import ARGUMENTS  # noqa: E402
from tests.browser.serving import Serving, use_link  # noqa: E402, use_link

ALLOWED = 2.0
PATIENCE = 120_000


def build(folder: Path, runs: int) -> Path:
    """A campaign of so many runs, with the qrels as its judgements."""
    files = folder / "files"
    files.mkdir()
    dense(files, runs)
    (files / "topics.tsv").write_text("".join(f"{number}\ttopic {number}\n" for number in range(301, 351)))
    with Campaign.create(folder / "campaign", title="Dense") as campaign:
        campaign.imports.import_files(
            topics=files / "topics.tsv", runs=sorted(files.glob("*.run")), qrels=files / "dense.qrels"
        )
    return folder / "campaign"


def choose(page: Page, label: str, option: str) -> None:
    """Take an option of a select box, which is written to be found: of a long list only the beginning is drawn."""
    page.get_by_role("combobox", name=label, exact=False).first.click()
    page.keyboard.type(option)
    page.get_by_role("option", name=option, exact=True).click()


def look(page: Page, at: str) -> None:
    """Press one of the buttons that say what is drawn."""
    page.get_by_role("radio", name=at, exact=True).click()


def drawn(page: Page, chart: str) -> Callable[[], None]:
    """Waits until a chart is on screen and nothing is being worked out any more."""

    def wait() -> None:
        expect(page.locator(f".st-key-chart-{chart} svg.marks")).to_be_visible(timeout=PATIENCE)
        still(page)

    return wait


def still(page: Page) -> None:
    """Waits until the script has ended."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=PATIENCE)


def said(page: Page, text: str) -> Callable[[], None]:
    """Waits until a sentence is on screen and the script has ended."""

    def wait() -> None:
        expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)
        still(page)

    return wait


def long(page: Page) -> Callable[[], None]:
    """Waits until a ranking of a hundred documents is on screen."""

    def wait() -> None:
        page.wait_for_function(
            "[...document.querySelectorAll('[data-testid=stDataFrame]')].some((t) => t.clientHeight > 3000)",
            timeout=PATIENCE,
        )
        still(page)

    return wait


def timed(act: Callable[[], object], until: Callable[[], None]) -> float:
    """Seconds from the first to the end of the second."""
    start = time.perf_counter()
    act()
    until()
    return time.perf_counter() - start


def round_of(page: Page, address: str) -> dict[str, float]:
    """One visit: the page is opened anew, and used."""
    steps: dict[str, float] = {}
    steps["open the page"] = timed(lambda: page.goto(address), drawn(page, "means"))
    steps["conclusions by AP"] = timed(
        lambda: choose(page, "Conclusions by", "AP"), said(page, "The mean AP of each system")
    )
    steps["compared with dense20"] = timed(
        lambda: choose(page, "Compared with", "dense20"), said(page, "above dense20 (")
    )
    steps["look at the tests"] = timed(lambda: look(page, "Tests"), drawn(page, "tests"))
    steps["look at two systems"] = timed(lambda: look(page, "Two systems"), drawn(page, "topics"))
    steps["100 ranks of a topic"] = timed(lambda: choose(page, "Ranks", "100"), long(page))
    steps["look at the topics"] = timed(lambda: look(page, "Topics"), said(page, "Show the calculation of one value"))
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        serving = Serving(build(Path(folder), options.runs))
        browser = driver.chromium.launch(executable_path=find(light=False), args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
            page.set_default_timeout(PATIENCE)
            use_link(page, serving.link)
            expect(page.get_by_role("heading", name="Dense")).to_be_visible()
            address = f"{serving.url}/compare"
            rounds = [round_of(page, address) for _ in range(options.repeats + 1)]
        finally:
            browser.close()
            serving.stop()
    first, *others = rounds
    print(f"{options.runs} runs x 50 topics x 1,000; seconds in the browser, median and longest of {len(others)}")
    print(f"{'open the page, nothing evaluated yet':38} {first['open the page']:6.2f}")
    slow = first["open the page"] > ALLOWED
    for step in first:
        took = [one[step] for one in others]
        print(f"{step:38} {statistics.median(took):6.2f} {max(took):6.2f}")
        slow |= statistics.median(took) > ALLOWED
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
