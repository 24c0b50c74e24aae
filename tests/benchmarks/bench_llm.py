"""Coverage of values corrected by people's grades, replayed: ``python tests/benchmarks/bench_llm.py``.

Three collections beside the checkout (../shared/data), on which all pooled pairs have people's grades:

- trecdl19-runs: 37 runs, 43 topics, the first ten documents of each run. Labels are drawn from the confusion matrices
  of the 33 judges of LLMJudge 2024, one judge after the other.
- llmjudge-labels: the real labels of these 33 judges on 25 topics. It has no runs, so each judge also makes one: it
  orders the documents by its label plus normal noise of .8. So each judge favours the run of its own model.
- cranfield: 15 runs on 40 topics, where few pairs are relevant: those that the qrels do not have count as not relevant.
  Labels are drawn as for the first collection.

Each replay takes a judge, draws a sample of pairs, and corrects the values. Tables: share of runs and of pairs of runs
whose 95% interval holds the value by all people's grades; their widths, and those of the plan; the width of values
without labels; mean error; Kendall's tau of the corrected order, and of the order by labels alone. The penalty of the
predictions is the default of scikit-learn; the sizes of the pairs and the weight of the labels in the plan were chosen
on TREC DL 2019, and half of the variance is the predicted one since intervals were too narrow on 20 topics of
Cranfield. So LLMJudge is the collection to trust.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from collection import read_qrels, read_run
from collection.cli.output import print_table
from collection.core.records import Run
from collection.expected_judgements import Pairs, describe
from collection.machine_labels import correct, draw_priorities, judged_sample, pair_sizes, plan, rank_weights
from collection.machine_labels.corrected_values import label_values
from collection.measures import Measure, parse
from collection.statistics.rank_correlation import kendall

DATA = Path(__file__).parents[3] / "shared" / "data"
LEVELS = [0.0, 1.0, 2.0, 3.0]
SHARES = (0.05, 0.1, 0.2, 0.4)
DEPTH = 10
PAIR = ["query_id", "doc_id"]


def judges() -> pd.DataFrame:
    """Pairs x annotators: the grades of LLMJudge; the column human_nist has people's."""
    labels = pd.read_csv(DATA / "llmjudge-labels" / "labels.csv.gz", dtype={"qid": "str", "docno": "str"})
    labels = labels.rename(columns={"qid": "query_id", "docno": "doc_id"})
    return labels.pivot_table(index=PAIR, columns="annotator", values="grade")


def pooled(runs: list[Run]) -> pd.DataFrame:
    """The first documents of each run, each pair once."""
    firsts = [
        run.frame.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
        .groupby("query_id", sort=False)
        .head(DEPTH)[PAIR]
        for run in runs
    ]
    return pd.concat(firsts).astype("str").drop_duplicates(ignore_index=True)


class Collection:
    """Pairs with people's grades, and the labels of each judge."""

    def __init__(self, name: str) -> None:
        given = judges()
        people = given.pop("human_nist")
        self.name, self.judges = name, list(given)
        if name != "llmjudge-labels":
            runs = [read_run(path) for path in sorted((DATA / name / "runs").glob("*.gz"))]
            grades = read_qrels(DATA / name / "qrels.txt").set_index(PAIR)["relevance"].clip(0, 3)
            self.confusion = {judge: _confusion(people, given[judge]) for judge in given}
            self.real = None
        else:
            rng, keys = np.random.default_rng(5), given.index.to_frame(index=False)
            runs = [Run(judge, keys.assign(score=given[judge].to_numpy() + rng.normal(0, 0.8, len(keys))))
                    for judge in given]  # fmt: skip
            grades, self.real = people, given
        if name == "cranfield":
            topics = grades.index.get_level_values(0).unique()[20:60]
            runs = [Run(run.name, run.frame[run.frame["query_id"].isin(topics)]) for run in runs]
        frame = pooled(runs)
        known = grades.reindex(pd.MultiIndex.from_frame(frame))
        known = known.fillna(0) if name == "cranfield" else known
        frame = frame[known.notna().to_numpy()].reset_index(drop=True)
        self.grades = known.dropna().to_numpy(dtype=np.float64)
        self.pairs: Pairs = describe(frame, runs)

    def labels(self, judge: str, rng: np.random.Generator) -> np.ndarray:
        """The labels of a judge: real ones, or ones drawn by its confusion matrix."""
        if self.real is not None:
            return self.real[judge].reindex(pd.MultiIndex.from_frame(self.pairs.frame)).to_numpy(dtype=np.float64)
        rows = self.confusion[judge][self.grades.astype(int)].cumsum(axis=1)
        return (rng.random(len(rows))[:, None] > rows).sum(axis=1).clip(0, 3).astype(np.float64)


