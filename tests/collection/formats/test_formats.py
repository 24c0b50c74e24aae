"""Files to frames and back; every bad input by name, with its line."""

import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from collection.core.errors import ColumnsError, FormatError, InputError, UnknownNameError
from collection.core.records import Document, Judgement
from collection.formats import (
    CHECKSUMS,
    find_pair_line,
    name_runs,
    qrels,
    read_costs,
    read_documents,
    read_qrels,
    read_run,
    read_runs,
    read_topics,
    replacing_folder,
    run,
    write_judgements,
    write_lines,
    write_pool,
    write_qrels,
)
from collection.formats.tables import strict
from collection.formats.tables.duplicate_pairs import FEW_KEYS, MANY_KEYS, has_duplicate_keys, hash_texts
from collection.formats.tables.fast import read_quickly
from tests.helpers import ROOT, SHARED, THOROUGH, cases, join, reads_proc, some

READERS = {
    "run": read_run,
    "qrels": read_qrels,
    "topics": read_topics,
    "documents": lambda path: list(read_documents(path)),
}


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="file.txt"):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


def rows(frame):
    return list(frame.itertuples(index=False, name=None))


def plain(frame):
    return frame.astype({"query_id": "str", "doc_id": "str"})


# Runs -----------------------------------------------------------------------------------------------

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 3 bm25\nq2 Q0 d1 1 -1e-3 bm25\n"
RUN_ROWS = [("q1", "d2", 3.0, 1, 1), ("q1", "d1", 2.5, 2, 2), ("q2", "d1", -0.001, 1, 1)]


@pytest.mark.parametrize(
    "content",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace("\n", "\r\n"),
        RUN.rstrip("\n"),
        RUN.rstrip("\n").replace("\n", "\r\n"),
        RUN.replace(" ", " \t "),
        "  " + RUN.replace("\n", " \n"),
        RUN.replace("bm25\n", "bm25 more here\n"),
        RUN.replace("bm25\n", "bm25 more here\n", 1),
        "# made by hand\n\n" + RUN.replace("\n", "\n\n  # note\n", 1),
        "\ufeff" + RUN,
        "\ufeff# first\n" + RUN,
        RUN.replace("2.5", "+2.5"),
    ],
)
@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
def test_run_in_every_dress(write, content, name):
    made = read_run(write(content, name))
    assert made.name == "bm25"
    assert rows(made.frame) == RUN_ROWS
    assert made.frame.dtypes.astype(str).tolist() == ["category", "str", "float64", "int32", "int32"]


def test_writing_into_a_pipe_or_through_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_lines(["new"], tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new\n"
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_lines(["through"], tmp_path / "pipe")
    join(reader, "the end of the pipe")
    assert read == ["through\n"]
    assert (tmp_path / "pipe").is_fifo()


def test_numbers_that_no_answer_could_carry_are_refused(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "a", "text": "t"}\n{"id": "b", "text": "t", "weight": 1e999}\n')
    with pytest.raises(FormatError, match=r"d\.jsonl, line 2: .*1e999"):
        list(read_documents(tmp_path / "d.jsonl"))


def test_the_line_of_a_pair_whatever_the_iteration_column_says(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n1 0 0 9\n")
    assert find_pair_line(tmp_path / "q", "1", "0") == 2
    assert find_pair_line(tmp_path / "q", "1", "nowhere") is None


def test_gzip_is_known_by_its_content(write):
    assert rows(read_run(write(gzip.compress(RUN.encode()), "plain.run")).frame) == RUN_ROWS
    assert rows(read_run(write(gzip.compress(RUN.encode()), "a.run")).frame) == RUN_ROWS


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("bm25.run.gz", "bm25"),
        ("bm25.txt", "bm25"),
        ("a.b.trec", "a.b"),
        ("x.dat", "x.dat"),
        (".run", ".run"),
    ],
)
def test_a_run_without_tags_is_named_after_its_file(write, name, wanted):
    assert read_run(write("q Q0 d 1 2\nq q0 e 2 1\n", name)).name == wanted


def test_run_keeps_odd_ids(write):
    text = "Ω Q0 it's\"x 1 3 t\nΩ Q0 NA 2 2 t\nnull Q0 文书\u00a0x 3 1 t\n007 Q0 nan 1 1 t\n"
    ids = rows(read_run(write(text)).frame[["query_id", "doc_id"]])
    assert ids == [("Ω", "it's\"x"), ("Ω", "NA"), ("null", "文书\u00a0x"), ("007", "nan")]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1e999", math.inf),
        ("-1e999", -math.inf),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("INF", math.inf),
        (".5", 0.5),
        ("5.", 5.0),
        ("+1E+2", 100.0),
        ("5e-324", 5e-324),
        ("-0.0", 0.0),
        ("0.1000000000000000055511151231257827", 0.1),
        ("00012", 12.0),
    ],
)
def test_scores_that_are_numbers(write, text, score):
    assert read_run(write(f"q Q0 d 1 {text} t\n")).frame["score"].tolist() == [score]


