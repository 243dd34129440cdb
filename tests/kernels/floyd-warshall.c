/* All shortest paths: distance[i][j] is the least sum of weights over walks from i to j. */
#include "driver.h"

static void kernel_floyd_warshall(int n, int distance[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                distance[i][j] = distance[i][j] < distance[i][k] + distance[k][j]
                                     ? distance[i][j]
                                     : distance[i][k] + distance[k][j];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    int (*distance)[n] = new_ints("distance", n * n, 1000000);

    /* Mostly far apart, so that short paths have many edges; no way costs nothing. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            distance[i][j] = i == j ? 0 : 1 + distance[i][j];

    timer_start();
    kernel_floyd_warshall(n, distance);
    timer_stop();
}

const struct kernel kernel = {"floyd-warshall", "n", {2000}, run};
