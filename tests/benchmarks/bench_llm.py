"""Coverage of values corrected by people's grades, replayed: ``python tests/benchmarks/bench_llm.py``.

Collections beside the checkout (../shared/data), on which all pooled pairs have people's grades:

- trecdl19-runs: 37 runs, 43 topics, the first ten documents of each run. Labels are drawn from the confusion matrices
  of the 33 judges of LLMJudge 2024, one judge after the other.
- trecdl19-runs+labels: the same with the real labels of 13 models.
- llmjudge-labels: the real labels of the 33 judges on 25 topics. It has no runs, so each judge also makes one: it
  orders the documents by its label plus normal noise of .8. So each judge favours the run of its own model.
- cranfield: 15 runs on 40 topics, where few pairs are relevant: those that the qrels do not have count as not relevant.
  Labels are drawn as for the first collection.

Each replay takes a judge, or several with --together, draws a sample of pairs, and corrects the values. Tables, for
corrected and for combined values and differences: share whose 95% interval holds the one by all people's grades, width,
and width of the plan; mean error of corrected values; Kendall's tau of the orders by combined and corrected values, by
labels alone, and without labels. --limits prints the widths that corrected values would have if the predictions were
fitted to the grades of all pairs, and if pairs were sampled by the expected or the true error of the predictions: of
values, of their level (the mean over the systems, which is all that is left if every difference is known), and of
contrasts with it. The penalty of the predictions is the default of scikit-learn; the sizes of the pairs
and the weight of the labels in the plan were chosen on TREC DL 2019, half of the variance is the predicted one since
intervals were too narrow on 20 other topics of Cranfield, and the constants of combined values were chosen on those,
40 topics of Vaswani, and 21 topics of TREC DL 2019 with every other judge. So LLMJudge is the collection to trust.
The libraries of linear algebra use one thread, which takes a fifth of the time that two take for such small matrices.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from collection import read_qrels, read_run
from collection.cli.output import print_table
from collection.core.records import Run
from collection.expected_judgements import Pairs, describe
from collection.machine_labels import correct, draw_priorities, judged_sample, pair_sizes, plan, rank_weights
from collection.machine_labels.corrected_values import COMMON, label_values, spread
from collection.machine_labels.estimated_values import estimate_values
from collection.machine_labels.human_sample import expected_probabilities
from collection.machine_labels.predicted_grades import describe_labels, predict_steps
from collection.measures import Measure, parse
from collection.statistics.rank_correlation import kendall

DATA = Path(__file__).parents[3] / "shared" / "data"
LEVELS = [0.0, 1.0, 2.0, 3.0]
SHARES = [0.05, 0.1, 0.2]
COLLECTIONS = ["trecdl19-runs", "trecdl19-runs+labels", "llmjudge-labels", "cranfield"]
DEPTH = 10
PEOPLE = 5
"""Every so many replays, values are also corrected without labels."""

PAIR = ["query_id", "doc_id"]
PLANNED = ["width", "difference_width", "combined_width", "combined_difference_width"]
REAL = "+labels"
"""Suffix of a collection whose labels are real instead of drawn."""


def judges() -> pd.DataFrame:
    """Pairs x annotators: the grades of LLMJudge; the column human_nist has people's."""
    labels = pd.read_csv(DATA / "llmjudge-labels" / "labels.csv.gz", dtype={"qid": "str", "docno": "str"})
    labels = labels.rename(columns={"qid": "query_id", "docno": "doc_id"})
    return labels.pivot_table(index=PAIR, columns="annotator", values="grade")


def model_labels() -> pd.DataFrame:
    """Pairs x judges: the labels of 13 judges for TREC DL 2019."""
    sets = {
        path.name.removeprefix("dl19-").removesuffix(".txt.gz"): pd.read_csv(
            path, sep=r"\s+", names=["query_id", "Q0", "doc_id", "label"], dtype={"query_id": "str", "doc_id": "str"}
        ).drop_duplicates(PAIR).set_index(PAIR)["label"]
        for path in sorted((DATA / "dl19-machine-labels").glob("*.gz"))
    }  # fmt: skip
    return pd.DataFrame(sets)


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
        name, real = name.removesuffix(REAL), name.endswith(REAL)
        if name != "llmjudge-labels":
            runs = [read_run(path) for path in sorted((DATA / name / "runs").glob("*.gz"))]
            grades = read_qrels(DATA / name / "qrels.txt").set_index(PAIR)["relevance"].clip(0, 3)
            self.confusion = {judge: _confusion(people, given[judge]) for judge in given}
            self.real = None
            if real:
                self.real = model_labels()
                self.judges = list(self.real)
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


