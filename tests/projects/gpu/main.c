#include <stdio.h>

#include <polybuild.h>

#include "steps.h"

enum { N = 40 };
static double A[N][N], B[N][N], C[N][N], u[1000], v[1000];

static void combine(int n)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = A[i][j] + 2 * B[j][i];
#pragma endscop
}

int main(void)
{
    polybuild_counts counts;
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = i % 7 + j, B[i][j] = i - j % 5;
    for (int i = 0; i < 1000; i++)
        u[i] = i % 10;
    combine(N);
    smooth(1000, 10, u, v);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += C[i][j] * ((i + j) % 3) + u[i * 20 + j];
    polybuild_counters(0, 0, &counts);
    printf("%.17g device %llu host %llu\n", sum, counts.device_runs, counts.host_runs);
    return 0;
}
