"""Scores of answers by machine labels, corrected with people's judgements of a random sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import Campaign, Judgement
from collection.core.errors import CampaignError, InputError, UnknownNameError
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT, TASK_NAMES
from collection.core.records import Document, Topic
from tests.helpers import ok, put

NAMES = ("run0", "gpt-rag", "run2", "run3")
RUNS, TOPICS, NUGGETS = len(NAMES), 3, 4


@pytest.fixture
def labelled(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Campaign]:
    """Four runs, of which one leaves a topic empty, with a label set of each task that is too generous.

    A parameter is the number of documents that have a text, instead of both.
    """
    topics = [str(topic) for topic in range(TOPICS)]
    rows = [(run, topic) for topic in topics for run in NAMES]
    empty = ("run3", "0")
    answers = pd.DataFrame(rows, columns=["run", "query_id"]).assign(team="", stated_words=pd.NA)
    answers["words"] = [0 if row == empty else 9 for row in rows]
    sentences = pd.DataFrame(
        [
            (*row, place, f"Sentence {place} of three.", ("d1", "d2"))
            for row in rows
            if row != empty
            for place in (0, 1, 2)
        ],
        columns=["run", "query_id", "sentence", "text", "citations"],
    )
    with Campaign.create(tmp_path / "campaign") as campaign:
        documents = [Document("d1", "One", "Text."), Document("d2", "Two", "Text.")]
        put(campaign, [Topic(topic, f"topic {topic}") for topic in topics], documents[: getattr(request, "param", 2)])
        campaign.store.answers.add(answers, sentences)
        for topic in topics:
            for number in range(NUGGETS):
                importance = "vital" if number < 3 else "okay"
                campaign.answers.nuggets.add(topic, f"Fact {number}.", annotator="eva", importance=importance)
        for name in TASK_NAMES:
            campaign.answers.tasks.prepare(name)
            with campaign.answers.tasks.open(name) as task:
                pairs = task.store.pool.pairs()[["query_id", "doc_id"]]
                grades = np.random.default_rng(1).choice([1.0, 2.0, 2.0], len(pairs))
                task.machine_labels.sets.label_by_file(pairs.assign(relevance=grades), "gpt", "llm", {"model": "gpt"})
        yield campaign


def judge(task: Campaign, pairs: pd.DataFrame) -> None:
    for query_id, doc_id in pairs[["query_id", "doc_id"]].itertuples(index=False):
        grade = sum(map(ord, query_id + doc_id)) % 3
        task.judging.write(Judgement(f"{query_id} {doc_id}", "ann", query_id, doc_id, "graded", grade))


@pytest.mark.parametrize(
    ("task", "measure"), [(NUGGET_ASSIGNMENT, "nugget_vital"), (SUPPORT, "support_precision(citations='micro')")]
)
@pytest.mark.long
def test_people_judge_a_sample_that_corrects_the_scores(labelled: Campaign, task: str, measure: str) -> None:
    samples = labelled.answer_samples
    with pytest.raises(InputError, match="cleverdon answers ask"):
        samples.correct("gpt", measure)
    progress = samples.ask("gpt", 30, measure)
    assert (progress.asked, progress.judged, progress.before) == (30, 0, 0)
    with labelled.answers.tasks.open(task) as inner:
        sample = inner.store.machine_labels.sample(inner.machine_labels.sets.named("gpt").key)
        handed_out = inner.judging.next_pairs("ann", sample["query_id"].iloc[0], count=50).documents
        wanted = set(sample["doc_id"][:30][sample["query_id"][:30] == sample["query_id"].iloc[0]])
        assert {document.doc_id for document in handed_out} == wanted
        judge(inner, sample[:30])
    corrected = samples.correct("gpt", measure)
    assert (corrected.sampled, corrected.before, corrected.pairs) == (30, 0, progress.pairs)
    by_labels = labelled.answers.evaluate(measure, label_set="gpt").means()[measure]
    values = corrected.values.set_index("run")
    assert np.abs(values["labels"] - by_labels).max() < 1e-12
    assert values["corrected"].mean() < values["labels"].mean()
    with labelled.answers.tasks.open(task) as inner:
        judge(inner, sample[30:])
    exact = samples.correct("gpt", measure).values.set_index("run")
    by_people = labelled.answers.evaluate(measure).means()[measure]
    assert np.abs(exact["corrected"] - by_people).max() < 1e-12
    assert (exact["high"] - exact["low"]).max() < 1e-9
    assert ((values["low"] <= by_people) & (by_people <= values["high"])).sum() >= RUNS - 1


def test_commands_ask_and_correct(labelled: Campaign) -> None:
    folder = labelled.directory
    assert "only a random sample of 30 of 44 pairs; 0 judged" in ok("answers", "ask", folder, "gpt", "--pairs", 30)
    with labelled.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        judge(task, task.store.machine_labels.sample(task.machine_labels.sets.named("gpt").key)[:40])
    found = json.loads(ok("answers", "correct", folder, "gpt", "--format", "json"))
    assert found["sampled"] == 40
    assert found["values"] == labelled.answer_samples.correct("gpt").values.to_dict("records")
    values = {row["run"]: row["labels"] - row["corrected"] for row in found["values"]}
    (family,) = found["families"]  # of the system whose name has the family of the model
    others = sum(gain for run, gain in values.items() if run != "gpt-rag") / (RUNS - 1)
    assert (family["family"], family["runs"]) == ("gpt", 1)
    assert family["gain"] == pytest.approx(values["gpt-rag"] - others)
    assert "Gain of the runs of each family of models" in ok("answers", "correct", folder, "gpt")
    assert "whole pool again" in ok("answers", "ask", folder, "gpt", "--whole-pool")


def test_what_cannot_be_corrected_is_said_at_once(labelled: Campaign) -> None:
    samples = labelled.answer_samples
    with pytest.raises(UnknownNameError, match="label set of nugget-assignment"):
        samples.ask("gtp", 30)
    with pytest.raises(InputError, match="the best of several citations is not a weighted sum"):
        samples.ask("gpt", 30, "support_recall(citations='max')")
    with pytest.raises(InputError, match="nothing to correct"):
        samples.correct("gpt", "words")
    samples.ask("gpt", 30)
    labelled.answers.nuggets.add("0", "New.", annotator="eva", importance="vital")
    with pytest.raises(CampaignError, match="reads in the task, found 3 that it lacks"):
        samples.correct("gpt")
    labelled.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with pytest.raises(CampaignError, match="had other pairs when the sample was drawn"):
        samples.correct("gpt")


@pytest.mark.parametrize("labelled", [1], indirect=True)
def test_citations_that_the_task_lacks_or_whose_text_is_missing(labelled: Campaign) -> None:
    samples, tasks = labelled.answer_samples, labelled.answers.tasks
    measure = "support_precision(citations='all')"
    tasks.prepare(SUPPORT, citations="first")
    with pytest.raises(CampaignError, match="found 33 that it lacks"):
        samples.ask("gpt", 30, measure)
    tasks.prepare(SUPPORT, citations="all")
    progress = samples.ask("gpt", 66, measure)
    assert (progress.asked, progress.before, progress.pairs) == (33, 0, 66)  # nobody can judge d2
    with tasks.open(SUPPORT) as task:
        sample = task.store.machine_labels.sample(task.machine_labels.sets.named("gpt").key)
        judge(task, sample[sample["priority"].notna()])
    corrected = samples.correct("gpt", measure)
    assert (corrected.sampled, corrected.before, corrected.pairs) == (33, 0, 66)
