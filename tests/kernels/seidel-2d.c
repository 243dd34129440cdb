/* Gauss-Seidel smoothing in place over nine points: each takes the mean of its
 * neighbourhood, new values above and to the left, old ones below and to the right. */
#include "driver.h"

static void kernel_seidel_2d(int n, int steps, double u[n][n])
{
#pragma scop
    for (int t = 1; t <= steps; t++)
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                u[i][j] = (u[i - 1][j - 1] + u[i - 1][j] + u[i - 1][j + 1]
                           + u[i][j - 1] + u[i][j] + u[i][j + 1]
                           + u[i + 1][j - 1] + u[i + 1][j] + u[i + 1][j + 1]) / 9.0;
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n] = new_doubles("u", n * n);

    timer_start();
    kernel_seidel_2d(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"seidel-2d", "n steps", {2000, 150}, run};
