"""The commands that look at kernels without a GPU: what is right, and mistakes that they see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.gpu import forms, stencils
from benchmarks.gpu.__main__ import prepare
from benchmarks.gpu.check import NEAR, RIGHT, SMALL, Checks
from benchmarks.gpu.failures import drivers, failures
from benchmarks.gpu.mutations import SETTINGS, Mutator
from benchmarks.gpu.programs import (
    Accumulations,
    ExactDumps,
    OddSizes,
    Workshop,
    build_runtime,
    is_near,
    make,
)
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import find_nvcc
from tests.emulator import stand_ins


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> Workshop:
    folder = tmp_path_factory.mktemp("workshop")
    return Workshop(folder, stand_ins.build(folder / "stand-ins"), OddSizes())


@pytest.fixture(scope="module")
def runtime(workshop):
    return build_runtime(workshop.folder)


def test_a_row_of_the_table(workshop, runtime):
    kernel = next(each for each in workshop.suite.kernels if each.name == "mvt")
    checks = Checks(workshop, runtime, {}, find_nvcc() or "", opencl=False)
    compiled, emulated, opencl = checks.row(kernel)
    assert emulated == RIGHT
    assert opencl == "-"
    assert compiled == "-" or compiled.endswith("registers, 0 spilled")


def test_a_row_of_sums_that_keep_their_order(workshop, runtime):
    """The rules leave it to the host; with leave to reorder it is looked at."""
    suite = Accumulations()
    kernel = next(each for each in suite.kernels if each.name == "dot-double")
    checks = Checks(replace(workshop, suite=suite), runtime, {}, "", opencl=False)
    compiled, emulated, opencl = checks.row(kernel)
    assert (compiled, emulated, opencl) == ("-", NEAR, "-")


def test_numbers_that_are_near():
    one = "array y double 2 checksum 1f sum 1.00000001 -0x1.8p+0\n"
    assert is_near(one, one.replace("1f", "20").replace("00000001", "00000002"))
    for old, new in (("1.0", "1.1"), ("0x1.8", "0x1.9"), ("array y", "array z"), ("1.00000001", "nan")):
        assert not is_near(one, one.replace(old, new))
    assert not is_near(one, "")
    floats = "array x float 3 checksum 1f sum -9.5454905\n"
    assert is_near(floats, floats.replace("905", "845"))
    assert not is_near(floats, floats.replace("float", "double").replace("905", "845"))
    assert not is_near(floats, floats.replace("9.545", "9.546"))


def test_mistakes_are_seen(workshop, runtime):
    """The first barrier, bound and transfer of a matrix product; a bound that others hide changes nothing."""
    kernel = next(each for each in workshop.suite.kernels if each.name == "gemm")
    mutator = Mutator(workshop, kernel, Options().with_settings(SETTINGS), runtime)
    mistakes = list(mutator.mistakes(1))
    assert mistakes == ["barrier:1", "bound:1", "wait:1", "drop:1"]
    found = {each: mutator.outcome(each).outcome for each in [*mistakes, "wait:2", "bound:3", "bound:7"]}
    assert found == {
        "barrier:1": "seen",
        "bound:1": "idle",
        "wait:1": "seen",
        "wait:2": "seen",
        "drop:1": "seen",
        "bound:3": "same",
        "bound:7": "seen",
    }


def test_results_are_right_when_drivers_fail(workshop, runtime):
    """A few of the calls of either driver; ``python -m benchmarks.gpu.failures`` lets each fail."""
    kernel = next(each for each in workshop.suite.kernels if each.name == "gemm")
    for driver in drivers(workshop):
        options = Options().with_settings({**SMALL, "backend": driver.name})
        made = make(workshop, kernel, options, runtime)
        found = failures(made, driver, first=2, step=driver.calls(list(made.command)) // 5)
        assert not found.wrong
        assert 1 < found.taken_over <= found.tried


def test_a_kernel_that_ran_on_the_host_fails_the_benchmark(workshop, tmp_path, monkeypatch):
    """And so does a name that is none; what was measured is written all the same."""
    monkeypatch.setenv("NVCC", workshop.stand_ins.nvcc)
    prepare(tmp_path, ["mvt", "durbin"], {"bandwidth": 1000.0, "single": 1000.0})

    def measure(kernel: str, environment: dict[str, str]) -> int:
        command = [sys.executable, "run.py", kernel, "--size", "mini", "--runs", "1"]
        return subprocess.run(command, cwd=tmp_path, env=environment, check=False, timeout=300).returncode

    assert measure("mvt", workshop.stand_ins.environment()) == 0
    assert measure("mvt", {**os.environ, "OCL_ICD_VENDORS": "/nowhere"}) == 1
    row = json.loads((tmp_path / "results.json").read_text())["kernels"]["mvt"]
    assert (row["equal"], row["on_device"]) == (True, False)
    # what the rules leave to the host is a row that tells why
    assert measure("durbin", workshop.stand_ins.environment()) == 0
    assert measure("mtv", workshop.stand_ins.environment()) == 2


_PROFILER = """\
#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
cat > "$2" <<'END'
==PROF== Connected
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","one","a","ns","7"
"0","one","b","","256"
"1","two","a","ns","9"
END
"""


def test_accumulations_on_data_that_stay_there(workshop, tmp_path, monkeypatch, capfd):
    """Right ones succeed, in both forms; one that runs on the host, or has no kernels, says so and fails."""
    monkeypatch.setenv("NVCC", workshop.stand_ins.nvcc)
    prepare(tmp_path, ["ell", "sum"], {"bandwidth": 1000.0, "single": 1000.0})

    def measure(environment: dict[str, str]) -> tuple[int, dict[str, dict[str, str]]]:
        command = [sys.executable, "run.py", "ell", "sum", "--size", "mini", "--runs", "2", "--profile"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, timeout=300)
        found = json.loads((tmp_path / "results.json").read_text())["accumulations"]
        return done.returncode, found["kernels"]

    profiler = tmp_path / "tools" / "ncu"
    profiler.parent.mkdir()
    profiler.write_text(_PROFILER)
    profiler.chmod(0o755)
    environment = workshop.stand_ins.environment()
    code, rows = measure({**environment, "PATH": f"{profiler.parent}:{environment['PATH']}"})
    assert (code, sorted(rows)) == (0, ["ell", "ell@in-order", "sum"])
    assert rows["ell"]["profile"] == [
        {"kernel": "one", "a": "7 ns", "b": "256"},
        {"kernel": "two", "a": "9 ns"},
    ]
    assert all(row["failure"] == "" and row["kernels ms"] > 0 for row in rows.values())
    code, rows = measure(workshop.stand_ins.environment(drop=1))
    assert code == 1
    assert "exit code 97" in rows["sum"]["failure"]
    facts = json.loads((tmp_path / "facts.json").read_text())
    facts["without kernels"]["sum"] = "it is a test"
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    code, rows = measure({**os.environ, "OCL_ICD_VENDORS": "/nowhere"})
    assert code == 1
    assert rows["ell"]["failure"].startswith("mini: ran on the host: ")
    assert rows["sum"]["failure"] == "no kernels: it is a test"
    assert "no kernels: it is a test" in capfd.readouterr().out


_TIMED_FORMS = ("kernel a step", "(a) no shared memory", "(e) reuse (static)", "(e) in one launch")
"""The others differ in what goes through shared memory, which test_device_time_tiles looks at."""


def test_launches_of_stencils_in_all_forms(monkeypatch, capsys):
    """Eight steps are in two tiles of each phase, and all of them in one launch."""
    command = ["stencils", "laplacian-2d", "--plane", "21", "--steps", "8"]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.setattr(stencils, "FORMS", {form: stencils.FORMS[form] for form in _TIMED_FORMS})
    assert stencils.main() == 0
    rows = {row[15:38].strip(): row[38:].split() for row in capsys.readouterr().out.splitlines()[2:]}
    assert {form: float(figures[0]) for form, figures in rows.items()} == {
        form: 1.0 if tiles is None else 0.12 if launches == "together" else 0.5
        for form, (tiles, launches) in stencils.FORMS.items()
    }


def test_dumps_are_read_between_their_ends(tmp_path):
    suite = tmp_path / "suite"
    (suite / "utilities").mkdir(parents=True)
    (suite / "linear" / "one").mkdir(parents=True)
    (suite / "utilities" / "benchmark_list").write_text("linear/one/one.c\n")
    (suite / "linear" / "one" / "one.c").write_text('#define FORMAT "%0.2lf "\n')
    found = ExactDumps(suite, tmp_path / "copies")
    assert found.kernels[0].source.read_text() == '#define FORMAT "%a "\n'


def _timed(folder, workshop, *arguments: str, **more: str) -> tuple[int, str]:
    environment = workshop.stand_ins.environment(**more)
    command = [sys.executable, "time_forms.py", "--small", "--alone", "--runs", "1", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def test_forms_that_fail_are_rows_like_the_others(workshop, tmp_path, monkeypatch):
    """Missing, not compiled, wrong, on the host, broken: each is told; good ones beside them are timed."""
    chosen = [each for each in forms.problems() if each.name == "gemm-float"]
    pattern = "model|64,64,"
    assert forms.prepare(tmp_path, chosen, workshop.stand_ins.nvcc, pattern, jobs=2)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path), "--prepare", "--only", "gemm-float"])
    assert forms.main() == 0  # what is there is kept
    own = tmp_path / "gemm-float"
    code, output = _timed(tmp_path, workshop)
    assert code == 0, output
    found = json.loads((tmp_path / "forms.json").read_text())["problems"]
    assert list(found) == ["gemm-float"]
    assert [row["failure"] for rows in found.values() for row in rows.values()] == [""] * 3
    assert found["gemm-float"]["the model's"]["67"]["launches"] == 1
    assert "choice takes" in output

    good, wrong, broken = ((own / f"{number}.c").read_text() for number in (1, 2, 3))
    (own / "2.c").write_text(wrong + "\n#error no\n")
    (own / "3.c").write_text(broken.replace("timer_stop();", "((float *)C)[7] += 1; timer_stop();"))
    described = json.loads((own / "problem.json").read_text())
    for title, number in (("aborts", 4), ("on the host", 5)):
        described["forms"][title] = {"number": number, "missing": "", "usage": None, "told": []}
    described["forms"]["missing"] = {"number": 6, "missing": "no kernels", "usage": None, "told": []}
    (own / "4.c").write_text(good.replace("timer_stop();", "__builtin_abort();"))
    (own / "5.c").write_text((own / "0.c").read_text())
    described["forms"] = dict(sorted(described["forms"].items(), key=lambda pair: -pair[1]["number"]))
    (own / "problem.json").write_text(json.dumps(described))
    code, output = _timed(tmp_path, workshop, "gemm-float")
    assert code == 1
    rows = json.loads((tmp_path / "forms.json").read_text())["problems"]["gemm-float"]
    failures = {title: row["failure"] for title, row in rows.items()}
    assert "#error no" in failures["64,64,16 16,16"]
    assert "different: C, 1 of its elements from number 7 on" in failures["64,64,16 8,8"]
    assert "exit code -6" in failures["aborts"]
    assert "exit code 3" in failures["on the host"]
    assert failures["missing"] == "no kernels"
    assert failures["the model's"] == ""
    assert rows["the model's"]["150"]["seconds"] > 0
    assert "5 rows failed" in output
