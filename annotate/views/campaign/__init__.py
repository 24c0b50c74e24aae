"""Pages with which a manager sets a campaign up and watches it."""
