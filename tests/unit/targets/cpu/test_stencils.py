"""Which nests get the tiles of a stencil, and how large they are."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest
from contexts import context_of

from polybuild.machine.model import Origin
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, is_mark, member
from polybuild.schedule.legality import check_schedule
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.mapping import map_to_cpu
from polybuild.targets.cpu.schedule_choice import orders
from polybuild.targets.cpu.stencils import order_of_stencil

HEAT = """
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) A[i][j] = B[i][j];
  }"""
RING = """
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        B[i][j] = A[(i + n - 1) % n][j] + A[(i + 1) % n][j] + A[i][(j + n - 1) % n] + A[i][(j + 1) % n];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i][j] = B[i][j];
  }"""
PLANE = "int n, int steps, double A[restrict n][n], double B[restrict n][n]"
LINE = "for (int t = 0; t < steps; t++) for (int i = 1; i < n - 1; i++) A[(t + 1) % 2][i] = A[t % 2][i - 1];"
# nothing travels along the first dimension of space
PARALLEL_IN_SPACE = """
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n - i; j++) {
      char p[5];
      for (int k = 0; k < 5; k++) p[k] = A[i][j - 1][2 * k + 1];
      if (C[i][j - 1] < i) A[n - i][j - 1][i] = 6 * i;
      else p[0] = C[n - i][j];
    }"""
PARALLEL = "int n, char A[restrict 14][14][14], char C[restrict n + 1][n + 1]"
LINES = "int n, int steps, double A[restrict 2][n]"
# one loop of stages, the second of which reaches for its neighbours: the outer loop carries nothing
STAGES = """
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < n; x++) B[y][x] = A[y][x];
    for (int x = 1; x < n - 1; x++) C[y][x] = B[y][x - 1] + B[y][x] + B[y][x + 1];
  }"""
PICTURES = "int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n]"
# all goes along one diagonal, and others are parallel to it
POLYNOMIALS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i + j] += a[i] * b[j];"
FACTORS = "int n, double *restrict a, double *restrict b, double *restrict c"
# what travels crosses all of the grid in each step
MIRROR = """
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < 100000; i++) A[1][i] = A[0][99999 - i];
    for (int i = 0; i < 100000; i++) A[0][i] = A[1][i];
  }"""


def sizes(found, **options):
    known = context_of(**options)
    mapping = map_to_cpu(found.scop, found.dependences, found.scop.schedule, known)
    check_schedule(mapping.schedule, found.dependences, found.scop.domain)
    return mapping.tile_sizes


def test_tiles_of_a_plane_fit_in_the_second_level_cache(model):
    found = model(HEAT, PLANE)
    small, large = (sizes(found, l2_size=each * 2**18)[0] for each in (1, 8))
    assert small[0] < large[0]
    for chosen, cache in ((small, 2**18), (large, 2**21)):
        assert 2 * 8 * chosen[1] * chosen[2] <= cache  # two arrays of doubles


def test_halves_of_a_periodic_plane_count_twice(model):
    found = model(RING, PLANE)
    height, spread, row = sizes(found, l2_size=2**21)[0]
    assert 2 * 2 * (spread * row) * 2 * 8 <= 2**21
    assert row < sizes(model(HEAT, PLANE), l2_size=2**21)[0][2]
    assert height >= 8


def test_higher_tiles_of_a_line_for_a_larger_cache(model):
    found = model(LINE, LINES)
    assert sizes(found, l1_size=2**12)[0] < sizes(found, l1_size=2**15)[0]


@pytest.mark.parametrize(
    "body",
    [
        """for (int t = 0; t < steps; t++) {
          for (int i = 2; i < n - 2; i++) B[i] = A[i - 2] + A[i] + A[i + 2];
          for (int i = 2; i < n - 2; i++) A[i] = B[i];
        }""",
        """for (int t = 0; t < steps; t += 2) {
          for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i] + A[i + 1];
          for (int i = 1; i < n - 1; i++) A[i] = B[i - 1] + B[i] + B[i + 1];
        }""",
    ],
)
def test_lines_whose_diamonds_isl_would_take_long_for_get_hexagons(body, model):
    found = model(body, "int steps, int n, double A[restrict n], double B[restrict n]")
    mapping = map_to_cpu(found.scop, found.dependences, found.scop.schedule, context_of())
    assert any("hybrid tiles" in each for each in mapping.remarks)


def test_given_sizes_are_taken_and_the_last_repeated(model):
    found = model(HEAT, PLANE)
    assert sizes(found, tile_sizes=(6, 30)) == ((6, 30, 30),)


@pytest.mark.parametrize("shape", ["diamond", "diamond-2d", "hexagonal", "split", "hybrid"])
@pytest.mark.parametrize("given", [(1,), (3, 5, 2)])
def test_any_sizes_give_legal_tiles(shape, given, model):
    assert sizes(model(HEAT, PLANE), tile_shape=shape, tile_sizes=given)


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[j][i];", PLANE),
        (HEAT.replace("n - 1", "30"), PLANE.replace("[n]", "[32]").replace("restrict n", "restrict 32")),
        ("for (int t = 0; t < steps; t++) for (int i = 1; i < n; i++) A[0][i] = A[0][i - 1];", LINES),
        (PARALLEL_IN_SPACE, PARALLEL),  # found by the fuzzer
        (STAGES, PICTURES),
        (POLYNOMIALS, FACTORS),
    ],
)
def test_nests_that_are_left_to_rectangles(body, parameters, model):
    found = model(body, parameters)
    assert not order_of_stencil(found.scop, found.dependences, context_of())


NORM = "s[0] = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s[0] += A[i][j];"
WITH_NORM = f"{PLANE}, int k, double s[restrict 2]"


@pytest.mark.parametrize(
    "body",
    [
        f"for (int b = 0; b < n; b++) {{ {HEAT.replace('steps', '10')} {NORM} }}",
        f"for (int b = 0; b < n; b++) {{ {HEAT.replace('steps', 'k')} {NORM} }}",
        f"{HEAT.rstrip()[:-1]} if (t % 10 == 0) {{ {NORM} }} }}",
        HEAT.replace("A[i][j + 1];", f"A[i][j + 1]; if (t % 10 == 0) {{ {NORM} }}"),
    ],
)
def test_steps_between_norms_get_tiles_over_time(body, model):
    found = model(body, WITH_NORM)
    assert order_of_stencil(found.scop, found.dependences, context_of())


def test_loops_in_parallel_ones_are_left_to_other_orders(model):
    body = f"for (int b = 0; b < n; b++) {{ {HEAT.replace('A[', 'C[b][').replace('B[', 'D[b][')} }}"
    found = model(body, "int n, int steps, double C[restrict n][n][n], double D[restrict n][n][n]")
    assert not order_of_stencil(found.scop, found.dependences, context_of())


def test_blocks_of_steps_do_not_make_tiles_slower(model):
    """What comes after each block runs as often as there are blocks: tiles are counted by themselves."""
    alone = model(HEAT, PLANE)
    with_norm = model(f"{HEAT.rstrip()[:-1]} if (t % 20 == 0) {{ {NORM} }} }}", WITH_NORM)
    traffic = []
    for found in (alone, with_norm):
        mapping = choose_mapping(found.scop, found.dependences, context_of())
        assert mapping.has_strips_over_time
        cost = cost_of_mapping("tiles", found.scop, found.dependences, mapping, context_of())
        traffic.append(cost.one_thread.at({"n": 1000, "steps": 1000}).caches)
    assert traffic[1] < 1.5 * traffic[0]


def test_sources_and_receivers_leave_tiles_as_large_and_as_fast(model):
    points = "B[x][y] += w[t]; r[t] = B[y][x];"
    body = HEAT.replace("A[i][j + 1];", f"A[i][j + 1]; {points}", 1)
    parameters = f"{PLANE}, int x, int y, double *restrict w, double *restrict r"
    found = [model(HEAT, PLANE), model(body, parameters)]
    mappings = [map_to_cpu(each.scop, each.dependences, each.scop.schedule, context_of()) for each in found]
    assert mappings[0].tile_sizes == mappings[1].tile_sizes
    alone, both = (
        cost_of_mapping("tiles", each.scop, each.dependences, mapping, context_of()).one_thread.at(
            {"n": 1000, "steps": 1000, "x": 500, "y": 500}
        )
        for each, mapping in zip(found, mappings, strict=True)
    )
    assert both.caches < 1.2 * alone.caches


def test_rectangles_where_they_are_asked_for(model):
    found = model(HEAT, PLANE)
    assert order_of_stencil(found.scop, found.dependences, context_of())
    assert not order_of_stencil(found.scop, found.dependences, context_of(tile_shape="rectangular"))
    assert not order_of_stencil(found.scop, found.dependences, context_of(tile=False))


def test_steps_with_memory_of_their_own_get_no_tiles_over_time(model):
    step = "for (int i = 1; i < n - 1; i++) A[t + 1][i] = A[t][i - 1] + A[t][i + 1];"
    found = model(f"for (int t = 0; t < steps; t++) {step}", "int n, int steps, double A[restrict n][n]")
    assert not order_of_stencil(found.scop, found.dependences, context_of())


@pytest.mark.parametrize("steps", [1, 20])  # of two sweeps each
def test_a_few_steps_share_too_little(model, steps):
    found = model(HEAT.replace("t < steps", f"t < {steps}"), PLANE)
    order = order_of_stencil(found.scop, found.dependences, context_of())
    assert (order is not None) is (steps > 1)


def test_rows_of_bytes_are_as_long_as_others(model):
    rows = {kind: sizes(model(HEAT, PLANE.replace("double", kind)))[0][-1] for kind in ("double", "char")}
    assert rows["char"] == 8 * rows["double"]


@pytest.mark.parametrize(
    ("element", "bytes_of_rows", "width"),
    [("double", 64, 8), ("float", 64, 16), ("int", 64, 0), ("double", 32, 0)],
)
def test_rows_of_tiles_run_in_the_vectors_that_are_fastest(model, element, bytes_of_rows, width):
    """Where that are others than the compiler's: for numbers of one type."""
    read, context = model(HEAT, PLANE.replace("double", element)), context_of(tile_sizes=(4, 16, 64))
    figures = {"vector.bytes": 64, "vector.rows": bytes_of_rows}
    context = replace(context, machine=context.machine.with_figures(figures, Origin.FILE))
    mapping = map_to_cpu(read.scop, read.dependences, read.scop.schedule, context)
    assert mapping.simd_loops
    assert {each.width for each in mapping.directives.values() if each.simd} == {width}


