"""Pages of a literature review that no other campaign has."""
