from __future__ import annotations

import sys

from polybuild.cli import doctor
from polybuild.cli import main as cli
from polybuild.report.explain.terminal import Style


def named(checks):
    return {check.name: check for check in checks}


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def test_this_machine_is_fit(capsys, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    assert cli.run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "ok       OpenMP: " in out
    assert out.endswith("polybuild can do its work here.\n")


def test_nvcc_is_a_fact_and_no_need(tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", script(tmp_path / "nvcc", ""))
    check = named(doctor.examine(["cc"]))["nvcc"]
    assert (check.ok, check.detail) == (None, str(tmp_path / "nvcc"))


def test_a_missing_compiler_has_a_remedy(capsys):
    assert cli.run(["doctor", "--cc", "no-such-compiler"]) == 1
    out = capsys.readouterr().out
    assert "missing  C compiler: 'no-such-compiler' is not found\n         remedy: " in out
    assert "missing  OpenMP" in out


def test_a_compiler_that_cannot_make_programs(tmp_path):
    checks = named(doctor.examine([script(tmp_path / "cc", "echo no linker >&2; exit 1\n")]))
    assert not checks["C compiler"].ok
    assert "no linker" in checks["C compiler"].detail


def test_a_compiler_without_openmp(tmp_path):
    text = 'case "$*" in *-fopenmp*) echo no libgomp >&2; exit 1;; esac; exec cc "$@"\n'
    checks = doctor.examine([script(tmp_path / "cc", text)])
    assert named(checks)["C compiler"].ok
    assert "no libgomp" in named(checks)["OpenMP"].detail
    assert not doctor.can_build(checks)


def test_a_broken_library_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "islpy", None)  # importing it fails
    checks = doctor.examine(["cc"])
    assert not named(checks)["islpy"].ok
    assert "pip install islpy" in named(checks)["islpy"].remedy
    assert not doctor.can_build(checks)


def test_what_is_not_needed_does_not_spoil_the_verdict():
    checks = [doctor.Check("CMake", False, "not found", "install it", needed=False)]
    assert doctor.can_build(checks)
    assert doctor.describe(checks, Style()) == (
        "missing  CMake: not found\n         remedy: install it\npolybuild can do its work here.\n"
    )
