/* The product of two vectors of type double. */
#include "driver.h"

static double kernel_dot_double(int n, const double x[n], const double y[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
#pragma endscop
    return s;
}

static void run(const int *size)
{
    int n = size[0];
    double *x = new_doubles("x", n), *y = new_doubles("y", n);
    double *s = new_doubles("s", 1);

    do {
        timer_start();
        s[0] = kernel_dot_double(n, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"dot-double", "n", {10000000}, run};
