"""The part of `cleverdon doctor` about the machine: each problem really occurs, is found, and says what to do."""

import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collection import doctor
from collection.core.records import Finding
from tests.helpers import ROOT, needs_git, small_file_system


@pytest.fixture
def findings() -> list[Finding]:
    return []


def only(findings: list[Finding]) -> Finding:
    (one,) = findings
    return one


# --- packages -------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that comes before all others."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.mark.parametrize("text", ['{"dir_info":{"editable":true}}', '{"dir_info": {"editable": true}}'])
def test_an_editable_installation(site: Path, text: str, findings: list[Finding]) -> None:
    install(site, "cleverdon", "9.9")
    (site / "cleverdon-9.9.dist-info" / "direct_url.json").write_text(text)
    assert doctor._cleverdon(findings)["installed"] == "editable"


def install(site: Path, name: str, version: str, *lines: str) -> None:
    """Install a package that consists of its metadata."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines, ""])
    (folder / "METADATA").write_text(text)


@needs_git
def test_the_commit_of_a_checkout(findings: list[Finding], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = doctor._cleverdon(findings)["commit"]
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert commit
    assert head.startswith(commit.removesuffix("-dirty"))
    monkeypatch.setattr(doctor, "__file__", str(tmp_path / "collection" / "doctor.py"))
    assert doctor._commit() is None


def test_missing_and_unfit_packages(site: Path, findings: list[Finding]) -> None:
    wanted = ["absent>=1", "old<3,>=2", "fit>=1", 'extra-fit>=1; extra == "some"', 'none>=1; extra == "other"']
    wanted += ['fit>=1; extra == "other"', 'ruff>=1; extra == "dev"', 'elsewhere>=1; python_version < "3"']
    extras = [f"Provides-Extra: {extra}" for extra in ("some", "other", "dev")]
    install(site, "cleverdon", "9.9", *extras, *(f"Requires-Dist: {each}" for each in wanted))
    for name in ("old", "fit", "extra-fit", "scipy"):
        install(site, name, "1.5")
    installed = dict.fromkeys(("old", "fit", "extra-fit", "scipy"), "1.5")
    assert doctor._packages(findings) == {"absent": None, **installed}
    missing, unfit = (finding.sentence for finding in findings)
    assert missing.startswith("the package absent is not installed; install Cleverdon again, as `cleverdon docs start/")
    assert unfit.startswith("expected the package old <3,>=2, found 1.5; install Cleverdon again")
    assert doctor._extras() == {"other": False, "some": True}
    findings.clear()
    doctor._cleverdon(findings)
    assert "found 9.9 among the installed packages; install Cleverdon again" in only(findings).sentence


def test_cleverdon_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT)])
    assert doctor._cleverdon(findings)["installed"] is None
    assert only(findings).sentence.startswith("Cleverdon runs, but is not installed; install Cleverdon again")
    assert doctor._packages(findings) == doctor._extras() == {}


def test_a_package_of_the_same_name(site: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    monkeypatch.delitem(sys.modules, "annotate")
    (site / "annotate").mkdir()
    (site / "annotate" / "__init__.py").touch()
    doctor._cleverdon(findings)
    assert "found one of another project; use a new environment" in only(findings).sentence


BROKEN = {
    "sound": "print('words on standard output')",
    "raises": 'raise ImportError(f\'{__import__("os").environ["HOME"]}/lib/x.so: undefined symbol\')',
    "exits": "__import__('os')._exit(3)",
    "crashes": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "leaves": "raise SystemExit(0)",
    "tells": "raise ValueError('password: secret')",
    "last": "",
}


@pytest.mark.slow
def test_imports_that_fail(site: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    monkeypatch.setenv("HOME", "/home/klaudia")
    monkeypatch.setattr(doctor, "PROGRAM", ("last",))
    for name, text in BROKEN.items():
        (site / f"{name}.py").write_text(text)
    packages = dict.fromkeys(BROKEN, "1.5") | {"absent": None}
    assert doctor._imports(packages, findings) == ["raises", "exits", "crashes", "leaves", "tells"]
    reasons = [
        "raises cannot be imported (ImportError: ~/lib/x.so: undefined symbol)",
        "exits cannot be imported (the import ended Python with status 3)",
        "crashes cannot be imported (the import ended Python by signal SIGSEGV)",
        "leaves cannot be imported (SystemExit in <module>, leaves.py)",
        "tells cannot be imported (ValueError in <module>, tells.py)",
    ]
    for finding, reason in zip(findings, reasons, strict=True):
        assert finding.sentence.startswith(f"the package {reason}; install Cleverdon again")


@pytest.mark.slow
def test_an_import_that_does_not_end(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "IMPORT_SECONDS", 0.5)
    (site / "endless.py").write_text("import time\nwhile True: time.sleep(1)")
    assert list(doctor._import_all(["endless"])) == [("endless", "the import did not end within 0 seconds")]


def test_a_module_of_cleverdon_that_fails(site: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    monkeypatch.setattr(doctor, "PROGRAM", ("raises", "absent"))
    (site / "raises.py").write_text("raise AttributeError('no x')")
    assert doctor._imports({}, findings) == ["raises", "absent"]
    said = "the module raises cannot be imported (AttributeError in <module>, raises.py); install Cleverdon again"
    assert findings[0].sentence.startswith(said)


# --- text, folders, SQLite and the rest -----------------------------------------------------------------


def part_of_another_process(part: str, **environment: str) -> tuple[object, list[Finding]]:
    """Facts and findings of a part under another environment."""
    program = f"import json; from collection import doctor; f = []; print(json.dumps([doctor.{part}(f), f]))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    facts, found = json.loads(done.stdout)
    return facts, [Finding(*each) for each in found]


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        (
            {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
            r"found \S+ for files.* and \S+ for output; set the environment variable PYTHONUTF8=1",
        ),
        ({"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "1"}, "found iso8859-1 for output; unset the environment"),
    ],
)
def test_encodings_that_are_not_utf8(environment: dict[str, str], found: str) -> None:
    facts, findings = part_of_another_process("_text", **environment)
    finding = only(findings)
    assert finding.serious
    assert re.search(found, finding.sentence), finding.sentence
    assert isinstance(facts, dict)
    assert environment.items() & facts["variables"].items()


def test_utf8_is_in_order() -> None:
    _, findings = part_of_another_process("_text", PYTHONUTF8="1", LANG="a/secret value")
    assert findings == []


def test_values_of_variables_are_hidden_unless_they_are_plain() -> None:
    facts, _ = part_of_another_process("_text", PYTHONUTF8="1", LANG="/home/klaudia", TERM="xterm-256color")
    assert isinstance(facts, dict)
    assert facts["variables"]["LANG"] == "(hidden)"
    assert facts["variables"]["TERM"] == "xterm-256color"


@pytest.fixture
def default_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let tempfile look for the temporary folder again."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    monkeypatch.undo()


@pytest.mark.usefixtures("default_folder")
def test_a_temporary_folder_that_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert doctor._folders(findings)["temporary"]["writable"] is True
    said = "the folder that the environment variable TMPDIR names cannot be written, so /"
    assert only(findings).sentence.startswith(said)
    assert not only(findings).serious


@pytest.mark.usefixtures("default_folder")
def test_no_temporary_folder_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    assert doctor._folders(findings)["temporary"] is None
    assert only(findings).sentence.startswith("there is no folder for temporary files; name one that you can write in")
    assert doctor._sqlite(findings)["features"]["WAL"] is None


def test_a_full_disk(tmp_path: Path, findings: list[Finding]) -> None:
    with small_file_system(tmp_path / "disk", "1m") as disk:
        facts = doctor.examine_folder(findings, disk, "it", "move it")
        assert only(findings).sentence == "it has only 1.05 MB of free space; free some"
        assert facts == {"writable": True, "free": 1 << 20}
        findings.clear()
        with pytest.raises(OSError, match="No space left"), (disk / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        facts = doctor.examine_folder(findings, disk, "it", "move it")
        assert only(findings).sentence == "it cannot be written (No space left on device); move it"
        assert facts == {"writable": False, "free": 0}


def test_a_folder_without_permission(tmp_path: Path, findings: list[Finding]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    tmp_path.chmod(0o500)
    assert doctor.examine_folder(findings, tmp_path, "it", "move it", serious=False)["writable"] is False
    tmp_path.chmod(0o700)
    assert only(findings) == Finding(False, "it cannot be written (Permission denied); move it", "folders")


def test_a_current_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, findings: list[Finding]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert doctor._folders(findings)["current"] is None
    assert only(findings).sentence.startswith("the current folder does not exist; change to another one with `cd`")
    os.chdir(tmp_path)


class WithoutVirtualTables(sqlite3.Connection):
    """SQLite as it is built without FTS5."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if "VIRTUAL" in sql:
            raise sqlite3.OperationalError("no such module: fts5")
        return super().execute(sql, *values)


