"""`cleverdon agreement`: inter-annotator agreement in a campaign or in a file of labels."""

from __future__ import annotations

from datetime import datetime
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.evaluate import parse_one
from collection.cli.options import FILE, FORMAT, QUESTION, parse_scale
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.errors import FormatError, InputError
from collection.core.phrases import count
from collection.core.records import sort_naturally

if TYPE_CHECKING:
    import pandas as pd

    from collection.annotator_agreement import Agreement
    from collection.campaign.results.agreement import Conclusion

SHOWN = 30
"""Printed rows per table; JSON has all."""

HEADS = {
    "a": "annotator A", "b": "annotator B", "query_id": "topic", "difference": "mean difference",
    "last_at": "last judgement",
}  # fmt: skip
"""Columns of frames -> headers where they differ."""

TABLES = 3
"""Printed tables of runs."""

COLUMNS = ("observed", "cohen", "cohen-quadratic", "alpha-ordinal", "ac1")
"""Coefficients of the graded scale in the narrow tables; the overlap is the last column."""

_KAPPA = "binary: exclude against maybe and include, as for the kappa on the page Report"
"""Notice for reviews on the column with the kappa that is usually reported."""


@click.command()
@click.argument("source", metavar="DIR|LABELS", type=FILE)
@FORMAT
@click.option(
    "--level", type=float, metavar="G", help="Minimum relevant grade; by default the campaign's, 1 for a file."
)
@click.option(
    "--grades",
    metavar="SCALE",
    type=parse_scale,
    help="Grade scale of LABELS, such as 0-3 or 0,1,2,3; by default the grades in the file.",
)
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Only this topic; repeatable.")
@click.option("--without", multiple=True, metavar="NAME", help="Leave out this annotator; repeatable.")
@click.option("--measure", metavar="M", help="Also compare the rankings of runs by each annotator's grades.")
@QUESTION
@click.option("--coefficient", default="alpha-ordinal", metavar="C", help="Coefficient to sort the topics by.")
@click.option("--resamples", type=click.IntRange(min=0), default=1000, help="Bootstrap samples; 0 = no intervals.")
@click.option("--by", type=click.Choice(["pairs", "topics"]), default="pairs", help="Bootstrap unit.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Random seed of the bootstrap.")
def agreement(
    source: Path,
    form: str,
    level: float | None,
    grades: list[float] | None,
    topics: tuple[str, ...],
    without: tuple[str, ...],
    measure: str | None,
    question: str | None,
    answer: str | None,
    coefficient: str,
    **options: Any,
) -> None:
    """Measure inter-annotator agreement.

    Reads the judgements of the campaign DIR, or the file LABELS (CSV, TSV, JSONL) with the columns annotator,
    query_id, doc_id and relevance.

    For example:
      cleverdon agreement DIR --measure nDCG@10
      cleverdon agreement DIR --question credibility
      cleverdon agreement labels.csv --by topics
    """
    from collection import annotator_agreement, formats
    from collection.annotator_agreement import COEFFICIENTS
    from collection.campaign import Campaign
    from collection.core.review import MAYBE
    from collection.core.vocabulary import RETRIEVAL, REVIEW

    COEFFICIENTS[coefficient]  # report an unknown name before the computation
    conclusions: list[Conclusion] | None = None
    parsed = None if measure is None else parse_one(measure)
    if source.is_dir():
        if grades is not None:
            raise InputError(f"--grades applies to a file of labels; the campaign {source} has its own grade scale")
        with Campaign(source) as campaign, progress_line("computing agreement"):
            study, words = campaign.results.agreement.for_question(question, answer), campaign.settings.vocabulary
            if study.question is not None and (level is not None or measure is not None):
                study.question.require_grades()  # names without an order have no minimum, and rank no runs
            if study.question is not None and study.question.question.kind == "tags" and answer is None:
                _print_answers(study.by_answer(topics=topics, without=without, **options, sides=()), form)
                return
            report = study.report(topics=topics, without=without, level=level, **options)
            if parsed is not None:
                conclusions = study.conclusions(parsed, topics=topics, without=without)
    else:
        if question is not None or answer is not None:
            raise InputError(f"--question needs a campaign; {source} is not a directory")
        if measure is not None:
            raise InputError(f"--measure needs the runs of a campaign; {source} is not a directory")
        study, words = None, RETRIEVAL
        labels = annotator_agreement.select_labels(formats.read_labels(source), topics=topics, without=without)
        level = 1 if level is None else level
        if grades is not None:
            _require_grades_of(grades, labels, source)
        try:
            with progress_line("computing agreement"):
                report = annotator_agreement.agreement(labels, level=level, grades=grades, **options)
        except InputError as error:
            raise InputError(f"{source}: {error}") from None
    if form == "json":
        rows = [c._asdict() | {"tau": None if c.note else c.tau} for c in conclusions or ()]
        asked = {"question": question, "answer": answer, "labels": study.scale} if study and question else {}
        print_json({**vars(report), **({} if conclusions is None else {"conclusions": rows}), **asked})
        return
    # Published values concern relevance judgements, not the decisions of reviews or judgements of generated answers.
    _print_report(report, coefficient, of_relevance=question is None and words is RETRIEVAL)
    if report.several and conclusions is not None:
        _print_conclusions(conclusions, str(parsed))
    is_shown = words is REVIEW and question is None and report.level == MAYBE
    print_notices([*([_KAPPA] if is_shown else []), *report.notes])


