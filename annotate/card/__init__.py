"""The judging card: the script in the browser, and its routes."""
