"""Import of files into a campaign, all or nothing."""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace as replaced
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pandas as pd

from collection import accounts, comparison, formats
from collection.campaign.corpus import stored_runs
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.corpus.document_view import named_files
from collection.campaign.corpus.images import ImageImport
from collection.campaign.corpus.pdf_files import PdfImport, pdf_of
from collection.campaign.imports.duplicate_records import DuplicateRecords
from collection.campaign.imports.grade_import import GradeImport
from collection.campaign.imports.import_session import ImportSession, count_left_out
from collection.campaign.imports.label_set_import import LabelChoices, LabelSetImport
from collection.campaign.imports.removal import Removals
from collection.campaign.judging.judging import Judging
from collection.campaign.log.results import ImportReport, ProgressCallback
from collection.campaign.machine_labels.label_sets import LabelSets
from collection.campaign.people.assignments import Assignments
from collection.campaign.progress import calibration_record
from collection.campaign.settings.settings import Settings
from collection.core import errors, layout
from collection.core.errors import (
    BusyError,
    CampaignError,
    CleverdonError,
    ConflictError,
    DoubtError,
    InputError,
    as_path,
    as_paths,
)
from collection.core.frames import LABELS, SCORES
from collection.core.phrases import count, join, join_first, plural
from collection.core.ranking import rank_run
from collection.core.records import ALL_TOPICS, Document, Run
from collection.core.review import REASON, TITLE_ABSTRACT
from collection.core.threads import ReadAhead
from collection.core.topic_fields import to_topics
from collection.formats import ImageList, kinds
from collection.formats.source import FilePath, Source
from collection.id_matches import has_invisible
from collection.store import Inspection, Store

MOST_AHEAD = 12 << 20
"""Bytes of documents that are read while earlier ones are added to the full-text index."""

RUNS_NAMED = 3
"""Maximum number of runs that the notice of missing texts names."""

SHORT = 100
"""Characters up to which a text is no longer than a line."""

FEW = 10
"""Number of documents below which short texts say nothing."""


_Reading: TypeAlias = tuple[Callable[[Source], None], FilePath]
"""An import and its file."""


