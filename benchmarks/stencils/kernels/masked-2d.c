/* Five points in the plane where a mask lets them. */
#include "driver.h"

static void kernel_masked_2d(int n, int steps, double now[restrict n][n], double next[restrict n][n], int mask[restrict n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                if (mask[i][j])
                    next[i][j] =
                        0.2 * (now[i][j] + now[i][j - 1] + now[i][j + 1] + now[i - 1][j] + now[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                now[i][j] = next[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*now)[n] = new_doubles("now", (size_t)n * n);
    double (*next)[n] = new_doubles("next", (size_t)n * n);
    int (*mask)[n] = new_ints("mask", (size_t)n * n, 2);

    timer_start();
    kernel_masked_2d(n, steps, now, next, mask);
    timer_stop();
}

const struct kernel kernel = {"masked-2d", "n steps", {500, 50}, run};
