/* Sums of integers, minima and maxima: order does not change them. */
#include "driver.h"

static void reduce(int n, int m, int a[restrict n][m], double x[restrict n][m], long long *restrict sums,
                   double *restrict ends)
{
    long long sum = sums[0];
    double lowest = ends[0], highest = ends[1];

#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            sum += a[i][j];
            lowest = x[i][j] < lowest ? x[i][j] : lowest;
            highest = x[i][j] > highest ? x[i][j] : highest;
        }
#pragma endscop
    sums[0] = sum;
    ends[0] = lowest;
    ends[1] = highest;
}

static void columns(int n, int m, int a[restrict n][m], unsigned *restrict sums)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            sums[j] += (unsigned)a[i][j];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], m = size[1];
    int (*a)[m] = new_ints("a", (size_t)n * m, 1000);
    double (*x)[m] = new_doubles("x", (size_t)n * m);
    unsigned *sums = new_ints("sums of columns", m, 10);
    int *parts = new_ints("sum", 2, 10);
    double *ends = new_doubles("ends", 2);
    long long sum = parts[0];

    timer_start();
    reduce(n, m, a, x, &sum, ends);
    columns(n, m, a, sums);
    timer_stop();
    parts[0] = (int)sum;
    parts[1] = (int)(sum >> 31);
}

const struct kernel kernel = {"reductions", "n m", {2000, 2000}, run};
