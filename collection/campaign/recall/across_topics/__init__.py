"""Calibration topics, and the promise across topics."""
