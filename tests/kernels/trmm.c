/* B := alpha U B in place, with U upper triangular of order m and B m by n. */
#include "driver.h"

static void kernel_trmm(int m, int n, double alpha, double U[m][m], double B[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            B[i][j] *= U[i][i];
            for (int k = i + 1; k < m; k++)
                B[i][j] += U[i][k] * B[k][j];
            B[i][j] *= alpha;
        }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1];
    double (*U)[m] = new_doubles("U", m * m);
    double (*B)[n] = new_doubles("B", m * n);

    timer_start();
    kernel_trmm(m, n, 1.5, U, B);
    timer_stop();
}

const struct kernel kernel = {"trmm", "m n", {1000, 1200}, run};
