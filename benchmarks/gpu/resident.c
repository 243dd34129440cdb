/* A time loop around two regions, whose arrays stay on the device. */
#include "driver.h"

static void smooth(int n, double now[n], double next[n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        next[i] = 0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
#pragma endscop
}

static void damp(int n, double now[n], double next[n], double factor)
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        now[i] = factor * next[i];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    double *now = new_doubles("now", (size_t)n);
    double *next = new_doubles("next", (size_t)n);
    double *factor = new_doubles("factor", (size_t)steps);

    timer_start();
#pragma polybuild resident(now[0:n], next[0:n])
    {
        for (int t = 0; t < steps; t++) {
            smooth(n, now, next);
            damp(n, now, next, 1 - 0.001 * factor[t]);
        }
    }
    timer_stop();
}

const struct kernel kernel = {"resident", "n steps", {4000000, 1000}, run};
