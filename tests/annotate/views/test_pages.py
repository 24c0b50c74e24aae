"""Every page, with nothing in the campaign, with everything, and with hostile texts; without a browser."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rispy
import streamlit as st
from streamlit.testing.v1 import AppTest

from annotate.application import SCRIPT
from annotate.auth.page_access import PAGES
from annotate.auth.session import DIRECTORY_VARIABLE
from annotate.auth.tokens import Tokens
from annotate.views.widgets import widgets
from collection import Campaign
from collection.core.errors import CampaignError
from collection.core.records import Topic
from tests.collection.formats.test_references import ENDNOTE, NBIB
from tests.conftest import keeping_main_module
from tests.helpers import PATIENCE, Opened, put
from tests.pdf_files import write_pdf

VIEWS = [page.url_path for page in PAGES]
HOSTILE = "**bold** <img src=x onerror=alert(1)> $x$ :red[r] :material/castle: \u202e [link](javascript:alert(1))"
ALIVE = ("<img", "](javascript", "**bold**", "\u202e")


def say(campaign: Campaign, query_id: str, doc_id: str, relevance: int) -> None:
    campaign.judging.judge("ann", query_id, doc_id, relevance)


@pytest.mark.parametrize("view", VIEWS)
def test_a_campaign_in_the_middle(opened: Opened, campaign: Campaign, view: str) -> None:
    say(campaign, "1", "d1", 2)
    say(campaign, "2", "d4", 0)
    app = opened(campaign, view)
    assert not app.error


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS)
def test_hostile_texts_are_not_markup(opened: Opened, tmp_path: Path, files: Path, view: str) -> None:
    (files / "t.tsv").write_text(f"q*1\t{HOSTILE}\n")
    (files / "d.tsv").write_text(f"d_1\t{HOSTILE}\t{HOSTILE}\n")
    (files / "r.run").write_text("q*1 Q0 d_1 1 1.0 <b>:material/castle:</b>\n")
    with Campaign.create(tmp_path / "hostile", title=HOSTILE) as campaign:
        campaign.imports.import_files(topics=files / "t.tsv", documents=[files / "d.tsv"], runs=[files / "r.run"])
        campaign.people.pools.add("depth", depth=1)
        say(campaign, "q*1", "d_1", 3)
        app = opened(campaign, view)
        said = [m.value for kind in (app.markdown, app.caption, app.title, app.subheader, app.info) for m in kind]
        said += [m.label for kind in (app.button, app.checkbox, app.expander, app.metric, app.radio) for m in kind]
        said += [m.label for kind in (app.selectbox, app.multiselect, app.tabs, app.toggle) for m in kind]
        live = [re.sub(r"\\.", "", m) for m in said]  # what is left when escaped characters are gone
        assert not [m for m in live if any(sign in m for sign in ALIVE)]
        assert not [m for m in said if ":material/castle:" in m.replace("\\", "")]  # Streamlit reads escaped ones, too


def test_a_hostile_topic_is_no_markup_on_recall(opened: Opened, tmp_path: Path, files: Path) -> None:
    (files / "t.tsv").write_text(f"**q**\t{HOSTILE}\n")
    (files / "d.tsv").write_text("d1\tA text.\nd2\tAnother.\n")
    with Campaign.create(tmp_path / "hostile", title=HOSTILE) as campaign:
        campaign.imports.import_files(topics=files / "t.tsv", documents=[files / "d.tsv"])
        campaign.settings.set_loop(mode="loop")
        say(campaign, "**q**", "d1", 3)
        app = opened(campaign, "recall")
        for topic in ("**q**", "**bold**"):
            app.query_params["topic"] = topic
            app.run()
            texts = [m.value for kind in (app.markdown, app.caption, app.subheader, app.error) for m in kind]
            live = [re.sub(r"\\.", "", m) for m in texts]
            assert not [m for m in live if "<img" in m or "](javascript" in m or "**bold**" in m or "**q**" in m]
        assert app.error


def test_overview_counts_what_there_is(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "1", "d1", 2)
    app = opened(campaign, "overview")
    assert {m.label: m.value for m in app.metric} == {
        "Topics": "2",
        "Documents": "8",
        "Runs": "2",
        "Pairs in the pool": "6",
        "Pooled pairs judged": "1",
    }
    assert any("5 of 6 pairs are left" in m.value for m in app.markdown)


@pytest.mark.parametrize(
    ("done", "goal", "shown"), [(11, 12, "1 of 12 lists left."), (0, 1, "1 of 1 list left."), (2, 2, "No lists left.")]
)
def test_what_is_left_is_counted(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, done: int, goal: int, shown: str
) -> None:
    written: list[str] = []
    monkeypatch.setattr(widgets.st, "write", written.append)
    monkeypatch.setattr(widgets, "page_link", lambda *_: None)
    widgets._start_judging(campaign, done, goal, "list")
    assert written[0].startswith(shown)


def test_pool_is_seen_before_it_is_added(opened: Opened, make_campaign: Callable[..., Campaign]) -> None:
    campaign = make_campaign(pooled=False)
    app = opened(campaign, "pool")
    app.number_input(key="depth-depth").set_value(2).run()
    assert {m.label: m.value for m in app.metric}["New pairs"] == "6"
    assert any("This adds 6 pairs." in m.value for m in app.markdown)
    assert campaign.store.judgements.counts()["pool"] == 0
    app.button(key="add").click().run()
    assert campaign.store.judgements.counts()["pool"] == 6
    assert app.button(key="add").disabled


def test_compare_shows_the_library_s_values_and_explains_a_wrong_measure(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "1", "d2", 1)
    app = opened(campaign, "compare")
    table = app.dataframe[0].value
    assert table.loc["beta", "RR"] == 1.0
    assert table.loc["alpha", "RR"] == 0.5
    app.multiselect[0].set_value(["nDGC@10", "RR"]).run()
    assert "did you mean" in app.error[0].value
    columns = app.dataframe[0].value.columns  # what can be read is shown all the same
    assert columns[0] == "RR"
    assert "nDCG@10" not in columns


def test_export_offers_what_the_command_writes(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "1", "d1", 2)
    app = opened(campaign, "export")
    answer = r"#### 1 pair in 1 of 2 topics has a grade; 1 is relevant \(grade 1 or more\)\."
    assert answer in [m.value for m in app.markdown]


@pytest.fixture
def buttons(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The content of a page's download buttons, by their keys."""
    found: dict[str, Any] = {}

    def button(label: str, data: Any, *_: str, **more: Any) -> None:
        found[more.get("key", label)] = data

    monkeypatch.setattr(st, "download_button", button)
    return found


