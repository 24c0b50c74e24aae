"""Counts, budgets, and the scope of the loop."""
