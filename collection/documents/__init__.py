"""Documents: rendering their text, and finding near-duplicates among them."""
