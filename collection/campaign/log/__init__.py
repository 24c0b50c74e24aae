"""The append-only log of judgements: its checks, its results, the ledger of a topic."""
