"""Pages about results: agreement, annotators, comparison, machine labels, reusability."""
