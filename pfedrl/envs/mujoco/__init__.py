"""Families on MuJoCo's physics."""
