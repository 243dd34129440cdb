"""Steps over time with borders beside a grid: which are taken to have a grid."""

from __future__ import annotations

import pytest

from polybuild.poly.relations import parameter_set
from polybuild.transform.grid_sizes import assume_grids
from polybuild.transform.index_set_splitting import split_index_sets

PARAMETERS = "int n, int m, int steps, double *restrict u, double *restrict v"
TIME = "for (int t = 0; t < steps; t++)"
LINE = "for (int i = 1; i < n - 1; i++)"
OTHER = "for (int i = 0; i < m; i++)"


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        (f"{TIME} {{ u[0] = u[2]; {LINE} v[i] = u[i - 1]; {LINE} u[i] = v[i]; }}", "n >= 3"),
        (f"{TIME} {{ {LINE} u[i] = v[i] + u[0]; u[0] = u[n - 3]; }}", "n >= 3"),
        (f"{TIME} {{ u[0] = t; {LINE} v[i] = u[i - 1]; {OTHER} u[i] = v[i]; }}", "n >= 3 and m >= 1"),
    ],
)
def test_borders_are_beside_a_grid(model, body, condition):
    scop = model(body, PARAMETERS).scop
    found = assume_grids(scop)
    (new,) = found.assumptions[len(scop.assumptions) :]
    assert new.condition.is_equal(parameter_set(f"[n, m] -> {{ : {condition} }}"))
    assert found.context.is_equal(scop.context.intersect(new.condition))


@pytest.mark.parametrize(
    "body",
    [
        f"{TIME} {{ {LINE} v[i] = u[i - 1]; {LINE} u[i] = v[i]; }}",  # no border
        f"{TIME} {{ double s = t; {LINE} v[i] = u[i - 1] + s; }}",  # a variable
        f"{TIME} {{ u[0] = t; for (int i = t; i < n; i++) v[i] = u[i]; }}",  # another nest in each step
        f"{TIME} {{ u[0] = t; if (m == 1) {LINE} v[i] = u[i]; }}",  # not a size
        f"{TIME} {{ u[0] = t; for (int i = 0; i < 9; i++) v[i] = u[i]; }}",  # always there
        f"{TIME} {{ u[t] = 0; {OTHER} v[t * 9 + i % 9] = u[i]; }}",  # rows, each by itself
        f"{TIME} {{ u[t] = 0; {OTHER} u[t] += v[i]; }}",  # their sums
    ],
)
def test_others_are_left_alone(model, body):
    scop = model(body, PARAMETERS).scop
    assert assume_grids(scop) is scop


RING = """for (int t = 0; t < steps; t++) {
  for (int i = 0; i < %s; i++) for (int j = 0; j < n; j++)
    B[i][j] = A[i][(j + n - 1) %% n] + A[i][(j + 1) %% n];
  for (int i = 0; i < %s; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j];
}"""


@pytest.mark.parametrize(("rows", "conditions"), [("n", ["n >= 3"]), ("m", [])])
def test_periodic_rows_have_several_places_unless_there_may_be_many(model, rows, conditions):
    parameters = f"int n, int m, int steps, double A[restrict {rows}][n], double B[restrict {rows}][n]"
    found = model(RING % (rows, rows), parameters)
    split = split_index_sets(found.scop, found.live, found.region.visible.symbols)
    assert len(split.statements) == 4
    new = assume_grids(split).assumptions[len(split.assumptions) :]
    assert len(new) == len(conditions)
    for one, condition in zip(new, conditions, strict=True):
        assert one.condition.is_equal(parameter_set(f"[n] -> {{ : {condition} }}"))
