"""Cost of an order of judging: judgements to reach a recall, work saved, and the points where stopping rules stop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from collection.core.arrays import Ints
from collection.simulation.cases import Case
from collection.simulation.replay import JudgingOrder
from collection.stopping import STOPPING_RULES, Ledger

RECALLS = (80, 90, 95, 100)
AFTER = (("R@R", 1, 0), ("R@2R+100", 2, 100), ("R@4R+1000", 4, 1000))
"""(name, a, b) of recall after aR + b judgements, as in TREC's total recall track."""


def measure(case: Case, judged: JudgingOrder, level: float = 1) -> dict[str, float]:
    """Measure the cost of an order over N documents, R of them relevant; priors do not count. nan if R is 0.

    Returns
    -------
    dict
        ``documents``: N. ``judgements@80`` ... ``judgements@100``: judgements until that percentage of the R relevant
        documents is found. ``WSS@95``: work saved over sampling, (N - judgements@95) / N - 0.05 (Cohen et al., JAMIA
        2006). ``ATD``: average time to discovery, the mean over relevant documents of the judgements until each is
        found (Ferdinands et al., 2023). ``R@R``, ``R@2R+100``, ``R@4R+1000``: recall after that number of judgements.
        ``seconds``: wall time.
    """
    places = _relevant_places(case, judged, level)
    size, number = judged.size(case), len(places)
    values = {"documents": float(size)}
    for recall in RECALLS:
        values[f"judgements@{recall}"] = float(places[_needed(number, recall / 100) - 1]) if number else np.nan
    values["WSS@95"] = (size - values["judgements@95"]) / size - 0.05 if number else np.nan
    values["ATD"] = float(places.mean()) if number else np.nan
    for name, a, b in AFTER:
        values[name] = float((places <= a * number + b).mean()) if number else np.nan
    return values | {"seconds": judged.seconds}


def measure_stop(
    case: Case, judged: JudgingOrder, rule: str, parameters: Mapping[str, float], level: float = 1, target: float = 0.9
) -> dict[str, float]:
    """Find where a stopping rule, applied after every round, stops in an order that runs to the end.

    Returns
    -------
    dict
        ``judgements:RULE`` and ``recall:RULE`` at the stop; ``reached:RULE``: 1 if the recall is at least the target,
        else 0; ``cost:RULE``: the judgements at the stop or, if the recall is below the target, those needed to reach
        it (Lewis, Yang & Frieder, CIKM 2021).
    """
    ledger = judged.ledger(case, level)
    stop = find_stop(ledger, rule, parameters)
    places = _relevant_places(case, judged, level)
    recall = float((places <= stop).mean()) if len(places) else 1.0
    enough = int(places[_needed(len(places), target) - 1]) if len(places) else 0
    return {
        f"judgements:{rule}": float(stop),
        f"recall:{rule}": recall,
        f"reached:{rule}": float(recall >= target - 1e-9),
        f"cost:{rule}": float(max(stop, enough)),
    }


def curve(case: Case, judged: JudgingOrder, level: float = 1) -> pd.DataFrame:
    """Return ``judged`` and ``found`` at the start, at each relevant document, and at the end."""
    places = _relevant_places(case, judged, level)
    at = np.unique(np.concatenate(([0], places, [len(judged.order)])))
    return pd.DataFrame({"judged": at, "found": np.searchsorted(places, at, side="right")})


def find_stop(ledger: Ledger, rule: str, parameters: Mapping[str, float]) -> int:
    """The end of the first round after which the rule stops; all judgements if it never does."""
    entry = STOPPING_RULES[rule]
    assert ledger.batch is not None
    ends = np.flatnonzero(np.diff(ledger.batch, append=np.inf)) + 1
    if entry.at_each is not None:
        return next(iter(ends[entry.at_each(ledger, ends, **parameters)].tolist()), ledger.judged)
    for end in ends.tolist():
        if entry.function(ledger.prefix(end), **parameters).stop:
            return end
    return ledger.judged


def _relevant_places(case: Case, judged: JudgingOrder, level: float) -> Ints:
    return np.flatnonzero(case.grades[judged.order] >= level) + 1


def _needed(number: int, recall: float) -> int:
    # The subtraction keeps 0.95 * 20, slightly above 19 as a float, at 19.
    return max(1, int(np.ceil(recall * number - 1e-9)))
