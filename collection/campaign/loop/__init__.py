"""Rounds of training, and the order of the systems."""
