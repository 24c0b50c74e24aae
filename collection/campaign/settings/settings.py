"""Settings of a campaign: loop, assignment, judging page, collection, guidelines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, overload

from collection.adjudication import QuestionAnswers
from collection.assignment import AssignmentSettings
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.campaign.settings.loop_settings import MODES, LoopSettings
from collection.core.answer_tasks import ANSWER_TASKS, AnswerTask
from collection.core.characters import is_web_address, require_writable
from collection.core.errors import CampaignError, FormatError, InputError, JudgementError, require_known
from collection.core.phrases import join
from collection.core.questions import (
    EXAMPLE,
    Question,
    check_questions,
    describe_bounds,
    read_questions,
    write_answer,
)
from collection.core.records import GRADE_SCALES, HIGHEST_GRADE, Answer, GradeScale, read_scale
from collection.core.review import DEFAULT_REASONS, FULL_TEXT, REASON, REVIEW_GRADES, TARGET, Review, with_reasons
from collection.core.vocabulary import RETRIEVAL, REVIEW, Vocabulary
from collection.formats.source import quote
from collection.store import Store

CARD_BYTES = 20_000
"""Maximum size of the arrangement of a card."""

LONGEST_GUIDELINES = 200_000
"""Maximum number of characters."""

QUESTIONS_PAGE = "how-to/ask-several-questions"
"""Documentation page of errors in questions."""

QUESTIONS = "questions"
"""Key of the stored questions."""

SCALE_EXAMPLE = '{"0": "Not relevant", "1": "Relevant"}'


@dataclass(frozen=True)
class About:
    """The manager's description of the collection, for its card.

    The description is plain text with blank lines between paragraphs, `url` a web address (``http`` or ``https``).
    """

    description: str = ""
    licence: str = ""
    citation: str = ""
    url: str = ""


REVIEW_KEY = "review"
"""Key of the stored review."""

TASK_KEY = "task"
"""Key of the setting with the task of generated answers that a campaign belongs to."""

REVIEW_EXAMPLE = '{"question": "Does exercise prevent falls?", "include": ["Trials"], "screeners": 2}'

T = TypeVar("T", LoopSettings, AssignmentSettings, JudgingPageSettings, About)


def changed(settings: T, changes: Mapping[str, Any], what: str) -> T:
    """Return the settings with these changes; raise UnknownNameError for an unknown field."""
    require_known(what, asdict(settings), *changes)
    return replace(settings, **changes)


@dataclass(eq=False)
class Settings:
    """Settings of a campaign: loop, assignment, judging page, collection, guidelines."""

    store: Store
    campaign_id: str
    title: str
    grades: GradeScale

    def _read(self, key: str, kind: type[T]) -> T:
        """Return the settings under a key, with defaults, and without fields of other versions."""
        stored = self.store.settings.get(key, {})

        def compute() -> T:
            return kind(**{each.name: stored[each.name] for each in fields(kind) if each.name in stored})

        return self.store.cached("settings", stored, compute, member=key)  # checking values takes time

    def loop(self) -> LoopSettings:
        """Return the settings of the loop."""
        settings = self._read("loop", LoopSettings)
        # Campaigns of earlier versions may have decisive pairs and a budget per topic.
        return replace(settings, topic_budget=0) if settings.by_system_order and settings.topic_budget else settings

    def set_loop(self, *, topics: list[str] | None = None, **changes: Any) -> LoopSettings:
        """Change fields of the :class:`~collection.campaign.settings.loop_settings.LoopSettings`.

        With `topics`, only their `mode` can be changed; None gives them the campaign's mode again. Without, the mode
        "closed" closes every topic. UnknownNameError for an unknown setting, topic or label set.
        """
        with self.store.transaction():
            settings = self.loop()
            require_known("loop setting", asdict(settings), *changes)
            known = self.store.corpus.topics()["query_id"].tolist()
            if topics is None and changes.get("mode") == "closed":
                topics, rest = known, {name: value for name, value in changes.items() if name != "mode"}
                settings = self._change_loop(settings, rest)
            elif topics is None:
                return self._change_loop(settings, changes)
            elif set(changes) != {"mode"}:
                names = ", ".join(sorted(changes))
                raise InputError(
                    f"topics: expected only a mode, found {names}; the other settings apply to the whole campaign"
                )
            if changes["mode"] is not None:
                require_known("mode", MODES, changes["mode"])
            require_known("topic", known, *topics)
            for query_id in topics:
                if changes["mode"] == "closed":
                    self.store.queue.close_topic(query_id)
                else:
                    self.store.queue.set_mode(query_id, changes["mode"])
        return settings

    def _change_loop(self, settings: LoopSettings, changes: dict[str, Any]) -> LoopSettings:
        settings = replace(settings, **changes)
        if changes.get("labels"):
            require_known("label set", [each.name for each in self.store.machine_labels.sets()], settings.labels)
        if settings.level not in self.grades or settings.level < 1:
            raise InputError(
                f"level: expected a grade of this campaign above 0 ({self.grades}), found {settings.level}"
            )
        if settings.by_system_order and settings.topic_budget:
            raise InputError(
                "topic_budget: expected 0 with decisive pairs, which spend one budget across all topics, found "
                f"{settings.topic_budget:,}; set it to 0, and use the budget of all topics"
            )
        self.store.settings.put("loop", asdict(settings))
        return settings

    def reopen_topic(self, query_id: str) -> None:
        """Reopen a closed topic in the mode that it had."""
        self.store.queue.close_topic(query_id, closed=False)

    def modes(self, scopes: Mapping[str, tuple[str, bool]] | None = None) -> dict[str, str]:
        """Return the mode of each topic, a name of ``MODES``, in the order of topics.

        `scopes` are those of :meth:`modes_and_closed`, if they are known.
        """
        scopes = self.modes_and_closed() if scopes is None else scopes
        return {query_id: "closed" if is_closed else scope for query_id, (scope, is_closed) in scopes.items()}

    def modes_when_open(self) -> dict[str, str]:
        """Return the mode of each topic, for closed topics the one that they had, which defines the scope of recall."""
        return {query_id: scope for query_id, (scope, _) in self.modes_and_closed().items()}

    def modes_and_closed(self) -> dict[str, tuple[str, bool]]:
        """Return the mode of each topic, as :meth:`modes_when_open`, and whether it is closed."""
        usual = self.usual_mode()
        return {query_id: (mode or usual, closed) for query_id, mode, closed in self.store.queue.modes()}

    def is_completed_when_closed(self, query_id: str) -> bool:
        """Return whether a closed topic still hands out pairs that only one of two annotators has judged.

        This holds for the stages of a review with two screeners, because ending a stage only stops new records.
        """
        review = self.review()
        return review is not None and review.screeners > 1 and query_id in review.stages

    def mode(self, query_id: str) -> str:
        """Return the mode of a topic."""
        return self.store.queue.mode(query_id) or self.usual_mode()

    def usual_mode(self) -> str:
        """Return the campaign's mode, for topics without their own."""
        return str(self.store.settings.get("loop", {}).get("mode", "pool"))

    def assignment(self) -> AssignmentSettings:
        """Return the settings of the assignment; two screeners of a review are always blind to each other."""
        settings, review = self._read("assignment", AssignmentSettings), self.review()
        is_blinded = review is not None and review.screeners > 1
        return replace(settings, blind=True) if is_blinded else settings

    def guidelines(self) -> str:
        """Return the guidelines for annotators, in Markdown."""
        return self.store.settings.text("guidelines")

    def set_guidelines(self, text: str) -> None:
        """Set the guidelines, in Markdown; InputError if they are too long or not valid Unicode."""
        require_writable(text, "guidelines")
        if len(text) > LONGEST_GUIDELINES:
            raise InputError(f"guidelines: expected at most {LONGEST_GUIDELINES:,} characters, found {len(text):,}")
        self.store.settings.put_text("guidelines", text.strip())

    def set_topic_note(self, query_id: str, note: str) -> None:
        """Set or remove (empty) the note of a topic.

        UnknownNameError for an unknown topic, InputError if the note is not valid Unicode.
        """
        require_writable(note, f"note for topic {query_id!a}")
        self.require_topic(query_id)
        self.store.corpus.set_topic_note(query_id, note.strip())

    def judging_page(self) -> JudgingPageSettings:
        """Return the settings of the judging page."""
        return self._read("card", JudgingPageSettings)

    def set_judging_page(self, **changes: Any) -> JudgingPageSettings:
        """Change fields of the :class:`JudgingPageSettings`.

        UnknownNameError for an unknown setting or named value, InputError for a value out of range.
        """
        with self.store.transaction():
            settings = changed(self.judging_page(), changes, "judging-page setting")
            if "show_labels" in changes and settings.show_labels:
                names = [label_set.name for label_set in self.store.machine_labels.sets()]
                require_known("label set", names, settings.show_labels)
            self.store.settings.put("card", asdict(settings))
        return settings

    def questions(self) -> tuple[Question, ...]:
        """Return the further questions, in their order."""
        stored = self.store.settings.get(QUESTIONS, [])
        key = json.dumps(stored)  # equal objects may have their answers in another order
        return self.store.cached("settings", key, lambda: read_questions(stored), member=QUESTIONS)

    def set_questions(self, questions: Iterable[Question]) -> tuple[Question, ...]:
        """Set the further questions, in their order; judgements already made keep their answers.

        A question that is added is asked from then on, one that is left out is not asked any more.

        Raises
        ------
        InputError
            Two questions of the same name, more than 20, a bound that excludes every grade of the campaign, or a
            question without an answer that annotators have given, or of another kind than the one they answered.

        Examples
        --------
        >>> from collection import Campaign, Question
        >>> scale = {0: "Not credible", 1: "Credible"}
        >>> with Campaign.create("health") as campaign:
        ...     _ = campaign.settings.set_questions([Question("credibility", "Is it credible?", "grades", scale)])
        ...     [question.name for question in campaign.settings.questions()]
        ['credibility']
        """
        questions = tuple(questions)
        require_asked(questions, self.grades)
        with self.store.transaction():
            before = {question.name: question for question in self.questions()}
            changed_ones = [each for each in questions if before.get(each.name) != each]
            for question in changed_ones:
                _check_given_answers(question, self.store.judgements.given_answers(question.name))
            self.store.settings.put(QUESTIONS, [question.to_json() for question in questions])
        return questions

    @overload
    def question_answers(self, name: str, answer: str | None = None) -> QuestionAnswers: ...
    @overload
    def question_answers(self, name: str | None, answer: str | None = None) -> QuestionAnswers | None: ...
    def question_answers(self, name: str | None, answer: str | None = None) -> QuestionAnswers | None:
        """Return the answers to a further question, or one of them, as results take them; None for the grade.

        Raises
        ------
        InputError, UnknownNameError
            There is no such question, or it has no such answer; or an answer without a question.
        """
        if name is None:
            if answer is not None:
                raise InputError(f"the answer {answer!r} belongs to a question; name the question too")
            return None
        questions = {question.name: question for question in self.questions()}
        require_known("question", questions, name)
        return QuestionAnswers.of(questions[name], self.store.judgements.given_answers(name), answer)

    def review(self) -> Review | None:
        """Return the literature review that this campaign is; None for any other campaign."""
        stored = self.store.settings.get(REVIEW_KEY)
        if stored is None:
            return None
        known = {each.name: stored[each.name] for each in fields(Review) if each.name in stored}
        return self.store.cached("settings", stored, lambda: Review(**known), member=REVIEW_KEY)

    def require_review(self) -> Review:
        """Return the review; CampaignError if the campaign is none."""
        review = self.review()
        if review is None:
            command = "`cleverdon new DIR --review`"
            raise CampaignError(f"this campaign is not a literature review; create one with {command}")
        return review

    def set_review(self, review: Review) -> None:
        """Make the campaign a literature review, or change it; its topics keep the texts of the review.

        A new review gets a loop over all records, a target recall of 95% and the usual reasons for exclusion. Without
        full texts, their topic is closed. :meth:`.Screening.update` also tells the pool how many screen each record.

        Raises
        ------
        InputError
            The campaign has other grades than a review.
        """
        if set(self.grades.sentences) != set(REVIEW_GRADES.sentences):
            raise InputError(f"review: expected the grades 0, 1 and 2, found those of this campaign ({self.grades})")
        with self.store.transaction():
            is_new = self.review() is None
            self.store.settings.put(REVIEW_KEY, asdict(review))
            self.store.settings.put("title", review.title)
            self.store.corpus.add_topics(review.topics(), replace=True)
            known = set(self.store.corpus.topics()["query_id"])
            if is_new:
                self._change_loop(self.loop(), {"mode": "loop", "level": 1, "target": TARGET})
                self.set_reasons(self.reasons() or DEFAULT_REASONS)
            if review.full_text:
                self.store.queue.set_mode(FULL_TEXT, "pool")
            elif FULL_TEXT in known:
                self.store.queue.close_topic(FULL_TEXT)
            assignment = replace(self.assignment(), annotators=review.screeners, which="all")
            if assignment != self.assignment():
                self.store.settings.put("assignment", asdict(assignment))
        self.title = review.title

    def reasons(self) -> list[str]:
        """Return the reasons for exclusion, in order; [] if the campaign asks for none."""
        return [str(answer) for each in self.questions() if each.name == REASON for answer in each.answers]

    def set_reasons(self, reasons: Iterable[str]) -> None:
        """Set the reasons for exclusion; the errors are those of :meth:`set_questions`."""
        self.set_questions(with_reasons(self.questions(), reasons))

    def task(self) -> AnswerTask | None:
        """Return the task of generated answers that this campaign is for; None for any other campaign."""
        return ANSWER_TASKS.get(self.store.settings.get(TASK_KEY, ""))

    @property
    def vocabulary(self) -> Vocabulary:
        """Vocabulary of pages and messages: that of a literature review, of a task, or of retrieval."""
        if (task := self.task()) is not None:
            return task.vocabulary
        return RETRIEVAL if self.review() is None else REVIEW

    def collection(self) -> About:
        """Return the manager's description of the collection."""
        return self._read("about", About)

    def set_collection(self, **changes: str) -> About:
        """Change fields of :class:`About`.

        UnknownNameError for an unknown field, InputError for an invalid URL or text.

        >>> from collection import Campaign
        >>> with Campaign.create("wings") as campaign:
        ...     campaign.settings.set_collection(licence="CC BY 4.0").licence
        'CC BY 4.0'
        """
        with self.store.transaction():
            texts = {name: text.strip() for name, text in changes.items()}
            about = changed(self.collection(), texts, "collection field")
            if about.url and not is_web_address(about.url):
                raise InputError(f"url: expected an address that begins with http:// or https://, found {about.url!r}")
            self.store.settings.put("about", asdict(about))
        return about

    def tour(self) -> bool:
        """Return whether the Overview page shows the tour of the demo."""
        return bool(self.store.settings.get("tour", False))

    def set_tour(self, shown: bool) -> None:
        """Show or hide the tour of the demo."""
        self.store.settings.put("tour", shown)

    def own_modes(self) -> dict[str, str | None]:
        """Return each topic's own mode, or None where the campaign's mode applies."""
        return {query_id: "closed" if closed else mode for query_id, mode, closed in self.store.queue.modes()}

    def keep_card_arrangement(self, annotator: str, settings: Mapping[str, object]) -> None:
        """Keep the arrangement of an annotator's card; InputError if it is no JSON or exceeds :data:`CARD_BYTES`."""
        try:
            text = json.dumps(dict(settings), ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"card arrangement: expected plain JSON ({error})") from None
        if size > CARD_BYTES:
            raise InputError(f"card arrangement: expected at most {CARD_BYTES:,} bytes, found {size:,}")
        self.store.settings.keep_card_arrangement(annotator, text)

    def require_topic(self, query_id: str) -> None:
        """Raise UnknownNameError unless the campaign has this topic."""
        require_known("topic", self.modes(), query_id)


