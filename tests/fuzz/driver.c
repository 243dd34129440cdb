/* Runs the kernels of a batch and prints one line with a hash of all data for each run.

   usage: program [kernel number] */

#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long state, hash;
static long originals, runs;

void fuzz_original(void) { originals++; }

unsigned long fuzz_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dul;
}

double fuzz_random_real(void) { return (double)(fuzz_random() >> 60) * 0.125 - 0.75; }

void fuzz_mix(unsigned long value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ul;
  hash ^= hash >> 29;
}

void fuzz_mix_real(double value) {
  unsigned long bits;
  if (value != value) {
    bits = 1; /* which NaN it is depends on the compiler */
  } else {
    memcpy(&bits, &value, sizeof bits);
  }
  fuzz_mix(bits);
}

void fuzz_fill(void *data, unsigned long bytes, int kind) {
  if (kind == FUZZ_DOUBLE) {
    for (unsigned long i = 0; i < bytes / sizeof(double); i++) ((double *)data)[i] = fuzz_random_real();
  } else if (kind == FUZZ_FLOAT) {
    for (unsigned long i = 0; i < bytes / sizeof(float); i++) ((float *)data)[i] = (float)fuzz_random_real();
  } else {
    for (unsigned long i = 0; i < bytes; i++) ((unsigned char *)data)[i] = (unsigned char)(fuzz_random() >> 40);
  }
}

void fuzz_hash(const void *data, unsigned long bytes, int kind) {
  if (kind == FUZZ_DOUBLE) {
    for (unsigned long i = 0; i < bytes / sizeof(double); i++) fuzz_mix_real(((const double *)data)[i]);
  } else if (kind == FUZZ_FLOAT) {
    for (unsigned long i = 0; i < bytes / sizeof(float); i++) fuzz_mix_real(((const float *)data)[i]);
  } else {
    for (unsigned long i = 0; i < bytes; i++) fuzz_mix(((const unsigned char *)data)[i]);
  }
}

/* Memory with a guard on both sides, which counts as data; the sanitizer has its own. */
#ifdef __SANITIZE_ADDRESS__
enum { GUARD = 0 };
#else
enum { GUARD = 256 };
#endif
static unsigned char *blocks[64];
static unsigned long lengths[64];
static int count;

void *fuzz_new(unsigned long bytes) {
  unsigned char *block = malloc(bytes + 2 * GUARD);
  memset(block, 77, bytes + 2 * GUARD);
  blocks[count] = block;
  lengths[count++] = bytes;
  return block + GUARD;
}

static void end(void) {
  for (int i = 0; i < count; i++) {
    fuzz_hash(blocks[i], GUARD, FUZZ_INTEGER);
    fuzz_hash(blocks[i] + GUARD + lengths[i], GUARD, FUZZ_INTEGER);
    for (int missing = 0; missing < 2 * (256 - GUARD); missing++) fuzz_mix(77); /* as if it were there */
    free(blocks[i]);
  }
  count = 0;
}

int main(int argc, char **argv) {
  for (int k = 0; k < fuzz_kernel_count; k++) {
    const struct fuzz_kernel *kernel = &fuzz_kernels[k];
    if (argc > 1 && strcmp(argv[1], kernel->name) != 0) continue;
    for (int run = 0; run < kernel->runs; run++)
      for (int overlap = 0; overlap < kernel->overlaps; overlap++) {
        state = 88172645463325252ul + (unsigned long)run;
        hash = 1;
        kernel->run(kernel->run_sizes + run * kernel->sizes, overlap);
        end();
        runs++;
        printf("%s %d %d %016lx\n", kernel->name, run, overlap, hash);
        fflush(stdout);
      }
  }
  fprintf(stderr, "runs %ld originals %ld\n", runs, originals);
  return 0;
}
