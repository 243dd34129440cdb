/* C := alpha A A' + beta C, the lower triangle of C, with A n by m. */
#include "driver.h"

static void kernel_syrk(int n, int m, double alpha, double beta, double C[restrict n][n],
                        double A[restrict n][m])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
    for (k = 0; k < m; k++)
        for (i = 0; i < n; i++)
            for (j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], m = size[1];
    double (*A)[m] = new_doubles("A", n * m);
    double (*C)[n] = new_doubles("C", n * n);

    timer_start();
    kernel_syrk(n, m, 1.5, 1.2, C, A);
    timer_stop();
}

const struct kernel kernel = {"syrk", "n m", {1000, 800}, run};
