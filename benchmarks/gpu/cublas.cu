// cuBLAS on the matrices of matmul.c: usage: cublas N, prints the seconds of the kernel alone.
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    size_t bytes = sizeof(float) * n * n;
    float *a, *b, *c, one = 1, zero = 0;
    if (cudaMalloc(&a, bytes) || cudaMalloc(&b, bytes) || cudaMalloc(&c, bytes))
        return 1;
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cublasHandle_t handle;
    if (cublasCreate(&handle) || cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH))
        return 1;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int run = 0; run < 6; run++) {
        cudaEventRecord(begin);
        if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n))
            return 1;
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (run > 0)
            printf("seconds %.9f\n", milliseconds / 1000);
    }
    return 0;
}
