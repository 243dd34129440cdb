/* The product of two vectors of type float. */
#include "driver.h"

static float kernel_dot_float(int n, const float x[n], const float y[n])
{
    float s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
#pragma endscop
    return s;
}

static void run(const int *size)
{
    int n = size[0];
    float *x = new_floats("x", n), *y = new_floats("y", n);
    float *s = new_floats("s", 1);

    do {
        timer_start();
        s[0] = kernel_dot_float(n, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"dot-float", "n", {10000000}, run};
