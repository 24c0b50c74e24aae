"""Replays systematic reviews with ASReview; runs in ASReview's own environment, reads and writes JSON.

    python asreview_replay.py reviews.json out.json

In: a list of {name, titles, texts, labels, priors: [[row, row], ...]}. Out: {name: [{order: rows, seconds}, ...]}, one
for each pair of priors, as the recipe ELAS u4 (the default of ASReview 3) orders them, one record at a time.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from asreview import ActiveLearningCycle, Simulate
from asreview.models.models import get_ai_config


def main() -> None:
    """Replay every review from every pair of priors."""
    found: dict[str, list[dict[str, object]]] = {}
    for review in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        records = pd.DataFrame({"title": review["titles"], "abstract": review["texts"]})
        found[review["name"]] = []
        for seed, priors in enumerate(review["priors"]):
            np.random.seed(seed)
            begun = time.perf_counter()
            cycle = ActiveLearningCycle.from_meta(get_ai_config("elas_u4")["value"])
            replay = Simulate(X=records, labels=review["labels"], cycles=[cycle], print_progress=False)
            replay.label(priors)
            replay.review()
            order = [int(row) for row in replay._results["record_id"]]
            found[review["name"]].append({"order": order[len(priors) :], "seconds": time.perf_counter() - begun})
            print(f"  ASReview: {review['name']} {seed + 1}/{len(review['priors'])}", file=sys.stderr, flush=True)
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")


main()
