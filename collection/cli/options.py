"""Arguments and options that several commands share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from collection import layout

F = TypeVar("F", bound=Callable[..., Any])

DIRECTORY = click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
FILE = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)


class _Written(click.Path):
    """A file to write, neither a campaign's own file nor ``-``, since standard output has the report."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "-":
            self.fail("'-' is no file to write to, and standard output says what was written; name a file", param, ctx)
        layout.require_output(value)
        return super().convert(value, param, ctx)


WRITTEN = _Written(path_type=Path)


def grade(value: str) -> float:
    """A grade above 0, perhaps with a fraction, as labels from clicks have."""
    try:
        level = float(value)
    except ValueError:
        level = 0.0
    if not 0 < level < 2**31:
        raise click.BadParameter(f"{value!r} is not a grade above 0")
    return int(level) if level.is_integer() else level


def parse_scale(value: str) -> list[float]:
    """All grades of a scale, as ``0-3`` or ``0,1,2,3``."""
    from collection.formats.in_memory import as_scale

    return as_scale(value, "--grades") or []


def form_option(*forms: str, help_text: str = "Output format.") -> Callable[[F], F]:
    """``--format``: one of `forms`, the first of them if left out."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help=help_text)


def measures_option(help_text: str) -> Callable[[F], F]:
    """``--measure``, which may be repeated."""
    return click.option("-m", "--measure", "measures", multiple=True, metavar="M", help=help_text)


def combine_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order in the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


FORMAT = form_option("table", "json")
BOUNDS = click.option(
    "--bounds", is_flag=True, help="How far each value could move if the unjudged documents were judged."
)
COMPAT = click.option(
    "--compat",
    type=click.Choice([9, 10]),
    default=10,
    help="The trec_eval to equal: 9 compares scores as 32-bit floats and cuts recall levels otherwise.",
)
QRELS_FORM = click.option(
    "--qrels-form",
    type=click.Choice(["judged", "strata", "probabilities", "subtopics"]),
    help="What the qrels' columns are, if not what the measures need: strata in column 4, probabilities in"
    " column 5, subtopics in column 2.",
)


def refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Refuse a repeated option that takes one value or switches between two: click would keep the last silently."""
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    for option, times in Counter(order).items():
        if times == 1 or not isinstance(option, click.Option) or option.multiple or option.count:
            continue
        if not option.is_flag or option.secondary_opts:  # a plain flag may be repeated
            name = " or ".join([option.opts[-1], *option.secondary_opts])
            raise click.UsageError(f"{name} is given {times} times, but can be given only once.", ctx)


def expand_folders(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Each folder replaced by the files in it, by name, without hidden ones."""
    expanded: list[Path] = []
    for path in paths:
        if path.is_dir():
            expanded += sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        else:
            expanded.append(path)
    return tuple(expanded)


def runs_argument(metavar: str, *, required: bool = False) -> Callable[[F], F]:
    """Run files, and folders of them."""

    def expand(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        runs = expand_folders(paths)
        if required and not runs:
            raise click.UsageError("there is no file in the folder: name a run")
        return runs

    return click.argument("runs", metavar=metavar, nargs=-1, required=required, type=FILE, callback=expand)


SERVER_OPTIONS = combine_options(
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        help="Port to listen on; if left out, the one of last time or the first free one from 8501.",
    ),
    click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 for all."),
    click.option(
        "--as",
        metavar="NAME",
        help="Whose sign-in link is printed; your login name if left out. The first start makes this account.",
    ),
    click.option("--no-browser", is_flag=True, help="Print the sign-in link, open no browser."),
    click.option(
        "--public-address",
        metavar="URL",
        help="Address of the app behind a proxy, such as https://judging.example.org.",
    ),
    click.option(
        "--trusted-proxy",
        metavar="ADDRESS",
        multiple=True,
        help="IP address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto are trusted.",
    ),
    click.option(
        "--max-upload",
        type=click.IntRange(1, 100_000),
        metavar="MB",
        help="Size of all files that one session may upload on the Import page; 500 if left out.",
    ),
)
"""The options of every command that opens the app."""
