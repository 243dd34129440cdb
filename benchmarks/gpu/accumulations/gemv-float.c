/* y := A x, of numbers of type float. */
#include "driver.h"

static void kernel_gemv_float(int n, const float (*restrict a)[n], const float *restrict x, float *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[i][j] * x[j];
        y[i] = sum;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    float (*a)[n] = new_floats("a", (size_t)n * n);
    float *x = new_floats("x", n), *y = new_floats("y", n);

    do {
        timer_start();
        kernel_gemv_float(n, a, x, y);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"gemv-float", "n", {4000}, run};
