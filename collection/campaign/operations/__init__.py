"""Backups, integrity, the lock of a server and its state."""

from typing import NamedTuple

from collection.campaign.operations.backups import Backups
from collection.campaign.operations.server_state import ServerState


class Operations(NamedTuple):
    """Backups, and the state of the server."""

    backups: Backups
    server_state: ServerState
