"""Malformed files: each is read, or refused with its path and the line; nothing else may happen.

`make test` tries 1,200 files, `make test-long` 9,600 and `make fuzz` 48,000.
"""

import csv
import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import rispy

from collection import comparison, formats
from collection.core.errors import CleverdonError, FormatError
from collection.measures import MEASURES, parse
from tests.collection.formats.test_references import BIB, CIW, ENDNOTE, NBIB
from tests.collection.formats.test_trec_text import WSJ
from tests.helpers import cases

MEASURED = [parse(m) for m in ("nDCG@10", "AP", "bpref", "infAP", "RR(rel=2)", "RBP", "Judged@10")]
WORDS = (
    "nan", "NaN", "inf", "-inf", "1e999", "-1e999", "1e-999", "0x10", "1_000", "1,5", "abc", "", "+1", "01", "-0.0",
    ".5", "5.", "-1", "-2", "127", "2147483648", "-9223372036854775808", "99999999999999999999", "1.5", "Q0", "#",
    "é", "文件", "\u00a0", "\u2028", "\ufeff", "٣", "a" * 5000, "'", '"', "\\", "\x0b", "\x7f", "all",
)  # fmt: skip
BYTES = (b"\x00", b"\xff", b"\xe9", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b" ", b"\x1a", b"\xc3", b"\xed\xa0\x80", b"#")


pytestmark = pytest.mark.fuzz
SEEDS = range(6)
FILES = cases(100, 4000)  # malformed runs and qrels of each seed
MUTATIONS = cases(86, 3429)  # malformed files for each of the seven readers of records

FORMS = ("run", "judged", "judged", "judged", "strata", "subtopics", "probabilities")


def sound(rng: random.Random, form: str) -> list[list[str]]:
    """Rows of a file that nothing is wrong with; now and then all its grades are negative."""
    rows = []
    highest = rng.choice([3] * 9 + [-1])
    for topic in range(rng.randint(1, 3)):
        for place, doc in enumerate(rng.sample(range(12), rng.randint(1, 8))):
            row = [str(topic), "0", f"d{doc}", str(rng.randint(-2, highest))]
            if form == "run":
                row = [str(topic), "Q0", f"d{doc}", str(place + 1), f"{9 - place / 2:.3f}", "tag"]
            elif form == "strata":
                row.insert(3, rng.choice("ab"))
            elif form == "probabilities":
                row.append(rng.choice(["1", "0.25"]))
            rows.append(row)
    return rows


def replaced(rng: random.Random, rows: list[list[str]]) -> None:
    row = rng.choice(rows)
    row[rng.randrange(len(row))] = rng.choice(WORDS)


def dropped(rng: random.Random, rows: list[list[str]]) -> None:
    row = rng.choice(rows)
    del row[rng.randrange(len(row))]
    if not row:
        rows.remove(row)


def widened(rng: random.Random, rows: list[list[str]]) -> None:
    rng.choice(rows).insert(rng.randrange(4), rng.choice(WORDS))


def doubled(rng: random.Random, rows: list[list[str]]) -> None:
    rows.insert(rng.randrange(len(rows) + 1), list(rng.choice(rows)))


def shuffled(rng: random.Random, rows: list[list[str]]) -> None:
    rng.shuffle(rows)


def headed(rng: random.Random, rows: list[list[str]]) -> None:
    rows.insert(
        0, rng.choice([["query-id", "corpus-id", "score"], ["query_id", "doc_id"], ["#", "a"], [""], ["{", "}"]])
    )


EDITS: tuple[Callable[[random.Random, list[list[str]]], None], ...] = (
    replaced, replaced, dropped, widened, doubled, shuffled, headed,
)  # fmt: skip


def malformed(rng: random.Random, form: str) -> bytes:
    """A file that had one to four things done to it."""
    rows = sound(rng, form)
    for _ in range(rng.randint(1, 3)):
        if rows:
            rng.choice(EDITS)(rng, rows)
    gap = rng.choice([" ", " ", " ", "\t", "  ", " \t"])
    data = rng.choice(["\n", "\n", "\r\n"]).join(gap.join(row) for row in rows).encode()
    data += rng.choice([b"\n", b"\n", b"", b"\r\n", b"\n\n"])
    if rng.random() < 0.4:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(BYTES) + data[at + rng.randint(0, 1) :]
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    if rng.random() < 0.1:
        data = gzip.compress(data, mtime=0)
        if rng.random() < 0.5 and len(data) > 3:
            at = rng.randrange(2, len(data))
            data = rng.choice([data[:at], data[:at] + b"\x99" + data[at + 1 :]])
    return data


