"""The Agreement page: what it says in every state of a campaign, and that its cells lead to the pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from annotate.views.results import agreement_charts as charts_agreement
from annotate.views.widgets import display
from collection import Campaign, Judgement, annotator_agreement as agreement
from collection.annotator_agreement import Labels
from collection.campaign.results.agreement import AgreementStudy
from collection.core.records import Role
from collection.measures import parse
from tests.helpers import Opened, words

HOSTILE = "**bold** <img src=x onerror=alert(1)> $x$ :red[r] [link](javascript:alert(1))"


@pytest.fixture
def opened(opened: Opened) -> Opened:
    """Opens the page as somebody who is signed in."""

    def run(campaign: Campaign, role: Role = "manager") -> AppTest:
        return opened(campaign, "agreement", f"a-{role}", role)

    return run


def say(campaign: Campaign, annotator: str, query_id: str, doc_id: str, relevance: int, **more: Any) -> None:
    campaign.judging.judge_many([Judgement(str(uuid4()), annotator, query_id, doc_id, "graded", relevance, **more)])


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """Three annotators: ann and bob on all of topic 1 and some of 2, cat on a little."""
    for annotator, grades in {
        "ann": {"d1": 2, "d2": 0, "d6": 1, "d4": 3},
        "bob": {"d1": 1, "d2": 2, "d6": 1, "d4": 3},
        "cat": {"d1": 2, "d2": 0},
    }.items():
        for doc_id, grade in grades.items():
            say(campaign, annotator, "2" if doc_id == "d4" else "1", doc_id, grade)
    return campaign


def look(app: AppTest, at: str) -> AppTest:
    app.session_state["look"] = at
    app.run()
    return app


def test_with_nothing_graded(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign)
    assert "nothing is graded yet" in words(app)
    assert not app.metric
    assert not app.dataframe


def test_a_campaign_of_one_annotator_is_told_what_to_do(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "ann", "1", "d1", 2)
    app = opened(campaign)
    assert "only **ann** has graded so far" in words(app)
    assert "One annotator per pair is enough" in words(app)
    assert not app.metric
    assert not app.dataframe


def test_annotators_who_never_met(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "ann", "1", "d1", 2)
    say(campaign, "bob", "1", "d2", 2)
    assert "no two of the 2 annotators graded the same pair" in words(opened(campaign))


@pytest.mark.parametrize("role", ["manager", "reader"])
def test_the_numbers_are_the_library_s(opened: Opened, judged: Campaign, role: Role) -> None:
    app = opened(judged, role)
    found = judged.results.agreement.report()
    alpha = agreement.select_value(found.values, "alpha-ordinal")
    assert {m.label: m.value for m in app.metric} == {
        "Annotators": "3",
        "Pairs with 2+ grades": "4 of 4",
        "Observed agreement": f"{agreement.select_value(found.values, 'observed')['value']:.0%}",
        "Overlap of relevant documents": f"{agreement.select_value(found.values, 'overlap', 'binary')['value']:.0%}",
        "Alpha, ordinal": f"{alpha['value']:.3f}",
        "Alpha, nominal": f"{agreement.select_value(found.values, 'alpha-nominal')['value']:.3f}",
    }
    shown = look(app, "Coefficients").dataframe[0].value.set_index("coefficient")
    pd.testing.assert_series_equal(
        shown.loc["alpha-ordinal", ["value", "low", "high"]].astype(float),
        alpha[["value", "low", "high"]].astype(float),
        check_names=False,
    )
    assert f"Krippendorff's alpha: ordinal {alpha['value']:.3f}" in words(app)


def test_annotators_can_be_left_out(opened: Opened, judged: Campaign) -> None:
    app = opened(judged)
    app.multiselect[0].set_value(["ann", "bob"]).run()
    assert app.metric[0].value == "2"
    app.multiselect[0].set_value(["ann"]).run()
    assert "Select other annotators" in words(app)


def test_the_binary_scale_and_its_level(opened: Opened, judged: Campaign) -> None:
    app = look(opened(judged), "Coefficients")
    app.session_state["scale"] = "binary"
    app.selectbox(key="level").set_value(2).run()
    shown = app.dataframe[0].value.set_index("coefficient")["value"]
    wanted = agreement.values(Labels.of(judged.results.agreement.labels()), level=2).query("scale == 'binary'")
    np.testing.assert_allclose(shown, wanted["value"])
    assert "alpha-ordinal" not in shown


def test_a_campaign_with_two_grades(opened: Opened, make_campaign: Callable[..., Campaign]) -> None:
    campaign = make_campaign(grades="0-1")
    for annotator, grades in {"ann": (1, 0, 1), "bob": (1, 1, 1)}.items():
        for doc_id, grade in zip(("d1", "d2", "d6"), grades, strict=True):
            say(campaign, annotator, "1", doc_id, grade)
    app = look(opened(campaign), "Coefficients")
    assert "overlap" in app.dataframe[0].value["coefficient"].tolist()
    for at in ("Annotators", "Topics", "Over time", "Effect on rankings"):
        look(app, at)


@pytest.mark.long
def test_every_look(opened: Opened, judged: Campaign) -> None:
    app = opened(judged)
    rest = look(app, "Annotators").dataframe[0].value
    assert rest["annotator"].tolist() == ["ann", "bob", "cat"]
    topics = look(app, "Topics").dataframe[0].value
    assert topics["query_id"].tolist()[0] == "1"  # topic 2 has one pair, and no value
    assert "and known times are needed" in words(look(app, "Over time"))
    look(app, "Effect on rankings")
    tau = app.dataframe[0].value
    assert tau[["a", "b"]].to_numpy().tolist() == [["ann", "bob"], ["ann", "cat"], ["bob", "cat"]]
    wanted = {(c.a, c.b): c.tau for c in judged.results.agreement.conclusions(parse("nDCG@10"))}
    np.testing.assert_allclose(tau["tau"].astype(float), list(wanted.values()))
    app.text_input[0].set_value("nDGC@10").run()
    assert "did you mean" in words(app)


def test_every_number_is_of_the_campaign_s_scale(opened: Opened, judged: Campaign) -> None:
    """Topic 1 has no grade 3; Gwet's coefficients count it all the same."""
    app = opened(judged)
    app.session_state["by-graded"] = "ac1"
    topics = look(app, "Topics").dataframe[0].value.set_index("query_id")["value"]
    alone = agreement.select_value(judged.results.agreement.report(topics=["1"], resamples=0).values, "ac1")["value"]
    assert topics["1"] == pytest.approx(alone)
    assert (
        alone
        != agreement.select_value(agreement.agreement(judged.results.agreement.labels(topics=["1"])).values, "ac1")[
            "value"
        ]
    )


