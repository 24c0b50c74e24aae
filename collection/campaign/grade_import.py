"""Import of grades that were given elsewhere: qrels, and labels of annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pandas as pd

from collection import formats
from collection.campaign.import_session import ImportSession
from collection.campaign.judging import Judging
from collection.campaign.loop_settings import EVERYWHERE
from collection.campaign.settings import Settings
from collection.errors import ConflictError, FormatError, InputError
from collection.phrases import count, plural
from collection.records import QRELS_ANNOTATOR, CountsAs, GradeScale, Judgement
from collection.store import Added

_LABEL = ["annotator", "query_id", "doc_id", "relevance"]


@dataclass(eq=False)
class GradeImport:
    """Import of grades that were given elsewhere: qrels, and labels of annotators."""

    session: ImportSession
    grades: GradeScale
    settings: Settings
    judging: Judging

    def import_qrels(self, path: Path | str) -> None:
        """Import qrels as judgements of the annotator ``qrels:NAME``."""
        frame = formats.read_qrels(path)
        self._require_grades(path, frame[frame["relevance"] >= 0], "; negative for unjudged")
        known, ignored = self.session.known_topics(path, frame)
        graded = known[known["relevance"] >= 0]
        annotator = f"{QRELS_ANNOTATOR}{formats.stem(path)}"
        added, _ = self._write(path, graded.assign(annotator=annotator, counts_as="judgement"))
        if added.new:
            self.session.notice(path, "graded pairs of the pool count as judged; annotators are not asked for them")
        self.session.added(path, "judgement", added, f" by annotator {annotator!r}")
        self.session.ignored(path, ignored)
        if unjudged := len(known) - len(graded):
            self.session.notice(path, f"skipped {count(unjudged, 'pair')} with a negative grade (unjudged)")

    def import_labels(self, path: Path | str) -> None:
        """Import labels as judgements of their annotators."""
        log = formats.read_label_log(path)
        if log.labels.empty:
            raise InputError(f"{path}: expected labels, found no grades")
        self._require_grades(path, log.labels)
        known, ignored = self.session.known_topics(path, log.labels)
        self._require_one_spelling(path, map(str, known["annotator"].unique()))
        added, surplus = self._write(path, known.assign(counts_as=self._count_as(known)))
        people, counted = known["annotator"].nunique(), len(known) - surplus
        if added.new and counted and surplus:
            judgements = plural(counted, "counts as a judgement", "count as judgements")
            self.session.notice(path, f"{count(counted, 'label')} {judgements}")
        self.session.added(path, "judgement", added, f" by {count(people, 'annotator')}")
        self.session.ignored(path, ignored)
        if surplus:
            are = plural(surplus, "is surplus: its pair has", "are surplus: their pairs have")
            self.session.notice(
                path,
                f"{count(surplus, 'label')} {are} enough judgements. Surplus labels stay in the log but do not count; "
                f"to count them, raise the number of annotators with `cleverdon assign {self.session.directory} "
                "--annotators K` and import the file again",
            )
        if log.left_out:
            counts = ", ".join(f"{rows:,} {what!r}" for what, rows in log.left_out.items())
            self.session.notice(path, f"skipped rows that are not an annotator's grade ({counts})")

    def _require_grades(self, path: Path | str, frame: pd.DataFrame, or_else: str = "") -> None:
        outside = frame[~frame["relevance"].isin(set(self.grades.sentences))]
        if len(outside):
            row = outside.iloc[0].to_dict()
            if "annotator" in row:
                line = formats.find_label_line(path, row["annotator"], row["query_id"], row["doc_id"])
            else:
                line = formats.find_pair_line(path, row["query_id"], row["doc_id"])
            raise FormatError(path, line, f"a grade of this campaign ({self.grades}{or_else})", f"{row['relevance']}")

    def _require_one_spelling(self, path: Path | str, names: Iterable[str]) -> None:
        """Refuse names that would split one person into two annotators."""
        accounts = self.session.store.accounts
        there = {name.casefold(): name for name in (*accounts.names_in_the_log(), *accounts.names())}
        for name in names:
            other = there.setdefault(name.casefold(), name)
            if other != name:
                raise ConflictError(
                    f"{path}: annotators {name!r} and {other!r} differ only in upper and lower case; use one spelling "
                    "if they are the same person, otherwise rename one"
                )

    def _count_as(self, labels: pd.DataFrame) -> list[CountsAs]:
        """Decide what each new label counts as: the earliest labels of a pair count until it has enough.

        Labels without a time come last, in the order of the file. Outside the pool and any loop every label counts, and
        so does every one of imported qrels. `labels` has ``annotator``, ``query_id``, ``doc_id`` and perhaps
        ``first_judged_at``.
        """
        store = self.session.store
        store.corpus.add_document_ids(labels["doc_id"])
        pool, open_modes = store.pool.pairs(), self.settings.modes_when_open()
        pooled = set(zip(pool["query_id"], pool["doc_id"], strict=True))
        there = {name: store.judgements.last_grades(name) for name in labels["annotator"].unique()}
        order = labels.reset_index(drop=True)
        if "first_judged_at" in order:
            times = pd.to_datetime(order["first_judged_at"], utc=True, format="ISO8601", errors="coerce")
            order = order.loc[times.sort_values(kind="stable", na_position="last").index]
        counts_as: list[CountsAs] = ["judgement"] * len(labels)
        taken: Counter[tuple[str, str]] = Counter()
        for row, annotator, query_id, doc_id in order[_LABEL[:3]].itertuples(name=None):
            pair = (query_id, doc_id)
            is_requested = pair in pooled or open_modes[query_id] in EVERYWHERE
            counts_already = there[annotator].get(pair, (None, None))[1] == "judgement"
            if not is_requested or counts_already or annotator.startswith(QRELS_ANNOTATOR):
                continue
            if self.judging.demand.has_room_for_label(annotator, query_id, doc_id, taken[pair]):
                taken[pair] += 1
            else:
                counts_as[row] = "surplus"
        return counts_as

    def _write(self, path: Path | str, graded: pd.DataFrame) -> tuple[Added, int]:
        """Write grades in the order of the rows; return what was added, and how many of the grades are surplus.

        `graded` has ``annotator``, ``query_id``, ``doc_id``, ``relevance``, ``counts_as`` (applies where the annotator
        has no judgement of the pair yet), and further fields of a log.
        """
        store = self.session.store
        store.corpus.add_document_ids(graded["doc_id"])
        there = {name: store.judgements.last_grades(name) for name in graded["annotator"].unique()}
        new = changed = same = surplus = 0
        columns = [name for name in graded.columns if name != "first_judged_at"]
        for row in graded[columns].itertuples(index=False, name=None):
            details = dict(zip(columns, row, strict=True))
            annotator, query_id, doc_id, relevance = (details.pop(name) for name in _LABEL)
            counted: CountsAs = details.pop("counts_as")
            before, as_before = there[annotator].get((query_id, doc_id), (None, None))
            if before is not None and before != relevance and not self.session.replace:
                if annotator.startswith(QRELS_ANNOTATOR):
                    thing, line = "file", formats.find_pair_line(path, query_id, doc_id)
                else:
                    thing, line = "annotator", formats.find_label_line(path, annotator, query_id, doc_id)
                raise ConflictError(
                    f"{path}, line {line}: expected {before}, the grade of {annotator!r} in the campaign for topic "
                    f"{query_id!r}, document {doc_id!r}, found {relevance}; rename the {thing}, or use --replace"
                )
            if as_before == "judgement":
                counted = "judgement"
            surplus += counted == "surplus"
            if before == relevance and counted == as_before:
                same += 1
                continue
            new, changed = new + (before is None), changed + (before is not None)
            uuid = details.pop("uuid", None)
            if uuid is None or store.judgements.logged(uuid) is not None:
                uuid = str(uuid4())
            judgement = Judgement(
                uuid, annotator, query_id, doc_id, "graded", int(relevance), source="imported", counts_as=counted
            )
            self.judging.write(judgement._replace(**{n: v for n, v in details.items() if v is not None}))
        return Added(new, changed, same), surplus
