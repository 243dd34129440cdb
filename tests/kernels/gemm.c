/* C := alpha A B + beta C, with A m by k, B k by n, C m by n. */
#include "driver.h"

void kernel_gemm(int m, int n, int k, double alpha, double beta, double C[m][n], double A[m][k],
                 double B[k][n])
{
#pragma scop
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            C[i][j] *= beta;
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                C[i][j] += alpha * A[i][l] * B[l][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1], k = size[2];
    double (*A)[k] = new_doubles("A", m * k);
    double (*B)[n] = new_doubles("B", k * n);
    double (*C)[n] = new_doubles("C", m * n);

    timer_start();
    kernel_gemm(m, n, k, 1.5, 1.2, C, A, B);
    timer_stop();
}

const struct kernel kernel = {"gemm", "m n k", {1000, 1100, 1200}, run};