@pytest.mark.long
@pytest.mark.parametrize("file", ["backups", "export", "compare"])
def test_a_drawn_download_is_refused_once_the_role_has_changed(
    opened: Opened, campaign: Campaign, buttons: dict[str, Any], file: str
) -> None:
    campaign.people.accounts.add("boss", "manager")
    say(campaign, "1", "d1", 2)
    opened(campaign, file)
    deferred = [content for content in buttons.values() if callable(content)]
    assert deferred
    for content in deferred:
        content()
    campaign.people.accounts.set_role("ann", "annotator")
    for content in deferred:
        with pytest.raises(CampaignError, match="your role has changed"):
            content()
    campaign.people.accounts.set_role("ann", "manager")
    campaign.people.accounts.end_sessions("ann")
    for content in deferred:
        with pytest.raises(CampaignError, match="session has ended"):
            content()


def test_a_work_list_is_handed_out_and_taken_back(opened: Opened, campaign: Campaign, buttons: dict[str, Any]) -> None:
    def reserve(app: AppTest, annotator: str) -> AppTest:
        app.selectbox(key="work-list-annotator").set_value(annotator)
        app.segmented_control(key="work-list-format").set_value(".csv")
        return app.button(key="work-list-reserve").click().run()

    campaign.people.accounts.add("ben", "annotator")
    say(campaign, "1", "d1", 2)
    app = opened(campaign, "export")
    assert app.number_input(key="work-list-pairs").value == 50
    assert app.selectbox(key="work-list-annotator").options == ["ann", "ben"]
    app.number_input(key="work-list-pairs").set_value(2)
    reserve(app, "ben")
    assert "2 pairs reserved for ben." in [m.value for m in app.markdown]
    rows = list(csv.DictReader(io.StringIO(buttons["work-list"].decode())))
    assert [row["annotator"] for row in rows] == ["ben", "ben"]
    text = buttons["work-list"].decode().replace(',"","0:', ',"1","0:')
    app = upload(opened(campaign, "import"), labels=("ben.csv", text))
    assert app.text[0].value == "ben.csv: 2 judgements from a work list by 1 annotator (2 new)"
    # The refusals of the command line.
    app = upload(opened(campaign, "import"), labels=("ben.csv", text.replace('"ben"', '"ann"')))
    assert "expected a pair that is assigned to" in app.error[0].value


