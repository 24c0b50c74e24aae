"""Generated answers, their nuggets, and the tasks in which annotators judge them."""
