"""Report of a literature review: PRISMA numbers, stopping, texts for protocol and methods, references."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import collection
from collection import formats
from collection.campaign.imports.records import DECIDED, Records
from collection.campaign.recall.recall import Recall, RecallEstimates
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.settings.settings import Settings
from collection.core import layout
from collection.core.errors import InputError
from collection.core.phrases import count, join, percent, percent_down, plural
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    EXCLUDE,
    GOES_ON,
    INCLUDE,
    MARKS,
    MAYBE,
    NOT_RETRIEVED,
    REASON,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
    Review,
)
from collection.export.prisma import PrismaCounts
from collection.export.prisma_diagram import draw_png, draw_svg
from collection.formats.write_references import ExportedReference
from collection.stopping.outlook import WINDOW
from collection.store import Store

ALL_DECISIONS = (*DECISIONS.values(), CONFLICT, UNSCREENED, NOT_RETRIEVED)
"""Decisions by which records are exported."""

UNRECORDED = "Records without a source file"
"""Name of the source of documents that were imported without bibliographic records."""

SEVERAL_REASONS = "Different reasons"
"""Reason in the diagram for exclusions whose screeners gave different reasons."""

CITATION = f"The Cleverdon authors. Cleverdon, version {collection.__version__} [computer software]. 2026."
METHOD = (
    "Waudby-Smith I, Ramdas A. Confidence sequences for sampling without replacement. Advances in Neural Information "
    "Processing Systems 33 (2020). arXiv:2006.04347."
)
"""The method of the stopping rule."""

_OTHER_SOURCE = re.compile(
    r"\b(?:citation|reference list|hand[ -]?search|website|organi[sz]ation|grey|gray|other|expert|author)", re.I
)


class Stopping(NamedTuple):
    """State of screening, and what is known of the unscreened records; texts are sentences in the words of reviews."""

    recall: Recall
    """That of titles and abstracts."""
    may_stop: bool
    found: str
    missing: str
    """Number of relevant records that may be missing, with its confidence interval."""
    next: str
    """Predicted number of relevant records among the next 100."""
    advice: str


@dataclass(eq=False)
class ReviewReport:
    """Report of a literature review; every method raises CampaignError if the campaign is none."""

    store: Store
    settings: Settings
    recall: RecallEstimates
    agreement: AgreementStudy
    records: Records
    decisions: Callable[[], pd.DataFrame]
    """The decisions on records."""
    known: Callable[[], Sequence[str]]
    """The records that were known to be relevant."""

    def prisma(self, *, since: str | None = None, studies: int | None = None) -> PrismaCounts:
        """Count what the PRISMA 2020 flow diagram shows.

        Records that nobody has screened are open; once screening of titles and abstracts has ended (the stage is
        closed), they count as marked as ineligible by automation tools. Those that one of two people has screened stay
        open.

        Parameters
        ----------
        since
            Date or time in UTC (ISO 8601) of the update of a review: sources imported from then on are its new search,
            and what was imported before is the previous version, whose included records are the previous studies.
        studies
            Number of studies that the included reports describe, if somebody has counted them.

        Raises
        ------
        InputError
            `since` is no date, nothing was imported from then on, or nothing before.
        """
        review, ledger = self.settings.require_review(), self.records.table()
        table = self.decisions().set_index("doc_id")
        single = table["reason"].isin(["", *self.store.judgements.given_answers(REASON)])
        table["reason"] = table["reason"].where(single, SEVERAL_REASONS)
        sources = self.records.sources().set_index("source")
        others = sorted(set(table.index) - set(ledger.loc[ledger["reason"].isna(), "doc_id"]))
        previous, known_from_previous = None, 0
        if since is not None:
            is_new = ledger["source"].isin(sources.index[sources["imported_at"] >= _read_time(since)])
            if not is_new.any():
                raise InputError(f"since: expected a date before an import of records, found {since}")
            if is_new.all() and not others:
                wanted = "a date or time after the import of the previous version's records"
                raise InputError(f"since: expected {wanted}, found {since}, after which all were imported")
            before = {*ledger.loc[~is_new, "doc_id"], *others}
            known = table[table.index.isin(before)]
            is_last = known["stage"] == STAGES[review.stages[-1]]
            previous = int((is_last & (known["decision"] == DECISIONS[INCLUDE])).sum())
            identified, others = ledger[is_new], []
            ledger = identified[~identified["doc_id"].isin(before)]
            known_from_previous = len(identified) - len(ledger)
        else:
            identified = ledger
        names = {key: (row["database"], row["name"]) for key, row in sources.iterrows()}
        databases, other_sources = _by_source(identified["source"].map(names).tolist())
        if others:
            other_sources[UNRECORDED] = len(others)
        duplicates = ledger["reason"].notna()
        decided = int((ledger["reason"] == DECIDED).sum())
        doc_ids = [*ledger.loc[~duplicates, "doc_id"], *others]
        # Documents that are gone from the table of decisions have lost their text, so nobody can screen them.
        flow = table.reindex(doc_ids).fillna({"title_abstract": UNSCREENED}).fillna("")
        first, second = (flow[name].value_counts() for name in ("title_abstract", "full_text"))
        unscreened, conflicts = int(first.get(UNSCREENED, 0)), int(first.get(CONFLICT, 0))
        has_ended = self.settings.modes()[TITLE_ABSTRACT] == "closed"
        # A record that only one of two people has screened was not left out by the ranking.
        untouched = (flow["title_abstract"] == UNSCREENED) & (flow["title_abstract_by"] == "")
        not_screened = int(untouched.sum()) if has_ended else 0
        last = second if review.full_text else first
        reports = int(flow["title_abstract"].isin(GOES_ON).sum()) if review.full_text else 0
        left = [int(second.get(name, 0)) for name in (NOT_RETRIEVED, UNSCREENED, CONFLICT)] if reports else [0, 0, 0]
        return PrismaCounts(
            databases,
            other_sources,
            previous=previous,
            known_from_previous=known_from_previous,
            duplicates=int(duplicates.sum()) - decided,
            decided_duplicates=decided,
            not_screened=not_screened,
            screened=len(flow) - unscreened - conflicts,
            excluded=_reasons(flow.loc[flow["title_abstract"] == DECISIONS[EXCLUDE], "reason"]),
            full_text=review.full_text,
            sought=reports,
            not_retrieved=left[0],
            assessed=reports - sum(left),
            reports_excluded=_reasons(flow.loc[flow["full_text"] == DECISIONS[EXCLUDE], "reason"]),
            included=int(last.get(DECISIONS[INCLUDE], 0)),
            studies=studies,
            undecided=int(last.get(DECISIONS[MAYBE], 0)),
            unscreened=unscreened - not_screened,
            conflicts=conflicts,
            reports_unscreened=left[1],
            reports_conflicts=left[2],
            known=len(set(self.known()) & set(doc_ids)),
        )

    def write_prisma(self, path: Path | str, *, since: str | None = None, studies: int | None = None) -> PrismaCounts:
        """Write the flow diagram as ``.svg`` or ``.png``, or its numbers as ``.json`` or ``.csv``; see :meth:`prisma`.

        Raises
        ------
        InputError
            The file has another ending or belongs to the campaign, or as :meth:`prisma`.
        """
        path, counts, title = Path(path), self.prisma(since=since, studies=studies), self.settings.title
        writers: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: draw_svg(counts, title).encode(),
            ".png": lambda: draw_png(counts, title),
            ".json": lambda: json.dumps(counts.to_json(), indent=2, ensure_ascii=False).encode(),
            ".csv": lambda: counts.table().to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig"),
        }
        if path.suffix.lower() not in writers:
            raise InputError(f"{path}: expected a file that ends in {join(writers, 'or')}")
        layout.require_output(path, self.records.directory)
        with layout.storage_errors(path):
            path.write_bytes(writers[path.suffix.lower()]())
        return counts

    def write_references(self, path: Path | str, decisions: Collection[str] = (DECISIONS[INCLUDE],)) -> int:
        """Write records with all fields of their source, and their decision, stage, reason, notes and screeners.

        Parameters
        ----------
        path
            ``.ris``, ``.bib``, ``.csv`` or ``.xlsx``.
        decisions
            Which records: some of :data:`ALL_DECISIONS`.

        Returns
        -------
        int
            Number of records.

        Raises
        ------
        InputError
            There is no such decision, or the file has another ending or belongs to the campaign.
        """
        self.settings.require_review()
        for decision in decisions:
            if decision not in ALL_DECISIONS:
                raise InputError(f"expected a decision ({join(ALL_DECISIONS, 'or')}), found {decision!r}")
        layout.require_output(path, self.records.directory)
        table = self.decisions()
        return formats.write_references(self._references(table[table["decision"].isin(list(decisions))]), path)

    def _references(self, rows: pd.DataFrame) -> Iterator[ExportedReference]:
        columns = ["decision", "stage", "reason", "notes", "screeners"]
        for start in range(0, len(rows), 500):
            part = rows.iloc[start : start + 500]
            doc_ids = part["doc_id"].tolist()
            documents = self.store.corpus.documents(doc_ids)
            records_by_document: dict[str, tuple[str, dict[str, list[str]]]] = {}
            for record in self.store.records.records(doc_ids):  # the one that made the document comes first
                records_by_document.setdefault(record.doc_id, (record.form, record.source_fields))
            for doc_id, row in zip(doc_ids, part[columns].to_dict("records"), strict=True):
                form, fields = records_by_document.get(doc_id, ("", {}))
                named = {str(name): text for name, text in row.items()}
                yield ExportedReference(documents[doc_id], form, fields, named)

    def kappa(self) -> dict[str, tuple[int, float]]:
        """Return records with two decisions and Cohen's kappa of "exclude" against the others, by stage.

        Stages without such records are left out; kappa is nan where it is undefined.
        """
        kappas = {}
        for query_id in self.settings.require_review().stages:
            report = self.agreement.report(topics=[query_id], resamples=0)
            values = report.values
            chosen = values[(values["scale"] == "binary") & (values["coefficient"] == "cohen")]
            if report.several and len(chosen):
                kappas[STAGES[query_id]] = (int(report.several), float(chosen["value"].iloc[0]))
        return kappas

    def stopping(self) -> Stopping:
        """Describe whether screening of titles and abstracts may stop, what may be missing, and what comes next."""
        self.settings.require_review()
        recall = self.recall.for_topic(TITLE_ABSTRACT)
        left, words = recall.size - recall.judged, self.settings.vocabulary
        sure = percent_down(self.settings.loop().confidence)
        screened = f"{recall.judged:,} of {count(recall.size, 'record')}"
        found = f"{count(recall.found, 'record')} included or kept as maybe, among {screened} screened."
        if not recall.judged:
            missing = "Unknown until records are screened."
        elif not left:
            half = int((self.decisions()["title_abstract"] == UNSCREENED).sum())
            lack = f"{count(half, 'record')} {plural(half, 'lacks', 'lack')} the second one"
            none = "No record is unscreened, so none is missing."
            missing = f"Each record has a decision, but {lack}." if half else none
        elif not recall.curve["drawn"].any():
            missing = (
                f"Up to {count(left, 'unscreened record')} may be relevant. The number is estimated from randomly "
                "drawn records, of which none has been screened yet."
            )
        else:
            low, high = recall.estimate.low - recall.found, recall.estimate.high - recall.found
            between = f"{low:,} to {high:,}" if low < high else f"{high:,}"
            missing = (
                f"{between} of the {count(left, 'unscreened record')} may be relevant ({sure} confidence interval, "
                "from the randomly drawn records)."
            )
            if not isnan(recall.estimate.relevant) and low < high:
                missing += f" The most likely number is {max(0, round(recall.estimate.relevant) - recall.found):,}."
        return Stopping(
            recall,
            bool(recall.decision.stop and recall.judged),
            found,
            missing,
            _describe_next(recall),
            words.apply(recall.promise),
        )

    def protocol_text(self) -> str:
        """Write the text on screening and stopping for a protocol, which is written before screening starts."""
        review, loop = self.settings.require_review(), self.settings.loop()
        target, sure = percent_down(loop.target), percent_down(loop.confidence)
        resolved = " Conflicts will be resolved by discussion or a third person."
        conflicts = resolved if review.screeners > 1 else ""
        return (
            f"{_screeners(review)}{conflicts} Records will be ranked by active learning in Cleverdon [1], which also "
            "draws some unscreened records at random. Screening of titles and abstracts will stop when these draws "
            f"show, with {sure} confidence, that at least {target} of the records that would be included or kept as "
            "maybe have been found; this holds however often it is checked [2]. Otherwise, all records will be "
            "screened.\n\n"
            f"[1] {CITATION}\n[2] {METHOD}"
        )

    def methods_text(self) -> str:
        """Write the text of the methods section, with the numbers as they are now and the citations."""
        review, counts, loop = self.settings.require_review(), self.prisma(), self.settings.loop()
        stopping = self.stopping()
        recall, target, sure = stopping.recall, percent_down(loop.target), percent_down(loop.confidence)
        sources = join([f"{name} ({n:,})" for name, n in {**counts.databases, **counts.other_sources}.items()])
        duplicates = counts.duplicates + counts.decided_duplicates
        parts = [
            f"We identified {count(counts.identified, 'record')}{f' from {sources}' if sources else ''} and removed "
            f"{count(duplicates, 'duplicate')}"
            + (f", {counts.decided_duplicates:,} of them by hand." if counts.decided_duplicates else "."),
            _screeners(review, past=True),
            *self._resolved_conflicts(review),
        ]
        if counts.known:
            were = plural(counts.known, "was", "were")
            parts.append(f"{count(counts.known, 'record')} {were} known to be relevant and used to start the ranking.")
        share = f" ({percent(counts.screened / recall.size)})" if recall.size else ""
        draws = int(recall.curve["drawn"].sum())
        drawn = f", {draws:,} of them drawn at random" if draws else ""
        parts.append(
            f"Records were ranked by active learning in Cleverdon [1]; {counts.screened:,} of "
            f"{count(recall.size, 'record')}{share} were screened{drawn}."
        )
        if counts.screened < recall.size and stopping.may_stop:
            verb = "stopped" if self.settings.modes()[TITLE_ABSTRACT] == "closed" else "may stop"
            parts.append(
                f"Screening {verb}: the random draws show, with {sure} confidence, that at least {target} of the "
                "records that would be included or kept as maybe by title and abstract have been found; this "
                "holds however often it is checked [2]."
            )
        elif counts.screened < recall.size:
            parts.append(f"[Not finished: {target} recall with {sure} confidence is not reached yet.]")
        if review.full_text:
            missing = f"{counts.not_retrieved:,} could not be retrieved, and " if counts.not_retrieved else ""
            assessed = f"{counts.assessed:,} {plural(counts.assessed, 'was', 'were')} assessed for eligibility"
            parts.append(f"Of {count(counts.sought, 'report')} sought for retrieval, {missing}{assessed}.")
        parts.append(f"We included {count(counts.included, 'report')}.")
        for stage, (several, value) in self.kappa().items():
            if not isnan(value):
                both = f"{count(several, 'record')} screened by two people, exclude against include or maybe"
                parts.append(f"Agreement on {stage}: Cohen's kappa = {value:.2f} ({both}).")
        if counts.open:
            parts.append(f"[Not finished: {count(counts.open, 'record')} without a final decision.]")
        return f"{' '.join(parts)}\n\n[1] {CITATION}\n[2] {METHOD}"

    def _resolved_conflicts(self, review: Review) -> list[str]:
        """Return a sentence on the conflicts between screeners that were resolved, and by whom, if there are any."""
        columns = ["query_id", "doc_id", "annotator", "relevance", "answers", "counts_as", "source"]
        log = self.store.judgements.table(columns=columns, several=True)
        is_final = log["counts_as"] == "adjudication"
        final = log.loc[is_final & ~log["source"].isin(MARKS), ["query_id", "doc_id", "annotator"]]
        both = log[log["counts_as"] == "judgement"].merge(final, on=["query_id", "doc_id"], suffixes=("", "_final"))
        by_screener = []
        for (query_id, _), own in both.groupby(["query_id", "doc_id"]):
            grades = [None if pd.isna(grade) else int(grade) for grade in own["relevance"]]
            if query_id in review.stages and review.is_conflict(str(query_id), grades, own["answers"]):
                by_screener.append(bool((own["annotator"] == own["annotator_final"]).any()))
        if not by_screener:
            return []
        resolved, others = len(by_screener), by_screener.count(False)
        third = "by a person who had not screened the record"
        whom = {0: "by one of the two screeners", resolved: third}.get(others, f"{others:,} of them {third}")
        return [f"{count(resolved, 'conflict')} {plural(resolved, 'was', 'were')} resolved, {whom}."]


def _read_time(text: str) -> str:
    """A date or time as :func:`collection.core.clock.now` writes times; raises InputError."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        wanted = "a date or time such as 2026-01-31 or 2026-01-31T14:30"
        raise InputError(f"since: expected {wanted}, found {text!r}") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="milliseconds")


