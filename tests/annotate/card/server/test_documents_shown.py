"""Documents as cards and pages show them, and quoted passages in an exported log."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate.application import SCRIPT
from annotate.auth import page_access
from annotate.card.server import document_payload
from annotate.card.server.document_payload import FIELD_CAP, TEXT_CAP
from annotate.views.widgets import widgets
from collection import Campaign, Document, Judgement, Topic
from collection.formats import read_labels
from tests.helpers import Opened, grows_linearly, judged, ok, post, put

PAGE = "<!doctype html><title>The page</title><h1>Wings</h1><script>alert(1)</script><p>1 &lt; 2 <img alt=flap src=x>"
WORDS = "Wings\n\n1 < 2 [flap]"


def first(client: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = post(client, "sync", query_id="1", want=1)["documents"][0]
    assert document["doc_id"] == "d2"
    return document


def test_a_page_comes_as_its_words(client: TestClient, campaign: Campaign) -> None:
    put(campaign, documents=[Document("d2", "", PAGE, {"year": 1960, "url": "https://x.org"})])
    assert first(client) == {
        "doc_id": "d2",
        "title": "The page",
        "form": "text",
        "text": WORDS,
        "html": None,
        "length": len(WORDS),
        "truncated": False,
        "metadata": {"year": 1960, "url": "https://x.org"},
        "images": [],
        "excerpts": None,
        "terms": [],
        "title_terms": [],
    }
    campaign.settings.set_judging_page(form="plain")
    assert first(client)["text"] == PAGE


@pytest.mark.slow
def test_markdown_comes_drawn_where_it_is_not_cut(client: TestClient, campaign: Campaign) -> None:
    put(campaign, documents=[Document("d2", "", "*a* <b>", {"format": "markdown", "images": 3})])
    document = first(client)
    assert (document["form"], document["text"]) == ("markup", "a <b>\n")
    assert document["html"] == "<p><em>a</em> &lt;b&gt;</p>\n"
    assert document["metadata"] == {"images": 3}  # a number of images is no image
    put(campaign, documents=[Document("d2", "", "*a* " * TEXT_CAP, {"format": "markdown"})])
    document = first(client)
    assert (document["form"], document["html"], document["truncated"]) == ("markup", None, True)
    assert document["length"] == 2 * TEXT_CAP  # 'a a a ... a' and a line end
    whole = post(client, "document", query_id="1", doc_id="d2")
    assert (whole["truncated"], len(whole["text"])) == (False, document["length"])
    assert whole["text"].startswith(document["text"])
    assert whole["html"].startswith("<p><em>a</em> <em>a</em>")


def test_a_format_that_nobody_knows_is_metadata_like_any_other(client: TestClient, campaign: Campaign) -> None:
    put(campaign, documents=[Document("d2", "", "a", {"format": "A4", "images": [{"link": "ftp://x"}]})])
    assert first(client)["metadata"] == {"format": "A4"}


def test_fields_of_a_megabyte_are_cut(client: TestClient, campaign: Campaign) -> None:
    word = "W" * (1 << 20)
    images = [{"file": "a.png", "alt": word}]
    document = Document("d2", word, word, {word: word, "list": [word], "n": 1, "images": images})
    put(campaign, [Topic("1", word, word, word)], [document])
    campaign.settings.set_topic_note("1", word)
    answer = post(client, "sync", query_id="1", want=1)
    assert len(json.dumps(answer)) < 40_000
    document = answer["documents"][0]
    assert document["title"] == "W" * FIELD_CAP
    assert document["metadata"]["n"] == 1
    topic = post(client, "topics")["topics"][0]
    assert len(post(client, "guidelines")["notes"]["1"]) == TEXT_CAP
    assert [len(topic[name]) for name in ("title", "description", "narrative")] == [FIELD_CAP, TEXT_CAP, TEXT_CAP]


def test_no_text_is_null_and_an_empty_one_is_empty(client: TestClient, campaign: Campaign) -> None:
    with campaign.store.transaction():
        campaign.store.corpus.add_documents([Document("d2", "T", None)], replace=True)
    for text in (None, ""):
        document = post(client, "document", doc_id="d2")
        assert (document["text"], document["length"], document["truncated"]) == (text, 0, False)
        put(campaign, documents=[Document("d2", "T", "")])


def test_a_text_is_not_cut_within_a_character(client: TestClient, campaign: Campaign) -> None:
    put(campaign, documents=[Document("d2", "", "x" * (TEXT_CAP - 1) + "e\u0301" * 9)])
    document = first(client)
    assert document["text"] == "x" * (TEXT_CAP - 1)
    assert document["length"] == TEXT_CAP + 17


@pytest.mark.slow
def test_long_documents_come_with_the_passages_that_match(client: TestClient, campaign: Campaign) -> None:
    rain = "It rains in the valley. " * 100
    text = rain * 10 + "The running average smooths a series. " + rain
    put(campaign, documents=[Document("d2", "", text)])
    assert first(client)["excerpts"] is None
    campaign.settings.set_judging_page(long="passages", long_from=len(text))
    document = first(client)
    assert len(document["text"]) == TEXT_CAP
    assert len(document["excerpts"]) == 2
    for start, end, words in document["excerpts"]:
        assert text[start:end] == words
    assert document["excerpts"][0][0] == 0
    assert document["excerpts"][1][0] > TEXT_CAP - 1000
    assert "The running average smooths a series." in document["excerpts"][1][2]
    assert post(client, "document", query_id="1", doc_id="d2")["excerpts"] == document["excerpts"]
    assert post(client, "document", doc_id="d2")["excerpts"] is None  # of no topic
    item = judged("d2")
    recent = post(client, "sync", query_id="1", want=1, decisions=[item], recent=True)["recent"]
    assert recent[0]["excerpts"] == document["excerpts"]
    taken = post(client, "take", query_id="2", doc_id="d2")
    assert [(start, text[:end]) for start, end, _ in taken["excerpts"]] == [(0, taken["excerpts"][0][2])]  # no match
    campaign.settings.set_judging_page(long_from=len(text) + 1)
    assert post(client, "document", query_id="1", doc_id="d2")["excerpts"] is None


@pytest.mark.slow
def test_what_a_request_shows_is_cheap(campaign: Campaign) -> None:
    """Long documents that are folded: the work grows with what is shown."""
    campaign.settings.set_judging_page(long="passages")

    def prepare(size: int) -> Callable[[], object]:
        documents = [Document(f"e{i}", "", f"{i} The running average. " * 800) for i in range(size)]
        assert len(document_payload.document_payloads(campaign, documents, "1")) == size
        return lambda: document_payload.document_payloads(campaign, documents, "1")

    assert grows_linearly(prepare, 6)


# ------------------------------------------------------------------------------------------- export


def marked(campaign: Campaign, doc_id: str, *passages: tuple[int, int]) -> None:
    judgement = Judgement(str(uuid4()), "ann", "1", doc_id, "graded", 2, passages=passages)
    assert not campaign.judging.judge_many([judgement]).refused


def test_an_exported_log_quotes_the_passages(campaign: Campaign, tmp_path: Path) -> None:
    short = Document("d3", "", "短い\U0001f600text")
    put(campaign, documents=[Document("d1", "", PAGE), short, Document("d4", "", "was longer")])
    marked(campaign, "d1", (0, 5), (7, 12))
    marked(campaign, "d3", (1, 4))
    marked(campaign, "d4", (0, 3), (4, 10))
    marked(campaign, "d6")
    put(campaign, documents=[Document("d4", "", "was")])
    rows = [
        [{"start": 0, "end": 5, "text": "Wings"}, {"start": 7, "end": 12, "text": "1 < 2"}],
        [{"start": 1, "end": 4, "text": "い\U0001f600t"}],
        [{"start": 0, "end": 3, "text": "was"}, {"start": 4, "end": 10, "text": None}],
        [],
    ]
    ok("export", campaign.directory, "--judgements", tmp_path / "log.jsonl")
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [record["passages"] for record in records] == rows
    ok("export", campaign.directory, "--judgements", tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(encoding="utf-8", newline="") as file:
        assert [json.loads(row["passages"]) for row in csv.DictReader(file)] == rows
    assert "い\U0001f600t" in (tmp_path / "log.csv").read_text(encoding="utf-8")
    assert len(read_labels(tmp_path / "log.jsonl")) == len(read_labels(tmp_path / "log.csv")) == 4


@pytest.mark.slow
def test_a_document_without_a_text_has_no_words_to_quote(campaign: Campaign) -> None:
    marked(campaign, "d1", (0, 3))
    campaign.store.connection.db.conn.execute("UPDATE documents SET text = NULL WHERE doc_id = 'd1'")
    assert campaign.corpus.view.quoted(campaign.store.judgements.table())["passages"].tolist() == [
        [{"start": 0, "end": 3, "text": None}]
    ]


def test_an_empty_log_is_exported(campaign: Campaign, tmp_path: Path) -> None:
    campaign.exports.files.write(judgements=tmp_path / "log.csv")
    assert pd.read_csv(tmp_path / "log.csv").empty


# -------------------------------------------------------------------------------------------- pages


def drawn(app: AppTest) -> str:
    """The document as a page draws it."""
    bodies = [str(element.proto.body) for element in app.get("html")]
    return "".join(body.replace(widgets.HTML_STYLE, "") for body in bodies if 'class="html document"' in body)


def printed(app: AppTest) -> list[str]:
    """The title, and the text that is no HTML."""
    texts = re.findall(r'<(?:p|pre) class="text">(.*?)</p', drawn(app), re.S)
    return [*(str(element.value) for element in app.text), *map(unescape, texts)]


IMAGE = {"file": "a" * 64 + ".png", "alt": '"><script>alert(2)</script>\u202e'}
LINK = {"link": "https://x.org/a.png?b='\"<", "alt": "C"}


def places(campaign: Campaign) -> dict[str, dict[str, Any]]:
    """Every page that prints a document, and the state in which it prints d1 of topic 1."""
    rows = campaign.store.judgements.table(annotator="ann")
    return {
        "my-judgements": {"picked": rows["uuid"].iloc[0]},
        "judging-page": {
            "pair": next(i for i, d in enumerate(campaign.store.pool.with_text(100)["doc_id"]) if d == "d1")
        },
    }


FORMS: dict[str, tuple[Document, list[str], list[str]]] = {
    "a page": (Document("d1", "", PAGE), ["The page", WORDS], []),
    "Markdown": (
        Document("d1", "T", "**a** <img src=x onerror=alert(1)>\u202e ![p](http://y.org)", {"format": "markdown"}),
        ["T"],
        ["<strong>a</strong> &lt;img src=x onerror=alert(1)&gt; p</p>"],
    ),
    "preformatted": (
        Document("d1", "T", "a   b\n  <script>\u202ec", {"format": "preformatted"}),
        ["a   b\n  <script>c"],
        [],
    ),
    "plain": (
        Document("d1", "T\u202e", "**a** <script>alert(1)</script>"),
        ["T", "**a** <script>alert(1)</script>"],
        [],
    ),
    "images": (
        Document("d1", "", "", {"images": [IMAGE, LINK]}),
        [],
        [
            f'<img src="{document_payload.FILES}/{IMAGE["file"]}" '
            'alt="&quot;&gt;&lt;script&gt;alert(2)&lt;/script&gt;"',
            "https://x.org/a.png?b=&#x27;&quot;&lt;</a>: C",
        ],
    ),
    "long": (
        Document("d1", "", "**a** " * widgets.LONG_TEXT, {"format": "markdown"}),
        ["a " * (widgets.LONG_TEXT // 2 - 1) + "a"],
        [],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", ["my-judgements", "judging-page"])
def test_every_page_shows_a_document_as_the_card_does(opened: Opened, campaign: Campaign, view: str, form: str) -> None:
    document, texts, html = FORMS[form]
    put(campaign, documents=[document])
    campaign.people.assignments.update(annotators=2)
    for annotator, grade in (("ann", 3), ("ben", 0)):
        campaign.judging.judge(annotator, "1", "d1", grade)
    app = opened(campaign, view, state=places(campaign)[view])
    for text in texts:
        assert text in printed(app)
    for part in html:
        assert part in drawn(app)
    for bad in ("<script", "<img src=x", "\u202e", "javascript:", "http://y.org"):
        assert bad not in drawn(app)


def test_every_page_that_prints_a_document_does_it_by_the_one_function() -> None:
    """A new place has to be looked at too: texts of documents are printed nowhere else."""
    folder = SCRIPT.parent
    sources = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.py")}
    asking = {name for name, source in sources.items() if ".document(" in source or ".documents(" in source}
    printing = {name for name in asking if "widgets.document(" in sources[name]}
    pages = ("campaign/judging_page.py", "judging/my_judgements.py", "widgets/pairs_table.py")
    assert printing == {f"views/{page}" for page in pages}
    names = ("routes", "unit_routes", "history_routes", "document_payload")
    others = {f"card/server/{name}.py" for name in names}
    others.add("views/results/systems_side_by_side.py")  # that has their titles, as cells of a table
    others.add("views/review/duplicates.py")  # that marks the words that differ, in escaped Markdown
    assert asking - printing <= others
    assert page_access.find_page("judging-page").roles == ("manager",)


def test_words_of_the_topic_come_with_their_places(client: TestClient, campaign: Campaign) -> None:
    """Topic 1 is "running average": in the title, in what is sent of the text, and in the passages behind that."""
    campaign.settings.set_judging_page(long="passages", long_from=1000)
    text = "It runs. " + "It rains. " * (TEXT_CAP // 10) + "Averages smooth it. " + "It rains. " * 200
    put(campaign, documents=[Document("d2", "An AVERAGE", text)])
    document = first(client)
    assert [document["title"][a:b] for a, b in document["title_terms"]] == ["AVERAGE"]
    assert [text[a:b] for a, b in document["terms"]] == ["runs", "Averages", "smooth"]
    assert document["terms"][1][0] > len(document["text"])
    whole = post(client, "document", query_id="1", doc_id="d2")
    assert [text[a:b] for a, b in whole["terms"]] == ["runs", "Averages", "smooth"]
    assert post(client, "document", doc_id="d2")["terms"] == []  # of no topic
