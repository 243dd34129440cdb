/* Three-point smoothing on a line: step t + 1 is made from step t, and the two share
 * the rows of one array by the parity of t. */
#include "driver.h"

static void kernel_jacobi_1d(int n, int steps, double u[2][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            u[(t + 1) % 2][i] = 0.25 * u[t % 2][i - 1] + 0.5 * u[t % 2][i] + 0.25 * u[t % 2][i + 1];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n] = new_doubles("u", 2 * n);

    timer_start();
    kernel_jacobi_1d(n, steps, u);
    timer_stop();
}

const struct kernel kernel = {"jacobi-1d", "n steps", {2000, 1000}, run};
