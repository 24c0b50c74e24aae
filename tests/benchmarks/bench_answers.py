"""Scores of answers corrected with human labels.

    python tests/benchmarks/bench_answers.py [--replays N] [--errors NAME ...] [--measures NAME ...]
    python tests/benchmarks/bench_answers.py --same-answers

The answers of TREC 2024 RAG with NIST's nugget assignments and support labels (beside the checkout) are labelled by a
simulated model, a random 5, 10 or 20% of the labels is taken as judged by people, and the scores of the systems are
corrected. No public file has labels by people and by a model of the same nuggets in the same answers, so machine
labels are drawn from NIST's labels with the errors of UMBRELA against NIST in TREC 2025 RAG, grades 0-1, 2 and 3-4
taken as no, partial and full support:

- same: the same error rates everywhere
- topics: those of a topic of TREC 2025, another one for each topic
- systems: the model is more lenient to some systems than to others, by a normal number for each system
- none: machine labels that are ignored, for comparison

The columns: held, the share of 95% intervals of the systems' scores that hold the score by all labels, with the lowest
and highest share of a system; differences, the same for differences of two systems; width of the intervals, mean;
error, root mean square; and Kendall's tau of the order of the systems with that by all labels, corrected, by machine
labels alone, and by the same number of labels without a model. The columns that begin with combined are the same for
combined scores.

With `--same-answers`, the scores of the answers of three baselines that are in both sets, by the nuggets and
assignments of NIST and by those of a model: means, and Kendall's tau of the answers and of the three systems. The two
lists of nuggets are different, so their assignments cannot be compared one by one.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

# The matrices are small: threads of the linear algebra would only wait for one another, longer than they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from collection.core.arrays import Floats, Ints
from collection.formats import read_nugget_assignments, read_nuggets, read_support
from collection.generated_answers import (
    LabelledAnswers,
    correct_scores,
    label_answers,
    label_sizes,
    parse_answer_measure,
)
from collection.machine_labels import draw_priorities
from collection.statistics.rank_correlation import kendall

RAG = Path(__file__).parents[3] / "shared" / "data" / "rag"
SHARES = (0.05, 0.1, 0.2)
THIRD = np.array([0, 0, 1, 2, 2])
"""Grade of relevance -> grade of support."""

LENIENCE = 0.5
"""Standard deviation of the lenience to a system, in logits from no to full support."""

CASES = {
    "nugget_vital(strict=True)": "rag24-nist-nuggets/assignments.jsonl.gz",
    "nugget_all": "rag24-nist-nuggets/assignments.jsonl.gz",
    "support_precision": "rag24-nist-support/support.webassess.jsonl.gz",
    "support_recall(citations='all')": "rag24-nist-support/support.webassess.jsonl.gz",
}
"""Measure -> the file of human labels."""


def read(path: Path) -> LabelledAnswers:
    """Return the human labels of a file; unjudged pairs count as no support."""
    if "nugget" in path.parent.name:
        return label_answers(nugget_assignments=read_nugget_assignments(path))
    return label_answers(support=read_support(path))


@cache
def error_rates() -> tuple[Floats, Floats]:
    """(3, 3) probability of each machine grade by human grade, and the same for each topic, (topics, 3, 3)."""
    columns = ["query_id", "iteration", "doc_id", "grade"]
    folder = RAG / "rag25-human-vs-umbrela2"
    people, model = (
        pd.read_csv(folder / name, sep=r"\s+", names=columns, dtype={"query_id": "str"})
        for name in ("qrels.rag25.test.txt.gz", "qrels.rag25.test-umbrela2.txt.gz")
    )
    both = people.merge(model, on=["query_id", "doc_id"], suffixes=("", "_model"))
    topic, topics = pd.factorize(both["query_id"])
    counts = np.zeros((len(topics), 3, 3))
    np.add.at(counts, (topic, THIRD[both["grade"]], THIRD[both["grade_model"]]), 1)
    overall = counts.sum(axis=0) / counts.sum(axis=(0, 2))[:, None]
    # A grade that people rarely gave in a topic takes the rates of all topics.
    smooth = counts + 20 * overall
    return overall, smooth / smooth.sum(axis=2, keepdims=True)


def draw_machine(grades: Floats, run: Ints, topic: Ints, pattern: str, rng: np.random.Generator) -> Floats:
    """(N,) machine grades with one of the patterns of errors."""
    overall, by_topic = error_rates()
    rates = np.broadcast_to(overall, (len(grades), 3, 3))
    if pattern == "topics":
        rates = by_topic[rng.permutation(np.arange(topic.max() + 1) % len(by_topic))[topic]]
    chance = rates[np.arange(len(grades)), grades.astype(np.int64)]
    if pattern == "systems":
        shift = rng.normal(0, LENIENCE, run.max() + 1)[run]
        chance = chance * np.exp(np.outer(shift, [0, 0.5, 1]))
        chance /= chance.sum(axis=1, keepdims=True)
    return (rng.random(len(grades))[:, None] > np.cumsum(chance, axis=1)[:, :2]).sum(axis=1).astype(np.float64)


def replay(labelled: LabelledAnswers, measure: str, pattern: str, share: float, replays: int) -> dict[str, object]:
    """A row of the table."""
    reads = parse_answer_measure(measure).entry.reads
    answer, known = labelled.labels(reads)
    grades = np.nan_to_num(known)
    names = labelled.answers
    run, topic = (pd.factorize(names[name])[0][answer] for name in ("run", "query_id"))
    sizes = label_sizes(measure, labelled)
    held, differences, widths, errors, taus, combined = [], [], [], [], [], []
    for seed in range(replays):
        rng = np.random.default_rng([seed, 1])
        machine = labelled.with_grades(reads, draw_machine(grades, run, topic, pattern, rng))
        priorities = draw_priorities(sizes, seed)
        judged = np.argsort(-priorities)[: round(share * len(grades))]
        some = np.full(len(grades), np.nan)
        some[judged] = grades[judged]
        people = labelled.with_grades(reads, some)
        found = correct_scores(machine, people, measure, sizes, priorities, with_labels=pattern != "none")
        truth = truth_of(labelled, measure, grades)
        values = found.values
        held.append(((values["low"] - 1e-9 <= truth) & (truth <= values["high"] + 1e-9)).to_numpy())
        one, other = np.triu_indices(len(truth), 1)
        between, apart = found.differences, truth[one] - truth[other]
        differences.append(((between["low"] - 1e-9 <= apart) & (apart <= between["high"] + 1e-9)).mean())
        widths.append((values["high"] - values["low"]).mean())
        errors.append(values["corrected"].to_numpy() - truth)
        inside = [
            ((table["combined_low"] - 1e-9 <= target) & (target <= table["combined_high"] + 1e-9)).mean()
            for table, target in ((values, truth), (between, apart))
        ]
        width = (values["combined_high"] - values["combined_low"]).mean()
        error = np.square(values["combined"] - truth).mean()
        combined.append([*inside, width, error, kendall(values["combined"], truth)])
        taus.append([kendall(values[column], truth) for column in ("corrected", "labels")])
    by_system = np.mean(held, axis=0)
    mean = np.mean(combined, axis=0)
    return {
        "measure": measure, "errors": pattern, "judged": f"{share:.0%}", "labels": round(share * len(grades)),
        "held": by_system.mean(), "lowest": by_system.min(), "highest": by_system.max(),
        "differences": np.mean(differences), "width": np.mean(widths), "error": np.sqrt(np.mean(np.square(errors))),
        "tau": np.mean(taus, axis=0)[0], "tau by labels alone": np.mean(taus, axis=0)[1],
        "combined held": mean[0], "combined differences": mean[1], "combined width": mean[2],
        "combined error": np.sqrt(mean[3]), "combined tau": mean[4],
    }  # fmt: skip


BASELINES = {
    "gpt-4o": "baseline_frag_rag24.test_gpt-4o_top20",
    "command-r-plus": "baseline_frag_rag24.test_command-r-plus_top20",
    "l31_70b_instruct": "baseline_rag24.test_l31_70b_instruct_top20",
}
"""Name of the file of a baseline's assignments by a model -> its run in the assignments by NIST."""


