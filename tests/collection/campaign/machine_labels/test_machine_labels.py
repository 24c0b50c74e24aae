"""Label sets of a campaign: how they are made, exported, and shown to annotators."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection import Campaign, formats
from collection.campaign.exports.collection_card import CollectionChoices
from collection.campaign.machine_labels import label_sets, label_study
from collection.core import layout
from collection.core.errors import (
    BusyError,
    CampaignError,
    ConflictError,
    InputError,
    JudgementError,
    UnknownNameError,
)
from collection.core.records import Choice
from collection.store.machine_labels import LabelRow
from tests.helpers import Clock, fails, ok, run

AT = "2026-01-01T00:00:00.000+00:00"


def grades(campaign: Campaign, name: str) -> dict[str, float]:
    return dict(
        zip(*(campaign.machine_labels.sets.labels(name)[column] for column in ("doc_id", "relevance")), strict=True)
    )


def add_model_labels(campaign: Campaign, **by_document: float) -> None:
    """The set "judge" with labels of topic 1."""
    made = campaign.machine_labels.sets.create("judge", "llm", {"model": "acme/Alpha-7B"})
    rows = [
        LabelRow("1", doc_id, "graded", grade, AT, "Grade.", "Réponse", "alpha")
        for doc_id, grade in by_document.items()
    ]
    campaign.store.machine_labels.add(made.key, [*rows, LabelRow("2", "d4", "no grade", None, AT, problem="nonsense")])


# --- rules and clicks -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_set_grows_with_the_pool(campaign: Campaign) -> None:
    first = campaign.machine_labels.sets.label_by_rule(
        "contains-string", {"string": "document 2", "then": 3}, name="twos"
    )
    assert (first.added, first.without_grade, first.pairs) == (6, 0, 6)
    assert grades(campaign, "twos") == {"d1": 0, "d2": 3, "d6": 0, "d4": 0, "d5": 0, "d7": 0}
    campaign.people.pools.add("depth", depth=3)
    campaign.judging.judge("ann", "1", "d8", 1)  # outside the pool
    again = campaign.machine_labels.sets.label_by_rule(
        "contains-string", {"string": "document 2", "then": 3}, name="twos"
    )
    assert (again.label_set, again.added, again.pairs) == (first.label_set, 2, 8)
    with pytest.raises(ConflictError, match="was made in another way"):
        campaign.machine_labels.sets.label_by_rule("contains-string", {"string": "document 3"}, name="twos")
    (summary,) = campaign.machine_labels.sets.summaries()
    assert (summary.name, summary.kind, summary.graded, summary.no_grade) == ("twos", "rule", 8, 0)


def test_a_rule_that_fails_leaves_no_set(campaign: Campaign) -> None:
    with pytest.raises(InputError):
        campaign.machine_labels.sets.label_by_rule("matches-pattern", {"pattern": "("})
    with pytest.raises(InputError, match="expected a grade of this campaign"):
        campaign.machine_labels.sets.label_by_rule("contains-query", {"otherwise": 9})
    assert campaign.store.machine_labels.sets() == []


@pytest.mark.slow
def test_clicks_are_labels_between_0_and_1(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="no click log"):
        campaign.machine_labels.sets.label_by_clicks()
    lines = ["query_id,doc_id,rank,shown,clicked", "1,d1,1,100,50", "1,d1,2,100,25", "1,d2,2,100,50", "1,d2,1,10,9"]
    (tmp_path / "log.csv").write_text("\n".join([*lines, "9,d1,1,5,1\n"]))
    campaign.imports.import_files(clicks=tmp_path / "log.csv")
    found = campaign.machine_labels.sets.label_by_clicks(smoothing=0)
    estimate = campaign.corpus.clicks.estimate(smoothing=0).documents.set_index(["query_id", "doc_id"])[
        "attractiveness"
    ]
    assert grades(campaign, "clicks") == {doc_id: estimate["1", doc_id] for doc_id in ("d1", "d2")}
    assert found.label_set.settings["sources"] == {"log.csv": {"shown": 310, "clicked": 134}}
    assert campaign.machine_labels.sets.label_by_clicks(smoothing=0).added == 0
    with pytest.raises(CampaignError, match="qrels cannot be filled with 'clicks': expected grades"):
        campaign.machine_labels.files.filled(campaign.results.qrels.build(), "clicks")


# --- names ----------------------------------------------------------------------------------------------


def test_nobody_has_the_name_of_a_label_set(campaign: Campaign, tmp_path: Path) -> None:
    campaign.judging.judge("Ann", "1", "d1", 1)
    campaign.people.accounts.add("bob", "annotator")
    for taken in ("ann", "BOB"):
        with pytest.raises(ConflictError, match="is the name of an annotator"):
            campaign.machine_labels.sets.create(taken, "rule", {})
    for wrong in ("people", "qrels:x", "", "a\nb"):
        with pytest.raises(InputError):
            campaign.machine_labels.sets.create(wrong, "rule", {})
    campaign.machine_labels.sets.create("Judge", "rule", {})
    with pytest.raises(ConflictError, match="there is a label set"):
        campaign.machine_labels.sets.create("judge", "rule", {})
    with pytest.raises(ConflictError, match="is the name of a label set"):
        campaign.people.accounts.add("judge", "annotator")
    with pytest.raises(JudgementError, match="the name of a label set"):
        campaign.judging.judge("judge", "1", "d1", 1)
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\njudge,1,d1,2\n")
    with pytest.raises(ConflictError, match="has the name of a label set"):
        campaign.imports.import_files(labels=tmp_path / "labels.csv")


# --- exports --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_set_is_exported_with_what_made_it(campaign: Campaign, tmp_path: Path) -> None:
    add_model_labels(campaign, d1=2.0, d6=0.0)
    labels = campaign.machine_labels.files
    assert labels.export("judge", tmp_path / "j.txt") == 2
    assert (tmp_path / "j.txt").read_text() == "1 0 d1 2\n1 0 d6 0\n"
    assert labels.export("judge", tmp_path / "j.csv") == 2
    assert list(csv.DictReader((tmp_path / "j.csv").open())) == [
        {"label_set": "judge", "query_id": "1", "doc_id": doc_id, "relevance": grade}
        for doc_id, grade in (("d1", "2"), ("d6", "0"))
    ]
    assert labels.export("judge", tmp_path / "j.jsonl") == 3
    log = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert [(row["doc_id"], row["status"], row["reply"], row["problem"]) for row in log] == [
        ("d1", "graded", "Réponse", None), ("d6", "graded", "Réponse", None), ("d4", "no grade", None, "nonsense"),
    ]  # fmt: skip
    for file in ("j.txt", "j.csv", "j.jsonl"):
        report = json.loads((tmp_path / f"{file}.labels.json").read_text())
        assert report["settings"] == {"model": "acme/Alpha-7B"}
        assert (report["label_set"], report["kind"], report["labels"]) == ("judge", "llm", 2)
        assert report["status"] == {"graded": 2, "no grade": 1}
        assert report["warnings"][0] == (
            "The judging model acme/Alpha-7B may be part of 1 pooled system whose name contains 'alpha' (alpha): its "
            "labels may favour it."
        )
        assert "is unknown: people have not been asked to judge a random sample" in report["warnings"][1]
    with pytest.raises(UnknownNameError, match="unknown label set 'jugde'; did you mean 'judge'"):
        labels.export("jugde", tmp_path / "x.txt")
    with pytest.raises(InputError, match="belongs to the campaign"):
        labels.export("judge", campaign.directory / "campaign.db")


@pytest.mark.slow
def test_filled_qrels_say_who_gave_each_grade(campaign: Campaign, tmp_path: Path) -> None:
    add_model_labels(campaign, d1=2.0, d6=1.0, d8=3.0)  # d8 is in no pool
    campaign.judging.judge("ann", "1", "d1", 0)
    ok("export", campaign.directory, "--qrels", tmp_path / "plain.txt")
    assert (tmp_path / "plain.txt").read_text() == "1 0 d1 0\n"
    assert not (tmp_path / "plain.txt.labels.json").exists()
    ok("export", campaign.directory, "--qrels", tmp_path / "q.txt", "--fill-with", "judge")
    assert (tmp_path / "q.txt").read_text() == "1 0 d1 0\n1 0 d6 1\n"
    report = json.loads((tmp_path / "q.txt.labels.json").read_text())
    assert report["by"] == {"1": {"d1": "people", "d6": "judge"}}
    assert report["pairs"] == {"people": 1, "judge": 1}
    assert json.loads((tmp_path / "q.txt.rule.json").read_text())["pairs"] == 1
    ok("export", campaign.directory, "--qrels", tmp_path / "q.txt")
    assert not (tmp_path / "q.txt.labels.json").exists()  # of the qrels before
    said = "machine labels need a report next to their file"
    assert said in fails("export", campaign.directory, "--qrels", "/dev/stdout", "--fill-with", "judge")
    assert said in fails("export", campaign.directory, "--machine-labels", "judge", "/dev/stdout")
    for more in (["--unjudged"], ["--qrels-form", "strata"]):
        assert "machine labels fill the unjudged pairs of a plain qrels file" in fails(
            "export", campaign.directory, "--qrels", tmp_path / "x", "--fill-with", "judge", *more
        )
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_collection_with_machine_labels_says_so(campaign: Campaign, tmp_path: Path) -> None:
    add_model_labels(campaign, d1=2.0, d6=1.0)
    campaign.judging.judge("ann", "1", "d1", 0)
    plain = campaign.exports.collection.write(tmp_path / "plain").facts
    filled = campaign.exports.collection.write(tmp_path / "filled", CollectionChoices(fill_with="judge")).facts
    of_people = set(filled) - {"files", "made_at", "machine_labels"}
    assert {name: filled[name] for name in of_people} == {name: plain[name] for name in of_people}
    assert "machine_labels" not in plain
    assert filled["machine_labels"]["pairs"] == {"people": 1, "judge": 1}
    assert filled["machine_labels"]["per_grade"] == {"0": 0, "1": 1, "2": 0, "3": 0}
    card = (tmp_path / "filled" / "collection.md").read_text()
    assert "1 of 2 pairs in the qrels has no grade by people but a label of `judge`." in card
    assert "its labels may favour it" in card
    assert "Machine labels" not in (tmp_path / "plain" / "collection.md").read_text()
    assert (tmp_path / "filled" / "qrels.txt").read_text() == "1 0 d1 0\n1 0 d6 1\n"
    for file in ("qrels.txt", "qrels/test.tsv"):
        report = json.loads((tmp_path / "filled" / f"{file}.labels.json").read_text())
        assert report["by"] == {"1": {"d1": "people", "d6": "judge"}}


def test_machine_labels_do_not_fill_choices(campaign: Campaign) -> None:
    add_model_labels(campaign, d1=2.0)
    campaign.settings.set_judging_page(task="list", list_size=2, most_chosen=1)
    campaign.judging.topic_tasks.choose([Choice("a", "ann", "1", kind="chosen", shown=("d1", "d2"), chosen=("d1",))])
    with pytest.raises(CampaignError, match="fill qrels of judgements only, found qrels of choices"):
        campaign.exports.collection.facts(CollectionChoices(fill_with="judge"))


@pytest.mark.slow
def test_warnings_name_runs_of_the_model(campaign: Campaign) -> None:
    add_model_labels(campaign, d1=2.0)
    assert campaign.machine_labels.sets.runs_built_on("judge") == ["alpha"]
    campaign.machine_labels.sets.declare_runs("judge", ["beta"])
    declared, similar, *_ = campaign.machine_labels.study.warnings("judge")
    assert "Alpha-7B is part of 1 pooled system as declared (beta): its labels may favour it." in declared
    assert "Alpha-7B may be part of 1 pooled system whose name contains 'alpha' (alpha):" in similar
    campaign.machine_labels.sets.declare_runs("judge", ["beta", "alpha"])
    declared, other, *_ = campaign.machine_labels.study.warnings("judge")
    assert "is part of 2 pooled systems as declared (beta and alpha): its labels may favour them." in declared
    assert "pooled system" not in other
    with pytest.raises(UnknownNameError, match="unknown run 'gamma'"):
        campaign.machine_labels.sets.declare_runs("judge", ["gamma"])


# --- what annotators see --------------------------------------------------------------------------------


@pytest.mark.slow
def test_judgements_after_seeing_a_label_are_marked(
    campaign: Campaign, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "collection.core.clock.now", lambda: datetime.fromtimestamp(clock.at, UTC).isoformat(timespec="milliseconds")
    )
    add_model_labels(campaign, d1=2.0, d2=1.0)
    labels = campaign.machine_labels.sets
    assert labels.show("ann", "1", ["d1"]) == {}
    assert campaign.store.machine_labels.views().empty
    campaign.settings.set_judging_page(show_labels="judge")
    campaign.judging.judge("ann", "1", "d1", 0)  # before she sees the label
    clock.passes(1)
    assert labels.show("ann", "1", ["d1", "d2", "d6"]) == {"d1": 2.0, "d2": 1.0}
    clock.passes(1)
    campaign.judging.judge("ann", "1", "d2", 1)
    campaign.judging.judge("ann", "1", "d6", 1)
    campaign.judging.judge("bob", "1", "d2", 1)
    campaign.exports.files.write(judgements=tmp_path / "log.csv")
    seen = [
        (row["annotator"], row["doc_id"], row["saw_label"]) for row in csv.DictReader((tmp_path / "log.csv").open())
    ]
    assert seen == [("ann", "d1", ""), ("ann", "d2", "judge"), ("ann", "d6", ""), ("bob", "d2", "")]
    campaign.exports.collection.write(tmp_path / "c")
    lines = (tmp_path / "c" / "judgements.jsonl").read_text().splitlines()
    assert [json.loads(line)["saw_label"] for line in lines] == ["", "judge", "", ""]
    unseen = labels.unseen("judge", campaign.results.agreement.labels())
    assert list(zip(unseen["annotator"], unseen["doc_id"], strict=True)) == [
        ("ann", "d1"),
        ("ann", "d6"),
        ("bob", "d2"),
    ]
    note = "1 judgement was given after the annotator saw a machine label of the pair, and is not independent of it."
    assert note in campaign.results.agreement.report(resamples=0).notes
    campaign.judging.judge("ann", "1", "d1", 2)  # revised in view of the label
    assert len(labels.unseen("judge", campaign.results.agreement.labels())) == 2


def test_the_log_has_no_new_column_while_nobody_saw_a_label(campaign: Campaign, tmp_path: Path) -> None:
    add_model_labels(campaign, d1=2.0)
    campaign.judging.judge("ann", "1", "d1", 0)
    campaign.exports.files.write(judgements=tmp_path / "log.parquet")
    assert "saw_label" not in pd.read_parquet(tmp_path / "log.parquet")


def test_only_a_known_set_is_shown(campaign: Campaign) -> None:
    with pytest.raises(UnknownNameError, match="unknown label set 'judge'"):
        campaign.settings.set_judging_page(show_labels="judge")
    add_model_labels(campaign, d1=2.0)
    assert campaign.settings.set_judging_page(show_labels="judge").show_labels == "judge"
    assert campaign.settings.set_judging_page(show_labels="").show_labels == ""


def test_two_processes_that_label_by_the_same_rule_label_each_pair_once(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = label_sets.label_pairs

    def label_meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(label_sets, "label_pairs", label)
        with Campaign(campaign.directory) as other:
            assert other.machine_labels.sets.label_by_rule("contains-query").added == 6
        return label(*arguments)

    monkeypatch.setattr(label_sets, "label_pairs", label_meanwhile)
    labelled = campaign.machine_labels.sets.label_by_rule("contains-query")
    assert (labelled.added, labelled.pairs) == (0, 6)
    assert len(list(campaign.store.machine_labels.log(labelled.label_set.key))) == 6


# --- labels from files ----------------------------------------------------------------------------------


def write_qrels(path: Path, tag: str = "0") -> Path:
    path.write_text(f"1 {tag} d1 2\n1 {tag} d2 0\n2 {tag} d4 3\n2 {tag} d9 -1\n")
    return path


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("qrels_umbrela_gpt-4o.txt", "gpt-4o"),
        ("qrels.rag24.test-umbrela-all.txt", "umbrela-all"),
        ("Llama-3-8b_direct.qrels", "llama-3-8b_direct.qrels"),
        ("ChatGPT.judgments", "gpt.judgments"),
        ("2024-LLM-qrels", "llm-qrels"),
        ("test.claude-3-5-sonnet.trec", "claude-3-5-sonnet"),
    ],
)
def test_qrels_of_a_language_model_are_a_label_set(campaign: Campaign, tmp_path: Path, name: str, model: str) -> None:
    label_set = formats.stem(name).removesuffix(".qrels")
    for added in ("3 new", "0 new, 3 unchanged"):
        report = campaign.imports.import_files(qrels=write_qrels(tmp_path / name))
        assert f"3 machine labels in the label set {label_set!r} ({added})" in report.done[0]
        assert any("they are machine labels, never judgements. If people gave them" in each for each in report.notices)
    (made,) = campaign.store.machine_labels.sets()
    assert (made.kind, made.settings["model"]) == ("llm", model)
    assert grades(campaign, label_set) == {"d1": 2, "d2": 0, "d4": 3}
    assert campaign.store.judgements.counts()["judgements"] == 0
    report = campaign.imports.import_files(qrels=tmp_path / name, by_people=True)
    assert "3 judgements by annotator" in report.done[0]


@pytest.mark.parametrize(
    "name",
    [
        "qrels.dl19-passage.txt", "2019qrels-pass.txt", "qrels.msmarco-v2.1-doc.dev.txt", "cranqrel.trec.txt",
        "llm4eval_dev_qrel_2024.txt", "commandments.qrels", "philosophy3.qrels", "fellman.txt", "rankings-olmos.txt",
    ],
)  # fmt: skip
def test_qrels_of_people_are_judgements(campaign: Campaign, tmp_path: Path, name: str) -> None:
    assert "3 judgements" in campaign.imports.import_files(qrels=write_qrels(tmp_path / name)).done[0]
    assert campaign.store.machine_labels.sets() == []


@pytest.mark.parametrize(
    "text",
    [
        "1 gpt-4o d1 2\n1 gpt-4o d2 0\n2 gpt-4o d4 3\n",
        "1 0 d1 2 umbrela\n1 0 d2 0 umbrela\n2 0 d4 3 umbrela\n",
        '{"query_id": "1", "doc_id": "d1", "relevance": 2, "model": "gpt-4o"}\n'
        '{"query_id": "1", "doc_id": "d2", "relevance": 0}\n{"query_id": "2", "doc_id": "d4", "relevance": 3}\n',
    ],
)
def test_a_tag_in_qrels_says_that_a_model_gave_the_grades(campaign: Campaign, tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.qrels").write_text(text)
    campaign.imports.import_files(qrels=tmp_path / "mine.qrels")
    assert grades(campaign, "mine") == {"d1": 2, "d2": 0, "d4": 3}
    assert campaign.store.judgements.counts()["judgements"] == 0


def test_annotators_that_are_models_become_label_sets(campaign: Campaign, tmp_path: Path) -> None:
    rows = ["annotator,query_id,doc_id,relevance", "gpt-4o-mini,1,d1,2", "ann,1,d1,1", "Claude,1,d2,3", "llama3,1,d2,0"]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    report = campaign.imports.import_files(labels=tmp_path / "labels.csv")
    assert [each.name for each in campaign.store.machine_labels.sets()] == ["gpt-4o-mini", "llama3"]
    judged = campaign.store.judgements.table(columns=("annotator",))["annotator"]
    assert sorted(judged) == ["Claude", "ann"]
    assert any("'gpt-4o-mini' and 'llama3' are the names of language models" in each for each in report.notices)


@pytest.mark.long
def test_exported_labels_are_never_read_as_judgements(campaign: Campaign, tmp_path: Path) -> None:
    campaign.machine_labels.sets.label_by_rule("contains-string", {"string": "document 2", "then": 3}, name="twos")
    campaign.judging.judge("ann", "1", "d1", 1)
    ok("export", campaign.directory, "--machine-labels", "twos", tmp_path / "weak.qrels")
    ok("export", campaign.directory, "--qrels", tmp_path / "filled.qrels", "--fill-with", "twos")
    with Campaign.create(tmp_path / "other", grades="0-3") as other:
        (tmp_path / "topics.tsv").write_text("1\tone\n2\ttwo\n")
        other.imports.import_files(topics=tmp_path / "topics.tsv", qrels=tmp_path / "weak.qrels")
        (made,) = other.store.machine_labels.sets()
        assert (made.name, made.kind, made.settings["rule"]) == ("twos", "rule", "contains-string")
        assert grades(other, "twos") == grades(campaign, "twos")
        assert other.store.judgements.counts()["judgements"] == 0
        ok("export", campaign.directory, "--machine-labels", "twos", tmp_path / "weak.csv")
        report = other.imports.import_files(labels=tmp_path / "weak.csv", annotator="ann")
        assert "6 machine labels in the label set 'twos' (0 new, 6 unchanged)" in report.done[0]
        assert other.store.judgements.counts()["judgements"] == 0
        ok("export", campaign.directory, "--collection", tmp_path / "OUT", "--fill-with", "twos")
        with Campaign.create(tmp_path / "third", grades="0-3") as third:
            third.imports.import_files(collection=tmp_path / "OUT")
            assert third.store.judgements.counts()["judgements"] == 1
        report = other.imports.import_files(qrels=tmp_path / "filled.qrels")
        assert "1 judgement by" in report.done[0]
        assert any("skipped 5 machine labels of 'twos' among the grades" in each for each in report.notices)


def test_labels_of_a_file_are_named_by_an_option(campaign: Campaign, tmp_path: Path) -> None:
    shown = ok("labels", "import", campaign.directory, write_qrels(tmp_path / "mine.txt"))
    assert "mine.txt: 3 machine labels in the label set 'mine' (3 new)" in shown
    (tmp_path / "high.txt").write_text("1 0 d1 7\n")
    report = campaign.imports.import_files(machine_labels=tmp_path / "high.txt")
    assert "1 label is no grade of this campaign (0, 1, 2, 3), such as 7. The agreement" in report.notices[-1]
    campaign.judging.judge("ann", "1", "d1", 1)
    with pytest.raises(ConflictError, match="'ann' is the name of an annotator; .*; rename the file"):
        campaign.imports.import_files(machine_labels=write_qrels(tmp_path / "ann.txt"))


def test_a_label_set_is_named_after_its_file_without_the_ending(campaign: Campaign, tmp_path: Path) -> None:
    path = write_qrels(tmp_path / "umbrela.qrels")
    assert "in the label set 'umbrela'" in ok("labels", "import", campaign.directory, path)
    with path.open() as file:  # as `< umbrela.qrels` does
        pipe = f"/dev/fd/{file.fileno()}"
        assert "in the label set 'mine'" in ok("labels", "import", campaign.directory, pipe, "--name", "mine")
        assert "found a pipe" in fails("labels", "import", campaign.directory, pipe)


def test_a_judge_in_several_files_is_one_set(campaign: Campaign, tmp_path: Path) -> None:
    for name, lines in {"a": "1 0 d1 1\n", "b": "1 0 d2 2\n", "c": "1 0 d1 0\n1 0 d3 1\n"}.items():
        (tmp_path / f"{name}.qrels").write_text(lines)
    parts = [tmp_path / "a.qrels", tmp_path / "b.qrels"]
    ok("labels", "import", campaign.directory, *parts, "--name", "judge")
    assert grades(campaign, "judge") == {"d1": 1, "d2": 2}
    other = fails("labels", "import", campaign.directory, tmp_path / "c.qrels", "--name", "judge")
    assert "1 pair has other labels in the label set 'judge'; choose another name" in other
    assert grades(campaign, "judge") == {"d1": 1, "d2": 2}
    for part in parts:
        again = ok("labels", "import", campaign.directory, part, "--name", "judge")
        assert "(0 new, 1 unchanged)" in again


def test_what_a_set_lacks_is_counted_over_all_its_files(campaign: Campaign, tmp_path: Path) -> None:
    pool = campaign.store.pool.pairs()[["query_id", "doc_id"]].values.tolist()
    lines = [f"{query_id} 0 {doc_id} 1\n" for query_id, doc_id in pool]
    path = tmp_path / "judge.qrels"
    path.write_text("".join(lines[:-1]))
    assert "1 pair of the pool has no label" in noted("labels", "import", campaign.directory, path)
    path.write_text(lines[-1])
    assert "of the pool" not in noted("labels", "import", campaign.directory, path)


def test_a_file_of_several_judges_is_a_set_for_each(campaign: Campaign, tmp_path: Path) -> None:
    """Repeated pairs are samples, whose lower median is the label; -1 is no label; unknown topics are skipped."""
    rows = ["gpt-4o,1,d1,3", "gpt-4o,1,d1,0", "gpt-4o,1,d1,1", "gpt-4o,1,d1,2", "llama,1,d1,1", "llama,1,d2,-1",
            "gpt-4o,1,d2,2", "gpt-4o,1,d2,2", "gpt-4o,9,d2,2", "llama,9,d2,2",
            "gpt-4o,1,d9,1", "human,1,d1,1"]  # fmt: skip
    (tmp_path / "a.csv").write_text("annotator,qid,docno,grade\n" + "\n".join(rows))
    shown = noted("labels", "import", campaign.directory, tmp_path / "a.csv", "--judge", "gpt-4o", "--judge", "llama")
    assert shown.count("not in the campaign") == 1
    assert [each.name for each in campaign.machine_labels.sets.summaries()] == ["gpt-4o", "llama"]
    assert grades(campaign, "gpt-4o") == {"d1": 1, "d2": 2, "d9": 1}
    assert grades(campaign, "llama") == {"d1": 1}
    assert campaign.machine_labels.sets.find("gpt-4o").settings["model"] == "gpt-4o"  # type: ignore[union-attr]
    assert campaign.store.judgements.counts()["judgements"] == 0
    for sentence in (
        "'gpt-4o': 2 pairs are labelled several times, 3.0 times on average; the samples of 50% differ, with a mean "
        "standard deviation of 0.65",
        "'gpt-4o': 1 label is outside the pool",
        "'llama': skipped 1 label that is empty or negative",
        "skipped 1 topic that is not in the campaign (9)",
    ):
        assert sentence in shown
    again = campaign.imports.import_files(machine_labels=tmp_path / "a.csv")
    assert "3 machine labels in the label set 'gpt-4o' (0 new, 3 unchanged)" in again.done[0]
    assert campaign.machine_labels.sets.summaries()[0].spread.samples == 6  # type: ignore[union-attr]
    (tmp_path / "a.csv").write_text("annotator,qid,docno,grade\nllama,1,d1,3\nllama,1,d2,3\n")
    changed = campaign.imports.import_files(machine_labels=tmp_path / "a.csv")
    assert grades(campaign, "llama") == {"d1": 1, "d2": 3}
    assert any("1 label differs from that in the label set, which stays" in each for each in changed.notices)
    assert "expected labels of one judge for the label set 'x', found 3" in fails(
        "labels", "import", campaign.directory, write_several(tmp_path / "b.csv"), "--name", "x"
    )
    assert "unknown judge in" in fails("labels", "import", campaign.directory, tmp_path / "b.csv", "--judge", "nobody")
    assert [each.name for each in campaign.machine_labels.sets.summaries()] == ["gpt-4o", "llama", "human"]


def noted(*arguments: object) -> str:
    """The notes that a command prints, which must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stderr


