/* Two rank-one updates and two products:
 * A += u v' + s t';  x := beta A' y + z;  w := alpha A x. */
#include "driver.h"

static void kernel_gemver(int n, double alpha, double beta, double A[n][n], const double u[n],
                          const double v[n], const double s[n], const double t[n], const double y[n],
                          const double z[n], double x[n], double w[n])
{
#pragma scop
    for (int i = 0; i <= n - 1; i++)
        for (int j = 0; j <= n - 1; j++)
            A[i][j] += u[i] * v[j] + s[i] * t[j];

    for (int i = 0; i <= n - 1; i++)
        x[i] = z[i];
    for (int i = 0; i <= n - 1; i++)
        for (int j = 0; j <= n - 1; j++)
            x[i] += beta * A[j][i] * y[j];

    for (int i = 0; i <= n - 1; i++) {
        w[i] = 0.0;
        for (int j = 0; j <= n - 1; j++)
            w[i] += alpha * A[i][j] * x[j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*A)[n] = new_doubles("A", n * n);
    double *u = new_doubles("u", n);
    double *v = new_doubles("v", n);
    double *s = new_doubles("s", n);
    double *t = new_doubles("t", n);
    double *y = new_doubles("y", n);
    double *z = new_doubles("z", n);
    double *x = new_doubles("x", n);
    double *w = new_doubles("w", n);

    timer_start();
    kernel_gemver(n, 1.5, 0.25, A, u, v, s, t, y, z, x, w);
    timer_stop();
}

const struct kernel kernel = {"gemver", "n", {2000}, run};
