"""`cleverdon recall`: the estimated recall of each topic, and recall guaranteed across topics."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import COUNT, DIRECTORY_PATH, FORMAT, SectionedCommand, open_campaign, option_section
from collection.cli.output import echo, echo_data, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, cut, percent_down, percent_up

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.recall.across_topics.state import CalibrationState
    from collection.stopping.risk_control import CalibrationPlan

CALIBRATION: dict[str, Any] = {"family": "scaled", "selection": 0, "depth": 1.0, "sample": 0.0}
"""Default settings of the calibration."""

_across = option_section("Recall across topics")


@click.command(cls=SectionedCommand)
@open_campaign
@FORMAT
@_across("--across-topics", is_flag=True, help="Guarantee recall across topics by calibration topics.")
@_across("--recall", type=float, metavar="SHARE", help="Expected recall of a topic to promise; 0.9 by default.")
@_across("--alpha", type=float, metavar="SHARE", help="Largest expected loss of recall, instead of --recall.")
@_across("--topics", type=click.IntRange(min=0), metavar="N", help="Draw N calibration topics and start.")
@_across(
    "--family",
    type=Names("any", family="families"),
    metavar="F",
    help="Family of stopping rules (`cleverdon methods families`), or any; scaled by default.",
)
@_across(
    "--selection", type=COUNT, metavar="M", help="Calibration topics for the choice of a family, with --family any."
)
@_across("--depth", type=float, metavar="SHARE", help="Share of a calibration topic to judge in order; 1 by default.")
@_across("--sample", type=float, metavar="SHARE", help="Share of the rest to judge at random; 0 by default.")
@_across(
    "--from", "source", type=DIRECTORY_PATH, metavar="DIR", help="Campaign whose judged topics calibrate the rule."
)
@_across("--plan", is_flag=True, help="Show the promise and cost by number of calibration topics.")
@_across("--again", is_flag=True, help="Calibrate again with the current judgements of the calibration topics.")
@_across("--stop", is_flag=True, help="End the calibration; closed topics stay closed.")
def recall(campaign: Campaign, form: str, across_topics: bool, **options: Any) -> None:
    """Show the estimated recall of each topic and when to stop.

    Topics with the lowest recall come first.

    With --across-topics, calibration topics are drawn at random and judged to the end. They calibrate a stopping rule
    that closes the other topics. Without another option, shows the state, or a plan.

    For example:
      cleverdon recall DIR --across-topics --plan --recall 0.9
      cleverdon recall DIR --across-topics --recall 0.9 --topics 12
    """
    if across_topics:
        _guarantee(campaign, form, options)
    elif any(value not in (None, False) for value in options.values()):
        raise click.UsageError("expected --across-topics with its options")
    else:
        _show(campaign, form)


def _show(campaign: Campaign, form: str) -> None:
    """Print the estimated recall of each topic."""
    from collection.campaign.recall.recall_advice import Advice, describe_ready
    from collection.stopping.table import missing_texts

    with progress_line("estimating recall"):
        table = campaign.recall.table()
        settings = campaign.settings.loop()
        used_up = campaign.progress.budget.state().words
        across = campaign.recall.across_topics.state().summary
    if form == "json":
        echo_data(table.drop(columns="kind").to_json(orient="records", indent=2, force_ascii=False))
        return
    if table.empty:
        echo("No topics yet. Import some with `cleverdon import DIR --topics FILE`.")
        return
    echo(f"{describe_ready(table, settings)}\n")
    if across:
        echo(f"{across} See `cleverdon recall {campaign.directory} --across-topics`.\n")
    rows = []
    for row in table[table["kind"] != Advice.NOT_STARTED].to_dict("records"):
        relevant = share = "-"
        if row["judged"]:
            relevant = _range(f"{row['low']:,}", f"{row['high']:,}")
            share = _range(percent_down(row["recall_low"]), percent_up(row["recall_high"]))
        known = [row[name] for name in ("query_id", "mode", "judged", "found", "without_text")]
        rows.append([*known, relevant, share, row["of"], row["advice"]])
    confidence = percent_down(settings.confidence)
    estimates = [f"relevant ({confidence} CI)", f"recall ({confidence} CI)"]
    if rows:
        header = ["topic", "mode", "judged", "relevant found", "no text", *estimates, "scope", "advice"]
        print_table(header, rows, optional=["no text"])
        echo(f"\nRelevant: grade {settings.level} or higher.")
    if hidden := len(table) - len(rows):
        echo(f"Not shown: {count(hidden, 'topic')} not started; --format json has all.")
    if used_up:
        echo(used_up)
    if missing := missing_texts(table["without_text"]):
        echo(f"{missing} List the ids with `cleverdon export {campaign.directory} --missing-documents FILE`.")


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _guarantee(campaign: Campaign, form: str, options: dict[str, Any]) -> None:
    """Draw calibration topics, calibrate or stop as the options say; print the plan or the state."""
    loss = _read_loss(options["recall"], options["alpha"])
    topics, source = options["topics"], options["source"]
    starts = not options["plan"] and (topics is not None or source is not None)
    if starts + options["plan"] + options["again"] + options["stop"] > 1:
        raise click.UsageError("expected one of --topics (or --from), --plan, --again and --stop")
    chosen: dict[str, Any] = {
        name: value if options[name] is None else options[name] for name, value in CALIBRATION.items()
    }
    plan = None
    with progress_line("reading judgements"):
        service = campaign.recall.across_topics
        if starts:
            service.start(loss, topics=topics, source=source, **chosen)
        if options["again"]:
            service.calibrate()
        if options["stop"]:
            service.stop()
        state = service.state()
        if options["plan"] or (state.phase == "none" and not (starts or options["again"] or options["stop"])):
            plan = service.plan(loss, candidates=[topics] if topics is not None else (), **chosen)
    if form == "json":
        print_json({"state": state, "plan": plan})
    elif plan is not None:
        further = [f"--{name} {value}" for name, value in chosen.items() if value != CALIBRATION[name]]
        _print_plan(plan, " ".join([quote(str(campaign.directory)), "--across-topics", *further]))
    else:
        _print_state(state)


def _read_loss(recall: float | None, alpha: float | None) -> float:
    """Return the largest expected loss of recall, which either option gives."""
    if recall is not None and alpha is not None:
        raise click.UsageError("expected --recall or --alpha, found both")
    for name, share in (("--recall", recall), ("--alpha", alpha)):
        if share is not None and not 0 < share < 1:
            raise click.BadParameter(f"expected a share between 0 and 1, found {share:g}", param_hint=name)
    return alpha if alpha is not None else 0.1 if recall is None else round(1 - recall, 9)


def _print_plan(plan: CalibrationPlan, arguments: str) -> None:
    echo(f"{plan.advice}\n")
    table = plan.table()
    print_table([str(name).lower() for name in table], table.to_numpy().tolist())
    if plan.note:
        echo(f"\n{plan.note}")
    if plan.best is not None:
        number, target = plan.best.calibration_topics, f"{1 - plan.alpha:g}"
        echo(f"\nStart: cleverdon recall {arguments} --recall {target} --topics {number}")


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
