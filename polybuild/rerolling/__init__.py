"""Loops that were unrolled, split or peeled by hand, put together again on the model."""
