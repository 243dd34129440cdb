"""One tile shape in each module."""
