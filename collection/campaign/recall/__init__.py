"""Recall of a topic, and the advice to stop."""
