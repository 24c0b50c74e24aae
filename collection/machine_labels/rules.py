"""Weak labels: rules that label a pair by its topic and document.

A rule returns a grade, or None where it cannot tell, for example without a text. Rules of other packages are added
through the entry-point group ``cleverdon.label_rules``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal

import pandas as pd

from collection.core import tokens
from collection.core.errors import InputError
from collection.core.records import Document, Topic
from collection.core.registry import Entry, Parameter, Registry
from collection.documents.rendering.topic_terms import STOP_WORDS

_BLOCK = 1000
"""Pairs that are labelled at once by a rule with a function for many."""

_KEPT_TOPICS = 64
"""Topics whose terms are kept; pairs come topic by topic."""


LabelRule = Callable[..., int | None]
"""Takes a topic and a document and returns a grade or None; its keyword-only arguments are its parameters."""

TextPairs = Sequence[tuple[Topic, Document]]


@dataclass(frozen=True, repr=False)
class LabelRuleEntry(Entry[LabelRule]):
    """A label rule.

    Attributes
    ----------
    many
        The same for many pairs at once, with every parameter as a keyword, where that saves work for each pair.
    """

    many: Callable[..., list[int | None]] | None = None


LABEL_RULES: Registry[LabelRule, ..., LabelRuleEntry] = Registry("label rule", LabelRuleEntry, "cleverdon.label_rules")

_Then = Annotated[int, Parameter("Grade where the rule holds", least=0)]
_Otherwise = Annotated[int, Parameter("Grade elsewhere", least=0)]
_Field = Annotated[str, Parameter("Field", "title, text, or a field of the documents' metadata.")]


def label_pairs(
    rule: Entry[LabelRule],
    pairs: Iterable[tuple[Topic, Document]],
    grades: Container[int],
    parameters: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Label pairs by a rule.

    Parameters
    ----------
    grades
        The campaign's grades.
    parameters
        Values of the rule's parameters that differ from the defaults.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``relevance`` (float64; nan where the rule has no grade), in the order of the pairs.

    Raises
    ------
    UnknownNameError, InputError
        The rule has no such parameter; it raised an exception; or its grade is not one of the campaign.
    """
    given = dict(parameters or {})
    rule.require_parameters(given)
    rows: list[tuple[str, str, float]] = []
    for topic, document, grade in _graded(rule, iter(pairs), given):
        where = _place(rule, topic, document)
        if grade is not None and (isinstance(grade, bool) or grade not in grades):
            raise InputError(f"{where}: expected a grade of this campaign ({grades}) or None, found {grade!r}")
        rows.append((topic.query_id, document.doc_id, float("nan") if grade is None else float(grade)))
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    return frame.astype({"query_id": "str", "doc_id": "str", "relevance": "float64"})


def _graded(
    rule: Entry[LabelRule], pairs: Iterator[tuple[Topic, Document]], given: Mapping[str, Any]
) -> Iterator[tuple[Topic, Document, int | None]]:
    """Each pair with its grade, by blocks if the rule has a function for many pairs."""
    if isinstance(rule, LabelRuleEntry) and rule.many is not None:
        while block := list(islice(pairs, _BLOCK)):
            grades = rule.many(block, **{**rule.parameters, **given})
            yield from ((topic, document, grade) for (topic, document), grade in zip(block, grades, strict=True))
        return
    for topic, document in pairs:
        try:
            yield topic, document, rule.function(topic, document, **given)
        except InputError:
            raise
        except Exception as error:  # whatever goes wrong in somebody else's function
            raise InputError(f"{_place(rule, topic, document)}: {type(error).__name__}: {error}") from error


def _place(rule: Entry[LabelRule], topic: Topic, document: Document) -> str:
    return f"label rule {rule.name}, topic {topic.query_id}, document {document.doc_id}"


