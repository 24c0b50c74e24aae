"""A page with the judging card and a stand-in of its routes, for the card's own tests.

The stand-in keeps everything in memory and can be told to fail, to be slow, to refuse and to hold documents
back. It is a test double: the real routes are tested with a real campaign elsewhere.

``python -m tests.browser.card_harness`` serves it on port 8999 for looking at it by hand.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from annotate.card.server.card import ADJUDICATION, CAPS, CARDS, card_keys, grade_buttons, nodes, style_sheet
from annotate.card.server.card_modules import card_modules
from collection.core.records import GRADE_SCALES
from collection.documents.rendering import find_terms, terms
from tests.helpers import PATIENCE, until

KNOWN = {**CARDS, "adjudication": ADJUDICATION}
REASONS = ["Not in a language I read", "The text is broken or empty", "Needs knowledge that I do not have"]
TEXT_CAP = 2000
SAID = ("kind", "relevance", "reason", "note", "flagged", "passages")


def said_of(row: dict[str, Any]) -> dict[str, Any]:
    """What a judgement says: `answers` only if it has any."""
    return {name: row[name] for name in (*SAID, *({"answers"} & set(row)))}


TIME = {
    "today": {"judgements": 61, "active": "40 min", "away": "12 min"},
    "session": {"judgements": 42, "active": "27 min", "away": "4 min"},
    "since": "2026-03-12T13:20:00Z",
    "pace": "38 seconds per document",
    "since_break": 0.0,
    "topics": [
        {"query_id": "t1", "title": "rolling mean t1", "words": "30 judged, 11 left, 31 seconds each"},
        {"query_id": "t2", "title": "rolling mean t2", "words": "0 judged, 3 left"},
    ],
    "others": 0,
    "left": "14 documents left, about 7 minutes to 1.6 hours at your recent pace, if nobody else judges them.",
}
LIGHT = {
    "text-color": "#31333f",
    "background-color": "#ffffff",
    "secondary-background-color": "#f0f2f6",
    "primary-color": "#ff4b4b",
    "border-color": "rgba(49, 51, 63, 0.2)",
    "font": "'Source Sans', sans-serif",
    "code-font": "monospace",
}
DARK = LIGHT | {
    "text-color": "#fafafa",
    "background-color": "#0e1117",
    "secondary-background-color": "#262730",
    "border-color": "rgba(250, 250, 250, 0.2)",
}

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A card</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  body { margin: 0; padding: PADDING; font-family: sans-serif; VARIABLES;
         background: var(--st-background-color); color: var(--st-text-color); }
</style></head>
<body><div id="host"></div><input id="outside" hidden><script type="module">
import mountCard from "MODULE";
const host = document.getElementById("host");
const root = MODE === "shadow" ? host.attachShadow({ mode: "open" }) : host;
const inner = document.createElement("div");
inner.innerHTML = CARD;
const style = document.createElement("style");
style.textContent = STYLE;
inner.append(style);
root.append(inner);

window.part = (name) => root.querySelector(`[data-part=${name}]`);
window.calls = { setStateValue: 0, setTriggerValue: 0 };
window.run = (changes = {}) => {
  window.leave = mountCard({
    data: { ...DATA, ...changes }, parentElement: root, key: "card", name: "card",
    setStateValue: () => { window.calls.setStateValue += 1; },
    setTriggerValue: () => { window.calls.setTriggerValue += 1; },
  });
};
WATCH
// A page has one sync under way at most; only as it goes away it sends a last one beside it.
const beyond = window.fetch;
let syncs = 0;
let going = false;
window.addEventListener("pagehide", () => { going = true; }, { capture: true });
window.addEventListener("pageshow", () => { going = false; });
window.fetch = async (url, ...rest) => {
  const isSync = String(url).endsWith("/sync");
  if (isSync && syncs && !going) queueMicrotask(() => { throw new Error("two sync requests under way at once"); });
  syncs += isSync;
  try {
    return await beyond(url, ...rest);
  } finally {
    syncs -= isSync;
  }
};
// What was on screen at each key, and whether the texts that came since were in the page before the browser did
// anything else: neither the network nor a later frame plays a part in them.
window.keys = [];
window.addEventListener("keydown", (event) => {
  window.keys.push({ key: event.key, shown: window.onScreen(), repeat: event.repeat });
  const { port1, port2 } = new MessageChannel();
  let isPressed = true;
  window.isPressed = () => isPressed;
  port1.onmessage = () => { isPressed = false; };
  port2.postMessage(0);
}, { capture: true });
window.atOnce = [];
let text = "";
new MutationObserver(() => {
  const now = window.part("CHANGES").textContent; // of the node that is on screen: another one holds what comes next
  if (now === text) return;
  text = now;
  window.atOnce.push(window.isPressed?.() ?? false);
}).observe(root, { childList: true, characterData: true, attributeFilter: ["data-part"], subtree: true });
window.run();
window.ready = true;
</script></body></html>
"""

