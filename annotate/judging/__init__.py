"""The judging card: the component that people judge with, and the routes that it talks to."""
