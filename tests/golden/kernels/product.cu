#include <cuda_pipeline.h>
#define polybuild_min(a, b) ((a) < (b) ? (a) : (b))
#define polybuild_max(a, b) ((a) > (b) ? (a) : (b))
#define polybuild_floordiv(a, b) ((a) < 0 ? -(((b) - 1 - (a)) / (b)) : (a) / (b))
#define polybuild_multiply(c0, c1, a, b) \
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+d"(c0), "+d"(c1) : "d"(a), "d"(b))
#if __CUDA_ARCH__ >= 900
#define polybuild_multiply_pair(c0, c1, c2, c3, a0, a1, b) \
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " \
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
      : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3) : "d"(a0), "d"(a1), "d"(b))
#else
#define polybuild_multiply_pair(c0, c1, c2, c3, a0, a1, b) \
  do { polybuild_multiply(c0, c1, a0, b); polybuild_multiply(c2, c3, a1, b); } while (0)
#endif

extern "C" __global__ void __launch_bounds__(64, 16) polybuild_product_6_0(double *__restrict__ C, const double *__restrict__ A, const double *__restrict__ B, long C_first, long A_first, long B_first, const int pb_n)
{
  const int b0 = (int)blockIdx.y;
  const int b1 = (int)blockIdx.x;
  int thread = (int)(threadIdx.y * 8 + threadIdx.x);
  const int t0 = thread / 32 * 4 + thread % 32 / 8;
  const int t1 = thread / 32 % 1 * 8 + thread % 8;
  double C_own[2][2];
  __shared__ __align__(16) double A_shared0[2][8][18];
  __shared__ __align__(16) double B_shared1[2][8][16];
  C -= C_first;
  A -= A_first;
  B -= B_first;
  for (int c0 = b0; c0 <= (pb_n - 1) / 16; c0 += 64) {
    for (int c1 = b1; c1 <= (pb_n - 1) / 16; c1 += 64) {
      asm volatile("" : "+r"(thread));
      C_own[0][0] = 0;
      C_own[0][1] = 0;
      C_own[1][0] = 0;
      C_own[1][1] = 0;
      if (pb_n >= 16 * c0 + 16 && (unsigned long)&A[(long)(16 * c0) * pb_n + 0] % 16 == 0 && pb_n % 2 == 0) {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              __pipeline_memcpy_async(&A_shared0[0][2 * (vector % 4)][vector / 4], &A[(long)(16 * c0 + vector / 4) * pb_n + (2 * (vector % 4))], 8);
              __pipeline_memcpy_async(&A_shared0[0][2 * (vector % 4) + 1][vector / 4], &A[(long)(16 * c0 + vector / 4) * pb_n + (2 * (vector % 4))] + 1, 8);
            }
        }
      } else {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              const int at = 16 * c0 + vector / 4;
              int at1 = 2 * (vector % 4);
              __pipeline_memcpy_async(&A_shared0[0][2 * (vector % 4)][vector / 4], &A[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 ? 0 : 8);
              at1++;
              __pipeline_memcpy_async(&A_shared0[0][2 * (vector % 4) + 1][vector / 4], &A[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 ? 0 : 8);
            }
        }
      }
      if (pb_n >= 16 * c1 + 16 && (unsigned long)&B[(long)0 * pb_n + (16 * c1)] % 16 == 0 && pb_n % 2 == 0) {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              __pipeline_memcpy_async(&B_shared1[0][vector / 8][2 * (vector % 8)], &B[(long)(vector / 8) * pb_n + (16 * c1 + 2 * (vector % 8))], 16);
            }
        }
      } else {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              const int at = vector / 8;
              int at1 = 16 * c1 + 2 * (vector % 8);
              __pipeline_memcpy_async(&B_shared1[0][vector / 8][2 * (vector % 8)], &B[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 ? 0 : 8);
              at1++;
              __pipeline_memcpy_async(&B_shared1[0][vector / 8][2 * (vector % 8) + 1], &B[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 ? 0 : 8);
            }
        }
      }
      __pipeline_commit();
      __pipeline_wait_prior(0);
      for (int c2 = 0; c2 <= (pb_n - 1) / 8; c2++) {
        __syncthreads();
        if (pb_n >= 8 * c2 + 9) {
          if (pb_n >= 16 * c0 + 16 && pb_n >= 8 * c2 + 16 && (unsigned long)&A[(long)(16 * c0) * pb_n + (8 * c2 + 8)] % 16 == 0 && pb_n % 2 == 0) {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  __pipeline_memcpy_async(&A_shared0[(c2 + 1) % 2][2 * (vector % 4)][vector / 4], &A[(long)(16 * c0 + vector / 4) * pb_n + (8 * c2 + 8 + 2 * (vector % 4))], 8);
                  __pipeline_memcpy_async(&A_shared0[(c2 + 1) % 2][2 * (vector % 4) + 1][vector / 4], &A[(long)(16 * c0 + vector / 4) * pb_n + (8 * c2 + 8 + 2 * (vector % 4))] + 1, 8);
                }
            }
          } else {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  const int at = 16 * c0 + vector / 4;
                  int at1 = 8 * c2 + 8 + 2 * (vector % 4);
                  __pipeline_memcpy_async(&A_shared0[(c2 + 1) % 2][2 * (vector % 4)][vector / 4], &A[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? 0 : 8);
                  at1++;
                  __pipeline_memcpy_async(&A_shared0[(c2 + 1) % 2][2 * (vector % 4) + 1][vector / 4], &A[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? 0 : 8);
                }
            }
          }
          if (pb_n >= 16 * c1 + 16 && pb_n >= 8 * c2 + 16 && (unsigned long)&B[(long)(8 * c2 + 8) * pb_n + (16 * c1)] % 16 == 0 && pb_n % 2 == 0) {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  __pipeline_memcpy_async(&B_shared1[(c2 + 1) % 2][vector / 8][2 * (vector % 8)], &B[(long)(8 * c2 + 8 + vector / 8) * pb_n + (16 * c1 + 2 * (vector % 8))], 16);
                }
            }
          } else {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  const int at = 8 * c2 + 8 + vector / 8;
                  int at1 = 16 * c1 + 2 * (vector % 8);
                  __pipeline_memcpy_async(&B_shared1[(c2 + 1) % 2][vector / 8][2 * (vector % 8)], &B[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? 0 : 8);
                  at1++;
                  __pipeline_memcpy_async(&B_shared1[(c2 + 1) % 2][vector / 8][2 * (vector % 8) + 1], &B[(long)at * pb_n + at1], 8, pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? 0 : 8);
                }
            }
          }
        }
        if (8 * c2 + 7 <= pb_n - 1) {
#pragma unroll
          for (int c3 = 8 * c2; c3 <= 8 * c2 + 7; c3++) {
            C_own[0][0] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1];
            C_own[0][1] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1 + 1];
            C_own[1][0] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0 + 1] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1];
            C_own[1][1] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0 + 1] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1 + 1];
          }
        } else {
          for (int c3 = 8 * c2; c3 <= polybuild_min(pb_n - 1, 8 * c2 + 7); c3++) {
            C_own[0][0] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1];
            C_own[0][1] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1 + 1];
            C_own[1][0] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0 + 1] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1];
            C_own[1][1] += A_shared0[c2 % 2][c3 - 8 * c2][2 * t0 + 1] * B_shared1[c2 % 2][c3 - 8 * c2][2 * t1 + 1];
          }
        }
        if (pb_n >= 8 * c2 + 9) {
          __pipeline_commit();
          __pipeline_wait_prior(0);
        }
      }
      __syncthreads();
      if (pb_n >= 16 * c0 + 16 && pb_n >= 16 * c1 + 16) { /* a full tile */
        C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1)] = C_own[0][0];
        C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1)] = C_own[0][1];
        C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1)] = C_own[1][0];
        C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1)] = C_own[1][1];
      } else {
        if (pb_n >= 2 * t0 + 16 * c0 + 1 && pb_n >= 2 * t1 + 16 * c1 + 1) {
          C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1)] = C_own[0][0];
          if (pb_n >= 2 * t1 + 16 * c1 + 2) {
            C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1)] = C_own[0][1];
          }
          if (pb_n >= 2 * t0 + 16 * c0 + 2) {
            C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1)] = C_own[1][0];
            if (pb_n >= 2 * t1 + 16 * c1 + 2) {
              C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1)] = C_own[1][1];
            }
          }
        }
      }
    }
  }
}
