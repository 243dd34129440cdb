"""Regions side by side: the same results in the same order, whatever becomes of the processes."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from pathlib import Path

import pytest

from polybuild.cli.commands import run
from polybuild.driver import file as pipeline
from polybuild.driver import file_regions
from polybuild.driver.isolation import UNWATCHED, WorkerCrashError, run_isolated
from polybuild.driver.side_by_side import side_by_side

REGIONS = "#include <stdio.h>\nvoid f(int n, double *restrict a, double *restrict b) {\n" + "".join(
    f"#pragma scop\n  for (int i = 0; i < n; i++) {body}\n#pragma endscop\n"
    for body in ("a[i] = 1;", "b[i] = a[i] + 2;", 'printf("%f", a[i]);', "a[i] += b[i] * 3;", "b[i] = i;")
)
REGIONS += "}\n"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def isolated(count, work, jobs=3):
    return run_isolated(lambda watch: side_by_side(count, work, watch), jobs=jobs)


def test_several_processes_work_at_a_time(tmp_path):
    def work(number, _watch):
        (tmp_path / str(number)).touch()
        while number < 3 and len(list(tmp_path.iterdir())) < 3:  # all three have begun
            time.sleep(0.01)
        return number, os.getpid()

    found = isolated(8, work)
    assert [number for number, _ in found] == list(range(8))
    assert len({process for _, process in found}) == 3


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_results_are_in_order(jobs):
    assert isolated(30, lambda number, _: str(number) * 50_000, jobs)[7] == "7" * 50_000
    assert side_by_side(2, lambda number, _: -number, UNWATCHED) == [0, -1]
    assert isolated(0, lambda number, _: number, jobs) == []


def test_what_is_lost_is_done_again_and_its_end_is_known(tmp_path):
    def run_in(watch):
        first = os.getpid()

        def work(number, told):
            if os.getpid() != first:
                (tmp_path / "lost").touch()
                die()
            while not (tmp_path / "lost").exists():
                time.sleep(0.01)
            return number, told.crashes.get(number, ())

        return side_by_side(3, work, watch)

    found = run_isolated(run_in, jobs=2)
    assert [number for number, _ in found] == [0, 1, 2]
    assert sorted(crashes for _, crashes in found) == [(), (), ("ended with signal 9 (SIGKILL)",)]


def test_what_is_raised_elsewhere_is_raised_here():
    def work(number, _watch):
        if number == 2:
            raise KeyError(number)
        return number

    with pytest.raises(KeyError):
        isolated(4, work)


def test_nobody_goes_on_when_the_process_at_work_ends(tmp_path):
    def run_in(watch):
        first = os.getpid()

        def work(_number, _watch):
            if os.getpid() == first:
                while not list(tmp_path.iterdir()):
                    time.sleep(0.01)
                die()
            (tmp_path / str(os.getpid())).touch()
            time.sleep(600)

        return side_by_side(2, work, watch)

    with pytest.raises(WorkerCrashError, match="SIGKILL"):
        run_isolated(run_in, jobs=2)
    (other,) = tmp_path.iterdir()
    while is_alive(int(other.name)):  # the signal is on its way
        time.sleep(0.01)


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def compiled(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYBUILD_CACHE", "off")
    (tmp_path / "f.c").write_text(REGIONS)

    def compile_with(*words):
        code = run(["compile", "f.c", "-o", "g.c", "--report", "r.json", *words, "--", "gcc", "-O2"])
        report = json.loads((tmp_path / "r.json").read_text())
        for each in report["regions"]:
            each.pop("compile_seconds")
        return code, (tmp_path / "g.c").read_text(), report, capfd.readouterr().err

    return compile_with


@pytest.mark.parametrize("jobs", ["2", "4", "0"])
def test_a_file_is_the_same_to_the_byte(compiled, jobs):
    alone = compiled()
    assert alone[0] == 0
    assert "printf" in alone[3]
    assert compiled("--jobs", jobs) == alone


def test_a_region_that_ends_processes_costs_no_other(compiled, monkeypatch):
    compile_region = file_regions.compile_region

    def ending_at_the_fourth(region, *arguments, **named):
        if region.index == 3:
            die()
        return compile_region(region, *arguments, **named)

    monkeypatch.setattr(file_regions, "compile_region", ending_at_the_fourth)
    code, text, report, told = compiled("--jobs", "3")
    assert code == 0
    assert [each["status"] for each in report["regions"]] == [
        *("transformed", "transformed", "kept", "kept", "transformed"),
    ]
    assert "ended with signal 9" in told
    assert text.count("pragma scop") == 2


def test_results_have_no_details_where_others_may_have_made_them(tmp_path):
    (tmp_path / "f.c").write_text(REGIONS)
    watch = dataclasses.replace(UNWATCHED, jobs=2)
    result = pipeline.compile_source(str(tmp_path / "f.c"), pipeline.Options(), ["gcc"], [], watch)
    assert result.details == (None,) * 5
