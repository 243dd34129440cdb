/* The sum of each column. */
#include "driver.h"

static void kernel_column_sums(int n, const double (*restrict a)[n], double *restrict y)
{
#pragma scop
    for (int j = 0; j < n; j++) {
        y[j] = 0;
        for (int i = 0; i < n; i++)
            y[j] += a[i][j];
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
        kernel_column_sums(n, a, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"column-sums", "n", {4000}, run};
