// Checks and times one variant of products.cu: usage: variant N..., prints `N seconds S`, or `N wrong`.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#include "products.cu"

static REAL value(size_t index, int seed)
{
    return (REAL)((int)((index * 2654435761u + seed) / 7 % 9) - 4);
}

static bool right(int n, const std::vector<REAL> &a, const std::vector<REAL> &b, const std::vector<REAL> &c)
{
    for (int s = 0; s < 256; s++) { // rows and columns of all parts of a tile
        int i = (int)((long)s * 40503 % n), j = (int)((long)s * 30011 % n);
        REAL sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[(size_t)i * n + k] * b[(size_t)k * n + j];
        if (sum != c[(size_t)i * n + j])
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    bool all = true;
    for (int each = 1; each < argc; each++) {
        int n = atoi(argv[each]);
        size_t count = (size_t)n * n, bytes = count * sizeof(REAL);
        std::vector<REAL> a(count), b(count), c(count);
        for (size_t i = 0; i < count; i++) {
            a[i] = value(i, 1);
            b[i] = value(i, 2);
        }
        REAL *A, *B, *C;
        if (cudaMalloc(&A, bytes) || cudaMalloc(&B, bytes) || cudaMalloc(&C, bytes))
            return 1;
        cudaMemcpy(A, a.data(), bytes, cudaMemcpyHostToDevice);
        cudaMemcpy(B, b.data(), bytes, cudaMemcpyHostToDevice);
        cudaMemset(C, 0, bytes);
        dim3 grid((n + EDGE - 1) / EDGE, (n + EDGE - 1) / EDGE), block(16, 16);
        cudaEvent_t begin, end;
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
        for (int run = 0; run < 4; run++) {
            cudaEventRecord(begin);
            product<<<grid, block>>>(C, A, B, n, n, n);
            cudaEventRecord(end);
            if (cudaEventSynchronize(end) != cudaSuccess) {
                printf("%d wrong: %s\n", n, cudaGetErrorString(cudaGetLastError()));
                return 1;
            }
            float milliseconds;
            cudaEventElapsedTime(&milliseconds, begin, end);
            if (run > 0)
                printf("%d seconds %.9f\n", n, milliseconds / 1000);
            if (run == 0) {
                cudaMemcpy(c.data(), C, bytes, cudaMemcpyDeviceToHost);
                if (!right(n, a, b, c)) {
                    printf("%d wrong\n", n);
                    all = false;
                }
            }
        }
        cudaFree(A);
        cudaFree(B);
        cudaFree(C);
    }
    return all ? 0 : 1;
}
