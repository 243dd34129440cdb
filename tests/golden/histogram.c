#include <stdio.h>

/* What depends on data stays in order; the loop after it does not. */
static void histogram(int n, int *restrict counts, const unsigned char *restrict bytes, double *restrict out)
{
#pragma scop
  for (int k = 0; k < n; k++)
    if (bytes[k] != 32)
      counts[bytes[k]]++;
  for (int k = 0; k < 256; k++)
    out[k] = (double)counts[k] / n;
#pragma endscop
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
