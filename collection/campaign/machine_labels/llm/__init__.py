"""Language models: a plan, requests and batches to an endpoint, label sets."""
