"""Import of files, pipes and standard input: each is opened once, closed when read, and blocks nobody."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from collection.campaign import Campaign
from collection.cli import main
from tests.helpers import PATIENCE, fails, join, ok, run

FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
from collection.cli import main
main(["import", sys.argv[1], "--documents", sys.argv[2]])
"""
"""Imports a folder, with at most 60 open files."""


@contextmanager
def pipe(text: str) -> Iterator[str]:
    """A path such as the shell gives for ``<(cat file)``."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)


@pytest.mark.long
def test_a_folder_may_have_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for n in range(70):
        (tmp_path / "docs" / f"{n:02}.jsonl").write_text(f'{{"doc_id": "d{n}", "text": "text {n}"}}\n')
    ok("new", tmp_path / "campaign")
    command = [sys.executable, "-c", FEW_FILES, tmp_path / "campaign", tmp_path / "docs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    with Campaign(tmp_path / "campaign") as campaign:
        assert campaign.store.corpus.document_rows() == 70


def test_a_pipe_is_read_before_other_writers_are_blocked(campaign: Campaign, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "docs.jsonl")
    errors: list[BaseException] = []

    def write() -> None:
        with (tmp_path / "docs.jsonl").open("w") as file:  # waits until the import has opened the pipe
            try:
                with Campaign(campaign.directory) as other, other.store.connection.without_waiting():
                    other.people.accounts.add("ann", "annotator")
            except BaseException as error:
                errors.append(error)
            file.write('{"doc_id": "piped", "text": "of a pipe"}\n')

    writer = threading.Thread(target=write)
    writer.start()
    campaign.imports.import_files(documents=tmp_path / "docs.jsonl")
    join(writer, "the writer of the pipe")
    assert not errors
    assert campaign.store.corpus.documents(["piped"])["piped"].text == "of a pipe"


@pytest.mark.parametrize(
    ("option", "text", "what"),
    [
        ("--qrels", "1 0 d1 2\n", "their annotator"),
        ("--qrels", "1 gpt-4o d1 2\n", "the label set"),
        ("--clicks", "query_id\tdoc_id\trank\tshown\tclicked\n1\td1\t1\t3\t1\n", "the click log"),
        ("--run", "1 Q0 d1 1 2.5\n", "a run without a tag"),
    ],
)
def test_a_pipe_names_nothing(campaign: Campaign, option: str, text: str, what: str) -> None:
    expected = f"expected a file, whose name becomes that of {what}, found a pipe; write it to a file first"
    with pipe(text) as path:
        assert f"{path}: {expected}" in fails("import", campaign.directory, option, path)
    done = CliRunner().invoke(main, ["import", str(campaign.directory), option, "-"], input=text)
    assert done.exit_code
    assert f"standard input: {expected}" in done.output
    assert campaign.store.judgements.table().empty
    assert campaign.store.corpus.runs()["run"].tolist() == ["alpha", "beta"]


def test_a_run_in_a_pipe_has_the_name_of_its_tag(campaign: Campaign) -> None:
    with pipe("1 Q0 d1 1 2.5 bm25\n") as path:
        ok("import", campaign.directory, "--run", path)
    assert set(campaign.store.corpus.runs()["run"]) == {"alpha", "beta", "bm25"}


def test_a_pipe_is_given_once(tmp_path: Path) -> None:
    with pipe("1 0 d1 2\n") as path:
        assert (
            f"expected {path} once, since it can be read only once, found it twice"
            in run("evaluate", path, path).output
        )
    assert "expected standard input once" in run("evaluate", "-", "-").output


def test_workers_of_a_cluster_cannot_read_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 d1 2\n")
    with pipe("1 Q0 d1 1 2.5 bm25\n") as path:
        said = fails("evaluate", tmp_path / "qrels.txt", path, "--cluster", "127.0.0.1:1")
    assert f"{path}: expected a file with --cluster, whose workers open it, found a pipe" in said
