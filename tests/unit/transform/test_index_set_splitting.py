"""Index-set splitting: which iterations become statements of their own."""

from __future__ import annotations

import islpy as isl
import pytest
from pycparser import c_ast

from polybuild.analysis.dependences import compute_dependences
from polybuild.c.syntax_tree import contains
from polybuild.schedule.legality import check_schedule
from polybuild.transform.index_set_splitting import split_index_sets
from polybuild.transform.residue_classes import split_residue_classes

PARAMETERS = "int n, int m, double a[restrict n][m], double b[restrict n][m], double *restrict x"


def split(model, body, *, before=""):
    found = model(body, PARAMETERS, before=before)
    after = split_index_sets(found.scop, found.live, found.region.visible.symbols)
    return found.scop, after


def nest(*inside):
    return f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {' '.join(inside)} }}"


def points_of(instances):
    points = []
    instances.foreach_point(points.append)
    return points


def instances(scop):
    """How many instances there are for a few sizes."""
    total = 0
    for n, m in ((1, 1), (1, 5), (2, 2), (7, 3), (9, 8)):
        for each in scop.statements:
            fixed = each.domain.intersect_params(isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}"))
            total += len(points_of(fixed))
    return total


@pytest.mark.parametrize(
    ("inside", "parts"),
    [
        ("b[i][j] = a[i][j == 0 ? 0 : j - 1];", 2),
        ("b[i][j] = a[i][j == 0 ? 0 : j - 1] + a[i][j == m - 1 ? j : j + 1];", 3),
        ("b[i][j] = a[i == 0 ? 0 : i - 1][j == 0 ? 0 : j - 1];", 3),
        ("b[i][j] = a[(i + n - 1) % n][(j + 1) % m] + a[(i + 1) % n][(j + m - 1) % m];", 5),
    ],
)
def test_each_side_of_the_interior_is_a_statement(model, inside, parts):
    before, after = split(model, nest(inside))
    assert len(after.statements) == parts
    assert all(each.relation.n_basic_map() == 1 for each in after.statements[0].accesses)
    assert instances(after) == instances(before)
    dependences = compute_dependences(after, frozenset())
    check_schedule(after.schedule, dependences, after.domain)


WINDOWS = {
    "a statement does not run": """for (int k = -1; k <= 1; k++)
      if (j + k >= 0 && j + k < m) x[j] += a[i][j + k];""",
    "iterations are left": """for (int k = 0; k < 3; k++) {
      int at = j + k - 1;
      if (at < 0 || at >= m) continue;
      x[j] += a[i][at];
    }""",
    "an element is not read": """for (int k = -1; k <= 1; k++)
      x[j] += j + k >= 0 && j + k < m ? a[i][j + k] : 0;""",
    "a window is cut": """for (int k = j > 0 ? j - 1 : 0; k <= (j < m - 1 ? j + 1 : m - 1); k++)
      x[j] += a[i][k];""",
}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_windows_are_whole_in_the_interior(model, window):
    before, after = split(model, nest(window))
    assert len(after.statements) == 3
    assert [each.border for each in after.statements] == [False, True, True]
    interior = after.statements[0]
    assert interior.conditional
    assert not contains(interior.body, c_ast.TernaryOp)
    trips = interior.domain.intersect_params(isl.Set("[n, m] -> { : n = 5 and m = 9 }"))
    assert len(points_of(trips)) == 5 * 7 * 3
    assert instances(after) == instances(before)
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)


@pytest.mark.parametrize(
    "choice", ["k * k > 0 && j > 0 ? a[i][j - 1] : 0", "j > 0 ? (k * j > 3 ? a[i][j - 1] : 0) : 0"]
)
def test_conditions_that_are_not_affine_stay(model, choice):
    _, after = split(model, nest(f"for (int k = -1; k <= 1; k++) x[j] += {choice};"))
    assert all(contains(each.body, c_ast.TernaryOp) for each in after.statements if not each.border)


