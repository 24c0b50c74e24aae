"""Write what the code says of itself into the pages that list it: ``python docs/registry_pages.py``, by `make docs`.

A page has ``<!-- registry: WHAT -->`` before it, and ``<!-- end of the registry -->`` behind. WHAT is the module and
the name of a registry, ``commands``, ``sections``, or ``python`` with the names of functions and classes; a class may
have the methods to list after a colon, as in ``Campaign:create,close``.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import click
from numpydoc.docscrape import NumpyDocString

from collection.cli import main
from collection.cli.help import COMMANDS_PAGE, SECTIONS, list_commands
from collection.documentation import as_markdown, describe_registry, list_pages

DOCS = Path(__file__).parent
PLACE = re.compile(r"(<!-- registry: (.+?) -->\n).*?(<!-- end of the registry -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with what the code says now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{_describe(*found[2].split())}\n\n{found[3]}", text)


def _describe(what: str, *names: str) -> str:
    if what == "commands":
        return "\n\n".join(_describe_command(name, command) for name, command in list_commands(main).items())
    if what == "sections":
        return "\n\n".join(_describe_section(title, commands) for title, commands in SECTIONS.items())
    if what == "python":
        return "\n\n".join(part for name in names for part in _describe_name(*name.split(":")))
    return describe_registry(what, *names)


def _describe_section(title: str, commands: dict[str, str]) -> str:
    """A table of the commands of a section of `cleverdon --help`, with links from the page of all commands."""
    rows = [f"| {title} | what it does | page |", "|---|---|---|"]
    for name, page in commands.items():
        text = main.commands[name].get_short_help_str(200)
        link = os.path.relpath(f"{page}.md", Path(COMMANDS_PAGE).parent)
        rows.append(f"| `{name}` | {_plain(_cell(text))} | [{list_pages()[page]}]({link}) |")
    return "\n".join(rows)


def _describe_command(name: str, command: click.Command) -> str:
    """Usage, help, and options of a command."""
    context = click.Context(command, info_name=f"cleverdon {name}")
    usage = " ".join(["cleverdon", name, *command.collect_usage_pieces(context)])
    parts = [f"## cleverdon {name}", f"```text\n{usage}\n```"]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        lines = paragraph.removeprefix("\b\n").splitlines()
        if not paragraph.startswith("\b"):
            parts.append(_plain(" ".join(lines)))
        elif lines[0].endswith(":"):
            parts += [lines[0], "```text\n" + inspect.cleandoc("\n".join(lines[1:])) + "\n```"]
        else:
            parts.append("```text\n" + "\n".join(lines) + "\n```")
    records = [record for option in command.params if (record := option.get_help_record(context)) and record[1]]
    if records:
        rows = [f"| `{_cell(option)}` | {_plain(_cell(text))} |" for option, text in records]
        parts.append("\n".join(["| option | what it does |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Text of the terminal, without its signs turned into markup; what it has in backquotes is code."""
    return re.sub(r"(`[^`]+`)|([*<~])", lambda sign: sign[1] or f"\\{sign[2]}", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _describe_name(name: str, members: str = "") -> Iterator[str]:
    """A function, or a class with its attributes and these methods."""
    module, _, last = name.rpartition(".")
    found = getattr(import_module(module or "collection"), last)
    yield from _describe_object(f"### {last}", found, last)
    if inspect.isclass(found) and (attributes := list(_attributes(found))):
        yield "**Attributes**"
        yield "\n".join(attributes)
    for member in members.split(",") if members else ():
        yield from _describe_object(f"#### {last}.{member}", getattr(found, member), member)


def _attributes(described: type) -> Iterator[str]:
    """Items for the fields and properties of a class that say what they are."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(described))).body
    for field, text in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield _entry(ast.unparse(field.target), "", [text.value.value])
    for name, member in vars(described).items():
        if isinstance(member, property | cached_property) and not name.startswith("_"):
            yield _entry(name, "", [inspect.getdoc(member) or ""])


def _describe_object(title: str, found: Callable[..., object], called: str) -> Iterator[str]:
    """The call and the docstring of what is `called` so."""
    yield title
    yield f"```text\n{_signature(found, called)}\n```"
    sections = NumpyDocString(inspect.getdoc(found) or "")
    yield from (_text(sections[part]) for part in ("Summary", "Extended Summary") if sections[part])
    for part in ("Parameters", "Returns", "Yields", "Raises"):
        if sections[part]:
            yield f"**{part}**"
            yield "\n".join(_entry(*entry) for entry in sections[part])
    yield from (_text(sections[part]) for part in ("Notes", "References") if sections[part])
    if sections["Examples"]:
        yield "\n".join(["```pycon", *sections["Examples"], "```"])


def _signature(found: Callable[..., object], called: str) -> str:
    """The call, without types; functions that are defaults are given by name."""
    given = [p.replace(annotation=p.empty) for p in inspect.signature(found).parameters.values() if p.name != "self"]
    return called + re.sub(r"<function (\w+) at \w+>", r"\1", str(inspect.Signature(given)))


def _text(lines: list[str]) -> str:
    return as_markdown("\n".join(lines))


def _entry(name: str, kind: str, lines: list[str]) -> str:
    """An item of a list of parameters, results or errors."""
    names = ", ".join(f"`{each}`" for each in (name or kind).split(", "))
    text = textwrap.indent(as_markdown(inspect.cleandoc("\n".join(lines))), "  ")
    return f"- {names}:" + ("\n" + text if text.startswith("  - ") else text[1:])


if __name__ == "__main__":
    for page in (each for each in DOCS.rglob("*.md") if ".ipynb_checkpoints" not in each.parts):
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
