/* A matrix times one vector and its transpose times another, in single precision:
 * x += A y and z += transpose(A) w. */
#include "driver.h"

static void kernel_mvt(int n, float A[n][n], float x[n], float y[n], float z[n], float w[n])
{
    int i, j;

#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x[i] += A[i][j] * y[j];
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            z[i] += A[j][i] * w[j];
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    float (*A)[n] = new_floats("A", n * n);
    float *x = new_floats("x", n);
    float *y = new_floats("y", n);
    float *z = new_floats("z", n);
    float *w = new_floats("w", n);

    timer_start();
    kernel_mvt(n, A, x, y, z, w);
    timer_stop();
}

const struct kernel kernel = {"mvt", "n", {2800}, run};
