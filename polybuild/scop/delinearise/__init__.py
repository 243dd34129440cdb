"""Flat subscripts given their dimensions again."""
