"""The page Machine labels."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from collection import Campaign
from collection.campaign.machine_labels.llm.label_sets import LlmLabelSets
from tests.annotate.views.results.test_compare_page import words
from tests.collection.campaign.machine_labels.test_label_study import judge, make
from tests.helpers import Opened

pytestmark = pytest.mark.slow


def test_from_labels_to_corrected_values(opened: Opened, tmp_path: Path) -> None:
    directory = make(tmp_path)
    with Campaign(directory) as campaign:
        app = opened(campaign, "machine-labels")
    said = words(app)
    assert "(gpt-x-rerank): its labels may favour it." in said
    assert "Expected pairs with a label and a grade by people, found none" in said
    app.number_input(key="ask_number").set_value(60)
    app.button[0].click().run()
    with Campaign(directory) as campaign:
        assert campaign.machine_labels.study.progress("gpt").asked == 60
        judge(campaign, tmp_path)
        app = opened(campaign, "machine-labels")
    metrics = {each.label: each.value for each in app.metric}
    assert metrics["Pairs with grade and label"] == "60"
    assert metrics["Human judgements"] == "60 of 120"
    test = "two-sided paired t-test of nDCG@10 over 10 topics, at 0.05 with Holm's correction for 3 pairs"
    assert f"Number of pairs of runs, a and b, by the decision of a {test}." in words(app)
    app.selectbox(key="label_measure").set_value("P@10").run()
    for written, said in (("AP", "AP cannot be corrected"), ("nDGC@5", "did you mean")):
        with Campaign(directory) as campaign:
            app = opened(campaign, "machine-labels", state={"label_measure": written})
        assert said in words(app)
    with Campaign(directory) as campaign:
        campaign.settings.set_loop(measure="P@5")
        app = opened(campaign, "machine-labels")
    assert app.selectbox(key="label_measure").value == "P@5"


def test_only_the_chosen_set_is_counted(opened: Opened, tmp_path: Path) -> None:
    counting = mock.patch.object(LlmLabelSets, "summary", autospec=True, side_effect=LlmLabelSets.summary)
    with Campaign(make(tmp_path)) as campaign, counting as summary:
        for name in ("other", "third"):
            campaign.machine_labels.sets.create(name, "llm", {"model": name})
        app = opened(campaign, "machine-labels")
    assert "Labels by a language model (gpt-x)" in words(app)
    assert "120 graded, 0 replies without a grade" in words(app)
    assert summary.call_count == 1


def test_without_labels_the_page_says_how_to_make_them(opened: Opened, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "campaign") as campaign:
        app = opened(campaign, "machine-labels")
    assert "no machine labels" in words(app)
