/* y := A x, with rows of one length, stored column by column. */
#include "driver.h"

static void kernel_ell(int n, int w, const int col[w][n], const double val[w][n], const double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < w; k++)
            sum += val[k][i] * x[col[k][i]];
        y[i] = sum;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], w = size[1];
    int (*col)[n] = new_ints("col", (size_t)w * n, n);
    double (*val)[n] = new_doubles("val", (size_t)w * n);
    double *x = new_doubles("x", n), *y = new_doubles("y", n);

    do {
        timer_start();
        kernel_ell(n, w, col, val, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"ell", "n w", {1000000, 27}, run};
