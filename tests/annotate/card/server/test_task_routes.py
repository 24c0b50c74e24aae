"""The routes of lists and preferences: what they hand out, what they take, and whom they refuse."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server import unit_routes
from collection import Campaign, Document
from collection.core.records import Choice, Preference, Role, Topic
from tests.conftest import judging_token
from tests.helpers import Opened, decision, post, put, sql_steps

Payload = dict[str, Any]


@pytest.fixture
def listing(campaign: Campaign) -> Campaign:
    """The small campaign as one of lists: d2 d1 d6 for topic 1, d4 d5 d7 for topic 2."""
    campaign.settings.set_judging_page(task="list", list_size=3, most_chosen=1)
    return campaign


def sync(client: TestClient, task: str = "list", status: int = 200, **payload: Any) -> Payload:
    return post(client, f"{task}/sync", status, **payload)


def sync_directly(campaign: Campaign, task: str, **request: Any) -> Payload:
    """Answer a card of ann without a server."""
    kind = {"list": unit_routes.Lists, "preference": unit_routes.Preferences}[task]
    return cast(Payload, kind(campaign, "ann", {}).sync(cast(Any, request)))


def chosen(query_id: str, *ids: str, shown: tuple[str, ...] = ("d2", "d1", "d6"), **more: Any) -> Payload:
    said = {"query_id": query_id, "kind": "chosen", "shown": list(shown), "chosen": list(ids)}
    return decision(**said, seconds=2.34567, away=1, source="click") | more


def preferred(query_id: str, left: str, right: str, kind: str = "left", **more: Any) -> Payload:
    return decision(query_id=query_id, left=left, right=right, kind=kind) | more


def ids(units: list[Payload]) -> list[str]:
    return [unit["topic"]["query_id"] for unit in units]


# --- lists --------------------------------------------------------------------------------------------


def test_hand_out_choose_and_go_on(client: TestClient, listing: Campaign) -> None:
    listing.settings.set_topic_note("1", "Windows only.")
    first = sync(client, want=1)
    assert set(first) == {"task", "saved", "refused", "units", "plans", "closed", "progress", "exhausted", "version"}
    (unit,) = first["units"]
    assert unit["topic"] == {
        "query_id": "1",
        "title": "running average",
        "description": "Smooth a series.",
        "narrative": "A window.",
        "note": "Windows only.",
    }
    assert [d["doc_id"] for d in unit["documents"]] == ["d2", "d1", "d6"]
    assert unit["documents"][0]["text"] == "The text of document 2."
    assert unit["former"] is None
    assert first["progress"] == {"done": 0, "goal": 2}
    item = chosen("1", "d1")
    second = sync(client, decisions=[item], want=5)
    assert (second["saved"], ids(second["units"]), second["exhausted"]) == ([item["uuid"]], ["2"], True)
    assert second["progress"] == {"done": 1, "goal": 2}
    row = listing.store.topic_tasks.choices().iloc[0]
    assert row[["annotator", "chosen", "seconds", "away", "source"]].tolist() == ["ann", ("d1",), 2.346, 1, "click"]


def test_the_same_request_again_changes_nothing(client: TestClient, listing: Campaign) -> None:
    sync(client, want=2)
    item = chosen("1", "d1")
    for _ in range(3):
        assert sync(client, decisions=[item], holding=["2"])["saved"] == [item["uuid"]]
    assert len(listing.store.topic_tasks.choices(current=False)) == 1


def test_one_odd_decision_does_not_keep_the_others(client: TestClient, listing: Campaign) -> None:
    sync(client, want=1)
    good = chosen("1")
    odd = [
        chosen("2", "d4", shown=("d4", "d5")),
        chosen("1", "d1", "d3"),
        chosen("1", kind="left"),
        chosen("1", shown=("d2",) * 201),
        chosen("1", "d1", shown="d1"),  # type: ignore[arg-type]
        chosen("1") | {"shown": "d1"},
        chosen("1") | {"chosen": [1]},
    ]
    answer = sync(client, odd=True, decisions=[*odd, good])
    assert answer["saved"] == [good["uuid"]]
    reasons = {r["uuid"]: r["reason"] for r in answer["refused"]}
    assert "is not assigned to ann" in reasons[odd[0]["uuid"]]
    assert reasons[odd[1]["uuid"]] == "expected chosen documents among those shown, found 'd3'"
    assert "one of chosen, cannot judge, undone" in reasons[odd[2]["uuid"]]
    assert "at most 200 documents" in reasons[odd[3]["uuid"]]
    assert reasons[odd[5]["uuid"]] == "expected shown as a list"
    assert set(reasons) == {item["uuid"] for item in odd}


def test_a_request_waits_for_the_disk_once(client: TestClient, listing: Campaign) -> None:
    with listing.store.transaction():
        said: list[str] = []
        listing.store.connection.db.conn.set_trace_callback(said.append)
    sync_directly(listing, "list", want=1)
    said.clear()
    answer = sync_directly(listing, "list", decisions=[chosen("1", "d1")], want=1)
    assert (len(answer["saved"]), ids(answer["units"])) == (1, ["2"])
    assert [line.split()[0] for line in said if line.startswith(("BEGIN", "COMMIT"))] == ["BEGIN", "COMMIT"]


@pytest.mark.parametrize("task", ["list", "preference"])
def test_no_decision_is_lost_because_nothing_can_be_handed_out_after_it(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    campaign.settings.set_judging_page(task=task, list_size=3, preference_size=3)
    unit = sync_directly(campaign, task, want=1)["units"][0]
    item = chosen("1", "d1") if task == "list" else preferred("1", *unit["plan"]["next"]["pair"])
    tries: list[Any] = []

    def broken(*asked: Any) -> None:
        tries.append(asked)
        raise RuntimeError("out of order")

    with monkeypatch.context() as patch:
        patch.setattr(campaign.judging.topic_tasks, "next_topics", broken)
        with pytest.raises(RuntimeError, match="out of order"):
            sync_directly(campaign, task, decisions=[item], want=1)
    assert len(tries) == 2
    with Campaign(campaign.directory) as other:
        log = other.store.topic_tasks.choices() if task == "list" else other.store.topic_tasks.preferences()
        assert log["uuid"].tolist() == [item["uuid"]]
    again = sync_directly(campaign, task, decisions=[item], want=1)
    assert again["saved"] == [item["uuid"]]
    assert again["progress"]["done"] == (1 if task == "list" else 0)


def test_look_back_change_and_take_back(client: TestClient, listing: Campaign) -> None:
    sync(client, want=2)
    cannot = chosen("2", kind="cannot judge", reason="no idea", shown=("d4", "d5"), note="hm")
    sync(client, decisions=[chosen("1", "d6", shown=("d6", "d2")), cannot])
    newest, first = post(client, "list/recent", limit=5)["decisions"]
    assert (newest["query_id"], newest["title"], newest["reason"], newest["note"]) == (
        "2",
        "read a table",
        "no idea",
        "hm",
    )
    assert (first["shown"], first["chosen"]) == (["d6", "d2"], ["d6"])
    assert len(post(client, "list/recent", limit=1)["decisions"]) == 1
    unit = post(client, "list/unit", unit="1")
    assert [d["doc_id"] for d in unit["documents"]] == ["d6", "d2"]  # the list as it was
    assert unit["former"]["chosen"] == ["d6"]
    sync(client, decisions=[chosen("1"), chosen("2", kind="undone", shown=())])
    assert post(client, "list/unit", unit="1")["former"]["chosen"] == []
    assert ids(sync(client, want=3)["units"]) == ["2"]
    assert post(client, "list/recent")["decisions"][0]["query_id"] == "1"


def test_what_another_annotator_has_or_did_is_not_seen(client: TestClient, listing: Campaign) -> None:
    listing.people.assignments.assign(["2"], accounts=["ann"])
    sync(client, want=2)
    sync(client, decisions=[chosen("1", "d1")])
    client.headers[TOKEN_HEADER] = judging_token(listing, "ben", "annotator")
    answer = sync(client, want=5, holding=["2", "none"])
    assert (answer["units"], answer["closed"], answer["exhausted"]) == ([], ["2", "none"], True)
    assert answer["progress"] == {"done": 0, "goal": 0}
    assert "topic '2' is not assigned to ben" in sync(client, decisions=[chosen("2")])["refused"][0]["reason"]
    assert post(client, "list/recent")["decisions"] == []
    assert "'2' is not yours" in post(client, "list/unit", 400, unit="2")["error"]
    assert post(client, "list/unit", unit="1")["former"] is None
    post(client, "list/unit", 400, unit="none")


def test_another_task_takes_decisions_and_hands_nothing_out(client: TestClient, listing: Campaign) -> None:
    sync(client, want=1)
    listing.settings.set_judging_page(task="grades")
    item = chosen("1", "d1")
    answer = sync(client, decisions=[item], want=3, holding=["1"])
    assert (answer["task"], answer["saved"], answer["units"]) == ("grades", [item["uuid"]], [])


def test_long_texts_are_cut(client: TestClient, listing: Campaign) -> None:
    put(listing, documents=[Document("d2", "long", "x" * (unit_routes.UNIT_CAP + 5))])
    document = sync(client, want=1)["units"][0]["documents"][0]
    assert (len(document["text"]), document["truncated"], document["length"]) == (
        unit_routes.UNIT_CAP,
        True,
        unit_routes.UNIT_CAP + 5,
    )


def test_a_topic_has_its_turns_and_fields(client: TestClient, listing: Campaign) -> None:
    turn = {"speaker": "user", "text": "What is a window?"}
    put(listing, topics=[Topic("1", "running average", fields={"history": [turn], "stance": "pro"})])
    assert sync(client, want=1)["units"][0]["topic"] == {
        "query_id": "1",
        "title": "running average",
        "description": "",
        "narrative": "",
        "note": "",
        "turns": [turn],
        "fields": [{"name": "stance", "text": "pro"}],
    }


# --- preferences --------------------------------------------------------------------------------------


@pytest.fixture
def comparing(campaign: Campaign) -> Campaign:
    campaign.settings.set_judging_page(task="preference", preference_size=3)
    return campaign


def test_compare_with_a_plan_that_is_ahead_of_the_keys(client: TestClient, comparing: Campaign) -> None:
    first = sync(client, "preference", want=1)
    (unit,) = first["units"]
    assert {d["doc_id"] for d in unit["documents"]} == {"d1", "d2", "d6"}
    assert unit["former"] == []
    plan = unit["plan"]
    assert (plan["done"], plan["expected"]) == (0, 3)
    # The card answers twice before anything is sent, by what the plan says.
    one = plan["next"]
    two = one["then"]["left"]
    decisions = [preferred("1", *one["pair"]), preferred("1", *two["pair"], "equal")]
    answer = sync(client, "preference", decisions=decisions[:1], holding=["1"])
    assert answer["plans"]["1"]["next"]["pair"] == two["pair"]
    assert answer["plans"]["1"]["done"] == 1
    answer = sync(client, "preference", decisions=decisions[1:], holding=["1"], want=1)
    assert answer["plans"]["1"]["next"]["pair"] == two["then"]["equal"]["pair"]
    assert ids(answer["units"]) == ["2"]


def depth(node: Payload) -> int:
    """The number of answers that a plan looks ahead."""
    return max((1 + depth(after) for after in node.get("then", {}).values()), default=0)


def test_only_the_first_topic_in_hand_has_a_plan_far_ahead(
    client: TestClient, comparing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (unit["plan"]["next"] for unit in sync(client, "preference", want=2)["units"])
    assert (depth(one), depth(two)) == (3, 1)
    held = sync(client, "preference", holding=["2", "1"])["plans"]
    assert (depth(held["2"]["next"]), depth(held["1"]["next"])) == (3, 1)
    assert depth(post(client, "preference/unit", unit="2")["plan"]["next"]) == 3
    # Where the first is changed or done, the one that is then the first gets its own.
    plans = sync(client, "preference", decisions=[preferred("1", *one["pair"])], holding=["2", "1"])["plans"]
    assert {query_id: depth(plan["next"]) for query_id, plan in plans.items()} == {"1": 1, "2": 3}
    monkeypatch.setattr(unit_routes, "LONG", 2)
    assert depth(sync(client, "preference", holding=["2"])["plans"]["2"]["next"]) == 2


def test_every_step_of_a_plan_is_what_the_server_says_later(client: TestClient, comparing: Campaign) -> None:
    """Two hands: the plan's tree and the answers of the server agree down to the end, whatever is answered."""
    for kinds in (["left", "right", "left", "right"], ["equal", "left", "left"], ["right", "right", "equal"]):
        (unit,) = post(client, "preference/sync", want=1)["units"][:1]
        query_id, node = unit["topic"]["query_id"], unit["plan"]["next"]
        for kind in kinds:
            if node["pair"] is None:
                break
            ahead = node["then"][kind]
            item = preferred(query_id, *node["pair"], kind)
            answer = sync(client, "preference", decisions=[item], holding=[query_id])
            assert answer["saved"] == [item["uuid"]]
            node = answer["plans"][query_id]["next"]
            assert node["pair"] == ahead["pair"]
        assert node["pair"] is None
        assert answer["closed"] == [query_id]
        if answer["progress"]["done"] == answer["progress"]["goal"]:
            break


