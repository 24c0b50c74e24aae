"""Nuggets: a log of edits, whose current state is the list."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from collection import Campaign
from collection.core.errors import ConflictError, InputError, UnknownNameError


def texts(campaign: Campaign, query_id: str = "1") -> list[str]:
    return [each.text for each in campaign.answers.nuggets.current(query_id)]


def test_an_edit_makes_a_version_and_the_log_keeps_all(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    assert nuggets.change("1", "1", annotator="bob", importance="okay").version == 1
    assert nuggets.change("1", "1", annotator="bob", text=" Air above is fast. ").version == 2
    assert texts(answered) == ["Air above is fast.", "Pressure falls."]
    nuggets.change("1", "1", annotator="bob", text="Air above is fast.")  # the same
    log = [(each.text, each.version, kind, annotator) for each, kind, annotator, *_ in nuggets.log("1")]
    assert log == [
        ("Air is fast.", 1, "added", "eva"),
        ("Pressure falls.", 1, "added", "eva"),
        ("Air is fast.", 1, "changed", "bob"),
        ("Air above is fast.", 2, "changed", "bob"),
    ]
    with pytest.raises(sqlite3.IntegrityError, match="append-only log"):
        answered.store.answers.connection.execute("DELETE FROM nugget_log")


def test_merged_and_split_nuggets_keep_place_sources_and_origins(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    third = nuggets.add("1", "Wings are thin.", annotator="eva", sources=[("d1", 0, 3)])
    merged = nuggets.merge("1", ["2", third.nugget], "Thin wings, low pressure.", annotator="bob")
    assert (merged.nugget, merged.importance, merged.origins) == ("4", "okay", ("2", "3"))
    assert merged.sources == (("d1", 0, 3),)
    nuggets.add("1", "Last.", annotator="eva")
    parts = nuggets.split("1", merged.nugget, ["Thin wings.", "Low pressure."], annotator="bob")
    assert texts(answered) == ["Air is fast.", "Thin wings.", "Low pressure.", "Last."]
    assert [(each.importance, each.origins) for each in parts] == [("okay", ("4",))] * 2
    nuggets.arrange("1", ["5", "1"], annotator="bob")
    assert texts(answered) == ["Last.", "Air is fast.", "Thin wings.", "Low pressure."]
    nuggets.delete("1", "5", annotator="bob")
    assert nuggets.add("1", "New.", annotator="eva").nugget == "8"  # never an id that was used before


def test_a_file_of_nuggets_is_imported_once_and_changed_only_on_request(answered: Campaign) -> None:
    frame = pd.DataFrame({
        "query_id": ["2", "2"], "nugget": ["n1", "n2"], "text": ["Heat flows.", "Slabs conduct."],
        "importance": ["vital", ""], "weight": [float("nan"), -2.0], "question": ["What flows?", None],
    })  # fmt: skip
    nuggets = answered.answers.nuggets
    assert nuggets.import_table(frame) == (2, 0, 0)
    assert nuggets.import_table(frame) == (0, 0, 2)
    assert nuggets.current("2")[2].fields == {"question": "What flows?"}
    changed = frame.assign(text=["Heat moves.", "Slabs conduct."])
    with pytest.raises(ConflictError, match="nugget 'n1' of topic '2'.*--replace"):
        nuggets.import_table(changed)
    assert nuggets.import_table(changed, replace=True) == (0, 1, 1)


def file_of(texts: dict[str, str], query_id: str = "1") -> pd.DataFrame:
    """A file of nuggets with these texts by id."""
    return pd.DataFrame({
        "query_id": query_id, "nugget": list(texts), "text": list(texts.values()), "importance": "",
        "weight": float("nan"),
    })  # fmt: skip


def test_a_proposal_that_differs_from_a_nugget_in_case_or_blanks_is_not_listed(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    proposed = ["AIR  is fast.", "Wings\nbend.", "wings bend. ", "Flaps help."]
    assert nuggets.propose(file_of(dict(enumerate(proposed))), "m", annotator="eva") == 2  # type: ignore[arg-type]
    assert [each.text for each in nuggets.proposals("1")] == ["Wings\nbend.", "Flaps help."]
    nuggets.add("1", "wings bend.", annotator="eva")
    assert [each.text for each in nuggets.proposals("1")] == ["Flaps help."]


def test_a_file_of_nuggets_keeps_its_ids_whatever_the_proposals_are_called(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    nuggets.propose(file_of({"1": "Wings bend."}), "m", annotator="eva")
    # Earlier versions gave proposals the numbers of nuggets.
    nuggets.add("1", "Flaps help.", annotator="eva", proposal="m")
    assert [each.nugget for each in nuggets.proposals("1")] == ["p1", "3"]
    file = file_of({"3": "Air cools.", "p1": "Slabs conduct.", "p2": "Sun warms."})
    assert nuggets.import_table(file) == (3, 0, 0)
    assert nuggets.import_table(file) == (0, 0, 3)
    proposals = {each.nugget: each.text for each in nuggets.proposals("1")}
    assert proposals == {"p3": "Wings bend.", "p4": "Flaps help."}
    listed = {each.nugget.nugget: each.makers for each in answered.answers.sources.listed("1")}
    assert listed == {"1": ("eva",), "2": ("eva",), "3": ("imported",), "p1": ("imported",), "p2": ("imported",)}
    assert nuggets.makers("1")["p4"] == ("m",)
    nuggets.delete("1", "p4", annotator="eva")  # a rejected proposal was no nugget of the list
    assert nuggets.import_table(file_of({"p4": "Flaps help."})) == (1, 0, 0)


def test_deleted_merged_and_split_nuggets_of_a_file_stay_deleted_until_their_text_is_another(
    answered: Campaign, tmp_path: Path
) -> None:
    texts = ["Heat flows.", "Slabs conduct.", "Air cools.", "Sun warms.", "Ice melts."]
    ids = [f"n{number}" for number in range(1, 6)]
    frame = pd.DataFrame({
        "query_id": "2", "nugget": ids, "text": texts, "importance": "", "weight": float("nan"),
    })  # fmt: skip
    nuggets = answered.answers.nuggets
    nuggets.import_table(frame)
    nuggets.delete("2", "n1", annotator="eva")
    nuggets.merge("2", ["n2", "n3"], "Slabs and air.", annotator="eva")
    nuggets.split("2", "n4", ["Sun.", "Warmth."], annotator="eva")
    listed = [each.text for each in nuggets.current("2")]
    file = tmp_path / "nuggets.jsonl"
    rows = [{"nugget_id": each, "text": text, "importance": ""} for each, text in zip(ids, texts, strict=True)]
    file.write_text(json.dumps({"qid": "2", "nuggets": rows}))
    report = answered.answers.import_files(nuggets=file, replace=True)
    assert any("4 nuggets deleted, merged or split in the campaign stay deleted" in each for each in report.notices)
    assert [each.text for each in nuggets.current("2")] == listed
    nuggets.import_table(frame.assign(text=["Heat moves.", *texts[1:]]))
    assert nuggets.table().query("nugget == 'n1'")[["text", "version"]].to_numpy().tolist() == [["Heat moves.", 2]]


def test_invalid_nuggets_are_refused(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    with pytest.raises(InputError, match="expected a text, found none"):
        nuggets.add("1", " \n", annotator="eva")
    with pytest.raises(UnknownNameError, match="importance"):
        nuggets.add("1", "Text.", annotator="eva", importance="great")
    with pytest.raises(UnknownNameError, match="topic"):
        nuggets.add("9", "Text.", annotator="eva")
    with pytest.raises(UnknownNameError, match="nugget of topic '1'"):
        nuggets.delete("1", "9", annotator="eva")
    with pytest.raises(InputError, match="2 or more to merge"):
        nuggets.merge("1", ["1", "1"], "Text.", annotator="eva")
