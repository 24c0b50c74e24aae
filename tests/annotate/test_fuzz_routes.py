"""Malformed requests to every route of the app: each is answered, and none with an error of the server.

`make test` sends few of them, `make test-long` 600 and `make fuzz` 3,000 to every route.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from annotate.application import create_app
from annotate.auth.tokens import TOKEN_HEADER, Tokens, browser_cookie_name, cookie_name
from annotate.card.server.document_payload import PREFIX
from collection import Campaign
from tests.conftest import signed_in
from tests.helpers import awaited, cases, first_of

REQUESTS = cases(40, 3000)
"""To every route."""

JUDGEMENT = {
    "uuid": "u1", "query_id": "1", "doc_id": "d2", "kind": "graded", "relevance": 2, "reason": "unreadable",
    "shown_at": "2026-01-01T00:00:00.000Z", "seconds": 1.5, "away": 0, "source": "key", "note": "why", "flagged": True,
    "passages": [[0, 3], [5, 9]],
}  # fmt: skip
DECISION = {
    "uuid": "u2", "query_id": "1", "reason": "unreadable", "note": "why", "shown_at": "2026-01-01T00:00:00.000Z",
    "seconds": 1.5, "away": 0, "source": "click",
}  # fmt: skip
LIST = DECISION | {"kind": "chosen", "shown": ["d2", "d1", "d6"], "chosen": ["d1"]}
PREFERENCE = DECISION | {"kind": "left", "left": "d1", "right": "d2"}
SOUND: dict[str, list[dict[str, Any]]] = {
    "token": [{"annotator": "ann"}],
    "topics": [{}],
    "sync": [
        {
            "query_id": "1", "want": 3, "holding": ["d1"], "recent": True, "alone": False, "decisions": [JUDGEMENT],
            "skips": [{"query_id": "1", "doc_id": "d1"}],
        },
        {"decisions": [JUDGEMENT, JUDGEMENT | {"uuid": "u3", "kind": "undone", "relevance": None}]},
    ],
    "document": [{"query_id": "1", "doc_id": "d1", "said": True}],
    "why": [{"query_id": "1", "doc_id": "d1"}],
    "search": [{"query_id": "1", "words": "text document"}],
    "take": [{"query_id": "1", "doc_id": "d8"}],
    "guidelines": [{}],
    "list/sync": [{"decisions": [LIST], "holding": ["1"], "want": 2}],
    "preference/sync": [{"decisions": [PREFERENCE], "holding": ["1"], "want": 2}],
    **{f"{task}/recent": [{"limit": 5}] for task in ("list", "preference", "adjudication")},
    **{f"{task}/unit": [{"unit": "1"}] for task in ("list", "preference")},
    "adjudication/sync": [
        {
            "decisions": [JUDGEMENT], "holding": ['["1", "d1"]'], "want": 3, "due": True,
            "filter": {"why": "disagreement", "query_id": "1", "distance": 1, "names": ["ann"]},
        },
    ],
    "adjudication/unit": [{"unit": '["1", "d1"]'}],
    "history": [{"query_id": "1", "grade": 2, "words": "text", "before": 9, "limit": 5}],
    "near": [{"query_id": "1", "doc_ids": ["d1", "d2"]}],
    "nuggets": [{"query_id": "1"}],
    "time": [{"day": "2026-01-01T00:00:00+00:00"}],
    "settings": [{"settings": {"size": 2, "keys": {"a": "b"}}}],
}  # fmt: skip
"""Requests of a card by route."""

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, 5e-324, "", " ",
    "1", "2", "d1", "d2", "d8", "none", "graded", "undone", "cannot judge", "chosen", "equal", "list", "preference",
    "flagged", "\0", "d1\0", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "e\u0301", "x" * 70_000, "%", "*", '"',
    "'; --", "\\", "NEAR(", "2026-13-01", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59-23:59", "2026-01-01", [],
    {}, [[]], [None], ["d1", "d1"], [[1, 2]], [[0, 10**30]], [["\ud800"]], {"a": {"b": []}}, {"\ud800": "\0"},
    {"uuid": "u9"}, ["d1"] * 300,
]  # fmt: skip
BYTES = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\u", b"\\ud800", b"NaN",
    b"1e999", b"-Infinity", b"9" * 5000, b"[" * 3000, b"\xef\xbb\xbf", b"\n", b"&", b"=", b"%", b"+", b"%00", b"%ff",
)  # fmt: skip
HEADERS = {
    "content-type": [
        *("application/json; charset=latin-1", "text/plain", "", "multipart/form-data", "\xff"),
        "application/x-www-form-urlencoded",
    ],
    "content-length": ["-1", "abc", "99999999999999999999", "\u00b2", ""],
    "cookie": ["", "=;=", "a=\xff", "\x00", "x" * 5000],
    TOKEN_HEADER.lower(): ["", "a.b.c", "\xff", "." * 5000],
    "origin": ["null", "http://[", "http://evil.example", "http://localhost:99999999", "\xff"],
    "host": ["", "[", "localhost:abc", "evil.example", "localhost:99999999", "\xff", "@", "127.0.0.1"],
    "accept": ["text/html", "\xff"],
    "sec-fetch-site": ["cross-site", "\xff"],
}


def changed(rng: random.Random, value: Any) -> Any:
    """The value with something else in one place."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        value, name = dict(value), rng.choice(list(value))
        chance = rng.random()
        if chance < 0.1:
            del value[name]
        elif chance < 0.15:
            value[rng.choice(["", "\ud800", "doc_id", "task", name.upper()])] = rng.choice(ODD)
        else:
            value[name] = changed(rng, value[name])
        return value
    if isinstance(value, list) and value and rng.random() < 0.8:
        value, place = list(value), rng.randrange(len(value))
        if rng.random() < 0.2:
            return value * rng.choice([0, 2, 60])
        value[place] = changed(rng, value[place])
        return value
    return copy.deepcopy(rng.choice(ODD))


