"""Vectors + run evidence + judgements -> ranking of the unjudged: one round of the loop, without side effects.

What stays the same for a topic is its :class:`Space`; how to learn is a :class:`Recipe`; :func:`one_round` takes
both and the judgements so far. The same arguments give the same ranking: a loop goes on from the log alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from collection.active_learning.features import Vectors, top
from collection.active_learning.learners import LEARNERS, Linear
from collection.errors import InputError, UnknownNameError
from collection.stopping import Ledger, next_choices

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

NO_ROWS: Ints = np.zeros(0, dtype=np.int64)

TRUST, HALVED_BY = 3.0, 6.0
"""What the runs' prior weighs beside the model's scores at first, and after how many relevant documents it is half.

Found by replaying Cranfield, Vaswani and TREC DL 2019: better on each than a decay twice as quick, and flat around it.
"""

BLANK_WINDOW, BLANK_WEIGHT = 50, 50
"""See :func:`_place_blank`; found on nine reviews in which 185 of 7,300 records have neither title nor text."""

EvidenceUse = Literal["prior", "columns", "none"]
GradeUse = Literal["weights", "threshold"]


class Evidence(NamedTuple):
    """What the runs say of every document for one topic; 0 where no run has it."""

    fusion: Floats
    """(documents,) reciprocal rank fusion score."""
    best: Floats
    """(documents,) best rank."""
    runs: Floats
    """(documents,) number of runs that have it."""


@dataclass(frozen=True)
class Recipe:
    """How the loop learns.

    Attributes
    ----------
    learner
        A name of :data:`collection.active_learning.learners.LEARNERS`.
    parameters
        The learner's; its defaults otherwise.
    level
        The grade from which on a document is relevant.
    grades
        "weights": a document below the level but above 0 is a weak relevant example, one above the level a
        strong one. "threshold": the level is all that counts.
    presumed
        Random unjudged documents that are taken as irrelevant examples, drawn anew in each round; at most a fifth
        of what is unjudged.
    topic
        Weight of the topic's own text as a relevant example, 0 for none; None: 1 where no run is there, else 0.
    evidence
        "prior": what the runs say is added to the score, ever less as relevant documents are found. "columns":
        it is learned from, as three more features. "none": the text alone.
    """

    learner: str = "svm"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: float = 1
    grades: GradeUse = "weights"
    presumed: int = 100
    topic: float | None = None
    evidence: EvidenceUse = "prior"

    @classmethod
    def with_priors(cls, **more: Any) -> Recipe:
        """For a topic of which relevant and irrelevant documents are known from the start.

        They stand in for its words, and for examples that are only presumed.
        """
        return cls(**{"presumed": 0, "topic": 0.0, **more})

    def __post_init__(self) -> None:
        known = LEARNERS[self.learner].parameters
        for name in self.parameters:
            if name not in known:
                raise UnknownNameError(f"parameter of {self.learner}", name, known)
        for what, value, values in (
            ("use of grades", self.grades, get_args(GradeUse)),
            ("use of run evidence", self.evidence, get_args(EvidenceUse)),
        ):
            if value not in values:
                raise UnknownNameError(what, value, values)
        for name, value in self.parameters.items():
            if not isinstance(value, (int, float)) or not 0 < value < float("inf"):
                raise InputError(f"the parameter {name} of {self.learner} is a number above 0, found {value!r}")
        if self.level <= 0 or self.presumed < 0 or not 0 <= (self.topic or 0) < float("inf"):
            found = f"level {self.level}, presumed {self.presumed}" + (
                "" if self.topic is None else f", topic {self.topic}"
            )
            raise InputError(f"wanted a relevance level above 0 and 0 or more presumed documents, found {found}")


@dataclass(frozen=True, eq=False)
class Space:
    """What the loop of one topic works on; the same in every round.

    Attributes
    ----------
    vectors
        The documents.
    allowed
        (documents,) bool: what may be shown. All of the collection, or the pool.
    text
        The topic's words.
    evidence
        What the runs say, or None where no run has the topic.
    """

    vectors: Vectors
    allowed: Bools
    text: str = ""
    evidence: Evidence | None = None

    @cached_property
    def topic(self) -> csr_matrix:
        """(1, features): the topic as if it were a document."""
        return self.vectors.of_text(self.text)

    @cached_property
    def start(self) -> Floats:
        """(documents,) the order before anything relevant is known: the runs' fusion, below it the topic's words."""
        words = self.vectors.bm25(self.text)
        if self.evidence is None:
            return words
        # Scaled to less than the least fusion score, so that a retrieved document always stands before the others.
        fusion = self.evidence.fusion
        least = fusion[fusion > 0].min(initial=np.float32(1))
        return fusion + np.where(fusion > 0, 0, words / (words.max(initial=0) + 1) * least).astype(np.float32)

    @cached_property
    def prior(self) -> Floats:
        """(documents,) standard scores of the logarithm of the fusion score, scaled to 0-1 before."""
        if self.evidence is None:
            return np.zeros(self.vectors.size, dtype=np.float32)
        fusion = self.evidence.fusion
        scaled = fusion / fusion.max(initial=np.float32(1e-9))
        return standard(np.log(scaled + np.float32(0.001)), self.allowed)

    @cached_property
    def columns(self) -> NDArray[np.float32]:
        """(documents, 3) fusion, one over the best rank, and the share of the runs, each from 0 to 1."""
        e = self.evidence or Evidence(*[np.zeros(self.vectors.size, dtype=np.float32)] * 3)
        best = np.where(e.best > 0, 1 / np.maximum(e.best, 1), 0)
        parts = [
            e.fusion / max(float(e.fusion.max(initial=0)), 1e-9),
            best,
            e.runs / max(float(e.runs.max(initial=0)), 1),
        ]
        return np.column_stack(parts).astype(np.float32)

    @cached_property
    def blank(self) -> Bools:
        """(documents,) bool: without a feature, neither words nor a run's word for it. No model can tell them apart."""
        none = self.vectors.blank()
        return none if self.evidence is None else none & (self.evidence.fusion == 0)

    @property
    def begins_with(self) -> str:
        """What the order is before anything relevant is known."""
        if self.evidence is not None:
            return "fusion"
        return "topic text" if self.topic.nnz and self.topic.data.any() else "no order"


