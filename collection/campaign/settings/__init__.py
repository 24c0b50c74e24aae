"""Settings of the loop, the assignment and the judging page; the grade scale."""
