"""Files out of a campaign: qrels in their forms, logs, the pool. Each is replaced whole or left as it was."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from collection import adjudication, formats, layout
from collection import export as exporting
from collection.adjudication import Chosen
from collection.campaign.adjudication import RULE_FILE, Adjudicating
from collection.campaign.agreement import Agreeing
from collection.campaign.document_view import Showing
from collection.campaign.topic_decisions import Deciding
from collection.errors import CampaignError, InputError
from collection.formats import QrelsForm


class Exporting(Deciding, Agreeing, Adjudicating, Showing):
    """The part of a campaign that writes what it holds to files."""

    def export(
        self,
        *,
        qrels: Path | str | None = None,
        judgements: Path | str | None = None,
        labels: Path | str | None = None,
        passages: Path | str | None = None,
        pool: Path | str | None = None,
        missing_documents: Path | str | None = None,
        rule: str | Chosen | None = None,
        qrels_form: QrelsForm = "judged",
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
    ) -> dict[str, int]:
        """Write what is asked for; each file is replaced whole or left as it was.

        Parameters
        ----------
        qrels
            The settled judgements in TREC form. Beside FILE, which has no room for it, FILE.rule.json says which rule
            made them, of how many judgements by whom, and how the grades came about; see :meth:`rule_report`.
        judgements
            The whole log, ``.jsonl``, ``.csv`` or ``.parquet``: every judgement, also the revised ones. Its
            ``passages`` are quoted, as :meth:`quoted` does it.
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
            How several annotators' judgements become one grade, as :meth:`qrels` takes it.
        qrels_form, unjudged, include_unjudged_topics
            As for :meth:`qrels_as`; FILE.rule.json says how many topics were left out.

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
            frame = self.quoted(self.store.judgements(current=False))
            formats.write_judgements(frame, judgements)
            written[str(judgements)] = len(frame)
        if labels is not None:
            frame = self.labels().sort_values(["annotator", "query_id", "doc_id"])
            formats.write_labels(frame, labels)
            written[str(labels)] = len(frame)
        if passages is not None:
            written[str(passages)] = formats.write_passages(self.quoted(self.store.judgements()), passages)
        if pool is not None:
            frame = self.store.pool()
            formats.write_pool(frame, pool)
            written[str(pool)] = len(frame)
        if missing_documents is not None:
            ids = self.store.missing_documents()
            formats.write_lines(ids, missing_documents)
            written[str(missing_documents)] = len(ids)
        return written

    def qrels_as(
        self,
        form: QrelsForm = "judged",
        *,
        rule: str | Chosen | None = None,
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
    ) -> pd.DataFrame:
        """The qrels with what their form adds, as :func:`collection.formats.read_qrels` reads it back.

        Parameters
        ----------
        form
            "judged": one grade a pair. "strata": with the stratum that each pair of a sampled pool was drawn from, and
            -1 for what is in it and has no grade (:func:`collection.export.with_strata` says more).
            "probabilities": with the probability of being drawn, 1 where nothing was.
        rule
            As :meth:`qrels` takes it.
        unjudged
            Also the pairs of the pool without a grade, as -1; strata have them whatever is said here.
        include_unjudged_topics
            Also topics in which no pair has a grade, all of it -1. Every system has 0 in them, so they lower all means.

        Raises
        ------
        CampaignError
            Strata or probabilities are asked for, and no pair of the pool came from a sample that has them.
        InputError
            A campaign has no qrels of this form, or topics without a grade are to be in qrels without unjudged pairs.
        """
        frame = self._qrels_of_all_topics(form, rule, unjudged)
        if not include_unjudged_topics:
            return exporting.of_judged_topics(frame)
        if not unjudged and form != "strata":
            raise InputError("a topic without a grade has unjudged pairs only: ask for the unjudged pairs, too")
        return frame

    def unjudged_topics(self, form: QrelsForm = "judged", *, rule: str | Chosen | None = None) -> list[str]:
        """Topics of the pool in which no pair has a grade: :meth:`qrels_as` leaves them out unless asked for.

        Parameters
        ----------
        form, rule
            As for :meth:`qrels_as`.
        """
        frame = self._qrels_of_all_topics(form, rule, unjudged=True)
        judged = exporting.of_judged_topics(frame)["query_id"]
        return frame.loc[~frame["query_id"].isin(judged), "query_id"].drop_duplicates().tolist()

    def _qrels_of_all_topics(self, form: QrelsForm, rule: str | Chosen | None, unjudged: bool) -> pd.DataFrame:
        """What :meth:`qrels_as` gives, with the topics in which no pair has a grade."""
        qrels, pool = self.qrels(rule), self.store.pool()
        if form == "judged":
            return self._in_order(exporting.with_unjudged(qrels, pool)) if unjudged else qrels
        if form not in ("strata", "probabilities"):
            raise InputError(f"qrels are exported as judged, strata or probabilities; there is no grade per {form}")
        column = "stratum" if form == "strata" else "probability"
        if not pool[column].notna().any():
            raise CampaignError(
                f"no pair of the pool has a {column}: it was not sampled; pool by a strategy that draws, or export the "
                "qrels as they are"
            )
        left_out = self.store.sampled_out()
        if form == "strata":
            return self._in_order(exporting.with_strata(qrels, pool, left_out))
        return self._in_order(exporting.with_probabilities(qrels, pool, left_out, unjudged=unjudged))

    def qrels_forms(self) -> list[QrelsForm]:
        """The forms in which the qrels can be exported: strata and probabilities only where the pool was sampled."""
        pool = self.store.pool()
        columns: dict[QrelsForm, str] = {"strata": "stratum", "probabilities": "probability"}
        return ["judged", *(form for form, column in columns.items() if pool[column].notna().any())]

    def _export_qrels(
        self,
        path: Path | str,
        rule: str | Chosen | None,
        form: QrelsForm,
        unjudged: bool,
        include_unjudged_topics: bool,
    ) -> int:
        """Write qrels, and beside them what made them: the TREC form has no place for it, not even for a comment."""
        chosen = adjudication.parse(rule)
        report = self.rule_report(chosen)
        frame = self.qrels_as(form, rule=chosen, unjudged=unjudged, include_unjudged_topics=include_unjudged_topics)
        if form != "judged" or unjudged:
            report |= {"form": form, "unjudged": int((frame["relevance"] < 0).sum())}
        if form == "strata" or unjudged:
            left_out = [] if include_unjudged_topics else self.unjudged_topics(form, rule=chosen)
            report |= {"unjudged_topics_left_out": len(left_out)}
        formats.write_qrels(frame, path, form=form)
        formats.write_report(report, path, RULE_FILE)
        return len(frame)
