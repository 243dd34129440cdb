/* y := alpha A x + beta B x. */
#include "driver.h"

static void kernel_gesummv(int n, double alpha, double beta, double A[n][n], double B[n][n], double x[n],
                           double y[n])
{
    double in_a, in_b;

#pragma scop
    for (int i = 0; i < n; i++) {
        in_a = 0.0;
        in_b = 0.0;
        for (int j = 0; j < n; j++) {
            in_a += A[i][j] * x[j];
            in_b += B[i][j] * x[j];
        }
        y[i] = alpha * in_a + beta * in_b;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double (*A)[n] = new_doubles("A", n * n);
    double (*B)[n] = new_doubles("B", n * n);
    double *x = new_doubles("x", n);
    double *y = new_doubles("y", n);

    timer_start();
    kernel_gesummv(n, 1.5, 1.2, A, B, x, y);
    timer_stop();
}

const struct kernel kernel = {"gesummv", "n", {1300}, run};