@pytest.mark.parametrize(
    "inside",
    [
        "for (int k = 0; k <= i; k++) x[j] += a[i][k];",
        "if (j < i) b[i][j] = 1; else b[i][j] = a[i][j];",
        "for (int k = i > 3 ? i - 3 : 0; k < n; k++) x[j] += a[k][j];",
    ],
)
def test_loops_that_differ_everywhere_have_no_border(model, inside):
    before, after = split(model, nest(inside))
    assert after is before


def test_blocks_by_hand_have_no_border(model):
    """The last one is cut, and goes with the others."""
    body = """for (int i = 0; i < n; i++) for (int jj = 1; jj < m - 1; jj += 32)
        for (int j = jj; j < (jj + 32 < m - 1 ? jj + 32 : m - 1); j++) b[i][j] = a[i][j - 1] + a[i][j + 1];"""
    before, after = split(model, body)
    assert after is before


def test_grids_in_turn_have_rows_without_choices_each(model):
    body = """for (int t = 0; t < n; t++) for (int i = 0; i < m; i++) for (int j = 0; j < m; j++)
      u[(t + 1) % 2][i][j] = u[t % 2][i][(j + 1) % m] + u[t % 2][(i + 1) % m][j];"""
    found = model(body, "int n, int m, double u[restrict 2][m][m]")
    steps = split_residue_classes(found.scop)
    after = split_index_sets(steps, found.live, found.region.visible.symbols)
    columns = [
        [each.relation.project_out(isl.dim_type.out, 0, 2).coalesce() for each in one.accesses]
        for one in after.statements
    ]
    assert len(steps.statements) == 2
    assert len(after.statements) == 4  # a row and its last point
    assert sum(all(each.n_basic_map() == 1 for each in one) for one in columns) >= 2
    assert instances(after) == instances(found.scop)
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)


def test_private_variables_have_a_copy_for_each_part(model):
    inside = "s = a[i][j == 0 ? 0 : j - 1]; b[i][j] = s * s;"
    before, after = split(model, nest(inside), before="double s;")
    assert len(after.statements) == 2 * len(before.statements)
    assert {each.name for each in after.arrays} - {each.name for each in before.arrays} == {"s_side1"}
    assert {each.array.name for each in compute_dependences(after, frozenset()).private} == {"s", "s_side1"}


def test_variables_whose_values_go_on_stay_one(model):
    inside = "b[i][j] = s; s = a[i][j == 0 ? 0 : j - 1];"
    _, after = split(model, nest(inside), before="double s = 1;")
    assert "s_side1" not in {each.name for each in after.arrays}


def test_inner_loops_go_with_the_loops_around(model):
    window = "for (int k = 0; k < 3; k++) s += a[i][j + k < m ? j + k : m - 1]; b[i][j] = s;"
    _, after = split(model, nest("double s = 0;", window))
    interior = after.statements[:3]
    assert all(each.relation.n_basic_map() == 1 for one in interior for each in one.accesses)


@pytest.mark.parametrize(
    "inside",
    [
        "b[i][j] = a[i][j];",
        "b[i][j] = a[i][j < m / 2 ? j : m - 1];",  # two halves, none of them a border
        "b[i][j] += b[i][j == 0 ? 0 : j - 1];",  # written in the nest itself
        "b[i][j] = a[i][(int)x[j] % 4];",
        "b[i == 0 ? 0 : i - 1][j] += a[i][j == 0 ? 0 : j - 1];",  # sides write what others write
    ],
)
def test_what_stays_whole(model, inside):
    before, after = split(model, nest(inside))
    assert after is before


def test_two_statements_of_two_grids_in_turn_are_all_split(model):
    """Those that are split no longer count: twelve is what is left of four."""
    steps = "u[(t + 1) % 2][i][j] = u[t % 2][i][(j + 1) % m] + v[t % 2][i][j == 0 ? m - 1 : j - 1];"
    body = f"""for (int t = 0; t < n; t++) for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) {{
      {steps} {steps.replace("u[(t", "v[(t")} }}"""
    found = model(body, "int n, int m, double u[restrict 2][m][m], double v[restrict 2][m][m]")
    after = split_residue_classes(found.scop)
    after = split_index_sets(after, found.live, found.region.visible.symbols)
    assert len(after.statements) == 2 * 2 * 3
