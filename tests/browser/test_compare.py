"""The Compare page in a browser: charts that are saved as files, and a bar that leads to the rankings behind it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from collection import Campaign
from tests.annotate.views.results.test_compare_page import SYSTEMS, TOPICS, write
from tests.browser.serving import Serving, sign_in
from tests.browser.windows import open_window

pytestmark = [pytest.mark.browser, pytest.mark.long]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Four systems on eight topics."""
    folder = tmp_path_factory.mktemp("compared")
    files = write(folder / "files", SYSTEMS, {q: f"topic {q}" for q in TOPICS})
    with Campaign.create(folder / "campaign", title="Four") as campaign:
        campaign.imports.import_files(**files)
    return (folder / "campaign",)


@pytest.fixture(scope="module")
def page(serving: Serving, browser: Browser) -> Iterator[Page]:
    """The page, with its first chart drawn."""
    context = open_window(browser)
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/compare")
    expect(chart(page, "means")).to_be_visible()
    yield page
    context.close()


def chart(page: Page, name: str) -> Any:
    """The picture of a chart."""
    return page.locator(f".st-key-chart-{name} svg.marks")


def look(page: Page, at: str) -> None:
    """Press one of the buttons that say what is drawn."""
    page.get_by_role("radio", name=at, exact=True).click()


def saved(page: Page, kind: str, folder: Path) -> Path:
    """The file that the button of this kind saves."""
    with page.expect_download() as waited:
        page.get_by_role("button", name=f"Save as {kind}: Mean nDCG@10 of each system").click()
    file = folder / waited.value.suggested_filename
    waited.value.save_as(file)
    return file


def test_a_chart_is_saved_as_svg_and_as_png(page: Page, tmp_path: Path) -> None:
    look(page, "Leaderboard")
    svg = saved(page, "SVG", tmp_path)
    assert svg.name == "means.svg"
    root = ElementTree.parse(svg).getroot()
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == "Mean nDCG@10 of each system"
    said = {node.text for node in root.iter(f"{SVG}text")}
    assert {"good", "fair", "poor", "mixed", "Mean nDCG@10"} <= said
    png = saved(page, "PNG", tmp_path)
    assert png.name == "means.png"
    content = png.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width == pytest.approx(3 * float(root.attrib["width"]), abs=2)
    assert height == pytest.approx(3 * float(root.attrib["height"]), abs=2)


def test_a_bar_leads_to_the_rankings_of_its_topic(page: Page) -> None:
    look(page, "Two systems")
    expect(chart(page, "topics")).to_be_visible()
    topic = page.get_by_role("combobox", name="Topic (largest difference first)")
    first = topic.input_value()
    bars = chart(page, "topics").locator("path[aria-roledescription=bar]")
    expect(bars).to_have_count(len(TOPICS))
    other = next(
        n for n in range(len(TOPICS)) if not bars.nth(n).get_attribute("aria-label").startswith(f"Topic: {first[:2]};")
    )
    named = bars.nth(other).get_attribute("aria-label").removeprefix("Topic: ")[:2]
    bars.nth(other).click(force=True)
    expect(topic).to_have_value(re.compile(f"^{named}: topic {named} "))
