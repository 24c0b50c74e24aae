"""Ledgers of another campaign, on which a rule is calibrated for this one."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.loop.active_learning import seed_of
from collection.campaign.progress import calibration_record as records
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.settings.loop_settings import LOOPING
from collection.campaign.settings.settings import Settings
from collection.core.errors import CampaignError
from collection.core.layout import DATABASE
from collection.core.records import GradeScale
from collection.stopping import Ledger
from collection.stopping.risk_control import is_complete
from collection.store import Store, Ungraded, copy_database


def read_source(directory: Path) -> tuple[str, list[Ledger]]:
    """Return the title of another campaign, and the ledgers of its completely judged topics, in random order.

    It is read from a copy, so nothing in the directory changes. Only topics judged in a loop count.

    Raises
    ------
    CampaignError
        There is no campaign, or no topic in a loop is judged completely.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / DATABASE
        copy_database(directory / DATABASE, copy)
        with Store(copy) as store:
            stored = store.settings.all()
            if "grades" not in stored:
                raise CampaignError(f"{directory}: expected a campaign, found another database")
            grades = GradeScale({int(g): s for g, s in stored["grades"].items()})
            settings = Settings(store, stored["id"], stored["title"], grades)
            scope = LoopScope(store, settings, Corpus(store, Path(folder), settings))
            looping = {query_id: mode for query_id, mode in settings.modes_when_open().items() if mode in LOOPING}
            conditions = records.number_orders(store, records.describe_orders(store, settings.loop(), looping))
            ledgers = [
                topic.for_rule(conditions[query_id], Ungraded(), 0).ledger
                for query_id, topic in scope.topic_ledgers(looping).items()
            ]
    complete = [ledger for ledger in ledgers if is_complete(ledger)]
    if not complete:
        raise CampaignError(
            f"{directory}: expected topics that are judged completely in a loop, which calibrate the rule, found none"
        )
    order = np.random.default_rng(seed_of(stored["id"], "calibration topics", len(complete))).permutation(len(complete))
    return str(stored["title"]), [complete[at] for at in order]
