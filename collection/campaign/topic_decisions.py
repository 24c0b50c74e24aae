"""What the decisions on whole topics come to: sparse qrels, strengths, preferences as a measure, agreement."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from collection import formats, layout, preferences
from collection.campaign.qrels import Settling
from collection.campaign.results import NextStep
from collection.campaign.topic_tasks import Tasking
from collection.errors import CampaignError
from collection.preferences import PreferenceAgreement, PreferenceValues, choices
from collection.preferences.choices import ChoiceAgreement


def waiting_topics(number: int) -> str:
    """How many topics wait for the texts of their pools, in a sentence; empty where none does."""
    if not number:
        return ""
    what = "1 topic waits" if number == 1 else f"{number:,} topics wait"
    return f"{what} for the texts of pooled documents and cannot be decided yet."


class Deciding(Settling, Tasking):
    """The part of a campaign that goes from choices and preferences to qrels and values."""

    # --- lists ----------------------------------------------------------------------------------------

    def sparse_qrels(self, rule: str = "majority") -> pd.DataFrame:
        """The choices settled into sparse qrels: ``query_id``, ``doc_id``, ``relevance``; topics in their order.

        Parameters
        ----------
        rule
            A name of :data:`collection.preferences.choices.CHOICE_RULES`. What was shown and not chosen has no row.
        """
        return self._in_order(choices.sparse_qrels(self.choices(), rule))

    def choice_agreement(self) -> ChoiceAgreement:
        """How often two annotators chose the same for a topic; see :func:`collection.preferences.choices.agreement`."""
        return choices.agreement(self.choices())

    # --- preferences ------------------------------------------------------------------------------------

    def strengths(self, *, prior: float = preferences.PRIOR) -> pd.DataFrame:
        """How strong each document is by everybody's preferences; see :func:`collection.preferences.bradley_terry`."""
        return self._in_order(preferences.strengths(self.preferences(), prior=prior))

    def preference_qrels(self, *, lowest: int | None = None, alike: float = preferences.ALIKE) -> pd.DataFrame:
        """Preferences made into grades of the campaign's scale: ``query_id``, ``doc_id``, ``relevance``.

        See :func:`collection.preferences.grades` for the rule, and for what such grades cannot say.

        Parameters
        ----------
        lowest
            The grade of the last; the lowest of the scale if left out.
        alike
            How far apart strengths may be that count as alike, in the logarithm of the odds.
        """
        scale = [grade for grade in self.grades.sentences if lowest is None or grade >= lowest]
        return preferences.grades(self.strengths(), scale, alike=alike)

    def preference_values(self, runs: Iterable[str] | None = None, depth: int | None = None) -> PreferenceValues:
        """What the imported runs are worth by the preferences; see :func:`collection.preferences.evaluate`.

        Parameters
        ----------
        runs
            Only these; all if left out.
        depth
            Look at so many ranks of each topic; at all if left out.
        """
        said = self.preferences()
        if said.empty:
            raise CampaignError("there is no preference yet to evaluate by; compare some documents first")
        return preferences.evaluate(self.runs(runs), said, depth)

    def preference_agreement(self) -> PreferenceAgreement:
        """How often two annotators say the same; see :func:`collection.preferences.agreement`."""
        return preferences.agreement(self.preferences())

    def _in_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows by topic, in the order of the campaign's topics; those of a topic as they are."""
        order = {query_id: place for place, query_id in enumerate(self.topics()["query_id"])}
        return frame.sort_values("query_id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)

    def decision_counts(self) -> dict[str, int]:
        """How many choices and preferences stand: ``choices``, ``preferences``."""
        return self.store.decision_counts()

    # --- at a glance ------------------------------------------------------------------------------------

    def decisions_status(self) -> dict[str, Any] | None:
        """How far the campaign's task is, as plain data; None where it is to grade documents.

        ``task``; ``made`` and ``remaining`` (decisions on topics that are open), ``decided`` (topics that want no
        more), ``topics`` (that are open), ``waiting`` (topics that are not, as too few documents of their pool have a
        text); ``annotators`` (by name: ``annotator``, ``topics``); ``choices`` or
        ``preferences`` (that stand), and ``agreement`` on topics that several decided: None where there is none, else
        the fields of :class:`~collection.preferences.choices.ChoiceAgreement` or
        :class:`~collection.preferences.PreferenceAgreement`.
        """
        settings = self.card_settings()
        if settings.task == "grades":
            return None
        board = self._board()
        made, wanted, decided, topics = board.totals()
        what = "choices" if settings.task == "list" else "preferences"
        found = (
            choices.agreement(self.choices(shared=True))
            if settings.task == "list"
            else preferences.agreement(self.preferences(shared=True))
        )
        agreement = {n: None if isinstance(v, float) and isnan(v) else v for n, v in found._asdict().items()}
        return {
            "task": settings.task,
            "made": made,
            "remaining": wanted - made,
            "decided": decided,
            "topics": topics,
            "waiting": board.waiting(),
            "annotators": [{"annotator": name, "topics": count} for name, count in sorted(board.made.items()) if count],
            what: self.decision_counts()[what],
            "agreement": agreement if found.comparisons else None,
        }

    def status(self) -> dict[str, Any]:
        """Everything at a glance, as plain data; ``decisions`` is :meth:`decisions_status`."""
        return {**super().status(), "decisions": self.decisions_status()}

    def next_step(self) -> NextStep:
        """What a person who runs the campaign should do now."""
        settings = self.card_settings()
        counts = self.store.counts()
        if settings.task == "grades" or not (counts["topics"] and counts["pool"] and counts["documents"]):
            return super().next_step()
        board = self._board()
        made, wanted, _, topics = board.totals()
        if not topics:
            least = 1 if settings.task == "list" else 2
            return NextStep("import", f"Import the documents: no topic has {least} or more with a text in its pool.")
        waiting = waiting_topics(board.waiting())
        held = f" {waiting} Import their texts; the Export page lists the ids." if waiting else ""
        verb, what = ("Choose", "lists") if settings.task == "list" else ("Compare", "topics")
        if made < wanted:
            several = "" if wanted == topics else " decisions on"
            return NextStep("judge", f"{verb}: {wanted - made:,} of {wanted:,}{several} {what} are left.{held}")
        if held:
            return NextStep("export", f"Every topic that has enough texts is decided.{held}")
        made_of = "sparse qrels" if settings.task == "list" else "preferences"
        return NextStep("export", f"Every topic is decided: export the {made_of}, and evaluate the runs.")

    # --- files --------------------------------------------------------------------------------------------

    def export_decisions(
        self,
        *,
        sparse_qrels: Path | str | None = None,
        choices: Path | str | None = None,
        preferences: Path | str | None = None,
        preference_qrels: Path | str | None = None,
        choice_rule: str = "majority",
    ) -> dict[str, int]:
        """Write what is asked for; each file is replaced whole or left as it was.

        Parameters
        ----------
        sparse_qrels, preference_qrels
            Qrels in TREC form, from choices and from preferences.
        choices
            The whole log of choices, ``.jsonl``: what was shown in its order, what was chosen, also revised ones.
        preferences
            The whole log of preferences, ``.jsonl`` or ``.csv``.
        choice_rule
            Which documents are relevant where several annotators chose, as :meth:`sparse_qrels` takes it.

        Returns
        -------
        dict
            Path -> number of rows, for each file that was written.
        """
        for path in (sparse_qrels, choices, preferences, preference_qrels):
            layout.require_output(path, self.directory)
        written: dict[str, int] = {}
        if sparse_qrels is not None:
            frame = self.sparse_qrels(choice_rule)
            formats.write_qrels(frame, sparse_qrels)
            written[str(sparse_qrels)] = len(frame)
        if choices is not None:
            frame = self.choices(current=False)
            formats.write_choices(frame, choices)
            written[str(choices)] = len(frame)
        if preferences is not None:
            frame = self.preferences(current=False)
            formats.write_preferences(frame, preferences)
            written[str(preferences)] = len(frame)
        if preference_qrels is not None:
            frame = self.preference_qrels()
            formats.write_qrels(frame, preference_qrels)
            written[str(preference_qrels)] = len(frame)
        return written
