"""The wall: no number of the product changes when labels by machines are added to a campaign.

The golden campaign, which has every kind of judgement, is copied twice, once with label sets of all kinds. All results
are then compared: of every method of every service, every command, every export (byte for byte), every page and every
judging route. The lists are explicit: a test fails while a method, a command, an export, a page or a route is missing.
A third copy has label sets of which one leads the loop: its results are those without labels, except the order of the
documents, and what names the setting.
"""

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import UUID

import click
import numpy as np
import pandas as pd
import pytest
import streamlit as st

import collection.core.clock
from annotate.auth.page_access import PAGES
from annotate.card.server.routes import JudgingService
from annotate.card.server.trainer import Trainer
from collection.campaign import Campaign
from collection.campaign.exports.collection_card import CollectionChoices
from collection.cli import main
from collection.cli.options import WRITTEN
from collection.core.questions import Question
from collection.core.records import Choice, Judgement, Preference
from collection.store.machine_labels import LabelRow
from tests.conftest import card_client
from tests.helpers import GOLDEN, first_of, judged, ok, post

pytestmark = pytest.mark.slow

NOW = 1_790_000_000.0
MEASURES = ["nDCG@5", "AP"]
PAIR = ("1", "d08")
TAGS = Question("tags", "Which apply?", "tags", {"review": "Review", "protocol": "Protocol"})
CREDIBILITY = Question("credibility", "Is it credible?", "grades", {0: "No", 1: "Yes"}, required=False)
TOPIC = Question("topic", "Which topic?", "choice", {"wing": "Wing", "other": "Other"}, required=False)
UUIDS = [str(UUID(int=n)) for n in range(1, 9)]


def add_labels(campaign: Campaign) -> None:
    """Labels of all kinds, that contradict people, with failures, a declared run and a sample for people."""
    labels = campaign.machine_labels.sets
    labels.label_by_rule("contains-query", {"terms": "any", "then": 0, "otherwise": 3})
    labels.label_by_clicks()
    model = labels.create("gpt-judge", "llm", {"model": "dense-1b", "template": "UMBRELA"})
    pairs = campaign.store.pool.pairs()
    rows = [
        LabelRow(
            query_id, doc_id, *how, "2026-11-01T00:00:00.000+00:00", "Grade it.", "3", "dense-1b", 90, 1, 0.01, 0.5
        )
        for (query_id, doc_id), how in zip(
            pairs[["query_id", "doc_id"]].itertuples(index=False, name=None),
            itertools.cycle([("graded", 3.0), ("graded", 0.0), ("no grade", None), ("failed", None)]),
            strict=False,
        )
    ]
    campaign.store.machine_labels.add(model.key, rows)
    labels.declare_runs("gpt-judge", ["dense"])
    twice = pd.concat([pairs, pairs])[["query_id", "doc_id"]]
    labels.label_by_file(
        twice.assign(relevance=[3.0] * len(pairs) + [0.0] * len(pairs)), "imported", "llm", {"model": "dense-1b"}
    )
    campaign.machine_labels.judges.vote("median", ["imported", "contains-query"], least=1)
    sample = pairs[["query_id", "doc_id"]].assign(size=1.0, priority=[float(n) for n in range(len(pairs))])
    campaign.store.machine_labels.set_sample(model.key, sample)


def add_as_judgements(campaign: Campaign) -> None:
    """What the wall prevents: the same labels, in a person's slot."""
    for query_id, doc_id in campaign.store.pool.pairs()[["query_id", "doc_id"]].itertuples(index=False):
        campaign.judging.judge("machine", query_id, doc_id, 3)


