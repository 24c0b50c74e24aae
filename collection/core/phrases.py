"""Numbers, plurals, percentages, durations and lists as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import ceil, floor, isclose, isnan

_ROUNDING = 1e-9
_NAME = re.compile(r"\S*[./\\_]\w")
"""The beginning of a message whose first word is a name, which stays as it is."""


def literal(value: object) -> str:
    """A value as it is written in Python; numbers of NumPy as plain numbers.

    >>> import numpy as np
    >>> literal(np.int64(1)), literal((np.int64(1), np.str_("d1"))), literal([np.arange(2)]), literal("np.int64(1)")
    ('1', "(1, 'd1')", '[array([0, 1])]', "'np.int64(1)'")
    """
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    # Without an import of NumPy, which would delay the command line.
    is_number = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    return repr(value.item() if is_number else value)  # type: ignore[attr-defined]


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun; `many` is needed only for irregular plurals.

    >>> count(1, "topic"), count(2000, "pair"), count(2, "query", "queries")
    ('1 topic', '2,000 pairs', '2 queries')
    """
    return f"{number:,} {plural(number, one, many)}"


def plural(number: float, one: str, many: str | None = None) -> str:
    """The form of a word that agrees with `number`, without the number.

    >>> plural(1, "is", "are"), plural(0, "topic")
    ('is', 'topics')
    """
    return one if number == 1 else many or f"{one}s"


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage; shares between 0 and 1 are never shown as 0% or 100%.

    >>> percent(0.5), percent(0.1234, 1), percent(0.0004), percent(0.9996), percent(float("nan"))
    ('50%', '12.3%', '<1%', '>99%', 'unknown')
    """
    if isnan(share):
        return "unknown"
    step = 10.0**-digits
    rounded = f"{100 * share:z.{digits}f}"
    if share > 0 and float(rounded) <= 0:
        return f"<{step:g}%"
    if share < 1 and float(rounded) >= 100:
        return f">{100 - step:g}%"
    return f"{rounded}%"


def percent_down(share: float) -> str:
    """A lower bound as a percentage of up to three digits, rounded down.

    >>> percent_down(0.95), percent_down(0.9996), percent_down(0.12349)
    ('95%', '99.9%', '12.3%')
    """
    digits = 3 - len(str(int(100 * share)))
    nearest = float(f"{100 * share:.3g}")
    scale = 10.0**digits
    below = nearest if nearest / 100 <= share + _ROUNDING else floor(100 * share * scale) / scale
    return f"{below:.3g}%"


def percent_up(share: float) -> str:
    """An upper bound as a percentage with up to one decimal, rounded up.

    >>> percent_up(0.95), percent_up(0.99961), percent_up(1)
    ('95%', '100%', '100%')
    """
    return f"{ceil(1000 * share - _ROUNDING) / 10:.3g}%"


def confidence(alpha: float) -> str:
    """The confidence of an interval at a significance level.

    >>> confidence(0.05), confidence(0.001)
    ('95%', '99.9%')
    """
    return f"{100 * (1 - alpha):g}%"


def probability(p: float, equals: str = "") -> str:
    """A p-value, with enough decimals to compare it with a significance level.

    >>> probability(0.0504), probability(0.00001), probability(0.0504, equals="= ")
    ('0.0504', '< 0.0001', '= 0.0504')
    """
    return "< 0.0001" if p < 0.0001 else f"{equals}{p:.4f}"


def decimal(value: float, digits: int = 4) -> str:
    """A value with decimals, but for whole numbers from 1,000.

    >>> decimal(0.5), decimal(1234.0)
    ('0.5000', '1234')
    """
    return f"{value:.0f}" if abs(value) >= 1000 and float(value).is_integer() else f"{value:.{digits}f}"


def duration(seconds: float) -> str:
    """A duration in the largest unit that fits, up to hours: working time has no days.

    >>> duration(1), duration(45.4), duration(600), duration(5400), duration(500_000)
    ('1 second', '45 seconds', '10 minutes', '1.5 hours', '139 hours')
    """
    amount, unit = _in_unit(seconds)
    return f"{amount} {unit if amount == '1' else unit + 's'}"


def age(seconds: float) -> str:
    """The age of something, from two days on in days.

    >>> age(50), age(7200), age(500_000), age(-3)
    ('50 seconds ago', '2 hours ago', '6 days ago', '0 seconds ago')
    """
    days = round(seconds / 86_400)
    return f"{count(days, 'day') if seconds >= 2 * 86_400 else duration(max(0, seconds))} ago"


def size(number: float) -> str:
    """A number of bytes in the largest unit that fits.

    >>> size(0), size(1), size(123_456), size(999_999), size(2.5e6), size(12e9), size(2.5e15)
    ('0 bytes', '1 byte', '123 kB', '1 MB', '2.5 MB', '12 GB', '2,500 TB')
    """
    if number < 1000:
        return count(round(number), "byte")
    unit = next((place for place in (1, 2, 3) if number / 1000**place < 999.5), 4)
    value = number / 1000**unit
    return f"{f'{value:.3g}' if value < 1000 else f'{value:,.0f}'} {('kB', 'MB', 'GB', 'TB')[unit - 1]}"


def duration_range(low: float, high: float) -> str:
    """An interval of durations in seconds, in the unit of its upper end where both fit.

    >>> duration_range(2400, 3000), duration_range(1200, 9000), duration_range(5399.9, 5400)
    ('40-50 minutes', '20 minutes to 2.5 hours', '1.5 hours')
    """
    (start, first), (end, last) = _in_unit(low), _in_unit(high)
    if first != last:
        return f"{duration(low)} to {duration(high)}"
    return duration(high) if start == end else f"{start}-{end} {last}s"


def brief_duration(seconds: float) -> str:
    """A duration for a table, with the sign of its unit.

    >>> brief_duration(5), brief_duration(600), brief_duration(5400), brief_duration(36_000)
    ('5 s', '10 min', '1.5 h', '10 h')
    """
    amount, unit = _in_unit(seconds)
    return f"{amount} { {'second': 's', 'minute': 'min', 'hour': 'h'}[unit] }"


def number_range(low: float, high: float) -> str:
    """A range of whole numbers, or one number.

    >>> number_range(1200.4, 1600), number_range(7.9, 8.2)
    ('1,200 to 1,600', '8')
    """
    first, last = round(low), round(high)
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def percent_range(low: float, high: float) -> str:
    """A range of shares as percentages, or one.

    >>> percent_range(0.12, 0.3), percent_range(0.121, 0.122)
    ('12% to 30%', '12%')
    """
    first, last = percent(low), percent(high)
    return first if first == last else f"{first} to {last}"


def _in_unit(seconds: float) -> tuple[str, str]:
    if round(seconds) < 90:
        return f"{seconds:.0f}", "second"
    if round(seconds / 60) < 90:
        return f"{seconds / 60:.0f}", "minute"
    hours = seconds / 3600
    decimals = 1 if hours < 10 and not isclose(hours, round(hours), abs_tol=0.05) else 0
    return f"{hours:,.{decimals}f}", "hour"


def sentence(message: str) -> str:
    """A message with a full stop and a capital, unless it begins with the name of a file, setting or the like.

    >>> sentence("no runs yet"), sentence("bm25.run, line 2: no score"), sentence("topics/a: empty")
    ('No runs yet.', 'bm25.run, line 2: no score.', 'topics/a: empty.')
    """
    first = message[0] if _NAME.match(message) else message[0].upper()
    return f"{first}{message[1:].removesuffix('.')}."


def join(items: Iterable[object], last: str = "and") -> str:
    """A list in a sentence.

    >>> join(["a"]), join("ab"), join(["AP", "P@10", "nDCG@10"], "or")
    ('a', 'a and b', 'AP, P@10 or nDCG@10')
    """
    *before, end = [str(item) for item in items] or [""]
    return f"{', '.join(before)} {last} {end}" if before else end


def cut(text: str, most: int = 60) -> str:
    """A text of at most `most` characters; three dots stand for the rest of a longer one.

    >>> cut("heat pump", 9), cut("heat pumps", 9)
    ('heat pump', 'heat p...')
    """
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."


def join_first(items: Iterable[object], most: int = 5) -> str:
    """The first `most` items of a list in a sentence, and how many more there are.

    >>> join_first("abc"), join_first("abc", 2)
    ('a, b and c', 'a, b and 1 more')
    """
    items = list(items)
    return join([*items[:most], *([f"{len(items) - most:,} more"] if len(items) > most else [])])
