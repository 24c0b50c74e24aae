"""State shared by the importers of one import: the campaign, the messages and the known topics."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from collection.campaign.log.results import ImportReport
from collection.core.errors import DoubtError, FormatError, FormatWarning, InputError, unit
from collection.core.phrases import count, join_first, plural
from collection.core.records import DuplicateRecord
from collection.core.vocabulary import RETRIEVAL, Vocabulary
from collection.formats import kinds
from collection.formats.source import FilePath
from collection.id_matches import describe_alike, find_alike, loose_key
from collection.store import Added, Store

KEPT_AS = "kept_as"


def count_left_out(rows: int, row: str) -> str:
    """Write how many rows name left-out duplicates; `row` names one row."""
    names = plural(rows, "names a record left out as a duplicate", "name records left out as duplicates")
    return f"{count(rows, row)} {names}"


@dataclass(eq=False)
class ImportSession:
    """One import into a campaign.

    `replace`: overwrite what has the same name but other content. `accept_doubts`: import also files that look like
    another kind. `words`: those of the messages.
    """

    store: Store
    directory: Path
    replace: bool
    accept_doubts: bool = False
    words: Vocabulary = RETRIEVAL
    report: ImportReport = field(default_factory=lambda: ImportReport([], []))
    duplicates: list[DuplicateRecord] = field(default_factory=list)
    kept_as: dict[str, str] = field(init=False)
    """Id of a duplicate that this or an earlier import left out -> id of the document that was kept."""

    _caught: list[warnings.WarningMessage] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.kept_as = dict(self.store.settings.get(KEPT_AS, {}))

    def keep(self) -> None:
        """Store :attr:`kept_as`, which later imports need."""
        if self.kept_as != self.store.settings.get(KEPT_AS, {}):
            self.store.settings.put(KEPT_AS, self.kept_as)

    def map_to_kept_records(self, path: FilePath, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with the ids of kept records in place of those of left-out duplicates, and report them.

        Afterwards rows may have the same ids.
        """
        left_out = frame["doc_id"].isin(list(self.kept_as))
        if not left_out.any():
            return frame
        ids, rows = frame["doc_id"].astype("str"), int(left_out.sum())
        self.notice(path, f"{count_left_out(rows, unit(path))}; the kept records take their place")
        return frame.assign(doc_id=ids.where(~left_out, ids.map(self.kept_as)))

    def done(self, path: FilePath, sentence: str) -> None:
        """Report what was imported from a file."""
        self.report.done.append(f"{path}: {self.words.apply(sentence)}")

    def notice(self, path: FilePath, sentence: str, named: str = "") -> None:
        """Report what the user should notice about a file; `named` follows, with titles of the user."""
        self.report.notices.append(f"{path}: {self.words.apply(sentence)}{named}")

    def refuse_other(self, path: FilePath, wanted: str) -> None:
        """Raise FormatError for a file that is certainly something else than `wanted`, DoubtError for a likely one."""
        other = kinds.recognise(path, wanted, self._known_ids())
        if other is None or (self.accept_doubts and not other.certain):
            return
        option = kinds.OPTIONS.get(other.kind)
        hint = other.hint if option is None else f"{other.hint} ({option})"
        if other.certain:
            raise FormatError(path, other.line, wanted, kinds.describe(other), hint)
        actual = f"{kinds.describe(other)}; {hint}; nothing was imported"
        raise DoubtError(f"{path}: expected {wanted}, found {actual}")

    def _known_ids(self) -> kinds.KnownIds:
        def documents(ids: Iterable[str]) -> set[str]:
            doc_ids = set(ids)
            return doc_ids - self.store.corpus.find_without_text(doc_ids)

        return kinds.KnownIds(set(self.store.corpus.topics()["query_id"]), documents)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Report what the readers of files skip or drop."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FormatWarning)
            self._caught = caught
            yield
        said = dict.fromkeys(str(each.message) for each in caught if isinstance(each.message, FormatWarning))
        self.report.notices[:0] = said

    def skipped(self, path: FilePath) -> int:
        """Return how many records and lines of a file its reader has skipped."""
        warned = (each.message for each in self._caught)
        return sum(each.skipped for each in warned if isinstance(each, FormatWarning) and each.path == str(path))

    def added(self, path: FilePath, one: str, added: Added, more: str = "", ending: str = "") -> None:
        """Report how many rows were added; `one` names a row, `more` follows, and `ending` ends the sentence."""
        parts = [f"{added.new:,} new"]
        parts += [f"{added.changed:,} changed"] * bool(added.changed)
        parts += [f"{added.same:,} unchanged"] * bool(added.same)
        self.done(path, f"{count(sum(added), one)}{more} ({', '.join(parts)}){ending}")

    def known_topics(self, path: FilePath, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        """Return the rows of known topics, and the skipped topics; InputError if none is known."""
        topics = self.store.corpus.topics()["query_id"]
        known = frame["query_id"].isin(topics)
        ignored = list(map(str, frame.loc[~known, "query_id"].unique()))
        if not known.any():
            expected = f"topics of the campaign ({join_first(topics) or 'none yet'})"
            alike = find_alike(ignored, {loose_key(topic): topic for topic in topics})
            written = f"the ids differ only in writing: {alike[0][0]!r}, campaign {alike[0][1]!r}" if alike else ""
            hint = written or "import the topics first or with this file"
            raise InputError(f"{path}: expected {expected}, found {join_first(ignored)}; {hint}")
        rows = frame[known].reset_index(drop=True)
        rows["query_id"] = rows["query_id"].astype("category").cat.remove_unused_categories()
        return rows, ignored

    def ignored(self, path: FilePath, topics: list[str]) -> None:
        """Report skipped topics, if any, and those whose ids differ only in writing."""
        if not topics:
            return
        skipped = count(len(topics), "topic that is", "topics that are")
        self.notice(path, f"skipped {skipped} not in the campaign ({join_first(topics)})")
        known = {loose_key(topic): topic for topic in self.store.corpus.topics()["query_id"]}
        if alike := find_alike(topics, known):
            self.report.notices.append(describe_alike(str(path), "topic", alike, "campaign"))

    def invisible(self, path: FilePath, one: str, ids: Collection[str]) -> None:
        """Report ids with invisible characters, if any; `one` is the name of what they identify."""
        if ids:
            have = f"{count(len(ids), f'{one} id')} {plural(len(ids), 'has', 'have')} invisible characters"
            self.notice(path, f"{have}, such as zero-width spaces ({join_first(map(ascii, ids))}); remove them")
