"""`cleverdon trec_eval`: the options and the output of trec_eval 10, or the values of trec_eval 9."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import click

from collection.cli.options import INPUT
from collection.cli.output import echo_data, print_notices
from collection.core.errors import FormatError
from collection.core.phrases import count, plural
from collection.core.records import JudgementFormat

if TYPE_CHECKING:
    import pandas as pd

    from collection.formats import Source
    from collection.measures import Version


class _Number(click.ParamType[int]):
    """A whole number as trec_eval reads it: the sign and digits at the beginning of a text."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        digits = re.match(r"[ \t]*([+-]?\d{1,18})(?!\d)", text, re.ASCII)
        if digits is None:
            self.fail(f"expected a whole number, found {text!r}", param, ctx)
        number = int(digits[1])
        if str(number) != text.strip().removeprefix("+") and param is not None:
            print_notices([f"{param.opts[0]} {text} is read as {number}, as in trec_eval"])
        return number


NUMBER = _Number()


class TrecEvalCommand(click.Command):
    """A command whose help also lists trec_eval's measures, and which takes the last value of a repeated option."""

    takes_last_value = True

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, then nicknames and measures."""
        from collection.interfaces.trec_eval import NICKNAMES, TREC_MEASURES

        super().format_options(ctx, formatter)
        with formatter.section("Nicknames"):
            formatter.write_dl([(name, ", ".join(names)) for name, names in NICKNAMES.items()])
        with formatter.section("Measures"):
            formatter.write_dl([(name, measure.description) for name, measure in TREC_MEASURES.items()])


@click.command("trec_eval", cls=TrecEvalCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("judgements", metavar="QRELS", type=INPUT)
@click.argument("run", metavar="RUN", type=INPUT)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    help="Measure or nickname, with parameters after a dot: map, P.5,10, ndcg.1=3,2=9; repeatable."
    "  [default: official]",
)
@click.option("-q", "--query_eval_wanted", "by_topic", is_flag=True, help="Print the values of each topic, too.")
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="Do not print the values over all topics.")
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Count topics that are missing from RUN as 0; otherwise they are an error.",
)
@click.option("-l", "--level_for_rel", "level", type=NUMBER, default=1, metavar="G", help="Minimum relevant grade.")
@click.option(
    "-M", "--Max_retrieved_per_topic", "depth", type=NUMBER, help="Maximum number of ranks to evaluate per topic."
)
@click.option(
    "-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Remove unjudged documents from the rankings first."
)
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "documents",
    type=NUMBER,
    default=0,
    help="Number of documents in the collection, for utility.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "form",
    type=click.Choice(get_args(JudgementFormat)),
    default="qrels",
    help="Format of QRELS.",
)
@click.option(
    "-T",
    "--Results_format",
    type=click.Choice(["trec_results"]),
    default="trec_results",
    expose_value=False,
    help="Format of RUN (there is only one).",
)
@click.option("-o", is_flag=True, expose_value=False, help="No effect, as in trec_eval.")
@click.option(
    "-Z",
    "--Zscore",
    "reference",
    type=INPUT,
    help="Print z-scores. Lines of FILE: topic measure mean deviation.",
)
@click.option(
    "--compat",
    type=click.Choice([9, 10]),
    default=10,
    help="Order tied scores, read recall levels and treat topics missing from RUN as this version of trec_eval.",
)
@click.version_option(
    None, "-v", "--version", package_name="cleverdon", message="%(version)s (options and output of trec_eval 10.0)"
)
def trec_eval(
    judgements: Source,
    run: Source,
    measures: tuple[str, ...],
    by_topic: bool,
    no_summary: bool,
    complete: bool,
    level: int,
    depth: int | None,
    judged_only: bool,
    documents: int,
    form: JudgementFormat,
    reference: Source | None,
    compat: Version,
) -> None:
    """Evaluate a run with the options and output of trec_eval.

    RUN is a TREC run; - reads it from standard input. The output is that of trec_eval 10, byte for byte, except where
    trec_eval crashes, reads uninitialised memory or prints nan. --compat 9 gives the values of version 9, which
    averages over the topics of RUN unless -c is given.

    For example:
      cleverdon trec_eval qrels.txt bm25.run
      cleverdon trec_eval -q -m map -m P.5,10 qrels.txt bm25.run
    """
    from collection import formats
    from collection.interfaces import trec_eval as program

    columns, notes = program.choose(measures or ["official"])
    print_notices(notes)
    options = program.TrecOptions(level, depth, judged_only, complete, documents, compat)
    judged = _read_judgements(judgements, form)
    if form != "prefs" and (fractions := int((judged["relevance"] % 1 != 0).sum())):
        are = plural(fractions, "is cut", "are cut")
        print_notices([f"{count(fractions, 'grade')} with a fraction {are} to whole numbers, as in trec_eval; "
                       "`cleverdon evaluate` keeps fractions"])  # fmt: skip
    ranked = formats.read_run(run, tags_may_differ=True)
    evaluation = program.evaluate(judged, ranked, columns, form, options)
    if reference is not None:
        evaluation = program.to_z_scores(evaluation, formats.read_reference_scores(reference))
    lines = program.format_lines(evaluation, by_topic=by_topic, with_summary=not no_summary)
    echo_data("".join(f"{line}\n" for line in lines), nl=False)


def _read_judgements(path: Source, form: JudgementFormat) -> pd.DataFrame:
    """Read judgements; qrels must have four columns, as in trec_eval."""
    from collection import formats
    from collection.formats.source import quote
    from collection.formats.tables.lines import first_line

    if form == "prefs":
        return formats.read_levels(path)
    number, line, columns = first_line(path, "qrels")
    if len(columns) == 5:
        wanted = "4 columns (query_id 0 doc_id relevance)"
        raise FormatError(path, number, wanted, f"5 columns: {quote(line)}", "-R prefs reads five")
    return formats.read_qrels(path, form="judged" if form == "qrels" else "subtopics")
