"""Tests of the pages on generated answers."""