def write_several(path: Path) -> Path:
    path.write_text("judge,qid,docno,grade\na,1,d1,3\nb,1,d1,3\nc,1,d1,3\n")
    return path


def test_grades_of_a_file_are_mapped(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "five.qrels").write_text("1 0 d1 5\n1 0 d2 4\n2 0 d4 1\n")
    shown = noted("labels", "import", campaign.directory, tmp_path / "five.qrels", "--name", "raw")
    assert "2 labels are no grades of this campaign (0, 1, 2, 3), such as 4" in shown
    assert "`--map 4=3,5=3`" in shown
    shown = noted(
        "labels", "import", campaign.directory, tmp_path / "five.qrels", "--name", "five", "--map", "4=3,5=3",
        "--map", "2=1",
    )  # fmt: skip
    assert grades(campaign, "five") == {"d1": 3, "d2": 3, "d4": 1}
    assert "label set 'five': no label has the grade 2" in shown
    assert campaign.machine_labels.sets.named("five").settings["grades_in_file"] == {"4": 3, "5": 3, "2": 1}
    (tmp_path / "two.qrels").write_text("1 0 d1 1\n1 0 d2 0\n")
    assert "the grades are 0 and 1, those of the campaign 0, 1, 2, 3" in noted(
        "labels", "import", campaign.directory, tmp_path / "two.qrels"
    )
    for wrong in ("4", "4=x", "4=-1", "4=3,4=2", "nan=1"):
        refused = run("labels", "import", campaign.directory, tmp_path / "two.qrels", "--map", wrong)
        assert refused.exit_code == 2, wrong
        assert "--map: expected" in refused.stderr


