"""The Compare page with estimated grades of unjudged documents: every number is named an estimate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from tests.annotate.views.results.test_compare_page import HOSTILE, SYSTEMS, TOPICS, by_label, numbers, words, write
from tests.helpers import Opened

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def partly_judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight topics with six pooled documents, of which f is not judged."""
    folder = tmp_path_factory.mktemp("estimated")
    files = write(folder / "files", SYSTEMS, {q: f"topic {q}" for q in TOPICS})
    with Campaign.create(folder / "campaign") as campaign:
        campaign.imports.import_files(**files)
        campaign.people.pools.add("depth", depth=6)
    return folder / "campaign"


def expected(opened: Opened, campaign: Campaign) -> AppTest:
    app = opened(campaign, "compare")
    by_label(app, "Unjudged documents").set_value("expected").run()
    return app


def test_estimates_replace_values_and_tests(opened: Opened, partly_judged: Path) -> None:
    with Campaign(partly_judged) as campaign:
        app = expected(opened, campaign)
        known = campaign.results.evaluation.estimate("nDCG@10")
    said = words(app)
    assert "Estimates for 8 topics: 40 of 48 pairs of the pool are judged; the grades of the other 8 are drawn" in said
    assert "they concern the unjudged grades, not the choice of topics" in said
    assert numbers(app) == {
        "Systems": "4", "Topics": "8 of 8", "Judged pairs": "40", "Pairs with estimated grades": "8",
    }  # fmt: skip
    assert "Judged@10 is left out: it describes the judgements" in said
    shown = app.dataframe[0].value
    assert all(str(column).endswith(" (estimate)") for column in shown.columns)
    assert list(shown.index) == known.order("nDCG@10")
    assert "significan" not in said.replace("Significance level", "").replace("no significance tests", "").lower()
    assert not [box for box in app.selectbox if box.label in ("Significance test", "Multiple-testing correction")]


@pytest.mark.long
def test_every_view_and_file_carries_the_mark(opened: Opened, partly_judged: Path) -> None:
    with Campaign(partly_judged) as campaign:
        app = expected(opened, campaign)
        app.session_state["estimates-look"] = "Probabilities"
        app.run()
        table = app.dataframe[0].value
        assert {"difference_estimate", "probability_better", "probability_equal"} <= set(table.columns)
        assert set(table["probability_better"].str[-1]) == {"%"}
        assert "Not a significance test" in words(app)
        app.toggle(key="estimated-pairs").set_value(True).run()
        assert len(app.dataframe[0].value) == 6
        app.session_state["estimates-look"] = "Topics"
        app.run()
        assert app.dataframe[0].value.index.name == "nDCG@10 by topic (estimate)"
        files = [button.label for button in app.get("download_button")]
        assert len(files) == 4
        assert all(label.startswith(("Estimates", "Probabilities")) for label in files)


def test_left_out_documents_mark_the_measures(opened: Opened, partly_judged: Path) -> None:
    with Campaign(partly_judged) as campaign:
        app = opened(campaign, "compare")
        by_label(app, "Unjudged documents").set_value("left-out").run()
        assert "AP(judged_only=True)" in app.dataframe[0].value.columns
        known = campaign.results.evaluation.evaluate("AP(judged_only=True)").means().iloc[:, 0]
        assert app.dataframe[0].value.loc["good", "AP(judged_only=True)"] == pytest.approx(known["good"])


@pytest.mark.long
def test_names_of_systems_and_titles_are_no_markup(opened: Opened, tmp_path: Path) -> None:
    folder, names = tmp_path / "files", {"x": "_one_", "y": "<b>two</b>"}
    files = write(folder, dict(zip(names, SYSTEMS.values(), strict=False)), dict.fromkeys(TOPICS, HOSTILE))
    for short, name in names.items():
        run = folder / f"{short}.run"
        run.write_text(re.sub(rf" {short}\n", f" {name}\n", run.read_text()))
    with Campaign.create(tmp_path / "hostile") as campaign:
        campaign.imports.import_files(**files)
        campaign.people.pools.add("depth", depth=6)
        app = expected(opened, campaign)
        for at in ("Leaderboard", "Probabilities", "Topics"):
            app.session_state["estimates-look"] = at
            app.run()
            kinds = (app.markdown, app.caption, app.title, app.subheader, app.info)
            live = [re.sub(r"\\.", "", m.value) for kind in kinds for m in kind]
            assert not [m for m in live if "_one_" in m or "<b>" in m or "<img" in m or "**bold**" in m or ":red" in m]


def test_a_pool_that_is_too_large_is_refused_on_the_page(
    opened: Opened, partly_judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.estimation.GIGABYTES", 1e-6)
    with Campaign(partly_judged) as campaign:
        app = opened(campaign, "compare")
        by_label(app, "Significance level").set_value(0.01).run()  # no result of another test is cached
        by_label(app, "Unjudged documents").set_value("expected").run()
        assert any("use fewer topics, or a smaller pool" in error.value for error in app.error)
        assert not app.dataframe
