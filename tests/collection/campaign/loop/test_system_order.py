"""Pairs that best tell systems apart, in a campaign's loop."""

import json
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from collection import Campaign, estimation
from collection.campaign.judging.judging import WORK_LIST
from collection.campaign.loop import system_order
from collection.campaign.loop.active_learning import seed_of
from collection.comparison import SystemOrder
from collection.core.errors import CampaignError, InputError
from collection.expected_judgements import choose_decisive, describe
from collection.store import connection
from tests.collection.campaign.loop.test_adaptive_loop import judge, made
from tests.helpers import Opened, fails, ok, run

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _chosen_after_each_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "CHOSEN_EVERY", 1)


def chosen(campaign: Campaign) -> list[tuple[str, str]]:
    found = campaign.loop.system_order.choose(seed_of(campaign.id))
    return list(zip(found.query_ids, found.doc_ids, strict=True))


def judge_everywhere(campaign: Campaign, annotator: str = "ann") -> list[tuple[str, str]]:
    """Judge what is handed out, and go where the round says when a topic has nothing left."""
    order: list[tuple[str, str]] = []
    topic, tried = campaign.judging.topic_with_work(annotator), set[str]()
    while topic is not None:
        made_now = campaign.loop.next_round(topic)
        documents = campaign.judging.next_pairs(annotator, topic, 1, loop_round=made_now).documents
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


