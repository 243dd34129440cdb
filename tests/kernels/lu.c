/* A = L U by Gaussian elimination in place; the unit diagonal of L is not stored. */
#include "driver.h"

static void kernel_lu(int n, double A[n][n])
{
    int i, j, k;

#pragma scop
    for (k = 0; k < n; k++)
        for (i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
        }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*A)[n] = new_positive_definite("A", n);

    timer_start();
    kernel_lu(n, A);
    timer_stop();
}

const struct kernel kernel = {"lu", "n", {2000}, run};
