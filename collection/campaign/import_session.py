"""What the importers of one import share: the campaign, the messages, and the topics that are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from collection.campaign.results import ImportReport
from collection.errors import InputError
from collection.store import Added, Store


@dataclass(eq=False)
class ImportSession:
    """One import into a campaign.

    `replace`: take new content where a name is there with other content.
    """

    store: Store
    directory: Path
    replace: bool
    report: ImportReport = field(default_factory=lambda: ImportReport([], []))

    def done(self, path: Path | str, sentence: str) -> None:
        """Report what was imported from a file."""
        self.report.done.append(f"{path}: {sentence}")

    def notice(self, path: Path | str, sentence: str) -> None:
        """Report what the user should notice about a file."""
        self.report.notices.append(f"{path}: {sentence}")

    def added(self, path: Path | str, what: str, added: Added) -> None:
        """Report how many rows were added."""
        parts = [f"{added.new:,} new"]
        parts += [f"{added.changed:,} changed"] * bool(added.changed)
        parts += [f"{added.same:,} there already"] * bool(added.same)
        self.done(path, f"{sum(added):,} {what} ({', '.join(parts)})")

    def known_topics(self, path: Path | str, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        """Return the rows of known topics, and the topics that were left out; InputError if none is known."""
        topics = self.store.corpus.topics()["query_id"]
        known = frame["query_id"].isin(topics)
        ignored = list(map(str, frame.loc[~known, "query_id"].unique()))
        if not known.any():
            begin = f"its {len(topics)} topics begin with {topics.head(3).tolist()}"
            raise InputError(
                f"{path}: none of its topics ({', '.join(map(repr, ignored[:3]))}, ...) is in the campaign: "
                f"{begin if len(topics) else 'it has no topics yet'}; import the topics first, or together with it"
            )
        kept = frame[known].reset_index(drop=True)
        kept["query_id"] = kept["query_id"].astype("category").cat.remove_unused_categories()
        return kept, ignored

    def ignored(self, path: Path | str, topics: list[str]) -> None:
        """Report topics that were left out, if any."""
        if topics:
            self.notice(path, f"{len(topics):,} of its topics are not in the campaign and are left out ({few(topics)})")


def few(names: Iterable[str]) -> str:
    """List the first five names."""
    first = list(names)
    return ", ".join(first[:5]) + (", ..." if len(first) > 5 else "")
