"""GPU targets: CUDA, HIP and OpenCL."""
