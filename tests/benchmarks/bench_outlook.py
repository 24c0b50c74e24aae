"""How well the next records are predicted: ``python tests/benchmarks/bench_outlook.py``.

Replays topics of collections that were not used to choose the prediction (Cranfield, Vaswani, TREC DL 2019 from grade
2), each as a review of all documents of its collection: those with 20 or more relevant documents, one relevant and one
irrelevant document known, until all relevant ones are found. After every 25th judgement from the 50th on, the 90%
interval of :func:`collection.stopping.predict_next` is compared with the next 100 judgements. The second row of each
collection has the predictions before 95% recall only. ``--topics N`` takes N topics of each collection, evenly spaced
(30 by default; the documentation has 20 of Vaswani); ``--collection sr-cohen-a`` takes the reviews with which the
prediction was chosen.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))

from collection.active_learning.training_round import Recipe
from collection.simulation import Case, replay_loop
from collection.stopping import Ledger, predict_next
from tests.benchmarks.bench_loop import COLLECTIONS, load, priors_of

LEAST = 20
"""Relevant documents of a topic."""
STEP = 25
"""Judgements from one prediction to the next."""
UPCOMING = 100


def predictions(case: Case, level: int) -> pd.DataFrame:
    """Return ``low``, ``high``, ``actual`` and ``recall`` of each prediction in one replay."""
    priors = priors_of(case, level, seeds=1)[0]
    order = replay_loop(case, Recipe.with_priors(level=level), 0, priors=priors).order
    relevant = case.grades[order] >= level
    rows = []
    for judged in range(50, len(order) - UPCOMING, STEP):
        outlook = predict_next(Ledger.of(relevant[:judged].tolist(), size=len(order)), UPCOMING)
        if outlook is not None:
            actual, found = relevant[judged : judged + UPCOMING].sum(), relevant[:judged].sum()
            rows.append((outlook.low, outlook.high, actual, found / relevant.sum()))
    return pd.DataFrame(rows, columns=["low", "high", "actual", "recall"])


def summarise(made: list[pd.DataFrame]) -> dict[str, float]:
    """Return the share of intervals that hold, in all and in the worst topic, and their median width."""
    if not (made := [each for each in made if len(each)]):
        return {}
    holds = [(each["low"] <= each["actual"]) & (each["actual"] <= each["high"]) for each in made]
    every = pd.concat(made)
    return {
        "predictions": len(every),
        "hold": float(np.concatenate(holds).mean()),
        "mean of topics": float(np.mean([each.mean() for each in holds])),
        "worst topic": min(float(each.mean()) for each in holds),
        "too low": float((every["actual"] > every["high"]).mean()),
        "width": float((every["high"] - every["low"]).median()),
    }


def main() -> None:
    """Print a table per collection."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--collection", choices=[*(name for name, _ in COLLECTIONS), "sr-cohen-a"])
    arguments = parser.parse_args()
    rows = {}
    for name, level in (*COLLECTIONS, ("sr-cohen-a", 1)):
        if name != arguments.collection and (arguments.collection or name == "sr-cohen-a"):
            continue
        found = load(name, level, LEAST, "prefix" if name == "sr-cohen-a" else "all", pools=())
        chosen = [found[place] for place in np.unique(np.linspace(0, len(found) - 1, arguments.topics).astype(int))]
        made = []
        for number, case in enumerate(chosen, start=1):
            made.append(predictions(case, level))
            print(f"\r  {name} {number}/{len(chosen)}", end="", file=sys.stderr, flush=True)
        early = [each[each["recall"] < 0.95] for each in made]
        rows[f"{name} ({len(chosen)})"] = summarise(made)
        rows[f"{name}, before 95% recall"] = summarise(early)
        print(f"\n{pd.DataFrame(rows).T.round(3).to_string()}", flush=True)


if __name__ == "__main__":
    main()
