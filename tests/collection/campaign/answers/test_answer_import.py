"""Import of answers, nuggets and labels from files, and their evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from collection import Campaign
from collection.core.errors import CampaignError, ConflictError, FormatError, InputError, UnknownNameError
from collection.core.layout import NUGGET_ASSIGNMENT
from tests.helpers import SHARED, fails, ok, run

RAG = SHARED / "data" / "rag"
real = pytest.mark.skipif(not RAG.is_dir(), reason="without the shared data")


def answer(run: str, topic: str, *sentences: tuple[str, list[int]], references: tuple[str, ...] = ("d1", "d2")) -> Any:
    texts = [{"text": text, "citations": cited} for text, cited in sentences]
    words = sum(len(text.split()) for text, _ in sentences)
    return {"run_id": run, "topic_id": topic, "topic": f"topic {topic}", "references": list(references),
            "response_length": words, "answer": texts}  # fmt: skip


def nugget_list(topic: str, *labels: str, run: str = "") -> Any:
    nuggets = [
        {"text": text, "importance": importance, **({"assignment": label} if run else {})}
        for (text, importance), label in zip(
            (("Air is fast.", "vital"), ("Pressure falls.", "okay")), labels or ("", ""), strict=True
        )
    ]
    more = {"run_id": run, "answer_text": f"{run} says.", "response_length": 2} if run else {}
    return {"query": f"topic {topic}", "qid": topic, "nuggets": nuggets, **more}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Two runs on two topics, of which one run leaves the second topic empty; nuggets; labels of both tasks."""
    cited = [("Air is fast.", 0, "d1", "2"), ("It lifts.", 1, "d2", "-1")]
    sentences = [
        {"sentenceID": place, "text": text, "citations": [{"citationID": of, "reference": doc_id, "support": grade}]}
        for place, (text, of, doc_id, grade) in enumerate(cited)
    ]
    support = {"topic_id": "1", "run_id": "team.a", "sentences": sentences}
    return {
        "answers": write(
            tmp_path / "answers.jsonl",
            answer("team.a", "1", ("Air is fast.", [0]), ("It lifts.", [1])),
            answer("team.a", "2", ("Heat flows.", [0])),
            answer("b", "1", ("Wings are thin.", [0, 1])),
            answer("b", "2"),
        ),
        "nuggets": write(tmp_path / "nuggets.jsonl", nugget_list("1"), nugget_list("2")),
        "nugget-assignments": write(
            tmp_path / "nist.jsonl",
            nugget_list("1", "support", "partial_support", run="a"),
            nugget_list("1", "not_support", "historical", run="b"),
            nugget_list("2", "support", "not_support", run="a"),
        ),
        "support": write(tmp_path / "webassess.jsonl", support),
    }


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "campaign") as campaign:
        yield campaign


def options(files: dict[str, Path]) -> list[object]:
    return [part for name, path in files.items() for part in (f"--{name}", path)]


@pytest.mark.long
def test_files_become_answers_nuggets_and_judgements_of_the_tasks(campaign: Campaign, files: dict[str, Path]) -> None:
    printed = ok("import", campaign.directory, *options(files))
    assert "2 topics of the answers" in printed
    assert f"{files['answers']}: 4 answers of 2 runs (4 new)" in printed
    assert f"{files['nuggets']}: 4 nuggets (4 new)" in printed
    assert f"{files['nugget-assignments']}: 6 judgements by annotator 'qrels:nist' (6 new)" in printed
    assert f"{files['support']}: 1 judgement by annotator 'qrels:webassess' (1 new)" in printed
    assert "(0 new, 6 unchanged)" in ok("import", campaign.directory, *options(files))
    with campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.counts()["judgements"] == 6
        assert task.store.pool.pairs().shape[0] == 6  # not of the empty answer
    evaluation = campaign.answers.evaluate(["nugget_vital", "nugget_all(strict=True)", "support_precision"])
    values = evaluation.per_topic().pivot(index=["run", "query_id"], columns="measure", values="value")
    assert values["nugget_vital"].to_dict() == {
        ("team.a", "1"): 1.0, ("team.a", "2"): 1.0, ("b", "1"): 0.0, ("b", "2"): 0.0,
    }  # fmt: skip
    assert values.loc[("team.a", "1"), "support_precision"] == 1.0
    table = ok("answers", "evaluate", campaign.directory, "-m", "nugget_vital")
    assert table.split()[-4:] == ["b", "0.0000", "team.a", "1.0000"]


