"""Guidelines and notes: safe HTML, the card's routes, and the Guidelines and My judgements pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, strategies as st
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.card.server.lenient import LONGEST_NOTE
from annotate.views.widgets import display
from collection import Campaign, Judgement
from collection.documents.rendering.markup import to_html
from tests.helpers import Opened, judged, post

HARMLESS = {
    *("h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "em", "strong", "s", "code", "pre", "blockquote", "hr", "br", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class Tags(HTMLParser):
    """Every element of a text with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


# ---------------------------------------------------------------------------------------- Markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One\n\n## Two\n\n##### Five", "<h3>One</h3>\n<h4>Two</h4>\n<h6>Five</h6>\n"),
        ("**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>\n"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"),
        ('![a "cat"](https://x.org/c.png)', "<p>a &quot;cat&quot;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](&#106;avascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](data:text/html,y)", "<p>[x](data:text/html,y)</p>\n"),
        ("[x](//x.org)", "<p>[x](//x.org)</p>\n"),
        ("a\u202eb &#x202e;c", "<p>ab c</p>\n"),
        ("", ""),
    ],
)
def test_markdown_becomes_html_that_can_do_nothing(text: str, html: str) -> None:
    assert to_html(text) == html


@pytest.mark.parametrize("address", ["https://x.org/a?b=1", "http://x.org", "mailto:ann@x.org"])
def test_links_lead_out_in_a_window_of_their_own(address: str) -> None:
    link = {"href": address, "target": "_blank", "rel": "noopener noreferrer"}
    assert Tags(to_html(f"[x]({address})")).found[1:] == [("a", link)]
    assert Tags(to_html(f"<{address.removeprefix('mailto:')}>")).found[1:] == [("a", link)]


PIECES = (
    *"<>)\"'`\n|* \t\\\u202e",
    *("![", "](", "[x]: ", "javascript:", "data:", "https://x.org", "&#106;", "&lt;", "# "),
    *("<a href=", "onerror=", "<!--", "-->", "<script>", "<img src=x>"),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
@pytest.mark.long
def test_whatever_is_written_stays_harmless(text: str) -> None:
    html = to_html(text)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", html)
    for tag, attributes in Tags(html).found:
        assert tag in HARMLESS
        if tag == "a":
            assert re.match(r"https?://|mailto:", attributes.pop("href") or "", re.I)
            assert attributes.pop("target") == "_blank"
            assert attributes.pop("rel") == "noopener noreferrer"
        assert set(attributes) <= {"title", "class", "start", "style"}
        assert re.fullmatch(r"(text-align:(left|right|center))?", attributes.get("style") or "")


# ------------------------------------------------------------------------------------------ routes


def test_the_card_gets_guidelines_as_html_and_the_notes_of_its_topics(client: TestClient, campaign: Campaign) -> None:
    assert post(client, "guidelines") == {"html": "", "notes": {}}
    campaign.settings.set_guidelines("Read **all**. <b>")
    campaign.settings.set_topic_note("1", " <i>Both</i> count. ")
    campaign.settings.set_topic_note("2", "Not yours.")
    campaign.people.accounts.add("ben", "annotator")
    campaign.people.assignments.assign(["2"], ["ben"])
    written = post(client, "guidelines")
    assert written == {
        "html": "<p>Read <strong>all</strong>. &lt;b&gt;</p>\n",
        "notes": {"1": "<i>Both</i> count."},
    }


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("half of it", "half of it"),
        ("  two\nlines \n", "two\nlines"),
        ("x" * 3000, "x" * LONGEST_NOTE),
        ("half a \ud83d pair", "half a \ufffd pair"),
        ("nul\0", "nul"),
        ("   ", None),
        (None, None),
        (7, None),
        (["a"], None),
    ],
)
def test_a_note_is_kept_and_no_odd_one_costs_a_judgement(
    client: TestClient, campaign: Campaign, sent: Any, kept: str | None
) -> None:
    post(client, "sync", query_id="1", want=3)
    item = judged("d2", 2, note=sent)
    assert post(client, "sync", odd=not isinstance(sent, str | None), decisions=[item])["saved"] == [item["uuid"]]
    note = campaign.store.judgements.table()["note"].iloc[0]
    assert (note if isinstance(note, str) else None) == kept


@pytest.mark.slow
def test_recent_and_found_documents_bring_their_note(client: TestClient) -> None:
    post(client, "sync", query_id="1", want=3)
    cannot = judged("d1", None, kind="cannot judge", reason="no text", note="Empty.")
    post(client, "sync", decisions=[judged("d2", 3, note="All."), cannot])
    recent = post(client, "sync", query_id="1", want=3, recent=True)["recent"]
    assert [(r["doc_id"], r["note"]) for r in recent] == [("d1", "Empty."), ("d2", "All.")]
    whole = post(client, "document", query_id="1", doc_id="d1", said=True)
    said = {"kind": "cannot judge", "relevance": None, "reason": "no text", "note": "Empty."}
    assert whole["said"] == said | {"flagged": False, "passages": []}
    assert post(client, "document", query_id="1", doc_id="d6", said=True)["said"] is None
    assert "said" not in post(client, "document", query_id="1", doc_id="d1")