def require_asked(questions: Sequence[Question], grades: GradeScale) -> None:
    """Raise InputError for two questions of one name, for too many, and for one that is asked at none of the grades."""
    check_questions(questions)
    for question in questions:
        if not any(map(question.is_asked, grades.sentences)):
            error = InputError(
                f"question {question.name!r}: expected bounds that include a grade of this campaign ({grades}), found "
                f"{describe_bounds(question)}"
            )
            error.page = QUESTIONS_PAGE
            raise error


def _check_given_answers(question: Question, given: Iterable[Answer]) -> None:
    """Raise InputError unless the question has all answers that annotators have given to it."""
    for answer in given:
        try:
            question.check(answer)
        except JudgementError as error:
            raise InputError(
                f"question {question.name!r}: annotators have given the answer {write_answer(answer)!r}, which has to "
                f"stay ({error}); restore it, or give the question another name"
            ) from None


def read_grades(grades: str | Path) -> GradeScale:
    """A grade scale by its ends, such as ``0-3`` or ``1-5``, or from a JSON file that maps each grade to a sentence."""
    if str(grades) in GRADE_SCALES:
        return GRADE_SCALES[str(grades)]
    path = Path(grades)
    if not path.is_file():
        if (scale := read_scale(str(grades))) is not None:
            return scale
        raise InputError(
            f"grades: expected the lowest and the highest grade, such as 0-3, or a JSON file with sentences, like "
            f"{SCALE_EXAMPLE}, found {str(grades)!r}, which is not a file"
        )
    content = _parse_json(path.read_bytes(), path, f"grades as JSON, like {SCALE_EXAMPLE}")
    wanted = f"two or more grades from 0 to {HIGHEST_GRADE}, like {SCALE_EXAMPLE}"
    if not isinstance(content, dict):
        raise FormatError(path, None, wanted, quote(json.dumps(content)))
    if len(content) < 2 or not all(re.fullmatch("0|[1-9][0-9]?", g) and int(g) <= HIGHEST_GRADE for g in content):
        raise FormatError(path, None, wanted, join(map(repr, content)) or "none")
    for grade, sentence in content.items():
        if not isinstance(sentence, str):
            raise FormatError(path, None, f"a text as sentence of grade {grade}", quote(json.dumps(sentence)))
        require_writable(sentence, f"{path}: sentence of grade {grade}")
    return GradeScale({int(grade): sentence for grade, sentence in content.items()})


