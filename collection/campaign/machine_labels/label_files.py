"""Files of machine labels: labels alone, and qrels of people that they fill."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from collection import formats
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.machine_labels.label_sets import KINDS, LabelSets
from collection.campaign.machine_labels.label_study import LabelStudy
from collection.campaign.settings.settings import Settings
from collection.core import clock, layout
from collection.core.errors import CampaignError, InputError
from collection.machine_labels.judgements import PEOPLE, fill_qrels, labels_seen
from collection.store import LabelRow, LabelSet, Store

LABELS_FILE = ".labels.json"
"""Suffix of the report on the machine labels in a file."""

_PAIR = ["query_id", "doc_id"]


@dataclass(eq=False)
class LabelFiles:
    """Files of machine labels: labels alone, and qrels of people that they fill."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    labels: LabelSets
    study: LabelStudy

    def mark_seen(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Judgements with ``saw_label`` (:func:`.labels_seen`); without it while no label was shown to anybody."""
        views = self.store.machine_labels.views()
        return judgements if views.empty else judgements.assign(saw_label=labels_seen(judgements, views))

    def export(self, name: str, path: Path | str) -> int:
        """Write the labels of a set, and FILE.labels.json, which records their origin; return the number of rows.

        ``.csv`` has ``label_set``, ``query_id``, ``doc_id``, ``relevance``; ``.jsonl`` has the whole log with prompts
        and replies; any other file is in TREC form, as qrels.
        """
        layout.require_output(path, self.directory)
        label_set, labels = self.labels.named(name), self.labels.labels(name)
        _write_report(self._report(label_set) | {"labels": len(labels)}, path)
        ending, rows = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2], len(labels)
        if ending == "jsonl":
            # With escapes: a reply may have characters that UTF-8 cannot write.
            log = [json.dumps(_log_entry(row)) for row in self.store.machine_labels.log(label_set.key)]
            formats.write_lines(log, path)
            rows = len(log)
        elif ending == "csv":
            columns = ["label_set", *_PAIR, "relevance"]
            formats.write_log(labels.assign(label_set=name)[columns], path, columns, "machine labels")
        else:
            formats.write_qrels(labels, path)
        return rows

    def filled(self, qrels: pd.DataFrame, name: str) -> pd.DataFrame:
        """Qrels of people with the labels of a set for pooled pairs without a grade; ``by`` says who gave each grade.

        Raises
        ------
        UnknownNameError, CampaignError
            There is no such set; or its labels are not grades of the campaign's scale.
        """
        labels, grades = self.labels.labels(name), self.settings.grades
        outside = labels[~labels["relevance"].isin(set(grades.sentences))]
        if len(outside):
            raise CampaignError(
                f"qrels cannot be filled with {name!r}: expected grades of this campaign ({grades}), found "
                f"{outside['relevance'].iloc[0]:g}; export these labels alone"
            )
        filled = fill_qrels(qrels, labels, self.store.pool.pairs(), name)
        return self.corpus.in_topic_order(filled.sort_values("doc_id", kind="stable"))

    def write_sources(self, filled: pd.DataFrame, name: str, path: Path | str) -> None:
        """Write FILE.labels.json, which says for each pair of filled qrels who gave its grade; before the qrels.

        Raises
        ------
        InputError
            FILE is a pipe or a device, next to which there is no report.
        """
        _write_report(self.filled_report(filled, name), path)

    def filled_report(self, filled: pd.DataFrame, name: str) -> dict[str, object]:
        """Contents of filled qrels (:meth:`filled`): number of pairs by source, and the source of each pair."""
        sources = {
            str(query_id): dict(zip(rows["doc_id"], rows["by"], strict=True))
            for query_id, rows in filled.groupby("query_id", sort=False)
        }
        return self._report(self.labels.named(name)) | {
            "description": "Grades by people, and machine labels for pairs without one; `by` has the source of each.",
            "labels": _describe(self.labels.named(name)),
            "pairs": {who: int((filled["by"] == who).sum()) for who in (PEOPLE, name)},
            "by": sources,
        }

    def _report(self, label_set: LabelSet) -> dict[str, object]:
        return {
            "description": _describe(label_set),
            "label_set": label_set.name,
            "kind": label_set.kind,
            "settings": dict(label_set.settings),
            "labelled_at": label_set.made_at,
            "status": self.labels.count_statuses(label_set),
            "warnings": self.study.warnings(label_set.name),
            "campaign": self.settings.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }


def read_report(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the report that :meth:`LabelFiles.export` has written next to a file; empty if there is none."""
    report = Path(f"{path}{LABELS_FILE}")
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(report.read_text(encoding="utf-8"))
        is_report = (
            isinstance(content, dict) and content.get("kind") in KINDS and isinstance(content.get("settings"), dict)
        )
        return content if is_report and isinstance(content.get("label_set"), str) else {}
    return {}


def _log_entry(row: LabelRow) -> dict[str, object]:
    """A row of the log; the number of the sample is left out where it is the only one."""
    return {name: value for name, value in row._asdict().items() if name != "sample" or row.sample > 1}


def _describe(label_set: LabelSet) -> str:
    return f"{KINDS[label_set.kind]}; no person judged these pairs."


def _write_report(report: Mapping[str, object], path: Path | str) -> None:
    """Write FILE.labels.json, before FILE, so that no file with labels is ever without one."""
    if not formats.takes_report(path):
        raise InputError(f"{path}: machine labels need a report next to their file; expected a regular file")
    formats.write_lines([json.dumps(report, indent=2, ensure_ascii=False)], f"{path}{LABELS_FILE}")


def remove_stale_report(path: Path | str) -> None:
    """Remove the FILE.labels.json of an earlier export next to qrels without machine labels."""
    report = Path(f"{path}{LABELS_FILE}")
    if report.is_file() and '"label_set"' in report.read_text(encoding="utf-8", errors="replace"):
        report.unlink()
