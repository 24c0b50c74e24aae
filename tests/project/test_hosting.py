"""Workflows, templates and configuration of the hosting platform, and that a mistake in them is noticed.

Their schemas are checked by `make lint`.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collection import __version__
from collection.cli import main
from tests.helpers import ROOT, some

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
BIN = Path(sys.executable).parent
PAPERS = [*GITHUB.rglob("*.md"), *GITHUB.rglob("*.yml"), *(ROOT / f"{n}.md" for n in ("CONTRIBUTING", "SECURITY"))]
"""Texts for contributors, which name commands and files."""


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def targets() -> set[str]:
    """The names that `make` knows whatever files there are."""
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.M)
    assert phony
    return set(phony[1].replace("$(CHECKS)", checks()).split())


def checks() -> str:
    """The names of the checks of `make lint`."""
    found = re.search(r"^CHECKS := (.*)$", MAKEFILE, re.M)
    assert found
    return found[1]


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in load(workflow)["jobs"].values():
        yield from job["steps"]


def make(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make with the program of this environment, without installing anything."""
    command = ["make", "--no-print-directory", f"BIN={BIN}", "-o", f"{BIN}/../.app", "-o", ".venv/.app", *arguments]
    usual = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(
        command,
        cwd=folder,
        env=usual | environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_call_only_make(workflow: Path) -> None:
    found = [step["run"] for step in steps(workflow) if "run" in step]
    assert [run for run in some(found) if not re.fullmatch(r"make [\w-]+", run)] == []
    assert {run.removeprefix("make ") for run in found} <= targets()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_jobs_wait_for_jobs_that_exist(workflow: Path) -> None:
    jobs = load(workflow)["jobs"]
    assert {job["needs"] for job in jobs.values() if "needs" in job} <= jobs.keys()


def test_the_workflows_run_every_kind_of_test() -> None:
    run = {step["run"] for workflow in WORKFLOWS for step in steps(workflow) if "run" in step}
    assert {"make test", "make test-long", "make oldest", "make docs", "make package", "make try-package"} <= run


def test_no_address_is_written_down() -> None:
    files = [file for file in GITHUB.rglob("*") if file.is_file()]
    assert [file.name for file in some(files) if "://" in file.read_text()] == []


def test_the_tests_run_on_every_version_of_python_that_is_supported() -> None:
    jobs = load(GITHUB / "workflows" / "test.yml")["jobs"]
    versions = jobs["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={versions[0]}"
    numbers = [int(version.removeprefix("3.")) for version in versions]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    oldest = [step["with"] for step in jobs["oldest"]["steps"] if "setup-python" in step.get("uses", "")]
    assert [each["python-version"] for each in oldest] == [versions[0]]


def test_updates_are_looked_for_where_versions_are_written() -> None:
    updates = load(GITHUB / "dependabot.yml")["updates"]
    files = {"pip": "pyproject.toml", "npm": "package.json", "github-actions": ".github/workflows"}
    assert {update["package-ecosystem"] for update in updates} == files.keys()
    for update in updates:
        assert (ROOT / update["directory"].lstrip("/") / files[update["package-ecosystem"]]).exists()


BREACHES = {
    "an action that is not pinned": ("workflows/docs.yml", r"(actions/checkout)@\w+ .*", r"\1@v6", "unpinned-uses"),
    "a permission that nobody asked for": ("workflows/test.yml", "permissions: {}", "permissions: write-all", "excess"),
    "a job without an end": ("workflows/nightly.yml", "    timeout-minutes: 120\n", "", "timeout-minutes"),
    "a job without a system": ("workflows/nightly.yml", "    runs-on: .*\n", "", "runs-on"),
    "an unknown field of a form": ("ISSUE_TEMPLATE/bug.yml", "type: textarea", "type: textfield", "textfield"),
    "an unknown package manager": ("dependabot.yml", "ecosystem: npm", "ecosystem: nmp", "nmp"),
}


@pytest.mark.slow
@pytest.mark.parametrize("breach", BREACHES)
def test_a_mistake_is_found(breach: str, tmp_path: Path) -> None:
    name, old, new, said = BREACHES[breach]
    shutil.copytree(GITHUB, tmp_path / ".github")
    for file in ("Makefile", "CITATION.cff", ".pre-commit-config.yaml"):
        shutil.copy(ROOT / file, tmp_path)
    path = tmp_path / ".github" / name
    path.write_text(changed := re.sub(old, new, path.read_text(), count=1))
    assert changed != (GITHUB / name).read_text()
    done = make("check-hosting", folder=tmp_path)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


def test_the_hooks_are_the_checks_of_lint() -> None:
    (repository,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"] for hook in repository["hooks"]]
    assert sorted(entries) == sorted(f"make lint CHECKS={check}" for check in checks().split())


@pytest.mark.slow
def test_a_commit_runs_the_checks_of_its_files(tmp_path: Path) -> None:
    """In a repository whose Makefile only prints which checks it was called for."""
    shutil.copy(ROOT / ".pre-commit-config.yaml", tmp_path)
    (tmp_path / "Makefile").write_text("lint:\n\t@echo $(CHECKS) >> called\n")
    for name in ("collection/new.py", "annotate/card/new.js", ".github/workflows/new.yml", "docs/new.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n")

    def commit(*files: str) -> set[str]:
        (tmp_path / "called").unlink(missing_ok=True)
        isolated = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
        command = [BIN / "pre-commit", "run", "--files", *files]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | isolated, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return set((tmp_path / "called").read_text().split())

    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert commit("docs/new.md") == {"check-words"}
    assert commit("collection/new.py") == {"check-words", "check-style", "check-types", "check-imports"}
    assert commit("annotate/card/new.js") == {"check-words", "check-style", "check-card-types"}
    assert commit(".github/workflows/new.yml") == {"check-words", "check-hosting"}


def test_the_makefile_is_one_for_the_make_of_macos() -> None:
    """GNU Make 3.81, which lacks what came later."""
    later = r"^\.ONESHELL|^\.SHELLFLAGS|!=|::=|&:|^undefine|\$\((file|guile|let|intcmp) |--output-sync|-O\b"
    recipes = re.compile(r"^\t.*$", re.M)
    assert re.findall(later, recipes.sub("", MAKEFILE), re.M) == []


def test_commands_that_contributors_are_told_exist() -> None:
    named = {
        (file.name, call)
        for file in PAPERS
        for call in re.findall(r"`(make [\w-]+|cleverdon [\w-]+)", file.read_text())
    }
    unknown = []
    for file, call in some(named):
        program, word = call.split()
        known = word in targets() if program == "make" else word in main.commands or word == "--version"
        unknown += [] if known else [(file, call)]
    assert unknown == []


def test_a_release_is_tested_and_built_and_only_then_published() -> None:
    jobs = load(GITHUB / "workflows" / "release.yml")["jobs"]
    called = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert called == ["make check-tag", "make test", "make package", "make try-package"]
    assert jobs["publish"]["needs"] == "build"
    rights = {name for job in jobs.values() for name, right in job["permissions"].items() if right == "write"}
    assert rights == {"id-token"}


@pytest.mark.parametrize(
    ("tag", "heading", "said"),
    [
        (f"v{__version__}", f"## {__version__} (2026-01-31)", ""),
        ("v0.0.9", f"## {__version__} (2026-01-31)", "not v"),
        (f"v{__version__}", f"## {__version__} (unreleased)", "no dated section"),
    ],
)
def test_a_tag_names_the_version_and_its_changes(tag: str, heading: str, said: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    done = make("check-tag", folder=tmp_path, GITHUB_REF_NAME=tag, PYTHONPATH=str(ROOT))
    assert (done.returncode == 0) == (said == ""), done.stderr
    assert said in done.stdout
