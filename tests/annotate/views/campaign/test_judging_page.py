"""The settings of the judging page: `cleverdon judging-page`, and the page on which a manager changes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotate.card.server import card as cards
from annotate.card.server.card_modules import card_modules
from annotate.card.server.card_words import card_words
from collection import Campaign, Document, Question, Topic
from collection.campaign.log.results import CANNOT_JUDGE_REASONS
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.core.answer_tasks import SUPPORT
from collection.core.errors import InputError, UnknownNameError
from collection.core.review import Review, reason_question
from collection.core.vocabulary import RETRIEVAL, REVIEW
from collection.documentation import read_page
from tests.helpers import Opened, add_answers, fails, ok, put, words

OPTIONS = [
    *("--task", "list", "--list-size", "8", "--most-chosen", "2", "--preference-size", "6", "--form", "html"),
    *("--long", "passages", "--long-from", "900", "--no-marking", "--no-near", "--image-host", "Images.Example.org"),
    *("--rest-after", "0"),
]
CHANGED = JudgingPageSettings("list", 8, 2, 6, "html", "passages", 900, False, False, ("images.example.org",), 0)


def test_the_command_shows_and_changes(campaign: Campaign) -> None:
    default = json.loads(ok("judging-page", campaign.directory, "--format", "json"))
    assert default == {**asdict(JudgingPageSettings()), "image_hosts": []}
    table = ok("judging-page", campaign.directory, *OPTIONS)
    assert campaign.settings.judging_page() == CHANGED
    assert "--image-host       images.example.org  Show linked images from this host" in table
    assert "--marking          no   " in table
    ok("judging-page", campaign.directory, "--marking", "--image-host", "x.org", "--task", "grades")
    assert campaign.settings.judging_page().image_hosts == ("images.example.org", "x.org")
    assert campaign.settings.judging_page().marking
    assert not campaign.settings.judging_page().near  # what is not named stays
    ok("judging-page", campaign.directory, "--no-image-hosts", "--image-host", "y.org")
    assert campaign.settings.judging_page().image_hosts == ("y.org",)
    assert "--image-host       none " in ok("judging-page", campaign.directory, "--no-image-hosts")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "grade"], "unknown task 'grade'; did you mean 'grades'?"),
        (["--form", "pdf"], "unknown form 'pdf'"),
        (["--long", "part"], "unknown long 'part'"),
        (["--list-size", "1"], "--list-size: expected a number from 2 to 50, found 1"),
        (["--long-from", "0"], "--long-from: expected a number from 200 to 10,000,000, found 0"),
        (["--image-host", "https://x.org"], "found 'https://x.org'; leave out https://, the port and the path"),
        (["--image-host", "*.x.org"], "found '*.x.org'"),
        (["--image-host", "x.org/a"], "host name such as"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(campaign: Campaign, options: list[str], message: str) -> None:
    assert message in fails("judging-page", campaign.directory, *options, "--no-near")
    assert campaign.settings.judging_page() == JudgingPageSettings()


def test_the_library_refuses_by_name(campaign: Campaign) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'marking'"):
        campaign.settings.set_judging_page(markin=False)
    with pytest.raises(InputError, match="host name such as"):
        campaign.settings.set_judging_page(image_hosts=["a b"])


# --------------------------------------------------------------------------------------------- page


def test_the_page_saves_what_is_chosen(opened: Callable[[Campaign], AppTest], campaign: Campaign) -> None:
    app = opened(campaign, "judging-page")
    app.radio(key="task").set_value("list")
    for name in ("list_size", "most_chosen", "preference_size", "long_from", "rest_after"):
        app.number_input(key=name).set_value(getattr(CHANGED, name))
    app.radio(key="form").set_value("html")
    app.radio(key="long").set_value("passages")
    app.checkbox(key="marking").uncheck()
    app.checkbox(key="near").uncheck()
    app.text_area(key="image_hosts").set_value("Images.example.org\n")
    app.button(key="save").click().run()
    assert campaign.settings.judging_page() == CHANGED
    again = opened(campaign, "judging-page")
    assert again.radio(key="task").value == "list"
    assert again.text_area(key="image_hosts").value == "images.example.org"


def test_the_page_refuses_an_odd_host_and_keeps_the_rest(
    opened: Callable[[Campaign], AppTest], campaign: Campaign
) -> None:
    app = opened(campaign, "judging-page")
    app.checkbox(key="near").uncheck()
    app.text_area(key="image_hosts").set_value("https://x.org/")
    app.button(key="save").click().run()
    assert "host name such as" in app.error[0].value
    assert campaign.settings.judging_page() == JudgingPageSettings()


def test_the_page_shows_a_document_as_annotators_get_it(
    opened: Callable[[Campaign], AppTest], campaign: Campaign
) -> None:
    text = "It rains. " * 200 + "A running average. " + "It rains. " * 200
    put(campaign, documents=[Document("d2", "", f"<!doctype html><p>{text}")])
    campaign.settings.set_judging_page(long="passages", long_from=300)
    app = opened(campaign, "judging-page")
    assert "d2, for topic 1: running average" in app.selectbox(key="pair").options
    shown = [element.value for element in app.text]
    assert any(f'<p class="text">{text.strip()}</p>' in element.proto.body for element in app.get("html"))
    assert any("2 passages" in caption.value for caption in app.caption)
    assert any(t.startswith("It rains.") and len(t) < 500 for t in shown)
    assert any("A running average." in t and len(t) < 1000 for t in shown)


def test_the_page_of_a_campaign_without_a_pool(
    opened: Callable[[Campaign], AppTest], make_campaign: Callable[..., Campaign]
) -> None:
    app = opened(make_campaign(pooled=False), "judging-page")
    assert any("The pool is empty, so there is no document to preview" in element.value for element in app.markdown)


# ------------------------------------------------------------------------------------------- questions


def test_a_manager_adds_edits_orders_and_removes_questions(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "judging-page")
    app.button(key="add-question").click().run()
    app.text_input(key="question-name").set_value("exclusion")
    app.text_input(key="question-sentence").set_value("Why is it excluded?")
    app.selectbox(key="question-kind").set_value("choice")
    assert app.text_area(key="question-answers").value == ""  # any kind of question may come
    app.text_area(key="question-answers").set_value("population: Wrong population\nOther")
    app.selectbox(key="question-from").set_value(0)
    app.selectbox(key="question-to").set_value(0)
    app.checkbox(key="question-again").check()
    app.button(key="save-question").click().run()
    answers = {"population": "Wrong population", "Other": "Other"}
    exclusion = Question("exclusion", "Why is it excluded?", "choice", answers, True, 0, 0, True)
    assert campaign.settings.questions() == (exclusion,)
    assert "exclusion: one of Wrong population / Other; asked at grade 0; required" in words(app)
    app.button(key="add-question").click().run()
    app.text_input(key="question-name").set_value("tags")
    app.text_input(key="question-sentence").set_value("Which apply?")
    app.selectbox(key="question-kind").set_value("tags")
    app.text_area(key="question-answers").set_value("review\nprotocol")
    app.checkbox(key="question-required").uncheck()
    app.button(key="save-question").click().run()
    tags = Question("tags", "Which apply?", "tags", {"review": "review", "protocol": "protocol"}, False)
    assert campaign.settings.questions() == (exclusion, tags)
    app.button(key="up-tags").click().run()
    assert campaign.settings.questions() == (tags, exclusion)
    app.button(key="edit-exclusion").click().run()
    assert app.text_area(key="question-answers").value == "population: Wrong population\nOther"
    assert not app.text_input(key="question-name").disabled
    assert app.selectbox(key="question-from").proto.default == 1
    app.selectbox(key="question-from").select_index(0)
    app.selectbox(key="question-to").set_value(1)
    app.button(key="save-question").click().run()
    assert campaign.settings.questions() == (tags, replace(exclusion, asked_from=None, asked_to=1))
    app.button(key="remove-tags").click().run()
    assert [question.name for question in campaign.settings.questions()] == ["exclusion"]


def test_the_form_of_a_question_says_what_is_wrong_and_keeps_what_was_typed(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "judging-page")
    app.button(key="add-question").click().run()
    app.text_input(key="question-name").set_value("credibility")
    app.text_input(key="question-sentence").set_value("How credible is it?")
    for key in ("question-from", "question-to"):
        # Streamlit lets users clear a field whose value is None, and then says "Choose an option".
        assert (app.selectbox(key=key).options[0], app.selectbox(key=key).value) == ("No limit", -1)
    app.text_area(key="question-answers").set_value("0: Not\nhigh: Very")
    app.button(key="save-question").click().run()
    assert "expected 0-3, or lines such as 0: Not credible, found 'high: Very'" in words(app)
    assert app.text_input(key="question-name").value == "credibility"
    app.button(key="cancel-question").click().run()
    assert campaign.settings.questions() == ()
    assert app.button(key="add-question")


def test_a_manager_sees_what_a_change_does_to_judgements_made(opened: Opened, campaign: Campaign) -> None:
    scale = {0: "Not credible", 1: "Credible"}
    campaign.judging.judge("bob", "1", "d1", 2)
    campaign.judging.judge("cat", "1", "d2", 1)
    credibility = Question("credibility", "Is it credible?", "grades", scale, asked_from=1)
    campaign.settings.set_questions([credibility])
    app = opened(campaign, "judging-page")
    counts = "0 of 2 judgements at these grades have an answer. 2 lack one (bob 1, cat 1). They are not handed out"
    assert counts in words(app)
    app.button(key="edit-credibility").click().run()
    app.checkbox(key="question-again").check()
    app.button(key="save-question").click().run()
    assert "Their annotators get them again." in words(app)
    campaign.judging.judge("bob", "1", "d1", 2, answers={"credibility": 1})
    app = opened(campaign, "judging-page")
    assert "1 of 2 judgements at these grades has an answer. 1 lacks one (cat 1)." in words(app)
    app.button(key="edit-credibility").click().run()
    assert app.text_input(key="question-name").disabled
    app.text_area(key="question-answers").set_value("0: No\n2: Yes")
    app.button(key="save-question").click().run()
    assert "annotators have given the answer '1', which has to stay" in words(app)
    app = opened(campaign, "judging-page")
    app.button(key="remove-credibility").click().run()
    assert "Answers to removed questions stay in the log and in its exports: credibility (1)." in words(app)


def test_questions_come_from_a_file(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "judging-page")
    written = [{"name": "tags", "question": "Which apply?", "tags": ["review", "protocol"]}]
    app.file_uploader(key="questions-upload").set_value(("questions.json", b"{", "application/json")).run()
    assert "questions.json, line 1: expected questions as JSON" in words(app)
    app.file_uploader(key="questions-upload").set_value(("q.json", json.dumps(written).encode(), "application/json"))
    app.run()
    assert "tags: any number of review / protocol; asked at every grade; required" in words(app)
    assert campaign.settings.questions() == ()
    app.button(key="replace-questions").click().run()
    assert [question.to_json() for question in campaign.settings.questions()] == written


def test_the_overview_counts_missing_answers(opened: Opened, campaign: Campaign) -> None:
    tags = Question("tags", "Which apply?", "tags", {"a": "A", "b": "B"})
    campaign.judging.judge("bob", "1", "d1", 2)
    campaign.settings.set_questions([tags, replace(tags, name="more", required=False)])
    campaign.judging.judge("bob", "1", "d2", 2, answers={"tags": [], "more": ["a"]})
    frames = [frame.value for frame in opened(campaign, "overview").dataframe]
    (counts,) = [frame for frame in frames if "missing" in frame and "annotator" not in frame]
    counts = counts[["name", "asked", "answered", "missing"]].astype(object)
    assert counts.where(counts.notna(), None).to_numpy().tolist() == [["tags", 2, 1, 1], ["more", 2, 1, None]]
    (people,) = [frame for frame in frames if "missing" in frame and "annotator" in frame]
    assert people.to_numpy().tolist() == [["tags", "bob", 2, 1]]
    assert "1 of 2 judgements at these grades has an answer." in words(opened(campaign, "judging-page"))


def test_my_judgements_change_with_their_answers(opened: Opened, campaign: Campaign) -> None:
    tags = Question("tags", "Which apply?", "tags", {"a": "A", "b": "B"}, required=False)
    why = Question("why", "Why?", "choice", {"x": "Because", "y": "So"}, asked_to=0)
    campaign.settings.set_questions([tags, why])
    judgement = campaign.judging.judge("ann", "1", "d1", 2, answers={"tags": ["b"]})
    app = my_judgement(opened, campaign, judgement.uuid)
    assert next(frame.value["answers"].tolist() for frame in app.dataframe if "answers" in frame.value) == ["tags: B"]
    app.radio[0].set_value(0)
    save(app)
    assert "Expected an answer to the question 'why', found none" in words(app)
    app.selectbox(key=f"answer-{judgement.uuid}-why").set_value("y")
    app.multiselect(key=f"answer-{judgement.uuid}-tags").set_value(["a", "b"])
    save(app)
    last = campaign.store.judgements.table(annotator="ann").iloc[0]
    assert (last["relevance"], last["answers"]) == (0, {"tags": ("a", "b"), "why": "y"})


def my_judgement(opened: Opened, campaign: Campaign, uuid: str) -> AppTest:
    app = opened(campaign, "my-judgements")
    app.session_state["picked"] = uuid
    return app.run()


def save(app: AppTest) -> AppTest:
    return next(button for button in app.button if button.label == "Save").click().run()


@pytest.mark.long
def test_a_note_changes_no_answers(opened: Opened, campaign: Campaign) -> None:
    """Answers to a removed question stay, and one that is missing stays missing until it is given."""
    scale = {0: "No", 1: "Yes"}
    campaign.settings.set_questions([Question("credibility", "Is it credible?", "grades", scale)])
    judgement = campaign.judging.judge("ann", "1", "d1", 2, answers={"credibility": 1})
    tags = Question("tags", "Which apply?", "tags", {"a": "A", "b": "B"}, again=True)
    campaign.settings.set_questions([tags])
    app = my_judgement(opened, campaign, judgement.uuid)
    app.text_area[0].set_value("A note")
    save(app)
    last = campaign.store.judgements.table(annotator="ann").iloc[0]
    assert (last["note"], last["answers"]) == ("A note", {"credibility": 1})
    assert list(campaign.progress.missing_answers.find("1", "ann")) == ["d1"]
    app = my_judgement(opened, campaign, last["uuid"])
    app.checkbox(key=f"answer-{last['uuid']}-tags-none").check()
    save(app)
    last = campaign.store.judgements.table(annotator="ann").iloc[0]
    assert last["answers"] == {"credibility": 1, "tags": ()}
    app = my_judgement(opened, campaign, last["uuid"])
    app.checkbox(key=f"answer-{last['uuid']}-tags-none").uncheck()
    save(app)
    assert "Expected an answer to the question 'tags', found none" in words(app)
    app.multiselect(key=f"answer-{last['uuid']}-tags").set_value(["b"])
    save(app)
    assert campaign.store.judgements.table(annotator="ann").iloc[0]["answers"] == {"credibility": 1, "tags": ("b",)}


# ------------------------------------------------------------------------------------------------ keys

CARDS = [*cards.CARDS.values(), cards.NUGGETS, cards.ADJUDICATION]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.module or card.name)
def test_each_key_of_a_card_is_one_action_s_and_caps_name_only_actions(card: cards.Card) -> None:
    actions = cards.card_keys(card, in_review=True)["actions"] | cards.card_keys(card, task=SUPPORT)["actions"]
    keys = [action["key"] for action in actions.values()]
    assert len(set(keys)) == len(keys)
    assert not {"r", "c"} & set(keys)  # the app takes them
    named = re.findall(r'<kbd data-key="([\w-]+)"', cards.nodes(card))
    assert set(named) - {"usual-keys"} <= set(actions)


def test_every_panel_has_its_file_and_is_in_a_card() -> None:
    files = {path.stem for path in (cards.FOLDER / "html" / "panels").glob("*.html")}
    assert files == {name for card in CARDS for name in card.panels}
    views = "".join(path.read_text() for path in (cards.FOLDER / "view").rglob("*.js"))
    assert set(re.findall(r"panels: \{\s*(\w+):", views)) == files


def key_table(title: str, actions: dict[str, Any], fixed: list[dict[str, Any]]) -> Iterator[str]:
    """The table of a card's keys on the documentation page."""
    yield from (f"## {title}\n", "| Key | Action |", "|---|---|")
    for row in fixed:
        yield f"| {' '.join(key if key == '…' else f'`{key}`' for key in row['keys'])} | {row['help']} |"
    for action in actions.values():
        yield f"| `{cards.CAPS.get(action['key'], action['key'])}` | {action['help']} |"


