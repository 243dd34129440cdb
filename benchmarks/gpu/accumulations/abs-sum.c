/* The sum of the absolute values of some numbers. */
#include "driver.h"

static double kernel_abs_sum(int n, const double x[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] < 0 ? -x[i] : x[i];
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
        s[0] = kernel_abs_sum(n, x);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"abs-sum", "n", {10000000}, run};
