"""A campaign directory and its verbs: import, pool, next pairs, judge, settle, evaluate, export.

The only room that knows both the store and the workers. A :class:`Campaign` holds one database
connection and so stays in the thread that opened it; open one per thread, it costs a millisecond.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from collection import layout
from collection.campaign.adjudication import Places, RuleComparison
from collection.campaign.agreement import Conclusion
from collection.campaign.collection_card import CORPORA, About, Outline
from collection.campaign.collection_export import CollectionReport, Publishing
from collection.campaign.evaluation import Comparing
from collection.campaign.history import History, Remembering, Times
from collection.campaign.importer import Importing
from collection.campaign.judging_settings import FORMS, TASKS, CardSettings
from collection.campaign.loop_settings import LOOPING, MODES, LoopSettings
from collection.campaign.near_duplicates import Duplicates, Near
from collection.campaign.pools import Pooling
from collection.campaign.results import (
    CANNOT_JUDGE_REASONS,
    ImportReport,
    JudgeResult,
    NextPairs,
    NextStep,
    PoolReport,
    Progress,
    Refused,
)
from collection.campaign.reusability import Reusing
from collection.campaign.search import Finding, Found, Why
from collection.campaign.topic_tasks import NextTopics, TaskProgress
from collection.campaign.training_data import Schooling, TrainingFile
from collection.campaign.training_round import Learned, Reasons, Round
from collection.characters import one_line, require_writable, writable
from collection.errors import CampaignError, FormatError, InputError
from collection.layout import DATABASE
from collection.records import GRADE_SCALES, GradeScale
from collection.store import Store

__all__ = [
    "CANNOT_JUDGE_REASONS",
    "CORPORA",
    "DATABASE",
    "FORMS",
    "LOOPING",
    "MODES",
    "TASKS",
    "About",
    "Campaign",
    "CardSettings",
    "CollectionReport",
    "Conclusion",
    "Duplicates",
    "Found",
    "History",
    "ImportReport",
    "JudgeResult",
    "Learned",
    "LoopSettings",
    "Near",
    "NextPairs",
    "NextStep",
    "NextTopics",
    "Outline",
    "Places",
    "PoolReport",
    "Progress",
    "Reasons",
    "Refused",
    "Round",
    "RuleComparison",
    "TaskProgress",
    "Times",
    "TrainingFile",
    "Why",
    "read_grades",
]


class Campaign(Publishing, Finding, Schooling, Remembering, Pooling, Reusing, Comparing):
    r"""An open campaign.

    Parameters
    ----------
    directory
        A directory made by :meth:`create`.

    Raises
    ------
    CampaignError
        There is no campaign in it.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("topics.tsv").write_text("1\twing flow\n")
    >>> _ = Path("docs.tsv").write_text("d1\tFlow past a wing.\nd2\tHeat in a slab.\n")
    >>> _ = Path("bm25.run").write_text("1 Q0 d1 1 7.5 bm25\n1 Q0 d2 2 0.5 bm25\n")
    >>> with Campaign.create("wings", grades="0-3") as campaign:
    ...     report = campaign.import_files(documents=["docs.tsv"], topics="topics.tsv", runs=["bm25.run"])
    ...     pool = campaign.pool("depth", depth=10)
    ...     first = campaign.next_pairs("ann", "1", count=1).documents[0]
    >>> pool.pairs, first.doc_id
    (2, 'd1')
    """

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        if not (self.directory / DATABASE).is_file():
            raise CampaignError(f"there is no campaign in {self.directory}; `cleverdon new {self.directory}` makes one")
        layout.tighten(self.directory)
        self.store = Store(self.directory / DATABASE)
        settings = self.store.settings()
        if "grades" not in settings:
            self.store.close()
            raise CampaignError(f"{self.directory / DATABASE} is a database, but not of a campaign")
        self.id: str = settings["id"]
        self.title: str = settings["title"]
        self.grades = GradeScale({int(g): writable(s) for g, s in settings["grades"].items()})

    @classmethod
    def create(
        cls, directory: Path | str, *, grades: str | Path | GradeScale = "0-3", title: str | None = None
    ) -> Campaign:
        """Make a campaign in a new or empty directory, which only its owner may read from then on, and open it.

        Parameters
        ----------
        directory
            Made if it is not there.
        grades
            ``"0-1"``, ``"0-3"``, a :class:`GradeScale`, or a JSON file ``{"0": "sentence", ...}``.
        title
            What the pages show; the directory's name if left out.

        Raises
        ------
        CampaignError
            The directory holds a campaign or other files already.
        FormatError, InputError
            The file of grades is not such a dictionary, a sentence or the title cannot be written as UTF-8, or the
            directory belongs to another campaign.
        """
        require_writable(title, "title")
        scale = grades if isinstance(grades, GradeScale) else read_grades(grades)
        directory = Path(directory)
        if (directory / DATABASE).exists():
            raise CampaignError(f"there is a campaign in {directory} already")
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise CampaignError(f"{directory} is there already and not an empty directory; choose another name")
        layout.require_output(directory)
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(layout.PRIVATE_FOLDER)
        for sub in (layout.RUNS, layout.EXPORTS):
            (directory / sub).mkdir(mode=layout.PRIVATE_FOLDER)
        with Store(directory / DATABASE, create=True) as store, store.transaction():
            store.put("id", secrets.token_hex(6))
            store.put("title", one_line(title or "") or writable(directory.resolve().name))
            store.put("grades", {str(g): s for g, s in scale.sentences.items()})
        return cls(directory)

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database connection."""
        self.store.close()

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
        progress: Progress | None = None,
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
            :meth:`evaluate` to show; clicks are for :meth:`click_estimate`.
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
        importing = Importing(self, replace, progress or (lambda what, done, total: None))
        return importing.files(
            documents=documents, topics=topics, runs=runs, qrels=qrels, labels=labels, costs=costs, clicks=clicks
        )


def read_grades(grades: str | Path) -> GradeScale:
    """A grade scale by name (``0-1``, ``0-3``) or from a JSON file that maps each grade to a sentence."""
    if str(grades) in GRADE_SCALES:
        return GRADE_SCALES[str(grades)]
    path = Path(grades)
    if not path.is_file():
        raise InputError(f"grades are {', '.join(GRADE_SCALES)} or a JSON file; there is no file {str(grades)!r}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("no object")
        for grade, sentence in content.items():
            require_writable([grade, sentence], f"{path}: sentence of grade {grade!a}")
        return GradeScale({int(grade): str(sentence) for grade, sentence in content.items()})
    except (ValueError, AttributeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FormatError(path, line, 'an object like {"0": "Not relevant", "1": "Relevant"}', str(error)) from error
