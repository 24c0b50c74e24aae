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


@pytest.mark.long
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


@pytest.mark.long
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
    assert "This is an update of a review" in said(app)
    again = opened(review, "report")
    assert again.selectbox(key="since").value == review.records.sources()["imported_at"].iloc[-1]
    again.selectbox(key="since").set_value(None).run()
    assert review.review.report.update_since() is None
    assert "We identified 7 records" in said(again)
    app.run()  # shows what was chosen elsewhere, and does not undo it
    assert app.selectbox(key="since").value is None
    reader = opened(review, "report", "cat", "reader")
    reader.selectbox(key="since").select_index(0).run()
    assert "This is an update of a review" in said(reader)
    assert review.review.report.update_since() is None


def test_charts_of_agreement_have_the_words_of_reviews(opened: Opened, review: Campaign) -> None:
    (chart,) = opened(review, "agreement").get("vega_lite_chart")
    assert '"title": "Records"' in chart.proto.spec
    assert '"Pairs"' not in chart.proto.spec


@pytest.mark.long
def test_records_included_before_the_last_stage_name_their_stage(opened: Opened, review: Campaign) -> None:
    assert "Include (1)" in opened(review, "report").pills(key="decisions").options
    review.review.update(full_text=True)
    assert "Include (1 by title and abstract)" in opened(review, "report").pills(key="decisions").options


def test_stopping_counts_records_with_all_decisions_as_screened(opened: Opened, review: Campaign) -> None:
    review.judging.judge("ann", "review", "r4", 0)
    app = opened(review, "stopping")
    assert {each.label: each.value for each in app.metric} | {"Screened": "4 of 5", "Second decision missing": "1"} == {
        each.label: each.value for each in app.metric
    }
    assert "All records have a decision." in said(app)
    assert "1 record lacks the second decision and 1 conflict is unresolved" in said(app)


def test_records_with_conflicts_count_as_screened_everywhere(opened: Opened, review: Campaign) -> None:
    for name in ("ann", "bob"):
        review.judging.judge(name, "review", "r4", 0)
    assert review.review.report.prisma().screened == review.review.report.stopping().screened == 5
    assert "5 of 5 records (100%) were screened" in review.review.report.methods_text()
    text = said(opened(review, "stopping"))
    assert "All records are screened. 1 conflict to resolve." in text
    assert "is not reached yet" not in text
    review.judging.judge("eve", "review", "r3", 0, adjudicate=True)
    resolved = said(opened(review, "stopping"))
    assert "disagree" not in resolved
    for word in ("campaign", "topic", "pool", "draw "):
        assert word not in resolved.lower()


def test_recall_says_that_it_counts_first_decisions(opened: Opened, review: Campaign) -> None:
    said = "A record counts as screened from its first decision on."
    assert said in words(opened(review, "recall"))
    review.review.update(screeners=1)
    assert said not in words(opened(review, "recall"))


def test_my_decisions_are_found_by_author(opened: Opened, review: Campaign) -> None:
    record = Document("r1", "Record 1", "Text.", {"authors": ["Petrov, A"]})
    review.store.corpus.add_documents([record], replace=True)
    app = opened(review, "my-judgements", "ann", "annotator")
    app.text_input[0].set_value("petrov").run()
    assert "1 of 4 decisions" in words(app)


def test_agreement_shows_one_stage_at_a_time(opened: Opened, review: Campaign) -> None:
    review.review.update(full_text=True)
    for name in ("ann", "bob"):
        review.judging.judge(name, "full-text", "r0", 2)
    app = opened(review, "agreement")
    metrics = {each.label: each.value for each in app.metric}
    assert metrics["Records with 2+ decisions"].startswith("4")
    assert float(metrics["Kappa, exclude or not"]) == round(review.review.report.kappa()["title and abstract"][1], 3)
    app.segmented_control(key="stage").set_value("full-text").run()
    assert {each.label: each.value for each in app.metric}["Records with 2+ decisions"].startswith("1")


@pytest.mark.parametrize(
    ("page", "says"), [("stopping", "No record has been screened yet"), ("report", "There are no records yet.")]
)
def test_pages_without_decisions_or_records(opened: Opened, tmp_path: Path, page: str, says: str) -> None:
    with Campaign.create(tmp_path / "empty", review=Review("Falls")) as campaign:
        text = said(opened(campaign, page))
        assert says in text
        assert ("will stop when" in text) == (page == "stopping")
