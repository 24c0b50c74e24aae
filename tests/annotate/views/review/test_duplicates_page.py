"""The page of duplicates of a literature review, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from collection.core.review import Review
from tests.helpers import Opened, words

RIS = """\
TY  - JOUR
TI  - Balance training and falls in older people
AU  - Berg, Tor
PY  - 2019
DO  - 10.1000/fall.1
ER  -

TY  - JOUR
TI  - Balance training and falls in older people
AU  - Alm, Ann
PY  - 2019
AB  - *Older* people <b>trained</b>.
ER  -

TY  - JOUR
TI  - Balance training, and falls in older people!
AU  - Berg T
PY  - 2019
DO  - 10.1000/FALL.1
ER  -
"""


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Campaign]:
    (tmp_path / "a.ris").write_text(RIS)
    with Campaign.create(tmp_path / "review", review=Review("Falls")) as campaign:
        campaign.imports.import_files(documents=[tmp_path / "a.ris"])
        yield campaign


def said(app: AppTest) -> str:
    assert not app.error, app.error
    return words(app)


def test_a_pair_is_shown_side_by_side_and_decided(opened: Opened, review: Campaign) -> None:
    app = opened(review, "duplicates")
    assert "3 records from 1 file: 1 duplicate was removed" in said(app)
    assert "1 pair to decide" in said(app)
    assert "Session keys" not in said(app)
    assert ":orange-badge[differs]" in said(app)
    assert "**Authors** (record 2) :orange-badge[differs]" in said(app)
    assert {"same", "different", "later"} <= {each.key for each in app.button}
    app.button(key="later").click().run()
    app.button(key="same").click().run()
    assert review.records.counts().decided == 1
    assert "No pairs to decide" in said(app)
    app.segmented_control(key="duplicates-list").set_value(1).run()
    (undo,) = [each for each in app.button if each.label == "Undo"]
    undo.click().run()
    assert review.records.counts().decided == 0
    app.segmented_control(key="duplicates-list").set_value(0).run()
    app.button(key="different").click().run()
    assert review.records.pairs().empty
    assert review.records.counts().documents == 2


def test_a_recognised_duplicate_is_separated(opened: Opened, review: Campaign) -> None:
    app = opened(review, "duplicates")
    app.segmented_control(key="duplicates-list").set_value(2).run()
    assert "a.ris, DOI" in " ".join(each.label for each in app.expander).replace("\\", "")
    (separate,) = [each for each in app.button if each.label == "Separate"]
    separate.click().run()
    assert review.records.counts().documents == 3
    assert "No record was recognised as a certain duplicate" in said(app)


def test_two_screened_records_are_not_merged(opened: Opened, review: Campaign) -> None:
    for doc_id in review.records.table()["doc_id"].unique():
        review.judging.judge("ann", "review", doc_id, 1)
    app = opened(review, "duplicates")
    app.button(key="same").click().run()
    assert "have been screened, so neither can be removed" in app.error[0].value
    assert review.records.counts().documents == 2


def test_a_review_without_files(opened: Opened, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "empty", review=Review("Falls")) as campaign:
        assert "Duplicates are found when files with records are imported" in said(opened(campaign, "duplicates"))
