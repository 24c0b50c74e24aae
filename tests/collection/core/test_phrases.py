"""Numbers, plurals, percentages and durations in sentences."""

import doctest
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from collection.core import phrases
from tests.helpers import run_node
from tests.project.texts import check


def test_the_examples() -> None:
    failed, tried = doctest.testmod(phrases)
    assert (failed, tried > 6) == (0, True)


@given(st.floats(0.001, 1))
def test_a_bound_never_claims_more_than_the_share(share: float) -> None:
    assert float(phrases.percent_down(share)[:-1]) / 100 <= share + 1e-8
    assert float(phrases.percent_up(share)[:-1]) / 100 >= share - 1e-8


@given(st.floats(0, 1))
def test_only_nothing_is_zero_and_only_everything_is_hundred(share: float) -> None:
    assert (phrases.percent(share) == "0%") == (share == 0)
    assert (phrases.percent(share) == "100%") == (share == 1)


def test_no_percentage_is_minus_zero() -> None:
    assert (phrases.percent(-0.0004), phrases.percent(-0.004), phrases.percent(-0.01)) == ("0%", "0%", "-1%")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 seconds"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (5369, "89 minutes"),
        (5399, "1.5 hours"),
        (7200, "2 hours"),
        (36000, "10 hours"),
    ],
)
def test_durations(seconds: float, expected: str) -> None:
    assert phrases.duration(seconds) == expected


LISTS = [["a"], ["a", "b"], ["a", "b", "c"], []]
COUNTS = [(1, "pair"), (2000, "pair"), (2, "query", "queries"), (0, "topic")]


def test_the_card_s_phrases_are_the_library_s() -> None:
    script = f"""
      import {{ count, join }} from "./annotate/card/view/frame/phrases.js";
      const made = [
        {LISTS}.map((items) => join(items)),
        {json.dumps(COUNTS)}.map((counted) => count(...counted)),
      ];
      console.log(JSON.stringify(made));
    """
    assert json.loads(run_node("--input-type=module", "--eval", script)) == [
        [phrases.join(items) for items in LISTS],
        [phrases.count(*counted) for counted in COUNTS],
    ]


def test_an_empty_list() -> None:
    assert phrases.join([]) == ""


def test_a_banned_phrase_is_found_in_texts_but_not_in_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('rest = 5 % q\n"""Keep 5 % of it."""\n')
    (tmp_path / "b.md").write_text("Drawn by lot.\n```python\nx = 5 % 3\n```\n")
    banned = check.read_phrases(check.PHRASES.read_text())
    found = [line for name in ("a.py", "b.md") for line in check.find(tmp_path / name, banned)]
    assert [line.removeprefix(f"{tmp_path}/") for line in found] == [
        "a.py:2: '5 %': percentages have no space: 95%",
        "b.md:1: 'by lot': at random",
    ]
