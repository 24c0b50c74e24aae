"""Files into a campaign: all of an import, or nothing of it."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pandas as pd

from collection import comparison, formats, layout
from collection.campaign import run_files
from collection.campaign.corpus import Corpus
from collection.campaign.images import Keeper
from collection.campaign.judging import Judging
from collection.campaign.loop_settings import EVERYWHERE
from collection.campaign.results import ImportReport, ProgressCallback
from collection.campaign.settings import Settings
from collection.errors import BusyError, CampaignError, ConflictError, FormatError, InputError
from collection.records import ALL_TOPICS, QRELS_ANNOTATOR, CountsAs, Document, GradeScale, Judgement, Run, Topic
from collection.store import Added, Store

RUNS_NAMED = 3
"""Of the runs with documents without a text, so many are named."""

LABEL = ["annotator", "query_id", "doc_id", "relevance"]


@dataclass(eq=False)
class Importer:
    """Imports files into the campaign: all of an import, or nothing of it."""

    store: Store
    directory: Path
    grades: GradeScale
    settings: Settings
    corpus: Corpus
    judging: Judging

    def import_files(
        self,
        *,
        documents: Sequence[Path | str] = (),
        topics: Path | str | None = None,
        runs: Sequence[Path | str] = (),
        qrels: Path | str | None = None,
        labels: Path | str | None = None,
        costs: Path | str | None = None,
        clicks: Path | str | None = None,
        replace: bool = False,
        progress: ProgressCallback | None = None,
    ) -> ImportReport:
        """Import files: all of them, or, if anything is wrong with one, none.

        Topics and documents first, then runs, qrels and labels, whose topics are looked up among those of the
        campaign. Importing a file again changes nothing. Imported qrels are kept as judgements of
        the annotator ``qrels:NAME``, labels as those of the annotators whose they are; a pair that they grade counts
        as judged. Clicks are kept by themselves, under the name of their file: they are nobody's judgements.

        Parameters
        ----------
        documents, topics, runs, qrels, labels, costs, clicks
            Paths; :mod:`collection.formats` says which forms are read. Costs are of runs, for
            :meth:`.Evaluator.evaluate` to show; clicks are for :meth:`.ClickLogs.estimate`.
        replace
            Take the new content where a topic, document, run, cost, imported grade or log of clicks is there with
            another.
        progress
            Told how far the work is.

        Raises
        ------
        FormatError
            A file is not what it should be; the message has path and line.
        ConflictError
            Something of that name is there with other content, and `replace` is off.
        """
        return _Import(self, replace, progress or (lambda what, done, total: None)).files(
            documents=documents, topics=topics, runs=runs, qrels=qrels, labels=labels, costs=costs, clicks=clicks
        )


class _Import:
    """One import into one campaign.

    Parameters
    ----------
    importer
        The campaign's.
    replace
        Take new content where a name is there with other content.
    tell
        Told how far the work is.
    """

    def __init__(self, importer: Importer, replace: bool, tell: ProgressCallback) -> None:
        self.store, self.directory, self.grades = importer.store, importer.directory, importer.grades
        self.settings, self.corpus, self.judging = importer.settings, importer.corpus, importer.judging
        self.replace, self.tell = replace, tell
        self.folder = self.directory / layout.RUNS
        self.done: list[str] = []
        self.notices: list[str] = []
        self.written: list[Path] = []
        self.without_text: dict[str, int] = {}
        self.texts_wanted: set[str] = set()
        self.blank = 0

    def files(
        self,
        *,
        documents: Sequence[Path | str],
        topics: Path | str | None,
        runs: Sequence[Path | str],
        qrels: Path | str | None,
        labels: Path | str | None,
        costs: Path | str | None,
        clicks: Path | str | None,
    ) -> ImportReport:
        """Import all of them in one transaction; see :meth:`Importer.import_files`."""
        names = formats.name_runs(runs)
        with self.store.transaction():
            before = set(self.store.corpus.runs()["file"])
            try:
                if topics is not None:
                    self._topics(topics)
                for path in documents:
                    self._documents(path)
                for number, (name, path) in enumerate(zip(names, runs, strict=True)):
                    self.tell("runs", number, len(runs))
                    self._run(path, name)
                if runs:
                    self.tell("runs", len(runs), len(runs))
                if qrels is not None:
                    self._qrels(qrels)
                if labels is not None:
                    self._labels(labels)
                if costs is not None:
                    self._costs(costs)
                if clicks is not None:
                    self._clicks(clicks)
            except BaseException:
                # Inside the transaction: nobody else can have taken these files into use.
                for place in reversed(self.written):
                    with suppress(OSError):
                        place.rmdir() if place.is_dir() else place.unlink(missing_ok=True)
                raise
        self._sweep(before)
        if self.without_text:
            self.notices.append(
                f"documents without a text here: {self._without_text()}; they are pooled all the same, and once there "
                f"is a pool, `cleverdon export {self.directory} --missing-documents FILE` lists what is wanted"
            )
        return ImportReport(self.done, self.notices)

    def _sweep(self, before: set[str]) -> None:
        """Remove what earlier imports left: runs that were replaced, and what is unfinished because they were killed.

        Only files whose names are as an import gives them; whatever else lies there is the user's. A run that this
        import replaced, one of those `before` it, stays until the next, since somebody may be about to read it.
        """
        if not self._left(before):
            return
        with (
            suppress(BusyError, OSError),
            self.store.transaction(),
        ):  # no other import is at work: its files are not left
            for file in self._left(before):
                file.unlink()

    def _left(self, before: set[str]) -> list[Path]:
        """Files of imports that no run is kept in."""
        named = before | set(self.store.corpus.runs()["file"])
        images = self.directory / layout.IMAGES
        return [
            file
            for folder, own in ((self.folder, layout.is_run_file), (images, layout.is_partial_image))
            if folder.is_dir()
            for file in folder.iterdir()
            if own(file.name) and file.name not in named and file.is_file() and not file.is_symlink()
        ]

    def _topics(self, path: Path | str) -> None:
        frame = formats.read_topics(path)
        if (frame["query_id"] == ALL_TOPICS).any():
            raise InputError(f"{path}: no topic can be called {ALL_TOPICS!r}, which stands for the mean over topics")
        with _named(path):
            added = self.store.corpus.add_topics(map(Topic._make, frame.itertuples(index=False)), replace=self.replace)
        self.done.append(_sentence(path, "topics", added))

    def _documents(self, path: Path | str) -> None:
        images = Keeper(self.directory, self.written)
        waiting = sum(self.store.pool.without_text().values())
        self.blank = 0
        with _named(path):
            added = self.store.corpus.add_documents(self._counted(path, images), replace=self.replace)
        images.settle()
        self.tell(f"{Path(path).name}: documents", sum(added), sum(added))
        if added.new or added.changed:  # what was made from the documents before is out of date
            self.store.settings.put("documents_version", self.store.settings.all().get("documents_version", 0) + 1)
        self.done.append(_sentence(path, "documents", added))
        released = waiting - sum(self.store.pool.without_text().values())
        if released > 0:
            pairs = "1 pooled pair" if released == 1 else f"{released:,} pooled pairs"
            self.done.append(f"{path}: {pairs} that waited for a text can be judged now")
        if images.files:
            self.done.append(f"{path}: {len(images.files):,} images ({images.new:,} new)")
        if self.blank:
            have = "1 document has" if self.blank == 1 else f"{self.blank:,} documents have"
            self.notices.append(f"{path}: {have} neither a title nor a text: annotators see an empty card")
        allowed = self.settings.judging_page().image_hosts
        if links := {host: count for host, count in images.links.items() if host not in allowed}:
            self.notices.append(
                f"{path}: images that are links: {sum(links.values()):,}. Annotators see them as images once you have "
                f"allowed their hosts ({_few(links)}): `cleverdon card {self.directory} --image-host HOST`"
            )

    def _counted(self, path: Path | str, images: Keeper) -> Iterator[Document]:
        for number, (line, document) in enumerate(formats.read_documents(path), start=1):
            if number % 1000 == 0:
                self.tell(f"{Path(path).name}: documents", number, None)
            named = document.metadata.get("images")
            if isinstance(named, formats.ImageList):
                kept = images.kept(path, line, named)
                yield document._replace(metadata={**document.metadata, "images": kept})
            else:
                self.blank += not (document.title.strip() or (document.text or "").strip())
                yield document

    def _run(self, path: Path | str, name: str) -> None:
        run = formats.read_run(path)
        frame, ignored = self._known_topics(run.frame, path)
        with Path(path).open("rb") as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
        there = self.store.corpus.runs().set_index("run")
        # The same file again is new if more of its topics are known by now.
        same = there.index[(there["sha256"] == digest) & (there["rows"] == len(frame))]
        if len(same) and self._is_intact(same[0]):
            self.done.append(f"{path}: the run {same[0]!r} is in the campaign already")
            return
        name = same[0] if len(same) else self._free_name(path, name, run, there, digest)
        unknown = self.store.corpus.without_text(frame["doc_id"].unique())
        topics = frame["query_id"].nunique()
        place = self._free_place(f"{quote(name, safe=' ')[:150]}.{digest[:8]}-{len(frame)}")
        self.written.append(place)
        try:
            file = run_files.write(frame, place)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        self.written.append(file)
        layout.sync_folder(self.folder)
        self.store.corpus.add_run(name, file.name, digest, topics, len(frame), int(frame["rank"].max()))
        said = f"{path}: run {name!r}, {len(frame):,} lines, {topics:,} topics"
        if before := there.to_dict("index").get(name):
            said += f" (in place of {before['rows']:,} lines, {before['topics']:,} topics)"
        self.done.append(said)
        if ignored:
            self.notices.append(f"{path}: {_ignored(ignored)}")
        if unknown:
            self.without_text[name] = len(unknown)
            self.texts_wanted |= unknown

    def _is_intact(self, name: str) -> bool:
        """Whether a run can be read; importing its file again repairs it."""
        with suppress(CampaignError):
            return len(list(self.corpus.runs([name]))) == 1
        return False

    def _without_text(self) -> str:
        """How many documents, each once, and the runs that have most of them."""
        counts = self.without_text
        most = sorted(counts, key=lambda name: (-counts[name], name))
        said = ", ".join(f"{counts[name]:,} of run {name!r}" for name in most[:RUNS_NAMED])
        if len(most) == 1:
            return said
        more = len(most) - RUNS_NAMED
        rest = f", and {more:,} more {'run' if more == 1 else 'runs'}" if more > 0 else ""
        return f"{len(self.texts_wanted):,} in all ({said}{rest})"

    def _free_name(self, path: Path | str, name: str, run: Run, there: pd.DataFrame, digest: str) -> str:
        """The name under which the run is kept: its tag's, its file's if another run has that, or a conflict."""
        if name not in there.index or self.replace or there.at[name, "sha256"] == digest:
            return name
        name = formats.stem(path)
        if name in there.index:
            raise ConflictError(
                f"{path}: a run {name!r} is in the campaign already with other content; "
                "give the file another name, or --replace takes the new one"
            )
        self.notices.append(f"{path}: its tag {run.name!r} is another run's; it is named {name!r} after its file")
        return name

    def _free_place(self, stem: str) -> Path:
        """Where a run is written, until its digest is known: a place where nothing is, under whatever digest."""
        names = {file.name for file in self.folder.iterdir()}
        named = stem
        while any(name.startswith((f"{named}.", f"{named}-")) for name in names):
            named = f"{stem}-{secrets.token_hex(4)}"
        return self.folder / f"{named}.part"

    def _known_topics(self, frame: pd.DataFrame, path: Path | str) -> tuple[pd.DataFrame, list[str]]:
        """The rows whose topic the campaign has, and the topics that were left out."""
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

    def _costs(self, path: Path | str) -> None:
        frame = formats.read_costs(path).set_index("run")
        there = self.store.corpus.costs().set_index("run").to_dict("index")
        for run, row in frame.iterrows():
            costs = {str(name): value for name, value in row.dropna().items()}
            known = there.get(str(run), {})
            for name, value in costs.items():
                if not self.replace and pd.notna(known.get(name)) and known[name] != value:
                    line = formats.find_run_line(path, str(run))
                    raise ConflictError(
                        f"{path}:{line}: {name} of run {str(run)!r} is {known[name]} in the campaign and {value} here; "
                        "--replace takes the new one"
                    )
            self.store.corpus.add_costs(str(run), costs)
        self.done.append(f"{path}: costs of {len(frame):,} runs ({', '.join(frame.columns)})")
        strangers = comparison.unknown_costs(self.store.corpus.runs()["run"], frame.reset_index())
        if strangers:
            names = ", ".join(map(repr, sorted(strangers)[:5]))
            self.notices.append(f"{path}: no run or system of the campaign is called {names}")

    def _clicks(self, path: Path | str) -> None:
        frame, ignored = self._known_topics(formats.read_clicks(path), path)
        source, columns = formats.stem(path), ["query_id", "doc_id", "rank"]
        there = self.store.corpus.clicks().query("source == @source").drop(columns="source")
        new = frame.astype({"query_id": "str"}).sort_values(columns, ignore_index=True)
        same = there.sort_values(columns, ignore_index=True).equals(new.astype(there.dtypes))
        if same:
            self.done.append(f"{path}: the clicks {source!r} are in the campaign already")
            return
        if len(there) and not self.replace:
            raise ConflictError(
                f"{path}: clicks called {source!r} are in the campaign already with other content; "
                "give the file another name, or --replace takes the new ones"
            )
        self.store.corpus.add_clicks(source, frame)
        shown, clicked = frame["shown"].sum(), frame["clicked"].sum()
        pairs = len(frame.drop_duplicates(columns[:2]))
        self.done.append(f"{path}: {clicked:,} clicks on {shown:,} impressions of {pairs:,} pairs, kept as {source!r}")
        self.notices.append(
            f"{path}: clicks are kept apart from people's judgements; `export --clicks FILE` says what they mean"
        )
        if ignored:
            self.notices.append(f"{path}: {_ignored(ignored)}")

    def _qrels(self, path: Path | str) -> None:
        frame = formats.read_qrels(path)
        grades = self.grades
        outside = frame[(frame["relevance"] >= 0) & ~frame["relevance"].isin(set(grades.sentences))]
        if len(outside):
            row = outside.iloc[0]
            line = formats.find_pair_line(path, row["query_id"], row["doc_id"])
            wanted = f"a grade of this campaign ({grades}; below 0 for unjudged)"
            raise FormatError(path, line, wanted, f"{row['relevance']}")
        known, ignored = self._known_topics(frame, path)
        graded = known[known["relevance"] >= 0]
        annotator = f"{QRELS_ANNOTATOR}{formats.stem(path)}"
        added, _ = self._grades(path, graded.assign(annotator=annotator, counts_as="judgement"))
        of_new = "pairs of the pool that it grades count as judged, and nobody is asked to judge them again"
        self._said(path, f"judgements, kept as {annotator!r}", added, ignored, of_new)
        if unjudged := len(known) - len(graded):
            self.notices.append(f"{path}: {unjudged:,} pairs with a grade below 0 are unjudged and left out")

    def _labels(self, path: Path | str) -> None:
        log = formats.read_label_log(path)
        frame = log.labels
        if frame.empty:
            raise InputError(f"{path}: wanted labels, found no grade in it")
        grades = self.grades
        outside = frame[~frame["relevance"].isin(set(grades.sentences))]
        if len(outside):
            row = outside.iloc[0]
            line = formats.find_label_line(path, row["annotator"], row["query_id"], row["doc_id"])
            raise FormatError(path, line, f"a grade of this campaign ({grades})", f"{row['relevance']}")
        known, ignored = self._known_topics(frame, path)
        self._require_one_spelling(path, map(str, known["annotator"].unique()))
        added, surplus = self._grades(path, known.assign(counts_as=self._labels_count_as(known)))
        people = known["annotator"].nunique()
        what = f"judgements of {people:,} annotator{'' if people == 1 else 's'}"
        count = len(known) - surplus
        counting = "1 of them counts as a judgement of its pair"
        if count != 1:
            counting = f"{count:,} of them count as judgements of their pairs" if count else ""
        self._said(path, what, added, ignored, counting)
        if surplus:
            are = "is surplus: its pair wants" if surplus == 1 else "are surplus: their pairs want"
            self.notices.append(
                f"{path}: {surplus:,} of them {are} no more judgements. Surplus is kept in the log and counts nowhere; "
                f"to count it, ask for more judgements with `cleverdon assign {self.directory} "
                "--annotators K`, and import the file again"
            )
        if log.left_out:
            counts = ", ".join(f"{count:,} of the kind {what!r}" for what, count in log.left_out.items())
            self.notices.append(f"{path}: labels are grades of annotators; the rest of the log is left out ({counts})")

    def _require_one_spelling(self, path: Path | str, names: Iterable[str]) -> None:
        """Refuse names that would make two annotators of one person: no account can be called so either."""
        there = {
            name.casefold(): name for name in (*self.store.accounts.names_in_the_log(), *self.store.accounts.names())
        }
        for name in names:
            other = there.setdefault(name.casefold(), name)
            if other != name:
                raise ConflictError(
                    f"{path}: the annotators {name!r} and {other!r} differ only in upper and lower case; write both "
                    "alike if they are one person, or give one of them another name"
                )

    def _labels_count_as(self, labels: pd.DataFrame) -> list[CountsAs]:
        """What each new label counts as: of those of a pair, as many of the earliest as it wants count.

        Labels without a time come last, in the order of the file. Of a pair that nobody asked for, outside the pool
        and any loop, every label counts, and so does every one of imported qrels.

        Parameters
        ----------
        labels
            ``annotator``, ``query_id``, ``doc_id`` and, where the file says it, ``first_judged_at``.
        """
        self.store.corpus.add_document_ids(labels["doc_id"])
        pool, scopes = self.store.pool.pairs(), self.settings.scopes()
        pooled = set(zip(pool["query_id"], pool["doc_id"], strict=True))
        there = {name: self.store.judgements.last_grades(name) for name in labels["annotator"].unique()}
        order = labels.reset_index(drop=True)
        if "first_judged_at" in order:
            times = pd.to_datetime(order["first_judged_at"], utc=True, format="ISO8601", errors="coerce")
            order = order.loc[times.sort_values(kind="stable", na_position="last").index]
        counts_as: list[CountsAs] = ["judgement"] * len(labels)
        taken: Counter[tuple[str, str]] = Counter()
        for row, annotator, *pair in order[["annotator", "query_id", "doc_id"]].itertuples(name=None):
            query_id, doc_id = pair
            asked = (query_id, doc_id) in pooled or scopes[query_id] in EVERYWHERE
            if not asked or there[annotator].get((query_id, doc_id), (None, None))[1] == "judgement":
                continue
            if annotator.startswith(QRELS_ANNOTATOR):  # of a log that has imported qrels
                continue
            if self.judging.has_room_for_label(annotator, query_id, doc_id, taken[query_id, doc_id]):
                taken[query_id, doc_id] += 1
            else:
                counts_as[row] = "surplus"
        return counts_as

    def _grades(self, path: Path | str, graded: pd.DataFrame) -> tuple[Added, int]:
        """Write grades that people gave elsewhere, in the order of the rows, which the rule "latest" goes by.

        Parameters
        ----------
        path
            The file, for messages.
        graded
            ``annotator``, ``query_id``, ``doc_id``, ``relevance``, ``counts_as`` (what a grade counts as where its
            annotator has no judgement of the pair yet), and of a log what it says beside the grades.

        Returns
        -------
        tuple
            What was added, and how many of these grades are surplus.
        """
        self.store.corpus.add_document_ids(graded["doc_id"])
        there = {name: self.store.judgements.last_grades(name) for name in graded["annotator"].unique()}
        new = changed = same = surplus = 0
        columns = [name for name in graded.columns if name != "first_judged_at"]
        for row in graded[columns].itertuples(index=False, name=None):
            details: dict[str, Any] = dict(zip(columns, row, strict=True))
            annotator, query_id, doc_id, relevance = (details.pop(name) for name in LABEL)
            counted: CountsAs = details.pop("counts_as")
            before, as_before = there[annotator].get((query_id, doc_id), (None, None))
            if before is not None and before != relevance and not self.replace:
                of_qrels = annotator.startswith(QRELS_ANNOTATOR)
                thing = "file" if of_qrels else "annotator"
                line = (
                    formats.find_pair_line(path, query_id, doc_id)
                    if of_qrels
                    else formats.find_label_line(path, annotator, query_id, doc_id)
                )
                raise ConflictError(
                    f"{path}:{line}: topic {query_id!r}, document {doc_id!r}: {annotator!r} says {before} already, "
                    f"found {relevance}; give the {thing} another name, or --replace takes the new grade"
                )
            counted = "judgement" if as_before == "judgement" else counted
            surplus += counted == "surplus"
            if before == relevance and counted == as_before:
                same += 1
                continue
            new, changed = new + (before is None), changed + (before is not None)
            uuid = details.pop("uuid", None)
            if uuid is None or self.store.judgements.logged(uuid) is not None:
                uuid = str(uuid4())
            grade = int(relevance)
            judgement = Judgement(
                uuid, annotator, query_id, doc_id, "graded", grade, source="imported", counts_as=counted
            )
            self.judging.write(judgement._replace(**{n: v for n, v in details.items() if v is not None}))
        return Added(new, changed, same), surplus

    def _said(self, path: Path | str, what: str, added: Added, ignored: list[str], of_new: str) -> None:
        if added.new and of_new:
            self.notices.append(f"{path}: {of_new}")
        self.done.append(_sentence(path, what, added))
        if ignored:
            self.notices.append(f"{path}: {_ignored(ignored)}")


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    """The store knows no files; whoever reads the message wants to know which one it was."""
    try:
        yield
    except ConflictError as error:
        raise ConflictError(f"{path}: {error}") from error


def _sentence(path: Path | str, what: str, added: Added) -> str:
    parts = [f"{added.new:,} new"]
    if added.changed:
        parts.append(f"{added.changed:,} changed")
    if added.same:
        parts.append(f"{added.same:,} there already")
    return f"{path}: {sum(added):,} {what} ({', '.join(parts)})"


def _ignored(topics: Sequence[str]) -> str:
    return f"{len(topics):,} of its topics are not in the campaign and are left out ({_few(topics)})"


def _few(names: Iterable[str]) -> str:
    first = list(names)
    return ", ".join(first[:5]) + (", ..." if len(first) > 5 else "")
