"""Pages and forms of a person's account."""