GOOD = "q Q0 d1 1 2.0 t\n"
BAD_RUNS = {
    "a short line": (GOOD + "q Q0 d2 2 1.0\n", 2, "6 columns"),
    "a short line after comments": ("# x\n\n" + GOOD + "\n#y\nq Q0 d2\n", 6, "3 columns"),
    "a short line in CRLF": ("# x\r\n\r\n" + GOOD.replace("\n", "\r\n") + "q Q0 d2\r\n", 4, "3 columns"),
    "a tag after lines without": ("q Q0 d 1 2\nq Q0 e 2 1 tag\n", 2, "found 6 columns"),
    "text as score": (GOOD + "q Q0 d2 2 abc t\n", 2, "found 'abc'"),
    "an underscore in the score": (GOOD + "q Q0 d2 2 1_000 t\n", 2, "'1_000'"),
    "a hexadecimal score": (GOOD + "q Q0 d2 2 0x10 t\n", 2, "'0x10'"),
    "a decimal comma": (GOOD + "q Q0 d2 2 1,5 t\n", 2, "decimals with a point"),
    "digits of another script": (GOOD + "q Q0 d2 2 ١٢ t\n", 2, "score"),
    "an empty score": (GOOD + "q\tQ0\td\t1\t\tt\n", 2, "found 5 columns"),
    "an empty score in the first line": ("q\tQ0\td\t1\t\tt\n", 1, "a number as score"),
    "NaN": (GOOD * 1 + "q Q0 d2 2 NaN t\n", 2, "NaN cannot be ranked"),
    "minus nan": ("q Q0 d2 2 -nan t\n", 1, "'-nan'"),
    "a duplicate": (GOOD + "# c\nr Q0 d1 1 1 t\nq Q0 d1 9 1 t\n", 4, "first in line 1"),
    "a second tag": (GOOD + "\nq Q0 d2 2 1 u\n", 3, "split the file"),
    "a NUL byte": (GOOD + "q Q0 d\0 2 1 t\n", 2, "NUL byte"),
    "a NUL byte in a comment": (GOOD + "#\0\n", 2, "NUL byte"),
    "Latin-1": (GOOD.encode() + "q Q0 café 2 1 t\n".encode("latin-1"), 2, "byte 0xE9"),
    "Latin-1 in an ignored column": (b"q Q0 d 1 1 t caf\xe9\n", 1, "byte 0xE9"),
    "an empty file": ("", None, "an empty file"),
    "nothing but a byte order mark": ("\ufeff", None, "only"),
    "only comments": ("# a\n\n  # b\n", None, "only blank lines and comments"),
    "line ends of an old Mac": (GOOD.replace("\n", "\r") * 2, 1, "lone carriage return"),
    "qrels": ("q 0 d 1\n", 1, "qrels.*pass it as qrels"),
    "qrels with a header": ("query-id\tcorpus-id\tscore\nq\td\t1\n", 1, "pass it as qrels"),
    "topics": ("query_id\ttitle\tdescription\tnarrative\n", 1, "expected 6 columns .* found 4 columns"),
    "stratified qrels": ("q 0 d 2 1\n", 1, "Q0 in the second column"),
    "a marker that changes": ("q Q0 d 1 2\nq 0 e 2 1\n", 2, "expected Q0"),
    "MS MARCO's three columns": ("1 22 1\n", 1, "MS MARCO"),
    "one column": ("word\n", 1, "found 1 column:"),
}
BAD_QRELS = {
    "a short line": ("q 0 d 1\nq 0 d2\n", 2, "4 columns"),
    "text as grade": ("q 0 d 1\n\nq 0 d2 abc\n", 3, "found 'abc'"),
    "an infinite grade": ("q 0 d inf\n", 1, "grade"),
    "a grade beyond 64 bits": ("q 0 d 99999999999999999999\n", 1, "grade"),
    "an exponent beyond everything": ("q 0 d 1e999\n", 1, "grade"),
    "NaN": ("q 0 d nan\n", 1, "'nan'"),
    "an underscore": ("q 0 d 1_0\n", 1, "'1_0'"),
    "a duplicate": ("q 0 d 1\nq 0 e 1\nq 0 d 2\n", 3, "first in line 1"),
    "a duplicate under BEIR's header": ("query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t0\n", 3, "in line 2"),
    "a run": (GOOD, 1, "a run.*pass it as a run"),
    "a run with 0 for Q0": ("q 0 d 1 2.0 t\n", 1, "a run"),
    "a run below qrels": ("q 0 d 1 x y\nq Q0 d2 1 2.0 t\n", 2, "a run"),
    "three columns": ("q d 1\n", 1, "need the header"),
    "another header": ("query_id Q0 doc_id relevance\n", 1, "without a header, found a header"),
    "four columns under BEIR's header": ("query-id\tcorpus-id\tscore\nq\td x\t1\n", 2, "found 4 columns"),
    "a header alone": ("query-id\tcorpus-id\tscore\n", None, "only a header"),
    "a NUL byte": ("q 0 d 1\nq 0 \0 1\n", 2, "NUL"),
    "Latin-1": (b"q 0 d 1\nq 0 \xe9 1\n", 2, "byte 0xE9"),
    "an empty file": ("", None, "an empty file"),
    "only comments": ("#\n", None, "only"),
}


def refused(reader, path, line, text):
    with pytest.raises(FormatError) as caught:
        READERS.get(reader, reader)(path)
    assert caught.value.line == line
    where = str(path) if line is None else f"{path}, line {line}"
    assert str(caught.value).startswith(where + ": expected ")
    assert re.search(text, str(caught.value).replace(str(path), "PATH"), re.DOTALL)
    assert len(caught.value.found) < 220


@pytest.mark.parametrize("reader", READERS)
def test_no_file_at_all(tmp_path, reader):
    refused(reader, tmp_path / "absent", None, "no such file")
    refused(reader, tmp_path, None, "a directory|a folder without PDF, HTML, Markdown or text files")
    refused(reader, Path("/dev/null"), None, "a device")


@pytest.mark.parametrize("reader", READERS)
def test_empty_files_and_damaged_gzip(write, reader):
    refused(reader, write("", "empty"), None, "an empty file")
    refused(reader, write(" \n\n", "blank"), None, "only blank")
    refused(reader, write("", "empty.gz"), None, "an empty file")
    refused(reader, write(b"\x1f\x8b", "stub"), 1, "damaged data")


@pytest.mark.slow
def test_truncated_gzip_gives_the_line_where_it_breaks_off(write):
    text = "".join(f"q Q0 d{i * 7919 % 10007} {i} {-i} t\n" for i in range(9000))
    cut = write(gzip.compress(text.encode())[:-3000], "cut.run")
    with pytest.raises(FormatError, match="damaged data") as caught:
        read_run(cut)
    assert 5000 < caught.value.line < 9000
    spoilt = bytearray(gzip.compress(text.encode()))
    spoilt[-6] ^= 255  # the checksum
    with pytest.raises(FormatError, match="damaged data"):
        read_run(write(bytes(spoilt), "spoilt.run"))


@pytest.mark.slow
def test_an_error_after_many_blocks(write, monkeypatch):
    monkeypatch.setattr("collection.formats.source.CHUNK", 1000)
    lines = [f"q{i // 50} Q0 d{i} {i} {-i}.5 t\n" for i in range(3000)]
    assert len(read_run(write("".join(lines))).frame) == 3000
    lines[2500] = "q50 Q0 d2500 1 x t\n"
    refused("run", write("".join(lines)), 2501, "'x'")
    lines[2500] = lines[2499]
    refused("run", write("".join(lines)), 2501, "first in line 2500")


# The quick reader and the authority -----------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0 \t\n\r"), min_size=1, max_size=4)
NUMBERS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-5, 5).map(str),
    st.sampled_from(["+1", "01", "1.", ".5", "1e5", "-0", "inf", "1e999", "nan", "1_0", "0x1", "x", "1d5", "١"]),
)
GAPS = st.sampled_from([" ", " ", "\t", "  ", " \t"])


