"""A client of the judging routes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from annotate.card.server.routes import JudgingService
from collection import Campaign
from tests.conftest import card_client


@pytest.fixture
def service(campaign: Campaign) -> JudgingService:
    return JudgingService(campaign.directory)


@pytest.fixture
def client(service: JudgingService, campaign: Campaign) -> Iterator[TestClient]:
    """The card of ann, a manager."""
    with card_client(service, campaign) as client:
        yield client
