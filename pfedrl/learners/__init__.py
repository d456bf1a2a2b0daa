"""Learners: what an agent does alone, for the whole stack of seeds and agents at once."""
