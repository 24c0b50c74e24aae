"""Labels of judges in files: forms, several judges, repeated pairs, and missing labels."""

import gzip
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from collection.core.errors import FormatError, FormatWarning
from collection.core.records import GRADE_SCALES
from collection.formats import read_judge_labels
from collection.machine_labels import replies

ROWS = [("", "1", "d1", 2.0), ("", "1", "d2", math.nan), ("", "2", "d1", 0.0)]


def rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(frame.itertuples(index=False, name=None))


def same(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> bool:
    return repr(one) == repr(other)  # nan is not equal to itself


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.qrels", "1 0 d1 2\n1 0 d2 -1\n2 0 d1 0\n"),
        ("a.txt", "1\tQ0\td1\t2\n\n# comment\n1\tQ0\td2\tnan\n2\tQ0\td1\t0\n"),
        ("a.tsv", "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t-1\n2\td1\t0\n"),
        ("a.csv", "qid,docno,label\n1,d1,2\n1,d2,\n2,d1,0\n"),
        ("b.csv", "topic_id;passage_id;rating\n1;d1;2.0\n1;d2;unjudged\n2;d1;0\n"),
        ("a.jsonl", '{"qid": 1, "docid": "d1", "grade": 2}\n{"qid": 1, "docid": "d2", "grade": null}\n'
         '{"qid": 2, "docid": "d1", "grade": "0"}\n'),
        ("a.json", '{"1": {"d1": 2, "d2": -1}, "2": {"d1": 0}}'),
    ],
)  # fmt: skip
def test_forms_of_one_judge(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert same(rows(read_judge_labels(tmp_path / name)), ROWS)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert same(rows(read_judge_labels(tmp_path / f"{name}.gz")), ROWS)


def test_parquet_with_missing_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=["judge", "query_id", "doc_id", "relevance"]).drop(columns="judge")
    frame.to_parquet(tmp_path / "a.parquet")
    assert same(rows(read_judge_labels(tmp_path / "a.parquet")), ROWS)


def test_judges_in_a_column_keep_repeated_pairs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "model,qid,docno,grade\ngpt-4o,1,d1,2\nllama,1,d1,0\n" + "gpt-4o,1,d1,3\ngpt-4o,1,d1,2\n"
    )
    read = read_judge_labels(tmp_path / "a.csv")
    assert rows(read[read["judge"] == "gpt-4o"])[0] == ("gpt-4o", "1", "d1", 2.0)
    assert read.groupby("judge")["relevance"].apply(list).to_dict() == {"gpt-4o": [2, 3, 2], "llama": [0]}


