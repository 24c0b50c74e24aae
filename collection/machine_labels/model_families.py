"""Families of language models, by their names: a judge of the family on which a system is built may favour it."""

from __future__ import annotations

import re
from collections.abc import Iterable

FAMILIES = (
    "claude", "command", "deepseek", "falcon", "gemini", "gemma", "gpt", "llama", "mistral", "mixtral", "qwen",
)  # fmt: skip
"""Families whose models have other words before the name of the family, such as those of a provider."""

SHORTEST = 3
"""Letters of a family that can be looked for in the names of runs."""


def family_of(model: str) -> str:
    """Return the family in the name of a model: one of :data:`FAMILIES`, or the first word of the last part.

    "" if that is too short to look for. A fine-tuned model of OpenAI (``ft:...``) has the family of its base model.

    >>> [family_of(name) for name in ("ft:gpt-4o-mini-2024-07-18:acme::9x", "meta-llama/Meta-Llama-3.1-8B", "o1-mini")]
    ['gpt', 'llama', '']
    >>> [family_of(name) for name in ("us.anthropic.claude-3-5-sonnet-v1:0", "Qwen2.5-7B", "microsoft/phi-4")]
    ['claude', 'qwen', 'phi']
    """
    name = model.casefold().removeprefix("ft:").rsplit("/", 1)[-1]
    found = re.search("|".join(FAMILIES), name) or re.search("[a-z]+", name)
    return found[0] if found and len(found[0]) >= SHORTEST else ""


def runs_of_family(model: str, runs: Iterable[str]) -> list[str]:
    """Return the names of runs that contain the model's family.

    >>> runs_of_family("gpt-4o", ["bm25", "bm25+GPT4-rerank"])
    ['bm25+GPT4-rerank']
    """
    family = family_of(model)
    return [name for name in runs if family and family in name.casefold()]