def read(path: Path, form: str) -> Any:
    return formats.read_run(path) if form == "run" else formats.read_qrels(path, form=form)


def outcome(path: Path, form: str, partners: dict[str, Any]) -> str:
    """What comes of a file, evaluated together with a sound one of the other kind: "value", or the error's text."""
    try:
        frame = read(path, form)
        run, qrels = (frame, partners["judged"]) if form == "run" else (partners["run"], frame)
        values = comparison.evaluate([run], qrels, MEASURED, strangers=True).values["value"]
    except FormatError as error:
        placed = error.line is not None or any(word in str(error) for word in ("only blank lines", "empty", "header"))
        return str(error) if placed and str(path) in str(error) else f"without its place: {error}"
    except CleverdonError as error:
        return str(error)
    return "value" if np.isfinite(values).all() else f"values {list(values)}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_malformed_files_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "some.file"
    partners = {}
    for form in ("run", "judged"):
        path.write_text("".join(" ".join(row) + "\n" for row in sound(random.Random(99), form)))
        partners[form] = read(path, form)
    count = {"value": 0, "refused": 0}
    for number in range(FILES):
        form = FORMS[number % len(FORMS)] if number % 2 else "run"
        path.write_bytes(malformed(rng, form))
        found = outcome(path, form, partners)
        case = f"case {number} of seed {seed} ({form}): {found}"
        assert "\n" not in found, case
        assert not found.startswith(("without its place", "values")), case
        count["value" if found == "value" else "refused"] += 1
    assert min(count.values()) > FILES / 10, f"the cases should be of both kinds: {count}"


# Readers of records ---------------------------------------------------------------------------------

RECORDS: dict[str, dict[str, Any]] = {
    "topics": {"query_id": "1", "title": "wings", "description": "flow", "narrative": ""},
    "documents": {"doc_id": "d1", "title": "wings", "text": "flow past a wing", "year": 1957},
    "labels": {"annotator": "ann", "query_id": "1", "doc_id": "d1", "relevance": 2},
    "log": {
        "annotator": "ann", "query_id": "1", "doc_id": "d1", "relevance": 2, "kind": "graded", "counts_as": "judgement",
    },
    "clicks": {"query_id": "1", "doc_id": "d1", "rank": 1, "shown": 9, "clicked": 3},
    "costs": {"run": "bm25", "latency_ms": 12.5, "hardware": "1 CPU"},
    "preferences": {"annotator": "ann", "query_id": "1", "left": "d1", "right": "d2", "kind": "left", "seconds": 2.5},
}  # fmt: skip
"""Reader -> a record that is in order."""

RECORD_READERS: dict[str, Callable[[Path], Any]] = {
    "topics": formats.read_topics,
    "documents": lambda path: [document for _, document in formats.read_documents(path)],
    "labels": formats.read_labels,
    "log": formats.read_labels,
    "clicks": formats.read_clicks,
    "costs": formats.read_costs,
    "preferences": formats.read_preferences,
}
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1.5, 1e300, 10**30, "", " ", "nan", "null", "\ud800", "a\udfff", "\U0001f600", "\0", "\r",
    "a b", [], {}, [None], {"a": "\udc00"}, [["\ud83d"]], "=1+1", "\u202e", *WORDS,
)  # fmt: skip
"""What a field may hold instead."""

FIRST = (
    b'""\n',
    b'""',
    b"\n\n",
    b"''\n",
    b"{}\n",
    b"[]\n",
    b"null\n",
    b'"x"\n',
    b'{"a":\n',
    b"\xef\xbb\xbf\n",
    b",,\n",
    b"\t\n",
    b"<\n",
)
"""What may stand before the first record."""


