"""What kernels are predicted to take, and what they took on an H200 (``benchmarks/results``)."""

from __future__ import annotations

import dataclasses

import pytest
from device_regions import PRODUCT

from polybuild.analysis.trip_counts import trip_counts
from polybuild.codegen.device.model import DeviceRequest
from polybuild.context import CompileContext, CompilerRules
from polybuild.driver.device_prediction import device_prediction_of, in_waves
from polybuild.driver.domain_shares import domain_shares
from polybuild.machine.model import Machine
from polybuild.options import Options
from polybuild.scop.model import AccessKind
from polybuild.targets.gpu.target import CUDA
from polybuild.targets.languages import CUDA_C

GRIDS = "int n, int steps, {0} u[restrict 2][n][n], {0} v[restrict n][n], {0} w[restrict n][n]"
SPACE = "int n, int steps, float u[restrict 2][n][n][n]"
LAPLACIAN = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[(t + 1) % 2][i][j] = 0.2f * (u[t % 2][i][j] + u[t % 2][i - 1][j] + u[t % 2][i + 1][j]
                                       + u[t % 2][i][j - 1] + u[t % 2][i][j + 1]);"""
LAPLACIAN_3D = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          u[(t + 1) % 2][i][j][k] =
              0.1f * (u[t % 2][i][j][k] + u[t % 2][i - 1][j][k] + u[t % 2][i + 1][j][k]
                      + u[t % 2][i][j - 1][k] + u[t % 2][i][j + 1][k] + u[t % 2][i][j][k - 1]
                      + u[t % 2][i][j][k + 1]);"""
FDTD = """
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++) v[i][j] = v[i][j] - 0.5f * (w[i][j] - w[i - 1][j]);
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++) u[0][i][j] = u[0][i][j] - 0.5f * (w[i][j] - w[i][j - 1]);
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        w[i][j] = w[i][j] - 0.7f * (u[0][i][j + 1] - u[0][i][j] + v[i + 1][j] - v[i][j]);
  }"""
_USUAL = Machine()
TRIANGULAR = PRODUCT.replace("k < n", "k <= i")
PRODUCTS = "int n, {0} C[restrict n][n], {0} A[restrict n][n], {0} B[restrict n][n]"


@pytest.fixture
def predicted(model):
    """What a region takes on a device without transfers, for a compiler that fuses sums with products."""

    def of(
        body: str,
        parameters: str,
        machine: Machine = _USUAL,
        *,
        reordered: bool = False,
        shape: str = "auto",
        **sizes: int,
    ):
        found = model(body, parameters)
        rules = CompilerRules(may_contract=True, may_reassociate=reordered)
        context = CompileContext(Options(tile_shape=shape), machine=machine, compiler=rules)
        plan = CUDA.plan(found.scop, found.dependences, context, None, ())
        shares = domain_shares(found.scop)
        request = DeviceRequest(found.scop, plan, CUDA_C, trip_counts(found.scop), 0, shares=shares)
        return device_prediction_of(request, machine, sizes)

    return of


@pytest.mark.parametrize(
    ("body", "parameters", "sizes", "measured"),
    [
        (PRODUCT, PRODUCTS.format("float"), {"n": 1000}, 0.0976),  # gpu-products-h200: 20496 GFLOP/s
        (PRODUCT, PRODUCTS.format("float"), {"n": 2047}, 0.530),
        (PRODUCT, PRODUCTS.format("float"), {"n": 4096}, 4.37),
        (PRODUCT, PRODUCTS.format("double"), {"n": 1000}, 0.139),
        (PRODUCT, PRODUCTS.format("double"), {"n": 2047}, 0.919),
        (PRODUCT, PRODUCTS.format("double"), {"n": 4096}, 6.59),
        (TRIANGULAR, PRODUCTS.format("float"), {"n": 4096}, 2.05),  # trmm
        (LAPLACIAN, GRIDS.format("float"), {"n": 8192, "steps": 100}, 17.6),  # gpu-stencil-times
        (LAPLACIAN_3D, SPACE, {"n": 512, "steps": 100}, 45.4),
        (FDTD, GRIDS.format("float"), {"n": 8192, "steps": 100}, 54.4),
    ],
)
def test_predictions_are_about_what_was_measured(predicted, body, parameters, sizes, measured):
    found = predicted(body, parameters, **sizes)
    statements = found.parts["statements"] / 1e6
    assert measured / 1.5 < statements < measured * 1.5


