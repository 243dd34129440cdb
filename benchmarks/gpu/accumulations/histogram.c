/* How often each of 256 values is there. */
#include "driver.h"

static void kernel_histogram(int n, const int x[n], int h[256])
{
#pragma scop
    for (int i = 0; i < n; i++)
        h[x[i]]++;
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    int *x = new_ints("x", n, 256), *h = new_ints("h", 256, 10);

    do {
        timer_start();
        kernel_histogram(n, x, h);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"histogram", "n", {10000000}, run};
