"""Take the pictures of ``docs/images`` again, from the demo.

``python -m tests.browser.pictures`` builds the demo in a temporary folder and takes them; it needs the browser of the
browser tests.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from collection import Campaign, demo
from tests.browser.chromium import find
from tests.browser.conftest import ARGUMENTS
from tests.browser.serving import Serving, use_link

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = {"judging": ("grades", "1"), "list": ("list", "24"), "preference": ("preference", "24")}
"""Task and topic of each picture."""
AROUND = 16  # pixels around the card


def take(directory: Path, images: Path = IMAGES) -> None:
    """Take all pictures from a demo campaign, whose task is changed for that."""
    serving = Serving(directory)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1400, "height": 728})
            use_link(page, serving.link)
            page.get_by_text("signed in as").wait_for(state="attached")
            for name, (task, topic) in PICTURES.items():
                with Campaign(directory) as campaign:
                    campaign.settings.set_judging_page(task=task)
                page.goto(f"{serving.url}/judge?topic={topic}")
                page.locator(".cd-document:visible, .cd-option:visible").first.wait_for()
                if name == "judging":  # a topic in the loop
                    page.get_by_text("The model has learned").wait_for()
                page.wait_for_timeout(1000)  # until highlights are painted
                box = page.locator("[data-part=frame]").bounding_box()
                assert box is not None
                clip = {"x": box["x"] - AROUND, "y": box["y"] - AROUND}
                clip |= {"width": box["width"] + 2 * AROUND, "height": box["height"] + 2 * AROUND}
                page.screenshot(path=images / f"{name}.png", clip=clip)
            browser.close()
    finally:
        serving.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        demo.build(Path(folder) / "demo")
        take(Path(folder) / "demo")
