"""Loops without marks, tried: what is known of them when another process goes on, and neighbours together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polybuild.cli import main as cli
from polybuild.driver import translate, trials
from polybuild.driver.file import compile_source
from polybuild.driver.isolation import TrialLimits, Watch
from polybuild.driver.pipes import packed, unpacked
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


def test_what_was_found_out_about_kernels_goes_to_other_processes(tmp_path):
    path, told = tmp_path / "file.c", {}
    path.write_text(f"{FILE}}}\n")
    options = Options(autodetect=True, backend="opencl", min_work=0)
    watch = Watch(is_found=lambda position, what: told.setdefault(position, packed(what)))
    regions = compile_source(str(path), options, ["gcc"], ["-O3"], watch).regions
    assert {each.backend for each in regions} == {"opencl"}
    (text, _), *_ = (unpacked(each).made for each in told.values())
    assert text.device.kernels


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
    assert not tried  # nor for its text


def test_after_all_that_trials_of_a_file_may_cost_nothing_else_is_tried(found, monkeypatch):
    tried = []
    compile_region = trials.compile_region

    def recorded(region, *others, **named):
        tried.append(((region.begin.line, region.end.line), named["search"]))
        return compile_region(region, *others, **named)

    monkeypatch.setattr(trials, "compile_region", recorded)
    regions, result = found(Watch(trials=TrialLimits(search=2_000_000, all=1)))
    assert tried == [(ONE, 2_000_000)]
    assert regions == [ONE]
    (refused,) = result.refused
    assert (refused.first_line, refused.diagnostic.code) == (TWO[0], "not-tried")
    regions, result = found(Watch(crashes={(7, 9): ("took too long",)}, trials=TrialLimits(5.0, 5, all=5)))
    assert not regions
    assert [each.diagnostic.code for each in result.refused] == ["not-tried"] * 2


def test_what_was_not_tried_is_told_and_not_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POLYBUILD_CACHE", "on")
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "file.c"
    path.write_text(f"{FILE}}}\n")

    def compiled():
        words = ["--autodetect", "on", "-v", str(path), "-o", str(tmp_path / "out.c"), "--", "gcc", "-O3"]
        assert cli.run(["compile", *words]) == 0
        return capsys.readouterr().err.count("not tried, as trying others took all")

    monkeypatch.setattr(translate, "IN_BUILDS", TrialLimits(all=0))
    assert compiled() == 2
    monkeypatch.setattr(translate, "IN_BUILDS", TrialLimits())
    assert compiled() == 0
