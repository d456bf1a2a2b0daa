"""The plain loops that benchmarks and tests compare with."""
