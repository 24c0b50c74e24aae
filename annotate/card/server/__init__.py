"""The judging card's routes, and the process that learns beside them."""
