"""Labels as a matrix: one row per pair, one column per annotator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.arrays import Bools, Floats, Integers
from collection.core.errors import InputError, require_known
from collection.core.frames import LABELS, number_pairs

Codes = npt.NDArray[np.int8]

MISSING = -1
"""The code of a missing grade."""
REST = "the rest"
"""The name of the majority of the other annotators."""
MAX_GRADES = 100
"""Maximum number of grades; time and memory grow with its square."""


@dataclass(frozen=True)
class Labels:
    """Grades of several annotators."""

    annotators: tuple[str, ...]
    """Names, sorted."""
    pairs: pd.DataFrame
    """``query_id``, ``doc_id`` of each graded pair, and perhaps ``topic``."""
    codes: Codes
    """Pairs x annotators: index of the grade in `grades`, or :data:`MISSING`."""
    grades: Floats
    """The scale, ascending."""
    finished_at: pd.Series[pd.Timestamp]
    """Time of each pair's last grade (UTC); NaT unless all its times are known."""
    repeated: int = 0
    """Rows left out because the same annotator graded the pair again further down."""

    @classmethod
    def of(cls, frame: pd.DataFrame, grades: Iterable[float] | None = None) -> Labels:
        """Make labels from a frame.

        Parameters
        ----------
        frame
            :data:`.LABELS`, and perhaps ``judged_at`` (ISO 8601, or times) and ``topic``, by which pairs are grouped in
            place of ``query_id``. An annotator's last row for a pair counts.
        grades
            The scale; the grades that occur if left out. Gwet's coefficients depend on its size.

        Raises
        ------
        ColumnsError, InputError
            A column, a name or an id is missing; a grade is no number, infinite, or outside the scale; or there are
            more than :data:`MAX_GRADES`.
        """
        labels = cls.from_keys(LABELS.check(frame, "agreement"), grades)
        return replace(labels, pairs=labels.pairs.astype("str"))

    @classmethod
    def from_keys(cls, frame: pd.DataFrame, grades: Iterable[float] | None = None) -> Labels:
        """Make them as :meth:`of`, from a checked frame whose topics and documents may be keys, as in :attr:`pairs`."""
        given = frame[frame["relevance"].notna()]
        numbers = given["relevance"].to_numpy(dtype=np.float64)
        if np.isinf(numbers).any():
            raise InputError("relevance: agreement needs finite grades, found infinity")
        who, names = _number_names(given["annotator"])
        pair = number_pairs(given[["query_id", "doc_id"]])
        last = ~pd.Series(pair * max(1, len(names)) + who).duplicated(keep="last").to_numpy()
        given, numbers, who = given[last], numbers[last], who[last]
        scale = np.unique(numbers if grades is None else np.array(list(grades), dtype=np.float64))
        if len(scale) > MAX_GRADES:
            raise InputError(
                f"relevance: agreement needs at most {MAX_GRADES} different grades, found {len(scale):,}; if they are "
                "scores, round them to a few grades first"
            )
        if not np.isin(numbers, scale).all():
            strange = numbers[~np.isin(numbers, scale)][0]
            raise InputError(f"relevance: expected grades of the scale ({', '.join(f'{g:g}' for g in scale)}), "
                             f"found {strange:g}")  # fmt: skip
        place, _ = pd.factorize(pair[last])
        first = ~pd.Series(place).duplicated().to_numpy()
        columns = [name for name in ("query_id", "doc_id", "topic") if name in given]
        pairs = given.loc[first, columns].reset_index(drop=True)
        codes = np.full((len(pairs), len(names)), MISSING, dtype=np.int8)
        codes[place, who] = np.searchsorted(scale, numbers)
        return cls(names, pairs, codes, scale, _finished(given, place, len(pairs)), int((~last).sum()))

    @property
    def count(self) -> int:
        """Number of grades."""
        return int((self.codes != MISSING).sum())

    @property
    def topics(self) -> pd.Series[str]:
        """Topic of each pair; several answers, which are judged separately, can have the same one."""
        return self.pairs["topic" if "topic" in self.pairs else "query_id"]

    @cached_property
    def several(self) -> Bools:
        """Return whether each pair was graded by two annotators or more."""
        return (self.codes != MISSING).sum(axis=1) > 1

    @cached_property
    def votes(self) -> npt.NDArray[np.int32]:
        """(pairs, grades) how many annotators gave each grade to each pair."""
        return np.stack([(self.codes == code).sum(axis=1, dtype=np.int32) for code in range(len(self.grades))], axis=1)

    def met(self) -> dict[tuple[str, str], int]:
        """Number of common pairs of every two annotators with at least one, by name."""
        graded = (self.codes[self.several] != MISSING).astype(np.float64)  # whole numbers, and many times as fast
        common = np.triu(graded.T @ graded, 1)
        return {(self.annotators[a], self.annotators[b]): int(common[a, b]) for a, b in np.argwhere(common)}

    def rows(self, chosen: Bools | npt.NDArray[np.intp]) -> Labels:
        """Only these pairs, with the annotators who graded one of them."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        codes = self.codes[places]
        labelled = (codes != MISSING).any(axis=0)
        return Labels(
            tuple(a for a, t in zip(self.annotators, labelled, strict=True) if t),
            self.pairs.iloc[places].reset_index(drop=True),
            codes[:, labelled],
            self.grades,
            self.finished_at.iloc[places].reset_index(drop=True),
        )

    def column(self, annotator: str) -> Codes:
        """The codes of one annotator; raises :class:`UnknownNameError`."""
        require_known("annotator", self.annotators, annotator)
        return self.codes[:, self.annotators.index(annotator)]

    def between(self, a: str, b: str) -> Labels:
        """Two annotators and their common pairs."""
        return self._two((a, b), self.column(a), self.column(b))

    def against_rest(self, annotator: str) -> Labels:
        """One annotator and the majority of the others (the lower grade in a tie), on their common pairs."""
        own = self.column(annotator)
        votes, graded = self.votes.copy(), np.flatnonzero(own != MISSING)
        votes[graded, own[graded]] -= 1
        most = np.where(votes.any(axis=1), votes.argmax(axis=1), MISSING).astype(np.int8)
        return self._two((annotator, REST), own, most)

    def difference(self, annotator: str) -> float:
        """Mean difference of an annotator's grade and the others' mean on the same pair; nan without a common pair."""
        shared = self.codes[(self.column(annotator) != MISSING) & self.several]
        if not len(shared):
            return float("nan")
        numbers = np.where(shared != MISSING, self.grades[shared], np.nan)
        place = self.annotators.index(annotator)
        return float((numbers[:, place] - np.nanmean(np.delete(numbers, place, axis=1), axis=1)).mean())

    def _two(self, names: tuple[str, str], first: Codes, second: Codes) -> Labels:
        both = (first != MISSING) & (second != MISSING)
        return Labels(
            names,
            self.pairs[both].reset_index(drop=True),
            np.stack([first[both], second[both]], axis=1),
            self.grades,
            self.finished_at[both].reset_index(drop=True),
        )

    def binary(self, level: float) -> Labels:
        """The same labels with two grades: 1 from `level` on, else 0."""
        relevant = np.append(self.grades >= level, MISSING).astype(np.int8)  # MISSING is the index of the last one
        return replace(self, codes=relevant[self.codes], grades=np.array([0.0, 1.0]))


def select_labels(frame: pd.DataFrame, *, topics: Sequence[str] = (), without: Sequence[str] = ()) -> pd.DataFrame:
    """Select the rows of these topics (all if none is named), without those of some annotators.

    Raises :class:`UnknownNameError` for a topic or an annotator that is not in the frame.
    """
    for kind, column, names in (("topic", "query_id", topics), ("annotator", "annotator", without)):
        require_known(kind, set(frame[column].unique()), *names)
    left = frame[~frame["annotator"].isin(list(without))]
    return (left[left["query_id"].isin(list(topics))] if topics else left).reset_index(drop=True)


def _number_names(column: pd.Series[str]) -> tuple[Integers, tuple[str, ...]]:
    """(rows,) the place of each value among the different ones, which are sorted; categories are not read as texts."""
    codes, values = pd.factorize(column)
    names = [str(value) for value in values]
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.argsort(order)[codes], tuple(names[place] for place in order)


def _finished(given: pd.DataFrame, place: Integers, pairs: int) -> pd.Series[pd.Timestamp]:
    """The latest time of each pair; NaT if one of its grades has none."""
    if "judged_at" not in given or not pairs:
        return pd.Series(pd.NaT, index=range(pairs), dtype="datetime64[ns, UTC]")
    times = pd.to_datetime(given["judged_at"], utc=True, format="ISO8601", errors="coerce").reset_index(drop=True)
    if len(given) == pairs:  # in the order of the pairs, each of which has one grade
        return times
    latest = times.groupby(place).max()
    return latest.mask(times.isna().groupby(place).any()).reset_index(drop=True)
