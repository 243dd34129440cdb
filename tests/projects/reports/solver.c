/* Five regions that end in different ways, called so that each can be told from the others. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400 };
void smooth(int n, const double *u, double *v);

void scale(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * a[i];
#pragma endscop
}

void shift(int n, double *c, const double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i * n + j] = 0.5 * a[i * n + j];
#pragma endscop
}

void tiny(int n, double *restrict c, const double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i * n + j] += a[j * n + i];
#pragma endscop
}

void *task(void *data) {
  double *a = data;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i * N + j] += 1.0;
#pragma endscop
  return NULL;
}

double norm(int n, const double *a) {
  double sum = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    sum += a[i] * a[i];
#pragma endscop
  return sum;
}

int main(void) {
  double *a = calloc(3 * N * N, sizeof *a);
  pthread_t pool[2];
  if (!a)
    return 1;
  for (int step = 0; step < 3; step++) {
    scale(3 * N * N, a);
    shift(N, a + N * N, a);
    shift(N, a + 1, a);
    tiny(8, a + N * N, a);
  }
  for (int worker = 0; worker < 2; worker++)
    if (pthread_create(&pool[worker], NULL, task, a + worker * N * N))
      return 1;
  for (int worker = 0; worker < 2; worker++)
    pthread_join(pool[worker], NULL);
  smooth(N, a, a + N * N);
  printf("%.17g\n", norm(3 * N * N, a));
  free(a);
  return 0;
}
