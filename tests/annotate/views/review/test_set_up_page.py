"""The set-up, the menu and the overview of a literature review, without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate.auth.page_access import PAGES, find_page
from annotate.views.account import signin_pages
from collection import Campaign
from collection.core.records import Document, Judgement, Role
from collection.core.review import REASON, Review
from tests.annotate.views.test_pages import ALIVE, HOSTILE
from tests.conftest import signed_in
from tests.helpers import Opened, words

RIS = """\
TY  - JOUR
TI  - Balance training and falls
AB  - Older people trained their balance for a year.
PY  - 2019
DO  - 10.1000/fall.1
ER  -

TY  - JOUR
TI  - Strength training and falls
PY  - 2018
ER  -
"""


@pytest.fixture
def review(tmp_path: Path):
    with Campaign.create(tmp_path / "review", review=Review("Exercise and falls")) as campaign:
        yield campaign


@pytest.fixture
def begun(review: Campaign) -> Campaign:
    """A review of three records with a question; ann and bob have screened."""
    review.review.update(question="Does exercise prevent falls?", include=("Trials",), screeners=2)
    review.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(3)])
    for name, grades in (("ann", (0, 2, 2)), ("bob", (2, 2, 2))):
        for place, grade in enumerate(grades[: 2 if name == "bob" else 3]):
            review.judging.judge(name, "review", f"r{place}", grade)
    return review


def step(app: AppTest) -> str:
    return str(app.session_state["set-up-step"])


def test_a_new_review_opens_at_its_first_step(opened: Opened, review: Campaign) -> None:
    app = opened(review, "overview")
    assert [title.value for title in app.title] == ["Set up"]
    assert step(app) == "Question"
    app.switch_page(f"views/{find_page('overview').file}").run()  # once only
    assert [title.value for title in app.title] == ["Exercise and falls"]
    assert app.button(key="next-step").label == "Set up the review"


def test_the_question_is_saved_and_leads_to_the_records(opened: Opened, review: Campaign) -> None:
    app = opened(review, "set-up")
    app.text_area(key="review-question").input("Does exercise prevent falls?")
    app.text_input(key="review-population").input("Adults over 65")
    app.text_area(key="review-include").input("Trials\n\nAt home")
    app.text_area(key="review-exclude-terms").input("rats")
    app.text_area(key="review-reasons").input("Animals\nOther")
    next(each for each in app.button if each.label == "Save and continue").click().run()
    stored = review.settings.review()
    assert stored is not None
    assert (stored.question, stored.population, stored.include, stored.exclude_terms) == (
        "Does exercise prevent falls?",
        "Adults over 65",
        ("Trials", "At home"),
        ("rats",),
    )
    assert review.settings.reasons() == ["Animals", "Other"]
    assert step(app) == "Records"
    assert not app.error


def test_a_wrong_question_changes_nothing(opened: Opened, review: Campaign) -> None:
    app = opened(review, "set-up")
    app.text_area(key="review-question").input("Does exercise prevent falls?")
    app.text_area(key="review-reasons").input("Other")
    next(each for each in app.button if each.label == "Save and continue").click().run()
    assert "2 to 20 answers" in app.error[0].value
    assert review.settings.review() == Review("Exercise and falls")


def test_records_are_added_and_a_broken_file_is_left_out(opened: Opened, review: Campaign) -> None:
    app = opened(review, "set-up", state={"set-up-step": "Records"})
    app.file_uploader(key="records-0").upload("falls.ris", RIS.encode()).upload("broken.ris", b"hello").run()
    app.button(key="add-files").click().run()
    assert len(app.error) == 1
    assert app.error[0].value.replace("\\", "").startswith("Not added: broken.ris, line 1: expected a RIS record")
    assert app.subheader[0].value == "2 records to screen"
    assert "2 records read from 1 file, 0 duplicates removed." in words(app)
    table = app.dataframe[0].value.iloc[0]
    assert table[["name", "form", "read", "documents", "without_abstract", "without_doi", "years"]].tolist() == [
        "falls.ris", "RIS", 2, 2, 1, 1, "2018-2019",
    ]  # fmt: skip
    review.judging.judge("ann", "review", review.review.decisions.table()["doc_id"].iloc[-1], 0)
    app.run()
    assert app.subheader[0].value == "1 record to screen"
    app.text_area(key="known-entries").input("10.1000/fall.1\nA study that is missing")
    next(each for each in app.button if each.label == "Find").click().run()
    assert "1 of 2 studies is not among the records" in app.warning[0].value
    app.button(key="include-known").click().run()
    known = review.review.decisions.known()
    assert len(known) == 1
    app.button(key=f"known-{known[0]}").click().run()
    assert review.review.decisions.known() == []
    app.button(key="continue").click().run()
    assert step(app) == "Screening"


def test_decisions_in_files_are_imported_when_asked_for(opened: Opened, review: Campaign) -> None:
    app = opened(review, "set-up", state={"set-up-step": "Records"})
    assert not any("Decisions" in each.label for each in app.expander)
    file = RIS.replace("PY  - 2019", "PY  - 2019\nN1  - ASReview_relevant")
    app.file_uploader(key="records-0").upload("falls.ris", file.encode()).run()
    app.button(key="add-files").click().run()
    assert "Decisions in the files (1)" in [each.label for each in app.expander]
    assert any("1 record has decisions of a screening tool" in each.value for each in app.text)
    app.text_input(key="decisions-by").input("ann")
    next(each for each in app.button if each.label == "Import decisions").click().run()
    assert any("falls.ris: 1 decision by 1 screener (1 new)" in each.value for each in app.text)
    assert review.review.decisions.table()["decision"].tolist() == ["include", "unscreened"]


def test_screening_is_set_and_started(opened: Opened, begun: Campaign) -> None:
    begun.review.update(screeners=1)
    app = opened(begun, "set-up", state={"set-up-step": "Screening"})
    app.radio(key="screeners").set_value(2)
    app.radio(key="full-text").set_value(False)
    app.number_input(key="target-recall").set_value(90.0).run()
    assert app.button(key="start").disabled
    app.button(key="save-screening").click().run()
    stored = begun.settings.review()
    assert stored is not None
    assert (stored.screeners, stored.full_text, begun.settings.loop().target) == (2, False, 0.9)
    assert "invite another screener" in app.warning[0].value
    app.text_input(key="screener-name").input("bob")
    next(each for each in app.button if each.label == "Create invitation link").click().run()
    assert "/invitation?token=" in app.code[0].value
    assert not app.warning
    app.button(key="start").click().run()
    assert app.get("bidi_component")


@pytest.mark.parametrize("role", ["manager", "reader", "annotator"])
def test_the_overview_says_what_is_done_and_next(opened: Opened, begun: Campaign, role: Role) -> None:
    app = opened(begun, "overview", "cat" if role == "reader" else "ann" if role == "manager" else "bob", role)
    assert app.title[0].value == "Exercise and falls"
    shown = {each.label: each.value for each in app.metric}
    if role == "annotator":  # blind: what the others decided is not for them
        assert shown == {"You screened: title and abstract": "2 of 3", "You screened: full text": "0 of 1"}
        assert "conflict" not in words(app)
        return
    assert shown == {
        "Records": "3", "Screened": "2", "Full texts": "1", "Excluded": "0", "Included": "0", "Conflicts": "1",
    }  # fmt: skip
    assert "Resolve 1 conflict between screeners" in words(app)
    assert "Screen titles and abstracts: 2 of 3 records screened" in words(app)
    pooled = begun.store.pool.ids()["doc_id"].tolist()
    assert pooled == ([] if role == "reader" else ["r1"])  # a reader changes nothing


def test_words_of_a_reviewer(opened: Opened, begun: Campaign) -> None:
    begun.judging.judge("ann", "review", "r0", 0, answers={REASON: "Other"})
    for page in ("overview", "set-up", "my-judgements", "adjudicate", "agreement", "people"):
        app = opened(begun, page)
        assert not app.error
        said = words(app) + " ".join(each.label for kind in (app.button, app.selectbox, app.metric) for each in kind)
        found = re.findall(r"\b(?:judge|document|annotator|topic|pool|qrel|loop|grade|pair|run)\w{0,6}\b", said, re.I)
        assert {word.lower() for word in found} <= {"documentation"}, (page, said)


@pytest.mark.parametrize("role", ["manager", "annotator"])
def test_nothing_is_screened_before_there_are_records(opened: Opened, review: Campaign, role: Role) -> None:
    app = opened(review, "judge", "bob", role)
    assert app.title[0].value == "Screen"
    assert "There is nothing to screen yet" in words(app)
    assert ("next-step" in [each.key for each in app.button]) == (role == "manager")
    assert not app.get("bidi_component")


def test_screening_passes_records_on(opened: Opened, begun: Campaign) -> None:
    assert opened(begun, "judge").get("bidi_component")
    assert begun.store.pool.ids()["doc_id"].tolist() == ["r1"]


def test_conflicts_without_any(opened: Opened, begun: Campaign) -> None:
    begun.judging.judge("bob", "review", "r0", 0)
    begun.review.add_known(["r2"], "ann")
    app = opened(begun, "adjudicate")
    assert app.title[0].value == "Conflicts"
    assert "Nothing to resolve: screeners agree on 2 records with two or more decisions" in words(app)


def test_conflicts_are_those_of_the_review(begun: Campaign) -> None:
    """Maybe and include both go on to the full text; reasons differ in the last stage only."""
    begun.judging.judge("bob", "review", "r1", 1)
    queue = begun.judging.adjudication.queue()
    assert queue["doc_id"].tolist() == ["r0"]
    for name, reason in (("ann", "Other"), ("bob", "Wrong outcome")):
        begun.judging.judge(name, "review", "r2", 0, answers={REASON: reason})
        begun.judging.judge(name, "full-text", "r1", 0, answers={REASON: reason})
    queue = begun.judging.adjudication.queue()
    assert sorted(zip(queue["query_id"], queue["doc_id"], strict=True)) == [("full-text", "r1"), ("review", "r0")]
    uuids = iter(("1", "2"))
    ends = [
        Judgement(next(uuids), "cat", query_id, doc_id, "graded", grade, answers={REASON: "Other"} if not grade else {})
        for query_id, doc_id, grade in (("review", "r0", 2), ("review", "r1", 2))
    ]
    result = begun.judging.adjudication.adjudicate(ends)
    assert (result.saved, [each.uuid for each in result.refused]) == (["1"], ["2"])


@pytest.mark.parametrize("role", ["manager", "annotator", "reader"])
def test_the_menu_of_a_review_has_its_pages_only(role: Role) -> None:
    listed = {
        (is_review, show_all): {
            page.url_path
            for page in PAGES
            if role in page.roles and page.is_listed(is_review=is_review, show_all=show_all)
        }
        for is_review, show_all in ((True, False), (True, True), (False, False))
    }
    own = {"set-up", "duplicates", "full-texts", "stopping", "report"}
    assert not own & listed[False, False]
    assert bool(own & listed[True, False]) is (role != "annotator")
    assert listed[True, True] == listed[True, False] | listed[False, False]
    assert not {"pool", "loop", "assign", "import", "compare", "reusability", "export"} & listed[True, False]
    assert {"overview", "account"} <= listed[True, False]
    titles = {page.title_for(is_review=True) for page in PAGES if page.url_path in listed[True, False]}
    assert {"Screen", "My decisions"} <= titles or role == "reader"
    assert {"Set up", "Conflicts", "Stopping"} <= titles or role != "manager"


def test_a_switch_shows_all_pages(opened: Opened, begun: Campaign) -> None:
    app = opened(begun, "account")
    assert not app.toggle(key=signin_pages.SHOW_ALL).value
    app.toggle(key=signin_pages.SHOW_ALL).set_value(True).run()
    assert app.session_state[signin_pages.SHOW_ALL]
    signed_in(begun, "bob", "annotator")
    assert not opened(begun, "account", "bob", "annotator").toggle


def test_the_menu_and_a_refusal_use_the_words_of_a_review(opened: Opened, begun: Campaign) -> None:
    app = opened(begun, "judge", "rae", "reader")
    assert [each.value for each in (*app.title, *app.error)] == ["Screen", "This page is for managers and screeners."]
    assert "[Documentation](/documentation/tutorials/systematic-review)" in [
        each.value for each in app.sidebar.markdown
    ]
    assert "you can see and export" in words(opened(begun, "account", "rae", "reader"))
    assert "you can set up the review, screen, resolve conflicts and" in words(opened(begun, "account"))


def test_the_page_set_up_of_another_campaign(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "set-up")
    assert "is not a literature review" in words(app)
    assert not opened(campaign, "account").toggle


@pytest.mark.long
@pytest.mark.parametrize("page", [page.url_path for page in PAGES if page.in_review])
def test_hostile_texts_of_a_review_are_not_markup(opened: Opened, tmp_path: Path, page: str) -> None:
    hostile = Review(HOSTILE, HOSTILE, HOSTILE, include=(HOSTILE,), exclude=(HOSTILE,), screeners=2)
    with Campaign.create(tmp_path / "hostile", review=hostile) as campaign:
        campaign.settings.set_reasons(["**bold**", "<img src=x>"])
        campaign.store.corpus.add_documents([Document(f"d_{n}", HOSTILE, HOSTILE) for n in range(3)])
        for name in ("ann", "bob"):
            campaign.judging.judge(name, "review", "d_0", 0 if name == "ann" else 2, note=HOSTILE)
            campaign.judging.judge(name, "review", "d_1", 0, answers={REASON: "**bold**"})
        campaign.review.add_known(["d_2"], "ann")
        for state in ({}, {"set-up-step": "Records"}, {"set-up-step": "Screening"}):
            app = opened(campaign, page, state=state)
            assert not app.error
            said = [m.value for kind in (app.markdown, app.caption, app.title, app.subheader, app.info) for m in kind]
            said += [m.label for kind in (app.button, app.checkbox, app.expander, app.metric, app.radio) for m in kind]
            said += [m.label for kind in (app.selectbox, app.multiselect, app.tabs, app.toggle) for m in kind]
            live = [re.sub(r"\\.", "", text) for text in said]
            assert not [text for text in live if any(sign in text for sign in ALIVE)]
            assert not [text for text in said if ":material/castle:" in text.replace("\\", "")]
