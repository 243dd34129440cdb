/* The sum of each row. */
#include "driver.h"

static void kernel_row_sums(int n, const double (*restrict a)[n], double *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += a[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*a)[n] = new_doubles("a", (size_t)n * n);
    double *y = new_doubles("y", n);

    do {
        timer_start();
        kernel_row_sums(n, a, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"row-sums", "n", {4000}, run};