@dataclass(eq=False)
class Importer:
    """Imports files into the campaign, all or nothing."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    judging: Judging
    machine_labels: LabelSets
    assignments: Assignments

    def __post_init__(self) -> None:
        self.removals: Removals = Removals(self.store, self.directory, self.assignments)

    def import_files(
        self,
        *,
        collection: Path | str | None = None,
        documents: FilePath | Iterable[FilePath] = (),
        topics: Path | str | None = None,
        runs: FilePath | Iterable[FilePath] = (),
        qrels: Path | str | None = None,
        labels: Path | str | None = None,
        costs: Path | str | None = None,
        clicks: Path | str | None = None,
        annotator: str | None = None,
        machine_labels: FilePath | Iterable[FilePath] | None = None,
        label_choices: LabelChoices | None = None,
        replace: bool = False,
        accept_doubts: bool = False,
        by_people: bool = False,
        progress: ProgressCallback | None = None,
    ) -> ImportReport:
        """Import files: all of them, or none if one has an error.

        Importing a file again changes nothing. Qrels become judgements by the annotator ``qrels:NAME``, labels become
        judgements by their annotators; the pairs count as judged. Clicks are stored separately, by file name. Grades of
        language models become label sets, which never count as judgements: those of `machine_labels`, of qrels whose
        name says so (``qrels_umbrela_gpt-4o.txt``), and of annotators with the name of a model.

        Parameters
        ----------
        collection
            A directory in BEIR's layout, or ``ir_datasets:ID``: documents, topics and qrels at once.
        documents, runs
            One path or several of files in a form of :mod:`collection.formats`.
        topics, qrels, labels, costs, clicks
            The same, one path each.
        machine_labels
            Files of labels of one judge or of several (:func:`.read_judge_labels`).
        label_choices
            Name, judges and mapping of grades for `machine_labels`; by default those of the files.
        annotator
            Who gave the labels for which their file names no annotator.
        replace
            Overwrite a topic, document, run, cost, imported grade or click log that has other content.
        accept_doubts
            Import files also if they seem to be of another kind, such as documents that look like topics.
        by_people
            Import qrels and labels as judgements also if a name says that a language model gave the grades.
        progress
            Called with what is imported, the number done, and the total if known.

        Raises
        ------
        FormatError
            A file is malformed, or of another kind; the message has path and line.
        DoubtError
            A file seems to be of another kind, and `accept_doubts` is off.
        ConflictError
            The campaign has something of that name with other content, and `replace` is off.
        StorageError
            The disk is full, or the campaign cannot be written.
        InputError
            Something that is not a path.
        """
        singles = {"collection": collection, "topics": topics, "qrels": qrels, "labels": labels, "costs": costs}
        for what, path in (singles | {"clicks": clicks}).items():
            if path is not None:
                as_path(path, what)
        documents, runs = as_paths(documents, "documents"), as_paths(runs, "runs")
        label_files = [] if machine_labels is None else as_paths(machine_labels, "machine_labels")
        session = ImportSession(self.store, self.directory, replace, accept_doubts, self.settings.vocabulary)
        files = _FileImport(self, session, progress or (lambda what, done, total: None))
        sets = LabelSetImport(session, self.settings, self.machine_labels)
        gradings = GradeImport(session, self.settings, self.judging, self.judging.demand, sets, annotator, by_people)
        chosen = replaced(sets, choices=label_choices or LabelChoices())
        parts = formats.find_collection(collection) if collection is not None else formats.CollectionParts()
        own_topics = [] if topics is None else [topics]
        topic_files: list[_Reading] = [
            *((partial(files.import_topics, question=False), each) for each in parts.topics),
            *((partial(files.import_topics, question=True), each) for each in own_topics),
        ]
        document_files: list[_Reading] = [
            *((partial(files.import_documents, question=False), each) for each in parts.documents),
            *((partial(files.import_documents, question=True), each) for each in documents),
        ]
        singly = {
            gradings.import_qrels: qrels,
            gradings.import_labels: labels,
            files.import_costs: costs,
            files.import_clicks: clicks,
        }
        grades: list[_Reading] = [(gradings.import_qrels, part) for part in parts.qrels]
        grades += [(read, file) for read, file in singly.items() if file is not None]
        grades += [(chosen.import_file, file) for file in label_files]
        # Inside the transaction below, a download or a slow pipe would block all other writers.
        formats.download(
            documents=[*parts.documents, *documents],
            topics=[*parts.topics, *own_topics],
            qrels=[*parts.qrels, *label_files, *([] if qrels is None else [qrels])],
        )
        with (
            _opened(topic_files) as opened_topics,
            _opened(document_files) as opened_documents,
            formats.open_runs(runs) as named_runs,
            _opened(grades) as opened_grades,
            session.noting_warnings(),
            layout.storage_errors(self.directory),
            files.read_pdf_files(source for _, source in opened_documents),
            self._uncommitted(files.written),
            self.store.transaction(),
        ):
            before = set(self.store.corpus.runs()["file"])
            try:
                _read_each([*opened_topics, *opened_documents])
                files.import_runs(named_runs)
                files.report_runs_of_duplicates()
                _read_each(opened_grades)
                sets.report()
                chosen.report()
                session.keep()
            except BaseException:
                # Inside the transaction: no other process can have used these files yet.
                layout.remove_written(files.written)
                raise
        self._remove_leftovers(before)
        files.report_missing_texts()
        return session.report._replace(duplicates=session.duplicates)

    def import_decisions(self, annotator: str) -> ImportReport:
        """Import decisions of screening tools in the records of a review, with the reasons for exclusion.

        Decisions whose file names the screener (Rayyan) are imported as theirs, all others as decisions of `annotator`.
        A name that differs from that of an account or screener only in case or invisible characters belongs to that
        person. If the records of a document have several decisions of one person at a stage, the highest is used.
        Without a full-text stage, the last decision on a record is used. Reasons that the review lacks are added to
        it. Decisions made in the campaign stay. Importing decisions again changes nothing.

        Raises
        ------
        CampaignError
            The campaign is not a review.
        InputError
            `annotator` cannot be a name, or no record has a decision.
        ConflictError
            A name is that of a label set.
        """
        review = self.settings.require_review()
        annotator = accounts.clean_name(annotator)
        rows, left_out, unread = [], list[str](), list[str]()
        for record in self.store.records.records():
            decisions = formats.find_decisions(record.fields)
            if not review.full_text:
                last = {each.screener: each for each in decisions}
                decisions = [each._replace(query_id=TITLE_ABSTRACT) for each in last.values()]
            unread += formats.find_unread_decisions(record.fields)
            left_out += dict.fromkeys(reason for each in decisions for reason in each.further)
            rows += [
                (record.source, name or annotator, query_id, record.doc_id, grade, reason)
                for name, query_id, grade, reason, _ in decisions
            ]
        shown = join_first([repr(value) for value in dict.fromkeys(unread)])
        if not rows:
            but = f", but {shown} in columns of decisions; write include, exclude or maybe" if unread else ""
            raise InputError(f"expected records with decisions of a screening tool, found none{but}")
        session = ImportSession(self.store, self.directory, replace=False, words=self.settings.vocabulary)
        sets = LabelSetImport(session, self.settings, self.machine_labels)
        gradings = GradeImport(session, self.settings, self.judging, self.judging.demand, sets)
        with layout.storage_errors(self.directory), self.store.transaction():
            found = pd.DataFrame(rows, columns=["source", *LABELS.names, REASON])
            found["annotator"] = gradings.unify_names(found["annotator"])
            best = found.sort_values("relevance", ascending=False, kind="stable")
            best = best.drop_duplicates(["annotator", "query_id", "doc_id"]).sort_index()
            best = best.assign(
                answers=pd.Series(gradings.reason_answers(best[REASON]), index=best.index, dtype="object")
            )
            for source, labels in best.groupby("source", sort=False):
                gradings.import_decisions(str(source), labels[[*LABELS.names, "answers"]].reset_index(drop=True))
        if unread:
            values = count(len(unread), "decision")
            are = plural(len(unread), "that is", "that are")
            session.report.notices.append(f"left out {values} {are} not understood: {shown}")
        if left_out:
            further = f"left out {count(len(left_out), 'further reason')} for exclusion of records with several"
            session.report.notices.append(f"{further}: {join_first(list(dict.fromkeys(left_out)))}")
        return session.report

    @contextmanager
    def _uncommitted(self, written: list[Path]) -> Iterator[None]:
        """Remove what was written for a transaction that cannot be committed, unless another import uses it by now."""
        try:
            yield
        except BaseException:
            if written:
                # Inside a transaction no other import is running.
                with suppress(CleverdonError), self.store.transaction():
                    with Inspection(self.directory / layout.DATABASE) as inspection:
                        used = {run["file"] for run in inspection.runs()}
                        used |= named_files(inspection.metadata_with_files())
                    layout.remove_written([place for place in written if place.name not in used])
            raise

    def _remove_leftovers(self, before: set[str]) -> None:
        """Remove runs that earlier imports replaced, and unfinished files of imports that were killed.

        Only files named as an import names them. A run that this import replaced, one of those `before` it, stays until
        the next import, since another process may be about to read it.
        """
        if not self._leftovers(before):
            return
        # Inside the transaction no other import is running, whose files would not be leftovers.
        with suppress(BusyError, OSError), self.store.transaction():
            for file in self._leftovers(before):
                file.unlink()

    def _leftovers(self, before: set[str]) -> list[Path]:
        named = before | set(self.store.corpus.runs()["file"])
        return [
            file
            for folder, is_own in ((layout.RUNS, layout.is_run_file), (layout.IMAGES, layout.is_partial_image))
            if (self.directory / folder).is_dir()
            for file in (self.directory / folder).iterdir()
            if is_own(file.name) and file.name not in named and file.is_file() and not file.is_symlink()
        ]


@contextmanager
def _opened(readings: Iterable[_Reading]) -> Iterator[list[tuple[Callable[[Source], None], Source]]]:
    """Open files to import, of which pipes are read to their end."""
    with ExitStack() as stack:
        sources = [(read, stack.enter_context(formats.opened(path))) for read, path in readings]
        for _, source in sources:
            source.read_pipe()
        yield sources


def _read_each(sources: Iterable[tuple[Callable[[Source], None], Source]]) -> None:
    for read, source in sources:
        read(source)
        source.release()  # a folder may have more files than a process may open


def _memory(read: tuple[int, Document]) -> int:
    """Bytes that a document takes in memory, roughly."""
    _, document = read
    return 500 + len(document.text or "") + sum(len(str(value)) for value in document.metadata.values())


@dataclass(eq=False)
class _DocumentCheck:
    """Collects what tells documents from topics while they are read; :mod:`collection.formats.kinds` knows columns."""

    topics: Collection[str]
    """Ids of the campaign's topics."""
    documents: int = field(default=0, init=False)
    invisible: list[str] = field(default_factory=list, init=False)
    """Ids with invisible characters."""
    _like_topics: int = field(default=0, init=False)
    _longest: int = field(default=0, init=False)
    _images: bool = field(default=False, init=False)

    def add(self, document: Document) -> None:
        """Look at a document."""
        self.documents += 1
        if not document.doc_id.isascii() and has_invisible(document.doc_id):
            self.invisible.append(document.doc_id)
        if self._longest <= 3 * SHORT:
            self._like_topics += document.doc_id in self.topics
            self._longest = max(self._longest, len(document.title) + len(document.text or ""))
            self._images = self._images or not {"images", "pdf"}.isdisjoint(document.metadata)

    def question(self) -> str:
        """Say why the file seems to have something else than documents; empty if it does not."""
        if self.documents and self._longest <= 3 * SHORT and self._like_topics == self.documents:
            ids = "its id is that of a topic" if self.documents == 1 else "all its ids are ids of topics"
            return f"looks like topics: {ids}, and no text is longer than {count(self._longest, 'character')}"
        return ""

    def notice(self) -> str:
        """Say that all texts are short; empty if they are not, or images may take their place."""
        if self.documents < FEW or not 0 < self._longest <= SHORT or self._images:
            return ""
        return f"no text is longer than {count(self._longest, 'character')}"


