"""Exact tabular learning: QAvg, SoftPAvg, ProjPAvg."""
