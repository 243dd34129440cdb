"""GPU targets: CUDA and OpenCL."""
