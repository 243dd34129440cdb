/* y := transposed A times x. */
#include "driver.h"

static void kernel_gemv_transposed(int n, const double (*restrict a)[n], const double *restrict x,
                                   double *restrict y)
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[j] += a[i][j] * x[i];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double *x = new_doubles("x", n), *y = new_doubles("y", n);

    do {
        timer_start();
        kernel_gemv_transposed(n, a, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"gemv-transposed", "n", {4000}, run};
