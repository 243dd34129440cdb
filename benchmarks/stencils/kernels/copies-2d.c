/* Five points in the plane, copied back in each step. */
#include "driver.h"

static void kernel_copies_2d(int n, int steps, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = b[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double (*b)[n] = new_doubles("b", (size_t)n * n);

    timer_start();
    kernel_copies_2d(n, steps, a, b);
    timer_stop();
}

const struct kernel kernel = {"copies-2d", "n steps", {500, 50}, run};
