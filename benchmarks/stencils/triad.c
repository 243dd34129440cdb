/* The bandwidth of the memory, after the triad of STREAM: 24 bytes an element, arrays of argv[1] MiB each. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long n = (argc > 1 ? atol(argv[1]) : 128) * 1024 * 1024 / 8;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c), best = 0;

#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = 1;
        c[i] = 2;
    }
    for (int turn = 0; turn < 5; turn++) {
        double start = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            a[i] = b[i] + 3 * c[i];
        double rate = 24.0 * n / (omp_get_wtime() - start);
        best = rate > best ? rate : best;
    }
    printf("%.0f %g\n", best, a[n / 2]);
    return 0;
}
