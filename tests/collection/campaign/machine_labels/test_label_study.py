"""What machine labels are worth, in a campaign and on the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import Campaign
from collection.core.errors import CampaignError, InputError
from collection.machine_labels import find_unpriced
from collection.store import LabelRow
from tests.helpers import ok, run

AT = "2026-01-01T00:00:00.000+00:00"


def make(folder: Path, *, topics: int = 10, documents: int = 12) -> Path:
    """A pool of three runs on which nothing is judged, and labels that the model gpt-x gave."""
    rng = np.random.default_rng(4)
    (folder / "topics.tsv").write_text("".join(f"q{t}\ttopic {t}\n" for t in range(topics)))
    lines, labels = {"good": [], "fair": [], "gpt-x-rerank": []}, []
    for t in range(topics):
        grades = truth(t, documents)
        for name, weight in (("good", 2.0), ("fair", 0.5), ("gpt-x-rerank", 0.0)):
            scores = weight * grades + rng.normal(0, 1, documents)
            lines[name] += [f"q{t} Q0 d{t}-{d} 1 {scores[d]:.4f} {name}\n" for d in range(documents)]
        for d in range(documents):
            label = float(np.clip(grades[d] + rng.integers(0, 2), 0, 3))
            labels.append(LabelRow(f"q{t}", f"d{t}-{d}", "graded", label, AT))
    for name, each in lines.items():
        (folder / f"{name}.run").write_text("".join(each))
    with Campaign.create(folder / "campaign") as campaign:
        runs = [folder / f"{name}.run" for name in lines]
        campaign.imports.import_files(topics=folder / "topics.tsv", runs=runs)
        campaign.people.pools.add("depth", depth=documents)
        made = campaign.store.machine_labels.create("gpt", "llm", {"model": "gpt-x"}, AT)
        campaign.store.machine_labels.add(made.key, labels)
    return folder / "campaign"


def truth(topic: int, documents: int) -> np.ndarray:
    return np.random.default_rng(100 + topic).choice(4, p=[0.5, 0.2, 0.2, 0.1], size=documents)


def judge(campaign: Campaign, folder: Path, most: int | None = None) -> None:
    """Let ann judge the pairs that people are asked for."""
    asked = campaign.store.pool.annotators_wanted()
    asked = asked[asked["wanted"] > 0]
    rows = [
        f"ann\t{q}\t{d}\t{truth(int(q[1:]), 12)[int(d.split('-')[1])]}\n"
        for q, d in zip(asked["query_id"], asked["doc_id"], strict=True)
    ]
    path = folder / "labels.tsv"
    path.write_text("annotator\tquery_id\tdoc_id\trelevance\n" + "".join(rows[:most]))
    campaign.imports.import_files(labels=path)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return make(tmp_path)


@pytest.mark.long
def test_people_judge_a_sample_and_correct_the_values(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        assert study.progress("gpt") == (0, 0, 0, 120)
        with pytest.raises(InputError, match="found no sample; request judgements on the page Machine labels or by"):
            study.correct("gpt")
        assert study.ask_people("gpt", 40) == (40, 0, 0, 120)
        asked = opened.store.pool.annotators_wanted()
        first = set(map(tuple, asked.loc[asked["wanted"] > 0, ["query_id", "doc_id"]].to_numpy()))
        assert len(first) == 40
        judge(opened, tmp_path)
        assert study.progress("gpt") == (40, 40, 0, 120)
        early = study.correct("gpt")
        assert study.ask_people("gpt", 80) == (80, 40, 0, 120)
        asked = opened.store.pool.annotators_wanted()
        assert first < set(map(tuple, asked.loc[asked["wanted"] > 0, ["query_id", "doc_id"]].to_numpy()))
        judge(opened, tmp_path)
        later = study.correct("gpt")
        assert (early.sampled, later.sampled) == (40, 80)
        widths = [(each.values["high"] - each.values["low"]).mean() for each in (early, later)]
        assert widths[1] < widths[0]
        study.ask_people("gpt", 120)
        judge(opened, tmp_path)
        everything = study.correct("gpt").values.set_index("run")["corrected"]
        evaluated = opened.results.evaluation.evaluate(["nDCG@10"]).means()["nDCG@10"]
        assert everything.tolist() == pytest.approx(evaluated.loc[everything.index].tolist())


@pytest.mark.parametrize(("measure", "said"), [("AP", "expected one of nDCG, DCG and P"), ("nDCG", "as in nDCG@10")])
def test_measures_that_cannot_be_corrected_are_refused_before_anything(campaign: Path, measure: str, said: str) -> None:
    with Campaign(campaign) as opened:
        for ask in (opened.machine_labels.study.plan, opened.machine_labels.study.correct):
            with pytest.raises(InputError, match=f"{measure} cannot be corrected; .*{said}"):
                ask("gpt", measure)
        with pytest.raises(InputError, match="cannot be corrected"):
            opened.machine_labels.study.ask_people("gpt", 40, measure)


def test_a_sample_leaves_out_what_is_judged_already(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        judge(opened, tmp_path, most=30)
        study = opened.machine_labels.study
        assert study.ask_people("gpt", 40) == (40, 0, 30, 120)
        judge(opened, tmp_path)
        found = study.correct("gpt")
        assert (found.sampled, found.before) == (40, 30)


def test_the_sample_stays_whatever_changes_the_overlap(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        study.ask_people("gpt", 40)
        opened.people.assignments.update(annotators=2, share=1.0)
        assert opened.store.pool.annotators_wanted()["wanted"].value_counts().to_dict() == {0: 80, 2: 40}
        study.ask_people("gpt", 60)
        assert opened.store.pool.annotators_wanted()["wanted"].value_counts().to_dict() == {0: 60, 2: 60}
        assert study.progress("gpt").asked == 60
        study.ask_for_pool()
        assert opened.store.pool.annotators_wanted()["wanted"].value_counts().to_dict() == {2: 120}
        assert study.progress("gpt").asked == 0


def test_what_people_could_not_judge_is_no_gap(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        study.ask_people("gpt", 40)
        first = opened.store.machine_labels.sample(study.labels.named("gpt").key).iloc[0]
        opened.judging.judge("bob", first["query_id"], first["doc_id"], cannot_judge="no text")
        judge(opened, tmp_path)
        assert study.progress("gpt").judged == 40


def without_texts(campaign: Campaign, folder: Path, pairs: list[str]) -> None:
    """Give every document a text but these."""
    ids = campaign.store.pool.pairs()["doc_id"].unique()
    lines = [json.dumps({"doc_id": each, "text": "A text."}) for each in ids if each not in pairs]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    campaign.imports.import_files(documents=[folder / "texts.jsonl"])


@pytest.mark.long
@pytest.mark.parametrize("when", ["before the sample", "after the sample"])
def test_pairs_without_a_text_are_no_gap_and_are_named(campaign: Path, tmp_path: Path, when: str) -> None:
    missing = [f"d{t}-{d}" for t in range(10) for d in (3, 7)]
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        if when == "before the sample":
            without_texts(opened, tmp_path, missing)
        study.ask_people("gpt", 40)
        if when == "after the sample":
            without_texts(opened, tmp_path, missing)
        asked = opened.store.pool.annotators_wanted()
        ready = asked[(asked["wanted"] > 0) & ~asked["doc_id"].isin(missing)]
        for query_id, doc_id in zip(ready["query_id"], ready["doc_id"], strict=True):
            grade = int(truth(int(query_id[1:]), 12)[int(doc_id.split("-")[1])])
            opened.judging.judge("ann", query_id, doc_id, grade)
        assert study.progress("gpt").judged == 40
        found = study.correct("gpt")
        assert found.sampled == 40
        assert (len(ready), found.before) == ((40, 0) if when == "before the sample" else (len(ready), 0))
        said = "20 pairs of the pool without a text cannot be judged and count as not relevant in corrected values."
        assert [each for each in opened.machine_labels.study.warnings("gpt") if said in each]
        assert (
            "The random sample for the machine labels is judged" in opened.results.overview.status()["next"]["sentence"]
        )
    assert "note: 20 pairs of the pool without a text" in run("labels", "ask", campaign, "gpt", "--pairs", 50).stderr


@pytest.mark.long
def test_judgements_from_before_the_sample_that_are_undone_are_asked_for_again(campaign: Path, tmp_path: Path) -> None:
    """Neither known nor drawn, they would count as not relevant: corrected values of 0 where the truth is a third."""
    with Campaign(campaign) as opened:
        relevant = [(f"q{t}", f"d{t}-{d}") for t in range(10) for d in range(12) if truth(t, 12)[d] > 0]
        for query_id, doc_id in relevant:
            opened.judging.judge("ann", query_id, doc_id, int(truth(int(query_id[1:]), 12)[int(doc_id[3:])]))
        study = opened.machine_labels.study
        study.ask_people("gpt", 40)
        judge(opened, tmp_path)
        known = study.correct("gpt", "P@10").values
        for query_id, doc_id in relevant:
            opened.judging.judge("ann", query_id, doc_id, undo=True)
        undone = f"{len(relevant)} pairs known before the sample was drawn .* have no judgement now; judge them"
        with pytest.raises(InputError, match=undone):
            study.correct("gpt", "P@10")
        assert any("have no judgement now" in each for each in opened.machine_labels.study.warnings("gpt"))
        assert study.progress("gpt").judged == 0
        judge(opened, tmp_path)
        assert study.correct("gpt", "P@10").values.equals(known)


def test_judgements_after_a_gap_are_counted_and_the_gap_is_named(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        study.ask_people("gpt", 30)
        judge(opened, tmp_path)
        second = opened.store.machine_labels.sample(study.labels.named("gpt").key).iloc[1]
        opened.judging.judge("ann", second["query_id"], second["doc_id"], undo=True)
        where = f"topic {second['query_id']}, document {second['doc_id']}"
        with pytest.raises(InputError, match=f"found 1; 28 more do not count, since {where} comes before them"):
            study.correct("gpt")


def test_annotators_progress_counts_the_sample_alone(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_people("gpt", 40)
    for done in (0, 40):
        with Campaign(campaign) as opened:  # totals of other topics are kept for a while
            by_topic = [opened.progress.standing(f"q{t}", "ann") for t in range(10)]
            assert (sum(each.done for each in by_topic), sum(each.goal or 0 for each in by_topic)) == (done, 40)
            assert opened.progress.annotator_standing("q0", "ann") == (by_topic[0], (done, 40))
            judge(opened, tmp_path)
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_for_pool()
        assert opened.progress.totals("ann") == (40, 120)


def test_topics_of_which_a_sample_was_judged_are_not_finished(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_people("gpt", 40)
        judge(opened, tmp_path)
        there = opened.results.qrels.topics_with_grades()
        assert len(there.graded) > 5
        assert (there.finished, opened.results.qrels.topics_with_grades(closed_early=False).finished) == ((), ())
    result = run("export", campaign, "--qrels", tmp_path / "out.qrels", "--topics", "finished")
    assert result.exit_code != 0
    assert "with a grade is finished; use --topics all" in result.stderr
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_for_pool()
        judge(opened, tmp_path)
        assert len(opened.results.qrels.topics_with_grades().finished) == 10


def test_a_loop_or_a_judged_pool_has_no_sample(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        opened.settings.set_loop(mode="loop-in-pool")
        with pytest.raises(CampaignError, match="expected topics that are judged from the pool, found 10 topics in a"):
            opened.machine_labels.study.ask_people("gpt", 40)
        opened.settings.set_loop(mode="pool")
        judge(opened, tmp_path)
        with pytest.raises(InputError, match="expected pairs of the pool that nobody has judged, found none"):
            opened.machine_labels.study.ask_people("gpt", 40)


def test_a_gap_ends_the_sample(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_people("gpt", 60)
        judge(opened, tmp_path, most=59)
        assert opened.machine_labels.study.progress("gpt").judged < 60


def test_a_pool_with_more_or_other_pairs_than_the_sample_is_refused(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "more.run").write_text("q0 Q0 new 1 1.0 more\n")
    with Campaign(campaign) as opened:
        opened.machine_labels.study.ask_people("gpt", 40)
        opened.imports.import_files(runs=[tmp_path / "more.run"])
        opened.people.pools.add("depth", depth=1)
        with pytest.raises(CampaignError, match="the pool has 121 pairs, but had 120 when the sample was drawn"):
            opened.machine_labels.study.ask_people("gpt", 50)
        connection = opened.store.connection
        connection.execute("DELETE FROM pool WHERE doc = (SELECT doc FROM documents WHERE doc_id = 'd0-1')")
        with pytest.raises(
            CampaignError, match="the pool has 120 pairs, but had other pairs when the sample was drawn"
        ):
            opened.machine_labels.study.progress("gpt")


@pytest.mark.long
def test_cautions_name_what_limits_the_labels(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        first = opened.machine_labels.study.warnings("gpt")
        assert "(gpt-x-rerank): its labels may favour it." in first[0]
        assert "is unknown: people have not been asked to judge a random sample" in first[1]
        study.ask_people("gpt", 40)
        judge(opened, tmp_path)
        few = opened.machine_labels.study.warnings("gpt")[1]
        assert few.startswith("40 human judgements of the sample give an error of ±0.")
        assert few.endswith("for ±0.05 more are needed.")
        study.ask_people("gpt", 120)
        judge(opened, tmp_path)
        assert len(opened.machine_labels.study.warnings("gpt")) == 1


@pytest.mark.parametrize(
    ("own", "used", "said"),
    [
        ("P(rel=2)@5", "P(rel=2)@5", "in P(rel=2)@5; for"),
        ("AP@10", "nDCG@10", "in nDCG@10 (none is known for AP@10, the campaign's measure); for"),
        ("DCG@10", "nDCG@10", "in nDCG@10 (none is known for DCG@10, the campaign's measure); for"),
    ],
)
@pytest.mark.long
def test_warnings_are_about_the_measure_of_the_campaign(
    campaign: Path, tmp_path: Path, own: str, used: str, said: str
) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        key = study.cache_key()
        opened.settings.set_loop(measure=own)
        assert study.cache_key() != key
        study.ask_people("gpt", 40)
        judge(opened, tmp_path)
        assert study.correct("gpt").measure == used
        assert said in opened.machine_labels.study.warnings("gpt")[1]
    assert ok("labels", "correct", campaign, "gpt").startswith(f"{used} corrected by 40 human judgements")
    assert "in nDCG@5; for" in run("labels", "correct", campaign, "gpt", "-m", "nDCG@5").stderr


def test_pairs_judged_after_the_label_was_seen_are_left_out(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        made = opened.machine_labels.sets.named("gpt")
        opened.store.machine_labels.record_view("ann", made.key, [("q0", "d0-0"), ("q0", "d0-1")], AT)
        judge(opened, tmp_path)
        assert len(study.people("gpt")) == 118
        assert opened.machine_labels.study.warnings("gpt")[-1] == (
            "2 pairs judged after the label was seen: agreement excludes them, corrected values include them."
        )


def test_one_topic_with_most_of_the_disagreement_is_named(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        made = opened.store.machine_labels.create("odd", "rule", {}, AT)
        rows = [
            LabelRow(f"q{t}", f"d{t}-{d}", "graded", float(3 - truth(t, 12)[d] if t == 3 else truth(t, 12)[d]), AT)
            for t in range(10) for d in range(12)
        ]  # fmt: skip
        opened.store.machine_labels.add(made.key, rows)
        judge(opened, tmp_path)
        assert "Topic q3 accounts for 100% of the disagreement with people." in opened.machine_labels.study.warnings(
            "odd"
        )


@pytest.mark.long
def test_the_command_plans_asks_and_reports(campaign: Path, tmp_path: Path) -> None:
    planned = ok("labels", "plan", campaign, "gpt")
    assert planned.splitlines()[0].split("  ")[0] == "human judgements"
    assert "found none; people have to judge some" in run("labels", "compare", campaign, "gpt").stderr
    said = ok("labels", "ask", campaign, "gpt", "--pairs", "60")
    assert said == "Annotators judge only a random sample of 60 of 120 pairs; 0 judged so far.\n"
    with Campaign(campaign) as opened:
        judge(opened, tmp_path)
    report = ok("labels", "compare", campaign, "gpt") + ok("labels", "correct", campaign, "gpt")
    assert ok("labels", "ask", campaign, "gpt", "--whole-pool") == "Annotators judge the whole pool again.\n"
    assert "60 pairs with a label and a grade by people" in report
    assert "nDCG@10 corrected by 60 human judgements of a random sample" in report
    assert "Gain of the runs of each family of models" in report
    assert "by a two-sided paired t-test of nDCG@10 over 10 topics, at 0.05 with Holm's correction for 3 p" in report
    facts = json.loads(ok("labels", "correct", campaign, "gpt", "-m", "P@5", "--format", "json"))
    assert (facts["sampled"], facts["measure"], len(facts["values"])) == (60, "P@5", 3)
    assert "AP cannot be corrected" in run("labels", "correct", campaign, "gpt", "-m", "AP").stderr
    assert "unknown label set 'other'" in run("labels", "compare", campaign, "other").stderr


@pytest.mark.long
def test_labels_with_fractions_have_corrected_values_but_no_agreement(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        made = opened.store.machine_labels.create("clicks", "clicks", {}, AT)
        rows = [LabelRow(f"q{t}", f"d{t}-{d}", "graded", 0.1 + 0.05 * d, AT) for t in range(10) for d in range(12)]
        opened.store.machine_labels.add(made.key, rows)
        opened.machine_labels.study.ask_people("clicks", 40)
        judge(opened, tmp_path)
    shown = ok("labels", "correct", campaign, "clicks")
    assert shown.startswith("nDCG@10 corrected by 40 human judgements of a random sample")
    refused = run("labels", "compare", campaign, "clicks")
    said = "cleverdon: expected labels that are grades of the scale, found 0.1"
    assert (refused.exit_code, refused.stdout, refused.stderr.splitlines()[0]) == (2, "", said)


def test_labels_change_no_judgement(campaign: Path) -> None:
    with Campaign(campaign) as opened:
        assert opened.store.judgements.counts()["judgements"] == 0
        assert opened.results.qrels.build().empty
        assert pd.DataFrame(opened.machine_labels.sets.labels("gpt"))["relevance"].between(0, 3).all()


@pytest.mark.long
def test_a_budget_compares_people_with_each_judge_and_with_all(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        study = opened.machine_labels.study
        plan = study.plan_budget(
            ["gpt", "later"], hours=1.0, seconds=60, wage=20, money=30, prices={"later": 0.15},
            correlations={"gpt": 0.8, "later": 0.3},
        ).set_index("option")  # fmt: skip
        assert plan.index.tolist() == ["people alone", "gpt", "later", "gpt + later"]
        # The labels of gpt are paid; those of later cost 120 * .15 = 18, which leaves 12 of 20 per hour.
        assert plan["judgements"].tolist() == [60, 60, 36, 36]
        assert plan["money"].tolist() == pytest.approx([20, 20, 30, 30])
        assert plan["best"].tolist() == [False, True, False, False]
        widths = plan["combined_difference_width"]
        assert widths["gpt"] < widths["people alone"] < widths["later"]
        dear = study.plan_budget(["later"], hours=1.0, seconds=60, money=17, prices={"later": 0.15})
        assert dear["judgements"].tolist() == [60, -1]
        assert dear["width"].isna().tolist() == [False, True]
        with pytest.raises(InputError, match="expected the price of a label of later"):
            study.plan_budget(["later"], hours=1.0, seconds=60)
        with pytest.raises(InputError, match="expected the seconds per judgement"):
            study.plan_budget(["gpt"], hours=1.0)
        with pytest.raises(InputError, match="expected a number of hours, or an amount of money with a wage"):
            study.plan_budget(["gpt"], money=5.0, seconds=60)
        with pytest.raises(InputError, match="hours: expected a number of at least 0, found -1"):
            study.plan_budget(["gpt"], hours=-1.0, seconds=60)
        with pytest.raises(InputError, match="seconds: expected a number above 0, found 0"):
            study.plan_budget(["gpt"], hours=1.0, seconds=0)


def test_labels_without_a_price_are_named(campaign: Path) -> None:
    with Campaign(campaign) as opened:
        sets, study = opened.machine_labels.sets, opened.machine_labels.study
        part = sets.labels("gpt").head(100)
        sets.label_by_file(part, "llama", "llm", {"model": "llama"})
        sets.label_by_file(part, "clicked", "clicks", {})
        free = study.plan_budget(["gpt", "llama", "clicked"], hours=1.0, seconds=60)
        assert free["unpriced"].tolist() == [0, 0, 20, 0, 20]
        expected = "labels still to be made count as free, since no price or cost is known: 20 of llama"
        assert find_unpriced(free) == [expected]
        paid = study.plan_budget(["llama"], hours=1.0, seconds=60, prices={"llama": 0.5})
        assert (paid["labels"].tolist(), find_unpriced(paid)) == ([0, 10], [])
    assert expected in run("labels", "plan", campaign, "llama", "--hours", 1, "--seconds", 60).stderr


def test_columns_of_a_plan_differ(campaign: Path) -> None:
    for options in ([], ["--hours", 1, "--seconds", 60]):
        header = re.split("  +", ok("labels", "plan", campaign, "gpt", "-m", "P@5", *options).splitlines()[0].strip())
        assert header[-4:] == ["P@5, corrected", "difference, corrected", "P@5, combined", "difference, combined"]


def test_a_budget_on_the_command_line(campaign: Path) -> None:
    out = ok("labels", "plan", campaign, "gpt", "new", "--hours", 1, "--seconds", 60, "--price", "new=0.01")
    lines = [line.split()[0] for line in out.splitlines()[1:5]]
    assert lines == ["people", "gpt", "new", "gpt"]
    assert " (best)" in out
    assert "1.20" in out
    told = ok("labels", "plan", campaign, "gpt", "--hours", 1, "--seconds", 60, "--format", "json")
    assert [row["judgements"] for row in json.loads(told)] == [60, 60]
    assert (
        "expected NAME=NUMBER, found 'new'"
        in run("labels", "plan", campaign, "gpt", "--hours", 1, "--price", "new").stderr
    )
    assert "expected one label set, or a budget" in run("labels", "plan", campaign).stderr


@pytest.mark.long
def test_several_label_sets_correct_together(campaign: Path, tmp_path: Path) -> None:
    with Campaign(campaign) as opened:
        made = opened.store.machine_labels.create("other", "llm", {"model": "other"}, AT)
        rows = [
            LabelRow(f"q{t}", f"d{t}-{d}", "graded", float(g), AT)
            for t in range(10)
            for d, g in enumerate(truth(t, 12))
        ]
        opened.store.machine_labels.add(made.key, rows)
        opened.machine_labels.study.ask_people("gpt", 60)
        judge(opened, tmp_path)
        one, both = (opened.machine_labels.study.correct("gpt", None, also).values for also in ((), ("other", "gpt")))
        assert both["labels"].tolist() == one["labels"].tolist()
        assert (both["high"] - both["low"]).mean() < (one["high"] - one["low"]).mean()
    out = ok("labels", "correct", campaign, "gpt", "--also", "other")
    assert out.splitlines()[1].split() == [
        "run",
        "combined",
        "lowest",
        "highest",
        "corrected",
        "lowest",
        "highest",
        "labels",
        "alone",
    ]
