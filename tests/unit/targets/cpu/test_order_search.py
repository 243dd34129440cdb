"""The search takes the order, and what is made of it, that is predicted to be fastest."""

from __future__ import annotations

import math
from dataclasses import replace

import islpy as isl
import pytest
from contexts import context_of

from polybuild.effort import CERTAIN_ORDER
from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import Strategy
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.targets.cpu import search
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.cost.compilers_lanes import nowhere
from polybuild.targets.cpu.mapping import map_to_cpu
from polybuild.targets.cpu.schedule_choice import ALONG_ROWS, ORIGINAL, orders
from polybuild.targets.cpu.search import choose_schedule

MATRICES = (
    "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double *restrict x"
)
PRODUCT = """
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""
COLUMNS = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) c[i][j] = a[i][j] + b[i][j];"
TWICE = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += b[i][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] += a[i][j];"""
# every column is scaled, then taken from all later ones: only with the outer loop alone are rows walked
ORTHOGONAL = """
for (int k = 0; k < n; k++) {
  for (int i = 0; i < n; i++) b[i][k] = a[i][k] / x[k];
  for (int j = k + 1; j < n; j++) {
    c[k][j] = 0;
    for (int i = 0; i < n; i++) c[k][j] += b[i][k] * a[i][j];
    for (int i = 0; i < n; i++) a[i][j] -= b[i][k] * c[k][j];
  }
}"""
SERIAL = """
for (int i = 1; i < n; i++)
  for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i - 1][j - 1];"""


ELIMINATE = """
for (int k = 0; k < n; k++)
  for (int i = k + 1; i < n; i++) {
    a[i][k] /= a[k][k];
    for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j];
  }"""
# each element of the upper triangle is met once, columns first
UPPER = """
for (int j = n - 1; j >= 0; j--) {
  x[j] /= a[j][j];
  for (int i = 0; i < j; i++) x[i] -= a[i][j] * x[j];
}"""


def all_threads(found, schedule, sizes):
    """Nanoseconds of an order as it is mapped."""
    context = context_of()
    mapping = map_to_cpu(found.scop, found.dependences, schedule, context)
    return cost_of_mapping("", found.scop, found.dependences, mapping, context).all_threads.at(sizes).total


@pytest.fixture
def times(model):
    """The costs of one region under several strategies."""

    def make(body, *strategies, n=1000):
        found = model(body, MATRICES)
        scheduler = PlutoScheduler.of(found.scop, found.dependences)
        return [all_threads(found, scheduler.schedule(each), {"n": n}) for each in strategies]

    return make


def test_statements_that_cannot_run_cost_next_to_nothing(times):
    never = " for (int i = 0; i > n / 2; i -= 3) x[0] += 1;"
    assert times(TWICE + never, Strategy(Cut.ALL)) == pytest.approx(times(TWICE, Strategy(Cut.ALL)), rel=0.01)


def test_fused_loops_that_read_what_was_written_are_faster(times):
    apart, fused = times(TWICE, Strategy(Cut.ALL), Strategy(Cut.SMART))
    assert fused < 0.95 * apart


def test_walking_rows_beats_walking_columns(model):
    found = model(COLUMNS, MATRICES)

    def nested(outer, inner):
        schedule = isl.Schedule.from_domain(found.scop.domain)
        for each in (inner, outer):
            partial = isl.MultiUnionPwAff(f"[n] -> [{{ S0[j, i] -> [({each})] }}]")
            schedule = schedule.insert_partial_schedule(partial)
        return all_threads(found, schedule, {"n": 1000})

    assert nested("i", "j") < 0.5 * nested("j", "i")


@pytest.mark.parametrize("body", [PRODUCT, SERIAL, COLUMNS])
def test_where_nothing_is_gained_the_order_is_isls(body, model):
    found = model(body, MATRICES)
    auto, isls = (
        choose_schedule(found.scop, found.dependences, context_of(schedule=each)) for each in ("auto", "isl")
    )
    assert auto.get_map().is_equal(isls.get_map())


