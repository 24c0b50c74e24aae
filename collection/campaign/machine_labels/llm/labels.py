"""Labels by language models: cost estimate, trial, labelling with resumption, and the probe for injected requests."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.results import ProgressCallback
from collection.campaign.machine_labels.llm.ask.batches import LlmBatches
from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
from collection.campaign.machine_labels.llm.ask.requests import Ended, LabelRequest, RequestLimits, describe_excess
from collection.campaign.machine_labels.llm.label_sets import (
    LabelReport,
    LabelWriter,
    LlmLabelSets,
    Tally,
)
from collection.campaign.machine_labels.llm.plan import (
    CostEstimate,
    LabelPlan,
    LlmSettings,
    Prices,
    ProbePlan,
    Question,
    QuestionPlan,
    estimate_cost,
    estimate_tokens,
    prompt_tokens,
)
from collection.campaign.settings.settings import Settings
from collection.core import layout
from collection.core.errors import CampaignError, require_known
from collection.core.topic_fields import full_narrative
from collection.machine_labels import injection_probe
from collection.machine_labels.injection_probe import ProbeResult
from collection.machine_labels.templates import Material, Prompt, render
from collection.store import LabelRow, LabelSet, LogCount, Store

POLL = 60.0
"""Seconds between looks at a batch by default."""
TRIAL = 10
"""Pairs of a trial."""
PROBE_TOPICS = 3
"""Topics of a probe by default, chosen at random."""
SHORTEST_REPLY = 5
"""Tokens of a reply that is only a grade in the form asked for, about."""
_BATCH = 100
"""Documents read at a time."""
_FIELDS = ("title", "description", "narrative", "note")


@dataclass(eq=False)
class LlmLabels:
    """Labels by language models, in tables of their own: nothing that reads judgements reads them."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    label_sets: LlmLabelSets

    def __post_init__(self) -> None:
        self.batches: LlmBatches = LlmBatches(self.store, self.label_sets)

    def plan(
        self,
        settings: LlmSettings,
        name: str | None = None,
        *,
        topics: Sequence[str] = (),
        most: int | None = None,
        again: bool = False,
        prices: Prices | None = None,
        sample: int = 1,
    ) -> LabelPlan:
        """Plan a labelling without sending a request.

        Pairs that have an answer in this sample are left out; those whose request failed are not.

        Parameters
        ----------
        name
            Name of the label set; by default that of the model.
        topics
            Topics whose pooled pairs are labelled; by default all.
        most
            Largest number of pairs.
        again
            Include pairs whose answer has no grade.
        prices
            Prices of tokens, for the cost.
        sample
            Number of the sample, from 1: a pair can be asked about several times, and its label is the lower median.

        Raises
        ------
        CampaignError
            The pool is empty, or the label set was made with other settings.
        UnknownNameError
            There is no such topic.
        """
        name = self.label_sets.name(settings, name)
        label_set = self.label_sets.find(name, settings)
        self._require_topics(topics)
        pool = self.store.pool.ids()
        pool = pool[pool["query_id"].isin(topics)] if topics else pool
        if pool.empty:
            raise CampaignError("no pairs to label: the pool is empty; build one with `cleverdon pool DIR`")
        words = topic_fields(self.store, pool["query_id"].unique().tolist())
        sizes = self._document_tokens(pool["doc_id"].unique().tolist(), settings)
        pairs = list(zip(pool["query_id"], pool["doc_id"], strict=True))
        usable = [(query_id, doc_id) for query_id, doc_id in pairs if words[query_id] and doc_id in sizes]
        answered = self.label_sets.answered(label_set, again, sample).intersection(usable)
        random.Random(f"{self.settings.campaign_id} {name}").shuffle(usable)
        chosen = [pair for pair in usable if pair not in answered][:most]
        counts = self.label_sets.log_counts(label_set, sample=sample)
        own = prompt_tokens(self._prompt(settings, self.settings.guidelines(), Material({}, "", "")))
        of_topic = {query_id: estimate_tokens(" ".join(fields.values())) for query_id, fields in words.items()}
        total = sum(own + of_topic[query_id] + sizes[doc_id] for query_id, doc_id in chosen)
        return LabelPlan(
            name,
            settings,
            self.label_sets.record(settings),
            {pair: counts.get(pair, LogCount()).answers for pair in chosen},
            self._estimate(label_set, len(chosen), total, settings, prices),
            answered=len(answered),
            without_text=len(pairs) - len(usable),
            spent=self.label_sets.spent(name, prices),
            sample=sample,
        )

    def try_out(
        self, plan: LabelPlan, endpoint: ChatEndpoint, limits: RequestLimits | None = None
    ) -> tuple[list[LabelRow], CostEstimate, LabelReport]:
        """Label the first pairs of a plan without storing anything, and extrapolate the cost of all.

        Returns
        -------
        rows
            Answers and failures, with prompts and replies.
        estimate
            Of all pairs of the plan, from the mean tokens of the answers.
        report
            Of these requests; it ended as "failed" if all did.

        Raises
        ------
        EndpointError
            Nothing listens at the endpoint's address.
        """
        limits = limits or RequestLimits()
        limits.spent = plan.spent
        rows: list[LabelRow] = []
        requests = self._label_requests(plan, dict(islice(self._open(plan).items(), TRIAL)))
        report = self.label_sets.ask(plan, requests, endpoint, limits, rows.extend)
        measured = [row for row in rows if row.prompt_tokens is not None and row.reply_tokens is not None]
        if not measured:
            return rows, plan.estimate, report
        prompt = sum(row.prompt_tokens or 0 for row in measured) / len(measured)
        reply = sum(row.reply_tokens or 0 for row in measured) / len(measured)
        return rows, estimate_cost(len(plan.pairs), prompt, (reply, reply), limits.prices, len(measured)), report

    def label(
        self,
        plan: LabelPlan,
        endpoint: ChatEndpoint,
        limits: RequestLimits | None = None,
        progress: ProgressCallback | None = None,
    ) -> LabelReport:
        """Ask about the pairs of a plan that are still open; each answer is stored durably when it arrives.

        Raises
        ------
        BusyError
            Another process is labelling in this campaign.
        CampaignError
            A batch is in progress for the label set, or its settings have changed since it was planned.
        EndpointError
            Nothing listens at the endpoint's address.
        InputError
            A budget without prices, or without a limit for the length of a reply.
        """
        limits = limits or RequestLimits()
        with layout.locked(self.directory, "labelling"):
            if batch := self.batches.find(plan.name):
                raise CampaignError(
                    f"a batch of {batch.requests:,} requests is in progress for the label set {plan.name!r}; "
                    "collect it with --batch first"
                )
            left = self._open(plan)
            requests = self._label_requests(plan, left)
            return self._ask(plan, left, requests, self.store.machine_labels.add, endpoint, limits, progress)

    def label_by_batch(
        self,
        plan: LabelPlan,
        endpoint: ChatEndpoint,
        limits: RequestLimits | None = None,
        progress: ProgressCallback | None = None,
        *,
        poll: float = POLL,
        cancel: bool = False,
    ) -> LabelReport:
        """Ask about the open pairs of a plan by a batch (:mod:`.batches`), and wait for its end.

        If a batch is in progress for the label set, it is waited for and no other is sent.

        Parameters
        ----------
        limits
            Its prices are those of a batch.
        poll
            Polling interval in seconds.
        cancel
            Cancel the batch in progress and store its replies so far.

        Raises
        ------
        BusyError, InputError
            As :meth:`label`.
        CampaignError
            A batch with other settings is in progress.
        EndpointError
            The endpoint refuses batches, or does not answer.
        """
        limits, batches, name, settings = limits or RequestLimits(), self.batches, plan.name, plan.settings
        limits.check(settings)
        endpoint.connect()
        with layout.locked(self.directory, "labelling"):
            batch = batches.find(name, settings)
            batch = batch and batches.recover(batch, endpoint)
            is_under_way, left = batch is not None, self._open(plan)
            if batch is None and left and not cancel:
                limits.spent = self.label_sets.spent(name, limits.prices)
                batch = batches.send(plan, self._label_requests(plan, left), endpoint, limits)
            elif batch is not None and cancel:
                batches.cancel(batch, endpoint)
                batch = batch if batches.find(name) else None
        closed = 0 if is_under_way else len(plan.answers) - len(left)
        if batch is None:
            ended: Ended = "complete" if cancel or not left else "budget"
            return Tally().report(ended)._replace(closed=closed, left=len(left))
        ended_batch = batches.wait(batch, endpoint, limits.stop, poll, progress)
        if ended_batch is None:
            return Tally().report("stopped")._replace(closed=closed, left=batch.requests + len(self._unanswered(plan)))
        with layout.locked(self.directory, "labelling"):
            stored = batches.find(name, settings)
            if stored is None or stored.mark != batch.mark:  # another process has stored its answers
                return Tally().report("complete")._replace(closed=closed, left=len(self._unanswered(plan)))
            sent = replace(plan, sample=batches.sample(batch))
            requests = self._label_requests(sent, dict.fromkeys(batches.pairs(batch), 0))
            report = batches.store_answers(batch, ended_batch, sent, requests, endpoint, limits)
            spent = self.label_sets.spent(name, limits.prices)
            if report.cost and limits.budget is not None and spent > limits.budget:
                over = f"{describe_excess(spent, limits.budget)}: answers cost more than expected at most"
                report = report._replace(ended="failed", problem=report.problem or over)
            return report._replace(closed=closed, left=len(self._unanswered(plan)))

    def plan_probe(
        self,
        settings: LlmSettings,
        name: str | None = None,
        *,
        topics: Sequence[str] = (),
        again: bool = False,
        prices: Prices | None = None,
    ) -> ProbePlan:
        """Plan a probe for injected requests (:mod:`collection.machine_labels.injection_probe`).

        Parameters
        ----------
        name
            Name of the label set with which the result is stored; by default that of the model.
        topics
            Topics of the probe; by default :data:`PROBE_TOPICS` at random.
        again
            Include documents that have an answer.
        prices
            Prices of tokens, for the cost.

        Raises
        ------
        CampaignError
            There are no topics, or the label set was made with other settings.
        UnknownNameError
            There is no such topic.
        """
        name = self.label_sets.name(settings, name)
        label_set = self.label_sets.find(name, settings)
        self._require_topics(topics)
        words = {
            q: fields for q, fields in topic_fields(self.store, list(topics) or self._topic_ids()).items() if fields
        }
        if not words:
            raise CampaignError("the probe needs a topic with a text; import some with `cleverdon import DIR --topics`")
        drawn = random.Random(f"{self.settings.campaign_id} probe").sample(sorted(words), min(PROBE_TOPICS, len(words)))
        counts = self.label_sets.log_counts(label_set, probe=True)
        guidelines = self.settings.guidelines()
        prompts = {
            (query_id, each.request): self._prompt(
                settings, guidelines, Material(words.get(query_id, {}), "", each.text)
            )
            for query_id in topics or drawn
            for each in injection_probe.documents(max(self.settings.grades.sentences))
            if again or not counts.get((query_id, each.request), LogCount()).answers
        }
        total = sum(map(prompt_tokens, prompts.values()))
        answers = {question: counts.get(question, LogCount()).answers for question in prompts}
        estimate = self._estimate(None, len(prompts), total, settings, prices)
        return ProbePlan(name, settings, self.label_sets.record(settings), answers, estimate, prompts)

    def probe(
        self,
        plan: ProbePlan,
        endpoint: ChatEndpoint,
        limits: RequestLimits | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[ProbeResult | None, LabelReport]:
        """Ask for grades of documents with injected requests, as far as the plan is open.

        The answers are stored next to the labels, not as labels.

        Errors are those of :meth:`label`. The result is None if nothing was answered yet.
        """
        limits = limits or RequestLimits()
        with layout.locked(self.directory, "labelling"):
            left = self._open(plan)
            requests = (LabelRequest(*question, plan.prompts[question], rows) for question, rows in left.items())
            report = self._ask(plan, left, requests, self.store.machine_labels.add_probe, endpoint, limits, progress)
        label_set = self.label_sets.labels.find(plan.name)
        return None if label_set is None else self.label_sets.probe_result(label_set.key), report

    def _open(self, plan: QuestionPlan) -> dict[Question, int]:
        """Return the questions of a plan that are still to be asked, in its order -> number of their rows in the log.

        The only place that decides what is asked: nothing that got an answer since the plan was made, whoever asked;
        nothing that a batch is asking; no pair that has left the pool.

        Raises
        ------
        CampaignError
            What makes the labels has changed since the plan was made.
        """
        self.label_sets.require_same(plan)
        self.label_sets.find(plan.name, plan.settings)
        return self._unanswered(plan)

    def _unanswered(self, plan: QuestionPlan) -> dict[Question, int]:
        is_probe = isinstance(plan, ProbePlan)
        sample = plan.sample if isinstance(plan, LabelPlan) else 1
        counts = self.label_sets.log_counts(self.label_sets.labels.find(plan.name), probe=is_probe, sample=sample)
        rows = {pair: counts.get(pair, LogCount()) for pair in plan.answers}
        left = {pair: each.rows for pair, each in rows.items() if each.answers == plan.answers[pair]}
        if is_probe:
            return left
        pool = self.store.pool.ids()
        batch = self.batches.find(plan.name)
        in_batch = {*self.batches.pairs(batch)} if batch and self.batches.sample(batch) == sample else set()
        pooled = set(zip(pool["query_id"], pool["doc_id"], strict=True))
        return {pair: number for pair, number in left.items() if pair in pooled and pair not in in_batch}

    def _ask(
        self,
        plan: QuestionPlan,
        left: Mapping[Question, int],
        requests: Iterator[LabelRequest],
        add: Callable[[int, Iterable[LabelRow]], None],
        endpoint: ChatEndpoint,
        limits: RequestLimits,
        progress: ProgressCallback | None,
    ) -> LabelReport:
        """Ask the open questions of a plan one by one, and store the rows."""
        limits.spent = self.label_sets.spent(plan.name, limits.prices)
        write = LabelWriter(self.label_sets, plan, add)
        report = self.label_sets.ask(plan, requests, endpoint, limits, write, len(left), progress)
        return report._replace(closed=len(plan.answers) - len(left), left=len(self._unanswered(plan)))

    def _label_requests(self, plan: LabelPlan, attempts: Mapping[Question, int]) -> Iterator[LabelRequest]:
        """The requests of pairs by the settings of a plan; their texts are read when they are needed."""
        pairs, settings, guidelines = list(attempts), plan.settings, str(plan.record["guidelines"])
        words = topic_fields(self.store, sorted({query_id for query_id, _ in pairs}.intersection(self._topic_ids())))
        card = self.settings.judging_page()
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            documents = self.store.corpus.documents([doc_id for _, doc_id in batch])
            for query_id, doc_id in batch:
                if query_id not in words or doc_id not in documents:
                    continue  # removed while a batch was in progress
                shown = self.corpus.view.shown(documents[doc_id], card)
                material = Material(words[query_id], shown.title, shown.text)
                prompt = self._prompt(settings, guidelines, material)
                yield LabelRequest(query_id, doc_id, prompt, attempts[query_id, doc_id], plan.sample)

    def _prompt(self, settings: LlmSettings, guidelines: str, material: Material) -> Prompt:
        return render(
            settings.prompt_template,
            self.settings.grades,
            guidelines,
            material,
            settings.characters,
            structured=settings.structured,
        )

    def _estimate(
        self, label_set: LabelSet | None, requests: int, tokens: float, settings: LlmSettings, prices: Prices | None
    ) -> CostEstimate:
        """Estimate the cost of requests; `tokens` is that of all prompts by their number of characters."""
        answers, prompt, reply = (0, 0, 0) if label_set is None else self.store.machine_labels.tokens(label_set.key)
        if answers >= TRIAL:
            return estimate_cost(requests, prompt / answers, (reply / answers,) * 2, prices, answers)
        return estimate_cost(requests, tokens / max(1, requests), (SHORTEST_REPLY, settings.reply_limit), prices)

    def _topic_ids(self) -> list[str]:
        ids: list[str] = self.store.corpus.topics()["query_id"].tolist()
        return ids

    def _require_topics(self, topics: Sequence[str]) -> None:
        require_known("topic", self._topic_ids(), *topics)

    def _document_tokens(self, doc_ids: Sequence[str], settings: LlmSettings) -> dict[str, float]:
        """Estimated tokens of each document with a text, as it is shown."""
        card = self.settings.judging_page()
        tokens = {}
        for document in self.store.corpus.iterate_documents(doc_ids):
            shown = self.corpus.view.shown(document, card)
            if document.text is not None and (shown.title + shown.text).strip():
                tokens[document.doc_id] = estimate_tokens(f"{shown.title}\n{shown.text[: settings.characters]}")
        return tokens


def topic_fields(store: Store, query_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the fields with a text of each topic."""
    words = store.corpus.topic_words(query_ids)
    for each in words.values():
        each["narrative"] = full_narrative(each["narrative"], json.loads(each["fields"]), with_speakers=True)
    return {q: {name: words[q][name] for name in _FIELDS if words[q][name].strip()} for q in query_ids}
