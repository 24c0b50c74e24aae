"""Exports of a campaign: qrels, logs, collection, collection card, work lists."""

from typing import NamedTuple

from collection.campaign.exports.collection_card import CollectionCard
from collection.campaign.exports.collection_export import CollectionExport
from collection.campaign.exports.export import Exporter
from collection.campaign.exports.training_data import TrainingData
from collection.campaign.exports.work_lists import WorkLists


class Exports(NamedTuple):
    """Files out of a campaign."""

    files: Exporter
    """Qrels, logs and the pool."""
    collection: CollectionExport
    """A whole collection in one directory."""
    collection_card: CollectionCard
    training_data: TrainingData
    work_lists: WorkLists
