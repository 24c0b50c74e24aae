"""Labels as a matrix: one row a pair, one column an annotator, and what of it is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError, UnknownNameError
from collection.frames import LABELS

Codes = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float64]

MISSING = -1
"""The code of a grade that an annotator has not given."""
REST = "the rest"
"""What the majority of the other annotators is called as if it were one."""
MOST_GRADES = 100
"""Different grades at most: coefficients take work and memory with the square of their number."""


@dataclass(frozen=True)
class Labels:
    """Who graded what.

    Attributes
    ----------
    annotators
        Names, in order.
    pairs
        ``query_id``, ``doc_id`` of each pair that anybody graded.
    codes
        Pairs x annotators: the place of the grade in `grades`, :data:`MISSING` where there is none.
    grades
        The scale: every grade that there can be, lowest first.
    finished_at
        When the last of a pair's grades was given (UTC); NaT where that is not known of all of them.
    repeated
        Rows that were left out since the same annotator graded the same pair again further down.
    """

    annotators: tuple[str, ...]
    pairs: pd.DataFrame
    codes: Codes
    grades: Floats
    finished_at: pd.Series[pd.Timestamp]
    repeated: int = 0

    @classmethod
    def of(cls, frame: pd.DataFrame, grades: Iterable[float] | None = None) -> Labels:
        """Labels of a frame.

        Parameters
        ----------
        frame
            :data:`collection.frames.LABELS`, and perhaps ``judged_at`` (ISO 8601). Where an annotator has several rows
            for a pair, the last one counts.
        grades
            The scale, where it is more than the grades that occur. Gwet's coefficients depend on how many there are.

        Raises
        ------
        ColumnsError
            A column is missing.
        InputError
            A grade is no number, is infinite, or is not of the scale; there are more than :data:`MOST_GRADES` different
            ones; or a name or an id is missing.
        """
        LABELS.check(frame, "agreement")
        given = frame[frame["relevance"].notna()]
        numbers = given["relevance"].to_numpy(dtype=np.float64)
        if np.isinf(numbers).any():
            raise InputError("agreement wants finite grades (relevance), found an infinite one")
        last = ~given.duplicated(list(LABELS.names[:3]), keep="last").to_numpy()
        given, numbers = given[last], numbers[last]
        scale = np.unique(numbers if grades is None else np.array(list(grades), dtype=np.float64))
        if len(scale) > MOST_GRADES:
            raise InputError(
                f"agreement wants at most {MOST_GRADES} different grades (relevance), found {len(scale):,}: are they "
                "scores? Round them to a few grades first"
            )
        if not np.isin(numbers, scale).all():
            strange = numbers[~np.isin(numbers, scale)][0]
            raise InputError(f"agreement wants grades of the scale ({', '.join(f'{g:g}' for g in scale)}), "
                             f"found {strange:g}")  # fmt: skip
        who, names = pd.factorize(given["annotator"].astype("str"), sort=True)
        keys = given[["query_id", "doc_id"]].astype("str")
        place = keys.groupby(["query_id", "doc_id"], sort=False).ngroup().to_numpy()
        pairs = keys.drop_duplicates().reset_index(drop=True)
        codes = np.full((len(pairs), len(names)), MISSING, dtype=np.int16)
        codes[place, who] = np.searchsorted(scale, numbers)
        return cls(tuple(map(str, names)), pairs, codes, scale, _finished(given, place, len(pairs)), int((~last).sum()))

    @property
    def count(self) -> int:
        """Grades in all."""
        return int((self.codes != MISSING).sum())

    @property
    def several(self) -> npt.NDArray[np.bool_]:
        """Which pairs two annotators or more have graded."""
        return (self.codes != MISSING).sum(axis=1) > 1

    def met(self) -> dict[tuple[str, str], int]:
        """How many pairs every two annotators both graded, by name; those who graded none in common are not in it."""
        there = (self.codes != MISSING).astype(np.int64)
        common = np.triu(there.T @ there, 1)
        return {(self.annotators[a], self.annotators[b]): int(common[a, b]) for a, b in np.argwhere(common)}

    def rows(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Labels:
        """Only these pairs, with the annotators who graded one of them."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        codes = self.codes[places]
        there = (codes != MISSING).any(axis=0)
        return Labels(
            tuple(a for a, t in zip(self.annotators, there, strict=True) if t),
            self.pairs.iloc[places].reset_index(drop=True),
            codes[:, there],
            self.grades,
            self.finished_at.iloc[places].reset_index(drop=True),
        )

    def column(self, annotator: str) -> Codes:
        """What one annotator says on each pair.

        Raises
        ------
        UnknownNameError
            Nobody of that name has graded anything.
        """
        if annotator not in self.annotators:
            raise UnknownNameError("annotator", annotator, self.annotators)
        return self.codes[:, self.annotators.index(annotator)]

    def between(self, a: str, b: str) -> Labels:
        """Two annotators, and the pairs that both graded."""
        return self._two((a, b), self.column(a), self.column(b))

    def against_rest(self, annotator: str) -> Labels:
        """One annotator, and the majority of all others as if it were one: what most of them say; in a tie the lower.

        Only pairs that the annotator and somebody else graded.
        """
        own = self.column(annotator)
        others = np.delete(self.codes, self.annotators.index(annotator), axis=1)
        votes = np.stack([(others == code).sum(axis=1) for code in range(len(self.grades))], axis=1)
        most = np.where(votes.any(axis=1), votes.argmax(axis=1), MISSING).astype(np.int16)
        return self._two((annotator, REST), own, most)

    def difference(self, annotator: str) -> float:
        """Mean of an annotator's grade minus the mean of the others' on the same pair; nan where nobody else graded."""
        own, there = self.column(annotator), self.codes != MISSING
        numbers = np.where(there, self.grades[self.codes], 0)
        others = there.sum(axis=1) - 1
        both = (own != MISSING) & (others > 0)
        if not both.any():
            return float("nan")
        mine = self.grades[own[both]]
        return float((mine - (numbers[both].sum(axis=1) - mine) / others[both]).mean())

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
        """The same with two grades: 1 from `level` on, else 0."""
        relevant = (self.grades >= level).astype(np.int16)
        codes = np.where(self.codes == MISSING, MISSING, relevant[self.codes]).astype(np.int16)
        if not len(self.grades):
            codes = self.codes
        return Labels(self.annotators, self.pairs, codes, np.array([0.0, 1.0]), self.finished_at, self.repeated)


def select_labels(frame: pd.DataFrame, *, topics: Sequence[str] = (), without: Sequence[str] = ()) -> pd.DataFrame:
    """The rows of these topics (of all, if none is named), without those of some annotators.

    Raises
    ------
    UnknownNameError
        The frame has no such topic or annotator.
    """
    for kind, column, names in (("topic", "query_id", topics), ("annotator", "annotator", without)):
        there = set(frame[column])
        for name in names:
            if name not in there:
                raise UnknownNameError(kind, name, map(str, there))
    left = frame[~frame["annotator"].isin(list(without))]
    return (left[left["query_id"].isin(list(topics))] if topics else left).reset_index(drop=True)


def _finished(given: pd.DataFrame, place: npt.NDArray[np.integer], pairs: int) -> pd.Series[pd.Timestamp]:
    """The latest time of each pair; NaT where one of its grades has none."""
    if "judged_at" not in given or not pairs:
        return pd.Series(pd.NaT, index=range(pairs), dtype="datetime64[ns, UTC]")
    times = pd.to_datetime(given["judged_at"], utc=True, format="ISO8601", errors="coerce").reset_index(drop=True)
    latest = times.groupby(place).max()
    return latest.mask(times.isna().groupby(place).any()).reset_index(drop=True)
