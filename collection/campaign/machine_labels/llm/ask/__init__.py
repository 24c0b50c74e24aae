"""Requests to an endpoint, one by one and in batches."""
