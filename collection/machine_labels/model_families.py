"""Families of language models, by their names: a judge of the family on which a system is built may favour it."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHORTEST = 3
"""Letters of a family that can be looked for in the names of runs."""


def family_of(model: str) -> str:
    """Return the family in the name of a model: the first word of its last part; "" if it is too short to look for.

    >>> family_of("meta-llama/Llama-3.1-8B-Instruct"), family_of("gpt-4o-mini"), family_of("Qwen2.5-7B")
    ('llama', 'gpt', 'qwen')
    """
    found = re.search(r"[a-z]+", model.rsplit("/", 1)[-1].casefold())
    return found[0] if found and len(found[0]) >= SHORTEST else ""


def runs_of_family(model: str, runs: Iterable[str]) -> list[str]:
    """Return the names of runs that contain the model's family.

    >>> runs_of_family("gpt-4o", ["bm25", "bm25+GPT4-rerank"])
    ['bm25+GPT4-rerank']
    """
    family = family_of(model)
    return [name for name in runs if family and family in name.casefold()]
