/* Thirteen points in space, two to each side, in two grids in turn. */
#include "driver.h"

static void kernel_star_3d_r2(int n, int steps, double u[2][n][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 2; i < n - 2; i++)
            for (int j = 2; j < n - 2; j++)
                for (int k = 2; k < n - 2; k++)
                    u[(t + 1) % 2][i][j][k] =
                        0.1 * u[t % 2][i][j][k] +
                        0.1 * (u[t % 2][i - 1][j][k] + u[t % 2][i + 1][j][k] + u[t % 2][i][j - 1][k] +
                               u[t % 2][i][j + 1][k] + u[t % 2][i][j][k - 1] + u[t % 2][i][j][k + 1]) +
                        0.05 * (u[t % 2][i - 2][j][k] + u[t % 2][i + 2][j][k] + u[t % 2][i][j - 2][k] +
                                u[t % 2][i][j + 2][k] + u[t % 2][i][j][k - 2] + u[t % 2][i][j][k + 2]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n][n][n] = new_doubles("u", 2 * (size_t)n * n * n);

    timer_start();
    kernel_star_3d_r2(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"star-3d-r2", "n steps", {80, 20}, run};
