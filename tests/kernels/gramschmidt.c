/* A = Q R by the modified Gram-Schmidt process, with A m by n and m >= n; A is consumed. */
#include "driver.h"

#include <math.h>

static void kernel_gramschmidt(int m, int n, double A[m][n], double Q[m][n], double R[n][n])
{
    int i, j, k;
    double square;

#pragma scop
    for (k = 0; k < n; k++) {
        square = 0.0;
        for (i = 0; i < m; i++)
            square += A[i][k] * A[i][k];
        R[k][k] = sqrt(square);
        for (i = 0; i < m; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (i = 0; i < m; i++)
                A[i][j] -= Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1];
    double (*A)[n] = new_doubles("A", m * n);
    double (*Q)[n] = new_doubles("Q", m * n);
    double (*R)[n] = new_doubles("R", n * n);

    timer_start();
    kernel_gramschmidt(m, n, A, Q, R);
    timer_stop();
}

const struct kernel kernel = {"gramschmidt", "m n", {1200, 1000}, run};
