"""A campaign made by an earlier version opens, judges and exports: by commands and HTTP routes, not the Python API.

tests/golden/README.md says what is in it.
"""

import hashlib
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.application import create_app
from tests.helpers import GOLDEN, ROOT, judged, ok, post, some, until

CAMPAIGNS = sorted(file.parent.name for file in GOLDEN.glob("campaign-*/campaign.db"))
KEPT = GOLDEN / "campaign-0.1.0"
LABELLED = GOLDEN / "campaign-0.1.0-labels"
EXPECTED = GOLDEN / "campaign-0.1.0-expected"

PRINTED = {
    "status.txt": "status DIR",
    "status.json": "status DIR --format json",
    "agreement.txt": "agreement DIR --resamples 100",
    "agreement.json": "agreement DIR --resamples 100 --format json",
    "recall.txt": "recall DIR",
    "recall.json": "recall DIR --format json",
    "people.txt": "people DIR",
    "people.json": "people DIR --format json",
    "assign.txt": "assign DIR",
    "assign.json": "assign DIR --format json",
    "loop.txt": "loop DIR",
    "judging-page.txt": "judging-page DIR",
    "judging-page.json": "judging-page DIR --format json",
    "rules.json": "rules DIR --against majority --format json",
    "measured-preferences.json": "preferences DIR --format json",
    "evaluate.tsv": "evaluate EXPECTED/qrels.txt EXPECTED/collection/runs -m nDCG@10 -m AP --per-topic --format tsv",
    "evaluate-strata.tsv": "evaluate EXPECTED/strata.txt EXPECTED/collection/runs -m xinfAP -m infNDCG"
    " --qrels-form strata --format tsv",
}
"""What a command prints on its standard output, by the file that keeps it."""

EXPORTED = {
    "qrels.txt": "--qrels OUT",
    "qrels-unjudged.txt": "--qrels OUT --unjudged",
    "qrels-bob.txt": "--qrels OUT --rule annotator --annotator bob",
    "strata.txt": "--qrels OUT --qrels-form strata",
    "probabilities.txt": "--qrels OUT --qrels-form probabilities",
    "judgements.jsonl": "--judgements OUT",
    "judgements.csv": "--judgements OUT",
    "labels.csv": "--labels OUT",
    "labels.tsv": "--labels OUT",
    "passages.jsonl": "--passages OUT",
    "pool.tsv": "--pool OUT",
    "missing-documents.txt": "--missing-documents OUT",
    "sparse-qrels.txt": "--sparse-qrels OUT",
    "sparse-qrels-all.txt": "--sparse-qrels OUT --choice-rule all",
    "choices.jsonl": "--choices OUT",
    "preferences.jsonl": "--preferences OUT",
    "preferences.csv": "--preferences OUT",
    "preference-qrels.txt": "--preference-qrels OUT",
    "triples.tsv": "--triples OUT",
    "triples.jsonl": "--triples OUT --negatives unjudged-hard --ranks 1-5",
    "tuples.jsonl": "--tuples OUT --negatives-each 2",
    "clicks.tsv": "--clicks OUT",
    "click-qrels.txt": "--click-qrels OUT",
    "collection": "--collection OUT --with-runs",
}
"""Options of `cleverdon export DIR`, by the file or directory that they write."""

OF_LABELS = {
    "label-sets.json": "labels list DIR --format json",
    "label-comparison.json": "labels compare DIR reader --format json",
    "labelled-assign.json": "assign DIR --format json",
    "labelled-judging-page.json": "judging-page DIR --format json",
    "machine-labels.jsonl": "export DIR --machine-labels reader OUT",
    "labelled-judgements.jsonl": "export DIR --judgements OUT",
}
"""Commands for the campaign with machine labels, by the file that keeps what they print or write."""

TOKEN = "X-Cleverdon-Token"
UUID = "5eed0000-0000-4000-9000-000000000001"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A copy of the campaign."""
    return Path(shutil.copytree(KEPT, tmp_path / "campaign"))


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that no test changes."""
    return Path(shutil.copytree(KEPT, tmp_path_factory.mktemp("golden") / "campaign"))


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the campaign with machine labels that no test changes."""
    return Path(shutil.copytree(LABELLED, tmp_path_factory.mktemp("labelled") / "campaign"))


def comparable(file: Path) -> str:
    """The content without what differs from day to day, from version to version, or in the last digits of a number."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        content = json.loads(text)
        if isinstance(content, dict):
            for name in ("made_at", "cleverdon", "files"):  # the files of a collection are compared one by one
                content.pop(name, None)
        text = json.dumps(content, indent=1, ensure_ascii=False)
    return re.sub(r"\d+\.\d{10,}", lambda number: f"{float(number[0]):.9f}", text)


