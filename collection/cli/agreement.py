"""`cleverdon agreement`: inter-annotator agreement in a campaign or in a file of labels."""

from __future__ import annotations

from datetime import datetime
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.evaluate import parse_one
from collection.cli.options import FILE, FORMAT, parse_scale
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.errors import FormatError, InputError
from collection.records import sort_naturally

if TYPE_CHECKING:
    import pandas as pd

    from collection.annotator_agreement import Agreement
    from collection.campaign.agreement import Conclusion

SHOWN = 30
"""Rows of a table that are printed; JSON has all."""

TABLES = 3
"""Tables of runs that are printed."""

COLUMNS = ("observed", "cohen", "cohen-quadratic", "alpha-ordinal", "ac1")
"""Coefficients of the graded scale in the narrow tables; the overlap is the last column."""


@click.command()
@click.argument("source", metavar="DIR|LABELS", type=FILE)
@FORMAT
@click.option(
    "--level", type=float, metavar="G", help="The grade from which on a document is relevant (the loop's; 1 of a file)."
)
@click.option(
    "--grades",
    metavar="SCALE",
    type=parse_scale,
    help="All grades that there are, as 0-3 or 0,1,2,3; if left out, a campaign's own, and those that a file has.",
)
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Only this topic; may be repeated.")
@click.option("--without", multiple=True, metavar="NAME", help="Leave an annotator out; may be repeated.")
@click.option("--measure", metavar="M", help="Do the runs stand in the same order by each one's grades? As nDCG@10.")
@click.option("--coefficient", default="alpha-ordinal", metavar="C", help="By which the topics are sorted.")
@click.option("--resamples", type=click.IntRange(min=0), default=1000, help="For the intervals.")
@click.option("--by", type=click.Choice(["pairs", "topics"]), default="pairs", help="What the intervals draw again.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random numbers.")
def agreement(
    source: Path,
    form: str,
    level: float | None,
    grades: list[float] | None,
    topics: tuple[str, ...],
    without: tuple[str, ...],
    measure: str | None,
    coefficient: str,
    **options: Any,
) -> None:
    """How far annotators agree: in the campaign DIR, or in the file LABELS (CSV, TSV or JSONL).

    LABELS has the columns annotator, query_id, doc_id, relevance.
    """
    from collection import annotator_agreement, formats
    from collection.annotator_agreement import COEFFICIENTS
    from collection.campaign import Campaign

    label = COEFFICIENTS[coefficient].label  # an unknown name is reported before the work
    conclusions: list[Conclusion] | None = None
    asked = None if measure is None else parse_one(measure)
    if source.is_dir():
        if grades is not None:
            raise InputError(f"--grades is for a file of labels, and {source} is a campaign, which has its own")
        with Campaign(source) as campaign, progress_line("computing agreement"):
            found = campaign.agreement.report(topics=topics, without=without, level=level, **options)
            if asked is not None:
                conclusions = campaign.agreement.conclusions(asked, topics=topics, without=without)
    else:
        if measure is not None:
            raise InputError(f"--measure needs the runs of a campaign, and {source} is not its directory")
        labels = annotator_agreement.select_labels(formats.read_labels(source), topics=topics, without=without)
        level = 1 if level is None else level
        if grades is not None:
            _require_grades_of(grades, labels, source)
        try:
            with progress_line("computing agreement"):
                found = annotator_agreement.agreement(labels, level=level, grades=grades, **options)
        except InputError as error:
            raise InputError(f"{source}: {error}") from None
    if form == "json":
        rows = [c._asdict() | {"tau": None if c.note else c.tau} for c in conclusions or ()]
        print_json({**vars(found), **({} if conclusions is None else {"conclusions": rows})})
        return
    for sentence in annotator_agreement.interpret(found):
        echo(sentence)
    echo()
    _print_values(found)
    _print_narrow("between", found.between, ["a", "b", "pairs"])
    by = found.topics[(found.topics["coefficient"] == coefficient)].drop_duplicates("query_id")
    order = sort_naturally(by).sort_values("value", kind="stable", na_position="last")["query_id"].tolist()
    _print_narrow(f"topics, least {label} first", found.topics, ["query_id", "pairs"], order)
    if len(found.annotators) > 2:
        _print_narrow("against the majority of the others", found.rest, ["annotator", "pairs", "difference"])
    _print_narrow("as pairs were finished", found.windows, ["window", "pairs", "last_at"])
    if conclusions is not None:
        _print_conclusions(conclusions, str(asked))
    print_notices(found.notes)


