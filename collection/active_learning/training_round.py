"""One round of the active-learning loop: features, evidence and judgements -> ranking of the unjudged documents.

The same arguments give the same ranking, so a loop can be resumed from the log alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from collection.active_learning.evidence_trust import (
    RUNS,
    ExpectedTrust,
    expect_of_labels,
    measure_trust,
)
from collection.active_learning.features import FeatureMatrix, top
from collection.active_learning.learners import LEARNERS, Linear
from collection.core.arrays import Bools, Floats, Floats32, Ints
from collection.core.errors import InputError, require_known
from collection.stopping import Ledger, next_sources

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


NO_ROWS: Ints = np.zeros(0, dtype=np.int64)

BLANK_WINDOW, BLANK_WEIGHT = 50, 50
"""Constants of :func:`_place_blank`, chosen on nine reviews in which 185 of 7,300 records have no title and no text."""

EvidenceUse = Literal["prior", "columns", "none"]
GradeUse = Literal["weights", "threshold"]


class Evidence(NamedTuple):
    """Run evidence of one topic, each (documents,); 0 for documents in no run."""

    fusion: Floats32
    """Reciprocal rank fusion score."""
    best: Floats32
    """Best rank."""
    runs: Floats32
    """Number of runs with the document."""


@dataclass(frozen=True)
class Recipe:
    """Settings of the loop's learning."""

    learner: str = "svm"
    """A name of :data:`collection.active_learning.learners.LEARNERS`."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Parameters of the learner that differ from its defaults."""
    level: float = 1
    """Minimum relevant grade."""
    grades: GradeUse = "weights"
    """With "weights", grades above 0 but below the level make weak relevant examples, grades above the level strong
    ones. With "threshold", only the level counts."""
    presumed: int = 100
    """Number of random unjudged documents that each round uses as irrelevant examples, at most a fifth of them."""
    topic: float | None = None
    """Weight of the topic's text as a relevant example, 0 for none. None: 1 for a topic without runs, else 0."""
    evidence: EvidenceUse = "prior"
    """With "prior", the fusion of the runs is added to the score, with the weight that
    :mod:`collection.active_learning.evidence_trust` measures. With "columns", run evidence adds three features to learn
    from. With "none", only the text counts."""

    @classmethod
    def with_priors(cls, level: float = 1) -> Recipe:
        """Recipe for topics with known relevant and irrelevant documents, without presumed examples and topic text."""
        return cls(level=level, presumed=0, topic=0.0)

    def __post_init__(self) -> None:
        LEARNERS[self.learner].require_parameters(self.parameters)
        require_known("use of grades", get_args(GradeUse), self.grades)
        require_known("use of run evidence", get_args(EvidenceUse), self.evidence)
        for name, number in self.parameters.items():
            if not isinstance(number, (int, float)) or not 0 < number < float("inf"):
                raise InputError(f"parameter {name} of {self.learner}: expected a number above 0, found {number!r}")
        if self.level <= 0 or self.presumed < 0 or not 0 <= (self.topic or 0) < float("inf"):
            topic = "" if self.topic is None else f", topic {self.topic}"
            settings = f"level {self.level}, presumed {self.presumed}{topic}"
            raise InputError(f"recipe: expected a level above 0, presumed and topic 0 or more; found {settings}")


class Prior(NamedTuple):
    """Evidence that is added to the standard score of the text."""

    name: str
    """"runs" or "labels"."""
    values: Floats32
    """(documents,) in the unit of its trust."""
    kind: ExpectedTrust


