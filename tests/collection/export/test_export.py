"""What leaves a campaign: qrels in their forms, logs, and a whole collection that others load."""

import csv
import hashlib
import json
import os
import runpy
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, strategies as st

from annotate.views.export import collection_download
from collection import Campaign, Judgement, export, formats
from collection.campaign.exports.collection_card import CollectionChoices
from collection.campaign.exports.collection_export import LOADER
from collection.core.errors import CampaignError, ColumnsError, InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Choice, Document, Preference, Run, Topic
from collection.formats.beir import corpus_record
from collection.formats.judgements import DETAILS
from collection.measures import align, parse
from tests.conftest import frame, signed_in
from tests.helpers import Opened, cases, fails, ok, put, run as invoke, tries, words

ids = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=6)


def say(campaign: Campaign, annotator: str, grades: str, **more: Any) -> None:
    """Judgements from ``topic document grade``, parted by commas."""
    rows = [row.split() for row in grades.split(",")]
    result = campaign.judging.judge_many(
        [Judgement(str(uuid4()), annotator, q, d, "graded", int(g), seconds=4.0, **more) for q, d, g in rows]
    )
    assert not result.refused, result.refused


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """zoe judged first, ann later and on one pair otherwise; d7 of topic 2 is unjudged."""
    say(campaign, "zoe", "1 d1 3, 1 d2 0, 1 d6 1, 2 d4 2")
    say(campaign, "ann", "1 d1 3, 1 d2 1, 1 d6 1, 2 d4 2, 2 d5 0")
    return campaign


@pytest.fixture
def looping(files: Path, tmp_path: Path) -> Iterator[Campaign]:
    """No pool: the model searches the whole collection."""
    with Campaign.create(tmp_path / "looping", grades="0-3") as campaign:
        campaign.imports.import_files(topics=files / "topics.jsonl", documents=[files / "documents.jsonl"])
        campaign.settings.set_loop(mode="loop")
        yield campaign


# --- qrels with what is not judged --------------------------------------------------------------------


@pytest.mark.slow
def test_unjudged_pairs_of_the_pool_are_minus_one(judged: Campaign, tmp_path: Path) -> None:
    written = judged.exports.files.write(qrels=tmp_path / "q.txt", unjudged=True)
    assert (tmp_path / "q.txt").read_text() == ("1 0 d1 3\n1 0 d2 0\n1 0 d6 1\n2 0 d4 2\n2 0 d5 0\n2 0 d7 -1\n")
    assert written == {str(tmp_path / "q.txt"): 6}
    report = json.loads((tmp_path / "q.txt.rule.json").read_text())
    assert (report["form"], report["unjudged"], report["pairs"]) == ("judged", 1, 5)


@pytest.mark.slow
def test_qrels_and_collection_of_finished_topics_reproduce_the_comparison(judged: Campaign, tmp_path: Path) -> None:
    qrels, out = tmp_path / "q.txt", tmp_path / "out"
    noted = invoke("export", judged.directory, "--qrels", qrels).stderr
    assert "only 1 of 2 topics with a grade are finished; --topics finished exports these" in noted
    assert {line.split()[0] for line in qrels.read_text().splitlines()} == {"1", "2"}
    ok("export", judged.directory, "--qrels", qrels, "--collection", out, "--with-runs", "--topics", "finished")
    assert qrels.read_text() == (out / "qrels.txt").read_text() == "1 0 d1 3\n1 0 d2 0\n1 0 d6 1\n"
    report = json.loads((tmp_path / "q.txt.rule.json").read_text())
    assert (report["judgements"], report["topics_left_out"]) == (6, 1)
    facts = json.loads((out / "collection.json").read_text())
    assert (facts["qrels"]["pairs"], sum(facts["rule"]["by"].values())) == (3, 3)
    assert (facts["pool"]["judged"], facts["pool"]["pairs"]) == (5, 6)  # of all topics
    card = (out / "collection.md").read_text()
    assert "1 topic with grades was left out of the qrels." in card
    assert "no grade" not in card.replace("without a grade", "")
    of_page = judged.results.evaluation.evaluate(
        ["nDCG@3", "AP"], topics=judged.results.qrels.topics_with_grades().usual
    ).means()
    runs = sorted((out / "runs").iterdir())
    of_files = json.loads(ok("evaluate", out / "qrels.txt", *runs, "-m", "nDCG@3", "-m", "AP", "--format", "json"))
    for row in of_files["values"]:
        assert row["value"] == of_page.loc[row["run"], row["measure"]]


@pytest.mark.slow
def test_a_topic_that_a_loop_without_a_pool_judged_is_finished_once_it_is_closed(looping: Campaign) -> None:
    say(looping, "ann", "1 d1 3, 1 d2 0")
    assert looping.results.qrels.topics_with_grades() == (("1",), ())
    looping.settings.set_loop(mode="closed", topics=["1"])
    assert looping.results.qrels.topics_with_grades() == (("1",), ("1",))
    assert looping.results.qrels.topics_with_grades(closed_early=False).finished == ()


