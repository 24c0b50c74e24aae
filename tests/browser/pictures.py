"""Take the pictures of ``docs/images`` again, from the demo and from the campaign of a tutorial.

``python -m tests.browser.pictures`` builds both in a temporary folder and takes them, or only those that it names, such
as ``python -m tests.browser.pictures machine-labels``; it needs the browser of the browser tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

from collection import Campaign, demo
from tests.browser.chromium import find
from tests.browser.conftest import ARGUMENTS
from tests.browser.serving import Serving, use_link
from tests.helpers import ok
from tests.project.test_documentation import DOCS, blocks, commands

IMAGES = DOCS / "images"
PICTURES = {"judging": ("grades", "1"), "list": ("list", "24"), "preference": ("preference", "24")}
"""Task and topic of each picture of the card."""
AROUND = 16  # pixels around the card
TUTORIAL = DOCS / "tutorials" / "language-model-judgements.md"
LABELS = {
    "machine-labels": ("Machine labels", "Human judgements"),
    "corrected-values": ("Corrected values", "Significance of differences"),
}
"""Picture of the page Machine labels -> the heading that it begins with, and the one that it ends before."""


@contextmanager
def window(directory: Path, width: int, height: int) -> Iterator[tuple[Page, str]]:
    """A window with the campaign of this directory, and its address."""
    serving = Serving(directory)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            use_link(page, serving.link)
            page.get_by_text("signed in as").wait_for(state="attached")
            yield page, serving.url
            browser.close()
    finally:
        serving.stop()


def take_cards(directory: Path, wanted: Container[str]) -> None:
    """Take the pictures of the card from a demo campaign, whose task is changed for that."""
    with window(directory, 1400, 728) as (page, url):
        for name, (task, topic) in PICTURES.items():
            if name not in wanted:
                continue
            with Campaign(directory) as campaign:
                campaign.settings.set_judging_page(task=task)
            page.goto(f"{url}/judge?topic={topic}")
            page.locator(".cd-document:visible, .cd-option:visible").first.wait_for()
            if name == "judging":  # a topic in the loop
                page.get_by_text("The model has learned").wait_for()
            page.wait_for_timeout(1000)  # until highlights are painted
            box = page.locator("[data-part=frame]").bounding_box()
            assert box is not None
            clip: FloatRect = {"x": box["x"] - AROUND, "y": box["y"] - AROUND, "width": 0, "height": 0}
            clip["width"], clip["height"] = box["width"] + 2 * AROUND, box["height"] + 2 * AROUND
            page.screenshot(path=IMAGES / f"{name}.png", clip=clip)


def take_labels(directory: Path, wanted: Container[str]) -> None:
    """Take the pictures of the page Machine labels."""
    with window(directory, 1280, 2600) as (page, url):
        page.goto(f"{url}/machine-labels")
        measure = page.get_by_role("combobox", name="Measure")
        measure.fill("nDCG@5")
        measure.press("Enter")
        page.get_by_text("t-test of nDCG@5").wait_for()
        page.wait_for_timeout(2000)  # until tables and charts are painted
        for name, headings in LABELS.items():
            boxes = [page.get_by_role("heading", name=each, exact=True).bounding_box() for each in headings]
            first, last = boxes
            assert first is not None
            assert last is not None
            top = first["y"] - AROUND
            clip: FloatRect = {"x": first["x"] - AROUND, "y": top, "width": 0, "height": last["y"] - AROUND - top}
            clip["width"] = first["width"] + 2 * AROUND
            if name in wanted:
                page.screenshot(path=IMAGES / f"{name}.png", clip=clip)


def build_tutorial(folder: Path) -> Path:
    """Run the commands of the tutorial on language models, and return its campaign."""
    shutil.copytree(DOCS / "examples", folder)
    os.chdir(folder)
    for _, block in blocks(TUTORIAL):
        for command, _ in commands(block):
            ok(*shlex.split(command)[1:])
    return folder / "questions"


if __name__ == "__main__":
    wanted = set(sys.argv[1:]) or {*PICTURES, *LABELS}
    with tempfile.TemporaryDirectory() as folder:
        if wanted & PICTURES.keys():
            demo.build(Path(folder) / "demo")
            take_cards(Path(folder) / "demo", wanted)
        if wanted & LABELS.keys():
            take_labels(build_tutorial(Path(folder) / "tutorial"), wanted)
