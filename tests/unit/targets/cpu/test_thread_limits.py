"""How many threads loops are worth, by the work they have each time they run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from contexts import context_of

from polybuild.machine.model import Machine, Origin
from polybuild.poly.relations import parameter_set
from polybuild.targets.cost import Cost
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.cost.versions import CandidateCost, VersionCosts
from polybuild.targets.cpu.thread_limits import limit_threads

PARAMETERS = "int steps, int n, int m, double A[restrict n][m], double B[restrict n][m]"
ALL = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
SCALE = f"{ALL} A[i][j] = 2 * A[i][j];"
INSIDE = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
STEPS = f"""
for (int t = 0; t < steps; t++) {{
  {INSIDE} A[i][j] = B[i][j] + B[1][1];
  {INSIDE} B[i][j] = A[i][j] + A[1][1];
}}"""
SWEEPS = f"""
for (int t = 0; t < steps; t++)
  {INSIDE} A[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j];"""


@pytest.fixture
def limits(model):
    """The directives of the parallel loops of a region."""

    def make(body, **options):
        found = model(body, PARAMETERS)
        mapping = choose_mapping(found.scop, found.dependences, context_of(**options))
        directives = limit_threads(found.scop, mapping, Machine()).directives.values()
        return [each for each in directives if each.parallel]

    return make


def work(directive, values):
    """The work of a loop for ``values`` of the parameters."""
    total = 0
    for counts in directive.limits.work:
        instances = 1
        for each in counts:
            here = each.intersect_params(parameter_set(f"[n, m] -> {{ : {values} }}"))
            instances *= here.max_val().to_python()
        total += instances
    return total


def test_the_work_of_a_nest_is_all_of_it(limits):
    (directive,) = limits(SCALE)
    assert work(directive, "n = 7 and m = 5") == 35
    assert not directive.limits.entered_for


def test_vectors_need_more_work(limits):
    (vectors,), (numbers,) = limits(SCALE), limits(SCALE, simd=False)
    assert vectors.limits.minimum > numbers.limits.minimum > 0


@dataclass(frozen=True)
class Slow:
    """A version that takes so many nanoseconds for each of n * m elements."""

    nanoseconds: float

    def at(self, values):
        return Cost(arithmetic=self.nanoseconds * values["n"] * values["m"])


@pytest.mark.parametrize("nanoseconds", [0.1, 40.0])
def test_threads_pay_from_less_slow_work_on(model, nanoseconds):
    found = model(SCALE, PARAMETERS)
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    usual = {"steps": 1000, "n": 1000, "m": 1000}
    version = CandidateCost("new", Slow(nanoseconds), Slow(nanoseconds))
    costs = VersionCosts(Slow(nanoseconds), version, (version,), usual)
    machine = Machine()
    limited = limit_threads(found.scop, mapping, machine, costs)
    (directive,) = [each for each in limited.directives.values() if each.parallel]
    times_of_start = directive.limits.minimum * nanoseconds / machine.threads.start
    assert times_of_start == pytest.approx(5, rel=0.05)


def test_one_thread_enters_loops_of_fewer_slow_instances(model):
    """What it could run instead are the original loops: what these take decides, or what it gains."""
    found = model(STEPS, PARAMETERS)
    mapping = choose_mapping(found.scop, found.dependences, context_of(tile=False))

    def entered(nanoseconds, new=None):
        slow = Slow(new or nanoseconds)
        version = CandidateCost("new", slow, slow)
        usual = {"steps": 1000, "n": 1000, "m": 1000}
        costs = VersionCosts(Slow(nanoseconds), version, (version,), usual)
        limited = limit_threads(found.scop, mapping, Machine(), costs).directives.values()
        (times,) = {each.limits.entered_for for each in limited if each.parallel}
        return times

    assert entered(0.1) == pytest.approx(40 * entered(4.0), rel=0.1)
    # what takes an eighth of the time makes up for what it takes to enter far earlier
    times, limit = Machine().threads.work * entered(4.0, new=0.5) / entered(4.0), 4.0 / (4.0 - 0.5)
    assert limit < times < 1.2 * limit
    assert entered(4.0, new=3.9) == entered(4.0)


def test_a_loop_in_others_has_the_work_of_one_time(limits):
    found = limits(STEPS)
    assert found
    for each in found:
        assert work(each, "n = 12 and m = 7") == 50
        assert each.limits.entered_for > 0


def test_the_work_of_wavefronts_is_not_known(limits):
    (directive,) = limits(SWEEPS, tile_sizes=(32, 32, 32))
    assert directive.limits.work == ()


COLUMNS_ALONE = """
for (int k = 0; k < m; k++) {
  for (int i = 1; i < n; i++) A[i][k] += A[i - 1][k] * B[i][k];
  for (int i = 1; i < n - 1; i++)
    for (int j = k + 1; j < m; j++) A[i][j] -= A[i][k] * A[0][j] * A[n - 1][j];
  A[0][0] += A[n - 1][m - 1];
}"""


def test_lines_that_one_thread_writes_between_shared_loops_go_there_and_back(model):
    found, together = model(COLUMNS_ALONE, PARAMETERS), {}
    for transfer in (0.0, 60.0):
        machine = Machine().with_figures({"threads.transfer": transfer}, Origin.OPTION)
        context = replace(context_of(tile=False), machine=machine)
        mapping = choose_mapping(found.scop, found.dependences, context)
        cost = cost_of_mapping("new", found.scop, found.dependences, mapping, context)
        together[transfer] = cost.all_threads.at({"n": 200, "m": 300}).threads
    assert together[60.0] - together[0.0] == pytest.approx(2 * 200 * 300 * 60, rel=0.1)


@dataclass(frozen=True)
class Shared:
    """A version for threads that takes half the time, and so many nanoseconds for each row."""

    nanoseconds: float

    def at(self, values):
        return Slow(50.0).at(values) + Cost(threads=1000 * self.nanoseconds * values["n"])


def test_a_loop_in_others_is_shared_where_all_of_them_gain(model):
    """Rows of n elements, as the whole says: what is half at n = m = 500 for one, at 2000 for the other."""
    found = model(STEPS, PARAMETERS)
    mapping = choose_mapping(found.scop, found.dependences, context_of(tile=False))
    usual = {"steps": 1000, "n": 1000, "m": 1000}

    def minimum(nanoseconds):
        version = CandidateCost("new", Slow(100.0), Shared(nanoseconds))
        costs = VersionCosts(Slow(1000.0), version, (version,), usual)
        limited = limit_threads(found.scop, mapping, Machine(), costs).directives.values()
        return max(each.limits.minimum for each in limited if each.parallel)

    always, some, few, never = map(minimum, (0.0, 15.0, 60.0, 1e6))
    assert always < some < few < never
    # a gain of a tenth asks for 0.1 * m > 1.1 * (0.05 * m + nanoseconds): m = 366, between 250 and 500
    assert some == pytest.approx(250 * 500, rel=0.05)
    assert few == pytest.approx(1000 * 4000, rel=0.05)
    assert never == pytest.approx(2 * 4000 * 4000, rel=0.05)