@pytest.mark.parametrize(("size", "measured"), [(1000, 0.100), (2047, 0.801), (4096, 4.99)])
def test_products_by_instructions_for_matrices(predicted, size, measured):
    """In tiles of 64 by 64 by 16, as they are now."""
    found = predicted(PRODUCT, PRODUCTS.format("double"), reordered=True, n=size)
    assert measured / 1.5 < found.parts["statements"] / 1e6 < measured * 1.5


def test_every_figure_of_what_a_device_does_counts(predicted):
    """Half of a rate takes longer, that of doubles for doubles alone."""
    usual, sizes = Machine(), {"n": 2000}
    slow = {
        each.name: dataclasses.replace(
            usual, throughput=dataclasses.replace(usual.throughput, **{each.name: value // 2})
        )
        for each in dataclasses.fields(usual.throughput)
        if (value := getattr(usual.throughput, each.name)) > 1
    }
    for kind, slower in (("float", {"vectors", "sectors"}), ("double", {"vectors", "sectors", "double"})):
        before = predicted(PRODUCT, PRODUCTS.format(kind), **sizes).device_ns
        found = {
            name
            for name, each in slow.items()
            if predicted(PRODUCT, PRODUCTS.format(kind), each, **sizes).device_ns > before
        }
        assert found == slower


def test_sums_that_are_not_fused_are_two_operations(model):
    found = model(PRODUCT, PRODUCTS.format("float"))

    def computes(**rules: bool) -> float:
        context = CompileContext(Options(), compiler=CompilerRules(**rules))
        plan = CUDA.plan(found.scop, found.dependences, context, None, ())
        return sum(sum(each.statements.values()) for each in plan.tree.costs.values())

    extra = computes(may_contract=False) - computes(may_contract=True)
    assert extra == pytest.approx(2 / Machine().device.single)


def test_a_statement_in_several_kernels_counts_once(predicted):
    """The phases of tiles over time share the instances."""
    one, two = (
        predicted(FDTD, GRIDS.format("float"), shape="hybrid", n=4096, steps=steps) for steps in (64, 128)
    )
    assert two.parts["statements"] == pytest.approx(2 * one.parts["statements"])


@pytest.mark.parametrize(
    ("body", "measured"), [(LAPLACIAN, 22.6), (FDTD, 54.4)], ids=["laplacian", "fdtd"]
)  # gpu-stencil-times
def test_predictions_of_tiles_over_time(predicted, body, measured):
    found = predicted(body, GRIDS.format("float"), shape="hybrid", n=8192, steps=100)
    assert measured / 1.5 < found.parts["statements"] / 1e6 < measured * 1.5


def test_steps_wait_for_operands_where_the_kernel_keeps_them(model):
    """What a tile loads comes from memory, all else that it reads from shared memory."""
    found = model(LAPLACIAN, GRIDS.format("float"))
    usual = Machine()

    def costs(machine: Machine) -> dict[tuple[str, str], float]:
        context = CompileContext(Options(tile_sizes=(4, 16, 32)), machine=machine)
        scop, plan = CUDA.plan_overlapped(found.scop, found.dependences, context, frozenset())
        arrays = {each.name: each.accesses for each in scop.statements}
        (kernel,) = (mark for mark, each in plan.tree.costs.items() if len(each.statements) > 1)
        return {
            (next(one.array.name for one in arrays[name] if one.kind is AccessKind.READ), name): time
            for name, time in plan.tree.costs[kernel].statements.items()
        }

    before = costs(usual)
    assert {array for array, _ in before} == {"u_versions", "u_tile"}
    for part, array in (("device", "u_versions"), ("multiprocessor", "u_tile")):
        figures = getattr(usual, part)
        slow = dataclasses.replace(usual, **{part: dataclasses.replace(figures, latency=2 * figures.latency)})
        assert {key for key, time in costs(slow).items() if time > before[key]} == {
            key for key in before if key[0] == array
        }


def test_waves_of_blocks():
    machine = Machine()
    count, wave = machine.multiprocessor.count, machine.throughput.wave
    assert in_waves(0, 2, machine) == 0
    assert in_waves(2 * count, 2, machine) == 1
    assert in_waves(4 * count, 2, machine) == 1
    assert in_waves(count, 2, machine) == pytest.approx(2 * (wave + (1 - wave) / 2))
    assert in_waves(1, 4, machine) == pytest.approx(4 * count * (wave + (1 - wave) / 4))
    assert in_waves(2 * count + 1, 2, machine) > 1.4