def topic_text(*parts: object) -> str:
    """A topic's title, description and narrative as one text, nothing twice; what is no text is left out."""
    return " ".join(dict.fromkeys(part for part in parts if isinstance(part, str) and part))


class Ranking(NamedTuple):
    """The best of the unjudged.

    Attributes
    ----------
    rows
        (k,) documents, best first.
    scores
        (k,) theirs.
    model
        What was learned; None before the first relevant document.
    came_by
        "model", or what the order is before that: "fusion", "topic text", "no order".
    """

    rows: Ints
    scores: Floats
    model: Linear | None
    came_by: str


def one_round(
    space: Space,
    judged: Ints,
    grades: Ints,
    recipe: Recipe,
    seed: int,
    count: int = 100,
    passed: Ints = NO_ROWS,
) -> Ranking:
    """Learn from the judgements and rank what is unjudged.

    Parameters
    ----------
    space
        The topic's documents, words and runs.
    judged, grades
        (n,) rows of the judged documents in the order of judging, and their grades; a document may stand there twice,
        with two opinions.
    recipe
        How to learn.
    seed
        For the presumed irrelevant documents; the same seed, the same ranking.
    count
        How many of the best are wanted.
    passed
        Rows that are neither to be learned from nor to be ranked: those that nobody could grade.
    """
    left = space.allowed.copy()
    left[judged] = left[passed] = False
    relevant = grades >= recipe.level
    examples = _examples(space, judged, grades, recipe, np.random.default_rng(seed), left) if relevant.any() else None
    if examples is None:  # there is nothing to learn from yet
        rows = top(space.start, count, left)
        return Ranking(rows, space.start[rows], None, space.begins_with)
    model = LEARNERS[recipe.learner].function(*examples, seed, **recipe.parameters)
    scores = space.vectors.scores(model.weights[: space.vectors.features])
    if space.evidence is not None and recipe.evidence == "prior":
        # Documents, not opinions: several annotators' judgements of one are no reason to trust the runs less.
        trust = TRUST / (1 + len(np.unique(judged[relevant])) / HALVED_BY)
        scores = standard(scores, left) + np.float32(trust) * space.prior
    elif recipe.evidence == "columns":
        scores = scores + space.columns @ model.weights[space.vectors.features :]
    _place_blank(scores, space, judged, relevant, left)
    rows = top(scores, count, left)
    return Ranking(rows, scores[rows], model, "model")


def _place_blank(scores: Floats, space: Space, judged: Ints, relevant: Bools, left: Bools) -> None:
    """Put the documents without a feature before all others or behind them, whichever promises more.

    Their yield is estimated from those of them that are judged, and from the share of relevant documents so far, which
    counts as BLANK_WEIGHT judgements; that of the others is the share among the last BLANK_WINDOW of them.
    """
    waiting = space.blank & left
    if not waiting.any():
        return
    is_blank = space.blank[judged]
    share = len(np.unique(judged[relevant])) / max(int(space.allowed.sum()), 1)
    blank = (relevant[is_blank].sum() + BLANK_WEIGHT * share) / (is_blank.sum() + BLANK_WEIGHT)
    recent = relevant[~is_blank][-BLANK_WINDOW:]
    others = recent.mean() if len(recent) == BLANK_WINDOW else 1.0
    scores[waiting] = scores.max() + 1 if others < blank else scores.min() - 1


