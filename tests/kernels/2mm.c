/* D := alpha A B C + beta D, by way of T = alpha A B. */
#include "driver.h"

static void kernel_2mm(int m, int n, int k, int l, double alpha, double beta, double T[m][n], double A[m][k],
                       double B[k][n], double C[n][l], double D[m][l])
{
    int i, j, p;

#pragma scop
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            double dot = 0.0;
            for (p = 0; p < k; p++)
                dot += A[i][p] * B[p][j];
            T[i][j] = alpha * dot;
        }
    for (i = 0; i < m; i++)
        for (j = 0; j < l; j++) {
            double dot = beta * D[i][j];
            for (p = 0; p < n; p++)
                dot += T[i][p] * C[p][j];
            D[i][j] = dot;
        }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1], k = size[2], l = size[3];
    double (*A)[k] = new_doubles("A", m * k);
    double (*B)[n] = new_doubles("B", k * n);
    double (*C)[l] = new_doubles("C", n * l);
    double (*D)[l] = new_doubles("D", m * l);
    double (*T)[n] = new_doubles("T", m * n);

    timer_start();
    kernel_2mm(m, n, k, l, 0.75, 1.25, T, A, B, C, D);
    timer_stop();
}

const struct kernel kernel = {"2mm", "m n k l", {800, 900, 1100, 1200}, run};