class _FileImport:
    """Import of topics, documents, runs, costs and clicks."""

    def __init__(self, importer: Importer, session: ImportSession, tell: ProgressCallback) -> None:
        self.store, self.directory = importer.store, importer.directory
        self.settings, self.corpus = importer.settings, importer.corpus
        self.session, self.replace, self.tell = session, session.replace, tell
        self.duplicates = DuplicateRecords(session, is_review=importer.settings.review() is not None)
        self.folder = self.directory / layout.RUNS
        self.written: list[Path] = []
        self.without_text: Counter[str] = Counter()
        self.texts_wanted: set[str] = set()
        self._read: dict[str, Path] = {}

    @contextmanager
    def read_pdf_files(self, paths: Iterable[Source]) -> Iterator[None]:
        """Read the documents that have PDF files, which would block other writers for long inside a transaction."""
        with TemporaryDirectory(prefix="cleverdon-") as scratch:
            for number, path in enumerate(paths):
                has_pdf_files = formats.has_pdf_files(path)
                path.release()  # a folder may have more files than a process may open
                if not has_pdf_files:
                    continue
                copies = Path(scratch, str(number))
                copies.mkdir()
                self._read[str(path)] = Path(scratch, f"{number}.pickle")
                with self._read[str(path)].open("wb") as file:
                    for done, each in enumerate(formats.read_documents(path, copies), start=1):
                        pickle.dump(each, file)
                        self.tell(f"{Path(path).name}: documents read", done, None)
                path.release()
            yield

    def _documents(self, path: FilePath) -> Iterator[tuple[int, Document]]:
        if str(path) not in self._read:
            yield from formats.read_documents(path)
            return
        with self._read[str(path)].open("rb") as file:
            while file.peek(1):
                yield pickle.load(file)

    def import_topics(self, path: FilePath, *, question: bool = False) -> None:
        if question:
            self.session.refuse_other(path, kinds.TOPICS)
        frame = formats.read_topics(path)
        if (frame["query_id"] == ALL_TOPICS).any():
            raise InputError(
                f"{path}: the topic id {ALL_TOPICS!r} is reserved for the mean over topics; rename the topic"
            )
        with _named(path):
            added = self.store.corpus.add_topics(to_topics(frame), replace=self.replace)
        self.session.added(path, "topic", added)
        self.session.invisible(path, "topic", list(filter(has_invisible, frame["query_id"])))

    def import_documents(self, path: FilePath, *, question: bool = False) -> None:
        if question:
            self.session.refuse_other(path, kinds.DOCUMENTS)
        self.check = _DocumentCheck(set(self.store.corpus.topics()["query_id"]))
        images, pdfs = ImageImport(self.directory, self.written), PdfImport(self.directory, self.written)
        waiting, self.blank = sum(self.store.pool.count_without_text().values()), 0
        try:
            with _named(path):
                read = ReadAhead(self._documents(path), _memory, MOST_AHEAD)
                documents = self._counted(path, read, images, pdfs)
                added = self.store.corpus.add_documents(documents, replace=self.replace, meanwhile=read.meanwhile)
        except ConflictError:  # with documents that have the ids of the file's topics, perhaps
            self._refuse_doubtful(path, question)
            raise
        self._refuse_doubtful(path, question)
        images.content.sync()
        pdfs.content.sync()
        self.tell(f"{Path(path).name}: documents", sum(added), sum(added))
        merged = self.duplicates.merge()
        self.duplicates.remember(path)
        if added.new or added.changed or merged:  # what was derived from the documents is out of date
            self.store.settings.put("documents_version", self.store.settings.get("documents_version", 0) + 1)
        self.session.added(path, "document", added, ending=self.duplicates.sum_up(path))
        if merged:
            took = f"{count(merged, 'document')} took fields that {plural(merged, 'it', 'they')} lacked"
            self.session.done(path, f"{took} from duplicates")
        self.duplicates.report(path)
        released = waiting - sum(self.store.pool.count_without_text().values())
        if released > 0:
            have = plural(released, "has a text now", "have a text now")
            self.session.done(path, f"{count(released, 'pooled pair')} {have} and can be judged")
        if images.files:
            self.session.done(path, f"{count(len(images.files), 'image')} ({images.content.new:,} new)")
        if pdfs.files:
            self.session.done(path, f"{count(len(pdfs.files), 'PDF file')}, which annotators see")
        self.session.invisible(path, "document", self.check.invisible)
        if short := self.check.notice():
            undo = f"`cleverdon remove {self.directory} --documents-in FILE`"
            self.session.notice(path, f"{short}; if these are not the documents, {undo} removes them")
        if self.blank:
            have = f"{count(self.blank, 'document')} {plural(self.blank, 'has', 'have')}"
            self.session.notice(path, f"{have} neither a title nor a text; annotators see an empty card")
        allowed = self.settings.judging_page().image_hosts
        if links := {host: number for host, number in images.links.items() if host not in allowed}:
            linked = sum(links.values())
            self.session.notice(
                path,
                f"{count(linked, 'image')} from {join_first(links)} {plural(linked, 'is', 'are')} shown as links. "
                f"To show images from a host, allow it: `cleverdon judging-page {self.directory} --image-host HOST`",
            )

    def _refuse_doubtful(self, path: FilePath, question: bool) -> None:
        if question and not self.session.accept_doubts and (doubt := self.check.question()):
            raise DoubtError(f"{path}: expected documents, found a file that {doubt}; nothing was imported")

    def _counted(
        self, path: FilePath, documents: Iterable[tuple[int, Document]], images: ImageImport, pdfs: PdfImport
    ) -> Iterator[Document]:
        screened = self.duplicates.screen(path, documents)
        for number, (line, document) in enumerate(screened, start=1):
            if number % 1000 == 0:
                self.tell(f"{Path(path).name}: documents", number, None)
            self.check.add(document)
            metadata = document.metadata
            named = metadata.get("images")
            if isinstance(named, ImageList):
                metadata = {**metadata, "images": images.add(path, line, named)}
            if "pdf" in metadata:
                metadata = pdfs.add(path, line, metadata)
            if not (document.title.strip() or (document.text or "").strip()):
                self.blank += not isinstance(named, ImageList) and pdf_of(metadata) is None
            yield document if metadata is document.metadata else document._replace(metadata=metadata)

    def import_runs(self, runs: Sequence[tuple[str, formats.Source]]) -> None:
        before = self._promised_orders() if runs else {}
        for number, (name, path) in enumerate(runs):
            self.tell("runs", number, len(runs))
            if name == formats.stem(path):
                formats.named_stem(path, "a run without a tag")
            self._import_run(path, name)
            path.release()
        if runs:
            self.tell("runs", len(runs), len(runs))
        if before and (warning := calibration_record.warn_of_new_order(self.store, before, self._promised_orders())):
            self.session.report.notices.append(warning)

    def _promised_orders(self) -> dict[str, str]:
        return calibration_record.promised_orders(self.store, self.settings.loop(), self.settings.modes_when_open())

    def report_missing_texts(self) -> None:
        """Report how many documents of the runs have no text, and the runs with most of them."""
        if not self.without_text:
            return
        most = sorted(self.without_text.items(), key=lambda item: (-item[1], item[0]))
        runs = [f"{number:,} in run {name!r}" for name, number in most[:RUNS_NAMED]]
        if more := len(most[RUNS_NAMED:]):
            runs.append(f"others in {count(more, 'more run')}")
        missing = len(self.texts_wanted)
        self.session.report.notices.append(
            f"{count(missing, 'document')} of the runs {plural(missing, 'has', 'have')} no text ({join(runs)}). They "
            f"are pooled anyway; after pooling, `cleverdon export {self.directory} --missing-documents FILE` lists them"
        )

    def _import_run(self, path: formats.Source, name: str) -> None:
        self.session.refuse_other(path, kinds.RUN)
        run = formats.read_run(path)
        frame, ignored = self.session.known_topics(path, self._rank_kept_records(path, run.frame))
        with path.open(kinds.RUN) as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
        existing = self.store.corpus.runs().set_index("run")
        # The same file again is new if more of its topics, or of its duplicates, are known by now.
        same = existing.index[(existing["sha256"] == digest) & (existing["rows"] == len(frame))]
        if len(same) and self._is_current(same[0]):
            self.session.done(path, f"run {same[0]!r} is already in the campaign")
            return
        name = same[0] if len(same) else self._free_name(path, name, run, existing, digest)
        unknown = self.store.corpus.find_without_text(frame["doc_id"].unique())
        topics = stored_runs.digest_topics(frame)
        place = stored_runs.free_place(self.folder, name, digest, len(frame))
        self.written.append(place)
        try:
            file = stored_runs.write(frame, place)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        self.written.append(file)
        layout.sync_folder(self.folder)
        self.store.corpus.add_run(name, file.name, digest, topics, len(frame), int(frame["rank"].max()))
        replaced = ""
        if before := existing.to_dict("index").get(name):
            replaced = f" (replaces {_size(before['rows'], before['topics'])})"
        self.session.done(path, f"run {name!r}: {_size(len(frame), len(topics))}{replaced}")
        self.session.ignored(path, ignored)
        self.session.report.notices.extend(self.corpus.describe_run(Run(name, frame), unknown))
        if unknown:
            self.without_text[name] = len(unknown)
            self.texts_wanted |= unknown

    def _rank_kept_records(self, path: FilePath, frame: pd.DataFrame) -> pd.DataFrame:
        """The run with kept records in place of left-out duplicates, each at the best of their ranks."""
        named = self.session.map_to_kept_records(path, frame)
        if named is frame:
            return frame
        best = named.sort_values("listed", kind="stable").drop_duplicates(["query_id", "doc_id"])
        return rank_run(best[list(SCORES.names)])

    def _is_current(self, name: str) -> bool:
        """Tell whether a run can be read and names no left-out duplicate; importing its file again repairs it."""
        with suppress(CampaignError):
            return [self._count_left_out(run) for run in self.corpus.runs([name])] == [0]
        return False

    def _count_left_out(self, run: Run) -> int:
        return int(run.frame["doc_id"].isin(list(self.session.kept_as)).sum())

    def report_runs_of_duplicates(self) -> None:
        """Report runs of earlier imports that name duplicates."""
        if not any(duplicate.left_out for duplicate in self.session.duplicates):
            return
        with suppress(CampaignError):
            for run in self.corpus.runs():
                if lines := self._count_left_out(run):
                    self.session.report.notices.append(
                        f"run {run.name!r}: {count_left_out(lines, 'line')}; import its file again to put the records "
                        "that were kept in their place"
                    )

    def _free_name(self, path: FilePath, name: str, run: Run, existing: pd.DataFrame, digest: str) -> str:
        """Choose the name of a run: its tag, or the name of its file where another run has that tag."""
        if name not in existing.index or self.replace or existing.at[name, "sha256"] == digest:
            return name
        name = formats.named_stem(path, "the run")
        if name in existing.index:
            raise ConflictError(
                f"{path}: the campaign already has a run {name!r} with other content; rename the file, or use --replace"
            )
        self.session.notice(path, f"another run has the tag {run.name!r}; this one is named {name!r} after its file")
        return name

    def import_costs(self, path: FilePath) -> None:
        self.session.refuse_other(path, kinds.COSTS)
        frame = formats.read_costs(path).set_index("run")
        existing = self.store.corpus.costs().set_index("run").to_dict("index")
        for run, row in frame.iterrows():
            costs = {str(name): value for name, value in row.dropna().items()}
            known = existing.get(str(run), {})
            for name, value in costs.items():
                if not self.replace and pd.notna(known.get(name)) and known[name] != value:
                    line = formats.find_run_line(path, str(run))
                    raise ConflictError(
                        f"{errors.place(path, line)}: expected {known[name]}, the {name} of run {str(run)!r} in the "
                        f"campaign, found {value}; use --replace to overwrite it"
                    )
            self.store.corpus.add_costs(str(run), costs)
        self.session.done(path, f"costs of {count(len(frame), 'run')} ({', '.join(frame.columns)})")
        strangers = comparison.unknown_costs(self.store.corpus.runs()["run"], frame.reset_index())
        if strangers:
            names = join_first(map(repr, sorted(strangers)))
            self.session.notice(path, f"the campaign has no run or system called {names}")

    def import_clicks(self, path: FilePath) -> None:
        self.session.refuse_other(path, kinds.CLICKS)
        named = self.session.map_to_kept_records(path, formats.read_clicks(path))
        summed = named.groupby(["query_id", "doc_id", "rank"], sort=False, as_index=False).sum()
        frame, ignored = self.session.known_topics(path, summed)
        source, columns = formats.named_stem(path, "the click log"), ["query_id", "doc_id", "rank"]
        existing = self.store.corpus.clicks().query("source == @source").drop(columns="source")
        new = frame.astype({"query_id": "str"}).sort_values(columns, ignore_index=True)
        same = existing.sort_values(columns, ignore_index=True).equals(new.astype(existing.dtypes))
        if same:
            self.session.done(path, f"click log {source!r} is already in the campaign")
            return
        if len(existing) and not self.replace:
            raise ConflictError(
                f"{path}: the campaign already has a click log {source!r} with other content; rename the file, or use "
                "--replace"
            )
        self.store.corpus.add_clicks(source, frame)
        clicks, shown = count(int(frame["clicked"].sum()), "click"), count(int(frame["shown"].sum()), "impression")
        pairs = count(len(frame.drop_duplicates(columns[:2])), "pair")
        self.session.done(path, f"{clicks} on {shown} of {pairs}, stored as click log {source!r}")
        estimate = f"`cleverdon export {self.directory} --clicks FILE` estimates how attractive each document is"
        self.session.notice(path, f"clicks do not count as judgements; {estimate}")
        self.session.ignored(path, ignored)


def _size(lines: int, topics: int) -> str:
    return f"{count(lines, 'line')}, {count(topics, 'topic')}"


@contextmanager
def _named(path: FilePath) -> Iterator[None]:
    """Name the file in the message of a conflict."""
    try:
        yield
    except ConflictError as error:
        raise ConflictError(f"{path}: {error}") from error
