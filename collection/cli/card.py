"""`cleverdon card`: settings of the judging page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from collection.cli.options import DIRECTORY, FORMAT
from collection.cli.output import print_json, print_table


@click.command()
@DIRECTORY
@click.option("--task", help="grades, list or preference: what annotators are asked.")
@click.option("--list-size", type=int, metavar="N", help="For lists: documents of a list.")
@click.option("--most-chosen", type=int, metavar="N", help="For lists: documents that can be chosen at most.")
@click.option("--preference-size", type=int, metavar="N", help="For preferences: documents of a topic to compare.")
@click.option("--form", "text_form", metavar="F", help="How texts are read: auto, plain, preformatted, markdown, html.")
@click.option("--long", metavar="L", help="Long documents come whole, or folded to the passages that match.")
@click.option("--long-from", type=int, metavar="N", help="Characters from which on a document is long.")
@click.option("--marking/--no-marking", default=None, help="Whether annotators can mark passages.")
@click.option("--near/--no-near", default=None, help="Whether a document says that one nearly the same was judged.")
@click.option(
    "--image-host", "hosts", multiple=True, metavar="HOST", help="Show linked images of this host; repeatable."
)
@click.option("--no-image-hosts", is_flag=True, help="Show no linked images, but those of each --image-host.")
@click.option("--rest-after", type=int, metavar="MIN", help="Minutes without a break after which it says so; 0: never.")
@FORMAT
def card(
    directory: Path, text_form: str | None, hosts: tuple[str, ...], no_image_hosts: bool, form: str, **changes: Any
) -> None:
    """Show what the judging page in DIR asks and how it shows documents, or change it.

    An open card takes it over when its page is loaded again.
    """
    from dataclasses import asdict

    from collection.campaign import Campaign

    given = {name: value for name, value in {**changes, "form": text_form}.items() if value is not None}
    with Campaign(directory) as campaign:
        if hosts or no_image_hosts:
            there = () if no_image_hosts else campaign.settings.judging_page().image_hosts
            given["image_hosts"] = tuple(dict.fromkeys((*there, *hosts)))
        settings = asdict(campaign.settings.set_judging_page(**given) if given else campaign.settings.judging_page())
    if form == "json":
        print_json(settings)
        return
    print_table(["setting", "value"], [[name, _words(value)] for name, value in settings.items()])


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(value) or "none"
    return str(value)
