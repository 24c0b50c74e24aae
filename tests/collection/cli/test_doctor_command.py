"""`cleverdon doctor`: one screen, exit status, JSON, and no secret, whatever is broken."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from collection import Campaign, doctor
from collection.core.records import Document, Topic
from tests.collection.campaign.operations.test_integrity import corrupt, of_runs
from tests.helpers import GOLDEN, ROOT, ok, put, run

LABELS = ["Cleverdon", "Python", "System", "Packages", "Extras", "SQLite", "Text", "Folders"]
OF_CAMPAIGN = ["Directory", "Database", "Contents", "Judging", "Backups", "Server", "Check"]


@pytest.fixture
def no_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the imports, which take seconds, and the home and the current folder of the developer."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "_import_all", lambda modules: iter(()))


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "golden"))
    Campaign(directory).close()
    return directory


def labels(report: str) -> list[str]:
    lines = report.partition("\nProblem:")[0].partition("\nNote:")[0].splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith((" ", "No problems"))]


@pytest.mark.usefixtures("no_imports")
def test_a_report_on_the_machine() -> None:
    said = ok("doctor")
    assert labels(said) == LABELS
    assert said.endswith("\n\nNo problems.\n")
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.usefixtures("no_imports")
def test_a_report_with_a_campaign_fits_on_a_screen(golden: Path) -> None:
    said = ok("doctor", golden)
    assert labels(said) == [*LABELS, *OF_CAMPAIGN]
    assert "Contents    4 topics, 13 documents, 3 runs, 21 pooled pairs, 28 judgements, 4 choices from lists," in said
    assert "\nNote: The campaign's folder has no backup; " in said
    assert said.count("\n") <= 40


@pytest.mark.usefixtures("no_imports")
def test_json_has_the_same(golden: Path) -> None:
    of_runs(golden).unlink()
    result = run("doctor", golden, "--format", "json")
    report = json.loads(result.stdout)
    assert result.exit_code == report["problems"] == 1
    assert [finding["part"] for finding in report["findings"]] == ["backups", "check"]
    assert report["campaign"]["check"]["problems"] == {"runs": 1}
    assert report["machine"]["cleverdon"]["version"] in ok("--version")
    assert "campaign" not in json.loads(ok("doctor", "--format", "json"))


@pytest.mark.usefixtures("no_imports")
def test_a_damaged_database_leaves_the_rest(golden: Path) -> None:
    corrupt(golden / "campaign.db")
    result = run("doctor", golden)
    assert result.exit_code == 1
    assert labels(result.stdout) == [*LABELS, "Directory", "Database", "Server", "Check"]
    assert "\nDatabase    not readable; " in result.stdout
    assert "\nProblem: `cleverdon check DIR` finds 1 problem: database; run it " in result.stdout
    assert result.stdout.endswith("\n1 problem.\n")


@pytest.mark.usefixtures("no_imports")
def test_there_is_no_campaign(tmp_path: Path) -> None:
    result = run("doctor", tmp_path / "none")
    assert result.exit_code == 1
    assert labels(result.stdout) == LABELS
    assert "\nProblem: There is no campaign in the directory; check its name, or create one with" in result.stdout


def test_a_campaign_is_left_alone_if_its_module_cannot_be_imported(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_import_all", lambda modules: iter([("collection.campaign", "it crashes")]))
    result = run("doctor", golden)
    assert result.exit_code == 1
    assert labels(result.stdout) == LABELS
    assert "\nProblem: The module collection.campaign cannot be imported (it crashes); install " in result.stdout
    assert "\nProblem: The campaign cannot be examined before the packages can be imported; then run" in result.stdout


# --- secrets --------------------------------------------------------------------------------------------

SECRETS = {
    name: f"sEcReT{name}"
    for name in (
        "title", "topic", "text", "document", "run", "annotator", "account", "email", "file", "sso", "grade", "note",
        "key", "home", "user", "setting", "group", "backup",
    )
}  # fmt: skip
"""What is secret -> a word that says so."""


@pytest.fixture
def secretive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign with a secret in every place, in a home with a secret name, and a secret in the environment."""
    home = tmp_path / SECRETS["home"]
    directory = home / SECRETS["title"]
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(home / "work"))
    monkeypatch.setenv("LOGNAME", SECRETS["user"])
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["key"])
    monkeypatch.setenv("CLEVERDON_TOKEN", SECRETS["key"])
    monkeypatch.setenv("LANG", SECRETS["key"] * 5)
    monkeypatch.chdir(home / "work")
    with Campaign.create(directory, title=SECRETS["title"]) as campaign:
        put(
            campaign,
            topics=[Topic("1", SECRETS["topic"])],
            documents=[Document(SECRETS["document"], SECRETS["title"], SECRETS["text"])],
            runs={SECRETS["run"]: {"1": [SECRETS["document"]]}},
        )
        campaign.people.pools.add("depth", depth=1)
        campaign.people.accounts.invite(SECRETS["account"], "manager", email=f"{SECRETS['email']}@example.org")
        campaign.judging.judge(SECRETS["annotator"], "1", SECRETS["document"], 1, note=SECRETS["note"])
        campaign.operations.server_state.secret()
        campaign.operations.backups.set_settings(every_hours=1)
        campaign.operations.backups.make()
        campaign.store.settings.put("backup_problem", SECRETS["backup"])
        campaign.store.settings.put("address", f"https://{SECRETS['setting']}.example.org")
        hashes = campaign.store.connection.column("SELECT digest FROM signin_links")
    assert hashes
    (directory / SECRETS["file"]).write_text("")
    (directory / "sso.toml").write_text(f'client_secret = "{SECRETS["sso"]}"\n')
    (directory / ".secret").chmod(0o644)
    SECRETS["signing key"] = (directory / ".secret").read_text()
    return directory


