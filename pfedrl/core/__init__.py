"""The floor: errors, files, seeds, settings, measurements. It imports nothing above it."""
