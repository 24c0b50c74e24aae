"""The part of the page Overview that updates the pool of a task."""

from __future__ import annotations

from collection import Campaign
from collection.core.layout import SUPPORT
from tests.helpers import Opened


def test_the_choice_of_citations_is_that_of_the_last_update(answered: Campaign, opened: Opened) -> None:
    answered.answers.tasks.prepare(SUPPORT, citations="first")
    app = opened(answered, "overview", query={"task": SUPPORT})
    assert app.radio(key="citations").value == "first"
    app.button(key="prepare").click().run()
    with answered.answers.tasks.open(SUPPORT) as task:
        assert len(task.store.pool.ids()) == 8