@pytest.mark.long
def test_all_pairs_are_judged_topic_by_topic_and_each_once(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        order = judge_everywhere(campaign)
        assert sorted(order) == [*(("1", d) for d in "abcilm"), *(("2", d) for d in "axyz")]
        log = campaign.store.judgements.table()
        assert set(log["strategy"]) == {"decisive"}
        assert chosen(campaign) == []


@pytest.mark.long
def test_the_budget_goes_across_topics(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3", budget=6) as campaign:
        assert len(judge_everywhere(campaign)) == 6
        assert "budget (6) is used up" in campaign.progress.budget.state().words
        assert campaign.results.overview.next_step().sentence.startswith("System order shows how certain the order")
        assert set(campaign.recall.table().query("judged > 0")["advice"]) == {"see System order"}


def test_everybody_gets_enough_pairs_until_the_next_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "BATCH", 1)
    monkeypatch.setattr(system_order, "CHOSEN_EVERY", 3)
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        first = chosen(campaign)[0][0]
        other = "2" if first == "1" else "1"
        for name, topic in (("ann", first), ("bob", other)):
            campaign.people.accounts.add(name, "annotator")
            campaign.people.assignments.assign([topic], [name])
        topics = [query_id for query_id, _ in chosen(campaign)]
        assert (topics.count(first), topics.count(other)) == (3, 3)
        # Pairs that somebody holds come on top.
        campaign.judging.next_pairs("bob", other, 2)
        campaign.judging.judge("ann", first, chosen(campaign)[0][1], 1)
        for number in range(2):
            campaign.judging.judge("cat", "3", "a" if number else "b", 0)
        assert [query_id for query_id, _ in chosen(campaign)].count(other) >= 4


def test_the_loop_page_compares_a_budget_with_replays(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3", budget=2) as campaign:
        said = "0 of 2 pairs judged. The budget is 40% of the 5 pairs that can be judged. In replays,"
        assert any(each.value.startswith(said) for each in opened(campaign, "loop").caption)
        judge_everywhere(campaign)
        page = opened(campaign, "loop")
        assert "which would be 3 to 5 of 5 pairs here" in page.warning[0].value
        assert "2 of 2 pairs judged." in [each.value for each in page.caption]


def test_the_loop_page_sets_decisive_pairs_and_their_budget(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts="abcdx") as campaign:
        page = opened(campaign, "loop")
        assert "topic_budget" in [field.key for field in page.number_input]
        page.selectbox(key="mode").set_value("loop-in-pool")
        page.selectbox(key="by").set_value("decisive").run()
        assert "topic_budget" not in [field.key for field in page.number_input]
        page.number_input(key="budget").set_value(12)
        page.button(key="save").click().run()
        settings = campaign.settings.loop()
        assert (settings.mode, settings.by, settings.budget) == ("loop-in-pool", "decisive", 12)


def test_no_column_is_empty_and_the_budget_is_named(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3", mode="loop-in-pool", budget=4) as campaign:
        campaign.people.pools.add("depth", depth=3)
        judge_some(campaign, 1)
        page = opened(campaign, "overview")
        assert list(page.dataframe[0].proto.column_order) == ["query_id", "title", "pool", "mode", "without_text"]
        assert "judgements left" not in ok("status", campaign.directory)
        mine = opened(campaign, "overview", name="bob", role="annotator")
        assert any("3 of 4 pairs left within the judgement budget." in each.value for each in mine.markdown)
        assert list(mine.dataframe[0].proto.column_order) == ["query_id", "title", "judged"]
        campaign.settings.set_loop(topics=["2"], mode="pool")
        page = opened(campaign, "overview")
        assert {"share", "left"} <= set(page.dataframe[0].proto.column_order)
        assert "judgements left" in ok("status", campaign.directory)


def test_what_nobody_could_judge_is_not_handed_out_again(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        query_id, doc_id = chosen(campaign)[0]
        campaign.judging.judge("ann", query_id, doc_id, cannot_judge="topic is unclear")
        assert (query_id, doc_id) not in chosen(campaign)


def test_documents_below_the_cutoff_and_without_text_are_not_handed_out(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        assert sorted(chosen(campaign)) == [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a"), ("2", "x")]


def test_the_next_step_names_the_page_that_advises(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        step = campaign.results.overview.next_step()
        assert step == ("judge", "Judge pairs of 3 topics until System order advises stopping.")


def test_closed_topics_stay_in_the_order_but_get_no_more_judgements(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        campaign.settings.set_loop(topics=["1"], mode="closed")
        assert {query_id for query_id, _ in chosen(campaign)} == {"2"}


def test_one_system_and_measures_without_a_cutoff_are_refused(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\tone\n")
    (tmp_path / "a.run").write_text("1 Q0 d 1 1 a\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=[tmp_path / "a.run"])
        campaign.settings.set_loop(mode="loop", by="decisive")
        with pytest.raises(CampaignError, match="needs at least 2 runs, found 1"):
            campaign.loop.system_order.choose(0)
        for measure in ("AP", "xinfAP", "Judged@10", "nDCG(judged_only=True)@10"):
            with pytest.raises(InputError, match="cut-off"):
                campaign.settings.set_loop(measure=measure)


def test_recall_is_not_promised_where_decisive_pairs_are_judged(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive") as campaign, pytest.raises(CampaignError, match="do not aim at recall"):
        campaign.recall.across_topics.start(0.5, topics=1)


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
    assert "The budget is 40% of the 10 pairs that can be judged. In replays," in ok(
        "loop", directory, "--budget", "4", "--measure", "nDCG@3"
    )


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


def judge_some(campaign: Campaign, count: int) -> None:
    """Judge the most decisive pairs, each choice after the one before."""
    for _ in range(count):
        query_id, doc_id = chosen(campaign)[0]
        judge(campaign, doc_id, topic=query_id, leased=False)


def test_the_order_is_sure_when_all_pairs_are_judged(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        with pytest.raises(CampaignError, match="there are no grades yet"):
            campaign.loop.system_order.assess()
        judge_some(campaign, 3)
        early = campaign.loop.system_order.assess()
        assert (early.estimates.pool.judged, early.estimates.pool.unjudged, early.stop) == (3, 7, False)
        key = campaign.loop.system_order.cache_key()
        judge_some(campaign, 7)
        assert campaign.loop.system_order.cache_key() != key
        final = campaign.loop.system_order.assess()
        plain = (
            campaign.results.evaluation.evaluate("nDCG@3").means()["nDCG@3"].sort_values(ascending=False, kind="stable")
        )
    pool = final.estimates.pool
    assert (pool.judged, pool.unjudged, final.stop, final.open_pairs) == (10, 0, True, 0)
    assert final.values["run"].tolist() == plain.index.tolist()
    assert final.values["estimate"].tolist() == pytest.approx(plain.tolist(), abs=1e-12)
    assert set(final.pairs["probability_better"]) <= {0.0, 1.0}


def test_the_command_prints_the_order(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 3)
        found, directory = campaign.loop.system_order.assess(target=0.5), campaign.directory
    printed = ok("system-order", directory, "--target", "0.5")
    assert printed.startswith(
        f"{found.reason}\n3 of 10 pairs of 2 topics judged; expected tau {found.tau:.2f}, at least"
    )
    assert "nDCG@3 (estimate, 95% of draws)" in printed
    facts = json.loads(ok("system-order", directory, "--target", "0.5", "--format", "json"))
    assert (facts["stop"], facts["topics"], facts["judged"], facts["left"]) == (found.stop, 2, 3, 7)
    assert [each["run"] for each in facts["estimates"]] == found.values["run"].tolist()
    assert len(facts["pairs"]) == 3
    assert "target above 0" in fails("system-order", directory, "--target", "2")


def test_the_page_shows_the_order_and_its_pairs(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        empty = opened(campaign, "system-order")
        assert not empty.metric
        judge_some(campaign, 3)
        found = campaign.loop.system_order.assess()
        app = opened(campaign, "system-order")
        shown = {metric.label: metric.value for metric in app.metric}
        assert shown["Judged pairs"] == "3 of 10"
        assert shown["Undecided pairs of systems"] == f"{found.open_pairs} of 3"
        assert "All values are estimates. The grades of 7 unjudged pairs of 2 topics are drawn" in app.info[0].value
        assert list(app.dataframe[0].value["system_a"]) == found.pairs.query("not decided")["system_a"].tolist()
        app.number_input(key="target").set_value(0.5).run()
        loop = opened(campaign, "loop")
        assert loop.text_input(key="measure").value == "nDCG@3"
        loop.text_input(key="measure").set_value("AP").run()
        loop.button(key="save").click().run()
        assert "such as nDCG@10, found AP" in loop.error[0].value


def test_pairs_that_nobody_can_judge_are_named(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 5)
        found = campaign.loop.system_order.assess()
        assert chosen(campaign) == []
        assert (found.estimates.pool.judged, found.estimates.pool.unjudged) == (5, 5)
        assert found.reason.startswith("All pairs that can be judged are judged; 5 pairs cannot be judged: with 95%")


def test_a_pair_beyond_the_cutoff_leaves_with_its_judgement(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdefghijklmnopxyz", by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 1)
        judge(campaign, "h", leased=False)
        assert campaign.loop.system_order.assess().estimates.pool.judged == 2
        campaign.judging.judge("ann", "1", "h", undo=True)
        found = campaign.loop.system_order.assess()
        assert (found.estimates.pool.judged, found.estimates.pool.pairs) == (1, 10)


def test_a_page_builds_no_features(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        judge(campaign, "a", leased=False)
        campaign.loop.system_order.assess()
        assert not (campaign.directory / "features").exists()
        chosen(campaign)
        assert (campaign.directory / "features").exists()


def test_too_many_graded_pairs_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@2") as campaign:
        judge_some(campaign, 2)
        monkeypatch.setattr(estimation, "GIGABYTES", 1e-5)
        monkeypatch.setattr(campaign.store.judgements, "table", None)
        with pytest.raises(InputError, match=r"estimated grades of 2 pairs .* need about"):
            campaign.loop.system_order.assess()


def test_nothing_is_certain_before_all_is_judged(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 9)
        assert campaign.loop.system_order.assess().pairs["probability_better"].between(0.5 / 400, 1 - 0.5 / 400).all()
        assert list(campaign.loop.system_order.assess().values)[2:] == ["estimate", "estimate_low", "estimate_high"]


def test_status_and_overview_repeat_what_system_order_said_last(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 3)
        assert campaign.loop.system_order.last_advice() is None
        assert "system_order" not in campaign.results.overview.status()
        campaign.loop.system_order.store_advice(campaign.loop.system_order.assess())
        assert "was to keep judging." in campaign.results.overview.next_step().sentence
        ok("system-order", campaign.directory, "--target", "0.01", "--confidence", "0.01")
        assert not campaign.loop.system_order.last_advice().stop  # another target is a look, not the campaign's advice
        found = replace(campaign.loop.system_order.assess(), lowest_tau=0.95)
        assert found.stop
        campaign.loop.system_order.store_advice(found)
        judge_some(campaign, 1)
        said = f"Last advice of System order, at 3 judged pairs (1 log entry since then): {found.reason}"
        assert campaign.results.overview.status()["system_order"] == said
        step = campaign.results.overview.next_step()
        assert step == ("system-order", f"{said} To end judging, close the topics (page Loop).")
        printed = ok("status", campaign.directory)
        assert f"  {said}\n" in printed
        assert f"Next: {step.sentence}\n  cleverdon system-order {campaign.directory}" in printed
        assert opened(campaign, "overview").button(key="next-step").label == "See the system order"
        campaign.settings.set_loop(mode="closed")
        assert campaign.loop.system_order.last_advice() is not None
        assert (
            "cannot be" not in campaign.loop.system_order.assess().reason
        )  # the pairs of closed topics could be judged
        campaign.settings.set_loop(measure="P@3")
        assert campaign.loop.system_order.last_advice() is None  # it was about another measure
        campaign.loop.system_order.store_advice(found)
        campaign.people.pools.add("depth", depth=1)
        assert campaign.loop.system_order.last_advice() is None  # and of other pairs


def test_advice_counts_judgements_during_the_estimate_as_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 3)
        estimate = estimation.judge_order

        def meanwhile(*args: Any, **options: Any) -> SystemOrder:
            judge_some(campaign, 1)
            return estimate(*args, **options)

        monkeypatch.setattr(estimation, "judge_order", meanwhile)
        campaign.loop.system_order.store_advice(campaign.loop.system_order.assess())
        said = campaign.results.overview.status()["system_order"]
        assert said.startswith("Last advice of System order, at 3 judged pairs (1 log entry since then): ")


def test_the_order_is_printed_while_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.01)
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        judge_some(campaign, 3)
        with campaign.transaction():
            result = run("system-order", campaign.directory)
        assert result.exit_code == 0
        assert result.stdout.startswith(campaign.loop.system_order.assess().reason)
        assert result.stderr.startswith("note: another process is writing, so `cleverdon status` and Overview do not")
        assert campaign.loop.system_order.last_advice() is None
        assert "another process" not in run("system-order", campaign.directory).stderr
        assert campaign.loop.system_order.last_advice() is not None


@pytest.mark.long
def test_exports_say_that_pairs_were_selected(tmp_path: Path, opened: Opened) -> None:
    caution = (
        "2 graded pairs were selected to compare the systems, and relevant documents may be unjudged: evaluate these "
        "systems with `cleverdon evaluate --unjudged expected`"
    )
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3", mode="loop-in-pool") as campaign:
        campaign.people.pools.add("depth", depth=3)
        judge(campaign, "d", leased=False)  # beyond the cut-off, so nothing selected it
        qrels, directory = tmp_path / "qrels.txt", campaign.directory
        assert run("export", directory, "--qrels", qrels).stderr == ""
        assert "decisive_pairs" not in json.loads((tmp_path / "qrels.txt.rule.json").read_text())
        while len(campaign.store.judgements.table()) < 3:
            made_now = campaign.loop.next_round("1")
            (document,) = campaign.judging.next_pairs("ann", "1", 1, loop_round=made_now).documents
            judge(campaign, document.doc_id)
        said = run("export", directory, "--qrels", qrels, "--collection", tmp_path / "out", "--licence", "x").stderr
        assert said == (
            f"note: {qrels}: left out 1 topic without a grade; --unjudged --include-unjudged-topics includes them\n"
            f"note: {caution}\n"
        )
        report = json.loads((tmp_path / "qrels.txt.rule.json").read_text())
        assert (report["pairs"], report["decisive_pairs"], report["caution"]) == (3, 2, caution)
        assert json.loads((tmp_path / "out" / "collection.json").read_text())["qrels"]["decisive_pairs"] == 2
        assert f"\n{caution}.\n" in (tmp_path / "out" / "collection.md").read_text()
        selected = caution.partition(":")[0]
        assert opened(campaign, "export").info[0].value.startswith(selected)
        compared = opened(campaign, "compare")
        assert [each.value.partition("\\")[0] for each in compared.info] == [selected]
        compared.selectbox(key="unjudged").set_value("expected").run()
        assert not any(selected in each.value for each in compared.info)


def test_exported_qrels_give_estimates_for_all_topics_of_the_order(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdefghijklmnopxyz", by="decisive", measure="nDCG@3", mode="loop-in-pool") as campaign:
        campaign.people.pools.add("depth", depth=3, ties="both")
        judge(campaign, "a", leased=False)
        pool, directory = campaign.loop.system_order.assess().estimates.pool, campaign.directory
        runs = sorted(tmp_path.glob("*.run"))
        judged, every = tmp_path / "judged.txt", tmp_path / "every.txt"
        ok("export", directory, "--qrels", judged)
        ok("export", directory, "--qrels", every, "--unjudged", "--include-unjudged-topics")
    asked = ("-m", "nDCG@3", "--unjudged", "expected")
    assert f"Estimates for {pool.topics} topics: 1 of {pool.pairs} pairs" in ok("evaluate", every, *runs, *asked)
    assert "Estimates for 1 topic: 1 of " in ok("evaluate", judged, *runs, *asked)


def test_a_campaign_that_had_both_budgets_can_still_be_changed(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3", budget=3) as campaign:
        campaign.store.settings.put("loop", asdict(campaign.settings.loop()) | {"topic_budget": 5})
        assert campaign.settings.loop().topic_budget == 0
        assert campaign.settings.set_loop(budget=4).budget == 4
        campaign.settings.set_loop(mode="closed")
        with pytest.raises(InputError, match="topic_budget: expected 0 with decisive pairs"):
            campaign.settings.set_loop(topic_budget=2)


def test_decisive_pairs_have_no_budget_for_each_topic(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, texts="abcdx", by="mtf", topic_budget=2) as campaign:
        with pytest.raises(InputError, match="topic_budget: expected 0 with decisive pairs, .* found 2"):
            campaign.settings.set_loop(by="decisive")
        assert "set it to 0" in fails("loop", campaign.directory, "--by", "decisive")
        loop = opened(campaign, "loop")
        assert loop.number_input(key="topic_budget").value == 2
        loop.selectbox(key="by").set_value("decisive").run()
        assert "topic_budget" not in {each.key for each in loop.number_input}
        loop.button(key="save").click().run()
        settings = campaign.settings.loop()
        assert (settings.by, settings.topic_budget) == ("decisive", 0)


def test_only_settings_with_an_effect_are_shown(tmp_path: Path, opened: Opened) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3", control=0.5, run=1) as campaign:
        printed = {line.split()[0] for line in ok("loop", campaign.directory).splitlines() if line.startswith("--")}
        assert printed == {"--mode", "--level", "--explain", "--by", "--measure", "--budget"}
        page = opened(campaign, "loop")
        shown = {each.key for kind in ("selectbox", "radio", "number_input", "text_input") for each in page.get(kind)}
        assert {"mode", "by", "level", "measure", "budget", "explain"} <= shown
        assert not {"run", "control", "target", "confidence", "topic_budget", "learner", "draws"} & shown
        judge_everywhere(campaign)
        assert set(campaign.store.judgements.table()["strategy"]) == {"decisive"}  # none is drawn at random


def test_every_pair_of_a_depth_pool_is_in_the_order(tmp_path: Path) -> None:
    # Measures read b before a, whose scores are equal; the pool takes a, which is listed first.
    (tmp_path / "topics.tsv").write_text("1\tone\n")
    (tmp_path / "up.run").write_text("1 Q0 a 1 5 up\n1 Q0 b 2 5 up\n")
    (tmp_path / "down.run").write_text("1 Q0 c 1 5 down\n1 Q0 a 2 4 down\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=sorted(tmp_path.glob("*.run")))
        assert campaign.people.pools.add("depth", depth=1).pairs == 2
        campaign.settings.set_loop(mode="loop-in-pool", by="decisive", measure="nDCG@1")
        assert sorted(chosen(campaign)) == [("1", "a"), ("1", "c")]
        assert campaign.progress.budget.most_in_loop() == {"1": 2}
        judge(campaign, "c", leased=False)
        assert campaign.loop.system_order.assess().estimates.pool.pairs == 2


def test_a_script_finds_only_topics_that_have_selected_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_order, "BATCH", 1)
    monkeypatch.setattr(system_order, "CHOSEN_EVERY", 1)
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        order: list[tuple[str, str]] = []
        while topic := campaign.judging.topic_with_work("ann"):
            (document,) = campaign.judging.next_pairs("ann", topic, 1).documents
            order.append((topic, document.doc_id))
            judge(campaign, document.doc_id, "ann", topic)
        assert sorted(order) == [*(("1", d) for d in "abcilm"), *(("2", d) for d in "axyz")]


def test_a_script_finds_work_in_what_others_have_only_loaded(tmp_path: Path) -> None:
    with made(tmp_path, by="decisive", measure="nDCG@3") as campaign:
        for topic in ("1", "2"):
            assert campaign.judging.next_pairs("bob", topic, 10, client=WORK_LIST).documents
        assert campaign.judging.topic_with_work("ann") == "1"
        assert campaign.judging.topic_with_work("bob") is not None


def test_after_closing_no_text_says_that_everything_is_judged(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdx", by="decisive", measure="nDCG@3") as campaign:
        campaign.people.pools.add("depth", depth=3)
        judge_some(campaign, 3)
        campaign.settings.set_loop(mode="closed")
        step = campaign.results.overview.next_step()
        assert step.page == "export"
        assert "closed before all pairs were judged" in step.sentence
        assert step.sentence.endswith("`evaluate --unjudged expected` estimates the missing grades.")


def test_the_command_and_the_page_name_pooled_pairs_that_can_turn_the_order_round(
    tmp_path: Path, opened: Opened
) -> None:
    (tmp_path / "topics.tsv").write_text("1\tone\n2\ttwo\n3\tthree\n")
    for name, rankings in (("x", ("ab", "dc", "eg")), ("y", ("ba", "cd", "ge"))):
        lines = [
            f"{topic} Q0 {doc}{topic} {rank} {9 - rank} {name}\n"
            for topic, top in zip("123", rankings, strict=True)
            for rank, doc in enumerate(f"{top}hzw", start=1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    with Campaign.create(tmp_path / "campaign") as campaign:
        runs = [tmp_path / "x.run", tmp_path / "y.run"]
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=runs)
        campaign.people.pools.add("depth", depth=5)
        campaign.settings.set_loop(mode="loop-in-pool", by="decisive", measure="nDCG@3")
        grades = {"1": "ab", "2": "cd", "3": "eg"}
        for topic, (relevant, other) in grades.items():
            campaign.judging.judge("ann", topic, f"{relevant}{topic}", 1)
            for irrelevant in (other, "h"):
                campaign.judging.judge("ann", topic, f"{irrelevant}{topic}", 0)
        found = campaign.loop.system_order.assess()
        before = found.values["run"].tolist()
        assert (found.estimates.pool.unjudged, found.final, found.unlisted.pooled) == (0, False, 6)
        reason = (
            "The 9 pairs of the comparison are judged, but the order is not final: nDCG@3 also depends on relevant "
            "documents outside the ranks that it reads, and 6 such pairs of the pool are unjudged."
        )
        assert ok("system-order", campaign.directory).startswith(reason)
        assert json.loads(ok("system-order", campaign.directory, "--format", "json"))["final"] is False
        assert any("but the order is not final" in each.value for each in opened(campaign, "system-order").markdown)
        # The judgements of documents below the cut-off turn the order round.
        for topic, doc in product("13", "zw"):
            campaign.judging.judge("ann", topic, f"{doc}{topic}", 1)
        assert campaign.loop.system_order.assess().values["run"].tolist() == before[::-1]
        campaign.settings.set_loop(mode="loop-in-pool", by="decisive", measure="P@3")
        assert campaign.loop.system_order.assess().reason == (
            "All pairs that can change P@3 are judged: the order of the systems is final."
        )
