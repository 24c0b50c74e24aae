"""`cleverdon calibrate`: recall guaranteed across topics, by calibration topics."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import COUNT, DIRECTORY, DIRECTORY_PATH, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import cut

if TYPE_CHECKING:
    from collection.campaign.recall.across_topics.state import CalibrationState
    from collection.stopping.risk_control import Plan


@click.command()
@DIRECTORY
@click.option("--recall", type=float, metavar="SHARE", help="Expected recall of a topic to promise; 0.9 by default.")
@click.option("--alpha", type=float, metavar="SHARE", help="Largest expected loss of recall, instead of --recall.")
@click.option("--topics", type=click.IntRange(min=0), metavar="N", help="Draw N calibration topics and start.")
@click.option(
    "--family",
    type=Names("any", family="families"),
    default="scaled",
    metavar="F",
    help="Family of stopping rules (`cleverdon methods families`), or any.",
)
@click.option("--selection", type=COUNT, metavar="M", help="Calibration topics that choose among families (any).")
@click.option(
    "--depth", type=float, default=1.0, metavar="SHARE", help="Share of a calibration topic to judge in order."
)
@click.option("--sample", type=float, default=0.0, metavar="SHARE", help="Share of the rest to judge at random.")
@click.option(
    "--from", "source", type=DIRECTORY_PATH, metavar="DIR", help="Campaign whose judged topics calibrate the rule."
)
@click.option("--plan", "planned", is_flag=True, help="Show what numbers of calibration topics promise and cost.")
@click.option("--again", is_flag=True, help="Calibrate again with the present judgements of the calibration topics.")
@click.option("--stop", is_flag=True, help="End the calibration; closed topics stay closed.")
@FORMAT
def calibrate(
    directory: Path,
    recall: float | None,
    alpha: float | None,
    topics: int | None,
    family: str,
    selection: int | None,
    depth: float,
    sample: float,
    source: Path | None,
    planned: bool,
    again: bool,
    stop: bool,
    form: str,
) -> None:
    """Guarantee recall across topics by calibration topics.

    Calibration topics are drawn at random and judged to the end. They choose a stopping rule that closes the other
    topics. Without options, shows the state, or a plan.

    For example:
      cleverdon calibrate DIR --plan --recall 0.9
      cleverdon calibrate DIR --recall 0.9 --topics 12
    """
    from collection.campaign import Campaign

    if recall is not None and alpha is not None:
        raise click.UsageError("expected --recall or --alpha, found both")
    starts = not planned and (topics is not None or source is not None)
    if starts + planned + again + stop > 1:
        raise click.UsageError("expected one of --topics (or --from), --plan, --again and --stop")
    for name, share in (("--recall", recall), ("--alpha", alpha)):
        if share is not None and not 0 < share < 1:
            raise click.BadParameter(f"expected a share between 0 and 1, found {share:g}", param_hint=name)
    loss = alpha if alpha is not None else 0.1 if recall is None else round(1 - recall, 9)
    chosen: dict[str, Any] = {"family": family, "selection": selection or 0, "depth": depth, "sample": sample}
    plan = None
    with Campaign(directory) as campaign, progress_line("reading judgements"):
        service = campaign.calibration_topics
        if starts:
            service.start(loss, topics=topics, source=source, **chosen)
        if again:
            service.calibrate()
        if stop:
            service.stop()
        state = service.state()
        shown = planned or (state.phase == "none" and not (starts or again or stop))
        if shown:
            plan = service.plan(loss, candidates=[topics] if topics is not None else (), **chosen)
    if form == "json":
        print_json({"state": state, "plan": plan})
    elif plan is not None:
        defaults = {"family": "scaled", "selection": 0, "depth": 1.0, "sample": 0.0}
        further = [f"--{name} {value}" for name, value in chosen.items() if value != defaults[name]]
        _print_plan(plan, " ".join([quote(str(directory)), *further]))
    else:
        _print_state(state)


def _print_plan(plan: Plan, arguments: str) -> None:
    echo(f"{plan.advice}\n")
    table = plan.table()
    print_table([str(name).lower() for name in table], table.to_numpy().tolist())
    if plan.note:
        echo(f"\n{plan.note}")
    if plan.best is not None:
        number, target = plan.best.calibration_topics, f"{1 - plan.alpha:g}"
        echo(f"\nStart: cleverdon calibrate {arguments} --recall {target} --topics {number}")


def _print_state(state: CalibrationState) -> None:
    if state.phase == "none":
        echo(state.headline)
    else:
        echo(f"Recall across topics: {state.stage}. {state.sentence}")
    if state.phase != "none":
        echo(state.cost)
    if state.ready:
        echo("Calibrate now with --again.")
    if state.topics:
        echo()
        rows = [[t.query_id, t.judged, t.size, "yes" if t.finished else "no", cut(t.title)] for t in state.topics]
        name = "checking topic" if state.source else "calibration topic"
        print_table([name, "judged", "documents", "finished", "title"], rows)
    if state.closed:
        echo()
        closed = [[t.query_id, t.judged, t.size, "yes" if t.reopened else "no", t.reached] for t in state.closed]
        print_table(["closed by the rule", "judged", "documents", "reopened", "reason"], closed)
    print_notices(state.notes)
