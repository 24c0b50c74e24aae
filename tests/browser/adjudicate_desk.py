"""A stand-in of the routes for adjudication, with opinions of several kinds, for the card's own tests.

It is a test double: the real routes are tested with a real campaign elsewhere.

``python -m tests.browser.adjudicate_desk`` serves it on port 8997 for looking at it by hand.
"""

from __future__ import annotations

import json
from typing import Any

from annotate.card.server.card import grade_buttons
from collection.core.records import GRADE_SCALES
from tests.browser.card_harness import Harness, as_sent
from tests.browser.task_harness import RIVERS, Desk, document

ZALGO = "H\u0336\u0310\u0343e" + "\u0335\u0321\u0300\u0301\u0302\u0303\u0308\u030a\u030b\u030c" * 60 + "llo"
PAYLOAD = "<img src=x onerror=window.broken=1><script>window.broken=1</script>"


def opinion(grade: int | None, number: int = 0, **changes: Any) -> dict[str, Any]:
    """One annotator's opinion; None for "cannot judge"."""
    base = {"annotator": f"annotator{number}", "kind": "graded" if grade is not None else "cannot judge"}
    base |= {"relevance": grade, "reason": None if grade is not None else "Not in a language I read", "note": None}
    base |= {"flagged": False, "passages": [], "quotes": [], "seconds": 7.5, "judged_at": "2026-03-12T14:05:00Z"}
    return base | changes


def hostile() -> list[dict[str, Any]]:
    """Twelve opinions: markup, direction signs, piled-up signs, a note of 5,000 lines, a name without a blank."""
    notes = [PAYLOAD, "\u202egnp.exe \u2066abc", ZALGO, "\n".join(f"line {n}" for n in range(5000)), "W" * 3000]
    notes += [":material/home: **bold** [link](javascript:alert(1))", "مرحبا"]
    rows = [opinion(n % 4, n, note=note) for n, note in enumerate(notes)]
    rows += [opinion(None, 8, reason=PAYLOAD * 5), opinion(3, 9, annotator=PAYLOAD + "\u202eeve", flagged=True)]
    rows += [opinion(2, n, quotes=[ZALGO, PAYLOAD], passages=[[0, 9]]) for n in range(10, 12)]
    return [*rows, opinion(1, 12, annotator="N" * 400)]


def two(low: int = 0, high: int = 3) -> list[dict[str, Any]]:
    """Two annotators who differ."""
    return [opinion(low, 1, annotator="bob", note="It names it only."), opinion(high, 2, annotator="cat")]


class AdjudicationDesk(Desk):
    """The stand-in: topics with one list of disputed documents each; see :class:`Desk` for its moods.

    `held` are documents here; `opinions` are those of a document, else :func:`two`.
    """

    changes = "document"

    def __init__(self, pool: dict[str, list[dict[str, Any]]] | None = None, scale: str = "0-3") -> None:
        pool = pool or {f"t{t}": [document(100 * t + d) for d in range(20)] for t in range(3)}
        super().__init__("adjudication", pool)
        self.scale = [dict(button) for button in grade_buttons(GRADE_SCALES[scale])]
        self.opinions: dict[str, list[dict[str, Any]]] = {}
        self.filter = {}
        self.ended: set[str] = set()

    def subject(self, decision: dict[str, Any]) -> tuple[str, ...]:
        return decision["query_id"], decision["doc_id"]

    def pairs(self) -> list[tuple[str, str]]:
        """Every pair, in order."""
        return [(query_id, doc["doc_id"]) for query_id, documents in self.pool.items() for doc in documents]

    def unit_of(self, query_id: str, doc_id: str) -> dict[str, Any]:
        """A pair as it is handed out."""
        doc = next(doc for doc in self.pool[query_id] if doc["doc_id"] == doc_id)
        words = {"query_id": query_id, "title": f"Topic {query_id}", "description": RIVERS}
        words |= {"narrative": "A passage answers it if it names the place.", "note": self.notes.get(query_id, "")}
        words |= self.context
        shown = as_sent(doc, f"Topic {query_id} {RIVERS}", self.cap)
        said = self.current().get((query_id, doc_id))
        return {"topic": words, "documents": [shown], "opinions": self.opinions.get(doc_id, two()), "former": said}

    def sync(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Save what is new, in order, and hand out pairs."""
        reply = self.save(ask["decisions"]) | {"task": self.task, "units": [], "closed": []}
        if ask["want"] <= 0 and ask["decisions"] and not ask["due"]:
            return reply | {"exhausted": False}
        wanted = [pair for pair in self.pairs() if ask["filter"].get("query_id") in (None, pair[0])]
        open_now = [p for p in wanted if p not in self.current() and p[1] not in self.ended]
        holding = {tuple(json.loads(name)): name for name in ask["holding"]}
        fresh = [pair for pair in open_now if pair not in holding and pair[1] not in self.held]
        over = set(self.current()) | {pair for pair in holding if pair[1] in self.ended}
        return reply | {
            "units": [self.unit_of(*pair) for pair in fresh[: ask["want"]]],
            "closed": [name for pair, name in holding.items() if pair in over],
            "exhausted": len(fresh) <= ask["want"],
            "progress": {"done": len(wanted) - len(open_now), "goal": len(wanted)},
        }

    def recent(self, ask: dict[str, Any]) -> dict[str, Any]:
        rows = list(self.current().values())[::-1][: ask["limit"]]
        return {"decisions": [row | {"title": f"River {int(row['doc_id'][1:])}"} for row in rows]}

    def unit(self, name: str) -> dict[str, Any]:
        return self.unit_of(*json.loads(name))


def said(desk: Desk) -> list[tuple[str, str]]:
    """The log in short: what was on screen, and the key that says the grade."""
    rows = [row for row in desk.log if row["kind"] == "graded"]
    return [(f"Topic {row['query_id']} {row['doc_id']}", str(row["relevance"])) for row in rows]


if __name__ == "__main__":
    with Harness(8997) as harness:
        harness.desk = AdjudicationDesk()
        harness.desk.opinions["d000"] = hostile()
        print(harness.url)
        harness.thread.join()
