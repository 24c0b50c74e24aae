"""Why a document came up, and documents that an annotator searches for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from collection import assignment, clock, pooling
from collection.campaign.judging import Judging
from collection.campaign.judging_settings import Carding
from collection.campaign.loop_settings import LOOPING
from collection.campaign.training_round import Reasons
from collection.documents.rendering import html_text, is_html
from collection.errors import InputError, UnknownNameError
from collection.records import UNSPACED, Document
from collection.store import Way

_UNSPACED = re.compile(f"[{UNSPACED}]")
_TAG = re.compile(r"<[^<>]*>|\A[^<>]*>|<[^<>]*\Z")
"""A tag of HTML, also one that was cut; the marks of a search may stand in it."""


class Why(NamedTuple):
    """Why a document came up.

    Attributes
    ----------
    sentence
        In words.
    terms
        (term, share): what weighs for it, and with a negative share against it; the largest is 1 or -1.
    """

    sentence: str
    terms: list[tuple[str, float]]


class Found(NamedTuple):
    """A document that a search found; marks (U+0002, U+0003) stand around the words in its snippet."""

    doc_id: str
    title: str
    snippet: str
    judged: bool
    relevance: int | None


class Finding(Judging, Carding):
    """The part of a campaign that answers annotators' questions about documents."""

    def why(
        self,
        query_id: str,
        doc_id: str,
        annotator: str,
        reasons: Callable[[int], Reasons | None] | None = None,
    ) -> Why:
        """Why a document came up, as far as the settings let annotators know.

        Parameters
        ----------
        query_id, doc_id, annotator
            The pair, and who has it on screen.
        reasons
            Of a row of the matrix, by the round that it came up by or a later one of the topic
            (:meth:`~collection.campaign.training_round.Learned.reasons`); one is made anew if left out and there is a
            loop.
        """
        settings = self.loop_settings()
        if settings.explain == "nothing":
            return Why("The manager of this campaign does not show why a document came up.", [])
        if not self.explains(query_id, doc_id):
            pooled = "in the pool, which was made from what the systems retrieved"
            return Why(f"It is {pooled if self.in_pool(query_id, doc_id) else 'not in the pool'}.", [])
        row = self.store.rows_of([doc_id]).get(doc_id)
        known = None if row is None else (reasons or self.learn(query_id).reasons)(row)
        if known is None:
            raise InputError(f"the loop of topic {query_id!r} knows no document {doc_id!r}")
        pair = self.store.pair(query_id, doc_id, annotator)
        if pair is not None and pair.strategy == "random":
            sentence = "It was drawn at random, so that what is still missing can be estimated."
        elif (entry := pooling.strategies(adaptive=True).get(known.came_by)) is not None:
            how = entry.description[0].lower() + entry.description[1:]
            listed = known.best is not None and known.best[0] > 0
            sentence = f"{entry.label} chose it: {how}" if listed else "No system put it forward."
        elif known.came_by != "model":
            basis = {"fusion": "what the systems put forward", "topic text": "the words of the topic"}
            sentence = f"Nothing relevant is known yet; the order rests on {basis.get(known.came_by, 'chance')}."
        else:
            sentence = "By what was judged so far, these terms of it weigh most."
        largest = max((abs(share) for _, share in known.terms), default=0.0) or 1.0
        terms = [(term, round(share / largest, 3)) for term, share in known.terms]
        unblinded = settings.explain == "terms and runs" and not self.assignment_settings().blind
        if unblinded and known.best is not None:
            number, rank = known.best
            of = len(self.store.runs())
            best = f"{number} of {of} have it, best at rank {rank}" if number else f"none of {of} has it"
            sentence += f" Of the systems, {best}."
        return Why(sentence, terms)

    def explains(self, query_id: str, doc_id: str) -> bool:
        """Whether a model has to say why a document came up; elsewhere it is the pool, or nobody is told."""
        if self.loop_settings().explain == "nothing" or self.mode(query_id) not in LOOPING:
            return False
        return self.mode(query_id) != "pool-then-loop" or not self.in_pool(query_id, doc_id)

    def search(self, query_id: str, annotator: str, words: str, count: int = 30) -> list[Found]:
        """Documents with these words, best first, and what the annotator said of them for the topic.

        Parameters
        ----------
        words
            What a person types: a document's id, or words. They must all occur; ``"a phrase"``, ``prefix*``,
            ``-word`` and ``NOT word`` work as well.
        """
        self._must_know(query_id)
        exact = self.store.documents([words.strip()])
        found = [(d.doc_id, d.title, (d.text or "")[:160]) for d in exact.values()]
        if not found or re.search(r"\w", words):
            found += [row for row in self._found(words, count) if row[0] not in exact]
        found = found[:count]
        documents = self.store.documents([row[0] for row in found])
        form = self.card_settings().form
        found = [(d, t, _bare(said) if is_html(documents[d], form) else said) for d, t, said in found]
        said = self.store.grades_of(query_id, annotator, [doc_id for doc_id, _, _ in found])
        return [Found(d, title, snippet, d in said, said.get(d)) for d, title, snippet in found]

    def _found(self, words: str, count: int) -> list[tuple[str, str, str]]:
        groups, unwanted = _read(words)
        if not any(_UNSPACED.search(word) for word in [*unwanted, *(word for group in groups for word in group)]):
            return self.store.search(_query(groups, unwanted), count)
        bare = [[word.strip('"*') for word in group] for group in groups]
        found = self.store.scan(bare, [word.strip('"*') for word in unwanted], count)
        return [(d, title, _snippet(text, [word for group in bare for word in group])) for d, title, text in found]

    def take(self, annotator: str, query_id: str, doc_id: str) -> Document:
        """Hand out a document that the annotator found by searching; its judgement will say so."""
        self._must_know(query_id)
        if self.mode(query_id) == "closed":
            raise InputError(f"topic {query_id!r} is closed: nothing more is judged for it")
        document = self.store.documents([doc_id]).get(doc_id)
        if document is None:
            raise UnknownNameError("document", doc_id, [])
        if not self.store.is_for(query_id, annotator):
            raise InputError(f"topic {query_id!r} is assigned to others")
        if first := next(iter(self.store.calibration_left(annotator)), None):
            raise InputError(f"the calibration set comes first, in topic {first!r}")
        at = clock.seconds()
        with self.store.transaction():
            # What they have judged themselves can be had again, to look at and to change.
            state = self._candidates(query_id, annotator, at, [doc_id])
            if any(c.held_back and not c.mine for c in state):
                raise InputError(f"the text of {doc_id!r} is missing, so it cannot be judged yet")
            if not any(c.mine for c in state) and not assignment.next_pairs(state):
                raise InputError(f"{doc_id!r} is judged already, or another annotator has it on screen")
            until = at + self.assignment_settings().lease * 60
            self.store.lease(query_id, [Way(doc_id, "search")], annotator, at, until)
        return document