@pytest.mark.long
def test_many_conclusions_are_drawn_when_they_are_asked_for(opened: Opened, campaign: Campaign) -> None:
    """Seven annotators make 21 pairs; zed met each of the others once only."""
    for annotator in ("a1", "a2", "a3", "a4", "a5", "a6", "zed"):
        for n, doc_id in enumerate(("d1",) if annotator == "zed" else ("d1", "d2", "d6")):
            say(campaign, annotator, "1", doc_id, (n + int(annotator[-1], 36)) % 4)
    app = look(opened(campaign), "Effect on rankings")
    assert "The 20 pairs of annotators with the most pairs in common are shown." in words(app)
    assert len(app.dataframe[0].value) == 20
    assert (app.dataframe[0].value["pairs"] == 3).sum() == 15
    assert "Compare all 21 pairs of annotators" in app.toggle(key="all-couples").label
    app.toggle(key="all-couples").set_value(True).run()
    assert len(app.dataframe[0].value) == 21


def test_windows_of_time_are_drawn(opened: Opened, tmp_path: Path, files: Path) -> None:
    with Campaign.create(tmp_path / "long") as campaign:
        (files / "many.tsv").write_text("".join(f"x{n}\tText {n}.\n" for n in range(40)))
        campaign.imports.import_files(topics=files / "topics.jsonl", documents=[files / "many.tsv"])
        for n in range(40):
            say(campaign, "ann", "1", f"x{n}", n % 4, judged_at=f"2026-01-01T10:{n:02}:00+00:00")
            say(campaign, "bob", "1", f"x{n}", n % 3, judged_at=f"2026-01-01T11:{n:02}:00+00:00")
        app = look(opened(campaign), "Over time")
        assert "Windows with equal numbers of pairs" in words(app)


