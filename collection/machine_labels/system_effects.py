"""Effects of machine labels on conclusions about systems: order, gains of single systems, and significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from collection.core.phrases import count
from collection.machine_labels.corrected_values import CorrectedValues, half_width
from collection.statistics.multiple_testing import holm
from collection.statistics.paired_tests import paired_t
from collection.statistics.rank_correlation import kendall, tau_ap


@dataclass(frozen=True, eq=False)
class SystemEffects:
    """Values by machine labels next to the corrected ones.

    Attributes
    ----------
    tau, tau_ap
        Correlation of the order by labels with the corrected order; nan with fewer than two runs.
    gains
        By ``run``, largest first: ``labels``, ``corrected``, ``gain`` (labels minus corrected, next to the mean gain of
        all runs), ``low``, ``high``. A gain is what labels give to a system and take from others.
    families
        By ``family``: ``runs``, ``gain`` (mean gain of its runs minus that of the other runs), ``low``, ``high``.
    decisions
        Number of pairs of runs by what the test says: ``labels``, ``corrected`` ("a better", "b better" or "no
        decision", with a the better one by labels), ``pairs``. Empty with a single topic.
    test
        The test behind `decisions`, in words.
    """

    tau: float
    tau_ap: float
    gains: pd.DataFrame
    families: pd.DataFrame
    decisions: pd.DataFrame
    test: str


def find_effects(correction: CorrectedValues, families: Mapping[str, Sequence[str]] | None = None) -> SystemEffects:
    """Compare the values by labels with the corrected ones.

    Parameters
    ----------
    correction
        From :func:`.correct`, with labels.
    families
        Name of a family -> its runs, such as those built on the model that judged.
    """
    labels, corrected = correction.values["labels"].to_numpy(), correction.values["corrected"].to_numpy()
    several = len(labels) > 1
    raw = labels - corrected
    gain, parts = raw - raw.mean(), correction.parts - correction.parts.mean(axis=0)
    half = half_width(parts, correction.alpha)
    gains = correction.values[["run", "labels", "corrected"]].assign(gain=gain, low=gain - half, high=gain + half)
    gains = gains.sort_values("gain", ascending=False, kind="stable", ignore_index=True)
    names = correction.values["run"].tolist()
    rows = []
    for family, members in (families or {}).items():
        inside = np.isin(names, list(members))
        if inside.any() and not inside.all():
            contrast = inside / inside.sum() - ~inside / (~inside).sum()
            wide = float(half_width((contrast @ correction.parts)[None, :], correction.alpha)[0])
            mean = float(contrast @ raw)
            rows.append((family, int(inside.sum()), mean, mean - wide, mean + wide))
    return SystemEffects(
        kendall(corrected, labels) if several else np.nan,
        tau_ap(corrected, labels, ties="b") if several else np.nan,
        gains,
        pd.DataFrame(rows, columns=["family", "runs", "gain", "low", "high"]),
        _decisions(correction),
        f"two-sided paired t-test of {correction.measure} over {count(correction.by_topic.shape[1], 'topic')}, at "
        f"{correction.alpha:g} with Holm's correction for {count(len(correction.differences), 'pair')}",
    )


def _decisions(correction: CorrectedValues) -> pd.DataFrame:
    if correction.by_topic.shape[1] < 2:  # no test over topics
        return pd.DataFrame({"labels": [], "corrected": [], "pairs": []})
    one, other = np.triu_indices(len(correction.values), 1)
    swap = correction.values["labels"].to_numpy()[one] < correction.values["labels"].to_numpy()[other]
    one, other = np.where(swap, other, one), np.where(swap, one, other)
    said = {}
    for name, values in (("labels", correction.labels_by_topic), ("corrected", correction.by_topic)):
        differences = (values[one] - values[other]).T
        decided = holm(paired_t(differences).p) < correction.alpha if len(one) else np.zeros(0, dtype=bool)
        better = np.where(differences.mean(axis=0) > 0, "a better", "b better") if len(one) else np.zeros(0, dtype=str)
        said[name] = np.where(decided, better, "no decision")
    return pd.DataFrame(said).groupby(["labels", "corrected"], sort=True).size().rename("pairs").reset_index()
