"""Charts of results, in Altair: for notebooks, and for the pages of the app."""
