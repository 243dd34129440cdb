"""Which loop nests the survey of code bases counts as numeric."""

from __future__ import annotations

import pytest

from benchmarks.survey.numeric import is_numeric, reaches_outside


@pytest.mark.parametrize(
    ("nest", "numeric"),
    [
        ("for (i = 0; i < n; i++) a[i] = b[i] + c[i];", True),
        ("for (i = 0; i < n; i++) s += a[i];", True),
        ("for (; p < end; p++) *p = *p * 2;", True),
        ("for (i = 0; i < n; i++) { x = x * 0.5 + 1; }", True),
        ("for (i = 0; i < n; i++) q->v[i] -= q->w;", True),
        ("for (i = 0; i < n; i++) a[i] = b[i + 1];", False),
        ("for (i = 0; i < n; i++) a[i] = 0;", False),
        ('for (i = 0; i < n; i++) printf("%d", a[i] + 1);', False),
        ("for (i = 0; i + 1 < n; i++) { k = k + 1; }", False),
        ("for (i = 0; i < n; i++) if (a[i] > m) return i;", False),
        ("for (p = list; p; p = p->next) free(p);", False),
        ("for (i = 0; i < n; i++) x[i] = y[i]; /* x[i] = y[i] + 1; */ // x[i] += 1;", False),
    ],
)
def test_a_nest_is_numeric_if_it_assigns_what_it_computes(nest, numeric):
    assert is_numeric(nest) == numeric


@pytest.mark.parametrize(
    ("nest", "outside"),
    [
        ('for (i = 0; i < n; i++) { s += x[i]; printf("%g", s); }', True),
        ("for (i = 0; i < n; i++) x[i] = 2.0 * rand () / RAND_MAX;", True),
        ("for (i = 0; i < n; i++) x[i] = malloc(n * sizeof(double));", True),
        ("for (i = 0; i < n; i++) x[i] = time * rate[i]; // printf(x)", False),
        ("for (i = 0; i < n; i++) x[i] = sqrt(x[i]) + read[i];", False),
    ],
)
def test_a_nest_reaches_outside_if_it_calls_what_does(nest, outside):
    assert reaches_outside(nest) == outside
