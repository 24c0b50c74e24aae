"""Options that are given twice: no command but trec_eval silently keeps only the last value."""

import click
import pytest

from collection.cli import main
from collection.cli.help import list_commands
from collection.core.errors import InputError
from collection.pooling import read_parameters, strategies
from tests.helpers import run

STRATEGIES = strategies(adaptive=False)

SINGLE = [
    pytest.param(name, option, id=f"{name} {option.opts[-1]}")
    for name, command in list_commands(main).items()
    if name != "trec_eval"  # which is to do what trec_eval does
    for option in command.params
    if isinstance(option, click.Option) and not option.multiple and (not option.is_flag or option.secondary_opts)
]


@pytest.mark.parametrize(("name", "option"), SINGLE)
def test_a_repeated_option_is_refused(name: str, option: click.Option) -> None:
    once = [option.opts[-1], *["1"] * (0 if option.is_flag else option.nargs)]
    other = [option.secondary_opts[0]] if option.is_flag else once
    result = run(*name.split(), "there", *once, *other)
    assert result.exit_code == 2
    assert f"{option.opts[-1]}" in result.stderr
    assert "is given 2 times, but can be given only once" in result.stderr


def test_every_command_is_looked_at() -> None:
    assert len(main.commands) > 20
    assert len(SINGLE) > 100


def test_two_ways_of_writing_are_one_option() -> None:
    assert "--seed is given 2 times" in run("compare", "qrels", "a.run", "--seed", "1", "--seed=2").stderr


def test_a_plain_flag_and_a_list_may_be_repeated() -> None:
    result = run("import", "nowhere", "--replace", "--replace", "--run", "a", "--run", "b")
    assert "times" not in result.stderr


def test_a_parameter_that_is_repeated_is_refused() -> None:
    with pytest.raises(InputError, match="parameter budget of rrf is given more than once"):
        read_parameters(STRATEGIES["rrf"], ["budget=5", "budget=6"])
