/* What runs one loop of a file, times it and sums up its results.

   LOOP(name, small, large) { ... } calls a loop for a problem of size n; the sizes are those to time.
   bytes(count), doubles(count) and so on in it are arrays with the same values before each run.

   usage: program LOOP N SECONDS: prints the seconds of the fastest run, a number made of all arrays,
   and the seconds of a run on average. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct loop {
  const char *name;
  void (*run)(int n);
  struct loop *next;
};
struct loop *all_loops;

/* The function of the loop is called by a pointer that no compiler knows, as if it were in another file. */
#define LOOP(NAME, SMALL, LARGE)                                              \
  static void NAME##_run(int n, __typeof__(NAME) *NAME);                      \
  static void NAME##_apart(int n)                                             \
  {                                                                           \
    __typeof__(NAME) *volatile function = NAME;                               \
    NAME##_run(n, function);                                                  \
  }                                                                           \
  static struct loop NAME##_loop = {#NAME, NAME##_apart, 0};                  \
  __attribute__((constructor)) static void NAME##_known(void)                 \
  {                                                                           \
    NAME##_loop.next = all_loops;                                             \
    all_loops = &NAME##_loop;                                                 \
  }                                                                           \
  static void NAME##_run(int n, __typeof__(NAME) *NAME)

enum { MOST_ARRAYS = 32 };
struct array {
  void *now, *first;
  size_t size;
  int changed;
};
struct array arrays[MOST_ARRAYS];
int array_count, next_array;

/* The next array of this run; its second copy is what it has before each run. */
static struct array *array(size_t size, int *isnew)
{
  struct array *a = &arrays[next_array++];
  *isnew = next_array > array_count;
  if (*isnew) {
    if (next_array > MOST_ARRAYS)
      exit(3);
    array_count = next_array;
    a->size = (size + 191) / 64 * 64;
    a->now = aligned_alloc(64, a->size);
    a->first = aligned_alloc(64, a->size);
    if (!a->now || !a->first)
      exit(3);
    memset(a->now, 0, a->size);
  }
  return a;
}
static void *keep(struct array *a)
{
  memcpy(a->first, a->now, a->size);
  return a->now;
}

#define ARRAYS(NAME, TYPE, VALUE)                                             \
  __attribute__((unused)) static TYPE *NAME(size_t count)                     \
  {                                                                           \
    int isnew;                                                                \
    struct array *a = array(count * sizeof(TYPE), &isnew);                    \
    if (!isnew)                                                               \
      return a->now;                                                          \
    unsigned seed = next_array;                                               \
    TYPE *v = a->now;                                                         \
    for (size_t i = 0; i < count; i++) {                                      \
      seed = seed * 1664525u + 1013904223u;                                   \
      v[i] = VALUE;                                                           \
    }                                                                         \
    return keep(a);                                                           \
  }
ARRAYS(bytes, unsigned char, seed >> 24)
ARRAYS(letters, char, "acgt"[seed >> 30])
ARRAYS(shorts, short, (short)((seed >> 20) - 2048))
ARRAYS(ints, int, (int)(seed >> 22))
ARRAYS(floats, float, (seed >> 8) / 16777259.0f + 0.1f)
ARRAYS(doubles, double, (seed >> 8) / 16777259.0 + 0.1)

/* Numbers below limit. */
__attribute__((unused)) static int *numbers(size_t count, int limit)
{
  int isnew;
  struct array *a = array(count * sizeof(int), &isnew);
  if (!isnew)
    return a->now;
  unsigned long long seed = next_array;
  int *v = a->now;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    v[i] = (int)((seed >> 33) % (unsigned)limit);
  }
  return keep(a);
}

/* Where rows of each entries begin, as in compressed sparse formats. */
__attribute__((unused)) static int *starts(size_t rows, int each)
{
  int isnew;
  struct array *a = array((rows + 1) * sizeof(int), &isnew);
  if (!isnew)
    return a->now;
  int *v = a->now;
  for (size_t i = 0; i <= rows; i++)
    v[i] = (int)i * each;
  return keep(a);
}

/* Pointers to rows. */
#define ROWS(NAME, TYPE)                                                      \
  __attribute__((unused)) static TYPE **NAME(TYPE *values, size_t rows, size_t columns) \
  {                                                                           \
    static TYPE **found[MOST_ARRAYS];                                         \
    TYPE **v = found[next_array];                                             \
    if (v)                                                                    \
      return v;                                                               \
    v = found[next_array] = malloc(rows * sizeof *v);                         \
    for (size_t i = 0; i < rows; i++)                                         \
      v[i] = values + i * columns;                                            \
    return v;                                                                 \
  }
ROWS(rows_of_doubles, double)
ROWS(rows_of_floats, float)

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double timed(const struct loop *loop, int n)
{
  for (int i = 0; i < array_count; i++)
    if (arrays[i].changed)
      memcpy(arrays[i].now, arrays[i].first, arrays[i].size);
  next_array = 0;
  double start = now();
  loop->run(n);
  return now() - start;
}

int main(int argc, char **argv)
{
  if (argc != 4)
    return 2;
  const struct loop *loop = all_loops;
  while (loop && strcmp(loop->name, argv[1]))
    loop = loop->next;
  if (!loop)
    return 2;
  int n = atoi(argv[2]);
  double least = atof(argv[3]);
  timed(loop, n); /* which also makes the arrays */
  unsigned long long sum = 14695981039346656037ull;
  for (int i = 0; i < array_count; i++) {
    arrays[i].changed = memcmp(arrays[i].now, arrays[i].first, arrays[i].size) != 0;
    const unsigned long long *words = arrays[i].now;
    for (size_t k = 0; k < arrays[i].size / sizeof *words; k++)
      sum = (sum ^ words[k]) * 1099511628211ull;
  }
  double best = 1e30, spent = 0;
  int runs = 0;
  for (; runs < 3 || spent < least; runs++) {
    double seconds = timed(loop, n);
    spent += seconds;
    best = seconds < best ? seconds : best;
  }
  printf("%.9f %llu %.9f\n", best, sum, spent / runs);
  return 0;
}
