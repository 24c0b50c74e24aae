"""The page Machine labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import streamlit as st

from collection import Campaign
from collection.campaign.machine_labels.label_study import LabelStudy
from collection.campaign.machine_labels.llm.label_sets import LlmLabelSets
from collection.core.errors import InputError
from tests.annotate.views.results.test_compare_page import words
from tests.collection.campaign.machine_labels.test_label_study import judge, make
from tests.helpers import Opened

pytestmark = pytest.mark.slow


@pytest.mark.long
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
    app.number_input(key="budget_hours").set_value(0.5)
    app.button(key="FormSubmitter:budget-Compare").click().run()
    assert "Best for differences between runs: gpt." in words(app)
    app.number_input(key="budget_hours").set_value(0)
    app.button(key="FormSubmitter:budget-Compare").click().run()
    assert "Expected a number of hours, or an amount of money with a wage, found neither" in words(app)
    assert metrics.keys() == {each.label for each in app.metric}
    for key, entered in {"money": 10, "wage": 20, "price": 0.01}.items():
        app.number_input(key=f"budget_{key}").set_value(entered)
    app.button(key="FormSubmitter:budget-Compare").click().run()
    budget = next(each.value for each in app.dataframe if "money" in each.value)
    assert budget["money"].tolist() == [10, 10]
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
    assert "120 labelled pairs." in words(app)
    assert summary.call_count == 1


def test_without_labels_the_page_says_how_to_make_them(opened: Opened, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "campaign") as campaign:
        app = opened(campaign, "machine-labels")
    assert "no machine labels" in words(app)


def test_imported_labels_without_a_pool(opened: Opened, tmp_path: Path) -> None:
    """Imported labels have no replies and no failed requests, and errors are sentences."""
    with Campaign(make(tmp_path)) as campaign:
        labels = campaign.machine_labels.sets.labels("gpt")
        campaign.machine_labels.sets.label_by_file(labels, "a_b", "llm", {"model": "gpt-4"})
        campaign.machine_labels.sets.delete("gpt")
        with mock.patch.object(
            LabelStudy, "plan", autospec=True, side_effect=InputError("expected a pool, found none")
        ):
            app = opened(campaign, "machine-labels")
        assert f"{len(labels):,} labelled pairs\\." in [each.value for each in app.caption]
        assert "Expected a pool, found none\\." in [each.value for each in app.info]
        assert not app.error
        for page, key in (("loop", "labels"), ("judging-page", "show_labels")):
            assert opened(campaign, page).selectbox(key=key).options == ["None", "a_b"]


@pytest.mark.long
def test_all_label_sets_and_votes(opened: Opened, tmp_path: Path) -> None:
    with Campaign(make(tmp_path)) as campaign:
        labels = campaign.machine_labels.sets.labels("gpt")
        campaign.machine_labels.sets.label_by_file(labels.assign(relevance=1), "flat", "llm", {"model": "flat"})
        app = opened(campaign, "machine-labels", state={"label_view": "All label sets"})
    assert "Against each other" in [each.value for each in app.subheader]
    assert "Cohen's kappa, by the pairs that both labelled." in words(app)
    app.selectbox(key="statistic").set_value("bias").run()
    assert "Rows minus columns." in words(app)
    app.segmented_control(key="label_view").set_value("Manage").run()
    assert [each.value for each in app.subheader] == ["Import label sets", "Votes", "Rename, export or delete"]
    next(each for each in app.button if each.label == "Create label set").click().run()
    assert "120 pairs were labelled in the label set 'majority'." in said(app.success)
    app.selectbox(key="managed_set").set_value("flat").run()
    app.text_input(key="new-name-flat").set_value("level")
    next(each for each in app.button if each.label == "Rename").click().run()
    app.selectbox(key="managed_set").set_value("level").run()
    app.checkbox(key="sure-level").check().run()
    app.button(key="delete-set").click().run()
    with Campaign(tmp_path / "campaign") as campaign:
        assert [each.name for each in campaign.machine_labels.sets.summaries()] == ["gpt", "majority"]


def test_files_of_a_set_whose_name_is_a_path(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(st, "download_button", lambda _, data, name, **__: contents.update({name: data}))
    with Campaign(make(tmp_path)) as campaign:
        campaign.machine_labels.sets.rename("gpt", "meta-llama/L3")
        opened(campaign, "machine-labels", state={"label_view": "Manage"})
        files = {name: content() for name, content in contents.items()}
    assert list(files) == [f"labels-meta_llama_L3.{ending}" for ending in ("qrels", "csv", "jsonl")]
    assert all(files.values())


def said(boxes: Iterable[Any]) -> str:
    """The texts of boxes, without the escapes of Markdown."""
    return " ".join(each.value for each in boxes).replace("\\", "")


def test_label_sets_are_imported_on_the_page(opened: Opened, tmp_path: Path) -> None:
    with Campaign(make(tmp_path)) as campaign:
        pairs = campaign.store.pool.pairs()[["query_id", "doc_id"]].head(4)
        app = opened(campaign, "machine-labels", state={"label_view": "Manage"})
    csv = pairs.assign(one=[0, 1, 2, 3], two=[3, 3, 3, 3]).to_csv(index=False).encode()
    app.file_uploader(key="label_files").set_value([("judges.csv", csv, "text/csv")])
    grades = next(each for each in app.text_input if each.label == "Grades to replace")
    grades.set_value("3=2")
    next(each for each in app.button if each.label == "Import").click().run()
    assert "4 machine labels in the label set 'one' (4 new)" in said(app.success)
    with Campaign(tmp_path / "campaign") as campaign:
        assert campaign.machine_labels.sets.labels("one")["relevance"].tolist() == [0, 1, 2, 2]
    app.file_uploader(key="label_files").set_value([("judges.csv", b"nothing", "text/csv")])
    next(each for each in app.button if each.label == "Import").click().run()
    assert "Nothing was imported" in app.error[0].value
