"""Sparse kernels with loop bounds and subscripts that depend on data."""
