/* C := alpha A B + beta C, with A symmetric of order m and only its lower triangle read.
 *
 * A[i][k] below the diagonal serves twice: for row i of C, where it is summed up,
 * and, as A[k][i], for the rows k above. */
#include "driver.h"

static void kernel_symm(int m, int n, double alpha, double beta, double A[m][m], double B[m][n],
                        double C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double below = 0.0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * A[i][k] * B[i][j];
                below += A[i][k] * B[k][j];
            }
            C[i][j] = beta * C[i][j] + alpha * (A[i][i] * B[i][j] + below);
        }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1];
    double (*A)[m] = new_doubles("A", m * m);
    double (*B)[n] = new_doubles("B", m * n);
    double (*C)[n] = new_doubles("C", m * n);

    timer_start();
    kernel_symm(m, n, 1.5, 1.2, A, B, C);
    timer_stop();
}

const struct kernel kernel = {"symm", "m n", {1000, 1200}, run};
