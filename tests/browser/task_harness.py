"""A page with a card for lists, for preferences or for adjudication, and a stand-in of its routes, for their own tests.

The stand-in keeps everything in memory and can be told to fail, to be slow and to refuse. It is a test double: the
real routes are tested with a real campaign elsewhere.

``python -m tests.browser.task_harness`` serves it on port 8998 for looking at it by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator

from collection.preferences import Lookahead, look_ahead, plan
from tests.browser.card_harness import Harness, StandIn, as_sent
from tests.browser.card_page import Card

AHEAD = 3

WATCH = """
// The topic on screen; for preferences the two documents as well, for adjudication the one.
window.onScreen = () => {
  if (!window.part("rest").hidden || !window.part("new-topic").hidden) return null;
  const shown = ":is([data-side], [data-part=document]):not([hidden]) [data-name=id]";
  const ids = [...root.querySelectorAll(shown)].map((node) => node.textContent);
  return [window.part("topic-title").textContent, ...ids].join(" ");
};

// Each new topic is begun as soon as it is shown, before the next key, unless a test is about that.
const begin = () => window.part("new-topic").hidden || window.part("new-topic").querySelector("button").click();
if (!new URLSearchParams(location.search).has("waits"))
  new MutationObserver(begin).observe(root, { attributes: true, attributeFilter: ["hidden"], subtree: true });

// How often each route has been answered.
window.answered = {};
const ask = window.fetch;
window.fetch = async (url, ...rest) => {
  const response = await ask(url, ...rest);
  const name = String(url).split("/").slice(4).join("/");
  const read = response.json.bind(response);
  response.json = async () => {
    const value = await read();
    setTimeout(() => { window.answered[name] = (window.answered[name] ?? 0) + 1; }); // the card has taken it by then
    return value;
  };
  return response;
};
"""


RIVERS = "Where does this river rise?"


def document(number: int, **changes: Any) -> dict[str, Any]:
    """A document of the stand-in; what is given in `changes` replaces its fields."""
    text = f"Passage {number} is about one of many rivers. " + "It rises in the hills and ends in the sea. " * (
        number % 7 + 2
    )
    return {"doc_id": f"d{number:03d}", "title": f"River {number}", "text": text, "metadata": {}, **changes}


def topics(count: int = 30, size: int = 5) -> dict[str, list[dict[str, Any]]]:
    """Topics t0, t1 … with their documents."""
    return {f"t{t}": [document(100 * t + d) for d in range(size)] for t in range(count)}


class Desk(StandIn):
    """The stand-in of the server for lists and preferences: topics with their documents.

    `held` are units that others hold, which lists and preferences disregard; `context` has the turns and fields of each
    topic.
    """

    watch = WATCH

    def __init__(self, task: str, pool: dict[str, list[dict[str, Any]]] | None = None, most_chosen: int = 3) -> None:
        card = {"task": task, "list_size": 10, "most_chosen": most_chosen, "preference_size": 5}
        super().__init__(task, card, scale=None)
        self.pool = pool or topics()
        self.guidelines = "<p>Choose what answers it.</p>"
        self.context: dict[str, Any] = {}

    def subject(self, decision: dict[str, Any]) -> tuple[str, ...]:
        pair = () if self.task == "list" else tuple(sorted((decision["left"], decision["right"])))
        return (decision["query_id"], *pair)

    def decided(self, query_id: str) -> list[dict[str, Any]]:
        """The decisions on a topic."""
        return [row for row in self.current().values() if row["query_id"] == query_id]

    def plan(self, query_id: str) -> dict[str, Any]:
        """The plan of comparisons of a topic."""
        ids = [doc["doc_id"] for doc in self.pool[query_id]]
        said = [(row["left"], row["right"], row["kind"]) for row in self.decided(query_id)]
        made = plan(ids, said, query_id)

        def tree(node: Lookahead) -> dict[str, Any]:
            if node.pair is None:
                return {"pair": None}
            then = {kind: tree(after) for kind, after in node.then.items()}
            return {"pair": list(node.pair)} | ({"then": then} if then else {})

        following = tree(look_ahead(ids, said, query_id, AHEAD))
        return {"next": following, "done": made.done, "expected": made.expected}

    def is_done(self, query_id: str) -> bool:
        """True if a topic needs no further decision."""
        return bool(self.decided(query_id)) if self.task == "list" else self.plan(query_id)["next"]["pair"] is None

    def unit(self, query_id: str) -> dict[str, Any]:
        """A topic as it is handed out."""
        words = {"query_id": query_id, "title": f"Topic {query_id}", "description": RIVERS}
        words |= {"narrative": "A passage answers it if it names the place.", "note": self.notes.get(query_id, "")}
        words |= self.context
        shown = [as_sent(doc, f"Topic {query_id} {RIVERS}", self.cap) for doc in self.pool[query_id]]
        said = self.decided(query_id)
        if self.task == "list":
            return {"topic": words, "documents": shown, "former": said[0] if said else None}
        return {"topic": words, "documents": shown, "former": said, "plan": self.plan(query_id)}

    def sync(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Save what is new, in order, and hand out topics."""
        saved = self.save(ask["decisions"])
        open_now = [q for q in self.pool if not self.is_done(q)]
        fresh = [q for q in open_now if q not in ask["holding"]]
        done = sum(self.is_done(q) for q in self.pool)
        reply: dict[str, Any] = saved | {
            "task": self.task,
            "units": [self.unit(q) for q in fresh[: ask["want"]]],
            "plans": {},
            "closed": [q for q in ask["holding"] if q not in open_now],
            "exhausted": len(fresh) < ask["want"],
            "progress": {"done": done, "goal": len(self.pool)},
        }
        if self.task == "preference":
            on = {row["query_id"] for row in ask["decisions"] if row["uuid"] in saved["saved"]}
            reply["plans"] = {q: self.plan(q) for q in (on if ask["decisions"] else ask["holding"])}
        return reply

    def recent(self, ask: dict[str, Any]) -> dict[str, Any]:
        """The last decisions, newest first."""
        rows = list(self.current().values())[::-1][: ask["limit"]]
        return {"decisions": [row | {"title": f"Topic {row['query_id']}"} for row in rows]}

    def whole(self, ask: dict[str, Any]) -> dict[str, Any]:
        """A document with all of its text."""
        found = next(doc for doc in self.pool[ask["query_id"]] if doc["doc_id"] == ask["doc_id"])
        return as_sent(found, f"Topic {ask['query_id']} {RIVERS}", None)

    def routes(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        own = {"sync": self.sync, "recent": self.recent, "unit": lambda ask: self.unit(ask["unit"])}
        return (
            super().routes()
            | {f"{self.task}/{name}": answer for name, answer in own.items()}
            | {"document": self.whole}
        )


class TaskCard(Card):
    """The page with one of the two cards."""

    def open(self, first: str | None = "Topic t0", **query: object) -> TaskCard:
        super().open(first, **query)
        return self

    def tick(self, number: int) -> Locator:
        """The checkbox of a document of the list, counted from 1."""
        return self.page.locator("[data-do=choose]").nth(number - 1)

    def shows(self, topic: str) -> None:
        self.wait("start => window.onScreen()?.startsWith(start)", f"{topic!r} on screen", arg=topic)


if __name__ == "__main__":
    with Harness(8998) as harness:
        harness.desk = Desk("list")
        print(harness.url)
        harness.thread.join()
