"""Parts of pages that several groups of pages use."""
