/* The sum of integers. */
#include "driver.h"

static void kernel_sum(int n, const int x[n], int s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += x[i];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    int *x = new_ints("x", n, 1000);
    int *s = new_ints("s", 1, 10);

    do {
        timer_start();
        kernel_sum(n, x, s);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"sum", "n", {10000000}, run};
