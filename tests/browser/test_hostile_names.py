"""Hostile names in a real browser: none becomes an icon, and none reads as another name.

Overview, Adjudicate and Compare stand for the others: `tests/annotate/views/test_pages.py` goes through all pages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.auth.page_access import PAGES
from collection import Campaign, Judgement
from tests.browser.serving import Serving, choose_page, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RUNS = [":material/home:", ":streamlit:", "safe_\u202egnp.exe", ":smile:", "bm25"]
TOPICS = {"1": ":material/home: title :streamlit:", "2": "topic \u202egnp.exe :smile:", "10": "wings"}
DOCUMENTS = [":material/home:", "doc_\u202egnp.exe", "d3"]
# Icons and pictures in what people read; Streamlit's own stand outside of Markdown's text.
ICONS = """() => [...document.querySelectorAll(
    '[data-testid=stMarkdownContainer] span[role=img], img[alt="Streamlit logo"]'
  )].map((e) => (e.ariaLabel || e.alt) + ' in ' + e.parentElement.textContent)"""
EMOJI = "() => /\\p{Emoji_Presentation}/u.test(document.body.innerText)"
CONTROLS = """() => {
  const found = [], control = /[\\u202a-\\u202e\\u2066-\\u2069]/;
  for (const e of document.querySelectorAll('body *:not(script):not(style)')) {
    for (const node of e.childNodes) if (node.nodeType === 3 && control.test(node.data)) found.push(node.data);
    for (const a of e.attributes) if (control.test(a.value)) found.push(`${a.name}=${a.value}`);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign in which everything that a file can name has such a name."""
    folder = tmp_path_factory.mktemp("hostile")
    lines = [json.dumps({"query_id": q, "title": t, "description": f"need {t}"}) for q, t in TOPICS.items()]
    (folder / "topics.jsonl").write_text("\n".join(lines) + "\n")
    lines = [json.dumps({"doc_id": d, "title": f":material/home: {d}", "text": f"text of {d}"}) for d in DOCUMENTS]
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n")
    for number, run in enumerate(RUNS):
        order = DOCUMENTS[number % 3 :] + DOCUMENTS[: number % 3]
        lines = [f"{q} Q0 {d} {rank} {9 - rank} {run}" for q in TOPICS for rank, d in enumerate(order, start=1)]
        (folder / f"{number}.run").write_text("\n".join(lines) + "\n")
    costs = [f'"{run}",{number + 1},:streamlit:' for number, run in enumerate(RUNS)]
    (folder / "costs.csv").write_text("\n".join(["run,latency_ms,hardware", *costs]) + "\n")
    with Campaign.create(folder / "campaign", title=":material/home: & :streamlit: \u202egnp.exe") as campaign:
        campaign.importer.import_files(
            topics=folder / "topics.jsonl",
            documents=[folder / "documents.jsonl"],
            runs=sorted(folder.glob("*.run")),
            costs=folder / "costs.csv",
        )
        campaign.pools.add("depth", depth=3)
        said = [
            Judgement(f"{who}-{q}-{d}", who, q, d, "graded", (n + len(who) // 4) % 4, note=f":material/home: \u202e{d}")
            for who in ("ann", ":material/home:", ":streamlit:")
            for n, (q, d) in enumerate((q, d) for q in TOPICS for d in DOCUMENTS)
        ]
        assert not campaign.judging.judge_many(said).refused
    return (folder / "campaign",)


def look(page: Page, at: str) -> None:
    """Press one of the buttons of the Compare page that say what is drawn."""
    page.get_by_role("radio", name=at, exact=True).click()
    expect(page.get_by_role("radio", name=at, exact=True)).to_be_checked()


def is_harmless(page: Page, where: str) -> None:
    """Once the page is drawn, nothing on it is an icon or an emoji of a name, and no text changes its direction."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    assert page.evaluate(ICONS) == [], where
    assert not page.evaluate(EMOJI), where
    assert page.evaluate(CONTROLS) == [], where


def test_no_name_is_an_icon_or_reads_as_another(serving: Serving, context: Any) -> None:
    page = sign_in(context, serving)
    titles = {entry.url_path: entry.title for entry in PAGES}
    for path, heading in {
        "": ":\u2060material/home: & :\u2060streamlit: gnp.exe",
        "adjudicate": "Judgements",
        "compare": "Compare",
    }.items():
        if path:
            choose_page(page, titles[path])
        else:
            page.goto(serving.url)
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(page.get_by_text(":\u2060material/home: & :\u2060streamlit: gnp.exe").first).to_be_visible()
        is_harmless(page, path)
    expect(page.locator("svg.marks").first).to_be_visible()
    for at in ("Costs", "Leaderboard"):
        look(page, at)
        is_harmless(page, f"Compare, {at}")
    chart = page.locator(".st-key-chart-means svg.marks")
    expect(chart.get_by_text("safe_gnp.exe", exact=True)).to_be_visible()
    expect(chart.get_by_text(":material/home:", exact=True)).to_be_visible()
