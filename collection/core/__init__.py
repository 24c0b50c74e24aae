"""Core that everything else imports: records, frames, errors, the layout of a campaign on disk."""
