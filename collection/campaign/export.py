"""Writes qrels, logs and the pool to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from collection import adjudication, formats, layout
from collection.adjudication import ChosenRule
from collection.campaign.agreement import AgreementStudy
from collection.campaign.document_view import DocumentView
from collection.campaign.qrels import QrelsBuilder
from collection.campaign.topic_tasks import TopicTasks
from collection.errors import InputError
from collection.formats import QrelsForm
from collection.store import Store

RULE_FILE = ".rule.json"
"""What is put behind the name of a qrels file for the file that says which rule made it."""


@dataclass(eq=False)
class Exporter:
    """Writes qrels, logs and the pool to files."""

    store: Store
    directory: Path
    document_view: DocumentView
    topic_tasks: TopicTasks
    qrels: QrelsBuilder
    agreement: AgreementStudy

    def files(
        self,
        *,
        qrels: Path | str | None = None,
        judgements: Path | str | None = None,
        labels: Path | str | None = None,
        passages: Path | str | None = None,
        pool: Path | str | None = None,
        missing_documents: Path | str | None = None,
        rule: str | ChosenRule | None = None,
        qrels_form: QrelsForm = "judged",
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
    ) -> dict[str, int]:
        """Write what is asked for; each file is replaced whole or left as it was.

        Parameters
        ----------
        qrels
            The settled judgements in TREC form. Beside FILE, which has no room for it, FILE.rule.json says which rule
            made them, of how many judgements by whom, and how the grades came about:
            :meth:`.QrelsBuilder.rule_report`.
        judgements
            The whole log, ``.jsonl``, ``.csv`` or ``.parquet``: every judgement, also the revised ones. Its
            ``passages`` are quoted, as :meth:`.DocumentView.quoted` does it.
        labels
            Every annotator's current grades, ``.csv`` or ``.tsv``: one row per annotator and pair, no
            adjudications.
        passages
            What annotators marked in the judgements that stand, ``.jsonl``: one line a passage, with its words.
        pool
            TSV with the header ``query_id doc_id strategy rank``, and of samples what they were drawn by.
        missing_documents
            Ids in the pool whose text is not here, one a line.
        rule
            How several annotators' judgements become one grade, as :meth:`.QrelsBuilder.build` takes it.
        qrels_form, unjudged, include_unjudged_topics
            As for :meth:`.QrelsBuilder.in_form`; FILE.rule.json says how many topics were left out.

        Returns
        -------
        dict
            Path -> number of rows, for each file that was written; FILE.rule.json, which goes with FILE, is not named.

        Raises
        ------
        InputError
            A file belongs to the campaign, or cannot be written. In the first case nothing is.
        """
        for path in (qrels, judgements, labels, passages, pool, missing_documents):
            layout.require_output(path, self.directory)
        written: dict[str, int] = {}
        if qrels is not None:
            written[str(qrels)] = self._export_qrels(qrels, rule, qrels_form, unjudged, include_unjudged_topics)
        elif unjudged or include_unjudged_topics or qrels_form != "judged":
            raise InputError("a form of qrels, or what is unjudged, goes into qrels: name their file, too")
        if judgements is not None:
            frame = self.document_view.quoted(self.store.judgements.table(current=False))
            formats.write_judgements(frame, judgements)
            written[str(judgements)] = len(frame)
        if labels is not None:
            frame = self.agreement.labels().sort_values(["annotator", "query_id", "doc_id"])
            formats.write_labels(frame, labels)
            written[str(labels)] = len(frame)
        if passages is not None:
            written[str(passages)] = formats.write_passages(
                self.document_view.quoted(self.store.judgements.table()), passages
            )
        if pool is not None:
            frame = self.store.pool.pairs()
            formats.write_pool(frame, pool)
            written[str(pool)] = len(frame)
        if missing_documents is not None:
            ids = self.store.corpus.missing_documents()
            formats.write_lines(ids, missing_documents)
            written[str(missing_documents)] = len(ids)
        return written

    def _export_qrels(
        self,
        path: Path | str,
        rule: str | ChosenRule | None,
        form: QrelsForm,
        unjudged: bool,
        include_unjudged_topics: bool,
    ) -> int:
        """Write qrels, and beside them what made them: the TREC form has no place for it, not even for a comment."""
        chosen = adjudication.parse_rule(rule)
        report = self.qrels.rule_report(chosen)
        frame = self.qrels.in_form(
            form, rule=chosen, unjudged=unjudged, include_unjudged_topics=include_unjudged_topics
        )
        if form != "judged" or unjudged:
            report |= {"form": form, "unjudged": int((frame["relevance"] < 0).sum())}
        if form == "strata" or unjudged:
            left_out = [] if include_unjudged_topics else self.qrels.unjudged_topics(form, rule=chosen)
            report |= {"unjudged_topics_left_out": len(left_out)}
        formats.write_qrels(frame, path, form=form)
        formats.write_report(report, path, RULE_FILE)
        return len(frame)

    def decisions(
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
            Which documents are relevant where several annotators chose, as :meth:`.QrelsBuilder.from_choices` takes it.

        Returns
        -------
        dict
            Path -> number of rows, for each file that was written.
        """
        for path in (sparse_qrels, choices, preferences, preference_qrels):
            layout.require_output(path, self.directory)
        written: dict[str, int] = {}
        if sparse_qrels is not None:
            frame = self.qrels.from_choices(choice_rule)
            formats.write_qrels(frame, sparse_qrels)
            written[str(sparse_qrels)] = len(frame)
        if choices is not None:
            frame = self.topic_tasks.choices(current=False)
            formats.write_choices(frame, choices)
            written[str(choices)] = len(frame)
        if preferences is not None:
            frame = self.topic_tasks.preferences(current=False)
            formats.write_preferences(frame, preferences)
            written[str(preferences)] = len(frame)
        if preference_qrels is not None:
            frame = self.qrels.from_preferences()
            formats.write_qrels(frame, preference_qrels)
            written[str(preference_qrels)] = len(frame)
        return written
