"""`cleverdon methods`: the entries of the registries with their parameters and traits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import form_option
from collection.cli.output import echo_data, print_table

if TYPE_CHECKING:
    from collection.registry import Entry

CODE = ("name", "parameters")
"""Columns that Markdown prints as code."""


@click.command()
@click.argument("family", type=click.Choice(["strategies", "learners", "stopping", "rules"]))
@form_option("table", "json", "markdown")
def methods(family: str, form: str) -> None:
    """List pooling strategies, learners and rules.

    `stopping` are stopping rules, `rules` adjudication rules. Shows the parameters of each with their defaults.
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
    from collection import adjudication, stopping

    return stopping.STOPPING_RULES if family == "stopping" else adjudication.ADJUDICATION_RULES
