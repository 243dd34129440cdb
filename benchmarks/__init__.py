"""Figures that can be made again: one command a table."""