def _by_source(names: Sequence[tuple[str, str]]) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of records by database, and by other methods: files without a database, citation searching and others."""
    databases: dict[str, int] = {}
    others: dict[str, int] = {}
    for database, name in names:
        numbers = others if not database or _OTHER_SOURCE.search(database) else databases
        numbers[database or name] = numbers.get(database or name, 0) + 1
    return databases, others


def _reasons(reasons: pd.Series[str]) -> Mapping[str, int]:
    return {str(reason): int(number) for reason, number in reasons.value_counts().items()}


def _screeners(review: Review, *, past: bool = False) -> str:
    verb = "screened" if past else "will screen"
    if review.screeners == 1:
        return f"One person {verb} each record."
    return f"Two people {verb} each record without seeing each other's decisions."


def _describe_next(recall: Recall) -> str:
    outlook = recall.outlook
    if recall.judged >= recall.size:
        return "All records are screened."
    if outlook is None:
        return f"Unknown until {WINDOW} records of the ranking are screened."
    amount = f"{outlook.low:,} to {outlook.high:,}" if outlook.low < outlook.high else f"About {outlook.high:,}"
    return (
        f"{amount} of the next {count(outlook.upcoming, 'record')} of the ranking are likely to be included or kept as "
        f"maybe (90% prediction interval, not guaranteed), since {outlook.hits:,} of the last {WINDOW} ranked records "
        f"{plural(outlook.hits, 'was', 'were')}."
    )
