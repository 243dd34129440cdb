"""As many threads as get processors: the number of threads that generated code asks for.

Threads wait for each other at the end of a parallel loop, and spin meanwhile. Where other work runs on the
machine, one of them often has no processor for some milliseconds, and short loops take a hundred times as
long as on one thread. A process whose threads lose their processors often, as the system counts, asks for
half as many for a while, then for twice as many again. On an idle machine nobody takes processors away.
"""

from __future__ import annotations

TEAM = "polybuild_team"

DEFINITION = """\
#if defined _OPENMP && !defined POLYBUILD_TEAM
#define POLYBUILD_TEAM
extern int omp_get_max_threads(void), omp_in_parallel(void);
#if defined __linux__ && defined __LP64__ && defined __GNUC__
extern double omp_get_wtime(void);
extern int polybuild_usage(int who, long *usage) __asm__("getrusage");
static double polybuild_looked, polybuild_until;
static long polybuild_preempted;
static int polybuild_limit;
#pragma omp threadprivate(polybuild_looked, polybuild_until, polybuild_preempted, polybuild_limit)
/* how many threads to start: fewer for a while where others take the processors away from them */
POLYBUILD_HELPER int polybuild_team(void)
{
  int all = omp_get_max_threads();
  double now, passed;
  long usage[36] = {0}, preempted; /* a struct rusage: the last of 18 counts involuntary switches */
  if (all < 2 || omp_in_parallel())
    return all;
  now = omp_get_wtime();
  passed = now - polybuild_looked;
  if (polybuild_limit < 1 || polybuild_limit > all)
    polybuild_limit = all;
  if (passed < 0.01 || now < polybuild_until || polybuild_usage(0, usage) != 0)
    return polybuild_limit;
  preempted = usage[17] - polybuild_preempted;
  if (polybuild_looked > 0 && preempted > 1 && (double)preempted > 50 * passed) {
    polybuild_limit -= polybuild_limit / 2;
    polybuild_until = now + 20 * (passed < 0.05 ? passed : 0.05);
  } else {
    polybuild_limit = polybuild_limit < all / 2 ? 2 * polybuild_limit : all;
  }
  polybuild_looked = now;
  polybuild_preempted = usage[17];
  return polybuild_limit;
}
#else
#define polybuild_team() omp_get_max_threads()
#endif
#endif
"""