@dataclass(frozen=True, eq=False)
class Space:
    """The documents, text, runs and labels of one topic; the same in every round."""

    features: FeatureMatrix
    allowed: Bools
    """(documents,) whether each document may be judged: the whole collection, or the pool."""
    text: str = ""
    """Text of the topic."""
    evidence: Evidence | None = None
    """None if no run has the topic."""
    labels: Floats32 | None = None
    """(documents,) labels by machines as shares of the highest label of all topics, nan for documents without one; None
    if no labels lead. They order documents and never count as grades."""
    agreement: float = 0.0
    """How far the labels agree with other evidence, from 0 (they do not count) to 1; see
    :func:`.evidence_trust.measure_agreement`."""

    @cached_property
    def topic(self) -> csr_matrix:
        """(1, features) the topic's text as a row."""
        return self.features.vectorize(self.text)

    @cached_property
    def start(self) -> Floats32:
        """(documents,) scores before a relevant document is known: BM25 of the topic, or with runs both orders merged.

        The merge is reciprocal rank fusion with a constant of 1, which nearly takes turns, so that bad runs cannot hold
        up the first relevant document for long. The runs' order has twice the weight of BM25's. The order of the labels
        is merged in with the weight of the runs' times :attr:`agreement`; among equal labels, the other order counts.
        """
        if not self.label_prior.any():
            return self._start_without_labels
        rows = np.flatnonzero(self.label_prior > 0)
        rows = rows[np.lexsort((rows, -self._start_without_labels[rows], -self.label_prior[rows]))]
        places = np.zeros(self.features.size, dtype=np.float32)
        places[rows] = np.arange(len(rows), 0, -1)
        others = self._start_without_labels
        others = self._reciprocal(others) if self.evidence is None else others
        return np.float32(self.agreement) * self._reciprocal(places) + others

    @cached_property
    def _start_without_labels(self) -> Floats32:
        words = self.features.bm25(self.text)
        if self.evidence is None:
            return words
        return self._reciprocal(self.evidence.fusion) + np.float32(0.5) * self._reciprocal(words)

    def _reciprocal(self, scores: Floats32) -> Floats32:
        """(documents,) 1 / (1 + rank) among the allowed documents with a score above 0; 0 for others."""
        rows = np.flatnonzero(self.allowed & (scores > 0))
        reciprocal = np.zeros(self.features.size, dtype=np.float32)
        reciprocal[rows[np.argsort(-scores[rows], kind="stable")]] = 1 / np.arange(2, len(rows) + 2)
        return reciprocal

    @cached_property
    def prior(self) -> Floats32:
        """(documents,) logarithm of the fusion score over half the lowest one; 0 for documents in no run.

        The unit does not depend on how many documents there are and how deep the runs go. Standard scores over the
        collection, in contrast, put all retrieved documents far above all others if the runs are shallow.
        """
        prior = np.zeros(self.features.size, dtype=np.float32)
        if self.evidence is not None:
            ranked = self.evidence.fusion > 0
            fusion = self.evidence.fusion[ranked]
            prior[ranked] = np.log(2 * fusion / fusion.min(initial=np.inf))
        return prior

    @cached_property
    def label_prior(self) -> Floats32:
        """(documents,) difference between a label and the mean label of the topic; 0 for documents without a label.

        So a missing label counts as a usual one, and labels that are all the same say nothing. 0 for labels that do not
        agree with other evidence.
        """
        prior = np.zeros(self.features.size, dtype=np.float32)
        if self.labels is not None and self.agreement:
            labelled = np.flatnonzero(self.allowed & ~np.isnan(self.labels))
            labels = self.labels[labelled].astype(np.float64)
            if len(labels) and np.ptp(labels):  # rounding would make a difference of equal ones
                prior[labelled] = labels - labels.mean()
        return prior

    def priors(self, recipe: Recipe) -> list[Prior]:
        """Return the evidence that is added to the score of the text."""
        priors = []
        if self.evidence is not None and recipe.evidence == "prior":
            priors.append(Prior("runs", self.prior, RUNS))
        if self.label_prior.any():
            priors.append(Prior("labels", self.label_prior, expect_of_labels(self.agreement)))
        return priors

    @cached_property
    def columns(self) -> Floats32:
        """(documents, 3) fusion, reciprocal best rank, and share of the runs, each from 0 to 1."""
        if self.evidence is None:
            return np.zeros((self.features.size, 3), dtype=np.float32)
        fusion, best, runs = self.evidence
        reciprocal = np.where(best > 0, 1 / np.maximum(best, 1), 0)
        highest, most = max(float(fusion.max(initial=0)), 1e-9), max(float(runs.max(initial=0)), 1)
        return np.column_stack([fusion / highest, reciprocal, runs / most]).astype(np.float32)

    @cached_property
    def blank(self) -> Bools:
        """(documents,) bool: documents without features and evidence, which no model can tell apart."""
        none = self.features.blank()
        return none & ~self.retrieved & (self.label_prior == 0)

    @cached_property
    def retrieved(self) -> Bools:
        """(documents,) bool: documents that some run has."""
        return np.zeros(self.features.size, np.bool_) if self.evidence is None else self.evidence.fusion > 0

    @property
    def initial_order(self) -> str:
        """Basis of the order before a relevant document is known: "fusion", "topic text" or "no order"."""
        if self.evidence is not None:
            return "fusion"
        return "topic text" if self.topic.nnz and self.topic.data.any() else "no order"


class Ranking(NamedTuple):
    """Ranking of the best unjudged documents."""

    rows: Ints
    """(k,) rows of the documents, best first."""
    scores: Floats32
    """(k,)."""
    model: Linear | None
    """None before the first relevant document."""
    strategy: str
    """"model", or before that :attr:`Space.initial_order`."""
    trust: Mapping[str, float] = {}
    """Name of each :class:`Prior` -> its weight relative to the text."""


