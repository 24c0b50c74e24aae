"""The next pairs, judgements, skips and undo; adjudication, search, lists and preferences."""