def compare_same_answers() -> pd.DataFrame:
    """Compare the scores of the same answers by NIST's nuggets and by a model's, a row for each measure."""
    folder = RAG / "rag24-baselines-llm"
    nuggets = read_nuggets(folder / "nuggets.jsonl.gz")
    by_model = []
    for name, run in BASELINES.items():
        labels = read_nugget_assignments(folder / f"assignments.{name}.jsonl.gz", nuggets)
        known = labels.assignments.fillna({"grade": 0})  # TREC counts unknown labels as 0
        by_model.append((run, label_answers(nugget_assignments=replace(labels, assignments=known))))
    by_people = read(RAG / CASES["nugget_all"])
    rows = []
    for measure in ("nugget_vital(strict=True)", "nugget_vital", "nugget_all(strict=True)", "nugget_all"):
        model = pd.concat([values_of(labelled, measure).assign(run=run) for run, labelled in by_model])
        both = values_of(by_people, measure).merge(model, on=["run", "query_id"], suffixes=("_people", "_model"))
        columns = ["value_people", "value_model"]
        systems = both.groupby("run")[columns].mean()
        rows.append({
            "measure": measure, "answers": len(both),
            **dict(zip(("people", "model"), both[columns].mean(), strict=True)),
            "tau of answers": kendall(*(both[column] for column in columns)),
            "tau of systems": kendall(*(systems[column] for column in columns)),
        })  # fmt: skip
    return pd.DataFrame(rows)


def values_of(labelled: LabelledAnswers, measure: str) -> pd.DataFrame:
    """Return ``run``, ``query_id`` and ``value`` of each answer."""
    return labelled.answers[["run", "query_id"]].assign(value=parse_answer_measure(measure).compute(labelled))


def truth_of(labelled: LabelledAnswers, measure: str, grades: Floats) -> Floats:
    """(R,) scores by all labels; missing answers count 0."""
    parsed = parse_answer_measure(measure)
    values = parsed.compute(labelled.with_grades(parsed.entry.reads, grades))
    run, topics = pd.factorize(labelled.answers["run"])[0], labelled.answers["query_id"].nunique()
    return np.bincount(run, values) / topics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=500)
    parser.add_argument("--errors", nargs="+", default=["same", "topics", "systems", "none"])
    parser.add_argument("--measures", nargs="+", default=list(CASES))
    parser.add_argument("--same-answers", action="store_true", help="only compare the scores of the same answers")
    arguments = parser.parse_args()
    if arguments.same_answers:
        print(compare_same_answers().to_csv(sep="\t", index=False, float_format="%.3f"), end="")
        return
    header = True
    for measure, name in CASES.items():
        if measure not in arguments.measures:
            continue
        labelled = read(RAG / name)
        for pattern in arguments.errors:
            for share in SHARES:
                row = pd.DataFrame([replay(labelled, measure, pattern, share, arguments.replays)])
                print(row.to_csv(sep="\t", index=False, header=header, float_format="%.3f").rstrip(), flush=True)
                header = False


if __name__ == "__main__":
    main()
