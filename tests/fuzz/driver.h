#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H
/* What a generated kernel needs from the program around it. */

enum { FUZZ_INTEGER, FUZZ_FLOAT, FUZZ_DOUBLE };

struct fuzz_kernel {
  const char *name;
  void (*run)(const long *sizes, int overlap);
  int sizes, runs, overlaps;
  const long *run_sizes;
};

extern const struct fuzz_kernel fuzz_kernels[];
extern const int fuzz_kernel_count;

unsigned long fuzz_random(void);
double fuzz_random_real(void);
void *fuzz_new(unsigned long bytes); /* lives until the run ends */
void fuzz_fill(void *data, unsigned long bytes, int kind);
void fuzz_hash(const void *data, unsigned long bytes, int kind);
void fuzz_mix(unsigned long value);
void fuzz_mix_real(double value);
void fuzz_original(void); /* called where a transformed region runs its original loops */
#endif