def test_topics_without_a_grade_are_not_included_beside_a_selection(judged: Campaign, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be included if topics are selected"):
        judged.exports.files.write(qrels=tmp_path / "q.txt", unjudged=True, include_unjudged_topics=True, topics=["1"])
    refused = invoke("export", judged.directory, "--judgements", tmp_path / "j.jsonl", "--topics", "finished")
    assert "expected --qrels or --collection too" in refused.stderr


def test_a_topic_closed_early_is_finished_but_not_completely_judged(judged: Campaign) -> None:
    judged.settings.set_loop(mode="closed", topics=["2"])
    assert judged.progress.finished() == {"1", "2"}
    assert judged.progress.finished(closed_early=False) == {"1"}
    assert judged.results.qrels.topics_with_grades(closed_early=False).usual == ("1",)
    say(judged, "ann", "2 d7 0")
    assert judged.progress.finished(closed_early=False) == {"1", "2"}


@pytest.mark.slow
@tries(50)
@given(
    st.dictionaries(st.tuples(ids, ids), st.integers(0, 3), max_size=12),
    st.lists(st.tuples(ids, ids), unique=True, max_size=12),
)
def test_unjudged_is_the_pool_without_the_qrels(
    grades: dict[tuple[str, str], int], pool: list[tuple[str, str]]
) -> None:
    qrels = pd.DataFrame(
        [(*pair, grade) for pair, grade in grades.items()], columns=["query_id", "doc_id", "relevance"]
    )
    found = export.add_unjudged(qrels, pd.DataFrame(pool, columns=["query_id", "doc_id"]))
    said = {(q, d): g for q, d, g in found.itertuples(index=False)}
    assert len(said) == len(found)
    assert said == dict.fromkeys(pool, -1) | grades


# --- a sampled pool -----------------------------------------------------------------------------------

RUN = [f"d{i:02}" for i in range(1, 21)]
RELEVANT = {"d01", "d02", "d05", "d08", "d13", "d20"}


@pytest.fixture
def sampled(tmp_path: Path) -> Iterator[Campaign]:
    """One topic, one run of twenty: ranks 1 to 4 are all drawn, of 5 to 20 every fourth; what was drawn is judged."""
    (tmp_path / "t.tsv").write_text("1\twing flow\n")
    (tmp_path / "d.tsv").write_text("".join(f"{d}\tText of {d}.\n" for d in RUN))
    (tmp_path / "one.run").write_text("".join(f"1 Q0 {d} {i} {40 - i} one\n" for i, d in enumerate(RUN)))
    campaign = Campaign.create(tmp_path / "sampled", grades="0-1")
    campaign.imports.import_files(
        documents=[tmp_path / "d.tsv"], topics=tmp_path / "t.tsv", runs=[tmp_path / "one.run"]
    )
    rank = np.arange(1, 21)
    pairs = pd.DataFrame({"query_id": "1", "doc_id": RUN, "rank": rank, "stratum": np.where(rank <= 4, 0, 1)})
    pairs["probability"] = np.where(rank <= 4, 1.0, 0.25)
    pairs["drawn"] = (rank <= 4) | (rank % 4 == 0)
    with campaign.store.transaction():
        campaign.store.pool.add(pairs, "stratified", {"seed": 1}, ["one"])
    drawn = [d for d, of_sample in zip(RUN, pairs["drawn"], strict=True) if of_sample]
    say(campaign, "ann", ", ".join(f"1 {d} {int(d in RELEVANT)}" for d in drawn))
    yield campaign
    campaign.close()


@pytest.mark.slow
def test_qrels_with_strata(sampled: Campaign, tmp_path: Path) -> None:
    assert ok("export", sampled.directory, "--qrels", tmp_path / "s.txt", "--qrels-form", "strata").startswith(
        f"{tmp_path / 's.txt'}: 20 lines"
    )
    back = formats.read_qrels(tmp_path / "s.txt", form="strata")
    assert back["stratum"].value_counts().to_dict() == {"0": 4, "1": 16}
    assert (back["relevance"] >= 0).groupby(back["stratum"]).sum().to_dict() == {"0": 4, "1": 4}
    # Drawn are d01 to d04, d08, d12, d16, d20; relevant among them d01, d02 and, each of them for four, d08 and d20.
    aligned = align(next(sampled.corpus.runs()).frame, back)
    by_hand = xinf_ap([int(d in RELEVANT) if i < 4 or (i + 1) % 4 == 0 else -1 for i, d in enumerate(RUN)])
    assert parse("xinfAP")(aligned)[0] == pytest.approx(by_hand, abs=1e-12)
    told = ok("evaluate", tmp_path / "s.txt", tmp_path / "one.run", "-m", "xinfAP", "-m", "infNDCG",
              "--qrels-form", "strata", "--format", "tsv")  # fmt: skip
    value = {line.split("\t")[2]: float(line.split("\t")[3]) for line in told.splitlines()}["xinfAP"]
    assert value == pytest.approx(by_hand, abs=1e-12)


def xinf_ap(grades: list[int], epsilon: float = 1e-5) -> float:
    """xinfAP of a ranking of the whole pool, of which the first four ranks are one stratum and the rest another."""
    stratum = [0 if i < 4 else 1 for i in range(len(grades))]
    weight = [stratum.count(s) / sum(g >= 0 for g, of in zip(grades, stratum, strict=True) if of == s) for s in (0, 1)]
    total = relevant = 0.0
    for i, grade in enumerate(grades):
        if grade != 1:
            continue
        expected = 1.0
        for s in (0, 1):
            above = [g for g, of in zip(grades[:i], stratum[:i], strict=True) if of == s]
            judged = sum(g >= 0 for g in above)
            expected += len(above) * (sum(g == 1 for g in above) + epsilon) / (judged + 3 * epsilon)
        total += weight[stratum[i]] * expected / (i + 1)
        relevant += weight[stratum[i]]
    return total / relevant


@pytest.mark.slow
def test_a_fully_judged_sample_has_the_value_of_the_whole(sampled: Campaign) -> None:
    """With every pair drawn, inferred AP is AP but for its epsilon."""
    everything = pd.DataFrame({"query_id": "1", "doc_id": RUN, "relevance": [int(d in RELEVANT) for d in RUN]})
    pool = pd.DataFrame(
        {"query_id": "1", "doc_id": RUN, "stratum": [0] * 4 + [1] * 16, "pool_round": 1, "probability": 1.0}
    )
    pool["stratum"] = pool["stratum"].astype("Int64")
    with_strata = export.add_strata(everything, pool, pool.iloc[:0])
    ranking = next(sampled.corpus.runs()).frame
    whole = parse("AP")(align(ranking, everything))[0]
    assert parse("xinfAP")(align(ranking, with_strata))[0] == pytest.approx(whole, abs=1e-4)


@pytest.mark.slow
def test_qrels_with_probabilities(sampled: Campaign, tmp_path: Path) -> None:
    sampled.exports.files.write(qrels=tmp_path / "p.txt", qrels_form="probabilities")
    back = formats.read_qrels(tmp_path / "p.txt", form="probabilities")
    assert dict(zip(back["doc_id"], back["probability"], strict=True)) == {
        **{f"d0{i}": 1.0 for i in range(1, 5)},
        **dict.fromkeys(["d08", "d12", "d16", "d20"], 0.25),
    }
    # The number of relevant documents is estimated alike from both: two for themselves, two for four each.
    strata = align(next(sampled.corpus.runs()).frame, sampled.results.qrels.in_form("strata"))
    chances = align(next(sampled.corpus.runs()).frame, back)
    for aligned in (strata, chances):
        assert aligned.sample is not None
        assert aligned.sample.size.sum() == pytest.approx(20)
    assert parse("infNDCG")(chances)[0] == pytest.approx(parse("infNDCG")(strata)[0], rel=0.05)


@pytest.mark.slow
def test_what_was_not_drawn_stands_for_itself(sampled: Campaign, tmp_path: Path) -> None:
    """A pair judged outside the sample is a stratum of its own; one that the draw left out stays -1 when judged."""
    say(sampled, "ann", "1 d05 1")
    (tmp_path / "more.tsv").write_text("d99\tFound by a search.\n")
    sampled.imports.import_files(documents=[tmp_path / "more.tsv"])
    say(sampled, "ann", "1 d99 1")
    found = sampled.results.qrels.in_form("strata").set_index("doc_id")
    assert found.loc["d99", ["stratum", "relevance"]].tolist() == [0, 1]
    assert found.loc["d05", ["stratum", "relevance"]].tolist() == [2, -1]
    chances = sampled.results.qrels.in_form("probabilities").set_index("doc_id")["probability"]
    assert chances["d99"] == 1
    assert "d05" not in chances.index
    assert (1 / chances.drop("d99")).sum() == 20  # those that were drawn stand for the whole pool, and for no more


def test_of_two_rounds_of_sampling_the_later_one_counts() -> None:
    """What the first drew from a stratum is known when the second draws from the rest: it then stands for itself."""
    pool = frame("1 a 1 0\n1 b 2 0", "query_id", "doc_id", "pool_round", "stratum").astype(
        {"pool_round": int, "stratum": "Int64"}
    )
    out = frame("1 b 1 0\n1 c 1 0\n1 c 2 0\n1 d 1 0\n1 d 2 0", "query_id", "doc_id", "pool_round", "stratum").astype(
        {"pool_round": int, "stratum": "Int64"}
    )
    out = out[out["doc_id"] != "b"]  # the store leaves out what a later round drew
    qrels = frame("1 a 1\n1 b 0", "query_id", "doc_id", "relevance")
    found = export.add_strata(qrels, pool.assign(probability=0.5), out)
    assert dict(zip(found["doc_id"], zip(found["stratum"], found["relevance"], strict=True), strict=True)) == {
        "a": (0, 1), "b": (1, 0), "c": (1, -1), "d": (1, -1)
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("rates", [[0.3], [0.15, 0.4]])
@pytest.mark.fuzz
@pytest.mark.long
def test_what_a_sample_stands_for_is_right_on_average(rates: list[float]) -> None:
    """The number of relevant documents in a pool, estimated from many samples; a second sample may add to a first."""
    rng = np.random.default_rng(5)
    docs = np.array([f"d{i:02}" for i in range(60)])
    relevant = rng.random(60) < np.linspace(0.7, 0.1, 60)
    stratum = np.repeat([0, 1], [20, 40])
    found = []
    for _ in range(cases(20, 50)):
        lot, drawn_in = rng.random(60), np.zeros(60, dtype=int)
        for number, rate in enumerate(rates, start=1):
            for s in (0, 1):  # those with the smallest lots of each stratum: a higher rate keeps what a lower one drew
                inside = np.flatnonzero(stratum == s)
                first = inside[np.argsort(lot[inside])][: round(rate * len(inside))]
                drawn_in[first] = np.where(drawn_in[first] == 0, number, drawn_in[first])
        pairs = pd.DataFrame({"query_id": "1", "doc_id": docs, "stratum": stratum, "pool_round": drawn_in})
        pairs["probability"] = 0.5
        left_out = pd.concat([pairs[drawn_in == 0].assign(pool_round=n) for n in range(1, len(rates) + 1)])
        qrels = pairs.assign(relevance=relevant.astype(int))[drawn_in > 0]
        by = export.add_strata(qrels, pairs[drawn_in > 0], left_out).groupby("stratum")["relevance"]
        found.append(float((by.size() * by.agg(lambda g: (g > 0).sum() / (g >= 0).sum())).sum()))
    assert np.std(found) > 0
    assert np.mean(found) == pytest.approx(relevant.sum(), abs=3.5 * np.std(found) / np.sqrt(len(found)))


def test_samples_that_no_estimate_takes_together() -> None:
    columns = ("query_id", "doc_id", "pool_round", "stratum", "probability")
    types = {"pool_round": int, "stratum": "Int64", "probability": float}
    pool = frame("1 a 1 0 .5\n1 b 2 0 .5\n2 c 1 0 .5\n2 d 3 0 .2", *columns).astype(types)
    qrels = frame("1 a 1\n1 b 0\n2 c 0\n2 d 1", "query_id", "doc_id", "relevance")
    with pytest.raises(InputError, match="topic '1' was sampled 2 times"):
        export.add_probabilities(qrels, pool, pool.iloc[:0])
    pool.loc[3, "stratum"] = pd.NA
    with pytest.raises(InputError, match="topic '2' has pairs sampled by stratum and pairs sampled by weight"):
        export.add_strata(qrels, pool, pool.iloc[:0])


@pytest.mark.slow
def test_a_sample_that_the_campaign_drew(make_campaign: Callable[..., Campaign]) -> None:
    """Everything that the sample was drawn from is in the qrels, in the stratum from which it was drawn or not."""
    campaign = make_campaign(pooled=False)
    campaign.people.pools.add("stratified", strata="1:1,3:.5", seed=3)
    say(campaign, "ann", "1 d1 1, 1 d2 0")
    found = campaign.results.qrels.in_form("strata", include_unjudged_topics=True)
    assert set(zip(found["query_id"], found["doc_id"], strict=True)) == {
        ("1", "d1"), ("1", "d2"), ("1", "d3"), ("1", "d6"), ("2", "d4"), ("2", "d5"), ("2", "d7")
    }  # fmt: skip
    first = set(found.loc[found["doc_id"].isin(["d1", "d2", "d4"]), "stratum"])
    rest = set(found.loc[found["doc_id"].isin(["d3", "d6", "d5", "d7"]), "stratum"])
    assert len(first) == len(rest) == 1
    assert first != rest
    assert found.set_index("doc_id")["relevance"].to_dict() == {
        "d1": 1, "d2": 0, **dict.fromkeys(["d3", "d4", "d5", "d6", "d7"], -1)
    }  # fmt: skip


@pytest.fixture
def half_judged(make_campaign: Callable[..., Campaign]) -> Campaign:
    """A stratified sample of two topics; in topic 1 all that was drawn is judged, in topic 2 nothing."""
    campaign = make_campaign(pooled=False)
    campaign.people.pools.add("stratified", strata="1:1,3:.5", seed=3)
    drawn = campaign.store.pool.pairs().query("query_id == '1'")["doc_id"]
    say(campaign, "ann", ", ".join(f"1 {doc} {n % 2}" for n, doc in enumerate(drawn)))
    return campaign


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "unjudged"), [("judged", True), ("strata", False), ("strata", True), ("probabilities", True)]
)
def test_topics_without_a_grade_are_left_out_unless_asked_for(
    half_judged: Campaign, tmp_path: Path, form: Any, unjudged: bool
) -> None:
    options = ["--qrels", tmp_path / "q.txt", "--qrels-form", form, *(["--unjudged"] if unjudged else [])]
    result = invoke("export", half_judged.directory, *options)
    assert "left out 1 topic without a grade; --include-unjudged-topics includes them" in result.stderr
    assert formats.read_qrels(tmp_path / "q.txt", form=form)["query_id"].unique().tolist() == ["1"]
    assert json.loads((tmp_path / "q.txt.rule.json").read_text())["unjudged_topics_left_out"] == 1
    assert half_judged.results.qrels.in_form(form, unjudged=unjudged)["query_id"].unique().tolist() == ["1"]
    result = invoke("export", half_judged.directory, *options, "--include-unjudged-topics")
    assert "left out" not in result.stderr
    both = formats.read_qrels(tmp_path / "q.txt", form=form)
    assert both["query_id"].unique().tolist() == ["1", "2"]
    assert (both.query("query_id == '2'")["relevance"] < 0).all()
    assert json.loads((tmp_path / "q.txt.rule.json").read_text())["unjudged_topics_left_out"] == 0


