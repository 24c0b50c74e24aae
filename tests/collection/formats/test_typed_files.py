"""Parquet, JSONL of other tools, workbooks, and datasets of ir_datasets in place of files."""

import datetime
import json
import socket
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collection import evaluate, formats, read_qrels, read_topics
from collection.campaign import Campaign
from collection.core.errors import ConflictError, FormatError, InputError
from collection.core.records import Document
from collection.formats import parquet, source, workbook
from tests.helpers import SHARED, fails, ok, run

CORPUS = [
    {"_id": "d1", "title": "Wings", "text": "Flow past a wing.", "metadata": {"year": 1957}},
    {"_id": "d2", "title": "", "text": "Heat.\nIn a slab.", "metadata": {"year": None}},
]
QUERIES = [{"_id": "1", "text": "wing flow"}, {"_id": "2", "text": "heat transfer"}]
QRELS = [
    {"query-id": "1", "corpus-id": "d1", "score": 2},
    {"query-id": "1", "corpus-id": "d2", "score": 0},
    {"query-id": "2", "corpus-id": "d2", "score": 1},
]


def as_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_workbook(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], Path]] = {".jsonl": as_jsonl, ".parquet": as_parquet}


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.long
def test_columns_as_hugging_face_has_them(tmp_path: Path, form: str) -> None:
    write = WRITERS[form]
    documents = list(formats.read_documents(write(tmp_path / f"corpus{form}", CORPUS)))
    assert documents == [
        (1, Document("d1", "Wings", "Flow past a wing.", {"metadata": {"year": 1957}})),
        (2, Document("d2", "", "Heat.\nIn a slab.", {"metadata": {"year": None}})),
    ]
    topics = read_topics(write(tmp_path / f"queries{form}", QUERIES))
    assert topics[["query_id", "title"]].values.tolist() == [["1", "wing flow"], ["2", "heat transfer"]]
    path = write(tmp_path / f"qrels{form}", QRELS)
    qrels = read_qrels(path)
    assert qrels.values.tolist() == [["1", "d1", 2], ["1", "d2", 0], ["2", "d2", 1]]
    assert qrels["relevance"].dtype == "int64"
    assert formats.find_pair_line(path, "2", "d2") == 3
    assert evaluate(path, {"mine": {"1": {"d1": 1.0}}}, ["P@1"]).means().loc["mine", "P@1"] == 0.5


BEIR = {"corpus": CORPUS, "queries": QUERIES, "qrels/test": QRELS[:2], "qrels/train": QRELS[2:]}


def as_beir(folder: Path, form: str) -> Path:
    (folder / "qrels").mkdir(parents=True)
    for name, rows in BEIR.items():
        if form == ".jsonl" and name.startswith("qrels"):
            lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row.values())) for row in rows)]
            (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
        else:
            WRITERS[form](folder / f"{name}{form}", rows)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.long
def test_a_beir_directory_is_one_argument(tmp_path: Path, form: str) -> None:
    folder = as_beir(tmp_path / "beir", form)
    ok("new", tmp_path / "campaign", "--grades", "0-3")
    said = ok("import", tmp_path / "campaign", "--collection", folder)
    ending = ".tsv" if form == ".jsonl" else form
    assert f"{folder}/qrels/train{ending}: 1 judgement by annotator 'qrels:train{ending}' (1 new)" in said
    with Campaign(tmp_path / "campaign") as campaign:
        assert campaign.store.judgements.counts()["documents"] == 2
        assert len(campaign.results.qrels.build()) == 3


@pytest.mark.slow
@pytest.mark.long
def test_a_directory_as_on_the_hugging_face_hub(tmp_path: Path) -> None:
    folder = tmp_path / "hub"
    for name, rows in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}.items():
        (folder / name).mkdir(parents=True)
        halves = [rows[:1], rows[1:]] if name == "corpus" else [rows]
        for number, part in enumerate(halves):
            as_parquet(folder / name / f"{name}-0000{number}-of-0000{len(halves)}.parquet", part)
    for number, given in enumerate((["--collection", folder], ["--documents", folder, "--topics", folder])):
        directory = tmp_path / f"campaign{number}"
        ok("new", directory, "--grades", "0-3")
        said = ok("import", directory, *given)
        assert f"{folder}/corpus/corpus-00001-of-00002.parquet: 1 document (1 new)" in said
        with Campaign(directory) as campaign:
            counts = campaign.store.judgements.counts()
            assert (counts["documents"], counts["topics"]) == (2, 2)
            assert len(campaign.results.qrels.build()) == (3 if number == 0 else 0)
    assert "found 2 files" in run("import", directory, "--topics", folder / "corpus").stderr
    assert "0 new, 2 unchanged" in ok("import", directory, "--topics", folder / "queries")


