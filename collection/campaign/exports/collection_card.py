"""The card of a collection exported from the campaign, and the collection's size."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import islice
from typing import Any, Literal, NamedTuple

import pandas as pd

from collection import adjudication, export, formats
from collection.adjudication import ChosenRule
from collection.annotator_agreement import COEFFICIENTS, select_value
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.exports.export import qrels_name
from collection.campaign.machine_labels.label_files import LabelFiles
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.results.qrels import QrelsBuilder, RuleChoice, select_topics
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.errors import CampaignError, InputError, UnknownNameError, require_known
from collection.core.questions import Question, QuestionKind
from collection.export.facts import CardFacts
from collection.store import Store

CorpusChoice = Literal["all", "judged", "none"]

CORPORA: dict[CorpusChoice, str] = {
    "all": "all documents of the campaign that have a text",
    "judged": "only documents with a grade in any topic",
    "none": "no documents; users of the collection get them elsewhere",
}
"""Choice of the documents in an exported collection -> description."""

SAMPLE = 500
"""Number of documents used to estimate the size of a corpus."""

RESAMPLES = 1000
"""Bootstrap samples of the card's agreement."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")


@dataclass(frozen=True)
class CollectionChoices:
    """Choices of the contents of an exported collection."""

    name: str | None = None
    """In ir_datasets: small letters, digits, ``-``, ``_``, ``.``, separated by ``/``; by default from the title."""
    rule: RuleChoice = None
    """As :meth:`.QrelsBuilder.build` takes it. Without a grade, the qrels are those of choices, or of preferences."""
    corpus: CorpusChoice = "all"
    query_text: str = "title"
    """A name in :data:`.QUERY_TEXTS`."""
    with_runs: bool = False
    name_annotators: bool = False
    """Name the annotators instead of calling them a1, a2, ... in the card and in the logs; notes stay as written."""
    topics: Collection[str] | None = None
    """Topics whose judgements are in the qrels, by default all; topics and logs are included completely."""
    fill_with: str | None = None
    """Label set for the pooled pairs without a grade. The card counts its labels."""


DEFAULTS = CollectionChoices()


class CollectionQrels(NamedTuple):
    """The qrels of an exported collection."""

    source: str
    """"judgements", "choices" or "preferences"."""
    graded: pd.DataFrame
    """Grades by people, of all topics."""
    exported: pd.DataFrame
    """Those of the chosen topics, with machine labels."""
    by_question: Mapping[Question, Mapping[str, pd.DataFrame]] = {}
    """Qrels of each further question by answer, or by "" if it has grades; empty where nobody answered it."""


class Outline(NamedTuple):
    """Name (in ir_datasets) and size of a collection: pairs and topics with a grade, documents, their bytes as JSON."""

    name: str
    pairs: int
    topics: int
    documents: int
    bytes: int