@LABEL_RULES.add(
    "contains-query", "Terms of the topic", "The title or text contains the terms of the topic, without stop words."
)
def contains_query(
    topic: Topic,
    document: Document,
    *,
    terms: Annotated[Literal["all", "any"], Parameter("Terms", labels={"all": "All terms", "any": "Any term"})] = "all",
    of: Annotated[Literal["title", "title-description"], Parameter("Text of the topic")] = "title",
    then: _Then = 1,
    otherwise: _Otherwise = 0,
) -> int | None:
    """Match whole words without case; None without a document text or topic terms."""
    wanted = _topic_terms(topic.title if of == "title" else f"{topic.title} {topic.description}")
    if document.text is None or not wanted:
        return None
    words = frozenset(_words(f"{document.title} {document.text}"))
    return then if (wanted <= words if terms == "all" else wanted & words) else otherwise


@LABEL_RULES.add("contains-string", "String in a field", "A field of the document contains a string or an entity.")
def contains_string(
    topic: Topic,
    document: Document,
    *,
    string: Annotated[str, Parameter("String", "By default the title of the topic.")] = "",
    field: _Field = "text",
    match: Annotated[
        Literal["words", "value"],
        Parameter("Match", labels={"words": "The words in this order", "value": "A whole value of the field"}),
    ] = "words",
    then: _Then = 1,
    otherwise: _Otherwise = 0,
) -> int | None:
    """Match whole words without case; None without the field or without words in the string."""
    wanted, values = _words(string or topic.title), _field_values(document, field)
    if values is None or not wanted:
        return None
    written = f" {' '.join(wanted)} "
    texts = [f" {' '.join(_words(value))} " for value in values]
    holds = written in texts if match == "value" else any(written in text for text in texts)
    return then if holds else otherwise


def _match_pattern(
    pairs: TextPairs, *, pattern: str, field: str, case: bool, then: int, otherwise: int
) -> list[int | None]:
    """:func:`matches_pattern` of many pairs: the pattern is compiled once for all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pattern:
        raise InputError("matches-pattern: expected a regular expression as pattern, found nothing")
    values = [_field_values(document, field) for _, document in pairs]
    texts = [text for each in values for text in each or ()]
    try:
        # Without a text the pattern would not be read.
        matches = pc.match_substring_regex(pa.array(texts or [""], pa.string()), pattern, ignore_case=not case)
    except pa.ArrowInvalid as error:
        raise InputError(
            f"matches-pattern: expected a regular expression of RE2, found {pattern!r} ({error})"
        ) from None
    owners = (number for number, each in enumerate(values) for _ in each or ())
    matching = {number for number, matched in zip(owners, matches.to_pylist(), strict=False) if matched}
    return [None if each is None else then if number in matching else otherwise for number, each in enumerate(values)]


@LABEL_RULES.add(
    "matches-pattern",
    "Regular expression",
    "A regular expression matches in a field of the document.",
    _match_pattern,
)
def matches_pattern(
    topic: Topic,
    document: Document,
    *,
    pattern: Annotated[str, Parameter("Pattern", "Syntax of RE2, without backreferences and lookaround.")] = "",
    field: _Field = "text",
    case: Annotated[bool, Parameter("Match case")] = False,
    then: _Then = 1,
    otherwise: _Otherwise = 0,
) -> int | None:
    """Search with RE2, whose time is linear in the text for every pattern; None without the field."""
    pairs = [(topic, document)]
    return _match_pattern(pairs, pattern=pattern, field=field, case=case, then=then, otherwise=otherwise)[0]


@lru_cache(maxsize=_KEPT_TOPICS)
def _topic_terms(text: str) -> frozenset[str]:
    """Distinct words without stop words, unless there are no others."""
    words = frozenset(_words(text))
    return words - STOP_WORDS or words


def _words(text: str) -> list[str]:
    return tokens.words(tokens.normalise(text))


def _field_values(document: Document, field: str) -> list[str] | None:
    """The values of a field as texts: several for a list, None if the document does not have the field."""
    value = {"title": document.title, "text": document.text}.get(field, document.metadata.get(field))
    if value is None:
        return None
    return [str(each) for each in (value if isinstance(value, list | tuple) else [value])]