def test_undo_opens_a_topic_again_and_the_past_can_be_looked_at(client: TestClient, comparing: Campaign) -> None:
    unit = sync(client, "preference", want=1)["units"][0]
    left, right = unit["plan"]["next"]["pair"]
    sync(client, "preference", decisions=[preferred("1", left, right, "cannot judge", reason="same text")])
    (recent,) = post(client, "preference/recent", limit=3)["decisions"]
    assert (recent["left"], recent["right"], recent["kind"], recent["reason"]) == (
        left,
        right,
        "cannot judge",
        "same text",
    )
    assert recent["title"] == "running average"
    back = post(client, "preference/unit", unit="1")
    assert [f["kind"] for f in back["former"]] == ["cannot judge"]
    assert back["plan"]["done"] == 1
    again = sync(client, "preference", decisions=[preferred("1", right, left, "undone")], holding=["1"])
    assert again["plans"]["1"]["next"]["pair"] == [left, right]
    # A card that was reloaded gets the topic that it was in the middle of, with what it has said there.
    sync(client, "preference", decisions=[preferred("1", left, right, "right")])
    unit = sync(client, "preference", want=1)["units"][0]
    assert (unit["topic"]["query_id"], [f["kind"] for f in unit["former"]], unit["plan"]["done"]) == ("1", ["right"], 1)
    assert set(sync(client, "preference", holding=["1"])["plans"]) == {"1"}


