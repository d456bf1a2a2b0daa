"""Exchanges: what agents give each other. Which parts travel, how they are mixed, how often."""
