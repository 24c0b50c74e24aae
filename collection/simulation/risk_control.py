"""Replay of the promise across topics: some topics calibrate a stopping rule, the others show what it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from collection.core.arrays import Ints
from collection.core.errors import InputError
from collection.core.phrases import count
from collection.simulation.experiment import Results
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    DEFAULT_FAMILY,
    RULE_FAMILIES,
    TopicLosses,
    choose_family,
    choose_setting,
    measure_losses,
)

COLUMNS = (
    "family", "alpha", "calibration_topics", "promised", "recall", "recall_low", "below", "judgements", "total",
    "everything",
)  # fmt: skip


def replay_risk_control(
    ledgers: Sequence[Ledger],
    alphas: Sequence[float] = (0.1,),
    *,
    families: Sequence[str] = (DEFAULT_FAMILY,),
    calibration_topics: Sequence[int] = (),
    splits: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Calibrate each family on random topics and stop the others by it, many times.

    Parameters
    ----------
    ledgers
        Complete topics of a known collection (:meth:`.JudgingOrder.ledger` of orders that run to the end).
    alphas
        Largest expected losses.
    families
        Names in :data:`~collection.stopping.risk_control.RULE_FAMILIES`; each gets its own rows.
    calibration_topics
        Numbers of calibration topics (n); by default half of the topics.
    splits
        Number of random splits. With all topics but one, each is left out once instead, so that the means are exact.
    seed
        Random seed of the splits, which are the same for all families.

    Returns
    -------
    DataFrame
        A row for each family, alpha and n. ``promised``: whether n topics can satisfy alpha; if not, every document is
        judged. Over the splits: ``recall`` (mean over the other topics, then over splits); ``recall_low`` (its 5%
        quantile); ``below`` (share of splits in which it is below 1 - alpha: the promise limits the mean over all
        splits, not this); ``judgements`` (mean in each other topic); ``total`` (in all topics, calibration included);
        ``everything`` (if all documents of all topics are judged).

    Raises
    ------
    InputError
        Fewer than 2 topics, or a number of calibration topics that leaves no other topic.
    """
    measured = {family: measure_losses(ledgers, family) for family in families}
    return replay_losses(measured, alphas, calibration_topics=calibration_topics, splits=splits, seed=seed)


def compare_promises(
    results: Results, alpha: float = 0.1, *, calibration_topics: int | None = None, splits: int = 200
) -> pd.DataFrame:
    """Compare the promise across topics with the promise for each topic, and with judging everything.

    Parameters
    ----------
    results
        A simulation that kept its ledgers, with the rule ``betting`` among its stops and the target 1 - alpha.
    alpha, calibration_topics, splits
        See :func:`replay_risk_control`.

    Returns
    -------
    DataFrame
        ``strategy``, ``learner``, ``rule`` (a family, "betting" or "everything"); ``promised``, ``recall``, ``below``,
        ``judgements`` and ``total`` as in :func:`replay_risk_control`, means over seeds. For "betting", which needs no
        calibration topics, ``below`` is nan.
    """
    frames = []
    for (strategy, learner, seed), ledgers in results.ledgers.items():
        n = [] if calibration_topics is None else [calibration_topics]
        families = [family.name for family in RULE_FAMILIES]
        rows = replay_risk_control(ledgers, [alpha], families=families, calibration_topics=n, splits=splits, seed=seed)
        frames.append(rows.rename(columns={"family": "rule"}).assign(strategy=strategy, learner=learner))
        size = float(rows["everything"].iloc[0])
        other = pd.DataFrame({"rule": ["everything"], "recall": 1.0, "below": 0.0, "total": size})
        frames.append(other.assign(strategy=strategy, learner=learner, promised=True, judgements=size / len(ledgers)))
    values, of = results.values, ["strategy", "learner"]
    betting = values[values["measure"].isin(["recall:betting", "judgements:betting"])]
    means = betting.groupby([*of, "measure"])["value"].mean().unstack()
    each = pd.DataFrame({"recall": means["recall:betting"], "judgements": means["judgements:betting"]}).reset_index()
    frames.append(each.assign(rule="betting", promised=True, total=each["judgements"] * values["query_id"].nunique()))
    columns = ["promised", "recall", "below", "judgements", "total"]
    table = pd.concat(frames, ignore_index=True).groupby([*of, "rule"], sort=False)[columns].mean().reset_index()
    order = {name: place for place, name in enumerate(results.means().index)}
    place = pd.MultiIndex.from_frame(table[of]).map(order.__getitem__)
    return table.assign(promised=table["promised"] == 1).iloc[np.argsort(place, kind="stable")].reset_index(drop=True)


