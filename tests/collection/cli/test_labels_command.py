"""`cleverdon labels`, and machine labels in other commands."""

import json
from pathlib import Path

import pytest

from collection import Campaign
from collection.campaign.machine_labels import label_study
from tests.helpers import ok, run


def refused(*arguments: object) -> str:
    """The first line of an error."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()[0]


@pytest.mark.slow
def test_a_rule_labels_the_pool(campaign: Campaign) -> None:
    directory = campaign.directory
    assert ok("labels", "list", directory) == "The campaign has no label sets.\n"
    made = run("labels", "rule", directory, "contains-string", "--set", "string=document 2", "--set", "then=2")
    assert made.stdout == "Labelled 6 pairs in the label set contains-string.\n"
    again = ok("labels", "rule", directory, "contains-string", "--set", "string=document 2", "--set", "then=2")
    assert again == "Labelled 0 pairs in the label set contains-string; 6 were labelled before.\n"
    missing = run("labels", "rule", directory, "contains-string", "--set", "field=author", "--name", "by-author")
    assert missing.stderr == "note: 6 pairs have no label, because the rule gave none\n"
    rows = json.loads(ok("labels", "list", directory, "--format", "json"))
    assert [(row["name"], row["kind"], row["graded"], row["no_grade"]) for row in rows] == [
        ("contains-string", "rule", 6, 0), ("by-author", "rule", 0, 6),
    ]  # fmt: skip
    assert "contains-string  rule       6         0       0" in ok("labels", "list", directory)


@pytest.mark.slow
def test_runs_are_declared_and_warned_of(campaign: Campaign, tmp_path: Path) -> None:
    directory = campaign.directory
    campaign.machine_labels.sets.create("gpt", "llm", {"model": "gpt-9"})
    assert "beta" in ok("labels", "declare", directory, "gpt", "beta")
    assert json.loads(ok("labels", "list", directory, "--format", "json"))[0]["built_on"] == ["beta"]
    exported = run("export", directory, "--machine-labels", "gpt", tmp_path / "l.csv")
    assert exported.stderr.splitlines()[:2] == [
        f"note: {tmp_path / 'l.csv'} is empty: the label set has no labels with a grade",
        "note: The judging model gpt-9 is part of 1 pooled system as declared (beta): its labels may favour it.",
    ]


def test_the_next_step_after_a_sample_is_not_the_export(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_study, "LEAST_SAMPLE", 1)
    campaign.machine_labels.sets.label_by_rule("contains-string", name="weak")
    campaign.machine_labels.study.ask_people("weak", 2)
    asked = campaign.store.pool.annotators_wanted()
    for query_id, doc_id in asked.loc[asked["wanted"] > 0, ["query_id", "doc_id"]].itertuples(index=False):
        campaign.judging.judge("ann", query_id, doc_id, 1)
    step = campaign.results.overview.next_step()
    assert step.page == "machine-labels"
    assert "4 other pairs of the pool are not judged" in step.sentence
    campaign.machine_labels.study.ask_for_pool()
    assert campaign.results.overview.next_step().page == "judge"
    both = run("labels", "ask", campaign.directory, "weak", "--pairs", "20", "--whole-pool")
    assert "expected one of --pairs and --whole-pool" in both.stderr


@pytest.mark.slow
@pytest.mark.long
def test_filled_qrels_are_told(campaign: Campaign, tmp_path: Path) -> None:
    campaign.judging.judge("ann", "1", "d1", 0)
    campaign.machine_labels.sets.label_by_rule("contains-string", name="weak")
    exported = run("export", campaign.directory, "--qrels", tmp_path / "q", "--fill-with", "weak")
    assert exported.stdout == f"{tmp_path / 'q'}: 6 lines\n"
    said = "note: {0}: pairs without a grade by people have labels of weak; {0}.labels.json says which"
    assert exported.stderr.splitlines()[0] == said.format(tmp_path / "q")
    assert (tmp_path / "q.labels.json").is_file()
    report = json.loads((tmp_path / "q.rule.json").read_text())
    assert (report["pairs"], report["machine_labels"]["pairs"]) == (1, 5)
    assert "The difference between these labels and people's grades is unknown" in exported.stderr
    more = ("--fill-with", "weak", "--licence", "CC0")
    exported = run("export", campaign.directory, "--collection", tmp_path / "c", *more)
    assert exported.stderr.splitlines()[0] == said.format(tmp_path / "c" / "qrels.txt")
    assert (tmp_path / "c" / "qrels.txt.labels.json").is_file()
    assert "## Machine labels" in (tmp_path / "c" / "collection.md").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "expected RULE, found nothing"),
        (["contains-quary"], "unknown label rule 'contains-quary'; did you mean 'contains-query'?"),
        (["contains-query", "--set", "terms=some"], "unknown value of terms for contains-query 'some'"),
    ],
)
def test_rules_that_are_refused(campaign: Campaign, options: list[str], said: str) -> None:
    assert said in refused("labels", "rule", campaign.directory, *options)
    assert campaign.store.machine_labels.sets() == []


def test_a_label_set_is_deleted(campaign: Campaign) -> None:
    campaign.machine_labels.sets.label_by_rule("contains-string", name="weak")
    campaign.settings.set_judging_page(show_labels="weak")
    command = ("labels", "delete", campaign.directory, "weak")
    assert "the label set 'weak' cannot be deleted: annotators see its labels" in refused(*command, "--yes")
    campaign.settings.set_judging_page(show_labels="")
    assert "expected --yes to accept the deletion, since there is no terminal" in refused(*command)
    assert ok(*command, "--yes") == "Deleted the label set weak with 6 labels.\n"
    assert ok("labels", "list", campaign.directory) == "The campaign has no label sets.\n"
    assert "unknown label set 'weak'" in refused(*command, "--yes")
    assert campaign.machine_labels.sets.label_by_rule("contains-query", name="weak").added == 6


def test_labels_are_added_to_qrels_only(campaign: Campaign) -> None:
    said = refused("export", campaign.directory, "--pool", "p", "--fill-with", "x")
    assert "--fill-with adds labels to qrels" in said


def test_rules_are_listed() -> None:
    assert "contains-query" in ok("methods", "label-rules")
    assert "unknown command 'rules'; did you mean 'rule'?" in refused("labels", "rules")


def test_the_setting_of_the_judging_page(campaign: Campaign) -> None:
    assert "unknown label set 'weak'" in refused("judging-page", campaign.directory, "--show-labels", "weak")
    campaign.machine_labels.sets.create("weak", "rule", {})
    assert (
        json.loads(ok("judging-page", campaign.directory, "--show-labels", "weak", "--format", "json"))["show_labels"]
        == "weak"
    )
    assert (
        json.loads(ok("judging-page", campaign.directory, "--show-labels", "", "--format", "json"))["show_labels"] == ""
    )
