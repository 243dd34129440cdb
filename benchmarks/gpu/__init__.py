"""Kernels on a GPU: correctness, times of kernels and copies, and a matrix product against cuBLAS."""
