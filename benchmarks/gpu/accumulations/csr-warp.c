/* y := A x, with the rows of A in compressed form, whose sums may be reordered: of whole numbers they are the same. */
#include "driver.h"

static void kernel_csr_warp(int n, const int *restrict row, const int *restrict col, const double *restrict val,
                       const double *restrict x, double *restrict y)
{
#pragma scop allow_reassociation(on)
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = row[i]; j < row[i + 1]; j++)
            sum += val[j] * x[col[j]];
        y[i] = sum;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], mean = size[1], all = 0;
    int *row = new_ints("row", n + 1, 2 * mean + 1);
    for (int i = 0; i <= n; i++) {
        int length = row[i];
        row[i] = all;
        all += length;
    }
    all = row[n];
    int *col = new_ints("col", all, n);
    double *val = new_doubles("val", all), *x = new_doubles("x", n), *y = new_doubles("y", n);

    for (int j = 0; j < all; j++)
        val[j] = (int)(100 * val[j]);
    for (int i = 0; i < n; i++)
        x[i] = (int)(100 * x[i]);

    do {
        timer_start();
        kernel_csr_warp(n, row, col, val, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"csr-warp", "n mean", {1000000, 50}, run};
