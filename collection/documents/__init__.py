"""Documents: rendering their texts, and finding near-duplicates."""
