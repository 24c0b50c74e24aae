"""Files that come into a campaign, and their removal."""
