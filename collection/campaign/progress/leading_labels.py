"""The label set that leads the loop: its labels of a topic, a digest of them, and the judgements that it led."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pandas as pd

from collection.campaign.settings.loop_settings import LoopSettings
from collection.core.phrases import join
from collection.store import LabelSet, Store


def find(store: Store, loop: LoopSettings) -> LabelSet | None:
    """Return the label set that leads; None if none does, or if it was deleted since."""
    if not loop.leading:
        return None
    return next((each for each in store.machine_labels.sets() if each.name == loop.leading), None)


def version(store: Store, label_set: LabelSet | None, query_id: str) -> tuple[object, ...] | None:
    """Return a version of a topic's labels and their unit; None without a label set."""
    if label_set is None:
        return None
    return label_set.key, store.machine_labels.topic_version(label_set.key, query_id), highest(store, label_set)


def highest(store: Store, label_set: LabelSet) -> float:
    """Return the highest label of a set, which is the unit of its labels; 1 if no label is above 0."""
    return store.machine_labels.highest(label_set.key) or 1.0


def labels(store: Store, label_set: LabelSet, query_id: str) -> dict[str, float]:
    """Return the labels of a topic by document; cached."""
    key = version(store, label_set, query_id)
    return store.cached(
        "leading labels", key, lambda: store.machine_labels.grades_of(label_set.key, query_id), member=query_id
    )


def digest(store: Store, label_set: LabelSet) -> str:
    """Return a digest of the labels of all topics: the same for the same labels, in whatever order they were added."""
    topics = store.machine_labels.topic_versions(label_set.key)
    written = json.dumps({query_id: labels(store, label_set, query_id) for query_id in topics}, sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=8).hexdigest()


def mark_led(judgements: pd.DataFrame, led: pd.DataFrame) -> pd.DataFrame:
    """Return the log with ``led_by``, the label set that led the model, "" for none, and ``label_trust``, its trust.

    Parameters
    ----------
    judgements
        With ``uuid``.
    led
        :meth:`.JudgementTables.led_by_labels`; without a row, the log stays as it is.
    """
    if led.empty:
        return judgements
    known = led.set_index("uuid").reindex(judgements["uuid"])
    return judgements.assign(led_by=known["led_by"].fillna("").to_numpy(), label_trust=known["label_trust"].to_numpy())


LITTLE, MUCH = 1.5, 6.0
"""Trust below which labels hardly change the order, and from which they decide it: between the lowest and the highest
label, in standard scores of the text."""


def describe_trust(name: str, trusts: Sequence[float]) -> str:
    """Say in words how much the last training round of each topic trusted a label set.

    Examples
    --------
    >>> describe_trust("gpt-4o", [6.1, 5.0, 3.2])
    "'gpt-4o' leads; its labels decide the order in 1 topic and help to order the documents in 2"
    """
    if not trusts:
        return f"{name!r} leads the loop; its trust is measured in a topic from its first relevant document on"
    hardly = sum(trust < LITTLE for trust in trusts)
    decisive = sum(trust >= MUCH for trust in trusts)
    parts = [
        f"{verb} {number:,}"
        for verb, number in (
            ("decide the order in", decisive),
            ("help to order the documents in", len(trusts) - hardly - decisive),
            ("hardly count in", hardly),
        )
        if number
    ]
    first = parts[0] + (" topic" if parts[0].endswith(" 1") else " topics")
    doubt = ", where judgements or the words of the topics do not confirm them" if hardly else ""
    return f"{name!r} leads; its labels {join([first, *parts[1:]])}{doubt}"
