/* C := alpha (A B' + B A') + beta C, the lower triangle of C, with A and B n by m. */
#include "driver.h"

static void kernel_syr2k(int n, int m, double alpha, double beta, double C[n][n], double A[n][m],
                         double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double dot = 0.0;
            for (int k = 0; k < m; k++)
                dot += A[i][k] * B[j][k] + B[i][k] * A[j][k];
            C[i][j] = alpha * dot + beta * C[i][j];
        }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], m = size[1];
    double (*A)[m] = new_doubles("A", n * m);
    double (*B)[m] = new_doubles("B", n * m);
    double (*C)[n] = new_doubles("C", n * n);

    timer_start();
    kernel_syr2k(n, m, 1.5, 1.2, C, A, B);
    timer_stop();
}

const struct kernel kernel = {"syr2k", "n m", {1200, 1000}, run};
