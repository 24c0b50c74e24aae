"""The lock file with hashes, and what `make audit` says of it."""

import json
import re
import tomllib

import pytest

from tests.helpers import ROOT, some
from tests.project.audit import LOCK, report

PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def pins(text: str) -> dict[str, str]:
    """Versions by normalised names (PEP 503)."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PIN.findall(text)}


def test_the_lock_has_what_the_app_needs_at_the_tested_versions() -> None:
    locked, tested = pins(LOCK.read_text()), pins((ROOT / "constraints.txt").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["sso"]]
    names = {re.sub(r"[-_.]+", "-", re.split(r"[<>=]", each)[0]).lower() for each in wanted}
    assert names <= set(locked)
    assert {name: version for name, version in locked.items() if tested.get(name, version) != version} == {}
    untested = set(locked) - set(tested)
    assert untested <= {"colorama", "pip", "tzdata"}, "pip freeze leaves out pip; the others are for other systems"


def test_every_package_of_the_lock_has_hashes() -> None:
    for entry in some(e for e in re.split(r"\n(?=\S)", LOCK.read_text()) if not e.startswith("#")):
        assert "--hash=sha256:" in entry, entry[:80]


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "No known vulnerabilities in 1 packages."),
        (
            [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}],
            1,
            "a 1: PYSEC-1, fixed in 2",
        ),
        ([{"name": "a", "skip_reason": "not found"}], 2, "knows none of the packages"),
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "x"}], 2, "no answer for b."),
    ],
)
def test_packages_that_were_not_checked_are_not_called_safe(packages: object, status: int, said: str) -> None:
    found, lines = report(json.dumps({"dependencies": packages}))
    assert found == status
    assert said in "\n".join(lines)


def test_without_the_service_the_audit_says_so_in_one_sentence() -> None:
    assert report("") == (2, ["The vulnerability service could not be reached, so nothing was checked."])
