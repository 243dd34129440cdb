/* The product of n by p with p by m numbers by hand, in the steps that make it fast: C += A B, row after row.
 *
 * RUN elements side by side are a thread's, PER of them along each loop of the result, in blocks of 16 by 16 threads;
 * DEPTH steps of the sum go through shared memory at once, in STAGES. WHOLE says that sums of whole tiles are unrolled. */
#define EDGE (16 * PER)
#define AT(thread, number) (RUN * (thread) + 16 * RUN * ((number) / RUN) + (number) % RUN)
#define ROW_A (EDGE + (RUN > 1 ? RUN : 1))
#define OWN (EDGE * DEPTH / 256)

extern "C" __global__ void __launch_bounds__(256)
product(REAL *__restrict__ C, const REAL *__restrict__ A, const REAL *__restrict__ B, int n, int m, int p)
{
  __shared__ __align__(16) REAL left[STAGES][DEPTH][ROW_A];
  __shared__ __align__(16) REAL right[STAGES][DEPTH][EDGE];
  const int ty = threadIdx.y, tx = threadIdx.x, thread = 16 * ty + tx;
  const int row = EDGE * blockIdx.y, column = EDGE * blockIdx.x, tiles = (p + DEPTH - 1) / DEPTH;
  REAL sum[PER][PER] = {}, next_left[OWN], next_right[OWN];

  for (int tile = 1 - STAGES; tile < tiles; tile++) {
    const int wanted = tile + STAGES - 1, here = STAGES > 1 ? tile & 1 : 0, there = STAGES > 1 ? wanted & 1 : 0;
    __syncthreads();
    if (wanted < tiles) {
#pragma unroll
      for (int q = 0; q < OWN; q++) {
        const int a = OWN * thread + q, b = 256 * q + thread;
        const int i = row + a / DEPTH, k = DEPTH * wanted + a % DEPTH, l = DEPTH * wanted + b / EDGE, j = column + b % EDGE;
        next_left[q] = i < n && k < p ? A[(long)i * p + k] : 0;
        next_right[q] = l < p && j < m ? B[(long)l * m + j] : 0;
        if (STAGES == 1) {
          left[0][a % DEPTH][a / DEPTH] = next_left[q];
          right[0][b / EDGE][b % EDGE] = next_right[q];
        }
      }
    }
    if (STAGES == 1)
      __syncthreads();
    if (tile >= 0) {
      const int last = WHOLE ? DEPTH : min(DEPTH, p - DEPTH * tile);
#pragma unroll
      for (int k = 0; k < last; k++)
#pragma unroll
        for (int a = 0; a < PER; a++)
#pragma unroll
          for (int b = 0; b < PER; b++)
            sum[a][b] += left[here][k][AT(ty, a)] * right[here][k][AT(tx, b)];
    }
    if (STAGES > 1 && wanted < tiles) {
#pragma unroll
      for (int q = 0; q < OWN; q++) {
        const int a = OWN * thread + q, b = 256 * q + thread;
        left[there][a % DEPTH][a / DEPTH] = next_left[q];
        right[there][b / EDGE][b % EDGE] = next_right[q];
      }
    }
  }
#pragma unroll
  for (int a = 0; a < PER; a++)
#pragma unroll
    for (int b = 0; b < PER; b++)
      if (row + AT(ty, a) < n && column + AT(tx, b) < m)
        C[(long)(row + AT(ty, a)) * m + column + AT(tx, b)] += sum[a][b];
}
