"""Why a document came up, and documents that an annotator searches for."""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from collection.campaign.looping import LOOPING, Looping, Round
from collection.errors import InputError, UnknownNameError
from collection.records import Document
from collection.store import Way


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


class Finding(Looping):
    """The part of a campaign that answers annotators' questions about documents."""

    def why(self, query_id: str, doc_id: str, made: Round | None = None) -> Why:
        """Why a document came up, as far as the settings let annotators know.

        Parameters
        ----------
        query_id, doc_id
            The pair.
        made
            The round that it came up by, or a later one of the topic; made anew if left out and there is a loop.
        """
        settings = self.loop_settings()
        if settings.explain == "nothing":
            return Why("The manager of this campaign does not show why a document came up.", [])
        mode = self.mode(query_id)
        if mode not in LOOPING or (mode == "pool-then-loop" and self.in_pool(query_id, doc_id)):
            pooled = "in the pool, which was made from what the systems retrieved"
            return Why(f"It is {pooled if self.in_pool(query_id, doc_id) else 'not in the pool'}.", [])
        made = made or self.retrain(query_id)
        row = self.store.rows_of([doc_id]).get(doc_id)
        if row is None or row >= made.space.vectors.size:
            raise InputError(f"the loop of topic {query_id!r} knows no document {doc_id!r}")
        way = next((way for way in made.ways if way.doc_id == doc_id), None)
        model = made.ranking.model
        terms: list[tuple[str, float]] = []
        if way is not None and way.strategy == "random":
            sentence = "It was drawn at random, so that what is still missing can be estimated."
        elif model is None:
            basis = {"fusion": "what the systems put forward", "topic text": "the words of the topic"}
            sentence = f"Nothing relevant is known yet; the order rests on {basis.get(made.came_by, 'chance')}."
        else:
            sentence = "By what was judged so far, these terms of it weigh most."
        if model is not None:
            found = made.space.vectors.explain(row, model.weights[: made.space.vectors.features], most=12)
            words = [(term, share) for term, share in found if ":" not in term]
            found = words or found  # grams and columns of embeddings tell a person little
            largest = max((abs(share) for _, share in found), default=0.0) or 1.0
            terms = [(term, round(share / largest, 3)) for term, share in found]
        if settings.explain == "terms and runs" and made.space.evidence is not None:
            e = made.space.evidence
            number, of = int(e.runs[row]), len(self.store.runs())
            best = f"{number} of {of} have it, best at rank {int(e.best[row])}" if number else f"none of {of} has it"
            sentence += f" Of the systems, {best}."
        return Why(sentence, terms)

    def search(self, query_id: str, annotator: str, words: str, count: int = 30) -> list[Found]:
        """Documents with these words, best first, and what the annotator said of them for the topic.

        Parameters
        ----------
        words
            What a person types. Words must all occur; ``"a phrase"``, ``prefix*`` and ``NOT word`` work as well.
        """
        self._must_know(query_id)
        found = self.store.search(_query(words), count)
        said = self.store.grades_of(query_id, annotator, [doc_id for doc_id, _, _ in found])
        return [Found(d, title, snippet, d in said, said.get(d)) for d, title, snippet in found]

    def take(self, annotator: str, query_id: str, doc_id: str) -> Document:
        """Hand out a document that the annotator found by searching; its judgement will say so."""
        self._must_know(query_id)
        if self.mode(query_id) == "closed":
            raise InputError(f"topic {query_id!r} is closed: nothing more is judged for it")
        document = self.store.documents([doc_id]).get(doc_id)
        if document is None:
            raise UnknownNameError("document", doc_id, [])
        at = time.time()
        with self.store.transaction():
            state = self.store.candidates(query_id, annotator, at, [doc_id]).iloc[0]
            if state["others"] or state["leased"]:
                raise InputError(f"{doc_id!r} is judged already, or another annotator has it on screen")
            self.store.lease(query_id, [Way(doc_id, "search")], annotator, at + 3600)
        return document


def _query(words: str) -> str:
    """What a person typed, as FTS5 reads it: plain words are quoted, so that no sign in them is an error."""
    tokens = re.findall(r'"[^"]*"|\S+', words)
    made: list[str] = []
    for token in tokens:
        if token in ("NOT", "OR") and made and made[-1] not in ("NOT", "OR"):
            made.append(token)
        elif token.startswith("-") and len(token) > 1 and made:
            made += ["NOT", _quoted(token[1:])]
        elif token not in ("NOT", "OR", "AND"):
            made.append(_quoted(token))
    while made and made[-1] in ("NOT", "OR"):
        made.pop()
    if not made:
        raise InputError(f"a search needs a word, found {words!r}")
    return " ".join(made)


def _quoted(token: str) -> str:
    core = token.strip('"*').replace('"', " ")
    return f'"{core}"' + ("*" if token.endswith("*") else "")
