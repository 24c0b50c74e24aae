"""The pages Adjudicate and Annotators, and the choice of a rule, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.asgi import SCRIPT
from annotate.judging.routes import PREFIX, JudgingService
from annotate.judging.tokens import TOKEN_HEADER, Tokens
from annotate.session import DIRECTORY_VARIABLE
from collection import Campaign, Judgement, formats
from collection.adjudication import estimating
from collection.errors import InputError
from tests.conftest import judging_token, signed_in
from tests.helpers import AS_JSON


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[Campaign, str], AppTest]:
    """Opens a page of a campaign as ann, a manager."""

    def run(campaign: Campaign, view: str) -> AppTest:
        secret = signed_in(campaign)
        monkeypatch.setattr(Tokens, "read_cookie", lambda self, value: secret)
        monkeypatch.setenv(DIRECTORY_VARIABLE, str(campaign.directory))
        app = AppTest.from_file(str(SCRIPT), default_timeout=60).run()
        return app.switch_page(f"views/{view}").run()

    return run


@pytest.fixture
def differing(campaign: Campaign) -> Campaign:
    """bob and cat differ on d1 (by 3), d2 (by 2) and d4 (by 1), and agree on d6."""
    grades = {("1", "d1"): (0, 3), ("1", "d2"): (3, 1), ("2", "d4"): (1, 0), ("1", "d6"): (2, 2)}
    for (query_id, doc_id), pair in grades.items():
        for who, grade in zip(("bob", "cat"), pair, strict=True):
            note = f"{who} says so" if doc_id == "d1" else None
            j = Judgement(str(uuid4()), who, query_id, doc_id, "graded", grade, seconds=7.5, note=note)
            assert campaign.judge([j]).saved
    return campaign


def shown(app: AppTest) -> str:
    """The doc_id on screen; the fixture's titles are "Title 1", its ids "d1"."""
    return next("d" + t.value.removeprefix("Title ") for t in app.text if t.value.startswith("Title "))


def press(app: AppTest, label: str) -> AppTest:
    return next(b for b in app.button if b.label == label).click().run()


def said(app: AppTest) -> str:
    return "\n".join(m.value for kind in (app.markdown, app.caption) for m in kind)


