/* Heat in a cube, explicit in time: two steps of the seven-point stencil a turn, there and
 * back between A and B. The border keeps its values. */
#include "driver.h"

static void kernel_heat_3d(int n, int turns, double A[n][n][n], double B[n][n][n])
{
    const double c = 0.125;

#pragma scop
    for (int t = 0; t < turns; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] = A[i][j][k]
                                 + c * (A[i - 1][j][k] + A[i + 1][j][k] - 2.0 * A[i][j][k])
                                 + c * (A[i][j - 1][k] + A[i][j + 1][k] - 2.0 * A[i][j][k])
                                 + c * (A[i][j][k - 1] + A[i][j][k + 1] - 2.0 * A[i][j][k]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] = B[i][j][k]
                                 + c * (B[i - 1][j][k] + B[i + 1][j][k] - 2.0 * B[i][j][k])
                                 + c * (B[i][j - 1][k] + B[i][j + 1][k] - 2.0 * B[i][j][k])
                                 + c * (B[i][j][k - 1] + B[i][j][k + 1] - 2.0 * B[i][j][k]);
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], turns = size[1];
    double (*A)[n][n] = new_doubles("A", n * n * n);
    double (*B)[n][n] = new_doubles("B", n * n * n);

    timer_start();
    kernel_heat_3d(n, turns, A, B);
    timer_stop();
}

const struct kernel kernel = {"heat-3d", "n turns", {120, 500}, run};
