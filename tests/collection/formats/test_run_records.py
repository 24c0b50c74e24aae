"""Runs in the forms of other tools, at every door that takes run files."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection import compare, evaluate, pool, read_run
from collection.core.errors import FormatError, InputError
from collection.formats import RunFiles, name_runs, read_index
from collection.measures import parse
from tests.helpers import ok, run

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 2.5}, "q2": {"d": 1.0, "e": 0.5}}
ROWS = [(q, d, s, n) for q, of in RUN.items() for n, (d, s) in enumerate(sorted(of.items(), key=lambda i: -i[1]))]
FRAME = pd.DataFrame(ROWS, columns=["qid", "docno", "score", "rank"])
RANKINGS: list[dict[str, object]] = [
    {"query": {"text": "wing", "qid": q}, "candidates": [
        {"docid": d, "score": s, "doc": {"contents": "lift"}} for d, s in of.items()
    ]}
    for q, of in {**RUN, "q3": {}}.items()
]  # fmt: skip
QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 0\nq2 0 e 1\n"

Write = Callable[[Path], Any]


def as_json(value: object, **options: Any) -> Write:
    return lambda path: path.write_text(json.dumps(value, **options))


FORMS: dict[str, Write] = {
    "ranx.json": as_json(RUN),
    "indented.json": as_json(RUN, indent=1),
    "mteb.json": as_json({"mteb_model_meta": {"name": "m"}, "default": {"test": RUN}}),
    "split.json": as_json({"test": RUN}),
    "records.json": lambda path: FRAME.to_json(path, orient="records"),
    "columns.json": FRAME.to_json,
    "anserini.jsonl": lambda path: path.write_text("".join(f"{json.dumps(each)}\n" for each in RANKINGS)),
    "rankllm.json": as_json(RANKINGS, indent=1),
    "lists.json": as_json({q: [{"docid": d, "score": str(s)} for d, s in of.items()] for q, of in RUN.items()}),
    "lines.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "pyterrier.csv": lambda path: FRAME.assign(docid=range(len(FRAME)), query="wing, lift").to_csv(path),
    "plain.csv": lambda path: FRAME.rename(columns={"qid": "query_id", "docno": "doc_id"}).to_csv(path, index=False),
    "beir.tsv": lambda path: FRAME.rename(columns={"qid": "query-id", "docno": "corpus-id"}).to_csv(
        path, sep="\t", index=False
    ),
    "excel.csv": lambda path: FRAME.to_csv(path, sep=";", index=False),
    "bom.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-8-sig"),
    "a.run": lambda path: FRAME.to_csv(path, index=False),
    "zipped.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
    "zipped.json.gz": lambda path: path.write_bytes(gzip.compress(json.dumps(RUN).encode())),
    "frame.parquet": FRAME.to_parquet,
    "sheet.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "shuffled.csv": lambda path: FRAME.sample(frac=1, random_state=3).to_csv(path, index=False),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    Path("t.run").write_text("".join(f"{q} Q0 {d} {n + 1} {s} t\n" for q, d, s, n in ROWS))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.usefixtures("folder")
def test_every_form_gives_the_values_of_the_trec_run(name: str) -> None:
    FORMS[name](Path(name))
    found, wanted_frame = (
        read_run(path).frame.astype({"query_id": "str"}).sort_values(["query_id", "rank"], ignore_index=True)
        for path in (name, "t.run")
    )
    pd.testing.assert_frame_equal(
        found[["query_id", "doc_id", "score", "rank"]], wanted_frame[["query_id", "doc_id", "score", "rank"]]
    )
    stem = name.partition(".")[0]
    measures = ["AP", "nDCG@10", "RR"]
    wanted = evaluate("qrels", "t.run", measures).means().loc["t"].tolist()
    assert evaluate("qrels", name, measures).means().loc[stem].tolist() == wanted
    assert evaluate("qrels", [name, "t.run"], measures).notes == ()
    printed = ok("evaluate", "qrels", name, "t.run", "-m", "AP", "--format", "tsv").splitlines()
    assert [line.split("\t")[0] for line in printed] == [stem, "t"]
    assert len({line.split("\t")[3] for line in printed}) == 1
    assert f"{stem} " in ok("compare", "qrels", name, "t.run", "-m", "AP")
    assert compare("qrels", [name, "t.run"], "AP").leaderboard["value"].nunique() == 1
    assert len(pool([name], depth=1)) == 2
    Path("topics.tsv").write_text("query_id\ttitle\nq1\twing\nq2\tlift\n")
    ok("new", "camp")
    ok("import", "camp", "--topics", "topics.tsv", "--run", name)
    assert "Added 4 pairs" in ok("pool", "camp", "--depth", "2")


@pytest.mark.parametrize("column", ["run", "system", "tag", "name"])
def test_a_column_names_the_run(folder: Path, column: str) -> None:
    FRAME.assign(**{column: "bm25"}).to_csv(folder / "x.csv", index=False)
    assert name_runs([folder / "x.csv"]) == ["bm25"] == [read_run(folder / "x.csv").name]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.csv", "qid,docno\nq1,a\n", "no score in 'qid, docno'"),
        ("r.csv", "qid,docno,score\nq1,a,high\n", "line 2: expected a number as score, found 'high'"),
        ("r.csv", "qid,docno,score\nq1,a,\n", "line 2: expected a number as score, found ''"),
        ("r.csv", "qid,docno,score\nq1,a,1\nq1,a,2\n", "line 3: .* document 'a' again .first in line 2"),
        ("r.csv", "qid,docno,score\n", "only a header"),
        ("r.csv", "qid,docno,score,run\nq1,a,1,x\nq1,b,1,y\n", "one run, found several runs .'x', 'y'."),
        ("r.csv", "qid,docno,score,run\nq1,a,1,x\nq1,a,1,y\n", "one run, found several runs .'x', 'y'."),
        ("r.csv", "q1,a,0.5\n", "CSV needs a header: qid,docno,score"),
        ("r.csv", "qid,docno,score\nq1,a b,0.5\n", "an id without blanks, found 'a b'"),
        ("r.json", "{}", "no documents"),
        ("r.json", '{"q1": {"a": 1, "a": 2}}', "'a' twice in an object"),
        ("r.json", '{"q1": {"a": "x"}}', "a number as score, found 'x'"),
        ("r.json", '{"q1": {"a": true}}', "a number as score, found 'True'"),
        ("r.json", '{"q1": {"a": NaN}}', "a number as score, found 'nan'"),
        ("r.json", '{"q1": [1]}', r"expected \{query_id: \{doc_id: score\}\}, found 'q1': '\[1\]'"),
        ("r.json", '{"a": {"q1": {"d": 1}}, "b": {"q1": {"d": 1}}}', "one run, found 2 parts .'a', 'b'."),
        ("r.json", '{"q1": {"a": 1}', "line 1: expected a run as JSON"),
        ("r.json", '{"q1":\n{"a": 1}\n', "line 3: expected a run as JSON"),
        ("r.run", "{ }\nq1 Q0 a 1 2 t\n", "line 2: expected a run as JSON"),
        ("r.jsonl", '{"qid": "q1", "docno": "a"}\n', "no score"),
    ],
)
def test_what_a_refusal_says(folder: Path, name: str, text: str, said: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(FormatError, match=said):
        read_run(folder / name)
    with pytest.raises(FormatError, match=said):
        list(RunFiles([folder / name]).look_up(read_index(folder / "qrels")))


def test_rankings_in_long_lines_and_topics_without_documents(folder: Path) -> None:
    """Each document of a ranking may have its text."""
    text = "a" * (1 << 17)
    lines = [{"query": {"qid": "q1", "text": "wing"}, "candidates": [{"docid": "a", "score": 2, "doc": text}]},
             {"query": {"qid": "q2", "text": "lift"}, "candidates": []}]  # fmt: skip
    for ordered in (lines, lines[::-1]):
        (folder / "r.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in ordered))
        assert read_run(folder / "r.jsonl").frame[["query_id", "doc_id"]].values.tolist() == [["q1", "a"]]


@pytest.mark.parametrize("name", ["r.jsonl", "r.run"])
def test_a_first_record_that_is_long(folder: Path, name: str) -> None:
    (folder / name).write_text('{"text": "' + "a" * (1 << 17) + '", "qid": "q1", "docno": "a", "score": 2}\n')
    assert read_run(folder / name).frame["doc_id"].tolist() == ["a"]


@pytest.mark.usefixtures("folder")
def test_documents_with_the_id_of_their_topic_are_left_out_on_request() -> None:
    """As BEIR's ignore_identical_ids: in ArguAna every query is a document."""
    Path("own.run").write_text("q1 Q0 q1 1 9 own\nq1 Q0 a 2 8 own\nq2 Q0 e 1 1 own\n")
    Path("q").write_text("q1 0 a 1\nq2 0 e 1\n")
    assert evaluate("q", "own.run", "nDCG@10").means().loc["own", "nDCG@10"] == pytest.approx(
        (0.6309 + 1) / 2, abs=1e-4
    )
    frame = read_run("own.run")
    for given in ("own.run", ["own.run"], {"own": "own.run"}, frame, {"own": frame.frame}):
        found = evaluate("q", given, "nDCG@10", exclude_query_document=True)
        assert found.means().iloc[0].tolist() == [1.0]
    assert compare("q", ["own.run", "t.run"], "RR", exclude_query_document=True).leaderboard["value"].max() == 1
    option = "--exclude-query-document"
    assert "0.8155" in ok("evaluate", "q", "own.run", "-m", "nDCG@10")
    assert "1.0000" in ok("evaluate", "q", "own.run", "-m", "nDCG@10", option)
    assert "1.0000" in ok("compare", "q", "own.run", "t.run", "-m", "nDCG@10", option)
    assert "RR@10 = 1" in ok("evaluate", "q", "own.run", "-m", "RR@10", "--explain", "q1", option).replace(": ", " = ")


