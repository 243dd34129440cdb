/* All 27 points of a cube, in two grids in turn. */
#include "driver.h"

static void kernel_box_3d_27pt(int n, int steps, double u[2][n][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    u[(t + 1) % 2][i][j][k] =
                        (1.0 / 27) *
                        (u[t % 2][i - 1][j - 1][k - 1] + u[t % 2][i - 1][j - 1][k] + u[t % 2][i - 1][j - 1][k + 1] +
                         u[t % 2][i - 1][j][k - 1] + u[t % 2][i - 1][j][k] + u[t % 2][i - 1][j][k + 1] +
                         u[t % 2][i - 1][j + 1][k - 1] + u[t % 2][i - 1][j + 1][k] + u[t % 2][i - 1][j + 1][k + 1] +
                         u[t % 2][i][j - 1][k - 1] + u[t % 2][i][j - 1][k] + u[t % 2][i][j - 1][k + 1] +
                         u[t % 2][i][j][k - 1] + u[t % 2][i][j][k] + u[t % 2][i][j][k + 1] +
                         u[t % 2][i][j + 1][k - 1] + u[t % 2][i][j + 1][k] + u[t % 2][i][j + 1][k + 1] +
                         u[t % 2][i + 1][j - 1][k - 1] + u[t % 2][i + 1][j - 1][k] + u[t % 2][i + 1][j - 1][k + 1] +
                         u[t % 2][i + 1][j][k - 1] + u[t % 2][i + 1][j][k] + u[t % 2][i + 1][j][k + 1] +
                         u[t % 2][i + 1][j + 1][k - 1] + u[t % 2][i + 1][j + 1][k] + u[t % 2][i + 1][j + 1][k + 1]);
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n][n][n] = new_doubles("u", 2 * (size_t)n * n * n);

    timer_start();
    kernel_box_3d_27pt(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"box-3d-27pt", "n steps", {80, 20}, run};
