/* y = A x for a sparse matrix in compressed rows, and steps of x = x - c (A x - b) with it. */
#include "driver.h"

static void product(int n, const int *restrict row, const int *restrict column, const double *restrict value,
                    const double *restrict x, double *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
#pragma endscop
}

static void correct(int n, double c, const double *restrict b, const double *restrict y, double *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = x[i] - c * (y[i] - b[i]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1], each = 5;
    int *row = new_ints("row", (size_t)n + 1, each + 1), *column = new_ints("column", (size_t)n * each, n);
    double *value = new_doubles("value", (size_t)n * each), *b = new_doubles("b", n);
    double *x = new_doubles("x", n), *y = new_doubles("y", n);

    row[0] = 0;
    for (int i = 0; i < n; i++) {
        int end = row[i] + row[i + 1];
        row[i + 1] = end < n * each ? end : n * each;
    }
    timer_start();
    for (int step = 0; step < steps; step++) {
        product(n, row, column, value, x, y);
        correct(n, 0.125, b, y, x);
    }
    timer_stop();
}

const struct kernel kernel = {"csr", "n steps", {200000, 20}, run};
