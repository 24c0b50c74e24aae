"""Machine labels on the judging card: hidden unless the manager shows a set, and recorded as seen."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from annotate.card.server import routes
from collection import Campaign
from tests.helpers import judged, post


@pytest.fixture
def labelled(campaign: Campaign) -> Campaign:
    campaign.machine_labels.sets.label_by_rule("contains-string", {"string": "document 2", "then": 3})
    return campaign


def views(campaign: Campaign) -> list[tuple[str, str]]:
    found = campaign.store.machine_labels.views()
    return list(zip(found["annotator"], found["doc_id"], strict=True))


@pytest.mark.slow
def test_labels_are_hidden_by_default(client: TestClient, labelled: Campaign) -> None:
    answer = post(client, "sync", query_id="1", want=5, recent=True)
    assert [document for document in answer["documents"] if "label" in document] == []
    assert views(labelled) == []


def test_a_shown_label_is_recorded_with_the_lease(client: TestClient, labelled: Campaign) -> None:
    labelled.settings.set_judging_page(show_labels="contains-string")
    (document,) = post(client, "sync", query_id="1", want=1)["documents"]
    assert (document["doc_id"], document["label"]) == ("d2", {"label_set": "contains-string", "relevance": 3.0})
    assert views(labelled) == [("ann", "d2")]
    post(client, "sync", decisions=[judged("d2", 3)])
    assert labelled.machine_labels.sets.unseen("contains-string", labelled.results.agreement.labels()).empty
    recent = post(client, "sync", query_id="1", want=0, recent=True)["recent"]
    assert [each["doc_id"] for each in recent if "label" not in each] == ["d2"]


@pytest.mark.slow
def test_a_document_found_by_searching_has_its_label(client: TestClient, labelled: Campaign) -> None:
    labelled.people.pools.add("depth", depth=3)
    labelled.machine_labels.sets.label_by_rule("contains-string", {"string": "document 2", "then": 3})
    labelled.settings.set_judging_page(show_labels="contains-string")
    assert post(client, "take", query_id="1", doc_id="d3")["label"]["relevance"] == 0
    assert "label" not in post(client, "take", query_id="1", doc_id="d8")  # it has none
    assert views(labelled) == [("ann", "d3")]


def test_the_wire_has_no_label_without_a_record(
    client: TestClient, labelled: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the record fails, nothing is handed out."""
    labelled.settings.set_judging_page(show_labels="contains-string")

    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(routes, "_show_labels", fail)
    with pytest.raises(RuntimeError):
        post(client, "sync", query_id="1", want=1)
    assert views(labelled) == []