def records(rng: random.Random, reader: str) -> list[dict[str, Any]]:
    """Records of a file, with one to three things done to them."""
    rows = []
    for number in range(rng.randint(0 if rng.random() < 0.1 else 1, 5)):
        row = dict(RECORDS[reader])
        for name in ("query_id", "doc_id", "run", "left"):
            if name in row:
                row[name] = f"{row[name]}{number}"
        rows.append(row)
    if "relevance" in RECORDS[reader] and rng.random() < 0.1:
        rows = [{**row, "relevance": -rng.randint(1, 3)} for row in rows]
    for _ in range(rng.randint(0, 3)):
        row = rng.choice(rows) if rows else {}
        name = rng.choice([*RECORDS[reader], "kind", "images", "other"])
        edit = rng.randrange(6)
        if edit < 3:
            row[name] = rng.choice(ODD)
        elif edit == 3:
            row.pop(name, None)
        elif edit == 4:
            row[str(rng.choice([*WORDS, "a\ud800", name.upper()]))] = row.pop(name, 1)
        elif rows:
            rows.insert(rng.randrange(len(rows) + 1), dict(rng.choice(rows)))
    return rows


def written(rng: random.Random, reader: str, form: str) -> bytes:
    """A file of records in a form, then perhaps damaged as bytes."""
    rows = records(rng, reader)
    if form == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=rng.random() < 0.7) + "\n" for row in rows)
    elif form == ".xml":
        start, end = rng.choice(
            [("<top>\n<num> {} <title> {}\n", "</top>\n"), ("<topic number='{}'><title>{}", "</title></topic>\n")]
        )
        text = "".join(start.format(row.get("query_id"), row.get("title")) + end for row in rows)
        text = f"<topics>{text}</topics>" if rng.random() < 0.5 else text
    else:
        file = io.StringIO()
        writer = csv.writer(file, delimiter="," if form == ".csv" else "\t", quoting=rng.choice([0, 0, 1]))
        try:
            writer.writerows([list(rows[0] if rows else RECORDS[reader])] * (rng.random() < 0.95))
            writer.writerows([list(row.values()) for row in rows])
        except csv.Error:
            pass  # what the module cannot write is written half
        text = file.getvalue()
    data = text.encode("utf-8", rng.choice(["replace", "surrogatepass"]))
    if rng.random() < 0.15:
        data = rng.choice(FIRST) + (data if rng.random() < 0.5 else b"")
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randrange(len(data) + 1)
        data = (
            data[:at]
            + rng.choice([*BYTES, b'"', b",", b"{", b"}", b"<", b"&#x110000;", b"\\ud800"])
            + data[at + rng.randint(0, 2) :]
        )
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    if rng.random() < 0.05:  # one endless line
        data = data.replace(b"\n", b" ").replace(b"\r", b" ") + rng.choice([b"a", b"[", b'"', b"1,"]) * LONGEST
    if rng.random() < 0.15:
        data = gzip.compress(data, 1, mtime=0)
        if rng.random() < 0.3:
            at = rng.randrange(2, len(data))
            data = rng.choice([data[:at], data[:at] + b"\x99" + data[at + 1 :]])
    return data


LONGEST = 200_000
"""Bytes in a line while readers are tried: their own limit would take minutes to reach so often."""


def texts(found: Any) -> Iterator[str]:
    """Every text in what was read."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for key, value in found.items():
            yield from texts(key)
            yield from texts(value)
    elif isinstance(found, list | tuple):
        for value in found:
            yield from texts(value)
    elif hasattr(found, "to_dict"):
        yield from texts(found.to_dict("records"))


def read_or_refused(reader: str, path: Path) -> tuple[Any, str, bool]:
    """What was read; or the error's text, and whether it names a line."""
    try:
        return RECORD_READERS[reader](path), "", False
    except FormatError as error:
        return None, str(error), error.line is not None


