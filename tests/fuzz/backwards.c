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
