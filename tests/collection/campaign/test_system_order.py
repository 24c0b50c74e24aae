"""Pairs that best tell systems apart, in a campaign's loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import Campaign
from collection.campaign import system_order
from collection.campaign.active_learning import seed_of
from collection.errors import CampaignError, InputError
from collection.expected_judgements import choose_decisive, describe
from tests.collection.campaign.test_adaptive_loop import judge, made
from tests.helpers import fails, ok

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _chosen_after_each_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "CHOSEN_EVERY", 1)


def chosen(campaign: Campaign) -> list[tuple[str, str]]:
    found = campaign.system_order.choose(seed_of(campaign.id))
    return list(zip(found.query_ids, found.doc_ids, strict=True))


def judge_everywhere(campaign: Campaign, annotator: str = "ann") -> list[tuple[str, str]]:
    """Judge what is handed out, and go where the round says when a topic has nothing left."""
    order: list[tuple[str, str]] = []
    topic, tried = campaign.judging.topic_with_work(annotator), set[str]()
    while topic is not None:
        made_now = campaign.active_learning.next_round(topic)
        documents = campaign.judging.next_pairs(annotator, topic, 1, made=made_now).documents
        if documents:
            tried.clear()
            judge(campaign, documents[0].doc_id, annotator, topic)
            order.append((topic, documents[0].doc_id))
        else:
            tried.add(topic)
            topic = campaign.judging.topic_with_work(annotator, topic, sorted(tried), made_now.topics)
    return order


def test_the_choice_is_that_of_the_library(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@2") as campaign:
        chosen(campaign)  # ids without texts are in the campaign once they are chosen from
        for doc_id in "ac":
            judge(campaign, doc_id, leased=False)
        shallow = [run._replace(frame=run.frame[run.frame["rank"] <= 2]) for run in campaign.corpus.runs()]
        pairs = [("1", d) for d in "abcil"] + [("2", d) for d in "axy"]  # the first two of each run
        grades = np.array([0, np.nan, 1, np.nan, np.nan, np.nan, np.nan, np.nan])
        described = describe(pd.DataFrame(pairs, columns=["query_id", "doc_id"]), shallow)
        order = choose_decisive(described, grades, [0, 1], cutoff=2, seed=seed_of(campaign.id))
        assert chosen(campaign) == [pairs[row] for row in order]
        assert len(order) == 6


def test_all_pairs_are_judged_topic_by_topic_and_each_once(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        order = judge_everywhere(campaign)
        assert sorted(order) == [*(("1", d) for d in "abcilm"), *(("2", d) for d in "axyz")]
        log = campaign.judgement_log.judgements()
        assert set(log["strategy"]) == {"decisive"}
        assert chosen(campaign) == []


def test_the_budget_goes_across_topics(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3", budget=6) as campaign:
        assert len(judge_everywhere(campaign)) == 6
        assert "budget (6) is used up" in campaign.budget.state().words


def test_an_annotator_of_few_topics_gets_pairs_of_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "BATCH", 1)
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        first = chosen(campaign)[0][0]
        other = "2" if first == "1" else "1"
        for name, topic in (("ann", first), ("bob", other)):
            campaign.accounts.add(name, "annotator")
            campaign.assignments.assign([topic], [name])
        assert {query_id for query_id, _ in chosen(campaign)} == {"1", "2"}


def test_what_nobody_could_judge_is_not_handed_out_again(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        query_id, doc_id = chosen(campaign)[0]
        campaign.judging.judge("ann", query_id, doc_id, cannot_judge="topic is unclear")
        assert (query_id, doc_id) not in chosen(campaign)


def test_documents_below_the_cutoff_and_without_text_are_not_handed_out(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        assert sorted(chosen(campaign)) == [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a"), ("2", "x")]


def test_closed_topics_stay_in_the_order_but_get_no_more_judgements(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        campaign.settings.set_loop(topics=["1"], mode="closed")
        assert {query_id for query_id, _ in chosen(campaign)} == {"2"}


def test_one_system_and_measures_without_a_cutoff_are_refused(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\tone\n")
    (tmp_path / "a.run").write_text("1 Q0 d 1 1 a\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.importer.import_files(topics=tmp_path / "topics.tsv", runs=[tmp_path / "a.run"])
        campaign.settings.set_loop(mode="loop", by="decisive")
        with pytest.raises(CampaignError, match="needs at least 2 runs, found 1"):
            campaign.system_order.choose(0)
        for measure in ("AP", "xinfAP"):
            with pytest.raises(InputError, match="cut-off"):
                campaign.settings.set_loop(measure=measure)


def test_the_command_puts_topics_into_the_loop(tmp_path: Path) -> None:
    with made(tmp_path, by="model", mode="pool") as campaign:
        directory = campaign.directory
    assert "documents that the comparison of systems selects from the runs" in ok(
        "loop", directory, "--by", "decisive", "--budget", "5", "--measure", "P@5"
    )
    with Campaign(directory) as campaign:
        settings = campaign.settings.loop()
        assert (settings.by, settings.mode, settings.budget, settings.measure) == ("decisive", "loop", 5, "P@5")
    assert "cut-off" in fails("loop", directory, "--measure", "AP")


def test_pairs_are_chosen_again_after_ten_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "CHOSEN_EVERY", 10)
    with made(tmp_path, by="decisive", measure="nDCG@10") as campaign:
        before = chosen(campaign)
        for query_id, doc_id in before[:9]:
            judge(campaign, doc_id, topic=query_id, leased=False)
            assert chosen(campaign) == before
        query_id, doc_id = before[9]
        judge(campaign, doc_id, topic=query_id, leased=False)
        assert set(chosen(campaign)) == set(before[10:])
