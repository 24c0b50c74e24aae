"""Grade scales from names and files."""

from __future__ import annotations

import json
from pathlib import Path

from collection.characters import require_writable
from collection.errors import FormatError, InputError
from collection.records import GRADE_SCALES, GradeScale


def read_grades(grades: str | Path) -> GradeScale:
    """A grade scale by name (``0-1``, ``0-3``) or from a JSON file that maps each grade to a sentence."""
    if str(grades) in GRADE_SCALES:
        return GRADE_SCALES[str(grades)]
    path = Path(grades)
    if not path.is_file():
        raise InputError(
            f"grades: expected {', '.join(GRADE_SCALES)} or a JSON file, found {str(grades)!r}, which is not a file"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("no object")
        for grade, sentence in content.items():
            require_writable([grade, sentence], f"{path}: sentence of grade {grade!a}")
        return GradeScale({int(grade): str(sentence) for grade, sentence in content.items()})
    except (ValueError, AttributeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FormatError(path, line, 'an object like {"0": "Not relevant", "1": "Relevant"}', str(error)) from error