def test_a_renamed_set_stays_in_use(campaign: Campaign) -> None:
    sets = campaign.machine_labels.sets
    sets.label_by_rule("contains-string", {"string": "document 2"}, name="weak")
    sets.declare_runs("weak", ["beta"])
    campaign.settings.set_judging_page(show_labels="weak")
    before, key = grades(campaign, "weak"), campaign.machine_labels.study.cache_key()
    assert "Renamed the label set weak to Strong" in ok("labels", "rename", campaign.directory, "weak", " Strong ")
    assert [each.name for each in sets.summaries()] == ["Strong"]
    assert grades(campaign, "Strong") == before
    assert sets.runs_built_on("Strong") == ["beta"]
    assert campaign.settings.judging_page().show_labels == "Strong"
    assert campaign.machine_labels.study.cache_key() != key
    assert sets.rename("Strong", "strong").name == "strong"  # another spelling of its own name
    campaign.judging.judge("ann", "1", "d1", 1)
    for taken, said in (("ann", "name of an annotator"), ("people", "stands for grades by people"), ("", "expected 1")):
        assert said in fails("labels", "rename", campaign.directory, "strong", taken)
    with pytest.raises(UnknownNameError):
        sets.rename("weak", "other")
    assert sets.declared_runs(sets.create("weak", "llm", {})) == []  # another set of the former name
    campaign.store.settings.put(label_sets.BATCHES, {"strong": ["mark", "id", 1, AT]})
    with pytest.raises(CampaignError, match="cannot be renamed: a batch of requests is in progress"):
        sets.rename("strong", "other")


