"""Accounts, assignments, the qualification set, pools."""