def _confusion(people: pd.Series, labels: pd.Series) -> np.ndarray:
    counts = np.zeros((4, 4))
    np.add.at(counts, (people.to_numpy().astype(int), labels.round().clip(0, 3).to_numpy().astype(int)), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def replay(collection: Collection, measure: Measure, replays: int, seed: int) -> list[list[str]]:
    """A row for each share of the pairs that people judge."""
    pairs, grades = collection.pairs, collection.grades
    truth = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    one, other = np.triu_indices(len(truth), 1)
    gaps = truth[one] - truth[other]
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    rng = np.random.default_rng(seed)
    found: dict[float, list[tuple[float, ...]]] = {share: [] for share in SHARES}
    for number in range(replays):
        labels = collection.labels(collection.judges[number % len(collection.judges)], rng)
        priorities = draw_priorities(sizes, int(rng.integers(1 << 30)))
        order = np.argsort(-priorities)
        for share in SHARES:
            judged = np.zeros(len(order), dtype=bool)
            judged[order[: round(share * len(order))]] = True
            drawn = judged_sample(sizes, priorities, judged)
            with_labels = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS)
            without = correct(pairs, measure, None, drawn, grades[drawn.rows], LEVELS)
            values, differences = with_labels.values, with_labels.differences
            found[share].append((
                float(((values["low"] <= truth) & (truth <= values["high"])).mean()),
                float(((differences["low"] <= gaps) & (gaps <= differences["high"])).mean()),
                float((values["high"] - values["low"]).mean()),
                float((differences["high"] - differences["low"]).mean()),
                float((without.values["high"] - without.values["low"]).mean()),
                float((values["corrected"] - truth).mean()),
                kendall(truth, values["corrected"].to_numpy()),
                kendall(truth, values["labels"].to_numpy()),
            ))  # fmt: skip
        if number == 0:
            counts = [round(share * len(order)) for share in SHARES]
            planned = plan(pairs, measure, labels, sizes, LEVELS, counts)[["width", "difference_width"]].to_numpy()
    rows = []
    for share, (width, difference_width) in zip(SHARES, planned, strict=True):
        means = np.mean(found[share], axis=0)
        rest = means[2], width, means[3], difference_width, *means[4:]
        rows.append([collection.name, str(measure), f"{share:.0%}", f"{means[0]:.1%}", f"{means[1]:.1%}",
                     *(f"{each:.3f}" for each in rest)])  # fmt: skip
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=500)
    parser.add_argument("--measures", nargs="+", default=["nDCG@10", "P(rel=2)@10"])
    parser.add_argument("--collections", nargs="+", default=["trecdl19-runs", "llmjudge-labels", "cranfield"])
    given = parser.parse_args()
    rows = [
        row
        for name in given.collections
        for measure in given.measures
        for row in replay(Collection(name), parse(measure), given.replays, seed=1)
    ]
    columns = ["collection", "measure", "judged", "values held", "differences held", "width", "planned",
               "width of differences", "planned", "without labels", "error", "tau", "tau of labels"]  # fmt: skip
    print_table(columns, rows)


if __name__ == "__main__":
    main()
