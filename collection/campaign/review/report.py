"""Report of a literature review: PRISMA numbers, stopping, texts for protocol and methods, references."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import collection
from collection import formats
from collection.campaign.imports.records import DECIDED, Records
from collection.campaign.recall.recall import Recall, RecallEstimates
from collection.campaign.results.agreement import LABELS, AgreementStudy
from collection.campaign.review.decision_log import describe_log
from collection.campaign.review.decisions import ReviewDecisions
from collection.campaign.review.steps import count_half_screened
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
from collection.formats.reference_files import Copy, ExportedReference
from collection.stopping.outlook import WINDOW
from collection.store import Store

ALL_DECISIONS = (*DECISIONS.values(), CONFLICT, UNSCREENED, NOT_RETRIEVED)
"""Decisions by which records are exported."""

UNRECORDED = "Records without a source file"
"""Name of the source of documents that were imported without bibliographic records."""

UPDATE = "review_update"
"""Setting with the import time (UTC) of the first source of an update of the review."""

SEVERAL_REASONS = "Different reasons"
"""Reason in the diagram for exclusions whose screeners gave different reasons."""

CITATION = f"The Cleverdon authors. Cleverdon, version {collection.__version__} [computer software]. 2026."
METHOD = (
    "Waudby-Smith I, Ramdas A. Confidence sequences for sampling without replacement. Advances in Neural Information "
    "Processing Systems 33 (2020). arXiv:2006.04347."
)
"""The method of the stopping rule."""

_REGISTER = re.compile(
    r"clinicaltrials?\.?gov|\bICTRP\b|\bISRCTN|\bEUCTR|\bEudraCT|\bCTIS\b|\b(?:AN|CH)\w*CTR|\bDRKS|\bUMIN\b|\bregistr"
    r"(?:y|ies)\b|(?<!central )\bregisters?\b",
    re.I,
)
"""Registers of studies; the Cochrane Central Register of Controlled Trials is a database."""

_OTHER_METHOD = re.compile(
    r"\b(?:citation|reference list|hand[ -]?search|website|organi[sz]ation|grey|gray|other|expert|author)", re.I
)


class Stopping(NamedTuple):
    """State of screening, and estimates for the unscreened records; texts are sentences in the words of reviews."""

    recall: Recall
    """Recall of titles and abstracts, in which a record counts as judged from its first decision on."""
    is_reached: bool
    """Whether the decisions so far guarantee the target recall; :attr:`to_do` may change some of them."""
    screened: int
    """Number of records with the decisions of all screeners."""
    half: int
    """Number of records that only one of two screeners has screened."""
    conflicts: int
    to_do: list[str]
    """Reasons why decisions may change: missing second decisions, and unresolved conflicts."""
    found: str
    missing: str
    """Number of relevant records that may be missing, with its confidence interval."""
    next: str
    """Predicted number of relevant records among the next 100."""
    advice: str

    @property
    def may_stop(self) -> bool:
        """Return whether the target recall is guaranteed and no second decision or conflict can change this."""
        return self.is_reached and not self.to_do


class _Search(NamedTuple):
    """Records of a review or of its update."""

    identified: pd.DataFrame
    """Rows of :meth:`.Records.table` for the identified records."""
    others: list[str]
    """Ids of documents that were imported without bibliographic records."""
    before: frozenset[str]
    """Ids of documents of the previous version of the review."""

    @property
    def doc_ids(self) -> list[str]:
        """Ids of the documents to screen."""
        first = self.identified[self.identified["reason"].isna()]
        return [*first.loc[~first["doc_id"].isin(self.before), "doc_id"], *self.others]


@dataclass(eq=False)
class ReviewReport:
    """Report of a literature review; every method raises CampaignError if the campaign is none."""

    store: Store
    settings: Settings
    recall: RecallEstimates
    agreement: AgreementStudy
    records: Records
    decisions: ReviewDecisions

    def prisma(self, *, since: str | None = None, studies: int | None = None) -> PrismaCounts:
        """Count what the PRISMA 2020 flow diagram shows.

        A record is screened when all its screeners have decided, also while their conflict is open, as on all pages.
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
        review = self.settings.require_review()
        table = self.decisions.table().set_index("doc_id")
        single = table["reason"].isin(["", *self.store.judgements.given_answers(REASON)])
        table["reason"] = table["reason"].where(single, SEVERAL_REASONS)
        search, previous, known_from_previous = self._search(since), None, 0
        identified, is_known = search.identified, search.identified["doc_id"].isin(search.before)
        if since is not None:
            known = table[table.index.isin(search.before)]
            is_last = known["stage"] == STAGES[review.stages[-1]]
            previous = int((is_last & (known["decision"] == DECISIONS[INCLUDE])).sum())
            # A publication that the new search found several times is known once; its further records are duplicates.
            known_from_previous = int(identified.loc[is_known, "doc_id"].nunique())
        sources = self.records.sources().set_index("source")
        names = {key: (row["database"], row["name"]) for key, row in sources.iterrows()}
        by_source = _by_source(identified["source"].map(names).tolist())
        if search.others:
            by_source["other_methods"][UNRECORDED] = len(search.others)
        duplicates = identified[identified["reason"].notna() & ~(is_known & ~identified["doc_id"].duplicated())]
        decided = int((duplicates["reason"] == DECIDED).sum())
        doc_ids = search.doc_ids
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
        left = [int(second.get(name, 0)) for name in (NOT_RETRIEVED, UNSCREENED)] if reports else [0, 0]
        return PrismaCounts(
            **by_source,
            previous=previous,
            known_from_previous=known_from_previous,
            duplicates=len(duplicates) - decided,
            decided_duplicates=decided,
            not_screened=not_screened,
            screened=len(flow) - unscreened,
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
            reports_conflicts=int(second.get(CONFLICT, 0)) if reports else 0,
            known=len(set(self.decisions.known()) & set(doc_ids)),
        )

    def _search(self, since: str | None) -> _Search:
        """Find the records of the whole review, or of its update; raise InputError as :meth:`prisma`."""
        ledger, table = self.records.table(), self.decisions.table()
        others = [i for i in sorted(table["doc_id"]) if i not in set(ledger.loc[ledger["reason"].isna(), "doc_id"])]
        if since is None:
            return _Search(ledger, others, frozenset())
        sources = self.records.sources()
        is_new = ledger["source"].isin(sources.loc[sources["imported_at"] >= _read_time(since), "source"])
        if not is_new.any():
            raise InputError(f"since: expected a date before an import of records, found {since}")
        if is_new.all() and not others:
            wanted = "a date or time after the import of the previous version's records"
            raise InputError(f"since: expected {wanted}, found {since}, after which all records were imported")
        return _Search(ledger[is_new], [], frozenset([*ledger.loc[~is_new, "doc_id"], *others]))

    def update_since(self) -> str | None:
        """Return the import time (UTC) of the first source of an update, as stored by :meth:`set_update`.

        None without an update, or if the files of the update or of the previous version were removed.
        """
        since: str | None = self.store.settings.get(UPDATE, None)
        try:
            self._search(since)
        except InputError:
            return None
        return since

    def set_update(self, since: str | None) -> None:
        """Set the import time (UTC) of the first source of an update of the review; None for no update.

        Raises
        ------
        InputError
            As :meth:`prisma`.
        """
        self.settings.require_review()
        self._search(since)
        self.store.settings.put(UPDATE, since)

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

    def write_references(
        self, path: Path | str, decisions: Collection[str] = (DECISIONS[INCLUDE],), *, since: str | None = None
    ) -> int:
        """Write records with all fields of their source, and their decision, stage, reason, notes and screeners.

        Parameters
        ----------
        path
            ``.ris``, ``.bib``, ``.csv`` or ``.xlsx``.
        decisions
            Which records: some of :data:`ALL_DECISIONS`.
        since
            As :meth:`prisma`: only records that the update found and the previous version did not have.

        Returns
        -------
        int
            Number of records.

        Raises
        ------
        InputError
            There is no such decision, the file has another ending or belongs to the campaign, or as :meth:`prisma`.
        """
        self.settings.require_review()
        for decision in decisions:
            if decision not in ALL_DECISIONS:
                raise InputError(f"expected a decision ({join(ALL_DECISIONS, 'or')}), found {decision!r}")
        layout.require_output(path, self.records.directory)
        table = self.table(since=since)
        return formats.write_references(self._references(table[table["decision"].isin(list(decisions))]), path)

    def table(self, *, since: str | None = None) -> pd.DataFrame:
        """Return :meth:`.ReviewDecisions.table`; with `since`, only the records that are new in an update."""
        table = self.decisions.table()
        return table if since is None else table[table["doc_id"].isin(self._search(since).doc_ids)]

    def write_log(self, path: Path | str, *, since: str | None = None) -> int:
        """Write a readable log of all decisions as ``.csv`` or ``.xlsx``; see :func:`.decision_log.describe_log`.

        It cannot be imported again, unlike the log of judgements.

        Returns
        -------
        int
            Number of rows.

        Raises
        ------
        InputError
            The file has another ending or belongs to the campaign, or as :meth:`prisma`.
        """
        review = self.settings.require_review()
        layout.require_output(path, self.records.directory)
        log = describe_log(self.store, review)
        if since is not None:
            log = log[log["record"].isin(self._search(since).doc_ids)]
        return formats.write_text_table(log, path)

    def _references(self, rows: pd.DataFrame) -> Iterator[ExportedReference]:
        columns = ["decision", "stage", "reason", "notes", "screeners"]
        for start in range(0, len(rows), 500):
            part = rows.iloc[start : start + 500]
            doc_ids = part["doc_id"].tolist()
            documents = self.store.corpus.documents(doc_ids)
            records_by_document: dict[str, list[Copy]] = {}
            for record in self.store.records.records(doc_ids):  # the one that made the document comes first
                copy = Copy(record.database or record.source, record.form, record.source_fields)
                records_by_document.setdefault(record.doc_id, []).append(copy)
            for doc_id, row in zip(doc_ids, part[columns].to_dict("records"), strict=True):
                first, *copies = records_by_document.get(doc_id, [Copy("", "", {})])
                named = {str(name): text for name, text in row.items()}
                yield ExportedReference(documents[doc_id], first.form, first.fields, named, copies)

    def kappa(self, *, since: str | None = None) -> dict[str, tuple[int, float]]:
        """Return records with two decisions and Cohen's kappa of "exclude" against the others, by stage.

        Stages without such records are left out; kappa is nan where it is undefined. `since`: only records that are new
        in an update, as :meth:`prisma`.
        """
        kappas = {}
        stages, study = self.settings.require_review().stages, self.agreement
        if since is not None:
            judgements = self.store.judgements.table(columns=(*LABELS, "kind", "counts_as"))
            study = replace(study, judgements=judgements[judgements["doc_id"].isin(self._search(since).doc_ids)])
        for query_id in stages:
            report = study.report(topics=[query_id], resamples=0)
            values = report.values
            chosen = values[(values["scale"] == "binary") & (values["coefficient"] == "cohen")]
            if report.several and len(chosen):
                kappas[STAGES[query_id]] = (int(report.several), float(chosen["value"].iloc[0]))
        return kappas

    def stopping(self) -> Stopping:
        """Describe whether screening of titles and abstracts may stop, what may be missing, and what comes next."""
        self.settings.require_review()
        recall, table = self.recall.for_topic(TITLE_ABSTRACT), self.decisions.table()
        untouched, words = recall.size - recall.judged, self.settings.vocabulary
        sure = percent_down(self.settings.loop().confidence)
        half, conflicts = count_half_screened(table), int((table["title_abstract"] == CONFLICT).sum())
        # With two screeners, a record with only its first decision is not screened yet.
        among = f"{recall.judged:,} of {count(recall.size, 'record')} {'with a decision' if half else 'screened'}"
        found = f"{count(recall.found, 'record')} included or kept as maybe, among {among}."
        if half:
            found += f" Of these, {_lack(half)}; until then, the first decision counts."
        if not recall.judged:
            missing = "Unknown until records are screened."
        elif not untouched:
            none = "No record is unscreened, so none is missing."
            missing = f"Each record has a decision, but {_lack(half)}." if half else none
        elif not recall.curve["drawn"].any():
            missing = (
                f"Up to {count(untouched, 'unscreened record')} may be relevant. The number is estimated from randomly "
                "drawn records, of which none has been screened yet."
            )
        else:
            low, high = recall.estimate.low - recall.found, recall.estimate.high - recall.found
            between = f"{low:,} to {high:,}" if low < high else f"{high:,}"
            missing = (
                f"{between} of the {count(untouched, 'unscreened record')} may be relevant ({sure} confidence "
                "interval, from the randomly drawn records)."
            )
            if not isnan(recall.estimate.relevant) and low < high:
                missing += f" The most likely number is {max(0, round(recall.estimate.relevant) - recall.found):,}."
        is_reached, advice = bool(recall.decision.stop and recall.judged), words.apply(recall.promise)
        to_do = [_lack(half)] * bool(half)
        to_do += [f"{count(conflicts, 'conflict')} {plural(conflicts, 'is', 'are')} unresolved"] * bool(conflicts)
        if half and not untouched:
            advice = f"{join(to_do)}."
        elif to_do and (is_reached or not untouched):
            advice += f" This may change, since {join(to_do)}."
        return Stopping(
            recall,
            is_reached,
            int((table["title_abstract"] != UNSCREENED).sum()),
            half,
            conflicts,
            to_do,
            found,
            missing,
            _describe_next(recall) if untouched or not half else "Every record has a decision.",
            advice,
        )

    def protocol_text(self) -> str:
        """Write the text on screening and stopping for a protocol, which is written before screening starts."""
        review, loop = self.settings.require_review(), self.settings.loop()
        target, sure = percent_down(loop.target), percent_down(loop.confidence)
        resolved = " Conflicts will be resolved by discussion or a third person."
        conflicts = resolved if review.screeners > 1 else ""
        return (
            f"{_screeners(review)}{conflicts} Records will be ranked by active learning in Cleverdon [1], which also "
            "selects some unscreened records at random. Screening of titles and abstracts will stop when the decisions "
            f"on these show, with {sure} confidence, that at least {target} of the records that would be included or "
            "kept as maybe have been found; this holds however often it is checked [2]. Otherwise, all records will "
            "be screened.\n\n"
            f"[1] {CITATION}\n[2] {METHOD}"
        )

    def methods_text(self, *, since: str | None = None) -> str:
        """Write the text of the methods section, with the current numbers and the citations.

        `since`: for an update of a review, as :meth:`prisma`.
        """
        review, counts, loop = self.settings.require_review(), self.prisma(since=since), self.settings.loop()
        stopping = self.stopping()
        recall, target, sure = stopping.recall, percent_down(loop.target), percent_down(loop.confidence)
        parts = [
            *self._describe_search(counts, since),
            _screeners(review, past=True),
            *self._resolved_conflicts(review, since),
        ]
        if counts.known:
            were = plural(counts.known, "was", "were")
            parts.append(f"{count(counts.known, 'record')} {were} known to be relevant and used to start the ranking.")
        size = counts.screened + counts.unscreened + counts.not_screened
        share = f" ({percent(counts.screened / size)})" if size else ""
        # Records that lack the second decision may be drawn, but they are not screened.
        draws = int(recall.curve["drawn"].sum()) if since is None and not stopping.half else 0
        drawn = f", {draws:,} of them selected at random for the stopping rule [2]" if draws else ""
        learned = ", which also used the decisions of the previous version" if since is not None else ""
        new = "new record" if since is not None else "record"
        parts.append(
            f"Records were ranked by active learning in Cleverdon [1]{learned}, the most likely relevant ones first; "
            f"{counts.screened:,} of {count(size, new)}{share} were screened{drawn}."
        )
        if counts.screened < size and stopping.may_stop:
            verb = "stopped" if self.settings.modes()[TITLE_ABSTRACT] == "closed" else "may stop"
            both = " (previous version and update together)" if since is not None else ""
            parts.append(
                f"Screening {verb}: the decisions on randomly selected records show, with {sure} confidence, that at "
                f"least {target} of the records that would be included or kept as maybe by title and abstract{both} "
                "have been found; this holds however often it is checked [2]."
            )
        elif counts.unscreened + counts.not_screened:
            goal = f"{target} recall with {sure} confidence"
            if stopping.is_reached:
                parts.append(f"[Not finished: {join(stopping.to_do)}.]")
            elif counts.not_screened:
                parts.append(f"Screening was ended [add why] before {goal} was shown.")
            else:
                parts.append(f"[Not finished: {goal} is not reached yet.]")
        if counts.sought:
            missing = f"{counts.not_retrieved:,} could not be retrieved, and " if counts.not_retrieved else ""
            assessed = f"{counts.assessed:,} {plural(counts.assessed, 'was', 'were')} assessed for eligibility"
            parts.append(f"Of {count(counts.sought, 'report')} sought for retrieval, {missing}{assessed}.")
        if counts.previous is None:
            parts.append(f"We included {count(counts.included, 'report')}.")
        else:
            total = counts.previous + counts.included
            parts.append(f"We included {count(counts.included, 'new report')}, {total:,} with the previous version.")
        for stage, (several, value) in self.kappa(since=since).items():
            if not isnan(value):
                both = f"{count(several, 'record')} screened by two people, exclude against include or maybe"
                parts.append(f"Agreement on {stage}: Cohen's kappa = {value:.2f} ({both}).")
        if counts.open:
            parts.append(f"[Not finished: {count(counts.open, 'record')} without a final decision.]")
        text = " ".join(parts)
        return f"{text}\n\n[1] {CITATION}" + (f"\n[2] {METHOD}" if "[2]" in text else "")

    def _describe_search(self, counts: PrismaCounts, since: str | None) -> list[str]:
        """Return sentences on the identified records, with a placeholder for the dates of the searches."""
        by_source = {**counts.databases, **counts.registers, **counts.other_methods}
        listed = join([f"{name} ({n:,})" for name, n in by_source.items()])
        records = f"{count(counts.identified, 'record')}{f' from {listed}' if listed else ''}"
        duplicates = count(counts.duplicates + counts.decided_duplicates, "duplicate")
        by_hand = f", {counts.decided_duplicates:,} of them by hand" if counts.decided_duplicates else ""
        if counts.previous is None:
            parts = [f"We identified {records}. We removed {duplicates}{by_hand}."]
        else:
            known = count(counts.known_from_previous, "record")
            parts = [
                f"This is an update of a review that included {count(counts.previous, 'report')}.",
                f"The new searches identified {records}. We removed {duplicates}{by_hand}, and {known} known from the "
                "previous version.",
            ]
        times = self.records.sources()["imported_at"]
        days = sorted({time[:10] for time in (times if since is None else times[times >= _read_time(since)])})
        if days:
            imported = f"imported on {days[0]}" if len(days) == 1 else f"imported from {days[0]} to {days[-1]}"
            parts.append(f"[Add the dates of the searches; their files were {imported}.]")
        return parts

    def _resolved_conflicts(self, review: Review, since: str | None) -> list[str]:
        """Return a sentence on the conflicts between screeners that were resolved, and by whom, if there are any."""
        columns = ["query_id", "doc_id", "annotator", "relevance", "answers", "counts_as", "source"]
        log = self.store.judgements.table(columns=columns, several=True)
        if since is not None:
            log = log[log["doc_id"].isin(self._search(since).doc_ids)]
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
        who = {0: "one of the two screeners", resolved: "a third person"}.get(
            others, f"one of the two screeners, in {others:,} of them a third person,"
        )
        was = plural(resolved, "was resolved", "were resolved")
        return [f"{count(resolved, 'conflict')} {was} [add how, such as by discussion]; {who} entered the decision."]


