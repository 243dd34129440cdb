/* The product of two vectors of integers. */
#include "driver.h"

static int kernel_dot(int n, const int x[n], const int y[n])
{
    int s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
#pragma endscop
    return s;
}

static void run(const int *size)
{
    int n = size[0];
    int *x = new_ints("x", n, 1000), *y = new_ints("y", n, 1000);
    int *s = new_ints("s", 1, 10);

    do {
        timer_start();
        s[0] = kernel_dot(n, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"dot", "n", {10000000}, run};
