"""Partitions on a Dask cluster of two processes on this machine: the results of one piece, also after a kill."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collection.active_learning.features import Cluster, build
from collection.active_learning.features.cluster import write_partitions
from collection.errors import ClusterError, FormatError
from tests.collection.active_learning.test_partitions import require_same, texts
from tests.collection.campaign.test_campaign_loop import build as build_wings
from tests.collection.campaign.test_campaign_loop import judge_next
from tests.helpers import ok

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", worker_dashboard_address=None,
        silence_logs="CRITICAL",
    ) as cluster:  # fmt: skip
        yield cluster


def test_a_cluster_knows_what_one_piece_knows_also_after_a_worker_was_killed(workers: Any, tmp_path: Path) -> None:
    documents = [(f"d{n}", text) for n, text in enumerate(texts())]
    folder, number = write_partitions(tmp_path.as_uri(), documents, rows=120)
    assert (number, len(list(tmp_path.glob("documents-*/*.parquet")))) == (300, 3)
    cluster = Cluster(workers.scheduler_address, folder, ("words", "chars"))
    one, vectors = build(texts(), processes=1), cluster.open_vectors()
    require_same(one, vectors)
    os.kill(next(iter(workers.workers.values())).pid, signal.SIGKILL)
    require_same(one, vectors)
    cluster.close()
    require_same(one, vectors)  # connects again
    cluster.close()


def test_a_campaign_ranks_on_the_cluster_as_on_one_machine(
    workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with build_wings(tmp_path) as wings:
        for _ in range(4):
            judge_next(wings, lambda doc_id: int(doc_id.startswith("wing")))
        here = wings.active_learning.next_round("1")
        target = (tmp_path / "shared").as_uri()
        done = ok("vectors", wings.directory, "--cluster", workers.scheduler_address, "--partitions", target)
        assert re.match(rf"{target}/documents-[0-9a-f]{{8}}: 70 documents, features words, chars; ", done)
        assert wings.features.state().cluster == workers.scheduler_address
        there = wings.active_learning.next_round("1")
        assert (there.came_by, there.selections) == ("model", here.selections)
        monkeypatch.setattr("collection.cluster.CONNECT_SECONDS", 0.2)
        with pytest.raises(ClusterError, match="cannot be reached"):
            wings.features.update(cluster="tcp://127.0.0.1:9")
        assert wings.features.state().cluster == workers.scheduler_address
        ok("vectors", wings.directory, "--cluster", "none")
        assert wings.features.state().cluster == ""
        assert wings.active_learning.next_round("1").selections == here.selections


def test_a_folder_without_partitions_is_named(workers: Any, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected Parquet files of documents, found none"):
        Cluster(workers.scheduler_address, tmp_path.as_uri(), ("words",)).open_vectors()


def test_a_cluster_that_ends_is_named_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collection.cluster.CONNECT_SECONDS", 0.5)
    folder, _ = write_partitions(tmp_path.as_uri(), [(f"d{n}", text) for n, text in enumerate(texts())])
    options = {"n_workers": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(**options, silence_logs="CRITICAL") as ending:
        address = ending.scheduler_address
        cluster = Cluster(address, folder, ("words",))
        vectors = cluster.open_vectors()
        blank = vectors.blank().tolist()
    for _ in range(2):
        with pytest.raises(ClusterError, match=f"the cluster at {address} "):
            vectors.blank()
    port = int(address.rsplit(":", 1)[1])
    with distributed.LocalCluster(**options, scheduler_port=port, silence_logs="CRITICAL"):
        assert vectors.blank().tolist() == blank
        cluster.close()