def test_sqlite_without_full_text_search(monkeypatch: pytest.MonkeyPatch, findings: list[Finding]) -> None:
    assert doctor._sqlite(findings)["features"] == {"FTS5": True, "JSON": True, "WAL": True}
    assert findings == []
    monkeypatch.setattr(sqlite3, "connect", WithoutVirtualTables)
    assert doctor._sqlite(findings)["features"]["FTS5"] is False
    assert " of this Python lacks FTS5; use a Python with a complete SQLite, then install" in only(findings).sentence


def test_a_full_disk_is_no_lack_of_sqlite(findings: list[Finding]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        facts = doctor._sqlite(findings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert facts["features"] == {"FTS5": True, "JSON": True, "WAL": None}
    assert findings == []


def test_a_part_that_fails_is_a_finding_without_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ValueError("secret")

    monkeypatch.setattr(doctor, "_system", fail)
    monkeypatch.setattr(doctor, "_import_all", lambda modules: iter(()))
    facts, findings = doctor.examine_machine()
    assert facts["system"] is None
    said = "the part 'system' of this machine cannot be examined: ValueError in fail, test_doctor.py"
    assert [f.sentence for f in findings if f.part == "doctor"] == [said]
    assert {name for name, value in facts.items() if value is None} == {"system"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/home/klaudia/x.so: no such file", "~/x.so: no such file"),
        ("'/home/klaudia'", "'~'"),
        ("/home/klaudia-two/x", "/home/klaudia-two/x"),
        ("/scratch/klaudia/x\nand klaudia", "/scratch/USER/x and klaudia"),
    ],
)
def test_paths_are_anonymous(text: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/klaudia")
    monkeypatch.setenv("LOGNAME", "klaudia")
    assert doctor.anonymous(text) == written
