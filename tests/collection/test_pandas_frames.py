"""Every public function gives the same results for all kinds of frames that pandas makes."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import collection
from collection import adjudication, evaluate, formats, measures, pooling, preferences, reusability
from collection.core.errors import InputError
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.pooling.adaptive import list_rankings

random = np.random.default_rng(11)


def _pairs(count: int) -> list[tuple[str, str]]:
    return [(str(topic), str(doc)) for topic in range(301, 305) for doc in 7 + random.permutation(30)[:count]]


QRELS = pd.DataFrame(_pairs(12), columns=["query_id", "doc_id"])
QRELS["relevance"] = [n % 3 for n in range(len(QRELS))]
RUNS = pd.concat(
    [
        pd.DataFrame(_pairs(20), columns=["query_id", "doc_id"]).assign(score=np.round(random.random(80), 2), run=name)
        for name in ("bm25", "dense")
    ],
    ignore_index=True,
)
LABELS = pd.concat([QRELS.assign(annotator=name) for name in ("ann", "bob")], ignore_index=True)
LABELS["relevance"] = [(n * 7 % 11) % 3 for n in range(len(LABELS))]
TOPICS = pd.DataFrame({"query_id": QRELS["query_id"].unique(), "title": "wing lift"})
TOPICS = TOPICS.assign(description="", narrative="")
DOCUMENTS = pd.DataFrame({"doc_id": sorted({*QRELS["doc_id"], *RUNS["doc_id"]}), "title": ""})
DOCUMENTS["text"] = [f"wing {doc_id}" for doc_id in DOCUMENTS["doc_id"]]

PREFERENCES = QRELS[["query_id"]].assign(annotator="ann", left=QRELS["doc_id"], kind="left")
PREFERENCES["right"] = PREFERENCES.groupby("query_id")["left"].shift()
PREFERENCES = PREFERENCES.dropna()

ANSWERS = pd.DataFrame({"run": ["a", "b"], "query_id": "301", "team": "", "words": [7, 9], "stated_words": [7.0, 8.0]})
NUGGETS = pd.DataFrame({"query_id": "301", "nugget": ["1", "2"], "text": "Air.", "importance": ["vital", "okay"]})
NUGGETS["weight"] = [2.0, -1.0]
ASSIGNMENTS = pd.DataFrame({"run": ["a", "a", "b", "b"], "query_id": "301", "nugget": ["1", "2"] * 2})
ASSIGNMENTS["grade"] = [2, 1, 0, 2]
SUPPORT = pd.DataFrame({"run": ["a", "a", "b"], "query_id": "301", "sentence": [0, 1, 0], "position": 0})
SUPPORT = SUPPORT.assign(doc_id=["7", "8", "7"], grade=[2, 0, 1])

IDS = ("query_id", "doc_id")
NUMBERS = ("relevance", "score", "grade", "weight")
OTHER_NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label", "grade": "label", "run": "system"}

Form = Callable[[pd.DataFrame], pd.DataFrame]


def columns(names: tuple[str, ...], convert: Callable[[pd.Series], Any]) -> Form:
    """A form that converts these columns."""
    return lambda frame: frame.assign(**{name: convert(frame[name]) for name in names if name in frame})


def in_index(*names: str) -> Form:
    return lambda frame: frame.set_index([name for name in names if name in frame])


def with_index(index: Callable[[int], Any]) -> Form:
    return lambda frame: frame.set_axis(pd.Index(index(len(frame))), axis=0)


def in_parts(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame.iloc[: len(frame) // 3], frame.iloc[len(frame) // 3 :]])


def read_only(frame: pd.DataFrame) -> pd.DataFrame:
    arrays = {name: frame[name].to_numpy(copy=True) for name in frame}
    for array in arrays.values():
        array.flags.writeable = False
    return pd.DataFrame(arrays, copy=False)


def as_arrow(frame: pd.DataFrame) -> pd.DataFrame:
    return pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype)


def a_view(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[np.repeat(np.arange(len(frame)), 2)].iloc[::2]


def dictionaries(column: pd.Series) -> Any:
    return pd.arrays.ArrowExtensionArray(pa.array(column.astype(str)).dictionary_encode())


FORMS: Mapping[str, Form] = {
    "parts": in_parts,
    "parts of arrow": lambda frame: in_parts(as_arrow(frame)),
    "parts of categories": lambda frame: in_parts(columns(IDS, lambda c: c.astype("category"))(frame)),
    "a view": a_view,
    "read-only arrays": read_only,
    "categories": lambda frame: frame.astype("category"),
    "ordered categories of numbers": columns(IDS, lambda c: c.astype(int).astype(pd.CategoricalDtype(ordered=True))),
    "objects": lambda frame: frame.astype(object),
    "numbers as ids": columns(IDS, lambda c: c.astype(int)),
    "nullable numbers as ids": columns(IDS, lambda c: c.astype(int).astype("Int64")),
    "objects of numbers as ids": columns(IDS, lambda c: c.astype(int).astype(object)),
    "texts of python": columns(IDS, lambda c: c.astype("string[python]")),
    "texts of pyarrow": columns(IDS, lambda c: c.astype("string[pyarrow]")),
    "dtypes of pyarrow": as_arrow,
    "dictionaries of pyarrow": columns(IDS, dictionaries),
    "convert_dtypes": lambda frame: frame.convert_dtypes(),
    "nullable numbers": columns(NUMBERS, lambda c: c.astype("Float64")),
    "decimals": columns(NUMBERS, lambda c: c.map(lambda value: Decimal(str(value))).astype(object)),
    "bytes of the other order": columns(NUMBERS, lambda c: c.to_numpy().astype(c.dtype.newbyteorder(">"))),
    "a duplicate index": with_index(lambda count: [0] * count),
    "an index of texts": with_index(lambda count: [f"row {n}" for n in range(count)]),
    "a reversed index": with_index(lambda count: range(count, 0, -1)),
    "a MultiIndex": with_index(lambda count: pd.MultiIndex.from_arrays([range(count), ["x"] * count])),
    "ids in the index": in_index(*IDS),
    "an index called like a column": lambda frame: frame.rename_axis(index="query_id"),
    "further columns": lambda frame: frame.assign(**{"note": None, "0": 1}),
    "other names": lambda frame: frame.rename(columns=OTHER_NAMES),
}  # fmt: skip
"""Ways in which a frame reaches a function."""


def plain(result: Any) -> Any:
    """Frames and arrays as lists, for comparison."""
    if isinstance(result, pd.DataFrame | pd.Series):
        return plain(result.reset_index().to_dict("split")["data"])
    if isinstance(result, list | tuple):
        return [plain(each) for each in result]
    return repr(float(result)) if isinstance(result, int | float | np.number) else str(result)


def write_and_read(frame: pd.DataFrame) -> str:
    collection.write_qrels(frame, "qrels.txt")
    return Path("qrels.txt").read_text()


def by_run(form: Form) -> dict[str, pd.DataFrame]:
    return {str(name): form(of.drop(columns="run").reset_index(drop=True)) for name, of in RUNS.groupby("run")}


def listed(form: Form) -> list[Run]:
    return [Run(name, frame.rename(columns={"qid": IDS[0], "docno": IDS[1]})) for name, frame in by_run(form).items()]


def ranked(form: Form) -> list[Run]:
    """Ranked runs, each of whose frames was converted after it was ranked."""
    names = {"qid": IDS[0], "docno": IDS[1]}
    return [run._replace(frame=form(rank_run(run.frame)).rename(columns=names)) for run in listed(lambda frame: frame)]


def simulated(form: Form) -> Any:
    given = form(DOCUMENTS), form(TOPICS), form(QRELS), form(RUNS)
    return collection.simulate(*given, strategies=["loop-text", "depth"]).means().drop(columns="seconds")


PUBLIC: Mapping[str, Callable[[Form], Any]] = {
    "adjudicate": lambda form: collection.adjudicate(form(LABELS)).qrels,
    "agreement": lambda form: collection.agreement(form(LABELS), resamples=0).values,
    "assess_reusability": lambda form: (
        collection.assess_reusability(form(QRELS), form(RUNS), ["AP", "P@5"], with_bounds=True).left_out
    ),
    "compare": lambda form: collection.compare(form(QRELS), form(RUNS), ["AP", "nDCG@10"]).tests,
    "estimate": lambda form: collection.estimate(
        form(QRELS), form(RUNS), "P@5", pool=form(RUNS[RUNS["score"] > 0.4].reset_index(drop=True))
    ).table(),
    "evaluate_answers": lambda form: (
        collection.evaluate_answers(
            form(ANSWERS), nuggets=form(NUGGETS), nugget_assignments=form(ASSIGNMENTS), support=form(SUPPORT)
        ).values
    ),
    "evaluate": lambda form: collection.evaluate(form(QRELS), form(RUNS), ["AP", "P@5"], with_bounds=True).values,
    "explain": lambda form: collection.explain(form(QRELS), by_run(form)["bm25"], "AP", "302").ranks,
    "pool": lambda form: collection.pool(form(RUNS), "depth", depth=5),
    "simulate": simulated,
    "to_pyterrier": lambda form: collection.to_pyterrier(formats.in_memory.as_qrels(form(QRELS)))[
        ["qid", "docno", "label"]
    ],
    "write_qrels": lambda form: write_and_read(form(QRELS)),
}
"""Functions of ``import collection`` that take frames."""

OTHERS: Mapping[str, Callable[[Form], Any]] = {
    "a list of runs": lambda form: collection.evaluate(form(QRELS), listed(form), "AP").values,
    "runs by name": lambda form: collection.evaluate(form(QRELS), by_run(form), "AP").values,
    "pool of runs": lambda form: collection.pool(listed(form), "rrf", total=20),
    "measures.align": lambda form: measures.parse("AP")(
        measures.align(listed(form)[0].frame, formats.in_memory.as_qrels(form(QRELS)))
    ).tolist(),
    "reusability": lambda form: (
        reusability.assess(
            [run._replace(frame=rank_run(run.frame)) for run in listed(form)],
            formats.in_memory.as_qrels(form(QRELS)),
            ["AP"],
            rel=1,
        ).left_out
    ),
    "qrels of several": lambda form: (
        adjudication.compare(
            formats.in_memory.as_qrels(form(QRELS)),
            formats.in_memory.as_qrels(form(QRELS.iloc[::2].reset_index(drop=True))),
        ).confusion
    ),
    "rows of runs": lambda form: pooling.evidence(ranked(form)),
    "adaptive pooling": lambda form: [
        places.tolist() for places in list_rankings(ranked(form), "302", DOCUMENTS["doc_id"])
    ],
    "growth of a pool": lambda form: pooling.pool_growth(ranked(form), deepest=4),
    "preferences": lambda form: preferences.evaluate(ranked(form), PREFERENCES).values,
    "labels": lambda form: formats.write_labels(formats.in_memory.as_labels(form(LABELS)), "labels.csv"),
}
"""What else takes such frames."""


def test_every_function_that_takes_frames_is_here() -> None:
    functions = {name: getattr(collection, name) for name in dir(collection) if name[0].islower()}
    hints = {name: get_type_hints(function, localns={"pd": pd}) for name, function in functions.items()}
    taken = {
        name: {part for k, h in of.items() if k != "return" for part in (h, *get_args(h))} for name, of in hints.items()
    }
    assert {name for name, parts in taken.items() if pd.DataFrame in parts} == {*PUBLIC}


@pytest.mark.slow
@pytest.mark.parametrize("function", [*PUBLIC, *OTHERS])
def test_every_function_takes_frames_of_every_form(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = {**PUBLIC, **OTHERS}[function]
    wanted = plain(call(lambda frame: frame))
    for form, convert in FORMS.items():
        assert plain(call(convert)) == wanted, form


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", [object, "category", "as it is"])
@pytest.mark.parametrize("column", ["query_id", "doc_id", "score", "run"])
def test_a_missing_value_is_named(column: str, kind: Any, missing: Any) -> None:
    values = RUNS[column].tolist()
    values[3] = missing
    given = RUNS.assign(**{column: pd.Series(values, dtype=None if kind == "as it is" else kind)})
    with pytest.raises(InputError, match=f"row 4 has no {column}"):
        collection.evaluate(QRELS, given, "AP")


def test_frames_with_a_column_of_names_come_one_by_one_or_together() -> None:
    one, two = ({"query_id": "1", "doc_id": ["a", "b"], "score": scores} for scores in ([2.0, 1.0], [1.0, 2.0]))
    frames = [pd.DataFrame(one | {"run": "x"}), pd.DataFrame(two | {"system": "y"})]
    qrels = {"1": {"a": 1}}
    assert evaluate(qrels, frames, "RR").means()["RR"].to_dict() == {"x": 1.0, "y": 0.5}
    with pytest.raises(InputError, match="found DataFrame; name each run: {name: run}, or in a column run"):
        evaluate(qrels, [frame.iloc[:, :3] for frame in frames], "RR")
    together = pd.concat(frames)[["query_id", "doc_id", "score"]]
    with pytest.raises(InputError, match="found 'a' of topic '1' twice; name the runs in a column run"):
        evaluate(qrels, together, "RR")