def test_a_cell_leads_to_its_pairs_and_a_pair_to_its_document(
    monkeypatch: pytest.MonkeyPatch, opened: Opened, judged: Campaign
) -> None:
    judged.judging.judge_many([Judgement(str(uuid4()), "ann", "1", "d2", "graded", 0, seconds=12.4, note=HOSTILE)])
    monkeypatch.setattr(charts_agreement, "selected_cell", lambda event: ("0", "2"))
    app = opened(judged)
    assert "1 pair: one annotator gave grade 0, another gave grade 2." in words(app)
    assert app.dataframe[-1].value["doc_id"].tolist() == ["d2"]
    assert "12 seconds on screen" not in words(app)
    monkeypatch.setattr(display, "selected_row", lambda event, rows: 0)
    app.run()
    said = words(app)
    assert "**ann:** 0 · Not relevant" in said
    assert "**bob:** 2 · Relevant" in said
    assert "12 seconds on screen" in said
    assert HOSTILE in [t.value for t in app.text]  # as text, which is not read as Markdown
    assert any('<p class="text">The text of document 2.</p>' in element.proto.body for element in app.get("html"))


def test_rows_of_topics_and_annotators_lead_to_pairs(
    monkeypatch: pytest.MonkeyPatch, opened: Opened, judged: Campaign
) -> None:
    app = opened(judged)
    monkeypatch.setattr(display, "selected_row", lambda event, rows: 0)
    look(app, "Topics")
    assert "2 pairs: annotators differ in topic 1." in words(app)
    look(app, "Annotators")
    # The others say 1 and 2 of d1 (the lower counts), 2 and 0 of d2.
    assert "1 pair: ann differs from the majority of the others." in words(app)
    assert app.dataframe[-1].value["doc_id"].tolist() == ["d1"]


@pytest.mark.parametrize(
    ("event", "cell"),
    [
        ({"selection": {"cell": [{"first": "0", "second": "2"}]}}, ("0", "2")),
        ({"selection": {"cell": []}}, None),
        ({"selection": {"cell": [{"vlPoint": 1}]}}, None),
        ({"selection": {}}, None),
        (None, None),
    ],
)
def test_what_a_chart_says_is_selected(event: Any, cell: tuple[str, str] | None) -> None:
    assert charts_agreement.selected_cell(event) == cell


@pytest.mark.parametrize(("rows", "wanted"), [([], None), ([2], 2), ([3], None)])
def test_a_row_beyond_the_table_is_none(rows: list[int], wanted: int | None) -> None:
    assert display.selected_row({"selection": {"rows": rows}}, 3) == wanted


def test_hostile_names_are_no_markup(opened: Opened, tmp_path: Path, files: Path) -> None:
    (files / "t.tsv").write_text(f"q*1\t{HOSTILE}\n")
    (files / "d.tsv").write_text(f"d_1\t{HOSTILE}\t{HOSTILE}\nd_2\tTitle\tText.\n")
    with Campaign.create(tmp_path / "hostile", title=HOSTILE) as campaign:
        campaign.imports.import_files(topics=files / "t.tsv", documents=[files / "d.tsv"])
        say(campaign, HOSTILE, "q*1", "d_1", 3)
        app = opened(campaign)
        pages = [app]
        say(campaign, "<b>bob</b>", "q*1", "d_1", 0)
        say(campaign, "<b>bob</b>", "q*1", "d_2", 0)
        say(campaign, HOSTILE, "q*1", "d_2", 1)
        pages += [opened(campaign), look(opened(campaign), "Topics"), look(opened(campaign), "Annotators")]
        for page in pages:
            markdown = [m.value for kind in (page.markdown, page.caption, page.subheader, page.info) for m in kind]
            live = [re.sub(r"\\.", "", m) for m in markdown]
            assert not [m for m in live if "<img" in m or "](javascript" in m or "**bold**" in m or "<b>" in m]


@pytest.mark.long
def test_a_rerun_computes_nothing_again(opened: Opened, judged: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """At ten thousand judgements each of these takes a second or more."""
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        @wraps(original)
        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    for name in ("labels", "report", "conclusions"):
        count(AgreementStudy, name)
    count(agreement, "break_down")
    app = opened(judged)
    views = ("Annotators", "Topics", "Over time", "Effect on rankings", "Grades")
    for view in views:
        look(app, view)
    assert calls["break_down"] == 3
    assert calls["report"] == calls["conclusions"] == 1
    before = calls.copy()
    for view in views:
        look(app, view)
    assert calls == before