def test_a_loop_over_the_whole_collection_hands_out_work_lists_before_its_first_judgement(
    opened: Opened, tmp_path: Path, files: Path, buttons: dict[str, Any]
) -> None:
    (files / "t.tsv").write_text("1\twing flow\n")
    (files / "d.tsv").write_text("d1\tWing\tFlow past a wing.\nd2\tSlab\tHeat in a slab.\n")
    with Campaign.create(tmp_path / "c") as campaign:
        campaign.imports.import_files(topics=files / "t.tsv", documents=[files / "d.tsv"])
        campaign.settings.set_loop(mode="loop")
        campaign.people.accounts.add("ben", "annotator")
        app = opened(campaign, "export")
        app.selectbox(key="work-list-annotator").set_value("ben")
        app.segmented_control(key="work-list-format").set_value(".csv")
        app.button(key="work-list-reserve").click().run()
        assert {row["doc_id"] for row in csv.DictReader(io.StringIO(buttons["work-list"].decode()))} == {"d1", "d2"}
        assert not opened(campaign, "export", "rae", "reader").tabs


def test_only_managers_hand_out_work_lists(opened: Opened, campaign: Campaign) -> None:
    say(campaign, "1", "d1", 2)
    for role, offered in (("manager", True), ("reader", False)):
        app = opened(campaign, "export", role, role)
        assert ("Work lists" in [tab.label for tab in app.tabs]) == offered
    campaign.settings.set_judging_page(task="list")
    assert "Work lists" not in [tab.label for tab in opened(campaign, "export").tabs]


def test_clicks_are_there_to_export(opened: Opened, campaign: Campaign, files: Path, buttons: dict[str, Any]) -> None:
    app = opened(campaign, "export")
    assert "Clicks" not in [tab.label for tab in app.tabs]
    (files / "march.csv").write_text("query_id,doc_id,rank,shown,clicked\n1,d1,1,10,4\n1,d1,2,10,2\n1,d2,2,10,1\n")
    campaign.imports.import_files(clicks=files / "march.csv")
    there = [m.value for m in opened(campaign, "import").markdown]
    assert r"Click logs: march\.csv (3 rows)." in there
    app = opened(campaign, "export")
    assert any(r"3 rows from march\.csv." in m.value for m in app.markdown)
    campaign.corpus.clicks.export(table=files / "clicks.tsv")
    assert buttons["clicks"]() == (files / "clicks.tsv").read_bytes()


@pytest.mark.long
def test_machine_labels_are_exported_with_what_made_them(
    opened: Opened, campaign: Campaign, files: Path, buttons: dict[str, Any]
) -> None:
    assert "Machine labels" not in [tab.label for tab in opened(campaign, "export").tabs]
    campaign.machine_labels.sets.label_by_rule("contains-string", {"string": "document 2"}, name="weak 2*")
    campaign.machine_labels.sets.create("other", "rule", {})
    app = opened(campaign, "export")
    assert not app.warning  # not looked for before the section is open
    for ending in (".txt", ".csv", ".jsonl"):
        app.session_state["section"] = "Machine labels"
        app.segmented_control(key="machine-labels-format").set_value(ending).run()
        campaign.machine_labels.files.export("weak 2*", files / f"there{ending}")
        assert buttons["machine-labels"]() == (files / f"there{ending}").read_bytes()
        report = json.loads(buttons["machine-labels-report"]())
        assert (report["label_set"], report["labels"]) == ("weak 2*", 6)
    said = [each.value for each in app.warning]
    assert said[0].startswith("The difference between these labels and people's grades is unknown")
    assert len(said) == len(report["warnings"])
    app.selectbox(key="machine-labels-set").set_value("other").run()
    assert json.loads(buttons["machine-labels-report"]())["label_set"] == "other"