def replay(
    collection: Collection, measure: Measure, shares: list[float], replays: int, together: int, seed: int
) -> list[list[str]]:
    """A row for each share of the pairs that people judge, with the labels of so many judges together."""
    pairs, grades = collection.pairs, collection.grades
    truth = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    one, other = np.triu_indices(len(truth), 1)
    gaps = truth[one] - truth[other]
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    rng = np.random.default_rng(seed)
    found: dict[float, list[tuple[float, ...]]] = {share: [] for share in shares}
    alone: dict[float, list[tuple[float, float]]] = {share: [] for share in shares}
    for number in range(replays):
        first = number % len(collection.judges)
        others = rng.choice(np.delete(np.arange(len(collection.judges)), first), together - 1, replace=False)
        sets = [collection.labels(collection.judges[each], rng) for each in (first, *others)]
        labels = np.column_stack(sets) if together > 1 else sets[0]
        priorities = draw_priorities(sizes, int(rng.integers(1 << 30)))
        order = np.argsort(-priorities)
        for share in shares:
            judged = np.zeros(len(order), dtype=bool)
            judged[order[: round(share * len(order))]] = True
            drawn = judged_sample(sizes, priorities, judged)
            with_labels = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS)
            if number % PEOPLE == 0:
                without = correct(pairs, measure, None, drawn, grades[drawn.rows], LEVELS).values
                alone[share].append(
                    (float((without["high"] - without["low"]).mean()), kendall(truth, without["corrected"].to_numpy()))
                )
            values, differences = with_labels.values, with_labels.differences
            found[share].append((
                *quality(values, truth, "low", "high"), *quality(differences, gaps, "low", "high"),
                *quality(values, truth, "combined_low", "combined_high"),
                *quality(differences, gaps, "combined_low", "combined_high"),
                float((values["corrected"] - truth).mean()),
                *(kendall(truth, values[each].to_numpy()) for each in ("combined", "corrected", "labels")),
            ))  # fmt: skip
        if number == 0:
            counts = [round(share * len(order)) for share in shares]
            planned = plan(pairs, measure, labels, sizes, LEVELS, counts)
    rows = []
    for share, expected in zip(shares, planned[PLANNED].to_numpy(), strict=True):
        means = np.nanmean(found[share], axis=0)  # no tau of labels where all values are the same
        pieces = [
            (f"{held:.1%}", f"{width:.3f}", f"{plan_width:.3f}")
            for (held, width), plan_width in zip(means[:8].reshape(4, 2), expected, strict=True)
        ]
        rows.append([collection.name, str(measure), f"{share:.0%}", *(each for piece in pieces for each in piece),
                     *(f"{each:.3f}" for each in (*means[8:], *np.mean(alone[share], axis=0)))])  # fmt: skip
    return rows


def limits(collection: Collection, measure: Measure, shares: list[float]) -> list[list[str]]:
    """A row for each share of the pairs and each sample: means over the judges, with predictions by all grades."""
    pairs, grades, scale = collection.pairs, collection.grades, np.array(LEVELS)
    known, every = (grades[:, None] >= scale[1:]).astype(np.float64), np.arange(len(grades))
    rng, found = np.random.default_rng(1), dict[tuple[float, str], list[list[float]]]()
    for judge in collection.judges:
        features = describe_labels(collection.labels(judge, rng), pairs.topic, pairs.features[:, :COMMON], scale)
        order, steps = rng.permutation(every), np.empty_like(known)
        steps[order] = predict_steps(features, order, grades[order], scale)[1]
        slopes = estimate_values(measure, pairs.places, pairs.topic, steps, scale).slopes(every)
        errors = np.einsum("rng,ng->rn", slopes, known - steps) / (pairs.topic.max() + 1)
        samples = {
            "as it is": pair_sizes(rank_weights(measure, pairs.places)),
            "by expected error": np.sqrt(np.square(spread(slopes, steps)).mean(axis=0)),
            "by true error": np.sqrt(np.square(errors).mean(axis=0)),
        }
        for share in shares:
            for sample, sizes in samples.items():
                p = expected_probabilities(np.maximum(sizes, sizes.mean() / 1000), round(share * len(grades)))
                kinds = errors, errors.mean(axis=0, keepdims=True), errors - errors.mean(axis=0)
                widths = [2 * 1.96 * np.sqrt(np.square(each) @ ((1 - p) / p)).mean() for each in kinds]
                found.setdefault((share, sample), []).append(widths)
    return [
        [collection.name, str(measure), f"{share:.0%}", sample, *(f"{each:.3f}" for each in np.mean(widths, axis=0))]
        for (share, sample), widths in found.items()
    ]


def quality(table: pd.DataFrame, truth: np.ndarray, low: str, high: str) -> tuple[float, float]:
    """Share of the intervals that hold the true value, and their mean width."""
    held = (table[low] <= truth) & (truth <= table[high])
    return float(held.mean()), float((table[high] - table[low]).mean())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=500)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="shares of the pairs that people judge")
    parser.add_argument("--measures", nargs="+", default=["nDCG@10", "P(rel=2)@10"])
    parser.add_argument("--collections", nargs="+", default=COLLECTIONS)
    parser.add_argument("--together", type=int, default=1, help="number of judges whose labels are used at once")
    parser.add_argument("--limits", action="store_true", help="widths with predictions by the grades of all pairs")
    given = parser.parse_args()
    if given.limits:
        rows = [
            row
            for name in given.collections
            for measure in given.measures
            for row in limits(Collection(name), parse(measure), given.shares)
        ]
        print_table(["collection", "measure", "judged", "sample", "value", "level", "contrast"], rows)
        return
    rows = [
        row
        for name in given.collections
        for measure in given.measures
        for row in replay(Collection(name), parse(measure), given.shares, given.replays, given.together, seed=1)
    ]
    columns = ["collection", "measure", "judged",
               *(f"{kind} {what} {column}" for kind in ("corrected", "combined") for what in ("values", "differences")
                 for column in ("held", "width", "planned")),
               "error", "tau combined", "tau corrected", "tau labels", "width without labels",
               "tau without labels"]  # fmt: skip
    print_table(columns, rows)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