WITH_VARIABLE = """
  for (int t = 0; t < steps; t++) {
    double s;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        s = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
        B[i][j] = s / (1 + s * s);
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) A[i][j] = B[i][j];
  }"""


def shared(found, processors, **options):
    """How many loops over tiles the threads of so many processors share, and the sizes of the tiles."""
    context = context_of(**options)
    figures = {"threads.processors": processors, "threads.cores": processors}
    context = replace(context, machine=context.machine.with_figures(figures, Origin.FILE))
    mapping = choose_mapping(found.scop, found.dependences, context)
    check_schedule(mapping.schedule, found.dependences, found.scop.domain)
    return [each.shared for each in mapping.directives.values() if each.parallel], mapping.tile_sizes


def test_tiles_start_together_along_two_dimensions_where_processors_are_many(model):
    """A thousand rows are 20 to 50 diamonds, and some hundred along both dimensions."""
    found = model(HEAT, PLANE)
    (few, along_one), (many, along_both) = shared(found, 4), shared(found, 192)
    assert (few, many) == ([1], [2])
    assert along_one[0][1] < along_one[0][2]
    assert along_both[0][1] == along_both[0][2]


def test_threads_that_share_two_loops_have_variables_of_their_own_in_each_iteration(model):
    found = model(WITH_VARIABLE, PLANE)
    mapping = map_to_cpu(
        found.scop,
        found.dependences,
        found.scop.schedule,
        context_of(tile_shape="diamond-2d", tile_sizes=(4, 8)),
    )
    check_schedule(mapping.schedule, found.dependences, found.scop.domain)
    (directive,) = (each for each in mapping.directives.values() if each.parallel)
    assert directive.shared == 2
    assert "s" in {each.name for each in directive.private}


