"""Cleverdon's app: the pages in Streamlit, the judging card and its routes, in one process."""
