"""Nuggets that a language model proposes for topics, from their relevant documents."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from collection.campaign.answers.nugget_sources import NuggetSources
from collection.campaign.answers.nuggets import IMPORTED, Nuggets
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.results import ProgressCallback
from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
from collection.campaign.machine_labels.llm.ask.requests import (
    LabelRequest,
    LabelRequests,
    RequestLimits,
    request_key,
)
from collection.campaign.machine_labels.llm.label_sets import LabelReport, Tally
from collection.campaign.machine_labels.llm.labels import topic_fields
from collection.campaign.machine_labels.llm.plan import (
    CostEstimate,
    LlmSettings,
    Prices,
    estimate_cost,
    prompt_tokens,
)
from collection.campaign.settings.settings import Settings
from collection.core import layout
from collection.machine_labels.nugget_replies import nugget_prompt, read_nugget_reply
from collection.machine_labels.templates import Prompt
from collection.store import Store

CHARACTERS = 60_000
"""Characters of the relevant documents of a topic that are shown to the model by default."""

REPLY_TOKENS = 4_000
"""Maximum tokens of a reply by default."""

FEWEST_TOKENS = 100
"""Approximate number of tokens of a reply with a few nuggets."""

ASKED = "nugget_requests"
"""Key of the setting with the cost of each answered request, by the key of the request."""


@dataclass(frozen=True)
class NuggetPlan:
    """The topics about which a language model would be asked."""

    settings: LlmSettings
    prompts: Mapping[str, Prompt]
    """Topic -> its prompt, in the order of asking."""
    estimate: CostEstimate
    answered: int
    """Topics that the model was asked about with the same prompt and settings, and that are left out."""
    without_documents: int
    """Topics without a relevant document with a text."""
    spent: float
    """Cost of all requests for nuggets so far."""


class ProposalReport(NamedTuple):
    """Outcome of asking for nuggets."""

    requests: LabelReport
    """`graded` counts topics whose reply has nuggets, `no_grade` those with an unreadable reply."""
    proposals: int
    """Number of new proposals."""
    replies: Mapping[str, Sequence[tuple[str, str]]]
    """Topic -> text and importance of each nugget in the reply."""
    problems: Mapping[str, str]
    """Topic -> why its reply has no nuggets."""


@dataclass(eq=False)
class NuggetProposals:
    """Nuggets that a language model proposes; they count only when a person accepts or edits them."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    nuggets: Nuggets
    sources: NuggetSources

    def plan(
        self,
        settings: LlmSettings,
        *,
        topics: Sequence[str] = (),
        most: int | None = None,
        again: bool = False,
        prices: Prices | None = None,
    ) -> NuggetPlan:
        """Plan requests for nuggets, one for each topic, without sending any.

        Parameters
        ----------
        settings
            `characters` are those of all documents of a topic together.
        topics
            Topics to ask about; by default all with a relevant document.
        most
            Largest number of topics.
        again
            Include topics that the model was asked about with the same prompt and settings.
        prices
            Prices of tokens, for the cost.

        Raises
        ------
        UnknownNameError
            There is no such topic.
        """
        for query_id in topics:
            self.settings.require_topic(query_id)
        query_ids = list(topics) or self.store.corpus.topics()["query_id"].tolist()
        fields = topic_fields(self.store, query_ids)
        prompts = {
            query_id: nugget_prompt(fields[query_id], documents, settings.characters)
            for query_id in query_ids
            if fields[query_id] and (documents := self._documents(query_id))
        }
        asked = self.store.settings.get(ASKED, {})
        identity = self._identity(settings)
        left = {
            query_id: prompt
            for query_id, prompt in prompts.items()
            if again or request_key(identity, LabelRequest(query_id, "", prompt)) not in asked
        }
        chosen = dict(islice(left.items(), most))
        tokens = sum(map(prompt_tokens, chosen.values())) / max(1, len(chosen))
        estimate = estimate_cost(len(chosen), tokens, (FEWEST_TOKENS, settings.reply_limit), prices)
        return NuggetPlan(
            settings, chosen, estimate, len(prompts) - len(left), len(query_ids) - len(prompts), sum(asked.values())
        )

    def ask(
        self,
        plan: NuggetPlan,
        endpoint: ChatEndpoint,
        limits: RequestLimits | None = None,
        progress: ProgressCallback | None = None,
        *,
        dry_run: bool = False,
    ) -> ProposalReport:
        """Ask about the topics of a plan; the nuggets of each reply are stored as proposals when it arrives.

        With `dry_run`, only the first topic is asked about, and nothing is stored.

        Raises
        ------
        BusyError
            Another process is labelling in this campaign.
        EndpointError
            Nothing listens at the endpoint's address.
        InputError
            A budget without prices, or without a limit for the length of a reply.
        """
        limits = limits or RequestLimits()
        limits.check(plan.settings)
        limits.spent = plan.spent
        endpoint.connect()
        identity, asked = self._identity(plan.settings), self.store.settings.get(ASKED, {})
        made = {
            query_id: _next_request(identity, LabelRequest(query_id, "", prompt), asked)
            for query_id, prompt in islice(plan.prompts.items(), 1 if dry_run else None)
        }
        requests = LabelRequests(iter(made.values()), endpoint, plan.settings, self.settings.grades, identity, limits)
        tally = Tally()
        replies: dict[str, Sequence[tuple[str, str]]] = {}
        problems: dict[str, str] = {}
        added = 0
        with layout.locked(self.directory, "labelling"):
            for answered in requests:
                row = answered
                if row.status != "failed":
                    read = read_nugget_reply(row.reply)
                    row = row._replace(status="graded" if read.problem is None else "no grade", problem=read.problem)
                    replies[row.query_id] = read.nuggets
                    if read.problem is not None:
                        problems[row.query_id] = read.problem
                    if not dry_run:
                        key = request_key(identity, made[row.query_id])
                        added += self._store(key, row.query_id, row.cost or 0.0, read.nuggets, plan.settings.model)
                tally.add(row)
                if progress is not None:
                    progress(plan.settings.model, tally.statuses.total(), len(made))
        report = tally.report(requests.ended, requests.problem)
        left = len(made) - report.graded - report.no_grade
        return ProposalReport(report._replace(overrun=requests.overrun, left=left), added, replies, problems)

    def _identity(self, settings: LlmSettings) -> str:
        """Return what distinguishes requests for nuggets with these settings from all others of the same topics."""
        record = [settings.model, settings.endpoint, dict(settings.request)]
        return f"{self.settings.campaign_id} nuggets {json.dumps(record, sort_keys=True)}"

    def _store(self, key: str, query_id: str, cost: float, nuggets: Sequence[tuple[str, str]], model: str) -> int:
        """Store that a request was answered, and the nuggets of its reply as proposals; return their number."""
        with self.store.transaction():
            self.store.settings.put(ASKED, self.store.settings.get(ASKED, {}) | {key: cost})
            if not nuggets:
                return 0
            frame = pd.DataFrame(nuggets, columns=["text", "importance"]).assign(query_id=query_id, weight=math.nan)
            return self.nuggets.propose(frame, model, annotator=IMPORTED)

    def _documents(self, query_id: str) -> list[tuple[str, str]]:
        """Return title and text of the relevant documents of a topic, as they are shown, highest grade first."""
        relevant = self.sources.relevant(query_id).sort_values("relevance", ascending=False, kind="stable")
        doc_ids = relevant["doc_id"].drop_duplicates().tolist()
        documents, card = self.store.corpus.documents(doc_ids), self.settings.judging_page()
        shown = [self.corpus.view.shown(documents[doc_id], card) for doc_id in doc_ids if doc_id in documents]
        return [(each.title, each.text) for each in shown if each.text and each.text.strip()]


def _next_request(identity: str, request: LabelRequest, answered: Collection[str]) -> LabelRequest:
    """Return a request with the number of its earlier answers, so that an endpoint does not repeat one of them."""
    while request_key(identity, request) in answered:
        request = request._replace(attempt=request.attempt + 1)
    return request
