/* Texts and bytes. */
#include <ctype.h>
#include <stdint.h>
#include "loops.h"

void count_letter(const char *text, size_t n, char letter, int *count)
{
#pragma scop
  *count = 0;
  for (size_t i = 0; i < n; i++)
    if (text[i] == letter)
      (*count)++;
#pragma endscop
}
LOOP(count_letter, 4000, 10000000) { count_letter(letters(n), n, 'g', ints(1)); }

void upper_case(char *text, int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] = text[i] - 'a' + 'A';
#pragma endscop
}
LOOP(upper_case, 60000, 40000000) { upper_case((char *)bytes(n), n); }

/* How many places of a text differ from a word, for each place. */
void mismatches(const char *text, int n, const char *word, int m, int *count)
{
#pragma scop
  for (int i = 0; i <= n - m; i++) {
    count[i] = 0;
    for (int k = 0; k < m; k++)
      if (text[i + k] != word[k])
        count[i]++;
  }
#pragma endscop
}
LOOP(mismatches, 3000, 6000000) { mismatches(letters(n), n, letters(16), 16, ints(n)); }

void hamming(int words, int length, const uint8_t *a, const uint8_t *b, int *distance)
{
#pragma scop
  for (int i = 0; i < words; i++)
    for (int j = 0; j < words; j++) {
      int d = 0;
      for (int k = 0; k < length; k++)
        d += a[i * length + k] != b[j * length + k];
      distance[i * words + j] = d;
    }
#pragma endscop
}
LOOP(hamming, 24, 1500) { hamming(n, 32, bytes(32 * n), bytes(32 * n), ints(n * n)); }

void shift_letters(const unsigned char *in, unsigned char *out, long n, int by)
{
  long i;
#pragma scop
  for (i = 0; i < n; i++)
    out[i] = (in[i] + by) & 127;
#pragma endscop
}
LOOP(shift_letters, 60000, 40000000) { shift_letters(bytes(n), bytes(n), n, 13); }

void hexadecimal(const unsigned char *in, char *out, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int high = in[i] >> 4, low = in[i] & 15;
    out[2 * i] = high < 10 ? '0' + high : 'a' + high - 10;
    out[2 * i + 1] = low < 10 ? '0' + low : 'a' + low - 10;
  }
#pragma endscop
}
LOOP(hexadecimal, 30000, 20000000) { hexadecimal(bytes(n), letters(2 * (size_t)n), n); }

void checksum(const unsigned char *data, int n, unsigned *result)
{
  unsigned a = 1, b = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
#pragma endscop
  *result = b << 16 | a;
}
LOOP(checksum, 1000, 5000000) { checksum(bytes(n), n, (unsigned *)ints(1)); }

/* Blocks of a file, each with a sum of its own. */
void block_sums(int blocks, int size, const uint8_t *data, uint32_t *sums)
{
#pragma scop
  for (int b = 0; b < blocks; b++) {
    uint32_t h = 2166136261u;
    for (int i = 0; i < size; i++)
      h = (h ^ data[b * size + i]) * 16777619u;
    sums[b] = h;
  }
#pragma endscop
}
LOOP(block_sums, 20, 20000) { block_sums(n, 512, bytes(512 * (size_t)n), (uint32_t *)ints(n)); }

void reverse(const char *in, char *out, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[n - 1 - i] = in[i];
#pragma endscop
}
LOOP(reverse, 60000, 30000000) { reverse(letters(n), letters(n), n); }
