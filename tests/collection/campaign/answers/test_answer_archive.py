"""Generated answers of an exported collection: written, and read back without loss."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from collection import Campaign, Judgement, evaluate_answers, formats
from collection.core.errors import ConflictError, FormatError
from collection.core.layout import SUPPORT, TASK_NAMES
from collection.core.records import Document
from tests.helpers import ok

MEASURES = (
    "nugget_vital", "nugget_vital(strict=True)", "nugget_all", "nugget_weighted", "support_precision",
    "support_recall(citations='all')", "words",
)  # fmt: skip


def judge(task: Campaign, name: str, pairs: pd.DataFrame, grades: list[int], uuid: str) -> None:
    for number, (query_id, doc_id) in enumerate(zip(pairs["query_id"], pairs["doc_id"], strict=True)):
        grade = grades[number % len(grades)]
        task.judging.write(Judgement(f"{uuid}{number}", name, query_id, doc_id, "graded", grade, note="so"))


@pytest.fixture
def judged(answered: Campaign) -> Campaign:
    """Two people who disagree, one of whom revised and undid, an adjudication, a changed and an unassigned nugget."""
    campaign, nuggets = answered, answered.answers.nuggets
    nuggets.change("1", "1", annotator="eva", sources=(("d1", 0, 3), ("d2", None, None)))
    for name in TASK_NAMES:
        campaign.answers.tasks.prepare(name, citations="first" if name == SUPPORT else None)
        with campaign.answers.tasks.open(name) as task:
            pairs = task.store.pool.pairs()
            judge(task, "ann", pairs, [2, 0, 1], f"{name}-a")
            judge(task, "bob", pairs, [2, 1], f"{name}-b")
            first = pairs.iloc[0]
            where = {"query_id": first["query_id"], "doc_id": first["doc_id"]}
            task.judging.write(Judgement(f"{name}-c", "ann", **where, kind="graded", relevance=0))
            task.judging.write(Judgement(f"{name}-d", "bob", **where, kind="undone"))
            last = {"query_id": pairs.iloc[-1]["query_id"], "doc_id": pairs.iloc[-1]["doc_id"]}
            one = Judgement(f"{name}-e", "eva", **last, kind="graded", relevance=1, counts_as="adjudication")
            task.judging.write(one)
            labels = pairs[["query_id", "doc_id"]].assign(relevance=1.0)
            task.machine_labels.sets.label_by_file(labels, "gpt-4o", "llm", {"model": "gpt-4o"})
    nuggets.change("2", "1", annotator="bob", text="Air is very fast.")
    nuggets.add("2", "Nobody assigned this.", annotator="bob", importance="vital")
    nuggets.propose(pd.DataFrame([{"query_id": "1", "nugget": "9", "text": "Proposed.", "importance": "okay",
                                   "weight": None}]), "gpt-4o", annotator="imported")  # fmt: skip
    return campaign


def labels_of(campaign: Campaign) -> dict[str, object]:
    """Everything that must survive, without the random numbers of answers and without pseudonyms."""
    found: dict[str, object] = {
        "nuggets": [edit.nugget for edit in campaign.answers.nuggets.log()],
        "edits": [(edit.kind, edit.edited_at, edit.edit) for edit in campaign.answers.nuggets.log()],
        "answers": campaign.answers.all().answers.sort_values(["run", "query_id"]).to_csv(index=False),
    }
    for label_set in (None, "gpt-4o"):
        labels = (
            campaign.answers.nugget_labels(label_set=label_set).assignments,  # type: ignore[union-attr]
            campaign.answers.support_labels(label_set=label_set).support,  # type: ignore[union-attr]
        )
        for number, frame in enumerate(labels):
            columns = [name for name in frame.columns if name != "grade"]
            found[f"{label_set} {number}"] = frame.sort_values(columns).to_csv(index=False)
    for name in TASK_NAMES:
        with campaign.answers.tasks.open(name) as task:
            log = task.store.judgements.table(current=False).drop(columns=["query_id", "doc_id"])
            current = task.store.judgements.table()["uuid"].tolist()
            found[name] = (log.to_csv(index=False), current, task.store.settings.get("citations"))
            found[f"{name} agreement"] = task.results.agreement.report(resamples=0).values.to_csv()
    return found


def scores(campaign: Campaign, **options: str) -> str:
    values = campaign.answers.evaluate(MEASURES, **options).values
    return values.sort_values(["run", "query_id", "measure"]).to_csv(index=False)


def exported(campaign: Campaign, *more: object) -> Path:
    folder = campaign.directory.parent / "exported"
    ok("export", campaign.directory, "--collection", folder, *more)
    return folder


@pytest.mark.long
def test_a_collection_of_answers_is_read_back_without_loss(judged: Campaign, tmp_path: Path) -> None:
    folder = exported(judged, "--name-annotators")
    with Campaign.create(tmp_path / "copy") as copy:
        ok("import", copy.directory, "--collection", folder)
        assert labels_of(copy) == labels_of(judged)
        assert scores(copy) == scores(judged)
        assert scores(copy, label_set="gpt-4o") == scores(judged, label_set="gpt-4o")
        assert scores(copy, rule="highest") == scores(judged, rule="highest")
        before = labels_of(copy)
        assert "0 new" in ok("import", copy.directory, "--collection", folder)
        assert labels_of(copy) == before
    judged.answers.nuggets.undo("2", annotator="bob")
    ok("export", judged.directory, "--collection", folder, "--name-annotators", "--replace")
    with Campaign(tmp_path / "copy") as copy, pytest.raises(ConflictError, match="without other nuggets"):
        copy.answers.import_files(collection=folder)


def test_names_of_annotators_become_pseudonyms_in_all_logs(judged: Campaign) -> None:
    folder = exported(judged)
    written = "".join(path.read_text() for path in folder.glob("*.jsonl"))
    makers = {json.loads(line)["annotator"] for line in (folder / "nugget_log.jsonl").open()}
    assert makers > {"a1", "imported"}
    assert not any(f'"{name}"' in written for name in ("ann", "bob", "eva"))


def test_the_forms_of_the_tracks_have_the_same_labels(judged: Campaign, tmp_path: Path) -> None:
    folder = exported(judged)
    from collection.generated_answers import evaluate_labelled, label_answers

    labelled = label_answers(
        answers=formats.read_answers(folder / "answers.jsonl"),
        nugget_assignments=formats.read_nugget_assignments(
            folder / "nugget_assignments.jsonl", formats.read_nuggets(folder / "nuggets.jsonl")
        ),
        nuggets=formats.read_nuggets(folder / "nuggets.jsonl"),
        support=formats.read_support(folder / "support.jsonl"),
    )
    values = evaluate_labelled(labelled, MEASURES).values
    expected = judged.answers.evaluate(MEASURES).values
    by = ["run", "query_id", "measure"]
    assert values.sort_values(by).to_csv(index=False) == expected.sort_values(by).to_csv(index=False)
    card = (folder / "collection.md").read_text()
    assert "## Generated answers" in card
    assert "| Nugget assignment |" in card


def test_a_damaged_log_changes_nothing(judged: Campaign, tmp_path: Path) -> None:
    folder = exported(judged)
    log = folder / "support_log.jsonl"
    whole = log.read_text().splitlines()
    with Campaign.create(tmp_path / "copy") as copy:
        for damaged in ('{"run": "x"}', whole[0].replace('"relevance": 2', '"relevance": 7')):
            log.write_text("\n".join([*whole[1:], damaged]))
            with pytest.raises(FormatError, match=r"support_log.jsonl, line \d+"):
                copy.answers.import_files(collection=folder, others=lambda: copy.imports.import_files(
                    topics=folder / "topics.jsonl"))  # fmt: skip
            assert not copy.store.answers.exist()
            assert copy.answers.tasks.existing() == []
            assert copy.store.corpus.topics().empty


@pytest.mark.long
def test_a_collection_without_texts_of_documents_is_read_back(judged: Campaign, tmp_path: Path) -> None:
    folder = exported(judged, "--corpus", "none")
    assert not (folder / "corpus.jsonl").exists()
    (folder / "corpus.jsonl").touch()  # as of a campaign without any text
    with Campaign.create(tmp_path / "copy") as copy:
        ok("import", copy.directory, "--collection", folder)
        assert scores(copy) == scores(judged)


@pytest.mark.long
def test_the_form_of_nist_says_which_citations_nobody_judged(answered: Campaign, tmp_path: Path) -> None:
    answered.answers.tasks.prepare(SUPPORT)
    with answered.answers.tasks.open(SUPPORT) as task:
        pairs = task.store.pool.pairs()
        second = pairs[pairs["doc_id"] == "d2"].iloc[:1]
        judge(task, "ann", second, [1], "s")
    ok("answers", "export", answered.directory, "--support", tmp_path / "s.jsonl", "--answers", tmp_path / "a.jsonl")
    support = formats.read_support(tmp_path / "s.jsonl")
    assert support.support[["position", "doc_id"]].values.tolist() == [[0, "d1"], [0, "d1"], [1, "d2"]]
    assert support.support["grade"].fillna(-1).tolist() == [-1, -1, 1]
    assert sorted(support.answers["words"]) == [0, 10]  # an empty answer to the topic, and none that nobody judged
    measures = ["support_precision(all)", "support_recall(all)", "support_recall(micro)"]
    found = evaluate_answers(formats.read_answers(tmp_path / "a.jsonl"), support=support, measures=measures)
    expected = answered.answers.evaluate(measures)
    by = ["run", "query_id", "measure"]
    assert found.values.sort_values(by).to_csv(index=False) == expected.values.sort_values(by).to_csv(index=False)


def test_files_in_the_formats_of_the_tracks_are_read_back(judged: Campaign, tmp_path: Path) -> None:
    names = {name: tmp_path / f"{name}.jsonl" for name in ("nuggets", "nugget-assignments", "support")}
    options = [part for name, path in names.items() for part in (f"--{name}", path)]
    for form in ("rag2024", "rag2025", "rag2026", "ragtime"):
        path = tmp_path / f"{form}.jsonl"
        bank = ("--nuggets-form", "ragtime") if form == "ragtime" else ()
        printed = ok("answers", "export", judged.directory, "--answers", path, "--answers-form", form, *bank, *options)
        assert f"{path}: 6 lines" in printed
        with Campaign.create(tmp_path / form) as copy:
            topics = tmp_path / "topics.jsonl"
            ok("export", judged.directory, "--topic-file", topics)
            ok("import", copy.directory, "--topics", topics, "--answers", path, *options)
            assert scores(copy) == scores(judged)


def judge_documents(campaign: Campaign) -> None:
    """Two people disagree, one of whom revised and undid; an adjudication; a document without a text."""
    campaign.store.corpus.add_documents([Document("d2", "", None)])
    write = campaign.judging.write
    for uuid, name, doc_id, grade in (("a1", "ann", "d1", 2), ("b1", "bob", "d1", 0), ("a2", "ann", "d2", 1)):
        write(Judgement(uuid, name, "1", doc_id, "graded", grade, note="so", seconds=1.5))
    write(Judgement("a3", "ann", "1", "d1", "graded", 1, passages=((0, 3), (4, 9)), flagged=True))
    write(Judgement("b2", "bob", "2", "d1", "graded", 1))
    write(Judgement("b3", "bob", "2", "d1", "undone"))
    write(Judgement("b4", "bob", "2", "d2", "cannot judge", reason="unclear"))
    write(Judgement("e1", "eva", "1", "d1", "graded", 2, counts_as="adjudication"))


def test_judgements_of_documents_are_read_back(answered: Campaign, tmp_path: Path) -> None:
    judge_documents(answered)
    folder = tmp_path / "exported"
    ok("export", answered.directory, "--collection", folder, "--name-annotators")
    with Campaign.create(tmp_path / "copy") as copy:
        ok("import", copy.directory, "--collection", folder)
        for current in (False, True):
            log, expected = (each.store.judgements.table(current=current) for each in (copy, answered))
            assert log.to_csv(index=False) == expected.to_csv(index=False)
        for rule in ("majority", "highest"):
            assert copy.results.qrels.build(rule).equals(answered.results.qrels.build(rule))
        assert "0 new entries" in ok("import", copy.directory, "--collection", folder)