def _print_report(report: Agreement, coefficient: str, *, of_relevance: bool) -> None:
    """Print what agreement means, the coefficients over all, and the breakdowns."""
    from collection.annotator_agreement import COEFFICIENTS, interpret

    sentences = interpret(report, of_relevance=of_relevance)
    for sentence in sentences[0 if report.judgements else 1 :]:
        echo(sentence)
    if not report.several:
        echo("Judge pairs a second time in the app, or import grades with `cleverdon import DIR --labels FILE`.")
        return
    echo()
    _print_values(report)
    _print_narrow("pairs of annotators", report.between, ["a", "b", "pairs"])
    if report.is_nominal and coefficient not in set(report.topics["coefficient"]):
        coefficient = "alpha-nominal"
    by = report.topics[(report.topics["coefficient"] == coefficient)].drop_duplicates("query_id")
    order = sort_naturally(by).sort_values("value", kind="stable", na_position="last")["query_id"].tolist()
    label = COEFFICIENTS[coefficient].label
    _print_narrow(f"topics, lowest {label} first", report.topics, ["query_id", "pairs"], order)
    if len(report.annotators) > 2:
        _print_narrow(
            "each annotator vs. the majority of the others", report.rest, ["annotator", "pairs", "difference"]
        )
    _print_narrow("over time, by the last judgement of each pair", report.windows, ["window", "pairs", "last_at"])


def _print_answers(by_answer: dict[str, Agreement], form: str) -> None:
    """Print the agreement on each tag, and its mean over the tags that have a value."""
    import numpy as np

    from collection.annotator_agreement import format_with_interval, select_value

    names = ("observed", "cohen", "alpha-nominal", "ac1")
    values = {name: [select_value(report.values, name)["value"] for report in by_answer.values()] for name in names}
    means = {name: float(np.nanmean(of)) if any(not isnan(v) for v in of) else None for name, of in values.items()}
    if form == "json":
        print_json({"answers": {answer: vars(report) for answer, report in by_answer.items()}, "means": means})
        return
    report = next(iter(by_answer.values()))
    people, pairs = count(len(report.annotators), "annotator"), count(report.several, "pair")
    echo(f"{people} answered; {pairs} with 2 or more answers. Each tag is compared by whether it was given.\n")
    rows = [
        [answer, *(format_with_interval(select_value(report.values, name)) for name in names)]
        for answer, report in by_answer.items()
    ]
    mean = ["mean", *("none" if means[name] is None else f"{means[name]:.3f}" for name in names)]
    print_table(["tag", *names], [*rows, mean], numbers=True)
    print_notices(report.notes)


def _require_grades_of(scale: list[float], labels: pd.DataFrame, path: Path) -> None:
    """Refuse the first label whose grade is not of the scale, with its line."""
    from collection import formats

    outside = labels[~labels["relevance"].isin(scale)]
    if len(outside):
        row = outside.iloc[0]
        line = formats.find_label_line(path, row["annotator"], row["query_id"], row["doc_id"])
        wanted = f"a grade of the scale ({', '.join(f'{grade:g}' for grade in scale)})"
        raise FormatError(path, line, wanted, f"{row['relevance']:g}")