@st.composite
def files(draw, graded):
    kind = draw(st.sampled_from(["neat", "tabs", "mixed"]))
    width = draw(st.sampled_from([4, 5] if graded else [5, 6, 6, 8]))
    numbers = st.integers(-2, 3).map(str) if draw(st.booleans()) else NUMBERS
    text = draw(st.sampled_from(["", "", "\ufeff"]))
    for _ in range(draw(st.integers(1, 12))):
        words = [draw(st.sampled_from(["1", "Ω", "q"])), "Q0", draw(WORDS)]
        words += [draw(numbers)] if graded else ["1", draw(numbers), "tag"]
        words = (words + ["x"] * 3)[:width]
        gaps = {"neat": st.just(" "), "tabs": st.just("\t"), "mixed": GAPS}[kind]
        line = "".join(w + draw(gaps) for w in words[:-1]) + words[-1]
        if kind == "mixed":
            line = (
                draw(st.sampled_from(["", "", " ", "\n", "# note\n"])) + line + draw(st.sampled_from(["", " ", "\r"]))
            )
        text += line + "\n"
    return text.removesuffix("\n") if draw(st.booleans()) else text


def as_known(made):
    return [
        (made.topic_names[q], d, v) for q, d, v in zip(made.topics, made.documents, made.values.tolist(), strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("module", [run, qrels])
@pytest.mark.long
def test_what_the_quick_reader_reads_the_authority_reads_alike(tmp_path_factory, monkeypatch, module):
    path = tmp_path_factory.mktemp("same") / "file"
    quick_reads = 0

    @given(text=files(module is qrels), block=st.sampled_from([1, 30, 1 << 20]))
    @settings(max_examples=cases(80, 250))
    def same(text, block):
        nonlocal quick_reads
        monkeypatch.setattr("collection.formats.source.CHUNK", block)
        path.write_bytes(text.encode())
        try:
            layout = module.find_layout(path)
        except FormatError:
            return
        quick = read_quickly(path, layout)
        if quick is not None:
            quick_reads += 1
            assert as_known(quick) == as_known(strict.read_strictly(path, layout))

    same()
    assert quick_reads > 3  # the comparison was made


def as_run(pairs):
    return "".join(f"{q} Q0 {d} 1 {-i} tag\n" for i, (q, d) in enumerate(pairs))


def in_pieces(pairs, seed=5):
    return random.Random(seed).sample(pairs, len(pairs))


IDS = {
    **{f"{n} bytes": [f"{i:0{n}d}" for i in range(10 if n == 1 else 60)] for n in range(1, 41)},
    "every length": ["d" * n for n in range(1, 41)],
    "not ASCII": [f"{'文書é𝄞'[i % 4]}{i}" * (1 + i % 5) for i in range(60)],
    "alike but for one byte": [("x" * n + c + "y" * (24 - n)) for n in range(25) for c in "ab"],
    "long": ["u" * 300 + str(i) for i in range(20)] + ["short"],
}


# Around the eight bytes that are looked at together; other lengths only in `make fuzz`.
AROUND_EIGHT = {f"{n} bytes" for n in (1, 7, 8, 9, 16, 17, 40)} | {name for name in IDS if not name.endswith("bytes")}
WAYS = [(order, block) for order in ("topic by topic", "topics in pieces") for block in (1 << 20, 300)]


@pytest.mark.parametrize(
    ("ids", "order", "block"),
    [(n, *way) for n in IDS if THOROUGH or n in AROUND_EIGHT for way in WAYS],
)
@pytest.mark.fuzz
@pytest.mark.slow
def test_a_document_twice_is_found_wherever_it_is(write, monkeypatch, ids, order, block):
    monkeypatch.setattr("collection.formats.source.CHUNK", block)
    pairs = [(q, d) for q in ("1", "2", "三", "a-topic-with-a-long-name") for d in IDS[ids]]
    if order != "topic by topic":
        pairs = in_pieces(pairs)
    path = write(as_run(pairs))
    layout = run.find_layout(path)
    assert as_known(read_quickly(path, layout)) == as_known(strict.read_strictly(path, layout))
    for again in (0, len(pairs) // 2, len(pairs) - 1):
        path = write(as_run([*pairs, pairs[again]]))
        assert read_quickly(path, layout) is None
        refused("run", path, len(pairs) + 1, f"first in line {again + 1}")


def test_an_equal_hash_is_no_document_twice(write, monkeypatch):
    monkeypatch.setattr(
        "collection.formats.tables.duplicate_pairs.hash_texts", lambda texts: np.zeros(len(texts), np.uint64)
    )
    pairs = [(q, d) for q in "12" for d in "abc"]
    path = write(as_run(pairs))
    assert len(read_quickly(path, run.find_layout(path)).values) == 6
    path = write(as_run([*pairs, ("2", "a")]))
    assert read_quickly(path, run.find_layout(path)) is None


@pytest.mark.parametrize("count", [2, FEW_KEYS, FEW_KEYS + 1, MANY_KEYS, MANY_KEYS + 1])
def test_a_repeated_key_is_found_in_any_number_of_keys(count: int) -> None:
    keys = np.random.default_rng(0).permutation(np.arange(count, dtype=np.uint64) << np.uint64(44))
    keys ^= np.arange(count, dtype=np.uint64)  # also where several have the same first bits
    assert len(np.unique(keys)) == count
    assert not has_duplicate_keys(keys)
    for first, second in [(0, count - 1), (0, 1), (count // 2 - 1, count // 2)]:
        again = keys.copy()
        again[second] = again[first]
        assert has_duplicate_keys(again)
    same_bits = keys[0] + np.array([5, 5, 6], dtype=np.uint64)  # the last one takes the cell of both others
    assert has_duplicate_keys(np.concatenate([keys[1:] | np.uint64(1 << 63), same_bits]))


@pytest.mark.parametrize("second", ["Q0", "q0"])
def test_runs_without_a_tag_are_read_quickly(second, write):
    path = write(f"1 q0 a 1 2.5\n1 {second} b 2 1.5\n")
    layout = run.find_layout(path)
    quickly = read_quickly(path, layout)
    assert quickly is not None
    assert as_known(quickly) == as_known(strict.read_strictly(path, layout))
    assert read_quickly(write("1 q0 a 1 2.5\n1 q1 b 2 1.5\n"), layout) is None


def test_hashes_say_what_texts_are_equal():
    texts = ["", "a", "a\0", "b", "x" * 8, "x" * 9, "x" * 16, "x" * 17, "é", "a", "x" * 8 + "\0" * 8 + "x"]
    array = pa.array(texts, pa.large_string())
    made = dict(zip(texts, hash_texts(array).tolist(), strict=True))
    assert len(set(made.values())) == len(made) == len(texts) - 1
    assert hash_texts(array[3:7]).tolist() == [made[t] for t in texts[3:7]]  # no matter in which company
    assert hash_texts(array[:0]).tolist() == []


@pytest.mark.parametrize("name", ["file.run", "file.gz"])
@pytest.mark.slow
def test_a_file_that_grows_beyond_what_its_first_block_promised(write, monkeypatch, name):
    monkeypatch.setattr("collection.formats.source.CHUNK", 2000)
    lines = [f"q{'-' * 400} Q0 d{i} 1 {-i} t\n" for i in range(20)] + [f"r Q0 {i} 1 {-i} t\n" for i in range(4000)]
    path = write("".join(lines), name)
    layout = run.find_layout(path)
    assert as_known(read_quickly(path, layout)) == as_known(strict.read_strictly(path, layout))


def test_grades_that_get_a_fraction_late_in_the_file(write, monkeypatch):
    monkeypatch.setattr("collection.formats.source.CHUNK", 100)
    path = write("".join(f"q 0 d{i} {i}\n" for i in range(50)) + "q 0 e 0.5\n")
    quick = read_quickly(path, qrels.find_layout(path))
    assert quick.values.dtype == "float64"
    assert quick.values.tolist() == [*range(50), 0.5]


# Qrels ----------------------------------------------------------------------------------------------

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 -1\n"


@pytest.mark.parametrize(
    "content",
    [
        QRELS,
        QRELS.replace(" ", "\t"),
        QRELS.replace("\n", "\r\n"),
        QRELS.rstrip(),
        QRELS.replace(" ", "  "),
        "#x\n\n" + QRELS,
        QRELS.replace(" 1\n", " +1\n"),
        QRELS.replace(" 1\n", " 01\n"),
        QRELS.replace(" 1\n", " 1.0\n"),
        QRELS.replace("\n", " extra\n"),
        QRELS.replace("\n", " extra columns\n"),
        QRELS.replace(" 0 d", " Q0 d"),
        "query-id\tcorpus-id\tscore\n" + QRELS.replace(" 0 d", " d").replace(" ", "\t"),
        "query_id corpus_id score\r\n" + QRELS.replace(" 0 d", " d").replace("\n", "\r\n"),
    ],
)
def test_qrels_in_every_dress(write, content):
    made = read_qrels(write(content))
    assert rows(made) == [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d1", -1)]
    assert made.dtypes.astype(str).tolist() == ["str", "str", "int64"]


def test_grades_with_a_fraction_make_floats(write):
    made = read_qrels(write("q 0 a 1\nq 0 b 0.5\nq 0 c 9223372036854775807\n"))
    assert made["relevance"].dtype == "float64"
    assert made["relevance"].tolist()[:2] == [1.0, 0.5]
    whole = read_qrels(write("q 0 c 9223372036854775807\n"))
    assert whole["relevance"].tolist() == [9223372036854775807]


SUBTOPICS = "q1 1 d1 1\nq1 2 d1 0\nq1 2 d2 3\nq2 1 d1 1\n"
STRATA = "q1 0 d1 2 1\nq1 0 d2 pool -1\n"
PROBABILITIES = "q1 0 d1 1 0.5\nq1 0 d2 -1 1\nq2 0 d1 0 1e-3\n"


@pytest.mark.parametrize(
    ("form", "content", "name", "expected", "types"),
    [
        (
            "subtopics", SUBTOPICS, "file.txt",
            [("q1", "d1", 1, "1"), ("q1", "d1", 0, "2"), ("q1", "d2", 3, "2"), ("q2", "d1", 1, "1")],
            {"subtopic": "str"},
        ),
        (
            "strata", STRATA.replace(" ", "\t"), "file.gz", [("q1", "d1", 1, "2"), ("q1", "d2", -1, "pool")],
            {"stratum": "str"},
        ),
        (
            "probabilities", "# drawn by hand\n" + PROBABILITIES, "file.txt",
            [("q1", "d1", 1, 0.5), ("q1", "d2", -1, 1.0), ("q2", "d1", 0, 0.001)], {"probability": "float64"},
        ),
    ],
)  # fmt: skip
def test_forms_of_qrels(write, form, content, name, expected, types):
    made = read_qrels(write(content, name), form=form)
    assert rows(made) == expected
    columns = {"query_id": "str", "doc_id": "str", "relevance": "int64"} | types
    assert made.dtypes.astype(str).to_dict() == columns


BAD_FORMS = {
    "a document twice in a subtopic": (
        "subtopics", SUBTOPICS + "q1 2 d1 1\n", 5,
        "once per subtopic.*'d1' of subtopic '2' of topic 'q1'.*first in line 2",
    ),
    "a document in two strata": ("strata", STRATA + "q1 0 d1 3 1\n", 3, "once per topic.*first in line 1"),
    "a document with two probabilities": ("probabilities", PROBABILITIES + "q1 0 d1 1 1\n", 4, "first in line 1"),
    "no stratum": ("strata", QRELS, 1, "5 columns .query_id 0 doc_id stratum relevance., found 4"),
    "no stratum further down": ("strata", STRATA + "q1 0 d3 1\n", 3, "5 columns"),
    "no probability": ("probabilities", QRELS, 1, "5 columns"),
    "no subtopic": ("subtopics", "q d 1\n", 1, "4 columns .query_id subtopic doc_id relevance., found 3"),
    "BEIR's header": ("subtopics", "query-id\tcorpus-id\tscore\nq\td\t1\n", 1, "4 columns"),
    "a word as grade": ("strata", "q 0 d 1 high\n", 1, "a number as grade in column 5, found 'high'"),
    "a probability of nothing": ("probabilities", "\nq 0 d 1 0\n", 2, "above 0, at most 1. in column 5, found '0'"),
    "a probability above one": ("probabilities", "q 0 d 1 .5\nq 0 d2 1 1.5\n", 2, "probability"),
    "a negative probability": ("probabilities", "q 0 d 1 -0.5\n", 1, "probability"),
    "a probability that is none": ("probabilities", "q 0 d 1 nan\n", 1, "probability .* found 'nan'"),
    "a word as probability, unjudged": ("probabilities", "q 0 d -1 none\n", 1, "probability"),
    "a run": ("subtopics", GOOD, 1, "a run.*pass it as a run"),
    "a run below": ("strata", STRATA + GOOD, 3, "found a run"),
    "an empty file": ("strata", "", None, "an empty file"),
    "only comments": ("probabilities", "# none\n", None, "only"),
    "Latin-1": ("subtopics", b"q \xe9 d 1\n", 1, "byte 0xE9"),
}  # fmt: skip


def test_a_form_that_there_is_not(write):
    with pytest.raises(UnknownNameError, match="form of qrels 'subtopic'; did you mean 'subtopics'"):
        read_qrels(write(QRELS), form="subtopic")


# Costs ----------------------------------------------------------------------------------------------

COSTS = (
    "run,latency_ms,hardware,price_usd,note\n"
    'bm25,12.5,"1 CPU, old",,\n'
    "\n"
    "dense, 480 ,1 GPU,1e2,\n"
    "fused,,,3,\n"
)  # fmt: skip


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (COSTS, "costs.csv"),
        (COSTS.replace("\n", "\r\n"), "COSTS.CSV.gz"),
        ("\ufeff" + COSTS.replace("run,", "Name,"), "costs.csv"),
        (COSTS.replace('"1 CPU, old"', "1 CPU; old").replace(",", "\t").replace(";", ","), "costs.tsv"),
    ],
)
def test_costs_in_every_dress(write, content, name):
    made = read_costs(write(content, name))
    assert made.columns.tolist() == ["run", "latency_ms", "hardware", "price_usd", "note"]
    assert made.dtypes.astype(str).tolist() == ["str", "float64", "str", "float64", "float64"]
    assert made["run"].tolist() == ["bm25", "dense", "fused"]
    assert made.astype(object).where(made.notna(), None).to_numpy().tolist() == [
        ["bm25", 12.5, "1 CPU, old", None, None],
        ["dense", 480.0, "1 GPU", 100.0, None],
        ["fused", None, None, 3.0, None],
    ]


@pytest.mark.parametrize("odd", ["inf", "nan", "1e999", "12 ms", "1_000", "0x10", "1,5"])
def test_a_cost_that_is_no_finite_number_makes_its_column_text(write, odd):
    made = read_costs(write(f"run\tlatency_ms\na\t1\nb\t{odd}\n", "costs.tsv"))
    assert made["latency_ms"].dtype == "str"
    assert made["latency_ms"].tolist() == ["1", odd]


def test_the_column_of_the_run(write):
    made = read_costs(write("price,tag\n1,a\n", "costs.csv"))
    assert rows(made) == [("a", 1.0)]
    assert made.columns.tolist() == ["run", "price"]
    both = read_costs(write("name,run\nBM25 of old,a\n", "costs.csv"))
    assert both.columns.tolist() == ["run", "name"]


BAD_COSTS = {
    "no column for the run": ("system,price\na,1\n", 1, "run or name or tag.*'system . price'"),
    "no header": ("a,1\n", 1, "a header"),
    "a column without a name": ("run,,price\na,1,2\n", 1, "names every column"),
    "a column named twice": ("run,price,Price\na,1,2\n", 1, "'price' twice"),
    "a run twice": ("run,price\na,1\nb,1\na,2\n", 4, "run 'a' again .first in line 2"),
    "a row without a run": ("run,price\na,1\n ,2\n", 3, "a run name"),
    "a short row": ("run,price\na,1\nb\n", 3, "2 columns .run, price."),
    "a long row": ("run,price\na,1,2\n", 2, "2 columns"),
    "a quotation mark left open": ('run,price\na,"1\n', 2, "CSV"),
    "a header alone": ("run,price\n", 1, "only a header"),
    "an empty field alone": ('""\n', 1, "a header that names the columns"),
    "an empty file": ("", None, "an empty file"),
    "Latin-1": (b"run,price\ncaf\xe9,1\n", 2, "byte 0xE9"),
}


def test_costs_in_a_file_of_no_known_ending(write):
    refused(read_costs, write(COSTS, "costs.txt"), 1, r"\.csv or \.tsv")
    refused(read_costs, write(COSTS, "costs"), 1, "ending ''")


# Topics ---------------------------------------------------------------------------------------------

SGML = """<top>

<num> Number: 301
<title> Organised &amp; international crime

<desc> Description:
Identify organizations,
if possible <b>both</b>.

<narr> Narrative:
A relevant document

</top>

<top>
<num> 302 </num>
<title> Topic: Polio </title>
<desc> Under control? </desc>
</top>
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="x"><topic number="1">
  <query>one &amp; two</query><question>why
  so</question><narrative>n</narrative><other>o</other>
</topic>
<topic><number> 2 </number><title>two</title><description>d</description></topic>
<topic number="3"> A patient is 45. </topic></topics>
"""
XML_ROWS = [
    ("1", "one & two", "why so", "n", {"other": "o"}),
    ("2", "two", "d", "", {}),
    ("3", "A patient is 45.", "", "", {}),
]
TOPICS = {
    "sgml": (
        SGML,
        [
            (
                "301",
                "Organised & international crime",
                "Identify organizations, if possible <b>both</b>.",
                "A relevant document",
            ),
            ("302", "Polio", "Under control?", ""),
        ],
    ),
    "xml": (XML, XML_ROWS),
    "xml after blank lines": ("\n\n" + XML, XML_ROWS),
    "jsonl": (
        '{"qid": 1, "text": "a", "desc": null}\n\n{"_id": "x", "title": "b", "narr": "n", "query": "c"}\n',
        [("1", "a", "", "", {}), ("x", "b", "", "n", {"query": "c"})],
    ),
    "tsv with a header": ('Query\tQID\nhow, "so\tq1\n', [("q1", 'how, "so', "", "")]),
    "tsv without": ("q1\ta b\nq2\tc\n", [("q1", "a b", "", ""), ("q2", "c", "", "")]),
    "tsv of four": ("q1\ta\tb\tc\r\n", [("q1", "a", "b", "c")]),
    "csv": ('id,query,narrative\n1,"a, ""b""\nc",\n', [("1", 'a, "b"\nc', "", "")]),
    "a byte order mark": ("\ufeffqid\ttitle\n1\tx\n", [("1", "x", "", "")]),
}


@pytest.mark.parametrize("case", TOPICS)
@pytest.mark.parametrize("name", ["topics", "topics.gz"])
def test_topics_in_every_form(write, case, name):
    content, wanted = TOPICS[case]
    made = read_topics(write(content, name))
    assert rows(made) == wanted
    texts = ["query_id", "title", "description", "narrative"]
    assert made.columns.tolist() == [*texts, "fields"][: len(wanted[0])]
    assert set(made[texts].dtypes.astype(str)) == {"str"}


BAD_TOPICS = {
    "a duplicate": ("1\ta\n2\tb\n1\tc\n", 3, "first in line 1"),
    "a duplicate in SGML": (SGML.replace("302", "301"), 15, "first in line 1"),
    "a duplicate in XML": (XML.replace("> 2 <", ">1<"), 6, "first in line 2"),
    "no number in SGML": (SGML.replace("<num> 302 </num>", ""), 15, "<num>.*found <title>, <desc>"),
    "no number in XML": ("<topics>\n<topic><title>x</title></topic></topics>", 2, "fields title"),
    "broken XML": ("<topics>\n<topic>\n</topics>", 3, "mismatched tag"),
    "broken XML after blank lines": ("\n\n<topics>\n<topic>\n</topics>", 5, "mismatched tag"),
    "entities of one's own": ('<!DOCTYPE t [\n<!ENTITY a "b">]><topics/>', 2, "entity 'a'"),
    "markup without topics": ("<html></html>", 1, "an HTML page"),
    "broken JSON": ('{"qid": 1}\n{"qid": \n', 2, "column"),
    "no id in JSON": ('{"name": 1, "title": "x"}\n', 1, "fields name, title"),
    "a list as title": ('{"qid": 1, "title": ["x"]}\n', 1, "text in the field 'title'"),
    "a JSON array of something else": ("[\n1]\n", 2, "topics as a JSON array of objects, found '1'"),
    "an id that begins with #": ("t1\ta\n#t2\tb\n", 2, "does not begin with #, found '#t2'; in runs and qrels, lines"),
    "a wide line": ("1\ta\n2\tb\tc\n", 2, "2 columns"),
    "one column": ("what is this\n", 1, "separate the id and the text with a tab"),
    "an id with a blank": ("q 1\tx\n", 1, "blanks separate the columns"),
    "an empty id": ("q\tx\n\tx\n", 2, "id without blanks"),
    "Latin-1": (b"1\ta\n2\tcaf\xe9\n", 2, "0xE9"),
    "a header with a column twice": ("qid\ttitle\ttitle\n", 1, "'title' twice"),
}


# Documents ------------------------------------------------------------------------------------------

DOCUMENTS = {
    "jsonl": (
        '{"docno": 7, "title": "t", "text": "x", "contents": "y", "year": 1999}\n\n{"_id": "b"}\n',
        [(1, Document("7", "t", "x", {"contents": "y", "year": 1999})), (3, Document("b", "", "", {}))],
    ),
    "null and second names": (
        '{"id": "a", "text": null, "body": "b", "title": null}\n',
        [(1, Document("a", "", "b", {"text": None}))],
    ),
    "both names of an id": ('{"id": 1, "doc_id": "a"}\n', [(1, Document("a", "", "", {"id": 1}))]),
    "tsv of two": ('1\tsay "x\n2\ty\n', [(1, Document("1", "", 'say "x')), (2, Document("2", "", "y"))]),
    "tsv of three": ("1\tt\tx\n", [(1, Document("1", "t", "x"))]),
    "tsv of four": ("1\tu\tt\tx\n", [(1, Document("1", "t", "x", {"url": "u"}))]),
    "tsv with a header": ("text\tdocno\tyear\nx\t1\t1999\n", [(2, Document("1", "", "x", {"year": "1999"}))]),
    "csv": (
        'doc_id,title,text\n1,"a, b","x\n\ny"\n\n2,c,z\n',
        [(2, Document("1", "a, b", "x\n\ny")), (6, Document("2", "c", "z"))],
    ),
    "passages of MS MARCO v2": (
        '{"pid": "p_0", "passage": "x", "spans": "(0,5)", "docid": "d_0"}\n{"docid": "d_1#0", "segment": "y"}\n',
        [(1, Document("p_0", "", "x", {"spans": "(0,5)", "docid": "d_0"})), (2, Document("d_1#0", "", "y"))],
    ),
    "paragraphs": (
        '{"id": 1, "abstract": ["One.", "Two."]}\n{"id": 2, "text": []}\n'
        '{"id": 3, "contents": [{"type": "kicker", "content": "x"}, {"type": "date", "content": 7}, null, '
        '{"content": "<p>a <b>b</b></p>"}, {"type": "image"}]}\n',
        [
            (1, Document("1", "", "One.\n\nTwo.")),
            (2, Document("2", "", "")),
            (3, Document("3", "", "x\n\na b")),
        ],
    ),
    "an object of documents": (
        '{"a": {"title": "t", "text": "x"},\n "b": {"text": "y"}}\n',
        [(1, Document("a", "t", "x")), (1, Document("b", "", "y"))],
    ),
    "an object of texts": ('{"a": "x", "b": "y"}\n', [(1, Document("a", "", "x")), (1, Document("b", "", "y"))]),
    "an object with a list": (
        '{"total": 2, "data": [{"id": 1, "text": "x"},\n {"id": 2}]}\n',
        [(1, Document("1", "", "x")), (1, Document("2", "", ""))],
    ),
    "SMART": (
        ".I 001\n.T\nwings\nover water\n.A\nberg\n.W\nlift .\n\n.I 2\n.W\nx\n",
        [(1, Document("001", "wings over water", "lift .", {"author": "berg"})), (10, Document("2", "", "x"))],
    ),
    "csv in CRLF": (
        'id,text\r\n1,"x\r\ny"\r\n2,z\r\n',
        [(2, Document("1", "", "x\ny")), (4, Document("2", "", "z"))],
    ),
}


@pytest.mark.parametrize("case", DOCUMENTS)
@pytest.mark.parametrize("name", ["documents", "documents.gz"])
def test_documents_in_every_form(write, case, name):
    content, wanted = DOCUMENTS[case]
    assert list(read_documents(write(content, name))) == wanted


BAD_DOCUMENTS = {
    "a duplicate": ('{"id": 1}\n\n{"id": "1", "text": "x"}\n', 3, "first in line 1"),
    "broken JSON": ('{"id": 1}\n{"id": 2\n', 2, "column"),
    "NaN in JSON": ('{"id": 1, "text": NaN}\n', 1, "write null"),
    "no object": ('{"id": 1}\n"x"\n', 2, "one JSON object"),
    "JSON without end": ('{"id": ' + "[" * 100_000, 1, "one JSON object"),
    "no id": ('{"id": 1}\n{"key": 1, "text": "x"}\n', 2, "found the fields key, text"),
    "true as id": ('{"id": true}\n', 1, "whole number"),
    "an object as text": ('{"id": 1, "text": {"a": "x"}}\n', 1, "'text'"),
    "half a surrogate pair": ('{"id": 1, "text": "\\ud800"}\n', 1, "surrogate"),
    "a NUL in JSON": ('{"id": 1, "text": "\\u0000"}\n', 1, "NUL"),
    "a NUL byte": ('{"id": 1}\n{"id": "\0"}\n', 2, "NUL byte"),
    "Latin-1": (b'{"id": 1}\n{"id": 2, "text": "caf\xe9"}\n', 2, "byte 0xE9"),
    "a JSON array of something else": ('[{"id": 1},\n2]\n', 2, "documents as a JSON array of objects, found '2'"),
    "csv without a header": ("1,x\n", 1, "header with an id"),
    "csv with a short record": ('id,text\n1,"x\ny"\n2\n', 4, "2 columns"),
    "csv with an open quotation mark": ('id,text\n1,x\n2,"y\n3,z\n', 3, "unexpected end"),
    "csv with text after a quotation mark": ('id,text\n1,"x"y\n', 2, "field twice"),
    "tsv with a tab too many": ("1\tx\n2\ty\tz\n", 2, "2 columns"),
    "tsv of five": ("a\tb\tc\td\te\n", 1, "2, 3 or 4 columns"),
    "no form at all": ("once upon a time\n", 1, "JSONL"),
    "a header alone": ("id\ttext\n", 1, "only a header"),
    "a header of topics": ("query_id\ttitle\n1\twings\n", 1, "a header with an id"),
}


FORM_READERS = {form: partial(read_qrels, form=form) for form in ("strata", "probabilities", "subtopics")}
BAD_FILES = {
    "run": BAD_RUNS,
    "qrels": BAD_QRELS,
    "topics": BAD_TOPICS,
    "documents": BAD_DOCUMENTS,
    "costs": BAD_COSTS,
    **{form: {case: bad for case, (of, *bad) in BAD_FORMS.items() if of == form} for form in FORM_READERS},
}


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, bad in BAD_FILES.items() for case in bad])
def test_bad_files(write, kind, case):
    content, line, text = BAD_FILES[kind][case]
    reader = {**READERS, **FORM_READERS, "costs": read_costs}[kind]
    for ending in ("", ".gz") if kind in ("run", "qrels", "costs") else ("",):
        refused(reader, write(content, ("costs.csv" if kind == "costs" else "file.txt") + ending), line, text)


def test_an_escaped_backslash_is_no_escape(write):
    text = r'{"id": 1, "text": "\\u0000 \\ud800 \ud834\udd1e"}'
    ((_, document),) = read_documents(write(text))
    assert document.text == r"\u0000 \ud800 𝄞"


def test_documents_before_a_fault_are_given(write):
    documents = read_documents(write('{"id": 1}\n{"id": 2}\nx\n'))
    assert [next(documents)[1].doc_id, next(documents)[1].doc_id] == ["1", "2"]
    with pytest.raises(FormatError):
        next(documents)


def test_long_csv_fields(write):
    ((_, document),) = read_documents(write(f'id,text\n1,"{"x" * 300_000}"\n'))
    assert len(document.text) == 300_000


# Writing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.qrels", "out.qrels.gz"])
def test_qrels_round_trip(tmp_path, name):
    made = pd.DataFrame({"query_id": ["Ω", "2", "2"], "doc_id": ["x", "é#", "a"], "relevance": [3, -1, 0]})
    write_qrels(made, tmp_path / name)
    assert rows(read_qrels(tmp_path / name)) == rows(made)
    first = (tmp_path / name).read_bytes()
    write_qrels(made, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert (first[:2] == b"\x1f\x8b") == name.endswith(".gz")
    write_qrels(made.assign(relevance=[0.5, 1.0, 2.0]), tmp_path / name)
    assert read_qrels(tmp_path / name)["relevance"].tolist() == [0.5, 1, 2]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"doc_id": ["a b"]}, "white space"),
        ({"doc_id": ["a\n"]}, "white space"),
        ({"doc_id": [""]}, "empty"),
        ({"query_id": ["#1"]}, "comment"),
        ({"relevance": [None]}, "row 1 has no relevance"),
    ],
)
def test_qrels_that_could_not_be_read_back(tmp_path, columns, text):
    target = tmp_path / "qrels"
    target.write_text("old")
    made = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1]} | columns)
    with pytest.raises(InputError, match=text):
        write_qrels(made, target)
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["qrels"]


