/* Solves A x = b: A = L U in place, row by row, then L y = b and U x = y. */
#include "driver.h"

static void kernel_ludcmp(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    double rest;

#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            rest = A[i][j];
            for (int k = 0; k < j; k++)
                rest -= A[i][k] * A[k][j];
            A[i][j] = rest / A[j][j];
        }
        for (int j = i; j < n; j++) {
            rest = A[i][j];
            for (int k = 0; k < i; k++)
                rest -= A[i][k] * A[k][j];
            A[i][j] = rest;
        }
    }
    for (int i = 0; i < n; i++) {
        rest = b[i];
        for (int j = 0; j < i; j++)
            rest -= A[i][j] * y[j];
        y[i] = rest;
    }
    for (int i = n - 1; i >= 0; i--) {
        rest = y[i];
        for (int j = i + 1; j < n; j++)
            rest -= A[i][j] * x[j];
        x[i] = rest / A[i][i];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*A)[n] = new_positive_definite("A", n);
    double *b = new_doubles("b", n);
    double *x = new_doubles("x", n);
    double *y = new_doubles("y", n);

    timer_start();
    kernel_ludcmp(n, A, b, x, y);
    timer_stop();
}

const struct kernel kernel = {"ludcmp", "n", {2000}, run};