@pytest.mark.long
def test_training_data_by_a_rule_and_a_number(
    opened: Opened, campaign: Campaign, files: Path, buttons: dict[str, Any]
) -> None:
    say(campaign, "1", "d2", 0)
    app = opened(campaign, "export")
    assert any("there are none yet" in m.value for m in app.markdown)
    assert "triples" not in buttons
    say(campaign, "1", "d1", 2)
    say(campaign, "1", "d6", 0)
    app = opened(campaign, "export")
    assert not any("triple for" in m.value for m in app.markdown)  # not made before the section is open
    app.session_state["section"] = "Training data"
    app.run()
    assert app.selectbox(key="negatives").value == "judged"
    assert "**1 triple for 1 of 1 relevant documents.**" in [m.value for m in app.markdown]
    assert not app.warning
    assert len(buttons["triples"]().splitlines()) == 2
    app.number_input(key="negatives-each").set_value(2).run()
    assert sorted(buttons["triples"]().splitlines()[1:]) == [b"1\td1\td2", b"1\td1\td6"]
    app.number_input(key="negatives-each").set_value(3).run()
    assert [w.value for w in app.warning] == [
        "1 of 1 relevant documents have fewer than 3 negatives (in 1 of 1 topics)."
    ]
    app.number_input(key="negatives-each").set_value(2).run()
    app.selectbox(key="negatives").set_value("unjudged-random").run()
    campaign.exports.training_data.export(triples=files / "t.tsv", negatives="unjudged-random", count=2)
    assert buttons["triples"]() == (files / "t.tsv").read_bytes()


def test_without_runs_no_rule_looks_at_ranks(opened: Opened, tmp_path: Path, files: Path) -> None:
    (files / "t.tsv").write_text("1\tone\n")
    (files / "q.txt").write_text("1 0 d1 2\n1 0 d2 0\n")
    with Campaign.create(tmp_path / "bare") as bare:
        bare.imports.import_files(topics=files / "t.tsv", qrels=files / "q.txt")
        app = opened(bare, "export")
        assert app.selectbox(key="negatives").options == ["Judged", "Random, including unjudged"]


def test_a_page_that_fails_fails_its_test(opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(widgets, "documentation_link")
    with pytest.raises(AssertionError):
        opened(campaign, "pool")


def test_a_page_leaves_the_main_module_to_processes_that_start_later(opened: Opened, campaign: Campaign) -> None:
    main = sys.modules["__main__"]
    with keeping_main_module():
        opened(campaign, "overview")
        assert sys.modules["__main__"] is not main, "Streamlit's script takes its place"
    assert sys.modules["__main__"] is main


def test_signed_out_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, campaign: Campaign) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(campaign.directory))
    monkeypatch.setattr(Tokens, "read_cookie", lambda self, value: None)
    app = AppTest.from_file(str(SCRIPT), default_timeout=PATIENCE).run()
    assert app.title[0].value == "Sign in"
    assert not app.metric


def test_the_tour_stays_hidden_once_it_is_hidden(opened: Opened, campaign: Campaign) -> None:
    def shows_tour(app: AppTest) -> bool:
        return any("tour of the demo" in m.value for m in app.markdown)

    assert not shows_tour(opened(campaign, "overview"))
    campaign.settings.set_tour(True)
    app = opened(campaign, "overview")
    assert shows_tour(app)
    app.button(key="hide-tour").click().run()
    assert not shows_tour(app)
    assert not shows_tour(opened(campaign, "overview"))


@pytest.mark.parametrize(("shown", "stop", "words"), [(True, "5", "Tour, 5 of 9"), (True, "10", ""), (False, "5", "")])
def test_a_page_of_the_tour_names_the_stop(
    opened: Opened, campaign: Campaign, shown: bool, stop: str, words: str
) -> None:
    campaign.settings.set_tour(shown)
    app = opened(campaign, "compare")
    app.query_params["tour"] = stop
    app.run()
    assert words in " ".join(c.value for c in app.caption)
    assert bool(words) == ("Tour" in " ".join(c.value for c in app.caption))
    links = " ".join(str(h.value) for h in app.get("html"))
    assert ('href="/system-order?tour=6"' in links) == bool(words)
    assert not app.toast  # it would cover headings and buttons


