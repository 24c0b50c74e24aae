"""Generated answers on the pages Compare and Reusability, and the same numbers on the command line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from collection import Campaign, export
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT, TASK_NAMES
from collection.core.records import Judgement
from tests.helpers import Opened, ok, words


@pytest.fixture
def judged(answered: Campaign) -> Campaign:
    """A campaign whose tasks one person has judged completely, and a model in nugget assignment."""
    for name in TASK_NAMES:
        answered.answers.tasks.prepare(name)
        with answered.answers.tasks.open(name) as task:
            pairs = task.store.pool.pairs()
            runs = answered.store.answers.answers().set_index(["query_id", "number"])["run"]
            for number, (query_id, doc_id) in enumerate(zip(pairs["query_id"], pairs["doc_id"], strict=True)):
                topic, answer = query_id.split(".a")
                grade = 2 if runs[topic, int(answer.split(".")[0])] == "dense-rag" else number % 2
                task.judging.write(Judgement(f"{name}{number}", "ann", query_id, doc_id, "graded", grade))
            if name == NUGGET_ASSIGNMENT:
                labels = pairs[["query_id", "doc_id"]].assign(relevance=1.0)
                task.machine_labels.sets.label_by_file(labels, "gpt-4o", "llm", {"model": "gpt-4o"})
    return answered


@pytest.mark.long
def test_compare_shows_the_systems_by_their_answers(judged: Campaign, opened: Opened) -> None:
    app = opened(judged, "compare")
    assert [*app.exception, *app.error] == []
    said = words(app)
    assert "dense-rag has the highest strict vital nugget score (1.000 over 2 topics)" in said
    assert "documents are" not in said
    table = app.dataframe[0].value
    expected = judged.answers.evaluate().means()
    assert table.loc["dense-rag", "nugget_vital"] == expected.loc["dense-rag", "nugget_vital"]
    for view in ("Topics", "Tests"):
        app.button_group(key="answer-look").set_value(view).run()
        assert [*app.exception, *app.error] == []
    assert "There are no 95% confidence intervals: 2 topics are too few for them." in words(app)
    assert "inf" not in {*re.findall(r"\w+", words(app))}
    assert not {"low", "high"} & {*app.dataframe[0].value}
    app.selectbox(key="answer-labels").set_value("gpt-4o").run()
    assert [*app.exception, *app.error] == []
    assert "machine labels gpt-4o" in words(app)


@pytest.mark.long
def test_compare_shows_the_rubric_score_of_weighted_nuggets(judged: Campaign, opened: Opened) -> None:
    for query_id in ("1", "2"):
        for nugget, weight in (("1", 4.0), ("2", -1.0)):
            judged.answers.nuggets.change(query_id, nugget, annotator="eva", weight=weight)
    app = opened(judged, "compare")
    app.multiselect(key="answer-measures-").set_value(["rubric", "nugget_vital"]).run()
    assert [*app.exception, *app.error] == []
    assert app.selectbox(key="answer-measure").value == "rubric"
    assert "has the highest rubric score" in words(app)
    table = app.dataframe[0].value
    # dense-rag supports both nuggets in both topics: (4 * 1 - 1 * 1) / 4.
    assert (
        table.loc["dense-rag", "rubric"] == judged.answers.evaluate("rubric").means().loc["dense-rag", "rubric"] == 0.75
    )
    left = judged.answers.leave_out("rubric", groups=None).set_index("run")
    assert left.loc["dense-rag", "before"] == 0.75


def test_compare_of_answers_that_nobody_judged_leads_on(answered: Campaign, opened: Opened) -> None:
    said = words(opened(answered, "compare"))
    assert "Nobody has judged the generated answers yet." in said
    assert "choose Nugget assignment or Support above the menu" in said


def test_commands_have_the_numbers_of_the_page(judged: Campaign) -> None:
    compared = json.loads(ok("answers", "compare", judged.directory, "-m", "nugget_vital", "--format", "json"))
    values = {row["system"]: row["value"] for row in compared["leaderboard"]}
    means = judged.answers.evaluate("nugget_vital").means()["nugget_vital"]
    assert values == means.to_dict()
    left = json.loads(ok("answers", "reusability", judged.directory, "--group", "none", "--format", "json"))
    assert {row["run"]: row["before"] for row in left} == means.to_dict()
    assert all(row["after"] <= row["before"] for row in left)


def test_reusability_leaves_out_systems_that_have_answers(judged: Campaign, opened: Opened) -> None:
    app = opened(judged, "reusability")
    assert [*app.exception, *app.error] == []
    assert "rank if the nuggets that only one group contributed are left out" in words(app)
    assert sorted(app.dataframe[0].value["run"]) == ["bm25-rag", "dense-rag", "silent"]
    app.toggle(key="answer-alone").set_value(True).run()
    assert [*app.exception, *app.error] == []


def test_reusability_by_machine_labels_alone(answered: Campaign, opened: Opened) -> None:
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    assert "Nobody has judged the generated answers yet." in words(opened(answered, "reusability"))
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        labels = task.store.pool.pairs()[["query_id", "doc_id"]].assign(relevance=1.0)
        task.machine_labels.sets.label_by_file(labels, "gpt-4o", "llm", {"model": "gpt-4o"})
    app = opened(answered, "reusability")
    assert [*app.exception, *app.error] == []
    expected = answered.answers.leave_out(label_set="gpt-4o").set_index("run")["before"].to_dict()
    assert app.dataframe[0].value.set_index("run")["before"].to_dict() == expected


def test_agreement_of_a_task_has_kappa_and_alpha(judged: Campaign, opened: Opened) -> None:
    with judged.answers.tasks.open(SUPPORT) as task:
        pairs = task.store.pool.pairs()
        for number, (query_id, doc_id) in enumerate(zip(pairs["query_id"], pairs["doc_id"], strict=True)):
            task.judging.write(Judgement(f"b{number}", "bob", query_id, doc_id, "graded", number % 3))
    app = opened(judged, "agreement", query={"task": SUPPORT})
    app.button_group(key="look").set_value("Coefficients").run()
    said = words(app) + str([frame.value.to_dict() for frame in app.dataframe])
    assert "Krippendorff" in said
    assert "Cohen's kappa" in said
    app.button_group(key="look").set_value("Topics").run()
    assert [*app.exception, *app.error] == []
    table = app.dataframe[0].value
    assert dict(zip(table["query_id"], table["title"], strict=True)) == {"1": "wing lift", "2": "heat flow"}


def test_export_begins_with_the_collection_where_answers_alone_were_judged(judged: Campaign, opened: Opened) -> None:
    app = opened(judged, "export")
    assert [*app.exception, *app.error] == []
    assert app.tabs[0].label == "Collection"
    assert "The collection has 6 generated answers, 4 nuggets and 20 judged pairs." in words(app)


@pytest.mark.long
def test_export_offers_the_collection_of_answers_without_qrels(judged: Campaign, opened: Opened) -> None:
    app = opened(judged, "export", state={"section": "Collection"})
    assert [*app.exception, *app.error] == []
    assert "**1 document, about" in words(app)  # "0 topics" would be those with qrels
    app.toggle(key="card").set_value(True).run()
    assert [*app.exception, *app.error] == []
    assert "## Generated answers" in export.card(judged.exports.collection.facts())


@pytest.mark.long
def test_import_reads_a_packed_collection_of_answers(judged: Campaign, opened: Opened, tmp_path: Path) -> None:
    judged.exports.collection.write(tmp_path / "published")
    shutil.make_archive(str(tmp_path / "published"), "zip", tmp_path, "published")
    with Campaign.create(tmp_path / "copy") as copy:
        app = opened(copy, "import")
        packed = ("published.zip", (tmp_path / "published.zip").read_bytes(), "application/zip")
        app.file_uploader(key="collection").set_value(packed)
        next(button for button in app.button if button.label == "Import").click().run()
        assert [*app.exception, *app.error] == []
        assert copy.answers.tasks.progress() == judged.answers.tasks.progress()
        assert len(copy.store.answers.answers()) == 6
