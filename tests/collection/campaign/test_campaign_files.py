"""The files of a campaign's directory: what may be removed, what no output replaces, and who may read them."""

import hashlib
import os
import random
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotate.auth.page_access import PAGES
from collection import Campaign, Judgement, formats
from collection.campaign.corpus import stored_runs
from collection.campaign.exports.collection_card import CollectionChoices
from collection.campaign.operations import backup_archive, backups
from collection.core import layout
from collection.core.errors import CampaignError, CleverdonError, FormatError, InputError, StorageError
from collection.formats.write import replacing, replacing_bytes
from collection.measures import parse
from tests.helpers import PATIENCE, Opened, cases, fails, ok, run

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + bytes(44) + b"IEND" + bytes(4)


def contents(directory: Path, but: tuple[str, ...] = ("campaign.db-shm", "campaign.db-wal")) -> dict[str, str | None]:
    """Every file below a directory with the hash of what is in it, every folder with None."""
    return {
        str(place.relative_to(directory)): None if place.is_dir() else hashlib.sha256(place.read_bytes()).hexdigest()
        for place in sorted(directory.rglob("*"))
        if place.name not in but
    }


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    said = [Judgement(str(uuid4()), "ann", "1", doc, "graded", 1) for doc in ("d1", "d2")]
    assert not campaign.judging.judge_many(said).refused
    campaign.operations.server_state.secret()
    return campaign


# --- what an import removes -------------------------------------------------------------------------------


USERS = (
    "notes.txt",
    "bm25.parquet",
    "bm25.20240101-1530.parquet",
    "alpha.parquet",
    "left.part",
    "alpha.run.bak",
    ".hidden",
)


def users_files(directory: Path) -> dict[str, str | None]:
    """Files and folders of the user in every folder of a campaign; what they hold."""
    before = contents(directory)
    for folder in ("runs", "files", "features", "exports"):
        for name in (*USERS, f"{'a' * 64}.txt.bak", "made-by-me"):
            (directory / folder / "deeper").mkdir(parents=True, exist_ok=True)
            (directory / folder / name).write_text(f"{folder} {name}")
            (directory / folder / "deeper" / name).write_text(f"deeper {folder} {name}")
    return {name: digest for name, digest in contents(directory).items() if digest and name not in before}


def test_a_refused_import_leaves_the_directory_as_it_was(campaign: Campaign, files: Path) -> None:
    campaign.imports.import_files(topics=files / "topics.jsonl")
    killed = campaign.directory / "runs" / "stranger.0123abcd-5-0123456789abcdef.parquet"
    killed.write_text("of an import that was killed")
    (files / "new.run").write_text("1 Q0 d1 1 2.0 new\n")
    (files / "bad.run").write_text("broken\n")
    (files / "a.png").write_bytes(PNG)
    (files / "pictures.jsonl").write_text('{"doc_id": "p1", "text": "t", "images": ["a.png"]}\n{"doc_id": 7.5}\n')
    before = contents(campaign.directory)
    for refused in (
        {"runs": [files / "absent.run"]},
        {"runs": [files / "new.run", files / "bad.run"]},
        {"documents": [files / "pictures.jsonl"]},
        {"runs": [files / "new.run"], "qrels": files / "bad.run"},
    ):
        with pytest.raises(FormatError):
            campaign.imports.import_files(**refused)  # type: ignore[arg-type]
        assert contents(campaign.directory) == before


