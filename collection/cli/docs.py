"""`cleverdon docs`: the documentation in the terminal."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from collection.cli.output import echo, print_table


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from collection.documentation import list_pages

    return [CompletionItem(name) for name in list_pages() if name.startswith(incomplete)]


@click.command()
@click.argument("page", required=False, shell_complete=_complete)
def docs(page: str | None) -> None:
    """Read a page of the documentation, or list the pages."""
    from collection.documentation import list_pages, read_page

    if page is None:
        print_table(["page", "title"], list(list_pages().items()))
        echo("\n`cleverdon docs PAGE` prints a page.")
    else:
        echo(read_page(page.removesuffix(".md")))