def add_leading_labels(campaign: Campaign) -> None:
    """The same labels, of which those of a model lead the loop."""
    add_labels(campaign)
    campaign.settings.set_loop(labels="gpt-judge")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders with a copy.

    "plain", "labelled" (with labels), "led" (with labels that lead the loop), "broken" (with labels as judgements).
    """
    folder = tmp_path_factory.mktemp("wall")
    plain = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", folder / "plain" / "campaign"))
    with mock.patch.object(collection.core.clock, "seconds", return_value=NOW), Campaign(plain) as campaign:
        campaign.operations.server_state.secret()  # both copies have the same one
        campaign.settings.set_loop(topics=["10"], mode="pool")  # no process trains meanwhile
        campaign.settings.set_questions([CREDIBILITY, TOPIC])
        judged = campaign.store.judgements.table()
        judged = judged[(judged["kind"] == "graded") & judged["annotator"].isin(["ann", "bob"])]
        for number, row in enumerate(judged[judged["counts_as"] == "judgement"].itertuples()):
            answers = {"credibility": number % 2, "topic": "other" if number % 3 else "wing"}
            uuid = str(UUID(int=1000 + number))
            campaign.judging.judge(
                row.annotator, row.query_id, row.doc_id, int(row.relevance), answers=answers, uuid=uuid
            )
    others = {"labelled": add_labels, "led": add_leading_labels, "broken": add_as_judgements}
    for name, add in others.items():
        with Campaign(Path(shutil.copytree(plain, folder / name / "campaign"))) as campaign:
            add(campaign)
    return lambda name: folder / name / "campaign"


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection.core.clock, "seconds", lambda: NOW)
    monkeypatch.setattr(collection.core.clock._CLOCK, "seconds", lambda: NOW)


@pytest.fixture
def fresh(copies: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Copies that a test may change."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(copies(name), tmp_path / name / "campaign"))

    return copy


def written(value: Any) -> str:
    """A result as text that compares by content."""
    return json.dumps(plain_data(value))


def plain_data(value: Any) -> Any:
    match value:
        case pd.DataFrame():
            return [value.to_json(orient="split", date_format="iso"), list(map(str, value.dtypes))]
        case pd.Series():
            return plain_data(value.to_frame())
        case np.ndarray():
            return list(map(repr, value.tolist()))
        case Mapping():
            return {str(key): plain_data(each) for key, each in value.items()}
        case set() | frozenset():
            return sorted(map(repr, value))
        case tuple() | list() | Iterator():
            return [plain_data(each) for each in value]
    if hasattr(value, "toarray"):
        return list(map(repr, value.toarray().tolist()))
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain_data(getattr(value, each.name)) for each in fields(value)}
    return re.sub(r" at 0x[0-9a-f]+|/[^ ']*/(plain|labelled|led|broken)/", "", repr(value))


# --- services -------------------------------------------------------------------------------------------


def round_of(c: Campaign) -> Any:
    c.settings.set_loop(topics=["10"], mode="loop")
    return c.loop.next_round("10")


READS: dict[str, Callable[[Campaign], Any]] = {
    "loop.decisive_pairs": lambda c: c.settings.loop().by_system_order and c.loop.decisive_pairs(),
    "progress.loop_scope.ledgers": lambda c: c.progress.loop_scope.ledgers(["1", "2"]),
    "loop.rule_judgements": lambda c: c.loop.rule_judgements(["1", "2"]),
    "loop.label_trust": lambda c: c.loop.label_trust(),
    "loop.topic_rankings": lambda c: c.loop.topic_rankings("1"),
    "judging.adjudication.cache_key": lambda c: c.judging.adjudication.cache_key(),
    "judging.adjudication.queue": lambda c: [c.judging.adjudication.queue(ended=ended) for ended in (False, True)],
    "results.agreement.annotator_statistics": lambda c: c.results.agreement.annotator_statistics(),
    "results.agreement.cache_key": lambda c: c.results.agreement.cache_key(),
    "results.agreement.conclusions": lambda c: c.results.agreement.conclusions("AP"),
    "results.agreement.disagreements": lambda c: c.results.agreement.disagreements(),
    "results.agreement.labels": lambda c: c.results.agreement.labels(),
    "results.agreement.matrix": lambda c: c.results.agreement.matrix(),
    "results.agreement.for_question": lambda c: c.results.agreement.for_question("credibility").report(resamples=50),
    "results.agreement.by_answer": lambda c: c.results.agreement.for_question("topic").by_answer(resamples=50),
    "results.agreement.count_answers": lambda c: c.results.agreement.for_question("topic").count_answers(),
    "results.evaluation.for_question": lambda c: (
        c.results.evaluation.for_question("credibility").evaluate(MEASURES).means()
    ),
    "results.qrels.for_question": lambda c: c.results.qrels.for_question("credibility").build(),
    "settings.question_answers": lambda c: c.settings.question_answers("topic", "wing"),
    "results.agreement.report": lambda c: c.results.agreement.report(resamples=50),
    "people.assignments.among": lambda c: c.people.assignments.among(["1"]),
    "people.assignments.notices": lambda c: c.people.assignments.notices(),
    "people.assignments.table": lambda c: c.people.assignments.table(),
    "people.assignments.workload": lambda c: c.people.assignments.workload(),
    "progress.budget.judged_in_pool": lambda c: c.progress.budget.judged_in_pool(c.settings.modes()),
    "progress.budget.left": lambda c: c.progress.budget.left(),
    "progress.budget.left_of": lambda c: c.progress.budget.left_of(["1"], c.settings.modes()),
    "progress.budget.limited_topics": lambda c: c.progress.budget.limited_topics(),
    "progress.budget.most_in_loop": lambda c: c.progress.budget.most_in_loop(),
    "progress.budget.room": lambda c: c.progress.budget.room("10"),
    "progress.budget.state": lambda c: c.progress.budget.state(),
    "progress.budget.used_up": lambda c: c.progress.budget.used_up("10"),
    "people.qualification_set.left": lambda c: [c.people.qualification_set.left(name) for name in ("ann", "bob")],
    "store.assignments.qualification_set": lambda c: c.store.assignments.qualification_set(),
    "people.qualification_set.results": lambda c: c.people.qualification_set.results(),
    "recall.across_topics.cache_key": lambda c: c.recall.across_topics.cache_key(),
    "recall.across_topics.pending": lambda c: c.recall.across_topics.pending(),
    "recall.across_topics.put_first": lambda c: c.recall.across_topics.put_first(["1", "3"]),
    "recall.across_topics.state": lambda c: c.recall.across_topics.state(),
    "corpus.clicks.estimate": lambda c: c.corpus.clicks.estimate(),
    "corpus.clicks.log": lambda c: c.corpus.clicks.log(),
    "store.corpus.click_sources": lambda c: c.store.corpus.click_sources(),
    "exports.collection.facts": lambda c: c.exports.collection.facts(),
    "exports.collection_card.annotator_names": lambda c: c.exports.collection_card.annotator_names(CollectionChoices()),
    "exports.collection_card.outline": lambda c: c.exports.collection_card.outline(CollectionChoices(corpus="judged")),
    "exports.collection_card.select_qrels": lambda c: c.exports.collection_card.select_qrels(CollectionChoices()),
    "store.corpus.costs": lambda c: c.store.corpus.costs(),
    "corpus.describe_run": lambda c: [c.corpus.describe_run(run) for run in c.corpus.runs()],
    "corpus.document": lambda c: c.corpus.document("d01"),
    "store.corpus.documents": lambda c: c.store.corpus.documents(["d01", "d02"]),
    "corpus.in_pool": lambda c: c.corpus.in_pool(*PAIR),
    "corpus.in_topic_order": lambda c: c.corpus.in_topic_order(c.store.pool.pairs()),
    "store.corpus.missing_documents": lambda c: c.store.corpus.missing_documents(),
    "store.corpus.runs": lambda c: c.store.corpus.runs(),
    "corpus.runs": lambda c: c.corpus.runs(),
    "store.corpus.titles": lambda c: c.store.corpus.titles(["d01"]),
    "store.corpus.topic_words": lambda c: c.store.corpus.topic_words(["1"]),
    "store.corpus.topics": lambda c: c.store.corpus.topics(),
    "store.pool.without_text": lambda c: c.store.pool.count_without_text(),
    "store.pool.with_text": lambda c: c.store.pool.with_text(100),
    "corpus.view.answer_lengths": lambda c: c.corpus.view.answer_lengths(["1"]),
    "corpus.view.content_file": lambda c: c.corpus.view.content_file("none.png"),
    "corpus.view.marked": lambda c: c.corpus.view.marked("1", c.store.corpus.documents(["d01"])["d01"]),
    "corpus.view.quoted": lambda c: c.corpus.view.quoted(c.store.judgements.table()),
    "corpus.view.shown": lambda c: c.corpus.view.shown(c.store.corpus.documents(["d01"])["d01"]),
    "corpus.view.terms": lambda c: c.corpus.view.terms("1", c.store.corpus.documents(["d01"])["d01"]),
    "corpus.view.topic_terms": lambda c: c.corpus.view.topic_terms("1"),
    "results.evaluation.by_preferences": lambda c: c.results.evaluation.by_preferences(),
    "results.evaluation.cache_key": lambda c: c.results.evaluation.cache_key(),
    "results.evaluation.compare": lambda c: c.results.evaluation.compare(MEASURES),
    "results.evaluation.compare_rules": lambda c: c.results.evaluation.compare_rules("majority", "mean", "AP"),
    "results.evaluation.estimate": lambda c: c.results.evaluation.estimate(["P@3"]),
    "results.evaluation.evaluate": lambda c: c.results.evaluation.evaluate(MEASURES, with_bounds=True),
    "results.evaluation.explain": lambda c: c.results.evaluation.explain("AP", "bm25", "1"),
    "results.evaluation.reusability": lambda c: c.results.evaluation.reusability(MEASURES),
    "results.evaluation.side_by_side": lambda c: c.results.evaluation.side_by_side("bm25", "dense", "1"),
    "judging.explanations.chooser": lambda c: c.judging.explanations.chooser("1", None, False),
    "judging.explanations.explains": lambda c: c.judging.explanations.explains(*PAIR),
    "judging.explanations.why": lambda c: c.judging.explanations.why(*PAIR, "ann"),
    "corpus.features.open": lambda c: c.corpus.features.open().rows,
    "corpus.features.rows": lambda c: c.corpus.features.rows(["d01", "d02"]),
    "corpus.features.state": lambda c: c.corpus.features.state(),
    "corpus.features.version": lambda c: c.corpus.features.version(),
    "judging.history.judgements": lambda c: c.judging.history.judgements("ann"),
    "judging.history.last_topic": lambda c: c.judging.history.last_topic("ann"),
    "judging.history.time": lambda c: c.judging.history.time("ann"),
    "log.adjudications": lambda c: c.log.adjudications(),
    "store.judgements.annotators": lambda c: c.store.judgements.annotators(),
    "log.flagged": lambda c: c.log.flagged(),
    "store.judgements.table": lambda c: [c.store.judgements.table(current=current) for current in (True, False)],
    "progress.loop_scope.judgeable": lambda c: c.progress.loop_scope.judgeable(),
    "progress.loop_scope.loop_rows": lambda c: c.progress.loop_scope.loop_rows(),
    "progress.loop_scope.mask": lambda c: c.progress.loop_scope.mask("1"),
    "progress.loop_scope.rankable": lambda c: c.progress.loop_scope.rankable(),
    "progress.loop_scope.recall_scope": lambda c: c.progress.loop_scope.recall_scope(
        "1", c.store.judgements.current_judgements("1"), c.progress.loop_scope.judgeable()
    ),
    "progress.loop_scope.rows_of": lambda c: c.progress.loop_scope.rows_of(["d01", "d02"]),
    "progress.loop_scope.topics_with_unjudged": lambda c: c.progress.loop_scope.topics_with_unjudged(
        c.progress.budget.judged_in_pool(c.settings.modes()), c.settings.modes()
    ),
    "corpus.near_duplicates.groups": lambda c: c.corpus.near_duplicates.groups("all", 0.3),
    "corpus.near_duplicates.for_documents": lambda c: c.corpus.near_duplicates.for_documents("1", "ann", ["d08"]),
    "results.overview.decisions": lambda c: c.results.overview.decisions(),
    "results.overview.next_step": lambda c: c.results.overview.next_step(),
    "results.overview.status": lambda c: c.results.overview.status(),
    "people.pools.costs": lambda c: c.people.pools.costs(3),
    "people.pools.growth": lambda c: c.people.pools.growth(5),
    "store.pool.rounds": lambda c: c.store.pool.rounds(),
    "people.pools.time": lambda c: c.people.pools.time(100),
    "store.judgements.counts": lambda c: c.store.judgements.counts(),
    "progress.finished": lambda c: c.progress.finished(),
    "store.assignments.may_see": lambda c: c.store.assignments.may_see("1", "ann"),
    "progress.annotator_standing": lambda c: c.progress.annotator_standing("1", "ann"),
    "progress.topic_standings": lambda c: c.progress.topic_standings("ann"),
    "progress.standing": lambda c: c.progress.standing("1", "ann"),
    "progress.standings": lambda c: c.progress.standings("ann", None),
    "progress.topics": lambda c: c.progress.topics(),
    "progress.topics_for": lambda c: c.progress.topics_for("ann"),
    "progress.totals": lambda c: c.progress.totals("ann"),
    "results.qrels.build": lambda c: c.results.qrels.build(),
    "results.qrels.coded": lambda c: c.results.qrels.coded(),
    "results.qrels.index": lambda c: c.results.qrels.index(),
    "results.qrels.with_ids": lambda c: c.results.qrels.with_ids(c.results.qrels.coded().grades),
    "results.overview.annotators": lambda c: c.results.overview.annotators(),
    "corpus.coded_runs": lambda c: c.corpus.coded_runs(),
    "results.qrels.count_decisive_pairs": lambda c: c.results.qrels.count_decisive_pairs(),
    "results.qrels.forms": lambda c: c.results.qrels.forms(),
    "results.qrels.from_choices": lambda c: c.results.qrels.from_choices(),
    "results.qrels.from_preferences": lambda c: c.results.qrels.from_preferences(),
    "results.qrels.graded_topics": lambda c: c.results.qrels.graded_topics(),
    "results.qrels.in_form": lambda c: [
        c.results.qrels.in_form("judged", unjudged=True),
        c.results.qrels.in_form("strata"),
        c.results.qrels.in_form("probabilities"),
    ],
    "results.qrels.rule_report": lambda c: c.results.qrels.rule_report(),
    "results.qrels.strengths": lambda c: c.results.qrels.strengths(),
    "results.qrels.topics_with_grades": lambda c: c.results.qrels.topics_with_grades(),
    "results.qrels.unjudged_topics": lambda c: c.results.qrels.unjudged_topics(),
    "results.qrels.with_sources": lambda c: c.results.qrels.with_sources("dawid-skene"),
    "recall.for_topic": lambda c: [c.recall.for_topic(query_id) for query_id in ("1", "2", "3", "10")],
    "recall.ready_topics": lambda c: c.recall.ready_topics(),
    "recall.table": lambda c: c.recall.table(),
    "judging.search.find": lambda c: c.judging.search.find("1", "ann", "coffee"),
    "settings.assignment": lambda c: c.settings.assignment(),
    "store.settings.card_arrangement": lambda c: c.store.settings.card_arrangement("ann"),
    "settings.collection": lambda c: c.settings.collection(),
    "settings.is_completed_when_closed": lambda c: c.settings.is_completed_when_closed("1"),
    "settings.guidelines": lambda c: c.settings.guidelines(),
    "settings.judging_page": lambda c: c.settings.judging_page(),
    "settings.loop": lambda c: c.settings.loop(),
    "settings.mode": lambda c: c.settings.mode("1"),
    "settings.modes": lambda c: c.settings.modes(),
    "settings.modes_and_closed": lambda c: c.settings.modes_and_closed(),
    "settings.modes_when_open": lambda c: c.settings.modes_when_open(),
    "progress.missing_answers.count_handed_out": lambda c: c.progress.missing_answers.count_handed_out(),
    "progress.missing_answers.counts": lambda c: c.progress.missing_answers.counts("ann", [TAGS]),
    "progress.missing_answers.find": lambda c: c.progress.missing_answers.find("1", "ann"),
    "progress.missing_answers.table": lambda c: c.progress.missing_answers.table(),
    "progress.missing_answers.topics": lambda c: c.progress.missing_answers.topics("ann"),
    "results.overview.questions": lambda c: c.results.overview.questions(),
    "settings.questions": lambda c: c.settings.questions(),
    "settings.reasons": lambda c: c.settings.reasons(),
    "settings.review": lambda c: c.settings.review(),
    "settings.own_modes": lambda c: c.settings.own_modes(),
    "store.corpus.topic_notes": lambda c: c.store.corpus.topic_notes(),
    "settings.task": lambda c: c.settings.task(),
    "settings.tour": lambda c: c.settings.tour(),
    "settings.usual_mode": lambda c: c.settings.usual_mode(),
    "loop.system_order.cache_key": lambda c: c.loop.system_order.cache_key(),
    "loop.system_order.last_advice": lambda c: c.loop.system_order.last_advice(),
    "loop.system_order.version": lambda c: c.loop.system_order.version(),
    "store.topic_tasks.choices": lambda c: c.store.topic_tasks.choices(current=False),
    "store.topic_tasks.counts": lambda c: c.store.topic_tasks.counts(),
    "judging.topic_tasks.may_see": lambda c: c.judging.topic_tasks.may_see("ann", "1"),
    "judging.topic_tasks.plan": lambda c: c.judging.topic_tasks.plan("ann", "1"),
    "store.topic_tasks.preferences": lambda c: c.store.topic_tasks.preferences(current=False),
    "judging.topic_tasks.progress": lambda c: c.judging.topic_tasks.progress("ann"),
    "exports.training_data.examples": lambda c: c.exports.training_data.examples(),
    "exports.work_lists.annotators": lambda c: c.exports.work_lists.annotators(),
}
"""What each method returns that changes nothing."""

WRITES: dict[str, Callable[[Campaign], Any]] = {
    "loop.is_current": lambda c: c.loop.is_current(round_of(c)),
    "loop.is_short": lambda c: c.loop.is_short(round_of(c)),
    "loop.next_explainable_round": lambda c: round_of(c) and c.loop.next_explainable_round("10"),
    "loop.next_round": round_of,
    "judging.adjudication.adjudicate": lambda c: c.judging.adjudication.adjudicate(
        [
            Judgement(UUIDS[0], "ann", *row[:2], "graded", relevance=1, counts_as="adjudication")
            for row in c.judging.adjudication.queue()[["query_id", "doc_id"]].itertuples(index=False, name=None)
        ]
    ),
    "people.qualification_set.draw": lambda c: c.people.qualification_set.draw(2, seed=1),
    "people.qualification_set.set_pairs": lambda c: (
        c.people.qualification_set.set_pairs([("3", "d05")]),
        c.store.assignments.qualification_set(),
    ),
    "people.qualification_set.feedback": lambda c: c.people.qualification_set.feedback(
        Judgement(UUIDS[0], "ann", *PAIR, "graded", relevance=1)
    ),
    "judging.judge": lambda c: (c.judging.judge("ann", *PAIR, 2, uuid=UUIDS[1]), c.store.judgements.counts()),
    "judging.judge_many": lambda c: c.judging.judge_many(
        [Judgement(UUIDS[2], "bob", "3", "d05", "graded", relevance=0)], leased_only=True
    ),
    "judging.leave": lambda c: (c.judging.leave("ann"), c.people.assignments.reservations()),
    "judging.next_pairs": lambda c: [
        c.judging.next_pairs(name, query_id, 9) for name in ("ann", "bob", "zoe") for query_id in ("1", "2", "3", "10")
    ],
    "judging.skip": lambda c: (c.judging.skip("ann", *PAIR), c.judging.next_pairs("ann", "1", 9)),
    "judging.skip_handed_out": lambda c: (
        c.judging.skip_handed_out("ann", [PAIR, ("1", "d11")]),
        c.judging.next_pairs("ann", "1", 9),
    ),
    "judging.following_pairs": lambda c: c.judging.following_pairs("zoe", ["1"], 9, 9),
    "judging.topic_with_work": lambda c: [c.judging.topic_with_work(name) for name in ("ann", "bob", "zoe")],
    "judging.write": lambda c: c.judging.write(Judgement(UUIDS[3], "ann", *PAIR, "graded", relevance=1)),
    "people.pools.add": lambda c: c.people.pools.add("depth", depth=9),
    "judging.search.take": lambda c: c.judging.search.take("ann", "1", "d11"),
    "settings.keep_card_arrangement": lambda c: c.settings.keep_card_arrangement("ann", {}),
    "settings.reopen_topic": lambda c: (c.settings.reopen_topic("2"), c.settings.modes()),
    "settings.set_collection": lambda c: c.settings.set_collection(licence="CC0"),
    "settings.set_guidelines": lambda c: c.settings.set_guidelines("Read it all."),
    "settings.set_judging_page": lambda c: c.settings.set_judging_page(near=False),
    "settings.set_loop": lambda c: c.settings.set_loop(level=2),
    "settings.set_questions": lambda c: c.settings.set_questions([CREDIBILITY, TOPIC, TAGS]),
    "settings.set_reasons": lambda c: (c.settings.set_reasons(["Wrong design", "Other"]), c.settings.questions()),
    "settings.set_topic_note": lambda c: c.settings.set_topic_note("1", "Note."),
    "settings.set_tour": lambda c: c.settings.set_tour(True),
    "judging.topic_tasks.choose": lambda c: c.judging.topic_tasks.choose(
        [Choice(UUIDS[4], "ann", "3", "chosen", ("d02",), ("d02",))]
    ),
    "judging.topic_tasks.next_topics": lambda c: c.judging.topic_tasks.next_topics("ann", 3),
    "judging.topic_tasks.prefer": lambda c: c.judging.topic_tasks.prefer(
        [Preference(UUIDS[5], "ann", "3", "d02", "d05", "left")]
    ),
    "judging.explanations.others_said": lambda c: (
        c.people.assignments.update(blind=False),
        c.judging.explanations.others_said("1", "d01", "ann"),
    ),
    "judging.explanations.ranks_of": lambda c: c.judging.explanations.ranks_of("1", "d01"),
    "people.assignments.assign": lambda c: c.people.assignments.assign(["1"], ["bob"]),
    "people.assignments.deal": lambda c: c.people.assignments.deal(["ann", "bob"], 1),
    "people.assignments.release": lambda c: c.people.assignments.release("bob"),
    "people.assignments.reservations": lambda c: (
        c.judging.next_pairs("bob", "1", 9),
        c.people.assignments.reservations(),
    ),
    "people.assignments.spread_overlap": lambda c: (
        c.people.assignments.spread_overlap(),
        c.store.pool.annotators_wanted(),
    ),
    "people.assignments.update": lambda c: c.people.assignments.update(annotators=2, share=0.5),
    "recall.across_topics.plan": lambda c: (c.settings.set_loop(mode="loop"), c.recall.across_topics.plan(0.5)),
}
"""What each method returns that changes the campaign, or whose lease or cache does."""

FILES = {
    "corpus.clicks.export",
    "exports.collection.write",
    "exports.files.write_decisions",
    "exports.files.write",
    "exports.training_data.export",
    "exports.work_lists.write",
}
"""Methods that write the files of ``cleverdon export``: see EXPORTS."""

NUMBERLESS = {
    "loop.space": "by next_round",
    "progress.loop_scope.topic_ledgers": "by ledgers",
    "progress.loop_scope.assess": "by ready_topics",
    "loop.describe_order": "describes settings", "loop.describe_lead": "describes label_trust",
    "loop.present_conditions": "by rule_judgements",
    "loop.strategy": "by next_round", "recall.across_topics.calibrate": "by state",
    "recall.across_topics.settle": "by next_pairs", "recall.across_topics.start": "by plan",
    "recall.across_topics.awaiting": "by table", "recall.across_topics.ledgers": "by state",
    "recall.across_topics.stop": "by state", "exports.collection_card.describe": "by facts",
    "imports.import_files": "reads files", "imports.import_decisions": "needs a review",
    "corpus.features.update": "reads texts only",
    "imports.removals.preview": "keeps what labels name", "imports.removals.remove": "by preview",
    "settings.require_topic": "returns nothing", "settings.set_review": "needs the grades of a review",
    "settings.require_review": "refuses other campaigns",
    "loop.system_order.assess": "by the command order",
    "loop.system_order.choose": "by next_pairs", "loop.system_order.store_advice": "by assess",
    "judging.topic_tasks.state": "by progress",
}  # fmt: skip
"""Methods that others call with what is compared there, or that give no number."""

NOT_COMPARED = (
    "machine_labels.",
    "people.accounts.",
    "operations.",
    "judging.demand.",
    "records.",
    "review.",
    "answers.",
    "answer_samples.",
)
"""Services of machine labels; of names, passwords, addresses and copies; of others that are compared; of files of
references, which this campaign does not have; of reviews, whose topics it does not have; of generated answers."""


def methods(campaign: Campaign) -> set[str]:
    """Every public method of every service."""
    found, seen = set[str](), set[int]()
    services: list[tuple[str, Any]] = [("", campaign)]
    for place, holder in services:  # which grows: the services of a service come after it
        own = holder._asdict() if isinstance(holder, tuple) else vars(holder)
        for name, service in own.items():
            if type(service).__module__.startswith("collection.campaign.") and id(service) not in seen:
                seen.add(id(service))
                services.append((f"{place}{name}.", service))
        public = [] if holder is campaign or isinstance(holder, tuple) else dir(holder)
        found |= {f"{place}{each}" for each in public if each[0] != "_" and callable(getattr(holder, each))}
    return found


def test_every_method_of_every_service_is_compared(copies: Callable[[str], Path]) -> None:
    with Campaign(copies("plain")) as campaign:
        known = {m for m in (*READS, *WRITES, *FILES, *NUMBERLESS) if not m.startswith(("store.", *NOT_COMPARED))}
        assert {m for m in methods(campaign) if not m.startswith(NOT_COMPARED)} == known


@pytest.fixture(scope="module")
def opened_copies(copies: Callable[[str], Path]) -> Iterator[dict[str, Campaign]]:
    opened = {name: Campaign(copies(name)) for name in ("plain", "labelled", "led", "broken")}
    yield opened
    for campaign in opened.values():
        campaign.close()


@pytest.mark.parametrize("method", READS)
def test_results_of_services_stay(opened_copies: dict[str, Campaign], method: str) -> None:
    plain, labelled = (written(READS[method](opened_copies[name])) for name in ("plain", "labelled"))
    assert labelled == plain


LED = {
    "loop.system_order.version": "names the settings of the loop",
    "recall.across_topics.cache_key": "names them too", "settings.loop": "names the label set",
}  # fmt: skip
"""Methods that a label set that leads may change, and why: none returns a number of a result."""


@pytest.mark.parametrize("method", [method for method in READS if method not in LED])
def test_results_stay_when_labels_lead(opened_copies: dict[str, Campaign], method: str) -> None:
    plain, led = (written(READS[method](opened_copies[name])) for name in ("plain", "led"))
    assert led == plain


@pytest.mark.long
def test_labels_that_lead_change_the_order_alone(fresh: Callable[[str], Path]) -> None:
    """The same judgements of a topic in the loop: its rounds differ, and nothing else does."""
    results, orders = {}, {}
    for name in ("plain", "led"):
        with Campaign(fresh(name)) as campaign:
            campaign.settings.set_loop(topics=["10"], mode="loop")
            orders[name] = [selection.doc_id for selection in campaign.loop.next_round("10").selections]
            for number, doc_id in enumerate(sorted(orders[name])[:5]):
                campaign.judging.judge("ann", "10", doc_id, number % 2, uuid=str(UUID(int=2000 + number)))
            results[name] = {m: written(read(campaign)) for m, read in READS.items() if m not in LED}
    assert sorted(orders["led"]) == sorted(orders["plain"])
    for method, result in results["plain"].items():
        assert results["led"][method] == result, method


@pytest.mark.long
def test_what_services_write_stays(fresh: Callable[[str], Path]) -> None:
    results = {}
    for name in ("plain", "labelled"):
        with Campaign(fresh(name)) as campaign:
            results[name] = {method: written(write(campaign)) for method, write in WRITES.items()}
            results[name] |= {method: written(read(campaign)) for method, read in READS.items()}
    for method, result in results["plain"].items():
        assert results["labelled"][method] == result, method


@pytest.mark.long
def test_the_comparison_notices_labels_in_a_persons_slot(opened_copies: dict[str, Campaign]) -> None:
    changed = set[str]()
    for method, read in READS.items():
        plain, broken = (written(read(opened_copies[name])) for name in ("plain", "broken"))
        changed |= {method} if plain != broken else set()
    assert changed >= {
        "judging.adjudication.queue",
        "results.agreement.labels",
        "results.agreement.matrix",
        "results.agreement.report",
        "results.agreement.annotator_statistics",
        "progress.budget.state",
        "people.qualification_set.results",
        "exports.collection.facts",
        "results.evaluation.evaluate",
        "store.judgements.table",
        "results.overview.next_step",
        "results.overview.status",
        "store.judgements.counts",
        "progress.topics",
        "results.qrels.build",
        "recall.table",
        "exports.training_data.examples",
    }


# --- commands and exports -------------------------------------------------------------------------------

COMMANDS = {
    "agreement": ["agreement DIR --resamples 50 --format json", "agreement DIR --resamples 50"],
    "assign": ["assign DIR", "assign DIR --format json"],
    "duplicates": ["duplicates DIR --threshold 0.3"],
    "judging-page": ["judging-page DIR", "judging-page DIR --format json"],
    "loop": ["loop DIR"],
    "system-order": ["system-order DIR"],
    "people": ["people DIR", "people DIR --format json"],
    "pool": ["pool DIR --depth 5 --dry-run"],
    "preferences": ["preferences DIR --format json"],
    "recall": [
        "recall DIR",
        "recall DIR --format json",
        "loop DIR --mode loop",
        "recall DIR --across-topics --alpha 0.5 --plan",
    ],
    "reusability": ["reusability DIR", "reusability DIR --format json"],
    "remove": ["remove DIR --run dense --dry-run"],
    "rules": ["rules DIR --against majority --format json"],
    "status": ["status DIR", "status DIR --format json"],
    "judge": ["judge DIR --topic 1 --doc d08 --annotator ann --grade 2"],
    "features": ["features DIR --processes 1"],
}
"""Command -> arguments; DIR is the campaign. Those that change it come last."""

OTHERS = {
    "answers": "no answers here",
    "export": "see EXPORTS", "labels": "labels that no person gave", "new": "makes a campaign", "import": "reads files",
    "serve": "see PAGES and ROUTES", "demo": "as serve", "docs": "no campaign", "measures": "no campaign",
    "methods": "no campaign", "evaluate": "files only", "compare": "files only", "trec_eval": "files only",
    "simulate": "files only", "review": "another kind of campaign",
    "backup": "copies a campaign", "check": "reads files", "doctor": "reads files", "restore": "copies a campaign",
}  # fmt: skip

EXPORTS = {
    "--qrels": ["--qrels q.txt", "--qrels u.txt --unjudged", "--qrels s.txt --qrels-form strata",
                "--qrels p.txt --qrels-form probabilities", "--qrels m.txt --rule majority",
                "--qrels d.txt --rule dawid-skene"],
    "--judgements": ["--judgements log.jsonl", "--judgements log.csv", "--judgements log.parquet"],
    "--labels": ["--labels l.csv"],
    "--passages": ["--passages p.jsonl"],
    "--pool": ["--pool pool.tsv"],
    "--worklist": ["--worklist bob w.csv"],
    "--missing-documents": ["--missing-documents m.txt"],
    "--sparse-qrels": ["--sparse-qrels sq.txt"],
    "--choices": ["--choices c.jsonl"],
    "--topic-file": ["--topic-file t.jsonl", "--topic-file t.xml"],
    "--preferences": ["--preferences pr.jsonl"],
    "--preference-qrels": ["--preference-qrels pq.txt"],
    "--collection": ["--collection OUT --with-runs"],
    "--triples": ["--triples t.tsv"],
    "--tuples": ["--tuples tu.jsonl"],
    "--clicks": ["--clicks cl.tsv"],
    "--click-qrels": ["--click-qrels cq.txt"],
}  # fmt: skip
"""Option of `cleverdon export` that writes a file -> arguments."""


def test_every_command_and_every_export_is_compared() -> None:
    assert {*COMMANDS, *OTHERS} == set(main.commands)
    options = [option for option in main.commands["export"].params if isinstance(option, click.Option)]
    files = {o.opts[0] for o in options if WRITTEN in (o.type, *getattr(o.type, "types", ()))}
    assert files - {"--machine-labels"} == set(EXPORTS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.long
def test_output_of_commands_stays(fresh: Callable[[str], Path], command: str) -> None:
    printed = {}
    for name in ("plain", "labelled"):
        directory = str(fresh(name))
        outputs = [ok(*line.replace("DIR", directory).split()) for line in COMMANDS[command]]
        printed[name] = [re.sub(r"\d+\.\d s\b", "", text.replace(directory, "DIR")) for text in outputs]
    assert printed["labelled"] == printed["plain"]


@pytest.mark.parametrize("option", first_of(EXPORTS, 5))
@pytest.mark.parametrize("labels", ["labelled", "led"])
def test_exports_stay_byte_for_byte(
    fresh: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, labels: str
) -> None:
    found = {}
    for name in ("plain", labels):
        directory = fresh(name)
        out = tmp_path / f"out-{name}"
        out.mkdir()
        monkeypatch.chdir(out)
        for arguments in EXPORTS[option]:
            ok("export", directory, *arguments.split())
        files = sorted(path for path in out.rglob("*") if path.is_file())
        found[name] = {str(path.relative_to(out)): path.read_bytes() for path in files}
    assert found["plain"]
    assert found[labels] == found["plain"]


# --- pages and routes -----------------------------------------------------------------------------------

LABEL_TABS = {"export": "Machine labels"}
"""Page -> its tab for label sets, which a campaign without any does not have."""

CARDS = ("judge", "adjudicate")
"""Pages with a card, whose data holds a token of the session; what the card gets is in ROUTES."""


@pytest.mark.parametrize("page", [page.url_path for page in PAGES if page.url_path != "machine-labels"])
@pytest.mark.long
def test_pages_stay(fresh: Callable[[str], Path], opened: Callable[..., Any], page: str) -> None:
    plain, labelled = (draw(fresh(name), opened, page) for name in ("plain", "labelled"))
    assert plain
    assert labelled == plain


@pytest.mark.parametrize("page", ["overview", "recall", "agreement", "annotators", "export"])
@pytest.mark.long
def test_pages_notice_labels_in_a_persons_slot(
    fresh: Callable[[str], Path], opened: Callable[..., Any], page: str
) -> None:
    assert draw(fresh("plain"), opened, page) != draw(fresh("broken"), opened, page)


@pytest.mark.parametrize("page", LABEL_TABS)
@pytest.mark.long
def test_the_tab_for_label_sets_is_there_with_labels_only(
    fresh: Callable[[str], Path], opened: Callable[..., Any], page: str
) -> None:
    for name in ("plain", "labelled"):
        with Campaign(fresh(name)) as campaign:
            tabs = [tab.label for tab in opened(campaign, page).tabs]
        assert (LABEL_TABS[page] in tabs) == (name == "labelled")


def draw(directory: Path, opened: Callable[..., Any], page: str) -> list[str]:
    """The elements of a page, except cards and tabs for label sets."""
    st.cache_data.clear()  # else the second copy, with the same id, would show what the first one did
    st.cache_resource.clear()
    with Campaign(directory) as campaign:
        app = opened(campaign, page)
        hidden = {id(each) for tab in app.tabs if tab.label == LABEL_TABS.get(page) for each in tab}
        return [
            drawn(element)
            for element in app.main
            if id(element) not in hidden and not (page in CARDS and is_card(element))
        ]


def is_card(element: Any) -> bool:
    return "bidi" in element.type or "component" in element.type


def drawn(element: Any) -> str:
    """An element as it is sent to the browser, without the choice of labels to show, or to lead the loop."""
    if getattr(element, "key", None) in ("show_labels", "labels"):
        return f"the setting {element.key}"
    text = str(getattr(element, "proto", element))
    hidden = r"/[^ \"]*/(plain|labelled|led)/|session: .*|deferred_file_id: .*|uuid: .*|T_[0-9a-f]{5}"
    return re.sub(rf"{hidden}|ID-[0-9a-f]+(?=-section\")", "", text)  # the id of tabs has a hash of their names


ROUTES: dict[str, dict[str, Any]] = {
    "topics": {},
    "document": {"doc_id": "d08", "query_id": "1", "said": True},
    "why": {"query_id": "1", "doc_id": "d08"},
    "search": {"query_id": "1", "words": "coffee"},
    "guidelines": {},
    "history": {"limit": 50},
    "near": {"query_id": "1", "doc_ids": ["d08"]},
    "nuggets": {"query_id": "1"},
    "time": {},
    "settings": {"settings": {}},
    "take": {"query_id": "1", "doc_id": "d11"},
    "sync": {"query_id": "1", "want": 9, "recent": True, "decisions": [judged("d08", uuid=UUIDS[6])]},
    "list/sync": {"want": 4},
    "list/recent": {},
    "list/unit": {"unit": "1"},
    "preference/sync": {"want": 4},
    "preference/recent": {},
    "preference/unit": {"unit": "1"},
    "adjudication/sync": {"want": 5},
    "adjudication/recent": {},
    "adjudication/unit": {"unit": json.dumps(["1", "d01"])},
}
"""Judging route -> request, in this order."""


def test_every_route_is_compared(fresh: Callable[[str], Path]) -> None:
    service = JudgingService(fresh("plain"), trainer=mock.create_autospec(Trainer, instance=True))
    assert {route.path for route in service.posts()} == set(ROUTES)


def test_answers_to_the_judging_card_stay(fresh: Callable[[str], Path]) -> None:
    answers: dict[str, dict[str, Any]] = {}
    for name in ("plain", "labelled"):
        directory = fresh(name)
        with Campaign(directory) as campaign, card_client(JudgingService(directory), campaign, "ann") as client:
            answers[name] = {route: post(client, route, odd=True, **payload) for route, payload in ROUTES.items()}
    assert json.dumps(answers["labelled"]) == json.dumps(answers["plain"])
    assert answers["plain"]["sync"]["recent"]
