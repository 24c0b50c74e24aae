"""Colours of marks that can be told apart on the light and on the dark background."""

BLUE = "#2f7fd1"
ORANGE = "#e8590c"
NEUTRAL = "#808893"
"""A grey."""
