/* w := w + A v, with A a sparse matrix of 3 by 3 blocks. */
#include "driver.h"

static void kernel_equake(int n, const int *restrict row, const int *restrict col,
                          const double (*restrict a)[3][3], const double (*restrict v)[3], double (*restrict w)[3])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s0 = 0, s1 = 0, s2 = 0;
        for (int j = row[i]; j < row[i + 1]; j++) {
            s0 += a[j][0][0] * v[col[j]][0] + a[j][0][1] * v[col[j]][1] + a[j][0][2] * v[col[j]][2];
            s1 += a[j][1][0] * v[col[j]][0] + a[j][1][1] * v[col[j]][1] + a[j][1][2] * v[col[j]][2];
            s2 += a[j][2][0] * v[col[j]][0] + a[j][2][1] * v[col[j]][1] + a[j][2][2] * v[col[j]][2];
        }
        w[i][0] += s0;
        w[i][1] += s1;
        w[i][2] += s2;
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], mean = size[1], all = 0;
    int *row = new_ints("row", n + 1, 2 * mean + 1);
    for (int i = 0; i <= n; i++) {
        int length = row[i];
        row[i] = all;
        all += length;
    }
    all = row[n];
    int *col = new_ints("col", all, n);
    double (*a)[3][3] = new_doubles("a", (size_t)all * 9);
    double (*v)[3] = new_doubles("v", (size_t)n * 3), (*w)[3] = new_doubles("w", (size_t)n * 3);

    do {
        timer_start();
        kernel_equake(n, row, col, a, v, w);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"equake", "n mean", {100000, 30}, run};
