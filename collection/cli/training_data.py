"""Training data and clicks in `cleverdon export`: options, files and notices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from collection.cli.options import COUNT, WRITTEN, combine_options
from collection.phrases import count

if TYPE_CHECKING:
    from collection.adjudication import ChosenRule
    from collection.campaign import Campaign
    from collection.campaign.training_data import TrainingFile


FILES = ("triples", "tuples", "clicks", "click_qrels")


def _ranks(value: str) -> tuple[int, int]:
    first, _, last = value.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise click.BadParameter(f"{value!r} is no first and last rank, as 1-100")
    return int(first), int(last)


TRAINING_OPTIONS = combine_options(
    click.option("--triples", type=WRITTEN, help="Training triples, FILE.tsv (ids) or FILE.jsonl (texts)."),
    click.option("--tuples", type=WRITTEN, help="Training tuples: a positive and all its negatives in one line."),
    click.option("--negatives", default="judged", metavar="judged|hard|unjudged-hard|unjudged-random",
                 help="What a negative is."),
    click.option("--negatives-each", "count", type=COUNT, default=1, help="Negatives for each positive."),
    click.option("--ranks", type=_ranks, metavar="A-B",
                 help="Of hard negatives: first and last rank; 1-100 if left out."),
    click.option("--ranks-of", type=click.Choice(["fusion", "any"]), default="fusion",
                 help="Whose ranks: of a fusion of all runs, or the best of any run."),
    click.option("--level", type=COUNT, help="The lowest grade of a positive; the loop's level if left out."),
    click.option("--margin", type=COUNT, help="Negatives are those at least so many grades below the positive."),
    click.option("--positives", type=COUNT, help="At most so many of each topic, at random."),
    click.option("--apart", is_flag=True, help="No negative is a near-duplicate of a positive of its topic."),
    click.option("--seed", type=int, default=0, help="Of the draws of training data."),
    click.option("--clicks", type=WRITTEN, help="What click logs say of documents, FILE.tsv."),
    click.option("--click-qrels", type=WRITTEN, help="The same as labels with fractions, in TREC form."),
    click.option("--click-log", "sources", multiple=True, metavar="NAME",
                 help="Only this log of clicks; may be repeated."),
    click.option("--smoothing", type=click.FloatRange(min=0), default=1.0,
                 help="Impressions that each pair is given beside its own."),
)  # fmt: skip
"""The options of `cleverdon export` for training data and clicks."""


class Written(NamedTuple):
    """Number of lines by path, and notices about the files."""

    files: dict[str, int]
    notices: list[str]


def write(campaign: Campaign, given: Mapping[str, Any], rule: ChosenRule | None) -> Written:
    """Write the files named by :data:`TRAINING_OPTIONS`; `rule` adjudicates several annotators' judgements."""
    files: dict[str, int] = {}
    notices: list[str] = []
    triples, tuples, table, qrels = (given[name] for name in FILES)
    if triples is not None or tuples is not None:
        how = {
            name: given[name]
            for name in ("negatives", "count", "ranks", "ranks_of", "level", "margin", "positives", "apart", "seed")
        }
        for file in campaign.training_data.export(triples=triples, tuples=tuples, rule=rule, **how):
            files[file.path] = file.lines
            notices += _notices_of(file)
    if table is not None or qrels is not None:
        from collection.clicks import cautions

        written, found = campaign.clicks.export(
            table=table, qrels=qrels, sources=given["sources"] or None, smoothing=given["smoothing"]
        )
        files |= written
        notices += cautions(found)
    return Written(files, notices)


def _notices_of(file: TrainingFile) -> list[str]:
    counts, name = file.report["counts"], Path(file.path).name
    if not counts["positives"]:
        return [f"{name} is empty: nothing is relevant ({file.report['positives']})"]
    if not file.lines:
        wanted = count(file.report["negatives_each"] if file.report["form"] == "tuples" else 1, "negative")
        return [f"{name} is empty: no positive has {wanted} by the rule {file.report['negatives']}"]
    positives, topics = count(counts["positives_used"], "positive"), count(counts["topics_used"], "topic")
    notices = [f"{name}: {positives} of {topics} with {count(counts['negatives'], 'different negative')}"]
    if counts["negatives_unjudged"]:
        notices.append(f"{name}: {counts['negatives_unjudged']:,} of the negatives were judged by nobody")
    if counts["positives_short"]:
        fate = "are left out" if file.report["form"] == "tuples" else "have fewer negatives, or none"
        notices.append(
            f"{name}: {count(counts['topics_short'], 'topic has', 'topics have')} fewer than "
            f"{file.report['negatives_each']:,} negatives by this rule: {counts['positives_short']:,} of "
            f"{counts['positives_drawn']:,} positives {fate}"
        )
    return notices