def test_the_next_step_is_a_button_that_leads_to_its_page(opened: Opened, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "empty") as empty:
        app = opened(empty, "recall")
        app.button(key="next-step").click().run()
        assert app.title[0].value == "Import"
        assert "next-step" not in [button.key for button in app.button]  # the page does not link to itself


def test_overview_has_one_primary_button_at_each_stage(
    opened: Opened, make_campaign: Callable[..., Campaign], tmp_path: Path
) -> None:
    def primary(campaign: Campaign) -> list[str]:
        app = opened(campaign, "overview")
        return [button.label for button in app.button if button.proto.type == "primary"]

    with Campaign.create(tmp_path / "empty") as empty:
        assert empty.results.overview.next_step() == ("import", "Import topics, documents and runs.")
        assert primary(empty) == ["Import files"]
        assert not opened(empty, "overview").metric  # five zeros say nothing
    campaign = make_campaign("stages", pooled=False)
    assert primary(campaign) == ["Choose the pool"]
    campaign.people.pools.add("depth", depth=2)
    assert primary(campaign) == ["Start judging"]
    pairs = campaign.store.pool.with_text(100)
    for query_id, doc_id in pairs[["query_id", "doc_id"]].itertuples(index=False):
        say(campaign, query_id, doc_id, 1)
    assert primary(campaign) == ["Export"]


Upload: TypeAlias = tuple[str, str | bytes]


def upload(app: AppTest, **files: Upload | list[Upload]) -> AppTest:
    """Choose files, each a name and its content, and press Import."""
    for key, chosen in files.items():
        some = chosen if isinstance(chosen, list) else [chosen]
        uploads = [(name, text.encode() if isinstance(text, str) else text, "text/plain") for name, text in some]
        app.file_uploader(key=key).set_value(uploads if isinstance(chosen, list) else uploads[0])
    next(button for button in app.button if button.label == "Import").click().run()
    return app


def test_files_are_uploaded(opened: Opened, tmp_path: Path) -> None:
    """Two files with the same name stay two files, and no message names a folder of the server."""
    with Campaign.create(tmp_path / "empty") as empty:
        app = opened(empty, "import")
        assert "This campaign is empty." in app.markdown[0].value
        upload(
            app,
            topics=("t.tsv", "1\tone\n"),
            documents=[("d.tsv", "d1\tA text.\n"), ("d.tsv", "d2\tAnother.\n")],
            runs=[("bm_25.run", "1 Q0 d1 1 2.0 bm25\n1 Q0 d9 2 1.0 bm25\n")],
        )
        assert [s.value for s in app.success] == ["Imported."]
        assert "This campaign has 1 topic, 2 documents and 1 run." in app.markdown[0].value
        assert {key: empty.store.judgements.counts()[key] for key in ("topics", "documents", "runs")} == {
            "topics": 1,
            "documents": 2,
            "runs": 1,
        }
        assert [t.value for t in app.text] == [
            "t.tsv: 1 topic (1 new)",
            *["d.tsv: 1 document (1 new)"] * 2,
            "bm_25.run: run 'bm25': 2 lines, 1 topic",
        ]
        assert app.warning[0].value.startswith("1 document of the runs has no text")


