"""Modes of topics, and settings of the loop."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from collection import pooling
from collection.active_learning import training_round
from collection.core.errors import InputError, UnknownNameError, require_known

EVERYWHERE = {"loop", "pool-then-loop"}
"""Modes with the whole collection as scope."""

IN_POOL = ("pool", "random", "loop-in-pool")
"""Modes with the pool as scope."""

MODES = {
    "pool": ("Pool only", "pooled pairs in pool order"),
    "random": ("Random", "pooled pairs in random order, different for each annotator"),
    "pool-then-loop": (
        "Pool, then loop",
        "the pool first, then documents that {by} selects from {source}",
    ),
    "loop": ("Loop", "documents that {by} selects from {source}"),
    "loop-in-pool": ("Loop within the pool", "pooled pairs in the order that {by} selects"),
    "closed": ("Closed", "no further judging"),
}
"""Label of each mode, and its description for :func:`describe_mode`."""

LOOPING = {"loop", "loop-in-pool", "pool-then-loop"}
"""Modes with a loop."""

MODEL = "model"
"""Value of `by` for a model."""

DECISIVE = "decisive"
"""Value of `by` for the pairs that best tell systems apart, across all topics."""

OF_MODEL = ("learner", "grades", "presumed", "evidence", "labels")
"""Settings that only a model reads."""

OF_RECALL = ("run", "control", "target", "confidence", "topic_budget")
"""Settings that have no effect on decisive pairs."""

ExplanationLevel = Literal["terms", "terms and runs", "nothing"]


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop.

    Attributes
    ----------
    mode
        A name of :data:`MODES` except "closed"; topics may have their own.
    level
        Minimum relevant grade.
    learner, grades, presumed, evidence
        See :class:`collection.active_learning.training_round.Recipe`.
    labels
        Name of the label set that leads: it helps the model to order documents, and is never counted; "": none.
    run
        Number of irrelevant documents in a row after which random documents are judged to estimate recall. None:
        50, or 200 from 20,000 documents on, and never where a pooling strategy ranks. 0: never.
    control
        Minimum share of random documents, from the start.
    target, confidence
        Target recall of the stop advice, and its confidence.
    explain
        What annotators see who ask why a document was selected; runs reveal its ranks.
    by
        "model"; "decisive" (:class:`.SystemOrderStudy`); or the name of an adaptive pooling strategy, which ranks
        documents of the runs without reading texts.
    measure
        The measure that orders systems, for "decisive" and :class:`.SystemOrderStudy`: of grades, with a cut-off.
    budget, topic_budget
        Number of judged documents, of all topics or of each, after which a loop ends; 0: unlimited.
        Second opinions, and documents on screen by then, come on top. "decisive" has no budget for each topic.

    Examples
    --------
    >>> LoopSettings(mode="loop", by="mtf").draws_after
    0
    """

    mode: str = "pool"
    level: int = 1
    learner: str = "svm"
    grades: training_round.GradeUse = "weights"
    presumed: int = 100
    evidence: training_round.EvidenceUse = "prior"
    labels: str = ""
    run: int | None = None
    control: float = 0.0
    target: float = 0.9
    confidence: float = 0.95
    explain: ExplanationLevel = "terms"
    by: str = MODEL
    measure: str = "nDCG@10"
    budget: int = 0
    topic_budget: int = 0

    def __post_init__(self) -> None:
        if self.mode == "closed":
            raise InputError(
                "mode: expected a mode for open topics, found 'closed'; close topics one by one or all at once"
            )
        require_known("mode", MODES, self.mode)
        if self.by not in (names := (MODEL, DECISIVE, *pooling.strategies(adaptive=True))):
            raise UnknownNameError("ranking", self.by, names)
        if self.by_system_order:
            self.depth  # noqa: B018  # refuses a measure without a cut-off
        for what, budget in (("for all topics", self.budget), ("per topic", self.topic_budget)):
            if budget < 0:
                raise InputError(f"budget {what}: expected 0 (unlimited) or more documents, found {budget}")
        require_known("explanation", get_args(ExplanationLevel), self.explain)
        for name, least, most in (("control", 0, 1), ("target", 0.01, 1), ("confidence", 0.5, 0.999)):
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name}: expected a share from {least:g} to {most:g}, found {getattr(self, name):g}")
        if self.run is not None and self.run < 0:
            raise InputError(f"run: expected 0 or more irrelevant documents in a row, found {self.run}")
        self.recipe()

    def recipe(self) -> training_round.Recipe:
        """Return the settings of a training round."""
        return training_round.Recipe(
            self.learner, level=self.level, grades=self.grades, presumed=self.presumed, evidence=self.evidence
        )

    @property
    def by_system_order(self) -> bool:
        """Return whether the comparison of systems selects, across topics."""
        return self.by == DECISIVE

    @property
    def by_model(self) -> bool:
        """Return whether a model of relevance ranks, not the runs alone."""
        return self.by == MODEL

    @property
    def leading(self) -> str:
        """Name of the label set that leads; "" if none does, or if no model ranks."""
        return self.labels if self.by_model else ""

    @property
    def in_use(self) -> dict[str, Any]:
        """The settings that have an effect with this `by`, by name.

        >>> sorted(LoopSettings(by="decisive").in_use)
        ['budget', 'by', 'explain', 'level', 'measure', 'mode']
        """
        unused = (() if self.by_model else OF_MODEL) + (OF_RECALL if self.by_system_order else ())
        unused += () if self.labels else ("labels",)
        return {name: value for name, value in asdict(self).items() if name not in unused}

    @property
    def depth(self) -> int:
        """The cut-off of `measure`; InputError if it has none or reads more than grades."""
        from collection.estimation import explain_refusal
        from collection.measures import parse

        depth = parse(self.measure).cutoff
        if depth is None or explain_refusal(self.measure):
            raise InputError(f"measure: expected one of grades with a cut-off, such as nDCG@10, found {self.measure}")
        return depth

    @property
    def draws_after(self) -> int | None:
        """`run` as :func:`collection.active_learning.training_round.build_queue` takes it."""
        return 0 if self.by_system_order or (self.run is None and not self.by_model) else self.run

    @property
    def share_of_draws(self) -> float:
        """`control`, or 0 with decisive pairs, which include a random sample of their own."""
        return 0.0 if self.by_system_order else self.control


def describe_mode(mode: str, by: str) -> str:
    """Describe what annotators judge in a mode whose loop selects `by` :data:`MODEL` or a strategy of this name.

    Examples
    --------
    >>> describe_mode("pool-then-loop", "mtf")
    'the pool first, then documents that mtf selects from the runs'
    """
    if by == MODEL:
        return MODES[mode][1].format(by="the loop", source="the whole collection")
    if by == DECISIVE:
        by = "the comparison of systems"
    return MODES[mode][1].format(by=by, source="the runs")  # a strategy reads runs and no texts
