"""Labelled data, divided among workers."""