def test_a_column_for_each_judge(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("qid\tdocid\titer\tgpt\tnote\tllama\n1\td1\t1\t2\tgood\t\n1\td2\t2\t0\tbad\t3\n")
    with pytest.warns(FormatWarning, match="left out 2 columns without grades \\(iter and note\\)"):
        read = read_judge_labels(tmp_path / "a.tsv")
    assert same(rows(read), [("gpt", "1", "d1", 2.0), ("llama", "1", "d1", math.nan), ("gpt", "1", "d2", 0.0),
                             ("llama", "1", "d2", 3.0)])  # fmt: skip


def test_names_of_grades(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,docno,label\n1,d1,Relevant\n1,d2,1\n1,d3,not_relevant\n")
    names = {"relevant": 1, "not relevant": 0}
    assert read_judge_labels(tmp_path / "a.csv", names=names)["relevance"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.qrels", "1 0 d1 2\n1 0 d2 good\n", "line 2: expected a number as grade"),
        ("a.qrels", "1 0 d1 2\n1 0 d2\n", "line 2: expected 4 columns"),
        ("a.csv", "qid,docno,comment\n1,d1,fine\n", "expected a column of grades"),
        ("a.csv", "qid,docno,label\n", "only a header|no labels|no entries"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=said):
        read_judge_labels(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        'query_id;doc_id;relevance\n1;d1;2,0\n1;d2;n.a.\n2;d1;0,00\n',
        'query_id,doc_id,relevance\n1,d1,"2,0"\n1,d2,#N/A\n2,d1,0\n',
        "query_id,doc_id,Relevance Score\n1,d1,2\n1,d2,<NA>\n2,d1,0\n",
        "query_id,doc_id,prediction\n1,d1,2.0\n1,d2,missing\n2,d1,0.0\n",
        "query_id,doc_id,llm_label\n1,d1,2\n1,d2,no grade\n2,d1,0\n",
    ],
)  # fmt: skip
def test_grades_of_spreadsheets_and_predictions(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert same(rows(read_judge_labels(tmp_path / "a.csv")), ROWS)


def test_a_fraction_with_a_comma_is_refused(tmp_path: Path) -> None:
    """It may be two labels."""
    (tmp_path / "a.csv").write_text("query_id;doc_id;relevance\n1;d1;2,1\n")
    with pytest.raises(FormatError, match="line 2: expected a number as grade, found '2,1'"):
        read_judge_labels(tmp_path / "a.csv")


def test_a_column_of_a_model_next_to_other_grades_is_named(tmp_path: Path) -> None:
    """The grades may be those of people."""
    (tmp_path / "a.csv").write_text("query_id,doc_id,relevance,gpt-4o\n1,d1,1,2\n")
    with pytest.warns(FormatWarning, match="the grades are those of the column relevance; gpt-4o may have those"):
        assert rows(read_judge_labels(tmp_path / "a.csv")) == [("", "1", "d1", 1.0)]


def test_a_column_of_predictions_next_to_other_grades_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query_id,doc_id,relevance,prediction\n1,d1,1,2\n")
    with pytest.warns(FormatWarning, match="the grades are those of the column relevance; prediction may have those"):
        assert rows(read_judge_labels(tmp_path / "a.csv")) == [("", "1", "d1", 1.0)]


def test_labels_for_which_umbrela_found_no_grade_are_missing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"model": "m", "qid": 1, "docid": "d1", "prediction": "##final score: 2", "judgment": 2, "result_status": 1}\n'
        '{"model": "m", "qid": 1, "docid": "d2", "prediction": "Sorry.", "judgment": 0, "result_status": 0}\n'
    )
    with pytest.warns(FormatWarning, match="1 label with result_status 0: no grade"):
        read = read_judge_labels(tmp_path / "a.jsonl")
    assert same(rows(read), [("m", "1", "d1", 2.0), ("m", "1", "d2", math.nan)])


def test_probabilities_are_no_judges(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,docid,p_0,p_1\n1,d1,0.9,0.1\n1,d2,0,1\n")
    with pytest.raises(FormatError) as refused:
        read_judge_labels(tmp_path / "a.csv")
    assert str(refused.value) == (
        f"{tmp_path}/a.csv, line 2: expected a column of grades for each judge, found fractions up to 1 in p_0 and "
        "p_1, like probabilities; write the most probable grade in a column relevance, or name the column of a judge's "
        "fractions relevance"
    )


SAMPLES = [("m", "1", "d1", 2.0), ("m", "1", "d1", 1.0), ("n", "1", "d1", 0.0)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"qid": 1, "docid": "d1", "model": "m", "label": [2, 1]}, {"qid": 1, "docid": "d1", "model": "n", '
         '"label": 0}]'),
        ("b.json", '[\n {"qid": 1, "docid": "d1", "model": "m", "scores": [2.0, "1"]},\n {"qid": 1, "docid": "d1", '
         '"model": "n", "scores": [0]}\n]'),
        ("columns.json", '{"qid": {"0": 1, "1": 1, "2": 1}, "docid": {"0": "d1", "1": "d1", "2": "d1"}, '
         '"model": {"0": "m", "1": "m", "2": "n"}, "label": {"0": 2, "1": 1, "2": 0}}'),
        ("a.jsonl", '{"qid": 1, "docid": "d1", "model": "m", "labels": [2, 1]},\n{"qid": 1, "docid": "d1", "model": '
         '"n", "labels": [0]},\n'),
    ],
)  # fmt: skip
def test_samples_in_lists_and_judges_in_arrays(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert rows(read_judge_labels(tmp_path / name)) == SAMPLES


def test_objects_with_reasons_by_document(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"1": {"d1": {"label": 2, "reason": "x"}, "d2": {"label": "", "reason": "y"}},'
                                     ' "2": {"d1": {"label": 0, "reason": "z"}}}')  # fmt: skip
    assert same(rows(read_judge_labels(tmp_path / "a.json")), ROWS)


def test_nan_in_jsonl_is_a_missing_label(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"qid": 1, "docid": "d1", "label": 2}\n{"qid": 1, "docid": "d2", "label": NaN}\n'
        '{"qid": 2, "docid": "d1", "label": 0}\n'
    )
    assert same(rows(read_judge_labels(tmp_path / "a.jsonl")), ROWS)


def test_replies_are_read_where_their_grade_is_certain(tmp_path: Path) -> None:
    def read_reply(text: str) -> int | None:
        return replies.read_grade(text, GRADE_SCALES["0-3"]).grade

    path = tmp_path / "a.jsonl"
    labels = ["##final score: 3", '```json\n{"score": 2}\n```', {"grade": 1, "reason": "x"}, "Grade: 2 (relevant)",
              "not_judged"]  # fmt: skip
    path.write_text(
        "".join(f'{{"qid": 1, "docid": "d{n}", "label": {json.dumps(each)}}}\n' for n, each in enumerate(labels))
    )
    read = read_judge_labels(path, read_reply=read_reply)["relevance"].tolist()
    assert repr(read) == repr([3.0, 2.0, 1.0, 2.0, math.nan])
    path.write_text('{"qid": 1, "docid": "d1", "label": "Grade: 2 or 3"}\n')
    with pytest.raises(FormatError, match="line 1: expected a number as grade, found 'Grade: 2 or 3'"):
        read_judge_labels(path, read_reply=read_reply)


@pytest.mark.long
def test_types_of_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["d1", "d2", "d1"], "relevance": [2, 0, 0]})
    missing = frame.assign(relevance=pd.array([2, None, 0], dtype="Int8"))
    for typed in (missing, missing.astype({"relevance": "string"}), missing.astype({"relevance": "category"})):
        typed.astype({"query_id": "category"}).to_parquet(tmp_path / "a.parquet")
        assert same(rows(read_judge_labels(tmp_path / "a.parquet")), ROWS)