def test_what_is_no_preference_is_refused(client: TestClient, comparing: Campaign) -> None:
    sync(client, "preference", want=1)
    odd = [
        preferred("1", "d1", "d1"),
        preferred("1", "d1", "d8"),
        preferred("2", "d4", "d5"),
        preferred("1", "d1", "d2", "chosen"),
        preferred("1", "d1", "d2") | {"right": None},
    ]
    answer = sync(client, "preference", odd=True, decisions=odd)
    assert len(answer["refused"]) == len(odd)
    assert answer["saved"] == []


# --- pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["list", "preference"])
@pytest.mark.parametrize(("view", "role"), [("overview", "manager"), ("overview", "annotator"), ("export", "manager")])
def test_pages_speak_of_decisions(campaign: Campaign, opened: Opened, task: str, view: str, role: Role) -> None:
    campaign.settings.set_judging_page(task=task)
    campaign.people.assignments.update(annotators=2)
    for name in ("ann", "ben"):
        if task == "list":
            campaign.judging.topic_tasks.choose([Choice(str(uuid4()), name, "1", "chosen", ("d2", "d1"), ("d2",))])
        else:
            campaign.judging.topic_tasks.prefer(
                [Preference(str(uuid4()), name, "1", "d2", d, "left") for d in ("d1", "d6")]
            )
    app = opened(campaign, view, "ann", role)
    assert not app.error
    words = " ".join(str(e.value) for e in [*app.markdown, *app.caption, *app.subheader, *app.metric])
    if role == "annotator":
        assert "pairs" not in words
    elif view == "overview":
        assert ("100% of 1 comparison;" if task == "list" else "100% of 2 comparisons.") in words
    else:
        assert ("1 relevant document in 1 topic" if task == "list" else "4 preferences between two") in words


