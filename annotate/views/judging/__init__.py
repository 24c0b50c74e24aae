"""Pages on which people judge, and look at what they judged."""
