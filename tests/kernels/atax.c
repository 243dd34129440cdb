/* y := transpose(A) (A x), with A m by n. */
#include "driver.h"

static void kernel_atax(int m, int n, double A[m][n], double x[n], double y[n])
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0.0;
    for (int i = 0; i < m; i++) {
        double row = 0.0;
        for (int j = 0; j < n; j++)
            row += A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += A[i][j] * row;
    }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1];
    double (*A)[n] = new_doubles("A", m * n);
    double *x = new_doubles("x", n);
    double *y = new_doubles("y", n);

    timer_start();
    kernel_atax(m, n, A, x, y);
    timer_stop();
}

const struct kernel kernel = {"atax", "m n", {1900, 2100}, run};
