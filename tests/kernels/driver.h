/* The frame around a kernel: sizes in; times, checksums and raw arrays out.
 *
 * A kernel file defines `kernel`; its `run` makes the arrays, and calls the
 * computation between timer_start() and timer_stop(). All else is the driver's:
 * the command line, the data, the clock, the report, and the freeing.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>

enum { MAX_SIZES = 4 };

struct kernel {
    const char *name;
    const char *sizes;          /* what the sizes are, as in "m n k" */
    int large[MAX_SIZES];       /* those of the size named `large`; unused ones are 0 */
    void (*run)(const int *size);
};

extern const struct kernel kernel;

/* New arrays, filled from a hash of their ordinal and each element's index.
 * A count of 0 is legal and gives a pointer that must not be followed. Every
 * array counts for the checksum, whether the kernel writes it or not. */
void *new_doubles(const char *name, size_t count);        /* in [-1, 1) */
void *new_floats(const char *name, size_t count);         /* in [-1, 1) */
void *new_ints(const char *name, size_t count, int bound); /* in [0, bound) */

/* An n by n symmetric matrix whose diagonal exceeds the rest of its row:
 * positive definite, and well conditioned at every n. */
void *new_positive_definite(const char *name, int n);

void timer_start(void);
void timer_stop(void);

/* Whether to do it again on the same arrays: never by this driver, whose --repeat
 * makes new ones; that of benchmarks/gpu for arrays that stay on a device does. */
int timer_again(void);

#endif
