"""Pluto's algorithm on the worked examples of the paper (PLDI 2008) and where it has to choose."""

from __future__ import annotations

import time

import pytest

from polybuild.schedule.legality import check_schedule
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.model import HyperplaneBand, StatementLeaf, StatementSequence
from polybuild.schedule.pluto.problem import build_problem
from polybuild.schedule.pluto.search import Strategy, find_tree
from polybuild.schedule.pluto.tree import build_tree

VECTORS = "int n, int steps, double *restrict a, double *restrict b, double *restrict c"
MATRICES = "int n, int steps, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"

# Figure 3
JACOBI = """
for (int t = 0; t < steps; t++) {
  for (int i = 2; i < n - 1; i++) b[i] = 0.333 * (a[i - 1] + a[i] + a[i + 1]);
  for (int j = 2; j < n - 1; j++) a[j] = b[j];
}"""
# Figure 9
LU = """
for (int k = 0; k < n; k++) {
  for (int j = k + 1; j < n; j++) a[k][j] = a[k][j] / a[k][k];
  for (int i = k + 1; i < n; i++)
    for (int j = k + 1; j < n; j++) a[i][j] = a[i][j] - a[i][k] * a[k][j];
}"""
# Figure 4
SKEW = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];"
# section 7, Gauss-Seidel, one dimension less
SEIDEL = """
for (int t = 0; t < steps; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = a[i - 1][j - 1] + a[i - 1][j + 1] + a[i][j - 1] + a[i + 1][j - 1] + a[i + 1][j + 1];
"""
# Figure 11
MVT_PARAMETERS = (
    "int n, double m[restrict n][n], double *restrict x, double *restrict y, "
    "double *restrict u, double *restrict v"
)
MVT = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += m[i][j] * u[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += m[j][i] * v[j];"""
TEMPORARY = """
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int j = 0; j < n; j++) s += m[i][j] * u[j];
  x[i] = s;
}"""
BACKWARDS = "for (int i = n - 2; i >= 0; i--) a[i] = 2 * a[i + 1] + b[i];"
CHAIN = "for (int i = 0; i < n; i++) a[i] = b[i]; for (int i = 0; i < n; i++) c[i] = a[i] + b[i];"
OPPOSITE = "for (int i = 0; i < n; i++) b[i] = a[i]; for (int i = 0; i < n; i++) c[i] = b[n - 1 - i];"

REGIONS = {
    "jacobi": (JACOBI, VECTORS),
    "lu": (LU, MATRICES),
    "skew": (SKEW, MATRICES),
    "seidel": (SEIDEL, MATRICES),
    "mvt": (MVT, MVT_PARAMETERS),
    "temporary": (TEMPORARY, MVT_PARAMETERS),
    "backwards": (BACKWARDS, VECTORS),
    "chain": (CHAIN, VECTORS),
    "opposite": (OPPOSITE, VECTORS),
}
STRATEGIES = [
    Strategy(cut, joint, inner) for cut in Cut for joint in (False, True) for inner in (False, True)
]


@pytest.fixture
def tree(model):
    def find(region, **wishes):
        found = model(*REGIONS[region])
        return find_tree(build_problem(found.scop, found.dependences), Strategy(**wishes))

    return find


def rows(band, statement):
    return [(each[statement].coefficients, each[statement].constant) for each in band.hyperplanes]


@pytest.mark.parametrize("region", REGIONS)
def test_every_strategy_is_legal(region, model):
    found = model(*REGIONS[region])
    problem = build_problem(found.scop, found.dependences)
    for strategy in [*STRATEGIES, Strategy(ordered=True)]:
        tree = build_tree(find_tree(problem, strategy), problem.nodes, found.scop.domain)
        check_schedule(tree, found.dependences, found.scop.domain)


def test_imperfect_jacobi_is_shifted_and_skewed_by_two(tree):
    band = tree("jacobi")
    assert isinstance(band, HyperplaneBand)
    assert rows(band, "S0") == [((1, 0), 0), ((2, 1), 0)]
    assert rows(band, "S1") == [((1, 0), 0), ((2, 1), 1)]
    assert band.coincident == (False, False)
    assert isinstance(band.child, StatementSequence)


def test_lu_is_one_band_of_three_for_both_statements(tree):
    band = tree("lu")
    assert isinstance(band, HyperplaneBand)
    assert len(band.hyperplanes) == 3
    assert len(rows(band, "S0")) == 3
    assert rows(band, "S0")[0] == ((1, 0), 0)
    assert rows(band, "S1")[0] == ((1, 0, 0), 0)
    assert sorted(row for row, _ in rows(band, "S1")) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_loops_of_a_known_length_are_ordered_as_others(tree, model):
    """Numbers as large as 2000 in the programs would take isl a minute."""
    found = model(LU.replace("< n", "< 2000"), "double a[restrict 2000][2000]")
    fixed = find_tree(build_problem(found.scop, found.dependences), Strategy())
    assert rows(fixed, "S1") == rows(tree("lu"), "S1")


def test_what_is_tilable_already_stays_as_it_is(tree):
    band = tree("skew")
    assert rows(band, "S0") == [((1, 0), 0), ((0, 1), 0)]


def test_gauss_seidel_is_skewed_by_one_and_two(tree):
    band = tree("seidel")
    assert [row for row, _ in rows(band, "S0")] == [(1, 0, 0), (1, 1, 0), (2, 1, 1)]


def test_reads_with_a_bound_of_their_own_do_not_cost_parallelism(tree):
    """The first loop of each product is parallel; their matrix is read twice."""
    band = tree("mvt", cut=Cut.NEEDED)
    assert band.coincident[0]


def test_one_bound_for_all_buys_reuse_with_a_pipeline(tree):
    """Section 7: the product is fused with the permuted transposed one, distance 0 in both loops."""
    band = tree("mvt", cut=Cut.NEEDED, joint=True)
    assert isinstance(band, HyperplaneBand)
    assert [row for row, _ in rows(band, "S0")] == [row[::-1] for row, _ in rows(band, "S1")]
    assert band.coincident == (False, False)


def test_values_of_a_temporary_stay_in_their_iteration(tree):
    band = tree("temporary")
    assert isinstance(band, HyperplaneBand)
    assert band.coincident == (True,)
    assert [type(each) for each in band.child.children] == [StatementLeaf, HyperplaneBand, StatementLeaf]


def test_in_order_a_temporary_serialises_its_loop(tree):
    band = tree("temporary", ordered=True)
    assert not any(band.coincident[:1])


def test_coefficients_follow_loops_that_descend(tree):
    band = tree("backwards")
    assert rows(band, "S0") == [((1,), 0)]


def test_statements_that_share_data_and_lose_nothing_are_fused(tree):
    assert isinstance(tree("chain"), HyperplaneBand)
    assert isinstance(tree("chain", cut=Cut.NEEDED), HyperplaneBand)
    assert isinstance(tree("chain", cut=Cut.ALL), StatementSequence)


def test_a_reversed_reader_is_not_fused_at_the_price_of_parallel_loops(tree):
    assert isinstance(tree("opposite"), StatementSequence)


def test_a_band_can_end_where_the_loops_inside_are_parallel(tree):
    band = tree("lu", inner=True)
    assert len(band.hyperplanes) == 1
    below = band.child if isinstance(band.child, HyperplaneBand) else band.child.children[-1]
    assert below.coincident == (True, True)


# three nests that hand on arrays: with all of them in one, isl's cuts do not converge
SWEEPS = """
double b[n + 1][n + 1], c[n + 1][n + 1];
for (int j = 2; j < n + 1; j++)
  for (int i = 2; i < n + 1; i++) b[i - 2][j - 2] = a[i - 2][j + 2] - a[i - 2][j - 2] * 0.25;
for (int i = 4; i < n; i++)
  for (int j = 4; j < n; j++) {
    c[i - 4][j - 4] = b[i - 1][j - 2] + b[i - 2][j - 4] * 0.125 - b[i - 1][j - 4] * 0.375;
    c[i - 4][j - 4] += 0.125;
  }
for (int j = 5; j < n - 2; j++)
  for (int i = 5; i < n - 2; i++) d[i - 5][j - 5] = c[i - 3][j - 2] + c[i - 5][j - 3] * 0.25;"""
SWEPT = "double a[restrict n + 1][n + 3], double d[restrict n + 1][n + 1]"


@pytest.mark.parametrize("cut", Cut)
def test_what_is_not_settled_in_time_is_cut_instead(cut, model):
    found = model(SWEEPS, f"long n, {SWEPT}")
    problem = build_problem(found.scop, found.dependences)
    started = time.process_time()
    tree = build_tree(find_tree(problem, Strategy(cut)), problem.nodes, found.scop.domain)
    assert time.process_time() - started < 200  # some seconds; without a limit it does not end
    check_schedule(tree, found.dependences, found.scop.domain)