def test_the_documentation_has_every_key_of_every_card() -> None:
    tables = "\n\n".join("\n".join(key_table(**keys)) for keys in cards.KEYS.values())
    assert tables in read_page("reference/keyboard"), tables
    assert tables.count("\n| `") == sum(
        len(part) for keys in cards.KEYS.values() for name, part in keys.items() if name != "title"
    )


def test_only_a_review_has_keys_words_and_terms_of_its_own() -> None:
    plain, review = (cards.card_keys(cards.GRADE, in_review=in_review) for in_review in (False, True))
    everywhere = {name: key for name, key in cards.KEYS["grade"]["actions"].items() if "only" not in key}
    assert plain == cards.KEYS["grade"] | {"actions": everywhere}
    assert set(review["actions"]) - set(plain["actions"]) == {"reason"}
    assert (card_words(RETRIEVAL), card_words(REVIEW)["documents"]) == ({}, "records")
    plain_questions = cards.question_data([Question("why", "Why?", "choice", {"a": "A", "b": "B"})])
    assert list(plain_questions[0]) == ["name", "sentence", "kind", "required", "from", "to", "answers"]
    assert cards.question_data([reason_question()])[0]["required_in"] == ["full-text"]


def test_only_a_campaign_with_generated_answers_gets_the_card_that_makes_nuggets(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[cards.Card] = []
    monkeypatch.setattr(cards, "_component", lambda card: lambda data, key: given.append(card))
    with Campaign.create(tmp_path / "wings") as wings:
        topics, documents = [Topic("1", "wing lift"), Topic("2", "heat flow")], [Document("d1", "Lift", "Air lifts.")]
        put(wings, topics, documents, {"bm25": {"1": ["d1"]}})
        wings.people.pools.add("depth", depth=1)
        opened(wings, "judge")
        add_answers(wings)
        opened(wings, "judge")
    assert given == [cards.GRADE, cards.NUGGETS]
    plain, nuggets = (cards.card_keys(card)["actions"] for card in given)
    assert set(nuggets) - set(plain) == {"nugget", "nuggets"}
    assert "nugget-marker" in cards.nodes(cards.NUGGETS)
    for html in (cards.nodes(cards.GRADE), cards.style_sheet(cards.GRADE), *card_modules().imported("grade.js")):
        assert not {"nugget-marker", "nuggets-panel", "cd-making", "view/panels/nugget_panel.js"} & set(html.split('"'))
        assert "of_card" not in html


@pytest.mark.parametrize("in_review", [False, True])
def test_the_card_of_other_campaigns_gets_the_data_that_it_always_got(
    opened: Opened, campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_review: bool
) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(cards, "_component", lambda card: lambda data, key: given.append(data))
    if in_review:
        campaign = Campaign.create(tmp_path / "review", review=Review("Falls", "Does exercise prevent falls?"))
        campaign.store.corpus.add_documents([Document("r0", "Record", "Text.")])
    opened(campaign, "judge")
    (data,) = given
    always = ["token", "campaign", "annotator", "keys", "caps", "reasons", "text_cap", "routes", "own"]
    more = ["words", "review_terms", "report"] if in_review else []
    assert list(data) == [*always, *more, "scale", "questions", "query_id", "card"]
    assert ("reason" in data["keys"]["actions"]) is in_review
    assert (data["reasons"] == list(CANNOT_JUDGE_REASONS)) is not in_review
