"""Exports of a campaign: qrels, logs, collection, collection card, work lists."""