def _examples(
    space: Space, judged: Ints, grades: Ints, recipe: Recipe, random: np.random.Generator, left: Bools
) -> tuple[csr_matrix, Bools, NDArray[np.float64]] | None:
    """Rows, labels and weights to learn from: the judged, the presumed irrelevant, and the topic's own text.

    None where one of the classes is missing, or every word.
    """
    from scipy.sparse import csr_matrix, hstack, vstack

    # What has no feature teaches nothing but the shares of the classes.
    with_words = ~space.blank[judged]
    judged, grades = judged[with_words], grades[with_words]
    unjudged = np.flatnonzero(left & ~space.blank)
    # Where few are left, the relevant are among them: most must not be presumed irrelevant.
    most = max(1, len(unjudged) // 5)
    presumed = random.choice(unjudged, min(recipe.presumed, most, len(unjudged)), replace=False)
    rows = np.concatenate((judged, presumed))
    weak = (grades > 0) & (grades < recipe.level) & (recipe.grades == "weights")
    label = np.concatenate(((grades >= recipe.level) | weak, np.zeros(len(presumed), dtype=np.bool_)))
    weight = np.ones(len(rows))
    if recipe.grades == "weights":
        weight[: len(judged)][weak] = 0.2
        weight[: len(judged)][grades > recipe.level] = 2.0
    features = space.vectors.rows(rows)
    if recipe.evidence == "columns":
        features = hstack((features, csr_matrix(space.columns[rows])), format="csr", dtype=np.float32)
    topic = recipe.topic if recipe.topic is not None else float(space.evidence is None)
    if topic > 0 and space.topic.nnz:
        row = space.topic.copy()
        row.resize((1, features.shape[1]))
        features = vstack((features, row), format="csr", dtype=np.float32)
        label, weight = np.append(label, True), np.append(weight, topic)
    if label.all() or not label.any() or not features.nnz:
        return None
    return features, label, weight


def standard(scores: Floats, among: Bools) -> Floats:
    """The scores with mean 0 and standard deviation 1 over the documents `among`; all 0 where they are all equal."""
    some = scores[among] if len(scores) else scores
    if not len(some) or some.max() == some.min():
        return np.zeros_like(scores)
    spread = float(some.std())
    return (scores - np.float32(some.mean())) / np.float32(spread)


class Chosen(NamedTuple):
    """One place in the queue of a topic."""

    row: int
    rank: int | None
    """Place in the ranking; None where it was drawn."""
    probability: float | None
    """Of a draw: one over the number of documents that it was drawn from."""


def queue(
    ranking: Ranking,
    ledger: Ledger,
    left: Bools,
    seed: int,
    *,
    run: int | None = None,
    share: float = 0.0,
    turns: Bools | None = None,
) -> list[Chosen]:
    """The ranking with random draws at their places: what to judge next, as long as nothing relevant comes.

    A place is a draw where :func:`collection.stopping.next_choices` says so. Each draw is uniform over what is
    unjudged when its turn comes: all that is left but what stands before it. A document that is drawn and ranked
    stands where it comes first.

    Parameters
    ----------
    ranking
        From :func:`one_round`; the queue is as long.
    ledger
        The judgements so far.
    left
        (documents,) bool: unjudged and allowed.
    run, share, turns
        As for `next_choices`; a `run` of 0 stands for no draws after irrelevant documents in a row.
    """
    count = len(ranking.rows)
    # 0 in a row would be draws from the start: whoever wants none asks for an endless row.
    choices = next_choices(ledger, count, run=len(left) + 1 if run == 0 else run, share=share, turns=turns)
    unjudged = np.flatnonzero(left)
    # Not the numbers with which the round presumed its irrelevant examples: those would then be drawn, and no others.
    random = np.random.default_rng([seed, 1])
    drawn = iter(random.choice(unjudged, min(count, len(unjudged)), replace=False).tolist())
    ranked = iter(enumerate(ranking.rows.tolist(), start=1))
    chosen: dict[int, Chosen] = {}
    for choice in choices:
        if choice == "random":
            row = next((row for row in drawn if row not in chosen), None)
            rank, probability = None, 1 / (len(unjudged) - len(chosen))
        else:
            rank, row = next(((rank, row) for rank, row in ranked if row not in chosen), (None, None))
            probability = None
        if row is not None:
            chosen[row] = Chosen(row, rank, probability)
    return list(chosen.values())
