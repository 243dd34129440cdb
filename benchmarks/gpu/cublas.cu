// cuBLAS on matrices of small whole numbers (zeros would take less power): usage: cublas [N [OPERATION REAL]]..., prints the seconds of the kernels alone.
// OPERATION is gemm (as in matmul.c), tn or nt (A or B transposed), syrk, trmm, or batched (2^29 / N^3 products).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#define OPERATIONS(REAL, L)                                                                                            \
    static cublasStatus_t once(cublasHandle_t handle, const char *what, int n, int batch, const REAL *a,              \
                               const REAL *b, REAL *c)                                                                \
    {                                                                                                                  \
        const REAL one = 1, zero = 0;                                                                                  \
        const long each = (long)n * n;                                                                                 \
        const cublasOperation_t n_ = CUBLAS_OP_N, t_ = CUBLAS_OP_T;                                                    \
        if (!strcmp(what, "syrk"))                                                                                     \
            return cublas##L##syrk(handle, CUBLAS_FILL_MODE_UPPER, t_, n, n, &one, a, n, &zero, c, n);                 \
        if (!strcmp(what, "trmm"))                                                                                     \
            return cublas##L##trmm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, n_, CUBLAS_DIAG_NON_UNIT, n, n,  \
                                   &one, a, n, b, n, c, n);                                                            \
        if (!strcmp(what, "batched"))                                                                                  \
            return cublas##L##gemmStridedBatched(handle, n_, n_, n, n, n, &one, b, n, each, a, n, each, &zero, c, n,  \
                                                 each, batch);                                                        \
        /* rows for columns: its first matrix is our second one */                                                     \
        return cublas##L##gemm(handle, strcmp(what, "nt") ? n_ : t_, strcmp(what, "tn") ? n_ : t_, n, n, n, &one, b,  \
                               n, a, n, &zero, c, n);                                                                  \
    }
OPERATIONS(float, S)
OPERATIONS(double, D)

template <class REAL> __global__ void fill(REAL *data, long count)
{
    for (long i = blockIdx.x * 256l + threadIdx.x; i < count; i += gridDim.x * 256l)
        data[i] = (REAL)((int)((i + 1) * 2654435761u / 7 % 9) - 4);
}

template <class REAL> static bool measure(cublasHandle_t handle, const char *what, int n)
{
    int batch = strcmp(what, "batched") ? 1 : (int)((1l << 29) / ((long)n * n * n));
    size_t bytes = sizeof(REAL) * n * n * batch;
    REAL *a, *b, *c;
    if (cudaMalloc(&a, bytes) || cudaMalloc(&b, bytes) || cudaMalloc(&c, bytes))
        return false;
    fill<<<1024, 256>>>(a, (long)(bytes / sizeof(REAL)));
    fill<<<1024, 256>>>(b, (long)(bytes / sizeof(REAL)));
    /* without TF32; doubles may use matrix instructions */
    if (cublasSetMathMode(handle, sizeof(REAL) == 4 ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH))
        return false;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    bool good = true;
    for (int run = 0; run < 6 && good; run++) {
        cudaEventRecord(begin);
        good = once(handle, what, n, batch, a, b, c) == CUBLAS_STATUS_SUCCESS;
        cudaEventRecord(end);
        good = cudaEventSynchronize(end) == cudaSuccess && good;
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (run > 0 && good)
            printf("seconds %.9f\n", milliseconds / 1000);
    }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return good;
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    if (cublasCreate(&handle))
        return 1;
    if (argc < 4)
        return !measure<float>(handle, "gemm", argc > 1 ? atoi(argv[1]) : 1024);
    bool good = true;
    for (int at = 1; at + 2 < argc; at += 3) {
        printf("cublas %s %s %s\n", argv[at], argv[at + 1], argv[at + 2]);
        int n = atoi(argv[at]);
        good = (strcmp(argv[at + 2], "double") ? measure<float>(handle, argv[at + 1], n)
                                               : measure<double>(handle, argv[at + 1], n)) && good;
    }
    return !good;
}
