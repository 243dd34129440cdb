/* A = L L' of a positive definite matrix, column by column; L replaces the lower triangle. */
#include "driver.h"

#include <math.h>

static void kernel_cholesky(int n, double A[n][n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            A[j][j] -= A[j][k] * A[j][k];
        A[j][j] = sqrt(A[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*A)[n] = new_positive_definite("A", n);

    timer_start();
    kernel_cholesky(n, A);
    timer_stop();
}

const struct kernel kernel = {"cholesky", "n", {2000}, run};
