/* Products of matrices as the reference BLAS has them: plain loops, each result summed up in place. */
#include "kernels.h"

void gemm(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
          double B[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            C[i][j] *= beta;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}

/* D := alpha A B C + beta D, by way of T. */
void mm2(int n, double alpha, double beta, double T[restrict n][n], double A[restrict n][n],
         double B[restrict n][n], double C[restrict n][n], double D[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                T[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            D[i][j] *= beta;
            for (int k = 0; k < n; k++)
                D[i][j] += T[i][k] * C[k][j];
        }
#pragma endscop
}

/* G := (A B) (C D), by way of E and F. */
void mm3(int n, double E[restrict n][n], double A[restrict n][n], double B[restrict n][n],
         double F[restrict n][n], double C[restrict n][n], double D[restrict n][n], double G[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            E[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            F[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            G[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}

/* The lower triangle of C := alpha A A' + beta C. */
void syrk(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < n; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
#pragma endscop
}

/* The lower triangle of C := alpha (A B' + B A') + beta C. */
void syr2k(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
           double B[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < n; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
#pragma endscop
}

/* B := alpha A' B, with A lower triangular and ones on its diagonal. */
void trmm(int n, double alpha, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < n; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] *= alpha;
        }
#pragma endscop
}

/* C := alpha A B + beta C, with A symmetric and only its lower triangle read. */
void symm(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
          double B[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= beta;
            for (int k = 0; k <= i; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
            for (int k = i + 1; k < n; k++)
                C[i][j] += alpha * A[k][i] * B[k][j];
        }
#pragma endscop
}
