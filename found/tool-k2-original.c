/* tool: --backend cuda --min-work 0 --tile-shape split --tile-sizes 3,8,8 --block-sizes 2,4 --device-tiles full-tiles --device-launches graphs (original)
internal: internal error: Error: call to isl_set_from_union_set failed: union map needs to contain elements in exactly one space in /project/isl/isl_union_map.c:781; the region is left as it is */
#include "driver.h"

static unsigned char A_k2[1];
static unsigned char B_k2[4][1];
static void f_k2(int n, int m, short p) {
  int j = 3;
#pragma scop
  for (unsigned i = n / 2; i < ((n + 1) / 3); i = i + 1)
    B_k2[i - 5][i - 1] ^= ((B_k2[i - 5][0] + i) + ((unsigned)A_k2[m - i] + A_k2[i - 1]));
  for (unsigned long i = n / 2; i < (p / 2) && i < m; ++i)
    for (j = 5; j >= 0; --j)
      B_k2[i - 4][0]++;
#pragma endscop
  fuzz_mix((unsigned long)j);
}
static void run_k2(const long *sizes, int overlap) {
  (void)sizes; (void)overlap;
  int n = (int)sizes[0]; (void)n;
  int m = (int)sizes[1]; (void)m;
  short p = (short)sizes[2]; (void)p;
  fuzz_fill(&A_k2, sizeof A_k2, FUZZ_INTEGER);
  fuzz_fill(&B_k2, sizeof B_k2, FUZZ_INTEGER);
  f_k2(n, m, p);
  fuzz_hash(&A_k2, sizeof A_k2, FUZZ_INTEGER);
  fuzz_hash(&B_k2, sizeof B_k2, FUZZ_INTEGER);
}

static const long runs_k2[] = {0, 0, 0, 1, 1, 1, 8, 4, 17, 8, 13, 16, 1, 16, 0, 33, 7, 2};

const struct fuzz_kernel fuzz_kernels[] = {
  {"k2", run_k2, 3, 6, 1, runs_k2},
};

const int fuzz_kernel_count = 1;