# --- speed --------------------------------------------------------------------------------------------


THOUSANDS = 7000


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with thousands of topics, nothing of it judged."""
    tmp_path, topics, size = tmp_path_factory.mktemp("thousands"), THOUSANDS, 10
    (tmp_path / "t.tsv").write_text("".join(f"{t}\ttopic {t}\n" for t in range(topics)))
    pairs = [(t, f"t{t}d{d}", d) for t in range(topics) for d in range(size)]
    lines = (json.dumps({"doc_id": doc, "title": doc, "text": f"words of {doc}"}) for _, doc, _ in pairs)
    (tmp_path / "d.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "a.run").write_text("".join(f"{t} Q0 {doc} {d + 1} {100 - d} a\n" for t, doc, d in pairs))
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(
            documents=[tmp_path / "d.jsonl"], topics=tmp_path / "t.tsv", runs=[tmp_path / "a.run"]
        )
        campaign.people.pools.add("depth", depth=size)
    return tmp_path / "campaign"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["list", "preference"])
@pytest.mark.long
def test_thousands_of_topics_cost_a_save_nothing(thousands: Path, tmp_path: Path, task: str) -> None:
    """A save reads no row for each topic of the campaign, and a page a few."""
    shutil.copytree(thousands, tmp_path / "campaign")
    with Campaign(tmp_path / "campaign") as campaign:
        campaign.settings.set_judging_page(task=task)
        campaign.people.accounts.add("ann", "annotator")
        answer = sync_directly(campaign, task, want=6)
        assert len(json.dumps(answer)) < 200_000
        units, steps, finished = answer["units"], [], 0
        for _ in range(100):
            unit = units[0]
            query_id = unit["topic"]["query_id"]
            if task == "list":
                shown = tuple(d["doc_id"] for d in units.pop(0)["documents"])
                finished += 1
                item = chosen(query_id, shown[3], shown=shown)
            else:
                item = preferred(query_id, *unit["plan"]["next"]["pair"])
            held = [u["topic"]["query_id"] for u in units]
            with sql_steps(campaign) as counted:
                answer = sync_directly(campaign, task, decisions=[item], holding=held, want=6 - len(units))
            steps.append(len(counted))
            assert answer["saved"] == [item["uuid"]]
            units += answer["units"]
            if task == "preference":
                unit["plan"] = answer["plans"][query_id]
                if unit["plan"]["next"]["pair"] is None:
                    units.remove(unit)
                    finished += 1
        assert answer["progress"]["done"] == finished > 3
        assert answer["progress"]["goal"] == THOUSANDS
        order = list(map(int, dict.fromkeys(ids(units))))
        assert all(one < other for one, other in pairwise(order))
        assert 0 < max(steps) < THOUSANDS
        with Campaign(campaign.directory) as page, sql_steps(page) as counted:  # as every page opens one
            assert page.results.overview.next_step().page == "judge"
        assert 0 < len(counted) < 300 * THOUSANDS
