"""The page *Full texts*, without a browser."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from annotate.auth.page_access import find_page
from collection import Campaign
from collection.core.records import Document
from collection.core.review import Review
from tests.helpers import Opened, words
from tests.pdf_files import write_pdf

pytestmark = pytest.mark.slow


@pytest.fixture
def review(tmp_path: Path):
    with Campaign.create(tmp_path / "review", review=Review("Exercise and falls", "Does it help?")) as campaign:
        campaign.store.corpus.add_documents(
            [
                Document(f"r{n}", f"Record {n}", "Text.", {"authors": ["Ek, P.", "García-López, K."], "year": 2000 + n})
                for n in range(3)
            ]
        )
        yield campaign


def test_without_included_records_the_page_says_what_is_next(opened: Opened, review: Campaign) -> None:
    app = opened(review, "full-texts")
    assert not app.exception
    assert "No record was included by title and abstract yet." in words(app)
    review.review.update(full_text=False)
    assert "has no full-text stage" in words(opened(review, "full-texts"))


def test_records_come_to_the_page_and_files_are_assigned(opened: Opened, review: Campaign) -> None:
    review.judging.judge("ann", "review", "r0", 2)
    review.judging.judge("ann", "review", "r1", 1)
    pdf = write_pdf(["text"])
    app = opened(review, "full-texts", state={"full-texts-unmatched": {"scan.pdf": pdf, "other.pdf": pdf}})
    assert not app.exception
    assert "2 records reached this stage: 0 with a PDF, 2 without, 0 not retrieved." in words(app)
    assert "included or kept as maybe by title and abstract" in words(app)
    assert "More may follow: 1 title and abstract to screen." in words(app)
    assert "2 PDF files to assign" in words(app)
    assert app.selectbox[0].options[2] == "Ek, P., García-López, K. 2001: Record 1"
    assert {each.label: each.disabled for each in app.button if each.label[:4] in ("Mark", "Undo")} == {
        "Mark as not retrieved": True, "Undo the mark": True,
    }  # fmt: skip
    app.selectbox[0].select("r1").run()
    next(each for each in app.button if each.key == "assign-0").click().run()
    assert review.review.full_texts.table()["pages"].tolist() == [0, 1]
    next(each for each in app.button if each.key == "discard-0").click().run()
    assert "to assign" not in words(app)
    assert app.success[0].value == "1 PDF file attached."
    assert "scan.pdf: attached to “Record 1” (assigned here)." in words(app)
    assert not app.run().success
    assert [None if pd.isna(pages) else pages for pages in app.dataframe[0].value["shown_pages"]] == [None, 1]
    assert review.store.pool.ids()["doc_id"].tolist() == ["r0", "r1"]


def test_with_two_screeners_the_page_says_what_holds_records_back(opened: Opened, review: Campaign) -> None:
    review.review.update(screeners=2)
    for name, grades in {"ann": (2, 2, 2), "bob": (2, 0)}.items():
        for n, grade in enumerate(grades):
            review.judging.judge(name, "review", f"r{n}", grade)
    said = words(opened(review, "full-texts"))
    assert "1 record reached this stage" in said
    assert "More may follow: 1 title and abstract to screen and 1 conflict to resolve." in said


def test_only_managers_of_reviews_have_the_page(opened: Opened, review: Campaign, campaign: Campaign) -> None:
    page = find_page("full-texts")
    assert (page.roles, page.in_review, page.has_uploader) == (("manager",), "only", True)
    assert "This campaign is not a literature review." in words(opened(campaign, "full-texts"))