def broken(rng: random.Random, body: bytes) -> bytes:
    """The body with some bytes put in, left out or cut off."""
    place = rng.randrange(len(body) + 1)
    chance = rng.random()
    if chance < 0.2:
        return body[:place]
    if chance < 0.4:
        return body[:place] + body[place + rng.randrange(1, 4) :]
    if chance < 0.5:
        return body + body
    return body[:place] + rng.choice(BYTES) + body[place:]


class Fuzz:
    """The app with a campaign, and requests to it."""

    def __init__(self, campaign: Campaign) -> None:
        app = create_app(campaign.directory)
        self.routes = [*app._user_routes]
        inside = Route("/{path:path}", lambda _: PlainTextResponse("inside"))
        self.app = Starlette(routes=[*self.routes, inside], middleware=app._user_middleware)
        tokens, secret = Tokens(campaign.operations.server_state.secret(), campaign.id), signed_in(campaign)
        person = campaign.people.accounts.session(secret)
        assert person is not None
        self.token = tokens.token("ann", person.session)
        self.links = [
            campaign.people.accounts.make_signin_link("ann"),
            campaign.people.accounts.invite("bob", "annotator"),
        ]
        session = f"{cookie_name(campaign.id)}={tokens.cookie(secret)}"
        self.cookie = f"{session}; {browser_cookie_name(campaign.id)}={tokens.browser_cookie('ann')}"

    def request(self, rng: random.Random, path: str, method: str) -> tuple[dict[str, Any], list[bytes]]:
        """A request to a route that differs from what a card or a form sends; the scope and the parts of its body."""
        query, body = b"", b""
        headers = {"host": "localhost", "cookie": self.cookie}
        name = path.removeprefix(f"{PREFIX}/")
        if name in SOUND:
            headers |= {TOKEN_HEADER.lower(): self.token, "content-type": "application/json"}
            payload: Any = rng.choice(SOUND[name])
            for _ in range(rng.randrange(3)):
                payload = changed(rng, payload)
            text = json.dumps(payload, ensure_ascii=rng.random() < 0.5)
            body = text.encode("utf-8", "surrogatepass")
            if '"u' in text and rng.random() < 0.7:
                body = body.replace(b'"u1"', f'"{uuid4()}"'.encode()).replace(b'"u2"', f'"{uuid4()}"'.encode())
        elif "sign" in path or "invit" in path:
            if rng.random() < 0.8:
                del headers["cookie"]
            headers["content-type"] = "application/x-www-form-urlencoded"
            texts = [
                "ann",
                f"name{rng.random()}",
                "",
                "\0",
                "\ud800",
                "x" * 1500,
                "Ä" * 70,
                "wing flow heat slab",
                *self.links,
            ]
            fields = rng.sample(["name", "password", "token", "again", "other", ""], rng.randrange(5))
            values = {field: rng.choice(texts) for field in fields}
            body = urlencode(values, errors="surrogatepass").encode()
        if "{name}" in path:
            names = [
                "..",
                ".",
                "%2e%2e%2fcampaign.db",
                "a.png",
                "\0",
                "\ud800".encode("utf-8", "surrogatepass"),
                "x" * 5000,
            ]
            path = path.replace("{name}", quote(rng.choice(names)))
        if rng.random() < 0.4:
            body = broken(rng, body)
        if rng.random() < 0.3:
            header = rng.choice(list(HEADERS))
            headers[header] = rng.choice(HEADERS[header])
        if rng.random() < 0.5:
            query = broken(rng, f"token={rng.choice(self.links)}&name=%C3%A9".encode())
        place = rng.randrange(len(body) + 1)
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "query_string": query,
            "path": path, "raw_path": path.encode(), "root_path": "", "client": (f"10.0.0.{rng.randrange(250)}", 1),
            "headers": [(n.encode(), v.encode("utf-8")) for n, v in headers.items()],
        }  # fmt: skip
        return scope, [body[:place], body[place:]]

    async def send(self, scope: dict[str, Any], parts: list[bytes], leaves: bool) -> int | None:
        """The status of the answer; None where there is none because the client has left."""
        status: list[int] = []
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages[-1]["more_body"] = leaves

        async def receive() -> dict[str, Any]:
            return messages.pop(0) if messages else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])

        await self.app(scope, receive, send)
        return status[0] if status else None


