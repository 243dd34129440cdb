"""A short run of the fuzzer, and tests of its parts."""

from __future__ import annotations

import dataclasses

import pytest

from .__main__ import run_batch, summary
from .abstractions import WAYS
from .chains import chain
from .generate import generate
from .harness import BACKWARDS, PRIVATES, THREADS, UPDATES, Harness
from .pieces import pieces
from .privates import private_values
from .program import Array as Variable
from .program import Bin, Do, Loop, Num, Program, Read, Size, Store, Var, walk
from .reduce import reduce
from .steps import stencils, steps
from .text import batch_text, header_text
from .updates import updates

I = Var("i")  # noqa: E741 -- a loop counter
N = Var("n")
A = Variable("A", "A", "unsigned", "pointer", ("",))


def loop(*body, start=Num(0), bound=N):  # noqa: B008 -- immutable
    return Loop("i", "int", False, start, "<", bound, 1, body)


def sum_up(step):
    """``A[i] = A[i - step] * 3 + 1`` over a pointer."""
    value = Bin("+", Bin("*", Read("A", (Bin("-", I, Num(step)),)), Num(3)), Num(1))
    body = loop(Do(Store(Read("A", (I,)), "=", value)), start=Num(1))
    return Program("k", (Size("n", "int"),), (A,), ((body,),), ((0,), (1,), (20,)))


@pytest.mark.parametrize("first", [0, 12])
def test_random_programs(first, tmp_path):
    outcome = run_batch(tmp_path / "batch", 2026, first, 12)
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed > outcome.regions // 3, summary(outcome, 0)


def test_random_chains_of_temporaries(tmp_path):
    programs = [chain(2026, index) for index in range(8)]
    settings = [{"min-work": "0"}, {"min-work": "0", "contract-arrays": "on", "tile-sizes": "3,2"}]
    outcome = Harness(tmp_path / "chains").check(programs, settings, [BACKWARDS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed == outcome.regions


def test_random_private_values(tmp_path):
    programs = [private_values(2026, index) for index in range(8)]
    outcome = Harness(tmp_path / "privates").check(programs, [PRIVATES[1]], [BACKWARDS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed > outcome.regions // 2


def test_random_subscripts_in_pieces(tmp_path):
    programs = [pieces(2026, index) for index in range(6)]
    outcome = Harness(tmp_path / "pieces").check(programs, [{"min-work": "0"}], [BACKWARDS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed == outcome.regions


def test_random_updates_under_conditions(tmp_path):
    programs = [updates(2026, index) for index in range(8)]
    assert {each.header for each in programs} == {False, True}
    outcome = Harness(tmp_path / "updates").check(programs, [UPDATES[0], UPDATES[-1]], [BACKWARDS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed == outcome.regions


def test_what_stands_in_headers_is_computed_as_before(tmp_path):
    grids = tuple(Variable(name, name, "int", "parameter", ("n", "n"), restrict=True) for name in "AB")
    places = ((I, Var("j")), (Bin("-", I, Num(1)), Bin("+", Var("j"), Num(2))))
    value = Bin("+", Bin("*", Read("A", places[1]), Num(3)), Read("A", places[0]))
    row = Loop("j", "int", False, Num(0), "<", N, 1, (Do(Store(Read("B", places[0]), "+=", value)),))
    named = [
        Program(f"k{number}", (Size("n", "int"),), grids, ((loop(row),),), ((0,), (20,)), abstractions=(way,))
        for number, way in enumerate(WAYS)
    ]
    texts = [header_text([each]) for each in named]
    assert all(each.name in text for each, text in zip(named, texts, strict=True))
    outcome = Harness(tmp_path / "named").check(named, [{"min-work": "0"}], [THREADS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed == outcome.regions


def test_random_steps_over_time(tmp_path):
    programs = [steps(2026, index) for index in range(6)]
    settings = [{"min-work": "0", "tile-sizes": "3,12,8"}]
    outcome = Harness(tmp_path / "steps").check(programs, settings, [BACKWARDS])
    assert not outcome.failures, [(each.kind, each.program.name, each.message) for each in outcome.failures]
    assert outcome.transformed == outcome.regions


def test_programs_are_free_of_undefined_behaviour(tmp_path):
    programs = [*(generate(7, index) for index in range(40)), generate(815, 67)]
    programs += [private_values(7, index) for index in range(20)]
    programs += [pieces(7, index) for index in range(20)]
    programs += [steps(7, index) for index in range(20)]
    programs += [stencils(7, index) for index in range(10)]
    programs += [updates(7, index) for index in range(20)]
    assert Harness(tmp_path).invalid(programs) == []


def test_programs_with_large_arrays_have_room(tmp_path):
    outcome = Harness(tmp_path).check([generate(202, 16165)], [{"min-work": "0"}], [THREADS])
    assert not outcome.failures, outcome.failures[0].message


def test_orders_are_proved_without_dataflow_too(tmp_path):
    """isl names a wrong source in the dataflow of this one, and the order that is legal by it is wrong."""
    settings = [{"min-work": "0", "fusion": "max"}]
    outcome = Harness(tmp_path).check([generate(202, 13453)], settings, [THREADS])
    assert not outcome.failures, outcome.failures[0].message
    assert outcome.transformed == 1


@pytest.mark.fast
def test_a_program_is_always_the_same():
    programs = [generate(3, index) for index in range(30)]
    assert batch_text(programs) == batch_text([generate(3, index) for index in range(30)])
    assert len({batch_text([each]) for each in programs}) == 30


@pytest.mark.fast
def test_subscripts_stay_inside():
    text = batch_text([sum_up(4)])
    assert "A[i + 3] = (A[i - 1] * 3u) + 1u;" in text


@pytest.mark.fast
def test_the_reducer_finds_the_core():
    program = sum_up(1)
    extra = loop(Do(Store(Read("A", (I,)), "+=", Num(7))), bound=Num(5))
    region = (extra, loop(program.regions[0][0], extra, bound=Num(3)), extra)
    region = (region[0], dataclasses.replace(region[1], counter="j"), region[2])
    large = dataclasses.replace(program, regions=(region,))

    def fails(smaller):
        return any(isinstance(each, Bin) and each.op == "*" for each in walk(smaller.regions))

    small = reduce(large, fails)
    assert len(list(walk(small.regions))) < 10
    assert len(small.runs) == 1


def test_threads_backwards_show_a_loop_that_is_not_parallel(tmp_path, monkeypatch):
    """Our own OpenMP threads make a wrong ``parallel for`` wrong every time."""
    harness = Harness(tmp_path)
    program = sum_up(1)

    def wrongly_parallel(source, *_rest):
        text = source.read_text().replace("  for (int i = 1", "#pragma omp parallel for\n  for (int i = 1")
        file = tmp_path / "wrong.c"
        file.write_text(text)
        return [file]

    monkeypatch.setattr(harness, "_transform", wrongly_parallel)
    outcome = harness.check([program], [{}], [BACKWARDS])
    assert [each.kind for each in outcome.failures] == ["wrong"]
    monkeypatch.undo()
    assert not harness.check([program], [{"min-work": "0"}], [BACKWARDS, THREADS]).failures
