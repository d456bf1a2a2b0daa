"""The papers' statements, one file each, checked on instances small enough to compute."""
