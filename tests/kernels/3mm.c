/* G := (A B) (C D), with E = A B and F = C D kept. */
#include "driver.h"

static void kernel_3mm(int m, int n, int k, int l, double A[restrict m][k], double B[restrict k][n],
                       double C[restrict n][k], double D[restrict k][l], double E[restrict m][n],
                       double F[restrict n][l], double G[restrict m][l])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            E[i][j] = 0.0;
            for (int p = 0; p < k; p++)
                E[i][j] += A[i][p] * B[p][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l; j++) {
            F[i][j] = 0.0;
            for (int p = 0; p < k; p++)
                F[i][j] += C[i][p] * D[p][j];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < l; j++) {
            G[i][j] = 0.0;
            for (int p = 0; p < n; p++)
                G[i][j] += E[i][p] * F[p][j];
        }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1], k = size[2], l = size[3];
    double (*A)[k] = new_doubles("A", m * k);
    double (*B)[n] = new_doubles("B", k * n);
    double (*C)[k] = new_doubles("C", n * k);
    double (*D)[l] = new_doubles("D", k * l);
    double (*E)[n] = new_doubles("E", m * n);
    double (*F)[l] = new_doubles("F", n * l);
    double (*G)[l] = new_doubles("G", m * l);

    timer_start();
    kernel_3mm(m, n, k, l, A, B, C, D, E, F, G);
    timer_stop();
}

const struct kernel kernel = {"3mm", "m n k l", {800, 900, 1000, 1100}, run};
