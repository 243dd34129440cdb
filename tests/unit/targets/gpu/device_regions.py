"""Regions that the tests of this folder share."""

MATRICES = "int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]"
PRODUCT = """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"""
JACOBI = """
  for (int t = 0; t < n; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }"""
PREFIX = "for (int i = 1; i < n; i++) a[i] += a[i - 1];"
