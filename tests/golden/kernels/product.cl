#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define polybuild_min(a, b) ((a) < (b) ? (a) : (b))
#define polybuild_max(a, b) ((a) > (b) ? (a) : (b))
#define polybuild_floordiv(a, b) ((a) < 0 ? -(((b) - 1 - (a)) / (b)) : (a) / (b))

__kernel void polybuild_product_6_0(__global double *restrict C, long C_first, const int pb_n)
{
  const int b0 = (int)get_group_id(1);
  const int b1 = (int)get_group_id(0);
  const int t0 = (int)get_local_id(1);
  const int t1 = (int)get_local_id(0);
  for (int pb_c = b0; pb_c <= (pb_n - 1) / 16; pb_c += 64) {
    for (int pb_c1 = b1; pb_c1 <= (pb_n - 1) / 16; pb_c1 += 64) {
      for (int pb_c2 = 2 * pb_c; pb_c2 <= polybuild_min(2 * pb_c + 1, (pb_n - 1) / 8); pb_c2++) {
        if (pb_n >= t0 + 8 * pb_c2 + 1) {
          for (int pb_c3 = 2 * pb_c1; pb_c3 <= polybuild_min(2 * pb_c1 + 1, (pb_n - 1) / 8); pb_c3++) {
            if (pb_n >= t1 + 8 * pb_c3 + 1) {
              C[(long)(t0 + 8 * pb_c2) * pb_n + (t1 + 8 * pb_c3) - C_first] = 0;
            }
          }
        }
      }
    }
  }
}

__kernel void polybuild_product_6_1(__global double *restrict C, __global const double *restrict A, __global const double *restrict B, long C_first, long A_first, long B_first, const int pb_n)
{
  const int b0 = (int)get_group_id(1);
  const int b1 = (int)get_group_id(0);
  const int t0 = (int)get_local_id(1);
  const int t1 = (int)get_local_id(0);
  double C_own[2][2];
  __local double A_shared0[16][9];
  __local double B_shared1[8][16];
  for (int pb_c = b0; pb_c <= (pb_n - 1) / 16; pb_c += 64) {
    for (int pb_c1 = b1; pb_c1 <= (pb_n - 1) / 16; pb_c1 += 64) {
      if (pb_n >= 16 * pb_c + 16 && pb_n >= 16 * pb_c1 + 16) { /* a full tile */
        C_own[0][0] = C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1) - C_first];
        C_own[0][1] = C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first];
        C_own[1][0] = C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1) - C_first];
        C_own[1][1] = C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first];
      } else {
        if (pb_n >= t0 + 16 * pb_c + 1 && pb_n >= t1 + 16 * pb_c1 + 1) {
          C_own[0][0] = C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1) - C_first];
          if (pb_n >= t1 + 16 * pb_c1 + 9) {
            C_own[0][1] = C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first];
          }
          if (pb_n >= t0 + 16 * pb_c + 9) {
            C_own[1][0] = C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1) - C_first];
            if (pb_n >= t1 + 16 * pb_c1 + 9) {
              C_own[1][1] = C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first];
            }
          }
        }
      }
      for (int pb_c2 = 0; pb_c2 <= (pb_n - 1) / 8; pb_c2++) {
        if (pb_n >= t1 + 8 * pb_c2 + 1) {
          for (int pb_c3 = t0 + 16 * pb_c; pb_c3 <= polybuild_min(pb_n - 1, 16 * pb_c + 15); pb_c3 += 8) {
            A_shared0[-16 * pb_c + pb_c3][t1] = A[(long)pb_c3 * pb_n + (t1 + 8 * pb_c2) - A_first];
          }
        }
        if (pb_n >= t0 + 8 * pb_c2 + 1) {
          for (int pb_c3 = t1 + 16 * pb_c1; pb_c3 <= polybuild_min(pb_n - 1, 16 * pb_c1 + 15); pb_c3 += 8) {
            B_shared1[t0][-16 * pb_c1 + pb_c3] = B[(long)(t0 + 8 * pb_c2) * pb_n + pb_c3 - B_first];
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (pb_n >= 16 * pb_c + 16 && pb_n >= 16 * pb_c1 + 16) { /* a full tile */
          for (int pb_c3 = 8 * pb_c2; pb_c3 <= polybuild_min(pb_n - 1, 8 * pb_c2 + 7); pb_c3++) {
            C_own[0][0] += A_shared0[t0][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1];
            C_own[0][1] += A_shared0[t0][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1 + 8];
            C_own[1][0] += A_shared0[t0 + 8][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1];
            C_own[1][1] += A_shared0[t0 + 8][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1 + 8];
          }
        } else {
          if (pb_n >= t0 + 16 * pb_c + 1 && pb_n >= t1 + 16 * pb_c1 + 1) {
            for (int pb_c3 = 8 * pb_c2; pb_c3 <= polybuild_min(pb_n - 1, 8 * pb_c2 + 7); pb_c3++) {
              C_own[0][0] += A_shared0[t0][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1];
              if (pb_n >= t1 + 16 * pb_c1 + 9) {
                C_own[0][1] += A_shared0[t0][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1 + 8];
              }
              if (pb_n >= t0 + 16 * pb_c + 9) {
                C_own[1][0] += A_shared0[t0 + 8][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1];
                if (pb_n >= t1 + 16 * pb_c1 + 9) {
                  C_own[1][1] += A_shared0[t0 + 8][-8 * pb_c2 + pb_c3] * B_shared1[-8 * pb_c2 + pb_c3][t1 + 8];
                }
              }
            }
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      if (pb_n >= 16 * pb_c + 16 && pb_n >= 16 * pb_c1 + 16) { /* a full tile */
        C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1) - C_first] = C_own[0][0];
        C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first] = C_own[0][1];
        C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1) - C_first] = C_own[1][0];
        C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first] = C_own[1][1];
      } else {
        if (pb_n >= t0 + 16 * pb_c + 1 && pb_n >= t1 + 16 * pb_c1 + 1) {
          C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1) - C_first] = C_own[0][0];
          if (pb_n >= t1 + 16 * pb_c1 + 9) {
            C[(long)(t0 + 16 * pb_c) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first] = C_own[0][1];
          }
          if (pb_n >= t0 + 16 * pb_c + 9) {
            C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1) - C_first] = C_own[1][0];
            if (pb_n >= t1 + 16 * pb_c1 + 9) {
              C[(long)(t0 + 16 * pb_c + 8) * pb_n + (t1 + 16 * pb_c1 + 8) - C_first] = C_own[1][1];
            }
          }
        }
      }
    }
  }
}
