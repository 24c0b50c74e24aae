"""Elements of pages: small widgets, tables and pickers that several pages share."""
