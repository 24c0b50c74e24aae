"""Malformed files of answers, nuggets and labels: each is read, or refused with its path; nothing else may happen."""

import contextlib
import copy
import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection import formats
from collection.core.errors import FormatError
from tests.collection.formats.test_answers import RECORDS, TABLES
from tests.collection.formats.test_fuzz import ODD, damaged, texts
from tests.collection.formats.test_nuggets import FORMS, labelled
from tests.collection.formats.test_support import record
from tests.helpers import cases

pytestmark = [pytest.mark.fuzz, pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")]

NUGGETS = pd.DataFrame(
    {
        "query_id": ["7", "7"], "nugget": ["1", "2"], "text": ["Wings lift.", "Flaps help."],
        "importance": ["vital", "okay"], "weight": [None, None],
    }
)  # fmt: skip
LABELS = "run,topic,nugget,grade\nr1,7,1,2\nr1,7,2,partial_support\n"
SUPPORT = "run\ttopic\tsentence\tdoc_id\tsupport\nr1\t7\t0\td1\t2\nr1\t7\t1\t\t\n"
MUTATIONS = cases(60, 3000)

READERS: dict[str, tuple[Callable[[Path], Any], list[Any], list[str]]] = {
    "answers": (formats.read_answers, list(RECORDS.values()), list(TABLES.values())),
    "nuggets": (
        formats.read_nuggets,
        [each for each, _, _ in FORMS.values()],
        ["topic\tnugget\ttext\tweight\n7\tn1\tWings lift.\t\n7\tn2\tIs rude.\t-2\n"],
    ),
    "assignments": (
        formats.read_nugget_assignments,
        [labelled("r1", "support", "historical"), labelled("r2", "not_support", "partial_support", answer_text="")],
        [],
    ),
    "known assignments": (
        partial(formats.read_nugget_assignments, nuggets=NUGGETS), [labelled("r1", "support", "support")], [LABELS],
    ),
    "support": (formats.read_support, [record(), record(run_id="r2")], [SUPPORT]),
}  # fmt: skip
"""Reader, valid records, and valid tables."""


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a record, and a key in it."""
    members = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [pair for key, each in members for pair in [(value, key), *places(each)]]


def mutated(rng: random.Random, sound: Any) -> Any:
    """A record with one to three members replaced, removed, renamed, repeated or wrapped."""
    changed = copy.deepcopy(sound)
    for _ in range(rng.randint(1, 3)):
        found = places(changed)
        if not found:
            break
        holder, key = rng.choice(found)
        edit = rng.randrange(6)
        if edit < 3:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif edit == 3:
            del holder[key]
        elif edit == 4 and isinstance(holder, dict):
            holder[str(rng.choice(ODD))] = holder.pop(key)
        elif edit == 5 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        else:
            holder[key] = rng.choice([[holder[key]], {"text": holder[key]}])
    return changed


def content(rng: random.Random, records: list[Any], tables: list[str]) -> tuple[str, bytes]:
    """The ending and the bytes of a file that had something done to it."""
    if tables and rng.random() < 0.3:
        table = rng.choice(tables)
        if table.startswith("{"):
            return ".jsonl", damaged(rng, table.encode())
        ending = ".tsv" if "\t" in table else ".csv"
        if rng.random() < 0.5:
            return ending, damaged(rng, table.encode())
        rows = list(csv.reader(io.StringIO(table), delimiter="\t" if ending == ".tsv" else ","))
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = str(rng.choice([each for each in ODD if each != "\0"]))
        file = io.StringIO()
        csv.writer(file, delimiter="\t" if ending == ".tsv" else ",").writerows(rows)
        return ending, file.getvalue().encode("utf-8", "surrogatepass")
    chosen = [rng.choice(records) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.7:
        chosen = [mutated(rng, each) if rng.random() < 0.6 else each for each in chosen]
    dumped = [json.dumps(each, ensure_ascii=rng.random() < 0.7) for each in chosen]
    text = f"[{', '.join(dumped)}]" if rng.random() < 0.15 else "\n".join(dumped)
    data = text.encode("utf-8", "surrogatepass")
    return rng.choice([".jsonl", ".json", ".txt"]), damaged(rng, data) if rng.random() < 0.4 else data


@pytest.mark.parametrize("name", READERS)
@pytest.mark.long
def test_malformed_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    read, records, tables = READERS[name]
    rng = random.Random(name)
    outcomes = {"read": 0, "refused": 0}
    for number in range(MUTATIONS):
        ending, data = content(rng, records, tables)
        path = tmp_path / f"file{ending}{rng.choice(['', '', '', '.gz'])}"
        path.write_bytes(gzip.compress(data, 1, mtime=0) if path.suffix == ".gz" else data)
        case, said = f"case {number} of {name}: {data!r}", ""
        try:
            found = read(path)
            for text in texts(found if isinstance(found, pd.DataFrame) else vars(found)):
                text.encode()
                assert "\0" not in text, case
        except FormatError as error:
            said = str(error)
        assert said == "" or (said.startswith(str(path)) and "\n" not in said), f"{case}: {said}"
        outcomes["refused" if said else "read"] += 1
        path.unlink()
    assert min(outcomes.values()) > MUTATIONS / 20, f"the cases should be of both kinds: {outcomes}"


@pytest.mark.parametrize("name", READERS)
def test_deeply_nested_members_are_left_alone_or_refused(tmp_path: Path, name: str) -> None:
    read, records, _ = READERS[name]
    path = tmp_path / "file.json"
    for levels in (300, 900):
        for opened, closed in (("[", "]"), ('{"a":', "}"), ('{"a":[', "]}")):
            deep = opened * levels + "1" + closed * levels
            for form in ('{%s, "more": %s}', '[{%s, "more": %s}]', '{"results": [{%s, "more": %s}]}'):
                path.write_text(form % (json.dumps(records[0])[1:-1], deep))
                with contextlib.suppress(FormatError):
                    read(path)
