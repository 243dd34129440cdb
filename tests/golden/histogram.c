#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
#line 1 "histogram.c"
#include <stdio.h>

/* What depends on data stays in order; the loop after it does not. */
static void histogram(int n, int *restrict counts, const unsigned char *restrict bytes, double *restrict out)
{
{ /* polybuild: lines 6 to 12, the new order */
#line 6
  const long long pb_n = n;
#line 6
  if ((double)pb_n + 256.0 >= 1000 /* line 6: less work is not worth it */) {
    for (long long k = 0; k < pb_n; k++) {
      if (bytes[k] != 32)
        counts[bytes[k]]++;
#line 7
    }
#line 10
    for (long long k = 0; k <= 255; k++)
      out[k] = ((double) counts[k]) / n;
#line 6
  } else { /* the original loops */
#line 7 "histogram.c"
  for (int k = 0; k < n; k++)
    if (bytes[k] != 32)
      counts[bytes[k]]++;
  for (int k = 0; k < 256; k++)
    out[k] = (double)counts[k] / n;
  } }
#line 13 "histogram.c"
}

int main(void)
{
  static int counts[256];
  static unsigned char bytes[5000];
  static double out[256];
  double sum = 0;
  for (int k = 0; k < 5000; k++)
    bytes[k] = (unsigned char)(k * k % 251);
  histogram(5000, counts, bytes, out);
  for (int k = 0; k < 256; k++)
    sum += k * out[k];
  printf("%.17g\n", sum);
  return 0;
}