SET = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { A[i][j] = i * j % 7; B[i][j] = 0; }"


@pytest.mark.parametrize("shape", ["auto", "diamond", "hexagonal", "hybrid"])
def test_threads_touch_first_what_their_tiles_work_on(shape, model):
    found = model(SET + HEAT, PLANE)
    known = context_of(tile_shape=shape, tile_sizes=(4, 8, 16))
    (order,) = orders(found.scop, found.dependences, known)
    mapping = map_to_cpu(found.scop, found.dependences, order.schedule, known)
    rows, threads = 242, 2
    owner = _shares(range(rows), threads)
    steps = isl.Set(f"[n, steps] -> {{ : n = {rows} and steps = 12 }}")
    (setting, _), *waves = _parallel_loops(mapping.schedule, steps)
    assert setting.startswith("S0")
    near = [
        thread == owner[row]
        for _, tiles in waves
        for wave in tiles.values()
        for number, thread in zip(sorted(wave), _shares(wave, threads), strict=True)
        for row in wave[number]
    ]
    assert len(near) > 12 * rows / 2
    assert sum(near) > 0.9 * len(near)


def _shares(items, threads):
    """The thread that gets each of ``items`` where OpenMP shares them out in equal parts."""
    return [number * threads // len(items) for number in range(len(items))]


def _parallel_loops(schedule, sizes):
    """The statements of each parallel loop, with the rows that its iterations set, by what is around it."""
    for mark in descendants(schedule.get_root()):
        if is_mark(mark, MarkKind.PARALLEL):
            band = mark.child(0)
            loop = isl.UnionMap.from_multi_union_pw_aff(member(band, 0))
            places = band.get_prefix_schedule_union_map().flat_range_product(loop)
            places = places.intersect_domain(band.get_domain()).intersect_params(sizes)
            found = {}
            for each in maps_of(places):
                around = each.dim(isl.dim_type.in_) - 1
                points = []
                rows = each.project_out(isl.dim_type.in_, around, 1).wrap()
                rows.project_out(isl.dim_type.param, 0, 2).foreach_point(points.append)
                for point in points:
                    dims = range(around - 1, rows.dim(isl.dim_type.set))
                    row, *wave, tile = (
                        point.get_coordinate_val(isl.dim_type.set, dim).to_python() for dim in dims
                    )
                    found.setdefault(tuple(wave), {}).setdefault(tile, []).append(row)
            yield maps_of(places)[0].get_tuple_name(isl.dim_type.in_), found
