"""``python -m collection.cli``: the `cleverdon` command where it is not on the path."""

from collection.cli import main

main()
