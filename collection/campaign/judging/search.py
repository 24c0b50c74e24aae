"""Full-text search for documents by annotators."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from collection import assignment
from collection.campaign.judging.judging_demand import JudgingDemand
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.characters import writable
from collection.core.errors import InputError
from collection.core.records import UNSPACED, Document
from collection.documents.rendering import html_text, is_html
from collection.store import Matches, Selection, Store

_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"[^\W_]+")

_TAG = re.compile(r"<[^<>]*>|\A[^<>]*>|<[^<>]*\Z")
"""An HTML tag, perhaps cut off, and perhaps with the marks of a search in it."""
AROUND = 40  # characters of a snippet before the first word, and a third of those after it


class SearchResult(NamedTuple):
    """A found document; U+0002 and U+0003 enclose the words in its snippet."""

    doc_id: str
    title: str
    snippet: str
    judged: bool
    relevance: int | None


class SearchResults(NamedTuple):
    """Documents that a search found.

    `ranked` is the number of documents with the words that were ranked, the first ones in the order of import; None for
    all of them, and 0 if the order is that of import.
    """

    documents: list[SearchResult]
    ranked: int | None


@dataclass(eq=False)
class DocumentSearch:
    """Full-text search for documents by annotators."""

    store: Store
    settings: Settings
    demand: JudgingDemand

    def find(self, query_id: str, annotator: str, words: str, count: int = 30) -> SearchResults:
        """Return documents with these words, best first, and the annotator's grades of them for the topic.

        `words` is a document's id, or words that must all occur; ``"a phrase"``, ``prefix*``, ``-word`` and
        ``NOT word`` work as well. Raises InputError without a word, and for a prefix of very many words.
        """
        self.settings.require_topic(query_id)
        words = writable(words)
        exact = self.store.corpus.documents([words.strip()])
        hits, ranked = [(d.doc_id, d.title, (d.text or "")[:160]) for d in exact.values()], None
        if not hits or re.search(r"\w", words):
            matches = self._find_matches(words, count)
            hits += [row for row in matches.documents if row[0] not in exact]
            ranked = matches.ranked
        hits = hits[:count]
        documents = self.store.corpus.documents([row[0] for row in hits])
        form = self.settings.judging_page().form
        hits = [(d, t, _without_tags(text) if is_html(documents[d], form) else text) for d, t, text in hits]
        grades = self.store.judgements.grades_of(query_id, annotator, [doc_id for doc_id, _, _ in hits])
        results = [SearchResult(d, title, snippet, d in grades, grades.get(d)) for d, title, snippet in hits]
        return SearchResults(results, ranked)

    def _find_matches(self, words: str, count: int) -> Matches:
        groups, unwanted = _read(words)
        every = [*unwanted, *(word for group in groups for word in group)]
        if not any(_UNSPACED.search(word) for word in every):
            corpus, phrases = self.store.corpus, [_WORD.findall(word) for word in every]
            for word, parts in zip(every, phrases, strict=True):
                if word.endswith("*") and corpus.is_common_prefix(_fold(parts[-1])):
                    raise InputError(f"search: too many words of the collection match {word}; add letters to it")
            # BM25 counts a phrase in all documents, which takes long if all of its words are common.
            if any(all(corpus.is_common(f'"{part}"') for part in parts) for parts in phrases if len(parts) > 1):
                return corpus.search(_query(groups, unwanted), count, ranked=False)
            return corpus.search(_query(groups, unwanted), count)
        bare = [[word.strip('"*') for word in group] for group in groups]
        matches = self.store.corpus.scan(bare, [word.strip('"*') for word in unwanted], count)
        every = [word for group in bare for word in group]
        return Matches([(d, title, _snippet(text, every)) for d, title, text in matches], None)

    def take(self, annotator: str, query_id: str, doc_id: str) -> Document:
        """Give the annotator a document found by searching; its judgement gets the strategy "search"."""
        self.settings.require_topic(query_id)
        if self.settings.mode(query_id) == "closed":
            raise InputError(f"topic {query_id!r} is closed")
        document = self.store.corpus.documents([doc_id]).get(doc_id)
        if document is None:
            raise InputError(f"document {doc_id!r} is not in the campaign")
        if not self.store.assignments.is_for(query_id, annotator):
            raise InputError(f"topic {query_id!r} is assigned to other annotators")
        if first := next(iter(self.store.assignments.qualification_left(annotator)), None):
            raise InputError(f"judge the qualification set first, in topic {first!r}")
        with self.store.transaction():
            at = clock.seconds()
            # Annotators can take documents that they have judged, to change their grade.
            state = self.demand.candidates(query_id, annotator, at, [doc_id])
            if any(c.held_back and not c.own for c in state):
                raise InputError(f"document {doc_id!r} has no text yet and cannot be judged")
            chosen = Selection(doc_id, "search")
            if not any(c.own for c in state) and not assignment.next_pairs(state):
                loaded = [p for p in self.demand.prefetched(query_id, annotator, at) if p.candidate.doc_id == doc_id]
                if not loaded:
                    raise InputError(f"document {doc_id!r} has been judged or is open on another annotator's screen")
                self.demand.end_prefetched(query_id, annotator, at, loaded[0])
                if loaded[0].selection.probability is not None:
                    chosen = loaded[0].selection  # a random draw stays one, whoever comes to judge it
            until = at + self.settings.assignment().lease * 60
            self.store.queue.lease(query_id, [chosen], annotator, at, until)
        return document


def _read(words: str) -> tuple[list[list[str]], list[str]]:
    """Quoted words: groups of which one word each must occur, and words that must not occur."""
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
        raise InputError(f"search: expected at least one word to find, found {words!r}")
    return wanted, unwanted


def _query(groups: list[list[str]], unwanted: list[str]) -> str:
    """The search in FTS5's syntax."""
    wanted = " AND ".join(group[0] if len(group) == 1 else "(" + " OR ".join(group) + ")" for group in groups)
    # NOT binds tighter than the AND between words that FTS5 puts in by itself.
    return " NOT ".join([f"({wanted})", *unwanted])


def _snippet(text: str, words: list[str]) -> str:
    """The text around the first of the words, with U+0002 and U+0003 around each of them."""
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - AROUND) if first else 0
    end = min(len(text), (first.end() if first else 0) + 3 * AROUND)
    marked = pattern.sub(lambda match: f"\x02{match[0]}\x03", text[start:end])
    return ("… " if start else "") + marked + (" …" if end < len(text) else "")


def _fold(word: str) -> str:
    """A word as in the full-text index: in lower case and without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))


def _without_tags(snippet: str) -> str:
    return html_text.extract_text(_TAG.sub(" ", snippet))[1]


def _quoted(token: str) -> str | None:
    """A word or phrase in quotes, with the asterisk of a prefix; None without a letter or digit."""
    core = token.strip('"*').replace('"', " ").strip()
    if not any(c.isalnum() for c in core):
        return None
    # One letter and an asterisk would match nearly everything.
    return f'"{core}"' + ("*" if token.endswith("*") and len(core) > 1 else "")
