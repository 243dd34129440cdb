/* The largest of some numbers, and where it is. */
#include "driver.h"

static int kernel_place(int n, const double x[n])
{
    int where = -1;
    double most = -2;
#pragma scop
    for (int i = 0; i < n; i++)
        if (x[i] > most) {
            most = x[i];
            where = i;
        }
#pragma endscop
    return where;
}

static void run(const int *size)
{
    int n = size[0];
    double *x = new_doubles("x", n);
    int *where = new_ints("where", 1, 10);
    x[2 * (n / 3)] = x[n - 1] = 100;

    do {
        timer_start();
        where[0] = kernel_place(n, x);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"arg-max", "n", {10000000}, run};
