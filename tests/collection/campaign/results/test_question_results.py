"""Qrels and agreement of further questions, against counts by hand and the package krippendorff."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from collection import Campaign, Document, Judgement, Topic
from collection.core.errors import InputError, UnknownNameError
from collection.core.questions import Question, read_questions
from tests.helpers import cases, fails, fill, ok, put, run

QUESTIONS = read_questions(
    [
        {"name": "credibility", "question": "How credible is it?", "grades": "0-3", "from": 1},
        {
            "name": "reason",
            "question": "Why is it excluded?",
            "one_of": {"population": "Wrong population", "design": "Wrong design", "language": "Wrong language"},
            "from": 0,
            "to": 0,
        },
        {"name": "tags", "question": "Which apply?", "tags": ["review", "protocol"], "required": False},
    ]
)
CREDIBILITY, REASON, TAGS = QUESTIONS
DOCS = [f"d{n}" for n in range(1, 9)]

Given = Mapping[str, Any]
Row = tuple[str, str, int | None, Given]
"""Annotator, document, grade (None: cannot judge) and answers of a decision on topic 1."""

ANN_BOB: list[Row] = [
    ("ann", "d1", 2, {"credibility": 3, "tags": ["review"]}),
    ("bob", "d1", 2, {"credibility": 2, "tags": ["review", "protocol"]}),
    ("ann", "d2", 1, {"credibility": 1}),
    ("bob", "d2", 3, {"credibility": 1, "tags": []}),
    ("ann", "d3", 0, {"reason": "population", "tags": []}),
    ("bob", "d3", 0, {"reason": "design", "tags": ["protocol"]}),
    ("ann", "d4", 0, {"reason": "design"}),
    ("bob", "d4", 0, {"reason": "design"}),
    ("ann", "d5", 0, {"reason": "language", "tags": ["review"]}),
    ("bob", "d5", 1, {"credibility": 0, "tags": ["review"]}),
    ("ann", "d6", 1, {"credibility": 0}),
    ("bob", "d6", None, {}),
    ("ann", "d7", 3, {"credibility": 2}),
    ("bob", "d7", 2, {"credibility": 3}),
    ("ann", "d8", 0, {"reason": "language"}),
    ("bob", "d8", 0, {"reason": "language"}),
]
"""Of two annotators; credibility has two answers on d1, d2 and d7, reason on d3, d4 and d8, tags on d1, d3 and d5."""

EVE: list[Row] = [
    ("eve", "d3", 0, {"reason": "design", "tags": ["review"]}),
    ("eve", "d5", 2, {"credibility": 3}),
    ("eve", "d7", 2, {}),
    ("eve", "d6", None, {}),
]
"""The adjudicator's: d5 is relevant after all, d7 keeps the annotators' credibility, nobody can judge d6."""


def decide(campaign: Campaign, rows: list[Row], *, adjudicate: bool = False) -> None:
    for name, doc_id, grade, answers in rows:
        campaign.judging.judge(
            name,
            "1",
            doc_id,
            grade,
            cannot_judge="broken" if grade is None else None,
            answers=answers,
            adjudicate=adjudicate,
        )


def asking_campaign(directory: Path) -> Campaign:
    campaign = Campaign.create(directory, questions=QUESTIONS)
    fill(campaign, ["1", "2"], DOCS)
    return campaign


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Campaign]:
    """A campaign with the decisions of two annotators and an adjudicator."""
    with asking_campaign(tmp_path / "campaign") as campaign:
        decide(campaign, ANN_BOB)
        decide(campaign, EVE, adjudicate=True)
        yield campaign


def grades(campaign: Campaign, name: str, answer: str | None = None, **options: Any) -> dict[str, float]:
    qrels = campaign.results.qrels.for_question(name, answer).build(**options)
    return dict(zip(qrels["doc_id"], qrels["relevance"].tolist(), strict=True))


def test_qrels_are_those_counted_by_hand(judged: Campaign) -> None:
    # d5 is relevant by adjudication, and credible by it; d7 has the lower of two answers, since eve gave none.
    assert grades(judged, "credibility") == {"d1": 2, "d2": 1, "d5": 3, "d7": 2}
    assert grades(judged, "reason", "design") == {"d3": 1, "d4": 1, "d8": 0}
    assert grades(judged, "reason", "population") == {"d3": 0, "d4": 0, "d8": 0}
    assert grades(judged, "reason", "language") == {"d3": 0, "d4": 0, "d8": 1}
    # d6 has no answer, and nobody can judge it; the others without a row have no answer.
    assert grades(judged, "tags", "review") == {"d1": 1, "d2": 0, "d3": 1, "d5": 1}
    assert grades(judged, "tags", "protocol") == {"d1": 0, "d2": 0, "d3": 0, "d5": 0}


def test_every_rule_sees_the_answers(judged: Campaign) -> None:
    assert grades(judged, "credibility", rule="highest") == {"d1": 3, "d2": 1, "d5": 0, "d6": 0, "d7": 3}
    assert grades(judged, "credibility", rule="mean") == {"d1": 2.5, "d2": 1, "d6": 0, "d7": 2.5}
    assert grades(judged, "credibility", rule="majority") == {"d1": 2, "d2": 1, "d6": 0, "d7": 2}
    assert grades(judged, "reason", "design", rule="annotator", annotator="ann") == {"d3": 0, "d4": 1, "d5": 0, "d8": 0}
    assert grades(judged, "tags", "protocol", rule="highest") == {"d1": 1, "d2": 0, "d3": 1, "d5": 0}


def alpha(rows: list[list[float]], level: str) -> float:
    return float(krippendorff.alpha(reliability_data=np.array(rows), level_of_measurement=level))


def value(report: Any, coefficient: str, scale: str = "graded") -> float:
    values = report.values
    return float(values[(values["coefficient"] == coefficient) & (values["scale"] == scale)]["value"].iloc[0])


def test_agreement_is_that_of_krippendorff(judged: Campaign) -> None:
    missing = np.nan
    study = judged.results.agreement.for_question("credibility")
    report = study.report(resamples=0)
    # d1 d2 d5 d6 d7
    matrix = [[3, 1, missing, 0, 2], [2, 1, 0, missing, 3]]
    assert report.several == 3
    assert value(report, "alpha-ordinal") == pytest.approx(alpha(matrix, "ordinal"))
    assert value(report, "alpha-interval") == pytest.approx(alpha(matrix, "interval"))
    reason = judged.results.agreement.for_question("reason").report(resamples=0)
    # d3 d4 d5 d8: population, design, language
    matrix = [[0, 1, 2, 2], [1, 1, missing, 2]]
    assert value(reason, "alpha-nominal") == pytest.approx(alpha(matrix, "nominal"))
    assert value(reason, "observed") == pytest.approx(2 / 3)
    # Kappa by hand: 2 of 3 agree; expected (1*0 + 1*2 + 1*1) / 9.
    assert value(reason, "cohen") == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert set(reason.values["scale"]) == {"graded"}
    assert "alpha-ordinal" not in set(reason.values["coefficient"])
    by_tag = judged.results.agreement.for_question("tags").by_answer(resamples=0)
    # d1 d2 d3 d5
    review, protocol = [[1, missing, 0, 1], [1, 0, 0, 1]], [[0, missing, 0, 0], [1, 0, 1, 0]]
    assert value(by_tag["review"], "alpha-nominal") == pytest.approx(alpha(review, "nominal"))
    assert value(by_tag["protocol"], "alpha-nominal") == pytest.approx(alpha(protocol, "nominal"))


def test_agreement_says_what_it_leaves_out(judged: Campaign) -> None:
    notes = judged.results.agreement.for_question("reason").report(resamples=0).notes
    assert "8 judgements left out: the question 'reason' was not asked at their grades, or has no answer." in notes
    assert '1 "cannot judge" judgement left out.' in notes


@pytest.mark.parametrize(
    ("question", "answer", "columns", "rows"),
    [
        (None, None, ["0 · Not relevant", "1 · Related", "2 · Relevant", "3 · Perfect"],
         [["ann", 4, 2, 1, 1], ["bob", 3, 1, 2, 1]]),
        ("credibility", None, ["0 · Lowest", "1 · Grade 1", "2 · Grade 2", "3 · Highest"],
         [["ann", 1, 1, 1, 1], ["bob", 1, 1, 1, 1]]),
        ("reason", None, ["population", "design", "language"], [["ann", 1, 1, 2], ["bob", 0, 2, 1]]),
        ("reason", "design", ["0 · not given", "1 · Wrong design"], [["ann", 3, 1], ["bob", 1, 2]]),
        ("tags", None, ["review", "protocol"], [["ann", 2, 0], ["bob", 2, 2]]),
    ],
)  # fmt: skip
def test_answers_of_each_annotator(
    judged: Campaign, question: str | None, answer: str | None, columns: list[str], rows: list[list[object]]
) -> None:
    found = judged.results.agreement.for_question(question, answer).count_answers()
    assert found.columns[1:].tolist() == columns
    assert found.to_numpy().tolist() == rows


def test_rankings_by_the_answers_of_two_annotators(judged: Campaign) -> None:
    study = judged.results.agreement.for_question("tags", "review")
    (conclusion,) = study.conclusions("P@3")
    assert (conclusion.a, conclusion.b, conclusion.pairs) == ("ann", "bob", 3)
    with pytest.raises(InputError, match="question 'reason' has no grades: choose one of its answers, population"):
        judged.results.agreement.for_question("reason").conclusions("P@3")


def test_runs_are_evaluated_with_any_question(judged: Campaign) -> None:
    evaluation = judged.results.evaluation.for_question("credibility")
    # d5 has grade 3 and rank 5; d1, d2 and d7 have 2, 1 and 2.
    gains = {1: 2, 2: 1, 5: 3, 7: 2}
    ideal = sum(gain / np.log2(rank + 1) for rank, gain in enumerate([3, 2, 2, 1], start=1))
    ndcg = sum(gain / np.log2(rank + 1) for rank, gain in gains.items()) / ideal
    assert evaluation.evaluate("nDCG").means()["nDCG"].iloc[0] == pytest.approx(ndcg)
    assert evaluation.cache_key() != judged.results.evaluation.cache_key()
    assert evaluation.compare_rules(None, "highest").grades.differ == 3


def test_pairs_that_a_question_does_not_concern_are_not_unjudged(judged: Campaign) -> None:
    """Credibility is not asked at grade 0: neither of d3, d4 and d8, nor of a topic whose grades are all 0."""
    judged.judging.judge("ann", "2", "d1", 0, answers={"reason": "design"})
    credibility = judged.results.qrels.for_question("credibility")
    frame = credibility.in_form(unjudged=True)
    expected = {"d1": 2, "d2": 1, "d5": 3, "d6": -1, "d7": 2}
    assert dict(zip(frame["doc_id"], frame["relevance"].tolist(), strict=True)) == expected
    assert credibility.unjudged_topics() == ["2"]
    for doc_id in DOCS[1:]:
        judged.judging.judge("ann", "2", doc_id, 0, answers={"reason": "design"})
    assert credibility.unjudged_topics() == []
    tags = judged.results.qrels.for_question("tags", "review").in_form(unjudged=True)
    assert set(tags.loc[tags["relevance"] < 0, "doc_id"]) == {"d4", "d6", "d7", "d8"}


def test_a_question_that_is_not_always_asked_has_no_sampled_qrels(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "campaign", questions=QUESTIONS) as campaign:
        put(campaign, [Topic("1", "one")], [Document(d, "", d) for d in DOCS], {"system": {"1": DOCS}})
        campaign.people.pools.add("stratified", strata="2:1,8:.5", seed=3)
        for doc_id in campaign.store.pool.pairs()["doc_id"]:
            campaign.judging.judge("ann", "1", doc_id, 2, answers={"credibility": 1, "tags": []})
        qrels = campaign.results.qrels
        assert qrels.forms() == qrels.for_question("tags", "review").forms() == ["judged", "strata", "probabilities"]
        assert qrels.for_question("credibility").forms() == ["judged"]
        for form in ("strata", "probabilities"):
            with pytest.raises(InputError, match="'credibility' is asked at grades from 1 only, so the answers are no"):
                qrels.for_question("credibility").in_form(form)


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        ("reason", None, "question 'reason' has no grades: choose one of its answers, population, design or language"),
        ("tags", None, "question 'tags' has no grades: choose one of its answers, review or protocol"),
        ("credibility", "3", "question 'credibility' has grades: expected no answer, found '3'"),
        ("credible", None, "credible"),
        ("reason", "age", "age"),
        (None, "age", "the answer 'age' belongs to a question"),
    ],
)
def test_questions_without_qrels(judged: Campaign, question: str | None, answer: str | None, message: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        judged.results.qrels.for_question(question, answer)
    if question is None:
        with pytest.raises(InputError, match=message):
            judged.results.agreement.for_question(question, answer)


def test_answers_that_a_question_no_longer_has(judged: Campaign) -> None:
    """A card of before a change may give them: they count like the others."""
    judged.judging.next_pairs("cat", "2", 3)
    late = Judgement("u1", "cat", "2", "d1", "graded", 0, answers={"reason": "age", "credibility": 2})
    assert judged.judging.judge_many([late], leased_only=True).saved == ["u1"]
    study = judged.results.agreement.for_question("reason")
    assert study.scale == {0: "Wrong population", 1: "Wrong design", 2: "Wrong language", 3: "age"}
    assert study.labels()["relevance"].max() == 3
    qrels = judged.results.qrels.for_question("reason", "age").build()
    assert qrels.loc[qrels["relevance"] == 1, ["query_id", "doc_id"]].to_numpy().tolist() == [["2", "d1"]]
    # Its credibility is none of the question's: nobody is asked at grade 0.
    assert "2" not in set(judged.results.qrels.for_question("credibility").build()["query_id"])


def test_the_command_export(judged: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    ok("export", judged.directory, "--qrels", path, "--question", "credibility")
    assert path.read_text() == "1 0 d1 2\n1 0 d2 1\n1 0 d5 3\n1 0 d7 2\n"
    report = json.loads(Path(f"{path}.rule.json").read_text())
    assert report["question"] == CREDIBILITY.to_json()
    assert report["grades"] == {str(grade): text for grade, text in CREDIBILITY.answers.items()}
    assert (report["judgements"], report["by"]["adjudicated"]) == (8, 1)
    options = ("--question", "reason", "--answer", "design", "--rule", "majority")
    ok("export", judged.directory, "--qrels", path, *options, "--labels", tmp_path / "labels.csv", "--unjudged")
    written = [line.split() for line in path.read_text().splitlines()]
    assert Counter(line[3] for line in written) == {"0": 3, "1": 1}, "the others of the pool were not asked"
    assert "ann,1,d5,0" in (tmp_path / "labels.csv").read_text()
    assert "has no grades" in fails("export", judged.directory, "--qrels", path, "--question", "reason")
    assert "--question selects" in run("export", judged.directory, "--pool", path, "--question", "tags").output
    assert "reason" in fails("export", judged.directory, "--qrels", path, "--question", "reasons")


def test_the_command_agreement(judged: Campaign) -> None:
    printed = ok("agreement", judged.directory, "--question", "credibility", "--resamples", 0)
    assert "alpha-ordinal" in printed
    assert "TREC" not in printed
    printed = ok("agreement", judged.directory, "--question", "reason", "--resamples", 0)
    assert "Krippendorff's alpha: nominal" in printed
    assert re.match(r"2 annotators gave \d+ answers to \d+ pairs; \d+ pairs? ha(s|ve) 2 or more answers\.\n", printed)
    assert "binary" not in printed
    printed = ok("agreement", judged.directory, "--question", "tags", "--resamples", 0)
    found = json.loads(ok("agreement", judged.directory, "--question", "tags", "--resamples", 0, "--format", "json"))
    means = [alpha(rows, "nominal") for rows in ([[1, 0, 1], [1, 0, 1]], [[0, 0, 0], [1, 1, 0]])]
    assert found["means"]["alpha-nominal"] == pytest.approx(np.mean(means))
    assert f"{np.mean(means):.3f}" in printed
    one = ok("agreement", judged.directory, "--question", "tags", "--answer", "review", "--resamples", 0)
    assert "1.000" in one
    assert "needs a campaign" in fails("agreement", judged.directory / "campaign.db", "--question", "tags")
    assert "the answer 'review' belongs to a question" in fails("agreement", judged.directory, "--answer", "review")
    for name in ("tags", "reason"):
        for option in (("--measure", "P@3"), ("--level", 1)):
            failure = fails("agreement", judged.directory, "--question", name, *option)
            assert f"question '{name}' has no grades: choose one of its answers" in failure


@pytest.mark.parametrize("compute", ["by_answer", "count_answers"])
def test_agreement_by_tag_reads_the_judgements_once(judged: Campaign, compute: str) -> None:
    statements: list[str] = []
    study = judged.results.agreement.for_question("tags")
    judged.store.connection.db.conn.set_trace_callback(statements.append)
    if compute == "by_answer":
        study.by_answer(resamples=0, sides=())
    else:
        study.count_answers()
    judged.store.connection.db.conn.set_trace_callback(None)
    read = [statement for statement in statements if re.match(r"SELECT [^(]*answers AS answers FROM", statement)]
    assert len(read) == 1


def test_a_collection_has_all_questions_and_answers(judged: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    facts = judged.exports.collection.write(out).facts
    assert (out / "qrels.credibility.txt").read_text() == "1 0 d1 2\n1 0 d2 1\n1 0 d5 3\n1 0 d7 2\n"
    assert not list(out.glob("qrels.reason*"))
    credibility, reason, tags = facts["questions"]
    assert (credibility["pairs"], credibility["per_answer"]) == (4, {"0": 0, "1": 1, "2": 2, "3": 1})
    assert (reason["pairs"], reason["per_answer"]) == (3, {"population": 0, "design": 2, "language": 1})
    assert (tags["pairs"], tags["per_answer"]) == (4, {"review": 3, "protocol": 0})
    assert reason["agreement"] == {
        "coefficient": "alpha-nominal",
        "several": 3,
        "value": pytest.approx(alpha([[0, 1, 2, 2], [1, 1, np.nan, 2]], "nominal")),
    }
    card = (out / "collection.md").read_text()
    assert "How credible is it? Asked at grades from 1." in card
    assert "| design | 2 | Wrong design |" in card
    # The log and the questions are read back without loss; only annotators' judgements are imported.
    with Campaign.create(tmp_path / "again", questions=out / "questions.json") as again:
        fill(again, ["1", "2"], DOCS)
        ok("assign", again.directory, "--annotators", 2)
        again.imports.import_files(labels=out / "judgements.jsonl")
        assert again.settings.questions() == QUESTIONS
        for name, answer in (("credibility", None), ("reason", "design"), ("tags", "review")):
            assert grades(again, name, answer, rule="majority") == grades(judged, name, answer, rule="majority")


def test_a_collection_without_questions_has_none_of_this(judged: Campaign, tmp_path: Path) -> None:
    judged.settings.set_questions([])
    facts = judged.exports.collection.write(tmp_path / "out").facts
    assert "questions" not in facts
    assert not (tmp_path / "out" / "questions.json").exists()


def test_other_commands(judged: Campaign) -> None:
    printed = ok("rules", judged.directory, "--against", "highest", "--question", "credibility")
    assert "4 pairs with a grade by both rules; 3 different" in printed


# A second implementation, of the default rule.


def majority(values: list[int]) -> int:
    counts = Counter(values)
    return min(value for value, number in counts.items() if number == max(counts.values()))


def expected_grade(question: Question, answer: str | None, said: list[Row], settled: Row | None) -> int | None:
    """The grade of a pair by the latest decision of each annotator, and by that of the adjudicator."""

    def read(answers: Given) -> int | None:
        given = answers.get(question.name)
        if given is None or answer is None:
            return given
        return int(given == answer if isinstance(given, str) else answer in given)

    if settled is not None and settled[2] is None:
        return None
    graded = [row for row in said if row[2] is not None]
    main = settled[2] if settled else majority([row[2] for row in graded if row[2] is not None]) if graded else None
    if not question.is_asked(main):
        return None
    if settled is not None and (found := read(settled[3])) is not None:
        return found
    own = [found for row in graded if (found := read(row[3])) is not None]
    return majority(own) if own else None


@st.composite
def decisions(draw: st.DrawFn, names: list[str]) -> list[Row]:
    rows: list[Row] = []
    for _ in range(draw(st.integers(0, 25))):
        grade = draw(st.sampled_from([None, 0, 0, 1, 2, 3]))
        answers: dict[str, Any] = {}
        for question in QUESTIONS:
            if not question.is_asked(grade) or not (question.required or draw(st.booleans())):
                continue
            each = st.sampled_from(list(question.answers))
            answers[question.name] = draw(st.lists(each, unique=True) if question.kind == "tags" else each)
        rows.append((draw(st.sampled_from(names)), draw(st.sampled_from(DOCS[:5])), grade, answers))
    return rows


WAYS = [
    (CREDIBILITY, None),
    *((REASON, str(answer)) for answer in REASON.answers),
    *((TAGS, str(tag)) for tag in TAGS.answers),
]


@pytest.mark.long
@settings(max_examples=cases(8, 200))
@given(decisions(["ann", "bob", "cat"]), decisions(["eve"]))
def test_random_campaigns(said: list[Row], settled: list[Row]) -> None:
    with TemporaryDirectory() as folder, asking_campaign(Path(folder) / "campaign") as campaign:
        with campaign.transaction():
            decide(campaign, said)
            decide(campaign, settled, adjudicate=True)
        latest = {(row[0], row[1]): row for row in said}
        over = {row[1]: row for row in settled}
        for question, answer in WAYS:
            wanted = {
                doc_id: expected_grade(
                    question, answer, [row for row in latest.values() if row[1] == doc_id], over.get(doc_id)
                )
                for doc_id in DOCS
            }
            found = grades(campaign, question.name, answer)
            assert found == {doc_id: grade for doc_id, grade in wanted.items() if grade is not None}