def train_and_rank(
    space: Space,
    judged: Ints,
    grades: Ints,
    recipe: Recipe,
    seed: int,
    count: int = 100,
    passed: Ints = NO_ROWS,
) -> Ranking:
    """Learn from the judgements and rank the unjudged documents.

    Parameters
    ----------
    judged, grades
        (n,) rows of the judged documents in the order of judging, and their grades. A document with two judgements is
        listed twice.
    seed
        Random seed of the presumed irrelevant documents.
    count
        Length of the ranking.
    passed
        Rows to leave out of training and ranking, since nobody could grade them.
    """
    left = space.allowed.copy()
    left[judged] = left[passed] = False
    relevant = grades >= recipe.level
    examples = _examples(space, judged, grades, recipe, np.random.default_rng(seed), left) if relevant.any() else None
    if examples is None:  # there is nothing to learn from yet
        rows = top(space.start, count, left)
        return Ranking(rows, space.start[rows], None, space.initial_order)
    model = examples.fit(recipe, seed)
    # Only the score of these documents depends on more than their text.
    apart = np.flatnonzero(left & (space.blank | space.retrieved | (space.label_prior != 0)))
    ranked = space.features.rank(model.weights[: space.features.width], count, left, apart)
    rows, scores = np.append(ranked.rows, apart), np.append(ranked.scores, ranked.apart)
    order = np.argsort(rows)
    rows, scores = rows[order], scores[order]
    if recipe.evidence == "columns":
        scores = scores + space.columns[rows] @ model.weights[space.features.width :]
    trust: dict[str, float] = {}
    if priors := space.priors(recipe):
        mean, spread = ranked.moments.mean_and_spread()
        trust = _trust(mean, spread, priors, examples, recipe, seed)
        scores = (scores - np.float32(mean)) / np.float32(spread)
        for prior in priors:
            scores += np.float32(trust[prior.name]) * prior.values[rows]
    _place_blank(rows, scores, space, judged, relevant)
    best = top(scores, count)
    return Ranking(rows[best], scores[best], model, "model", trust)


def _place_blank(rows: Ints, scores: Floats32, space: Space, judged: Ints, relevant: Bools) -> None:
    """Rank documents without features before or after all others, whichever has the higher expected precision.

    Their precision is estimated from those judged so far, with the share of relevant documents so far as a prior worth
    BLANK_WEIGHT judgements. The precision of the others is that of their last BLANK_WINDOW judgements.
    """
    waiting = space.blank[rows]
    if not waiting.any():
        return
    is_blank = space.blank[judged]
    share = len(np.unique(judged[relevant])) / max(int(space.allowed.sum()), 1)
    blank = (relevant[is_blank].sum() + BLANK_WEIGHT * share) / (is_blank.sum() + BLANK_WEIGHT)
    recent = relevant[~is_blank][-BLANK_WINDOW:]
    others = recent.mean() if len(recent) == BLANK_WINDOW else 1.0
    scores[waiting] = scores.max() + 1 if others < blank else scores.min() - 1


class _Examples(NamedTuple):
    """Training data of a round: judged documents, documents presumed irrelevant, and perhaps the topic's text."""

    features: csr_matrix
    """(n, features)."""
    label: Bools
    """(n,) whether the learner takes the example as relevant."""
    weight: Floats
    """(n,)."""
    rows: Ints
    """(n,) rows of the documents; -1 for the topic's text."""
    relevant: Bools
    """(n,) whether the grade reaches the level."""

    def fit(self, recipe: Recipe, seed: int, among: Bools | None = None) -> Linear:
        """Fit the learner to the examples, or to those `among`."""
        chosen = (self.features, self.label, self.weight)
        if among is not None:
            chosen = (self.features[among], self.label[among], self.weight[among])
        return LEARNERS[recipe.learner].function(*chosen, seed, **recipe.parameters)

    def halves(self) -> Ints:
        """(n,) 0 or 1, in turns within both classes and the same for all examples of a document; -1 for the topic."""
        half = np.full(len(self.rows), -1)
        for label in (False, True):
            of_class = (self.rows >= 0) & (self.label == label)
            half[of_class] = np.unique(self.rows[of_class], return_inverse=True)[1] % 2
        return half


