"""How close plain loops come to a BLAS."""
