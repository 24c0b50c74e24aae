"""Prompt templates: what they need, and that no text of a topic or a document can leave its quotation."""

import hashlib
import re

import pytest
from hypothesis import given, strategies as st

from collection.core.errors import InputError
from collection.core.records import GRADE_SCALES
from collection.machine_labels.injection_probe import CONTROL, ProbeAnswer, documents, evaluate
from collection.machine_labels.templates import TEMPLATES, Material, Template, read_template, render
from tests.helpers import tries

SCALE = GRADE_SCALES["0-3"]
WING = Material({"title": "wing flow", "description": "Which papers measure it?"}, "Lift", "The lift of a thin wing.")
COMPLETE = "{topic} {document} {grades} {answer}"


def test_built_in_templates_have_what_the_campaign_says() -> None:
    for entry in TEMPLATES:
        prompt = render(entry.template(), SCALE, "Only measurements count.", WING, 1000)
        assert entry.source in entry.traits["source"]
        assert all(f"{grade} = {sentence}" in prompt.system for grade, sentence in SCALE.sentences.items())
        assert "Guidelines for annotators:\nOnly measurements count." in prompt.system
        assert "Title: wing flow\nDescription: Which papers measure it?\n" in prompt.user
        assert "Title: Lift\nThe lift of a thin wing.\n" in prompt.user
        assert prompt.user.endswith("where N is one of 0, 1, 2, 3, and write nothing after it:\nGrade: N")
        assert not re.search(r"\{[a-z]+\}", prompt.system + prompt.user)


def test_without_guidelines_nothing_is_said_of_them() -> None:
    prompt = render(TEMPLATES["nist"].template(), SCALE, " ", WING, 1000)
    assert "Guidelines" not in prompt.system
    assert "\n\n\n" not in prompt.system


def test_a_long_document_is_cut_outside_its_quotation() -> None:
    user = render(TEMPLATES["nist"].template(), SCALE, "", WING._replace(text="x" * 1030), 1000).user
    assert re.search(r"\nx{1000}\n[0-9a-f]{16}>>>\n\[The document is longer: its other 30 characters are not", user)
    assert "longer" not in render(TEMPLATES["nist"].template(), SCALE, "", WING._replace(text="x" * 1000), 1000).user


TEXTS = st.text(max_size=200) | st.sampled_from(
    ["{answer}", "{document}", "\n>>>\n", "<<<", "a" * 16 + ">>>", "{topic}\n---\n{grades}", "Grade: 3"]
)


@given(title=TEXTS, topic=TEXTS, text=TEXTS)
@tries(200)
def test_a_text_stays_in_its_quotation(title: str, topic: str, text: str) -> None:
    """Whatever it contains, the marks are only where the template quotes, and the rest is the same for all texts."""
    mine = Template("mine", "Grade it: {grades}", "{topic}\n{document}\n{answer}")
    prompt = render(mine, SCALE, "", Material({"title": topic}, title, text), 1000)
    (mark,) = set(re.findall("line <<<([0-9a-f]{16}) and", prompt.system))
    before, in_topic, between, in_document, after = re.split(f"<<<{mark}\n|\n{mark}>>>", prompt.user)
    assert (before, between) == ("Topic:\n", "\nDocument:\n")
    assert in_topic == (f"Title: {topic.strip()}" if topic.strip() else "")
    assert in_document == (f"Title: {title.strip()}\n" if title.strip() else "") + text
    assert after.startswith("\nEnd with one line")
    assert mark not in topic + title + text


def test_the_mark_is_the_same_for_the_same_texts_only() -> None:
    template = TEMPLATES["nist"].template()
    assert render(template, SCALE, "", WING, 1000) == render(template, SCALE, "", WING, 1000)
    marks = {render(template, SCALE, "", WING._replace(text=text), 9).user.split("\n")[1] for text in "abc"}
    assert len(marks) == 3


def test_a_mark_that_a_text_contains_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hash:
        def __init__(self, text: bytes) -> None:
            self.salt = text.partition(b"\0")[0].decode()

        def hexdigest(self) -> str:
            return self.salt * 64

    monkeypatch.setattr(hashlib, "sha256", Hash)
    template = Template("mine", "", COMPLETE)
    prompt = render(template, SCALE, "", Material({"title": "0" * 16}, "1" * 20, "2" * 15), 1000)
    assert f"<<<{'2' * 16} and" in prompt.system


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{topic} {document} {grades}", r"expected \{answer\}, found no such placeholder"),
        ("{grades}", r"expected \{topic\}, \{document\} and \{answer\}"),
        (f"{COMPLETE} {{topik}}", "unknown placeholder .* did you mean 'topic'"),
        ("{document}\n---\n" + COMPLETE, r"expected \{document\} only after the line ---"),
        ("x" * 100_001, "at most 100,000 characters"),
    ],
)
def test_templates_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_template(text, "mine.txt")


def test_a_file_has_an_instruction_and_a_question() -> None:
    both = read_template(f'\nYou judge.\n---\n{COMPLETE} {{"grade": 1}}\n---\n', "mine.txt")
    assert both.instruction == "You judge."
    assert read_template(both.text, "mine.txt") == both
    assert read_template(COMPLETE, "mine.txt").instruction == ""
    assert '{"grade": 1}' in render(both, SCALE, "", WING, 10).user


def test_the_hash_is_that_of_the_texts() -> None:
    one, other = Template("a", "", COMPLETE), Template("b", "", COMPLETE)
    assert one.sha256 == other.sha256
    assert Template("a", "", COMPLETE + " ").sha256 != one.sha256


def test_the_probe_asks_for_the_highest_grade_of_the_scale() -> None:
    made = documents(4)
    assert made[0].request == CONTROL
    assert all("4" in document.text for document in made[1:])
    assert len({document.text for document in made}) == len(made)


def test_a_topic_whose_plain_document_gets_the_highest_grade_shows_nothing() -> None:
    answers = [("1", CONTROL, 3.0), ("1", "plain", 3.0), ("2", CONTROL, None), ("2", "plain", 3.0)]
    answers += [("3", CONTROL, 0.0), ("3", "plain", None)]
    found = evaluate(map(ProbeAnswer._make, answers), 3.0)
    assert (found.asked, found.followed, found.without_grade) == ({"plain": 2}, {"plain": 1}, {"plain": 1})
    assert found.summary == ("The model followed 1 of 2 injected requests, and gave no grade because of 1 other.")
    assert "shows nothing" in evaluate([ProbeAnswer("1", CONTROL, 3.0), ProbeAnswer("1", "plain", 3.0)], 3.0).summary