def break_run(directory: Path) -> None:
    of_runs(directory).unlink()


def break_setting(directory: Path) -> None:
    with Campaign(directory) as campaign:
        campaign.store.settings.put("card", SECRETS["setting"])


def break_grades(directory: Path) -> None:
    with Campaign(directory) as campaign:
        campaign.store.settings.put("grades", SECRETS["grade"])


def break_database(directory: Path) -> None:
    corrupt(directory / "campaign.db", 4096)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [None, break_run, break_setting, break_grades, break_database])
@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.usefixtures("no_imports")
def test_a_report_has_no_secret(secretive: Path, form: str, damage: object) -> None:
    if callable(damage):
        damage(secretive)
    result = run("doctor", secretive, "--format", form)
    assert result.exit_code == 1
    assert "~/work" in result.stdout  # the folder for temporary files
    leaked = {name for name, secret in SECRETS.items() if secret.lower() in result.output.lower()}
    assert leaked == set()
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.slow
@pytest.mark.usefixtures("no_imports")
def test_the_secrets_are_where_a_report_could_find_them(secretive: Path) -> None:
    """The command that is for the manager's eyes shows them."""
    break_run(secretive)
    said = run("check", secretive).output + ok("status", secretive)
    shown = ("title", "run", "file", "annotator", "home")
    assert [name for name in shown if SECRETS[name] not in said] == []


# --- processes ------------------------------------------------------------------------------------------


def command(directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it in a home that has nothing but the campaign."""
    home = directory.parent
    program = Path(sys.executable).with_name("cleverdon")
    return subprocess.run(
        [program, "doctor", directory],
        cwd=home, env=os.environ | {"HOME": str(home)} | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
def test_this_installation_has_no_problem(golden: Path) -> None:
    done = command(golden)
    assert done.returncode == 0, done.stdout + done.stderr
    assert labels(done.stdout) == [*LABELS, *OF_CAMPAIGN]


@pytest.mark.slow
@pytest.mark.long
def test_a_broken_package(golden: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "pandas").mkdir(parents=True)
    (tmp_path / "site" / "pandas" / "__init__.py").write_text("raise ImportError('libx.so: no such file')")
    done = command(golden, PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert labels(done.stdout)[:4] == LABELS[:4]
    assert (
        "\nProblem: The package pandas cannot be imported (ImportError: libx.so: no such file); install" in done.stdout
    )
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_command_starts_without_other_packages() -> None:
    program = """
import sys
for name in ("pandas", "numpy", "sqlite_utils", "streamlit", "sklearn", "pyarrow", "altair"):
    sys.modules[name] = None
from collection import doctor
from collection.cli import main
doctor._import_all = lambda modules: iter([("collection.campaign", "broken")])
main(["doctor", "."])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert labels(done.stdout) == LABELS
