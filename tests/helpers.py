"""What several test files do in the same way: run a command, post to a judging route."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result
from starlette.testclient import TestClient

from annotate.judging.routes import PREFIX
from collection.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def ok(*arguments: object) -> str:
    """What the command prints, which must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(*arguments: object) -> str:
    """The one line in which the command says why it does nothing."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def post(client: TestClient, route: str, status: int = 200, **payload: Any) -> dict[str, Any]:
    """Post to a judging route; what it answers."""
    answer = client.post(f"{PREFIX}/{route}", content=json.dumps(payload))
    assert answer.status_code == status, answer.text
    return dict(answer.json())
