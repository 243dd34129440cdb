/* The correlation matrix of m variables (columns of X) from n observations (rows).
 *
 * X is standardised in place; a variable that hardly varies counts as of deviation 1. */
#include "driver.h"

#include <math.h>

static void kernel_correlation(int n, int m, double X[n][m], double R[m][m], double mean[m],
                               double deviation[m])
{
    const double least = 1e-6;

#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += X[i][j];
        mean[j] /= n;
    }
    for (int j = 0; j < m; j++) {
        deviation[j] = 0.0;
        for (int i = 0; i < n; i++)
            deviation[j] += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / n);
        deviation[j] = deviation[j] > least ? deviation[j] : 1.0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            X[i][j] = (X[i][j] - mean[j]) / (sqrt(n) * deviation[j]);
    for (int i = 0; i < m; i++) {
        R[i][i] = 1.0;
        for (int j = i + 1; j < m; j++) {
            R[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                R[i][j] += X[k][i] * X[k][j];
            R[j][i] = R[i][j];
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], m = size[1];
    double (*X)[m] = new_doubles("X", n * m);
    double (*R)[m] = new_doubles("R", m * m);
    double *mean = new_doubles("mean", m);
    double *deviation = new_doubles("deviation", m);

    timer_start();
    kernel_correlation(n, m, X, R, mean, deviation);
    timer_stop();
}

const struct kernel kernel = {"correlation", "n m", {1400, 1200}, run};
