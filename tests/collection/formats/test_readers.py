"""What every reader of files has in common: located refusals, bounded memory, text that can be written again."""

import gzip
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from collection import formats
from collection.campaign import Campaign
from collection.core.errors import ConflictError, FormatError, InputError
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.measures import align
from tests.helpers import fails, some

READERS: dict[str, Callable[[Path], Any]] = {
    "run": formats.read_run,
    "qrels": formats.read_qrels,
    "topics": formats.read_topics,
    "documents": lambda path: list(formats.read_documents(path)),
    "labels": formats.read_labels,
    "clicks": formats.read_clicks,
    "costs": formats.read_costs,
    "preferences": formats.read_preferences,
}
HEADED = [name for name in READERS if name not in ("run", "qrels")]
RECORDS = {
    "topics": {"query_id": "1", "title": "a"},
    "documents": {"doc_id": "d", "text": "a"},
    "labels": {"annotator": "a", "query_id": "1", "doc_id": "d", "relevance": 1},
    "clicks": {"query_id": "1", "doc_id": "d", "rank": 1, "shown": 1, "clicked": 0},
    "preferences": {"annotator": "a", "query_id": "1", "left": "d", "right": "e", "kind": "left"},
}
"""Readers of JSONL -> a record that is in order."""


@pytest.mark.parametrize("reader", HEADED)
def test_a_first_record_that_is_an_empty_field(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text('\n""\n')
    with pytest.raises(FormatError) as caught:
        READERS[reader](path)
    assert str(caught.value).startswith(f"{path}, line 2: expected ")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".run", ".xml"])
@pytest.mark.parametrize("reader", READERS)
def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, ending: str) -> None:
    monkeypatch.setattr("collection.formats.source.LONGEST_LINE", 5 << 20)
    path = tmp_path / f"file{ending}.gz"
    begin = {".jsonl": b'{"text": "', ".xml": b"<topic>"}.get(ending, b"")
    path.write_bytes(gzip.compress(begin + b"a" * (6 << 20), compresslevel=1))
    with pytest.raises(FormatError) as caught:
        READERS[reader](path)
    assert str(caught.value).startswith(f"{path}, line 1: expected ")
    if (reader, ending) != ("costs", ".run"):
        assert "MiB" in str(caught.value)


@pytest.mark.slow
def test_topics_in_markup_of_many_lines_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collection.formats.source.LONGEST_LINE", 1 << 20)
    path = tmp_path / "topics.xml.gz"
    path.write_bytes(gzip.compress(b"<topics>\n" + b"<topic>\n" * (1 << 18)))
    with pytest.raises(
        FormatError, match=r"topics.xml.gz, line \d+: expected at most 1 MiB of topics in markup, found more"
    ):
        formats.read_topics(path)


@pytest.mark.slow
def test_a_long_document_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"doc_id": "d", "text": "a" * (20 << 20)}) + "\n")
    ((_, document),) = formats.read_documents(path)
    assert len(document.text or "") == 20 << 20


@pytest.mark.parametrize("where", ["value", "name", "deep"])
@pytest.mark.parametrize("reader", RECORDS)
def test_half_a_surrogate_pair_in_json(tmp_path: Path, reader: str, where: str) -> None:
    record = dict(RECORDS[reader])
    if where == "value":
        record[next(iter(record))] = "x\ud800"
    elif where == "name":
        record["other\udfff"] = 1
    else:
        record["other"] = [{"a": ["\udbff"]}]
    path = tmp_path / "file.jsonl"
    path.write_text(json.dumps(RECORDS[reader]) + "\n" + json.dumps(record) + "\n")
    with pytest.raises(FormatError) as caught:
        READERS[reader](path)
    assert str(caught.value).startswith(f"{path}, line 2: expected text, found half a surrogate pair")


