"""Each claim of the threat model names tests, and each of these exists."""

import ast
import re

import pytest

from tests.helpers import ROOT

PAGE = ROOT / "docs" / "operations" / "threat-model.md"
CLAIMS = PAGE.read_text(encoding="utf-8").partition("\n## Claims and their tests\n")[2].partition("\n## ")[0]
ROWS = [re.findall(r"[^|]+", line) for line in CLAIMS.splitlines() if line.startswith("|")][2:]


def test_there_are_claims() -> None:
    assert len(ROWS) >= 25


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:60])
def test_a_claim_names_tests_that_exist(row: list[str]) -> None:
    claim, named = row
    tests = re.findall(r"`(tests/[^`]+)`", named)
    assert tests, claim
    for test in tests:
        file, _, function = test.partition("::")
        assert (ROOT / file).is_file(), test
        parsed = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {node.name for node in parsed.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert not function or function in names, test
