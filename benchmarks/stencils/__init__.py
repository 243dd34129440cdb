"""Stencils on grids far larger than the caches, against what the memory's bandwidth allows."""