@dataclass(eq=False)
class CollectionCard:
    """The card of a collection exported from the campaign, and the collection's size."""

    store: Store
    settings: Settings
    corpus: Corpus
    qrels: QrelsBuilder
    agreement: AgreementStudy
    recall: RecallEstimates
    label_files: LabelFiles

    def outline(self, choices: CollectionChoices = DEFAULTS) -> Outline:
        """The size of the collection; errors as for :meth:`select_qrels`."""
        called = _name_of(choices.name, self.settings.title)
        qrels = self.select_qrels(choices, with_questions=False).exported
        documents = self._exported(qrels, choices.corpus)
        first = islice(self.store.corpus.documents_with_text(pooled=False), SAMPLE)
        sizes = [len(json.dumps(formats.corpus_record(d), ensure_ascii=False).encode()) + 1 for d in first]
        size = round(sum(sizes) / len(sizes) * documents) if sizes else 0
        return Outline(called, len(qrels), int(qrels["query_id"].nunique()), documents, size)

    def select_qrels(self, choices: CollectionChoices, *, with_questions: bool = True) -> CollectionQrels:
        """The qrels of a collection, by default also those of further questions.

        Raises
        ------
        CampaignError
            There is no grade, no choice and no preference yet, or the rule leaves fractions of grades.
        InputError, UnknownNameError
            The name or one of the choices is invalid.
        """
        source, qrels = "judgements", self.qrels.build(choices.rule)
        if qrels.empty:
            source, qrels = "choices", self.qrels.from_choices()
        if qrels.empty:
            source, qrels = "preferences", self.qrels.from_preferences()
        if qrels.empty and self.store.answers.exist():
            source = "judgements"
        elif qrels.empty:
            raise CampaignError("a collection needs grades, found none; judge some pairs first")
        if (qrels["relevance"] % 1 != 0).any():
            raise CampaignError(
                "the grades by this rule have fractions, which tools that load collections cannot read; choose another "
                "rule, or export the qrels alone"
            )
        graded = written = qrels.astype({"relevance": "int64"})
        if choices.fill_with is not None:
            if source != "judgements":
                raise CampaignError(f"machine labels fill qrels of judgements only, found qrels of {source}")
            written = self.label_files.filled(graded, choices.fill_with).astype({"relevance": "int64"})
        questions = self.settings.questions() if with_questions and source == "judgements" else ()
        by_question = {question: self._question_qrels(choices, question.name) for question in questions}
        return CollectionQrels(source, graded, select_topics(written, choices.topics), by_question)

    def describe(self, choices: CollectionChoices, collected: CollectionQrels, names: Mapping[str, str]) -> CardFacts:
        """The card without its files; `names` are the pseudonyms of :meth:`annotator_names`.

        Machine labels are counted apart; all other numbers are those of people.
        """
        source, graded, written, by_question = collected
        query_text, topics = choices.query_text, choices.topics
        require_known("text of queries", formats.QUERY_TEXTS, query_text)
        query_fields = self.store.corpus.topics()[list(formats.QUERY_TEXTS[query_text])]
        without = int((query_fields.map(str.strip) == "").all(axis=1).sum())
        missing = {"query_text_missing": without} if without else {}
        others = dict.fromkeys(name for topic in self.store.corpus.topic_records() for name in topic.fields)
        other_fields: dict[str, Any] = {"other_fields": list(others)} if others else {}
        log, current = (export.rename_annotators(self.store.judgements.table(current=c), names) for c in (False, True))
        qrels = select_topics(graded, topics)
        left_out = graded["query_id"].nunique() - qrels["query_id"].nunique()
        decisive = self.qrels.count_decisive_pairs(topics=topics) if source == "judgements" else 0
        # A chosen document is relevant, whatever the level of the loop.
        needs, level = self.store.corpus.topics(), 1 if source == "choices" else self.settings.loop().level
        facts = {
            "name": _name_of(choices.name, self.settings.title),
            "title": self.settings.title,
            **asdict(self.settings.collection()),
            "made_at": clock.now(),
            "cleverdon": version("cleverdon"),
            "documents": {
                "with_text": self.store.judgements.counts()["documents"],
                "corpus": choices.corpus,
                "exported": self._exported(written, choices.corpus),
                "judged_without_text": len(self.store.corpus.find_without_text(written["doc_id"])),
            },
            "topics": {"count": len(needs), "query_text": query_text} | missing | other_fields,
            "grades": {str(grade): sentence for grade, sentence in self.settings.grades.sentences.items()},
            "qrels": {"made_of": source}
            | export.describe_qrels(qrels, needs["query_id"], self.settings.grades.sentences, level)
            | ({"topics_left_out": left_out} if left_out else {})
            | ({"decisive_pairs": decisive} if decisive else {}),
            "rule": self._rule_facts(choices.rule, names, topics) if source == "judgements" else None,
            **self._question_facts(by_question),
            **self._label_facts(written, choices.fill_with),
            **_lead_facts(self.store.judgements.led_by_labels()),
            "judging": export.describe_judging(log, current),
            "decisions": self.store.topic_tasks.counts(),
            "agreement": self._agreement_facts(),
            "pool": export.describe_pool(
                self.store.pool.pairs(),
                self.store.pool.rounds(),
                self.store.pool.undrawn_pairs(),
                graded,
                sum(self.store.pool.count_without_text().values()),
            ),
            "recall": export.describe_recall(
                self.corpus.in_topic_order(self.recall.table()), self.settings.loop().confidence
            ),
            **self._promise_facts(),
            "runs": self.store.corpus.runs()[["run", "topics", "rows", "deepest", "sha256"]].to_dict("records"),
            "guidelines": self.store.settings.text("guidelines"),
            "topic_notes": self.store.corpus.topic_notes(),
            "files": [],
        }
        return export.plain(facts)

    def _question_qrels(self, choices: CollectionChoices, name: str) -> dict[str, pd.DataFrame]:
        """Return the qrels of a further question, as :attr:`.CollectionQrels.by_question` has them."""
        question = self.settings.question_answers(name)
        qrels = {}
        for answer in [None] if question.question.kind == "grades" else map(str, question.answers):
            try:
                builder = replace(self.qrels, question=replace(question, answer=answer))
                built = builder.build(choices.rule, topics=choices.topics)
            except UnknownNameError:  # the annotator whom the rule names did not answer it
                built = self.qrels.build(choices.rule, topics=[])
            qrels[answer or ""] = built
        return qrels

    def _question_facts(self, by_question: Mapping[Question, Mapping[str, pd.DataFrame]]) -> CardFacts:
        """``questions``: each as in a file with questions, with its qrels and agreement; nothing without any."""
        facts = []
        for question, qrels in by_question.items():
            study = self.agreement.for_question(question.name)
            pairs = max(map(len, qrels.values()))
            if (graded := qrels.get("")) is not None:
                counts = {str(grade): int((graded["relevance"] == grade).sum()) for grade in study.scale}
                file = {"file": qrels_name(question.name)}
            else:
                counts = {answer: int((given["relevance"] == 1).sum()) for answer, given in qrels.items()}
                file = {}
            about = {"question": question.to_json(), "pairs": pairs, "per_answer": counts, **file}
            facts.append(about | {"agreement": _describe_alpha(study, question.kind)})
        return {"questions": facts} if facts else {}

    def _label_facts(self, written: pd.DataFrame, fill_with: str | None) -> CardFacts:
        """``machine_labels``: what made those in the qrels, with counts; nothing without any."""
        if fill_with is None:
            return {}
        report = self.label_files.filled_report(written, fill_with)
        grades = written.loc[written["by"] == fill_with, "relevance"].value_counts()
        counts = {str(grade): int(grades.get(grade, 0)) for grade in self.settings.grades.sentences}
        names = ("label_set", "kind", "labels", "settings", "labelled_at", "pairs", "warnings")
        return {"machine_labels": {name: report[name] for name in names} | {"per_grade": counts}}

    def _promise_facts(self) -> CardFacts:
        """``recall_across_topics``: the guaranteed recall with its assumptions; nothing without a calibrated rule."""
        state = self.recall.across_topics.state()
        if state.phase not in ("calibrated", "impossible"):
            return {}
        facts = {
            "promise": state.report,
            "kept": state.phase == "calibrated" and not state.in_doubt,
            "expected_recall": state.target,
            "source": state.source,
            "limits": list(state.notes),
            "calibration_topics": [] if state.source else [topic.query_id for topic in state.topics],
            "closed": [topic.query_id for topic in state.closed if not topic.reopened],
        }
        return {"recall_across_topics": facts}

    def _exported(self, qrels: pd.DataFrame, corpus: CorpusChoice) -> int:
        """Number of documents in the collection."""
        require_known("choice of documents", CORPORA, corpus)
        if corpus == "judged":
            return int(qrels["doc_id"].nunique()) - len(self.store.corpus.find_without_text(qrels["doc_id"]))
        return self.store.judgements.counts()["documents"] if corpus == "all" else 0

    def _rule_facts(self, rule: RuleChoice, names: Mapping[str, str], topics: Collection[str] | None) -> CardFacts:
        """The rule, with a pseudonym if it names an annotator, and how the grades came about."""
        chosen = adjudication.parse_rule(rule)
        parameters = {
            key: names.get(str(value), value) if key == "annotator" else value
            for key, value in chosen.parameters.items()
        }
        return {
            "rule": str(ChosenRule(chosen.name, parameters)),
            "description": adjudication.ADJUDICATION_RULES[chosen.name].description,
            "by": adjudication.count_origins(self.qrels.with_sources(chosen, topics=topics).grades),
        }

    def _agreement_facts(self) -> CardFacts | None:
        """Inter-annotator agreement over all; None where no pair has several grades."""
        report = self.agreement.report(resamples=0, sides=())
        if not report.several:
            return None
        report = self.agreement.report(resamples=RESAMPLES, sides=())
        labels = [COEFFICIENTS[name].label for name in report.values["coefficient"]]
        names = ("pairs", "several", "judgements", "level", "resamples", "seed", "by")
        values = report.values.assign(label=labels).to_dict("records")
        return {name: getattr(report, name) for name in names} | {"values": values, "notes": list(report.notes)}

    def annotator_names(self, choices: CollectionChoices, more: Iterable[pd.DataFrame] = ()) -> dict[str, str]:
        """Annotator -> pseudonym, also of those in `more` logs; empty where names are shown."""
        if choices.name_annotators:
            return {}
        logs = [
            self.store.judgements.table(current=False),
            self.store.topic_tasks.choices(current=False),
            self.store.topic_tasks.preferences(current=False),
            *more,
        ]
        return export.pseudonyms(logs)