@pytest.mark.slow
def test_the_mean_of_exported_strata_is_the_mean_over_judged_topics(half_judged: Campaign, tmp_path: Path) -> None:
    """The value of the one judged topic, computed alone, is the mean; with the other topic it would be half of it."""
    alone = half_judged.results.qrels.in_form("strata", include_unjudged_topics=True).query("query_id == '1'")
    run = next(half_judged.corpus.runs())
    value = float(parse("xinfAP")(align(run.frame, alone))[0])
    assert value > 0
    half_judged.exports.files.write(qrels=tmp_path / "s.txt", qrels_form="strata")
    formats.write_run(run, tmp_path / "alpha.run")
    printed = ok("evaluate", tmp_path / "s.txt", tmp_path / "alpha.run", "-m", "xinfAP", "--format", "tsv")
    assert float(printed.split("\t")[3]) == pytest.approx(value, abs=1e-12)
    half_judged.exports.files.write(qrels=tmp_path / "s.txt", qrels_form="strata", include_unjudged_topics=True)
    result = invoke("evaluate", tmp_path / "s.txt", tmp_path / "alpha.run", "-m", "xinfAP", "--format", "tsv")
    assert float(result.stdout.split("\t")[3]) == pytest.approx(value / 2, abs=1e-12)
    assert "1 of 2 topics without judged documents count as 0" in result.stderr


@pytest.mark.slow
def test_no_exported_file_has_topics_without_a_grade(half_judged: Campaign, tmp_path: Path) -> None:
    """Nor has the collection, whose card says how many topics that are."""
    half_judged.exports.collection.write(tmp_path / "c")
    for name, form in (("qrels.txt", "judged"), ("qrels.strata.txt", "strata")):
        assert set(formats.read_qrels(tmp_path / "c" / name, form=form)["query_id"]) == {"1"}  # type: ignore[arg-type]
    assert "\n2\t" not in (tmp_path / "c" / "qrels" / "test.tsv").read_text()
    assert "1 topic has no grade and is not in the qrels." in (tmp_path / "c" / "collection.md").read_text()
    half_judged.exports.files.write(qrels=tmp_path / "p.txt", qrels_form="probabilities")
    assert set(formats.read_qrels(tmp_path / "p.txt", form="probabilities")["query_id"]) == {"1"}


def test_topics_without_a_grade_go_only_where_unjudged_pairs_go(judged: Campaign, tmp_path: Path) -> None:
    said = fails("export", judged.directory, "--qrels", tmp_path / "q", "--include-unjudged-topics")
    assert "topics without grades have only unjudged pairs; include the unjudged pairs too" in said
    with pytest.raises(InputError, match="apply to a qrels file only"):
        judged.exports.files.write(include_unjudged_topics=True)


@pytest.mark.slow
def test_a_pool_that_is_no_sample_has_no_strata(judged: Campaign, tmp_path: Path) -> None:
    said = fails("export", judged.directory, "--qrels", tmp_path / "q", "--qrels-form", "strata")
    assert "the pool has no strata, which only the strategies stratified and uniform make" in said
    with pytest.raises(CampaignError, match="the pool has no probabilities"):
        judged.exports.files.write(qrels=tmp_path / "q", qrels_form="probabilities")
    with pytest.raises(InputError, match="found subtopics"):
        judged.exports.files.write(qrels=tmp_path / "q", qrels_form="subtopics")
    with pytest.raises(InputError, match="apply to a qrels file only"):
        judged.exports.files.write(pool=tmp_path / "p", unjudged=True)
    assert not list(tmp_path.glob("q*"))


@pytest.mark.slow
@tries(40)
@example(rows=[("{", "0", 0, "0", 1.0)])
@given(
    st.lists(st.tuples(ids, ids, st.integers(-1, 3), ids, st.floats(1e-6, 1)), unique_by=lambda r: r[:2], min_size=1)
)
def test_every_form_of_qrels_is_read_back(rows: list[tuple[str, str, int, str, float]]) -> None:
    rows = [(q.replace("#", "x"), *rest) for q, *rest in rows]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "stratum", "probability"])
    table = table.drop_duplicates(["query_id", "doc_id"], ignore_index=True).assign(subtopic=lambda t: t["stratum"])
    extra: dict[Any, list[str]] = {
        "judged": [], "strata": ["stratum"], "probabilities": ["probability"], "subtopics": ["subtopic"]
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder) / "q.txt"
        for form, more in extra.items():
            formats.write_qrels(table, path, form=form)
            wanted = table[["query_id", "doc_id", "relevance", *more]]
            pd.testing.assert_frame_equal(formats.read_qrels(path, form=form), wanted, check_dtype=False)
        with pytest.raises(ColumnsError, match="stratum"):
            formats.write_qrels(table.drop(columns="stratum"), path, form="strata")


# --- logs ---------------------------------------------------------------------------------------------


def test_a_further_column_of_the_log_keeps_its_type_in_parquet(judged: Campaign, tmp_path: Path) -> None:
    log = judged.store.judgements.table().assign(counts=True, turn=1, note2="x")
    formats.write_judgements(log, tmp_path / "log.parquet")
    types = [pq.read_schema(tmp_path / "log.parquet").field(name).type for name in ("counts", "turn", "note2")]
    assert [str(each) for each in types] == ["bool", "int64", "string"]


