"""The route for monitors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.card.server import health
from annotate.card.server.health import HealthService
from annotate.card.server.trainer import MAX_FAILURES, Trainer
from collection import Campaign


@pytest.fixture
def trainer(campaign: Campaign) -> Trainer:
    return Trainer(campaign.directory)


@pytest.fixture
def client(campaign: Campaign, trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(health, "KEPT_SECONDS", -1.0)
    with TestClient(Starlette(routes=HealthService(campaign.directory, trainer).routes())) as client:
        yield client


def test_a_server_that_works_is_healthy_and_leaves_nothing_behind(client: TestClient, campaign: Campaign) -> None:
    before = sorted(path.name for path in campaign.directory.iterdir())
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "OK\n")
    assert answer.headers["cache-control"] == "no-store"
    assert sorted(path.name for path in campaign.directory.iterdir()) == before


def test_a_full_disk_is_reported(client: TestClient, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []

    def full(handle: int) -> None:
        names.append(sorted(path.name for path in campaign.directory.iterdir()))
        raise OSError(28, "No space left on device", str(campaign.directory))

    before = sorted(path.name for path in campaign.directory.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.text == "The campaign's directory cannot be written (No space left on device).\n"
    assert str(campaign.directory) not in answer.text
    assert names == [before]  # a server that is killed meanwhile leaves no file
    assert client.get("/healthz").status_code == 200


def test_a_database_that_is_held_is_reported_in_time(
    client: TestClient, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "TIMEOUT", 0.01)
    other = sqlite3.connect(campaign.directory / "campaign.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = client.get("/healthz")
    other.close()
    assert answer.status_code == 503
    assert "did not answer" in answer.text


def test_a_campaign_that_has_gone_is_reported_without_its_place(client: TestClient, campaign: Campaign) -> None:
    (campaign.directory / "campaign.db").rename(campaign.directory / "elsewhere.db")
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (503, "The campaign cannot be opened.\n")


def test_a_trainer_that_has_given_up_is_reported(client: TestClient, trainer: Trainer) -> None:
    trainer._failures = MAX_FAILURES
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.text.startswith("The training process ended repeatedly")


def test_requests_in_short_order_share_one_check(
    client: TestClient, campaign: Campaign, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "KEPT_SECONDS", 60.0)
    assert client.get("/healthz").status_code == 200
    trainer._failures = MAX_FAILURES
    assert client.get("/healthz").status_code == 200
