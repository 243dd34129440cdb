/* Verification at run time: what a transformed region writes is compared with what its
   original text writes from the same data.

   polybuild puts this text at the end of a file transformed with --verify on, so that it
   needs no library and no include path. ISO C, nothing but the standard library.

   The environment: POLYBUILD_VERIFY=1 turns it on; POLYBUILD_VERIFY_TOLERANCE is the
   largest relative difference of floating-point values that counts as none (default 0: the
   same bits; more where the region may change the order of sums); POLYBUILD_VERIFY_EXIT is the code to end the program with at a difference
   (default 0: it goes on, with the values of the original).

   A region calls, in this order: begin; element for all it writes (their values are kept);
   the new code, on whatever device; element again (the results are kept, the old values put
   back); the original text; element again (compared with the results); end. Between these
   walks through the elements stands a call of next. Variables come first, as addresses of
   elements may be reckoned from them; their final values are put back by end. */
#ifndef POLYBUILD_VERIFY_H
#define POLYBUILD_VERIFY_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLYBUILD_VERIFY_INDICES = 16, POLYBUILD_VERIFY_LARGEST = 64 };

struct polybuild_verify_bytes {
  unsigned char *data;
  size_t used, size;
};

struct polybuild_verify_value {
  char bytes[POLYBUILD_VERIFY_LARGEST];
};

struct polybuild_verify {
  const char *file;
  int line, phase, failed;
  double tolerance;
  struct polybuild_verify_bytes before, after, final;
  size_t at;                     /* how far the walk is in before and after */
  unsigned long long compared, different;
  const char *name;              /* the first element that differs */
  int object, kind, indices;
  long long index[POLYBUILD_VERIFY_INDICES];
  struct polybuild_verify_value got, wanted;
};

static void *polybuild_verify_begin(const char *file, int line, double usual)
{
  const char *asked = getenv("POLYBUILD_VERIFY"), *tolerance = getenv("POLYBUILD_VERIFY_TOLERANCE");
  struct polybuild_verify *v;
  if (!asked || !*asked || !strcmp(asked, "0"))
    return 0;
  v = (struct polybuild_verify *)calloc(1, sizeof *v);
  if (!v) {
    fprintf(stderr, "polybuild: %s:%d: not verified: no memory\n", file, line);
    return 0;
  }
  v->file = file;
  v->line = line;
  v->tolerance = tolerance ? strtod(tolerance, 0) : usual;
  return v;
}

/* Room for `size` more bytes; 0 if there is none. */
static unsigned char *polybuild_verify_room(struct polybuild_verify_bytes *bytes, size_t size)
{
  if (bytes->size - bytes->used < size) {
    size_t larger = 2 * (bytes->size + size) + 4096;
    unsigned char *data = (unsigned char *)realloc(bytes->data, larger);
    if (!data)
      return 0;
    bytes->data = data;
    bytes->size = larger;
  }
  bytes->used += size;
  return bytes->data + bytes->used - size;
}

/* The relative difference of two values; that of a number and none is larger than any. */
static long double polybuild_verify_distance(long double a, long double b)
{
  long double difference = a > b ? a - b : b - a, largest = a < 0 ? -a : a, relative;
  if (a == b || (a != a && b != b))
    return 0;
  if ((b < 0 ? -b : b) > largest)
    largest = b < 0 ? -b : b;
  relative = difference / largest;
  return relative >= 0 && relative <= 2 ? relative : 3e38L;
}

/* Part `part` of a floating value of `kind`: its real or its imaginary part. */
static long double polybuild_verify_part(int kind, const void *value, size_t part)
{
  float single;
  double real;
  long double wide;
  if (kind == 'f' || kind == 'F')
    return memcpy(&single, (const char *)value + part * sizeof single, sizeof single), single;
  if (kind == 'd' || kind == 'D')
    return memcpy(&real, (const char *)value + part * sizeof real, sizeof real), real;
  return memcpy(&wide, (const char *)value + part * sizeof wide, sizeof wide), wide;
}

