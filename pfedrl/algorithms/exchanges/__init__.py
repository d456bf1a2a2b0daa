"""Exchanges for every method: each takes the place of the method's plain average."""
