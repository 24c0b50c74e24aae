"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from collection.core import layout

if TYPE_CHECKING:
    from collection.formats import Source

F = TypeVar("F", bound=Callable[..., Any])


class _Directory(click.Path):
    """A campaign's directory, for which the shell completes directories only."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="dir")]


class SectionedOption(click.Option):
    """An option that the help lists under a heading."""

    def __init__(self, *args: Any, section: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists each :class:`SectionedOption` under its heading."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                sections.setdefault(getattr(option, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def option_section(title: str) -> Callable[..., Callable[[F], F]]:
    """:func:`click.option` for options under one heading."""
    return partial(click.option, cls=SectionedOption, section=title)


DIRECTORY_PATH = _Directory(path_type=Path)
DIRECTORY = click.argument("directory", metavar="DIR", type=DIRECTORY_PATH)


def open_campaign(command: Callable[..., None]) -> Callable[..., None]:
    """The argument DIR of a command whose first parameter is the campaign, open while the command runs."""

    @wraps(command)
    def run(directory: Path, **options: Any) -> None:
        from collection.campaign import Campaign

        with Campaign(directory) as campaign:
            command(campaign, **options)

    return DIRECTORY(run)


FILE = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)


class _Input(click.Path):
    """A file to read, opened once; ``-`` is standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from collection.formats import Source

        source = Source(value)
        if ctx is None:
            return source
        if source.is_pipe:
            pipes = ctx.meta.setdefault("cleverdon.pipes", set())
            if str(value) in pipes:
                self.fail(f"expected {source} once, since it can be read only once, found it twice", param, ctx)
            pipes.add(str(value))
        return ctx.with_resource(source)


INPUT = _Input()


def open_inputs(given: Path | tuple[Path, ...] | None) -> Any:
    """Files to read, each opened once, until the end of the command."""
    context = click.get_current_context()
    if isinstance(given, tuple):
        return tuple(INPUT.convert(path, None, context) for path in given)
    return given and INPUT.convert(given, None, context)


class _Written(click.Path):
    """A file to write: neither a campaign's own file nor ``-``, since the report goes to standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "-":
            self.fail("expected the name of a file to write, found '-'", param, ctx)
        layout.require_output(value)
        return super().convert(value, param, ctx)


WRITTEN = _Written(path_type=Path)


def grade(value: str) -> float:
    """A grade above 0, with a fraction for labels from clicks."""
    try:
        level = float(value)
    except ValueError:
        level = 0.0
    if not 0 < level < 2**31:
        raise click.BadParameter(f"expected a grade above 0, found {value!r}")
    return int(level) if level.is_integer() else level


def parse_scale(value: str) -> list[float]:
    """All grades of a scale, such as ``0-3`` or ``0,1,2,3``."""
    from collection.formats.in_memory import as_scale

    return as_scale(value, "--grades") or []


def form_option(*forms: str, help_text: str = "Output format.") -> Callable[[F], F]:
    """``--format``: one of `forms`, by default the first."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help=help_text)


def measures_option(help_text: str = "Measure, such as nDCG@10, AP or P_5; repeatable.") -> Callable[[F], F]:
    """``--measure``, which may be repeated."""
    return click.option("-m", "--measure", "measures", multiple=True, metavar="M", help=help_text)


def combine_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Combine options into one decorator; the help lists them in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


FORMAT = form_option("table", "json")
QUESTION = combine_options(
    click.option("--question", metavar="NAME", help="Further question of DIR; by default the grade."),
    click.option("--answer", metavar="KEY", help="Answer or tag of --question: given (1) or not given (0)."),
)
BOUNDS = click.option(
    "--bounds", is_flag=True, help="Add the lowest and highest value that the unjudged documents allow."
)
EXCLUDE = click.option(
    "--exclude-query-document",
    is_flag=True,
    help="Leave out documents with the id of their topic, for collections whose queries are documents (ArguAna).",
)
COMPAT = click.option(
    "--compat",
    type=click.Choice([9, 10]),
    default=10,
    help="Order tied scores and read recall levels as this version of trec_eval.",
)
QRELS_FORM = click.option(
    "--qrels-form",
    type=click.Choice(["judged", "strata", "probabilities", "subtopics"]),
    help="How to read the extra column of QRELS (judged: ignore it); by default as the measures need.",
)


NOT_RELEVANT, LEFT_OUT, EXPECTED = "not-relevant", "left-out", "expected"

