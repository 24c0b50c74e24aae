"""What is published: one version, one place for addresses, the contents of wheel and sdist, and types for users."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

import collection
from collection import __version__
from tests.helpers import ROOT, needs_git, node, ok, some
from tests.project.package import EXAMPLES, PROGRAM, build, build_elsewhere, problems, tracked

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ADDRESSES = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]
OWN_ADDRESS = re.compile(r"https?://[\w.:/-]*cleverdon\b[^\s\"'<>)\]`]*", re.I)

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which the wheel is installed; its dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python")]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(built[0])], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (own,) = {str(Path(module.__file__ or "").parents[1]) for module in (pytest, yaml)}
    (packages / "dependencies.pth").write_text(own)
    return folder


# --- version and metadata -----------------------------------------------------------------------------


def metadata(**addresses: str) -> dict[str, Any]:
    """The metadata of the package, with the addresses of the project given."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    config["tool"]["hatch"]["metadata"]["hooks"]["custom"] |= addresses
    core = ProjectMetadata(str(ROOT), PluginManager(), config).core
    return {"version": core.config["version"], "readme": core.readme, "urls": core.urls}


def test_there_is_one_version() -> None:
    assert "version" in PYPROJECT["project"]["dynamic"]
    assert metadata()["version"] == __version__
    assert version("cleverdon") == __version__, "the installation is older than the source: pip install -e ."
    assert ok("--version").strip().endswith(f" {__version__}")
    assert CITATION["version"] == __version__


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    newest = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest is not None
    assert newest.groups() == (__version__, str(CITATION["date-released"]))


@pytest.mark.slow
def test_files_of_changes_become_a_section_of_the_changelog(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes", ignore=shutil.ignore_patterns("+*"))
    (tmp_path / "changes/+sign-test.added.md").write_text("`--test sign` is the sign test.\n")
    (tmp_path / "changes/+order.breaking.md").write_text("`order` is now `system-order`.\n")
    assert towncrier(tmp_path, "--yes", "--version", "9.8.7", "--date", "2030-01-31").returncode == 0
    head, old = (ROOT / "CHANGELOG.md").read_text().split("<!-- newest version -->\n")
    new = (tmp_path / "CHANGELOG.md").read_text().removeprefix(f"{head}<!-- newest version -->\n").removesuffix(old)
    lines = ["## 9.8.7 (2030-01-31)", "### Breaking changes", "- `order` is now `system-order`.", "### Added"]
    assert [line for line in new.splitlines() if line] == [*lines, "- `--test sign` is the sign test."]
    assert [file.name for file in (tmp_path / "changes").iterdir()] == ["README.md"]
    (tmp_path / "changes/sign-test.md").write_text("A name without a kind.\n")
    refused = towncrier(tmp_path, "--draft", "--version", "9.8.7")
    assert refused.returncode != 0
    assert "sign-test.md" in refused.stdout + refused.stderr


@pytest.mark.slow
def test_files_of_changes_have_valid_names() -> None:
    done = towncrier(ROOT, "--draft")
    assert done.returncode == 0, done.stdout + done.stderr


def towncrier(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "towncrier", "build", "--dir", str(folder), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@needs_git
def test_addresses_are_in_one_place() -> None:
    """As long as pyproject.toml has none, no file names one; afterwards, no file names another."""
    names = [
        n for n in tracked() if Path(n).suffix in {".md", ".cff", ".yml", ".yaml", ".toml", ".py", ".json", ".txt"}
    ]
    known = tuple(address for address in (ADDRESSES["repository"], ADDRESSES["documentation"]) if address)
    found = [
        (name, address)
        for name in some(n for n in names if not n.startswith("tests/"))
        for address in OWN_ADDRESS.findall((ROOT / name).read_text("utf-8"))
        if not address.startswith(known) and ".example" not in address
    ]
    assert found == []
    assert CITATION.get("repository-code", "") == ADDRESSES["repository"]
    assert CITATION.get("url", "") == ADDRESSES["documentation"]


def test_without_addresses_the_metadata_have_none() -> None:
    made = metadata(repository="", documentation="")
    assert made["urls"] == {}
    assert made["readme"] == (ROOT / "README.md").read_text("utf-8")


def test_the_metadata_take_the_addresses() -> None:
    made = metadata(repository="https://code.example/owner/cleverdon/", documentation="https://docs.example/")
    assert made["urls"] == {
        "Documentation": "https://docs.example/",
        "Repository": "https://code.example/owner/cleverdon",
        "Issues": "https://code.example/owner/cleverdon/issues",
        "Changes": f"https://code.example/owner/cleverdon/blob/v{__version__}/CHANGELOG.md",
    }
    base = f"https://code.example/owner/cleverdon/blob/v{__version__}"
    assert f"]({base}/docs/start/install.md)" in made["readme"]
    relative = re.findall(r"(?:\]\(|(?:href|src|srcset)=\")(?!https://|#)[^)\"]*", made["readme"])
    assert relative == []
    pictures = re.findall(r"(?:!\[[^]]*\]\(|src=\"|srcset=\")([^)\" ]+)", made["readme"])
    assert all(picture.startswith(base.replace("/blob/", "/raw/")) for picture in some(pictures))


# --- contents -----------------------------------------------------------------------------------------


@needs_git
@pytest.mark.slow
def test_the_package_has_what_users_need_and_no_tests(built: tuple[Path, Path]) -> None:
    assert problems(*built) == []


@pytest.mark.slow
@pytest.mark.long
def test_builds_are_reproducible(built: tuple[Path, Path], tmp_path: Path) -> None:
    """In another folder, from the sdist alone, with other modes of files and another umask."""
    for first, second in zip(built, build_elsewhere(built[1], tmp_path), strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name


@needs_git
@pytest.mark.slow
@pytest.mark.long
def test_a_missing_file_and_a_foreign_one_are_noticed(built: tuple[Path, Path], tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".venv*", "node_modules", ".git", "_build", "dist"))
    (source / "collection/py.typed").unlink()
    (source / "collection/test_mine.py").touch()
    found = problems(*build(source, tmp_path / "built"))
    assert {line for line in found if "wheel" in line} == {
        "the wheel lacks collection/py.typed",
        "the wheel has collection/test_mine.py, which the repository does not have",
        "the wheel has a test, collection/test_mine.py",
    }


# --- types --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_the_program_of_a_user_runs(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    where = [installed / "bin/python", "-c", "import collection; print(collection.__file__)"]
    found = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(installed)
    subprocess.run([installed / "bin/python", PROGRAM], cwd=tmp_path / "examples", check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.long
def test_mypy_accepts_the_program_of_a_user(installed: Path, tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    options = ["--strict", "--config-file=", "--python-executable", str(installed / "bin/python")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, PROGRAM.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_pyright_accepts_the_program_of_a_user(installed: Path, tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    done = pyright("--pythonpath", str(installed / "bin/python"), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_public_names_have_types(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pyright looks through every module; what is left are attributes inside packages, whose types it infers."""
    monkeypatch.setenv("PATH", f"{installed / 'bin'}:{os.environ['PATH']}")
    found = json.loads(
        pyright("--verifytypes", "collection", "--ignoreexternal", "--outputjson", folder=tmp_path).stdout
    )
    symbols = {symbol["name"]: symbol for symbol in found["typeCompleteness"]["symbols"]}
    public = [f"collection.{name}" for name in collection.__all__]
    assert [name for name in some(public) if not symbols[name]["isTypeKnown"]] == []
    assert found["typeCompleteness"]["completenessScore"] > 0.98


def pyright(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return node(str(ROOT / "node_modules/pyright/index.js"), *arguments, folder=folder)
