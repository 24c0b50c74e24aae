"""Backups, integrity, the lock of a server and its state."""
