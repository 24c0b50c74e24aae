"""The wire format: files that are made from it are fresh, and it describes what the routes send."""

from __future__ import annotations

from functools import partial
from typing import Any, get_type_hints

import pytest

from annotate.card.server.document_payload import PREFIX
from annotate.card.server.route_types import ROUTES
from annotate.card.server.routes import JudgingService
from collection import Campaign
from tests.annotate.card import wire_files
from tests.helpers import require_valid


@pytest.mark.parametrize("path", wire_files.files(), ids=lambda path: path.name)
def test_files_are_fresh(path: Any) -> None:
    assert path.read_text(encoding="utf-8") == wire_files.files()[path], f"{path.name} is stale: run `make wire`"


def test_every_route_has_types_and_its_handler_returns_them(campaign: Campaign) -> None:
    service = JudgingService(campaign.directory)
    posts = [route.path.removeprefix(f"{PREFIX}/") for route in service.routes() if route.methods == {"POST"}]
    assert sorted(posts) == sorted([*ROUTES, *(f"tasks/{{task}}/{path}" for path in ROUTES)])
    for route in service.posts():
        handler = route.handler.func if isinstance(route.handler, partial) else route.handler
        assert get_type_hints(handler)["return"] == ROUTES[route.path].answer


@pytest.mark.parametrize(
    ("route", "payload", "problem"),
    [
        ("sync", {"query_id": "1", "wants": 3}, "'wants' was unexpected"),
        ("sync", {"want": True}, "True is not of type 'integer'"),
        ("sync", {"want": None}, "None is not of type 'integer'"),
        ("document", {"query_id": "1"}, "'doc_id' is a required property"),
        ("sync", {"decisions": [{"uuid": "u"}]}, "is a required property"),
        ("list/unit", {"unit": "1", "task": "list"}, "'task' was unexpected"),
        ("near", {"query_id": "1", "doc_ids": "d1"}, "'d1' is not of type 'array'"),
    ],
)
def test_what_the_types_do_not_allow_fails(route: str, payload: dict[str, Any], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        require_valid(route, "request", payload)


def test_a_comparison_holds_others() -> None:
    inner: dict[str, Any] = {"pair": None}
    plan = {"next": {"pair": ["a", "b"], "then": {"left": inner}}, "done": 0, "expected": 1}
    answer = {
        "task": "preference", "saved": [], "refused": [], "units": [], "plans": {"1": plan}, "closed": [],
        "exhausted": True, "progress": {"done": 0, "goal": 1},
    }  # fmt: skip
    require_valid("preference/sync", "answer", answer)
    inner["pair"] = ["a"]
    with pytest.raises(AssertionError):
        require_valid("preference/sync", "answer", answer)
