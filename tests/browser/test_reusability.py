"""The Reusability page in a browser: words first, charts that are drawn and taken away, nothing wider than a screen."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, expect

from collection import Campaign
from tests.browser.serving import Serving, sign_in
from tests.browser.waiting import wait

pytestmark = [pytest.mark.browser, pytest.mark.long]

DEPTH = 10


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Five runs over twelve topics, pooled to depth 10 and judged by qrels."""
    folder = tmp_path_factory.mktemp("reusability")
    rng = np.random.default_rng(3)
    relevant = rng.random((12, 60)) < 0.2
    judged: set[tuple[int, int]] = set()
    paths = []
    for run in range(5):
        lines = []
        for topic in range(12):
            order = np.argsort(-(rng.normal(size=60) + relevant[topic] * (1 + run / 2)))[:20]
            judged |= {(topic, int(doc)) for doc in order[:DEPTH]}
            lines += [f"{topic} Q0 d{doc} {rank} {-rank} system{run}" for rank, doc in enumerate(order, start=1)]
        paths.append(folder / f"{'abcde'[run]}.run")
        paths[-1].write_text("\n".join(lines).replace(f"system{run}", f"{'abcde'[run]}_system") + "\n")
    (folder / "qrels.txt").write_text("".join(f"{t} 0 d{d} {int(relevant[t, d])}\n" for t, d in sorted(judged)))
    (folder / "topics.tsv").write_text("".join(f"{t}\tneed {t}\n" for t in range(12)))
    with Campaign.create(folder / "campaign", title="Small") as campaign:
        campaign.imports.import_files(topics=folder / "topics.tsv", runs=paths, qrels=folder / "qrels.txt")
    return (folder / "campaign",)


def test_a_reader_reads_the_verdict_and_takes_a_chart_away(
    serving: Serving, context: BrowserContext, tmp_path: Path
) -> None:
    page = sign_in(context, serving, "rae", "reader")
    with Campaign(serving.directory) as campaign:
        verdict = campaign.results.evaluation.reusability().verdict
    page.goto(f"{serving.url}/reusability")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_role("heading", name=verdict[0])).to_be_visible()  # computed first
    expect(main.get_by_test_id("stMetric").filter(has_text="Runs pooled")).to_contain_text("5 of 5")
    expect(main.get_by_test_id("stMetric").filter(has_text="Pool depth")).to_contain_text("10")
    expect(main.get_by_role("button", name="Download results")).to_be_visible()
    charts = main.locator(".stVegaLiteChart svg.marks")
    expect(charts).to_have_count(1)
    fits = "(e) => e.scrollWidth <= e.clientWidth"
    page.set_viewport_size({"width": 390, "height": 900})
    wait(page, "innerWidth === 390", "a window of 390 pixels")
    for view in ("Leave-one-out", "Judged documents", "Pool depth", "Topics"):
        main.get_by_role("radio", name=view, exact=True).click()
        expect(charts).to_have_count(1 if view == "Leave-one-out" else 2)  # the chart of the answer is not repeated
        wait(page, fits, "charts as wide as the page", main.element_handle())  # drawn anew
    main.get_by_role("radio", name="Depths", exact=True).click()
    expect(charts).to_have_count(1)
    wait(page, fits, "charts as wide as the page", main.element_handle())
    page.set_viewport_size({"width": 1280, "height": 900})
    wait(page, "innerWidth === 1280", "a window of 1280 pixels")
    wait(page, fits, "charts as wide as the page", main.element_handle())

    # A table's own download would write formulas into a file for spreadsheets.
    main.get_by_test_id("stDataFrame").first.hover()
    expect(main.get_by_label(re.compile("^Search")).first).to_be_visible()
    expect(main.get_by_label(re.compile("^Download as CSV")).first).to_be_attached()
    expect(main.get_by_label(re.compile("^Download as CSV")).first).to_be_hidden()

    with page.expect_download() as waiting:
        main.get_by_role("button", name=re.compile("Save as SVG: Mean nDCG")).click()
    waiting.value.save_as(tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text()
    assert waiting.value.suggested_filename == "loss.svg"
    assert "e_system" in drawn
    assert "Mean nDCG@10" in drawn
