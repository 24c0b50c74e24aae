"""Label sets and the study of their worth."""