def test_an_import_that_cannot_be_committed_leaves_the_directory_as_it_was(
    campaign: Campaign, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But an image stays that another import has used since."""
    (files / "new.run").write_text("1 Q0 d1 1 2.0 new\n")
    for name in ("a.png", "b.png"):
        (files / name).write_bytes(PNG + name.encode())
    (files / "pictures.jsonl").write_text('{"doc_id": "p1", "text": "t", "images": ["a.png", "b.png"]}\n')
    (files / "other.jsonl").write_text('{"doc_id": "p2", "text": "t", "images": ["b.png"]}\n')
    before = contents(campaign.directory)
    connection = campaign.store.connection.db.conn
    used = False

    class Full:
        """A connection whose commit fails once, and then another process imports."""

        def __getattr__(self, name: str) -> object:
            return getattr(connection, name)

        def commit(self) -> None:
            monkeypatch.setattr(campaign.store.connection.db, "conn", connection)
            connection.rollback()
            if used:
                with Campaign(campaign.directory) as other:
                    other.imports.import_files(documents=[files / "other.jsonl"])
            raise StorageError("the disk of the campaign is full")

    for used in (False, True):
        monkeypatch.setattr(campaign.store.connection.db, "conn", Full())
        with pytest.raises(StorageError, match="is full"):
            campaign.imports.import_files(documents=[files / "pictures.jsonl"], runs=[files / "new.run"])
        left = contents(campaign.directory).keys() - before.keys() - {"files"}
        shared = hashlib.sha256((files / "b.png").read_bytes()).hexdigest()
        assert left == ({f"files/{shared}.png"} if used else set())
    assert campaign.operations.backups.check() == []


def test_the_names_of_new_folders_are_durable(
    campaign: Campaign, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[Path] = set()
    sync = layout.sync_folder
    monkeypatch.setattr(layout, "sync_folder", lambda folder: (synced.add(folder), sync(folder)))
    (files / "a.png").write_bytes(PNG)
    (files / "pictures.jsonl").write_text('{"doc_id": "p1", "text": "t", "images": ["a.png"]}\n')
    campaign.imports.import_files(documents=[files / "pictures.jsonl"])
    assert campaign.directory in synced
    report, _ = backups.add(campaign.directory, tmp_path / "to" / "backups")
    assert {tmp_path, tmp_path / "to", tmp_path / "to" / "backups"} <= synced
    backup_archive.restore(report.path, tmp_path / "restored" / "campaign")
    assert {tmp_path / "restored", tmp_path / "restored" / "campaign"} <= synced
    Campaign.create(tmp_path / "created" / "campaign").close()
    assert {tmp_path / "created", tmp_path / "created" / "campaign"} <= synced


def test_files_and_folders_of_the_user_survive_every_import_and_stop_none(campaign: Campaign, files: Path) -> None:
    mine = users_files(campaign.directory)
    (files / "other.run").write_text("1 Q0 d8 1 2.0 alpha\n")
    campaign.imports.import_files(topics=files / "topics.jsonl")
    campaign.imports.import_files(runs=[files / "other.run"], replace=True)
    with pytest.raises(FormatError):
        campaign.imports.import_files(runs=[files / "absent.run"])
    campaign.corpus.features.update()
    (files / "more.jsonl").write_text('{"doc_id": "m1", "text": "Another document."}\n')
    campaign.imports.import_files(documents=[files / "more.jsonl"])
    campaign.corpus.features.update()
    found = contents(campaign.directory)
    assert {name: found.get(name) for name in mine} == mine
    runs = {name for name in found if name.startswith("runs/") and layout.is_run_file(Path(name).name)}
    assert runs == {f"runs/{file}" for file in campaign.store.corpus.runs()["file"]}


def test_a_link_in_runs_is_not_removed(campaign: Campaign, files: Path) -> None:
    link = campaign.directory / "runs" / "alpha.0123abcd-5-0123456789abcdef.parquet"
    link.symlink_to(files / "a.run")
    campaign.imports.import_files(topics=files / "topics.jsonl")
    assert link.is_symlink()


def test_a_run_is_never_written_over_a_file_that_is_there(campaign: Campaign, files: Path) -> None:
    (name,) = campaign.store.corpus.runs().query("run == 'alpha'")["file"]
    content = (campaign.directory / "runs" / name).read_bytes()
    (files / "other.run").write_text("1 Q0 d8 1 2.0 alpha\n")
    campaign.imports.import_files(runs=[files / "other.run"], replace=True)
    assert (campaign.directory / "runs" / name).read_bytes() == content  # for those who are about to read it
    campaign.imports.import_files(runs=[files / "a.run"], replace=True)
    assert campaign.store.corpus.runs().query("run == 'alpha'")["file"].item() != name


def test_an_update_of_features_keeps_what_the_user_put_into_its_folder(campaign: Campaign, files: Path) -> None:
    campaign.corpus.features.update()
    (folder,) = (campaign.directory / "features").glob("made-*")
    (folder / "notes.txt").write_text("mine")
    (files / "more.jsonl").write_text('{"doc_id": "m1", "text": "Another document."}\n')
    campaign.imports.import_files(documents=[files / "more.jsonl"])
    campaign.corpus.features.update()
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


# --- what no output replaces ------------------------------------------------------------------------------


def own_files(directory: Path) -> list[Path]:
    """The files of the campaign, and places among them where there is none yet."""
    named = [file for file in directory.rglob("*") if file.is_file()]
    more = ("sso.toml", "campaign.db-journal", "CAMPAIGN.DB", "runs/new.tsv", "files/x", "features/made-1/y", "runs")
    return [*named, *(directory / name for name in more)]


def spellings(file: Path, directory: Path, scratch: Path) -> Iterator[Path | str]:
    """Names by which a file of the campaign can be reached."""
    yield file
    yield os.path.relpath(file)
    yield directory / ".." / directory.name / file.relative_to(directory)
    if file.is_file():
        (scratch / "link.csv").unlink(missing_ok=True)
        (scratch / "link.csv").symlink_to(file)
        yield scratch / "link.csv"
        (scratch / "hard.csv").unlink(missing_ok=True)
        (scratch / "hard.csv").hardlink_to(file)
        yield scratch / "hard.csv"
    (scratch / "folder").unlink(missing_ok=True)
    (scratch / "folder").symlink_to(directory)
    yield scratch / "folder" / file.relative_to(directory)


OPTIONS = (
    "qrels", "judgements", "labels", "passages", "pool", "missing-documents", "sparse-qrels", "choices", "preferences",
    "preference-qrels", "triples", "tuples", "clicks", "click-qrels", "collection",
)  # fmt: skip


def test_no_output_replaces_a_file_of_the_campaign(judged: Campaign, tmp_path: Path) -> None:
    judged.corpus.features.update()
    before = contents(judged.directory)
    for file in own_files(judged.directory):
        for path in spellings(file, judged.directory, tmp_path):
            with pytest.raises(InputError, match="belongs to the campaign"):
                judged.exports.files.write(qrels=path)
    assert contents(judged.directory) == before


@pytest.mark.parametrize("option", OPTIONS)
def test_no_option_of_export_replaces_the_database_or_a_run(judged: Campaign, tmp_path: Path, option: str) -> None:
    (run, *_) = (judged.directory / "runs").iterdir()
    before = contents(judged.directory)
    (tmp_path / "hard").hardlink_to(judged.directory / "campaign.db")
    other = "--qrels" if option == "pool" else "--pool"
    for path in (judged.directory / "campaign.db", run, judged.directory / "runs" / "new.tsv", tmp_path / "hard"):
        said = fails("export", judged.directory, other, tmp_path / "other.txt", f"--{option}", path)
        assert f"{path} belongs to the campaign in {judged.directory}" in said
    assert contents(judged.directory) == before


def test_a_command_without_a_campaign_replaces_no_file_of_one_either(campaign: Campaign, files: Path) -> None:
    before = contents(campaign.directory)
    (files / "q.txt").write_text("1 0 d1 1\n")
    given = ("--documents", files / "documents.jsonl", "--topics", files / "topics.jsonl", "--qrels", files / "q.txt")
    assert "belongs to the campaign" in fails("simulate", *given, "--curves", campaign.directory / "campaign.db")
    with pytest.raises(InputError, match="belongs to the campaign"):
        formats.write_lines(["a"], campaign.directory / "runs" / "ids.txt")
    with pytest.raises(InputError, match="belongs to the campaign"):
        formats.write_zip(files, campaign.directory / "campaign.db")
    assert contents(campaign.directory) == before


def test_a_folder_of_the_campaign_that_lies_elsewhere_is_the_campaign_s(campaign: Campaign, tmp_path: Path) -> None:
    (campaign.directory / "runs").rename(tmp_path / "disk")
    (campaign.directory / "runs").symlink_to(tmp_path / "disk")
    (run, *_) = (tmp_path / "disk").iterdir()
    for path in (run, campaign.directory / "runs" / run.name, tmp_path / "disk" / "new.tsv"):
        with pytest.raises(InputError, match="belongs to the campaign"):
            campaign.exports.files.write(pool=path)
    assert "belongs to the campaign" in fails("export", campaign.directory, "--pool", campaign.directory / "runs" / "x")
    assert [run.frame["doc_id"].size for run in campaign.corpus.runs()] == [5, 4]


def test_no_campaign_is_made_among_the_files_of_another(campaign: Campaign) -> None:
    for place in ("runs/new", "features", "files"):
        assert "belongs to the campaign" in fails("new", campaign.directory / place)
        assert "belongs to the campaign" in fails("demo", campaign.directory / place, "--build-only")
    ok("new", campaign.directory / "exports" / "new")


def test_two_outputs_are_two_files(judged: Campaign, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(tmp_path / "out.txt")
    for other in ("out.txt", "link.txt"):
        given = ("export", judged.directory, "--qrels", tmp_path / "out.txt", "--pool", tmp_path / other)
        assert "expected a different file for each output" in run(*given).stderr
    assert not (tmp_path / "out.txt").exists()


def test_no_collection_takes_the_place_of_a_campaign_or_of_a_folder_around_it(judged: Campaign, tmp_path: Path) -> None:
    for name in ("collection.json", "checksums.txt"):
        (tmp_path / name).write_text("")
        (judged.directory / name).write_text("")
    for place in (judged.directory, tmp_path, judged.directory / "features", judged.directory / "runs" / "c"):
        with pytest.raises(InputError, match="belongs to the campaign"):
            judged.exports.collection.write(place, replace=True)
    assert judged.directory.is_dir()


@pytest.mark.slow
def test_exports_of_the_campaign_and_new_files_in_it_are_written(judged: Campaign) -> None:
    for path in (judged.directory / "exports" / "q.txt", judged.directory / "q.txt"):
        ok("export", judged.directory, "--qrels", path)
        ok("export", judged.directory, "--qrels", path)
        assert formats.read_qrels(path)["doc_id"].tolist() == ["d1", "d2"]
    ok("export", judged.directory, "--collection", judged.directory / "exports" / "c")


# --- writing is atomic ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("x")])
def test_a_failed_output_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, name: str, failure: BaseException
) -> None:
    (tmp_path / name).write_text("old")
    with pytest.raises((InputError, type(failure))), replacing(tmp_path / name) as file:
        file.write("new" * 100_000)
        raise failure
    assert contents(tmp_path) == {name: hashlib.sha256(b"old").hexdigest()}


def test_an_output_at_a_link_that_leads_to_itself_is_refused(judged: Campaign, tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    for refused in (
        lambda: judged.exports.files.write(qrels=loop),
        lambda: judged.exports.collection.write(loop),
        lambda: formats.write_lines(["x"], loop),
        lambda: layout.home(loop),
    ):
        with pytest.raises(InputError, match="loop.txt: symbolic links cannot be resolved"):
            refused()
    assert "symbolic links cannot be resolved" in fails("export", judged.directory, "--qrels", loop, "--pool", loop)


def test_a_file_that_is_replaced_keeps_its_permissions_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("old")
    (tmp_path / "out.txt").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "out.txt")
    formats.write_lines(["new"], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out.txt").read_text() == "new\n"
    assert mode(tmp_path / "out.txt") == 0o640


def test_a_pipe_is_written_to_and_stays_one(judged: Campaign, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        judged.exports.files.write(qrels=tmp_path / "pipe")
        said, _ = reader.communicate(timeout=PATIENCE)
    assert said == b"1 0 d1 1\n1 0 d2 1\n"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not (tmp_path / "pipe.rule.json").exists()


@pytest.mark.slow
@pytest.mark.long
def test_standard_output_named_as_a_file_is_appended_to(judged: Campaign, tmp_path: Path) -> None:
    """`>>` keeps what a file holds, and `|` is a pipe: neither can be replaced by a file."""
    opened = f"from collection import Campaign; Campaign({str(judged.directory)!r})"
    code = f"{opened}.exports.files.write(qrels='/dev/stdout')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert piped.stdout == b"1 0 d1 1\n1 0 d2 1\n"
    (tmp_path / "log").write_text("before\n")
    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "before\n1 0 d1 1\n1 0 d2 1\n"
    assert not list(Path("/dev").glob("stdout.*"))


@pytest.mark.slow
def test_standard_output_that_leads_into_a_campaign_is_refused(judged: Campaign) -> None:
    code = "from collection import formats; formats.write_lines(['x'], '/dev/stdout')"
    before = contents(judged.directory)
    with (judged.directory / "campaign.db").open("ab") as log:
        done = subprocess.run([sys.executable, "-c", code], stdout=log, stderr=subprocess.PIPE, check=False)
    assert b"belongs to the campaign" in done.stderr
    assert contents(judged.directory) == before


# --- who may read them ------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(directory: Path) -> list[str]:
    """What anybody but the owner could read or enter."""
    return [str(place) for place in (directory, *directory.rglob("*")) if mode(place) & 0o077]


@pytest.mark.slow
def test_only_the_owner_can_read_a_campaign(umask: int, tmp_path: Path, files: Path) -> None:
    (files / "a.png").write_bytes(PNG)
    (files / "pictures.jsonl").write_text('{"doc_id": "p1", "text": "A picture.", "images": ["a.png"]}\n')
    (tmp_path / "made").mkdir()  # an empty directory is taken as it is
    for directory in (tmp_path / "new", tmp_path / "made"):
        with Campaign.create(directory) as campaign:
            campaign.imports.import_files(
                topics=files / "topics.jsonl",
                documents=[files / "documents.jsonl", files / "pictures.jsonl"],
                runs=[files / "a.run", files / "b.run"],
            )
            campaign.people.pools.add("depth", depth=2)
            campaign.judging.judge("ann", "1", "p1", 1)
            campaign.corpus.features.update()
            campaign.operations.server_state.secret()
            campaign.exports.files.write(qrels=directory / "exports" / "q.txt", pool=directory / "pool.tsv")
            campaign.exports.collection.write(directory / "exports" / "c", CollectionChoices(with_runs=True))
            assert open_to_others(directory) == []
            campaign.exports.files.write(pool=tmp_path / "pool.tsv")
    assert mode(tmp_path / "pool.tsv") == 0o666 & ~umask


def test_a_campaign_that_others_could_read_is_closed_when_it_is_opened(judged: Campaign) -> None:
    judged.corpus.features.update()
    directory = judged.directory
    (directory / "runs" / "notes.txt").write_text("mine")
    for place in (directory, *directory.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
    with Campaign(directory):
        theirs = [place for place in open_to_others(directory) if not place.endswith("-shm")]
        assert theirs == [str(directory / "runs" / "notes.txt")]
        assert mode(directory / "runs" / "notes.txt") == 0o644


def test_a_campaign_of_somebody_else_is_opened_as_it_is(judged: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    judged.directory.chmod(0o770)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with Campaign(judged.directory) as campaign:
        assert campaign.store.judgements.counts()["runs"] == 2


def test_an_error_inside_an_output_is_not_taken_for_one_of_writing(tmp_path: Path) -> None:
    with pytest.raises(CleverdonError, match="there is no folder"), replacing_bytes(tmp_path / "absent" / "x"):
        pass


# --- files of runs ----------------------------------------------------------------------------------------


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def beheaded(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(bytes(200) + content[200:])


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[60] ^= 0xFF
    file.write_bytes(content)


def text(file: Path) -> None:
    file.write_text("no Parquet")


def empty(file: Path) -> None:
    file.write_bytes(b"")


def missing(file: Path) -> None:
    file.unlink()


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def with_null_documents(file: Path) -> None:
    rewritten(file, doc_id=lambda frame: frame["doc_id"].mask(frame["rank"] == 1))


def with_null_topics(file: Path) -> None:
    rewritten(file, query_id=lambda frame: frame["query_id"].mask(frame["rank"] == 1))


def with_null_scores(file: Path) -> None:
    rewritten(file, score=lambda frame: frame["score"].mask(frame["rank"] == 1))


def of_other_types(file: Path) -> None:
    rewritten(file, doc_id=lambda frame: range(len(frame)))


def of_other_columns(file: Path) -> None:
    rewritten(file, more=1)


def of_other_ranks(file: Path) -> None:
    rewritten(file, rank=lambda frame: frame["rank"] + 100)


def with_more_rows(file: Path) -> None:
    frame = pd.read_parquet(file)
    pd.concat([frame, frame]).to_parquet(file, index=False)


def that_expands(file: Path) -> None:
    """A quarter of a megabyte, of which every row gets 100 MB."""
    frame = pd.read_parquet(file)
    table = pa.Table.from_pandas(frame.assign(doc_id="d"), preserve_index=False).replace_schema_metadata(None)
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * len(frame), pa.int32()), ["x" * 100_000_000])
    pq.write_table(table.set_column(1, "doc_id", ids), file, compression="zstd")


def that_is_not_utf8(file: Path) -> None:
    table = pa.Table.from_pandas(pd.read_parquet(file), preserve_index=False).replace_schema_metadata(None)
    ids = pa.Array.from_buffers(
        pa.large_string(), len(table), pa.array([b"\xff\xfe"] * len(table), pa.large_binary()).buffers()
    )
    pq.write_table(table.set_column(table.schema.get_field_index("doc_id"), "doc_id", ids), file)


def rewritten(file: Path, **columns: Any) -> None:
    pd.read_parquet(file).assign(**columns).to_parquet(file, index=False)


DAMAGES = (
    truncated, beheaded, flipped, text, empty, missing, a_folder, with_null_documents, with_null_topics,
    with_null_scores, of_other_types, of_other_columns, of_other_ranks, with_more_rows, that_expands,
    that_is_not_utf8,
)  # fmt: skip


def named_as_before(campaign: Campaign) -> None:
    """Give the files of runs the names that earlier versions gave, without the digest of their content."""
    for name, file in campaign.store.corpus.runs()[["run", "file"]].itertuples(index=False):
        before = re.sub(r"-[0-9a-f]{16}\.", ".", file)
        assert before != file
        (campaign.directory / "runs" / file).rename(campaign.directory / "runs" / before)
        with campaign.store.transaction():
            campaign.store.connection.db.conn.execute("UPDATE runs SET file = ? WHERE run = ?", (before, name))


def damaged(campaign: Campaign, damage: Callable[[Path], None]) -> str:
    """Damage the file of the run alpha; what is then said of it, from the name of the run to the remedy."""
    (name,) = campaign.store.corpus.runs().query("run == 'alpha'")["file"]
    damage(campaign.directory / "runs" / name)
    return f"run 'alpha': runs/{re.escape(name)} .*`cleverdon import {campaign.directory} --run FILE --replace`"


@pytest.mark.slow
@pytest.mark.parametrize("by_digest", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long])])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_run_is_named_with_the_remedy(
    campaign: Campaign, files: Path, damage: Callable[[Path], None], by_digest: bool
) -> None:
    if not by_digest:
        named_as_before(campaign)
    campaign.judging.judge("ann", "1", "d1", 1)
    before = [run.frame for run in campaign.corpus.runs()]
    said = damaged(campaign, damage)
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (
        lambda: list(campaign.corpus.runs()),
        lambda: campaign.people.pools.add("depth", depth=9),
        lambda: campaign.results.evaluation.evaluate([parse("AP")]),
    ):
        with pytest.raises(CampaignError, match=said) as refusal:
            read()
        assert "\n" not in str(refusal.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < begin + 400_000  # kB
    campaign.imports.import_files(runs=[files / "a.run"], replace=True)
    for now, then in zip(campaign.corpus.runs(), before, strict=True):
        pd.testing.assert_frame_equal(now.frame, then)


def test_a_run_as_earlier_versions_wrote_it_is_read(campaign: Campaign) -> None:
    before = [run.frame for run in campaign.corpus.runs()]
    named_as_before(campaign)
    for file in (campaign.directory / "runs").iterdir():
        pd.read_parquet(file).to_parquet(file, index=False, compression="zstd")
    for now, then in zip(campaign.corpus.runs(), before, strict=True):
        pd.testing.assert_frame_equal(now.frame, then)


def mutated(rng: random.Random, content: bytes) -> bytes:
    """The bytes with some of them changed, removed or added, often among the metadata at the end."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 30])):
        at = rng.randrange(0 if rng.random() < 0.5 else max(0, len(data) - 2500), len(data))
        kind = rng.random()
        if kind < 0.6:
            data[at] = rng.randrange(256)
        elif kind < 0.7:
            del data[at : at + rng.randrange(1, 50)]
        elif kind < 0.8:
            data[at:at] = rng.randbytes(rng.randrange(1, 20))
        else:
            data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


@pytest.mark.slow
@pytest.mark.fuzz
def test_damaged_runs_are_refused_or_read_as_they_were(campaign: Campaign, files: Path) -> None:
    lines = [f"{q} Q0 doc-{q}-{rank} {rank} {1000 - rank} wide" for q in (1, 2) for rank in range(1, 200)]
    (files / "wide.run").write_text("\n".join(lines) + "\n")
    campaign.imports.import_files(runs=[files / "wide.run"])
    recorded = campaign.store.corpus.runs().query("run == 'wide'").to_dict("records")[0]
    place = campaign.directory / "runs" / recorded["file"]
    content, sound = place.read_bytes(), stored_runs.read(campaign.directory, recorded)
    rng, refused = random.Random(7), list[str]()
    number_of_files = cases(300, 3000)
    for number in range(number_of_files):
        place.write_bytes(mutated(rng, content))
        try:
            found = stored_runs.read(campaign.directory, recorded)
        except CampaignError as error:
            refused.append(str(error))
        else:
            pd.testing.assert_frame_equal(found, sound, obj=f"mutation {number}")
    assert len(refused) > number_of_files / 2
    assert not [sentence for sentence in refused if "\n" in sentence or "--replace" not in sentence]


@pytest.mark.long
def test_every_command_and_page_says_which_run_is_damaged(campaign: Campaign, tmp_path: Path, opened: Opened) -> None:
    for annotator in ("ann", "ben"):
        for doc, grade in (("d1", 1), ("d2", 0), ("d6", 2)):
            campaign.judging.judge(annotator, "1", doc, grade)
    campaign.corpus.features.update()
    said = damaged(campaign, truncated)
    directory = campaign.directory
    for command in (
        ("pool", directory, "--depth", 9),
        ("export", directory, "--triples", tmp_path / "t.tsv", "--negatives", "hard"),
        ("export", directory, "--collection", tmp_path / "c", "--with-runs"),
        ("rules", directory, "--rule", "lowest", "--against", "highest", "-m", "AP"),
        ("agreement", directory, "--measure", "AP"),
        ("reusability", directory),
    ):
        assert re.search(said, fails(*command)), command
    assert not (tmp_path / "c").exists()
    for command in ("status", "loop", "recall", "assign", "people"):
        ok(command, directory)
    app = opened(campaign, "overview")
    refused = set()
    for page in PAGES:
        app.switch_page(f"views/{page.file}").run()
        assert not app.exception, (page.file, app.exception)
        shown = [re.sub(r"\\(.)", r"\1", error.value).replace("\u200b", "") for error in app.error]
        if any(re.search(said, sentence) for sentence in shown):
            refused.add(page.url_path)
    assert {"compare", "reusability"} <= refused
