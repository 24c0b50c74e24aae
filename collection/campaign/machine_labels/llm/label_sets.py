"""Label sets of language models: the settings that made each, its log, and its summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from collection.campaign.log.results import ProgressCallback
from collection.campaign.machine_labels.label_sets import LabelSets, LabelSetSummary
from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
from collection.campaign.machine_labels.llm.ask.requests import Ended, LabelRequest, LabelRequests, RequestLimits
from collection.campaign.machine_labels.llm.plan import LlmSettings, Prices, Question, QuestionPlan
from collection.campaign.settings.settings import Settings
from collection.core.errors import CampaignError
from collection.core.phrases import join
from collection.machine_labels import injection_probe
from collection.machine_labels.injection_probe import ProbeAnswer, ProbeResult
from collection.store import LabelRow, LabelSet, LogCount, Store

_SETTING = {
    "model": "model",
    "endpoint": "endpoint",
    "template": "prompt template",
    "parameters": "parameters of requests",
    "structured": "structured output",
    "characters": "characters of a document",
    "document_form": "form of documents",
    "grades": "grade scale",
    "guidelines": "guidelines",
}
"""Key of the settings of a label set -> its name in messages."""


class LabelReport(NamedTuple):
    """Outcome of a labelling, trial or probe."""

    graded: int
    no_grade: int
    failed: int
    prompt_tokens: int
    reply_tokens: int
    cost: float
    ended: Ended
    problem: str | None
    """Why it ended early, if `ended` is "failed"."""
    last_failure: str | None
    """Why the last failed request failed."""
    overrun: str | None = None
    """Why an answer cost more than its request could have cost at most."""
    closed: int = 0
    """Questions of the plan that were answered otherwise, and not asked again."""
    late: int = 0
    """Answers of a batch to questions that had been answered otherwise: the first grade counts."""
    left: int = 0
    """Questions of the plan that are open, those whose request failed included."""


@dataclass(eq=False)
class Tally:
    """Counts rows for a report."""

    statuses: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float = 0.0
    failure: str | None = None

    def add(self, row: LabelRow) -> None:
        """Count a row."""
        self.failure = row.problem if row.status == "failed" else self.failure
        self.statuses[row.status] += 1
        self.prompt_tokens += row.prompt_tokens or 0
        self.reply_tokens += row.reply_tokens or 0
        self.cost += row.cost or 0.0

    def report(self, ended: Ended, problem: str | None = None) -> LabelReport:
        """Report what was counted; without any answer, it ended as "failed" unless it was stopped."""
        graded, no_grade, failed = map(self.statuses.__getitem__, ("graded", "no grade", "failed"))
        tokens = self.prompt_tokens, self.reply_tokens
        if failed and not graded + no_grade and ended in ("complete", "budget"):
            ended, problem = "failed", f"every request failed, the last one with: {self.failure}"
        return LabelReport(graded, no_grade, failed, *tokens, self.cost, ended, problem, self.failure)


@dataclass(frozen=True)
class LlmLabelSet(LabelSetSummary):
    """A label set of a language model, for lists."""

    model: str
    endpoint: str
    template: str
    prompt_tokens: int
    reply_tokens: int
    cost: float
    probe: ProbeResult | None


@dataclass(eq=False)
class LlmLabelSets:
    """Label sets of language models."""

    store: Store
    settings: Settings
    labels: LabelSets

    def summaries(self) -> list[LlmLabelSet]:
        """Return the label sets of language models, in order of creation."""
        return [self.summary(label_set) for label_set in self.store.machine_labels.sets() if label_set.kind == "llm"]

    def summary(self, label_set: LabelSet) -> LlmLabelSet:
        """Count pairs, tokens and cost of a label set of a language model."""
        totals = self.store.machine_labels.totals(label_set.key)
        return LlmLabelSet(
            **vars(self.labels.summary(label_set)),
            # Labels that were imported need not have such settings.
            model=str(label_set.settings.get("model", "")),
            endpoint=str(label_set.settings.get("endpoint", "")),
            template=str(label_set.settings.get("template", {}).get("name", "")),
            prompt_tokens=int(totals["prompt_tokens"].sum()),
            reply_tokens=int(totals["reply_tokens"].sum()),
            cost=self.store.machine_labels.cost(label_set.key, 0.0, 0.0),
            probe=self.probe_result(label_set.key),
        )

    def record(self, settings: LlmSettings) -> dict[str, Any]:
        """Everything that makes the labels, as it is stored with them."""
        settings_record = settings.record(
            self.settings.grades, self.settings.guidelines(), self.settings.judging_page().form
        )
        stored: dict[str, Any] = json.loads(json.dumps(settings_record))
        return stored

    def require_same(self, plan: QuestionPlan) -> None:
        """Raise CampaignError if what makes the labels of a plan has changed since it was made."""
        now = self.record(plan.settings)
        if differing := [key for key in now if plan.record.get(key) != now[key]]:
            raise CampaignError(
                f"settings of the label set {plan.name!r} have changed since it was planned "
                f"({join(map(_SETTING.__getitem__, differing))}); repeat the command to plan again"
            )

    def name(self, settings: LlmSettings, name: str | None) -> str:
        """Return the name of a label set, by default that of the model; errors as :meth:`.LabelSets.create`.

        A name that cannot be stored is refused here, before the first answer is paid.
        """
        wanted = settings.model if name is None else name
        return wanted if self.labels.find(wanted) else self.labels.require_free(wanted)

    def spent(self, name: str, prices: Prices | None = None) -> float:
        """Return the cost of a label set and its probe; `prices` count for answers that came without any."""
        label_set = self.labels.find(name)
        return 0.0 if label_set is None else self.store.machine_labels.cost(label_set.key, *(prices or (0.0, 0.0)))

    def find(self, name: str, settings: LlmSettings) -> LabelSet | None:
        """Return the label set of this name, or None; CampaignError if it was made in another way."""
        label_set = self.labels.find(name)
        if label_set is None:
            return None
        if label_set.kind != "llm":
            raise CampaignError(f"the label set {name!r} was not made by a language model; choose another --name")
        wanted = self.record(settings)
        differing = [key for key in _SETTING if label_set.settings.get(key) != wanted.get(key)]
        if differing:
            raise CampaignError(
                f"the label set {name!r} was made with other settings ({join(map(_SETTING.__getitem__, differing))}), "
                "and settings of a label set never change; choose another --name"
            )
        return label_set

    def log_counts(
        self, label_set: LabelSet | None, *, probe: bool = False, sample: int = 1
    ) -> Mapping[Question, LogCount]:
        """Return the rows of each pair, or of each topic and request of the probe; a pair without any has no key."""
        if label_set is None:
            return {}
        tables = self.store.machine_labels
        return tables.probe_counts(label_set.key) if probe else tables.log_counts(label_set.key, sample)

    def answered(self, label_set: LabelSet | None, again: bool, sample: int = 1) -> set[Question]:
        """Return the pairs with an answer of a sample; with `again`, only those with a grade."""
        if label_set is None:
            return set()
        current = self.store.machine_labels.samples(label_set.key)
        current = current[current["sample"] == sample]
        statuses = ["graded"] if again else ["graded", "no grade"]
        current = current[current["status"].isin(statuses)]
        return set(zip(current["query_id"], current["doc_id"], strict=True))

    def probe_result(self, key: int) -> ProbeResult | None:
        """Return the result of the probe of a label set; None without answers."""
        replies = (row for row in self.store.machine_labels.probe(key) if row.status != "failed")
        rows = {(row.query_id, row.doc_id): row for row in replies}
        answers = [ProbeAnswer(*pair, row.relevance) for pair, row in rows.items()]
        return injection_probe.evaluate(answers, max(self.settings.grades.sentences)) if answers else None

    def ask(
        self,
        plan: QuestionPlan,
        requests: Iterator[LabelRequest],
        endpoint: ChatEndpoint,
        limits: RequestLimits,
        write: Callable[[Sequence[LabelRow]], None],
        total: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> LabelReport:
        """Make requests one by one, and write each row when it arrives."""
        limits.check(plan.settings)
        endpoint.connect()
        identity = f"{self.settings.campaign_id} {plan.name} {json.dumps(plan.record, sort_keys=True)}"
        rows, tally = LabelRequests(requests, endpoint, plan.settings, self.settings.grades, identity, limits), Tally()
        for row in rows:
            write([row])
            tally.add(row)
            if progress is not None:
                progress(plan.name, tally.statuses.total(), total)
        return tally.report(rows.ended, rows.problem)._replace(overrun=rows.overrun)


class LabelWriter:
    """Writes rows of a plan's label set, which the first answer creates: an address with a typing error takes no name.

    Parameters
    ----------
    add
        Stores rows of a label set by its key.
    """

    def __init__(self, sets: LlmLabelSets, plan: QuestionPlan, add: Callable[[int, Iterable[LabelRow]], None]) -> None:
        self._sets, self._plan, self._add = sets, plan, add
        self._label_set = sets.find(plan.name, plan.settings)
        self._failed: list[LabelRow] = []

    def __call__(self, rows: Sequence[LabelRow]) -> None:
        """Write rows; failures before the first answer are written with it."""
        if self._label_set is None and all(row.status == "failed" for row in rows):
            self._failed += rows
            return
        with self._sets.store.transaction():
            if self._label_set is None:
                self._label_set = self._sets.labels.create(self._plan.name, "llm", self._plan.record)
            self._add(self._label_set.key, [*self._failed, *rows])
        self._failed = []