@pytest.mark.parametrize("reader", RECORDS)
def test_malformed_records_are_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    """What is read can be written again; what is refused has a path and, unless the whole file is meant, a line."""
    monkeypatch.setattr("collection.formats.source.LONGEST_LINE", LONGEST // 2)
    rng = random.Random(reader)
    count = {"read": 0, "refused": 0}
    for number in range(MUTATIONS):
        form = rng.choice([".jsonl", ".csv", ".tsv"] + [".xml"] * (reader == "topics"))
        path = tmp_path / f"file{rng.choice([form, form, form, '.txt'])}{rng.choice(['', '', '.gz'])}"
        path.write_bytes(written(rng, reader, form))
        case = f"case {number} of {reader}{form}"
        found, said, placed = read_or_refused(reader, path)
        if said:
            assert said.startswith(str(path)), f"{case}: {said}"
            assert "\n" not in said, f"{case}: {said}"
            assert placed or any(w in said for w in ("empty file", "only blank lines", "no topics", "no entries")), (
                f"{case}: {said}"
            )
        for text in texts(found):
            text.encode()  # half a surrogate pair could not be written
            assert "\0" not in text, case
        count["refused" if said else "read"] += 1
        path.unlink()
    assert min(count.values()) > MUTATIONS / 20, f"the cases should be of both kinds: {count}"


# Files of other programs ------------------------------------------------------------------------------


def sound_files(folder: Path) -> dict[str, tuple[Callable[[Path], Any], bytes]]:
    """Name -> the reader, and a valid file."""

    def read(path: Path) -> list[Any]:
        return [document for _, document in formats.read_documents(path)]

    book = openpyxl.Workbook()
    for row in (["doc_id", "title", "text"], ["d1", "wings", "flow"], ["d2", "heat", "slab"]):
        book.active.append(row)
    book.save(folder / "d.xlsx")
    exports = Path(__file__).parent / "exports"
    records = [
        {"type_of_reference": "JOUR", "title": f"wings {n}", "year": "2019", "doi": f"10.5555/{n}"} for n in "ab"
    ]
    return {
        "a.ris": (read, rispy.dumps(records).encode()),
        "a.nbib": (read, NBIB.encode()),
        "a.bib": (read, BIB.encode()),
        "a.ciw": (read, CIW.encode()),
        "a.xml": (read, ENDNOTE.encode()),
        "a.trec": (read, WSJ.encode()),
        "d.xlsx": (read, (folder / "d.xlsx").read_bytes()),
        "l.json": (partial(formats.read_labels, names={"relevant": 1}), (exports / "label_studio.json").read_bytes()),
        "l.csv": (partial(formats.read_labels, query_id="1"), (exports / "asreview.csv").read_bytes()),
        "q.jsonl": (formats.read_qrels, b'{"query-id": "1", "corpus-id": "d1", "score": 2}\n' * 2),
    }  # fmt: skip


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The file with one to four pieces of it replaced, by some of its own or by signs of its form; or cut off."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        there = data[rng.randrange(len(data)) :][: rng.randint(0, 30)]
        piece = rng.choice(
            [*BYTES, there, b"<", b"</", b"]]>", b"&#0;", b"&e;", b"TY  - ", b"ER  - ", b'"', b"{", b"}"]
        )
        data = data[:at] + piece + data[at + rng.randint(0, 12) :]
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", ["a.ris", "a.nbib", "a.bib", "a.ciw", "a.xml", "a.trec", "d.xlsx", "l.json", "l.csv", "q.jsonl"]
)
def test_damaged_files_of_other_programs_are_read_or_refused(tmp_path: Path, name: str) -> None:
    reader, sound = sound_files(tmp_path)[name]
    rng, refused = random.Random(name), 0
    for number in range(cases(60, 3000)):
        data = damaged(rng, sound)
        path = tmp_path / (f"{name}.gz" if rng.random() < 0.1 else name)
        path.write_bytes(gzip.compress(data, 1, mtime=0) if path.suffix == ".gz" else data)
        case, said = f"case {number} of {name}", ""
        try:
            for text in texts(reader(path)):
                text.encode()
                assert "\0" not in text, case
        except FormatError as error:
            said = str(error)
        assert said == "" or (said.startswith(str(path)) and "\n" not in said), f"{case}: {said}"
        refused += bool(said)
    assert refused


@pytest.mark.parametrize("seed", range(3))
def test_malformed_measures_are_refused_in_one_line(seed: int) -> None:
    rng = random.Random(seed)
    names = [e.name for e in MEASURES]
    refused = 0
    for _ in range(300):
        text = rng.choice(names) + rng.choice(["", f"({rng.choice(WORDS)}={rng.choice(WORDS)})", "(", ")", "(rel=2"])
        text += rng.choice(["", "@", "@10", "@0.5", "@-1", f"@{rng.choice(WORDS)}", "@1@2"])
        try:
            measure = parse(text)
        except CleverdonError as error:
            refused += "\n" not in str(error)
        else:
            assert parse(str(measure)) == measure
            refused += 1
    assert refused == 300