@pytest.mark.long
@pytest.mark.fuzz
@pytest.mark.parametrize("task", first_of(["judgement", "list", "preference"]))
def test_malformed_requests_are_answered_and_break_nothing(campaign: Campaign, task: str) -> None:
    if task != "judgement":
        campaign.settings.set_judging_page(task=task)
    fuzz, rng, wrong = Fuzz(campaign), random.Random(task), []
    seen: dict[str, Counter[int | None]] = {}

    async def all_of_them() -> None:
        for route in fuzz.routes:
            for method in sorted((route.methods or set()) & {"GET", "POST"}):
                counts = seen.setdefault(f"{method} {route.path}", Counter())
                for _ in range(-(-REQUESTS // 3)):
                    scope, parts = fuzz.request(
                        rng, route.path, rng.choice(["HEAD", "PUT", method]) if rng.random() < 0.02 else method
                    )
                    try:
                        status = await fuzz.send(scope, parts, leaves=rng.random() < 0.05)
                    except Exception as error:
                        wrong.append((scope, parts, repr(error)))
                        continue
                    counts[status] += 1
                    if status is not None and status >= 500:
                        wrong.append((scope, parts, str(status)))

    awaited(all_of_them())
    for name, counts in seen.items():
        print(name, sum(counts.values()), dict(sorted(counts.items(), key=str)))
    assert not wrong, (len(wrong), wrong[:3])
    assert {name.partition(" ")[2].removeprefix(f"{PREFIX}/") for name in seen} >= set(SOUND)
    counted = [counts for name, counts in seen.items() if PREFIX in name and name.startswith("POST")]
    assert all(counts[200] and counts[400] for counts in counted) or REQUESTS < 1000  # both sound and malformed ones
    campaign.judging.judge_many([])
    assert campaign.store.judgements.counts()["topics"] == 2
    assert campaign.results.qrels.build() is not None
