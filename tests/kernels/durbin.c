/* Levinson-Durbin: solves T y = -r, with T the symmetric Toeplitz matrix of 1, r[0] … r[n-2]. */
#include "driver.h"

static void kernel_durbin(int n, const double r[n], double y[n], double z[n])
{
    double reflection = 0.0;
    double error = 1.0;

#pragma scop
    for (int k = 0; k < n; k++) {
        double sum = r[k];
        error *= 1.0 - reflection * reflection;
        for (int i = 0; i < k; i++)
            sum += r[k - 1 - i] * y[i];
        reflection = -sum / error;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + reflection * y[k - 1 - i];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = reflection;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    double *r = new_doubles("r", n);
    double *y = new_doubles("y", n);
    double *z = new_doubles("z", n);

    /* Correlations that die out keep T positive definite. */
    for (int i = 0; i < n; i++)
        r[i] *= 0.25 / ((i + 1.0) * (i + 1.0));

    timer_start();
    kernel_durbin(n, r, y, z);
    timer_stop();
}

const struct kernel kernel = {"durbin", "n", {2000}, run};
