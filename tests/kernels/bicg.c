/* The two products of the biconjugate gradient method: q := A p and s := transpose(A) r. */
#include "driver.h"

static void kernel_bicg(int m, int n, double (*restrict A)[n], double *restrict s, double *restrict q,
                        const double *restrict p, const double *restrict r)
{
#pragma scop
    for (int i = 0; i < m; ++i) {
        q[i] = 0.0;
        for (int j = 0; j < n; ++j)
            q[i] = q[i] + A[i][j] * p[j];
    }
    for (int j = 0; j < n; ++j) {
        s[j] = 0.0;
        for (int i = 0; i < m; ++i)
            s[j] = s[j] + r[i] * A[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int m = size[0], n = size[1];
    double (*A)[n] = new_doubles("A", m * n);
    double *p = new_doubles("p", n);
    double *r = new_doubles("r", m);
    double *q = new_doubles("q", m);
    double *s = new_doubles("s", n);

    timer_start();
    kernel_bicg(m, n, A, s, q, p, r);
    timer_stop();
}

const struct kernel kernel = {"bicg", "m n", {2100, 1900}, run};