@pytest.mark.parametrize(
    ("asked", "measure"),
    [
        ("ndcg_at_10", "nDCG@10"), ("recall_at_100", "R@100"), ("map_at_100", "AP@100"), ("mrr_at_10", "RR@10"),
        ("precision_at_5", "P@5"), ("hit_rate_at_10", "Success@10"), ("ERR_at_20", "ERR@20"), ("ndcg-at-3", "nDCG@3"),
        ("R_cap@100", "P(relative=True)@100"), ("r_cap_at_5", "P(relative=True)@5"), ("Hole@10", "Unjudged@10"),
        ("hole_at_10", "Unjudged@10"), ("ndcg10", "nDCG@10"), ("RR_10", "RR@10"), ("R_100", "R@100"),
    ],
)  # fmt: skip
def test_names_of_measures_in_beir_and_mteb(asked: str, measure: str) -> None:
    assert str(parse(asked)) == measure


@pytest.mark.parametrize("asked", ["bpref_at_10", "main_score", "r_cap", "xyz10", "ndcg_at_0"])
def test_names_that_mean_nothing_are_refused(asked: str) -> None:
    with pytest.raises(InputError):
        parse(asked)


def test_capped_recall_and_holes_by_hand() -> None:
    """3 relevant, 2 of them in the first 2: 2 / min(2, 3); an unjudged document in the first 2 of another."""
    qrels = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1}}
    ranking = {"1": {"a": 3.0, "b": 2.0, "x": 1.0}, "2": {"x": 2.0, "a": 1.0}}
    found = evaluate(qrels, ranking, ["R_cap@2", "Hole@2"]).per_topic()
    assert found.pivot(index="query_id", columns="measure", values="value").to_numpy().tolist() == [
        [1.0, 0.0],
        [1.0, 0.5],
    ]


@pytest.mark.usefixtures("folder")
def test_a_run_whose_ranks_contradict_its_scores_has_a_note_in_every_form() -> None:
    turned = FRAME.assign(score=-FRAME["score"])
    turned.to_csv("turned.csv", index=False)
    turned.to_json("turned.jsonl", orient="records", lines=True)
    for name in ("turned.csv", "turned.jsonl"):
        assert "the ranks contradict the scores in reverse in 2 of 2 topics" in run("evaluate", "qrels", name).stderr
