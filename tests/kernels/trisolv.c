/* Solves L x = b by forward substitution. */
#include "driver.h"

static void kernel_trisolv(int n, double L[n][n], const double b[n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] /= L[i][i];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*L)[n] = new_positive_definite("L", n);
    double *b = new_doubles("b", n);
    double *x = new_doubles("x", n);

    timer_start();
    kernel_trisolv(n, L, b, x);
    timer_stop();
}

const struct kernel kernel = {"trisolv", "n", {2000}, run};