UNJUDGED = combine_options(
    click.option(
        "--unjudged",
        type=click.Choice([NOT_RELEVANT, LEFT_OUT, EXPECTED]),
        default=NOT_RELEVANT,
        help="How most measures count unjudged documents; expected draws their grades from a model, for estimates.",
    ),
    click.option(
        "--pool-depth",
        type=COUNT,
        metavar="N",
        help="Ranks of each run in the pool, for --unjudged expected; by default the deepest cut-off of the measures, "
        "or 100 if one has none.",
    ),
)


def refuse_other_options(unjudged: str, pool_depth: int | None, *names: str) -> None:
    """Refuse --pool-depth without estimated grades, and with them the given options that have no meaning for estimates.

    `names` are those of parameters of the command.
    """
    context = click.get_current_context()
    if unjudged != EXPECTED:
        if pool_depth is not None:
            raise click.UsageError("--pool-depth needs --unjudged expected")
        return
    written = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    given = [n for n in names if context.get_parameter_source(n) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"--unjudged expected cannot be combined with {written[given[0]]}")


def refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Refuse a repeated option that takes one value or switches between two: click would silently keep the last.

    A command with the attribute ``takes_last_value`` keeps it on purpose.
    """
    if getattr(command, "takes_last_value", False):
        return
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    for option, times in Counter(order).items():
        if times == 1 or not isinstance(option, click.Option) or option.multiple or option.count:
            continue
        if not option.is_flag or option.secondary_opts:  # a plain flag may be repeated
            name = " or ".join([name_as_typed(option, args), *option.secondary_opts])
            raise click.UsageError(f"{name} is given {times} times, but can be given only once.", ctx)


def name_as_typed(option: click.Parameter, args: Iterable[str]) -> str:
    """The name of an option in the arguments of its command: ``-M`` or its long form; the long form if it has none."""
    for name in reversed(option.opts):
        typed = re.compile(f"{name}(=.*)?" if name.startswith("--") else f"-[A-Za-z]*{name[1:]}.*", re.DOTALL)
        if any(map(typed.fullmatch, args)):
            return name
    return option.opts[-1]


def expand_folders(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Replace each folder by its files, sorted by name and without hidden ones."""
    expanded: list[Path] = []
    for path in paths:
        if path.is_dir():
            expanded += sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        else:
            expanded.append(path)
    return tuple(expanded)


def expand_documents(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Replace folders by their files of documents, except folders in which each file is a document."""
    from collection import formats

    return tuple(file for path in paths for file in formats.find_documents(path))


CLUSTER = click.option(
    "--cluster", metavar="ADDRESS", help="Compute on the workers of this Dask scheduler, such as tcp://10.0.0.5:8786."
)


def runs_argument(metavar: str, *, required: bool = False) -> Callable[[F], F]:
    """An argument of run files and folders of run files."""

    def expand(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> tuple[Source, ...]:
        runs = expand_folders(paths)
        if required and not runs:
            raise click.UsageError("expected at least one run, found an empty folder")
        return tuple(INPUT.convert(run, param, ctx) for run in runs)

    return click.argument("runs", metavar=metavar, nargs=-1, required=required, type=FILE, callback=expand)


SERVER_OPTIONS = combine_options(
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        help="Port to listen on; by default the last one used, or the first free one from 8501.",
    ),
    click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 for all interfaces."),
    click.option(
        "--as",
        metavar="NAME",
        help="Account to sign in as, created at the first start; by default your login name.",
    ),
    click.option("--no-browser", is_flag=True, help="Print the sign-in link without opening a browser."),
    click.option("--no-link", is_flag=True, help="Neither print nor open a sign-in link, as in a service's log."),
    click.option(
        "--public-address",
        metavar="URL",
        help="Address of the app behind a proxy, e.g. https://judging.example.org.",
    ),
    click.option(
        "--trusted-proxy",
        metavar="ADDRESS",
        multiple=True,
        help="IP address or network of a proxy whose X-Forwarded-* headers are trusted; repeatable.",
    ),
    click.option(
        "--max-upload",
        type=click.IntRange(1, 100_000),
        metavar="MB",
        help="Upload limit per session on the Import page in MB; by default 500.",
    ),
    click.option(
        "--log",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Log file for warnings and errors, rotated at 10 MB; by default standard error.",
    ),
    click.option("--log-format", type=click.Choice(["text", "json"]), help="Format of the log; by default text."),
)
"""The options of every command that opens the app."""
