"""CUDA on the CPU: stand-ins for nvcc and for libcuda.so.1, under which unmodified programs run.

See README.md.
"""
