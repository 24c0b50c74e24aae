"""Families of language models, by their names: a judge of the family on which a system is built may favour it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from os import PathLike

from collection.core.errors import FormatWarning

FAMILIES = (
    "claude", "command", "deepseek", "falcon", "gemini", "gemma", "gpt", "llama", "mistral", "mixtral", "qwen",
)  # fmt: skip
"""Families whose models have other words before the name of the family, such as those of a provider."""

SHORTEST = 3
"""Letters of a family that can be looked for in the names of runs."""


_ANYWHERE = "umbrela|llms?(?:judge)?(?!4eval)|(?:chat)?gpt|llama|qwen|mixtral|deepseek|openai|anthropic"
_PEOPLE = "claude|gemini|gemma|mistral|grok"
"""Models whose names people and other things have as well."""
_VERSIONED = f"{_PEOPLE}|command|falcon|granite|ministral|nova|olmo|palm|phi|o"
_VERSION = r"[-_ ]?(?:v?\d|(?:r|haiku|sonnet|opus|pro|flash|mini|nano|small|medium|large|instruct)(?![a-z]))"


def family_of(model: str) -> str:
    """Return the family in the name of a model: one of :data:`FAMILIES`, or the first word of the last part.

    "" if that is too short to look for. A fine-tuned model of OpenAI (``ft:...``) has the family of its base model.

    >>> [family_of(name) for name in ("ft:gpt-4o-mini-2024-07-18:acme::9x", "meta-llama/Meta-Llama-3.1-8B", "o1-mini")]
    ['gpt', 'llama', '']
    >>> [family_of(name) for name in ("us.anthropic.claude-3-5-sonnet-v1:0", "Qwen2.5-7B", "microsoft/phi-4")]
    ['claude', 'qwen', 'phi']
    """
    name = model.casefold().removeprefix("ft:").rsplit("/", 1)[-1]
    match = re.search("|".join(FAMILIES), name) or re.search("[a-z]+", name)
    return match[0] if match and len(match[0]) >= SHORTEST else ""


def find_model(name: str, *, of_person: bool = False) -> str:
    """Return the part of a name that says that a language model gave the grades, to the end of the name; "" for none.

    With `of_person`, the name of an annotator, names that people have count only with a version.

    >>> [find_model(name) for name in ("qrels_umbrela_gpt-4o", "Llama3-8b", "qrels.LLM", "dl19-passage", "wellman")]
    ['gpt-4o', 'llama3-8b', 'llm', '', '']
    >>> [find_model(name) for name in ("umbrela.dl23", "gemini", "command-post", "command-r-plus", "o3-mini", "foo3")]
    ['umbrela.dl23', 'gemini', '', 'command-r-plus', 'o3-mini', '']
    >>> [find_model(name, of_person=True) for name in ("Claude", "Claude 3.5", "gpt-4", "Gemma Phillips")]
    ['', 'claude 3.5', 'gpt-4', '']
    """
    words = re.sub("(?<=[a-z])(?=[A-Z])", "-", name).casefold()
    names = _ANYWHERE if of_person else f"{_ANYWHERE}|{_PEOPLE}"
    matches = list(re.finditer(rf"(?<![a-z])(?:(?:{names})(?![a-z])|(?:{_VERSIONED}){_VERSION})", words))
    # The method of a judge comes before its model.
    model = next(
        (each for each in matches if not each[0].startswith(("umbrela", "llm"))), matches[0] if matches else None
    )
    return "" if model is None else words[model.start() :]


def find_source(names: Iterable[str]) -> str:
    """Return the first of these names that says that a language model gave the grades; "" for none."""
    return next(filter(find_model, names), "")


def warn_of_model(qrels: object) -> None:
    """Warn (:class:`.FormatWarning`) if a name in qrels, or of their file, says that a language model gave grades."""
    from collection.formats import names_of_qrels

    if said := find_source(names_of_qrels(qrels)):
        place = qrels if isinstance(qrels, str | PathLike) else "qrels"
        sentence = (
            f"the name {said!r} says that a language model gave these grades: values by them may favour systems built "
            "on such a model. `cleverdon labels compare` compares them with people's judgements"
        )
        warnings.warn(FormatWarning(place, sentence), stacklevel=3)


def runs_of_family(model: str, runs: Iterable[str]) -> list[str]:
    """Return the names of runs that contain the model's family.

    >>> runs_of_family("gpt-4o", ["bm25", "bm25+GPT4-rerank"])
    ['bm25+GPT4-rerank']
    """
    family = family_of(model)
    return [name for name in runs if family and family in name.casefold()]
