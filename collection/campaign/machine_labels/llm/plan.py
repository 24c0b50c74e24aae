"""Plans of labels by a language model: the settings that make the labels, the questions to ask, and their cost."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from collection.campaign.machine_labels.llm.ask.endpoint import RESPONSE_FORMAT, require_endpoint
from collection.core.characters import require_writable
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.core.records import UNSPACED, GradeScale
from collection.machine_labels.templates import TEMPLATES, Prompt, Template, grade_schema

CHARACTERS = 20_000
"""Characters of a document that are shown to the model by default."""

PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 500}
"""Parameters of a request by default."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""Parameters that limit the length of a reply in tokens."""

OURS = ("messages", "model", "n", "stream", "stream_options")
"""Parameters of a request that no setting may change."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


Question = tuple[str, str]
"""Topic and document, or topic and request of a probe."""


@dataclass(frozen=True)
class LlmSettings:
    """Settings that make the labels, besides grades and guidelines of the campaign.

    Parameters
    ----------
    model, endpoint
        As the endpoint names the model, and the address of its interface.
    template
        A template, or the name of a built-in one (:data:`collection.machine_labels.templates.TEMPLATES`).
    characters
        How much of a document's text is shown.
    parameters
        Parameters of a request that differ from :data:`PARAMETERS`; None leaves one out.
    structured
        Whether the prompt asks for a JSON object, and requests for structured output by its schema. An endpoint that
        refuses the schema is asked without it.

    Raises
    ------
    InputError, UnknownNameError
        A value is not possible.
    """

    model: str
    endpoint: str
    template: Template | str = "umbrela"
    characters: int = CHARACTERS
    parameters: Mapping[str, Any] = field(default_factory=dict)
    structured: bool = False

    def __post_init__(self) -> None:
        require_endpoint(self.endpoint)
        require_writable([self.model, self.parameters], "model and parameters")
        if not self.model.strip():
            raise InputError("model: expected the name of a model, found nothing")
        if self.characters < 1:
            raise InputError(f"characters: expected a whole number above 0, found {self.characters}")
        if taken := [name for name in OURS if name in self.parameters]:
            raise InputError(f"parameters: expected none of {join(OURS)}, found {join(taken)}")
        if self.reply_limit is not None and not (isinstance(self.reply_limit, int) and self.reply_limit > 0):
            raise InputError(f"max_tokens: expected a whole number above 0, found {self.reply_limit!r}")
        try:
            json.dumps(dict(self.parameters), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"parameters: expected plain JSON ({error})") from None

    @property
    def prompt_template(self) -> Template:
        """The template itself."""
        return TEMPLATES[self.template].template() if isinstance(self.template, str) else self.template

    @property
    def request(self) -> dict[str, Any]:
        """All parameters of a request."""
        return {name: value for name, value in {**PARAMETERS, **self.parameters}.items() if value is not None}

    def request_of(self, sample: int, grades: GradeScale) -> dict[str, Any]:
        """All parameters of the request for a sample of a pair; each sample has a random seed of its own, if any."""
        request = self.request
        if isinstance(request.get("seed"), int):
            request["seed"] += sample - 1
        return request | ({RESPONSE_FORMAT: grade_schema(grades)} if self.structured else {})

    @property
    def reply_limit(self) -> int | None:
        """The largest number of tokens in a reply, if there is a limit."""
        return next((self.request[name] for name in LIMITS if name in self.request), None)

    def record(self, grades: GradeScale, guidelines: str, form: str) -> dict[str, Any]:
        """Everything that makes the labels, as it is stored with them; `form` is the form of documents."""
        template = self.prompt_template
        return {
            "model": self.model,
            "endpoint": require_endpoint(self.endpoint),
            "template": {"name": template.name, "sha256": template.sha256, "text": template.text},
            "parameters": self.request,
            "characters": self.characters,
            "document_form": form,
            "grades": {str(grade): sentence for grade, sentence in grades.sentences.items()},
            "guidelines": guidelines,
            **({"structured": True} if self.structured else {}),
        }


def read_parameter(text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE``; the value is JSON, or text if it is no JSON.

    >>> read_parameter("top_p=0.9"), read_parameter("reasoning_effort=low"), read_parameter("temperature=null")
    (('top_p', 0.9), ('reasoning_effort', 'low'), ('temperature', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"parameters: expected NAME=VALUE, found {text!r}")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def estimate_tokens(text: str) -> float:
    """Estimate the number of tokens: a character of a script without spaces is one, four others are one.

    Tokenisers differ between models; once an endpoint has answered, its own counts replace this estimate.

    >>> estimate_tokens("the lift of a wing"), estimate_tokens("機翼")
    (4.5, 2.0)
    """
    unspaced = len(_UNSPACED.findall(text)) if not text.isascii() else 0
    return unspaced + (len(text) - unspaced) / 4


def prompt_tokens(prompt: Prompt) -> float:
    """Estimate the number of tokens of a prompt."""
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.user)


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency."""

    prompt: float
    reply: float

    def cost(self, prompt_tokens: float, reply_tokens: float) -> float:
        """Return the cost of so many tokens."""
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1e6


class CostEstimate(NamedTuple):
    """Estimated tokens and cost of some requests."""

    requests: int
    prompt_tokens: float
    reply_tokens: tuple[float, float | None]
    """At least and at most; None without a limit."""
    cost: tuple[float, float | None] | None
    """At least and at most; None without prices."""
    measured: int
    """Number of answers that it was extrapolated from; 0: it was estimated from characters."""


def estimate_cost(
    requests: int, prompt: float, reply: tuple[float, float | None], prices: Prices | None, measured: int = 0
) -> CostEstimate:
    """Estimate the cost of requests from the mean tokens of a prompt, and the least and most tokens of a reply."""
    low, high = requests * reply[0], None if reply[1] is None else requests * reply[1]
    tokens = requests * prompt
    cost = None
    if prices is not None:
        cost = prices.cost(tokens, low), None if high is None else prices.cost(tokens, high)
    return CostEstimate(requests, tokens, (low, high), cost, measured)


@dataclass(frozen=True)
class QuestionPlan:
    """Questions for a language model."""

    name: str
    """Name of the label set."""
    settings: LlmSettings
    record: Mapping[str, Any]
    """What makes the labels (:meth:`.LlmLabelSets.record`): it must be the same when the questions are asked."""
    answers: Mapping[Question, int]
    """Question -> number of answers that it had when the plan was made, in the order of asking."""
    estimate: CostEstimate


@dataclass(frozen=True)
class LabelPlan(QuestionPlan):
    """The pairs that a labelling would ask about, in random order: the first ones are a random sample."""

    answered: int
    """Number of pairs of these topics that have an answer, and are not asked about again."""
    without_text: int
    """Number of pairs without a text of the topic or the document, about which nothing is asked."""
    spent: float
    """Cost of the label set so far."""
    sample: int = 1
    """Number of the sample: each pair has one answer in each."""

    @property
    def pairs(self) -> list[Question]:
        """The pairs in the order of asking."""
        return list(self.answers)


@dataclass(frozen=True)
class ProbePlan(QuestionPlan):
    """The requests of a probe that have no answer yet."""

    prompts: Mapping[Question, Prompt]
    """Topic and request -> its prompt."""