@pytest.mark.long
def test_files_of_other_programs_are_uploaded(opened: Opened, tmp_path: Path) -> None:
    """Duplicate records are listed; a work list comes back."""
    table = io.BytesIO()
    pq.write_table(pa.table({"_id": ["p1"], "text": ["A passage."]}), table)
    book, sheet = openpyxl.Workbook(), io.BytesIO()
    for row in (["qid", "query"], [1, "heat pumps"]):
        book.active.append(row)
    book.save(sheet)
    record = {"type_of_reference": "JOUR", "title": "Wings", "year": "2019", "doi": "10.5555/w"}
    with Campaign.create(tmp_path / "empty", grades="0-1") as empty:
        upload(
            opened(empty, "import"),
            topics=("topics.xlsx", sheet.getvalue()),
            documents=[
                ("a.ris", rispy.dumps([record, record])),
                ("b.nbib", NBIB),
                ("c.xml", ENDNOTE),
                ("d.trec", "<DOC><DOCNO>t1</DOCNO><TEXT>Flow.</TEXT></DOC>"),
                ("e.parquet", table.getvalue()),
            ],
            qrels=("q.jsonl", '{"query-id": "1", "corpus-id": "p1", "score": 1}\n'),
        )
        again = upload(opened(empty, "import"), documents=[("a.ris", rispy.dumps([record, record]))])
        assert "this file was imported before: all 2 records are already in the campaign" in again.text[0].value
        other = f"{rispy.dumps([record, record])}\n"
        app = upload(opened(empty, "import"), documents=[("a.ris", other)])
        assert app.warning[0].value.startswith("a\\.ris\\: 2 duplicate records were left out")
        assert app.dataframe[0].value[["file", "line", "duplicate_of"]].values.tolist() == [
            ["a.ris", 2, "10.5555/w"], ["a.ris", 9, "10.5555/w"]
        ]  # fmt: skip
        assert empty.store.judgements.counts()["documents"] == 6
        empty.settings.set_loop(mode="loop")
        empty.exports.work_lists.write("ann", tmp_path / "ann.csv", 1)
        listed = (tmp_path / "ann.csv").read_text().replace(',"","0:', ',"1","0:')
        app = upload(opened(empty, "import"), labels=("ann.csv", listed))
        assert app.text[0].value == "ann.csv: 1 judgement from a work list by 1 annotator (1 new)"