# --- deletion -------------------------------------------------------------------------------------------


def test_a_deleted_set_leaves_no_trace(campaign: Campaign, tmp_path: Path) -> None:
    """Exports, the study of other sets and names are afterwards as if the set had never been."""
    sets, study = campaign.machine_labels.sets, campaign.machine_labels.study
    sets.label_by_rule("contains-string", name="weak")
    sets.declare_runs("weak", ["beta"])
    campaign.judging.judge("ann", "1", "d1", 1)

    def state() -> tuple[object, ...]:
        exported = [campaign.exports.files.write(judgements=tmp_path / "log.csv"), (tmp_path / "log.csv").read_text()]
        compared = study.compare("weak", resamples=0).coefficients.to_csv()
        tables = ("label_sets", "machine_labels", "injection_probes", "label_views", "human_samples", "settings")
        rows = [campaign.store.connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
        return exported, compared, rows, study.warnings("weak"), campaign.results.overview.status()

    before, version = state(), campaign.store.machine_labels.version()
    add_model_labels(campaign, d1=1, d2=2)
    made = sets.named("judge")
    campaign.store.machine_labels.add_probe(made.key, [LabelRow("1", "request", "graded", 1.0, AT)])
    sets.declare_runs("judge", ["beta"])
    assert str(sets.preview_deletion("judge")) == "2 labels, 1 pair without a grade and 1 probe answer"
    assert sets.delete("judge") == (2, 1, 1, 0)
    assert state() == before
    with pytest.raises(UnknownNameError, match="unknown label set 'judge'"):
        sets.delete("judge")
    add_model_labels(campaign, d1=2, d2=1)  # as many rows as before, under another key
    assert sets.named("judge").key > made.key
    sets.delete("judge")
    assert campaign.store.machine_labels.version() != version  # so that nothing cached comes back


def test_a_set_in_use_is_not_deleted(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_study, "LEAST_SAMPLE", 1)
    sets, study, page = campaign.machine_labels.sets, campaign.machine_labels.study, campaign.settings.set_judging_page
    for name in ("weak", "other"):
        sets.label_by_rule("contains-string", name=name)

    def refused(reason: str) -> None:
        kept = campaign.store.machine_labels.version()
        with pytest.raises(CampaignError, match=f"the label set 'weak' cannot be deleted: {reason}"):
            sets.delete("weak")
        assert campaign.store.machine_labels.version() == kept

    campaign.store.settings.put("batches under way", {"weak": ["mark", "id", 2, AT]})
    refused("a batch of requests is in progress; collect it")
    campaign.store.settings.put("batches under way", {})
    with layout.locked(campaign.directory, "labelling"), pytest.raises(BusyError, match="another process is labelling"):
        sets.delete("weak")
    study.ask_people("weak", 2)
    study.ask_people("other", 2)
    assert sets.preview_deletion("weak").sample == 6  # drawn, and no longer judged
    study.ask_people("weak", 2)
    refused(r"annotators judge its random sample; return to the whole pool with `cleverdon labels ask")
    study.ask_people("other", 2)
    page(show_labels="weak")
    refused("annotators see its labels on the judging page; hide them")
    documents = campaign.judging.next_pairs("ann", "1", 1).documents
    with campaign.store.transaction():
        sets.show("ann", "1", [document.doc_id for document in documents])
    page(show_labels="")
    refused("1 pair is reserved for annotators who saw the label; release them with `cleverdon assign DIR")
    campaign.people.assignments.release("ann")
    sets.preview_deletion("weak")
    campaign.judging.judge("ann", "1", documents[0].doc_id, 1)
    campaign.judging.judge("ann", "1", documents[0].doc_id, undo=True)
    refused("1 pair was judged after the annotator saw the label, which exports of the log record as saw_label; keep")
    sample = campaign.store.machine_labels.sample(sets.named("other").key)
    study.ask_for_pool()
    sets.delete("other")
    assert len(sample) == 6  # gone with the set, and that of the other one stays
    assert len(campaign.store.machine_labels.sample(sets.named("weak").key)) == 6
