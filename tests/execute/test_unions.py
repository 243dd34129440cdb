"""Unions of the function, literals of unions, and bytes that are taken for numbers."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("unions")
TOP = """
#include <string.h>
typedef union { double d; unsigned long long u; struct { unsigned low, high; } halves; } bits;
union tagged { float f; int i; };
#define BITS(x) (((union { float f; unsigned u; }){ x }).u)
#define FLOAT(x) (((union { unsigned u; float f; }){ .u = (x) }).f)
static unsigned as_bits(float f) { return ((union { float f; unsigned u; }){ .f = f }).u; }
static float as_float(unsigned u) { union { unsigned u; float f; } f = { u }; return f.f; }
static unsigned little(const unsigned char *p) {
  return p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
}
static unsigned big(const unsigned char *p) {
  return (unsigned)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}
static void split(unsigned char *p, unsigned v) { p[0] = v & 255; p[1] = v >> 8 & 255; }
static unsigned copied(const unsigned char *p) { unsigned v; memcpy(&v, p, sizeof(v)); return v; }
static inline void put(unsigned char *p, unsigned v) { memcpy(p, &v, sizeof v); }
#define TAKE(v, p) memcpy(&(v), (p), sizeof(v))
static struct { int high; short low; } pairs[4000];
static char pool[16000] __attribute__((aligned(16)));
static unsigned char places[4000] __attribute__((aligned(16)));
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("unions"), CASES, (1, 2, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_bits_and_bytes(comparison, name):
    check(comparison, CASES[name])
