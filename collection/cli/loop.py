"""`cleverdon features` and `cleverdon loop`: settings of active learning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import COUNT, DIRECTORY, FILE, SectionedCommand, open_campaign, option_section
from collection.cli.output import echo, print_notices, print_settings, print_table, progress_line
from collection.core.phrases import count, join_first

if TYPE_CHECKING:
    from collection.campaign import Campaign

NAMED = 10
"""Printed topics per mode."""


@click.command()
@DIRECTORY
@click.option(
    "--block",
    "blocks",
    multiple=True,
    type=click.Choice(["words", "chars", "dense"]),
    help="Features: words, characters (4-grams), your own embeddings; repeatable.",
)
@click.option("--bigrams/--no-bigrams", default=None, help="Include pairs of adjacent words.")
@click.option(
    "--embeddings",
    "dense",
    type=FILE,
    metavar="FILE.npy",
    help="Your own embeddings, one row per document in the order of import.",
)
@click.option("--processes", type=COUNT, help="Number of processes; by default one per core.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Build and rank on the workers of this Dask scheduler (none = this machine)."
)
@click.option("--partitions", metavar="URL", help="Folder for the documents that workers can read, as an fsspec URL.")
def features(
    directory: Path,
    blocks: tuple[str, ...],
    bigrams: bool | None,
    dense: Path | None,
    processes: int | None,
    cluster: str | None,
    partitions: str | None,
) -> None:
    """Build the document features that the model reads.

    Only new documents are processed. The app does this when the loop starts; for large collections, do it
    beforehand. With --cluster, this writes the documents as Parquet partitions, and the app builds the features on the
    workers.

    For example:
      cleverdon features DIR --cluster tcp://10.0.0.5:8786 --partitions s3://a/b
    """
    from collection.campaign import Campaign

    with Campaign(directory) as campaign, progress_line("building features") as progress:
        report = campaign.corpus.features.update(
            blocks=blocks or None,
            bigrams=bigrams,
            dense=dense,
            progress=progress,
            processes=processes,
            cluster=cluster,
            partitions=partitions,
        )
        state = campaign.corpus.features.state()
        used = ", ".join(state.blocks)
    if state.folder:
        echo(f"{state.folder}: {count(report.documents, 'document')}, features {used}; {report.seconds:.1f} s")
        return
    read = f"{count(report.tokenised, 'new text')} processed" if report.tokenised else "already up to date"
    taken = f"; embeddings from {dense}" if dense is not None else ""
    echo(
        f"{directory / 'features'}: {count(report.documents, 'document')}, features {used}; {read}{taken}; "
        f"{report.seconds:.1f} s"
    )


_model, _stopping = option_section("Model"), option_section("Random sample and stopping")


@click.command(cls=SectionedCommand)
@open_campaign
@click.option(
    "--mode",
    type=Names("pool", "random", "pool-then-loop", "loop", "loop-in-pool", "closed", "campaign"),
    help="How documents are chosen; campaign removes a topic's own mode.",
)
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Apply --mode to this topic only; repeatable.")
@click.option("--budget", type=int, help="Judgement budget, all topics (0 = unlimited).")
@click.option("--topic-budget", type=int, help="Judgement budget per topic (0 = unlimited).")
@click.option("--level", type=int, metavar="G", help="Minimum relevant grade.")
@click.option("--explain", type=Names("terms", "terms and runs", "nothing"), help="Explanation shown to annotators.")
@_model(
    "--by",
    type=Names("model", "decisive", family="strategies"),
    metavar="S",
    help="Selection method: model, decisive (pairs that best separate the systems), or an adaptive strategy of "
    "`cleverdon methods strategies`.",
)
@_model("--measure", metavar="M", help="Measure that ranks the systems with decisive, such as nDCG@10.")
@_model("--learner", type=Names(family="learners"), metavar="L", help="Learner (`cleverdon methods learners`).")
@_model(
    "--evidence",
    type=Names("prior", "columns", "none"),
    help="Use of the runs: fusion added to the score (prior), features (columns), or none.",
)
@_model("--labels", metavar="NAME", help="Label set that helps to order documents; never counted. '' for none.")
@_model(
    "--grades",
    type=Names("weights", "threshold"),
    help="Training examples: weighted by grade, or only relevant or not (threshold).",
)
@_model("--presumed", type=int, help="Random unjudged documents presumed irrelevant in each training round.")
@_stopping("--row", "run", metavar="N|auto", help="Irrelevant documents in a row before random sampling (0 = never).")
@_stopping("--control", type=float, metavar="SHARE", help="Minimum share of random documents from the start.")
@_stopping("--target", type=float, metavar="SHARE", help="Target recall of the stop advice, from 0.01 to 1.")
@_stopping("--confidence", type=float, metavar="SHARE", help="Confidence of the stop advice, from 0.5 to 0.999.")
def loop(campaign: Campaign, topics: tuple[str, ...], **changes: Any) -> None:
    """Show or change how the next document is chosen.

    Without options, shows the settings and the mode of each topic. Topics in the loop share --budget equally; the
    unused part of a share goes to the others; with --by decisive, the campaign spends it across topics, and
    --topic-budget cannot be set. Only settings that have an effect are shown.

    For example:
      cleverdon loop DIR --mode pool-then-loop --target 0.9
      cleverdon loop DIR --labels gpt-4o
      cleverdon loop DIR --by decisive --budget 500
      cleverdon loop DIR --topic 301 --topic 302 --mode closed
    """
    from collection.campaign.recall.recall_advice import describe_target_change
    from collection.campaign.settings.loop_settings import DECISIVE, LOOPING, MODES, describe_mode

    given = {name: value for name, value in changes.items() if value is not None}
    if "run" in given:
        if not (given["run"] == "auto" or given["run"].isdecimal()):
            raise click.BadParameter(f"expected a whole number or auto, found {given['run']!r}", param_hint="--row")
        given["run"] = None if given["run"] == "auto" else int(given["run"])
    if topics and given.get("mode") == "campaign":
        given["mode"] = None
    notices = []
    before, earlier = set(campaign.settings.modes().values()), campaign.settings.loop()
    if given.get("by") == DECISIVE and "mode" not in given and not LOOPING & before:
        given["mode"] = "loop-in-pool" if campaign.store.judgements.counts()["pool"] else "loop"
        notices = [f"no topic was in the loop, so the mode is {given['mode']} now"]
    if given:
        campaign.settings.set_loop(topics=list(topics) or None, **given)
    elif topics:
        raise click.UsageError("--topic needs --mode")
    settings = campaign.settings.loop().in_use
    modes = campaign.settings.modes()
    judged, closed = campaign.store.judgements.counts()["judgements"], list(modes.values()).count("closed")
    warning = describe_target_change(earlier, campaign.settings.loop(), judged, closed)
    notices += [warning[0].lower() + warning[1:]] if warning else []
    budget = campaign.progress.budget.state()
    of_mode = {mode: [query_id for query_id, m in modes.items() if m == mode] for mode in MODES}
    named = [
        [len(some), mode, describe_mode(mode, settings["by"]), join_first(some, NAMED)]
        for mode, some in of_mode.items()
        if some
    ]
    print_table(["topics", "mode", "annotators judge", "ids"], named)
    echo()
    budgets = {name: settings[name] for name in ("budget", "topic_budget") if name in settings}
    if "run" in settings:
        row = settings.pop("run")
        settings["row"] = "auto" if row is None else row
    print_settings(settings | {name: number or "unlimited" for name, number in budgets.items()})
    notices += [lead] if (lead := campaign.loop.describe_lead()) else []
    print_notices(notices)
    if used_up := budget.words:
        echo(f"\n{used_up}")
    elif outlook := budget.outlook:
        echo(f"\n{outlook}\nSee `cleverdon docs explanation/fewer-judgements`.")
    elif any(budgets.values()) and not LOOPING & set(modes.values()):
        if set(modes.values()) != {"closed"}:
            print_notices(["no topic is in the loop: budgets need --mode loop, loop-in-pool or pool-then-loop"])
        elif budgets.keys() & given:
            print_notices(["all topics are closed: reopen one with --topic Q --mode campaign"])
