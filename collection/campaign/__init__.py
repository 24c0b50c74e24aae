"""A campaign directory: one database, its run files, and the services that work on them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from collection.campaign.answers.generated_answers import GeneratedAnswers
from collection.campaign.answers.label_samples import LabelSamples
from collection.campaign.answers.nugget_proposals import NuggetProposals
from collection.campaign.answers.nugget_sources import NuggetSources
from collection.campaign.answers.nuggets import Nuggets
from collection.campaign.answers.tasks import AnswerTasks
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.exports import Exports
from collection.campaign.exports.collection_card import CollectionCard
from collection.campaign.exports.collection_export import CollectionExport
from collection.campaign.exports.export import Exporter
from collection.campaign.exports.training_data import TrainingData
from collection.campaign.exports.work_lists import WorkLists
from collection.campaign.imports.importer import Importer
from collection.campaign.imports.records import Records
from collection.campaign.judging.judging import Judging
from collection.campaign.log.judgement_log import JudgementLog
from collection.campaign.loop.active_learning import ActiveLearning
from collection.campaign.machine_labels import MachineLabelServices
from collection.campaign.machine_labels.judges import Judges
from collection.campaign.machine_labels.label_files import LabelFiles
from collection.campaign.machine_labels.label_sets import LabelSets
from collection.campaign.machine_labels.label_study import LabelStudy
from collection.campaign.machine_labels.llm.label_sets import LlmLabelSets
from collection.campaign.machine_labels.llm.labels import LlmLabels
from collection.campaign.operations import Operations, stored_settings
from collection.campaign.operations.backups import Backups
from collection.campaign.operations.server_state import ServerState
from collection.campaign.people import People
from collection.campaign.people.accounts import Accounts
from collection.campaign.people.assignments import Assignments
from collection.campaign.people.pools import Pools
from collection.campaign.people.qualification_set import QualificationSet
from collection.campaign.progress.progress import Progress
from collection.campaign.recall.across_topics.calibration_topics import CalibrationTopics
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.results import ResultServices
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.results.evaluation import RunEvaluator
from collection.campaign.results.overview import Overview
from collection.campaign.results.qrels import QrelsBuilder
from collection.campaign.review.screening import Screening
from collection.campaign.settings.settings import (
    QUESTIONS,
    TASK_KEY,
    Settings,
    read_grades,
    read_questions_file,
    require_asked,
)
from collection.core import layout
from collection.core.answer_tasks import AnswerTask
from collection.core.characters import one_line, require_writable, writable
from collection.core.errors import CampaignError, as_path
from collection.core.layout import DATABASE
from collection.core.questions import Question
from collection.core.records import GradeScale
from collection.core.review import REVIEW_GRADES, Review
from collection.store import Store

__all__ = ["DATABASE", "Campaign", "read_grades"]


class Campaign:
    r"""An open campaign directory, with its services as attributes.

    A campaign stays in the thread that opened it; :meth:`transaction` groups several changes. Each folder of this
    package is an attribute: its main service, with others as attributes of it, or a tuple of its services.

    - `settings`, `log`, `corpus`, `operations`: settings, judgements, documents and runs, backups
    - `progress`, `loop`, `people`, `recall`: how far judging is, what to judge next, who judges, and when to stop
    - `judging`: next pairs and judgements; lists and preferences, adjudication, history, search
    - `results`, `machine_labels`: qrels, evaluation and agreement; machine labels
    - `imports`, `records`: import of files, and the bibliographic records in them
    - `review`, `answers`, `exports`: screening in a literature review, generated answers, export of files
    - `answer_samples`: human samples that correct the scores of answers by machine labels

    `store` has the rows of the database.

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
    ...     report = campaign.imports.import_files(documents=["docs.tsv"], topics="topics.tsv", runs=["bm25.run"])
    ...     pool = campaign.people.pools.add("depth", depth=10)
    ...     first = campaign.judging.next_pairs("ann", "1", count=1).documents[0]
    >>> pool.pairs, first.doc_id
    (2, 'd1')
    """

    directory: Path
    store: Store
    id: str
    transaction: Callable[[], AbstractContextManager[None]]
    settings: Settings
    log: JudgementLog
    corpus: Corpus
    operations: Operations
    progress: Progress
    loop: ActiveLearning
    people: People
    recall: RecallEstimates
    judging: Judging
    results: ResultServices
    machine_labels: MachineLabelServices
    imports: Importer
    records: Records
    review: Screening
    answers: GeneratedAnswers
    answer_samples: LabelSamples
    exports: Exports

    def __init__(self, directory: Path | str) -> None:
        self.directory = directory = as_path(directory, "directory")
        _require_campaign(directory)
        layout.restrict_permissions(directory)
        self.store = store = Store(directory / DATABASE)
        stored = store.settings.all()
        try:
            if "grades" not in stored:
                raise CampaignError(f"{directory / DATABASE}: expected the database of a campaign, found another one")
            stored_settings.require_sound(stored, directory / DATABASE)
        except CampaignError:
            store.close()
            raise
        self.id = str(stored["id"])
        grades = GradeScale({int(g): writable(s) for g, s in stored["grades"].items()})
        self.transaction = store.transaction
        self.settings = settings = Settings(store, self.id, str(stored["title"]), grades)
        self.log = JudgementLog(store)
        self.corpus = corpus = Corpus(store, directory, settings)
        server = ServerState(store, layout.outer_campaign(directory) or directory)
        self.operations = Operations(Backups(store, directory), server)
        self.progress = progress = Progress(store, settings, corpus)
        self.loop = loop = ActiveLearning(store, directory, settings, corpus, progress)
        accounts = Accounts(store, directory)
        assignments = Assignments(store, settings, corpus, accounts, progress)
        qualification = QualificationSet(store, settings, corpus, accounts, assignments)
        self.people = People(accounts, assignments, qualification, Pools(store, settings, corpus, assignments))
        across_topics = CalibrationTopics(store, settings, progress.loop_scope, loop)
        self.recall = recall = RecallEstimates(store, settings, corpus, progress, across_topics)
        self.judging = judging = Judging(store, settings, corpus, progress, qualification, loop, recall)
        qrels, agreement = QrelsBuilder(store, settings, corpus, progress), AgreementStudy(store, settings, corpus)
        evaluation = RunEvaluator(store, settings, corpus, qrels)
        overview = Overview(store, settings, progress, judging.topic_tasks, loop.system_order, recall)
        self.results = ResultServices(qrels, evaluation, agreement, overview)
        sets = LabelSets(store, directory, settings, corpus)
        study = LabelStudy(store, settings, corpus, qrels, sets, assignments, self.people.pools)
        files = LabelFiles(store, directory, settings, corpus, sets, study)
        llm = LlmLabels(store, directory, settings, corpus, LlmLabelSets(store, settings, sets))
        judges = Judges(store, settings, corpus, sets, study)
        self.machine_labels = MachineLabelServices(sets, study, judges, files, llm)
        self.imports = Importer(store, directory, settings, corpus, judging, sets, assignments)
        self.records = Records(store, directory)
        self.review = Screening(store, settings, judging, assignments, recall, agreement, self.records)
        nuggets = Nuggets(store, settings)
        sources = NuggetSources(store, settings, corpus, nuggets)
        tasks = AnswerTasks(store, directory, nuggets, type(self))
        proposals = NuggetProposals(store, directory, settings, corpus, nuggets, sources)
        self.answers = GeneratedAnswers(store, directory, nuggets, sources, proposals, tasks)
        self.answer_samples = LabelSamples(self.answers)
        card = CollectionCard(store, settings, corpus, qrels, agreement, recall, files)
        self.exports = Exports(
            Exporter(store, directory, corpus, qrels, agreement, files),
            CollectionExport(store, directory, corpus, qrels, card, files, self.answers),
            card,
            TrainingData(store, directory, settings, corpus, qrels),
            WorkLists(store, directory, settings, corpus, judging),
        )

    @classmethod
    def create(
        cls,
        directory: Path | str,
        *,
        grades: str | Path | GradeScale = "0-3",
        title: str | None = None,
        questions: str | Path | Iterable[Question] = (),
        review: Review | None = None,
        task: AnswerTask | None = None,
    ) -> Campaign:
        """Create a campaign in a new or empty directory, readable by its owner only, and open it.

        Parameters
        ----------
        grades
            The lowest and the highest grade, such as ``"0-3"``, a :class:`GradeScale`, or a JSON file
            ``{"0": "sentence", ...}``. ``"0-1"`` and ``"0-3"`` have sentences, other scales name only their ends.
        title
            Title on the pages; the name of the directory if left out.
        questions
            Further questions: a JSON file, or several :class:`.Question`.
        review
            A literature review, which has its own title and the grades exclude, maybe and include.
        task
            A task of generated answers, which has its own grades; use :class:`.AnswerTasks` to create its campaign.

        Raises
        ------
        CampaignError
            The directory holds a campaign or other files already.
        FormatError, InputError
            Grades, title or questions are invalid, or the directory belongs to another campaign.
        """
        require_writable(title, "title")
        scale = grades if isinstance(grades, GradeScale) else read_grades(grades)
        scale = scale if review is None else REVIEW_GRADES
        scale = scale if task is None else task.grades
        asked = read_questions_file(questions) if isinstance(questions, str | Path) else tuple(questions)
        require_asked(asked, scale)
        directory = as_path(directory, "directory")
        if (directory / DATABASE).exists():
            raise CampaignError(f"{directory} already contains a campaign")
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise CampaignError(f"{directory}: expected a new or empty directory, found files; choose another name")
        layout.require_output(directory)
        layout.make_folder(directory)
        directory.chmod(layout.PRIVATE_FOLDER)
        for sub in (layout.RUNS, layout.EXPORTS):
            layout.make_folder(directory / sub)
        with Store(directory / DATABASE, create=True) as store, store.transaction():
            store.settings.put("id", secrets.token_hex(6))
            store.settings.put("title", one_line(title or "") or writable(directory.resolve().name))
            store.settings.put("grades", {str(g): s for g, s in scale.sentences.items()})
            if asked:
                store.settings.put(QUESTIONS, [question.to_json() for question in asked])
            if min(scale.sentences) > 0:  # else the lowest grade would be relevant
                store.settings.put("loop", {"level": sorted(scale.sentences)[1]})
            if task is not None:
                store.settings.put(TASK_KEY, task.name)
            if review is not None:
                Settings(store, str(store.settings.get("id")), review.title, scale).set_review(review)
        return cls(directory)

    @property
    def title(self) -> str:
        """Title on the pages."""
        return self.settings.title

    def __repr__(self) -> str:
        return f"Campaign({str(self.directory)!r})"

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database connection."""
        self.store.close()


def _require_campaign(directory: Path) -> None:
    if not (directory / DATABASE).is_file():
        if directory.is_file():
            raise CampaignError(f"{directory}: expected the directory of a campaign, found a file")
        raise CampaignError(f"there is no campaign in {directory}; create one with `cleverdon new {directory}`")
