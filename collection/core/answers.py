"""Generated answers, their sentences and their labels, as packages exchange them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collection.core.phrases import count

if TYPE_CHECKING:
    import pandas as pd

_NO_WORD = re.compile(r"[\W_]+")

SUPPORT_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}
"""Label of a nugget assignment -> its grade."""


@dataclass(frozen=True)
class Answers:
    """Generated answers of one or several runs.

    Parameters
    ----------
    answers
        :data:`~collection.core.frames.ANSWERS`, one row for each run and topic, also for an empty answer; types
        ``words`` int64, ``stated_words`` Int64.
    sentences
        :data:`~collection.core.frames.SENTENCES` of all answers, in their order.
    topics
        ``query_id``, ``title``, ``narrative`` of the topics whose texts are in the file; may have no rows.
    documents
        :data:`~collection.core.frames.DOCUMENTS` whose texts are in the file; may have no rows.
    notes
        What was not read as written, each with its count.
    """

    answers: pd.DataFrame
    sentences: pd.DataFrame
    topics: pd.DataFrame
    documents: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Answers({_counted(self.answers)}, {count(len(self.sentences), 'sentence')})"


@dataclass(frozen=True)
class NuggetLabels:
    """Nugget assignments, with the nuggets and answers of their file.

    Parameters
    ----------
    nuggets
        :data:`~collection.core.frames.NUGGETS` of each topic.
    assignments
        :data:`~collection.core.frames.NUGGET_ASSIGNMENTS`; ``grade`` is Int8.
    answers
        :data:`~collection.core.frames.ANSWERS`, and ``text``: the whole answer, or empty if the file lacks it.
    topics
        ``query_id``, ``title``, ``narrative``, as of :class:`Answers`.
    notes
        What was not read as written, each with its count.
    """

    nuggets: pd.DataFrame
    assignments: pd.DataFrame
    answers: pd.DataFrame
    topics: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"NuggetLabels({_counted(self.answers)}, {count(len(self.assignments), 'nugget assignment')})"


@dataclass(frozen=True)
class SupportLabels:
    """Support of sentences by the documents that they cite; sentences without citations are included.

    Parameters
    ----------
    answers
        :data:`~collection.core.frames.ANSWERS`, including answers without sentences.
    sentences
        :data:`~collection.core.frames.SENTENCES`; ``verification_worthy`` and ``combined_grade`` (Int8) if the file
        has them.
    support
        :data:`~collection.core.frames.SUPPORT`, one row for each citation; ``grade`` is Int8.
    notes
        What was not read as written, each with its count.
    """

    answers: pd.DataFrame
    sentences: pd.DataFrame
    support: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SupportLabels({_counted(self.answers)}, {count(len(self.support), 'citation')})"


def match_runs(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Map names to known runs: the same name, or the only known run that differs by a team prefix (``team.run``).

    Names are left out if they match no known run, several of them, or the same one as another name.

    >>> match_runs(["uni.r1", "r2", "r3"], ["r1", "uni.r2", "a.r3", "b.r3"])
    {'uni.r1': 'r1', 'r2': 'uni.r2'}
    """
    runs = dict.fromkeys(known)
    bare: dict[str, list[str]] = {}
    for run in runs:
        bare.setdefault(run.partition(".")[2], []).append(run)
    meant: dict[str, str] = {}
    for name in dict.fromkeys(names):
        same = [each for each in (name, name.partition(".")[2]) if each and each in runs][:1]
        candidates = same or bare.get(name, [])
        if name and len(candidates) == 1:
            meant[name] = candidates[0]
    times = Counter(meant.values())
    return {name: run for name, run in meant.items() if times[run] == 1 or name == run}


def same_words(one: str, other: str) -> bool:
    """Tell whether two texts have the same letters and digits, without case, blanks and punctuation.

    >>> same_words("Air is fast. It flows.", "air is fast . It flows .")
    True
    """
    return _NO_WORD.sub("", one).casefold() == _NO_WORD.sub("", other).casefold()


def _counted(answers: pd.DataFrame) -> str:
    """Return the numbers of runs, topics and answers in words."""
    names = (("run", "run"), ("query_id", "topic"))
    counted = [count(answers[column].nunique(), noun) for column, noun in names]
    return ", ".join([*counted, count(len(answers), "answer")])
