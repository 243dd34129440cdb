/* Five points on a torus, in two grids in turn. */
#include "driver.h"

static void kernel_periodic_2d(int n, int steps, double u[2][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                u[(t + 1) % 2][i][j] =
                    0.2 * (u[t % 2][i][j] + u[t % 2][(i + n - 1) % n][j] + u[t % 2][(i + 1) % n][j] +
                           u[t % 2][i][(j + n - 1) % n] + u[t % 2][i][(j + 1) % n]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n][n] = new_doubles("u", 2 * (size_t)n * n);

    timer_start();
    kernel_periodic_2d(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"periodic-2d", "n steps", {500, 50}, run};
