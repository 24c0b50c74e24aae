"""The judging card's routes, and the training process beside them."""
