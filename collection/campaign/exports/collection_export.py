"""Export of a whole collection into one directory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pandas as pd

from collection import export, formats
from collection.campaign.answers.answer_archive import annotator_logs
from collection.campaign.answers.generated_answers import GeneratedAnswers
from collection.campaign.corpus.content_files import FOLDER
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.corpus.images import images_of
from collection.campaign.corpus.pdf_files import exported_name, pdf_of
from collection.campaign.exports.answer_export import describe_answers, write_archive
from collection.campaign.exports.collection_card import (
    DEFAULTS,
    CollectionCard,
    CollectionChoices,
    CollectionQrels,
    CorpusChoice,
)
from collection.campaign.exports.export import qrels_name
from collection.campaign.log.results import ProgressCallback
from collection.campaign.machine_labels.label_files import LabelFiles
from collection.campaign.progress.leading_labels import mark_led
from collection.campaign.results.qrels import QrelsBuilder
from collection.core import layout
from collection.core.errors import CampaignError
from collection.core.questions import Question
from collection.core.records import Document
from collection.core.topic_fields import to_frame
from collection.export.facts import CardFacts
from collection.formats import WrittenFile
from collection.store import Store

CARD = "collection.json"
"""The file that identifies an exported collection."""

SAMPLED = "qrels.strata.txt"
"""Qrels with strata, where the pool was sampled."""

QUESTIONS = "questions.json"
"""The further questions, where the campaign has any."""

LOADER = Path(formats.__file__).with_name("loader.py")
"""The source of ``load.py``, which needs ir_datasets and nothing of this package."""


class CollectionReport(NamedTuple):
    """A written collection: its card and its files."""

    directory: Path
    facts: CardFacts
    files: list[WrittenFile]


@dataclass(eq=False)
class CollectionExport:
    """Export of a whole collection into one directory."""

    store: Store
    directory: Path
    corpus: Corpus
    qrels: QrelsBuilder
    card: CollectionCard
    label_files: LabelFiles
    answers: GeneratedAnswers

    def write(
        self,
        directory: Path | str,
        choices: CollectionChoices = DEFAULTS,
        *,
        replace: bool = False,
        progress: ProgressCallback | None = None,
    ) -> CollectionReport:
        """Write the collection into a directory of its own, completely or not at all.

        Documents, queries and qrels in BEIR's layout, ``qrels.txt`` in TREC's form, ``load.py`` for ir_datasets,
        topics with all their fields, the pool, the logs, questions and the qrels of those with grades, and the card
        (``collection.md``, ``collection.json``) with ``checksums.txt``. With machine labels, ``qrels.txt.labels.json``
        says for each pair who gave its grade. With generated answers, also these, their nuggets, labels and logs; see
        :func:`.write_archive`.

        Parameters
        ----------
        directory
            New or empty, or with `replace` an exported collection.

        Raises
        ------
        CampaignError
            There is something in the directory, or nothing to export.
        InputError, UnknownNameError
            The name or one of the choices is invalid.
        """
        tell = progress or (lambda what, done, total: None)
        layout.require_output(directory, self.directory)
        with (
            self.store.snapshot(),  # people may judge meanwhile
            formats.replacing_folder(directory, replace=replace, known_by=CARD) as folder,
        ):
            collected, names = self.card.select_qrels(choices), self._annotator_names(choices)
            facts = self._describe(choices, collected, names)
            if self.store.answers.exist():
                write_archive(self.answers, folder, names, choices.rule)
            self._write_corpus(folder, collected.exported, choices.corpus, tell)
            self._write_tables(folder, collected, choices)
            if choices.fill_with is not None:
                for file in ("qrels.txt", "qrels/test.tsv"):
                    self.label_files.write_sources(collected.exported, choices.fill_with, folder / file)
            self._write_logs(folder, names)
            if choices.with_runs:
                self._write_runs(folder, tell)
            shutil.copyfile(LOADER, folder / "load.py")
            files = formats.list_files(folder)
            facts = {**facts, "files": [file._asdict() for file in files]}
            formats.write_lines([json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)], folder / CARD)
            formats.write_lines([export.card(facts).rstrip("\n")], folder / "collection.md")
            files = sorted(
                [*files, *(formats.describe_file(folder, folder / name) for name in (CARD, "collection.md"))]
            )
            formats.write_lines((f"{file.sha256}  {file.path}" for file in files), folder / formats.CHECKSUMS)
            files = sorted([*files, formats.describe_file(folder, folder / formats.CHECKSUMS)])
        return CollectionReport(Path(directory), facts, files)

    def facts(self, choices: CollectionChoices = DEFAULTS) -> CardFacts:
        """Return the content of ``collection.json`` without files; errors as for :meth:`write`."""
        with self.store.snapshot():
            return self._describe(choices, self.card.select_qrels(choices), self._annotator_names(choices))

    def _annotator_names(self, choices: CollectionChoices) -> dict[str, str]:
        logs = annotator_logs(self.answers.tasks) if self.store.answers.exist() else ()
        return self.card.annotator_names(choices, logs)

    def _describe(self, choices: CollectionChoices, collected: CollectionQrels, names: Mapping[str, str]) -> CardFacts:
        facts = self.card.describe(choices, collected, names)
        if not self.store.answers.exist():
            return facts
        return {**facts, "answers": describe_answers(self.answers, choices.rule)}

    def _write_corpus(self, folder: Path, qrels: pd.DataFrame, corpus: CorpusChoice, tell: ProgressCallback) -> None:
        if corpus == "none":
            return
        judged = set(qrels["doc_id"])
        total = self.store.judgements.counts()["documents"] if corpus == "all" else None

        def wanted() -> Iterator[Document]:
            for number, document in enumerate(self.store.corpus.documents_with_text(pooled=False), start=1):
                if number % 1000 == 0:
                    tell("documents", number, total)
                if corpus == "all" or document.doc_id in judged:
                    self._copy_files(document, folder)
                    pdf = pdf_of(document.metadata)
                    named = {"pdf": f"{FOLDER}/{exported_name(pdf.file)}"} if pdf else {}
                    yield document._replace(metadata={**document.metadata, **named})

        formats.write_corpus(wanted(), folder / "corpus.jsonl", lambda file: f"{FOLDER}/{file}")

    def _copy_files(self, document: Document, folder: Path) -> None:
        """Copy images and PDF file of a document, as they were imported."""
        files = [("image", image.file, image.file) for image in images_of(document.metadata) if image.file]
        files += [("PDF file", pdf.file, exported_name(pdf.file))] if (pdf := pdf_of(document.metadata)) else []
        for kind, file, name in files:
            if (folder / FOLDER / name).exists():
                continue
            source = self.corpus.view.content_file(file)
            if source is None:
                raise CampaignError(
                    f"document {document.doc_id!r} refers to the {kind} {file}, which is missing in "
                    f"{self.directory / FOLDER}; import the document again"
                )
            (folder / FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(source, folder / FOLDER / name)

    def _write_tables(self, folder: Path, collected: CollectionQrels, choices: CollectionChoices) -> None:
        qrels = collected.exported
        topics, pool = to_frame(self.store.corpus.topic_records()), self.store.pool.pairs()
        formats.write_topics(topics, folder / "topics.jsonl")
        formats.write_queries(topics, folder / "queries.jsonl", choices.query_text)
        formats.write_qrels(qrels, folder / "qrels.txt")
        _write_questions(folder, collected.by_question)
        (folder / "qrels").mkdir()
        formats.write_beir_qrels(qrels, folder / "qrels" / "test.tsv")
        if len(pool):
            formats.write_pool(pool, folder / "pool.tsv")
        if collected.source == "judgements" and pool["stratum"].notna().any():
            strata = self.qrels.in_form("strata", rule=choices.rule, topics=set(qrels["query_id"]))
            formats.write_qrels(strata, folder / SAMPLED, form="strata")

    def _write_logs(self, folder: Path, names: Mapping[str, str]) -> None:
        """The logs of decisions that have any entry."""
        judgements = self.store.judgements.table(current=False)
        logs = (
            (
                mark_led(self.label_files.mark_seen(judgements), self.store.judgements.led_by_labels()),
                formats.write_judgements,
                "judgements.jsonl",
            ),
            (self.store.topic_tasks.choices(current=False), formats.write_choices, "choices.jsonl"),
            (self.store.topic_tasks.preferences(current=False), formats.write_preferences, "preferences.jsonl"),
        )
        for entries, write, name in logs:
            log = export.rename_annotators(entries, names)
            if len(log):
                write(self.corpus.view.quoted(log) if "passages" in log else log, folder / name)

    def _write_runs(self, folder: Path, tell: ProgressCallback) -> None:
        (folder / "runs").mkdir()
        names, total = set[str](), len(self.store.corpus.runs())
        for number, run in enumerate(self.corpus.runs(), start=1):
            tell("runs", number, total)
            name = quote(run.name, safe="")[:150]
            while name.casefold() in names:  # equal when cut, or on a file system that ignores case
                name = f"{name}.{number}"
            names.add(name.casefold())
            formats.write_run(run, folder / "runs" / f"{name}.run")


def _write_questions(folder: Path, by_question: Mapping[Question, Mapping[str, pd.DataFrame]]) -> None:
    """Write the further questions as `cleverdon new --questions` reads them, and the qrels of those with grades."""
    for question, qrels in by_question.items():
        if question.kind == "grades":
            formats.write_qrels(qrels[""], folder / qrels_name(question.name))
    if by_question:
        written = json.dumps([question.to_json() for question in by_question], indent=2, ensure_ascii=False)
        formats.write_lines([written], folder / QUESTIONS)
