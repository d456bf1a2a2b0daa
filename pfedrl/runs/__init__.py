"""From a specification to an artifact: cells, seeds, the loop, checkpoints, provenance."""
