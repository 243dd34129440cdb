/* Maxwell's equations in the plane on Yee's staggered grid: the electric field lives on
 * the edges of m by n cells, the magnetic one in their middles, a source drives one side. */
#include "driver.h"

static void kernel_fdtd_2d(int m, int n, int steps, double ex[m][n + 1], double ey[m + 1][n],
                           double hz[m][n], const double source[steps])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < n; j++)
            ey[0][j] = source[t];
        for (int i = 1; i < m; i++)
            for (int j = 0; j < n; j++)
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < m; i++)
            for (int j = 1; j < n; j++)
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1], steps = size[2];
    double (*ex)[n + 1] = new_doubles("ex", m * (n + 1));
    double (*ey)[n] = new_doubles("ey", (m + 1) * n);
    double (*hz)[n] = new_doubles("hz", m * n);
    double *source = new_doubles("source", steps);

    timer_start();
    kernel_fdtd_2d(m, n, steps, ex, ey, hz, source);
    timer_stop();
}

const struct kernel kernel = {"fdtd-2d", "m n steps", {1000, 1200, 500}, run};