def read_questions_file(path: Path | str) -> tuple[Question, ...]:
    """Read questions from a JSON file; :func:`parse_questions` says how, and what is raised."""
    return parse_questions(_read_file(path), path)


def _read_file(path: Path | str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def parse_questions(content: bytes, path: Path | str) -> tuple[Question, ...]:
    """Read questions from JSON, a list of objects (:func:`collection.core.questions.read_question`).

    Raises
    ------
    InputError, FormatError
        It is no JSON, or no list of questions; with the `path` that the content is from.
    """
    try:
        return read_questions(_parse_json(content, path, f"questions as JSON, like [{EXAMPLE}]"))
    except InputError as error:
        invalid = error if isinstance(error, FormatError) else InputError(f"{path}: {error}")
        invalid.page = QUESTIONS_PAGE
        raise invalid from None


def read_review_file(path: Path | str) -> dict[str, Any]:
    """Read the fields of a :class:`.Review`, and ``reasons`` of exclusion, from a JSON object in a file.

    Raises
    ------
    InputError, FormatError, UnknownNameError
        The file cannot be read or is no JSON object, or has an unknown name; values are not checked.
    """
    wanted = f"a review as JSON, like {REVIEW_EXAMPLE}"
    content = _parse_json(_read_file(path), path, wanted)
    if not isinstance(content, dict):
        raise FormatError(path, None, wanted, quote(json.dumps(content)))
    require_known("field of a review", [*(each.name for each in fields(Review)), "reasons"], *content)
    return content


def _parse_json(content: bytes, path: Path | str, wanted: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FormatError(path, line, wanted, f"invalid JSON ({error})") from error
