"""Further questions of a campaign: set, answered, logged, written to files and read back."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from collection import Campaign, Judgement, Question
from collection.core.errors import CampaignError, ConflictError, FormatError, InputError, JudgementError
from collection.core.questions import read_questions
from tests.collection.core.test_questions import CREDIBILITY, EXCLUSION, TAGS
from tests.helpers import fails, fill, ok, run

ASKED = read_questions([CREDIBILITY, EXCLUSION, TAGS])


@pytest.fixture
def asking(campaign: Campaign) -> Campaign:
    """A campaign that asks for credibility, a reason for exclusion, and tags."""
    campaign.settings.set_questions(ASKED)
    return campaign


def answers(campaign: Campaign) -> list[object]:
    return list(campaign.store.judgements.table(current=False)["answers"])


def test_one_decision_keeps_all_answers(asking: Campaign) -> None:
    given = {"tags": ["protocol", "review"], "credibility": 3}
    judgement = asking.judging.judge("ann", "1", "d1", 2, answers=given)
    asking.judging.judge("ann", "1", "d1", 0, answers={"exclusion": "design", "tags": ()})
    asking.judging.judge("ann", "1", "d1", undo=True)
    assert judgement.answers == given
    assert answers(asking) == [
        {"credibility": 3, "tags": ("review", "protocol")},
        {"exclusion": "design", "tags": ()},
        {},
    ]
    written = asking.store.connection.column("SELECT answers FROM judgements ORDER BY id")
    assert written == [
        '{"credibility": 3, "tags": ["review", "protocol"]}',
        '{"exclusion": "design", "tags": []}',
        None,
    ]


@pytest.mark.parametrize(
    ("relevance", "given", "message"),
    [
        (0, {}, "expected an answer to the question 'exclusion', found none"),
        (2, {"exclusion": "design", "credibility": 1}, "'exclusion' is asked at grade 0, found 2"),
        (2, {"credibility": 4}, "expected a grade of 'credibility'"),
        (2, {"credibility": 1, "topicality": 1}, "expected answers to the questions of this campaign"),
        (2, {"credibility": 1, "tags": ["other"]}, "expected tags of 'tags'"),
    ],
)
def test_answers_that_are_refused(asking: Campaign, relevance: int, given: dict[str, object], message: str) -> None:
    with pytest.raises(JudgementError, match=message):
        asking.judging.judge("ann", "1", "d1", relevance, answers=given)  # type: ignore[arg-type]
    assert answers(asking) == []


def test_cannot_judge_has_no_answers(asking: Campaign) -> None:
    asking.judging.judge("ann", "1", "d1", cannot_judge="broken")
    with pytest.raises(JudgementError, match="expected no answers with 'cannot judge'"):
        asking.judging.judge("ann", "1", "d1", cannot_judge="broken", answers={"tags": ()})


def test_a_card_of_before_the_questions_were_changed_loses_nothing(asking: Campaign) -> None:
    """Missing answers are accepted, and those to unknown and removed questions and answers are kept."""
    asking.judging.next_pairs("ann", "1", 3)
    given = [
        Judgement("u1", "ann", "1", "d2", "graded", 2),
        Judgement("u2", "ann", "1", "d1", "graded", 0, answers={"credibility": 1, "removed": ("x",)}),
        Judgement("u3", "ann", "1", "d6", "graded", 0, answers={"exclusion": "language"}),
    ]
    result = asking.judging.judge_many(given, leased_only=True)
    assert result.saved == ["u1", "u2", "u3"]
    assert not result.refused
    assert answers(asking) == [{}, {"credibility": 1, "removed": ("x",)}, {"exclusion": "language"}]


@pytest.mark.parametrize(
    "given", [{"tags": "review"}, {"other": 0.5}, {"other": ["x" * 41]}, {"other": None}, {"other": -1}]
)
def test_malformed_answers_of_a_card_are_refused_alone(asking: Campaign, given: dict[str, object]) -> None:
    asking.judging.next_pairs("ann", "1", 2)
    bad = Judgement("u1", "ann", "1", "d2", "graded", 2, answers=given)  # type: ignore[arg-type]
    result = asking.judging.judge_many([bad, Judgement("u2", "ann", "1", "d1", "graded", 2)], leased_only=True)
    assert [each.uuid for each in result.refused] == ["u1"]
    assert result.saved == ["u2"]


def test_questions_are_changed_in_mid_campaign(asking: Campaign) -> None:
    """Used answers stay; a removed question keeps its answers in the log and may come back."""
    asking.judging.judge("ann", "1", "d1", 0, answers={"exclusion": "design"})
    credibility, exclusion, tags = ASKED
    language = Question("exclusion", exclusion.sentence, "choice", {"design": "Wrong design", "language": "Language"})
    assert asking.settings.set_questions([language, tags]) == (language, tags)
    without = Question("exclusion", exclusion.sentence, "choice", {"population": "Population", "language": "Language"})
    with pytest.raises(InputError, match=r"given the answer 'design', which has to stay"):
        asking.settings.set_questions([without])
    with pytest.raises(InputError, match=r"given the answer 'design', which has to stay"):
        asking.settings.set_questions([Question("exclusion", "Why?", "tags", dict(exclusion.answers))])
    assert asking.settings.questions() == (language, tags)
    asking.settings.set_questions([])
    assert asking.settings.questions() == ()
    asking.judging.judge("ann", "1", "d2", 0)
    asking.settings.set_questions([exclusion, credibility])
    assert answers(asking) == [{"exclusion": "design"}, {}]


def test_another_order_of_the_answers(asking: Campaign, tmp_path: Path) -> None:
    """It is used at once, and makes no other answers of those that were given."""
    given = {"credibility": 3, "tags": ("review", "protocol")}
    asking.judging.judge("ann", "1", "d1", 2, answers=given)
    *others, tags = ASKED
    asking.settings.set_questions([*others, replace(tags, answers=dict(reversed(tags.answers.items())))])
    assert list(asking.settings.questions()[-1].answers) == ["protocol", "review"]
    asking.judging.judge("bob", "1", "d1", 2, answers=given)
    assert answers(asking) == [given, {"credibility": 3, "tags": ("protocol", "review")}]
    assert asking.judging.adjudication.queue().empty
    asking.exports.files.write(judgements=tmp_path / "log.csv")
    asking.imports.import_files(labels=tmp_path / "log.csv")
    assert len(answers(asking)) == 2


def test_questions_that_would_never_be_asked_are_refused(campaign: Campaign) -> None:
    with pytest.raises(
        InputError, match=r"bounds that include a grade of this campaign \(0, 1, 2, 3\), found grades from 4"
    ):
        campaign.settings.set_questions(read_questions([{**CREDIBILITY, "from": 4}]))


def test_damaged_questions_are_found(asking: Campaign) -> None:
    asking.close()
    with sqlite3.connect(asking.directory / "campaign.db") as database:
        database.execute("UPDATE settings SET value = ? WHERE key = 'questions'", (json.dumps([{"name": "x"}]),))
    with pytest.raises(CampaignError, match="the setting 'questions' is damaged"):
        Campaign(asking.directory)


def fresh(asking: Campaign, name: str, *, questions: tuple[Question, ...] = ASKED) -> Campaign:
    """Another campaign with the same topics and documents."""
    other = Campaign.create(asking.directory.parent / name, questions=questions)
    fill(other, ["1", "2"], [f"d{n}" for n in range(1, 9)])
    return other


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "jsonl.gz"])
@pytest.mark.long
def test_a_log_is_read_back_as_it_was_written(asking: Campaign, tmp_path: Path, ending: str) -> None:
    asking.judging.judge("ann", "1", "d1", 2, answers={"credibility": 3, "tags": ["review"]})
    asking.judging.judge("ann", "1", "d2", 0, answers={"exclusion": "design", "tags": []})
    asking.judging.judge("bob", "2", "d4", 1, answers={"credibility": 0})
    asking.exports.files.write(judgements=tmp_path / f"log.{ending}")
    with fresh(asking, "other") as other:
        other.imports.import_files(labels=tmp_path / f"log.{ending}")
        expected, found = (each.store.judgements.table() for each in (asking, other))
        assert found["answers"].tolist() == expected["answers"].tolist()
        before = len(answers(other))
        other.imports.import_files(labels=tmp_path / f"log.{ending}")
        assert len(answers(other)) == before


def test_columns_of_a_table(asking: Campaign, tmp_path: Path) -> None:
    asking.judging.judge("ann", "1", "d1", 2, answers={"credibility": 3, "tags": ["protocol", "review"]})
    asking.judging.judge("ann", "1", "d2", 0, answers={"exclusion": "design", "tags": []})
    for ending in ("csv", "parquet"):
        asking.exports.files.write(judgements=tmp_path / f"log.{ending}")
    table = pd.read_csv(tmp_path / "log.csv", dtype=str, keep_default_na=False)
    named = [f"answers.{name}" for name in ("credibility", "exclusion", "tags")]
    assert table[named].to_numpy().tolist() == [["3", "", "review|protocol"], ["", "design", "|"]]
    parquet = pd.read_parquet(tmp_path / "log.parquet")
    assert parquet["answers.credibility"].tolist()[0] == 3
    assert parquet["answers.tags"].tolist() == [
        "review|protocol",
        "|",
    ]


def test_without_answers_the_log_has_no_further_column(asking: Campaign, tmp_path: Path) -> None:
    asking.judging.judge("ann", "1", "d1", cannot_judge="broken")
    asking.exports.files.write(judgements=tmp_path / "log.jsonl")
    assert "answers" not in json.loads((tmp_path / "log.jsonl").read_text())
    asking.exports.files.write(judgements=tmp_path / "log.csv")
    assert "answers" not in (tmp_path / "log.csv").read_text()


def test_a_log_of_a_campaign_with_other_questions(asking: Campaign, tmp_path: Path) -> None:
    """Answers to unknown questions are kept; an answer that a known question does not have is an error."""
    asking.judging.judge("ann", "1", "d1", 0, answers={"exclusion": "design"})
    asking.exports.files.write(judgements=tmp_path / "log.csv")
    with fresh(asking, "none", questions=()) as other:
        other.imports.import_files(labels=tmp_path / "log.csv")
        assert answers(other) == [{"exclusion": "design"}]
    why = Question("exclusion", "Why?", "choice", {"age": "Wrong age", "place": "Wrong place"})
    with fresh(asking, "another", questions=(why,)) as other:
        with pytest.raises(
            FormatError, match=r"log\.csv, line 2: expected an answer of 'exclusion' \(age, place\), found 'design'"
        ):
            other.imports.import_files(labels=tmp_path / "log.csv")
        assert answers(other) == []


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.long
def test_a_single_tag_stays_a_list_of_tags(asking: Campaign, tmp_path: Path, ending: str) -> None:
    """A table also says so where the campaign does not have the question (yet)."""
    given = [{"tags": ("review",)}, {"tags": ("review", "protocol")}, {"tags": ()}]
    asking.settings.set_questions([ASKED[2]])
    for number, each in enumerate(given, start=1):
        asking.judging.judge("ann", "1", f"d{number}", 2, answers=each)
    asking.exports.files.write(judgements=tmp_path / f"log.{ending}")
    with fresh(asking, "other", questions=()) as other:
        other.imports.import_files(labels=tmp_path / f"log.{ending}")
        assert answers(other) == given
        other.settings.set_questions([ASKED[2]])
        other.imports.import_files(labels=tmp_path / f"log.{ending}")
        assert answers(other) == given


@pytest.mark.parametrize("name", ["", "relevance", "Grade", "a\nb|,c" * 500, " tags"])
def test_names_that_no_question_may_have(campaign: Campaign, tmp_path: Path, name: str) -> None:
    """An unknown question may be one that was removed, or that of another campaign."""
    campaign.judging.next_pairs("ann", "1", 3)
    judgement = Judgement("u1", "ann", "1", "d1", "graded", 2, answers={name: "x"})
    result = campaign.judging.judge_many([judgement], leased_only=True)
    assert "name" in result.refused[0].reason
    (tmp_path / "log.jsonl").write_text(json.dumps(judgement._asdict()) + "\n")
    with pytest.raises(FormatError, match=r"log\.jsonl, line 1: expected .*name"):
        campaign.imports.import_files(labels=tmp_path / "log.jsonl")
    assert answers(campaign) == []


def test_labels_with_answers_in_words(asking: Campaign, tmp_path: Path) -> None:
    """Further answers come without replacing anything; another answer needs --replace."""
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\nann,1,d1,0\n")
    asking.imports.import_files(labels=tmp_path / "labels.csv")
    head = "annotator,query_id,doc_id,relevance,answers.exclusion,answers.tags\n"
    (tmp_path / "labels.csv").write_text(f"{head}ann,1,d1,0,wrong population,Protocol | review\n")
    asking.imports.import_files(labels=tmp_path / "labels.csv")
    assert answers(asking) == [{}, {"exclusion": "population", "tags": ("review", "protocol")}]
    (tmp_path / "labels.csv").write_text(f"{head}ann,1,d1,0,design,\n")
    with pytest.raises(ConflictError, match=r"line 2: expected 'population', the answer to 'exclusion'.*--replace"):
        asking.imports.import_files(labels=tmp_path / "labels.csv")
    asking.imports.import_files(labels=tmp_path / "labels.csv", replace=True)
    assert answers(asking)[-1] == {"exclusion": "design", "tags": ("review", "protocol")}
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\nann,1,d1,2\n")
    asking.imports.import_files(labels=tmp_path / "labels.csv", replace=True)
    assert answers(asking)[-1] == {"tags": ("review", "protocol")}, "what is not asked at the new grade is left out"


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_work_list_has_a_column_for_each_question(asking: Campaign, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"list.{ending}"
    asking.people.accounts.add("ann", "annotator")
    assert asking.exports.work_lists.write("ann", path, pairs=3) == 3
    table = pd.read_csv(path, dtype=str) if ending == "csv" else pd.read_excel(path, dtype=str)
    named = [f"answers.{name}" for name in ("credibility", "exclusion", "tags")]
    place = table.columns.get_loc("relevance")
    assert table.columns[place + 1 : place + 4].tolist() == named
    assert "Why is it excluded? (one of these, at grade 0)\npopulation: Wrong population" in table["questions"][0]
    table[["relevance", *named]] = [["2", "1", None, "protocol"], ["0", None, "Wrong study design", "|"], [None] * 4]
    if ending == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_excel(path, index=False)
    asking.imports.import_files(labels=path)
    assert answers(asking) == [{"credibility": 1, "tags": ("protocol",)}, {"exclusion": "design", "tags": ()}]
    asking.imports.import_files(labels=path)
    assert len(answers(asking)) == 2


def test_a_work_list_with_an_answer_that_is_not_asked(asking: Campaign, tmp_path: Path) -> None:
    asking.people.accounts.add("ann", "annotator")
    asking.exports.work_lists.write("ann", tmp_path / "list.csv", pairs=1)
    table = pd.read_csv(tmp_path / "list.csv", dtype=str).assign(relevance="3", **{"answers.exclusion": "design"})
    table.to_csv(tmp_path / "list.csv", index=False)
    with pytest.raises(FormatError, match="line 2: expected no answer to 'exclusion', which is asked at grade 0"):
        asking.imports.import_files(labels=tmp_path / "list.csv")


def test_a_work_list_with_answers_but_no_grade(asking: Campaign, tmp_path: Path) -> None:
    asking.people.accounts.add("ann", "annotator")
    asking.exports.work_lists.write("ann", tmp_path / "list.csv", pairs=2)
    table = pd.read_csv(tmp_path / "list.csv", dtype=str)
    table["relevance"], table["answers.credibility"], table["answers.tags"] = ["2", None], ["1", "3"], "|"
    table.to_csv(tmp_path / "list.csv", index=False)
    with pytest.raises(FormatError, match="expected a grade in relevance with the answers, found none, but an answer"):
        asking.imports.import_files(labels=tmp_path / "list.csv")
    assert answers(asking) == []


def test_the_history_has_answers(asking: Campaign) -> None:
    asking.judging.judge("ann", "1", "d1", 2, answers={"credibility": 3})
    asking.judging.judge("ann", "1", "d1", 0, answers={"exclusion": "design"})
    (entry,) = asking.judging.history.judgements("ann").entries
    assert entry.answers == {"exclusion": "design"}
    assert [former.answers for former in entry.former] == [{"credibility": 3}]


def test_the_commands(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text(json.dumps([CREDIBILITY, TAGS]))
    printed = ok("new", tmp_path / "c", "--grades", "0-2", "--questions", file)
    assert 'credibility: "How credible is this page?" One grade of 0, 1, 2, 3; grades from 1' in printed
    shown = json.loads(ok("judging-page", tmp_path / "c", "--format", "json"))
    assert shown["questions"] == [CREDIBILITY, TAGS]
    file.write_text(json.dumps([EXCLUSION]))
    assert 'exclusion: "Why is it excluded?"' in ok("judging-page", tmp_path / "c", "--questions", file)
    file.write_text("[]")
    assert "question" not in ok("judging-page", tmp_path / "c", "--questions", file)
    assert "questions" not in json.loads(ok("judging-page", tmp_path / "c", "--format", "json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "line 1: expected questions as JSON"),
        ("{}", "questions.json: questions: expected a list of objects"),
        ('[{"name": "x", "question": "X?", "tags": ["a"]}]', "expected 2 to 20 answers, found 1"),
        ('[{"name": "x", "question": "X?", "tags": ["a", "b"], "from": 9}]', "expected bounds that include a grade"),
        (None, "cannot be read"),
    ],
)
def test_files_without_questions(campaign: Campaign, tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "questions.json"
    if content is not None:
        file.write_text(content)
    result = run("judging-page", campaign.directory, "--questions", file)
    assert result.exit_code == 2
    assert message in result.stderr
    assert ("See `cleverdon docs how-to/ask-several-questions`." in result.stderr) == (content is not None)


def again(campaign: Campaign, *names: str) -> None:
    """Ask the questions again where an answer is missing."""
    questions = [
        replace(each, again=each.name in names, required=each.required or each.name in names) for each in ASKED
    ]
    campaign.settings.set_questions(questions)


def hand_out(
    campaign: Campaign, annotator: str = "ann", query_id: str = "1", count: int = 9
) -> tuple[list[str], list[str]]:
    """The documents that an annotator gets who starts in a topic, and those of them that are to be completed."""
    pairs = campaign.judging.next_pairs(annotator, query_id, count)
    return [document.doc_id for document in pairs.documents], list(pairs.again)


def test_judgements_that_lack_an_answer_come_again_after_the_others(campaign: Campaign) -> None:
    """To those who made them, oldest first, until the answer is given; the judgement stays current meanwhile."""
    for doc_id, grade in (("d2", 2), ("d1", 0)):
        campaign.judging.judge("ann", "1", doc_id, grade)
    campaign.judging.judge("bob", "2", "d4", 3)
    assert hand_out(campaign) == (["d6"], [])
    again(campaign, "credibility")
    assert hand_out(campaign) == (["d6", "d2"], ["d2"]), "credibility is not asked at grade 0"
    again(campaign, "credibility", "exclusion")
    assert hand_out(campaign) == (["d6", "d2", "d1"], ["d2", "d1"])
    assert hand_out(campaign, "cat")[1] == []
    assert hand_out(campaign, "bob", "2")[1] == ["d4"]
    assert len(campaign.store.judgements.table()) == 3
    given = Judgement("u1", "ann", "1", "d2", "graded", 2, answers={"credibility": 1})
    assert campaign.judging.judge_many([given], leased_only=True).saved == ["u1"]
    assert hand_out(campaign) == (["d6", "d1"], ["d1"])
    campaign.judging.skip_handed_out("ann", [("1", "d1")])
    assert hand_out(campaign) == (["d6", "d1"], ["d1"]), "what was skipped still comes"
    campaign.judging.judge("ann", "1", "d1", cannot_judge="broken")
    assert hand_out(campaign) == (["d6"], [])
    campaign.settings.set_questions([])
    assert hand_out(campaign, "bob", "2")[1] == []


def test_skipped_judgements_come_last(campaign: Campaign) -> None:
    for doc_id in ("d2", "d1", "d6"):
        campaign.judging.judge("ann", "1", doc_id, 2)
    again(campaign, "credibility")
    assert hand_out(campaign) == (["d2", "d1", "d6"], ["d2", "d1", "d6"])
    campaign.judging.skip_handed_out("ann", [("1", "d2")])
    assert hand_out(campaign) == (["d1", "d6", "d2"], ["d1", "d6", "d2"])


def test_held_documents_stay_while_their_answer_is_missing(campaign: Campaign) -> None:
    for doc_id in ("d2", "d1", "d6"):
        campaign.judging.judge("ann", "1", doc_id, 2)
    again(campaign, "credibility")
    hand_out(campaign, count=2)
    pairs = campaign.judging.next_pairs("ann", "1", 1, ["d2", "d1"])
    assert ([each.doc_id for each in pairs.documents], pairs.closed, list(pairs.again)) == (
        ["d6"],
        [],
        ["d2", "d1", "d6"],
    )
    again(campaign)
    assert campaign.judging.next_pairs("ann", "1", 1, ["d2", "d1"]).closed == ["d2", "d1"]


def test_how_a_pair_was_chosen_stays_with_its_completed_judgement(campaign: Campaign) -> None:
    campaign.judging.next_pairs("ann", "1", 1)
    campaign.judging.judge_many([Judgement("u1", "ann", "1", "d2", "graded", 2)], leased_only=True)
    campaign.store.connection.db.execute("UPDATE leases SET strategy = 'random', probability = 0.25, model_round = 7")
    again(campaign, "credibility")
    assert "d2" in hand_out(campaign)[1]
    campaign.judging.judge_many(
        [Judgement("u2", "ann", "1", "d2", "graded", 2, answers={"credibility": 1})], leased_only=True
    )
    last = campaign.store.judgements.table().iloc[-1]
    assert last[["strategy", "probability", "model_round", "revises"]].tolist() == ["random", 0.25, 7, "u1"]


def test_the_annotators_progress_counts_what_comes_again(campaign: Campaign) -> None:
    for doc_id in ("d2", "d1", "d6"):
        campaign.judging.judge("ann", "1", doc_id, 2)
    campaign.judging.judge("ann", "1", "d8", 2)  # outside the pool
    progress = campaign.progress
    assert progress.annotator_standing("1", "ann").topic == progress.standing("1", "ann") == (3, 3)
    again(campaign, "credibility")
    assert progress.annotator_standing("1", "ann").topic == progress.standing("1", "ann") == (0, 3)
    assert progress.totals("ann") == (0, 6)
    assert progress.standing("1", "bob") == (3, 3)
    campaign.judging.judge("ann", "1", "d2", 2, answers={"credibility": 1})
    assert progress.annotator_standing("1", "ann") == ((1, 3), (1, 6))
    with Campaign(campaign.directory) as other:
        assert other.progress.annotator_standing("1", "ann") == ((1, 3), (1, 6))
    assert progress.topics("1").iloc[0]["left"] == 0, "the campaign has all judgements that it needs"
    assert campaign.judging.topic_with_work("ann", "2") == "1"
    assert campaign.judging.topic_with_work("ann", "2", questions=()) is None
    assert campaign.judging.topic_with_work("bob", "2") is None
    campaign.settings.set_loop(topics=["1"], mode="closed")
    assert campaign.judging.topic_with_work("ann", "2") is None
    assert hand_out(campaign) == ([], [])


@pytest.mark.parametrize("mode", ["loop", "pool-then-loop", "loop-in-pool"])
def test_in_a_loop_they_come_before_new_documents(campaign: Campaign, mode: str) -> None:
    for doc_id, grade in (("d2", 2), ("d1", 0), ("d6", 1)):
        campaign.judging.judge("ann", "1", doc_id, grade)
    campaign.settings.set_loop(mode=mode)
    before = campaign.judging.next_pairs("ann", "1", 2)
    again(campaign, "credibility")
    pairs = campaign.judging.next_pairs("ann", "1", 4)
    assert pairs.order is not None
    assert pairs.order[:2] == list(pairs.again) == ["d2", "d6"]
    assert pairs.order[2:4] == [each.doc_id for each in before.documents]
    pairs = campaign.judging.next_pairs("ann", "1", 0, pairs.order[:2])
    assert (pairs.closed, list(pairs.again)) == ([], ["d2", "d6"])


@pytest.mark.parametrize("mode", ["loop", "loop-in-pool"])
def test_in_a_loop_skipped_ones_come_after_new_documents(campaign: Campaign, mode: str) -> None:
    for doc_id in ("d2", "d1"):
        campaign.judging.judge("ann", "1", doc_id, 2)
    campaign.settings.set_loop(mode=mode)
    again(campaign, "credibility")
    screen = []
    for _ in range(3):
        (document,) = campaign.judging.next_pairs("ann", "1", 1).documents
        screen.append(document.doc_id)
        campaign.judging.skip_handed_out("ann", [("1", document.doc_id)])
    assert screen[:2] == ["d2", "d1"]
    assert screen[2] not in screen[:2]
    pairs = campaign.judging.next_pairs("ann", "1", 9)
    assert pairs.order is not None
    assert pairs.order[-2:] == list(pairs.again) == ["d2", "d1"], "what was skipped still comes"
    ahead = campaign.store.connection.column("SELECT ahead FROM leases WHERE annotator = 'ann' ORDER BY ahead")
    assert ahead == list(range(len(pairs.order)))


def test_answers_are_counted_by_question_and_annotator(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d2", 2)
    campaign.judging.judge("ann", "1", "d1", 0)
    campaign.judging.judge("bob", "1", "d6", 1)
    campaign.judging.judge("bob", "2", "d4", cannot_judge="broken")
    campaign.judging.judge("cat", "1", "d2", 1, adjudicate=True)
    again(campaign, "credibility")
    campaign.judging.judge("bob", "1", "d6", 3, answers={"credibility": 1, "tags": []})
    table = campaign.progress.missing_answers.table()
    assert table.to_numpy().tolist() == [
        ["credibility", "ann", 1, 0, 1],
        ["credibility", "bob", 1, 1, 0],
        ["exclusion", "ann", 1, 0, 1],
        ["tags", "ann", 2, 0, 0],
        ["tags", "bob", 1, 1, 0],
    ]
    state = json.loads(ok("status", campaign.directory, "--format", "json"))["questions"]
    assert [(each["name"], each["asked"], each["answered"], each["missing"], each["again"]) for each in state] == [
        ("credibility", 2, 1, 1, True),
        ("exclusion", 1, 0, 1, False),
        ("tags", 3, 1, 0, False),
    ]
    printed = ok("status", campaign.directory)
    assert "answers missing" in printed
    assert re.search(r"exclusion +ann +1 +1", printed)
    assert re.search(r"credibility +2 +1 +1 +yes", printed)
    assert re.search(r"tags +3 +1 +optional +no", printed)


def test_the_next_step_is_to_complete_what_lacks_an_answer(campaign: Campaign) -> None:
    for name in ("ann", "cat"):
        campaign.people.accounts.add(name, "annotator")
    for query_id, doc_ids in {"1": ("d2", "d1", "d6"), "2": ("d4", "d5", "d7")}.items():
        for doc_id in doc_ids:
            campaign.judging.judge("ann", query_id, doc_id, 2)
    campaign.judging.judge("script", "1", "d2", 2)
    assert campaign.results.overview.next_step().page == "export"
    again(campaign)
    assert campaign.results.overview.next_step().page == "export"
    again(campaign, "credibility")
    step = campaign.results.overview.next_step()
    assert step == ("judge", "6 judgements lack an answer: annotators get them again.")
    campaign.settings.set_loop(topics=["1"], mode="closed")
    step = campaign.results.overview.next_step()
    assert step == ("judge", "3 judgements lack an answer: annotators get them again.")


@pytest.mark.parametrize("why", ["closed", "not assigned", "locked", "no account"])
@pytest.mark.long
def test_the_next_step_is_none_that_nobody_can_take(campaign: Campaign, why: str) -> None:
    """Answers that nobody is asked for stay missing; the campaign goes on to adjudication and export."""
    for query_id, doc_ids in {"1": ("d2", "d1", "d6"), "2": ("d4", "d5", "d7")}.items():
        for doc_id in doc_ids:
            campaign.judging.judge("ann", query_id, doc_id, 2)
    for name in ("boss", "ann", "cat")[: 1 if why == "no account" else 3]:
        campaign.people.accounts.add(name, "manager" if name == "boss" else "annotator")
    again(campaign, "credibility")
    if why == "closed":
        campaign.settings.set_loop(mode="closed", topics=["1", "2"])
    elif why == "not assigned":
        campaign.people.assignments.assign(["1", "2"], ["cat"])
    elif why == "locked":
        campaign.people.accounts.lock("ann")
    unasked = "Nobody is asked for 6 missing answers, since topics are closed or not assigned"
    step = campaign.results.overview.next_step()
    assert step.page == "export"
    assert unasked in step.sentence
    campaign.judging.judge("bob", "1", "d2", 0, answers={"exclusion": "design"})
    step = campaign.results.overview.next_step()
    assert step.page == "adjudicate"
    assert unasked in step.sentence


def test_a_work_list_has_what_is_to_be_completed(campaign: Campaign, tmp_path: Path) -> None:
    """With the grade and the answers that there are; only the missing one is to be filled in."""
    path = tmp_path / "list.csv"
    for doc_id in ("d2", "d1", "d6"):
        campaign.judging.judge("ann", "1", doc_id, 2)
    for doc_id in ("d4", "d5", "d7"):
        campaign.judging.judge("ann", "2", doc_id, 0)
    again(campaign, "credibility")
    assert campaign.exports.work_lists.write("ann", path) == 3
    table = pd.read_csv(path, dtype=str)
    assert table["relevance"].tolist() == ["2", "2", "2"]
    table["answers.credibility"] = ["3", "0", None]
    table.to_csv(path, index=False)
    campaign.imports.import_files(labels=path)
    assert answers(campaign)[6:] == [{"credibility": 3}, {"credibility": 0}]
    assert hand_out(campaign)[1] == ["d6"]


def test_the_command_judge_takes_answers(asking: Campaign) -> None:
    pair = ["judge", asking.directory, "--topic", "1", "--doc", "d1", "--annotator", "ann"]
    ok(*pair, "--grade", "2", "--answer", "credibility=3", "--answer", "tags=protocol|review")
    assert answers(asking) == [{"credibility": 3, "tags": ("review", "protocol")}]
    assert "expected an answer to the question 'exclusion'" in fails(*pair, "--grade", "0")
    assert "expected answers to the questions" in fails(*pair, "--grade", "0", "--answer", "other=1")


def test_handing_out_the_pool_never_reads_the_questions(campaign: Campaign) -> None:
    """While there are other documents, no statement more is run for them."""
    run: list[str] = []
    campaign.judging.next_pairs("ann", "1", 1)
    campaign.store.connection.db.conn.set_trace_callback(run.append)
    campaign.judging.next_pairs("ann", "1", 1, ["d2"])
    campaign.judging.judge_many([Judgement("u1", "ann", "1", "d2", "graded", 2)], leased_only=True)
    campaign.store.connection.db.conn.set_trace_callback(None)
    assert any("INSERT INTO" in statement for statement in run)
    assert not [statement for statement in run if "FROM settings WHERE key = 'questions'" in statement[:60]]
