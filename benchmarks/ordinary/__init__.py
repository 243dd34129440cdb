"""Loops as people write them, from a dozen fields."""