def replay_losses(
    measured: dict[str, TopicLosses],
    alphas: Sequence[float] = (0.1,),
    *,
    calibration_topics: Sequence[int] = (),
    splits: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Replay losses that are measured already; see :func:`replay_risk_control`."""
    topics = next(iter(measured.values())).topics
    numbers = list(calibration_topics) or [topics // 2]
    if topics < 2 or any(not 0 <= n < topics for n in numbers):
        raise InputError(
            f"calibration topics: expected 0 to {max(topics - 1, 0):,} of {count(topics, 'topic')}, "
            f"so that others remain; found {', '.join(map(str, numbers))}"
        )
    rows = []
    for n in numbers:
        orders = list(_split(topics, n, splits, seed))
        for family, one in measured.items():
            for alpha in alphas:
                outcomes = [_replay(one, order[:n], order[n:], alpha) for order in orders]
                rows.append((family, alpha, *_summarise(outcomes, alpha, n, one)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def replay_selection(
    measured: dict[str, TopicLosses],
    alpha: float,
    *,
    calibration_topics: int,
    selection: int,
    splits: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Replay a choice among families by the first `selection` of the calibration topics; one row, as above."""
    topics = next(iter(measured.values())).topics
    every = list(measured.values())
    outcomes = []
    for order in _split(topics, calibration_topics, splits, seed):
        best = every[choose_family([one.select(order[:selection].tolist()) for one in every], alpha)]
        outcomes.append(_replay(best, order[selection:calibration_topics], order[calibration_topics:], alpha))
    row = ("chosen", alpha, *_summarise(outcomes, alpha, calibration_topics, every[0]))
    return pd.DataFrame([row], columns=list(COLUMNS))


def _split(topics: int, n: int, splits: int, seed: int) -> Iterator[Ints]:
    """Yield orders of the topics, of which the first n calibrate."""
    if n == topics - 1:
        for last in range(topics):
            yield np.append(np.delete(np.arange(topics), last), last)
        return
    rng = np.random.default_rng(seed)
    for _ in range(splits):
        yield rng.permutation(topics)


def _replay(measured: TopicLosses, calibration: Ints, others: Ints, alpha: float) -> tuple[bool, float, float, float]:
    """Outcome of a calibration: the promise, mean recall and cost of the other topics, and its own cost."""
    place = choose_setting(measured.losses[calibration], alpha)
    at = len(RULE_FAMILIES[measured.family].settings) - 1 if place is None else place
    recall = 1 - float(measured.losses[others, at].mean())
    return (
        place is not None,
        recall,
        float(measured.costs[others, at].mean()),
        float(measured.costs[calibration, -1].sum()),
    )


def _summarise(
    outcomes: Sequence[tuple[bool, float, float, float]], alpha: float, n: int, measured: TopicLosses
) -> tuple[int, bool, float, float, float, float, float, float]:
    promised, recalls, costs, calibration = (np.array(values) for values in zip(*outcomes, strict=True))
    total = calibration + costs * (measured.topics - n)
    return (
        n,
        bool(promised.all()),
        float(recalls.mean()),
        float(np.quantile(recalls, 0.05)),
        float((recalls < 1 - alpha - 1e-9).mean()),
        float(costs.mean()),
        float(total.mean()),
        float(measured.costs[:, -1].sum()),
    )