def test_an_adjudication_is_not_among_what_one_can_undo(client: TestClient, campaign: Campaign) -> None:
    adjudication = Judgement(str(uuid4()), "ann", "1", "d1", "graded", 3, counts_as="adjudication")
    assert campaign.judging.judge_many([adjudication]).saved
    assert post(client, "sync", query_id="1", want=1, recent=True)["recent"] == []
    assert post(client, "document", query_id="1", doc_id="d1", said=True)["said"] is None


# ------------------------------------------------------------------------------------------- pages


def html_of(app: AppTest) -> str:
    return "".join(str(element.proto.body) for element in app.get("html"))


def texts(app: AppTest) -> list[str]:
    return [element.value for kind in (app.markdown, app.caption, app.info, app.text) for element in kind]


def test_the_manager_writes_and_everybody_reads(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "guidelines")
    assert any("There are no guidelines yet" in text for text in texts(app))
    assert app.button(key="save").disabled
    app.text_area(key="guidelines-text").set_value("# Rules\n<b>no</b> markup").run()
    assert "<h3>Rules</h3>" in html_of(app)  # before it is saved
    assert campaign.settings.guidelines() == ""
    app.button(key="save").click().run()
    assert campaign.settings.guidelines() == "# Rules\n<b>no</b> markup"
    campaign.settings.set_topic_note("1", "**Both** count.")
    for name, role in (("ben", "annotator"), ("rita", "reader")):
        app = opened(campaign, "guidelines", name, role)
        assert "<h3>Rules</h3>" in html_of(app)
        assert "&lt;b&gt;no&lt;/b&gt;" in html_of(app)
        assert "**Both** count." in texts(app)
        assert not app.text_area
        assert not [button for button in app.button if button.key != "sign-out"]


def test_what_somebody_saved_meanwhile_is_not_written_over_unseen(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "guidelines")
    app.text_area(key="guidelines-text").set_value("Mine.").run()
    campaign.settings.set_guidelines("Theirs.")
    app.run()
    assert "Somebody else changed the guidelines" in app.warning[0].value
    app.button(key="theirs").click().run()
    assert not app.warning
    assert app.text_area(key="guidelines-text").value == "Theirs."
    app.text_area(key="guidelines-text").set_value("x" * 200_001).run()
    app.button(key="save").click().run()
    assert "200,000" in app.error[0].value
    assert campaign.settings.guidelines() == "Theirs."


def test_an_annotator_reads_the_notes_of_their_topics(opened: Opened, campaign: Campaign) -> None:
    campaign.people.accounts.add("ben", "annotator")
    campaign.people.accounts.add("cara", "annotator")
    campaign.people.assignments.assign(["2"], ["cara"])
    campaign.settings.set_topic_note("1", "Of the first.")
    campaign.settings.set_topic_note("2", "Of the second.")
    seen = texts(opened(campaign, "guidelines", "ben", "annotator"))
    assert "Of the first." in seen
    assert "Of the second." not in seen


def select(app: AppTest, row: int) -> AppTest:
    """Select a row of My judgements."""
    app.session_state["picked"] = app.session_state["listed"][row]
    return app.run()


def save(app: AppTest) -> None:
    next(button for button in app.button if button.label == "Save").click().run()


def test_my_judgements_changes_a_note(opened: Opened, campaign: Campaign) -> None:
    campaign.judging.judge_many(
        [
            Judgement(str(uuid4()), "ann", "1", "d1", "graded", 2, note="Half."),
            Judgement(str(uuid4()), "ann", "1", "d2", "cannot judge", reason="no text"),
        ]
    )
    app = select(opened(campaign, "my-judgements"), 1)
    assert app.dataframe[0].value["note"].tolist()[1] == "Half."
    assert app.text_area[0].value == "Half."
    save(app)
    assert "unchanged" in app.info[0].value
    app.text_area[0].set_value("All of it.")
    save(app)
    row = campaign.store.judgements.table(annotator="ann").set_index("doc_id").loc["d1"]
    assert (row["relevance"], row["note"]) == (2, "All of it.")
    app = select(opened(campaign, "my-judgements"), 1)
    assert app.text_area[0].value == ""
    app.text_area[0].set_value("Only a picture.")
    save(app)
    row = campaign.store.judgements.table(annotator="ann").set_index("doc_id").loc["d2"]
    assert (row["kind"], row["reason"], row["note"]) == ("cannot judge", "no text", "Only a picture.")