def test_the_log_as_parquet_is_the_log_as_json(judged: Campaign, tmp_path: Path) -> None:
    say(judged, "ann", "1 d2 2", passages=((4, 8), (9, 11)), note="two places", flagged=True)
    judged.exports.files.write(judgements=tmp_path / "log.parquet")
    judged.exports.files.write(judgements=tmp_path / "log.jsonl")
    table = pq.read_table(tmp_path / "log.parquet")
    assert table.to_pylist() == [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    types = {field.name: str(field.type) for field in table.schema}
    assert types["relevance"] == types["pool_rank"] == "int64"
    assert (types["flagged"], types["seconds"], types["reason"]) == ("bool", "double", "string")
    assert types["passages"].startswith("list<element: struct<start: int64, end: int64, text: string>>")


def test_an_empty_log_has_its_types_too(campaign: Campaign, tmp_path: Path) -> None:
    campaign.exports.files.write(judgements=tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert (table.num_rows, str(table.schema.field("relevance").type)) == (0, "int64")
    with pytest.raises(InputError, match=r"ends in \.jsonl, \.csv or \.parquet for judgements"):
        campaign.exports.files.write(judgements=tmp_path / "log.xlsx")


def test_marked_passages(judged: Campaign, tmp_path: Path) -> None:
    say(judged, "ann", "1 d2 2", passages=((4, 8), (9, 11)))
    ok("export", judged.directory, "--passages", tmp_path / "p.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    text = judged.corpus.view.shown(judged.store.corpus.documents(["d2"])["d2"]).text
    assert [(r["query_id"], r["doc_id"], r["annotator"], r["relevance"], r["start"], r["end"]) for r in rows] == [
        ("1", "d2", "ann", 2, 4, 8), ("1", "d2", "ann", 2, 9, 11)
    ]  # fmt: skip
    assert [r["text"] for r in rows] == [text[4:8], text[9:11]]


def test_a_failed_export_leaves_the_old_file(judged: Campaign, tmp_path: Path) -> None:
    (tmp_path / "log.parquet").write_bytes(b"before")
    broken = judged.store.judgements.table(current=False).assign(seconds="slow")
    with pytest.raises(pa.ArrowInvalid, match="slow"):
        formats.write_judgements(broken, tmp_path / "log.parquet")
    assert (tmp_path / "log.parquet").read_bytes() == b"before"
    assert [f.name for f in tmp_path.iterdir() if f.name.startswith(".")] == []


@pytest.mark.slow
@tries(30)
@given(st.lists(st.tuples(st.sampled_from("12"), ids, st.floats(width=32, allow_nan=False)), unique_by=lambda r: r[:2]))
def test_a_run_is_read_back(rows: list[tuple[str, str, float]]) -> None:
    ranked = rank_run(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": "float64"}))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.run"
        formats.write_run(Run("my system", ranked), path)
        if not rows:
            assert path.read_text() == ""
            return
        back = formats.read_run(path)
    assert back.name == "my_system"
    keys = ["query_id", "doc_id"]
    one, other = (f.astype({"query_id": "str"}).sort_values(keys, ignore_index=True) for f in (back.frame, ranked))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)


# --- a collection -------------------------------------------------------------------------------------


@pytest.fixture
def whole(judged: Campaign, tmp_path: Path) -> Path:
    """The directory of an exported collection, with runs."""
    judged.settings.set_guidelines("# Relevant\n\nIs what answers.")
    judged.exports.collection.write(tmp_path / "wings", CollectionChoices(with_runs=True))
    return tmp_path / "wings"


@pytest.mark.slow
def test_what_is_in_a_collection(whole: Path) -> None:
    assert [f.path for f in formats.list_files(whole)] == [
        "checksums.txt", "collection.json", "collection.md", "corpus.jsonl", "judgements.jsonl", "load.py", "pool.tsv",
        "qrels.txt", "qrels/test.tsv", "queries.jsonl", "runs/alpha.run", "runs/beta.run", "topics.jsonl",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_checksums_are_right(whole: Path) -> None:
    sums = dict(reversed(line.split("  ", 1)) for line in (whole / "checksums.txt").read_text().splitlines())
    assert sums.keys() == {f.path for f in formats.list_files(whole)} - {"checksums.txt"}
    for path, digest in sums.items():
        assert hashlib.sha256((whole / path).read_bytes()).hexdigest() == digest
    facts = json.loads((whole / "collection.json").read_text())
    assert {f["path"]: f["sha256"] for f in facts["files"]} == {
        path: digest for path, digest in sums.items() if not path.startswith("collection.")
    }
    assert all(f["bytes"] == (whole / f["path"]).stat().st_size for f in facts["files"])
    card = (whole / "collection.md").read_text()
    assert all(f["sha256"] in card for f in facts["files"])
    (whole / "qrels.txt").write_text("changed")
    if which("sha256sum"):
        check = ["sha256sum", "--check", "--quiet", "checksums.txt"]
        done = subprocess.run(check, cwd=whole, capture_output=True, check=False)
        assert done.stdout == b"qrels.txt: FAILED\n"


@pytest.mark.slow
def test_beir_loads_it(whole: Path) -> None:
    """By the documented layout: three files, of which the qrels have a header."""
    corpus = [json.loads(line) for line in (whole / "corpus.jsonl").read_text().splitlines()]
    assert [d["_id"] for d in corpus] == [f"d{i}" for i in range(1, 9)]
    assert corpus[0] == {"_id": "d1", "title": "Title 1", "text": "The text of document 1.", "library": "demo"}
    queries = [json.loads(line) for line in (whole / "queries.jsonl").read_text().splitlines()]
    assert queries == [{"_id": "1", "text": "running average"}, {"_id": "2", "text": "read a table"}]
    with (whole / "qrels" / "test.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {(r["query-id"], r["corpus-id"]): int(r["score"]) for r in rows} == {
        ("1", "d1"): 3, ("1", "d2"): 0, ("1", "d6"): 1, ("2", "d4"): 2, ("2", "d5"): 0
    }  # fmt: skip
    pd.testing.assert_frame_equal(
        formats.read_qrels(whole / "qrels" / "test.tsv"), formats.read_qrels(whole / "qrels.txt")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "text"),
    [("title", "running average"), ("description", "Smooth a series."),
     ("title-description", "running average Smooth a series.")],
)  # fmt: skip
def test_the_text_of_queries(judged: Campaign, tmp_path: Path, what: str, text: str) -> None:
    report = judged.exports.collection.write(tmp_path / "c", CollectionChoices(query_text=what))
    assert json.loads((tmp_path / "c" / "queries.jsonl").read_text().splitlines()[0])["text"] == text
    assert report.facts["topics"] == {"count": 2, "query_text": what}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Any:
    """ir_datasets without what a test registers in it."""
    ir_datasets = pytest.importorskip("ir_datasets")
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    return ir_datasets


@pytest.fixture
def load() -> Callable[[Path], Any]:
    """Runs the load.py of a folder, whose lines are those of :mod:`collection.formats.loader`."""

    def run(folder: Path) -> Any:
        text = (folder / "load.py").read_bytes()
        assert text == LOADER.read_bytes()
        module = ModuleType("load")
        module.__file__ = str(folder / "load.py")
        exec(compile(text, LOADER, "exec"), vars(module))  # so that its lines count as covered
        return module

    return run


@pytest.mark.slow
def test_ir_datasets_loads_it(load: Callable[[Path], Any], whole: Path, registry: Any) -> None:
    load(whole)
    found = registry.load("campaign")
    assert (found.docs_count(), found.queries_count()) == (8, 2)  # before anything has built an index
    assert (len(found.docs), len(found.queries)) == (8, 2)
    documents = list(found.docs_iter())
    assert [d.doc_id for d in documents] == [f"d{i}" for i in range(1, 9)]
    assert documents[0].default_text() == "Title 1 The text of document 1."
    assert found.docs_store().get("d3").text == "The text of document 3."
    topics = list(found.queries_iter())
    assert [(t.query_id, t.title, t.narrative) for t in topics] == [
        ("1", "running average", "A window."), ("2", "read a table", "Any format.")
    ]  # fmt: skip
    assert topics[0].default_text() == "running average"
    assert [(q.query_id, q.doc_id, q.relevance) for q in found.qrels_iter()] == [
        ("1", "d1", 3), ("1", "d2", 0), ("1", "d6", 1), ("2", "d4", 2), ("2", "d5", 0)
    ]  # fmt: skip
    assert found.qrels_defs()[3].startswith("Perfect")


@pytest.mark.slow
def test_a_name_that_ir_datasets_has_itself(
    load: Callable[[Path], Any], campaign: Campaign, registry: Any, tmp_path: Path
) -> None:
    campaign.judging.judge("ann", "1", "d1", 3)
    campaign.exports.collection.write(tmp_path / "made", CollectionChoices(name="cranfield"))
    with pytest.warns(UserWarning, match="ir_datasets has a dataset 'cranfield'; this one is"):
        load(tmp_path / "made")
    assert [q.doc_id for q in registry.load("cleverdon/cranfield").qrels_iter()] == ["d1"]
    assert registry.load("cranfield").has_docs()
    assert not hasattr(registry.load("cranfield"), "directory")


@pytest.mark.slow
def test_loading_leaves_nothing_in_the_folder(
    load: Callable[[Path], Any], campaign: Campaign, registry: Any, tmp_path: Path
) -> None:
    campaign.judging.judge("ann", "1", "d1", 3)
    campaign.exports.collection.write(tmp_path / "made")
    before = sorted(tmp_path.rglob("*"))
    load(tmp_path / "made")
    assert registry.load("campaign").docs_store().get("d1").title == "Title 1"
    assert sorted(tmp_path.rglob("*")) == before
    campaign.exports.collection.write(tmp_path / "made", replace=True)


@pytest.mark.slow
def test_a_collection_has_all_fields_of_its_topics(judged: Campaign, tmp_path: Path) -> None:
    fields = {"history": [{"speaker": "user", "text": "What is lift?"}], "persona": {"age": 30}, "date": None}
    put(judged, topics=[Topic("1", "wings", fields=fields)])
    judged.exports.collection.write(tmp_path / "c")
    first = json.loads((tmp_path / "c" / "topics.jsonl").read_text().splitlines()[0])
    assert first == {"query_id": "1", "title": "wings", "description": "", "narrative": "", **fields}
    assert json.loads((tmp_path / "c" / "collection.json").read_text())["topics"]["other_fields"] == list(fields)
    said = "Topics have other fields in `topics.jsonl`: history, persona and date."
    assert said in (tmp_path / "c" / "collection.md").read_text()
    with Campaign.create(tmp_path / "again") as again:
        again.imports.import_files(topics=tmp_path / "c" / "topics.jsonl")
        assert again.store.corpus.topic_records() == judged.store.corpus.topic_records()


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"stance": "pro", "subtopics": [{"text": "Lift"}]}, {"fields": {"a": 1}, "b": 2}])
def test_ir_datasets_loads_all_fields_of_the_topics(
    load: Callable[[Path], Any], judged: Campaign, registry: Any, tmp_path: Path, fields: dict[str, Any]
) -> None:
    put(judged, topics=[Topic("1", "wings", fields=fields)])
    judged.exports.collection.write(tmp_path / "c")
    load(tmp_path / "c")
    topics = list(registry.load("campaign").queries_iter())
    assert [topic.fields for topic in topics] == [fields, {}]
    read = formats.read_topics("ir_datasets:campaign")
    assert read["fields"].tolist() == [fields, {}]


