"""Whole programs with their own checks: what marks by hand, and marks of a survey, make of their times."""
