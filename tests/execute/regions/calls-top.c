// Functions that the cases of calls.c call.
#include <assert.h>
#define W 40
static double table[W];
static int counter;
static int position;
typedef struct { double re, im; } number;

static int at(int i, int j) { return i * W + j; }
static double *place(double *p, int width, int i, int j) { return &p[i * width + j]; }
static const double *row_of(int width, const double p[width][width], int i) { return p[i]; }
static double *behind(double *p, int k) { return p + k; }
static inline double square(double v) { return v * v; }
static inline float narrow(float v) { return v * 1.1f; }
static unsigned char wrap(unsigned v) { return v + 200; }
static inline double twice(double v) { return square(v) + square(v + 1); }
static double element(const double *p, int k) { return p[k] + table[k % W]; }
static double clamp(double v, double low, double high)
{
  if (v < low) return low;
  if (v > high) return high;
  return v;
}
static double dot(const double *p, const double *q, int count)
{
  double sum = 0;
  for (int k = 0; k < count; k++) sum += p[k] * q[k];
  return sum;
}
static void scale(double *p, int count, double by) { for (int k = 0; k < count; k++) p[k] *= by; }
static void scale_some(double *p, int count)
{
  for (int k = 0; k < count; k++) { if (p[k] < -9) return; p[k] += 1; }
}
static void axpy(int count, double by, const double *p, double *q)
{
  for (int k = 0; k < count; k++) q[k] += by * p[k];
}
static void set_first(double *p) { *p = 7; }
static void swap(double *p, double *q) { double t = *p; *p = *q; *q = t; }
static void mean(const double *p, int count, double *result)
{
  double sum = 0;
  for (int k = 0; k < count; k++) sum += p[k];
  *result = sum / count;
}
static void rows(int count, double A[][count], int i) { for (int k = 0; k < count; k++) A[i][k] = i + k; }
static double chain(const double *p, int count) { return dot(p, p, count) + twice(p[0]); }
static void matrix(int count, double A[count][count])
{
  for (int i = 0; i < count; i++) for (int j = 0; j < count; j++) A[i][j] += 1;
}
static double from_table(int k) { return table[k % W]; }
static void to_table(int k, double v) { table[k % W] = v; }
static int counted_sum(double v, double w, double *s, double *d) { *s = v + w; *d = v - w; return v < w ? 1 : 2; }
__attribute__((const)) static double mantissa(double v) { int e; return frexp(v, &e); }
__attribute__((const)) static int exponent(double v) { int e; frexp(v, &e); return e; }
static double of_kind(int kind, double v)
{
  switch (kind) { case 0: return v; case 1: return v * v; case 2: case 3: return -v; default: return kind; }
}
static double of_kind_others_first(int kind, double v)
{
  switch (kind) { default: return kind; case 1: { return v * v; } case 2: return -v; case 3: ; case 4: return 1 / (v + 1); }
  return 7;
}
static double of_kind_with_others(int kind, double v)
{
  switch (kind) { case -1: return 3; case 1: default: return v + kind; case 2: return exp(-v); }
}
static double of_kind_that_falls(int kind, double v)
{
  switch (kind) { case 0: v += 1; case 1: return v; default: return 2 * v; }
}
static double of_kind_that_ends_last(int kind, double v)
{
  switch (kind) { case 0: return v + 1; default: return 2 * v; case 1: ; case 2: break; }
  return v * 5;
}
static double of_kind_that_ends(int kind, double v)
{
  switch (kind) { case 0: return v + 1; case 1: break; default: return 2 * v; }
  return v * 5;
}
static void set_number(number *v, double w) { v->re = w * 2; v->im = w * w; }
extern void sincos(double, double *, double *);
static int next_number(void) { return ++counter; }
static int remembers(int v) { static int last; last += v; return last; }
static int where(void) { int there = position; return there; }
static int here(void) { return position; }
static double moves(double v) { position += 1; return v; }
static int factorial(int v) { return v < 2 ? 1 : v * factorial(v - 1); }
static int chatter(int v) { return printf("%d", v) * 0 + v; }
static double walk_through(const double *p, int count) { double s = 0; while (count--) s += *p++; return s; }
static double until_negative(const double *p, int count)
{
  double s = 0;
  while (count-- > 0) { if (*p < 0) return p[-1]; s += *p++; }
  return s + *--p;
}
static void fill(double *to, const double *from, int count)
{
  const double *end = from + count;
  while (from < end) { *to++ = 2 * *from; from++; }
  to[-1] += 1;
}
static int find(const double *row, int count, double wanted, double *out)
{
  const double *q = row;
  int k = 0;
  if (count < 2) return -1;
  if (*q++ == wanted) return k;
  *out = *q + count;
  return k + 1;
}
static double skip_some(const double *p, int count)
{
  double s = 0;
  for (int k = 0; k < count; k++) if (s < 100) s += *p++;
  return s;
}
static double abs_of(number v) { return v.re * v.re + v.im * v.im; }
static double later(double v);
__attribute__((const)) double add_one(double v);
__attribute__((pure)) double first_of(const double *p);
__attribute__((noinline)) double unknown_sum(const double *p, double *q, int k);
#pragma polybuild access(told, read(p), write(q))
void told(const double *p, double *q, int k);
#pragma polybuild access(told_by_place, read(1), write(2))
void told_by_place(const double *, double *, int);
#pragma polybuild access(told_value, read(v), write(q))
void told_value(double v, double *q);
#pragma polybuild access(told_global, read(table))
double told_global(int k);
double untold(double v);
static double row_by_column(int count, double A[count][count], double B[count][count], int i, int j)
{
  double sum = 0;
  for (int k = 0; k < count; k++) sum += A[i][k] * B[k][j];
  return sum;
}
static double halves(int count, const double *p, const double *q)
{
  double sum = 0;
  for (int k = 0; k < count / 2; k++) sum += p[k] * q[k];
  for (int k = count / 2; k < count; k++) sum -= p[k] * q[k];
  return sum;
}
static void sum_and_difference(double p, double q, double *sum, double *difference)
{
  *sum = p + q;
  *difference = p - q;
}
static void put_in_order(double *low, double *high)
{
  if (*low > high[0]) { double kept = *low; *low = *high; *high = kept; }
}
static void first_and_next(const double *p, double *out) { *out = p[0] + p[1]; }
struct grid { int w, h; double *d; double own[4]; };
static double pixel(struct grid g, int i, int j) { assert(i < g.h && j < g.w); return g.d[i * g.w + j]; }
static double pixel_or_zero(struct grid g, int i, int j)
{
  if (i < 0 || i >= g.h || j < 0 || j >= g.w) return 0;
  return pixel(g, i, j);
}
static void set_pixel(struct grid g, int i, int j, double v)
{
  if (i < 0 || j < 0 || i >= g.h || j >= g.w) return;
  assert(i * g.w + j < g.w * g.h);
  g.d[i * g.w + j] = v;
}
static number sum_of(number a, number b)
{
  number c;
  c.re = a.re + b.re;
  c.im = a.im + b.im;
  return c;
}
static number scaled(number a, double s) { a.re *= s; a.im *= s; return a; }
static number conjugate(number a) { return (number){a.re, -a.im}; }
static number product_of(const number a, const number b)
{
  number c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return c;
}
static double real_product(number a, number b) { return a.re * b.re + a.im * b.im; }
static number larger_of(number a, number b) { if (a.re > b.re) return a; return b; }
static double of_copy(struct grid g, int i) { g.own[0] += i; g.w = i; return g.own[0] + g.w; }
static double larger(double p, double q) { if (p > q) return p; return q; }
static int rounded(double v)
{
  int lower = 3;
  if (v < 0) { double lower = -v; return lower + 0.75; } else { double lower = v; if (lower > 90) return 90.5; }
  lower += v;
  return lower;
}
static double limited(double p, double q)
{
  if (p * q <= 0) return 0;
  else if (p > 0) { double r = q / p; return r < 2 ? q : 2 * p; }
  return -larger(-p, -q);
}
static void raise_some(double *p, int k, double by)
{
  if (k % 3 == 0) return;
  if (by < 0) { p[k] -= by; return; }
  p[k] += sqrt(by);
}
static double in_loop(const double *p, int count)
{
  for (int k = 0; k < count; k++) if (p[k] > 100) return p[k];
  return 0;
}
static double missing(void) { return nan(""); }
static int is_missing(double v) { return v < 0; }
static const char *const missing_by[2] = {"", "1"};
typedef struct { double part[2]; } cell;
struct extents { int w, h; double by; };
struct field { struct extents size; cell *cells; };
struct pair { cell both[2]; };
static void spread(const struct extents e, cell *to, const cell *from)
{
  for (int j = 0; j < e.h; j++)
    for (int i = 0; i < e.w; i++) {
      to[i + j * e.w].part[0] = from[i + j * e.w].part[1] * e.by;
      to[i + j * e.w].part[1] += from[i + j * e.w].part[0];
    }
}
static int spread_and_tell(struct extents e, cell *to, const cell *from)
{
  for (int i = 0; i < e.w * e.h; i++) {
    to[i].part[0] = from[i].part[1] * e.by;
    to[i].part[1] += from[i].part[0];
  }
  return 0;
}
static void spread_behind(const struct extents *e, cell *to, const cell *from)
{
  const struct extents own = *e;
  for (int i = 0; i < own.w; i++)
    for (int k = 0; k < 2; k++) to[i].part[k] = from[i].part[1 - k] * own.by;
}
static void spread_within(const struct field *to, const struct field *from)
{
  for (int i = 0; i < from->size.w; i++) to->cells[i].part[1] = from->cells[i].part[0] * from->size.by;
}
static void spread_fields(struct field to, struct field from)
{
  for (int i = 0; i < from.size.w; i++) to.cells[i].part[1] = from.cells[i].part[0] * from.size.by;
}
static double of_both(struct pair p, double v)
{
  p.both[1].part[0] += v;
  return p.both[1].part[0] + p.both[0].part[1];
}
static const union { unsigned raw[2]; double value; } large_bits = {{0, 0x40F00000}};
static union { unsigned raw; float value; } changing_bits = {0x42F60000};
#define LARGE (large_bits.value)
static double near_root(double x)
{
  union { float f; int i; } u;
  float half = 0.5f * (float)x;
  u.f = (float)x;
  u.i = 0x5f3759df - (u.i >> 1);
  u.f = u.f * (1.5f - half * u.f * u.f);
  return u.f;
}
union parts { double d; struct { unsigned low, high; } halves; unsigned char bytes[8]; };
static double cut(double x, int k)
{
  union parts p;
  p.d = x;
  p.halves.low &= 0xffff0000u;
  p.bytes[k % 2] = 1;
  return p.d;
}
static void cut_row(int m, double *row)
{
  for (int j = 0; j < m; j++) { union parts p = {row[j]}; p.halves.low = 0; row[j] = p.d; }
}
static int binary_exponent(double x)
{
  union { double d; unsigned long long u; } v = {.d = x};
  return (int)(v.u >> 52) & 0x7ff;
}
static unsigned bits_of(float f) { unsigned u; memcpy(&u, &f, sizeof u); return u; }
static float of_bits(unsigned u) { float f; memcpy(&f, &u, sizeof(float)); return f; }
static double shortened(double d)
{
  unsigned long long u;
  memcpy(&u, &d, 8);
  u &= ~0xffffULL;
  memcpy(&d, &u, 8);
  return d;
}
