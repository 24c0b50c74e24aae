"""Readers of the fields of a decision for which it is never refused: malformed values are cut, dropped or replaced."""

from collection.core.characters import writable

LONGEST_NOTE = 2000  # characters of a judgement's note, as in the card's field
MOST_PASSAGES = 100  # marked passages of one judgement
LONGEST_TEXT = 1 << 40  # characters; no document has more
DAY = 24 * 3600


def read_seconds(value: object) -> float | None:
    """Return the seconds on screen; None for a senseless number from the browser's clock."""
    return round(float(value), 3) if isinstance(value, int | float) and 0 <= value <= DAY else None


def read_note(value: object) -> str | None:
    """Return a note as it can be stored; None for a malformed one."""
    if not isinstance(value, str) or not value.strip():
        return None
    return writable(value).strip()[:LONGEST_NOTE] or None


def read_passages(value: object) -> tuple[tuple[int, int], ...]:
    """Return marked passages, merged and in order, without malformed ones."""
    if not isinstance(value, list):
        return ()
    pairs = [tuple(pair) for pair in value[: 10 * MOST_PASSAGES] if isinstance(pair, list) and len(pair) == 2]
    valid = [p for p in pairs if all(type(n) is int for n in p) and 0 <= p[0] < p[1] <= LONGEST_TEXT]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(valid)[:MOST_PASSAGES]:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def read_source(value: object) -> str:
    """Return "key" for anything but a click."""
    return "click" if value == "click" else "key"


def read_flag(value: object) -> bool:
    """Return whether the value is true, and not merely truthy."""
    return value is True
