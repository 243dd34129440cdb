/* Kernels of client.c, in what CUDA C and OpenCL C have in common. */
#ifdef __OPENCL_VERSION__
#define KERNEL __kernel void
#define GLOBAL __global
#define LOCAL __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define THREAD(d) (long)get_local_id(d)
#define BLOCK(d) (long)get_group_id(d)
#define THREADS(d) (long)get_local_size(d)
#else
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define LOCAL __shared__
#define BARRIER() __syncthreads()
#define PICK(name, d) (long)((d) == 0 ? name.x : (d) == 1 ? name.y : name.z)
#define THREAD(d) PICK(threadIdx, d)
#define BLOCK(d) PICK(blockIdx, d)
#define THREADS(d) PICK(blockDim, d)
#endif
#define INDEX(d) (BLOCK(d) * THREADS(d) + THREAD(d))

/* b[i] = 2 a[i] for first <= i < last */
KERNEL twice(GLOBAL const double *a, long a_first, GLOBAL double *b, long b_first, long first, long last)
{
    long i = first + INDEX(0);
    if (i < last)
        b[i - b_first] = 2 * a[i - a_first];
}

/* a[i][j][k] += 1 on the interior of an n x n x n array */
KERNEL interior(GLOBAL float *a, long a_first, int n)
{
    long i = 1 + INDEX(2), j = 1 + INDEX(1), k = 1 + INDEX(0);
    if (i < n - 1 && j < n - 1 && k < n - 1)
        a[(i * n + j) * n + k - a_first] += 1;
}

/* one step of a heat equation on a line: b from a */
KERNEL heat(GLOBAL const double *a, long a_first, GLOBAL double *b, long b_first, long n)
{
    long i = 1 + INDEX(0);
    if (i < n - 1)
        b[i - b_first] = 0.25 * a[i - 1 - a_first] + 0.5 * a[i - a_first] + 0.25 * a[i + 1 - a_first];
}

/* Each block of 64 reverses its part of a, through shared memory, into t. */
KERNEL turn(GLOBAL const double *a, long a_first, GLOBAL double *t, long t_first)
{
    LOCAL double part[64];
    part[THREAD(0)] = a[INDEX(0) - a_first];
    BARRIER();
    t[INDEX(0) - t_first] = part[63 - THREAD(0)];
}
