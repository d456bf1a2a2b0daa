"""From settings to an artifact: papers, scales, cells, execution, provenance."""
