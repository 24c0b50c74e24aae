"""Qrels, evaluation, agreement, rank comparison, overview."""
