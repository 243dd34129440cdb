/* Nussinov's dynamic programme: pairs[i][j] is the most base pairs that bases i to j of
 * an RNA strand can form without crossing; bases are 0 to 3, and 0 pairs with 3, 1 with 2. */
#include "driver.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void kernel_nussinov(int n, const int base[n], int pairs[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        pairs[i][i] = 0;
        for (int j = i + 1; j < n; j++) {
            pairs[i][j] = MAX(pairs[i + 1][j], pairs[i][j - 1]);
            if (j > i + 1)
                pairs[i][j] = MAX(pairs[i][j], pairs[i + 1][j - 1] + (base[i] + base[j] == 3));
            for (int k = i + 1; k < j - 1; k++)
                pairs[i][j] = MAX(pairs[i][j], pairs[i][k] + pairs[k + 1][j]);
        }
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0];
    int *base = new_ints("base", n, 4);
    int (*pairs)[n] = new_ints("pairs", n * n, 10);

    timer_start();
    kernel_nussinov(n, base, pairs);
    timer_stop();
}

const struct kernel kernel = {"nussinov", "n", {2400}, run};
