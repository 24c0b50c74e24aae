"""The page Export and its downloads."""
