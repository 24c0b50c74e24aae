"""Training data and clicks in `cleverdon export`: options, files and notices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from collection.cli.methods import Names
from collection.cli.options import COUNT, WRITTEN, combine_options, option_section
from collection.core.phrases import count

if TYPE_CHECKING:
    from collection.adjudication import ChosenRule
    from collection.campaign import Campaign
    from collection.campaign.exports.training_data import TrainingFile


FILES = ("triples", "tuples", "clicks", "click_qrels")


def _ranks(value: str) -> tuple[int, int]:
    first, _, last = value.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise click.BadParameter(f"expected a first and a last rank such as 1-100, found {value!r}")
    return int(first), int(last)


_training, _clicks = option_section("Training data"), option_section("Clicks")

TRAINING_OPTIONS = combine_options(
    _training("--triples", type=WRITTEN, help="Training triples, FILE.tsv (ids) or FILE.jsonl (texts)."),
    _training("--tuples", type=WRITTEN, help="Training tuples: a positive and its negatives per line."),
    _training("--negatives", default="judged", type=Names("judged", "hard", "unjudged-hard", "unjudged-random"),
              help="Kind of negatives."),
    _training("--negatives-each", "count", type=COUNT, default=1, help="Negatives per positive."),
    _training("--ranks", type=_ranks, metavar="A-B", help="First and last rank of hard negatives; by default 1-100."),
    _training("--ranks-of", type=click.Choice(["fusion", "any"]), default="fusion",
              help="Ranks in the fusion of all runs, or the best rank in any run."),
    _training("--level", type=COUNT, metavar="G", help="Minimum grade of a positive; by default the campaign's."),
    _training("--margin", type=COUNT, help="Minimum difference in grade between positive and negative."),
    _training("--positives", type=COUNT, help="Maximum number of positives per topic, drawn at random."),
    _training("--apart", is_flag=True, help="Leave out negatives that are near-duplicates of a positive."),
    _training("--seed", type=int, default=0, help="Random seed."),
    _clicks("--clicks", type=WRITTEN, help="Click statistics of each pair, FILE.tsv."),
    _clicks("--click-qrels", type=WRITTEN, help="Labels from clicks, with fractions, as TREC qrels."),
    _clicks("--click-log", "sources", multiple=True, metavar="NAME", help="Only this click log; repeatable."),
    _clicks("--smoothing", type=click.FloatRange(min=0), default=1.0, help="Impressions added to each pair."),
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
        for file in campaign.exports.training_data.export(triples=triples, tuples=tuples, rule=rule, **how):
            files[file.path] = file.lines
            notices += _notices_of(file)
    if table is not None or qrels is not None:
        from collection.clicks import cautions

        written, found = campaign.corpus.clicks.export(
            table=table, qrels=qrels, sources=given["sources"] or None, smoothing=given["smoothing"]
        )
        files |= written
        notices += cautions(found)
    return Written(files, notices)


def _notices_of(file: TrainingFile) -> list[str]:
    counts, name = file.report["counts"], Path(file.path).name
    if not counts["positives"]:
        return [f"{name} is empty: no document is a positive ({file.report['positives']})"]
    if not file.lines:
        wanted = count(file.report["negatives_each"] if file.report["form"] == "tuples" else 1, "negative")
        return [f"{name} is empty: no positive has {wanted} of the kind {file.report['negatives']}"]
    positives, topics = count(counts["positives_used"], "positive"), count(counts["topics_used"], "topic")
    notices = [f"{name}: {positives} of {topics} with {count(counts['negatives'], 'different negative')}"]
    if counts["negatives_unjudged"]:
        notices.append(f"{name}: {counts['negatives_unjudged']:,} of the negatives are unjudged")
    if counts["positives_short"]:
        each = file.report["negatives_each"]
        fate = "left out" if file.report["form"] == "tuples" or each == 1 else "with fewer negatives or none"
        few = "no negative" if each == 1 else f"fewer than {each:,} negatives"
        notices.append(
            f"{name}: {count(counts['topics_short'], 'topic has', 'topics have')} {few} of this kind: "
            f"{counts['positives_short']:,} of {count(counts['positives_drawn'], 'positive')} {fate}"
        )
    return notices
