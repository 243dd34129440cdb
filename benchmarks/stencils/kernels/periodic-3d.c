/* Seven points in space without borders, in two grids in turn. */
#include "driver.h"

static void kernel_periodic_3d(int n, int steps, double u[2][n][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    u[(t + 1) % 2][i][j][k] =
                        0.4 * u[t % 2][i][j][k] +
                        0.1 * (u[t % 2][(i + n - 1) % n][j][k] + u[t % 2][(i + 1) % n][j][k] +
                               u[t % 2][i][(j + n - 1) % n][k] + u[t % 2][i][(j + 1) % n][k] +
                               u[t % 2][i][j][(k + n - 1) % n] + u[t % 2][i][j][(k + 1) % n]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n][n][n] = new_doubles("u", 2 * (size_t)n * n * n);

    timer_start();
    kernel_periodic_3d(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"periodic-3d", "n steps", {80, 20}, run};
