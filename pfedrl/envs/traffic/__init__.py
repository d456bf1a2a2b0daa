"""The figure-eight road on SUMO."""