def _trust(
    mean: float, spread: float, priors: list[Prior], examples: _Examples, recipe: Recipe, seed: int
) -> dict[str, float]:
    """Weight of each prior beside standard scores of the text with this mean and spread.

    To measure it, each half of the examples is scored by a model that has learned from the other half. While one half
    has no relevant document, the text counts as unknown, and only the priors of the documents.
    """
    half, documents = examples.halves(), examples.rows >= 0
    text = np.zeros(len(half))
    if all(examples.label[half == one].any() and not examples.label[half == one].all() for one in (0, 1)):
        for tested in (0, 1):
            weights = examples.fit(recipe, seed, half != tested).weights
            text[half == tested] = (examples.features[half == tested] @ weights - mean) / spread
    # Counts documents: several judgements of one document are no reason to trust the evidence less.
    relevant = len(np.unique(examples.rows[examples.relevant]))
    expected = [prior.kind.after(relevant) for prior in priors]
    rows, kinds = examples.rows[documents], [prior.kind for prior in priors]
    values = np.column_stack([prior.values[rows] for prior in priors]).astype(np.float64)
    measured = measure_trust(text[documents], values, examples.relevant[documents], expected, kinds)
    return {prior.name: trust for prior, trust in zip(priors, measured.tolist(), strict=True)}


def _examples(
    space: Space, judged: Ints, grades: Ints, recipe: Recipe, random: np.random.Generator, left: Bools
) -> _Examples | None:
    """Collect the examples of a round.

    None if one class has no example or no example has a feature.
    """
    from scipy.sparse import csr_matrix, hstack, vstack

    # Rows without features would only change the balance of the classes.
    with_words = ~space.blank[judged]
    judged, grades = judged[with_words], grades[with_words]
    unjudged = np.flatnonzero(left & ~space.blank)
    # When few documents are left, many of them may be relevant, so only a fifth is presumed irrelevant.
    most = max(1, len(unjudged) // 5)
    presumed = random.choice(unjudged, min(recipe.presumed, most, len(unjudged)), replace=False)
    rows = np.concatenate((judged, presumed))
    weak = (grades > 0) & (grades < recipe.level) & (recipe.grades == "weights")
    label = np.concatenate(((grades >= recipe.level) | weak, np.zeros(len(presumed), dtype=np.bool_)))
    weight = np.ones(len(rows))
    if recipe.grades == "weights":
        weight[: len(judged)][weak] = 0.2
        weight[: len(judged)][grades > recipe.level] = 2.0
    features = space.features.rows(rows)
    if recipe.evidence == "columns":
        features = hstack((features, csr_matrix(space.columns[rows])), format="csr", dtype=np.float32)
    topic = recipe.topic if recipe.topic is not None else float(space.evidence is None)
    if topic > 0 and space.topic.nnz:
        row = space.topic.copy()
        row.resize((1, features.shape[1]))
        features = vstack((features, row), format="csr", dtype=np.float32)
        label, weight, rows = np.append(label, True), np.append(weight, topic), np.append(rows, -1)
    if label.all() or not label.any() or not features.nnz:
        return None
    relevant = np.zeros(len(rows), dtype=np.bool_)
    relevant[: len(judged)] = grades >= recipe.level
    return _Examples(features, label, weight, rows, relevant)


class Queued(NamedTuple):
    """A document in the queue of a topic."""

    row: int
    rank: int | None
    """Rank by the model; None for a random draw."""
    probability: float | None
    """Probability of a random draw: one over the number of documents that it was drawn from; else None."""


def build_queue(
    ranking: Ranking,
    ledger: Ledger,
    left: Bools,
    seed: int,
    *,
    run: int | None = None,
    share: float = 0.0,
    turns: Bools | None = None,
) -> list[Queued]:
    """Mix the ranking with random draws: the documents to judge next until a relevant one is found.

    Each draw is uniform over the documents that are left and not yet in the queue. A document that is both drawn and
    ranked keeps its first place.

    `left` (documents,) marks documents that are unjudged and allowed. `run`, `share` and `turns` are those of
    :func:`collection.stopping.next_sources`; with a `run` of 0, irrelevant documents in a row cause no draws.
    """
    count = len(ranking.rows)
    sources = next_sources(ledger, count, run=len(left) + 1 if run == 0 else run, share=share, turns=turns)
    unjudged = np.flatnonzero(left)
    # A stream of its own: with that of the presumed irrelevant examples, the same documents would be drawn.
    random = np.random.default_rng([seed, 1])
    drawn = iter(random.choice(unjudged, min(count, len(unjudged)), replace=False).tolist())
    ranked = iter(enumerate(ranking.rows.tolist(), start=1))
    queued: dict[int, Queued] = {}
    for source in sources:
        if source == "random":
            row = next((row for row in drawn if row not in queued), None)
            rank, probability = None, 1 / (len(unjudged) - len(queued))
        else:
            rank, row = next(((rank, row) for rank, row in ranked if row not in queued), (None, None))
            probability = None
        if row is not None:
            queued[row] = Queued(row, rank, probability)
    return list(queued.values())
