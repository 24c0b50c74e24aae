"""Tests of collection.machine_labels."""
