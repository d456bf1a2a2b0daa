"""Deterministic policies with continuous actions."""