def test_the_card_says_where_the_text_of_queries_is_another_one(campaign: Campaign, tmp_path: Path) -> None:
    campaign.judging.judge("ann", "1", "d1", 3)
    (tmp_path / "more.jsonl").write_text('{"query_id": "3", "title": "only a title"}\n')
    campaign.imports.import_files(topics=tmp_path / "more.jsonl")
    for wanted, sentence in (
        ("title", "is the topic's title."),
        ("description", "is the topic's description; for 1 topic without it, the first of title"),
        ("title-description", "is the topic's title and description."),
    ):
        campaign.exports.collection.write(tmp_path / wanted, CollectionChoices(query_text=wanted))
        assert sentence in (tmp_path / wanted / "collection.md").read_text()
    assert '{"_id": "3", "text": "only a title"}' in (tmp_path / "description" / "queries.jsonl").read_text()


@pytest.mark.slow
def test_loading_it_again_and_under_another_name(
    load: Callable[[Path], Any], whole: Path, registry: Any, tmp_path: Path
) -> None:
    loaded = load(whole)
    assert list(load(whole).register("other").qrels_iter())
    assert loaded.register() is registry.load("campaign")
    shutil.copytree(whole, tmp_path / "copy")
    with pytest.raises(RuntimeError, match="another dataset called 'campaign'"):
        load(tmp_path / "copy")


@pytest.mark.slow
def test_other_tools_read_the_qrels(whole: Path, judged: Campaign) -> None:
    import ir_measures
    import pytrec_eval

    qrels = list(ir_measures.read_trec_qrels(str(whole / "qrels.txt")))
    ranking = list(ir_measures.read_trec_run(str(whole / "runs" / "alpha.run")))
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.AP], qrels, ranking)
    ours = judged.results.evaluation.evaluate([parse("nDCG@10"), parse("AP")], runs=["alpha"]).means().iloc[0]
    assert {str(m): v for m, v in theirs.items()} == pytest.approx(dict(ours))
    with (whole / "qrels.txt").open() as file:
        assert pytrec_eval.parse_qrel(file) == {"1": {"d1": 3, "d2": 0, "d6": 1}, "2": {"d4": 2, "d5": 0}}


@pytest.mark.slow
def test_a_reviewer_gets_the_same_digits(whole: Path, judged: Campaign) -> None:
    told = ok("evaluate", whole / "qrels.txt", whole / "runs", "-m", "nDCG@10", "-m", "AP", "--per-topic",
              "--format", "tsv")  # fmt: skip
    theirs = {tuple(line.split("\t")[:3]): float(line.split("\t")[3]) for line in told.splitlines()}
    ours = judged.results.evaluation.evaluate([parse("nDCG@10"), parse("AP")]).values
    ours = {(r, q, m): v for r, q, m, v in ours[["run", "query_id", "measure", "value"]].itertuples(index=False)}
    assert theirs == ours


@pytest.mark.slow
def test_imported_and_exported_again_it_has_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "again", title="campaign") as again:
        again.imports.import_files(
            documents=[whole / "corpus.jsonl"],
            topics=whole / "topics.jsonl",
            runs=sorted((whole / "runs").iterdir()),
            labels=whole / "judgements.jsonl",
        )
        again.people.pools.add("depth", depth=2)
        again.exports.collection.write(tmp_path / "second", CollectionChoices(with_runs=True))
    for same in ("corpus.jsonl", "topics.jsonl", "queries.jsonl", "qrels.txt", "qrels/test.tsv", "pool.tsv", "load.py",
                 "runs/alpha.run", "runs/beta.run"):  # fmt: skip
        assert (tmp_path / "second" / same).read_bytes() == (whole / same).read_bytes(), same
    said = []
    for folder in (whole, tmp_path / "second"):
        rows = [json.loads(line) for line in (folder / "judgements.jsonl").read_text().splitlines()]
        said.append({(r["annotator"], r["query_id"], r["doc_id"], r["relevance"]) for r in rows})
    assert said[0] == said[1]


@pytest.mark.slow
def test_zeros_of_either_sign_have_the_same_bytes_again(campaign: Campaign, tmp_path: Path) -> None:
    lines = "1 Q0 d1 1 0.0 z\n1 Q0 d3 2 -0.0 z\n1 Q0 d2 3 0.0 z\n2 Q0 d4 1 -0.0 z\n2 Q0 d5 2 0.0 z\n2 Q0 d8 3 -0.0 z\n"
    (tmp_path / "z.run").write_text(lines)
    campaign.imports.import_files(runs=[tmp_path / "z.run"])
    say(campaign, "ann", "1 d1 1")
    campaign.exports.collection.write(tmp_path / "c", CollectionChoices(with_runs=True))
    assert (tmp_path / "c" / "runs" / "z.run").read_text() == lines


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log.jsonl", "log.csv"])
def test_an_imported_log_keeps_what_it_says_beside_the_grades(
    make_campaign: Callable[..., Campaign], tmp_path: Path, name: str
) -> None:
    """Times, seconds, ways, notes, flags and passages; in the order of the log, by which "latest" goes."""
    first = make_campaign("first")
    rows: list[tuple[str, str, str, int, dict[str, Any]]] = [
        ("zoe", "1", "d1", 3, {"seconds": 4.25, "away": 0.5, "shown_at": "2026-01-02T03:04:05.678Z"}),
        ("ann", "1", "d1", 1, {"seconds": 0.1, "note": 'a "note",\nin two lines', "passages": ((0, 8), (9, 13))}),
        ("zoe", "1", "d2", 0, {"flagged": True, "judged_at": "2026-01-02T03:04:06.000+00:00"}),
        ("ann", "2", "d4", 2, {}),
        ("zoe", "2", "d4", 1, {"seconds": 1e-7}),
        ("ann", "1", "d2", 2, {"away": 12.0}),
    ]
    for annotator, query_id, doc_id, grade, more in rows:
        judgement = Judgement(str(uuid4()), annotator, query_id, doc_id, "graded", grade, source="key", **more)
        assert not first.judging.judge_many([judgement]).refused
    first.exports.files.write(judgements=tmp_path / name, qrels=tmp_path / "q.txt", rule="latest")
    logs = [first.store.judgements.table(current=False)]
    for number in (2, 3):
        again = make_campaign(f"again {number}", pooled=False)
        again.imports.import_files(labels=tmp_path / name)
        logs.append(again.store.judgements.table(current=False))
        before, before_qrels = (tmp_path / name).read_bytes(), (tmp_path / "q.txt").read_bytes()
        again.exports.files.write(judgements=tmp_path / name, qrels=tmp_path / "q.txt", rule="latest")
        assert (tmp_path / "q.txt").read_bytes() == before_qrels
        assert number == 2 or (tmp_path / name).read_bytes() == before
    assert logs[0]["strategy"].tolist() == ["depth"] * 6
    assert set(logs[1]["source"]) == {"imported"}
    for log in logs[1:]:
        pd.testing.assert_frame_equal(log.drop(columns="source"), logs[0].drop(columns="source"))


