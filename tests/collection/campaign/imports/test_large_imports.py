"""Documents that are read while earlier ones are added to the full-text index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collection.campaign import Campaign
from collection.core.errors import FormatError

MANY = 4200
"""Number of documents that need several additions to the index."""


def write_documents(path: Path, *more: str) -> Path:
    lines = [json.dumps({"doc_id": f"d{n}", "title": "", "text": f"all word{n}"}) for n in range(MANY)]
    path.write_text("\n".join((*lines, *more)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tall\n", encoding="utf-8")
    campaign = Campaign.create(tmp_path / "campaign")
    campaign.imports.import_files(topics=topics)
    return campaign


def test_every_document_is_stored_in_its_order_and_found(campaign: Campaign, tmp_path: Path) -> None:
    file = write_documents(tmp_path / "d.jsonl", json.dumps({"doc_id": "d7", "title": "", "text": "all word7"}))
    report = campaign.imports.import_files(documents=[file])
    assert campaign.store.corpus.ids() == [f"d{n}" for n in range(MANY)]
    for number in (0, 499, 500, 999, 1000, 2999, 3000, MANY - 1):
        found = campaign.judging.search.find("1", "ann", f"word{number}")
        assert [hit.doc_id for hit in found.documents] == [f"d{number}"]
    assert any("dropped 1 identical repetition" in notice for notice in report.notices), report.notices


def test_a_broken_line_near_the_end_leaves_nothing_behind(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"line {MANY + 1}"):
        campaign.imports.import_files(documents=[write_documents(tmp_path / "d.jsonl", "{broken")])
    assert campaign.store.corpus.ids() == []
    assert not campaign.judging.search.find("1", "ann", "all").documents


def test_changed_documents_are_found_by_their_new_words_only(campaign: Campaign, tmp_path: Path) -> None:
    campaign.imports.import_files(documents=[write_documents(tmp_path / "d.jsonl")])
    changed = [json.dumps({"doc_id": f"d{n}", "title": "", "text": f"all new{n}"}) for n in (0, 2000, MANY - 1)]
    (tmp_path / "new.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")
    campaign.imports.import_files(documents=[tmp_path / "new.jsonl"], replace=True)
    for number in (0, 2000, MANY - 1):
        assert [hit.doc_id for hit in campaign.judging.search.find("1", "ann", f"new{number}").documents] == [
            f"d{number}"
        ]
        assert not campaign.judging.search.find("1", "ann", f"word{number}").documents
