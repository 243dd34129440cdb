"""Loops without marks, tried: what is known of them when another process goes on, and neighbours together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polybuild.driver import trials
from polybuild.driver.file import compile_source
from polybuild.driver.isolation import Watch
from polybuild.options import Options

LOOP = "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      {}[i][j] = {}[i][j] * 2 + 1;\n"
FILE = "void f(int n, double a[restrict n][n], double b[restrict n][n]) {\n" + "".join(
    LOOP.format(name, name) for name in "ab"
)
ONE, TWO = (2, 4), (5, 7)


@pytest.fixture
def found(tmp_path):
    path = tmp_path / "file.c"
    path.write_text(f"{FILE}}}\n")

    def run(watch):
        result = compile_source(str(path), Options(autodetect=True), ["gcc"], ["-O3"], watch)
        return [(each.line, each.end_line) for each in result.regions], result

    return run


def test_neighbours_are_tried_together(found):
    assert found(Watch())[0] == [(2, 7)]


def test_what_threads_run_in_parts_stays_in_parts(found, monkeypatch):
    compile_region = trials.compile_region

    def without_threads(region, *others, **named):
        text, report, details = compile_region(region, *others, **named)
        both = (region.begin.line, region.end.line) == (ONE[0], TWO[1])
        return text, replace(report, parallel_loops=0 if both else report.parallel_loops), details

    monkeypatch.setattr(trials, "compile_region", without_threads)
    assert found(Watch())[0] == [ONE, TWO]


def test_what_another_process_found_out_is_not_tried_again(found, monkeypatch):
    told = {}
    regions, first = found(Watch(is_found=told.__setitem__))
    assert len(told) == 3
    tried = []
    compile_region = trials.compile_region
    monkeypatch.setattr(
        trials,
        "compile_region",
        lambda region, *o, **k: (tried.append(region), compile_region(region, *o, **k))[1],
    )
    again, second = found(Watch(found=told))
    assert again == regions
    assert second.text == first.text
    assert len(tried) == 1  # for its text