@pytest.mark.slow
def test_a_log_may_be_imported_beside_its_own_campaign(judged: Campaign, tmp_path: Path) -> None:
    """Under the names of the collection: what has its uuid already gets another."""
    judged.exports.collection.write(tmp_path / "c")
    judged.people.assignments.update(annotators=4)
    judged.imports.import_files(labels=tmp_path / "c" / "judgements.jsonl")
    assert judged.store.judgements.annotators()["judgements"].tolist() == [4, 5, 5, 4]
    seconds = judged.store.judgements.table(annotator="a1")["seconds"]
    assert seconds.tolist() == [4.0] * 4


wholes = st.none() | st.integers(0, 10**6)
reals = st.none() | st.floats(0, 1e9)
notes = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
places = st.lists(st.tuples(st.integers(0, 99), st.integers(100, 999)), max_size=2).map(tuple)


@pytest.mark.slow
@tries(60)
@given(st.lists(st.tuples(ids, st.datetimes(), reals, reals, st.booleans(), notes, places, wholes), min_size=1))
def test_a_log_is_read_as_it_was_written(rows: list[tuple[Any, ...]]) -> None:
    said = [
        Judgement(
            str(n), "ann", "1", f"{doc_id}.{n}", "graded", n % 4, judged_at=f"{at.isoformat()}+00:00", seconds=seconds,
            away=away, flagged=flagged, note=note, passages=passages, strategy="depth", pool_rank=rank,
            model_round=rank, probability=None if rank is None else 1 / (1 + rank),
            answers={"trust": n % 4} | ({"tags": ("a", "b")} if flagged else {}),
        )
        for n, (doc_id, at, seconds, away, flagged, note, passages, rank) in enumerate(rows)
    ]  # fmt: skip
    table = pd.DataFrame(said, columns=list(Judgement._fields), dtype=object)
    with TemporaryDirectory() as folder:
        for name in ("log.jsonl", "log.csv"):
            formats.write_judgements(table, Path(folder) / name)
            back = formats.read_label_log(Path(folder) / name).labels
            assert back[list(DETAILS)].values.tolist() == table[list(DETAILS)].values.tolist()


@pytest.mark.parametrize(
    ("written", "read"),
    {
        "2026-W01-1T00:00Z": "2025-12-29T00:00:00.000+00:00",
        "20260101T000000Z": "2026-01-01T00:00:00.000+00:00",
        "2026-01-01": "2026-01-01T00:00:00.000+00:00",
        "2026-01-01T01:00:00+01:00": "2026-01-01T00:00:00.000+00:00",
        "2026-01-01T00:00:00.000+00:00": "2026-01-01T00:00:00.000+00:00",
    }.items(),
)
def test_times_of_a_log_are_stored_in_one_form(tmp_path: Path, written: str, read: str) -> None:
    row = {"annotator": "ann", "query_id": "1", "doc_id": "d1", "kind": "graded", "relevance": 1}
    (tmp_path / "log.jsonl").write_text(json.dumps(row | {"judged_at": written, "shown_at": written}))
    found = formats.read_label_log(tmp_path / "log.jsonl").labels
    assert found[["judged_at", "shown_at"]].values.tolist() == [[read, read]]


@pytest.mark.parametrize("note", ["a\rb", "a\r\nb", "\r=1", "ends\r"])
def test_a_carriage_return_in_a_note_is_read_back_from_csv(campaign: Campaign, tmp_path: Path, note: str) -> None:
    """Python's csv module before 3.13 leaves a cell with a carriage return unquoted, and then refuses to read it."""
    said = Judgement(str(uuid4()), "ann", "1", "d1", "graded", 1, note=note)
    assert not campaign.judging.judge_many([said]).refused
    stored = campaign.store.judgements.table()["note"].tolist()
    campaign.exports.files.write(judgements=tmp_path / "log.csv")
    assert formats.read_label_log(tmp_path / "log.csv").labels["note"].tolist() == stored == [note]


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("judged_at", "yesterday", "a time as judged_at (ISO 8601, such as 2026-03-02T09:00:00Z), found 'yesterday'"),
        ("shown_at", "2026-13-01", "a time as shown_at (ISO 8601, such as 2026-03-02T09:00:00Z), found '2026-13-01'"),
        ("seconds", -1, "seconds as a number from 0 to 1e+09, found '-1'"),
        ("seconds", True, "seconds as a number from 0 to 1e+09, found 'True'"),
        ("pool_rank", 1.5, "pool_rank as a whole number from 0 to 1e+09, found '1.5'"),
        ("probability", 2, "probability as a number from 0 to 1, found '2'"),
        ("flagged", "perhaps", "true or false as flagged, found 'perhaps'"),
        ("passages", [[5, 2]], 'passages as a list of {"start": 0, "end": 5}, found'),
        ("passages", [[0, 5, 9]], 'passages as a list of {"start": 0, "end": 5}, found'),
        ("passages", [[0]], 'passages as a list of {"start": 0, "end": 5}, found'),
        ("passages", "[", 'passages as a list of {"start": 0, "end": 5}, found'),
        ("note", {}, "text in the field 'note'"),
    ],
)
def test_what_a_log_cannot_say_is_refused_with_its_line(
    campaign: Campaign, tmp_path: Path, field: str, value: Any, wanted: str
) -> None:
    row = {"annotator": "ann", "query_id": "1", "doc_id": "d1", "kind": "graded", "relevance": 1}
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row | {'doc_id': 'd2', field: value})}\n")
    said = fails("import", campaign.directory, "--labels", tmp_path / "log.jsonl")
    assert f"log.jsonl, line 2: expected {wanted}" in said
    assert campaign.store.judgements.counts()["logged"] == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from(["docno", "_id", "doc_id", "id", "contents", "text", "image", "images", "url", "other_docno"])


@tries(60)
@given(
    ids.filter(lambda i: not i.startswith("#")),
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    st.dictionaries(names, json_values, max_size=4),
)
def test_a_document_written_twice_is_the_same(doc_id: str, text: str, metadata: dict[str, Any]) -> None:
    """Whatever its metadata are called: what is written is read, and written the same again."""
    first = corpus_record(Document(doc_id, "", text, metadata))
    line = json.dumps(first, ensure_ascii=False)
    if "\\u0000" in line:
        return  # no text of a campaign holds one
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        path.write_text(line + "\n", encoding="utf-8")
        ((_, back),) = formats.read_documents(path)
    assert (back.doc_id, back.text) == (doc_id, text)
    assert corpus_record(back) == first
    assert list(corpus_record(back)) == list(first)


@pytest.mark.slow
def test_a_text_that_stands_under_another_name_is_not_lost(judged: Campaign, tmp_path: Path) -> None:
    """A text that is null is none: the next field that can hold one is read, and the null is kept beside it."""
    (tmp_path / "more.jsonl").write_text('{"id": "d9", "text": null, "contents": "Flow past a wing."}\n')
    judged.imports.import_files(documents=[tmp_path / "more.jsonl"])
    judged.exports.collection.write(tmp_path / "c")
    last = json.loads((tmp_path / "c" / "corpus.jsonl").read_text().splitlines()[-1])
    assert last == {"_id": "d9", "title": "", "text": "Flow past a wing.", "other_text": None}


@pytest.mark.slow
def test_runs_whose_names_are_cut_alike_have_files_of_their_own(judged: Campaign, tmp_path: Path) -> None:
    names = ["r" * 200 + end for end in "ab"] + ["Alpha"]
    for name in names:
        (tmp_path / f"{name[-5:]}.run").write_text(f"1 Q0 d1 1 2.0 {name}\n")
    judged.imports.import_files(runs=[tmp_path / f"{name[-5:]}.run" for name in names])
    judged.exports.collection.write(tmp_path / "c", CollectionChoices(with_runs=True))
    files = sorted((tmp_path / "c" / "runs").iterdir())
    assert sorted(formats.name_runs(files)) == sorted(["alpha", "beta", *names])
    assert len({file.name.casefold() for file in files}) == 5


