"""Tests of generated answers in a campaign."""
