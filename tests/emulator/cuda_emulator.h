// What a kernel in CUDA C sees when it is compiled for the emulator, as C++.
#ifndef CUDA_EMULATOR_H
#define CUDA_EMULATOR_H

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

struct uint3 {
    unsigned x, y, z;
};

extern "C" {
// Constant for each thread, and a thread stays what it is as long as it runs.
uint3 emulator_thread(void) __attribute__((const));
uint3 emulator_block(void) __attribute__((const));
uint3 emulator_threads(void) __attribute__((const));
uint3 emulator_blocks(void) __attribute__((const));
void emulator_barrier(void);
void emulator_meeting(void);
// An atomic operation at `place`, of the kernel's code at `code`.
void emulator_update(void *place, std::size_t bytes, const void *code);
// Gives `value` to the threads of the warp in `mask`, and gets the one of the lane that differs by `lanes`.
void emulator_shuffle(unsigned mask, void *value, std::size_t bytes, int lanes, const void *code);
// Whether the mistake of this kind, 'b'arrier, 's'hifted bound, 'a'tomic operation or e'x'change, and number is the one
// to make.
bool emulator_mistake(char kind, int number) __attribute__((const));
}

#define threadIdx (emulator_thread())
#define blockIdx (emulator_block())
#define blockDim (emulator_threads())
#define gridDim (emulator_blocks())
#define __syncthreads() emulator_barrier()

// What <cooperative_groups.h> has of a launch whose blocks run together.
namespace cooperative_groups {
struct grid_group {
    void sync() const { emulator_meeting(); }
};
inline grid_group this_grid() { return {}; }
}  // namespace cooperative_groups

// Vectors: one access for all elements, as for a compiler for CUDA.
#define EMULATOR_VECTOR(name, type, count, ...)                                                                        \
    struct alignas(count * sizeof(type)) name {                                                                        \
        type __VA_ARGS__;                                                                                              \
        typedef type whole __attribute__((vector_size(count * sizeof(type)), may_alias));                              \
        name() = default;                                                                                              \
        name(const name &other) { *(whole *)this = *(const whole *)&other; }                                           \
        name &operator=(const name &other) {                                                                           \
            *(whole *)this = *(const whole *)&other;                                                                   \
            return *this;                                                                                              \
        }                                                                                                              \
    };
EMULATOR_VECTOR(float2, float, 2, x, y)
EMULATOR_VECTOR(float4, float, 4, x, y, z, w)
EMULATOR_VECTOR(double2, double, 2, x, y)
EMULATOR_VECTOR(int2, int, 2, x, y)
EMULATOR_VECTOR(int4, int, 4, x, y, z, w)

#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static const
// One copy for the blocks, which run one after the other. Every block finds it unwritten.
#define __shared__ static __attribute__((section("emulator_shared"), used))

template <class T> inline T __ldg(const T *address) { return *address; }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long min(long a, long b) { return b < a ? b : a; }
inline long max(long a, long b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }

// Atomic operations: threads run one after the other, so it is enough to say that this is one.
#define EMULATOR_ATOMIC_OPERATION(name, operation)                                                                     \
    template <class T> __attribute__((no_sanitize("thread"), noinline)) T name(T *place, std::common_type_t<T> value) {\
        static_assert(std::is_same<T, int>::value || std::is_same<T, unsigned>::value ||                               \
                      std::is_same<T, unsigned long long>::value, "CUDA has no such operation");                       \
        emulator_update(place, sizeof *place, __builtin_return_address(0));                                            \
        const T old = *place;                                                                                          \
        *place = old operation value;                                                                                  \
        return old;                                                                                                    \
    }                                                                                                                  \
    namespace emulator_plain {                                                                                         \
    template <class T> inline void name(T *place, std::common_type_t<T> value) { *place = *place operation value; }    \
    }
EMULATOR_ATOMIC_OPERATION(atomicAdd, +)
EMULATOR_ATOMIC_OPERATION(atomicAnd, &)
EMULATOR_ATOMIC_OPERATION(atomicOr, |)
EMULATOR_ATOMIC_OPERATION(atomicXor, ^)
// One that can be wrong: then it is plain.
#define EMULATOR_ATOMIC(number, operation, ...)                                                                        \
    (emulator_mistake('a', number) ? emulator_plain::operation(__VA_ARGS__) : (void)operation(__VA_ARGS__))

