"""Families to look at: pictures, tables and films. No run imports this package."""
