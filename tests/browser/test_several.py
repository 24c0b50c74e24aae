"""Two annotators and a manager at once, each in a browser of their own, against `cleverdon serve`."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign, annotator_agreement as agreement, formats
from collection.core.records import Document, Topic
from tests.browser.serving import Serving, choose_page, open_card, sign_in
from tests.browser.windows import Windows, open_window
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

PAIRS = 12


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with twelve pairs that nobody has judged, two judgements wanted of each."""
    directory = tmp_path_factory.mktemp("several") / "campaign"
    documents = [f"d{number}" for number in range(PAIRS)]
    with Campaign.create(directory, title="Wings") as campaign:
        # Two systems that put other documents first, so that a measure has something to tell apart.
        put(
            campaign,
            [Topic("1", "wing flow")],
            [Document(d, d, f"Flow past the wing {d}.") for d in documents],
            {"up": {"1": documents[:8]}, "down": {"1": documents[:3:-1]}},
        )
        assert campaign.people.pools.add("depth", depth=8).pairs == PAIRS
        campaign.people.assignments.update(annotators=2)
    return (directory,)


def here(page: Page) -> str:
    """The document on screen, or nothing where none is left."""
    document = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    rest = page.locator("[data-part=rest]:not([hidden])", has_text=re.compile("judged|done|left", re.I))
    expect(document.or_(rest).first).to_be_visible()
    return document.inner_text() if document.count() else ""


def judge_one(page: Page, grade_of: dict[str, int]) -> str:
    """Judge the document on screen by key, and wait until another is there, or none."""
    document = here(page)
    if document:
        page.keyboard.press(str(grade_of[document]))
        gone = page.locator("[data-part=doc-id]", has_text=re.compile(f"^{re.escape(document)}$"))
        expect(gone.locator("visible=true")).to_have_count(0)
    return document


def test_two_annotators_and_a_manager(
    serving: Serving, windows: Windows, make_window: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    with Campaign(serving.directory) as campaign:
        ids = campaign.store.pool.pairs()["doc_id"].tolist()
    # They agree on most, are a grade apart on some, and as far apart as can be on one.
    ben = {doc_id: place % 3 for place, doc_id in enumerate(ids)}
    cai = {doc_id: grade + (place % 5 == 0) for place, (doc_id, grade) in enumerate(ben.items())}
    worst = ids[3]
    ben[worst], cai[worst] = 0, 3

    mortal = open_window(windows.browser)
    manager = sign_in(make_window(), serving, "mia")
    pages = [open_card(mortal, serving, "ben"), open_card(make_window(), serving, "cai")]
    for _ in range(4):
        judge_one(pages[0], ben)
        judge_one(pages[1], cai)
    manager.goto(f"{serving.url}/agreement")
    expect(manager.get_by_role("heading", name="Agreement", exact=True)).to_be_visible()
    # Ben's browser dies with a judgement just made and the next documents in hand; he goes on in another.
    last = here(pages[0])
    pages[0].keyboard.press(str(ben[last]))
    mortal.close()
    again = open_card(make_window(), serving, "ben")
    for turn in itertools.count():
        if not any([judge_one(again, ben), judge_one(pages[1], cai)]):
            break
        assert turn < 2 * PAIRS
    for page in (again, pages[1]):
        expect(page.locator("[data-part=status]")).to_have_text("Saved")

    with Campaign(serving.directory) as campaign:
        log = campaign.store.judgements.table(current=False)
        assert set(log["counts_as"]) == {"judgement"}
        assert Counter(log["doc_id"]) == dict.fromkeys(ids, 2)
        assert log.groupby("doc_id")["annotator"].agg(lambda names: "".join(sorted(names))).eq("bencai").all()
        given = {
            name: dict(zip(rows["doc_id"], rows["relevance"], strict=True)) for name, rows in log.groupby("annotator")
        }
        assert given == {"ben": ben, "cai": cai}
        campaign.exports.files.write(labels=tmp_path / "labels.csv")
    assert len(formats.read_labels(tmp_path / "labels.csv")) == 2 * PAIRS

    check_agreement(manager, serving, tmp_path / "labels.csv")
    check_adjudication(manager, serving, worst, tmp_path)


def check_agreement(manager: Page, serving: Serving, labels: Path) -> None:
    """The page says what the library says of the exported labels."""
    found = agreement.agreement(formats.read_labels(labels), resamples=0)
    alpha = agreement.select_value(found.values, "alpha-ordinal")["value"]
    assert 0 < alpha < 1
    choose_page(manager, "Agreement")
    expect(manager.get_by_text(f"{alpha:.3f}").first).to_be_visible()


def check_adjudication(manager: Page, serving: Serving, worst: str, scratch: Path) -> None:
    """The widest disagreement comes first; the adjudicator's grade is in the qrels."""
    choose_page(manager, "Adjudicate")
    shown = manager.locator("[data-part=document]:not([hidden]) [data-name=id]")
    expect(shown).to_have_text(worst)
    manager.keyboard.press("m")
    manager.locator("[data-part=note-text]").fill("by 2 of its 3 figures")
    manager.keyboard.press("Enter")
    manager.keyboard.press("2")
    expect(shown).not_to_have_text(worst)
    expect(manager.locator("[data-part=status]")).to_have_text("Saved")
    choose_page(manager, "Export")
    with manager.expect_download() as download:
        manager.get_by_role("button", name="Download qrels.txt", exact=True).click()
    download.value.save_as(scratch / "qrels.txt")
    qrels = formats.read_qrels(scratch / "qrels.txt").set_index("doc_id")["relevance"]
    assert qrels[worst] == 2
    with Campaign(serving.directory) as campaign:
        assert campaign.log.adjudications()["note"].tolist() == ["by 2 of its 3 figures"]
    assert len(qrels) == PAIRS
