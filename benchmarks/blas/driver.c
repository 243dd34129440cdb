/* Times each kernel against the same product through CBLAS, one round after the other.
 *
 * driver N RUNS KERNEL...: a line for each kernel with its name, the largest difference of the
 * results relative to the largest result, and the seconds of each round, ours before theirs. */
#define _POSIX_C_SOURCE 199309L
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels.h"

enum { OPERANDS = 4, RESULTS = 3 };
static const double alpha = 1.5, beta = 1.2;
static double *operand[OPERANDS], *result[RESULTS];

static void product(int n, double a, const double *A, const double *B, double b, double *C)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, a, A, n, B, n, b, C, n);
}

#define M(x) ((void *)(x))

static void our_gemm(int n) { gemm(n, alpha, beta, M(result[0]), M(operand[0]), M(operand[1])); }
static void their_gemm(int n) { product(n, alpha, operand[0], operand[1], beta, result[0]); }

static void our_2mm(int n)
{
    mm2(n, alpha, beta, M(result[1]), M(operand[0]), M(operand[1]), M(operand[2]), M(result[0]));
}
static void their_2mm(int n)
{
    product(n, alpha, operand[0], operand[1], 0.0, result[1]);
    product(n, 1.0, result[1], operand[2], beta, result[0]);
}

static void our_3mm(int n)
{
    mm3(n, M(result[1]), M(operand[0]), M(operand[1]), M(result[2]), M(operand[2]), M(operand[3]),
        M(result[0]));
}
static void their_3mm(int n)
{
    product(n, 1.0, operand[0], operand[1], 0.0, result[1]);
    product(n, 1.0, operand[2], operand[3], 0.0, result[2]);
    product(n, 1.0, result[1], result[2], 0.0, result[0]);
}

static void our_syrk(int n) { syrk(n, alpha, beta, M(result[0]), M(operand[0])); }
static void their_syrk(int n)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, n, alpha, operand[0], n, beta, result[0], n);
}

static void our_syr2k(int n) { syr2k(n, alpha, beta, M(result[0]), M(operand[0]), M(operand[1])); }
static void their_syr2k(int n)
{
    cblas_dsyr2k(CblasRowMajor, CblasLower, CblasNoTrans, n, n, alpha, operand[0], n, operand[1], n, beta,
                 result[0], n);
}

static void our_trmm(int n) { trmm(n, alpha, M(operand[0]), M(result[0])); }
static void their_trmm(int n)
{
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, n, n, alpha, operand[0], n,
                result[0], n);
}

static void our_symm(int n) { symm(n, alpha, beta, M(result[0]), M(operand[0]), M(operand[1])); }
static void their_symm(int n)
{
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, n, n, alpha, operand[0], n, operand[1], n, beta,
                result[0], n);
}

static const struct {
    const char *name;
    void (*ours)(int n), (*theirs)(int n);
} kernels[] = {
    {"gemm", our_gemm, their_gemm},    {"2mm", our_2mm, their_2mm},   {"3mm", our_3mm, their_3mm},
    {"syrk", our_syrk, their_syrk},    {"syr2k", our_syr2k, their_syr2k},
    {"trmm", our_trmm, their_trmm},    {"symm", our_symm, their_symm},
};

static void fill(double *matrix, int n, unsigned seed)
{
    for (long i = 0; i < (long)n * n; i++) {
        seed = seed * 1664525u + 1013904223u;
        matrix[i] = (seed >> 8) / 16777216.0 - 0.5;
    }
}

static double timed(void (*run)(int), int n)
{
    struct timespec from, to;
    for (int i = 0; i < RESULTS; i++)
        fill(result[i], n, 100u + (unsigned)i);
    clock_gettime(CLOCK_MONOTONIC, &from);
    run(n);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void compare(size_t which, int n, int runs)
{
    size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    double *kept = malloc(bytes), largest = 0.0, difference = 0.0;
    timed(kernels[which].ours, n);
    memcpy(kept, result[0], bytes);
    timed(kernels[which].theirs, n);
    for (long i = 0; i < (long)n * n; i++) {
        largest = fmax(largest, fabs(result[0][i]));
        difference = fmax(difference, fabs(result[0][i] - kept[i]));
    }
    free(kept);
    printf("%s %.3g", kernels[which].name, difference / largest);
    for (int run = 0; run < runs; run++) {
        printf(" %.6f", timed(kernels[which].ours, n));
        printf(" %.6f", timed(kernels[which].theirs, n));
    }
    printf("\n");
    fflush(stdout);
}

int main(int count, char **words)
{
    int n = count > 2 ? atoi(words[1]) : 0, runs = count > 2 ? atoi(words[2]) : 0;
    if (n < 1 || runs < 1)
        return 2;
    for (int i = 0; i < OPERANDS + RESULTS; i++) {
        double *matrix = malloc(sizeof(double) * (size_t)n * (size_t)n);
        *(i < OPERANDS ? &operand[i] : &result[i - OPERANDS]) = matrix;
        fill(matrix, n, (unsigned)i);
    }
    for (int word = 3; word < count; word++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            if (strcmp(words[word], kernels[i].name) == 0)
                compare(i, n, runs);
    return 0;
}
