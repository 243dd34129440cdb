"""Ranks: what processes of an MPI program share of a region, and what they send each other."""
