"""Gymnasium's classic control, batched."""