# --- what the card says ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_numbers_of_the_card_are_the_campaigns(judged: Campaign, tmp_path: Path) -> None:
    judged.settings.set_guidelines("# Relevant\n\nIs what answers.")
    judged.settings.set_collection(licence="CC BY 4.0", description="A small one.")
    report = judged.exports.collection.write(tmp_path / "c", CollectionChoices(name="tests/wings"))
    facts = json.loads((tmp_path / "c" / "collection.json").read_text())
    assert facts == report.facts
    assert (facts["name"], facts["licence"], facts["citation"]) == ("tests/wings", "CC BY 4.0", "")
    assert facts["documents"] == {"with_text": 8, "corpus": "all", "exported": 8, "judged_without_text": 0}
    assert facts["qrels"] == {
        "made_of": "judgements", "pairs": 5, "documents": 5, "topics": 2, "relevant_from": 1, "relevant": 3,
        "without_relevant": [], "per_grade": {"0": 2, "1": 1, "2": 1, "3": 1},
        "judged_per_topic": {"min": 2, "median": 2.5, "mean": 2.5, "max": 3},
        "relevant_per_topic": {"min": 1, "median": 1.5, "mean": 1.5, "max": 2},
    }  # fmt: skip
    assert (
        facts["rule"]["by"] == {"agreed": 3, "one judgement": 1, "tie": 1} == judged.results.qrels.rule_report()["by"]
    )
    assert [(p["annotator"], p["judgements"], p["median_seconds"]) for p in facts["judging"]["annotators"]] == [
        ("a1", 4, 4.0), ("a2", 5, 4.0)
    ]  # fmt: skip
    assert facts["judging"]["hours"] == pytest.approx(9 * 4 / 3600)
    assert (facts["pool"]["pairs"], facts["pool"]["judged"], facts["pool"]["outside"]) == (6, 5, 0)
    assert [r["strategy"] for r in facts["pool"]["rounds"]] == ["depth"]
    assert facts["pool"]["rounds"][0]["runs"] == ["alpha", "beta"]
    agreement = judged.results.agreement.report(sides=()).values
    assert [v["value"] for v in facts["agreement"]["values"]] == export.plain(agreement["value"].tolist())
    recall = judged.recall.table().set_index("query_id")
    assert {r["query_id"]: (r["found"], r["high"]) for r in facts["recall"]["per_topic"]} == {
        q: (recall.at[q, "found"], recall.at[q, "high"]) for q in ("1", "2")
    }
    card = (tmp_path / "c" / "collection.md").read_text()
    for part in ("CC BY 4.0", "A small one.", "> Is what answers.", "| 3 | 1 | Perfect:", "`tests/wings`"):
        assert part in card, part
    assert "5 of 6 pairs in the pool have a grade." in card
    assert "3 relevant documents were found in 2 topics, of an estimated 3 to 4 that exist" in card
    assert "(each with 95% confidence by itself)" in card
    facts["pool"]["judged"] = 1
    assert "1 of 6 pairs in the pool has a grade." in export.card(facts)


@pytest.mark.slow
def test_nobody_is_named_unless_asked(judged: Campaign, tmp_path: Path) -> None:
    """Names of people are in none of the files: not in logs, not in the card, not where a rule names one."""
    rule = 'annotator(annotator="zoe")'
    judged.exports.collection.write(tmp_path / "quiet", CollectionChoices(rule=rule))
    everything = b"".join(p.read_bytes() for p in (tmp_path / "quiet").rglob("*") if p.is_file())
    assert b"zoe" not in everything
    assert b'"ann"' not in everything
    facts = json.loads((tmp_path / "quiet" / "collection.json").read_text())
    assert facts["rule"]["rule"] == "annotator(annotator=a1)"
    log = [json.loads(line) for line in (tmp_path / "quiet" / "judgements.jsonl").read_text().splitlines()]
    assert [row["annotator"] for row in log] == ["a1"] * 4 + ["a2"] * 5
    report = judged.exports.collection.write(tmp_path / "named", CollectionChoices(name_annotators=True, rule=rule))
    assert [p["annotator"] for p in report.facts["judging"]["annotators"]] == ["zoe", "ann"]
    assert '"zoe"' in (tmp_path / "named" / "judgements.jsonl").read_text()


@pytest.mark.slow
def test_imported_qrels_are_nobody(judged: Campaign, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("2 0 d7 1\n")
    judged.imports.import_files(qrels=tmp_path / "old.txt")
    people = judged.exports.collection.write(tmp_path / "c").facts["judging"]["annotators"]
    assert [(p["annotator"], p["imported"]) for p in people] == [("a1", False), ("a2", False), ("qrels:old", True)]


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "documents"), [("all", 8), ("judged", 5), ("none", 0)])
def test_which_documents(judged: Campaign, tmp_path: Path, registry: Any, corpus: Any, documents: int) -> None:
    report = judged.exports.collection.write(tmp_path / "c", CollectionChoices(corpus=corpus))
    path = tmp_path / "c" / "corpus.jsonl"
    assert path.exists() == (corpus != "none")
    assert report.facts["documents"]["exported"] == documents
    assert not documents or len(path.read_text().splitlines()) == documents
    runpy.run_path(str(tmp_path / "c" / "load.py"))
    found = registry.load("campaign")
    assert found.has_docs() == (corpus != "none")
    assert not documents or found.docs_count() == documents
    assert judged.exports.collection.facts(CollectionChoices(corpus=corpus))["documents"] == report.facts["documents"]


