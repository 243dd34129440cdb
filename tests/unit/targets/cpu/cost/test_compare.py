"""What one thread gains by a mapping, beside the original loops as compilers make them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contexts import context_of

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering
from polybuild.machine.model import Origin
from polybuild.targets.cpu.cost.compare import cost_of_versions
from polybuild.targets.cpu.cost.versions import VersionCosts
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions

PARAMETERS = (
    "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double *restrict x,"
    " double *restrict y, int *restrict k, unsigned char *restrict s"
)
SAME = {
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] + b[i][j];",
    "one loop": "for (int i = 0; i < n; i++) y[i] = 2 * x[i];",
    "a sum that any order gives": "k[0] = 0; for (int i = 0; i < n; i++) k[0] += s[i];",
    "either way": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
        " if (x[i] < y[j]) a[i][j] = a[i - 1][j - 1] + 1; else a[i][j] = a[i][j - 1] + a[i - 1][j];"
    ),
    "exponentials": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { c[i][j] = exp(a[i][j]); y[0] += c[i][j]; }"
    ),
    "selected recurrences": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
        " a[i][j] = x[i] * y[j] + (a[i - 1][j] < a[i][j - 1] ? a[i - 1][j] : a[i][j - 1]);"
    ),
    "elements read before they are overwritten": (
        "for (int t = n; t > 0; t--) for (int i = 0; i < t; i++) x[i] = 0.5 * x[i + 1] + 0.4 * x[i];"
    ),
    "a short window": (
        "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < 9; j++) y[i] += a[0][j] * x[i + j]; }"
    ),
}
BETTER = {
    "transposed": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[j][i] = a[i][j];",
    "columns": "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) c[i][j] = a[i][j] + b[i][j];",
    "registers": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int l = 0; l < n; l++)"
        " c[i][j] += a[i][l] * b[l][j];"
    ),
    "lanes side by side in columns": (
        "for (int j = 0; j < n; j++) { double m = -1; int at = 0;"
        " for (int i = 0; i < n; i++) if (a[i][j] > m) { m = a[i][j]; at = i; } x[j] = m; k[j] = at; }"
    ),
    "quotients that wait, by diagonals in tiles": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
        " a[i][j] = 1 / (1 + 1 / (a[i - 1][j] + a[i][j - 1]));"
    ),
    "sums that wait": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];",
}


def gains(model, body: str) -> bool:
    return costs(model, body).compared().gains_alone


def costs(model, body: str, **figures: float) -> VersionCosts:
    """What loops cost on a machine with ``figures`` that are mapped for a usual one."""
    read, context = model(body, PARAMETERS, top="#include <math.h>"), context_of()
    reductions = find_reductions(read.scop, read.region, Reordering.EXACT)
    mapping, respected = choose_with_reductions(read.scop, read.dependences, reductions, context)
    original = read.scop, read.dependences, reductions.found
    paths = {path.replace("__", "."): each for path, each in figures.items()}
    context = replace(context, machine=context.machine.with_figures(paths, Origin.FILE))
    return cost_of_versions(original, (read.scop, respected, mapping), context)


@pytest.mark.parametrize("name", SAME)
def test_what_the_compiler_does_as_well_is_no_gain(model, name):
    assert not gains(model, SAME[name])


@pytest.mark.parametrize("name", BETTER)
def test_orders_and_registers_are_gains(model, name):
    assert gains(model, BETTER[name])


def test_compilers_divide_for_remainders_in_subscripts_in_each_iteration(model):
    def original(subscript: str) -> float:
        body = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][{subscript}];"
        found = costs(model, body)
        return found.original.at({"n": 200}).arithmetic

    assert original("(j + 1) % n") > 1.5 * original("j")


def test_orders_gain_that_are_faster_in_caches_and_as_fast_beyond(model):
    """Memory is the limit of sums down columns and along rows where a core waits for sums less long."""
    near = {
        "arithmetic__sum_latency": 0.6,
        "arithmetic__access": 0.1,
        "l3__bandwidth": 48.0,
        "memory__bandwidth": 4.0,
        "memory__pages": 4096,
        "memory__tracked": 1000,
    }
    found = costs(
        model, "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) y[j] += a[i][j] * x[i];", **near
    )
    assert found.gaining is None
    assert found.gain_warm
    assert not costs(model, SAME["rows"], **near).gain_warm


def test_vectors_of_register_tiles_share_loads_with_rows_alone(model):
    """Each result of a window needs elements of its own; a product loads one row of ``b`` for all rows."""
    window = "for (int j = 0; j < 7; j++) for (int l = 0; l < 7; l++) c[i][k] += b[j][l] * a[i + j][k + l];"
    product = "for (int j = 0; j < n; j++) c[i][k] += a[i][j] * b[j][k];"

    def loads(inside: str) -> float:
        found = costs(
            model, f"for (int i = 0; i < n - 8; i++) for (int k = 0; k < n - 8; k++) {{ {inside} }}"
        )
        tiles = next(
            each.one_thread
            for each in found.candidates
            if any(loop.registers for body in each.one_thread.loops.bodies.values() for loop in body.around)
        )
        parts = tiles.at({"n": 1008})
        return parts.accesses / parts.arithmetic

    assert loads(window) > 1.5 * loads(product)