@pytest.mark.slow
def test_documents_in_files_of_their_own_and_a_folder_in_a_zip_are_uploaded(opened: Opened, tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("papers/sub/b.pdf", write_pdf(["Words of b"]))
        zipped.writestr("papers/c.md", "# C")
        zipped.writestr("__MACOSX/x", "")
    with Campaign.create(tmp_path / "empty") as empty:
        app = upload(
            opened(empty, "import"),
            documents=[
                ("a.pdf", write_pdf(["Words of a"])),
                ("a.pdf", write_pdf(["Others"])),
                ("page.html", "<title>Page</title>"),
                ("words.txt", "No table."),
                ("d.tsv", "d1\tA text.\n"),
                ("papers.zip", archive.getvalue()),
            ],
        )
        assert not app.error
        ids = [document.doc_id for document in empty.store.corpus.documents_with_text(pooled=False)]
        assert sorted(ids) == ["a-2.pdf", "a.pdf", "c.md", "d1", "page.html", "sub/b.pdf", "words.txt"]
        assert [t.value for t in app.text] == [
            "d.tsv: 1 document (1 new)",
            "papers: 2 documents (2 new)",
            "papers: 1 PDF file, which annotators see",
            "documents: 4 documents (4 new)",
            "documents: 2 PDF files, which annotators see",
        ]
        app = upload(opened(empty, "import"), documents=[("bad.zip", archive.getvalue()[:200])])
        assert "expected a ZIP archive of a folder, found damaged data" in app.error[0].value.replace("\\", "")


def test_a_dataset_is_imported_by_its_name(opened: Opened, campaign: Campaign) -> None:
    app = opened(campaign, "import")
    app.text_input[0].set_value("local/none")
    upload(app)
    assert app.error[0].value.startswith("**Nothing was imported.** ir")
    assert "has no dataset" in app.error[0].value


def test_a_file_with_an_error_imports_nothing(opened: Opened, tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "empty") as empty:
        app = opened(empty, "import")
        assert [e.value for e in upload(app).error] == ["Choose at least one file, or enter a dataset."]
        upload(app, topics=("t.tsv", "1\tone\n"), qrels=("q.txt", "1 0 d1 high\n"))
        assert len(app.error) == 1
        assert app.error[0].value.startswith("**Nothing was imported.** q")
        assert "line 1" in app.error[0].value
        assert not app.success
        assert empty.store.judgements.counts()["topics"] == 0


def test_replace_is_asked_for(opened: Opened, campaign: Campaign) -> None:
    app = upload(opened(campaign, "import"), topics=("t.tsv", "1\tmoving average\n"))
    assert app.error
    next(box for box in app.checkbox if box.label.startswith("Replace")).check()
    upload(app, topics=("t.tsv", "1\tmoving average\n"))
    assert not app.error
    assert campaign.store.corpus.topics().set_index("query_id")["title"]["1"] == "moving average"


def test_export_without_grades_offers_the_pool_and_the_missing_texts(
    opened: Opened, campaign: Campaign, files: Path, buttons: dict[str, Any]
) -> None:
    (files / "c.run").write_text("1 Q0 elsewhere 1 2.0 c\n")
    campaign.imports.import_files(runs=[files / "c.run"])
    campaign.people.pools.add("depth", depth=2)
    app = opened(campaign, "export")
    assert "#### No pair has a grade yet." in [m.value for m in app.markdown]
    assert [tab.label for tab in app.tabs] == [
        "Qrels", "Judgements", "Pool", "Topics", "Work lists", "Training data", "Missing texts"
    ]  # fmt: skip
    assert any(m.value.startswith("1 pooled document without a text") for m in app.markdown)
    assert buttons["missing"]() == b"elsewhere\n"
    assert len(buttons["pool"]().splitlines()) == 8  # with its header
    assert [json.loads(line)["query_id"] for line in buttons["topics-jsonl"]().splitlines()] == ["1", "2"]
    assert b'<topic number="2">' in buttons["topics-xml"]()
    assert b"<num> Number: 2\n" in buttons["topics-txt"]()
    say(campaign, "1", "d1", 1)
    assert campaign.judging.judge("ann", "1", "d1", undo=True).kind == "undone"
    campaign.judging.judge("ben", "1", "d2", cannot_judge="no text")
    app = opened(campaign, "export")
    assert "#### No pair has a grade by this rule." in [m.value for m in app.markdown]
    app.selectbox(key="rule-rule").set_value("annotator").run()
    assert "ben" in app.error[0].value


def test_imported_data_is_removed_after_a_preview(opened: Opened, make_campaign: Callable[..., Campaign]) -> None:
    campaign = make_campaign("removal")
    say(campaign, "1", "d1", 1)
    app = opened(campaign, "import")
    app.text_area[0].set_value("d1\n d2 \n").run()
    shown = [*(text.value for text in app.markdown), *(text.value for text in app.caption)]
    assert "1 document stays \\(judged\\)\\: d1\\." in shown
    assert any(text.startswith("This removes 1 document") for text in shown)
    app.button(key="remove").click().run()
    assert campaign.store.corpus.find_without_text(["d1", "d2"]) == {"d2"}
    app.text_area[0].set_value("nowhere").run()
    assert "has no document nowhere" in app.error[0].value


def test_overview_asks_for_adjudication_before_the_export(
    opened: Opened, make_campaign: Callable[..., Campaign]
) -> None:
    campaign = make_campaign("differ")
    for query_id, doc_id in campaign.store.pool.ids()[["query_id", "doc_id"]].itertuples(index=False):
        say(campaign, query_id, doc_id, 1)
    assert campaign.results.overview.next_step().page == "export"
    pair = campaign.store.pool.ids().iloc[0]
    campaign.judging.judge("ben", pair["query_id"], pair["doc_id"], 0)
    step = campaign.results.overview.next_step()
    assert step == ("adjudicate", "1 pair has different grades: adjudicate it, or choose a rule on the Export page.")
    app = opened(campaign, "overview")
    app.button(key="next-step").click().run()


def test_the_editor_of_topic_notes_shows_other_fields(opened: Opened, campaign: Campaign) -> None:
    def shown() -> list[list[str]]:
        frames = [table.value for table in opened(campaign, "guidelines").dataframe]
        return [list(frame.columns) for frame in frames if "note" in frame]

    assert shown() == [["query_id", "title", "note"]]
    put(campaign, topics=[Topic("1", "wings", fields={"history": ["Lift?"], "stance": "pro\u202e"})])
    assert shown() == [["query_id", "title", "fields", "note"]]
    frames = [table.value for table in opened(campaign, "guidelines").dataframe]
    fields = next(frame for frame in frames if "note" in frame).set_index("query_id")["fields"]
    assert fields["1"].splitlines() == ["history:", "Lift?", "stance: pro"]
    assert set(fields.drop("1")) == {""}