def test_a_failed_export_leaves_the_old_file(tmp_path):
    class Bomb:
        def __str__(self):
            raise RuntimeError("in the middle of writing")

    blank = dict.fromkeys(Judgement._fields)
    write_judgements(pd.DataFrame([blank]), tmp_path / "log.csv")
    old = (tmp_path / "log.csv").read_bytes()
    with pytest.raises(RuntimeError):
        write_judgements(pd.DataFrame([blank, blank | {"reason": Bomb()}]), tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_a_place_that_cannot_be_written(tmp_path):
    made = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1]})
    with pytest.raises(InputError, match="cannot be written"):
        write_qrels(made, tmp_path / "absent" / "qrels")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_qrels(made, tmp_path / "folder")
    with pytest.raises(ColumnsError):
        write_qrels(made.drop(columns="relevance"), tmp_path / "qrels")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def write_folder(target: Path, content: str, **more: bool) -> None:
    """Write a folder with a card, as the export of a collection does."""
    with replacing_folder(target, known_by="card.md", **more) as folder:
        (folder / "card.md").write_text(content)
        (folder / CHECKSUMS).write_text(f"{'0' * 64}  card.md\n")


def test_a_folder_that_cannot_be_put_in_its_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write_folder(target, "old")
    rename = Path.rename

    def fail(self: Path, to: Path) -> Path:
        if self.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match=r"out: cannot be written \(No space left on device\)"):
        write_folder(target, "new", replace=True)
    assert (target / "card.md").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_is_written_where_there_is_one_to_hold_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written; there is no folder .*nowhere"):
        write_folder(tmp_path / "nowhere" / "out", "new")
    with (
        pytest.raises(FileNotFoundError),  # of a file that was to be read, not of the folder
        replacing_folder(tmp_path / "out", known_by="card.md") as folder,
    ):
        (folder / "missing").read_text()
    assert not list(tmp_path.iterdir())