@pytest.mark.slow
def test_images_go_with_their_documents(judged: Campaign, tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + bytes(44) + b"IEND" + bytes(4)
    (tmp_path / "wing.png").write_bytes(picture)
    images = [{"src": "wing.png", "alt": "A wing"}, "https://example.org/b.png"]
    (tmp_path / "more.jsonl").write_text(json.dumps({"doc_id": "d9", "text": "See.", "images": images}) + "\n")
    judged.imports.import_files(documents=[tmp_path / "more.jsonl"])
    judged.exports.collection.write(tmp_path / "c")
    (file,) = (tmp_path / "c" / "files").iterdir()
    assert file.read_bytes() == picture
    with Campaign.create(tmp_path / "again") as again:
        again.imports.import_files(documents=[tmp_path / "c" / "corpus.jsonl"])
        assert again.corpus.document("d9") == judged.corpus.document("d9")
        assert again.corpus.view.content_file(file.name) is not None


@pytest.mark.slow
def test_a_collection_of_a_sampled_pool_has_strata(sampled: Campaign, tmp_path: Path) -> None:
    report = sampled.exports.collection.write(tmp_path / "c")
    back = formats.read_qrels(tmp_path / "c" / "qrels.strata.txt", form="strata")
    pd.testing.assert_frame_equal(
        back, sampled.results.qrels.in_form("strata").astype({"stratum": "str"})[list(back.columns)], check_dtype=False
    )
    assert report.facts["pool"]["sampled_out"] == 12


@pytest.mark.slow
def test_a_collection_of_choices(campaign: Campaign, tmp_path: Path) -> None:
    """Where nothing is graded, the qrels are what was chosen."""
    campaign.settings.set_judging_page(task="list")
    campaign.settings.set_loop(level=2)
    campaign.judging.topic_tasks.choose([Choice(str(uuid4()), "zoe", "1", "chosen", ("d1", "d2"), ("d2",))])
    facts = campaign.exports.collection.write(tmp_path / "c").facts
    assert (facts["qrels"]["relevant_from"], facts["qrels"]["relevant"]) == (1, 1)
    assert "shown but not chosen are unjudged" in (tmp_path / "c" / "collection.md").read_text()
    assert (
        tmp_path / "c" / "qrels.txt"
    ).read_text() == f"1 0 d2 {campaign.results.qrels.from_choices()['relevance'][0]}\n"
    assert (facts["qrels"]["made_of"], facts["rule"], facts["agreement"]) == ("choices", None, None)
    assert json.loads((tmp_path / "c" / "choices.jsonl").read_text())["annotator"] == "a1"
    assert not (tmp_path / "c" / "judgements.jsonl").exists()


@pytest.mark.slow
def test_a_collection_of_preferences(campaign: Campaign, tmp_path: Path) -> None:
    """The card does not say of such grades what the scale says of them."""
    campaign.settings.set_judging_page(task="preference")
    campaign.judging.topic_tasks.prefer([Preference(str(uuid4()), "zoe", "1", "d1", "d2", "left")])
    facts = campaign.exports.collection.write(tmp_path / "c").facts
    assert facts["qrels"]["made_of"] == "preferences"
    assert "do not tell whether any of them is relevant" in (tmp_path / "c" / "collection.md").read_text()


@pytest.mark.slow
def test_the_size_is_told_where_what_is_judged_was_not_pooled(
    make_campaign: Callable[..., Campaign], tmp_path: Path
) -> None:
    campaign = make_campaign(pooled=False)
    (tmp_path / "old.txt").write_text("2 0 d7 1\n")
    campaign.imports.import_files(qrels=tmp_path / "old.txt")
    outline = campaign.exports.collection_card.outline(CollectionChoices(corpus="judged"))
    campaign.exports.collection.write(tmp_path / "c", CollectionChoices(corpus="judged"))
    assert outline.documents == 1
    assert outline.bytes == pytest.approx((tmp_path / "c" / "corpus.jsonl").stat().st_size, rel=0.2)


# --- all or nothing -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_there_is_not_written_over(judged: Campaign, whole: Path, tmp_path: Path) -> None:
    before = (whole / "checksums.txt").read_text()
    assert "already contains an exported collection" in fails("export", judged.directory, "--collection", whole)
    assert (whole / "checksums.txt").read_text() == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    (tmp_path / "mine" / "collection.json").write_text("{}")  # other programs call files so, too
    for replace in (False, True):
        with pytest.raises(CampaignError, match="is not an exported collection"):
            judged.exports.collection.write(tmp_path / "mine", replace=replace)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    with pytest.raises(InputError, match="belongs to the campaign"):
        judged.exports.collection.write(judged.directory, replace=True)


@pytest.mark.slow
def test_a_collection_takes_the_place_of_another(judged: Campaign, whole: Path) -> None:
    (whole / "notes.txt").write_text("years of work")
    again = ("export", judged.directory, "--collection", whole, "--replace", "--corpus", "none", "--licence", "CC0")
    assert "has files that were not exported (notes.txt)" in fails(*again)
    assert (whole / "notes.txt").read_text() == "years of work"
    (whole / "notes.txt").unlink()
    ok(*again)
    assert not (whole / "corpus.jsonl").exists()
    assert judged.settings.collection().licence == "CC0"


@pytest.mark.slow
def test_a_failed_export_leaves_nothing_behind(
    judged: Campaign, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {f.path: f.sha256 for f in formats.list_files(whole)}

    def broken(*_: object) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr(formats, "write_pool", broken)
    for place in (whole, tmp_path / "new"):
        with pytest.raises(InputError, match="the disk is full"):
            judged.exports.collection.write(place, replace=True)
    assert {f.path: f.sha256 for f in formats.list_files(whole)} == before
    assert not (tmp_path / "new").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    assert "there is no folder" in fails("export", judged.directory, "--collection", tmp_path / "no" / "c")


@pytest.mark.slow
def test_people_judge_while_a_collection_is_written(judged: Campaign, tmp_path: Path) -> None:
    """What comes meanwhile is in none of the files, and does not wait."""

    def meanwhile(*_: object) -> None:
        with Campaign(judged.directory) as other:
            say(other, "ann", "2 d7 1")

    said = judged.exports.collection.write(tmp_path / "c", CollectionChoices(with_runs=True), progress=meanwhile)
    assert said.facts["judging"]["judgements"] == 9
    assert len((tmp_path / "c" / "judgements.jsonl").read_text().splitlines()) == 9
    assert judged.store.judgements.counts()["judgements"] == 10


@pytest.mark.slow
def test_what_is_no_collection_is_refused(campaign: Campaign, judged: Campaign, tmp_path: Path) -> None:
    for name in ("Wings", "a b", "../up", "", "a//b"):
        with pytest.raises(InputError, match="collection name: expected lower-case letters"):
            judged.exports.collection.write(tmp_path / "c", CollectionChoices(name=name))
    with pytest.raises(UnknownNameError, match="did you mean 'judged'"):
        judged.exports.collection.write(tmp_path / "c", CollectionChoices(corpus="judge"))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="text of queries"):
        judged.exports.collection.write(tmp_path / "c", CollectionChoices(query_text="narrative"))
    with pytest.raises(CampaignError, match="grades by this rule have fractions"):
        judged.exports.collection.write(tmp_path / "c", CollectionChoices(rule="mean"))
    with pytest.raises(UnknownNameError, match="did you mean 'licence'"):
        judged.settings.set_collection(license="CC0")
    assert not (tmp_path / "c").exists()
    with (
        Campaign.create(tmp_path / "empty") as empty,
        pytest.raises(CampaignError, match="a collection needs grades, found none"),
    ):
        empty.exports.collection.write(tmp_path / "c")


@pytest.mark.slow
def test_a_zip_is_the_same_whenever_it_is_made(whole: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        formats.write_zip(whole, tmp_path / name)
        os.utime(whole / "qrels.txt")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("wings/qrels.txt") == (whole / "qrels.txt").read_bytes()
        assert len(archive.namelist()) == len(formats.list_files(whole))


# --- the page -------------------------------------------------------------------------------------------


@pytest.fixture
def page(judged: Campaign, opened: Opened) -> Opened:
    """Opens the Export page as somebody of this role."""
    return lambda role="manager": opened(judged, "export", role, role)


def test_a_manager_describes_the_collection(page: Opened, judged: Campaign, tmp_path: Path) -> None:
    judged.exports.collection.write(tmp_path / "c")
    size = (tmp_path / "c" / "corpus.jsonl").stat().st_size
    app = page()
    # Half of the topics are finished, so that only these are exported by default, as they are compared.
    assert "3 pairs in 1 finished topic have a grade" in words(app)
    assert "3 qrels, 1 finished topic and 8 documents" in words(app)
    app.toggle(key="only-finished").set_value(False).run()
    assert "5 pairs in 2 of 2 topics have a grade" in words(app)
    assert f"5 qrels, 2 topics and 8 documents, about {size} bytes." in words(app)
    assert "No licence is set" in words(app)
    app.text_input(key="about-licence").set_value("CC BY 4.0")
    app.button(key="FormSubmitter:about-Save").click().run()
    assert judged.settings.collection().licence == "CC BY 4.0"
    assert "No licence is set" not in words(app)
    app.selectbox(key="corpus").set_value("none").run()
    assert "5 qrels, 2 topics and 0 documents." in words(app)
    app.toggle(key="card").set_value(True).run()
    (drawn,) = [h.value for h in app.get("html") if "Pooling" in str(h.value)]
    assert "CC BY 4.0" in drawn
    assert "manager" not in drawn  # whoever judged under that name is called a1
    app.text_input(key="collection-name").set_value("No Such Name").run()
    assert "collection name: expected lower-case letters" in words(app)


def test_a_reader_takes_it_and_changes_nothing(page: Opened, judged: Campaign) -> None:
    signed_in(judged, "somebody")  # there is a manager besides
    app = page("reader")
    assert not app.text_input(key="collection-name").disabled
    assert not [t for t in app.text_input if t.key == "about-licence"]
    assert "Download campaign.zip" in [b.label for b in app.get("download_button")]


def test_what_is_too_large_for_a_browser(page: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection_download, "LARGEST", 100)
    app = page()
    assert "too large for a download in the browser" in words(app)
    assert "--collection campaign" in app.code[0].value
    assert "Download campaign.zip" not in [b.label for b in app.get("download_button")]


@pytest.mark.slow
def test_what_is_packed_is_the_collection(judged: Campaign, tmp_path: Path) -> None:
    choices = CollectionChoices(name="wings", rule="adjudicated-or-majority", with_runs=True)
    collection_download.write_packed(judged, tmp_path / "wings.zip", choices)
    with zipfile.ZipFile(tmp_path / "wings.zip") as archive:
        assert json.loads(archive.read("wings/collection.json"))["name"] == "wings"
        assert archive.read("wings/qrels.txt") == b"1 0 d1 3\n1 0 d2 0\n1 0 d6 1\n2 0 d4 2\n2 0 d5 0\n"


def test_the_page_offers_the_forms_of_a_sample(opened: Opened, judged: Campaign, sampled: Campaign) -> None:
    assert judged.results.qrels.forms() == ["judged"]
    assert sampled.results.qrels.forms() == ["judged", "strata", "probabilities"]
    app = opened(judged, "export")
    app.toggle(key="unjudged").set_value(True).run()
    app = opened(sampled, "export")
    assert "The pool is a random sample" in words(app)
    for form in sampled.results.qrels.forms():
        app.radio(key="form").set_value(form).run()
        assert not app.error


def test_the_page_says_how_many_topics_are_left_out(half_judged: Campaign, opened: Opened) -> None:
    app = opened(half_judged, "export")
    app.radio(key="form").set_value("strata").run()
    assert app.toggle(key="unjudged-topics").label == "Include topics without a grade (1)"
    app.toggle(key="unjudged-topics").set_value(True).run()
    assert not app.error
