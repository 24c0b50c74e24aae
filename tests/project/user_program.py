"""A program as users write it, which type checkers read and which runs in a copy of docs/examples."""

from pathlib import Path
from typing import assert_type

import pandas as pd

import collection
from collection import (
    Campaign,
    CleverdonError,
    Judgement,
    Run,
    compare,
    evaluate,
    read_labels,
    read_qrels,
    read_run,
    read_topics,
)
from collection.comparison import Comparison, Evaluation
from collection.interfaces import pytrec_eval
from collection.measures import MEASURES, Measure, parse
from collection.measures.table import MeasureEntry
from collection.pooling import STRATEGIES


def evaluate_runs(qrels: pd.DataFrame, runs: list[Run]) -> None:
    """Evaluate and compare runs with measures by name and with parameters."""
    rbp = parse("RBP(p=0.8)")
    assert_type(rbp, Measure)
    evaluation = evaluate(qrels, runs, ["nDCG@10", "AP", rbp])
    assert_type(evaluation, Evaluation)
    means = assert_type(evaluation.means(), pd.DataFrame)
    assert means.shape == (len(runs), 3), means
    comparison = compare(qrels, runs, ["nDCG@10"], baseline=runs[0].name)
    assert_type(comparison, Comparison)
    print(means, comparison, sep="\n")
    grades = {str(topic): dict(zip(g["doc_id"], g["relevance"], strict=True)) for topic, g in qrels.groupby("query_id")}
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {"map"})
    scores = {
        str(t): dict(zip(g["doc_id"], g["score"], strict=True))
        for t, g in runs[0].frame.groupby("query_id", observed=True)
    }
    print(len(evaluator.evaluate(scores)), "topics by the interface of pytrec_eval")


def judge(directory: Path) -> None:
    """Create a campaign, judge a pair, and open it again."""
    with Campaign.create(directory, grades="0-3") as campaign:
        campaign.imports.import_files(documents=["documents.jsonl"], topics="topics.tsv", runs=["bm25.run", "lsi.run"])
        campaign.people.pools.add("depth", depth=5)
        first = campaign.judging.next_pairs("ann", "1", count=1).documents[0]
        assert_type(first.doc_id, str)
        assert_type(campaign.judging.judge("ann", "1", first.doc_id, 2), Judgement)
    with Campaign(directory) as campaign:
        assert_type(campaign.title, str)
        qrels = assert_type(campaign.results.qrels.build(), pd.DataFrame)
        assert qrels["relevance"].tolist() == [2], qrels
        print(campaign.results.evaluation.evaluate(["nDCG@10"]).means())
    try:
        Campaign("no-such-directory")
    except CleverdonError as error:
        print(error)


def main() -> None:
    """Run everything."""
    assert_type(collection.__version__, str)
    entry = MEASURES["nDCG"]
    assert_type(entry, MeasureEntry)
    print(collection.__version__, entry.label, len(MEASURES), [strategy.name for strategy in STRATEGIES][:3])
    topics, labels = read_topics("topics.tsv"), read_labels("labels.csv")
    print(len(topics), "topics", len(labels), "labels")
    evaluate_runs(read_qrels("qrels.txt"), [read_run("bm25.run"), read_run("lsi.run")])
    judge(Path("typed-campaign"))


if __name__ == "__main__":
    main()
