/* The heat equation in a square by alternating directions (Peaceman and Rachford).
 *
 * A half step is implicit along one direction and explicit along the other, so each
 * line is a tridiagonal system  -h x[k-1] + (1 + 2h) x[k] - h x[k+1] = f[k], solved by
 * elimination: x[k] = p[k] x[k+1] + q[k]. The border keeps its values. */
#include "driver.h"

static void kernel_adi(int n, int steps, double h, double u[n][n], double v[n][n], double p[n][n],
                       double q[n][n])
{
    const double diagonal = 1.0 + 2.0 * h;

#pragma scop
    for (int t = 0; t < steps; t++) {
        /* u to v: implicit along the rows */
        for (int i = 1; i < n - 1; i++) {
            v[i][0] = u[i][0];
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = h / (diagonal - h * p[i][j - 1]);
                q[i][j] = (h * u[i - 1][j] + (1.0 - 2.0 * h) * u[i][j] + h * u[i + 1][j] + h * q[i][j - 1])
                          / (diagonal - h * p[i][j - 1]);
            }
            v[i][n - 1] = u[i][n - 1];
            for (int j = n - 2; j >= 1; j--)
                v[i][j] = p[i][j] * v[i][j + 1] + q[i][j];
        }
        /* v to u: implicit along the columns */
        for (int j = 1; j < n - 1; j++) {
            p[0][j] = 0.0;
            q[0][j] = u[0][j];
            for (int i = 1; i < n - 1; i++) {
                p[i][j] = h / (diagonal - h * p[i - 1][j]);
                q[i][j] = (h * v[i][j - 1] + (1.0 - 2.0 * h) * v[i][j] + h * v[i][j + 1] + h * q[i - 1][j])
                          / (diagonal - h * p[i - 1][j]);
            }
            for (int i = n - 2; i >= 1; i--)
                u[i][j] = p[i][j] * u[i + 1][j] + q[i][j];
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double (*u)[n] = new_doubles("u", n * n);
    double (*v)[n] = new_doubles("v", n * n);
    double (*p)[n] = new_doubles("p", n * n);
    double (*q)[n] = new_doubles("q", n * n);

    timer_start();
    kernel_adi(n, steps, 0.4, u, v, p, q);
    timer_stop();
}

const struct kernel kernel = {"adi", "n steps", {1000, 200}, run};
