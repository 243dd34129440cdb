/* The largest of some numbers. */
#include "driver.h"

static double kernel_max(int n, const double x[n])
{
    double most = -2;
#pragma scop
    for (int i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
#pragma endscop
    return most;
}

static void run(const int *size)
{
    int n = size[0];
    double *x = new_doubles("x", n), *most = new_doubles("most", 1);
    x[2 * (n / 3)] = 100;

    do {
        timer_start();
        most[0] = kernel_max(n, x);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"max", "n", {10000000}, run};
