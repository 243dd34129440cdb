#ifndef FACTOR
#ifdef MADE
#include MADE
#else
#define FACTOR 2
#endif
#endif

#ifdef __cplusplus
extern "C"
#else
void fill(int n, long a[n][n]);
#endif
long more(long x);
