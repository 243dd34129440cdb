"""Each loop of the source is told what it carries, by the accesses that make it."""

from __future__ import annotations

from polybuild.report.explain.obstacles import source_loops

STENCIL = """\
for (int t = 0; t < n; t++)
  for (int i = 1; i < m - 1; i++)
    a[i] = a[i - 1] + a[i + 1];"""


def loops(model, body, parameters, **rest):
    found = model(body, parameters, **rest)
    return source_loops(found.scop, found.dependences)


def test_a_stencil_in_place_is_serial_in_both_loops(model):
    time, space = loops(model, STENCIL, "int n, int m, double *restrict a")
    assert (time.names, space.names) == (("t",), ("t", "i"))
    (flow,) = [each for each in space.obstacles if each.kind == "flow"]
    assert (flow.source.access, flow.target.access) == ("a[i]", "a[i - 1]")
    assert (flow.source.line, flow.target.line) == (time.location.line + 2,) * 2
    assert flow.distance == "(0, 1)"
    assert (flow.source.instance, flow.target.instance) == ("t = 0, i = 1", "t = 0, i = 2")
    assert flow.element == "a[1]"
    (anti,) = [each for each in space.obstacles if each.kind == "anti"]
    assert (anti.source.access, anti.target.access) == ("a[i + 1]", "a[i]")
    assert {(each.kind, each.distance) for each in time.obstacles} >= {
        ("flow", "(1, -1)"),
        ("output", "(1, 0)"),
    }


def test_the_middle_loop_of_a_matrix_product_carries_nothing(model):
    body = """\
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      c[i][j] += a[i][k] * b[k][j];"""
    parameters = "int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]"
    rows, columns, sums = loops(model, body, parameters)
    assert not rows.obstacles
    assert not columns.obstacles
    assert {each.kind for each in sums.obstacles} == {"flow", "anti", "output"}
    assert {each.distance for each in sums.obstacles} == {"(0, 0, 1)"}


def test_a_scalar_is_private_where_each_iteration_sets_it(model):
    body = "for (int i = 0; i < n; i++) { double x = b[i]; a[i] = x * x; }"
    (loop,) = loops(model, body, "int n, double *restrict a, double *restrict b")
    assert (loop.obstacles, loop.private) == ((), ("x",))


def test_a_distance_that_grows(model):
    body = "for (int i = 0; i < n; i++) a[2 * i] = a[i] + 1;"
    (loop,) = loops(model, body, "int n, double *a")
    assert {each.distance for each in loop.obstacles} == {"(+)"}
