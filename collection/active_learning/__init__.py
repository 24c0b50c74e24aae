"""Active learning: features, learners, and one training round; pure functions over arrays."""
