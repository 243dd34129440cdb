"""Kernels written in many ways, which should all become the same code."""
