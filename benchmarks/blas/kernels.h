#ifndef KERNELS_H
#define KERNELS_H

void gemm(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
          double B[restrict n][n]);
void mm2(int n, double alpha, double beta, double T[restrict n][n], double A[restrict n][n],
         double B[restrict n][n], double C[restrict n][n], double D[restrict n][n]);
void mm3(int n, double E[restrict n][n], double A[restrict n][n], double B[restrict n][n],
         double F[restrict n][n], double C[restrict n][n], double D[restrict n][n], double G[restrict n][n]);
void syrk(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n]);
void syr2k(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
           double B[restrict n][n]);
void trmm(int n, double alpha, double A[restrict n][n], double B[restrict n][n]);
void symm(int n, double alpha, double beta, double C[restrict n][n], double A[restrict n][n],
          double B[restrict n][n]);

#endif
