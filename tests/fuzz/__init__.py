"""Differential fuzzing: random C programs, transformed and not, must compute the same."""
