"""Twelve thousand malformed files: each is read, or refused with its path and the line; nothing else may happen."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collection import comparison, formats
from collection.errors import CleverdonError, FormatError
from collection.measures import MEASURES, parse

MEASURED = [parse(m) for m in ("nDCG@10", "AP", "bpref", "infAP", "RR(rel=2)", "RBP", "Judged@10")]
WORDS = (
    "nan", "NaN", "inf", "-inf", "1e999", "-1e999", "1e-999", "0x10", "1_000", "1,5", "abc", "", "+1", "01", "-0.0",
    ".5", "5.", "-1", "-2", "127", "2147483648", "-9223372036854775808", "99999999999999999999", "1.5", "Q0", "#",
    "é", "文件", "\u00a0", "\u2028", "\ufeff", "٣", "a" * 5000, "'", '"', "\\", "\x0b", "\x7f", "all",
)  # fmt: skip
BYTES = (b"\x00", b"\xff", b"\xe9", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b" ", b"\x1a", b"\xc3", b"\xed\xa0\x80", b"#")


FORMS = ("run", "judged", "judged", "judged", "strata", "subtopics", "probabilities")


def sound(rng: random.Random, form: str) -> list[list[str]]:
    """Rows of a file that nothing is wrong with."""
    rows = []
    for topic in range(rng.randint(1, 3)):
        for place, doc in enumerate(rng.sample(range(12), rng.randint(1, 8))):
            row = [str(topic), "0", f"d{doc}", str(rng.randint(-2, 3))]
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
        placed = error.line is not None or any(word in str(error) for word in ("nothing", "empty", "header"))
        return str(error) if placed and str(path) in str(error) else f"without its place: {error}"
    except CleverdonError as error:
        return str(error)
    return "value" if np.isfinite(values).all() else f"values {list(values)}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_malformed_files_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Two thousand a seed: twelve thousand runs and qrels in all."""
    rng = random.Random(seed)
    path = tmp_path / "some.file"
    partners = {}
    for form in ("run", "judged"):
        path.write_text("".join(" ".join(row) + "\n" for row in sound(random.Random(99), form)))
        partners[form] = read(path, form)
    count = {"value": 0, "refused": 0}
    for number in range(2000):
        form = FORMS[number % len(FORMS)] if number % 2 else "run"
        path.write_bytes(malformed(rng, form))
        begun = time.monotonic()
        found = outcome(path, form, partners)
        case = f"case {number} of seed {seed} ({form}): {found}"
        assert "\n" not in found, case
        assert not found.startswith(("without its place", "values")), case
        assert time.monotonic() - begun < 20, f"{case}: hangs"
        count["value" if found == "value" else "refused"] += 1
    assert min(count.values()) > 200, f"the cases should be of both kinds: {count}"


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
