/* What counting runs and timing versions share: whether the environment asks for them, and a clock.

   polybuild puts this text at the end of a transformed file, before that of polybuild_report.h and
   polybuild_adapt.h. C99. */
#ifndef POLYBUILD_WATCH_H
#define POLYBUILD_WATCH_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
extern double omp_get_wtime(void);
#endif

static int polybuild_asked(const char *variable)
{
  const char *value = getenv(variable);
  return value && *value && strcmp(value, "0") != 0;
}

/* Nanoseconds since some time. */
static unsigned long long polybuild_clock(void)
{
#if defined CLOCK_MONOTONIC
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long long)now.tv_sec * 1000000000U + (unsigned long long)now.tv_nsec;
#elif defined _OPENMP
  return (unsigned long long)(omp_get_wtime() * 1e9);
#elif defined TIME_UTC
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (unsigned long long)now.tv_sec * 1000000000U + (unsigned long long)now.tv_nsec;
#else
  return (unsigned long long)((double)clock() * (1e9 / CLOCKS_PER_SEC));
#endif
}

#endif
