"""Pages about the loop: its settings, recall, and the order of the systems."""