def _lead_facts(led: pd.DataFrame) -> CardFacts:
    """``led_by_labels``: the label sets that led the loop, with counts and the median trust; nothing without any."""
    facts = [
        {
            "label_set": name,
            "judgements": len(part),
            "topics": part["query_id"].nunique(),
            "median_trust": part["label_trust"].median(),
        }
        for name, part in led.groupby("led_by", sort=False)
    ]
    return {"led_by_labels": facts} if facts else {}


def _describe_alpha(study: AgreementStudy, kind: QuestionKind) -> CardFacts:
    """Krippendorff's alpha of a question, of tags the mean over those that have a value; nan without a value."""
    name = "alpha-ordinal" if kind == "grades" else "alpha-nominal"
    options: dict[str, Any] = {"resamples": 0, "sides": ()}
    reports = [*study.by_answer(**options).values()] if kind == "tags" else [study.report(**options)]
    values = pd.Series([select_value(report.values, name)["value"] for report in reports], dtype="float64")
    return {"coefficient": name, "several": reports[0].several, "value": values.mean()}


def _name_of(name: str | None, title: str) -> str:
    """The name, if it is valid; without one, a name made of the title.

    >>> _name_of(None, "Wing flow, 2nd edition")
    'wing-flow-2nd-edition'
    """
    if name is None:
        plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "collection"
    if not _NAME.fullmatch(name):
        raise InputError(
            f"collection name: expected lower-case letters, digits, '-', '_' and '.', with parts separated by '/', "
            f"found {name!r}"
        )
    return name
