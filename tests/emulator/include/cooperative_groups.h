// cuda_emulator.h has what kernels use of it.
