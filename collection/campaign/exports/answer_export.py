"""Generated answers in an exported collection: their files, and their figures in its card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from collection import export, formats
from collection.annotator_agreement import select_value
from collection.campaign.answers.answer_archive import (
    ANSWERS,
    ASSIGNMENTS,
    LABELS,
    LOGS,
    NUGGET_LOG,
    NUGGETS,
    SUPPORT_FILE,
    TASKS,
    Units,
    units_of,
)
from collection.campaign.answers.generated_answers import GeneratedAnswers
from collection.campaign.answers.tasks import citations_judged
from collection.campaign.results.qrels import RuleChoice
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.errors import CampaignError
from collection.core.records import ALL_TOPICS
from collection.export.facts import CardFacts
from collection.formats.write import json_line, replacing


def describe_answers(answers: GeneratedAnswers, rule: RuleChoice = None) -> CardFacts:
    """Return the facts about the answers of a campaign.

    ``counts``; ``tasks``, each with its judgements and, as ``agreement``, ordinal alpha and weighted kappa; ``scores``:
    the means of the usual measures (``run``, ``measure``, ``value``), none without labels.
    """
    everything, nuggets = answers.all(), answers.nuggets.current()
    counts = {
        "answers": len(everything.answers),
        "runs": everything.answers["run"].nunique(),
        "topics_with_answers": everything.answers["query_id"].nunique(),
        "empty_answers": int((everything.answers["words"] == 0).sum()),
        "sentences": len(everything.sentences),
        "citations": int(everything.sentences["citations"].map(len).sum()),
        "nuggets": len(nuggets),
        "vital_nuggets": sum(each.importance == "vital" for each in nuggets),
    }
    try:
        values = answers.evaluate(rule=rule).values
        scores: Any = values[values["query_id"] == ALL_TOPICS].drop(columns="query_id")
    except CampaignError:  # nobody has judged yet
        scores = []
    tasks = [_describe_task(answers, name) for name in answers.tasks.existing()]
    return export.plain({"counts": counts, "tasks": tasks, "scores": scores})


def _describe_task(answers: GeneratedAnswers, name: str) -> dict[str, Any]:
    with answers.tasks.open(name) as inner:
        labels = inner.results.agreement.labels()
        agreement: list[float | None] = [None, None]
        if labels.duplicated(["query_id", "doc_id"]).any():
            values = inner.results.agreement.report(resamples=0, sides=()).values
            known = set(values.loc[values["scale"] == "graded", "coefficient"])
            names = ("alpha-ordinal", "cohen-quadratic")
            agreement = [select_value(values, each)["value"] if each in known else None for each in names]
    return {
        "name": name,
        "label": ANSWER_TASKS[name].label,
        "pairs": len(labels.drop_duplicates(["query_id", "doc_id"])),
        "judgements": len(labels),
        "annotators": labels["annotator"].nunique(),
        "agreement": agreement,
    }


def write_archive(answers: GeneratedAnswers, folder: Path, names: Mapping[str, str], rule: RuleChoice = None) -> None:
    """Write the answers of a campaign with their nuggets, labels and logs; `names` are pseudonyms of annotators."""
    topics = answers.store.corpus.topics()
    titles = dict(zip(topics["query_id"], topics["title"], strict=True))
    formats.write_answers(answers.all(), folder / ANSWERS)
    if len(nuggets := answers.nuggets.table()):
        formats.write_nuggets(nuggets, folder / NUGGETS, titles)
    with replacing(folder / NUGGET_LOG) as file:
        for row in answers.nuggets.log():
            edit = row._asdict() | {"annotator": names.get(row.annotator, row.annotator)}
            file.write(json_line(edit | export.plain(row.nugget._asdict())))
    if (assigned := answers.nugget_labels(rule)) is not None:
        formats.write_nugget_assignments(assigned, folder / ASSIGNMENTS)
    if (supported := answers.support_labels(rule)) is not None:
        formats.write_support(supported, folder / SUPPORT_FILE)
    settings: dict[str, object] = {}
    for name in answers.tasks.existing():
        units = units_of(answers.store, name)
        with answers.tasks.open(name) as inner:
            settings[name] = {"citations": citations_judged(inner)}
            log = export.rename_annotators(inner.store.judgements.table(current=False), names)
            _write_units(folder / LOGS[name], log, units)
            for label_set in inner.store.machine_labels.sets():
                labels = inner.machine_labels.sets.labels(label_set.name)
                about = {"label_set": label_set.name, "kind": label_set.kind, "settings": dict(label_set.settings)}
                _write_units(folder / LABELS[name], labels, units, about)
    formats.write_lines([json.dumps(settings, indent=2)], folder / TASKS)


def _write_units(path: Path, rows: pd.DataFrame, units: Units, about: Mapping[str, object] = {}) -> None:
    """Append rows about the pairs of a task; those of answers that were replaced are left out."""
    lines = []
    for row in export.plain(rows):
        topic, doc_id = units.topics.get(row.pop("query_id")), row.pop("doc_id")
        if topic is not None:
            lines.append(json_line({**topic, **units.documents.get(doc_id, {"doc_id": doc_id}), **about, **row}))
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)
