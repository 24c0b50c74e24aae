"""A literature review: its stages and the decisions on its records."""