/* Whether two values differ: f, d and L are floating, F, D and C complex; others differ by a bit. */
static int polybuild_verify_differ(int kind, const void *a, const void *b, size_t size, double tolerance)
{
  int is_complex = kind == 'F' || kind == 'D' || kind == 'C', part;
  if (!memcmp(a, b, size))
    return 0;
  if (!is_complex && kind != 'f' && kind != 'd' && kind != 'L')
    return 1;
  for (part = 0; part <= is_complex; part++)
    if (polybuild_verify_distance(polybuild_verify_part(kind, a, (size_t)part),
                                  polybuild_verify_part(kind, b, (size_t)part)) > tolerance)
      return 1;
  return 0;
}

static void polybuild_verify_compare(struct polybuild_verify *v, int object, int kind, const char *name,
                                     const void *wanted, size_t size, int indices, va_list index)
{
  const unsigned char *got = v->after.data + v->at;
  int position;
  v->compared++;
  if (!polybuild_verify_differ(kind, got, wanted, size, v->tolerance) || v->different++)
    return;
  v->name = name;
  v->object = object;
  v->kind = kind;
  v->indices = indices < POLYBUILD_VERIFY_INDICES ? indices : POLYBUILD_VERIFY_INDICES;
  for (position = 0; position < v->indices; position++)
    v->index[position] = va_arg(index, long long);
  size = size < POLYBUILD_VERIFY_LARGEST ? size : POLYBUILD_VERIFY_LARGEST;
  memcpy(v->got.bytes, got, size);
  memcpy(v->wanted.bytes, wanted, size);
}

static void polybuild_verify_element(void *check, int object, int kind, const char *name, volatile void *address,
                                     unsigned long size, int indices, ...)
{
  struct polybuild_verify *v = (struct polybuild_verify *)check;
  void *place;
  unsigned char *room;
  memcpy(&place, &address, sizeof place);
  if (v->failed)
    return;
  if (v->phase < 2) {
    room = polybuild_verify_room(v->phase ? &v->after : &v->before, size);
    if (!room) { /* what is not kept cannot be put back: only the first walk may run out of memory */
      if (v->phase) {
        fprintf(stderr, "polybuild: %s:%d: out of memory while verifying\n", v->file, v->line);
        abort();
      }
      v->failed = 1;
      return;
    }
    memcpy(room, place, size);
    if (v->phase)
      memcpy(place, v->before.data + v->at, size);
  } else {
    va_list index;
    va_start(index, indices);
    if (kind != '-') /* nothing reads what a variable of this kind holds after the region */
      polybuild_verify_compare(v, object, kind, name, place, size, indices, index);
    va_end(index);
    if (!indices) { /* a variable, from which the address of an element may be reckoned */
      room = polybuild_verify_room(&v->final, size + sizeof place + sizeof size);
      if (!room)
        abort();
      memcpy(room, &place, sizeof place);
      memcpy(room + sizeof place, &size, sizeof size);
      memcpy(room + sizeof place + sizeof size, place, size);
      memcpy(place, v->before.data + v->at, size);
    }
  }
  v->at += size;
}

/* Goes on to the next walk; 0 if the region cannot be verified, as there is no memory. */
static int polybuild_verify_next(void *check)
{
  struct polybuild_verify *v = (struct polybuild_verify *)check;
  v->at = 0;
  if (!v->phase && !v->failed) /* the second walk must not run out of memory */
    v->failed = !(v->after.data = (unsigned char *)malloc(v->after.size = v->before.used + 1));
  if (v->failed)
    fprintf(stderr, "polybuild: %s:%d: not verified: no memory for copies\n", v->file, v->line);
  v->phase++;
  return !v->failed;
}

/* Puts variables back; whether an element differs. */
static int polybuild_verify_differs(void *check)
{
  struct polybuild_verify *v = (struct polybuild_verify *)check;
  size_t at = 0;
  while (at < v->final.used) {
    void *place;
    unsigned long size;
    memcpy(&place, v->final.data + at, sizeof place);
    memcpy(&size, v->final.data + at + sizeof place, sizeof size);
    memcpy(place, v->final.data + at + sizeof place + sizeof size, size);
    at += sizeof place + sizeof size + size;
  }
  return v->different != 0;
}

