"""Blank-separated tables (runs, qrels): a fast reader, and a strict one that explains errors."""