@pytest.mark.parametrize("reader", RECORDS)
def test_json_that_nests_deeply(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "file.jsonl"
    for depth in (900, 940, 960, 980, 5000):
        deep = "[" * depth + '"\\ud834\\udd1e"' + "]" * depth
        path.write_text(json.dumps(RECORDS[reader])[:-1] + f', "other": {deep}}}\n')
        with suppress(FormatError):
            READERS[reader](path)


@pytest.mark.parametrize("reader", RECORDS)
def test_a_null_id_in_json_is_refused(tmp_path: Path, reader: str) -> None:
    for name in some(set(RECORDS[reader]) & {"query_id", "doc_id", "left", "right", "annotator"}):
        path = tmp_path / "file.jsonl"
        path.write_text(json.dumps({**RECORDS[reader], name: None}) + "\n")
        with pytest.raises(FormatError) as caught:
            READERS[reader](path)
        assert caught.value.line == 1


def test_a_document_may_be_called_nan(tmp_path: Path) -> None:
    path = tmp_path / "file.run"
    path.write_text("1 Q0 nan 1 2 t\nNA Q0 null 1 2 t\n")
    assert formats.read_run(path).frame["doc_id"].tolist() == ["nan", "null"]


@pytest.mark.parametrize("null", [None, np.nan, pd.NA])
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_a_null_id_in_a_frame_never_becomes_the_document_nan(tmp_path: Path, column: str, null: Any) -> None:
    sound = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0], "score": [2.0, 1.0]})
    broken = sound.astype({column: object})
    broken.loc[1, column] = null
    for frame in (broken, broken.astype({column: "str"})):
        said = f"row 2 has no {column}"
        with pytest.raises(InputError, match=said):
            rank_run(frame)
        with pytest.raises(InputError, match=said):
            align(sound, frame)
        with pytest.raises(InputError, match=said):
            align(frame, sound)
        with pytest.raises(InputError, match=said):
            formats.write_run(Run("r", frame.assign(rank=1, listed=1)), tmp_path / "r")
        with pytest.raises(InputError, match=said):
            formats.write_labels(frame.assign(annotator="a"), tmp_path / "l.csv")


def test_a_run_whose_file_name_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"bm\xe925.run")
    try:
        path.write_text("1 Q0 a 1 2\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    with pytest.raises(FormatError, match="a file whose name is UTF-8"):
        formats.read_run(path)


def test_refusals_of_labels_and_costs_name_path_and_line(tmp_path: Path) -> None:
    labels, costs, qrels, run = (tmp_path / name for name in ("labels.csv", "costs.csv", "qrels", "a.run"))
    labels.write_text("annotator,query_id,doc_id,relevance\na,1,d,1\nb,1,d,7\n")
    said = fails("agreement", labels, "--grades", "0-3")
    assert f"{labels}, line 3: expected a grade of the scale (0, 1, 2, 3), found 7" in said
    labels.write_text("annotator,query_id,doc_id,relevance\n" + "".join(f"a,1,d{i},{i}\n" for i in range(2000)))
    assert str(labels) in fails("agreement", labels)
    costs.write_text("\nrun,price\n\nb,1\n")
    qrels.write_text("1 0 d 1\n")
    run.write_text("1 Q0 d 1 2 a\n")
    for command in ("evaluate", "compare"):
        frontier = ["--frontier", "price"] if command == "compare" else []
        said = fails(command, qrels, run, "--costs", costs, *frontier)
        assert f"{costs}, line 4: expected costs of one of the runs (a), found those of b" in said


def test_conflicts_of_labels_and_costs_name_path_and_line(tmp_path: Path) -> None:
    files = {
        "topics": ("t.tsv", "1\twings\n", ""),
        "labels": ("l.csv", "annotator,query_id,doc_id,relevance\nb,1,d,1\na,1,d,1\n", "a,1,d,1|a,1,d,0"),
        "costs": ("c.csv", "run,price\nx,1\ny,2\n", "y,2|y,3"),
        "qrels": ("q.txt", "1 0 d 1\n1 0 e 1\n", "e 1|e 0"),
    }
    for name, text, _ in files.values():
        (tmp_path / name).write_text(text)
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(**{kind: tmp_path / name for kind, (name, _, _) in files.items()})
        for kind, (name, text, change) in files.items():
            if change:
                (tmp_path / name).write_text(text.replace(*change.split("|")))
                line = 2 if kind == "qrels" else 3
                with pytest.raises(ConflictError) as caught:
                    campaign.imports.import_files(**{kind: tmp_path / name})
                assert str(caught.value).startswith(f"{tmp_path / name}, line {line}: ")