def _print_values(report: Agreement) -> None:
    """Print each coefficient on a line: graded, binary, notes."""
    from collection.annotator_agreement import COEFFICIENTS, format_with_interval

    rows = []
    for entry in COEFFICIENTS:
        of_entry = report.values[report.values["coefficient"] == entry.name]
        rows_of = {str(row["scale"]): format_with_interval(row) for _, row in of_entry.iterrows()}
        if not rows_of:
            continue
        cells = [rows_of.get(scale, "") for scale in ("graded", "binary")]
        notes = {str(scale): note for scale, note in zip(of_entry["scale"], of_entry["note"], strict=True) if note}
        if len(set(notes.values())) > 1:
            notes = {scale: f"{scale}: {note}" for scale, note in notes.items()}
        rows.append([entry.name, entry.label, *cells, entry.tolerates, "; ".join(dict.fromkeys(notes.values()))])
    header = ["coefficient", "name", "graded", f"binary (grade {report.level:g}+)", "tolerates", "note"]
    if report.is_nominal:
        header, rows = ["coefficient", "name", "value", "note"], [[*row[:3], row[-1]] for row in rows]
    of_all = {row[-1] for row in rows} if len({row[-1] for row in rows}) == 1 else set()
    width = len(header) - bool(of_all)
    print_table(header[:width], [row[:width] for row in rows])
    print_notices(of_all - {""})
    if report.values["low"].notna().any():
        print_notices(
            [f"in brackets: 95% confidence intervals from {count(report.resamples, 'bootstrap sample')} of {report.by}"]
        )


def _print_narrow(title: str, frame: pd.DataFrame, keys: list[str], order: list[str] | None = None) -> None:
    """Print some coefficients of each key on a line; nothing for an empty frame."""
    if frame.empty:
        return
    graded = frame[(frame["scale"] == "graded") & frame["coefficient"].isin([*COLUMNS, "alpha-nominal"])]
    wide = graded.pivot(index=keys, columns="coefficient", values="value")
    if "alpha-ordinal" not in wide:  # names without an order
        wide = wide[["observed", "cohen", "alpha-nominal", "ac1"]]
    else:
        overlap = frame[frame["coefficient"] == "overlap"].set_index(keys)["value"]
        wide = wide[list(COLUMNS)].assign(overlap=overlap.reindex(wide.index))
    if order is not None:
        wide = wide.loc[order] if wide.index.nlevels == 1 else wide.reindex(order, level=0)
    echo(f"\n{title}")
    rows = [
        [*(_key(key) for key in keyed), *("-" if isnan(value) else f"{value:.3f}" for value in row)]
        for keyed, row in zip(wide.index, wide.to_numpy().tolist(), strict=True)
    ]
    print_table([*(HEADS.get(key, key) for key in keys), *wide.columns], rows[:SHOWN])
    if len(rows) > SHOWN:
        echo(f"... {len(rows) - SHOWN:,} more rows; --format json prints all")


def _key(key: float | int | str | datetime) -> int | str:
    """Format a cell of a key column: times to the minute, differences with a sign."""
    if isinstance(key, float):
        return f"{key:+.2f}"
    return key if isinstance(key, int | str) else f"{key:%Y-%m-%d %H:%M}"


def _print_conclusions(conclusions: list[Conclusion], measure: str) -> None:
    echo(f"\nruns ranked by {measure} with the grades of each annotator")
    if not conclusions:
        echo("Not available: this needs runs, and two annotators who graded the same pairs.")
        return
    rows = [
        [c.a, c.b, c.topics, c.pairs, c.runs, "-" if c.note else f"{c.tau:.3f}", c.swaps, c.note] for c in conclusions
    ]
    print_table(
        ["annotator A", "annotator B", "topics", "pairs", "runs", "Kendall's tau", "swapped pairs of runs", "note"],
        rows,
    )
    for c in conclusions[:TABLES]:
        echo()
        cells = c.table[["run", "a", "place_a", "b", "place_b"]].itertuples(index=False, name=None)
        print_table(["run", c.a, "rank", c.b, "rank"], list(cells))
    if len(conclusions) > TABLES:
        echo(f"... {len(conclusions) - TABLES:,} more tables; --format json prints all")
