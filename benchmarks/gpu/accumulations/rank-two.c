/* A := A + u v' + w z', then x := x + transposed A times u, then y := A x. */
#include "driver.h"

static void kernel_rank_two(int n, double (*restrict a)[n], const double *restrict u, const double *restrict v,
                            const double *restrict w, const double *restrict z, double *restrict x,
                            double *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += u[i] * v[j] + w[i] * z[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += 0.25 * a[j][i] * u[j];
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += 1.5 * a[i][j] * x[j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double *u = new_doubles("u", n), *v = new_doubles("v", n), *w = new_doubles("w", n);
    double *z = new_doubles("z", n), *x = new_doubles("x", n), *y = new_doubles("y", n);

    do {
        timer_start();
        kernel_rank_two(n, a, u, v, w, z, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"rank-two", "n", {4000}, run};
