/* Loops over the lower triangle of a matrix: row i has i + 1 elements, column j has n - j. */
#include "driver.h"

static void rows(int n, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            b[i][j] = a[i][j] * 0.5 + a[j][i];
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            b[i][j] = b[i - 1][j] * 0.25 + b[i][j];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n), (*b)[n] = new_doubles("b", (size_t)n * n);

    timer_start();
    rows(n, a, b);
    timer_stop();
}

const struct kernel kernel = {"triangle", "n", {3000}, run};
