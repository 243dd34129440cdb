/* The sum of numbers of type float. */
#include "driver.h"

static float kernel_sum_float(int n, const float x[n])
{
    float s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma endscop
    return s;
}

static void run(const int *size)
{
    int n = size[0];
    float *x = new_floats("x", n);
    float *s = new_floats("s", 1);

    do {
        timer_start();
        s[0] = kernel_sum_float(n, x);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"sum-float", "n", {10000000}, run};
