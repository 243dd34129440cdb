// What the accumulations are set against: copies on the device, cuBLAS and cuSPARSE, on data of the same sizes.
// usage: libraries RUNS NAME:N[:MEAN]..., prints NAME and the seconds of each run, without the first two.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>

static void check(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s: error %d\n", what, code);
        exit(1);
    }
}
#define CHECK(call) check((int)(call), #call)

__host__ __device__ static uint64_t mixed(uint64_t value)
{
    value = (value + 1) * 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 32) * 0xd6e8feb86659fd93u;
    return value ^ value >> 32;
}

// The numbers that new_ints of warm.c makes for an array.
__host__ __device__ static int number(uint64_t array, uint64_t index, uint64_t bound)
{
    return (int)((mixed(array << 40 ^ index) >> 16) % bound);
}

template <class T> __global__ static void fill(T *data, size_t count, int array, int bound, int first)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = (T)(number(array, i, bound) + first);
}

template <class T> static T *make(size_t count, int array, int bound, int first)
{
    T *data;
    CHECK(cudaMalloc(&data, count * sizeof(T)));
    fill<<<1024, 256>>>(data, count, array, bound, first);
    CHECK(cudaDeviceSynchronize());
    return data;
}

static int runs;

template <class F> static void time_of(const char *name, F work)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int run = 0; run < runs + 2; run++) {
        float milliseconds;
        CHECK(cudaEventRecord(begin));
        work();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (run > 1)
            printf("%s %.9f\n", name, milliseconds / 1000);
    }
}

static void copies(const char *name, size_t n)
{
    char *from = make<char>(n, 1, 256, -128), *to = make<char>(n, 2, 256, -128);
    time_of(name, [=] { CHECK(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice)); });
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

static void vectors(cublasHandle_t handle, const char *name, int n)
{
    bool is_float = name[0] == 's';
    size_t size = is_float ? sizeof(float) : sizeof(double);
    void *x = is_float ? (void *)make<float>(n, 1, 9, -4) : (void *)make<double>(n, 1, 33, -16);
    void *y = nullptr;
    double *result;
    int *place;
    CHECK(cudaMalloc(&result, size));
    CHECK(cudaMalloc(&place, sizeof *place));
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    if (strcmp(name + 1, "dot") == 0)
        y = is_float ? (void *)make<float>(n, 2, 9, -4) : (void *)make<double>(n, 2, 33, -16);
    time_of(name, [=] {
        if (strcmp(name, "sdot") == 0)
            CHECK(cublasSdot(handle, n, (float *)x, 1, (float *)y, 1, (float *)result));
        else if (strcmp(name, "ddot") == 0)
            CHECK(cublasDdot(handle, n, (double *)x, 1, (double *)y, 1, result));
        else if (strcmp(name, "sasum") == 0)
            CHECK(cublasSasum(handle, n, (float *)x, 1, (float *)result));
        else if (strcmp(name, "dasum") == 0)
            CHECK(cublasDasum(handle, n, (double *)x, 1, result));
        else if (strcmp(name, "damax") == 0)
            CHECK(cublasIdamax(handle, n, (double *)x, 1, place));
    });
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(result));
    CHECK(cudaFree(place));
}

// C's rows are the columns of cuBLAS: transposed there is A x here.
template <class T, class F> static void products(cublasHandle_t handle, const char *name, int n, bool is_transposed, F gemv)
{
    T *a = make<T>((size_t)n * n, 1, 9, -4), *x = make<T>(n, 2, 9, -4), *y = make<T>(n, 3, 9, -4), one = 1, zero = 0;
    cublasOperation_t how = is_transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    time_of(name, [&] { CHECK(gemv(handle, how, n, n, &one, a, n, x, 1, &zero, y, 1)); });
    CHECK(cudaFree(a));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

// The matrix of csr.c, with the same rows and columns.
static void sparse(const char *name, int n, int mean)
{
    std::vector<int> row(n + 1);
    int all = 0;
    for (int i = 0; i <= n; i++) {
        row[i] = all;
        all += number(1, i, 2 * mean + 1);
    }
    all = row[n];
    int *rows, *columns = make<int>(all, 2, n, 0);
    CHECK(cudaMalloc(&rows, (n + 1) * sizeof *rows));
    CHECK(cudaMemcpy(rows, row.data(), (n + 1) * sizeof *rows, cudaMemcpyHostToDevice));
    double *values = make<double>(all, 3, 33, -16), *x = make<double>(n, 4, 33, -16), one = 1, zero = 0;
    double *y = make<double>(n, 5, 33, -16);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t in, out;
    size_t bytes = 0;
    void *buffer = nullptr;
    CHECK(cusparseCreate(&handle));
    CHECK(cusparseCreateCsr(&matrix, n, n, all, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&in, n, x, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&out, n, y, CUDA_R_64F));
    CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_64F,
                                  CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes ? bytes : 1));
    time_of(name, [&] {
        CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_64F,
                           CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    });
    for (void *each : {(void *)rows, (void *)columns, (void *)values, (void *)x, (void *)y, buffer})
        CHECK(cudaFree(each));
}

int main(int argc, char **argv)
{
    runs = argc > 1 ? atoi(argv[1]) : 10;
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    for (int i = 2; i < argc; i++) {
        const char *name = strtok(argv[i], ":"), *first = strtok(nullptr, ":"), *second = strtok(nullptr, ":");
        size_t n = first ? strtoull(first, nullptr, 10) : 0;
        if (strcmp(name, "copy") == 0)
            copies(name, n);
        else if (strcmp(name, "spmv") == 0)
            sparse(name, (int)n, second ? atoi(second) : 1);
        else if (strcmp(name, "sgemv") == 0)
            products<float>(handle, name, (int)n, false, cublasSgemv);
        else if (strncmp(name, "dgemv", 5) == 0)
            products<double>(handle, name, (int)n, name[5] == 't', cublasDgemv);
        else
            vectors(handle, name, (int)n);
    }
    return 0;
}
