"""The pages Stopping and Report of a literature review, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from collection.core.records import Document
from collection.core.review import REASON, Review
from tests.helpers import Opened, words


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Campaign]:
    """Two screeners agree on r0 to r2, differ on r3, and leave r4."""
    with Campaign.create(tmp_path / "review", review=Review("Falls", screeners=2, full_text=False)) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(5)])
        for name, grades in (("ann", (2, 0, 0, 2)), ("bob", (2, 0, 0, 0))):
            for place, grade in enumerate(grades):
                campaign.judging.judge(name, "review", f"r{place}", grade, answers={} if grade else {REASON: "Other"})
        yield campaign


def said(app: AppTest) -> str:
    return words(app) + " ".join(each.value for each in app.code)


def test_stopping_says_what_is_known_and_ends_screening(opened: Opened, review: Campaign) -> None:
    app = opened(review, "stopping")
    text = said(app)
    assert "Keep screening" in text
    assert "4 of 5 records" in text
    assert "may be relevant" in text
    assert "will stop when" in text
    assert "We identified 5 records" in text
    app.button(key="end").click().run()
    assert review.settings.modes()["review"] == "closed"
    assert review.review.report.prisma().not_screened == 1
    assert "Screening has ended" in said(app)
    app.button(key="resume").click().run()
    assert review.settings.modes()["review"] == "loop"


def test_the_report_has_diagram_references_agreement_and_methods(opened: Opened, review: Campaign) -> None:
    app = opened(review, "report")
    text = said(app)
    assert "Not finished: 2 records without a final decision" in text
    assert "1 record, with all fields of the source" in text
    assert "We identified 5 records" in text
    app.pills(key="decisions").set_value(["include", "exclude", "conflict"]).run()
    assert "4 records, with all fields" in said(app)
    app.number_input(key="studies").set_value(1).run()
    assert not app.exception


def test_an_update_starts_with_one_of_the_later_files(opened: Opened, review: Campaign, tmp_path: Path) -> None:
    for name, number in (("first", 1), ("update", 2)):
        file = tmp_path / f"{name}.ris"
        file.write_text(f"TY  - JOUR\nTI  - Balance training {number}\nDO  - 10.5555/r.{number}\nER  - \n")
        review.imports.import_files(documents=[file])
    app = opened(review, "report")
    update = app.selectbox(key="since")
    assert [name.split(" (")[0] for name in update.options] == ["update.ris"]
    assert update.value is None
    update.select_index(0).run()
    assert not app.error
    assert not app.exception


@pytest.mark.parametrize(
    ("page", "says"), [("stopping", "No record has been screened yet"), ("report", "There are no records yet.")]
)
def test_pages_without_decisions_or_records(opened: Opened, tmp_path: Path, page: str, says: str) -> None:
    with Campaign.create(tmp_path / "empty", review=Review("Falls")) as campaign:
        text = said(opened(campaign, page))
        assert says in text
        assert ("will stop when" in text) == (page == "stopping")