def _read_time(text: str) -> str:
    """A date or time as :func:`collection.core.clock.now` writes times; raises InputError."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        wanted = "a date or time such as 2026-01-31 or 2026-01-31T14:30"
        raise InputError(f"since: expected {wanted}, found {text!r}") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="milliseconds")


def _by_source(names: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Count records by database (or file if the database is unknown), by register, and by other methods."""
    by_source: dict[str, dict[str, int]] = {"databases": {}, "registers": {}, "other_methods": {}}
    for database, name in names:
        is_register, is_other = _REGISTER.search(database), _OTHER_METHOD.search(database)
        numbers = by_source["registers" if is_register else "other_methods" if is_other else "databases"]
        numbers[database or name] = numbers.get(database or name, 0) + 1
    return by_source


def _reasons(reasons: pd.Series[str]) -> Mapping[str, int]:
    return {str(reason): int(number) for reason, number in reasons.value_counts().items()}


def _screeners(review: Review, *, past: bool = False) -> str:
    verb = "screened" if past else "will screen"
    if review.screeners == 1:
        return f"One person {verb} each record."
    return f"Two people {verb} each record without seeing each other's decisions."


def _lack(half: int) -> str:
    return f"{count(half, 'record')} {plural(half, 'lacks', 'lack')} the second decision"


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
