"""An order of judging -> what it cost: judgements to a recall, work saved, and what stopping rules would have done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from collection.simulation.cases import Case
from collection.simulation.replay import Played
from collection.stopping import RULES, Ledger

RECALLS = (80, 90, 95, 100)
AFTER = ((1, 0), (2, 100), (4, 1000))
"""(a, b) of recall at aR+b, as in TREC's total recall track."""


def measure(case: Case, played: Played, level: float = 1) -> dict[str, float]:
    """What an order cost.

    Priors cost nothing, and neither they nor the relevant among them count: N and R are of the other documents.

    Returns
    -------
    dict
        ``documents``: N. ``judgements@80`` ... ``judgements@100``: judgements until so many percent of the R relevant
        documents were found. ``WSS@95``: (N - judgements@95) / N - .05 (Cohen et al., JAMIA 2006). ``ATD``: the mean
        number of judgements until a relevant document was found (Ferdinands et al., 2023: average time to discovery).
        ``R@R``, ``R@2R+100``, ``R@4R+1000``: recall after so many judgements. ``seconds``: wall time.
        nan where there is no relevant document to be found.
    """
    places = _places(case, played, level)
    size, number = _size(case, played), len(places)
    if not number:
        names = [f"judgements@{r}" for r in RECALLS] + ["WSS@95", "ATD", *map(_name, AFTER)]
        return {"documents": float(size)} | dict.fromkeys(names, float("nan")) | {"seconds": played.seconds}
    values = {"documents": float(size)}
    values |= {f"judgements@{r}": float(places[_needed(number, r / 100) - 1]) for r in RECALLS}
    values["WSS@95"] = (size - values["judgements@95"]) / size - 0.05
    values["ATD"] = float(places.mean())
    for a, b in AFTER:
        values[_name((a, b))] = float((places <= a * number + b).mean())
    return values | {"seconds": played.seconds}


def measure_stop(
    case: Case, played: Played, rule: str, parameters: Mapping[str, Any], level: float = 1, target: float = 0.9
) -> dict[str, float]:
    """What a stopping rule would have done with an order that goes on to the end.

    It is asked after every round.

    Returns
    -------
    dict
        ``judgements:RULE`` at the stop; ``recall:RULE``; ``reached:RULE``, 1 where the recall is the target or more;
        ``cost:RULE``: the judgements, and where it stopped short of the target as many more as the order needs to
        reach it (after Lewis, Yang & Frieder, CIKM 2021).
    """
    ledger = played.ledger(case, level)
    stop = _stops_at(ledger, rule, parameters)
    places = _places(case, played, level)
    recall = float((places <= stop).mean()) if len(places) else 1.0
    enough = int(places[_needed(len(places), target) - 1]) if len(places) else 0
    return {
        f"judgements:{rule}": float(stop),
        f"recall:{rule}": recall,
        f"reached:{rule}": float(recall >= target - 1e-9),
        f"cost:{rule}": float(max(stop, enough)),
    }


def curve(case: Case, played: Played, level: float = 1) -> pd.DataFrame:
    """``judged`` and ``found`` at the start, at each relevant document, and at the end."""
    places = _places(case, played, level)
    at = np.unique(np.concatenate(([0], places, [len(played.order)])))
    return pd.DataFrame({"judged": at, "found": np.searchsorted(places, at, side="right")})


def _stops_at(ledger: Ledger, rule: str, parameters: Mapping[str, Any]) -> int:
    """The first round after which the rule says stop; all judgements where it never does."""
    entry = RULES[rule]
    assert ledger.batch is not None
    ends = np.flatnonzero(np.diff(ledger.batch, append=np.inf)) + 1
    if entry.at_each is not None:
        return next(iter(ends[entry.at_each(ledger, ends, **parameters)].tolist()), ledger.judged)
    for end in ends.tolist():
        if entry.function(ledger.prefix(end), **parameters).stop:
            return end
    return ledger.judged


def _places(case: Case, played: Played, level: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.flatnonzero(case.grades[played.order] >= level) + 1


def _size(case: Case, played: Played) -> int:
    return int(case.space.allowed.sum()) - int(case.space.allowed[played.priors].sum())


def _needed(number: int, recall: float) -> int:
    # 0.95 * 20 is 19, whatever the last binary digit says.
    return max(1, int(np.ceil(recall * number - 1e-9)))


def _name(after: tuple[int, int]) -> str:
    a, b = after
    return f"R@{a if a > 1 else ''}R" + (f"+{b}" if b else "")