// What the threads of a warp exchange, on CUDA and on HIP.
template <class T>
__attribute__((no_sanitize("thread"), noinline)) T __shfl_xor_sync(unsigned mask, T value, int lanes, int = 32) {
    static_assert(std::is_arithmetic<T>::value && sizeof value >= 4 && sizeof value <= 8, "CUDA shuffles no such type");
    emulator_shuffle(mask, &value, sizeof value, lanes, __builtin_return_address(0));
    return value;
}
template <class T> inline T __shfl_xor(T value, int lanes, int = 32) { return __shfl_xor_sync(0xffffffffu, value, lanes); }
// One that can be forgotten.
#define EMULATOR_SHUFFLE(number, operation, value, lanes)                                                              \
    (emulator_mistake('x', number) ? (value) : operation(0xffffffffu, value, lanes))

// The matrix instruction for doubles, mma.m8n8k4: thread l of a warp has two results side by side in row l / 4, the
// element l % 4 of row l / 4 of the left operand, and that of column l / 4 of the right one. All come to it together.
__attribute__((no_sanitize("thread"), noinline)) inline void emulator_multiply(double &first, double &second, double left,
                                                                              double right) {
    const void *code = __builtin_return_address(0);
    const uint3 where = threadIdx;
    const unsigned lane = (where.x + blockDim.x * (where.y + blockDim.y * where.z)) % 32;
    const auto from = [&](double value, unsigned other) {
        emulator_shuffle(0xffffffffu, &value, sizeof value, static_cast<int>(lane ^ other), code);
        return value;
    };
    for (unsigned term = 0; term < 4; term++) {
        const double own = from(left, lane / 4 * 4 + term);
        first += own * from(right, lane % 4 * 8 + term);
        second += own * from(right, lane % 4 * 8 + 4 + term);
    }
}
// One that can be forgotten.
#define EMULATOR_MULTIPLY(number, operation, ...)                                                                      \
    if (!emulator_mistake('m', number))                                                                                \
    operation(__VA_ARGS__)

// And a wait for asynchronous copies.
#define EMULATOR_WAIT(number) (emulator_mistake('w', number) ? (void)0 : __pipeline_wait_prior(0))

namespace emulator {

// Calls a kernel with the parameters that a launch has the addresses of, which are the host's.
template <class... Parameters, std::size_t... I>
__attribute__((no_sanitize("thread"))) inline void call(void (*kernel)(Parameters...), void **values, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_const_t<Parameters> *>(values[I])...);
}
template <class... Parameters> inline void call(void (*kernel)(Parameters...), void **values) {
    call(kernel, values, std::index_sequence_for<Parameters...>{});
}

// The sizes of the parameters of a kernel, and how many it has.
template <class... Parameters> inline unsigned sizes(void (*)(Parameters...), std::size_t *found) {
    const std::size_t all[] = {sizeof(Parameters)..., 0};
    for (unsigned i = 0; i < sizeof...(Parameters); i++)
        found[i] = all[i];
    return sizeof...(Parameters);
}

// Barriers and comparisons that can be wrong: a EMULATOR_BELOW(n) b is a < b, or its mistake.
#define EMULATOR_BARRIER(number) (emulator_mistake('b', number) ? (void)0 : emulator_barrier())
#define EMULATOR_MEETING(number) (emulator_mistake('b', number) ? (void)0 : emulator_meeting())
#define EMULATOR_BELOW(number) < emulator::comparison<emulator::BELOW>{number} >
#define EMULATOR_UP_TO(number) < emulator::comparison<emulator::UP_TO>{number} >
#define EMULATOR_FROM(number) < emulator::comparison<emulator::FROM>{number} >
enum relation { BELOW, UP_TO, FROM };
template <relation is> struct comparison {
    int number;
};
template <class T, relation is> struct begun {
    T left;
    int number;
};
template <class T, relation is> inline begun<T, is> operator<(T left, comparison<is> how) {
    return {left, how.number};
}
template <class T, relation is, class U> inline bool operator>(begun<T, is> how, U right) {
    const bool wrong = emulator_mistake('s', how.number);
    if (is == BELOW)
        return wrong ? how.left <= right : how.left < right;
    if (is == UP_TO)
        return wrong ? how.left <= 1 + right : how.left <= right;
    return wrong ? how.left + 1 >= right : how.left >= right;
}

}  // namespace emulator

#endif
