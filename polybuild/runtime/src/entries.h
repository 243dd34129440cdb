/* The functions that programs and generated code call, in one list. */
#ifndef POLYBUILD_ENTRIES_H
#define POLYBUILD_ENTRIES_H

#include "internal.h"

/* VALUE(result, name, parameters, arguments) for those that give something, NOTHING(name, parameters,
 * arguments) for the others: polybuild_<name> is for callers, pb_<name> does it. */
#define PB_ENTRIES(VALUE, NOTHING)                                                                                     \
    VALUE(polybuild_session *, open,                                                                                   \
          (polybuild_region * region, const polybuild_work *work, const polybuild_use *uses, int count),               \
          (region, work, uses, count))                                                                                 \
    VALUE(polybuild_buffer *, map,                                                                                     \
          (polybuild_session * session, const void *base, const polybuild_box *box, size_t unit, int mode),            \
          (session, base, box, unit, mode))                                                                            \
    VALUE(long, first, (const polybuild_buffer *buffer), (buffer))                                                     \
    NOTHING(launch,                                                                                                    \
            (polybuild_session * session, int kernel, const long grid[3], const long block[3],                         \
             const polybuild_argument *arguments, int count),                                                          \
            (session, kernel, grid, block, arguments, count))                                                          \
    VALUE(int, launch_together,                                                                                        \
          (polybuild_session * session, int kernel, const long block[3], const polybuild_argument *arguments,          \
           int count),                                                                                                 \
          (session, kernel, block, arguments, count))                                                                  \
    VALUE(int, close, (polybuild_session * session), (session))                                                        \
    VALUE(int, home, (const polybuild_use *uses, int count), (uses, count))                                            \
    VALUE(int, recall,                                                                                                 \
          (polybuild_region * region, int number, const polybuild_use *uses, int use_count, long long *values,         \
           int keys, int count),                                                                                       \
          (region, number, uses, use_count, values, keys, count))                                                      \
    NOTHING(remember,                                                                                                  \
            (polybuild_region * region, int number, const polybuild_use *uses, int use_count,                          \
             const long long *values, int keys, int count),                                                            \
            (region, number, uses, use_count, values, keys, count))                                                    \
    VALUE(int, host_begin, (polybuild_region * region, int home), (region, home))                                      \
    NOTHING(host_end, (polybuild_region * region), (region))                                                           \
    VALUE(int, wanted, (void), ())                                                                                     \
    NOTHING(place, (int position), (position))                                                                         \
    NOTHING(fetch, (const void *low, size_t width, size_t rows, size_t pitch), (low, width, rows, pitch))              \
    NOTHING(put, (const void *low, size_t width, size_t rows, size_t pitch), (low, width, rows, pitch))                \
    VALUE(int, adopt, (void *stand_in, size_t bytes, const polybuild_foreign *memory),                                 \
          (stand_in, bytes, memory))                                                                                   \
    VALUE(int, disown, (void *stand_in), (stand_in))                                                                   \
    VALUE(int, counters, (const char *file, int line, polybuild_counts *counts), (file, line, counts))                 \
    NOTHING(resident, (const void *array, size_t bytes), (array, bytes))                                               \
    NOTHING(release, (const void *array), (array))                                                                     \
    NOTHING(update_host, (const void *array), (array))                                                                 \
    NOTHING(update_device, (const void *array), (array))

#define PB_VALUE(result, name, parameters, arguments) PB_PRIVATE result pb_##name parameters;
#define PB_NOTHING(name, parameters, arguments) PB_PRIVATE void pb_##name parameters;
PB_ENTRIES(PB_VALUE, PB_NOTHING)
#undef PB_VALUE
#undef PB_NOTHING

#endif
