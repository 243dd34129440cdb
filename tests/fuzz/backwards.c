/* The part of gcc's OpenMP library that generated code calls, with the threads in order, the last one first.

   Each thread of a parallel loop runs its share before the next begins, so a loop that is
   not parallel gives wrong results every time and not once in a thousand runs. With
   FUZZ_THREADS the shares run in threads of their own, for the thread sanitizer. */

#ifdef FUZZ_THREADS
#include <pthread.h>
#endif

enum { THREADS = 3 };

static __thread int current;
static __thread int inside;

int omp_get_num_threads(void) { return inside ? THREADS : 1; }
int omp_get_thread_num(void) { return current; }
int omp_get_max_threads(void) { return THREADS; }
int omp_in_parallel(void) { return inside; }
int omp_get_active_level(void) { return inside; }
int omp_get_max_active_levels(void) { return 1; }
double omp_get_wtime(void) { return 1; }

struct share {
  void (*body)(void *);
  void *data;
  int number;
};

static void *run(void *argument) {
  struct share *share = argument;
  int outer = current, depth = inside;
  current = share->number;
  inside = 1;
  share->body(share->data);
  current = outer;
  inside = depth;
  return 0;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  struct share shares[THREADS];
  (void)threads;
  (void)flags;
#ifdef FUZZ_THREADS
  pthread_t handles[THREADS];
#endif
  for (int number = THREADS - 1; number >= 0; number--) {
    shares[number] = (struct share){body, data, number};
#ifdef FUZZ_THREADS
    pthread_create(&handles[number], 0, run, &shares[number]);
#else
    run(&shares[number]);
#endif
  }
#ifdef FUZZ_THREADS
  for (int number = 0; number < THREADS; number++) pthread_join(handles[number], 0);
#endif
}

/* What reductions of our own combine in: it makes no difference to minima and maxima that a thread starts from
   what the ones before it found. */
#ifdef FUZZ_THREADS
static pthread_mutex_t combining = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void prepare(void) { pthread_barrier_init(&meeting, 0, THREADS); }
void GOMP_barrier(void) {
  pthread_once(&once, prepare);
  pthread_barrier_wait(&meeting);
}
void GOMP_atomic_start(void) { pthread_mutex_lock(&combining); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&combining); }
#else
void GOMP_barrier(void) {}
void GOMP_atomic_start(void) {}
void GOMP_atomic_end(void) {}
#endif

/* Loops that threads take parts of as they come: each thread gets one part, as large as the others'. */
_Bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first, long *last) {
  long count = (end - start + step + (step > 0 ? -1 : 1)) / step, share = (count + THREADS - 1) / THREADS;
  long from = current * share, to = from + share < count ? from + share : count;
  (void)chunk;
  *first = start + from * step;
  *last = start + to * step;
  return from < to;
}

_Bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last) {
  (void)first;
  (void)last;
  return 0;
}

void GOMP_loop_end_nowait(void) {}