def test_large_runs_are_read_as_small_ones_are(write, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(f"1 Q0 d{n} 1 {n}.5 tag{n}\n", f"{n}.run") for n in range(4)]
    small = [(run.name, run.frame["doc_id"].tolist()) for run in read_runs(paths)]
    monkeypatch.setattr(run, "LARGE", 1)
    assert [(run.name, run.frame["doc_id"].tolist()) for run in read_runs(paths)] == small
    assert small[3] == ("tag3", ["d3"])


def test_a_run_without_a_tag_has_the_name_of_its_file(write) -> None:
    assert name_runs([write("1 Q0 d1 1 2.0 bm25\n", "a.run"), write("", "empty.run")]) == ["bm25", "empty"]


def test_a_run_file_that_is_given_twice_is_named(write) -> None:
    path = write("1 Q0 d1 1 2.0 bm25\n", "a.run")
    with pytest.raises(InputError, match="expected each run file once, found it twice"):
        name_runs([path, path])
    (path.parent / "other").mkdir()
    other = write("1 Q0 d1 1 2.0 bm25\n", "other/a.run")
    with pytest.raises(InputError, match="would both be called 'a'; rename one"):
        name_runs([path, other])


def test_pool(tmp_path):
    made = pd.DataFrame(
        {"query_id": ["1", "1"], "doc_id": ["a", "b"], "strategy": ["depth", "random"], "rank": [1, None]}
    )
    write_pool(made, tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text() == ("query_id\tdoc_id\tstrategy\trank\n1\ta\tdepth\t1\n1\tb\trandom\t\n")
    with pytest.raises(InputError, match="strategy"):
        write_pool(made.assign(strategy="a\tb"), tmp_path / "pool.tsv")


def test_judgements(tmp_path):
    made = pd.DataFrame(
        [
            Judgement("u1", "é", "1", "a", "graded", 2, judged_at="2026-01-01T00:00:00Z", seconds=1.5),
            Judgement("u2", "b", "1", "b", "cannot judge", reason='in "Greek",\nall of it'),
        ]
    )
    write_judgements(made, tmp_path / "log.jsonl.gz")
    records = [json.loads(x) for x in gzip.decompress((tmp_path / "log.jsonl.gz").read_bytes()).splitlines()]
    assert [Judgement(**r | {"passages": tuple(r["passages"])}) for r in records] == [
        Judgement("u1", "é", "1", "a", "graded", 2, judged_at="2026-01-01T00:00:00Z", seconds=1.5),
        Judgement("u2", "b", "1", "b", "cannot judge", reason='in "Greek",\nall of it'),
    ]
    assert isinstance(records[0]["relevance"], int)
    write_judgements(made, tmp_path / "log.csv")
    back = pd.read_csv(tmp_path / "log.csv", dtype="str", keep_default_na=False)
    assert back.columns.tolist() == list(Judgement._fields)[:-1]  # nobody answered a further question
    assert back["reason"].tolist() == ["", 'in "Greek",\nall of it']
    assert back["relevance"].tolist() == ["2", ""]
    with pytest.raises(InputError, match=r"\.jsonl, \.csv or \.parquet"):
        write_judgements(made, tmp_path / "log.xlsx")


# The real files -------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("topics.robust04.txt", 250, "301", "700"),
        ("topics.adhoc.351-400.txt", 50, "351", "400"),
        ("topics.covid-round1.xml", 30, "1", "30"),
        ("topics.covid-round2.xml", 35, "1", "35"),
        ("topics.dl20.txt", 200, "1030303", "132622"),
    ],
)
def test_real_topics(name, count, first, last):
    made = read_topics(SHARED / "data" / "trec-topics-qrels-a" / name)
    assert (len(made), made["query_id"].iloc[0], made["query_id"].iloc[-1]) == (count, first, last)
    assert (made["title"] != "").all()
    if "dl20" not in name:
        assert (made["description"] != "").all()
        assert not made["narrative"].str.contains("<|Narrative:").any()


