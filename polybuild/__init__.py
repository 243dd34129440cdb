"""Polyhedral compilation as a build step: marked C loops in, parallel tiled C out."""

__version__ = "0.1.0"
