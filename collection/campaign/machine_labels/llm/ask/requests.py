"""Requests for grades, asked within a budget and turned into rows of labels."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from collection.campaign.machine_labels.llm.ask.endpoint import (
    Answer,
    ChatEndpoint,
    ChatRequestError,
    EndpointError,
    ask_all,
)
from collection.campaign.machine_labels.llm.plan import LlmSettings, Prices, estimate_tokens, prompt_tokens
from collection.core import clock
from collection.core.errors import InputError
from collection.core.records import GradeScale
from collection.machine_labels.replies import read_grade
from collection.machine_labels.templates import Prompt
from collection.store import LabelRow

FAILURES = 10
"""Failed requests in a row after which no more are made."""

_ROUNDING = 1 + 1e-9
"""Factor by which sums of costs may differ by rounding alone."""

Ended = Literal["complete", "budget", "stopped", "failed"]


class LabelRequest(NamedTuple):
    """A request for the grade of a pair; `doc_id` may also be the name of a request of an injection probe."""

    query_id: str
    doc_id: str
    prompt: Prompt
    attempt: int = 0
    """Number of earlier answers or failures, so that a repeated question has another key."""
    sample: int = 1
    """Number of the sample of the pair."""


@dataclass(eq=False)
class RequestLimits:
    """Limits of a run: requests at a time, and when no more are made.

    `spent` is the cost so far, to which `budget` applies as well; `stop` is set from elsewhere to end early.
    """

    concurrency: int = 4
    prices: Prices | None = None
    budget: float | None = None
    spent: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self, settings: LlmSettings) -> None:
        """Raise InputError for a budget without prices, or without a limit for the length of a reply."""
        if self.budget is None:
            return
        if self.prices is None:
            raise InputError("budget: expected prices of tokens as well; add --price-in and --price-out")
        if settings.reply_limit is None:
            raise InputError("budget: expected a limit for the length of replies; add --max-tokens")


@dataclass(eq=False)
class LabelRequests:
    """Asks an endpoint for grades; iterating yields a row for each answer or failure as it arrives.

    An answer that arrives after the end of the budget, after `stop`, or after a failure that concerns all requests is
    yielded too, since it is paid.

    Parameters
    ----------
    identity
        What distinguishes these requests from all others of the same pairs: the campaign, label set and settings.
    """

    requests: Iterator[LabelRequest]
    endpoint: ChatEndpoint
    settings: LlmSettings
    grades: GradeScale
    identity: str
    limits: RequestLimits
    ended: Ended = field(default="complete", init=False)
    problem: str | None = field(default=None, init=False)
    """Why no more requests are made, if `ended` is "failed"."""
    _next: LabelRequest | None = field(default=None, init=False)
    overrun: str | None = field(default=None, init=False)
    """Why an answer cost more than its request could have cost at most."""
    _reserved: dict[str, float] = field(default_factory=dict, init=False)
    """Key of a request under way -> largest cost that it can have, if the endpoint keeps to the limits."""
    _excess: float | None = field(default=None, init=False)
    """How much of its largest cost an answer has cost, at most and at least 1; None before the first answer."""
    _failures: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[LabelRow]:
        for answered in ask_all(self._ask, self._take, self.limits.concurrency):
            request, error = answered.request, answered.error
            reserved = self._reserved.pop(request_key(self.identity, request), 0.0)
            if isinstance(error, EndpointError):
                self._fail(str(error))
                continue
            if error is not None and not isinstance(error, ChatRequestError):
                raise error
            row = label_row(request, answered.answer, error, self.grades, self.limits.prices)
            self._pay(row, reserved)
            self._failures = self._failures + 1 if row.status == "failed" else 0
            if self._failures == FAILURES:
                self._fail(f"{FAILURES} requests in a row failed, the last one with: {row.problem}")
            yield row

    def _pay(self, row: LabelRow, reserved: float) -> None:
        """Count what an answer really cost: later requests may exceed their largest cost as much as it did."""
        cost, budget = row.cost or 0.0, self.limits.budget
        self.limits.spent += cost
        if budget is None or row.cost is None:
            return
        excess = cost / reserved if reserved else 1.0
        if excess > (self._excess or 1.0) * _ROUNDING:
            self.overrun = describe_overrun(row, reserved, self.settings)
        self._excess = max(excess, self._excess or 1.0)
        if self.limits.spent > budget * _ROUNDING:
            self._fail(f"{describe_excess(self.limits.spent, budget)}; {self.overrun}")

    def _fail(self, problem: str) -> None:
        self.ended, self.problem = "failed", self.problem or problem

    def _take(self) -> LabelRequest | None:
        """The next request; None if there is none, or none at present."""
        if self.ended == "failed":
            return None
        self._next = self._next or next(self.requests, None)
        if self._next is None:
            self.ended = "complete"  # also if a request had to wait for the budget
            return None
        if self.limits.stop.is_set():
            self.ended = "stopped"
            return None
        most = largest_cost(self._next, self.settings, self.limits.prices)
        if (budget := self.limits.budget) is not None:
            if self.limits.spent + (self._excess or 1.0) * (sum(self._reserved.values()) + most) > budget:
                self.ended = "budget"
                return None
            if self._excess is None and self._reserved:
                return None  # until the first answer has shown whether the endpoint keeps to the limits
        request, self._next = self._next, None
        self._reserved[request_key(self.identity, request)] = most
        return request

    def _ask(self, request: LabelRequest) -> Answer:
        settings, key = self.settings, request_key(self.identity, request)
        parameters = settings.request_of(request.sample, self.grades)
        return self.endpoint.ask(settings.model, request.prompt.messages, parameters, key)


def request_key(identity: str, request: LabelRequest) -> str:
    """Return a text that only the same request has; `identity` is that of :class:`LabelRequests`."""
    parts = [identity, request.query_id, request.doc_id, *request.prompt, str(request.attempt)]
    parts += [f"sample {request.sample}"] * (request.sample > 1)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def largest_cost(request: LabelRequest, settings: LlmSettings, prices: Prices | None) -> float:
    """The largest cost that a request can have; 0 without prices."""
    return prices.cost(prompt_tokens(request.prompt), settings.reply_limit or 0) if prices else 0.0


def describe_excess(spent: float, budget: float) -> str:
    """State that more was spent than the budget."""
    return f"the label set has cost {spent:.4g}, more than the budget of {budget:g}"


def describe_overrun(row: LabelRow, expected: float, settings: LlmSettings) -> str:
    """State which answer cost more than expected at most, and why."""
    cost = f"an answer cost {row.cost or 0.0:.4g}, expected at most {expected:.4g}"
    if row.reply_tokens is not None and row.reply_tokens > (settings.reply_limit or 0):
        return (
            f"{cost}: it has {row.reply_tokens:,} tokens, so the endpoint ignores max_tokens {settings.reply_limit:,}"
        )
    return f"{cost} (topic {row.query_id}, document {row.doc_id})"


def label_row(
    request: LabelRequest,
    answer: Answer | None,
    error: BaseException | None,
    grades: GradeScale,
    prices: Prices | None,
) -> LabelRow:
    """The row of an answer, or of the error that came instead."""
    prompt = json.dumps(request.prompt.messages, ensure_ascii=False)
    if answer is None:
        return LabelRow(
            request.query_id,
            request.doc_id,
            status="failed",
            relevance=None,
            labelled_at=clock.now(),
            prompt=prompt,
            # A reply that was too long to be read is paid nevertheless.
            cost=prices.cost(prompt_tokens(request.prompt), error.tokens)
            if prices is not None and isinstance(error, ChatRequestError) and error.tokens
            else None,
            problem=str(error),
            sample=request.sample,
        )
    reply = read_grade(answer.text, grades, answer.finish)
    return LabelRow(
        request.query_id,
        request.doc_id,
        status="no grade" if reply.grade is None else "graded",
        relevance=None if reply.grade is None else float(reply.grade),
        labelled_at=clock.now(),
        prompt=prompt,
        reply=answer.text,
        model=answer.model,
        revision=answer.revision,
        prompt_tokens=answer.prompt_tokens,
        reply_tokens=answer.reply_tokens,
        cost=None if prices is None else _cost(request, answer, prices),
        seconds=answer.seconds,
        problem=reply.problem,
        sample=request.sample,
    )


def _cost(request: LabelRequest, answer: Answer, prices: Prices) -> float:
    """The cost of an answer; estimated from characters if the endpoint tells no tokens."""
    prompt = prompt_tokens(request.prompt) if answer.prompt_tokens is None else answer.prompt_tokens
    reply = estimate_tokens(answer.text or "") if answer.reply_tokens is None else answer.reply_tokens
    return prices.cost(prompt, reply)