def test_the_model_takes_the_order_that_walks_rows(model):
    found = model(ORTHOGONAL, MATRICES)
    auto, isls = (
        choose_schedule(found.scop, found.dependences, context_of(schedule=each)) for each in ("auto", "isl")
    )
    assert not auto.get_map().is_equal(isls.get_map())


def processors(number, vector=64):
    """A machine with wide vectors, of so many bytes, and so many processors and cores."""
    context = context_of()
    machine = context.machine
    threads = replace(machine.threads, processors=number, cores=number)
    vectors = replace(machine.vector, bytes=vector, registers=32)
    return replace(context, machine=replace(machine, threads=threads, vector=vectors))


@pytest.mark.parametrize(("number", "alone"), [(2, True), (64, False)])
def test_register_tiles_on_one_thread_beat_fronts_of_few_threads(number, alone, model):
    found = model(ELIMINATE, MATRICES)
    mapping = choose_mapping(found.scop, found.dependences, processors(number, vector=32))
    assert bool(mapping.registers) == alone
    assert bool(mapping.parallel_loops) != alone
    assert any(("on one thread" in each.name) != alone for each in mapping.rejected)


TAPS = """
for (int y = 0; y < n; y++)
  for (int x = 0; x < n; x++) q[y][x] = 0;
for (int y = 0; y < n; y++)
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int x = 0; x < n; x++) q[y][x] += w[i][j] * p[y + i][x + j];"""


def test_windows_are_no_faster_in_register_tiles(model):
    """Each result needs elements of its own for each tap; rows that keep results store them once."""
    pictures = "int n, float w[restrict 6][6], float p[restrict n + 6][n + 6], float q[restrict n][n]"
    found = model(TAPS, pictures)
    mapping = choose_mapping(found.scop, found.dependences, processors(2))
    assert not mapping.registers
    (tiles,) = (each for each in mapping.rejected if each.name == "isl's order")
    chosen = cost_of_mapping("", found.scop, found.dependences, mapping, processors(2))
    assert chosen.one_thread.at({"n": 1000}).total < tiles.one_thread.at({"n": 1000}).total


SUMS_OF_ROWS = """
for (int i = 0; i < n; i++) {
  x[i] = y[i] = 0;
  for (int j = 0; j < n; j++) {
    x[i] += a[i][j] * z[j];
    y[i] += x[i] * b[i][j];
  }
}"""


def test_orders_are_priced_by_what_the_compiler_knows_of_aliases(model):
    """Sums in elements go to memory and back each time where others that are written may be the same."""
    parameters = "int n, double a[restrict n][n], double b[restrict n][n], double *x, double *y, double *z"
    found = model(SUMS_OF_ROWS, parameters)

    def in_rows(aliases):
        context = context_of(simd=False, tile=False)
        mapping = choose_mapping(found.scop, found.dependences, context, aliases=aliases)
        plain = cost_of_mapping("", found.scop, found.dependences, mapping, context, aliases=aliases)
        return plain.one_thread.at({"n": 100}).parts["waiting"]

    assert in_rows(lambda *_: True) > 2 * in_rows(nowhere)


def test_tiles_go_where_columns_meet_their_lines_again(model):
    found = model(UPPER, MATRICES)
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    assert mapping.tile_sizes
    assert any("without tiles" in each.name for each in mapping.rejected)


def test_nothing_that_was_rejected_is_certainly_faster_in_the_mean(model):
    found = model(ORTHOGONAL, MATRICES)
    context = context_of()
    mapping = choose_mapping(found.scop, found.dependences, context)
    chosen = cost_of_mapping("", found.scop, found.dependences, mapping, context)
    means = []
    for each in mapping.rejected:
        pairs = ((chosen.one_thread, each.one_thread), (chosen.all_threads, each.all_threads))
        ratios = [
            one.at({"n": n}).total / other.at({"n": n}).total for one, other in pairs for n in (100, 1000)
        ]
        means.append(math.prod(ratios) ** (1 / len(ratios)))
    assert max(means) < CERTAIN_ORDER
    assert min(means) < 1