def compared(folder: Path) -> list[Path]:
    """Files of an exported collection that are data. The card and the loader are texts; checksums.txt is checked."""
    others = {"collection.md", "load.py", "checksums.txt"}
    return sorted(f.relative_to(folder) for f in folder.rglob("*") if f.is_file() and f.name not in others)


def rows_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def query(directory: Path, sql: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(directory / "campaign.db")
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


# --- what the campaign holds --------------------------------------------------------------------------


def test_every_table_has_a_row(labelled: Path) -> None:
    tables = query(labelled, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    assert len(tables) > 30
    assert [name for (name,) in tables if not query(labelled, f'SELECT 1 FROM "{name}" LIMIT 1')] == []


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("kind", {"graded", "cannot judge", "undone"}),
        ("counts_as", {"judgement", "adjudication", "surplus"}),
        ("source", {"click", "imported", "key", "script"}),
        ("strategy", {None, "depth", "loop", "random", "rrf", "stratified"}),
        ("flagged", {0, 1}),
    ],
)
def test_the_log_has_every_kind_of_judgement(directory: Path, column: str, values: set[object]) -> None:
    assert {value for (value,) in query(directory, f"SELECT {column} FROM judgements ORDER BY id")} == values


def test_the_log_has_optional_fields(directory: Path) -> None:
    for column in ("note", "passages", "reason", "revises", "model_round", "probability", "shown_at", "away"):
        assert query(directory, f"SELECT 1 FROM judgements WHERE {column} IS NOT NULL LIMIT 1"), column


def test_every_released_version_has_a_campaign() -> None:
    released = re.findall(r"^## (\S+) \([\d-]+\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert released
    assert {f"campaign-{version}" for version in released} <= set(CAMPAIGNS)


@pytest.mark.parametrize("kept", CAMPAIGNS)
def test_a_campaign_of_an_earlier_version_opens_and_is_intact(kept: str, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(GOLDEN / kept, tmp_path / "campaign"))
    ok("status", directory)
    assert ok("check", directory) == "No problems.\n"
    ok("export", directory, "--qrels", tmp_path / "qrels.txt", "--judgements", tmp_path / "log.jsonl")
    assert len(rows_of(tmp_path / "log.jsonl")) > 0


@pytest.mark.parametrize("kept", CAMPAIGNS)
def test_new_campaigns_have_the_same_schema(kept: str, tmp_path: Path) -> None:
    """Fails if a migration that campaigns were made with is edited instead of followed by another."""
    directory = Path(shutil.copytree(GOLDEN / kept, tmp_path / "campaign"))
    ok("status", directory)  # opening it runs the migrations that came later
    ok("new", tmp_path / "new")
    schema = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    assert query(directory, schema) == query(tmp_path / "new", schema)


@pytest.mark.parametrize("kept", CAMPAIGNS)
def test_neither_keys_nor_open_transactions_are_kept(kept: str) -> None:
    files = [file for file in (GOLDEN / kept).rglob("*") if file.is_file()]
    names = {file.name for file in files}
    assert "campaign.db" in names
    assert names.isdisjoint({".secret", "campaign.db-wal", "campaign.db-shm", "campaign.db-journal"})
    assert sum(file.stat().st_size for file in files) < 400_000


# --- commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRINTED)
def test_commands_print_what_they_printed(unchanged: Path, tmp_path: Path, name: str) -> None:
    places = {"DIR": str(unchanged), "EXPECTED": str(EXPECTED)}
    words = [re.sub("DIR|EXPECTED", lambda found: places[found[0]], word) for word in PRINTED[name].split()]
    made = tmp_path / name
    made.write_text(ok(*words).replace(str(unchanged), "DIR"), encoding="utf-8")
    assert comparable(made) == comparable(EXPECTED / name)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name != "collection"])
def test_exports_are_what_they_were(unchanged: Path, tmp_path: Path, name: str) -> None:
    ok("export", unchanged, *[tmp_path / name if word == "OUT" else word for word in EXPORTED[name].split()])
    made = sorted(file.name for file in tmp_path.iterdir())
    assert made == sorted(file.name for file in EXPECTED.glob(f"{name}*"))  # with the .json beside it
    for file in made:
        assert comparable(tmp_path / file) == comparable(EXPECTED / file)


