/* The covariance matrix of m variables (columns of X) from n observations (rows). */
#include "driver.h"

static void kernel_covariance(int n, int m, double *samples, double *result, double *mean)
{
    double (*X)[m] = (double (*)[m])samples;
    double (*S)[m] = (double (*)[m])result;
    double freedom = n > 1 ? n - 1.0 : 1.0;

#pragma scop
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += X[i][j];
        mean[j] = sum / n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            X[i][j] -= mean[j];
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += X[k][i] * X[k][j];
            S[i][j] = sum / freedom;
            S[j][i] = S[i][j];
        }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], m = size[1];
    double *X = new_doubles("X", n * m);
    double *S = new_doubles("S", m * m);
    double *mean = new_doubles("mean", m);

    timer_start();
    kernel_covariance(n, m, X, S, mean);
    timer_stop();
}

const struct kernel kernel = {"covariance", "n m", {1400, 1200}, run};
