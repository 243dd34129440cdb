/* y := transposed A times A x. */
#include "driver.h"

static void kernel_gemv_normal(int n, const double (*restrict a)[n], const double *restrict x, double *restrict y)
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += a[i][j] * sum;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double *x = new_doubles("x", n), *y = new_doubles("y", n);

    do {
        timer_start();
        kernel_gemv_normal(n, a, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"gemv-normal", "n", {4000}, run};
