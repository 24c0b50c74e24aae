"""A real server, twenty annotators, and everything that breaks under them.

`make torture` runs these tests in their long form, with 100 kills of the server and 100 of the training process;
`make test-long` in a short one, of which `make test` runs one kill.
"""
