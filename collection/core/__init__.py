"""What everything else stands on: records, frames, errors, the layout of a campaign on disk."""
