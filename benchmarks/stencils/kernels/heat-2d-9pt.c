/* Nine points in the plane, in two grids in turn. */
#include "driver.h"

static void kernel_heat_2d_9pt(int n, int steps, double u[2][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                u[(t + 1) % 2][i][j] =
                    0.2 * u[t % 2][i][j] +
                    0.1 * (u[t % 2][i - 1][j - 1] + u[t % 2][i - 1][j] + u[t % 2][i - 1][j + 1] +
                           u[t % 2][i][j - 1] + u[t % 2][i][j + 1] + u[t % 2][i + 1][j - 1] +
                           u[t % 2][i + 1][j] + u[t % 2][i + 1][j + 1]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n][n] = new_doubles("u", 2 * (size_t)n * n);

    timer_start();
    kernel_heat_2d_9pt(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"heat-2d-9pt", "n steps", {500, 50}, run};
