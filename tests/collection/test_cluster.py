"""A Dask cluster of two processes on this machine: the results of one process, also after a kill."""

import operator
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection import formats
from collection.active_learning.features import Cluster, build
from collection.active_learning.features.cluster import write_partitions
from collection.cluster import map_items
from collection.core.errors import ClusterError, FormatError
from collection.simulation import Results, cases, simulate
from tests.collection.active_learning.test_partitions import require_same, texts
from tests.collection.campaign.loop.test_campaign_loop import build as build_wings, judge_next
from tests.collection.simulation.test_simulation import DOCUMENTS, QRELS, RUNS, TOPICS
from tests.helpers import fails, graded_runs, ok

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    def start() -> Any:
        return distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", worker_dashboard_address=None,
            silence_logs="CRITICAL",
        )  # fmt: skip

    try:
        cluster = start()
    except RuntimeError:  # a worker process did not start in Dask's time, on a machine that was busy
        cluster = start()
    with cluster:
        yield cluster


def kill_one(workers: Any) -> None:
    # One that was killed before may not have started again.
    os.kill(next(nanny.pid for nanny in workers.workers.values() if nanny.pid), signal.SIGKILL)


@pytest.mark.long
def test_a_cluster_knows_what_one_piece_knows_also_after_a_worker_was_killed(workers: Any, tmp_path: Path) -> None:
    documents = [(f"d{n}", text) for n, text in enumerate(texts())]
    folder, number = write_partitions(tmp_path.as_uri(), documents, rows=120)
    assert (number, len(list(tmp_path.glob("documents-*/*.parquet")))) == (300, 3)
    cluster = Cluster(workers.scheduler_address, folder, ("words", "chars"))
    one, features = build(texts(), processes=1), cluster.open_features()
    require_same(one, features)
    kill_one(workers)
    require_same(one, features)
    cluster.close()
    require_same(one, features)  # connects again
    cluster.close()


@pytest.mark.long
def test_a_campaign_ranks_on_the_cluster_as_on_one_machine(
    workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with build_wings(tmp_path) as wings:
        for _ in range(4):
            judge_next(wings, lambda doc_id: int(doc_id.startswith("wing")))
        here = wings.loop.next_round("1")
        target = (tmp_path / "shared").as_uri()
        done = ok("features", wings.directory, "--cluster", workers.scheduler_address, "--partitions", target)
        assert re.match(rf"{target}/documents-[0-9a-f]{{8}}: 70 documents, features words, chars; ", done)
        assert wings.corpus.features.state().cluster == workers.scheduler_address
        there = wings.loop.next_round("1")
        assert (there.strategy, there.selections) == ("model", here.selections)
        monkeypatch.setattr("collection.cluster.CONNECT_SECONDS", 0.2)
        with pytest.raises(ClusterError, match="cannot be reached"):
            wings.corpus.features.update(cluster="tcp://127.0.0.1:9")
        assert wings.corpus.features.state().cluster == workers.scheduler_address
        ok("features", wings.directory, "--cluster", "none")
        assert wings.corpus.features.state().cluster == ""
        assert wings.loop.next_round("1").selections == here.selections


@pytest.mark.long
def test_a_folder_without_partitions_is_named(workers: Any, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected Parquet files of documents, found none"):
        Cluster(workers.scheduler_address, tmp_path.as_uri(), ("words",)).open_features()


@pytest.mark.long
def test_a_cluster_that_ends_is_named_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collection.cluster.CONNECT_SECONDS", 0.5)
    folder, _ = write_partitions(tmp_path.as_uri(), [(f"d{n}", text) for n, text in enumerate(texts())])
    options = {"n_workers": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(**options, silence_logs="CRITICAL") as ending:
        address = ending.scheduler_address
        cluster = Cluster(address, folder, ("words",))
        features = cluster.open_features()
        blank = features.blank().tolist()
    for _ in range(2):
        with pytest.raises(ClusterError, match=f"the cluster at {address} "):
            features.blank()
    port = int(address.rsplit(":", 1)[1])
    with distributed.LocalCluster(**options, scheduler_port=port, silence_logs="CRITICAL"):
        assert features.blank().tolist() == blank
        cluster.close()


@pytest.mark.long
@pytest.mark.parametrize("calls", [16, 1], ids=["a call for each run", "all runs in a call"])
def test_evaluate_prints_on_a_cluster_what_it_prints_here(
    workers: Any, tmp_path: Path, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.cli.evaluate.LEAST_CALLS", calls)
    runs, qrels = graded_runs(3, 4, 30, (0.5, 1, 2, 3), (0.4, 0.3, 0.2, 0.1))
    qrels.insert(1, "iteration", "0")
    qrels.sample(frac=0.8, random_state=1).to_csv(tmp_path / "qrels.txt", sep=" ", header=False, index=False)
    for run in runs:
        formats.write_run(run, tmp_path / f"{run.name}.run")
    files = [tmp_path / "qrels.txt", *sorted(tmp_path.glob("*.run"))]
    asked = ["evaluate", *files, "-m", "nDCG@10", "-m", "AP", "--bounds"]
    for form in (["--per-topic"], ["--format", "json"]):
        assert ok(*asked, *form, "--cluster", workers.scheduler_address) == ok(*asked, *form)
    (tmp_path / "r2.run").write_text("t0 Q0 d1 1 high r2\n")
    assert fails(*asked, "--cluster", workers.scheduler_address) == fails(*asked)


@pytest.mark.long
def test_simulations_on_a_cluster_survive_a_killed_worker(workers: Any) -> None:
    def replay(**more: Any) -> Results:
        made = cases(DOCUMENTS, TOPICS, QRELS, RUNS, pools=["depth", "mtf"])
        found = simulate(
            made, strategies=["loop", "depth", "mtf"], learners=["svm", "naive-bayes"], seeds=2, stops=["knee"],
            keep_ledgers=True, **more,
        )  # fmt: skip
        return replace(found, values=found.values[found.values["measure"] != "seconds"])

    here = replay()
    there = replay(
        cluster=workers.scheduler_address, progress=lambda query_id, number: kill_one(workers) if number else None
    )
    pd.testing.assert_frame_equal(there.values, here.values)
    pd.testing.assert_frame_equal(there.curves, here.curves)
    assert str(there.ledgers) == str(here.ledgers)


def test_items_are_read_slightly_ahead(workers: Any) -> None:
    read: list[int] = []

    def items() -> Iterator[tuple[int, int]]:
        for number in range(30):
            read.append(number)
            yield 1000, number

    found = map_items(operator.add, items(), workers.scheduler_address)
    assert next(found) == 1000
    assert len(read) <= 8
    assert list(found) == [*range(1001, 1030)]
