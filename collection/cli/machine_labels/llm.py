"""`cleverdon labels llm`: labels by a language model."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.machine_labels.label_sets import describe_batch, format_money
from collection.cli.methods import Names
from collection.cli.options import COUNT, SectionedCommand, open_campaign, option_section
from collection.cli.output import confirm, echo, echo_data, print_notices, print_table, progress_line
from collection.core.errors import FormatError, InputError
from collection.core.phrases import count, number_range, percent, plural, sentence

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.answers.nugget_proposals import NuggetPlan
    from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
    from collection.campaign.machine_labels.llm.ask.requests import RequestLimits
    from collection.campaign.machine_labels.llm.label_sets import LabelReport
    from collection.campaign.machine_labels.llm.plan import CostEstimate, LabelPlan, LlmSettings, Prices, ProbePlan
    from collection.machine_labels.templates import Template
    from collection.store import LabelRow

INTERRUPTED = 130
"""Exit status after Ctrl+C, as shells write it."""

_labels, _cost, _requests = (option_section(title) for title in ("Model and prompt", "Cost", "Requests"))


@click.command(cls=SectionedCommand)
@open_campaign
@click.option("--dry-run", is_flag=True, help="Label ten random pairs and show the replies, without storing anything.")
@click.option("--probe", is_flag=True, help="Test how often the model follows requests in hostile documents.")
@click.option(
    "--task",
    type=click.Choice(["grades", "nuggets"]),
    default="grades",
    help="Grade pooled pairs, or propose the nuggets of topics with relevant documents.",
)
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Only pooled pairs of this topic; repeatable.")
@click.option("--again", is_flag=True, help="Repeat requests whose reply has no grade (with --probe, all requests).")
@click.option(
    "--batch", is_flag=True, help="Use the batch API (half the price, up to 24 hours) and wait for the labels."
)
@click.option("--cancel-batch", is_flag=True, help="Cancel the batch in progress and store its replies so far.")
@click.option("--yes", is_flag=True, help="Accept the cost without asking.")
@_labels("--model", metavar="M", help="Model, as the endpoint names it.")
@_labels("--endpoint", metavar="URL", help="OpenAI-compatible interface, such as http://127.0.0.1:8000/v1.")
@_labels("--name", metavar="NAME", help="Name of the label set; by default that of the model.")
@_labels(
    "--template",
    type=Names(family="templates"),
    default="umbrela",
    metavar="T",
    help="Prompt template (`cleverdon methods templates`), or a file with your own.",
)
@_labels("--print-template", is_flag=True, help="Print the template, as a starting point for your own.")
@_labels("--characters", type=COUNT, help="Maximum characters of a document shown to the model; 20,000 by default.")
@_labels("--temperature", type=float, help="Temperature of the model; 0 by default.")
@_labels("--max-tokens", type=COUNT, help="Maximum tokens of a reply; 500 by default.")
@_labels("--seed", type=int, help="Random seed, if the endpoint supports one.")
@_labels("--structured", is_flag=True, help="Ask for JSON by a schema; without it if the endpoint refuses.")
@_labels(
    "--samples",
    type=click.IntRange(1, 100),
    default=1,
    help="Samples of each pair; the label is their lower median.",
)
@_labels(
    "--set",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Further parameter of the requests, or null to leave one out; repeatable.",
)
@_cost("--price-in", type=click.FloatRange(min=0), metavar="X", help="Price of a million prompt tokens.")
@_cost("--price-out", type=click.FloatRange(min=0), metavar="X", help="Price of a million reply tokens.")
@_cost("--budget", type=click.FloatRange(min=0), metavar="X", help="Maximum cost of the label set, over all runs.")
@_cost("--most", type=COUNT, metavar="N", help="Maximum number of pairs in this run, chosen at random.")
@_requests(
    "--key-variable",
    default="OPENAI_API_KEY",
    metavar="NAME",
    help="Environment variable with the key of the endpoint.",
)
@_requests("--concurrency", type=click.IntRange(1, 256), default=4, help="Number of simultaneous requests.")
@_requests("--retries", type=click.IntRange(min=0), default=6, help="Maximum number of retries of a failed request.")
@_requests(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    help="Seconds without data before a request fails.",
)
@_requests(
    "--poll",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    help="Polling interval of a batch in seconds.",
)
@_requests("--stream", is_flag=True, help="Receive each reply as a stream.")
def llm(
    campaign: Campaign,
    dry_run: bool,
    probe: bool,
    task: str,
    topics: tuple[str, ...],
    again: bool,
    batch: bool,
    cancel_batch: bool,
    yes: bool,
    name: str | None,
    template: str,
    print_template: bool,
    most: int | None,
    **options: Any,
) -> None:
    """Label pooled pairs with a language model, or let it propose nuggets.

    Shows the cost and asks before it starts. The same command continues after Ctrl+C or a failure. Proposed nuggets
    count only when a manager accepts them on the page Nuggets.

    For example:
      cleverdon labels llm DIR --model M --endpoint URL --dry-run
      cleverdon labels llm DIR --model M --endpoint URL --stream --most 500 --yes
      cleverdon labels llm DIR --model M --endpoint URL --batch --yes
      cleverdon labels llm DIR --task nuggets --model M --endpoint URL
    """
    if print_template:
        echo_data(_read_template(template).text)
        return
    from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
    from collection.campaign.machine_labels.llm.ask.requests import RequestLimits

    batch = batch or cancel_batch
    _refuse_combinations(options, dry_run=dry_run, probe=probe, batch=batch)
    if task == "nuggets":
        if probe or batch or name is not None or options["structured"] or options["samples"] > 1:
            raise click.UsageError("--task nuggets: expected no --probe, --batch, --name, --structured and --samples")
        from collection.campaign.answers.nugget_proposals import CHARACTERS, REPLY_TOKENS

        options["characters"] = options["characters"] or CHARACTERS
        options["max_tokens"] = options["max_tokens"] or REPLY_TOKENS
    settings, prices = _settings(template, options), _prices(options, batch)
    if dry_run:
        options["retries"] = 0  # what fails is shown at once
    endpoint = ChatEndpoint(*(options[name] for name in ("endpoint", "key_variable", "retries", "timeout", "stream")))
    print_notices(_describe_risk(settings.endpoint))
    limits = RequestLimits(options["concurrency"], prices, options["budget"])
    limits.check(settings)
    if probe:
        planned = campaign.machine_labels.llm.plan_probe(settings, name, topics=topics, again=again, prices=prices)
        _probe(campaign, planned, endpoint, limits, yes)
        return
    if task == "nuggets":
        with progress_line("reading documents"):
            nuggets = campaign.answers.proposals.plan(settings, topics=topics, most=most, again=again, prices=prices)
        _propose_nuggets(campaign, nuggets, endpoint, limits, yes, dry_run=dry_run)
        return
    for sample in range(1, options["samples"] + 1):
        with progress_line("reading documents"):
            plan = campaign.machine_labels.llm.plan(
                settings, name, topics=topics, most=most, again=again, prices=prices, sample=sample
            )
        _print_plan(plan, options["samples"])
        if dry_run:
            _try_out(campaign, plan, endpoint, limits)
            ended = True
        elif batch:
            _label_by_batch(campaign, plan, endpoint, limits, yes, poll=options["poll"], cancel=cancel_batch)
            ended = cancel_batch
        else:
            ended = _label(campaign, plan, endpoint, limits, yes)
        if ended:
            break
    if endpoint.refuses_format:
        print_notices(["the endpoint refuses structured output: the grades were read in replies without it"])


def _refuse_combinations(options: dict[str, Any], *, dry_run: bool, probe: bool, batch: bool) -> None:
    for option, value in (("model", "M"), ("endpoint", "URL")):
        if options[option] is None:
            raise click.UsageError(f"expected --{option} {value}, found none")
    if dry_run and probe:
        raise click.UsageError("expected --dry-run or --probe, found both")
    if batch and (probe or options["stream"]):
        raise click.UsageError("--batch is for labels, which it does not stream: expected no --probe and no --stream")


def _read_template(name: str) -> Template:
    from collection.machine_labels.templates import TEMPLATES, read_template

    if name in TEMPLATES:
        return TEMPLATES[name].template()
    file = Path(name)
    if not file.is_file():
        known = ", ".join(entry.name for entry in TEMPLATES)
        raise InputError(f"template: expected one of {known}, or a file, found {name!r}")
    try:
        return read_template(file.read_text(encoding="utf-8-sig"), file.name)
    except UnicodeDecodeError:
        raise FormatError(file, None, "a prompt template in UTF-8", "other bytes") from None


def _settings(template: str, options: dict[str, Any]) -> LlmSettings:
    from collection.campaign.machine_labels.llm.plan import CHARACTERS, LlmSettings, read_parameter

    named = {name: options[name] for name in ("temperature", "max_tokens", "seed") if options[name] is not None}
    return LlmSettings(
        options["model"],
        options["endpoint"],
        _read_template(template),
        options["characters"] or CHARACTERS,
        named | dict(map(read_parameter, options["parameters"])),
        options["structured"],
    )


def _prices(options: dict[str, Any], batch: bool) -> Prices | None:
    from collection.campaign.machine_labels.llm.ask.batches import DISCOUNT
    from collection.campaign.machine_labels.llm.plan import Prices

    given = options["price_in"], options["price_out"]
    if None in given and given != (None, None):
        raise click.UsageError("expected --price-in and --price-out, found only one of them")
    if None in given:
        return None
    prices = Prices(*given)
    if not batch:
        return prices
    print_notices([f"costs are those of a batch: {percent(DISCOUNT)} of the prices of single requests"])
    return Prices(prices.prompt * DISCOUNT, prices.reply * DISCOUNT)


def _describe_risk(endpoint: str) -> list[str]:
    """Mention that what is sent can be read on the way, unless the endpoint is on this machine."""
    from collection.campaign.operations.server_state import is_loopback

    if endpoint.lower().startswith("https:") or is_loopback(endpoint):
        return []
    return [f"{endpoint} is not encrypted: others on the way can read the documents and the key"]


def _label(campaign: Campaign, plan: LabelPlan, endpoint: ChatEndpoint, limits: RequestLimits, yes: bool) -> bool:
    """Label the pairs of a plan, and tell whether the budget ended it."""
    if not plan.pairs:
        return False
    confirm(f"Label {count(len(plan.pairs), 'pair')}?", yes, "the cost")
    with progress_line("asking") as progress, _interruptible(limits.stop):
        report = campaign.machine_labels.llm.label(plan, endpoint, limits, progress)
    _print_report(report, f"of label set {plan.name}", priced=limits.prices is not None)
    _end(report, "pair")
    return report.ended == "budget"


def _label_by_batch(
    campaign: Campaign,
    plan: LabelPlan,
    endpoint: ChatEndpoint,
    limits: RequestLimits,
    yes: bool,
    *,
    poll: float,
    cancel: bool,
) -> None:
    batch = campaign.machine_labels.llm.batches.find(plan.name, plan.settings)
    if batch is not None:
        echo(sentence(describe_batch(batch)))
    elif cancel:
        echo(f"No batch is in progress for the label set {plan.name}.")
        return
    elif not plan.pairs:
        return
    else:
        confirm(f"Send {count(len(plan.pairs), 'pair')} as a batch?", yes, "the cost")
    said = "The batch continues at the endpoint. The same command waits for it."
    with progress_line("waiting for the batch") as progress, _interruptible(limits.stop, said):
        report = campaign.machine_labels.llm.label_by_batch(plan, endpoint, limits, progress, poll=poll, cancel=cancel)
    _print_report(report, f"of label set {plan.name}", priced=limits.prices is not None)
    if report.left and report.ended == "complete" and not cancel:
        echo(f"{count(report.left, 'pair')} left: the same command sends another batch.")
    _end(report, "pair")


def _try_out(campaign: Campaign, plan: LabelPlan, endpoint: ChatEndpoint, limits: RequestLimits) -> None:
    if not plan.pairs:
        return
    with progress_line("asking"), _interruptible(limits.stop):
        rows, estimate, report = campaign.machine_labels.llm.try_out(plan, endpoint, limits)
    if report.graded + report.no_grade:
        for row in rows:
            _print_answer(row)
        _print_report(report, "of the dry run, none stored", priced=limits.prices is not None)
    if not report.problem:
        _print_estimate(estimate, f"All {count(len(plan.pairs), 'pair')}")
    _end(report, "pair")


def _probe(campaign: Campaign, plan: ProbePlan, endpoint: ChatEndpoint, limits: RequestLimits, yes: bool) -> None:
    if plan.prompts:
        _print_estimate(plan.estimate, f"Probe with {count(len(plan.prompts), 'request')}")
        confirm(f"Make {count(len(plan.prompts), 'request')}?", yes, "the cost")
    with progress_line("asking") as progress, _interruptible(limits.stop):
        result, report = campaign.machine_labels.llm.probe(plan, endpoint, limits, progress)
    if result is not None:
        echo(result.summary)
        rows = [[name, n, result.followed[name], result.without_grade[name]] for name, n in result.asked.items()]
        if rows:
            print_table(["injected request", "topics", "followed", "no grade"], rows)
    _end(report, "request")


def _propose_nuggets(
    campaign: Campaign, plan: NuggetPlan, endpoint: ChatEndpoint, limits: RequestLimits, yes: bool, *, dry_run: bool
) -> None:
    left_out = [
        f"{number:,} {words}"
        for number, words in ((plan.answered, "already asked"), (plan.without_documents, "without a relevant document"))
        if number
    ]
    topics = count(len(plan.prompts), "topic")
    echo("Nuggets: " + ", ".join([f"{topics} to ask about", *left_out]))
    if not plan.prompts:
        return
    _print_estimate(plan.estimate, "Estimate", plan.spent)
    if not dry_run:
        confirm(f"Ask about {topics}?", yes, "the cost")
    with progress_line("asking") as progress, _interruptible(limits.stop):
        report = campaign.answers.proposals.ask(plan, endpoint, limits, progress, dry_run=dry_run)
    if dry_run:
        for query_id, nuggets in report.replies.items():
            echo(f"== Topic {query_id}")
            print_table(["importance", "nugget"], [[importance, text] for text, importance in nuggets])
    print_notices([f"topic {query_id} has no proposals: {problem}" for query_id, problem in report.problems.items()])
    asked = report.requests
    cost = "" if limits.prices is None else f", cost {format_money(asked.cost)}"
    tokens = f"{asked.prompt_tokens:,} prompt tokens, {asked.reply_tokens:,} reply tokens{cost}"
    answered = f"{count(asked.graded, 'topic')} answered, {asked.no_grade:,} unreadable, {asked.failed:,} failed"
    echo(f"{answered}; {tokens}")
    if not dry_run:
        echo(f"Added {count(report.proposals, 'proposal')}. Accept or reject them on the page Nuggets.")
    _end(asked, "topic")


@contextmanager
def _interruptible(
    stop: threading.Event,
    said: str = "Waiting for the requests in progress; press Ctrl+C again to abandon them.",
) -> Iterator[None]:
    """Make the first Ctrl+C set `stop`, which lets requests in progress finish; the second one interrupts as usual."""

    def interrupt(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        # Not through the buffer of stderr, which the interrupted code may be writing to.
        os.write(2, f"\n{said}\n".encode())

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(report: LabelReport, what: str) -> None:
    """Say what was not asked and why requests ended early, and exit with the status that belongs to it."""
    from collection.campaign.machine_labels.llm.ask.endpoint import EndpointError

    if report.closed:
        have = plural(report.closed, "has", "have")
        print_notices(
            [f"{count(report.closed, what)} {have} been answered since the plan and {have} not been sent again"]
        )
    if report.late:
        echo(f"{count(report.late, what)} had been labelled before the batch ended: the first grade counts.")
    if report.last_failure is not None and report.problem is None:
        print_notices([f"the last failed request: {report.last_failure}"])
    if report.overrun is not None and report.problem is None:
        print_notices([report.overrun])
    rest = f"{count(report.left, what)} left. The same command continues."
    if report.ended == "budget":
        left = count(report.left, what)
        echo(f"The budget is used up: {left} left. The same command with a larger --budget continues.")
    elif report.ended == "stopped":
        echo(f"Stopped: {rest}")
        click.get_current_context().exit(INTERRUPTED)
    elif report.problem is not None:
        raise EndpointError(report.problem)


def _print_plan(plan: LabelPlan, samples: int) -> None:
    """Print what a plan would ask, and for several samples which of them it is."""
    left_out = [
        f"{number:,} {words}"
        for number, words in ((plan.answered, "already answered"), (plan.without_text, "without a text"))
        if number
    ]
    if samples > 1:
        echo(f"Sample {plan.sample} of {samples}")
    if samples > 1 and plan.sample == 1 and plan.settings.request.get("temperature") == 0:
        print_notices(["the temperature is 0: samples of a pair will hardly differ; choose another --temperature"])
    echo(f"Label set {plan.name}: " + ", ".join([f"{count(len(plan.pairs), 'pair')} to label", *left_out]))
    if plan.pairs:
        _print_estimate(plan.estimate, "Estimate", plan.spent)


def _print_estimate(estimate: CostEstimate, what: str, spent: float = 0.0) -> None:
    low, high = estimate.reply_tokens
    replies = f"{round(low):,} or more" if high is None else number_range(low, high)
    source = f"from {count(estimate.measured, 'answer')}" if estimate.measured else "from the number of characters"
    echo(f"{what}: {round(estimate.prompt_tokens):,} prompt tokens, {replies} reply tokens ({source})")
    if estimate.cost is None:
        echo("Add --price-in and --price-out to see the cost.")
        return
    least, most = estimate.cost
    lowest, highest = format_money(least), "" if most is None else format_money(most)
    cost = lowest if lowest == highest else f"{lowest} to {highest}" if highest else f"{lowest} or more"
    echo(f"Cost: {cost}" + (f", and {format_money(spent)} so far" if spent else ""))


def _print_report(report: LabelReport, of: str, *, priced: bool) -> None:
    parts = [f"{report.graded:,} graded", f"{report.no_grade:,} without a grade", f"{report.failed:,} failed"]
    tokens = f"{report.prompt_tokens:,} prompt tokens, {report.reply_tokens:,} reply tokens"
    pairs = report.graded + report.no_grade + report.failed
    cost = f", cost {format_money(report.cost)}" if priced else ""
    echo(f"{count(pairs, 'pair')} {of}: {', '.join(parts)}; {tokens}{cost}")


def _print_answer(row: LabelRow) -> None:
    grade = f"grade {row.relevance:g}" if row.relevance is not None else f"{row.status} ({row.problem})"
    facts = [
        "" if row.seconds is None else f"{row.seconds:.1f} s",
        "" if row.prompt_tokens is None else f"{row.prompt_tokens:,} + {row.reply_tokens or 0:,} tokens",
        "" if row.cost is None else f"cost {format_money(row.cost)}",
    ]
    echo(f"== Topic {row.query_id}, document {row.doc_id}: " + ", ".join([grade, *filter(None, facts)]))
    if row.status == "failed":
        return
    for message in json.loads(row.prompt or "[]"):
        echo(f"-- {message['role']}\n{message['content']}")
    echo(f"-- reply\n{row.reply or ''}\n")
