"""Minima and maxima with their places, and searches, by threads: to the bit what the original finds."""

from __future__ import annotations

import re

import pytest
from compiling import write
from place_programs import BODIES, DECLARATIONS, FUNCTION, LOOKING, MORE, PROGRAM, RUNS
from test_parallel_reductions import built, lines, without_thresholds

from polybuild.driver.file import compile_source
from polybuild.options import Options

ROWS = {"each row", "nearest of each"}
"""Bodies whose rows threads share, each of them in order."""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    source = write(folder / "in.c", PROGRAM)
    result = compile_source(str(source), Options(min_work=0, paranoid=True), ["gcc"], ())
    return source, write(folder / "out.c", without_thresholds(result.text)), result


@pytest.mark.fast
def test_what_runs_in_parts(places):
    _, transformed, result = places
    found = dict(zip(BODIES, result.regions, strict=True))
    assert {name for name, each in found.items() if not each.parallel_loops} == set()
    parts = {name for name, each in found.items() if any("in parts" in remark for remark in each.remarks)}
    assert parts == set(BODIES) - ROWS
    assert not re.search("simd[^\\n]*acc_(best|where|also|value)", transformed.read_text())


@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_places_of_the_original(compiler, places):
    source, transformed, _ = places
    original = built(source, "gcc", "-O1")
    threaded = built(transformed, compiler, "-O2", "-fopenmp")
    arguments = [word for each in (*RUNS, *MORE) for word in each]
    expected = lines(original, arguments=arguments)
    for threads in (1, 2, 5):
        assert lines(threaded, threads, arguments) == expected


def test_what_looks_at_what_it_finds_stays_in_order(tmp_path):
    """Or at what the original does not look at once it has found something, and which may not be there."""
    functions = (FUNCTION.format(number=number, body=body) for number, body in enumerate(LOOKING.values()))
    source = write(tmp_path / "in.c", f"{DECLARATIONS}{''.join(functions)}")
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ())
    assert {name for name, each in zip(LOOKING, result.regions, strict=True) if each.parallel_loops} == set()
