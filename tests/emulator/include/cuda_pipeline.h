// Asynchronous copies to shared memory: they happen when their thread waits for them, as late as they may. Until then
// what their places hold is no value: it is written when a copy is sent, and once more when it happens.
#ifndef CUDA_PIPELINE_H
#define CUDA_PIPELINE_H

namespace emulator {

struct sent_copy {
    void *place;
    const void *source;
    std::size_t bytes, zeros;
};
struct sent_copies {
    sent_copy copies[256];
    unsigned count, committed;
};
inline sent_copies sent[1024]; // of each thread of a block

__attribute__((no_sanitize("thread"))) inline sent_copies &own_copies() {
    const uint3 where = threadIdx;
    return sent[where.x + blockDim.x * (where.y + blockDim.y * where.z)];
}
template <class T> __attribute__((noinline)) void copy_part(void *place, const void *source, bool is_zero) {
    *static_cast<T *>(place) = is_zero ? T{} : *static_cast<const T *>(source);
}
template <class T> __attribute__((noinline)) void spoil_part(void *place) { *static_cast<volatile T *>(place) = T(-1); }
__attribute__((no_sanitize("thread"))) inline void copy_now(const sent_copy &copy) {
    if (copy.bytes == 16 && !copy.zeros)
        copy_part<int4>(copy.place, copy.source, false);
    else if (copy.bytes == 8 && !copy.zeros)
        copy_part<long>(copy.place, copy.source, false);
    else
        for (std::size_t at = 0; at < copy.bytes; at += 4)
            copy_part<int>(static_cast<char *>(copy.place) + at, static_cast<const char *>(copy.source) + at,
                           at >= copy.bytes - copy.zeros);
}

}  // namespace emulator

__attribute__((no_sanitize("thread"))) inline void __pipeline_memcpy_async(void *place, const void *source,
                                                                           std::size_t bytes, std::size_t zeros = 0) {
    emulator::sent_copies &own = emulator::own_copies();
    if ((bytes != 4 && bytes != 8 && bytes != 16) || own.count == 256 || zeros > bytes)
        __builtin_trap();
    own.copies[own.count++] = {place, source, bytes, zeros};
    if (bytes == 4)
        emulator::spoil_part<int>(place);
    for (std::size_t at = 0; bytes != 4 && at < bytes; at += 8)
        emulator::spoil_part<long>(static_cast<char *>(place) + at);
}
__attribute__((no_sanitize("thread"))) inline void __pipeline_commit() {
    emulator::sent_copies &own = emulator::own_copies();
    own.committed = own.count;
}
__attribute__((no_sanitize("thread"))) inline void __pipeline_wait_prior(unsigned) {
    emulator::sent_copies &own = emulator::own_copies();
    for (unsigned each = 0; each < own.committed; each++)
        emulator::copy_now(own.copies[each]);
    own.count = own.committed = 0;
}

#endif