@pytest.mark.parametrize("order", ["together", "nugget-assignments", "support"])
@pytest.mark.long
def test_sentences_of_support_divide_answers_of_nugget_assignments(
    campaign: Campaign, tmp_path: Path, files: dict[str, Path], order: str
) -> None:
    """The whole text of an answer has other blanks and punctuation than its sentences."""
    whole = nugget_list("1", "support", "not_support", run="a") | {"answer_text": "Air is  fast . It lifts"}
    assigned = write(tmp_path / "whole.jsonl", whole)
    named = {"nugget-assignments": assigned, "support": files["support"]}
    ok("import", campaign.directory, "--topics", write(tmp_path / "topics.jsonl", {"query_id": "1", "title": "wings"}))
    if order == "together":
        printed = ok("import", campaign.directory, *options(named))
    else:
        ok("import", campaign.directory, f"--{order}", named[order])
        (other,) = named.keys() - {order}
        number = campaign.store.answers.answers()["number"].tolist()
        printed = ok("import", campaign.directory, f"--{other}", named[other])
        assert campaign.store.answers.answers()["number"].tolist() == number
    assert "skipped" not in printed
    assert campaign.store.answers.sentences()["text"].tolist() == ["Air is fast.", "It lifts."]
    values = campaign.answers.evaluate(["nugget_all", "support_precision"]).means().iloc[0]
    assert values.to_dict() == {"nugget_all": 0.5, "support_precision": 1.0}


@pytest.mark.parametrize("owner", [(), ("--annotator", "ann")])
def test_labels_of_empty_answers_are_left_out(
    campaign: Campaign, files: dict[str, Path], owner: tuple[str, ...]
) -> None:
    empty = nugget_list("2", "not_support", "support", run="b") | {"answer_text": "", "response_length": 0}
    named = {**files, "nugget-assignments": write(files["answers"].with_name("empty.jsonl"), empty)}
    imported = run("import", campaign.directory, *options(named), *owner)
    assert imported.exit_code == 0
    assert f"{named['nugget-assignments']}: skipped 2 labels of empty answers, which count as 0" in imported.stderr
    with campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.counts()["judgements"] == 0


def test_other_words_are_another_answer(campaign: Campaign, tmp_path: Path, files: dict[str, Path]) -> None:
    other = nugget_list("1", "support", "not_support", run="team.a") | {"answer_text": "Air is slow. It lifts."}
    campaign.answers.import_files(nugget_assignments=write(tmp_path / "other.jsonl", other))
    assert "expected labels of answers in the campaign" in fails(
        "import", campaign.directory, "--support", files["support"]
    )
    with pytest.raises(ConflictError, match="another answer of run 'team.a'"):
        campaign.answers.import_files(answers=files["answers"])


def test_the_command_says_how_missing_answers_count(campaign: Campaign, files: dict[str, Path]) -> None:
    campaign.answers.import_files(answers=write(files["answers"].with_name("c.jsonl"), answer("c", "1", ("Air.", []))))
    ok("import", campaign.directory, *options(files))
    command = ["answers", "evaluate", campaign.directory, "-m", "nugget_vital"]
    assert "c: 1 of 2 topics missing; missing answers count as 0" in run(*command).stderr
    assert "c: 1 of 2 topics missing; means are over the other topics" in run(*command, "--missing", "leave-out").stderr


def test_labels_become_a_label_set_or_judgements_of_an_annotator(campaign: Campaign, files: dict[str, Path]) -> None:
    labels = files["nugget-assignments"]
    campaign.answers.import_files(
        answers=files["answers"], nuggets=files["nuggets"], nugget_assignments=labels, label_set="judge-x"
    )
    campaign.answers.import_files(nugget_assignments=labels, annotator="eva")
    named = labels.rename(labels.with_name("gpt-4o.jsonl"))
    campaign.answers.import_files(nugget_assignments=named)
    with campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert [each.name for each in task.machine_labels.sets.summaries()] == ["judge-x", "gpt-4o"]
        assert task.store.judgements.annotators()["annotator"].tolist() == ["eva"]
    by_people = campaign.answers.evaluate("nugget_vital")
    assert by_people.means().equals(campaign.answers.evaluate("nugget_vital", label_set="judge-x").means())


