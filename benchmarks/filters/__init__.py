"""Sums over windows of a few elements of pictures and signals."""
