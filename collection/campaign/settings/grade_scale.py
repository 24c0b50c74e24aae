"""Grade scales from names and files."""

from __future__ import annotations

import json
from pathlib import Path

from collection.core.characters import require_writable
from collection.core.errors import FormatError, InputError
from collection.core.phrases import join
from collection.core.records import GRADE_SCALES, GradeScale
from collection.formats.source import quote

EXAMPLE = '{"0": "Not relevant", "1": "Relevant"}'


def read_grades(grades: str | Path) -> GradeScale:
    """A grade scale by name (``0-1``, ``0-3``) or from a JSON file that maps each grade to a sentence."""
    if str(grades) in GRADE_SCALES:
        return GRADE_SCALES[str(grades)]
    path = Path(grades)
    if not path.is_file():
        raise InputError(
            f"grades: expected {', '.join(GRADE_SCALES)} or a JSON file for any other scale, like {EXAMPLE}, "
            f"found {str(grades)!r}, which is not a file"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FormatError(path, line, f"grades as JSON, like {EXAMPLE}", f"invalid JSON ({error})") from error
    wanted = f"two or more grades from 0 to 9, like {EXAMPLE}"
    if not isinstance(content, dict):
        raise FormatError(path, None, wanted, quote(json.dumps(content)))
    if len(content) < 2 or not all(len(grade) == 1 and grade in "0123456789" for grade in content):
        raise FormatError(path, None, wanted, join(map(repr, content)) or "none")
    for grade, sentence in content.items():
        require_writable(sentence, f"{path}: sentence of grade {grade}")
    return GradeScale({int(grade): str(sentence) for grade, sentence in content.items()})
