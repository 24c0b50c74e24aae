"""Take the pictures of ``docs/images`` again, from the demo and from the campaign of a tutorial.

``python -m tests.browser.pictures`` builds both in a temporary folder and takes them, or only those that it names, such
as ``python -m tests.browser.pictures machine-labels``; it needs the browser of the browser tests.
``tests/benchmarks/picture_*.py`` draw the charts.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import FloatRect, Page, sync_playwright

from collection import Campaign, demo
from collection.demo.build import DATA
from tests.browser.chromium import find
from tests.browser.conftest import ARGUMENTS
from tests.browser.serving import Serving, saved, shown, use_link
from tests.helpers import ok
from tests.project.test_documentation import DOCS, blocks, build_energy, commands

Theme = Literal["light", "dark"]
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
JUDGES = "compare-judges"
RECALL = "recall"
FILMS: dict[str, Theme] = {"judging.gif": "light", "judging-dark.gif": "dark"}
"""Moving picture of judging -> its theme."""
PRESSED = """(key) => {
  document.querySelector("#pressed")?.remove();
  if (!key) return;
  const cap = document.createElement("div");
  cap.id = "pressed";
  cap.textContent = key;
  cap.style.cssText = "position:fixed;z-index:9999;right:56px;bottom:150px;padding:10px 24px;border-radius:12px;" +
    "font:600 38px system-ui,sans-serif;color:#fff;background:#1f5fbf;box-shadow:0 4px 0 #123c7a";
  document.body.append(cap);
}"""
"""Shows the pressed key on the page, or none."""
FIRST, KEY, NEXT = 2200, 700, 1700  # milliseconds
WIDTH = 900  # pixels


@contextmanager
def window(directory: Path, width: int, height: int, theme: Theme = "light") -> Iterator[tuple[Page, str]]:
    """A window with the campaign of this directory, and its address."""
    serving = Serving(directory)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.set_default_timeout(120_000)  # the model is trained on a busy machine, too
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


def take_film(directory: Path, name: str) -> None:
    """Film a few judgements in the loop, with the grades of the demo: the key, then *Saved* and the next document."""
    stored = map(json.loads, (DATA / "judgements.jsonl").read_text(encoding="utf-8").splitlines())
    grades = {row["doc_id"]: str(row["relevance"]) for row in stored if row["query_id"] == "1"}
    frames, times = list[Image.Image](), list[int]()
    with window(directory, 1330, 660, FILMS[name]) as (page, url):
        page.goto(f"{url}/judge?topic=1")
        page.get_by_text("The model has learned").wait_for()
        box = page.locator("[data-part=frame]").bounding_box()
        assert box is not None
        clip = FloatRect(x=box["x"] - AROUND, y=box["y"] - AROUND, width=0, height=box["height"] + 2 * AROUND)
        clip["width"] = box["width"] + 2 * AROUND

        def add(milliseconds: int) -> None:
            frame = Image.open(io.BytesIO(page.screenshot(clip=clip)))
            frames.append(frame.convert("RGB").resize((WIDTH, round(frame.height * WIDTH / frame.width))))
            times.append(milliseconds)

        page.wait_for_timeout(1000)  # until highlights are painted
        add(FIRST)
        for _ in range(4):
            key = grades[shown(page)]
            page.evaluate(PRESSED, key)
            add(KEY)
            page.keyboard.press(key)
            saved(page)
            page.wait_for_timeout(1500)  # until the model has learned from it and highlights are painted
            page.evaluate(PRESSED, None)
            add(NEXT)
    palette = frames[-2].quantize(64, dither=Image.Dither.NONE)  # one for all: what stays the same is stored once
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    first.save(IMAGES / name, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)


def take_recall(directory: Path) -> None:
    """Take the details of a topic that is ready to stop on the page Recall."""
    with window(directory, 1200, 2400) as (page, url):
        page.goto(f"{url}/recall?topic=7")
        page.get_by_text("Precision of the ranking").wait_for()
        page.wait_for_timeout(5000)  # until charts have their final height
        first = page.get_by_role("heading", name="Topic 7").bounding_box()
        last = page.get_by_text("Other stopping rules").bounding_box()
        assert first is not None
        assert last is not None
        top = first["y"] - AROUND
        clip = FloatRect(
            x=first["x"] - AROUND, y=top, width=first["width"] + 2 * AROUND, height=last["y"] - AROUND - top
        )
        page.screenshot(path=IMAGES / f"{RECALL}.png", clip=clip)


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


def take_judges(directory: Path) -> None:
    """Take the picture of all label sets on the page Machine labels."""
    with window(directory, 1280, 1600) as (page, url):
        page.goto(f"{url}/machine-labels")
        page.get_by_role("radio", name="All label sets").click()
        page.get_by_text("Save the chart as").wait_for()
        page.wait_for_timeout(2000)  # until the table and the chart are painted
        first = page.get_by_role("heading", name="Machine labels", exact=True).bounding_box()
        last = page.get_by_text("Save the chart as").bounding_box()
        assert first is not None
        assert last is not None
        top = first["y"] - AROUND
        clip = FloatRect(
            x=first["x"] - AROUND, y=top, width=first["width"] + 2 * AROUND, height=last["y"] - AROUND - top
        )
        page.screenshot(path=IMAGES / f"{JUDGES}.png", clip=clip)


def build_judges(folder: Path) -> Path:
    """Build the campaign of the page on comparing judges, with a vote of them."""
    shutil.copytree(DOCS / "examples", folder)
    made = build_energy(folder)
    ok("labels", "import", made, folder / "umbrela.qrels", "--name", "model-a")
    ok("labels", "import", made, folder / "judges.csv")
    ok("labels", "vote", made, "majority")
    return made


def build_tutorial(folder: Path) -> Path:
    """Run the commands of the tutorial on language models, and return its campaign."""
    shutil.copytree(DOCS / "examples", folder)
    os.chdir(folder)
    for _, block in blocks(TUTORIAL):
        for command, _ in commands(block):
            ok(*shlex.split(command)[1:])
    return folder / "questions"


if __name__ == "__main__":
    wanted = set(sys.argv[1:]) or {*PICTURES, RECALL, *FILMS, *LABELS, JUDGES}
    with tempfile.TemporaryDirectory() as folder:
        if wanted & PICTURES.keys():
            demo.build(Path(folder) / "demo")
            take_cards(Path(folder) / "demo", wanted)
        if RECALL in wanted:
            demo.build(Path(folder) / RECALL)
            take_recall(Path(folder) / RECALL)
        for name in FILMS.keys() & wanted:
            demo.build(Path(folder) / name)
            take_film(Path(folder) / name, name)
        if JUDGES in wanted:
            take_judges(build_judges(Path(folder) / JUDGES))
        if wanted & LABELS.keys():
            take_labels(build_tutorial(Path(folder) / "tutorial"), wanted)