def test_frames_as_on_the_hugging_face_hub() -> None:
    run_of_one = {"mine": {"1": {"d1": 1.0}}}
    frame = pd.DataFrame(QRELS)
    assert evaluate(frame, run_of_one, ["P@1"]).means().loc["mine", "P@1"] == 0.5
    with pytest.raises(InputError, match="expected the column relevance"):
        evaluate(pd.DataFrame({"query_id": ["1"], "doc_id": ["d1"], "score": [2.5]}), run_of_one)  # a run


def test_of_a_beir_directory_the_documents_are_the_corpus(tmp_path: Path) -> None:
    folder = as_beir(tmp_path / "beir", ".jsonl")
    ok("new", tmp_path / "campaign", "--grades", "0-3")
    said = ok("import", tmp_path / "campaign", "--documents", folder)
    assert said.startswith(f"{folder}/corpus.jsonl: 2 documents (2 new)\n")
    assert "queries" not in said
    (folder / "queries.jsonl").unlink()  # a folder of documents
    said = ok("import", tmp_path / "campaign", "--documents", folder)
    assert said.startswith(f"{folder}/corpus.jsonl: 2 documents (0 new, 2 unchanged)\n")


def test_a_collection_that_was_exported_comes_back(campaign: Campaign, files: Path, tmp_path: Path) -> None:
    campaign.imports.import_files(topics=files / "topics.jsonl", documents=[files / "documents.jsonl"])
    campaign.judging.judge("ann", "1", "d1", relevance=2)
    campaign.exports.collection.write(tmp_path / "out")
    with Campaign.create(tmp_path / "other") as other:
        other.imports.import_files(collection=tmp_path / "out")
        assert other.store.corpus.topics().equals(campaign.store.corpus.topics())
        assert other.store.corpus.documents(["d3"]) == campaign.store.corpus.documents(["d3"])
        assert other.results.qrels.build().values.tolist() == campaign.results.qrels.build().values.tolist()


def test_a_directory_without_a_collection_is_refused(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "campaign") as campaign:
        for path, said in ((tmp_path, "no corpus.jsonl"), (tmp_path / "none", "no such directory")):
            with pytest.raises(FormatError, match=rf"expected a directory with corpus\.jsonl.*found {said}"):
                campaign.imports.import_files(collection=path)


BAD_QRELS: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "a grade in words": ([{**QRELS[0], "score": "high"}], 1, "a number as relevance, found 'high'"),
    "a pair twice": ([*QRELS, QRELS[0] | {"score": 1}], 4, "each document of a topic once, found"),
    "no grade": ([{"query-id": "1", "corpus-id": "d1"}], 1, "qrels with the columns query_id or qid"),
    "an id with blanks": ([{"query-id": "1 2", "corpus-id": "d1", "score": 1}], 1, "an id without blanks"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_QRELS)