def test_one_click_ends_the_pair_and_shows_the_next(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    assert shown(app) == "d1"
    assert "3 of 3 disagreements are left" in said(app)
    press(app, "Relevant")
    assert not app.exception
    assert shown(app) == "d2"
    assert "2 of 3 disagreements are left" in said(app)
    written = differing.adjudications()
    assert written[["annotator", "query_id", "doc_id", "relevance"]].values.tolist() == [["ann", "1", "d1", 2]]
    assert dict(zip(differing.qrels()["doc_id"], differing.qrels()["relevance"], strict=True))["d1"] == 2


@pytest.mark.slow
def test_pairs_of_the_calibration_set_are_settled_here_too(opened: Callable[..., AppTest], differing: Campaign) -> None:
    differing.set_calibration([("1", "d1"), ("1", "d6"), ("2", "d5")])  # differ, agree, nobody has judged
    queue = differing.to_adjudicate()
    assert queue[["doc_id", "grades", "why"]].values.tolist()[3:] == [
        ["d6", "2 2", "calibration"],
        ["d5", "", "calibration"],
    ]
    app = opened(differing, "adjudicate.py")
    assert "3 of 3 disagreements are left" in said(app)
    assert "2 pairs of the calibration set to settle" in said(app)
    app.selectbox(key="why").set_value("calibration").run()
    assert shown(app) == "d6"
    press(app, "Perfect")
    assert shown(app) == "d5"
    assert "Nobody has judged this pair" in said(app)
    press(app, "Related")
    assert differing.calibration()["settled"].fillna(-1).tolist() == [-1, 3, 1]


def test_a_note_goes_with_the_grade(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    app.text_input[0].set_value("the second sentence answers it")
    press(app, "Perfect")
    assert differing.adjudications()[["doc_id", "relevance", "note"]].values.tolist() == [
        ["d1", 3, "the second sentence answers it"]
    ]
    assert app.text_input[0].value in ("", None)


def test_sides_are_blind_until_one_asks(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    text = said(app)
    assert "0 · Not relevant" in text.replace("\\", "")
    assert "3 · Perfect" in text.replace("\\", "")
    assert "7.5 s" in text
    assert "bob says so" in text
    assert "Annotator A" in text
    assert "Annotator A, 7.5" in text.replace("\\", "")
    assert ":gray[cat" not in text
    app.toggle(key="named").set_value(True).run()
    assert ":gray[bob" in said(app)
    assert ":gray[cat" in said(app)


@pytest.mark.slow
def test_skipped_pairs_come_again_behind_the_others(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    seen = [shown(app)]
    for _ in range(4):
        press(app, "Skip")
        seen.append(shown(app))
    assert seen == ["d1", "d2", "d4", "d1", "d2"]
    assert differing.adjudications().empty


def test_cannot_judge_ends_the_pair_without_a_grade(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    press(app, "Cannot judge")
    assert differing.adjudications()[["doc_id", "kind", "reason"]].values.tolist() == [
        ["d1", "cannot judge", "no grade can be given"]
    ]
    assert "d1" not in set(differing.qrels()["doc_id"])


@pytest.mark.slow
def test_undo_takes_the_last_one_back_and_shows_it_again(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "adjudicate.py")
    press(app, "Relevant")
    press(app, "Related")
    undo = next(b for b in app.button if b.label.startswith("Undo"))
    assert "d2" in undo.label
    undo.click().run()
    assert shown(app) == "d2"
    assert differing.adjudications()["doc_id"].tolist() == ["d1"]
    next(b for b in app.button if b.label.startswith("Undo")).click().run()
    assert shown(app) == "d1"
    assert differing.adjudications().empty
    assert not [b for b in app.button if b.label.startswith("Undo")]


def test_a_click_on_a_pair_that_somebody_ended_meanwhile_is_told_and_grades_nothing(
    opened: Callable[..., AppTest], differing: Campaign
) -> None:
    """eve ends d1 while it is on screen here: what is clicked then must reach neither d1 nor d2, and ann is told."""
    app = opened(differing, "adjudicate.py")
    button = next(b for b in app.button if b.label == "Perfect")
    other = Judgement(str(uuid4()), "eve", "1", "d1", "graded", 1, counts_as="adjudication")
    assert differing.judge([other]).saved
    button.click().run()
    assert not app.exception
    assert [w.value.replace("\\", "") for w in app.warning] == [
        "d1 of topic 1 was ended meanwhile by eve; your click was not taken."
    ]
    assert differing.adjudications("ann").empty
    assert differing.adjudications()[["annotator", "doc_id", "relevance"]].values.tolist() == [["eve", "d1", 1]]
    assert shown(app) == "d2"
    press(app, "Perfect")  # the next click is an ordinary one
    assert not app.warning
    assert differing.adjudications("ann")[["doc_id", "relevance"]].values.tolist() == [["d2", 3]]


def test_a_click_on_the_last_pair_that_somebody_ended_meanwhile_is_told_too(
    opened: Callable[..., AppTest], differing: Campaign
) -> None:
    app = opened(differing, "adjudicate.py")
    button = next(b for b in app.button if b.label == "Cannot judge")
    for query_id, doc_id in (("1", "d1"), ("1", "d2"), ("2", "d4")):
        other = Judgement(str(uuid4()), "eve", query_id, doc_id, "graded", 1, counts_as="adjudication")
        assert differing.judge([other]).saved
    button.click().run()
    assert not app.exception
    assert "ended meanwhile by eve; your click was not taken" in app.warning[0].value
    assert "Nothing is left" in app.success[0].value


def test_a_click_on_a_pair_on_which_nobody_differs_any_more_is_told(
    opened: Callable[..., AppTest], differing: Campaign
) -> None:
    app = opened(differing, "adjudicate.py")
    button = next(b for b in app.button if b.label == "Perfect")
    assert differing.judge([Judgement(str(uuid4()), "bob", "1", "d1", "graded", 3)]).saved  # as cat has it
    button.click().run()
    assert (
        "was judged anew meanwhile and is none of these pairs any more; your click was not taken"
        in app.warning[0].value
    )
    assert differing.adjudications().empty


@pytest.mark.slow
def test_what_is_chosen_narrows_the_queue(opened: Callable[..., AppTest], differing: Campaign) -> None:
    j = Judgement(str(uuid4()), "dan", "1", "d6", "graded", 1)
    assert differing.judge([j]).saved
    app = opened(differing, "adjudicate.py")
    app.selectbox(key="topic").set_value("2").run()
    assert shown(app) == "d4"
    assert "1 as chosen" in said(app)
    app.selectbox(key="topic").set_value("").run()
    app.selectbox(key="distance").set_value(2).run()
    assert shown(app) == "d2"
    app.selectbox(key="distance").set_value(-1).run()
    app.multiselect(key="people").set_value(["cat", "dan"]).run()
    assert shown(app) == "d6"
    app.selectbox(key="distance").set_value(3).run()
    assert "No pair that is left is like that" in app.info[0].value


def test_an_empty_queue_says_why(opened: Callable[..., AppTest], campaign: Campaign) -> None:
    app = opened(campaign, "adjudicate.py")
    assert "No pair was graded by several annotators yet" in said(app)
    for who in ("bob", "cat"):
        assert campaign.judge([Judgement(str(uuid4()), who, "1", "d1", "graded", 2)]).saved
    app.run()
    assert "1 pairs were graded by several annotators, who agree on all of them" in said(app)
    assert campaign.judge([Judgement(str(uuid4()), "dan", "1", "d1", "graded", 0)]).saved
    press(app.run(), "Relevant")
    assert "Nothing is left: all 1 disagreements are ended" in app.success[0].value
    assert [b for b in app.button if b.label.startswith("Undo")]


def test_texts_of_a_campaign_are_no_markup(opened: Callable[..., AppTest], differing: Campaign) -> None:
    hostile = "**bold** :red[r] [link](javascript:alert(1))"
    for who, grade in (("**who**", 3), ("x", 0)):
        j = Judgement(str(uuid4()), who, "2", "d7", "graded", grade, note=hostile)
        assert differing.judge([j]).saved
    app = opened(differing, "adjudicate.py")
    app.selectbox(key="topic").set_value("2").run()
    assert shown(app) == "d7"
    app.toggle(key="named").set_value(True).run()
    text = said(app)
    assert "**bold**" not in text
    assert "](javascript" not in text
    assert "**who**" not in text


def test_annotators_are_shown_with_what_is_out_of_the_ordinary(
    opened: Callable[..., AppTest], campaign: Campaign
) -> None:
    for n in range(24):
        j = Judgement(str(uuid4()), "bob", "12"[n % 2], f"d{n % 8 + 1}", "graded", n % 4, seconds=0.2)
        assert campaign.judge([j]).saved
    app = opened(campaign, "annotators.py")
    assert not app.exception
    pace = app.dataframe[0].value
    assert pace["annotator"].tolist() == ["bob"]
    assert pace["seconds"].tolist() == [0.2]
    # eight pairs at a time stand: below twenty nothing is said
    assert "24 of 24" not in said(app)
    assert "Nothing." in said(app)


@pytest.mark.slow
def test_export_settles_by_the_chosen_rule_and_compares_it(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "export.py")
    assert "differ on 3 of them" in said(app)
    assert "4 pairs of 2 topics: 2 of grade 0, 1 of grade 1, 1 of grade 2" in said(app)
    app.selectbox(key="rule-rule").set_value("majority").run()
    app.selectbox(key="rule-majority-ties").set_value("higher").run()
    assert "4 pairs of 2 topics: 1 of grade 1, 1 of grade 2, 2 of grade 3" in said(app)
    app.selectbox(key="rule-rule").set_value("mean").run()
    assert "1 of grade 0.5, 1 of grade 1.5, 2 of grade 2" in said(app)
    app.selectbox(key="rule-rule").set_value("annotator").run()
    app.selectbox(key="rule-annotator").set_value("cat").run()
    assert "4 pairs of 2 topics: 1 of grade 0, 1 of grade 1, 1 of grade 2, 1 of grade 3" in said(app)
    app.toggle(key="compare").set_value(True).run()
    app.selectbox(key="other-rule").set_value("highest").run()
    assert not app.exception
    assert "it differs on **2**" in said(app)


def test_a_download_that_cannot_be_written_takes_no_other_along(
    opened: Callable[..., AppTest], differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("an annotator's name cannot be written")

    with monkeypatch.context() as patched:
        patched.setattr(formats, "write_labels", refuse)
        app = opened(differing, "export.py")
        assert not app.exception
        assert [e.value.replace("\\", "") for e in app.error] == ["labels.csv: an annotator's name cannot be written"]
        assert [b.label for b in app.get("download_button")] == [
            "Download qrels.txt", "Download qrels.txt.rule.json", "Download judgements.jsonl",
            "Download judgements.csv", "Download judgements.parquet", "Download passages.jsonl", "Download pool.tsv",
            "Download triples.tsv", "Download campaign.zip",
        ]  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(formats, "write_qrels", refuse)
        app = opened(differing, "export.py")
        assert not app.exception
        assert [e.value.replace("\\", "")[:10] for e in app.error] == ["qrels.txt:"]
        assert "Download labels.csv" in [b.label for b in app.get("download_button")]


@pytest.mark.slow
def test_export_says_that_a_model_had_not_come_to_rest(
    opened: Callable[..., AppTest], differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(differing, "export.py")
    app.selectbox(key="rule-rule").set_value("dawid-skene").run()

    def restless() -> int:
        return sum("had not come to rest after 0 rounds" in w.value for w in app.warning)

    assert restless() == 0
    monkeypatch.setattr(estimating, "ROUNDS", 0)
    app.run()
    assert restless() == 1
    app.toggle(key="compare").set_value(True).run()
    assert restless() == 2
    assert not app.exception


@pytest.mark.slow
def test_compare_takes_a_rule_with_its_parameters(opened: Callable[..., AppTest], differing: Campaign) -> None:
    app = opened(differing, "compare.py")
    before = app.dataframe[0].value
    app.selectbox(key="rule-rule").set_value("annotator").run()
    app.selectbox(key="rule-annotator").set_value("cat").run()
    assert not app.exception
    after = app.dataframe[0].value
    # Topic 1, the only one whose pool is judged to the end. cat: d1 3, d2 1; the lower of bob's and cat's: d1 0, d2 1.
    assert before.loc["alpha", "RR"] == 0.5
    assert after.loc["alpha", "RR"] == 1


def test_the_card_s_route_cannot_adjudicate(campaign: Campaign) -> None:
    """What a browser sends is a judgement of the annotator's own, whatever it calls itself."""
    service = JudgingService(campaign.directory)
    with TestClient(Starlette(routes=service.routes(), lifespan=service.lifespan)) as client:
        headers = AS_JSON | {TOKEN_HEADER: judging_token(campaign)}
        handed = client.post(f"{PREFIX}/sync", headers=headers, content=json.dumps({"query_id": "1", "want": 1})).json()
        item = {"uuid": str(uuid4()), "query_id": "1", "doc_id": handed["documents"][0]["doc_id"], "kind": "graded"}
        item |= {"relevance": 2, "counts_as": "adjudication"}
        answer = client.post(f"{PREFIX}/sync", headers=headers, content=json.dumps({"judgements": [item]}))
        assert answer.status_code == 200
        assert answer.json()["saved"] == [item["uuid"]]
    assert campaign.adjudications().empty
    assert set(campaign.judgements(current=False)["counts_as"]) == {"judgement"}
