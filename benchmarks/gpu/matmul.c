/* The matrix product of the PPCG paper, figure 1, in single precision: usage: matmul N, prints seconds. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void matmul(int n, float A[restrict n][n], float B[restrict n][n], float C[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] = C[i][j] + A[i][k] * B[k][j];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
    float (*A)[n] = malloc(bytes), (*B)[n] = malloc(bytes), (*C)[n] = malloc(bytes);
    if (n < 1 || !A || !B || !C)
        return 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] = (float)((i * 7 + j * 3) % 11 - 5);
            B[i][j] = (float)((i * 5 + j * 2) % 13 - 6);
        }
    for (int run = 0; run < 5; run++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        matmul(n, A, B, C);
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("seconds %.9f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    }
    double worst = 0;
    for (int s = 0; s < 64; s++) {
        int i = s * 37 % n, j = s * 101 % n;
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum = sum + A[i][k] * B[k][j];
        worst = fmax(worst, fabs((double)sum - (double)C[i][j]));
    }
    printf("error %g\n", worst);
    free(A);
    free(B);
    free(C);
    return worst > 1e-3 * n;
}