def test_orders_that_the_user_asks_for_are_mapped_alone(model):
    found = model(ELIMINATE, MATRICES)
    mapping = choose_mapping(found.scop, found.dependences, context_of(schedule="isl"))
    assert mapping.name == "isl's order"
    assert not mapping.rejected


@pytest.fixture
def mapped(monkeypatch):
    """The names of the candidates that are mapped."""
    names = []
    one = search._Trials.mapped

    def recorded(trials, order, context, name):
        names.append(name)
        return one(trials, order, context, name)

    monkeypatch.setattr(search._Trials, "mapped", recorded)
    return names


def test_register_tiles_are_not_built_again_for_other_orders_of_their_loops(mapped, monkeypatch, model):
    found = model(PRODUCT, MATRICES)
    mapping = choose_mapping(found.scop, found.dependences, processors(2))
    assert mapping.registers
    assert ALONG_ROWS not in mapped
    monkeypatch.setattr(search, "_permutes_register_tiles", lambda *_: False)
    again = choose_mapping(found.scop, found.dependences, processors(2))
    assert ALONG_ROWS in mapped
    assert (again.name, again.tile_sizes) == (mapping.name, mapping.tile_sizes)


def test_what_updates_nothing_is_not_mapped_in_register_tiles(mapped, model):
    found = model(SERIAL, MATRICES)
    choose_mapping(found.scop, found.dependences, processors(2))
    assert mapped
    assert not any("in register tiles" in each for each in mapped)
    found = model(ELIMINATE, MATRICES)
    choose_mapping(found.scop, found.dependences, processors(2))
    assert any("in register tiles" in each for each in mapped)


def test_tiles_that_gain_nothing_are_left_out(model):
    """Each element is met once: tiles only begin more rows, which larger matrices show."""
    update = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i][j] += c[0][i] * x[j];"
    found = model(update, MATRICES)
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    assert mapping.name == "isl's order, without tiles"
    assert not mapping.tile_sizes


def test_last_iterations_that_fill_no_vector_are_counted_in_tiles_too(model):
    """Tiles of 32 are whole vectors, but not the last one."""
    found = model(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = a[i][j] * c[0][j];", MATRICES
    )
    context = context_of(tile_sizes=(16, 32))
    schedule = compute_schedule(found.scop, found.dependences, Fusion.MIN)
    mapping = map_to_cpu(found.scop, found.dependences, schedule, context)
    assert mapping.tile_sizes
    cost = cost_of_mapping("", found.scop, found.dependences, mapping, context).one_thread
    whole, more = (cost.at({"n": n}).arithmetic / n**2 for n in (96, 97))
    assert more > whole


# isl has a loop for each statement; the program, and what threads gain by, has one for all
FIELDS = """
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    a[i][j] = b[i][j] * c[i][j];
    d[i][j] = a[i][j] + e[i][j];
    e[i][j] = d[i][j] / a[i][j];
    b[i][j] = e[i][j] - d[i][j];
  }"""
MORE = f"{MATRICES}, double d[restrict n][n], double e[restrict n][n]"
SEPARATE = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[i][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = d[i][j] * e[i][j];"""


@pytest.mark.parametrize(("body", "wanted"), [(FIELDS, True), (SEPARATE, False)])
def test_the_original_order_is_tried_where_isl_takes_statements_apart(model, body, wanted):
    found = model(body, MORE)
    names = [each.name for each in orders(found.scop, found.dependences, context_of())]
    assert (ORIGINAL in names) == wanted


def test_statements_of_a_loop_that_come_to_memory_again_stay_together(model):
    found = model(FIELDS, MORE)
    schedule = choose_schedule(found.scop, found.dependences, context_of())
    innermost = [
        each
        for each in descendants(schedule.get_root())
        if is_band(each) and not any(map(is_band, descendants(each.child(0))))
    ]
    assert len(innermost) == 1
