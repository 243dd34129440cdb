#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define nearbyint(x) rint(x)
#define polybuild_min(a, b) ((a) < (b) ? (a) : (b))
#define polybuild_max(a, b) ((a) > (b) ? (a) : (b))
#define polybuild_floordiv(a, b) ((a) < 0 ? -(((b) - 1 - (a)) / (b)) : (a) / (b))

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void polybuild_product_6_0(__global double *restrict C, __global const double *restrict A, __global const double *restrict B, long C_first, long A_first, long B_first, const int pb_n)
{
  const int b0 = (int)get_group_id(1);
  const int b1 = (int)get_group_id(0);
  const int thread = (int)(get_local_id(1) * 8 + get_local_id(0));
  const int t0 = thread / 32 * 4 + thread % 32 / 8;
  const int t1 = thread / 32 % 1 * 8 + thread % 8;
  double C_own[2][2];
  __local __attribute__((aligned(16))) double A_shared0[2][8][18];
  __local __attribute__((aligned(16))) double B_shared1[2][8][16];
  double2 A_shared0_next[1];
  double2 B_shared1_next[1];
  C -= C_first;
  A -= A_first;
  B -= B_first;
  for (int c0 = b0; c0 <= (pb_n - 1) / 16; c0 += 64) {
    for (int c1 = b1; c1 <= (pb_n - 1) / 16; c1 += 64) {
      C_own[0][0] = 0;
      C_own[0][1] = 0;
      C_own[1][0] = 0;
      C_own[1][1] = 0;
      if (pb_n >= 16 * c0 + 16 && (unsigned long)&A[(long)(16 * c0) * pb_n + 0] % 16 == 0 && pb_n % 2 == 0) {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              A_shared0_next[own] = *(__global const double2 *)&A[(long)(16 * c0 + vector / 4) * pb_n + (2 * (vector % 4))];
            }
        }
      } else {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              const int at = 16 * c0 + vector / 4;
              int at1 = 2 * (vector % 4);
              A_shared0_next[own].x = pb_n >= at + 1 && pb_n >= at1 + 1 ? A[(long)at * pb_n + at1] : (double)0;
              at1++;
              A_shared0_next[own].y = pb_n >= at + 1 && pb_n >= at1 + 1 ? A[(long)at * pb_n + at1] : (double)0;
            }
        }
      }
      if (pb_n >= 16 * c1 + 16 && (unsigned long)&B[(long)0 * pb_n + (16 * c1)] % 16 == 0 && pb_n % 2 == 0) {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              B_shared1_next[own] = *(__global const double2 *)&B[(long)(vector / 8) * pb_n + (16 * c1 + 2 * (vector % 8))];
            }
        }
      } else {
      #pragma unroll
        for (int own = 0; own < 1; own++) {
          const int vector = 64 * own + thread;
            {
              const int at = vector / 8;
              int at1 = 16 * c1 + 2 * (vector % 8);
              B_shared1_next[own].x = pb_n >= at + 1 && pb_n >= at1 + 1 ? B[(long)at * pb_n + at1] : (double)0;
              at1++;
              B_shared1_next[own].y = pb_n >= at + 1 && pb_n >= at1 + 1 ? B[(long)at * pb_n + at1] : (double)0;
            }
        }
      }
      #pragma unroll
      for (int own = 0; own < 1; own++) {
        const int vector = 64 * own + thread;
          *(__local double2 *)&B_shared1[0][vector / 8][2 * (vector % 8)] = B_shared1_next[own];
      }
      #pragma unroll
      for (int own = 0; own < 1; own++) {
        const int vector = 64 * own + thread;
          {
            A_shared0[0][2 * (vector % 4)][vector / 4] = A_shared0_next[own].x;
            A_shared0[0][2 * (vector % 4) + 1][vector / 4] = A_shared0_next[own].y;
          }
      }
      for (int c2 = 0; c2 <= (pb_n - 1) / 8; c2++) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (pb_n >= 8 * c2 + 9) {
          if (pb_n >= 16 * c0 + 16 && pb_n >= 8 * c2 + 16 && (unsigned long)&A[(long)(16 * c0) * pb_n + (8 * c2 + 8)] % 16 == 0 && pb_n % 2 == 0) {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  A_shared0_next[own] = *(__global const double2 *)&A[(long)(16 * c0 + vector / 4) * pb_n + (8 * c2 + 8 + 2 * (vector % 4))];
                }
            }
          } else {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  const int at = 16 * c0 + vector / 4;
                  int at1 = 8 * c2 + 8 + 2 * (vector % 4);
                  A_shared0_next[own].x = pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? A[(long)at * pb_n + at1] : (double)0;
                  at1++;
                  A_shared0_next[own].y = pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? A[(long)at * pb_n + at1] : (double)0;
                }
            }
          }
          if (pb_n >= 16 * c1 + 16 && pb_n >= 8 * c2 + 16 && (unsigned long)&B[(long)(8 * c2 + 8) * pb_n + (16 * c1)] % 16 == 0 && pb_n % 2 == 0) {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  B_shared1_next[own] = *(__global const double2 *)&B[(long)(8 * c2 + 8 + vector / 8) * pb_n + (16 * c1 + 2 * (vector % 8))];
                }
            }
          } else {
          #pragma unroll
            for (int own = 0; own < 1; own++) {
              const int vector = 64 * own + thread;
                {
                  const int at = 8 * c2 + 8 + vector / 8;
                  int at1 = 16 * c1 + 2 * (vector % 8);
                  B_shared1_next[own].x = pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? B[(long)at * pb_n + at1] : (double)0;
                  at1++;
                  B_shared1_next[own].y = pb_n >= at + 1 && pb_n >= at1 + 1 && pb_n >= 8 * c2 + 9 ? B[(long)at * pb_n + at1] : (double)0;
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
          #pragma unroll
          for (int own = 0; own < 1; own++) {
            const int vector = 64 * own + thread;
              *(__local double2 *)&B_shared1[(c2 + 1) % 2][vector / 8][2 * (vector % 8)] = B_shared1_next[own];
          }
          #pragma unroll
          for (int own = 0; own < 1; own++) {
            const int vector = 64 * own + thread;
              {
                A_shared0[(c2 + 1) % 2][2 * (vector % 4)][vector / 4] = A_shared0_next[own].x;
                A_shared0[(c2 + 1) % 2][2 * (vector % 4) + 1][vector / 4] = A_shared0_next[own].y;
              }
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
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
