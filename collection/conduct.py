"""How annotators work: their pace, and habits that a manager may want to know of."""
