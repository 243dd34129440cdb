"""Which pairs of objects need a check that they do not overlap."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.analysis.aliasing import find_overlaps
from polybuild.diagnostics import Unsupported
from polybuild.scop.extract import extract_scop

COPY = "for (int i = 0; i < n; i++) a[i] = b[i];"


def pairs(body, parameters, *, top="", before="", strict=True):
    region = region_of(
        f"{top}\nvoid f({parameters}) {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    overlaps = find_overlaps(extract_scop(region), region, strict=strict)
    return {frozenset({each.first.array.name, each.second.array.name}) for each in overlaps}


AB = {frozenset({"a", "b"})}

# what: (region, parameters, declarations before the function, statements before the region, pairs to check)
CASES = {
    "two pointers": (COPY, "int n, double *a, double *b", "", "", AB),
    "two array parameters": (COPY, "int n, double a[n], double b[n]", "", "", AB),
    "named arrays": (COPY, "int n", "double a[9], b[9];", "", set()),
    "a pointer and a global": (COPY, "int n, double *a", "double b[9];", "", AB),
    "a pointer and an array of its own": (COPY, "int n, double *a", "", "double b[9];", set()),
    "both restrict": (COPY, "int n, double *restrict a, double *restrict b", "", "", set()),
    "restrict beside a parameter": (COPY, "int n, double *restrict a, double *b", "", "", set()),
    "restrict beside what may derive from it": (
        COPY, "int n, double *restrict a, double *b", "", "b = a + n;", AB,
    ),
    "restrict beside a local pointer": (COPY, "int n, double *restrict a", "", "double *b = a + n;", AB),
    "both only read": ("x[0] = 0; for (int i = 0; i < n; i++) x[0] += a[i] * b[i];",
        "int n, double *a, double *b", "", "double x[1];", set(),
    ),
    "types that differ, memory of unknown type": (COPY, "int n, float *a, int *b", "", "", AB),
    "types that differ, a declared object": (COPY, "int n, float *a", "int b[9];", "", set()),
    "characters": (COPY, "int n, unsigned char *a", "int b[9];", "", AB),
    "types that differ in sign": (COPY, "int n, unsigned *a", "int b[9];", "", AB),
    "a size of the same type": (COPY, "int *restrict b, int *a", "int n;", "", {frozenset({"a", "n"})}),
    "a size of another type": (COPY, "float *restrict b, float *a", "int n;", "", set()),
    "a size behind a pointer": (
        "for (int i = 0; i < s->n; i++) a[i] = 1;", "struct s *s, int *a", "struct s { int n; };", "",
        {frozenset({"a", "s_n"})},
    ),
    "members of one structure": (
        "for (int i = 0; i < 9; i++) s->a[i] = s->b[i];", "struct s *s",
        "struct s { double a[9], b[9]; };", "", set(),
    ),
    "members of an array of structures": (
        "for (int i = 0; i < n; i++) p[i].x = p[i].y;", "int n, struct p *p",
        "struct p { double x, y; };", "", set(),
    ),
    "pointers in one structure": (
        "for (int i = 0; i < n; i++) s->a[i] = s->b[i];", "int n, struct s *s",
        "struct s { double *a, *b; };", "", {frozenset({"s_a", "s_b"})},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_pairs(what):
    body, parameters, top, before, expected = CASES[what]
    assert pairs(body, parameters, top=top, before=before) == expected


def test_types_tell_nothing_where_the_compiler_does_not_rely_on_them():
    assert pairs(COPY, "int n, float *a", top="int b[9];", strict=False) == AB


def test_a_footprint_that_depends_on_data_is_settled_by_types_or_refused():
    scatter = "for (int i = 0; i < n; i++) a[k[i]] = 0;"
    assert pairs(scatter, "int n, float *a, int *k") == set()
    with pytest.raises(Unsupported, match="other memory"):
        pairs(scatter, "int n, int *a, int *k")
