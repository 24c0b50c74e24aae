"""Text that cannot be stored or written as UTF-8 is refused where it enters a campaign."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from collection import Campaign, Judgement
from collection.core.errors import InputError
from collection.core.records import Choice, GradeScale, Preference
from tests.helpers import fails

UNWRITABLE = ["\ud800", "half \udfff", "a\x00b"]

DOORS: dict[str, Callable[[Campaign, str], Any]] = {
    "guidelines": lambda campaign, text: campaign.settings.set_guidelines(text),
    "note of a topic": lambda campaign, text: campaign.settings.set_topic_note("1", text),
    "description": lambda campaign, text: campaign.settings.set_collection(description=text),
    "licence": lambda campaign, text: campaign.settings.set_collection(licence=text),
    "URL": lambda campaign, text: campaign.settings.set_collection(url=f"https://example.org/{text}"),
    "account": lambda campaign, text: campaign.people.accounts.invite(f"ann {text}", "annotator"),
    "group": lambda campaign, text: campaign.people.accounts.invite("ann", "annotator", [text]),
    "e-mail": lambda campaign, text: campaign.people.accounts.invite("ann", "annotator", email=f"{text}@example.org"),
    "topics of the overlap": lambda campaign, text: campaign.people.assignments.update(which="topics", topics=(text,)),
    "qualification set": lambda campaign, text: campaign.people.qualification_set.set_pairs([("1", text)]),
    "image host": lambda campaign, text: campaign.settings.set_judging_page(image_hosts=(text,)),
    "mode": lambda campaign, text: campaign.settings.set_loop(mode=text),
    "arrangement of a card": lambda campaign, text: campaign.settings.keep_card_arrangement("ann", {"keys": text}),
    "address": lambda campaign, text: campaign.operations.server_state.keep_address(text),
}


@pytest.mark.parametrize("text", UNWRITABLE[:2])
@pytest.mark.parametrize("door", DOORS)
def test_no_door_of_a_campaign_lets_half_a_surrogate_pair_in(campaign: Campaign, door: str, text: str) -> None:
    before = campaign.store.settings.all()
    with pytest.raises(InputError):
        DOORS[door](campaign, text)
    assert campaign.store.settings.all() == before


@pytest.mark.parametrize("door", ["guidelines", "note of a topic", "description", "licence", "account", "address"])
def test_no_door_of_a_campaign_lets_nul_in(campaign: Campaign, door: str) -> None:
    with pytest.raises(InputError):
        DOORS[door](campaign, "a\x00b")


@pytest.mark.parametrize("text", UNWRITABLE)
def test_a_scale_of_grades_can_be_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="sentence of grade 1: expected text that can be written as UTF-8"):
        GradeScale({0: "No", 1: text})
    file = tmp_path / "grades.json"
    file.write_text(json.dumps({"0": "No", "1": text}))
    said = fails("new", tmp_path / "c", "--grades", file)
    assert said.startswith(f"cleverdon: {file}: sentence of grade 1: expected text")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("text", UNWRITABLE)
def test_a_title_can_be_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="^title: expected text"):
        Campaign.create(tmp_path / "c", title=text)
    assert not (tmp_path / "c").exists()


def test_a_folder_whose_name_is_no_utf8_makes_a_title_that_can_be_written(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c\udcff") as campaign:
        campaign.title.encode()


def test_a_title_is_one_line(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c", title="Wings\nand\tflows ") as campaign:
        assert campaign.title == "Wings and flows"


@pytest.mark.slow
def test_a_campaign_with_such_a_grade_from_before_opens_and_exports(campaign: Campaign, tmp_path: Path) -> None:
    """Nothing that was judged is out of reach because a sentence was let in once."""
    written = json.dumps({"0": "No", "1": "\ud800 Yes"})
    with campaign.store.transaction():
        campaign.store.connection.db.conn.execute("UPDATE settings SET value = ? WHERE key = 'grades'", (written,))
    with Campaign(campaign.directory) as again:
        assert again.settings.grades.sentences[1] == "\ufffd Yes"
        again.judging.judge("ann", "1", "d1", 1)
        again.exports.collection.write(tmp_path / "collection")


@pytest.mark.parametrize("field", ["uuid", "query_id", "doc_id", "reason", "note", "shown_at", "source"])
@pytest.mark.parametrize("text", UNWRITABLE)
def test_a_judgement_with_such_a_text_is_refused(campaign: Campaign, field: str, text: str) -> None:
    good = Judgement(str(uuid4()), "ann", "1", "d1", "graded", 1)
    result = campaign.judging.judge_many([good._replace(**{field: text})])
    assert result.saved == []
    assert "judgement: expected text that can be written as UTF-8" in result.refused[0].reason
    assert campaign.store.judgements.counts()["logged"] == 0


@pytest.mark.parametrize("text", UNWRITABLE)
def test_a_choice_or_preference_with_such_a_note_is_refused(campaign: Campaign, text: str) -> None:
    choice = Choice(str(uuid4()), "ann", "1", "chosen", ("d1", "d2"), ("d1",), note=text)
    preference = Preference(str(uuid4()), "ann", "1", "d1", "d2", "left", note=text)
    assert "choice: expected text" in campaign.judging.topic_tasks.choose([choice]).refused[0].reason
    assert "preference: expected text" in campaign.judging.topic_tasks.prefer([preference]).refused[0].reason


def test_an_argument_that_is_no_utf8_is_one_line(campaign: Campaign) -> None:
    said = fails("judge", campaign.directory, "--topic", "\udcff", "--doc", "d1", "--annotator", "ann", "--undo")
    assert "UTF-8" in said
