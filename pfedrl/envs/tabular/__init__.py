"""Families with finitely many states, exactly known."""
