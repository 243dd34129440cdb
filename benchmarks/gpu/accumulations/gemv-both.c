/* y := A x and z := transposed A times w. */
#include "driver.h"

static void kernel_gemv_both(int n, const double (*restrict a)[n], const double *restrict x,
                             const double *restrict w, double *restrict y, double *restrict z)
{
#pragma scop
    for (int j = 0; j < n; j++)
        z[j] = 0;
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) {
            z[j] += w[i] * a[i][j];
            y[i] += a[i][j] * x[j];
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double *x = new_doubles("x", n), *w = new_doubles("w", n), *y = new_doubles("y", n), *z = new_doubles("z", n);

    do {
        timer_start();
        kernel_gemv_both(n, a, x, w, y, z);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"gemv-both", "n", {4000}, run};
