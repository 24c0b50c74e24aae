"""What has to be true of a campaign after anything that breaks."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from collection import Campaign
from collection.core.layout import DATABASE, task_campaigns
from tests.torture.annotators import Annotator

SAID = {
    "judgements": ("query_id", "doc_id", "kind", "relevance", "answers", "passages"),
    "choices": ("query_id", "kind", "shown", "chosen"),
    "preferences": ("query_id", "kind", "left", "right"),
}
"""Fields of a decision that the log has as they were sent."""

NOTHING: dict[str, Any] = {"answers": {}, "passages": []}
"""Fields that a decision may lack."""


def require_intact(directory: Path, annotators: Sequence[Annotator]) -> int:
    """Fail unless the database is sound and has each acknowledged decision once; how many those are.

    If the campaign has a task of generated answers, that is what is judged.
    """
    directory = next(iter(task_campaigns(directory).values()), directory)
    with closing(sqlite3.connect(directory / DATABASE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    with Campaign(directory) as campaign:
        logs = {
            "judgements": campaign.store.judgements.table(current=False),
            "choices": campaign.store.topic_tasks.choices(current=False),
            "preferences": campaign.store.topic_tasks.preferences(current=False),
        }
        _require_counts(campaign, logs, [annotator.name for annotator in annotators])
    rows = [_said(log, row) for log, frame in logs.items() for row in frame.to_dict("records")]
    times = Counter(uuid for uuid, *_ in rows)
    logged = {uuid: said for uuid, *said in rows}
    assert {uuid: count for uuid, count in times.items() if count > 1} == {}
    for annotator in annotators:
        assert annotator.refused == {}
        lost = annotator.acknowledged.keys() - logged.keys()
        assert not lost, f"{annotator.name} lost {len(lost)} of {len(annotator.acknowledged)} acknowledged decisions"
        own = {uuid for uuid, (name, _) in logged.items() if name == annotator.name}
        assert own <= annotator.sent.keys()
        for uuid in own:
            said = logged[uuid][1]
            assert said == {field: annotator.sent[uuid].get(field, NOTHING.get(field)) for field in said}
    return sum(len(annotator.acknowledged) for annotator in annotators)


def _require_counts(campaign: Campaign, logs: dict[str, pd.DataFrame], names: Sequence[str]) -> None:
    """Fail unless the counts that pages show are those of the logs; nothing is adjudicated, and no topic closed."""
    log, comparisons = logs["judgements"], logs["preferences"]
    judgements = _last(log[log["counts_as"] != "surplus"], "doc_id")
    choices = _last(logs["choices"])
    pairs = [frozenset(pair) for pair in zip(comparisons["left"], comparisons["right"], strict=True)]
    compared = _last(comparisons.assign(pair=pairs), "pair")
    assert set(judgements["uuid"]) == set(campaign.store.judgements.table()["uuid"])
    numbers = {"logged": len(log), "judgements": len(judgements), "choices": len(choices), "preferences": len(compared)}
    counted = campaign.store.judgements.counts() | campaign.store.topic_tasks.counts()
    assert {name: counted[name] for name in numbers} == numbers

    by: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name, *pair in judgements[["annotator", "query_id", "doc_id"]].values.tolist():
        by[tuple(pair)].add(name)
    wanted = {query_id: most for query_id, most, _ in campaign.store.pool.needed_beside_qrels()}  # of each pair, here
    pool = [tuple(pair) for pair in campaign.store.pool.ids().values.tolist()]
    for query_id, judged, made in campaign.progress.topics()[["query_id", "judged_in_pool", "made"]].values.tolist():
        some = [len(by[pair]) for pair in pool if pair[0] == query_id and pair in by]
        assert judged == len(some)
        assert pd.isna(made) or made == sum(min(number, wanted[query_id]) for number in some)
    is_everywhere = campaign.settings.usual_mode() == "loop"
    task = campaign.settings.judging_page().task
    incomplete = _incomplete(campaign, judgements)
    for name in names:
        done = sum(
            pair in by and (name, *pair) not in incomplete and (name in by[pair] or len(by[pair]) >= wanted[pair[0]])
            for pair in pool
        )
        expected = (len(by), None) if is_everywhere else (done, len(pool))
        assert campaign.progress.totals(name) == expected
        if task != "grades":
            decisions = choices if task == "list" else compared
            topics = decisions.loc[decisions["annotator"] == name, "query_id"].unique()
            decided = [
                q for q in topics if task == "list" or campaign.judging.topic_tasks.plan(name, q)[0].pair is None
            ]
            assert campaign.judging.topic_tasks.progress(name).done == len(decided)


def _incomplete(campaign: Campaign, judgements: pd.DataFrame) -> set[tuple[str, str, str]]:
    """Annotator and pair of the judgements that come again, since an answer is missing."""
    again = [question for question in campaign.settings.questions() if question.again]
    columns = ["annotator", "query_id", "doc_id", "relevance", "answers"]
    return {
        (annotator, query_id, doc_id)
        for annotator, query_id, doc_id, grade, answers in judgements[columns].itertuples(index=False, name=None)
        if any(question.is_asked(grade) and question.name not in answers for question in again)
    }


def _last(log: pd.DataFrame, *of: str) -> pd.DataFrame:
    """The last decision of each annotator on each topic, and each document or pair `of` it, unless it was undone."""
    last = log.drop_duplicates(["annotator", "query_id", *of], keep="last")
    return last[last["kind"] != "undone"]


def _sent(value: Any) -> Any:
    """A value of the log as a card sends it."""
    if isinstance(value, dict):
        return {name: _sent(each) for name, each in value.items()}
    return list(map(_sent, value)) if isinstance(value, tuple) else value


def _said(log: str, row: dict[Any, Any]) -> tuple[str, str, dict[str, Any]]:
    said = {field: _sent(row[field]) for field in SAID[log]}
    return row["uuid"], row["annotator"], said