def test_a_label_of_an_earlier_version_of_a_nugget_does_not_count(campaign: Campaign, files: dict[str, Path]) -> None:
    campaign.answers.import_files(
        answers=files["answers"], nuggets=files["nuggets"], nugget_assignments=files["nugget-assignments"]
    )
    nugget = campaign.answers.nuggets.current("1")[0]
    campaign.answers.nuggets.change("1", nugget.nugget, annotator="eva", text="Air above is fast.")
    values = campaign.answers.evaluate("nugget_vital").per_topic().set_index(["run", "query_id"])["value"]
    assert values["team.a", "2"] == 1.0
    assert np.isnan(values["team.a", "1"])  # its only vital nugget is to be judged again


def test_files_of_labels_add_their_answers(campaign: Campaign, files: dict[str, Path]) -> None:
    report = campaign.answers.import_files(nugget_assignments=files["nugget-assignments"])
    assert f"{files['nugget-assignments']}: 3 answers of 2 runs (3 new)" in report.done
    assert set(campaign.answers.all().sentences["text"]) == {"a says.", "b says."}


def test_errors_name_what_to_do(campaign: Campaign, files: dict[str, Path]) -> None:
    with pytest.raises(CampaignError, match="has no generated answers"):
        campaign.answers.evaluate()
    with pytest.raises(InputError, match="import the topics first"):
        campaign.answers.import_files(support=files["support"])
    campaign.answers.import_files(answers=files["answers"])
    with pytest.raises(CampaignError, match="nobody has judged the answers"):
        campaign.answers.evaluate()
    with pytest.raises(FormatError):
        campaign.answers.import_files(nuggets=files["answers"])
    changed = write(files["answers"].with_name("other.jsonl"), answer("b", "1", ("Wings are thick.", [0])))
    with pytest.raises(ConflictError, match="another answer of run 'b' to topic '1'.*--replace"):
        campaign.answers.import_files(answers=changed)
    assert "--replace" in fails("import", campaign.directory, "--answers", changed)
    assert "1 changed" in ok("import", campaign.directory, "--answers", changed, "--replace")


@real
@pytest.mark.slow
@pytest.mark.long
def test_labels_of_nist_score_as_expected(campaign: Campaign) -> None:
    folder = RAG / "rag24-nist-nuggets"
    campaign.answers.import_files(nugget_assignments=folder / "assignments.jsonl.gz")
    measures = {
        "nugget_vital": "vital.1", "nugget_vital(strict=True)": "strict_vital", "nugget_all": "all",
        "nugget_all(strict=True)": "strict_all", "nugget_weighted": "weighted",
        "nugget_weighted(strict=True)": "strict_weighted",
    }  # fmt: skip
    values = campaign.answers.evaluate(list(measures)).per_topic()
    values = values.pivot(index=["run", "query_id"], columns="measure", values="value")
    expected = pd.read_csv(folder / "expected_scores.csv", dtype={"topic_id": "str"}).set_index(["run_id", "topic_id"])
    assert len(expected) == 618
    for measure, column in measures.items():
        difference = values[measure].reindex(expected.index.to_flat_index().tolist()) - expected[column].to_numpy()
        assert difference.abs().max() < 1e-6


def test_answers_whose_citations_nobody_judged_have_no_value(campaign: Campaign, files: dict[str, Path]) -> None:
    campaign.answers.import_files(answers=files["answers"], support=files["support"])
    evaluation = campaign.answers.evaluate("support_recall")
    values = evaluation.per_topic().set_index(["run", "query_id"])["value"]
    assert values["team.a", "1"] == 1.0
    assert pd.isna(values["b", "1"])
    assert "2" not in values.index.get_level_values("query_id")
    assert evaluation.means().loc["team.a", "support_recall"] == 1.0
    assert "1 answer without a judged citation has no value" in evaluation.notes


def test_a_nugget_bank_is_imported_once_and_taken_with_other_nuggets(
    campaign: Campaign, files: dict[str, Path]
) -> None:
    bank = {"qid": "1", "nuggets": [{"question": "What lifts?", "answers": ["A wing.", "Air."]}]}
    path = write(files["nuggets"].with_name("bank.jsonl"), bank)
    for expected in ("1 nugget (1 new)", "1 nugget (0 new, 1 unchanged)"):
        done = campaign.answers.import_files(answers=files["answers"], nuggets=path).done
        assert any(expected in each for each in done), done
    campaign.answers.nuggets.add("1", "Air is fast.", annotator="eva", importance="vital")
    label = {"text": "Air is fast.", "importance": "vital", "assignment": "support"}
    labels = write(files["nugget-assignments"], {"qid": "1", "run_id": "a", "nuggets": [label]})
    campaign.answers.import_files(nugget_assignments=labels)
    assert campaign.answers.evaluate("nugget_vital").means().loc["team.a", "nugget_vital"] == 1.0