/* Of the first element that differs: which object it is of, and its subscripts. */
static int polybuild_verify_object(void *check)
{
  return ((struct polybuild_verify *)check)->object;
}

static long long polybuild_verify_index(void *check, int position)
{
  return ((struct polybuild_verify *)check)->index[position];
}

static void polybuild_verify_print(int kind, const struct polybuild_verify_value *value)
{
  const void *bytes = value->bytes;
  long double wide[2];
  double real[2];
  float single[2];
  long long whole;
  unsigned long long natural;
  int number;
  short half;
  unsigned short natural_half;
  switch (kind) {
  case 'f': case 'F':
    memcpy(single, bytes, sizeof single);
    fprintf(stderr, kind == 'f' ? "%.9g" : "%.9g + %.9gi", (double)single[0], (double)single[1]);
    break;
  case 'd': case 'D':
    memcpy(real, bytes, sizeof real);
    fprintf(stderr, kind == 'd' ? "%.17g" : "%.17g + %.17gi", real[0], real[1]);
    break;
  case 'L': case 'C':
    memcpy(wide, bytes, sizeof wide);
    fprintf(stderr, kind == 'L' ? "%.21Lg" : "%.21Lg + %.21Lgi", wide[0], wide[1]);
    break;
  case '1': fprintf(stderr, "%d", (int)*(const signed char *)bytes); break;
  case 'b': fprintf(stderr, "%d", (int)*(const unsigned char *)bytes); break;
  case '2': memcpy(&half, bytes, sizeof half); fprintf(stderr, "%d", (int)half); break;
  case 'w': memcpy(&natural_half, bytes, sizeof natural_half); fprintf(stderr, "%d", (int)natural_half); break;
  case '4': memcpy(&number, bytes, sizeof number); fprintf(stderr, "%d", number); break;
  case 'u': memcpy(&number, bytes, sizeof number); fprintf(stderr, "%u", (unsigned)number); break;
  case '8': memcpy(&whole, bytes, sizeof whole); fprintf(stderr, "%lld", whole); break;
  case 'q': memcpy(&natural, bytes, sizeof natural); fprintf(stderr, "%llu", natural); break;
  default:
    for (number = 0; number < 8; number++)
      fprintf(stderr, "%02x", value->bytes[number] & 0xff);
  }
}

/* Tells of the first element that differs, which line `line` of the file wrote. */
static void polybuild_verify_report(void *check, int line)
{
  struct polybuild_verify *v = (struct polybuild_verify *)check;
  const char *asked = getenv("POLYBUILD_VERIFY_EXIT");
  const char *rest = v->name, *gap;
  int position, code = asked ? atoi(asked) : 0;
  fprintf(stderr, "%s:%d: polybuild: verification failed: ", v->file, line);
  for (position = 0; (gap = strstr(rest, "[]")) != 0; position++, rest = gap + 2)
    fprintf(stderr, "%.*s[%lld]", (int)(gap - rest), rest, polybuild_verify_index(check, position));
  fprintf(stderr, "%s", rest);
  for (; position < v->indices; position++)
    fprintf(stderr, "[%lld]", polybuild_verify_index(check, position));
  fprintf(stderr, " is ");
  polybuild_verify_print(v->kind, &v->got);
  fprintf(stderr, ", the original loops give ");
  polybuild_verify_print(v->kind, &v->wanted);
  fprintf(stderr, " (%llu of %llu elements differ in the region at line %d)\n", v->different, v->compared,
          v->line);
  if (code)
    exit(code);
}

static void polybuild_verify_end(void *check)
{
  struct polybuild_verify *v = (struct polybuild_verify *)check;
  const char *verbose = getenv("POLYBUILD_VERBOSE");
  (void)polybuild_verify_object; /* not every region asks which array it was */
  if (!v->failed && !v->different && verbose && *verbose && strcmp(verbose, "0"))
    fprintf(stderr, "%s:%d: polybuild: verified, %llu elements agree\n", v->file, v->line, v->compared);
  free(v->before.data);
  free(v->after.data);
  free(v->final.data);
  free(v);
}

#endif
