"""Policies fixed beforehand: floors and ceilings."""