def test_nuggets_of_the_first_file_are_those_of_the_second(campaign: Campaign, files: dict[str, Path]) -> None:
    def labelled(run: str, topic: str, *texts: str) -> dict[str, object]:
        labels = [{"text": text, "importance": "vital", "assignment": "support"} for text in texts]
        return {"qid": topic, "run_id": run, "nuggets": labels}

    folder = files["answers"].with_name("judged")
    folder.mkdir()
    write(folder / "one.jsonl", labelled("a", "1", "Air lifts.", "Flaps help."))
    write(folder / "two.jsonl", labelled("b", "1", "Flaps help.", "Air lifts."), labelled("a", "2", "Rain falls."))
    ok("import", campaign.directory, "--answers", files["answers"], "--nugget-assignments", folder)
    nuggets = campaign.answers.nuggets.table()[["query_id", "nugget", "text"]].values.tolist()
    assert nuggets == [["1", "1", "Air lifts."], ["1", "2", "Flaps help."], ["2", "1", "Rain falls."]]
    assert campaign.answers.evaluate("nugget_vital").means()["nugget_vital"].to_dict() == {"team.a": 1.0, "b": 0.5}


def contents(campaign: Campaign) -> list[object]:
    """Everything that an import of answers may change."""
    found: list[object] = [
        campaign.store.corpus.topics().to_dict("records"),
        campaign.store.answers.answers().to_csv(),
        campaign.store.answers.nugget_log(),
        campaign.answers.tasks.existing(),
    ]
    for name in campaign.answers.tasks.existing():
        with campaign.answers.tasks.open(name) as task:
            found += [task.store.pool.pairs().to_csv(), task.store.judgements.counts()]
    return found


def test_an_import_with_a_conflict_of_labels_changes_nothing(campaign: Campaign, files: dict[str, Path]) -> None:
    labels = files["nugget-assignments"]
    campaign.answers.import_files(answers=files["answers"], nuggets=files["nuggets"], nugget_assignments=labels)
    before = contents(campaign)
    folder = labels.parent / "changed"
    folder.mkdir()
    changed = write(folder / labels.name, nugget_list("1", "not_support", "support", run="a"))
    more = write(folder / "more.jsonl", answer("c", "3", ("New.", [0])))
    topics = folder / "topics.tsv"
    topics.write_text("4\tanother topic\n")
    options = ["--answers", more, "--topics", topics, "--nugget-assignments", changed]
    said = fails("import", campaign.directory, *options, "--support", files["support"])
    assert f"{changed}: expected 2, the grade of 'qrels:nist' in the campaign for topic '1.a" in said
    assert contents(campaign) == before
    with pytest.raises(ConflictError, match="--replace"):
        campaign.answers.import_files(answers=more, nugget_assignments=changed, support=files["support"])
    assert contents(campaign) == before
    assert "4 new" not in ok("import", campaign.directory, *options, "--replace")
    assert set(campaign.store.answers.answers()["run"]) == {"team.a", "b", "c"}


def test_an_unknown_label_set_is_named(campaign: Campaign, files: dict[str, Path]) -> None:
    campaign.answers.import_files(
        answers=files["answers"],
        nuggets=files["nuggets"],
        nugget_assignments=files["nugget-assignments"],
        label_set="gpt",
    )
    with pytest.raises(UnknownNameError, match="label set"):
        campaign.answers.labelled(label_set="gtp")
    with pytest.raises(CampaignError, match="nobody has judged"):
        campaign.answers.labelled()


def test_managers_of_answers_alone_are_sent_to_nuggets_and_tasks(campaign: Campaign, files: dict[str, Path]) -> None:
    campaign.answers.import_files(answers=files["answers"])
    step = campaign.results.overview.next_step()
    assert (step.page, step.sentence[:12]) == ("nuggets", "Make nuggets")
    campaign.answers.import_files(nuggets=files["nuggets"])
    step = campaign.results.overview.next_step()
    assert step.sentence == ("To judge the 4 generated answers, choose Nugget assignment or Support above the menu.")
    assert "Import the" not in ok("status", campaign.directory)
