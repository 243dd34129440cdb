"""Which pairs of objects need a check that they do not overlap."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.analysis.aliasing import find_overlaps
from polybuild.codegen.c.bodies import c_text
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
    "a pointer and a static array of its own": (COPY, "int n, double *a", "", "static double b[9];", set()),
    "a pointer and a static array that it leads to": (
        COPY, "int n, double *a", "", "static double b[9]; a = &b[n];", AB,
    ),
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
    "a pointer to the very bytes": (
        "for (int i = 0; i < n; i++) s->a[i] = 1;", "int n, struct s *s", "struct s { char *a; };", "",
        {frozenset({"s_a", "s_a itself"})},
    ),
    "a pointer to others that bytes are written beside": (
        "for (int i = 0; i < n; i++) b[i] = s->q.a[i] > 0;", "int n, signed char *b, struct s *s",
        "struct s { struct { double *a; } q; };", "",
        {frozenset({"b", "s_q_a"}), frozenset({"b", "s_q_a itself"})},
    ),
    "a pointer of the file": (
        "for (int i = 0; i < n; i++) a[i] = 1;", "int n", "char *a;", "", {frozenset({"a", "a itself"})},
    ),
    "no pointer where bytes are written": (
        "for (int i = 0; i < n; i++) s->a[i] = b[i];", "int n, const signed char *b, struct s *s",
        "struct s { signed char a[9]; };", "", {frozenset({"b", "s_a"})},
    ),
    "members of one structure": (
        "for (int i = 0; i < 9; i++) s->a[i] = s->b[i];", "struct s *s",
        "struct s { double a[9], b[9]; };", "", set(),
    ),
    "members of an array of structures": (
        "for (int i = 0; i < n; i++) p[i].x = p[i].y;", "int n, struct p *p",
        "struct p { double x, y; };", "", set(),
    ),
    "rows behind pointers": (
        "for (int i = 0; i < n; i++) a[i][0] = 0;", "int n, double **a", "", "",
        {frozenset({"a"}), frozenset({"a", "a_rows_1"})},
    ),
    "rows behind pointers that are only read": (
        "for (int i = 0; i < n; i++) b[i] = a[i][0];", "int n, double *restrict b, double **a", "", "",
        {frozenset({"a", "b"}), frozenset({"a_rows_1", "b"})},
    ),
    "one row behind a pointer": (
        "for (int i = 0; i < n; i++) a[0][i] = a[1][i];", "int n, double **a", "", "",
        {frozenset({"a"}), frozenset({"a", "a_rows_1"})},
    ),
    "rows of rows": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 9; j++) a[i][j][0] = 0;", "int n, double ***a",
        "", "",
        {frozenset({"a"}), frozenset({"a", "a_rows_1"}), frozenset({"a", "a_rows_2"})},
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


def test_a_footprint_that_depends_on_data_is_settled_by_types_or_inspected():
    scatter = "for (int i = 0; i < n; i++) a[k[i]] = 0;"
    assert pairs(scatter, "int n, float *a, int *k") == set()
    # the first write that changes ``k`` is to a place that ``k`` names as it is on entry
    assert pairs(scatter, "int n, int *a, int *k") == {frozenset({"a", "k"})}


GATHER = "for (int i = 0; i < n; i++) y[i] = x[a[i]];"
ROWS = "for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) y[i] += v[j] * x[a[j]];"


@pytest.mark.parametrize(
    ("body", "parameters", "inspected"),
    [
        (GATHER, "int n, double *x, double *y, int *a", {"a[i]": set()}),
        (GATHER, "int n, int *x, int *y, int *a", {"a[i]": set()}),
        (GATHER, "int n, double *restrict x, double *restrict y, int *a", {}),
        (GATHER, "int n, double *x, float *y, int *a", {}),
        (GATHER, "int n, double *x, double *y, unsigned char *a", {}),
        (ROWS, "int n, double *v, double *x, double *y, int *a, int *r", {"j": {"r"}, "a[j]": {"r"}}),
        (
            "for (int i = 0; i < n; i++) y[i] = x[a[b[i]]];",
            "int n, double *x, double *y, int *a, int *b",
            {"a[b[i]]": {"b"}},
        ),
        (
            "for (int i = 0; i < n; i++) { int c = a[i], d = b[c] + 1; y[i] = x[d - c]; }",
            "int n, double *x, double *y, int *a, int *b",
            {"((int) (b[(int) a[i]] + 1)) - ((int) a[i])": {"a"}},
        ),
        (
            (
                "for (int i = 0; i < n; i++)"
                " for (int j = r[i]; j < r[i + 1]; j++) { int c = a[j]; y[i] += x[c]; }"
            ),
            "int n, double *x, double *y, int *a, int *r",
            {"(int) a[j]": {"r"}},
        ),
    ],
)
def test_subscripts_are_inspected_where_only_they_tell_what_is_touched(body, parameters, inspected):
    region = region_of(f"void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    overlaps = find_overlaps(extract_scop(region), region)
    found = {c_text(one.expression): set(one.needs) for each in overlaps for one in each.inspectors}
    assert found == inspected


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        # what is changed says itself what is read
        ("for (int i = 0; i < n; i++) { a[i] = i; y[i] = x[a[i]]; }", "int n, double *x, double *y, int *a"),
        # the variable has another value there
        (
            "int c = 0; for (int i = 0; i < n; i++) { y[i] = x[c]; c = a[i]; }",
            "int n, double *x, double *y, int *a",
        ),
        (
            "for (int i = 0; i < n; i++) { int c = a[i]; if (i > 3) c = 2; y[i] = x[c]; }",
            "int n, double *x, double *y, int *a",
        ),
        (
            "int c = 0; for (int i = 0; i < n; i++) c = a[i]; for (int i = 0; i < n; i++) y[i] = x[c];",
            "int n, double *x, double *y, int *a",
        ),
        # it may not be evaluated
        (
            "for (int i = 0; i < n; i++) y[i] = y[i] > 0 ? x[a[i]] : 0;",
            "int n, double *x, double *y, int *a",
        ),
        ("for (int i = 0; i < n; i++) if (y[i]) y[i] = x[a[i]];", "int n, double *x, double *y, int *a"),
        # the rows might be changed before they are used
        (
            "for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) y[a[j]] += j;",
            "int n, int *y, int *a, int *r",
        ),
    ],
)
def test_footprints_that_cannot_be_known_before(body, parameters):
    region = region_of(f"void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    with pytest.raises(Unsupported) as refusal:
        find_overlaps(extract_scop(region), region)
    assert refusal.value.diagnostic.code == "unknown-footprint"


def test_a_limit_of_a_counter_is_no_object():
    body = "for (int i = 0; i < n; i++) for (int j = c[i]; j < n; j++) a[i] = b[i];"
    parameters = "int n, long long *a, long long *b, const int *restrict c"
    assert pairs(body, parameters) == AB


LEFT = "for (int i = 0; i < n; i++) {{ a[i] = 0; {loop} }}"
ROWS = "int n, double *a, double *b, const int *r, const unsigned long *w, unsigned m"


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = r[i]; k < r[i + 1]; k++) if (b[k] > 1) { a[i] = b[k]; break; }",
        "for (int k = r[i] - 1; k >= r[i - 1]; --k) if (b[k] > 1) { a[i] = b[k]; break; }",
        "for (int k = r[i]; k <= m - 1; k++) if (b[k + 2] > 1) { a[i] = b[k - 1]; break; }",
        "int c = r[i]; switch (i % 3) { case 0: a[i] = b[c]; break; case 1: a[i] = b[c] + 1; }",
    ],
)
def test_ends_of_rows_are_looked_at(loop):
    assert pairs(LEFT.format(loop=loop), ROWS) >= AB


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = r[i]; k < r[i + 1]; k += 2) if (b[k] > 1) { a[i] = b[k]; break; }",
        "for (int k = r[i]; k < r[i + 1]; k++) { if (b[k] > 1) { a[i] = b[k]; break; } k++; }",
        "for (unsigned long k = r[i]; k < w[i]; k++) if (b[k] > 1) { a[i] = b[k]; break; }",  # to 2^64 - 1
        "for (int k = r[i]; k < a[i]; k++) if (b[k] > 1) { a[i] = b[k]; break; }",
        "for (int k = r[i]; k < r[i + 1]; k++) if (b[2 * k] > 1) { a[i] = b[k]; break; }",
    ],
)
def test_ends_of_rows_that_are_not_known(loop):
    with pytest.raises(Unsupported):
        pairs(LEFT.format(loop=loop), ROWS)
