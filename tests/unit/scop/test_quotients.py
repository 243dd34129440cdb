"""Strides in bytes: which numbers they are that the model counts with, and what it asks of them."""

from __future__ import annotations

import pytest

from polybuild.diagnostics import Unsupported

PARAMETERS = "long n, long m, char *restrict p, const long *s, double *restrict to, const int *k"
LOOPS = "for (long i = 0; i < n; i++) for (long j = 0; j < m; j++)"
ELEMENT = "*(double *)(p + i * s[0] + j * s[1])"


def test_the_last_axis_has_elements_side_by_side(model):
    scop = model(f"{LOOPS} {ELEMENT} = i + j;", PARAMETERS).scop
    (written,) = [each for each in scop.arrays if each.element.name == "double"]
    assert len(written.extents) == 2
    assert {each.reason for each in scop.assumptions} >= {
        "what multiplies loop counters in subscripts must be 1",
        "what pointers are moved by must be whole elements",
    }


def test_several_numbers_at_a_place_lie_apart(model):
    body = "for (long i = 0; i < n; i++) { double *q = (double *)(p + i * s[0]); q[0] = q[1]; }"
    scop = model(body, PARAMETERS).scop
    assert "must be 1" not in " ".join(each.reason for each in scop.assumptions)
    (written,) = scop.arrays
    assert len(written.extents) == 2


def test_strides_are_read_where_the_region_reads_them(model):
    scop = model(f"{LOOPS} {ELEMENT} = i + j;", PARAMETERS).scop
    strides = [each for each in scop.parameters if each.name.startswith("s")]
    assert len(strides) == 4
    assert all(each.reached is not None for each in strides)


def test_strides_that_are_not_known_before_are_told_of(model):
    with pytest.raises(Unsupported) as refusal:
        model(f"{LOOPS} if (k[i]) {ELEMENT} = i + j;", PARAMETERS)
    assert refusal.value.diagnostic.code == "pointer-arithmetic"
    assert refusal.value.diagnostic.hint == "read it into a variable before the region"
