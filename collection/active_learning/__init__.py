"""Active learning: features of documents, learners, and one training round, as pure functions of arrays."""
