/* A line whose ends are neighbours: `next` is made from `now` and copied back. */
#include "driver.h"

static void kernel_periodic_1d(int n, int steps, double now[restrict n], double next[restrict n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            next[i] = 0.25 * (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]);
        for (int i = 0; i < n; i++)
            now[i] = next[i];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double *now = new_doubles("now", n);
    double *next = new_doubles("next", n);

    timer_start();
    kernel_periodic_1d(n, steps, now, next);
    timer_stop();
}

const struct kernel kernel = {"periodic-1d", "n steps", {100000, 50}, run};