def test_refusals_of_qrels_name_path_and_line(tmp_path: Path, case: str) -> None:
    rows, line, said = BAD_QRELS[case]
    path = as_jsonl(tmp_path / "qrels.jsonl", rows)
    with pytest.raises(FormatError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(f"{path}, line {line}: expected {said}")


def test_other_forms_of_qrels_are_lines(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected qrels as lines"):
        read_qrels(as_jsonl(tmp_path / "qrels.jsonl", QRELS), form="strata")


# --- Parquet ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_values_of_parquet_become_values_of_json(tmp_path: Path) -> None:
    row = {
        "doc_id": 7, "text": "a", "when": datetime.datetime(2024, 5, 1, 12), "day": datetime.date(2024, 5, 1),
        "picture": b"\x89PNG", "score": float("nan"), "list": [1, 2], "image": {"bytes": b"\x89PNG", "path": None},
    }  # fmt: skip
    ((_, document),) = formats.read_documents(as_parquet(tmp_path / "a.parquet", [row]))
    assert document.doc_id == "7"
    assert document.metadata == {
        "when": "2024-05-01T12:00:00", "day": "2024-05-01", "picture": None, "score": None, "list": [1, 2],
        "image": {"bytes": None, "path": None},
    }  # fmt: skip


@pytest.mark.slow
def test_parquet_is_read_a_few_rows_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_parquet(tmp_path / "a.parquet", [{"doc_id": f"d{n}", "text": "a"} for n in range(1000)])
    monkeypatch.setattr(source, "LONGEST_LINE", 2000)
    documents = formats.read_documents(path)
    assert [next(documents)[1].doc_id for _ in range(15)] == [f"d{n}" for n in range(15)]
    documents.close()  # ends the process that reads; a warning of an unclosed one fails the test


@pytest.mark.slow
@pytest.mark.long
def test_refusals_of_parquet_name_path_and_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: dict[str, tuple[list[dict[str, Any]] | bytes, str]] = {
        "twice": ([{"doc_id": "d1"}, {"doc_id": "d1", "text": "a"}], ", row 2: expected each document once"),
        "nul": ([{"doc_id": "d1", "text": "a\0b"}], ", row 1: expected text, found an invalid character"),
        "none": ([{"doc_id": "d1"}][:0], ": expected documents, found a file without rows"),
        "text": (b"doc_id,text\nd1,a\n", ": expected documents in Parquet, found damaged data ("),
    }
    for name, (content, said) in cases.items():
        path = tmp_path / f"{name}.parquet"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(
                pa.Table.from_pylist(content, pa.schema([("doc_id", pa.string()), ("text", pa.string())])), path
            )
        with pytest.raises(FormatError) as caught:
            list(formats.read_documents(path))
        assert str(caught.value).startswith(f"{path}{said}")
        assert "\n" not in str(caught.value)
    path = as_parquet(tmp_path / "large.parquet", [{"doc_id": "d1", "text": "a" * 100_000}])
    monkeypatch.setattr(parquet, "LARGEST", 10_000)
    with pytest.raises(FormatError, match=r"damaged data \(a column that expands to 1\d\d,\d{3} bytes\)"):
        list(formats.read_documents(path))


@pytest.mark.slow
def test_a_file_that_ends_the_process_which_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some damaged files make Arrow do this."""
    path = as_parquet(tmp_path / "a.parquet", [{"doc_id": "d1", "text": "a"}])
    (tmp_path / "aborts.py").write_text("import os; os.abort()")
    monkeypatch.setattr(parquet, "_READER", tmp_path / "aborts.py")
    with pytest.raises(FormatError, match=r"a\.parquet: expected documents in Parquet, found damaged data"):
        list(formats.read_documents(path))


# --- workbooks --------------------------------------------------------------------------------------------------------


def test_a_module_of_that_name_beside_the_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_parquet(tmp_path / "a.parquet", [{"doc_id": "d1", "text": "a"}])
    (tmp_path / "pyarrow.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    assert [document.doc_id for _, document in formats.read_documents(path)] == ["d1"]


def test_semicolons_as_excel_writes_csv_in_many_countries(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("doc_id;title;text\nd1;Wings;Of birds, and others.\n")
    assert [(d.title, d.text) for _, d in formats.read_documents(path)] == [("Wings", "Of birds, and others.")]
    path.write_text("query_id;title\n1;wings\n")
    assert read_topics(path)["title"].tolist() == ["wings"]


def test_documents_topics_and_labels_in_a_workbook(tmp_path: Path) -> None:
    when = datetime.datetime(2024, 5, 1)
    rows = [
        ["doc_id", None, "title", "text", "year"],
        [],
        [7, "margin", "=1+1", "Flow", when],
        ["d2", "", "Heat", None, 1957.0],
    ]
    assert list(formats.read_documents(as_workbook(tmp_path / "d.xlsx", rows))) == [
        (3, Document("7", "", "Flow", {"year": "2024-05-01"})),  # the formula was never computed
        (4, Document("d2", "Heat", "", {"year": "1957"})),
    ]
    topics = read_topics(as_workbook(tmp_path / "t.xlsx", [["qid", "query", "narrative"], [1, "wing flow", "'=1"]]))
    assert topics.values.tolist() == [["1", "wing flow", "", "'=1"]]
    labels = formats.read_labels(
        as_workbook(tmp_path / "l.xlsx", [["user", "qid", "docno", "grade"], ["ann", 1, 7, 2.0]])
    )
    assert labels.values.tolist() == [["ann", "1", "7", 2]]


def test_refusals_of_workbooks_name_path_and_row(tmp_path: Path) -> None:
    cases = {
        "twice": ([["doc_id", "text"], ["d1", "a"], ["d1", "b"]], ", row 3: expected each document once, found"),
        "blank": ([["doc_id"], ["d1 d2"]], ", row 2: expected an id without blanks"),
        "header": ([["name", "text"], ["d1", "a"]], ", row 1: expected a header with an id"),
        "alone": ([["doc_id", "text"]], ", row 1: expected documents, found only a header"),
    }
    for name, (rows, said) in cases.items():
        path = as_workbook(tmp_path / f"{name}.xlsx", rows)
        with pytest.raises(FormatError) as caught:
            list(formats.read_documents(path))
        assert said in str(caught.value)


def test_hostile_workbooks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    good = as_workbook(tmp_path / "good.xlsx", [["doc_id", "text"], ["d1", "flow"]])

    def altered(name: str, part: str, change: Callable[[str], str]) -> Path:
        with zipfile.ZipFile(good) as before, zipfile.ZipFile(tmp_path / name, "w") as after:
            for entry in before.namelist():
                content = before.read(entry)
                after.writestr(entry, change(content.decode()) if entry.endswith(part) else content)
        return tmp_path / name

    def read(path: Path) -> list[Document]:
        return [document for _, document in formats.read_documents(path)]

    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    named = altered("entity.xlsx", "sheet1.xml", lambda text: entity + text.replace("flow", "&e;"))
    with pytest.raises(FormatError, match="damaged file"):
        read(named)
    sparse = altered("sparse.xlsx", "sheet1.xml", lambda text: text.replace('ref="A1:B2"', 'ref="A1:XFD1048576"'))
    assert read(sparse) == [Document("d1", "", "flow")]
    (tmp_path / "none.xlsx").write_text("doc_id,text\n")
    with pytest.raises(FormatError, match=r"none\.xlsx: expected an XLSX workbook, found another kind of file"):
        read(tmp_path / "none.xlsx")
    monkeypatch.setattr(workbook, "EXPANDED", 1000)
    with pytest.raises(FormatError, match=r"good\.xlsx: expected an XLSX workbook of at most 0 MiB when unpacked"):
        read(good)


# --- datasets ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The registry of ir_datasets, which is restored after the test."""
    ir_datasets = pytest.importorskip("ir_datasets")
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    return ir_datasets.registry


class Sized(NamedTuple):
    """A document without a text field and with fields that are not metadata, as in some collections."""

    doc_id: str
    url: str
    body: bytes
    parts: list[str]
    long: str

    def default_text(self) -> str:
        return " ".join(self.parts)


def registered(registry: Any, name: str, folder: Path, *documents: Any) -> None:
    """A dataset of ir_datasets' own classes on files of this machine."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, TrecDocs, TrecQrels, TrecQueries
    from ir_datasets.util import LocalDownload

    class Listed(BaseDocs):
        def docs_iter(self) -> Any:
            yield from documents
            raise RuntimeError("no network\nat all")

    (folder / "docs").write_text("<DOC>\n<DOCNO>d1</DOCNO>\n<TEXT>\nFlow past a wing.\n</TEXT>\n</DOC>\n")
    (folder / "topics").write_text(
        "<top>\n<num> Number: 1\n<title> wing flow\n<desc> Description:\nFlow?\n<narr> Narrative:\nAny.\n</top>\n"
    )
    (folder / "qrels").write_text("1 0 d1 2\n1 0 d2 0\n")
    parts = [TrecQueries(LocalDownload(folder / "topics")), TrecQrels(LocalDownload(folder / "qrels"), {})]
    docs = Listed() if documents else TrecDocs(LocalDownload(folder / "docs"))
    registry.register(name, Dataset(docs, *parts))
    registry.register(f"{name}/docs", Dataset(docs))


def test_a_dataset_in_place_of_files(registry: Any, tmp_path: Path) -> None:
    registered(registry, "local/wings", tmp_path)
    name = "ir_datasets:local/wings"
    assert list(formats.read_documents(name)) == [(1, Document("d1", "", "Flow past a wing."))]
    assert read_topics(name).values.tolist() == [["1", "wing flow", "Flow?", "Any."]]
    assert read_qrels(name).values.tolist() == [["1", "d1", 2], ["1", "d2", 0]]
    run = tmp_path / "a.run"
    run.write_text("1 Q0 d1 1 2 a\n")
    assert "1.0000" in ok("evaluate", name, run, "-m", "P@1")
    ok("new", tmp_path / "campaign", "--grades", "0-3")
    said = ok("import", tmp_path / "campaign", "--collection", name)
    assert f"{name}: 2 judgements by annotator 'qrels:local/wings' (2 new)" in said
    files = ["--documents", f"{name}/docs", "--topics", name, "--qrels", name]
    assert "2 unchanged" in ok("import", tmp_path / "campaign", *files)
    qrels = tmp_path / "wings"
    with Campaign(tmp_path / "campaign") as campaign:
        qrels.write_text("1 0 d1 3\n")
        campaign.imports.import_files(qrels=qrels)
        (tmp_path / "qrels").write_text("1 0 d2 1\n1 0 d1 1\n")
        with pytest.raises(ConflictError, match=r"ir_datasets:local/wings, record 1: expected 0"):
            campaign.imports.import_files(qrels=name)


def test_others_can_write_while_a_dataset_is_fetched(registry: Any, tmp_path: Path) -> None:
    """ir_datasets downloads when the first document is asked for."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs

    ok("new", tmp_path / "campaign")
    free = []

    class Fetched(BaseDocs):
        def docs_iter(self) -> Any:
            free.append(not campaign.store.connection.db.conn.in_transaction)
            yield Sized("d1", "https://example.org", b"", ["Flow"], "")

    registry.register("local/far", Dataset(Fetched()))
    with Campaign(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(documents=["ir_datasets:local/far"])
        assert free[0], "the first document is asked for in a transaction"
        assert campaign.store.judgements.counts()["documents"] == 1


def test_documents_without_a_field_of_text(registry: Any, tmp_path: Path) -> None:
    document = Sized("d1", "https://example.org", b"raw", ["Flow", "past"], "x" * 2000)
    registered(registry, "local/sized", tmp_path, document)
    documents = formats.read_documents("ir_datasets:local/sized")
    assert next(documents) == (
        1,
        Document("d1", "", "Flow past", {"url": "https://example.org", "parts": ["Flow", "past"]}),
    )
    with pytest.raises(InputError, match=r"sized: expected documents, but ir_datasets failed after 1: no network$"):
        next(documents)


def test_a_dataset_that_cannot_be_downloaded(registry: Any, tmp_path: Path) -> None:
    """One sentence, without the progress bars and messages of ir_datasets."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs

    class Far(BaseDocs):
        def docs_iter(self) -> Any:
            logger = ir_datasets.log.easy()
            logger.info("download starts")
            for _ in logger.pbar([1], desc="docs_iter"):
                try:
                    raise socket.gaierror(-2, "Name or service not known")
                except OSError as error:
                    raise RuntimeError("HTTPSConnectionPool(host='example.org')" * 20) from error
            yield

    registry.register("local/far", Dataset(Far()))
    ok("new", tmp_path / "campaign")
    refused = run("import", tmp_path / "campaign", "--documents", "ir_datasets:local/far")
    said = "cleverdon: ir_datasets:local/far: cannot download local/far (no network?)\n"
    assert refused.stderr.startswith(said)
    assert "docs_iter" not in refused.stderr
    assert "download starts" not in refused.stderr


def test_a_dataset_that_only_has_subsets(registry: Any, tmp_path: Path) -> None:
    from ir_datasets.datasets.base import Dataset

    registered(registry, "local/air/wings", tmp_path)
    registry.register("local/air", Dataset())
    with pytest.raises(InputError, match=r"none of these; name a subset: ir_datasets:local/air/wings and .*/docs$"):
        formats.find_collection("ir_datasets:local/air")
    with pytest.raises(
        InputError, match=r"with topics, found none of these; name a subset: ir_datasets:local/air/wings$"
    ):
        read_topics("ir_datasets:local/air")


@pytest.mark.parametrize("name", ["irds:beir/scifact", "beir/scifact"])
def test_a_name_that_looks_like_a_dataset(name: str) -> None:
    for read in (formats.find_collection, read_qrels):
        with pytest.raises(InputError, match="; for a dataset, write ir_datasets:beir/scifact$"):
            read(name)


def test_refusals_of_datasets(registry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered(registry, "local/wings", tmp_path)
    for read, name, said in (
        (read_topics, "local/wings/docs", "expected a dataset with topics, found documents"),
        (read_topics, "local/none", "ir_datasets has no dataset 'local/none'; `ir_datasets list` prints the names"),
        (formats.read_labels, "local/wings", "expected a file with labels, found a dataset"),
    ):
        with pytest.raises(InputError, match=said):
            read(f"ir_datasets:{name}")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    said = fails("evaluate", "ir_datasets:local/wings", tmp_path / "a.run", "-m", "P@1")
    assert "install it with `pip install ir-datasets`" in said


@pytest.mark.shared
@pytest.mark.slow
def test_a_real_collection_as_a_dataset(registry: Any, tmp_path: Path) -> None:
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import JsonlDocs, JsonlQueries, TrecQrels
    from ir_datasets.util import GzipExtract, LocalDownload

    folder = SHARED / "data" / "vaswani"
    docs = JsonlDocs(
        GzipExtract(LocalDownload(folder / "documents.jsonl.gz")), mapping={"doc_id": "docno", "text": "text"}
    )
    queries = JsonlQueries(LocalDownload(folder / "topics.jsonl"), mapping={"query_id": "qid", "text": "title"})
    registry.register("local/npl", Dataset(docs, queries, TrecQrels(LocalDownload(folder / "qrels.txt"), {})))
    documents = formats.read_documents("ir_datasets:local/npl")
    assert sum(1 for _ in documents) == 11_429
    assert len(read_topics("ir_datasets:local/npl")) == 93
    assert read_qrels("ir_datasets:local/npl").equals(read_qrels(folder / "qrels.txt"))
