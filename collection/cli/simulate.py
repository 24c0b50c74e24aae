"""`cleverdon simulate`: judging replayed on known qrels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import (
    CLUSTER,
    COUNT,
    FILE,
    INPUT,
    WRITTEN,
    SectionedCommand,
    expand_documents,
    expand_folders,
    form_option,
    grade,
    option_section,
)
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.core.phrases import count, join, percent, percent_down, plural

if TYPE_CHECKING:
    import pandas as pd

    from collection.formats import Source
    from collection.simulation import Results
    from collection.simulation.cases import CaseScope
    from collection.simulation.experiment import Priors


_input, _replay, _risk = option_section("Input"), option_section("Replay"), option_section("Promise across topics")


@click.command(cls=SectionedCommand)
@_input(
    "--documents", multiple=True, required=True, type=FILE, help="Documents (JSONL, TSV, CSV), or a folder of them."
)
@_input("--topics", required=True, type=INPUT, help="Topics (TSV, JSONL, TREC SGML, XML).")
@_input("--qrels", "qrels_file", required=True, type=INPUT, help="Known grades as TREC qrels.")
@_input("--run", "runs", multiple=True, type=FILE, help="TREC run, or a folder of runs; repeatable.")
@_input("--labels", type=INPUT, help="Machine labels in the form of qrels, which can lead the loop.")
@_input("--relevance-level", metavar="G", type=grade, default=1, help="Minimum relevant grade.")
@_input("--min-relevant", type=COUNT, default=1, help="Minimum number of relevant documents per topic.")
@_input(
    "--scope",
    type=click.Choice(["all", "prefix", "judged"]),
    default="all",
    help="Documents of a topic; prefix: ids that start with QUERY_ID- (systematic reviews); judged: with a grade.",
)
@_replay(
    "--strategy",
    "strategies",
    multiple=True,
    type=Names("loop", "loop-text", "loop-labels", "loop-text-labels", family="strategies"),
    metavar="S",
    help="loop (default), loop-text (no runs), each with -labels if --labels lead it, or a pooling strategy; "
    "repeatable.",
)
@_replay(
    "--learner",
    "learners",
    multiple=True,
    type=Names(family="learners"),
    metavar="L",
    help="Learner (`cleverdon methods learners`); repeatable.",
)
@_replay(
    "--stop",
    "stops",
    multiple=True,
    type=Names(family="stopping"),
    metavar="R",
    help="Stopping rule (`cleverdon methods stopping`); repeatable.",
)
@_replay(
    "--batch",
    "schedule",
    type=Names("twentieth", "1", "10", "bmi"),
    default="twentieth",
    help="Judgements between training rounds; twentieth: 5% of those made; bmi: 10% more each time.",
)
@_replay("--seeds", type=COUNT, default=1, help="Number of replays, with seeds 0, 1, ...")
@_replay(
    "--priors",
    default="none",
    metavar="N,M|none|FILE",
    help="Known grades: N relevant and M irrelevant documents at random, or a file of `query_id doc_id [seed]`.",
)
@_risk(
    "--risk",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="ALPHA",
    help="Largest expected loss (1 - recall) of a topic; calibrate stopping rules on random topics.",
)
@_risk("--calibration-topics", type=COUNT, help="Number of calibration topics (default: half of the topics).")
@_risk("--splits", type=COUNT, default=200, help="Number of random splits into calibration topics and others.")
@form_option("table", "tsv")
@CLUSTER
@click.option("--curves", type=WRITTEN, help="File to write gain curves to, as TSV.")
def simulate(
    documents: tuple[Path, ...],
    topics: Source,
    qrels_file: Source,
    runs: tuple[Path, ...],
    labels: Source | None,
    strategies: tuple[str, ...],
    learners: tuple[str, ...],
    priors: str,
    relevance_level: float,
    min_relevant: int,
    scope: CaseScope,
    risk: float | None,
    calibration_topics: int | None,
    splits: int,
    form: str,
    curves: Path | None,
    **settings: Any,
) -> None:
    """Replay judging on known qrels to compare strategies.

    Shows the judgements needed for each recall, the work saved, and where stopping rules would stop. With --labels, the
    default strategies are loop and loop-labels, so that the difference is what the labels would have saved.

    For example:
      cleverdon simulate --documents d.jsonl --topics t.tsv --qrels q.txt
    """
    from collection import formats, pooling
    from collection.active_learning.training_round import Recipe
    from collection.machine_labels.model_families import warn_of_model
    from collection.simulation import cases, simulate as replay
    from collection.simulation.experiment import LED_BY_LABELS

    ranked = list(formats.read_runs(expand_folders(runs)))
    wanted = strategies or (("loop",) if labels is None else ("loop", "loop-labels"))
    pooled = [s for s in wanted if s in pooling.STRATEGIES]
    if labels is None and (led := [s for s in wanted if s in LED_BY_LABELS]):
        raise click.UsageError(f"{join(led)} {plural(len(led), 'needs', 'need')} labels: add --labels")
    if pooled and not ranked:
        raise click.UsageError(f"{join(pooled)} {plural(len(pooled), 'needs', 'need')} runs: add --run")
    frame = formats.read_qrels(qrels_file)
    warn_of_model(qrels_file)
    all_topics = formats.read_topics(topics)
    notices: list[str] = []
    if risk is not None:  # also the rule whose promise holds for each topic
        settings |= {"stops": tuple(dict.fromkeys((*settings["stops"], "betting"))), "target": 1 - risk}
    with progress_line("reading documents") as progress:
        ready = cases(
            (document for path in expand_documents(documents) for _, document in formats.read_documents(path)),
            all_topics,
            frame,
            ranked,
            scope=scope,
            pools=pooled,
            level=relevance_level,
            least=min_relevant,
            labels=None if labels is None else formats.read_qrels(labels),
            notice=notices.append,
        )
        # Known grades replace the topic's text and the presumed examples.
        recipe = (Recipe if priors == "none" else Recipe.with_priors)(level=relevance_level)
        results = replay(
            ready,
            strategies=wanted,
            learners=learners or (recipe.learner,),
            recipe=recipe,
            **settings,
            keep_ledgers=risk is not None,
            priors=_read_priors(priors, relevance_level),
            progress=lambda query_id, number: progress(f"topic {query_id}", number, len(all_topics)),
        )
    if curves is not None:
        formats.write_table(results.curves, curves)
    if risk is not None:
        from collection.simulation import compare_promises

        promises = compare_promises(results, risk, calibration_topics=calibration_topics, splits=splits)
    if form == "tsv":
        print_notices(notices)
        table = results.values if risk is None else promises
        echo_data(table.to_csv(sep="\t", index=False, na_rep="nan", lineterminator="\n"), nl=False)
        return
    _print_means(results, 0.9 if risk is None else 1 - risk, notices)
    if risk is not None:
        _print_promises(results, promises, risk, calibration_topics, splits, notices)
    print_notices(notices)


def _print_means(results: Results, target: float, notices: list[str]) -> None:
    from collection.simulation import LOOPS
    from collection.simulation.experiment import LED_BY_LABELS

    means = results.means()
    topics, seeds = results.values["query_id"].nunique(), results.values["seed"].nunique()
    scope = count(topics, "topic") + (f" and {seeds} seeds" if seeds > 1 else "")
    echo(f"means over {scope}; {means['documents'].iloc[0]:,.0f} documents per topic")
    plain = [name for name in means.columns if ":" not in str(name) and name != "documents"]
    rows = [
        [*key, *map(_format_value, plain, values)]
        for key, values in zip(means.index.tolist(), means[plain].to_numpy().tolist(), strict=True)
    ]
    print_table(["strategy", "learner", *plain], rows, numbers=True)
    stops = list(dict.fromkeys(str(name).partition(":")[2] for name in means.columns if ":" in str(name)))
    goal = f"{percent_down(target)} recall"
    if stops:
        echo()
        columns = {"judgements": "judgements", "recall": "recall", "reached": f"{goal} reached", "cost": "cost"}
        body = [
            [*key, rule, *(_format_value(name, means.loc[key, f"{name}:{rule}"]) for name in columns)]
            for key in means.index.tolist()
            for rule in stops
        ]
        print_table(["strategy", "learner", "stopped by", *columns.values()], body, numbers=True)
    notices.append(
        "judgements@80: judgements needed for 80% recall; WSS@95: work saved at 95% recall; ATD: mean number of "
        "judgements until a relevant document is found; R@R: recall after as many judgements as relevant documents"
    )
    if stops:
        notices.append(f"cost: judgements until the stop, or until {goal} if the rule stops before")
    if any(strategy in LED_BY_LABELS for strategy, _ in means.index):
        notices.append("labels order documents; recall counts the grades of the qrels alone")
    if any(strategy not in LOOPS for strategy, _ in means.index):
        notices.append("after its own documents, a pooling strategy continues with the others in random order")


def _print_promises(
    results: Results,
    promises: pd.DataFrame,
    alpha: float,
    calibration_topics: int | None,
    splits: int,
    notices: list[str],
) -> None:
    """Print the promise across topics next to the others, and a plan for a campaign of the same size."""
    from collection.stopping.risk_control import DEFAULT_FAMILY, costs_from_topics, measure_losses, plan

    ledgers = next(iter(results.ledgers.values()))
    n, goal = calibration_topics or len(ledgers) // 2, percent_down(1 - alpha)
    echo()
    of = f"{count(n, 'calibration topic')} of {len(ledgers):,}, {count(splits, 'random split')}"
    echo(f"expected recall of at least {goal} across topics; {of}")
    header = ["strategy", "learner", "rule", "recall", f"splits below {goal}", "judgements per topic", "in all"]
    below = ["-" if math.isnan(share) else percent(share) for share in promises["below"].tolist()]
    body = [
        [r.strategy, r.learner, r.rule, f"{r.recall:.3f}", share, f"{r.judgements:,.0f}", f"{r.total:,.0f}"]
        for r, share in zip(promises.itertuples(index=False), below, strict=True)
    ]
    print_table(header, body, numbers=True)
    if not promises["promised"].all():
        notices.append(f"{count(n, 'calibration topic')} cannot support {goal}: every document is judged")
    notices.append("in all: with the calibration topics, which are judged completely")
    notices.append(f"betting: {goal} with 95% confidence in each topic, without calibration topics")
    measured = measure_losses(ledgers, DEFAULT_FAMILY)
    size = round(sum(ledger.size for ledger in ledgers) / len(ledgers))
    cost_plan = plan(len(ledgers), size, alpha, costs_from_topics(measured, alpha), basis="this replay")
    notices.append(f"plan for a campaign of this size, rule {DEFAULT_FAMILY}: {cost_plan.advice}")


def _format_value(measure: object, value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if str(measure).startswith(("judgements", "ATD", "cost")) else f"{value:.3f}"


def _read_priors(text: str, level: float) -> Priors:
    """Read the value of `--priors`: none, numbers of random documents, or a file."""
    from collection.core.errors import FormatError, InputError
    from collection.simulation.experiment import draw_priors, list_priors

    if text == "none":
        return None
    numbers = text.split(",")
    if len(numbers) == 2 and all(n.strip().lstrip("-").isdecimal() for n in numbers):
        if "-" in text:
            raise InputError(f"--priors: expected two numbers, 0 or more, such as 1,1; found {text!r}")
        return draw_priors(int(numbers[0]), int(numbers[1]), level)
    path = Path(text)
    if not path.is_file():
        raise InputError(f"--priors: expected none, two numbers such as 1,1, or an existing file; found {text!r}")
    listed: dict[tuple[str, int | None], list[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        cells = line.split()
        if not cells or cells[0] == "query_id":
            continue
        if len(cells) not in (2, 3) or (len(cells) == 3 and not cells[2].isdecimal()):
            raise FormatError(path, number, "query_id doc_id [seed]", line)
        listed.setdefault((cells[0], int(cells[2]) if len(cells) == 3 else None), []).append(cells[1])
    return list_priors(listed)
