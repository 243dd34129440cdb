/* Five-point smoothing in the plane: `next` is made from `now` and copied back. */
#include "driver.h"

static void kernel_jacobi_2d(int n, int steps, double now[n][n], double next[n][n])
{
    int t, i, j;

#pragma scop
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                next[i][j] =
                    0.2 * (now[i][j] + now[i][j - 1] + now[i][j + 1] + now[i - 1][j] + now[i + 1][j]);
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                now[i][j] = next[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*now)[n] = new_doubles("now", n * n);
    double (*next)[n] = new_doubles("next", n * n);

    timer_start();
    kernel_jacobi_2d(n, steps, now, next);
    timer_stop();
}

const struct kernel kernel = {"jacobi-2d", "n steps", {1300, 500}, run};
