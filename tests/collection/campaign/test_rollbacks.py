"""Nothing that was computed inside a transaction outlives its rollback."""

import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from collection.campaign import Campaign
from collection.campaign.progress import progress
from collection.core.records import Choice
from tests.helpers import fill

DOCS = [f"d{number}" for number in range(8)]


class UndoneError(Exception):
    """Ends a transaction."""


def build(folder: Path) -> Campaign:
    campaign = Campaign.create(folder / "campaign")
    fill(campaign, ["1", "2"], DOCS)
    for name in ("ann", "ben"):
        campaign.people.accounts.add(name, "manager")
    return campaign


@pytest.fixture
def campaign(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def undo(campaign: Campaign, change: Callable[[], object], *read: Callable[[], object]) -> None:
    """Make a change and read what follows from it, then roll it back."""
    with pytest.raises(UndoneError), campaign.transaction():
        change()
        for each in read:
            each()
        raise UndoneError


def fresh(campaign: Campaign, read: Callable[[Campaign], object]) -> object:
    """What a campaign says that has kept nothing."""
    with Campaign(campaign.directory) as again:
        return read(again)


READS: dict[str, Callable[[Campaign], object]] = {
    "progress of an annotator": lambda c: c.progress.annotator_standing("1", "ann"),
    "progress in all topics": lambda c: c.progress.totals("ann", "1"),
    "standings": lambda c: c.progress.standings("ann", "1"),
    "documents of the loop": lambda c: {q: rows.tolist() for q, rows in c.progress.loop_scope.loop_rows().items()},
    "budget": lambda c: (
        c.progress.budget.left(),
        c.progress.budget.most_in_loop(),
        dict(c.progress.budget.judged_in_pool(c.settings.modes())),
    ),
    "qrels": lambda c: c.results.qrels.build().to_dict("records"),
    "settings": lambda c: (c.settings.loop(), c.settings.assignment(), c.settings.judging_page()),
    "rankings of the loop": lambda c: [each.tolist() for each in c.loop.topic_rankings("1").rankings],
    "working time": lambda c: len(c.judging.history._entries("ann")),
    "calibration topics": lambda c: c.recall.across_topics.state(),
    "list task": lambda c: (c.judging.topic_tasks.progress("ann"), c.judging.topic_tasks.next_topics("ann", 9).fresh),
}


def judge(campaign: Campaign, topic: str) -> None:
    for doc_id in DOCS[:3]:
        campaign.judging.judge("ann", topic, doc_id, 2)
    choice = Choice(str(uuid4()), "ann", topic, kind="chosen", shown=("d0",), chosen=("d0",))
    campaign.judging.topic_tasks.choose([choice])


def assign(campaign: Campaign, topic: str) -> None:
    campaign.people.assignments.assign([topic], ["ben"])


@pytest.mark.parametrize("change", [judge, assign])
@pytest.mark.parametrize("mode", ["pool", "loop-in-pool"])
@pytest.mark.parametrize("name", READS)
@pytest.mark.long
def test_what_was_read_in_an_undone_change_is_forgotten(
    campaign: Campaign,
    name: str,
    mode: str,
    change: Callable[[Campaign, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another change of the kind follows, which gives entries and versions the numbers of the undone one."""
    monkeypatch.setattr(progress, "OTHERS_AFTER", 0.0)
    campaign.settings.set_loop(mode=mode, budget=6 if mode != "pool" else 0)
    if name == "list task":
        campaign.settings.set_judging_page(task="list")
    read = READS[name]
    read(campaign)
    undo(campaign, lambda: change(campaign, "1"), lambda: read(campaign))
    assert read(campaign) == fresh(campaign, read)
    change(campaign, "2")
    assert read(campaign) == fresh(campaign, read)


def test_a_savepoint_is_a_rollback_too(campaign: Campaign) -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return len(calls)

    def value() -> int:
        return campaign.store.cached("calls", "same", compute)

    assert (value(), value()) == (1, 1)
    with campaign.transaction():
        assert value() == 1
    assert value() == 1  # a commit keeps it
    with campaign.transaction(), pytest.raises(UndoneError), campaign.store.savepoint():
        raise UndoneError
    assert (value(), campaign.store.cached("calls", "other", compute)) == (2, 3)


def test_connections_share_what_was_computed_outside_a_transaction(campaign: Campaign) -> None:
    def value(of: Campaign, computed: str) -> str:
        return of.store.cached("value", "same", lambda: computed, shared=True)

    with Campaign(campaign.directory) as other:
        undo(campaign, lambda: value(campaign, "undone"))
        assert value(other, "first") == value(campaign, "second") == "first"
        with campaign.transaction():
            assert value(campaign, "in a transaction") == "in a transaction"
        assert value(other, "third") == "first"


def test_values_of_the_members_used_last_are_cached(campaign: Campaign) -> None:
    def values(*members: str, computed: int) -> list[int]:
        keys = dict.fromkeys(members, "same")
        return [*campaign.store.cached_each("value", keys, lambda new: dict.fromkeys(new, computed), most=2).values()]

    assert values("a", "b", computed=1) == [1, 1]
    assert values("a", computed=2) == [1]
    assert values("c", computed=3) == [3]  # in place of b
    assert values("a", "b", "c", computed=4) == [1, 4, 3]


def test_qrels_are_those_of_a_restored_copy(campaign: Campaign, tmp_path: Path) -> None:
    """The copy counts its entries on from the same number as the campaign in whose place it is."""
    shutil.copytree(campaign.directory, tmp_path / "copy")

    def judge_and_build(relevance: int) -> list[int]:
        with Campaign(campaign.directory) as again:
            again.judging.judge("ann", "1", "d1", relevance)
            return again.results.qrels.build()["relevance"].tolist()

    assert judge_and_build(1) == [1]
    campaign.close()
    shutil.rmtree(campaign.directory)
    shutil.copytree(tmp_path / "copy", campaign.directory)
    assert judge_and_build(0) == [0]
