/* y := A x, of numbers of type double. */
#include "driver.h"

static void kernel_gemv(int n, const double (*restrict a)[n], const double *restrict x, double *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[i][j] * x[j];
        y[i] = sum;
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
        kernel_gemv(n, a, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"gemv", "n", {4000}, run};