WATCH = """
window.onScreen = () => (window.part("document").hidden ? null : window.part("doc-id").textContent);
"""


def page_of(card: Any, data: dict[str, Any], query: Mapping[str, str], watch: str, changes: str) -> str:
    """The page with a card: how what is on screen is read (`watch`), and in which part the next appears (`changes`)."""
    theme = DARK if query.get("theme") == "dark" else LIGHT
    page = PAGE.replace("MODE", json.dumps(query.get("root", "shadow")))
    page = page.replace("MODULE", card_modules().address(f"{card.name}.js"))
    page = page.replace("PADDING", query.get("padding", "24px")).replace("WATCH", watch).replace("CHANGES", changes)
    page = page.replace("VARIABLES", "; ".join(f"--st-{name}: {value}" for name, value in theme.items()))
    page = page.replace("CARD", json.dumps(nodes(card))).replace("STYLE", json.dumps(style_sheet(card)))
    return page.replace("DATA", json.dumps(data | {"keys": card_keys(card), "caps": CAPS}))


def document(number: int, **changes: Any) -> dict[str, Any]:
    """A document of the stand-in; what is given in `changes` replaces its fields."""
    text = (
        f"Document {number} describes one of many methods.\n\n"
        + "It takes a window over the rows and gives the mean of each. " * (number % 7 + 2)
    )
    return {
        "doc_id": f"d{number:03d}",
        "title": f"frame.method_{number}",
        "form": "text",
        "text": text,
        "html": None,
        "metadata": {"library": "frames", "year": 2010 + number % 15},
        "images": [],
        "excerpts": None,
        "terms": [],
        "title_terms": [],
        **changes,
    }


def question(name: str, kind: str, answers: dict[Any, str], **changes: Any) -> dict[str, Any]:
    """A further question as the page gives it to its card: answers with their labels."""
    options = [{"value": value, "label": label, "sentence": f"{label}."} for value, label in answers.items()]
    bounds = {"required": True, "from": None, "to": None}
    return {"name": name, "sentence": f"What about {name}?", "kind": kind, "answers": options, **bounds, **changes}


HEALTH = [
    question(
        "credibility",
        "grades",
        dict(enumerate(["Not credible", "Doubtful", "Credible", "Very credible"])),
        sentence="How credible is this page, judged by its sources, its author and its date?",
        **{"from": 1},
    ),
    question(
        "exclusion",
        "choice",
        {
            "population": "Wrong population",
            "intervention": "Wrong intervention",
            "comparator": "Wrong comparator",
            "outcome": "Wrong outcome",
            "design": "Wrong study design",
            "language": "Not in English",
            "other": "Another reason",
        },
        sentence="Why is it excluded?",
        to=0,
    ),
    question(
        "tags",
        "tags",
        {tag: tag for tag in ("review", "protocol", "animal study", "retracted")},
        sentence="Which of these apply?",
        required=False,
    ),
]
"""Three questions: one for relevant documents, one for the others, and tags for all."""

NEED = "How can a rolling mean be computed over a time series with gaps?"


def as_sent(found: dict[str, Any], need: str, cap: int | None) -> dict[str, Any]:
    """A document as the routes give it: cut after `cap` characters, with the places of the topic's words."""
    text, words = found["text"], terms(need)
    sent = text if cap is None else text and text[:cap]
    plain = {"form": "text", "html": None, "metadata": {}, "images": [], "excerpts": None}
    return {**plain, **found} | {
        "text": sent,
        "length": len(text or ""),
        "truncated": len(text or "") > len(sent or ""),
        "terms": find_terms(sent or "", words),
        "title_terms": find_terms(found["title"] or "", words),
    }


