"""Forms of the settings that a campaign stores, and the search for damaged ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from collection.assignment import AssignmentSettings
from collection.campaign.progress.calibration_record import CLOSED, KEY, CalibrationRecord, ClosedByRule
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.campaign.settings.loop_settings import LoopSettings
from collection.campaign.settings.settings import About
from collection.core import layout
from collection.core.errors import CampaignError, CleverdonError
from collection.core.questions import read_questions
from collection.core.review import Review

REQUIRED = ("grades", "id", "title")
"""Settings without which there is no campaign."""

FORMS: Mapping[str, Any] = {
    "id": str,
    "title": str,
    "grades": dict[str, str],
    "loop": LoopSettings,
    "assignment": AssignmentSettings,
    "card": JudgingPageSettings,
    "about": About,
    "backups": {"every_hours": int, "keep": int, "keep_days": int},
    "backup_problem": str | None,
    "questions": list[dict[str, Any]],
    "tour": bool,
    "review": Review,
    "task": Literal[*layout.TASK_NAMES],
    "citations": Literal["all", "first"],
    "nuggets": dict[str, list[str]],
    "address": str | None,
    "ports": dict[str, int],
    "documents_version": int,
    "kept_as": dict[str, str],
    "record_files": list[str],
    "batches under way": dict[str, list[Any]],
    "runs built on models": dict[str, list[str]],
    "system_order": dict[str, Any],
    "features": {
        "version": int, "blocks": list[str], "bigrams": bool, "fingerprint": str, "note": str,
        "cluster": dict[str, Any],
    },
    KEY: {"draws": int, "record": CalibrationRecord | None},
    CLOSED: dict[str, ClosedByRule],
}  # fmt: skip
"""Setting -> its type in JSON: a class with fields, a mapping of the fields that it may have, or a type."""

KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def require_sound(stored: Mapping[str, Any], database: object) -> None:
    """Raise :class:`CampaignError` with one sentence about the first damaged setting, unless all are sound."""
    for name, problem in find_damage(stored).items():
        raise CampaignError(
            f"{database}: the setting {name!r} is damaged: {problem}; restore a backup with "
            "`cleverdon restore FILE NEW`, or see all damage with `cleverdon check DIR`"
        )


def sound(stored: Mapping[str, Any], database: object) -> dict[str, Any]:
    """Return the settings that are not damaged; raise :class:`CampaignError` if a required one is."""
    damaged = find_damage(stored)
    require_sound({name: value for name, value in stored.items() if name in REQUIRED}, database)
    return {name: value for name, value in stored.items() if name not in damaged}


def find_damage(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with each damaged setting; settings of other versions are not looked at.

    Parameters
    ----------
    stored
        Setting -> its value; a ValueError where it is no JSON.
    """
    missing = {name: "expected a value, found none" for name in REQUIRED if name not in stored}
    problems = {name: _problem(stored[name], form) for name, form in FORMS.items() if name in stored}
    if not problems.get("grades"):
        problems["grades"] = _grades(stored.get("grades"))
    if not problems.get("questions"):
        problems["questions"] = _questions(stored.get("questions", []))
    return missing | {name: problem for name, problem in problems.items() if problem}


def _grades(grades: Any) -> str | None:
    if isinstance(grades, dict) and not all(re.fullmatch(r"-?\d+", grade) for grade in grades):
        return f"expected whole numbers as grades, found {sorted(grades)}"
    return "expected at least 2 grades" if isinstance(grades, dict) and len(grades) < 2 else None


def _questions(questions: Any) -> str | None:
    try:
        read_questions(questions)
    except CleverdonError as error:
        return str(error)
    return None


def _problem(value: Any, form: Any) -> str | None:
    """Return "expected ..., found ..." where a value is not of a form, else None."""
    if isinstance(value, ValueError):
        return f"expected JSON, found other text ({value})"
    if isinstance(form, Mapping) or is_dataclass(form):
        return _fields_problem(value, form)
    if isinstance(form, type) and issubclass(form, tuple):
        return _tuple_problem(value, form)
    return _type_problem(value, get_origin(form) or form, get_args(form))


def _type_problem(value: Any, kind: Any, parts: tuple[Any, ...]) -> str | None:
    """Return what is wrong with a value of a type with these parameters."""
    problem = None
    if kind in (Union, UnionType):
        problems = [_problem(value, part) for part in parts]
        problem = None if None in problems else problems[0]
    elif kind is Literal:
        problem = None if value in parts else f"expected one of {', '.join(map(str, parts))}, found {_shown(value)}"
    elif kind is dict:
        problem = _kind(value, dict) or _first((f"{name!r}: ", each, parts[1]) for name, each in value.items())
    elif kind in (list, tuple):
        problem = _kind(value, list) or _first(("", each, parts[0]) for each in value)
    elif kind is not Any:
        problem = _kind(value, kind)
    return problem


def _tuple_problem(value: Any, form: type) -> str | None:
    """Return what is wrong with the fields of a named tuple, which are stored as a list."""
    hints = list(get_type_hints(form).values())
    least = len(hints) - len(getattr(form, "_field_defaults", {}))
    if isinstance(value, list) and not least <= len(value) <= len(hints):
        return f"expected {least} to {len(hints)} values, found {len(value)}"
    return _kind(value, list) or _first(("", each, hint) for each, hint in zip(value, hints, strict=False))


def _first(parts: Iterable[tuple[str, Any, Any]]) -> str | None:
    """Return the first problem of parts, each with what names it, its value and its form."""
    return next((f"{name}{problem}" for name, part, form in parts if (problem := _problem(part, form))), None)


def _fields_problem(value: Any, form: Any) -> str | None:
    if problem := _kind(value, dict):
        return problem
    hints = form if isinstance(form, Mapping) else get_type_hints(form)
    known = {name: value[name] for name in hints if name in value}
    problem = _first((f"{name}: ", each, hints[name]) for name, each in known.items())
    if problem or isinstance(form, Mapping):
        return problem
    try:  # which checks the values
        form(**known)
    except CleverdonError as error:
        problem = str(error)
    except TypeError:
        missing = [field.name for field in fields(form) if field.name not in known]
        problem = f"expected all fields, found none of {', '.join(missing)}"
    return problem


def _kind(value: Any, kind: type) -> str | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    sound = {int: number and value == value // 1, float: number, NoneType: value is None}
    if sound.get(kind, isinstance(value, kind)):
        return None
    return f"expected {KINDS.get(kind, 'null')}, found {_shown(value)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]} ..."
