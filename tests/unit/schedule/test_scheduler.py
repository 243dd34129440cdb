"""The strategies of isl's scheduler: how loops are shared, and that every result is legal."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import node_kind
from polybuild.schedule.fixed_parameters import with_fixed_parameters
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.scheduler import Fusion, compute_schedule

MATRICES = "int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]"
VECTORS = "int n, double *restrict a, double *restrict b, double *restrict c"

PRODUCT = """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
    }"""
TRIANGLE = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) a[i] -= C[i][j] * a[j];
    a[i] /= C[i][i];
  }"""
FARTHEST = """
  for (int i = 0; i < 300; i++) {
    best = 0;
    for (int j = 0; j < 3000; j++) {
      s = 0;
      for (int k = 0; k < 32; k++) s += A[i][k] * B[j][k];
      if (s > best) best = s;
    }
    c[i] = best;
  }"""
# the declared length of each array and the bound of each loop
DENSITIES = """
  for (int i = 0; i < LENGTH; i++) {
    density = 0;
    for (int j = 0; j < LENGTH; j++) {
      dx = a[i] - a[j];
      dy = b[i] - b[j];
      square = dx * dx + dy * dy;
      if (square < 0.01) density += square;
    }
    c[i] = density;
  }"""
PRIVATE = "double density, dx, dy, square;"
KERNELS = {
    "product": (
        PRODUCT, MATRICES, "",
    ),
    "gauss-seidel": (
        "for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i] + a[i + 1];",
        VECTORS, "",
    ),
    "backwards": ("for (int i = n - 2; i >= 0; i--) a[i] = a[i + 1] + b[i];", VECTORS, ""),
    "private": (
        "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; t = c[i]; c[i] = t + 1; }", VECTORS, "double t;",
    ),
    "large constants": (
        FARTHEST,
        "double A[restrict 300][32], double B[restrict 3000][32], double *restrict c",
        "double best, s;",
    ),
    "many values and large constants": (
        DENSITIES.replace("LENGTH", "1500"),
        ", ".join(f"double {each}[restrict 1500]" for each in "abc"),
        PRIVATE,
    ),
    "triangle": (
        TRIANGLE, "int n, double C[restrict n][n], double *restrict a", "",
    ),
}  # fmt: skip


def bands(schedule):
    """The bands, each as (members, permutable, coincident members), from the top."""
    found = []

    def visit(node):
        if node_kind(node) == isl.schedule_node_type.band and node.band_n_member():
            members = range(node.band_n_member())
            coincident = [each for each in members if node.band_member_get_coincident(each)]
            found.append((len(members), bool(node.band_get_permutable()), coincident))
        return True

    schedule.get_root().foreach_descendant_top_down(visit)
    return found


@pytest.mark.parametrize("fusion", Fusion)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_strategy_is_legal(kernel, fusion, model):
    body, parameters, before = KERNELS[kernel]
    found = model(body, parameters, before=before)
    check_schedule(
        compute_schedule(found.scop, found.dependences, fusion), found.dependences, found.scop.domain
    )


@pytest.fixture
def schedule(model):
    def compute(body, parameters, fusion, before=""):
        found = model(body, parameters, before=before)
        return compute_schedule(found.scop, found.dependences, fusion)

    return compute


# c reuses what a produces: one loop or two
CHAIN = "for (int i = 0; i < n; i++) a[i] = b[i]; for (int i = 0; i < n; i++) c[i] = a[i];"


def test_minimal_fusion_keeps_loops_apart(schedule):
    assert bands(schedule(CHAIN, VECTORS, Fusion.MIN)) == [(1, True, [0])] * 2


@pytest.mark.parametrize("fusion", [Fusion.MAX, Fusion.DEPTH])
def test_maximal_fusion_joins_them(fusion, schedule):
    assert bands(schedule(CHAIN, VECTORS, fusion)) == [(1, True, [0])]


def test_the_product_is_one_band_of_three(schedule):
    assert (3, True, [0, 1]) in bands(schedule(*KERNELS["product"][:2], Fusion.MIN))


def test_a_stencil_is_skewed_into_a_permutable_band(schedule):
    assert bands(schedule(*KERNELS["gauss-seidel"][:2], Fusion.MIN)) == [(2, True, [])]


def test_a_temporary_does_not_serialise_its_loop(schedule):
    body, parameters, before = KERNELS["private"]
    assert bands(schedule(body, parameters, Fusion.MIN, before)) == [(1, True, [0])]


def test_loops_of_different_depth_share_what_they_can(schedule):
    body = (
        "for (int i = 0; i < n; i++) a[i] = 0;"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += C[i][j];"
    )
    parameters = KERNELS["triangle"][1]
    assert sorted(bands(schedule(body, parameters, Fusion.MIN))) == [(1, True, [0]), (2, True, [0])]
    assert bands(schedule(body, parameters, Fusion.DEPTH)) == [(2, True, [0])]


def test_the_strategy_does_not_outlive_the_call(model):
    found = model(CHAIN, VECTORS)
    context = found.scop.context.get_ctx()

    def settings():
        return (
            context.get_schedule_serialize_sccs(),
            context.get_schedule_whole_component(),
            context.get_schedule_maximize_band_depth(),
        )

    before = settings()
    for fusion in Fusion:
        compute_schedule(found.scop, found.dependences, fusion)
        assert settings() == before


def test_sizes_that_are_constants_have_the_order_of_parameters(schedule):
    """isl's scheduler was at work on the first of these until it was stopped."""
    constant, parameter = (
        schedule(DENSITIES.replace("LENGTH", length), declared, Fusion.MIN, PRIVATE)
        for length, declared in (
            ("1500", ", ".join(f"double {each}[restrict 1500]" for each in "abc")),
            ("n", "int n, " + ", ".join(f"double {each}[restrict n]" for each in "abc")),
        )
    )
    assert bands(constant) == bands(parameter)
    fixed = with_fixed_parameters(parameter, {"n": 1500}, constant.get_domain())
    assert fixed.get_map().is_equal(constant.get_map())
