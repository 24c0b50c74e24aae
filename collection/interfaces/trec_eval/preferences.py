"""trec_eval's measures of preferences: how many preferences between documents a ranking fulfils.

A group of preferences, such as those of one annotator, is consistent; groups may contradict each other. With one
subgroup in a group, every document is preferred to all with a lower level. Several subgroups give a partial order,
which is completed by transitivity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError

PreferenceScope = Literal["all", "retrieved", "implied"]
"""The preferences that count: all, those with both documents retrieved, or those with at least one."""


class Level(NamedTuple):
    """The level that a subgroup of a group gives a document; only their order matters, and which of them are 0."""

    group: str
    subgroup: str
    doc_id: str
    level: float


class PreferenceGroup(NamedTuple):
    """The preferences of a group for n documents of a topic.

    Attributes
    ----------
    prefers
        (n, n): how often the document of the row is preferred to that of the column.
    level
        (n,): nan where the group has no level for the document.
    rows
        (n,): the rows that each document has, which all count in a complete order.
    partial
        Whether several subgroups give the preferences.
    """

    prefers: Ints
    level: Floats
    rows: Ints
    partial: bool

    @property
    def relevant(self) -> Ints:
        """(n,): the rows with a level above 0."""
        return self.rows * (self.level > 0)

    @property
    def nonrelevant(self) -> Ints:
        """(n,): the rows with the level 0, or below in a complete order."""
        return self.rows * (self.level == 0 if self.partial else self.level <= 0)


class TopicPreferences(NamedTuple):
    """The groups of a topic. Of the n documents the first `retrieved` are those that the run has, best first."""

    retrieved: int
    groups: list[PreferenceGroup]


class PreferenceRatio(NamedTuple):
    """Number of preferences that the ranking fulfils, and of those that it could fulfil."""

    fulfilled: int
    possible: int

    @property
    def value(self) -> float:
        """The ratio, nan for 0 / 0."""
        return self.fulfilled / self.possible if self.possible else np.nan


def add_in_order(values: Iterable[float]) -> float:
    """Sum in order, as in C: the last digit decides how a value ending in 5 is rounded."""
    total = 0.0
    for value in values:
        total += value
    return total


def gather(topic: str, levels: Sequence[Level], ranking: Sequence[str]) -> TopicPreferences:
    """The preferences of a topic about `ranking`, its document ids from the best on.

    Raises
    ------
    InputError
        The subgroups of a group contradict each other.
    """
    judged = {row.doc_id for row in levels}
    judged_documents = [doc_id for doc_id in ranking if doc_id in judged]
    place = {doc_id: i for i, doc_id in enumerate([*judged_documents, *sorted(judged.difference(judged_documents))])}
    ordered = sorted(levels, key=lambda row: (row.group, row.subgroup))
    groups = [_group(topic, name, list(rows), place) for name, rows in groupby(ordered, key=lambda row: row.group)]
    return TopicPreferences(len(judged_documents), groups)


def _group(topic: str, name: str, rows: list[Level], place: Mapping[str, int]) -> PreferenceGroup:
    where = f"preferences of group {name!r} for topic {topic!r}"
    prefers = np.zeros((len(place), len(place)), dtype=np.bool_)
    level = np.full(len(place), np.nan)
    number = np.zeros(len(place), dtype=np.int64)
    subgroups = 0
    for _, members in groupby(rows, key=lambda row: row.subgroup):
        own = np.full(len(place), np.nan)
        for row in members:
            at = place[row.doc_id]
            if not (np.isnan(own[at]) or own[at] == row.level):
                raise InputError(f"{where}: document {row.doc_id!r} has two levels in a subgroup; give it one of them")
            own[at] = row.level
            number[at] += 1
        if (both := ((level > 0) & (own == 0)) | ((level == 0) & (own > 0))).any():
            doc_id = list(place)[int(both.argmax())]
            raise InputError(f"{where}: document {doc_id!r} has the level 0 and another one; give it one of them")
        level = np.where(np.isnan(own), level, own)
        prefers |= own[:, None] > own[None, :]
        subgroups += 1
    if subgroups == 1:
        return PreferenceGroup(prefers * number[:, None] * number, level, number, partial=False)
    prefers = _closure(prefers)
    if (both := prefers & prefers.T).any():
        one, other = (list(place)[i] for i in np.argwhere(both)[0])
        raise InputError(f"{where}: {one!r} is preferred to {other!r} and {other!r} to {one!r}; keep one of them")
    return PreferenceGroup(prefers.astype(np.int64), level, np.minimum(number, 1), partial=True)


def _closure(prefers: Bools) -> Bools:
    """The transitive closure; a pair may be in it both ways."""
    reach = prefers | np.eye(len(prefers), dtype=np.bool_)
    while True:
        further: Bools = reach.astype(np.float32) @ reach.astype(np.float32) > 0
        if (further == reach).all():
            return further & ~np.eye(len(prefers), dtype=np.bool_)
        reach = further


def count_preferences(prefers: Ints, retrieved: int, scope: PreferenceScope = "all") -> PreferenceRatio:
    """Count the preferences of an (n, n) matrix within the scope."""
    if scope == "retrieved":
        prefers = prefers[:retrieved, :retrieved]
    fulfilled = int(np.triu(prefers, 1)[:retrieved].sum())
    neither = int(prefers[retrieved:, retrieved:].sum()) if scope == "implied" else 0
    return PreferenceRatio(fulfilled, int(prefers.sum()) - neither)


def _counts(topic: TopicPreferences, scope: PreferenceScope) -> list[PreferenceRatio]:
    """The counts of each group."""
    return [count_preferences(group.prefers, topic.retrieved, scope) for group in topic.groups]


def possible(topic: TopicPreferences, scope: PreferenceScope = "all") -> int:
    """Number of preferences that a ranking could fulfil."""
    return sum(ratio.possible for ratio in _counts(topic, scope))


def fulfilled(topic: TopicPreferences, scope: PreferenceScope = "all") -> int:
    """Number of preferences that the ranking fulfils."""
    return sum(ratio.fulfilled for ratio in _counts(topic, scope))


def share(topic: TopicPreferences, scope: PreferenceScope = "all") -> float:
    """The share of preferences fulfilled."""
    number = possible(topic, scope)
    return fulfilled(topic, scope) / number if number else 0.0


def mean_over_pairs(topic: TopicPreferences, scope: PreferenceScope = "all") -> float:
    """The mean over pairs of documents of the share of the groups that the ranking agrees with."""
    counted = np.stack([group.prefers for group in topic.groups]).sum(axis=0)
    n, retrieved = len(counted), topic.retrieved
    agree, number = np.triu(counted, 1), np.triu(counted + counted.T, 1)
    blocks = [(slice(retrieved), slice(retrieved))]
    if scope != "retrieved":
        blocks.append((slice(retrieved), slice(retrieved, n)))
    shares: list[float] = []
    for block in blocks:
        some = number[block] > 0
        shares += (agree[block][some] / number[block][some]).tolist()
    neither = int(np.count_nonzero(number[retrieved:, retrieved:])) if scope == "all" else 0
    pairs = len(shares) + neither
    return add_in_order(shares) / pairs if pairs else 0.0


def mean_over_groups(topic: TopicPreferences, scope: PreferenceScope = "all") -> float:
    """The mean over groups of the share of their preferences that are fulfilled."""
    return _mean((ratio.value if ratio.possible else 0.0 for ratio in _counts(topic, scope)), len(topic.groups))


def _mean(values: Iterable[float], number: int) -> float:
    """The mean; 0 if a value is nan."""
    total = add_in_order(values)
    return total / number if total > 0 else 0.0


def mean_with_r_nonrelevant(topic: TopicPreferences, scope: Literal["all", "retrieved"] = "all") -> float:
    """The mean over groups, each with as many nonrelevant documents as it has relevant ones, R.

    Of more nonrelevant documents the first R count; missing ones count as ranked below every relevant document.
    """
    return _mean(
        (_with_r_nonrelevant(group, topic.retrieved, scope).value for group in topic.groups), len(topic.groups)
    )


def _with_r_nonrelevant(group: PreferenceGroup, retrieved: int, scope: Literal["all", "retrieved"]) -> PreferenceRatio:
    """The counts of a group, for the two cases and with the peculiarities of trec_eval."""
    relevant, nonrelevant = group.relevant, group.nonrelevant
    among = slice(None) if scope == "all" else slice(retrieved)
    number, others = int(relevant[among].sum()), int(nonrelevant[among].sum())
    if number >= others:
        counts = count_preferences(group.prefers, retrieved, scope)
        more = number - others
        relevant_retrieved = int(relevant[:retrieved].sum())
        return PreferenceRatio(
            counts.fulfilled + relevant_retrieved * more, counts.possible + int(relevant.sum()) * more
        )
    if group.partial:
        first_nonrelevant = (nonrelevant == 0) | (np.cumsum(nonrelevant) <= relevant.sum())
        prefers = group.prefers * (first_nonrelevant[:, None] & first_nonrelevant)
    else:
        last = group.rows * (group.level == np.nanmin(group.level))
        if last.sum() < number:  # trec_eval reads past the end of an array
            last = nonrelevant
        first = np.bincount(np.repeat(np.arange(len(last)), last)[:number], minlength=len(last))
        # In trec_eval the last class is compared with itself, too.
        prefers = np.where(last > 0, group.rows[:, None] * first, group.prefers)
    return count_preferences(prefers[among, among], retrieved)


_IN_SCOPE: dict[PreferenceScope, tuple[str, str]] = {
    "all": ("", ""),
    "retrieved": ("_ret", "; only pairs with both documents retrieved count"),
    "implied": ("_imp", "; only pairs with a retrieved document count"),
}
"""Scope -> end of the name and of the description."""

_KINDS: tuple[tuple[str, str, Callable[..., float]], ...] = (
    ("prefs_simp", "Share of the preferences that the ranking fulfils", share),
    ("prefs_pair", "Mean over pairs of the share of the groups that the ranking agrees with", mean_over_pairs),
    ("prefs_avgjg", "Mean over groups of the share of their preferences fulfilled", mean_over_groups),
    (
        "prefs_avgjg_Rnonrel",
        "prefs_avgjg with as many nonrelevant documents as relevant ones",
        mean_with_r_nonrelevant,
    ),
)

COUNTS: tuple[tuple[str, str, Callable[..., float]], ...] = (
    ("prefs_num_prefs_poss", "Number of preferences.", possible),
    ("prefs_num_prefs_ful", "Number of preferences that the ranking fulfils.", fulfilled),
    (
        "prefs_num_prefs_ful_ret",
        "Number of preferences fulfilled, both documents retrieved.",
        partial(fulfilled, scope="retrieved"),
    ),
)
"""Name, description and function of each count."""

RATIOS: tuple[tuple[str, str, Callable[..., float]], ...] = tuple(
    (name + _IN_SCOPE[scope][0], f"{description}{_IN_SCOPE[scope][1]}.", partial(function, scope=scope))
    for scope in _IN_SCOPE
    for name, description, function in _KINDS
    if scope != "implied" or function is not mean_with_r_nonrelevant
)
"""Name, description and function of each ratio, in the order of trec_eval's output."""