def _read(words: str) -> tuple[list[list[str]], list[str]]:
    """What a person typed: groups, of each of which one word must occur, and words that must not; each in quotes."""
    wanted: list[list[str]] = []
    unwanted: list[str] = []
    before = ""
    for token in re.findall(r'-?"[^"]*"|\S+', words):
        if token in ("NOT", "OR", "AND"):
            before = token
            continue
        negative = token.startswith("-") and len(token) > 1
        quoted = _quoted(token[1:] if negative else token)
        if quoted is None:
            continue
        if negative or before == "NOT":
            unwanted.append(quoted)
        elif before == "OR" and wanted:
            wanted[-1].append(quoted)
        else:
            wanted.append([quoted])
        before = ""
    if not wanted:
        raise InputError(f"a search needs a word to look for, found {words!r}")
    return wanted, unwanted


def _query(groups: list[list[str]], unwanted: list[str]) -> str:
    """The same as FTS5 reads it."""
    wanted = " AND ".join(group[0] if len(group) == 1 else "(" + " OR ".join(group) + ")" for group in groups)
    # NOT binds tighter than the AND between words that FTS5 puts in by itself.
    return " NOT ".join([f"({wanted})", *unwanted])


def _snippet(text: str, words: list[str], around: int = 40) -> str:
    """The first place where one of the words occurs, with marks around each (U+0002, U+0003)."""
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - around) if first else 0
    end = min(len(text), (first.end() if first else 0) + 3 * around)
    marked = pattern.sub(lambda found: f"\x02{found[0]}\x03", text[start:end])
    return ("… " if start else "") + marked + (" …" if end < len(text) else "")


def _bare(snippet: str) -> str:
    """A piece of a page of HTML without its tags."""
    return html_text.text_of(_TAG.sub(" ", snippet))[1]


def _quoted(token: str) -> str | None:
    """A word or phrase in quotes, a prefix with its asterisk; None where there is nothing to look for."""
    core = token.strip('"*').replace('"', " ").strip()
    if not any(c.isalnum() for c in core):
        return None
    # One letter and an asterisk is nearly everything, and slow.
    return f'"{core}"' + ("*" if token.endswith("*") and len(core) > 1 else "")
