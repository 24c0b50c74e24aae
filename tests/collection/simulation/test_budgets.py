"""Pools compared at parts of their cost: nothing is known before it is bought, and all is known at the end."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from collection import formats, pooling
from collection.campaign import Campaign
from collection.cli.pool import compare_pools as print_comparison, pool
from collection.core import display
from collection.core.errors import InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Document, Run
from collection.measures import align, index_qrels, parse
from collection.pooling.sampling import two_strata
from collection.simulation import budgets
from collection.simulation.budgets import BudgetComparison, UnjudgedUse
from collection.statistics.rank_correlation import kendall
from tests.helpers import first_of, graded_runs

pytestmark = pytest.mark.filterwarnings("error::pandas.errors.Pandas4Warning")

NDCG = parse("nDCG@10")


def collection_of(seed: int = 0, topics: int = 6, size: int = 40, runs: int = 6) -> tuple[list[Run], pd.DataFrame]:
    """Runs of different quality, and qrels of everything."""
    return graded_runs(seed, topics, size, [0.7 + 0.4 * n for n in range(runs)], [0.6, 0.2, 0.1, 0.1])


def texts_of(qrels: pd.DataFrame) -> tuple[list[Document], pd.DataFrame]:
    documents = [
        Document(row.doc_id, f"about {row.query_id}", f"{row.query_id} " + "answer " * int(row.relevance) + row.doc_id)
        for row in qrels.itertuples()
    ]
    names = qrels["query_id"].unique()
    return documents, pd.DataFrame({"query_id": names, "title": names, "description": "answer", "narrative": ""})


def compare(*given: Any, **options: Any) -> pd.DataFrame:
    return budgets.compare(*given, **options).table


def compare_pools(
    files: list[Path], qrels: Path, directory: Path | None, measure: str, shares: list[str], form: str,
    unjudged: UnjudgedUse = "not-relevant",
) -> None:  # fmt: skip
    print_comparison(files, qrels, directory, measure=measure, budgets=shares, unjudged=unjudged, form=form)


def material_of(texts: bool = False) -> budgets._Material:
    runs, qrels = collection_of()
    return budgets._Material.of(runs, qrels, 5, *(texts_of(qrels) if texts else (None, None)))


def names(loop: bool = False) -> list[str]:
    return [*(entry.name for entry in pooling.STRATEGIES), "decisive", *(["loop"] if loop else [])]


@pytest.mark.parametrize("name", first_of(names(loop=True), 3))
@pytest.mark.slow
def test_no_strategy_sees_what_it_has_not_bought(name: str) -> None:
    """Other grades where nothing was bought change neither what is bought nor what comes of it."""
    material = material_of(texts=name == "loop")
    (bought,) = budgets._choose(material, name, [0.3], NDCG, 0)
    unseen = np.setdiff1d(np.arange(len(material.grades)), bought)
    other = material.grades.copy()
    other[unseen] = np.random.default_rng(1).permutation(other[unseen])
    assert (other != material.grades).any()
    changed = replace(material, grades=other)
    (again,) = budgets._choose(changed, name, [0.3], NDCG, 0)
    assert again.tolist() == bought.tolist()


@pytest.mark.parametrize("name", first_of(names(loop=True), 3))
@pytest.mark.slow
def test_a_budget_is_kept_and_all_of_it_buys_the_pool(name: str) -> None:
    material = material_of(texts=name == "loop")
    size = len(material.grades)
    some, whole = budgets._choose(material, name, [0.3, 1.0], NDCG, 0)
    assert len(set(some.tolist())) == len(some)
    # A sample rounds up in each stratum of each topic.
    assert len(some) <= int(0.3 * size) + (12 if name in ("uniform", "stratified") else 0)
    assert len(some) >= 0.2 * size
    if name == "statap":  # a whole number of pairs for every topic
        assert len(whole) >= 0.9 * size
    else:
        assert sorted(whole.tolist()) == list(range(size))


@pytest.mark.slow
@pytest.mark.long
def test_at_the_end_every_strategy_has_the_full_pools_ranking() -> None:
    runs, qrels = collection_of()
    table = compare(runs, qrels, strategies=["depth", "mtf", "decisive"], budgets=[1.0], depth=10, draws=2)
    pool = pooling.depth(runs, depth=10)
    of_pool = pool[["query_id", "doc_id"]].merge(qrels)
    values = [
        [NDCG(align(run.frame, index_qrels(grades))).mean() for run in runs] for grades in (qrels, of_pool)
    ]  # fmt: skip
    assert table["recall"].tolist() == [1.0] * 6
    assert table["judgements"].tolist() == [len(pool)] * 6
    np.testing.assert_allclose(table["tau"], kendall(*values))


@pytest.mark.slow
@pytest.mark.long
def test_expected_gains_do_no_worse_on_average() -> None:
    taus = []
    for seed in range(3):
        runs, qrels = collection_of(seed, topics=10)
        table = compare(runs, qrels, strategies=["rrf", "decisive"], budgets=[0.2], draws=50)
        taus.append(table.groupby("estimate")["tau"].mean())
    mean = pd.concat(taus, axis=1).mean(axis=1)
    assert mean["expected gains"] > mean["judged only"]


@pytest.mark.slow
def test_texts_come_in_and_some_documents_have_none() -> None:
    runs, qrels = collection_of()
    documents, topics = texts_of(qrels)
    documents = [d._replace(text=None) if n % 3 == 0 else d for n, d in enumerate(documents)][: len(documents) // 2]
    table = compare(
        runs, qrels, strategies=["loop", "decisive"], budgets=[0.5], documents=documents, topics=topics, draws=5
    )
    assert set(table["strategy"]) == {"loop", "decisive"}
    assert (table["judgements"] == table["judgements"].iloc[0]).all()
    assert table["recall"].between(0, 1).all()


@pytest.mark.slow
def test_lots_are_drawn_again_for_every_seed() -> None:
    runs, qrels = collection_of()
    one, two = (
        compare(runs, qrels, strategies=["uniform", "depth"], budgets=[0.3], seeds=n, draws=5).set_index(
            ["strategy", "estimate"]
        )
        for n in (1, 3)
    )
    assert one.loc[("uniform", "judged only"), "tau"] != two.loc[("uniform", "judged only"), "tau"]
    pd.testing.assert_frame_equal(one.loc[["depth"]], two.loc[["depth"]])


@pytest.mark.slow
def test_systems_that_are_equally_good_are_ranked_too() -> None:
    runs, qrels = collection_of()
    twins = [*runs, Run("twin", runs[0].frame)]
    table = compare(twins, qrels, strategies=["rrf", "decisive"], budgets=[0.3], draws=5)
    assert table[["tau", "tau_ap"]].notna().all(axis=None)
    (tied,) = compare(twins[::6], qrels, strategies=["rrf"], budgets=[0.3], draws=5).groupby("strategy")["tau"]
    assert tied[1].isna().all()


def test_the_grade_scale_is_that_of_the_qrels_and_not_of_the_pool() -> None:
    runs, qrels = collection_of()
    beyond = pd.DataFrame({"query_id": ["t0"], "doc_id": ["nobody has it"], "relevance": [7]})
    material = budgets._Material.of(runs, pd.concat([qrels, beyond]), 5, None, None)
    assert material.levels == [0.0, 1.0, 2.0, 3.0, 7.0]


@pytest.mark.parametrize(
    ("share", "depth", "expected"), [(0.2, 10, "2:0.4,10:0.15"), (0.2, 1, "1:0.2"), (1.0, 10, "2:1,10:1")]
)
def test_two_strata(share: float, depth: int, expected: str) -> None:
    assert two_strata(np.arange(1, 11), depth, share) == expected


@pytest.mark.slow
def test_what_is_wrong_is_said() -> None:
    runs, qrels = collection_of()
    with pytest.raises(UnknownNameError, match="did you mean 'rrf'"):
        compare(runs, qrels, strategies=["rff"])
    with pytest.raises(InputError, match="the strategy loop needs documents and topics"):
        compare(runs, qrels, strategies=["loop"])
    with pytest.raises(InputError, match="expected budgets above 0 and at most 1"):
        compare(runs, qrels, budgets=[25])
    with pytest.raises(InputError, match="at least 2 runs to rank, found 1"):
        compare(runs[:1], qrels)
    with pytest.raises(InputError, match="topics that are in the runs and the qrels"):
        compare(runs, qrels.assign(query_id="other"))
    with pytest.raises(InputError, match="relevant documents"):
        compare(runs, qrels.assign(relevance=0))


def written(folder: Path) -> tuple[list[Path], Path]:
    runs, qrels = collection_of(topics=3, size=20, runs=3)
    files = []
    for run in runs:
        rows = run.frame[["query_id", "doc_id", "rank", "score"]].itertuples(index=False)
        files.append(folder / f"{run.name}.run")
        files[-1].write_text("".join(f"{q} Q0 {d} {r} {s} {run.name}\n" for q, d, r, s in rows))
    path = folder / "known.qrels"
    path.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in qrels.itertuples(index=False)))
    return files, path


@pytest.mark.slow
def test_the_table_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files, qrels = written(tmp_path)
    monkeypatch.setattr(budgets, "_wanted", lambda *_: ["rrf", "mtf"])
    compare_pools(files, qrels, None, "nDCG@10", ["25%", "0.5"], "table")
    printed = capsys.readouterr()
    first, second, blank, header, *lines = printed.out.splitlines()
    assert first.startswith("At 25% of the full pool, Kendall's tau is highest for ")
    assert second.startswith("At 50% of the full pool, Kendall's tau is highest for ")
    assert blank == ""
    assert re.split(" {2,}", header) == [
        "strategy", "estimate", "share of full pool", "judgements", "recall", "Kendall's tau", "tau_AP",
    ]  # fmt: skip
    rows = [line.split() for line in lines]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (name, estimate, share)
        for name in ("mtf", "rrf") for estimate in ("judged", "expected") for share in ("25%", "50%")
    ]  # fmt: skip
    told = printed.err.splitlines()
    assert told[:2] == ["rrf: done, 1 of 2", "mtf: done, 2 of 2"]
    assert "first 10 documents of every run" in told[2]
    compare_pools(files, qrels, None, "nDCG@10", ["2.5%"], "table")
    assert "2.5%" in capsys.readouterr().out
    compare_pools(files, qrels, None, "nDCG@10", ["25%"], "tsv")
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split("\t") == list(budgets.COLUMNS)
    assert len(rows) == 5
    compare_pools(files, qrels, None, "nDCG@10", ["25%"], "json")
    assert json.loads(capsys.readouterr().out)[0]["strategy"] == "mtf"


@pytest.mark.slow
def test_a_campaign_brings_its_runs_and_texts(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "known.qrels"
    qrels.write_text("1 0 d1 1\n1 0 d2 2\n1 0 d6 0\n2 0 d4 0\n2 0 d7 1\n")
    compare_pools([], qrels, campaign.directory, "nDCG@10", ["50%"], "tsv")
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert {row[0] for row in rows} == set(names(loop=True)) - {"sparse"}
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert {row[1] for row in rows} == {"judged only", "expected gains"}


def test_the_best_tau_is_named() -> None:
    rows = [(f"s{n}", "judged only", 0.5, 0.9) for n in range(5)] + [("s0", "judged only", 0.1, math.nan)]
    table = pd.DataFrame(rows, columns=["strategy", "estimate", "share", "tau"])
    assert BudgetComparison(table, "nDCG@10", 10, ()).best() == [
        "At 50% of the full pool, Kendall's tau is highest for s0 (judged only), s1 (judged only), s2 (judged only) "
        "and 2 more: 0.900."
    ]
    assert BudgetComparison(table.tail(1), "nDCG@10", 10, ()).best() == []


@pytest.mark.slow
def test_a_comparison_shows_a_summary_and_what_it_assumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, qrels = collection_of()
    kept = qrels[(qrels["relevance"] > 0) | (qrels.index % 2 == 0)]
    found = budgets.compare(runs, kept, strategies=["rrf", "mtf"], budgets=[0.2, 0.5], draws=5)
    full = pooling.depth(runs, depth=10)[["query_id", "doc_id"]]
    ungraded = len(full) - len(full.merge(kept))
    assert ungraded > 0
    assert found.notes == (
        f"the full pool is the first 10 documents of every run; {ungraded} of its {len(full)} pairs have no grade in "
        "the qrels and count as not relevant. If they are unknown, leave them out: --unjudged left-out",
    )
    shown = repr(found)
    assert shown.startswith(found.best()[0])
    assert re.search(r"strategy +estimate +tau at 20% +tau at 50%", shown)
    assert len(found.table) == 8
    assert found.taus().mean(axis=1).is_monotonic_decreasing
    # Without ungraded documents, the full pool is that of the judged ones.
    left = budgets.compare(runs, kept, strategies=["rrf"], budgets=[1.0], draws=2, unjudged="left-out")
    judged = [
        run._replace(frame=rank_run(run.frame.merge(kept[["query_id", "doc_id"]])[["query_id", "doc_id", "score"]]))
        for run in runs
    ]
    assert left.pairs == len(pooling.depth(judged, depth=10))
    assert left.table["recall"].tolist() == [1.0, 1.0]
    assert "without documents that have no grade" in left.notes[0]
    with pytest.raises(UnknownNameError, match="treatment of unjudged pairs"):
        budgets.compare(runs, kept, unjudged="judged")  # type: ignore[arg-type]
    assert "comparing pools" not in capsys.readouterr().err
    monkeypatch.setattr(display, "SELDOM", 0.0)
    budgets.compare(runs, kept, strategies=["rrf"], budgets=[0.2], draws=2)
    assert capsys.readouterr().err.splitlines()[-1] == "comparing pools: rrf, 1 of 1 done"


def test_sparse_orders_as_rrf() -> None:
    """Which is why it is not played unless it is asked for."""
    material = material_of()
    (sparse,), (rrf,) = (budgets._choose(material, name, [0.4], NDCG, 0) for name in ("sparse", "rrf"))
    assert sparse.tolist() == rrf.tolist()


@pytest.mark.parametrize("option", [("--depth", "20"), ("--strategy", "rrf"), ("--from-run", "r1"), ("--dry-run",)])
def test_what_belongs_to_one_strategy_is_refused_beside_compare(tmp_path: Path, option: tuple[str, ...]) -> None:
    files, qrels = written(tmp_path)
    result = CliRunner().invoke(pool, ["--compare", str(qrels), "--run", str(files[0]), *option])
    assert result.exit_code == 2
    assert "leave out the options of a single strategy" in " ".join(result.output.split())


@pytest.mark.parametrize("budget", ["25", "0", "-10%", "half", "nan"])
def test_a_budget_that_is_none_is_refused(tmp_path: Path, budget: str) -> None:
    files, qrels = written(tmp_path)
    with pytest.raises(InputError, match="--at: expected a share of the full pool"):
        compare_pools(files, qrels, None, "nDCG@10", [budget], "table")


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.long
def test_what_real_budgets_buy(shared: Path) -> None:
    """TREC DL 2019, 37 systems: .90 of the ranking for a quarter of the pool, .95 for half of it."""
    folder = shared / "data" / "trecdl19-runs"
    documents: Sequence[Document] = [d for _, d in formats.read_documents(folder / "documents.jsonl.gz")]
    table = compare(
        list(formats.read_runs(sorted((folder / "runs").glob("*")))),
        formats.read_qrels(folder / "qrels.txt"),
        strategies=["decisive"], budgets=[0.25, 0.5], documents=documents,
        topics=formats.read_topics(folder / "topics.jsonl"),
    )  # fmt: skip
    expected = table[table["estimate"] == "expected gains"].set_index("share")
    assert expected.loc[0.25, "tau"] >= 0.90
    assert expected.loc[0.5, "tau"] >= 0.95
    assert expected["judgements"].tolist() == [623, 1247]
