/* The sum of numbers of type double. */
#include "driver.h"

static double kernel_sum_double(int n, const double x[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma endscop
    return s;
}

static void run(const int *size)
{
    int n = size[0];
    double *x = new_doubles("x", n);
    double *s = new_doubles("s", 1);

    do {
        timer_start();
        s[0] = kernel_sum_double(n, x);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"sum-double", "n", {10000000}, run};
