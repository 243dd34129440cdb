#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define nearbyint(x) rint(x)
#define polybuild_min(a, b) ((a) < (b) ? (a) : (b))
#define polybuild_max(a, b) ((a) > (b) ? (a) : (b))
#define polybuild_floordiv(a, b) ((a) < 0 ? -(((b) - 1 - (a)) / (b)) : (a) / (b))

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void polybuild_product_6_0(__global double *restrict C, long C_first, const int pb_n)
{
  const int b0 = (int)get_group_id(1);
  const int b1 = (int)get_group_id(0);
  const int t0 = (int)get_local_id(1);
  const int t1 = (int)get_local_id(0);
  for (int c0 = b0; c0 <= (pb_n - 1) / 16; c0 += 64) {
    for (int c1 = b1; c1 <= (pb_n - 1) / 16; c1 += 64) {
      for (int c2 = 2 * c0; c2 <= polybuild_min(2 * c0 + 1, (pb_n - 1) / 8); c2++) {
        if (pb_n >= t0 + 8 * c2 + 1) {
          for (int c3 = 2 * c1; c3 <= polybuild_min(2 * c1 + 1, (pb_n - 1) / 8); c3++) {
            if (pb_n >= t1 + 8 * c3 + 1) {
              C[(long)(t0 + 8 * c2) * pb_n + (t1 + 8 * c3) - C_first] = 0;
            }
          }
        }
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void polybuild_product_6_1(__global double *restrict C, __global const double *restrict A, __global const double *restrict B, long C_first, long A_first, long B_first, const int pb_n)
{
  const int b0 = (int)get_group_id(1);
  const int b1 = (int)get_group_id(0);
  const int t0 = (int)get_local_id(1);
  const int t1 = (int)get_local_id(0);
  double C_own[2][2];
  __local __attribute__((aligned(16))) double A_shared0[8][18];
  __local __attribute__((aligned(16))) double B_shared1[8][16];
  for (int c0 = b0; c0 <= (pb_n - 1) / 16; c0 += 64) {
    for (int c1 = b1; c1 <= (pb_n - 1) / 16; c1 += 64) {
      if (pb_n >= 16 * c0 + 16 && pb_n >= 16 * c1 + 16) { /* a full tile */
        C_own[0][0] = C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1) - C_first];
        C_own[0][1] = C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first];
        C_own[1][0] = C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1) - C_first];
        C_own[1][1] = C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first];
      } else {
        if (pb_n >= 2 * t0 + 16 * c0 + 1 && pb_n >= 2 * t1 + 16 * c1 + 1) {
          C_own[0][0] = C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1) - C_first];
          if (pb_n >= 2 * t1 + 16 * c1 + 2) {
            C_own[0][1] = C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first];
          }
          if (pb_n >= 2 * t0 + 16 * c0 + 2) {
            C_own[1][0] = C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1) - C_first];
            if (pb_n >= 2 * t1 + 16 * c1 + 2) {
              C_own[1][1] = C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first];
            }
          }
        }
      }
      for (int c2 = 0; c2 <= (pb_n - 1) / 8; c2++) {
        if (pb_n >= t1 + 8 * c2 + 1) {
          for (int c3 = t0 + 16 * c0; c3 <= polybuild_min(pb_n - 1, 16 * c0 + 15); c3 += 8) {
            A_shared0[t1][c3 - 16 * c0] = A[(long)c3 * pb_n + (t1 + 8 * c2) - A_first];
          }
        }
        if (pb_n >= t0 + 8 * c2 + 1) {
          for (int c4 = t1 + 16 * c1; c4 <= polybuild_min(pb_n - 1, 16 * c1 + 15); c4 += 8) {
            B_shared1[t0][c4 - 16 * c1] = B[(long)(t0 + 8 * c2) * pb_n + c4 - B_first];
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (pb_n >= 16 * c0 + 16 && pb_n >= 16 * c1 + 16) { /* a full tile */
          if (8 * c2 + 7 <= pb_n - 1) {
#pragma unroll
            for (int c3 = 8 * c2; c3 <= 8 * c2 + 7; c3++) {
              C_own[0][0] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1];
              C_own[0][1] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
              C_own[1][0] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1];
              C_own[1][1] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
            }
          } else {
            for (int c3 = 8 * c2; c3 <= polybuild_min(pb_n - 1, 8 * c2 + 7); c3++) {
              C_own[0][0] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1];
              C_own[0][1] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
              C_own[1][0] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1];
              C_own[1][1] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
            }
          }
        } else {
          if (pb_n >= 2 * t0 + 16 * c0 + 1 && pb_n >= 2 * t1 + 16 * c1 + 1) {
            for (int c3 = 8 * c2; c3 <= polybuild_min(pb_n - 1, 8 * c2 + 7); c3++) {
              C_own[0][0] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1];
              if (pb_n >= 2 * t1 + 16 * c1 + 2) {
                C_own[0][1] += A_shared0[c3 - 8 * c2][2 * t0] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
              }
              if (pb_n >= 2 * t0 + 16 * c0 + 2) {
                C_own[1][0] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1];
                if (pb_n >= 2 * t1 + 16 * c1 + 2) {
                  C_own[1][1] += A_shared0[c3 - 8 * c2][2 * t0 + 1] * B_shared1[c3 - 8 * c2][2 * t1 + 1];
                }
              }
            }
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      if (pb_n >= 16 * c0 + 16 && pb_n >= 16 * c1 + 16) { /* a full tile */
        C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1) - C_first] = C_own[0][0];
        C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first] = C_own[0][1];
        C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1) - C_first] = C_own[1][0];
        C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first] = C_own[1][1];
      } else {
        if (pb_n >= 2 * t0 + 16 * c0 + 1 && pb_n >= 2 * t1 + 16 * c1 + 1) {
          C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1) - C_first] = C_own[0][0];
          if (pb_n >= 2 * t1 + 16 * c1 + 2) {
            C[(long)(2 * t0 + 16 * c0) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first] = C_own[0][1];
          }
          if (pb_n >= 2 * t0 + 16 * c0 + 2) {
            C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1) - C_first] = C_own[1][0];
            if (pb_n >= 2 * t1 + 16 * c1 + 2) {
              C[(long)(2 * t0 + 16 * c0 + 1) * pb_n + (2 * t1 + 16 * c1 + 1) - C_first] = C_own[1][1];
            }
          }
        }
      }
    }
  }
}
