"""A label set that leads the loop: what it orders, what the log and exports say of it, and what it never changes."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from collection import Campaign
from collection.active_learning.features import FeatureMatrix
from collection.active_learning.training_round import Space
from collection.campaign.exports.collection_card import CollectionChoices
from collection.campaign.loop.active_learning import ActiveLearning
from collection.campaign.progress.leading_labels import describe_trust
from collection.core.errors import CampaignError, UnknownNameError
from collection.store.machine_labels import LabelRow
from tests.collection.campaign.loop.test_campaign_loop import build, is_wing, judge, judge_next
from tests.helpers import fails, ok

AT = "2026-01-01T00:00:00.000+00:00"
TEXTS = [f"{'wing ' * (n % 3 == 0)}word{n % 7} word{n % 11} about {n}" for n in range(60)]


def relevant(doc_id: str) -> int:
    """Half of the documents with the topic's word, and only these."""
    return 2 * (int(doc_id[1:]) % 6 == 0)


def build_labelled(folder: Path) -> Campaign:
    (folder / "docs.jsonl").write_text(
        "".join(json.dumps({"doc_id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS))
    )
    (folder / "topics.tsv").write_text("1\tthe wing\n2\tword3\n")
    campaign = Campaign.create(folder / "labelled")
    campaign.imports.import_files(documents=[folder / "docs.jsonl"], topics=folder / "topics.tsv")
    campaign.settings.set_loop(mode="loop")
    made = campaign.machine_labels.sets.create("judge", "llm", {"model": "alpha"})
    add_labels(campaign, made.key, {f"d{n}": float(relevant(f"d{n}")) for n in range(60)})
    return campaign


def add_labels(campaign: Campaign, key: int, grades: dict[str, float], topic: str = "1") -> None:
    rows = [LabelRow(topic, doc_id, "graded", grade, AT, "Grade it.", "2", "alpha") for doc_id, grade in grades.items()]
    campaign.store.machine_labels.add(key, rows)


@pytest.fixture
def labelled(copy_of: Callable[..., Campaign]) -> Campaign:
    """60 documents with the labels "judge" of topic 1, which know what is relevant; topic 2 has none."""
    return copy_of(build_labelled)


def documents(loop: ActiveLearning, topic: str = "1", count: int = 12) -> list[str]:
    return [selection.doc_id for selection in loop.next_round(topic, count).selections]


# What they order


@pytest.mark.slow
def test_labels_lead_when_they_are_chosen_and_not_before(labelled: Campaign) -> None:
    before = documents(labelled.loop)
    assert sum(map(relevant, before[:8])) < 16
    labelled.settings.set_loop(labels="judge")
    assert sum(map(relevant, documents(labelled.loop)[:8])) > sum(map(relevant, before[:8]))
    found = [relevant(judge_next(labelled, relevant)) for _ in range(10)]
    assert sum(found) >= 2 * 8  # 8 of the 10 relevant ones, although words cannot tell them from 10 others
    labelled.settings.set_loop(labels="")
    assert labelled.loop.next_round("1").label_trust is None


@pytest.mark.slow
def test_topics_without_labels_are_ordered_as_without_a_label_set(labelled: Campaign) -> None:
    judge(labelled, judge_first(labelled, "2"), 1, "2")
    before, order = documents(labelled.loop, "2"), labelled.loop.describe_order("2")
    labelled.settings.set_loop(labels="judge")
    assert documents(labelled.loop, "2") == before
    assert labelled.loop.describe_order("2") == order  # so a rule across topics reads on
    assert labelled.loop.next_round("2").label_trust is None
    judge(labelled, judge_first(labelled, "2"), 0, "2")
    assert labelled.store.judgements.led_by_labels().empty


def judge_first(campaign: Campaign, topic: str) -> str:
    return str(campaign.judging.next_pairs("ann", topic, 1).documents[0].doc_id)


@pytest.mark.slow
def test_labels_that_come_later_make_a_new_round(labelled: Campaign) -> None:
    labelled.settings.set_loop(labels="judge")
    for _ in range(4):
        judge_next(labelled, relevant)
    old, order = labelled.loop.next_round("1"), labelled.loop.describe_order("1")
    assert labelled.loop.is_current(old)
    (label_set,) = labelled.store.machine_labels.sets()
    add_labels(labelled, label_set.key, {"d3": 1.0}, "2")
    # Labels of another topic can only change the trust, from the next round on.
    assert labelled.loop.is_current(old)
    assert labelled.loop.describe_order("1") != order
    order = labelled.loop.describe_order("1")
    labelled.imports.import_files(documents=[more_documents(labelled)])
    add_labels(labelled, label_set.key, {"d60": 2.0})
    assert not labelled.loop.is_current(old)
    assert labelled.loop.describe_order("1") != order
    assert documents(labelled.loop)[0] in {"d60", *(f"d{n}" for n in range(0, 60, 6))}


@pytest.mark.slow
def test_a_set_leads_as_far_as_it_agrees_in_all_its_topics(labelled: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"word{n}" for n in range(7)]
    (labelled.directory.parent / "more.tsv").write_text("".join(f"{name}\tthe {name}\n" for name in names))
    labelled.imports.import_files(topics=labelled.directory.parent / "more.tsv")
    label_set, random = labelled.machine_labels.sets.create("random", "llm", {}), np.random.default_rng(1)
    for topic in ["1", *names]:
        add_labels(labelled, label_set.key, {f"d{n}": float(random.integers(0, 2)) for n in range(60)}, topic)
    for grade in (2, 0):
        judge(labelled, judge_first(labelled, "1"), grade)
    before = documents(labelled.loop)
    labelled.settings.set_loop(labels="random")
    assert documents(labelled.loop) == before
    assert labelled.loop.next_round("1").label_trust == 0
    labelled.settings.set_loop(labels="judge")
    assert labelled.loop.space("1").agreement > 0.5
    labelled.settings.set_loop(labels="random")
    labelled.loop.next_round("word4")
    # The agreement is measured again where labels are added, and nowhere else.
    texts: list[str] = []
    monkeypatch.setattr(FeatureMatrix, "bm25", record_texts(FeatureMatrix.bm25, texts))
    add_labels(labelled, label_set.key, {"d1": 1.0}, "2")
    add_labels(labelled, label_set.key, {"d2": 0.0}, "2")
    labelled.loop.next_round("word4")
    labelled.loop.next_round("word5")
    assert texts == ["word3"]


def record_texts(function: Callable[..., Any], texts: list[str]) -> Callable[..., Any]:
    """The function, recording the texts of calls for some rows only."""

    def record(self: FeatureMatrix, text: str, *given: Any, **more: Any) -> Any:
        texts.extend([text] if "index" in more else [])
        return function(self, text, *given, **more)

    return record


def more_documents(campaign: Campaign) -> Path:
    path = campaign.directory.parent / "more.jsonl"
    path.write_text(json.dumps({"doc_id": "d60", "text": "wing word1 word2 about 60"}) + "\n")
    return path


@pytest.mark.slow
def test_labels_of_documents_outside_the_pool_are_left_out(labelled: Campaign) -> None:
    labelled.settings.set_loop(mode="loop-in-pool", labels="judge")
    run = labelled.directory.parent / "a.run"
    run.write_text("".join(f"1 Q0 d{n} {n + 1} {60 - n} a\n" for n in range(20)))
    labelled.imports.import_files(runs=[run])
    labelled.people.pools.add("depth", depth=20)
    space = labelled.loop.space("1")
    assert np.flatnonzero(space.label_prior).tolist() == list(range(20))
    assert set(documents(labelled.loop, count=100)) == {f"d{n}" for n in range(20)}


@pytest.mark.slow
def test_a_deleted_label_set_leads_no_longer(labelled: Campaign) -> None:
    judge(labelled, judge_first(labelled, "1"), 2)
    before = documents(labelled.loop)
    labelled.settings.set_loop(labels="judge")
    assert documents(labelled.loop) != before
    (label_set,) = labelled.store.machine_labels.sets()
    labelled.store.machine_labels.delete(label_set.key)
    assert documents(labelled.loop) == before
    assert "no longer exists" in labelled.loop.describe_lead()
    assert labelled.settings.set_loop(explain="nothing").labels == "judge"  # other settings can still be changed


@pytest.mark.slow
def test_a_label_set_that_is_renamed_leads_on_and_is_not_deleted_while_it_leads(labelled: Campaign) -> None:
    labelled.settings.set_loop(labels="judge")
    for _ in range(3):
        judge_next(labelled, relevant)
    order = labelled.loop.describe_order("1")
    labelled.machine_labels.sets.rename("judge", "gpt")
    assert labelled.settings.loop().labels == "gpt"
    assert labelled.loop.describe_order("1") == order  # so a rule across topics reads on
    assert labelled.store.judgements.led_by_labels()["led_by"].tolist() == ["gpt"] * 3
    with pytest.raises(CampaignError, match="cannot be deleted: it leads the loop"):
        labelled.machine_labels.sets.delete("gpt")
    labelled.settings.set_loop(labels="")
    with pytest.raises(CampaignError, match="3 documents were judged in the order that it led, which exports"):
        labelled.machine_labels.sets.delete("gpt")  # the log and the collection card name it
    assert labelled.store.judgements.led_by_labels()["led_by"].unique().tolist() == ["gpt"]
    judge_next(labelled, relevant)
    assert labelled.store.judgements.count_led(labelled.machine_labels.sets.named("gpt").key) == 3


def test_a_label_set_that_led_no_judgement_is_deleted(labelled: Campaign) -> None:
    labelled.settings.set_loop(labels="judge")
    labelled.settings.set_loop(labels="")
    judge_next(labelled, relevant)
    labelled.machine_labels.sets.delete("judge")
    assert labelled.store.judgements.led_by_labels().empty


@pytest.mark.slow
def test_several_samples_of_a_pair_are_one_label(labelled: Campaign) -> None:
    (label_set,) = labelled.store.machine_labels.sets()
    rows = [LabelRow("2", "d1", "graded", grade, AT, sample=n) for n, grade in enumerate((2.0, 0.0, 1.0), 1)]
    labelled.store.machine_labels.add(label_set.key, [*rows, LabelRow("2", "d2", "graded", 0.0, AT)])
    labelled.settings.set_loop(labels="judge")
    space = labelled.loop.space("2")
    assert isinstance(space, Space)
    assert space.labels is not None
    assert {row: float(space.labels[row]) for row in np.flatnonzero(~np.isnan(space.labels)).tolist()} == {1: 0.5, 2: 0}


def test_unknown_label_sets_are_refused(labelled: Campaign) -> None:
    with pytest.raises(UnknownNameError, match="unknown label set 'judg'.*did you mean 'judge'"):
        labelled.settings.set_loop(labels="judg")
    assert labelled.settings.loop().labels == ""


def test_no_labels_lead_a_strategy(labelled: Campaign) -> None:
    settings = labelled.settings.set_loop(labels="judge", by="mtf")
    assert (settings.labels, settings.leading) == ("judge", "")
    assert "labels" not in settings.in_use
    assert '"labels"' not in labelled.loop.describe_order("1")


# What the log and exports say


@pytest.mark.slow
def test_the_log_says_what_led_and_how_far_it_was_trusted(labelled: Campaign, tmp_path: Path) -> None:
    judge_next(labelled, relevant)
    ok("export", labelled.directory, "--judgements", tmp_path / "before.csv")
    assert "led_by" not in (tmp_path / "before.csv").read_text()
    labelled.settings.set_loop(labels="judge", control=0.3)
    for _ in range(12):
        judge_next(labelled, relevant)
    labelled.settings.set_loop(labels="")
    judge_next(labelled, relevant)
    ok("export", labelled.directory, "--judgements", tmp_path / "log.csv")
    log = list(csv.DictReader((tmp_path / "log.csv").open()))
    assert log[0]["led_by"] == log[-1]["led_by"] == ""
    for row in log[1:-1]:
        ranked = row["strategy"] != "random"
        assert row["led_by"] == ("judge" if ranked else "")
        assert bool(row["label_trust"]) == (row["strategy"] == "loop")
    trusts = [float(row["label_trust"]) for row in log if row["label_trust"]]
    assert min(trusts) > 1  # they are right
    led = labelled.store.judgements.led_by_labels()
    assert led["label_trust"].dropna().tolist() == pytest.approx(trusts)
    labelled.settings.set_loop(labels="judge")
    table = labelled.loop.label_trust()
    assert table["query_id"].tolist() == ["1"]
    assert "'judge' leads; its labels" in labelled.loop.describe_lead()


@pytest.mark.slow
def test_the_card_says_that_labels_led(labelled: Campaign, tmp_path: Path) -> None:
    labelled.settings.set_loop(labels="judge")
    for _ in range(5):
        judge_next(labelled, relevant)
    (facts,) = labelled.exports.collection.facts()["led_by_labels"]
    assert (facts["label_set"], facts["judgements"], facts["topics"]) == ("judge", 5, 1)
    labelled.exports.collection.write(tmp_path / "out", CollectionChoices())
    card = (tmp_path / "out" / "collection.md").read_text()
    assert "the machine labels of `judge` helped to order the documents: 5 judgements are of documents" in card
    rows = [json.loads(line) for line in (tmp_path / "out" / "judgements.jsonl").read_text().splitlines()]
    assert {row["led_by"] for row in rows} == {"judge"}


def test_trust_in_words() -> None:
    assert "from its first relevant document on" in describe_trust("gpt", [])
    assert describe_trust("gpt", [9.0]) == "'gpt' leads; its labels decide the order in 1 topic"
    words = describe_trust("gpt", [9.0, 2.0, 0.1, 0.0])
    assert "decide the order in 1 topic, help to order the documents in 1 and hardly count in 2" in words
    assert words.endswith("where judgements or the words of the topics do not confirm them")


@pytest.mark.slow
def test_the_command_sets_and_shows_what_leads(labelled: Campaign) -> None:
    directory = labelled.directory
    assert "labels" not in ok("loop", directory)
    printed = ok("loop", directory, "--labels", "judge")
    assert "judge" in printed
    assert "unknown label set 'x'" in fails("loop", directory, "--labels", "x")
    assert "labels" not in ok("loop", directory, "--labels", "")


# What they never change


@pytest.mark.slow
def test_estimates_from_the_same_judgements_are_the_same_whatever_led(copy_of: Callable[..., Campaign]) -> None:
    """Two campaigns with the same judgements, made in the same way: one was led by labels, which say the opposite."""
    results = []
    for labels in ("", "judge"):
        campaign = copy_of(build_labelled, name=f"led-by-{labels}")
        campaign.settings.set_loop(labels=labels, run=3)
        for n in range(0, 40, 2):
            campaign.judging.judge("ann", "1", f"d{n}", relevant(f"d{n}"), uuid=f"00000000-0000-4000-8000-{n:012}")
        table = campaign.recall.table()
        qrels = campaign.results.qrels.build()
        results.append((table.to_json(), qrels.to_json(), campaign.progress.topics().to_json()))
    assert results[0] == results[1]


@pytest.mark.slow
def test_the_probability_of_a_draw_is_one_over_what_is_left_whatever_led(labelled: Campaign) -> None:
    labelled.settings.set_loop(labels="judge", control=0.5)
    for _ in range(16):
        judge_next(labelled, relevant)
    log = labelled.store.judgements.table()
    drawn = np.flatnonzero((log["strategy"] == "random").to_numpy())
    assert len(drawn) >= 6
    np.testing.assert_allclose(log["probability"].to_numpy()[drawn], 1 / (60 - drawn))


@pytest.mark.slow
def test_a_loop_without_labels_describes_its_order_as_before(copy_of: Callable[..., Campaign]) -> None:
    wings = copy_of(build)
    order = json.loads(wings.loop.describe_order("1"))
    assert "labels" not in order
    assert "labels" not in order["loop"]
    judge_next(wings, is_wing)
    assert pd.isna(wings.store.judgements.table()["probability"][0])
