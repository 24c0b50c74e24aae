"""Making nuggets: proposals, undo, passages as sources, people, and nugget assignments to hand out again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from collection import Campaign
from collection.cli import main
from collection.core.errors import ConflictError, InputError
from collection.core.layout import NUGGET_ASSIGNMENT
from collection.core.records import Judgement

PROPOSED = pd.DataFrame({
    "query_id": ["1", "1"], "nugget": ["1", "2"], "text": ["Wings bend air.", "Air is fast."],
    "importance": ["vital", ""], "weight": [float("nan")] * 2,
})  # fmt: skip


def texts(campaign: Campaign) -> list[str]:
    return [each.text for each in campaign.answers.nuggets.current("1")]


def judge(campaign: Campaign, annotator: str, relevance: int, passages: tuple[tuple[int, int], ...]) -> None:
    uuid = f"{annotator}-{relevance}"
    campaign.judging.write(Judgement(uuid, annotator, "1", "d1", "graded", relevance, passages=passages))


def test_proposals_count_only_once_a_person_accepts_or_edits_them(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    assert nuggets.propose(PROPOSED, "gpt-x", annotator="eva") == 1  # the other text is in the list
    assert nuggets.propose(PROPOSED, "gpt-x", annotator="eva") == 0
    (proposal,) = nuggets.proposals("1")
    assert (proposal.nugget, proposal.importance) == ("p1", "vital")
    assert texts(answered) == nuggets.table().query("query_id == '1'")["text"].tolist()
    assert len(texts(answered)) == 2
    nuggets.accept("1", "p1", annotator="eva", text="Wings bend the air.")
    assert texts(answered)[2] == "Wings bend the air."
    assert nuggets.current("1")[2].fields == {"proposed_by": "gpt-x"}
    assert nuggets.makers("1")["p1"] == ("gpt-x",)
    merged = nuggets.merge("1", ["1", "p1"], "Fast air.", annotator="eva")
    assert merged.fields == {"proposed_by": "gpt-x"}
    assert nuggets.makers("1")[merged.nugget] == ("eva", "gpt-x")
    assert nuggets.undo("1", annotator="eva") == "merged"
    assert nuggets.undo("1", annotator="eva") == "changed"
    assert [each.text for each in nuggets.proposals("1")] == ["Wings bend air."]
    nuggets.add("1", "Wings bend air.", annotator="bob")
    assert nuggets.proposals() == []
    with pytest.raises(InputError, match="source of proposals"):
        nuggets.propose(PROPOSED, " ", annotator="eva")


def test_edits_are_undone_one_after_another_and_an_undone_version_keeps_its_text(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    before = nuggets.current("1")
    nuggets.change("1", "1", annotator="bob", text="Second.")
    parts = nuggets.split("1", "2", ["One.", "Two."], annotator="bob")
    nuggets.merge("1", [part.nugget for part in parts], "Whole.", annotator="bob")
    nuggets.arrange("1", ["5", "1"], annotator="bob")
    nuggets.delete("1", "1", "5", annotator="bob")
    kinds = [nuggets.undo("1", annotator="bob") for _ in range(6)]
    assert kinds == ["deleted", "moved", "merged", "split", "changed", None]
    assert nuggets.current("1") == before
    assert nuggets.change("1", "1", annotator="bob", text="Third.").version == 3  # 2 was that of "Second."


def test_an_edit_that_somebody_else_changed_since_is_not_undone(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    nuggets.change("1", "1", annotator="bob", text="Second.", edit="e1")
    nuggets.change("1", "2", annotator="bob", importance="vital", edit="e1")
    nuggets.arrange("1", ["2", "1"], annotator="eva")
    nuggets.change("1", "1", annotator="eva", text="Third.")
    with pytest.raises(ConflictError, match="eva has changed it since"):
        nuggets.undo("1", annotator="bob")
    nuggets.undo("1", annotator="eva")
    assert nuggets.undo("1", annotator="bob") == "changed"  # both of its changes
    assert [(each.text, each.importance) for each in nuggets.current("1")] == [
        ("Pressure falls.", "okay"),
        ("Air is fast.", "vital"),
    ]


def test_passages_of_relevant_documents_become_sources(answered: Campaign) -> None:
    sources = answered.answers.sources
    judge(answered, "bob", 1, ((0, 3), (4, 9)))
    judge(answered, "cat", 0, ((0, 9),))
    judge(answered, "dan", 2, ((0, 3),))
    passages = sources.passages("1")
    assert passages["text"].tolist() == ["Air", "lifts"]
    assert sources.passages("1", "dan")["text"].tolist() == ["Air"]
    made = answered.answers.nuggets.add("1", "Air.", annotator="bob", sources=[("d1", 0, 3)])
    assert sources.passages("1")["text"].tolist() == ["lifts"]
    assert sources.passages("1", "dan").empty
    assert [each.nugget for each, _ in sources.listed("1", "bob")] == [made.nugget]
    answered.answers.nuggets.merge("1", ["1", made.nugget], "Fast air.", annotator="eva")
    assert sources.listed("1", "bob") == []
    people = sources.people("1").set_index("annotator")
    assert people.loc["bob", ["made", "listed", "shared", "documents", "found"]].tolist() == [1, 1, 1, 1, 1]
    assert people.loc["eva", ["made", "listed", "shared"]].tolist() == [2, 2, 1]
    assert people.loc["bob", "recall"] == 1.0


def test_only_accepted_proposals_count_as_made(answered: Campaign) -> None:
    nuggets, sources = answered.answers.nuggets, answered.answers.sources
    proposed = PROPOSED.assign(text=["Wings bend air.", "Air is warm."])
    assert nuggets.propose(proposed, "gpt-x", annotator="eva") == 2
    assert sources.people("1")["annotator"].tolist() == ["eva"]
    nuggets.accept("1", "p1", annotator="eva")
    assert sources.people("1").set_index("annotator")["made"].to_dict() == {"eva": 2, "gpt-x": 1}


def test_changed_nuggets_are_counted_and_handed_out_again(answered: Campaign) -> None:
    tasks, nuggets = answered.answers.tasks, answered.answers.nuggets
    assert tasks.waiting() == (8, 0)
    assert tasks.existing() == []
    tasks.prepare(NUGGET_ASSIGNMENT)
    assert tasks.waiting() == (0, 0)
    nuggets.change("1", "1", annotator="eva", text="Air is very fast.")
    nuggets.add("2", "Heat flows.", annotator="eva")
    assert tasks.waiting() == (4, 2)
    assert tasks.prepare(NUGGET_ASSIGNMENT).new == 4
    assert tasks.waiting() == (0, 0)


def test_an_imported_file_keeps_its_ids_beside_proposals(answered: Campaign) -> None:
    nuggets = answered.answers.nuggets
    nuggets.delete("1", "1", "2", annotator="eva")
    assert nuggets.propose(PROPOSED, "gpt-x", annotator="eva") == 2
    file = pd.DataFrame([{"query_id": "1", "nugget": str(n), "text": f"Imported {n}.", "importance": "", "weight": None}
                         for n in range(3, 9)])  # fmt: skip
    assert nuggets.import_table(file).new == 6
    assert [each.nugget for each in nuggets.current("1")] == [str(n) for n in range(3, 9)]
    assert [each.nugget for each in nuggets.proposals("1")] == ["p1", "p2"]
    assert nuggets.accept("1", "p1", annotator="eva").nugget == "p1"


def test_the_command_proposes_the_nuggets_of_a_file(answered: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "nuggets.csv"
    file.write_text("query_id,nugget,text,importance\n1,n1,Wings bend air.,vital\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["answers", "propose", str(answered.directory), str(file)])
    assert done.output.startswith("Added 1 proposal.\nTo accept them,")
    assert answered.answers.nuggets.proposals("1")[0].fields == {"proposal": "nuggets.csv"}
