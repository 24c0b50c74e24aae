"""Labels by batches: requests that an endpoint answers together within a day, at a lower price.

A batch is remembered before it is made, so that whoever was killed at any moment finds it again: by its id, or by the
mark in its metadata. Its answers are stored in one transaction with its end, so none is stored twice.

Source: https://platform.openai.com/docs/guides/batch, which other servers have copied.
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from collection.campaign.log.results import ProgressCallback
from collection.campaign.machine_labels.label_sets import BATCHES
from collection.campaign.machine_labels.llm.ask.endpoint import (
    RESPONSE_FORMAT,
    Answer,
    ChatEndpoint,
    ChatRequestError,
    EndpointError,
    read_completion,
)
from collection.campaign.machine_labels.llm.ask.requests import (
    FAILURES,
    LabelRequest,
    RequestLimits,
    label_row,
    largest_cost,
)
from collection.campaign.machine_labels.llm.label_sets import LabelReport, LabelWriter, LlmLabelSets, Tally
from collection.campaign.machine_labels.llm.plan import LabelPlan, LlmSettings, Question
from collection.core import clock
from collection.core.errors import CampaignError
from collection.machine_labels.templates import Prompt
from collection.store import LogCount, Store

DISCOUNT = 0.5
"""Price of a request in a batch, as a part of that of a single one."""

MOST_REQUESTS, MOST_BYTES = 50_000, 100_000_000
"""Requests of a batch, and bytes of its file; OpenAI takes 200 MB."""

_MARK = "cleverdon"
"""Metadata key that identifies a batch before its id is known."""
_LONGEST_ID = 500
_NEWEST = 1000
"""Batches of an endpoint among which one is looked for; the newest come first."""
_ENDED = {"completed", "failed", "expired", "cancelled"}
_PATH = "/v1/chat/completions"


class Batch(NamedTuple):
    """A batch in progress."""

    name: str
    """Name of its label set, which need not exist yet."""
    mark: str
    id: str | None
    """As the endpoint names it; None if it is not known, or contains the key and is therefore not stored."""
    requests: int
    sent_at: str


@dataclass(eq=False)
class LlmBatches:
    """Batches of requests: sent, waited for, and stored as labels."""

    store: Store
    label_sets: LlmLabelSets

    def under_way(self) -> list[Batch]:
        """The batches whose answers are not stored yet, one for each label set at most."""
        return [Batch(name, *rest) for name, rest in self.store.settings.get(BATCHES, {}).items()]

    def find(self, name: str, settings: LlmSettings | None = None) -> Batch | None:
        """The batch in progress for a label set; CampaignError if it was sent with other settings."""
        batch = next((each for each in self.under_way() if each.name == name), None)
        if batch and settings and self._sent(batch)["settings"] != self.label_sets.record(settings):
            raise CampaignError(
                f"a batch of {batch.requests:,} requests is in progress for the label set {name!r}, sent with other "
                "settings; repeat them to collect it, or choose another --name"
            )
        return batch

    def pairs(self, batch: Batch) -> list[Question]:
        """The pairs that a batch asks about, in its order."""
        return [(query_id, doc_id) for query_id, doc_id, *_ in self._sent(batch)["pairs"]]

    def sample(self, batch: Batch) -> int:
        """The number of the sample that a batch asks for."""
        return int(self._sent(batch).get("sample", 1))

    def send(
        self, plan: LabelPlan, requests: Iterator[LabelRequest], endpoint: ChatEndpoint, limits: RequestLimits
    ) -> Batch | None:
        """Send requests as one batch, as many as its size and the budget allow; None if these allow none."""
        settings = plan.settings
        batch = Batch(plan.name, uuid.uuid4().hex, None, 0, clock.now())
        lines, pairs, size, cost = list[bytes](), list[list[object]](), 0, limits.spent
        for request in islice(requests, MOST_REQUESTS):
            # Without structured output: an endpoint that refuses it would refuse every request of the batch.
            parameters = settings.request_of(request.sample, self.label_sets.settings.grades)
            parameters.pop(RESPONSE_FORMAT, None)
            body = {"model": settings.model, "messages": request.prompt.messages, **parameters}
            line = {"custom_id": f"{batch.mark}-{len(lines)}", "method": "POST", "url": _PATH, "body": body}
            lines.append(json.dumps(line).encode())
            size, cost = size + len(lines[-1]) + 1, cost + largest_cost(request, settings, limits.prices)
            if size > MOST_BYTES or (limits.budget is not None and cost > limits.budget):
                lines.pop()
                break
            pair = request.query_id, request.doc_id
            pairs.append([*pair, _digest(request.prompt), plan.answers[pair]])
        if not lines:
            return None
        file, headers = ("requests.jsonl", b"\n".join(lines)), endpoint.headers
        with _required(endpoint):
            sent = endpoint.client.files.create(file=file, purpose="batch", extra_headers=headers)
        batch = batch._replace(requests=len(lines))
        with self.store.transaction():
            self._keep(batch)
            facts = {"settings": plan.record, "pairs": pairs, "sample": plan.sample}
            self.store.settings.put_text(_text_of(batch), json.dumps(facts))
        return self._make(batch, sent.id, endpoint)

    def _make(self, batch: Batch, file: str, endpoint: ChatEndpoint) -> Batch:
        import openai

        # Not repeated: a server that ignores the key would make, and charge, two batches.
        client = endpoint.client.with_options(max_retries=0)
        with _required(endpoint):
            try:
                created = client.batches.create(
                    input_file_id=file,
                    endpoint=_PATH,
                    completion_window="24h",
                    metadata={_MARK: batch.mark},
                    extra_headers={"Idempotency-Key": batch.mark, **endpoint.headers},
                )
            except openai.APIStatusError as error:
                # Refused; after a lost connection, or an error of a gateway, it may have been made.
                if error.status_code < 500 and error.status_code not in (408, 409):
                    with self.store.transaction():
                        self._forget(batch)
                raise
        return self._adopt(batch, created.id, endpoint)

    def recover(self, batch: Batch, endpoint: ChatEndpoint) -> Batch | None:
        """Find the id of a batch at the endpoint; None, and it is forgotten, if it was never made."""
        if batch.id is not None:
            return batch
        with _required(endpoint):
            batches = endpoint.client.batches.list(limit=100, extra_headers=endpoint.headers)
            for each in islice(batches, _NEWEST):
                if (each.metadata or {}).get(_MARK) == batch.mark:
                    return self._adopt(batch, each.id, endpoint)
        with self.store.transaction():
            self._forget(batch)
        return None

    def cancel(self, batch: Batch, endpoint: ChatEndpoint) -> None:
        """Ask the endpoint to end a batch; one that it does not know is forgotten."""
        import openai

        with _required(endpoint):
            try:
                endpoint.client.batches.cancel(batch.id, extra_headers=endpoint.headers)
            except openai.NotFoundError:
                with self.store.transaction():
                    self._forget(batch)
            except (openai.BadRequestError, openai.ConflictError):  # it has ended
                return

    def wait(
        self,
        batch: Batch,
        endpoint: ChatEndpoint,
        stop: threading.Event,
        poll: float,
        progress: ProgressCallback | None,
    ) -> Any:
        """Wait for the end of a batch, and return it as the endpoint describes it; None after `stop`."""
        failures = 0
        while True:
            try:
                with endpoint.errors():
                    state = endpoint.client.batches.retrieve(batch.id, extra_headers=endpoint.headers)
                    if state.status in _ENDED:
                        return state
                    if progress is not None and state.request_counts is not None:
                        progress(batch.name, state.request_counts.completed, batch.requests)
                failures = 0
            except EndpointError as error:
                hint = "--cancel-batch forgets a batch that the endpoint does not know"
                name = endpoint.clean(str(batch.id))
                raise EndpointError(f"batch {name} of the label set {batch.name}: {error}; {hint}") from None
            except ChatRequestError as error:  # a batch takes hours: a network may be away for a while
                failures += 1
                if failures == FAILURES:
                    raise EndpointError(str(error)) from None
            if stop.wait(poll):
                return None

    def store_answers(
        self,
        batch: Batch,
        ended: Any,
        plan: LabelPlan,
        requests: Iterator[LabelRequest],
        endpoint: ChatEndpoint,
        limits: RequestLimits,
    ) -> LabelReport:
        """Store the answers of a batch that has ended; `requests` are those of its :meth:`pairs`, in this order.

        Pairs whose topic or document has been removed have no request. Pairs that have been answered otherwise keep
        their first grade; the answers of the batch are stored in the log, since they are paid.
        """
        with _required(endpoint):
            results = _results(ended, endpoint)
        refused = [each.message for each in (ended.errors and ended.errors.data) or []]
        if refused and not results:
            with self.store.transaction():
                self._forget(batch)
            raise EndpointError(endpoint.clean(f"{endpoint.url} refuses the batch: {refused[0]}"))
        tally, late = Tally(), 0
        rows = []
        counts = self.label_sets.log_counts(self.label_sets.find(batch.name, plan.settings), sample=plan.sample)
        request = next(requests, None)
        for number, sent in enumerate(self._sent(batch)["pairs"]):
            query_id, doc_id, digest, before = [*sent, 0][:4]  # batches of earlier versions have no number of answers
            if request is None or (request.query_id, request.doc_id) != (query_id, doc_id):
                continue  # its topic or document has been removed
            answer, error = _read(results.get(f"{batch.mark}-{number}"), ended.status, endpoint)
            late += answer is not None and counts.get((query_id, doc_id), LogCount()).answers > before
            row = label_row(request, answer, error, self.label_sets.settings.grades, limits.prices)
            if _digest(request.prompt) != digest:
                row = row._replace(status="failed", relevance=None, problem="its text changed while the batch ran")
            rows.append(row)
            tally.add(row)
            request = next(requests, None)
        with self.store.transaction():
            self._forget(batch)
            LabelWriter(self.label_sets, plan, self.store.machine_labels.add)(rows)
        return tally.report("complete")._replace(late=late)

    def _sent(self, batch: Batch) -> Any:
        return json.loads(self.store.settings.text(_text_of(batch)))

    def _keep(self, batch: Batch) -> None:
        batches = self.store.settings.get(BATCHES, {})
        self.store.settings.put(BATCHES, {**batches, batch.name: list(batch[1:])})

    def _adopt(self, batch: Batch, id: object, endpoint: ChatEndpoint) -> Batch:
        if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
            raise EndpointError(f"{endpoint.url} gives a batch no id: expected up to {_LONGEST_ID} characters")
        if not endpoint.has_key(id):
            with self.store.transaction():
                self._keep(batch._replace(id=id))
        return batch._replace(id=id)

    def _forget(self, batch: Batch) -> None:
        rest = {each.name: list(each[1:]) for each in self.under_way() if each.name != batch.name}
        self.store.settings.put(BATCHES, rest)
        self.store.settings.put_text(_text_of(batch), "")


@contextmanager
def _required(endpoint: ChatEndpoint) -> Iterator[None]:
    """Whatever goes wrong within ends the labelling; the same command continues it."""
    try:
        with endpoint.errors():
            yield
    except ChatRequestError as error:
        raise EndpointError(str(error)) from None


def _text_of(batch: Batch) -> str:
    """Name of the long text with what a batch was sent with."""
    return f"batch of {batch.name}"


def _digest(prompt: Prompt) -> str:
    return hashlib.sha256(json.dumps(prompt).encode()).hexdigest()[:16]


def _results(ended: Any, endpoint: ChatEndpoint) -> dict[str, dict[str, Any]]:
    """Custom id -> line of the files with answers and with errors, which come in any order."""
    results: dict[str, dict[str, Any]] = {}
    for file in filter(None, (ended.output_file_id, ended.error_file_id)):
        content = endpoint.client.files.content(file, extra_headers=endpoint.headers).content
        for line in content.split(b"\n"):
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # a line that is no result
                result = json.loads(line)
                results.setdefault(result["custom_id"], result)
    return results


def _read(
    result: dict[str, Any] | None, status: str, endpoint: ChatEndpoint
) -> tuple[Answer | None, ChatRequestError | None]:
    """The answer in a line of the results, or the error in its place."""
    from openai.types.chat import ChatCompletion

    try:
        with endpoint.errors():
            if result is None:
                raise ChatRequestError(endpoint.clean(f"the batch has no answer to it ({status})"))
            response: Any = result.get("response") or {}
            body = response.get("body")
            if response.get("status_code") == 200:
                return endpoint.cleaned(read_completion(ChatCompletion.construct(**body))), None
            error = result.get("error") or body["error"]
            code = f"HTTP {response['status_code']}: " if response.get("status_code") else ""
            raise ChatRequestError(endpoint.clean(f"{code}{error['message']}"))
    except ChatRequestError as error:
        return None, error
