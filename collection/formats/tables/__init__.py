"""Blank-separated tables, runs and qrels: a fast parser, and a strict one that explains what is wrong."""
