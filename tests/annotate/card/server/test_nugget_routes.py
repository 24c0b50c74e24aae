"""The route by which annotators make nuggets beside the documents that they judge."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from annotate.card.server.document_payload import PREFIX
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.core.layout import SUPPORT
from collection.core.records import Document, Topic
from tests.annotate.test_fuzz_routes import changed
from tests.conftest import card_client
from tests.helpers import AS_JSON, cases, post, put

pytestmark = pytest.mark.slow

PLACE = {"doc_id": "d1", "start": 0, "end": 3}


def edit(uuid: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"uuid": uuid, "kind": kind, **fields}


def test_annotators_make_change_and_delete_their_own_nuggets_and_a_repeated_edit_has_no_effect(
    answered: Campaign,
) -> None:
    edits = [
        edit("u1", "add", text=" Air lifts. ", importance="vital", sources=[PLACE]),
        edit("u2", "change", nugget="u1", text="Air lifts wings."),
        edit("u3", "add", text="Wings.", sources=[{"doc_id": "d1", "start": None, "end": None}]),
    ]
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        assert post(client, "nuggets", query_id="1")["nuggets"] == []  # those of eva are not ann's
        answer = post(client, "nuggets", query_id="1", edits=edits)
        assert (answer["saved"], answer["refused"]) == (["u1", "u2", "u3"], [])
        first, second = answer["nuggets"]
        assert first == {
            "nugget": "3", "added": "u1", "text": "Air lifts wings.", "importance": "vital", "sources": [PLACE],
        }  # fmt: skip
        assert post(client, "nuggets", query_id="1", edits=edits) == answer
        deleted = post(client, "nuggets", query_id="1", edits=[edit("u4", "delete", nugget=second["nugget"])])
        assert deleted["nuggets"] == [first]
        assert post(client, "nuggets", query_id="1", edits=[edits[2]])["nuggets"] == [first]  # it stays deleted
        assert answered.answers.nuggets.undo("1", annotator="ann") == "deleted"
    made = answered.answers.nuggets.current("1")[2:]
    assert [(each.text, each.version, each.sources) for each in made] == [
        ("Air lifts wings.", 2, (("d1", 0, 3),)),
        ("Wings.", 1, (("d1", None, None),)),
    ]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (edit("u", "change", nugget="1", text="Mine."), "the nugget is no longer in your list"),
        (edit("u", "delete", nugget="9"), "the nugget is no longer in your list"),
        (edit("u", "add", text="\u2028 "), "text of a nugget of topic '1': expected a text, found none"),
        (edit("u", "add"), "text of a nugget of topic '1': expected a text, found none"),
        (edit("u", "add", text="A.", sources=[PLACE | {"doc_id": "d9"}]), "document 'd9' is not in the campaign"),
        (edit("u", "add", text="A.", sources=[PLACE | {"end": -1}]), "expected end as a whole number from 0"),
        (edit("u", "add", text="A.", sources=[PLACE | {"end": None}]), "source of a nugget: expected start and end"),
        (edit("u", "change", nugget="1", sources=[PLACE | {"start": 9}]), "source of a nugget: expected start and end"),
    ],
)
def test_an_edit_that_cannot_be_saved_is_refused_by_itself(
    answered: Campaign, made: dict[str, Any], reason: str
) -> None:
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        answer = post(client, "nuggets", query_id="1", edits=[made, edit("u2", "add", text="Air.")])
    (refused,) = answer["refused"]
    assert answer["saved"] == ["u2"]
    assert refused["uuid"] == "u"
    assert refused["reason"].startswith(reason)
    assert [each.text for each in answered.answers.nuggets.current("1")] == ["Air is fast.", "Pressure falls.", "Air."]


def test_only_campaigns_with_generated_answers_make_nuggets_and_no_task_does(
    answered: Campaign, tmp_path: Path
) -> None:
    answered.answers.tasks.prepare(SUPPORT)
    edits = [edit("u", "add", text="Air.")]
    with card_client(JudgingService(answered.directory), answered) as client:
        (topic, *_) = post(client, f"tasks/{SUPPORT}/topics")["topics"]
        refused = post(client, f"tasks/{SUPPORT}/nuggets", 400, query_id=topic["query_id"], edits=edits)
        assert refused["error"] == "this campaign has no generated answers"
    with Campaign.create(tmp_path / "plain") as plain:
        put(plain, [Topic("1", "wing lift")], [Document("d1", "Lift", "Air lifts wings.")])
        with card_client(JudgingService(plain.directory), plain) as client:
            post(client, "nuggets", 400, query_id="1", edits=edits)
        assert plain.answers.nuggets.current() == []


def test_malformed_edits_are_refused_and_never_an_error_of_the_server(answered: Campaign) -> None:
    rng = random.Random(1)
    sound = {
        "query_id": "1",
        "edits": [
            edit("u1", "add", text="Air lifts.", importance="vital", sources=[PLACE]),
            edit("u2", "change", nugget="u1", text="Air lifts wings.", importance="okay"),
            edit("u3", "delete", nugget="u1"),
        ],
    }
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        for _ in range(cases(60, 3000)):
            asked = changed(rng, copy.deepcopy(sound))
            edits = asked.get("edits") if isinstance(asked, dict) else None
            for made in edits if isinstance(edits, list) else []:
                if isinstance(made, dict) and made.get("uuid") in ("u1", "u2", "u3") and rng.random() < 0.5:
                    made["uuid"] = str(uuid4())  # else an edit that is saved already
            answer = client.post(f"{PREFIX}/nuggets", content=json.dumps(asked), headers=AS_JSON)
            assert answer.status_code in (200, 400), (asked, answer.text)
        assert post(client, "nuggets", query_id="2")["nuggets"] == []
