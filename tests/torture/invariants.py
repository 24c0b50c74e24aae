"""What has to be true of a campaign after anything that breaks."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from collection import Campaign
from collection.layout import DATABASE
from tests.torture.annotators import Annotator

SAID = {
    "judgements": ("query_id", "doc_id", "kind", "relevance"),
    "choices": ("query_id", "kind", "shown", "chosen"),
    "preferences": ("query_id", "kind", "left", "right"),
}
"""Fields of a decision that the log has as they were sent."""


def require_intact(directory: Path, annotators: Sequence[Annotator]) -> int:
    """Fail unless the database is sound and has each acknowledged decision once; how many those are."""
    with closing(sqlite3.connect(directory / DATABASE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    with Campaign(directory) as campaign:
        logs = {
            "judgements": campaign.judgement_log.judgements(current=False),
            "choices": campaign.topic_tasks.choices(current=False),
            "preferences": campaign.topic_tasks.preferences(current=False),
        }
        counted = campaign.progress.counts()
        current = campaign.judgement_log.judgements()
    assert counted["logged"] == len(logs["judgements"])
    assert _last(logs["judgements"]) == set(current["uuid"])
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
            assert said == {field: annotator.sent[uuid][field] for field in said}
    return sum(len(annotator.acknowledged) for annotator in annotators)


def _last(log: pd.DataFrame) -> set[str]:
    """The last judgement of each annotator and pair."""
    log = log[log["counts_as"] != "surplus"]
    last = log.drop_duplicates(["annotator", "query_id", "doc_id", "counts_as"], keep="last")
    return set(last.loc[last["kind"] != "undone", "uuid"])


def _said(log: str, row: dict[Any, Any]) -> tuple[str, str, dict[str, Any]]:
    said = {field: list(row[field]) if isinstance(row[field], tuple) else row[field] for field in SAID[log]}
    return row["uuid"], row["annotator"], said
