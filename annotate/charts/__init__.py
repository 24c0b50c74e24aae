"""Charts of the pages, in Altair."""
