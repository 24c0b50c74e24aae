"""Help and errors of the `cleverdon` command: sections of commands, and the documentation page of each."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, cast

import click

from collection.cli.options import name_as_typed, refuse_repeated
from collection.cli.output import echo, print_notices
from collection.core.characters import one_line
from collection.core.errors import CleverdonError, FormatError, FormatWarning
from collection.core.phrases import join

SECTIONS = {
    "Campaign": {
        "demo": "start/demo",
        "new": "start/your-own-data",
        "import": "how-to/import-files",
        "remove": "how-to/import-files",
        "pool": "how-to/choose-a-pool",
        "duplicates": "how-to/choose-a-pool",
        "status": "start/your-own-data",
        "review": "how-to/run-a-review",
        "export": "how-to/publish-a-collection",
    },
    "Judging": {
        "assign": "how-to/assign-annotators",
        "judging-page": "how-to/judge-documents",
        "answers": "how-to/judge-documents",
        "judge": "how-to/judge-documents",
        "loop": "how-to/use-the-loop",
        "features": "how-to/use-the-loop",
        "recall": "how-to/stop-judging",
        "labels": "how-to/label-by-rules",
    },
    "Quality": {
        "agreement": "how-to/measure-agreement",
        "rules": "how-to/adjudicate",
        "system-order": "how-to/rank-with-fewer-judgements",
        "reusability": "how-to/check-reusability",
    },
    "Evaluation": {
        "evaluate": "how-to/evaluate-and-compare",
        "compare": "how-to/evaluate-and-compare",
        "preferences": "how-to/lists-and-preferences",
        "measures": "reference/measures",
        "trec_eval": "how-to/replace-trec-eval",
    },
    "Simulation and planning": {"simulate": "how-to/simulate", "methods": "reference/pooling"},
    "Team and server": {
        "serve": "operations/team-server",
        "people": "operations/team-server",
        "backup": "operations/backup",
        "restore": "operations/backup",
        "check": "operations/backup",
        "doctor": "operations/troubleshooting",
    },
    "Documentation": {"docs": "index"},
}
"""Sections of `cleverdon --help` -> their commands -> the documentation page of each command."""

PAGES = {command: page for commands in SECTIONS.values() for command, page in commands.items()} | {
    "labels clicks": "how-to/judge-with-clicks",
    "labels llm": "how-to/label-with-a-language-model",
    "labels import": "how-to/import-files",
    "labels vote": "how-to/compare-judges",
    "labels matrix": "how-to/compare-judges",
    "labels compare": "tutorials/language-model-judgements",
    "labels plan": "tutorials/language-model-judgements",
    "labels ask": "tutorials/language-model-judgements",
    "labels correct": "tutorials/language-model-judgements",
    "answers propose": "how-to/make-nuggets",
    "answers evaluate": "how-to/evaluate-and-compare",
    "answers compare": "how-to/evaluate-and-compare",
    "answers ask": "how-to/evaluate-and-compare",
    "answers correct": "how-to/evaluate-and-compare",
    "answers reusability": "how-to/check-reusability",
    "answers export": "how-to/publish-a-collection",
}
"""Command -> its documentation page; commands of a group by their full names, if the page is not that of the group."""

FORMATS_PAGE = "reference/file-formats"
COMMANDS_PAGE = "reference/command-line"

INVOKED = "collection.invoked"
"""Key of the :class:`Invoked` command in ``click.Context.meta``."""

METAVARS = {"text": "TEXT", "path": "FILE", "integer": "N", "integer range": "N", "float": "X", "float range": "X"}
"""Type of an option -> how the help writes its value."""


def find_page(command: str) -> str:
    """Return the documentation page of a command, by its full name."""
    return PAGES.get(command) or PAGES.get(command.partition(" ")[0], COMMANDS_PAGE)


class Invoked(NamedTuple):
    """The command that runs: its full name, such as ``labels llm``, and its arguments as typed."""

    name: str
    command: click.Command
    arguments: tuple[str, ...]


class Commands(MutableMapping[str, click.Command]):
    """The commands of a group, by name; some are places in the code (``module:attribute``) until they are looked up."""

    def __init__(self, add: Callable[[click.Command, str], None]) -> None:
        self._entries: dict[str, click.Command | str] = {}
        self._add = add

    def __getitem__(self, name: str) -> click.Command:
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = getattr(import_module(module), attribute)
            self._add(entry, name)
        return cast(click.Command, entry)

    def __setitem__(self, name: str, command: click.Command | str) -> None:
        self._entries[name] = command

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class CommandGroup(click.Group):
    """A group of commands whose help lists them with whole summaries, in the order in which they were added."""

    def full_name(self, name: str) -> str:
        """Return the name of one of the group's commands with that of the group."""
        return f"{self.name} {name}"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command: keep the lines of its examples, write plain metavars, name its documentation page."""
        super().add_command(cmd, name)
        cmd.help = re.sub("^( *)(For example:)$", "\\1\b\n\\1\\2", cmd.help or "", flags=re.MULTILINE)
        for option in cmd.params:
            if isinstance(option, click.Option):  # an argument is written as its name
                option.metavar = option.metavar or METAVARS.get(option.type.name)
        cmd.epilog = f"Documentation: cleverdon docs {find_page(self.full_name(name or cmd.name or ''))}"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help where there are no arguments."""
        return super().parse_args(ctx, args or ["--help"])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Begin the help with what the command is for."""
        self.format_help_text(ctx, formatter)
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole summaries."""
        self.format_section(formatter, "Commands", self.commands)

    def format_section(self, formatter: click.HelpFormatter, title: str, names: Iterable[str]) -> None:
        """List some of the commands under a heading."""
        width = max(map(len, self.commands))
        with formatter.section(title):
            formatter.write_dl([(f"{n:<{width}}", self.commands[n].get_short_help_str(200)) for n in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse options that are repeated although they take one value."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            ctx.meta[INVOKED] = Invoked(self.full_name(name or ""), command, tuple(rest))
            if not ctx.resilient_parsing:  # a shell completes half a command line
                refuse_repeated(command, click.Context(command, ctx, name), rest)
        return name, command, rest


class Program(CommandGroup):
    """The program, whose help has sections, and whose errors are short and name the documentation page that helps."""

    commands: Commands

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = Commands(self.add_command)

    def full_name(self, name: str) -> str:
        """Return the name of a command."""
        return name

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print an error in the options of the program."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            echo(f"See `cleverdon docs {_print_usage_error(error)}`.", err=True)
            ctx.exit(2)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands of each section."""
        for title, commands in SECTIONS.items():
            self.format_section(formatter, title, [name for name in commands if name in self.commands])

    def invoke(self, ctx: click.Context) -> object:  # noqa: RET503
        """Run the command; print an error in one line, then usage and the page that helps; exit with status 2."""
        page = ""
        try:
            with _printed_warnings():
                return super().invoke(ctx)
        except click.UsageError as error:
            page = _print_usage_error(error)
        except CleverdonError as error:
            _print_error(_name_option(ctx, str(error)))
            page = error.page or (FORMATS_PAGE if isinstance(error, FormatError) else "")
        except UnicodeEncodeError as error:
            # Python keeps bytes of an argument that are not UTF-8 as halves of surrogate pairs.
            _print_error(f"expected text in UTF-8, found {error.object!a}")
        except BrokenPipeError:
            # `cleverdon evaluate ... | head` closed the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            _print_error(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
            ctx.exit(2)  # no page of the documentation helps
        invoked = ctx.meta.get(INVOKED)
        page = page or find_page(invoked.name if invoked else "")
        echo(f"See `cleverdon docs {page}`.", err=True)
        ctx.exit(2)


def list_commands(group: CommandGroup) -> dict[str, click.Command]:
    """Return the commands of a group by their full names, in place of each group those in it."""
    commands: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        commands |= list_commands(command) if isinstance(command, CommandGroup) else {group.full_name(name): command}
    return commands


def _arguments(ctx: click.Context | None) -> tuple[str, ...]:
    """Return the arguments of the command that runs, as typed."""
    invoked = ctx.meta.get(INVOKED) if ctx else None
    return invoked.arguments if invoked else ()


def _name_option(ctx: click.Context, message: str) -> str:
    """Begin the error of a setting with the option that sets it: ``list_size: ...`` is ``--list-size: ...``."""
    setting, colon, rest = message.partition(": ")
    invoked = ctx.meta.get(INVOKED)
    options = {p.name: p for p in invoked.command.params if isinstance(p, click.Option)} if invoked else {}
    if not colon or setting not in options:
        return message
    return f"{name_as_typed(options[setting], _arguments(ctx))}{colon}{rest}"


@contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print what a reader skipped or dropped of a file as a note."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", FormatWarning)
        show = warnings.showwarning

        def print_warning(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
            if issubclass(category, FormatWarning):
                print_notices([str(message)])
            else:
                show(message, category, *more, **named)

        warnings.showwarning = print_warning
        yield


_CLICK_ERRORS = (
    (r"Option '(.*)' requires an argument\.", r"\1: expected a value, found nothing"),
    (r"Option '(.*)' requires (.*) arguments\.", r"\1: expected \2 values, found fewer"),
    (r"(.*) is not in the range x>=(.*)\.", r"expected \2 or more, found \1"),
    (r"(.*) is not in the range (.*)<=x<=(.*)\.", r"expected \2 to \3, found \1"),
    (r"(.*) is not a valid integer( range)?\.", r"expected a whole number, found \1"),
    (r"(.*) is not a valid float( range)?\.", r"expected a number, found \1"),
    (r"(.*) is not one of (.*)\.", r"expected one of \2, found \1"),
    (r"(.*) is not ('.*')\.", r"expected \2, found \1"),
)
"""Texts of click -> the pattern of all errors."""


def describe_usage_error(error: click.UsageError) -> str:
    """Write an error in the command line as :mod:`collection.core.errors` does, without click's own words.

    >>> describe_usage_error(click.BadParameter("0 is not in the range x>=1.", param_hint="--depth"))
    '--depth: expected 1 or more, found 0'
    >>> describe_usage_error(click.NoSuchOption("--gold", possibilities=["--grade"]))
    "unknown option '--gold'; did you mean '--grade'?"
    """
    if isinstance(error, click.NoSuchOption):
        guess = f"did you mean {join(map(repr, error.possibilities), 'or')}?" if error.possibilities else ""
        return f"unknown option {error.option_name!r}" + (f"; {guess}" if guess else "")
    if isinstance(error, click.NoSuchCommand):
        all_listed = f"`{error.ctx.command_path if error.ctx else 'cleverdon'} --help` lists all"
        guess = f"did you mean {error.possibilities[0]!r}?" if error.possibilities else all_listed
        return f"unknown command {error.command_name!r}; {guess}"
    if isinstance(error, click.MissingParameter) and error.param is not None and error.ctx is not None:
        missing = error.param
        name = missing.opts[-1] if isinstance(missing, click.Option) else missing.make_metavar(error.ctx)
        return f"expected {name.strip('{}')}, found nothing"
    text = error.message if isinstance(error, click.BadParameter) else error.format_message()
    for pattern, written in _CLICK_ERRORS:
        text = re.sub(f"^{pattern}$", written, text)
    text = text.removesuffix(".")
    where = ""
    if isinstance(error, click.BadParameter):
        hint = str(error.param_hint or "")
        if not hint and isinstance(error.param, click.Option):
            hint = name_as_typed(error.param, _arguments(error.ctx))
        elif not hint and error.param is not None:
            hint = error.param.get_error_hint(error.ctx)
        where = "" if not hint or "{" in hint else str(hint).rpartition(" / ")[2].strip("'") + ": "
    return f"{where}{text[:1].lower()}{text[1:]}"


def _print_usage_error(error: click.UsageError) -> str:
    """Print an error in the command line with the usage of its command; return the documentation page that helps."""
    _print_error(describe_usage_error(error))
    if error.ctx is None:
        return COMMANDS_PAGE
    echo(f"{error.ctx.get_usage()} (options: {error.ctx.command_path} --help)", err=True)
    return find_page(error.ctx.command_path.partition(" ")[2])


def _print_error(message: str) -> None:
    echo(f"cleverdon: {one_line(message)}", err=True)
