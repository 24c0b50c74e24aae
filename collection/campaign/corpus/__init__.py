"""Topics, documents, runs, images, clicks and features, and how a document is shown."""