def picture() -> bytes:
    """A PNG of 480 by 320, from dark to light."""
    content = BytesIO()
    Image.linear_gradient("L").resize((480, 320)).save(content, "PNG")
    return content.getvalue()


class StandIn:
    """Base class of stand-ins of the server, with settings, the log of decisions, requests, and moods.

    Set `fail` to a status to answer with it; `delay` to wait before each answer; `token` to outdate the page's one, or
    to None to take any; `signed_in` to refuse a new one; `refuse` to reasons by document, or by topic where decisions
    are about topics; `held` to what others hold. `said` is the sentence with which 401 and 403 are answered.
    `kept_waiting` are documents and words whose answers wait until they are taken out of it. `guidelines` and `notes`
    are what the manager has written.
    """

    campaign = "rivers: 2026"
    cap = 4000
    watch = WATCH
    changes = "documents"

    def __init__(self, task: str, card: dict[str, Any], scale: str | None = "0-3") -> None:
        self.task = task
        self.card = card
        self.scale = [] if scale is None else [dict(button) for button in grade_buttons(GRADE_SCALES[scale])]
        self.questions: list[dict[str, Any]] = []
        self.log: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.tokens: dict[str, str | None] = {}
        self.fail: int | None = None
        self.delay = 0.0
        self.token: str | None = "first"
        self.signed_in = True
        self.said: str | None = None
        self.refuse: dict[str, str] = {}
        self.held: set[str] = set()
        self.kept_waiting: set[str] = set()
        self.guidelines: str | None = ""
        self.notes: dict[str, str] = {}
        self.own: dict[str, Any] | None = None
        self.filter: dict[str, Any] | None = None

    @property
    def uuids(self) -> set[str]:
        """Those of all decisions."""
        return {row["uuid"] for row in self.log if "uuid" in row}

    def subject(self, decision: dict[str, Any]) -> tuple[str, ...]:
        """The subject of a decision."""
        return decision["query_id"], decision["doc_id"]

    def current(self) -> dict[tuple[str, ...], dict[str, Any]]:
        """The last word on each subject, oldest first; what was taken back is not in it."""
        last: dict[tuple[str, ...], dict[str, Any]] = {}
        for row in self.log:
            last.pop(self.subject(row), None)
            if row["kind"] != "undone":
                last[self.subject(row)] = row
        return last

    def save(self, decisions: list[dict[str, Any]]) -> dict[str, Any]:
        """Save what is new, in order."""
        saved, refused, known = [], [], self.uuids
        for row in decisions:
            reason = self.refuse.get(row.get("doc_id", row["query_id"]))
            if reason is not None:
                refused.append({"uuid": row["uuid"], "reason": reason})
                continue
            if row["uuid"] not in known:
                self.log.append(row)
            saved.append(row["uuid"])
        return {"saved": saved, "refused": refused}

    async def answer(self, request: Request) -> Response:
        """Any of the routes, in the present mood."""
        name = request.path_params["name"]
        ask = json.loads(await request.body())
        token = request.headers.get("x-cleverdon-token")
        self.requests.append((name, ask))
        self.tokens[name] = token
        await asyncio.sleep(self.delay)
        async with asyncio.timeout(PATIENCE):
            while (ask.get("words") or ask.get("doc_id")) in self.kept_waiting:
                await asyncio.sleep(0.005)
        return self.respond(name, ask, token)

    def refusal(self, status: int) -> Response:
        """An answer that says why, or does not."""
        return JSONResponse({"error": self.said}, status) if self.said else Response(status_code=status)

    def respond(self, name: str, ask: dict[str, Any], token: str | None) -> Response:
        """The answer itself."""
        if name == "token":
            return JSONResponse({"token": self.token}) if self.signed_in else self.refusal(401)
        if self.token and token != self.token:
            return self.refusal(401)
        if self.fail is not None:
            return self.refusal(self.fail)
        reply = self.routes()[name](ask)
        return reply if isinstance(reply, Response) else JSONResponse(reply)

    def routes(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """The function that answers each route."""
        return {"settings": self.arranged, "guidelines": self.written}

    def arranged(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Store the annotator's settings of the card."""
        self.own = ask["settings"]
        return {}

    def written(self, ask: dict[str, Any]) -> dict[str, Any] | Response:
        """The manager's guidelines and notes."""
        return {"html": self.guidelines, "notes": self.notes}


class Desk(StandIn):
    """The stand-in of the server for grades: topics with their documents.

    `order` puts it into the loop: ids, best first. `why` is what a document's panel is answered; `guidelines` are None
    for a route that fails; `settled` and `surplus` say of which documents a judgement is answered with feedback, or
    kept without counting. `context` has the turns and fields of each topic. `first` is the topic that alone is handed
    out. `long_ago` are documents whose judgements the first answer leaves out.
    """

    campaign = "frames: 2026"
    cap = TEXT_CAP
    changes = "text"

    def __init__(self, topics: dict[str, list[dict[str, Any]]] | None = None) -> None:
        super().__init__("grades", {"marking": True, "near": True, "rest_after": 50, "long": "whole"})
        sizes = {1: 41, 2: 3, 3: 3}
        topics = topics or {f"t{t}": [document(100 * t + d) for d in range(n)] for t, n in sizes.items()}
        self.pool = {query_id: {d["doc_id"]: d for d in documents} for query_id, documents in topics.items()}
        self.skipped: list[tuple[str, str]] = []
        self.moves_on = False  # whether a topic is named that has something, where one has nothing
        self.order: list[str] | None = None
        self.why: dict[str, dict[str, Any]] = {}
        self.settled: dict[str, tuple[int, str]] = {}
        self.surplus: set[str] = set()
        self.first: str | None = None
        self.alike: dict[str, list[tuple[str, float]]] = {}
        self.time: dict[str, Any] = TIME
        self.long_ago: set[str] = set()
        self.context: dict[str, Any] = {}

    def progress(self, query_id: str) -> dict[str, int | None]:
        """Judged and pooled of one topic; in the loop without an end."""
        judged = sum(topic == query_id for topic, _ in self.current())
        return {"judged": judged, "pool": len(self.pool[query_id]) if self.order is None else None}

    def shown(self, query_id: str, doc_id: str) -> dict[str, Any]:
        """A document as the routes give it: cut at the cap."""
        found = as_sent(self.pool[query_id][doc_id], f"rolling mean {query_id} {NEED}", TEXT_CAP)
        return found | ({"qualification": True} if doc_id in self.settled else {})

    def topics(self, ask: dict[str, Any]) -> dict[str, Any]:
        """All topics with their progress."""
        return {
            "topics": [
                {
                    "query_id": query_id,
                    "title": f"rolling mean {query_id}",
                    "description": NEED,
                    "narrative": "A relevant document says how. One that only names it is related.",
                    **self.progress(query_id),
                    "without_text": 0,
                    **self.context,
                }
                for query_id in self.pool
            ],
            "last": self.log[-1]["query_id"] if self.log else None,
        }

    def past(self, ask: dict[str, Any]) -> dict[str, Any]:
        """The last judgements, newest first."""
        rows = []
        for at, ((query_id, doc_id), row) in enumerate(self.current().items(), 1):
            before = [r for r in self.log if (r["query_id"], r["doc_id"]) == (query_id, doc_id) and r is not row]
            found = self.pool[query_id][doc_id]
            said = said_of(row)
            minute = {"judged_at": f"2026-03-12T14:{self.log.index(row) % 60:02d}:00Z"}
            former = [{name: r[name] for name in ("kind", "relevance", "reason")} | minute for r in before[::-1]]
            of = {"id": at, "query_id": query_id, "topic": f"rolling mean {query_id}", "doc_id": doc_id}
            rows.append(of | {"title": found["title"], **said, **minute, "former": former})
        words = ask.get("words", "").lower()
        wanted = [
            row
            for row in rows[::-1]
            if ask.get("query_id") in (None, row["query_id"])
            and ask.get("grade") in (None, row["relevance"], row["kind"], "flagged" if row["flagged"] else None)
            and words in f"{row['title']} {self.pool[row['query_id']][row['doc_id']]['text']} {row['note']}".lower()
            and row["id"] < ask.get("before", 1 << 40)
        ]
        return {"entries": wanted[: ask["limit"]], "more": len(wanted) > ask["limit"]}

    def near(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Documents that are nearly the same as those asked for."""
        current, query_id = self.current(), ask["query_id"]
        found = {}
        for doc_id in ask["doc_ids"]:
            rows = []
            for other, similarity in self.alike.get(doc_id, []):
                said = current.get((query_id, other))
                if said or other in ask["doc_ids"]:
                    told = said and {name: said[name] for name in ("kind", "relevance", "reason")}
                    title = self.pool[query_id][other]["title"]
                    rows.append({"doc_id": other, "title": title, "similarity": similarity, "said": told})
            if rows:
                found[doc_id] = rows
        return {"near": found}

    def next_topic(self, query_id: str, tried: list[str]) -> str | None:
        """The next topic with a free document, if the desk moves on at all."""
        current = self.current()
        others = [topic for topic in self.pool if topic > query_id] + [topic for topic in self.pool if topic < query_id]
        return next(
            (
                topic
                for topic in others
                if self.moves_on
                and topic not in tried
                and any(d not in self.held and (topic, d) not in current for d in self.pool[topic])
            ),
            None,
        )

    def sync(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Save what is new, in order, and hand out documents."""
        surplus, feedback = [], []
        answer = self.save(ask["decisions"])
        for row in ask["decisions"]:
            if row["uuid"] not in answer["saved"]:
                continue
            if row["doc_id"] in self.surplus:
                surplus.append(row["uuid"])
            if row["doc_id"] in self.settled and row["kind"] != "undone":
                grade, note = self.settled[row["doc_id"]]
                title = self.pool[row["query_id"]][row["doc_id"]]["title"]
                told = {name: row[name] for name in ("uuid", "doc_id", "relevance")}
                feedback.append({**told, "title": title, "settled": grade, "note": note})
        self.skipped += [(skip["query_id"], skip["doc_id"]) for skip in ask["skips"]]
        query_id, current = ask["query_id"], self.current()
        if query_id is None:
            return answer | {"documents": [], "closed": [], "progress": None}
        order = sorted(self.pool[query_id], key=lambda doc_id: (query_id, doc_id) in self.skipped)
        free = [
            doc_id
            for doc_id in order
            if (query_id, doc_id) not in current and doc_id not in ask["holding"] and doc_id not in self.held
        ]
        if self.first not in (None, query_id):
            free = []
        chosen: list[str] = []
        if self.order is not None:
            left = [d for d in self.order if (query_id, d) not in current and d not in self.held]
            last = {d for topic, d in self.skipped if topic == query_id}
            left.sort(key=lambda doc_id: doc_id in last)
            chosen = (ask["holding"][:1] + [d for d in left if d not in ask["holding"][:1]])[:16]
            free = [d for d in chosen if d not in ask["holding"]]
        every = [self.progress(topic) for topic in self.pool]
        judged = sum(count["judged"] or 0 for count in every)
        reply: dict[str, Any] = answer | {
            "surplus": surplus,
            "feedback": feedback,
            "first": self.first,
            "next": self.next_topic(query_id, ask["tried"]) if not free and not ask["holding"] else None,
            "budget": "",
            "query_id": query_id,
            "documents": [self.shown(query_id, doc_id) for doc_id in free[: ask["want"]]],
            "closed": [d for d in ask["holding"] if (query_id, d) in current],
            "progress": {
                "topic": self.progress(query_id),
                "all": {
                    "judged": judged,
                    "pool": None if self.order is not None else sum(map(len, self.pool.values())),
                },
            },
        }
        if self.order is not None:
            reply |= {"order": chosen, "model_round": len(self.log), "behind": False}
            learned = f"The model has learned from {len(self.log)} judged documents."
            reply["chooser"] = ["A model chooses the next document.", learned]
        if ask["recent"]:
            reply["recent"] = [
                self.shown(*pair) | {"query_id": row["query_id"]} | said_of(row)
                for pair, row in reversed(current.items())
                if pair[1] not in self.long_ago
            ]
        return reply

    def document(self, ask: dict[str, Any]) -> dict[str, Any]:
        """One document with its whole text."""
        whole = as_sent(self.pool[ask["query_id"]][ask["doc_id"]], f"rolling mean {ask['query_id']} {NEED}", None)
        said = self.current().get((ask["query_id"], ask["doc_id"]))
        if ask.get("said") and said:
            whole["said"] = said_of(said)
        return whole

    def found(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Documents in whose title or text a word occurs, marked."""
        query_id, words, current = ask["query_id"], ask["words"], self.current()
        rows = []
        for doc_id, each in self.pool[query_id].items():
            if words not in f"{each['title']} {each['text']}":
                continue
            said = current.get((query_id, doc_id), {})
            rows.append(
                {
                    "doc_id": doc_id,
                    "title": each["title"],
                    "snippet": (each["text"] or "")[:120].replace(words, f"\u0002{words}\u0003"),
                    "judged": bool(said),
                    "relevance": said.get("relevance"),
                }
            )
        return {"documents": rows[:30], "more": len(rows) > 30, "ranked": None}

    def explained(self, ask: dict[str, Any]) -> dict[str, Any] | Response:
        """The reason why a document was proposed."""
        usual = {"sentence": f"These terms of {ask['doc_id']} weigh most.", "terms": [["window", 1], ["heat", -0.4]]}
        if (why := self.why.get(ask["doc_id"], usual)) == {}:
            return JSONResponse({"error": "the loop knows no such document"}, status_code=400)
        return why

    def taken(self, ask: dict[str, Any]) -> dict[str, Any] | Response:
        """A document that was found, to be judged next."""
        if ask["doc_id"] in self.held:
            return JSONResponse({"error": "another annotator has it on screen"}, status_code=400)
        return self.shown(ask["query_id"], ask["doc_id"])

    def routes(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        routes = {"topics": self.topics, "sync": self.sync, "document": self.document, "why": self.explained}
        routes |= {"search": self.found, "take": self.taken, "history": self.past, "near": self.near}
        return super().routes() | routes | {"time": lambda ask: self.time}

    def written(self, ask: dict[str, Any]) -> dict[str, Any] | Response:
        return Response(status_code=500) if self.guidelines is None else super().written(ask)


class Harness:
    """The page and the present desk behind it, on a free port of this machine, in a thread.

    Each desk has a path of its own, so that what a closing page sends late cannot reach the next test's.
    """

    def __init__(self, port: int = 0) -> None:
        self.desks: list[Any] = [Desk()]
        self.files: list[str] = []
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        routes = [
            Route("/", self.page),
            card_modules().route(),
            Route("/files/{name}", self.file),
            Route("/api/judging/{desk:int}/{name:path}", self.answer, methods=["POST"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), log_level="warning", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)

    def __enter__(self) -> Harness:
        self.thread.start()
        until(lambda: self.server.started, "the server")
        return self

    def __exit__(self, *exception: object) -> None:
        # Its thread, a daemon, is not waited for: a connection that a window keeps open may hold it for a minute.
        self.server.should_exit = True

    @property
    def desk(self) -> Any:
        """The desk of the present test."""
        return self.desks[-1]

    @desk.setter
    def desk(self, desk: StandIn) -> None:
        self.desks.append(desk)

    async def answer(self, request: Request) -> Response:
        """The judging routes, answered by the desk that the page was made for."""
        return await self.desks[request.path_params["desk"]].answer(request)

    async def file(self, request: Request) -> Response:
        """A picture of 480 by 320, or a page in place of a PDF file: of any name that ends so; none of other names."""
        self.files.append(request.path_params["name"])
        if request.path_params["name"].endswith(".pdf"):
            return HTMLResponse("<!doctype html><title>PDF</title><input aria-label='In the viewer'><p>Page")
        if not request.path_params["name"].endswith(".png"):
            return Response(status_code=404)
        return Response(picture(), media_type="image/png")

    async def page(self, request: Request) -> HTMLResponse:
        """The page. Queries: root (shadow, div), theme, padding, query_id, annotator, waits (at new topics)."""
        query, desk = request.query_params, self.desk
        data = {
            "token": "first",
            "campaign": desk.campaign,
            "annotator": query.get("annotator", "ada"),
            "scale": desk.scale,
            "questions": desk.questions,
            "reasons": REASONS,
            "query_id": query.get("query_id"),
            "text_cap": desk.cap,
            "routes": f"/api/judging/{len(self.desks) - 1}",
            "card": desk.card,
            "own": desk.own,
            "filter": desk.filter,
        }
        return HTMLResponse(page_of(KNOWN[desk.task], data, query, desk.watch, desk.changes))


if __name__ == "__main__":
    with Harness(8999) as harness:
        print(harness.url)
        harness.thread.join()
