"""`cleverdon methods`: the entries of the registries with their parameters and traits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from collection.cli.options import form_option
from collection.cli.output import echo_data, print_table

if TYPE_CHECKING:
    from collection.core.registry import Entry

CODE = ("name", "parameters")
"""Columns that Markdown prints as code."""


class Names(click.types.StringParamType):
    """One of some names.

    Names of a registry are given by its `family`, see :func:`list_entries`: other packages may add some, so the shell
    completes them but the help does not list them.
    """

    name = "name"

    def __init__(self, *names: str, family: str = "") -> None:
        self.names, self.family = names, family

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Write the names as `a|b|c`."""
        return "|".join(self.names) or None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what is typed."""
        names = list(self.names)
        if self.family:
            names += [entry.name for entry in list_entries(self.family)]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command()
@click.argument(
    "family",
    metavar="FAMILY",
    type=click.Choice(["strategies", "learners", "stopping", "families", "rules", "label-rules", "votes", "templates"]),
)
@form_option("table", "json", "markdown")
def methods(family: str, form: str) -> None:
    """List pooling strategies, learners and rules.

    FAMILY is `strategies`, `learners`, `stopping` (stopping rules), `families` (rule families, calibrated on topics),
    `rules` (adjudication rules), `label-rules`, `votes` (of label sets) or `templates` (prompts for language models).
    Shows the parameters of each with their defaults.
    """
    print_entries(list_entries(family), form)


def print_entries(entries: Iterable[Entry[Any]], form: str = "table") -> None:
    """Print the entries of one family with traits, parameters and descriptions."""
    if form == "json":
        facts = [
            {"name": e.name, **e.traits, "parameters": e.parameters, "choices": e.choices, "description": e.description}
            for e in entries
        ]
        echo_data(json.dumps(facts, indent=2))
        return
    table = [{"name": e.name, **e.traits, "parameters": _written(e), "description": e.description} for e in entries]
    header, rows = list(table[0]), [list(row.values()) for row in table]
    if form == "markdown":
        rows = [[f"`{cell}`" if cell and name in CODE else cell for name, cell in row.items()] for row in table]
        for line in (header, ["---"] * len(header), *rows):
            echo_data(f"| {' | '.join(line)} |")
    else:
        print_table(header, rows)


def _written(entry: Entry[Any]) -> str:
    return ", ".join(f"{name}={value}" if value != "" else name for name, value in entry.parameters.items())


def list_entries(family: str) -> Iterable[Entry[Any]]:
    """Return the entries of a family, whose package is only imported here."""
    if family == "strategies":
        from collection.pooling import strategies

        return [*strategies(adaptive=False).values(), *strategies(adaptive=True).values()]
    if family == "learners":
        from collection.active_learning.learners import LEARNERS

        return LEARNERS
    if family in ("label-rules", "votes", "templates"):
        from collection.machine_labels import rules, templates, votes

        members: dict[str, Iterable[Entry[Any]]] = {
            "label-rules": rules.LABEL_RULES,
            "votes": votes.VOTES,
            "templates": templates.TEMPLATES,
        }
        return members[family]
    from collection import adjudication, stopping

    if family == "families":
        return stopping.RULE_FAMILIES
    return stopping.STOPPING_RULES if family == "stopping" else adjudication.ADJUDICATION_RULES