@pytest.mark.parametrize("name", OF_LABELS)
def test_machine_labels_are_what_they_were(labelled: Path, tmp_path: Path, name: str) -> None:
    made = tmp_path / name
    printed = ok(*[{"DIR": labelled, "OUT": made}.get(word, word) for word in OF_LABELS[name].split()])
    if not made.exists():
        made.write_text(printed, encoding="utf-8")
    for file in some(tmp_path.iterdir()):  # with the .json beside it
        assert comparable(file) == comparable(EXPECTED / file.name)


def test_machine_labels_change_no_qrels(labelled: Path, tmp_path: Path) -> None:
    ok("export", labelled, "--qrels", tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == (EXPECTED / "qrels.txt").read_text()


@pytest.mark.slow
def test_the_collection_is_what_it_was(unchanged: Path, tmp_path: Path) -> None:
    made, expected = tmp_path / "collection", EXPECTED / "collection"
    ok("export", unchanged, *[made if word == "OUT" else word for word in EXPORTED["collection"].split()])
    assert compared(made) == compared(expected)
    for file in compared(made):
        if file.suffix == ".png":
            assert (made / file).read_bytes() == (expected / file).read_bytes()
        else:
            assert comparable(made / file) == comparable(expected / file), file
    for line in (made / "checksums.txt").read_text().splitlines():
        digest, file = line.split("  ")
        assert hashlib.sha256((made / file).read_bytes()).hexdigest() == digest, file


@pytest.mark.slow
def test_a_judgement_is_one_more_line_of_the_log(directory: Path, tmp_path: Path) -> None:
    ok("judge", directory, "--topic", "3", "--doc", "d12", "--annotator", "dora", "--grade", 2)
    ok("export", directory, "--judgements", tmp_path / "log.jsonl", "--qrels", tmp_path / "qrels.txt")
    *before, row = rows_of(tmp_path / "log.jsonl")
    assert before == rows_of(EXPECTED / "judgements.jsonl")
    assert [row[c] for c in ("annotator", "query_id", "doc_id", "kind", "relevance", "source", "counts_as")] == [
        *("dora", "3", "d12", "graded", 2, "script", "judgement")
    ]
    qrels = (tmp_path / "qrels.txt").read_text().splitlines()
    assert set(qrels) - set((EXPECTED / "qrels.txt").read_text().splitlines()) == {"3 0 d12 2"}


def test_what_was_judged_is_revised_and_taken_back(directory: Path, tmp_path: Path) -> None:
    pair = ("judge", directory, "--topic", "3", "--doc", "d05", "--annotator", "ann")
    ok(*pair, "--grade", 1)
    ok(*pair, "--undo")
    ok("export", directory, "--judgements", tmp_path / "log.jsonl")
    before = rows_of(EXPECTED / "judgements.jsonl")
    *_, former, revised, undone = rows_of(tmp_path / "log.jsonl")
    last = [row for row in before if (row["annotator"], row["query_id"], row["doc_id"]) == ("ann", "3", "d05")][-1]
    assert former == before[-1]
    assert (revised["revises"], undone["revises"]) == (last["uuid"], revised["uuid"])


@pytest.mark.slow
def test_documents_are_imported_and_pairs_pooled(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"doc_id": "d13", "title": "Oolong", "text": "Water of 90 degrees."}\n')
    (tmp_path / "new.run").write_text("3 Q0 d13 1 2.0 fresh\n3 Q0 d05 2 1.0 fresh\n")
    ok("import", directory, "--documents", tmp_path / "new.jsonl", "--run", tmp_path / "new.run")
    ok("pool", directory, "--depth", 1)
    ok("features", directory, "--processes", 1)
    status = json.loads(ok("status", directory, "--format", "json"))
    before = json.loads((EXPECTED / "status.json").read_text())
    more = {name: status[name] - before[name] for name in ("documents", "runs", "pool", "logged", "topics")}
    assert more == {"documents": 1, "runs": 1, "pool": 1, "logged": 0, "topics": 0}


# --- HTTP routes --------------------------------------------------------------------------------------


@contextmanager
def serving(directory: Path) -> Iterator[TestClient]:
    """The app's own routes, without Streamlit's pages."""
    app = create_app(directory, public_addresses=["http://judging.test"])
    routes = Starlette(routes=app._user_routes, middleware=app._user_middleware, lifespan=app._user_lifespan)
    with TestClient(routes, follow_redirects=False, base_url="http://judging.test") as client:
        yield client


@pytest.fixture
def client(directory: Path) -> Iterator[TestClient]:
    """The app on the copy, with no topic in the loop, so that it starts no process that learns."""
    ok("loop", directory, "--mode", "pool", "--topic", "10")
    with serving(directory) as client:
        yield client


def sign_in(client: TestClient, name: str, password: str) -> None:
    """Sign in by the form; what the card posts from then on carries a token."""
    assert client.post("/signin", data={"name": name, "password": password}).status_code == 303
    client.headers[TOKEN] = "none yet"
    client.headers[TOKEN] = post(client, "token", annotator=name)["token"]


@pytest.mark.slow
def test_judging_in_the_app(client: TestClient, directory: Path, tmp_path: Path) -> None:
    assert client.post("/signin", data={"name": "ann", "password": "not her password"}).status_code == 403
    sign_in(client, "ann", "wing flow heat slab")
    assert [topic["query_id"] for topic in post(client, "topics")["topics"]] == ["1", "3"]  # the others are assigned
    (document,) = post(client, "sync", query_id="1", want=3)["documents"]
    assert (document["doc_id"], document["title"]) == ("d08", "Freezing beans")
    answer = post(client, "sync", decisions=[judged("d08", uuid=UUID)])
    assert (answer["saved"], answer["refused"]) == ([UUID], [])
    ok("export", directory, "--judgements", tmp_path / "log.jsonl")
    row = rows_of(tmp_path / "log.jsonl")[-1]
    assert [row[c] for c in ("uuid", "annotator", "relevance", "strategy")] == [UUID, "ann", 1, "rrf"]


@pytest.mark.slow
def test_the_card_gets_guidelines_history_and_images(client: TestClient) -> None:
    sign_in(client, "ann", "wing flow heat slab")
    guidelines = post(client, "guidelines")
    assert "<strong>by itself</strong>" in guidelines["html"]
    assert guidelines["notes"] == {"1": "Espresso does not count as filter coffee."}
    entries = post(client, "history", query_id="1")["entries"]
    own = [row for row in rows_of(EXPECTED / "judgements.jsonl") if (row["annotator"], row["query_id"]) == ("ann", "1")]
    assert [entry["doc_id"] for entry in entries] == [
        row["doc_id"] for row in reversed(own) if row["counts_as"] == "judgement"
    ]
    (image,) = (EXPECTED / "collection" / "files").iterdir()
    (document,) = [d for d in post(client, "sync", query_id="1", want=0, recent=True)["recent"] if d["doc_id"] == "d02"]
    answer = client.get(document["images"][0]["src"])
    assert (answer.headers["content-type"], answer.content) == ("image/png", image.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize(("task", "topics"), [("list", ["3"]), ("preference", ["1", "3"])])
def test_lists_and_preferences_go_on(client: TestClient, directory: Path, task: str, topics: list[str]) -> None:
    ok("judging-page", directory, "--task", task)
    sign_in(client, "ann", "wing flow heat slab")
    units = post(client, f"{task}/sync", want=4)["units"]
    assert [unit["topic"]["query_id"] for unit in units] == topics
    assert {len(unit["documents"]) for unit in units} == {4}


@pytest.mark.slow
def test_a_locked_account_stays_out(client: TestClient) -> None:
    assert client.post("/signin", data={"name": "eve", "password": "heat wing slab flow"}).status_code == 403


@pytest.mark.slow
@pytest.mark.long
def test_a_topic_in_its_loop_goes_on(directory: Path) -> None:
    with serving(directory) as client:
        sign_in(client, "bob", "slab heat flow wing")
        answers: list[dict[str, Any]] = []
        until(
            lambda: answers.append(post(client, "sync", query_id="10", want=2)) or not answers[-1]["behind"],
            "the model of the other process",
        )
        answer = answers[-1]
    assert answer["model_round"] is not None
    handed_out = {document["doc_id"] for document in answer["documents"]}
    lines = [line.split() for line in (EXPECTED / "qrels.txt").read_text().splitlines()]
    assert handed_out
    assert handed_out.isdisjoint({doc_id for query_id, _, doc_id, _ in lines if query_id == "10"})
