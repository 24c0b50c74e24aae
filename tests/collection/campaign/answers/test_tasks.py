"""Tasks: campaigns inside a campaign, with its accounts, whose pools follow answers and nuggets."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from collection import Campaign
from collection.campaign.operations import backup_archive, integrity, server_lock
from collection.campaign.people.accounts import Device
from collection.core import layout
from collection.core.errors import CampaignError, ConflictError, InputError, UnknownNameError
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.store import answers as stored_answers
from tests.helpers import add_answers, ok, run


def pairs(campaign: Campaign) -> list[tuple[str, str]]:
    return list(campaign.store.pool.ids().itertuples(index=False, name=None))


def test_a_pair_is_an_answer_and_a_nugget_and_nothing_tells_the_system(answered: Campaign) -> None:
    prepared = answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    assert (prepared.topics, prepared.pairs, prepared.new) == (4, 8, 8)  # the empty answers have nothing to judge
    assert answered.answers.tasks.prepare(NUGGET_ASSIGNMENT).new == 0
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        topics = task.store.corpus.topic_records()
        assert [topic.query_id.split(".")[0] for topic in topics] == ["1", "1", "2", "2"]
        assert {topic.title for topic in topics} == {"wing lift", "heat flow"}
        assert all(re.fullmatch(r"[12]\.a\d{3}", topic.query_id) for topic in topics)
        assert {topic.description for topic in topics[:2]} == {
            f"{run} says 0 on 1.\n{run} says 1 on 1." for run in ("bm25-rag", "dense-rag")
        }
        documents = task.judging.next_pairs("ann", topics[0].query_id, 9).documents
        assert [(each.doc_id, each.text) for each in documents] == [
            ("1.n1.v1", "Air is fast."), ("1.n2.v1", "Pressure falls."),
        ]  # fmt: skip
        assert task.settings.vocabulary.apply("Documents of a topic") == "Nuggets of an answer"


def test_support_has_all_citations_or_the_first(answered: Campaign) -> None:
    tasks = answered.answers.tasks
    assert tasks.prepare(SUPPORT).pairs == 12
    prepared = tasks.prepare(SUPPORT, citations="first")
    assert (prepared.pairs, prepared.removed) == (8, 4)
    with tasks.open(SUPPORT) as task:
        topic = task.store.corpus.topic_records()[0]
        assert re.fullmatch(r"1\.a\d+\.s1", topic.query_id)
        assert topic.title in topic.description
        assert topic.narrative == "wing lift"
        assert task.store.corpus.documents(["d1"])["d1"].text == "Air lifts wings."
    with pytest.raises(UnknownNameError, match="choice of citations"):
        tasks.prepare(SUPPORT, citations="second")  # type: ignore[arg-type]


def test_a_changed_nugget_is_handed_out_again_and_judgements_of_the_old_one_stay(answered: Campaign) -> None:
    tasks = answered.answers.tasks
    tasks.prepare(NUGGET_ASSIGNMENT)
    with tasks.open(NUGGET_ASSIGNMENT) as task:
        judged = next(pair for pair in pairs(task) if pair[1] == "1.n1.v1")
        task.judging.judge("ann", *judged, 2)
    answered.answers.nuggets.change("1", "1", annotator="eva", text="Air above is fast.")
    answered.answers.nuggets.delete("1", "2", annotator="eva")
    prepared = tasks.prepare(NUGGET_ASSIGNMENT)
    assert (prepared.new, prepared.removed, prepared.remaining) == (2, 3, 1)
    with tasks.open(NUGGET_ASSIGNMENT) as task:
        of_first = [pair for pair in pairs(task) if pair[0].startswith("1.")]
        assert sorted(doc_id for _, doc_id in of_first) == ["1.n1.v1", "1.n1.v2", "1.n1.v2"]
        documents = task.judging.next_pairs("ann", judged[0], 9).documents
        assert [each.doc_id for each in documents] == ["1.n1.v2"]


def test_a_replaced_answer_is_another_topic(answered: Campaign) -> None:
    tasks = answered.answers.tasks
    tasks.prepare(NUGGET_ASSIGNMENT)
    with tasks.open(NUGGET_ASSIGNMENT) as task:
        (first, *_), before = pairs(task), set(task.store.corpus.topics()["query_id"])
        task.judging.judge("ann", *first, 1)
    numbers = answered.store.answers.answers()
    numbers = numbers[numbers["query_id"] + ".a" + numbers["number"].astype(str) == first[0]]
    sentences = answered.store.answers.sentences().merge(numbers[["run", "query_id"]]).assign(text="Other.")
    with pytest.raises(ConflictError, match="--replace"):
        answered.store.answers.add(numbers, sentences)
    assert answered.store.answers.add(numbers, sentences, replace=True).changed == 1
    tasks.prepare(NUGGET_ASSIGNMENT)
    with tasks.open(NUGGET_ASSIGNMENT) as task:
        after = set(task.store.corpus.topics()["query_id"])
        assert before < after  # the judged one stays
        assert len(after - before) == 1
        assert len(task.store.judgements.table()) == 1


def test_topics_with_answers_stay(answered: Campaign) -> None:
    plan = answered.imports.removals.remove(topics=["1", "2"])
    assert {each.reason for each in plan.obstacles} == {"has generated answers or nuggets"}
    assert answered.store.answers.remove_runs(["bm25-rag"]) == 2
    add_answers(answered)
    numbers = answered.store.answers.answers()
    assert numbers["number"].is_unique or numbers.groupby("query_id")["number"].nunique().eq(3).all()


def test_accounts_and_sessions_are_those_of_the_campaign_around_a_task(answered: Campaign) -> None:
    accounts = answered.people.accounts
    accounts.add("eva", "manager")
    accounts.add("ann", "annotator")
    accounts.set_groups("ann", ["team"])
    secret = accounts.open_session("ann", Device("Firefox", "127.0.0.1"))
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        person = task.people.accounts.session(secret)
        assert person is not None
        assert (person.name, person.role) == ("ann", "annotator")
        assert task.operations.server_state.secret() == answered.operations.server_state.secret()
        topics = task.store.corpus.topics()["query_id"].tolist()
        task.people.assignments.assign(topics[:1], groups=["team"])
        task.people.assignments.assign(topics[1:], accounts=["eva"])
        assert task.store.assignments.topics_for("ann") == topics[:1]
        assert task.judging.next_pairs("ann", topics[0], 1).documents
        assert len(task.people.assignments.reservations()) == 1
        with pytest.raises(CampaignError, match="belong to the campaign around this task"):
            task.people.accounts.add("bob", "annotator")
        with pytest.raises(CampaignError, match="a task has no tasks"):
            task.answers.tasks.open(SUPPORT)
        accounts.set_groups("ann", [])
        assert task.store.assignments.topics_for("ann") == []
        assert task.people.assignments.reservations().empty
        accounts.set_groups("ann", ["team"])
        assert task.judging.next_pairs("ann", topics[0], 1).documents
        accounts.lock("ann")
        assert task.people.assignments.reservations().empty
        assert task.people.accounts.session(secret) is None
        task.judging.judge("cat", topics[0], "1.n1.v1", 1)
    with pytest.raises(ConflictError, match="differs only in case"):
        accounts.add("Cat", "annotator")


def test_a_task_that_was_copied_elsewhere_is_a_campaign_of_its_own(answered: Campaign, tmp_path: Path) -> None:
    answered.people.accounts.add("eva", "manager")
    answered.answers.tasks.prepare(SUPPORT)
    with Campaign(shutil.copytree(answered.directory / "tasks" / SUPPORT, tmp_path / "alone")) as alone:
        assert alone.store.accounts.names() == []
        assert alone.people.accounts.add("zoe", "manager") == "zoe"
        assert alone.settings.vocabulary.topics == "sentences"


def test_backups_check_and_files_know_the_tasks(answered: Campaign, tmp_path: Path) -> None:
    answered.people.accounts.add("eva", "manager")
    for name in layout.TASK_NAMES:
        answered.answers.tasks.prepare(name)
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        task.judging.judge("ann", *pairs(task)[0], 2)
    assert list(layout.unknown_entries(answered.directory)) == []
    (answered.directory / "tasks" / SUPPORT / "mine.txt").write_text("the user's own")
    (answered.directory / "tasks" / "other").mkdir()
    assert {place.name for place in layout.unknown_entries(answered.directory)} == {"mine.txt", "other"}
    backup = tmp_path / "backup.zip"
    report = answered.operations.backups.write(backup)
    assert report.problems == []
    assert set(ZipFile(backup).namelist()) == {
        "campaign.db", f"tasks/{NUGGET_ASSIGNMENT}/campaign.db", f"tasks/{SUPPORT}/campaign.db", "manifest.json",
    }  # fmt: skip
    assert integrity.check(backup) == []
    backup_archive.restore(backup, tmp_path / "restored")
    with Campaign(tmp_path / "restored") as restored, restored.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.table()["relevance"].tolist() == [2]
        assert task.store.accounts.names() == ["eva"]
    assert (tmp_path / "restored" / "tasks" / SUPPORT / "runs").is_dir()
    ok("check", tmp_path / "restored")
    database = tmp_path / "restored" / "tasks" / SUPPORT / "campaign.db"
    database.write_bytes(database.read_bytes()[:5000])
    assert f"{database}: expected the database of a campaign" in run("check", tmp_path / "restored").output


def test_the_command_prepares_tasks_and_the_next_step_of_a_task_names_it(answered: Campaign) -> None:
    answered.answers.tasks.open(SUPPORT).close()
    said = ok("status", answered.directory / "tasks" / SUPPORT)
    assert said.endswith(f"cleverdon answers prepare {answered.directory.resolve()}\n")
    table = ok("answers", "prepare", answered.directory)
    assert re.search(r"nugget-assignment +4 answers +8 nugget assignments +8 +0 +0", table)
    assert re.search(r"support +8 sentences +12 citations +12 +0 +0", table)
    state = json.loads(
        ok("answers", "prepare", answered.directory, "--task", SUPPORT, "--citations", "first", "--format", "json")
    )
    assert state == [{"task": SUPPORT, "topics": 8, "pairs": 8, "new": 0, "removed": 4, "remaining": 0}]
    assert "8 pairs" in ok("status", answered.directory / "tasks" / SUPPORT)
    assigned = ok("assign", answered.directory / "tasks" / SUPPORT)
    assert re.search(r"^sentence +assigned to", assigned, re.MULTILINE)
    assert re.search(r"^1\.a\d+\.s1 is sentence 1 of answer \d+ to topic 1\.$", assigned, re.MULTILINE)


def test_a_task_is_served_and_written_with_the_campaign_around_it(answered: Campaign) -> None:
    answered.answers.tasks.prepare(SUPPORT)
    directory = answered.directory / "tasks" / SUPPORT
    with pytest.raises(CampaignError, match="whose server shows its pages, too"), server_lock.hold(directory):
        pass
    for place in ("tasks", f"tasks/{SUPPORT}", f"tasks/{SUPPORT}/campaign.db", f"tasks/{SUPPORT}/runs/x", "tasks/x"):
        with pytest.raises(InputError, match="cannot be overwritten"):
            layout.require_output(answered.directory / place)
    layout.require_output(directory / "exports" / "qrels.txt")


def test_an_answer_that_is_replaced_again_and_again_has_a_new_number_each_time(
    answered: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_answers, "FEW_NUMBERS", 8)
    numbers = {*answered.store.answers.answers("1")["number"]}
    for time in range(20):
        add_answers(answered, replace=True)
        answers, sentences = (frame.query("query_id == '1' and run == 'bm25-rag'") for frame in (
            answered.store.answers.answers(), answered.store.answers.sentences(),
        ))  # fmt: skip
        answered.store.answers.add(answers, sentences.assign(text=f"Version {time}."), replace=True)
        numbers |= {*answered.store.answers.answers("1")["number"]}
    assert len(numbers) > 20
    assert {number for number in numbers if number < 100} == set()


def test_the_campaign_around_tasks_says_how_far_they_are_and_serves_them(answered: Campaign) -> None:
    for name in (NUGGET_ASSIGNMENT, SUPPORT):
        answered.answers.tasks.prepare(name)
    directory = answered.directory / "tasks" / SUPPORT
    with answered.answers.tasks.open(SUPPORT) as task:
        query_id, doc_id = pairs(task)[0]
        task.judging.judge("ann", query_id, doc_id, 2)
    said = ok("status", answered.directory)
    assert re.search(r"\n  answers +6\n  nuggets +4\n", said)
    assert re.search(
        r"\n  nugget assignment +8 pairs, 0 judged, 8 left\n  support +12 pairs, 1 judged, 11 left\n", said
    )
    state = json.loads(ok("status", answered.directory, "--format", "json"))
    assert (state["answers"], state["nuggets"]) == (6, 4)
    assert state["tasks"][1] == {"task": SUPPORT, "pairs": 12, "judged": 1, "left": 11}
    said = ok("status", directory)
    assert said.endswith(f"Choose Support above the menu.\n  cleverdon serve {answered.directory.resolve()}\n")


def test_agreement_in_a_task_is_by_topics_of_the_campaign_around_it(answered: Campaign) -> None:
    answered.answers.tasks.prepare(SUPPORT)
    directory = answered.directory / "tasks" / SUPPORT
    with answered.answers.tasks.open(SUPPORT) as task:
        for place, (query_id, doc_id) in enumerate(pairs(task)):
            for annotator, grade in (("ann", 2), ("ben", place % 3)):
                task.judging.judge(annotator, query_id, doc_id, grade)
        labels = task.results.agreement.labels(topics=["2"])
        assert set(labels["topic"]) == {"2"}
        assert len(labels) == 12
        one = task.results.agreement.labels(topics=[labels["query_id"].iloc[0]])
        assert set(one["query_id"]) == {labels["query_id"].iloc[0]}
        with pytest.raises(UnknownNameError, match="topic"):
            task.results.agreement.labels(topics=["3"])
    report = json.loads(ok("agreement", directory, "--by", "topics", "--resamples", "9", "--format", "json"))
    assert {(row["query_id"], row["pairs"]) for row in report["topics"]} == {("1", 6), ("2", 6)}
    report = json.loads(ok("agreement", directory, "--topic", "1", "--resamples", "0", "--format", "json"))
    assert report["several"] == 6