def test_my_judgements_shows_others_only_where_judging_is_not_blind(opened: Opened, campaign: Campaign) -> None:
    campaign.judging.judge_many(
        [
            Judgement(str(uuid4()), "ben", "1", "d2", "graded", 3, note="Mine is higher."),
            Judgement(str(uuid4()), "ann", "1", "d2", "graded", 1),
        ]
    )
    app = select(opened(campaign, "my-judgements"), 0)
    assert [s.value for s in app.subheader] == ["Topic 1: running average"]
    assert len(app.dataframe) == 1
    campaign.people.assignments.update(blind=False)
    app = select(opened(campaign, "my-judgements"), 0)
    said, ranks = app.dataframe[1].value, app.dataframe[2].value
    assert said[["annotator", "grade", "note"]].to_numpy().tolist() == [["ben", "3 · Perfect", "Mine is higher."]]
    assert ranks[["run", "rank"]].to_numpy().tolist() == [["beta", 1], ["alpha", 2]]


def test_my_judgements_are_found_by_topic_grade_and_words(opened: Opened, campaign: Campaign) -> None:
    campaign.judging.judge_many(
        [
            Judgement(str(uuid4()), "ann", "1", "d1", "graded", 2),
            Judgement(str(uuid4()), "ann", "1", "d2", "graded", 0),
            Judgement(str(uuid4()), "ann", "2", "d4", "graded", 2),
        ]
    )
    app = opened(campaign, "my-judgements")

    def listed() -> list[str]:
        return list(app.dataframe[0].value["doc_id"])

    assert listed() == ["d4", "d2", "d1"]
    app.selectbox[0].set_value("1").run()
    assert listed() == ["d2", "d1"]
    app.selectbox[1].set_value("2 · Relevant").run()
    assert listed() == ["d1"]
    app.selectbox[0].set_value(None).run()
    assert listed() == ["d4", "d1"]
    app.text_input[0].set_value("TITLE document 4").run()
    assert listed() == ["d4"]
    assert "1 of 3 judgements, newest first." in [c.value for c in app.caption]


def test_my_judgements_of_what_could_not_be_judged(opened: Opened, campaign: Campaign) -> None:
    """The reason stays until a grade is chosen. Nobody else has judged the document, and no run has it."""
    campaign.people.assignments.update(blind=False)
    campaign.judging.judge_many([Judgement(str(uuid4()), "ann", "1", "d8", "cannot judge", reason="no text")])
    app = select(opened(campaign, "my-judgements"), 0)
    assert r"reason\: no text" in [c.value for c in app.caption]
    said = [m.value for m in app.markdown]
    assert "Nobody else has judged this pair." in said
    assert "No run retrieved this document." in said
    save(app)
    assert [e.value for e in app.error] == ["Choose a grade, or change the note or the flag."]
    app.radio[0].set_value(1)
    save(app)
    row = campaign.store.judgements.table(annotator="ann").iloc[0]
    assert (row["kind"], row["relevance"]) == ("graded", 1)
    assert app.expander[-1].label == "History of this pair (2 entries)"


def test_marked_passages_of_a_document_that_was_changed(opened: Opened, campaign: Campaign, tmp_path: Path) -> None:
    marked = Judgement(str(uuid4()), "ann", "1", "d1", "graded", 2, passages=((12, 20),))
    assert campaign.judging.judge_many([marked]).saved
    (tmp_path / "d.tsv").write_text("d1\tshort\n")
    campaign.imports.import_files(documents=[tmp_path / "d.tsv"], replace=True)
    app = select(opened(campaign, "my-judgements"), 0)
    assert "The document has changed and no longer contains the marked passages." in [t.value for t in app.text]


def test_a_judged_document_without_a_text(opened: Opened, campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "c.run").write_text("1 Q0 elsewhere 1 2.0 c\n")
    (tmp_path / "l.csv").write_text("annotator,query_id,doc_id,relevance\nann,1,elsewhere,2\n")
    campaign.imports.import_files(runs=[tmp_path / "c.run"], labels=tmp_path / "l.csv")
    app = select(opened(campaign, "my-judgements"), 0)
    assert [i.value for i in app.info] == ["The text of this document has not been imported."]


@pytest.mark.parametrize(
    ("page", "column", "value", "unit"),
    [("guidelines", "note", " Only for Windows. ", "note"), ("loop", "mode", "closed", "topic")],
)
def test_notes_and_modes_of_topics_are_edited_in_a_table(
    opened: Opened,
    campaign: Campaign,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    column: str,
    value: str,
    unit: str,
) -> None:
    """Only what was changed is saved; spaces around it are not."""
    monkeypatch.setattr(
        display, "data_editor", lambda frame, **_: frame.assign(**{column: frame[column].mask([False, True], value)})
    )
    button = opened(campaign, page).button(key=f"save-{unit}s")
    assert (button.label, button.disabled) == (f"Save 1 {unit}", False)
    app = button.click().run()
    assert app.button(key=f"save-{unit}s").disabled
    if column == "note":
        assert campaign.store.corpus.topic_notes() == {"2": "Only for Windows."}
    else:
        assert campaign.settings.own_modes() == {"1": None, "2": "closed"}
