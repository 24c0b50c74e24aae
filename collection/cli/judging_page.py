"""`cleverdon judging-page`: settings of the judging page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import FILE, FORMAT, open_campaign
from collection.cli.output import echo, print_json, print_settings

if TYPE_CHECKING:
    from collection.campaign import Campaign


@click.command("judging-page")
@open_campaign
@click.option("--task", type=Names("grades", "list", "preference"), help="Task of the annotators.")
@click.option("--list-size", type=int, metavar="N", help="Documents per list, for lists.")
@click.option("--most-chosen", type=int, metavar="N", help="Maximum number of chosen documents, for lists.")
@click.option("--preference-size", type=int, metavar="N", help="Documents to compare per topic, for preferences.")
@click.option(
    "--form",
    "text_form",
    type=Names("auto", "plain", "preformatted", "markdown", "html"),
    help="Format of the documents' texts.",
)
@click.option(
    "--long", type=Names("whole", "passages"), help="Show long documents whole, or folded to matching passages."
)
@click.option("--long-from", type=int, metavar="N", help="Minimum length of a long document in characters.")
@click.option("--marking/--no-marking", default=None, help="Let annotators mark passages.")
@click.option("--near/--no-near", default=None, help="Show that a near-duplicate was already judged.")
@click.option(
    "--image-host", "hosts", multiple=True, metavar="HOST", help="Show linked images from this host; repeatable."
)
@click.option("--no-image-hosts", is_flag=True, help="Remove all image hosts except each --image-host.")
@click.option(
    "--rest-after", type=int, metavar="MIN", help="Minutes of judging before a break is suggested (0 = never)."
)
@click.option("--show-labels", metavar="NAME", help="Show annotators the labels of this label set; '' for none.")
@click.option("--questions", type=FILE, metavar="FILE", help="Further questions, as JSON; [] for none.")
@FORMAT
def judging_page(
    campaign: Campaign,
    text_form: str | None,
    hosts: tuple[str, ...],
    no_image_hosts: bool,
    questions: Path | None,
    form: str,
    **changes: Any,
) -> None:
    """Show or change what the judging page asks and displays.

    Without options, shows the settings. Pages that are open use new settings once they are reloaded.
    """
    from dataclasses import asdict

    from collection.campaign.settings.settings import read_questions_file
    from collection.core.questions import describe_question

    given = {name: value for name, value in {**changes, "form": text_form}.items() if value is not None}
    if hosts or no_image_hosts:
        before = () if no_image_hosts else campaign.settings.judging_page().image_hosts
        given["image_hosts"] = tuple(dict.fromkeys((*before, *hosts)))
    asked = None if questions is None else read_questions_file(questions)
    with campaign.transaction():
        settings = asdict(campaign.settings.set_judging_page(**given) if given else campaign.settings.judging_page())
        if asked is not None:
            campaign.settings.set_questions(asked)
    asked = campaign.settings.questions()
    if form == "json":
        print_json(settings | ({"questions": [question.to_json() for question in asked]} if asked else {}))
        return
    settings["image_host"] = settings.pop("image_hosts")
    print_settings(settings)
    for question in asked:
        echo(f"question {describe_question(question)}")
