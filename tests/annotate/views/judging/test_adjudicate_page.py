"""The pages Adjudicate and Annotators, and the choice of a rule, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server.routes import PREFIX, JudgingService
from annotate.views.results import annotators_charts as annotators
from annotate.views.widgets import display
from collection import Campaign, Judgement, formats, store
from collection.adjudication import dawid_skene
from collection.core.errors import InputError
from collection.core.records import GradeScale
from tests.conftest import judging_token
from tests.helpers import AS_JSON, Opened, words

NOON = pd.Timestamp("2026-03-02 12:00", tz="UTC")


@pytest.fixture
def differing(campaign: Campaign) -> Campaign:
    """bob and cat differ on d1 (by 3), d2 (by 2) and d4 (by 1), and agree on d6."""
    grades = {("1", "d1"): (0, 3), ("1", "d2"): (3, 1), ("2", "d4"): (1, 0), ("1", "d6"): (2, 2)}
    for (query_id, doc_id), pair in grades.items():
        for who, grade in zip(("bob", "cat"), pair, strict=True):
            note = f"{who} says so" if doc_id == "d1" else None
            j = Judgement(str(uuid4()), who, query_id, doc_id, "graded", grade, seconds=7.5, note=note)
            assert campaign.judging.judge_many([j]).saved
    return campaign


def card(app: AppTest) -> dict[str, Any]:
    """The data that the page gives the card."""
    (found,) = app.get("bidi_component")
    return dict(json.loads(found.proto.json))  # type: ignore[attr-defined]


def adjudicated(campaign: Campaign, doc_id: str, grade: int, who: str = "eve", query_id: str = "1") -> None:
    judgement = Judgement(str(uuid4()), who, query_id, doc_id, "graded", grade, counts_as="adjudication")
    assert campaign.judging.adjudication.adjudicate([judgement]).saved


def test_the_card_gets_the_scale_and_a_token_and_no_text_of_anybody(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "adjudicate")
    data = card(app)
    assert [(each["grade"], each["label"]) for each in data["scale"]] == [
        (0, "Not relevant"), (1, "Related"), (2, "Relevant"), (3, "Perfect"),
    ]  # fmt: skip
    assert data["token"]
    assert (data["annotator"], data["pair"], data["picked"]) == ("ann", None, "")
    assert data["filter"] == {"why": None, "query_id": None, "distance": None, "names": []}
    assert "bob says so" not in json.dumps(data)


def test_the_filter_goes_to_the_card(opened: Opened, differing: Campaign) -> None:
    differing.people.qualification_set.set_pairs([("1", "d6")])
    app = opened(differing, "adjudicate")
    assert app.selectbox(key="topic").options == ["All topics", "1: running average", "2: read a table"]
    assert app.selectbox(key="distance").options[1:] == ["3", "2", "1", "0: a grade and “cannot judge”"]
    app.selectbox(key="why").set_value("disagreement")
    app.selectbox(key="topic").set_value("2")
    app.selectbox(key="distance").set_value(1)
    app.multiselect(key="people").set_value(["cat"]).run()
    assert card(app)["filter"] == {"why": "disagreement", "query_id": "2", "distance": 1, "names": ["cat"]}


def test_the_queue_lists_what_is_left_and_a_row_shows_its_pair(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "adjudicate")
    assert not app.dataframe
    app.session_state["queue-open"] = True
    app.run()
    assert app.dataframe[0].value[["doc_id", "distance", "grades"]].values.tolist() == [
        ["d1", 3, "0 3"], ["d2", 2, "1 3"], ["d4", 1, "0 1"],
    ]  # fmt: skip
    adjudicated(differing, "d1", 2)
    app.selectbox(key="topic").set_value("1").run()
    assert app.dataframe[0].value["doc_id"].tolist() == ["d2"]


def test_a_row_that_is_selected_after_a_restart_is_not_taken_for_one_before(
    opened: Opened, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def select(*_: object, key: str, on_select: Callable[[], None], **__: object) -> None:
        st.session_state[key] = {"selection": {"rows": [1]}}
        on_select()

    picked = []
    for _ in range(2):  # the card in the browser lives on, the session on the server does not
        app = opened(differing, "adjudicate")
        app.session_state["queue-open"] = True
        with monkeypatch.context() as patched:
            patched.setattr(display, "dataframe", select)
            app.run()
        app.run()
        assert card(app)["pair"] == ["1", "d2"]
        picked.append(card(app)["picked"])
    assert len({*picked, ""}) == 3


def without_text(campaign: Campaign, *doc_ids: str) -> None:
    with campaign.store.transaction():
        for doc_id in doc_ids:
            campaign.store.connection.db.conn.execute("UPDATE documents SET text = NULL WHERE doc_id = ?", (doc_id,))
        campaign.store.settings.put("documents_version", campaign.store.settings.get("documents_version", 0) + 1)


def test_the_page_says_how_many_pairs_wait_for_a_text(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "adjudicate")
    assert "text" not in words(app)
    without_text(differing, "d1")
    app.session_state["queue-open"] = True
    app.run()
    assert "1 pair lacks its document text: import the text to adjudicate it." in words(app)
    assert app.dataframe[0].value["doc_id"].tolist() == ["d2", "d4"]
    without_text(differing, "d2", "d4")
    app.run()
    assert "3 pairs lack their document texts" in words(app)
    assert not app.get("bidi_component")


def test_what_other_pages_keep_is_no_pair_of_the_card(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "adjudicate")
    for others in ({"picked": str(uuid4()), "listed": ["x"], "pair": 2}, {"picked": None}):
        for key, value in others.items():
            app.session_state[key] = value
        app.session_state["queue-open"] = True
        app.run()
        assert (card(app)["pair"], card(app)["picked"]) == (None, "")
        assert app.session_state["listed"] == ["x"]


def test_what_is_done_is_listed_newest_first(opened: Opened, differing: Campaign) -> None:
    adjudicated(differing, "d1", 2)
    out = Judgement(str(uuid4()), "eve", "1", "d2", "cannot judge", reason="broken", note="\u202eabc")
    assert differing.judging.adjudication.adjudicate([out]).saved
    app = opened(differing, "adjudicate")
    app.session_state["done-open"] = True
    app.run()
    assert app.dataframe[0].value[["doc_id", "grade", "annotator", "note"]].values.tolist() == [
        ["d2", "cannot judge", "eve", "abc"], ["d1", "2 · Relevant", "eve", ""],
    ]  # fmt: skip


def test_an_empty_queue_says_why(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "adjudicate")
    assert "no pair has judgements by two or more annotators." in words(app)
    assert not app.get("bidi_component")
    for who in ("bob", "cat"):
        campaign.judging.judge(who, "1", "d1", 2)
    app.run()
    assert "annotators agree on 1 pair with two or more judgements." in words(app)
    campaign.judging.judge("dan", "1", "d1", 0)
    app.run()
    assert card(app)
    adjudicated(campaign, "d1", 2)
    app.run()
    assert card(app), "what is done can be looked at and taken back"


def test_a_grade_whose_sentence_begins_with_a_colon_has_a_label() -> None:
    scale = GradeScale({0: ":material/home: no", 1: "Yes: it does", 2: ":"})
    assert [scale.label(grade) for grade in (0, 1, 2)] == ["material/home: no", "Yes", "2"]


def test_annotators_are_shown_with_what_is_out_of_the_ordinary(opened: Opened, campaign: Campaign) -> None:
    for n in range(24):
        j = Judgement(str(uuid4()), "bob", "12"[n % 2], f"d{n % 8 + 1}", "graded", n % 4, seconds=0.2)
        assert campaign.judging.judge_many([j]).saved
    app = opened(campaign, "annotators")
    pace = app.dataframe[0].value
    assert pace["annotator"].tolist() == ["bob"]
    assert pace["seconds"].tolist() == [0.2]
    # eight pairs at a time stand: below twenty nothing is said
    assert "24 of 24" not in words(app)
    assert "No annotator has 20 judgements yet" in words(app)


def test_a_difference_between_two_annotators_is_the_answer(opened: Opened, campaign: Campaign, tmp_path: Path) -> None:
    """The labels have no times; neither they nor a single quick judgement are a speed."""
    documents = "".join(f"n{n}\ttext {n}\n" for n in range(24))
    (tmp_path / "more.tsv").write_text(documents)
    labels = "".join(f"bob,1,n{n},{n % 2 + 1}\ncat,1,n{n},{n % 2}\n" for n in range(24))
    (tmp_path / "labels.csv").write_text(f"annotator,query_id,doc_id,relevance\n{labels}")
    campaign.imports.import_files(documents=[tmp_path / "more.tsv"], labels=tmp_path / "labels.csv")
    app = opened(campaign, "annotators")
    assert words(app).count("bob's grades are 1.00 higher than cat's on average, on 24 common pairs") == 1
    assert "No annotator has unusual results" not in words(app)
    assert not {"last_at", "seconds", "per_hour"} & set(app.dataframe[0].value.columns)
    j = Judgement(str(uuid4()), "bob", "1", "d1", "graded", 1, seconds=0.5)
    assert campaign.judging.judge_many([j]).saved
    [work] = opened(campaign, "annotators").dataframe
    assert work.proto.placeholder == ""
    assert "seconds" in work.value
    assert "per_hour" not in work.value


@pytest.fixture
def hasty(campaign: Campaign, tmp_path: Path) -> Campaign:
    """bob gives one grade to 24 documents within a fifth of a second each, on two days; cat judges three of them."""
    (tmp_path / "more.tsv").write_text("".join(f"n{n}\ttext {n}\n" for n in range(24)))
    campaign.imports.import_files(documents=[tmp_path / "more.tsv"])
    judgements = [
        Judgement(str(uuid4()), who, "1", f"n{n}", "graded", grade, seconds=seconds, judged_at=f"2026-03-0{day}T12:00Z")
        for who, seconds, grade, pairs in (("bob", 0.05, 2, 24), ("cat", 8.0, 1, 3))
        for n in range(pairs)
        for day in [2 if n < 20 else 3]
    ]
    assert len(campaign.judging.judge_many(judgements).saved) == 27
    return campaign


def test_an_annotator_with_unusual_results_is_the_answer(opened: Opened, hasty: Campaign) -> None:
    app = opened(hasty, "annotators")
    assert app.markdown[0].value.replace("\\", "") == "#### 1 of 2 annotators has unusual results: bob."
    (remark,) = [m.value for m in app.markdown if m.value.startswith("- **bob**")]
    assert "24 of 24 judgements took less than 1 second" in remark.replace("\\", "")
    assert "need not be errors" in words(app)


def test_charts_of_annotators_are_of_days_and_of_times(opened: Opened, hasty: Campaign) -> None:
    app = opened(hasty, "annotators")
    app.session_state["look"] = "Judgements per day"
    assert len(app.run().get("vega_lite_chart")) == 1
    app.session_state["look"] = "Time per judgement"
    assert len(app.run().get("vega_lite_chart")) == 1
    assert app.multiselect[0].value == ["bob", "cat"]
    app.multiselect[0].set_value([]).run()
    assert not app.get("vega_lite_chart")


def test_the_chart_of_times_has_running_medians_and_no_time_below_its_axis() -> None:
    times = pd.DataFrame({"annotator": ["ann"] * 3 + ["bob"], "seconds": [4.0, 0.01, 9.0, 2.0], "judged_at": NOON})
    points, lines = annotators.seconds_chart(times).layer
    shown = annotators.seconds_chart(times).data
    assert shown["number"].tolist() == [1, 2, 3, 1]
    assert shown["drawn"].tolist() == [4.0, 0.1, 9.0, 2.0]
    assert shown["median"].tolist() == pytest.approx([4.0, 2.005, 4.0, 2.0])
    assert points.to_dict()["encoding"]["y"]["scale"]["domainMin"] == 0.1
    assert lines.to_dict()["encoding"]["y"]["field"] == "median"


def test_the_chart_of_days_has_the_days_that_there_are() -> None:
    days = pd.DataFrame(
        {"annotator": ["ann", "bob"], "day": pd.to_datetime(["2026-03-02", "2026-03-09"]), "judgements": 3}
    )
    assert annotators.days_chart(days).data["day"].tolist() == ["2026-03-02", "2026-03-09"]


def test_export_settles_by_the_chosen_rule_and_compares_it(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "export")
    assert "Annotators differ on 3 of 4 pairs with several judgements (all topics). The rule" in words(app)
    app.toggle(key="only-finished").set_value(False).run()
    assert "Annotators differ on 3 of 4 pairs with several judgements. The rule decides these." in words(app)
    assert "4 pairs in 2 of 2 topics have a grade; 2 are relevant (grade 1 or more)." in words(app)
    assert "Pairs by grade: 2 with 0, 1 with 1, 1 with 2." in words(app)
    app.selectbox(key="rule-rule").set_value("majority").run()
    app.selectbox(key="rule-majority-ties").set_value("higher").run()
    assert "4 pairs in 2 of 2 topics have a grade; 4 are relevant (grade 1 or more)." in words(app)
    assert "Pairs by grade: 1 with 1, 1 with 2, 2 with 3." in words(app)
    app.selectbox(key="rule-rule").set_value("mean").run()
    assert "Pairs by grade: 1 with 0.5, 1 with 1.5, 2 with 2." in words(app)
    app.selectbox(key="rule-rule").set_value("annotator").run()
    app.selectbox(key="rule-annotator").set_value("cat").run()
    assert "Pairs by grade: 1 with 0, 1 with 1, 1 with 2, 1 with 3." in words(app)
    app.toggle(key="compare").set_value(True).run()
    app.selectbox(key="other-rule").set_value("highest").run()
    assert "The two rules differ on **2** of 4 pairs" in words(app)


def test_export_writes_no_file_before_its_button_is_pressed(
    opened: Opened, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("nothing is written")

    for what in ("labels", "qrels", "judgements", "passages", "pool", "topics", "training"):
        monkeypatch.setattr(formats, f"write_{what}", refuse)
    app = opened(differing, "export")
    assert not app.error
    assert [b.label for b in app.get("download_button")] == [
        "Download qrels.txt", "Download qrels.txt.rule.json", "Download campaign.zip", "Download judgements.jsonl",
        "Download judgements.csv", "Download judgements.parquet", "Download labels.csv", "Download passages.jsonl",
        "Download pool.tsv", "Download topics.jsonl", "Download topics.xml", "Download topics.txt",
        "Download triples.tsv",
    ]  # fmt: skip


def test_export_says_that_a_model_had_not_come_to_rest(
    opened: Opened, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(differing, "export")
    app.selectbox(key="rule-rule").set_value("dawid-skene").run()

    def restless() -> int:
        return sum("did not converge after 0 rounds" in w.value for w in app.warning)

    assert restless() == 0
    monkeypatch.setattr(dawid_skene, "ROUNDS", 0)
    store._shared_cache.cache_clear()  # which keeps grades until the next judgement
    app.run()
    assert restless() == 1
    app.toggle(key="compare").set_value(True).run()
    assert restless() == 2


def test_compare_takes_a_rule_with_its_parameters(opened: Opened, differing: Campaign) -> None:
    app = opened(differing, "compare")
    before = app.dataframe[0].value
    app.selectbox(key="rule-rule").set_value("annotator").run()
    app.selectbox(key="rule-annotator").set_value("cat").run()
    after = app.dataframe[0].value
    # Topic 1, the only one whose pool is judged to the end. cat: d1 3, d2 1; the lower of bob's and cat's: d1 0, d2 1.
    assert before.loc["alpha", "RR"] == 0.5
    assert after.loc["alpha", "RR"] == 1


def test_the_card_s_route_cannot_adjudicate(campaign: Campaign) -> None:
    """A browser's judgement is the annotator's own, whatever it calls itself."""
    service = JudgingService(campaign.directory)
    with TestClient(Starlette(routes=service.routes(), lifespan=service.lifespan)) as client:
        headers = AS_JSON | {TOKEN_HEADER: judging_token(campaign)}
        handed = client.post(f"{PREFIX}/sync", headers=headers, content=json.dumps({"query_id": "1", "want": 1})).json()
        item = {"uuid": str(uuid4()), "query_id": "1", "doc_id": handed["documents"][0]["doc_id"], "kind": "graded"}
        item |= {"relevance": 2, "counts_as": "adjudication"}
        answer = client.post(f"{PREFIX}/sync", headers=headers, content=json.dumps({"decisions": [item]}))
        assert answer.status_code == 200
        assert answer.json()["saved"] == [item["uuid"]]
    assert campaign.log.adjudications().empty
    assert set(campaign.store.judgements.table(current=False)["counts_as"]) == {"judgement"}
