#include "picture.h"

#include <stdio.h>

/* Black, red, yellow, white: the colours of hot iron. */
static void colour(double value, unsigned char rgb[3])
{
  for (int c = 0; c < 3; c++) {
    double shade = 3.0 * value - c;
    rgb[c] = (unsigned char)(shade <= 0.0 ? 0.0 : shade >= 1.0 ? 255.0 : 255.0 * shade);
  }
}

int write_picture(const char *name, int n, double u[n][n])
{
  int size = n < 512 ? n : 512;
  FILE *file = fopen(name, "wb");

  if (!file)
    return 0;
  fprintf(file, "P6\n%d %d\n255\n", size, size);
  for (int y = 0; y < size; y++) {
    for (int x = 0; x < size; x++) {
      unsigned char rgb[3];
      colour(u[(long)y * n / size][(long)x * n / size], rgb);
      fwrite(rgb, 1, sizeof rgb, file);
    }
  }
  return fclose(file) == 0;
}