def _require_grades_of(scale: list[float], labels: pd.DataFrame, path: Path) -> None:
    """Refuse the first label whose grade is not of the scale, with its line."""
    from collection import formats

    outside = labels[~labels["relevance"].isin(scale)]
    if len(outside):
        row = outside.iloc[0]
        line = formats.find_label_line(path, row["annotator"], row["query_id"], row["doc_id"])
        wanted = f"a grade of the scale ({', '.join(f'{grade:g}' for grade in scale)})"
        raise FormatError(path, line, wanted, f"{row['relevance']:g}")


def _print_values(found: Agreement) -> None:
    """Print a line for each coefficient, graded and binary side by side, with notes."""
    from collection.annotator_agreement import COEFFICIENTS, format_with_interval

    rows = []
    for entry in COEFFICIENTS:
        of_entry = found.values[found.values["coefficient"] == entry.name]
        rows_of = {str(row["scale"]): format_with_interval(row) for _, row in of_entry.iterrows()}
        cells = [rows_of.get(scale, "") for scale in ("graded", "binary")]
        notes = dict.fromkeys(note for note in of_entry["note"] if note)
        rows.append([entry.name, entry.label, *cells, "; ".join(notes)])
    print_table(["coefficient", "name", "graded", f"binary (from {found.level:g})", "note"], rows)
    if found.resamples:
        print_notices([f"in brackets: 95% of {found.resamples:,} bootstrap samples of {found.by}"])


def _print_narrow(title: str, frame: pd.DataFrame, keys: list[str], order: list[str] | None = None) -> None:
    """Print a line for each key with some coefficients; nothing for an empty frame."""
    if frame.empty:
        return
    graded = frame[(frame["scale"] == "graded") & frame["coefficient"].isin(COLUMNS)]
    wide = graded.pivot(index=keys, columns="coefficient", values="value")[list(COLUMNS)]
    overlap = frame[frame["coefficient"] == "overlap"].set_index(keys)["value"]
    wide = wide.assign(overlap=overlap.reindex(wide.index))
    if order is not None:
        wide = wide.loc[order] if wide.index.nlevels == 1 else wide.reindex(order, level=0)
    echo(f"\n{title}")
    rows = [
        [*(_key(key) for key in keyed), *("-" if isnan(value) else f"{value:.3f}" for value in row)]
        for keyed, row in zip(wide.index, wide.to_numpy().tolist(), strict=True)
    ]
    print_table([*("higher by" if k == "difference" else k for k in keys), *wide.columns], rows[:SHOWN])
    if len(rows) > SHOWN:
        echo(f"... {len(rows) - SHOWN:,} more; --format json has all")


def _key(key: float | int | str | datetime) -> int | str:
    """A cell of a key column: times to the minute, differences with their sign."""
    if isinstance(key, float):
        return f"{key:+.2f}"
    return key if isinstance(key, int | str) else f"{key:%Y-%m-%d %H:%M}"


def _print_conclusions(conclusions: list[Conclusion], measure: str) -> None:
    echo(f"\nthe runs by {measure} under each annotator's grades")
    if not conclusions:
        echo("There are no runs, or no two annotators who graded a pair in common.")
        return
    rows = [
        [c.a, c.b, c.topics, c.pairs, c.runs, "-" if c.note else f"{c.tau:.3f}", c.swaps, c.note] for c in conclusions
    ]
    print_table(["a", "b", "topics", "pairs", "runs", "Kendall's tau", "swaps", "note"], rows)
    for c in conclusions[:TABLES]:
        echo()
        cells = [
            [r["run"], f"{r['a']:.4f}", r["place_a"], f"{r['b']:.4f}", r["place_b"]] for r in c.table.to_dict("records")
        ]
        print_table(["run", c.a, "place", c.b, "place"], cells)
    if len(conclusions) > TABLES:
        echo(f"... {len(conclusions) - TABLES:,} more; --format json has all")
