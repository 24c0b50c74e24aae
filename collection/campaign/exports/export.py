"""Writes qrels, logs and the pool to files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import pandas as pd

from collection import adjudication, formats
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.machine_labels.label_files import LABELS_FILE, LabelFiles, remove_stale_report
from collection.campaign.progress.leading_labels import mark_led
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.results.qrels import QrelsBuilder, RuleChoice, select_topics
from collection.core import layout
from collection.core.errors import InputError
from collection.core.topic_fields import to_frame
from collection.formats import QrelsForm
from collection.store import Store

RULE_FILE = ".rule.json"
"""Suffix of the report on the adjudication rule of a qrels file."""

Writer = Callable[[Path | str], int]
"""Writes a file and returns its number of rows."""

T = TypeVar("T", bound=Sized)


@dataclass(eq=False)
class Exporter:
    """Writes qrels, logs and the pool to files."""

    store: Store
    directory: Path
    corpus: Corpus
    qrels: QrelsBuilder
    agreement: AgreementStudy
    label_files: LabelFiles

    def write(
        self,
        *,
        qrels: Path | str | None = None,
        judgements: Path | str | None = None,
        labels: Path | str | None = None,
        passages: Path | str | None = None,
        pool: Path | str | None = None,
        missing_documents: Path | str | None = None,
        topic_file: Path | str | None = None,
        rule: RuleChoice = None,
        qrels_form: QrelsForm = "judged",
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
        topics: Collection[str] | None = None,
        fill_with: str | None = None,
        question: str | None = None,
        answer: str | None = None,
    ) -> dict[str, int]:
        """Write the files that are named; each is replaced as a whole or left as it was.

        Parameters
        ----------
        qrels
            Adjudicated judgements in TREC form. FILE.rule.json next to it holds :meth:`.QrelsBuilder.rule_report`.
        judgements
            The whole log with revised judgements and quoted passages: ``.jsonl``, ``.csv`` or ``.parquet``. Once
            annotators were shown machine labels, ``saw_label`` names the label sets that they had seen for the pair.
            Once a label set led the loop, ``led_by`` and ``label_trust`` are those of :func:`.mark_led`.
        labels
            Every annotator's current grades without adjudications: ``.csv`` or ``.tsv``, a row per annotator and pair.
        passages
            Passages marked in the current judgements: ``.jsonl``, one line per passage, with its text.
        pool
            TSV with the header ``query_id doc_id strategy rank``, for samples also the probability and stratum.
        missing_documents
            Ids of pooled documents without a text, one per line.
        topic_file
            All topics: ``.jsonl`` with all fields, ``.xml`` in TREC's XML, else TREC's SGML. A FormatWarning names the
            fields that were left out.
        rule, qrels_form, unjudged, include_unjudged_topics, topics
            As for :meth:`.QrelsBuilder.in_form`.
        fill_with
            Name of a label set for the pooled pairs without a grade in the qrels. FILE.labels.json next to the qrels
            says for each pair who gave its grade.
        question, answer
            The question of the qrels and labels, as for :meth:`.QrelsBuilder.for_question`; by default the grade.

        Returns
        -------
        dict
            Path -> number of rows, without FILE.rule.json and FILE.labels.json.

        Raises
        ------
        InputError
            A file belongs to the campaign (then nothing is written), or cannot be written.
        UnknownNameError, CampaignError
            As :meth:`.LabelFiles.filled` and :meth:`.QrelsBuilder.for_question`.
        """
        log, quoted = self.store.judgements, self.corpus.view.quoted
        by_annotator = ["annotator", "query_id", "doc_id"]

        def mark(entries: pd.DataFrame) -> pd.DataFrame:
            return mark_led(self.label_files.mark_seen(entries), log.led_by_labels())

        if qrels is None and (unjudged or include_unjudged_topics or qrels_form != "judged"):
            raise InputError("a form of qrels and unjudged pairs apply to a qrels file only; name one")
        if fill_with is not None and (qrels is None or unjudged or include_unjudged_topics or qrels_form != "judged"):
            raise InputError(
                "machine labels fill the unjudged pairs of a plain qrels file: expected no other form of qrels and no "
                "unjudged pairs"
            )
        if question is not None and ((qrels or labels) is None or fill_with is not None):
            raise InputError("a question applies to a file of qrels or labels without machine labels; name one")
        of_question, study = self.qrels.for_question(question, answer), self.agreement.for_question(question, answer)
        return self._write(
            (
                qrels,
                lambda path: (
                    self._write_qrels(path, of_question, rule, qrels_form, unjudged, include_unjudged_topics, topics)
                    if fill_with is None
                    else self._write_filled_qrels(path, rule, topics, fill_with)
                ),
            ),
            (judgements, _table(lambda: mark(quoted(log.table(current=False))), formats.write_judgements)),
            (labels, _table(lambda: study.labels().sort_values(by_annotator), formats.write_labels)),
            (passages, lambda path: formats.write_passages(quoted(log.table()), path)),
            (pool, _table(self.store.pool.pairs, formats.write_pool)),
            (missing_documents, _table(self.store.corpus.missing_documents, formats.write_lines)),
            (topic_file, _table(lambda: to_frame(self.store.corpus.topic_records()), formats.write_topic_file)),
        )

    def write_decisions(
        self,
        *,
        sparse_qrels: Path | str | None = None,
        choices: Path | str | None = None,
        preferences: Path | str | None = None,
        preference_qrels: Path | str | None = None,
        choice_rule: str = "majority",
    ) -> dict[str, int]:
        """Write the files that are named; each is replaced as a whole or left as it was.

        Parameters
        ----------
        sparse_qrels, preference_qrels
            Qrels in TREC form, from choices and from preferences.
        choices, preferences
            The whole log, with revised decisions: ``.jsonl``, for preferences also ``.csv``.
        choice_rule
            As :meth:`.QrelsBuilder.from_choices` takes it.

        Returns
        -------
        dict
            Path -> number of rows.
        """
        tasks = self.store.topic_tasks
        return self._write(
            (sparse_qrels, _table(lambda: self.qrels.from_choices(choice_rule), formats.write_qrels)),
            (choices, _table(lambda: tasks.choices(current=False), formats.write_choices)),
            (preferences, _table(lambda: tasks.preferences(current=False), formats.write_preferences)),
            (preference_qrels, _table(self.qrels.from_preferences, formats.write_qrels)),
        )

    def _write(self, *files: tuple[Path | str | None, Writer]) -> dict[str, int]:
        for path, _ in files:
            layout.require_output(path, self.directory)
        return {str(path): write(path) for path, write in files if path is not None}

    def _write_qrels(
        self,
        path: Path | str,
        qrels: QrelsBuilder,
        rule: RuleChoice,
        form: QrelsForm,
        unjudged: bool,
        unjudged_topics: bool,
        topics: Collection[str] | None,
    ) -> int:
        """Write qrels, and next to them the report that the TREC form has no room for, not even as a comment."""
        chosen = adjudication.parse_rule(rule)
        report = qrels.rule_report(chosen, topics=topics)
        frame = qrels.in_form(
            form, rule=chosen, unjudged=unjudged, include_unjudged_topics=unjudged_topics, topics=topics
        )
        if form != "judged" or unjudged:
            report |= {"form": form, "unjudged": int((frame["relevance"] < 0).sum())}
        if form == "strata" or unjudged:
            left_out = [] if unjudged_topics else qrels.unjudged_topics(form, rule=chosen)
            report |= {"unjudged_topics_left_out": len(left_out)}
        formats.write_qrels(frame, path, form=form)
        remove_stale_report(path)
        formats.write_report(report, path, RULE_FILE)
        return len(frame)

    def _write_filled_qrels(
        self, path: Path | str, rule: RuleChoice, topics: Collection[str] | None, fill_with: str
    ) -> int:
        """Write qrels with machine labels, and next to them the reports on the rule and on the source of each grade."""
        chosen = adjudication.parse_rule(rule)
        frame = select_topics(self.label_files.filled(self.qrels.build(chosen), fill_with), topics)
        self.label_files.write_sources(frame, fill_with, path)
        formats.write_qrels(frame, path)
        labels = int((frame["by"] == fill_with).sum())
        report = f"{Path(path).name}{LABELS_FILE}"
        filled = {"machine_labels": {"label_set": fill_with, "pairs": labels, "report": report}}
        formats.write_report(self.qrels.rule_report(chosen, topics=topics) | filled, path, RULE_FILE)
        return len(frame)


def qrels_name(question: str | None = None, answer: str | None = None) -> str:
    """Name of a file with the qrels of a question, with characters that a path may not have as %XX.

    >>> qrels_name(), qrels_name("credibility"), qrels_name("reason", "n/a")
    ('qrels.txt', 'qrels.credibility.txt', 'qrels.reason.n%2Fa.txt')
    """
    return ".".join(["qrels", *(quote(name, safe=" ") for name in (question, answer) if name is not None), "txt"])


def _table(read: Callable[[], T], write: Callable[[T, Path | str], None]) -> Writer:
    """Write the rows that `read` returns, and count them."""

    def write_rows(path: Path | str) -> int:
        rows = read()
        write(rows, path)
        return len(rows)

    return write_rows