@pytest.mark.shared
def test_real_qrels():
    folder = SHARED / "data" / "trec-topics-qrels-a"
    names = ("qrels.adhoc.351-400.txt.gz", "qrels.covid-round1.txt", "qrels.covid-round2.txt")
    made = [read_qrels(folder / name) for name in names]
    assert [len(m) for m in made] == [80_345, 8_691, 12_037]
    assert made[0]["query_id"].nunique() == 50


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.long
def test_real_collections():
    for path in some(sorted((SHARED / "data").glob("*/topics.jsonl"))):
        assert len(read_topics(path)) == path.read_text().count("\n")
    for path in some(sorted((SHARED / "data" / "trecdl19-runs" / "runs").glob("*.gz"))):
        made = read_run(path)
        layout = run.find_layout(path)
        assert as_known(read_quickly(path, layout)) == as_known(strict.read_strictly(path, layout))
        assert made.frame.groupby("query_id", observed=True)["score"].is_monotonic_decreasing.all()


@reads_proc
@pytest.mark.long
def test_documents_stream(tmp_path):
    # The peak of the process itself: getrusage would count the parent's pages from before the exec.
    path = tmp_path / "documents.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(100_000):
            file.write(f'{{"doc_id": "d{number}", "title": "Title {number}", "text": "{f"word{number} " * 300}"}}\n')
    script = (
        "import re, sys; from collection.formats import read_documents\n"
        "count = sum(1 for _ in read_documents(sys.argv[1]))\n"
        "print(count, re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    out = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    count, peak = map(int, out.stdout.split())
    assert count == 100_000
    assert peak * 1024 < 300e6  # less than the texts take


@pytest.mark.parametrize("line", ['{"query_id": "1", "title": "no end', '{"query_id": "a\tb"}'])
def test_the_place_of_a_fault_in_json_is_said_once(tmp_path: Path, line: str) -> None:
    (tmp_path / "topics.jsonl").write_text(line)
    with pytest.raises(FormatError, match="; (Unterminated string starting|Invalid control character) at column"):
        read_topics(tmp_path / "topics.jsonl")
