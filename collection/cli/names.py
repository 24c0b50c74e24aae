"""Names as values of options: the help lists them, the shell completes them, the library checks them."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class Names(click.types.StringParamType):
    """One of some names.

    Names of a registry are given by its `family`, see :func:`collection.cli.methods.list_entries`: other packages may
    add some, so the shell completes them but the help does not list them.
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
            from collection.cli.methods import list_entries

            names += [entry.name for entry in list_entries(self.family)]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
