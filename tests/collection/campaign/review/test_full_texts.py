"""Full texts of a review: PDF files, and texts that could not be retrieved."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pytest

from collection import Campaign
from collection.campaign.corpus.pdf_files import pdf_of
from collection.campaign.review import decisions
from collection.core.errors import InputError, JudgementError
from collection.core.records import Document
from collection.core.review import REASON, Review
from tests.pdf_files import SCRIPT, write_pdf


@pytest.fixture
def review(tmp_path: Path):
    """A review whose records r0 to r3 were included, maybe, excluded, and included."""
    with Campaign.create(tmp_path / "review", review=Review("Exercise and falls")) as campaign:
        titles = (
            "Tai chi for balance at home",
            "Strength training after stroke",
            "Rats",
            "Yoga in later life: a trial",
        )
        campaign.store.corpus.add_documents(
            Document(f"r{n}", title, "Abstract.", {"doi": f"10.1000/x{n}", "authors": ["Smith J"], "year": 2010 + n})
            for n, title in enumerate(titles)
        )
        for n, grade in enumerate((2, 1, 0, 2)):
            campaign.judging.judge("ann", "review", f"r{n}", grade)
        campaign.review.full_texts.advance()
        yield campaign


def put_files(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / f"{name}.pdf")
        paths[-1].write_bytes(write_pdf([text, "second page"]))
    return paths


def test_the_table_has_what_is_due(review: Campaign) -> None:
    table = review.review.full_texts.table()
    assert table["doc_id"].tolist() == ["r0", "r1", "r3"]
    assert table.iloc[0].tolist() == [
        "r0", "Tai chi for balance at home", "Smith J", "2010", "https://doi.org/10.1000/x0", 0, "include",
        "unscreened", "", "",
    ]  # fmt: skip


def test_pdf_files_are_matched_and_shown_on_the_card_of_their_stage(review: Campaign, tmp_path: Path) -> None:
    files = put_files(tmp_path, smith2010="10.1000/x0", scan1="Yoga in later life: a trial", scan2="Something else")
    (tmp_path / "bad.pdf").write_bytes(b"no PDF")
    reports = review.review.full_texts.add_files([*files, tmp_path / "bad.pdf"])
    assert [(each.name, each.doc_id, each.reason) for each in reports] == [
        ("smith2010.pdf", "r0", "DOI"), ("scan1.pdf", "r3", "title"), ("scan2.pdf", "", ""), ("bad.pdf", "", ""),
    ]  # fmt: skip
    assert reports[3].problem == "it is not a readable PDF file"
    full_texts = review.review.full_texts
    assert full_texts.table()["pages"].tolist() == [2, 0, 2]
    full_texts.attach(files[2], "r1")
    assert full_texts.table()["pages"].tolist() == [2, 2, 2]
    document = review.store.corpus.documents(["r1"])["r1"]
    assert (document.title, document.text) == ("Strength training after stroke", "Abstract.")
    pdf = pdf_of(document.metadata)
    assert pdf is not None
    assert (review.directory / "files" / pdf.file).is_file()
    assert review.operations.backups.check() == []
    assert full_texts.detach(["r1", "r1", "r2"]) == 1
    assert full_texts.table()["pages"].tolist() == [2, 0, 2]
    with pytest.raises(InputError, match="r2"):
        full_texts.attach(files[2], "r2")
    with pytest.raises(InputError, match="not a readable"):
        full_texts.attach(tmp_path / "bad.pdf", "r1")


def test_files_with_scripts_are_shown_as_copies_without_them(review: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "10.1000_x0.pdf"
    path.write_bytes(write_pdf(["text"], catalog=SCRIPT))
    review.review.full_texts.add_files([path])
    pdf = pdf_of(review.store.corpus.documents(["r0"])["r0"].metadata)
    assert pdf is not None
    assert pdf.file.endswith(".original")
    assert pdf.shown is not None


def test_a_failed_write_leaves_nothing(review: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("disk")

    files = put_files(tmp_path, smith2010="10.1000/x0")
    monkeypatch.setattr(review.store.corpus, "add_documents", fail)
    with pytest.raises(RuntimeError):
        review.review.full_texts.add_files(files)
    assert not list((review.directory / "files").glob("*"))
    assert review.review.full_texts.table()["pages"].tolist() == [0, 0, 0]


def test_two_files_for_one_record(review: Campaign, tmp_path: Path) -> None:
    files = put_files(tmp_path, a="10.1000/x0", b="10.1000/x0 again")
    reports = review.review.full_texts.add_files(files)
    assert [each.problem for each in reports] == ["", "a.pdf is for the same record"]


def test_texts_that_could_not_be_retrieved(review: Campaign, tmp_path: Path) -> None:
    full_texts = review.review.full_texts
    full_texts.mark_not_retrieved(["r0", "r1"], " No access ", "eva")
    table = full_texts.table().set_index("doc_id")
    assert table.loc["r0", ["full_text", "not_retrieved", "by"]].tolist() == ["not retrieved", "No access", "eva"]
    decided = review.review.decisions.table().set_index("doc_id")
    assert decided.loc["r0", ["decision", "reason", "stage"]].tolist() == ["not retrieved", "No access", "full text"]
    handed_out = review.judging.next_pairs("ann", "full-text", 9).documents
    assert [each.doc_id for each in handed_out] == ["r3"]
    full_texts.mark_not_retrieved(["r0"], "Withdrawn", "bob")
    assert full_texts.table()["not_retrieved"].tolist() == ["Withdrawn", "No access", ""]
    assert full_texts.mark_retrieved(["r0", "r3"]) == ["r0"]
    full_texts.add_files(put_files(tmp_path, x="10.1000/x1"))  # a text that was found is due again
    assert full_texts.table()["full_text"].tolist() == ["unscreened"] * 3
    review.judging.judge("ann", "full-text", "r3", 0, answers={REASON: "Other"})
    with pytest.raises(InputError, match="screened already"):
        full_texts.mark_not_retrieved(["r3"], "No access", "eva")
    with pytest.raises(JudgementError, match="why"):
        full_texts.mark_not_retrieved(["r0"], " ", "eva")
    with pytest.raises(InputError, match="r2"):
        full_texts.mark_not_retrieved(["r2"], "No access", "eva")


def test_reports_that_were_not_retrieved_count_neither_as_screened_nor_as_left(review: Campaign) -> None:
    standing = review.progress.topic_standings
    assert standing("ann")["full-text"] == (0, 3)
    assert [each.doc_id for each in review.judging.next_pairs("ann", "full-text", 1).documents] == ["r0"]
    review.review.full_texts.mark_not_retrieved(["r0", "r1"], "No access", "ann")
    assert standing("ann")["full-text"] == (0, 1)
    held = review.judging.next_pairs("ann", "full-text", 0, ["r0"])
    assert held.closed == ["r0"]
    assert review.judging.demand.has_room("ann", "full-text", "r0")  # a decision on the way is saved
    review.judging.judge("ann", "full-text", "r3", 2)
    assert standing("ann", "full-text")["full-text"] == (1, 1)
    review.review.full_texts.mark_retrieved(["r0"])
    assert standing("ann")["full-text"] == (1, 2)


def test_due_full_texts_are_read_again_only_after_a_change(review: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[str] = []
    decide = decisions.decide

    def count(query_id: str, log: list[Mapping[Hashable, Any]], rules: Review) -> decisions.StageDecision:
        derived.append(query_id)
        return decide(query_id, log, rules)

    monkeypatch.setattr(decisions, "decide", count)
    statements: list[str] = []
    review.review.full_texts.advance()
    derived.clear()
    review.store.connection.db.conn.set_trace_callback(statements.append)
    assert review.review.full_texts.advance() == 0
    review.store.connection.db.conn.set_trace_callback(None)
    assert not derived
    assert not [each for each in statements if "FROM documents" in each or "current_judgements" in each]
    review.judging.judge("ann", "full-text", "r0", 2)
    assert review.review.full_texts.advance() == 0
    assert set(derived) == {"full-text"}  # titles and abstracts, of which there are many, stay as they are
    review.judging.judge("ann", "review", "r2", 2)
    assert review.review.full_texts.advance() == 1
    assert set(derived) == {"full-text", "review"}
