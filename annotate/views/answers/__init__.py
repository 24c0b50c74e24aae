"""Pages on generated answers."""
