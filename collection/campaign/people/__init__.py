"""Accounts, assignments, the qualification set, pools."""

from typing import NamedTuple

from collection.campaign.people.accounts import Accounts
from collection.campaign.people.assignments import Assignments
from collection.campaign.people.pools import Pools
from collection.campaign.people.qualification_set import QualificationSet


class People(NamedTuple):
    """Services that decide who judges which pairs."""

    accounts: Accounts
    assignments: Assignments
    qualification_set: QualificationSet
    pools: Pools
